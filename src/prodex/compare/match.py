"""Which products may differ between two catalogues, found part by part from the records alone.

The catalogues may be split into parts differently and have another order. Parts that are the same file, or have the
same bytes, hold the same products. Of all others the digests of the records are compared, so that only records that
differ are read into Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from filecmp import cmp
from os import cpu_count
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part

Numbers = npt.NDArray[np.int64]
Digests = npt.NDArray[np.void]
_T = TypeVar("_T")

#: Records in memory at a time, in bytes of JSON, old and new together.
GROUP_BYTES = 100_000_000

_DIGEST = np.dtype("V32")


class Index(NamedTuple):
    """Every product of a catalogue: its key, its part and row there, size and digest of its record.

    `kept` has, by part, the records that differ in the other catalogue, if they are few: they are needed next, and
    decompressing the part again for them would take most of the time of a comparison.
    """

    product_ids: pa.Array
    parts: Numbers
    rows: Numbers
    sizes: Numbers
    digests: Digests
    kept: Mapping[int, Mapping[int, bytes]]


class Pairing(NamedTuple):
    """The products of two catalogues as indexes into them: in both and differing, in both and the same, in one."""

    differing: tuple[Numbers, Numbers]
    same: Numbers
    removed: Numbers
    added: Numbers

    def to_read(self) -> tuple[Numbers, Numbers]:
        """Return the products whose records have to be read, old and new side by side; -1 where there is none."""
        before, after = self.differing
        return (
            np.concatenate([before, self.removed, np.full(len(self.added), -1)]),
            np.concatenate([after, np.full(len(self.removed), -1), self.added]),
        )


def indexes(old: Catalog, new: Catalog) -> tuple[Index, Index]:
    """Read the keys and digests of all products of two catalogues."""
    shared = _shared_parts(old.parts, new.parts)
    before = _index(old, {before for before, _ in shared}, None)
    return before, _index(new, {after for _, after in shared}, before)


def pair(old: Index, new: Index) -> Pairing:
    """Find each product of the one in the other. Of several products with the same key the first counts."""
    first_old, first_new = _first(old.product_ids), _first(new.product_ids)
    place = pc.index_in(new.product_ids.take(pa.array(first_new)), old.product_ids).to_numpy(
        zero_copy_only=False
    )
    found = ~np.isnan(place)
    before, after = place[found].astype(np.int64), first_new[found]
    differ = old.digests[before] != new.digests[after]
    return Pairing(
        (before[differ], after[differ]),
        after[~differ],
        np.setdiff1d(first_old, before, assume_unique=True),
        first_new[~found],
    )


def groups(old: Index, new: Index, before: Numbers, after: Numbers) -> Iterator[slice]:
    """Cut pairs of products (-1: none) into runs whose records fit into memory together."""
    sizes = np.zeros(len(before), np.int64)
    for index, products in ((old, before), (new, after)):
        there = products >= 0
        sizes[there] += index.sizes[products[there]]
    numbers = np.cumsum(sizes) // GROUP_BYTES
    for number in np.unique(numbers):
        begin, end = np.searchsorted(numbers, [number, number + 1])
        yield slice(int(begin), int(end))


def records(catalog: Catalog, index: Index, products: Numbers) -> list[bytes | None]:
    """Read the records of some products (-1: none), in their order."""
    found: list[bytes | None] = [None] * len(products)
    asked = np.flatnonzero(products >= 0)
    parts = index.parts[products[asked]]

    def read(number: int) -> None:
        places = asked[parts == number]
        rows = index.rows[products[places]]
        if number in index.kept:
            some = [index.kept[number][row] for row in rows.tolist()]
        else:
            some = _taken(catalog.parts[number].read("raw", ["json"])["json"], rows)
        for place, record in zip(places.tolist(), some, strict=True):
            found[place] = record

    _each(read, np.unique(parts).tolist())
    return found


def _taken(json: pa.ChunkedArray, rows: Numbers) -> list[bytes]:
    records: list[bytes] = json.take(pa.array(rows)).cast(pa.binary()).to_pylist()
    return records


def _index(catalog: Catalog, shared: set[int], other: Index | None) -> Index:
    """Read keys and digests, and keep the records that differ in the other catalogue if they are few."""
    kept: dict[int, Mapping[int, bytes]] = {}
    room = GROUP_BYTES // max(len(catalog.parts), 1)

    def read(number: int) -> tuple[pa.ChunkedArray, Numbers, Digests]:
        part = catalog.parts[number]
        if number in shared:
            keys = part.read("raw", ["product_id"])["product_id"]
            return keys, np.zeros(len(keys), np.int64), np.zeros(len(keys), _DIGEST)
        raw = part.read("raw", ["product_id", "json"])
        sizes, digests = _digests(raw["json"])
        if other is not None:
            rows = np.flatnonzero(_unlike(raw["product_id"], digests, other))
            if sizes[rows].sum() <= room:
                kept[number] = dict(zip(rows.tolist(), _taken(raw["json"], rows), strict=True))
        return raw["product_id"], sizes, digests

    every = _each(read, range(len(catalog.parts)))
    counts = [len(keys) for keys, _, _ in every]
    chunks = [chunk for keys, _, _ in every for chunk in keys.chunks]
    return Index(
        pa.chunked_array(chunks, pa.string()).combine_chunks(),
        np.repeat(np.arange(len(counts)), counts),
        np.concatenate([np.arange(count) for count in counts] or [np.zeros(0, np.int64)]),
        np.concatenate([sizes for _, sizes, _ in every] or [np.zeros(0, np.int64)]),
        np.concatenate([digests for _, _, digests in every] or [np.zeros(0, _DIGEST)]),
        kept,
    )


def _unlike(product_ids: pa.ChunkedArray, digests: Digests, other: Index) -> npt.NDArray[np.bool_]:
    """Say which products the other catalogue does not hold with the same record."""
    place = pc.fill_null(pc.index_in(product_ids, other.product_ids), -1).to_numpy()
    unlike: npt.NDArray[np.bool_] = place < 0
    unlike[~unlike] = digests[~unlike] != other.digests[place[~unlike]]
    return unlike


def _digests(json: pa.ChunkedArray) -> tuple[Numbers, Digests]:
    """Return bytes and digest of each record, hashed where Arrow holds it: no record is copied into Python."""
    sizes, digests = [np.zeros(0, np.int64)], []
    for chunk in filter(len, json.chunks):
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        text = memoryview(chunk.buffers()[2])
        bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        digests += [hashlib.sha256(text[begin:end]).digest() for begin, end in bounds]
        sizes.append(np.diff(offsets).astype(np.int64))
    return np.concatenate(sizes), np.frombuffer(b"".join(digests), _DIGEST)


def _shared_parts(old: Sequence[Part], new: Sequence[Part]) -> list[tuple[int, int]]:
    """Pair the parts whose records are the same file or the same bytes: a refresh links what did not change."""
    by_size: dict[int, list[tuple[int, Path]]] = {}
    for number, path in _whole(old):
        by_size.setdefault(path.stat().st_size, []).append((number, path))
    shared = []
    for number, path in _whole(new):
        candidates = by_size.get(path.stat().st_size, [])
        match = next(
            (one for one in candidates if one[1].samefile(path) or cmp(one[1], path, shallow=False)), None
        )
        if match is not None:
            candidates.remove(match)
            shared.append((match[0], number))
    return shared


def _whole(parts: Sequence[Part]) -> Iterator[tuple[int, Path]]:
    for number, part in enumerate(parts):
        if part.chosen is None and "raw" in part.files and part.files["raw"].is_file():
            yield number, part.files["raw"]


def _first(product_ids: pa.Array) -> Numbers:
    """Return the index of the first product of each key."""
    encoded = product_ids.dictionary_encode().indices.to_numpy()
    return np.sort(np.unique(encoded, return_index=True)[1])


def _each(work: Callable[[int], _T], numbers: Iterable[int]) -> list[_T]:
    with ThreadPoolExecutor(cpu_count()) as threads:
        return list(threads.map(work, numbers))

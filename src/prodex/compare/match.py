"""Which products may differ between two catalogues, found part by part from the records alone.

The catalogues may be split into parts differently and have another order. Parts that are the same file, or have the
same bytes, hold the same products. Of all others the digests of the records are compared, so that only records that
differ are read into Python.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from filecmp import cmp
from os import cpu_count
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.catalog import Catalog, Part
from prodex.store.executors import mapped
from prodex.tables.columns import Mask, Rows, encoded, places

Digests = npt.NDArray[np.void]
Beginnings = npt.NDArray[np.uint64]
#: Keys, sizes and digests of the records of one part.
_Keyed = tuple[pa.ChunkedArray, Rows, Digests]
_T = TypeVar("_T")

#: Records in memory at a time, in bytes of JSON, old and new together.
GROUP_BYTES = 100_000_000

#: Half of a SHA-256: enough to tell any number of records apart, and there may be millions of them.
_DIGEST = np.dtype("V16")


class Index(NamedTuple):
    """Every product of a catalogue: its key, its part and row there, size and digest of its record.

    `kept` has, by part, the records that differ in the other catalogue, if they are few: they are needed next, and
    decompressing the part again for them would take most of the time of a comparison.
    """

    product_ids: pa.Array
    parts: Rows
    rows: Rows
    sizes: Rows
    digests: Digests
    kept: Mapping[int, Mapping[int, bytes]]


class Reading(NamedTuple):
    """Which records of a catalogue are to be read, fit to be sent to another process.

    `size` is how many products they are for. Each of `parts` has the part, the rows of it, and for which of the
    products they are; and the records themselves if they are at hand.
    """

    size: int
    parts: tuple[tuple[Part, Rows, Rows, Mapping[int, bytes] | None], ...]


class Pairing(NamedTuple):
    """The products of two catalogues as indexes into them: in both and differing, in both and the same, in one."""

    differing: tuple[Rows, Rows]
    same: Rows
    removed: Rows
    added: Rows

    def to_read(self) -> tuple[Rows, Rows]:
        """Return the products whose records have to be read, old and new side by side; -1 where there is none."""
        before, after = self.differing
        return (
            np.concatenate([before, self.removed, np.full(len(self.added), -1)]),
            np.concatenate([after, np.full(len(self.removed), -1), self.added]),
        )


def indexes(old: Catalog, new: Catalog, executor: Executor | None = None) -> tuple[Index, Index]:
    """Read the keys and digests of all products of two catalogues."""
    shared = _shared_parts(old.parts, new.parts)
    before = _index(old, {before for before, _ in shared}, None, executor)
    after = _index(new, {after for _, after in shared}, before, executor)
    # All records went through memory, which Arrow keeps for more.
    pa.default_memory_pool().release_unused()
    return before, after


def pair(old: Index, new: Index) -> Pairing:
    """Find each product of the one in the other. Of several products with the same key the first counts."""
    first_old, first_new = _first(old.product_ids), _first(new.product_ids)
    place = places(new.product_ids.take(pa.array(first_new)), old.product_ids)
    found = place >= 0
    before, after = place[found], first_new[found]
    differ = old.digests[before] != new.digests[after]
    return Pairing(
        (before[differ], after[differ]),
        after[~differ],
        np.setdiff1d(first_old, before, assume_unique=True),
        first_new[~found],
    )


def groups(old: Index, new: Index, before: Rows, after: Rows) -> Iterator[slice]:
    """Cut pairs of products (-1: none) into runs whose records fit into memory together."""
    # Records differ much in size, so groups are cut by bytes and not by number.
    sizes = np.zeros(len(before), np.int64)
    for index, products in ((old, before), (new, after)):
        there = products >= 0
        sizes[there] += index.sizes[products[there]]
    numbers = np.cumsum(sizes) // GROUP_BYTES
    for number in np.unique(numbers):
        begin, end = np.searchsorted(numbers, [number, number + 1])
        yield slice(int(begin), int(end))


def folders_of(*catalogs: Catalog) -> list[Path]:
    """Return the folders of catalogues that are on disk."""
    return [catalog.folder for catalog in catalogs if catalog.folder is not None]


def reading(catalog: Catalog, index: Index, products: Rows) -> Reading:
    """Return where the records of some products (-1: none) are."""
    asked = np.flatnonzero(products >= 0)
    parts = index.parts[products[asked]]
    found = []
    for number in np.unique(parts).tolist():
        places = asked[parts == number]
        found.append((catalog.parts[number], index.rows[products[places]], places, index.kept.get(number)))
    return Reading(len(products), tuple(found))


def records(wanted: Reading) -> list[bytes | None]:
    """Read the records of some products, in their order; None where there is none."""
    found: list[bytes | None] = [None] * wanted.size

    def read(number: int) -> None:
        part, rows, places, kept = wanted.parts[number]
        # Kept when the digests were compared: the part need not be decompressed again. Of products that a catalogue
        # holds twice, a record may be needed that the other one holds as well.
        if kept is not None and kept.keys() >= set(rows.tolist()):
            some = [kept[row] for row in rows.tolist()]
        else:
            some = _taken(part.read("raw", ["json"])["json"], rows)
        for place, record in zip(places.tolist(), some, strict=True):
            found[place] = record

    _each(read, range(len(wanted.parts)))
    return found


def _taken(json: pa.ChunkedArray, rows: Rows) -> list[bytes]:
    records: list[bytes] = json.take(pa.array(rows)).cast(pa.binary()).to_pylist()
    return records


def _index(catalog: Catalog, shared: set[int], other: Index | None, executor: Executor | None) -> Index:
    """Read keys and digests, and in this process keep the records that differ in the other catalogue if few do."""
    kept: dict[int, Mapping[int, bytes]] = {}
    known = None if other is None else np.sort(_beginnings(other.digests))
    numbers = range(len(catalog.parts))
    # A share for each part: they are read at the same time.
    room = GROUP_BYTES // max(len(catalog.parts), 1)

    def read(number: int) -> _Keyed:
        part = catalog.parts[number]
        if number in shared or known is None:
            return _keyed(part, number in shared)
        raw = part.read("raw", ["product_id", "json"])
        sizes, digests = _digests(raw["json"])
        rows = np.flatnonzero(_unlike(digests, known))
        if sizes[rows].sum() <= room:
            kept[number] = dict(zip(rows.tolist(), _taken(raw["json"], rows), strict=True))
        return raw["product_id"], sizes, digests

    if executor is None:
        every = _each(read, numbers)
    else:
        same = [number in shared for number in numbers]
        every = list(mapped(executor, _keyed, catalog.parts, same, folders=folders_of(catalog)))
    counts = [len(keys) for keys, _, _ in every]
    chunks = [chunk for keys, _, _ in every for chunk in keys.chunks]
    # A catalogue without parts has none of these, and numpy joins no empty list.
    nothing = np.zeros(0, np.int64)
    return Index(
        pa.chunked_array(chunks, pa.string()).combine_chunks(),
        np.repeat(np.arange(len(counts)), counts),
        np.concatenate([nothing, *map(np.arange, counts)]),
        np.concatenate([nothing, *(sizes for _, sizes, _ in every)]),
        np.concatenate([nothing.astype(_DIGEST), *(digests for _, _, digests in every)]),
        kept,
    )


def _keyed(part: Part, is_shared: bool) -> _Keyed:
    # The same bytes on both sides: any digest does, if it is the same in both.
    if is_shared:
        keys = part.read("raw", ["product_id"])["product_id"]
        return keys, np.zeros(len(keys), np.int64), np.zeros(len(keys), _DIGEST)
    raw = part.read("raw", ["product_id", "json"])
    return raw["product_id"], *_digests(raw["json"])


def _beginnings(digests: Digests) -> Beginnings:
    """Return the first eight bytes of each digest: numbers are sorted and found much faster."""
    return np.ascontiguousarray(digests).view(np.uint64).reshape(-1, 2)[:, 0]


def _unlike(digests: Digests, known: Beginnings) -> Mask:
    """Say which records the other catalogue does not hold, given the sorted beginnings of the digests of its own."""
    own = _beginnings(digests)
    place = np.minimum(np.searchsorted(known, own), max(len(known) - 1, 0))
    unlike: Mask = known[place] != own if len(known) else np.ones(len(own), np.bool_)
    return unlike


def _digests(json: pa.ChunkedArray) -> tuple[Rows, Digests]:
    """Return bytes and digest of each record, hashed where Arrow holds it: no record is copied into Python."""
    sizes, digests = [np.zeros(0, np.int64)], []
    for chunk in filter(len, json.chunks):
        # Offsets of 32 bits, since the column is of type string; a chunk may be a slice.
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        text = memoryview(chunk.buffers()[2])
        bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        digests += [hashlib.sha256(text[begin:end]).digest()[: _DIGEST.itemsize] for begin, end in bounds]
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
        for one in candidates:
            # Comparing bytes reads both files; a link to the same file is known at once.
            if one[1].samefile(path) or cmp(one[1], path, shallow=False):
                candidates.remove(one)
                shared.append((one[0], number))
                break
    return shared


def _whole(parts: Sequence[Part]) -> Iterator[tuple[int, Path]]:
    for number, part in enumerate(parts):
        if part.chosen is None and "raw" in part.files and part.files["raw"].is_file():
            yield number, part.files["raw"]


def _first(product_ids: pa.Array) -> Rows:
    """Return the index of the first product of each key."""
    return np.sort(np.unique(encoded(product_ids)[1], return_index=True)[1])


def _each(work: Callable[[int], _T], numbers: Iterable[int]) -> list[_T]:
    with ThreadPoolExecutor(cpu_count()) as threads:
        return list(threads.map(work, numbers))

"""The products of two catalogues side by side: which ones have to be read, and their records.

The catalogues may be split into parts differently and have another order. Parts that are the same file, or have the
same bytes, hold the same products. Of all others the digests of the records are compared, so that only records that
differ are read into Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from filecmp import cmp
from os import cpu_count
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part
from prodex.executors import mapped
from prodex.tables.columns import Mask, Rows, encoded, places
from prodex.tables.record_digests import DIGEST, RecordDigests, beginnings

_Digests: TypeAlias = npt.NDArray[np.void]
#: Keys, sizes and digests of the records of one part.
_Keyed: TypeAlias = tuple[pa.ChunkedArray, Rows, _Digests]
_T = TypeVar("_T")

#: Records in memory at a time, in bytes of JSON, old and new together.
GROUP_BYTES = 50_000_000


class RecordPlaces(NamedTuple):
    """Where the records of some products are in a catalogue.

    Attributes
    ----------
    parts, rows
        The part and the row there; -1 of a product that the catalogue does not have.
    sizes
        The size of each record.
    kept
        By part, the records that differ in the other catalogue, if they are few: they are needed next, and
        decompressing the part again for them would take most of the time of a comparison.
    """

    parts: Rows
    rows: Rows
    sizes: Rows
    kept: Mapping[int, Mapping[int, bytes]]

    @property
    def there(self) -> Mask:
        """Which of the products the catalogue has."""
        return self.parts >= 0

    def of(self, products: Rows) -> RecordPlaces:
        """Return the places of some of the products, given by their index; -1 is a product that is not there."""
        there = products >= 0

        def taken(column: Rows, nothing: int) -> Rows:
            found = np.full(len(products), nothing, np.int64)
            found[there] = column[products[there]]
            return found

        return RecordPlaces(taken(self.parts, -1), taken(self.rows, -1), taken(self.sizes, 0), self.kept)


class Pairs(NamedTuple):
    """The products of two catalogues.

    Attributes
    ----------
    product_ids
        Those whose records have to be read, in the order of the newer catalogue.
    before, after
        Where these are in both.
    same
        The ids of those whose records are the same to the byte.
    """

    product_ids: pa.Array
    before: RecordPlaces
    after: RecordPlaces
    same: pa.Array

    def groups(self) -> Iterator[slice]:
        """Cut the products to read into runs whose records fit into memory together."""
        # Records differ much in size, so groups are cut by bytes and not by number.
        numbers = np.cumsum(self.before.sizes + self.after.sizes) // GROUP_BYTES
        for number in np.unique(numbers):
            begin, end = np.searchsorted(numbers, [number, number + 1])
            yield slice(int(begin), int(end))


class Reading(NamedTuple):
    """Which records of a catalogue are to be read, fit to be sent to another process.

    `size` is how many products they are for. Each of `parts` has the part, the rows of it, and for which of the
    products they are; and the records themselves if they are at hand.
    """

    size: int
    parts: tuple[tuple[Part, Rows, Rows, Mapping[int, bytes] | None], ...]


def paired(old: Catalog, new: Catalog, executor: Executor | None = None) -> Pairs:
    """Find each product of two catalogues in the other one. Of several products with one key the first counts."""
    shared = _shared_parts(old.parts, new.parts)
    before = _index(old, {before for before, _ in shared}, None, executor)
    after = _index(new, {after for _, after in shared}, before, executor)
    first_old, first_new = (_first_of_each_key(one.product_ids) for one in (before, after))
    place = places(after.product_ids.take(pa.array(first_new)), before.product_ids)
    in_both = place >= 0
    is_same = in_both.copy()
    is_same[in_both] = before.digests[place[in_both]] == after.digests[first_new[in_both]]
    gone = np.setdiff1d(first_old, place[in_both], assume_unique=True)
    lefts = np.concatenate([place[~is_same], gone])
    rights = np.concatenate([first_new[~is_same], np.full(len(gone), -1)])
    # Products of one part are read together.
    order = np.argsort(np.where(rights < 0, lefts, rights), kind="stable")
    lefts, rights = lefts[order], rights[order]
    ids = pc.coalesce(
        *(
            one.product_ids.take(pa.array(products, mask=products < 0))
            for one, products in ((before, lefts), (after, rights))
        )
    )
    same = after.product_ids.take(pa.array(first_new[is_same]))
    return Pairs(ids, before.places.of(lefts), after.places.of(rights), same)


def folders_of(*catalogs: Catalog) -> list[Path]:
    """Return the folders of catalogues that are on disk."""
    return [catalog.folder for catalog in catalogs if catalog.folder is not None]


def reading(catalog: Catalog, places: RecordPlaces, some: slice) -> Reading:
    """Return where the records of some products are."""
    parts, rows = places.parts[some], places.rows[some]
    found = []
    for number in np.unique(parts[parts >= 0]).tolist():
        here = np.flatnonzero(parts == number)
        found.append((catalog.parts[number], rows[here], here, places.kept.get(number)))
    return Reading(len(parts), tuple(found))


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
            some = _as_bytes(part.rows_at("raw", ["json"], rows)["json"])
        for place, record in zip(places.tolist(), some, strict=True):
            found[place] = record

    _on_threads(read, range(len(wanted.parts)))
    return found


def _as_bytes(json: pa.ChunkedArray) -> list[bytes]:
    records: list[bytes] = json.cast(pa.binary()).to_pylist()
    return records


class _Index(NamedTuple):
    """Every product of a catalogue: its key, where its record is, and the digest of that."""

    product_ids: pa.Array
    places: RecordPlaces
    digests: _Digests


def _index(catalog: Catalog, shared: set[int], other: _Index | None, executor: Executor | None) -> _Index:
    """Read keys and digests, and in this process keep the records that differ in the other catalogue if few do."""
    kept: dict[int, Mapping[int, bytes]] = {}
    known = None if other is None else np.sort(beginnings(other.digests))
    numbers = range(len(catalog.parts))
    # A share for each part: they are read at the same time.
    room = GROUP_BYTES // max(len(catalog.parts), 1)

    def read(number: int) -> _Keyed:
        part = catalog.parts[number]
        if number in shared or known is None or part.record_digests(computed=False) is not None:
            return _keyed(part, number in shared)
        # The records have to be read for their digests, and those that are needed next are kept.
        raw = part.read("raw", ["product_id", "json"])
        made = RecordDigests.of(raw["json"])
        rows = np.flatnonzero(_unlike(made.digests, known))
        if made.sizes[rows].sum() <= room:
            kept[number] = dict(zip(rows.tolist(), _as_bytes(raw["json"].take(pa.array(rows))), strict=True))
        return raw["product_id"], made.sizes, made.digests

    if executor is None:
        every = _on_threads(read, numbers)
    else:
        same = [number in shared for number in numbers]
        every = list(mapped(executor, _keyed, catalog.parts, same, folders=folders_of(catalog)))
    counts = [len(keys) for keys, _, _ in every]
    chunks = [chunk for keys, _, _ in every for chunk in keys.chunks]
    # A catalogue without parts has none of these, and numpy joins no empty list.
    nothing = np.zeros(0, np.int64)
    return _Index(
        pa.chunked_array(chunks, pa.string()).combine_chunks(),
        RecordPlaces(
            np.repeat(np.arange(len(counts)), counts),
            np.concatenate([nothing, *map(np.arange, counts)]),
            np.concatenate([nothing, *(sizes for _, sizes, _ in every)]),
            kept,
        ),
        np.concatenate([nothing.astype(DIGEST), *(digests for _, _, digests in every)]),
    )


def _keyed(part: Part, is_shared: bool) -> _Keyed:
    # The same bytes on both sides: any digest does, if it is the same in both.
    if is_shared:
        keys = part.read("raw", ["product_id"])["product_id"]
        return keys, np.zeros(len(keys), np.int64), np.zeros(len(keys), DIGEST)
    made = part.record_digests()
    assert made is not None  # noqa: S101 - they are computed where none are kept
    return part.read("raw", ["product_id"])["product_id"], made.sizes, made.digests


def _unlike(digests: _Digests, known: npt.NDArray[np.uint64]) -> Mask:
    """Say which records the other catalogue does not hold, given the sorted beginnings of the digests of its own."""
    own = beginnings(digests)
    place = np.minimum(np.searchsorted(known, own), max(len(known) - 1, 0))
    unlike: Mask = known[place] != own if len(known) else np.ones(len(own), np.bool_)
    return unlike


def _shared_parts(old: Sequence[Part], new: Sequence[Part]) -> list[tuple[int, int]]:
    """Pair the parts whose records are the same file or the same bytes: a refresh links what did not change."""
    by_size: dict[int, list[tuple[int, Path]]] = {}
    for number, path in _unfiltered_parts(old):
        by_size.setdefault(path.stat().st_size, []).append((number, path))
    shared = []
    for number, path in _unfiltered_parts(new):
        candidates = by_size.get(path.stat().st_size, [])
        for one in candidates:
            # Comparing bytes reads both files; a link to the same file is known at once.
            if one[1].samefile(path) or cmp(one[1], path, shallow=False):
                candidates.remove(one)
                shared.append((one[0], number))
                break
    return shared


def _unfiltered_parts(parts: Sequence[Part]) -> Iterator[tuple[int, Path]]:
    for number, part in enumerate(parts):
        if part.chosen is None and "raw" in part.files and part.files["raw"].is_file():
            yield number, part.files["raw"]


def _first_of_each_key(product_ids: pa.Array) -> Rows:
    """Return the index of the first product of each key."""
    return np.sort(np.unique(encoded(product_ids)[1], return_index=True)[1])


def _on_threads(work: Callable[[int], _T], numbers: Iterable[int]) -> list[_T]:
    with ThreadPoolExecutor(cpu_count()) as threads:
        return list(threads.map(work, numbers))

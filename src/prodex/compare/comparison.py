"""Comparing: `diff` for catalogues and audits, and for two catalogues from their records to frames.

The catalogues may be split into parts differently and have another order. Parts that are the same file, or have the
same bytes, hold the same products. Of all others the digests of the records are compared, so that only records that
differ are read into Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from filecmp import cmp
from itertools import starmap
from os import cpu_count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part
from prodex.compare.difference import Difference
from prodex.compare.records import ChangedCell, compare_records
from prodex.compare.scope import Scope, notes_on
from prodex.errors import InputError
from prodex.executors import checked_executor, mapped, side_by_side
from prodex.facts.name import names_of
from prodex.progress import PATIENCE, Progress, reporting
from prodex.quality import Audit, AuditComparison, compare_audits
from prodex.store.snapshot import open_snapshot
from prodex.tables.columns import Mask, Rows, encoded, places
from prodex.tables.frames import to_frame
from prodex.tables.record_digests import DIGEST, RecordDigests, beginnings

_CHANGES = pa.schema([(name, pa.string()) for name in ("product_id", "gtin", *ChangedCell._fields)])
_SHOWN = ("gtin", "brand_code", "brand", "kind_code", "kind", "owner", "updated_at")
_PRODUCTS = pa.schema(
    [
        *((name, pa.string()) for name in ("product_id", "gtin", "change")),
        ("changes", pa.int64()),
        ("name", pa.string()),
        *((name, pa.string()) for name in _SHOWN[1:-1]),
        *((f"{side}_updated_at", pa.timestamp("us")) for side in ("old", "new")),
    ]
)

#: What is counted and not listed.
_QUIET = frozenset({"touched only", "unchanged"})


class _Outcome(NamedTuple):
    product_id: str
    change: str
    changes: Sequence[ChangedCell]


#: The key of a product, and its records.
_Pair = tuple[str, bytes | None, bytes | None]


class _Job(NamedTuple):
    """Products to compare, and where their records are."""

    product_ids: Sequence[str]
    before: Reading
    after: Reading
    scope: Scope


def compare_catalogs(
    old: Catalog, new: Catalog, executor: Executor | None = None, progress: Progress = None
) -> Difference:
    """Compare two catalogues; see `prodex.diff`."""
    scope = Scope(old.origin, new.origin)
    outcomes: list[_Outcome] = []
    with reporting(progress, "Compared", after=PATIENCE) as reporter:
        with reporter.phase("Reading the products of both"):
            index, to_read, same, found = _found(old, new, executor)
        total = len(to_read[0])
        with reporter.phase("Comparing", "products", total) as show:
            jobs = _jobs(old, new, scope, index, to_read)
            # In this process threads would wait for each other, except to read the next records meanwhile.
            compared = (
                starmap(_compare_products, side_by_side(_read_group, jobs, threads=1))
                if executor is None
                else mapped(executor, _compare_group, jobs, folders=folders_of(old, new))
            )
            for some, left_out in compared:
                outcomes += some
                scope.left_out.update(left_out)
                show(len(outcomes), total)
                reporter.count(len(outcomes), total)
    products = _product_rows(old, new, outcomes)
    return Difference(
        products=to_frame(products),
        changes=_changes(products, outcomes),
        not_comparable=_not_comparable(scope),
        notes=tuple(_comparison_notes(old, new, found)),
        outcomes=_outcomes(same, outcomes),
        old=old,
        new=new,
    )


def _found(
    old: Catalog, new: Catalog, executor: Executor | None
) -> tuple[tuple[Index, Index], tuple[Rows, Rows], pa.Array, Counts]:
    """Return the products whose records have to be read, the ids of those that are the same, and how many there are.

    What is known of all products needs much memory, and is gone when the first record is read.
    """
    index = indexes(old, new, executor)
    found = pair(*index)
    same = index[1].product_ids.take(pa.array(found.same))
    products = found.to_read()
    # In the order of the newer catalogue, so that products of one part are read together.
    order = np.argsort(np.where(products[1] < 0, products[0], products[1]), kind="stable")
    (before, lefts), (after, rights) = (
        _only(side, rows[order]) for side, rows in zip(index, products, strict=True)
    )
    counts = Counts(*(len(one) for one in (found.differing[0], found.same, found.removed, found.added)))
    del index, found
    pa.default_memory_pool().release_unused()
    return (before, after), (lefts, rights), same, counts


def _only(index: Index, products: Rows) -> tuple[Index, Rows]:
    """Return an index of some products (-1: none), and where they are in it."""
    asked = products >= 0
    rows = products[asked]
    places = np.where(asked, np.cumsum(asked) - 1, -1)
    return Index(
        index.product_ids.take(pa.array(rows)),
        index.parts[rows],
        index.rows[rows],
        index.sizes[rows],
        index.digests[rows],
        index.kept,
    ), places


def _compare_group(job: _Job) -> tuple[list[_Outcome], Mapping[Any, int]]:
    return _compare_products(*_read_group(job))


def _read_group(job: _Job) -> tuple[Scope, Iterator[_Pair]]:
    """Read the records of some products."""
    return job.scope, zip(job.product_ids, records(job.before), records(job.after), strict=True)


def _compare_products(scope: Scope, products: Iterable[_Pair]) -> tuple[list[_Outcome], Mapping[Any, int]]:
    """Compare some products, and count what of them cannot be compared."""
    # A count of its own: other processes cannot add to that of this one.
    scope = replace(scope, left_out=Counter())
    return [_outcome(scope, *product) for product in products], scope.left_out


def _outcome(scope: Scope, product_id: str, before: bytes | None, after: bytes | None) -> _Outcome:
    """Compare one product; what an incomplete catalogue does not hold may exist nevertheless."""
    if before is None or after is None:
        where, change = (scope.old, "added") if before is None else (scope.new, "removed")
        change = change if where.complete else "not comparable"
        return _Outcome(product_id, change, ())
    changes, touched = compare_records(before, after, scope)
    if changes:
        return _Outcome(product_id, "changed", changes)
    return _Outcome(product_id, "touched only" if touched else "unchanged", ())


def _jobs(
    old: Catalog, new: Catalog, scope: Scope, index: tuple[Index, Index], products: tuple[Rows, Rows]
) -> Iterator[_Job]:
    """Yield the products to compare in their order, as many at a time as have room in memory."""
    lefts, rights = products
    for some in groups(*index, lefts, rights):
        ids = _product_keys(index, lefts[some], rights[some])
        before, after = reading(old, index[0], lefts[some]), reading(new, index[1], rights[some])
        yield _Job(ids, before, after, scope)


def _product_keys(index: tuple[Index, Index], lefts: Rows, rights: Rows) -> list[str]:
    keys = [
        side.product_ids.take(pa.array(numbers, mask=numbers < 0))
        for side, numbers in zip(index, (lefts, rights), strict=True)
    ]
    ids: list[str] = pc.coalesce(*keys).to_pylist()
    return ids


def _product_rows(old: Catalog, new: Catalog, outcomes: Iterable[_Outcome]) -> pa.Table:
    """Return one row for each product that differs; what is known of it as in the newer catalogue that has it."""
    # By key: the order of parts says nothing to a reader, and differs between two loads.
    listed = sorted((one for one in outcomes if one.change not in _QUIET), key=lambda one: one.product_id)
    ids = pa.array([one.product_id for one in listed], pa.string())
    sides = [_identifying_columns(catalog, ids) for catalog in (old, new)]
    is_new = sides[1]["product_id"].is_valid()
    # Names change; the newer catalogue says what people call a product today.
    gone = ids.filter(pc.invert(is_new))
    names = names_of(new, ids) | (names_of(old, gone) if len(gone) else {})
    columns: dict[str, Any] = {
        "product_id": ids,
        "change": [one.change for one in listed],
        "changes": [len(one.changes) if one.changes else None for one in listed],
        "name": [names.get(one.product_id) for one in listed],
        "old_updated_at": sides[0]["updated_at"],
        "new_updated_at": sides[1]["updated_at"],
    }
    for name in _SHOWN[:-1]:
        columns[name] = pc.if_else(is_new, sides[1][name], sides[0][name])
    return pa.table({field.name: columns[field.name] for field in _PRODUCTS}, schema=_PRODUCTS)


def _identifying_columns(catalog: Catalog, ids: pa.Array) -> pa.Table:
    """Return what is shown of these products, in their order; nulls where the catalogue has not got one."""
    wanted = ["product_id", *_SHOWN]
    rows = catalog.arrow("products", wanted, pc.field("product_id").isin(ids)).combine_chunks()
    return rows.take(pc.index_in(ids, rows["product_id"]))


def _changes(products: pa.Table, outcomes: Iterable[_Outcome]) -> pd.DataFrame:
    # In the order of `products`, so that both tables can be read side by side.
    changed = sorted((one for one in outcomes if one.changes), key=lambda one: one.product_id)
    gtins = products.filter(pc.equal(products["change"], "changed"))["gtin"].to_pylist()
    rows = [
        (one.product_id, gtin, *change)
        for one, gtin in zip(changed, gtins, strict=True)
        for change in one.changes
    ]
    columns = zip(*rows, strict=True) if rows else ([] for _ in _CHANGES)
    return to_frame(pa.table([pa.array(column, pa.string()) for column in columns], schema=_CHANGES))


def _outcomes(same: pa.Array, outcomes: Iterable[_Outcome]) -> pa.Table:
    ids = [pa.array([one.product_id for one in outcomes], pa.string()), same]
    # Products with the same bytes were never read, and are most of all after a refresh.
    changes = [
        pa.array([one.change for one in outcomes], pa.string()),
        pa.repeat(pa.scalar("unchanged"), len(same)),
    ]
    return pa.table({"product_id": pa.chunked_array(ids), "change": pa.chunked_array(changes)})


def _not_comparable(scope: Scope) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = [(*key, count) for key, count in scope.left_out.items()]
    if not scope.same_labels:
        languages = [origin.accept_language or "the default language" for origin in (scope.old, scope.new)]
        why = f"labels came in {languages[0]} in old, in {languages[1]} in new"
        # Every code has a label: one row for all of them, since counting would mean to read each.
        rows += [(f"*.{name}", None, why, None) for name in ("label", "description")]
    types = {"attribute": "str", "language": "str", "why": "str", "products": "Int64"}
    frame = pd.DataFrame(rows, columns=[*types]).astype(types)
    return frame.sort_values(["attribute", "language", "why"], ignore_index=True)


def _comparison_notes(old: Catalog, new: Catalog, found: Counts) -> Iterator[str]:
    yield from notes_on(old.origin, new.origin)
    both = found.differing + found.same
    for word, catalog, distinct, missing, fate in (
        ("old", old, both + found.removed, found.added, "added"),
        ("new", new, both + found.added, found.removed, "removed"),
    ):
        if not catalog.complete:
            yield (
                f"{word} is incomplete ({catalog.origin.ledger}): {missing:,} products that it does not hold are "
                f"called not comparable, not {fate}."
            )
        # A filter leaves no trace in the query, so this note mentions it.
        if any(part.chosen is not None for part in catalog.parts):
            yield f"{word} is a selection of a catalogue: what it left out is called {fate} here."
        if repeated := len(catalog) - distinct:
            yield f"{word} holds {repeated:,} products more than once; the first of each was compared."


_COMPARISONS: Mapping[type, Callable[..., Any]] = {Catalog: compare_catalogs, Audit: compare_audits}


@overload
def diff(old: Audit, new: Audit) -> AuditComparison: ...
@overload
def diff(
    old: Catalog | str | Path,
    new: Catalog | str | Path,
    *,
    executor: Executor | None = None,
    progress: Progress = None,
) -> Difference: ...
def diff(old: Any, new: Any, *, executor: Executor | None = None, progress: Progress = None) -> Any:
    """Compare two catalogues: which products were added, removed or changed, and each value old and new.

    Two audits are compared by their states: what was fixed, fails now, or still fails; see `AuditComparison`.

    Products are matched by product_id; texts by attribute and language, pictures by their address, codes by code,
    nodes of a hierarchy by GTIN, and so on; items without such a key by their content, then by their order. So a new
    item in front of a list is one added item, and no other item has changed. The order of a list, `updatedAt`, the
    spelling of JSON, and the normal form of Unicode (NFC or NFD) alone are no changes.

    What was not requested for one of the two is not compared, and listed in `not_comparable`. A product that is
    missing from an incomplete catalogue is not comparable either, rather than added or removed.

    Parameters
    ----------
    old, new
        Catalogues, in memory, from disk or filtered; or names of snapshots ("shop", "shop@2026-11-13"), or their
        folders. Or two audits.
    executor
        Reads and compares the records of two catalogues: any `concurrent.futures` executor; this process by default.
    progress
        Of two catalogues: a progress bar in notebooks and terminals once it takes over a second (None), or from the
        start (True), none (False), or a function of (done, total), both in products whose records differ.

    Raises
    ------
    SnapshotNotFound
        When there is no snapshot of that name.
    InputError
        When something else is to be compared.
    WorkerRefused, WorkerLost
        See `prodex.errors`.

    Examples
    --------
    >>> import prodex
    >>> old = prodex.flatten([{"id": 7, "serves": 4, "isTaggedBy": ["new"]}, {"id": 8}])
    >>> new = prodex.flatten([{"id": 7, "serves": 6, "isTaggedBy": ["big", "new"]}])
    >>> difference = prodex.diff(old, new)
    >>> difference.products[["product_id", "change"]].values.tolist()
    [['7', 'changed'], ['8', 'removed']]
    >>> difference.changes[["attribute", "column", "change", "new"]].values.tolist()
    [['isTaggedBy', 'tag', 'added', 'big'], ['serves', 'value', 'changed', '6']]
    """
    sides = [open_snapshot(side) if isinstance(side, str | Path) else side for side in (old, new)]
    compare = _COMPARISONS.get(type(sides[0]))
    # Also a snapshot and an audit: both are known, but not beside each other.
    if compare is None or type(sides[0]) is not type(sides[1]):
        raise InputError(
            "diff() takes two catalogues, names of snapshots, or audits, not "
            f"{type(old).__name__} and {type(new).__name__}."
        )
    if compare is not compare_audits:
        return compare(*sides, checked_executor(executor), progress)
    if executor is not None:
        raise InputError("Audits are in memory, and compared at once: leave executor out.")
    return compare(*sides)


Digests = npt.NDArray[np.void]
Beginnings = npt.NDArray[np.uint64]
#: Keys, sizes and digests of the records of one part.
_Keyed = tuple[pa.ChunkedArray, Rows, Digests]
_T = TypeVar("_T")

#: Records in memory at a time, in bytes of JSON, old and new together.
GROUP_BYTES = 50_000_000


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


class Counts(NamedTuple):
    """How many products there are of each kind of `Pairing`."""

    differing: int
    same: int
    removed: int
    added: int


def indexes(old: Catalog, new: Catalog, executor: Executor | None = None) -> tuple[Index, Index]:
    """Read the keys and digests of all products of two catalogues."""
    shared = _shared_parts(old.parts, new.parts)
    before = _index(old, {before for before, _ in shared}, None, executor)
    after = _index(new, {after for _, after in shared}, before, executor)
    # Arrow keeps the memory of all records for later use.
    pa.default_memory_pool().release_unused()
    return before, after


def pair(old: Index, new: Index) -> Pairing:
    """Find each product of the one in the other. Of several products with the same key the first counts."""
    first_old, first_new = _first_of_each_key(old.product_ids), _first_of_each_key(new.product_ids)
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
            some = _as_bytes(part.rows_at("raw", ["json"], rows)["json"])
        for place, record in zip(places.tolist(), some, strict=True):
            found[place] = record

    _on_threads(read, range(len(wanted.parts)))
    return found


def _as_bytes(json: pa.ChunkedArray) -> list[bytes]:
    records: list[bytes] = json.cast(pa.binary()).to_pylist()
    return records


def _index(catalog: Catalog, shared: set[int], other: Index | None, executor: Executor | None) -> Index:
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
    return Index(
        pa.chunked_array(chunks, pa.string()).combine_chunks(),
        np.repeat(np.arange(len(counts)), counts),
        np.concatenate([nothing, *map(np.arange, counts)]),
        np.concatenate([nothing, *(sizes for _, sizes, _ in every)]),
        np.concatenate([nothing.astype(DIGEST), *(digests for _, _, digests in every)]),
        kept,
    )


def _keyed(part: Part, is_shared: bool) -> _Keyed:
    # The same bytes on both sides: any digest does, if it is the same in both.
    if is_shared:
        keys = part.read("raw", ["product_id"])["product_id"]
        return keys, np.zeros(len(keys), np.int64), np.zeros(len(keys), DIGEST)
    made = part.record_digests()
    assert made is not None  # noqa: S101 - they are computed where none are kept
    return part.read("raw", ["product_id"])["product_id"], made.sizes, made.digests


def _unlike(digests: Digests, known: Beginnings) -> Mask:
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

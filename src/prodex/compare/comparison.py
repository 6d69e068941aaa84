"""Comparing: `diff` for catalogues and audits, and for two catalogues from their records to frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.compare.difference import Difference
from prodex.compare.pairs import Pairs, Reading, folders_of, paired, reading, records
from prodex.compare.record_differences import ChangedCell, compare_records
from prodex.compare.scope import Scope, notes_on
from prodex.errors import InputError
from prodex.executors import checked_executor, mapped, side_by_side
from prodex.facts.name import names_of
from prodex.progress import PATIENCE, Progress, reporting
from prodex.quality import Audit, AuditComparison, compare_audits
from prodex.store.snapshot import open_snapshot
from prodex.tables.frames import to_frame

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
            pairs = paired(old, new, executor)
            # What is known of all products needs much memory, and Arrow keeps that of their records for later use.
            pa.default_memory_pool().release_unused()
        total = len(pairs.product_ids)
        with reporter.phase("Comparing", "products", total, counts=True) as phase:
            jobs = (
                _Job(
                    pairs.product_ids[some].to_pylist(),
                    reading(old, pairs.before, some),
                    reading(new, pairs.after, some),
                    scope,
                )
                for some in pairs.groups()
            )
            # In this process threads would wait for each other, except to read the next records meanwhile.
            compared = (
                starmap(_compare_products, side_by_side(_read_group, jobs, threads=1))
                if executor is None
                else mapped(executor, _compare_group, jobs, folders=folders_of(old, new))
            )
            for some, left_out in compared:
                outcomes += some
                scope.left_out.update(left_out)
                phase.add(len(some))
    products = _product_rows(old, new, outcomes)
    return Difference(
        products=to_frame(products),
        changes=_changes(products, outcomes),
        not_comparable=_not_comparable(scope),
        notes=tuple(_comparison_notes(old, new, pairs)),
        outcomes=_outcomes(pairs.same, outcomes),
        old=old,
        new=new,
    )


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


def _comparison_notes(old: Catalog, new: Catalog, pairs: Pairs) -> Iterator[str]:
    yield from notes_on(old.origin, new.origin)
    for word, catalog, places, fate in (
        ("old", old, pairs.before, "added"),
        ("new", new, pairs.after, "removed"),
    ):
        there = np.count_nonzero(places.there)
        distinct, missing = len(pairs.same) + there, len(pairs.product_ids) - there
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

    Products are matched by product_id; items of lists by their content, then by what names them: texts by language,
    pictures by their address, codes by code, nodes of a hierarchy by GTIN, and so on; items without a name by what else
    tells them apart, or by their order. So a new item in front of a list is one added item, and no other item has
    changed. The order of a list, `updatedAt`, the
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

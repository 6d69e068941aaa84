"""The products that somebody looks at, as columns: each is read once, in the order of the catalogue."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from os import cpu_count
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part
from prodex.errors import QueryError
from prodex.facts.groups import Groups, grouped
from prodex.facts.label import CODE_OF, shown
from prodex.facts.market import markets_of
from prodex.facts.name import Names
from prodex.facts.owner import OWNER_COLUMNS, owner_codes
from prodex.facts.pending import own
from prodex.quality import Audit
from prodex.quality.states import State
from prodex.tables.columns import is_true
from prodex.tables.declaration import TABLES

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
_Made = TypeVar("_Made")

_OF_PRODUCTS = frozenset(TABLES["products"].schema.names)
_OF_AUDIT = ("grade", "score")


class ProductColumns:
    """The products of a catalogue. Their places in it, from 0, are what everything here speaks of.

    Parameters
    ----------
    catalog
        The products.
    audit
        What is known of their quality; it may be of more products, or of fewer.

    Examples
    --------
    >>> import prodex
    >>> stock = ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> stock.shown("brand").to_pylist(), stock.places(("8", "9")).tolist()
    (['ACME', None], [1])
    """

    def __init__(self, catalog: Catalog, audit: Audit | None = None) -> None:
        self.catalog = catalog
        self.audit = audit
        self._columns: dict[str, pa.Array] = {}
        self._names: dict[str | None, pa.Array] = {}
        self._name_rows: list[Names] | None = None
        self._lock = threading.RLock()  # a search reads beside what the page needs

    def __len__(self) -> int:
        return len(self.catalog)

    @property
    def ids(self) -> pa.Array:
        """The ids of the products."""
        return self.column("product_id")

    def column(self, name: str) -> pa.Array:
        """Return a column of `products`, or grade and score of the audit."""
        self.read(name)
        return self._columns[name]

    def read(self, *names: str) -> None:
        """Read columns that are needed soon in one go."""
        with self._lock:
            missing = [name for name in dict.fromkeys(names) if name not in self._columns]
            stored = [name for name in missing if name not in _OF_AUDIT]
            if stored:
                table = self.catalog.arrow("products", stored)
                self._columns |= {name: table[name].combine_chunks() for name in stored}
            if len(stored) < len(missing):
                self._columns |= self._judged()

    def shown(self, name: str) -> pa.Array:
        """Return a column as people see it: a code without label as itself, the owner by what there is of him.

        Raises
        ------
        QueryError
            When there is no such column.
        """
        if name == "name":
            return self.names(None)
        if name not in _OF_PRODUCTS and name not in _OF_AUDIT:
            raise QueryError(
                f"There is no column {name!r}. Give 'name', a column of products, 'grade' or 'score'."
            )
        if name == "owner":
            return shown(self.column("owner"), self.owner)
        if name in CODE_OF:
            return shown(self.column(name), self.column(CODE_OF[name]))
        return self.column(name)

    @property
    def owner(self) -> pa.Array:
        """What tells owners apart; see `prodex.facts.owner`."""
        self.read(*OWNER_COLUMNS)
        return owner_codes(self.column)

    @property
    def market(self) -> pa.Array:
        """The market that counts for each product, as in an audit: its own, the one asked for, the profile's."""
        known = markets_of(self.column("target_market"), self.catalog.origin)
        return (
            known if self.audit is None else pc.coalesce(known, self._audited(self.audit.identity["market"]))
        )

    def groups(self, by: str) -> Groups:
        """Return the groups of the products, as everywhere; see `prodex.facts.groups`."""
        facts = {"market": lambda: self.market, "owner_id": lambda: self.owner}

        def column(name: str) -> pa.Array:
            return facts[name]() if name in facts else self.column(name)

        return grouped(by, len(self), column, self.own)

    def names(self, language: str | None) -> pa.Array:
        """Return what people call each product in a language, or in the first that there is."""
        named = self._named()
        with self._lock:
            if language not in self._names:
                best = [one.best(language) for one in named]
                self._names[language] = pa.concat_arrays([pa.array([], pa.string()), *best])
            return self._names[language]

    def languages(self) -> list[str]:
        """Return the languages in which products have names, the most frequent first."""
        every = pa.chunked_array([one.language for one in self._named()], pa.string()).drop_null()
        counted = pc.value_counts(every).to_pylist()
        return [one["values"] for one in sorted(counted, key=lambda one: (-one["counts"], one["values"]))]

    def children(self, table: str, *columns: str) -> Iterator[tuple[Rows, pa.Table]]:
        """Yield, part by part, rows of a child table with the place of the product of each."""

        def read(part: Part, before: int) -> tuple[Rows, pa.Table]:
            ids = part.read("products", ["product_id"])["product_id"].combine_chunks()
            rows = part.read(table, ["product_id", *columns])
            place = pc.index_in(rows["product_id"].combine_chunks(), ids)
            return place.to_numpy(zero_copy_only=False).astype(np.int64) + before, rows.drop_columns(
                "product_id"
            )

        yield from self.each_part(read)

    def each_part(self, work: Callable[[Part, int], _Made]) -> Iterator[_Made]:
        """Do something for every part in threads: it gets the part and the number of products before it."""
        parts = [part for part in self.catalog.parts if part.size]
        before = accumulate((part.size for part in parts[:-1]), initial=0)
        with ThreadPoolExecutor(cpu_count()) as threads:
            yield from threads.map(work, parts, before)

    def own(self, table: str, *columns: str) -> pa.Table:
        """Return rows of a child table as `product` (its place) and columns, without those of waiting updates."""
        pieces = []
        for product, rows in self.children(table, "attribute", *columns):
            named = pa.table([pa.array(product), *rows.columns], names=["product", *rows.column_names])
            pieces.append(own(named))
        empty = TABLES[table].schema.empty_table().select(columns)
        nothing = pa.table([pa.array([], pa.int64()), *empty.columns], names=["product", *columns])
        return pa.concat_tables([nothing, *(piece.select(nothing.column_names) for piece in pieces)])

    def places(self, ids: tuple[str, ...]) -> Rows:
        """Return where products stand; ids that are not here are left out."""
        found = pc.index_in(pa.array(ids, pa.string()), self.ids).drop_null()
        return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)

    def failing(self, checks: tuple[str, ...]) -> Mask:
        """Say which products fail at least one of some checks.

        Raises
        ------
        QueryError
            When there is no audit, or it has no such check.
        """
        if self.audit is None:
            raise QueryError(
                "Products that fail a check are asked for, and there is no audit. Give one: audit=..."
            )
        known = [check.id for check in self.audit.checks]
        if unknown := [check for check in checks if check not in known]:
            raise QueryError(
                f"The audit has no check {unknown[0]!r}. audit.by_check lists those that it has."
            )
        columns = [known.index(check) for check in checks]
        fails = (self.audit.states[:, columns] == State.FAIL).any(axis=1)
        return is_true(self._audited(pa.array(fails)))

    def _judged(self) -> Mapping[str, pa.Array]:
        if self.audit is None:
            raise QueryError("Grades and scores come from an audit, and there is none. Give one: audit=...")
        scores = self.audit.tally.scores
        graded = pa.array(self.audit.grades, pa.string(), from_pandas=True)
        score = pa.array(scores, pa.float64(), from_pandas=True)
        return {"grade": self._audited(graded), "score": self._audited(score)}

    def _audited(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Return values of the audit's products in our order; none where it did not judge a product."""
        assert self.audit is not None  # noqa: S101 - callers have looked
        judged = self.audit.identity["product_id"].combine_chunks()
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return values.take(pc.index_in(self.ids, judged))

    def _named(self) -> list[Names]:
        with self._lock:
            if self._name_rows is None:
                self._name_rows = list(self.each_part(lambda part, _: Names.read(part, self.catalog.origin)))
            return self._name_rows

"""The products of a catalogue as columns: each is read once, in the order of the catalogue."""

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
from prodex.facts.owner import OWNER_COLUMNS, owner_codes, owners_shown
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
    """The products of a catalogue. A product is identified by its place in the catalogue, from 0.

    Parameters
    ----------
    catalog
        The catalogue.
    audit
        The audit of its quality; it may cover more products, or fewer.

    Examples
    --------
    >>> import prodex
    >>> products = ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> products.shown("brand").to_pylist()
    ['ACME', None]
    """

    def __init__(self, catalog: Catalog, audit: Audit | None = None) -> None:
        self.catalog = catalog
        self.audit = audit
        self._columns: dict[str, pa.Array] = {}
        self._names: dict[str | None, pa.Array] = {}
        self._name_rows: list[Names] | None = None
        # A search in the background reads columns while the page reads others; a column may need others first.
        self._lock = threading.RLock()

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
        """Read several columns at once: the file of a part is opened once for all of them."""
        with self._lock:
            missing = [name for name in dict.fromkeys(names) if name not in self._columns]
            stored = [name for name in missing if name not in _OF_AUDIT]
            if stored:
                table = self.catalog.arrow("products", stored)
                self._columns |= {name: table[name].combine_chunks() for name in stored}
            if len(stored) < len(missing):
                self._columns |= self._grades_and_scores()

    def shown(self, name: str) -> pa.Array:
        """Return a column as it is shown: a code if it has no label, an owner by id if it has no name.

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
            self.read(*OWNER_COLUMNS)
            return owners_shown(self.column)
        if name in CODE_OF:
            return shown(self.column(name), self.column(CODE_OF[name]))
        return self.column(name)

    @property
    def owner(self) -> pa.Array:
        """What identifies owners; see `prodex.facts.owner`."""
        self.read(*OWNER_COLUMNS)
        return owner_codes(self.column)

    @property
    def market(self) -> pa.Array:
        """The market of each product, as in an audit: its own, else that of the query, else that of the profile."""
        known = markets_of(self.column("target_market"), self.catalog.origin)
        return (
            known if self.audit is None else pc.coalesce(known, self._audited(self.audit.identity["market"]))
        )

    def groups(self, by: str) -> Groups:
        """Return the products by group, as everywhere; see `prodex.facts.groups`."""
        facts = {"market": lambda: self.market, "owner_id": lambda: self.owner}

        def column(name: str) -> pa.Array:
            return facts[name]() if name in facts else self.column(name)

        return grouped(by, len(self), column, self.own)

    def names(self, language: str | None) -> pa.Array:
        """Return the name of each product in a language; with None, in the best language that it has."""
        named = self._named()
        with self._lock:
            if language not in self._names:
                best = [one.best(language) for one in named]
                self._names[language] = pa.concat_arrays([pa.array([], pa.string()), *best])
            return self._names[language]

    def languages(self) -> list[str]:
        """Return the languages in which products have names, most frequent first."""
        every = pa.chunked_array([one.language for one in self._named()], pa.string()).drop_null()
        counted = pc.value_counts(every).to_pylist()
        return [one["values"] for one in sorted(counted, key=lambda one: (-one["counts"], one["values"]))]

    def children(self, table: str, *columns: str) -> Iterator[tuple[Rows, pa.Table]]:
        """Yield, part by part, rows of a child table with the place of the product of each."""

        def read(part: Part, before: int) -> tuple[Rows, pa.Table]:
            ids = part.read("products", ["product_id"])["product_id"].combine_chunks()
            rows = part.read(table, ["product_id", *columns])
            # Children name their product by id; everything here works with places, which numpy can index by.
            place = pc.index_in(rows["product_id"].combine_chunks(), ids).to_numpy(zero_copy_only=False)
            return place.astype(np.int64) + before, rows.drop_columns("product_id")

        yield from self.each_part(read)

    def each_part(self, work: Callable[[Part, int], _Made]) -> Iterator[_Made]:
        """Work on all parts in threads, and yield the results in order.

        Parameters
        ----------
        work
            Gets a part and the number of products in the parts before it.
        """
        parts = [part for part in self.catalog.parts if part.size]
        before = accumulate((part.size for part in parts[:-1]), initial=0)
        # pyarrow reads and decodes without the lock of the interpreter, so threads do work side by side.
        with ThreadPoolExecutor(cpu_count()) as threads:
            yield from threads.map(work, parts, before)

    def own(self, table: str, *columns: str) -> pa.Table:
        """Return rows of a child table, with the place of their product as `product`, without pending updates."""
        pieces = []
        for product, rows in self.children(table, "attribute", *columns):
            named = pa.table([pa.array(product), *rows.columns], names=["product", *rows.column_names])
            pieces.append(own(named))
        empty = TABLES[table].schema.empty_table().select(columns)
        nothing = pa.table([pa.array([], pa.int64()), *empty.columns], names=["product", *columns])
        return pa.concat_tables([nothing, *(piece.select(nothing.column_names) for piece in pieces)])

    def failing(self, checks: tuple[str, ...]) -> Mask:
        """Return which products fail at least one of some checks.

        Raises
        ------
        QueryError
            When there is no audit, or it has no such check.
        """
        if self.audit is None:
            raise QueryError(
                "The conditions ask for products that fail a check, and there is no audit. Give one: audit=..."
            )
        known = [check.id for check in self.audit.checks]
        # The conditions may come from an audit that has been replaced by another since.
        if unknown := [check for check in checks if check not in known]:
            raise QueryError(
                f"The audit has no check {unknown[0]!r}. audit.by_check lists those that it has."
            )
        columns = [known.index(check) for check in checks]
        fails = (self.audit.states[:, columns] == State.FAIL).any(axis=1)
        return is_true(self._audited(pa.array(fails)))

    def _grades_and_scores(self) -> Mapping[str, pa.Array]:
        if self.audit is None:
            raise QueryError(
                "Grades and scores come from an audit, and there is no audit. Give one: audit=..."
            )
        scores = self.audit.tally.scores
        graded = pa.array(self.audit.grades, pa.string(), from_pandas=True)
        score = pa.array(scores, pa.float64(), from_pandas=True)
        return {"grade": self._audited(graded), "score": self._audited(score)}

    def _audited(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Return values of the audit in the order of the catalogue; null for products that it does not cover."""
        assert self.audit is not None  # noqa: S101 - callers have checked it
        judged = self.audit.identity["product_id"].combine_chunks()
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return values.take(pc.index_in(self.ids, judged))

    def _named(self) -> list[Names]:
        with self._lock:
            if self._name_rows is None:
                self._name_rows = list(self.each_part(lambda part, _: Names.read(part, self.catalog.origin)))
            return self._name_rows

"""What a column of the table holds, for its head: a histogram of numbers and dates, else the most frequent values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.notebook.conditions import Range
from prodex.notebook.products.bins import before, edges_of, plain
from prodex.notebook.products.memberships import OneValueEach
from prodex.notebook.products.product_columns import Mask, ProductColumns
from prodex.notebook.products.ranges import measure_of
from prodex.notebook.products.table_page import cell, column_values, is_asked
from prodex.tables.columns import encoded

#: Values that are listed at most.
_LISTED = 5


@dataclass(frozen=True)
class Histogram:
    """The numbers or dates of a column.

    Attributes
    ----------
    column
        Its name.
    edges
        Where the bins begin, and where the last one ends, which is in it: the same whatever the conditions.
    counts
        How many of some products are in each bin.
    totals
        How many of all products are.
    without
        How many of some products have no value.
    is_asked
        Whether the service was asked for the column: if not, a product without a value may have one.
    """

    column: str
    edges: tuple[float | datetime, ...]
    counts: tuple[int, ...]
    totals: tuple[int, ...]
    without: int
    is_asked: bool

    def range(self, first: int, last: int) -> Range:
        """Return the range of the values from one bin to another, both included.

        Examples
        --------
        >>> Histogram("life_cycle", (1, 2, 3), (4, 4), (4, 4), 0, True).range(0, 0)
        Range(least=1, greatest=1)
        """
        end = self.edges[last + 1]
        return Range(self.edges[first], end if last + 1 == len(self.counts) else self._before(end))

    def _before(self, edge: float | datetime) -> float | datetime:
        return before(np.datetime64(edge, "us") if isinstance(edge, datetime) else np.array(edge)[()])

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON; dates are text (ISO 8601)."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


@dataclass(frozen=True)
class ValueCount:
    """A value as the table shows it, and how many products have it."""

    label: str
    count: int


@dataclass(frozen=True)
class FrequentValues:
    """The values of a column that is neither of numbers nor of dates.

    Attributes
    ----------
    column
        Its name.
    values
        The most frequent ones; of more than are listed, only those that several products have.
    distinct
        How many different values there are.
    others
        How many products have a value that is not listed.
    without
        How many have none.
    is_asked
        Whether the service was asked for the column: if not, a product without a value may have one.
    """

    column: str
    values: tuple[ValueCount, ...]
    distinct: int
    others: int
    without: int
    is_asked: bool

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


Summary: TypeAlias = Histogram | FrequentValues


class ColumnSummaries:
    """Summaries of the columns of a catalogue; each column is read when it is first asked for.

    Parameters
    ----------
    products
        The products.

    Examples
    --------
    >>> import prodex
    >>> brands = [{"id": n, "brand": {"code": code}} for n, code in enumerate(["ACME", "ACME", "ZEST", None])]
    >>> summaries = ColumnSummaries(ProductColumns(prodex.flatten(brands)))
    >>> found = summaries.of("brand", np.ones(4, bool))
    >>> found.values, found.distinct, found.without
    ((ValueCount(label='ACME', count=2), ValueCount(label='ZEST', count=1)), 2, 1)
    """

    def __init__(self, products: ProductColumns) -> None:
        self._products = products
        self._binned: dict[str, _Binned] = {}
        self._coded: dict[tuple[str, str | None], _Coded] = {}

    def of(self, column: str, among: Mask, language: str | None = None) -> Summary:
        """Return the summary of a column for some products.

        Parameters
        ----------
        column
            A column of the table: of `products`, "name", "grade" or "score".
        among
            Which products.
        language
            Language of the names.

        Raises
        ------
        QueryError
            When there is no such column.
        """
        asked = is_asked(self._products, column)
        if measure_of(column):
            if column not in self._binned:
                self._binned[column] = _Binned.of(self._products.column(column))
            return self._binned[column].summary(column, among, is_asked=asked)
        key = (column, language if column == "name" else None)
        if key not in self._coded:
            self._coded[key] = _Coded.of(column_values(self._products, *key))
        return self._coded[key].summary(column, among, is_asked=asked)


@dataclass(frozen=True, eq=False)
class _Binned:
    """The bin of each product; that of products without a value comes last."""

    edges: npt.NDArray[Any]
    bins: OneValueEach
    totals: tuple[int, ...]

    @classmethod
    def of(cls, values: pa.Array) -> _Binned:
        there = values.is_valid().to_numpy(zero_copy_only=False)
        found = values.drop_null().to_numpy(zero_copy_only=False)
        edges = edges_of(found)
        size = max(len(edges) - 1, 0)
        bins = np.full(len(values), size, np.int64)
        # The last bin ends with its edge.
        bins[there] = np.minimum(np.searchsorted(edges, found, side="right") - 1, size - 1)
        each = OneValueEach.of(bins, size + 1)
        totals = each.count(np.ones(len(values), bool), size + 1)
        return cls(edges, each, tuple(totals[:-1].tolist()))

    def summary(self, column: str, among: Mask, *, is_asked: bool) -> Histogram:
        counts = self.bins.count(among, len(self.totals) + 1).tolist()
        edges = tuple(plain(edge) for edge in self.edges)
        return Histogram(column, edges, tuple(counts[:-1]), self.totals, counts[-1], is_asked)


@dataclass(frozen=True, eq=False)
class _Coded:
    """The number of the value of each product; that of products without one comes last."""

    values: pa.Array
    numbers: OneValueEach

    @classmethod
    def of(cls, values: pa.Array) -> _Coded:
        distinct, code = encoded(values)
        numbers = np.where(code < 0, len(distinct), code)
        return cls(distinct, OneValueEach.of(numbers, len(distinct) + 1))

    def summary(self, column: str, among: Mask, *, is_asked: bool) -> FrequentValues:
        counts = self.numbers.count(among, len(self.values) + 1)
        of_values, without = counts[:-1], int(counts[-1])
        distinct = int(np.count_nonzero(of_values))
        # Of values that only one product has, such as GTINs, none is worth naming.
        least = 1 if distinct <= _LISTED else 2
        places = np.flatnonzero(of_values >= least)
        if len(places) > _LISTED:
            # Of equally frequent values, those that come first in the catalogue.
            least = np.partition(of_values[places], -_LISTED)[-_LISTED]
            often, rest = places[of_values[places] > least], places[of_values[places] == least]
            places = np.concatenate([often, rest[: _LISTED - len(often)]])
        labels = self.values.take(pa.array(places)).to_pylist()
        listed = [
            ValueCount(cell(column, label), int(count))
            for label, count in zip(labels, of_values[places], strict=True)
        ]
        listed.sort(key=lambda one: (-one.count, one.label))
        others = int(of_values.sum()) - sum(one.count for one in listed)
        return FrequentValues(column, tuple(listed), distinct, others, without, is_asked)

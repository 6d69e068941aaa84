"""Ranges of numbers and dates: which columns have them, which products are in one, and the histogram of a column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.exploration.facet_values import OneValueEach
from prodex.exploration.product_columns import ProductColumns, quantity_of
from prodex.exploration.table_page import is_asked
from prodex.selection import Range
from prodex.tables.columns import Mask, is_true
from prodex.tables.declaration import TABLES

#: What a column holds that can be in a range; "" for anything else.
Measure: TypeAlias = Literal["number", "date", ""]

_OF_PRODUCTS = TABLES["products"].schema


def measure_of(column: str) -> Measure:
    """Return what a column of `products`, the score of the audit, or a column of numbers with a unit holds.

    >>> measure_of("updated_at"), measure_of("texts_count"), measure_of("brand"), measure_of("netWeight [GRM]")
    ('date', 'number', '', 'number')
    """
    if quantity_of(column):
        return "number"
    kind = _OF_PRODUCTS.field(column).type if column in _OF_PRODUCTS.names else None
    if column == "score" or (kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind))):
        return "number"
    return "date" if kind is not None and pa.types.is_timestamp(kind) else ""


def in_range(products: ProductColumns, column: str, limits: Range) -> Mask:
    """Return which products have a value of a column between limits, which are included.

    A product without a value is in no range. Dates without a zone are taken to be in UTC.

    Parameters
    ----------
    products
        The products.
    column
        A column of numbers or dates of `products`, "score", or a column of numbers with a unit.
    limits
        The least and the greatest value.

    Raises
    ------
    QueryError
        When the column holds something else, or the limits are not of its kind.

    Examples
    --------
    >>> import prodex
    >>> products = ProductColumns(prodex.flatten([{"id": n, "lifeCycle": n} for n in (1, 2, 3)] + [{"id": 4}]))
    >>> in_range(products, "life_cycle", Range(2, None)).tolist()
    [False, True, True, False]
    """
    if not (measure := measure_of(column)):
        raise QueryError(
            f"There is no range of {column!r:.60}. Give a column of products with numbers or dates, such as "
            "'texts_count' or 'updated_at', or 'score'."
        )
    values = products.column(column)
    met: Any = values.is_valid()
    for limit, compare in ((limits.least, pc.greater_equal), (limits.greatest, pc.less_equal)):
        if limit is not None:
            met = pc.and_kleene(met, compare(values, _limit_scalar(column, measure, limit)))
    return is_true(met)


def _limit_scalar(column: str, measure: Measure, limit: float | datetime) -> pa.Scalar:
    if isinstance(limit, datetime) != (measure == "date"):
        wanted = "a number, such as 2" if measure == "number" else "a day, such as datetime.date(2026, 1, 31)"
        raise QueryError(
            f"{column!r} holds {measure}s, and a limit of its range is {limit!r:.60}. Give {wanted}."
        )
    if not isinstance(limit, datetime):
        return pa.scalar(float(limit))
    return pa.scalar(in_utc(limit), pa.timestamp("us"))


def in_utc(limit: Any) -> Any:
    """Return a date in UTC without a zone, as the tables have dates; one without a zone, and a number, as it is."""
    is_aware = isinstance(limit, datetime) and limit.tzinfo is not None
    return limit.astimezone(UTC).replace(tzinfo=None) if is_aware else limit


def overlap(one: Range, other: Range) -> bool:
    """Return whether a value can be in both ranges.

    >>> overlap(Range(1, 3), Range(3, None)), overlap(Range(1, 3), Range(4, 5))
    (True, False)
    """
    return reaches(one.greatest, other.least) and reaches(other.greatest, one.least)


def reaches(greatest: float | datetime | None, least: float | datetime | None) -> bool:
    """Return whether the upper end of a range is not below the lower end of one."""
    return greatest is None or least is None or bool(in_utc(greatest) >= in_utc(least))


#: Numbers, or dates without a zone.
Values: TypeAlias = npt.NDArray[Any]

#: A histogram has no more bins than this.
MOST = 24
#: Units of dates from small to large, as numpy names them, and how many of each may make a step.
_STEPS = {
    "s": (1, 5, 15, 30),
    "m": (1, 5, 15, 30),
    "h": (1, 3, 6, 12),
    "D": (1, 2, 5, 10),
    "M": (1, 3, 6),
    "Y": (1, 2, 5, 10, 20, 50, 100, 200, 500, 10_000, 100_000),
}
#: Steps of numbers are no smaller than this power of ten.
_SMALLEST = -300
#: What Python can say of a date.
_FIRST, _LAST = np.datetime64("0001-01-01T00:00:00.000000"), np.datetime64("9999-12-31T23:59:59.999999")
#: Where a few values lie this many times as far apart as all others, they get the first and the last bin.
_FAR = 4


def edges_of(values: Values) -> Values:
    """Return the edges of at most `MOST` bins for values: each bin begins at an edge and ends before the next.

    The last one ends with its edge, since there is no date above the last that Python can say.
    The values of the lowest and of the highest hundredth are put into one bin each where they lie so far off that all
    others would be in a few bins.

    Parameters
    ----------
    values
        Whole numbers (as in the tables: of less than 54 bits), other numbers or dates without a zone; none is missing.

    Examples
    --------
    >>> edges_of(np.array([3, 7, 41])).tolist()
    [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42]
    >>> edges_of(np.array(["2026-01-05", "2026-11-23"], "M8[us]")).astype("M8[M]").tolist()[0]
    datetime.date(2026, 1, 1)
    """
    if not len(values):
        return values
    few = len(values) // 100
    least, low, high, greatest = np.partition(values, (0, few, -1 - few, -1))[[0, few, -1 - few, -1]]
    if _span(least, greatest) <= _FAR * _span(low, high) or low == high:
        return _round_edges(least, greatest, MOST)
    edges = _round_edges(low, high, MOST - 2)
    below = [least] if least < edges[0] else []
    above = [_next(greatest)] if greatest >= edges[-1] else []
    return np.concatenate([np.array(below, edges.dtype), edges, np.array(above, edges.dtype)])


def _span(least: Any, greatest: Any) -> float:
    if isinstance(least, np.datetime64):
        least, greatest = least.astype(np.int64), greatest.astype(np.int64)
    return float(greatest) - float(least)


def _round_edges(least: Any, greatest: Any, most: int) -> Values:
    """Return round edges of which the first is not above the least value, and the last above the greatest."""
    if isinstance(least, np.datetime64):
        steps = _date_edges(least, greatest)
    elif isinstance(least, np.integer):
        steps = _whole_edges(int(least), int(greatest))
    else:
        steps = _number_edges(float(least), float(greatest))
    return next(edges for edges in steps if len(edges) - 1 <= most)


def _whole_edges(least: int, greatest: int) -> Iterator[Values]:
    """Yield edges in ever larger steps."""
    for power in count():
        for step in (one * 10**power for one in (1, 2, 5)):
            first, last = least // step, greatest // step
            if last - first < MOST:
                yield np.arange(first, last + 2) * step


def _number_edges(least: float, greatest: float) -> Iterator[Values]:
    """Yield edges in ever larger steps."""
    # Start with steps that are too small: some digits more than are needed to distinguish the values.
    start = max(math.floor(math.log10(greatest - least or abs(least) or 1)) - 2, _SMALLEST)
    for power in count(start):
        for factor in (1, 2, 5):
            # Divided by a power of ten a decimal fraction is the nearest there is; multiplied by a fraction it is not.
            step = factor * 10.0**power if power >= 0 else factor / 10.0**-power
            first, last = math.floor(least / step), math.floor(greatest / step)
            if last - first < MOST:
                edges = np.arange(first, last + 2) * step
                edges[0], edges[-1] = min(edges[0], least), max(edges[-1], math.nextafter(greatest, math.inf))
                yield edges


def _date_edges(least: Any, greatest: Any) -> Iterator[Values]:
    """Yield edges in ever larger steps."""
    for unit, factors in _STEPS.items():
        first, last = (int(one.astype(f"M8[{unit}]").astype(np.int64)) for one in (least, greatest))
        for factor in factors:
            if last // factor - first // factor < MOST:
                edges = np.arange(first // factor, last // factor + 2) * factor
                yield np.clip(edges.astype(f"M8[{unit}]").astype("M8[us]"), _FIRST, _LAST)


def _next(value: Any) -> Any:
    """Return the smallest value that is larger."""
    return np.nextafter(value, np.inf) if isinstance(value, np.floating) else value + 1


def before(edge: Any) -> float | datetime:
    """Return the largest value that is smaller than an edge, as a limit of a range.

    There is no edge above the last date that Python can say, so that one is returned as it is.

    >>> before(np.int64(10)), before(np.datetime64("2026-01-01T00:00:00.000000"))
    (9, datetime.datetime(2025, 12, 31, 23, 59, 59, 999999))
    """
    if isinstance(edge, np.datetime64) and edge == _LAST:
        return python_value(edge)
    smaller = np.nextafter(edge, -np.inf) if isinstance(edge, np.floating) else edge - 1
    return python_value(smaller)


def python_value(value: Any) -> float | datetime:
    """Return a number or a date as Python has it."""
    found: float | datetime = value.item()
    return found


@dataclass(frozen=True)
class Histogram:
    """The numbers or dates of a column.

    Attributes
    ----------
    column
        Its name.
    edges
        Where the bins begin, and where the last one ends: the same whatever the conditions.
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
        edge = np.datetime64(end, "us") if isinstance(end, datetime) else np.array(end)[()]
        return Range(self.edges[first], before(edge))


class Histograms:
    """Histograms of the columns of a catalogue; each column is read when it is first asked for.

    Parameters
    ----------
    products
        The products.

    Examples
    --------
    >>> import prodex
    >>> records = [{"id": n, "lifeCycle": life_cycle} for n, life_cycle in enumerate((1, 1, 3, None))]
    >>> found = Histograms(ProductColumns(prodex.flatten(records))).of("life_cycle", np.ones(4, bool))
    >>> found.edges, found.counts, found.without
    ((1, 2, 3, 4), (2, 0, 1), 1)
    """

    def __init__(self, products: ProductColumns) -> None:
        self._products = products
        self._binned: dict[str, _Binned] = {}

    def is_read(self, column: str) -> bool:
        """Return whether a column has been read."""
        return column in self._binned

    def read(self, column: str) -> None:
        """Read a column, so that its histogram is there at once.

        Raises
        ------
        QueryError
            When it holds neither numbers nor dates.
        """
        if not measure_of(column):
            raise QueryError(f"{column!r:.60} holds neither numbers nor dates. Only these have a histogram.")
        if column not in self._binned:
            self._binned[column] = _Binned.of(self._products.column(column))

    def of(self, column: str, among: Mask) -> Histogram:
        """Return the histogram of a column for some products.

        Parameters
        ----------
        column
            A column of numbers or dates of `products`, or "score".
        among
            Which products.

        Raises
        ------
        QueryError
            When it holds neither numbers nor dates.
        """
        self.read(column)
        return self._binned[column].summary(column, among, is_asked=is_asked(self._products, column))


@dataclass(frozen=True, eq=False)
class _Binned:
    """The bin of each product; that of products without a value is the last."""

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
        if among.all():  # as at first, and whenever the last condition is removed
            counts = [*self.totals, self.bins.size - sum(self.totals)]
        else:
            counts = self.bins.count(among, len(self.totals) + 1).tolist()
        edges = tuple(python_value(edge) for edge in self.edges)
        return Histogram(column, edges, tuple(counts[:-1]), self.totals, counts[-1], is_asked)

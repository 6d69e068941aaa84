"""Histograms of numbers and dates: the bin of each product, and how many of some products are in each bin."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.errors import QueryError
from prodex.notebook.conditions import Range
from prodex.notebook.products.bins import before, edges_of, plain
from prodex.notebook.products.memberships import OneValueEach
from prodex.notebook.products.product_columns import Mask, ProductColumns
from prodex.notebook.products.ranges import measure_of
from prodex.notebook.products.table_page import is_asked


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
        if among.all():  # as at first, and whenever the last condition is removed
            counts = [*self.totals, self.bins.size - sum(self.totals)]
        else:
            counts = self.bins.count(among, len(self.totals) + 1).tolist()
        edges = tuple(plain(edge) for edge in self.edges)
        return Histogram(column, edges, tuple(counts[:-1]), self.totals, counts[-1], is_asked)

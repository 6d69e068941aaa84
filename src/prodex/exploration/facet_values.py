"""Facets, and their values: codes and labels, how many products have each, and in which order they are listed.

Numbers are chosen with `compress`: where half of a million products is meant, it takes a quarter of the time that an
index by a mask takes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from prodex.exploration.product_columns import Rows
from prodex.facts.groups import Groups
from prodex.facts.name import distinct_labels
from prodex.locales import short_of
from prodex.selection import Code, Selection
from prodex.tables.columns import Mask


@dataclass(frozen=True)
class Facet:
    """A property by which products are filtered.

    Attributes
    ----------
    name
        Its key in `Selection.groups`.
    title
        Its heading; our own words.
    without
        Label of the products without a value.
    labels
        Labels of codes that have none of their own.
    is_ordered
        Whether its values are listed by their codes and not by their counts.
    """

    name: str
    title: str
    without: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    is_ordered: bool = False


@dataclass(frozen=True, eq=False)
class FacetValues:
    """The values of a facet and the products that have them, most frequent first.

    Attributes
    ----------
    facet
        The facet.
    codes, labels
        Of each value; the code None is that of the products without a value.
    is_asked
        Whether the service was asked for it: if not, a product without a value may have one.
    membership
        Which products have which value.
    above
        Of a facet whose values form a tree: number of the value above each, -1 at the top. A value follows the one
        above it, and a product that has a value counts for all values above it.
    """

    facet: Facet
    codes: tuple[Code, ...]
    labels: tuple[str, ...]
    is_asked: bool
    membership: Membership
    above: tuple[int, ...] = ()

    @cached_property
    def totals(self) -> Counts:
        """The number of products of the whole catalogue with each value."""
        return self.count(np.ones(self.membership.size, bool))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """How many values are above each."""
        depths: list[int] = []
        for above in self.above or (-1,) * len(self.codes):
            depths.append(0 if above < 0 else depths[above] + 1)
        return tuple(depths)

    def having(self, codes: Collection[Code]) -> Mask:
        """Return which products have one of these values, or one below them."""
        if self.facet.name == "language":  # of which a saved view may have another code
            codes = {None if code is None else short_of(code) for code in codes}
        chosen = np.array([code in codes for code in self.codes], bool)
        for number, above in enumerate(self.above):
            chosen[number] |= above >= 0 and chosen[above]
        return self.membership.having(chosen)

    def meeting(self, conditions: Selection) -> Mask:
        """Return which products have one of the selected values, if there are any, and none of the excluded ones."""
        name = self.facet.name
        chosen, excluded = conditions.groups.get(name, ()), conditions.excluded.get(name, ())
        found = self.having(frozenset(chosen)) if chosen else np.ones(self.membership.size, bool)
        return found & ~self.having(frozenset(excluded)) if excluded else found

    def count(self, among: Mask) -> Counts:
        """Return the number of products with each value, or one below it, among some products."""
        counts = self.membership.count(among, len(self.codes))
        # From the end, so that a value is complete before it is added to the one above it.
        for number in range(len(self.above) - 1, -1, -1):
            if self.above[number] >= 0:
                counts[self.above[number]] += counts[number]
        return counts

    def label(self, code: Code) -> str:
        """Return the label of a value; a value that no product has is shown by its code."""
        if code in self.codes:
            return self.labels[self.codes.index(code)]
        return self.facet.without if code is None else self.facet.labels.get(code, code)

    def order(self, counts: Counts, first: Collection[Code] = ()) -> list[int]:
        """Return the numbers of the values in the order in which a list shows them: the largest counts first.

        Values without products are last. In a tree, each value is followed by those below it.

        Parameters
        ----------
        counts
            Number of products of each value, under the conditions.
        first
            Codes that are listed before the others, such as selected and excluded ones, so that they can be taken back.

        Examples
        --------
        >>> import prodex
        >>> brands = [{"id": n, "brand": {"code": code}} for n, code in enumerate("AABC")]
        >>> from prodex.exploration.filtering import ProductFilter
        >>> brand = ProductFilter(prodex.flatten(brands)).facets["brand"]
        >>> [brand.codes[number] for number in brand.order(np.array([0, 1, 5]), {"A"})]
        ['A', 'C', 'B']
        """
        is_first = np.array([code in first for code in self.codes], bool)
        order = np.arange(len(self.codes))
        if not self.facet.is_ordered:
            order = np.lexsort((order, -counts, ~is_first))
        if not self.above:
            return order.tolist()
        below: dict[int, list[int]] = {}
        for number in order.tolist():
            below.setdefault(self.above[number], []).append(number)
        listed, waiting = [], below.get(-1, [])[::-1]
        while waiting:
            listed.append(waiting.pop())
            waiting += below.get(listed[-1], [])[::-1]
        return listed


def values_of(facet: Facet, groups: Groups, size: int, *, is_asked: bool = True) -> FacetValues:
    """Return groups of so many products as the values of a facet, the most frequent first.

    Parameters
    ----------
    facet
        The facet.
    groups
        The groups.
    size
        Number of products.
    is_asked
        See `FacetValues`.
    """
    codes, labels = groups.codes, _distinct_labels(facet, groups)
    totals = groups.sizes.tolist()
    numbers = range(len(codes))
    order = sorted(numbers, key=lambda n: (-totals[n], codes[n] is None, labels[n], codes[n] or ""))
    if facet.is_ordered:
        order.sort(key=lambda n: (codes[n] is None, codes[n] or ""))
    # Codes without products are left out, and the others numbered in the order in which they are shown.
    there = np.array([n for n in order if totals[n]], np.int64)
    number = np.zeros(len(codes), np.int64)
    number[there] = np.arange(len(there))
    return FacetValues(
        facet,
        tuple(codes[n] for n in there),
        tuple(labels[n] for n in there),
        is_asked,
        _membership(groups.rows, number[groups.groups], size, len(there)),
    )


def _distinct_labels(facet: Facet, groups: Groups) -> list[str]:
    labels = zip(groups.codes, groups.labels, strict=True)
    return distinct_labels(
        groups.codes, [facet.labels.get(code or "", label) for code, label in labels], facet.without
    )


def _membership(rows: Rows, numbers: Rows, size: int, width: int) -> Membership:
    # Every product is in one group at least, those without a value in a group of their own.
    if len(rows) > size:
        return SeveralValues.of(size, rows, numbers, width)
    of_each = np.zeros(size, np.int64)
    of_each[rows] = numbers
    return OneValueEach.of(of_each, width)


Counts: TypeAlias = npt.NDArray[np.int64]
#: Numbers of values, in as few bytes as they need.
Numbers: TypeAlias = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class OneValueEach:
    """Every product has exactly one value, as in most facets.

    Attributes
    ----------
    numbers
        Number of the value of each product.

    Examples
    --------
    >>> brands = OneValueEach.of(np.array([1, 0, 1]), 2)
    >>> brands.count(np.array([True, True, False]), 2).tolist(), brands.having(np.array([True, False])).tolist()
    ([1, 1], [False, True, False])
    """

    numbers: Numbers

    @property
    def size(self) -> int:
        """Number of products."""
        return len(self.numbers)

    @classmethod
    def of(cls, numbers: Numbers, width: int) -> OneValueEach:
        """Keep the numbers of so many values."""
        return cls(_small_integers(numbers, width))

    def having(self, chosen: Mask) -> Mask:
        """Return which products have one of the chosen values."""
        return chosen[self.numbers]

    def count(self, among: Mask, width: int) -> Counts:
        """Return the number of products with each of so many values among some products."""
        return np.bincount(self.numbers.compress(among), minlength=width)


@dataclass(frozen=True, eq=False)
class SeveralValues:
    """A product may have several values, such as tags, or none.

    Attributes
    ----------
    size
        Number of products.
    rows, numbers
        Place of a product and number of a value that it has, in pairs, each once.
    """

    size: int
    rows: npt.NDArray[np.int32]
    numbers: Numbers

    @classmethod
    def of(cls, size: int, rows: Rows, numbers: Rows, width: int) -> SeveralValues:
        """Keep pairs of places and the numbers of so many values."""
        return cls(size, rows.astype(np.int32), _small_integers(numbers, width))

    def having(self, chosen: Mask) -> Mask:
        """Return which products have one of the chosen values."""
        found = np.zeros(self.size, bool)
        found[self.rows.compress(chosen[self.numbers])] = True
        return found

    def count(self, among: Mask, width: int) -> Counts:
        """Return the number of products with each of so many values among some products."""
        return np.bincount(self.numbers.compress(among[self.rows]), minlength=width)


@dataclass(frozen=True, eq=False)
class MaskEach:
    """Most products have several of a few values, such as attributes that they lack.

    Attributes
    ----------
    size
        Number of products.
    masks
        Which products have each value.
    """

    size: int
    masks: Sequence[Mask]

    def having(self, chosen: Mask) -> Mask:
        """Return which products have one of the chosen values."""
        found = np.zeros(self.size, bool)
        for number in np.flatnonzero(chosen).tolist():
            found |= self.masks[number]
        return found

    def count(self, among: Mask, width: int) -> Counts:
        """Return the number of products with each of so many values among some products."""
        counts = (np.count_nonzero(mask & among) for mask in self.masks)
        return np.fromiter(counts, np.int64, count=width)


def _small_integers(numbers: Numbers, width: int) -> Numbers:
    return numbers.astype(np.int16 if width <= np.iinfo(np.int16).max else np.int32)


Membership: TypeAlias = OneValueEach | SeveralValues | MaskEach

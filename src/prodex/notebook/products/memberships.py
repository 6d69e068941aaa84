"""Which products have which values of a facet, as numbers: so that a million of them are counted at every click.

Numbers are chosen with `compress`: where half of a million products is meant, it takes a quarter of the time that an
index by a mask takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from prodex.notebook.products.product_columns import Mask, Rows

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
        return cls(_narrow(numbers, width))

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
        return cls(size, rows.astype(np.int32), _narrow(numbers, width))

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


def _narrow(numbers: Numbers, width: int) -> Numbers:
    return numbers.astype(np.int16 if width <= np.iinfo(np.int16).max else np.int32)


Membership: TypeAlias = OneValueEach | SeveralValues | MaskEach

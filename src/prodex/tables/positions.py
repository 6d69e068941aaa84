"""Positions of rows: the product of each row and its position in lists, for many rows at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Indices = npt.NDArray[np.int32]


class Places(NamedTuple):
    """Products and positions of many rows.

    Attributes
    ----------
    products
        Index of the product of each row.
    codes, names
        The position of each row, as an index into the distinct positions ("", "0", "0.2" ...): very many rows share
        few positions.
    """

    products: Indices
    codes: Indices
    names: list[str]

    @classmethod
    def of_products(cls, products: Indices) -> Places:
        """Return the places of whole products."""
        return cls(products, np.zeros(len(products), np.int32), [""])

    def at(self, rows: Indices) -> Places:
        """Return the places of some of the rows."""
        return Places(self.products[rows], self.codes[rows], self.names)

    def inside(self, lists: pa.ListArray, parents: Indices) -> Places:
        """Return the places of the items of lists; `parents` is the row of each item."""
        if not len(parents):
            return Places(self.products[:0], self.codes[:0], [])
        starts = np.zeros(len(lists), np.int64)
        lengths = np.bincount(parents, minlength=len(lists))
        np.cumsum(lengths[:-1], out=starts[1:])
        index = np.arange(len(parents)) - starts[parents]
        width = int(lengths.max())
        # Very many rows share few positions, so that only the distinct ones are written as text.
        combined = self.codes[parents].astype(np.int64) * width + index
        used, codes = renumber(combined, len(self.names) * width)
        names = [_joined(self.names[code // width], code % width) for code in used.tolist()]
        return Places(self.products[parents], codes, names)

    def positions(self) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(self.codes), pa.array(self.names, pa.string()))


def renumber(values: npt.NDArray[np.int64], bound: int) -> tuple[npt.NDArray[np.int64], Indices]:
    """Return the distinct values, in order, and for each value its index among them; all are below the bound."""
    # A table of flags takes one pass; sorting, as `np.unique` does, pays only where the table would be mostly empty.
    if bound > 8 * len(values) + 1024:
        used, codes = np.unique(values, return_inverse=True)
        return used, codes.astype(np.int32)
    seen = np.zeros(bound, np.bool_)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - 1)[values]


def _joined(position: str, index: int) -> str:
    return f"{position}.{index}" if position else str(index)

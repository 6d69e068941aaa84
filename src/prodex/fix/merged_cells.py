"""Merged cells of a sheet: people merge the rows of a product, and only the first cell of a range holds its value."""

from __future__ import annotations

from collections.abc import Iterable

from prodex.formats.workbook_cells import Cell, Row

#: Rows of a merged range that are looked at: somebody may have merged a whole column.
_MOST_ROWS = 10_000


class MergedCells:
    """The merged ranges of a sheet: only their first cell holds what all of them show.

    Parameters
    ----------
    ranges
        Row and column of the first and the last cell of each, as `Sheet.merged` has them.
    """

    def __init__(self, ranges: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> None:
        self._ranges = list(ranges)
        self._rows = {
            row
            for (top, _), (bottom, _) in self._ranges
            for row in range(top, min(bottom, top + _MOST_ROWS) + 1)
        }
        self._first: dict[tuple[int, int], Cell] = {}

    def cell(self, number: int, column: int, row: Row) -> Cell | None:
        """Return what a cell shows."""
        own = row.get(column)
        if number not in self._rows:
            return own
        for (top, left), (bottom, right) in self._ranges:
            if top <= number <= bottom and left <= column <= right:
                if number == top and (first := row.get(left)) is not None:
                    self._first[top, left] = first
                return self._first.get((top, left), own)
        return own

    def height(self, number: int, column: int) -> int:
        """Return over how many rows a cell is merged."""
        if number not in self._rows:
            return 1
        for (top, left), (bottom, right) in self._ranges:
            if top <= number <= bottom and left <= column <= right:
                return bottom - top + 1
        return 1

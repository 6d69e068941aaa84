"""Merged cells of a sheet: people merge the rows of a product, and only the first cell of a range holds its value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from prodex.formats.workbook_cells import Cell, Range, Row


class MergedCells:
    """The merged ranges of a sheet: only their first cell holds what all of them show.

    Parameters
    ----------
    ranges
        Row and column of the first and the last cell of each, as `Sheet.merged` has them.
    """

    def __init__(self, ranges: Iterable[Range]) -> None:
        self._ranges = sorted(ranges)
        # Of each column that is asked for, its ranges by their first rows: somebody may have merged whole columns.
        self._columns: dict[int, tuple[list[int], list[Range]]] = {}
        self._first: dict[tuple[int, int], Cell] = {}

    def cell(self, number: int, column: int, row: Row) -> Cell | None:
        """Return what a cell shows; rows are asked for from above to below."""
        if (found := self._range(number, column)) is None:
            return row.get(column)
        (top, left), _ = found
        if number == top and (first := row.get(left)) is not None:
            self._first[top, left] = first
        return self._first.get((top, left), row.get(column))

    def height(self, number: int, column: int) -> int:
        """Return over how many rows a cell is merged."""
        if (found := self._range(number, column)) is None:
            return 1
        (top, _), (bottom, _) = found
        return bottom - top + 1

    def _range(self, number: int, column: int) -> Range | None:
        if not self._ranges:
            return None
        if column not in self._columns:
            self._columns[column] = _of_column(self._ranges, column)
        tops, ranges = self._columns[column]
        place = bisect_right(tops, number) - 1
        return ranges[place] if place >= 0 and number <= ranges[place][1][0] else None


def _of_column(ranges: Iterable[Range], column: int) -> tuple[list[int], list[Range]]:
    """Return first rows and ranges of a column; the upper one counts of those that overlap."""
    found: list[Range] = []
    for one in ranges:
        (top, left), (_, right) = one
        if left <= column <= right and not (found and top <= found[-1][1][0]):
            found.append(one)
    return [top for (top, _), _ in found], found

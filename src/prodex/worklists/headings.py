"""Which column of a returned sheet is which: by its heading, else by its old place, else by what it holds."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from prodex.formats.workbook_cells import Cell, Range, Row
from prodex.worklists.layout import SEVERAL, TO_FIX, WORKLIST

#: What rows are about, and the answer.
_NEEDED = ("attribute", "new_value")
_PRODUCT = ("product_id", "gtin")
#: Headings of these many columns make a row of headings, and no row of data.
_FEWEST = 3

#: Other headings that people give.
_ALSO = {
    "ean": "gtin",
    "barcode": "gtin",
    "productid": "product_id",
    "attribute": "attribute",
    "answer": "new_value",
}


def _key(heading: str) -> str:
    return re.sub(r"[\W_]+", "", heading.casefold())


_HEADINGS = {
    **_ALSO,
    **{_key(field.name): field.name for field in WORKLIST},
    **{_key(column.heading): column.name for column in (*SEVERAL, *TO_FIX)},
}


#: Characters of a heading, with what people put around it.
_LONGEST = 60


@lru_cache(5_000)
def _named(text: str) -> str | None:
    """Return the column that a cell names, if it is a heading: every cell of every row is asked."""
    return _HEADINGS.get(_key(text)) if len(text) <= _LONGEST else None


@dataclass(frozen=True)
class Headings:
    """The columns of a sheet.

    Attributes
    ----------
    places
        Where each column of a worklist stands, by its name; "new_value" may stand several times.
    texts
        The headings as they are, by place.
    """

    places: Mapping[str, Sequence[int]]
    texts: Mapping[int, str]

    def first(self, name: str) -> int | None:
        """Return the first place of a column, or None."""
        return next(iter(self.places.get(name, ())), None)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """What each column is, by its place; others than those of a worklist are not there."""
        return {place: name for name, places in self.places.items() for place in places}

    @property
    def missing(self) -> list[str]:
        """What is needed and not there, as people call it."""
        missing = [name for name in _NEEDED if name not in self.places]
        if "attribute" in missing and "asked_for" in self.places:
            # Somebody copied what is shown into a workbook of their own: the words of people say it as well.
            missing.remove("attribute")
        if not any(name in self.places for name in _PRODUCT):
            missing.insert(0, "gtin")
        by_name = {column.name: column.heading for column in TO_FIX}
        return [by_name[name] for name in missing]


def headings_of(row: Row, listed: Sequence[str]) -> Headings | None:
    """Return the columns that a row of headings names; None if the row is none.

    Parameters
    ----------
    row
        The cells.
    listed
        The columns of the worklist as it was written, from the hidden sheet; empty if that is not there. A column that
        was renamed is known by its place where all others stand where they stood.

    Examples
    --------
    >>> from prodex.formats.workbook_cells import Cell
    >>> row = {place: Cell(text, "text") for place, text in enumerate(["GTIN", "Field", "Language", "Mein Wert"])}
    >>> headings_of(row, ["gtin", "attribute", "language", "new_value"]).places["new_value"]
    [3]
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, cell in sorted(row.items()):
        if cell.kind == "text" and (name := _named(cell.text)) is not None:
            places[name].append(place)
    if len(places) < _FEWEST:
        return None
    texts = {place: cell.text for place, cell in row.items()}
    stand = all(
        tuple(listed[place : place + 1]) == (name,) for name, several in places.items() for place in several
    )
    if stand:
        for place, name in enumerate(listed):
            if name not in places and place in row:
                places[name].append(place)
    return Headings(dict(places), texts)


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

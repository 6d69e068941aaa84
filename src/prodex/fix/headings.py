"""Which column of a returned sheet is which: by its heading, else by its old place, else by what it holds."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from prodex.fix.layout import SEVERAL, TO_FIX, WORKLIST
from prodex.formats.workbook_cells import Row

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

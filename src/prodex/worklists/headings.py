"""The headings of a sheet with answers: which column of a worklist each column is.

People move columns, rename them and have them translated. A column is found by its heading in any language of
worklists, by its place where the hidden sheet lists the columns, or because the keys of the rows prove the places.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from prodex.formats.spreadsheet_files import Sheet
from prodex.formats.workbook_cells import Cell, Row
from prodex.languages.recognized import letters, recognized
from prodex.worklists.layout import OF_THE_KEY, SEVERAL, TO_FIX, WORKLIST
from prodex.worklists.returned_files import trimmed
from prodex.worklists.row_keys import RowKey


def is_empty(cell: Cell) -> bool:
    """Whether a cell holds nothing but spaces, with or without width."""
    return cell.kind == "text" and not trimmed(cell.text)


def filled_rows(sheet: Sheet) -> Iterator[tuple[int, Row]]:
    """Yield the rows in which a cell holds more than spaces."""
    for number, row in sheet.rows():
        if not all(map(is_empty, row.values())):
            yield number, row


def find_layout(
    sheet: Sheet, layouts: Sequence[Sequence[str]], says: Callable[[Row, Sequence[str]], int | None]
) -> tuple[int, Sequence[str]]:
    """Return the row of headings and the layout of a sheet that its rows prove, whatever its headings say.

    Somebody may have translated the headings into any language. Where the column of the keys has keys, and the rows
    show what they are to show beside them, the columns are at their places. Without a proof the layout is empty.
    """
    before, met = 0, 0
    found: Counter[int] = Counter()
    for number, row in filled_rows(sheet):
        for place, layout in enumerate(layouts):
            if (vote := says(row, layout)) is not None:
                found[place] += vote
        before = before if found else number
        met += bool(found)
        if met == _PROOF:
            break
    for place, votes in found.most_common(1):
        if before and votes > 0:
            return before, layouts[place]
    return 0, ()


#: Rows below the headings from which it is known whether columns are at their places.
_PROOF = 50
_GROUP = re.compile(r"s[0-9a-f]{8}\.[0-9a-f]{8}")


def has_group(row: Row, layout: Sequence[str]) -> int | None:
    cell = row.get(layout.index("same_answer"))
    return 1 if cell is not None and _GROUP.fullmatch(cell.text.strip()) else None


def has_key(row: Row, layout: Sequence[str]) -> int | None:
    """Return the vote of a row for a layout: by the value that its key says; None where it has no key at its place.

    That there is no value where there was none says little: an empty column may be another one.
    """
    if not {"row_key", "value"} <= set(layout):
        return None
    cell, seen = (row.get(layout.index(name)) for name in ("row_key", "value"))
    key = None if cell is None else RowKey.read(cell.text)
    if key is None:
        return None
    shown = "" if seen is None else seen.text
    return -_PROOF if not key.shows(shown) else _PROOF if shown.strip() else 1


def headings_by_place(row: Row, layout: Sequence[str]) -> Headings:
    texts = {place: cell.text for place, cell in row.items()}
    return Headings({name: [place] for place, name in enumerate(layout)}, texts)


#: What rows are about, and the answer.
_NEEDED = ("attribute", "new_value")
_PRODUCT = ("product_id", "gtin")
#: Headings of these many columns make a row of headings, and no row of data.
_FEWEST = 3

#: Other headings that people give, in the languages of worklists.
_ALSO = {
    "gtin": "ean, barcode, code gtin, code-barres, Strichcode, streepjescode",
    "product_id": "productid",
    "attribute": "attribute, attribut, attribuut",
    "new_value": "answer, réponse, Antwort, antwoord",
}


#: Columns by their headings in English.
_SHOWN = {
    **{heading: name for name, heading in OF_THE_KEY.items()},
    **{column.heading: column.name for column in (*SEVERAL, *TO_FIX)},
}


@cache
def _called() -> Mapping[str, str]:
    """Return the columns by their own names, and by other headings that people give."""
    also = {letters(heading): name for name, headings in _ALSO.items() for heading in headings.split(",")}
    return {**{letters(name): name for name in WORKLIST.names}, **also}


#: Characters of a heading, with what people put around it.
_LONGEST = 60


@lru_cache(5_000)
def column_of_heading(text: str) -> str | None:
    """Return the column of a worklist that a cell names, if it is a heading: every cell of every row is asked."""
    if len(text) > _LONGEST:
        return None
    names = {_called().get(letters(text)), _SHOWN.get(recognized(text, _SHOWN) or "")} - {None}
    return names.pop() if len(names) == 1 else None


@dataclass(frozen=True)
class Headings:
    """The columns of a sheet.

    Attributes
    ----------
    places
        The places of each column of a worklist, by its name; "new_value" may occur several times.
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
        if "row_key" in self.places:
            # The key of a row says what it is about.
            missing = [name for name in missing if name == "new_value"]
        by_name = {**OF_THE_KEY, **{column.name: column.heading for column in TO_FIX}}
        return [by_name[name] for name in missing]


def headings_of(row: Row, listed: Sequence[str]) -> Headings | None:
    """Return the columns that a row of headings names; None if the row is none.

    Parameters
    ----------
    row
        The cells.
    listed
        The columns of the worklist as it was written, from the hidden sheet; empty if that is not there. A column that
        was renamed is recognized by its place if no other column was moved.

    Examples
    --------
    >>> from prodex.formats.workbook_cells import Cell
    >>> row = {place: Cell(text, "text") for place, text in enumerate(["GTIN", "Field", "Language", "Mein Wert"])}
    >>> headings_of(row, ["gtin", "attribute", "language", "new_value"]).places["new_value"]
    [3]
    """
    places: dict[str, list[int]] = defaultdict(list)
    for place, cell in sorted(row.items()):
        if cell.kind == "text" and (name := column_of_heading(cell.text)) is not None:
            places[name].append(place)
    if len(places) < _FEWEST:
        return None
    texts = {place: cell.text for place, cell in row.items()}
    are_in_place = all(
        tuple(listed[place : place + 1]) == (name,) for name, several in places.items() for place in several
    )
    if are_in_place:
        for place, name in enumerate(listed):
            if name not in places and place in row:
                places[name].append(place)
    return Headings(dict(places), texts)

"""A table that was copied, as text: what spreadsheets put on the clipboard, or the content of a CSV file.

Spreadsheets separate copied cells by tabs. A cell is in quotes only where it has a tab or a line break itself; any
other quotes are letters of its text. A text without tabs is read as a CSV file is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from prodex.errors import SpreadsheetUnreadable
from prodex.formats.csv_of_people import NoText, csv_cell, rows_of_text
from prodex.formats.spreadsheet_files import Sheet
from prodex.formats.workbook_cells import Row
from prodex.limits import FILE, Limits, Meter

#: Characters of a copied table: a thousand rows of five long texts.
MOST_CHARACTERS = 5_000_000
#: Characters in which the end of a cell in quotes is looked for.
_LONGEST_CELL = 200_000
_ENDS = "\t\r\n"
_UNQUOTED = re.compile(r"[^\t\r\n]*")


def sheet_of_text(text: str, file: Path) -> Sheet:
    """Return the sheet of a copied table; `file` is how messages name it.

    Raises
    ------
    SpreadsheetUnreadable
        When it is too long, or no text.

    Examples
    --------
    >>> copied = 'GTIN\\tName\\r\\n03036811359935\\t"Riz\\nlong"\\r\\n4006381333931\\tRiz "bio"\\r\\n'
    >>> [[cell.text for cell in row.values()] for _, row in sheet_of_text(copied, Path("paste")).rows()]
    [['GTIN', 'Name'], ['03036811359935', 'Riz\\nlong'], ['4006381333931', 'Riz "bio"']]
    """
    if len(text) > MOST_CHARACTERS:
        raise SpreadsheetUnreadable(
            f"The copied table has {len(text):,} characters, and {MOST_CHARACTERS:,} are read at most. Copy fewer "
            "rows, or save it as a file: prodex.read_worklist."
        )
    text = text.removeprefix("\ufeff")
    if _is_tabbed(text):
        return Sheet(file, "", partial(_rows, text), list)
    meter = Meter(Limits(), FILE, "correct_from")
    try:
        return Sheet(file, "", rows_of_text(text, meter, headings=_cells_of_the_first), list)
    except NoText as error:
        raise SpreadsheetUnreadable(f"The copied table cannot be read: {error}.") from error


def _cells_of_the_first(number: int, row: Row) -> int:
    """Return how many headings a row has: a table that was copied begins with them."""
    return len(row) if number == 1 else 0


def _is_tabbed(text: str) -> bool:
    """Whether cells are separated by tabs, as the first row says: a cell of a CSV file may have one, too."""
    return len(next(_records(text), [])) > 1


def _rows(text: str) -> Iterator[tuple[int, Row]]:
    if "\0" in text:
        raise ValueError("it has a character that no text has (U+0000)")
    for number, cells in enumerate(_records(text), 1):
        if row := {place: csv_cell(one) for place, one in enumerate(cells) if one}:
            yield number, row


def _records(text: str) -> Iterator[list[str]]:
    """Yield the rows of cells that are separated by tabs."""
    start, cells = 0, []
    # A program that puts every cell in quotes has its headings in them as well.
    is_quoting = text.startswith('"')
    while start < len(text):
        cell, end = _cell(text, start, is_quoting=is_quoting)
        cells.append(cell)
        if text[end : end + 1] == "\t":
            start = end + 1
            if start == len(text):
                cells.append("")
            continue
        yield cells
        cells = []
        start = end + (2 if text.startswith("\r\n", end) else 1)
    if cells:
        yield cells


def _cell(text: str, start: int, *, is_quoting: bool) -> tuple[str, int]:
    """Return the cell that begins at a place, and where it ends."""
    if text[start] == '"' and (end := _closing(text, start + 1)) is not None:
        inner = text[start + 1 : end]
        if is_quoting or any(sign in inner for sign in _ENDS):
            return inner.replace('""', '"'), end + 1
    end = _UNQUOTED.match(text, start).end()  # type: ignore[union-attr] # it matches nothing as well
    return text[start:end], end


def _closing(text: str, start: int) -> int | None:
    """Return where the quotes of a cell end, if the cell ends there too."""
    most = start + _LONGEST_CELL
    end = text.find('"', start, most)
    while end >= 0 and text.startswith('""', end):
        end = text.find('"', end + 2, most)
    if end < 0 or text[end + 1 : end + 2] not in {"", *_ENDS}:
        return None
    return end

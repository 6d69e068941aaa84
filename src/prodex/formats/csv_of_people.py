"""CSV as people save it with a spreadsheet: its separator and its letters are found, and a cell says what it lacks.

A CSV file says neither. The separator is that with which the headings are found. A cell is read if all encodings that
come into question (`prodex.encodings`) read the same in it; else it is a cell with a problem.

Source: RFC 4180.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from prodex.encodings import ENCODINGS, HALF, Known, decoded, encodings_of, text_of_file
from prodex.formats.formulas import unescape_formulas
from prodex.formats.workbook_cells import Cell, Row, unreadable
from prodex.languages import Message
from prodex.languages.message import sentences
from prodex.limits import Meter

#: Returns how many columns a row of headings names, by the number of the row and its cells; 0 for any other row.
Headings = Callable[[int, Row], int]

_SEPARATORS = ",;\t|"
_DECLARED = re.compile(r'"?sep=([^\r\n])"?(?:\r\n|\r|\n|$)', re.IGNORECASE)
#: Rows and characters in which the headings are searched for, and lines whose widths are compared where there are none.
_MOST_SEARCHED, _MOST_CHARACTERS, _LINES = 1_000, 1_000_000, 20

#: Rows after which the clock is looked at.
_SO_MANY = 10_000

_SAVE = Message("Save the file as CSV in UTF-8, or as a workbook (.xlsx), and read that")


class NoText(ValueError):
    """A file that is no text."""


def csv_rows(
    content: bytes, meter: Meter, *, headings: Headings | None = None, known: Known | None = None
) -> Callable[[], Iterator[tuple[int, Row]]]:
    """Return what yields the rows of a CSV file, each with its number.

    Parameters
    ----------
    content
        The file.
    meter
        Looks at the clock.
    headings
        Recognizes the row of headings, for the separator.
    known
        Knows texts that the file may have, for the encoding.

    Raises
    ------
    NoText
        When it is no text.
    """
    text, is_certain = text_of_file(content)
    return rows_of_text(text, meter, headings=headings, known=known, is_certain=is_certain)


def rows_of_text(
    text: str,
    meter: Meter,
    *,
    headings: Headings | None = None,
    known: Known | None = None,
    is_certain: bool = True,
) -> Callable[[], Iterator[tuple[int, Row]]]:
    """Return what yields the rows of the text of a CSV file, each with its number.

    `is_certain` says whether its letters are known, or each of them is still a byte; for the others see `csv_rows`.

    Raises
    ------
    NoText
        When it is no text.
    """
    if "\0" in text:
        raise NoText("it is neither a workbook nor text")
    # Quoted cells may be as long as the file.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    declared = _DECLARED.match(text)
    text = text[declared.end() :] if declared is not None else text
    separator = _separator(text, declared[1] if declared is not None else "", headings)
    letters = None
    if not is_certain:
        cells_of_file = (one for cells in _records(text, separator) for one in cells)
        letters = _Letters(() if known is None else encodings_of(cells_of_file, known, _normalized_text))

    def rows() -> Iterator[tuple[int, Row]]:
        for number, cells in enumerate(_records(text, separator), 1):
            if number % _SO_MANY == 0:
                meter.count_received(0)
            if row := {place: csv_cell(one, letters) for place, one in enumerate(cells) if one}:
                yield number, row

    return rows


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def csv_cell(stored: str, letters: _Letters | None = None) -> Cell:
    """Return a cell of a text; with half a character in it, it is one that cannot be read."""
    if stored.isascii():
        return Cell(stored, "text")
    if letters is not None:
        return letters.cell(stored)
    if HALF.search(stored):
        return unreadable(
            HALF.sub(_escaped_surrogate, stored), sentences(Message("it has half a character."), _SAVE)
        )
    return Cell(stored, "text")


def _escaped_surrogate(half: re.Match[str]) -> str:
    code = ord(half[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code < 0xDD00 else f"\\u{code:04x}"


@dataclass
class _Letters:
    """The letters of a file that is not in Unicode. Its cells are given with a character for each byte.

    Attributes
    ----------
    encodings
        Those in which its cells agree with what is known, as from `encodings_of`.
    """

    encodings: Sequence[str]
    _found: dict[str, Cell] = field(default_factory=dict, repr=False)

    def cell(self, stored: str) -> Cell:
        """Return a cell, if all encodings read the same in it."""
        if (found := self._found.get(stored)) is None:
            found = self._found[stored] = self._cell(stored)
        return found

    def _cell(self, stored: str) -> Cell:
        options = [decoded(stored, encoding) for encoding in self.encodings or ENCODINGS]
        texts = list(dict.fromkeys(text for text in options if text is not None))
        if self.encodings and len(texts) == 1:
            return Cell(texts[0], "text")
        shown = stored.encode("latin-1").decode("ascii", "backslashreplace")
        if not texts:
            none = Message("its letters are none in the encoding of the file.")
            return unreadable(shown, sentences(none, _SAVE))
        said = " or ".join(f"{text!r:.60}" for text in texts[:3])
        return unreadable(
            shown,
            sentences(
                Message(
                    "its letters may be {values}: nothing in the file says in which encoding it is.",
                    values=said,
                ),
                _SAVE,
            ),
        )


def _normalized_text(text: str) -> str:
    """Return a text as it is known: with line ends of one kind, and without the apostrophe before a formula."""
    return unescape_formulas(text.replace("\r\n", "\n"))


def _separator(text: str, declared: str, headings: Headings | None) -> str:
    """Return the separator with which the headings are found, else what cuts most of the first lines into most cells.

    >>> _separator("My list\\ngtin;name\\n1;a, b\\n2;c", "", None), _separator("gtin,name\\n", "", None)
    (';', ',')
    """
    sample = text[:_MOST_CHARACTERS]
    options = dict.fromkeys([*declared, *_SEPARATORS])
    named = {one: _number_of_headings(sample, one, headings) for one in options}
    best = [one for one in options if named[one] == max(named.values())]
    if len(best) == 1 or declared:
        return str(best[0])
    lines = re.split(r"\r\n|\r|\n", sample)[:_LINES]
    # The middle one of the widths: a title has one cell, and texts have commas of their own.
    widths = {one: sorted(map(len, csv.reader(lines, delimiter=one)))[len(lines) // 2 :] for one in best}
    return str(max(best, key=lambda one: widths[one][:1] or [0]))


def _number_of_headings(sample: str, separator: str, headings: Headings | None) -> int:
    """Return how many columns the row of headings names, if cells are separated so."""
    if headings is None:
        return 0
    found = 0
    with suppress(csv.Error):  # of another separator: text in quotes may end anywhere
        for number, cells in enumerate(islice(_records(sample, separator), _MOST_SEARCHED), 1):
            found = max(
                found, headings(number, {place: Cell(one, "text") for place, one in enumerate(cells) if one})
            )
    return found

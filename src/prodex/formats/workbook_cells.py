"""Cells of spreadsheets: their places, their kinds, and their texts and numbers as text.

A number is given with the 15 digits that spreadsheets compute with, a date as ISO 8601 text. Whoever typed `0012`,
`1E2` or `MAR1` into a spreadsheet finds a number or a date there; so a cell says what it is, and what its number format
shows.

Sources: ECMA-376 part 1, 18.8.31 (number formats), 22.9.2.19 (`_xHHHH_`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from prodex.languages import Message, Said

_CODE = re.compile("_x([0-9A-Fa-f]{4})_")
_HALF = re.compile("[\ud800-\udfff]")
_PLACE = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9][0-9]{0,6})")

#: Rows and columns of a sheet, and characters of a cell (UTF-16 units), as Excel documents its limits.
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
LONGEST = 32_767
#: Not characters, though Unicode numbers them: no XML holds them.
_IMPOSSIBLE = re.compile("[\ufffe\uffff]")

CellKind = Literal["text", "number", "percentage", "date", "boolean", "error", "formula", "unreadable"]


class Cell(NamedTuple):
    """A cell that is not empty.

    Attributes
    ----------
    text
        Its value as text: "12.5", "true", "2026-11-23", "#REF!"; a percentage as it is shown, without the sign. Of a
        cell that cannot be read, what is stored, as far as that can be shown.
    kind
        What the value is; "formula" is one whose result was not stored, so that its text is empty.
    shown
        A number as the spreadsheet shows it, where its format only adds zeros (`0012`, `1.50`) or shows it as percent
        (`50%`); None where it does neither, or shows another value.
    is_struck
        Whether any visible part of it is struck through.
    problem
        Why it cannot be read, if its kind is "unreadable".
    is_computed
        Whether it is the result of a formula.
    """

    text: str
    kind: CellKind
    shown: str | None = None
    is_struck: bool = False
    problem: Said | None = None
    is_computed: bool = False


#: Column, counted from 0, and cell. Cells whose place nobody knows have columns from `MOST_COLUMNS` on.
Row = dict[int, Cell]

#: Row and column of the first and the last cell of a range.
Range = tuple[tuple[int, int], tuple[int, int]]


def unreadable(stored: str, problem: Said) -> Cell:
    """Return a cell that cannot be read."""
    return Cell(stored, "unreadable", problem=problem)


def problem_of(error: ValueError) -> Said:
    """Return why a cell cannot be read: the message of an error, where it has one."""
    said = error.args[0] if error.args else ""
    return said if isinstance(said, Message) else str(error)


@lru_cache(maxsize=MOST_COLUMNS)
def column_of(letters: str) -> int:
    """Return the column of its letters, counted from 0.

    >>> column_of("A"), column_of("AB")
    (0, 27)
    """
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


def row_and_column(place: str) -> tuple[int, int] | None:
    """Return row and column of a place; None if there is no such place.

    >>> row_and_column("AB12"), row_and_column("$a$1"), row_and_column("XFE1"), row_and_column("A0")
    ((12, 27), (1, 0), None, None)
    """
    if (found := _PLACE.fullmatch(place)) is None:
        return None
    row, column = int(found[2]), column_of(found[1].upper())
    return (row, column) if row <= MOST_ROWS and column < MOST_COLUMNS else None


def cell_place(row: int, column: int) -> str:
    """Return the place of a cell as spreadsheets call it; with a question mark where its column is not known.

    >>> cell_place(12, 27), cell_place(1, 0), cell_place(7, MOST_COLUMNS), cell_place(7, MOST_COLUMNS + 1)
    ('AB12', 'A1', '?7', '?7-2')
    """
    if column >= MOST_COLUMNS:
        number = column - MOST_COLUMNS + 1
        return f"?{row}" if number == 1 else f"?{row}-{number}"
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row}"


def beginning(text: str, elsewhere: str = "") -> str:
    """Return the beginning of a text that is too long for a cell, and which part of it that is.

    Parameters
    ----------
    text
        The text.
    elsewhere
        Where the whole text is, as the end of a sentence of ours.
    """
    kept = text.encode("utf-16-le")[: 2 * (LONGEST - 70)].decode("utf-16-le", "ignore")
    return f"{kept} … [{len(kept):,} of {len(text):,} characters{elsewhere}]"


def held_by_a_cell(text: str) -> str:
    """Return what a cell holds of a text: all of it, unless it is too long or no XML can hold it."""
    text = _IMPOSSIBLE.sub("\ufffd", text)
    return text if len(text.encode("utf-16-le")) <= 2 * LONGEST else beginning(text)


def decoded_characters(text: str) -> str:
    """Return a text as it was before characters that XML cannot hold were written as codes.

    Raises
    ------
    ValueError
        When half of a character is without its other half.

    Examples
    --------
    >>> decoded_characters("a_x000D_b_x005F_x0041_"), decoded_characters("_xD83D__xDE00_")
    ('a\\rb_x0041_', '😀')
    """
    if "_x" not in text:
        return text
    text = _CODE.sub(lambda code: chr(int(code[1], 16)), text)
    if not _HALF.search(text):
        return text
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise ValueError(Message("it has half a character without its other half")) from None


class Padding(NamedTuple):
    """A number format that adds zeros, or shows percent, and nothing else.

    Attributes
    ----------
    whole, fraction
        What it has before and after the point: a 0 is always filled, a # is not.
    after
        What follows: nothing, or a percent sign with or without a space before it.
    """

    whole: str
    fraction: str
    after: str


#: What is no part of what is shown: colours and languages, room of the width of a character, and fillers.
_UNSEEN = re.compile(
    r"\[(?:\$-[0-9a-f]+|black|blue|cyan|green|magenta|red|white|yellow|color *[0-9]+)\]|_.|\*.", re.IGNORECASE
)
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')
_PADDED = re.compile(r"(-?)([0#]+)(?:\.([0#]+))?( ?%|)")
#: Quoted words that are as if they were not quoted; a format with others shows more than the number.
_AS_BARE = frozenset({"", " ", "%", " %", "-"})


def shown_as(number: str, code: str) -> str | None:
    """Return a number as a number format shows it, if the format pads or shows percent, and nothing else.

    Parameters
    ----------
    number
        As `prodex.written_numbers.spelled_number` spells it; of a percentage, 50 for 50 %.
    code
        The number format.

    Returns
    -------
    str | None
        None also where the format rounds the number.

    Examples
    --------
    >>> shown_as("12", "0000"), shown_as("12", "0"), shown_as("50", "0%"), shown_as("12.5", "0000")
    ('0012', None, '50%', None)
    """
    sign = "-" if number.startswith("-") else ""
    padding = _padding(code, -1 if sign else int(number != "0"))
    if padding is None:
        return None
    digits, _, fraction = number.removeprefix("-").partition(".")
    if len(fraction) > len(padding.fraction):
        return None
    fraction += padding.fraction[len(fraction) :].replace("#", "")
    before = padding.whole[: max(len(padding.whole) - len(digits), 0)].replace("#", "")
    point = "." if fraction else ""
    return f"{sign}{before}{digits}{point}{fraction}{padding.after}"


@lru_cache(maxsize=1_000)
def _padding(code: str, sign: int) -> Padding | None:
    """Return how a format pads numbers below 0 (-1), 0 or above it (1)."""
    numbers = code.split(";")
    if len(numbers) > 1 and "@" in numbers[-1]:  # the section of texts
        numbers.pop()
    # The first section is that of all numbers that have none of their own.
    place = {-1: 1, 0: 2}.get(sign, 0)
    place = place if place < len(numbers) else 0
    bare = _QUOTED.sub(_bare, _UNSEEN.sub("", numbers[place]))
    found = _PADDED.fullmatch(bare)
    # Only the section of negative numbers writes the minus itself.
    if found is None or bool(found[1]) != (place == 1):
        return None
    _, whole, fraction, after = found.groups("")
    return Padding(whole, fraction, after) if whole.count("0") > 1 or fraction or after else None


def _bare(quoted: re.Match[str]) -> str:
    word = quoted[1] or quoted[2] or ""
    return word if word in _AS_BARE else "?"

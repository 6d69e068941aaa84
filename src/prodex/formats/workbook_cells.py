"""Cells of workbooks: their places, and their texts, numbers and dates as text.

A number is given with the 15 digits that spreadsheets compute with, a date as ISO 8601 text.

Sources: ECMA-376 part 1, 18.17.4 (dates), 22.9.2.19 (`_xHHHH_`).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

_CODE = re.compile("_x([0-9A-Fa-f]{4})_")
_PLACE = re.compile("([A-Z]{1,3})([1-9][0-9]{0,6})")

#: Days are counted from here, as if 1900 had been a leap year: from day 60 on they are one too many.
_DAY_0 = datetime(1899, 12, 31)  # noqa: DTZ001 - a workbook knows no zone
_DAY_TOO_MANY = 60
#: Days between the two origins that workbooks know.
_SINCE_1904 = 1462

Kind = Literal["text", "number", "percentage", "date", "boolean", "error", "formula"]


class Cell(NamedTuple):
    """A cell that is not empty.

    Attributes
    ----------
    text
        Its value as text: "12.5", "true", "2026-11-23", "#REF!"; a percentage as it is shown, without the sign.
    kind
        What the value is; "formula" is one whose result was not stored, so that its text is empty.
    """

    text: str
    kind: Kind


#: Column, counted from 0, and cell.
Row = dict[int, Cell]


def column_of(place: str) -> int:
    """Return the column of a cell's place, counted from 0.

    >>> column_of("A1"), column_of("AB12")
    (0, 27)
    """
    if (found := _PLACE.fullmatch(place)) is None:
        raise ValueError(f"it has a cell at {place!r:.20}")
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


def row_of(place: str) -> int:
    """Return the row of a cell's place, counted from 1.

    >>> row_of("AB12")
    12
    """
    return int(place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def place_of(row: int, column: int) -> str:
    """Return the place of a cell as spreadsheets call it.

    >>> place_of(12, 27), place_of(1, 0)
    ('AB12', 'A1')
    """
    letters = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row}"


def decoded(text: str) -> str:
    """Return a text as it was before characters that XML cannot hold were written as codes.

    >>> decoded("a_x000D_b_x005F_x0041_")
    'a\\rb_x0041_'
    """
    return _CODE.sub(lambda code: chr(int(code[1], 16)), text) if "_x" in text else text


def moment(days: str, *, since_1904: bool = False) -> str:
    """Return the moment that a workbook counts in days, to the second.

    >>> moment("46346.333333333336"), moment("1.5"), moment("61.0")
    ('2026-11-20T08:00:00', '1900-01-01T12:00:00', '1900-03-01T00:00:00')
    """
    try:
        number = float(days) + (_SINCE_1904 if since_1904 else 0)
        number += number < 1  # the very first midnight is written as 0, which would be the day before
        found = _DAY_0 + timedelta(days=number - (number >= _DAY_TOO_MANY))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"it has {days!r:.40} where a date should be") from error
    return (found + timedelta(milliseconds=500)).replace(microsecond=0).isoformat()


def spelled_number(value: float) -> str:
    """Return a number as a spreadsheet shows it where the cell is wide enough: 15 digits, no exponent.

    >>> spelled_number(0.1 + 0.2), spelled_number(4006381333931.0), spelled_number(1e-7)
    ('0.3', '4006381333931', '0.0000001')
    """
    return format(Decimal(f"{value:.15g}").normalize(), "f")

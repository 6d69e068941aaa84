"""The values of a platform's cells, as records have them: codes with their labels, numbers, yes and no, dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prodex.errors import InputError
from prodex.formats.workbook_cells import Cell
from prodex.gtin import comparable_cell, has_digits, what_it_is
from prodex.load.workbook.headings import UNITS, Content, Heading, label_and_code
from prodex.worklists.answer_parsing import AnswerRefused, as_one_line, boolean, number

#: A code alone, as far as nobody would write a label so: GRM, MARKS_SPENCER, 10000043.
_CODE = re.compile(r"[A-Z0-9][A-Z0-9_.:/+-]*")
_ENDS_IN_WORD = re.compile(r"\d\s*\D+$")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}")
#: Kinds of cells that have no value, and why.
VALUELESS = {
    "error": "it holds the error {text}",
    "formula": "the result of its formula is not stored: open the file in a spreadsheet and save it",
    "unreadable": "{problem}",
}
#: What a spreadsheet made of what was typed, where its column has texts or codes: 0012, MAR1, 1E2, TRUE.
_RETYPED = {"number": "a number", "percentage": "a percentage", "date": "a date", "boolean": "true or false"}
_WORDS = frozenset({Content.TEXT, Content.CODE, Content.STRING, Content.PLAIN_CODE})


def value_of(cell: Cell, heading: Heading) -> Any:  # noqa: PLR0912 - one branch for each kind of content
    """Return the value of a cell as it is in a record: of a text or a number with a unit, what stands under `data`.

    Raises
    ------
    AnswerRefused
        When it cannot be understood; the message says why.

    Examples
    --------
    >>> value_of(Cell("Sea salt∣SALT", "text"), Heading(None, Content.CODE))
    {'code': 'SALT', 'label': 'Sea salt'}
    >>> value_of(Cell("0,5", "text"), Heading(None, Content.NUMBER))
    0.5
    >>> value_of(Cell("12", "number", "0012"), Heading(None, Content.CODE))
    {'code': '0012'}
    """
    if (why := VALUELESS.get(cell.kind)) is not None:
        raise AnswerRefused(why.format(text=cell.text[:20], problem=cell.problem))
    if cell.is_struck:
        raise AnswerRefused("it is struck through, as a whole or in part")
    if heading.problem:
        raise AnswerRefused(heading.problem)
    if heading.content in _WORDS or heading.content is Content.GTIN:
        cell = _as_typed(cell, heading)
    match heading.content:
        case Content.GTIN:
            return _gtin(cell.text)
        case Content.TEXT:
            return cell.text
        case Content.QUANTITY:
            return _quantity(cell, heading.unit)
        case Content.CODE:
            return _code(cell.text)
        case Content.OPEN:
            return _open(cell)
    if heading.content is Content.STRING:
        return cell.text
    # The label beside the code of a plain value has no place in a record.
    both = label_and_code(cell.text)
    text = both[1] if both is not None else cell.text.strip()
    match heading.content:
        case Content.BOOLEAN:
            return boolean(text)
        case Content.INTEGER:
            return _integer(text, cell)
        case Content.NUMBER:
            return _number(text, cell)
        case Content.MOMENT:
            return _moment(text)
    return text


def _as_typed(cell: Cell, heading: Heading) -> Cell:
    """Return a cell of texts, codes or GTINs as its spreadsheet shows it, which changes what looks like a number."""
    if cell.shown is not None:
        return Cell(cell.shown, "text")
    # An id is a number, and a GTIN has the same digits with zeros before them and without.
    is_number = heading.content is Content.GTIN or (
        heading.path is not None and heading.path.attribute == "id"
    )
    if cell.kind not in _RETYPED or (is_number and cell.kind == "number"):
        return cell
    raise AnswerRefused(
        f"its spreadsheet has made {_RETYPED[cell.kind]} of what was typed. Format the column as text, and type it "
        "again"
    )


def _gtin(text: str) -> str:
    try:
        gtin = comparable_cell(text)
    except InputError as error:
        raise AnswerRefused(str(error)) from None
    if gtin is None or not has_digits(gtin):
        raise AnswerRefused(f"{text!r:.60} is {what_it_is(text)}")
    return gtin


def _number(text: str, cell: Cell) -> int | float:
    return number(text, is_stored=cell.kind in ("number", "percentage"))


def _integer(text: str, cell: Cell) -> int:
    value = _number(text, cell)
    if not isinstance(value, int):
        raise AnswerRefused(f"{text!r:.60} is not a whole number")
    return value


def _quantity(cell: Cell, unit: Mapping[str, str] | None) -> int | float:
    if unit is None:
        raise AnswerRefused("neither row 6 nor the cell names a unit")
    try:
        return _number(cell.text, cell)
    except AnswerRefused as error:
        # The unit may be repeated beside the number.
        if not _ENDS_IN_WORD.search(cell.text):
            raise
        try:
            value, code = UNITS.quantity(cell.text)
        except AnswerRefused:
            raise error from None
    if code != unit["code"]:
        raise AnswerRefused(f"{cell.text!r:.60} is in {code}, and its column in {unit['code']}")
    return value


def _code(text: str) -> dict[str, str]:
    if (both := label_and_code(text)) is not None:
        label, code = both
        return {"code": code, "label": label} if label else {"code": code}
    word = as_one_line(text)
    return {"code": word} if _CODE.fullmatch(word) else {"label": word}


def _moment(text: str) -> str:
    if _MOMENT.fullmatch(text.strip()):
        return text.strip()
    # A date in a workbook is its midnight.
    if _DATE.fullmatch(text.strip()):
        return f"{text.strip()}T00:00:00"
    raise AnswerRefused(f"{text!r:.60} is not a date. Write 2026-11-23, or 2026-11-23T08:00:00")


def _open(cell: Cell) -> Any:
    if cell.kind == "boolean":
        return cell.text == "true"
    if cell.kind in ("number", "percentage"):
        # Zeros before it make it a code.
        is_code = cell.shown is not None and cell.shown.isdecimal()
        return cell.shown if is_code else number(cell.text, is_stored=True)
    both = label_and_code(cell.text, is_code=False)
    return cell.text if both is None else {"code": both[1], "label": both[0]}

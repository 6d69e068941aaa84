"""Cells of workbooks that any program saved: their places, texts, numbers and dates, sheet by sheet.

Values are those that the file holds: of a formula the stored result, nothing is computed. A number is given with the
15 digits that spreadsheets compute with, a date as ISO 8601 text. Nothing in a workbook is trusted: declarations of
entities are refused, and unpacked bytes and cells are counted.

Sources: ECMA-376 part 1, 18.3.1 (sheets), 18.4 (shared strings), 18.8 (styles), 22.9.2.19 (`_xHHHH_`).
"""

from __future__ import annotations

import math
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Literal, NamedTuple

from prodex.limits import Meter
from prodex.safe_xml import parser_of

_CODE = re.compile("_x([0-9A-Fa-f]{4})_")
_PLACE = re.compile("([A-Z]{1,3})([1-9][0-9]{0,6})")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3}[0-9]{1,7}):([A-Z]{1,3}[0-9]{1,7})"')
_STEP = 1 << 18

#: Days are counted from here, as if 1900 had been a leap year: from day 60 on they are one too many.
_DAY_0 = datetime(1899, 12, 31)  # noqa: DTZ001 - a workbook knows no zone
_DAY_TOO_MANY = 60
#: Days between the two origins that workbooks know.
_SINCE_1904 = 1462

#: Formats of dates and of percentages among those that are built in.
_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_PERCENTAGES = frozenset({9, 10})
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')

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


@dataclass(frozen=True)
class Book:
    """A workbook: its sheets by name, and what all of them share.

    Attributes
    ----------
    sheets
        The file of each sheet inside the archive, in the order of the workbook.
    """

    archive: zipfile.ZipFile = field(repr=False)
    meter: Meter = field(repr=False)
    sheets: Mapping[str, str]
    texts: list[str] = field(repr=False)
    styles: list[Kind] = field(repr=False)
    since_1904: bool

    def rows(self, sheet: str) -> Iterator[tuple[int, Row]]:
        """Yield the number of each row that has a filled cell, and its cells."""
        reader = _Rows(self)
        for piece in pieces(self.archive, self.sheets[sheet], self.meter):
            yield from reader.read(piece)

    def merged(self, sheet: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Return row and column of the first and the last cell of each merged range."""
        found, before = [], b""
        for piece in pieces(self.archive, self.sheets[sheet], self.meter):
            text = before + piece
            end = 0
            for match in _MERGED.finditer(text):
                end = match.end()
                first, last = (one.decode() for one in match.groups())
                found.append(tuple((int(_PLACE.fullmatch(one)[2]), column_of(one)) for one in (first, last)))  # type: ignore[index]
            before = text[max(end, len(text) - 200) :]
        return found  # type: ignore[return-value]


def opened(archive: zipfile.ZipFile, meter: Meter) -> Book:
    """Return a workbook whose sheets can be read.

    Raises
    ------
    ValueError
        When the archive is no workbook.
    """
    names = frozenset(archive.namelist())
    if "xl/workbook.xml" not in names:
        raise ValueError("it has no xl/workbook.xml")
    targets: dict[str | None, str] = {}
    for name, attributes in _elements(archive, "xl/_rels/workbook.xml.rels", meter, names):
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            target = attributes.get("Target", "")
            targets[attributes.get("Id")] = (
                target.lstrip("/")
                if target.startswith("/")
                else posixpath.normpath(posixpath.join("xl", target))
            )
    sheets: dict[str, str] = {}
    since_1904 = False
    for name, attributes in _elements(archive, "xl/workbook.xml", meter, names):
        if name == "sheet":
            identifier = next((value for key, value in attributes.items() if key.endswith(":id")), None)
            target = targets.get(identifier, "")
            if target in names:
                sheets[attributes.get("name", "")] = target
        elif name == "workbookPr":
            since_1904 = attributes.get("date1904") in {"1", "true"}
    texts = _shared_texts(archive, meter) if "xl/sharedStrings.xml" in names else []
    return Book(archive, meter, sheets, texts, _styles(archive, meter, names), since_1904)


def pieces(archive: zipfile.ZipFile, name: str, meter: Meter) -> Iterator[bytes]:
    """Yield the bytes of a file of the archive, and count them with those that were unpacked before."""
    unpacked = meter.unpacked
    with archive.open(name) as file:
        for piece in iter(partial(file.read, _STEP), b""):
            unpacked += len(piece)
            meter.grew(unpacked)
            yield piece


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _elements(
    archive: zipfile.ZipFile, file: str, meter: Meter, names: frozenset[str]
) -> list[tuple[str, dict[str, str]]]:
    """Return local name and attributes of each element of a small file; none where there is no such file."""
    found: list[tuple[str, dict[str, str]]] = []
    if file in names:
        parser = parser_of(
            lambda name, attributes: found.append((_local(name), attributes)), _nothing, _nothing
        )
        for piece in pieces(archive, file, meter):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    return found


def _nothing(_: str) -> None:
    pass


def _shared_texts(archive: zipfile.ZipFile, meter: Meter) -> list[str]:
    """Return the shared texts; what says how to pronounce them is no part of them."""
    texts: list[str] = []
    parts: list[str] = []
    inside: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        inside.append(_local(name))
        if inside[-1] == "si":
            parts.clear()

    def end(_: str) -> None:
        if inside.pop() == "si":
            texts.append(decoded("".join(parts)))

    def text(data: str) -> None:
        if inside[-1] == "t" and "rPh" not in inside:
            parts.append(data)

    parser = parser_of(start, end, text)
    for piece in pieces(archive, "xl/sharedStrings.xml", meter):
        parser.Parse(piece, False)
    parser.Parse(b"", True)
    return texts


def _styles(archive: zipfile.ZipFile, meter: Meter, names: frozenset[str]) -> list[Kind]:
    """Return for each format of cells what a number in it is."""
    own: dict[int, str] = {}
    found: list[Kind] = []
    formats_of_cells = False
    for name, attributes in _elements(archive, "xl/styles.xml", meter, names):
        if name == "numFmt":
            own[int(attributes.get("numFmtId", "0"))] = attributes.get("formatCode", "")
        elif name in {"cellXfs", "cellStyleXfs", "cellStyles"}:
            formats_of_cells = name == "cellXfs"
        elif name == "xf" and formats_of_cells:
            found.append(_kind_of(int(attributes.get("numFmtId", "0")), own))
    return found


def _kind_of(number: int, own: Mapping[int, str]) -> Kind:
    if number in own:
        code = _QUOTED.sub("", own[number].partition(";")[0]).casefold()
        # "General" holds no letter of a date but the a and e that are none.
        if "%" in code:
            return "percentage"
        return "date" if re.search("[ydhs]|mm", code.replace("general", "")) else "number"
    if number in _PERCENTAGES:
        return "percentage"
    return "date" if number in _DATES else "number"


class _Rows:
    """The rows of one sheet, read piece by piece."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._done: list[tuple[int, Row]] = []
        self._row: Row = {}
        self._number = 0
        self._column = -1
        self._attributes: dict[str, str] = {}
        self._value: list[str] | None = None
        self._inline: list[str] | None = None
        self._has_formula = False
        self._into: list[str] | None = None
        self._spoken = 0
        self._parser = parser_of(self._start, self._end, self._text)

    def read(self, piece: bytes) -> list[tuple[int, Row]]:
        """Return the rows that end with this piece."""
        self._parser.Parse(piece, False)
        done, self._done = self._done, []
        return done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = _local(name)
        if name == "c":
            # A cell without a place follows the one before it.
            place = attributes.get("r")
            self._column = self._column + 1 if place is None else column_of(place)
            self._attributes, self._value, self._inline, self._has_formula = attributes, None, None, False
        elif name == "v":
            self._into = self._value = []
        elif name == "is":
            self._inline = []
        elif name == "rPh":
            self._spoken += 1
        elif name == "t" and self._inline is not None and not self._spoken:
            self._into = self._inline
        elif name == "f":
            self._has_formula = True
        elif name == "row":
            self._number = int(attributes["r"]) if "r" in attributes else self._number + 1
            self._row, self._column = {}, -1

    def _end(self, name: str) -> None:
        name = _local(name)
        if name == "c":
            if (cell := self._cell()) is not None:
                self._row[self._column] = cell
            self._inline = None
        elif name in {"v", "t"}:
            self._into = None
        elif name == "rPh":
            self._spoken -= 1
        elif name == "row" and self._row:
            self._done.append((self._number, self._row))

    def _text(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data)

    def _cell(self) -> Cell | None:
        if self._inline is not None:
            text = decoded("".join(self._inline))
            return Cell(text, "text") if text else None
        stored = "".join(self._value or ())
        kind = self._attributes.get("t", "n")
        if not stored and kind != "str":
            return Cell("", "formula") if self._has_formula else None
        match kind:
            case "s":
                if not 0 <= int(stored) < len(self._book.texts):
                    raise ValueError(
                        f"a cell in row {self._number} has a text that the workbook does not hold"
                    )
                return Cell(text, "text") if (text := self._book.texts[int(stored)]) else None
            case "str":
                return Cell(decoded(stored), "text") if stored else None
            case "b":
                return Cell("true" if stored.strip() == "1" else "false", "boolean")
            case "e":
                return Cell(stored, "error")
            case "d":
                return Cell(stored.removesuffix("T00:00:00"), "date")
        return self._number_cell(stored)

    def _number_cell(self, stored: str) -> Cell:
        style = int(self._attributes.get("s", "0"))
        kind: Kind = self._book.styles[style] if style < len(self._book.styles) else "number"
        if kind == "date":
            text = moment(stored, since_1904=self._book.since_1904)
            return Cell(text.removesuffix("T00:00:00"), "date")
        value = float(stored)
        if not math.isfinite(value):
            return Cell(stored, "error")
        return Cell(spelled_number(value * 100 if kind == "percentage" else value), kind)


def spelled_number(value: float) -> str:
    """Return a number as a spreadsheet shows it where the cell is wide enough: 15 digits, no exponent.

    >>> spelled_number(0.1 + 0.2), spelled_number(4006381333931.0), spelled_number(1e-7)
    ('0.3', '4006381333931', '0.0000001')
    """
    return format(Decimal(f"{value:.15g}").normalize(), "f")

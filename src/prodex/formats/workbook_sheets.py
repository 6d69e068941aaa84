"""Sheets of workbooks that any program saved, row by row.

Values are those that the file holds: of a formula the stored result, nothing is computed. Nothing in a workbook is
trusted: declarations of entities are refused, and unpacked bytes are counted.

Sources: ECMA-376 part 1, 18.3.1 (sheets), 18.4 (shared strings), 18.8 (styles).
"""

from __future__ import annotations

import math
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from prodex.formats.workbook_cells import Cell, Kind, Row, column_of, decoded, moment, row_of, spelled_number
from prodex.limits import Meter
from prodex.safe_xml import parser_of

_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3}[0-9]{1,7}):([A-Z]{1,3}[0-9]{1,7})"')
#: Merged ranges of a sheet: nobody merges so many by hand.
_MOST_MERGED = 100_000
_STEP = 1 << 18

#: Formats of dates and of percentages among those that are built in.
_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_PERCENTAGES = frozenset({9, 10})
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')

#: Row and column of the first and the last cell of a range.
Range = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Book:
    """A workbook: its sheets by name, and what all of them share.

    Attributes
    ----------
    sheets
        The file of each sheet inside the archive, in the order of the workbook.
    hidden
        The sheets that are hidden.
    """

    archive: zipfile.ZipFile = field(repr=False)
    meter: Meter = field(repr=False)
    sheets: Mapping[str, str]
    texts: list[str] = field(repr=False)
    styles: list[Kind] = field(repr=False)
    since_1904: bool
    hidden: frozenset[str] = frozenset()

    def rows(self, sheet: str) -> Iterator[tuple[int, Row]]:
        """Yield the number of each row that has a filled cell, and its cells."""
        reader = _Rows(self)
        for piece in pieces(self.archive, self.sheets[sheet], self.meter):
            yield from reader.read(piece)

    def merged(self, sheet: str) -> list[Range]:
        """Return the merged ranges of a sheet."""
        found: list[Range] = []
        before = b""
        for piece in pieces(self.archive, self.sheets[sheet], self.meter):
            text = before + piece
            end = 0
            for match in _MERGED.finditer(text):
                end = match.end()
                first, last = ((row_of(one), column_of(one)) for one in map(bytes.decode, match.groups()))
                found.append((first, last))
            if len(found) > _MOST_MERGED:
                raise ValueError(f"it has more than {_MOST_MERGED:,} merged ranges")
            before = text[max(end, len(text) - 200) :]
        return found


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
    hidden: set[str] = set()
    since_1904 = False
    for name, attributes in _elements(archive, "xl/workbook.xml", meter, names):
        if name == "sheet":
            identifier = next((value for key, value in attributes.items() if key.endswith(":id")), None)
            target = targets.get(identifier, "")
            if target in names:
                sheets[attributes.get("name", "")] = target
                if attributes.get("state", "visible").casefold() != "visible":
                    hidden.add(attributes.get("name", ""))
        elif name == "workbookPr":
            since_1904 = attributes.get("date1904") in {"1", "true"}
    texts = _shared_texts(archive, meter) if "xl/sharedStrings.xml" in names else []
    styles = _styles(archive, meter, names)
    return Book(archive, meter, sheets, texts, styles, since_1904, frozenset(hidden))


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

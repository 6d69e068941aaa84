"""Sheets of workbooks that any program saved, row by row: each cell with its value, or with why it has none.

Values are those that the file holds: of a formula the stored result, nothing is computed. openpyxl says what a number
format and a date mean. It does not read the cells, since its readers do not keep these promises:

- One cell costs one cell. openpyxl gives a sheet up at the first cell that it cannot read, and lets others pass as
  something else (text -1 as the last one, `1_000` as a number, half of a date). Here each is a cell with its problem.
- A text is what was written. openpyxl does not read the codes of characters (`_x000D_`), and drops the code that keeps
  `_x0041_` apart from "A"; nor does it look at the runs of a text, which may be struck through, without refusing what
  their fonts say otherwise.
- What a sheet takes is linear in its cells. openpyxl fills the gaps between cells, makes an object of each format,
  rule, link and name of a workbook, and expands merged ranges; of all these only cells, formats and ranges are read.

python-calamine is five times as fast, but knows neither number formats nor fonts nor errors of cells, and reserves the
memory of all cells between the first and the last, which a file of a few hundred bytes can make a hundred gigabytes.

Sources: ECMA-376 part 1, 18.3.1 (sheets), 18.4 (shared strings), 18.8 (styles), 18.17.4 (dates).
"""

from __future__ import annotations

import math
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_datetime
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel, from_ISO8601

from prodex.formats.workbook_archive import MAIN, WorkbookArchive
from prodex.formats.workbook_cells import (
    MOST_COLUMNS,
    MOST_ROWS,
    Cell,
    CellKind,
    Range,
    Row,
    cell_place,
    decoded_characters,
    problem_of,
    row_and_column,
    shown_as,
    unreadable,
)
from prodex.languages import Message, Said
from prodex.limits import LimitExceeded
from prodex.written_numbers import spelled_number

_CELL, _VALUE, _FORMULA, _INLINE = (f"{MAIN}{tag}" for tag in ("c", "v", "f", "is"))
_COMMENT_TEXT = f"{MAIN}text"
_RUN, _TEXT, _FONT, _STRIKE = (f"{MAIN}{tag}" for tag in ("r", "t", "rPr", "strike"))

_MERGED = re.compile(
    rb'<(?:\w+:)?mergeCell\s[^<>]{0,200}?ref="([A-Z]{1,3}[0-9]{1,7}):([A-Z]{1,3}[0-9]{1,7})"'
)
#: Sheets of a workbook, and characters of the name of one: Excel has 31.
MOST_SHEETS, _LONGEST_NAME = 1_000, 1_000
#: Merged ranges of a sheet: nobody merges so many by hand.
_MOST_MERGED = 100_000
_STEP = 1 << 18

#: Formats of dates that are built in for East Asia, beside those that openpyxl knows.
_DATES = frozenset({*range(27, 37), *range(50, 59)})
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
_ROW = re.compile("[1-9][0-9]{0,6}")


def _number(stored: str) -> int | float:
    # A whole number has all its digits, however many.
    return float(stored) if {".", "e", "E"}.intersection(stored) else int(stored)


#: What the value of a cell of each kind looks like, what is said of others, and how it is read.
_VALUES: Mapping[str, tuple[re.Pattern[str], str, Callable[[str], Any]]] = {
    "n": (
        re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][-+]?[0-9]+)?"),
        "{text} is not a number that a spreadsheet knows",
        _number,
    ),
    "s": (re.compile("[0-9]+"), "{text} is not a text of the workbook", int),
    "b": (re.compile("0|1|true|false"), "{text} is neither true nor false", {"1", "true"}.__contains__),
    "d": (
        re.compile(
            r"(?=.)(?:[0-9]{4}-[0-9]{2}-[0-9]{2})?(?:T?[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?)?Z?"
        ),
        "{text} is not a date that a spreadsheet knows",
        from_ISO8601,
    ),
}
#: The longest number format that Excel writes.
_LONGEST_CODE = 255
#: Longer than any number that a program writes.
_LONGEST_VALUE = 400

#: Cells that are remembered; and the sign of one that is not.
_MOST_FOUND = 100_000
_NEW = Cell("", "unreadable")

#: Columns by their letters.
_COLUMNS = {cell_place(1, column)[:-1]: column for column in range(MOST_COLUMNS)}


class SharedText(NamedTuple):
    """A text of a workbook, or of a cell.

    Attributes
    ----------
    text
        As it was written.
    is_struck
        Whether a visible run of it is struck through by its own font.
    has_plain
        Whether a visible run of it has the font of its cell.
    problem
        Why it cannot be read; empty where it can.
    """

    text: str
    is_struck: bool = False
    has_plain: bool = True
    problem: Said = ""


class Comment(NamedTuple):
    """A comment that somebody wrote at a cell: its row, its column from 0, and what it says."""

    row: int
    column: int
    text: str


class Style(NamedTuple):
    """The format of a cell: what a number in it is, its number format, and whether its font is struck through."""

    kind: CellKind = "number"
    code: str = "General"
    is_struck: bool = False


_PLAIN = Style()


@dataclass(frozen=True)
class Book:
    """A workbook: its sheets, and what all of them share.

    Attributes
    ----------
    archive
        Its parts.
    sheets
        Name and part of each sheet, in the order of the workbook.
    texts, styles, epoch
        The texts and formats that its cells refer to, and the day from which dates are counted.
    hidden
        The parts of hidden sheets.
    is_export
        Whether it is an export of prodex: an empty text is a cell, numbers have all their digits, and a formula has no
        result.
    """

    archive: WorkbookArchive = field(repr=False)
    sheets: Sequence[tuple[str, str]]
    texts: Sequence[SharedText] = field(default=(), repr=False)
    styles: Sequence[Style] = field(default=(), repr=False)
    epoch: datetime = WINDOWS_EPOCH
    hidden: frozenset[str] = frozenset()
    is_export: bool = False

    def rows(self, part: str) -> Iterator[tuple[int, Row]]:
        """Yield the number of each row that has a filled cell, and its cells."""
        reader = _RowReader(self)
        for element in self.archive.each(part, "row", until="sheetData"):
            number, row = reader.row(element)
            if row:
                yield number, row

    def merged(self, part: str) -> list[Range]:
        """Return the merged ranges of a sheet.

        They are behind the rows, but are needed before these are read; so they are searched for in the bytes.
        """
        found: list[Range] = []
        before = b""
        with self.archive.open(part) as content:
            while piece := content.read(_STEP):
                text = before + piece
                end = 0
                for match in _MERGED.finditer(text):
                    end = match.end()
                    first, last = (row_and_column(one.decode()) for one in match.groups())
                    if first is not None and last is not None:
                        found.append((first, last))
                if len(found) > _MOST_MERGED:
                    raise ValueError(f"it has more than {_MOST_MERGED:,} merged ranges")
                before = text[max(end, len(text) - 300) :]
        return found

    def comments(self, part: str) -> list[Comment]:
        """Return the comments of a sheet; of a conversation about a cell, each of them."""
        related = self.archive.related(part)
        talks = [
            (one.get("ref", ""), one.findtext(_COMMENT_TEXT) or "")
            for target in (other.target for other in related if other.kind == "threadedComment")
            for one in self.archive.each(target, "threadedComment")
        ]
        # Beside a conversation, the usual comment has it again, below a sentence about newer programs.
        places = {place for place, _ in talks}
        usual = [
            (place, "" if (text := one.find(_COMMENT_TEXT)) is None else shared_text(text).text)
            for target in (other.target for other in related if other.kind == "comments")
            for one in self.archive.each(target, "comment")
            if (place := one.get("ref", "")) not in places
        ]
        found = ((row_and_column(place), text.strip()) for place, text in (*talks, *usual))
        return [Comment(*at, text) for at, text in found if at is not None and text]


def opened_book(archive: WorkbookArchive) -> Book:
    """Return a workbook whose sheets can be read.

    Raises
    ------
    ValueError
        When the archive is no workbook, lacks a sheet that it lists, or lists one twice.
    LimitExceeded
        When it has too many sheets.
    """
    part = archive.workbook()
    if part is None or (book := archive.tree(part)).tag != "workbook":
        raise ValueError("it is not a workbook")
    related = archive.related(part)
    targets = {one.id: one for one in related}
    sheets: list[tuple[str, str]] = []
    hidden = set()
    listed: set[str] = set()
    for one in book.iter("sheet"):
        name = one.get("name", "")
        found = targets.get(one.get("id", ""))
        if found is None:
            raise ValueError(f"its sheet {name!r:.60} is not in it")
        if found.target in listed:
            # A sheet is read for each of its names: a small file would have as many of them as it likes.
            raise ValueError(f"its sheet {name!r:.60} is another one as well")
        if len(name) > _LONGEST_NAME:
            raise ValueError(f"the name of its sheet {name!r:.60} has {len(name):,} characters")
        listed.add(found.target)
        if len(listed) > MOST_SHEETS:
            raise LimitExceeded(
                f"it has more than {MOST_SHEETS:,} sheets, and so many are read at most", "sheets"
            )
        if found.kind == "worksheet":
            sheets.append((name, found.target))
            if one.get("state", "visible").casefold() != "visible":
                hidden.add(found.target)
    properties = book.find("workbookPr")
    since_1904 = properties is not None and properties.get("date1904") in {"1", "true"}

    def beside(kind: str) -> str:
        """Return a part that the sheets share: by its relationship, its type, or where programs put it."""
        usual = posixpath.join(part.rpartition("/")[0], f"{kind}.xml")
        options = (
            [one.target for one in related if one.kind == kind] or archive.of_type(f".{kind}+xml") or [usual]
        )
        return options[0]

    return Book(
        archive,
        sheets,
        _shared_texts(archive, beside("sharedStrings")),
        _styles(archive, beside("styles")),
        MAC_EPOCH if since_1904 else WINDOWS_EPOCH,
        frozenset(hidden),
    )


def exported(archive: WorkbookArchive) -> Book:
    """Return an export of prodex, whose parts have fixed names and whose texts are in its cells."""
    return Book(archive, (), (), _styles(archive, "xl/styles.xml"), is_export=True)


def shared_text(element: Element) -> SharedText:
    """Return the text of an element of shared or inline texts; what says how to pronounce it is no part of it."""
    if len(element) == 1 and element[0].tag == _TEXT:
        written, is_struck, has_plain = element[0].text or "", False, True
    else:
        parts = [one for one in element if one.tag in {_TEXT, _RUN}]
        texts = [(one.text if one.tag == _TEXT else one.findtext(_TEXT)) or "" for one in parts]
        fonts = [one.find(_FONT) for one, text in zip(parts, texts, strict=True) if text.strip()]
        written = "".join(texts)
        is_struck = any(font is not None and _is_struck(font.find(_STRIKE)) for font in fonts)
        has_plain = None in fonts
    try:
        return SharedText(decoded_characters(written), is_struck, has_plain)
    except ValueError as error:
        return SharedText(written, problem=problem_of(error))


def _is_struck(strike: Element | None) -> bool:
    return strike is not None and strike.get("val", "1") not in {"0", "false"}


def _shared_texts(archive: WorkbookArchive, part: str) -> list[SharedText]:
    return [shared_text(one) for one in archive.each(part, "si")] if part in archive else []


def _styles(archive: WorkbookArchive, part: str) -> list[Style]:
    """Return the formats of cells."""
    if part not in archive:
        return []
    root = archive.tree(part)
    own = {one.get("numFmtId", ""): one.get("formatCode", "") for one in root.iterfind("numFmts/numFmt")}
    struck = [_is_struck(one.find("strike")) for one in root.iterfind("fonts/font")]
    found: list[Style] = []
    kinds: dict[str, tuple[CellKind, str]] = {}
    for one in root.iterfind("cellXfs/xf"):
        number, font = one.get("numFmtId", "0"), one.get("fontId", "0")
        if number not in kinds:
            kinds[number] = _kind_and_code(number, own)
        is_struck = font.isdecimal() and len(font) < 9 and int(font) < len(struck) and struck[int(font)]
        found.append(Style(*kinds[number], is_struck))
    return found


def _kind_and_code(number: str, own: Mapping[str, str]) -> tuple[CellKind, str]:
    """Return what numbers in a format are, and the code of the format."""
    built_in = int(number) if number.isdecimal() and len(number) < 9 else 0
    if number not in own and built_in in _DATES:
        return "date", ""
    code = own.get(number) or BUILTIN_FORMATS.get(built_in, "General")
    if len(code) > _LONGEST_CODE:
        code = "General"
    if "%" in _QUOTED.sub("", code.partition(";")[0]):
        return "percentage", code
    return ("date" if is_date_format(code) else "number"), code


class _RowReader:
    """Reads the rows of a sheet, each cell alone."""

    def __init__(self, book: Book) -> None:
        self._book = book
        # A cell is what its kind, its format and its value make of it, and most of a sheet are there many times.
        self._found: dict[tuple[str, str, str, bool], Cell | None] = {}
        self._last = 0
        self._seen = bytearray(MOST_ROWS + 1)

    def row(self, element: Element) -> tuple[int, Row]:
        """Return the number of a row, and its cells."""
        number, problem = self._number(element)
        ending = str(number)
        row: Row = {}
        column, nowhere = -1, MOST_COLUMNS
        for one in element:
            if one.tag != _CELL:
                continue
            # A cell without a place follows the one before it.
            place = one.get("r")
            column, odd = (
                (column + 1, problem) if place is None else _column_in_row(place, number, ending, problem)
            )
            if not len(one) or (cell := self.cell(one)) is None:
                continue
            if column >= MOST_COLUMNS:
                row[nowhere] = unreadable(cell.text, odd or "nobody knows which column it is in")
                nowhere += 1
                continue
            if column in row:
                odd = odd or f"its place is there twice, with {row[column].text!r:.40} and {cell.text!r:.40}"
            row[column] = unreadable(cell.text, odd) if odd else cell
        return number, row

    def _number(self, element: Element) -> tuple[int, str]:
        """Return the number of a row, and why it is none."""
        written = element.get("r")
        if written is not None and _ROW.fullmatch(written) and int(written) <= MOST_ROWS:
            number, problem = int(written), ""
        else:
            # The places of its cells say which row they are in; else it is the next one.
            places = (row_and_column(one.get("r", "")) for one in element)
            number = next((place[0] for place in places if place is not None), self._last + 1)
            problem = "" if written is None else f"its row has the number {written!r:.20}"
            number = min(number, MOST_ROWS)
        if self._seen[number]:
            problem = problem or f"row {number} is there twice"
        self._seen[number] = 1
        self._last = number
        return number, problem

    def cell(self, element: Element) -> Cell | None:
        """Return a cell; None if it is empty."""
        if not (stored := element.findtext(_VALUE)):
            return self._without_value(element)
        # Nearly all cells have nothing but their value.
        is_computed = len(element) > 1 and element.find(_FORMULA) is not None
        if is_computed and self._book.is_export:
            return Cell("", "formula")
        key = (element.get("t", "n"), element.get("s", ""), stored, is_computed)
        if (found := self._found.get(key, _NEW)) is not _NEW:
            return found
        if len(self._found) == _MOST_FOUND:
            self._found.clear()
        found = self._with_value(*key[:3])
        if found is not None and is_computed:
            found = found._replace(is_computed=True)
        self._found[key] = found
        return found

    def _without_value(self, element: Element) -> Cell | None:
        kind = element.get("t", "n")
        if (inline := element.find(_INLINE)) is not None:
            return self._text_cell(shared_text(inline), self._style(element.get("s", "")))
        if element.find(_FORMULA) is not None:
            # An empty text is a result as well.
            return None if kind == "str" and not self._book.is_export else Cell("", "formula")
        return unreadable("", "it shows an error without its name") if kind == "e" else None

    def _with_value(self, kind: str, style_number: str, stored: str) -> Cell | None:
        style = self._style(style_number)
        try:
            if kind == "str":
                return self._text_cell(SharedText(decoded_characters(stored)), style)
            if kind == "e":
                return Cell(stored, "error")
            value = self._value(kind, stored.strip())
            if kind == "s":
                return self._text_cell(value, style)
            if kind == "b":
                return Cell("true" if value else "false", "boolean", None, style.is_struck)
            if kind == "d":
                return Cell(_date_text(value), "date", None, style.is_struck)
            return self._number_cell(value, stored, style)
        except ValueError as error:
            return unreadable(f"{stored:.400}", problem_of(error))

    def _style(self, number: str) -> Style:
        """Return the format of a cell; that of all others, where there is none of its number."""
        place = int(number) if number.isdecimal() and len(number) < 9 else 0
        return self._book.styles[place] if place < len(self._book.styles) else _PLAIN

    def _value(self, kind: str, stored: str) -> Any:
        """Return the value of a cell, where it is what the kind of the cell says."""
        if kind not in _VALUES:
            raise ValueError(Message("it is of the unknown kind {text}", text=f"{kind!r:.20}"))
        pattern, otherwise, read = _VALUES[kind]
        is_long = len(stored) > _LONGEST_VALUE
        try:
            if not is_long and pattern.fullmatch(stored):
                return self._book.texts[read(stored)] if kind == "s" else read(stored)
        except (ValueError, IndexError):
            pass  # a day that no month has, a text that the workbook does not have
        shown = f"a value of {len(stored):,} characters" if is_long else f"{stored!r:.60}"
        raise ValueError(Message(otherwise, text=shown))

    def _text_cell(self, found: SharedText, style: Style) -> Cell | None:
        if found.problem:
            return unreadable(found.text, found.problem)
        if not found.text and not self._book.is_export:
            return None
        is_struck = found.is_struck or (style.is_struck and found.has_plain)
        return Cell(found.text, "text", None, is_struck)

    def _number_cell(self, value: int | float, stored: str, style: Style) -> Cell:
        if style.kind == "date":
            try:
                found = from_excel(value, self._book.epoch) if value >= 0 else None
            except (ValueError, OverflowError):
                found = None
            if found is None:
                raise ValueError(
                    Message("{text} is not a date that a spreadsheet knows", text=f"{stored:.40}")
                )
            if isinstance(found, time) and is_datetime(style.code) != "time":
                first = date(1900, 1, 1) if self._book.epoch == WINDOWS_EPOCH else MAC_EPOCH.date()
                found = datetime.combine(first, found)
            return Cell(_date_text(found), "date", None, style.is_struck)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise ValueError(
                Message("{text} is not a number that a spreadsheet knows", text=f"{stored!r:.60}")
            )
        if self._book.is_export:
            return Cell(repr(value), "number")
        text = spelled_number(number * 100 if style.kind == "percentage" else value)
        return Cell(text, style.kind, shown_as(text, style.code), style.is_struck)


def _column_in_row(place: str, number: int, ending: str, problem: Said) -> tuple[int, Said]:
    """Return the column of a place in a row, and why it is none."""
    # Nearly all places are regular.
    if place.endswith(ending) and (column := _COLUMNS.get(place[: -len(ending)])) is not None:
        return column, problem
    found = row_and_column(place)
    if found is None:
        return MOST_COLUMNS, Message("{text} is not a place in a sheet", text=f"{place!r:.20}")
    row, column = found
    return column, problem or ("" if row == number else f"its place {place!r} is not in row {number}")


def _date_text(found: date | datetime | time) -> str:
    """Return a date as text, without a time at midnight; a moment to the second."""
    if isinstance(found, datetime):
        found = (found + timedelta(milliseconds=500)).replace(microsecond=0)
    elif isinstance(found, time):
        found = found.replace(microsecond=0)
    return found.isoformat().removesuffix("T00:00:00")

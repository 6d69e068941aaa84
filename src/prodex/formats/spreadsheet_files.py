"""Files that somebody filled in with a spreadsheet: workbooks and CSV, sheet by sheet, as text with its place.

Whatever program saved them: Excel, LibreOffice, Numbers, an export of another platform. What cannot be read is an error
that says how to save it instead.

A CSV file says neither its encoding nor its separator. UTF-8 and UTF-16 are recognized by themselves. Of all other
encodings, nearly every file can be read in nearly every one, and only the letters are others: so the encoding is that
in which the cells agree with texts that are known, such as those of the catalogue. A cell is read if all encodings that
agree as well as each other read the same in it; else it is a cell with a problem, and nothing is guessed or replaced.

Sources: RFC 4180; the code pages of Windows, of its console and of the Mac, as Python has them.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Self
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

from prodex.errors import SpreadsheetUnreadable
from prodex.files.atomic import look_at
from prodex.files.untrusted import is_file, is_there
from prodex.formats.formulas import unescape_formulas
from prodex.formats.safe_xml import MarkupRefused
from prodex.formats.workbook_archive import WorkbookArchive
from prodex.formats.workbook_cells import Cell, Range, Row, unreadable
from prodex.languages import Message
from prodex.languages.message import sentences
from prodex.limits import FILE, LimitExceeded, Limits, Meter

#: The first bytes of archives, and of the files of older programs and of workbooks with a password.
_ZIP, _OLE, _PARQUET = b"PK", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PAR1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

#: Filled cells and rows of a file, all its sheets together: a worklist of 50,000 findings has a million cells.
_MOST_CELLS, _MOST_ROWS = 50_000_000, 2_000_000
#: Characters of a cell: three times what a spreadsheet holds, since CSV of other programs may have more.
_LONGEST_TEXT = 100_000
#: Blanks in a row: whatever looks for words between blanks takes time with their square.
_LONGEST_BLANK = 500
_BLANKS = re.compile(rf"\s{{{_LONGEST_BLANK + 1}}}")
#: Bytes of a CSV file, which is read as a whole.
_MOST_CSV = 1_000_000_000
#: The bit of a part in an archive that has a password.
_LOCKED = 1
_REMOVE_IT = "Open it with the password, remove that (File > Info > Protect Workbook), and save it."
_AS_XLSX = "Open it in a spreadsheet, save it as an Excel workbook (.xlsx) or as CSV (UTF-8), and read that."


@dataclass(frozen=True)
class Sheet:
    """A sheet of a file.

    Attributes
    ----------
    file
        The file.
    name
        Name of the sheet; empty for a CSV file, which has one.
    is_hidden
        Whether the workbook hides the sheet.
    """

    file: Path
    name: str
    _rows: Callable[[], Iterator[tuple[int, Row]]]
    _merged: Callable[[], list[Range]]
    is_hidden: bool = False
    _counter: _Counter = field(default_factory=lambda: _Counter(_MOST_ROWS), repr=False)

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the number of each row that has a filled cell, from 1, and its cells by column, from 0.

        Raises
        ------
        SpreadsheetUnreadable
            When the file is damaged, or too large.
        """
        with _refusing(self.file):
            count = self._counter.started(self)
            for number, row in self._rows():
                count.add(len(row))
                for place, cell in row.items():
                    if len(cell.text) > _LONGEST_BLANK and (problem := _too_much(cell.text)):
                        row[place] = unreadable(f"{cell.text:.400}", problem)
                yield number, row

    def merged(self) -> list[Range]:
        """Return row and column of the first and the last cell of each merged range."""
        with _refusing(self.file):
            return self._merged()


class MergedCells:
    """The merged ranges of a sheet: only their first cell holds what all of them show.

    Parameters
    ----------
    ranges
        Row and column of the first and the last cell of each, as `Sheet.merged` has them.
    """

    def __init__(self, ranges: Iterable[Range]) -> None:
        self._ranges = sorted(ranges)
        # For each requested column, its ranges by their first rows: somebody may have merged whole columns.
        self._columns: dict[int, tuple[list[int], list[Range]]] = {}
        self._first: dict[tuple[int, int], Cell] = {}

    def cell(self, number: int, column: int, row: Row) -> Cell | None:
        """Return what a cell shows; rows are asked for from above to below."""
        if (found := self._range(number, column)) is None:
            return row.get(column)
        (top, left), _ = found
        if number == top and (first := row.get(left)) is not None:
            self._first[top, left] = first
        return self._first.get((top, left), row.get(column))

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def first(self, number: int, column: int) -> tuple[int, int] | None:
        """Return row and column of the first cell of the range that a cell is in; None where it is in none."""
        found = self._range(number, column)
        return None if found is None else found[0]

    def height(self, number: int, column: int) -> int:
        """Return over how many rows a cell is merged."""
        if (found := self._range(number, column)) is None:
            return 1
        (top, _), (bottom, _) = found
        return bottom - top + 1

    def _range(self, number: int, column: int) -> Range | None:
        if not self._ranges:
            return None
        if column not in self._columns:
            self._columns[column] = _of_column(self._ranges, column)
        tops, ranges = self._columns[column]
        place = bisect_right(tops, number) - 1
        return ranges[place] if place >= 0 and number <= ranges[place][1][0] else None


def _of_column(ranges: Iterable[Range], column: int) -> tuple[list[int], list[Range]]:
    """Return first rows and ranges of a column; the upper one counts of those that overlap."""
    found: list[Range] = []
    for one in ranges:
        (top, left), (_, right) = one
        if left <= column <= right and not (found and top <= found[-1][1][0]):
            found.append(one)
    return [top for (top, _), _ in found], found


@dataclass
class _Counter:
    """Counts the rows and filled cells of a file, all its sheets together; what is read twice counts once.

    Attributes
    ----------
    most_rows
        Rows that it may have.
    """

    most_rows: int
    _rows: dict[int, int] = field(default_factory=dict)
    _cells: dict[int, int] = field(default_factory=dict)

    def started(self, sheet: Sheet) -> _Count:
        """Return what counts one sheet from its beginning, beside the others."""
        rows, cells = (
            sum(count for key, count in counts.items() if key != id(sheet))
            for counts in (self._rows, self._cells)
        )
        return _Count(self, sheet, rows, cells)


@dataclass
class _Count:
    counter: _Counter
    sheet: Sheet
    others: int
    cells_of_others: int
    rows: int = 0
    cells: int = 0

    def add(self, cells: int) -> None:
        """Count a row.

        Raises
        ------
        SpreadsheetUnreadable
            When there are too many.
        """
        self.rows, self.cells = self.rows + 1, self.cells + cells
        counter, key = self.counter, id(self.sheet)
        if self.others + self.rows > counter.most_rows:
            raise _refused(
                self.sheet.file, f"it has more than {counter.most_rows:,} rows with filled cells", "Split it."
            )
        if self.cells_of_others + self.cells > _MOST_CELLS:
            raise _refused(self.sheet.file, f"it has more than {_MOST_CELLS:,} filled cells", "Split it.")
        counter._rows[key] = max(counter._rows.get(key, 0), self.rows)
        counter._cells[key] = max(counter._cells.get(key, 0), self.cells)


def _too_much(text: str) -> str:
    """Return why a text is none that people write; "" where it may be one."""
    if len(text) > _LONGEST_TEXT:
        return f"it has {len(text):,} characters, and {_LONGEST_TEXT:,} are read at most"
    if _BLANKS.search(text) is not None:
        return f"it has more than {_LONGEST_BLANK} blanks in a row. Remove them"
    return ""


@contextmanager
def sheets_of(
    path: str | Path,
    *,
    limits: Limits | None = None,
    setting: str = "read_worklist",
    headings: Headings | None = None,
    known: Known | None = None,
    most_rows: int = _MOST_ROWS,
) -> Iterator[list[Sheet]]:
    """Open a workbook or a CSV file; its sheets can be read while it is open.

    Parameters
    ----------
    path
        The file. A CSV file may have any usual separator and encoding.
    limits
        What the file may take, unpacked.
    setting
        The function whose keyword `limits` changes them, for the message.
    headings
        Recognizes the row of headings: the separator of a CSV file is that with which it is found.
    known
        Knows texts that the file may have: a CSV file is in the encoding in which its cells agree with them. Without
        it, letters beyond ASCII can be read only in Unicode.
    most_rows
        Rows with filled cells that it may have, all its sheets together.

    Raises
    ------
    SpreadsheetUnreadable
        When it is no workbook and no CSV file, has a password, is damaged or too large. The message says what to do.
    """
    file = Path(path)
    look_at(file)
    if not is_file(file):
        what = "is not a plain file" if is_there(file) else "is not there"
        raise SpreadsheetUnreadable(f"{file} {what}. Give the path of a workbook (.xlsx) or a CSV file.")
    meter, counter = Meter(limits or Limits(), FILE, setting), _Counter(most_rows)
    with _refusing(file):
        with file.open("rb") as beginning:
            head = beginning.read(len(_OLE))
        meter.count_received(file.stat().st_size)
    if head == _OLE:
        raise _refused_ole(file)
    if head.startswith(_PARQUET):
        raise _refused(file, "it is a Parquet file", "Read it with pandas, and give the frame.")
    if not head.startswith(_ZIP):
        yield [_csv_sheet(file, meter, headings, known, counter)]
        return
    # openpyxl takes a moment to import.
    from prodex.formats.workbook_sheets import opened_book

    with ExitStack() as stack:
        with _refusing(file):
            # In a file of its own: that of an archive stays open as long as a part is, such as of a sheet that was not
            # read to its end, and on Windows nobody could save it.
            archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(file.open("rb"))))
            parts = WorkbookArchive(archive, meter)
            _refuse_other_formats(file, parts)
            book = opened_book(parts)
        yield [
            Sheet(
                file, name, partial(book.rows, part), partial(book.merged, part), part in book.hidden, counter
            )
            for name, part in book.sheets
        ]


def _refuse_other_formats(file: Path, parts: WorkbookArchive) -> None:
    if any(info.flag_bits & _LOCKED for info in parts.file.infolist()):
        raise _refused(file, "it has a password", _REMOVE_IT)
    if "content.xml" in parts:
        raise _refused(file, "it is an OpenDocument file (.ods)", _AS_XLSX)
    if "Index/Document.iwa" in parts or "Index.zip" in parts:
        raise _refused(file, "it is a file of Numbers", _AS_XLSX)
    named = parts.workbook()
    if "xl/workbook.bin" in parts or (named or "").casefold().endswith(".bin"):
        raise _refused(file, "it is a binary workbook (.xlsb)", _AS_XLSX)
    if named is None:
        raise _refused(file, "it is an archive, but not a workbook", "Unpack it, and give the files in it.")


def _refused_ole(file: Path) -> SpreadsheetUnreadable:
    with _refusing(file), file.open("rb") as content:
        before = b""
        while piece := content.read(1 << 20):
            if _ENCRYPTED in before + piece:
                return _refused(file, "it has a password", _REMOVE_IT)
            before = piece[-len(_ENCRYPTED) :]
    return _refused(file, "it is a workbook of an old program (.xls)", _AS_XLSX)


def _csv_sheet(
    file: Path, meter: Meter, headings: Headings | None, known: Known | None, counter: _Counter
) -> Sheet:
    with _refusing(file):
        if (size := file.stat().st_size) > _MOST_CSV:
            raise _refused(file, f"it has {size:,} bytes, and {_MOST_CSV:,} are read at most", "Split it.")
        try:
            rows = csv_rows(file.read_bytes(), meter, headings=headings, known=known)
        except NoText as error:
            raise _refused(file, str(error), _AS_XLSX) from error
    return Sheet(file, "", rows, list, _counter=counter)


@contextmanager
def _refusing(file: Path) -> Iterator[None]:
    try:
        yield
    except SpreadsheetUnreadable:
        raise
    except LimitExceeded as error:
        raise _refused(file, str(error), "Remove the sheets and rows that are not needed.") from error
    except OSError as error:
        raise _refused(file, str(error), "Close it where it is open, and look who may read it.") from error
    except MarkupRefused as error:
        raise _refused(file, str(error), _AS_XLSX) from error
    except (
        *(
            zipfile.BadZipFile,
            expat.ExpatError,
            ParseError,
            EOFError,
            NotImplementedError,
            RuntimeError,
            csv.Error,
        ),
        *(ValueError, KeyError, zipfile.LargeZipFile),
    ) as error:
        raise _refused(file, f"it is damaged ({error})", "Ask for it again, or save it anew.") from error


def _refused(file: Path, why: str, what_to_do: str) -> SpreadsheetUnreadable:
    # Its name alone: the words go to whoever filled it in, and the folder is nobody else's business.
    return SpreadsheetUnreadable(f"{file.name} cannot be read: {why}. {what_to_do}")


#: Returns, for texts whose letters beyond ASCII were replaced by question marks (`skeleton`), the known texts that are
#: so written: a catalogue is asked for what a file has, and not read as a whole.
Known = Callable[[Collection[str]], Collection[str]]

#: Returns how many columns a row of headings names, by the number of the row and its cells; 0 for any other row.
Headings = Callable[[int, Row], int]

#: What a file may begin with, the longest first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Bytes of a character, or of its half.
_WIDTHS = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}

#: What spreadsheets write where they do not write Unicode: on Windows, in its console, on the Mac, and elsewhere. The
#: more usual ones are first: a message proposes them.
_ENCODINGS = (
    *("utf-8", "cp1252", "cp1250", "mac_roman", "cp850", "cp437"),
    *("cp1251", "cp1253", "cp1254", "cp1257", "cp852", "cp737", "cp775", "cp857", "cp866"),
    *("mac_latin2", "mac_greek", "mac_cyrillic", "mac_turkish"),
    *("iso8859_15", "iso8859_2", "cp932", "gb18030", "cp949"),
)
#: Cells that are compared with what is known.
_MOST_COMPARED = 20_000

_SEPARATORS = ",;\t|"
_DECLARED = re.compile(r'"?sep=([^\r\n])"?(?:\r\n|\r|\n|$)', re.IGNORECASE)
#: Rows and characters in which the headings are searched for, and lines whose widths are compared where there are none.
_MOST_SEARCHED, _MOST_CHARACTERS, _LINES = 1_000, 1_000_000, 20

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
#: Half of a character; so bytes are kept that are none in the encoding of the file.
_HALF = re.compile("[\ud800-\udfff]")
#: Of a code page that has more letters, these are controls that no text has.
_CONTROLS = re.compile("[\x80-\x9f]")

#: Rows after which the clock is looked at.
_SO_MANY = 10_000

_SAVE = Message("Save the file as CSV in UTF-8, or as a workbook (.xlsx), and read that")


class NoText(ValueError):
    """A file that is no text."""


def skeleton(text: str) -> str:
    """Return a text with a question mark for each letter beyond ASCII: so it looks in any encoding of one byte each.

    >>> skeleton("Crème")
    'Cr?me'
    """
    return _BEYOND_ASCII.sub("?", text)


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
    text, is_certain = _decoded_text(content)
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
    letters = None if is_certain else _Letters.of(_records(text, separator), known)

    def rows() -> Iterator[tuple[int, Row]]:
        for number, cells in enumerate(_records(text, separator), 1):
            if number % _SO_MANY == 0:
                meter.count_received(0)
            if row := {place: csv_cell(one, letters) for place, one in enumerate(cells) if one}:
                yield number, row

    return rows


def _decoded_text(content: bytes) -> tuple[str, bool]:
    """Return the text of a file, and whether its letters are certain; if not, each of them is still a byte."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _unicode(content[len(mark) :], encoding), True
    if b"\0" in content:
        # Without a mark: in the wrong order of its bytes, it has no line.
        found = [_unicode(content, encoding) for encoding in ("utf-16-le", "utf-16-be")]
        lines = [text for text in found if re.search("[\r\n]", text) and "\0" not in text]
        return (lines[0], True) if len(lines) == 1 else ("\0", True)
    try:
        return content.decode("utf-8"), True
    except UnicodeDecodeError:
        return content.decode("latin-1"), False


def _unicode(content: bytes, encoding: str) -> str:
    """Return a text in which what cannot be read is half of a character."""
    if encoding == "utf-8":
        return content.decode("utf-8", "surrogateescape")
    # A file that was cut ends within a character.
    rest = len(content) % _WIDTHS[encoding]
    whole = content[: len(content) - rest].decode(encoding, "surrogatepass")
    return whole + ("\udc80" if rest else "")


def _records(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


def csv_cell(stored: str, letters: _Letters | None = None) -> Cell:
    """Return a cell of a text; with half a character in it, it is one that cannot be read."""
    if stored.isascii():
        return Cell(stored, "text")
    if letters is not None:
        return letters.cell(stored)
    if _HALF.search(stored):
        return unreadable(
            _HALF.sub(_escaped_surrogate, stored), sentences(Message("it has half a character."), _SAVE)
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
        Those in which as many cells agree with what is known as in any other; none if no cell agrees, or some agree in
        one encoding and others in another.
    """

    encodings: Sequence[str]
    _found: dict[str, Cell] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, records: Iterable[Sequence[str]], known: Known | None) -> Self:
        """Compare the cells of a file with what is known."""
        if known is None:
            return cls(())
        beyond = (one for cells in records for one in cells if not one.isascii())
        cells = list(islice(dict.fromkeys(beyond), _MOST_COMPARED))
        readings = {
            encoding: {
                one: _normalized_text(text)
                for one in cells
                if (text := _decoded_in(one, encoding)) is not None
            }
            for encoding in _ENCODINGS
        }
        there = set(known({skeleton(text) for read in readings.values() for text in read.values()}))
        agree = {
            encoding: {one for one, text in read.items() if text in there}
            for encoding, read in readings.items()
        }
        every = set().union(*agree.values())
        return cls([encoding for encoding, some in agree.items() if every and some == every])

    def cell(self, stored: str) -> Cell:
        """Return a cell, if all encodings read the same in it."""
        if (found := self._found.get(stored)) is None:
            found = self._found[stored] = self._cell(stored)
        return found

    def _cell(self, stored: str) -> Cell:
        options = [_decoded_in(stored, encoding) for encoding in self.encodings or _ENCODINGS]
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


def _decoded_in(stored: str, encoding: str) -> str | None:
    """Return what bytes are in an encoding; None if they are nothing."""
    try:
        text = stored.encode("latin-1").decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text


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

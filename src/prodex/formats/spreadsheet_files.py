"""Files that somebody filled in with a spreadsheet: workbooks and CSV, sheet by sheet, as text with its place.

Whatever program saved them: Excel, LibreOffice, Numbers, an export of another platform. What cannot be read is an error
that says how to save it instead.

Rows of workbooks are read by `prodex.formats.workbook_sheets`, those of CSV by `prodex.formats.csv_of_people`.
"""

from __future__ import annotations

import csv
import re
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

from prodex.encodings import Known
from prodex.errors import SpreadsheetUnreadable
from prodex.files.atomic import look_at
from prodex.files.untrusted import is_file, is_there
from prodex.formats.csv_of_people import Headings, NoText, csv_rows
from prodex.formats.safe_xml import MarkupRefused
from prodex.formats.workbook_archive import WorkbookArchive
from prodex.formats.workbook_cells import Cell, Range, Row, unreadable
from prodex.limits import FILE, LimitExceeded, Limits, Meter

#: The first bytes of archives, and of the files of older programs and of workbooks with a password.
_ZIP, _OLE, _PARQUET = b"PK", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PAR1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

#: Endings of mails: a file may be attached to one.
_MAILS = frozenset({".eml", ".msg"})

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
    has_kinds
        Whether its cells say what they are; those of CSV and frames are texts, as some program spelled them.
    """

    file: Path
    name: str
    _rows: Callable[[], Iterator[tuple[int, Row]]]
    _merged: Callable[[], list[Range]]
    is_hidden: bool = False
    _counter: _Counter = field(default_factory=lambda: _Counter(_MOST_ROWS), repr=False)
    _comments: Callable[[], Sequence[tuple[int, int, str]]] = list
    has_kinds: bool = True

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the number of each row that has a filled cell, from 1, and its cells by column, from 0.

        Raises
        ------
        SpreadsheetUnreadable
            When the file is damaged, or too large.
        """
        with _refusing(self.file):
            for number, row in self._counter.counted(self, self._rows()):
                for place, cell in row.items():
                    if len(cell.text) > _LONGEST_BLANK and (problem := _too_much(cell.text)):
                        row[place] = unreadable(f"{cell.text:.400}", problem)
                yield number, row

    def merged(self) -> list[Range]:
        """Return row and column of the first and the last cell of each merged range."""
        with _refusing(self.file):
            return self._merged()

    def comments(self) -> Sequence[tuple[int, int, str]]:
        """Return row, column and text of each comment at a cell."""
        with _refusing(self.file):
            return self._comments()


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
    _found: dict[int, tuple[int, int]] = field(default_factory=dict)

    def counted(self, sheet: Sheet, rows: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a sheet.

        Raises
        ------
        SpreadsheetUnreadable
            When the file has too many.
        """
        others = [found for key, found in self._found.items() if key != id(sheet)]
        rows_before, cells = sum(one for one, _ in others), sum(one for _, one in others)
        of_others = cells
        for count, (number, row) in enumerate(rows, 1):
            cells += len(row)
            if rows_before + count > self.most_rows:
                why = f"it has more than {self.most_rows:,} rows with filled cells"
                raise _refused(sheet.file, why, "Split it.")
            if cells > _MOST_CELLS:
                raise _refused(sheet.file, f"it has more than {_MOST_CELLS:,} filled cells", "Split it.")
            found = (count, cells - of_others)
            self._found[id(sheet)] = max(self._found.get(id(sheet), found), found)
            yield number, row


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
    if file.suffix.casefold() in _MAILS:
        raise _refused(file, "it is a mail", "Save the file that is attached to it, and read that.")
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
                *(file, name, partial(book.rows, part), partial(book.merged, part)),
                *(part in book.hidden, counter, partial(book.comments, part)),
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
    return Sheet(file, "", rows, list, _counter=counter, has_kinds=False)


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

"""Files that somebody filled in with a spreadsheet: workbooks and CSV, sheet by sheet, as text with its place.

Whatever program saved them: Excel, LibreOffice, Numbers, an export of another platform. What cannot be read is an error
that says how to save it instead.
"""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

from prodex.errors import SpreadsheetUnreadable
from prodex.files.untrusted import is_file, is_there
from prodex.formats.csv_sheets import Headings, Known, NoText, csv_rows
from prodex.formats.safe_xml import MarkupRefused
from prodex.formats.workbook_archive import WorkbookArchive
from prodex.formats.workbook_cells import Range, Row
from prodex.limits import FILE, LimitExceeded, Limits, Meter

#: The first bytes of archives, and of the files of older programs and of workbooks with a password.
_ZIP, _OLE = b"PK", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

#: Filled cells of a file: a worklist of 50,000 findings has a million.
_MOST_CELLS = 50_000_000
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

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield the number of each row that has a filled cell, from 1, and its cells by column, from 0.

        Raises
        ------
        SpreadsheetUnreadable
            When the file is damaged, or too large.
        """
        with _refusing(self.file):
            cells = 0
            for number, row in self._rows():
                cells += len(row)
                if cells > _MOST_CELLS:
                    raise _refused(self.file, f"it has more than {_MOST_CELLS:,} filled cells", "Split it.")
                yield number, row

    def merged(self) -> list[Range]:
        """Return row and column of the first and the last cell of each merged range."""
        with _refusing(self.file):
            return self._merged()


@contextmanager
def sheets_of(
    path: str | Path,
    *,
    limits: Limits | None = None,
    setting: str = "read_worklist",
    headings: Headings | None = None,
    known: Known | None = None,
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

    Raises
    ------
    SpreadsheetUnreadable
        When it is no workbook and no CSV file, has a password, is damaged or too large. The message says what to do.
    """
    file = Path(path)
    if not is_file(file):
        what = "is not a plain file" if is_there(file) else "is not there"
        raise SpreadsheetUnreadable(f"{file} {what}. Give the path of a workbook (.xlsx) or a CSV file.")
    meter = Meter(limits or Limits(), FILE, setting)
    with _refusing(file):
        with file.open("rb") as beginning:
            head = beginning.read(len(_OLE))
        meter.came(file.stat().st_size)
    if head == _OLE:
        raise _refused_ole(file)
    if not head.startswith(_ZIP):
        yield [_csv_sheet(file, meter, headings, known)]
        return
    # openpyxl takes a moment to import.
    from prodex.formats.workbook_sheets import opened

    with ExitStack() as stack:
        with _refusing(file):
            # In a file of its own: that of an archive stays open as long as a part is, such as of a sheet that was not
            # read to its end, and on Windows nobody could save it.
            archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(file.open("rb"))))
            parts = WorkbookArchive(archive, meter)
            _refuse_other_formats(file, parts)
            book = opened(parts)
        yield [
            Sheet(file, name, partial(book.rows, part), partial(book.merged, part), part in book.hidden)
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


def _csv_sheet(file: Path, meter: Meter, headings: Headings | None, known: Known | None) -> Sheet:
    with _refusing(file):
        if (size := file.stat().st_size) > _MOST_CSV:
            raise _refused(file, f"it has {size:,} bytes, and {_MOST_CSV:,} are read at most", "Split it.")
        try:
            rows = csv_rows(file.read_bytes(), meter, headings=headings, known=known)
        except NoText as error:
            raise _refused(file, str(error), _AS_XLSX) from error
    return Sheet(file, "", rows, list)


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

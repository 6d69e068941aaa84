"""Workbooks: text stays text, a table takes as many sheets as it needs, and a cell says where a text was cut."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from prodex.errors import QueryError
from prodex.formats.spreadsheet import spelled

#: The most characters of a cell (UTF-16 units), rows and columns of a sheet, as Excel documents its limits.
LONGEST = 32_767
MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384

#: Spreadsheets compute with doubles: a whole number from here on would lose its last digits, and stands as text.
_EXACT = 10**15
_ALL_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
#: Not characters, though Unicode numbers them: no XML holds them.
_IMPOSSIBLE = re.compile("[\ufffe\uffff]")
_WIDTH = 18
_WHOLE_SHEET = "A1:XFD1048576"


def write_xlsx(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, path: Path, *, most_rows: int = MOST_ROWS
) -> int:
    """Write one table as a workbook: text stays text and is never run, GTINs keep their zeros.

    Rows that do not fit on a sheet go to further sheets. A text that is too long for a cell is cut, and the cell says
    how much of it is there. Null is no cell, and an empty text is an empty cell.

    Parameters
    ----------
    most_rows
        Rows of a sheet, its heading included.

    Returns
    -------
    int
        How many texts were changed to fit.

    Raises
    ------
    QueryError
        When a sheet does not have so many columns.
    """
    if len(schema) > _MOST_COLUMNS:
        raise QueryError(
            f"{path.name} would have {len(schema):,} columns, and a sheet holds {_MOST_COLUMNS:,}. "
            "Choose another format, or other tables."
        )
    from prodex.formats.text_sheet import TextSheet

    altered = 0
    with workbook(path, constant_memory=True) as book:
        heading = book.add_format({"bold": True, "bottom": 1})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        sheet, line = None, 0
        for batch in chain([schema.empty_table()], batches):
            for row in chain([None], zip(*(column.to_pylist() for column in batch.columns), strict=True)):
                if sheet is None or (row is not None and line == most_rows):
                    sheet, line = book.add_worksheet(worksheet_class=TextSheet), 1
                    sheet.freeze_panes(1, 0)
                    sheet.set_column(0, len(schema) - 1, _WIDTH)
                    sheet.ignore_errors({"number_stored_as_text": _WHOLE_SHEET})
                    for place, name in enumerate(schema.names):
                        altered += _write_cell(sheet, 0, place, name, heading)
                for place, value in enumerate(row or ()):
                    altered += _write_cell(sheet, line, place, value, moment)
                line += row is not None
    return altered


@contextmanager
def workbook(path: Path, **options: Any) -> Iterator[Any]:
    """Give an XlsxWriter workbook in which text stays text; what the disk refuses is an `OSError`, as elsewhere.

    Further options are those of `xlsxwriter.Workbook`. What it cannot keep in memory stands beside `path` meanwhile.
    """
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    with path.open("w+b") as file:
        output = _Output(file)
        book = Workbook(output, {**_ALL_TEXT, "tmpdir": str(path.parent), **options})
        book.use_zip64()
        try:
            yield book
            book.close()
        except FileCreateError as error:
            refused = error.args[0] if isinstance(error.args[0], OSError) else OSError(str(error))
            _abandon(book, output, refused)
            raise refused from None
        except (
            BaseException
        ) as error:  # a keyboard interrupt comes at any moment, also while the archive is written
            _abandon(book, output, error)
            raise


class _Output:
    """The file of a workbook, until it is abandoned: what is written then is lost, at the positions that it had.

    ZipFile writes the end of the archive when it is garbage-collected, which may be long after the file was removed. An
    error in that moment reaches nobody, and would be printed with its traceback.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.write: Callable[[Any], int] = file.write
        self.seek: Callable[..., int] = file.seek
        self.tell: Callable[[], int] = file.tell
        self.flush: Callable[[], object] = file.flush
        self._at = 0

    def abandon(self) -> None:
        with suppress(OSError, ValueError):
            self._at = self.tell()
        self.write, self.seek, self.tell, self.flush = self._lose, self._go, lambda: self._at, lambda: None

    def _lose(self, data: Any) -> int:
        self._at += len(data)
        return len(data)

    def _go(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + (0 if whence == os.SEEK_SET else self._at)
        return self._at


def _abandon(book: Any, output: _Output, error: BaseException) -> None:
    """Close what a workbook that failed holds open, without another try to write."""
    for sheet in book.worksheets():
        if (rows := getattr(sheet, "row_data_fh", None)) is not None:
            with suppress(OSError):
                rows.close()
    output.abandon()
    traceback.clear_frames(error.__traceback__)


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


def _write_cell(sheet: Any, line: int, place: int, value: Any, style: Any) -> int:
    """Write a value; return 1 if it was changed to fit."""
    if value is None:
        return 0
    if isinstance(value, bool):
        sheet.write_boolean(line, place, value)
    elif isinstance(value, int | float) and abs(value) < _EXACT:  # false for NaN
        sheet.write_number(line, place, value)
    elif isinstance(value, datetime) and _fits_a_cell(value):
        sheet.write_datetime(line, place, value, style)
    else:
        whole = spelled(value)
        text = held_by_a_cell(whole)
        sheet.write_string(line, place, text, style if line == 0 else None)
        return int(text != whole)
    return 0


def _fits_a_cell(moment: datetime) -> bool:
    """Whether a workbook can hold a moment: it knows no zone, nothing before 1900, no millionth of a second."""
    return moment.tzinfo is None and moment.year >= 1900 and not moment.microsecond

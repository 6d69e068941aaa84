"""Workbooks: text stays text, a table takes as many sheets as it needs, and a cell says where a text was cut."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

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
        book = Workbook(file, {**_ALL_TEXT, "tmpdir": str(path.parent), **options})
        book.use_zip64()
        try:
            yield book
            book.close()
        except FileCreateError as error:
            refused = error.args[0] if isinstance(error.args[0], OSError) else OSError(str(error))
            _abandon(book, file, refused)
            raise refused from None
        except BaseException as error:  # of Ctrl-C as well
            _abandon(book, file, error)
            raise


def _abandon(book: Any, file: IO[bytes], error: BaseException) -> None:
    """Close what a workbook that failed holds open, without another try to write."""
    for sheet in book.worksheets():
        if (rows := getattr(sheet, "row_data_fh", None)) is not None:
            with suppress(OSError):
                rows.close()
    # What is written from now on goes to the null device.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    archives = [one for frame in frames for one in frame.f_locals.values() if isinstance(one, ZipFile)]
    traceback.clear_frames(error.__traceback__)
    # An interrupt comes while the archive is written as well. Its end would be written when it is collected as garbage,
    # which fails there, and Python would print that with its traceback. Without a file there is nothing to end.
    for archive in archives:
        archive.fp = None


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

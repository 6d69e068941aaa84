"""Workbooks of exports, written and read back: text stays text, on as many sheets as needed; what was cut says so.

An empty cell is an empty text here, and no cell is null, so sheets are read as `is_export`. Only what `write_xlsx`
writes is read: a workbook that another program saved has its texts in another place, and may have lost empty ones, so
it is refused. That is why parts are found by the names that `write_xlsx` gives them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.files.atomic import becoming
from prodex.formats.csv_files import spelled
from prodex.formats.workbook_archive import WorkbookArchive
from prodex.formats.workbook_cells import LONGEST, MOST_COLUMNS, MOST_ROWS, Row, cell_place, held_by_a_cell
from prodex.limits import FILE, Limits, Meter

#: Spreadsheets compute with doubles: a whole number from here on would lose its last digits, and is written as text.
_EXACT = 10**15
#: Not characters, though Unicode numbers them; as Arrow writes it.
_IMPOSSIBLE_RE2 = r"[\x{FFFE}\x{FFFF}]"
#: Cells that are written at once: with the longest texts in all of them they still fit into an Arrow array.
_AT_ONCE = 10_000
_WIDTH = 18
_FIRST_DAY = date(1900, 1, 1)
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
    if len(schema) > MOST_COLUMNS:
        raise QueryError(
            f"{becoming(path)} would have {len(schema):,} columns, and a sheet holds {MOST_COLUMNS:,}. "
            "Choose another format, or fewer columns."
        )
    from prodex.formats.workbook_writing import index, workbook

    at_once = max(1, _AT_ONCE // max(len(schema), 1))
    heading = [held_by_a_cell(name) for name in schema.names]
    altered_heading: int = sum(now != name for now, name in zip(heading, schema.names, strict=True))
    with workbook(path, constant_memory=True) as book:
        bold = book.add_format({"bold": True, "bottom": 1})
        sheet, line, altered = _add_sheet(book, heading, bold), 1, altered_heading
        moment = index(book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}))
        for batch in batches:
            start = 0
            while start < len(batch):
                if line == most_rows:
                    sheet, line, altered = _add_sheet(book, heading, bold), 1, altered + altered_heading
                some = batch.slice(start, min(at_once, most_rows - line))
                rows, changed = _spelled(some, line + 1, moment, sheet._convert_date_time)
                start, line, altered = start + len(some), line + len(some), altered + changed
                sheet.append(rows, line, len(schema))
    return altered


def _add_sheet(book: Any, heading: Sequence[str], style: Any) -> Any:
    """Add a sheet with its heading."""
    from prodex.formats.workbook_writing import TextSheet, spelled_row

    sheet = book.add_worksheet(worksheet_class=TextSheet)
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(heading) - 1, _WIDTH)
    sheet.ignore_errors({"number_stored_as_text": _WHOLE_SHEET})
    sheet.append([spelled_row(1, [(name, style) for name in heading])], 1, len(heading))
    return sheet


def _spelled(
    rows: pa.RecordBatch, first: int, moment: str, serial: Callable[[datetime], float]
) -> tuple[list[str], int]:
    """Return rows as XML, the first of which has this number, and how many texts were changed to fit."""
    from prodex.formats.workbook_writing import letters_of, spelled_cell, spelled_column, spelled_rows

    number = pa.array(np.arange(first, first + len(rows))).cast(pa.string())
    columns, altered = [], 0
    for place, column in enumerate(rows.columns):
        letter = letters_of(place)
        values = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        if pa.types.is_string(values.type):
            texts, changed = _cells_of_texts(values)
            columns.append(spelled_column(letter, number, texts))
            altered += changed
            continue
        cells = []
        for line, value in enumerate(values.to_pylist(), first):
            held, is_moment, is_changed = _as_cell(value, serial)
            cells.append(
                "" if held is None else spelled_cell(f"{letter}{line}", held, moment if is_moment else None)
            )
            altered += is_changed
        columns.append(pa.array(cells, pa.string()))
    return spelled_rows(number, columns), altered


def _cells_of_texts(texts: pa.Array) -> tuple[pa.Array, int]:
    """Return what cells hold of a column of texts, and how many of them that changes."""
    from prodex.formats.workbook_writing import places, replaced

    # A character takes up to two units.
    doubtful = pc.or_(
        pc.match_substring_regex(texts, _IMPOSSIBLE_RE2), pc.greater(pc.utf8_length(texts), LONGEST // 2)
    )
    held = {place: (texts[place].as_py(), held_by_a_cell(texts[place].as_py())) for place in places(doubtful)}
    changed = {place: now for place, (before, now) in held.items() if now != before}
    return replaced(texts, changed), len(changed)


def _as_cell(value: Any, serial: Callable[[datetime], float]) -> tuple[str | float | None, bool, bool]:
    """Return what a cell holds of a value that is no text, whether that is a moment, and whether it was changed."""
    if value is None or isinstance(value, bool) or (isinstance(value, int | float) and abs(value) < _EXACT):
        return value, False, False  # NaN is not less than anything
    if isinstance(value, datetime) and _fits_a_cell(value):
        # On the first day of all, xlsxwriter takes a moment for a time without a day, and other programs its cell.
        return serial(value) + (value.date() == _FIRST_DAY), True, False
    whole = spelled(value)
    held = held_by_a_cell(whole)
    return held, False, held != whole


def _fits_a_cell(moment: datetime) -> bool:
    """Whether a workbook can hold a moment: it knows no zone, nothing before 1900, no millionth of a second."""
    return moment.tzinfo is None and moment.year >= 1900 and not moment.microsecond


_SHEET = re.compile(r"xl/worksheets/sheet([1-9][0-9]{0,5})\.xml")


#: Kinds of cells that `write_xlsx` writes into a column that is no text.
_VALUES = frozenset({"number", "boolean", "date"})


def read_xlsx(
    path: Path, schema: pa.Schema, *, escape_formulas: bool = False, limits: Limits | None = None
) -> pa.Table:
    """Read what `write_xlsx` wrote.

    Parameters
    ----------
    path
        The file.
    schema
        The columns it should have.
    escape_formulas
        Not used: text in a workbook is never run, so that none is escaped.
    limits
        What the file may take, unpacked.

    Raises
    ------
    ValueError
        When the file is no such workbook, or a value is not of its column's type.
    LimitExceeded
        At the limits.
    OSError
        When it cannot be read.
    """
    del escape_formulas
    tables = [schema.empty_table()]
    waiting: list[Row] = []
    try:
        with closing(_sheet_rows(path, schema.names, limits)) as rows:
            for row in rows:
                waiting.append(row)
                if len(waiting) == _AT_ONCE:
                    tables.append(_table_of_rows(waiting, schema))
                    waiting = []
    except (
        *(zipfile.BadZipFile, expat.ExpatError, ParseError, EOFError, NotImplementedError, RuntimeError),
    ) as error:
        raise ValueError(f"it is not a workbook that can be read ({error})") from error
    return pa.concat_tables([*tables, _table_of_rows(waiting, schema)])


def _sheet_rows(path: Path, names: Sequence[str], limits: Limits | None) -> Generator[Row, None, None]:
    """Yield the rows of all sheets, without their headings."""
    from prodex.formats.workbook_sheets import exported

    heading = [held_by_a_cell(name) for name in names]
    meter = Meter(limits or Limits(), FILE, "read_export")
    meter.count_received(path.stat().st_size)
    # The archive alone would keep its file open as long as a part of it is.
    with path.open("rb") as content, zipfile.ZipFile(content) as file:
        sheets = sorted(
            (int(found[1]), found[0]) for name in file.namelist() if (found := _SHEET.fullmatch(name))
        )
        if not sheets:
            raise ValueError("it has no sheets")
        book = exported(WorkbookArchive(file, meter))
        for _, sheet in sheets:
            rows = book.rows(sheet)
            _, first = next(rows, (0, {}))
            if [first[place].text if place in first else "" for place in range(len(heading))] != heading:
                raise ValueError("its columns are not those of the table")
            for number, row in rows:
                _check_cells(number, row, len(heading))
                yield row


def _check_cells(number: int, row: Row, width: int) -> None:
    for column, cell in row.items():
        if column >= width:
            raise ValueError(f"it has more than {width:,} columns")
        if cell.kind != "text" and cell.kind not in _VALUES:
            raise ValueError(
                f"its cell {cell_place(number, column)} was changed ({cell.problem or cell.kind})"
            )


def _table_of_rows(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    columns = []
    for place, field in enumerate(schema):
        cells = [row.get(place) for row in rows]
        if pa.types.is_string(field.type) and any(cell is not None and cell.kind != "text" for cell in cells):
            raise ValueError(f"its column {field.name!r:.60} has a number where text should be")
        texts = pa.array([None if cell is None else cell.text for cell in cells], pa.string())
        columns.append(pc.cast(texts, field.type))
    return pa.table(columns, schema=schema)

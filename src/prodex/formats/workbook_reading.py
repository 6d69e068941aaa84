"""Workbooks of prodex, read back: null and empty texts apart, numbers to their last digit, text as it was.

openpyxl returns the same for an empty cell of a workbook and for no cell, so sheets are read as `is_export`. Only what
`write_xlsx` writes is read here: a workbook that another program saved has its texts in another place, and may have
lost empty ones, so it is refused. That is why parts are found by the names that `write_xlsx` gives them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from xml.etree.ElementTree import ParseError
from xml.parsers import expat

import pyarrow as pa
import pyarrow.compute as pc

from prodex.formats.workbook_cells import Row, place_of
from prodex.formats.workbook_sheets import WorkbookArchive
from prodex.formats.workbooks import held_by_a_cell
from prodex.limits import FILE, Limits, Meter

_SHEET = re.compile(r"xl/worksheets/sheet([1-9][0-9]{0,5})\.xml")

#: Rows that are made into columns at a time.
_AT_ONCE = 10_000

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
        with closing(_rows(path, schema.names, limits)) as rows:
            for row in rows:
                waiting.append(row)
                if len(waiting) == _AT_ONCE:
                    tables.append(_table(waiting, schema))
                    waiting = []
    except (
        *(zipfile.BadZipFile, expat.ExpatError, ParseError, EOFError, NotImplementedError, RuntimeError),
    ) as error:
        raise ValueError(f"it is not a workbook that can be read ({error})") from error
    return pa.concat_tables([*tables, _table(waiting, schema)])


def _rows(path: Path, names: Sequence[str], limits: Limits | None) -> Generator[Row, None, None]:
    """Yield the rows of all sheets, without their headings."""
    from prodex.formats.workbook_sheets import exported

    heading = [held_by_a_cell(name) for name in names]
    meter = Meter(limits or Limits(), FILE, "read_export")
    meter.came(path.stat().st_size)
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
                _check(number, row, len(heading))
                yield row


def _check(number: int, row: Row, width: int) -> None:
    for column, cell in row.items():
        if column >= width:
            raise ValueError(f"it has more than {width:,} columns")
        if cell.kind != "text" and cell.kind not in _VALUES:
            raise ValueError(f"its cell {place_of(number, column)} was changed ({cell.problem or cell.kind})")


def _table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    columns = []
    for place, field in enumerate(schema):
        cells = [row.get(place) for row in rows]
        if pa.types.is_string(field.type) and any(cell is not None and cell.kind != "text" for cell in cells):
            raise ValueError(f"its column {field.name!r:.60} has a number where text should be")
        texts = pa.array([None if cell is None else cell.text for cell in cells], pa.string())
        columns.append(pc.cast(texts, field.type))
    return pa.table(columns, schema=schema)

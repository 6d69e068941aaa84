"""Workbooks: the sheets of a worklist as one XLSX file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from xlsxwriter import Workbook
from xlsxwriter.utility import xl_col_to_name

from prodex.formats import workbook
from prodex.quality.worklists.cells import MOST_ROWS, cells
from prodex.quality.worklists.fields import Codes, is_correctable
from prodex.quality.worklists.front import write_codes, write_keys, write_read_me, write_summary
from prodex.quality.worklists.grid import HIGHEST, LINE, Rows, Styles, spelled_column, spelled_row
from prodex.quality.worklists.sheets import TO_FIX, Facts, Worklist, shown
from prodex.quality.worklists.validation import validate

#: Version of what readers go by: the hidden sheet, and the columns that it lists.
FORMAT = 1

#: Workbooks of fewer rows are made in memory, larger ones by way of temporary files.
_SMALL = 20_000
#: Rows spelled in one go: with the longest texts in all cells they still fit into an Arrow array.
_AT_ONCE = 500


@dataclass(frozen=True)
class Told:
    """What a workbook could not show as it is.

    Attributes
    ----------
    escaped
        Characters that no workbook can hold; they stand there as escapes.
    cut
        Texts of which only the beginning stands there.
    """

    escaped: int
    cut: int

    @property
    def words(self) -> list[str]:
        told = []
        if self.escaped:
            told.append(
                f"{self.escaped:,} control characters, which no workbook can hold, are shown as escapes such as \\x0b; "
                "the Parquet and CSV files have them as they are."
            )
        if self.cut:
            told.append(
                f"{self.cut:,} texts are longer than a cell can be (32,767 characters): their cells say how much is "
                "shown; the Parquet and CSV files have all of it."
            )
        return told


def write_workbook(
    worklist: Worklist,
    facts: Facts,
    codes: Codes,
    keys: Mapping[str, Any],
    path: Path,
    most_rows: int = MOST_ROWS,
) -> Told:
    """Write one worklist.

    Parameters
    ----------
    worklist
        What stands in it.
    facts
        What all worklists have in common.
    codes
        Known codes with their labels, by attribute.
    keys
        What the hidden sheet says to programs.
    path
        Where to.
    most_rows
        Rows that a sheet holds; what is more goes to further sheets.

    Returns
    -------
    Told
        What could not be shown as it is; "Read me" says it too.
    """
    columns = shown(worklist.rows)
    held = {name: cells(values) for name, values in columns.items()}
    told = Told(sum(one.escaped for one in held.values()), sum(one.cut for one in held.values()))
    with workbook(path, in_memory=len(worklist.rows) < _SMALL) as book:
        styles = Styles(book)
        write_read_me(book, styles, worklist, facts, told.words)
        write_summary(book, styles, worklist)
        mine = {
            name: codes[name] for name in _unique(columns["attribute"]) if name is not None and name in codes
        }
        per_sheet = most_rows - 1
        names = []
        for number, start in enumerate(range(0, max(len(worklist.rows), 1), per_sheet), 1):
            names.append("To fix" if number == 1 else f"To fix {number}")
            some = {name: one.texts.slice(start, per_sheet) for name, one in held.items()}
            _write_to_fix(book, styles, names[-1], some, mine)
        if mine:
            write_codes(book, styles, mine)
        write_keys(
            book,
            styles,
            {"format": FORMAT, **keys, "sheets": names, "columns": [column.name for column in TO_FIX]},
        )
    return told


def _write_to_fix(
    book: Workbook, styles: Styles, name: str, columns: Mapping[str, pa.Array], codes: Codes
) -> None:
    sheet = book.add_worksheet(name, worksheet_class=Rows)
    for place, column in enumerate(TO_FIX):
        style = {"new_value": styles.open}.get(column.name, styles.text)
        sheet.set_column(place, place, column.width, style, {"hidden": True} if column.is_hidden else {})
    sheet.freeze_panes(1, 3)
    rows = len(columns["row"])
    sheet.autofilter(0, 0, rows, len(TO_FIX) - 1)
    sheet.protect("", {"autofilter": True, "format_columns": True, "format_rows": True})
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    sheet.set_footer(f"&L{name}&RPage &P of &N")
    can = {one: is_correctable(one) for one in _unique(columns["attribute"])}
    validate(sheet, columns, can, codes)
    sheet.fill(_to_fix(styles, columns, can), rows + 1, len(TO_FIX), styles.text)


def _to_fix(styles: Styles, columns: Mapping[str, pa.Array], can: Mapping[str | None, bool]) -> Iterator[str]:
    yield spelled_row(1, [(column.heading, styles.heading) for column in TO_FIX], 30)
    text, closed, opened = (styles.index(one) for one in (styles.text, styles.closed, styles.open))
    severities = {name: styles.index(style) for name, style in styles.severity.items()}
    heights = _heights(columns)
    for start in range(0, len(columns["row"]), _AT_ONCE):
        some = {name: values.slice(start, _AT_ONCE) for name, values in columns.items()}
        number = pa.array(np.arange(start + 2, start + 2 + len(some["row"]))).cast(pa.string())
        style = {
            "severity": pa.array([severities[one] for one in some["severity"].to_pylist()], pa.string()),
            "new_value": pa.array([opened if can[one] else closed for one in some["attribute"].to_pylist()]),
        }
        written = [
            spelled_column(
                xl_col_to_name(place), number, some[column.name], style.get(column.name, pa.scalar(text))
            )
            for place, column in enumerate(TO_FIX)
        ]
        height = pa.array(heights[start : start + _AT_ONCE]).cast(pa.string())
        rows = pc.binary_join_element_wise(
            '<row r="', number, '" ht="', height, '" customHeight="1">', *written, "</row>", ""
        )
        yield from rows.to_pylist()


def _heights(columns: Mapping[str, pa.Array]) -> npt.NDArray[np.int64]:
    """Say how high each row has to be to show what it holds, within reason."""
    lines = np.ones(len(columns["row"]), np.int64)
    for column in TO_FIX:
        if not column.is_hidden:
            length = pc.fill_null(pc.utf8_length(columns[column.name]), 0).to_numpy(zero_copy_only=False)
            breaks = pc.fill_null(pc.count_substring(columns[column.name], "\n"), 0).to_numpy(
                zero_copy_only=False
            )
            lines = np.maximum(lines, -(-length // column.width) + breaks)
    return np.minimum(lines, HIGHEST) * LINE


def _unique(values: pa.Array) -> list[str | None]:
    found: list[str | None] = pc.unique(values).to_pylist()
    return found

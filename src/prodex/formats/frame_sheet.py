"""A frame as a sheet: the column names are its headings, and each value is a cell of text, as CSV would have it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from prodex.formats.spreadsheet_files import Sheet
from prodex.formats.workbook_cells import Cell, Row, unreadable
from prodex.languages import Message


def sheet_of_frame(frame: pd.DataFrame, file: Path) -> Sheet:
    """Return the sheet of a frame; `file` and "rows" are how messages name it, and row 1 has the headings.

    >>> rows = pd.DataFrame({"gtin": ["03036811359935", None], "new_value": [12.0, 0.5]})
    >>> [[cell.text for cell in row.values()] for _, row in sheet_of_frame(rows, Path("frame")).rows()]
    [['gtin', 'new_value'], ['03036811359935', '12'], ['0.5']]
    """
    return Sheet(file, "rows", partial(_rows, frame), list, has_kinds=False)


def _rows(frame: pd.DataFrame) -> Iterator[tuple[int, Row]]:
    yield 1, _cells(frame.columns)
    for number, values in enumerate(frame.itertuples(index=False, name=None), 2):
        if row := _cells(values):
            yield number, row


def _cells(values: Any) -> Row:
    return {
        place: _cell(value)
        for place, value in enumerate(values)
        if not pd.api.types.is_scalar(value) or not pd.isna(value)
    }


def _cell(value: Any) -> Cell:
    # What Python calls a list or bytes, `['Riz']` and `b'Riz'`, nobody has written.
    if isinstance(value, bytes) or not pd.api.types.is_scalar(value):
        return unreadable(str(value), Message("it is neither a text nor a number"))
    return Cell(_text(value), "text")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    # A column of whole numbers in which some are missing is one of floats.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

"""Reading workbooks as somebody else's program does: values with calamine, the rest straight from the XML."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
from python_calamine import CalamineWorkbook


def sheets(path: Path) -> dict[str, list[list[Any]]]:
    """Return the cells of each sheet, row by row."""
    book = CalamineWorkbook.from_path(path)
    return {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in book.sheet_names}


def to_fix(path: Path) -> list[dict[str, str]]:
    """Return the failures of a workbook, by the names that its hidden sheet gives to the columns."""
    every = sheets(path)
    told = keys(path)
    rows = [
        dict(zip(told["columns"], row, strict=True)) for name in told["sheets"] for row in every[name][1:]
    ]
    return [{**_asked(row["row_key"]), **row} for row in rows]


#: What the key of a row says first.
_KEY = (
    "product_id",
    "check",
    "attribute",
    "language",
    "language_code",
    "position",
    "updated_at",
    "same_answer",
)


def _asked(key: str) -> dict[str, str]:
    """Return what the key of a row says; of one that no cell could hold, nothing."""
    try:
        return {name: value or "" for name, value in zip(_KEY, json.loads(key), strict=False)}
    except ValueError:
        return {}


def questions(path: Path) -> pd.DataFrame:
    """Return the rows of a workbook as a frame, with their numbers; an empty cell is missing."""
    rows = pd.DataFrame(to_fix(path))
    return rows.where(rows != "", None).assign(row=range(1, len(rows) + 1))


def keys(path: Path) -> dict[str, Any]:
    """Return the contents of the hidden sheet."""
    return {name: json.loads(value) for name, value in sheets(path)["prodex"]}


def xml(path: Path, sheet: str) -> str:
    """Return the XML of a sheet."""
    with zipfile.ZipFile(path) as archive:
        listed = re.findall(r'<sheet name="([^"]*)"', archive.read("xl/workbook.xml").decode())
        return archive.read(f"xl/worksheets/sheet{listed.index(sheet) + 1}.xml").decode()


def validations(path: Path, sheet: str = "To fix") -> list[dict[str, str]]:
    """Return the data validations of cells: their attributes, and the formula under `formula`."""
    found = re.findall(
        r"<dataValidation (.*?)>(?:<formula1>(.*?)</formula1>)?</dataValidation>", xml(path, sheet)
    )
    return [{**dict(re.findall(r'(\w+)="(.*?)"', told)), "formula": formula} for told, formula in found]

"""Workbooks written by hand, or by other programs and then changed inside their archive."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from openpyxl import Workbook

from prodex.formats.spreadsheet_files import sheets_of
from prodex.formats.workbook_cells import Cell, cell_place

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = "xl/worksheets/sheet1.xml"

#: The parts of an archive by their names.
Parts = dict[str, bytes]


def parts_of(content: bytes) -> Parts:
    """Return the parts of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path: Path, parts: Mapping[str, bytes]) -> Path:
    """Write an archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def rewritten(path: Path, change: Callable[[Parts], Parts]) -> Path:
    """Change the parts of a workbook in place."""
    return packed(path, change(parts_of(path.read_bytes())))


def book_of(
    path: Path, rows: str, *, shared: str = "", styles: str = "", after: str = "", before: str = ""
) -> Path:
    """Write a workbook whose sheet has these rows, as XML; the rest is as openpyxl writes it.

    Parameters
    ----------
    shared
        The items of the shared texts.
    styles
        What is inside of `styleSheet`; else there are no formats.
    before, after
        What stands before and after the rows.
    """
    made = Workbook()
    made.active.title = "To fix"
    # One text, so that there are shared texts.
    made.active["A1"] = "x"
    content = io.BytesIO()
    made.save(content)

    def change(parts: Parts) -> Parts:
        sheet = f'<worksheet xmlns="{MAIN}">{before}<sheetData>{rows}</sheetData>{after}</worksheet>'
        texts = f'<sst xmlns="{MAIN}">{shared}</sst>'
        looks = f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>'
        replaced = {SHEET: sheet, "xl/sharedStrings.xml": texts}
        return (
            parts
            | {name: text.encode() for name, text in replaced.items()}
            | ({"xl/styles.xml": looks.encode()} if styles else {})
        )

    return packed(path, change(parts_of(content.getvalue())))


def cells(path: Path) -> dict[str, Cell]:
    """Return the cells of the first sheet by their places."""
    with sheets_of(path) as sheets:
        return {
            cell_place(number, column): cell
            for number, row in sheets[0].rows()
            for column, cell in row.items()
        }


def text(value: str, place: str = "") -> str:
    """Return the XML of a cell with a text."""
    where = f' r="{place}"' if place else ""
    return f'<c{where} t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'

"""The grid of a sheet: how it looks, and its rows as XML.

XlsxWriter makes everything but the rows. They are spelled here, column by column where there are many, which is many
times faster and takes every text as text: nothing in it becomes a formula, a link, a number or markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from xlsxwriter import Workbook
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from prodex.quality.worklists.cells import all_spelled, cell, spelled

#: Cells of a row, each a text or a number with its format; and the height of the row.
Line: TypeAlias = tuple[Sequence[tuple[Any, Any]], int]

#: Height of a line, and the most lines of a row.
LINE = 15
HIGHEST = 8

#: The format of text among those that spreadsheets have built in; what is typed stays as it was typed.
_AS_TEXT = 49

_COLORS = {"blocker": "#F8D7DA", "error": "#FCE5CD", "warning": "#FFF8DC", "info": "#E7F1FA"}
_TEXT = {
    "num_format": _AS_TEXT,
    "valign": "top",
    "text_wrap": True,
    "font_size": 10,
    "border": 1,
    "border_color": "#D9D9D9",
}
_HEADING = {
    "bold": True,
    "font_color": "#FFFFFF",
    "bg_color": "#2F4858",
    "valign": "vcenter",
    "text_wrap": True,
}


class Rows(Worksheet):  # type: ignore[misc]  # XlsxWriter publishes no types
    """A sheet whose rows come as XML when the file is written."""

    def __init__(self) -> None:
        super().__init__()
        self._content: Iterator[str] = iter(())

    def fill(self, content: Iterator[str], rows: int, columns: int, style: Any) -> None:
        """Take the rows, and tell readers how far they go: some read no further than a sheet says."""
        self._content = content
        self.write_blank(0, 0, None, style)
        self.write_blank(max(rows, 1) - 1, columns - 1, None, style)

    def fill_lines(self, lines: Sequence[Line], style: Any) -> None:
        """Do the same for a sheet that is small enough to be spelled line by line."""
        content = [spelled_row(number, *line) for number, line in enumerate(lines, 1)]
        self.fill(iter(content), len(lines), max((len(cells) for cells, _ in lines), default=1) or 1, style)

    def _write_sheet_data(self) -> None:
        self.fh.write("<sheetData>")
        self.fh.writelines(self._content)
        self.fh.write("</sheetData>")


class Styles:
    """The formats of a workbook; `index` is how cells name them."""

    def __init__(self, book: Workbook) -> None:
        self.text = book.add_format(_TEXT)
        self.plain = book.add_format({**_TEXT, "text_wrap": False})
        self.line = book.add_format({**_TEXT, "border": 0})
        self.unwrapped = book.add_format({**_TEXT, "border": 0, "text_wrap": False})
        self.number = book.add_format({**_TEXT, "num_format": "#,##0", "align": "center"})
        self.heading = book.add_format(_HEADING)
        self.title = book.add_format({"bold": True, "font_size": 14, "font_color": "#2F4858"})
        self.open = book.add_format(
            {**_TEXT, "locked": False, "bg_color": "#FFFFF0", "border_color": "#909090"}
        )
        self.closed = book.add_format({**_TEXT, "bg_color": "#D9D9D9"})
        self.severity = {
            name: book.add_format({**_TEXT, "bg_color": color}) for name, color in _COLORS.items()
        }

    @staticmethod
    def index(style: Any) -> str:
        return str(style._get_xf_index())


def spelled_row(number: int, filled: Sequence[tuple[Any, Any]], height: int) -> str:
    """Spell one row of texts and numbers, each with its format."""
    written = []
    for place, (value, style) in enumerate(filled):
        at = f'<c r="{xl_col_to_name(place)}{number}" s="{Styles.index(style)}"'
        if isinstance(value, int):
            written.append(f"{at}><v>{value}</v></c>")
            continue
        text, *_ = cell(value)
        written.append(f'{at} t="inlineStr"><is><t xml:space="preserve">{spelled(text)}</t></is></c>')
    return f'<row r="{number}" ht="{height}" customHeight="1">{"".join(written)}</row>'


def spelled_column(letter: str, number: pa.Array, texts: pa.Array, style: Any) -> pa.Array:
    """Return the cells of a column; where there is no text only what differs from the column's own look."""
    filled = pc.binary_join_element_wise(
        f'<c r="{letter}', number, '" s="', style, '" t="inlineStr"><is><t xml:space="preserve">', all_spelled(texts),
        "</t></is></c>", "",
    )  # fmt: skip
    if texts.null_count == 0:
        return filled
    blank = pa.scalar("")
    if isinstance(style, pa.Array):
        blank = pc.binary_join_element_wise(f'<c r="{letter}', number, '" s="', style, '"/>', "")
    return pc.if_else(texts.is_valid(), filled, blank)

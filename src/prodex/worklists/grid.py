"""The grid of a sheet: how it looks, and its rows as XML.

XlsxWriter makes everything but the rows. They are spelled here, column by column where there are many, which is many
times faster and takes every text as text: nothing in it becomes a formula, a link, a number or markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from xlsxwriter import Workbook
from xlsxwriter.utility import xl_col_to_name

from prodex.colours import SEVERITY_GROUNDS
from prodex.formats.spreadsheet import without_codes
from prodex.formats.text_sheet import Worksheet
from prodex.formats.workbooks import LONGEST, MOST_ROWS, beginning

__all__ = ["LONGEST", "MOST_ROWS", "WorkbookCells", "all_spelled", "cell", "cells", "spelled"]

_ELSEWHERE = "; all in the Parquet and CSV"
# XML cannot hold these; a carriage return it holds, and gives back as a line feed.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
# The same for Arrow, whose regular expressions (RE2) write code points in braces.
_IMPOSSIBLE_RE2 = r"[\x00-\x08\x0B-\x1F\x{FFFE}\x{FFFF}]"
_CODED_RE2 = "_x[0-9a-fA-F]{4}_"
# Ampersands first: what replaces the others contains one.
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


@dataclass(frozen=True)
class WorkbookCells:
    """Texts as cells show them.

    Attributes
    ----------
    texts
        The texts.
    escaped
        Number of characters that are shown as an escape such as \\x0b, since no workbook can hold them.
    cut
        Number of texts that were too long; what is shown ends with "n of N characters".
    """

    texts: pa.Array
    escaped: int
    cut: int


def cell(text: str) -> tuple[str, int, bool]:
    """Return a text as a cell can hold it, the number of its escapes, and whether it is cut.

    >>> cell("a\\x0bb")
    ('a\\\\x0bb', 1, False)
    """
    text, escaped = _IMPOSSIBLE.subn(_escape, text)
    # Spreadsheets count in units of UTF-16, of which some characters take two.
    if len(text.encode("utf-16-le")) // 2 <= LONGEST:
        return text, escaped, False
    return beginning(text, _ELSEWHERE), escaped, True


def spelled(text: str) -> str:
    """Return a text as it is written in the XML of a workbook.

    >>> spelled("<b>_x0041_</b>")
    '&lt;b&gt;_x005F_x0041_&lt;/b&gt;'
    """
    text = without_codes(text)
    for character, entity in _ENTITIES:
        text = text.replace(character, entity)
    return text


def cells(texts: pa.Array) -> WorkbookCells:
    """Return a column of texts as cells can hold them; null stays null."""
    # An escape is up to six characters for one, and a character up to two units.
    doubtful = pc.or_(
        pc.match_substring_regex(texts, _IMPOSSIBLE_RE2), pc.greater(pc.utf8_length(texts), LONGEST // 12)
    )
    changed, escaped, cut = {}, 0, 0
    for place in _where(doubtful):
        changed[place], escapes, is_cut = cell(texts[place].as_py())
        escaped += escapes
        cut += is_cut
    return WorkbookCells(_replaced(texts, changed), escaped, cut)


def all_spelled(texts: pa.Array) -> pa.Array:
    """Return a column of texts as they are written in the XML of a workbook; null stays null."""
    coded = _where(pc.match_substring_regex(texts, _CODED_RE2))
    texts = _replaced(texts, {place: without_codes(texts[place].as_py()) for place in coded})
    for character, entity in _ENTITIES:
        texts = pc.replace_substring(texts, character, entity)
    return texts


def _where(mask: pa.Array) -> list[int]:
    found: list[int] = np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False)).tolist()
    return found


def _replaced(texts: pa.Array, changed: dict[int, str]) -> pa.Array:
    if not changed:
        return texts
    mask = np.zeros(len(texts), bool)
    mask[list(changed)] = True
    return pc.replace_with_mask(
        texts, pa.array(mask), pa.array([changed[place] for place in sorted(changed)], pa.string())
    )


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


#: Cells of a row, each a text or a number with its format; and the height of the row.
Line: TypeAlias = tuple[Sequence[tuple[Any, Any]], int]

#: Height of a line, and the most lines of a row.
LINE = 15
HIGHEST = 8

#: The format of text among those that spreadsheets have built in; what is typed stays as it was typed.
_AS_TEXT = 49

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


class Rows(Worksheet):
    """A sheet whose rows come as XML when the file is written."""

    def __init__(self) -> None:
        super().__init__()
        self._content: Iterator[str] = iter(())

    def fill(self, content: Iterator[str], rows: int, columns: int, style: Any) -> None:
        """Set the rows, and mark the corners of their range: some programs read no further than a sheet declares."""
        self._content = content
        self.write_blank(0, 0, None, style)
        self.write_blank(max(rows, 1) - 1, columns - 1, None, style)

    def fill_lines(self, lines: Sequence[Line], style: Any) -> None:
        """Set the rows of a sheet that is small enough to be written line by line."""
        content = [spelled_row(number, *line) for number, line in enumerate(lines, 1)]
        self.fill(iter(content), len(lines), max((len(cells) for cells, _ in lines), default=1) or 1, style)

    def _write_sheet_data(self) -> None:
        self.fh.write("<sheetData>")
        self.fh.writelines(self._content)
        self.fh.write("</sheetData>")


class Styles:
    """The formats of a workbook; `index` is how cells name them."""

    def __init__(self, book: Workbook) -> None:
        self.text: Any = book.add_format(_TEXT)
        self.plain: Any = book.add_format({**_TEXT, "text_wrap": False})
        self.line: Any = book.add_format({**_TEXT, "border": 0})
        self.unwrapped: Any = book.add_format({**_TEXT, "border": 0, "text_wrap": False})
        self.number: Any = book.add_format({**_TEXT, "num_format": "#,##0", "align": "center"})
        self.heading: Any = book.add_format(_HEADING)
        self.title: Any = book.add_format({"bold": True, "font_size": 14, "font_color": "#2F4858"})
        self.open: Any = book.add_format(
            {**_TEXT, "locked": False, "bg_color": "#FFFFF0", "border_color": "#909090"}
        )
        self.closed: Any = book.add_format({**_TEXT, "bg_color": "#D9D9D9"})
        self.severity: dict[str, Any] = {
            name: book.add_format({**_TEXT, "bg_color": ground}) for name, ground in SEVERITY_GROUNDS.items()
        }

    @staticmethod
    def index(style: Any) -> str:
        return str(style._get_xf_index())


def spelled_row(number: int, filled: Sequence[tuple[Any, Any]], height: int) -> str:
    """Return the XML of a row of texts and numbers, each with its format."""
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
    """Return the XML of the cells of a column; a cell without text has none, unless its format is its own."""
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

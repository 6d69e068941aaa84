"""The grid of a sheet: how it looks, and what its cells show of texts that no cell can hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from xlsxwriter import Workbook

from prodex.colour_scale import SEVERITY_GROUNDS
from prodex.formats.workbook_cells import LONGEST, beginning
from prodex.formats.workbook_writing import Line, TextSheet, places, replaced

# XML cannot hold these; a carriage return it holds, and gives back as a line feed.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
# The same for Arrow, whose regular expressions (RE2) write code points in braces.
_IMPOSSIBLE_RE2 = r"[\x00-\x08\x0B-\x1F\x{FFFE}\x{FFFF}]"


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


def fit_text(text: str) -> tuple[str, int, bool]:
    """Return a text as a cell can hold it, the number of its escapes, and whether it is cut.

    >>> fit_text("a\\x0bb")
    ('a\\\\x0bb', 1, False)
    """
    text, escaped = _IMPOSSIBLE.subn(_escape, text)
    # Spreadsheets count in units of UTF-16, of which some characters take two.
    if len(text.encode("utf-16-le")) // 2 <= LONGEST:
        return text, escaped, False
    return beginning(text), escaped, True


def fit_texts(texts: pa.Array) -> WorkbookCells:
    """Return a column of texts as cells can hold them; null stays null."""
    # An escape is up to six characters for one, and a character up to two units.
    doubtful = pc.or_(
        pc.match_substring_regex(texts, _IMPOSSIBLE_RE2), pc.greater(pc.utf8_length(texts), LONGEST // 12)
    )
    changed, escaped, cut = {}, 0, 0
    for place in places(doubtful):
        changed[place], escapes, is_cut = fit_text(texts[place].as_py())
        escaped += escapes
        cut += is_cut
    return WorkbookCells(replaced(texts, changed), escaped, cut)


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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


def fill_lines(sheet: TextSheet, lines: Sequence[Line]) -> None:
    """Set the rows of a small sheet; of a text that no cell can hold, what is shown of it."""
    sheet.fill_lines(lines, lambda text: fit_text(text)[0])


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

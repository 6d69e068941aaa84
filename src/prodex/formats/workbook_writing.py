"""Writing workbooks with XlsxWriter, all but the rows: these are spelled here as XML, in which every text is text.

Nothing in a text becomes a formula, a link, a number, markup or the code of a character, of which XlsxWriter marks only
the first of two that overlap (`_x0041_x0042_`). Rows of a table are spelled column by column, in a third of the time
that `Worksheet.write_string` takes. The module is imported only when a workbook is written, because importing
XlsxWriter takes time.

Source: ECMA-376 part 1, 22.9.2.19 (`_xHHHH_`).
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from xlsxwriter import Workbook
from xlsxwriter.exceptions import FileCreateError
from xlsxwriter.utility import xl_col_to_name

from prodex.formats.workbook_cells import held_by_a_cell

if TYPE_CHECKING:

    class Worksheet:
        """XlsxWriter ships no types; without this, its sheets and ours would be unknown to type checkers."""

        def __getattr__(self, name: str) -> Any: ...

else:
    from xlsxwriter.worksheet import Worksheet

#: Characters that XML cannot hold, or would change; workbooks write them as `_x0000_`.
_CODED = re.compile("[\x00-\x08\x0b-\x1f]")
#: What readers of workbooks take for one character: _x0041_ for "A".
_CODE = re.compile("_(?=x[0-9a-fA-F]{4}_)")
#: The same, and with those characters, for Arrow, whose regular expressions are those of RE2.
_CODE_RE2 = "_x[0-9a-fA-F]{4}_"
_TO_CODE_RE2 = rf"{_CODE_RE2}|[\x00-\x08\x0B-\x1F]"
# Ampersands first: what replaces the others contains one.
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
#: The letters of a column, which take as long to make as the rest of a cell.
letters_of = cache(xl_col_to_name)
_TEXT, _END = ' t="inlineStr"><is><t xml:space="preserve">', "</t></is></c>"

#: Cells of a row, each a text or a number with its format; and the height of the row, None for the usual one.
Line: TypeAlias = tuple[Sequence[tuple[Any, Any]], int | None]


class TextSheet(Worksheet):
    """A sheet for `Workbook.add_worksheet(worksheet_class=...)` whose rows are given as XML."""

    def __init__(self) -> None:
        super().__init__()
        self._content: Iterator[str] = iter(())

    def fill(self, content: Iterator[str], rows: int, columns: int) -> None:
        """Set all rows; they are asked for when the file is written."""
        self._content = content
        self._cover(rows, columns)

    def fill_lines(self, lines: Sequence[Line], shown: Callable[[str], str] = held_by_a_cell) -> None:
        """Set all rows of a sheet that is small enough to be written line by line.

        Parameters
        ----------
        lines
            The rows.
        shown
            Returns what a cell shows of a text.
        """
        content = [
            spelled_row(
                number,
                [(shown(value) if isinstance(value, str) else value, style) for value, style in cells],
                height,
            )
            for number, (cells, height) in enumerate(lines, 1)
        ]
        self.fill(iter(content), len(lines), max((len(cells) for cells, _ in lines), default=1))

    def append(self, content: Iterable[str], rows: int, columns: int) -> None:
        """Write further rows to a temporary file, in a workbook with `constant_memory`; `rows` counts all so far."""
        self.row_data_fh.writelines(content)
        self._cover(rows, columns)

    def _cover(self, rows: int, columns: int) -> None:
        """Declare the range of the sheet: some programs read no further."""
        self._check_dimensions(0, 0)
        self._check_dimensions(max(rows, 1) - 1, max(columns, 1) - 1)

    def _write_sheet_data(self) -> None:
        self.fh.write("<sheetData>")
        self.fh.writelines(self._content)
        self.fh.write("</sheetData>")


@contextmanager
def workbook(path: Path, **options: Any) -> Iterator[Any]:
    """Give an XlsxWriter workbook for sheets of `TextSheet`; what the disk refuses is an `OSError`, as elsewhere.

    Further options are those of `xlsxwriter.Workbook`. What it cannot keep in memory is beside `path` meanwhile.
    """
    with path.open("w+b") as file:
        book = Workbook(file, {"tmpdir": str(path.parent), **options})
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
    # What is written from now on is written to the null device.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    archives = [one for frame in frames for one in frame.f_locals.values() if isinstance(one, ZipFile)]
    traceback.clear_frames(error.__traceback__)
    # An interrupt is possible while the archive is written, too. Its end would be written when it is collected as
    # garbage, which fails there, and Python would print that error. Without a file there is nothing to end.
    for archive in archives:
        archive.fp = None


def index(style: Any) -> str:
    """Return how cells name a format of a workbook."""
    return str(style._get_xf_index())


def spelled(text: str) -> str:
    """Return a text as it is written in the XML of a workbook.

    >>> spelled("<b>_x0041_</b>"), spelled("a\\x0bb")
    ('&lt;b&gt;_x005F_x0041_&lt;/b&gt;', 'a_x000B_b')
    """
    text = _coded(text)
    for character, entity in _ENTITIES:
        text = text.replace(character, entity)
    return text


def all_spelled(texts: pa.Array, *, is_fit: bool = False) -> pa.Array:
    """Return a column of texts as they are written in the XML of a workbook; null stays null.

    To look for characters that XML cannot hold takes as long as half of the rest: `is_fit` says that there are none.
    """
    odd = places(pc.match_substring_regex(texts, _CODE_RE2 if is_fit else _TO_CODE_RE2))
    texts = replaced(texts, {place: _coded(texts[place].as_py()) for place in odd})
    for character, entity in _ENTITIES:
        texts = pc.replace_substring(texts, character, entity)
    return texts


def places(mask: pa.Array) -> list[int]:
    """Return where a mask is true."""
    found: list[int] = np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False)).tolist()
    return found


def replaced(texts: pa.Array, changed: dict[int, str]) -> pa.Array:
    """Return a column of texts with others in some places."""
    if not changed:
        return texts
    mask = np.zeros(len(texts), bool)
    mask[list(changed)] = True
    return pc.replace_with_mask(
        texts, pa.array(mask), pa.array([changed[place] for place in sorted(changed)], texts.type)
    )


def spelled_cell(place: str, value: str | float, style: str | None = None) -> str:
    """Return the XML of a cell with a text, a number or a truth value; `style` is the `index` of its format.

    >>> spelled_cell("A1", "=1+1")
    '<c r="A1" t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>'
    >>> spelled_cell("B1", 0.1, "2"), spelled_cell("C1", True)
    ('<c r="B1" s="2"><v>0.1</v></c>', '<c r="C1" t="b"><v>1</v></c>')
    """
    styled = "" if style is None else f' s="{style}"'
    if isinstance(value, str):
        return f'<c r="{place}"{styled}{_TEXT}{spelled(value)}{_END}'
    if isinstance(value, bool):
        return f'<c r="{place}"{styled} t="b"><v>{value:d}</v></c>'
    # All digits of a double, some of which need 17 to be read back exactly.
    return f'<c r="{place}"{styled}><v>{value!r}</v></c>'


def spelled_row(number: int, cells: Sequence[tuple[str | float, Any]], height: int | None = None) -> str:
    """Return the XML of a row of values, each with its format; an empty text has that alone, and hides no neighbour."""
    written = "".join(
        f'<c r="{letters_of(place)}{number}" s="{index(style)}"/>'
        if value == ""
        else spelled_cell(f"{letters_of(place)}{number}", value, index(style))
        for place, (value, style) in enumerate(cells)
    )
    tall = "" if height is None else f' ht="{height}" customHeight="1"'
    return f'<row r="{number}"{tall}>{written}</row>'


def spelled_column(
    letter: str, number: pa.Array, texts: pa.Array, style: Any = None, *, is_fit: bool = False
) -> pa.Array:
    """Return the XML of the cells of a column; a cell without text has none, unless its format is its own."""
    styled = () if style is None else ('" s="', style)
    filled = pc.binary_join_element_wise(
        f'<c r="{letter}', number, *styled, f'"{_TEXT}', all_spelled(texts, is_fit=is_fit), _END, ""
    )
    if texts.null_count == 0:
        return filled
    blank = pa.scalar("")
    if isinstance(style, pa.Array):
        blank = pc.binary_join_element_wise(f'<c r="{letter}', number, '" s="', style, '"/>', "")
    return pc.if_else(texts.is_valid(), filled, blank)


def spelled_rows(number: pa.Array, columns: Iterable[pa.Array], height: pa.Array | None = None) -> list[str]:
    """Return the XML of rows, of the XML of the cells of their columns."""
    tall = () if height is None else ('" ht="', height, '" customHeight="1')
    joined = pc.binary_join_element_wise('<row r="', number, *tall, '">', *columns, "</row>", "")
    rows: list[str] = joined.to_pylist()
    return rows


def _coded(text: str) -> str:
    """Return a text with the codes of characters that XML cannot hold, and its own look-alikes marked."""
    text = _CODE.sub("_x005F_", text)
    # Most texts have no character of this kind, and to ask for it takes a fifth of the time.
    return text if text.isprintable() else _CODED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)

"""Workbooks of prodex, read back: null and empty texts apart, numbers to their last digit, text as it was.

Other readers return the same for an empty cell of a workbook and for no cell. Only what `write_xlsx` writes is read
here: a workbook that another program saved has its texts in another place, and is refused. Nothing in a workbook is
trusted: declarations of entities are refused, and unpacked bytes are counted.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

import pyarrow as pa
import pyarrow.compute as pc

from prodex.formats.workbook_cells import column_of, decoded, moment
from prodex.formats.workbook_sheets import pieces
from prodex.formats.workbooks import held_by_a_cell
from prodex.limits import FILE, Limits, Meter
from prodex.safe_xml import parser_of

_SHEET = re.compile(r"xl/worksheets/sheet([1-9][0-9]{0,5})\.xml")
_STEP = 1 << 18

#: Rows that are made into columns at a time.
_AT_ONCE = 10_000

#: A cell: text or the spelling of a number, and whether it is a number.
Cell = tuple[str, bool]


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
    waiting: list[list[Cell | None]] = []
    try:
        for row in _rows(path, schema.names, limits):
            waiting.append(row)
            if len(waiting) == _AT_ONCE:
                tables.append(_table(waiting, schema))
                waiting = []
    except (zipfile.BadZipFile, expat.ExpatError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"it is no workbook that can be read ({error})") from error
    return pa.concat_tables([*tables, _table(waiting, schema)])


def _rows(path: Path, names: Sequence[str], limits: Limits | None) -> Iterator[list[Cell | None]]:
    """Yield the rows of all sheets, without their headings."""
    heading: list[Cell | None] = [(held_by_a_cell(name), False) for name in names]
    meter = Meter(limits or Limits(), FILE, "read_export")
    meter.came(path.stat().st_size)
    with zipfile.ZipFile(path) as book:
        sheets = sorted(
            (int(found[1]), found[0]) for name in book.namelist() if (found := _SHEET.fullmatch(name))
        )
        if not sheets:
            raise ValueError("it has no sheets")
        for _, name in sheets:
            sheet = _Sheet(heading)
            for piece in pieces(book, name, meter):
                yield from sheet.rows(piece)
            yield from sheet.rows(b"", is_last=True)


class _Sheet:
    """A sheet that is read piece by piece."""

    def __init__(self, heading: list[Cell | None]) -> None:
        self._heading = heading
        self._width = len(heading)
        self._done: list[list[Cell | None]] = []
        self._row: list[Cell | None] | None = None
        self._place = -1
        self._kind = ""
        self._texts: list[str] | None = None
        self._is_begun = False
        self._parser = parser_of(self._start, self._end, self._text)

    def rows(self, piece: bytes, *, is_last: bool = False) -> list[list[Cell | None]]:
        """Return the rows that end with this piece."""
        self._parser.Parse(piece, is_last)
        done, self._done = self._done, []
        if done and not self._is_begun:
            self._is_begun = True
            if done[0] != self._heading:
                raise ValueError("its columns are not those of the table")
            done = done[1:]
        return done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "row":
            self._row = [None] * self._width
        elif name == "c" and self._row is not None:
            self._place = column_of(attributes.get("r", ""))
            self._kind = attributes.get("t", "n")
            if self._kind not in ("n", "b", "inlineStr"):
                raise ValueError("it was saved by another program")
            if self._place >= self._width:
                raise ValueError(f"it has more than {self._width:,} columns")
        elif name in ("t", "v"):
            self._texts = []
        elif name in ("f", "r"):
            raise ValueError("it was changed: it holds formulas or text with markup")

    def _end(self, name: str) -> None:
        if name == "row" and self._row is not None:
            self._done.append(self._row)
            self._row = None
        elif name in ("t", "v") and self._row is not None and self._texts is not None:
            text = "".join(self._texts)
            if name == "t":
                self._row[self._place] = (decoded(text), False)
            elif self._kind == "b":
                self._row[self._place] = ("true" if text == "1" else "false", False)
            else:
                self._row[self._place] = (text, True)
            self._texts = None

    def _text(self, data: str) -> None:
        if self._texts is not None:
            self._texts.append(data)


def _table(rows: Sequence[Sequence[Cell | None]], schema: pa.Schema) -> pa.Table:
    columns = []
    for place, field in enumerate(schema):
        cells = [row[place] for row in rows]
        if pa.types.is_timestamp(field.type):
            cells = [(moment(cell[0]), False) if cell is not None and cell[1] else cell for cell in cells]
        if pa.types.is_string(field.type) and any(cell is not None and cell[1] for cell in cells):
            raise ValueError(f"its column {field.name!r:.60} has a number where text should be")
        texts = pa.array([None if cell is None else cell[0] for cell in cells], pa.string())
        columns.append(pc.cast(texts, field.type))
    return pa.table(columns, schema=schema)

"""CSV of exports, written and read back: UTF-8 and RFC 4180; an empty cell is null, and two quotes an empty text.

What people open in a spreadsheet begins with a byte order mark: without it, spreadsheets take the file for one in the
code page of their country. What programs read has none.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from prodex.formats.formulas import escape_formulas as escaped
from prodex.formats.formulas import unescape_formulas
from prodex.limits import Limits

#: Bytes that are read at a time, and tried next where a record is larger than that.
_BLOCK, _LARGEST_BLOCK = 1 << 24, 2**31 - 1


def spelled(value: Any) -> str:
    """Return a value as the text that files without types hold: numbers to their last digit, moments with their zone.

    >>> spelled(datetime.fromisoformat("2026-11-20T08:00:00+00:00")), spelled(0.1 + 0.2)
    ('2026-11-20T08:00:00Z', '0.30000000000000004')
    """
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def write_csv(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, path: Path, *, escape_formulas: bool = False
) -> int:
    """Write one table as CSV: UTF-8, RFC 4180, null as nothing and an empty text as "".

    Parameters
    ----------
    escape_formulas
        Write for a spreadsheet: put an apostrophe wherever it would run text as a formula, whatever separates its
        cells, and a byte order mark at the beginning. The file is then safe to open in a spreadsheet and no longer
        verbatim; `prodex.formats.unescape_formulas` gives each text back.
    """
    with path.open("w", encoding="utf-8-sig" if escape_formulas else "utf-8", newline="") as file:
        # Suppliers name attributes, and so columns.
        csv.writer(file).writerow([escaped(name) if escape_formulas else name for name in schema.names])
        for batch in batches:
            columns = [_csv_column(column, escape_formulas) for column in batch.columns]
            file.writelines(",".join(row) + "\r\n" for row in zip(*columns, strict=True))
    return 0


def read_csv(
    path: Path, schema: pa.Schema, *, escape_formulas: bool = False, limits: Limits | None = None
) -> pa.Table:
    """Read what `write_csv` wrote.

    It is read by Arrow, since neither pandas nor Python's `csv` can distinguish null from an empty text.

    Parameters
    ----------
    path
        The file.
    schema
        The columns it should have.
    escape_formulas
        Whether it was written so.
    limits
        Not used: nothing is unpacked, and whoever reads an export has compared the bytes on disk with them.

    Raises
    ------
    ValueError
        When the file does not have these columns, or a value is not of its type.
    OSError
        When it cannot be read.
    """
    del limits
    block = _BLOCK
    while True:
        try:
            return _read_columns(path, schema, escape_formulas, block)
        except pa.ArrowInvalid as error:
            # A record that is larger than a block; its message is all that Arrow gives.
            if "straddl" not in str(error) or block == _LARGEST_BLOCK:
                raise
            block = min(block * 16, _LARGEST_BLOCK)


def _read_columns(path: Path, schema: pa.Schema, escape_formulas: bool, block: int) -> pa.Table:
    names = [f"f{place}" for place in range(len(schema))]
    pieces: list[pa.Table] = []
    heading: list[str] | None = None
    with pyarrow.csv.open_csv(
        path,
        # The heading is read as a row: Arrow splits names in another way than rows, and changes repeated names.
        read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=block, use_threads=False),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    ) as reader:
        for batch in reader:
            rows = batch
            if heading is None and rows.num_rows:
                heading = [column[0].as_py() or "" for column in rows.columns]
                _check_heading(heading, schema.names, escape_formulas)
                rows = rows.slice(1)
            columns = [
                _column(column, field.type, escape_formulas)
                for column, field in zip(rows.columns, schema, strict=True)
            ]
            pieces.append(pa.table(columns, schema=schema))
    if heading is None:
        raise ValueError("it has no heading")
    return pa.concat_tables(pieces)


def _check_heading(heading: Sequence[str], names: Sequence[str], escape_formulas: bool) -> None:
    found = [unescape_formulas(name) for name in heading] if escape_formulas else heading
    for there, expected in zip(found, names, strict=True):
        if there != expected:
            raise ValueError(f"it has a column {there!r:.60} where {expected!r:.60} should be")


def _column(column: pa.Array, kind: pa.DataType, escape_formulas: bool) -> pa.Array:
    if pa.types.is_string(kind):
        if not escape_formulas:
            return column
        texts = column.to_pylist()
        return pa.array([None if text is None else unescape_formulas(text) for text in texts], pa.string())
    return pc.cast(column, kind)


def _csv_column(column: pa.Array, escape_formulas: bool) -> list[str]:
    """Spell a column's values; text is always quoted, so that null, "" and numbers stay apart."""
    if pa.types.is_string(column.type):
        return ["" if text is None else _quoted(text, escape_formulas) for text in column.to_pylist()]
    if pa.types.is_timestamp(column.type):
        return ["" if moment is None else spelled(moment) for moment in column.to_pylist()]
    texts: list[str] = pc.fill_null(pc.cast(column, pa.string()), "").to_pylist()
    return texts


def _quoted(text: str, escape_formulas: bool) -> str:
    text = escaped(text) if escape_formulas else text
    return '"' + text.replace('"', '""') + '"'

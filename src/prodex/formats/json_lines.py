"""JSON lines: the records of products as they were received, one a line, from which all tables are made again.

A record is written verbatim. Line breaks between its tokens, which only a record out of an indented file has, become
spaces, since a line ends there; inside a text JSON has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from prodex.encodings import not_utf8
from prodex.errors import SnapshotDamaged
from prodex.limits import Limits
from prodex.tables.records import identify

_LINE_BREAKS = re.compile(r"[\r\n]")
_ROW = msgspec.json.Decoder(dict[str, Any])


def write_jsonl(batches: Iterator[pa.RecordBatch], schema: pa.Schema, path: Path) -> int:
    """Write records as JSON lines; of a table without them, its rows as objects.

    Parameters
    ----------
    batches
        Rows of `raw`, or of another table.
    schema
        Its columns.
    path
        The file.

    Raises
    ------
    SnapshotDamaged
        When a record is not the JSON object of its product.
    """
    with path.open("wb") as file:
        for batch in batches:
            if "json" in schema.names:
                keys, records = (batch.column(name).to_pylist() for name in ("product_id", "json"))
                lines = map(_record_line, keys, records)
            else:
                lines = map(msgspec.json.encode, batch.to_pylist())
            file.writelines(line + b"\n" for line in lines)
    return 0


def _record_line(product: str, record: str | None) -> bytes:
    line = b"" if record is None else _LINE_BREAKS.sub(" ", record).encode()
    known = identify(line)
    # The key as well: a record in another's place would change two products without a word.
    if known is None or known.product_id != product:
        problem = "is not a JSON object" if known is None else f"is that of product {known.product_id!r:.60}"
        raise SnapshotDamaged(
            f"The record of product {product!r:.60} {problem}. Refresh the snapshot, which fetches it again, open an "
            "earlier one, or load again; other formats export the tables without it.",
            products=(product,),
        )
    return line


def read_records(path: Path) -> Iterator[bytes]:
    """Yield the records of a file that `write_jsonl` wrote.

    Raises
    ------
    ValueError
        When a line is not a JSON object.
    OSError
        When the file cannot be read.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            record = line.removesuffix(b"\n")
            if identify(record) is None:
                raise ValueError(f"line {number:,} is not a JSON object")
            if reason := not_utf8(record):
                raise ValueError(f"line {number:,} is {reason}")
            yield record


def read_jsonl(
    path: Path, schema: pa.Schema, *, escape_formulas: bool = False, limits: Limits | None = None
) -> pa.Table:
    """Read the rows of a table that `write_jsonl` wrote.

    Parameters
    ----------
    path
        The file.
    schema
        The columns it should have.
    escape_formulas, limits
        Not used: nothing is run or unpacked.

    Raises
    ------
    ValueError
        When a line is no row of such a table.
    OSError
        When the file cannot be read.
    """
    del escape_formulas, limits
    with path.open("rb") as file:
        rows = [_ROW.decode(line) for line in file]
    if wrong := next((row for row in rows if list(row) != schema.names), None):
        raise ValueError(
            f"it has the columns {', '.join(wrong)!r:.80} where {', '.join(schema.names)} should be"
        )
    try:
        return pa.Table.from_pylist(rows, schema)
    except pa.ArrowTypeError as error:
        raise ValueError(f"a value is not of its column's type ({error})") from error

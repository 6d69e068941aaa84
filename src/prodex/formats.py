"""Exports: one function for each format, fed with batches so that nothing has to fit in memory."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from prodex.errors import QueryError
from prodex.files import writing

Batches = Iterator[pa.RecordBatch]

#: What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

_FRICTIONLESS = {"int64": "integer", "double": "number", "bool": "boolean", "string": "string"}


def export(
    tables: Mapping[str, tuple[Batches, pa.Schema]],
    folder: Path,
    format: str,
    origin: Mapping[str, Any],
    **options: Any,
) -> list[Path]:
    """Write tables to a folder, one file each, with `datapackage.json` beside them.

    That file follows the Frictionless Table Schema: it tells any reader that a GTIN is text, so that no leading zero
    is lost, and holds where the data comes from.

    Raises
    ------
    QueryError
        When the format is not known or does not take an option.
    """
    if format not in FORMATS:
        raise QueryError(f"There is no export format {format!r}; there are {', '.join(FORMATS)}.")
    write = FORMATS[format]
    known = {"escape_formulas"} if format == "csv" else set()
    if unknown := sorted(set(options) - known):
        raise QueryError(f"Format {format!r} takes no option {unknown[0]!r}.")
    written = []
    for name, (batches, schema) in tables.items():
        path = folder / f"{name}.{format}"
        with writing(path) as beside:
            write(batches, schema, beside, **options)
        written.append(path)
    described = folder / "datapackage.json"
    with writing(described) as beside:
        beside.write_text(_package(tables, format, origin), encoding="utf-8")
    return [*written, described]


def write_parquet(batches: Batches, schema: pa.Schema, path: Path) -> None:
    """Write one table as Parquet (zstd)."""
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))


def write_csv(batches: Batches, schema: pa.Schema, path: Path, *, escape_formulas: bool = False) -> None:
    """Write one table as CSV: UTF-8, RFC 4180, null as nothing and an empty text as "".

    Parameters
    ----------
    escape_formulas
        Put an apostrophe before text that a spreadsheet would run as a formula. The file is then safe to open in a
        spreadsheet and no longer verbatim.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        names = [
            _inert(name) if escape_formulas else name for name in schema.names
        ]  # suppliers name attributes
        csv.writer(file).writerow(names)
        for batch in batches:
            columns = [_csv_column(column, escape_formulas) for column in batch.columns]
            file.writelines(",".join(row) + "\r\n" for row in zip(*columns, strict=True))


def _csv_column(column: pa.Array, escape_formulas: bool) -> list[str]:
    """Spell a column's values; text is always quoted, so that null, "" and numbers stay apart."""
    if pa.types.is_timestamp(column.type):
        return [
            "" if moment is None else moment.isoformat().replace("+00:00", "Z")
            for moment in column.to_pylist()
        ]
    if not pa.types.is_string(column.type):
        return list(pc.fill_null(pc.cast(column, pa.string()), "").to_pylist())
    return ["" if text is None else _quoted(text, escape_formulas) for text in column.to_pylist()]


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _quoted(text: str, escape_formulas: bool) -> str:
    text = _inert(text) if escape_formulas else text
    return '"' + text.replace('"', '""') + '"'


def _package(tables: Mapping[str, tuple[Batches, pa.Schema]], format: str, origin: Mapping[str, Any]) -> str:
    resources = [
        {
            "name": name,
            "path": f"{name}.{format}",
            "format": format,
            "encoding": "utf-8",
            "schema": {"fields": [_described(field) for field in schema]},
        }
        for name, (_, schema) in tables.items()
    ]
    package = {"name": "prodex-export", "origin": origin, "resources": resources}
    return json.dumps(package, ensure_ascii=False, indent=1)


def _described(field: pa.Field) -> dict[str, Any]:
    kind = "datetime" if pa.types.is_timestamp(field.type) else _FRICTIONLESS[str(field.type)]
    meaning = (field.metadata or {}).get(b"meaning", b"").decode()
    return {"name": field.name, "type": kind, "description": meaning}


FORMATS: Mapping[str, Callable[..., None]] = {"parquet": write_parquet, "csv": write_csv}

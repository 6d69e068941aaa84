"""`datapackage.json`: says that an export is complete, what its columns mean, and how to read it.

It follows the Frictionless Data Package and Table Schema, with additions of our own: rows, the dtypes of pandas, how
many texts are altered, and for CSV the arguments for `pandas.read_csv`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pyarrow as pa

from prodex.files.atomic import safe_name, sha256
from prodex.files.untrusted import Count, read_json
from prodex.formats.registry import FORMATS, FormatName
from prodex.formats.spreadsheet import escape_formulas as escaped
from prodex.frames import to_frame

PACKAGE = "datapackage.json"
_NAME = "prodex-export"

#: 3 may leave out columns and rows, or hold records; what does neither is written as 2, which needs no such reader.
FORMAT = 3
_OLDEST = 2

_FRICTIONLESS = {"int64": "integer", "double": "number", "bool": "boolean", "string": "string"}

_BACK = "prodex.read_export(folder) reads all tables back exactly, null and empty texts apart."

#: What pandas.read_csv takes for every table: only nothing at all is missing.
_CSV_ARGUMENTS: Mapping[str, Any] = {"keep_default_na": False, "na_values": [""], "encoding": "utf-8"}
_DIALECT: Mapping[str, Any] = {
    "delimiter": ",",
    "quoteChar": '"',
    "doubleQuote": True,
    "lineTerminator": "\r\n",
    "skipInitialSpace": False,
    "header": True,
}


def package_text(
    resources: Sequence[Mapping[str, Any]],
    format: FormatName,
    origin: Mapping[str, Any],
    *,
    products: int | None,
    not_exported: Sequence[str],
    languages: Sequence[str] | None = None,
    left_out: Sequence[str] = (),
    scope: str | None = None,
) -> str:
    """Return `datapackage.json` of an export; `resources` are what `described_file` says of each file.

    `scope` says which products were chosen, where these are not all of their catalogue.
    """
    is_new = FORMATS[format].holds_records or any("left_out" in resource for resource in resources)
    package = {
        "name": _NAME,
        "format": FORMAT if is_new else _OLDEST,
        "prodex": version("prodex"),
        "description": f"{FORMATS[format].note} {_BACK}",
        "products": products,
        **({} if scope is None else {"scope": scope}),
        "not_exported": list(not_exported),
        "left_out": list(left_out),
        **({} if languages is None else {"languages": list(languages)}),
        "origin": origin,
        "resources": resources,
    }
    return json.dumps(package, ensure_ascii=False, indent=1)


def described_file(
    path: Path,
    schema: pa.Schema,
    rows: int,
    altered_texts: int,
    escape_formulas: bool,
    *,
    left_out: LeftOut | None = None,
    parts: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return what `datapackage.json` says of a file that was just written: its table and format are in its name."""
    dtypes = {str(column): str(dtype) for column, dtype in to_frame(schema.empty_table()).dtypes.items()}
    fields = [{**_described(field), "dtype": dtypes[field.name]} for field in schema]
    resource: dict[str, Any] = {
        "name": path.stem,
        "path": path.name,
        "format": path.suffix[1:],
        "encoding": "utf-8",
        "rows": rows,
        "bytes": path.stat().st_size,
        "hash": f"sha256:{sha256(path)}",
        "altered_texts": altered_texts,
        "escape_formulas": escape_formulas,
        "schema": {"fields": fields, "missingValues": [""]},
    }
    if path.suffix == ".csv":
        # Columns are called as in the file, where what a supplier named may be escaped as well.
        names = {column: escaped(column) if escape_formulas else column for column in dtypes}
        moments = [column for column, dtype in dtypes.items() if dtype.startswith("datetime64")]
        resource["dialect"] = dict(_DIALECT)
        resource["nullAndEmpty"] = 'an empty cell is null, "" an empty text'
        resource["pandas"] = {
            "dtype": {names[column]: dtype for column, dtype in dtypes.items() if column not in moments},
            "parse_dates": [names[column] for column in moments],
            **_CSV_ARGUMENTS,
        }
    if left_out is not None and (left_out.columns or left_out.rows):
        resource["left_out"] = msgspec.to_builtins(left_out)
    if parts is not None:
        resource["parts"] = list(parts)
    return resource


def _described(field: pa.Field) -> dict[str, Any]:
    is_moment = pa.types.is_timestamp(field.type)
    kind = "datetime" if is_moment else _FRICTIONLESS[str(field.type)]
    meaning = (field.metadata or {}).get(b"meaning", b"").decode()
    zoned = {"format": "any"} if is_moment and field.type.tz is None else {}
    return {"name": field.name, "type": kind, **zoned, "description": meaning}


class LeftOut(msgspec.Struct):
    """The columns of a table that are not in its file, and how many of its rows are not."""

    columns: list[str] = []
    rows: Count = 0


class Field(msgspec.Struct):
    """A column, as far as reading needs it: types are those of the tables, whatever a file says."""

    name: str


class TableSchema(msgspec.Struct):
    """The columns of a file."""

    fields: list[Field]


class Resource(msgspec.Struct):
    """What `datapackage.json` says of a file."""

    name: str
    path: str
    format: FormatName
    schema: TableSchema
    rows: Count
    bytes: Count
    hash: Annotated[str, msgspec.Meta(pattern="^sha256:[0-9a-f]{64}$")]
    altered_texts: Count = 0
    escape_formulas: bool = False
    left_out: LeftOut | None = None
    parts: list[Annotated[int, msgspec.Meta(ge=1)]] | None = None

    @property
    def lacking(self) -> frozenset[str]:
        """The columns that were left out."""
        return frozenset(self.left_out.columns if self.left_out is not None else ())

    @property
    def columns(self) -> list[str]:
        return [field.name for field in self.schema.fields]


class Package(msgspec.Struct):
    """What `datapackage.json` says of an export."""

    name: Literal["prodex-export"]
    origin: dict[str, Any]
    resources: list[Resource]
    products: Count | None = None


class _Head(msgspec.Struct):
    name: str | None = None
    format: int = 1


def read_package(folder: Path) -> Package:
    """Read what tells of an export; a path in it is a plain name that belongs to its format, and nothing else.

    Raises
    ------
    OSError
        When there is none, or it is no plain file.
    ValueError
        When it is not of an export of prodex, or of one that only another version reads.
    """
    # The head alone, so that a newer format is called newer and not damaged.
    head = read_json(folder / PACKAGE, _Head)
    if head.name != _NAME:
        raise ValueError(f"it is the data package {head.name!r:.60}, which prodex did not write")
    if head.format > FORMAT:
        raise ValueError(f"made by a newer version of prodex (it is of format {head.format}): update prodex")
    if head.format < _OLDEST:
        raise ValueError(
            f"made by an earlier version of prodex (it is of format {head.format}): export again"
        )
    package = read_json(folder / PACKAGE, Package)
    for resource in package.resources:
        if resource.name != safe_name(resource.name) or resource.path != f"{resource.name}.{resource.format}":
            raise ValueError(f"it gives {resource.name!r:.60} the path {resource.path!r:.80}")
    if len({resource.name for resource in package.resources}) < len(package.resources):
        raise ValueError("it names a table twice")
    if len({(resource.format, resource.escape_formulas) for resource in package.resources}) > 1:
        raise ValueError("it has files of several formats")
    return package

"""An export: one file for each table, and `datapackage.json` beside them, exchanged as a whole.

It follows the Frictionless Data Package and Table Schema, with additions of our own: rows, the dtypes of pandas, how
many texts are altered, and for CSV the arguments for `pandas.read_csv`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
import pyarrow as pa

from prodex import arguments
from prodex.advice import Argument, advice
from prodex.errors import InputError, QueryError
from prodex.files.atomic import safe_name, sha256
from prodex.files.folders import replacing
from prodex.files.layouts import require_layout
from prodex.files.untrusted import Count, read_json
from prodex.formats.formulas import escape_formulas as escaped
from prodex.formats.registry import FORMATS, Batches, FormatName
from prodex.phrases import counted, hint
from prodex.progress import Progress, showing
from prodex.tables.declaration import TABLES
from prodex.tables.frames import to_frame


@dataclass(frozen=True)
class ExportedTable:
    """What is exported of a table.

    Attributes
    ----------
    batches
        The rows.
    schema
        The columns.
    columns_left_out
        Its other columns.
    rows
        How many rows there are; None where nobody has to know before they are written.
    rows_in_all
        How many rows the table has, where only some of them are exported.
    words
        What these rows have in common, for the sentence about the others.
    parts
        Where the file holds records: of how many products each part consists.
    """

    batches: Batches
    schema: pa.Schema
    columns_left_out: tuple[str, ...] = ()
    rows: int | None = None
    rows_in_all: int | None = None
    words: str = ""
    parts: tuple[int, ...] | None = None


class ExportedFiles(list[Path]):
    """The files of an export, with what was left out of it.

    Attributes
    ----------
    left_out
        A sentence for each kind of thing that the catalogue has and the export has not.

    Examples
    --------
    >>> ExportedFiles([], ["3 of 57 columns of products"])
    []
    only 3 of 57 columns of products
    """

    def __init__(self, files: Sequence[Path] = (), left_out: Iterable[str] = ()) -> None:
        if not isinstance(files, list | tuple):
            raise InputError(
                f"files is {arguments.described(files)}. catalog.export(folder) returns the files of an export."
            )
        super().__init__(files)
        self.left_out = list(left_out)

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *(f"only {sentence}" for sentence in self.left_out)])


def write_export(
    tables: Mapping[str, ExportedTable],
    folder: Path,
    format: FormatName,
    origin: Mapping[str, Any],
    *,
    escape_formulas: bool = False,
    products: int | None = None,
    not_exported: Sequence[str] = (),
    languages: Sequence[str] | None = None,
    left_out: Sequence[str] = (),
    scope: str | None = None,
    chosen: Mapping[str, Any] = MappingProxyType({}),
    progress: Progress = None,
) -> ExportedFiles:
    """Write tables to a folder, one file each, with `datapackage.json` beside them.

    The whole takes the place of an earlier export in the same format; other files in the folder stay. While it is
    exchanged, and after a process ended in that moment, there is no `datapackage.json`, and so no export.

    That file has types, meanings, numbers of rows and digests, the origin of the data, and what was left out.

    Parameters
    ----------
    tables
        By name: the rows, and the columns.
    folder
        Where to.
    format
        One of `FORMATS`.
    origin
        The origin of the data, as JSON.
    escape_formulas
        Of CSV: see `write_csv`.
    products
        How many products the tables are about.
    not_exported
        The tables that were left out.
    languages
        The languages of the localized rows, where not all were exported.
    left_out
        Sentences about tables that were left out; those about columns and rows are added.
    scope
        Which products were chosen, in a sentence; None for all of their catalogue.
    chosen
        The same as an entry of the description, so that what is read back says it as well.
    progress
        A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done, total),
        both in rows.

    Raises
    ------
    QueryError
        When the format is not known or does not take an option.
    StorageError
        When the disk refuses; an earlier export is then as it was.
    """
    # Checked again here, since there are callers other than a catalogue, such as the explorer.
    check_format(format, escape_formulas)
    options = {"escape_formulas": True} if escape_formulas else {}
    names = [f"{name}.{format}" for name in tables]
    sentences = list(left_out)
    described = []
    # Files of an earlier export with other tables are replaced too: they would look like part of this one.
    total = sum(table.rows or 0 for table in tables.values())
    with (
        replacing(folder, replaced_files(folder, format, tables), folder / PACKAGE) as beside,
        showing(progress, "Exported", "rows", total, phase="Exporting") as phase,
    ):
        for name, table in tables.items():
            rows: list[int] = []
            path = beside / f"{name}.{format}"
            batches = phase.passing(_counting_rows(table.batches, rows))
            altered = FORMATS[format].write(batches, table.schema, path, **options)
            written = sum(rows)
            gone = LeftOut(list(table.columns_left_out), max((table.rows_in_all or 0) - written, 0))
            # Lines with whole records have no columns.
            schema = table.schema if table.parts is None else pa.schema([])
            described.append(
                described_file(
                    path, schema, written, altered, escape_formulas, left_out=gone, parts=table.parts
                )
            )
            sentences += _sentences(name, table, written, gone)
        package = package_text(
            described,
            format,
            origin,
            products=products,
            not_exported=not_exported,
            languages=languages,
            left_out=sentences,
            scope=scope,
            chosen=chosen,
        )
        (beside / PACKAGE).write_text(package, encoding="utf-8")
    return ExportedFiles([folder / name for name in (*names, PACKAGE)], sentences)


def _sentences(name: str, table: ExportedTable, rows: int, left_out: LeftOut) -> Iterator[str]:
    if left_out.columns:
        kept = len(table.schema)
        yield f"{kept:,} of {kept + len(left_out.columns):,} columns of {name}"
    if left_out.rows:
        yield f"{rows:,} of {rows + left_out.rows:,} rows of {name}, {table.words}"


def cut_in_words(altered: int) -> str:
    """Say how many texts no cell of a workbook holds as they are.

    >>> cut_in_words(1).partition(" (")[0]
    '1 text is longer than a cell of a workbook can be'
    """
    are = "is" if altered == 1 else "are"
    return (
        f"{counted(altered, 'text')} {are} longer than a cell of a workbook can be (32,767 characters) and cut there; "
        "each cell states the full length"
    )


def tables_in(format: FormatName) -> list[str]:
    """Return the tables of which an export in this format has files, unless others are named.

    >>> tables_in("jsonl"), len(tables_in("parquet")) - len(tables_in("csv"))
    (['products', 'code_labels'], 1)
    """
    form = FORMATS[format]
    if form.holds_records:
        return ["products", "code_labels"]
    return [name for name in TABLES if name not in form.only_if_named]


def check_format(format: FormatName, escape_formulas: object) -> None:
    """Refuse a format that there is not, and an option that is not of a format."""
    if not isinstance(format, str) or format not in FORMATS:
        near = hint(str(format).lstrip("."), FORMATS)
        raise QueryError(f"There is no export format {format!r:.60}; give one of {', '.join(FORMATS)}{near}")
    if not isinstance(escape_formulas, bool):
        raise QueryError(f"escape_formulas={escape_formulas!r:.40} is neither True nor False.")
    if escape_formulas and not FORMATS[format].can_escape_formulas:
        (able,) = (name for name, one in FORMATS.items() if one.can_escape_formulas)
        raise QueryError(
            advice(
                "Format {format} takes no {escape}: text in it is never run. Leave it out, or write {able}.",
                format=repr(format),
                escape=Argument("escape_formulas"),
                able=Argument("format", able),
            )
        )


def _counting_rows(batches: Batches, rows: list[int]) -> Batches:
    """Pass batches on, and add the number of rows of each to a list: only the writer iterates over them."""
    for batch in batches:
        rows.append(batch.num_rows)
        yield batch


def replaced_files(folder: Path, format: FormatName, tables: Iterable[str]) -> set[str]:
    """Return the names of the files that an export of some tables would replace in a folder, or remove from it."""
    return {*(f"{table}.{format}" for table in tables), *_former(folder, format), PACKAGE}


def exported_digests(folder: Path) -> dict[str, str | None]:
    """Return the files of the export in a folder, each with the digest that it was written with.

    `datapackage.json` is among them without one. Where there is no export that can be read, there are no files.
    """
    try:
        package = read_package(folder)
    except (OSError, ValueError):
        return {}
    digests = {one.path: one.hash.removeprefix("sha256:") for one in package.resources}
    return {**digests, PACKAGE: None}


def _former(folder: Path, format: str) -> list[str]:
    """Return the files of an earlier export in this format, which may have had other tables."""
    try:
        package = read_package(folder)
    except (OSError, ValueError):
        return []
    return [resource.path for resource in package.resources if resource.format == format]


PACKAGE = "datapackage.json"
_NAME = "prodex-export"

FORMAT = 3

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
    chosen: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Return `datapackage.json` of an export; `resources` are what `described_file` says of each file.

    `scope` and `chosen` say which products were chosen, where these are not all of their catalogue.
    """
    package = {
        "name": _NAME,
        "format": FORMAT,
        "prodex": version("prodex"),
        "description": f"{FORMATS[format].note} {_BACK}",
        "products": products,
        **({} if scope is None else {"scope": scope}),
        **chosen,
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
    chosen: dict[str, Any] | None = None


class _PackageHead(msgspec.Struct):
    name: str | None = None
    format: int | None = None


def read_package(folder: Path) -> Package:
    """Read the description of an export; a path in it is a plain name that belongs to its format, and nothing else.

    Raises
    ------
    OSError
        When there is none, or it is no plain file.
    ValueError
        When it is not of an export of prodex.
    OtherLayout
        When another version of prodex wrote it.
    """
    # The head alone, so that another layout is called so and not damaged.
    head = read_json(folder / PACKAGE, _PackageHead)
    if head.name != _NAME:
        raise ValueError(f"it is the data package {head.name!r:.60}, which prodex did not write")
    require_layout(folder / PACKAGE, head.format, FORMAT, "Export again.")
    package = read_json(folder / PACKAGE, Package)
    for resource in package.resources:
        if resource.name != safe_name(resource.name) or resource.path != f"{resource.name}.{resource.format}":
            raise ValueError(f"it gives {resource.name!r:.60} the path {resource.path!r:.80}")
    if len({resource.name for resource in package.resources}) < len(package.resources):
        raise ValueError("it names a table twice")
    if len({(resource.format, resource.escape_formulas) for resource in package.resources}) > 1:
        raise ValueError("it has files of several formats")
    return package

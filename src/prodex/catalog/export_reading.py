"""Exports read back: in whichever format, the catalogue that was exported, or the reason why not.

A folder may be from somebody else. Files are called as their tables, and only plain files in the folder itself are
opened, so that nothing outside of it is read. Types are those of the tables, whatever the folder says.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from prodex.catalog.catalog import Catalog
from prodex.catalog.origin import Chosen, Origin
from prodex.catalog.part import Part
from prodex.errors import ExportDamaged, InputError, SnapshotDamaged
from prodex.files import parquet
from prodex.files.atomic import reading, sha256
from prodex.files.untrusted import is_there, refuse_links
from prodex.formats.exporting import PACKAGE, Package, Resource, read_package
from prodex.formats.json_lines import read_jsonl, read_records
from prodex.formats.registry import FORMATS, ReadTable
from prodex.limits import LimitExceeded, Limits, Meter
from prodex.phrases import counted
from prodex.tables.attributes import stored_presence
from prodex.tables.declaration import TABLES, misfit

_ADVICE = "Export again, or ask whoever made the export for its folder as it was written."


def read_export(folder: str | Path, *, limits: Limits | None = None) -> Catalog:
    """Read an export back: the tables, types and values of the catalogue that was exported, and its origin.

    Any format will do. Null and an empty text stay apart, the text "NA" stays text, and what `escape_formulas` changed
    is changed back. Of JSON lines the tables are made again. Files of Parquet are read when they are needed, the others
    at once.

    Parameters
    ----------
    folder
        The folder of the export.
    limits
        What each file may take: `wire_bytes` on disk, and `unpacked_bytes` of a workbook, a billion unless given.

    Returns
    -------
    Catalog
        As it was exported. A table or a column that was not exported is not in it: asking for it is a `NotExported`.

    Warns
    -----
    UserWarning
        When a workbook could not hold a text as it was: that text is as the workbook holds it.

    Raises
    ------
    InputError
        When the folder holds no export of the tables of a catalogue.
    ExportDamaged
        When a file is missing, cut off, changed, a link, or none that belongs to the export.

    Examples
    --------
    >>> import tempfile
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "isConsumerUnit": True}])
    >>> folder = tempfile.mkdtemp()
    >>> paths = catalog.export(folder, "jsonl")
    >>> prodex.read_export(folder).equals(catalog)
    True
    """
    place = _export_folder(folder)
    package = _package(place)
    origin, chosen = _read_origin(place, package)
    # Nothing is read before everything is known to be as it was written.
    _check_files(place, package, limits)
    form = FORMATS[package.resources[0].format]
    if form.holds_records:
        return Catalog(_of_records(place, package, limits), origin, chosen=chosen)
    part = (
        _on_disk(place, package) if form.read is None else _part_in_memory(place, package, form.read, limits)
    )
    _warn_of_altered(place, package)
    return Catalog((part,), origin, chosen=chosen)


def _export_folder(folder: Any) -> Path:
    try:
        place = Path(folder)
        if place.name == PACKAGE and place.is_file():
            place = place.parent
        there = place.is_dir()
        with suppress(FileNotFoundError, NotADirectoryError):
            (place / PACKAGE).lstat()
    except PermissionError:  # somebody else's: nobody can say whether it is an export
        with reading(Path(folder)):
            raise
    except (TypeError, ValueError, OSError) as error:
        raise InputError(f"read_export() takes the folder of an export, not {folder!r:.60}.") from error
    if not there:
        reason = "is a file" if place.is_file() else "is not there"
        raise InputError(
            f"{place} {reason}. read_export() takes the folder that catalog.export(folder) wrote; a single file is "
            "read by pandas."
        )
    return place


def _package(folder: Path) -> Package:
    if not is_there(folder / PACKAGE):
        raise InputError(
            f"{folder} holds no export: there is no {PACKAGE} in it. Export again if the export was interrupted; a "
            "snapshot is opened by prodex.open_snapshot."
        )
    try:
        package = read_package(folder)
    except (OSError, ValueError) as error:
        raise ExportDamaged(f"{folder / PACKAGE} cannot be read: {error}. {_ADVICE}") from error
    if not package.resources:
        raise ExportDamaged(f"{folder / PACKAGE} names no file. {_ADVICE}")
    # The explorer exports the table that it shows with such a file as well.
    if unknown := [resource for resource in package.resources if resource.name not in TABLES]:
        path = folder / unknown[0].path
        raise InputError(
            f"{folder} holds {unknown[0].name!r:.60}, which is not a table of a catalogue but perhaps a table as it "
            f"was shown. Read it with {_pandas_call(path, unknown[0])}."
        )
    return package


def _pandas_call(path: Path, resource: Resource) -> str:
    return FORMATS[resource.format].pandas_read.format(path=str(path))


def _read_origin(folder: Path, package: Package) -> tuple[Origin, Chosen | None]:
    try:
        chosen = None if package.chosen is None else Chosen.from_json(package.chosen)
        return Origin.from_json(package.origin), chosen
    except ValueError as error:
        raise ExportDamaged(f"{folder / PACKAGE} cannot be read: its origin {error}. {_ADVICE}") from error


def _check_files(folder: Path, package: Package, limits: Limits | None) -> None:
    """Refuse what is not as it was written, before anything of it is read."""
    files = {folder / resource.path: resource for resource in package.resources}
    form = package.resources[0].format
    for name in TABLES:
        # A table of another export in the same folder would silently look like one of this.
        if (stranger := folder / f"{name}.{form}") not in files and is_there(stranger):
            raise ExportDamaged(
                f"{stranger} is there, and {PACKAGE} does not name it: it belongs to another export. Move it away, or "
                "export again to an empty folder."
            )
    try:
        refuse_links(folder, files)
        for path, resource in files.items():
            Meter(limits or Limits(), Limits(), "read_export").count_received(path.stat().st_size)
            _check_bytes(path, resource)
    except LimitExceeded as error:
        raise InputError(f"{folder}: {error}") from error
    except OSError as error:
        raise ExportDamaged(f"{error}. {_ADVICE}") from error


def _check_bytes(path: Path, resource: Resource) -> None:
    size = path.stat().st_size
    if size != resource.bytes:
        raise OSError(f"{path} has {size:,} bytes instead of {resource.bytes:,}")
    if f"sha256:{sha256(path)}" != resource.hash:
        raise OSError(f"{path} was changed: its digest differs")


def _of_records(folder: Path, package: Package, limits: Limits | None) -> tuple[Part, ...]:
    """Return the parts that records become, each with the products that it had."""
    resources = {resource.name: resource for resource in package.resources}
    if resources.keys() - {"products", "code_labels"} or "products" not in resources:
        raise ExportDamaged(f"{folder / PACKAGE} names other files than those of records. {_ADVICE}")
    records = resources["products"]
    path = folder / records.path
    sizes = [1] if records.parts is None else records.parts
    with _reading(path):
        if records.parts is None or sum(sizes) != records.rows:
            raise ValueError(f"its parts have {sum(sizes):,} products instead of {records.rows}")
        lines = read_records(path)
        parts = [Part.of_records(islice(lines, size)) for size in sizes or [0]]
        _check_rows(records, sum(part.size for part in parts) + sum(1 for _ in lines))
    if (labels := resources.get("code_labels")) is not None:
        table = _read_table(folder, labels, read_jsonl, limits)
        parts[0] = Part.in_memory({**parts[0].tables, "code_labels": table})
    return tuple(parts)


def _on_disk(folder: Path, package: Package) -> Part:
    files = {resource.name: folder / resource.path for resource in package.resources}
    facts = {}
    for resource in package.resources:
        path = files[resource.name]
        with _reading(path):
            _declared_schema(resource)
            facts[resource.name] = parquet.facts_of(path)
            _check_rows(resource, int(facts[resource.name]["rows"]))
    size = int(facts["products"]["rows"]) if "products" in facts else _number_of_products(folder, package)
    # Columns are looked at now, so that a file which is no table of ours is refused here and not in the middle of work.
    part = replace(Part.on_disk(size, files, facts), lacking=_lacking(package))
    for name, path in files.items():
        with _reading(path):
            part.check(name)
    if (
        "presence" not in files
        or "gtin" in next(r for r in package.resources if r.name == "presence").columns
    ):
        return part
    with _reading(files["presence"]):
        shown = parquet.read(files["presence"], facts["presence"])
    products = part.read("products", ["product_id", "gtin"]) if "products" in files else None
    held = {"presence": stored_presence(shown, products)}
    # It was exported as people see it; parts hold it under the names of the attributes, with the GTIN.
    del files["presence"], facts["presence"]
    return replace(part, tables=held, files=files, facts=facts)


def _part_in_memory(folder: Path, package: Package, read: ReadTable, limits: Limits | None) -> Part:
    tables = {resource.name: _read_table(folder, resource, read, limits) for resource in package.resources}
    if "presence" in tables and "gtin" not in tables["presence"].column_names:
        tables["presence"] = stored_presence(tables["presence"], tables.get("products"))
    size = tables["products"].num_rows if "products" in tables else _number_of_products(folder, package)
    return Part(size, tables=tables, lacking=_lacking(package))


def _read_table(folder: Path, resource: Resource, read: ReadTable, limits: Limits | None) -> pa.Table:
    path = folder / resource.path
    with _reading(path):
        schema = _declared_schema(resource)
        table = read(path, schema, escape_formulas=resource.escape_formulas, limits=limits)
        _check_rows(resource, table.num_rows)
        if "product_id" in schema.names and table["product_id"].null_count:
            raise ValueError("it has a row without product_id")
        # One piece: whoever filters a table in memory would otherwise do so for each of hundreds of batches.
        return table.combine_chunks()


def _lacking(package: Package) -> dict[str, frozenset[str]]:
    return {resource.name: resource.lacking for resource in package.resources if resource.lacking}


def _declared_schema(resource: Resource) -> pa.Schema:
    """Return the declared types of the columns; which there are beyond these, a supplier decided."""
    declared = TABLES[resource.name]
    schema = declared.schema_of(resource.columns)
    if wrong := misfit(schema, declared, resource.lacking):
        raise ValueError(wrong)
    # What is left out of a file is among the columns of its table, and never what says whose a row is.
    if resource.name != "presence" and (
        odd := [
            name for name in resource.lacking if name not in declared.schema.names or name == "product_id"
        ]
    ):
        raise ValueError(f"it cannot be without a column {odd[0]!r:.60}")
    # The columns of `presence` are the attributes of the suppliers; all others are declared.
    if resource.name != "presence" and set(schema.names) - set(declared.schema.names):
        more = next(name for name in schema.names if name not in declared.schema.names)
        raise ValueError(f"it has a column {more!r:.60}, which the table does not have")
    return schema


def _check_rows(resource: Resource, rows: int) -> None:
    if rows != resource.rows:
        raise ValueError(f"it has {rows:,} rows instead of {resource.rows:,}")


def _number_of_products(folder: Path, package: Package) -> int:
    if package.products is None:
        raise ExportDamaged(f"{folder / PACKAGE} does not say how many products there are. {_ADVICE}")
    return package.products


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except LimitExceeded as error:
        raise InputError(f"{path}: {error}") from error
    except (
        OSError,
        ValueError,
        SnapshotDamaged,
        OverflowError,
        RecursionError,
    ) as error:  # also Arrow's own, which are ValueErrors
        raise ExportDamaged(f"{path} cannot be read: {error}. {_ADVICE}") from error


def _warn_of_altered(folder: Path, package: Package) -> None:
    altered = [
        f"{counted(resource.altered_texts, 'text')} of {resource.name}"
        for resource in package.resources
        if resource.altered_texts
    ]
    if altered:
        warnings.warn(
            f"{folder} does not hold everything as it was: {', '.join(altered)} are as the workbook holds them. Export "
            "as Parquet or CSV to have it whole.",
            UserWarning,
            stacklevel=3,
        )

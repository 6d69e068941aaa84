"""Export of a catalogue to a folder of files, with messages for requests that can mean two things."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prodex.catalog.data import CatalogData, known_table
from prodex.errors import QueryError
from prodex.formats.exporting import check_format, write_export
from prodex.formats.registry import FORMATS, FormatName
from prodex.tables.declaration import TABLES

#: Endings of files: a folder that ends so is most likely meant as a file.
_ENDINGS = {ending: name for name, one in FORMATS.items() for ending in one.endings}


def export_catalog(
    catalog: CatalogData,
    folder: str | Path,
    format: FormatName,
    tables: Iterable[str] | None,
    *,
    escape_formulas: bool,
) -> list[Path]:
    """Write tables of a catalogue to a folder; see `Catalog.export`."""
    # First of all, so that a mistake is reported before a folder is made.
    check_format(format, escape_formulas)
    place = _checked_folder(folder, format)
    held = catalog._held
    chosen = held if tables is None else _chosen(tables)
    return write_export(
        {name: (catalog.batches(name), catalog._schema(name)) for name in chosen},
        place,
        format,
        catalog.origin.to_json(),
        escape_formulas=escape_formulas,
        products=len(catalog),
        not_exported=[name for name in TABLES if name not in chosen],
    )


def _checked_folder(folder: Any, format: FormatName) -> Path:
    if not isinstance(folder, str | os.PathLike) or not str(folder):
        raise QueryError(
            f"export() takes a folder to write to, such as catalog.export('out'), not {folder!r:.60}."
        )
    place = Path(folder)
    # A folder that is there is meant, whatever its name: "out.csv" may be one.
    if place.is_dir():
        return place
    if isinstance(folder, str) and folder in FORMATS:  # a Path is never a format in the wrong place
        raise QueryError(
            f"{folder!r} is the name of a format, and export() takes the folder first. Write "
            f"catalog.export('out', {folder!r}), or catalog.export('./{folder}', {format!r}) for a folder of this name."
        )
    if meant := _ENDINGS.get(place.suffix.lower()):
        raise QueryError(
            f"{str(folder)!r:.80} is the name of a file, and an export is a folder with a file for each table. Write "
            f"catalog.export({str(place.with_suffix(''))!r:.80}, {meant!r}) for a folder, with tables=['products'] "
            f"where one table will do, or {FORMATS[meant].pandas_write.format(path=str(folder))} for a single file."
        )
    return place


def _chosen(tables: Any) -> list[str]:
    names = [tables] if isinstance(tables, str) else tables
    if not isinstance(names, Iterable):
        raise QueryError(f"tables={tables!r:.60} are no names. Write tables=['products', 'texts'].")
    chosen = list(dict.fromkeys(map(known_table, names)))
    if not chosen:
        raise QueryError("tables=[] names no table. Leave it out to write all, or write tables=['products'].")
    return chosen

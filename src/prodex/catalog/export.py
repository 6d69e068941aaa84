"""Export of a catalogue to a folder of files, with messages for requests that can mean two things."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prodex.catalog.chosen import scope_of
from prodex.catalog.data import CatalogData
from prodex.catalog.export_selection import records_of, selection_of
from prodex.catalog.languages import origin_in
from prodex.errors import QueryError
from prodex.files.untrusted import leads_to_folder
from prodex.formats.exporting import ExportedFiles, check_format, write_export
from prodex.formats.registry import FORMATS, FormatName
from prodex.progress import Progress, is_shown
from prodex.tables.declaration import TABLES

#: Endings of files: a folder that ends so is most likely meant as a file.
_ENDINGS = {ending: name for name, one in FORMATS.items() for ending in one.endings}


def export_catalog(
    catalog: CatalogData,
    folder: str | Path,
    format: FormatName,
    *,
    tables: Any,
    columns: Any,
    languages: Any,
    escape_formulas: bool,
    progress: Progress,
) -> ExportedFiles:
    """Write tables of a catalogue to a folder; see `Catalog.export`."""
    # First of all, so that a mistake is reported before a folder is made.
    check_format(format, escape_formulas)
    place = _checked_folder(folder, format)
    counting = is_shown(progress)
    if FORMATS[format].holds_records:
        _refuse_parts(format, tables=tables, columns=columns, languages=languages)
        return write_export(
            records_of(catalog),
            place,
            format,
            catalog.origin.to_json(),
            products=len(catalog),
            scope=scope_of(catalog.chosen, len(catalog)),
            progress=progress,
        )
    chosen = selection_of(catalog, format, tables, columns, languages)
    spoken = chosen.languages
    origin = catalog.origin if spoken is None else origin_in(catalog.origin, spoken)
    missing = [name for name in TABLES if name not in chosen.tables]
    return write_export(
        {name: chosen.table(name, counting=counting) for name in chosen.tables},
        place,
        format,
        origin.to_json(),
        escape_formulas=escape_formulas,
        products=len(catalog),
        scope=scope_of(catalog.chosen, len(catalog)),
        not_exported=missing,
        languages=spoken,
        left_out=_tables_left_out(
            missing, format, is_default=all(one is None for one in (tables, columns, languages))
        ),
        progress=progress,
    )


def _refuse_parts(format: FormatName, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise QueryError(
                f"{name}= chooses parts of tables, and format {format!r} holds whole records, from which all tables "
                f"are made again. Leave {name} out, or write another format such as 'parquet'."
            )


def _tables_left_out(names: Sequence[str], format: FormatName, *, is_default: bool) -> list[str]:
    if not names:
        return []
    kept = [name for name in TABLES if name not in names]
    words = f": {', '.join(kept)}" if len(kept) < len(names) else f", without {', '.join(names)}"
    sentence = f"{len(kept)} of {len(TABLES)} tables{words}"
    if is_default and (own := [name for name in FORMATS[format].only_if_named if name in names]):
        sentence += f" ({FORMATS[format].title} has {', '.join(own)} only if you name it among the tables)"
    return [sentence]


def _checked_folder(folder: Any, format: FormatName) -> Path:
    if not isinstance(folder, str | os.PathLike) or not str(folder):
        raise QueryError(
            f"export() takes a folder to write to, such as catalog.export('out'), not {folder!r:.60}."
        )
    place = Path(folder)
    # A folder that is there is meant, whatever its name: "out.csv" may be one.
    if leads_to_folder(place):
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

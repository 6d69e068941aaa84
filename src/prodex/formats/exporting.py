"""An export: one file for each table, and `datapackage.json` beside them, exchanged as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from prodex.errors import QueryError
from prodex.files.folders import replacing
from prodex.formats.package import PACKAGE, described_file, package_text, read_package
from prodex.formats.registry import FORMATS, Batches, FormatName
from prodex.text import hint


def write_export(
    tables: Mapping[str, tuple[Batches, pa.Schema]],
    folder: Path,
    format: FormatName,
    origin: Mapping[str, Any],
    *,
    escape_formulas: bool = False,
    products: int | None = None,
    not_exported: Sequence[str] = (),
) -> list[Path]:
    """Write tables to a folder, one file each, with `datapackage.json` beside them.

    The whole takes the place of an earlier export in the same format; other files in the folder stay. While it is
    exchanged, and after a process ended in that moment, there is no `datapackage.json`, and so no export.

    That file says types, meanings, rows and digests, and where the data comes from.

    Parameters
    ----------
    tables
        By name: the rows, and the columns.
    folder
        Where to.
    format
        One of `FORMATS`.
    origin
        Where the data comes from, as JSON.
    escape_formulas
        Of CSV: see `write_csv`.
    products
        How many products the tables are about.
    not_exported
        The tables that were left out.

    Raises
    ------
    QueryError
        When the format is not known or does not take an option.
    StorageError
        When the disk refuses; an earlier export is then as it was.
    """
    # Callers other than a catalogue come here directly, such as the explorer.
    check_format(format, escape_formulas)
    options = {"escape_formulas": True} if escape_formulas else {}
    names = [f"{name}.{format}" for name in tables]
    written = []
    # Files of an earlier export with other tables are replaced too: they would look like part of this one.
    with replacing(folder, {*names, *_former(folder, format), PACKAGE}, folder / PACKAGE) as beside:
        for name, (batches, schema) in tables.items():
            rows: list[int] = []
            path = beside / f"{name}.{format}"
            altered = FORMATS[format].write(_counted(batches, rows), schema, path, **options)
            written.append(described_file(path, schema, sum(rows), altered, escape_formulas))
        package = package_text(written, format, origin, products=products, not_exported=not_exported)
        (beside / PACKAGE).write_text(package, encoding="utf-8")
    return [folder / name for name in (*names, PACKAGE)]


def check_format(format: FormatName, escape_formulas: object) -> None:
    """Refuse a format that there is not, and an option that is not of a format."""
    if not isinstance(format, str) or format not in FORMATS:
        near = hint(str(format).lstrip("."), FORMATS)
        raise QueryError(f"There is no export format {format!r:.60}; there are {', '.join(FORMATS)}{near}")
    if not isinstance(escape_formulas, bool):
        raise QueryError(f"escape_formulas={escape_formulas!r:.40} is neither True nor False.")
    if escape_formulas and not FORMATS[format].can_escape_formulas:
        able = " or ".join(f"format={name!r}" for name, one in FORMATS.items() if one.can_escape_formulas)
        raise QueryError(
            f"Format {format!r} takes no option 'escape_formulas': text in it is never run. Leave it out, or write "
            f"{able}."
        )


def _counted(batches: Batches, rows: list[int]) -> Batches:
    """Pass batches on, and add the number of rows of each to a list: only the writer goes through them."""
    for batch in batches:
        rows.append(batch.num_rows)
        yield batch


def _former(folder: Path, format: str) -> list[str]:
    """Return the files of an earlier export in this format, which may have had other tables."""
    try:
        package = read_package(folder)
    except (OSError, ValueError):
        return []
    return [resource.path for resource in package.resources if resource.format == format]

"""Exports: one function for each format, fed with batches so that nothing has to fit in memory."""

from __future__ import annotations

import csv
import json
import os
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex import parquet
from prodex.errors import QueryError
from prodex.folders import replacing
from prodex.nearest import hint
from prodex.spreadsheet import escape_formulas as escaped

Batches = Iterator[pa.RecordBatch]

#: What tells of an export that it is whole, and what its columns mean.
PACKAGE = "datapackage.json"

#: The most characters of a cell (UTF-16 units) and rows of a sheet, as Excel documents its limits.
LONGEST = 32_767
MOST_ROWS = 1_048_576

#: Spreadsheets compute with doubles: a whole number from here on would lose its last digits, and stands as text.
_EXACT = 10**15
_ALL_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
#: Not characters, though Unicode numbers them: no XML holds them.
_IMPOSSIBLE = re.compile("[\ufffe\uffff]")
_WIDTH = 18
_WHOLE_SHEET = "A1:XFD1048576"

_FRICTIONLESS = {"int64": "integer", "double": "number", "bool": "boolean", "string": "string"}


def export(
    tables: Mapping[str, tuple[Batches, pa.Schema]],
    folder: Path,
    format: str,
    origin: Mapping[str, Any],
    **options: Any,
) -> list[Path]:
    """Write tables to a folder, one file each, with `datapackage.json` beside them.

    The whole takes the place of an earlier export of the same tables and format; other files in the folder stay. While
    it is exchanged, and after a process ended in that moment, there is no `datapackage.json`, and so no export.

    That file follows the Frictionless Table Schema: it tells any reader that a GTIN is text, so that no leading zero
    is lost, and holds where the data comes from.

    Raises
    ------
    QueryError
        When the format is not known or does not take an option.
    StorageError
        When the disk refuses; an earlier export is then as it was.
    """
    if format not in FORMATS:
        there_are = hint(str(format), FORMATS, f"There are {', '.join(FORMATS)}.")
        raise QueryError(f"There is no export format {format!r:.60}{there_are}")
    write = FORMATS[format]
    known = {"escape_formulas"} if format == "csv" else set()
    if unknown := sorted(set(options) - known):
        raise QueryError(f"Format {format!r} takes no option {unknown[0]!r}.")
    names = [f"{name}.{format}" for name in tables]
    altered = {}
    with replacing(folder, {*names, PACKAGE}, folder / PACKAGE) as beside:
        for name, (batches, schema) in tables.items():
            altered[name] = write(batches, schema, beside / f"{name}.{format}", **options)
        (beside / PACKAGE).write_text(_package(tables, format, origin, altered, options), encoding="utf-8")
    return [folder / name for name in (*names, PACKAGE)]


def write_parquet(batches: Batches, schema: pa.Schema, path: Path) -> int:
    """Write one table as Parquet (zstd), every text as it is."""
    with parquet.writer(path, schema) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))
    return 0


def write_csv(batches: Batches, schema: pa.Schema, path: Path, *, escape_formulas: bool = False) -> int:
    """Write one table as CSV: UTF-8, RFC 4180, null as nothing and an empty text as "".

    Parameters
    ----------
    escape_formulas
        Put an apostrophe wherever a spreadsheet would run text as a formula, whatever separates its cells. The file is
        then safe to open in a spreadsheet and no longer verbatim; `prodex.unescape_formulas` gives each text back.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        # Suppliers name attributes, and so columns.
        csv.writer(file).writerow([escaped(name) if escape_formulas else name for name in schema.names])
        for batch in batches:
            columns = [_csv_column(column, escape_formulas) for column in batch.columns]
            file.writelines(",".join(row) + "\r\n" for row in zip(*columns, strict=True))
    return 0


def write_xlsx(batches: Batches, schema: pa.Schema, path: Path, *, most_rows: int = MOST_ROWS) -> int:
    """Write one table as a workbook: text stays text and is never run, GTINs keep their zeros.

    What does not fit on a sheet goes to further sheets. A text that is longer than a cell can be is cut, and its cell
    says how much of it that is. For null there is no cell, for an empty text an empty one.

    Parameters
    ----------
    most_rows
        Rows of a sheet, its heading included.

    Returns
    -------
    int
        How many texts do not stand there as they are.
    """
    from prodex.sheets import TextSheet

    altered = 0
    with workbook(path, constant_memory=True) as book:
        heading = book.add_format({"bold": True, "bottom": 1})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        sheet, line = None, 0
        for batch in chain([schema.empty_table()], batches):
            for row in chain([None], zip(*(column.to_pylist() for column in batch.columns), strict=True)):
                if sheet is None or (row is not None and line == most_rows):
                    sheet, line = book.add_worksheet(worksheet_class=TextSheet), 1
                    sheet.freeze_panes(1, 0)
                    sheet.set_column(0, len(schema) - 1, _WIDTH)
                    sheet.ignore_errors({"number_stored_as_text": _WHOLE_SHEET})
                    for place, name in enumerate(schema.names):
                        altered += _write_cell(sheet, 0, place, name, heading)
                for place, value in enumerate(row or ()):
                    altered += _write_cell(sheet, line, place, value, moment)
                line += row is not None
    return altered


@contextmanager
def workbook(path: Path, **options: Any) -> Iterator[Any]:
    """Give an XlsxWriter workbook in which text stays text; what the disk refuses is an `OSError`, as elsewhere.

    Further options are those of `xlsxwriter.Workbook`. What it cannot keep in memory stands beside `path` meanwhile.
    """
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError

    with path.open("w+b") as file:
        book = Workbook(file, {**_ALL_TEXT, "tmpdir": str(path.parent), **options})
        book.use_zip64()
        try:
            yield book
            book.close()
        except FileCreateError as error:
            refused = error.args[0] if isinstance(error.args[0], OSError) else OSError(str(error))
            _abandon(book, file, refused)
            raise refused from None
        except BaseException as error:
            _abandon(book, file, error)
            raise


def _abandon(book: Any, file: IO[bytes], error: BaseException) -> None:
    """Close what a workbook that failed holds open, without another try to write."""
    for sheet in book.worksheets():
        if (rows := getattr(sheet, "row_data_fh", None)) is not None:
            with suppress(OSError):
                rows.close()
    # The archive writes its end when it is forgotten: to nowhere.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)
    traceback.clear_frames(error.__traceback__)


def beginning(text: str, elsewhere: str = "") -> str:
    """Return what a cell of a workbook holds of a text that is too long for it, and how much of it that is.

    Parameters
    ----------
    text
        The text.
    elsewhere
        Where all of it stands; our own words.
    """
    kept = text.encode("utf-16-le")[: 2 * (LONGEST - 70)].decode("utf-16-le", "ignore")
    return f"{kept} … [{len(kept):,} of {len(text):,} characters{elsewhere}]"


def _write_cell(sheet: Any, line: int, place: int, value: Any, style: Any) -> int:
    """Write a value; return 1 if it does not stand there as it is."""
    if value is None:
        return 0
    if isinstance(value, bool):
        sheet.write_boolean(line, place, value)
    elif isinstance(value, int | float) and abs(value) < _EXACT:  # false for NaN
        sheet.write_number(line, place, value)
    elif isinstance(value, datetime) and _fits_a_cell(value):
        sheet.write_datetime(line, place, value, style)
    else:
        whole = _text(value)
        text = _IMPOSSIBLE.sub("\ufffd", whole)
        text = text if len(text.encode("utf-16-le")) <= 2 * LONGEST else beginning(text)
        sheet.write_string(line, place, text, style if line == 0 else None)
        return int(text != whole)
    return 0


def _fits_a_cell(moment: datetime) -> bool:
    """Whether a workbook can hold a moment: it knows no zone, nothing before 1900, no millionth of a second."""
    return moment.tzinfo is None and moment.year >= 1900 and not moment.microsecond


def _text(value: Any) -> str:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else str(value)


def _csv_column(column: pa.Array, escape_formulas: bool) -> list[str]:
    """Spell a column's values; text is always quoted, so that null, "" and numbers stay apart."""
    if pa.types.is_timestamp(column.type):
        return ["" if moment is None else _text(moment) for moment in column.to_pylist()]
    if not pa.types.is_string(column.type):
        return list(pc.fill_null(pc.cast(column, pa.string()), "").to_pylist())
    return ["" if text is None else _quoted(text, escape_formulas) for text in column.to_pylist()]


def _quoted(text: str, escape_formulas: bool) -> str:
    text = escaped(text) if escape_formulas else text
    return '"' + text.replace('"', '""') + '"'


def _package(
    tables: Mapping[str, tuple[Batches, pa.Schema]],
    format: str,
    origin: Mapping[str, Any],
    altered: Mapping[str, int],
    options: Mapping[str, Any],
) -> str:
    resources = [
        {
            "name": name,
            "path": f"{name}.{format}",
            "format": format,
            "encoding": "utf-8",
            "altered_texts": altered[name],
            "escape_formulas": options.get("escape_formulas", False),
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


FORMATS: Mapping[str, Callable[..., int]] = {"parquet": write_parquet, "csv": write_csv, "xlsx": write_xlsx}

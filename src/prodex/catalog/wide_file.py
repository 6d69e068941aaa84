"""One table of a catalogue in one file, for spreadsheets and Power BI: the columns of `Catalog.wide`.

It is written as every export is: a text is text, a GTIN keeps its zeros, a text that is too long for a cell is cut and
says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from prodex.arguments import described
from prodex.catalog.catalog import Catalog
from prodex.catalog.cells import WantedAttributes
from prodex.catalog.names import LOCALIZED, rows_in
from prodex.catalog.wide import WideColumns, wide_columns
from prodex.errors import QueryError
from prodex.files.atomic import writing
from prodex.files.untrusted import leads_to_folder
from prodex.formats.exporting import ExportedFiles, check_format, cut_in_words
from prodex.formats.registry import FORMATS, FormatName
from prodex.progress import Progress, showing
from prodex.tables.columns import by_value
from prodex.tables.declaration import TABLES

#: The formats that hold a table, by the ending of their files.
WIDE_FORMATS: dict[str, FormatName] = {
    f".{name}": name for name, one in FORMATS.items() if not one.holds_records
}
#: What is left out of each row, in words.
_NOT_ITSELF = (
    "what describes the products themselves, without hierarchies, sharing units and updates that wait"
)
#: Rows of a batch, so that no second copy of a large table is held in memory.
_AT_ONCE = 10_000


def export_wide(
    catalog: Catalog,
    path: str | Path,
    language: str | Iterable[str] | None,
    attributes: str | Iterable[str] | None,
    columns: str | Iterable[str] | None,
    numbers: bool,
    *,
    escape_formulas: bool,
    progress: Progress,
) -> ExportedFiles:
    """Write one table of a catalogue to one file; see `Catalog.export_wide`."""
    file = file_given(path)
    form = WIDE_FORMATS[file.suffix.lower()]
    check_format(form, escape_formulas)
    made = wide_columns(catalog, language, attributes, columns, numbers)
    table, renamed = _distinct(_plain(made))
    options = {"escape_formulas": True} if escape_formulas else {}
    with (
        writing(file) as beside,
        showing(progress, "Exported", "rows", table.num_rows, phase="Exporting") as phase,
    ):
        batches = phase.passing(iter(table.to_batches(_AT_ONCE)))
        altered = FORMATS[form].write(batches, table.schema, beside, **options)
    left_out = [*_left_out(catalog, made, table), *renamed, *([cut_in_words(altered)] if altered else [])]
    return ExportedFiles([file], left_out)


def file_given(path: object) -> Path:
    """Return the file that a table is written to: its ending says in which format.

    >>> file_given("shop.XLSX").name
    'shop.XLSX'
    """
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise QueryError(
            f"path is {described(path)}. Give the file to write, such as catalog.export_wide('shop.xlsx', 'fr')."
        )
    file = Path(path)
    if leads_to_folder(file):
        raise QueryError(
            f"{str(path)!r:.80} is a folder, and one table is one file. Give a file in it, such as "
            f"{str(file / 'shop.xlsx')!r:.80}."
        )
    if file.suffix.lower() not in WIDE_FORMATS:
        raise QueryError(
            f"{str(path)!r:.80} does not say in which format the table is to be written. Give a file that ends in "
            f"{', '.join(WIDE_FORMATS)}: {f'{file}.xlsx'!r:.80}."
        )
    return file


def _plain(made: WideColumns) -> Iterator[tuple[pa.Field, pa.ChunkedArray]]:
    """Yield the columns as they are written: with the types and meanings of `products`, where it has them."""
    declared = TABLES["products"].schema
    for name, values in made.shown:
        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        field = declared.field(name) if name in declared.names else pa.field(name, kind)
        yield field, values.cast(field.type)


def _distinct(columns: Iterable[tuple[pa.Field, pa.ChunkedArray]]) -> tuple[pa.Table, list[str]]:
    """Return the table, in which no name is another one in capitals: Power BI and Excel take these for one.

    With it comes a sentence for each column that has another name for that.
    """
    fields, values, said = [], [], []
    seen: set[str] = set()
    for field, column in columns:
        name, number = field.name, 1
        while name.casefold() in seen:
            number += 1
            name = f"{field.name} ({number})"
        if number > 1:
            said.append(f"the column {field.name!r:.80} as {name!r:.80}: another one is called alike")
        seen.add(name.casefold())
        fields.append(field.with_name(name))
        values.append(column)
    return pa.table(values, schema=pa.schema(fields)), said


def _left_out(catalog: Catalog, made: WideColumns, table: pa.Table) -> Iterator[str]:
    if table.num_columns < made.in_all:
        yield f"{table.num_columns:,} of {made.in_all:,} columns"
    elif catalog.row_count("hierarchies"):
        yield _NOT_ITSELF
    if made.languages is None:
        return
    columns = ["attribute", *LOCALIZED["texts"]]
    kept = in_all = 0
    for part in catalog.parts:
        rows = part.read("texts", columns)
        rows = rows.filter(pa.array(by_value(rows["attribute"], WantedAttributes(None).holds, False)))
        in_all += rows.num_rows
        kept += rows_in(rows, "texts", made.languages).num_rows
    if kept < in_all:
        yield f"{kept:,} of {in_all:,} texts, in {', '.join(made.languages)}"

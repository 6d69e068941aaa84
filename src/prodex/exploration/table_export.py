"""Export of products: the table as it is shown, or every table of a catalogue, and words for what was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from prodex.catalog import Catalog
from prodex.catalog.origin import scope_of
from prodex.exploration.product_columns import ProductColumns, Rows
from prodex.exploration.table_page import column_values
from prodex.formats.exporting import ExportedTable, cut_in_words, tables_in, write_export
from prodex.formats.registry import FORMATS, FormatName
from prodex.phrases import counted
from prodex.progress import Progress
from prodex.tables.declaration import TABLES

#: What can be exported, as the form names it.
AS_SHOWN, EVERYTHING = "the table as shown", "all tables of these products"
ONE_TABLE = "one table for Excel and Power BI"
_FILE, _ONE_FILE = "products_as_shown", "products_in_one_table"
_DESCRIBED = "datapackage.json"
#: Rows of a batch, so that no second copy of a large table is held in memory.
_AT_ONCE = 10_000


@dataclass(frozen=True)
class ExportRequest:
    """What is to be exported, and where to.

    Attributes
    ----------
    what
        `AS_SHOWN`, `EVERYTHING` or `ONE_TABLE`.
    format
        A name in `FORMATS`.
    folder
        The folder for the files.
    is_safe
        Whether text that a spreadsheet would run as a formula gets an apostrophe; for CSV only.
    languages, columns
        Of all tables, or of the one, only texts in these languages, and only these columns; none given means all.
    """

    what: str
    format: FormatName
    folder: Path
    is_safe: bool = False
    languages: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def existing_files(self) -> list[str]:
        """Names of existing files that the export would replace."""
        names = [_FILE] if self.what == AS_SHOWN else tables_in(self.format)
        wanted = [*(f"{name}.{self.format}" for name in names), _DESCRIBED]
        if self.what == ONE_TABLE:
            wanted = [self.one_file.name]
        return [name for name in wanted if (self.folder / name).exists()]

    @property
    def one_file(self) -> Path:
        """The file of the one table."""
        return self.folder / f"{_ONE_FILE}.{self.format}"

    @property
    def escapes(self) -> bool:
        """Whether text that a spreadsheet would run as a formula gets an apostrophe."""
        return self.is_safe and FORMATS[self.format].can_escape_formulas


@dataclass(frozen=True, eq=False)
class ShownTable:
    """The table as it is shown, with all its pages.

    Attributes
    ----------
    products
        The products of the catalogue.
    rows
        Places of those that are shown, in their order.
    columns
        The columns that are shown.
    language
        Language of the names.
    """

    products: ProductColumns
    rows: Rows
    columns: tuple[str, ...]
    language: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types and meanings."""
        declared = TABLES["products"].schema
        types = {
            name: _value_type(column_values(self.products, name, self.language)) for name in self.columns
        }
        return pa.schema(
            [
                declared.field(name) if name in declared.names else pa.field(name, kind)
                for name, kind in types.items()
            ]
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows with their full texts: only the cells on the screen are cut."""
        schema = self.schema
        for start in range(0, len(self.rows), _AT_ONCE):
            some = pa.array(self.rows[start : start + _AT_ONCE])
            taken = (column_values(self.products, name, self.language).take(some) for name in self.columns)
            columns = [one.cast(kind) for one, kind in zip(taken, schema.types, strict=True)]
            yield pa.record_batch(columns, schema=schema)


def _value_type(values: pa.Array) -> pa.DataType:
    return values.type.value_type if pa.types.is_dictionary(values.type) else values.type


def export_products(
    request: ExportRequest, table: ShownTable, catalog: Catalog, progress: Progress = False
) -> str:
    """Export, and return what was written where.

    Parameters
    ----------
    request
        What is to be exported.
    table
        The table as it is shown.
    catalog
        The catalogue of its products.
    progress
        See `Catalog.export`.

    Raises
    ------
    QueryError
        When a language or a column is not known.
    StorageError
        When the disk refuses.
    """
    scope = scope_of(catalog.chosen, len(catalog))
    if request.what == ONE_TABLE:
        return _one_table(request, catalog, scope, progress)
    if is_shown := request.what == AS_SHOWN:
        tables = {_FILE: ExportedTable(table.batches(), table.schema)}
        origin = table.products.catalog.origin.to_json()
        paths = write_export(
            tables,
            request.folder,
            request.format,
            origin,
            escape_formulas=request.escapes,
            scope=scope,
            progress=progress,
        )
        where = f"{paths[0].absolute()} ({counted(len(table.columns), 'column')})"
    else:
        paths = catalog.export(
            request.folder,
            request.format,
            columns=request.columns or None,
            languages=request.languages or None,
            escape_formulas=request.escapes,
            progress=progress,
        )
        # One file is the description.
        files = "file" if FORMATS[request.format].holds_records else "table"
        where = f"{counted(len(paths) - 1, files)} in {request.folder.absolute()}"
    report = f"Exported {counted(len(table.rows if is_shown else catalog), 'product')} to {where}."
    if scope is not None:
        report += f" These are {scope}"
    if paths.left_out:
        report += f" Left out: {'; '.join(paths.left_out)}."
    # The export describes what it had to change in the data package beside the files.
    described = json.loads((request.folder / _DESCRIBED).read_text("utf-8"))
    altered = sum(resource["altered_texts"] for resource in described["resources"])
    if altered:
        report += f" {cut_in_words(altered)}."
    return report


def _one_table(request: ExportRequest, catalog: Catalog, scope: str | None, progress: Progress) -> str:
    """Export one table with all that there is of a product, and return what was written where."""
    written = catalog.export_wide(
        request.one_file,
        request.languages or None,
        columns=request.columns or None,
        escape_formulas=request.escapes,
        progress=progress,
    )
    report = f"Exported {counted(len(catalog), 'product')} to {request.one_file.absolute()}."
    if scope is not None:
        report += f" These are {scope}"
    if written.left_out:
        report += f" Written: {'; '.join(written.left_out)}."
    return report


def export_formats(what: str) -> list[tuple[str, FormatName]]:
    """Return the formats by title, so that CSV, which every program reads, is proposed first; Excel for one table."""
    # The table as it is shown is made of columns, of which whole records know nothing.
    able = {name: one for name, one in FORMATS.items() if what == EVERYTHING or not one.holds_records}
    formats = sorted((one.title, name) for name, one in able.items())
    return sorted(formats, key=lambda one: what == ONE_TABLE and one[1] != "xlsx")

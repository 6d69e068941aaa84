"""Export of the filtered products: the table as it is shown, or every table of the catalogue."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as w
import pyarrow as pa

from prodex.catalog import Catalog
from prodex.catalog.origin import scope_of
from prodex.exploration.product_columns import ProductColumns, Rows
from prodex.exploration.table_page import column_values
from prodex.formats.exporting import ExportedTable, tables_in, write_export
from prodex.formats.registry import FORMATS, FormatName
from prodex.messages import counted
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.exporting import path_of, spreadsheet_box
from prodex.notebook.shared.long_tasks import Exporter
from prodex.notebook.shared.panel import Panel, button, check_box, row, show_if
from prodex.progress import Progress
from prodex.tables.declaration import TABLES

#: What can be exported, as the form names it.
AS_SHOWN, EVERYTHING = "the table as shown", "all tables of these products"
_FILE = "products_as_shown"
_DESCRIBED = "datapackage.json"
#: Rows of a batch, so that no second copy of a large table is held in memory.
_AT_ONCE = 10_000


@dataclass(frozen=True)
class ExportRequest:
    """What is to be exported, and where to.

    Attributes
    ----------
    what
        `AS_SHOWN` or `EVERYTHING`.
    format
        A name in `FORMATS`.
    folder
        The folder for the files.
    is_safe
        Whether text that a spreadsheet would run as a formula gets an apostrophe; for CSV only.
    languages, columns
        Of all tables, only texts in these languages, and only these columns; none given means all.
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
        return [name for name in wanted if (self.folder / name).exists()]

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
        are = "is" if altered == 1 else "are"
        report += (
            f" {counted(altered, 'text')} {are} longer than a cell of a workbook can be (32,767 characters) and cut "
            "there; each cell states the full length."
        )
    return report


def _formats(what: str) -> list[tuple[str, FormatName]]:
    """Return the formats by title, so that CSV, which every program reads, is proposed first."""
    # The table as it is shown is made of columns, of which whole records know nothing.
    able = {name: one for name, one in FORMATS.items() if what == EVERYTHING or not one.holds_records}
    return sorted((one.title, name) for name, one in able.items())


class ExportBox(VBox):
    """A form with what to export, format, folder and a button.

    Parameters
    ----------
    panel
        The panel around it.
    gather
        Returns the table as it is shown now, and the catalogue of the same products; or both of the products whose ids
        it is given.

    Attributes
    ----------
    only
        Whether only the selected products are exported.
    """

    def __init__(
        self, *, panel: Panel, gather: Callable[[tuple[str, ...] | None], tuple[ShownTable, Catalog]]
    ) -> None:
        super().__init__()
        self._gather = gather
        self._selected: tuple[str, ...] = ()
        self.only: w.Checkbox = check_box("")
        self._confirmed: ExportRequest | None = None
        narrow = w.Layout(width="auto")
        self._what = w.Dropdown(description="Export", options=[AS_SHOWN, EVERYTHING], layout=narrow)
        self._products = 0
        self._format = w.Dropdown(description="as", options=_formats(AS_SHOWN), layout=narrow)
        self._folder = w.Text(description="to folder", value="export", layout=w.Layout(width="320px"))
        self._languages = w.Text(description="languages", placeholder="all, or such as fr, nl")
        self._columns = w.Text(description="columns", placeholder="all, or such as brand, text")
        self._safe = spreadsheet_box()
        self._button = button("", "primary")
        self.exporter: Exporter = Exporter(panel, {self._button: self._export}, finished=self._reset)
        self._line = row(self._what, self._format, self._folder, self._button, look="line")
        self._choices = row(self._languages, self._columns, look="line")
        self._fill()
        panel.on(self._what, lambda _: self._offer(), "value")
        controls = (self._format, self._folder, self._languages, self._columns, self._safe, self.only)
        for control in controls:
            panel.on(control, lambda _: self._reset(), "value")
        self.offer_only(())
        self.count(0)

    def count(self, products: int) -> None:
        """Show on the button how many products would be exported."""
        self._products = products
        self._reset()

    def offer_only(self, selected: tuple[str, ...]) -> None:
        """Offer to export only these products."""
        self._selected = selected
        self.only.description = f"Only the {counted(len(selected), 'selected product')}"
        self.only.value = self.only.value and bool(selected)
        show_if(self.only, bool(selected))
        self._reset()

    @property
    def _number(self) -> int:
        """How many products would be exported."""
        return len(self._selected) if self.only.value else self._products

    def _fill(self, choices: tuple[Any, ...] = ()) -> None:
        exporter = self.exporter
        self.children: tuple[Any, ...] = (
            *(self._line, self.only, *choices, self._safe),
            *(exporter.work, exporter.line),
        )

    def _offer(self) -> None:
        """Offer the formats of what is to be exported."""
        chosen, formats = self._format.value, _formats(self._what.value)
        self._format.options = formats
        self._format.value = chosen if chosen in dict(formats).values() else formats[0][1]
        self._reset()

    def _reset(self) -> None:
        """Ask again before files are replaced, since something has changed."""
        self._confirmed = None
        has_parts = self._what.value == EVERYTHING and not FORMATS[self._format.value].holds_records
        self._fill((self._choices,) if has_parts else ())
        # Only CSV has no types: a spreadsheet reads a text in it as a formula.
        show_if(self._safe, FORMATS[self._format.value].can_escape_formulas)
        self._button.description = f"Export {counted(self._number, 'product')}"
        self._button.disabled = not self._number

    def _export(self) -> None:
        folder = path_of(self._folder.value, "a folder for the files, such as out")
        has_parts = self._choices in self.children
        languages, columns = (
            _comma_words(one.value) if has_parts else () for one in (self._languages, self._columns)
        )
        request = ExportRequest(
            self._what.value, self._format.value, folder, self._safe.value, languages, columns
        )
        existing = request.existing_files
        if existing and request != self._confirmed:
            self._confirmed = request
            self._button.description = f"Replace {counted(len(existing), 'file')}"
            self.exporter.show_message(
                f"{request.folder.absolute()} already contains {_first_names(existing)}."
            )
            return
        write = partial(export_products, request, *self._gather(self._selected if self.only.value else None))
        self.exporter.start(write, f"Exporting {counted(self._number, 'product')}")


def _comma_words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _first_names(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {counted(len(names) - 3, 'other file')}"

"""What is left of a catalogue, written to files: the table as it is shown, or every table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ipywidgets as w
import pyarrow as pa

from prodex import formats
from prodex.catalog import Catalog
from prodex.display.audit import counted
from prodex.errors import ProdexError, QueryError
from prodex.formats.registry import FORMATS, FormatName
from prodex.notebook.background import LatestTask
from prodex.notebook.exporting import path_of
from prodex.notebook.panel import Panel, html, in_words, rest, typed
from prodex.notebook.products.product_columns import ProductColumns, Rows
from prodex.notebook.products.table_page import shown
from prodex.tables.declaration import TABLES

#: What can be written, as people choose it.
AS_SHOWN, EVERYTHING = "the table as shown", "all tables of these products"
_FILE = "products_as_shown"
_DESCRIBED = "datapackage.json"
_AT_ONCE = 10_000


@dataclass(frozen=True)
class ExportRequest:
    """What somebody wants to have written.

    Attributes
    ----------
    what
        `AS_SHOWN` or `EVERYTHING`.
    format
        A name in `FORMATS`.
    folder
        Where to.
    is_safe
        Whether text that a spreadsheet would run gets an apostrophe; of CSV only.
    """

    what: str
    format: FormatName
    folder: Path
    is_safe: bool = False

    @property
    def in_the_way(self) -> list[str]:
        """Names of files that stand where files would be written."""
        names = [_FILE] if self.what == AS_SHOWN else list(TABLES)
        wanted = [*(f"{name}.{self.format}" for name in names), _DESCRIBED]
        return [name for name in wanted if (self.folder / name).exists()]

    @property
    def escapes(self) -> bool:
        """Whether text that a spreadsheet would run gets an apostrophe."""
        return self.is_safe and FORMATS[self.format].can_escape_formulas


@dataclass(frozen=True, eq=False)
class ShownTable:
    """What a table shows, of all its pages.

    Attributes
    ----------
    stock
        The products.
    rows
        Places of those that are shown, in their order.
    columns
        What is shown of each.
    language
        Of the names.
    """

    stock: ProductColumns
    rows: Rows
    columns: tuple[str, ...]
    language: str | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types and meanings."""
        declared = TABLES["products"].schema
        nothing = {name: shown(self.stock, name, self.language).type for name in self.columns}
        return pa.schema(
            [
                declared.field(name) if name in declared.names else pa.field(name, kind)
                for name, kind in nothing.items()
            ]
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, whole: no text is cut."""
        schema = self.schema
        for start in range(0, len(self.rows), _AT_ONCE):
            some = pa.array(self.rows[start : start + _AT_ONCE])
            columns = [shown(self.stock, name, self.language).take(some) for name in self.columns]
            yield pa.record_batch(columns, schema=schema)


def written(wish: ExportRequest, table: ShownTable, catalog: Catalog) -> str:
    """Write it, and say what was written where.

    Parameters
    ----------
    wish
        What is wanted.
    table
        The table as it is shown.
    catalog
        The products of the table.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    if wish.what == AS_SHOWN:
        tables = {_FILE: (table.batches(), table.schema)}
        origin = table.stock.catalog.origin.to_json()
        paths = formats.export(tables, wish.folder, wish.format, origin, escape_formulas=wish.escapes)
    else:
        paths = catalog.export(wish.folder, wish.format, escape_formulas=wish.escapes)
    described = json.loads((wish.folder / _DESCRIBED).read_text("utf-8"))
    altered = sum(resource["altered_texts"] for resource in described["resources"])
    count = len(table.rows) if wish.what == AS_SHOWN else len(catalog)
    told = [f"{counted(count, 'product')} written:"]
    if wish.what == AS_SHOWN:
        told.append(f"{paths[0].absolute()}, {counted(len(table.columns), 'column')}.")
    else:
        told.append(f"{len(paths) - 1} tables in {wish.folder.absolute()}.")
    if altered:
        told.append(
            f"{counted(altered, 'text')} longer than a cell can be (32,767 characters): "
            "the cell says how much is there."
        )
    return " ".join(told)


def folder_of(text: str) -> Path:
    """Return the folder that somebody typed.

    Raises
    ------
    QueryError
        When nothing was typed.
    InputError
        When no folder can be called so.
    """
    if not text.strip():
        raise QueryError("There is no folder to write to. Type its name, such as out.")
    return path_of(text)


#: By title, so that CSV, which every program reads, is proposed first.
_FORMATS = sorted((one.title, name) for name, one in FORMATS.items())


class ExportBox(w.VBox):
    """Format, folder, a button, and what became of it.

    Parameters
    ----------
    panel
        Where it stands.
    gather
        Gives what is shown now, and the catalogue of the same products.
    """

    def __init__(self, *, panel: Panel, gather: Callable[[], tuple[ShownTable, Catalog]]) -> None:
        super().__init__()
        self._gather = gather
        self._confirmed: ExportRequest | None = None
        narrow = w.Layout(width="auto")
        self._what = w.Dropdown(description="Write", options=[AS_SHOWN, EVERYTHING], layout=narrow)
        self._format = w.Dropdown(description="as", options=_FORMATS, layout=narrow)
        self._folder = w.Text(description="to the folder", value="export", layout=w.Layout(width="320px"))
        self._safe = w.Checkbox(
            description="Safe for spreadsheets: an apostrophe before text that would run as a formula",
            value=True,
            indent=False,
            layout=w.Layout(width="auto"),  # its own: it is hidden alone
        )
        self._button = w.Button(layout=narrow)
        self._button.add_class("primary")
        self._told = html("")
        self._writing: LatestTask[str] = LatestTask(written, self._done, self._failed)
        line = w.HBox([self._what, self._format, self._folder, self._button])
        line.add_class("line")
        self.children = (line, self._safe, self._told)
        for control in (self._what, self._format, self._folder, self._safe):
            panel.on(control, lambda _: self._ask_again(), "value")
        panel.on(self._button, lambda _: self._press())
        self.count(0)

    def count(self, products: int) -> None:
        """Say on the button how many products would be written."""
        self._products = products
        self._ask_again()

    def wait(self) -> None:
        """Wait until it is written; for scripts and tests."""
        self._writing.wait()

    def _ask_again(self) -> None:
        self._confirmed = None
        self._safe.layout.display = "" if FORMATS[self._format.value].can_escape_formulas else "none"
        self._button.description = f"Export {counted(self._products, 'product')}"
        self._button.disabled = not self._products

    def _press(self) -> None:
        self._told.value = ""
        try:
            self._write()
        except ProdexError as error:
            self._failed(error)

    def _write(self) -> None:
        wish = ExportRequest(
            self._what.value, self._format.value, folder_of(self._folder.value), self._safe.value
        )
        there = wish.in_the_way
        if there and wish != self._confirmed:
            self._confirmed = wish
            self._button.description = f"Replace {'it' if len(there) == 1 else 'them'}"
            self._tell(f"In {wish.folder.absolute()} there is already: {_listed(there)}.")
            return
        rest(self._button, is_resting=True)
        self._tell(f"Writing {counted(self._products, 'product')} …")
        self._writing(wish, *self._gather())

    def _tell(self, sentence: str) -> None:
        self._told.value = f"<div class='note' role='status'>{typed(sentence)}</div>"

    def _done(self, sentence: str) -> None:
        self._tell(sentence)
        self._finish()

    def _failed(self, error: BaseException) -> None:
        self._told.value = f"<div class='problem' role='alert'>{typed(in_words(error))}</div>"
        self._finish()

    def _finish(self) -> None:
        self._ask_again()
        rest(self._button, is_resting=False)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {counted(len(names) - 3, 'other file')}"

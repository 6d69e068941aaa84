"""What is left of a catalogue, written to files: the table as it is shown, or every table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from prodex import formats
from prodex.catalog import Catalog
from prodex.errors import QueryError
from prodex.notebook.paths import path_of
from prodex.notebook.products.page import shown
from prodex.notebook.products.stock import Rows, Stock
from prodex.quality.display import counted
from prodex.tables.declaration import TABLES

#: What can be written, as people choose it.
AS_SHOWN, EVERYTHING = "the table as shown", "all tables of these products"
_FILE = "products_as_shown"
_DESCRIBED = "datapackage.json"
_AT_ONCE = 10_000


@dataclass(frozen=True)
class Wish:
    """What somebody wants to have written.

    Attributes
    ----------
    what
        `AS_SHOWN` or `EVERYTHING`.
    format
        "csv", "xlsx" or "parquet".
    folder
        Where to.
    is_safe
        Whether text that a spreadsheet would run gets an apostrophe; of CSV only.
    """

    what: str
    format: Literal["parquet", "csv", "xlsx"]
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
        return self.is_safe and self.format == "csv"


@dataclass(frozen=True, eq=False)
class Shown:
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

    stock: Stock
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


def written(wish: Wish, table: Shown, catalog: Catalog) -> str:
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

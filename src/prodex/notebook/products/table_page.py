"""The table of products, page by page: in which order, which rows, and what stands in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.display.audit import percent
from prodex.display_text import words
from prodex.facts.name import NAME_PATHS
from prodex.notebook.products.product_columns import Mask, ProductColumns, Rows
from prodex.notebook.products.search import folded
from prodex.tables.declaration import TABLES

#: What is shown first, and what further columns are called; the others go by their names.
COLUMNS = ("gtin", "name", "brand", "kind", "owner", "updated_at", "texts_count", "pictures_count")
JUDGED = ("grade", "score")
_TITLES = {
    "gtin": "GTIN",
    "name": "Name",
    "brand": "Brand",
    "kind": "Kind",
    "owner": "Owner",
    "updated_at": "Updated",
    "texts_count": "Texts",
    "pictures_count": "Pictures",
    "grade": "Grade",
    "score": "Score",
}
#: Characters of a text that a cell shows.
CELL = 90
#: What stands where there is no value.
NOTHING = "—"


@dataclass(frozen=True)
class Order:
    """What products are sorted by; without a column they stand as in the catalogue."""

    column: str = ""
    descending: bool = False


@dataclass(frozen=True, eq=False)
class TablePage:
    """Some of the products that are looked at.

    Attributes
    ----------
    rows
        Their places in the catalogue.
    first
        Number of the first of them, from 1.
    found, whole
        How many products there are to page through, and in all.
    number, pages
        Which page of how many, from 1.
    """

    rows: Rows
    first: int
    found: int
    whole: int
    number: int
    pages: int

    @property
    def words(self) -> str:
        """Say which products these are."""
        last = self.first + len(self.rows) - 1
        shown = f"{self.first:,}-{last:,} of {self.found:,}" if len(self.rows) else "0"
        every = "" if self.found == self.whole else f" ({self.whole:,} in all)"
        return f"{shown} {'product' if self.found == 1 else 'products'}{every}"


def page_of(ordered: Rows, mask: Mask, number: int, size: int) -> TablePage:
    """Return a page of the products under a mask; where there is no such page, the nearest one.

    >>> page = page_of(np.arange(10), np.arange(10) % 2 == 0, 9, 2)
    >>> page.rows.tolist(), page.words, page.number
    ([8], '5-5 of 5 products (10 in all)', 3)
    """
    found = ordered[mask[ordered]]
    pages = max(1, -(-len(found) // size))
    number = min(max(number, 1), pages)
    first = (number - 1) * size
    return TablePage(found[first : first + size], first + 1, len(found), len(mask), number, pages)


class Sorter:
    """Sorts products by what a column shows; each order is made once.

    Parameters
    ----------
    stock
        The products.
    """

    def __init__(self, stock: ProductColumns) -> None:
        self._stock = stock
        self._known: dict[tuple[Order, str | None], Rows] = {}

    def order(self, by: Order, language: str | None = None) -> Rows:
        """Return the places of all products in order: equal ones as in the catalogue, those without a value last."""
        key = (by, language if by.column == "name" else None)
        if key not in self._known:
            self._known[key] = self._sorted(by, language)
        return self._known[key]

    def _sorted(self, by: Order, language: str | None) -> Rows:
        if not by.column:
            return np.arange(len(self._stock))
        values = shown(self._stock, by.column, language)
        there = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        values = values.drop_null()
        values = folded(values) if pa.types.is_string(values.type) else values
        order = pc.array_sort_indices(values, order="descending" if by.descending else "ascending")
        missing = np.setdiff1d(np.arange(len(self._stock)), there)
        return np.concatenate([there[order.to_numpy()], missing])


def shown(stock: ProductColumns, column: str, language: str | None = None) -> pa.Array:
    """Return what a column of the table holds, whole."""
    return stock.names(language) if column == "name" else stock.shown(column)


def cells(
    stock: ProductColumns, rows: Rows, columns: Sequence[str], language: str | None = None
) -> pd.DataFrame:
    """Return some rows as they are shown, every cell a text."""
    stock.read(*(name for name in columns if name != "name"))
    taken = {name: shown(stock, name, language).take(pa.array(rows)) for name in columns}
    asked = {name: is_asked(stock, name) for name in columns}
    return pd.DataFrame(
        {
            title(name): [cell(name, one, asked=asked[name]) for one in values.to_pylist()]
            for name, values in taken.items()
        },
        dtype="str",
    )


def cell(column: str, value: object, *, asked: bool = True) -> str:
    """Return what a cell says.

    >>> cell("score", 0.875), cell("brand", None), cell("brand", None, asked=False), cell("brand", "")
    ('87.5 %', '—', 'not asked for', '""')
    """
    if value is None or (value == 0 and not asked):  # a count of what was not asked for
        return NOTHING if asked else "not asked for"
    if column == "score" and isinstance(value, float):
        return percent(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if column.endswith("_count") else str(value)
    if isinstance(value, float):
        return f"{value:.15g}"
    if hasattr(value, "strftime"):
        return f"{value:%Y-%m-%d %H:%M}"
    return cut(str(value), CELL) or '""'


def cut(text: str, most: int) -> str:
    """Return a text, or its beginning with what that is of the whole.

    >>> cut("x" * 40_000, 3)
    'xxx …(3 of 40,000 characters)'
    """
    spelled = words(text[: most + 1]).text
    return spelled if len(text) <= most else f"{spelled[:most]} …({most:,} of {len(text):,} characters)"


def title(column: str) -> str:
    """Return what a column is called."""
    return _TITLES.get(column, column)


def is_number(column: str) -> bool:
    """Whether a column stands on the right."""
    field = TABLES["products"].schema.field(column) if column in _DECLARED else None
    return column == "score" or (field is not None and pa.types.is_integer(field.type))


def is_asked(stock: ProductColumns, column: str) -> bool:
    """Whether anybody asked the service for what a column holds."""
    paths = _PATHS.get(column, ())
    if not paths or any(map(stock.catalog.origin.asked, paths)):
        return True
    return column.endswith("_count") and bool(pc.any(pc.greater(stock.column(column), 0)).as_py())


_DECLARED = frozenset(TABLES["products"].schema.names)
#: What has to have been asked for, at least one of it; texts of any kind are counted, whichever they are.
_PATHS: dict[str, tuple[str, ...]] = {
    **{column.name: (".".join(column.paths[0]),) for column in TABLES["products"].columns if column.paths},
    "name": NAME_PATHS,
    "texts_count": NAME_PATHS,
    "pictures_count": ("assets.pictures",),
}

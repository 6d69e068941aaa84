"""A page of the table of products: the order, the rows of the page, and the text of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.exploration.product_columns import (
    ProductColumns,
    ProductRows,
    Rows,
    quantity_of,
    quantity_title,
    shown_by,
)
from prodex.facts.name import NAME_PATHS
from prodex.phrases import percent
from prodex.quality.completeness import SHARE, channel_column_title, is_of_channel
from prodex.tables.columns import unaccented_texts
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import FillState
from prodex.untrusted_text import cut

#: The columns that are shown at first, and those that an audit adds.
COLUMNS = ("gtin", "name", "brand", "kind", "owner", "updated_at", "texts_count", "pictures_count")
AUDIT_COLUMNS = ("grade", "score")
#: A column without a title is shown by its name, as it is in a DataFrame.
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
#: Orders that are kept: each takes eight megabytes of a million products.
_ORDERS = 6
#: Characters of a text that a cell shows.
CELL = 90
#: Shown where there is no value.
NOTHING, NOT_ASKED = "—", FillState.NOT_ASKED.value


@dataclass(frozen=True)
class Order:
    """The column by which products are sorted; without one they are in the order of the catalogue."""

    column: str = ""
    descending: bool = False


class Sorter:
    """Sorts products by what a column shows, and keeps the orders that were asked for last.

    Parameters
    ----------
    products
        The products.
    """

    def __init__(self, products: ProductColumns) -> None:
        self._products = products
        self._known: dict[tuple[Order, str | None], Rows] = {}

    def order(self, by: Order, language: str | None = None) -> Rows:
        """Return the places of all products in order: equal ones as in the catalogue, products without a value last."""
        key = (by, language if by.column == "name" else None)
        known = self._known.pop(key, None)
        self._known[key] = self._sorted(by, language) if known is None else known
        if len(self._known) > _ORDERS:
            del self._known[next(iter(self._known))]
        return self._known[key]

    def ranks(self, column: str, language: str | None = None) -> Rows:
        """Return the rank of each product by a column, from 1: equal ones share one, and 0 is no value.

        >>> import prodex
        >>> codes = [{"id": n, "brand": {"code": code}} for n, code in enumerate("BAB")]
        >>> Sorter(ProductColumns(prodex.flatten([*codes, {"id": 3}]))).ranks("brand").tolist()
        [2, 1, 2, 0]
        """
        values = column_values(self._products, column, language)
        is_there = values.is_valid().to_numpy(zero_copy_only=False)
        ranks = np.zeros(len(values), np.int64)
        ranks[is_there] = pc.rank(_sortable(values.drop_null()), tiebreaker="dense").to_numpy()
        return ranks

    def _sorted(self, by: Order, language: str | None) -> Rows:
        if not by.column:
            return np.arange(len(self._products))
        values = column_values(self._products, by.column, language)
        is_there = values.is_valid().to_numpy(zero_copy_only=False)
        values = _sortable(values.drop_null())
        order = pc.array_sort_indices(values, order="descending" if by.descending else "ascending")
        # Products without a value are last in both directions: nobody sorts in order to see them first.
        return np.concatenate([np.flatnonzero(is_there)[order.to_numpy()], np.flatnonzero(~is_there)])


def _sortable(values: pa.Array) -> pa.Array:
    """Return values as they are sorted: text as it is searched, so that "Éclair" is next to "eclair"."""
    if pa.types.is_dictionary(values.type):
        # Each distinct value is compared once; products are sorted by its rank.
        rank = pc.rank(_sortable(values.dictionary), tiebreaker="dense")
        return rank.take(values.indices)
    return unaccented_texts(values) if pa.types.is_string(values.type) else values


def column_values(products: ProductColumns, column: str, language: str | None = None) -> pa.Array:
    """Return the values of a column of the table for all products, uncut."""
    return products.names(language) if column == "name" else products.shown(column)


def cells(page: ProductRows, columns: Sequence[str], language: str | None = None) -> pd.DataFrame:
    """Return some products as they are shown, with a text in every cell; nothing is read of other products."""
    # With their ids, which are wanted next: a file is opened and unpacked once.
    page.read("product_id", *(needed for name in columns if name != "name" for needed in shown_by(name)[1]))
    asked = {name: is_asked(page.products, name) for name in columns}
    return pd.DataFrame(
        {
            title(name): [
                cell(name, one, asked=asked[name]) for one in page.shown(name, language).to_pylist()
            ]
            for name in columns
        },
        dtype="str",
    )


def cell(column: str, value: object, *, asked: bool = True) -> str:
    """Return the text of a cell.

    >>> cell("score", 0.875), cell("brand", None), cell("brand", None, asked=False), cell("brand", "")
    ('87.5 %', '—', 'not asked for', '""')
    """
    # A count of what was not requested is 0, and means nothing.
    if value is None or (value == 0 and not asked):
        return NOTHING if asked else NOT_ASKED
    if (column == "score" or is_of_channel(column)) and isinstance(value, float):
        return percent(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if column.endswith("_count") else str(value)
    if isinstance(value, float):
        return f"{value:.15g}"
    if hasattr(value, "strftime"):
        return f"{value:%Y-%m-%d %H:%M}"
    # An empty text is a value; a blank cell would look like a missing one.
    return cut(str(value), CELL) or '""'


def title(column: str) -> str:
    """Return the title of a column."""
    if quantity := quantity_of(column):
        return quantity_title(*quantity)
    return channel_column_title(column) if is_of_channel(column) else _TITLES.get(column, column)


def is_number(column: str) -> bool:
    """Return whether a column is aligned on the right."""
    declared = TABLES["products"].schema
    return (
        column == "score"
        or column.startswith(SHARE)
        or (column in declared.names and pa.types.is_integer(declared.field(column).type))
    )


def is_asked(products: ProductColumns, column: str) -> bool:
    """Return whether the service was asked for the values of a column."""
    quantity = quantity_of(column)
    paths = _PATHS.get(column, ()) if quantity is None else quantity[:1]
    if not paths or any(map(products.catalog.origin.asked, paths)):
        return True
    return column.endswith("_count") and bool(pc.any(pc.greater(products.column(column), 0)).as_py())


#: Wire paths of which at least one must have been asked for. Texts are counted whatever their attribute, so their count
#: is known as soon as names were asked for.
_PATHS: dict[str, tuple[str, ...]] = {
    **{column.name: (".".join(column.paths[0]),) for column in TABLES["products"].columns if column.paths},
    "name": NAME_PATHS,
    "texts_count": NAME_PATHS,
    "pictures_count": ("assets.pictures",),
}

"""Some products, such as those of a page: only what is shown of them is read, from the parts in which they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from prodex.catalog import Part
from prodex.executors import side_by_side
from prodex.facts.name import Names
from prodex.notebook.products.product_columns import ProductColumns, Rows, shown_by
from prodex.tables.columns import whole
from prodex.tables.declaration import TABLES


class ProductRows:
    """The values of some products.

    Parameters
    ----------
    products
        All products.
    rows
        The places of those that are meant, in any order.

    Attributes
    ----------
    products
        All products.

    Examples
    --------
    >>> import prodex
    >>> products = ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> ProductRows(products, np.array([1, 0])).shown("brand").to_pylist()
    [None, 'ACME']
    """

    def __init__(self, products: ProductColumns, rows: Rows) -> None:
        self.products: ProductColumns = products
        self._rows = rows
        self._columns: dict[str, pa.Array] = {}

    def read(self, *names: str) -> None:
        """Read several columns at once: the file of a part is opened once for all of them."""
        missing = [name for name in dict.fromkeys(names) if name not in self._columns]
        there = [name for name in missing if self.products.is_read(name) or name in {"grade", "score"}]
        for name in there:
            self._columns[name] = _plain(self.products.column(name).take(pa.array(self._rows)))
        if stored := [name for name in missing if name not in there]:
            schema = TABLES["products"].schema_of(stored)
            table = self._from_parts(lambda part, rows: part.encoded("products", stored).take(rows), schema)
            self._columns |= {name: whole(table[name]) for name in stored}

    def column(self, name: str) -> pa.Array:
        """Return a column of `products`, or grade and score of the audit."""
        self.read(name)
        return self._columns[name]

    def shown(self, name: str, language: str | None = None) -> pa.Array:
        """Return a column as it is shown; see `ProductColumns.shown`. Names are in a language, or in the best."""
        if name == "name":
            return self.names(language)
        make, needed = shown_by(name)
        self.read(*needed)
        return make(*map(self.column, needed))

    def names(self, language: str | None = None) -> pa.Array:
        """Return the name of each product in a language; with None, in the best language that it has."""
        origin = self.products.catalog.origin

        def best(part: Part, rows: pa.Array) -> pa.Table:
            # In the order of the part, each once; a page that is sorted has another order.
            chosen = np.zeros(part.size, bool)
            chosen[rows.to_numpy()] = True
            place = np.cumsum(chosen) - 1
            names = Names.read(part.take(pa.array(chosen)), origin).best(language)
            return pa.table({"name": names}).take(pa.array(place[rows.to_numpy()]))

        return whole(self._from_parts(best, pa.schema({"name": pa.string()}))["name"])

    def _from_parts(self, read: Callable[[Part, pa.Array], pa.Table], schema: pa.Schema) -> pa.Table:
        """Return what is read of each part for its rows, in the order of all rows."""
        ends = np.cumsum(self.products.sizes)
        part = np.searchsorted(ends, self._rows, side="right")
        parts = self.products.catalog.parts
        order = np.argsort(part, kind="stable")

        def of_part(number: int) -> pa.Table:
            mine = self._rows[order][part[order] == number]
            return read(parts[number], pa.array(mine - (ends[number] - parts[number].size))).cast(schema)

        pieces = side_by_side(of_part, np.unique(part).tolist())
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return pa.concat_tables([schema.empty_table(), *pieces]).take(pa.array(back))


def _plain(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values

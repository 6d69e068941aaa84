"""A child table with columns of its product beside it, under names that never depend on what else is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.frames import to_frame
from prodex.tables.declaration import TABLES

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog

#: The same in every table, so that no prefix is needed.
_KEYS = ("product_id", "gtin")


def joined(
    catalog: Catalog,
    name: str,
    own: Collection[str],
    columns: str | Iterable[str] | None,
    with_products: str | Iterable[str],
) -> pd.DataFrame:
    """Return a table, whose columns are `own`, with columns of `products` beside it; see `Catalog.table`."""
    beside = _listed(with_products, "with_products")
    chosen = list(own) if columns is None else _listed(columns, "columns")
    if name == "products":
        return to_frame(catalog.arrow(name, list(dict.fromkeys([*chosen, *beside]))))
    if not beside:
        return to_frame(catalog.arrow(name, chosen))
    if not TABLES[name].per_product:
        raise QueryError(
            f"{name} belongs to no product, so it has no columns of one. Leave out with_products."
        )
    rows = catalog.arrow(name, list(dict.fromkeys([*chosen, "product_id"])))
    products = catalog.arrow("products", list(dict.fromkeys(["product_id", *beside])))
    places = pc.index_in(rows["product_id"].combine_chunks(), products["product_id"].combine_chunks())
    found = {column: rows[column] for column in chosen}
    for column in beside:
        label = f"product_{column}" if column in own and column not in _KEYS else column
        found[label] = products[column].take(places)
    return to_frame(pa.table(found))


def _listed(given: str | Iterable[str], what: str) -> list[str]:
    several = isinstance(given, Iterable) and not isinstance(given, str)
    listed: list[str] = list(dict.fromkeys(given)) if several else [given]  # type: ignore[list-item]
    for one in listed:
        if not isinstance(one, str):
            raise QueryError(f"table() takes names of columns under {what}, and {one!r:.60} is none.")
    return listed

"""Names of the columns of `presence`: the attribute in parts and files, the attribute with `_state` for people.

`products` has columns such as `brand` and `kind`. If `presence` showed the same names, a merge of both would end in
`brand_x` and `brand_y`; so what people see has only the key in common. Files keep the names that they always had.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.values import storable

_KEYS = ("product_id", "gtin")
_STATE = "_state"
_RESERVED = {f"{key} (attribute)": key for key in _KEYS}


def stored_column(attribute: str) -> str:
    """Return the name of an attribute's column in parts and files, which have key columns as well.

    >>> stored_column("brand"), stored_column("gtin")
    ('brand', 'gtin (attribute)')
    """
    return f"{attribute} (attribute)" if attribute in _KEYS else storable(attribute)


def state_column(attribute: str) -> str:
    """Return the name of an attribute's column in `presence`.

    >>> state_column("brand"), state_column("gtin")
    ('brand_state', 'gtin_state')
    """
    return storable(attribute) + _STATE


def attribute_of(column: str) -> str | None:
    """Return the attribute that a column of `presence` is about, or None for its key.

    >>> attribute_of("brand_state"), attribute_of("product_id")
    ('brand', None)
    """
    return column.removesuffix(_STATE) if column.endswith(_STATE) else None


def shown_columns(stored: Iterable[str]) -> dict[str, str]:
    """Return the columns that people see, each with its name in parts and files.

    The GTIN is left out: it is a column of `products`, and the product's id is key enough.

    >>> shown_columns(["product_id", "gtin", "gtin (attribute)", "brand"])
    {'product_id': 'product_id', 'gtin_state': 'gtin (attribute)', 'brand_state': 'brand'}
    """
    shown = {"product_id": "product_id"}
    for name in stored:
        if name not in _KEYS:
            shown[_RESERVED.get(name, name) + _STATE] = name
    return shown


def stored_presence(shown: pa.Table, products: pa.Table | None) -> pa.Table:
    """Return a `presence` that was shown, as parts and files have it.

    Parameters
    ----------
    shown
        With the columns that people see.
    products
        Where the GTINs are to be had, or None: then they are missing.
    """
    # The reverse of `shown_columns`: `brand_state` is `brand` again.
    names = [
        stored_column(attribute_of(name) or "") if name != "product_id" else name
        for name in shown.column_names
    ]
    ids = shown["product_id"]
    if products is None:
        # Whoever exported no products has no GTINs; the ids are key enough.
        gtins: pa.Array | pa.ChunkedArray = pa.nulls(len(ids), pa.string())
    else:
        gtins = pc.take(products["gtin"], pc.index_in(ids, products["product_id"]))
    return shown.rename_columns(names).add_column(1, "gtin", gtins)

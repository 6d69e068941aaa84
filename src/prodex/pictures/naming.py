"""What people call a product: its long public name, else the short or legal one."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog

#: The best last.
_NAMES = ("nameLegal", "namePublicShort", "namePublicLong")


def names_of(catalog: Catalog, products: pa.Array | None = None) -> dict[str, str]:
    """Return a name for each product that has one; of several languages the first.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}, {"expressedIn": {"code": "eng-GB"}, "data": "Rice"}]
    >>> names_of(prodex.flatten([{"id": 7, "namePublicLong": name}]))
    {'7': 'Riz'}
    """
    condition = pc.field("attribute").isin(pa.array(_NAMES))
    if products is not None:
        condition &= pc.field("product_id").isin(products)
    rows = catalog.arrow("texts", ["product_id", "attribute", "text"], condition).to_pylist()
    names: dict[str, str] = {}
    for attribute in _NAMES:
        of_this = [
            row for row in rows if row["attribute"] == attribute and row["text"] and row["text"].strip()
        ]
        names |= {row["product_id"]: row["text"] for row in reversed(of_this)}
    return names

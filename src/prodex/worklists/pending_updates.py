"""Values of which an update waits for acceptance: a worklist does not ask for them, and an answer is a conflict.

Who writes a worklist and who reads its answers decide it here, so that nobody is asked for what is refused afterwards.
A worklist says how it was when it was written; an answer is judged by the product as it is when the answer is read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.send.known_products import received_products
from prodex.tables.fill_state import state_of

#: Attributes of which an update waits, by product id.
PendingUpdates = Mapping[str, Collection[str]]


def pending_attributes(product: Mapping[str, Any]) -> frozenset[str]:
    """Return the attributes of a product, as received, of which an update waits.

    They are those at the top of the product: an update replaces an attribute as a whole, with all its languages and
    items. One that names an attribute without a value counts only where it would empty the product's own.

    Examples
    --------
    >>> update = {"netContent": {"data": 500}, "isConsumerUnit": False, "brand": None, "kind": None}
    >>> sorted(pending_attributes({"brand": {"code": "ACME"}, "lastRequest": update}))
    ['brand', 'isConsumerUnit', 'netContent']
    """
    update = product.get("lastRequest")
    if not isinstance(update, Mapping):
        return frozenset()
    return frozenset(
        name for name, value in update.items() if "filled" in (state_of(value), state_of(product.get(name)))
    )


def pending_updates(catalog: Catalog, products: Collection[str] | None = None) -> dict[str, frozenset[str]]:
    """Return the attributes of which an update waits, by product id; products without an update are left out.

    Parameters
    ----------
    catalog
        The products. Of a catalogue that shows updates as accepted, those that it was made of decide: what is refused
        is the same, whoever looks at it.
    products
        Ids of those that are asked about; all by default.

    Raises
    ------
    NotExported
        When an export left out the records or the column that says which products have an update.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "lastRequest": {"brand": {"code": "ACME"}}}, {"id": 8}])
    >>> pending_updates(catalog), pending_updates(catalog.with_pending_updates(), ["7"])
    ({'7': frozenset({'brand'})}, {'7': frozenset({'brand'})})
    """
    received: Catalog = catalog if catalog.as_received is None else catalog.as_received
    wanted = pc.field("has_pending_update")
    if products is not None:
        wanted &= pc.field("product_id").isin(pa.array(list(products), pa.string()))
    found = {}
    # One part at a time: the records of a large catalogue take much more memory than what is found in them.
    for part in received.parts:
        # Of a condition Arrow does not show which columns it needs.
        part.require("products", ["has_pending_update"])
        ids = part.read("products", ["product_id"], wanted)["product_id"].to_pylist()
        records = received_products(replace(received, parts=(part,)), ids) if ids else {}
        found.update({product: pending_attributes(record) for product, record in records.items()})
    return found


def awaiting_attribute(attribute: str | None, waiting: Collection[str]) -> str | None:
    """Return the attribute whose update a value waits for, or None if there is none.

    >>> awaiting_attribute("assets.pictures.isPackshot", {"assets"}), awaiting_attribute("brand.label", {"assets"})
    ('assets', None)
    """
    root = None if attribute is None else attribute.partition(".")[0]
    return root if root in waiting else None

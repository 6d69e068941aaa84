"""Which products an audit is about, beside those that are shown: whether they are the same, and what differs."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin
from prodex.notebook.views.frame import snapshot_title
from prodex.phrases import counted
from prodex.quality import Audit

#: Products that are named by their GTIN.
_NAMED = 3


def is_about(audit: Audit, catalog: Catalog) -> bool:
    """Return whether an audit covers exactly these products, as they were loaded then."""
    if audit.catalog is catalog:
        return True
    # An audit that was saved and opened again has no catalogue, so the load and the ids are compared.
    if _load(audit.origin) != _load(catalog.origin) or len(audit) != len(catalog):
        return False
    ids = catalog.arrow("products", ["product_id"])["product_id"].combine_chunks()
    return bool(audit.identity["product_id"].combine_chunks().equals(ids))


def difference_sentence(audit: Audit, catalog: Catalog) -> str:
    """Return how the products of an audit differ from those that are shown; empty where they are the same.

    >>> import prodex
    >>> one, two = (prodex.flatten([{"id": 7, "gtin": "1"}, {"id": number, "gtin": "2"}]) for number in (8, 9))
    >>> print(difference_sentence(prodex.audit(one), two)[-118:])
    1 product is in both; only in the audit 1: GTIN 2; only among those shown 1: GTIN 2. Press Audit to audit those \
shown.
    """
    if is_about(audit, catalog):
        return ""
    every = catalog.arrow("products", ["product_id", "gtin"])
    only = {
        "only in the audit": _only_in(audit.identity, every),
        "only among those shown": _only_in(every, audit.identity),
    }
    own, theirs = (
        _catalog_words(audit.catalog_folder, audit.origin, len(audit)),
        _catalog_words(catalog.folder, catalog.origin, len(catalog)),
    )
    if own == theirs and audit.catalog_folder != catalog.folder and audit.catalog_folder and catalog.folder:
        # Two snapshots of one second: their folders have the rest of it.
        own, theirs = (f"{one.parent.name}, {one.name}" for one in (audit.catalog_folder, catalog.folder))
    said = [] if own == theirs else [f"The audit is of {own}; shown are {theirs}"]
    if any(map(len, only.values())):
        of, both = "other products", len(audit) - len(only["only in the audit"])
        are = "products are" if both > 1 else "product is"
        parts = [f"{words} {len(one):,}: {_named(one)}" for words, one in only.items() if len(one)]
        said.append("; ".join([f"{f'{both:,}' if both else 'No'} {are} in both", *parts]))
    else:
        of = "another state of the products"
        at_other_times = "which were read at different times or in another order"
        how = at_other_times if own == theirs else "whose data may have changed between"
        said.append(f"Both have the same products, {how}")
    return f"This audit is of {of} than those shown. {'. '.join(said)}. Press Audit to audit those shown."


def _load(origin: Origin) -> tuple[object, ...]:
    return origin.query, origin.server_time, origin.loaded_at


def _only_in(some: pa.Table, others: pa.Table) -> pa.Table:
    return some.filter(pc.invert(pc.is_in(some["product_id"], value_set=others["product_id"])))


def _named(products: pa.Table) -> str:
    first = [
        f"GTIN {one['gtin']}" if one["gtin"] else f"id {one['product_id']}"
        for one in products.slice(0, _NAMED).to_pylist()
    ]
    return ", ".join([*first, "…"] if len(products) > _NAMED else first)


def _catalog_words(folder: Path | None, origin: Origin, products: int) -> str:
    """Return the snapshot, or where the products are from, and when they were read."""
    if folder is not None:
        return f"the snapshot {snapshot_title(folder, products)}"
    moment = origin.server_time or origin.loaded_at
    read = f", read {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if moment else ""
    return f"{counted(products, 'product')} in memory, from {origin.source}{read}"

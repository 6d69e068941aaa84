"""The products that answers are about, as the service has them now."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.fix.decisions import ConcernedProducts
from prodex.fix.waiting import waiting_attributes, waiting_updates
from prodex.fix.whose import Owners
from prodex.query import ProductQuery
from prodex.send.changes import received_products
from prodex.send.corrections import KnownProducts
from prodex.send.records import Product
from prodex.service import Client, pages
from prodex.store.reading import flatten

#: GTINs of one request.
_AT_ONCE = 500


def products_of(catalog: Catalog, ids: Iterable[str], known: KnownProducts) -> ConcernedProducts:
    """Return products of a catalogue by their ids; those that it does not have are left out."""
    rows = catalog.arrow("products", ["product_id", "gtin"])
    gtins = dict(zip(rows["product_id"].to_pylist(), rows["gtin"].to_pylist(), strict=True))
    wanted = [one for one in dict.fromkeys(ids) if one in gtins]
    records = received_products(catalog, wanted)
    if catalog.as_received is None:
        waiting = {product: waiting_attributes(record) for product, record in records.items()}
    else:
        waiting = waiting_updates(catalog, wanted)
    return ConcernedProducts(known, gtins, records, waiting, Owners.of(catalog, list(records)))


def fresh_products(
    service: Client, catalog: Catalog, products: Iterable[str]
) -> tuple[Catalog, ConcernedProducts]:
    """Return the catalogue with some products as the service has them now, and these products.

    They come first, so that whoever has corrected them sees them at once; the others stay in their order.

    Parameters
    ----------
    service
        Where they are.
    catalog
        The catalogue; of all products that are not requested it stays as it is.
    products
        Ids of the products.

    Raises
    ------
    ServiceError
        When the service cannot be reached.
    """
    ids = set(products)
    concerned = pc.field("product_id").isin(pa.array(sorted(ids), pa.string()))
    gtins = [
        one for one in catalog.arrow("products", ["gtin"], concerned)["gtin"].to_pylist() if one is not None
    ]
    # The filters of the load (such as allow_not_consumer_units) decide what the service lists at all.
    extra = {} if catalog.origin.query is None else dict(catalog.origin.query.extra)
    records: list[Product] = []
    for start in range(0, len(gtins), _AT_ONCE):
        query = ProductQuery(gtins_in=gtins[start : start + _AT_ONCE], extra=extra)
        # With a report of its own, a missing product does not raise here; its answers become conflicts.
        language = catalog.origin.accept_language
        for page in pages(service, query, accept_language=language, progress=False, report=lambda _: None):
            records += [json.loads(bytes(one)) for one in page.envelope.data]
    newest = flatten(records)
    origin = replace(catalog.origin, query=ProductQuery(extra=extra))
    others = catalog.where(~concerned)
    whole = replace(catalog, parts=(*newest.parts, *others.parts), origin=origin, as_received=None)
    known = KnownProducts.of(whole)
    return whole, products_of(whole, ids, known)

"""The products that answers are about, as the service has them now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.send.changes import received_products
from prodex.send.corrections import KnownProducts
from prodex.send.records import Product
from prodex.service import Client, pages
from prodex.store.reading import flatten
from prodex.tables.plain import product_key
from prodex.worklists.answer_outcomes import ConcernedProducts
from prodex.worklists.ownership import Owners
from prodex.worklists.pending_updates import waiting_attributes, waiting_updates


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
    return with_products(catalog, requested_products(service, catalog, ids), ids)


def requested_products(service: Client, catalog: Catalog, ids: Collection[str]) -> list[Product]:
    """Return products of a catalogue as the service has them now, whatever else has the same GTINs.

    Raises
    ------
    ServiceError
        When the service cannot be reached.
    """
    concerned = _concerned(ids)
    gtins = [
        one for one in catalog.arrow("products", ["gtin"], concerned)["gtin"].to_pylist() if one is not None
    ]
    # The filters of the load (such as allow_not_consumer_units) decide what the service lists at all.
    extra = {} if catalog.origin.query is None else dict(catalog.origin.query.extra)
    records: list[Product] = []
    if gtins:
        found = pages(
            service,
            ProductQuery(gtins_in=gtins, extra=extra),
            page_size=GTINS_PER_CALL,
            accept_language=catalog.origin.accept_language,
            progress=False,
            # With a report of its own, a missing product does not raise here; its answers become conflicts.
            report=lambda _: None,
        )
        records += [json.loads(bytes(one)) for page in found for one in page.envelope.data]
    return records


def are_as_judged(records: Iterable[Product], catalog: Catalog, ids: Collection[str]) -> bool:
    """Whether these products are what a catalogue has, so that nothing about them has to be judged again."""
    # A catalogue that shows updates as accepted has other records than the service.
    if catalog.as_received is not None:
        return False
    found = {product_key(record): record for record in records}
    known = received_products(catalog, ids)
    return found == known and set(known) == set(ids)


def with_products(
    catalog: Catalog, records: Sequence[Product], ids: Collection[str]
) -> tuple[Catalog, ConcernedProducts]:
    """Return a catalogue with some products as they are now, before the others, and these products."""
    newest = flatten(records)
    query = None if catalog.origin.query is None else catalog.origin.query.extra
    origin = replace(catalog.origin, query=ProductQuery(extra=query or {}))
    others = catalog.where(~_concerned(ids))
    whole = replace(catalog, parts=(*newest.parts, *others.parts), origin=origin, as_received=None)
    known = KnownProducts.of(whole)
    return whole, products_of(whole, ids, known)


def _concerned(ids: Collection[str]) -> pc.Expression:
    return pc.field("product_id").isin(pa.array(sorted(ids), pa.string()))

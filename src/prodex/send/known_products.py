"""What a catalogue knows of its products that a correction needs: whose GTIN it is, codes of languages, the records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from prodex import gtin
from prodex.catalog import Catalog
from prodex.errors import SnapshotDamaged
from prodex.facts.same_product import shared_gtins
from prodex.locales import short_of
from prodex.send.records import Product
from prodex.tables.attributes import TEXTS
from prodex.written_json import read_written


@dataclass(frozen=True)
class KnownProducts:
    """The facts of a catalogue that are needed to read a frame.

    Attributes
    ----------
    ids
        Product ids by GTIN in the form of `prodex.gtin.comparable`, since services also send 13 digits.
    codes
        The long language codes of each short one, as `short_of` returns it.
    texts
        Wire paths of localized texts.
    shared
        The GTINs that a product has and one that was not chosen as well: a write would be of either.
    """

    ids: Mapping[str | None, Sequence[str]]
    codes: Mapping[str, frozenset[str]]
    texts: Collection[str]
    shared: frozenset[str] = frozenset()

    @classmethod
    def of(cls, catalog: Catalog) -> KnownProducts:
        ids = defaultdict(list)
        for row in catalog.arrow("products", ["product_id", "gtin"]).to_pylist():
            ids[gtin.comparable(row["gtin"])].append(row["product_id"])
        columns = ["attribute", "language", "language_code"]
        rows = catalog.arrow("texts", columns).group_by(columns).aggregate([]).to_pylist()
        codes = defaultdict(set)
        for row in rows:
            if row["language"] and row["language_code"]:
                codes[short_of(row["language"])].add(row["language_code"])
        texts = {row["attribute"] for row in rows} | set(TEXTS)
        shared: frozenset[str] = frozenset()
        # One that shows updates as accepted may be made of a selection.
        received = [] if catalog.as_received is None else [catalog.as_received]
        for one in (catalog, *received):
            if any(part.chosen is not part.own for part in one.parts):
                every = (part.unfiltered() for part in one.parts)
                shared |= shared_gtins(part.read("products", ["gtin"])["gtin"] for part in every)
        return cls(ids, {language: frozenset(found) for language, found in codes.items()}, texts, shared)


def received_products(catalog: Catalog, ids: Iterable[str]) -> dict[str, Product]:
    """Return products as they were received, by product id; those that the catalogue has."""
    return {product: _record(product, text) for product, text in _received_texts(catalog, ids)}


def received_values(catalog: Catalog, ids: Iterable[str], attribute: str) -> dict[str, Any]:
    """Return what products were received with at an attribute, by product id; None where they have nothing there.

    The rest of a record is passed over, which takes a twentieth of the time.
    """
    field = ("value", msgspec.Raw, msgspec.Raw(b"null"))
    reader = msgspec.json.Decoder(msgspec.defstruct("Received", [field], rename={"value": attribute}))
    found = {}
    for product, text in _received_texts(catalog, ids):
        try:
            read: Any = reader.decode(text)
            value = read_written(bytes(read.value))
        except (ValueError, RecursionError):  # such as NaN, which other readers refuse, or what is no record
            value = _record(product, text).get(attribute)
        found[product] = value
    return found


def _received_texts(catalog: Catalog, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    concerned = pc.field("product_id").isin(pa.array(list(ids), pa.string()))
    rows = catalog.arrow("raw", ["product_id", "json"], concerned)
    return zip(rows["product_id"].to_pylist(), rows["json"].to_pylist(), strict=True)


def _record(product: str, text: str) -> dict[str, Any]:
    try:
        record = read_written(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotDamaged(
            f"The record of product {product} cannot be read ({error}). Load it again."
        ) from error
    if not isinstance(record, dict):
        raise SnapshotDamaged(f"The record of product {product} is not a JSON object. Load it again.")
    return record

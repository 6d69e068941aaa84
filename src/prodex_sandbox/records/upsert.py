"""Upserts: which products an organisation may write, and what changes with them.

A retailer does not write into a record of a manufacturer. It gets a version of its own, a copy with its attributes, and
the list of these attributes, over which later writes of the manufacturer do not go.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from prodex_sandbox.raw_json import decode, encode, storable
from prodex_sandbox.records.indexing import values_at
from prodex_sandbox.records.merging import ProductRefused, attributes_of, is_null
from prodex_sandbox.records.model import (
    Organization,
    OrganizationType,
    SharedProduct,
    SharingStatus,
    views_with_owner,
)
from prodex_sandbox.records.payload import Members, UnreadableProduct
from prodex_sandbox.records.referentials import Codes
from prodex_sandbox.records.service_clock import stamp
from prodex_sandbox.records.tables import insert_product, insert_view, next_key, replace_product
from prodex_sandbox.records.validation import NAMES, checked, normal_gtin
from prodex_sandbox.records.versions import merged_record, write_versions

_SET_BY_EXCHANGE: Final = """
id uuid _jsonVersion createdAt updatedAt owner product_key supplierId manufacturerSharingStatus
targetProductStatus validation hasTags isTaggedBy requiredScenarios assets.lastUpdatedAt
"""
#: Attributes that the exchange sets itself.
SET_BY_EXCHANGE: Final = tuple(_SET_BY_EXCHANGE.split())


@dataclass(frozen=True)
class _Product:
    """A stored product as the caller sees it."""

    key: int
    seen_key: int
    owner_id: int
    body: bytes
    overlay: bytes | None


class Upsert:
    """One upsert of one organisation, inside one transaction.

    Attributes
    ----------
    written
        Keys of the products that were written.
    """

    def __init__(
        self, connection: sqlite3.Connection, organization: Organization, codes: Codes, now: datetime
    ) -> None:
        self._connection = connection
        self._organization = organization
        self._codes = codes
        self._now = now
        self.written: set[int] = set()

    def write(self, sent: Members) -> str:
        """Write one product and return its GTIN as it is kept.

        Raises
        ------
        ProductRefused
            When it cannot be imported; nothing of it is then.
        """
        if isinstance(sent, UnreadableProduct):
            raise ProductRefused(sent.message)
        gtin, products = self._find(_gtin_of(sent))
        attributes = attributes_of({name: raw for name, raw in sent.items() if name != "gtin"})
        attributes = {name: checked(name, raw, self._codes) for name, raw in attributes.items()}
        if not products:
            self._create(gtin, attributes)
        for product in products:
            self._change(product, attributes)
        return gtin

    def _find(self, sent: str) -> tuple[str, list[_Product]]:
        """Return the GTIN as it is kept, and the caller's products with it."""
        # Records from files keep the GTIN as it is written, with fewer digits for example.
        for gtin in (sent, sent.zfill(14)):
            if products := list(self._products(gtin)):
                return gtin, products
        try:
            gtin = normal_gtin(sent)
        except ValueError as error:
            raise ProductRefused(str(error)) from None
        if self._organization.type is OrganizationType.RETAILER:
            raise ProductRefused(
                f"gtin {gtin} is not shared with {self._organization.name}; only manufacturers create products"
            )
        return gtin, []

    def _products(self, gtin: str) -> Iterator[_Product]:
        """Yield what the caller may write on: a manufacturer its own, a retailer what it sees."""
        # By `seen_key`: a retailer with a version of the product writes to that, and finds it by its GTIN.
        viewer = self._organization.id
        rows = self._connection.execute(
            "SELECT views.product_key, views.seen_key, products.owner_id, records.body, views.overlay"
            " FROM products CROSS JOIN views ON views.organization_id = ? AND views.seen_key = products.key"
            " CROSS JOIN records ON records.key = products.key WHERE products.gtin = ? ORDER BY views.product_key",
            (viewer, gtin),
        )
        for row in rows.fetchall():
            product = _Product(*row)
            if self._organization.type is OrganizationType.RETAILER or product.owner_id == viewer:
                yield product

    def _create(self, gtin: str, attributes: Members) -> None:
        for name in SET_BY_EXCHANGE:
            if name in attributes and not is_null(attributes[name]):
                raise ProductRefused(f"{name} is set by the exchange; leave it out of a new product")
        owner, now = self._organization, stamp(self._now)
        head = {
            "id": self._next_id(),
            "uuid": str(uuid4()),
            "gtin": gtin,
            "_jsonVersion": 3,
            "createdAt": now,
            "updatedAt": None,
            "owner": {"type": int(owner.type), "name": owner.name},
            "manufacturerSharingStatus": int(SharingStatus.DRAFT),
        }
        body, record = merged_record(encode(head), attributes, self._now)
        _check_name(record)
        key = next_key(self._connection)
        self._insert(key, owner.id, body, record)
        for view in views_with_owner(SharedProduct(record, owner.id, ())):
            insert_view(self._connection, key, view, {})

    def _change(self, product: _Product, attributes: Members) -> None:
        self._check_set_by_exchange(product, attributes)
        body, record = merged_record(product.body, attributes, self._now)
        # A product from a file may have had no name before; other attributes can still be written.
        if any(name in attributes for name in NAMES):
            _check_name(record)
        if product.owner_id == self._organization.id:
            self._replace(product.key, body, record)
            self.written.update(write_versions(self._connection, product.key, attributes, self._now))
        elif product.seen_key == product.key:
            self._insert_version(product, body, record, attributes)
        else:
            self._replace(product.seen_key, body, record)
            self._own(product.seen_key, attributes)

    def _insert_version(
        self, product: _Product, body: bytes, record: dict[str, Any], attributes: Members
    ) -> None:
        key = next_key(self._connection)
        self._insert(key, product.owner_id, body, record)
        self._connection.execute(
            "INSERT INTO versions VALUES (?, ?, ?, '[]')", (key, product.key, self._organization.id)
        )
        self._own(key, attributes)
        self._connection.execute(
            "UPDATE views SET seen_key = ? WHERE organization_id = ? AND product_key = ?",
            (key, self._organization.id, product.key),
        )

    def _insert(self, key: int, owner_id: int, body: bytes, record: dict[str, Any]) -> None:
        insert_product(self._connection, key, owner_id, body, record)
        self.written.add(key)

    def _replace(self, key: int, body: bytes, record: dict[str, Any]) -> None:
        replace_product(self._connection, key, body, record)
        self.written.add(key)

    def _own(self, key: int, attributes: Members) -> None:
        rows = self._connection.execute("SELECT attributes FROM versions WHERE key = ?", (key,))
        own = {*decode(rows.fetchone()[0]), *attributes}
        self._connection.execute(
            "UPDATE versions SET attributes = ? WHERE key = ?", (encode(sorted(own)).decode(), key)
        )

    def _check_set_by_exchange(self, product: _Product, attributes: Members) -> None:
        touched = [name for name in SET_BY_EXCHANGE if name in attributes]
        if not touched:
            return
        record = decode(product.body)
        record |= decode(product.overlay) if product.overlay else {}
        assets = record.get("assets")
        record["assets.lastUpdatedAt"] = assets.get("lastUpdatedAt") if isinstance(assets, dict) else None
        for name in touched:
            if decode(attributes[name]) != record.get(name):
                value = encode(record.get(name)).decode()
                raise ProductRefused(
                    f"{name} is set by the exchange; leave it out, or send it as it is: {value[:200]}"
                )

    def _next_id(self) -> int:
        rows = self._connection.execute("SELECT ifnull(max(id), 0) + 1 FROM products")
        return int(rows.fetchone()[0])


def gtin_sent(sent: Members) -> str:
    """Return the GTIN of a product that was refused, as it was sent; empty where it is none."""
    try:
        return _gtin_of(sent)
    except ProductRefused:
        return ""


def _gtin_of(sent: Members) -> str:
    raw = sent.get("gtin")
    if raw is None or is_null(raw):
        raise ProductRefused("gtin is missing")
    try:
        gtin = decode(raw)
    except ValueError as error:
        raise ProductRefused(f"gtin cannot be read: {error}") from None
    if not isinstance(gtin, str):
        raise ProductRefused(f"gtin is {encode(gtin).decode()[:60]}, not a string")
    if not gtin:
        raise ProductRefused("gtin is empty")
    return storable(gtin)


def _check_name(record: Mapping[str, Any]) -> None:
    # Only lists count, as the specification shows names.
    named = {name: record[name] for name in NAMES if isinstance(record.get(name), list)}
    texts = (text for name in named for text in values_at(named, f"{name}.data"))
    if not any(isinstance(text, str) and text.strip() for text in texts):
        raise ProductRefused(f"the product has no name; it needs a text in one of {', '.join(NAMES)}")

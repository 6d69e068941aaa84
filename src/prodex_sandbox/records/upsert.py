"""Upserts: which products an organisation may write, and what changes with them.

A retailer does not write into a record of a manufacturer. It gets a version of its own, a copy with its attributes, and
the list of these attributes, over which later writes of the manufacturer do not go.

The attribute model is open: an attribute that the specification does not describe is stored as it is sent, except
that its codes are looked up too. An attribute that the specification describes has to fit its schema.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final
from uuid import uuid4

import msgspec

from prodex_sandbox.raw_json import decode, encode, storable
from prodex_sandbox.records.indexing import values_at
from prodex_sandbox.records.merging import (
    ProductRefused,
    attributes_of,
    is_null,
    merged_record,
    write_versions,
)
from prodex_sandbox.records.model import (
    Organization,
    OrganizationType,
    SharedProduct,
    SharingStatus,
    views_with_owner,
)
from prodex_sandbox.records.payload import Members, UnreadableProduct
from prodex_sandbox.records.referentials import CODE_ATTRIBUTES, UNITS_OF, Codes
from prodex_sandbox.records.schemas import ATTRIBUTES, FLAG, TEXT_ATTRIBUTES, Assets, Product
from prodex_sandbox.records.service_clock import stamp
from prodex_sandbox.records.store import insert_product, insert_view, next_key, replace_product

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


#: Attributes of which a product needs one.
NAMES: Final = ("nameLegal", "namePublicLong", "namePublicShort")

_MAX_CHARACTERS: Final = 20_000
_MAX_BYTES: Final = 4_000_000
_MAX_LEVELS: Final = 64


def checked(attribute: str, raw: msgspec.Raw, codes: Codes) -> msgspec.Raw:
    """Return an attribute as it is stored: as it was sent, with labels added to codes without one.

    Raises
    ------
    ProductRefused
        When it cannot be stored.
    """
    # Before decoding, which takes several times the memory.
    if len(bytes(raw)) > _MAX_BYTES:
        raise ProductRefused(f"{attribute} has {len(bytes(raw)):,} bytes; at most {_MAX_BYTES:,} are allowed")
    try:
        value = decode(raw)
    except (ValueError, RecursionError) as error:
        raise ProductRefused(f"{attribute} cannot be read: {error}") from None
    _check_shape(attribute, value)
    # Before the schema is checked, since completing changes the value in place.
    completed = _complete(attribute, value, codes)
    if problem := schema_violation(attribute, value):
        raise ProductRefused(storable(problem))
    return msgspec.Raw(encode(value)) if completed else raw


def _check_shape(attribute: str, value: Any) -> None:
    if value is None:
        return
    if ATTRIBUTES.get(attribute) is FLAG and not isinstance(value, bool):
        raise ProductRefused(f"{attribute} is {_shortened(value)}, not true, false or null")
    if attribute == "lifeCycle" and (not isinstance(value, int) or isinstance(value, bool)):
        raise ProductRefused(f"lifeCycle is {_shortened(value)}, not an integer")
    if attribute in CODE_ATTRIBUTES and not (isinstance(value, dict) and _is_code(value.get("code"))):
        raise ProductRefused(f"{attribute} is {_shortened(value)}, not an object with a code")
    if attribute in TEXT_ATTRIBUTES:
        _check_texts(attribute, value)
    if attribute == "assets.pictures":
        _check_pictures(value)


# The schema would refuse wrong types too, but less clearly: these are the ones that suppliers send.
def _check_texts(attribute: str, value: Any) -> None:
    if not isinstance(value, list):
        raise ProductRefused(f"{attribute} is {_shortened(value)}, not an array of localized texts")
    for index, item in enumerate(value):
        expressed_in = item.get("expressedIn") if isinstance(item, dict) else None
        if item is not None and not (isinstance(expressed_in, dict) and _is_code(expressed_in.get("code"))):
            raise ProductRefused(f"{attribute}[{index}] has no language: expressedIn.code is missing")
        if item is not None and not isinstance(item.get("data"), str | None):
            raise ProductRefused(f"{attribute}[{index}].data is {_shortened(item['data'])}, not a text")


def _check_pictures(value: Any) -> None:
    if not isinstance(value, list):
        raise ProductRefused(f"assets.pictures is {_shortened(value)}, not an array of pictures")
    for index, item in enumerate(value):
        if not (isinstance(item, dict) and isinstance(item.get("url"), str) and item["url"]):
            raise ProductRefused(f"assets.pictures[{index}] has no url")
        if not isinstance(item.get("isPackshot"), bool | None):
            shown = _shortened(item["isPackshot"])
            raise ProductRefused(f"assets.pictures[{index}].isPackshot is {shown}, not true, false or null")


def _complete(attribute: str, value: Any, codes: Codes) -> bool:
    """Look up every code in a value; complete those that were sent without a label. Return whether there were any."""
    completed = False
    if attribute in CODE_ATTRIBUTES and isinstance(value, dict):
        completed = _look_up(attribute, value, (CODE_ATTRIBUTES[attribute],), codes)
    # Attributes may nest deeper than Python may recurse, so this is a loop with a list of what is left.
    pending = [(value, 1)]
    while pending:
        node, level = pending.pop()
        if level > _MAX_LEVELS:
            raise ProductRefused(f"{attribute} is nested over {_MAX_LEVELS} levels deep")
        if isinstance(node, float) and not math.isfinite(node):
            raise ProductRefused(f"{attribute} holds a number that is out of range")
        if isinstance(node, list):
            pending.extend((item, level + 1) for item in node)
        elif isinstance(node, dict):
            completed |= _complete_item(attribute, node, codes)
            pending.extend((item, level + 1) for item in node.values())
    return completed


def _complete_item(attribute: str, item: dict[str, Any], codes: Codes) -> bool:
    expressed_in, data = item.get("expressedIn"), item.get("data", item.get("quantity"))
    if not (isinstance(expressed_in, dict) and _is_code(expressed_in.get("code"))):
        return False
    if isinstance(data, str):
        if len(data) > _MAX_CHARACTERS:
            raise ProductRefused(
                f"{attribute} has a text of {len(data):,} characters; at most {_MAX_CHARACTERS:,} are allowed"
            )
        referentials: tuple[str, ...] = ("languages",)
    elif isinstance(data, int | float):
        referentials = (UNITS_OF.get(attribute, "units"),)
    else:
        referentials = ("languages", "units")
    return _look_up(attribute, expressed_in, referentials, codes)


def _look_up(attribute: str, value: dict[str, Any], referentials: tuple[str, ...], codes: Codes) -> bool:
    code = str(value["code"])
    for referential in referentials:
        if known := codes.get((referential, code)):
            alone = value.keys() == {"code"}
            if alone:
                value.clear()
                value.update(known)
            return alone
    if any(name in referentials for name, _ in codes):
        raise ProductRefused(f"{attribute}: {code!r} is not in the referential {' or '.join(referentials)}")
    return False


def _is_code(code: Any) -> bool:
    return isinstance(code, str | int) and not isinstance(code, bool) and code != ""


def _shortened(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= 60 else f"{text[:60]}..."


_LENGTHS: Final = (8, 12, 13, 14)


def normal_gtin(text: str) -> str:
    """Return a GTIN as 14 digits; raise ValueError when it is none.

    Examples
    --------
    >>> normal_gtin("3036811359935")
    '03036811359935'
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"gtin {text[:40]!r} is not made of digits")
    if len(text) not in _LENGTHS:
        raise ValueError(f"gtin {text[:40]!r} has {len(text)} digits; a GTIN has 8, 12, 13 or 14")
    gtin = text.zfill(14)
    check_digit = -sum(int(digit) * (3, 1)[place % 2] for place, digit in enumerate(gtin[:13])) % 10
    if int(gtin[13]) != check_digit:
        raise ValueError(f"gtin {text!r} ends in {gtin[13]}; its check digit is {check_digit}")
    return gtin


#: The types of JSON, as msgspec calls them, in words.
_IN_WORDS: Final = {
    "int": "a valid integer",
    "float": "a valid number",
    "str": "a valid string",
    "bool": "a valid boolean",
    "array": "a valid array",
    "object": "an object",
}


def schema_violation(attribute: str, value: Any) -> str | None:
    """Return a sentence about what does not fit the schema; None where all fits, or any shape is allowed.

    Examples
    --------
    >>> schema_violation("GPC", [])
    'GPC does not fit: Input should be an object, and is []'
    >>> schema_violation("assets.pictures", [{"width": "wide"}])
    'assets.pictures does not fit: Input should be a valid integer, and is "wide" (at 0.width)'
    >>> schema_violation("xRetailPlan", [])
    """
    if (type_ := _types().get(attribute)) is None:
        return None
    # Half a surrogate pair counts as text, as it does where records are read.
    body = storable(json.dumps(value, ensure_ascii=False))
    try:
        msgspec.json.decode(body, type=type_)
    except msgspec.ValidationError as refused:
        problem, _, place = str(refused).partition(" - at `$")
        if expected := re.match("Expected `(.+?)`", problem):
            types = [_IN_WORDS[name] for name in expected[1].split(" | ") if name in _IN_WORDS]
            problem = f"Input should be {' or '.join(types)}"
        steps = re.findall(r"\w+", place)
        for step in steps:
            value = value[int(step) if isinstance(value, list) else step]
        found = json.dumps(value, ensure_ascii=False)
        return f"{attribute} does not fit: {problem}, and is {found[:60]}" + (
            f" (at {'.'.join(steps)})" if steps else ""
        )
    return None


@cache
def _types() -> Mapping[str, Any]:
    """Return the type of each attribute that is written as a whole."""
    return {
        f"{prefix}{member.encode_name}": member.type
        for prefix, model in (("", Product), ("assets.", Assets))
        for member in msgspec.structs.fields(model)
    }

"""A product whose every text would do harm if a widget ran it, typeset it, fetched it or took it for markup."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import prodex
from prodex_sandbox.sample import shared_products
from tests.quality.hostile import LONG, STRINGS

#: Where a picture or a document of it is said to lie; no page may ask for it.
ADDRESS = "https://evil.example/pixel.png"

#: What has to stay as it is for the record to be read as a product at all.
_KEPT = {"id", "uuid", "gtin", "createdAt", "updatedAt", "_jsonVersion"}
_ADDRESSES = {"url", "uniformResourceIdentifier", "uniformResourceIdentifierOrigin", "pictureUrl"}
_LANGUAGE = {"code", "normalizedCode"}
#: Leaves that bear a hostile text of 40,000 characters.
_EVERY = 90


def records(products: int = 3) -> list[dict[str, Any]]:
    """Return the richest products of a sample, with every text in them replaced."""
    rich = sorted((one.record for one in shared_products(300)), key=lambda one: -len(json.dumps(one)))
    number = count()
    return [_spoiled(record, number) for record in rich[:products]]


def catalog(products: int = 3) -> prodex.Catalog:
    """Return a catalogue of them."""
    return prodex.flatten(records(products))


def _spoiled(value: Any, number: Any, name: str = "", parent: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _spoiled(one, number, key, name) for key, one in value.items()}
    if isinstance(value, list):
        return [_spoiled(one, number, name, parent) for one in value]
    if not isinstance(value, str) or name in _KEPT or name.endswith(("Date", "DateTime", "At")):
        return value
    if name in _ADDRESSES:
        return ADDRESS
    # The language of a text stays; that of a unit or a currency does not.
    if name in _LANGUAGE and parent == "expressedIn" and len(value) in {2, 6} and value[-1:].isalpha():
        return value
    place = next(number)
    return LONG if place % _EVERY == 7 else f"{STRINGS[place % len(STRINGS)]} {place}"

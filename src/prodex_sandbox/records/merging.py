"""The merge rule: what a write makes of a stored record, and of the versions that retailers have (contract, Writing).

Attributes stay JSON bytes, so that those that are not written keep every byte. The members of
`assets` count as attributes of their own, by the names `assets.pictures` and so on.

A version of a retailer keeps the attributes that the retailer has written; all others follow the manufacturer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from prodex_sandbox.raw_json import decode, encode, joined, members
from prodex_sandbox.records.service_clock import next_updated_at
from prodex_sandbox.records.store import replace_product

#: What a record holds, or what was sent: attribute -> its JSON bytes.
Members = Mapping[str, bytes | msgspec.Raw]

_NULL: Final = b"null"
_ASSETS: Final = "assets."


class ProductRefused(Exception):
    """One product cannot be imported; the message is the reason."""


def is_null(raw: bytes | msgspec.Raw) -> bool:
    """Whether an attribute is null, which deletes."""
    return bytes(raw) == _NULL


def attributes_of(sent: Mapping[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """Return what was sent with the members of `assets` as attributes of their own.

    Raises
    ------
    ProductRefused
        When assets is neither an object nor null.
    """
    attributes = dict(sent)
    assets = attributes.get("assets")
    if assets is None or is_null(assets):
        return attributes
    if not bytes(assets).startswith(b"{"):
        raise ProductRefused("assets is not an object")
    del attributes["assets"]
    # One description of the service names the documents so.
    names = {"document": "documents"}
    return attributes | {_ASSETS + names.get(name, name): raw for name, raw in members(bytes(assets)).items()}


def stored_attributes(body: bytes) -> dict[str, bytes]:
    """Return the attributes of a stored record; its assets are one of them where they are no object."""
    stored = members(body)
    if bytes(stored.get("assets", _NULL)).startswith(b"{"):
        stored = attributes_of(stored)
    return {name: bytes(raw) for name, raw in stored.items()}


def merged(stored: Members, attributes: Members, now: datetime) -> dict[str, bytes | msgspec.Raw]:
    """Return a record after attributes were written to it.

    Parameters
    ----------
    now
        The time of the write; `updatedAt` moves to it, and never back.
    """
    record = dict(stored)
    updated_at = encode(next_updated_at(record.get("updatedAt"), now))
    of_assets = {
        name.removeprefix(_ASSETS): raw for name, raw in attributes.items() if name.startswith(_ASSETS)
    }
    for name, raw in attributes.items():
        if not name.startswith(_ASSETS):
            _write(record, name, raw)
    if of_assets or "assets" in attributes:
        before = _object(stored.get("assets"))
        assets = {} if "assets" in attributes else dict(before)
        for name, raw in of_assets.items():
            _write(assets, name, raw)
        # Compared as values: the same pictures with other blanks are no change.
        if _decoded(assets.get("pictures")) != _decoded(before.get("pictures")):
            dates = _object(assets.get("lastUpdatedAt"))
            assets["lastUpdatedAt"] = joined(dates | {"pictures": updated_at})
        if assets or of_assets:
            record["assets"] = joined(assets)
    # Last, so that an `updatedAt` among the attributes sent cannot win.
    record["updatedAt"] = updated_at
    return record


def _write(record: dict[str, bytes | msgspec.Raw], name: str, raw: bytes | msgspec.Raw) -> None:
    if is_null(raw):
        record.pop(name, None)
    else:
        record[name] = raw


def _object(raw: bytes | msgspec.Raw | None) -> dict[str, bytes | msgspec.Raw]:
    if raw is None or not bytes(raw).startswith(b"{"):
        return {}
    return dict(members(bytes(raw)))


def _decoded(raw: bytes | msgspec.Raw | None) -> Any:
    return None if raw is None else decode(bytes(raw))


def write_product(
    connection: sqlite3.Connection, key: int, body: bytes, attributes: Members, now: datetime
) -> list[int]:
    """Write attributes into a product and its versions; return the keys of the records that were written.

    Parameters
    ----------
    body
        The product's record as it is stored.
    """
    replace_product(connection, key, *merged_record(body, attributes, now))
    return [key, *write_versions(connection, key, attributes, now)]


def write_versions(
    connection: sqlite3.Connection, product_key: int, attributes: Members, now: datetime
) -> list[int]:
    """Write attributes into the versions of a product, except those that their retailers have written."""
    versions = connection.execute(
        "SELECT versions.key, versions.attributes, records.body FROM versions"
        " JOIN records ON records.key = versions.key WHERE versions.product_key = ?",
        (product_key,),
    )
    written = []
    for key, own, body in versions.fetchall():
        kept = decode(own)
        theirs = {
            name: raw for name, raw in attributes.items() if not any(_overlap(name, other) for other in kept)
        }
        replace_product(connection, key, *merged_record(body, theirs, now))
        written.append(key)
    return written


def merged_record(body: bytes, attributes: Members, now: datetime) -> tuple[bytes, dict[str, Any]]:
    """Return a record after attributes were written to it: its JSON, and its members."""
    written = joined(merged(members(body), attributes, now))
    return written, decode(written)


def _overlap(name: str, other: str) -> bool:
    """Whether two attributes are one, or one is `assets` and the other a member of it."""
    return name == other or name.startswith(f"{other}.") or other.startswith(f"{name}.")

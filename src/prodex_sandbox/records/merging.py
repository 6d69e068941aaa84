"""The merge rule: a stored record after attributes were written to it (contract, Writing).

Attributes stay JSON bytes, so that those that are not written keep every byte. The members
of `assets` count as attributes of their own, by the names `assets.pictures` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from prodex_sandbox.raw_json import decode, encode, joined, members
from prodex_sandbox.records.service_clock import next_updated_at

#: What a record holds, or what was sent: attribute -> its JSON bytes.
Members = Mapping[str, bytes | msgspec.Raw]

_NULL: Final = b"null"
_ASSETS: Final = "assets."


class ProductRefused(Exception):
    """One product cannot be imported; the message is the reason."""


def is_null(raw: bytes | msgspec.Raw) -> bool:
    """Tell whether an attribute is null, which deletes."""
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

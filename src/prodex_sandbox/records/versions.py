"""Writing attributes of a manufacturer into its product, and into the versions that retailers have made of it.

A retailer's version keeps the attributes that the retailer has written; all others follow the manufacturer.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from prodex_sandbox.raw_json import decode, joined, members
from prodex_sandbox.records.merging import Members, merged
from prodex_sandbox.records.tables import replace_product


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
    """Tell whether two attributes are one, or one is `assets` and the other a member of it."""
    return name == other or name.startswith(f"{other}.") or other.startswith(f"{name}.")

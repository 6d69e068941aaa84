"""A product's rows in the store: its record, and what the filters and the text search need to know of it."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from prodex.sandbox.facts import facts_of
from prodex.sandbox.model import View
from prodex.sandbox.search import SEARCH_FIELDS
from prodex.sandbox.wire import encode

_TEXTS: Final = (
    f"INSERT INTO texts (rowid, {', '.join(SEARCH_FIELDS.values())})"  # noqa: S608 - our own names
    f" VALUES (?{', ?' * len(SEARCH_FIELDS)})"
)


def insert_product(
    connection: sqlite3.Connection, key: int, owner_id: int, body: bytes, record: dict[str, Any]
) -> None:
    """Insert a product; `body` is the record's JSON."""
    facts = facts_of(record)
    connection.execute(
        "INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            key,
            facts.id,
            facts.uuid,
            facts.gtin,
            owner_id,
            facts.updated_at,
            facts.pictures_updated_at,
            facts.has_packshot,
            facts.consumer_unit,
        ),
    )
    connection.execute("INSERT INTO records VALUES (?, ?)", (key, body))
    if any(facts.texts.values()):
        connection.execute(_TEXTS, (key, *facts.texts.values()))


def replace_product(connection: sqlite3.Connection, key: int, body: bytes, record: dict[str, Any]) -> None:
    """Put another record in place of a product's; owner and GTIN stay."""
    facts = facts_of(record)
    connection.execute(
        "UPDATE products SET updated_at = ?, pictures_updated_at = ?, has_packshot = ?, consumer_unit = ?"
        " WHERE key = ?",
        (facts.updated_at, facts.pictures_updated_at, facts.has_packshot, facts.consumer_unit, key),
    )
    connection.execute("UPDATE records SET body = ? WHERE key = ?", (body, key))
    connection.execute("DELETE FROM texts WHERE rowid = ?", (key,))
    if any(facts.texts.values()):
        connection.execute(_TEXTS, (key, *facts.texts.values()))


def insert_view(connection: sqlite3.Connection, key: int, view: View, overlay: dict[str, Any]) -> None:
    """Insert how a viewer sees a product; `overlay` has the members that the record has otherwise."""
    connection.execute(
        "INSERT INTO views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            view.organization_id,
            key,
            key,
            int(view.shared_from),
            int(view.shared_with),
            view.product_status,
            view.active_range,
            view.validation_status,
            view.target_market,
            encode(overlay) if overlay else None,
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO tags VALUES (?, ?, ?, ?)",
        ((view.organization_id, key, name, created_at) for name, created_at in view.tags),
    )

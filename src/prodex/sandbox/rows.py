"""A product's rows in the store: its record, and what the filters and the text search need to know of it."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from prodex.sandbox.facts import facts_of
from prodex.sandbox.model import SharedProduct, View
from prodex.sandbox.search import SEARCH_FIELDS
from prodex.sandbox.views import overlay, views_with_owner
from prodex.sandbox.wire import encode

_TEXTS: Final = (
    f"INSERT INTO texts (rowid, {', '.join(SEARCH_FIELDS.values())})"  # noqa: S608 - our own names
    f" VALUES (?{', ?' * len(SEARCH_FIELDS)})"
)


def next_key(connection: sqlite3.Connection) -> int:
    """Return a key that no product has, or had: a scroll may still hold those of removed ones."""
    rows = connection.execute("SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'products'")
    return int(rows.fetchone()[0])


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
    """Put another record in place of a product's; the owner stays."""
    facts = facts_of(record)
    connection.execute(
        "UPDATE products SET id = ?, uuid = ?, gtin = ?, updated_at = ?, pictures_updated_at = ?,"
        " has_packshot = ?, consumer_unit = ? WHERE key = ?",
        (
            facts.id,
            facts.uuid,
            facts.gtin,
            facts.updated_at,
            facts.pictures_updated_at,
            facts.has_packshot,
            facts.consumer_unit,
            key,
        ),
    )
    connection.execute("UPDATE records SET body = ? WHERE key = ?", (body, key))
    connection.execute("DELETE FROM texts WHERE rowid = ?", (key,))
    if any(facts.texts.values()):
        connection.execute(_TEXTS, (key, *facts.texts.values()))


def delete_product(connection: sqlite3.Connection, key: int) -> None:
    """Delete a product, with all that anybody sees of it or made of it."""
    delete_versions(connection, key)
    for table in ("views", "tags", "activations"):
        connection.execute(f"DELETE FROM {table} WHERE product_key = ?", (key,))  # noqa: S608 - our own names
    _delete_record(connection, key)


def delete_versions(connection: sqlite3.Connection, key: int) -> None:
    """Delete what retailers made of a product; they see the product itself again."""
    versions = connection.execute("SELECT key, organization_id FROM versions WHERE product_key = ?", (key,))
    for version, organization_id in versions.fetchall():
        connection.execute(
            "UPDATE views SET seen_key = product_key WHERE organization_id = ? AND product_key = ?",
            (organization_id, key),
        )
        connection.execute("DELETE FROM versions WHERE key = ?", (version,))
        _delete_record(connection, version)


def insert_views(connection: sqlite3.Connection, key: int, product: SharedProduct) -> tuple[View, ...]:
    """Insert how everybody sees a product, its owner too; return these views."""
    views = views_with_owner(product)
    for view in views:
        insert_view(connection, key, view, overlay(product.record, views[0], view))
    return views


def _delete_record(connection: sqlite3.Connection, key: int) -> None:
    connection.execute("DELETE FROM products WHERE key = ?", (key,))
    connection.execute("DELETE FROM records WHERE key = ?", (key,))
    connection.execute("DELETE FROM texts WHERE rowid = ?", (key,))


def insert_view(connection: sqlite3.Connection, key: int, view: View, overlay: dict[str, Any]) -> None:
    """Insert how a viewer sees a product; `overlay` has the members that the record has otherwise."""
    connection.execute(
        "INSERT INTO views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT updated_at FROM products WHERE key = ?), ?)",
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
            key,
            encode(overlay) if overlay else None,
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO tags VALUES (?, ?, ?, ?)",
        ((view.organization_id, key, name, created_at) for name, created_at in view.tags),
    )

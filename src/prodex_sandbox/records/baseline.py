"""The baseline of a store: what products were before anybody changed them, and the reset to it.

Before the first change of a product its rows are copied into tables of the same columns, by triggers, whoever
changes it: an upsert, `Sandbox.change`, a simulated supplier. So a reset costs as much as was changed, whatever the
store was filled with.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from prodex_sandbox.raw_json import decode
from prodex_sandbox.records.merging import write_product
from prodex_sandbox.records.service_clock import Clock, date_writes
from prodex_sandbox.records.store import (
    Store,
    delete_product,
    delete_versions,
    restore_texts,
)

#: Tables of a product, each with the column of its key.
_COPIED_TABLES: Final = {"products": "key", "records": "key", "views": "product_key", "tags": "product_key"}
#: Tables that are empty in the baseline.
_EMPTIED_TABLES: Final = ("activations", "imports", "journal")
#: Settings that are only there since: the first and last simulated day, and by how much the clock was moved.
_REMOVED_SETTINGS: Final = ("simulated_since", "simulated_until", "clock_moved")

_TRIGGER: Final = """
CREATE TRIGGER before_{event}_of_{table} BEFORE {event} ON {table}
WHEN {row}.{column} <= {last} AND NOT EXISTS (SELECT 1 FROM first_products WHERE key = {row}.{column}) BEGIN
    {copies}
END;
"""


#: Settings that a new store gets, and the SQL that finds them.
BASELINE: Final = {
    "last_key": "ifnull(max(key), 0) FROM products",
    "newest_update": "ifnull(max(updated_at), 0) FROM products",
    "organizations": "count(*) FROM organizations",
}


def note_baseline(connection: sqlite3.Connection) -> None:
    """Note in a new store which products and organisations it was filled with, and the newest update among them."""
    for name, found in BASELINE.items():
        connection.execute(f"INSERT INTO settings SELECT ?, {found}", (name,))


def baseline_triggers(connection: sqlite3.Connection) -> str:
    """Return the SQL of the tables and triggers that keep the baseline of a store that has just been filled."""
    last = last_key(connection)
    made = [
        f"CREATE TABLE first_{table} AS SELECT * FROM {table} LIMIT 0;"  # noqa: S608 - our own names
        f"CREATE INDEX first_{table}_by_product ON first_{table} ({column});"
        for table, column in _COPIED_TABLES.items()
    ]
    for table, column in _COPIED_TABLES.items():
        # A tag can be new to a product; its other rows are part of the baseline.
        events = {"UPDATE": "old", "DELETE": "old"} | ({"INSERT": "new"} if table == "tags" else {})
        for event, row in events.items():
            copies = "".join(
                f"INSERT INTO first_{each} SELECT * FROM {each} WHERE {key} = {row}.{column};"  # noqa: S608
                for each, key in _COPIED_TABLES.items()
            )
            made.append(
                _TRIGGER.format(event=event, table=table, row=row, column=column, last=last, copies=copies)
            )
    return "".join(made)


def last_key(connection: sqlite3.Connection) -> int:
    """Return the largest key of the products that a store was filled with."""
    return int(_setting(connection, "last_key"))


def newest_update(connection: sqlite3.Connection) -> datetime | None:
    """Return the newest update among the products that a store was filled with; None where none has a date."""
    seconds = int(_setting(connection, "newest_update"))
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def reset_store(store: Store) -> int:
    """Reset a store to its baseline, the dates of products too; return how many products that changed."""
    with store.writing() as connection:
        changed = [key for (key,) in connection.execute("SELECT key FROM first_products ORDER BY key")]
        added = _added_keys(connection, "")
        for key in changed:
            _restore(connection, key)
        for key in added:
            delete_product(connection, key)
        for table in _EMPTIED_TABLES:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        connection.executemany("DELETE FROM settings WHERE name = ?", [(name,) for name in _REMOVED_SETTINGS])
        known = int(_setting(connection, "organizations"))
        connection.execute("DELETE FROM organizations WHERE position >= ?", (known,))
    store.organizations = store.organizations[:known]
    return len(changed) + len(added)


def reset_products(store: Store, gtins: Iterable[str], clock: Clock) -> list[str]:
    """Reset products to the baseline, and return the GTINs of those that were changed.

    They are dated to now, so that whoever has loaded them since finds them among the updated ones. A product that was
    added since is removed.

    Raises
    ------
    LookupError
        When a GTIN never was in the store; then nothing is reset.
    """
    with store.writing() as connection:
        now = clock()
        written: set[int] = set()
        taken = []
        for gtin in gtins:
            spelled = (gtin, gtin.zfill(14))
            changed = connection.execute("SELECT key FROM first_products WHERE gtin IN (?, ?)", spelled)
            keys, added = [key for (key,) in changed], _added_keys(connection, "AND gtin IN (?, ?)", spelled)
            there = connection.execute("SELECT 1 FROM products WHERE gtin IN (?, ?) LIMIT 1", spelled)
            if not keys and not added and not there.fetchone():
                raise LookupError(f"No product of the sandbox has, or had, the GTIN {gtin!r:.40}.")
            for key in keys:
                _restore(connection, key)
                (body,) = connection.execute("SELECT body FROM records WHERE key = ?", (key,)).fetchone()
                written.update(write_product(connection, key, body, {}, now))
            for key in added:
                delete_product(connection, key)
            if keys or added:
                taken.append(gtin)
        date_writes(connection, written, now, clock)
    return taken


def _added_keys(connection: sqlite3.Connection, condition: str, bound: tuple[str, ...] = ()) -> list[int]:
    """Return the keys of the products that are not in the baseline."""
    rows = connection.execute(
        "SELECT key FROM products WHERE key > (SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'last_key')"  # noqa: S608
        f" AND key NOT IN (SELECT key FROM versions) {condition} ORDER BY key",
        bound,
    )
    return [key for (key,) in rows]


def _restore(connection: sqlite3.Connection, key: int) -> None:
    delete_versions(connection, key)
    for table, column in _COPIED_TABLES.items():
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (key,))  # noqa: S608 - our own names
        connection.execute(
            f"INSERT INTO {table} SELECT * FROM first_{table} WHERE {column} = ?",  # noqa: S608
            (key,),
        )
    (body,) = connection.execute("SELECT body FROM records WHERE key = ?", (key,)).fetchone()
    restore_texts(connection, key, decode(body))
    connection.execute("DELETE FROM activations WHERE product_key = ?", (key,))
    # Last: as long as they are there, no change of the product is copied as its baseline.
    for table, column in _COPIED_TABLES.items():
        connection.execute(f"DELETE FROM first_{table} WHERE {column} = ?", (key,))  # noqa: S608


def _setting(connection: sqlite3.Connection, name: str) -> str:
    (value,) = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return str(value)

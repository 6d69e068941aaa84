"""The baseline of a store, a copy of it before its first change, and the reset to it.

A reset compares the store with the copy and takes back what differs, whoever changed it: an upsert, `Sandbox.change`, a
simulated supplier. `Store.writing` makes the copy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from prodex_sandbox.raw_json import decode
from prodex_sandbox.records.merging import write_product
from prodex_sandbox.records.service_clock import Clock, date_writes
from prodex_sandbox.records.store import (
    Store,
    StoreUnusable,
    delete_product,
    delete_versions,
    restore_texts,
)

#: Tables of a product, each with the columns of its primary key, the first of which is the product's. `records` has a
#: row for each of `products`.
_COMPARED: Final = {
    "products": ("key",),
    "views": ("product_key", "organization_id"),
    "tags": ("product_key", "organization_id", "name"),
}
_RESTORED: Final = {"records": "key", **{table: primary[0] for table, primary in _COMPARED.items()}}
#: Tables that are empty in the baseline.
_EMPTIED: Final = ("activations", "imports", "journal")
#: Settings that are only there since: the first and last simulated day, and by how much the clock was moved.
_REMOVED_SETTINGS: Final = ("simulated_since", "simulated_until", "clock_moved")


@contextmanager
def beside_baseline(store: Store) -> Iterator[sqlite3.Connection]:
    """Open a transaction that reads the copy of the store as `baseline`.

    Raises
    ------
    StoreUnusable
        When the copy is damaged.
    """
    with store.writing() as connection:
        if "baseline" not in {name for _, name, _ in connection.execute("PRAGMA database_list")}:
            try:
                # Immutable: a transaction of the store locks nothing here.
                connection.execute("ATTACH ? AS baseline", (f"{store.baseline.as_uri()}?immutable=1",))
                connection.execute("SELECT count(*) FROM baseline.settings")
            except sqlite3.DatabaseError as error:
                raise StoreUnusable(
                    f"{store.baseline} is damaged ({error}), so nothing can be taken back; give another home."
                ) from error
        yield connection


def last_key(connection: sqlite3.Connection) -> int:
    """Return the largest key of the products that a store was filled with."""
    return int(connection.execute("SELECT ifnull(max(key), 0) FROM baseline.products").fetchone()[0])


def newest_update(connection: sqlite3.Connection) -> datetime | None:
    """Return the newest update among the products that a store was filled with; None where none has a date."""
    (seconds,) = connection.execute("SELECT max(updated_at) FROM baseline.products").fetchone()
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def reset_store(store: Store) -> int:
    """Reset a store to its baseline, the dates of products too; return how many products that changed."""
    if not store.baseline.exists():
        return 0  # the copy is made before the first change
    with beside_baseline(store) as connection:
        keys = _changed_keys(connection)
        for key in keys:
            _restore(connection, key)
        for table in _EMPTIED:
            connection.execute(f"DELETE FROM main.{table}")  # noqa: S608 - our own names
        connection.executemany("DELETE FROM settings WHERE name = ?", [(name,) for name in _REMOVED_SETTINGS])
        (known,) = connection.execute("SELECT count(*) FROM baseline.organizations").fetchone()
        connection.execute("DELETE FROM main.organizations WHERE position >= ?", (known,))
    store.organizations = store.organizations[:known]
    return len(keys)


def reset_products(store: Store, gtins: Iterable[str], clock: Clock) -> list[str]:
    """Reset products to the baseline, and return the GTINs of those that were changed.

    They are dated to now, so that whoever has loaded them since finds them among the updated ones. A product that was
    added since is removed.

    Raises
    ------
    LookupError
        When a GTIN never was in the store; then nothing is reset.
    """
    with beside_baseline(store) as connection:
        now = clock()
        written: set[int] = set()
        taken = []
        for gtin in gtins:
            keys = _keys_of(connection, gtin)
            changed = [key for key in keys if _changed_keys(connection, key)]
            for key in changed:
                if (body := _restore(connection, key)) is not None:
                    written.update(write_product(connection, key, body, {}, now))
            if changed:
                taken.append(gtin)
        date_writes(connection, written, now, clock)
    return taken


def _keys_of(connection: sqlite3.Connection, gtin: str) -> list[int]:
    """Return the keys of the products that had a GTIN at the beginning, or that were added with it since."""
    rows = connection.execute(
        "SELECT key FROM baseline.products WHERE gtin IN (:gtin, :long) UNION SELECT key FROM main.products"
        " WHERE gtin IN (:gtin, :long) AND key NOT IN (SELECT key FROM versions) ORDER BY key",
        {"gtin": gtin, "long": gtin.zfill(14)},
    )
    if not (keys := [key for (key,) in rows]):
        raise LookupError(f"No product of the sandbox has, or had, the GTIN {gtin!r:.40}.")
    return keys


def _changed_keys(connection: sqlite3.Connection, key: int | None = None) -> list[int]:
    """Return the keys of the products, or of one of them, that are not as they were, or are new or gone."""
    only = "TRUE" if key is None else f"a.key = {key}"
    rows = connection.execute(
        "SELECT a.key FROM main.records AS a JOIN baseline.records AS b USING (key)"  # noqa: S608 - our own names
        f" WHERE {only} AND a.body IS NOT b.body"
    )
    found = {key for (key,) in rows}
    for table, primary in _COMPARED.items():
        names = [name for _, name, *_ in connection.execute(f"PRAGMA main.table_info({table})")]
        same = " AND ".join(f"a.{name} {'=' if name in primary else 'IS'} b.{name}" for name in names)
        only = "TRUE" if key is None else f"a.{primary[0]} = {key}"
        for one, other in (("main", "baseline"), ("baseline", "main")):
            rows = connection.execute(
                f"SELECT DISTINCT a.{primary[0]} FROM {one}.{table} AS a"  # noqa: S608 - our own names
                f" WHERE {only} AND NOT EXISTS (SELECT 1 FROM {other}.{table} AS b WHERE {same})"
            )
            found.update(key for (key,) in rows)
    # What a retailer wrote is a row of its own, and is taken back with the product.
    return sorted(found - {key for (key,) in connection.execute("SELECT key FROM versions")})


def _restore(connection: sqlite3.Connection, key: int) -> bytes | None:
    """Make a product what it was, and return its record; None where it was not there, and is removed."""
    delete_versions(connection, key)
    row = connection.execute("SELECT body FROM baseline.records WHERE key = ?", (key,)).fetchone()
    if row is None:
        delete_product(connection, key)
        return None
    for table, column in _RESTORED.items():
        connection.execute(f"DELETE FROM main.{table} WHERE {column} = ?", (key,))  # noqa: S608 - our own names
        connection.execute(
            f"INSERT INTO main.{table} SELECT * FROM baseline.{table} WHERE {column} = ?",  # noqa: S608
            (key,),
        )
    connection.execute("DELETE FROM main.activations WHERE product_key = ?", (key,))
    restore_texts(connection, key, decode(row[0]))
    return bytes(row[0])

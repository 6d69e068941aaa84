"""Filling a new store with organisations, labels and products, and changing its products while it is served.

Neither is an import: products are replaced as a whole, as if their manufacturers had changed them long ago.
"""

from __future__ import annotations

import gc
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from prodex_sandbox.raw_json import encode, members
from prodex_sandbox.records.indexing import IndexedValues, indexed_values
from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct, views_with_owner
from prodex_sandbox.records.reading import shared_with_all
from prodex_sandbox.records.referentials import Codes, codes_known, codes_of
from prodex_sandbox.records.segments import SegmentBuilder
from prodex_sandbox.records.service_clock import Clock, date_writes, next_updated_at
from prodex_sandbox.records.store import (
    INDEXES,
    ORGANIZATION_COLUMNS,
    TABLES,
    TEXTS_MISSING,
    TRIGGERS,
    VERSION,
    Store,
    delete_product,
    delete_versions,
    insert_product,
    insert_products,
    insert_views,
    next_key,
    replace_product,
)

#: Products that are written at a time.
_BLOCK: Final = 500

#: (code, label in US English) -> language -> label.
Labels = Mapping[tuple[str, str], Mapping[str, str]]

# Each retailer with scenarios has these: name, and whether it takes deadlines. Ids begin with the retailer's.
_SCENARIOS: Final = (("Online listing", True), ("Logistics", True), ("Regulatory review", False))


def fill_store(
    path: Path,
    organizations: Sequence[Organization],
    products: Iterable[tuple[bytes, SharedProduct]],
    labels: Labels,
    origin: str,
) -> None:
    """Fill a new store, a file that is empty until now.

    Each product is given with the bytes of its record. `organizations` is read after the last of them.
    """
    connection = sqlite3.connect(path)
    try:
        # An incomplete store is thrown away, so it needs no journal.
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES)
        with connection, _without_collecting():
            _insert_settings(connection, origin)
            _insert_labels(connection, labels)
            _insert_products(connection, products)
            insert_organizations(connection, organizations)
            _insert_scenarios(connection, organizations)
        # The planner needs statistics (ANALYZE); WAL lets calls read while an import writes.
        connection.executescript(INDEXES + TRIGGERS + "ANALYZE; PRAGMA journal_mode = WAL;")
    finally:
        connection.close()


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Let records be decoded without the collector of cycles: they have none, and it would look at each again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _insert_settings(connection: sqlite3.Connection, origin: str) -> None:
    settings = {"version": VERSION, "token_key": secrets.token_hex(32), "origin": origin, TEXTS_MISSING: "1"}
    connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())


def insert_organizations(
    connection: sqlite3.Connection, organizations: Iterable[Organization], first: int = 0
) -> None:
    """Insert organisations, the first at this position."""
    connection.executemany(
        f"INSERT INTO organizations (position, {ORGANIZATION_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        # `astuple` would copy every value deeply: a tenth of the time that a small store takes to be filled.
        (
            (position, *(getattr(one, column.name) for column in fields(Organization)))
            for position, one in enumerate(organizations, start=first)
        ),
    )


def _insert_scenarios(connection: sqlite3.Connection, organizations: Iterable[Organization]) -> None:
    connection.executemany(
        "INSERT INTO scenarios VALUES (?, ?, ?, ?)",
        (
            (one.id, f"{one.id}{number:02d}", name, deadlines_enabled)
            for one in organizations
            if one.type is OrganizationType.RETAILER and one.scenarios_enabled
            for number, (name, deadlines_enabled) in enumerate(_SCENARIOS, start=1)
        ),
    )


def _insert_labels(connection: sqlite3.Connection, labels: Labels) -> None:
    connection.executemany(
        "INSERT INTO labels VALUES (?, ?, ?, ?)",
        (
            (code, label, language, text)
            for (code, label), translations in labels.items()
            for language, text in translations.items()
        ),
    )


def _insert_products(connection: sqlite3.Connection, products: Iterable[tuple[bytes, SharedProduct]]) -> None:
    known: Codes = {}
    segments = SegmentBuilder()
    numbered = enumerate(products, start=1)
    while block := [(key, *one, views_with_owner(one[1])) for key, one in islice(numbered, _BLOCK)]:
        insert_products(
            connection, [(key, one.owner_id, body, indexed_values(one.record)) for key, body, one, _ in block]
        )
        insert_views(connection, [(key, one.record, views) for key, _, one, views in block])
        for _, _, product, views in block:
            segments.add(product.record, product.owner_id, views)
            for place, code in codes_of(product.record):
                known.setdefault(place, code)
    segments.note(connection)
    connection.executemany(
        "INSERT INTO referentials VALUES (?, ?, ?)",
        ((name, code, encode(body)) for (name, code), body in (codes_known() | known).items()),
    )


#: A product as a whole: a record alone, or a record with its owner and views.
Product = SharedProduct | Mapping[str, Any]


def put_products(store: Store, products: Iterable[Product], clock: Clock | None) -> None:
    """Put products into the store, each in place of the one that it is, or as a new one.

    Parameters
    ----------
    clock
        Says the time of the change, to which `updatedAt` moves; None leaves it as the products have it.
    """
    # A copy: the store changes only once the transaction has succeeded.
    known = list(store.organizations)
    with store.writing() as connection:
        now = clock() if clock else None
        written: set[int] = set()
        for given in products:
            if keys := _keys(connection, indexed_values(_record(given))):
                for key in keys:
                    _replace(connection, key, given, now)
            else:
                keys = [_insert(connection, given, known, now)]
            written.update(keys)
        if clock and now:
            date_writes(connection, written, now, clock)
        insert_organizations(connection, known[len(store.organizations) :], len(store.organizations))
    store.organizations = tuple(known)


def remove_products(store: Store, products: Iterable[str | int | Product]) -> None:
    """Remove products for all who see them; raise LookupError, and remove none, where one is not there."""
    with store.writing() as connection:
        for one in products:
            keys = _keys(connection, _facts(one))
            if not keys:
                raise LookupError(f"The store holds no product {one!r:.100}.")
            for key in keys:
                delete_product(connection, key)


def _insert(
    connection: sqlite3.Connection, given: Product, known: list[Organization], now: datetime | None
) -> int:
    # A record alone gets its owner and views as in a new store; its bytes are made below, with the new date.
    filling = given if isinstance(given, SharedProduct) else (b"", dict(given))
    ((_, product),) = shared_with_all([filling], known)
    record = product.record if now is None else _updated(product.record, None, now)
    key = next_key(connection)
    insert_product(connection, key, product.owner_id, encode(record), record)
    insert_views(connection, [(key, product.record, views_with_owner(product))])
    return key


def _replace(connection: sqlite3.Connection, key: int, given: Product, now: datetime | None) -> None:
    record = dict(_record(given))
    if now is not None:
        (body,) = connection.execute("SELECT body FROM records WHERE key = ?", (key,)).fetchone()
        record = _updated(record, body, now)
    delete_versions(connection, key)
    replace_product(connection, key, encode(record), record)
    if isinstance(given, SharedProduct):
        connection.execute("UPDATE products SET owner_id = ? WHERE key = ?", (given.owner_id, key))
        connection.execute("DELETE FROM views WHERE product_key = ?", (key,))
        connection.execute("DELETE FROM tags WHERE product_key = ?", (key,))
        insert_views(connection, [(key, given.record, views_with_owner(given))])


def _updated(record: Mapping[str, Any], before: bytes | None, now: datetime) -> dict[str, Any]:
    return {**record, "updatedAt": next_updated_at(members(before).get("updatedAt") if before else None, now)}


def _keys(connection: sqlite3.Connection, facts: IndexedValues) -> list[int]:
    """Return the keys of the products that have the same id, or where there is none uuid, or gtin."""
    for column in ("id", "uuid", "gtin"):
        if (value := getattr(facts, column)) is not None:
            rows = connection.execute(
                f"SELECT key FROM products WHERE {column} = ?"  # noqa: S608 - our own names
                " AND key NOT IN (SELECT key FROM versions) ORDER BY key",
                (value,),
            )
            return [key for (key,) in rows]
    return []


def _facts(one: str | int | Product) -> IndexedValues:
    if isinstance(one, int):
        return indexed_values({"id": one})
    return indexed_values({"gtin": one} if isinstance(one, str) else dict(_record(one)))


def _record(given: Product) -> dict[str, Any]:
    return dict(given.record if isinstance(given, SharedProduct) else given)

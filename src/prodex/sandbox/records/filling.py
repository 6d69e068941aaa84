"""Filling a new store: organisations, labels and products, and what is known or decided from them."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from prodex.sandbox.private_files import make_file
from prodex.sandbox.raw_json import encode
from prodex.sandbox.records.model import Organization, OrganizationType, SharedProduct
from prodex.sandbox.records.referentials import Codes, codes_known, codes_of
from prodex.sandbox.records.segments import SegmentGatherer
from prodex.sandbox.records.tables import INDEXES, TABLES, TRIGGERS, VERSION, insert_product, insert_views

#: (code, label in US English) -> language -> label.
Labels = Mapping[tuple[str, str], Mapping[str, str]]

# Each retailer with scenarios has these: name, and whether it takes deadlines. Ids begin with the retailer's.
_SCENARIOS: Final = (("Online listing", True), ("Logistics", True), ("Regulatory review", False))


def create_store(
    path: Path,
    organizations: Sequence[Organization],
    products: Iterable[tuple[bytes, SharedProduct]],
    labels: Labels,
    origin: str,
) -> None:
    """Make a new store; a file is at `path` only when it is whole.

    Products come with the bytes of their records. `organizations` is read when they have come.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    filling = path.with_suffix(".filling")
    # What SQLite makes beside a store gets the mode of the store.
    make_file(filling)
    connection = sqlite3.connect(filling)
    try:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES)
        with connection:
            _insert_settings(connection, origin)
            _insert_labels(connection, labels)
            _insert_products(connection, products)
            insert_organizations(connection, organizations)
            _insert_scenarios(connection, organizations)
        connection.executescript(INDEXES + TRIGGERS + "ANALYZE; PRAGMA journal_mode = WAL;")
    finally:
        connection.close()
    filling.replace(path)


def _insert_settings(connection: sqlite3.Connection, origin: str) -> None:
    settings = {"version": VERSION, "token_key": secrets.token_hex(32), "origin": origin}
    connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())


def insert_organizations(
    connection: sqlite3.Connection, organizations: Iterable[Organization], first: int = 0
) -> None:
    """Insert organisations, the first at this position."""
    connection.executemany(
        "INSERT INTO organizations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                one.id,
                position,
                one.name,
                int(one.type),
                one.client_id,
                one.client_secret,
                one.username,
                one.scenarios_enabled,
                one.deadlines_enabled,
            )
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
    segments = SegmentGatherer()
    for key, (body, product) in enumerate(products, start=1):
        insert_product(connection, key, product.owner_id, body, product.record)
        views = insert_views(connection, key, product)
        segments.add(product.record, product.owner_id, views)
        for place, code in codes_of(product.record):
            known.setdefault(place, code)
    segments.insert(connection)
    connection.executemany(
        "INSERT INTO referentials VALUES (?, ?, ?)",
        ((name, code, encode(body)) for (name, code), body in (codes_known() | known).items()),
    )

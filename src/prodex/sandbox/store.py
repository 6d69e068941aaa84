"""The embedded store: one SQLite file with products, how each viewer sees them, and the keys of all doors.

What filters ask for stands in columns; records are bytes in a table of their own, so that choosing products
never reads them.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from prodex.sandbox.facts import facts_of
from prodex.sandbox.model import Organization, OrganizationType, SharedProduct
from prodex.sandbox.search import SEARCH_FIELDS
from prodex.sandbox.views import overlay, views_with_owner
from prodex.sandbox.wire import encode

#: (code, label in US English) -> language -> label.
Labels = Mapping[tuple[str, str], Mapping[str, str]]

_VERSION: Final = "2"

_SCHEMA: Final = f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE organizations (
    id INTEGER PRIMARY KEY, position INTEGER, name TEXT, type INTEGER, client_id TEXT UNIQUE,
    client_secret TEXT, username TEXT, scenarios_enabled INTEGER, deadlines_enabled INTEGER
);
CREATE TABLE products (
    key INTEGER PRIMARY KEY, gtin TEXT, owner_id INTEGER, updated_at INTEGER, pictures_updated_at INTEGER,
    has_packshot INTEGER, consumer_unit INTEGER
);
CREATE TABLE records (key INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE views (
    organization_id INTEGER, product_key INTEGER, shared_from INTEGER, shared_with INTEGER,
    product_status TEXT, active_range INTEGER, validation_status INTEGER, target_market INTEGER, overlay BLOB,
    PRIMARY KEY (organization_id, product_key)
) WITHOUT ROWID;
CREATE TABLE tags (
    organization_id INTEGER, product_key INTEGER, name TEXT, created_at TEXT,
    PRIMARY KEY (organization_id, product_key, name)
) WITHOUT ROWID;
CREATE TABLE labels (code TEXT, label TEXT, language TEXT, text TEXT);
CREATE VIRTUAL TABLE texts USING fts5 (
    {", ".join(SEARCH_FIELDS.values())}, tokenize = 'unicode61 remove_diacritics 2'
);
"""

# Made after the rows, which is faster.
_INDEXES: Final = """
CREATE INDEX products_by_gtin ON products (gtin);
CREATE INDEX products_by_update ON products (updated_at);
"""


class StoreUnusable(Exception):
    """The store's file cannot be used as it is."""


class Store:
    """The store, open: as many connections as there are readers at once, all closed by `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        try:
            settings = dict(self._rows("SELECT name, value FROM settings"))
        except sqlite3.DatabaseError as error:
            self.close()
            raise StoreUnusable(
                f"{path} is not a store of the sandbox ({error}); delete it or give another home."
            ) from error
        if settings.get("version") != _VERSION:
            self.close()
            raise StoreUnusable(
                f"{path} was made by another version of the sandbox; delete it or give another home."
            )
        self.token_key: str = settings["token_key"]
        #: What it was filled with, in words.
        self.origin: str = settings["origin"]
        self.organizations = tuple(self._read_organizations())

    @classmethod
    def create(
        cls,
        path: Path,
        organizations: Sequence[Organization],
        products: Iterable[tuple[bytes, SharedProduct]],
        labels: Labels,
        origin: str,
    ) -> Store:
        """Make a new store and open it; a file is at `path` only when it is whole.

        Products come with the bytes of their records. `organizations` is read when they have come.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        filling = path.with_suffix(".filling")
        filling.unlink(missing_ok=True)
        connection = sqlite3.connect(filling)
        try:
            connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA)
            with connection:
                _insert_settings(connection, origin)
                _insert_labels(connection, labels)
                _insert_products(connection, products)
                _insert_organizations(connection, organizations)
            connection.executescript(_INDEXES + "ANALYZE; PRAGMA journal_mode = WAL;")
        finally:
            connection.close()
        filling.replace(path)
        return cls(path)

    def close(self) -> None:
        """Close every connection."""
        while self._idle:
            self._idle.pop().close()

    def product_count(self) -> int:
        """Count all products, whoever sees them."""
        return int(self._rows("SELECT count(*) FROM products")[0][0])

    def count(self, viewer: int, condition: str, bound: Mapping[str, Any]) -> int:
        """Count the viewer's products that meet a condition over `products` and `views`."""
        rows = self._rows(f"SELECT count(*) {_FROM_SEEN} AND {condition}", {**bound, "viewer": viewer})
        return int(rows[0][0])

    def keys(
        self, viewer: int, condition: str, bound: Mapping[str, Any], limit: int = -1, offset: int = 0
    ) -> list[int]:
        """List the keys of these products in the order of their arrival."""
        rows = self._rows(
            f"SELECT products.key {_FROM_SEEN} AND {condition}"
            " ORDER BY products.key LIMIT :most OFFSET :skip",
            {**bound, "viewer": viewer, "most": limit, "skip": offset},
        )
        return [key for (key,) in rows]

    def bodies(self, viewer: int, keys: Iterable[int]) -> list[tuple[bytes, bytes | None]]:
        """Return the records of these products, each with what the viewer sees otherwise, or None."""
        return self._rows(
            "SELECT records.body, views.overlay FROM json_each(:keys) AS wanted"
            " CROSS JOIN records ON records.key = wanted.value"
            " CROSS JOIN views ON views.product_key = wanted.value AND views.organization_id = :viewer"
            " ORDER BY wanted.key",
            {"keys": encode(list(keys)).decode(), "viewer": viewer},
        )

    def labels(self) -> dict[str, dict[tuple[str, str], str]]:
        """Return the labels in other languages: language -> (code, label in US English) -> label."""
        labels: dict[str, dict[tuple[str, str], str]] = {}
        for code, label, language, text in self._rows("SELECT * FROM labels"):
            labels.setdefault(language, {})[code, label] = text
        return labels

    def _rows(self, sql: str, bound: dict[str, Any] | tuple[()] = ()) -> list[Any]:
        with self._reader() as connection:
            return connection.execute(sql, bound).fetchall()

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        # Taking from a list and adding to it are atomic.
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = sqlite3.connect(self._path, check_same_thread=False)
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def _read_organizations(self) -> Iterator[Organization]:
        rows = self._rows(
            "SELECT id, name, type, client_id, client_secret, username, scenarios_enabled, deadlines_enabled"
            " FROM organizations ORDER BY position"
        )
        for id_, name, type_, client_id, client_secret, username, scenarios, deadlines in rows:
            yield Organization(
                id_,
                name,
                OrganizationType(type_),
                client_id,
                client_secret,
                username,
                bool(scenarios),
                bool(deadlines),
            )


_FROM_SEEN: Final = (
    "FROM views JOIN products ON products.key = views.product_key WHERE views.organization_id = :viewer"
)


def _insert_settings(connection: sqlite3.Connection, origin: str) -> None:
    settings = {"version": _VERSION, "token_key": secrets.token_hex(32), "origin": origin}
    connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())


def _insert_organizations(connection: sqlite3.Connection, organizations: Iterable[Organization]) -> None:
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
            for position, one in enumerate(organizations)
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
    for key, (body, product) in enumerate(products, start=1):
        facts = facts_of(product.record)
        connection.execute(
            "INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                key,
                facts.gtin,
                product.owner_id,
                facts.updated_at,
                facts.pictures_updated_at,
                facts.has_packshot,
                facts.consumer_unit,
            ),
        )
        connection.execute("INSERT INTO records VALUES (?, ?)", (key, body))
        if any(facts.texts.values()):
            columns = ", ".join(SEARCH_FIELDS.values())
            connection.execute(
                f"INSERT INTO texts (rowid, {columns}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own names
                (key, *facts.texts.values()),
            )
        views = views_with_owner(product)
        for view in views:
            laid_over = overlay(product.record, views[0], view)
            connection.execute(
                "INSERT INTO views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    view.organization_id,
                    key,
                    int(view.shared_from),
                    int(view.shared_with),
                    view.product_status,
                    view.active_range,
                    view.validation_status,
                    view.target_market,
                    encode(laid_over) if laid_over else None,
                ),
            )
            connection.executemany(
                "INSERT OR IGNORE INTO tags VALUES (?, ?, ?, ?)",
                ((view.organization_id, key, name, created_at) for name, created_at in view.tags),
            )

"""The store: one SQLite file with products, views, imports, and the keys of organisations and tokens; its tables."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.indexing import (
    SEARCH_FIELDS,
    IndexedValues,
    indexed_values,
    searched_texts,
    searched_texts_of,
)
from prodex_sandbox.records.model import (
    Organization,
    OrganizationType,
    View,
    overlay,
)
from prodex_sandbox.records.referentials import Codes

#: Seconds that a transaction of another process may take.
_LONGEST_WRITE: Final = 60.0
_ID: Final = re.compile(r"[0-9]{1,18}")


class StoreUnusable(Exception):
    """The store's file cannot be used as it is."""


class StoreOfAnotherVersion(StoreUnusable):
    """The store's file was made by another version of the sandbox."""


class Store:
    """The store, open: one connection that writes, as many as there are readers at once, all closed by `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: The copy of the store before its first change.
        self.baseline: Path = path.absolute().with_name(f"{path.name}.baseline")
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._writing = threading.Lock()
        try:
            settings = dict(self.rows("SELECT name, value FROM settings"))
        except (sqlite3.Error, ValueError) as error:
            self.close()
            raise StoreUnusable(
                f"{path} is not a store of the sandbox ({error}); delete it or give another home."
            ) from error
        if (found := settings.get("version")) != VERSION:
            self.close()
            raise StoreOfAnotherVersion(
                f"{path} was made by another version of the sandbox (it has layout {found!s:.20}, and this version "
                f"reads layout {VERSION}); delete it or give another home, or make it anew: prodex sandbox --reset."
            )
        try:
            self.token_key: str = _setting_text(settings, "token_key")
            #: What it was filled with, in words.
            self.origin: str = _setting_text(settings, "origin")
            self.organizations: tuple[Organization, ...] = tuple(self._read_organizations())
        except (sqlite3.Error, ValueError, TypeError) as error:
            self.close()
            raise StoreUnusable(f"{path} is damaged ({error}); delete it or give another home.") from error

    def close(self) -> None:
        """Close every connection."""
        while self._idle:
            self._idle.pop().close()
        with self._writing:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    @contextmanager
    def writing(self, *, changes_products: bool = True) -> Iterator[sqlite3.Connection]:
        """Open a transaction on the connection that writes; it is committed as a whole, or rolled back.

        Parameters
        ----------
        changes_products
            Whether the store is to be copied first, unless it has been: a large one takes seconds.
        """
        with self._writing:
            if self._writer is None:
                # Another process may be writing, which is to be waited for: `prodex sandbox --simulate`.
                self._writer = sqlite3.connect(
                    self._path.absolute().as_uri(),
                    timeout=_LONGEST_WRITE,
                    check_same_thread=False,
                    isolation_level=None,
                    uri=True,
                )
                # In WAL mode a crash of the process loses nothing with it; only a power cut may lose the last commits.
                self._writer.execute("PRAGMA synchronous = NORMAL")
                # In KiB: the pages of an index that many products are written to.
                self._writer.execute("PRAGMA cache_size = -65536")
            # The lock is taken now; a transaction that begins with reading might not get it later.
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                if changes_products and not self.baseline.exists():
                    self._copy_to_baseline()
                yield self._writer
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

    def _copy_to_baseline(self) -> None:
        """Copy the store as it is before this transaction; a file is there only when it is complete."""
        copying = self.baseline.with_name(f"{self.baseline.name}.copying")
        copying.unlink(missing_ok=True)
        # For its owner only, as the store is, whatever the umask.
        copying.touch(0o600)
        copying.chmod(0o600)
        with self._reader() as reader, closing(sqlite3.connect(copying)) as copy:
            reader.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        copying.replace(self.baseline)

    def product_count(self) -> int:
        """Count the products of all organisations."""
        rows = self.rows("SELECT (SELECT count(*) FROM products) - (SELECT count(*) FROM versions)")
        return int(rows[0][0])

    def count(self, viewer: int, condition: str, bound: Mapping[str, Any]) -> int:
        """Count the viewer's products that meet a condition over `products` and `views`."""
        rows = self.rows(f"SELECT count(*) {_seen(condition)}", {**bound, "viewer": viewer})
        return int(rows[0][0])

    def keys(
        self, viewer: int, condition: str, bound: Mapping[str, Any], limit: int = -1, offset: int = 0
    ) -> list[int]:
        """List the keys of these products in the order of their arrival."""
        rows = self.rows(
            f"SELECT views.product_key {_seen(condition)}"
            " ORDER BY views.product_key LIMIT :most OFFSET :skip",
            {**bound, "viewer": viewer, "most": limit, "skip": offset},
        )
        return [key for (key,) in rows]

    def bodies(self, viewer: int, keys: Iterable[int]) -> list[tuple[bytes, bytes | None]]:
        """Return the records of these products, each with what the viewer sees otherwise, or None."""
        return self.rows(
            "SELECT records.body, views.overlay FROM json_each(:keys) AS wanted"
            # CROSS JOIN keeps SQLite from reordering: the few wanted keys first, then their rows by index.
            " CROSS JOIN views ON views.product_key = wanted.value AND views.organization_id = :viewer"
            " CROSS JOIN records ON records.key = views.seen_key"
            " ORDER BY wanted.key",
            {"keys": encode(list(keys)).decode(), "viewer": viewer},
        )

    def bodies_about(self, path: str, address: str) -> Iterator[bytes]:
        """Yield records that may name a file: those whose id is in its path, else one that holds its address."""
        ids = [int(part) for part in path.split("/") if _ID.fullmatch(part)]
        sql = "SELECT body FROM records WHERE instr(body, ?) ORDER BY key LIMIT 1"
        if ids:
            sql = "SELECT body FROM products JOIN records USING (key) WHERE products.id = ? ORDER BY key"
        wanted: list[int] | list[bytes] = ids or [encode(address)]
        for value in wanted:
            yield from (body for (body,) in self.rows(sql, (value,)))

    def index_texts(self) -> None:
        """Index the texts of a store that was filled without: most are never searched, and indexing takes a while."""
        if not self.rows(_TEXTS_MISSING):
            return
        with self.writing(changes_products=False) as connection:
            # Another search may have waited for the same.
            if not texts_missing(connection):
                return
            bodies = connection.execute("SELECT key, body FROM records ORDER BY key")
            texts = ((key, searched_texts_of(body)) for key, body in bodies)
            connection.executemany(_INSERT_TEXTS, ((key, *row) for key, row in texts if any(row)))
            connection.execute("DELETE FROM settings WHERE name = ?", (TEXTS_MISSING,))

    def labels(self) -> dict[str, dict[tuple[str, str], str]]:
        """Return the labels in other languages: language -> (code, label in US English) -> label."""
        labels: dict[str, dict[tuple[str, str], str]] = {}
        for code, label, language, text in self.rows("SELECT * FROM labels"):
            labels.setdefault(language, {})[code, label] = text
        return labels

    def referentials(self) -> Codes:
        """Return the codes that products may hold, by referential and code."""
        rows = self.rows("SELECT name, code, body FROM referentials")
        return {(name, code): decode(body) for name, code, body in rows}

    def rows(self, sql: str, bound: Mapping[str, Any] | tuple[Any, ...] = ()) -> list[Any]:
        """Return the rows that a query finds."""
        with self._reader() as connection:
            return connection.execute(sql, bound).fetchall()

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        # A connection to SQLite serves one thread at a time; `pop` and `append` of a list are atomic.
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = sqlite3.connect(self._path, check_same_thread=False)
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def _read_organizations(self) -> Iterator[Organization]:
        rows = self.rows(f"SELECT {ORGANIZATION_COLUMNS} FROM organizations ORDER BY position")  # noqa: S608
        for id_, name, type_, client_id, secret, username, *enabled in rows:
            kind = OrganizationType(type_)
            yield Organization(id_, name, kind, client_id, secret, username, *map(bool, enabled))


def _setting_text(settings: Mapping[str, Any], name: str) -> str:
    value = settings.get(name)
    if not isinstance(value, str):
        raise ValueError(f"its {name} is {value!r:.40}")  # noqa: TRY004 - one error for a damaged store
    return value


def _seen(condition: str) -> str:
    """Return FROM and WHERE for what a viewer sees; a table that the condition asks nothing of is left out."""
    # Counts by date touch only the index of `views` then.
    join = "JOIN products ON products.key = views.seen_key " if "products." in condition else ""
    return f"FROM views {join}WHERE views.organization_id = :viewer AND {condition}"


#: The number of the layout.
VERSION: Final = "6"

#: A setting that is there until the texts of records are indexed: until the first search.
TEXTS_MISSING: Final = "texts_missing"
_TEXTS_MISSING: Final = f"SELECT 1 FROM settings WHERE name = '{TEXTS_MISSING}'"  # noqa: S608 - our own name

#: Values that filters compare have columns; records are bytes in a table of their own, so that choosing products
#: never reads them. A viewer sees the version of a product that `views.seen_key` names: the product itself, or
#: a version with what the viewer wrote, which is a row of `products` too, and one of `versions`. Its `updated_at`
#: is in `views` as well, kept by triggers, so that the products of a period are counted from one index alone:
#: loaders ask for hundreds of such counts.
TABLES: Final = f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE organizations (
    id INTEGER PRIMARY KEY, position INTEGER, name TEXT, type INTEGER, client_id TEXT UNIQUE,
    client_secret TEXT, username TEXT, scenarios_enabled INTEGER, deadlines_enabled INTEGER
);
CREATE TABLE products (
    key INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER, uuid TEXT, gtin TEXT, owner_id INTEGER, updated_at INTEGER,
    pictures_updated_at INTEGER, has_packshot INTEGER, consumer_unit INTEGER
);
CREATE TABLE records (key INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE views (
    organization_id INTEGER, product_key INTEGER, seen_key INTEGER, shared_from INTEGER, shared_with INTEGER,
    product_status TEXT, active_range INTEGER, validation_status INTEGER, target_market INTEGER, updated_at INTEGER,
    overlay BLOB, PRIMARY KEY (organization_id, product_key)
) WITHOUT ROWID;
CREATE TABLE versions (
    key INTEGER PRIMARY KEY, product_key INTEGER, organization_id INTEGER, attributes TEXT
);
CREATE TABLE tags (
    organization_id INTEGER, product_key INTEGER, name TEXT, created_at TEXT,
    PRIMARY KEY (organization_id, product_key, name)
) WITHOUT ROWID;
CREATE TABLE labels (code TEXT, label TEXT, language TEXT, text TEXT);
CREATE TABLE referentials (
    name TEXT, code TEXT, body BLOB, PRIMARY KEY (name, code)
) WITHOUT ROWID;
CREATE TABLE imports (
    tracking INTEGER PRIMARY KEY AUTOINCREMENT, organization_id INTEGER, endpoint TEXT, media_type TEXT,
    received REAL, payload BLOB, attempts INTEGER DEFAULT 0, status TEXT DEFAULT 'IN_PROGRESS',
    message TEXT DEFAULT '', count INTEGER DEFAULT 0, outcomes BLOB DEFAULT '[]'
);
CREATE TABLE segments (
    organization_id INTEGER, id TEXT, parent_id TEXT, position INTEGER, name TEXT,
    PRIMARY KEY (organization_id, id)
) WITHOUT ROWID;
CREATE TABLE segment_permissions (
    organization_id INTEGER, segment_id TEXT, permission TEXT,
    PRIMARY KEY (organization_id, segment_id, permission)
) WITHOUT ROWID;
CREATE TABLE scenarios (
    organization_id INTEGER, id TEXT, name TEXT, deadlines_enabled INTEGER, PRIMARY KEY (organization_id, id)
) WITHOUT ROWID;
CREATE TABLE activations (
    organization_id INTEGER, product_key INTEGER, scenario_id TEXT, deadline TEXT,
    PRIMARY KEY (organization_id, product_key, scenario_id)
) WITHOUT ROWID;
CREATE TABLE journal (
    number INTEGER PRIMARY KEY, day TEXT, supplier TEXT, action TEXT, detail TEXT, incident TEXT,
    product_key INTEGER, product_id TEXT, gtin TEXT, changes BLOB
);
CREATE VIRTUAL TABLE texts USING fts5 (
    {", ".join(SEARCH_FIELDS.values())}, tokenize = 'unicode61 remove_diacritics 2'
);
"""

# Made after the rows, which is faster.
INDEXES: Final = """
CREATE INDEX products_by_gtin ON products (gtin);
CREATE INDEX products_by_uuid ON products (uuid);
CREATE INDEX products_by_id ON products (id);
CREATE INDEX views_by_product ON views (product_key);
CREATE INDEX views_by_seen ON views (seen_key);
CREATE INDEX views_by_update ON views (organization_id, updated_at);
CREATE INDEX tags_by_product ON tags (product_key);
CREATE INDEX activations_by_product ON activations (product_key);
CREATE INDEX versions_by_product ON versions (product_key);
CREATE INDEX imports_waiting ON imports (tracking) WHERE payload IS NOT NULL;
"""

# They keep `views.updated_at`. While a store is filled, nothing moves.
TRIGGERS: Final = """
CREATE TRIGGER product_updated AFTER UPDATE OF updated_at ON products BEGIN
    UPDATE views SET updated_at = new.updated_at WHERE seen_key = new.key;
END;
CREATE TRIGGER view_changed AFTER UPDATE OF seen_key ON views BEGIN
    UPDATE views SET updated_at = (SELECT updated_at FROM products WHERE key = new.seen_key)
    WHERE organization_id = new.organization_id AND product_key = new.product_key;
END;
"""


#: Columns of an organisation, in the order of `Organization`.
ORGANIZATION_COLUMNS: Final = ", ".join(one.name for one in fields(Organization))
#: Columns of a product with the values that filters compare.
_COLUMNS: Final = ("id", "uuid", "gtin", "updated_at", "pictures_updated_at", "has_packshot", "consumer_unit")
_columns_of: Final = attrgetter(*_COLUMNS)
_INSERT_PRODUCT: Final = (
    f"INSERT INTO products (key, owner_id, {', '.join(_COLUMNS)})"  # noqa: S608 - our own names
    f" VALUES (?, ?{', ?' * len(_COLUMNS)})"
)
_UPDATE_PRODUCT: Final = f"UPDATE products SET {' = ?, '.join(_COLUMNS)} = ? WHERE key = ?"  # noqa: S608 - likewise
_SELECT_TEXTS: Final = f"SELECT {', '.join(SEARCH_FIELDS.values())} FROM texts WHERE rowid = ?"  # noqa: S608
_INSERT_TEXTS: Final = (
    f"INSERT INTO texts (rowid, {', '.join(SEARCH_FIELDS.values())})"  # noqa: S608 - our own names
    f" VALUES (?{', ?' * len(SEARCH_FIELDS)})"
)


def next_key(connection: sqlite3.Connection) -> int:
    """Return a key that no product has, or had: a scroll may still hold those of removed ones."""
    rows = connection.execute("SELECT ifnull(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'products'")
    # AUTOINCREMENT keeps the largest key ever given in `sqlite_sequence`.
    return int(rows.fetchone()[0])


def texts_missing(connection: sqlite3.Connection) -> bool:
    """Whether the texts of records are still to be indexed: by `Store.index_texts`, as the records are then."""
    return connection.execute(_TEXTS_MISSING).fetchone() is not None


def insert_product(
    connection: sqlite3.Connection, key: int, owner_id: int, body: bytes, record: dict[str, Any]
) -> None:
    """Insert a product; `body` is the record's JSON."""
    insert_products(connection, [(key, owner_id, body, indexed_values(record))])
    texts = searched_texts(record)
    # A product without texts cannot be found by them, and needs no row.
    if any(texts) and not texts_missing(connection):
        connection.execute(_INSERT_TEXTS, (key, *texts))


def insert_products(
    connection: sqlite3.Connection, products: Sequence[tuple[int, int, bytes, IndexedValues]]
) -> None:
    """Insert products without their texts: of each its key, its owner's id, the JSON of its record, its values."""
    connection.executemany(
        _INSERT_PRODUCT, [(key, owner, *_columns_of(values)) for key, owner, _, values in products]
    )
    connection.executemany("INSERT INTO records VALUES (?, ?)", [(key, body) for key, _, body, _ in products])


def restore_texts(connection: sqlite3.Connection, key: int, record: dict[str, Any]) -> None:
    """Index the texts of a record again."""
    if texts_missing(connection):
        return
    # To read them costs a fraction of indexing them, and most writes change none.
    before, texts = connection.execute(_SELECT_TEXTS, (key,)).fetchone(), searched_texts(record)
    if before != texts:
        connection.execute("DELETE FROM texts WHERE rowid = ?", (key,))
        if any(texts):
            connection.execute(_INSERT_TEXTS, (key, *texts))


def replace_product(connection: sqlite3.Connection, key: int, body: bytes, record: dict[str, Any]) -> None:
    """Replace the record of a product; the owner stays."""
    connection.execute(_UPDATE_PRODUCT, (*_columns_of(indexed_values(record)), key))
    connection.execute("UPDATE records SET body = ? WHERE key = ?", (body, key))
    restore_texts(connection, key, record)


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


def insert_views(
    connection: sqlite3.Connection, products: Iterable[tuple[int, dict[str, Any], tuple[View, ...]]]
) -> None:
    """Insert how everybody sees products; of each product its key, its record, and all its views."""
    _insert_views(
        connection,
        (
            (key, view, {} if view is views[0] else overlay(record, views[0], view))
            for key, record, views in products
            for view in views
        ),
    )


def _delete_record(connection: sqlite3.Connection, key: int) -> None:
    connection.execute("DELETE FROM products WHERE key = ?", (key,))
    connection.execute("DELETE FROM records WHERE key = ?", (key,))
    connection.execute("DELETE FROM texts WHERE rowid = ?", (key,))


def insert_view(connection: sqlite3.Connection, key: int, view: View, overlay: dict[str, Any]) -> None:
    """Insert how a viewer sees a product; `overlay` has the members that the record has otherwise."""
    _insert_views(connection, [(key, view, overlay)])


def _insert_views(connection: sqlite3.Connection, seen: Iterable[tuple[int, View, dict[str, Any]]]) -> None:
    rows = list(seen)
    # Products that are shared alike have the same views.
    statuses = {id(view): _statuses_of(view) for _, view, _ in rows}
    connection.executemany(
        "INSERT INTO views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT updated_at FROM products WHERE key = ?), ?)",
        [
            (view.organization_id, key, key, *statuses[id(view)], key, encode(overlay) if overlay else None)
            for key, view, overlay in rows
        ],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO tags VALUES (?, ?, ?, ?)",
        [(view.organization_id, key, *tag) for key, view, _ in rows for tag in view.tags],
    )


def _statuses_of(view: View) -> tuple[int, int, str, int, int, int]:
    # Plain integers: SQLite's module looks for an adapter of every other type, enumerations and booleans too.
    return (
        int(view.shared_from),
        int(view.shared_with),
        view.product_status,
        int(view.active_range),
        int(view.validation_status),
        int(view.target_market),
    )

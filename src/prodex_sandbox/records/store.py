"""The store: one SQLite file with products, views, imports, and the keys of organisations and tokens."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.model import Organization, OrganizationType
from prodex_sandbox.records.referentials import Codes
from prodex_sandbox.records.tables import ORGANIZATION_COLUMNS, VERSION

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
        # Those of the version before are brought up to date when they are opened; these are older, or newer.
        if settings.get("version") != VERSION:
            self.close()
            raise StoreOfAnotherVersion(
                f"{path} was made by another version of the sandbox; delete it or give another home, "
                "or make it anew: prodex sandbox --reset."
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
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction on the connection that writes; it is committed as a whole, or rolled back."""
        with self._writing:
            if self._writer is None:
                # Another process may be writing, which is to be waited for: `prodex sandbox --simulate`.
                self._writer = sqlite3.connect(
                    self._path, timeout=_LONGEST_WRITE, check_same_thread=False, isolation_level=None
                )
                # In WAL mode a crash of the process loses nothing with it; only a power cut may lose the last commits.
                self._writer.execute("PRAGMA synchronous = NORMAL")
                # In KiB: the pages of an index that many products are written to.
                self._writer.execute("PRAGMA cache_size = -65536")
            # The lock is taken now; a transaction that begins with reading might not get it later.
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
            self._writer.execute("COMMIT")

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

"""A SQLite file whose rows each have a checksum: what it says is on the disk before anybody counts on it.

Each commit survives a power cut (a rollback journal, `synchronous=EXTRA`), and what is taken away is overwritten. A
killed process leaves a journal, which the next reader rolls back. How many rows a table has is a row of its own, so
that one that is missing is noticed as one that was changed.

The file may be from somebody else: nothing in it is run, and nothing is written through a link.
"""

from __future__ import annotations

import json
import sqlite3
import stat
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import msgspec

from prodex.errors import StorageError
from prodex.files.atomic import flush, open_private, reading, storage
from prodex.files.layouts import require_layout
from prodex.files.untrusted import is_foreign, is_own_file

#: Seconds to wait for another process, which commits in a moment.
_PATIENCE: Final = 10.0
#: In the header of the file, it says whose it is.
_APPLICATION: Final = int.from_bytes(b"pdex", "big")
#: How each file begins: the name of the format, and behind the size of a page that it has a rollback journal.
_MAGIC: Final = b"SQLite format 3\x00"
_COUNTS: Final = "counts"
#: Names that are asked for one by one; of more, all rows are read.
_MOST_NAMES: Final = 500
#: What is wrong with the content of a file, and not with the disk.
_DAMAGES: Final = frozenset(
    {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR}
)

# To close a file takes the locks from it that other connections of the same process have: one at a time.
_TURN = threading.RLock()


def as_json(value: Any) -> bytes:
    """Return the content of a row that says a value: a struct, or what JSON can hold, with times in it."""
    return json.dumps(msgspec.to_builtins(value)).encode()


class Damaged(ValueError):
    """A file is no such file any more, or a row of it is not as it was written."""


class SealedRow(NamedTuple):
    """A row.

    Attributes
    ----------
    number
        From 1, in the order in which rows were written.
    name
        What it is found by.
    content
        What it says; None where the row is not as it was written.
    """

    number: int
    name: str
    content: bytes | None

    def read(self) -> Any:
        """Return its content as JSON.

        Raises
        ------
        Damaged
            When the row is not as it was written.
        """
        if self.content is None:
            raise Damaged(f"row {self.number} is damaged")
        try:
            value = json.loads(self.content)
            # Half of a surrogate pair, which Arrow cannot store, becomes a question mark.
            if b"\\ud" in self.content.lower():
                value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise Damaged(f"row {self.number} is no JSON") from error
        return value


@dataclass(frozen=True)
class SealedRows:
    """A file of rows, in several tables.

    Parameters
    ----------
    path
        Of the file.
    tables
        The names of its tables.
    layout
        The number of its layout.
    advice
        What to know of a file of another layout.

    Examples
    --------
    >>> import tempfile
    >>> file = SealedRows(Path(tempfile.mkdtemp(), "seen.sqlite"), ("seen",), 1)
    >>> file.create([("seen", "03036811359935", b'{"times": 1}')])
    >>> with file.writing() as change:
    ...     change.add("seen", "04006381333931", b'{"times": 2}')
    >>> [(row.name, row.read()["times"]) for row in file.rows("seen")]
    [('03036811359935', 1), ('04006381333931', 2)]
    """

    path: Path
    tables: tuple[str, ...]
    layout: int
    advice: str = ""

    def create(self, rows: Iterable[tuple[str, str, bytes]]) -> None:
        """Make the file, for its owner only, in a folder that is not yet in use; it is flushed with that.

        Parameters
        ----------
        rows
            The table, the name and the content of each row, which are written as they come.
        """
        with storage(self.path), _TURN, self._errors():
            open_private(self.path, "xb").close()
            with closing(self._connect("rw")) as connection:
                # Nobody reads it before its folder has its name, and nobody needs half of it.
                connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN")
                connection.execute(f"PRAGMA application_id={_APPLICATION}")
                connection.execute(f"PRAGMA user_version={self.layout}")
                for one in self._schema:
                    connection.execute(one)
                change = RowChanges(connection)
                for table, name, content in rows:
                    change.add(table, name, content)
                change.finish()
                connection.execute("COMMIT")
            flush(self.path)

    def rows(self, table: str, names: Sequence[str] | None = None) -> list[SealedRow]:
        """Return the rows of a table, or those with some names, in the order in which they were written.

        Raises
        ------
        Damaged
            When it is not such a file, or the number of its rows is another one.
        OtherLayout
            When another version of prodex wrote it.
        StorageError
            When it belongs to somebody else and may not be read, or the disk refuses.
        """
        return self.read({table: names})[table]

    def read(self, wanted: Mapping[str, Sequence[str] | None]) -> dict[str, list[SealedRow]]:
        """Return the rows of several tables, as they were at one moment; the errors are those of `rows`."""
        with reading(self.path), _TURN, self._errors(), closing(self._opened()) as connection:
            connection.execute("BEGIN")
            counts = _counts(connection)
            return {table: _rows(connection, table, names, counts) for table, names in wanted.items()}

    def sizes(self, table: str) -> int:
        """Return the bytes of a table's contents; the errors are those of `rows`."""
        with reading(self.path), _TURN, self._errors(), closing(self._opened()) as connection:
            (found,) = connection.execute(f"SELECT total(length(content)) FROM {table}").fetchone()  # noqa: S608
            return int(found)

    @contextmanager
    def writing(self) -> Iterator[RowChanges]:
        """RowChanges rows in one transaction, which is on the disk at the end; after an error, nothing of it is.

        Raises
        ------
        Damaged, OtherLayout
            As for `rows`.
        StorageError
            When the disk refuses, or the file is gone or is a link.
        """
        self._refuse_foreign()
        with storage(self.path), _TURN, self._errors(), closing(self._opened()) as connection:
            connection.executescript("PRAGMA synchronous=EXTRA; PRAGMA secure_delete=ON; BEGIN IMMEDIATE")
            change = RowChanges(connection)
            try:
                yield change
                change.finish()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def shrink(self) -> None:
        """Give the room of what was removed back to the disk; the errors are those of `writing`."""
        self._refuse_foreign()
        with storage(self.path), _TURN, self._errors(), closing(self._opened()) as connection:
            # In memory: what is left is confidential, and has no business in a folder for files of a moment.
            connection.executescript(
                "PRAGMA temp_store=MEMORY; PRAGMA synchronous=EXTRA; PRAGMA secure_delete=ON; VACUUM"
            )

    def _refuse_foreign(self) -> None:
        if not is_own_file(self.path):  # nor is it made anew: its rows would be missing
            raise StorageError(
                f"{self.path} is gone, a link, or a file with another name elsewhere. Nothing was written to it, and "
                "nothing was sent. Check where the folder comes from."
            )

    @property
    def _schema(self) -> list[str]:
        columns = "(number INTEGER PRIMARY KEY, name TEXT, content BLOB, seal INTEGER)"
        return [f"CREATE TABLE {table} {columns}" for table in (*self.tables, _COUNTS)]

    def _opened(self) -> sqlite3.Connection:
        """Open the file for reading and writing; only for reading where it may not be written."""
        # One that may not be looked at is not the same as one that is not there.
        if not stat.S_ISREG(self.path.lstat().st_mode):
            raise Damaged("it is no plain file")
        beside = self.path.with_name(self.path.name + "-journal")
        if is_foreign(beside):
            raise Damaged(f"{beside.name} beside it is no plain file")
        with self.path.open("rb") as file:
            header = file.read(20)
        # The two bytes are another number in a file with another kind of journal, which would be made beside it.
        if header[:16] != _MAGIC or header[18:20] != b"\1\1":
            raise Damaged("it is not a file of this kind")
        try:
            return self._checked(self._connect("rw"))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
            return self._checked(self._connect("ro"))

    def _connect(self, mode: str) -> sqlite3.Connection:
        address = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(
            address, uri=True, isolation_level=None, timeout=_PATIENCE, check_same_thread=False
        )
        connection.text_factory = bytes
        connection.executescript("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON")
        return connection

    def _checked(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        try:
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (layout,) = connection.execute("PRAGMA user_version").fetchone()
        if application == _APPLICATION:
            require_layout(self.path, layout or None, self.layout, self.advice)
        found = [one for (one,) in connection.execute("SELECT sql FROM sqlite_master ORDER BY rowid")]
        if application != _APPLICATION or found != [one.encode() for one in self._schema]:
            raise Damaged("its tables are not those of such a file")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn an error of SQLite into one of the content or of the disk."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in _DAMAGES:
                raise Damaged(str(error)) from error
            raise StorageError(
                f"Could not use {self.path}: {error}. Free some space, or choose a folder of your own on a disk that "
                "has locks (PRODEX_HOME)."
            ) from error


class RowChanges:
    """Rows that are added, put in the place of others, and taken away, in one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, table: str, name: str, content: bytes) -> None:
        """Add a row behind the others."""
        (last,) = self._connection.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()  # noqa: S608
        self._put(table, last + 1, name, content)

    def replace(self, table: str, name: str, content: bytes) -> None:
        """Put a row in the place of that with its name, or behind all."""
        query = f"SELECT number FROM {table} WHERE name = ?"  # noqa: S608
        found = self._connection.execute(query, (name,)).fetchone()
        if found is None:
            self.add(table, name, content)
        else:
            self._put(table, found[0], name, content)

    def clear(self, table: str, names: Iterable[str] | None = None) -> None:
        """Take away all rows of a table, or those with some names."""
        if names is None:
            self._connection.execute(f"DELETE FROM {table}")  # noqa: S608
            return
        for name in names:
            self._connection.execute(f"DELETE FROM {table} WHERE name = ?", (name,))  # noqa: S608

    def finish(self) -> None:
        """Note how many rows each table has."""
        tables = [
            one.decode()
            for (one,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        counts = {
            table: self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
            for table in tables
            if table != _COUNTS
        }
        self._put(_COUNTS, 1, "", json.dumps(counts).encode())

    def _put(self, table: str, number: int, name: str, content: bytes) -> None:
        row = (number, name, content, _seal(table, number, name.encode(), content))
        self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", row)  # noqa: S608


def _seal(table: str, number: int, name: bytes, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(b"%s %d %d " % (table.encode(), number, len(name)) + name))


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    rows = _rows(connection, _COUNTS, None, {_COUNTS: 1})
    found = rows[0].read()
    if not isinstance(found, dict):
        raise Damaged("it does not say how many rows it has")
    return found


def _rows(
    connection: sqlite3.Connection, table: str, names: Sequence[str] | None, counts: Mapping[str, int]
) -> list[SealedRow]:
    query = f"SELECT number, name, content, seal FROM {table}"  # noqa: S608
    if names is not None and len(names) <= _MOST_NAMES:
        marks = ", ".join("?" * len(names))
        cursor = connection.execute(f"{query} WHERE name IN ({marks}) ORDER BY number", tuple(names))
    else:
        cursor = connection.execute(f"{query} ORDER BY number")
    rows = [_row(table, *one) for one in cursor]
    (there,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
    if there != counts.get(table):
        raise Damaged(f"it has {there} of {counts.get(table)} rows of {table}")
    if names is None:
        return rows
    wanted = {*names}
    return [row for row in rows if row.name in wanted]


def _row(table: str, number: Any, name: Any, content: Any, seal: Any) -> SealedRow:
    if not (isinstance(number, int) and isinstance(name, bytes) and isinstance(content, bytes)):
        return SealedRow(0, "", None)
    is_whole = _seal(table, number, name, content) == seal
    return SealedRow(number, name.decode("utf-8", "replace"), content if is_whole else None)

"""The files of upserts as somebody may change them: a row that is spoiled, taken away, or written by a stranger."""

from __future__ import annotations

import json
import resource
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from prodex.files.sealed_rows import RowChanges, SealedRows

#: The name of such a file in the folder of its upsert.
FILE = "upsert.sqlite"


@contextmanager
def full_disk() -> Iterator[None]:
    """Let the system write nothing to any file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def after_each_commit(patch: pytest.MonkeyPatch, then: Callable[[], None]) -> None:
    """Do something after each change of such a file, once it is on the disk."""
    writing = SealedRows.writing

    @contextmanager
    def committed(rows: SealedRows) -> Iterator[RowChanges]:
        with writing(rows) as change:
            yield change
        then()

    patch.setattr(SealedRows, "writing", committed)


def contents(path: Path, table: str) -> list[bytes]:
    """Return the contents of a table's rows, the oldest first."""
    with closing(sqlite3.connect(path)) as connection:
        return [content for (content,) in connection.execute(f"SELECT content FROM {table} ORDER BY number")]


def events(path: Path) -> list[dict[str, Any]]:
    """Return what was done, as it was written."""
    return [json.loads(one) for one in contents(path, "events")]


def write(path: Path, table: str, rows: Iterable[tuple[str, bytes]]) -> None:
    """Put other rows into a table, with the checksums that prodex would write: whoever edits can compute them."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DELETE FROM {table}")
        for number, (name, content) in enumerate(rows, 1):
            seal = zlib.crc32(content, zlib.crc32(f"{table} {number} {len(name.encode())} {name}".encode()))
            connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (number, name, content, seal))
        if table != "counts":
            count = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            (said,) = connection.execute("SELECT content FROM counts").fetchone()
    if table != "counts":
        write(path, "counts", [("", json.dumps({**json.loads(said), table: count}).encode())])


def rewrite(path: Path, table: str, number: int, content: bytes) -> None:
    """Put another content into a row, or add one behind the last, with the right checksum."""
    with closing(sqlite3.connect(path)) as connection:
        rows = [
            (name.decode() if isinstance(name, bytes) else name, before)
            for name, before in connection.execute(f"SELECT name, content FROM {table} ORDER BY number")
        ]
    rows[number : number + 1] = [(rows[number][0] if number < len(rows) else "", content)]
    write(path, table, rows)


def spoil(path: Path, table: str, number: int) -> None:
    """RowChanges one bit of a row's content, whose checksum is wrong then."""
    with closing(sqlite3.connect(path)) as connection, connection:
        (content,) = connection.execute(
            f"SELECT content FROM {table} WHERE number = ?", (number + 1,)
        ).fetchone()
        middle = len(content) // 2
        spoilt = content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]
        connection.execute(f"UPDATE {table} SET content = ? WHERE number = ?", (spoilt, number + 1))


def delete(path: Path, table: str) -> None:
    """Take all rows of a table away, and let the file say that it has none."""
    write(path, table, ())

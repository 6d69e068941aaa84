"""The journal of a load: every page as it was received, on disk before anything is made of it.

A page is compressed (zstd), flushed, and only then entered in the ledger, one JSON line for each page with what it
held. Whatever happens later, what the service sent is there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec
import pyarrow as pa

from prodex.envelope import Envelope, split
from prodex.errors import SnapshotDamaged
from prodex.files import storage
from prodex.tables.records import key_and_update


class Entry(msgspec.Struct, frozen=True):
    """One page in the ledger.

    Attributes
    ----------
    page
        Its number, from 0.
    total_results
        What the service announced on it.
    server_date
        The service's clock.
    size
        Bytes of the page as received.
    sha256
        Digest of the page as received.
    keys
        Key and updatedAt of each product on it; null for an item that is no product.
    """

    page: int
    total_results: int | None
    server_date: datetime | None
    size: int
    sha256: str
    keys: list[tuple[str, str | None] | None]


class Journal:
    """The pages of one load, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pages = 0

    @classmethod
    def begin(cls, folder: Path) -> Self:
        """Start an empty journal."""
        with storage(folder):
            folder.mkdir(parents=True)
        return cls(folder)

    def add(self, body: bytes, envelope: Envelope, server_date: datetime | None) -> Entry:
        """Keep one page; it is on the disk when this returns."""
        entry = Entry(
            self._pages,
            envelope.total_results,
            server_date,
            len(body),
            hashlib.sha256(body).hexdigest(),
            [key_and_update(product) for product in envelope.data],
        )
        with storage(self.folder):
            _write_flushed(self._path(entry.page), "wb", pa.compress(body, "zstd", asbytes=True), len(body))
            _write_flushed(self.folder / "ledger.jsonl", "ab", msgspec.json.encode(entry) + b"\n")
        self._pages += 1
        return entry

    def entries(self) -> list[Entry]:
        """Read the ledger."""
        ledger = self.folder / "ledger.jsonl"
        return (
            [msgspec.json.decode(line, type=Entry) for line in ledger.read_bytes().splitlines()]
            if ledger.exists()
            else []
        )

    def products(self, page: int, indexes: Sequence[int]) -> Iterator[bytes]:
        """Yield some products of a page, each as its JSON bytes."""
        data = split(self.body(page)).data
        return (bytes(data[index]) for index in indexes)

    def body(self, page: int) -> bytes:
        """Return a page as it was received.

        Raises
        ------
        SnapshotDamaged
            When its file is gone or cut off.
        """
        path = self._path(page)
        try:
            size, packed = path.read_bytes().split(b"\n", 1)
            return bytes(pa.decompress(packed, int(size), "zstd", asbytes=True))
        except (OSError, ValueError) as error:
            raise SnapshotDamaged(
                f"Page {page} of the journal, {path}, cannot be read ({error}). Load again."
            ) from error

    def _path(self, page: int) -> Path:
        return self.folder / f"page-{page:06d}.zst"


def _write_flushed(path: Path, mode: str, content: bytes, size: int | None = None) -> None:
    with path.open(mode) as file:
        if size is not None:
            file.write(f"{size}\n".encode())
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

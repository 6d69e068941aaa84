"""The journal of a load: every page as it was received, on disk before anything is made of it.

A page is compressed (zstd) and flushed, and only then entered in `ledger.jsonl`: one JSON line for each page with its
keys, and one for each count that was requested. Whatever happens later, what the service sent is on disk, and whoever
opens the journal of an interrupted load finds how far it got.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import msgspec
import pyarrow as pa

from prodex.errors import SnapshotDamaged, StorageError
from prodex.files.append_log import AppendLog
from prodex.files.atomic import discard, flush, make_folder, open_private, storage
from prodex.files.untrusted import is_there
from prodex.store import journal_format
from prodex.store.archive import entries_of
from prodex.store.journal_format import (
    FORMAT,
    LEDGER,
    QUESTION,
    Counted,
    Noted,
    PageEntry,
    Restarted,
    products_of_page,
)
from prodex.store.newest import Pages, packed
from prodex.tables.envelope import Envelope
from prodex.tables.records import Identity

_LINE = msgspec.json.Decoder(Counted | PageEntry | Restarted | Noted)
_LINES = msgspec.json.Encoder(enc_hook=list)  # for keys that are columns


class LoadJournal:
    """The pages of one load, in a folder of their own. Threads may share it.

    Attributes
    ----------
    folder
        Where it is.
    question
        What the load asked for, as plain JSON values.
    counts
        The last count of each window.
    notes
        Facts about the whole load, by name.
    """

    def __init__(self, folder: Path, question: Mapping[str, Any]) -> None:
        self.folder = folder
        self.question = question
        self.counts: dict[str, Counted] = {}
        self.notes: dict[str, Any] = {}
        self._windows: dict[str, list[PageEntry]] = {}
        self._pages: dict[int, PageEntry] = {}
        self._next = 0
        self._ledger = AppendLog(folder / LEDGER)
        self._lock = threading.Lock()

    @classmethod
    def begin(cls, folder: Path, question: Mapping[str, Any]) -> Self:
        """Start an empty journal; an existing one is deleted."""
        with storage(folder):
            if is_there(folder):
                discard(folder)
            make_folder(folder, private=True)
            _write_new(folder / QUESTION, msgspec.json.encode({"format": FORMAT, "asked": question}))
        return cls(folder, question)

    @staticmethod
    def question_of(folder: Path) -> dict[str, Any] | None:
        """Return what the load of a journal asked for, or None where there is no journal that can be used.

        Raises
        ------
        OtherLayout
            When another version of prodex has begun it.
        """
        return journal_format.question_of(folder)

    @classmethod
    def open(cls, folder: Path) -> Self | None:
        """Open the journal of a load that was interrupted, or return None where there is none that can be used.

        A line or a page that was incomplete when the load was interrupted counts as not fetched, and so do the pages
        after it in the same window.
        """
        question = cls.question_of(folder)
        # Without its question nobody knows what the pages are an answer to.
        if question is None:
            return None
        journal = cls(folder, question)
        try:
            good = journal_format.read_ledger(journal._ledger, _LINE, journal._enter)
        except OSError:
            return None
        journal._ledger.cut(good)  # nothing is read behind a line that cannot be read
        # Before anybody counts on them: a power cut may have kept a line and lost its page.
        journal._forget_damaged()
        return journal

    def add(
        self,
        window: str,
        body: bytes,
        envelope: Envelope,
        keys: Sequence[Identity | None],
        *,
        received_at: datetime,
        server_date: datetime | None = None,
        cursor: str | None = None,
        asked: int | None = None,
        limit: int | None = None,
    ) -> PageEntry:
        """Store one page; it is on the disk when this returns."""
        with (
            self._lock
        ):  # only for the number: several threads compress and write their pages at the same time
            number = self._next
            self._next += 1
        entry = PageEntry(
            number,
            window,
            cursor,
            None if envelope.next_page in (None, "") else str(envelope.next_page),
            envelope.offset,
            envelope.total_results,
            server_date,
            received_at,
            len(body),
            hashlib.sha256(body).hexdigest(),
            list(keys),
            asked,
            limit,
        )
        with storage(self.folder):
            packed = pa.compress(body, "zstd", asbytes=True)
            # Arrow has to know the unpacked size to unpack it, so that it is written before the content.
            _write_new(self._path(number), b"%d\n%b" % (len(body), packed))
        # Only now: a line in the ledger promises that its page is on the disk.
        self._write(entry)
        return entry

    def count(self, window: str, total: int | None, server_date: datetime | None) -> None:
        """Store the answer to a count."""
        self._write(Counted(window, total, server_date))

    def restart(self, window: str) -> None:
        """Start a window again from its first page."""
        self._write(Restarted(window))

    def note(self, name: str, value: Any) -> None:
        """Store a fact about the whole load."""
        self._write(Noted(name, value))

    def pages_of(self, window: str) -> Sequence[PageEntry]:
        """Return the pages of a window since it last began, in their order."""
        return tuple(self._windows.get(window, ()))

    def entries(self) -> list[PageEntry]:
        """Return all pages in the order in which they were received, including those of windows that were restarted."""
        with self._lock:
            return [self._pages[number] for number in sorted(self._pages)]

    def keys_of_window(self, window: str) -> set[str]:
        """Return the keys of all products that a window returned, also before it was restarted."""
        return {key for one in self.entries() if one.window == window for key in packed(one.keys).ids}

    def products(self, page: int, indexes: Sequence[int]) -> Iterator[bytes]:
        """Yield some products of a page, each as its JSON bytes."""
        data = self._items(page, indexes)
        return (bytes(data[index]) for index in indexes)

    def products_of(self, pages: Pages) -> Iterator[bytes | msgspec.Raw]:
        """Yield some products of several pages, each as its JSON, which is not copied where its whole page is taken."""
        for page, indexes in pages:
            data = self._items(page, indexes)
            # A few products that are not copied would keep all of their page in memory.
            is_whole = len(indexes) == len(data)
            yield from (data[index] if is_whole else bytes(data[index]) for index in indexes)

    def _items(self, page: int, indexes: Sequence[int]) -> Sequence[bytes | msgspec.Raw]:
        data = products_of_page(self.body(page))
        if any(index >= len(data) for index in indexes):
            raise SnapshotDamaged(f"{self._path(page)} does not hold the products that its journal names.")
        return data

    def body(self, page: int) -> bytes:
        """Return a page as it was received.

        Raises
        ------
        SnapshotDamaged
            When its file is gone or cut off.
        """
        return journal_format.read_page(self._path(page))

    def remove(self) -> None:
        """Delete the journal."""
        with suppress(StorageError):  # the next load continues with what is left of it, or deletes it
            discard(self.folder)

    def _write(self, line: Counted | PageEntry | Restarted | Noted) -> None:
        with self._lock:
            self._ledger.append(_LINES.encode(line))
            self._enter(line)

    def _enter(self, line: Counted | PageEntry | Restarted | Noted) -> None:
        match line:
            case Counted():
                self.counts[line.window] = line
            case PageEntry():
                line = msgspec.structs.replace(line, keys=packed(line.keys))
                self._windows.setdefault(line.window, []).append(line)
                self._pages[line.page] = line
                self._next = max(self._next, line.page + 1)
            case Restarted():
                self._windows.pop(line.window, None)
            case Noted(value=None):
                self.notes.pop(line.name, None)
            case Noted():
                self.notes[line.name] = line.value

    def _forget_damaged(self) -> None:
        """End each window before its first page that is not on the disk as it was received, and drop all notes."""
        damaged = {number for number, entry in list(self._pages.items()) if not self._is_whole(entry)}
        for number in damaged:
            del self._pages[number]
        for window, entries in list(self._windows.items()):
            good = next((i for i, entry in enumerate(entries) if entry.page in damaged), len(entries))
            if good < len(entries):
                self._write(Restarted(window))
                for entry in entries[:good]:
                    self._write(entry)
        if damaged:
            for name in list(self.notes):  # they were true of all pages together, some of which are gone now
                self.note(name, None)

    def _is_whole(self, entry: PageEntry) -> bool:
        try:
            body = self.body(entry.page)
        except SnapshotDamaged:
            return False
        return hashlib.sha256(body).hexdigest() == entry.sha256

    def _path(self, page: int) -> Path:
        return self.folder / f"page-{page:06d}.zst"


def journals_in(folder: Path) -> list[Path]:
    """Return the journals of loads in the folder of a name.

    Raises
    ------
    StorageError
        When the folder belongs to somebody else and may not be read.
    """
    return [path for path in entries_of(folder) if path.name.startswith(".journal-")]


def _write_new(path: Path, content: bytes) -> None:
    """Write a new file, never to an existing one: that may be a link to a file elsewhere."""
    path.unlink(missing_ok=True)
    with open_private(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    flush(path.parent)

"""The plan of an upsert and what became of it, on disk: nothing is sent before all of the plan is there.

A process may end at any moment, and no product may be sent twice. So the batches, their GTINs and their payloads are
on disk before the first call; each batch is written down again before it is sent, and once more with its answer. No
line is ever changed. A damaged line makes batches unknown, never "not sent".
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import urlsplit

import filelock

from prodex.errors import InputError, StorageError
from prodex.files import home, make_folder, remove, storage, sweep, writing_folder
from prodex.files.lock import locked
from prodex.files.untrusted import is_file, is_own_file
from prodex.send import journal_format
from prodex.send.batches import ARRIVED, Batch, Loaded, Planned
from prodex.send.journal_format import BEING_SENT

_JOURNAL = "journal.jsonl"
_PAYLOADS = "payloads"


class UpsertJournal:
    """One upsert on disk: a folder with its journal and, until all of it was sent, its payloads.

    Attributes
    ----------
    path
        The journal itself.
    host
        Host of the service, without its port: a sandbox gets another port with every start.
    base_url
        Base URL of the service; None in journals of earlier versions, which kept the host only.
    key
        Digest of the access key; None in journals of prodex 0.1, which did not keep it.
    at
        When it was planned (ISO 8601, UTC).
    content_type
        Of the payloads.
    extra
        Filters with which the products were loaded, where corrections were merged with them.
    is_old
        Whether prodex 0.1 wrote it.
    sendings
        The calls that had arrived, or may have, when this object was made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unwritten: list[tuple[int, Batch]] = []
        self.is_old = path.name != _JOURNAL
        if self.is_old:
            head, batches = journal_format.read_0_1(path)
            self._entries: tuple[journal_format.PlannedPayload, ...] = ()
            sent = [batch for batch in batches if batch.sent in ARRIVED]
            self.sendings = tuple(journal_format.SentCall(tracking=batch.tracking) for batch in sent)
        else:
            head, self._entries, *_, self.sendings = journal_format.read(path)
        self.host, self.base_url, self.key, self.at = head.host, head.base_url, head.key, head.at
        self.content_type = head.content_type
        self.extra: Mapping[str, Any] = head.extra

    @classmethod
    def begin(
        cls,
        base_url: str,
        key: str,
        content_type: str,
        batches: Iterable[Planned],
        extra: Mapping[str, Any] | None = None,
    ) -> Self:
        """Write a whole plan, and have it on the disk itself.

        Raises
        ------
        StorageError
            When the disk refuses: then nothing of the plan is there, and nothing may be sent.
        """
        moment = datetime.now(UTC)
        parent = tracking_folder()
        with storage(parent):
            make_folder(parent, private=True)
        sweep(parent)
        folder = parent / f"{moment:%Y-%m-%dT%H%M%S.%f}Z-{os.getpid()}"
        lines: list[dict[str, Any]] = []
        with writing_folder(folder) as beside:
            beside.chmod(0o700)
            with _private(beside / _PAYLOADS) as payloads:
                for number, (body, gtins, loaded) in enumerate(batches):
                    digest = hashlib.sha256(body).hexdigest()
                    place = {"at": payloads.tell(), "bytes": len(body), "sha256": digest}
                    lines.append({"batch": number, "gtins": gtins, **place, "loaded": loaded})
                    payloads.write(body)
            head = {
                "version": journal_format.VERSION,
                "host": host_of(base_url),
                "base_url": base_url,
                "key": key,
                "at": moment.isoformat(),
                "content_type": content_type,
                "extra": extra or {},
                "batches": len(lines),
            }
            with _private(beside / _JOURNAL) as file:
                file.writelines(journal_format.sealed(line) for line in (head, *lines))
        return cls(folder / _JOURNAL)

    @property
    def name(self) -> str:
        """What `prodex.track` and `prodex send-rest` call it."""
        return self.path.stem if self.is_old else self.path.parent.name

    def is_for(self, base_url: str) -> bool:
        """Say whether it is of this service; where only the host was kept, of any at that host."""
        return self.host == host_of(base_url) if self.base_url is None else self.base_url == base_url

    @property
    def keeps_payloads(self) -> bool:
        """Whether the payloads are still there, so that what was not sent can be sent."""
        return not self.is_old and is_file(self._payloads)

    @property
    def is_busy(self) -> bool:
        """Whether a process is sending it now."""
        lock = self.path.parent / ".lock"
        if self.is_old or not is_own_file(lock):  # to open another would write elsewhere
            return False
        taken = filelock.FileLock(lock)
        try:
            taken.acquire(blocking=False)
        except filelock.Timeout:
            return True
        except OSError:  # where nothing can be written, nobody is sending
            return False
        taken.release()
        return False

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other process from sending it meanwhile.

        Raises
        ------
        SnapshotLocked
            When another one is sending it now.
        """
        with locked(self.path.parent, f"sending {self.name}"):
            journal_format.mend(self.path)
            while self._unwritten:
                self._add_end(*self._unwritten[0])
                del self._unwritten[0]
            yield

    def batches(self) -> list[Batch]:
        """Read what became of all batches; one that was being sent and has no end is unknown."""
        if self.is_old:
            return journal_format.read_0_1(self.path)[1]
        _, entries, states, stopped, is_damaged, _ = journal_format.read(self.path)
        states = {**states, **dict(self._unwritten)}
        rest = Batch((), "not sent", message=stopped or "the process ended before it was sent")
        if is_damaged:
            rest = Batch((), "unknown", message="a line of the journal that cannot be read may tell of it")
        return [
            states.get(number, Batch(entry.gtins, rest.sent, message=rest.message))
            for number, entry in enumerate(entries)
        ]

    def loaded(self, number: int) -> list[tuple[str, Loaded]]:
        """Return GTIN, product and its date when it was loaded, of a batch whose corrections were merged."""
        entry = self._entries[number]
        return list(zip(entry.gtins, entry.loaded, strict=False))

    def payload(self, number: int) -> bytes:
        """Return the payload of a batch as it was planned.

        Raises
        ------
        InputError
            When it is not there any more, or not as it was.
        """
        entry, body = self._entries[number], b""
        if self.keeps_payloads:
            size = self._payloads.lstat().st_size
            with self._payloads.open("rb") as file:
                # No farther than there is: the numbers may be claims.
                file.seek(min(entry.at, size))
                body = file.read(min(entry.size, size))
        if hashlib.sha256(body).hexdigest() != entry.sha256:
            raise InputError(
                f"The products of batch {number} in {self.path.parent} are not there any more, or not as they were "
                "planned. They are not sent; upsert them again from where they came."
            )
        return body

    def sending(self, number: int) -> None:
        """Write down that a batch is sent now."""
        moment = datetime.now(UTC).isoformat()
        journal_format.append(self.path, {"batch": number, "state": BEING_SENT, "time": moment})

    def ended(self, number: int, batch: Batch) -> None:
        """Write down what became of it.

        Raises
        ------
        StorageError
            When the disk refuses; this object keeps it, and writes it before anything else.
        """
        try:
            self._add_end(number, batch)
        except StorageError:
            self._unwritten.append((number, batch))
            raise

    def stopped(self, why: str) -> None:
        """Write down why the rest was not sent."""
        journal_format.append(self.path, {"stopped": why})

    def discard_payloads(self) -> None:
        """Delete the products; the plan and what became of it stay."""
        remove(self._payloads)

    @property
    def _payloads(self) -> Path:
        return self.path.parent / _PAYLOADS

    def _add_end(self, number: int, batch: Batch) -> None:
        line = {"batch": number, "state": batch.sent, "tracking": batch.tracking, "message": batch.message}
        journal_format.append(self.path, line)


def tracking_folder() -> Path:
    """Return the folder that holds all upserts."""
    return home() / "tracking"


def host_of(base_url: str) -> str:
    """Return the host of a service."""
    return urlsplit(base_url).hostname or base_url


@contextmanager
def _private(path: Path) -> Iterator[IO[bytes]]:
    """Make a file that nobody else may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file

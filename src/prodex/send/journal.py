"""The journal of an upsert: its plan and the state of each batch, on disk before anything is sent.

A process may end at any moment, and no product may be sent twice. So the batches, their GTINs and their payloads are
written before the first call; a line is appended before each batch is sent, and another one after its reply. Lines are
never changed. A damaged line makes batches "unknown", never "not sent": sending again could overwrite newer data.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, get_args
from urllib.parse import urlsplit

import filelock
import msgspec

from prodex.errors import InputError, StorageError
from prodex.files.append_log import AppendLog, sealed, unsealed
from prodex.files.atomic import (
    home,
    make_folder,
    open_private,
    reading,
    remove,
    storage,
    sweep,
    writing_folder,
)
from prodex.files.layouts import require_layout
from prodex.files.lock import locked
from prodex.files.untrusted import Count, Digest, check_moment, converted, is_file, is_own_file
from prodex.send.batches import ARRIVED, Batch, Loaded, Planned, Sent, encoding_of
from prodex.service.replies import is_identifier

#: The name of the journal in the folder of an upsert.
JOURNAL = "journal.jsonl"
#: The name of the file beside it with the products as they were before (`prodex.send.earlier_records`).
EARLIER_RECORDS = "earlier_records.jsonl"
_PAYLOADS = "payloads"
#: How the name of an upsert begins.
_MOMENT = "%Y-%m-%dT%H%M%S.%f"


class UpsertJournal:
    """One upsert on disk: a folder with the journal, the earlier records and, until everything was sent, the payloads.

    Attributes
    ----------
    path
        The journal file.
    head
        What it is about: service, access key, time.
    calls
        The calls that had arrived, or may have, when this object was created.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unwritten: list[tuple[int, Batch]] = []
        found = read(path)
        self.head, self._entries, self.calls = found.head, found.entries, found.calls

    @classmethod
    def begin(
        cls,
        base_url: str,
        key: str,
        content_type: str,
        batches: Iterable[Planned],
        extra: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        attributes: Collection[str] | None = None,
        continues: Collection[str] = (),
        by: str = "",
        why: str = "",
        earlier_lines: Iterable[bytes] | None = None,
    ) -> Self:
        """Write a whole plan, and sync it to the disk.

        Parameters
        ----------
        base_url, key
            Of the service, and a digest of the access key.
        content_type, batches
            The calls.
        extra
            Filters with which the products were loaded, if corrections were merged with them.
        name
            From `new_name`, for a caller that has to find it whatever happens meanwhile.
        attributes
            The attributes that are written; None if they are not known.
        continues
            Names of the upserts whose corrections these are, too.
        by, why
            Who sends it, and what for.
        earlier_lines
            The products as they were before, as `prodex.send.earlier_records` writes them; None to keep none.

        Raises
        ------
        StorageError
            When the plan cannot be written; then none of it is there, and nothing may be sent.
        """
        moment = datetime.now(UTC)
        parent = tracking_folder()
        with storage(parent):
            make_folder(parent, private=True)
        # Removes what processes left that were killed while they wrote a plan.
        sweep(parent)
        folder = parent / (new_name() if name is None else name)
        lines: list[dict[str, Any]] = []
        with writing_folder(folder) as beside:
            # Products are confidential until they are published.
            beside.chmod(0o700)
            with open_private(beside / _PAYLOADS, "xb") as payloads:
                for number, one in enumerate(batches):
                    digest = hashlib.sha256(one.body).hexdigest()
                    place = {"at": payloads.tell(), "bytes": len(one.body), "sha256": digest}
                    merged = {"loaded": one.loaded, "edits": one.edits, "sizes": one.sizes}
                    lines.append({"batch": number, "gtins": one.gtins, **place, **merged})
                    payloads.write(one.body)
            if earlier_lines is not None:
                with open_private(beside / EARLIER_RECORDS, "xb") as records:
                    records.writelines(line + b"\n" for line in earlier_lines)
            service = {"host": host_of(base_url), "base_url": base_url, "key": key}
            plan = {"content_type": content_type, "extra": extra or {}, "batches": len(lines)}
            written = None if attributes is None else sorted(attributes)
            what = {"attributes": written, "continues": list(continues), "by": by, "why": why}
            what["earlier_records"] = "left out" if earlier_lines is None else "kept"
            head = {"version": VERSION, **service, "at": moment.isoformat(), **plan, **what}
            with open_private(beside / JOURNAL, "xb") as file:
                file.writelines(sealed(line) + b"\n" for line in (head, *lines))
        return cls(folder / JOURNAL)

    @property
    def name(self) -> str:
        """The name for `prodex.track` and `prodex send-rest`."""
        return name_of(self.path)

    def is_for(self, base_url: str) -> bool:
        """Whether it is of this service."""
        return self.head.base_url == base_url

    @property
    def keeps_payloads(self) -> bool:
        """Whether the payloads are still there, so that the rest can be sent."""
        return is_file(self._payloads)

    @property
    def keeps_earlier_records(self) -> bool:
        """Whether the products as they were before are still there, so that it can be taken back."""
        return is_file(self.path.with_name(EARLIER_RECORDS))

    @property
    def is_busy(self) -> bool:
        """Whether a process is sending it."""
        lock = self.path.parent / ".lock"
        if not is_own_file(lock):  # opening a link would write to another file
            return False
        taken = filelock.FileLock(lock)
        try:
            taken.acquire(blocking=False)
        except filelock.Timeout:
            return True
        except OSError:  # without permission to write, nobody is sending
            return False
        taken.release()
        return False

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other processes from sending it meanwhile.

        Raises
        ------
        SnapshotLocked
            When another process is sending it.
        """
        # Two processes that send one plan would send every product twice.
        with locked(self.path.parent, f"sending {self.name}"):
            self._log.repair()
            while self._unwritten:
                self._add_end(*self._unwritten[0])
                del self._unwritten[0]
            yield

    def batches(self) -> list[Batch]:
        """Read the state of all batches; one that was being sent, without a reply, is unknown."""
        found = read(self.path)
        states = {**found.states, **dict(self._unwritten)}
        rest = Batch((), "not sent", message=found.stopped or "the process ended before it was sent")
        if found.is_damaged:
            rest = Batch((), "unknown", message="a damaged line of the journal may be about it")
        batches = [
            states.get(number, replace(rest, gtins=entry.gtins)) for number, entry in enumerate(found.entries)
        ]
        # Only what that upsert has planned: the process may have ended before its plan was there.
        names = {name for name in set(found.continued.values()) if is_file(journal_named(name))}
        for number, name in found.continued.items():
            if name in names and number < len(batches):
                message = f"the upsert {name} continues it"
                batches[number] = replace(batches[number], message=message, continued_by=name)
        return batches

    def reconciled(self, batches: Sequence[Batch]) -> list[Batch]:
        """Return the states on disk, after writing those that only an interrupted process knows."""
        for number, (there, here) in enumerate(zip(self.batches(), batches, strict=True)):
            if there.sent == "unknown" and here.sent in {"sent", "accepted"}:
                self.end_sending(number, here)
        return self.batches()

    def gtins(self, number: int) -> tuple[str, ...]:
        """Return the GTINs that were planned for a batch."""
        return self._entries[number].gtins

    def loaded(self, number: int) -> dict[str, Loaded]:
        """Return the loaded products of the corrections in a batch by GTIN; none if nothing was merged."""
        entry = self._entries[number]
        return dict(zip(entry.gtins, entry.loaded, strict=False))

    def edits(self, number: int) -> dict[str, frozenset[str]]:
        """Return the digests of the corrections in a batch by GTIN; none if nothing was merged."""
        entry = self._entries[number]
        return dict(zip(entry.gtins, map(frozenset, entry.edits), strict=False))

    def payload(self, number: int, left_out: Collection[str] = ()) -> bytes:
        """Return the payload of a batch as it was planned, without the products of some GTINs.

        Raises
        ------
        InputError
            When it is no longer there, or was changed.
        """
        entry, body = self._entries[number], b""
        if self.keeps_payloads:
            size = self._payloads.lstat().st_size
            with self._payloads.open("rb") as file:
                # Within the file: a damaged journal may contain any number.
                file.seek(min(entry.at, size))
                body = file.read(min(entry.size, size))
        if hashlib.sha256(body).hexdigest() != entry.sha256:
            raise InputError(
                f"The payload of batch {number} in {self.path.parent} is no longer there, or was changed. Its products "
                "are not sent; upsert them again."
            )
        if not left_out:
            return body
        places = {place for place, gtin in enumerate(entry.gtins) if gtin in left_out}
        return encoding_of(self.head.content_type).without(body, entry.sizes, places)

    def can_leave_out(self, number: int) -> bool:
        """Whether the payload of a batch can be sent without some of its products."""
        return len(self._entries[number].sizes) == len(self._entries[number].gtins)

    def begin_sending(
        self,
        number: int,
        left_out: Mapping[str, str] = MappingProxyType({}),
        date: datetime | None = None,
    ) -> None:
        """Record that a batch is sent now, at which time of the service's clock, and what is left out of it."""
        moment = datetime.now(UTC).isoformat()
        line = {"batch": number, "state": BEING_SENT, "time": moment, "date": _as_text(date)}
        self._append(line | ({"left_out": dict(left_out)} if left_out else {}))

    def end_sending(self, number: int, batch: Batch, date: datetime | None = None) -> None:
        """Record the state of a batch after its call, at a time of the service's clock.

        Raises
        ------
        StorageError
            When it cannot be written; this object keeps the state, and writes it before anything else.
        """
        try:
            self._add_end(number, batch, date)
        except StorageError:
            self._unwritten.append((number, batch))
            raise

    def note_arrived(self, number: int, gtins: Collection[str]) -> None:
        """Record of which products in a batch the service was seen to have what was sent."""
        self._append({"batch": number, "arrived": sorted(gtins)})

    def continue_by(self, name: str, numbers: Collection[int]) -> None:
        """Record that another upsert sends the products of these batches instead, once its plan is on disk."""
        self._append({"continued": name, "batches": sorted(numbers)})

    def stop(self, why: str) -> None:
        """Record why the rest was not sent."""
        self._append({"stopped": why})

    def discard_payloads(self) -> None:
        """Delete the payloads; the plan and the states remain."""
        remove(self._payloads)

    @property
    def _payloads(self) -> Path:
        return self.path.parent / _PAYLOADS

    def _add_end(self, number: int, batch: Batch, date: datetime | None = None) -> None:
        line = {"batch": number, "state": batch.sent, "tracking": batch.tracking, "message": batch.message}
        line["date"] = _as_text(date)
        self._append(line | ({"left_out": dict(batch.left_out)} if batch.left_out else {}))

    def _append(self, line: Mapping[str, Any]) -> None:
        """Add a line; a batch must not be sent before its line survives a power cut."""
        self._log.append(sealed(line))

    @property
    def _log(self) -> AppendLog:
        """The file of the lines.

        Raises
        ------
        StorageError
            When it is not there as it was made.
        """
        if not is_own_file(self.path):  # nor is it made anew: the plan would be missing
            raise StorageError(
                f"{self.path} is gone, a link, or a file with another name elsewhere. Nothing was written to it, and "
                "nothing was sent. Check where the folder comes from."
            )
        return AppendLog(self.path)


def _as_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def new_name() -> str:
    """Return a name for a new upsert; with the process id, since two may plan in the same microsecond."""
    return f"{datetime.now(UTC):{_MOMENT}}Z-{os.getpid()}"


def journal_named(name: str) -> Path:
    """Return where the journal of an upsert is, or would be; `name` may be from a file of somebody else."""
    return tracking_folder() / Path(name).name / JOURNAL


def name_of(journal: Path) -> str:
    """Return the name of an upsert: that of its folder, or of its file where that is of another layout."""
    return journal.parent.name if journal.name == JOURNAL else journal.stem


def kept_bytes(journal: Path) -> int:
    """Return the size of the earlier records beside a journal; 0 if none are kept."""
    path = journal.with_name(EARLIER_RECORDS)
    try:
        return path.lstat().st_size if is_file(path) else 0
    except OSError:  # another process has just removed it
        return 0


def planned_at(journal: Path) -> datetime:
    """Return when an upsert was planned, by its name; else when its journal was last changed."""
    try:
        return datetime.strptime(name_of(journal).partition("Z")[0], _MOMENT).replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(journal.lstat().st_mtime, UTC)


def tracking_folder() -> Path:
    """Return the folder of all upserts."""
    return home() / "tracking"


def host_of(base_url: str) -> str:
    """Return the host of a service."""
    return urlsplit(base_url).hostname or base_url


#: The state before a batch is sent; without a later line, its outcome is unknown.
BEING_SENT = "being sent"

#: The number of the layout of an upsert's folder.
VERSION = 3

#: What to do with a folder of another version, and what to know of it.
_ADVICE = (
    "What it sent is not known here: calls in it may still arrive for a day. Load its products after that to see which "
    "arrived."
)

Line = Mapping[str, Any]


class JournalHead(msgspec.Struct, frozen=True):
    """The first line, about the whole upsert.

    Attributes
    ----------
    host
        Host of the service, without the port: a sandbox gets another port with every start.
    at
        When it was planned (ISO 8601, UTC).
    key
        Digest of the access key.
    content_type
        Content type of the payloads.
    extra
        Filters with which the products were loaded, if corrections were merged with them.
    batches
        Number of batches.
    base_url
        Base URL of the service.
    attributes
        The attributes that it writes; None if they are not known.
    continues
        Names of the earlier upserts of the same corrections: this one sends what they had not sent.
    by, why
        Who has sent it, and what for.
    earlier_records
        "kept" if the products as they were before were kept beside it, "left out" if not.
    """

    host: str
    at: str
    key: str
    content_type: str
    extra: dict[str, Any]
    batches: Count
    base_url: str
    attributes: tuple[str, ...] | None
    continues: tuple[str, ...]
    by: str
    why: str
    earlier_records: Literal["kept", "left out"]


class PlannedPayload(msgspec.Struct, frozen=True):
    """A batch of the plan: its GTINs, and position, size and digest of its payload.

    `loaded`, `edits` and `sizes` are parallel to the GTINs, or empty: what the corrections were merged with, their
    digests, and the bytes of each product in the payload.
    """

    gtins: tuple[str, ...]
    at: Count
    size: Count = msgspec.field(name="bytes")
    sha256: Digest
    loaded: tuple[Loaded, ...] = ()
    edits: tuple[tuple[str, ...], ...] = ()
    sizes: tuple[Count, ...] = ()


class SentCall(NamedTuple):
    """One call that arrived, or may have: its time, tracking identifier and batch, as far as they are known.

    `date` is its time by the clock of the service, the later one of before and after the call.
    """

    at: datetime | None = None
    tracking: str | None = None
    batch: int | None = None
    date: datetime | None = None


class JournalContents(NamedTuple):
    """The contents of a journal.

    Attributes
    ----------
    head, entries
        The plan.
    states
        The last state of each batch that has one.
    stopped
        Why the rest was not sent, or "".
    is_damaged
        Whether a line cannot be read, so that the state of some batch is lost.
    calls
        The calls that arrived, or may have: a batch whose reply was lost may have been sent more than once.
    continued
        By the number of a batch, the upsert that was planned to send its products instead.
    """

    head: JournalHead
    entries: tuple[PlannedPayload, ...]
    states: Mapping[int, Batch]
    stopped: str
    is_damaged: bool
    calls: tuple[SentCall, ...]
    continued: Mapping[int, str]


def read(path: Path) -> JournalContents:
    """Read a journal.

    Raises
    ------
    InputError
        When its plan cannot be read.
    OtherLayout
        When another version of prodex wrote it.
    StorageError
        When it belongs to somebody else and may not be read.
    """
    try:
        with reading(path):
            lines = list(AppendLog(path).lines())
        return _contents(path, lines)
    except StorageError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"The journal {path} cannot be read: {error}. The state of this upsert is not known; load its products to "
            "see which arrived."
        ) from error


def head_of(path: Path, line: bytes) -> dict[str, Any] | None:
    """Return what the first line of a journal says; None where it is damaged.

    Raises
    ------
    OtherLayout
        When another version of prodex wrote it.
    """
    head = said = unsealed(line)
    if head is None:  # not every layout had a checksum
        with suppress(ValueError, RecursionError):
            said = json.loads(line)
    if isinstance(said, dict) and (head is not None or "check" not in said):
        found = said.get("version")
        require_layout(path, found if isinstance(found, int) else None, VERSION, _ADVICE)
    return head


def _contents(path: Path, lines: list[bytes]) -> JournalContents:
    head = head_of(path, lines[0]) if lines else None
    if head is None:
        raise ValueError("its first line is damaged")
    first = converted(head, JournalHead)
    count = first.batches
    # The plan was written in one piece, so a damaged line in it means that the file was changed afterwards.
    entries = tuple(_entry(line, number) for number, line in enumerate(lines[1 : 1 + count]))
    if len(entries) != count:
        raise ValueError(f"it has {len(entries)} of {count} batches")
    # What a line was about that a killed process did not finish had not begun, or its beginning is recorded.
    return JournalContents(first, entries, *_states_from_lines(lines[1 + count :], entries))


def _entry(line: bytes, number: int) -> PlannedPayload:
    found = unsealed(line)
    if found is None or found.get("batch") != number:
        raise ValueError(f"line {number + 2} is damaged")
    return converted(found, PlannedPayload)


def _states_from_lines(
    lines: list[bytes], entries: tuple[PlannedPayload, ...]
) -> tuple[dict[int, Batch], str, bool, tuple[SentCall, ...], dict[int, str]]:
    states: dict[int, Batch] = {}
    under_way: dict[int, SentCall] = {}
    calls: list[SentCall] = []
    continued: dict[int, str] = {}
    stopped, is_damaged = "", False
    for content in lines:
        line = unsealed(content)
        number = None if line is None else line.get("batch")
        if line is not None and "stopped" in line:
            stopped = str(line["stopped"])
        elif line is not None and "continued" in line:
            continued |= dict.fromkeys(_numbers(line.get("batches")), str(line["continued"]))
        elif line is not None and "arrived" in line and isinstance(number, int) and number in states:
            states[number] = _with_arrived(states[number], line["arrived"])
        elif line is not None and isinstance(number, int) and 0 <= number < len(entries):
            state = states[number] = state_of(entries[number].gtins, line)
            begun = under_way.pop(number, None)
            if line.get("state") == BEING_SENT:
                calls += [begun] if begun else []  # its reply was never recorded
                under_way[number] = SentCall(_time(line.get("time")), None, number, _time(line.get("date")))
            elif state.sent in ARRIVED:
                dates = [one for one in (begun and begun.date, _time(line.get("date"))) if one is not None]
                at, date = begun.at if begun else None, max(dates, default=None)
                calls.append(SentCall(at, state.tracking, number, date))
        else:
            is_damaged = True
    # The damaged line may have been about a call, whose time is then unknown.
    lost = [SentCall()] if is_damaged else []
    return states, stopped, is_damaged, (*calls, *under_way.values(), *lost), continued


def _numbers(found: Any) -> list[int]:
    return [one for one in found if isinstance(one, int)] if isinstance(found, list) else []


def _with_arrived(batch: Batch, found: Any) -> Batch:
    gtins = {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()
    return replace(batch, arrived=batch.arrived | gtins.intersection(batch.gtins))


def _time(written: Any) -> datetime | None:
    """Return when a batch was sent; None for anything that is not a time."""
    try:
        moment = datetime.fromisoformat(written)
        check_moment(moment)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def state_of(gtins: tuple[str, ...], line: Line) -> Batch:
    """Return the state of a batch from a line; an unknown word is "unknown"."""
    found = line.get("left_out")
    left_out = {gtin: str(found[gtin]) for gtin in gtins if gtin in found} if isinstance(found, dict) else {}
    gtins = tuple(gtin for gtin in gtins if gtin not in left_out)
    tracking = line.get("tracking")
    word: Any = line.get("state")
    if word == BEING_SENT:
        problem = "the process ended before the reply was received"
    elif word not in get_args(Sent) or (word == "sent" and tracking is None):
        problem = f"its journal has the unknown state {word!r:.40}"
    elif tracking is not None and not is_identifier(str(tracking)):
        problem = f"its journal has {tracking!r:.80}, which is not an identifier"
    else:
        identifier = None if tracking is None else str(tracking)
        return Batch(gtins, word, identifier, str(line.get("message") or ""), left_out=left_out)
    return Batch(gtins, "unknown", message=problem, left_out=left_out)

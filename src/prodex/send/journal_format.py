"""The format of the journal of an upsert: what its lines say; see `prodex.files.append_log` for how they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from prodex.errors import InputError, StorageError
from prodex.files.append_log import AppendLog, opened
from prodex.files.atomic import reading
from prodex.files.untrusted import Count, Digest, check_moment, converted
from prodex.send.batches import ARRIVED, Batch, Loaded, Sent
from prodex.service.replies import is_identifier

#: The state before a batch is sent; without a later line, its outcome is unknown.
BEING_SENT = "being sent"

#: The version of the format: the only one that is read.
VERSION = 3

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


class PlannedPayload(msgspec.Struct, frozen=True):
    """A batch of the plan: its GTINs, and position, size and digest of its payload.

    `loaded` and `edits` are parallel to the GTINs, or empty: what the corrections were merged with, and their digests.
    """

    gtins: tuple[str, ...]
    at: Count
    size: Count = msgspec.field(name="bytes")
    sha256: Digest
    loaded: tuple[Loaded, ...] = ()
    edits: tuple[tuple[str, ...], ...] = ()


class SentCall(NamedTuple):
    """One call that arrived, or may have: its time, tracking identifier and batch, as far as they are known."""

    at: datetime | None = None
    tracking: str | None = None
    batch: int | None = None


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
    StorageError
        When it belongs to somebody else and may not be read.
    """
    try:
        with reading(path):
            lines = list(AppendLog(path).lines())
        return _contents(lines)
    except StorageError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"The journal {path} cannot be read: {error}. The state of this upsert is not known; load its products to "
            "see which arrived."
        ) from error


def _contents(lines: list[bytes]) -> JournalContents:
    head = opened(lines[0]) if lines else None
    if head is None:
        raise ValueError("its first line is damaged, or an earlier version of prodex wrote it")
    if (found := head.get("version")) != VERSION:
        which = "an earlier" if isinstance(found, int) and found < VERSION else "a newer"
        raise ValueError(
            f"it was written by {which} version of prodex, with layout {found!r:.40}; this one reads {VERSION}"
        )
    first = converted(head, JournalHead)
    count = first.batches
    # The plan was written in one piece, so a damaged line in it means that the file was changed afterwards.
    entries = tuple(_entry(line, number) for number, line in enumerate(lines[1 : 1 + count]))
    if len(entries) != count:
        raise ValueError(f"it has {len(entries)} of {count} batches")
    # What a line was about that a killed process did not finish had not begun, or its beginning is recorded.
    return JournalContents(first, entries, *_states(lines[1 + count :], entries))


def _entry(line: bytes, number: int) -> PlannedPayload:
    found = opened(line)
    if found is None or found.get("batch") != number:
        raise ValueError(f"line {number + 2} is damaged")
    return converted(found, PlannedPayload)


def _states(
    lines: list[bytes], entries: tuple[PlannedPayload, ...]
) -> tuple[dict[int, Batch], str, bool, tuple[SentCall, ...], dict[int, str]]:
    states: dict[int, Batch] = {}
    under_way: dict[int, SentCall] = {}
    calls: list[SentCall] = []
    continued: dict[int, str] = {}
    stopped, is_damaged = "", False
    for content in lines:
        line = opened(content)
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
                under_way[number] = SentCall(_time(line.get("time")), None, number)
            elif state.sent in ARRIVED:
                calls.append(SentCall(begun.at if begun else None, state.tracking, number))
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
        return Batch(gtins, word, identifier, str(line.get("message") or ""))
    return Batch(gtins, "unknown", message=problem)

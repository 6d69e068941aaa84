"""The lines of a journal: written so that a full disk or a killed process spoils none, read so that damage shows."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from prodex.errors import InputError, StorageError
from prodex.files import storage
from prodex.files.untrusted import Count, Digest, check_moment, converted, is_own_file, read_bytes
from prodex.send.batches import ARRIVED, Batch, Loaded, Sent
from prodex.service.tracking_identifiers import is_identifier

#: Written before a batch is sent; when nothing follows, nobody knows what became of it.
BEING_SENT = "being sent"

_CHECK = re.compile(rb', "check": "([0-9a-f]{8})"\}$')

#: The version of what is written here; files of prodex 0.1 are of version 1.
VERSION = 2

Line = Mapping[str, Any]


class JournalHead(msgspec.Struct, frozen=True):
    """What a journal says of the whole upsert; files of 0.1.0 have the first two."""

    host: str
    at: str = ""
    key: str | None = None
    content_type: str = ""
    extra: dict[str, Any] = {}
    batches: Count = 0
    base_url: str | None = None


class _Planned(msgspec.Struct):
    batch: Count
    gtins: tuple[str, ...]
    at: Count
    bytes: Count
    sha256: Digest
    loaded: tuple[tuple[str, str | None], ...] = ()


class PlannedPayload(NamedTuple):
    """A batch of the plan: its GTINs, and its payload's place, size and digest."""

    gtins: tuple[str, ...]
    at: int
    size: int
    sha256: str
    loaded: tuple[Loaded, ...] = ()


class SentCall(NamedTuple):
    """One call that arrived, or may have: when it was made, where that is known, and its tracking identifier."""

    at: datetime | None = None
    tracking: str | None = None


class JournalContents(NamedTuple):
    """What a journal holds.

    Attributes
    ----------
    head, entries
        The plan, which is written as a whole.
    states
        The last state of each batch that has one.
    stopped
        Why the rest was not sent; "" where nobody said.
    is_damaged
        Whether a line cannot be read, so that what it said of some batch is lost.
    sendings
        The calls that arrived, or may have: a batch whose answer was lost may have been sent more than once.
    """

    head: JournalHead
    entries: tuple[PlannedPayload, ...]
    states: Mapping[int, Batch]
    stopped: str
    is_damaged: bool
    sendings: tuple[SentCall, ...]


def sealed(line: Line) -> bytes:
    r"""Write a line with its checksum (CRC-32 of the line without it).

    >>> sealed({"batch": 1})
    b'{"batch": 1, "check": "ec27f87e"}\n'
    """
    text = json.dumps(line).encode()
    return text[:-1] + b', "check": "%08x"}\n' % zlib.crc32(text)


def append(path: Path, line: Line) -> None:
    """Add a line, and have it on the disk itself; when the disk refuses, the file stays as it was.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    _refuse_foreign(path)
    with storage(path), path.open("r+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        try:
            rest = memoryview(sealed(line))
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def mend(path: Path) -> None:
    """Cut off a last line that was never finished: its process was killed while it wrote."""
    _refuse_foreign(path)
    content = read_bytes(path, most=None)
    last = content.rpartition(b"\n")[2]
    if last:
        with storage(path), path.open("r+b") as file:
            file.truncate(len(content) - len(last))
            if _opened(last) is not None:
                file.seek(0, os.SEEK_END)
                file.write(last + b"\n")


def _refuse_foreign(path: Path) -> None:
    if not is_own_file(path):
        raise StorageError(
            f"{path} is no file of its own, but a link, or one that has another name elsewhere. Nothing was written to "
            "it, and nothing sent. Look where the folder comes from."
        )


def read(path: Path) -> JournalContents:
    """Read a journal.

    Raises
    ------
    InputError
        When its plan cannot be read.
    """
    try:
        return _lines(read_bytes(path, most=None).split(b"\n"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"The journal {path} cannot be read: {error}. What it says of an upsert cannot be trusted; look at the "
            "service for what arrived."
        ) from error


def _lines(lines: list[bytes]) -> JournalContents:
    head = _opened(lines[0])
    if head is None:
        raise ValueError("its first line is damaged")
    if head.get("version") != VERSION:
        raise ValueError(
            f"it is of version {head.get('version')!r:.40}, and this prodex reads {VERSION} and 1"
        )
    told = converted(head, JournalHead)
    count = told.batches
    entries = tuple(_entry(line, number) for number, line in enumerate(lines[1 : 1 + count]))
    if len(entries) != count:
        raise ValueError(f"it has {len(entries)} of {count} batches")
    # Behind the last line break is nothing, or a line that was cut off when its process was killed. What that was
    # about had not begun, or has its beginning written down.
    *whole, last = lines[1 + count :] or [b""]
    whole += [last] if _opened(last) is not None else []
    return JournalContents(told, entries, *_states(whole, entries))


def _entry(line: bytes, number: int) -> PlannedPayload:
    found = _opened(line)
    if found is None or found.get("batch") != number:
        raise ValueError(f"line {number + 2} is damaged")
    told = converted(found, _Planned)
    return PlannedPayload(
        told.gtins, told.at, told.bytes, told.sha256, tuple(Loaded(*one) for one in told.loaded)
    )


def _states(
    lines: list[bytes], entries: tuple[PlannedPayload, ...]
) -> tuple[dict[int, Batch], str, bool, tuple[SentCall, ...]]:
    states: dict[int, Batch] = {}
    under_way: dict[int, SentCall] = {}
    sendings: list[SentCall] = []
    stopped, is_damaged = "", False
    for content in lines:
        line = _opened(content)
        number = None if line is None else line.get("batch")
        if line is not None and "stopped" in line:
            stopped = str(line["stopped"])
        elif line is not None and isinstance(number, int) and 0 <= number < len(entries):
            state = states[number] = state_of(entries[number].gtins, line)
            begun = under_way.pop(number, None)
            if line.get("state") == BEING_SENT:
                sendings += [begun] if begun else []  # its end was never written down
                under_way[number] = SentCall(_time(line.get("time")))
            elif state.sent in ARRIVED:
                sendings.append(SentCall(begun.at if begun else None, state.tracking))
        else:
            is_damaged = True
    lost = [SentCall()] if is_damaged else []
    return states, stopped, is_damaged, (*sendings, *under_way.values(), *lost)


def _time(written: Any) -> datetime | None:
    """Return when a batch was sent; None for what is no moment."""
    try:
        moment = datetime.fromisoformat(written)
        check_moment(moment)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def state_of(gtins: tuple[str, ...], line: Line) -> Batch:
    """Return what a line says of a batch; a word that is not ours is "unknown"."""
    tracking = line.get("tracking")
    word: Any = line.get("state")
    if word == BEING_SENT:
        return Batch(gtins, "unknown", message="the process ended before the answer came")
    if word not in get_args(Sent) or (word == "sent" and tracking is None):
        return Batch(
            gtins, "unknown", message=f"its journal has the state {word!r:.40}, which is not known here"
        )
    if tracking is not None and not is_identifier(str(tracking)):
        return Batch(
            gtins, "unknown", message=f"its journal has the identifier {tracking!r:.80}, which is none"
        )
    return Batch(gtins, word, None if tracking is None else str(tracking), str(line.get("message") or ""))


def _opened(line: bytes) -> dict[str, Any] | None:
    """Return a line whose checksum is right, else None."""
    found = _CHECK.search(line)
    if found is None:
        return None
    text = line[: found.start()] + b"}"
    if zlib.crc32(text) != int(found[1], 16):
        return None
    opened = _decoded(text)
    return opened if isinstance(opened, dict) else None


def _decoded(line: bytes) -> Any:
    """Return a line as JSON; half of a surrogate pair, which no frame takes, becomes a question mark."""
    value = json.loads(line)
    if b"\\ud" in line.lower():
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def read_0_1(path: Path) -> tuple[JournalHead, list[Batch]]:
    """Read a journal as prodex 0.1 wrote it: only batches that went out, no payloads, no checksums.

    Raises
    ------
    InputError
        When its first line cannot be read.
    """
    lines = list(_plain(path))
    try:
        head = converted(lines[0] if lines and lines[0].get("version") == 1 else None, JournalHead)
    except ValueError as error:
        raise InputError(
            f"The journal {path} cannot be read: its first line is damaged, or of a newer prodex."
        ) from error
    gtins: dict[int, tuple[str, ...]] = {}
    ended: dict[int, Line] = {}
    for line in lines[1:]:
        number = line.get("batch")
        if not isinstance(number, int):
            continue
        if isinstance(line.get("gtins"), list):
            gtins[number] = tuple(str(one) for one in line["gtins"])
        if "sent" in line:
            ended[number] = line
    batches = [
        state_of(gtins.get(number, ()), {"state": BEING_SENT} | _renamed(ended.get(number, {})))
        for number in sorted(gtins.keys() | ended.keys())
    ]
    return head, batches


def _renamed(line: Line) -> dict[str, Any]:
    """Return a last line of a batch as it is written today."""
    return {"state" if name == "sent" else name: value for name, value in line.items()}


def _plain(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines that can be read; one that was cut off when its process ended cannot."""
    try:
        contents = read_bytes(path, most=None).splitlines()
    except OSError as error:
        raise InputError(f"The journal {path} cannot be read: {error}.") from error
    for content in contents:
        try:
            line = _decoded(content)
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict):
            yield line

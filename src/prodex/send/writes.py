"""What was written to a service from this machine, and until when it may have been at work on it.

A service imports what is sent to it in its own time. So a snapshot that was begun before an import had ended may have
the old values, and must not be used again. What was sent, and when, is in the journals; when an import was first seen
to have ended is noted beside them. All moments are of this machine's clock.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from prodex.errors import InputError, StorageError
from prodex.files import writing
from prodex.send.journal import Journal
from prodex.send.upserts import journals
from prodex.service.settings import is_loopback
from prodex.untrusted import Moment, check_moment, read_json

_LOG = logging.getLogger("prodex")

#: How long an import may run of which nobody knows the end: its answer was lost, or nobody followed it.
LONGEST = timedelta(days=1)

#: How long a service takes until searches find what it has imported. One on this machine takes none.
SETTLES = timedelta(minutes=2)

#: What the clock of a disk elsewhere may differ from ours.
_CLOCKS = timedelta(days=1)

_ENDED = "ended.json"


class Write(NamedTuple):
    """One call that wrote products, or may have.

    Attributes
    ----------
    upsert
        Name of the upsert that it belongs to.
    at
        When it was sent.
    through
        From when on what it changed is to be seen: when its import was first seen to have ended, else a day later.
    has_ended
        Whether its import was seen to have ended.
    """

    upsert: str
    at: datetime
    through: datetime
    has_ended: bool


def last_write(base_url: str, since: datetime | None = None) -> Write | None:
    """Return what was written to a service and is through last; None where nothing was.

    Parameters
    ----------
    base_url
        Of the service. Whoever wrote to it: what one organisation writes, others see.
    since
        Only what was not through at this moment.
    """
    found = [
        write
        for path in journals()
        if (since is None or _changed(path) + LONGEST + _CLOCKS >= since)
        for write in _writes(path, base_url)
        if since is None or write.through >= since
    ]
    return max(found, key=lambda write: write.through, default=None)


def note_ended(base_url: str, identifiers: Collection[str]) -> None:
    """Note that imports of a service have ended, where they were sent from here.

    A disk that refuses is no reason to stop: the imports then count as running for a day.
    """
    recent = datetime.now(UTC) - LONGEST - _CLOCKS
    for path in journals():
        if not identifiers or _changed(path) < recent:
            continue
        try:
            journal = Journal(path)
        except InputError:
            continue
        ended = _ended(path)
        ours = {sending.tracking for sending in journal.sendings if sending.tracking in identifiers}
        if not journal.is_for(base_url) or ours <= ended.keys() or journal.is_old:
            continue
        now = datetime.now(UTC)
        moments = {str(one): now for one in ours} | ended
        try:
            with writing(path.with_name(_ENDED), private=True) as beside:
                beside.write_bytes(msgspec.json.encode(moments))
        except StorageError as error:
            _LOG.info("the end of an import could not be noted: %s", error)


def _writes(path: Path, base_url: str) -> Iterator[Write]:
    """Yield the calls of an upsert that arrived, or may have."""
    changed = _changed(path)
    try:
        journal = Journal(path)
    except InputError:  # nobody knows which service it was for
        yield Write(path.parent.name, changed, changed + LONGEST, has_ended=False)
        return
    if not journal.is_for(base_url):
        return
    ended = _ended(path)
    settles = timedelta(0) if is_loopback(base_url) else SETTLES
    for sending in journal.sendings:
        at = sending.at or changed
        end = ended.get(sending.tracking or "")
        through = at + LONGEST if end is None else end + settles
        yield Write(journal.name, at, through, end is not None)


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.lstat().st_mtime, UTC)


def _ended(journal: Path) -> dict[str, datetime]:
    """Return when imports were first seen to have ended, by identifier; what cannot be read is not known."""
    try:
        moments = read_json(journal.with_name(_ENDED), dict[str, Moment])
        for moment in moments.values():
            check_moment(moment)
    except (OSError, ValueError):
        return {}
    return moments

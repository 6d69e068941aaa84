"""The snapshots and audits that are saved on this machine: names, times, sizes, and whether they can be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from prodex import clock
from prodex.errors import OtherLayout
from prodex.load.resume import RESUMABLE, UnfinishedLoad, unfinished_loads
from prodex.notebook.session.session import Session
from prodex.notebook.views.frame import snapshot_moment, snapshot_title
from prodex.phrases import counted
from prodex.store.archive import snapshots_folder
from prodex.store.snapshot import list_snapshots

#: Loads that are not finished, of which the list tells.
_UNFINISHED = 5

#: What a list of snapshots shows, and which of it is aligned on the right.
COLUMNS = ("Name", "Created (UTC)", "Products", "Size", "State", "Number")
NUMBERS = ("Products", "Size", "Number")
_STATES = {True: "complete", False: "incomplete", None: "cannot be read"}
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class SnapshotEntry:
    """One snapshot.

    Attributes
    ----------
    name, time, folder
        As `prodex.list_snapshots` gives them.
    products, bytes
        Number of products and size; None if unknown.
    complete
        Whether everything was received that the service had announced.
    note
        Why it cannot be read, if it cannot.
    sequence
        Its number among those of its name, in the order of publication; None if it is not known.

    Examples
    --------
    >>> time = "2026-11-13T050102.123456Z"
    >>> kept = SnapshotEntry("shop", time, f"shop/{time}", 12000, 3_400_000, True, "")
    >>> kept.moment, kept.title, kept.size
    ('2026-11-13 05:01:02', 'shop, 2026-11-13 05:01:02 (12,000 products)', '3.4 MB')
    """

    name: str
    time: str
    folder: str
    products: int | None
    bytes: int | None
    complete: bool | None
    note: str
    sequence: int | None = None

    @property
    def moment(self) -> str:
        """When it was made, UTC, as it is shown."""
        return snapshot_moment(self.time)

    @property
    def title(self) -> str:
        """Name, time and number of products."""
        return snapshot_title(Path(self.folder), self.products)

    @property
    def size(self) -> str:
        """Its size on disk, as it is shown."""
        return "unknown" if self.bytes is None else in_units(self.bytes)

    @property
    def cells(self) -> tuple[str, ...]:
        """What is listed of it, in the order of `COLUMNS`."""
        products, number = ("–" if one is None else f"{one:,}" for one in (self.products, self.sequence))
        return (self.name, self.moment, products, self.size, _STATES[self.complete], number)


@dataclass(frozen=True)
class ListedSnapshots:
    """What was listed last.

    Attributes
    ----------
    entries
        The snapshots; None as long as they were not listed.
    unfinished
        How many loads are not finished, and a line for each; empty if there are none.
    problem
        Why that cannot be said.
    """

    entries: tuple[SnapshotEntry, ...] | None = None
    unfinished: tuple[str, tuple[str, ...]] = ("", ())
    problem: str = ""


def listed_snapshots() -> ListedSnapshots:
    """List the snapshots of all names, and the loads that are not finished."""
    try:
        loads = unfinished_loads(snapshots_folder())
    except OtherLayout as error:
        return ListedSnapshots(snapshot_entries(), problem=str(error))
    return ListedSnapshots(snapshot_entries(), unfinished_lines(loads) if loads else ("", ()))


def folder_times() -> tuple[tuple[str, int], ...]:
    """Return when something was last published, begun or removed below each name: then the list is another."""
    try:
        with os.scandir(snapshots_folder()) as names:
            return tuple(sorted((one.name, one.stat().st_mtime_ns) for one in names))
    except OSError:  # there is no folder as long as nothing was saved, and a name may go meanwhile
        return ()


def explored(session: Session) -> SnapshotEntry | None:
    """Return the snapshot that is explored, whoever opened it; None if that is none of those that are listed."""
    folder, every = session.catalog.folder, session.part(ListedSnapshots).entries or ()
    return None if folder is None else next((one for one in every if one.folder == str(folder)), None)


def snapshot_entries(name: str | None = None) -> tuple[SnapshotEntry, ...]:
    """Return the snapshots of a name, or all, newest first: those of one name in the order of publication."""
    listed = list_snapshots(name or "*").astype("object")
    known = listed.where(listed.notna(), None).to_dict("records")
    rows = [SnapshotEntry(**{str(name): value for name, value in row.items()}) for row in known]
    # Names are mixed by time. What was published after a snapshot is not listed as older, whatever time the clock had.
    latest: dict[str, str] = {}
    places = []
    for at, one in enumerate(rows):
        latest[one.name] = max(one.time, latest.get(one.name, ""))
        places.append((latest[one.name], one.name, at))
    return tuple(rows[at] for *_, at in sorted(places, reverse=True))


def unfinished_lines(loads: Sequence[UnfinishedLoad]) -> tuple[str, tuple[str, ...]]:
    """Return what is kept of loads that are not finished: a sentence, and a line for each of the newest.

    >>> from datetime import UTC, datetime
    >>> began = datetime(2026, 11, 25, 14, 5, tzinfo=UTC)
    >>> loads = [UnfinishedLoad("shop", None, began, True), UnfinishedLoad("old", None, began, False)]
    >>> how_many, (shop, old) = unfinished_lines(loads)
    >>> how_many, "until 2026-11-26 14:05" in shop, "prodex.recover('old', " in old
    ('2 loads are not finished (times in UTC):', True, True)
    """
    lines = []
    for one in loads[:_UNFINISHED]:
        how = f"prodex.recover({one.name!r}, allow_incomplete=True) makes a snapshot of what it received"
        if one.is_resumable:
            how = f"the same load continues it until {one.began + RESUMABLE:%Y-%m-%d %H:%M}; {how}"
        query = "" if one.query is None else f", {one.query}"
        lines.append(f"{one.name}{query}, begun {one.began:%Y-%m-%d %H:%M}: {how}.")
    return unfinished_title(len(lines), len(loads)), tuple(lines)


def unfinished_title(shown: int, every: int) -> str:
    """Return how many loads are not finished, before a list of them.

    >>> unfinished_title(5, 7)
    '5 of 7 loads are not finished (times in UTC):'
    """
    count = counted(every, "load") if shown == every else f"{shown} of {counted(every, 'load')}"
    return f"{count} {'is' if every == 1 else 'are'} not finished (times in UTC):"


def in_units(size: int) -> str:
    """Write a number of bytes.

    >>> in_units(1), in_units(999), in_units(94_700_000)
    ('1 byte', '999 bytes', '94.7 MB')
    """
    unit = min((len(str(size)) - 1) // 3, len(_UNITS) - 1)
    return f"{size / 1000**unit:.1f} {_UNITS[unit]}" if unit else counted(size, "byte")


_MONTH = timedelta(days=30)


def snapshots_to_compare(
    offered: Sequence[SnapshotEntry], newest: SnapshotEntry
) -> list[tuple[str, SnapshotEntry]]:
    """Return a label and a snapshot for each of: the one before, the one of Monday, and the one of a month before.

    Days are counted from the newest snapshot and not from today, in this machine's time zone. "Monday" is the
    last Monday before its day: the last snapshot made until the end of that Monday is meant, which is the one that
    people have worked with since. A snapshot is offered once, under the first label that fits.

    Parameters
    ----------
    offered
        The snapshots, newest first.
    newest
        The one to compare.

    Examples
    --------
    >>> def made(day):
    ...     return SnapshotEntry("shop", f"2026-11-{day:02}T050102.000000Z", f"/{day}", 9, 9, True, "")
    >>> kept = [made(day) for day in (19, 18, 16, 15, 2)]
    >>> [(label, one.time[:10]) for label, one in snapshots_to_compare(kept, kept[0])]
    [('Since 18 November', '2026-11-18'), ('Since Monday (16 November)', '2026-11-16')]
    """
    now = _time_of_snapshot(newest)
    if now is None:
        return []
    earlier = [one for one in offered if one.name == newest.name and one.time < newest.time]
    found: dict[str, tuple[str, SnapshotEntry]] = {}
    for label, before in _moments_before(now):
        there = next((one for one in earlier if (_time_of_snapshot(one) or now) < before), None)
        if there is not None and there.folder not in found:
            day = _day_of_snapshot(there, now)
            found[there.folder] = (f"Since {label} ({day})" if label else f"Since {day}", there)
    return list(found.values())


def _moments_before(now: datetime) -> Iterator[tuple[str, datetime]]:
    """Yield the words of a label, and the moment before which its snapshot was made."""
    yield "", now
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    # On a Monday the Monday of the week before is meant.
    yield "Monday", midnight - timedelta(days=(midnight.weekday() or 7) - 1)
    yield "a month ago", now - _MONTH


def _day_of_snapshot(snapshot: SnapshotEntry, now: datetime) -> str:
    moment = _time_of_snapshot(snapshot)
    if moment is None:
        return snapshot.moment
    return f"{moment:%H:%M}" if moment.date() == now.date() else f"{moment.day} {moment:%B}"


def _time_of_snapshot(snapshot: SnapshotEntry) -> datetime | None:
    """Return when a snapshot was made, by this machine's zone; None for a folder that somebody has named otherwise."""
    try:
        return None if (moment := clock.from_name(snapshot.time)) is None else moment.astimezone()
    except OverflowError:
        return None

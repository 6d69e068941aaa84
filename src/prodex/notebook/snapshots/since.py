"""Since when: the earlier snapshots with which people compare the newest one, found by their dates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from prodex.notebook.snapshots.saved import SnapshotEntry

_MONTH = timedelta(days=30)


def starts(offered: Sequence[SnapshotEntry], newest: SnapshotEntry) -> list[tuple[str, SnapshotEntry]]:
    """Return a label and a snapshot for each of: the one before, the one of Monday, and the one of a month before.

    Days are counted from the newest snapshot and not from today, in UTC, as the names of snapshots are. "Monday" is the
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
    >>> [(label, one.time[:10]) for label, one in starts(kept, kept[0])]
    [('Since 18 November', '2026-11-18'), ('Since Monday (16 November)', '2026-11-16')]
    """
    now = _moment(newest)
    if now is None:
        return []
    earlier = [one for one in offered if one.name == newest.name and one.time < newest.time]
    found: dict[str, tuple[str, SnapshotEntry]] = {}
    for label, before in _limits(now):
        there = next((one for one in earlier if (_moment(one) or now) < before), None)
        if there is not None and there.folder not in found:
            day = _day(there, now)
            found[there.folder] = (f"Since {label} ({day})" if label else f"Since {day}", there)
    return list(found.values())


def _limits(now: datetime) -> Iterator[tuple[str, datetime]]:
    """Yield the words of a label, and the moment before which its snapshot was made."""
    yield "", now
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    # On a Monday the Monday of the week before is meant.
    yield "Monday", midnight - timedelta(days=(midnight.weekday() or 7) - 1)
    yield "a month ago", now - _MONTH


def _day(snapshot: SnapshotEntry, now: datetime) -> str:
    moment = _moment(snapshot)
    if moment is None:
        return snapshot.moment
    return f"{moment:%H:%M}" if moment.date() == now.date() else f"{moment.day} {moment:%B}"


def _moment(snapshot: SnapshotEntry) -> datetime | None:
    """Return when a snapshot was made; None for a folder that somebody has named otherwise."""
    try:
        return datetime.strptime(snapshot.time, "%Y-%m-%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None

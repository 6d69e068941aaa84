"""The moment since which changes are requested, although the clocks of a service may disagree.

There are three clocks: the `Date` of a reply, `updatedAt` of the products, which has no time zone (spec, "Product"),
and this machine's. Each may be hours off, and services were seen that compare local times as UTC. So changes are
requested since the earlier of `Date` and the newest received `updatedAt`: nothing that is written later can be older.
If the newest `updatedAt` is older than any time zone explains, 26 hours before both clocks are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from prodex.clock import ANY_ZONE

#: Changes are requested since the beginning of the load, less this: a service needs a moment to index what was
#: written, and the clocks of its machines differ.
LAG = timedelta(minutes=2)

#: The same if the service sends no Date, and this machine's clock is used.
LAG_WITHOUT_CLOCK = timedelta(minutes=15)

#: Clocks that differ by more than this are reported.
_TOLERATED = timedelta(minutes=10)

_LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)


def newest_update(dates: Iterable[str | None]) -> str | None:
    """Return the latest `updatedAt`, to the second; None if no product has a valid one.

    >>> newest_update(["2026-11-20T08:00:00.250", None, "2026-11-19T23:00:00", "yesterday", "2026-13-40T00:00:00"])
    '2026-11-20T08:00:00'
    """
    seconds = sorted({date[:19] for date in dates if date and _LOCAL_TIME.match(date)}, reverse=True)
    return next((one for one in seconds if _moment(one) is not None), None)


def starting_from(service_time: datetime | None, our_time: datetime, newest: str | None) -> datetime:
    """Return since when changes are to be requested.

    Parameters
    ----------
    service_time
        `Date` of the first reply, or None.
    our_time
        This machine's clock at the same moment.
    newest
        The latest received `updatedAt`.

    Examples
    --------
    >>> ahead = datetime(2026, 11, 20, 13, tzinfo=UTC)
    >>> starting_from(ahead, ahead, "2026-11-20T08:00:00")
    datetime.datetime(2026, 11, 20, 7, 58, tzinfo=datetime.timezone.utc)
    >>> starting_from(ahead, ahead, "2020-01-01T00:00:00")
    datetime.datetime(2026, 11, 19, 10, 58, tzinfo=datetime.timezone.utc)
    """
    by_clock = our_time - LAG_WITHOUT_CLOCK if service_time is None else service_time - LAG
    earliest = min(service_time or our_time, our_time) - ANY_ZONE - LAG
    moment = _moment(newest)
    return min(by_clock, earliest if moment is None else max(earliest, moment - LAG))


def should_find(since: datetime, newest: str | None) -> bool:
    """Whether a request for products updated since then should return the one with the latest update."""
    moment = _moment(newest)
    return moment is not None and moment >= since


def clock_notes(
    service_time: datetime | None, our_time: datetime, newest: str | None
) -> Iterator[tuple[str, str]]:
    """Yield where the clocks disagree: a key, and a sentence."""
    if service_time is not None and abs(service_time - our_time) > _TOLERATED:
        date, ours = _shown(service_time), _shown(our_time)
        text = f"the service's clock (Date) is at {date} and this machine's at {ours}"
        yield "clocks", f"{text}; changes are requested since the earlier of Date and the newest updatedAt"
    moment = _moment(newest)
    if moment is not None and moment > max(service_time or our_time, our_time) + _TOLERATED:
        date = _shown(service_time or our_time)
        text = f"the newest updatedAt is {newest}, later than any clock (Date: {date})"
        yield "updatedAt", f"{text}: it is a local time of another zone, or wrong"


def _moment(second: str | None) -> datetime | None:
    """Parse a local time as UTC; None if it is not one, or too early to subtract hours from."""
    try:
        moment = None if second is None else datetime.fromisoformat(second).replace(tzinfo=UTC)
    except ValueError:
        return None
    return None if moment is None or moment.year < 1971 else moment


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"

"""From when on to ask for changes, where the clocks of a service may disagree.

Three clocks take part: the `Date` of a reply, `updatedAt` of the products, which has no zone (spec, "Product"), and
the one of this machine. Any of them may be hours off, and a filter may read local time as UTC. So changes are asked for
from the earlier of `Date` and the newest `updatedAt` that came: nothing that is written later can be older than that.
Where the newest `updatedAt` is older than any zone explains, a day and some hours before both clocks are enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

#: Changes since the service's clock at the beginning, less this, are looked through at the end: a service takes a
#: moment until what was written is found, and its machines' clocks differ.
LAG = timedelta(minutes=2)

#: The same where the service does not tell its time, and ours has to do.
LAG_WITHOUT_CLOCK = timedelta(minutes=15)

#: What two readings of one local time differ by at most: zones go from 12 hours behind UTC to 14 hours ahead.
ANY_ZONE = timedelta(hours=26)

#: Clocks that differ by more than this are reported.
_TOLERATED = timedelta(minutes=10)

_LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)


def newest_update(dates: Iterable[str | None]) -> str | None:
    """Return the latest `updatedAt`, to the second; None where no product has one that can be read.

    >>> newest_update(["2026-11-20T08:00:00.250", None, "2026-11-19T23:00:00", "yesterday", "2026-13-40T00:00:00"])
    '2026-11-20T08:00:00'
    """
    seconds = sorted({date[:19] for date in dates if date and _LOCAL_TIME.match(date)}, reverse=True)
    return next((one for one in seconds if _moment(one) is not None), None)


def starting_from(service_time: datetime | None, our_time: datetime, newest: str | None) -> datetime:
    """Return since when changes are to be asked for.

    Parameters
    ----------
    service_time
        `Date` of the first reply, or None where it had none.
    our_time
        This machine's clock at the same moment.
    newest
        The latest `updatedAt` that came.

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
    """Say whether whoever asks for what was updated since then should be given the product with the latest update."""
    moment = _moment(newest)
    return moment is not None and moment >= since


def clock_notes(
    service_time: datetime | None, our_time: datetime, newest: str | None
) -> Iterator[tuple[str, str]]:
    """Tell where the clocks disagree: what it is about, and a sentence."""
    if service_time is not None and abs(service_time - our_time) > _TOLERATED:
        date, ours = _shown(service_time), _shown(our_time)
        text = f"the service's clock (Date) says {date} and this machine's {ours}"
        yield "clocks", f"{text}; changes are asked for from the earlier of Date and the newest updatedAt"
    moment = _moment(newest)
    if moment is not None and moment > max(service_time or our_time, our_time) + _TOLERATED:
        date = _shown(service_time or our_time)
        text = f"the newest updatedAt is {newest}, later than any clock (Date: {date})"
        yield "updatedAt", f"{text}: it is local time of another zone, or wrong"


def _moment(second: str | None) -> datetime | None:
    """Read local time as UTC; None for what is none, or too long ago to compute with."""
    try:
        moment = None if second is None else datetime.fromisoformat(second).replace(tzinfo=UTC)
    except ValueError:
        return None
    return None if moment is None or moment.year < 1971 else moment


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"

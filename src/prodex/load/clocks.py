"""The moment since which changes are requested, although the clocks of a service may disagree.

There are three clocks: the `Date` of a reply, `updatedAt` of the products, which has no time zone (spec, "Product"),
and this machine's. Each may be hours off, and services were seen that compare local times as UTC. So changes are
requested since the earlier of `Date` and the newest received `updatedAt`: nothing that is written later can be older.
If the newest `updatedAt` is older than any time zone explains, 26 hours before both clocks are enough.

A change is dated when it is written, and shown when it is in the index: what was written before a load and shown after
it is older than that load. So the changes of a while before it, the lag, are requested as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import duration_given
from prodex.clock import ANY_ZONE, TOLERATED
from prodex.errors import QueryError
from prodex.phrases import moment_in_words

#: A load requests what changed meanwhile since its beginning, less this: a service needs a moment to index what was
#: written, and the clocks of its machines differ.
LAG = timedelta(minutes=2)

#: A refresh requests what changed since the last load, less this, unless it is given another lag. A change that is
#: shown later is missed for good where not all keys are listed, and a quarter of an hour of changes is seldom a page.
REFRESH_LAG = timedelta(minutes=15)

#: At least so much, if the service sends no Date, and this machine's clock is used.
LAG_WITHOUT_CLOCK = timedelta(minutes=15)

#: The wire counts seconds from here.
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)

_LOCAL_TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"


def newest_update(dates: pa.Array | pa.ChunkedArray) -> str | None:
    """Return the latest `updatedAt` of a column, to the second; None if no product has a valid one.

    >>> dates = ["2026-11-20T08:00:00.250", None, "2026-11-19T23:00:00", "yesterday", "2026-13-40T00:00:00"]
    >>> newest_update(pa.array(dates))
    '2026-11-20T08:00:00'
    """
    times = dates.filter(pc.match_substring_regex(dates, _LOCAL_TIME))
    seconds = pc.unique(pc.utf8_slice_codeunits(times, 0, 19)).to_pylist()
    return next((one for one in sorted(seconds, reverse=True) if _parsed_utc(one) is not None), None)


def checked_lag(lag: timedelta | float | None) -> timedelta:
    """Return the lag of a refresh, if it is one.

    Raises
    ------
    QueryError
        When it is no time, or below zero.

    Examples
    --------
    >>> checked_lag(None), checked_lag(60), checked_lag(timedelta(hours=2))
    (datetime.timedelta(seconds=900), datetime.timedelta(seconds=60), datetime.timedelta(seconds=7200))
    """
    found = REFRESH_LAG if lag is None else duration_given(lag, "lag")
    if found < timedelta(0):
        raise QueryError(f"lag is {lag!r:.60}. Give a timedelta, or a number of seconds, of 0 or more.")
    return found


def starting_from(
    service_time: datetime | None, our_time: datetime, newest: str | None, lag: timedelta = LAG
) -> datetime:
    """Return since when changes are to be requested.

    Parameters
    ----------
    service_time
        `Date` of the first reply, or None.
    our_time
        This machine's clock at the same moment.
    newest
        The latest received `updatedAt`.
    lag
        After which time at most the service shows a change.

    Examples
    --------
    >>> ahead = datetime(2026, 11, 20, 13, tzinfo=UTC)
    >>> starting_from(ahead, ahead, "2026-11-20T08:00:00")
    datetime.datetime(2026, 11, 20, 7, 58, tzinfo=datetime.timezone.utc)
    >>> starting_from(ahead, ahead, "2020-01-01T00:00:00")
    datetime.datetime(2026, 11, 19, 10, 58, tzinfo=datetime.timezone.utc)
    """
    try:
        by_clock = our_time - max(lag, LAG_WITHOUT_CLOCK) if service_time is None else service_time - lag
        earliest = min(service_time or our_time, our_time) - ANY_ZONE - lag
        moment = _parsed_utc(newest)
        since = min(by_clock, earliest if moment is None else max(earliest, moment - lag))
    except OverflowError:  # a lag of centuries
        return _BEGINNING
    return max(since, _BEGINNING)


class Clocks(NamedTuple):
    """The clocks when a load began: `Date` of the first reply, None without one, and this machine's."""

    service: datetime | None
    ours: datetime


def was_set(before: Clocks, now: Clocks) -> bool:
    """Whether a clock was set between two loads: one was set back, or the clocks measured different times in between.

    Examples
    --------
    >>> monday, hours = datetime(2026, 11, 23, 4, tzinfo=UTC), timedelta(hours=1)
    >>> was_set(Clocks(monday, monday + 2 * hours), Clocks(monday + 24 * hours, monday + 26 * hours))
    False
    >>> was_set(Clocks(monday, monday + 72 * hours), Clocks(monday + 24 * hours, monday + 24 * hours))
    True
    """
    ours = now.ours - before.ours
    if before.service is None or now.service is None:
        return ours < -TOLERATED
    theirs = now.service - before.service
    return min(ours, theirs) < -TOLERATED or abs(theirs - ours) > TOLERATED


def surely_before(last: Clocks, now: Clocks, newest: str | None) -> datetime:
    """Return a time before everything that changed since a load, though one of the clocks was wrong.

    A clock that is behind what it showed then was ahead, and is not believed.

    Parameters
    ----------
    last, now
        The clocks when that load began, and when this one did.
    newest
        The latest `updatedAt` that it received.

    Examples
    --------
    >>> monday, days = datetime(2026, 11, 23, 4, tzinfo=UTC), timedelta(days=1)
    >>> now = Clocks(monday + days, monday + days)
    >>> str(surely_before(Clocks(monday, monday + 3 * days), now, "2026-11-23T03:00:00"))
    '2026-11-22 01:58:00+00:00'
    >>> str(surely_before(Clocks(monday + 3 * days, monday + 3 * days), now, "2026-11-23T03:00:00"))
    '2026-11-23 02:58:00+00:00'
    """
    readings = [last.ours] if now.ours >= last.ours - TOLERATED else []
    if last.service is not None and (now.service is None or now.service >= last.service - TOLERATED):
        readings.append(last.service)
    if readings:
        return max(min(readings) - ANY_ZONE - LAG, _BEGINNING)
    # Only what the service wrote on its products is left, if that is not of the future as well.
    moment = _parsed_utc(newest)
    is_over = moment is not None and moment <= (now.service or now.ours) + ANY_ZONE
    return moment - LAG if moment is not None and is_over else _BEGINNING


def should_find(since: datetime, newest: str | None) -> bool:
    """Whether a request for products updated since then should return the one with the latest update."""
    moment = _parsed_utc(newest)
    return moment is not None and moment >= since


def clock_notes(
    service_time: datetime | None, our_time: datetime, newest: str | None
) -> Iterator[tuple[str, str]]:
    """Yield where the clocks disagree: a key, and a sentence."""
    if service_time is not None and abs(service_time - our_time) > TOLERATED:
        date, ours = _to_the_second(service_time), _to_the_second(our_time)
        text = f"the service's clock (Date) is at {date} and this machine's at {ours}"
        yield "clocks", f"{text}; changes are requested since the earlier of Date and the newest updatedAt"
    moment = _parsed_utc(newest)
    if moment is not None and moment > max(service_time or our_time, our_time) + TOLERATED:
        date = _to_the_second(service_time or our_time)
        text = f"the newest updatedAt is {newest}, later than any clock (Date: {date})"
        yield "updatedAt", f"{text}: it is a local time of another zone, or wrong"


def clocks_in_words(clocks: Clocks) -> str:
    """Return two clocks as messages show them.

    >>> clocks_in_words(Clocks(None, datetime(2026, 11, 23, 4, tzinfo=UTC)))
    "no Date, and this machine's clock at 2026-11-23 04:00:00 UTC"
    """
    date = "no Date" if clocks.service is None else f"Date {_to_the_second(clocks.service)}"
    return f"{date}, and this machine's clock at {_to_the_second(clocks.ours)}"


def _parsed_utc(second: str | None) -> datetime | None:
    """Parse a local time as UTC; None if it is not one, or too early to subtract hours from."""
    try:
        moment = None if second is None else datetime.fromisoformat(second).replace(tzinfo=UTC)
    except ValueError:
        return None
    return None if moment is None or moment.year < 1971 else moment


def _to_the_second(moment: datetime) -> str:
    return moment_in_words(moment, "%Y-%m-%d %H:%M:%S", UTC)

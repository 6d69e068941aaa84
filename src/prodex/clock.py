"""What time it is: the clock of this machine, unless a block of code is given another one.

Snapshots, audits and journals are kept by the time of this clock, and their age is judged by it. In a simulation, the
service is at another time; with `at`, the client is there as well, so that what it keeps is dated as the service is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

#: Largest difference between two readings of a local time: time zones range from UTC-12 to UTC+14.
ANY_ZONE = timedelta(hours=26)

#: A clock is set by so much without anybody's notice, and those of two machines differ by it.
TOLERATED = timedelta(minutes=10)

# By thread: what is loaded beside a simulation keeps the time of this machine.
_AHEAD: ContextVar[timedelta] = ContextVar("ahead", default=timedelta(0))


def now() -> datetime:
    """Return the time, UTC.

    Examples
    --------
    >>> abs(now() - datetime.now(UTC)) < timedelta(seconds=1)
    True
    """
    return datetime.now(UTC) + _AHEAD.get()


def in_words(moment: datetime, form: str = "%Y-%m-%d %H:%M") -> str:
    """Write a moment in this machine's time zone, and say which that is.

    Parameters
    ----------
    moment
        With a time zone.
    form
        What is written of it, before the zone.

    Examples
    --------
    >>> in_words(datetime(2026, 11, 20, 20, tzinfo=UTC)).startswith("2026-11-2")
    True
    """
    wall = moment.astimezone()
    return f"{wall:{form}} {wall.tzname() or wall.strftime('%z')}"


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Set the clock to a moment, from which it runs on, for a block of code in this thread.

    Parameters
    ----------
    moment
        With a time zone.

    Examples
    --------
    >>> with at(datetime(2026, 11, 20, 20, tzinfo=UTC)):
    ...     f"{now():%Y-%m-%d %H:%M}"
    '2026-11-20 20:00'
    """
    before = _AHEAD.set(moment.astimezone(UTC) - datetime.now(UTC))
    try:
        yield
    finally:
        _AHEAD.reset(before)

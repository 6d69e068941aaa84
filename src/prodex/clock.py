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

_NAME = "%Y-%m-%dT%H%M%S.%fZ"

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


def as_name(moment: datetime) -> str:
    """Return a moment as folders and files are called, so that their names are in the order of time.

    Parameters
    ----------
    moment
        UTC.

    Examples
    --------
    >>> as_name(datetime(2026, 11, 13, 5, 1, 2, 3))
    '2026-11-13T050102.000003Z'
    """
    return moment.strftime(_NAME)


def from_name(name: str) -> datetime | None:
    """Return the moment by which a folder or a file is called; None where somebody has called it otherwise.

    Examples
    --------
    >>> str(from_name("2026-11-13T050102.000003Z")), from_name("last week")
    ('2026-11-13 05:01:02.000003+00:00', None)
    """
    try:
        return datetime.strptime(name, _NAME).replace(tzinfo=UTC)
    except ValueError:
        return None


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

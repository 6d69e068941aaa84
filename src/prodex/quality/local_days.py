"""Days of a shop: its time zone, and at which time of its week something was.

A night, a Sunday and a date are those of the people whose catalogue it is, and not of UTC: a job at half past midnight
in London runs on Monday all year, which is Sunday by UTC in summer.
"""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from prodex.arguments import described
from prodex.errors import InputError
from prodex.messages import hint

_A_DAY = timedelta(days=1)


def zone_of(given: str | tzinfo | None) -> tzinfo | None:
    """Return a time zone by its name; None is the zone of this machine, as for `datetime.astimezone`.

    Raises
    ------
    InputError
        When there is no zone of this name; the message names the nearest.

    Examples
    --------
    >>> zone_of("Europe/London")
    zoneinfo.ZoneInfo(key='Europe/London')
    """
    if given is None or isinstance(given, tzinfo):
        return given
    if not isinstance(given, str):
        raise InputError(
            f"zone is {described(given)}. Give the name of a time zone, such as 'Europe/London'."
        )
    try:
        return ZoneInfo(given)
    # Names become paths below the folder of zones: "Europe" is a folder there, and "../zone" leads out of it.
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if not available_timezones():  # as on Windows, where pandas brings the package
            raise InputError(
                f"There is no time zone {given!r:.60}, since this machine has none at all. Install the package tzdata: "
                "pip install tzdata."
            ) from error
        near = hint(given, sorted(available_timezones()), "Give a name such as 'Europe/London' or 'UTC'.")
        raise InputError(f"There is no time zone {given!r:.60}{near}") from error


def local(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return a moment as clocks on the wall show it."""
    return moment.astimezone(zone)


def weekday_of(moment: datetime, zone: tzinfo | None) -> float:
    """Return how many days of its week had passed at a moment, by clocks on the wall.

    >>> zone = ZoneInfo("Europe/London")
    >>> [weekday_of(datetime.fromisoformat(one), zone) for one in ("2026-10-18T23:00Z", "2026-10-26T00:00Z")]
    [0.0, 0.0]
    """
    wall = local(moment, zone).replace(tzinfo=None)
    return wall.weekday() + (wall - wall.replace(hour=0, minute=0, second=0, microsecond=0)) / _A_DAY

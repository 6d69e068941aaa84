"""What happens in the simulated weeks, and when: loads on Mondays and in the last nights, a request, an incident."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

#: Every load but the last is made in the evening, UTC.
_HOUR = 20
#: Days between two Mondays.
_WEEK = 7


@dataclass(frozen=True)
class PlannedLoad:
    """A load, and the days that pass before it.

    Attributes
    ----------
    moment
        When the snapshot is made.
    days
        How many days have passed since the load before.
    is_monday
        Whether it is one of the three Mondays.
    asks
        Whether suppliers are sent worklists afterwards.
    has_incident
        Whether an incident happens on the last of these days.
    """

    moment: datetime
    days: int
    is_monday: bool = False
    asks: bool = False
    has_incident: bool = False


def loads_until(end: datetime) -> tuple[PlannedLoad, ...]:
    """Return what happens in about three weeks that end at a moment.

    The last Monday is at least two days ago: something is to have changed since then.

    Parameters
    ----------
    end
        With a time zone.

    Examples
    --------
    >>> for load in loads_until(datetime.fromisoformat("2026-11-26T09:00:00+00:00")):
    ...     print(f"{load.moment:%a %d %b %H:%M}", load.days, load.is_monday, load.asks, load.has_incident)
    Mon 09 Nov 20:00 0 True False False
    Mon 16 Nov 20:00 7 True True False
    Mon 23 Nov 20:00 7 True False False
    Tue 24 Nov 20:00 1 False False False
    Wed 25 Nov 20:00 1 False False False
    Thu 26 Nov 09:00 1 False False True
    """
    evening = end.replace(hour=_HOUR, minute=0, second=0, microsecond=0)
    last = 2 + (end.weekday() - 2) % _WEEK  # days since the last Monday
    mondays = [evening - timedelta(days=last + _WEEK * weeks) for weeks in (2, 1, 0)]
    nights = [evening - timedelta(days=days) for days in (2, 1)]
    moments = sorted({*mondays, *nights})
    passed = [(later.date() - one.date()).days for one, later in pairwise([*moments, end])]
    return (
        *(
            PlannedLoad(moment, days, is_monday=moment in mondays, asks=moment == mondays[1])
            for moment, days in zip(moments, [0, *passed], strict=False)
        ),
        PlannedLoad(end, passed[-1], has_incident=True),
    )

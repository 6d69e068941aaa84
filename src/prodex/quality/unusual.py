"""What is unusual: one measure for all figures of a catalogue over time.

A figure is unusual if it lies outside all its values of the last 28 audits, by more than its usual changes explain. The
distance to the nearest of those values is measured in spreads. A spread is the median change from one audit to the
next, but at least what chance alone does to a count or a share of that size, and at least a small part of the figure
itself, so that tiny changes of huge counts are no news. How many spreads are too many follows from the number of
figures that are looked at: all together, chance alone exceeds it once in a thousand audits.

Range and median make it robust: one odd night moves neither. A figure that was unusual is left out of what is usual.
If it stays, it is lasting; after seven audits it is what is usual. If it returns to the usual range, it is over.

Figures of one day (updates) are little if they are less than on the same day of other weeks, where there are four of
them, since many suppliers do nothing on Sundays; and only after fourteen audits, which have seen two weekends. The same
day is the same time of the week, give or take six hours: a job that begins a minute before midnight counts the same day
as one that begins a minute after it, and what is counted at noon is of two days and is compared with none. One quiet
day says little of them and several in a row say much, so that the quiet days are judged together as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import NormalDist, median
from typing import NamedTuple

#: With fewer audits there is no judgement; the one that is judged counts.
NEEDED = 5

#: The same for figures of one day.
_NEEDED_OF_DAYS = 15

#: Audits of which the values are usual, and days of the same weekday.
WINDOW, _SAME_DAYS, _LEAST_SAME_DAYS = 28, 8, 4

#: How far apart audits may be in their weeks to be of the same day, in days.
_SAME_TIME = 0.25

#: Audits after which what was unusual is usual.
LASTING = 7

#: Share of audits in which chance alone may make any of all figures unusual.
CHANCE = 1 / 1000

#: Part of the noise of chance that counts and shares have at least: a catalogue is no lottery, since nearly the same
#: products are there each night. What is counted of one day has all of it.
_PART = 0.4

#: The least spread of a share.
_LEAST_SHARE = 0.005

#: From the median of absolute deviations to the standard deviation of a normal distribution.
_SCALE = 1.4826


class FigureKind(StrEnum):
    """What a figure is: how many there are, how many on one day, or a share."""

    COUNT = "count"
    OF_A_DAY = "of a day"
    SHARE = "share"


class FigureState(StrEnum):
    """What a figure is at an audit."""

    NEW = "new"
    LASTING = "lasting"
    OVER = "over"
    USUAL = "usual"
    UNKNOWN = "unknown"

    @property
    def is_news(self) -> bool:
        """Whether there is anything to say of it."""
        return self in {FigureState.NEW, FigureState.LASTING, FigureState.OVER}


@dataclass(frozen=True)
class Series:
    """A figure over time, the oldest audit first.

    Attributes
    ----------
    kind
        What it is.
    values
        Its values; NaN where it is not known.
    sizes
        Of a share, of how many products it is one.
    weekdays
        The day of the week of each audit, with its time as a fraction; Monday at midnight is 0.
    """

    kind: FigureKind
    values: Sequence[float]
    sizes: Sequence[float]
    weekdays: Sequence[float]

    def same_days(self, places: Sequence[int], place: int) -> list[int]:
        """Return the last of some audits at the time of the week of another; none where there are too few of them."""
        # Sunday night is near Monday morning: what is nearly a week apart is of the same day as well.
        apart = ((one, abs(self.weekdays[one] - self.weekdays[place]) % 7) for one in places[-2 * WINDOW :])
        same = [one for one, days in apart if not _SAME_TIME < days < 7 - _SAME_TIME][-_SAME_DAYS:]
        return same if len(same) >= _LEAST_SAME_DAYS else []


class Judgement(NamedTuple):
    """What a figure is at the last audit, and why.

    Attributes
    ----------
    state
        What it is.
    low, high
        Its usual range.
    distance
        How far outside of it, in spreads.
    since
        Place of the audit at which it became unusual.
    audits
        Number of audits that the range is of.
    is_silence
        Whether it is several days without any that are judged together: `high` is how many are usual on all of them,
        and `audits` how many days these are.
    """

    state: FigureState
    low: float = math.nan
    high: float = math.nan
    distance: float = 0.0
    since: int = -1
    audits: int = 0
    is_silence: bool = False


def limit_of(figures: int) -> float:
    """Return how many spreads are too many, where so many figures are looked at.

    >>> [round(limit_of(figures), 2) for figures in (1, 30, 300)]
    [3.29, 4.15, 4.65]
    """
    return NormalDist().inv_cdf(1 - CHANCE / (2 * max(figures, 1)))


def judge(series: Series, figures: int, daily: int = 1) -> Judgement:
    """Say what a figure is at the last audit, by those before it.

    Parameters
    ----------
    series
        The figure over time.
    figures
        How many figures are looked at.
    daily
        How many of these are of one day.

    Examples
    --------
    >>> values = [0.98, 0.97, 0.99, 0.98, 0.97, 0.12]
    >>> found = judge(Series(FigureKind.SHARE, values, [200] * 6, range(6)), 300)
    >>> str(found.state), found.low, found.high
    ('new', 0.97, 0.99)

    Weeks with quiet weekends, and then two working days on which nothing was counted:

    >>> quiet = [30, 28, 33, 25, 31, 2, 0] * 4 + [30, 0, 0]
    >>> days = [n % 7 for n in range(len(quiet))]
    >>> found = judge(Series(FigureKind.OF_A_DAY, quiet, [0] * len(quiet), days), 300, 300)
    >>> str(found.state), found.high, found.audits, found.is_silence
    ('lasting', 61.0, 2, True)
    """
    limit = limit_of(figures)
    if _has_hardly_moved(series, limit):
        return Judgement(FigureState.USUAL)
    found = _last(series, limit)
    if series.kind is not FigureKind.OF_A_DAY or found.state.is_news:
        return found
    return _silence(series, daily) or found


def _has_hardly_moved(series: Series, limit: float) -> bool:
    """Whether no two values are far enough apart for news: most figures are like this, which is quick to see."""
    known = [value for value in series.values if not math.isnan(value)]
    if series.kind is FigureKind.OF_A_DAY or len(known) < NEEDED:
        return False
    least = _PART if series.kind is FigureKind.COUNT else _LEAST_SHARE
    return _on_scale(series.kind, max(known)) - _on_scale(series.kind, min(known)) <= limit * least


def _last(series: Series, limit: float) -> Judgement:
    """Go from the oldest audit to the newest, each judged by what was usual until then."""
    needed = _NEEDED_OF_DAYS if series.kind is FigureKind.OF_A_DAY else NEEDED
    # Places of the audits at which the figure was usual, and of those of an incident that is not over.
    usual: list[int] = []
    incident: list[int] = []
    state, before, since = FigureState.UNKNOWN, None, -1
    for place, value in enumerate(series.values):
        state, since = FigureState.UNKNOWN, place
        if math.isnan(value):
            continue
        if before is None or not incident:
            if len(usual) + 1 >= needed:
                before = _Usual.of(series, usual, place)
                state = FigureState.NEW if before.is_exceeded(value, limit) else FigureState.USUAL
            (incident if state is FigureState.NEW else usual).append(place)
        elif not before.is_exceeded(value, limit):
            state, since = FigureState.OVER, incident[0]
            usual, incident = [*usual, place], []
        elif _is_worse(series, before, incident, place, limit):  # than it already was, which is news again
            state, incident = FigureState.NEW, [place]
        else:
            state, since = FigureState.LASTING, incident[0]
            incident.append(place)
            if len(incident) >= LASTING:
                usual, incident = incident, []
    if before is None:
        return Judgement(state)
    return Judgement(state, before.low, before.high, before.distance(series.values[-1]), since, before.audits)


def _is_worse(series: Series, before: _Usual, incident: list[int], place: int, limit: float) -> bool:
    value, last = series.values[place], series.values[incident[-1]]
    is_other = _Usual.of(series, incident, place).is_exceeded(value, limit)
    return is_other and before.distance(value) > before.distance(last)


@dataclass(frozen=True)
class _Usual:
    """What is usual by some audits, for the value of another one.

    Attributes
    ----------
    series
        The figure.
    places
        The audits.
    place
        The other one.
    low, high
        The least and the largest usual value. What is counted of a day is little if it is less than on the same days of
        other weeks, and much if it is more than on any day.
    """

    series: Series
    places: Sequence[int]
    place: int
    low: float
    high: float

    @classmethod
    def of(cls, series: Series, usual: Sequence[int], place: int) -> _Usual:
        values = [series.values[one] for one in usual[-WINDOW:]]
        same = series.same_days(usual, place) if series.kind is FigureKind.OF_A_DAY else []
        low = min(series.values[one] for one in same) if same else min(values)
        return cls(series, usual[-WINDOW:], place, low, max(values))

    @property
    def audits(self) -> int:
        return len(self.places)

    def is_exceeded(self, value: float, limit: float) -> bool:
        """Whether a value is too many spreads outside: more where the range is of few audits, and narrow by chance."""
        return self.distance(value) > limit * (1 + 2 / self.audits)

    def distance(self, value: float) -> float:
        if not (value < self.low or value > self.high):  # as most are, and no spread is needed
            return 0.0
        low, high, at = (_on_scale(self.series.kind, one) for one in (self.low, self.high, value))
        return max(low - at, at - high) / self.spread

    @cached_property
    def spread(self) -> float:
        series = self.series
        values = [series.values[one] for one in self.places]
        steps = [abs(later - one) for one, later in pairwise(_on_scale(series.kind, one) for one in values)]
        size = min(series.sizes[self.place], median(series.sizes[one] for one in self.places))
        by_steps = _SCALE * median(steps) if steps else 0.0
        return max(by_steps, _by_chance(series.kind, median(values), size))


def _silence(series: Series, daily: int) -> Judgement | None:
    """Return what is to say where what is counted of each day has stopped, of so many figures of days.

    So many missing by chance is as unlikely as for any other figure, with half as many again, since updates arrive in
    batches.
    """
    values = series.values
    known = [place for place, value in enumerate(values) if not math.isnan(value)]
    begin = max((at + 1 for at, place in enumerate(known) if values[place] != 0), default=len(known))
    before, quiet = known[:begin], known[begin:]
    if not quiet or begin + 1 < _NEEDED_OF_DAYS:
        return None
    # On a weekday without history, no more is expected than on the quietest day.
    least = min(values[place] for place in before[-WINDOW:])
    days = (series.same_days(before, place) for place in quiet)
    expected = list(accumulate(median(values[one] for one in same) if same else least for same in days))
    # Where n updates are expected, chance leaves out all of them with a probability of exp(-n) (Poisson).
    enough = 1.5 * math.log(max(daily, 1) / CHANCE)
    noticed = next((at for at, sofar in enumerate(expected) if sofar > enough), None)
    if noticed is None or len(quiet) - noticed > LASTING:
        return None
    state = FigureState.NEW if noticed == len(quiet) - 1 else FigureState.LASTING
    total = expected[-1]
    return Judgement(state, 0, total, total / enough, quiet[0], len(quiet), is_silence=True)


def _on_scale(kind: FigureKind, value: float) -> float:
    """Return a value on the scale on which distances are measured.

    Of a count that is twice its root, on which chance moves small and large counts by the same: about 1 (Anscombe).
    """
    match kind:
        case FigureKind.COUNT:
            # Moved a little from zero, so that fewer than five products are no news, be they all that a supplier has.
            return 2 * math.sqrt(value + 5)
        case FigureKind.OF_A_DAY:
            return 2 * math.sqrt(value + 3 / 8)
        case FigureKind.SHARE:
            return value


def _by_chance(kind: FigureKind, middle: float, size: float) -> float:
    """Return the least spread of a figure, on its scale: what chance does to it, or a small part of it."""
    # On the scale of counts, 0.015 times the root is 1.5 % of the count, and 0.1 times the root is 10 % of it.
    match kind:
        case FigureKind.COUNT:
            return max(_PART, 0.015 * math.sqrt(middle))
        case FigureKind.OF_A_DAY:
            return max(1.0, 0.1 * math.sqrt(middle))
        case FigureKind.SHARE:
            # The standard error, which is not nothing where all or none of few products have something.
            smoothed = (middle * size + 1) / (size + 2)
            return max(_PART * math.sqrt(smoothed * (1 - smoothed) / max(size, 1)), _LEAST_SHARE)

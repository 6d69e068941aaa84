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
as one that begins a minute after it, and what is counted at noon is of two days and is compared with none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
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

    UNKNOWN = "unknown"
    USUAL = "usual"
    NEW = "new"
    LASTING = "lasting"
    OVER = "over"


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


class Judgement(NamedTuple):
    """What became of a figure at the last audit.

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
    """

    state: FigureState
    low: float = float("nan")
    high: float = float("nan")
    distance: float = 0.0
    since: int = -1
    audits: int = 0


class _Usual(NamedTuple):
    """What is usual: kind of figure, range, spread on its scale, and the number of audits."""

    kind: FigureKind
    low: float
    high: float
    spread: float
    audits: int

    def distance(self, value: float) -> float:
        low, high, at = (_on_scale(self.kind, one) for one in (self.low, self.high, value))
        return max(low - at, at - high, 0.0) / self.spread


def limit_of(figures: int) -> float:
    """Return how many spreads are too many, where so many figures are looked at.

    >>> [round(limit_of(figures), 2) for figures in (1, 30, 300)]
    [3.29, 4.15, 4.65]
    """
    return NormalDist().inv_cdf(1 - CHANCE / (2 * max(figures, 1)))


def judge_figures(series: Series, figures: int) -> list[Judgement]:
    """Say what a figure is at each audit, given what it was before.

    Parameters
    ----------
    series
        The figure over time.
    figures
        How many figures are looked at.

    Examples
    --------
    >>> values = [0.98, 0.97, 0.99, 0.98, 0.97, 0.12]
    >>> found = judge_figures(Series(FigureKind.SHARE, values, [200] * 6, range(6)), 300)[-1]
    >>> str(found.state), found.low, found.high
    ('new', 0.97, 0.99)
    """
    walk = _Walk(series, limit_of(figures))
    return [walk.step(place, value) for place, value in enumerate(series.values)]


def judge_last(series: Series, figures: int) -> Judgement:
    """Say what a figure is at the last audit; what hardly ever moved is usual, and needs no look at each audit."""
    known = [value for value in series.values if not math.isnan(value)]
    if series.kind is not FigureKind.OF_A_DAY and known:
        low, high = min(known), max(known)
        moved = _on_scale(series.kind, high) - _on_scale(series.kind, low)
        least = _PART if series.kind is FigureKind.COUNT else _LEAST_SHARE
        if moved <= limit_of(figures) * least:
            state = FigureState.USUAL if len(known) >= NEEDED else FigureState.UNKNOWN
            return Judgement(state, low, high, 0.0, len(series.values) - 1, len(known) - 1)
    return judge_figures(series, figures)[-1]


@dataclass
class _Walk:
    """What is known of a figure on the way from the oldest audit to the newest: what is usual, and what is not."""

    series: Series
    limit: float
    usual: list[int] = field(default_factory=list)
    incident: list[int] = field(default_factory=list)
    before: _Usual = field(default_factory=lambda: _Usual(FigureKind.COUNT, 0, 0, 1, 0))

    def step(self, place: int, value: float) -> Judgement:
        """Judge the next value."""
        if math.isnan(value):
            return Judgement(FigureState.UNKNOWN)
        if self.incident:
            return self._during_incident(place, value)
        if len(self.usual) + 1 < (_NEEDED_OF_DAYS if self.series.kind is FigureKind.OF_A_DAY else NEEDED):
            self.usual.append(place)
            return Judgement(FigureState.UNKNOWN)
        low, high = _range(self.series, self.usual, place)
        if low <= value <= high:  # as most are, and no spread is needed
            self.usual.append(place)
            return Judgement(FigureState.USUAL, low, high, 0.0, place, min(len(self.usual) - 1, WINDOW))
        self.before = _usual_of(self.series, self.usual, place)
        is_new = self.before.distance(value) > _enough(self.limit, self.before)
        (self.incident if is_new else self.usual).append(place)
        return self._judgement(FigureState.NEW if is_new else FigureState.USUAL, value, place)

    def _during_incident(self, place: int, value: float) -> Judgement:
        since = self.incident[0]
        if self.before.distance(value) <= _enough(self.limit, self.before):
            self.usual.append(place)
            self.incident = []
            return self._judgement(FigureState.OVER, value, since)
        if self._is_worse(place, value):  # than it already was, which is news again
            self.incident = [place]
            return self._judgement(FigureState.NEW, value, place)
        self.incident.append(place)
        if len(self.incident) >= LASTING:
            self.usual, self.incident = self.incident, []
        return self._judgement(FigureState.LASTING, value, since)

    def _is_worse(self, place: int, value: float) -> bool:
        last = self.series.values[self.incident[-1]]
        own = _usual_of(self.series, self.incident, place)
        is_other = own.distance(value) > _enough(self.limit, own)
        return is_other and self.before.distance(value) > self.before.distance(last)

    def _judgement(self, state: FigureState, value: float, since: int) -> Judgement:
        usual = self.before
        return Judgement(state, usual.low, usual.high, usual.distance(value), since, usual.audits)


def _enough(limit: float, usual: _Usual) -> float:
    """Return how many spreads are too many: more where the range is of few audits, and so is narrow by chance."""
    return limit * (1 + 2 / max(usual.audits, 1))


def _range(series: Series, usual: list[int], place: int) -> tuple[float, float]:
    """Return the least and the largest usual value.

    What is counted of a day is little if it is less than on the same days of other weeks, and much if it is more than
    on any day.
    """
    recent = [series.values[one] for one in usual[-WINDOW:]]
    same = _same_days(series, usual, place) if series.kind is FigureKind.OF_A_DAY else []
    return min(series.values[one] for one in same) if same else min(recent), max(recent)


def _same_days(series: Series, usual: list[int], place: int) -> list[int]:
    """Return the last audits at the same time of the week; none where there are too few of them."""
    weekdays = series.weekdays
    day = weekdays[place]
    # Sunday night is near Monday morning: what is nearly a week apart is of the same day as well.
    same = [
        one for one in usual[-2 * WINDOW :] if not _SAME_TIME < abs(weekdays[one] - day) % 7 < 7 - _SAME_TIME
    ][-_SAME_DAYS:]
    return same if len(same) >= _LEAST_SAME_DAYS else []


def judge_silence(series: Series, figures: int) -> Judgement:
    """Say whether what is counted of each day has stopped: one quiet day says little, several in a row say much.

    Parameters
    ----------
    series
        What is counted of each day.
    figures
        How many such figures are looked at.

    Returns
    -------
    Judgement
        `high` is how many are usual on the quiet days together, and `audits` how many these days are. So many missing
        by chance is as unlikely as for any other figure, with half as many again, since updates arrive in batches.

    Examples
    --------
    >>> quiet = [30, 28, 33, 25, 31, 2, 0] * 4 + [30, 0, 0]
    >>> days = [n % 7 for n in range(len(quiet))]
    >>> found = judge_silence(Series(FigureKind.OF_A_DAY, quiet, [0] * len(quiet), days), 300)
    >>> str(found.state), found.high, found.audits
    ('lasting', 61.0, 2)
    """
    values = series.values
    known = [place for place, value in enumerate(values) if not math.isnan(value)]
    begin = max((at + 1 for at, place in enumerate(known) if values[place] != 0), default=len(known))
    before, quiet = known[:begin], known[begin:]
    if not quiet or begin + 1 < _NEEDED_OF_DAYS:
        return Judgement(FigureState.USUAL)
    # On a weekday without history, no more is expected than on the quietest day.
    least = min(values[place] for place in before[-WINDOW:])
    expected = [
        median(values[one] for one in same) if (same := _same_days(series, before, place)) else least
        for place in quiet
    ]
    # Where n updates are expected, chance leaves out all of them with a probability of exp(-n) (Poisson).
    enough = 1.5 * math.log(max(figures, 1) / CHANCE)
    since = next((at for at in range(len(expected)) if sum(expected[: at + 1]) > enough), None)
    if since is None or len(expected) - since > LASTING:
        return Judgement(FigureState.USUAL)
    is_new = since == len(expected) - 1
    state = FigureState.NEW if is_new else FigureState.LASTING
    return Judgement(state, 0, sum(expected), sum(expected) / enough, quiet[0], len(expected))


def _usual_of(series: Series, usual: list[int], place: int) -> _Usual:
    """Return what is usual by some audits, for the value of another one."""
    places = usual[-WINDOW:]
    values = [series.values[one] for one in places]
    scaled = [_on_scale(series.kind, one) for one in values]
    steps = [abs(later - one) for one, later in pairwise(scaled)]
    by_steps = _SCALE * median(steps) if steps else 0.0
    size = min(series.sizes[place], median(series.sizes[one] for one in places))
    by_chance = _by_chance(series.kind, median(values), size)
    return _Usual(series.kind, *_range(series, usual, place), max(by_steps, by_chance), len(places))


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
            return max(_PART * _noise(middle, size), _LEAST_SHARE)


def _noise(share: float, size: float) -> float:
    """Return the standard error of a share, which is not nothing where all or none of few products have something."""
    smoothed = (share * size + 1) / (size + 2)
    return math.sqrt(smoothed * (1 - smoothed) / max(size, 1))

"""The measure of what is unusual: planted incidents are found, quiet nights are quiet, and news is news once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from prodex.quality.figures import Figures
from prodex.quality.unusual import LASTING, NEEDED, FigureKind, Series, judge
from prodex.quality.watch import watched
from tests.cases import each_row
from tests.quality.nights import INCIDENTS, every_day_at, nights

#: Figures that are looked at together in these tests.
FIGURES = 300

#: Nights until an incident is seen: at once, but that updates have stopped cannot be known on the first quiet day.
DELAY = {"updates stop": 4}


def series(kind: FigureKind, values: Sequence[float], size: float = 500) -> Series:
    """Return a figure of nights that follow each other."""
    return Series(kind, values, [size] * len(values), [night % 7 for night in range(len(values))])


def states(kind: FigureKind, values: Sequence[float], size: float = 500) -> list[str]:
    """Return what a figure is at each night."""
    nights = range(1, len(values) + 1)
    return [str(judge(series(kind, values[:night], size), FIGURES, FIGURES).state) for night in nights]


@pytest.mark.slow
@each_row("incident", INCIDENTS)
def test_a_planted_incident_is_found(incident: str) -> None:
    """After weeks of a catalogue's life, at the first night; and the night before nothing was unusual."""
    day = 45
    history = list(nights(day + DELAY.get(incident, 1), seed=1, incidents={day: INCIDENTS[incident]}))

    assert not watched("shop", history[:day], None).is_unusual
    assert watched("shop", history, None).is_unusual


@pytest.mark.slow
def test_quiet_nights_are_quiet() -> None:
    """At most one false alarm in a hundred nights, all figures together; `make soak` has years of them."""
    alarms = [
        (seed, night, watched("shop", history[:night], None).sentences[0])
        for seed in (20, 21)
        for history in [list(nights(80, seed))]
        for night in range(NEEDED, 81, 3)
        if watched("shop", history[:night], None).is_unusual
    ]

    assert [] == alarms


def night_of(
    zone: str, hour: int, minute: int, begin: str, count: int, jitter: bool = False
) -> list[Figures]:
    """Return nights of a shop that does nothing on Saturdays and Sundays, by the clock on its wall."""
    # Up to eight minutes early or late, as a job is that waits for others, or a service whose clock differs.
    late = (lambda number: number * 37 % 17 - 8) if jitter else None
    clock = every_day_at(hour, minute, zone, datetime.fromisoformat(begin), late)
    return list(nights(count, seed=1, products=1200, clock=clock, quiet=0))


def alarms(history: list[Figures], zone: str, *among: range) -> list[str]:
    """Return every first sentence of a night with news, among some nights."""
    found = (watched("shop", history[:night], None, ZoneInfo(zone)) for nights in among for night in nights)
    return [f"{one.moment} {one.sentences[0]}" for one in found if one.is_unusual]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("zone", "hour", "minute", "begin", "jitter"),
    [
        ("Europe/London", 0, 30, "2026-08-05", False),  # Sunday by UTC in summer, Monday in winter
        ("Europe/London", 0, 30, "2026-01-07", False),  # and the other way round
        ("Europe/London", 0, 0, "2026-08-05", True),  # now before midnight, now after it
        ("Australia/Sydney", 12, 0, "2026-07-15", True),
        ("America/St_Johns", 1, 30, "2026-08-12", False),  # an hour that is there twice
        ("Pacific/Kiritimati", 0, 10, "2026-08-05", True),
    ],
)
def test_days_are_those_of_the_shop(zone: str, hour: int, minute: int, begin: str, jitter: bool) -> None:
    """Quiet Sundays stay quiet when the clocks change, and wherever midnight is; weeks after it as well."""
    history = night_of(zone, hour, minute, begin, 112, jitter)

    # The clocks change in the 82nd night: around it, the Sunday after it, and a month later.
    assert [] == alarms(history, zone, range(76, 91), range(106, 113))


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["2026-08-05", "2026-01-07"])
def test_updates_that_stop_are_seen_after_the_clocks_have_changed(begin: str) -> None:
    """They are not missed for the sake of quiet: on the second working day without any, at the latest."""
    clock = every_day_at(0, 30, "Europe/London", datetime.fromisoformat(begin))
    stop = {93: INCIDENTS["updates stop"]}
    history = list(nights(96, seed=1, incidents=stop, products=1200, clock=clock, quiet=0))

    assert not watched("shop", history[:93], None, ZoneInfo("Europe/London")).is_unusual
    assert alarms(history, "Europe/London", range(94, 97))


def moved(figures: Figures, hours: float) -> Figures:
    """Return the same figures of another audit, some hours later."""
    moment = figures.moment + timedelta(hours=hours)
    return replace(figures, moment=moment, audited_at=moment, snapshot=moment.isoformat())


@pytest.mark.slow
@pytest.mark.parametrize(("hours", "every"), [(1.2, 3), (-1.0, 5), (15.0, 4)])
def test_two_audits_of_one_day_count_once(hours: float, every: int) -> None:
    """A job that somebody has run by hand once more, an hour later, the evening before, or in the afternoon."""
    history = night_of("Europe/London", 0, 30, "2026-08-05", 100)
    again = [moved(one, hours) for one in history[::every]]
    both = sorted([*history, *again], key=lambda one: one.moment)

    assert [] == alarms(both, "Europe/London", range(len(both) - 30, len(both) + 1))


def test_what_stays_is_lasting_and_then_usual() -> None:
    """News on the first day, lasting for the days after, usual after a week; and not news when it goes on so."""
    found = states(FigureKind.SHARE, [0.98, 0.97, 0.98, 0.97, 0.98, 0.97, *[0.12] * 12])

    assert ["new", *["lasting"] * (LASTING - 1)] == found[6 : 6 + LASTING]
    assert {"usual"} == set(found[6 + LASTING + NEEDED - 5 :])


def test_what_comes_back_is_over() -> None:
    """Once, and it is usual afterwards; the odd nights did not become part of what is usual."""
    values = [0.98, 0.97, 0.98, 0.97, 0.98, 0.12, 0.12, 0.98, 0.97, 0.12]

    assert ["new", "lasting", "over", "usual", "new"] == states(FigureKind.SHARE, values)[5:]


def test_worse_than_before_is_news_again() -> None:
    """A supplier that has lost half of its pictures and then all of them is in the news twice."""
    values = [0.98, 0.97, 0.98, 0.97, 0.98, 0.5, 0.5, 0.0]

    assert ["new", "lasting", "new"] == states(FigureKind.SHARE, values)[5:]


def test_nothing_is_said_of_few_audits() -> None:
    """Under five; nights of which nothing is known are none."""
    values = [1000.0, math.nan, 1000.0, 1000.0, 1000.0, 10.0]

    assert ["unknown"] * (NEEDED - 1) == states(FigureKind.COUNT, [1000.0, 1000.0, 1000.0, 10.0])
    assert ["unknown"] * 5 + ["new"] == states(FigureKind.COUNT, values)


@each_row(
    ("kind", "usual", "now", "size"),
    [
        (FigureKind.COUNT, 1_000_000, 970_000, 0),
        (FigureKind.COUNT, 5, 0, 0),
        (FigureKind.COUNT, 0, 5, 0),
        (FigureKind.SHARE, 0.9999, 0.985, 1_000_000),
        (FigureKind.SHARE, 1.0, 0.9, 10),
    ],
)
def test_little_is_no_news(kind: FigureKind, usual: float, now: float, size: float) -> None:
    """A small part of a large count, a few products, a point of a share, one product of a small supplier."""
    assert "usual" == states(kind, [usual] * 20 + [now], size)[-1]


def test_sundays_are_compared_with_sundays() -> None:
    """Nothing on a Sunday is usual, nothing on a Wednesday is not; what is much is more than on any day."""
    week = [100.0, 110.0, 95.0, 105.0, 90.0, 8.0, 0.0]
    quiet_wednesday = [*week * 6, 100.0, 110.0, 0.0]
    flood = [*week * 6, *week[:6], 400.0]

    assert {"unknown", "usual"} == set(states(FigureKind.OF_A_DAY, week * 6))
    assert "new" == states(FigureKind.OF_A_DAY, quiet_wednesday)[-1]
    assert "new" == states(FigureKind.OF_A_DAY, flood)[-1]


def test_a_night_at_the_end_of_the_week_is_of_the_same_day_as_one_at_its_begin() -> None:
    """Of a job that runs a minute before or after midnight, a night without updates is news if no other had none."""
    weeks, week = 8, [100.0, 110.0, 0.0, 105.0, 90.0, 95.0, 100.0]
    days = [day for number in range(weeks) for day in (1, 2, 3, 4, 5, 6, (6.99, 0.01)[number % 2])]
    values = [*week * (weeks - 1), *week[:-1], 0.0]

    found = judge(Series(FigureKind.OF_A_DAY, values, [0.0] * len(values), days), FIGURES, FIGURES)

    assert "new" == str(found.state)


def test_updates_that_stop_are_seen_in_a_small_catalogue_too() -> None:
    """After as many quiet days as cannot be chance; the weekend between does not count."""
    week = [8.0, 9.0, 7.0, 6.0, 5.0, 1.0, 0.0]

    found = [
        str(judge(series(FigureKind.OF_A_DAY, [*week * 5, *[0.0] * quiet]), FIGURES, FIGURES).state)
        for quiet in range(7)
    ]

    assert ["usual", "usual", "usual", "new", "lasting"] == found[:5]


def test_a_slow_change_is_no_news() -> None:
    """A share that falls a little every night is usual; the report's grades over time show it."""
    assert {"unknown", "usual"} == set(states(FigureKind.SHARE, [0.9 - 0.004 * night for night in range(60)]))

"""How much a supplier does on a day: the days of the week, and suppliers that differ."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from math import exp, log
from random import Random
from typing import Final

from prodex_sandbox.sample.defects.planting import carelessness

#: Activity from Monday to Sunday, as a share of an average working day.
_WEEK: Final = (1.2, 1.1, 1.0, 1.0, 0.7, 0.1, 0.05)
#: Above this expectation the normal distribution is used, since exp(-expected) becomes too small a number.
_MANY: Final = 30.0


def days_after(newest: date, count: int) -> Iterator[date]:
    """Yield the days that follow one.

    >>> [day.isoformat() for day in days_after(date(2026, 10, 31), 2)]
    ['2026-11-01', '2026-11-02']
    """
    return (newest + timedelta(days=number) for number in range(1, count + 1))


def activity(supplier: str, day: date) -> float:
    """Return how much a supplier does on a day, as a multiple of an average supplier's working day.

    Suppliers differ by a factor of up to nine, each always in the same direction.
    """
    return _WEEK[day.weekday()] * exp(log(3.0) * Random(f"activity/{supplier}").uniform(-1.0, 1.0))


def care(supplier: str) -> float:
    """Return how many corrections a supplier makes, as a multiple of the average one's.

    >>> care("Laiterie des Trois Combes"), care("Fernley Naturals Inc")
    (2.0, 1.0)
    """
    return 2.0 if carelessness(supplier) < 1.0 else 1.0


def how_many(rng: Random, expected: float) -> int:
    """Draw how often something happens that is expected so often (Poisson).

    >>> how_many(Random(1), 0.0)
    0
    """
    if expected > _MANY:
        return max(0, round(rng.gauss(expected, expected**0.5)))
    count, product, limit = 0, rng.random(), exp(-expected)
    while product > limit:
        count += 1
        product *= rng.random()
    return count

"""Dates of the sample: the moment at which it was taken, and the distribution of times in the years before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

#: The moment at which the sample was taken. Local time without zone, as all dates of the service.
AS_OF = datetime(2026, 11, 1, 6, 0, 0)  # noqa: DTZ001
#: A product untouched for longer is stale; clean ones were updated later than that before AS_OF.
STALE_AFTER = timedelta(days=730)

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
_DAY = 86_400
_NOW = int((AS_OF - _EPOCH).total_seconds())


def iso(seconds: int) -> str:
    """Return UNIX seconds as the service writes them.

    >>> iso(1_700_000_000)
    '2023-11-14T22:13:20'
    """
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()


@dataclass(frozen=True, slots=True)
class Dates:
    """Times of one product, in UNIX seconds."""

    created: int
    pictures: int
    updated: int


def draw_dates(rng: Random) -> Dates:
    """Draw creation within three years, updates within two, most of them recent.

    Seven of ten products were updated by one of 240 imports, so many share the very second.
    """
    chance = rng.random()
    # Squared, so that most updates are recent.
    past = chance * chance * 700
    if rng.random() < 0.7:
        # An import dates all of its products alike; loaders that page by date have to cope with that.
        past = int(past / 700 * 240) * 700 / 240
    updated = _NOW - 3_600 - int(past * _DAY)
    # At most three years before the sample, and never after the update.
    created = updated - int(rng.random() * (1_090 * _DAY - (_NOW - updated)))
    pictures = max(created, updated - int(rng.random() * 20 * _DAY))
    return Dates(created, pictures, updated)


def draw_stale_dates(rng: Random) -> Dates:
    """Draw dates of a product that was not updated for more than two years (and less than three)."""
    updated = _NOW - int(rng.uniform(740, 1_050) * _DAY)
    created = updated - int(rng.uniform(1, 40) * _DAY)
    return Dates(created, created + (updated - created) // 2, updated)


def days_from_now(days: float) -> int:
    """Return UNIX seconds so many days after AS_OF (before it, when negative)."""
    return _NOW + int(days * _DAY)

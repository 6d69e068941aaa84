"""Bins of a histogram with round edges: numbers in steps of 1, 2 or 5, dates by years, months, days or hours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

#: Numbers, or dates without a zone.
Values: TypeAlias = npt.NDArray[Any]

#: A histogram has no more bins than this.
MOST = 24
#: Units of dates from small to large, as numpy names them, and how many of each may make a step.
_STEPS = {
    "s": (1, 5, 15, 30),
    "m": (1, 5, 15, 30),
    "h": (1, 3, 6, 12),
    "D": (1, 2, 5, 10),
    "M": (1, 3, 6),
    "Y": (1, 2, 5, 10, 20, 50, 100, 200, 500, 10_000, 100_000),
}
#: Steps of numbers are no smaller than this power of ten.
_SMALLEST = -300
#: What Python can say of a date.
_FIRST, _LAST = np.datetime64("0001-01-01T00:00:00.000000"), np.datetime64("9999-12-31T23:59:59.999999")
#: Where a few values lie this many times as far apart as all others, they get the first and the last bin.
_FAR = 4


def edges_of(values: Values) -> Values:
    """Return the edges of at most `MOST` bins for values: each bin begins at an edge and ends before the next.

    The last one ends with its edge, since there is no date above the last that Python can say.
    The values of the lowest and of the highest hundredth are put into one bin each where they lie so far off that all
    others would be in a few bins.

    Parameters
    ----------
    values
        Whole numbers (as in the tables: of less than 54 bits), other numbers or dates without a zone; none is missing.

    Examples
    --------
    >>> edges_of(np.array([3, 7, 41])).tolist()
    [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42]
    >>> edges_of(np.array(["2026-01-05", "2026-11-23"], "M8[us]")).astype("M8[M]").tolist()[0]
    datetime.date(2026, 1, 1)
    """
    if not len(values):
        return values
    few = len(values) // 100
    least, low, high, greatest = np.partition(values, (0, few, -1 - few, -1))[[0, few, -1 - few, -1]]
    if _span(least, greatest) <= _FAR * _span(low, high) or low == high:
        return _round_edges(least, greatest, MOST)
    edges = _round_edges(low, high, MOST - 2)
    below = [least] if least < edges[0] else []
    above = [_next(greatest)] if greatest >= edges[-1] else []
    return np.concatenate([np.array(below, edges.dtype), edges, np.array(above, edges.dtype)])


def _span(least: Any, greatest: Any) -> float:
    if isinstance(least, np.datetime64):
        least, greatest = least.astype(np.int64), greatest.astype(np.int64)
    return float(greatest) - float(least)


def _round_edges(least: Any, greatest: Any, most: int) -> Values:
    """Return round edges of which the first is not above the least value, and the last above the greatest."""
    if isinstance(least, np.datetime64):
        steps = _date_edges(least, greatest)
    elif isinstance(least, np.integer):
        steps = _whole_edges(int(least), int(greatest))
    else:
        steps = _number_edges(float(least), float(greatest))
    return next(edges for edges in steps if len(edges) - 1 <= most)


def _whole_edges(least: int, greatest: int) -> Iterator[Values]:
    """Yield edges in ever larger steps."""
    for power in count():
        for step in (one * 10**power for one in (1, 2, 5)):
            first, last = least // step, greatest // step
            if last - first < MOST:
                yield np.arange(first, last + 2) * step


def _number_edges(least: float, greatest: float) -> Iterator[Values]:
    """Yield edges in ever larger steps."""
    # From steps of which there are too many: so many digits more than those that tell the values apart.
    start = max(math.floor(math.log10(greatest - least or abs(least) or 1)) - 2, _SMALLEST)
    for power in count(start):
        for factor in (1, 2, 5):
            # Divided by a power of ten a decimal fraction is the nearest there is; multiplied by a fraction it is not.
            step = factor * 10.0**power if power >= 0 else factor / 10.0**-power
            first, last = math.floor(least / step), math.floor(greatest / step)
            if last - first < MOST:
                edges = np.arange(first, last + 2) * step
                edges[0], edges[-1] = min(edges[0], least), max(edges[-1], math.nextafter(greatest, math.inf))
                yield edges


def _date_edges(least: Any, greatest: Any) -> Iterator[Values]:
    """Yield edges in ever larger steps."""
    for unit, factors in _STEPS.items():
        first, last = (int(one.astype(f"M8[{unit}]").astype(np.int64)) for one in (least, greatest))
        for factor in factors:
            if last // factor - first // factor < MOST:
                edges = np.arange(first // factor, last // factor + 2) * factor
                yield np.clip(edges.astype(f"M8[{unit}]").astype("M8[us]"), _FIRST, _LAST)


def _next(value: Any) -> Any:
    """Return the smallest value that is larger."""
    return np.nextafter(value, np.inf) if isinstance(value, np.floating) else value + 1


def before(edge: Any) -> float | datetime:
    """Return the largest value that is smaller than an edge, as a limit of a range.

    There is no edge above the last date that Python can say, so that one is returned as it is.

    >>> before(np.int64(10)), before(np.datetime64("2026-01-01T00:00:00.000000"))
    (9, datetime.datetime(2025, 12, 31, 23, 59, 59, 999999))
    """
    if isinstance(edge, np.datetime64) and edge == _LAST:
        return plain(edge)
    smaller = np.nextafter(edge, -np.inf) if isinstance(edge, np.floating) else edge - 1
    return plain(smaller)


def plain(value: Any) -> float | datetime:
    """Return a number or a date as Python has it."""
    found: float | datetime = value.item()
    return found

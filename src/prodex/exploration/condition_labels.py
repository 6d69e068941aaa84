"""Conditions in words: a label for each, as chips and headlines show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, time

from prodex.exploration.conditions import Code, Conditions, Range
from prodex.exploration.facet_values import FacetValues
from prodex.exploration.table_page import cut, title
from prodex.messages import percent

#: Characters of a value that a label shows.
_LONGEST = 60


def labels(conditions: Conditions, values: Mapping[str, FacetValues]) -> Iterator[tuple[str, Conditions]]:
    """Yield a label for each condition, with the conditions that are left without it.

    Parameters
    ----------
    conditions
        The conditions.
    values
        The facets of the catalogue.
    """
    for name, codes in conditions.facets.items():
        for code in codes:
            yield _value_label(name, code, values), conditions.toggled(name, code)
    for name, codes in conditions.excluded.items():
        for code in codes:
            yield f"not {_value_label(name, code, values)}", conditions.excluding(name, code)
    for column, limits in conditions.ranges.items():
        yield f"{title(column).lower()}: {range_words(limits, column)}", conditions.within(column, Range())
    if conditions.words:
        yield f"words: {_isolated(conditions.words)}", conditions.searching("")
    for failing in conditions.failing:
        left = conditions.failing_any(failing.title, failing.checks)
        yield f"fails: {_isolated(failing.title)}", left
    for products in conditions.listed:
        yield f"list: {_isolated(products.title)}", conditions.listing(products)


def _value_label(name: str, code: Code, values: Mapping[str, FacetValues]) -> str:
    # A facet of an audit has no values where there is no audit, and its condition can be removed nevertheless.
    if name not in values:
        return f"{cut(name, _LONGEST)}: {_isolated('none' if code is None else code)}"
    facet = values[name]
    return f"{facet.facet.title.lower()}: {_isolated(facet.label(code))}"


def range_words(limits: Range, column: str = "") -> str:
    """Return a range in words; with its column, as the table shows the values.

    >>> range_words(Range(3, None)), range_words(Range(None, 7.5)), range_words(Range(1, 2)), range_words(Range(4, 4))
    ('from 3', 'up to 7.5', '1 to 2', '4')
    >>> range_words(Range(0.5, None), "score")
    'from 50.0 %'
    >>> range_words(Range(datetime(2026, 1, 1), datetime(2026, 1, 31, 23, 59, 59, 999999)))
    '2026-01-01 to 2026-01-31'
    """
    least = None if limits.least is None else _limit_label(limits.least, column, whole_day=time.min)
    greatest = None if limits.greatest is None else _limit_label(limits.greatest, column, whole_day=time.max)
    if least is None:
        return f"up to {greatest}"
    if greatest is None:
        return f"from {least}"
    return least if least == greatest else f"{least} to {greatest}"


def _limit_label(value: float | datetime, column: str, *, whole_day: time) -> str:
    """Return a limit in words; a date alone where it is where the day begins or ends."""
    if isinstance(value, datetime):
        is_day = (value.hour, value.minute) == (whole_day.hour, whole_day.minute)
        return f"{value:%Y-%m-%d}" if is_day else f"{value:%Y-%m-%d %H:%M}"
    return percent(min(value, 1)) if column == "score" else f"{value:,.15g}"


def _isolated(text: str) -> str:
    """Return text between marks that isolate its direction: a label of a button cannot hold a <bdi>."""
    return f"\u2068{cut(text, _LONGEST)}\u2069"

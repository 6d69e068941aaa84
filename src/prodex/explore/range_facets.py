"""Facets of dates and numbers: two limits to type, and a histogram whose bars select a range."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time
from typing import Any

from prodex.errors import InputError
from prodex.explore.condition_labels import range_words
from prodex.explore.conditions import Conditions, Range
from prodex.explore.facets import FilterResult
from prodex.explore.product_columns import ProductColumns
from prodex.explore.ranges import Histogram, Histograms, measure_of
from prodex.messages import counted

_RANGE = "range:"


def range_facet(column: str) -> str:
    """Return the name of the facet of a column of dates or numbers.

    >>> range_facet("updated_at"), column_of(range_facet("updated_at")), column_of("brand")
    ('range:updated_at', 'updated_at', None)
    """
    return _RANGE + column


def column_of(facet: str) -> str | None:
    """Return the column of such a facet; None for any other facet."""
    return facet.removeprefix(_RANGE) if facet.startswith(_RANGE) else None


class RangeFacets:
    """The facets of the dates and numbers of a catalogue.

    Parameters
    ----------
    products
        The products.

    Examples
    --------
    >>> import prodex
    >>> products = ProductColumns(prodex.flatten([{"id": n, "lifeCycle": n} for n in (1, 2, 9)]))
    >>> facets = RangeFacets(products)
    >>> facets.typed("life_cycle", Range(), "least", "2")
    Range(least=2.0, greatest=None)
    """

    def __init__(self, products: ProductColumns) -> None:
        self._histograms = Histograms(products)
        self._shown: dict[str, Histogram] = {}

    def shown(self, column: str, conditions: Conditions, left: FilterResult) -> dict[str, Any]:
        """Return the facet of a column as the list of facets is given it; its bars ignore its own range.

        Parameters
        ----------
        column
            The column.
        conditions
            What is selected.
        left
            The products that meet the conditions.
        """
        limits = conditions.ranges.get(column, Range())
        found = self._histograms.of(column, left.without(column))
        self._shown[column] = found
        inside = [bool(limits) and _overlap(found.range(n, n), limits) for n in range(len(found.counts))]
        return {
            "range": {
                "kind": measure_of(column),
                "least": _field(limits.least),
                "greatest": _field(limits.greatest),
            },
            "bins": [
                {"label": range_words(found.range(place, place)), "count": count, "inside": inside[place]}
                for place, count in enumerate(found.counts)
            ],
            "note": _note(found, limits),
        }

    def pressed(self, column: str, limits: Range, first: int, last: int) -> Range:
        """Return the range of some bars; what is selected alone already is no longer so."""
        chosen = self._shown[column].range(int(first), int(last))
        return Range() if chosen == limits else chosen

    def typed(self, column: str, limits: Range, side: str, text: str) -> Range:
        """Return a range with one limit as it was typed; without a text it is open on that side.

        Raises
        ------
        InputError
            When it is no number or no date.
        """
        limit = _read(column, text.strip(), is_end=side == "greatest") if text.strip() else None
        return Range(limit, limits.greatest) if side == "least" else Range(limits.least, limit)


def _read(column: str, text: str, *, is_end: bool) -> float | datetime:
    is_date = measure_of(column) == "date"
    # The last day of a range belongs to it as a whole.
    found = _date(text, time.max if is_end else time.min) if is_date else _number(text)
    if found is None:
        raise InputError(f"{text!r:.60} is no {'date, such as 2026-11-23' if is_date else 'number'}.")
    return found


def _date(text: str, at: time) -> datetime | None:
    try:
        return datetime.combine(date.fromisoformat(text), at)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _field(limit: float | datetime | None) -> str:
    if limit is None:
        return ""
    return f"{_utc(limit):%Y-%m-%d}" if isinstance(limit, datetime) else f"{limit:.15g}"


def _overlap(one: Range, other: Range) -> bool:
    return _reaches(one.greatest, other.least) and _reaches(other.greatest, one.least)


def _reaches(greatest: float | datetime | None, least: float | datetime | None) -> bool:
    return greatest is None or least is None or _utc(greatest) >= _utc(least)


def _utc(limit: Any) -> Any:
    """Return a date without a zone, in UTC, as dates of products are; a number as it is."""
    is_aware = isinstance(limit, datetime) and limit.tzinfo is not None
    return limit.astimezone(UTC).replace(tzinfo=None) if is_aware else limit


def _note(found: Histogram, limits: Range) -> str:
    if not found.is_asked:
        return "not requested"
    if not _reaches(limits.greatest, limits.least):
        return "“from” is above “to”, so that no product fits"
    return f"{counted(found.without, 'product')} without a value" if found.without else ""

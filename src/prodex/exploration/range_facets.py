"""Facets of dates and numbers: two limits to type, and a histogram whose bars select a range.

Beside them, the offers: which columns somebody can add to the facets of an explorer, by words in their titles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, time
from functools import cached_property
from typing import Any

import numpy as np

from prodex.catalog import Catalog
from prodex.catalog.names import AttributeNames
from prodex.exploration.facets import attribute_words, fill_facet
from prodex.exploration.filled import USUAL
from prodex.exploration.product_columns import quantity_names
from prodex.exploration.ranges import Histogram, in_utc, measure_of, overlap, reaches
from prodex.exploration.search import contains
from prodex.exploration.table_page import title
from prodex.languages.labels import attribute_label
from prodex.phrases import counted
from prodex.selection import Range
from prodex.selection.sentences import range_words
from prodex.tables.attributes import is_within
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import FillState
from prodex.written_dates import written_day
from prodex.written_numbers import typed_number, written_number

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


def bins_of(
    found: Histogram, limits: Range, said: Callable[[Range], str] = range_words
) -> list[dict[str, Any]]:
    """Return the bars of a histogram as pages draw them: of each what it is called, its count and its limits.

    Parameters
    ----------
    found
        The histogram.
    limits
        The range that is selected: which bars are inside.
    said
        Returns what the range of a bar is called.
    """
    own = [found.range(place, place) for place in range(len(found.counts))]
    return [
        {
            "label": said(one),
            "count": count,
            "inside": bool(limits) and overlap(one, limits),
            "least": _plain_limit(one.least),
            "greatest": _plain_limit(one.greatest),
        }
        for one, count in zip(own, found.counts, strict=True)
    ]


def shown_range(found: Histogram, column: str, limits: Range) -> dict[str, Any]:
    """Return the facet of a column of dates or numbers as the list of facets is given it.

    Parameters
    ----------
    found
        Its histogram, of the products that meet all conditions but its own range.
    column
        The column.
    limits
        The range that is selected.
    """
    return {
        "range": {
            "kind": measure_of(column),
            "least": _limit_text(limits.least),
            "greatest": _limit_text(limits.greatest),
        },
        "bins": bins_of(found, limits),
        "note": _range_note(found, limits),
    }


def typed_range(column: str, limits: Range, side: str, text: str) -> Range:
    """Return a range with one limit as it was typed; without a text it is open on that side.

    Raises
    ------
    InputError
        When it is no number or no date, or may be two.

    Examples
    --------
    >>> typed_range("life_cycle", Range(), "least", "2")
    Range(least=2.0, greatest=None)
    """
    limit = _read_limit(column, text.strip(), is_end=side == "greatest") if text.strip() else None
    return Range(limit, limits.greatest) if side == "least" else Range(limits.least, limit)


def _read_limit(column: str, text: str, *, is_end: bool) -> float | datetime:
    if measure_of(column) != "date":
        return float(written_number(text))
    # The last day of a range belongs to it as a whole.
    return datetime.combine(written_day(text), time.max if is_end else time.min)


def _plain_limit(limit: float | datetime | None) -> float | str | None:
    return limit.isoformat() if isinstance(limit, datetime) else limit


def _limit_text(limit: float | datetime | None) -> str:
    if limit is None:
        return ""
    return f"{in_utc(limit):%Y-%m-%d}" if isinstance(limit, datetime) else typed_number(limit)


def _range_note(found: Histogram, limits: Range) -> str:
    if not found.is_asked:
        return FillState.NOT_ASKED
    if not reaches(limits.greatest, limits.least):
        return "“from” is above “to”, so that no product fits"
    return f"{counted(found.without, 'product')} without a value" if found.without else ""


#: Offers that are listed at most.
_LISTED = 10
_KINDS = {"date": "dates", "number": "numbers"}


@dataclass(frozen=True)
class Offer:
    """A facet that can be added.

    Attributes
    ----------
    facet
        Its name.
    label
        What people call it.
    detail
        The wire path of an attribute; the column of dates or numbers, in brackets with its unit.
    """

    facet: str
    label: str
    detail: str


class FacetOffers:
    """The facets that can be added for a catalogue. The names of all its attributes are read when they are needed.

    Parameters
    ----------
    catalog
        The catalogue.

    Attributes
    ----------
    catalog
        The catalogue.

    Examples
    --------
    >>> import prodex
    >>> offers = FacetOffers(prodex.flatten([{"id": 7, "nameLegal": []}]))
    >>> offers.find("legal", "fr")[0]
    Offer(facet='fill:nameLegal:fr', label='legal name in French', detail='nameLegal')
    >>> offers.named("nameLegal")
    'fill:nameLegal'
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._names = AttributeNames(catalog)

    @property
    def is_read(self) -> bool:
        """Whether the names of all attributes were read."""
        return "_known" in vars(self)

    def read(self, _: object = None) -> None:
        """Read the names of all attributes; may be called in a thread of its own."""
        self._known  # noqa: B018 - reading is what is asked for

    def find(self, typed: str, language: str | None = None) -> list[Offer]:
        """Return the facets whose attribute has what was typed in its wire path or its plain name, the likeliest first.

        Parameters
        ----------
        typed
            What was typed; any part of a name.
        language
            Language of the texts, for attributes that hold texts.
        """
        found = [self._known[place] for place in np.flatnonzero(contains(self._texts, typed)).tolist()]
        start = typed.strip().casefold()

        def rank(one: tuple[str, str, str]) -> tuple[bool, bool, int, str]:
            _, path, label = one
            begins = path.casefold().startswith(start) or label.casefold().startswith(start)
            return (path not in USUAL, not begins, path.count("."), path)

        return [self._offer(*one, language) for one in sorted(found, key=rank)[:_LISTED]]

    def named(self, typed: str, language: str | None = None) -> str:
        """Return the facet of an attribute by its wire path, or else the likeliest one for what was typed.

        Raises
        ------
        QueryError
            When there is nothing of this name; the message names the nearest.
        """
        typed = typed.strip()
        kinds = {path: kind for kind, path, _ in self._known}
        if typed not in kinds and (found := self.find(typed, language)):
            return found[0].facet
        if kinds.get(typed):
            return range_facet(typed)
        return self._state(self._names.attribute(typed), language)

    @cached_property
    def _known(self) -> list[tuple[str, str, str]]:
        """Kind, path and label of everything: the kind of an attribute is empty."""
        return [*self._columns(), *(("", path, attribute_label(path)) for path in self._names.every)]

    @cached_property
    def _texts(self) -> list[str]:
        return [f"{label} {path}" for _, path, label in self._known]

    def _columns(self) -> Iterator[tuple[str, str, str]]:
        for column in (*TABLES["products"].schema.names, *quantity_names(self.catalog)):
            if measure_of(column):
                yield _KINDS[measure_of(column)], column, title(column)

    def _offer(self, kind: str, path: str, label: str, language: str | None) -> Offer:
        if kind:
            return Offer(range_facet(path), label, f"{path}, {kind}")
        return Offer(self._state(path, language), attribute_words(path, self._spoken(path, language)), path)

    def _state(self, attribute: str, language: str | None) -> str:
        spoken = self._spoken(attribute, language)
        return fill_facet(attribute, spoken)

    def _spoken(self, attribute: str, language: str | None) -> str | None:
        """Return the language where an attribute holds texts, also further below."""
        is_text = language is not None and any(is_within(one, attribute) for one in self._names.texts)
        return language if is_text else None

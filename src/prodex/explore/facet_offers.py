"""What can be added to the facets of a catalogue: the state of any attribute, and ranges of dates and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prodex.catalog import Catalog
from prodex.catalog.names import AttributeNames
from prodex.explore.facets import attribute_words, fill_facet
from prodex.explore.filled import USUAL
from prodex.explore.product_columns import quantity_names
from prodex.explore.range_facets import range_facet
from prodex.explore.ranges import measure_of
from prodex.explore.search import contains
from prodex.explore.table_page import title
from prodex.quality.problems import attribute_label
from prodex.tables.attributes import within
from prodex.tables.declaration import TABLES

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

    def read(self) -> FacetOffers:
        """Read the names of all attributes; may be called in a thread of its own."""
        self._known  # noqa: B018 - reading is what is asked for
        return self

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
        is_text = language is not None and any(within(one, attribute) for one in self._names.texts)
        return language if is_text else None

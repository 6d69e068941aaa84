"""Facets of attributes: in which state one of them is (`fill:...`), and which of the usual ones a product lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prodex.catalog import Catalog
from prodex.facts.fill import FILL_STATES, fill_states
from prodex.locales import language_label
from prodex.notebook.conditions import Conditions
from prodex.notebook.coverage.filled import USUAL, CellState, FilledColumns
from prodex.notebook.products.facet_values import Facet, FacetValues
from prodex.notebook.products.memberships import MaskEach, OneValueEach
from prodex.quality.problems import attribute_label

#: What the usual attributes are that products lack: the code of a value is a wire path, and behind a colon a language.
MISSING = Facet("missing", "Missing")

_FILL = "fill:"
#: States of attributes that are kept; each takes two megabytes of a million products.
_KEPT = 16


class AttributeFacets:
    """The facets of the attributes of a catalogue; each is read when it is first asked for.

    Parameters
    ----------
    catalog
        The catalogue.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> facets = AttributeFacets(prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8, "nameLegal": None}]))
    >>> facets["fill:nameLegal:fr"].codes
    ('filled', 'null')
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._states: dict[str, FacetValues] = {}
        self._filled = FilledColumns.of(catalog)
        # Language in which texts are lacked, and codes of other languages that are selected or excluded.
        self._asked: tuple[str | None, tuple[str, ...]] = (None, ())
        self._missing: FacetValues | None = None

    def look_at(self, conditions: Conditions) -> None:
        """Show what products lack in the one language that is selected, or in any."""
        spoken = conditions.facets.get("language", ())
        language = spoken[0] if len(spoken) == 1 else None
        codes = (
            *conditions.facets.get(MISSING.name, ()),
            *conditions.excluded.get(MISSING.name, ()),
        )
        asked = (language, tuple(code for code in codes if code is not None))
        if asked != self._asked:
            self._asked, self._missing = asked, None

    def __contains__(self, name: object) -> bool:
        return name == MISSING.name or (isinstance(name, str) and name.startswith(_FILL))

    def __getitem__(self, name: str) -> FacetValues:
        if name == MISSING.name:
            if self._missing is None:
                self._missing = self._lacked()
            return self._missing
        if name not in self._states:
            self._states[name] = _states(self._catalog, name)
            if len(self._states) > _KEPT:
                del self._states[next(iter(self._states))]
        return self._states[name]

    def _lacked(self) -> FacetValues:
        """Return which products lack which attributes; of what was not asked for nobody knows whether it is there."""
        language, others = self._asked
        self._filled = self._filled.with_attributes([*USUAL, *(_split(code)[0] for code in others)])
        codes = dict.fromkeys([*self._usual(language), *others])
        masks = [~self._filled.mask(*_split(code)) for code in codes]
        there = [place for place, mask in enumerate(masks) if mask.any()]
        listed = sorted(there, key=lambda place: -int(np.count_nonzero(masks[place])))
        shown = [list(codes)[place] for place in listed]
        labels = tuple(_label(*_split(code)) for code in shown)
        lacking = MaskEach(len(self._catalog), [masks[place] for place in listed])
        return FacetValues(MISSING, tuple(shown), labels, True, lacking)

    def _usual(self, language: str | None) -> Iterator[str]:
        for attribute in USUAL:
            own = language if self._filled.is_text(attribute) else None
            if self._filled.state((attribute, own)) is not CellState.NOT_ASKED:
                yield attribute if own is None else f"{attribute}:{own}"


def _states(catalog: Catalog, name: str) -> FacetValues:
    attribute, language = _split(name.removeprefix(_FILL))
    numbers = fill_states(catalog, attribute, language)
    label = _label(attribute, language)
    facet = Facet(name, f"{label[:1].upper()}{label[1:]}", is_ordered=True)
    found = np.flatnonzero(np.bincount(numbers, minlength=len(FILL_STATES)))
    place = np.zeros(len(FILL_STATES), np.int64)
    place[found] = np.arange(len(found))
    states = tuple(FILL_STATES[number] for number in found)
    return FacetValues(facet, states, states, True, OneValueEach.of(place[numbers], len(found)))


def _split(code: str) -> tuple[str, str | None]:
    """Return the attribute and the language of a code.

    >>> _split("namePublicLong:fr"), _split("assets.pictures")
    (('namePublicLong', 'fr'), ('assets.pictures', None))
    """
    attribute, _, language = code.partition(":")
    return attribute, language or None


def _label(attribute: str, language: str | None) -> str:
    label = attribute_label(attribute)
    return label if language is None else f"{label} in {language_label(language)}"

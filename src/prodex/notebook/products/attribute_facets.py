"""Facets of attributes: in which state one of them is (`fill:...`), and which of the usual ones a product lacks."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np

from prodex.catalog import Catalog
from prodex.facts.fill import FILL_STATES, fill_states
from prodex.locales import language_label
from prodex.notebook.conditions import Conditions
from prodex.notebook.coverage.filled import USUAL, CellState, FilledColumns, FilledReader
from prodex.notebook.products.facet_values import Facet, FacetValues
from prodex.notebook.products.memberships import MaskEach, OneValueEach
from prodex.quality.problems import attribute_label

#: What the usual attributes are that products lack: the code of a value is a wire path, and behind a colon a language.
MISSING = Facet("missing", "Missing")

#: The facet of the state of an attribute is called so, and after it like the code of the attribute in `MISSING`.
FILL = "fill:"
#: States of attributes that are kept; each takes two megabytes of a million products.
_KEPT = 16
#: Attributes of so many products are read in the time of a click: in about a second on a slow machine.
_AT_ONCE = 5_000


class AttributeFacets:
    """The facets of the attributes of a catalogue; each is read when it is first asked for.

    Parameters
    ----------
    catalog
        The catalogue.
    filled
        What has been read of it, if something has.

    Attributes
    ----------
    filled
        Which products have which attributes, as far as it has been read.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> facets = AttributeFacets(prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8, "nameLegal": None}]))
    >>> facets["fill:nameLegal:fr"].codes
    ('filled', 'null')
    """

    def __init__(self, catalog: Catalog, filled: FilledReader | None = None) -> None:
        self._catalog = catalog
        self._states: dict[str, FacetValues] = {}
        self.filled: FilledReader = FilledReader(catalog) if filled is None else filled
        self._reading = threading.RLock()
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

    def title(self, name: str) -> str:
        """Return the heading of a facet; that of what products lack says in which language, if it is about one."""
        if name != MISSING.name:
            return _title(*_split(name.removeprefix(FILL)))
        language = self._asked[0]
        return MISSING.title if language is None else f"{MISSING.title} in {language_label(language)}"

    def is_read(self, name: str) -> bool:
        """Return whether a facet is there at once: few products are read faster than anybody notices."""
        is_there = (
            self.filled.columns.attributes.issuperset(USUAL) if name == MISSING.name else name in self._states
        )
        return is_there or len(self._catalog) <= _AT_ONCE

    def read(self, name: str) -> None:
        """Read what a facet needs, unless another thread reads it already; may be called in a thread of its own."""
        with self._reading:
            if name == MISSING.name:
                self.filled.read(USUAL)
            elif name not in self._states:
                self._keep(name)

    def __contains__(self, name: object) -> bool:
        return name == MISSING.name or (isinstance(name, str) and name.startswith(FILL))

    def __getitem__(self, name: str) -> FacetValues:
        if name == MISSING.name:
            if self._missing is None:
                self._missing = self._lacked()
            return self._missing
        return self._states[name] if name in self._states else self._keep(name)

    def _keep(self, name: str) -> FacetValues:
        found = _states(self._catalog, name)
        others = {one: values for one, values in self._states.items() if one != name}
        # Replaced at once, since another thread may look up a facet meanwhile.
        self._states = dict([*others.items(), (name, found)][-_KEPT:])
        return found

    def _lacked(self) -> FacetValues:
        """Return which products lack which attributes; of what was not asked for nobody knows whether it is there."""
        language, others = self._asked
        filled = self.filled.read([*USUAL, *(_split(code)[0] for code in others)])
        codes = dict.fromkeys([*_usual(filled, language), *others])
        masks = [~filled.mask(*_split(code)) for code in codes]
        there = [place for place, mask in enumerate(masks) if mask.any()]
        listed = sorted(there, key=lambda place: -int(np.count_nonzero(masks[place])))
        shown = [list(codes)[place] for place in listed]
        labels = tuple(attribute_words(*_split(code)) for code in shown)
        lacking = MaskEach(len(self._catalog), [masks[place] for place in listed])
        return FacetValues(MISSING, tuple(shown), labels, True, lacking)


def _usual(filled: FilledColumns, language: str | None) -> Iterator[str]:
    for attribute in USUAL:
        own = language if filled.is_text(attribute) else None
        if filled.state((attribute, own)) is not CellState.NOT_ASKED:
            yield attribute_code(attribute, own)


def _states(catalog: Catalog, name: str) -> FacetValues:
    attribute, language = _split(name.removeprefix(FILL))
    numbers = fill_states(catalog, attribute, language)
    facet = Facet(name, _title(attribute, language), is_ordered=True)
    found = np.flatnonzero(np.bincount(numbers, minlength=len(FILL_STATES)))
    place = np.zeros(len(FILL_STATES), np.int64)
    place[found] = np.arange(len(found))
    states = tuple(FILL_STATES[number] for number in found)
    return FacetValues(facet, states, states, True, OneValueEach.of(place[numbers], len(found)))


def _title(attribute: str, language: str | None) -> str:
    words = attribute_words(attribute, language)
    return f"{words[:1].upper()}{words[1:]}"


def attribute_code(attribute: str, language: str | None) -> str:
    """Return the code of an attribute in a language, or in any; the name of an attribute may have a colon itself.

    >>> attribute_code("namePublicLong", "fr"), attribute_code("brand", None), attribute_code("x:y", None)
    ('namePublicLong:fr', 'brand', 'x:y:')
    """
    return attribute if language is None and ":" not in attribute else f"{attribute}:{language or ''}"


def fill_facet(attribute: str, language: str | None) -> str:
    """Return the name of the facet of the states of an attribute in a language, or in any.

    >>> fill_facet("namePublicLong", "fr")
    'fill:namePublicLong:fr'
    """
    return FILL + attribute_code(attribute, language)


def _split(code: str) -> tuple[str, str | None]:
    """Return the attribute and the language of a code.

    >>> _split("namePublicLong:fr"), _split("assets.pictures"), _split("x:y:")
    (('namePublicLong', 'fr'), ('assets.pictures', None), ('x:y', None))
    """
    attribute, colon, language = code.rpartition(":")
    return (attribute, language or None) if colon else (code, None)


def attribute_words(attribute: str, language: str | None) -> str:
    """Return an attribute, in a language or in any, as people call it.

    >>> attribute_words("namePublicLong", "fr"), attribute_words("brand", None)
    ('long name in French', 'brand')
    """
    label = attribute_label(attribute)
    return label if language is None else f"{label} in {language_label(language)}"

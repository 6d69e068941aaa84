"""An index of what is filled: made in one pass over a table, asked for many attributes and languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.locales import short_of
from prodex.quality.requested import is_within
from prodex.tables.columns import Mask, Rows, encoded


@dataclass(frozen=True)
class PresenceIndex:
    """Positions of products, sorted by attribute and language.

    Attributes
    ----------
    size
        Number of products.
    attributes, languages
        What occurs; languages as short codes, with "" for rows without.
    starts
        Where the positions of each pair begin: attribute by attribute, and language by language in each.
    positions
        Of the products that have data there.
    """

    size: int
    attributes: list[str]
    languages: list[str]
    starts: Rows
    positions: Rows

    @classmethod
    def of(
        cls,
        size: int,
        positions: Rows,
        attribute: pa.Array,
        filled: Mask,
        language: pa.Array | None = None,
    ) -> Self:
        """Make the index of rows: position of the product, attribute, whether there is data, and language."""
        distinct, attribute_codes = encoded(attribute)
        attributes = distinct.to_pylist()
        languages, language_codes = [""], np.zeros(len(attribute), np.int64)
        if language is not None:
            languages, language_codes = short_languages(language)
        # Sorting once makes each later question a slice: an audit asks hundreds of them.
        pair = (attribute_codes * len(languages) + language_codes)[filled]
        order = np.argsort(pair, kind="stable")
        edges = np.arange(len(attributes) * len(languages) + 1)
        return cls(size, attributes, languages, np.searchsorted(pair[order], edges), positions[filled][order])

    def products(self, attribute: str, language: str | None = None) -> Mask:
        """Say for each product whether it has data at or below an attribute, in one language or in any."""
        found = np.zeros(self.size, bool)
        width = len(self.languages)
        for place, name in enumerate(self.attributes):
            if not is_within(name, attribute):
                continue
            if language is None:
                first, last = place * width, (place + 1) * width
            elif (short := short_of(language)) in self.languages:
                first = place * width + self.languages.index(short)
                last = first + 1
            else:
                continue
            found[self.positions[self.starts[first] : self.starts[last]]] = True
        return found


def short_languages(sent: Any) -> tuple[list[str], Rows]:
    """Return the short codes of the languages that occur, and for each row which of them it has; "" is none.

    >>> languages, place = short_languages(pa.array(["fr-FR", None, "fr-BE"]))
    >>> languages, place.tolist()
    (['fr', ''], [0, 1, 0])
    """
    distinct, code = encoded(pc.fill_null(sent, ""))
    shorts = [short_of(one) if one else "" for one in distinct.to_pylist()]
    languages = list(dict.fromkeys(shorts))
    # By way of the distinct codes: comparing the texts of millions of rows again would take most of the time.
    return languages, np.array([languages.index(one) for one in shorts], np.int64)[code]

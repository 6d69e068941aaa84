"""An index of what is filled: made in one pass over a table, asked for many attributes and languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.locales import short_of
from prodex.quality.requested import is_within
from prodex.tables.columns import encoded


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
    starts: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        size: int,
        positions: npt.NDArray[np.int64],
        attribute: pa.Array,
        filled: npt.NDArray[np.bool_],
        language: pa.Array | None = None,
    ) -> Self:
        """Make the index of rows: position of the product, attribute, whether there is data, and language."""
        distinct, attribute_codes = encoded(attribute)
        attributes = distinct.to_pylist()
        languages, language_codes = [""], np.zeros(len(attribute), np.int64)
        if language is not None:
            distinct, codes = encoded(pc.fill_null(language, ""))
            sent = distinct.to_pylist()
            languages = list(dict.fromkeys(short_of(one) if one else "" for one in sent))
            place = [languages.index(short_of(one) if one else "") for one in sent]
            language_codes = np.array(place, np.int64)[codes] if sent else codes
        # Sorting once makes each later question a slice: an audit asks hundreds of them.
        pair = (attribute_codes * len(languages) + language_codes)[filled]
        order = np.argsort(pair, kind="stable")
        edges = np.arange(len(attributes) * len(languages) + 1)
        return cls(size, attributes, languages, np.searchsorted(pair[order], edges), positions[filled][order])

    def products(self, attribute: str, language: str | None = None) -> npt.NDArray[np.bool_]:
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

"""What people call products: the best name of each, in a language or in any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Part
from prodex.locales import short_of
from prodex.quality.presence import filled_values
from prodex.tables.columns import is_true

#: What people call a product, from the first choice to the last.
NAMES = tuple(
    f"{before}{name}"
    for before in ("", "lastRequest.")
    for name in ("namePublicLong", "namePublicShort", "nameLegal")
)


@dataclass(frozen=True, eq=False)
class Named:
    """The names in a part: place of the product in it, language and text of each; of a product the best first."""

    size: int
    place: npt.NDArray[np.int32]
    language: pa.Array
    text: pa.Array

    @classmethod
    def of(cls, part: Part) -> Self:
        """Read the names in a part."""
        ids = part.read("products", ["product_id"])["product_id"].combine_chunks()
        wanted = pc.field("attribute").isin(list(NAMES))
        rows = part.read("texts", ["product_id", "attribute", "language", "language_code", "text"], wanted)
        rows = rows.filter(pa.array(filled_values(rows["text"].combine_chunks())))
        rank = pc.index_in(rows["attribute"].combine_chunks(), pa.array(NAMES)).to_numpy()
        place = pc.index_in(rows["product_id"].combine_chunks(), ids).to_numpy()
        # What is preferred stands first, and otherwise what came first.
        order = np.lexsort((np.arange(len(rows)), rank, place))
        rows = rows.take(pa.array(order))
        return cls(part.size, place[order], languages_of(rows), rows["text"].combine_chunks())

    def best(self, language: str | None) -> pa.Array:
        """Return the first name of each product, in a language or in any."""
        rows = np.arange(len(self.place))
        if language is not None:
            rows = np.flatnonzero(is_true(pc.equal(self.language, language)))
        products, first = np.unique(self.place[rows], return_index=True)
        found = np.full(self.size, -1, np.int64)
        found[products] = rows[first]
        return self.text.take(pa.array(found, mask=found < 0))


def languages_of(rows: pa.Table) -> pa.Array:
    """Return the short code of the language of each text; none where none is said."""
    sent = pc.coalesce(rows["language"], rows["language_code"])
    sent = (sent.combine_chunks() if isinstance(sent, pa.ChunkedArray) else sent).dictionary_encode()
    short = pa.array([short_of(one) if one else None for one in sent.dictionary.to_pylist()], pa.string())
    return short.take(sent.indices)

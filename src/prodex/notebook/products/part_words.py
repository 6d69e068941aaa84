"""The words of the texts of a part of a catalogue, each once, with the products that have it: an inverted index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Part
from prodex.explore.product_columns import Mask
from prodex.tables.columns import encoded, places, unaccented_texts, whole

#: How words are kept in a file: the places of the products of each word are numbers, one behind the other.
SCHEMA = pa.schema({"word": pa.string(), "products": pa.binary()})


@dataclass(frozen=True, eq=False)
class PartWords:
    """The words of the texts of some products, in the form in which they are compared.

    A word is what is between two white spaces: whoever searches for a part of a word looks through the words, of which
    a part of 10,000 products has some thousands, and not through its texts, of which it has a hundred thousand.

    Attributes
    ----------
    size
        Number of products.
    words
        The words, each once.
    ends
        Where the products of each word end among `products`.
    products
        Places of products, word by word.

    Examples
    --------
    >>> import prodex
    >>> tea = {"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Thé glacé"}]}
    >>> PartWords.of(prodex.flatten([tea, {"id": 8}]).parts[0]).containing("glac").tolist()
    [True, False]
    """

    size: int
    words: pa.Array
    ends: npt.NDArray[np.int64]
    products: npt.NDArray[np.unsignedinteger[Any]]

    @classmethod
    def of(cls, part: Part) -> Self:
        """Read the texts of a part; nothing of them is left out, also not of an update that waits."""
        ids = whole(part.read("products", ["product_id"])["product_id"])
        rows = part.encoded("texts", ["product_id", "text"])
        # Arrow's split reads beyond a text that ends in a space, and may lose its last word.
        lists = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(rows["text"]))
        lengths = whole(pc.fill_null(pc.list_value_length(lists), 0)).to_numpy()
        spellings, spelling = encoded(pc.list_flatten(lists))
        # To take accents away takes most of the time, so that each spelling is looked at once.
        words, word = encoded(unaccented_texts(spellings))
        # One number for a word and a product: sorted, they are in order, and equal ones side by side.
        pairs = word[spelling] * part.size + np.repeat(places(whole(rows["product_id"]), ids), lengths)
        pairs.sort()
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        word, product = np.divmod(pairs, max(part.size, 1))
        ends = np.cumsum(np.bincount(word, minlength=len(words)))
        return cls(part.size, words, ends, product.astype(_type(part.size)))

    @classmethod
    def from_table(cls, table: pa.Table, size: int) -> Self:
        """Read what `to_table` returned.

        Raises
        ------
        ValueError
            When it cannot be of a part of so many products.
        """
        if table.schema.names != SCHEMA.names or table.schema.types != SCHEMA.types:
            raise ValueError("its columns are others")
        words, lists = whole(table["word"]), whole(table["products"])
        if words.null_count or lists.null_count:
            raise ValueError("a word or its products are missing")
        flat = b"" if not len(lists) else lists.buffers()[2]
        products = np.frombuffer(flat or b"", _type(size))
        ends = np.cumsum(pc.binary_length(lists).to_numpy()) // products.itemsize
        if len(products) != (ends[-1] if len(ends) else 0) or (len(products) and products.max() >= size):
            raise ValueError(f"it is not of {size:,} products")
        return cls(size, words, ends, products)

    def to_table(self) -> pa.Table:
        """Return the words as a table, to be written to a file."""
        offsets = np.concatenate([[0], self.ends]).astype(np.int32) * np.int32(self.products.itemsize)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.products)]
        lists = pa.Array.from_buffers(pa.binary(), len(self.words), buffers)
        return pa.table([self.words, lists], schema=SCHEMA)

    def containing_all(self, pieces: Sequence[str]) -> Mask:
        """Return which products have words that contain all pieces, each in any word."""
        found = np.ones(self.size, bool)
        for piece in pieces:
            found &= self.containing(piece)
        return found

    def containing(self, piece: str) -> Mask:
        """Return which products have a word that contains a piece, which is in the form in which words are compared."""
        found = np.zeros(self.size, bool)
        hits = np.flatnonzero(pc.match_substring(self.words, piece).to_numpy(zero_copy_only=False))
        starts = self.ends[hits - 1] * (hits > 0)
        for start, end in zip(starts.tolist(), self.ends[hits].tolist(), strict=True):
            found[self.products[start:end]] = True
        return found


def _type(size: int) -> type[np.unsignedinteger[Any]]:
    """Return the type of the places of so many products."""
    return np.uint16 if size <= 2**16 else np.uint32

"""Search for words in the texts of products: any part of a text matches, whatever its case and accents."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Part
from prodex.notebook.products.product_columns import Mask, ProductColumns
from prodex.tables.columns import unaccented_texts

#: Columns of `products` that are searched in addition to the texts.
_COLUMNS = (
    *("gtin", "product_id", "supplier_id", "owner", "packaging", "gpc"),
    *("brand", "brand_code", "kind", "kind_code"),
)

_Places: TypeAlias = npt.NDArray[np.int32]
_Indexed: TypeAlias = tuple[_Places, pa.Array]


class Search:
    """Finds words in a catalogue; the first search reads its texts, and keeps them for later ones.

    Parameters
    ----------
    products
        The products.

    Examples
    --------
    >>> import prodex
    >>> tea = {"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Thé glacé"}]}
    >>> search = Search(ProductColumns(prodex.flatten([tea, {"id": 8, "gtin": "03036811359935"}])))
    >>> search.find("GLACE the").tolist(), search.find("3036811359935").tolist()
    ([True, False], [False, True])
    """

    def __init__(self, products: ProductColumns) -> None:
        self._products = products
        self._reading = threading.Lock()
        self._indexed: list[_Indexed] | None = None

    def find(self, words: str) -> Mask:
        """Return which products contain all words, each in any of their texts, brand, owner or GTIN.

        Parameters
        ----------
        words
            Words or parts of words, separated by spaces. A number matches GTINs with or without its leading zeros.
        """
        found = np.ones(len(self._products), bool)
        for word in unaccented_texts(pa.array(words.split(), pa.string())).to_pylist():
            found &= self._find(word)
        return found

    def _find(self, word: str) -> Mask:
        found = np.zeros(len(self._products), bool)
        # A GTIN is stored with 14 digits, and people type the 8, 12 or 13 that are printed.
        number = word.lstrip("0") if word.isascii() and word.isdigit() else ""

        def places(indexed: _Indexed) -> _Places:
            found_in, texts = indexed
            return found_in[_holding(texts, word)]

        # pyarrow releases the lock of the interpreter while it matches, so threads do search side by side.
        with ThreadPoolExecutor(cpu_count()) as threads:
            for some in threads.map(places, self._index()):
                found[some] = True
        if number:
            # Only in GTINs: in texts a number without its zeros would match too much.
            found |= _holding(pc.fill_null(self._products.column("gtin"), ""), number)
        return found

    def _index(self) -> list[_Indexed]:
        with self._reading:  # two searches may begin before the texts are read
            if self._indexed is None:
                self._products.read(*_COLUMNS)
                texts = list(self._products.each_part(self._texts))
                everybody = np.arange(len(self._products), dtype=np.int32)
                labels = [self._kept(everybody, self._products.column(name)) for name in _COLUMNS]
                self._indexed = [*texts, *labels]
        return self._indexed

    def _texts(self, part: Part, before: int) -> _Indexed:
        ids = part.read("products", ["product_id"])["product_id"].combine_chunks()
        rows = part.read("texts", ["product_id", "text"])
        place = pc.index_in(rows["product_id"].combine_chunks(), ids).to_numpy(zero_copy_only=False)
        return self._kept(place.astype(np.int32) + before, rows["text"].combine_chunks())

    @staticmethod
    def _kept(places: _Places, texts: pa.Array) -> _Indexed:
        return places[texts.is_valid().to_numpy(zero_copy_only=False)], unaccented_texts(texts.drop_null())


def _holding(texts: pa.Array, piece: str) -> Mask:
    return np.asarray(pc.match_substring(texts, piece).to_numpy(zero_copy_only=False), bool)


def contains(labels: Sequence[str], words: str) -> Mask:
    """Return which labels contain all words.

    >>> contains(["Crème fraîche", "Lait"], "FRAI cre").tolist()
    [True, False]
    """
    texts = unaccented_texts(pa.array(labels, pa.string()))
    found = np.ones(len(labels), bool)
    for word in unaccented_texts(pa.array(words.split(), pa.string())).to_pylist():
        found &= _holding(texts, word)
    return found

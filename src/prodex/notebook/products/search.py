"""Words in the texts of products: plain pieces of text, whatever their case and accents."""

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

#: Columns of `products` that are searched beside the texts.
_COLUMNS = (
    "gtin",
    "product_id",
    "supplier_id",
    "brand",
    "brand_code",
    "kind",
    "kind_code",
    "owner",
    "packaging",
    "gpc",
)

_Places: TypeAlias = npt.NDArray[np.int32]
_Indexed: TypeAlias = tuple[_Places, pa.Array]


class Search:
    """Finds words in a catalogue; the first search reads its texts, later ones go through what was read.

    Parameters
    ----------
    stock
        The products.

    Examples
    --------
    >>> import prodex
    >>> tea = {"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Thé glacé"}]}
    >>> search = Search(ProductColumns(prodex.flatten([tea, {"id": 8, "gtin": "03036811359935"}])))
    >>> search.find("GLACE the").tolist(), search.find("3036811359935").tolist()
    ([True, False], [False, True])
    """

    def __init__(self, stock: ProductColumns) -> None:
        self._stock = stock
        self._reading = threading.Lock()
        self._indexed: list[_Indexed] | None = None

    def find(self, words: str) -> Mask:
        """Say which products have all words, each anywhere in their texts, names of brand and owner, or GTIN.

        Parameters
        ----------
        words
            Pieces of text with spaces between. A number finds the GTINs that hold it with or without its zeros
            at the beginning.
        """
        found = np.ones(len(self._stock), bool)
        for word in unaccented_texts(pa.array(words.split(), pa.string())).to_pylist():
            found &= self._find(word)
        return found

    def _find(self, word: str) -> Mask:
        found = np.zeros(len(self._stock), bool)
        number = word.lstrip("0") if word.isascii() and word.isdigit() else ""

        def places(indexed: _Indexed) -> _Places:
            found_in, texts = indexed
            return found_in[_holding(texts, word)]

        with ThreadPoolExecutor(cpu_count()) as threads:
            for some in threads.map(places, self._index()):
                found[some] = True
        if number:
            found |= _holding(pc.fill_null(self._stock.column("gtin"), ""), number)
        return found

    def _index(self) -> list[_Indexed]:
        with self._reading:
            if self._indexed is None:
                self._stock.read(*_COLUMNS)
                texts = list(self._stock.each_part(self._texts))
                everybody = np.arange(len(self._stock), dtype=np.int32)
                labels = [self._kept(everybody, self._stock.column(name)) for name in _COLUMNS]
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
    """Say which labels hold all words.

    >>> contains(["Crème fraîche", "Lait"], "FRAI cre").tolist()
    [True, False]
    """
    texts = unaccented_texts(pa.array(labels, pa.string()))
    found = np.ones(len(labels), bool)
    for word in unaccented_texts(pa.array(words.split(), pa.string())).to_pylist():
        found &= _holding(texts, word)
    return found

"""Search for words in products: any part of a text matches, whatever its case and accents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Part
from prodex.explore.product_columns import Mask, ProductColumns
from prodex.notebook.products.part_words import PartWords
from prodex.notebook.products.search_index import SearchIndex
from prodex.notebook.products.search_words import WordQuery
from prodex.tables.columns import encoded, of_each, places, unaccented_texts, whole

#: Columns of `products` that are searched in addition to the texts.
_COLUMNS = (
    *("gtin", "product_id", "supplier_id", "owner", "packaging", "gpc"),
    *("brand", "brand_code", "kind", "kind_code"),
)
#: What is searched, for people.
LABELS = "brands, kinds, owners, packaging, GPC classes and numbers"
TEXTS = f"all texts, {LABELS}"

#: Texts of which it is remembered which products contain them, since a search grows letter by letter and word by word.
_REMEMBERED = 16
#: White space in an unaccented text; other spaces have become plain ones.
_SPACE = r"[\s\pZ\x0b\x1c-\x1f\x{85}]+"


class Search:
    """Finds words in a catalogue.

    Parameters
    ----------
    products
        The products.

    Attributes
    ----------
    index
        The words of all texts, which take a while to be made when a snapshot is searched for the first time.

    Examples
    --------
    >>> import prodex
    >>> tea = {"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Thé glacé"}]}
    >>> search = Search(ProductColumns(prodex.flatten([tea, {"id": 8, "gtin": "03036811359935"}])))
    >>> search.find("GLACE the").tolist(), search.find("3036811359935").tolist()
    ([True, False], [False, True])
    >>> search.find("-glacé").tolist(), search.find('"glacé the" OR 3036').tolist()
    ([False, True], [False, True])
    """

    def __init__(self, products: ProductColumns) -> None:
        self._products = products
        self._remembered: dict[str, Mask] = {}
        self.index: SearchIndex = SearchIndex(products.catalog)

    def find(self, words: str) -> Mask:
        """Return which products meet a search, as `WordQuery` reads it, in all texts, labels and numbers.

        Each word may be in another text. A number matches GTINs with or without its leading zeros.

        Parameters
        ----------
        words
            What was typed.
        """
        search = WordQuery.read(words)
        found = self._containing(search.texts)
        return search.met(found.__getitem__, len(self._products))

    def find_in_labels(self, words: str) -> Mask:
        """Return which products meet a search in labels and numbers alone: an answer while the words are made."""
        return WordQuery.read(words).met(lambda text: self._in_labels(_Sought.of(text)), len(self._products))

    def _containing(self, texts: Sequence[str]) -> dict[str, Mask]:
        """Return which products contain each of some texts."""
        known = {text: self._remembered[text] for text in texts if text in self._remembered}
        new = {text: _Sought.of(text) for text in texts if text not in known}
        known |= dict(zip(new, self._in_texts(list(new.values())), strict=True))
        for text, sought in new.items():
            known[text] |= self._in_labels(sought)
        others = {text: mask for text, mask in self._remembered.items() if text not in known}
        self._remembered = dict([*others.items(), *known.items()][-_REMEMBERED:])
        return known

    def _in_texts(self, sought: list[_Sought]) -> list[Mask]:
        if not sought:
            return []

        def containing(words: PartWords) -> list[Mask]:
            return [words.containing_all(one.words) for one in sought]

        nobody = [np.zeros(0, bool) for _ in sought]
        pieces = zip(*[nobody, *self.index.each(containing)], strict=True)
        found = [np.concatenate(masks) for masks in pieces]
        return [
            mask if one.is_word else self._having(one, mask) for one, mask in zip(sought, found, strict=True)
        ]

    def _having(self, sought: _Sought, candidates: Mask) -> Mask:
        """Return which of the products that have all words of a phrase have them together in one text."""

        def having(part: Part, before: int) -> Mask:
            mine = candidates[before : before + part.size].copy()
            if mine.any():
                chosen = part.take(pa.array(mine))
                ids = whole(chosen.read("products", ["product_id"])["product_id"])
                rows = chosen.encoded("texts", ["product_id", "text"])
                distinct, text = encoded(rows["text"])
                has = np.append(sought.held_by(unaccented_texts(distinct)), False)[text]
                places_ = np.flatnonzero(mine)[places(whole(rows["product_id"]), ids)[has]]
                mine[:] = False
                mine[places_] = True
            return mine

        return np.concatenate([np.zeros(0, bool), *self._products.each_part(having)])

    def _in_labels(self, sought: _Sought) -> Mask:
        found = np.zeros(len(self._products), bool)
        self._products.read(*_COLUMNS)
        for name in _COLUMNS:
            values = self._products.column(name)
            if pa.types.is_dictionary(values.type):
                found |= of_each(sought.held_by(unaccented_texts(values.dictionary)), values, False)
            else:
                found |= sought.held_by(unaccented_texts(values))
        if sought.number:
            # Only in GTINs: in texts a number without its zeros would match too much.
            found |= _holding(self._products.column("gtin"), sought.number)
        return found


@dataclass(frozen=True)
class _Sought:
    """A word or phrase in the form in which words are compared.

    Attributes
    ----------
    folded
        The whole of it; None for what no text can hold.
    words
        What is between white spaces.
    is_phrase
        Whether it was typed with spaces, of which any number will do.
    number
        Digits without the zeros in front: a GTIN is stored with 14 digits, and people type the 8, 12 or 13 of a pack.
    """

    folded: str | None
    words: tuple[str, ...]
    is_phrase: bool = False
    number: str = ""

    @classmethod
    def of(cls, text: str) -> _Sought:
        try:
            folded: str = unaccented_texts(pa.array([text], pa.string()))[0].as_py()
        except UnicodeEncodeError:  # half of a surrogate pair
            return cls(None, ())
        number = text.lstrip("0") if text.isascii() and text.isdigit() else ""
        return cls(folded, tuple(folded.split()), " " in text, number)

    @property
    def is_word(self) -> bool:
        """Whether a text holds it if one of its words does."""
        return self.folded is None or self.words == (self.folded,)

    def held_by(self, texts: pa.Array) -> Mask:
        """Return which texts, in the form in which words are compared, hold it."""
        if self.folded is None:
            return np.zeros(len(texts), bool)
        if not self.is_phrase:
            return _holding(texts, self.folded)
        pattern = _SPACE.join(map(re.escape, self.words))
        return _plain(pc.match_substring_regex(texts, pattern))


def _holding(texts: pa.Array, piece: str) -> Mask:
    return _plain(pc.match_substring(texts, piece))


def _plain(matches: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(matches, False).to_numpy(zero_copy_only=False), bool)


def contains(labels: Sequence[str], words: str) -> Mask:
    """Return which labels contain all words.

    >>> contains(["Crème fraîche", "Lait"], "FRAI cre").tolist()
    [True, False]
    """
    texts = unaccented_texts(pa.array(labels, pa.string()))
    return WordQuery.read(words).met(lambda text: _Sought.of(text).held_by(texts), len(labels))

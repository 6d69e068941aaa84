"""Which texts read as lists of ingredients: short items, of which most name something that food is made of.

A nutrition table, an address, a way of cooking, or "see packaging" may stand where the ingredients should, and so may a
list that a machine could not read. Whoever concludes from what a text does not say has to know that it is a list.

`ingredient_words.tsv` holds what food is made of in seven languages, folded (`text_normalization.py`), with `*` for the
beginning or end of other words. It need not be whole: a list is known by most of its items.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.columns import encoded, is_true

#: From which share of items that name an ingredient a text is a list, and how many words its items have on average.
LIST, _WORDS = 0.6, 5.0
#: What parts items, and what parts words.
_ITEMS = r"[,;:.()\[\]{}+/]|\s-\s"
_WORD = re.compile(r"[^\W\d_][^\W\d_'-]*|e ?-?\d{3,4}")
_NUMBERED = re.compile(r"e ?-?\d{3,4}")
#: What says nothing of an item: headings, where it is from, how it was grown.
_NEUTRAL = re.compile(
    r"ingredients?|ingredient[ei]s?|ingredienten|zutaten|contains?|contient|enthalt|contiene|bevat|contem|organic|bio"
    r"|biologi\w+|ecologic\w+|natur\w+|artificial|origi\w+|herkunft|herkomst|procedencia|provenance|agriculture|france|eu|ue|non"
    r"|issus?|issues?|de|la|le|l|aus|from|of|or|and|et|und|e|y|en|o|less|following|each|certifi\w+|pur|pure|puro|pura|frais"
    r"|fresh|for|color|colour|as|a|an|max|min|minimum|variable|proportions?"
)
#: An amount that a nutrition table has: lists of ingredients have shares.
_AMOUNT = re.compile(r"\d ?(?:g|mg|ug|mcg|kj|kcal)\b")
#: Signs that stand for letters which a machine could not read; folded texts have few other letters.
_LETTER = r"[a-z\x{DF}-\x{1FFF}\x{3040}-\x{9FFF}]"
_UNREAD = rf"[?\x{{FFFD}}¿|~^@${{}}\\=]{_LETTER}|{_LETTER}[@${{}}\\=]|{_LETTER}{_LETTER}\d+{_LETTER}{_LETTER}"


def ingredient_shares(
    texts: pa.Array, languages: tuple[str, ...], names: Callable[[str], bool]
) -> npt.NDArray[np.float64]:
    """Return which share of the items of texts name an ingredient: 0 where they are no items, nan where there are none.

    Parameters
    ----------
    texts
        Folded.
    languages
        The short codes of those whose words count.
    names
        Whether a word names an ingredient all the same: an allergen.

    Examples
    --------
    >>> texts = pa.array(["tomates, eau, sel", "voir sur l'emballage", ""])
    >>> ingredient_shares(texts, ("fr",), lambda word: False)
    array([ 1.,  0., nan])
    """
    split = pc.split_pattern_regex(texts, _ITEMS)
    # Few items are new: "salt" is read once.
    distinct, code = encoded(split.flatten())
    read = np.array([_item(item, languages, names) for item in distinct.to_pylist()], np.int64).reshape(-1, 2)
    own = pc.list_parent_indices(split).to_numpy()
    words, known = read[code].T
    size = len(texts)
    items, named = np.bincount(own[words > 0], minlength=size), np.bincount(own[known > 0], minlength=size)
    shares = np.full(size, np.nan)
    np.divide(named, items, out=shares, where=items > 0)
    # Where letters were not read, or items are sentences, nobody knows what is missing.
    unread = is_true(pc.match_substring_regex(texts, _UNREAD))
    shares[(items > 0) & (unread | (np.bincount(own, words, size) > _WORDS * items))] = 0
    return shares


def _item(item: str, languages: tuple[str, ...], names: Callable[[str], bool]) -> tuple[int, bool]:
    """Return how many words of an item say something, and whether one of them names an ingredient."""
    words = [word for word in _WORD.findall(item) if not _NEUTRAL.fullmatch(word)]
    named = any(is_ingredient(word, languages) or names(word) for word in words)
    return len(words), named and not _AMOUNT.search(item)


@lru_cache(maxsize=2**17)
def is_ingredient(word: str, languages: tuple[str, ...]) -> bool:
    """Say whether a folded word stands for something that food is made of.

    >>> is_ingredient("tomaten", ("de",)), is_ingredient("e330", ()), is_ingredient("verpackung", ("de",))
    (True, True, False)
    """
    return bool(_NUMBERED.fullmatch(word)) or any(
        _pattern(language).fullmatch(word) for language in languages
    )


@cache
def _pattern(language: str) -> re.Pattern[str]:
    text = resources.files("prodex.quality").joinpath("ingredient_words.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [word for row in rows if row["language"] == language for word in row["words"].split()]
    return re.compile("|".join(re.escape(word).replace(r"\*", ".*") for word in words))

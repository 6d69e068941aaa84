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

#: From which share of items that name an ingredient a text is a list, and how many words its items have on average.
LIST, _WORDS = 0.6, 5.0
#: What parts items, and what parts words.
_ITEMS = re.compile(r"[,;:.()\[\]{}•+/]|\s[-–]\s|\s(?:and|et|und|y|e|en)\s")
_WORD = re.compile(r"[^\W\d_][^\W\d_'-]*|e ?-?\d{3,4}")
_NUMBERED = re.compile(r"e ?-?\d{3,4}")
#: Signs that stand for letters which a machine could not read.
_UNREAD = re.compile(r"[?\ufffd¿|~^][^\W\d_]|[^\W\d_][?\ufffd|~^][^\W\d_]|[^\W\d_]{2}\d+[^\W\d_]{2}")


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
    return np.array([_share(text, languages, names) for text in texts.to_pylist()], float)


def _share(text: str, languages: tuple[str, ...], names: Callable[[str], bool]) -> float:
    items = [words for item in _ITEMS.split(text) if (words := _WORD.findall(item))]
    if not items:
        return np.nan
    # Where letters were not read, or items are sentences, nobody knows what is missing.
    if _UNREAD.search(text) or sum(map(len, items)) > _WORDS * len(items):
        return 0.0
    known = sum(any(is_ingredient(word, languages) or names(word) for word in words) for words in items)
    return known / len(items)


@lru_cache(maxsize=2**17)
def is_ingredient(word: str, languages: tuple[str, ...]) -> bool:
    """Say whether a folded word stands for something that food is made of.

    >>> is_ingredient("tomaten", ("de",)), is_ingredient("e330", ()), is_ingredient("verpackung", ("de",))
    (True, True, False)
    """
    return bool(_NUMBERED.fullmatch(word)) or any(_pattern(language).fullmatch(word) for language in languages)


@cache
def _pattern(language: str) -> re.Pattern[str]:
    text = resources.files("prodex.quality").joinpath("ingredient_words.tsv").read_text("utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    words = [word for row in rows if row["language"] == language for word in row["words"].split()]
    return re.compile("|".join(re.escape(word).replace(r"\*", ".*") for word in words))

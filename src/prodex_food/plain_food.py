"""Which food may need no nutrition declaration (Regulation (EU) No 1169/2011, Art. 29(1) and Annex V).

Herbs, spices, salt, yeast, vinegar, water, tea, coffee and infusions need none, nor does what is not processed and has
one ingredient; food supplements have a law of their own. The list of ingredients tells it, and where there is none the
names and the kind; these alone tell of supplements. They tell that it may be so, never that it is: a tea whose list
ends too early may have sugar, and a fruit may have been cooked. Small packs and small makers need none either, which no
record shows.

`plain_food_words.tsv` has folded words, with `*` for the beginning or end of other words: `leaf` for tea, coffee and
infusions, `beside` for what is in them as well, `alone` for what else needs none, `any` tells nothing, `about` stands
before what describes the one ingredient, `processed` does not stay as it is, `supplement` is of food supplements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
import pandas as pd

from prodex.packs import NAMES, Answer, Mask, Products, Rows, TextColumns
from prodex_food.words import first_use, has_use

#: What has to be requested, so that nothing says that a food may be one of these.
_READ = ("kind.label", *(f"{name}.data" for name in (*NAMES, "composition")))
#: What stands between two ingredients.
_BETWEEN = re.compile(r"[,;&+•\n]|\b(?:and|et|und|y|e|en)\b")
#: From here on, a list names what something tastes of.
_FLAVOUR = re.compile(r"\b(?:natural |natur\w+ )?(?:flavou?r|arom[ae]|smaakstof|natuurlijk aroma)")
_WORD = re.compile(r"[^\W\d_]{3,}|\bte\b")

_is_word, _use_of = partial(has_use, "plain_food_words.tsv"), partial(first_use, "plain_food_words.tsv")


def may_need_no_nutrition(products: Products, chosen: Mask) -> Answer:
    """Say which of the chosen products may need no nutrition declaration: unknown of those, False of all others."""
    if not chosen.any():
        return pd.arrays.BooleanArray(chosen, chosen)
    if not products.are_asked_for(list(_READ)):
        return pd.arrays.BooleanArray(chosen & False, chosen)
    named = products.by_folded(products.column("kind"), _name_tells, 0)
    named = named | _told(products, chosen, NAMES, _name_tells)
    listed = _told(products, chosen, ("composition",), _list_tells)

    def tells(what: int, of: Rows) -> Mask:
        return np.asarray(of & what > 0)

    is_raw = ~tells(_PROCESSED, named)
    without_list = is_raw & tells(_LEAF | _PLAIN, named)
    with_list = tells(_PLAIN, listed) | (is_raw & tells(_ONE_THING, listed))
    may = chosen & (tells(_SUPPLEMENT, named) | np.where(listed > 0, with_list, without_list))
    return pd.arrays.BooleanArray(may & False, may)


#: What texts tell, as bits: that there is a list, that there is nothing in it but what needs no declaration, that it
#: names one ingredient; and what the words of a name are of.
_LISTED, _PLAIN, _ONE_THING, _SUPPLEMENT, _PROCESSED, _LEAF = (1 << place for place in range(6))
_IN_NAMES = {"supplement": _SUPPLEMENT, "processed": _PROCESSED, "leaf": _LEAF}


def _told(products: Products, chosen: Mask, attributes: Sequence[str], tells: Callable[[str], int]) -> Rows:
    """Return what the texts of some products tell together; each wording is read once."""
    texts = TextColumns.of(products)
    rows = np.flatnonzero(chosen[texts.product] & texts.within(attributes))
    used, wording = np.unique(texts.wording[rows], return_inverse=True)
    of_wordings = np.array([*map(tells, texts.folded(used).to_pylist()), 0], np.int64)
    found = np.zeros(len(products), np.int64)
    np.bitwise_or.at(found, texts.product[rows], of_wordings[wording])
    return found


@lru_cache(maxsize=2**14)
def _name_tells(name: str) -> int:
    uses = {_use_of(word, *_IN_NAMES) for word in _WORD.findall(name)} - {""}
    return sum(_IN_NAMES[use] for use in uses) | (_PLAIN if _is_plain(name) else 0)


@lru_cache(maxsize=2**13)
def _list_tells(text: str) -> int:
    return _LISTED | (_PLAIN if _is_plain(text) else 0) | (_ONE_THING if _is_one_thing(text) else 0)


def _is_plain(text: str) -> bool:
    """Say whether a folded list has nothing but what needs no declaration, whatever it is flavoured with.

    >>> _is_plain("the noir (98.5%), arome naturel de bergamote"), _is_plain("the noir, sucre")
    (True, False)
    """
    flavour = _FLAVOUR.search(text)
    end = flavour.start() if flavour else len(text)
    uses = set()
    for word in _WORD.finditer(text, 0, end):
        use = _use_of(word[0], "leaf", "alone", "any", "beside")
        if not use:
            return False
        uses.add(use)
    is_plain = "leaf" in uses or ("alone" in uses and "beside" not in uses)
    return is_plain and not any(_is_word(word, "processed") for word in _WORD.findall(text, end))


def _is_one_thing(text: str) -> bool:
    """Say whether a folded list names one ingredient that may be as it grew.

    >>> _is_one_thing("abricots, variete sunny"), _is_one_thing("huile d'olive"), _is_one_thing("riz, sel")
    (True, False, False)
    """
    is_named = False
    for item in _BETWEEN.split(text):
        words = _WORD.findall(item)
        if words and is_named and not _is_word(words[0], "about"):
            return False
        if any(_is_word(word, "processed") for word in words):
            return False
        is_named |= bool(words)
    return is_named

"""Which products a law is about: what is neither food nor excluded, honey, commodities of forests, what is weighed.

Each answer has three values. A product of which its class, its kind and its name do not tell is undecided: what a law
may ask of it is then unknown, and never missing.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import (
    Answer,
    Products,
    Rows,
    by_value,
    encoded,
    is_true,
    once_per_part,
    quantities,
)
from prodex_food.food_products import is_food
from prodex_food.words import TableWords, has_use, plain_words, rows_of

#: What an answer is made of, before it is one.
_NO, _MAYBE, _YES = 0, 1, 2

#: Segments of the GS1 classification that the law on product safety leaves out as a whole: live animals, plants, crops.
_OUTSIDE = ("89", "93", "94")
#: Segments of which it leaves out a part: food and feed for pets, products against pests, healthcare, the garden.
_OUTSIDE_IN_PART = ("10", "13", "50000003", "51", "81")
#: Words of kinds that it leaves out, in the files of words.
_OUTSIDE_WORDS = ("plant_seed", "medicine", "feed", "plant_protection", "antique")

_is_word = partial(has_use, "law_words.tsv")
#: The brick of honey.
HONEY_BRICK = "10000213"
#: Letters without which no word is one of honey.
_LIKE_HONEY = "(?i)hon[eiu]|honn|mi?el|hunaj|mi[oó]d"
#: Words before honey with which it is an ingredient: "with honey", "au miel".
_AN_INGREDIENT = frozenset(
    {
        *("with", "and", "mit", "und", "au", "aux", "et", "avec", "con", "y", "al", "e", "met", "en"),
        *("com", "med", "och", "og", "ja", "a", "la", "saveur", "gout"),
    }
)


@once_per_part
def is_consumer_product(products: Products) -> Answer:
    """Say which products the law on product safety is about: no food, and nothing that its Art. 2(2) leaves out."""
    codes = products.column("gpc_code")
    by_class = by_value(codes, _by_class, _YES)
    by_kind = products.by_folded(products.column("kind"), _by_kind, _YES)
    # A class or a word that excludes it decides; one that may exclude it leaves it open.
    found = np.minimum(by_class, by_kind)
    asked = products.are_asked_for(["GPC.code", "kind.label"])
    return ~is_food(products) & _answer(found if asked else np.minimum(found, _MAYBE))


def _by_class(code: str) -> int:
    if code.startswith(_OUTSIDE):
        return _NO
    # Bricks (1000...) begin like pet care, and do not tell their segment.
    is_brick = code.startswith("1000") and code != "10000000"
    return _MAYBE if code.startswith(_OUTSIDE_IN_PART) and not is_brick else _YES


@lru_cache(maxsize=2**14)
def _by_kind(label: str) -> int:
    words = plain_words(label)
    return _NO if any(_is_word(word, *_OUTSIDE_WORDS) for word in words) else _YES


@once_per_part
def is_honey(products: Products) -> Answer:
    """Say which products are honey: by their brick, else by the words of their kind and of their legal name.

    Honey in the name of something else (a mustard, a cereal) leaves it undecided.
    """
    bricks = by_value(products.column("gpc_code"), lambda code: _YES if code == HONEY_BRICK else _NO, _NO)
    kinds = products.by_folded(products.column("kind"), _honey_said, _NO)
    names = np.zeros(len(products), np.int64)
    legal = _legal_names(products)
    distinct, code = encoded(legal["text"])
    # Folding is dear, and hardly any name has such letters.
    near = np.flatnonzero(is_true(pc.match_substring_regex(distinct, _LIKE_HONEY)))
    said = np.zeros(len(distinct) + 1, np.int64)
    said[near] = [*map(_honey_said, products.folded(distinct.take(pa.array(near))).to_pylist())]
    np.maximum.at(names, legal["product"].to_numpy(), said[code])
    nothing_said = products.column("kind").is_null().to_numpy(zero_copy_only=False)
    nothing_said &= ~products.any(legal["product"].to_numpy())
    found = np.maximum.reduce([bricks, kinds, names, np.where(nothing_said, _MAYBE, _NO)])
    # Another brick, and a class that is no food, exclude it.
    other = by_value(products.column("gpc_code"), lambda code: _is_brick(code) and code != HONEY_BRICK, False)
    found[other] = _NO
    asked = products.are_asked_for(["GPC.code", "kind.label", "nameLegal.data"])
    is_none = (~is_food(products)).fillna(False).to_numpy(bool)
    return _answer(np.where(is_none, _NO, found if asked else np.where(found == _YES, _YES, _MAYBE)))


def _is_brick(code: str) -> bool:
    return len(code) == 8 and code.startswith("1000") and code != "10000000"


@lru_cache(maxsize=2**14)
def _honey_said(label: str) -> int:
    """Say what a folded label tells: honey is its first or its last word, and all others are plain."""
    words = plain_words(label)
    at = [place for place, word in enumerate(words) if _is_word(word, "honey")]
    if not at:
        return _NO
    before = set(words[: at[0]])
    others = [word for place, word in enumerate(words) if place not in at]
    is_plain = all(_is_word(word, "honey_plain") for word in others)
    is_head = (at[0] == 0 or at[-1] == len(words) - 1) and not before & _AN_INGREDIENT
    return _YES if is_head and is_plain else _MAYBE


def _legal_names(products: Products) -> pa.Table:
    texts = products.arrow("texts", "attribute", "text")
    return texts.filter(pc.equal(texts["attribute"], "nameLegal")).combine_chunks()


@once_per_part
def commodities(products: Products, customs: tuple[str, ...] = ()) -> Answer:
    """Say which products the law on deforestation lists: by their customs code, else by the words of their kind.

    Parameters
    ----------
    products
        Those of a part.
    customs
        Wire paths of the customs code, where the catalogue has it; of codes that are listed in part nobody can say.
    """
    found = products.by_folded(products.column("kind"), _commodity_said, _MAYBE)
    if not products.are_asked_for(["kind.label"]):
        found[:] = _MAYBE
    coded = np.full(len(products), -1, np.int64)
    for product, said in _customs_said(products, customs):
        coded[product] = max(coded[product], said)
    return _answer(np.where(coded >= 0, coded, found))


def _customs_said(products: Products, customs: tuple[str, ...]) -> list[tuple[int, int]]:
    rows = products.values_at(customs, "codes.code", "scalars.value")
    said = []
    for product, value in zip(rows["product"].to_pylist(), rows["value"].to_pylist(), strict=True):
        digits = re.sub(r"[\s.]", "", value)
        # Names of code lists and dates stand beside codes; only digits of such a length are one.
        if re.fullmatch(r"(?:\d{4}|\d{6}|\d{8}|\d{10})", digits):
            said.append((product, _customs_code(digits)))
    return said


@lru_cache(maxsize=2**14)
def _customs_code(digits: str) -> int:
    rows = rows_of("customs_codes.tsv")
    if any(digits.startswith(code) for row in rows for code in row["codes"].split()):
        return _YES
    listed = [code for row in rows for code in (*row["codes"].split(), *row["in_part"].split())]
    # A shorter code than a listed one may be that or another.
    return _MAYBE if any(digits.startswith(code) or code.startswith(digits) for code in listed) else _NO


@lru_cache(maxsize=2**14)
def _commodity_said(label: str) -> int:
    """Say whether a folded label of a kind names a commodity, or perhaps what is made of one."""
    words = plain_words(label)
    best = _NO
    for row in rows_of("commodity_words.tsv"):
        named = [
            each.split("+")
            for each in row["words"].split()
            if all(any(word in _words(part) for word in words) for part in each.split("+"))
        ]
        if not named:
            # A part of another word, and what may be made of it: coffee capsules, a table.
            if any(word in _words(row["perhaps"]) for word in words):
                best = max(best, _MAYBE)
            continue
        plain = " ".join([row["plain"], *(part for each in named for part in each)])
        is_plain = all(word in _words(plain) for word in words)
        best = max(best, _YES if is_plain else _MAYBE)
    return best


@once_per_part
def is_sold_by_measure(products: Products) -> Answer:
    """Say which products are sold by weight or volume in another amount than one kilogram or one litre."""
    product, amount, _ = quantities(products, "netContent", "weight", "volume")
    amount = np.round(amount, 6)
    measured = amount > 0
    # The price of one kilogram or of one litre is the price: nothing is compared.
    alike = measured & (amount == 1_000)
    found = np.full(len(products), _MAYBE, np.int64)
    found[product] = _NO
    found[product[measured]] = _YES
    found[product[alike]] = _NO
    return _answer(found)


def _answer(found: Rows) -> Answer:
    return pd.arrays.BooleanArray(found == _YES, found == _MAYBE)


@lru_cache(maxsize=2**10)
def _words(cell: str) -> TableWords:
    """Return the words of a cell of a table."""
    return TableWords(cell.split())

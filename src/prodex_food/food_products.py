"""Which products are food, on what evidence, and which of them need fewer facts by Regulation (EU) No 1169/2011.

The class decides where a product has one. Of the others, what only food declares does: nutrients, an alcoholic
strength, how to keep it in a refrigerator. Where a product declares none of these, words do: those of its kind and its
ingredients (`food_words.tsv`, in ten languages; folded, with `*` for the beginning or end of other words). Words can
speak against it as well: a shampoo lists ingredients, and its allergens are those of a perfume. Where they speak for
both, nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from prodex.packs import (
    Answer,
    AttributeTexts,
    Mask,
    Message,
    NutritionColumns,
    Products,
    by_value,
    encoded,
    once_per_part,
    once_per_process,
)
from prodex_food.allergen_detection import LIST, ingredient_shares, is_whole_ingredient, named_in_any_language
from prodex_food.vocabulary import LANGUAGES
from prodex_food.words import TableWords, has_use, listed_words, plain_words

#: How codes of the GS1 classification begin, the longest beginning that fits counts: whether they are food.
#: Segments, families and classes tell it; bricks (1000...) do not, nor do segments that begin alike.
FOOD_BY_GPC: Mapping[str, bool | None] = {
    "50": True,  # food and beverages
    "5021": False,  # tobacco
    "50000003": False,  # pet care, as the sandbox codes it
    "10": None,  # pet care, and every brick
    **dict.fromkeys(("1", "2", "3", "4", "5", "6", "7", "8", "9"), False),
}

#: Languages that have words here beside those of allergens.
_TEN = (*LANGUAGES, "no", "sv", "fi")


class FoodEvidence(IntEnum):
    """What it rests on that a product is food, or is none."""

    NONE = 0
    CLASS = 1
    NUTRIENTS = 2
    ALCOHOL = 3
    STORAGE = 4
    INGREDIENTS = 5
    KIND = 6
    ALLERGENS = 7
    ASSUMED = 8


#: What it rests on that a product is food, where it is not its class: it is shown, since it may be wrong.
TAKEN_FOR_FOOD_BY: Mapping[FoodEvidence, Message] = {
    FoodEvidence.NUTRIENTS: Message("its nutrients"),
    FoodEvidence.ALCOHOL: Message("its alcoholic strength"),
    FoodEvidence.STORAGE: Message("how it is refrigerated"),
    FoodEvidence.INGREDIENTS: Message("its ingredients"),
    FoodEvidence.KIND: Message("the words of its kind"),
    FoodEvidence.ALLERGENS: Message("its allergens"),
    FoodEvidence.ASSUMED: Message("the profile's assumption"),
}

_is_word = partial(has_use, "food_words.tsv")
#: Beginnings and ends of words that tell food in a name have so many letters.
_FEWEST_OF_PART = 4
#: What only food declares.
_SIGNS: Mapping[str, FoodEvidence] = {
    "isPartitionedBy.contains": FoodEvidence.NUTRIENTS,
    "percentageOfAlcoholByVolume": FoodEvidence.ALCOHOL,
    "keepRefrigeratedBefore": FoodEvidence.STORAGE,
    "keepRefrigeratedAfter": FoodEvidence.STORAGE,
    "foodAndBeverageIngredientDescriptionList": FoodEvidence.INGREDIENTS,
}
#: What is read for words; cosmetics declare allergens as well.
_READ = ("composition.data", "kind.label", "allergens")


def is_food(products: Products) -> Answer:
    """Say which products are food: by their class, and where they have none by what they tell.

    A product with neither may be food whose data are missing, or a candle: undecided, unless the profile assumes one
    of them (`assume`). The same holds where words speak for both, and where the class was not requested.
    """
    return _food_decision(products).is_food


def food_evidence(products: Products) -> npt.NDArray[np.int64]:
    """Return for each product what it rests on that it is food or is none, as `FoodEvidence`."""
    return _food_decision(products).evidence


@dataclass(frozen=True)
class _Decision:
    is_food: Answer
    evidence: npt.NDArray[np.int64]


@once_per_part
def _food_decision(products: Products) -> _Decision:
    codes = products.column("gpc_code")
    food = by_value(codes, lambda each: is_food_by_class(each) is True, False)
    undecided = by_value(codes, lambda each: is_food_by_class(each) is None, True)
    evidence = np.where(undecided, FoodEvidence.NONE, FoodEvidence.CLASS).astype(np.int64)
    if not products.are_asked_for(["GPC.code"]):
        food, undecided, evidence = food & False, undecided | True, evidence * 0
    else:
        for sign, meant in _SIGNS.items():
            declared = products.filled(sign)
            if meant is FoodEvidence.NUTRIENTS:
                declared = declared & ~_are_all_zero(products)
            found = undecided & (declared | products.filled(f"lastRequest.{sign}"))
            food, undecided = food | found, undecided & ~found
            evidence[found] = meant
        if undecided.any():
            words = _by_words(products, undecided)
            food, undecided = food | words.is_food, undecided & ~words.is_decided
            evidence[words.is_decided] = words.evidence[words.is_decided]
    if (assumed := products.assume.get("food")) is not None:
        evidence[undecided] = FoodEvidence.ASSUMED
        food, undecided = food | (undecided & assumed), undecided & False
    return _Decision(pd.arrays.BooleanArray(food, undecided), evidence)


def _are_all_zero(products: Products) -> Mask:
    """Say whose nutrients are all zero, as forms fill them in for a toy; all of whom nobody asked how much it is."""
    if not products.are_asked_for(["isPartitionedBy.contains.quantity"]):
        return np.ones(len(products), bool)
    nutrition = NutritionColumns.of(products)
    is_figure = nutrition.quantity != 0
    figures = products.any(nutrition.product[nutrition.row[is_figure]])
    return np.asarray(products.any(nutrition.product) & ~figures)


@dataclass(frozen=True)
class _Words:
    is_food: Mask
    is_decided: Mask
    evidence: npt.NDArray[np.int64]


def _by_words(products: Products, undecided: Mask) -> _Words:
    """Decide by the words of kinds and ingredients, and by allergens where these say nothing else."""
    kinds = _of_kinds(products)
    made_of = _of_compositions(products, undecided)
    listed = products.filled("allergens") | products.filled("lastRequest.allergens")
    speaks_for = (kinds > 0) | (made_of > 0) | listed
    speaks_against = (kinds < 0) | (made_of < 0)
    # What was not requested may speak for the opposite.
    everything = [*_READ, *_SIGNS, *(f"lastRequest.{sign}" for sign in (*_SIGNS, "allergens"))]
    knows_words = products.are_asked_for(["composition.data", "kind.label"])
    knows_all = products.are_asked_for(everything)
    is_food = undecided & speaks_for & ~speaks_against & knows_words
    is_none = undecided & speaks_against & ~speaks_for & knows_all
    evidence = np.where(made_of != 0, FoodEvidence.INGREDIENTS, FoodEvidence.ALLERGENS)
    evidence = np.where((made_of == 0) & (kinds != 0), FoodEvidence.KIND, evidence)
    return _Words(is_food, is_food | is_none, evidence.astype(np.int64))


def _of_kinds(products: Products) -> npt.NDArray[np.int64]:
    """Return 1 where the words of a kind are of food, -1 where they are of something else, 0 where nobody can say."""
    return products.by_folded(products.column("kind"), kind_tells, 0)


def names_food(text: str) -> bool:
    """Say whether a folded text has a word of food, of an ingredient or of what allergens are in: "comte" is milk.

    A few letters that begin or end a word are no word of it: a brand may, as "Bristol" ends in German oil.

    >>> names_food("olive oil"), names_food("comte"), names_food("kirella"), names_food("bristol")
    (True, True, False, False)
    """
    words = plain_words(text)
    return any(_names_food(one) for one in words) and kind_tells(text) >= 0


@lru_cache(maxsize=2**16)
def _names_food(word: str) -> bool:
    is_word = word in _long_parts()
    return is_word or is_whole_ingredient(word, _TEN) or named_in_any_language(word)


def kind_tells(label: str) -> int:
    """Return 1 where the words of a folded label are of food, -1 where they are of something else, 0 where neither.

    >>> kind_tells("olive oil"), kind_tells("dog food"), kind_tells("divers")
    (1, -1, 0)
    """
    words = plain_words(label)
    others = any(_is_word(word, "other") for word in words)
    # "Dog food" and "milk shampoo" have a word of food, but the other word decides.
    return -1 if others else int(any(_is_word(word, "food") for word in words))


def _of_compositions(products: Products, undecided: Mask) -> npt.NDArray[np.int64]:
    """Return 1 where a composition lists what food is made of, -1 where it lists something else, 0 where neither."""
    found = np.zeros(len(products), np.int64)
    compositions = AttributeTexts.of(products, "composition")
    product = compositions.product
    kept = undecided[product]
    distinct, code = encoded(compositions.texts["text"].filter(pa.array(kept)))
    product = product[kept]
    for_food, against = _composition_lists(products.folded(distinct))
    found[product[for_food[code]]] = 1
    # One list of two may describe the packaging of the food.
    found[product[against[code]]] = -1
    return found


def _composition_lists(plain: pa.Array) -> tuple[Mask, Mask]:
    """Say which compositions, folded, list what food is made of, and which something else."""
    care = np.array([_care(text) for text in plain.to_pylist()], bool)
    shares = ingredient_shares(plain, _TEN, named_in_any_language)
    return (shares >= LIST) & ~care, care


def _care(text: str) -> bool:
    """Say whether a text names at least two things that no food is made of; water is called "aqua" in cosmetics."""
    words = set(re.findall(r"[^\W\d_][^\W_]*(?:-[^\W_]+)*", text))
    return sum(_is_word(word, "care") for word in words) > 1


@once_per_process
def _long_parts() -> TableWords:
    """Return the words of food, without parts of words that have few letters."""
    words = listed_words("food_words.tsv", use="food")
    return TableWords(word for word in words if "*" not in word or len(word) > _FEWEST_OF_PART)


def is_food_by_class(code: str) -> bool | None:
    """Say whether a code of the GS1 classification is of food; None where it does not tell.

    >>> is_food_by_class("50131700"), is_food_by_class("53000000"), is_food_by_class("10000025")
    (True, False, None)
    """
    beginnings = [beginning for beginning in FOOD_BY_GPC if code.startswith(beginning)]
    return FOOD_BY_GPC[max(beginnings, key=len)] if beginnings else None

"""Which products are drinks of more than 1.2 % of alcohol by volume, which certainly are not, and of which it is open.

Such drinks need neither a list of ingredients nor a nutrition declaration (Regulation (EU) No 1169/2011, Art. 16(4)),
and state their strength (Art. 9(1)(k)). Four facts tell it: class and kind, names, figures (the strength, or alcohol
among the nutrients), ingredients; `_judge` says what they mean together. A fact that was not requested may be any, so
that only what is the same with all of them is known then.

`alcohol_words.tsv` has folded words, with `*` for the beginning or end of other words and `_` between those of a
phrase. Phrases are looked for before words, and uses in this order: `free` says that there is no alcohol; `other` is
food, or no food at all, whatever it is made with; `open` is sold with alcohol and without; `drink` is such a drink;
`origin` is a grape or a place whose wine is called by it alone; `soft` is a drink without, also one that is mixed with
others. A drink is made of what `list` names, and of nothing that `solid` has; `any` tells nothing of a kind; `held`
stands before what food is made with; `of` behind a drink that is named first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache, partial
from itertools import product as every
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import (
    NAMES,
    Answer,
    Mask,
    Numbers,
    Nutrient,
    NutritionColumns,
    Products,
    Rows,
    TextColumns,
    by_value,
    is_true,
    once_per_part,
    once_per_process,
    quantities,
)
from prodex_food.food_products import is_food_by_class, kind_tells, names_food
from prodex_food.words import first_use, has_use, listed_words, plain_words, table_words

#: Over this strength in per cent, ingredients and nutrition are not mandatory (Art. 16(4)).
ALCOHOL_LIMIT = 1.2
#: Grams of alcohol in a millilitre of it.
_DENSITY = 0.789
#: Kilojoules in a gram of alcohol (Annex XIV), and in a kilocalorie.
_ENERGY_OF_ALCOHOL, _KILOJOULES = 29.0, 4.184
#: Kilojoules in a gram of what else has energy, and the most grams of it in 100 g of such a drink: cream liqueurs have
#: 17 g of fat and advocaat 5 g of protein, and the sweetest liqueurs 50 g of sugars.
_MOST = {Nutrient.FAT: (37.0, 20.0), Nutrient.CARBOHYDRATE: (17.0, 60.0), Nutrient.PROTEIN: (17.0, 6.0)}
#: The most grams of salt in 100 g of such a drink, and of carbohydrate beside sugars; grams of fat from which on it is
#: one of cream or egg, and of carbohydrate that such a liqueur has at least (Regulation (EU) 2019/787, Annex I, has
#: 70 g of sugar a litre and more); grams of protein from which on it comes with the fat of cream or yolk.
_MOST_SALT, _MOST_STARCH, _CREAMY, _LEAST_SWEET, _MILKY = 0.6, 15.0, 2.0, 5.0, 2.5
#: Per cent by volume, as a unit of a nutrient.
_PER_CENT = "P1"
#: How codes of drinks with alcohol begin (the second as the sandbox codes them), and codes that leave it open.
_DRINKS_GPC, _OPEN_GPC = ("502022", "50000002"), ("50000000", "50200000")
#: The words that tell drinks with alcohol from others; a phrase has "_" between its words.
_TABLE = "alcohol_words.tsv"
_is_word, _use_of = partial(has_use, _TABLE), partial(first_use, _TABLE)
#: Uses of words in the order in which they are looked for.
_USES = ("free", "other", "open", "drink", "origin", "soft")
#: A share in a folded name, where a space stands for the comma, that says that there is hardly any alcohol: "0,0 %",
#: "0%", "0.5 % vol"; not the end of "5,0 %".
_HARDLY_ANY = re.compile(
    r"(?<!\d)(?<!\d )(?:0(?: 0+)? ?%|0 0\b|(?:0 \d+|1 [012]) ?%? ?(?:vol|alc|alk))"
    r"|\bal[ck]\w*\W+(?:0(?: \d+)?|1 [012]) ?%"
)
#: What says how much or how strong, behind the words of a name.
_AMOUNT = re.compile(r"\d[\d ]*(?:% ?(?:vol|alc|alk)?|[a-z]{1,2}\b)?")
#: What joins two kinds in one label: "wines & soft drinks".
_JOINED = re.compile(r"[&,/+]|\b(?:and|et|und|en|y|e|ed|og|och|ja)\b")


class _Kind(IntEnum):
    """What class and kind say."""

    NOTHING, CLASSED, OTHER, DRINK, FREE, TORN = range(6)


class _Name(IntEnum):
    """What the names say."""

    NOTHING, FOOD, HELD, MIXED, DRINK, OPEN, OTHER, FREE = range(8)


class _Figure(IntEnum):
    """What the figures say: nothing, nutrients of no such drink, a strength, up to the limit or over it, or both."""

    NONE, ZERO, OF_OTHERS, LOW, AMOUNT, STRENGTH, TORN = range(7)


class _Made(IntEnum):
    """What the list of ingredients says: there is none, it has what drinks are made of, or it has nothing of that."""

    UNTOLD, OF_DRINKS, OF_OTHERS = range(3)


#: What is said in the end.
_NOT, _ABOVE, _UNKNOWN = 0, 1, 2


@once_per_part
def is_alcoholic(products: Products, kinds: tuple[str, ...] = ()) -> Answer:
    """Say which products are drinks of more than 1.2 % of alcohol.

    Parameters
    ----------
    products
        Those of a part.
    kinds
        Codes of kinds that the profile says to be such drinks.
    """
    if kinds and not pc.any(pc.is_in(products.column("kind_code"), pa.array(kinds))).as_py():
        return is_alcoholic(products)
    needs = (
        ["GPC.code", "kind.label", "kind.code"],
        [f"{name}.data" for name in NAMES],
        ["percentageOfAlcoholByVolume", *NutritionColumns.NEEDS, *NutritionColumns.BASIS],
        ["composition.data"],
    )
    judged = _judged(tuple(products.are_asked_for(paths) for paths in needs))
    kind = _of_kinds(products, kinds)
    figure = _of_figures(products)
    # Texts are read of those alone of which the rest leaves it open.
    by_name = np.ptp(judged, axis=1).any(axis=2)[kind, figure]
    name = _of_names(products, by_name)
    made = _of_lists(products, np.ptp(judged, axis=3).astype(bool)[kind, name, figure])
    found = judged[kind, name, figure, made]
    return pd.arrays.BooleanArray(found == _ABOVE, found == _UNKNOWN)


@once_per_process
def _judged(is_asked: tuple[bool, ...]) -> npt.NDArray[np.int64]:
    """Return what kind, name, figure and list say together; of those that nobody asked for, whatever they may be."""
    facts = (_Kind, _Name, _Figure, _Made)
    judged = np.array([_judge(*each) for each in every(*facts)]).reshape([len(one) for one in facts])
    for axis, asked in enumerate(is_asked):
        if not asked:
            least, most = judged.min(axis, keepdims=True), judged.max(axis, keepdims=True)
            judged = np.broadcast_to(np.where(least == most, least, _UNKNOWN), judged.shape)
    return judged


def _judge(kind: _Kind, name: _Name, figure: _Figure, made: _Made) -> int:
    """Say whether a product with these facts is a drink over the limit."""
    is_free = kind is _Kind.FREE or name is _Name.FREE
    match figure:
        case _Figure.TORN:
            return _UNKNOWN
        case _Figure.LOW:
            return _NOT
        case _Figure.ZERO | _Figure.OF_OTHERS:
            # A zero may stand for "not known", and a figure be wrong, where the words say that it is a drink.
            is_drink = kind in {_Kind.DRINK, _Kind.TORN} or (name is _Name.DRINK and kind is _Kind.NOTHING)
            is_other = is_free or (figure is _Figure.OF_OTHERS and made is _Made.OF_OTHERS)
            return _UNKNOWN if is_drink and not is_other else _NOT
        case _Figure.STRENGTH | _Figure.AMOUNT:
            return _judge_figure(kind, name, figure is _Figure.STRENGTH, is_free)
    if kind in {_Kind.OTHER, _Kind.CLASSED} or is_free:
        return _NOT
    if name is _Name.OPEN:
        return _UNKNOWN
    if kind is _Kind.DRINK or (name is _Name.DRINK and kind is _Kind.NOTHING):
        return _UNKNOWN if name is _Name.OTHER or made is _Made.OF_OTHERS else _ABOVE
    if kind is _Kind.TORN:
        return _ABOVE if name is _Name.DRINK else _UNKNOWN
    if name in {_Name.OTHER, _Name.FOOD}:
        return _NOT
    return _NOT if made is _Made.OF_OTHERS else _UNKNOWN


def _judge_figure(kind: _Kind, name: _Name, is_strength: bool, is_free: bool) -> int:
    """Say the same where a figure is over the limit: food with alcohol in it may have one as well."""
    if kind is _Kind.OTHER:
        return _UNKNOWN if name is _Name.DRINK else _NOT
    if is_free:
        return _UNKNOWN
    if kind is _Kind.DRINK:
        return _UNKNOWN if name is _Name.OTHER else _ABOVE
    if name is _Name.OTHER:
        return _NOT
    if is_strength:
        return _UNKNOWN if name is _Name.HELD else _ABOVE
    return _ABOVE if name in {_Name.DRINK, _Name.MIXED} else _UNKNOWN


def _of_kinds(products: Products, kinds: tuple[str, ...]) -> Rows:
    # A code may be a word as well, and is what there is of a kind without a label.
    codes = products.column("kind_code")
    labels = pc.coalesce(products.column("kind"), codes)
    by_label = products.by_folded(labels, _kind_said, _Kind.NOTHING)
    by_class = by_value(products.column("gpc_code"), _class_said, _Kind.NOTHING).astype(np.int64)
    is_other = (by_class == _Kind.OTHER) & (by_label == _Kind.DRINK)
    is_torn = (by_class == _Kind.CLASSED) & (by_label == _Kind.DRINK)
    is_torn |= (by_class == _Kind.DRINK) & (by_label == _Kind.OTHER)
    found = np.where(by_label == _Kind.NOTHING, by_class, by_label)
    found = np.where(is_torn, _Kind.TORN, np.where(is_other, _Kind.OTHER, found))
    if kinds:
        named = is_true(pc.is_in(codes, pa.array(kinds)))
        found = np.where(named & (by_class != _Kind.OTHER) & (found != _Kind.FREE), _Kind.DRINK, found)
    return np.asarray(found, np.int64)


def _class_said(code: str) -> int:
    if code.startswith(_DRINKS_GPC):
        return _Kind.DRINK
    is_food = is_food_by_class(code)
    if is_food is None or code in _OPEN_GPC:
        return _Kind.NOTHING
    return _Kind.CLASSED if is_food else _Kind.OTHER


@lru_cache(maxsize=2**14)
def _kind_said(label: str) -> int:
    """Say what a folded label of a kind tells."""
    found = _said(label)
    other = found & (_Said.OTHER | _Said.SOFT) or kind_tells(_without_drinks(label)) != 0
    if found & _Said.FREE:
        return _Kind.TORN if _JOINED.search(label) else _Kind.FREE
    if found & _Said.OPEN:
        return _Kind.TORN
    if found & _Said.DRINK:
        if not other:
            return _Kind.DRINK
        return _Kind.TORN if _JOINED.search(label) or not found & _Said.OTHER else _Kind.OTHER
    return _Kind.OTHER if other else _Kind.NOTHING


def _without_drinks(label: str) -> str:
    """Return a label without words that name drinks, colours and places of them, and those that tell nothing of it."""
    words, is_named = plain_words(label), False
    if any(word in _firsts() for word in words):
        for use in ("drink", "origin"):
            label, count = _phrases()[use].subn(" ", label)
            is_named |= count > 0
        words = plain_words(label)
    is_named |= any(_is_word(word, "drink", "origin") for word in words)
    # "Rosé" is a colour of what is named, and a flower by itself.
    uses = ("drink", "origin", "any", *(("of",) if is_named else ()))
    return " ".join(word for word in words if not _is_word(word, *uses))


class _Said:
    """What the words of a text are of, as bits: plain numbers, since thousands of names are read."""

    FREE, OTHER, OPEN, DRINK, ORIGIN, SOFT, FOOD, HELD, MIXED = (1 << place for place in range(9))


#: What is said by the words of each use.
_SAID: dict[str, int] = {use: getattr(_Said, use.upper()) for use in _USES}


def _of_names(products: Products, chosen: Mask) -> Rows:
    flags, flag = np.unique(_said_in(products, chosen, NAMES, _name_said), return_inverse=True)
    return np.array([*map(_name_of, flags.tolist()), 0], np.int64)[:-1][flag]


def _of_lists(products: Products, chosen: Mask) -> Rows:
    flags = _said_in(products, chosen, ("composition",), _list_said)
    found = np.where(flags > 0, _Made.OF_OTHERS, _Made.UNTOLD)
    return np.asarray(np.where(flags & _OF_DRINKS, _Made.OF_DRINKS, found), np.int64)


@dataclass(frozen=True)
class _TextsRead:
    """What texts of products say, and of which products they were read: rules differ in whose they need."""

    said: Rows
    is_read: Mask

    @classmethod
    def none(cls, size: int) -> Self:
        return cls(np.zeros(size, np.int64), np.zeros(size, bool))


def _said_in(
    products: Products, chosen: Mask, attributes: tuple[str, ...], say: Callable[[str], int]
) -> Rows:
    """Return the flags of what is said in texts of some products, each wording read once; none of the others."""
    known = products.remember(("drinks", attributes), lambda: _TextsRead.none(len(products)))
    texts = TextColumns.of(products)
    rows = np.flatnonzero((chosen & ~known.is_read)[texts.product] & texts.within(attributes))
    used, wording = np.unique(texts.wording[rows], return_inverse=True)
    plain = texts.folded(used).to_pylist()
    said = np.array([*map(say, plain), 0], np.int64)[:-1][wording]
    np.bitwise_or.at(known.said, texts.product[rows], said)
    known.is_read[chosen] = True
    return np.where(chosen, known.said, 0)


def _name_of(flags: int) -> int:
    """Return what names say together."""
    for flag, name in (
        (_Said.FREE, _Name.FREE),
        (_Said.OTHER, _Name.OTHER),
        (_Said.OPEN, _Name.OPEN),
        (_Said.MIXED, _Name.MIXED),
    ):
        if flags & flag:
            return name
    if flags & (_Said.DRINK | _Said.ORIGIN):
        return _Name.MIXED if flags & (_Said.FOOD | _Said.SOFT | _Said.HELD) else _Name.DRINK
    if flags & _Said.HELD:
        return _Name.HELD
    return _Name.FOOD if flags & (_Said.FOOD | _Said.SOFT) else _Name.NOTHING


@lru_cache(maxsize=2**15)
def _name_said(name: str) -> int:
    """Say what a folded name tells: a drink is its first word or its last, and nothing is made with it."""
    found = _said(name)
    if found & (_Said.FREE | _Said.OTHER | _Said.OPEN):
        return found
    words = plain_words(_AMOUNT.sub(" ", name))
    is_food = _names_food(_without_drinks(name))
    if not found & (_Said.DRINK | _Said.ORIGIN):
        return found | (_Said.FOOD if is_food else 0)
    places = [place for place, word in enumerate(words) if _is_word(word, "drink", "origin")] or [0]
    if places[0] > 0 and _is_word(words[places[0] - 1], "held"):
        return _Said.FOOD if is_food else _Said.HELD
    if places[0] > 0 and not found & _Said.DRINK and _is_word(words[places[0] - 1], "of"):
        # What comes from a place of wine need not be wine: "sarments du Médoc".
        return _Said.MIXED
    if not is_food and not found & _Said.SOFT:
        return found
    behind = words[places[-1] + 1 :]
    is_first = places[0] == 0 and len(words) > 1 and _is_word(words[1], "of")
    is_last = all(len(word) < _LETTERS for word in behind)
    # A grape or a place is no drink beside a word of food: "escargots de Bourgogne".
    is_head = (is_first or is_last) and bool(found & _Said.DRINK) and not found & _Said.SOFT
    return found & ~_Said.SOFT if is_head else _Said.MIXED


#: What has fewer letters is a unit or the like.
_LETTERS = 3


def _names_food(name: str) -> bool:
    foods = table_words("harmless_words.tsv", use="food")
    return names_food(name) or not foods.whole.isdisjoint(name.split())


@lru_cache(maxsize=2**15)
def _said(text: str) -> int:
    """Return the uses of the words that a folded text has; what has one is no part of another."""
    found = _Said.FREE if _HARDLY_ANY.search(text) else 0
    words = plain_words(text)
    if any(word in _firsts() for word in words):
        for use, pattern in _phrases().items():
            text, count = pattern.subn(" ; ", text)
            found |= _SAID[use] if count and use in _SAID else 0
        words = plain_words(text)
    return found | sum({_SAID[use] for word in words if (use := _use_of(word, *_USES))})


#: What is said of a list: that there is one, and that a drink is made of it.
_LISTED, _OF_DRINKS = 1, 2


def _list_said(text: str) -> int:
    words = frozenset(plain_words(text))
    of_drinks = any(_is_word(word, "list") for word in words) and not any(
        _is_word(word, "solid") for word in words
    )
    return _LISTED | (_OF_DRINKS if of_drinks else 0)


@once_per_process
def _phrases_of(use: str) -> tuple[str, ...]:
    """Return the phrases of a use, the longest first."""
    phrases = (phrase for phrase in listed_words(_TABLE, use=use) if "_" in phrase)
    return tuple(sorted(phrases, key=len, reverse=True))


@once_per_process
def _phrases() -> dict[str, re.Pattern[str]]:
    """Return one expression of the phrases of each use."""
    named = {use: "|".join(rf"\b{_expression(each)}\b" for each in _phrases_of(use)) for use in _USES}
    return {use: re.compile(expression) for use, expression in named.items() if expression}


def _expression(phrase: str) -> str:
    return re.escape(phrase).replace(r"\*", r"\w*").replace("_", r"[\W_]+")


@once_per_process
def _firsts() -> frozenset[str]:
    """Return the words with which phrases begin."""
    return frozenset(phrase.partition("_")[0] for use in _USES for phrase in _phrases_of(use))


@once_per_part
def _of_figures(products: Products) -> Rows:
    """Return what the strength says, and the nutrient alcohol; zeros count where nothing else is declared."""
    product, strength, _ = quantities(products, "percentageOfAlcoholByVolume")
    nutrition = NutritionColumns.of(products)
    rows = nutrition.rows_of(Nutrient.ALCOHOL)
    partition = nutrition.row[rows]
    amounts = nutrition.grams[rows] * nutrition.per_hundred[partition] / _DENSITY
    is_share = by_value(nutrition["unit_code"].take(pa.array(rows)), lambda unit: unit == _PER_CENT, False)
    amounts = np.where(is_share.astype(bool), nutrition.quantity[rows], amounts)
    # Grams in 100 g may be those of a cake; a share by volume is that of a drink, and so is what is in 100 ml.
    is_of_food = ~is_share.astype(bool) & nutrition.by_weight[partition]
    whose = nutrition.product[partition]
    every_one, values = np.concatenate([product, whose]), np.concatenate([strength, amounts])
    of_food = np.concatenate([np.zeros(len(product), bool), is_of_food])
    strong, amounting = (products.any(every_one[(values > ALCOHOL_LIMIT) & of]) for of in (~of_food, of_food))
    weak = products.any(every_one[(values > 0) & (values <= ALCOHOL_LIMIT)])
    none = products.any(every_one[values == 0]) | nutrition.any(_leaves_no_room(nutrition))
    other = nutrition.any(_is_of_no_drink(nutrition))
    found = np.where(none, _Figure.ZERO, _Figure.NONE)
    found = np.where(other, _Figure.OF_OTHERS, found)
    found = np.where(weak, _Figure.LOW, found)
    found = np.where(amounting, _Figure.AMOUNT, found)
    found = np.where(strong, _Figure.STRENGTH, found)
    torn = (weak & (strong | amounting)) | (other & strong)
    return np.asarray(np.where(torn, _Figure.TORN, found), np.int64)


def _amounts(nutrition: NutritionColumns) -> dict[Nutrient, Numbers]:
    return {
        each: nutrition.amount(each) * nutrition.per_hundred
        for each in (*_MOST, Nutrient.SALT, Nutrient.SUGARS)
    }


def _leaves_no_room(nutrition: NutritionColumns) -> Mask:
    """Say in which partitions fat, carbohydrate and protein are all of the energy."""
    amounts = _amounts(nutrition)
    energy = np.where(
        np.isnan(nutrition.energy("kJ")), nutrition.energy("kcal") * _KILOJOULES, nutrition.energy("kJ")
    )
    energy = energy * nutrition.per_hundred
    left = energy - np.sum([kilojoules * amounts[each] for each, (kilojoules, _) in _MOST.items()], axis=0)
    # A twentieth is what rounding and fibre make of the energy of food.
    least = np.maximum(ALCOHOL_LIMIT * _DENSITY * _ENERGY_OF_ALCOHOL, energy / 20)
    return np.asarray((energy > 0) & (left < least))


def _is_of_no_drink(nutrition: NutritionColumns) -> Mask:
    """Say in which partitions there is more of a nutrient than any drink with alcohol has, or one without another."""
    amounts = _amounts(nutrition)
    fat, carbohydrate, protein = (amounts[each] for each in _MOST)
    too_much = np.any([amounts[each] > most for each, (_, most) in _MOST.items()], axis=0)
    too_much |= np.nan_to_num([fat, carbohydrate, protein]).sum(axis=0) > _MOST[Nutrient.CARBOHYDRATE][1]
    too_much |= amounts[Nutrient.SALT] > _MOST_SALT
    too_much |= carbohydrate - amounts[Nutrient.SUGARS] > _MOST_STARCH
    return np.asarray(
        too_much
        | ((fat > _CREAMY) & (carbohydrate < _LEAST_SWEET))
        | ((protein > _MILKY) & (protein > np.nan_to_num(fat)))
    )

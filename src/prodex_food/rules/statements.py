"""Rules of statements that certain foods have to bear (Annex III of Regulation (EU) No 1169/2011).

A statement has parts, and all of them have to be said: that drinks have much caffeine, for whom they are not, and how
much it is. It can stand in any text of a record, and records seldom have all texts of a pack. So its absence says
nothing where a record has no field filled in which such statements are given; then the check is unknown. Where one is
filled, a missing statement is perhaps on the pack all the same.

Two statements are left out, since no field decides whether they are due: "packaged in a protective atmosphere" and
"contains liquorice", which depends on an amount that nobody declares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.packs import (
    CONSUMER_UNITS,
    FOOD_INFORMATION,
    NAMES,
    AttributeTexts,
    Evidence,
    Mask,
    Message,
    Numbers,
    Nutrient,
    NutritionColumns,
    Products,
    Rows,
    TextColumns,
    Verdict,
    compared_with,
    has_match,
    is_true,
    once_per_part,
    rule,
)
from prodex_food.food_products import is_food
from prodex_food.label_words import (
    as_typed,
    knows_statements_in,
    says_sugar_and_sweetener,
    says_sweetener,
    says_together,
    says_with_sweetener,
    sweetener_in,
    words_in,
    words_of,
)

#: Where statements are given that the law requires.
_STATEMENTS = ("compulsoryStatements", "warnings")
#: The same of those that accompany the name of the food.
_BESIDE_NAME = ("nameLegal", *_STATEMENTS)
#: What ingredients are looked for at once.
_NAMED = ("sweetener", "intense", "aspartame", "polyol", "sterol", "caffeine")
#: Grams of polyols in 100 g over which the statement is due, and of caffeine in 100 ml: 150 mg a litre.
_MOST_POLYOLS, _MOST_CAFFEINE = 10.0, 0.015
#: Its code (INFOODS), which no other rule needs.
CAFFEINE = "CAFFN"
#: What looks for words in a folded text: those of a use, or what a function finds.
_Look: TypeAlias = str | Callable[[str], str | bool]
#: What a statement has to say, part by part: what it is called, and what looks for it.
_Parts: TypeAlias = Mapping[Message, _Look]
#: What statements say, part by part; the parts may stand in several texts of one record.
_PHENYLALANINE: _Parts = {
    Message("contains a source of phenylalanine"): says_together("phenylalanine", "source_of"),
    Message("contains aspartame"): "named_aspartame",
}
_LAXATIVE: _Parts = {
    Message("excessive consumption may produce laxative effects"): says_together("laxative", "excess")
}
_NOT_FOR_ALL = Message("Not recommended for children or pregnant or breast-feeding women")
_HIGH_CAFFEINE: _Parts = {
    Message("High caffeine content"): "high_caffeine",
    _NOT_FOR_ALL: says_together("children", "pregnant", "breastfeeding"),
    Message("the amount of caffeine in mg per 100 ml"): "amount_of_drink",
}
_CAFFEINE: _Parts = {
    Message("Contains caffeine"): "caffeine",
    Message("Not recommended for children or pregnant women"): says_together("children", "pregnant"),
    Message("the amount of caffeine in mg per 100 g"): "amount_of_food",
}
_STEROLS: _Parts = {
    Message("with added plant sterols"): says_together("sterol", "added"),
    Message("not for people who do not need to control their cholesterol"): "cholesterol",
    Message("with cholesterol-lowering medicine only under medical supervision"): "medicine",
    Message("perhaps not for pregnant or breast-feeding women and young children"): "pregnant",
    Message("as part of a varied diet with fruit and vegetables"): "fruit",
    Message("no more than 3 g of added plant sterols a day"): "three_grams",
}

#: Declares a rule of statements. A warning: the pack may say what the record does not repeat.
_rule = partial(
    rule,
    dimension="completeness",
    block="food",
    severity="warning",
    needs=("{attribute}.data", "*"),
    certain="passes",
    scope=CONSUMER_UNITS,
    law=FOOD_INFORMATION,
    exact=False,
)


class _Ingredients(NamedTuple):
    """The lists of ingredients that name something of which a statement speaks: place of the text, and it folded."""

    text: Rows
    folded: list[str]


@once_per_part
def _ingredients(products: Products, attribute: str) -> _Ingredients:
    texts = TextColumns.of(products)
    own = np.flatnonzero(texts.within([attribute]))
    used = texts.used(own)
    folded = texts.folded(used)
    # One look at each wording for everything: few lists name any of it.
    found = np.zeros(len(texts.texts), bool)
    found[used[is_true(has_match(folded, words_of(*_NAMED)))]] = True
    own = own[found[texts.wording[own]]]
    return _Ingredients(own, texts.folded(texts.wording[own]).to_pylist())


def _found(folded: str, look: _Look) -> str | bool:
    return words_in(folded, look) if isinstance(look, str) else look(folded)


def _naming(products: Products, attribute: str, look: _Look) -> dict[int, tuple[int, str]]:
    """Return the products whose ingredients name something that is looked for: the first text, and its words."""
    texts, among = TextColumns.of(products), _ingredients(products, attribute)
    found: dict[int, tuple[int, str]] = {}
    for text, folded in zip(among.text.tolist(), among.folded, strict=True):
        if words := _found(folded, look):
            found.setdefault(int(texts.product[text]), (text, str(words)))
    return found


def _stating(products: Products, concerned: Mask, parts: _Parts, but: str = "") -> dict[Message, Mask]:
    """Say of each part of a statement which of some products have it in any text, but for those of one attribute."""
    texts = TextColumns.of(products)
    chosen = concerned[texts.product]
    if but:
        chosen &= ~texts.within([but])
    rows = np.flatnonzero(chosen)
    folded = texts.folded(texts.wording[rows]).to_pylist()
    whose = texts.product[rows].tolist()
    # Statements without a language are no texts of the table of texts.
    for attribute in _STATEMENTS:
        bare = AttributeTexts.of(products, attribute)
        own = np.flatnonzero(concerned[bare.product])
        folded += products.folded(bare.texts["text"].take(pa.array(own))).to_pylist()
        whose += bare.product[own].tolist()
    return {
        said: products.any([one for one, text in zip(whose, folded, strict=True) if _found(text, look)])
        for said, look in parts.items()
    }


def _whole(stated: Mapping[Message, Mask]) -> Mask:
    """Say which products have all parts of a statement."""
    return np.asarray(np.logical_and.reduce([*stated.values()]), bool)


def _why(stated: Mapping[Message, Mask], rows: Sequence[int]) -> list[Message]:
    """Return for some products the first part of a statement that no text says."""
    lacking = [next(said for said, has in stated.items() if not has[product]) for product in rows]
    return [Message('no text says "{said}"', said=said) for said in lacking]


def _verdict(
    products: Products,
    naming: dict[int, tuple[int, str]],
    stated: Mapping[Message, Mask],
    places: Sequence[str] = _STATEMENTS,
) -> Verdict:
    """Fail the products whose ingredients name something, and whose filled statements do not say so."""
    texts = TextColumns.of(products)
    named = products.any(list(naming))
    decided, whole = _are_decided(products, places), _whole(stated)
    fails = named & ~whole & decided
    rows = [product for product in sorted(naming) if fails[product]]
    chosen = np.array([naming[product][0] for product in rows], np.int64)
    languages = pa.array([one or None for one in texts.languages], pa.string())
    # Who has accepted a finding has read the ingredients and the statements: both have to be read again.
    listed, said = texts.texts_of(chosen).to_pylist(), _texts_at(products, places, rows)
    evidence = Evidence(
        np.array(rows, np.int64),
        [texts.attributes[place] for place in texts.attribute[chosen]],
        languages.take(pa.array(texts.language[chosen])),
        [as_typed(text, naming[product][1]) for product, text in zip(rows, listed, strict=True)],
        _why(stated, rows),
        [compared_with(text, said[product]) for product, text in zip(rows, listed, strict=True)],
    )
    unknown = named & ~whole & ~decided
    return Verdict(pd.arrays.BooleanArray(fails, unknown), is_food(products) & named, evidence)


def _texts_at(products: Products, places: Sequence[str], rows: Sequence[int]) -> dict[int, list[str]]:
    """Return for some products the texts in which a statement would stand, in an order of their own."""
    found: dict[int, list[str]] = {product: [] for product in rows}
    for place in places:
        texts = AttributeTexts.of(products, place)
        for product, text in zip(texts.product.tolist(), texts.texts["text"].to_pylist(), strict=True):
            if product in found:
                found[product].append(text)
    return {product: sorted(texts) for product, texts in found.items()}


def _are_decided(products: Products, places: Sequence[str]) -> Mask:
    """Say of which products statements are given, as texts in languages that can be read."""
    codes = np.zeros(len(products), bool)
    for attribute in _STATEMENTS:
        codes |= AttributeTexts.of(products, attribute).otherwise
    texts = TextColumns.of(products)
    foreign = np.array([not knows_statements_in(one) for one in texts.languages], bool)
    if foreign.any():
        codes |= products.any(texts.product[texts.within(places) & foreign[texts.language]])
    return products.any_filled(places) & ~codes


@_rule(
    title="food with sweeteners says so beside its name",
    problem='Statement "with sweetener(s)" perhaps missing',
    fix='Add "with sweetener(s)" to the legal name, as printed on the pack.',
    article="Art. 10(1) and Annex III(2.1)",
    cannot_see="Sweeteners that are named by a word or number that is not in the table, and names on the pack alone.",
)
def sweeteners_are_stated(products: Products, *, attribute: str = "composition") -> Verdict:
    """Who avoids sweeteners reads the name, not the list. Polyols count where the list calls them sweeteners."""
    naming = _naming(products, attribute, sweetener_in)
    concerned = products.any(list(naming))
    said = Message("with sweetener(s)")
    beside = _stating(products, concerned, {said: says_sweetener}, but=attribute)
    anywhere = _stating(products, concerned, {said: says_with_sweetener})
    return _verdict(products, naming, {said: beside[said] | anywhere[said]}, _BESIDE_NAME)


@_rule(
    title="food with sugars and sweeteners says so beside its name",
    problem='Statement "with sugar(s) and sweetener(s)" perhaps missing',
    fix='Add "with sugar(s) and sweetener(s)" to the legal name, as printed on the pack.',
    article="Art. 10(1) and Annex III(2.2)",
    cannot_see="Sugars that are named by a word that is not in the table, and names on the pack alone.",
)
def sugars_and_sweeteners_are_stated(products: Products, *, attribute: str = "composition") -> Verdict:
    """Sweeteners make nobody expect sugars as well: the statement names both."""
    sweet = _naming(products, attribute, sweetener_in)
    sugar = _naming(products, attribute, "sugar")
    naming = {product: sweet[product] for product in sweet if product in sugar}
    concerned = products.any(list(naming))
    both = {Message("with sugar(s) and sweetener(s)"): says_sugar_and_sweetener}
    return _verdict(products, naming, _stating(products, concerned, both, but=attribute), _BESIDE_NAME)


@_rule(
    title="food with aspartame says that it is a source of phenylalanine",
    problem="Statement on phenylalanine perhaps missing",
    fix='Add "contains a source of phenylalanine" to the compulsory statements, as printed on the pack.',
    article="Art. 10(1) and Annex III(2.3)",
    cannot_see="Statements on the pack that the record does not repeat.",
)
def phenylalanine_is_stated(products: Products, *, attribute: str = "composition") -> Verdict:
    """People with phenylketonuria must avoid phenylalanine; "aspartame" or "E 951" does not tell them.

    Where only the number stands in the list, the statement has to name aspartame.
    """
    naming = _naming(products, attribute, "aspartame")
    return _verdict(products, naming, _stating(products, products.any(list(naming)), _PHENYLALANINE))


@_rule(
    title="food with added plant sterols says so",
    problem="Statement on plant sterols perhaps missing",
    fix='Add "with added plant sterols" or "with added plant stanols" to the legal name, and the further sentences.',
    article="Art. 10(1) and Annex III(5.1)",
    cannot_see="Whether a sentence says of its subject what it has to, and how large a portion is.",
)
def plant_sterols_are_stated(products: Products, *, attribute: str = "composition") -> Verdict:
    """They lower cholesterol; for whom they are, with what and how much a day has to be said as well."""
    naming = _naming(products, attribute, "sterol")
    stated = _stating(products, products.any(list(naming)), _STEROLS, but=attribute)
    return _verdict(products, naming, stated, _BESIDE_NAME)


@_rule(
    title="food with more than {limit} % polyols warns of their laxative effects",
    problem="Warning of laxative effects perhaps missing",
    fix='Add "excessive consumption may produce laxative effects" to the compulsory statements, as on the pack.',
    needs=("{attribute}.data", "*", *NutritionColumns.NEEDS, *NutritionColumns.BASIS),
    article="Art. 10(1) and Annex III(2.4)",
    cannot_see="Polyols that are named and not declared, and how much of those declared was added.",
)
def laxative_effects_are_stated(
    products: Products, *, attribute: str = "composition", limit: float = _MOST_POLYOLS
) -> Verdict:
    """Whoever eats much of them gets diarrhoea. The law means added polyols: dried plums have some by nature."""
    nutrition = NutritionColumns.of(products)
    least, _ = nutrition.range(Nutrient.POLYOLS)
    least = least * nutrition.per_hundred
    known = ~np.isnan(least)
    over = nutrition.any(known & (least > limit))
    # Named, but nobody says how much, or declared, and nobody says that they were added: unknown.
    named = products.any(list(_naming(products, attribute, "polyol")))
    undeclared = (named & ~nutrition.any(known)) | (over & ~named)
    over &= named
    concerned = over | undeclared
    stated = _stating(products, concerned, _LAXATIVE)
    amount = nutrition.amount(Nutrient.POLYOLS) * nutrition.per_hundred
    return _declared_verdict(products, nutrition, over, undeclared, stated, amount)


@_rule(
    title="drinks with more than 150 mg caffeine a litre warn of it",
    problem="Warning of caffeine perhaps missing",
    fix='Add the warning "High caffeine content" with its second sentence and the amount per 100 ml, as on the pack.',
    needs=("{attribute}.data", "*", *NutritionColumns.NEEDS, *NutritionColumns.BASIS),
    article="Art. 10(1) and Annex III(4.1)",
    cannot_see="How much of it there is, and what for, where caffeine is an ingredient and not declared as a nutrient.",
)
def high_caffeine_is_stated(products: Products, *, attribute: str = "composition") -> Verdict:
    """Not of drinks with "coffee" or "tea" in the name of the food.

    Caffeine that is an ingredient, and of which nobody says how much, is unknown until the warning is there: that of
    drinks, or that of other food ("Contains caffeine", Annex III(4.2)).
    """
    nutrition = NutritionColumns.of(products)
    caffeine = nutrition.amount(CAFFEINE) * nutrition.per_hundred
    declared = ~nutrition.by_weight & ~np.isnan(caffeine)
    over = nutrition.any(declared & (np.nan_to_num(caffeine) > _MOST_CAFFEINE + 1e-9))
    named = products.any(list(_naming(products, attribute, "caffeine"))) & ~nutrition.any(declared)
    concerned = over | named
    is_tea = _called_tea(products, concerned)
    stated = _stating(products, concerned, _HIGH_CAFFEINE)
    of_food = named & _whole(_stating(products, concerned, _CAFFEINE, but=attribute))
    return _declared_verdict(
        products,
        nutrition,
        over,
        named,
        {said: has | is_tea | of_food for said, has in stated.items()},
        caffeine,
    )


def _called_tea(products: Products, concerned: Mask) -> Mask:
    """Say which of some products have tea or coffee in a name; its accents tell "thé" from "the", so they count."""
    texts = TextColumns.of(products)
    rows = np.flatnonzero(texts.within(NAMES) & concerned[texts.product])
    typed = texts.texts_of(rows)
    plain = texts.folded(texts.wording[rows]).to_pylist()
    is_tea = [
        bool(words_in(one, "tea_or_coffee") or words_in(as_typed.lower(), "tea_or_coffee"))
        for one, as_typed in zip(plain, typed.to_pylist(), strict=True)
    ]
    return products.any(texts.product[rows[np.array(is_tea, bool)]])


def _declared_verdict(
    products: Products,
    nutrition: NutritionColumns,
    over: Mask,
    undeclared: Mask,
    stated: Mapping[Message, Mask],
    amount: Numbers,
) -> Verdict:
    """Fail the products that declare too much of something, and whose filled statements do not say so."""
    decided, whole = _are_decided(products, _STATEMENTS), _whole(stated)
    fails = over & ~whole & decided
    # The partition that declares most of it is the one to look at.
    most: dict[int, float] = {}
    for row in np.flatnonzero(~np.isnan(amount) & fails[nutrition.product]).tolist():
        product = int(nutrition.product[row])
        most[product] = max(most.get(product, 0.0), float(amount[row]))
    rows = sorted(most)
    said = _texts_at(products, _STATEMENTS, rows)
    evidence = Evidence(
        np.array(rows, np.int64),
        NutritionColumns.PATH,
        None,
        [f"{most[one]:g} g" for one in rows],
        _why(stated, rows),
        [compared_with(most[one], said[one]) for one in rows],
    )
    unknown = ~whole & ((over & ~decided) | undeclared)
    return Verdict(
        pd.arrays.BooleanArray(fails, unknown & ~fails), is_food(products) & (over | undeclared), evidence
    )

"""Rules of nutrition claims: what a text claims, the nutrition declaration and the ingredients have to bear out.

A product without claims, or whose claimed figure is not declared, breaks none of them. Figures are rounded (see
`NutritionColumns.range`), and the least or most that a figure can mean is what is compared. Whether food is solid or
liquid shows in what its nutrition refers to: per 100 ml it is liquid; per 100 g it may be either, and the laxer limit,
which is that of solids, decides.

A claim means the food as it is eaten (Art. 5(3)). What is to be prepared, by its name or by a declaration of it as
prepared, is judged by that declaration alone; without one nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.packs import (
    CONSUMER_UNITS,
    NAMES,
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
    once_per_part,
    rule,
)
from prodex_food.food_products import is_food
from prodex_food.label_words import (
    as_typed,
    claims_in,
    has_claim_words,
    may_claim,
    may_sweeten,
    sweetened_with,
    without_comparatives,
    words_in,
)
from prodex_food.laws import HEALTH_CLAIMS

#: Texts that may claim something of the product itself. Ingredients name those of others ("low fat yoghurt powder").
CLAIMING = (
    *NAMES,
    *("productionVariantName", "description", "advertisedInformations"),
    *("nutritionalAllegations", "productBenefits", "brandHighlight"),
)
#: Those that tell of other foods as well: what goes with the product, what else there is.
_RUNNING = ("description", "advertisedInformations", "brandHighlight")
_TEXTS = " or ".join(f"{name}.data" for name in CLAIMING)

#: Grams per 100 g of solids and per 100 ml of liquids, at most: "low" and "free" of the Annex.
_SUGARS = {"low_sugars": (5.0, 2.5), "sugars_free": (0.5, 0.5)}
_FAT = {"low_fat": (3.0, 1.5), "fat_free": (0.5, 0.5)}
#: What semi-skimmed milk may have, whose name does not always say that it is.
_LOW_FAT_OF_MILK = 1.8
#: What no figure bears out: "95 % fat-free", which the Annex forbids, and a reduction by less than 30 % (25 % of salt).
_PART_FAT_FREE = "part_fat_free"
_LITTLE_LESS = {
    nutrient: f"little_less_{nutrient}" for nutrient in ("sugars", "fat", "saturates", "salt", "energy")
}
_LEAST_LESS, _LEAST_LESS_SALT = 30.0, 25.0
#: Both claims are of saturates and trans fats together, of which no declaration has the latter.
_SATURATES = {"low_saturates": (1.5, 0.75), "saturates_free": (0.1, 0.1)}
#: Of salt, 2.5 times the sodium of the Annex: 0.12, 0.04 and 0.005 g; 0.002 g of waters.
_SALT = {
    "low_salt": (0.3, 0.3),
    "no_added_salt": (0.3, 0.3),
    "very_low_salt": (0.1, 0.1),
    "salt_free": (0.0125, 0.0125),
}
_LOW_SALT_OF_WATER = 0.005
#: Kilocalories that no water has, and decimals to which salt and sodium are rounded.
_NO_ENERGY, _DECIMALS_OF_SALT = 1.0, 2
#: Kilocalories. "Energy-free" is a claim of what is measured in millilitres; of solids the same is asked.
_ENERGY = {"low_energy": (40.0, 20.0), "energy_free": (4.0, 4.0)}
#: Grams per 100 g, and per 100 kcal; one of the two is enough.
_FIBRE = {"fibre_source": (3.0, 1.5), "high_fibre": (6.0, 3.0)}
#: Per cent of the energy that protein has to give, computed by the factors of Annex XIV of Regulation 1169/2011.
_PROTEIN = {"protein_source": 12.0, "high_protein": 20.0}
#: Kilocalories in a gram of protein and of fat, as there, and kilojoules in a kilocalorie.
_OF_PROTEIN, _OF_FAT, _KILOJOULES = 4.0, 9.0, 4.184
#: Per cent of the energy that saturates may give in what is low in them.
_MOST_OF_SATURATES = 10.0
#: Kilocalories that may be rounded away.
_ROUNDING = 0.5

#: The most that solids may have, and liquids: one figure, or one for each partition.
_Limit: TypeAlias = tuple[float, float | Numbers]

#: Declares a rule of claims. A warning: words may speak of an ingredient, and a claim that nothing refutes is unknown.
_rule = partial(
    rule,
    dimension="consistency",
    block="food",
    severity="warning",
    needs=(_TEXTS, *NutritionColumns.NEEDS, *NutritionColumns.BASIS),
    certain="fails",
    scope=CONSUMER_UNITS,
    law=HEALTH_CLAIMS,
    exact=False,
)


class _Claims(NamedTuple):
    """What texts claim: the place of the text in `TextColumns`, the claim, its words."""

    text: Rows
    claim: list[str]
    words: list[str]


@once_per_part
def _claims(products: Products) -> _Claims:
    texts = TextColumns.of(products)
    own = np.flatnonzero(texts.within(CLAIMING))
    used = texts.used(own)
    used = used[may_claim(texts.texts.take(pa.array(used)))]
    folded = products.folded(without_comparatives(texts.texts.take(pa.array(used))))
    rows = has_claim_words(folded)
    used, folded = used[rows], folded.take(pa.array(rows))
    running = texts.within(_RUNNING)
    # Each wording once, however many products share it; the same words may be a name and run on.
    found = {
        (wording, runs): claims
        for wording, text in zip(used.tolist(), folded.to_pylist(), strict=True)
        for runs in (False, True)
        if (claims := claims_in(text, running=runs))
    }
    claiming = np.zeros(len(texts.texts), bool)
    claiming[[wording for wording, _ in found]] = True
    own = own[claiming[texts.wording[own]]]
    each = [
        (text, *claim)
        for text, *said in zip(own.tolist(), texts.wording[own].tolist(), running[own].tolist(), strict=True)
        for claim in found.get((said[0], said[1]), ())
    ]
    return _Claims(
        np.array([text for text, _, _ in each], np.int64),
        [claim for _, claim, _ in each],
        [words for _, _, words in each],
    )


def _nobody_claims(products: Products, *among: str) -> Verdict | None:
    """Return that the check applies to no product, if none claims anything of these; most parts have few claims."""
    if set(among) & set(_claims(products).claim):
        return None
    none = np.zeros(len(products), bool)
    return Verdict(none, none)


@dataclass(frozen=True)
class _Figures:
    """What partitions declare of what is claimed.

    Attributes
    ----------
    wrong, known
        One boolean for each partition.
    why
        Gives the reason by the row of a partition and the words of the claim.
    compared
        Gives the figures by which a partition was judged, and what decides which limit is meant.
    """

    wrong: Mask
    known: Mask
    why: Callable[[int, str], Message]
    compared: Callable[[int], Sequence[object]]


def _verdict(products: Products, figures: Mapping[str, _Figures]) -> Verdict:
    """Fail the products whose texts claim what no declaration of 100 g or 100 ml bears out."""
    nutrition = NutritionColumns.of(products)
    claims, texts = _claims(products), TextColumns.of(products)
    claimed, wrong, undeclared = np.zeros((3, len(products)), bool)
    shown: list[_Shown] = []
    seen: set[int] = set()
    counted = _counted(products, nutrition)
    for claim, figure in figures.items():
        chosen = [place for place, one in enumerate(claims.claim) if one == claim]
        if not chosen:
            continue
        whose = texts.product[claims.text[chosen]]
        claimed[whose] = True
        known = figure.known & counted
        # What one of several declarations bears out is no breach.
        fails = nutrition.any(known & figure.wrong) & ~nutrition.any(known & ~figure.wrong)
        wrong |= fails & products.any(whose)
        undeclared |= products.any(whose) & ~nutrition.any(known)
        first = {
            int(nutrition.product[row]): int(row)
            for row in np.flatnonzero(known & fails[nutrition.product])[::-1]
        }
        for place, product in zip(chosen, whose.tolist(), strict=True):
            text = int(claims.text[place])
            if fails[product] and text not in seen:
                seen.add(text)
                words = as_typed(texts.texts_of(np.array([text])).to_pylist()[0], claims.words[place])
                reason = figure.why(first[product], words)
                compared = compared_with(claim, *figure.compared(first[product]))
                shown.append(_Shown(text, product, reason, compared))
    evidence = _evidence(texts, shown)
    # What is claimed and not declared is neither borne out nor refuted.
    fails_or_unknown = pd.arrays.BooleanArray(wrong, undeclared & ~wrong)
    return Verdict(fails_or_unknown, is_food(products) & claimed, evidence)


def _counted(products: Products, nutrition: NutritionColumns) -> Mask:
    """Say which partitions count: those of 100 g or ml, of what is to be prepared as it is prepared (Art. 5(3))."""
    hundred = np.isclose(nutrition.per_hundred, 1.0)
    is_prepared = _are_called(products, "to_prepare") | nutrition.any(nutrition.prepared)
    return hundred & (nutrition.prepared | ~is_prepared[nutrition.product])


@once_per_part
def _are_called(products: Products, use: str) -> Mask:
    """Say which of the products that claim something have words of a use in a name."""
    texts = TextColumns.of(products)
    claiming = products.any(texts.product[_claims(products).text])
    rows = np.flatnonzero(texts.within(NAMES) & claiming[texts.product])
    folded = texts.folded(texts.wording[rows]).to_pylist()
    return products.any(texts.product[rows[np.array([bool(words_in(one, use)) for one in folded], bool)]])


class _Shown(NamedTuple):
    """A claim that does not hold: the place of its text, its product, the reason, what it was compared with."""

    text: int
    product: int
    reason: Message
    compared: str


def _evidence(texts: TextColumns, shown: Iterable[_Shown]) -> Evidence:
    shown = sorted(shown, key=lambda one: (one.product, one.text))
    rows = np.array([one.text for one in shown], np.int64)
    attributes = pa.array(texts.attributes, pa.string())
    languages = pa.array([one or None for one in texts.languages], pa.string())
    return Evidence(
        texts.product[rows],
        attributes.take(pa.array(texts.attribute[rows])),
        languages.take(pa.array(texts.language[rows])),
        texts.texts_of(rows),
        [one.reason for one in shown],
        [one.compared for one in shown],
    )


def _at_most(
    nutrition: NutritionColumns,
    label: Message,
    declared: Numbers,
    least: Numbers,
    most: _Limit,
) -> _Figures:
    """Compare the least that figures can mean with the limit of solids, or of liquids per 100 ml."""
    limit = np.where(nutrition.by_weight, *most)
    known = ~np.isnan(least)
    unit = np.where(nutrition.by_weight, "g", "ml")
    shown = np.where(np.isnan(declared), least, declared)
    # A float may hold 0.3 as 0.30000000000000004.
    return _Figures(
        known & (least > limit + 1e-6),
        known,
        lambda row, words: Message(
            'claims "{words}", at most {limit:g} g of {label} per 100 {unit}; declared: {figure:g} g',
            words=words,
            limit=limit[row],
            label=label,
            unit=unit[row],
            figure=shown[row],
        ),
        lambda row: (shown[row], limit[row], unit[row]),
    )


def _part_fat_free(words: str) -> Message:
    return Message('claims "{words}", which no food may claim', words=words)


def _less(products: Products, nutrient: str, percent: float = _LEAST_LESS) -> dict[str, _Figures]:
    """Return the figures of a reduction that is too small."""
    return _forbidden(
        products,
        _LITTLE_LESS[nutrient],
        lambda words: Message(
            'claims "{words}"; a reduction is at least {limit:g} %', words=words, limit=percent
        ),
    )


def _forbidden(products: Products, claim: str, why: Callable[[str], Message]) -> dict[str, _Figures]:
    """Return the figures of a claim that no declaration bears out."""
    always = np.ones(len(NutritionColumns.of(products).product), bool)
    return {claim: _Figures(always, always, lambda _, words: why(words), lambda _: ())}


def _limited(
    products: Products, nutrient: str, label: Message, limits: Mapping[str, _Limit]
) -> dict[str, _Figures]:
    nutrition = NutritionColumns.of(products)
    declared, (least, _) = nutrition.amount(nutrient), nutrition.range(nutrient, nutrition.of_serving)
    return {claim: _at_most(nutrition, label, declared, least, most) for claim, most in limits.items()}


def _kilocalories(nutrition: NutritionColumns) -> Numbers:
    declared = nutrition.energy("kcal")
    return np.where(np.isnan(declared), nutrition.energy("kJ") / _KILOJOULES, declared)


@_rule(
    title="claims of low sugars and of no sugars agree with the nutrition",
    problem="Claim about sugars perhaps against the nutrition",
    fix="Correct the claim or the sugars of the nutrition declaration: they contradict each other.",
    article="Art. 8 and Annex (low sugars, sugars-free)",
    cannot_see="A claim in a picture or in words that are not in the table, and what a reduction is compared with.",
)
def sugars_claims_hold(products: Products) -> Verdict:
    """What is low in sugars has up to 5 g per 100 g (2.5 g per 100 ml), what is free of them up to 0.5 g."""
    if (none := _nobody_claims(products, *_SUGARS, _LITTLE_LESS["sugars"])) is not None:
        return none
    figures = _limited(products, Nutrient.SUGARS, Message("sugars"), _SUGARS)
    return _verdict(products, figures | _less(products, "sugars"))


@_rule(
    title="claims of low fat and of no fat agree with the nutrition",
    problem="Claim about fat perhaps against the nutrition",
    fix="Correct the claim or the fat of the nutrition declaration: they contradict each other.",
    article="Art. 8 and Annex (low fat, fat-free)",
    cannot_see="Claims in pictures or in words of no table.",
)
def fat_claims_hold(products: Products) -> Verdict:
    """Low fat is up to 3 g per 100 g (1.5 g per 100 ml, 1.8 g of semi-skimmed milk), "fat-free" up to 0.5 g.

    "95 % fat-free" is forbidden, however much fat there is.
    """
    if (none := _nobody_claims(products, *_FAT, _PART_FAT_FREE, _LITTLE_LESS["fat"])) is not None:
        return none
    nutrition = NutritionColumns.of(products)
    solid, liquid = _FAT["low_fat"]
    of_drinks: Numbers = np.where(_are_called(products, "milk")[nutrition.product], _LOW_FAT_OF_MILK, liquid)
    limits: dict[str, _Limit] = {**_FAT, "low_fat": (solid, of_drinks)}
    figures = _limited(products, Nutrient.FAT, Message("fat"), limits)
    return _verdict(
        products, figures | _forbidden(products, _PART_FAT_FREE, _part_fat_free) | _less(products, "fat")
    )


@_rule(
    title="claims of low saturated fat and of none agree with the nutrition",
    problem="Claim about saturated fat perhaps against the nutrition",
    fix="Correct the claim or the saturates of the nutrition declaration: they contradict each other.",
    article="Art. 8 and Annex (low saturated fat, saturated fat-free)",
    cannot_see="Trans fatty acids, which count as well and are not declared.",
)
def saturates_claims_hold(products: Products) -> Verdict:
    """Low is up to 1.5 g per 100 g (0.75 g per 100 ml) and up to 10 % of the energy, "free" up to 0.1 g."""
    if (none := _nobody_claims(products, *_SATURATES, _LITTLE_LESS["saturates"])) is not None:
        return none
    nutrition = NutritionColumns.of(products)
    figures = _limited(products, Nutrient.SATURATES, Message("saturates"), _SATURATES)
    least, _ = nutrition.range(Nutrient.SATURATES, nutrition.of_serving)
    kilocalories = _kilocalories(nutrition)
    with np.errstate(invalid="ignore", divide="ignore"):
        percent = 100 * least * _OF_FAT / (kilocalories + _ROUNDING)
    low = figures["low_saturates"]
    by_energy = low.known & ~low.wrong & (percent > _MOST_OF_SATURATES) & (least > 0.5)
    figures["low_saturates"] = _Figures(
        low.wrong | by_energy,
        low.known,
        lambda row, words: (
            Message(
                'claims "{words}", at most {limit:g} % of the energy from saturates; declared: {figure:.3g} %',
                words=words,
                limit=_MOST_OF_SATURATES,
                figure=percent[row],
            )
            if by_energy[row]
            else low.why(row, words)
        ),
        lambda row: (*low.compared(row), *([kilocalories[row]] if by_energy[row] else [])),
    )
    return _verdict(products, figures | _less(products, "saturates"))


@_rule(
    title="claims of low salt and of no salt agree with the nutrition",
    problem="Claim about salt perhaps against the nutrition",
    fix="Correct the claim or the salt of the nutrition declaration: they contradict each other.",
    article="Art. 8 and Annex (low or no sodium or salt, none added)",
    cannot_see="Waters whose name has no such word, and whether salt was added where a text claims that none was.",
)
def salt_claims_hold(products: Products) -> Verdict:
    """Low is up to 0.12 g of sodium per 100 g or ml, very low 0.04 g, free 0.005 g; of salt it is 2.5 times that.

    What has no added salt may have as much as what is low in it; waters low in sodium have up to 0.002 g per 100 ml.
    """
    if (none := _nobody_claims(products, *_SALT, _LITTLE_LESS["salt"])) is not None:
        return none
    nutrition = NutritionColumns.of(products)
    salt, sodium = nutrition.amount(Nutrient.SALT), nutrition.amount(Nutrient.SODIUM) * 2.5
    (least, _), (of_sodium, _) = nutrition.range(Nutrient.SALT), nutrition.range(Nutrient.SODIUM)
    declared = np.where(np.isnan(salt), sodium, salt)
    # The smaller of both, where they differ.
    smallest = np.fmin(
        _exact(nutrition, salt, least), 2.5 * _exact(nutrition, nutrition.amount(Nutrient.SODIUM), of_sodium)
    )
    is_water = _are_called(products, "thinned")[nutrition.product] & ~(_kilocalories(nutrition) > _NO_ENERGY)
    solid, liquid = _SALT["low_salt"]
    limits: dict[str, _Limit] = {**_SALT, "low_salt": (solid, np.where(is_water, _LOW_SALT_OF_WATER, liquid))}
    figures = {
        claim: _at_most(nutrition, Message("salt"), declared, smallest, most)
        for claim, most in limits.items()
    }
    return _verdict(products, figures | _less(products, "salt", _LEAST_LESS_SALT))


def _exact(nutrition: NutritionColumns, declared: Numbers, least: Numbers) -> Numbers:
    """Return the least that figures can mean, of those with more decimals than they need: these are not rounded."""
    found = least.copy()
    for decimals in range(_DECIMALS_OF_SALT + 1, _DECIMALS_OF_SALT + 3):
        step = 10.0**-decimals
        rough = np.abs(declared / step / 10 - np.round(declared / step / 10)) > 1e-6
        # Figures that were multiplied from a serving have such decimals as well.
        exact = rough & (nutrition.of_serving == 0)
        found = np.where(exact, np.maximum(declared - step / 2, 0.0), found)
    return found


@_rule(
    title="claims of little energy agree with the nutrition",
    problem="Claim about energy perhaps against the nutrition",
    fix="Correct the claim or the energy of the nutrition declaration: they contradict each other.",
    article="Art. 8 and Annex (low energy, energy-free)",
    cannot_see='Table-top sweeteners, whose limit is by portion; "light" and "reduced", which compare foods.',
)
def energy_claims_hold(products: Products) -> Verdict:
    """Low energy is up to 40 kcal per 100 g (20 kcal per 100 ml), "energy-free" up to 4 kcal."""
    if (none := _nobody_claims(products, *_ENERGY, _LITTLE_LESS["energy"])) is not None:
        return none
    nutrition = NutritionColumns.of(products)
    kilocalories = _kilocalories(nutrition)
    known = ~np.isnan(kilocalories)
    unit = np.where(nutrition.by_weight, "g", "ml")

    def at_most(most: tuple[float, float]) -> _Figures:
        limit = np.where(nutrition.by_weight, *most)
        return _Figures(
            known & (kilocalories - _ROUNDING > limit),
            known,
            lambda row, words: Message(
                'claims "{words}", at most {limit:g} kcal per 100 {unit}; declared: {figure:.4g} kcal',
                words=words,
                limit=limit[row],
                unit=unit[row],
                figure=kilocalories[row],
            ),
            lambda row: (kilocalories[row], limit[row], unit[row]),
        )

    figures = {claim: at_most(most) for claim, most in _ENERGY.items()}
    return _verdict(products, figures | _less(products, "energy"))


@_rule(
    title="claims of fibre agree with the nutrition",
    problem="Claim about fibre perhaps against the nutrition",
    fix="Correct the claim or the fibre of the nutrition declaration: they contradict each other.",
    article="Art. 8 and Annex (source of fibre, high fibre)",
    cannot_see="Fibre that is claimed and not declared.",
)
def fibre_claims_hold(products: Products) -> Verdict:
    """A source has 3 g of fibre per 100 g or 1.5 g per 100 kcal at least, "high fibre" is twice that."""
    if (none := _nobody_claims(products, *_FIBRE)) is not None:
        return none
    nutrition = NutritionColumns.of(products)
    declared, (_, most) = (
        nutrition.amount(Nutrient.FIBRE),
        nutrition.range(Nutrient.FIBRE, nutrition.of_serving),
    )
    kilocalories = _kilocalories(nutrition)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_energy = 100 * most / np.maximum(kilocalories - _ROUNDING, 0.0)
        shown_of_energy = 100 * declared / kilocalories
    # Below its limit per 100 g it may still be enough for its energy, which has to be known.
    known = ~np.isnan(most) & ~np.isnan(kilocalories)
    shown = np.where(np.isnan(declared), most, declared)

    def at_least(per_hundred: float, per_energy: float) -> _Figures:
        wrong = (most < per_hundred) & (of_energy < per_energy)
        # Enough only if the figures were rounded down to what is declared.
        rounded = (declared < per_hundred - 1e-6) & (shown_of_energy < per_energy - 1e-6)
        return _Figures(
            known & wrong,
            known & (wrong | ~rounded),
            lambda row, words: Message(
                'claims "{words}", at least {least:g} g of fibre per 100 g or {limit:g} g per 100 kcal; '
                "declared: {figure:g} g",
                words=words,
                least=per_hundred,
                limit=per_energy,
                figure=shown[row],
            ),
            lambda row: (shown[row], kilocalories[row], per_hundred, per_energy),
        )

    return _verdict(products, {claim: at_least(*both) for claim, both in _FIBRE.items()})


@_rule(
    title="claims of protein agree with the nutrition",
    problem="Claim about protein perhaps against the nutrition",
    fix="Correct the claim or the protein of the nutrition declaration: they contradict each other.",
    article="Art. 8 and Annex (source of protein, high protein)",
    cannot_see="Whether a text speaks of the product or of one of its ingredients.",
)
def protein_claims_hold(products: Products) -> Verdict:
    """Protein gives 12 % of the energy of a source of protein at least, and 20 % where it is high."""
    if (none := _nobody_claims(products, *_PROTEIN)) is not None:
        return none
    nutrition = NutritionColumns.of(products)
    declared, (_, most) = (
        nutrition.amount(Nutrient.PROTEIN),
        nutrition.range(Nutrient.PROTEIN, nutrition.of_serving),
    )
    kilocalories = _kilocalories(nutrition)
    with np.errstate(invalid="ignore", divide="ignore"):
        percent = 100 * most * _OF_PROTEIN / np.maximum(kilocalories - _ROUNDING, 0.0)
        shown = 100 * np.where(np.isnan(declared), most, declared) * _OF_PROTEIN / kilocalories
    grams = np.where(np.isnan(declared), most, declared)
    # No energy, no share of it.
    known = ~np.isnan(most) & (kilocalories > 0)

    def at_least(share: float) -> _Figures:
        wrong = percent < share
        return _Figures(
            known & wrong,
            # Enough only if the figures were rounded down to what is declared.
            known & (wrong | ~(shown < share - 1e-6)),
            lambda row, words: Message(
                'claims "{words}", at least {limit:g} % of the energy from protein; declared: {figure:.3g} %',
                words=words,
                limit=share,
                figure=shown[row],
            ),
            lambda row: (grams[row], kilocalories[row], share),
        )

    return _verdict(products, {claim: at_least(share) for claim, share in _PROTEIN.items()})


@_rule(
    title="what claims no added sugars names no sugar among its ingredients",
    problem="No added sugars claimed, and perhaps added",
    fix="Correct the claim or the list of ingredients: they contradict each other.",
    needs=(_TEXTS, "{attribute}.data"),
    article="Art. 8 and Annex (with no added sugars)",
    cannot_see="Why a food is added: dates may be there for their sweetness, concentrated juice for its taste.",
)
def no_added_sugars_claim_holds(products: Products, *, attribute: str = "composition") -> Verdict:
    """The claim means that no sugar, syrup, honey or the like was added, not even within another ingredient."""
    claims, texts = _claims(products), TextColumns.of(products)
    chosen = [place for place, one in enumerate(claims.claim) if one == "no_added_sugars"]
    whose = texts.product[claims.text[chosen]]
    claiming = texts.texts_of(claims.text[chosen])
    claimed = products.any(whose)
    listed = np.flatnonzero(texts.within([attribute]) & claimed[texts.product])
    folded = texts.folded(texts.wording[listed]).to_pylist()
    sugar: dict[int, str] = {}
    doubtful: set[int] = set()
    lists: dict[int, list[str]] = {}
    typed = texts.texts_of(listed).to_pylist()
    for product, text, as_written in zip(texts.product[listed].tolist(), folded, typed, strict=True):
        lists.setdefault(product, []).append(as_written)
        if words := sweetened_with(text):
            sugar.setdefault(product, as_typed(as_written, words))
        elif may_sweeten(text):
            doubtful.add(product)
    wrong = products.any(list(sugar)) & claimed
    undeclared = claimed & (~products.any(texts.product[listed]) | products.any(list(doubtful)))
    shown = [
        _Shown(
            int(claims.text[place]),
            product,
            Message(
                'claims "{words}"; the ingredients name "{example}"',
                words=as_typed(said, claims.words[place]),
                example=sugar[product],
            ),
            # Who has accepted it has read the ingredients.
            compared_with(sorted(lists[product])),
        )
        for place, product, said in zip(chosen, whose.tolist(), claiming.to_pylist(), strict=True)
        if product in sugar
    ]
    evidence = _evidence(texts, shown)
    return Verdict(pd.arrays.BooleanArray(wrong, undeclared & ~wrong), is_food(products) & claimed, evidence)

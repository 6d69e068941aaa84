"""Defects of the information on food that Regulation (EU) 1169/2011 requires, and of net content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from prodex_sandbox.sample import texts
from prodex_sandbox.sample.defects.planting import Trace, in_record, is_consumer_unit
from prodex_sandbox.sample.defects.wording import empty
from prodex_sandbox.sample.labelling import Nutrients, declaration
from prodex_sandbox.sample.product import Draft
from prodex_sandbox.sample.vocabulary import quantity

_FIGURES = "isPartitionedBy.contains"
#: Food of a single ingredient, of which no list is asked (Art. 19): a flavour makes no other kind of it.
_ALONE = ("TEA", "COFFEE", "RICE", "HONEY", "EGGS")


def _is_food(made: Draft) -> bool:
    return made.unit.is_consumer_unit and made.family.kind.is_food


def _declares(condition: Callable[[Nutrients], bool]) -> Callable[[Draft], bool]:
    return lambda made: made.nutrients is not None and condition(made.nutrients)


def _weighs(condition: Callable[[Nutrients], bool]) -> Callable[[Draft], bool]:
    """Suit declarations per 100 g: what is in 100 ml has no limit by weight."""
    declares = _declares(condition)
    return lambda made: declares(made) and made.record["isPartitionedBy"][0]["isMeasuredBy"]["code"] == "GRM"


def _nutrients(made: Draft) -> Nutrients:
    """Return the figures of a product that declares them; the planters of this module apply to no other."""
    if made.nutrients is None:
        raise ValueError(
            f"Product {made.record['id']} declares no nutrition; plant this defect in one that does."
        )
    return made.nutrients


def _restate(made: Draft, *, kilocalories: float | None = None, **grams: float) -> None:
    """Give the record a nutrition declaration with other figures."""
    # A declaration for 100 ml stays one for 100 ml.
    basis = made.record["isPartitionedBy"][0]["isMeasuredBy"]["code"]
    changed = replace(_nutrients(made), **grams)
    made.record["isPartitionedBy"] = declaration(changed, basis, kilocalories=kilocalories)


@in_record("content", 0.004, is_consumer_unit)
def missing_net_content(made: Draft) -> Iterable[Trace]:
    """The net content is missing."""
    empty(made, "netContent")
    return [Trace("netContent")]


@in_record(
    "content",
    0.008,
    lambda made: (
        _is_food(made)
        and made.family.kind.alcohol is None
        and len(made.ingredients) > 1
        and made.family.kind.code not in _ALONE
    ),
)
def missing_composition(made: Draft) -> Iterable[Trace]:
    """The ingredients of a food with more than one are missing."""
    empty(made, "composition")
    return [Trace("composition")]


@in_record("content", 0.004, _is_food)
def missing_contact(made: Draft) -> Iterable[Trace]:
    """Name and address of the food business operator are missing."""
    empty(made, "contact")
    return [Trace("contact")]


@in_record("content", 0.004, _is_food)
def missing_storage(made: Draft) -> Iterable[Trace]:
    """The storage instructions of a food are missing."""
    empty(made, "conservationAdvices")
    return [Trace("conservationAdvices")]


@in_record("content", 0.012, lambda made: _is_food(made) and made.family.kind.needs_preparation)
def missing_instructions(made: Draft) -> Iterable[Trace]:
    """The instructions for use of a food that needs preparation are missing."""
    empty(made, "consumptionAdvice")
    return [Trace("consumptionAdvice")]


@in_record("content", 0.012, lambda made: _is_food(made) and made.family.kind.needs_origin)
def missing_origin(made: Draft) -> Iterable[Trace]:
    """The country of origin is missing where it is required."""
    empty(made, "originCountry")
    return [Trace("originCountry")]


@in_record("content", 0.06, lambda made: _is_food(made) and made.family.kind.alcohol is not None)
def missing_alcohol(made: Draft) -> Iterable[Trace]:
    """The alcohol content of a drink with more than 1.2 % of alcohol is missing."""
    empty(made, "percentageOfAlcoholByVolume")
    return [Trace("percentageOfAlcoholByVolume")]


@in_record("content", 0.008, lambda made: made.nutrients is not None and made.family.kind.sector != "drinks")
def missing_nutrition(made: Draft) -> Iterable[Trace]:
    """The nutrition declaration is missing."""
    empty(made, "isPartitionedBy")
    return [Trace("isPartitionedBy")]


#: What cereals are called where a list does not say which they are.
_NAMELESS: Mapping[str, Mapping[str, str]] = {
    "wheat_flour": {"en": "flour", "fr": "farine", "de": "Mehl", "es": "harina", "nl": "bloem"},
    "durum_semolina": {"en": "semolina", "fr": "semoule", "de": "Grieß", "es": "sémola", "nl": "griesmeel"},
    "barley_malt": {"en": "malt", "fr": "malt", "de": "Malz", "es": "malta", "nl": "mout"},
}


def _name_otherwise(made: Draft, group: str) -> None:
    """Write an allergen as lists do in real life: flour without its cereal, others between marks in two of three."""
    # By the id: whoever drew a number here would change what is drawn after it.
    is_marked = int(made.record["id"]) % 3 > 0
    for item in made.record["composition"]:
        language = str(item["expressedIn"]["normalizedCode"])
        for ingredient in made.ingredients:
            word = ingredient.words[language]
            plain = word.replace("*", "")
            marked = word.replace(" *", "_").replace("* ", "_").replace("*", "_")
            nameless = _NAMELESS.get(ingredient.code, {}).get(language)
            written = nameless or (marked if is_marked else plain)
            if ingredient.allergen == group and written != plain:
                item["data"] = re.sub(re.escape(plain), written, item["data"], flags=re.IGNORECASE)


@in_record("content", 0.02, lambda made: _is_food(made) and any(each.allergen for each in made.ingredients))
def allergen_not_listed(made: Draft) -> Iterable[Trace]:
    """The composition names an allergen that the allergens do not list."""
    groups = list(dict.fromkeys(each.allergen for each in made.ingredients if each.allergen))
    group = made.rng.choice(groups)
    _name_otherwise(made, group)
    listed = texts.allergens(made.family, made.ingredients, without=group)
    if listed:
        made.record["allergens"] = listed
    else:
        empty(made, "allergens")
    return [Trace("allergens", group)]


@in_record("content", 0.006, _weighs(lambda each: each.kilocalories < 300))
def nutrient_over_100(made: Draft) -> Iterable[Trace]:
    """A nutrient weighs more than the 100 g that hold it (over 105)."""
    protein = float(made.rng.randrange(106, 130))
    _restate(made, protein=protein)
    return [Trace(_FIGURES, f"PRO- {protein} g"), Trace(_FIGURES, defect="nutrient_sum_over_100")]


@in_record("content", 0.006, _weighs(lambda each: each.fat + each.carbohydrate > 20 and each.fat < 60))
def nutrient_sum_over_100(made: Draft) -> Iterable[Trace]:
    """Fat, carbohydrate and protein together weigh more than the 100 g that hold them (over 105)."""
    stated = _nutrients(made)
    # Each nutrient alone stays below 100 g.
    protein = round(112 - stated.fat - stated.carbohydrate, 1)
    _restate(made, protein=protein)
    return [Trace(_FIGURES, f"PRO- {protein} g makes a sum over 112 g")]


@in_record("content", 0.004, _declares(lambda each: 50 < each.kilocalories < 600))
def energy_too_high(made: Draft) -> Iterable[Trace]:
    """More than 3,800 kJ in 100 g, which pure fat does not have."""
    _restate(made, kilocalories=made.rng.randrange(960, 1_100))
    return [Trace(_FIGURES, "ENER- over 3,800 kJ"), Trace(_FIGURES, defect="computed_energy_off")]


@in_record("content", 0.006, _declares(lambda each: each.kilocalories > 100))
def energy_inconsistent(made: Draft) -> Iterable[Trace]:
    """Kilojoules are not 3.7 to 4.7 times the kilocalories.

    Each of the two figures stays within 15 % of the computed energy.
    """
    rows: list[dict[str, Any]] = made.record["isPartitionedBy"][0]["contains"]
    kilojoules, kilocalories = rows[0], rows[1]
    # The ratio becomes 5.0, while each of the two figures stays plausible.
    kilojoules["quantity"] = round(kilojoules["quantity"] * 1.08)
    kilocalories["quantity"] = round(kilocalories["quantity"] * 0.9)
    return [Trace(_FIGURES, f"{kilojoules['quantity']} kJ, {kilocalories['quantity']} kcal")]


@in_record("content", 0.006, _declares(lambda each: each.kilocalories > 50))
def computed_energy_off(made: Draft) -> Iterable[Trace]:
    """The declared energy is more than 30 % away from what the nutrients give."""
    energy = _nutrients(made).kilocalories
    _restate(made, kilocalories=energy * 0.6)
    return [Trace(_FIGURES, f"{energy * 0.6:.0f} kcal declared, {energy:.0f} computed")]


@in_record("content", 0.006, _declares(lambda each: 1 <= each.fat <= 50))
def saturates_over_fat(made: Draft) -> Iterable[Trace]:
    """Saturates exceed the fat that they are part of."""
    stated = _nutrients(made)
    _restate(made, saturates=round(stated.fat + 2, 1))
    return [Trace(_FIGURES, f"FASAT {stated.fat + 2:.1f} g, FAT {stated.fat} g")]


@in_record(
    "content",
    0.006,
    _declares(lambda each: 3 <= each.carbohydrate <= 80),
    may_follow=["nutrient_in_wrong_unit"],
)
def sugars_over_carbohydrate(made: Draft) -> Iterable[Trace]:
    """Sugars exceed the carbohydrate that they are part of."""
    stated = _nutrients(made)
    _restate(made, sugars=round(stated.carbohydrate + 3, 1))
    return [Trace(_FIGURES, f"SUGAR- {stated.carbohydrate + 3:.1f} g, CHOAVL {stated.carbohydrate} g")]


#: Kinds that nobody takes for water, tea or salt, whatever the variant.
_WITH_ENERGY = ("HARD_CHEESE", "BISCUITS", "YOGURT", "JAM", "CEREALS", "PEANUT_BUTTER", "ICE_CREAM", "HONEY")
#: Kinds of which even a small sample has many products, so that what is usual in them is known.
_FREQUENT = ("530853", "TOFU", "HAM", "CHICKEN_FILLET")


@in_record("content", 0.08, lambda made: made.nutrients is not None and made.family.kind.code in _FREQUENT)
def nutrient_in_wrong_unit(made: Draft) -> Iterable[Trace]:
    """The salt is a thousandth of what it should be: kilograms as grams."""
    salt = round(_nutrients(made).salt / 1000, 6)
    _restate(made, salt=salt)
    return [Trace(_FIGURES, f"SALTEQ {salt:g} g")]


@in_record("content", 0.03, lambda made: made.nutrients is not None and made.family.kind.code in _WITH_ENERGY)
def nutrition_all_zero(made: Draft) -> Iterable[Trace]:
    """Every figure of the nutrition declaration is zero."""
    for row in made.record["isPartitionedBy"][0]["contains"]:
        row["quantity"] = 0
    return [Trace(_FIGURES)]


@in_record(
    "content",
    0.006,
    _declares(lambda each: each.kilocalories > 0),
)
def net_content_of_serving(made: Draft) -> Iterable[Trace]:
    """The net content is that of a serving, of which the nutrition is declared as well."""
    (hundred,) = made.record["isPartitionedBy"]
    scaled = [row | {"quantity": round(row["quantity"] * 0.3, 2)} for row in hundred["contains"]]
    serving = {"name": "30", "quantity": 30, "isMeasuredBy": hundred["isMeasuredBy"], "contains": scaled}
    made.record["isPartitionedBy"] = [hundred, serving]
    made.record["netContent"] = [quantity(30.0, hundred["isMeasuredBy"]["code"])]
    return [Trace("netContent", "30")]

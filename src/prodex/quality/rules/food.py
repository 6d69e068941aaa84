"""Rules of what has to be told about food before it is bought, at a distance as well."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from prodex.quality.columns import Mask, numbers
from prodex.quality.foods import is_alcoholic, is_food
from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule
from prodex.quality.units import grams

_EU = "Regulation (EU) No 1169/2011"
_CLASS = "GPC.code"
_CONSUMERS = {"is_consumer_unit": True}


def _told(products: Products, attribute: str, applies: Mask) -> Verdict:
    """Say of which products an attribute has no data, and of which of them it waits to be accepted."""
    fails = ~products.filled(attribute)
    waiting = np.flatnonzero(fails & products.filled(f"lastRequest.{attribute}"))
    reason = "waits under lastRequest: it is there as soon as the update is accepted"
    return Verdict(fails, applies, Evidence(waiting, attribute, None, None, reason))


@rule(
    title="the net content is told, and more than zero",
    fix="Give the net content with its unit, as it stands on the pack.",
    severity="error",
    dimension="completeness",
    block="food",
    needs="{attribute}.data",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(e) and 23",
)
def has_net_content(products: Products, *, attribute: str = "netContent") -> Verdict:
    """Customers compare prices by it, and the law asks for it on anything that is sold by weight, volume or number."""
    missing = _told(products, attribute, np.ones(len(products), bool))
    told = products.arrow("quantities", "attribute", "value")
    told = told.filter(pc.equal(told["attribute"], attribute))
    product, value = told["product"].to_numpy(), numbers(told["value"])
    nothing = np.flatnonzero(~(value > 0) & ~products.any(product[value > 0])[product])
    if not len(nothing):
        return missing
    return Verdict(
        missing.fails | products.any(product[nothing]),
        evidence=Evidence(product[nothing], attribute, None, value[nothing].tolist(), "not more than zero"),
    )


@rule(
    title="the ingredients of food are told",
    fix="Give the list of ingredients, in descending order of weight, with the allergens emphasised.",
    severity="error",
    dimension="completeness",
    block="food",
    needs=("{attribute}.data", _CLASS),
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(b) and 18; not of drinks over 1.2 % alcohol, Art. 16(4)",
)
def has_composition(products: Products, *, attribute: str = "composition") -> Verdict:
    """People with an allergy cannot buy what does not say what is in it.

    Food of a single ingredient whose name says it needs no list (Art. 19): except its kinds in the profile.
    """
    return _told(products, attribute, is_food(products) & ~is_alcoholic(products))


@rule(
    title="how to store food is told",
    fix="Give the storage conditions as they stand on the pack.",
    severity="error",
    dimension="completeness",
    block="food",
    needs=("{attribute}.data", _CLASS),
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(g) and 25",
)
def has_storage_conditions(products: Products, *, attribute: str = "conservationAdvices") -> Verdict:
    """Food that is kept wrongly spoils, or makes ill."""
    return _told(products, attribute, is_food(products))


@rule(
    title="the name and address of the food business operator are told",
    fix="Give the name and address of the operator under whose name the food is sold.",
    severity="error",
    dimension="completeness",
    block="food",
    needs=("{attribute}", _CLASS),
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(h) and 8(1)",
)
def has_operator_contact(products: Products, *, attribute: str = "contact") -> Verdict:
    """Customers and authorities have to know whom to ask."""
    return _told(products, attribute, is_food(products))


@rule(
    title="the country of origin of food is told",
    fix="Give the country of origin or place of provenance.",
    severity="error",
    dimension="completeness",
    block="food",
    needs=("{attribute}", _CLASS),
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(i) and 26; the kinds of which it is asked stand in the profile",
)
def has_origin(products: Products, *, attribute: str = "originCountry") -> Verdict:
    """It has to be told of meat, fish, eggs, honey, olive oil, wine, fruit, vegetables, and where silence misleads."""
    return _told(products, attribute, is_food(products))


@rule(
    title="how to use or prepare food is told",
    fix="Give the instructions for use as they stand on the pack.",
    severity="error",
    dimension="completeness",
    block="food",
    needs=("{attribute}.data", _CLASS),
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(j) and 27; the kinds of which it is asked stand in the profile",
)
def has_instructions_for_use(products: Products, *, attribute: str = "consumptionAdvice") -> Verdict:
    """It has to be told where food cannot be used properly without it: what is raw, frozen or dried."""
    return _told(products, attribute, is_food(products))


@rule(
    title="the strength of drinks with alcohol is told",
    fix="Give the alcoholic strength by volume in per cent.",
    severity="error",
    dimension="completeness",
    block="food",
    needs=("{attribute}.data", _CLASS),
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(k) and 28",
)
def has_alcohol_strength(
    products: Products, *, attribute: str = "percentageOfAlcoholByVolume", kinds: tuple[str, ...] = ()
) -> Verdict:
    """It has to be told of drinks of more than 1.2 %: by their class, or of the kinds that the profile names."""
    named = products["kind_code"].isin(kinds).to_numpy(bool)
    return _told(products, attribute, is_alcoholic(products) | (named & is_food(products)))


@rule(
    title="the nutrition of food is declared",
    fix="Give the nutrition declaration per 100 g or 100 ml.",
    severity="error",
    dimension="completeness",
    block="food",
    needs=("{attribute}.contains.quantity", _CLASS),
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(l) and 30; not of drinks over 1.2 % alcohol, Art. 16(4), nor of Annex V",
)
def has_nutrition(products: Products, *, attribute: str = "isPartitionedBy") -> Verdict:
    """Shops compute scores and filters from it.

    Unprocessed food of one ingredient, water, spices, tea and coffee need none (Annex V): except their kinds in the
    profile.
    """
    return _told(products, f"{attribute}.contains", is_food(products) & ~is_alcoholic(products))


@rule(
    title="net content and net weight agree",
    fix="Correct the one that is wrong, or its unit.",
    severity="warning",
    dimension="consistency",
    block="food",
    needs=("netContent.data", "netWeight.data"),
    scope=_CONSUMERS,
    source="GDSN: net weight is that of the contents; drained weights and rounding differ",
    exact=False,
)
def net_content_fits_net_weight(products: Products, *, tolerance: float = 0.1) -> Verdict:
    """A factor of thousand between them is a wrong unit, and somebody will print the wrong one."""
    content, weight = grams(products, "netContent"), grams(products, "netWeight")
    known = (content > 0) & (weight > 0)
    fails = known & (np.abs(content - weight) > tolerance * np.maximum(content, weight))
    wrong = np.flatnonzero(fails)
    return Verdict(
        fails,
        applies=known,
        evidence=Evidence(
            wrong,
            "netContent",
            None,
            [f"{each:g} g" for each in content[wrong]],
            [f"net weight {each:g} g, more than {tolerance:.0%} apart" for each in weight[wrong]],
        ),
    )

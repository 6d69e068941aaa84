"""Rules of the information about food that the law requires before it is bought, online as well."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from prodex.quality.food_products import food_evidence, is_alcoholic, is_food, is_of_kind
from prodex.quality.products import Products
from prodex.quality.rulebook import CONSUMER_UNITS, rule
from prodex.quality.verdict import Evidence, Verdict, missing_data

_EU = "Regulation (EU) No 1169/2011"

#: Article 9(1) lists what food has to say; cases and pallets are not sold to those whom it protects.
_rule = partial(
    rule,
    dimension="completeness",
    block="food",
    needs="{attribute}.data",
    certain="passes",
    scope=CONSUMER_UNITS,
    record_alone=True,
)


def _missing_of_food(products: Products, attribute: str, applies: Any) -> Verdict:
    """Fail the products without data for an attribute; where no class says that they are food, say what does."""
    verdict = missing_data(products, attribute, applies)
    pending = verdict.evidence
    # Where a class says that it is food, nobody asks why; elsewhere the reason is shown, since it may be wrong.
    unclassed = products.column("gpc_code").is_null().to_numpy(zero_copy_only=False)
    is_known = is_food(products).fillna(False).to_numpy(bool)
    shown = np.flatnonzero(
        verdict.fails & is_known & unclassed & ~products.any(pending.product if pending else [])
    )
    said = food_evidence(products)
    reasons = [f"no data; taken for food by {said[row]}" for row in shown.tolist()]
    if pending is None or not len(shown):
        return verdict
    rows = np.concatenate([pending.product, shown])
    order = np.argsort(rows, kind="stable")
    every = pa.array([*[pending.reason] * len(pending.product), *reasons], pa.string()).take(pa.array(order))
    return replace(verdict, evidence=Evidence(rows[order], attribute, None, None, every))


@_rule(
    title="food has a list of ingredients",
    problem="List of ingredients missing",
    fix="Give the list of ingredients, in descending order of weight, with the allergens emphasised.",
    severity="error",
    source=f"{_EU}, Art. 9(1)(b) and 18; not of drinks over 1.2 % alcohol, Art. 16(4)",
    law="food-information",
    article="Art. 9(1)(b) and 18",
)
def has_composition(products: Products, *, attribute: str = "composition") -> Verdict:
    """People with an allergy cannot buy food without a list of ingredients.

    Food of a single ingredient with the same name needs no list (Art. 19): exclude such kinds in the profile.
    """
    # Art. 16(4): drinks over 1.2 % alcohol need neither a list of ingredients nor a nutrition declaration.
    return _missing_of_food(products, attribute, is_food(products) & ~is_alcoholic(products))


@_rule(
    title="food has storage conditions",
    problem="Storage conditions missing",
    fix="Give the storage conditions as printed on the pack.",
    severity="warning",
    source=f"{_EU}, Art. 9(1)(g) and 25",
    exact=False,
)
def has_storage_conditions(products: Products, *, attribute: str = "conservationAdvices") -> Verdict:
    """Food that is stored wrongly spoils or makes people ill.

    The law requires them only for food that needs special conditions, which a record does not show: a warning.
    """
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="the name and address of the food business operator are given",
    problem="Name and address of the food business operator missing",
    fix="Give the name and address of the operator under whose name the food is sold.",
    severity="error",
    needs="{attribute}",
    source=f"{_EU}, Art. 9(1)(h) and 8(1)",
)
def has_operator_contact(products: Products, *, attribute: str = "contact") -> Verdict:
    """Customers and authorities have to know whom to contact."""
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="food has a country of origin",
    problem="Country of origin missing",
    fix="Give the country of origin or place of provenance.",
    severity="error",
    needs="{attribute}",
    source=f"{_EU}, Art. 9(1)(i) and 26; the kinds of which it is asked stand in the profile",
)
def has_origin(products: Products, *, attribute: str = "originCountry") -> Verdict:
    """It is mandatory for meat, fish, eggs, honey, olive oil, wine, fruit and vegetables, and where its absence
    misleads.
    """
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="food has instructions for use",
    problem="Instructions for use missing",
    fix="Give the instructions for use as printed on the pack.",
    severity="error",
    source=f"{_EU}, Art. 9(1)(j) and 27; the kinds of which it is asked stand in the profile",
)
def has_instructions_for_use(products: Products, *, attribute: str = "consumptionAdvice") -> Verdict:
    """They are mandatory where food cannot be used properly without them, as with raw, frozen or dried food."""
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="alcoholic drinks state their strength",
    problem="Alcoholic strength missing",
    fix="Give the alcoholic strength by volume in per cent.",
    severity="error",
    source=f"{_EU}, Art. 9(1)(k) and 28",
)
def has_alcohol_strength(
    products: Products, *, attribute: str = "percentageOfAlcoholByVolume", kinds: tuple[str, ...] = ()
) -> Verdict:
    """It is mandatory for drinks over 1.2 % alcohol, recognized by class or by the kinds that the profile names."""
    applies = is_alcoholic(products)
    if kinds:
        of_kind = is_of_kind(products, kinds) & is_food(products)
        applies = applies | of_kind  # type: ignore[operator] # not known to pandas-stubs
    return _missing_of_food(products, attribute, applies)


@_rule(
    title="food has a nutrition declaration",
    problem="Nutrition declaration missing",
    fix="Give the nutrition declaration per 100 g or 100 ml.",
    severity="error",
    needs="{attribute}.contains.quantity",
    source=f"{_EU}, Art. 9(1)(l) and 30; not of drinks over 1.2 % alcohol, Art. 16(4), nor of Annex V",
)
def has_nutrition(products: Products, *, attribute: str = "isPartitionedBy") -> Verdict:
    """Shops compute scores and filters from the declaration.

    Unprocessed single-ingredient food, water, spices, tea and coffee need none (Annex V): exclude such kinds in the
    profile.
    """
    # A partition without nutrients declares nothing, so the nutrients are looked for, not the partition.
    return missing_data(products, f"{attribute}.contains", is_food(products) & ~is_alcoholic(products))

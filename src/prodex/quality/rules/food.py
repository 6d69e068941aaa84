"""Rules of what has to be told about food before it is bought, at a distance as well."""

from __future__ import annotations

from prodex.quality.food_products import is_alcoholic, is_food, is_of_kind
from prodex.quality.products import Products
from prodex.quality.rulebook import Verdict, rule, told

_EU = "Regulation (EU) No 1169/2011"
_CONSUMERS = {"is_consumer_unit": True}


@rule(
    title="the ingredients of food are told",
    problem="Ingredients of food missing",
    fix="Give the list of ingredients, in descending order of weight, with the allergens emphasised.",
    severity="error",
    dimension="completeness",
    block="food",
    needs="{attribute}.data",
    certain="passes",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(b) and 18; not of drinks over 1.2 % alcohol, Art. 16(4)",
)
def has_composition(products: Products, *, attribute: str = "composition") -> Verdict:
    """People with an allergy cannot buy what does not say what is in it.

    Food of a single ingredient whose name says it needs no list (Art. 19): except its kinds in the profile.
    """
    return told(products, attribute, is_food(products) & ~is_alcoholic(products))


@rule(
    title="how to store food is told",
    problem="Storage conditions of food missing",
    fix="Give the storage conditions as they stand on the pack.",
    severity="warning",
    dimension="completeness",
    block="food",
    needs="{attribute}.data",
    certain="passes",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(g) and 25",
    exact=False,
)
def has_storage_conditions(products: Products, *, attribute: str = "conservationAdvices") -> Verdict:
    """Food that is kept wrongly spoils, or makes ill.

    The law asks it only of food that needs special conditions, and nobody can tell that from a record: so it warns.
    """
    return told(products, attribute, is_food(products))


@rule(
    title="the name and address of the food business operator are told",
    problem="Food business operator missing",
    fix="Give the name and address of the operator under whose name the food is sold.",
    severity="error",
    dimension="completeness",
    block="food",
    needs="{attribute}",
    certain="passes",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(h) and 8(1)",
)
def has_operator_contact(products: Products, *, attribute: str = "contact") -> Verdict:
    """Customers and authorities have to know whom to ask."""
    return told(products, attribute, is_food(products))


@rule(
    title="the country of origin of food is told",
    problem="Country of origin of food missing",
    fix="Give the country of origin or place of provenance.",
    severity="error",
    dimension="completeness",
    block="food",
    needs="{attribute}",
    certain="passes",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(i) and 26; the kinds of which it is asked stand in the profile",
)
def has_origin(products: Products, *, attribute: str = "originCountry") -> Verdict:
    """It has to be told of meat, fish, eggs, honey, olive oil, wine, fruit, vegetables, and where silence misleads."""
    return told(products, attribute, is_food(products))


@rule(
    title="how to use or prepare food is told",
    problem="Instructions for use of food missing",
    fix="Give the instructions for use as they stand on the pack.",
    severity="error",
    dimension="completeness",
    block="food",
    needs="{attribute}.data",
    certain="passes",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(j) and 27; the kinds of which it is asked stand in the profile",
)
def has_instructions_for_use(products: Products, *, attribute: str = "consumptionAdvice") -> Verdict:
    """It has to be told where food cannot be used properly without it: what is raw, frozen or dried."""
    return told(products, attribute, is_food(products))


@rule(
    title="the strength of drinks with alcohol is told",
    problem="Strength of a drink with alcohol missing",
    fix="Give the alcoholic strength by volume in per cent.",
    severity="error",
    dimension="completeness",
    block="food",
    needs="{attribute}.data",
    certain="passes",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(k) and 28",
)
def has_alcohol_strength(
    products: Products, *, attribute: str = "percentageOfAlcoholByVolume", kinds: tuple[str, ...] = ()
) -> Verdict:
    """It has to be told of drinks of more than 1.2 %: by their class, or of the kinds that the profile names."""
    applies = is_alcoholic(products)
    if kinds:
        of_kind = is_of_kind(products, kinds) & is_food(products)
        applies = applies | of_kind  # type: ignore[operator] # not known to pandas-stubs
    return told(products, attribute, applies)


@rule(
    title="the nutrition of food is declared",
    problem="Nutrition declaration of food missing",
    fix="Give the nutrition declaration per 100 g or 100 ml.",
    severity="error",
    dimension="completeness",
    block="food",
    needs="{attribute}.contains.quantity",
    certain="passes",
    scope=_CONSUMERS,
    source=f"{_EU}, Art. 9(1)(l) and 30; not of drinks over 1.2 % alcohol, Art. 16(4), nor of Annex V",
)
def has_nutrition(products: Products, *, attribute: str = "isPartitionedBy") -> Verdict:
    """Shops compute scores and filters from it.

    Unprocessed food of one ingredient, water, spices, tea and coffee need none (Annex V): except their kinds in the
    profile.
    """
    return told(products, f"{attribute}.contains", is_food(products) & ~is_alcoholic(products))

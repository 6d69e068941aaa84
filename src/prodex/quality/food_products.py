"""Which products are food, and which of them Regulation (EU) No 1169/2011 asks less of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from prodex.quality.products import Products
from prodex.quality.requested import Asked, asked_for
from prodex.quality.units import quantities
from prodex.tables.columns import Answer, by_value

#: How codes of the GS1 classification begin, the longest beginning that fits counts: whether they are food.
#: Segments, families and classes tell it; bricks (1000...) do not, nor do segments that begin alike.
FOOD_BY_GPC: Mapping[str, bool | None] = {
    "50": True,  # food and beverages
    "5021": False,  # tobacco
    "50000003": False,  # pet care, as the sandbox codes it
    "10": None,  # pet care, and every brick
    **dict.fromkeys(("1", "2", "3", "4", "5", "6", "7", "8", "9"), False),
}
#: How codes of drinks with alcohol begin (the second as the sandbox codes them).
ALCOHOLIC_GPC = ("502022", "50000002")
#: Over this strength in per cent, ingredients and nutrition are not mandatory (Art. 16(4)).
ALCOHOL_LIMIT = 1.2

#: What only food tells.
_SIGNS = (
    *("isPartitionedBy.contains", "allergens", "keepRefrigeratedBefore", "keepRefrigeratedAfter"),
    *("percentageOfAlcoholByVolume", "foodAndBeverageIngredientDescriptionList"),
)


def is_food(products: Products) -> Answer:
    """Say which products are food: by their class, and where they have none by what they tell.

    A product with neither may be food whose data are missing, or a candle: undecided, unless the profile assumes one
    of them (`assume`). The same holds where the class was not requested.
    """
    return products.remember("is_food", lambda: _is_food(products))


def _is_food(products: Products) -> Answer:
    codes = products.column("gpc_code")
    by_class = by_value(codes, lambda each: _by_gpc(each) is True, False)
    undecided = by_value(codes, lambda each: _by_gpc(each) is None, True)
    if asked_for(products.origin, ["GPC.code"]) is not Asked.ALL:
        by_class, undecided = by_class & False, undecided | True
    else:
        for sign in _SIGNS:
            is_filled = products.filled(sign) | products.filled(f"lastRequest.{sign}")
            by_class, undecided = by_class | (undecided & is_filled), undecided & ~is_filled
    if (assumed := products.assume.get("food")) is not None:
        by_class, undecided = by_class | (undecided & assumed), undecided & False
    return pd.arrays.BooleanArray(by_class, undecided)


def _by_gpc(code: str) -> bool | None:
    beginnings = [beginning for beginning in FOOD_BY_GPC if code.startswith(beginning)]
    return FOOD_BY_GPC[max(beginnings, key=len)] if beginnings else None


def is_alcoholic(products: Products) -> Answer:
    """Say which products are drinks of more than 1.2 % of alcohol: by what they tell, or by their class."""
    return products.remember("is_alcoholic", lambda: _is_alcoholic(products))


def _is_alcoholic(products: Products) -> Answer:
    product, strength, _ = quantities(products, "percentageOfAlcoholByVolume")
    classed = by_value(products.column("gpc_code"), lambda code: code.startswith(ALCOHOLIC_GPC), False)
    found = products.any(product[strength > ALCOHOL_LIMIT]) | classed
    asked = asked_for(products.origin, ["GPC.code", "percentageOfAlcoholByVolume"])
    return pd.arrays.BooleanArray(found, ~found & (asked is not Asked.ALL))


def is_of_kind(products: Products, kinds: Sequence[str]) -> Answer:
    """Say which products are of one of these kinds, by their code; nobody can say of those that have none."""
    kinds_of = products["kind_code"]
    is_missing = kinds_of.isna() | (asked_for(products.origin, ["kind.code"]) is not Asked.ALL)
    return pd.arrays.BooleanArray(kinds_of.isin(kinds).to_numpy(bool), is_missing.to_numpy(bool))

"""Which products are food, and which of them Regulation (EU) No 1169/2011 asks less of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from prodex.quality.products import Products
from prodex.quality.requested import Asked, asked_for
from prodex.tables.columns import Answer, Mask, encoded, numbers

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
    distinct, code = encoded(products.column("gpc_code"))
    classes = [_by_gpc(each) for each in distinct.to_pylist()]
    # The last one stands for products without a class, whose code is -1.
    by_class = np.array([*(each is True for each in classes), False], bool)[code]
    undecided = np.array([*(each is None for each in classes), True], bool)[code]
    if asked_for(products.origin, ["GPC.code"]) is not Asked.ALL:
        by_class, undecided = by_class & False, undecided | True
    else:
        for sign in _SIGNS:
            is_filled = products.filled(sign) | products.filled(f"lastRequest.{sign}")
            by_class, undecided = by_class | (undecided & is_filled), undecided & ~is_filled
    return _answer(products, by_class, undecided)


def _by_gpc(code: str) -> bool | None:
    beginnings = [beginning for beginning in FOOD_BY_GPC if code.startswith(beginning)]
    return FOOD_BY_GPC[max(beginnings, key=len)] if beginnings else None


def is_alcoholic(products: Products) -> Answer:
    """Say which products are drinks of more than 1.2 % of alcohol: by what they tell, or by their class."""
    return products.remember("is_alcoholic", lambda: _is_alcoholic(products))


def _is_alcoholic(products: Products) -> Answer:
    strengths = products.arrow("quantities", "attribute", "value")
    strengths = strengths.filter(pc.equal(strengths["attribute"], "percentageOfAlcoholByVolume"))
    strong = products.any(strengths["product"].to_numpy()[numbers(strengths["value"]) > ALCOHOL_LIMIT])
    distinct, code = encoded(products.column("gpc_code"))
    by_class = [each.startswith(ALCOHOLIC_GPC) for each in distinct.to_pylist()]
    classed: Mask = np.array([*by_class, False], bool)[code]
    found = strong | classed
    asked = asked_for(products.origin, ["GPC.code", "percentageOfAlcoholByVolume"])
    return pd.arrays.BooleanArray(found, ~found & (asked is not Asked.ALL))


def is_of_kind(products: Products, kinds: Sequence[str]) -> Answer:
    """Say which products are of one of these kinds, by their code; nobody can say of those that have none."""
    kinds_of = products["kind_code"]
    is_missing = kinds_of.isna() | (asked_for(products.origin, ["kind.code"]) is not Asked.ALL)
    return pd.arrays.BooleanArray(kinds_of.isin(kinds).to_numpy(bool), is_missing.to_numpy(bool))


def _answer(products: Products, yes: Mask, undecided: Mask) -> Answer:
    """Return what is known, and what is assumed of the rest."""
    if (assumed := products.assume.get("food")) is not None:
        return pd.arrays.BooleanArray(yes | (undecided & assumed), undecided & False)
    return pd.arrays.BooleanArray(yes, undecided)

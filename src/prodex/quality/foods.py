"""Which products are food, and which of them Regulation (EU) No 1169/2011 asks less of."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow.compute as pc

from prodex.quality.columns import Mask, encoded, numbers
from prodex.quality.products import Products

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
#: Over this strength in per cent, ingredients and nutrition need not be told (Art. 16(4)).
ALCOHOL_LIMIT = 1.2

#: What only food tells.
_SIGNS = (
    *("isPartitionedBy.contains", "allergens", "keepRefrigeratedBefore", "keepRefrigeratedAfter"),
    *("percentageOfAlcoholByVolume", "foodAndBeverageIngredientDescriptionList"),
)


def is_food(products: Products) -> Mask:
    """Say which products are food: by their class, and where they have none by what they tell.

    A product of neither is not called food, for nobody can ask of a candle how it is stored.
    """
    return products.remember("is_food", lambda: _is_food(products))


def _is_food(products: Products) -> Mask:
    distinct, code = encoded(products.column("gpc_code"))
    classes = [_by_gpc(each) for each in distinct.to_pylist()]
    # The last one stands for products without a class, whose code is -1.
    by_class = np.array([*(each is True for each in classes), False], bool)[code]
    undecided = np.array([*(each is None for each in classes), True], bool)[code]
    told = np.zeros(len(products), bool)
    for sign in _SIGNS:
        told |= products.filled(sign) | products.filled(f"lastRequest.{sign}")
    return by_class | (undecided & told)


def _by_gpc(code: str) -> bool | None:
    beginnings = [beginning for beginning in FOOD_BY_GPC if code.startswith(beginning)]
    return FOOD_BY_GPC[max(beginnings, key=len)] if beginnings else None


def is_alcoholic(products: Products) -> Mask:
    """Say which products are drinks of more than 1.2 % of alcohol: by what they tell, or by their class."""
    return products.remember("is_alcoholic", lambda: _is_alcoholic(products))


def _is_alcoholic(products: Products) -> Mask:
    told = products.arrow("quantities", "attribute", "value")
    told = told.filter(pc.equal(told["attribute"], "percentageOfAlcoholByVolume"))
    strong = products.any(told["product"].to_numpy()[numbers(told["value"]) > ALCOHOL_LIMIT])
    distinct, code = encoded(products.column("gpc_code"))
    by_class = [each.startswith(ALCOHOLIC_GPC) for each in distinct.to_pylist()]
    classed: Mask = np.array([*by_class, False], bool)[code]
    return strong | classed

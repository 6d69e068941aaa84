"""Rules of weights and sizes: given, plausible, and larger for outer units; and of the net content."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.languages import Message
from prodex.quality.hierarchy_columns import BOTH_SOURCES, HierarchyColumns
from prodex.quality.laws import FOOD_INFORMATION
from prodex.quality.nutrition_columns import NutritionColumns
from prodex.quality.products import Products
from prodex.quality.rulebook import CONSUMER_UNITS, rule
from prodex.quality.units import grams, in_base_unit, quantities
from prodex.quality.verdict import Evidence, Verdict, compared_with, missing_data, product_verdict
from prodex.tables.columns import Mask, Numbers, Rows

_TREE = "logisticalHierarchies"

#: Declares a rule of weights and sizes.
_rule = partial(
    rule,
    block="hierarchies",
    source="GDSN trade item measurements; GS1 Package and Product Measurement Standard",
)


@_rule(
    title="{attribute} is given",
    problem="{attribute} missing",
    fix="Measure or weigh the unit, and give the {attribute} with its unit.",
    severity="warning",
    dimension="completeness",
    needs="{attribute}.data",
    certain="passes",
)
def measure_told(products: Products, *, attribute: str) -> Verdict:
    """Transport, shelves and warehouses are planned with weights and sizes; zero counts as missing."""
    # Nothing weighs zero grams or is zero millimetres high: zero counts as missing.
    positive, evidence = _above_zero(products, attribute)
    return Verdict(~positive, evidence=evidence)


@_rule(
    title="the net weight does not exceed the gross weight",
    problem="Net weight above the gross weight",
    fix="Correct one of the two weights, or its unit.",
    severity="error",
    dimension="consistency",
    needs=("netWeight.data", "grossWeight.data"),
    source="GDSN rule 201",
)
def net_not_over_gross(products: Products, *, tolerance: float = 0.0) -> Verdict:
    """The packaging cannot have a negative weight: one of the weights or its unit is wrong."""
    # Both in grams: one may be given in kilograms and the other in grams.
    net, gross = grams(products, "netWeight"), grams(products, "grossWeight")
    reason = Message("more than the gross weight of {figure:g} g", figure=gross)
    # The rule of the GDSN leaves no room; a profile may, where the two are rounded apart.
    # NaN compares as False, so a missing weight never fails.
    return _weights_verdict(net > gross * (1 + tolerance), "netWeight", net, gross, reason)


def _weights_verdict(
    wrong: Mask, attribute: str, weight: Numbers, other: Numbers, reason: Message, applies: Any = None
) -> Verdict:
    """Fail the products of which a weight, in grams, does not go with another one."""
    return product_verdict(
        wrong,
        attribute,
        lambda rows: [f"{each:g} g" for each in weight[rows]],
        reason,
        applies=~np.isnan(weight) & ~np.isnan(other) if applies is None else applies,
        # In all their digits: what is shown of them is rounded.
        compared=lambda rows: [compared_with(weight[row], other[row]) for row in rows.tolist()],
    )


def _most_grams(products: Products, attribute: str) -> Numbers:
    """Return the largest weight of each product that is given in a known unit, else NaN."""
    product, value, unit = quantities(products, attribute)
    most = np.full(len(products), np.nan)
    np.fmax.at(most, product, in_base_unit(value, unit, "weight"))
    return most


@_rule(
    title="the drained weight does not exceed the net weight",
    problem="Drained weight above the net weight",
    fix="Correct one of the two weights, or its unit.",
    severity="error",
    dimension="consistency",
    block="identity",
    needs=("drainedWeight.data", "netWeight.data", "netContent.data"),
    source="Regulation (EU) No 1169/2011, Annex IX(5); GDSN rule 616",
    law=FOOD_INFORMATION,
    article="Art. 23 and Annex IX(5)",
    cannot_see="A drained weight that is possible and wrong.",
)
def drained_not_over_net_weight(products: Products) -> Verdict:
    """The drained weight is what is left of the net weight without the liquid, which cannot weigh less than nothing."""
    drained = grams(products, "drainedWeight")
    # The largest one that is given counts: they may differ by the liquid, and of several packs one may be that of each.
    net = np.fmax(_most_grams(products, "netWeight"), _most_grams(products, "netContent"))
    reason = Message("more than the net weight of {figure:g} g", figure=net)
    # Weights in two units may differ in their last digits alone.
    return _weights_verdict(drained > net * (1 + 1e-9), "drainedWeight", drained, net, reason)


@_rule(
    title="a unit weighs at least as much as its contents",
    problem="Weight of a unit differs from that of its contents",
    fix="Correct the gross weight of the outer unit, the quantity in it, or the weight of its contents.",
    severity="error",
    dimension="consistency",
    needs=(
        f"{_TREE}.grossWeight",
        f"{_TREE}.children.quantity",
        f"{_TREE}.children.grossWeight",
        BOTH_SOURCES,
    ),
)
def parent_weighs_its_children(products: Products, *, tolerance: float = 0.02) -> Verdict:
    """Trucks are loaded by these weights; rounding does not explain a difference of more than {tolerance}.

    Children without quantity or weight count nothing, so what is found is certain.
    """
    packing = HierarchyColumns.of(products)
    gross = packing.measure("grossWeight")
    # A quantity that is missing or no whole number is the finding of other rules.
    whole = (packing.quantity >= 1) & (packing.quantity == np.floor(packing.quantity))
    children = np.flatnonzero(packing.is_inner & whole & ~np.isnan(gross))
    # The sum over all children at once; nodes of all products share one numbering.
    held = np.bincount(
        packing.parent[children], packing.quantity[children] * gross[children], minlength=len(packing)
    )
    known = (held > 0) & ~np.isnan(gross)
    # Only lighter than the contents fails: the packaging itself may weigh anything.
    return packing.verdict(
        known & (gross * (1 + tolerance) < held),
        "grossWeight",
        Message(
            "{unit} weighs less than what is in it: {figure:g} g (more than {percent:.0f}% below)",
            figure=held,
            percent=100 * tolerance,
        ),
        value=lambda rows: [f"{each:g} g" for each in gross[rows]],
        judged=known,
        compared=lambda rows: [
            compared_with(gtin, gross[row], held[row])
            for gtin, row in zip(packing.gtins(rows), rows.tolist(), strict=True)
        ],
    )


@_rule(
    title="a unit is at least as large as each unit in it",
    problem="Unit smaller than its contents",
    fix="Correct height, width and depth of the outer unit or of its contents.",
    severity="error",
    dimension="consistency",
    needs=(
        *(f"{_TREE}.{path}{side}" for path in ("", "children.") for side in ("height", "width", "depth")),
        BOTH_SOURCES,
    ),
)
def parent_larger_than_child(products: Products, *, tolerance: float = 0.02) -> Verdict:
    """Shelves and pallets are planned by these sizes; the contents cannot be larger, whichever way up they are
    packed.
    """
    packing = HierarchyColumns.of(products)
    inner = np.flatnonzero(packing.is_inner)
    around = packing.parent[inner]
    sides, outer = packing.sides[inner], packing.sides[around]
    known = ~np.isnan(sides).any(axis=1) & ~np.isnan(outer).any(axis=1)
    # Sides are sorted, so a unit that lies on its side inside the case still fits.
    small = known & (outer * (1 + tolerance) < sides).any(axis=1)
    wrong = np.zeros(len(packing), bool)
    wrong[inner[small]] = True
    return packing.verdict(
        wrong,
        "height",
        lambda rows: Message("{unit} does not fit: {size}", size=_sizes(packing, rows)),
        value=lambda rows: _units_with_sizes(packing, packing.parent[rows]),
        judged=inner[known],
        compared=lambda rows: [
            compared_with(gtin, packing.sides[row].tolist(), packing.sides[packing.parent[row]].tolist())
            for gtin, row in zip(packing.gtins(rows), rows.tolist(), strict=True)
        ],
    )


def _units_with_sizes(packing: HierarchyColumns, rows: Rows) -> list[str]:
    units = zip(packing.gtins(rows), _sizes(packing, rows), strict=True)
    return [f"{gtin}: {size}" for gtin, size in units]


def _sizes(packing: HierarchyColumns, rows: Rows) -> list[str]:
    """Return the sizes of some nodes."""
    return [f"{' x '.join(f'{side:g}' for side in sides)} mm" for sides in packing.sides[rows]]


@rule(
    title="the net content is given and above zero",
    problem="Net content missing or not above zero",
    fix="Give the net content with its unit, as printed on the pack.",
    severity="error",
    dimension="completeness",
    block="identity",
    needs="{attribute}.data",
    certain="passes",
    scope=CONSUMER_UNITS,
    source="Regulation (EU) No 1169/2011, Art. 9(1)(e) and 23; GDSN rule 524, of ten markets",
    law=FOOD_INFORMATION,
    article="Art. 9(1)(e) and 23",
    cannot_see="Whether the amount is that of the pack.",
)
def has_net_content(products: Products, *, attribute: str = "netContent") -> Verdict:
    """Customers compare prices by net content, and the law requires it for products sold by weight, volume or
    number.
    """
    missing = missing_data(products, attribute)
    positive, evidence = _above_zero(products, attribute)
    # An amount that cannot be read is there, and may be zero.
    unclear = products.unreadable([attribute]) & ~positive & ~missing.fails
    if not len(evidence.product):
        return replace(missing, fails=pd.arrays.BooleanArray(missing.fails, unclear))
    fails = missing.fails | products.any(evidence.product)
    return Verdict(pd.arrays.BooleanArray(fails, unclear), evidence=evidence)


def _above_zero(products: Products, attribute: str) -> tuple[Mask, Evidence]:
    """Say which products have a quantity above zero, and show those of the others."""
    product, value, unit = quantities(products, attribute)
    # A second entry above zero, in another unit, is enough.
    positive = products.any(product[value > 0])
    nothing = np.flatnonzero(~(value > 0) & ~positive[product])
    units = [compared_with(one) for one in unit.take(pa.array(nothing)).to_pylist()]
    return positive, Evidence(
        product[nothing], attribute, None, value[nothing].tolist(), Message("not more than zero"), units
    )


@rule(
    title="the net content is that of the pack, not of a serving",
    problem="Net content perhaps that of a serving",
    fix="Give the net content of the whole pack; where the pack is one serving, accept the finding.",
    severity="info",
    dimension="accuracy",
    block="identity",
    needs=("netContent.data", NutritionColumns.NEEDS[0], *NutritionColumns.BASIS),
    scope=CONSUMER_UNITS,
    law=FOOD_INFORMATION,
    article="Art. 23 and 33",
    cannot_see="Servings that are declared in pieces.",
    exact=False,
)
def net_content_is_no_serving(products: Products, *, tolerance: float = 0.001) -> Verdict:
    """Prices per kilogram are computed from the net content: that of a serving makes the product look dear.

    Perhaps: a pot of yoghurt is one serving.
    """
    nutrition = NutritionColumns.of(products)
    with np.errstate(divide="ignore"):
        serving = 100 / nutrition.per_hundred
    # Of 292 real products with both, 249 had the serving as their content, and most of those were wrong: the others are
    # packs of one serving, so that the rule only informs.
    # A pack of 100 g is no serving, although nutrition is declared to the same amount.
    is_serving = ~np.isnan(serving) & ~np.isclose(serving, 100.0)
    product, value, unit = quantities(products, "netContent")
    wrong, known = np.zeros((2, len(nutrition.product)), bool)
    contents = np.full(len(nutrition.product), np.nan)
    # Grams with grams and millilitres with millilitres: the density is not known.
    for kind, chosen in (("weight", nutrition.by_weight), ("volume", ~nutrition.by_weight)):
        amounts = in_base_unit(value, unit, kind)
        # Backwards: of several contents of a product, the first one is assigned last and counts.
        rows = np.flatnonzero(amounts > 0)[::-1]
        content = np.full(len(products), np.nan)
        content[product[rows]] = amounts[rows]
        its = content[nutrition.product]
        judged = is_serving & chosen & ~np.isnan(its)
        known |= judged
        wrong |= judged & (np.abs(its - serving) <= tolerance * serving)
        contents[judged] = its[judged]
    rows = nutrition.in_order(wrong)
    signs = np.where(nutrition.by_weight, "g", "ml")
    seen = [f"{serving[row]:g} {signs[row]}" for row in rows]
    reason = Message("the same as {name}, to which nutrition is declared", name=nutrition.names(rows))
    compared = [compared_with(serving[row], contents[row], signs[row]) for row in rows]
    evidence = Evidence(nutrition.product[rows], "netContent", None, seen, reason, compared)
    return Verdict(nutrition.any(wrong), nutrition.any(known), evidence)


@rule(
    title="net content and net weight agree",
    problem="Net content and net weight disagree",
    fix="Correct the one that is wrong, or its unit.",
    severity="warning",
    dimension="consistency",
    block="identity",
    needs=("netContent.data", "netWeight.data"),
    scope=CONSUMER_UNITS,
    source="GDSN: net weight is that of the contents; drained weights and rounding differ",
    exact=False,
)
def net_content_fits_net_weight(products: Products, *, tolerance: float = 0.1) -> Verdict:
    """A factor of a thousand between the two is a wrong unit, which then appears on price labels."""
    content, weight = grams(products, "netContent"), grams(products, "netWeight")
    # Content in litres or pieces cannot be compared with a weight; `grams` leaves it out.
    known = (content > 0) & (weight > 0)
    # Drained weight and rounding explain 10 %; a wrong unit is a factor of a thousand.
    apart = known & (np.abs(content - weight) > tolerance * np.maximum(content, weight))
    reason = Message(
        "net weight {figure:g} g, more than {percent:.0f}% apart", figure=weight, percent=100 * tolerance
    )
    return _weights_verdict(apart, "netContent", content, weight, reason, known)

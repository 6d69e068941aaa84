"""Rules of weights and sizes: given, plausible, and larger for outer units; and of the net content."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from prodex.quality.hierarchy_columns import HierarchyColumns
from prodex.quality.products import Products
from prodex.quality.rulebook import rule
from prodex.quality.verdict import Evidence, Verdict, missing_data
from prodex.quality.units import grams
from prodex.tables.columns import numbers

_GDSN = "GDSN trade item measurements; GS1 Package and Product Measurement Standard"
_TREE = "logisticalHierarchies"


@rule(
    title="{attribute} is given",
    problem="{attribute} missing",
    fix="Measure or weigh the unit and give {attribute} with its unit.",
    severity="warning",
    dimension="completeness",
    block="hierarchies",
    needs="{attribute}.data",
    source=_GDSN,
)
def measure_told(products: Products, *, attribute: str) -> Verdict:
    """Transport, shelves and warehouses are planned with weights and sizes; zero counts as missing."""
    quantities = products.arrow("quantities", "attribute", "value")
    quantities = quantities.filter(pc.equal(quantities["attribute"], attribute))
    value = quantities["value"].to_numpy()
    # Nothing weighs zero grams or is zero millimetres high: zero counts as missing.
    positive = products.any(quantities["product"].to_numpy()[value > 0])
    nothing = np.flatnonzero((value <= 0) & ~positive[quantities["product"].to_numpy()])
    return Verdict(
        ~positive,
        evidence=Evidence(
            quantities["product"].to_numpy()[nothing], attribute, None, value[nothing], "not more than zero"
        ),
    )


@rule(
    title="the net weight does not exceed the gross weight",
    problem="Net weight above the gross weight",
    fix="Correct one of the two weights, or its unit.",
    severity="error",
    dimension="consistency",
    block="hierarchies",
    needs=("netWeight.data", "grossWeight.data"),
    source=_GDSN,
)
def net_not_over_gross(products: Products, *, tolerance: float = 0.0) -> Verdict:
    """The packaging cannot have a negative weight: one of the weights or its unit is wrong."""
    # Both in grams: one may be given in kilograms and the other in grams.
    net, gross = grams(products, "netWeight"), grams(products, "grossWeight")
    # NaN compares as False, so a missing weight never fails.
    fails = net > gross * (1 + tolerance)
    wrong = np.flatnonzero(fails)
    return Verdict(
        fails,
        applies=~np.isnan(net) & ~np.isnan(gross),
        evidence=Evidence(
            wrong,
            "netWeight",
            None,
            [f"{each:g} g" for each in net[wrong]],
            [f"more than the gross weight of {each:g} g" for each in gross[wrong]],
        ),
    )


@rule(
    title="a unit weighs at least as much as its contents",
    problem="Weight of a unit differs from that of its contents",
    fix="Correct the gross weight of the outer unit, the quantity in it, or the weight of its contents.",
    severity="error",
    dimension="consistency",
    block="hierarchies",
    needs=(f"{_TREE}.grossWeight", f"{_TREE}.children.quantity", f"{_TREE}.children.grossWeight", _TREE),
    source=_GDSN,
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
    wrong = known & (gross * (1 + tolerance) < held)
    rows = packing.shown(wrong)
    reasons = [
        f"{gtin} weighs less than what is in it: {grams:g} g (more than {tolerance:.0%} below)"
        for gtin, grams in zip(packing.gtins(rows), held[rows], strict=True)
    ]
    return Verdict(
        products.any(packing.product[wrong]),
        applies=products.any(packing.product[known]),
        evidence=Evidence(
            packing.product[rows],
            packing.paths(rows, "grossWeight"),
            None,
            [f"{each:g} g" for each in gross[rows]],
            reasons,
        ),
    )


@rule(
    title="a unit is at least as large as each unit in it",
    problem="Unit smaller than its contents",
    fix="Correct height, width and depth of the outer unit or of its contents.",
    severity="error",
    dimension="consistency",
    block="hierarchies",
    needs=(
        *(f"{_TREE}.{path}{side}" for path in ("", "children.") for side in ("height", "width", "depth")),
        _TREE,
    ),
    source=_GDSN,
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
    rows = packing.shown(wrong)
    reasons = [
        f"{child} does not fit: {_size(inside)}"
        for child, inside in zip(packing.gtins(rows), packing.sides[rows], strict=True)
    ]
    return Verdict(
        products.any(packing.product[wrong]),
        applies=products.any(packing.product[inner[known]]),
        evidence=Evidence(
            packing.product[rows],
            packing.paths(rows, "height"),
            None,
            [
                f"{gtin}: {_size(each)}"
                for gtin, each in zip(
                    packing.gtins(packing.parent[rows]), packing.sides[packing.parent[rows]], strict=True
                )
            ],
            reasons,
        ),
    )


def _size(sides: npt.NDArray[np.float64]) -> str:
    return " x ".join(f"{side:g}" for side in sides) + " mm"


_CONSUMERS = {"is_consumer_unit": True}


@rule(
    title="the net content is given and above zero",
    problem="Net content missing or not above zero",
    fix="Give the net content with its unit, as printed on the pack.",
    severity="error",
    dimension="completeness",
    block="identity",
    needs="{attribute}.data",
    certain="passes",
    scope=_CONSUMERS,
    source="Regulation (EU) No 1169/2011, Art. 9(1)(e) and 23",
)
def has_net_content(products: Products, *, attribute: str = "netContent") -> Verdict:
    """Customers compare prices by net content, and the law requires it for products sold by weight, volume or
    number.
    """
    missing = missing_data(products, attribute, np.ones(len(products), bool))
    rows = products.arrow("quantities", "attribute", "value")
    rows = rows.filter(pc.equal(rows["attribute"], attribute))
    product, value = rows["product"].to_numpy(), numbers(rows["value"])
    # A second entry above zero, in another unit, is enough.
    nothing = np.flatnonzero(~(value > 0) & ~products.any(product[value > 0])[product])
    if not len(nothing):
        return missing
    return Verdict(
        missing.fails | products.any(product[nothing]),
        evidence=Evidence(product[nothing], attribute, None, value[nothing].tolist(), "not more than zero"),
    )


@rule(
    title="net content and net weight agree",
    problem="Net content and net weight disagree",
    fix="Correct the one that is wrong, or its unit.",
    severity="warning",
    dimension="consistency",
    block="identity",
    needs=("netContent.data", "netWeight.data"),
    scope=_CONSUMERS,
    source="GDSN: net weight is that of the contents; drained weights and rounding differ",
    exact=False,
)
def net_content_fits_net_weight(products: Products, *, tolerance: float = 0.1) -> Verdict:
    """A factor of a thousand between the two is a wrong unit, which then appears on price labels."""
    content, weight = grams(products, "netContent"), grams(products, "netWeight")
    # Content in litres or pieces cannot be compared with a weight; `grams` leaves it out.
    known = (content > 0) & (weight > 0)
    # Drained weight and rounding explain 10 %; a wrong unit is a factor of a thousand.
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

"""Rules of how much is in the pack, whatever it is."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from prodex.quality.columns import numbers
from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule
from prodex.quality.told import told
from prodex.quality.units import grams

_CONSUMERS = {"is_consumer_unit": True}


@rule(
    title="the net content is told, and more than zero",
    problem="Net content missing or not above zero",
    fix="Give the net content with its unit, as it stands on the pack.",
    severity="error",
    dimension="completeness",
    block="identity",
    needs="{attribute}.data",
    certain="passes",
    scope=_CONSUMERS,
    source="Regulation (EU) No 1169/2011, Art. 9(1)(e) and 23",
)
def has_net_content(products: Products, *, attribute: str = "netContent") -> Verdict:
    """Customers compare prices by it, and the law asks for it on anything that is sold by weight, volume or number."""
    missing = told(products, attribute, np.ones(len(products), bool))
    rows = products.arrow("quantities", "attribute", "value")
    rows = rows.filter(pc.equal(rows["attribute"], attribute))
    product, value = rows["product"].to_numpy(), numbers(rows["value"])
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

"""Rules of identity: GTIN, brand, kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.gtin import are_valid, check_digit
from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule

_GS1 = "GS1 General Specifications, section 7.9"


@rule(
    title="the GTIN has 14 digits of which the last is the right check digit",
    fix="Correct the GTIN: compare it with the one printed under the barcode.",
    severity="error",
    dimension="validity",
    block="identity",
    needs="gtin",
    source=_GS1,
)
def valid_gtin(products: Products) -> Verdict:
    """A wrong GTIN is another product's, or nobody's: orders, prices and pictures go astray."""
    gtins = products["gtin"].fillna("")
    fails = ~are_valid(gtins.tolist())
    wrong = np.flatnonzero(fails & (gtins != "").to_numpy())
    seen = gtins.iloc[wrong]
    return Verdict(
        fails, evidence=Evidence(wrong, "gtin", None, seen, [_what_is_wrong(gtin) for gtin in seen])
    )


def _what_is_wrong(gtin: str) -> str:
    if not (gtin.isascii() and gtin.isdigit()):
        return "not only digits"
    if len(gtin) != 14:
        return f"{len(gtin)} digits instead of 14"
    if not int(gtin):
        return "only zeros"
    return f"ends with the check digit {gtin[-1]}, and {check_digit(gtin[:-1])} would be right"


def _several_times(whole: dict[str, pa.ChunkedArray]) -> pa.Table:
    """Return the GTINs that several products bear, with the ids of all of these."""
    table = pa.table([whole["products.gtin"], whole["products.product_id"]], names=["gtin", "product_id"])
    table = table.filter(pc.not_equal(pc.fill_null(table["gtin"], ""), ""))
    counted = table.group_by("gtin").aggregate([("product_id", "count")])
    several = counted.filter(pc.greater(counted["product_id_count"], 1))["gtin"].combine_chunks()
    return table.filter(pc.is_in(table["gtin"], several)).group_by("gtin").aggregate([("product_id", "list")])


@rule(
    title="no other product bears the same GTIN",
    fix="Find out whose GTIN it is; the other product needs its own, or is the same and goes.",
    severity="warning",
    dimension="uniqueness",
    block="identity",
    needs="gtin",
    whole=("products.gtin", "products.product_id"),
    prepare=_several_times,
    source="GS1 General Specifications, GTIN management",
)
def duplicate_gtin(products: Products, *, whole: Any) -> Verdict:
    """Where two products share a number, nobody can say which of them is meant."""
    place = pc.index_in(products.column("gtin"), whole["gtin"].combine_chunks())
    found = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    bearers = whole["product_id_list"].combine_chunks().take(place.take(pa.array(found))).to_pylist()
    own = products["product_id"].iloc[found]
    others = [", ".join(sorted(set(ids) - {mine})) for ids, mine in zip(bearers, own, strict=True)]
    reasons = [f"also the GTIN of product {ids}" for ids in others]
    seen = products["gtin"].iloc[found]
    return Verdict(products.any(found), evidence=Evidence(found, "gtin", None, seen, reasons))

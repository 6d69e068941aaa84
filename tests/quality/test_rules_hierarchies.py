"""The rules of hierarchies, each on tiny products that pass, fail, are no question, or were not requested."""

from __future__ import annotations

from typing import Any

import numpy as np

import prodex
from prodex_sandbox.sample import AS_OF
from tests.quality.four_states import NOTHING, Case, Record

PALLET, CASE, PACK, EACH = "23663836037988", "13663836037981", "03663836037984", "03091033779527"
_PACKAGING = {PALLET: "PALLET", CASE: "CASE", PACK: "PACK", EACH: "EACH"}
TREE = "logisticalHierarchies"


def node(gtin: str, *children: Record, quantity: Any = 1, **attributes: Any) -> Record:
    """Return a unit with what is in it, as such units usually are."""
    return {
        "gtin": gtin,
        "quantity": quantity,
        "typePackaging": {"code": _PACKAGING.get(gtin, "CASE")},
        "isConsumerUnit": gtin == EACH,
        "isDespatchUnit": gtin == CASE,
        "isOrderableUnit": gtin == CASE,
        "children": list(children),
        **attributes,
    }


def packed(*roots: Record, **fields: Any) -> Record:
    """Return a product with these hierarchies."""
    return {"gtin": CASE, TREE: list(roots), **fields}


def told(value: float, unit: str) -> list[Record]:
    """Return a weight or a length."""
    return [{"data": value, "expressedIn": {"code": unit}}]


def sized(height: float, width: float, depth: float, unit: str = "MMT") -> Record:
    """Return the three sides."""
    return {"height": told(height, unit), "width": told(width, unit), "depth": told(depth, unit)}


GOOD = packed(node(PALLET, node(CASE, node(EACH, quantity=12), quantity=40)))
ALONE = packed(node(EACH))
UNIT = {"gtin": "03036811359935"}

CASES = {
    "outer_unit_has_children": Case(
        packed(node(CASE, node(PACK, quantity=2, isConsumerUnit=True))),
        packed(node(CASE)),
        (f"{TREE}.children", None, CASE, "CASE without children"),
        UNIT,
    ),
    "leaf_is_consumer_unit": Case(
        packed(node(CASE, node(EACH, isConsumerUnit=False))),
        packed(node(PALLET, node(CASE))),
        (TREE, None, CASE, "the lowest unit is neither a consumer nor a base unit"),
        UNIT,
    ),
    "quantity_in_parent_told": Case(
        packed(node(PALLET, node(CASE, quantity=4), quantity=None)),
        packed(node(CASE, node(EACH, quantity=None))),
        (f"{TREE}.quantity", None, None, f"no quantity of {EACH} in {CASE}"),
        ALONE,
    ),
    "quantity_in_parent_whole": Case(
        packed(node(CASE, node(EACH, quantity=12.0))),
        packed(node(CASE, node(EACH, quantity=1.5))),
        (f"{TREE}.quantity", None, "1.5", f"no whole number of 1 or more: {EACH} in {CASE}"),
        packed(node(CASE, node(EACH, quantity=None))),
    ),
    "hierarchy_without_cycle": Case(
        packed(node(PALLET, node(CASE), node(CASE))),
        packed(node(CASE, node(EACH, {"gtin": CASE, "quantity": 1}))),
        (f"{TREE}.children", None, CASE, f"a unit inside itself: {CASE} in {EACH}"),
        UNIT,
    ),
    "has_despatch_unit": Case(
        packed(node(PALLET, {"version": node(CASE), "gtin": CASE})),
        packed(node(PALLET, node(EACH))),
        (f"{TREE}.isDespatchUnit", None, None, "no unit is marked as despatch unit"),
        UNIT,
    ),
    "has_orderable_unit": Case(
        packed(node(PALLET, node(EACH)), isOrderableUnit=True),
        packed(node(PALLET, node(EACH))),
        (f"{TREE}.isOrderableUnit", None, None, "no unit is marked as orderable unit"),
        UNIT,
    ),
    "pallet_not_for_consumers": Case(
        packed(node(PALLET, isConsumerUnit=True, isDisplayUnit=True)),
        packed(node(PALLET, isConsumerUnit=True)),
        (f"{TREE}.isConsumerUnit", None, PALLET, "a pallet that is a consumer unit and no display unit"),
        packed(node(CASE)),
    ),
    "outer_unit_has_hierarchy": Case(
        packed(node(CASE), typePackaging={"code": "CASE"}),
        packed(typePackaging={"code": "PALLET"}),
        (TREE, None, None, NOTHING),
        packed(typePackaging={"code": "EACH"}),
    ),
    "hierarchy_gtins_valid": Case(
        GOOD,
        packed(node(CASE, node("03091033779528"))),
        (f"{TREE}.gtin", None, "03091033779528", "not 14 digits of which the last is the right check digit"),
        UNIT,
    ),
    "child_gtin_known": Case(
        packed(node(CASE, node(EACH))),
        packed(node(CASE, node(PACK))),
        (f"{TREE}.children.gtin", None, PACK, f"not in this catalogue: {PACK} in {CASE}"),
        ALONE,
        others=({"gtin": EACH},),
    ),
    "one_parent": Case(
        {"gtin": PACK},
        {"gtin": EACH},
        (TREE, None, EACH, f"in 2 larger units: {PACK}, {CASE}"),
        UNIT,
        others=(
            packed(node(CASE, node(EACH), node(PACK))),
            packed(node(PACK, node(EACH))),
            {"lastRequest": packed(node(PALLET, node(PACK)))},
        ),
    ),
    "measure_told": Case(
        {"grossWeight": told(1, "GRM")},
        {"grossWeight": told(0, "GRM")},
        ("grossWeight", None, "0", "not more than zero"),
        parameters={"attribute": "grossWeight"},
    ),
    "net_not_over_gross": Case(
        {"netWeight": told(1, "KGM"), "grossWeight": told(1000, "GRM")},
        {"netWeight": told(1, "KGM"), "grossWeight": told(999, "GRM")},
        ("netWeight", None, "1000 g", "more than the gross weight of 999 g"),
        {"netWeight": told(1, "KGM"), "grossWeight": told(999, "PCE")},
    ),
    "parent_weighs_its_children": Case(
        packed(
            node(CASE, node(EACH, quantity=10, grossWeight=told(100, "GRM")), grossWeight=told(0.99, "KGM"))
        ),
        packed(
            node(CASE, node(EACH, quantity=10, grossWeight=told(100, "GRM")), grossWeight=told(0.9, "KGM"))
        ),
        (
            f"{TREE}.grossWeight",
            None,
            "900 g",
            f"{CASE} weighs less than what is in it: 1000 g (more than 2% below)",
        ),
        packed(
            node(CASE, node(EACH, quantity=None, grossWeight=told(100, "GRM")), grossWeight=told(1, "GRM"))
        ),
    ),
    "parent_larger_than_child": Case(
        packed(node(CASE, node(EACH, **sized(30, 10, 20)), **sized(2, 1, 3, "CMT"))),
        packed(node(CASE, node(EACH, **sized(30, 10, 20)), **sized(2, 1, 2, "CMT"))),
        (f"{TREE}.height", None, f"{CASE}: 10 x 20 x 20 mm", f"{EACH} does not fit: 10 x 20 x 30 mm"),
        packed(node(CASE, node(EACH, height=told(1, "MMT")), **sized(1, 1, 1))),
    ),
}


def failures(*records: Record, **checks: Any) -> list[tuple[str, str]]:
    """Return attribute and reason of what is found."""
    catalog = prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    audit = prodex.audit(catalog, {"checks": checks}, now=AS_OF, progress=False)
    assert () == audit.crashes
    return list(audit.failures()[["attribute", "reason"]].itertuples(index=False, name=None))


def test_a_sharing_unit_that_repeats_a_hierarchy_says_nothing_twice() -> None:
    """What both show is one finding; what it alone shows is its own."""
    wrong = node(CASE, node(EACH, quantity=None))

    both = failures(packed(wrong, sharingUnits=[wrong]), quantity_in_parent_told={})
    alone = failures(packed(GOOD[TREE][0], sharingUnits=[wrong]), quantity_in_parent_told={})

    assert [(f"{TREE}.quantity", f"no quantity of {EACH} in {CASE}")] == both
    assert [("sharingUnits.quantity", f"no quantity of {EACH} in {CASE}")] == alone


def test_a_hierarchy_of_any_depth_is_walked() -> None:
    """A hundred levels are walked, the last of which is the first again."""
    inner = node(CASE)
    for number in range(100):
        inner = node(f"{number:014d}", inner)

    assert [(f"{TREE}.children", f"a unit inside itself: {CASE} in {0:014d}")] == failures(
        packed(node(CASE, inner)), hierarchy_without_cycle={}
    )


def test_a_node_that_only_repeats_a_unit_is_known_by_its_gtin() -> None:
    """Weight and flags are taken from where the same product tells them, in either shape of a node."""
    full = node(EACH, grossWeight=told(100, "GRM"))
    case = {
        "gtin": CASE,
        "version": {"grossWeight": told(1, "KGM")},
        "children": [{"gtin": EACH, "quantity": 20}],
    }

    assert [
        (f"{TREE}.grossWeight", f"{CASE} weighs less than what is in it: 2000 g (more than 2% below)")
    ] == failures(packed(node(PALLET, full), case), parent_weighs_its_children={})


def test_weights_of_other_products_are_not_mixed_up() -> None:
    """Where many products have the same positions, each is compared with its own."""
    rng = np.random.default_rng(5)
    records, expected = [], []
    for _ in range(60):
        held, outer, count = (int(each) for each in rng.integers(1, 30, 3))
        child = node(EACH, quantity=count, grossWeight=told(held, "GRM"))
        records.append(packed(node(PALLET), node(CASE, child, grossWeight=told(outer, "GRM"))))
        expected.append(int(outer * 1.02 < held * count))

    catalog = prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    audit = prodex.audit(catalog, {"checks": {"parent_weighs_its_children": {}}}, now=AS_OF, progress=False)

    assert expected == audit.states[:, 0].tolist()


def test_parameters_say_what_is_tolerated() -> None:
    """Tolerances and packagings are taken from the profile."""
    record = packed(
        node(CASE, node(EACH, **sized(11, 11, 11), grossWeight=told(11, "GRM")), **sized(10, 10, 10)),
        netWeight=told(11, "GRM"),
        grossWeight=told(10, "GRM"),
    )
    record[TREE][0]["grossWeight"] = told(10, "GRM")
    rules = ("net_not_over_gross", "parent_weighs_its_children", "parent_larger_than_child")

    assert 3 == len(failures(record, **{rule: {"tolerance": 0.05} for rule in rules}))
    assert [] == failures(record, **{rule: {"tolerance": 0.2} for rule in rules})
    kinds: dict[str, Any] = {"outer_unit_has_children": {"packagings": ["EACH"]}}
    assert [(f"{TREE}.children", "EACH without children")] == failures(record, **kinds)
    assert [] == failures(packed(node(CASE)), leaf_is_consumer_unit={"base": ["CASE"]})
    assert 1 == len(
        failures(packed(node(CASE, isConsumerUnit=True)), pallet_not_for_consumers={"packagings": ["CASE"]})
    )

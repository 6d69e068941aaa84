"""How many pieces a pallet holds: each tree once, branches added up, and what is not known said."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import QueryError
from prodex_sandbox.sample import shared_products
from tests.cases import each_row

PALLET, CASE, PACK, EACH = "23663836037988", "13663836037981", "03663836037984", "03091033779527"


def node(gtin: str, packaging: str, quantity: Any = None, *children: dict[str, Any]) -> dict[str, Any]:
    return {
        "gtin": gtin,
        "quantity": quantity,
        "typePackaging": {"code": packaging, "label": packaging.title()},
        "children": list(children),
    }


def worked_example() -> dict[str, Any]:
    """A pallet of 10 cases of 20 packs of 20 eaches."""
    packs = node(PACK, "PACK", 20, node(EACH, "EACH", 20))
    return node(PALLET, "PALLET", 1, node(CASE, "CASE", 10, packs))


def row(*trees: dict[str, Any], **arguments: str) -> dict[str, Any]:
    """Return the one row of a catalogue in which every tree is told by a product of its own."""
    records = [{"id": number, "logisticalHierarchies": [tree]} for number, tree in enumerate(trees, 1)]
    (found,) = prodex.flatten(records).contents(**arguments).to_dict("records")
    return {str(name): None if pd.isna(value) else value for name, value in found.items()}


def test_a_tree_that_every_product_repeats_is_counted_once() -> None:
    """Four products, each under two attributes: 4,000 eaches, 200 packs and 10 cases."""
    tree = worked_example()
    records = [
        {"id": number, "gtin": gtin, "logisticalHierarchies": [tree], "sharingUnits": [tree]}
        for number, gtin in enumerate((PALLET, CASE, PACK, EACH), 1)
    ]
    records[0]["namePublicLong"] = [{"expressedIn": {"code": "fra-FR"}, "data": "Palette"}]
    catalog = prodex.flatten(records)

    (found,) = catalog.contents().to_dict("records")
    assert {
        "root_gtin": PALLET,
        "product_id": "1",
        "name": "Palette",
        "pieces": 4000,
        "known": True,
        "levels": 4,
        "told_by": 4,
        "agrees": True,
    } == {name: value for name, value in found.items() if name != "problem"}
    assert [200, 10, 4000] == [
        int(catalog.contents("pallet", unit)["pieces"][0]) for unit in ("Pack", "case", "each")
    ]


def test_branches_add_up() -> None:
    """A mixed pallet holds what all its branches hold, also where two of them hold the same unit."""
    one = node("10000000000016", "CASE", 3, node(EACH, "EACH", 4))
    other = node("10000000000023", "CASE", 2, node(EACH, "EACH", 5))

    assert (22, True) == (row(node(PALLET, "PALLET", 1, one, other))["pieces"], True)


@each_row(
    ("tree", "problem"),
    [
        (
            node(PALLET, "PALLET", 1, node(CASE, "CASE", None, node(EACH, "EACH", 4))),
            f"no quantity of {CASE}",
        ),
        (node(PALLET, "PALLET", 1, node(CASE, "CASE", 0, node(EACH, "EACH", 4))), "quantity 0 of"),
        (node(PALLET, "PALLET", 1, node(CASE, "CASE", -2, node(EACH, "EACH", 4))), "quantity -2 of"),
        (node(PALLET, "PALLET", 1, node(CASE, "CASE", 2.5, node(EACH, "EACH", 4))), "quantity 2.5 of"),
        (node(PALLET, "PALLET", 1, node(CASE, "CASE", 2, node(PALLET, "PALLET", 4))), "inside itself"),
        (node(PALLET, "PALLET", 1, node(EACH, "EACH", 2), node(EACH, "EACH", 2)), "stands twice"),
        (node(PALLET, "PALLET", 1, node(CASE, "CASE", 2)), "is not said"),
        (node(PALLET, "PALLET", 1, node(EACH, "EACH", 2, node(PACK, "EACH", 2))), "inside another"),
        (node(PALLET, "PALLET", 1, {"children": [node(EACH, "EACH", 2)]}), "no data"),
        (node(PALLET, "PALLET"), "is not said"),
    ],
)
def test_what_cannot_be_counted_is_said_and_not_summed(tree: dict[str, Any], problem: str) -> None:
    """Where the records do not determine a sum, it is missing and the reason is given."""
    found = row(tree)

    assert [None, False] == [found["pieces"], found["known"]]
    assert problem in found["problem"]


def test_products_that_contradict_each_other_settle_nothing() -> None:
    """Two tellings with different numbers: no number; different only in what does not count: the number, and said."""
    ten, twelve = (node(PALLET, "PALLET", 1, node(EACH, "EACH", count)) for count in (10, 12))
    wrapped = node(PALLET, "PALLET", 1, node(CASE, "CASE", 2, node(EACH, "EACH", 5)))

    different = row(ten, twelve)
    assert [None, False, False, 2] == [different[k] for k in ("pieces", "known", "agrees", "told_by")]
    assert "10, 12" in different["problem"]
    alike = row(ten, wrapped)
    assert [10, True, False] == [alike[k] for k in ("pieces", "known", "agrees")]


def test_a_tree_without_the_unit_holds_none_of_it() -> None:
    """A pallet of eaches holds no cases; what is in a case nobody knows."""
    assert 0 == row(node(PALLET, "PALLET", 1, node(EACH, "EACH", 10)), unit="CASE")["pieces"]
    assert 10 == row(node(PALLET, "PALLET", 1, node(CASE, "CASE", 10)), unit="CASE")["pieces"]


def test_packaging_is_taken_by_code_or_name_and_refused_with_the_nearest() -> None:
    """An unknown type of packaging is an error that names the nearest."""
    catalog = prodex.flatten([{"id": 1, "logisticalHierarchies": [worked_example()]}])

    with pytest.raises(QueryError, match="did you mean 'PALLET'"):
        catalog.contents("PALET")
    with pytest.raises(QueryError, match="takes a type of packaging"):
        catalog.contents(unit=7)  # type: ignore[arg-type]
    with pytest.warns(UserWarning, match="No hierarchy begins with 'CASE'"):
        assert catalog.contents("CASE").empty
    empty = prodex.flatten([]).contents()
    assert (0, catalog.contents().dtypes.to_dict()) == (len(empty), empty.dtypes.to_dict())


def test_a_waiting_update_and_odd_shapes_of_trees_do_no_harm() -> None:
    """What waits is not counted; children that are one object instead of a list are."""
    tree = node(PALLET, "PALLET", 1)
    tree["children"] = node(EACH, "EACH", 8)
    catalog = prodex.flatten(
        [
            {
                "id": 1,
                "logisticalHierarchies": tree,
                "lastRequest": {"logisticalHierarchies": [worked_example()]},
            }
        ]
    )

    assert [8] == catalog.contents()["pieces"].tolist()


@pytest.mark.slow
def test_the_pallets_of_the_sample_hold_what_their_records_say() -> None:
    """Against plain Python over the raw records; the obvious sum over rows is wrong for many of them."""
    records = [product.record for product in shared_products(2_000)]
    told: dict[str, set[float | None]] = defaultdict(set)
    for record in records:
        for tree in [*(record["logisticalHierarchies"] or []), *(record["sharingUnits"] or [])]:
            if _packaging(tree) == "PALLET":
                told[tree["gtin"]].add(_eaches(tree, {tree["gtin"]}))
    expected = {gtin: next(iter(counts)) if len(counts) == 1 else None for gtin, counts in told.items()}
    catalog = prodex.flatten(records)

    found = catalog.contents()
    pieces = {r["root_gtin"]: None if pd.isna(r["pieces"]) else r["pieces"] for r in found.to_dict("records")}
    assert expected == pieces
    rows = catalog.hierarchies
    naive = rows[rows["packaging_code"] == "EACH"].groupby("root_gtin")["units_per_root"].sum()
    wrong = [gtin for gtin, count in expected.items() if count is not None and naive.get(gtin) != count]
    assert len(expected) > 100
    assert len(wrong) > len(expected) / 3


def _packaging(tree: dict[str, Any]) -> str | None:
    kind = tree.get("typePackaging") or (tree.get("version") or {}).get("typePackaging") or {}
    return kind.get("code")


def _eaches(tree: dict[str, Any], above: set[str]) -> float | None:
    """Count the eaches in a tree, by the letter; None where the record does not say."""
    if _packaging(tree) == "EACH":
        return 1
    children = tree.get("children") or []
    if not children or len({child["gtin"] for child in children}) < len(children):
        return None
    total = 0.0
    for child in children:
        quantity, inside = child.get("quantity"), _eaches(child, above | {child["gtin"]})
        if child["gtin"] in above or inside is None or not quantity or quantity < 1 or quantity % 1:
            return None
        total += quantity * inside
    return total


def test_quantities_that_are_gtins_cost_their_own_tree() -> None:
    """Their product is more than a column holds: it is not known, and the pallet beside it is counted."""
    huge = node(
        "33663836037985", "PALLET", 1, node(CASE, "CASE", 13663836037981, node(EACH, "EACH", 3091033779527))
    )
    trees = [
        {"id": number, "logisticalHierarchies": [one]}
        for number, one in enumerate((huge, worked_example()), 1)
    ]
    rows = prodex.flatten(trees).contents().set_index("root_gtin")
    assert [4000, False] == [rows.loc[PALLET, "pieces"], rows.loc["33663836037985", "known"]]
    assert "its quantities make more pieces than can be counted" == rows.loc["33663836037985", "problem"]
    exact = 2**53 - 1
    assert (
        exact * 1000
        == row(node(PALLET, "PALLET", 1, node(CASE, "CASE", 1000, node(EACH, "EACH", exact))))["pieces"]
    )

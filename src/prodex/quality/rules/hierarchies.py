"""Rules of hierarchies: contents, quantities, and the use of each unit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.pending import are_pending
from prodex.gtin import are_upc_e, are_valid
from prodex.languages import Message
from prodex.quality.hierarchy_columns import BOTH_SOURCES, HierarchyColumns
from prodex.quality.products import Products
from prodex.quality.rulebook import rule
from prodex.quality.verdict import Verdict, compared_with, product_verdict
from prodex.tables.columns import Rows, is_true

#: Rules name the tree that is sent first; `BOTH_SOURCES` makes them look at both.
_TREE = "logisticalHierarchies"
_CHILDREN = f"{_TREE}.children"

#: Declares a rule of hierarchies.
_rule = partial(
    rule,
    block="hierarchies",
    source="GDSN trade item hierarchy; most common errors at GS1 Belgium & Luxembourg",
)


@_rule(
    title="an outer unit lists its contents",
    problem="Outer unit without contents",
    fix="Add the units it contains, each with its quantity.",
    severity="error",
    dimension="completeness",
    needs=(_CHILDREN, f"{_TREE}.typePackaging", f"{_TREE}.isConsumerUnit", BOTH_SOURCES),
)
def outer_unit_has_children(
    products: Products, *, packagings: tuple[str, ...] = ("PACK", "CASE", "PALLET")
) -> Verdict:
    """A case with unknown contents cannot be ordered, received or split.

    A pack that is sold to consumers as it is may be the smallest unit that the supplier describes.
    """
    # By the type of packaging, since only that tells a case without contents from a single product.
    packing = HierarchyColumns.of(products)
    outer = packing.is_packed_as(packagings)
    # A six-pack that is sold as it is: its bottles need no record of their own.
    sold = packing.is_flagged("is_consumer_unit") & packing.is_packed_as(("PACK",))
    # A unit that contains itself is another rule's finding, and its contents are there, only wrong.
    wrong = outer & ~sold & ~packing.has_children & ~packing.repeats
    return packing.verdict(
        wrong,
        "children",
        Message("{kind} without children", kind=packing["packaging_code"]),
        compared="packaging_code",
    )


@_rule(
    title="the lowest unit of a hierarchy is a consumer or base unit",
    problem="Lowest unit is neither consumer nor base unit",
    fix="Add the units down to the consumer unit, or mark the lowest one as consumer unit.",
    severity="warning",
    dimension="completeness",
    needs=(f"{_TREE}.isConsumerUnit", _CHILDREN, f"{_TREE}.typePackaging", BOTH_SOURCES),
)
def leaf_is_consumer_unit(products: Products, *, base: tuple[str, ...] = ("EACH",)) -> Verdict:
    """A hierarchy that ends above the product does not show how many products are ordered."""
    packing = HierarchyColumns.of(products)
    # A unit that contains itself ends the tree there, but is no lowest unit.
    leaves = ~packing.has_children & ~packing.repeats
    # Only a flag that is false fails: a missing flag is the finding of another rule.
    wrong = leaves & packing.is_flagged("is_consumer_unit", False) & ~packing.is_packed_as(base)
    return packing.verdict(
        wrong,
        "",
        Message("the lowest unit is neither a consumer nor a base unit"),
        compared="packaging_code",
    )


@_rule(
    title="the hierarchy gives the quantity of a unit in the next larger one",
    problem="Quantity in the next larger unit missing",
    fix="Give the quantity.",
    severity="warning",
    dimension="completeness",
    needs=(f"{_CHILDREN}.quantity", BOTH_SOURCES),
)
def quantity_in_parent_told(products: Products) -> Verdict:
    """The quantity in a case decides what an order brings; it must not be guessed."""
    packing = HierarchyColumns.of(products)
    wrong = packing.is_inner & np.isnan(packing.quantity)
    return packing.verdict(
        wrong,
        "quantity",
        Message("no quantity of {unit} in {parent}"),
        value=lambda _: None,
        judged=packing.is_inner,
        compared=packing.in_parents,
    )


@_rule(
    title="quantities in a hierarchy are whole numbers of 1 or more",
    problem="Quantity in a hierarchy is not a whole number",
    fix="Correct the quantity.",
    severity="error",
    dimension="validity",
    needs=(f"{_CHILDREN}.quantity", BOTH_SOURCES),
)
def quantity_in_parent_whole(products: Products) -> Verdict:
    """Half a unit cannot be packed, and a quantity of zero is no content."""
    packing = HierarchyColumns.of(products)
    # A missing quantity is the finding of the rule above, not a wrong number.
    given = packing.is_inner & ~np.isnan(packing.quantity)
    wrong = given & ~((packing.quantity >= 1) & (packing.quantity == np.floor(packing.quantity)))
    return packing.verdict(
        wrong,
        "quantity",
        Message("no whole number of 1 or more: {unit} in {parent}"),
        value=lambda rows: packing.quantity[rows],
        judged=given,
        compared=packing.in_parents,
    )


@_rule(
    title="no unit contains itself",
    problem="Unit contains itself",
    fix="Remove the unit from its own contents; probably the wrong GTIN was linked.",
    severity="error",
    dimension="consistency",
    needs=(f"{_CHILDREN}.gtin", BOTH_SOURCES),
)
def hierarchy_without_cycle(products: Products) -> Verdict:
    """A unit that contains itself has no size: systems that count contents fail or never finish."""
    packing = HierarchyColumns.of(products)
    return packing.verdict(
        packing.repeats,
        "children",
        Message("a unit inside itself: {unit} in {parent}"),
        compared=packing.in_parents,
    )


@_rule(
    title="the hierarchy has a unit that can be despatched",
    problem="No unit that can be despatched",
    fix="Mark the unit that leaves the warehouse as despatch unit.",
    reason="no unit is marked as despatch unit",
    severity="error",
    dimension="completeness",
    needs=(f"{_TREE}.isDespatchUnit", f"{_CHILDREN}.isDespatchUnit", "isDespatchUnit", BOTH_SOURCES),
)
def has_despatch_unit(products: Products) -> Verdict:
    """Without a despatch unit nothing can be sent."""
    return _has_unit(products, "is_despatch_unit")


@_rule(
    title="the hierarchy has a unit that can be ordered",
    problem="No unit that can be ordered",
    fix="Mark the unit that can be ordered as orderable unit.",
    reason="no unit is marked as orderable unit",
    severity="error",
    dimension="completeness",
    needs=(f"{_TREE}.isOrderableUnit", f"{_CHILDREN}.isOrderableUnit", "isOrderableUnit", BOTH_SOURCES),
)
def has_orderable_unit(products: Products) -> Verdict:
    """Without an orderable unit nothing can be ordered."""
    return _has_unit(products, "is_orderable_unit")


def _has_unit(products: Products, flag: str) -> Verdict:
    packing = HierarchyColumns.of(products)
    # The record's own unit counts as well: the hierarchy of a case may list its contents only.
    own = is_true(products.column(flag))
    return Verdict(~(own | packing.any(packing.is_flagged(flag))), packing.packed)


@_rule(
    title="a pallet is not sold to consumers, unless it is a display",
    problem="Pallet is marked as sold to consumers",
    fix="State that the pallet is not a consumer unit (false), or mark it as a display unit.",
    severity="error",
    dimension="consistency",
    needs=(f"{_TREE}.isConsumerUnit", f"{_TREE}.isDisplayUnit", f"{_TREE}.typePackaging", BOTH_SOURCES),
)
def pallet_not_for_consumers(products: Products, *, packagings: tuple[str, ...] = ("PALLET",)) -> Verdict:
    """Shops list every consumer unit: the pallet is offered online as a single product."""
    packing = HierarchyColumns.of(products)
    pallets = packing.is_packed_as(packagings)
    # A display pallet is put into the shop, and customers take products from it: that is intended.
    sold = packing.is_flagged("is_consumer_unit") & ~packing.is_flagged("is_display_unit")
    return packing.verdict(
        pallets & sold,
        "isConsumerUnit",
        Message("a pallet that is a consumer unit and no display unit"),
        judged=pallets,
        compared="packaging_code",
    )


@_rule(
    title="an outer unit has a hierarchy",
    problem="Outer unit without a hierarchy",
    fix="Send the hierarchy of the unit: its contents and their quantities.",
    severity="warning",
    dimension="completeness",
    needs=(_TREE, BOTH_SOURCES),
    scope={"packaging_code": ["CASE", "PALLET"]},
)
def outer_unit_has_hierarchy(products: Products) -> Verdict:
    """A case or pallet without a hierarchy does not show which products it contains."""
    # Not of packs, as the scope says: one that is sold as it is may be all that there is to describe.
    return Verdict(~HierarchyColumns.of(products).packed)


@_rule(
    title="the GTINs of a hierarchy have correct check digits",
    problem="Wrong GTIN in a hierarchy",
    fix="Correct the GTIN in the hierarchy.",
    severity="error",
    dimension="validity",
    needs=(f"{_CHILDREN}.gtin", f"{_TREE}.gtin", BOTH_SOURCES),
    source="GS1 General Specifications, section 7.9",
)
def hierarchy_gtins_valid(products: Products) -> Verdict:
    """A wrong GTIN links the case to another product, or to none."""
    packing = HierarchyColumns.of(products)
    # A GTIN occurs in many hierarchies: its check digit is computed once.
    distinct = packing["node_gtin"].dictionary_encode().dictionary.to_pylist()
    # The last value is for nodes without a GTIN, whose code is -1: they have no wrong GTIN.
    valid = np.append(are_valid(distinct) | are_upc_e(distinct), True)
    return packing.verdict(
        ~valid[packing.gtin],
        "gtin",
        Message("not 14 digits of which the last is the right check digit"),
        judged=packing.gtin >= 0,
    )


def _known_gtins(whole: dict[str, pa.ChunkedArray]) -> pa.Array:
    """Return every GTIN of the catalogue, as 14 digits."""
    # Hierarchies may name GTIN-13 and GTIN-8 without the leading zeros that products have.
    return pc.unique(pc.utf8_lpad(whole["products.gtin"].drop_null(), 14, "0"))


@_rule(
    title="the contents of a unit are in the catalogue",
    problem="Contents of a unit not in the catalogue",
    fix="Share the contained product as well, or correct its GTIN in the hierarchy.",
    severity="warning",
    dimension="consistency",
    needs=(f"{_CHILDREN}.gtin", BOTH_SOURCES),
    whole="products.gtin",
    prepare=_known_gtins,
)
def child_gtin_known(products: Products, *, whole: Any) -> Verdict:
    """A case of a product that is not shared cannot be sold.

    In a catalogue that was loaded in part (one tag, consumer units only), the contained product may just be missing
    from it.
    """
    packing = HierarchyColumns.of(products)
    # The root is the product itself or a larger unit, which nobody expects in the same catalogue.
    inner = packing.is_inner & (packing.gtin >= 0)
    known = is_true(pc.is_in(pc.utf8_lpad(packing["node_gtin"], 14, "0"), whole))
    return packing.verdict(
        inner & ~known,
        "children.gtin",
        Message("not in this catalogue: {unit} in {parent}"),
        judged=inner,
        compared=packing.in_parents,
    )


def _parents_of(whole: dict[str, pa.ChunkedArray]) -> tuple[pa.Array, pa.Table]:
    """Return the GTINs that larger units contain; and those that several contain, with the GTINs of these."""
    # A pending update may pack the product anew; until it is accepted, there is one case.
    own = pa.array(~are_pending(whole["hierarchies.attribute"]))
    edges = pa.table(
        [whole["hierarchies.node_gtin"], whole["hierarchies.parent_gtin"]], names=["child", "parent"]
    ).filter(own)
    edges = edges.filter(pc.and_(edges["child"].is_valid(), edges["parent"].is_valid()))
    # A product shows its tree in its own record and in those of its cases: one edge counts once.
    pairs = edges.group_by(["child", "parent"], use_threads=False).aggregate([])
    held = pairs.group_by("child", use_threads=False).aggregate([("parent", "list"), ("parent", "count")])
    several = held.filter(pc.greater(held["parent_count"], 1)).select(["child", "parent_list"])
    return held["child"].combine_chunks(), several


@_rule(
    title="a unit is packed in only one larger unit",
    problem="Packed in several different larger units",
    fix="If this is intended, tell receivers which unit to order; otherwise correct the hierarchies.",
    severity="info",
    dimension="consistency",
    needs=(f"{_CHILDREN}.gtin", BOTH_SOURCES),
    whole=("hierarchies.node_gtin", "hierarchies.parent_gtin", "hierarchies.attribute"),
    prepare=_parents_of,
    source="not an error: receivers ask which unit to order",
)
def one_parent(products: Products, *, whole: Any) -> Verdict:
    """A product that comes in two different cases is sooner or later ordered in the wrong one."""
    # Over the whole catalogue: the record of a product need not show all cases that contain it.
    packed, several = whole
    place = pc.index_in(products.column("gtin"), several["child"].combine_chunks())

    def parents(rows: Rows) -> list[list[str]]:
        found = several["parent_list"].combine_chunks().take(place.take(pa.array(rows))).to_pylist()
        return [sorted(each) for each in found]

    return product_verdict(
        is_true(place.is_valid()),
        _TREE,
        products["gtin"],
        lambda rows: [
            Message("in {count:d} larger units: {units}", count=len(each), units=tuple(each))
            for each in parents(rows)
        ],
        applies=is_true(pc.is_in(products.column("gtin"), packed)),
        compared=lambda rows: [compared_with(*each) for each in parents(rows)],
    )

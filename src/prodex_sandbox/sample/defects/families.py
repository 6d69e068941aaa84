"""Defects of families: GTIN, brand and kind, and how units are packed (the most common errors at GS1 organisations)."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from prodex_sandbox.sample.defects.planting import Trace, declare, in_family, in_record, is_consumer_unit
from prodex_sandbox.sample.products import families
from prodex_sandbox.sample.products.families import Family, Packed, Unit
from prodex_sandbox.sample.products.product import Draft

declare("duplicate_gtin", "Two products of different owners have the same GTIN.")


def _is_lone(family: Family) -> bool:
    return len(family.units) == 1


@in_family(0.008, _is_lone)
def gtin_check_digit(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """The last digit of the GTIN is not its check digit."""
    unit = family.units[0]
    right = unit.gtin[-1]
    # Any other digit, so that it is wrong for certain.
    unit.gtin = f"{unit.gtin[:-1]}{(int(right) + rng.randrange(1, 10)) % 10}"
    return unit, [Trace("gtin", f"ends in {unit.gtin[-1]} where {right} is right")]


@in_family(0.006, _is_lone)
def restricted_prefix(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """The 13-digit number begins with 020-029, 040-049 or 200-299, which are reserved for use within a company."""
    unit = family.units[0]
    prefix = rng.choice(("02", "04", "2"))
    unit.gtin = families.complete(f"0{prefix}{unit.number:0{12 - len(prefix)}d}")
    return unit, [Trace("gtin", f"13-digit number begins with {unit.gtin[1:4]}")]


@in_family(0.006, _is_lone)
def consumer_unit_indicator(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """A consumer unit has the GTIN of an outer unit: indicator 1 to 8."""
    unit = family.units[0]
    unit.gtin = families.outer_gtin(unit.gtin, rng.randrange(1, 9))
    return unit, [Trace("gtin", f"indicator {unit.gtin[0]} on a consumer unit")]


@in_record("classification", 0.006, is_consumer_unit)
def missing_brand(made: Draft) -> Iterable[Trace]:
    """The brand is missing."""
    made.record["brand"] = None
    del made.record["specializes"]["isBrandedBy"]
    return [Trace("brand")]


@in_record("classification", 0.006, lambda made: not made.family.kind.is_food)
def missing_kind(made: Draft) -> Iterable[Trace]:
    """The kind is missing."""
    del made.record["kind"]
    made.record["specializes"]["kind"] = None
    return [Trace("kind")]


@in_record("classification", 0.003, is_consumer_unit)
def brand_is_company(made: Draft) -> Iterable[Trace]:
    """The company is given in place of the brand."""
    company = f"{made.family.brand.name} {made.rng.choice(('GmbH', 'S.A.S.', 'Ltd', 'B.V.', 'S.L.'))}"
    made.record["brand"] |= {"code": f"{made.family.brand.code}_COMPANY", "label": company}
    return [Trace("brand.label", company)]


@in_record("classification", 0.003, is_consumer_unit)
def brand_spelled_otherwise(made: Draft) -> Iterable[Trace]:
    """The brand is spelled in capitals, as in no other of its products."""
    label = made.family.brand.name.upper()
    made.record["brand"] |= {"label": label}
    return [Trace("brand.label", label)]


_PATH = "logisticalHierarchies"
#: Company prefix that no supplier of the sample uses.
_UNKNOWN_COMPANY = "39999"

declare(
    "several_parents", "A unit is packed in more than one sort of outer unit (no mistake, worth knowing)."
)
declare("leaf_not_consumer_unit", "The lowest unit of a hierarchy is neither a consumer nor a base unit.")


def _is_packed(family: Family) -> bool:
    return len(family.units) > 1


def _is_one_case(family: Family) -> bool:
    return len(family.units) == 2


def _has_one_top(family: Family) -> bool:
    return _is_packed(family) and len(family.tops) == 1


def _has_pallet(family: Family) -> bool:
    return (
        _has_one_top(family) and family.tops[0].packaging == "PALLET" and not family.tops[0].is_display_unit
    )


def _parent(rng: Random, family: Family) -> Unit:
    return rng.choice([unit for unit in family.units if unit.contains])


@in_family(0.01, _is_packed)
def hierarchy_quantity_missing(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """The quantity of a unit in the next larger one is missing."""
    parent = _parent(rng, family)
    parent.contains[0].quantity = None
    return parent, [Trace(f"{_PATH}.quantity", f"{parent.contains[0].unit.gtin} in {parent.gtin}")]


@in_family(0.008, _is_packed)
def hierarchy_quantity_invalid(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """The quantity in a larger unit is not a whole number of 1 or more."""
    parent = _parent(rng, family)
    parent.contains[0].quantity = rng.choice((0, -1, 1.5))
    detail = f"{parent.contains[0].quantity} x {parent.contains[0].unit.gtin} in {parent.gtin}"
    return parent, [Trace(f"{_PATH}.quantity", detail)]


@in_family(0.008, _is_packed)
def unknown_child_gtin(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """A unit holds a GTIN that is not in the catalogue."""
    parent = rng.choice(
        [unit for unit in family.units if unit.contains and not unit.contains[0].unit.contains]
    )
    # A multiple of 40 never gives a GTIN-8, whose number does not depend on the company.
    unknown = families.base_gtin(40 * parent.number, _UNKNOWN_COMPANY)
    parent.contains[0].gtin = unknown
    return parent, [Trace(f"{_PATH}.children.gtin", f"{unknown} in {parent.gtin}")]


@in_family(0.02, _is_one_case)
def hierarchy_without_children(_: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """An outer unit names nothing that it holds."""
    case = family.tops[0]
    case.contains = []
    return case, [
        Trace(f"{_PATH}.children", case.gtin),
        Trace(_PATH, case.gtin, defect="leaf_not_consumer_unit"),
    ]


@in_family(0.015, _is_one_case)
def hierarchy_cycle(_: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """A unit contains itself, so that a small unit holds a larger and heavier one."""
    case = family.tops[0]
    each = case.contains[0].unit
    each.contains = [Packed(case, 1)]
    detail = f"{case.gtin} in {each.gtin}"
    return case, [
        Trace(f"{_PATH}.children", detail),
        Trace(f"{_PATH}.grossWeight", detail, defect="parent_lighter_than_children"),
        Trace(f"{_PATH}.height", detail, defect="parent_smaller_than_child"),
    ]


@in_family(0.008, _has_one_top)
def no_despatch_unit(_: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """No unit of the hierarchy can be despatched."""
    for unit in family.units:
        unit.is_despatch_unit = False
    return family.units[0], [Trace(f"{_PATH}.isDespatchUnit")]


@in_family(0.008, _has_one_top)
def no_orderable_unit(_: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """No unit of the hierarchy can be ordered."""
    for unit in family.units:
        unit.is_orderable_unit = False
    return family.units[0], [Trace(f"{_PATH}.isOrderableUnit")]


@in_family(0.02, _has_pallet)
def pallet_is_consumer_unit(_: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """A pallet that is no display unit is marked as a consumer unit."""
    pallet = family.tops[0]
    pallet.is_consumer_unit = True
    return pallet, [Trace(f"{_PATH}.isConsumerUnit", pallet.gtin)]


@in_family(0.01, _is_packed)
def parent_lighter_than_children(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """A unit weighs less than what is in it."""
    parent = _parent(rng, family)
    held = sum(packed.unit.gross * (packed.quantity or 1) for packed in parent.contains)
    parent.gross = max(1, int(held * 0.5))
    # Otherwise the net weight would exceed the gross weight, which is another defect.
    parent.net = min(parent.net, parent.gross)
    detail = f"{parent.gtin}: {parent.gross} g, holds {held:.0f} g"
    return parent, [Trace(f"{_PATH}.grossWeight", detail)]


@in_family(0.01, _is_packed)
def parent_smaller_than_child(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """A unit is smaller than one that is in it."""
    parent = _parent(rng, family)
    height, width, depth = parent.contains[0].unit.dimensions
    parent.dimensions = (height // 2, width // 2, depth // 2)
    return parent, [Trace(f"{_PATH}.height", f"{parent.gtin} around {parent.contains[0].unit.gtin}")]


@in_family(0.006, lambda family: len(family.units) == 1)
def net_weight_over_gross(_: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """The net weight exceeds the gross weight."""
    unit = family.units[0]
    unit.gross = max(1, unit.net * 3 // 4)
    return unit, [Trace("netWeight", f"{unit.net} g net, {unit.gross} g gross")]

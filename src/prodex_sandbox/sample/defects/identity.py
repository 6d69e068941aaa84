"""Defects of GTIN, brand and kind."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from prodex_sandbox.sample import identity
from prodex_sandbox.sample.defects.planting import Trace, declare, in_family, in_record, is_consumer_unit
from prodex_sandbox.sample.families import Family, Unit
from prodex_sandbox.sample.product import Draft

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
    unit.gtin = identity.complete(f"0{prefix}{unit.number:0{12 - len(prefix)}d}")
    return unit, [Trace("gtin", f"13-digit number begins with {unit.gtin[1:4]}")]


@in_family(0.006, _is_lone)
def consumer_unit_indicator(rng: Random, family: Family) -> tuple[Unit, Iterable[Trace]]:
    """A consumer unit has the GTIN of an outer unit: indicator 1 to 8."""
    unit = family.units[0]
    unit.gtin = identity.outer_gtin(unit.gtin, rng.randrange(1, 9))
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
    """The company stands in place of the brand."""
    company = f"{made.family.brand.name} {made.rng.choice(('GmbH', 'S.A.S.', 'Ltd', 'B.V.', 'S.L.'))}"
    made.record["brand"] |= {"code": f"{made.family.brand.code}_COMPANY", "label": company}
    return [Trace("brand.label", company)]


@in_record("classification", 0.003, is_consumer_unit)
def brand_spelled_otherwise(made: Draft) -> Iterable[Trace]:
    """The brand is spelled in capitals, as in no other of its products."""
    label = made.family.brand.name.upper()
    made.record["brand"] |= {"label": label}
    return [Trace("brand.label", label)]

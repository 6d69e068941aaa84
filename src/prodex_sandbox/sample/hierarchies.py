"""Logistical hierarchies and sharing units as the wire shows them, in both shapes that services use."""

from __future__ import annotations

from random import Random
from typing import Any

from prodex_sandbox.sample.families import Family, Packed, Unit
from prodex_sandbox.sample.vocabulary import CODES, quantity


def weight(grams: int) -> list[dict[str, Any]]:
    """Return a weight in grams below one kilogram, in kilograms above."""
    return [quantity(grams, "GRM") if grams < 1_000 else quantity(grams / 1_000, "KGM")]


def measures(unit: Unit) -> dict[str, Any]:
    """Return gross weight and dimensions of a unit."""
    height, width, depth = unit.dimensions
    return {
        "grossWeight": weight(unit.gross),
        "height": [quantity(height, "MMT")],
        "width": [quantity(width, "MMT")],
        "depth": [quantity(depth, "MMT")],
    }


def flags(unit: Unit) -> dict[str, Any]:
    """Return what the unit is used for."""
    return {
        "isConsumerUnit": unit.is_consumer_unit,
        "isDespatchUnit": unit.is_despatch_unit,
        "isOrderableUnit": unit.is_orderable_unit,
        "isDisplayUnit": unit.is_display_unit,
    }


def trees_of(family: Family, unit: Unit) -> list[Unit]:
    """Return the roots of the hierarchies that the record of a unit shows.

    Cases and pallets show what they hold; consumer units show every hierarchy that they are packed in, where the
    supplier does so.
    """
    if unit.packaging in {"CASE", "PALLET"}:
        return [unit]
    if not family.shows_parents:
        return []
    return [top for top in family.tops if top is not unit and unit in _held(top)]


def shown_units(family: Family, unit: Unit) -> list[Unit]:
    """Return every unit of the hierarchies that the record of a unit shows, roots first."""
    shown: list[Unit] = []
    for root in trees_of(family, unit):
        shown += [each for each in _held(root) if each not in shown]
    return shown


def _held(root: Unit) -> list[Unit]:
    """Return a unit and everything in it, once each (a planted cycle ends here)."""
    found = [root]
    for unit in found:
        found += [packed.unit for packed in unit.contains if packed.unit not in found]
    return found


def listings(rng: Random, family: Family, unit: Unit) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return `logisticalHierarchies` and `sharingUnits` of a unit's record.

    The shape depends on the supplier: those of even numbers send flat nodes, others put the attributes into `version`.
    At most one of the hierarchies is listed actively; it is in `sharingUnits` as well.
    """
    nested = family.supplier.number % 2 == 1
    hierarchies: list[dict[str, Any]] = []
    sharing: list[dict[str, Any]] = []
    for root in trees_of(family, unit):
        # One hierarchy at most is shared through a listing.
        active = not sharing and rng.random() < 0.3
        tree = _node(Packed(root, 1), nested, ())
        hierarchies.append({"activeListing": active, "product_key_id": root.id % 10_000_019, **tree})
        if active:
            sharing.append(_node(Packed(root, 1), nested, ()))
    return hierarchies, sharing


def _node(packed: Packed, nested: bool, above: tuple[int, ...]) -> dict[str, Any]:
    unit = packed.unit
    # A planted cycle would never end.
    if unit.number in above:
        return {"gtin": unit.gtin, "uuid": unit.uuid, "quantity": packed.quantity}
    packaging = {"code": unit.packaging, "label": CODES["packaging"][unit.packaging]["en"]}
    attributes = {"typePackaging": packaging, **flags(unit), **measures(unit)}
    children = [_node(child, nested, (*above, unit.number)) for child in unit.contains]
    place: dict[str, Any] = {"gtin": packed.gtin or unit.gtin, "uuid": None if packed.gtin else unit.uuid}
    # Services send an unknown quantity as null, or do not send it.
    if packed.quantity is not None or unit.number % 2:
        place["quantity"] = packed.quantity
    if nested:
        return {"version": attributes, **place, "children": children}
    if children or unit.number % 3:
        place["children"] = children or None
    return {**place, **attributes}

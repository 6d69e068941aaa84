"""Hierarchies as trees: which units are packed in which, how many, and where this product is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prodex.explore.card.record import (
    MOST,
    PACKINGS,
    UNIT_FLAGS,
    LabelledValue,
    Record,
    Row,
    leaves_of,
    order_of,
    value_text,
    why_missing,
)
from prodex.untrusted_text import Words, label, words

#: Units of an attribute that are shown.
_MOST = 400
#: Further values that are shown of a unit.
_MOST_FACTS = 60
#: Units that are packed deeper are shown at this level: browsers give up on elements that nest without end.
_DEEPEST = 24
#: The path of a value in a hierarchy: the attribute, the levels below the root, and the path in the unit.
_NODE = re.compile(rf"({'|'.join(PACKINGS)})((?:\.children)*)(?:\.version)?\.(.+)", re.DOTALL)
_TITLES = {"logisticalHierarchies": "Logistical hierarchies", "sharingUnits": "Sharing units"}


@dataclass(frozen=True)
class HierarchyUnit:
    """A unit of a hierarchy.

    Attributes
    ----------
    gtin, packaging
        What it is.
    quantity
        How many are packed in the unit around it; "" at the root.
    in_all
        How many are packed in the outermost unit; "" if that is the unit around it, and at the root.
    is_this
        Whether it is the product itself.
    is_active
        Whether it is shared through a listing; None if unknown.
    is_cycle
        Whether a unit with its own GTIN is around it.
    parents
        Number of units that it is packed in.
    flags
        Its uses.
    facts, facts_total
        Its further values that are shown, and the number of all.
    units
        The units that are packed in it.
    """

    gtin: Words
    packaging: Words
    quantity: str
    in_all: str
    is_this: bool
    is_active: bool | None
    is_cycle: bool
    parents: int
    flags: tuple[str, ...]
    facts: tuple[LabelledValue, ...]
    facts_total: int
    units: tuple[HierarchyUnit, ...]


@dataclass(frozen=True)
class HierarchyTrees:
    """The trees of one attribute.

    Attributes
    ----------
    title
        The title of the attribute.
    roots
        The outermost units.
    shown, total
        Number of units that are shown, and of all units.
    facts, facts_total
        Values in the hierarchies that belong to no unit shown, and the number of all such values.
    missing
        Why there are no units, if there are none.
    """

    title: str
    roots: tuple[HierarchyUnit, ...]
    shown: int
    total: int
    facts: tuple[LabelledValue, ...]
    facts_total: int
    missing: str


def read_hierarchies(record: Record) -> tuple[HierarchyTrees, ...]:
    """Return the logistical hierarchies and the sharing units of a product."""
    return tuple(_packing(record, source) for source in PACKINGS)


def _packing(record: Record, source: str) -> HierarchyTrees:
    every = sorted(_nodes(record, source), key=lambda row: order_of(row["position"]))
    rows = every[:_MOST]
    places = {row["position"] for row in rows}
    facts = _facts(record, source, places)
    above = {row["position"]: _around(row["position"], places) for row in rows}
    gtins = {row["position"]: row["node_gtin"] for row in rows}
    parents: dict[str, set[str | None]] = {}
    for place, around in above.items():
        if gtins[place] and around:
            parents.setdefault(gtins[place], set()).add(gtins[around] or around)
    # Values of units beyond the limit, and of positions that have no unit: they are counted and never dropped.
    strays = [fact for place, found in facts.items() if place not in places for fact in found]
    inside: dict[str, list[HierarchyUnit]] = {}
    for row in reversed(rows):  # from the inside out: a unit is frozen, so the units in it are made before it
        place = row["position"]
        unit = _unit(
            record,
            row,
            is_cycle=bool(gtins[place]) and gtins[place] in _path(place, above, gtins),
            parents=len(parents.get(gtins[place], ())),
            facts=tuple(facts.get(place, ())[:_MOST_FACTS]),
            facts_total=len(facts.get(place, ())),
            units=tuple(reversed(inside.pop(place, []))),
        )
        inside.setdefault(_shown_in(place, above), []).append(unit)
    return HierarchyTrees(
        title=_TITLES[source],
        roots=tuple(reversed(inside.get("", []))),
        shown=len(rows),
        total=len(every),
        facts=tuple(strays[:_MOST_FACTS]),
        facts_total=len(strays),
        missing=str(why_missing(record, source)),
    )


def _nodes(record: Record, source: str) -> Iterator[Row]:
    for row in record.tables.get("hierarchies", ()):
        if row["source"] == source and row["attribute"].startswith(source):
            yield row


def _unit(record: Record, row: Row, **of_tree: object) -> HierarchyUnit:
    quantity, units = row["quantity"], row["units_per_root"]
    inside = "unknown" if quantity is None else value_text(quantity).text
    in_all = "total unknown" if units is None else f"= {value_text(units).text} in total"
    return HierarchyUnit(
        gtin=label(row["node_gtin"]),
        packaging=label(row["packaging"] or row["packaging_code"]),
        quantity="" if row["level"] == 0 else f"× {inside}",
        in_all="" if row["level"] < 2 else in_all,
        # The record marks no unit as the product itself, so it is found by its GTIN.
        is_this=_same(row["node_gtin"], record.product["gtin"]),
        is_active=row["active_listing"],
        flags=tuple(name for column, name in UNIT_FLAGS.items() if row[column]),
        **of_tree,  # type: ignore[arg-type]
    )


def _facts(record: Record, source: str, places: set[str]) -> dict[str, list[LabelledValue]]:
    """Return the values of each unit that the tree itself does not show, by position."""
    found: dict[str, list[LabelledValue]] = {}
    for row in _nodes(record, source):
        if row["position"] in places:
            unlike = [name for column, name in UNIT_FLAGS.items() if row[column] is False]
            values = {
                "quantity": row["quantity"] if row["level"] == 0 else None,
                "packaging code": row["packaging_code"] if row["packaging"] else None,
                "uuid": row["node_uuid"],
                "product_key_id": row["product_key_id"],
                "is not": ", ".join(unlike) or None,
                "active listing": row["active_listing"],
            }
            facts = found.setdefault(row["position"], [])
            facts += [LabelledValue(term, value_text(one)) for term, one in values.items() if one is not None]
    for table in record.tables:
        # The tree itself shows `hierarchies`; the others have no rows of units.
        if table in {"hierarchies", "products", "presence", "raw"}:
            continue
        for row in record.packed(table):
            if (match := _NODE.fullmatch(row["attribute"])) and match[1] == source:
                level = match[2].count(".children")
                place = ".".join(row["position"].split(".")[: level + 1])
                for line in leaves_of(table, {**row, "attribute": match[3]}):
                    spoken = label(line.place if table == "texts" else None)
                    fact = LabelledValue(line.attribute, words(line.value, MOST), spoken)
                    found.setdefault(place, []).append(fact)
    return found


def _around(position: str, places: set[str]) -> str:
    """Return the position of the nearest unit around another; "" if there is none."""
    outer = position.rpartition(".")[0]
    while outer and outer not in places:
        outer = outer.rpartition(".")[0]
    return outer


def _shown_in(place: str, above: dict[str, str]) -> str:
    outer = above[place]
    # A unit below the deepest level is shown with its ancestor at that level.
    while outer and outer.count(".") >= _DEEPEST:
        outer = above[outer]
    return outer


def _path(place: str, above: dict[str, str], gtins: dict[str, str | None]) -> Iterator[str | None]:
    """Yield the GTINs of the units around one."""
    while place := above[place]:
        yield gtins[place]


def _same(one: str | None, other: str | None) -> bool:
    # GTINs of 8, 12 and 13 digits are the same with zeros in front.
    return bool(one) and bool(other) and str(one).zfill(14) == str(other).zfill(14)

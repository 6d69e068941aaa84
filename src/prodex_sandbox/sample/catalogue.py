"""The sample catalogue and its plan: families one after the other, the same for the same seed.

Some products get unusual but legal values that real records hold: other types, huge integers, right-to-left text,
hostile strings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

from prodex_sandbox.records.model import SharedProduct
from prodex_sandbox.sample.defects import labelling, planting, status
from prodex_sandbox.sample.defects.planting import Defect, Repair, Trace
from prodex_sandbox.sample.products import families, product
from prodex_sandbox.sample.products.families import Family, Unit, draw_family
from prodex_sandbox.sample.products.participants import SUPPLIERS_BY_SECTOR
from prodex_sandbox.sample.products.product import Draft, draft, other_views

#: Places of the families that exist once: a product of hostile strings, one with a text of 40,000 characters,
#: one whose GTIN is all zeros.
_HOSTILE, _LONG, _ZEROS = 20, 30, 40
#: Shares of products outside hierarchies that get a twin with the same GTIN, and of others that wait for acceptance.
_TWINS, _AWAITING = 0.008, 0.012

planting.declare(
    "hostile_strings",
    "Every text of the product is made to harm a program that does not escape it; exactly one product.",
)
planting.declare(
    "gtin_all_zeros", "The GTIN is fourteen zeros, whose check digit is right; exactly one product."
)

_SEED = re.compile(r"the sample of [0-9,]+ products with seed (-?[0-9]+)")


@dataclass(frozen=True, slots=True)
class Made:
    """One product of the sample: as it is served, as it was drafted, what is wrong with it, and the right values."""

    product: SharedProduct
    draft: Draft
    defects: list[Defect]
    repairs: list[Repair]


def origin_of(count: int, seed: int) -> str:
    """Describe a sample in words, as a store keeps what it was filled with.

    >>> origin_of(12_000, 1)
    'the sample of 12,000 products with seed 1'
    """
    return f"the sample of {count:,} products with seed {seed}"


def seed_of(origin: str) -> int:
    """Return the seed of the sample that was described so; 1 for anything else.

    >>> seed_of("the sample of 12,000 products with seed 7"), seed_of("products given")
    (7, 1)
    """
    found = _SEED.fullmatch(origin)
    return int(found[1]) if found else 1


def shared_products(count: int = 12_000, seed: int = 1) -> Iterator[SharedProduct]:
    """Generate the sample catalogue.

    Parameters
    ----------
    count
        Number of products. A smaller catalogue is the beginning of a larger one, but for its last family.
    seed
        Seed of the random numbers; the same seed gives the same catalogue on any machine.

    Examples
    --------
    >>> next(shared_products()).record["gtin"]
    '08784900123459'
    """
    return (made.product for made in made_products(count, seed))


@lru_cache(maxsize=4)
def plan(count: int = 12_000, seed: int = 1) -> tuple[Defect, ...]:
    """Return the defects that `shared_products` plants in the same catalogue, in its order.

    Parameters
    ----------
    count
        Number of products.
    seed
        Seed of the random numbers.
    """
    return tuple(defect for made in made_products(count, seed) for defect in made.defects)


def write_plan(path: Path | str, count: int = 12_000, seed: int = 1) -> None:
    """Write the plan as a JSON list of objects, one a line.

    Parameters
    ----------
    path
        File to write.
    count
        Number of products.
    seed
        Seed of the random numbers.
    """
    lines = (json.dumps(asdict(defect), ensure_ascii=False) for defect in plan(count, seed))
    Path(path).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


@lru_cache(maxsize=4)
def family_places(count: int, seed: int) -> tuple[int, ...]:
    """Return the place in the catalogue of the first product of each family."""
    places: list[int] = []
    number = 0
    while number < count:
        index = len(places)
        places.append(number)
        family, is_twice = _drawn_family(Random(f"{seed}/{index}"), index, number, count - number)
        number += 2 if is_twice else len(family.units)
    return tuple(places)


def family_of(index: int, number: int, count: int, seed: int) -> list[Made]:
    """Make the products of one family.

    Parameters
    ----------
    index
        Place of the family among the families.
    number
        Place of its first product in the catalogue.
    count, seed
        Size and seed of the catalogue.
    """
    # Each family has random numbers of its own, so that a change in one leaves all others as they are.
    return list(_family(Random(f"{seed}/{index}"), index, number, count - number))


def made_products(count: int = 12_000, seed: int = 1) -> Iterator[Made]:
    """Make the sample catalogue, each product with what is planted in it.

    Parameters
    ----------
    count
        Number of products.
    seed
        Seed of the random numbers.
    """
    number = 0
    index = 0
    while number < count:
        made = family_of(index, number, count, seed)
        yield from made
        number += len(made)
        index += 1


def _drawn_family(rng: Random, index: int, number: int, room: int) -> tuple[Family, bool]:
    """Draw a family, and whether its only product occurs twice."""
    if index in {_HOSTILE, _LONG, _ZEROS}:
        return draw_family(rng, number, room, lone=True), False
    family = draw_family(rng, number, room)
    return family, len(family.units) == 1 and room > 1 and rng.random() < _TWINS


def _family(rng: Random, index: int, number: int, room: int) -> Iterator[Made]:
    """Make the products of one family, with what is planted in them."""
    family, is_twice = _drawn_family(rng, index, number, room)
    if index in {_HOSTILE, _LONG, _ZEROS}:
        yield _single_unit(rng, family, index)
        return
    if is_twice:
        yield from _twins(rng, family)
        return
    planted = planting.plant_in_family(rng, family)
    for unit in family.units:
        made = draft(rng, family, unit)
        defects, repairs = planting.plant_in_record(made)
        shown = family.units if len(family.units) == 1 else product.shown_units(family, unit)
        # Every record that shows the unit has the defect, not only the record of the unit.
        if planted is not None and planted.unit in shown:
            defects += planting.record_defects(made, planted.traces, planted.defect)
        if _parents(family, unit) > 1:
            defects += planting.record_defects(made, [Trace("logisticalHierarchies")], "several_parents")
        if not defects and rng.random() < _AWAITING * planting.frequency(family, "not_yet_accepted"):
            defects = planting.record_defects(made, status.await_acceptance(made), "not_yet_accepted")
        # Oddities are legal, and planned defects have to stay the only thing that is wrong.
        if not defects:
            add_oddities(made)
        yield _shared(made, defects, repairs)


def _shared(made: Draft, defects: list[Defect], repairs: list[Repair]) -> Made:
    views = (made.view, *other_views(made.rng, made.family, made.dates, made.view))
    return Made(SharedProduct(made.record, made.family.supplier.id, views), made, defects, repairs)


def _parents(family: Family, unit: Unit) -> int:
    return sum(
        packed.unit is unit and packed.gtin is None for parent in family.units for packed in parent.contains
    )


def _single_unit(rng: Random, family: Family, index: int) -> Made:
    """Make one of the products that exist only once."""
    if index == _ZEROS:
        # Its check digit is right, so that only a rule about the number itself can find it.
        family.units[0].gtin = "0" * 14
    made = draft(rng, family, family.units[0])
    if index == _ZEROS:
        defect, trace = "gtin_all_zeros", Trace("gtin")
    elif index == _HOSTILE:
        make_hostile(made)
        defect, trace = "hostile_strings", Trace("", "all texts, brand, contact, references")
    else:
        defect, trace = "text_too_long", labelling.lengthen(made)
    return _shared(made, planting.record_defects(made, [trace], defect), [])


def _twins(rng: Random, family: Family) -> Iterator[Made]:
    """Make a product that is no part of a hierarchy twice, with one GTIN and two owners."""
    # The same sector, since a twin of a yoghurt from a maker of batteries would be another defect.
    others = [each for each in SUPPLIERS_BY_SECTOR[family.kind.sector] if each is not family.supplier]
    supplier = rng.choice(others)
    unit = family.units[0]
    twin = replace(unit, number=unit.number + 1, uuid=families.random_uuid(rng))
    copied = replace(family, supplier=supplier, brand=rng.choice(supplier.brands), units=[twin], tops=[twin])
    for each, other in ((family, supplier.name), (copied, family.supplier.name)):
        made = draft(rng, each, each.units[0])
        defects = planting.record_defects(made, [Trace("gtin", f"also of {other}")], "duplicate_gtin")
        yield _shared(made, defects, [])


#: Texts that harm programs which show, export or search them without escaping; harmless when treated as text.
HOSTILE_STRINGS = (
    '<img src=x onerror="alert(1)">',
    "costs $5 or $6, $x^2$ and $$\\sum$$",
    '=HYPERLINK("https://evil.example","click here")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(1+1)*A1",
    "'; DROP TABLE products; --",
    "quote \" apostrophe ' backslash \\ percent %s brace {{7*7}}",
    "مرحبا بالعالم \u202etxt.exe",
    "🧨 👩‍🚀 🇫🇷 e\u0301",
    "<script>alert('x')</script>",
    "https://evil.example/?q=<b>&amp;",
)


def add_oddities(made: Draft) -> None:
    """Give some records one of the oddities; none of them is a defect."""
    record, rng = made.record, made.rng
    drawn = rng.random()
    # One draw for all, so that a record has one oddity at most.
    if drawn < 0.01:
        # An object, where others send a list of one.
        attribute = "contact" if record.get("contact") else "originCountry"
        record |= {attribute: listed[0]} if (listed := record.get(attribute)) else {}
    elif drawn < 0.025:
        _lead_with_null(record)
    elif drawn < 0.03:
        # Integers that a float cannot hold, and that 64 bits with a sign cannot.
        record["xLegacyReference"] = {"row": 2**53 + 1 + made.unit.number, "hash": 2**63 + made.unit.number}
    elif drawn < 0.04:
        record["xImporterNote"] = {
            "text": "شاي من حديقة الجبل",
            "checked": True,
            "score": rng.choice((250, 0.5, 1.0)),
        }
    elif drawn < 0.05:
        record["serves"] = rng.choice((4, "4-6", 2.5, None, [2, 4]))
    elif drawn < 0.055:
        record["xNested"] = _nested(12, made.unit.number)
    elif drawn < 0.08:
        record["isMarkedRecyclable"] = rng.choice((True, False, None))
        record["isNomadic"] = None


def _lead_with_null(record: dict[str, Any]) -> None:
    """Put a null before the items of the first of these lists that the record has."""
    for attribute in ("productBenefits", "synonyms", "warnings", "isLabeledBy"):
        if record.get(attribute):
            record[attribute] = [None, *record[attribute]]
            return


def _nested(depth: int, number: int) -> dict[str, Any]:
    tree: dict[str, Any] = {"end": number}
    for level in range(depth):
        tree = {"level": level, "next": [tree]}
    return tree


def make_hostile(made: Draft) -> None:
    """Fill every text that a supplier can type with hostile strings."""
    strings = cycle(HOSTILE_STRINGS)
    for item in _text_items(made.record):
        item["data"] = next(strings)
    for holder in (made.record["brand"], made.record["specializes"]["isBrandedBy"]):
        holder["label"] = HOSTILE_STRINGS[0]
    made.record["contact"] = [{"name": HOSTILE_STRINGS[0], "address": HOSTILE_STRINGS[2]}]
    made.record["specializes"]["isIdentifiedBy"] = [{"reference": text} for text in HOSTILE_STRINGS]
    made.record["xHostile"] = {"deep": [{"text": text} for text in HOSTILE_STRINGS], "<b>key</b>": "=1+1"}


def _text_items(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every localized text item below a value."""
    if isinstance(value, list):
        for item in value:
            yield from _text_items(item)
    elif isinstance(value, dict):
        if isinstance(value.get("data"), str):
            yield value
        for item in value.values():
            yield from _text_items(item)

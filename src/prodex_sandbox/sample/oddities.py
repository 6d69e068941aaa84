"""Unusual but legal values that real records hold: other types, huge integers, right-to-left text, hostile strings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

from prodex_sandbox.sample.product import Draft

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

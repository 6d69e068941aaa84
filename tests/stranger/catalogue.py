"""Made-up products in the shapes of the specification; the same number and seed give the same records."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from typing import Any

Record = dict[str, Any]

NEWEST = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
TWO_YEARS = 2 * 365 * 86400

LANGUAGES = {"en": "eng-GB", "fr": "fra-FR", "de": "deu-DE", "es": "spa-ES"}
EXPRESSED_IN = {short: {"normalizedCode": short, "code": code} for short, code in LANGUAGES.items()}

KIND_LABELS = {
    "101": {"en": "Cheese", "fr": "Fromage"},
    "102": {"en": "Biscuit", "fr": "Gâteau sec"},
    "103": {"en": "Mineral water", "fr": "Eau minérale"},
    "204": {"en": "Shampoo", "fr": "Shampooing"},
    "305": {"en": "Coffee", "fr": "Café"},
}
PACKAGING_LABELS = {
    "EACH": {"en": "Each", "fr": "Unité"},
    "PACK": {"en": "Pack", "fr": "Paquet"},
    "CASE": {"en": "Case", "fr": "Carton"},
    "PALLET": {"en": "Pallet", "fr": "Palette"},
}
NOUNS = {
    "en": ("Goat cheese", "Butter biscuit", "Still water", "Herb shampoo", "Ground coffee"),
    "fr": ("Fromage de chèvre", "Biscuit au beurre", "Eau plate", "Shampooing aux herbes", "Café moulu"),
    "de": ("Ziegenkäse", "Butterkeks", "Stilles Wasser", "Kräutershampoo", "Gemahlener Kaffee"),
    "es": ("Queso de cabra", "Galleta", "Agua sin gas", "Champú de hierbas", "Café molido"),
}
BRANDS = tuple((f"B{i:03}", f"Maison {name}") for i, name in enumerate(("Alba", "Brume", "Cèdre", "Dune")))
TAGS = ("spring", "export", "organic", "core")
STATUSES = ("ACCEPTED", "TO_BE_VALIDATED", "UPDATED", "REFUSED", "ASSIGNATION_PENDING")
UNKNOWN_ATTRIBUTES = ("allergens", "synonyms", "warnings", "substitutes", "netContent", "contact")


def products(n: int, seed: int = 0) -> list[Record]:
    """Invent n records in ascending order of id."""
    rng = random.Random(seed)
    moments = sorted(rng.sample(range(TWO_YEARS), n)) if n else []
    # Every hundredth product shares its moment with the one before: equal dates break careless windows.
    for i in range(99, n, 100):
        moments[i] = moments[i - 1]
    rng.shuffle(moments)
    return [_product(i, moments[i], rng) for i in range(n)]


def gtin_of(number: int) -> str:
    """A 14-digit GTIN with a valid check digit."""
    body = f"{number:013d}"
    total = sum(int(digit) * (3 if i % 2 == 0 else 1) for i, digit in enumerate(body))
    return f"{body}{-total % 10}"


def is_gtin(text: str) -> bool:
    """Whether a text is a 14-digit GTIN with a valid check digit."""
    return len(text) == 14 and text.isascii() and text.isdigit() and gtin_of(int(text[:13])) == text


def iso(seconds: float) -> str:
    """UNIX seconds as a date-time in UTC without a zone."""
    return dt.datetime.fromtimestamp(int(seconds), dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")


def seconds_of(text: str) -> float:
    """A date-time without a zone, read in UTC, as UNIX seconds."""
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()


def text_item(language: str, data: str) -> Record:
    """One localized text item."""
    return {"expressedIn": EXPRESSED_IN[language], "data": data}


def relabelled(record: Record, language: str) -> Record:
    """The record with the labels of its code values in another language."""
    changed = dict(record)
    for name, labels in (("kind", KIND_LABELS), ("typePackaging", PACKAGING_LABELS)):
        value = record.get(name)
        if isinstance(value, dict) and language in labels.get(str(value.get("code")), {}):
            changed[name] = {**value, "label": labels[str(value["code"])][language]}
    return changed


def _product(i: int, moment: int, rng: random.Random) -> Record:
    updated = NEWEST.timestamp() - TWO_YEARS + moment
    gtin = gtin_of(300_000_000_000 + i * 7)
    noun = i % 5
    kind = tuple(KIND_LABELS)[noun]
    languages = ("en", "fr", "de", "es")[: 1 + i % 4]
    unit = "EACH" if i % 6 else "CASE"
    brand_code, brand_name = BRANDS[i % len(BRANDS)]
    record: Record = {
        "id": 1000 + i,
        "uuid": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        "gtin": gtin,
        "_jsonVersion": 3,
        "createdAt": iso(updated - 86400 * 30),
        "updatedAt": iso(updated),
        "namePublicLong": [text_item(short, f"{NOUNS[short][noun]} {i}") for short in languages],
        "namePublicShort": [text_item("en", f"{NOUNS['en'][noun]} {i}")],
        "brand": {"code": brand_code, "description": brand_name, "label": brand_name},
        # Deployed services send some codes as integers.
        "kind": {
            "code": int(kind) if i % 9 == 0 else kind,
            "description": KIND_LABELS[kind]["en"],
            "label": KIND_LABELS[kind]["en"],
        },
        "typePackaging": {"code": unit, "description": unit, "label": PACKAGING_LABELS[unit]["en"]},
        "isConsumerUnit": unit == "EACH",
        "isDespatchUnit": None if i % 11 == 0 else unit == "CASE",
        "lifeCycle": 1 + i % 3,
        "manufacturerSharingStatus": 2 + i % 3,
        "targetProductStatus": STATUSES[i % len(STATUSES)],
        "validation": {"status": i % 4},
        "product_key": {"product_id": 1000 + i, "target_market_id": (250, 276, 724)[i % 3]},
        "owner": {"id": 7 + i % 3, "type": 1, "name": f"Supplier {7 + i % 3}"},
        "isTaggedBy": [TAGS[i % len(TAGS)]] if i % 2 else [],
        "hasTags": [{"tag": TAGS[i % len(TAGS)], "createdAt": iso(updated)}] if i % 2 else [],
        "assets": _assets(i, gtin, updated),
    }
    if i % 3 == 0:
        record["description"] = [text_item(short, f"{NOUNS[short][noun]}, {i} g") for short in languages]
    # Attributes without data are absent, null or empty: all three occur side by side.
    record[UNKNOWN_ATTRIBUTES[i % len(UNKNOWN_ATTRIBUTES)]] = None if i % 2 else []
    if unit == "CASE":
        child = {"gtin": gtin_of(300_000_000_000 + (i + 1) * 7), "quantity": 6, "children": []}
        record["logisticalHierarchies"] = [
            {"activeListing": i % 12 == 0, "product_key_id": 1000 + i, "children": [child]}
        ]
    return record


def _assets(i: int, gtin: str, updated: float) -> Record | None:
    if i % 5 == 4:
        return None
    picture = {
        "url": f"https://media.invalid/{gtin}_1.jpg",
        "isPackshot": i % 3 == 0,
        "productFace": "1",
        "width": 1200,
        "height": 900,
        "tags": [],
    }
    return {
        "pictures": [] if i % 7 == 6 else [picture],
        "documents": [],
        "videos": [],
        "enriched_contents": [],
        "lastUpdatedAt": {"pictures": iso(updated - 3600)},
    }

"""Seeded products to measure with: about 10 kB each, as varied and as incomplete as a real catalogue's."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

Product = dict[str, Any]

PAGE = 500

#: Wire paths of the lists that every contestant makes a child table of, by the table they belong to in prodex.
SHARED = {
    "texts": (
        "namePublicLong",
        "namePublicShort",
        "nameLegal",
        "description",
        "composition",
        "allergens",
        "conservation",
        "productBenefits.text",
    ),
    "quantities": ("netContent", "drainedWeight"),
    "codes": ("containsAllergens",),
    "nutrients": ("isPartitionedBy.contains",),
    "scalars": ("seasonalMonths",),
    "pictures": ("assets.pictures",),
    "exportables": ("assets.pictures.exportables",),
    "documents": ("assets.documents",),
    "hierarchies": (
        "logisticalHierarchies",
        "logisticalHierarchies.children",
        "logisticalHierarchies.children.children",
    ),
    "labels": ("isLabeledBy",),
    "tags": ("hasTags",),
}

_WORDS = {
    "fra-FR": "biscuit beurre de la ferme au lait entier sans colorant farine blé sucre œufs frais conserver à l'abri "
    "chaleur naturel français depuis 1897 noisette pâte levée crème vanille sélection cuite four",
    "deu-DE": "Butter Gebäck mit Vollmilch ohne Farbstoffe Weizenmehl Zucker frische Eier kühl und trocken lagern "
    "natürlich Haselnuss Vanille ausgewählt gebacken Ofen Tradition süß groß köstlich für",
    "eng-GB": "butter biscuit with whole milk no colours wheat flour sugar fresh eggs store in a cool dry place "
    "natural hazelnut vanilla selected oven baked since 1897 crisp tender great for sharing",
}
_VOCABULARY = {code: words.split() for code, words in _WORDS.items()}
_LANGUAGES = [
    {"code": code, "normalizedCode": short, "description": name, "label": name}
    for code, short, name in (
        ("fra-FR", "fr", "French"),
        ("deu-DE", "de", "German"),
        ("eng-GB", "en", "English"),
    )
]
_NUTRIENTS = {"ENER-": "Energy", "FAT": "Fat", "FASAT": "Saturated fat", "CHOAVL": "Carbohydrate"}
_NUTRIENTS |= {"SUGAR-": "Sugars", "PRO-": "Protein", "SALTEQ": "Salt", "FIBTG": "Fibre"}
_ALLERGENS = {"AM": "Milk", "AW": "Wheat", "AE": "Eggs", "AN": "Nuts", "AY": "Soy"}
_UNKNOWN = (
    "shelfReady",
    "planogram",
    "loyaltyPoints",
    "minimumOrder",
    "seasonName",
    "ecoTax",
    "plug",
    "textile",
)


def products(count: int, seed: int = 1) -> Iterator[Product]:
    """Yield so many products, always the same for a seed."""
    rng = random.Random(seed)
    for number in range(count):
        yield _product(rng, 1_000_000 + number)


def pages(records: Iterator[Product]) -> Iterator[bytes]:
    """Yield replies of the service, `PAGE` products each."""
    page: list[Product] = []
    for record in records:
        page.append(record)
        if len(page) == PAGE:
            yield reply(page)
            page = []
    if page:
        yield reply(page)


def reply(page: list[Product]) -> bytes:
    return msgspec.json.encode({"totalResults": len(page), "data": page, "offset": 0})


def write_pages(folder: Path, count: int, seed: int = 1) -> int:
    """Write the pages as files; return their bytes."""
    folder.mkdir(parents=True)
    return sum(
        (folder / f"page-{number:05d}.json").write_bytes(page)
        for number, page in enumerate(pages(products(count, seed)))
    )


def odd(product: Product, number: int) -> Product:
    """Return a product that nothing can be learnt from: keys of its own, types that contradict all others."""
    return product | {
        f"only{number}": {f"here{number}": [number, {"deep": f"value {number}"}]},
        f"flag{number}": True,
        "brand": [product["brand"]["code"]],
        "nameLegal": {f"as{number}": product["nameLegal"]},
        "lifeCycle": str(product["lifeCycle"]),
    }


def count_leaves(value: Any) -> int:
    """Count what is neither list, object nor null: the naive walk."""
    count = 0
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif value is not None:
            count += 1
    return count


def sizes(count: int) -> tuple[float, float]:
    """Return bytes and leaves of a product, on average of so many."""
    some = list(products(count))
    return sum(len(msgspec.json.encode(p)) for p in some) / count, sum(map(count_leaves, some)) / count


def real_products() -> Path:
    """Return where the real products are, if they are: `PRODEX_REAL_PRODUCTS`, or beside the repository."""
    beside = Path(__file__).parents[3] / "shared" / "data" / "real-products.jsonl.gz"
    return Path(os.environ.get("PRODEX_REAL_PRODUCTS", beside))


def _product(rng: random.Random, number: int) -> Product:
    gtin = f"{3_000_000_000_000 + number * 10:014d}"
    dates = [_date(rng), _date(rng)]
    product: Product = {
        "id": number,
        "uuid": f"{rng.getrandbits(32):08x}-1c3d-5922-864f-{rng.getrandbits(48):012x}",
        "gtin": gtin,
        "_jsonVersion": 3,
        "createdAt": min(dates),
        "updatedAt": max(dates),
        "isConsumerUnit": True,
        "isDisplayUnit": rng.random() < 0.1,
        "lifeCycle": rng.randint(1, 4),
        "manufacturerSharingStatus": rng.choice((2, 3, 4)),
        "owner": {
            "uuid": f"c99{rng.randint(0, 99):05d}",
            "name": f"Supplier {rng.randint(1, 60)}",
            "type": 1,
        },
        "brand": _code(f"BRAND_{rng.randint(1, 300)}", f"Brand {rng.randint(1, 300)}", description=None),
        "kind": _code(str(rng.randint(1000, 1400)), "Sweet biscuits", description="Biscuits"),
        "typePackaging": _code("EACH", "Each"),
        "namePublicLong": _texts(rng, 6),
        "namePublicShort": _texts(rng, 3),
        "nameLegal": _texts(rng, 5),
        "description": _texts(rng, 18),
        "composition": _texts(rng, 16),
        "allergens": _texts(rng, 4),
        "productBenefits": [{"text": _texts(rng, 4)} for _ in range(rng.randint(1, 2))],
        "netContent": [
            {"data": rng.choice((100, 250, 250.5, 500)), "expressedIn": {"code": "GRM", "label": "g"}}
        ],
        "containsAllergens": [
            _code(c, _ALLERGENS[c]) for c in rng.sample(list(_ALLERGENS), rng.randint(0, 3))
        ],
        "isPartitionedBy": [_partition(rng)],
        "isLabeledBy": [_label(rng) for _ in range(rng.randint(0, 2))],
        "hasTags": [
            {"tag": f"tag-{rng.randint(1, 20)}", "createdAt": _date(rng)} for _ in range(rng.randint(0, 2))
        ],
        "assets": {
            "pictures": [_picture(rng, gtin, face) for face in (1, 2, 3, 7, 8)],
            "documents": [_document(rng, gtin)] if rng.random() < 0.3 else [],
            "videos": [],
            "lastUpdatedAt": {"pictures": _date(rng)},
        },
        "logisticalHierarchies": [_hierarchy(rng, gtin)] if rng.random() < 0.5 else [],
    }
    for name, value in (
        ("conservation", _texts(rng, 8)),
        ("drainedWeight", [{"data": rng.randint(50, 400), "expressedIn": {"code": "GRM", "label": "g"}}]),
        ("seasonalMonths", rng.sample(range(1, 13), rng.randint(1, 4))),
        ("GPC", _code(f"1000{rng.randint(1000, 9999)}", "Biscuits (Shelf Stable)")),
        ("supplierId", f"S-{rng.randint(1, 60):05d}"),
        *((name, _unknown(rng, name)) for name in _UNKNOWN),
    ):
        faces: list[Any] = [value, value, value, None, [] if isinstance(value, list) else None]
        face = rng.randrange(7)
        if face < len(faces):
            product[name] = faces[face]
    return product


def _code(code: str, label: str, **more: Any) -> Product:
    return {"code": code, "label": label, **more}


def _texts(rng: random.Random, words: int) -> list[Product]:
    return [
        {"expressedIn": language, "data": " ".join(rng.choices(_VOCABULARY[language["code"]], k=words))}
        for language in _LANGUAGES
    ]


def _partition(rng: random.Random) -> Product:
    contains = [
        {
            "isConceptualizedBy": _code(code, label),
            "quantity": round(rng.random() * 60, 1),
            "expressedIn": {"code": "KJO" if code == "ENER-" else "GRM"},
        }
        for code, label in _NUTRIENTS.items()
    ]
    return {"name": "100 g", "quantity": 100, "isMeasuredBy": _code("GRM", "g"), "contains": contains}


def _label(rng: random.Random) -> Product:
    name = rng.choice(("organic", "fair-trade", "green-dot", "label-rouge"))
    return {"startDate": None, "value": None, "isConceptualizedBy": _code(name, name.replace("-", " "))}


def _picture(rng: random.Random, gtin: str, face: int) -> Product:
    place = f"https://media.example.com/{gtin}/{face}"
    width, height, changed = rng.randint(400, 3000), rng.randint(400, 3000), _date(rng)
    return {
        "url": f"{place}.jpg",
        "isPackshot": face == 1,
        "productFace": face,
        "width": width,
        "height": height,
        "definition": f"{width} x {height}",
        "format": "jpeg",
        "tags": [],
        "updatedAt": changed,
        "exportables": [
            {
                "uniformResourceIdentifier": f"{place}-{side}.jpg",
                "name": f"{side}",
                "width": side,
                "height": side,
            }
            for side in (1024, 512, 256, 128, 64)
        ],
    }


def _document(rng: random.Random, gtin: str) -> Product:
    return {
        "uniformResourceIdentifier": f"https://media.example.com/{gtin}/safety.pdf",
        "fileName": "safety.pdf",
        "documentTypeCode": _code("SDS", "Safety data sheet"),
        "fileEffectiveStartDateTime": rng.randint(1_500_000_000, 1_800_000_000),
        "updatedAt": _date(rng),
    }


def _hierarchy(rng: random.Random, gtin: str) -> Product:
    each = {"gtin": gtin, "quantity": rng.choice((6, 12, 20)), "typePackaging": _code("EACH", "Each")}
    case = {
        "gtin": f"1{gtin[1:]}",
        "quantity": 10,
        "typePackaging": _code("CASE", "Case"),
        "children": [each],
    }
    return {"gtin": f"2{gtin[1:]}", "typePackaging": _code("PALLET", "Pallet"), "children": [case]}


def _unknown(rng: random.Random, name: str) -> Any:
    match len(name) % 4:
        case 0:
            return {"value": rng.randint(1, 99), "since": _date(rng)[:10]}
        case 1:
            return f"{name} {rng.randint(1, 999)}"
        case 2:
            return rng.randint(1, 10_000) / 4
    return {"level": {"code": f"L{rng.randint(1, 9)}", "label": "Level"}, "checked": rng.random() < 0.5}


def _date(rng: random.Random) -> str:
    return (datetime(2020, 1, 1) + timedelta(seconds=rng.randrange(200_000_000))).isoformat()  # noqa: DTZ001 - no zone

"""Products of laws that begin on a day: honey, toys, coffee, food with claims and statements, with planted breaches.

They are no part of the sample, whose products and counts stay as they are. Each breach has a lawful neighbour, the
product before it. Fields that the specification does not list (shares of origin, manufacturers, customs codes) are
where some catalogues have them; `LAW_FIELDS` says where.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from prodex_sandbox.records.model import SharedProduct, View
from prodex_sandbox.sample.defects.planting import Defect

Record = dict[str, Any]

#: Where these products have what laws ask for: name of the field to wire path.
LAW_FIELDS: Mapping[str, str] = {
    "manufacturer": "contactInformationList",
    "responsible_person": "partyInformationList",
    "warnings": "warnings",
    "origin_country": "originDeclarations.country",
    "origin_share": "originDeclarations.share",
    "packaging_components": "packagingInformationList",
    "customs_code": "importEuropeanClassification",
    "due_diligence": "dueDiligenceReference",
    "unit_price": "priceLegalCommonUnitObligation",
}

_FIRST_ID = 990_001
_OWNER, _VIEWER, _MARKET = 139, 1, 56
_LANGUAGES = {"fr": ("fra-FR", "French"), "nl": ("nld-NL", "Dutch")}


def law_products() -> Iterator[SharedProduct]:
    """Generate the products, for a retailer of the Belgian market.

    Examples
    --------
    >>> [shared.record["kind"]["label"] for shared in law_products()][:4]
    ['Flower honey', 'Flower honey', 'Flower honey', 'Building blocks']
    """
    view = View(_VIEWER, target_market=_MARKET)
    return (SharedProduct(record, _OWNER, (view,)) for record, _ in _made())


def law_breaches() -> tuple[Defect, ...]:
    """Return the breaches that `law_products` plants: the rule that finds it, the product, and what was done.

    Examples
    --------
    >>> law_breaches()[0].defect
    'honey_states_shares_of_origin'
    """
    return tuple(
        Defect(rule, str(record["id"]), record["gtin"], attribute, "", detail)
        for record, breach in _made()
        if breach is not None
        for rule, attribute, detail in [breach]
    )


def write_law_products(folder: Path) -> None:
    """Write products and breaches as `law-products.json` and `law-plan.json`, as the sample is written."""
    records = [shared.record for shared in law_products()]
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in records)
    reply = f'{{"totalResults": {len(records)}, "data": [\n{lines}\n], "offset": 0}}\n'
    (folder / "law-products.json").write_text(reply, encoding="utf-8")
    plan = ",\n".join(json.dumps(asdict(one), ensure_ascii=False) for one in law_breaches())
    (folder / "law-plan.json").write_text(f"[\n{plan}\n]\n", encoding="utf-8")


def _made() -> list[tuple[Record, tuple[str, str, str] | None]]:
    made = []
    for number, (lawful, breach, damage) in enumerate(_entries()):
        record = copy.deepcopy(lawful)
        if damage is not None:
            damage(record)
        record = {"id": _FIRST_ID + number, "gtin": _gtin(number), **record}
        made.append((record, breach))
    return made


_Entry = tuple[Record, tuple[str, str, str] | None, Callable[[Record], None] | None]


def _entries() -> Iterator[_Entry]:
    """Yield each product as it would be lawful, the rule that finds its breach with what was done, and what does it."""
    honey = _food(
        "HONEY",
        "Flower honey",
        "50170000",
        "Miel de fleurs",
        "Bloemenhoning",
        originDeclarations=_shares(60, 40),
    )
    shares = "honey_states_shares_of_origin", "originDeclarations.share"
    yield honey, None, None
    yield (
        honey,
        (*shares, "the second country has no share"),
        lambda one: one["originDeclarations"][1].pop("share"),
    )
    yield honey, (*shares, "not in descending order"), lambda one: one["originDeclarations"].reverse()

    toy = _toy()
    yield toy, None, None
    yield (
        toy,
        ("non_food_names_manufacturer", "contactInformationList", "removed"),
        lambda one: one.pop("contactInformationList"),
    )
    yield (
        toy | {"contactInformationList": [{"name": "Blocks Ltd", "country": _code("156", "China")}]},
        (
            "non_food_names_responsible_person",
            "partyInformationList",
            "removed, and the manufacturer is outside",
        ),
        lambda one: one.pop("partyInformationList"),
    )
    yield (
        toy,
        ("non_food_warns_in_languages_of_market", "warnings", "the Dutch text removed"),
        lambda one: one["warnings"][0]["text"].pop(),
    )
    yield (
        toy,
        ("packaging_materials_are_given", "packagingInformationList", "removed"),
        lambda one: one.pop("packagingInformationList"),
    )

    coffee = _food("COFFEE", "Ground coffee", "50200000", "Café moulu", "Gemalen koffie") | {
        "importEuropeanClassification": "0901 21 00",
        "dueDiligenceReference": "26BE0000001",
    }
    yield coffee, None, None
    yield (
        coffee,
        ("forest_goods_have_customs_code", "importEuropeanClassification", "removed"),
        lambda one: one.pop("importEuropeanClassification"),
    )
    yield (
        coffee,
        ("price_unit_is_given", "priceLegalCommonUnitObligation", "removed"),
        lambda one: one.pop("priceLegalCommonUnitObligation"),
    )

    drink = _food(
        *("SOFT_DRINK", "Soft drink", "50200000", "Boisson avec sucre et édulcorant"),
        "Frisdrank met suiker en zoetstof",
        composition=_texts("Eau, sucre, édulcorant : sucralose", "Water, suiker, zoetstof: sucralose"),
    )
    yield drink, None, None
    yield (
        drink,
        ("sweeteners_are_stated", "composition", "no name says so"),
        lambda one: one.update(
            dict.fromkeys(("nameLegal", "namePublicLong"), _texts("Boisson", "Frisdrank"))
        ),
    )

    tinned = _food(
        *("FRUIT", "Tinned fruit", "50100000", "Ananas au sirop léger", "Ananas op lichte siroop"),
        drainedWeight=_quantity(140, "GRM"),
    )
    yield tinned, None, None
    yield tinned, ("has_drained_weight", "drainedWeight", "removed"), lambda one: one.pop("drainedWeight")

    yogurt = _food(
        *("YOGURT", "Yogurt", "50130000", "Yaourt pauvre en sucres", "Suikerarme yoghurt"),
        sugars=4,
        composition=_texts("Lait, ferments", "Melk, zuursel"),
        allergens=_texts("Lait", "Melk"),
    )
    yield yogurt, None, None
    yield (
        yogurt,
        ("sugars_claims_hold", "namePublicLong", "12 g of sugars declared"),
        lambda one: one.update(isPartitionedBy=_nutrition(12)),
    )


def _food(kind: str, label: str, gpc: str, fr: str, nl: str, sugars: float = 20, **more: Any) -> Record:
    """Return food with names, ingredients, nutrition, storage and a unit of the price."""
    return {
        **_unit(kind, label, gpc, fr, nl),
        "composition": _texts(fr, nl),
        "isPartitionedBy": _nutrition(sugars),
        "conservationAdvices": _texts("À conserver au sec", "Droog bewaren"),
        "contact": [
            {"name": "Huis Veld BV", "address": "1 Veldstraat", "country": _code("528", "Netherlands")}
        ],
        "compulsoryStatements": _texts("Bien agiter", "Goed schudden"),
        "netContent": _quantity(250, "GRM"),
        "priceLegalCommonUnitObligation": _code("KGM", "Kilogram"),
        **more,
    }


def _toy() -> Record:
    texts = _texts("Ne convient pas aux enfants de moins de 3 ans.", "Niet voor kinderen jonger dan 3 jaar.")
    return {
        **_unit("BUILDING_BLOCKS", "Building blocks", "86000001", "Jeu de blocs", "Bouwblokken"),
        "contactInformationList": [{"name": "Speelhuis BV", "country": _code("528", "Netherlands")}],
        "partyInformationList": [{"name": "Speelhuis BV", "country": _code("528", "Netherlands")}],
        "warnings": [{"text": texts}],
        "netContent": _quantity(40, "H87"),
    }


def _unit(kind: str, label: str, gpc: str, fr: str, nl: str) -> Record:
    return {
        "isConsumerUnit": True,
        "createdAt": "2026-01-07T08:00:00",
        "updatedAt": "2026-10-01T08:00:00",
        "product_key": {"target_market_id": _MARKET},
        "brand": _code("4087", "Veldhuis"),
        "kind": _code(kind, label),
        "GPC": _code(gpc, label),
        "nameLegal": _texts(fr, nl),
        "namePublicLong": _texts(f"Veldhuis {fr}", f"Veldhuis {nl}"),
        "packagingInformationList": [{"material": _code("PAPER_PAPERBOARD", "Paperboard")}],
        "assets": {"pictures": [{"url": "https://media.prodex.example/law/front.jpg", "isPackshot": True}]},
    }


def _texts(fr: str, nl: str) -> list[Record]:
    return [
        {
            "expressedIn": {
                "normalizedCode": short,
                "code": _LANGUAGES[short][0],
                "label": _LANGUAGES[short][1],
            },
            "data": said,
        }
        for short, said in (("fr", fr), ("nl", nl))
    ]


def _code(code: str, label: str) -> Record:
    return {"code": code, "label": label}


def _quantity(amount: float, unit: str) -> list[Record]:
    return [{"data": amount, "expressedIn": {"code": unit}}]


def _shares(*shares: float) -> list[Record]:
    countries = (("724", "Spain"), ("642", "Romania"))
    return [
        {"country": _code(*country), "share": share} for country, share in zip(countries, shares, strict=True)
    ]


def _nutrition(sugars: float) -> list[Record]:
    """Return a nutrition declaration per 100 g whose energy fits its nutrients."""
    carbohydrate, fat, protein = sugars + 1, 2.0, 4.0
    kilocalories = 4 * carbohydrate + 9 * fat + 4 * protein
    nutrients = {
        "FAT": (fat, "GRM"), "FASAT": (1.0, "GRM"), "CHOAVL": (carbohydrate, "GRM"), "SUGAR-": (sugars, "GRM"),
        "PRO-": (protein, "GRM"), "SALTEQ": (0.1, "GRM"),
    }  # fmt: skip
    energy = [("ENER-", round(4.184 * kilocalories), "KJO"), ("ENER-", round(kilocalories), "E14")]
    rows = [*energy, *((code, amount, unit) for code, (amount, unit) in nutrients.items())]
    contains = [
        {"isConceptualizedBy": {"code": code}, "quantity": amount, "expressedIn": {"code": unit}}
        for code, amount, unit in rows
    ]
    return [{"name": "100 g", "quantity": 100, "isMeasuredBy": {"code": "GRM"}, "contains": contains}]


def _gtin(number: int) -> str:
    """Return a GTIN with its check digit."""
    digits = f"0541234567{number:03}"
    total = sum(int(digit) * (3 if place % 2 == 0 else 1) for place, digit in enumerate(digits))
    return f"{digits}{-total % 10}"

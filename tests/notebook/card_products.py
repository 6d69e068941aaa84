"""A product of which a card has something to say in every part, and one of which it has hardly anything to say."""

from __future__ import annotations

from typing import Any


def text(language: str, data: object) -> dict[str, Any]:
    """Return a localized text item as the wire has it."""
    return {"expressedIn": {"code": language}, "data": data}


def quantity(value: float, unit: str) -> dict[str, Any]:
    return {"data": value, "expressedIn": {"code": unit, "label": unit.lower()}}


def _node(gtin: str, packaging: str, count: float | None, *children: dict[str, Any]) -> dict[str, Any]:
    return {
        "gtin": gtin,
        "quantity": count,
        "typePackaging": {"code": packaging, "label": packaging.title()},
        "isOrderableUnit": packaging == "CASE",
        "grossWeight": [quantity(4.25, "KGM")],
        "children": list(children),
    }


#: GTINs of the worked example: a pallet of 10 cases of 20 packs of 20.
PALLET, CASE, PACK, EACH = "23663836037988", "13663836037981", "03663836037984", "03091033779527"


def rich() -> dict[str, Any]:
    """Return the product with everything."""
    each = _node(EACH, "EACH", 20)
    return {
        "id": 7,
        "uuid": "481cd8ea-a1f9-421d-af6d-65f77fda3434",
        "gtin": EACH,
        "createdAt": "2025-05-01T22:16:54",
        "updatedAt": "2025-10-29T17:00:00",
        "brand": {"code": 4017, "label": "Lait Dupont", "description": "Since 1897"},
        "kind": {"code": "MILK", "label": "Milk"},
        "typePackaging": {"code": "EACH", "label": "Each"},
        "owner": {"uuid": "a8967f67", "name": "Laiterie Dupont", "type": 1},
        "product_key": {"target_market_id": 56},
        "isConsumerUnit": True,
        "isOrderableUnit": False,
        "isInvoiceUnit": None,
        "manufacturerSharingStatus": 3,
        "targetProductStatus": "TO_BE_VALIDATED",
        "validation": {"status": 3, "nbSuggestions": 2, "regulatory_status": "WAITING"},
        "namePublicLong": [text("nld-NL", "Halfvolle melk"), text("ara-SA", "حليب نصف دسم")],
        "namePublicShort": [text("nld-NL", "Melk"), text("fra-FR", "")],
        "nameLegal": [text("nld-NL", "Gepasteuriseerde melk"), text("fra-FR", None)],
        "description": [text("nld-NL", "Vers van de boer. " * 60), text("fra-FR", "costs $5 or $6")],
        "composition": None,
        "allergens": [],
        "synonyms": [{"text": [text("nld-NL", "melk"), text("nld-NL", "zuivel")]}],
        "netContent": [quantity(1.5, "LTR"), quantity(1500, "MLT")],
        "originCountry": [{"code": "056", "label": "Belgium"}],
        "isLabeledBy": [
            {
                "isConceptualizedBy": {
                    "code": "ORGANIC",
                    "label": "Organic",
                    "pictureUrl": "https://evil.example/organic.png",
                },
                "startDate": "2025-01-01",
                "value": "BE-BIO-01",
            }
        ],
        "hasTags": [{"tag": "exportable", "createdAt": "2025-08-14T21:00:00"}, {"tag": "summer"}],
        "isTaggedBy": ["exportable"],
        "isIdentifiedBy": [{"reference": "ART-0042"}],
        "isPartitionedBy": [
            {
                "name": name,
                "quantity": basis,
                "isMeasuredBy": {"code": "MLT"},
                "contains": [
                    {
                        "isConceptualizedBy": {"code": "FAT", "label": "Fat"},
                        "quantity": fat,
                        "expressedIn": {"code": "GRM", "label": "g"},
                        "percentageOfDailyValueIntake": daily,
                    }
                ],
            }
            for name, basis, fat, daily in (("100 ml", 100, 1.6, None), ("a glass", 250, 4, 6))
        ],
        "assets": {
            "pictures": [
                {
                    "url": "https://evil.example/front.jpg",
                    "isPackshot": True,
                    "productFace": 1,
                    "width": 3000,
                    "height": 2400,
                    "definition": "1200 x 900",
                    "format": "jpeg",
                    "gdsnFileName": "03663215000110_C7N1.jpg",
                    "fileEffectiveStartDateTime": "2025-01-01T00:00:00",
                    "exportables": [
                        {
                            "uniformResourceIdentifier": "https://evil.example/front_512.jpg",
                            "width": 512,
                            "height": 512,
                            "fileSize": 42921,
                        }
                    ],
                },
                {"url": "https://evil.example/other.tif", "gdsnFileName": "scan.tif"},
            ],
            "documents": [
                {
                    "fileName": "organic.pdf",
                    "uniformResourceIdentifier": "https://evil.example/organic.pdf",
                    "documentTypeCode": {"code": "CERTIFICATE", "label": "Certificate"},
                    "fileEffectiveEndDateTime": 1_793_000_000,
                }
            ],
            "videos": [],
        },
        "logisticalHierarchies": [
            {
                **_node(PALLET, "PALLET", 1, _node(CASE, "CASE", 10, _node(PACK, "PACK", 20, each))),
                "activeListing": True,
                "product_key_id": 12,
            },
            # A case of nobody knows how many, which holds itself, and in which the product stands as well.
            _node("03663215000110", "CASE", None, _node("03663215000110", "CASE", None, each)),
        ],
        "sharingUnits": [_node(CASE, "CASE", 1, each)],
        "keepRefrigeratedBefore": False,
        "contact": [{"name": "Consumer service", "email": "hello@dupont.example"}],
        "lastRequest": {
            "updatedAt": "2026-08-20T07:00:00",
            "brand": {"code": 4017, "label": "Lait Dupont & fils", "description": "Since 1897"},
            "isOrderableUnit": True,
            "namePublicLong": [text("nld-NL", "Halfvolle melk"), text("fra-FR", "Lait demi-écrémé")],
            "netContent": [quantity(1, "LTR")],
            "originCountry": None,
        },
    }

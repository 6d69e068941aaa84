"""A small exchange whose every leaf is known: a few products with everything that an answer can be about."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import prodex

#: Reads rows of answers from a file.
Answer = Callable[..., prodex.worklists.Fix]


def text(code: str, data: str) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"code": code}, "data": data}


def record(number: int, gtin: str, **attributes: Any) -> dict[str, Any]:
    """Return a product."""
    return {
        "id": number,
        "gtin": gtin,
        "updatedAt": "2026-11-01T06:00:00",
        "owner": {"id": 4, "name": "Mill"},
        "kind": {"code": "BREAD", "label": "Bread"},
        "nameLegal": [text("fra-FR", "Pain")],
        **attributes,
    }


#: Products with everything that an answer can be about.
RECORDS = (
    record(
        1,
        "03036811359935",
        namePublicLong=[text("fra-FR", "PAIN DE CAMPAGNE AUX GRAINES"), text("nld-NL", "Boerenbrood")],
        description=[text("fra-FR", "Un pain"), text("fra-FR", "Un autre pain")],
        isConsumerUnit=True,
        netContent=[{"data": 500, "expressedIn": {"code": "GRM", "label": "Gram"}}],
        percentageOfAlcoholByVolume=4.5,
        brand={"code": "ACME", "label": "Acme"},
        isPartitionedBy=[
            {
                "quantity": 100,
                "isMeasuredBy": {"code": "GRM", "label": "Gram"},
                "contains": [
                    {
                        "isConceptualizedBy": {"code": "FAT", "label": "Fat"},
                        "quantity": 3.2,
                        "expressedIn": {"code": "GRM", "label": "Gram"},
                    },
                    {
                        "isConceptualizedBy": {"code": "ENER-", "label": "Energy"},
                        "quantity": 844,
                        "expressedIn": {"code": "KJO", "label": "Kilojoule"},
                    },
                ],
            }
        ],
        assets={
            "pictures": [
                {"url": "https://cdn.example/a.jpg", "gdsnFileName": "a.jpg", "width": 480, "height": 360},
                {"url": "https://cdn.example/b.jpg", "gdsnFileName": "b.jpg", "width": 2000, "height": 2000},
            ],
            "documents": [{"url": "https://cdn.example/d.pdf"}],
        },
        logisticalHierarchies=[
            {
                "gtin": "13036811359932",
                "quantity": 1,
                "version": {"isOrderableUnit": False},
                "children": [{"gtin": "03036811359935", "quantity": 6, "children": []}],
            }
        ],
    ),
    record(
        2,
        "08784900123459",
        brand={"code": "BEST", "label": "Best & Co"},
        lastRequest={"namePublicLong": [text("fra-FR", "En attente")]},
    ),
    record(3, "05410228142027", brand={"code": "ACME", "label": "Acme"}),
)


def stored(client: prodex.service.Client, gtin: str) -> dict[str, Any]:
    """Return what the service has of a product."""
    query = prodex.ProductQuery(gtins_in=[gtin], extra={"allow_not_consumer_units": True})
    (data,) = client.search_products(query, limit=1).envelope.data
    found: dict[str, Any] = json.loads(bytes(data))
    return found

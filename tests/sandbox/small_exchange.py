"""A small exchange that every test of the sandbox can see through, and a bare caller for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import requests
from contract_check import check_reply

from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct, SharingStatus, View

SHOP = Organization(1, "Shop", OrganizationType.RETAILER, "shop", "shop-secret", "shop")
MARKET = Organization(2, "Market", OrganizationType.RETAILER, "market", "market-secret", "market")
MILL = Organization(10, "Mill", OrganizationType.MANUFACTURER, "mill", "mill-secret", "mill")
DAIRY = Organization(11, "Dairy", OrganizationType.MANUFACTURER, "dairy", "dairy-secret", "dairy")

FRENCH = {"normalizedCode": "fr", "code": "fra-FR", "description": "French", "label": "French"}
ENGLISH = {"normalizedCode": "en", "code": "eng-GB", "description": "English", "label": "English"}

#: The labels of this exchange in other languages.
LABELS = {
    ("APPLE", "Apples"): {"fr": "Pommes", "de": "Äpfel"},
    ("530", "Butter"): {"fr": "Beurre", "de": "Butter (Streichfett)"},
    ("G", "g"): {"fr": "gramme"},
}

BREAD, BUTTER, CIDER, PALLET = "03036811359935", "03663215000110", "03178041265140", "23663836037988"


def text(data: str, language: dict[str, str] = FRENCH) -> dict[str, Any]:
    """Return a localized item."""
    return {"expressedIn": language, "data": data}


#: What the shop sees: four products, in this order.
RECORDS: dict[str, dict[str, Any]] = {
    BREAD: {
        "id": 1,
        "uuid": "11111111-0000-4000-8000-000000000001",
        "gtin": BREAD,
        "updatedAt": "2026-01-01T00:00:00",
        "isConsumerUnit": True,
        "manufacturerSharingStatus": 4,
        "targetProductStatus": "ACCEPTED",
        "validation": {"status": 2, "nbSuggestions": 0},
        "hasTags": [{"tag": "exportable", "createdAt": "2026-01-02T00:00:00"}],
        "isTaggedBy": ["exportable"],
        "namePublicLong": [text("Pain de campagne"), text("Country bread", ENGLISH)],
        "composition": [text("Farine de BLÉ, eau, sel")],
        "allergens": [],
        "description": None,
        "brand": {"code": "APPLE", "label": "Apples", "description": None},
        "kind": {"code": 531, "label": "Bread"},
        "netContent": [{"data": 500, "expressedIn": {"code": "G", "label": "g"}}],
        "synonyms": [{"text": [text("Miche"), text("Loaf", ENGLISH)]}, None],
        "lifeCycle": 1,
        "assets": {
            "pictures": [
                {"url": "https://pictures.test/1.jpg", "isPackshot": True, "width": 1024},
                {"url": "https://pictures.test/2.jpg", "isPackshot": False},
            ],
            "documents": [{"fileName": "a.pdf"}],
            "videos": [],
            "lastUpdatedAt": {"pictures": "2026-01-01T00:00:00"},
        },
    },
    BUTTER: {
        "id": 2,
        "gtin": BUTTER,
        "updatedAt": "2026-01-02T00:00:00",
        "isConsumerUnit": True,
        "namePublicLong": [text("Beurre doux")],
        "allergens": [text("Lait")],
        "brand": {"code": "B", "label": "Farm & Field"},
        "kind": {"code": 530, "label": "Butter"},
        "assets": {
            "pictures": [{"url": "https://pictures.test/3.jpg", "isPackshot": False}],
            "lastUpdatedAt": {"pictures": "2026-01-02T00:00:00"},
        },
    },
    CIDER: {
        "id": 3,
        "gtin": CIDER,
        "updatedAt": "2026-01-03T00:00:00",
        "isConsumerUnit": False,
        "isDisplayUnit": True,
        "namePublicLong": [text("Cidre brut")],
        "description": [text("Un cidre qui va avec le pain et le beurre")],
        "brand": {"code": "APPLE", "label": "Apples"},
    },
    PALLET: {"id": 4, "gtin": PALLET, "isConsumerUnit": False, "isDisplayUnit": False},
}

PRODUCTS = [
    SharedProduct(
        RECORDS[BREAD],
        MILL.id,
        (
            View(SHOP.id, tags=(("exportable", "2026-01-02T00:00:00"),)),
            View(
                MARKET.id,
                shared_from=SharingStatus.PENDING,
                product_status="REFUSED",
                validation_status=1,
                tags=(("promo", "2026-01-05T00:00:00"),),
            ),
        ),
    ),
    SharedProduct(
        RECORDS[BUTTER],
        DAIRY.id,
        (
            View(
                SHOP.id,
                shared_from=SharingStatus.PENDING,
                shared_with=SharingStatus.DRAFT,
                product_status="TO_BE_VALIDATED",
                active_range=False,
                validation_status=3,
                target_market=56,
                tags=(("promo", "2026-01-05T00:00:00"), ("bio", "2026-01-05T00:00:00")),
            ),
        ),
    ),
    SharedProduct(RECORDS[CIDER], DAIRY.id, (View(SHOP.id, validation_status=0, product_status="UPDATED"),)),
    SharedProduct(RECORDS[PALLET], MILL.id, (View(SHOP.id, validation_status=1),)),
    SharedProduct({"id": 5, "gtin": "03149170388000"}, MILL.id, ()),
]


@dataclass
class Caller:
    """One organisation's way to a sandbox: plain HTTP, replies as they come.

    Attributes
    ----------
    keeps_contract
        Whether every reply has to be as the contract says; not so of a sandbox whose settings say otherwise.
    """

    base_url: str
    organization: Organization = SHOP
    session: requests.Session = field(default_factory=requests.Session)
    keeps_contract: bool = True

    def __post_init__(self) -> None:
        if self.keeps_contract:
            self.session.hooks["response"].append(check_reply)

    def log_in(self) -> Caller:
        reply = self.token()
        assert 200 == reply.status_code, reply.text
        self.session.headers["Authorization"] = f"Bearer {reply.json()['access_token']}"
        return self

    def token(self, version: str = "v2", **changes: Any) -> requests.Response:
        body = {
            "client_id": self.organization.client_id,
            "client_secret": self.organization.client_secret,
            "grant_type": "client_credentials",
        }
        return self.session.post(f"{self.base_url}/auth/{version}/token", json=body | changes)

    def get(self, language: str | None = None, **parameters: Any) -> requests.Response:
        headers = {} if language is None else {"Accept-language": language}
        return self.session.get(f"{self.base_url}/public/v1/products", params=parameters, headers=headers)

    def search(self, language: str | None = None, **body: Any) -> requests.Response:
        headers = {} if language is None else {"Accept-language": language}
        return self.session.post(f"{self.base_url}/public/v1/products/list", json=body, headers=headers)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the envelope of a GET or a POST."""
        reply = self.get(**parameters) if method == "GET" else self.search(**parameters)
        assert 200 == reply.status_code, reply.text
        envelope: dict[str, Any] = json.loads(reply.content)
        return envelope

    def gtins(self, method: str = "POST", **parameters: Any) -> list[str]:
        """Return the GTINs that a call finds, in their order."""
        return [product["gtin"] for product in self.call(method, **parameters)["data"]]

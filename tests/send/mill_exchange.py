"""A small exchange of a retailer and two manufacturers, and a client for each."""

from __future__ import annotations

from prodex.gtin import check_digit
from prodex.sandbox import Behaviour, Sandbox
from prodex.service import Client
from prodex.service.settings import Settings
from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct, View

SHOP = Organization(
    1,
    "Shop",
    OrganizationType.RETAILER,
    "shop",
    "shop-secret",
    "sue",
    scenarios_enabled=True,
    deadlines_enabled=True,
)
KIOSK = Organization(2, "Kiosk", OrganizationType.RETAILER, "kiosk", "kiosk-secret", "kim")
MARKET = Organization(
    3, "Market", OrganizationType.RETAILER, "market", "market-secret", "mia", scenarios_enabled=True
)
MILL = Organization(11, "Mill", OrganizationType.MANUFACTURER, "mill", "mill-secret", "max")
DAIRY = Organization(12, "Dairy", OrganizationType.MANUFACTURER, "dairy", "dairy-secret", "dora")

LANGUAGES = {"fra-FR": "fr", "eng-GB": "en", "deu-DE": "de"}


def gtin(number: int) -> str:
    """Make a GTIN."""
    return f"{number:013d}{check_digit(f'{number:013d}')}"


def text(code: str, data: str) -> dict[str, object]:
    """Write a localized item as the service serves it."""
    return {"expressedIn": {"normalizedCode": LANGUAGES[code], "code": code}, "data": data}


def product(number: int, **attributes: object) -> dict[str, object]:
    """Write a product in three languages."""
    names = [text(code, f"Name {number} {short}") for code, short in LANGUAGES.items()]
    return {
        "id": number,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "gtin": gtin(number),
        "updatedAt": "2026-11-01T12:00:00",
        "isConsumerUnit": True,
        "lifeCycle": 1,
        "namePublicLong": names,
        "description": [{**text("fra-FR", "Bon"), "sort": 1}],
        "productBenefits": [
            {"rank": 1, "text": [text("fra-FR", "léger"), text("eng-GB", "light")]},
            {"rank": 2, "text": [text("fra-FR", "rond")]},
        ],
        "composition": None,
        "allergens": [],
        "assets": {
            "pictures": [{"url": "https://example.com/1.jpg", "isPackshot": True}],
            "documents": [{"fileName": "a.pdf"}],
        },
        **attributes,
    }


def small_exchange(behaviour: Behaviour | None = None) -> Sandbox:
    views = [View(SHOP.id) for _ in range(4)] + [View(SHOP.id, product_status="ASSIGNATION_PENDING")]
    shared = [SharedProduct(product(n), MILL.id, (view,)) for n, view in enumerate(views, 1)]
    return Sandbox(shared, organizations=[SHOP, KIOSK, MARKET, MILL, DAIRY], labels={}, behaviour=behaviour)


def client(sandbox: Sandbox, organization: Organization) -> Client:
    return Client(Settings(sandbox.base_url, organization.client_id, organization.client_secret))

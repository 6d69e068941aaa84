"""A small catalogue on a sandbox, and how loads of it are looked at."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import prodex
from prodex.sandbox import Sandbox
from prodex.service import Client, RetryPolicy

#: Products of the catalogue; a page holds 20, so that there are several pages of every kind.
TOTAL = 110
PAGE = 20

#: Ways of paging -> what has to be set for so few products to be paged that way.
WAYS: dict[str, dict[str, Any]] = {
    "offset": {"prodex.load.fetch.BY_SCROLL": False},
    "scroll": {},
    "windows": {"prodex.service.paging.SCROLL_FROM": 30, "prodex.load.windows.SMALLEST": 45},
}


def records(total: int = TOTAL) -> list[dict[str, Any]]:
    """Return products whose times of update are spread over three years, some of them within one second.

    None but the newest lies where a load cuts its windows, so that each load needs as many calls as the one before.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    days = [0, *(number * 10 + 0.3 if number < 90 else 500.3 for number in range(1, total))]
    return [
        {
            "id": number + 1,
            "gtin": f"{number:014d}",
            "updatedAt": f"{now - timedelta(days=day):%Y-%m-%dT%H:%M:%S}",
            "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": f"produit {number}"}],
        }
        for number, day in enumerate(days)
    ]


class LeapingClock:
    """A clock that stands still, and leaps by more than the life of a cursor at two of every 20 readings.

    The sandbox reads it twice for each page of a scroll, and at each login: of two readings that follow each other one
    is between two pages. Lives in seconds would depend on the machine.
    """

    def __init__(self) -> None:
        self.readings = 0

    def __call__(self) -> float:
        self.readings += 1
        return 121.0 * ((self.readings + 11) // 20 + (self.readings + 10) // 20)


def renamed(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a product under another name."""
    return {**record, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": name}]}


def paged(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pages go one of the ways."""
    for name, value in WAYS[way].items():
        monkeypatch.setattr(name, value)


def quick(seconds: float = 20) -> dict[str, Any]:
    """Return how a client is connected that tries again for some seconds, with short pauses."""
    policy = RetryPolicy(
        seconds=seconds,
        load_seconds=seconds,
        first_wait=0.001,
        longest_wait=0.5,
        jitter=0,
        retries_per_second=1_000,
    )
    return {"retry": policy}


def connected(sandbox: Sandbox, organization: int = 0) -> Client:
    """Reach it, with retries but without pauses."""
    key = sandbox.credentials[organization]
    return prodex.connect(
        base_url=sandbox.base_url,
        client_id=key["client_id"],
        client_secret=key["client_secret"],
        retry=RetryPolicy(attempts=6, first_wait=0.001, jitter=0, retries_per_second=1_000),
    )


def loaded(sandbox: Sandbox, way: str, **options: Any) -> prodex.Catalog:
    """Load everything anew."""
    given = {"name": "shop", "max_age": 0, "page_size": PAGE, "windows": 0 if way == "scroll" else 3}
    return prodex.load_products(connected(sandbox), **(given | options))


def contents(catalog: prodex.Catalog) -> list[int]:
    """Return the ids of a catalogue, sorted; a product that it contains twice is listed twice."""
    return sorted(json.loads(text)["id"] for text in catalog.raw["json"])


def named(catalog: prodex.Catalog) -> dict[int, str]:
    """Return the name of each product, by its id."""
    every = [json.loads(text) for text in catalog.raw["json"]]
    assert len(every) == len({one["id"] for one in every})
    return {one["id"]: one["namePublicLong"][0]["data"] for one in every}


def asked(sandbox: Sandbox, begin: int = 0) -> list[dict[str, Any]]:
    """Return the bodies of the searches from the request with that number on."""
    return [body for _, path, body in sandbox.requests[begin:] if path.endswith("/list")]


def pages_asked(sandbox: Sandbox, begin: int = 0) -> list[str]:
    """Return the pages that were asked for, each as text; counts are not pages."""
    return [json.dumps(body, sort_keys=True) for body in asked(sandbox, begin) if body.get("limit") != 1]

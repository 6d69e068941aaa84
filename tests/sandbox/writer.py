"""A bare caller that writes: plain HTTP, replies as they come."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

import requests
from small_exchange import Caller


class Writer(Caller):
    """One organisation that writes to a sandbox."""

    def post_products(
        self, body: Any, content_type: str = "application/json", **headers: str
    ) -> requests.Response:
        """Send a body as it is; what is not bytes goes as JSON."""
        return self.session.post(
            f"{self.base_url}/public/v1/products",
            data=body if isinstance(body, bytes) else json.dumps(body).encode(),
            headers={"Content-Type": content_type, **headers},
        )

    def send(self, body: Any, content_type: str = "application/json") -> int:
        """Send a body that is taken in; return its tracking id."""
        reply = self.post_products(body, content_type)
        assert 200 == reply.status_code, reply.text
        if content_type == "application/xml":
            found = re.search(r"<tracking>(\d+)</tracking>", reply.text)
            assert found, reply.text
            return int(found[1])
        tracking: int = reply.json()["tracking"]
        return tracking

    def track(self, tracking: int | str) -> requests.Response:
        return self.session.get(f"{self.base_url}/public/v1/products/track/{tracking}")

    def wait(self, tracking: int, seconds: float = 20.0) -> dict[str, Any]:
        """Return the tracking record once the import is no longer in progress."""
        until = time.monotonic() + seconds
        while True:
            record: dict[str, Any] = self.track(tracking).json()
            if record["status"] != "IN_PROGRESS":
                return record
            assert time.monotonic() < until, record
            time.sleep(0.005)

    def write(self, *products: Mapping[str, Any]) -> dict[str, Any]:
        """Upsert products as JSON and return the tracking record of the end."""
        return self.wait(self.send({"data": products}))

    def write_xml(self, xml: str) -> dict[str, Any]:
        """Upsert products as XML and return the tracking record of the end."""
        return self.wait(self.send(xml.encode(), "application/xml"))

    def stored(self, gtin: str) -> dict[str, Any]:
        """Return the one product of a GTIN as the caller sees it."""
        (product,) = self.call("POST", filter_gtins_in=[gtin])["data"]
        return dict(product)


def messages(record: Mapping[str, Any]) -> list[str]:
    """Return what a tracking record says of each product; empty for success."""
    return [product["message"] for product in record["products"]]

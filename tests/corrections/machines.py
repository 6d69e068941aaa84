"""The small exchange of the tests of sending, with its manufacturer here and at another machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import prodex
from prodex.sandbox import Sandbox
from prodex.service import Client
from tests.send.mill_exchange import MILL, client, gtin, small_exchange, text

FRENCH = {"fra-FR": "Name 1 fr", "eng-GB": "Name 1 en", "deu-DE": "Name 1 de"}


class Machines:
    """A manufacturer who writes from this machine, with journals, and from another one, without."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.service: Client = client(sandbox, MILL)

    @property
    def environment(self) -> dict[str, str]:
        """What the commands read of this machine."""
        return {
            "PRODEX_BASE_URL": self.sandbox.base_url,
            "PRODEX_CLIENT_ID": MILL.client_id,
            "PRODEX_CLIENT_SECRET": MILL.client_secret,
        }

    def load(self, name: str = "mine", **query: Any) -> prodex.Catalog:
        """Make a new snapshot."""
        asked = prodex.ProductQuery(**query)
        return prodex.load_products(self.service, asked, name=name, max_age=0, progress=False)

    def elsewhere(self, number: int = 1, **attributes: Any) -> None:
        """Write a product at the other machine."""
        body = json.dumps({"data": [{"gtin": gtin(number), **attributes}]}).encode()
        tracking = self.service.upsert_products(body)
        while self.service.track(tracking)["status"] == "IN_PROGRESS":
            pass

    def here(self, number: int = 1, *, wait: bool = True, **attributes: Any) -> prodex.send.Tracking:
        """Write a product here."""
        # Without a name nothing is sent; the French one is as it was.
        attributes = {"namePublicLong": names(f"Name {number} fr"), **attributes}
        sent = prodex.upsert(self.service, [{"gtin": gtin(number), **attributes}], progress=False, **_OPTIONS)
        return sent.wait(progress=False) if wait else sent


_OPTIONS: dict[str, Any] = {"by": "max", "why": "spelling"}


@contextmanager
def machines() -> Iterator[Machines]:
    """Serve five products of the mill."""
    with small_exchange() as sandbox:
        yield Machines(sandbox)


def names(french: str) -> list[dict[str, object]]:
    """Return names of which only the French one is another."""
    return [text(code, data) for code, data in ({**FRENCH, "fra-FR": french}).items()]

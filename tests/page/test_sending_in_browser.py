"""`prodex open --send` in a real browser: a text is corrected, sent and there; the server asks the service alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import prodex as px
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products

from .opened import opened
from .test_page_in_browser import visited

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("page")]


def test_a_correction_is_sent_with_send_and_nothing_else_is_offered(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Typed on a card, previewed, confirmed, and read back from the service."""
    home = tmp_path / "home"
    with Sandbox(products=shared_products(120)) as sandbox:
        key = sandbox.credentials[0]
        settings = {
            "PRODEX_HOME": str(home),
            "PRODEX_BASE_URL": sandbox.base_url,
            "PRODEX_CLIENT_ID": key["client_id"],
            "PRODEX_CLIENT_SECRET": key["client_secret"],
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        catalog = px.load_products(px.connect(), name="sent", progress=False)
        with opened(tmp_path, home, "sent", "--send") as page, visited(browser, page) as visit:
            sections = visit.panel.locator("[data-block=sections] button").all_inner_texts()
            assert ["Products", "Quality", "Coverage", "Corrections", "Snapshots"] == sections
            row = visit.page.locator(".prodex tbody tr").first
            gtin = re.search(r"\d{14}", row.inner_text())
            assert gtin
            visit.click(row)
            visit.click(visit.button("✎ Correct a text"))
            area = visit.panel.locator(".editor textarea")
            area.fill("A name that was typed in a browser")
            area.press("Enter")
            visit.click(visit.button("Corrections", exact=False))
            visit.click(visit.button("Send 1 correction"))
            visit.click(visit.button("Yes, send", exact=False))
            visit.says("1 text that arrived")
            host = sandbox.base_url.rpartition(":")[2]
            assert page.asked
            assert [] == [one for one in page.asked if host not in one]

        now = px.load_products(
            px.connect(), px.ProductQuery(gtins_in=[gtin[0]]), name="after", progress=False
        )

    assert "A name that was typed in a browser" in set(now.texts["text"])
    assert "A name that was typed in a browser" not in set(catalog.texts["text"])
    assert key["client_secret"] not in page.said

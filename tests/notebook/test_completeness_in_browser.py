"""Completeness in the audit panel as somebody uses it: in both themes, by keyboard, down to the products."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SAMPLE = """
    import pandas as pd
    import prodex
    from prodex_sandbox.sample import shared_products
    catalog = prodex.flatten(product.record for product in shared_products(300))
    rows = [
        ("Web shop", "France", "*", "brand", "", "must"),
        ("Web shop", "France", "*", "namePublicLong", "fr", "must"),
        ("Web shop", "France", "*", "assets.pictures[front]", "", "must"),
        ("Leaflet", "", "BISCUITS", "netContent", "", "must"),
    ]
    columns = ["channel", "market", "family", "attribute", "language", "level"]
    audit = prodex.audit(catalog, prodex.Requirements.of(pd.DataFrame(rows, columns=columns)), progress=False)
    panel = prodex.AuditPanel(audit)
    panel
"""
EXPLORER = """
    explorer = prodex.CatalogExplorer(exploration=panel.exploration)
    explorer
"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_press_lists_the_incomplete_products(lab: Lab, browser: Browser, scheme: str) -> None:
    """A cell says how many are complete and lists the others, also by keyboard; a new family is named."""
    with lab.opened(browser, [SAMPLE, EXPLORER]) as notebook:
        notebook.show(scheme)
        out = notebook.run(0)
        out.get_by_role("heading", name="Completeness").wait_for()
        cell = out.get_by_role("button", name="all products, Web shop (France)")
        cell.focus()
        notebook.page.keyboard.press("Enter")
        listed = notebook.wait_for("len(panel.failing)")
        assert listed == notebook.ask(
            'int(panel.audit.completeness().query(\'channel == "Web shop (France)" and language == "all"\')'
            ".incomplete.iloc[0])"
        )
        out.locator(".cell-grid button.is-pressed").first.wait_for()
        out.get_by_text("The requirements do not list").first.wait_for()

        assert [] == notebook.violations()
        out.get_by_label("Columns").select_option("Web shop (France): languages")
        out.get_by_role("button", name="everything").first.wait_for()
        shown = notebook.run(1)
        shown.get_by_text("Complete for Web shop (France)").first.wait_for()
        shown.get_by_text("Completeness: web shop france").first.wait_for()

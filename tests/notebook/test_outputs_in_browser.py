"""What a cell shows of a catalogue, an audit or a comparison looks in JupyterLab as it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prodex.display.html_tables import block, table
from prodex.notebook.assets import style

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BEGIN = """
    import prodex as px
    from prodex_sandbox.sample import shared_products
    catalog = px.flatten(product.record for product in shared_products(60))
    audit = px.audit(catalog, "online-listing", progress=False)
"""
#: The sides to which cells are set.
_SIDES = "all => [...new Set(all.map(one => getComputedStyle(one).textAlign))]"


def test_tables_are_set_to_the_left(lab: Lab, browser: Browser) -> None:
    """JupyterLab sets the cells of tables to the right; of ours only numbers are."""
    with lab.opened(browser, [_BEGIN, "catalog", "audit", "px.diff(catalog, catalog.head(5))"]) as notebook:
        notebook.run(0)
        for cell in (1, 2, 3):
            table = notebook.run(cell).locator(".prodex-summary")
            table.locator("th").first.wait_for()
            assert ["left"] == table.locator(":is(th, td):not(.n)").evaluate_all(_SIDES)
            assert ["right"] == table.locator(":is(th, td).n").evaluate_all(_SIDES)


def test_a_gtin_stays_whole_and_a_long_word_does_not_widen_the_page(browser: Browser) -> None:
    """Files that came back may name an attribute of any length; beside long texts, short words are not broken."""
    heads = ["cell", "gtin", "attribute", "answer", "reason"]
    rows = [
        ["L22", "08442500784981", "namePublicShort", "mots " * 200, "reasons " * 100],
        ["L23", "08442500784981", "x" * 390, "mots " * 200, "y" * 390],
    ]
    shown = block("Fix", tables=[table("answers", heads, rows, codes=heads[:3])])
    page = browser.new_page(viewport={"width": 900, "height": 800})
    try:
        page.set_content(f"<style>{style()}</style><div class='prodex'>{shown}</div>")
        for short in ("L22", "08442500784981", "namePublicShort"):
            height = page.get_by_text(short, exact=True).first.evaluate("one => one.getClientRects().length")
            assert 1 == height, short
        assert page.evaluate("document.documentElement.scrollWidth") <= 900
    finally:
        page.close()

"""What a cell shows of a catalogue, an audit or a comparison looks in JupyterLab as it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BEGIN = """
    import prodex as px
    from prodex.sandbox.sample import shared_products
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

"""The panels in Jupyter Notebook 7: what is pressed there is seen in Python, as in JupyterLab."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from .lab import Lab

_BEGIN = """
    import prodex as px
    from prodex_sandbox.sample import AS_OF, shared_products
    catalog = px.flatten(one.record for one in shared_products(150)).save("elsewhere")
    audit = px.audit(catalog, "online-listing", progress=False, now=AS_OF)
"""
_LOOK = "looked = px.explore(catalog, audit=audit)\nlooked"


def test_products_are_filtered_and_opened_in_jupyter_notebook(lab: Lab, browser: Browser) -> None:
    """A facet filters, a row opens its card with the keyboard, and the audit is about what is left."""
    with replace(lab, pages="notebooks").opened(browser, [_BEGIN, _LOOK], anew=True) as notebook:
        assert "notebooks" == notebook.page.locator("body").get_attribute("data-notebook")
        notebook.run(0)
        # It complains of its own settings while it opens, whatever is in the notebook.
        of_its_own = list(notebook.errors)
        out = notebook.run(1)
        out.locator(".facet-row .value").nth(4).click()
        left = notebook.wait_for("0 < len(looked.catalog) < 150 and len(looked.catalog)")
        out.locator(".product-grid tbody tr").first.focus()
        notebook.page.keyboard.press("Enter")
        notebook.wait_for("looked.exploration.product_id")
        out.locator(".pane h3").first.wait_for()
        out.get_by_role("button", name="Quality", exact=True).click()
        out.locator(".headline b", has_text=f"{left} of 150 products").wait_for()
        assert [] == notebook.violations(1)
        assert ([], of_its_own) == (notebook.outside, notebook.errors)

"""Everything in one line, clicked through as an analyst would, in light and in dark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BEGIN = f"""
    import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})
    import prodex as px
    from prodex_sandbox.sample import AS_OF, shared_products
    catalog = px.flatten(one.record for one in shared_products(150)).save("explored")
    audit = px.audit(catalog, "online-listing", progress=False, now=AS_OF)
"""
_LOOK = "looked = px.explore(catalog, audit=audit)\nlooked"


def test_from_a_figure_to_its_products_to_a_card(lab: Lab, browser: Browser) -> None:
    """A gap of the audit lists its products, one of them opens its card, and Python has them."""
    with lab.opened(browser, [_BEGIN, _LOOK]) as notebook:
        page = notebook.page
        notebook.run(0)
        notebook.run(1)
        page.get_by_role("button", name="Quality", exact=True).click()
        show = page.get_by_role("button", name=re.compile(r"Show [0-9,]+ product")).first
        show.wait_for()
        assert {} == notebook.violations_of_each_scheme(1)
        show.click()

        assert "Products" == notebook.wait_for("looked.section == 'Products' and looked.section")
        left = notebook.ask("sorted(looked.catalog.products['product_id'])")
        checks = "list(looked.exploration.conditions.failing[0].checks)"
        assert left == notebook.ask(f"sorted(set(audit.failures(check={checks})['product_id']))")
        page.locator(".product-grid tbody tr").first.click()
        assert notebook.wait_for("looked.exploration.product_id") in left
        page.locator(".product-grid tbody tr input").first.click()
        assert notebook.wait_for("list(looked.selected)")[0] in left
        page.locator(".prodex.card h4").first.wait_for()
        assert {} == notebook.violations_of_each_scheme(1)

        page.get_by_role("button", name="Snapshots", exact=True).click()
        page.get_by_role("button", name="Verify").wait_for()
        assert {} == notebook.violations_of_each_scheme(1)
        assert [] == notebook.outside
        assert [] == notebook.errors


def test_nothing_is_cut_or_moved_beside_the_list_of_files(lab: Lab, browser: Browser) -> None:
    """Of 1,400 pixels JupyterLab leaves 940: the checks fit in them, and the way back to a catalogue moves nothing."""
    with lab.opened(browser, [_BEGIN, _LOOK]) as notebook:
        page = notebook.page
        notebook.run(0)
        out = notebook.run(1)
        have = out.locator(".sections-line").evaluate("one => one.clientWidth")
        size = page.viewport_size
        assert size is not None
        page.set_viewport_size({"width": size["width"] - have + 940, "height": 900})
        out.get_by_role("button", name="Quality", exact=True).click()
        checks = out.locator("table.rows:visible").first
        checks.get_by_text("score +").first.wait_for()
        fits = (
            "one => one.getBoundingClientRect().right <= one.closest('.prodex').getBoundingClientRect().right"
        )
        assert checks.evaluate(fits)

        before = out.locator(".sections-line").bounding_box()
        notebook.ask(
            "looked.exploration.look_at(px.flatten([{'id': 7}]).save('products-84d119c3')) or len(looked.catalog)"
        )
        out.get_by_text("These products have not been audited.").wait_for()
        back = out.get_by_role("button", name=re.compile("^Back to explored, "))
        back.wait_for()
        assert before == out.locator(".sections-line").bounding_box()
        assert [] == notebook.violations(1)
        back.focus()
        page.keyboard.press("Enter")
        notebook.wait_for("looked.exploration.catalog is catalog and looked.audit is audit")
        checks.get_by_text("score +").first.wait_for()
        assert ([], []) == (notebook.outside, notebook.errors)

"""One selection through all panels: filtered, audited, narrowed by a rule, back, forward, saved, and opened again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BEGIN = """
    import prodex as px
    from prodex_sandbox.sample import shared_products
    catalog = px.flatten(one.record for one in shared_products(300)).save("selected")
"""
_LOOK = "looked = px.explore(catalog)\nlooked"
_OTHER = "other = px.explore(px.flatten([{'id': 1, 'brand': {'code': 'ELSEWHERE'}}]))\nother"
_CONDITIONS = "__import__('prodex.selection.plain').selection.plain.as_plain(looked.exploration.conditions)"


def test_a_selection_goes_from_panel_to_panel_and_comes_back(lab: Lab, browser: Browser) -> None:
    """Each press adds to what is chosen; the figures say which products they are about; a view outlives the kernel."""
    with lab.opened(browser, [_BEGIN, _LOOK, _OTHER]) as notebook:
        page = notebook.page
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.wait_for()
        kind = out.locator(".facet-row .value").first
        kind.click()
        notebook.wait_for("len(looked.exploration.conditions.groups) == 1")
        chosen = notebook.ask("len(looked.catalog)")
        assert 0 < chosen < 300

        out.get_by_role("button", name="Quality", exact=True).click()
        out.get_by_role("button", name="Audit", exact=True).click()
        out.get_by_text(re.compile(rf"^{chosen} of 300 products$")).first.wait_for(timeout=120_000)
        out.get_by_text(f"The figures are about {chosen} product").first.wait_for()
        assert "Quality" == notebook.ask("looked.section")
        gap = (
            out.get_by_role("button", name=re.compile(r"Show [0-9,]+ product")).locator("visible=true").first
        )
        listed = int(re.sub(r"\D", "", gap.inner_text()))
        gap.click()

        notebook.wait_for("looked.section == 'Products'")
        both = notebook.ask(_CONDITIONS)
        assert (1, 1, listed) == (
            len(both["groups"]),
            len(both["fails"]),
            notebook.ask("len(looked.catalog)"),
        )
        out.get_by_text(re.compile(rf"^(1 to )?{listed} (of {listed} )?products?")).locator(
            "visible=true"
        ).first.wait_for()
        chips = out.locator(".chips button:visible")
        chips.nth(2).wait_for()
        assert 3 == chips.count()  # a kind, a rule, and one that clears both

        back, forward = (
            out.get_by_role("button", name=one, exact=True).locator("visible=true")
            for one in ("← Back", "Forward →")
        )
        back.focus()
        page.keyboard.press("Enter")
        notebook.wait_for("not looked.exploration.conditions.failing")
        forward.click()
        notebook.wait_for("len(looked.exploration.conditions.failing)")
        assert both == notebook.ask(_CONDITIONS)

        views = out.get_by_role("button", name="▸ Views").locator("visible=true")
        views.focus()
        page.keyboard.press("Enter")
        out.locator(".selection").get_by_label("Name", exact=True).locator("visible=true").fill(
            "What to do first"
        )
        out.get_by_role("button", name="Save view", exact=True).locator("visible=true").click()
        views = "__import__('prodex.exploration.saved_views', fromlist=['']).saved_views()"
        notebook.wait_for(f"'What to do first' in [one.name for one in {views}]")
        assert [] == notebook.violations(1)

        page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("^Restart Kernel…")).click()
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        out.locator(".prodex.jupyter-widgets-disconnected").first.wait_for()
        notebook.wait_until_ready()
        notebook.run_all()
        for cell, name in ((1, "looked"), (2, "other")):
            out = notebook.output(cell)
            out.get_by_role("button", name="▸ Views").locator("visible=true").click()
            out.locator(".selection").get_by_label("Open", exact=True).locator("visible=true").select_option(
                "\u2068What to do first\u2069"
            )
            notebook.wait_for(f"bool({name}.exploration.conditions)")
        # The audit is gone with the kernel, so the rule cannot be asked for; the rest of the view is there.
        out = notebook.output(1)
        out.get_by_text("There is no audit here, so this was left out").wait_for()
        assert both["groups"] == notebook.ask(_CONDITIONS)["groups"]
        assert chosen == notebook.ask("len(looked.catalog)")
        notebook.output(2).get_by_text("No product here meets").wait_for()
        assert ([], []) == (notebook.outside, notebook.errors)


_EITHER = """
    import prodex as px
    records = [
        {"id": n, "brand": {"code": f"B{n % 3}"}, "isConsumerUnit": bool(n % 2), "hasTags": [{"tag": f"t{n % 4}"}]}
        for n in range(24)
    ]
    explorer = px.CatalogExplorer(px.flatten(records))
    explorer
"""


def test_either_and_all_others_are_built_by_presses(lab: Lab, browser: Browser) -> None:
    """One half, the other half, both joined; then all others, and these again: by mouse and by keyboard."""
    with lab.opened(browser, [_EITHER]) as notebook:
        out = notebook.run(0)
        out.locator(".product-grid tbody tr").first.wait_for()
        assert 0 == out.get_by_role("button", name="Or …").locator("visible=true").count()
        out.locator(".facet-row .value", has_text="B1").first.click()
        notebook.wait_for("len(explorer.catalog) == 8")
        out.get_by_role("button", name="Or …").click()
        out.get_by_text(re.compile("either brand: .*B1.*, or")).first.wait_for()
        notebook.wait_for("len(explorer.catalog) == 24")
        out.locator(".facet-row .value", has_text="B2").first.click()
        notebook.wait_for("len(explorer.catalog) == 8")
        join = out.get_by_role("button", name="Join both")
        join.focus()
        notebook.page.keyboard.press("Enter")
        notebook.wait_for("len(explorer.catalog) == 16")
        chip = out.locator(".chips button:visible")
        assert re.search("^either brand: .*B1.*, or brand: .*B2.* ✕$", chip.first.inner_text())

        out.get_by_role("button", name="All others").click()
        notebook.wait_for("set(explorer.catalog.products['brand_code']) == {'B0'}")
        out.get_by_role("button", name="All others").click()
        notebook.wait_for("len(explorer.catalog) == 16")
        chip.first.click()
        notebook.wait_for("len(explorer.catalog) == 24")
        out.get_by_role("button", name="← Back").click()
        notebook.wait_for("len(explorer.catalog) == 16")

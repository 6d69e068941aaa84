"""The audit panel as somebody uses it: judged, clicked through, and written down, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.quality import hostile

from .lab import Lab, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

ROOT = str(Path(__file__).parents[2])

SAMPLE = """
    import prodex
    from prodex.notebook.audit.panel import AuditPanel
    from prodex_sandbox.sample import shared_products
    catalog = prodex.flatten(product.record for product in shared_products(400))
    panel = AuditPanel(catalog=catalog, profile="online-listing")
    panel
"""

HOSTILE = f"""
    import sys; sys.path.insert(0, {ROOT!r})
    from prodex.notebook.audit.panel import AuditPanel
    from tests.quality import hostile
    panel = AuditPanel(hostile.audit())
"""

#: Cells of the heat map that list products.
LISTED = ".cell-grid button.cell:not([aria-disabled])"
FAILS = "next((one.title for one in panel.exploration.conditions.failing), None)"


def test_from_the_profile_to_the_products(lab: Lab, browser: Browser) -> None:
    """An audit is run, drilled into by figure, grade, cell, gap and check, and exported."""
    with lab.opened(browser, [SAMPLE]) as notebook:
        out = notebook.run()
        out.get_by_role("button", name="Audit", exact=True).click()
        notebook.wait_for("panel.audit is not None", 60)
        out.get_by_text("Largest gaps").wait_for()

        out.get_by_role("button", name="Show products").first.click()
        assert notebook.wait_for("len(panel.failing)") == notebook.ask(
            "int(panel.audit.summary['to_work_on'])"
        )
        out.get_by_role("button", name="✓ Show products").wait_for()

        everything = out.get_by_role("button", name="Show all products")
        everything.click()
        notebook.wait_for("panel.failing == ()")
        out.get_by_role("button", name="Grade C").click()
        notebook.wait_for("panel.exploration.conditions.groups.get('grade') == ('C',)")
        assert notebook.ask(
            "list(panel.failing) == panel.audit.products.query('grade == \"C\"').product_id.tolist()"
        )

        everything.click()
        notebook.wait_for("panel.failing == ()")
        out.get_by_role("button", name="owners", exact=True).click()
        out.get_by_text("owners", exact=False).filter(has_text="1 to 12 of").first.wait_for()
        cell = out.locator(LISTED).first
        cell.focus()
        notebook.page.keyboard.press("Enter")
        code = notebook.wait_for("panel.exploration.conditions.groups.get('owner')")[0]
        assert notebook.ask(
            f"set(panel.failing) == set(panel.audit.failures(owner_id={code!r}).product_id) and len(panel.failing) > 0"
        )
        out.locator(".cell-grid button.is-pressed").wait_for()

        everything.click()
        notebook.wait_for("panel.failing == ()")
        out.locator(".gap-row button").first.click()
        title = notebook.wait_for(FAILS)
        assert notebook.ask("panel.audit.gaps().problem[0]") == title
        # A second press adds to the first: the figures are those of the products that meet both.
        out.get_by_role("button", name="Grade C").click()
        notebook.wait_for("panel.exploration.conditions.groups.get('grade') == ('C',)")
        assert title == notebook.ask(FAILS)
        out.locator("button.chip", has_text="grade:").wait_for()
        both = notebook.ask("len(panel.exploration.chosen)")
        assert both == notebook.ask("len(panel.failing)")
        out.locator(".headline b", has_text=f"{both:,} of ").wait_for()
        everything.click()
        notebook.wait_for("panel.failing == ()")

        rows = out.get_by_role("grid", name="Checks").locator("tbody").get_by_role("row")
        rows.first.focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            notebook.page.keyboard.press(key)
        title = notebook.wait_for(FAILS)
        failing = str(notebook.ask("len(panel.failing)"))
        # What fails most comes first, so its row may be in another place now; the focus goes with it.
        row = out.get_by_role("grid", name="Checks").locator("tbody tr[aria-selected='true']")
        expect(row.locator("td").nth(3)).to_have_text(failing)
        expect(row).to_be_focused()
        expect(row).to_have_attribute("tabindex", "0")
        expect(row.locator("td").first).to_have_text(title)
        place = notebook.ask("panel.checks.table.selected_rows[0]")
        expect(rows.nth(place)).to_have_attribute("aria-selected", "true")
        out.locator(".rule").get_by_text("How to fix it").wait_for()

        for button, said, made in (
            ("Export worklists", "worklists with", "worklists.json"),
            ("Export report", "Exported the report to", "audit-*.html"),
        ):
            out.get_by_role("button", name=button).click()
            out.locator(".note").get_by_text(said).wait_for()
            assert list(lab.folder.rglob(made)), button
        out.get_by_role("button", name="Export report").click()
        out.get_by_role("alert").get_by_text("already exists").wait_for()

        assert [] == notebook.violations()
        assert ([], []) == (notebook.outside, notebook.errors)


def _press_a_cell(notebook: Notebook, out: Locator, facet: str) -> None:
    """Press the first cell until it is one of this grouping: on a slow machine that of the one before stands longer."""
    for patience in (5, 5, 5, 30):
        out.locator(LISTED).first.click()
        try:
            notebook.wait_for(f"panel.exploration.conditions.groups.get({facet!r})", patience)
        except AssertionError:
            if patience == 30:
                raise
        else:
            return


def test_what_suppliers_typed_is_shown_letter_by_letter(lab: Lab, browser: Browser) -> None:
    """Names of groups, titles of rules and reasons run nothing, and no formula is typeset."""
    with lab.opened(browser, [HOSTILE, "panel"], scheme="dark") as notebook:
        notebook.run(0)
        out = notebook.run(1)
        for by in ("kinds", "owners", "brands"):
            out.get_by_role("button", name=by, exact=True).click()
            out.get_by_text("1 to 12 of", exact=False).filter(has_text=by).first.wait_for()
            shown = out.locator(".cell-grid tbody th bdi").all_inner_texts()
            out.get_by_role("button", name="Next").first.click()
            out.get_by_text("13 to").first.wait_for()
            shown += out.locator(".cell-grid tbody th bdi").all_inner_texts()
            for text in hostile.STRINGS[:8]:
                assert text in shown, (by, text)
            out.get_by_role("button", name="Previous").first.click()
            _press_a_cell(notebook, out, by[:-1])
            out.get_by_role("button", name="Show all products").click()
            notebook.wait_for("panel.failing == ()")
        out.locator("table.rows tbody tr").first.click()
        out.locator(".rule").wait_for()
        assert f"Problem {hostile.STRINGS[0]}" == out.locator(".rule h4").inner_text()
        assert 0 == out.locator("mjx-container, .MathJax").count()
        assert 0 == out.locator("img, script, svg").count()
        assert [] == notebook.violations(1)
        assert ([], []) == (notebook.outside, notebook.errors)

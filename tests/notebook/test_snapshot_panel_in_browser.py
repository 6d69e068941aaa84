"""The snapshot panel as somebody uses it: chosen, compared and written down, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.quality import hostile

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = str(Path(__file__).parents[2])

SHOP = """
    import copy, prodex
    from prodex.notebook.snapshots.panel import SnapshotPanel
    from prodex_sandbox.sample import shared_products
    records = [product.record for product in shared_products(120)]
    later = copy.deepcopy(records[5:])
    for record in later[:10]:
        record["namePublicLong"] = None
    for some in (records[:110], later):
        catalog = prodex.flatten(some).save("compared")
        prodex.audit(catalog, "online-listing", progress=False).save()
    panel = SnapshotPanel("compared")
    panel
"""

HOSTILE = f"""
    import sys; sys.path.insert(0, {ROOT!r})
    import json, prodex
    from prodex.notebook.snapshots.panel import SnapshotPanel
    from tests.quality import hostile
    catalog = hostile.catalog().save("hostile")
    spoiled = [json.loads(text) for text in catalog.raw["json"]]
    french = {{"code": "fra-FR", "normalizedCode": "fr"}}
    for record, text in zip(spoiled, hostile.STRINGS):
        record["namePublicLong"] = [{{"expressedIn": french, "data": "new " + text}}]
    prodex.flatten(spoiled).save("hostile")
    panel = SnapshotPanel("hostile")
    panel
"""


def test_choose_verify_and_compare(lab: Lab, browser: Browser) -> None:
    """A row is opened, its files are verified, the two newest are compared, and every change is written to a file."""
    with lab.opened(browser, [SHOP]) as notebook:
        out = notebook.run()
        rows = out.locator("table.rows tbody tr")
        rows.last.click()
        assert 110 == notebook.wait_for("panel.catalog and len(panel.catalog)")
        rows.first.focus()
        notebook.page.keyboard.press("Enter")
        notebook.wait_for("len(panel.catalog) == 115")
        out.get_by_role("img", name="115 products in the newest of 2 snapshots").wait_for()
        out.get_by_text("Data as a table").last.click()
        out.get_by_role("columnheader", name="Ready", exact=True).wait_for()

        out.get_by_role("button", name="Verify").click()
        out.get_by_text("are intact").wait_for()
        out.get_by_role("button", name="Compare").click()
        changes = notebook.wait_for("panel.difference is not None and len(panel.difference.changes)")
        out.get_by_text(f"1 to 20 of {changes} changed values").wait_for()
        for change, count in notebook.ask("panel.difference.summary.to_numpy().tolist()"):
            tile = out.locator(".tile").filter(has_text=change.capitalize()).first
            assert str(count) == tile.locator(".figure").inner_text()
        out.get_by_text("Newly failing").first.wait_for()
        out.get_by_role("button", name="kinds", exact=True).click()
        out.get_by_role("columnheader", name="Kind").wait_for()
        out.get_by_role("button", name="Next").click()
        out.get_by_text("21 to ").wait_for()
        out.get_by_role("button", name="Export changes as CSV").click()
        out.get_by_text("changed values to").wait_for()
        assert 1 + changes == (lab.folder / "changes.csv").read_bytes().count(b"\r\n")
        assert [] == notebook.violations()
        assert ([], []) == (notebook.outside, notebook.errors)


def test_what_suppliers_typed_is_shown_letter_by_letter(lab: Lab, browser: Browser) -> None:
    """Names of groups, titles of rules and reasons run nothing, and no formula is typeset."""
    with lab.opened(browser, [HOSTILE], scheme="dark") as notebook:
        out = notebook.run()
        out.get_by_role("button", name="Compare").click()
        notebook.wait_for("panel.difference is not None and len(panel.difference.changes)")
        out.get_by_text("changed values").first.wait_for()
        shown = out.locator("table.plain bdi").all_text_contents()
        for text in hostile.STRINGS:
            assert f"new {text}" in shown, text
        assert 0 == out.locator("mjx-container, .MathJax").count()
        assert 0 == out.locator("script, svg, img:not([alt])").count()
        assert [] == notebook.violations()
        assert ([], []) == (notebook.outside, notebook.errors)

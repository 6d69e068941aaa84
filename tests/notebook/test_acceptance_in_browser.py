"""Accepting findings as somebody does it: by mouse and keyboard, in both themes, in a real JupyterLab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SHOP = """
    import prodex
    from prodex.notebook.audit.panel import AuditPanel
    records = [
        {"id": 7, "gtin": "03036811359935"},
        {"id": 8, "gtin": "03036811359936", "brand": {"code": "A", "label": "<img src=x onerror=alert(1)>"}},
        {"id": 9, "gtin": "7"},
    ]
    checks = {"valid_gtin": {"severity": "blocker"}, "has_name": {"severity": "warning"}}
    panel = AuditPanel(prodex.audit(prodex.flatten(records).save("accepting"), {"checks": checks}, progress=False))
    panel
"""
ACCEPTED = "panel.audit.failures(accepted=True)[['product_id', 'check', 'accepted']].values.tolist()"


def test_a_finding_is_accepted_and_withdrawn(lab: Lab, browser: Browser) -> None:
    """The form says what is missing, writes what was chosen, and shows the figures with and without."""
    with lab.opened(browser, [SHOP]) as notebook:
        out = notebook.run()
        out.get_by_text("Nothing is accepted of these products.").wait_for()

        out.get_by_role("button", name="Accept findings").click()
        out.get_by_role("alert").get_by_text("reason is").wait_for()
        out.get_by_label("Check", exact=True).select_option(label="GTIN missing or wrong (2 products)")
        notebook.wait_for("panel.acceptance.check.value == 'valid_gtin'")
        out.get_by_label("Finding", exact=True).select_option(label="03036811359936: 03036811359936")
        notebook.wait_for("panel.acceptance.finding.value == 0")
        for name, typed in (("Because", "printed <b>so</b>"), ("Until", "2099-1-5")):
            field = out.get_by_label(name, exact=True)
            field.fill(typed)
            field.press("Tab")
        notebook.wait_for("panel.acceptance.until.value == '2099-1-5'")
        out.get_by_role("button", name="Accept findings").press("Enter")
        assert notebook.wait_for(ACCEPTED) == [["8", "valid_gtin", "printed <b>so</b>"]]
        out.get_by_text("1 finding accepted by").wait_for()
        out.get_by_text("accepted.jsonl").wait_for()
        assert [] == notebook.violations()

        out.get_by_role("button", name="Withdraw").click()
        out.get_by_text("Nothing is accepted of these products.").wait_for()
        assert [] == notebook.ask(ACCEPTED)
        assert ([], []) == (notebook.outside, notebook.errors)

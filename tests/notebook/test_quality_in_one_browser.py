"""The section on quality as somebody uses it: by mouse and keyboard, in both themes, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
from playwright.sync_api import expect

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex_sandbox.sample import AS_OF
from tests.quality import hostile

from .one_browser import page_settled, press, shown, type_in, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROWS = [
    ("Web shop", "France", "*", "brand", "", "must"),
    ("Web shop", "France", "*", "namePublicLong", "fr", "must"),
]
#: The buttons whose words do not fit into them.
_CUT = """[...document.querySelectorAll(".button")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"""
COLUMNS = ["channel", "market", "family", "attribute", "language", "level"]


@pytest.fixture(scope="module")
def audit(sample: prodex.Catalog) -> prodex.quality.Audit:
    """Judge 400 products by a profile and by requirements."""
    wanted = prodex.Requirements.of(pd.DataFrame(ROWS, columns=COLUMNS))
    return prodex.audit(sample, "online-listing", requirements=wanted, now=AS_OF, progress=False)


def panel(audit: prodex.quality.Audit) -> App:
    """Return a panel of an audit that shows the section."""
    assert audit.catalog is not None
    return App(Session(audit.catalog, audit, section="quality"))


def test_from_the_profile_to_the_products(sample: prodex.Catalog, browser: Browser) -> None:
    """An audit is run, and drilled into by figure, grade, cell, gap and check; the way back is there."""
    app = App(Session(sample, section="quality"))
    with shown(app, browser) as page:
        page.get_by_label("Profile").select_option(label="Online listing")
        press(page, "Audit")
        page_settled(page, 60)
        audit = app.session.audit
        assert audit is not None
        assert "online-listing" == audit.profile
        page.get_by_role("button", name="Show products").first.click()
        page_settled(page)
        assert ("products", int(audit.summary["to_work_on"])) == (
            app.session.section,
            len(app.session.chosen),
        )
        press(page, "Quality")
        expect(page.get_by_role("button", name="✓ Show products")).to_be_visible()
        press(page, "Show all products")
        expect(page.get_by_text("Select a figure, grade, gap, cell or check")).to_be_visible()
        press(page, "owners")
        cell = page.locator("table.cells[aria-label^=Scores] button.cell:not([aria-disabled])").first
        cell.focus()
        page.keyboard.press("Enter")
        page_settled(page)
        assert 1 == len(app.session.conditions.groups["owner"])
        # Whoever presses by keyboard goes on in the table of products.
        assert page.evaluate("document.activeElement.closest('[data-block=table]') !== null")
        press(page, "Quality")
        expect(page.locator("table.cells button.is-pressed")).to_have_count(1)
        press(page, "Show all products")
        rows = page.get_by_role("grid", name="Checks").locator("tbody").get_by_role("row")
        rows.first.focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        page_settled(page)
        assert 1 == len(app.session.conditions.failing)
        press(page, "Quality")
        expect(page.get_by_role("grid", name="Checks").locator("tr[aria-selected='true']")).to_have_count(1)
        expect(page.locator(".rule").get_by_text("How to fix it")).to_be_visible()


def test_checks_are_sorted_and_found(audit: prodex.quality.Audit, browser: Browser) -> None:
    """By the heads of columns, and by words that are typed."""
    app = panel(audit)
    with shown(app, browser) as page:
        table = page.get_by_role("grid", name="Checks")
        table.get_by_role("button", name="Fail", exact=True).click()
        page_settled(page)
        expect(table.locator("th[aria-sort='descending']")).to_contain_text("Fail")
        type_in(page, "Find", "packshot")
        page_settled(page)
        expect(table.locator("tbody tr").first).to_contain_text("packshot")


def test_a_finding_is_accepted_and_withdrawn(browser: Browser) -> None:
    """What is missing stands beside its field; what was chosen is written, and can be taken back."""
    records = [
        {"id": 7, "gtin": "03036811359935"},
        {"id": 8, "gtin": "03036811359936", "brand": {"code": "A", "label": "<img src=x onerror=alert(1)>"}},
        {"id": 9, "gtin": "7"},
    ]
    checks = {"valid_gtin": {"severity": "blocker"}, "has_name": {"severity": "warning"}}
    app = panel(prodex.audit(prodex.flatten(records).save("accepting"), {"checks": checks}, progress=False))
    with shown(app, browser) as page:
        press(page, "Accept 5 findings of 3 products")
        reason = page.get_by_label("Because")
        expect(reason).to_have_attribute("aria-invalid", "true")
        error = page.get_by_text("Say why these findings are right as they are")
        above, below = reason.bounding_box(), error.bounding_box()
        assert above is not None
        assert below is not None
        assert 0 < below["y"] - above["y"] < 80
        page.get_by_label("Check", exact=True).select_option(label="GTIN missing or wrong (2 products)")
        page_settled(page)
        page.get_by_label("Finding", exact=True).select_option(label="03036811359936: 03036811359936")
        type_in(page, "Because", "printed <b>so</b>")
        page.get_by_label("Until").fill("2099-01-05")
        press(page, "Accept 1 finding of 1 product")
        now = app.session.audit
        assert now is not None
        found = now.failures(accepted=True)[["product_id", "check", "accepted"]]
        assert [["8", "valid_gtin", "printed <b>so</b>"]] == found.values.tolist()
        expect(page.get_by_text("accepted.jsonl")).to_be_visible()
        press(page, "Withdraw 1 finding of 1 product")
        expect(page.get_by_text("Nothing is accepted of these products.")).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 800), ("light", 600)])
def test_everybody_can_read_it(
    audit: prodex.quality.Audit, browser: Browser, scheme: str, width: int
) -> None:
    """Nothing is found by axe, nothing is wider than the page, and no button is cut."""
    app = panel(audit)
    with shown(app, browser, scheme=scheme, width=width) as page:
        app.act("checks.explain", check=audit.checks[0].id)
        app.act("acceptance.accept", of="")
        page_settled(page)
        assert [] == violations(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        cut = page.evaluate(_CUT)
        assert [] == cut


def test_what_suppliers_typed_is_shown_letter_by_letter(browser: Browser) -> None:
    """Names of groups, titles of rules and reasons run nothing."""
    app = panel(hostile.audit())
    with shown(app, browser, scheme="dark") as page:
        for by in ("kinds", "owners", "brands"):
            press(page, by)
            grid = page.locator("table.cells[aria-label^=Scores]")
            names = grid.locator("tbody th bdi").all_inner_texts()
            app.act("pages.turn", name="scores", first=12)
            page_settled(page)
            names += grid.locator("tbody th bdi").all_inner_texts()
            app.act("pages.turn", name="scores", first=0)
            page_settled(page)
            for text in hostile.STRINGS[:8]:
                assert text in names, (by, text)
        app.act("checks.explain", check="fails")
        page_settled(page)
        assert 0 == page.locator("img, script:not([type]), svg, base, b").count()
        assert "A panel" == page.title()


def test_right_to_left(audit: prodex.quality.Audit, browser: Browser) -> None:
    """A page that is read from right to left has the section turned round, and nothing out of sight."""
    with shown(panel(audit), browser, direction="rtl", width=800) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        head = page.locator("table.cells[aria-label^=Scores] .corner").bounding_box()
        cell = page.locator("table.cells[aria-label^=Scores] td").first.bounding_box()
        assert head is not None
        assert cell is not None
        assert head["x"] > cell["x"]

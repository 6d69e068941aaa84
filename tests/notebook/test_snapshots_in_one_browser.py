"""The section Snapshots as somebody uses it: chosen, verified, compared and written down, in both themes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex_sandbox.sample import shared_products
from tests.quality import hostile

from .one_browser import page_settled, press, shown, type_in, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_WIDER = "one => [one.scrollWidth, one.clientWidth]"


@pytest.fixture
def saved() -> list[prodex.Catalog]:
    """Keep two snapshots of a hundred products: some were removed, some came, and ten lost their names."""
    records = [product.record for product in shared_products(120)]
    later = copy.deepcopy(records[5:])
    for record in later[:10]:
        record["namePublicLong"] = None
    return [prodex.flatten(some).save("compared") for some in (records[:110], later)]


@pytest.fixture
def compared(saved: list[prodex.Catalog]) -> list[prodex.Catalog]:
    """Keep audits of them as well."""
    for catalog in saved:
        prodex.audit(catalog, "online-listing", progress=False).save()
    return saved


@pytest.mark.slow
def test_choose_verify_and_compare(compared: list[prodex.Catalog], browser: Browser, tmp_path: Path) -> None:
    """A row is opened, its files are verified, the two newest are compared, and every change is written to a file."""
    app = App(Session(prodex.flatten([]), section="snapshots"))
    with shown(app, browser) as page:
        rows = page.get_by_label("Snapshots", exact=True).locator("tbody tr")
        rows.last.click()
        page_settled(page)
        assert 110 == len(app.session.catalog)
        rows.first.focus()
        page.keyboard.press("Enter")
        page_settled(page)
        assert 115 == len(app.session.catalog)
        assert page.get_by_role("img", name="115 products in the newest of 2 snapshots").is_visible()
        page.get_by_role("button", name="Data as a table").last.click()
        page_settled(page)
        assert page.get_by_role("columnheader", name="Ready", exact=True).is_visible()

        press(page, "Verify")
        assert page.get_by_text("are intact").is_visible()
        press(page, "Compare")
        difference = app.session.difference
        assert difference is not None
        number = len(difference.changes)
        assert page.get_by_text(f"1 to 20 of {number} changed values").is_visible()
        for change, count in difference.summary.to_numpy().tolist():
            tile = page.locator(".figure-tile").filter(has_text=change.capitalize()).first
            assert str(count) == tile.locator(".figure").inner_text()
        assert page.get_by_text("Newly failing").first.is_visible()
        press(page, "kinds")
        assert page.get_by_role("columnheader", name="Kind", exact=True).is_visible()
        page.get_by_role("button", name="Next", exact=True).click()
        page_settled(page)
        assert page.get_by_text("21 to ").first.is_visible()
        type_in(page, "File", str(tmp_path / "changes.csv"))
        press(page, "Export changes as CSV")
        assert page.get_by_text("changed values to").is_visible()
        assert 1 + number == (tmp_path / "changes.csv").read_bytes().count(b"\r\n")
        assert [] == violations(page)

        page.get_by_label("Old and new values", exact=True).locator("tbody tr").first.click()
        page_settled(page)
        assert "products" == app.session.section
        assert app.session.product_id is not None


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_width_and_theme(compared: list[prodex.Catalog], browser: Browser, scheme: str) -> None:
    """Nothing is wider than the panel, and the checker of accessibility has no complaint; charts have words."""
    app = App(Session(compared[1], section="snapshots"))
    with shown(app, browser, scheme=scheme, direction="rtl" if scheme == "dark" else "ltr") as page:
        press(page, "Compare")
        for width in (1440, 800, 600):
            page.set_viewport_size({"width": width, "height": 1000})
            scroll, client = page.locator(".prodex").evaluate(_WIDER)
            assert scroll <= client + 1, width
        assert [] == violations(page)
        assert 2 == page.locator("svg.chart[role=img]").count()
        assert {"110", "115"} == {*page.locator("svg.chart text.label").all_text_contents()}
        assert page.locator("svg.chart title").count() > 2


def test_a_pair_is_chosen_and_pressed_at_once(saved: list[prodex.Catalog], browser: Browser) -> None:
    """A press sees what was chosen before it; the same twice is refused beside the field."""
    app = App(Session(saved[1], section="snapshots"))
    with shown(app, browser) as page:
        newest = app.session.catalog.folder
        page.get_by_label("From", exact=True).select_option(index=0)
        press(page, "Compare")
        assert "Both are the same snapshot" in page.locator(".field .problem").inner_text()
        page.get_by_label("From", exact=True).select_option(index=1)
        page.get_by_role("button", name="Compare", exact=True).click()
        page_settled(page)
        assert 0 == page.locator(".field .problem").count()
        assert app.session.difference is not None
        assert (saved[0].folder, newest) == (
            app.session.difference.old.folder,
            app.session.difference.new.folder,
        )


def test_what_suppliers_typed_is_shown_letter_by_letter(browser: Browser) -> None:
    """Names of groups, titles of rules and values run nothing, and no formula is typeset."""
    catalog = hostile.catalog().save("hostile")
    spoiled = [json.loads(text) for text in catalog.raw["json"]]
    french = {"code": "fra-FR", "normalizedCode": "fr"}
    for record, text in zip(spoiled, hostile.STRINGS, strict=False):
        record["namePublicLong"] = [{"expressedIn": french, "data": f"new {text}"}]
    app = App(Session(prodex.flatten(spoiled).save("hostile"), section="snapshots"))
    with shown(app, browser, scheme="dark") as page:
        press(page, "Compare")
        texts: list[str] = []
        values = page.get_by_label("Old and new values", exact=True)
        while True:
            texts += values.locator("bdi").all_text_contents()
            following = page.get_by_role("button", name="Next", exact=True)
            if not following.count() or following.get_attribute("aria-disabled"):
                break
            following.click()
            page_settled(page)
        for text in hostile.STRINGS:
            # What its marks of direction leave open is closed behind it.
            assert any(one.startswith(f"new {text}") for one in texts), text
        assert 0 == page.locator(".prodex script, .prodex img, .prodex svg:not(.chart)").count()
        assert [] == violations(page)

"""The section that loads products, filled in and pressed as an analyst would, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.load import as_python, asked_of
from prodex.query import SEARCH_FIELDS, ProductQuery
from prodex.sandbox import Sandbox
from prodex_sandbox.faults.kinds import Fault

from .one_browser import page_settled, press, shown, type_in, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.xdist_group("one browser")

CANARY = "<img src='http://127.0.0.1:9/x.png' onerror='alert(1)'> $5 or $6 \\(x\\) مرحبا 🧨"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is saved in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def app(service: prodex.service.Client) -> App:
    """Open the section over a catalogue of one product."""
    return App(Session(prodex.flatten([{"id": 7}]), service=service, section="load"))


def query(app: App) -> ProductQuery:
    found = asked_of(app.session).query
    assert found is not None
    return found


def fold(page: Page, title: str) -> None:
    page.get_by_role("button", name=title).click()
    page_settled(page)


def test_filters_are_filled_in_counted_and_loaded(app: App, browser: Browser) -> None:
    """Market, packshot, status, dates, words and GTINs reach Python; the count follows; Load gives the catalogue."""
    with shown(app, browser) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        assert page.get_by_text("600 products match").is_visible()
        page.get_by_label("Target market").select_option("France (250)")
        fold(page, "GTINs, owners")
        page.get_by_label("Packshot (picture of the packed product)").select_option("with a packshot")
        page_settled(page)
        assert ProductQuery(target_market=250, has_packshot=True) == query(app)
        assert page.get_by_text(re.compile(r"^\d+ products match$")).is_visible()

        fold(page, "Status, sharing")
        accepted = page.get_by_role("button", name="Accepted")
        accepted.focus()
        page.keyboard.press("Space")
        page_settled(page)
        assert ("ACCEPTED",) == query(app).target_productstatus_in
        page.keyboard.press("Enter")  # the focus is still there
        page_settled(page)
        assert query(app).target_productstatus_in is None

        page.get_by_label("Updated from (UTC)", exact=True).fill("2020-03-01T12:30:05")
        page.keyboard.press("Tab")
        page_settled(page)
        assert "2020-03-01T12:30:05+00:00" == query(app).updated_at_from.isoformat()  # type: ignore[union-attr]
        press(page, "last month")
        assert page.get_by_label("Updated from (UTC)", exact=True).input_value().endswith("-01T00:00")
        press(page, "any time")
        assert "" == page.get_by_label("Updated from (UTC)", exact=True).input_value()

        type_in(page, "Word 1", "a")
        press(page, "+ Add a word")
        page.get_by_label("Word 2", exact=True).fill(CANARY)
        page_settled(page)
        assert CANARY == query(app).search[1][0]  # type: ignore[index]
        for title in ("Python code", "Request as JSON"):
            fold(page, title)
        page.get_by_label("Python code of the query").focus()
        page.keyboard.press("Control+A")
        page.keyboard.press("Control+C")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert f"search=(('a', ({SEARCH_FIELDS[0]!r}," in copied
        assert as_python(query(app), None, None) == copied.replace("\r\n", "\n")
        page.get_by_role("button", name="Remove").nth(1).click()
        type_in(page, "Word 1", "")
        page_settled(page)
        assert query(app).search is None

        page.get_by_label("GTINs", exact=True).fill("GTIN\n3036811359935\nabc")
        page_settled(page)
        assert page.get_by_text("Left out, not GTINs: GTIN, abc.").is_visible()
        assert ("03036811359935",) == query(app).gtins_in
        page.get_by_label("GTINs", exact=True).fill("abc")
        page_settled(page)
        assert page.get_by_text("There is no GTIN here, but abc").is_visible()
        assert "true" == page.get_by_label("GTINs", exact=True).get_attribute("aria-invalid")
        load = page.get_by_role("button", name="Load products")
        assert "true" == load.get_attribute("aria-disabled")
        load.click(force=True)
        page_settled(page)
        assert 1 == len(app.session.catalog)

        press(page, "Clear all filters")
        assert page.get_by_text("600 products match").is_visible()
        assert "" == page.get_by_label("GTINs", exact=True).input_value()
        assert "any market" == page.get_by_label("Target market").locator("option:checked").inner_text()
        type_in(page, "Name of the snapshot", "from-browser")
        press(page, "Load products")
        assert page.get_by_text("600 of 600 products, complete.").is_visible()
        assert page.get_by_text("All sections show these products now.").is_visible()
        assert (600, True) == (len(app.session.catalog), app.session.catalog.complete)
        assert 600 == len(prodex.open_snapshot("from-browser"))


@pytest.mark.parametrize(
    ("width", "scheme", "direction"), [(600, "light", "rtl"), (1440, "dark", "ltr"), (600, "dark", "ltr")]
)
def test_everything_fits_and_can_be_read(
    app: App, browser: Browser, width: int, scheme: str, direction: str
) -> None:
    """Nothing is wider than the page, and a checker of accessibility finds nothing, with errors and all folds open."""
    with shown(app, browser, width=width, scheme=scheme, direction=direction) as page:
        for title in (
            "Status,",
            "GTINs, owners",
            "Languages and",
            "Other filters",
            "Python code",
            "Request as",
        ):
            fold(page, title)
        page.get_by_label("Owners (suppliers), by number").fill("Acme")
        page.get_by_label("Word 1", exact=True).fill("x" * 60)
        page_settled(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert [] == violations(page)


def test_half_a_date_is_said_to_be_half(app: App, browser: Browser) -> None:
    """A date of which a part was typed is no filter that is silently left out."""
    with shown(app, browser) as page:
        page.get_by_label("Updated from (UTC)", exact=True).click()
        page.keyboard.type("0301")
        page.keyboard.press("Shift+Tab")
        page.get_by_label("Word 1", exact=True).click()
        page_settled(page)
        assert page.get_by_text("This is not a whole date and time.").is_visible()


def test_owners_and_languages_are_added_by_name(app: App, browser: Browser) -> None:
    """The list is ready for the next name, and what was typed before stays."""
    with shown(app, browser) as page:
        fold(page, "GTINs, owners")
        fold(page, "Languages and fields")
        page.get_by_label("Owners (suppliers), by number").fill("7")
        names = page.get_by_label("Add an owner by name")
        for place in (1, 2):
            names.select_option(index=place)
            page_settled(page)
        assert "select …" == names.locator("option:checked").inner_text()
        assert 3 == len(query(app).owners_in or ())
        page.get_by_label("Add a language by name").select_option("French (fr)")
        page.get_by_label("Return", exact=True).select_option("pictures only")
        page_settled(page)
        assert "assets.pictures" == page.get_by_label("Paths to return").input_value()
        assert "fr" == page.get_by_label("Languages", exact=True).input_value()
        page.get_by_label("Paths to return").fill("brand")
        page_settled(page)
        assert "other paths" == page.get_by_label("Return", exact=True).locator("option:checked").inner_text()


@pytest.mark.slow
def test_a_load_is_watched_and_cancelled(app: App, browser: Browser, sample_exchange: Sandbox) -> None:
    """The bar moves, Cancel stops after the page in flight, and Load goes on from there; in the dark too."""
    with shown(app, browser, scheme="dark", width=700) as page:
        sample_exchange.order(Fault("latency", at=range(4, 10**6), seconds=2))
        try:
            page.get_by_role("button", name="Load products").click()
            page.get_by_text("of 600 products, ").wait_for()
            page.get_by_label("Name of the snapshot").fill("typed while it loads")
            page.get_by_role("button", name="Cancel").click()
            page.get_by_text("kept: “Load products” continues from there.").wait_for()
        finally:
            sample_exchange.clear_faults()
        page_settled(page)
        assert 1 == len(app.session.catalog)
        assert page.get_by_text("1 load is not finished").is_visible()
        press(page, "Continue this load")
        assert page.get_by_text("600 of 600 products, complete.").is_visible()
        assert 600 == len(app.session.catalog)

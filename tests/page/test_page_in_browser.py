"""The page of `prodex open` in a real browser: the tasks that read, each tab by itself, and nothing asked elsewhere."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from openpyxl import load_workbook

from .opened import CHANGED, OpenedPage, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("page")]

_PATIENCE = 60_000
#: Where a row of the products is, and how many there are.
_ROWS, _COUNT = ".prodex tbody tr", 120


@dataclass
class Visit:
    """One browser on the page, with what it has asked for.

    Attributes
    ----------
    page
        What is seen.
    clicks
        How often somebody has clicked.
    outside
        Addresses of others that were asked for.
    errors
        What scripts reported.
    posted
        What was sent to the server, and with which headers.
    """

    page: Page
    own: str
    clicks: int = 0
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    posted: list[tuple[str, dict[str, str], str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", self._heard)
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()))
        self.page.on(
            "console",
            lambda told: self.errors.append(told.text) if "Content Security Policy" in told.text else None,
        )

    def _heard(self, request: Any) -> None:
        self._note(request.url)
        if request.method == "POST":
            self.posted.append((request.url, request.headers, request.post_data or ""))

    def _note(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != self.own:
            self.outside.append(address)

    @property
    def panel(self) -> Locator:
        """The panel, once nothing in it is under way."""
        self.page.locator(".prodex[data-under-way='0']").first.wait_for()
        return self.page.locator(".prodex").first

    def click(self, target: Locator) -> None:
        """Click as somebody does, and wait until it is done."""
        target.click()
        self.clicks += 1
        assert self.panel

    def button(self, name: str, *, exact: bool = True) -> Locator:
        """Return a button of the panel by its words."""
        return self.panel.get_by_role(
            "button", name=name if exact else re.compile(f"^{re.escape(name)}")
        ).first

    def says(self, words: str) -> None:
        """Wait until words can be read."""
        self.panel.get_by_text(words).first.wait_for()


@contextmanager
def visited(browser: Browser, opened_page: OpenedPage, **options: Any) -> Iterator[Visit]:
    """Look at a page with a browser of its own; afterwards, nobody else was asked for anything."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce", **options)
    context.set_default_timeout(_PATIENCE)
    try:
        with in_a_tab(context, opened_page) as visit:
            yield visit
    finally:
        context.close()


@contextmanager
def in_a_tab(context: BrowserContext, opened_page: OpenedPage) -> Iterator[Visit]:
    """Look at a page in a new tab, which has a session of its own; afterwards, nobody else was asked for anything."""
    visit = Visit(context.new_page(), urlsplit(opened_page.address).netloc)
    try:
        visit.page.goto(opened_page.address)
        yield visit
        assert ([], []) == (visit.outside, visit.errors)
    finally:
        visit.page.close()


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[BrowserContext]:
    """Give one browser to all tasks that read: it keeps the scripts of the page, which are large."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(_PATIENCE)
    # The process that draws ends with the last tab.
    context.new_page()
    yield context
    context.close()


@pytest.fixture(scope="module")
def shown(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedPage]:
    """Serve the shop to all tests that read it; at the end its server has asked nobody for anything."""
    with opened(tmp_path_factory.mktemp("shown"), shop, "shop") as page:
        yield page
        assert [] == page.asked


def test_the_tasks_that_read(reader: BrowserContext, shown: OpenedPage) -> None:
    """Filter, search, card, figures of the audit, coverage and comparison work as in a notebook."""
    with in_a_tab(reader, shown) as visit:
        visit.says(f"1 to 50 of {_COUNT} products")
        assert ["Products", "Quality", "Coverage", "Snapshots"] == visit.panel.locator(
            "[data-block=sections] button"
        ).all_inner_texts()
        brand = visit.panel.get_by_role("group", name="Brand").locator("button.value").first
        visit.click(brand)
        visit.says(f"({_COUNT} in all)")
        visit.click(visit.page.locator(_ROWS).first)
        visit.says("Texts by language")
        assert 0 == visit.panel.get_by_role("button", name=re.compile("Correct|Edit ")).count()
        visit.click(visit.button("✕ Close"))
        visit.click(visit.button("← Back"))
        visit.says(f"1 to 50 of {_COUNT} products")
        visit.click(visit.button("Quality"))
        visit.says("Download worklists")
        assert 0 == visit.panel.get_by_text(re.compile("Accept .*finding|Save audit")).count()
        visit.click(visit.button("Coverage"))
        visit.panel.locator("table").first.wait_for()
        visit.click(visit.button("Snapshots"))
        visit.click(visit.button("Compare"))
        visit.says("changed values")
        visit.click(visit.button(f"Show {CHANGED} products"))
        visit.says(f"1 to {CHANGED} of {CHANGED} products")


def test_two_snapshots_open_with_what_changed(browser: Browser, shop: Path, tmp_path: Path) -> None:
    """In whichever order they are named: what changed is in sight without a click, dark where the browser is.

    Settings of marimo in the folder where it was started are not those of the page; relative paths mean that folder.
    """
    (tmp_path / ".marimo.toml").write_text('[display]\ntheme = "light"\n', "utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.marimo.display]\ntheme = "light"\n', "utf-8")
    home = Path(os.path.relpath(shop, tmp_path))
    with (
        opened(tmp_path, home, "shop", "shop@2026-11-20") as page,
        visited(browser, page, color_scheme="dark") as visit,
    ):
        changed = visit.panel.locator("[data-block=Changed]")
        changed.wait_for()
        box = changed.bounding_box()
        assert str(CHANGED) in changed.inner_text()
        assert box is not None
        assert box["y"] + box["height"] < 900
        assert "is-dark" in str(visit.panel.get_attribute("class"))
        assert "shop, 2026-11-20" in str(
            visit.panel.get_by_label("From").evaluate("one => one.selectedOptions[0].text")
        )
        assert [] == page.asked
        # Ctrl-C ends it with a browser on it as well.
        assert (0, "") == page.end()
        assert "Traceback" not in page.said


def test_each_tab_has_a_session_of_its_own(browser: Browser, shown: OpenedPage) -> None:
    """What one filters, another does not see: of two browsers, and of two tabs of one."""
    with visited(browser, shown) as one, visited(browser, shown) as other:
        second = Visit(one.page.context.new_page(), one.own)
        second.page.goto(shown.address)
        for visit in (one, other, second):
            visit.says(f"1 to 50 of {_COUNT} products")
        one.click(one.panel.get_by_role("group", name="Brand").locator("button.value").first)
        one.says(f"({_COUNT} in all)")
        for visit in (other, second):
            assert visit.panel.get_by_text(f"1 to 50 of {_COUNT} products").first.is_visible()
        assert ([], []) == (second.outside, second.errors)


def test_a_forged_message_of_the_page_is_refused(browser: Browser, shown: OpenedPage, shop: Path) -> None:
    """Whoever writes to the server by hand, with the page's own cookie and token, saves no view."""
    with visited(browser, shown) as visit:
        visit.click(visit.button("Next"))
        url, headers, body = next(one for one in reversed(visit.posted) if ".turn" in one[2])
        said = re.sub(r'"do":\s*"[a-z]+\.turn"', '"do": "views.remove"', body)
        said = re.sub(r'"args":\s*\{[^}]*\}', '"args": {"name": "x"}', said)
        said = re.sub(r'"number":\s*(\d+)', lambda found: f'"number": {int(found[1]) + 1}', said)
        kept = {
            name: value for name, value in headers.items() if name not in {"content-length", "host", "cookie"}
        }
        status = visit.page.evaluate(
            "async ([url, headers, body]) => (await fetch(url, { method: 'POST', headers, body })).status",
            [url, kept, said],
        )
        assert 200 == status
        visit.says("views.remove is not allowed in this page")


def test_the_browser_asks_nobody_else_whatever_a_script_wants(browser: Browser, shown: OpenedPage) -> None:
    """A script that came in somehow cannot send away what is shown: the browser has been told so."""
    with visited(browser, shown) as visit:
        visit.says(f"1 to 50 of {_COUNT} products")
        reached = visit.page.evaluate(
            """async () => {
                const fetched = await fetch("http://127.0.0.1:9/stolen").then(() => "sent", () => "refused");
                const drawn = await new Promise((resolve) => {
                    const told = ({ blockedURI }) => blockedURI.endsWith(".png") && resolve(blockedURI);
                    document.addEventListener("securitypolicyviolation", told);
                    new Image().src = "http://127.0.0.1:9/stolen.png";
                });
                return [fetched, drawn];
            }"""
        )
        assert ["refused", "http://127.0.0.1:9/stolen.png"] == reached
        # This script has asked for it, and the browser has told of both.
        assert all("127.0.0.1:9" in one for one in (*visit.outside, *visit.errors))
        visit.outside.clear()
        visit.errors.clear()


# A category manager's three tasks, as the page of docs tells them.


def test_what_is_missing_for_one_brand(reader: BrowserContext, shown: OpenedPage) -> None:
    """Two clicks: the brand, and Quality; a third lists the products of a gap."""
    with in_a_tab(reader, shown) as visit:
        brand = visit.panel.get_by_role("group", name="Brand").locator("button.value").first
        name = brand.inner_text().split("\n")[0].lstrip("☐ ").strip()
        visit.click(brand)
        visit.click(visit.button("Quality"))
        visit.says(f"Brand: {name}")
        assert 2 == visit.clicks
        gap = visit.panel.locator("[data-block=gaps] button").first
        visit.click(gap)
        visit.panel.locator("table").first.wait_for()
        assert 3 == visit.clicks


def test_what_changed_since_friday(reader: BrowserContext, shown: OpenedPage) -> None:
    """Two clicks, or none where the page was opened with both; a third lists the products."""
    with in_a_tab(reader, shown) as visit:
        visit.click(visit.button("Snapshots"))
        visit.click(visit.button("Since ", exact=False))
        visit.says("changed values")
        assert 2 == visit.clicks
        visit.click(visit.button(f"Show {CHANGED} products"))
        visit.says(f"1 to {CHANGED} of {CHANGED} products")


def test_a_list_for_a_supplier(reader: BrowserContext, shown: OpenedPage, tmp_path: Path) -> None:
    """Three clicks: the supplier, Quality, and its worklist, which the browser saves as one workbook."""
    with in_a_tab(reader, shown) as visit:
        visit.click(visit.panel.get_by_role("group", name="Owner").locator("button.value").first)
        visit.click(visit.button("Quality"))
        with visit.page.expect_download() as saving:
            visit.click(visit.button("Download worklists"))
        assert 3 == visit.clicks
        path = tmp_path / saving.value.suggested_filename
        saving.value.save_as(path)
        assert load_workbook(path).sheetnames
        visit.says(f"Your browser saves {path.name}")


def test_the_table_as_it_is_shown_is_saved_by_the_browser(
    reader: BrowserContext, shown: OpenedPage, tmp_path: Path
) -> None:
    """With all products that are shown, on every page of it."""
    with in_a_tab(reader, shown) as visit:
        visit.click(visit.button("Export", exact=False))
        with visit.page.expect_download() as saving:
            visit.click(visit.button(f"Download {_COUNT} products"))
        path = tmp_path / "saved.csv"
        saving.value.save_as(path)
        assert _COUNT + 1 == len([*csv.reader(io.StringIO(path.read_text("utf-8-sig")))])

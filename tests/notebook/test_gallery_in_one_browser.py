"""Products by their pictures as somebody uses them: nothing is loaded unasked, and all keys reach every picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.gallery_pictures import CONSENT
from prodex.notebook.widget import explore
from tests.pictures import drawn
from tests.pictures.file_server import FileServer, serving

from .one_browser import in_kernel, page_settled, press, shown, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE, TALL = drawn.picture(300, 200, colour="olive"), drawn.picture(200, 300, colour="navy")
#: What a record says of a picture whose file is another by now.
LOST = drawn.picture(120, 120, colour="red")
FOCUSED = "document.activeElement?.dataset.key"


@pytest.fixture(autouse=True)
def nobody_has_consented() -> Iterator[None]:
    """A consent is for the kernel, and each test is one of its own."""
    before, CONSENT.is_given = CONSENT.is_given, False
    yield
    CONSENT.is_given = before


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as served:
        yield served


@pytest.fixture
def catalog(server: FileServer) -> prodex.Catalog:
    """30 products of three brands: of each ten, one has a broken picture and one none."""
    good, tall, broken = (
        server.serve("/wide.jpg", WIDE),
        server.serve("/tall.jpg", TALL),
        server.serve("/broken.jpg", b"no picture"),
    )
    made = []
    for number in range(30):
        url, content = (broken, LOST) if number % 10 == 3 else (tall, TALL) if number % 2 else (good, WIDE)
        pictures = [] if number % 10 == 5 else [drawn.told(url, content, isPackshot=True)]
        name = [{"expressedIn": {"code": "fra-FR"}, "data": f"<i>{number}</i> {'Ice ' * (number % 7)}"}]
        brand = {"code": f"B{number % 3}", "label": f"Brand {number % 3}"}
        made.append(drawn.product(number, *pictures, brand=brand, namePublicLong=name))
    # One picture is elsewhere, so that somebody has to say yes.
    made[1]["assets"]["pictures"].append(drawn.told("https://pictures.example/more.jpg", WIDE))
    return drawn.catalog(server.base_url, made)


def key(page: Page, *names: str) -> str | None:
    for name in names:
        page.keyboard.press(name)
    page_settled(page)
    found: str | None = page.evaluate(FOCUSED)
    return found


def test_pictures_stand_in_even_rows_once_somebody_has_agreed(
    catalog: prodex.Catalog, server: FileServer, browser: Browser
) -> None:
    """Nobody is asked before the press; then they are there as bytes, and what is broken says so in its place."""
    app = explore(catalog, show="gallery").app
    outside: list[str] = []
    with shown(app, browser) as page:
        page.on("request", lambda request: outside.append(request.url))
        assert [] == server.paths
        assert 24 == page.locator("li.tile").count()
        press(page, "Show pictures")
        page.wait_for_function(
            "() => [...document.querySelectorAll('li.tile img')].every((one) => one.complete && one.naturalWidth)"
        )
        assert 19 == page.locator("li.tile img").count()
        assert {"/wide.jpg", "/tall.jpg", "/broken.jpg"} == set(server.paths)
        sides = page.locator(".frame").evaluate_all(
            "all => all.map((one) => [one.offsetWidth, one.offsetHeight].join())"
        )
        assert 1 == len(set(sides))
        tops = page.locator("li.tile").evaluate_all("all => new Set(all.map((one) => one.offsetTop)).size")
        assert tops < 24
        assert 3 == page.locator(".frame.is-broken").count()
        assert page.get_by_role("button", name="Try again (3)").count()
        assert "<i>0</i>" in page.locator("li.tile .name").first.inner_text()
        # The browser asks nobody: pictures come through the kernel.
        assert [] == [one for one in outside if not one.startswith("blob:")]
        assert [] == [one for one in violations(page) if "product-gallery" in str(one) or "tile" in str(one)]


def test_all_pictures_are_reached_by_keyboard(
    catalog: prodex.Catalog, server: FileServer, browser: Browser
) -> None:
    """Tab reaches one picture, arrows move among rows and pages, Space selects, Return opens, Escape closes."""
    app = explore(catalog, show="gallery").app
    with shown(app, browser) as page:
        page.locator("li.tile[tabindex='0']").focus()
        across = page.locator("li.tile").evaluate_all(
            "all => all.filter((one) => one.offsetTop === all[0].offsetTop).length"
        )
        for names, number in (
            (["ArrowRight"], 1),
            (["ArrowDown"], 1 + across),
            (["ArrowUp"], 1),
            (["ArrowLeft"], 0),
            (["ArrowLeft"], 0),
            (["End"], 23),
            (["ArrowRight"], 24),
            (["PageUp"], 23),
            (["PageDown"], 24),
            (["ArrowUp"], 23),
        ):
            assert f"tile/0/{number}" == key(page, *names), names
            assert 1 == page.locator("li.tile[tabindex='0']").count()
        key(page, "Home", " ", "ArrowRight", "ArrowRight", "Shift+ ")
        assert ("0", "1", "2") == app.session.selected
        assert "true" == page.locator("li.tile").first.get_attribute("aria-selected")
        assert ("tile/0/2", "2") == (key(page, "Enter"), app.session.product_id)
        assert ("tile/0/3", "3") == (key(page, "ArrowRight"), app.session.product_id)
        assert "true" == page.locator("li.tile").nth(3).get_attribute("aria-current")
        assert ("tile/0/3", None) == (key(page, "Escape"), app.session.product_id)
        page.locator("li.tile").nth(7).dblclick()
        page_settled(page)
        page.locator(".pane textarea").first.wait_for()
        assert "7" == app.session.product_id
        assert [] == server.paths


def test_it_takes_the_place_of_the_table(catalog: prodex.Catalog, browser: Browser) -> None:
    """The switch keeps conditions, selection and card; groups are narrowed by their label; rows show small pictures."""
    app = App(Session(catalog))
    with shown(app, browser) as page:
        page.locator(".product-table tbody tr").nth(2).get_by_role("checkbox").click()
        press(page, "Gallery")
        assert 0 == page.locator(".product-table").count()
        assert "tile/0/2" == page.locator("li.tile.selected").get_attribute("data-key")
        press(page, "Show pictures")
        page.get_by_label("Group by").select_option(label="Brand")
        page_settled(page)
        press(page, "Brand 1")
        assert ("B1",) == app.session.conditions.groups["brand"]
        keys = page.locator("li.tile").evaluate_all("all => all.map((one) => one.dataset.key)")
        assert [f"tile/0/{n}" for n in range(1, 30, 3)] == keys
        page.locator("li.tile").first.click()
        page_settled(page)
        press(page, "Table")
        assert "true" == page.locator(".product-table tbody tr").first.get_attribute("aria-current")
        page.get_by_role("button", name="Columns and rows").click()
        page.get_by_role("checkbox", name="Pictures").check()
        page_settled(page)
        page.locator(".product-table td.thumb img[src^='blob:']").first.wait_for()
        assert 10 == page.locator(".product-table tbody tr").count()
        page.get_by_role("button", name="Gallery by Brand").click()
        page_settled(page)
        assert page.locator(".product-gallery h3").first.is_visible()


def test_a_page_that_is_opened_later_has_the_pictures_as_well(
    catalog: prodex.Catalog, browser: Browser
) -> None:
    """Also those of a page that is turned back to, which the first page was sent before."""
    CONSENT.is_given = True
    app = explore(catalog, show="gallery").app
    drawn_ = "() => [...document.querySelectorAll('li.tile img')].every((one) => one.naturalWidth)"
    with shown(app, browser) as first:
        first.wait_for_function(drawn_)
        in_kernel(lambda: app.act("gallery.turn", by=1))
        page_settled(first)
        with shown(app, browser) as second:
            in_kernel(lambda: app.act("gallery.turn", by=-1))
            for page in (second, first):
                page_settled(page)
                assert 19 == page.locator("li.tile img").count()
                page.wait_for_function(drawn_)

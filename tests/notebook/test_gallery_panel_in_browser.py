"""The gallery as somebody uses it: by keyboard, in both themes, with broken pictures, and asking nobody unbidden."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pictures import drawn
from tests.pictures.file_server import FileServer, serving
from tests.pictures.test_gallery import EVIL

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

ROOT = str(Path(__file__).parents[2])
GOOD, OTHER = drawn.picture(300, 200, colour="olive"), drawn.picture(200, 300, colour="navy")
#: 30 products of three brands. The fourth of ten has a picture that is damaged, the sixth none.
CATALOG = """
    import sys; sys.path.insert(0, ROOT)
    import prodex as px
    from tests.pictures import drawn
    from prodex.notebook.gallery.product_gallery import CONSENT
    from tests.pictures.test_gallery import EVIL, text
    CONSENT.is_given = False  # of whoever pressed before in this kernel
    good, other = drawn.picture(300, 200, colour="olive"), drawn.picture(200, 300, colour="navy")
    def pictures(n):
        path, content = ("/broken.jpg", other) if n % 10 == 3 else ("/good.jpg", good)
        # One picture is elsewhere, so that somebody has to say yes.
        more = [drawn.told("https://pictures.example/more.jpg", other)] if n == 1 else []
        return [] if n % 10 == 5 else [drawn.told(URL + path, content, isPackshot=True), *more]
    def product(n):
        brand = {"code": f"B{n % 3}", "label": f"Brand {n % 3}"}
        name = text(EVIL[n] if n < len(EVIL) else f"Product {n}")
        return drawn.product(n, *pictures(n), brand=brand, namePublicLong=name)
    catalog = drawn.catalog(URL, [product(n) for n in range(30)])
"""
_TILE = "document.activeElement.dataset.key ?? document.activeElement.tagName"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as served:
        served.serve("/good.jpg", GOOD)
        served.serve("/broken.jpg", b"<script>alert(1)</script>")
        yield served


def _cells(server: FileServer, panel: str) -> list[str]:
    return [f"ROOT, URL = {ROOT!r}, {server.base_url!r}", CATALOG, f"panel = {panel}\npanel"]


def _tiles(out: Locator) -> list[str]:
    return [str(key) for key in out.locator("li.tile").evaluate_all("all => all.map(one => one.dataset.key)")]


def _focus(page: Page) -> str:
    return str(page.evaluate(_TILE))


def test_pictures_come_when_they_are_wanted(lab: Lab, browser: Browser, server: FileServer) -> None:
    """Nobody is asked before the press; then pictures stand in even rows, and what is broken says so in its place."""
    with lab.opened(browser, _cells(server, "px.GalleryPanel(catalog)")) as notebook:
        notebook.run(0)
        notebook.run(1)
        out = notebook.run(2)
        out.locator("li.tile").nth(23).wait_for()
        assert "27 of 30 products have a picture." in out.inner_text()
        assert list(EVIL[:4]) == out.locator("li.tile .name").all_text_contents()[:4]
        assert [] == server.paths
        assert {} == notebook.violations_of_each_scheme(2)

        out.get_by_role("button", name="Show pictures").click()
        out.get_by_role("button", name="Try again (3)").wait_for()
        out.locator("li.tile img").nth(18).wait_for()
        sizes = out.locator("li.tile img").evaluate_all(
            "all => Promise.all(all.map(one => one.decode().then(() => [one.complete, one.naturalWidth])))"
        )
        assert [[True, 256]] * 19 == sizes
        assert 3 == out.locator(".frame.broken").count()
        assert 2 == out.locator(".frame.missing", has_text="no picture").count()
        heights = set(out.locator("li.tile").evaluate_all("all => all.map(one => one.offsetHeight)"))
        assert 1 == len(heights)
        assert {} == notebook.violations_of_each_scheme(2)

        # The second page has pictures that are there already; of a broken one it is known that it is.
        asked = len(server.paths)
        out.get_by_role("button", name="Next").click()
        out.locator("li.tile[data-key='tile/24']").wait_for()
        assert 6 == out.locator("li.tile").count()
        notebook.wait_until_idle()
        assert {"/good.jpg", "/broken.jpg"} >= set(server.paths[asked:])
        assert [[], []] == [notebook.outside, notebook.errors]
        assert 0 == out.locator("script, svg, mjx-container").count()


def test_by_keyboard_alone(lab: Lab, browser: Browser, server: FileServer) -> None:
    """Tab reaches one picture, arrows move among rows and pages, Space selects, Return opens, Escape closes."""
    with lab.opened(browser, _cells(server, "px.GalleryPanel(catalog)")) as notebook:
        page = notebook.page
        notebook.run(0)
        notebook.run(1)
        out = notebook.run(2)
        out.locator("li.tile").nth(23).wait_for()
        assert 1 == out.locator("li.tile[tabindex='0']").count()
        assert "listbox" == out.locator("ul.tiles").get_attribute("role")
        out.get_by_label("Size").focus()
        page.keyboard.press("Tab")
        tops = out.locator("li.tile").evaluate_all("all => all.map(one => one.getBoundingClientRect().top)")
        in_row = tops.count(tops[0])
        for key, place in (
            ("Home", 0),
            ("ArrowRight", 1),
            ("ArrowDown", 1 + in_row),
            ("ArrowUp", 1),
            ("ArrowLeft", 0),
            ("End", 23),
        ):
            page.keyboard.press(key)
            page.wait_for_function(f"({_TILE}) === 'tile/{place}'")

        def told(expression: str, expected: Any) -> None:
            notebook.wait_for(f"{expression} == {expected!r}", 20)

        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"({_TILE}) === 'tile/24'")
        page.keyboard.press("PageUp")
        page.wait_for_function(f"({_TILE}) === 'tile/23'")
        assert ["tile/23"] == out.locator("li.tile[tabindex='0']").evaluate_all(
            "all => all.map(one => one.dataset.key)"
        )
        page.keyboard.press("Home")
        page.keyboard.press(" ")
        told("panel.selected", ("0",))
        assert "tile/0" == _focus(page)
        assert "true" == out.locator("li.tile").first.get_attribute("aria-selected")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ ")
        told("panel.selected", ("0", "1", "2"))
        page.keyboard.press("Enter")
        told("panel.exploration.product_id", "2")
        page.keyboard.press("ArrowRight")
        told("panel.exploration.product_id", "3")
        assert "true" == out.locator("li.tile").nth(3).get_attribute("aria-current")
        page.keyboard.press("Escape")
        told("panel.exploration.product_id", None)
        assert "tile/3" == _focus(page)
        assert [] == server.paths
        assert [] == notebook.errors


def test_it_takes_the_place_of_the_table(lab: Lab, browser: Browser, server: FileServer) -> None:
    """The switch keeps conditions, selection and card; groups are narrowed by their label; rows show small pictures."""
    with lab.opened(browser, _cells(server, "px.CatalogExplorer(catalog)")) as notebook:
        notebook.run(0)
        notebook.run(1)
        out = notebook.run(2)
        out.locator(".product-grid tbody tr").nth(2).locator("input").click()
        out.get_by_role("button", name="Gallery", exact=True).click()
        out.locator("li.tile").nth(23).wait_for()
        assert not out.locator(".product-grid").is_visible()
        assert ["tile/2"] == out.locator("li.tile.selected").evaluate_all(
            "all => all.map(one => one.dataset.key)"
        )
        assert [] == server.paths

        out.get_by_role("button", name="Show pictures").click()
        out.get_by_role("button", name="Try again (3)").wait_for()
        out.get_by_label("Group by").select_option("Brand")
        out.locator(".gallery h3 .value", has_text="Brand 1").click()
        notebook.wait_for("len(panel.catalog) == 10", 20)
        out.locator("li.tile[data-key='tile/28']").wait_for()
        assert [f"tile/{n}" for n in range(1, 30, 3)] == _tiles(out)

        out.locator("li.tile").first.click()
        out.locator(".pane .prodex").first.wait_for()
        assert [] == notebook.violations(2)
        out.get_by_role("button", name="Table", exact=True).click()
        out.get_by_role("button", name="Columns and rows").click()
        out.get_by_role("checkbox", name="Pictures").check()
        out.locator(".product-grid td.thumb img").first.wait_for()
        assert out.locator(".product-grid tbody tr").nth(0).get_attribute("aria-current") == "true"
        assert 10 == out.locator(".product-grid tbody tr").count()
        assert [] == notebook.violations(2)
        out.get_by_role("button", name="Gallery by Brand").click()
        out.locator(".gallery h3 .value", has_text="Brand 1").wait_for()
        assert [[], []] == [notebook.outside, notebook.errors]

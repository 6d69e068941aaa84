"""The contact sheet in a real browser: it runs nothing of a supplier's, asks nobody, and everybody can use it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from prodex.pictures import gallery

from .file_server import FileServer
from .test_gallery import EVIL, hostile

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them


def _missing(what: str) -> NoReturn:
    """Skip with a word; where everything is checked, nothing may be left out."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI needs it")
    pytest.skip(f"{what} is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        _missing("chromium")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        opened = playwright.chromium.launch(executable_path=path, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any, server: FileServer, tmp_path: Path) -> Iterator[Any]:
    """Open the sheet of hostile products; it must have asked for nothing but itself, and have said nothing."""
    path = gallery(hostile(server), packshots_only=False).to_html(tmp_path / "sheet.html")
    server.asked.clear()
    asked: list[str] = []
    said: list[str] = []
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.on("request", lambda request: asked.append(request.url))
    context.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert [path.as_uri()] == [url for url in asked if not url.startswith("data:")]
    assert [] == [*said, *server.paths]


def test_what_suppliers_typed_is_shown_and_nothing_else_happens(page: Any) -> None:
    """Every picture is drawn, every text stands there as it was typed, and the title is ours."""
    sizes = page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth)")
    names = page.locator(".name").all_text_contents()

    assert [256] * len(EVIL) == sizes
    assert "products 1-8 of 8, page 1 of 1" == page.title()
    assert list(EVIL[:5]) == names[:5]
    assert page.locator("script").count() == page.locator("svg").count() == 0


@pytest.mark.parametrize(("width", "columns"), [(1200, 6), (400, 2)])
def test_it_fits_wide_and_narrow_windows(page: Any, width: int, columns: int) -> None:
    """Nothing has to be scrolled sideways."""
    page.set_viewport_size({"width": width, "height": 900})
    tops = page.evaluate("[...document.querySelectorAll('li')].map(li => li.getBoundingClientRect().top)")

    assert columns == tops.count(tops[0])
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(page: Any, scheme: str) -> None:
    """No violation of the accessibility rules that axe knows, in light and in dark."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)

    assert [] == [violation["id"] for violation in axe.run(page).response["violations"]]

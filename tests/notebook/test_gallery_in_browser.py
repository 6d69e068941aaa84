"""The contact sheet in a real browser: it runs nothing of a supplier's, asks nobody, and everybody can use it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prodex.pictures.contact_sheet import gallery
from tests.accessibility import violations
from tests.pictures.file_server import FileServer, serving
from tests.pictures.test_gallery import EVIL, hostile

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving() as served:
        yield served


@pytest.fixture
def page(browser: Browser, server: FileServer, tmp_path: Path) -> Iterator[Page]:
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


def test_what_suppliers_typed_is_shown_and_nothing_else_happens(page: Page) -> None:
    """Every picture is drawn, every text is shown as typed, and the title is ours."""
    sizes = page.evaluate("[...document.images].map(image => image.complete && image.naturalWidth)")

    assert [256] * len(EVIL) == sizes
    assert "products 1-8 of 8, page 1 of 1" == page.title()
    assert list(EVIL[:5]) == page.locator(".name").all_text_contents()[:5]
    assert page.locator("script").count() == page.locator("svg").count() == 0


@pytest.mark.parametrize(("width", "columns"), [(1200, 6), (400, 2)])
def test_it_fits_wide_and_narrow_windows(page: Page, width: int, columns: int) -> None:
    """No window scrolls sideways."""
    page.set_viewport_size({"width": width, "height": 900})
    tops = page.evaluate("[...document.querySelectorAll('li')].map(li => li.getBoundingClientRect().top)")

    assert columns == tops.count(tops[0])
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(page: Page, scheme: Any) -> None:
    """The checker of accessibility finds no violation, in light and in dark."""
    page.emulate_media(color_scheme=scheme)
    # Only colours change with the theme.
    assert [] == violations(page, "html", "all" if scheme == "light" else "colours")


def test_in_a_notebook_it_is_the_same(lab: Lab, browser: Browser, server: FileServer) -> None:
    """JupyterLab loads, runs and typesets nothing of it, and keeps its columns."""
    html = gallery(hostile(server), packshots_only=False)._repr_html_()
    cell = f"from IPython.display import HTML\nHTML({json.dumps(html)})"
    with lab.opened(browser, [cell]) as notebook:
        output = notebook.run()
        notebook.page.wait_for_timeout(300)
        assert list(EVIL[:5]) == output.locator(".name").all_text_contents()[:5]
        assert "0px" == output.locator("ul").evaluate("list => getComputedStyle(list).paddingLeft")
        assert 0 == output.locator("mjx-container, script, svg").count()
        assert ([], [], {}) == (notebook.outside, notebook.errors, notebook.violations_of_each_scheme())

"""The report in a real browser: it runs nothing of a supplier's, asks nobody, and everybody can use it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import prodex
from prodex.quality.audit_part import Crash
from prodex_sandbox.sample import AS_OF, shared_products
from tests.accessibility import violations

from . import hostile
from .test_report import PROFILE

_WIDE = {"width": 1360, "height": 900}
_NARROW = {"width": 360, "height": 800}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the report of the sample, and one in which every text is hostile."""
    folder = tmp_path_factory.mktemp("reports")
    sample = prodex.flatten(product.record for product in shared_products(150))
    audit, earlier = (prodex.audit(sample, PROFILE, now=AS_OF - timedelta(days=days)) for days in (0, 31))
    part = replace(audit.parts[0], crashes=(Crash("valid_gtin", 0, "x" * 300),))
    crashed = replace(audit, parts=(part, *audit.parts[1:]))
    return {
        "sample": audit.to_html(folder / "sample.html", trend=[earlier]),
        "crashed": crashed.to_html(folder / "crashed.html", trend=[earlier], language="nl"),
        "hostile": hostile.audit().to_html(folder / "hostile.html"),
    }


@contextmanager
def opened(browser: Any, path: Path, **options: Any) -> Iterator[Any]:
    """Open a page; it must have requested nothing but itself and logged nothing."""
    asked: list[str] = []
    said: list[str] = []
    context = browser.new_context(**{"viewport": _WIDE, **options})
    try:
        context.on("request", lambda request: asked.append(request.url))
        context.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        yield page
        assert [path.as_uri()] == [url for url in asked if not url.startswith("data:")]
        assert [] == said
    finally:
        context.close()


@pytest.mark.parametrize("name", ["sample", "hostile"])
def test_nothing_of_a_supplier_runs(browser: Any, reports: dict[str, Path], name: str) -> None:
    """No request leaves, no dialog opens, no handler fires, wherever the mouse goes and whatever is opened."""
    with opened(browser, reports[name]) as page:
        page.eval_on_selector_all("details", "all => all.forEach(one => (one.open = true))")
        page.eval_on_selector_all(
            "bdi", "all => all.forEach(one => one.dispatchEvent(new Event('mouseover')))"
        )
        page.wait_for_timeout(200)
        assert page.title().startswith("Audit of ")
        assert 1 == page.locator("script").count()
        assert 0 == page.locator("main svg, main script, main base, main iframe").count()


def test_hostile_text_is_seen_as_it_was_typed(browser: Any, reports: dict[str, Path]) -> None:
    """The browser's own reading of the page has every string letter by letter."""
    with opened(browser, reports["hostile"]) as page:
        shown = set(page.eval_on_selector_all("bdi", "all => all.map(one => one.textContent)"))
        assert {*hostile.STRINGS, hostile.CONTROLS[1], hostile.LONG} <= shown


@pytest.mark.parametrize(
    ("name", "scheme", "viewport"),
    [("sample", "light", _WIDE), ("sample", "dark", _WIDE), ("hostile", "light", _NARROW)],
    ids=["light", "dark", "narrow"],
)
def test_axe_finds_nothing(
    browser: Any, reports: dict[str, Path], name: str, scheme: str, viewport: dict[str, int]
) -> None:
    """Names, contrast, structure and keyboard: the usual checker of accessibility has no complaint."""
    # The policy of the page would keep the checker itself out.
    with opened(browser, reports[name], color_scheme=scheme, viewport=viewport, bypass_csp=True) as page:
        # Only colours change with the theme.
        assert [] == violations(page, "html", "colours" if scheme == "dark" else "all")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_switches_need_no_script(browser: Any, reports: dict[str, Path], scripts: bool) -> None:
    """One heat map is seen at a time, and the arrow keys reach the next."""
    with opened(browser, reports["sample"], java_script_enabled=scripts) as page:
        assert page.locator(".of-kind").is_visible()
        assert not page.locator(".of-owner").is_visible()
        page.locator("#heat-kind").press("ArrowRight")
        assert page.locator(".of-owner").is_visible()
        assert not page.locator(".of-kind").is_visible()
        page.locator("#worst-brand").check()
        assert page.locator(".worst-brand").is_visible()
        assert page.locator("#heat-owner").is_checked()


def test_rule_table_sorts(browser: Any, reports: dict[str, Path]) -> None:
    """A click sorts the largest first, a second click the smallest; the heading announces the order."""
    with opened(browser, reports["sample"]) as page:
        head = page.locator("#checks thead th", has_text="Failing")
        cells = "rows => rows.map(row => Number(row.cells[4].textContent.replaceAll(',', '')))"
        for order, is_reversed in (("descending", True), ("ascending", False)):
            head.locator("button").click()
            shown = page.eval_on_selector_all("#checks tbody tr", cells)
            assert sorted(shown, reverse=is_reversed) == shown
            assert order == head.get_attribute("aria-sort")
        assert shown[0] != shown[-1]


def test_links_to_failing_products_open_them(browser: Any, reports: dict[str, Path]) -> None:
    """The number of failing products leads to their list, which unfolds."""
    with opened(browser, reports["sample"]) as page:
        link = page.locator("#checks tbody a").last
        link.click()
        assert page.locator(link.get_attribute("href")).is_visible()


@pytest.mark.parametrize("name", ["sample", "hostile", "crashed"])
def test_narrow_screens_need_no_sideways_scrolling(browser: Any, reports: dict[str, Path], name: str) -> None:
    """Tables scroll in themselves; the page stays as wide as the screen."""
    with opened(browser, reports[name], viewport=_NARROW) as page:
        assert _NARROW["width"] >= page.evaluate("document.documentElement.scrollWidth")


def test_light_and_dark_are_two_pages(browser: Any, reports: dict[str, Path]) -> None:
    """Each theme has its ground and its letters, and what is drawn is not empty."""
    grounds = []
    for scheme in ("light", "dark"):
        with opened(browser, reports["sample"], color_scheme=scheme) as page:
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            assert len(image.getcolors(image.width * image.height) or []) > 100
            grounds.append(sum(image.getpixel((2, 2))))  # type: ignore[arg-type]
    assert grounds[0] > 600
    assert grounds[1] < 150


def test_paper_shows_the_summary(browser: Any, reports: dict[str, Path]) -> None:
    """Three pages that say that they are not all; what is long is printed if somebody asks for it."""
    with opened(browser, reports["sample"]) as page:
        page.emulate_media(media="print")
        for section, is_there in {"figures": True, "gaps": True, "checks": False, "failing": False}.items():
            assert is_there == page.locator(f"#{section}").is_visible()
        assert page.get_by_text("This is the summary.").is_visible()
        # Every page of a PDF is an object of this type.
        assert 3 >= len(re.findall(rb"/Type /Page\b", page.pdf(format="A4")))


def test_paper_shows_everything_on_request(browser: Any, reports: dict[str, Path]) -> None:
    """Then nothing is folded, switched away or scrolled out of sight, and the navigation is gone."""
    with opened(browser, reports["sample"], java_script_enabled=False) as page:
        page.get_by_label("Print everything").check()
        page.emulate_media(media="print")
        assert not page.get_by_text("This is the summary.").is_visible()
        for panel in page.locator(".panel").all():
            assert panel.is_visible()
        assert not page.locator("nav").is_visible()
        findings = page.locator("#failing table").last
        assert findings.bounding_box()["height"] > 40
        folded = page.locator("#failing .rows").first.evaluate("box => box.scrollHeight - box.clientHeight")
        assert folded <= 1
        assert page.pdf().startswith(b"%PDF")

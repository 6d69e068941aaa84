"""The section Coverage as somebody uses it: by keyboard, in both themes, on a narrow page, and over hostile texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import prodex
from prodex.catalog import Catalog
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.coverage import CoverageState
from prodex_sandbox.sample import AS_OF, shared_products
from tests.quality import hostile

from .one_browser import in_kernel, page_settled, press, shown, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_FOCUS = "() => document.activeElement.dataset.key ?? document.activeElement.tagName"
_WIDER = "one => [one.scrollWidth, one.clientWidth]"
_SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def sample() -> Catalog:
    return prodex.flatten(one.record for one in shared_products(400))


def app_of(catalog: Catalog, audit: prodex.quality.Audit | None = None, **typed: object) -> App:
    return App(Session(catalog, audit, section="coverage").with_typed("coverage", **typed))


def test_by_keyboard_alone(sample: Catalog, browser: Browser) -> None:
    """One Tab reaches the grid, arrows move in it, Return lists what is missing, and the place is kept."""
    app = App(app_of(sample).session, ["coverage"])
    with shown(app, browser) as page:
        cells = page.locator(".cells-view button")
        assert 1 == page.locator(".cells-view button[tabindex='0']").count()
        page.get_by_label("Order").focus()
        for _ in range(9):
            page.keyboard.press("Tab")
            if page.evaluate(_FOCUS).startswith("cell/"):
                break
        for key, expected in (
            ("", "cell/ nameLegal/all"),
            ("ArrowRight", "cell/ nameLegal/=fr"),
            ("ArrowDown", "cell/ namePublicShort/=fr"),
            ("Home", "row/ namePublicShort"),
            ("ArrowRight", "sort/ namePublicShort"),
            ("ArrowUp", "sort/ nameLegal"),
            ("ArrowLeft", "row/ nameLegal"),
            ("End", "cell/ nameLegal/=en"),
            ("ArrowRight", "cell/ nameLegal/=en"),
            ("Control+Home", "column/all"),
            ("Control+End", "cell/total/=en"),
            ("ArrowUp", "cell/ isLabeledBy/=en"),
            ("Control+Home", "column/all"),
            ("ArrowRight", "column/=fr"),
            ("ArrowDown", "cell/ nameLegal/=fr"),
        ):
            if key:
                page.keyboard.press(key)
            assert expected == page.evaluate(_FOCUS), key
        page.keyboard.press("Enter")
        page_settled(page)
        missing = ("empty", "null", "absent")
        assert {"fill:nameLegal:fr": missing} == app.session.conditions.groups
        assert "cell/ nameLegal/=fr" == page.evaluate(_FOCUS)
        assert "true" == cells.filter(has_text="0 %").first.get_attribute("aria-pressed")
        page.keyboard.press("Enter")
        page_settled(page)
        assert not app.session.conditions
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page_settled(page)
        assert "sort/ nameLegal" == page.evaluate(_FOCUS)
        assert "ascending" == page.locator(".cells-view th[aria-sort]").get_attribute("aria-sort")
        first = page.locator(".cells-view thead th").nth(2).inner_text()
        assert not first.startswith("French"), "the language with most texts is last by now"


@pytest.mark.slow
@pytest.mark.parametrize("scheme", _SCHEMES)
def test_every_width_and_theme(sample: Catalog, browser: Browser, scheme: str) -> None:
    """Nothing is wider than the panel, heads break between words, and the checker of accessibility has no complaint."""
    audit = prodex.audit(sample, "online-listing", progress=False, now=AS_OF)
    app = app_of(sample, audit, by="owner", of_required=False)
    with shown(app, browser, scheme=scheme) as page:
        press(page, "Attributes")
        for width in (1440, 800, 600):
            page.set_viewport_size({"width": width, "height": 1000})
            scroll, client = page.locator(".prodex").evaluate(_WIDER)
            assert scroll <= client + 1, width
        heads = page.locator(".cells-view thead .head bdi").all_inner_texts()
        assert all("\n" not in word for head in heads for word in head.split(" "))
        assert [] == violations(page)
        press(page, "languages")
        assert [] == violations(page)


def test_a_press_lists_the_products_and_an_attribute_is_added(sample: Catalog, browser: Browser) -> None:
    """A press opens the products that lack an attribute; a slip is said beside its field, and stays in it."""
    app = app_of(sample)
    with shown(app, browser) as page:
        press(page, "Attributes")
        field = page.get_by_label("Add", exact=True)
        field.fill("netWieght")
        press(page, "Add attribute")
        assert "netWieght" == field.input_value()
        assert "did you mean 'netWeight'" in page.locator(".field .problem").inner_text()
        field.fill("netWeight")
        press(page, "Add attribute")
        assert "" == field.input_value()
        row = page.locator(".cells-view tr", has_text="Allergens")
        row.locator("td button").first.click()
        page_settled(page)
        assert "products" == app.session.section
        lacking = len(app.session.chosen)
        assert 0 < lacking < 400
        press(page, "Coverage")
        assert f"{lacking:,} of 400 products" in page.locator(".prodex").inner_text()


def test_what_suppliers_typed_is_shown_letter_by_letter(browser: Browser) -> None:
    """Names of attributes and groups run nothing, are no markup and no formula, and long ones are cut."""
    texts = [*hostile.STRINGS, hostile.LONG]
    name = [{"expressedIn": {"code": "fra-FR"}, "data": "x"}]
    records = [{"id": n, "kind": {"code": t, "label": t}, t[:40]: name} for n, t in enumerate(texts)]
    app = app_of(prodex.flatten(records), by="kind")
    attributes = tuple(dict.fromkeys(t[:40] for t in texts if t[:40].strip()))
    app.change(lambda session: session.with_part(CoverageState(attributes=attributes)))
    with shown(app, browser, scheme="dark", direction="rtl") as page:
        heads: list[str] = []
        while True:
            heads += page.locator(".cells-view thead bdi").all_inner_texts()
            following = page.locator(".pager").first.get_by_role("button", name="Next")
            if following.get_attribute("aria-disabled"):
                break
            following.click()
            page_settled(page)
        for text in hostile.STRINGS:
            assert any(one.startswith(text[:30].strip()) for one in heads), text
        assert any("of 40,003 characters" in one for one in heads)
        assert 0 == page.locator(".prodex img, .prodex script, .prodex svg, mjx-container").count()
        scroll, client = page.locator(".prodex").evaluate(_WIDER)
        assert scroll <= client + 1


def test_a_second_page_shows_the_same(sample: Catalog, browser: Browser) -> None:
    """What is pressed in one is pressed in the other, which keeps its own place in the grid."""
    app = App(app_of(sample).session, ["coverage"])
    with shown(app, browser) as one, shown(app, browser) as other:
        other.locator("[data-key='cell/ brand/all']").focus()
        press(one, "kinds")
        page_settled(other)
        assert "true" == other.get_by_role("button", name="kinds", exact=True).get_attribute("aria-pressed")
        assert "cell/ brand/all" == other.evaluate(_FOCUS)
        in_kernel(lambda: app.act("coverage.row", row=" brand"))
        for page in (one, other):
            page_settled(page)
            assert "true" == page.locator("[data-key='row/ brand']").get_attribute("aria-pressed")

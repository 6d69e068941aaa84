"""Filters, search and conditions in a page: by keyboard and mouse, while answers come late, and with hostile texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.selection import Range
from prodex_sandbox.sample import shared_products
from tests.notebook import canary
from tests.notebook.blocks_of import blocks
from tests.notebook.held import HeldTables, held

from .one_browser import in_kernel, page_settled, press, shown, type_in, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

_FOCUS = "document.activeElement.dataset.key ?? document.activeElement.tagName"
#: What a supplier may type.
_MARKUP = "<img src=x onerror=\"alert('run')\"><b>bold</b> $5 \u202eevil"
_HEBREW = "\u05e9\u05dc\u05d5\u05dd 12 \u0645\u0631\u062d\u0628\u0627"


@pytest.fixture(scope="module")
def sample() -> prodex.Catalog:
    """300 products of the sample."""
    return prodex.flatten(product.record for product in shared_products(300))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep views in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))


def panel(catalog: prodex.Catalog) -> App:
    """Return the products of a catalogue as a panel."""
    return App(Session(catalog), ["products"])


def facet(page: Page, title: str) -> Locator:
    """Return a facet by its title."""
    return page.locator(".facet", has=page.locator(".facet-head", has_text=title))


def value(page: Page, title: str, label: str) -> Locator:
    """Return a value of a facet."""
    return facet(page, title).locator("button.value", has_text=label).first


def focus(page: Page) -> str:
    """Return the key of what has the focus."""
    return str(page.evaluate(_FOCUS))


def keys(page: Page, *names: str) -> None:
    """Press keys one after the other, as somebody does who looks what each does."""
    for name in names:
        page.keyboard.press(name)
        page_settled(page)


def test_a_tree_is_walked_by_keyboard(sample: prodex.Catalog, browser: Browser) -> None:
    """Open, unfold, select, exclude and fold: the focus stays on the value, wherever it is moved to."""
    app = panel(sample)
    with shown(app, browser) as page:
        facet(page, "Category").locator(".facet-head").focus()
        keys(page, "Enter")
        facet(page, "Category").locator("button.value").first.focus()
        for level in (1, 2):
            keys(page, "ArrowRight", "ArrowDown")
            assert str(level) == page.evaluate("document.activeElement.dataset.level")
        keys(page, "Enter")
        (chosen,) = app.session.conditions.groups["category"]
        assert focus(page) == f"category/={chosen}"
        keys(page, "-")
        assert ({"category": (chosen,)}, {}) == (
            app.session.conditions.excluded,
            app.session.conditions.groups,
        )
        assert focus(page) == f"category/={chosen}"
        assert facet(page, "Category").locator(".is-excluded").count() == 1
        keys(page, "ArrowLeft")
        assert "1" == page.evaluate("document.activeElement.dataset.level")
        keys(page, "ArrowLeft")
        assert 2 == page.evaluate(
            "document.querySelectorAll('[data-level=\"1\"][tabindex]').length >= 1 ? 2 : 0"
        )
        keys(page, "ArrowUp", "Home")
        assert "0" == page.evaluate("document.activeElement.dataset.level")
        # One of the values is reached with Tab: the one that had the focus last.
        assert 1 == facet(page, "Category").locator("button.value[tabindex='0']").count()
        assert [] == violations(page)


def test_the_last_chip_hands_the_focus_to_the_search(sample: prodex.Catalog, browser: Browser) -> None:
    """A chip that is removed hands it to the next one; back and forward keep it at their ends."""
    app = panel(sample)
    with shown(app, browser) as page:
        value(page, "Market", "France").click()
        value(page, "Consumer unit", "consumer unit").click()
        page_settled(page)
        chips = page.locator(".chips button")
        assert 3 == chips.count()
        chips.first.focus()
        keys(page, "Enter")
        assert "Clear all" not in page.locator(".chips").inner_text()
        assert focus(page).startswith("chip/consumer unit")
        keys(page, "Enter")
        assert "search/words" == focus(page)
        back = page.get_by_role("button", name="← Back")
        back.focus()
        keys(page, "Enter", "Enter", "Enter", "Enter", "Enter", "Enter")
        assert not app.session.conditions
        assert "back" == focus(page)
        assert "true" == back.get_attribute("aria-disabled")


def test_a_button_that_is_gone_hands_the_focus_to_its_filter(
    sample: prodex.Catalog, browser: Browser
) -> None:
    """All values are shown, and few again: what was pressed has nothing left to do."""
    with shown(panel(sample), browser) as page:
        missing = facet(page, "Missing")
        number = missing.locator("button.value").count()
        for label in ("more (", "fewer"):
            missing.get_by_role("button", name=label).focus()
            keys(page, "Enter")
            assert "head/missing" == focus(page)
        assert number == missing.locator("button.value").count()


def test_a_card_takes_the_place_of_the_filters(sample: prodex.Catalog, browser: Browser) -> None:
    """Of 940 pixels, which JupyterLab leaves beside its list of files; they are a press away, and come back."""
    app = panel(sample)
    with shown(app, browser, width=940) as page:
        drawer = page.get_by_role("button", name="Filters", exact=True)
        filters = page.get_by_role("region", name="Filters")
        assert (False, True) == (drawer.is_visible(), filters.is_visible())
        app.act("table.open", product_id=sample.products["product_id"][0])
        page_settled(page)
        assert (True, False) == (drawer.is_visible(), filters.is_visible())
        press(page, "Filters")
        assert filters.is_visible()
        press(page, "Filters")
        app.act("table.close")
        page_settled(page)
        assert (False, True) == (drawer.is_visible(), filters.is_visible())


def test_an_attribute_is_added_by_keyboard(sample: prodex.Catalog, browser: Browser) -> None:
    """Typed, listed, reached with the arrow keys, taken, removed: the focus comes back to the field."""
    app = panel(sample)
    with shown(app, browser) as page:
        field = page.get_by_label("Filter by any attribute: type its name")
        field.focus()
        page.keyboard.type("ingred")
        page_settled(page)
        assert "ingred" == field.input_value()
        page.get_by_label("Language of its texts").select_option("French")
        page_settled(page)
        field.focus()
        keys(page, "ArrowDown", "ArrowDown", "ArrowUp")
        assert "offer/fill:composition:fr" == focus(page)
        keys(page, "ArrowUp")
        assert "facets/add" == focus(page)
        keys(page, "ArrowDown", "Enter")
        assert ("", "facets/add") == (field.input_value(), focus(page))
        value(page, "Ingredients in French", "filled").focus()
        keys(page, "Enter")
        assert {"fill:composition:fr": ("filled",)} == app.session.conditions.groups
        assert [] == violations(page)
        page.get_by_label("Remove the filter Ingredients in French").press("Enter")
        page_settled(page)
        assert ({}, "facets/add") == (app.session.conditions.groups, focus(page))

        page.keyboard.type("netContemt")
        keys(page, "Enter")
        assert "netContent" in facet_add(page).locator("[role=alert]").inner_text()
        assert "netContemt" == field.input_value()
        keys(page, "Control+a")
        page.keyboard.type("netContent")
        keys(page, "Enter")
        assert (0, "") == (facet_add(page).locator("[role=alert]").count(), field.input_value())
        assert "Net content" in page.locator(".facet").nth(1).inner_text()


def facet_add(page: Page) -> Locator:
    """Return the part that adds a facet."""
    return page.get_by_role("group", name="Add a filter")


def test_a_range_is_typed_pressed_and_dragged(sample: prodex.Catalog, browser: Browser) -> None:
    """A date counts when it is complete; the comma of a language other than that of the browser is not lost."""
    app = panel(sample)
    with shown(app, browser) as page:
        updated = facet(page, "Updated")
        updated.locator(".facet-head").press("Enter")
        page_settled(page)
        updated.get_by_label("from").focus()
        page.keyboard.type("01012026")
        page_settled(page) if app.session.conditions else page.wait_for_timeout(400)
        assert not app.session.conditions
        keys(page, "Enter")
        assert "2026-01-01T00:00:00" == app.session.conditions.ranges["updated_at"].least.isoformat()  # type: ignore[union-attr]
        assert "INPUT" == page.evaluate("document.activeElement.tagName")
        updated.locator(".bin").first.focus()
        keys(page, "ArrowRight", "Enter")
        assert app.session.conditions.ranges["updated_at"].greatest is not None
        assert (1, "bin/updated_at/1") == (updated.locator(".bin.is-chosen").count(), focus(page))
        keys(page, "Shift+ArrowRight", "Shift+ArrowRight")
        assert 3 == updated.locator(".bin.is-chosen").count()
        updated.locator(".bins").scroll_into_view_if_needed()
        boxes = [updated.locator(".bin").nth(place).bounding_box() for place in (2, 5)]
        assert boxes[0]
        assert boxes[1]
        page.mouse.move(boxes[0]["x"] + 2, boxes[0]["y"] + 20)
        page.mouse.down()
        page.mouse.move(boxes[1]["x"] + 2, boxes[1]["y"] + 20)
        page.mouse.up()
        page_settled(page)
        assert 4 == updated.locator(".bin.is-chosen").count()

        app.act("conditions.clear")
        type_in(page, "Filter by any attribute: type its name", "hierarchies_count")
        keys(page, "Enter")
        field = facet(page, "hierarchies_count").get_by_label("from")
        field.focus()
        page.keyboard.type("0,5")
        keys(page, "Enter")
        assert {"hierarchies_count": Range(0.5, None)} == app.session.conditions.ranges
        keys(page, "Control+a")
        page.keyboard.type("two")
        keys(page, "Enter")
        assert "Write " in facet(page, "hierarchies_count").locator("[role=alert]").inner_text()
        assert "two" == field.input_value()
        keys(page, "Tab")
        page.keyboard.type("3")
        keys(page, "Enter")
        # What was refused stays to be corrected: nobody takes a range of one limit for one of two.
        problems = facet(page, "hierarchies_count").locator("[role=alert]")
        assert ("two", 1) == (field.input_value(), problems.count())
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        keys(page, "Shift+Tab")
        assert [] == violations(page)
        keys(page, "Control+a")
        page.keyboard.type("2")
        keys(page, "Tab")
        assert {"hierarchies_count": Range(2.0, None)} == app.session.conditions.ranges
        assert (0, "2") == (
            facet(page, "hierarchies_count").locator("[role=alert]").count(),
            field.input_value(),
        )


def test_what_is_typed_stays_while_answers_come(sample: prodex.Catalog, browser: Browser) -> None:
    """Letters typed while the answers to those before are on their way stay, and so does the caret."""

    def late(direction: str, message: dict[str, Any]) -> list[tuple[float, dict[str, Any]]]:
        return [(0.25 if direction == "send" else 0.05, message)]

    app = panel(sample)
    with shown(app, browser, middle=late) as page:
        field = page.get_by_label("Find in Brand")
        field.focus()
        for letter in "limpiaf":
            page.keyboard.type(letter)
            page.wait_for_timeout(190)
        page.keyboard.press("Home")
        page.keyboard.type("x")
        page.wait_for_timeout(500)
        page.keyboard.press("Delete")
        page.keyboard.press("Backspace")
        page.keyboard.type("l")
        page_settled(page)
        assert "limpiaf" == field.input_value()
        assert 1 == page.evaluate("document.activeElement.selectionStart")
        value(page, "Brand", "Limpiaferra").wait_for()


def test_a_press_sees_all_that_was_typed_before_it(sample: prodex.Catalog, browser: Browser) -> None:
    """Words and the press on a value right after them are both done."""
    app = panel(sample)
    with shown(app, browser) as page:
        page.get_by_label("Search", exact=True).focus()
        page.keyboard.type("lait OR soja -sucre")
        value(page, "Market", "France").click(modifiers=["Alt"])
        page_settled(page)
        assert ("lait OR soja -sucre", {"market": ("250",)}) == (
            app.session.conditions.words,
            app.session.conditions.excluded,
        )
        press(page, "?")
        page.get_by_text("OR between two words").wait_for()
        press(page, "?")
        assert 0 == page.get_by_text("OR between two words").count()


def test_a_filter_groups_the_pictures(sample: prodex.Catalog, browser: Browser) -> None:
    """One press on its head; a filter without values has no such button."""
    app = panel(sample)
    with shown(app, browser) as page:
        assert 0 == page.get_by_role("button", name="Gallery by Tag").count()
        press(page, "Gallery by Brand")
        assert page.locator(".facet-list").is_visible()
        page.get_by_role("button", name="Gallery", exact=True, pressed=True).first.wait_for()


def test_two_pages_show_the_same_and_a_press_means_what_was_seen(browser: Browser) -> None:
    """A page that hears late presses a value that stands somewhere else by now."""
    catalog = prodex.flatten({"id": n, "brand": {"code": code}} for n, code in enumerate("AAABBC"))
    app = panel(catalog)
    with shown(app, browser) as one, shown(app, browser) as other:
        value(one, "Brand", "C").click()
        value(other, "Brand", "A").click()
        page_settled(other)
        page_settled(one)
        assert {"brand": ("C", "A")} == app.session.conditions.groups
        assert one.locator(".facet-list").inner_text() == other.locator(".facet-list").inner_text()


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_labels_are_text_in_their_own_direction(
    browser: Browser, direction: str, scheme: str
) -> None:
    """Markup is not run, a long label is cut, and a right-to-left one turns nothing around it."""
    records = [
        {"id": n, "brand": {"code": f"B{n}", "label": text}, "hasTags": [{"tag": text}]}
        for n, text in enumerate((_MARKUP, _HEBREW, "ä" * 40_000, "=1+1"))
    ]
    app = panel(prodex.flatten(records))
    with shown(app, browser, direction=direction, scheme=scheme) as page:
        value(page, "Brand", "bold").click()
        page_settled(page)
        value(page, "Brand", "\u05e9").click(modifiers=["Alt"])
        page_settled(page)
        assert 0 == page.locator(".prodex .facet-list img, .prodex .facet-list b, .prodex .chips b").count()
        (label,) = facet(page, "Brand").locator("bdi", has_text="\u05e9").all_inner_texts()
        assert label == _HEBREW
        assert "auto" == facet(page, "Brand").locator("bdi", has_text="\u05e9").get_attribute("dir")
        assert "…(60 of 40,000 characters)" in facet(page, "Brand").inner_text()
        assert "$5" in page.locator(".chips").inner_text()
        for part in (".facet-list", ".chips", ".row.search"):
            wide = page.evaluate(
                "(part) => { const one = document.querySelector(part); return one.scrollWidth - one.clientWidth; }",
                part,
            )
            assert wide <= 1, part
        assert [] == violations(page)
        assert 500_000 > len(json.dumps(app.view()))


def test_nothing_of_a_supplier_runs_in_any_filter(browser: Browser) -> None:
    """With every filter open, every value shown, and one added by name."""
    app = panel(prodex.flatten(canary.records()))
    app.act("facets.named", text="namePublicLong")
    app.act("facets.offer", value="a")
    for one in blocks(app, "facet"):
        app.act("facets.fold", facet=one["key"], is_open=True)
        app.act("facets.zeros", facet=one["key"], is_shown=True)
        app.act("facets.more", facet=one["key"])
    for one in blocks(app, "facet"):
        for each in one.get("values", [])[:2]:
            app.act("facets.exclude", facet=one["key"], code=each["code"])
    with shown(app, browser) as page:
        made = "svg:not(.icon), script, iframe, base, object, embed, link, mjx-container"
        for part in (".facet-list", ".row.chips"):
            assert 0 == page.locator(part).locator(made).count()
            assert 0 == page.locator(part).locator("img, b, i, a").count()
        assert "onerror" in page.locator(".facet-list").inner_text()


def test_who_does_not_want_to_wait_for_the_texts_cancels(browser: Browser) -> None:
    """What was found in labels is shown at once; after a moment there is a button, and what was searched is said."""
    records: list[dict[str, Any]] = [{"id": n} for n in range(4_000)]
    records[3] = {"id": 3, "brand": {"code": "CITRON"}}
    whole = prodex.flatten(records)

    def begin() -> tuple[App, HeldTables]:
        # The thread that answers is the one that does not wait.
        catalog, tables = held(whole)
        app = panel(catalog)
        app.session.filter.find_in_labels("citron")
        return app, tables

    app, tables = in_kernel(begin)
    with shown(app, browser, is_settled=False) as page:
        field = page.get_by_label("Search", exact=True)
        field.fill("citron")
        page.get_by_text("the texts are still read …").wait_for()
        page.get_by_text("1 product (4,000 in all)").first.wait_for()
        page.locator(".work", has_text="Reading texts").get_by_role("button", name="Cancel").click()
        page.get_by_text(
            "Searched in brands, kinds, owners, packaging, GPC classes and numbers only."
        ).wait_for()
        page.locator(".work", has_text="Reading texts").wait_for(state="detached")
        tables.go_on.set()
        page_settled(page)
        assert "citron" == field.input_value()


@pytest.mark.parametrize("width", [600, 780, 1000, 1440])
def test_below_800_pixels_the_filters_wait_behind_a_button(
    sample: prodex.Catalog, browser: Browser, width: int
) -> None:
    """It is reached by keyboard, says whether they are shown, and is not there where they are anyway."""
    app = panel(sample)
    with shown(app, browser, width=width) as page:
        button = page.get_by_role("button", name="Filters", exact=True)
        filters = page.get_by_role("region", name="Filters")
        assert (width < 800, width >= 800) == (button.is_visible(), filters.is_visible())
        if width < 800:
            button.focus()
            keys(page, "Enter")
            assert filters.is_visible()
            assert "true" == button.get_attribute("aria-pressed")
            assert "drawer" == focus(page)
            value(page, "Market", "France").click()
            page_settled(page)
            assert {"market": ("250",)} == app.session.conditions.groups
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0
        assert [] == violations(page)


def test_either_or_and_a_saved_view_by_keyboard(sample: prodex.Catalog, browser: Browser) -> None:
    """One half, the other half, both joined, saved and opened again."""
    app = panel(sample)
    with shown(app, browser) as page:
        value(page, "Market", "France").click()
        press(page, "Or …")
        page.get_by_text("either market").wait_for()
        value(page, "Market", "Belgium").click()
        page.get_by_role("button", name="Join both").focus()
        keys(page, "Enter")
        assert len(sample.where(target_market=[250, 56])) == len(app.session.chosen)
        before = app.session.conditions
        page.locator("button.fold-head", has_text="Views").focus()
        keys(page, "Enter")
        page.get_by_role("textbox", name="Name").fill("French <b>")
        press(page, "Save view")
        press(page, "Clear all") if page.get_by_role("button", name="Clear all").count() else app.act(
            "conditions.clear"
        )
        page_settled(page)
        page.get_by_label("Open", exact=True).select_option("\u2068French <b>\u2069")
        page_settled(page)
        assert before == app.session.conditions
        press(page, "Remove view")
        assert ["a saved view …"] == page.get_by_label("Open", exact=True).locator("option").all_inner_texts()
        press(page, "Save view")
        assert "Enter a name" in page.locator(".selection [role=alert]").inner_text()
        assert [] == violations(page)

"""The card in a page: read, copied and corrected by keyboard, in two pages, narrow and dark, with hostile texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import prodex as px
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from tests.notebook import canary
from tests.notebook.card_products import EACH, rich, text
from tests.quality.hostile import STRINGS

from .one_browser import page_settled, press, shown, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: What of a card stands out of the place that it has; tables scroll in theirs.
_TOO_WIDE = """
    () => [...document.querySelectorAll(".card *")].filter(one => {
        const [inner, outer] = [one.getBoundingClientRect(), one.closest(".card").getBoundingClientRect()];
        return (inner.right > outer.right + 1 || inner.left < outer.left - 1)
            && !one.closest(".scroll") && !one.closest(".sr") && one.checkVisibility();
    }).map(one => one.outerHTML.slice(0, 80))
"""
_FOCUS = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.localName"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep snapshots and drafts in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))


def lemon(number: int = 7, french: Any = "Citron", **more: Any) -> dict[str, Any]:
    names = [text("fra-FR", french), text("eng-GB", "Lemon")]
    short = [text("fra-FR", "Cit."), text("eng-GB", "Lem.")]
    return {
        "id": number,
        "product_key": {"target_market_id": 250},
        "namePublicLong": names,
        "namePublicShort": short,
        **more,
    }


def panel(*records: dict[str, Any], audit: str = "", is_alone: bool = True) -> App:
    """Return a panel with the card of product 7: alone, or beside the list."""
    catalog = px.flatten(records)
    judged = px.audit(catalog, audit, progress=False) if audit else None
    session = Session(catalog, judged, product_id="7", section="card" if is_alone else "products")
    return App(session, ["card"] if is_alone else [])


def keys(page: Page, *names: str) -> None:
    """Press keys one after the other, as somebody does who looks what each does."""
    for name in names:
        page.keyboard.press(name)
        page_settled(page)


def write(page: Page, written: str) -> None:
    """Write a text in place of what stands in the editor with the focus."""
    assert "textarea" == page.evaluate("document.activeElement.localName")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(written)


def collected(app: App) -> list[str | None]:
    return [one.text for one in app.session.corrections]


def test_a_card_is_read_copied_and_unfolded_by_keyboard(browser: Browser) -> None:
    """Tab reaches the GTIN, Return opens the record, and axe finds no violation."""
    app = panel(rich(), {"id": 8}, audit="online-listing")
    with shown(app, browser) as page:
        page.get_by_role("heading", name="Halfvolle melk").wait_for()
        assert [] == violations(page)
        for _ in range(6):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.localName") == "input":
                break
        assert EACH == page.evaluate("getSelection().toString() || document.activeElement.value")
        assert [0, len(EACH)] == page.evaluate(
            "[document.activeElement.selectionStart, document.activeElement.selectionEnd]"
        )
        record = page.get_by_role("button", name="JSON,")
        record.focus()
        keys(page, "Enter")
        page.get_by_role("region", name="Record as received").wait_for()
        assert '"gtin"' in page.locator(".raw").inner_text()
        assert [] == violations(page)
        keys(page, "Enter")
        assert 0 == page.locator(".raw").count()


@pytest.mark.parametrize("direction", ["ltr", "rtl"])
@pytest.mark.parametrize("width", [600, 1440])
def test_a_card_fits_in_its_place(browser: Browser, width: int, direction: str) -> None:
    """Beside the list and alone, whatever the width and the direction of the page."""
    for is_alone in (True, False):
        app = panel(rich(), {"id": 8}, audit="online-listing", is_alone=is_alone)
        with shown(app, browser, width=width, direction=direction) as page:
            page.evaluate("document.querySelectorAll('.card details').forEach(one => { one.open = true })")
            assert [] == page.evaluate(_TOO_WIDE)
            press(page, "✎ Correct a text")
            assert [] == page.evaluate(_TOO_WIDE)


def test_texts_are_corrected_one_after_the_other_by_keyboard(browser: Browser) -> None:
    """Return keeps a text and moves on to the one below; Escape leaves it as it was."""
    app = panel(lemon())
    with shown(app, browser) as page:
        press(page, "✎ Correct a text")
        assert "Citron" == page.evaluate("document.activeElement.value")
        write(page, "Citron vert")
        keys(page, "Enter")
        assert ["Citron vert"] == collected(app)
        assert "Edit Short name, French" == page.evaluate(_FOCUS)

        keys(page, "Enter")
        write(page, "nonsense")
        keys(page, "Escape")
        assert ["Citron vert"] == collected(app)
        assert "Edit Short name, French" == page.evaluate(_FOCUS)

        keys(page, "ArrowUp")
        assert "Edit Long name, French" == page.evaluate(_FOCUS)
        keys(page, "ArrowRight")
        assert "Undo the correction of Long name, French" == page.evaluate(_FOCUS)
        assert [] == violations(page)
        keys(page, "Enter")
        assert [] == collected(app)
        assert "Edit Long name, French" == page.evaluate(_FOCUS)
        keys(page, "ArrowRight", "e")
        assert "Lemon" == page.evaluate("document.activeElement.value")
        assert [] == violations(page)


def test_an_editor_breaks_lines_counts_and_asks(browser: Browser) -> None:
    """Shift+Return is a line; what is too long is said while it is typed; nothing at all is asked about."""
    app = panel(lemon())
    with shown(app, browser) as page:
        page.get_by_role("button", name="Edit Short name, French").dblclick()
        page_settled(page)
        write(page, "x" * 40)
        assert "40 of 35 characters" == page.locator(".count").inner_text()
        assert "Longer than the service takes." == page.locator(".too-long").inner_text()
        assert "true" == page.locator("textarea").get_attribute("aria-invalid")
        write(page, "a")
        keys(page, "Shift+Enter")
        page.keyboard.type("b")
        assert "a\nb" == page.locator("textarea").input_value()
        write(page, " ")
        keys(page, "Enter")
        assert "Write a text, or press Delete text." == page.locator(".said").inner_text()
        assert "textarea" == page.evaluate("document.activeElement.localName")
        assert [] == violations(page)
        press(page, "Delete text")
        assert [None] == collected(app)
        assert "deletion not sent yet" in page.locator(".texts").inner_text()


def test_the_second_half_of_a_double_click_leaves_the_focus_in_the_editor(browser: Browser) -> None:
    """A quick kernel opens the editor between both clicks, and the second one meets whatever is there then."""
    app = panel(lemon())
    with shown(app, browser) as page:
        button = page.get_by_role("button", name="Edit Short name, French")
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.up()
        page_settled(page)
        page.mouse.down(click_count=2)
        page.wait_for_timeout(50)  # what leaves an editor is looked at a moment later
        page.mouse.up(click_count=2)
        page_settled(page)
        write(page, "a")
        assert "a" == page.locator("textarea").input_value()


def test_a_word_that_is_composed_ends_with_return(browser: Browser) -> None:
    """In Japanese, Return takes a word; only the next one keeps the text."""
    app = panel(lemon())
    with shown(app, browser) as page:
        press(page, "Edit Long name, French")
        write(page, "レモン")
        page.locator("textarea").dispatch_event(
            "keydown", {"key": "Enter", "isComposing": True, "bubbles": True}
        )
        page_settled(page)
        assert [] == collected(app)
        keys(page, "Enter")
        assert ["レモン"] == collected(app)


def test_whoever_goes_on_elsewhere_has_finished(browser: Browser) -> None:
    """A press anywhere else collects what was typed, also in another editor; nothing typed is nothing."""
    app = panel(lemon())
    with shown(app, browser) as page:
        press(page, "Edit Long name, French")
        page.keyboard.insert_text(" vert")
        press(page, "Edit Long name, English")
        assert 1 == len(collected(app))
        assert "Lemon" == page.evaluate("document.activeElement.value")
        page.locator("input.copy, h3").first.click()
        page_settled(page)
        assert 0 == page.locator("textarea").count()
        assert 1 == len(collected(app))


def test_a_text_that_is_another_by_now_is_refused_in_its_editor(browser: Browser) -> None:
    """What was typed stays there, with what the text is now; the second press replaces it."""
    app = panel(lemon())
    with shown(app, browser) as page:
        press(page, "Edit Long name, French")
        write(page, "Citron vert")
        newer = px.flatten([lemon(french="Limette")])
        app.change(lambda session: session.renewed(session.catalog, newer, None))
        page_settled(page)
        assert "Citron vert" == page.evaluate("document.activeElement.value")
        keys(page, "Enter")
        assert "This text is now “Limette”" in page.locator(".said").inner_text()
        assert "Citron vert" == page.evaluate("document.activeElement.value")
        keys(page, "Enter")
        assert ["Limette"] == [one.before for one in app.session.corrections]


def test_two_pages_show_the_same_and_leave_each_other_the_focus(browser: Browser) -> None:
    """What is opened in one is open in both; only there it takes the focus."""
    app = panel(lemon())
    with shown(app, browser) as first, shown(app, browser) as second:
        # Only one window of a person has the focus; here both believe that they have it.
        second.evaluate("document.hasFocus = () => false")
        press(first, "Edit Long name, French")
        page_settled(second)
        assert "body" == second.evaluate("document.activeElement.localName")
        write(first, "Citron vert")
        keys(first, "Enter")
        page_settled(second)
        for page in (first, second):
            assert "Citron vert" in page.locator(".texts ins").inner_text()
        press(second, "Undo the correction of Long name, French")
        page_settled(first)
        assert 0 == first.locator(".texts ins").count()


def test_the_list_and_the_card_hand_the_focus_to_each_other(browser: Browser) -> None:
    """ "e" on a row opens the editor, Return and Escape lead back to it, and so does closing the card."""
    app = panel(lemon(), lemon(8), is_alone=False)
    with shown(app, browser) as page:
        row = "document.activeElement.dataset.key"
        page.locator("tr[data-key='row/7']").focus()
        keys(page, "e")
        assert "Citron" == page.evaluate("document.activeElement.value")
        write(page, "Citron vert")
        keys(page, "Enter")
        assert "row/7" == page.evaluate(row)
        keys(page, "e", "Escape")
        assert "row/7" == page.evaluate(row)
        page.get_by_role("button", name="Edit Long name, English").focus()
        keys(page, "Escape")
        assert app.session.product_id is None
        assert 0 == page.locator(".card").count()
        assert "row/7" == page.evaluate(row)
        keys(page, "Enter")
        press(page, "✕ Close")
        assert "row/7" == page.evaluate(row)
        assert [] == violations(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_history_is_folded_and_opened_by_keyboard(browser: Browser, scheme: str) -> None:
    """Long texts are there as a whole on request; all times say their zone."""
    for french in ("A", "<img src=x onerror=alert(1)>", "Zutaten " * 2_000):
        catalog = px.flatten([lemon(french=french)]).save("shop", progress=False)
    app = App(Session(catalog, product_id="7", section="card"), ["card"])
    with shown(app, browser, scheme=scheme) as page:
        assert 0 == page.locator(".timeline").count()
        page.get_by_role("button", name="What was changed, the newest first").focus()
        keys(page, "Enter")
        timeline = page.locator(".timeline")
        assert "All times are in the time zone of this machine" in page.locator(".history").inner_text()
        assert "<img src=x onerror=alert(1)>" in timeline.inner_text()
        assert 0 == timeline.locator("img").count()
        timeline.locator("summary", has_text="16,000 characters").focus()
        keys(page, "Enter")
        timeline.get_by_role("group", name="The whole text").wait_for()
        assert [] == violations(page)


def test_a_dark_card_shows_what_would_do_harm(browser: Browser) -> None:
    """Hostile texts run nothing, load nothing and are not typeset; they can be corrected as they are."""
    catalog = canary.catalog()
    for product in catalog.products["product_id"]:
        app = App(Session(catalog, product_id=product, section="card"), ["card"])
        with shown(app, browser, scheme="dark") as page:
            page.evaluate("document.querySelectorAll('.card details').forEach(one => { one.open = true })")
            assert 0 == page.locator(".card").locator("script, iframe, a, img, object").count()
            assert [] == violations(page)
    strings = [one for one in STRINGS if one.strip() and "\ud83d" not in one]
    app = panel(*(lemon(7 + number, one) for number, one in enumerate(strings)))
    with shown(app, browser, scheme="dark") as page:
        for number, one in enumerate(strings):
            app.act("table.open", product_id=str(7 + number))
            page_settled(page)
            page.get_by_role("button", name="Edit Long name, French").click()
            page_settled(page)
            value = page.locator("textarea").input_value()
            assert one.replace("\r\n", "\n").replace("\r", "\n") == value
            keys(page, "Escape")
        assert [] == collected(app)


@pytest.mark.slow
def test_pictures_come_from_python(browser: Browser, service: px.service.Client) -> None:
    """Images appear after the press, as bytes of the kernel, and the browser has loaded none of them."""
    catalog = px.load_products(service, px.ProductQuery(has_packshot=True), progress=False)
    counts = catalog.products.set_index("product_id")["pictures_count"]
    app = App(Session(catalog, product_id=counts.idxmax(), section="card"), ["card"])
    with shown(app, browser) as page:
        assert 0 == page.locator(".card img").count()
        button = page.get_by_role("button", name=f"Show pictures ({counts.max()})")
        button.focus()
        keys(page, "Enter")
        page.locator(".card img").first.wait_for()
        images = page.locator(".card img").evaluate_all(
            "all => all.map(one => [one.src.slice(0, 5), one.complete && one.naturalWidth > 0])"
        )
        assert [["blob:", True]] * int(counts.max()) == images
        assert [] == violations(page)
        assert "body" != page.evaluate("document.activeElement.localName")

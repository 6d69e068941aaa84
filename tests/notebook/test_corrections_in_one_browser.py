"""Corrections in a page: sent by keyboard, and never by accident; texts that are hard to show; files that came back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import prodex
from prodex import TextCorrection
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.sandbox import Sandbox
from prodex.send.batches import LARGEST_BATCH
from prodex.service.paging import LARGEST_PAGE
from prodex_sandbox.sample import shared_products
from tests.worklists.bakery import RECORDS, stored
from tests.worklists.handling import fill

from .one_browser import in_kernel, page_settled, press, shown, type_in, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)
CAPITALS = "PAIN DE CAMPAGNE AUX GRAINES"
MISSING = {"attribute": "description", "language": "nl"}
PROFILE = {"checks": {"names_not_in_capitals": {}, "required_text": MISSING}}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is saved in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path


def client(sandbox: Sandbox) -> prodex.service.Client:
    """Reach a sandbox."""
    key = sandbox.credentials[0]
    return prodex.connect(
        base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


@pytest.fixture
def service() -> Iterator[prodex.service.Client]:
    """Serve the products."""
    with Sandbox(RECORDS) as sandbox:
        yield client(sandbox)


@pytest.fixture
def session(service: prodex.service.Client) -> Session:
    """Return what a panel over a snapshot of the products shows."""
    catalog = prodex.load_products(service, name="shop", progress=False)
    audit = prodex.audit(catalog, PROFILE, progress=False)
    return Session(catalog, audit=audit, service=service)


def corrected(session: Session, *corrections: TextCorrection) -> App:
    """Return a panel with corrections."""
    app = App(session)
    app.change(lambda now: now.replaced(corrections=corrections))
    return app


def name(new: str = "Pain de campagne") -> TextCorrection:
    """Correct the name of the first product."""
    place = {"position": "0", "language_code": "fra-FR"}
    return TextCorrection("1", "namePublicLong", None, new, before=CAPITALS, **place)


def active(page: Page) -> str:
    """Return the words of the element with the focus."""
    return str(page.evaluate("() => document.activeElement.innerText.trim()"))


def test_a_correction_is_sent_by_keyboard(
    session: Session, service: prodex.service.Client, browser: Browser
) -> None:
    """From the tab to the question, to the service, and the focus is never lost on the way."""
    with shown(corrected(session, name()), browser) as page:
        keys = page.keyboard
        page.get_by_role("button", name="Corrections (1)", exact=True).focus()
        keys.press("Enter")
        page_settled(page)
        page.get_by_text("1 correction of 1 product, not sent yet: 1 can be sent.").wait_for()
        assert [] == violations(page)
        page.get_by_role("button", name="Send 1 correction", exact=True).focus()
        keys.press("Enter")
        page_settled(page)
        assert "Yes, send 1 correction of 1 product" == active(page)
        assert [] == violations(page)
        keys.press("Enter")
        page_settled(page)
        page.get_by_text("1 correction has arrived at 127.0.0.1").wait_for()
        assert "Pain de campagne" == stored(service, FIRST)["namePublicLong"][0]["data"]
        assert "BODY" != page.evaluate("() => document.activeElement.tagName")
        page.get_by_role("button", name="Corrections", exact=True).wait_for()
        assert [] == violations(page)
        press(page, "Products")
        page.get_by_text("Pain de campagne", exact=True).first.wait_for()


def test_a_double_click_asks_and_does_not_send(
    session: Session, service: prodex.service.Client, browser: Browser
) -> None:
    """At whatever width, for what is below the pointer then is the question."""
    app = corrected(session.replaced(section="corrections"), name())
    for width in (1360, 600):
        with shown(app, browser, width=width) as page:
            page.get_by_role("button", name="Send 1 correction", exact=True).dblclick()
            page_settled(page)
            page.get_by_role("button", name="Yes, send 1 correction of 1 product").wait_for()
            press(page, "Do not send")
            assert "Send 1 correction" == active(page)
    assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]


def test_a_key_that_is_held_asks_and_does_not_send(
    session: Session, service: prodex.service.Client, browser: Browser
) -> None:
    """The focus goes on to the question while Return is down; only a press of its own answers that."""
    app = corrected(session.replaced(section="corrections"), name())
    with shown(app, browser) as page:
        page.get_by_role("button", name="Send 1 correction", exact=True).focus()
        for _ in range(3):
            page.keyboard.down("Enter")
            page_settled(page)
            assert "Yes, send 1 correction of 1 product" == active(page)
        page.keyboard.up("Enter")
        assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]
        page.keyboard.press("Enter")
        page_settled(page)
        page.get_by_text("1 text that arrived").wait_for()


def test_what_another_page_has_changed_is_not_sent(
    session: Session, service: prodex.service.Client, browser: Browser
) -> None:
    """Both pages show the same question; once one has changed the corrections, Yes is gone in both."""
    app = corrected(session.replaced(section="corrections"), name())
    with shown(app, browser) as one, shown(app, browser) as other:
        press(one, "Send 1 correction")
        page_settled(other)
        other.get_by_role("button", name="Yes, send 1 correction of 1 product").wait_for()
        press(other, "Remove")
        page_settled(one)
        assert 0 == one.get_by_role("button", name="Yes, send").count()
        press(one, "Bring back 1 correction")
        one.get_by_role("button", name="Send 1 correction").wait_for()
    assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_that_are_hard_to_show(scheme: str, browser: Browser) -> None:
    """40,000 characters are folded, right to left has its direction, nothing is markup, and none widens the page."""
    texts = (
        "une phrase longue " * 2_300,
        "خبز \u2067ريفي \u202egnp.exe 24 <img src=x onerror=alert(1)>",
        "x" * 390,
        "<script>alert(1)</script>",
    )
    catalog = prodex.flatten([{"id": 7, "gtin": FIRST, "namePublicLong": []}])
    attributes = ("description", "namePublicLong", "nameLegal", "ingredientStatement")
    pairs = zip(attributes, texts, strict=True)
    app = corrected(
        Session(catalog, section="corrections"),
        *(TextCorrection("7", attribute, "fr", text) for attribute, text in pairs),
    )
    with shown(app, browser, width=1020, scheme=scheme) as page:
        page.locator(".scroll.corrections summary").first.click()
        page_settled(page)
        assert [] == violations(page)
        table = page.locator(".scroll.corrections")
        wide = table.evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert wide[0] <= wide[1] + 1
        arabic = page.locator("bdi", has_text="gnp.exe").first
        assert "rtl" == arabic.evaluate("one => getComputedStyle(one).direction")
        assert 0 == page.locator(".prodex img, .prodex script").count()
        # What was unfolded stays so when the list changes.
        in_kernel(lambda: app.change(lambda now: now.replaced(corrections=now.corrections[:2])))
        page_settled(page)
        assert page.locator(".scroll.corrections details").first.evaluate("one => one.open")


def test_a_list_that_is_gone_leaves_no_empty_page(browser: Browser) -> None:
    """Whoever has scrolled down to the end of a long list sees what is said of it when it is gone."""
    place = {"position": "0", "language_code": "fra-FR"}

    def text(data: str) -> list[dict[str, object]]:
        return [{"expressedIn": {"code": "fra-FR"}, "data": data}]

    catalog = prodex.flatten({"id": n, "namePublicLong": text(f"Pain {n}")} for n in range(60))
    many = (
        TextCorrection(str(n), "namePublicLong", None, f"Brioche {n}", before=f"Pain {n}", **place)
        for n in range(60)
    )
    app = corrected(Session(catalog, section="corrections"), *many)
    with shown(app, browser, height=500) as page:
        page.get_by_role("button", name="Clear", exact=True).scroll_into_view_if_needed()
        press(page, "Clear")
        box = page.get_by_text("No corrections.").bounding_box()
        assert box is not None
        assert 0 < box["y"] < 500
        assert "Bring back 60 corrections" == active(page)


def test_what_was_typed_before_the_press_is_in_what_is_sent(
    session: Session, service: prodex.service.Client, browser: Browser
) -> None:
    """Without a pause between: the press is about what the form says then, and not about the preview of before."""
    with shown(App(session), browser) as page:
        press(page, "Correct the 3 chosen products")
        type_in(page, "Find", "PAIN")
        type_in(page, "Replace by", "Pain")
        page_settled(page)
        send = page.get_by_role("button", name="Send 1 correction", exact=True)
        send.wait_for()
        type_in(page, "Replace by", "Brot")
        if send.is_visible():
            send.dispatch_event("click")
        page_settled(page)
        assert 0 == page.get_by_role("button", name="Yes, send").count()
        assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]
        page.get_by_text("Brot DE CAMPAGNE AUX GRAINES").first.wait_for()
        assert [] == violations(page)
        press(page, "Send 1 correction")
        press(page, "Yes, send 1 correction of 1 product")
        assert "Brot DE CAMPAGNE AUX GRAINES" == stored(service, FIRST)["namePublicLong"][0]["data"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_pasted_table_is_sent_in_four_presses(
    session: Session, service: prodex.service.Client, scheme: str, browser: Browser
) -> None:
    """From the clipboard, by its columns, a question and what it would change, to the service; by keyboard as well."""
    other = stored(service, SECOND)
    rows = (f"{FIRST[1:]}\tPain bis\t0,6 kg", f"{THIRD}\tsee label\t", "4006381333931\t<b>x</b>\t=1+1", "")
    copied = "\r\n".join(["EAN\tNom long FR\tContenu net", *rows])
    with shown(App(session.replaced(section="corrections")), browser, scheme=scheme) as page:
        press(page, "Paste from a spreadsheet")
        page.get_by_label("Table", exact=True).focus()
        page.keyboard.insert_text(copied)
        page.get_by_text("3 rows, 3 columns. What do the columns mean?").wait_for()
        page_settled(page)
        assert [] == violations(page)
        chosen = page.get_by_label("Nom long FR", exact=True).evaluate("one => one.selectedOptions[0].text")
        assert "Long name, French" == chosen

        page.get_by_role("button", name="The columns mean this", exact=True).focus()
        page.keyboard.press("Enter")
        page.get_by_text("1 answer to be confirmed, and not sent").wait_for()
        page_settled(page)
        assert [] == violations(page)
        assert 0 == page.locator(".prodex td b").count()
        press(page, "It is meant")
        press(page, "Send 3 corrections")
        press(page, "Yes, send 3 corrections of 2 products")
        page.get_by_text("3 corrections have arrived at 127.0.0.1").wait_for()
        assert [] == violations(page)
        assert "BODY" != page.evaluate("() => document.activeElement.tagName")
    assert ["Pain bis", "Boerenbrood"] == [one["data"] for one in stored(service, FIRST)["namePublicLong"]]
    assert "see label" == stored(service, THIRD)["namePublicLong"][0]["data"]
    assert other == stored(service, SECOND)


def test_from_the_files_that_came_back_to_the_proof(
    session: Session, service: prodex.service.Client, browser: Browser, home: Path
) -> None:
    """Old and new are shown, a remark waits until it is confirmed, and what was sent is gone from the audit."""
    assert session.audit is not None
    session.audit.worklists(home / "asked")
    (path,) = (home / "asked").rglob("*.xlsx")
    asked = session.audit.worklist_rows().set_index(["check", "gtin"])["row"]
    dutch = "required_text[description,nl]"
    answers = {
        asked["names_not_in_capitals", FIRST]: "Pain de campagne aux graines",
        asked[dutch, FIRST]: "Een brood van het land",
        asked[dutch, SECOND]: "erledigt",
        asked[dutch, THIRD]: "x" * 20_001,
    }
    fill(path, answers)
    app = App(session.replaced(section="quality"))
    with shown(app, browser) as page:
        with page.expect_file_chooser() as chooser:
            page.get_by_text("Choose files", exact=True).click()
        chooser.value.set_files(str(path))
        page_settled(page)
        page.get_by_text("4 answers: 2 can be sent, 1 cannot be used, 1 to be confirmed").first.wait_for()
        page.get_by_text("Pain de campagne aux graines", exact=True).first.wait_for()
        page.get_by_text("20,001 characters", exact=False).first.wait_for()
        asks = page.get_by_role("region", name="Needs confirmation")
        asks.get_by_text("reads like a remark that something is done or agreed", exact=False).wait_for()
        assert [] == violations(page)
        press(page, "It is meant")
        page.get_by_text("4 answers: 3 can be sent, 1 cannot be used").first.wait_for()
        press(page, "Send 3 corrections")
        press(page, "Yes, send 3 corrections of 2 products")
        page.get_by_text("SUCCESS").first.wait_for()
        page.get_by_text("3 corrections have arrived at", exact=False).wait_for()
        page.get_by_text("3 findings fixed, 0 new.", exact=False).wait_for()
        # The figures above are those of the products of now.
        assert app.session.audit is not None
        assert "names_not_in_capitals" not in list(app.session.audit.gaps()["check"])
        assert 0 == page.get_by_role("button", name="Check what has arrived").count()
        assert 0 == page.get_by_role("button", name="Send 3 corrections").count()
    assert "Een brood van het land" == stored(service, FIRST)["description"][-1]["data"]


def test_more_products_than_a_call_takes_in_five_presses_and_back(browser: Browser) -> None:
    """A filter, the fold, the operation, Send and Yes; what was sent is taken back in three more."""
    several = list(shared_products(1400))
    french = [one for one in several if one.record["product_key"]["target_market_id"] == 250]
    others = [one for one in several[:100] if one not in french]
    with Sandbox(products=[*french, *others]) as sandbox:
        service = client(sandbox)
        catalog = prodex.load_products(service, progress=False)
        app = App(Session(catalog, service=service))
        before = catalog.texts["text"].tolist()
        with shown(app, browser, width=1400, height=1100) as page:
            market = page.get_by_role("group", name="Market", exact=True)
            market.locator("button.value", has_text="France").first.click()
            page_settled(page)
            page.get_by_role("button", name="chosen products").click()
            page_settled(page)
            page.get_by_role("button", name="Change case", exact=True).click()
            page_settled(page, 120)
            page.get_by_text("before and after").wait_for()
            assert [] == violations(page)
            page.get_by_role("button", name="Send").click()
            page_settled(page)
            page.get_by_role("button", name="Yes, send").click()
            page_settled(page, 120)
            page.get_by_text("have arrived").wait_for()
            changed = app.session.catalog.texts["text"].tolist()
            number = sum(one != other for one, other in zip(sorted(before), sorted(changed), strict=True))
            assert number > max(LARGEST_BATCH, LARGEST_PAGE)

            page.get_by_role("button", name="Take it back", exact=True).click()
            page_settled(page, 120)
            page.get_by_text("Take back what was sent").first.wait_for()
            page.get_by_role("button", name="Send").click()
            page_settled(page)
            page.get_by_role("button", name="Yes, send").click()
            page_settled(page, 120)
            page.get_by_text("have arrived").wait_for()
            assert sorted(before) == sorted(app.session.catalog.texts["text"].tolist())

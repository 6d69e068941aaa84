"""Texts corrected on a card: collected for what was seen, refused beside the text where it is another one by now."""

from __future__ import annotations

import json
from typing import Any

import pytest

import prodex as px
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.selection import Selection
from prodex.worklists.text_corrections import TextCorrection
from tests.cases import each_row
from tests.notebook.card_products import text
from tests.notebook.cards import block, card_of, keys, texts
from tests.quality.hostile import STRINGS

FRENCH, ENGLISH = "Long name, French", "Long name, English"


def record(number: int = 7, french: Any = "Citron", **more: Any) -> dict[str, Any]:
    names = [text("fra-FR", french), text("eng-GB", "Lemon")]
    return {"id": number, "product_key": {"target_market_id": 250}, "namePublicLong": names, **more}


def panel(*records: dict[str, Any], audit: str = "", product_id: str = "7") -> App:
    """Return a panel with the card of a product."""
    catalog = px.flatten(records or [record()])
    judged = px.audit(catalog, audit, progress=False) if audit else None
    app = App(Session(catalog, judged, product_id=product_id, section="card"), ["card"])
    card_of(app)
    return app


def edit(app: App, name: str = FRENCH) -> dict[str, Any]:
    """Open the editor of a text, and return it with the place of the text."""
    place = texts(app)[name]["key"]
    app.act("card.edit", product_id="7", place=place)
    return {"place": place, **texts(app)[name]["editor"]}


def correct(app: App, written: str | None, name: str = FRENCH, **more: Any) -> None:
    """Write a text and press Return."""
    editor = edit(app, name)
    correction = {"place": editor["place"], "before": editor["before"], "text": written, **more}
    app.act("card.correct", product_id="7", **correction)


def test_a_corrected_text_stands_beside_the_old_one() -> None:
    """It is collected with what was there, marked as not sent, and can be taken back."""
    app = panel()
    correct(app, " Citron vert ")
    expected = TextCorrection(
        "7", "namePublicLong", None, "Citron vert", "Citron", "0", language_code="fra-FR"
    )
    assert (expected,) == app.session.corrections

    item = texts(app)[FRENCH]
    shown = (item["was"]["text"], item["now"]["text"], item["mark"])
    assert ("Citron", "Citron vert", "not sent yet") == shown
    assert item["undo"]
    assert "editor" not in item

    app.act("card.undo", product_id="7", place=item["key"])
    assert () == app.session.corrections
    assert "mark" not in texts(app)[FRENCH]


def test_one_text_has_one_correction() -> None:
    """The second one takes the place of the first; to write what was there is to take it back."""
    app = panel()
    for written in ("Citron vert", "Citron jaune"):
        correct(app, written)
    assert ["Citron jaune"] == [one.text for one in app.session.corrections]
    assert "Citron jaune" == edit(app)["value"]

    correct(app, "Citron")
    assert () == app.session.corrections


def test_a_text_is_deleted_and_a_missing_one_written() -> None:
    """Both are corrections of their place; what was written anew and is deleted is none."""
    app = panel()
    correct(app, None)
    assert [None] == [one.text for one in app.session.corrections]
    assert "deletion not sent yet" == texts(app)[FRENCH]["mark"]

    added = "Short name, French"
    assert not edit(app, added)["can_delete"]
    correct(app, "Citr.", added)
    assert [None, "Citr."] == [one.text for one in app.session.corrections]
    correct(app, None, added)
    assert [None] == [one.text for one in app.session.corrections]


def test_to_save_a_text_that_is_to_be_deleted_keeps_it() -> None:
    """Its editor shows it: whoever presses Return there wants it, and whoever only goes on elsewhere says nothing."""
    app = panel()
    correct(app, None)
    correct(app, "Citron", is_leaving=True)
    assert [None] == [one.text for one in app.session.corrections]
    correct(app, "Citron")
    assert () == app.session.corrections


def test_a_text_that_is_another_by_now_is_refused_beside_it() -> None:
    """What was typed stays in the editor; Save then replaces what is there."""
    app = panel()
    editor = edit(app)
    app.change(lambda session: session.renewed(session.catalog, px.flatten([record(french="Limette")]), None))
    app.act("card.correct", product_id="7", place=editor["place"], before="Citron", text="Citron vert")
    refused = texts(app)[FRENCH]["editor"]
    assert () == app.session.corrections
    assert "This text is now “Limette”. Nothing was kept." in refused["error"]
    assert ("Citron vert", "Limette") == (refused["value"], refused["before"])

    app.act("card.correct", product_id="7", place=editor["place"], before="Limette", text="Citron vert")
    assert ["Limette"] == [one.before for one in app.session.corrections]


def test_of_two_pages_the_second_sees_what_the_first_has_written() -> None:
    """A page that still shows the text of before does not overwrite the correction of another one unseen."""
    app = panel()
    place = edit(app)["place"]
    app.act("card.correct", product_id="7", place=place, before="Citron", text="Citron vert")
    app.act("card.correct", product_id="7", place=place, before="Citron", text="Citron jaune")
    editor = texts(app)[FRENCH]["editor"]
    assert ["Citron vert"] == [one.text for one in app.session.corrections]
    assert "This text is now “Citron vert”" in editor["error"]
    assert "Citron jaune" == editor["value"]


def test_a_correction_that_arrives_twice_is_one() -> None:
    """The same again changes nothing, and is no problem."""
    app = panel()
    place = edit(app)["place"]
    for _ in range(2):
        app.act("card.correct", product_id="7", place=place, before="Citron", text="Citron vert")
    assert 1 == len(app.session.corrections)
    assert {} == app.session.errors
    assert {} == app.session.notices


def test_a_text_that_is_gone_is_refused_with_what_was_typed() -> None:
    """The product has no such text any more: the sentence has what was written, to copy it."""
    app = panel()
    place = texts(app)[FRENCH]["key"]
    app.change(lambda session: session.renewed(session.catalog, px.flatten([{"id": 7, "uuid": "x"}]), None))
    app.act("card.correct", product_id="7", place=place, before="Citron", text="Citron vert")
    notice = app.session.notices["card"]
    assert notice.is_problem
    assert "has no such text any more. You typed: “Citron vert”" in notice.sentence
    assert () == app.session.corrections


def test_what_is_typed_survives_another_page_and_another_product() -> None:
    """An editor holds what was typed in it until it is kept or left."""
    app = panel(record(), record(8))
    place = edit(app)["place"]
    app.act("form.set", form="card 7", field=place, value="Citron v")
    assert "Citron v" == texts(app)[FRENCH]["editor"]["value"]

    app.act("table.open", product_id="8")
    assert "editor" not in texts(app)[FRENCH]
    app.act("table.open", product_id="7")
    assert "Citron v" == texts(app)[FRENCH]["editor"]["value"]

    app.act("card.leave", product_id="7", place=place)
    assert "editor" not in texts(app)[FRENCH]
    assert "Citron" == edit(app)["value"]
    assert () == app.session.corrections


def test_what_is_typed_for_a_product_is_in_no_editor_of_another_one() -> None:
    """It is collected for its own product as soon as somebody writes elsewhere, or stays there, with its error."""
    app = panel(record(), record(8, "Zitrone"))
    place = edit(app)["place"]
    app.act("form.set", form="card 7", field=place, value="Citron v")
    for name in ("Citron v", "half \ud83d"):
        app.act("table.open", product_id="8")
        app.act("card.edit", product_id="8", place=texts(app)[FRENCH]["key"])
        other = texts(app)[FRENCH]["editor"]
        assert ("Zitrone", "") == (other["value"], other["error"])
        assert [("7", "Citron v")] == [(one.product_id, one.text) for one in app.session.corrections]

        app.act("table.open", product_id="7")
        assert name == edit(app)["value"]
        app.act("card.correct", product_id="7", place=place, before="Citron v", text="half \ud83d")


def test_whoever_opens_another_text_has_finished_the_one_before() -> None:
    """What was typed there is collected; what cannot be, keeps its editor open, with why."""
    app = panel()
    app.act("form.set", form="card 7", field=edit(app)["place"], value="Citron vert")
    english = edit(app, ENGLISH)["place"]
    assert ["Citron vert"] == [one.text for one in app.session.corrections]

    app.act("form.set", form="card 7", field=english, value="half \ud83d")
    app.act("card.edit", product_id="7", place=texts(app)[FRENCH]["key"])
    assert "half of a character" in texts(app)[ENGLISH]["editor"]["error"]
    assert "editor" not in texts(app)[FRENCH]


@each_row("written", ["", "   ", "\u00a0\n"])
def test_an_empty_text_is_asked_about(written: str) -> None:
    """Return on nothing says what to do; whoever goes on elsewhere leaves the text as it is."""
    app = panel()
    correct(app, written)
    assert "Write a text, or press Delete text." == texts(app)[FRENCH]["editor"]["error"]
    correct(app, written, "Short name, French")
    assert "Write a text, or press Cancel." == texts(app)["Short name, French"]["editor"]["error"]
    correct(app, written, is_leaving=True)
    assert "editor" not in texts(app)[FRENCH]
    assert () == app.session.corrections


@each_row("before", ["Citron\r\nvert", "Citron\rvert", "Citron\nvert"])
def test_line_ends_of_a_browser_are_no_correction(before: str) -> None:
    """What nobody changed is none, whatever a browser makes of the ends of lines."""
    app = panel(record(french=before))
    correct(app, "Citron\nvert")
    assert () == app.session.corrections


@each_row("written", ["<script>alert(1)</script>", "=1+1", "\u202eright to left", "Zutaten " * 5_000])
def test_anything_can_be_written(written: str) -> None:
    """Markup, formulas, directions and 40,000 characters are collected and shown letter by letter."""
    app = panel()
    correct(app, written)
    item = texts(app)[FRENCH]
    assert [written.strip()] == [one.text for one in app.session.corrections]
    assert item["now"]["text"].startswith(written.strip()[:30])
    assert written.strip() == edit(app)["value"]


@pytest.mark.slow
@each_row("before", [one for one in STRINGS if one.strip() and "\ud83d" not in one])
def test_what_suppliers_typed_is_edited_as_it_is(before: str) -> None:
    """The editor holds the text itself, also where it is shown folded or with symbols for what cannot be seen."""
    app = panel(record(french=before))
    assert before == edit(app)["value"]
    correct(app, f"{before}!")
    assert [before] == [one.before for one in app.session.corrections]


def test_two_texts_of_one_language_are_two_places() -> None:
    """Each is corrected by itself, and says which it is."""
    twice = [text("fra-FR", "Citron"), text("fra-FR", "Citron jaune")]
    app = panel({"id": 7, "namePublicLong": twice})
    rows = block(app, "card_texts")["rows"]
    (items,) = [cell["items"] for row in rows for cell in row["cells"] if len(cell.get("items", ())) == 2]
    assert 2 == len({one["key"] for one in items})
    last = items[1]["key"]
    app.act("card.correct", product_id="7", place=last, before="Citron jaune", text="Limette")
    assert [("1", "Citron jaune")] == [(one.position, one.before) for one in app.session.corrections]


def test_correct_a_text_opens_the_most_likely_one() -> None:
    """The first with a problem; without an audit the first name; and it opens the card."""
    app = panel(record(descriptionShort=[text("fra-FR", "Un citron")]))
    app.act("card.correct_first", product_id="7")
    assert "editor" in texts(app)["Long name, English"] or "editor" in texts(app)[FRENCH]

    lacking = {"id": 7, "product_key": {"target_market_id": 250}, "namePublicLong": [text("eng-GB", "Lemon")]}
    audited = panel(lacking, audit="online-listing")
    audited.act("card.correct_first", product_id="7")
    assert "editor" in texts(audited)[FRENCH]
    problems = [
        cell["problems"]
        for row in block(audited, "card_texts")["rows"]
        for cell in row["cells"]
        if cell.get("problems")
    ]
    assert "Long name missing in French" in str(problems)


def test_what_the_page_sends_is_not_believed() -> None:
    """Another product, another place, or another kind of value does nothing, and says so."""
    app = panel()
    place = texts(app)[FRENCH]["key"]
    for wrong in (
        {"product_id": "9", "place": place, "before": "Citron", "text": "x"},
        {"product_id": "7", "place": "[]", "before": "Citron", "text": "x"},
        {"product_id": "7", "place": "", "before": None, "text": "x"},
        {"product_id": "7", "place": place, "before": 7, "text": "x"},
        {"product_id": "7", "place": place, "text": "x"},
    ):
        app.act("card.correct", **wrong)
        assert app.session.notices["card"].is_problem
        assert () == app.session.corrections


def test_what_was_sent_and_not_confirmed_says_so() -> None:
    """It stands where the new text was collected, and has no undo."""
    from datetime import UTC, datetime

    from prodex.exploration.drafts import SentCorrections

    app = panel()
    correct(app, "Citron vert")
    sent = SentCorrections(datetime.now(UTC), "exchange.example", app.session.corrections)
    app.change(lambda session: session.replaced(corrections=(), unconfirmed=(sent,)))
    item = texts(app)[FRENCH]
    assert ("sent, not confirmed", "Citron vert") == (item["mark"], item["now"]["text"])
    assert "undo" not in item


def test_a_text_without_a_language_cannot_be_corrected() -> None:
    """A correction could not name it; nor can another text be added to a nested attribute."""
    app = panel(
        {"id": 7, "namePublicLong": [{"data": "Citron"}], "synonyms": [{"text": [text("fra-FR", "c")]}]}
    )
    assert not [name for name in texts(app) if name.startswith("Long name, ,")]
    assert 1 == len([name for name in texts(app) if name.startswith("Synonyms")])


def test_a_card_says_that_its_product_is_not_in_the_list() -> None:
    """It would be taken for one of those beside it; a card alone has no list."""
    app = App(Session(px.flatten([record(), record(8)]), product_id="7"))
    assert "apart" not in keys(app)
    app.change(lambda session: session.filtered(Selection(words="8")))
    app.change(lambda session: session.filtered(Selection(groups={"brand": ("ACME",)})))
    assert "apart" in keys(app)
    assert "apart" not in keys(panel())


def test_half_of_a_character_reaches_no_page() -> None:
    """It is refused beside the text, in messages that any host can take."""
    app = panel()
    sent: list[Any] = []
    app.send = lambda message, _: sent.append(message)
    app.hear({"type": "open", "page": "p"})
    place = edit(app)["place"]
    app.act("form.set", form="card 7", field=place, value="half \ud83d")
    app.act("card.correct", product_id="7", place=place, before="Citron", text="half \ud83d")
    assert "half of a character" in texts(app)[FRENCH]["editor"]["error"]
    assert () == app.session.corrections
    assert "half \ufffd" in json.dumps(sent, ensure_ascii=False)
    json.dumps(sent, ensure_ascii=False).encode()

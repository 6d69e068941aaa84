"""Correcting all chosen products at once: the form, the preview, and nothing is sent that no longer holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields as fields_of
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.corrections.operations import OPERATIONS, SetValue
from prodex.notebook.app import App
from prodex.notebook.session.jobs import are_same_arguments
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views import bulk
from prodex.notebook.views.bulk import bulk_wants
from prodex.notebook.views.operations import PARAMETERS, chosen_operation
from prodex.notebook.views.sending import OUTBOXES
from prodex.sandbox import Sandbox
from prodex.selection import Selection
from tests.notebook.pressing import (
    blocks_in,
    buttons,
    fields,
    has_button,
    press,
    said,
    settle,
    switch_in,
    type_in,
    words_in,
)
from tests.worklists.bakery import RECORDS, stored

FIRST = RECORDS[0]["gtin"]
CAPITALS = RECORDS[0]["namePublicLong"][0]["data"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is sent in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a preview be made sooner after the last letter: nobody types in tests."""
    monkeypatch.setattr(bulk, "_PAUSE", 0.05)


@pytest.fixture
def service() -> Iterator[prodex.service.Client]:
    """Serve the products."""
    with Sandbox(RECORDS) as sandbox:
        key = sandbox.credentials[0]
        yield prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )


@pytest.fixture
def opened(service: prodex.service.Client) -> Callable[..., App]:
    """Return a function that opens the fold below the products, and fills in the form."""

    def open_(**given: Any) -> App:
        catalog = prodex.load_products(service, progress=False)
        return filled(App(Session(catalog, service=service)), **given)

    return open_


def filled(app: App, do: str = "replace text", field: str = "Long name", **given: Any) -> App:
    """Open the fold, fill in the form, and wait for the preview."""
    app.act("fold.set", key="bulk", is_open=True)
    app.act("bulk.choose", name=do)
    type_in(app, "bulk", attribute=field, language=given.pop("language", ""))
    type_in(app, "bulk", **{f"{do}.{name}": value for name, value in given.items()})
    settle(app)
    return app


def after(app: App) -> list[str]:
    """Return the new values of the preview."""
    made = OUTBOXES["bulk"].preview(app.session)
    assert made is not None
    return made.fix.preview()["after"].tolist()


def send(app: App) -> None:
    """Press Send, and Yes."""
    press(app, "Send ")
    press(app, "Yes, send ")


@pytest.mark.slow
def test_every_operation_has_a_form_and_every_form_says_what_is_missing(opened: Callable[..., App]) -> None:
    """Each parameter that an operation needs is asked for; what is not filled in is named, and nothing is judged."""
    app = opened()
    assert list(OPERATIONS) == [one["name"] for one in switch_in(app, "operations")["options"]]
    assert {(name, one.name) for name, made in OPERATIONS.items() for one in fields_of(made)} == set(
        PARAMETERS
    )
    for name, made in OPERATIONS.items():
        app.act("bulk.choose", name=name)
        settle(app)
        shown = fields(app, "bulk")
        assert {f"{name}.{one.name}" for one in fields_of(made)} <= set(shown)
        assert shown["attribute"]["value"] in shown["attribute"]["suggestions"]
        # What is previewed without a word is an operation; all others say beside a field what they need.
        is_whole = not any("hint" in one for one in shown.values())
        assert is_whole or not has_button(app, "Send")
        if not is_whole:
            with pytest.raises(Refused) as refused:
                chosen_operation(app.session)
            assert str(refused.value) == shown[refused.value.at.removeprefix("bulk.")]["hint"]


@pytest.mark.slow
def test_what_is_previewed_is_sent_and_shown_and_taken_back(
    opened: Callable[..., App], service: prodex.service.Client
) -> None:
    """Every section shows the products as they are afterwards, and an undo goes the same way."""
    app = opened(find="PAIN", by="Pain")
    assert ["Pain DE CAMPAGNE AUX GRAINES"] == after(app)
    assert "1 of 1 correction, before and after" in said(app)
    press(app, "Send 1 correction")
    assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]
    press(app, "Yes, send 1 correction of 1 product")
    assert "Pain DE CAMPAGNE AUX GRAINES" == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert "Pain DE CAMPAGNE AUX GRAINES" in app.session.catalog.texts["text"].tolist()
    assert "1 correction has arrived" in said(app)
    press(app, "Take it back")
    assert "Take back what was sent: 1 value of 1 product can be sent" in said(app)
    send(app)
    assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert CAPITALS in app.session.catalog.texts["text"].tolist()
    assert not buttons(app, "Take it back")


@pytest.mark.slow
def test_who_goes_on_instead_of_taking_back_sees_what_the_form_says(opened: Callable[..., App]) -> None:
    """The preview of an undo gives way to whatever is typed next."""
    app = opened(find="PAIN", by="Pain")
    send(app)
    press(app, "Take it back")
    press(app, "Send 1")
    (yes,) = buttons(app, "Yes, send")
    filled(app, find="CAMPAGNE", by="campagne")
    assert ["Pain DE campagne AUX GRAINES"] == after(app)
    app.act(yes["do"], **yes["args"])
    settle(app)
    assert "Nothing was sent" in said(app)
    assert has_button(app, "Take it back")


@pytest.mark.slow
def test_a_second_correction_is_of_what_the_first_has_left(
    opened: Callable[..., App], service: prodex.service.Client
) -> None:
    """In one go, without a new load: the products are judged and counted as they are now."""
    app = opened(find="PAIN", by="Pain")
    send(app)
    filled(app, find="CAMPAGNE", by="campagne")
    assert ["Pain DE campagne AUX GRAINES"] == after(app)
    assert len(RECORDS) == len(app.session.catalog)
    send(app)
    assert "Pain DE campagne AUX GRAINES" == stored(service, FIRST)["namePublicLong"][0]["data"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda app: app.change(lambda session: session.replaced(selected=("2",))),
        lambda app: app.change(lambda session: session.filtered(session.conditions.toggled("brand", "BEST"))),
        lambda app: app.change(lambda session: session.filtered(session.conditions.searching("zwieback"))),
        lambda app: app.change(lambda session: session.looking_at(prodex.flatten(RECORDS[1:]))),
        lambda app: type_in(app, "bulk", **{"replace text.by": "Brot"}),
        lambda app: type_in(app, "bulk", language="Dutch"),
        lambda app: app.act("bulk.choose", name="remove value"),
        lambda app: app.act("fold.set", key="bulk", is_open=False) or type_in(app, "bulk", language="nl"),
    ],
    ids=["selection", "filter", "search", "catalogue", "parameter", "language", "operation", "closed"],
)
def test_a_preview_that_no_longer_holds_is_not_sent(
    opened: Callable[..., App], service: prodex.service.Client, change: Callable[[App], object]
) -> None:
    """Whatever changes between the question and Yes: the first preview is not what is sent."""
    before = stored(service, FIRST)
    app = opened(find="PAIN", by="Pain")
    press(app, "Send 1")
    (yes,) = buttons(app, "Yes, send")
    change(app)
    app.act(yes["do"], **yes["args"])
    assert "Nothing was sent" in said(app)
    settle(app)
    app.act(yes["do"], **yes["args"])
    settle(app)
    assert before == stored(service, FIRST)


@pytest.mark.slow
def test_what_is_typed_right_before_the_press_is_in_it(
    opened: Callable[..., App], service: prodex.service.Client
) -> None:
    """A page sends it before the press: then the preview of before is not what is sent."""
    app = opened(find="PAIN", by="Pain")
    (send_it,) = buttons(app, "Send 1")
    type_in(app, "bulk", **{"replace text.by": "Brot"})
    app.act(send_it["do"], **send_it["args"])
    assert not buttons(app, "Yes")
    settle(app)
    send(app)
    assert "Brot DE CAMPAGNE AUX GRAINES" == stored(service, FIRST)["namePublicLong"][0]["data"]


@pytest.mark.slow
def test_selected_products_come_before_filters(opened: Callable[..., App]) -> None:
    """The title says how many are chosen, and the preview is about these alone."""
    app = opened(find="P", by="p")
    assert f"Correct the {len(RECORDS)} chosen products" in said(app)
    app.change(lambda session: session.replaced(selected=("1",)))
    settle(app)
    assert "Correct the 1 chosen product" in said(app)
    made = OUTBOXES["bulk"].preview(app.session)
    assert made is not None
    assert {"1"} == set(made.fix.answers["product_id"])
    app.change(
        lambda session: session.replaced(selected=()).filtered(session.conditions.toggled("brand", "ACME"))
    )
    settle(app)
    assert "Correct the 2 chosen products" in said(app)
    app.change(lambda session: session.filtered(session.conditions.searching("zwieback")))
    settle(app)
    assert "Correct the 0 chosen products" in said(app)
    assert "No product is chosen." in said(app)


@pytest.mark.slow
def test_what_needs_confirmation_needs_a_press_of_its_own(opened: Callable[..., App]) -> None:
    """A code that nobody uses is not sent with the others; another code is asked about anew."""
    app = opened(do="set code", field="Brand", code="NOBODY")
    assert "To be confirmed, 3" in said(app)
    assert not has_button(app, "Send")
    (yes,) = buttons(app, "Yes, 3 corrections to be confirmed are meant")
    press(app, "Yes, 3 corrections to be confirmed are meant")
    assert has_button(app, "Send 3 corrections")
    type_in(app, "bulk", **{"set code.code": "SOMEBODY"})
    settle(app)
    assert not has_button(app, "Send")
    app.act(yes["do"], **yes["args"])
    assert "What is asked is another by now" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed", ["", "no such field", "gtin", "updatedAt", "<b>Long name</b>", "long name ", "namepubliclong"]
)
def test_a_field_is_known_by_title_or_path_and_others_are_named(
    opened: Callable[..., App], typed: str
) -> None:
    """Case and spaces do not matter; what is wrong stands at the field."""
    app = opened(field=typed, find="PAIN", by="Pain")
    is_known = typed in {"long name ", "namepubliclong"}
    assert is_known == has_button(app, "Send 1")
    assert is_known == ("hint" not in fields(app, "bulk")["attribute"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("do", "wrong", "at"),
    [
        ("replace text", {"find": "(", "by": "", "pattern": True}, "replace text.find"),
        ("convert unit", {"to": "furlongs"}, "convert unit.to"),
        ("set value", {"value": "Pain", "language": "Klingonese"}, "language"),
        ("move text", {"to_attribute": "nowhere"}, "move text.to_attribute"),
    ],
)
def test_what_is_wrong_stands_at_its_field(
    opened: Callable[..., App], do: str, wrong: dict[str, Any], at: str
) -> None:
    """Whatever was typed: nothing is previewed, and a sentence says why."""
    field = "Net content" if do == "convert unit" else "Long name"
    app = opened(do=do, field=field, **wrong)
    assert "hint" in fields(app, "bulk")[at], fields(app, "bulk")
    assert not has_button(app, "Send")


def test_without_a_service_it_is_previewed_and_says_how_to_send(home: Path) -> None:
    """The button says what is missing, and a recipe is kept all the same."""
    app = App(Session(prodex.flatten(RECORDS), conditions=Selection().toggled("brand", "ACME")))
    filled(app, find="PAIN", by="Pain")
    press(app, "Send 1")
    assert "explore(catalog, service=prodex.connect())" in said(app)
    press(app, "Keep as a recipe")
    assert "Enter a file" in fields(app, "bulk-recipe")["file"]["error"]
    type_in(app, "bulk-recipe", file=str(home / "pain.toml"))
    press(app, "Keep as a recipe")
    assert f"Kept as {home / 'pain.toml'}" in said(app)
    recipe = prodex.Recipe.read(home / "pain.toml")
    fix = prodex.apply_recipe(prodex.flatten(RECORDS), recipe)
    assert ["Pain DE CAMPAGNE AUX GRAINES"] == fix.preview()["after"].tolist()
    assert "pain" == recipe.title
    assert Selection().toggled("brand", "ACME") == recipe.chosen
    before = (home / "pain.toml").read_bytes()
    press(app, "Keep as a recipe")
    assert f"Kept as {home / 'pain.toml'}" in said(app)
    type_in(app, "bulk", **{"replace text.by": "Brot"})
    settle(app)
    press(app, "Keep as a recipe")
    assert "already exists" in fields(app, "bulk-recipe")["file"]["error"]
    assert before == (home / "pain.toml").read_bytes()


@pytest.mark.slow
def test_what_was_not_asked_for_is_not_said_to_be_missing(service: prodex.service.Client) -> None:
    """Of products that were loaded without a field nobody knows that they have no value there."""
    query = prodex.ProductQuery(source_include=["gtin", "nameLegal"])
    app = App(Session(prodex.load_products(service, query, progress=False)))
    for field, words in (
        ("Long name", "Trim and collapse spaces: the products were loaded without namePublicLong"),
        ("Legal name", "so already"),
    ):
        filled(app, "trim spaces", field)
        assert words in said(app)
    assert "have no value there" not in said(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("do", "field", "given", "words"),
    [
        ("set value", "Net content", {"value": "5"}, "'5' is not a number with its unit."),
        (
            "copy from",
            "Long name",
            {"from_attribute": "netContent"},
            "Copy from netContent: netContent holds a quantity",
        ),
    ],
)
def test_what_cannot_be_done_is_not_said_to_change_nothing(
    opened: Callable[..., App], do: str, field: str, given: dict[str, str], words: str
) -> None:
    """Why it cannot be done is said instead, as `prodex.correct` does."""
    app = filled(opened(), do, field, **given)
    assert words in said(app)
    assert "nothing to change" not in said(app)


@pytest.mark.slow
def test_what_suppliers_typed_is_a_text_of_its_own(opened: Callable[..., App]) -> None:
    """Before and after, in the headline and in the reasons: never a sentence of ours, or markup."""
    markup = "<img src=x onerror=alert(1)>"
    app = opened(do="set value", field="Long name", language="French", value=markup)
    cells = [
        cell for one in blocks_in(app.view()) if one["key"] == "sample" for cell in one["rows"][0]["cells"]
    ]
    assert [{"text": markup}] == [cell["words"] for cell in cells if markup in words_in(cell)]
    headline = next(one for one in blocks_in(app.view()) if one["key"] == "said")
    assert isinstance(headline["text"], dict)
    assert markup in headline["text"]["text"]


@pytest.mark.slow
def test_a_form_has_no_step_until_it_is_filled_in(opened: Callable[..., App]) -> None:
    """What it says is the operation as a recipe has it; what was typed for another operation stays there."""
    app = opened()
    with pytest.raises(Refused, match="Find"):
        chosen_operation(app.session)
    filled(app, "set value", value="Pain", language="fra-FR")
    chosen = chosen_operation(app.session)
    assert (SetValue("Pain"), "fr-FR") == (chosen.operation, chosen.language)
    app.act("bulk.choose", name="set code")
    assert "Long name" != fields(app, "bulk")["attribute"]["value"]
    app.act("bulk.choose", name="set value")
    assert "Pain" == fields(app, "bulk")["set value.value"]["value"]
    app.act("bulk.choose", name="set fire")
    assert "There is no operation" in said(app)


def test_the_form_offers_each_country_of_a_language_where_there_are_several() -> None:
    """Beside the language as a whole, by its name; also as where a text is moved to or copied from."""
    names = [
        {"expressedIn": {"code": code, "normalizedCode": code[:2]}, "data": code}
        for code in ("fra-FR", "fra-BE", "nld-NL")
    ]
    app = App(Session(prodex.flatten([{"id": 7, "gtin": FIRST, "namePublicLong": names}])))
    filled(app, "move text", language="French (Belgium)", to_language="French (France)")
    offered = fields(app, "bulk")
    assert ["French", "French (Belgium)", "French (France)", "Dutch"] == offered["language"]["suggestions"]
    assert offered["language"]["suggestions"] == offered["move text.to_language"]["suggestions"]
    chosen = chosen_operation(app.session)
    assert ("fr-BE", "fr-FR") == (chosen.language, chosen.operation.to_language)


def test_nothing_is_judged_that_nobody_sees() -> None:
    """A fold that is closed asks for nothing."""
    app = App(Session(prodex.flatten(RECORDS)))
    type_in(app, "bulk", **{"replace text.find": "PAIN"})
    settle(app)
    assert OUTBOXES["bulk"].known(app.session).preview is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("do", "field", "given", "number"),
    [
        ("replace text", "Legal name", {"find": "Pain", "by": "Brot"}, 3),
        ("set value", "Long name", {"value": "Nom", "language": "French"}, 2),
        ("remove value", "Description", {}, 2),
        ("set value", "Legal name", {"value": "(delete)", "language": "French"}, 0),
        ("set code", "Brand", {"code": "ACME"}, 0),
    ],
)
def test_texts_can_be_collected_and_are_the_same_then(
    opened: Callable[..., App], do: str, field: str, given: dict[str, Any], number: int
) -> None:
    """They are judged as they were previewed; what is more than corrections of texts is not offered to be collected."""
    app = opened(do=do, field=field, **given)
    while buttons(app, "Yes, "):
        press(app, "Yes, ")
    if not number:
        assert not buttons(app, "Collect")
        return
    made = OUTBOXES["bulk"].preview(app.session)
    assert made is not None
    (collects,) = buttons(app, "Collect")
    press(app, f"Collect {number} corrections")
    assert number == len(app.session.corrections)
    fix = prodex.correct_from(app.session.corrections, app.session.catalog)
    columns = ["gtin", "attribute", "language", "before", "after"]
    assert made.fix.preview()[columns].values.tolist() == fix.preview()[columns].values.tolist()
    app.change(lambda session: session.replaced(selected=("2",)))
    app.act(collects["do"], **collects["args"])
    assert "What would be collected is another by now" in said(app)
    assert number == len(app.session.corrections)


def test_a_text_that_was_typed_is_not_lost_to_those_that_are_collected_at_once(
    opened: Callable[..., App],
) -> None:
    """It is said that it was replaced, and it can be brought back."""
    app = opened(field="Legal name", find="Pain", by="Brot")
    made = OUTBOXES["bulk"].preview(app.session)
    assert made is not None
    first = made.shown.texts[0]
    typed = replace(first, text="Typed with care")
    app.change(lambda session: session.correcting(typed))
    press(app, "Collect ")
    assert "1 correction of the same text was replaced" in said(app)
    app.act("corrections.undo")
    assert typed in app.session.corrections


def test_a_preview_that_is_being_made_is_not_begun_anew() -> None:
    """Whatever else changes meanwhile, the same is wanted; what is typed is another."""
    app = App(Session(prodex.flatten(RECORDS)))
    app.act("fold.set", key="bulk", is_open=True)
    type_in(app, "bulk", **{"replace text.find": "PAIN"})
    (want,) = bulk_wants(app.session)
    (same,) = bulk_wants(app.session.noting("Something else."))
    assert are_same_arguments(want.key, same.key)
    type_in(app, "bulk", **{"replace text.find": "Pain"})
    (other,) = bulk_wants(app.session)
    assert not are_same_arguments(want.key, other.key)

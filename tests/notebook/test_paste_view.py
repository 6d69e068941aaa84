"""A table pasted into a panel: its columns are confirmed, and it is sent as all corrections are; without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.sending import OUTBOXES
from prodex.sandbox import Sandbox
from tests.notebook.pressing import blocks_in, fields, has_button, press, said, settle, type_in
from tests.worklists.bakery import RECORDS, stored

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)
CAPITALS = RECORDS[0]["namePublicLong"][0]["data"]
ROWS = (f"{FIRST[1:]}\tPain bis\t0,6 kg", f"{THIRD}\tsee label\t", "4006381333931\tx y\t")
COPIED = "\r\n".join(["EAN\tNom long FR\tContenu net", *ROWS, ""])
CONFIRM = "The columns mean this"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """Give a panel over a served snapshot, with the field for a table."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    with Sandbox(RECORDS) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(service, name="shop", progress=False)
        yield opened(Session(catalog, service=service))


def opened(session: Session) -> App:
    made = App(session.replaced(section="corrections"))
    made.act("fold.set", key="paste", is_open=True)
    return made


@pytest.fixture
def alone() -> App:
    """Give a panel over products without a service."""
    return opened(Session(prodex.flatten(RECORDS)))


def paste(app: App, text: str) -> None:
    """Paste a table into its field."""
    type_in(app, "paste", table=text)
    settle(app)


def column(app: App, place: int) -> dict[str, Any]:
    return list(fields(app, "paste-headings").values())[place]


def choose(app: App, **values: str) -> None:
    """Choose what columns mean, by their number."""
    for name, value in values.items():
        place = int(name.removeprefix("column"))
        type_in(app, "paste-headings", **{column(app, place)["key"]: value})


@pytest.mark.slow
def test_four_presses_lead_from_a_table_to_the_service(app: App) -> None:
    """The columns, the question, to send, and yes; whole records differ in what was previewed."""
    service = app.session.service
    assert service is not None
    before = {one["gtin"]: stored(service, one["gtin"]) for one in RECORDS}
    paste(app, COPIED)
    assert "3 rows, 3 columns. What do the columns mean?" in said(app)
    press(app, CONFIRM)
    shown = said(app)
    assert "2 can be sent" in shown
    assert "no product of the catalogue has the GTIN 4006381333931" in shown
    assert CAPITALS in shown
    press(app, "It is meant")
    press(app, "Send 3 corrections")
    press(app, "Yes, send 3 corrections of 2 products")
    assert "3 corrections have arrived" in said(app)

    after = {one["gtin"]: stored(service, one["gtin"]) for one in RECORDS}
    assert before[SECOND] == after[SECOND]
    assert "Pain bis" == after[FIRST]["namePublicLong"][0]["data"]
    assert (0.6, "KGM") == (
        after[FIRST]["netContent"][0]["data"],
        after[FIRST]["netContent"][0]["expressedIn"]["code"],
    )
    assert "see label" == after[THIRD]["namePublicLong"][0]["data"]
    for code, changed in ((FIRST, {"namePublicLong", "netContent"}), (THIRD, {"namePublicLong"})):
        now, then = after[code], before[code]
        assert changed == {name for name in now.keys() | then.keys() if now.get(name) != then.get(name)} - {
            "updatedAt"
        }
    assert before[FIRST]["namePublicLong"][1:] == after[FIRST]["namePublicLong"][1:]
    assert "Pain bis" in app.session.catalog.texts["text"].tolist()
    assert not has_button(app, "Send ")


def test_a_yes_to_all_is_one_to_those_that_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says yes to a question that was not on the screen; the others are listed next."""
    monkeypatch.setattr("prodex.notebook.views.judged_answers._ROWS", 2)
    alike = [{**RECORDS[0], "id": one["id"], "gtin": one["gtin"]} for one in RECORDS]
    alone = opened(Session(prodex.flatten(alike)))
    rows = "".join(f"{gtin}\tsee label {place}\n" for place, gtin in enumerate((FIRST, SECOND, THIRD)))
    paste(alone, f"EAN\tNom long FR\n{rows}")
    press(alone, CONFIRM)
    assert "3 answers to be confirmed, and not sent (2 listed)" in said(alone)
    assert not has_button(alone, "All ")
    press(alone, "The 2 listed are meant")
    assert "2 can be sent" in said(alone)
    assert "1 answer to be confirmed, and not sent" in said(alone)
    press(alone, "It is meant")
    assert "3 can be sent" in said(alone)


def test_what_is_proposed_is_shown_and_what_is_asked_has_to_be_chosen(alone: App) -> None:
    """Nobody chooses for anybody: the press says beside the field what is open."""
    paste(alone, f"EAN\tNom\tRemarque\n{FIRST}\tPain bis\tEva\n")
    assert ["gtin", "", ""] == [column(alone, place)["value"] for place in range(3)]
    assert "Which of them is meant?" in column(alone, 1)["hint"]["text"]
    assert "First value: Pain bis" in column(alone, 1)["hint"]["text"]
    first = [one["value"] for one in column(alone, 1)["options"]][:4]
    assert ["", "namePublicLong", "namePublicShort", "nameLegal"] == first
    press(alone, CONFIRM)
    assert "Choose what 'Nom' is" in column(alone, 1)["error"]
    choose(alone, column1="namePublicLong.fr")
    press(alone, CONFIRM)
    assert "Choose what 'Remarque' is" in column(alone, 2)["error"]
    assert OUTBOXES["paste"].preview(alone.session) is None
    choose(alone, column2="ignore")
    press(alone, CONFIRM)
    preview = OUTBOXES["paste"].preview(alone.session)
    assert preview is not None
    assert [("Pain bis", "accepted")] == list(
        preview.fix.answers[["answer", "state"]].itertuples(index=False, name=None)
    )
    assert not has_button(alone, CONFIRM)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"column0": "ignore"}, "No column says which product a row is about"),
        ({"column1": "gtin"}, "2 columns are gtin"),
        ({"column1": "ignore"}, "No column has values"),
    ],
)
def test_columns_that_make_no_corrections_are_refused(alone: App, chosen: dict[str, str], words: str) -> None:
    """In words, and nothing is judged."""
    paste(alone, f"EAN\tNom long FR\n{FIRST}\tPain bis\n")
    choose(alone, **chosen)
    press(alone, CONFIRM)
    assert words in said(alone)
    assert OUTBOXES["paste"].preview(alone.session) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("EAN\tNom\n", "has no row below its headings"),
        ("x", "has no row below its headings"),
    ],
)
def test_what_is_no_table_is_said(alone: App, text: str, words: str) -> None:
    """Below the field, without a press; an empty field says nothing."""
    paste(alone, text)
    assert words in said(alone)
    paste(alone, "EAN\tNom\n" + f"{FIRST}\tx\n" * 1_001)
    assert "has 1,001 rows, and 1,000 are read at a time" in said(alone)
    paste(alone, " ")
    assert words not in said(alone)
    assert not has_button(alone, "Clear")


def test_another_table_has_to_be_confirmed_again(alone: App) -> None:
    """What was judged of the first is not sent for the second, and a stale press does nothing."""
    paste(alone, f"EAN\tNom long FR\n{FIRST}\tPain bis\n")
    press(alone, CONFIRM)
    first = OUTBOXES["paste"].preview(alone.session)
    assert first is not None
    assert has_button(alone, "Send 1 correction")
    for table in ("Pain ter", "Pain bis"):
        paste(alone, f"EAN\tNom long FR\n{FIRST}\t{table}\n")
        is_confirmed = table == "Pain bis"
        assert is_confirmed == has_button(alone, "Send ")
        alone.act("send.ask", outbox="paste", digest=first.digest)
        assert is_confirmed != ("Nothing was sent" in said(alone))
    choose(alone, column1="namePublicLong.nl")
    assert has_button(alone, CONFIRM)
    assert not has_button(alone, "Send ")
    press(alone, CONFIRM)
    second = OUTBOXES["paste"].preview(alone.session)
    assert second is not None
    assert first.digest != second.digest
    alone.act("send.ask", outbox="paste", digest=first.digest)
    assert "Nothing was sent" in said(alone)
    # What was chosen for a heading says nothing of another one at its place.
    paste(alone, f"EAN\tNom\n{FIRST}\tPain bis\n")
    assert "" == column(alone, 1)["value"]
    press(alone, "Clear")
    assert OUTBOXES["paste"].preview(alone.session) is None
    assert "" == fields(alone, "paste")["table"]["value"]


def test_hostile_cells_are_shown_as_they_are(alone: App) -> None:
    """Markup and formulas in headings and cells are texts, long ones are cut in labels, and none is run."""
    hostile = '<img src=x onerror="alert(1)">'
    paste(alone, f"EAN\t{hostile}\t=1+1\n{FIRST}\t{'x' * 5_000}\t{hostile}\n")
    assert hostile in said(alone)
    assert all(len(str(column(alone, place)["label"])) < 100 for place in range(3))
    choose(alone, column1="ignore", column2="namePublicLong.fr")
    press(alone, CONFIRM)
    assert hostile in said(alone)
    assert not [one for one in blocks_in(alone.view()) if one["kind"] == "html"]


@pytest.mark.slow
def test_a_value_that_changed_since_is_not_sent(app: App) -> None:
    """What somebody else has written stays, and is shown."""
    service = app.session.service
    assert service is not None
    paste(app, f"EAN\tNom long FR\n{FIRST}\tPain bis\n")
    press(app, CONFIRM)
    theirs = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain de la ferme"}]
    prodex.upsert(service, [{"gtin": FIRST, "namePublicLong": theirs}], progress=False).wait(progress=False)
    press(app, "Send 1 correction")
    press(app, "Yes, send 1 correction")
    settle(app)
    assert "no answer is left to send" in said(app)
    assert "Pain de la ferme" == stored(service, FIRST)["namePublicLong"][0]["data"]

"""Corrections from the list to the proof: nothing typed is lost, nothing is sent twice, or that was not shown."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex import TextCorrection
from prodex.exploration.drafts import CorrectionDraft, SentCorrections, change_draft, read_draft
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.sandbox import Behaviour, Fault, Sandbox
from tests.cases import each_row
from tests.notebook.held import held
from tests.notebook.pressing import (
    blocks_in,
    buttons,
    fields,
    has_button,
    press,
    said,
    settle,
    type_in,
    words_in,
)
from tests.worklists.bakery import RECORDS, stored

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)
CAPITALS = "PAIN DE CAMPAGNE AUX GRAINES"
PROFILE = {"checks": {"names_not_in_capitals": {}}}


def name(
    new: str | None = "Pain de campagne", product: str = "1", before: str | None = CAPITALS
) -> TextCorrection:
    """Correct the French name of a product."""
    place = {"position": "0", "language_code": "fra-FR"} if before else {}
    return TextCorrection(product, "namePublicLong", None if before else "fr", new, before=before, **place)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is saved in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve the products."""
    with Sandbox(RECORDS) as sandbox:
        yield sandbox


def client(exchange: Sandbox) -> prodex.service.Client:
    """Reach a sandbox."""
    key = exchange.credentials[0]
    return prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


@pytest.fixture
def service(exchange: Sandbox) -> prodex.service.Client:
    """Reach the products."""
    return client(exchange)


@pytest.fixture
def made(service: prodex.service.Client) -> Callable[..., App]:
    """Return a function that makes a panel over a snapshot of the products."""
    catalog = prodex.load_products(service, name="shop", progress=False)

    def make(*corrections: TextCorrection, **options: Any) -> App:
        options = {"catalog": catalog, "service": service, **options}
        app = App(Session(section="corrections", **options))
        collect(app, *corrections)
        return app

    return make


def collect(app: App, *corrections: TextCorrection) -> None:
    """Type corrections, and wait until they are judged."""
    for one in corrections:
        app.change(lambda session, one=one: session.correcting(one))
    settle(app)


def audited(app: App, profile: Any = PROFILE) -> None:
    """Make an audit of what is shown."""
    audit = prodex.audit(app.session.catalog, profile, progress=False)
    app.change(lambda session: session.replaced(audit=audit))
    settle(app)


def rows(app: App) -> list[dict[str, Any]]:
    """Return the rows of the list."""
    return [row for one in blocks_in(app.view()) if one["key"] == "list" for row in one["rows"]]


def states(app: App) -> list[str]:
    """Return what the list says of each correction."""
    return [row["look"].removeprefix("is-") for row in rows(app)]


def send(app: App) -> None:
    """Press both buttons, and wait for the end."""
    press(app, "Send ")
    press(app, "Yes, send ")


def upserts(exchange: Sandbox) -> int:
    """Return how many writes the service has carried out."""
    store, _ = exchange._running()
    with store.writing() as connection:
        return int(connection.execute("SELECT count(*) FROM imports").fetchone()[0])


@pytest.mark.slow
def test_from_the_correction_to_the_proof(made: Callable[..., App], service: prodex.service.Client) -> None:
    """Nothing is sent by the first press; afterwards catalogue and audit are those of now, and the draft is gone."""
    app = made(name(), name("Nom", "3", None), name("x" * 201, "2", None))
    audited(app)
    assert ["accepted", "accepted", "conflict"] == states(app)
    assert "3 corrections of 3 products, not sent yet: 2 can be sent, 1 in conflict." in said(app)
    assert "1 finding fixed, 0 new." in said(app)

    press(app, "Send 2 corrections")
    assert "Send 2 corrections of 2 products to 127.0.0.1?" in said(app)
    assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]
    press(app, "Do not send")
    assert not has_button(app, "Yes, send")
    assert has_button(app, "Send 2 corrections")

    press(app, "Send 2 corrections")
    press(app, "Yes, send 2 corrections of 2 products")
    assert "Pain de campagne" == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert "2 corrections have arrived at 127.0.0.1" in said(app)
    assert "Fixed: Name all in capitals: Pain de campagne" in said(app)
    session = app.session
    assert (["conflict"], ()) == (states(app), session.unconfirmed)
    texts = session.catalog.texts.query("product_id == '1' and attribute == 'namePublicLong'")[
        "text"
    ].tolist()
    assert "Pain de campagne" in texts
    assert session.audit is not None
    assert (0, True) == (session.audit.summary["failed"], session.audit.catalog is session.catalog)
    app.act("fold.set", key="arrived", is_open=True)
    assert "2 texts that arrived" in said(app)
    assert "Long name :  Nom" in said(app)
    press(app, "Clear")
    assert "" == read_draft("shop")[1]
    # That there are none is no news under what has become of them.
    assert "No corrections." not in said(app)


@pytest.mark.slow
def test_every_section_has_the_fresh_products(made: Callable[..., App]) -> None:
    """Wherever somebody has gone while it was sent: the products are those of now, and the filters stay."""
    app = made(name())
    app.change(lambda session: session.filtered(session.conditions.toggled("brand", "ACME")))
    press(app, "Send 1")
    press(app, "Yes, send 1", waits=False)
    app.act("section.open", name="products")
    settle(app)
    assert "Pain de campagne" in said(app)
    assert "Pain de campagne" in app.session.chosen.texts["text"].tolist()
    assert ("1", "3") == tuple(app.session.chosen.products["product_id"])


@pytest.mark.slow
def test_what_was_not_shown_is_not_sent(made: Callable[..., App], service: prodex.service.Client) -> None:
    """Whatever changes between the question and Yes, in this page or another, the press is refused visibly."""
    app = made(name())
    press(app, "Send 1")
    (yes,) = buttons(app, "Yes, send 1")
    collect(app, name("Pain bis"))
    assert not buttons(app, "Yes, send")
    app.act(yes["do"], **yes["args"])
    settle(app)
    assert "Nothing was sent: what would be sent is another by now" in said(app)
    # Typed again as it was: nobody has asked about it since.
    collect(app, name(), name("Nom", "3", None))
    (first,) = buttons(app, "Send 2")
    collect(app, name("Non", "3", None))
    app.act(first["do"], **first["args"])
    assert "what would be sent is another by now" in said(app)
    for digest in ("", "0" * 32, yes["args"]["digest"]):
        app.act("send.start", outbox="corrections", digest=digest)
        app.act("send.start", outbox="elsewhere", digest=digest)
    settle(app)
    assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert 2 == len(app.session.corrections)


@pytest.mark.slow
def test_two_presses_of_yes_send_once(made: Callable[..., App], exchange: Sandbox) -> None:
    """From two pages, or because the first seemed to do nothing."""
    app = made(name())
    press(app, "Send 1")
    (yes,) = buttons(app, "Yes, send 1")
    for _ in range(3):
        app.act(yes["do"], **yes["args"])
    settle(app)
    assert (1, ()) == (upserts(exchange), app.session.corrections)


@pytest.mark.slow
def test_a_remark_needs_confirmation_until_it_is_meant(made: Callable[..., App]) -> None:
    """A press takes it as it is, also when all are judged again; what is typed afterwards is asked about anew."""
    app = made(name("idem"), name("Nom", "3", None))
    assert ["needs-confirmation", "accepted"] == states(app)
    assert 1 == len(buttons(app, "It is meant"))
    press(app, "It is meant")
    assert ["accepted", "accepted"] == states(app)

    collect(app, name("ok", "3", None))
    assert ["accepted", "needs-confirmation"] == states(app)


@pytest.mark.slow
def test_a_product_that_was_corrected_is_first_in_the_table(made: Callable[..., App]) -> None:
    """Who has corrected it sees it; the others stay in their order."""
    app = made(name("Nom", "3", None))
    send(app)
    assert ["3", "1", "2"] == app.session.catalog.products["product_id"].tolist()


@pytest.mark.slow
def test_the_rules_are_those_of_the_audit(made: Callable[..., App]) -> None:
    """Without an audit only refusals are found, and the section says so."""
    app = made(name("PAIN DE SEIGLE NOIR"), name("TOUT PAIN NOIR", "3", None))
    assert "Without an audit only what the service would refuse is found" in said(app)
    audited(app)
    # What would newly fail needs confirmation, and is counted once it is meant.
    assert "1 to be confirmed" in said(app)
    press(app, "It is meant")
    assert "0 findings fixed, 1 new" in said(app)
    assert "Name all in capitals: " in said(app)


@pytest.mark.slow
def test_without_a_service_the_panel_says_how_to_send(made: Callable[..., App], tmp_path: Path) -> None:
    """A worklist with the new values can be written instead, and read again; what is wrong stands at its field."""
    app = made(name(), service=None)
    press(app, "Send 1 correction")
    assert "explore(catalog, service=prodex.connect())" in said(app)
    assert not has_button(app, "Yes")

    type_in(app, "corrections-export", folder=" ")
    press(app, "Write a worklist")
    assert "Enter a folder." == fields(app, "corrections-export")["folder"]["error"]
    type_in(app, "corrections-export", folder="x" * 300)
    press(app, "Write a worklist")
    assert "cannot be written to" in fields(app, "corrections-export")["folder"]["error"]
    type_in(app, "corrections-export", folder=str(tmp_path / "out"))
    press(app, "Write a worklist")
    assert "Exported 1 worklist" in said(app)
    (file,) = (tmp_path / "out").glob("*.xlsx")
    back = prodex.read_worklist(file, app.session.catalog, profile=PROFILE)
    assert ["Pain de campagne"] == back.preview()["after"].tolist()
    press(app, "Write a worklist")
    assert app.session.notices["corrections"].is_problem


def test_the_country_of_a_language_can_be_chosen_where_it_is_needed() -> None:
    """A card offers to add a text in French; whether of Belgium or of France is asked where it is not known."""

    def short(code: str) -> list[dict[str, Any]]:
        return [{"expressedIn": {"code": code}, "data": "Pain"}]

    codes = ("nld-BE", "fra-BE", "fra-FR")
    pairs = enumerate(zip(codes, (FIRST, SECOND, THIRD), strict=True), 1)
    belgium = {"product_key": {"target_market_id": 56}}
    records = [
        {"id": one, "gtin": gtin, "namePublicShort": short(code), **belgium} for one, (code, gtin) in pairs
    ]
    app = App(Session(prodex.flatten(records), section="corrections"))
    collect(app, TextCorrection("1", "namePublicShort", "fr", "Pain bis"))
    assert ["refused"] == states(app)
    assert "of a frame" not in said(app)
    press(app, "French (Belgium)")
    assert ["accepted"] == states(app)
    assert not buttons(app, "French (")
    assert ["fra-BE"] == [one.language_code for one in app.session.corrections]

    app.act("corrections.open", product_id="1")
    settle(app)
    (added,) = [
        item
        for one in blocks_in(app.view())
        if one["kind"] == "card_texts"
        for row in one["rows"]
        for cell in row["cells"]
        for item in cell.get("items", ())
        if item.get("mark")
    ]
    assert "Short name, French (Belgium)" == added["name"]
    app.act("card.undo", product_id="1", place=added["key"])
    assert () == app.session.corrections

    alone = App(Session(prodex.flatten(records[:1]), section="corrections"))
    collect(alone, TextCorrection("1", "namePublicShort", "fr", "Pain bis"))
    assert "takes a language with its country" in said(alone)


def test_what_is_removed_can_be_brought_back(made: Callable[..., App]) -> None:
    """One, and all of them; one that is another by now is not removed."""
    app = made(name(), name("Nom", "3", None))
    first, second = app.session.corrections
    (removes, _) = buttons(app, "Remove")
    press(app, "Remove")
    assert (second,) == app.session.corrections
    press(app, "Bring back 1 correction")
    assert {first, second} == set(app.session.corrections)
    press(app, "Clear")
    assert () == app.session.corrections
    assert "No corrections." in said(app)
    press(app, "Bring back 2 corrections")
    assert ["accepted"] * 2 == states(app)
    assert not buttons(app, "Bring back")

    collect(app, name("Pain bis"))
    app.act(removes["do"], **removes["args"])
    assert {"Pain bis", "Nom"} == {one.text for one in app.session.corrections}
    assert "that correction is another by now" in said(app)


def test_presses_in_a_row_lose_no_correction(made: Callable[..., App]) -> None:
    """Clear pressed twice takes nothing away from Bring back, and what was removed one by one comes back so."""
    app = made(name(), name("Nom", "3", None))
    (clear,) = buttons(app, "Clear")
    for _ in range(2):
        app.act(clear["do"], **clear["args"])
    press(app, "Bring back 2 corrections")
    for _ in range(2):
        press(app, "Remove")
    for number in (1, 2):
        press(app, "Bring back 1 correction")
        assert number == len(app.session.corrections)
    assert not buttons(app, "Bring back")


def test_what_was_typed_since_is_not_lost_to_what_is_brought_back(made: Callable[..., App]) -> None:
    """It changes places with it, which is said, and both are there as long as somebody may want them."""
    app = made(name("Pain"))
    press(app, "Remove")
    collect(app, name("Pain bis"))
    for brought in ("Pain", "Pain bis"):
        press(app, "Bring back 1 correction")
        assert [brought] == [one.text for one in app.session.corrections]
        assert "1 correction of the same text was replaced" in said(app)


def test_what_was_removed_is_not_brought_back_to_other_products(made: Callable[..., App]) -> None:
    """Ids of another catalogue are other products; what was removed is there again with its own."""
    app = made(name())
    first = app.session.catalog
    press(app, "Clear")
    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS[:2])))
    assert not buttons(app, "Bring back")
    app.act("corrections.undo")
    assert () == app.session.corrections
    app.change(lambda session: session.looking_at(first))
    press(app, "Bring back 1 correction")
    assert (name(),) == app.session.corrections


def test_a_product_opens_its_card(made: Callable[..., App]) -> None:
    """Among the products, also the one that was opened before."""
    app = made(name())
    (opens,) = [one for one in blocks_in(app.view()) if one.get("do") == "corrections.open"]
    app.act(opens["do"], **opens["args"])
    assert ("products", "1") == (app.session.section, app.session.product_id)


def test_those_of_a_product_are_below_each_other(made: Callable[..., App]) -> None:
    """In whatever order they were typed; each row has a key of its own, also those that were sent."""
    legal = TextCorrection("1", "nameLegal", "fr", "Pain bis", before="Pain")
    app = made(name("Nom", "3", None), name(), name("Nom", "2", None), legal)
    sent = SentCorrections(datetime(2026, 11, 23, 10, tzinfo=UTC), "exchange.example", (legal, name("Pain")))
    app.change(lambda session: session.replaced(unconfirmed=(sent,)))
    settle(app)
    heads = [words_in(row["cells"][0]) for row in rows(app)]
    assert sorted(heads, key=[*dict.fromkeys(heads)].index) == heads
    assert 6 == len({row["key"] for row in rows(app)})
    assert "2 corrections may have been sent." in said(app)


@pytest.mark.slow
def test_corrections_outlive_the_kernel(made: Callable[..., App], home: Path) -> None:
    """They are taken up again with a sentence, from a file that only its owner reads."""
    made(name())
    app = App(Session(prodex.open_snapshot("shop"), section="corrections"))
    settle(app)
    assert ["accepted"] == states(app)
    assert "taken up again, not sent yet" in said(app)
    (file,) = (home / "corrections").glob("*.json")
    assert 0o600 == file.stat().st_mode & 0o777

    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS)))
    assert ((), "") == (app.session.corrections, app.session.draft_note)
    app.change(lambda session: session.looking_at(prodex.open_snapshot("shop")))
    assert 1 == len(app.session.corrections)
    press(app, "Clear")
    assert not file.exists()


def test_a_catalogue_that_is_not_saved_keeps_them_in_the_kernel() -> None:
    """Also while another one is looked at; and the section says that they end with the kernel."""
    catalog = prodex.flatten(RECORDS)
    app = App(Session(catalog, section="corrections"))
    collect(app, name())
    assert "lost with the kernel: catalog.save(name) keeps them" in said(app)
    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS)))
    assert () == app.session.corrections
    app.change(lambda session: session.looking_at(catalog))
    assert (name(),) == app.session.corrections


def test_two_kernels_lose_nothing_of_each_other(made: Callable[..., App]) -> None:
    """What another has typed stays, and two corrections of one text are shown as a conflict."""
    one, other = made(), made()
    collect(one, name("Pain bis"))
    collect(other, name("Pain noir"))
    assert ["conflict", "conflict"] == states(other)
    press(other, "Remove")
    collect(one, name("Nom", "3", None))
    assert {"Pain noir", "Nom"} == {correction.text for correction in one.session.corrections}


def test_what_was_judged_too_late_is_not_shown_for_what_is_there_now(made: Callable[..., App]) -> None:
    """A judgement that arrives after another correction is dropped."""
    catalog, tables = held(prodex.flatten(RECORDS))
    app = made(catalog=catalog)
    app.view()
    app.change(lambda session: session.correcting(name()))
    assert tables.begun.wait(20)
    app.change(lambda session: session.correcting(name("Nom", "3", None)))
    assert ["checking", "checking"] == states(app)
    assert "checking …" in said(app)
    tables.go_on.set()
    settle(app)
    assert ["accepted", "accepted"] == states(app)
    assert {} == app.session.notices


def test_a_draft_that_cannot_be_read_is_kept_aside(home: Path) -> None:
    """Its place is named; one of a newer version is left alone, and nothing is written over it."""
    catalog = prodex.flatten(RECORDS).save("shop")
    draft = home / "corrections" / "shop.json"
    change_draft("shop", CorrectionDraft(), CorrectionDraft((name(),)))
    draft.write_bytes(draft.read_bytes()[:-9])
    app = App(Session(catalog, section="corrections"))
    assert "cannot be read" in said(app)
    assert [True] == [one.name in said(app) for one in draft.parent.glob("shop.json.*")]

    draft.write_bytes(b'{"format": 2}')
    app = App(Session(catalog, section="corrections"))
    assert "newer version" in said(app)
    app.change(lambda session: session.correcting(name()))
    assert app.session.notices["corrections"].is_problem
    assert ((name(),), b'{"format": 2}') == (app.session.corrections, draft.read_bytes())


@pytest.mark.slow
def test_a_disk_that_refuses_loses_nothing(
    made: Callable[..., App], exchange: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was typed stays in the kernel; and what cannot be noted as being sent is not sent."""
    app = made(name())
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no folder")
    monkeypatch.setenv("PRODEX_HOME", str(in_the_way))
    collect(app, name("Nom", "3", None))
    assert ["accepted", "accepted"] == states(app)
    assert str(in_the_way) in said(app)
    send(app)
    assert (2, (), 0) == (len(app.session.corrections), app.session.unconfirmed, upserts(exchange))
    assert "Nothing was sent." in said(app)
    assert str(in_the_way) in said(app)
    monkeypatch.undo()
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    send(app)
    assert ((), (), 1) == (app.session.corrections, app.session.unconfirmed, upserts(exchange))


@pytest.mark.slow
def test_a_reply_that_is_lost_leaves_nothing_sent_twice(made: Callable[..., App], exchange: Sandbox) -> None:
    """The write had no effect: the correction stays unconfirmed until somebody collects it again."""
    app = made(name())
    exchange.order(Fault("cut", endpoint="upsert", times=1))
    send(app)
    assert (["unknown"], 0) == (states(app), upserts(exchange))
    assert "0 of 1 correction" in said(app)
    assert not buttons(app, "Send")

    press(app, "Check what has arrived")
    assert ["unknown"] == states(app)
    press(app, "Collect again")
    assert ["accepted"] == states(app)
    send(app)
    assert ([], 1) == (states(app), upserts(exchange))


@pytest.mark.slow
def test_a_write_whose_reply_is_lost_is_found_at_the_service(
    made: Callable[..., App], exchange: Sandbox, service: prodex.service.Client
) -> None:
    """It was carried out; another kernel that takes the draft up finds it there, and sends nothing."""
    app = made(name())
    # Three calls for the products of now, and three to see that they have not changed since.
    exchange.order(Fault("truncated", endpoint="upsert"), Fault("404", endpoint="list", at=range(7, 99)))
    send(app)
    exchange.clear_faults()
    assert ["unknown"] == states(app)

    later = App(Session(prodex.open_snapshot("shop"), service=service, section="corrections"))
    assert "1 correction may have reached 127.0.0.1" in said(later)
    assert ["unknown"] == states(later)
    press(later, "Check what has arrived")
    assert ([], 1) == (states(later), upserts(exchange))
    assert "1 correction has arrived" in said(later)


@pytest.mark.slow
def test_a_service_that_is_down_leaves_them_as_they_are(made: Callable[..., App], exchange: Sandbox) -> None:
    """Nothing was sent, so all of it is collected, and can be sent when the service is back."""
    app = made(name())
    exchange.order(Fault("404", endpoint="upsert", times=1))
    send(app)
    assert (["accepted"], (), 0) == (states(app), app.session.unconfirmed, upserts(exchange))
    assert "404" in said(app)
    send(app)
    assert ([], 1) == (states(app), upserts(exchange))


@pytest.mark.slow
def test_an_import_that_cannot_be_followed_is_unknown(made: Callable[..., App], exchange: Sandbox) -> None:
    """The service accepted it and went down: it is looked for later, and not sent again."""
    app = made(name())
    down = Fault("call", endpoint="upsert", run=lambda: exchange.order(Fault("404", endpoint="list")))
    exchange.order(Fault("401", endpoint="track"), down)
    send(app)
    assert (["unknown"], 1) == (states(app), upserts(exchange))
    exchange.clear_faults()
    press(app, "Check what has arrived")
    assert ([], 1) == (states(app), upserts(exchange))


@pytest.mark.slow
def test_what_the_service_refuses_is_collected_again(made: Callable[..., App], exchange: Sandbox) -> None:
    """With its words in the outcome, and the others as arrived."""
    app = made(name(), name("Nom", "3", None))
    exchange.remove([3])
    send(app)
    assert states(app) in (["conflict"], ["accepted"])
    assert () == app.session.unconfirmed
    assert "1 correction has arrived" in said(app)


@pytest.mark.slow
def test_a_product_that_changed_is_not_overwritten(
    made: Callable[..., App], exchange: Sandbox, service: prodex.service.Client
) -> None:
    """It was changed after it was loaded: nothing is sent, and the section says why."""
    app = made(name())
    other = RECORDS[0] | {"namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain bis"}]}
    exchange.change([other], moves_updated_at=True)
    send(app)
    assert "no answer is left to send" in said(app)
    assert "Pain bis" == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert (1, ()) == (len(app.session.corrections), app.session.unconfirmed)


def test_a_snapshot_that_is_gone_loses_no_correction(made: Callable[..., App], home: Path) -> None:
    """The error says so; what was typed is still listed, and kept."""
    app = made()
    shutil.rmtree(home / "snapshots")
    collect(app, name())
    assert (["checking"], True) == (states(app), "shop" in app.session.notices["corrections"].sentence)
    assert (name(),) == read_draft("shop")[0].corrections


def test_the_section_counts_them(made: Callable[..., App]) -> None:
    """Its title has the number, whichever section is open."""
    app = made(name())
    app.act("section.open", name="products")
    (titles,) = [one["options"] for one in blocks_in(app.view()) if one["key"] == "sections"]
    assert "Corrections (1)" in [one["title"] for one in titles]


@pytest.mark.slow
def test_waiting_for_the_import_can_be_stopped(made: Callable[..., App]) -> None:
    """Each phase is shown; whoever stops waiting has sent the corrections, and they are not offered again."""

    async def story(app: App) -> None:
        async def until(words: str) -> None:
            end = time.monotonic() + 30
            while words not in said(app):
                assert time.monotonic() < end, said(app)
                await asyncio.sleep(0.02)

        app.view()
        await until("1 can be sent")
        press(app, "Send 1", waits=False)
        press(app, "Yes, send", waits=False)
        await until("Waiting for the service to import: 0 of 1 products")
        assert not buttons(app, "Send")
        assert "is being sent" in said(app)
        press(app, "Stop waiting", waits=False)
        await until("the service goes on importing them")

    with Sandbox(RECORDS, behaviour=Behaviour(import_delay=60.0)) as slow:
        app = made(service=client(slow))
        app.change(lambda session: session.correcting(name()))
        asyncio.run(story(app))
        assert 1 == upserts(slow)
        assert states(app) in ([], ["unknown"])
        assert not buttons(app, "Send")


@pytest.mark.slow
def test_a_press_on_stop_does_not_cut_sending(made: Callable[..., App], exchange: Sandbox) -> None:
    """It ends the waiting only: what was begun is sent to its end, and it is known what has arrived."""
    app = made(name(), name("Nom", "3", None))
    exchange.order(Fault("call", endpoint="upsert", run=lambda: app.act("work.cancel", slot="sending")))
    send(app)
    assert 1 == upserts(exchange)
    assert not buttons(app, "Send")
    if app.session.unconfirmed:
        press(app, "Check what has arrived")
    assert ([], ()) == (states(app), app.session.unconfirmed)
    assert "2 corrections have arrived" in said(app)


@pytest.mark.slow
def test_another_catalogue_that_is_opened_meanwhile_stays(
    made: Callable[..., App], exchange: Sandbox, service: prodex.service.Client
) -> None:
    """What was sent is noted where it was collected, and looked for when that is opened again."""
    app = made(name())
    first, other = app.session.catalog, prodex.flatten(RECORDS[:2])
    look = lambda: app.change(lambda session: session.looking_at(other))  # noqa: E731
    exchange.order(Fault("call", endpoint="upsert", run=look))
    send(app)
    assert (other, ()) == (app.session.catalog, app.session.corrections)
    app.change(lambda session: session.looking_at(first))
    settle(app)
    assert ["unknown"] == states(app)
    press(app, "Check what has arrived")
    assert ([], 1) == (states(app), upserts(exchange))
    assert "Pain de campagne" in app.session.catalog.texts["text"].tolist()


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "=HYPERLINK('https://evil.example')",
    "nul \x00 bell \x07",
    "مرحبا \u202egnp.exe \u2066x",
    "x" * 40_000,
)


@pytest.mark.slow
@each_row("typed", HOSTILE)
def test_whatever_is_typed_is_shown_and_kept(typed: str, made: Callable[..., App]) -> None:
    """In full as JSON that a browser reads, as a text of its own, and in the draft letter by letter."""
    app = made(TextCorrection("3", "description", "fr", typed))
    (row,) = rows(app)
    after = row["cells"][3]["words"]
    assert after["text"].startswith(typed.replace("\x00", "␀").replace("\x07", "␇")[:100])
    assert json.loads(json.dumps(app.view(), ensure_ascii=False).encode()) == app.view()
    assert (typed,) == tuple(one.text for one in read_draft("shop")[0].corrections)
    if not has_button(app, "Send 1"):
        assert "cannot be used" in said(app)
        return
    send(app)
    assert app.session.service is not None
    assert typed == stored(app.session.service, THIRD)["description"][0]["data"]


def test_a_draft_says_what_it_holds() -> None:
    """In sentences, of what was not sent and of what may have been."""
    sent = SentCorrections(datetime(2026, 11, 23, 10, tzinfo=UTC), "exchange.example", (name(),))
    draft = CorrectionDraft(
        (name(), name("Nom", "3", None)), (sent,), datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
    )
    assert draft.words == (
        "2 corrections of 2026-11-23 09:30 UTC taken up again, not sent yet. 1 correction may have reached "
        "exchange.example at 2026-11-23 10:00 UTC: Check looks whether they have."
    )
    assert "" == CorrectionDraft().words

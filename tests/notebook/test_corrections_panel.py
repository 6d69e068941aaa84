"""Corrections from the card to the proof, without a browser: nothing typed is lost, nothing is sent twice."""

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
from traitlets import TraitError

import prodex
from prodex import CorrectionsPanel, ProductCard, TextCorrection
from prodex.errors import InputError, OtherLayout, ProdexError, StorageError
from prodex.exploration.drafts import CorrectionDraft, SentCorrections, change_draft, read_draft
from prodex.notebook.explore import explore
from prodex.notebook.shared.state import Exploration
from prodex.sandbox import Behaviour, Fault, Sandbox
from tests.cases import each_row
from tests.notebook.held import held
from tests.quality.reading_html import parsed
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


@pytest.fixture
def service(exchange: Sandbox) -> prodex.Client:
    """Reach them."""
    key = exchange.credentials[0]
    return prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


@pytest.fixture
def made(service: prodex.Client) -> Callable[..., CorrectionsPanel]:
    """Return a function that makes a panel over a snapshot of the products."""
    catalog = prodex.load_products(service, name="shop", progress=False)

    def make(*corrections: TextCorrection, **options: Any) -> CorrectionsPanel:
        state = Exploration(catalog=options.pop("catalog", catalog), audit=options.pop("audit", None))
        panel = CorrectionsPanel(exploration=state, service=options.pop("service", service), **options)
        for one in corrections:
            state.correct(one)
        panel.wait()
        return panel

    return make


def states(panel: CorrectionsPanel) -> list[str]:
    """Return what the list says of each correction."""
    return [row["state"] for row in panel.list.view["rows"]]


def said(panel: CorrectionsPanel) -> str:
    """Return the words above the list and below it."""
    told = (panel._about, panel._result, panel.sender._outcome)
    return parsed("".join(one.value for one in told) + panel.message).words


def send(panel: CorrectionsPanel) -> None:
    """Press both buttons, and wait for the end."""
    panel.sender.send.click()
    panel.sender.confirm.click()
    panel.wait()


def upserts(exchange: Sandbox) -> int:
    """Return how many writes the service has carried out."""
    store, _ = exchange._running()
    with store.writing() as connection:
        return int(connection.execute("SELECT count(*) FROM imports").fetchone()[0])


def down_after_the_upsert(exchange: Sandbox) -> Fault:
    """Return a fault after which the service lists no products any more."""
    return Fault("call", endpoint="upsert", run=lambda: exchange.order(Fault("404", endpoint="list")))


@pytest.mark.slow
def test_from_the_correction_to_the_proof(
    made: Callable[..., CorrectionsPanel], service: prodex.Client
) -> None:
    """Nothing is sent by the first press; afterwards catalogue and audit are those of now, and the draft is gone."""
    panel = made(name(), name("Nom", "3", None), name("x" * 201, "2", None))
    state = panel.exploration
    state.audit = prodex.audit(state.catalog, PROFILE, progress=False)
    panel.wait()
    assert ["accepted", "accepted", "conflict"] == states(panel)
    assert "3 corrections of 3 products, not sent yet: 2 can be sent, 1 in conflict." in said(panel)
    assert "1 finding fixed, 0 new." in said(panel)

    panel.sender.send.click()
    assert "Send 2 corrections of 2 products to 127.0.0.1?" in parsed(panel.sender._asked.value).words
    assert CAPITALS == stored(service, FIRST)["namePublicLong"][0]["data"]
    panel.sender.cancel.click()
    assert ("none", "") == (panel.sender._question.layout.display, panel.sender.send.layout.display)

    send(panel)
    assert "Pain de campagne" == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert "2 corrections have arrived at 127.0.0.1" in said(panel)
    assert "Fixed: Name all in capitals: Pain de campagne" in said(panel)
    assert (["conflict"], ()) == (states(panel), state.unconfirmed)
    texts = state.catalog.texts.query("product_id == '1' and attribute == 'namePublicLong'")["text"].tolist()
    assert "Pain de campagne" in texts
    assert state.audit is not None
    assert (0, True) == (state.audit.summary["failed"], state.audit.catalog is state.catalog)
    assert "2 texts that arrived" in said(panel)
    assert "Long name: Nom" in said(panel)
    panel.clear.click()
    assert "" == read_draft("shop")[1]
    # That there are none is no news under what has become of them.
    assert "No corrections." not in said(panel)


@pytest.mark.slow
def test_a_remark_needs_confirmation_until_it_is_meant(made: Callable[..., CorrectionsPanel]) -> None:
    """A press takes it as it is, also when all are judged again; what is typed afterwards is asked about anew."""
    panel = made(name("idem"), name("Nom", "3", None))
    assert ["needs-confirmation", "accepted"] == states(panel)
    (asked, other) = panel.list.view["rows"]
    assert (True, False) == (asked["isAsked"], other["isAsked"])
    panel.list.press(do="confirm", key=asked["key"])
    panel.wait()
    assert ["accepted", "accepted"] == states(panel)

    panel.exploration.correct(name("ok", "3", None))
    panel.wait()
    assert ["accepted", "needs-confirmation"] == states(panel)


@pytest.mark.slow
def test_a_product_that_was_corrected_is_first_in_the_table(
    made: Callable[..., CorrectionsPanel], service: prodex.Client
) -> None:
    """Who has corrected it sees it; the others stay in their order."""
    panel = made(name("Nom", "3", None))
    panel.wait()
    send(panel)
    assert ["3", "1", "2"] == panel.exploration.catalog.products["product_id"].tolist()


@pytest.mark.slow
def test_the_rules_are_those_of_the_audit(made: Callable[..., CorrectionsPanel]) -> None:
    """Of the exploration, of the one that is given; without any only refusals are found, and the panel says so."""
    assert "Without an audit only what the service would refuse is found" in said(made(name()))
    assert "1 finding fixed" in said(made(name(), profile=PROFILE))
    panel = made(name("PAIN DE SEIGLE NOIR"), name("TOUT PAIN NOIR", "3", None), profile=PROFILE)
    # What would newly fail needs confirmation, and is counted once it is meant.
    assert "1 to be confirmed" in said(panel)
    (asked,) = [one["key"] for one in panel.list.view["rows"] if one["isAsked"]]
    panel.list.press(do="confirm", key=asked)
    panel.wait()
    assert "0 findings fixed, 1 new" in said(panel)
    assert "Name all in capitals: TOUT PAIN NOIR" in said(panel) or "Name all in capitals: Pain" in said(
        panel
    )


@pytest.mark.slow
def test_without_a_service_the_panel_says_how_to_send(
    made: Callable[..., CorrectionsPanel], tmp_path: Path
) -> None:
    """A worklist with the new values can be written instead, and read again."""
    panel = made(name(), service=None)
    panel.sender.send.click()
    assert "CorrectionsPanel(catalog, service=prodex.connect())" in said(panel)

    panel.folder.value = str(tmp_path / "out")
    panel.write.click()
    panel.wait()
    assert "Exported 1 worklist" in panel._exporter.message
    (file,) = (tmp_path / "out").glob("*.xlsx")
    back = prodex.read_worklist(file, panel.exploration.catalog, profile=PROFILE)
    assert ["Pain de campagne"] == back.preview()["after"].tolist()
    panel.write.click()
    panel.wait()
    assert "class='problem'" in panel._exporter.message


def test_what_is_removed_can_be_brought_back(made: Callable[..., CorrectionsPanel]) -> None:
    """One, and all of them."""
    panel = made(name(), name("Nom", "3", None))
    state = panel.exploration
    first, second = state.corrections
    panel.list.press(do="remove", key=panel.list.view["rows"][0]["key"])
    assert (second,) == state.corrections
    panel.undo.click()
    assert {first, second} == set(state.corrections)
    panel.clear.click()
    assert () == state.corrections
    assert "No corrections." in said(panel)
    panel.undo.click()
    panel.wait()
    assert (["accepted"] * 2, "none") == (states(panel), panel.undo.layout.display)


def test_a_product_opens_its_card(made: Callable[..., CorrectionsPanel]) -> None:
    """Also the one that was opened before."""
    panel = made(name())
    opened: list[str | None] = []
    panel.exploration.observe(lambda change: opened.append(change["new"]), "product_id")
    for _ in range(2):
        panel.list.press(do="open", key=panel.list.view["rows"][0]["key"])
    panel.list.press(do="open", key="of another page")
    assert ["1", None, "1"] == opened


@pytest.mark.slow
def test_corrections_outlive_the_kernel(made: Callable[..., CorrectionsPanel], home: Path) -> None:
    """They are taken up again with a sentence, from a file that only its owner reads."""
    made(name())
    state = Exploration(catalog=prodex.open_snapshot("shop"))
    panel = CorrectionsPanel(exploration=state)
    panel.wait()
    assert ["accepted"] == states(panel)
    assert "taken up again, not sent yet" in panel._note.value
    (file,) = (home / "corrections").glob("*.json")
    assert 0o600 == file.stat().st_mode & 0o777

    state.look_at(prodex.flatten(RECORDS))
    assert ((), "") == (state.corrections, state.draft_note)
    state.look_at(prodex.open_snapshot("shop"))
    assert 1 == len(state.corrections)
    state.withdraw(state.corrections)
    assert not file.exists()


def test_a_catalogue_that_is_not_saved_keeps_them_in_the_kernel() -> None:
    """Also while another one is looked at; and the panel says that they end with the kernel."""
    catalog = prodex.flatten(RECORDS)
    panel = CorrectionsPanel(catalog)
    panel.exploration.correct(name())
    panel.wait()
    assert "lost with the kernel: catalog.save(name) keeps them" in said(panel)
    panel.exploration.look_at(prodex.flatten(RECORDS))
    assert () == panel.exploration.corrections
    panel.exploration.look_at(catalog)
    assert (name(),) == panel.exploration.corrections


def test_two_kernels_lose_nothing_of_each_other(made: Callable[..., CorrectionsPanel]) -> None:
    """What another has typed stays, and two corrections of one text are shown as a conflict."""
    one, other = made(), made()
    one.exploration.correct(name("Pain bis"))
    other.exploration.correct(name("Pain noir"))
    other.wait()
    assert ["conflict", "conflict"] == states(other)
    other.exploration.withdraw([name("Pain bis")])
    one.exploration.correct(name("Nom", "3", None))
    assert {"Pain noir", "Nom"} == {correction.text for correction in one.exploration.corrections}


def test_what_was_judged_too_late_is_not_shown_for_what_is_there_now(
    made: Callable[..., CorrectionsPanel],
) -> None:
    """A judgement that arrives after another correction, and before the panel has heard of it, is dropped."""
    catalog, tables = held(prodex.flatten(RECORDS))
    panel = made(catalog=catalog)
    state = panel.exploration
    state.correct(name())
    assert tables.begun.wait(20)
    with state.hold_trait_notifications():
        state.correct(name("Nom", "3", None))
        tables.go_on.set()
        panel.wait()
        assert panel.fix is None
    panel.wait()
    assert ["accepted", "accepted"] == states(panel)
    assert "" == panel.message


def test_a_draft_that_cannot_be_read_is_kept_aside(home: Path) -> None:
    """Its place is named; one of a newer version is left alone, and nothing is written over it."""
    catalog = prodex.flatten(RECORDS).save("shop")
    draft = home / "corrections" / "shop.json"
    change_draft("shop", CorrectionDraft(), CorrectionDraft((name(),)))
    draft.write_bytes(draft.read_bytes()[:-9])
    state = Exploration(catalog=catalog)
    assert "cannot be read" in state.draft_note
    assert [True] == [one.name in state.draft_note for one in draft.parent.glob("shop.json.*")]

    draft.write_bytes(b'{"format": 2}')
    state = Exploration(catalog=catalog)
    assert "newer version" in state.draft_note
    with pytest.raises(OtherLayout, match="newer version"):
        state.correct(name())
    assert ((name(),), b'{"format": 2}') == (state.corrections, draft.read_bytes())


@pytest.mark.slow
def test_a_disk_that_refuses_loses_nothing(
    made: Callable[..., CorrectionsPanel], exchange: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was typed stays in the kernel; and what cannot be noted as being sent is not sent."""
    panel = made(name())
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no folder")
    monkeypatch.setenv("PRODEX_HOME", str(in_the_way))
    with pytest.raises(StorageError):
        panel.exploration.correct(name("Nom", "3", None))
    panel.wait()
    assert ["accepted", "accepted"] == states(panel)
    assert str(in_the_way) in panel._note.value
    send(panel)
    assert (2, (), 0) == (
        len(panel.exploration.corrections),
        panel.exploration.unconfirmed,
        upserts(exchange),
    )
    assert str(in_the_way) in said(panel)


@pytest.mark.slow
def test_a_reply_that_is_lost_leaves_nothing_sent_twice(
    made: Callable[..., CorrectionsPanel], exchange: Sandbox
) -> None:
    """The write had no effect: the correction stays unconfirmed until somebody collects it again."""
    panel = made(name())
    exchange.order(Fault("cut", endpoint="upsert", times=1))
    send(panel)
    assert (["unknown"], 0) == (states(panel), upserts(exchange))
    assert "0 of 1 correction" in said(panel)
    assert "none" == panel.sender.send.layout.display

    panel.check.click()
    panel.wait()
    assert ["unknown"] == states(panel)
    panel.list.press(do="again", key=panel.list.view["rows"][0]["key"])
    panel.wait()
    assert ["accepted"] == states(panel)
    send(panel)
    assert ([], 1) == (states(panel), upserts(exchange))


@pytest.mark.slow
def test_a_write_whose_reply_is_lost_is_found_at_the_service(
    made: Callable[..., CorrectionsPanel], exchange: Sandbox
) -> None:
    """It was carried out; another kernel that takes the draft up finds it there, and sends nothing."""
    panel = made(name())
    # Three calls for the products of now, and three to see that they have not changed since.
    exchange.order(Fault("truncated", endpoint="upsert"), Fault("404", endpoint="list", at=range(7, 99)))
    send(panel)
    exchange.clear_faults()
    assert ["unknown"] == states(panel)

    state = Exploration(catalog=prodex.open_snapshot("shop"))
    assert "1 correction may have reached 127.0.0.1" in state.draft_note
    later = CorrectionsPanel(exploration=state, service=panel._service)
    assert (["unknown"], "") == (states(later), later.check.layout.display)
    later.check.click()
    later.wait()
    assert ([], 1) == (states(later), upserts(exchange))
    assert "1 correction has arrived" in said(later)


@pytest.mark.slow
def test_a_service_that_is_down_leaves_them_as_they_are(
    made: Callable[..., CorrectionsPanel], exchange: Sandbox
) -> None:
    """Nothing was sent, so all of it is collected, and can be sent when the service is back."""
    panel = made(name())
    exchange.order(Fault("404", endpoint="upsert", times=1))
    send(panel)
    assert (["accepted"], (), 0) == (states(panel), panel.exploration.unconfirmed, upserts(exchange))
    assert "404" in said(panel)
    send(panel)
    assert ([], 1) == (states(panel), upserts(exchange))


@pytest.mark.slow
def test_an_import_that_cannot_be_followed_is_unknown(
    made: Callable[..., CorrectionsPanel], exchange: Sandbox
) -> None:
    """The service accepted it and went down: it is looked for later, and not sent again."""
    panel = made(name())
    exchange.order(Fault("401", endpoint="track"), down_after_the_upsert(exchange))
    send(panel)
    assert (["unknown"], 1) == (states(panel), upserts(exchange))
    exchange.clear_faults()
    panel.check.click()
    panel.wait()
    assert ([], 1) == (states(panel), upserts(exchange))


@pytest.mark.slow
def test_what_the_service_refuses_is_collected_again(
    made: Callable[..., CorrectionsPanel], exchange: Sandbox
) -> None:
    """With its words in the outcome, and the others as arrived."""
    panel = made(name(), name("Nom", "3", None))
    exchange.remove([3])
    send(panel)
    assert (["conflict"], ()) == (states(panel), panel.exploration.unconfirmed) or ["accepted"] == states(
        panel
    )
    assert "1 correction has arrived" in said(panel)


@pytest.mark.slow
def test_a_product_that_changed_is_not_overwritten(
    made: Callable[..., CorrectionsPanel], exchange: Sandbox, service: prodex.Client
) -> None:
    """It was changed after it was loaded: nothing is sent, and the panel says why."""
    panel = made(name())
    other = RECORDS[0] | {"namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain bis"}]}
    exchange.change([other], moves_updated_at=True)
    send(panel)
    assert "no answer is left to send" in said(panel)
    assert "Pain bis" == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert (1, ()) == (len(panel.exploration.corrections), panel.exploration.unconfirmed)


def test_a_snapshot_that_is_gone_loses_no_correction(
    made: Callable[..., CorrectionsPanel], home: Path
) -> None:
    """The error says so; what was typed is still listed, and kept."""
    panel = made()
    shutil.rmtree(home / "snapshots")
    panel.exploration.correct(name())
    panel.wait()
    assert (["checking"], True) == (states(panel), "shop" in panel.message)
    assert (name(),) == read_draft("shop")[0].corrections


@pytest.mark.slow
def test_the_section_counts_them(service: prodex.Client) -> None:
    """Its title has the number, and the section that is open stays open."""
    explored = explore(prodex.flatten(RECORDS), service=service)
    explored.section = "Quality"
    explored.exploration.correct(name())
    titles = {name: title for title, name in explored._switch.options}
    assert ("Corrections (1)", "Quality") == (titles["Corrections"], explored.section)
    explored.section = "Corrections"
    panel = explored.places["Corrections"].children[0]
    panel.wait()
    panel.list.press(do="open", key=panel.list.view["rows"][0]["key"])
    assert ("Products", "1") == (explored.section, explored.exploration.product_id)
    explored.exploration.withdraw(explored.exploration.corrections)
    assert "Corrections" in [title for title, _ in explored._switch.options]


@pytest.mark.slow
def test_waiting_for_the_import_can_be_stopped(made: Callable[..., CorrectionsPanel]) -> None:
    """Each phase is shown; whoever stops waiting has sent the corrections, and they are not offered again."""

    async def story(panel: CorrectionsPanel) -> None:
        async def until(words: str) -> None:
            end = time.monotonic() + 30
            while words not in f"{panel.sender.work.shown.value}{panel.sender._outcome.value}":
                assert time.monotonic() < end, panel.sender.work.shown.value
                await asyncio.sleep(0.02)

        panel.sender.send.click()
        panel.sender.confirm.click()
        await until("Waiting for the service to import: 0 of 1 products")
        assert "none" == panel.sender.send.layout.display
        assert ("Stop waiting", "") == (
            panel.sender.work.cancel.description,
            panel.sender.work.layout.display or "",
        )
        panel.sender.work.cancel.click()
        await until("the service goes on importing them")
        panel.wait()

    with Sandbox(RECORDS, behaviour=Behaviour(import_delay=60.0)) as slow:
        key = slow.credentials[0]
        access = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        panel = made(name(), service=prodex.connect(base_url=slow.base_url, **access))
        asyncio.run(story(panel))
        assert (1, "none") == (upserts(slow), panel.sender.send.layout.display)
        assert [row["state"] for row in panel.list.view["rows"]] in ([], ["unknown"])


def test_what_is_given_has_to_fit() -> None:
    """A panel needs one catalogue, and a state of corrections nothing else."""
    catalog = prodex.flatten(RECORDS)
    with pytest.raises(InputError, match="needs a catalogue"):
        CorrectionsPanel()
    with pytest.raises(InputError, match="either a catalogue"):
        CorrectionsPanel(catalog, exploration=Exploration(catalog=catalog))
    with pytest.raises(ProdexError, match="service"):
        CorrectionsPanel(catalog, service="sandbox.example")  # type: ignore[arg-type]
    with pytest.raises(TraitError, match="TextCorrection"):
        Exploration(catalog=catalog).corrections = ("Pain",)  # type: ignore[assignment]


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "=HYPERLINK('https://evil.example')",
    "nul \x00 bell \x07",
    "مرحبا \u202egnp.exe \u2066x",
    "x" * 40_000,
)


@pytest.mark.slow
@each_row("typed", HOSTILE)
def test_whatever_is_typed_is_shown_and_kept(typed: str, made: Callable[..., CorrectionsPanel]) -> None:
    """In full as JSON that a browser reads, in the draft letter by letter, and never as markup."""
    panel = made(TextCorrection("3", "description", "fr", typed))
    (row,) = panel.list.view["rows"]
    assert row["now"]["text"].startswith(typed.replace("\x00", "␀").replace("\x07", "␇")[:100])
    assert json.loads(json.dumps(panel.list.view, ensure_ascii=False).encode()) == panel.list.view
    assert (typed,) == tuple(one.text for one in read_draft("shop")[0].corrections)
    assert "<img" not in panel._about.value + panel._result.value + panel.message


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


@pytest.mark.slow
def test_a_card_and_the_panel_share_corrections(made: Callable[..., CorrectionsPanel]) -> None:
    """What is typed on a card is judged by the panel, and undone on the card it is gone from there."""
    panel = made()
    card = ProductCard(exploration=panel.exploration, product_id="1")
    rows = card.texts.widget.view["rows"]
    (item,) = next(row for row in rows if row["path"] == "namePublicLong")["cells"][0]["items"]
    card.texts.widget.press(do="save", key=item["key"], text=" Pain de campagne ")
    panel.wait()
    assert ["accepted"] == states(panel)
    card.texts.widget.press(do="undo", key=item["key"])
    assert [] == states(panel)

"""Worklists that came back, read and sent in a panel, against a real service and without a browser."""

from __future__ import annotations

import base64
import itertools
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from openpyxl import load_workbook

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.sending import OUTBOXES
from prodex.sandbox import Sandbox
from prodex.worklists.fix import Fix
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
from tests.on_the_way import carried, reply
from tests.worklists.bakery import RECORDS, stored
from tests.worklists.handling import fill

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)
MISSING = {"attribute": "description", "language": "nl"}
PROFILE = {"checks": {"names_not_in_capitals": {}, "required_text": MISSING}}
CAPITALS, NAME = "PAIN DE CAMPAGNE AUX GRAINES", "Pain de campagne aux graines"


def client(sandbox: Sandbox) -> prodex.service.Client:
    """Reach a sandbox."""
    key = sandbox.credentials[0]
    return prodex.connect(
        base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


class Asked:
    """A panel, and a folder with worklists that were sent to suppliers.

    Attributes
    ----------
    app
        The panel, which shows quality.
    folder
        The folder with the worklist.
    """

    def __init__(self, app: App, path: Path, rows: Any) -> None:
        self.app, self.path, self.folder, self._rows = app, path, path.parent, rows

    def answer(self, check: str, gtin: str, text: str) -> None:
        """Answer a finding as a supplier does."""
        fill(self.path, {self._rows[check, gtin]: text})

    def read(self) -> Fix:
        """Read the folder."""
        type_in(self.app, "returned", folder=str(self.folder))
        press(self.app, "Read")
        read = OUTBOXES["returned"].preview(self.app.session)
        assert read is not None, said(self.app)
        return read.fix

    def send(self) -> None:
        """Press both buttons."""
        press(self.app, "Send ")
        press(self.app, "Yes, send ")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """Give a panel, and a folder with an answer to the finding of the first product."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    with Sandbox(RECORDS) as sandbox:
        service = client(sandbox)
        catalog = prodex.load_products(service, name="answered", progress=False)
        audit = prodex.audit(catalog, PROFILE, progress=False)
        folder = tmp_path / "asked"
        audit.worklists(folder)
        (path,) = folder.rglob("*.xlsx")
        rows = audit.worklist_rows().set_index(["check", "gtin"])["row"]
        app = App(Session(catalog, audit=audit, service=service, section="quality"))
        made = Asked(app, path, rows)
        made.answer("names_not_in_capitals", FIRST, NAME)
        settle(app)
        yield made


DUTCH = "required_text[description,nl]"


@pytest.mark.slow
def test_answers_are_read_whatever_is_chosen(asked: Asked) -> None:
    """A filter says which figures are shown, and not which products may have answers."""
    asked.app.change(lambda session: session.filtered(session.conditions.searching(THIRD)))
    settle(asked.app)
    assert 1 == asked.app.session.filter.mask(asked.app.session.conditions).sum()
    assert {"accepted": 1} == dict(asked.read().counts)
    # What is typed later is not read yet.
    type_in(asked.app, "returned", folder=str(asked.folder.parent / "another"))
    assert f"Read from  {asked.folder} ." in said(asked.app)


def test_what_cannot_be_read_stands_at_its_field(asked: Asked) -> None:
    """Nothing entered, a folder that is not there, and one without answers."""
    for folder, why in (
        ("", "Enter the folder"),
        ("nowhere", "There is no file or folder"),
        ("\0", "cannot be"),
    ):
        type_in(asked.app, "returned", folder=folder)
        press(asked.app, "Read")
        assert why in fields(asked.app, "returned")["folder"]["error"]
    type_in(asked.app, "returned", folder=str(asked.folder.parent / "empty"))
    (asked.folder.parent / "empty").mkdir()
    press(asked.app, "Read")
    assert not has_button(asked.app, "Send")
    assert has_button(asked.app, "Read")


@pytest.mark.slow
def test_what_was_sent_is_followed_to_the_product(asked: Asked) -> None:
    """The products are requested again: the catalogue that is explored and its audit have what was sent."""
    app = asked.app
    asked.read()
    assert "1 answer: 1 can be sent" in said(app)
    assert NAME in said(app)
    # As in Corrections, a field is called by its title.
    assert "Long name" in said(app)
    assert "namePublicLong" not in said(app)
    press(app, "Send 1 correction")
    assert CAPITALS == stored(app.session.service, FIRST)["namePublicLong"][0]["data"]
    press(app, "Yes, send 1 correction of 1 product")
    assert "1 correction has arrived at 127.0.0.1" in said(app)
    assert "1 finding fixed, 0 new." in said(app)
    # Its rows are not called such as can be sent any more.
    assert "rows accounted for: 1 sent" in said(app)
    assert "can be sent" not in said(app)
    assert not buttons(app, "Check what has arrived")
    session = app.session
    assert NAME in session.catalog.texts["text"].tolist()
    assert session.audit is not None
    assert session.audit.catalog is session.catalog
    assert "names_not_in_capitals" not in list(session.audit.gaps()["check"])
    # Sent once: the same folder can be read again, and has nothing left.
    assert not has_button(app, "Send")
    assert {"unchanged": 1} == dict(asked.read().counts)
    assert not has_button(app, "Send")


@pytest.mark.slow
def test_an_audit_that_was_opened_again_is_of_what_is_shown(asked: Asked) -> None:
    """It has another object of the catalogue, or none: answers are judged by the one that is explored."""
    app = asked.app
    # By a profile that has a name: one of one's own is not kept with a saved audit, and is asked for in words.
    prodex.audit(app.session.catalog, "online-listing", progress=False).save()
    app.change(lambda session: session.replaced(audit=prodex.open_audit("answered")))
    settle(app)
    assert app.session.audit is not None
    assert app.session.audit.catalog is not app.session.catalog
    asked.read()
    asked.send()
    assert NAME in app.session.catalog.texts["text"].tolist()
    assert app.session.audit.catalog is app.session.catalog


@pytest.mark.slow
def test_a_remark_waits_until_somebody_says_that_it_is_meant(asked: Asked) -> None:
    """Each by itself, with its question; what is meant stays so when the answers are judged again."""
    app = asked.app
    asked.answer(DUTCH, FIRST, "erledigt")
    asked.answer(DUTCH, SECOND, "ok")
    asked.answer(DUTCH, THIRD, "x" * 20_001)
    asked.read()
    assert "4 answers: 1 can be sent, 1 cannot be used, 2 to be confirmed" in said(app)
    assert "2 answers to be confirmed, and not sent" in said(app)
    assert "reads like a remark that something is done or agreed" in said(app)
    (first, _) = buttons(app, "It is meant")
    press(app, "It is meant")
    assert "2 can be sent, 1 cannot be used, 1 to be confirmed" in said(app)
    app.act(first["do"], **first["args"])
    assert "What is asked is another by now" in said(app)
    app.change(lambda session: session.replaced(catalog=prodex.open_snapshot("answered")))
    settle(app)
    assert "2 can be sent, 1 cannot be used, 1 to be confirmed" in said(app)
    press(app, "Send 2 corrections")
    press(app, "Yes, send 2 corrections of 1 product")
    assert "2 corrections have arrived" in said(app)
    assert "erledigt" in app.session.catalog.texts["text"].tolist()
    assert "ok" not in app.session.catalog.texts["text"].tolist()


@pytest.mark.slow
def test_all_that_is_asked_can_be_meant(asked: Asked) -> None:
    """With one press, of what is shown."""
    app = asked.app
    asked.answer(DUTCH, FIRST, "erledigt")
    asked.answer(DUTCH, SECOND, "ok")
    asked.read()
    (every,) = buttons(app, "All 2 are meant")
    press(app, "Send 1 correction")
    (yes,) = buttons(app, "Yes, send 1")
    app.act(every["do"], **every["args"])
    # The question of before does not send what was added since.
    app.act(yes["do"], **yes["args"])
    assert "Nothing was sent" in said(app)
    settle(app)
    assert has_button(app, "Send 3 corrections")
    app.act(every["do"], **every["args"])
    assert "What is asked is another by now" in said(app)


@pytest.mark.slow
def test_a_finding_is_accepted_for_the_reason_of_a_supplier(asked: Asked) -> None:
    """It asks by itself, and is no answer that is sent; the audit has it as accepted then."""
    app = asked.app
    book = load_workbook(asked.path)
    sheet = book["To fix"]
    column = next(cell.column for cell in sheet[1] if cell.value == "Accept because")
    for number in range(2, sheet.max_row + 1):
        sheet.cell(number, column, "<b>Is so on the pack</b>")
    book.save(asked.path)
    asked.read()
    number = len(buttons(app, "Accept the finding"))
    assert number >= 3
    assert "<b>Is so on the pack</b>" in said(app)
    assert not buttons(app, "All ")
    press(app, "Accept the finding")
    assert number - 1 == len(buttons(app, "Accept the finding"))
    assert app.session.audit is not None
    assert 1 == len(app.session.audit.accepted_reasons())


@pytest.mark.slow
def test_what_was_judged_by_products_of_before_is_judged_again(asked: Asked) -> None:
    """Other corrections were sent since the answers were read: both stay in what is shown."""
    app = asked.app
    asked.answer(DUTCH, FIRST, "Een brood")
    asked.read()
    press(app, "Send 2 corrections")
    (yes,) = buttons(app, "Yes, send 2")
    place = {"position": "0", "language_code": "fra-FR"}
    app.change(
        lambda session: session.correcting(
            prodex.TextCorrection("1", "namePublicLong", None, "Pain bis", before=CAPITALS, **place)
        ).replaced(section="corrections")
    )
    settle(app)
    press(app, "Send 1")
    press(app, "Yes, send 1")
    app.act("section.open", name="quality")
    app.act(yes["do"], **yes["args"])
    assert "Nothing was sent" in said(app)
    settle(app)
    assert "1 in conflict" in said(app)
    asked.send()
    texts = app.session.catalog.texts["text"].tolist()
    assert {"Een brood", "Pain bis"} <= set(texts)
    assert CAPITALS not in texts


@pytest.mark.slow
def test_what_changes_after_it_has_arrived_is_seen_by_the_next_check(asked: Asked) -> None:
    """Each check shows the products of then, and their audit, also after the first."""
    app = asked.app
    asked.read()
    asked.send()
    service, texts = app.session.service, app.session.catalog.texts
    assert service is not None
    (there,) = texts[texts["text"] == NAME].to_dict("records")
    place = {"position": there["position"], "language_code": there["language_code"]}
    other = prodex.TextCorrection(
        there["product_id"], "namePublicLong", None, "PAIN DE SEIGLE", before=NAME, **place
    )
    prodex.correct_from([other], app.session.catalog).apply(service).wait()
    app.act("send.check", outbox="returned")
    settle(app)
    assert "0 of 1 correction has arrived" in said(app)
    assert "PAIN DE SEIGLE" in app.session.catalog.texts["text"].tolist()
    assert app.session.audit is not None
    assert app.session.audit.catalog is app.session.catalog
    assert "names_not_in_capitals" in list(app.session.audit.gaps()["check"])


@pytest.mark.slow
def test_what_a_product_does_not_show_yet_can_be_checked_again(asked: Asked) -> None:
    """A service may need minutes to show what it has imported; it is not said to have arrived until then."""
    app = asked.app
    asked.read()
    shown: dict[Any, Any] = {}

    def as_before(request: requests.PreparedRequest, send: Callable[[], requests.Response]) -> Any:
        if request.body not in shown:
            shown[request.body] = send().json()
        return reply(request, shown[request.body])

    with carried("list", as_before):
        asked.send()
    assert "0 of 1 correction has arrived" in said(app)
    assert "does not show it (yet)" in said(app)
    press(app, "Check what has arrived")
    assert "1 correction has arrived" in said(app)
    assert not buttons(app, "Check what has arrived")
    assert NAME in app.session.catalog.texts["text"].tolist()


@pytest.mark.slow
def test_what_was_not_sent_is_offered_again(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is gone after the first call costs a press, and nothing arrives twice."""
    app = asked.app
    monkeypatch.setattr(sys.modules["prodex.send.upsert"], "LARGEST_BATCH", 1)
    asked.answer(DUTCH, SECOND, "Een brood")
    asked.read()
    service = app.session.service
    assert service is not None
    session = service._transport.session
    reached, written = session.send, itertools.count()

    def sometimes(request: requests.PreparedRequest, **options: Any) -> requests.Response:
        if request.method == "POST" and str(request.path_url).endswith("/products") and next(written) == 1:
            raise requests.exceptions.InvalidURL("nowhere")
        return reached(request, **options)

    monkeypatch.setattr(session, "send", sometimes)
    press(app, "Send 2 corrections")
    (yes,) = buttons(app, "Yes, send 2")
    press(app, "Yes, send 2")
    app.act(yes["do"], **yes["args"])
    press(app, "Send the rest, 1 product")
    assert "the corrections of 1 product that were not sent" in said(app)
    press(app, "Yes, send the corrections of 1 product that were not sent")
    assert "2 corrections have arrived at 127.0.0.1" in said(app)
    assert not has_button(app, "Send")
    assert next(written) == 3


@pytest.mark.slow
def test_another_service_than_that_of_the_products_is_part_of_the_question(asked: Asked) -> None:
    """Both are named, and nothing is sent before somebody says yes."""
    with Sandbox(RECORDS) as other:
        asked.app.change(lambda session: session.replaced(service=client(other)))
        asked.read()
        press(asked.app, "Send 1")
        (question,) = (words_in(one) for one in blocks_in(asked.app.view()) if one["key"] == "asked")
        assert "The products come from" in question
        assert question.count("127.0.0.1:") >= 2
        assert "Is that meant?" in question
        press(asked.app, "Do not send")
        assert not [one for one in other.requests if one[0] == "POST" and one[1].endswith("/products")]


@pytest.mark.slow
def test_files_that_are_chosen_in_a_page_are_read(asked: Asked) -> None:
    """In pieces, two of the same name, and whatever their names are: they stay in a folder of their own."""
    app, content = asked.app, asked.path.read_bytes()

    def chosen(batch: str, *names: str, lost: Any = (), between: Callable[[], object] = lambda: None) -> None:
        for number, name in enumerate(names):
            for at in range(0, len(content), 3000):
                is_last = number == len(names) - 1 and at + 3000 >= len(content)
                piece = base64.b64encode(content[at : at + 3000]).decode()
                if (number, at) not in lost:
                    given = {"batch": batch, "file": number, "name": name, "content": piece}
                    app.act("returned.upload", **given, total=len(content) * len(names), is_last=is_last)
                    between()
        settle(app)

    chosen("1", "../../../evil<b>.XLSX")
    assert has_button(app, "Send 1 correction")
    assert not (asked.folder.parent / "evil").exists()
    shutil.rmtree(asked.folder)
    chosen("2", "a.xlsx", "a.xlsx")
    read = OUTBOXES["returned"].preview(app.session)
    assert read is not None
    assert 2 == read.fix.files

    # Another page sends its own meanwhile.
    other = {"batch": "other", "file": 0, "name": "b.csv", "content": "YQ==", "total": 99, "is_last": False}
    chosen("3", "a.xlsx", "b.xlsx", between=lambda: app.act("returned.upload", **other))
    read = OUTBOXES["returned"].preview(app.session)
    assert read is not None
    assert 2 == read.fix.files

    # What is missing is no end of a file.
    for number, lost in enumerate([{(0, 0)}, {(1, 0)}]):
        chosen(f"lost {number}", "a.xlsx", "b.xlsx", lost=lost)
        assert "Choose them again." in said(app)
        assert read is OUTBOXES["returned"].preview(app.session)
    app.act("returned.upload", **other | {"batch": "4", "content": "no base64!", "is_last": True})
    assert "Choose them again." in said(app)

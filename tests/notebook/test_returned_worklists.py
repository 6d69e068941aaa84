"""Worklists that came back, read and sent in a panel, against a real service and without a browser."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

import prodex
from prodex.notebook.shared.state import Exploration
from prodex.sandbox import Sandbox
from prodex.worklists.fix import Fix
from tests.on_the_way import carried, reply
from tests.worklists.bakery import RECORDS
from tests.worklists.handling import fill

FIRST, _, THIRD = (one["gtin"] for one in RECORDS)
PROFILE = {"checks": {"names_not_in_capitals": {}}}
NAME = "Pain de campagne aux graines"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[prodex.AuditPanel, Path]]:
    """Give a panel, and a folder with an answer to the finding of the first product."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    with Sandbox(RECORDS) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(service, name="answered", progress=False)
        audit = prodex.audit(catalog, PROFILE, progress=False)
        folder = tmp_path / "asked"
        audit.worklists(folder)
        (path,) = folder.rglob("*.xlsx")
        rows = audit.worklist_rows().set_index(["check", "gtin"])["row"]
        fill(path, {rows["names_not_in_capitals"][FIRST]: NAME})
        exploration = Exploration(catalog=catalog, audit=audit)
        yield prodex.AuditPanel(exploration=exploration, service=service), path.parent


def read(panel: prodex.AuditPanel, folder: Path) -> Fix:
    panel.returned.folder.value = str(folder)
    panel.returned.read.click()
    panel.wait()
    assert panel.returned.sender.fix is not None, panel.message
    return panel.returned.sender.fix


def send(panel: prodex.AuditPanel) -> None:
    panel.returned.sender.send.click()
    panel.returned.sender.confirm.click()
    panel.wait()


@pytest.mark.slow
def test_answers_are_read_whatever_is_chosen(asked: tuple[prodex.AuditPanel, Path]) -> None:
    """A filter says which figures are shown, and not which products may have answers."""
    panel, folder = asked
    exploration = panel.exploration
    assert exploration is not None
    exploration.conditions = exploration.conditions.searching(THIRD)
    assert 1 == exploration.filter.mask(exploration.conditions).sum()
    assert {"accepted": 1} == dict(read(panel, folder).counts)


@pytest.mark.slow
def test_what_was_sent_is_followed_to_the_product(asked: tuple[prodex.AuditPanel, Path]) -> None:
    """The products are requested again: the catalogue that is explored and its audit have what was sent."""
    panel, folder = asked
    read(panel, folder)
    send(panel)
    exploration = panel.exploration
    assert exploration is not None
    assert "1 correction has arrived at 127.0.0.1" in panel.returned._arrived.value
    assert "1 finding fixed, 0 new." in panel.returned._arrived.value
    assert "none" == panel.returned.check.layout.display
    assert NAME in exploration.catalog.texts["text"].tolist()
    assert exploration.audit is panel.audit
    assert panel.audit is not None
    assert panel.audit.catalog is exploration.catalog
    assert 0 == len(panel.audit.gaps())


@pytest.mark.slow
def test_an_audit_that_was_opened_again_is_of_what_is_shown(
    asked: tuple[prodex.AuditPanel, Path],
) -> None:
    """It has another object of the catalogue, or none: answers are judged by the one that is explored."""
    panel, folder = asked
    exploration = panel.exploration
    assert exploration is not None
    # By a profile that has a name: one of one's own is not kept with a saved audit, and is asked for in words.
    prodex.audit(exploration.catalog, "online-listing", progress=False).save()
    exploration.audit = prodex.open_audit("answered")
    assert exploration.audit.catalog is not exploration.catalog
    read(panel, folder)
    send(panel)
    assert NAME in exploration.catalog.texts["text"].tolist()
    assert exploration.audit.catalog is exploration.catalog


@pytest.mark.slow
def test_what_changes_after_it_has_arrived_is_seen_by_the_next_check(
    asked: tuple[prodex.AuditPanel, Path],
) -> None:
    """Each check shows the products of then, and their audit, also after the first."""
    panel, folder = asked
    read(panel, folder)
    send(panel)
    exploration, service = panel.exploration, panel.returned._service
    assert exploration is not None
    assert service is not None
    texts = exploration.catalog.texts
    (there,) = texts[texts["text"] == NAME].to_dict("records")
    place = {"position": there["position"], "language_code": there["language_code"]}
    other = prodex.TextCorrection(
        there["product_id"], "namePublicLong", None, "PAIN DE SEIGLE", before=NAME, **place
    )
    prodex.fix_texts([other], exploration.catalog).apply(service).wait()
    panel.returned.check.click()
    panel.wait()
    assert "0 of 1 correction has arrived" in panel.returned._arrived.value
    assert "PAIN DE SEIGLE" in exploration.catalog.texts["text"].tolist()
    assert panel.audit is not None
    assert panel.audit.catalog is exploration.catalog
    assert 1 == len(panel.audit.gaps())


@pytest.mark.slow
def test_what_a_product_does_not_show_yet_can_be_checked_again(
    asked: tuple[prodex.AuditPanel, Path],
) -> None:
    """A service may need minutes to show what it has imported; it is not said to have arrived until then."""
    panel, folder = asked
    read(panel, folder)
    shown: dict[Any, Any] = {}

    def as_before(request: requests.PreparedRequest, send: Callable[[], requests.Response]) -> Any:
        if request.body not in shown:
            shown[request.body] = send().json()
        return reply(request, shown[request.body])

    with carried("list", as_before):
        send(panel)
    said = panel.returned._arrived.value
    assert "0 of 1 correction has arrived" in said
    assert "does not show it (yet)" in said
    assert "" == panel.returned.check.layout.display
    panel.returned.check.click()
    panel.wait()
    assert "1 correction has arrived" in panel.returned._arrived.value
    assert "none" == panel.returned.check.layout.display
    assert panel.exploration is not None
    assert NAME in panel.exploration.catalog.texts["text"].tolist()


@pytest.mark.slow
def test_what_was_not_sent_is_offered_again(
    asked: tuple[prodex.AuditPanel, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that is gone after the first call costs a press, and nothing arrives twice."""
    panel, _ = asked
    exploration, sender, service = panel.exploration, panel.returned.sender, panel.returned._service
    assert exploration is not None
    assert service is not None
    monkeypatch.setattr(sys.modules["prodex.send.upsert"], "LARGEST_BATCH", 1)
    texts = exploration.catalog.texts.query("attribute == 'nameLegal'").to_dict("records")
    corrections = [
        prodex.TextCorrection(one["product_id"], "nameLegal", "fr", f"Pain {one['product_id']}", one["text"])
        for one in texts[:2]
    ]
    session = service._transport.session
    reached, written = session.send, itertools.count()

    def sometimes(request: requests.PreparedRequest, **options: Any) -> requests.Response:
        if request.method == "POST" and str(request.path_url).endswith("/products") and next(written) == 1:
            raise requests.exceptions.InvalidURL("nowhere")
        return reached(request, **options)

    monkeypatch.setattr(session, "send", sometimes)
    sender.show(prodex.fix_texts(corrections, exploration.catalog))
    assert "Send 2 corrections" == sender.send.description
    send(panel)
    assert "Send the rest, 1 product" == sender.send.description
    assert sender.send.layout.display != "none"
    sender.send.click()
    assert "the corrections of 1 product that were not sent" in sender._asked.value
    sender.confirm.click()
    panel.wait()
    assert "2 corrections have arrived at 127.0.0.1" in panel.returned._arrived.value
    assert sender.send.layout.display == "none"
    assert next(written) == 3


@pytest.mark.slow
def test_another_service_than_that_of_the_products_is_part_of_the_question(
    asked: tuple[prodex.AuditPanel, Path],
) -> None:
    """Both are named, and nothing is sent before somebody says yes."""
    panel, folder = asked
    with Sandbox(RECORDS) as other:
        key = other.credentials[0]
        elsewhere = prodex.connect(
            base_url=other.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        again = prodex.AuditPanel(exploration=panel.exploration, service=elsewhere)
        read(again, folder)
        sender = again.returned.sender
        sender.send.click()
        question = sender._asked.value
        assert "The products come from" in question
        assert question.count("127.0.0.1:") >= 2
        assert "Is that meant?" in question
        sender.cancel.click()
        assert not [one for one in other.requests if one[0] == "POST" and one[1].endswith("/products")]

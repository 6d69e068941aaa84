"""The section "History" of a card: newest first, with what we sent in words, and all times in one zone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

import prodex
from prodex.changes import Change
from prodex.changes.trails import ValuePlace
from prodex.corrections.history import Event, ProductHistory, Sent, ValueEvent, ValueHistory
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.history import history_blocks
from tests.corrections.machines import Machines, machines, names
from tests.notebook.cards import block, card_of, shown
from tests.quality.hostile import STRINGS
from tests.quality.reading_html import Node


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer at this machine and at another one."""
    with machines() as found:
        yield found


def panel(catalog: prodex.Catalog, product_id: str) -> App:
    """Return a card with its history unfolded."""
    app = App(Session(catalog, product_id=product_id, section="card"), ["card"])
    app.act("fold.set", key="card-history", is_open=True)
    card_of(app)
    return app


def section(app: App) -> Node:
    """Return the section of a card once it was read."""
    return shown(app).one("section", class_="history")


def saved(*texts: str) -> prodex.Catalog:
    """Keep a snapshot for each text of a product, and return the last one."""
    for one in texts:
        record = {
            "id": 7,
            "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": one}],
            "lifeCycle": 1,
        }
        catalog = prodex.flatten([record]).save("shop", progress=False)
    return catalog


@pytest.mark.slow
def test_a_card_says_what_was_changed_and_what_we_sent(mill: Machines) -> None:
    """The chain of a value, newest first; those that were not changed are counted."""
    mill.load()
    mill.here(namePublicLong=names("Corrigé"))
    mill.load()
    mill.elsewhere(namePublicLong=names("Autre"))
    said = section(panel(mill.load(), "1")).words

    assert "1 value changed, 1 of it sent from here. 3 snapshots of mine were looked at." in said
    assert said.index("Autre") < said.index("Corrigé") < said.index("Name 1 fr")
    assert "sent from here · by max" in said
    assert "spelling, upsert" in said
    assert 1 == said.count("not sent from here")
    assert "as in the first snapshot" in said


def test_a_product_that_was_not_changed_says_so() -> None:
    """In one line, without a table and nothing to unfold."""
    app = panel(saved("A", "A"), "7")
    assert "2 snapshots of shop were looked at. No value was changed; 2 values are as in the first one." in (
        section(app).words
    )
    assert "card-history" not in str(card_of(app))


def test_a_history_is_folded_until_somebody_opens_it() -> None:
    """It says at once what is in it; the values are sent only then."""
    app = App(Session(saved("A", "B"), product_id="7", section="card"), ["card"])
    said = section(app).words
    assert "1 value changed, 0 of it sent from here." in said
    assert "timeline" not in str(card_of(app))
    app.act("fold.set", key="card-history", is_open=True)
    assert ["changed", "in the first snapshot"] == [
        one["event"] for one in block(app, "timeline")["places"][0]["steps"]
    ]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed")
@pytest.mark.parametrize(
    ("zone", "moment"), [("UTC", "2026-11-20 23:30 UTC"), ("Asia/Tokyo", "2026-11-21 08:30 JST")]
)
def test_all_times_are_in_the_zone_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, zone: str, moment: str
) -> None:
    """Which one is said; that of the service, which names none, is not put beside them."""
    first = ValueEvent(
        Event.FIRST,
        Change("7", ("brandHighlight",), None, "old"),
        seen_at=datetime(2026, 11, 19, 1, tzinfo=UTC),
    )
    changed = replace(
        first,
        event=Event.CHANGED,
        change=Change("7", ("brandHighlight",), "old", "new"),
        since=datetime(2026, 11, 20, 9, 0),  # noqa: DTZ001 - as the service sends it
        seen_at=datetime(2026, 11, 20, 23, 30, tzinfo=UTC),
        sent=Sent.NO,
    )
    place = ValuePlace(("brandHighlight",))
    found = ProductHistory(
        "shop", ("7",), None, 2, (ValueHistory(place, (changed, first), 1.0),), ("Looked.",)
    )
    try:
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        blocks = history_blocks(found)
        steps = blocks[-1]["places"][0]["steps"]
        assert f"first seen {moment}" == steps[0]["when"]
        assert steps[1]["when"].endswith("or before")
        assert f"All times are in the time zone of this machine ({moment[-3:]})." in str(blocks)
        assert "09:00" not in str(blocks)
        assert "not sent from here" == steps[0]["by"]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_catalogue_in_memory_has_no_history() -> None:
    """Nor has one from elsewhere: its snapshots are not known."""
    assert "History" not in shown(panel(prodex.flatten([{"id": 7}]), "7")).words


def test_what_suppliers_typed_is_text_and_long_texts_are_folded() -> None:
    """Nothing of it is markup, and 40,000 characters are there as a whole."""
    hostile = [one for one in STRINGS if "\ud83d" not in one]
    long = "Zutaten " * 5_000
    found = section(panel(saved(*hostile[:6], long, "A"), "7"))

    words = found.words
    assert [] == [one for one in hostile[:6] if " ".join(one.split()) not in " ".join(words.split())]
    assert "40,000 characters" in words
    assert [] == [*found.all("img"), *found.all("script"), *found.all("a"), *found.all("iframe")]


def test_another_product_forgets_the_history_of_the_one_before() -> None:
    """It must not arrive on the wrong card."""
    records: list[dict[str, Any]] = [{"id": one, "brand": {"code": "A"}} for one in (7, 8)]
    prodex.flatten(records).save("shop", progress=False)
    catalog = prodex.flatten([records[0] | {"brand": {"code": "B"}}, records[1]]).save("shop", progress=False)
    app = panel(catalog, "7")
    app.act("table.open", product_id="8")
    assert "No value was changed" in section(app).words
    app.act("table.open", product_id="7")
    assert "1 value changed" in section(app).words


def test_a_history_that_cannot_be_read_is_said_in_words() -> None:
    """The card itself stays."""
    catalog = saved("A", "B")
    for folder in prodex.list_snapshots("shop")["folder"][:-1]:
        (prodex.open_snapshot(folder).parts[0].files["raw"]).unlink()
    words = shown(panel(catalog, "7")).words
    assert "could not be read" in words or "cannot be read" in words
    assert "Texts by language" in words

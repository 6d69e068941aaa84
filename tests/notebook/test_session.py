"""The session: one value, of which each action makes the next."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

import prodex as px
from prodex.notebook.app import App
from prodex.notebook.session.readings import last_read, read_for, reading
from prodex.notebook.session.session import History, Session
from prodex.selection import Selection
from prodex.worklists.text_corrections import TextCorrection

RECORDS = [{"id": 7, "brand": {"code": "ACME"}}, {"id": 8, "brand": {"code": "OTHER"}}]


@pytest.fixture
def session() -> Session:
    """Hold two products of two brands."""
    return Session(px.flatten(RECORDS))


def test_a_session_is_never_changed(session: Session) -> None:
    """What was shown before stays as it was."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        session.product_id = "7"  # type: ignore[misc]
    later = session.replaced(product_id="7")
    assert (None, "7") == (session.product_id, later.product_id)


def test_what_was_computed_stays_with_its_catalogue_and_audit(session: Session) -> None:
    """Selecting computes nothing again; another audit, or another catalogue, does."""
    made: list[Session] = []

    def count(of: Session) -> int:
        made.append(of)
        return len(of.catalog)

    assert (2, 2) == (session.derived(count), session.replaced(selected=("7",)).derived(count))
    assert 1 == len(made)
    audited = session.replaced(audit=px.audit(session.catalog, "online-listing"))
    assert audited.filter is not session.filter
    assert 1 == session.looking_at(px.flatten(RECORDS[:1])).derived(count)


def test_conditions_go_back_and_forward(session: Session) -> None:
    """As in a browser, a change after going back removes what was undone."""
    acme = session.filtered(Selection(groups={"brand": ("ACME",)}))
    both = acme.filtered(Selection(words="bread"))
    back = both.went(back=True).went(back=True)
    assert Selection() == back.conditions
    assert both.conditions == back.went(back=False).went(back=False).conditions
    assert () == back.filtered(Selection(words="milk")).history.after
    assert back is back.went(back=True)
    assert acme is acme.filtered(acme.conditions)


@pytest.mark.parametrize(
    ("do", "given"),
    [
        ("form.set", {"form": "comparison", "field": "by", "value": "shape"}),
        ("form.set", {"form": "comparison", "field": "by", "value": 3}),
        ("search.help", {"is_open": "yes"}),
        ("search.help", {"value": True}),
        ("search.help", {}),
    ],
)
def test_one_field_is_set_to_what_it_may_be(session: Session, do: str, given: dict[str, object]) -> None:
    """A value that is not offered, one of another type, and an argument of another name change nothing, in words."""
    app = App(session)
    app.act("form.set", form="comparison", field="by", value="brand")
    app.act("search.help", is_open=True)
    before = app.session.parts, app.session.typed

    app.act(do, **given)

    assert before == (app.session.parts, app.session.typed)
    said = app.session.notices["products"].sentence
    assert said.startswith("Nothing was done")


def test_history_has_an_end() -> None:
    """A long day of work does not fill the memory."""
    history = History()
    for _ in range(1_000):
        history = history.followed(Selection())
    assert 200 == len(history.before)


def test_another_catalogue_begins_anew_and_can_be_left(session: Session) -> None:
    """Values of one may not exist in the other."""
    chosen = session.filtered(Selection(groups={"brand": ("ACME",)})).replaced(
        selected=("7",), product_id="7"
    )
    other = chosen.looking_at(px.flatten([{"id": 9}]))
    assert (Selection(), (), None, History()) == (
        other.conditions,
        other.selected,
        other.product_id,
        other.history,
    )
    assert other.former is not None
    assert other.looking_at(*other.former).catalog is session.catalog


def test_a_correction_replaces_an_earlier_one_of_the_same_text(session: Session) -> None:
    """And one back to what stood there is none."""

    def correction(before: str, text: str, language: str = "fr") -> TextCorrection:
        return TextCorrection("7", "namePublicLong", language, text, before)

    twice = session.correcting(correction("Pain", "Pan")).correcting(correction("Pain", "Pain bio"))
    assert ["Pain bio"] == [one.text for one in twice.corrections]
    other = twice.correcting(correction("Brood", "Brood bio", "nl"))
    assert 2 == len(other.corrections)
    assert 1 == len(other.correcting(correction("Pain", "Pain")).corrections)


def test_ids_are_text(session: Session) -> None:
    """An analyst who passes integers would see nothing selected, and no error."""
    with pytest.raises(px.errors.InputError, match="Give product ids"):
        session.replaced(selected=(7,))


def test_what_is_no_catalogue_is_refused() -> None:
    """With a word about what to give."""
    with pytest.raises(px.errors.InputError, match="catalog must be a catalogue, not list"):
        Session([])  # type: ignore[arg-type]
    with pytest.raises(px.errors.InputError, match="audit must be an audit, not str"):
        Session(px.flatten(RECORDS), "online-listing")  # type: ignore[arg-type]


def test_what_was_read_is_of_its_key() -> None:
    """A result and a problem are kept alike; of another key nothing is known, but what was read last."""
    app = App(Session(px.flatten(RECORDS)))

    def read(key: str, text: str) -> Session:
        want = reading("test.number", (key,), lambda _: int(text))
        app.run(want.slot, want.do, want.then, key=want.key, **want.options)
        app.wait()
        return app.session

    assert read_for(app.session, "test.number", ("a",)) is None
    seven = read_for(read("a", "7"), "test.number", ("a",))
    assert seven is not None
    assert (7, "") == (seven.value, seven.problem)
    failed = read_for(read("b", "seven"), "test.number", ("b",))
    assert failed is not None
    assert failed.value is None
    assert "seven" in failed.problem
    assert read_for(app.session, "test.number", ("a",)) is None
    assert failed == last_read(app.session, "test.number")


def test_a_script_that_ends_while_something_is_read_prints_nothing() -> None:
    """Also where the work is in the middle of a file."""
    code = (
        "import time, prodex as px\n"
        "from prodex.notebook.session import jobs\n"
        "from prodex.notebook.app import App\n"
        "from prodex.notebook.session.session import Session\n"
        "app = App(Session(px.flatten([{'id': n} for n in range(2000)])))\n"
        "app.view()\n"
        "app.run('read', lambda reporter: time.sleep(0.3), title='Reading')\n"
        "app.run('more', lambda reporter: time.sleep(30), title='Reading')\n"
        "jobs.let_end.__defaults__ = (2.0,)\n"  # ten seconds prove no more
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert ("", 0) == (done.stderr, done.returncode)

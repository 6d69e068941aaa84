"""Open pages: whatever happens to messages, each action is taken once, in its order, and each page sees the same."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex as px
from prodex.notebook import app as app_module
from prodex.notebook.app import App
from prodex.notebook.pages import OpenPage, changes, messages
from prodex.notebook.session.session import Session
from prodex.notebook.views import SECTIONS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["key", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def patched(view: Any, changed: list[list[Any]]) -> Any:
    """Apply changes as a page does."""
    root = json.loads(json.dumps({"view": view}))
    for path, *value in changed:
        place, (*way, last) = root, ["view", *path]
        for step in way:
            place = place[step]
        if value:
            place[last] = json.loads(json.dumps(value[0]))
        else:
            del place[last]
    return root["view"]


@given(JSON, JSON)
def test_a_patch_makes_the_view_after_of_the_one_before(before: Any, after: Any) -> None:
    """Whatever both are."""
    assert json.dumps(after, sort_keys=True) == json.dumps(
        patched(before, list(changes(before, after))), sort_keys=True
    )


def test_true_and_one_are_two_values() -> None:
    """Python takes them for equal, and a page does not."""
    assert [[["a"], True]] == list(changes({"a": 1}, {"a": True}))


@given(st.permutations(range(1, 8)), st.lists(st.integers(1, 7), max_size=6))
def test_actions_are_taken_once_and_in_their_order(order: list[int], again: list[int]) -> None:
    """In whatever order they come, and however often."""
    page, taken = OpenPage(), []
    for number in (*order, *again):
        taken += page.arrived(number, number)
    assert [1, 2, 3, 4, 5, 6, 7] == taken
    assert page.lacks is None


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30), st.integers(1, 300_000))
def test_a_long_message_is_put_together_of_its_pieces(text: str, times: int) -> None:
    """Letters outside the basic plane are not cut in two."""
    message = {"type": "all", "view": text * (1 + times // len(text))}
    pieces = list(messages(message))
    whole = message if len(pieces) == 1 else json.loads("".join(one["text"] for one in pieces))
    assert message == whole
    assert all(len(json.dumps(one, ensure_ascii=False).encode()) < 4_000_000 for one in pieces)


@pytest.fixture
def app() -> App:
    """Hold two products."""
    return App(Session(px.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])))


def heard(app: App) -> list[dict[str, Any]]:
    """Return what the panel sends from now on."""
    sent: list[dict[str, Any]] = []
    app.send = lambda message, _: sent.append(message)
    return sent


def press(app: App, page: str, number: int, do: str, **args: Any) -> None:
    """Send what a page sends for a press."""
    app.hear({"type": "act", "page": page, "number": number, "do": do, "args": args, "revision": 0})


def test_two_pages_count_for_themselves_and_see_the_same(app: App) -> None:
    """A second tab begins at one, and a press in either changes both."""
    sent = heard(app)
    app.hear({"type": "open", "page": "a"})
    app.hear({"type": "open", "page": "b"})
    press(app, "a", 1, "fold.set", key="x", is_open=True)
    press(app, "b", 1, "fold.set", key="y", is_open=True)
    assert {"a": 1, "b": 1} == sent[-1]["taken"]


def test_a_press_before_the_typing_that_it_follows_waits_for_it(app: App) -> None:
    """The press sees what was typed."""
    heard(app)
    app.hear({"type": "open", "page": "a"})
    press(app, "a", 2, "form.set", form="f", field="last", value="second")
    assert {} == app.session.typed
    press(app, "a", 1, "form.set", form="f", field="last", value="first")
    assert {"f": {"last": "second"}} == app.session.typed


def test_what_is_missing_is_asked_for_and_then_said(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The actions after it are taken then: nobody waits for ever."""
    monkeypatch.setattr(app_module, "_later", lambda _, do: later.append(do))
    later: list[Any] = []
    sent = heard(app)
    app.hear({"type": "open", "page": "a"})
    press(app, "a", 3, "fold.set", key="x", is_open=True)
    later.pop(0)()
    assert {"type": "again", "page": "a", "from": 1} == sent[-1]
    later.pop(0)()
    assert {"type": "lost", "page": "a", "number": 2} in sent
    assert {"a": 3} == sent[-1]["taken"]


def test_what_is_not_understood_is_refused_in_words(app: App) -> None:
    """A page of another version may ask for anything."""
    heard(app)
    for message in (
        {},
        {"type": "act"},
        {"type": "act", "page": 7},
        {"type": "open", "page": None},
        {"type": "x"},
    ):
        app.hear(message)
    app.act("no.such", x=1)
    assert "no 'no.such'" in app.session.notices["products"].sentence
    app.act("fold.set", key=7, is_open="perhaps")
    assert "fold.set does not take" in app.session.notices["products"].sentence
    app.act("fold.set", nothing="of it")
    assert "fold.set does not take" in app.session.notices["products"].sentence
    app.act("section.open", name="elsewhere")
    assert "products" == app.view()["section"]


def test_an_action_that_fails_is_said_at_its_section(app: App) -> None:
    """And the panel goes on."""
    app.session = app.session.replaced(parts={})
    app.act("work.cancel", slot="nothing")
    assert {} == app.session.notices


def test_newer_work_takes_the_place_of_what_runs(app: App) -> None:
    """Its result is dropped, however late it comes."""
    import threading

    gate = threading.Event()
    app.run("read", lambda _: gate.wait(10) and "old", lambda session, found: session.noting(found))
    app.run("read", lambda _: "new", lambda session, found: session.noting(found))
    gate.set()
    app.wait()
    assert "new" == app.session.notices["products"].sentence


def test_work_of_the_same_key_is_not_started_twice(app: App) -> None:
    """Whoever clicks while something is read does not have it read twice."""
    import threading

    gate, begun = threading.Event(), []

    def read(_: object) -> None:
        begun.append(1)
        gate.wait(10)

    for _ in range(3):
        app.run("read", read, key=("same", 7))
    gate.set()
    app.wait()
    assert [1] == begun


def test_an_error_of_work_is_shown_where_it_was_started(app: App) -> None:
    """Also if another section is open by then."""

    def fail(_: object) -> None:
        raise px.errors.InputError("The folder is not there. Choose another.")

    app.run("write", fail)
    app.wait()
    assert app.session.notices["products"].is_problem


def test_a_panel_that_nobody_sees_sends_nothing(app: App) -> None:
    """A script that sets what is selected needs no page."""
    sent = heard(app)
    app.change(lambda session: session.replaced(selected=("7",)))
    assert [] == sent
    app.hear({"type": "open", "page": "a"})
    assert ["all"] == [one["type"] for one in sent]


def test_a_page_that_is_closed_is_forgotten(app: App) -> None:
    """And so is the oldest of very many."""
    sent = heard(app)
    for number in range(100):
        app.hear({"type": "open", "page": f"page {number}"})
    app.hear({"type": "closed", "page": "page 99"})
    press(app, "page 98", 1, "fold.set", key="x", is_open=True)
    assert "page 99" not in sent[-1]["taken"]
    assert len(sent[-1]["taken"]) < 50


def test_a_picture_reaches_pages_that_open_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """As bytes, and not in the view; a page that has it does not get it again."""
    pictured = replace(SECTIONS["products"], pictures=lambda _: [("one", "image/png", b"bytes")])
    monkeypatch.setitem(SECTIONS, "products", pictured)
    app = App(Session(px.flatten([{"id": 7}])))
    sent: list[tuple[dict[str, Any], Any]] = []
    app.send = lambda message, buffers: sent.append((message, buffers))
    picture = ({"type": "picture", "id": "one", "mime": "image/png"}, [b"bytes"])
    for number, page in enumerate(("a", "b"), 1):
        app.hear({"type": "open", "page": page})
        assert number == sent.count(picture)
        press(app, page, 1, "fold.set", key=page, is_open=True)
        assert number == sent.count(picture)

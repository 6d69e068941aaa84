"""What is typed and pressed in a page reaches the panel once and in order, and the page shows what the panel holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.actions import Block, Section, action
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views import SECTIONS
from prodex.notebook.views.blocks import box, button, fold, heading, paragraph, row, switch, table, typed_text
from prodex.notebook.views.forms import FormField, form, form_values

from .one_browser import in_kernel, page_settled, press, shown, type_in, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: What a supplier may type.
_MARKUP = "<img src=x onerror=\"alert('run')\"><b>bold</b> $5 \u202eevil"
_LONG = "<i>" + "ä" * 40_000
_OPTIONS = (("", "none"), (1, "one"), (2, "two"))


@dataclass(frozen=True)
class Trial:
    """What was pressed, in order, and what else is shown."""

    pressed: tuple[str, ...] = ()
    saved: tuple[Mapping[str, Any], ...] = ()
    found: str = ""
    rows: tuple[str, ...] = ("a", "b", "c")
    others: int = 0
    text: str = _MARKUP
    view: str = "left"


def _fields() -> list[FormField]:
    return [
        FormField("name", "Name"),
        FormField("note", "Note", "long"),
        FormField("day", "Day", "date"),
        FormField("size", "Size", "number", hint="In grams."),
        FormField("choice", "Choice", "choice", value="", options=_OPTIONS),
        FormField("many", "Several", "many", value=[], options=[("x", "X"), ("y", "Y")]),
        FormField("sure", "Sure", "tick", value=False),
        FormField("folder", "Folder", "folder", placeholder="/tmp"),
        FormField("off", "Closed", off="Not now."),
    ]


def _view(session: Session) -> list[Block]:
    trial = session.part(Trial)
    pairs = [
        {"key": one, "cells": [one, typed_text(trial.text)], "do": "trial.press", "args": {"what": one}}
        for one in trial.rows
    ]
    return [
        heading("Trial"),
        paragraph(f"pressed {' '.join(trial.pressed)}", key="pressed"),
        paragraph(f"others {trial.others}", key="others"),
        paragraph(["Supplier: ", typed_text(trial.text)], key="text"),
        row(
            *(button(one, "trial.press", what=one) for one in ("A", "B", "C")),
            button("Save", "trial.save", look="main"),
            button("Closed", "trial.press", off="There is nothing to close.", what="closed"),
            key="acts",
        ),
        form(session, "trial", _fields(), label="A trial"),
        form(session, "finding", [FormField("find", "Find", "search", value=trial.found, do="trial.find")]),
        table(
            [{"name": "n", "title": "Name"}, {"name": "t", "title": "Text"}], pairs, key="rows", label="Rows"
        ),
        box(
            *(button(f"Remove {one}", "trial.remove", to="acts", what=one) for one in trial.rows),
            key="removed",
        ),
        switch("Side", trial.view, {"left": "Left", "right": "Right"}, "trial.side", key="side"),
        fold(session, "more", "More", lambda: [paragraph("inside", key="inside")]),
        box(*(paragraph(f"line {at}", key=f"line {at}") for at in range(60)), key="long"),
    ]


@action("trial.press")
def _press(session: Session, what: str) -> Session:
    trial = session.part(Trial)
    return session.with_part(replace(trial, pressed=(*trial.pressed, what)))


@action("trial.save")
def _save(session: Session) -> Session:
    trial = session.part(Trial)
    values = form_values(session, "trial", _fields())
    if values["name"] == "wrong":
        raise Refused("This name is taken.", at="trial.name")
    return session.with_part(replace(trial, saved=(*trial.saved, values)))


@action("trial.find")
def _find(session: Session, value: str) -> Session:
    if value == "wrong":
        raise Refused("Nothing is called so.", at="finding.find")
    return session.with_part(replace(session.part(Trial), found=value))


@action("trial.remove")
def _remove(session: Session, what: str) -> Session:
    trial = session.part(Trial)
    return session.with_part(replace(trial, rows=tuple(one for one in trial.rows if one != what)))


@action("trial.side")
def _side(session: Session, name: str) -> Session:
    return session.with_part(replace(session.part(Trial), view=name))


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> App:
    """Give a panel of one section that has everything."""
    monkeypatch.setitem(SECTIONS, "trial", Section("trial", lambda _: "Trial", _view))
    return App(Session(prodex.flatten([{"id": 1}]), section="trial"), ["trial"])


def _trial(app: App) -> Trial:
    return app.session.part(Trial)


def _change(app: App, **values: Any) -> None:
    in_kernel(lambda: app.change(lambda session: session.with_part(replace(session.part(Trial), **values))))


class _Hostile:
    """Doubles, delays and drops messages, the same ones for the same number; it tires, so that a test ends."""

    def __init__(self, seed: int, drops: float) -> None:
        self._draw, self._drops = Random(seed), drops
        self.became: Counter[str] = Counter()

    def __call__(self, _direction: str, message: dict[str, Any]) -> Sequence[tuple[float, dict[str, Any]]]:
        if self._draw.random() < self._drops and self.became["dropped"] < 6:
            self.became["dropped"] += 1
            return []
        times = 2 if self._draw.random() < 0.4 else 1
        self.became["doubled"] += times - 1
        return [(self._draw.uniform(0, 0.25), message) for _ in range(times)]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_pressed_arrives_once_and_in_order(app: App, browser: Browser, seed: int) -> None:
    """Messages in another order and doubled change nothing: neither what was done, nor what is shown."""
    middle = _Hostile(seed, drops=0)
    with shown(app, browser, middle=middle) as page:
        wanted = []
        for at in range(12):
            what = "ABC"[at % 3]
            page.get_by_role("button", name=what, exact=True).click()
            wanted.append(what)
        type_in(page, "Name", "typed before Save")
        page.get_by_role("button", name="Save", exact=True).click()
        page_settled(page)
        assert tuple(wanted) == _trial(app).pressed
        assert ["typed before Save"] == [one["name"] for one in _trial(app).saved]
        page.wait_for_function(
            "text => document.body.innerText.includes(text)", arg=f"pressed {' '.join(wanted)}"
        )
    assert middle.became["doubled"] > 3


@pytest.mark.parametrize("seed", range(2))
def test_what_is_lost_on_the_way_is_sent_again(app: App, browser: Browser, seed: int) -> None:
    """Of messages that are dropped in either direction, everything pressed and typed is done once."""
    middle = _Hostile(seed, drops=0.35)
    # Nobody waits for the seconds after which a page sends again.
    with shown(app, browser, middle=middle, has_own_clock=True) as page:
        for what in "ABCAB":
            page.get_by_role("button", name=what, exact=True).click()
        type_in(page, "Name", "kept")
        page.get_by_role("button", name="Save", exact=True).click()
        for _ in range(120):
            page.clock.fast_forward(3100)
            page.wait_for_timeout(50)
            if page.locator(".prodex[data-under-way='0']").count():
                break
        page_settled(page)
        assert tuple("ABCAB") == _trial(app).pressed
        assert ["kept"] == [one["name"] for one in _trial(app).saved]
        page.wait_for_function("() => document.body.innerText.includes('pressed A B C A B')")
    assert middle.became["dropped"] > 2


def test_a_press_that_never_arrives_is_said_beside_it(
    app: App, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the panel has given up is told to whoever pressed, and what came after it is done."""
    monkeypatch.setattr("prodex.notebook.app._PATIENCE", 0.2)
    monkeypatch.setattr("prodex.notebook.app._LAST", 0.5)

    def middle(direction: str, message: dict[str, Any]) -> Sequence[tuple[float, dict[str, Any]]]:
        is_lost = message.get("args") == {"what": "A"} and direction == "hear"
        return [] if is_lost else [(0, message)]

    with shown(app, browser, middle=middle) as page:
        page.get_by_role("button", name="A", exact=True).click()
        page.get_by_role("button", name="B", exact=True).click()
        said = page.get_by_role("alert")
        said.wait_for(timeout=20_000)
        assert "did not reach the kernel" in said.inner_text()
        page_settled(page)
        assert ("B",) == _trial(app).pressed
        press(page, "C")
        assert 0 == said.count()


def test_silence_is_said_beside_what_was_pressed(app: App, browser: Browser) -> None:
    """A panel that does not answer for ten seconds is said to be silent; once it answers, nothing is said or lost."""
    is_mute = [False]

    def middle(_direction: str, message: dict[str, Any]) -> Sequence[tuple[float, dict[str, Any]]]:
        return [] if is_mute[0] else [(0, message)]

    with shown(app, browser, middle=middle, has_own_clock=True) as page:
        is_mute[0] = True
        page.get_by_role("button", name="A", exact=True).click()
        page.clock.fast_forward(11_000)
        said = page.get_by_role("alert")
        said.wait_for()
        assert "the kernel does not answer" in said.inner_text()
        assert said.evaluate("said => said.previousElementSibling.innerText === 'A'")
        is_mute[0] = False
        page.clock.fast_forward(4000)
        page_settled(page)
        assert ("A",) == _trial(app).pressed
        assert 0 == said.count()


@pytest.mark.parametrize("sign", ["jupyter-widgets-disconnected", "jp-widgets-disconnected"])
def test_a_dead_kernel_is_said_beside_what_was_pressed(app: App, browser: Browser, sign: str) -> None:
    """Where the application marks the panel as not connected, a press says at once that nothing was done."""
    with shown(app, browser) as page:
        page.evaluate("sign => document.querySelector('main').classList.add(sign)", sign)
        above = page.locator(".prodex").evaluate("one => getComputedStyle(one, '::before').content")
        assert "not connected to a kernel" in above
        field = type_in(page, "Name", "a long text")
        page.get_by_role("button", name="A", exact=True).click()
        assert "a long text" == field.input_value()
        said = page.get_by_role("alert").inner_text()
        assert (
            "Nothing was done: the kernel was restarted or stopped. Run the cell of this panel again." == said
        )
        assert () == _trial(app).pressed


def test_two_pages_show_the_same(app: App, browser: Browser) -> None:
    """Each page counts for itself, and both show what was typed and done in either."""
    with shown(app, browser) as one, shown(app, browser) as other:
        press(one, "A")
        other.get_by_text("pressed A", exact=True).wait_for()
        type_in(other, "Name", "of the other")
        press(one, "B")
        press(other, "C")
        assert ("A", "B", "C") == _trial(app).pressed
        one.get_by_text("pressed A B C", exact=True).wait_for()
        page_settled(one)
        assert "of the other" == one.get_by_label("Name", exact=True).input_value()


def test_a_page_that_is_loaded_again_shows_what_was_done(app: App, browser: Browser) -> None:
    """What was typed a moment before is kept, and numbers begin anew."""
    with shown(app, browser) as page:
        press(page, "A")
        type_in(page, "Name", "not paused")
        page.reload()
        page_settled(page)
        assert "not paused" == page.get_by_label("Name", exact=True).input_value()
        page.get_by_text("pressed A", exact=True).wait_for()
        press(page, "B")
        assert ("A", "B") == _trial(app).pressed


def test_a_patch_of_another_base_is_answered_with_everything(app: App, browser: Browser) -> None:
    """A page that has missed a patch asks for the view, also where nothing was pressed in it."""
    drop = [False]

    def middle(_direction: str, message: dict[str, Any]) -> Sequence[tuple[float, dict[str, Any]]]:
        return [] if drop[0] and message["type"] == "patch" else [(0, message)]

    with shown(app, browser, middle=middle) as page:
        drop[0] = True
        _change(app, others=1)
        drop[0] = False
        _change(app, rows=("b",))
        page.get_by_text("others 1", exact=True).wait_for(timeout=5000)
        assert 0 == page.get_by_role("button", name="Remove a", exact=True).count()


def test_patches_in_another_order_are_put_in_theirs(app: App, browser: Browser) -> None:
    """Of two patches the later one may come first: both are applied, and no view is asked for."""
    late, opened = [0.15], []

    def middle(direction: str, message: dict[str, Any]) -> Sequence[tuple[float, dict[str, Any]]]:
        if message["type"] == "open":
            opened.append(message)
        if direction == "send" and message["type"] == "patch" and late:
            return [(late.pop(), message)]
        return [(0, message)]

    with shown(app, browser, middle=middle) as page:
        late[:] = [0.15]
        _change(app, others=1)
        _change(app, rows=("c",))
        page.get_by_text("others 1", exact=True).wait_for()
        assert 0 == page.get_by_role("button", name="Remove a", exact=True).count()
        assert 1 == len(opened)


def test_what_is_being_typed_is_not_overwritten(app: App, browser: Browser) -> None:
    """Patches that arrive between two keys leave the field, its caret and its focus alone."""
    with shown(app, browser) as page:
        field = page.get_by_label("Name", exact=True)
        field.click()
        for at, key in enumerate("hello world"):
            page.keyboard.type(key)
            _change(app, others=at)
            page.evaluate("() => echo()")
        assert "hello world" == field.input_value()
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        page.keyboard.type("new ")
        _change(app, others=99)
        page.get_by_text("others 99", exact=True).wait_for()
        page.keyboard.type("big ")
        page_settled(page)
        assert "hello new big world" == field.input_value() == app.session.typed["trial"]["name"]
        assert field.evaluate("one => one === document.activeElement")


def test_a_text_is_composed_in_peace(app: App, browser: Browser) -> None:
    """Letters that are chosen from a list (Japanese, accents) are not taken apart by what arrives meanwhile."""
    with shown(app, browser) as page:
        field = page.get_by_label("Name", exact=True)
        field.click()
        keyboard = page.context.new_cdp_session(page)
        for at, text in enumerate(("に", "にほ", "にほん")):
            keyboard.send(
                "Input.imeSetComposition",
                {"text": text, "selectionStart": len(text), "selectionEnd": len(text)},
            )
            _change(app, others=at + 1)
            page.get_by_text(f"others {at + 1}", exact=True).wait_for()
            page.wait_for_timeout(350)
            assert text == field.input_value()
            assert "trial" not in app.session.typed
        keyboard.send("Input.insertText", {"text": "日本"})
        page_settled(page)
        assert "日本" == field.input_value() == app.session.typed["trial"]["name"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_panel_in_a_shadow_is_the_same(app: App, browser: Browser, scheme: str) -> None:
    """In a shadow tree, as in marimo, it keeps the focus and has the colours of the page around it."""
    with shown(app, browser, scheme=scheme, is_in_shadow=True) as page:
        type_in(page, "Name", "abc")
        _change(app, rows=("c", "a"))
        page_settled(page)
        page.keyboard.type("d")
        press(page, "Remove c")
        assert ("a",) == _trial(app).rows
        assert "abcd" == app.session.typed["trial"]["name"]
        is_dark = page.locator(".prodex").evaluate("one => getComputedStyle(one).colorScheme") == "dark"
        assert is_dark == (scheme == "dark")


def test_a_press_sees_all_that_was_typed(app: App, browser: Browser) -> None:
    """Every kind of field tells what it holds before a button does anything."""
    with shown(app, browser) as page:
        type_in(page, "Note", "two\nlines")
        page.get_by_label("Size", exact=True).fill("0,5")
        page.get_by_label("Day", exact=True).fill("2026-02-03")
        page.get_by_label("Choice", exact=True).select_option("two")
        page.get_by_role("button", name="Y", exact=True).click()
        page.get_by_role("button", name="X", exact=True).click()
        page.get_by_label("Sure", exact=True).check()
        type_in(page, "Folder", "/a folder")
        type_in(page, "Name", "n")
        page.evaluate(
            "() => [...document.querySelectorAll('button')].find(one => one.innerText === 'Save').click()"
        )
        page_settled(page)
        (saved,) = _trial(app).saved
        wanted = {
            "name": "n",
            "note": "two\nlines",
            "day": "2026-02-03",
            "size": "0,5",
            "choice": 2,
            "many": ["y", "x"],
        }
        assert {**wanted, "sure": True, "folder": "/a folder", "off": ""} == saved
        assert "2" == page.get_by_label("Choice", exact=True).input_value()
        assert "true" == page.get_by_role("button", name="X", exact=True).get_attribute("aria-pressed")
        assert page.get_by_label("Closed", exact=True).is_disabled()


def test_half_of_a_date_is_not_taken_for_none(app: App, browser: Browser) -> None:
    """A date of which only the day was typed stays in its field, and is told as what it is."""
    with shown(app, browser) as page:
        page.get_by_label("Day", exact=True).press("1")
        press(page, "Save")
        assert ["not a whole date"] == [one["day"] for one in _trial(app).saved]
        assert page.get_by_label("Day", exact=True).evaluate("one => one.validity.badInput")


def test_an_error_stands_beside_its_field(app: App, browser: Browser) -> None:
    """It is tied to the field for screen readers, gone with the next change, and what was refused can be corrected."""
    with shown(app, browser) as page:
        for label, sentence_ in (("Name", "This name is taken."), ("Find", "Nothing is called so.")):
            field = type_in(page, label, "wrong")
            field.press("Enter")
            if label == "Name":
                press(page, "Save")
            page_settled(page)
            said = page.get_by_role("alert").filter(has_text=sentence_)
            assert said.get_attribute("id") in (field.get_attribute("aria-describedby") or "").split()
            assert "true" == field.get_attribute("aria-invalid")
            assert "wrong" == field.input_value()
            type_in(page, label, "right")
            page_settled(page)
            assert 0 == said.count()
            assert field.get_attribute("aria-invalid") is None


def test_markup_of_suppliers_is_text(app: App, browser: Browser) -> None:
    """What a supplier typed is shown letter by letter, also 40,000 letters, and never runs."""
    with shown(app, browser) as page:
        supplier = page.get_by_text("Supplier:")
        assert _MARKUP in supplier.inner_text()
        for text in (_LONG, "javascript:alert(1)", "&lt;b&gt;", "שלום <script>alert(1)</script>"):
            _change(app, text=text)
            page_settled(page)
            assert text[:30] in supplier.inner_text()
        assert 0 == page.locator(".prodex :is(img, script, b, i)").count()


def test_focus_goes_on_to_what_is_left(app: App, browser: Browser) -> None:
    """A button that is gone leaves the focus where the view says, and a row keeps it while others come and go."""
    with shown(app, browser) as page:
        now = "() => document.activeElement.innerText.trim().slice(0, 20)"
        page.get_by_role("button", name="Remove b", exact=True).focus()
        page.keyboard.press("Enter")
        page_settled(page)
        assert "A" == page.evaluate(now)
        rows = page.get_by_role("region", name="Rows").locator("tbody tr")
        rows.nth(1).focus()
        _change(app, rows=("z", "c", "a", "y"))
        page_settled(page)
        assert page.evaluate(now).startswith("c")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page_settled(page)
        assert ("a",) == _trial(app).pressed
        assert page.evaluate(now).startswith("a")
        _change(app, rows=())
        page_settled(page)
        assert page.evaluate("() => document.activeElement !== document.body")


def test_scrolling_stays(app: App, browser: Browser) -> None:
    """A patch moves nothing that somebody looks at."""
    with shown(app, browser) as page:
        page.mouse.wheel(0, 700)
        page.wait_for_function("() => scrollY > 300")
        before = page.evaluate("() => scrollY")
        _change(app, others=5)
        page_settled(page)
        assert before == page.evaluate("() => scrollY")


def test_a_drawing_waits_for_the_end_of_a_press(app: App, browser: Browser) -> None:
    """What is under the pointer when it goes down is there when it comes up, so that a click is one."""
    with shown(app, browser) as page:
        page.get_by_role("button", name="Remove a", exact=True).hover()
        page.mouse.down()
        _change(app, rows=("b", "c"))
        page.evaluate("() => echo()")
        assert page.get_by_role("button", name="Remove a", exact=True).is_visible()
        page.mouse.up()
        page_settled(page)
        assert 0 == page.get_by_role("button", name="Remove a", exact=True).count()
        assert ("b", "c") == _trial(app).rows


def test_the_second_half_of_a_double_click_presses_nothing_new(app: App, browser: Browser) -> None:
    """What the first half has brought under the pointer is not pressed by the second."""
    with shown(app, browser) as page:
        target = page.get_by_role("button", name="Remove a", exact=True)
        box_ = target.bounding_box()
        assert box_ is not None
        page.mouse.move(box_["x"] + 5, box_["y"] + 5)
        page.mouse.down()
        page.mouse.up()
        page_settled(page)
        _change(app, rows=("new", "b", "c"))
        page_settled(page)
        page.mouse.down(click_count=2)
        page.mouse.up(click_count=2)
        page_settled(page)
        assert "new" in _trial(app).rows


def test_pieces_are_put_together(app: App, browser: Browser) -> None:
    """A view beyond a megabyte arrives in pieces, in whatever order."""
    rows = tuple(f"row {at} {'é' * 40}" for at in range(6000))
    in_kernel(
        lambda: app.change(lambda session: session.with_part(Trial(rows=rows[:1], text="x" * 3_000_000)))
    )
    seen: Counter[str] = Counter()
    draw = Random(1)

    def middle(_direction: str, message: dict[str, Any]) -> Sequence[tuple[float, dict[str, Any]]]:
        seen[message["type"]] += 1
        return [(draw.uniform(0, 0.1) if message["type"] == "piece" else 0, message)]

    with shown(app, browser, middle=middle) as page:
        assert page.get_by_role("button", name=re.compile("^Remove row 0")).is_visible()
        _change(app, text=_MARKUP, others=7)
        page.get_by_text("others 7", exact=True).wait_for()


def test_pictures_arrive_as_bytes(app: App, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture is shown where the view names it, also where it comes later."""
    svg, sent = (
        b"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='4'/>",
        list[tuple[str, str, bytes]](),
    )
    (name,) = (one.name for one in app.sections)
    monkeypatch.setitem(SECTIONS, name, replace(SECTIONS[name], pictures=lambda _: [*sent]))
    with shown(app, browser) as page:
        page.evaluate("""() => {
            const made = document.createElement("img");
            made.dataset.picture = "one";
            document.querySelector(".prodex").append(made);
        }""")
        sent.append(("one", "image/svg+xml", svg))
        press(page, "A")
        page.wait_for_function("() => document.querySelector('img').naturalWidth === 8")


def test_a_host_that_adds_to_headings_is_left_alone(app: App, browser: Browser) -> None:
    """JupyterLab puts anchors into headings: they stay, and drawing goes on."""
    with shown(app, browser) as page:
        page.evaluate("""() => document.querySelectorAll(".prodex h3, .prodex .text").forEach((one) => {
            one.append(Object.assign(document.createElement("a"), { innerText: "¶", href: "#" }));
        })""")
        press(page, "A")
        assert "pressed A¶" == page.get_by_text("pressed A").inner_text()
        assert "Trial¶" == page.get_by_role("heading").inner_text()


def test_a_button_that_is_off_says_why(app: App, browser: Browser) -> None:
    """It keeps the focus, and does nothing."""
    with shown(app, browser) as page:
        closed = page.locator("button", has_text="Closed")
        closed.click(force=True)
        page_settled(page)
        assert ("true", "There is nothing to close.") == (
            closed.get_attribute("aria-disabled"),
            closed.get_attribute("title"),
        )
        assert () == _trial(app).pressed


@pytest.mark.parametrize("width", [600, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("direction", ["ltr", "rtl"])
def test_blocks_fit_and_can_be_read(
    app: App, browser: Browser, width: int, scheme: str, direction: str
) -> None:
    """Nothing is wider than the page, and a checker of accessibility finds nothing, colours included."""
    with shown(app, browser, width=width, scheme=scheme, direction=direction) as page:
        press(page, "More")
        type_in(page, "Name", "wrong")
        press(page, "Save")
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert [] == violations(page)


def test_a_panel_that_is_closed_leaves_nothing(app: App, browser: Browser) -> None:
    """What was typed is told before, and its page is forgotten."""
    heard: list[str] = []

    def middle(direction: str, message: dict[str, Any]) -> Sequence[tuple[float, dict[str, Any]]]:
        heard.append(message["type"])
        return [(0, message)]

    with shown(app, browser, middle=middle) as page:
        type_in(page, "Name", "last words")
        page.evaluate("async () => { closePanel(); await echo(); }")
        assert "last words" == app.session.typed["trial"]["name"]
        assert "closed" in heard
        assert 0 == page.locator(".prodex").count()


@pytest.fixture(autouse=True)
def _quiet(app: App) -> Iterator[None]:
    yield
    app.wait()

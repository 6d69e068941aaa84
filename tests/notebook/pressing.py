"""A panel without a browser: what it shows as words, and its buttons pressed as a page does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prodex.notebook.app import App

Block = dict[str, Any]


def blocks_in(shown: Any) -> Iterator[Block]:
    """Yield all blocks of a view, those inside of others as well, from the top."""
    if isinstance(shown, dict):
        if "kind" in shown and "key" in shown:
            yield shown
        for one in shown.values():
            yield from blocks_in(one)
    elif isinstance(shown, list):
        for one in shown:
            yield from blocks_in(one)


def words_in(shown: Any) -> str:
    """Return what a reader sees of a view: sentences, cells, labels, and what stands in fields."""
    if isinstance(shown, str):
        return shown
    if isinstance(shown, list):
        return " ".join(filter(None, map(words_in, shown)))
    if not isinstance(shown, dict):
        return ""
    names = ("title", "label", "words", "text", "gap", "items", "columns", "rows", "cells", "parts", "button")
    inside = ("hint", "error", "placeholder", "fields", "buttons", "blocks", "head")
    return " ".join(filter(None, (words_in(shown.get(name)) for name in (*names, *inside))))


def said(app: App) -> str:
    """Return all words that are shown now."""
    return words_in(app.view())


def buttons(app: App, label: str) -> list[Block]:
    """Return the buttons whose label begins so."""
    shown = [one for one in blocks_in(app.view()) if one["kind"] == "button"]
    return [one for one in shown if words_in(one["label"]).startswith(label)]


def has_button(app: App, label: str) -> bool:
    """Return whether a button is shown and can be pressed."""
    return any(not one.get("off") for one in buttons(app, label))


def press(app: App, label: str, number: int = 0, *, waits: bool = True) -> None:
    """Press a button whose label begins so, as the page that shows it, and wait until nothing is done any more."""
    found = buttons(app, label)
    assert len(found) > number, f"no {label!r} in: {said(app)}"
    button = found[number]
    assert not button.get("off"), button["off"]
    app.act(button["do"], **button["args"])
    if waits:
        settle(app)


def settle(app: App) -> None:
    """Look at the panel, and wait until all that it reads and does is done."""
    for _ in range(3):
        app.view()
        app.wait()


def type_in(app: App, form: str, **values: Any) -> None:
    """Type into fields of a form."""
    for name, value in values.items():
        app.act("form.set", form=form, field=name, value=value)


def fields(app: App, form: str) -> dict[str, Block]:
    """Return the fields of a form that are shown."""
    found = next(one for one in blocks_in(app.view()) if one["kind"] == "form" and one["key"] == form)
    return {one["key"]: one for one in found["fields"]}


def switch_in(app: App, key: str) -> Block:
    """Return a switch that is shown."""
    return next(one for one in blocks_in(app.view()) if one["kind"] == "switch" and one["key"] == key)

"""What a view shows, looked at as a page would: its blocks, however deep, and the words in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from prodex.notebook.app import App

Block = dict[str, Any]


def every_block(shown: Any) -> Iterator[Block]:
    """Yield all blocks of a view, or of one of its parts, from top to bottom."""
    if isinstance(shown, dict):
        if "kind" in shown:
            yield shown
        for one in shown.values():
            yield from every_block(one)
    elif isinstance(shown, list):
        for one in shown:
            yield from every_block(one)


def blocks(app: App, kind: str) -> list[Block]:
    """Return the blocks of a kind that are shown."""
    return [one for one in every_block(app.view()) if one["kind"] == kind]


def block(app: App, key: str, kind: str = "") -> Block | None:
    """Return the block of a key; None where it is not shown."""
    found = (one for one in every_block(app.view()) if one.get("key") == key and kind in ("", one["kind"]))
    return next(found, None)


def words(shown: Any) -> str:
    """Return what is shown as one text, for looking whether something is in it."""
    return json.dumps(shown, ensure_ascii=False)


def is_off(shown: Block | None) -> bool:
    """Return whether a button that is shown cannot be pressed."""
    assert shown is not None
    return bool(shown.get("off"))


def press(app: App, key: str) -> None:
    """Press the button of a key, as a page does: with the arguments that it was given."""
    shown = block(app, key, "button")
    assert shown is not None, key
    assert not is_off(shown), key
    app.act(shown["do"], **shown["args"])


def field(app: App, form: str, name: str) -> Block:
    """Return a field of a form that is shown."""
    fields = (one for it in blocks(app, "form") if it["key"] == form for one in it["fields"])
    return next(one for one in fields if one["key"] == name)


def fill(app: App, form: str, name: str, value: Any) -> None:
    """Type in a field, or choose one of its options."""
    one = field(app, form, name)
    if "do" in one:
        app.act(one["do"], **one.get("args", {}), value=value)
    else:
        app.act("form.set", form=form, field=name, value=value)

"""A card in a panel without a browser: what its view says, and the texts in it by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prodex.notebook.app import App
from prodex.notebook.static import blocks_html
from tests.quality.reading_html import Node, parsed

View = dict[str, Any]


def card_of(app: App) -> View:
    """Return the card that a panel shows, once everything was read."""
    app.view()
    app.wait()
    found = [one for one in _every(app.view()["blocks"]) if one.get("kind") == "card"]
    assert 1 == len(found)
    return found[0]


def shown(app: App) -> Node:
    """Return the card as a page without scripts shows it."""
    return parsed(blocks_html([card_of(app)]))


def block(app: App, kind: str, key: str = "") -> View:
    """Return the first block of a kind on a card, and of a key."""
    every = (*_every(card_of(app)["bar"]), *_every(card_of(app)["blocks"]))
    return next(one for one in every if one["kind"] == kind and key in {"", one["key"]})


def keys(app: App) -> list[str]:
    """Return the keys of all blocks on a card."""
    card = card_of(app)
    return [one["key"] for one in (*_every(card["bar"]), *_every(card["blocks"]))]


def texts(app: App) -> dict[str, View]:
    """Return the texts of a card that can be corrected, by their names."""
    rows = block(app, "card_texts")["rows"]
    items = (item for row in rows for cell in row["cells"] for item in cell.get("items", ()))
    return {item["name"]: item for item in items if "key" in item}


def _every(found: Any) -> Iterator[View]:
    """Yield all blocks in some values of JSON."""
    if isinstance(found, list):
        for one in found:
            yield from _every(one)
    elif isinstance(found, dict):
        if "kind" in found:
            yield found
        for value in found.values():
            yield from _every(value)

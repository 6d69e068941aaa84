"""Views as HTML without scripts: nothing of outside is markup, and what is only pressed is left out."""

from __future__ import annotations

from typing import Any

import pytest

import prodex as px
from prodex.notebook.session.session import Session
from prodex.notebook.static import blocks_html
from prodex.notebook.views.blocks import (
    box,
    button,
    fold,
    heading,
    listed,
    paragraph,
    row,
    switch,
    table,
    typed_text,
    work,
)
from prodex.notebook.views.card_blocks import details, facts, mark, part
from prodex.notebook.views.forms import FormField, form
from tests.cases import each_row
from tests.quality.hostile import STRINGS
from tests.quality.reading_html import Node, parsed

SESSION = Session(px.flatten([]))


def page(*blocks: Any, pictures: Any = None) -> Node:
    return parsed(blocks_html(blocks, pictures))


def test_what_is_only_pressed_is_left_out() -> None:
    """Buttons, forms and work that runs are of no use to whoever cannot press; nor is a box with nothing else in it."""
    blocks = [
        button("Load", "load.start"),
        form(SESSION, "load", [FormField("market", "Market")], button("Load", "load.start")),
        row(button("a", "b"), key="row"),
        fold(SESSION, "export", "Export", lambda: [button("Export", "export.do")], at_first=True),
        fold(SESSION, "closed", "Columns", lambda: [paragraph("inside")]),
        work(SESSION, "load"),
        None,
        {"kind": "of another version", "key": "x", "text": "?"},
    ]
    assert "" == blocks_html(blocks)


def test_blocks_say_what_they_say() -> None:
    """Headings, sentences, lists, chosen switches, open folds and tables with their labels."""
    columns = [
        {"name": "a", "title": "Name", "head": True},
        {"name": "b", "title": "Number", "align": "right"},
    ]
    cells = ["ACME", {"button": button("12", "products.show")}]
    shown = page(
        heading("Products", level=2),
        box(
            paragraph(["3 of ", typed_text("<b>"), " "]),
            listed(["one", ["two ", mark("x", "y")]], key="l"),
            key="box",
        ),
        switch("Show", "b", {"a": "Table", "b": "Gallery"}, "show", key="switch"),
        fold(SESSION, "open", "Columns", lambda: [paragraph("inside")], at_first=True),
        table(columns, [{"key": "1", "cells": cells}], key="table", label="Brands"),
        table(columns, [], key="empty", label="None", empty="No brands."),
        part("Codes", facts([], key="facts"), note="by ACME"),
        details("More", paragraph("in it"), key="more"),
    )
    assert "Products" == shown.one("h2").words
    assert "3 of <b>" in shown.words
    assert ["one", "two x"] == [one.words for one in shown.all("li")]
    assert "Show: Gallery" in shown.words
    assert ["Columns", "Codes by ACME"] == [one.words for one in shown.all("h4")]
    assert [["ACME", "12"]] == shown.one("table").rows()
    assert "Brands" == shown.one("caption").words
    assert "right" == shown.one("td").attributes["align"]
    assert "No brands." in shown.words
    assert "in it" in shown.one("details").words


def test_cells_are_what_they_hold() -> None:
    """Words with a tone, a share with its words, parts in a row, and blocks."""
    cells = [
        {"words": "late", "tone": "problem", "title": "why"},
        {"share": 0.7, "words": "70 %"},
        {"parts": ["a", typed_text("b"), {"words": "c"}]},
        listed(["x"], key="x"),
        None,
        typed_text(None),
    ]
    columns = [{"name": str(at), "title": ""} for at in range(len(cells))]
    shown = page(table(columns, [{"key": "1", "cells": cells}], key="table", label="Cells"))
    assert [["late", "70 %", "a b c", "x", "", "none"]] == shown.one("table").rows()
    assert [] == shown.all("thead")


def _everywhere(text: str) -> list[Any]:
    """Return a text of a supplier in every place that takes one."""
    typed = typed_text(text)
    step = {"when": "now", "event": "changed", "value": typed, "by": typed, "how": typed}
    cell = {"items": [{"was": typed, "now": typed, "mark": "new", "tag": text}], "lang": text}
    return [
        heading([typed], key="h"),
        paragraph(["is ", typed], key="s"),
        listed([typed, ["a ", mark(typed, text)]], key="l", tone=text),
        table([{"name": "a", "title": typed}], [{"key": "1", "cells": [typed]}], key="t", label=text),
        switch(text, "a", {"a": text}, "do", key="sw"),
        part(text, details(typed, paragraph(typed), key="d"), note=text),
        {"kind": "facts", "key": "f", "rows": [{"term": typed, "value": typed, "note": typed}]},
        {"kind": "record", "key": "r", "text": text, "label": text},
        {"kind": "picture", "key": "p", "alt": text, "problem": typed},
        {"kind": "picture", "key": "q", "alt": text, "image": text},
        {
            "kind": "timeline",
            "key": "tl",
            "label": text,
            "places": [{"attribute": typed, "place": typed, "steps": [step]}],
        },
        {
            "kind": "card_texts",
            "key": "ct",
            "caption": text,
            "label": text,
            "columns": [{"name": typed, "required": True}],
            "rows": [
                {"key": text, "attribute": typed, "cells": [cell]},
                {"key": "gap", "attribute": typed, "gap": text, "cells": []},
            ],
        },
    ]


@each_row(
    "text",
    [
        '"><script>alert(1)</script>',
        "<img src=x onerror=y>",
        "' onclick='x",
        "</details></td>",
        "a\u2067b",
        "x" * 40_000,
    ],
)
def test_nothing_of_outside_becomes_markup(text: str) -> None:
    """Wherever a text of a supplier stands, its letters are there, and no element or handler is made of it."""
    shown = page(*_everywhere(text), pictures={"q": ("image/jpeg", b"x")})
    assert text in shown.text
    assert not {"script", "img", "iframe", "svg", "a"} & {one.name for one in shown.walk()}
    assert not [name for one in shown.walk() for name in one.attributes if name.startswith("on")]


@pytest.mark.slow
@each_row("text", STRINGS)
def test_hostile_texts_stay_texts(text: str) -> None:
    """All that the tests know of: formulas, directions, entities, addresses."""
    blocks_html(_everywhere(text)).encode("utf-8", "surrogatepass")
    shown = page(*_everywhere(text))
    assert not {"script", "img", "iframe", "svg", "a"} & {one.name for one in shown.walk()}
    assert not {"src", "href", "style"} & {name for one in shown.walk() for name in one.attributes}


def test_pictures_are_in_the_page_itself() -> None:
    """Those that were sent; of others the words that describe them."""
    one = {"kind": "picture", "key": "p", "alt": 'Picture 1: "front"', "image": "p1"}
    image = page(one, pictures={"p1": ("image/jpeg", b"picture")}).one("img")
    assert ("data:image/jpeg;base64,cGljdHVyZQ==", 'Picture 1: "front"') == (
        image.attributes["src"],
        image.attributes["alt"],
    )
    assert 'Picture 1: "front"' == page(one).words

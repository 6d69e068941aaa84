"""Completeness in the section on quality, without a browser: its rows, columns and cells, down to the products."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.notebook.app import App
from prodex.selection import Selection
from prodex_sandbox.sample import AS_OF

from .test_audit_view import block, chosen, has, quality, shown, words

ROWS = [
    ("Web shop", "France", "*", "brand", "", "must"),
    ("Web shop", "France", "*", "namePublicLong", "fr", "must"),
    ("Web shop", "France", "*", "assets.pictures[front]", "", "must"),
    ("Leaflet", "", "BISCUITS", "netContent", "", "must"),
]
COLUMNS = ["channel", "market", "family", "attribute", "language", "level"]
SHOP = "Web shop (France)"


@pytest.fixture(scope="module")
def audit(sample: prodex.Catalog) -> prodex.quality.Audit:
    """Judge 400 products by requirements of two channels."""
    wanted = prodex.Requirements.of(pd.DataFrame(ROWS, columns=COLUMNS))
    return prodex.audit(sample, wanted, now=AS_OF, progress=False)


@pytest.fixture
def app(audit: prodex.quality.Audit) -> App:
    """Show them."""
    return quality(audit)


def grid(app: App) -> dict[str, Any]:
    """Return the grid of completeness."""
    found = block(app, "completeness-box")["blocks"]
    return next(one for one in found if one["kind"] == "cells")


@pytest.mark.slow
def test_without_requirements_there_is_nothing(sample: prodex.Catalog) -> None:
    """Nobody has said what complete is."""
    assert not has(quality(prodex.audit(sample, "core", now=AS_OF, progress=False)), "completeness-box")


def test_a_cell_opens_the_incomplete_products(app: App, audit: prodex.quality.Audit) -> None:
    """As many as the table counts; the cell is marked then, and families that are new are named."""
    row, shop = grid(app)["rows"][0], grid(app)["columns"][0]["key"]
    assert "all products" == row["text"]["text"]
    app.act("completeness.open", row=row["key"], column=shop)
    table = audit.completeness()
    every = table[(table["channel"] == SHOP) & (table["language"] == "all")].iloc[0]
    assert ("products", int(every["incomplete"])) == (app.session.section, len(chosen(app)))
    assert grid(app)["rows"][0]["cells"][0]["pressed"]
    assert "The requirements do not list" in words(app, "note")


@pytest.mark.slow
def test_every_cell_opens_as_many_products_as_it_says(app: App, audit: prodex.quality.Audit) -> None:
    """Of all families of a page, channel by channel."""
    table = audit.completeness()
    family = table.columns[1]
    for row in grid(app)["rows"][1:]:
        for head, cell in zip(grid(app)["columns"], row["cells"], strict=True):
            if cell.get("mute"):
                continue
            app.act("completeness.open", row=row["key"], column=head["key"])
            code = app.session.conditions.groups["family"][0]
            own = table[(table["channel"] == head["text"]["text"]) & (table["language"] == "all")]
            own = own[own[family].isna()] if code is None else own[own[family] == code]
            assert int(own["incomplete"].iloc[0]) == len(chosen(app))
            app.act("quality.everything")
            shown(app)


def test_languages_of_a_channel_are_columns(app: App) -> None:
    """Everything, each language, and what has none; a channel that is gone shows channels again."""
    app.act("form.set", form="completeness", field="channel", value=SHOP)
    assert ["everything", "French", "without language"] == [
        one["text"]["text"] for one in grid(app)["columns"]
    ]
    french = grid(app)["columns"][1]["key"]
    app.act("completeness.open", row=grid(app)["rows"][0]["key"], column=french)
    assert f"{SHOP}, French" == app.session.conditions.failing[0].title
    app.act("form.set", form="completeness", field="channel", value="<b>gone\u202e")
    assert [SHOP, "Leaflet"] == [one["text"]["text"] for one in grid(app)["columns"]]


def test_families_keep_their_names_where_a_channel_asks_nothing_of_them() -> None:
    """The leaflet requires something of one family alone: the other is listed with its name, and without figures."""
    rows = [
        ("Web shop", "A", "brand", "must"),
        ("Web shop", "B", "brand", "must"),
        ("Leaflet", "A", "netContent", "must"),
    ]
    wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
    kinds = [{"code": code, "label": f"Kind {code}"} for code in "AABBB"]
    catalog = prodex.flatten({"id": n, "kind": kind} for n, kind in enumerate(kinds))
    app = quality(prodex.audit(catalog, wanted, progress=False))
    app.act("form.set", form="completeness", field="channel", value="Leaflet")
    shown_rows = grid(app)["rows"]
    assert ["all products", "Kind B", "Kind A"] == [row["text"]["text"] for row in shown_rows]
    assert {"–"} == {cell["text"]["text"] for cell in shown_rows[1]["cells"]}


def test_families_are_ordered(app: App, audit: prodex.quality.Audit) -> None:
    """The largest first, or the least complete; all products stay on top."""
    largest = [row["text"]["text"] for row in grid(app)["rows"]]
    app.act("form.set", form="completeness", field="order", value="completeness")
    least = [row["text"]["text"] for row in grid(app)["rows"]]
    assert "all products" == largest[0] == least[0]
    assert largest != least
    table = audit.completeness()
    every = table[table["language"] == "all"].groupby(table.columns[2])["completeness"].min()
    assert sorted(every[one] for one in least[1:]) == [every[one] for one in least[1:]]
    app.act("form.set", form="completeness", field="order", value="gone")
    assert "Nothing was done" in app.session.notices["quality"].sentence


def test_a_cell_that_is_gone_is_refused(app: App) -> None:
    """A page of another audit may name any."""
    for row, column in (("=gone", "all Leaflet"), (grid(app)["rows"][0]["key"], "gone")):
        app.act("completeness.open", row=row, column=column)
        assert "no such cell" in app.session.notices["quality"].sentence
    assert Selection() == app.session.conditions

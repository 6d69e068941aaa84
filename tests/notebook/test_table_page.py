"""Pages of products: none is lost or shown twice, the order is stable, and what is cut says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Origin
from prodex.errors import QueryError
from prodex.exploration.product_columns import ProductColumns, ProductRows
from prodex.exploration.table_page import COLUMNS, Order, Sorter, cell, cells
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.table import page_ids
from prodex.query import ProductQuery


def text(language: str, data: str) -> dict[str, Any]:
    return {"expressedIn": {"code": language}, "data": data}


@pytest.mark.slow
@given(st.integers(0, 60))
def test_pages_hold_every_product_once(total: int) -> None:
    """One page after the other has every row, in its order, and the last one is the end."""
    session = Session(prodex.flatten([{"id": n} for n in range(total)]))
    app, rows = App(session.with_typed("table-settings", page_size=10)), []
    for _ in range(1 + total // 10):
        rows += page_ids(app.session)
        app.act("table.turn", by=1)
    assert [str(n) for n in range(total)] == list(dict.fromkeys(rows))
    assert rows[-(total % 10 or 10) :] == page_ids(app.session)


brands = st.lists(st.sampled_from([None, "ACME", "acme", "Zèbre", "zebra", "Éclair", ""]), max_size=12)


@pytest.mark.slow
@given(brands, st.booleans())
def test_sorting_is_stable_and_puts_what_is_missing_last(labels: list[str | None], descending: bool) -> None:
    """Letters of both sizes and with accents stand together; equal ones as in the catalogue, either way round."""
    records = [{"id": n, "brand": {"code": None, "label": one}} for n, one in enumerate(labels)]
    order = Sorter(ProductColumns(prodex.flatten(records))).order(Order("brand", descending)).tolist()

    plain = {"Zèbre": "zebre", "Éclair": "eclair"}
    there = [n for n, one in enumerate(labels) if one is not None]
    keys = {n: plain.get(str(labels[n]), str(labels[n]).lower()) for n in there}
    missing = [n for n, one in enumerate(labels) if one is None]
    assert sorted(there, key=keys.__getitem__, reverse=descending) + missing == order


def test_names_stand_in_the_language_that_was_chosen() -> None:
    """The long public name before the others, the product's own before one that waits, blanks never."""
    records = [
        {"id": 1, "nameLegal": [text("fra-FR", "Légal")], "namePublicLong": [text("nld-NL", "Lang")]},
        {"id": 2, "namePublicShort": [text("fra-FR", "Court")], "namePublicLong": [text("fra-FR", " ")]},
        {"id": 3, "lastRequest": {"namePublicLong": [text("fra-BE", "En attente")]}},
        {"id": 4, "description": [text("fra-FR", "no name")]},
    ]
    products = ProductColumns(prodex.flatten(records))

    assert ["Lang", "Court", "En attente", None] == products.names(None).to_pylist()
    assert ["Légal", "Court", "En attente", None] == products.names("fr").to_pylist()
    assert [None] * 4 == products.names("de").to_pylist()
    assert [0, 1, 2, 3] == sorted(Sorter(products).order(Order("name"), "de").tolist())


def test_names_of_a_snapshot_of_several_parts_keep_their_products() -> None:
    """Places are counted through all parts."""
    records = [{"id": n, "namePublicLong": [text("fra-FR", f"name {n}")] if n % 3 else []} for n in range(9)]
    whole = prodex.flatten(records)
    parts = tuple(
        part for n in (0, 4, 7) for part in prodex.flatten(records[n : {0: 4, 4: 7, 7: 9}[n]]).parts
    )
    several = prodex.Catalog(parts, whole.origin)

    assert [f"name {n}" if n % 3 else None for n in range(9)] == ProductColumns(several).names(
        "fr"
    ).to_pylist()


def test_a_product_without_anything_has_a_row() -> None:
    """Every cell says that there is nothing."""
    products = ProductColumns(prodex.flatten([{"id": 7}]))

    assert [["—", "—", "—", "—", "—", "—", "0", "0"]] == cells(
        ProductRows(products, np.array([0])), COLUMNS
    ).values.tolist()


def test_the_faces_of_missing_are_told_apart() -> None:
    """No value, an empty text, and what nobody asked for."""
    catalog = prodex.flatten([{"id": 7, "brand": {"code": None, "label": ""}}])
    origin = Origin("sandbox", ProductQuery(source_include=["brand"]))
    products = ProductColumns(prodex.Catalog(catalog.parts, origin))

    assert [['""', "—", "not asked for"]] == cells(
        ProductRows(products, np.array([0])), ["brand", "brand_code", "kind"]
    ).values.tolist()


def test_a_long_text_is_cut_and_says_how_long_it_is() -> None:
    """40,000 characters do not stand in a cell, and control characters are shown as their pictures."""
    shown = cell("brand", "x\x00" * 20_000)

    assert "x␀" * 45 + " …(90 of 40,000 characters)" == shown


def test_a_column_that_is_not_there_is_said() -> None:
    """The message says which there are."""
    with pytest.raises(QueryError, match="no column 'colour'"):
        ProductColumns(prodex.flatten([{"id": 7}])).shown("colour")
    with pytest.raises(QueryError, match="there is no audit"):
        ProductColumns(prodex.flatten([{"id": 7}])).shown("grade")

"""The search for words: what is found, how far it is, and what happens where it fails or takes long."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.products_left import left_of
from prodex.selection import Selection
from prodex_sandbox.sample import shared_products
from tests.notebook.blocks_of import block, field, fill, press, words
from tests.notebook.held import held


@pytest.fixture(scope="module")
def sample() -> prodex.Catalog:
    """300 products of the sample."""
    return prodex.flatten(product.record for product in shared_products(300))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is saved in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))


def shown(catalog: prodex.Catalog) -> App:
    """Return a panel that was looked at, with all that this reads."""
    app = App(Session(catalog), ["products"])
    app.view()
    app.wait()
    return app


def search(app: App, text: str) -> None:
    """Type in the search field."""
    fill(app, "search", "words", text)


def hint(app: App) -> str:
    """Return what stands beside the search field."""
    found = block(app, "hint")
    assert found is not None
    return str(found["text"])


def left(app: App) -> list[str]:
    """Return the ids of the products that are shown."""
    ids = app.session.filter.products.ids.to_pylist()
    return [one for one, is_left in zip(ids, left_of(app.session).mask, strict=True) if is_left]


def french(text: str) -> list[dict[str, Any]]:
    """Return a text as it comes from the service."""
    return [{"expressedIn": {"code": "fra-FR"}, "data": text}]


def many(number: int = 5_001) -> prodex.Catalog:
    """Return many products, of which one has a word in its brand, and another one in a text."""
    records: list[dict[str, Any]] = [{"id": n} for n in range(number)]
    records[3] = {"id": 3, "brand": {"code": "CITRON"}}
    records[7] = {"id": 7, "namePublicLong": french("au citron")}
    return prodex.flatten(records)


def test_words_are_looked_for_beside_and_then_shown(sample: prodex.Catalog) -> None:
    """The latest words are searched in the background, and the chip of the words removes them."""
    app = shown(sample)
    for text in ("c", "cit", "huile olive"):
        search(app, text)
    app.wait()

    texts = sample.texts.groupby("product_id")["text"].agg(" ".join).str.lower()
    products = sample.products.set_index("product_id")
    hay = texts.str.cat(products[["brand", "kind", "owner"]].fillna("").agg(" ".join, axis=1).str.lower())
    by_hand = set(hay[hay.str.contains("huile") & hay.str.contains("olive")].index)
    assert by_hand
    assert by_hand == set(app.session.chosen.products["product_id"]) == set(left(app))

    press(app, "chip/words: \u2068huile olive\u2069")
    assert ("", 300) == (field(app, "search", "words")["value"], len(left(app)))


def test_words_that_somebody_else_sets_are_searched_too(sample: prodex.Catalog) -> None:
    """The catalogue is right at once, and what is shown as soon as the words are found."""
    app = shown(sample)
    app.change(lambda session: session.filtered(Selection().searching("citron")))
    assert 0 < len(app.session.chosen) < 300
    app.wait()
    assert "citron" == field(app, "search", "words")["value"]
    assert len(app.session.chosen) == len(left(app))


def test_all_other_presses_are_answered_while_words_are_searched_for() -> None:
    """They count at once, with the words that were found before."""
    catalog, tables = held(
        prodex.flatten(
            {"id": n, "brand": {"code": f"B{n % 2}"}, "nameLegal": french("pain")} for n in range(8)
        )
    )
    app = App(Session(catalog), ["products"])
    app.view()
    search(app, "pain")
    assert ("Searching …", 8) == (hint(app), len(left(app)))
    app.act("facets.toggle", facet="brand", code="B1")
    assert ("Searching …", ["1", "3", "5", "7"]) == (hint(app), left(app))
    tables.go_on.set()
    app.wait()
    assert ("", ["1", "3", "5", "7"]) == (hint(app), left(app))
    assert "pain" == app.session.conditions.words


def test_words_of_another_catalogue_are_forgotten(sample: prodex.Catalog) -> None:
    """What is found late for the one before changes nothing."""
    app = shown(sample)
    search(app, "huile")
    app.change(lambda session: session.looking_at(prodex.flatten([{"id": 7}])))
    app.wait()
    assert (["7"], "", "") == (left(app), hint(app), field(app, "search", "words")["value"])


def test_a_search_in_labels_alone_says_so() -> None:
    """The first answer comes before many texts have been read and says what it covers; the second covers everything."""
    app = shown(many())
    said: list[tuple[str, int]] = []
    app.observers.append(lambda *_: said.append((hint(app), len(left(app)))))
    search(app, "citron")
    app.wait()
    assert 2 == len(left(app)) == len(app.session.chosen)
    assert [1] == [number for one, number in said if "Searched in brands" in one]
    assert any("the texts are still read …" in one for one, _ in said)
    assert "" == hint(app)


def test_who_does_not_wait_for_the_texts_has_what_was_found_in_labels() -> None:
    """It is said in what was searched, and typing goes on."""
    catalog, tables = held(many(4_000))
    # Fewer products are searched in one go: as if they were many.
    app = App(Session(catalog), ["products"])
    app.view()
    app.session.filter.find_in_labels("citron")
    app.act("search.set", value="citron")
    assert "the texts are still read …" in hint(app)
    app.cancel("search.texts")
    assert ["3"] == left(app)
    assert hint(app).endswith("numbers only.")
    tables.go_on.set()
    app.wait()
    assert hint(app).endswith("numbers only.")
    search(app, "au citron")
    app.wait()
    assert (["7"], "") == (left(app), hint(app))


def test_a_search_that_fails_says_why_and_is_tried_again_when_it_is_typed_again(
    sample: prodex.Catalog,
) -> None:
    """What was shown stays; the search does not go on for ever."""
    catalog = sample.save("gone")
    assert catalog.folder is not None
    app = shown(catalog)
    away = catalog.folder.with_name("away")
    shutil.move(catalog.folder, away)
    search(app, "citron")
    app.wait()
    assert "is gone" in words(app.view()["head"])
    assert ("", 300) == (hint(app), len(left_of(app.session)))
    shutil.move(away, catalog.folder)
    search(app, "")
    search(app, "citron")
    app.wait()
    assert 0 < len(left(app)) < 300
    assert [] == app.view()["head"]


def test_going_back_and_forward_goes_through_words(sample: prodex.Catalog) -> None:
    """What was searched for before is found again, also after something else was."""
    app = shown(sample)
    for text in ("citron", "huile"):
        search(app, text)
        app.wait()
    lemon = [*app.session.filter.search.find("citron").nonzero()[0]]
    press(app, "back")
    app.wait()
    assert ("citron", len(lemon)) == (field(app, "search", "words")["value"], len(left(app)))
    app.session.filter.mask(Selection().searching("somebody else"))
    app.act("form.set", form="table-settings", field="heads", value=False)
    app.wait()
    assert ("", len(lemon)) == (hint(app), len(left(app)))


@pytest.mark.parametrize(
    "text", ["<b>", '"', "-", "OR", "\u202egnp", "x" * 40_000, "\x00", "\ud800", "خبز", "(("]
)
def test_no_words_make_a_search_fail(sample: prodex.Catalog, text: str) -> None:
    """Half a search is a search, and what nobody wrote finds nothing."""
    app = shown(sample)
    search(app, text)
    app.wait()
    assert ("", []) == (hint(app), app.view()["head"])
    assert set(left(app)) == set(app.session.chosen.products["product_id"])


def test_how_to_search_is_said_on_request(sample: prodex.Catalog) -> None:
    """And hidden again."""
    app = shown(sample)
    assert block(app, "help-text") is None
    press(app, "help")
    assert "OR between two words" in words(block(app, "help-text"))
    press(app, "help")
    assert block(app, "help-text") is None

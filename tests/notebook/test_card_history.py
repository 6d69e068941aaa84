"""The section "History" of a card: folded, newest first, with what we sent in words, and read in the background."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as w
import pytest

import prodex
from prodex.notebook.card.panel import ProductCard
from tests.corrections.machines import Machines, machines, names
from tests.quality.hostile import STRINGS
from tests.quality.reading_html import parsed


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer at this machine and at another one."""
    with machines() as found:
        yield found


def section(catalog: prodex.Catalog, product_id: str = "1") -> Any:
    """Return the section of a card once it was read."""
    panel = ProductCard(catalog, product_id)
    panel.wait()
    (found,) = [one.value for one in panel.children if isinstance(one, w.HTML) and "<h4>History" in one.value]
    return parsed(found)


def saved(*texts: str) -> prodex.Catalog:
    """Keep a snapshot for each text of a product, and return the last one."""
    for one in texts:
        record = {
            "id": 7,
            "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": one}],
            "lifeCycle": 1,
        }
        catalog = prodex.flatten([record]).save("shop", progress=False)
    return catalog


@pytest.mark.slow
def test_a_card_says_what_was_changed_and_what_we_sent(mill: Machines) -> None:
    """The chain of a value, newest first; those that were not changed are counted."""
    mill.load()
    mill.here(namePublicLong=names("Corrigé"))
    mill.load()
    mill.elsewhere(namePublicLong=names("Autre"))
    found = section(mill.load())

    said = found.words
    assert "1 value changed, 1 of it sent from here. 3 snapshots of mine were looked at." in said
    assert said.index("Autre") < said.index("Corrigé") < said.index("Name 1 fr")
    assert "sent from here by max on" in said
    assert "spelling, upsert" in said
    assert 2 == said.count("not sent from here")
    assert "others are as in the first snapshot" in said


def test_a_product_that_was_not_changed_says_so() -> None:
    """In one line, without a table."""
    assert "2 snapshots of shop were looked at. No value was changed; 2 values are as in the first one." in (
        section(saved("A", "A"), "7").words
    )


def test_a_catalogue_in_memory_has_no_history() -> None:
    """Nor has one from elsewhere: its snapshots are not known."""
    panel = ProductCard(prodex.flatten([{"id": 7}]), "7")
    panel.wait()
    assert not any("History" in one.value for one in panel.children if isinstance(one, w.HTML))


def test_what_suppliers_typed_is_text_and_long_texts_are_folded() -> None:
    """Nothing of it is markup, and 40,000 characters are there as a whole."""
    hostile = [one for one in STRINGS if "\ud83d" not in one]
    long = "Zutaten " * 5_000
    found = section(saved(*hostile[:6], long, "A"), "7")

    words = found.words
    assert [] == [one for one in hostile[:6] if " ".join(one.split()) not in " ".join(words.split())]
    assert "40,000 characters" in words
    assert [] == [*found.all("img"), *found.all("script"), *found.all("a"), *found.all("iframe")]


def test_another_product_forgets_the_history_of_the_one_before() -> None:
    """It must not arrive on the wrong card."""
    records = [{"id": one, "brand": {"code": "A"}} for one in (7, 8)]
    prodex.flatten(records).save("shop", progress=False)
    catalog = prodex.flatten([records[0] | {"brand": {"code": "B"}}, records[1]]).save("shop", progress=False)
    panel = ProductCard(catalog, "7")
    panel.product_id = "8"
    panel.wait()
    shown = " ".join(one.value for one in panel.children if isinstance(one, w.HTML))
    assert "No value was changed" in shown
    panel.product_id = None
    panel.wait()
    assert "History" not in " ".join(one.value for one in panel.children if isinstance(one, w.HTML))


def test_a_history_that_cannot_be_read_is_said_in_words() -> None:
    """The card itself stays."""
    catalog = saved("A", "B")
    panel = ProductCard(catalog, "7")
    panel.wait()
    for folder in prodex.list_snapshots("shop")["folder"]:
        (prodex.open_snapshot(folder).parts[0].files["raw"]).unlink()
    panel.exploration.product_id = None
    panel.exploration.product_id = "7"
    panel.wait()
    shown = " ".join(one.value for one in panel.children if isinstance(one, w.HTML))
    assert "could not be read" in shown or "cannot be read" in shown

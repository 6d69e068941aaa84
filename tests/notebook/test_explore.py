"""Everything in one line: the panels share one state, and what they leave is handed back to Python."""

from __future__ import annotations

import re
from typing import Any

import ipywidgets as w
import pytest
from prodex.notebook.card.panel import ProductCard
from prodex.notebook.products.explorer import CatalogExplorer

import prodex
from prodex.errors import InputError, SnapshotNotFound
from prodex_sandbox.sample import shared_products


@pytest.fixture(scope="module")
def catalog() -> prodex.Catalog:
    return prodex.flatten(one.record for one in shared_products(60))


def inside(widget: Any, kind: type) -> list[Any]:
    """Return the widgets of a kind in a widget."""
    found = [widget] if isinstance(widget, kind) else []
    return found + [one for child in getattr(widget, "children", ()) for one in inside(child, kind)]


@pytest.mark.slow
def test_what_is_chosen_comes_back(catalog: prodex.Catalog) -> None:
    """A selection in a panel is the traitlet of the whole, and the other way round."""
    looked = prodex.explore(catalog)
    (explorer,), (card,) = inside(looked, CatalogExplorer), inside(looked, ProductCard)
    first, second = catalog.products["product_id"][:2]

    explorer.selected = (first,)
    assert (first,) == looked.selected
    looked.selected = (second, first)
    assert (second, first) == explorer.selected
    looked.exploration.product_id = second
    assert second == card.product_id


def test_what_is_filtered_is_a_catalogue(catalog: prodex.Catalog) -> None:
    """The catalogue has the filtered products; without filters it is the catalogue itself."""
    looked = prodex.explore(catalog)
    assert looked.catalog is catalog
    brand = catalog.products["brand_code"].dropna()[0]
    looked.exploration.conditions = looked.exploration.conditions.choosing("brand", (brand,))
    by_hand = catalog.where(brand_code=brand)
    assert by_hand.products["product_id"].tolist() == looked.catalog.products["product_id"].tolist()


def test_a_panel_is_made_when_it_is_looked_at(catalog: prodex.Catalog) -> None:
    """A section is made when it is first opened."""
    looked = prodex.explore(catalog)
    assert ["Products", "Quality", "Coverage", "Corrections", "Snapshots"] == list(looked.places)
    assert [True, *[False] * 4] == [bool(place.children) for place in looked.places.values()]
    looked.section = "Snapshots"
    assert [True, *[False] * 3, True] == [bool(place.children) for place in looked.places.values()]


def test_the_catalogue_that_is_shown_has_its_name_above_all_sections(catalog: prodex.Catalog) -> None:
    """Also when a load has replaced it, and when it is not whole."""
    looked = prodex.explore(catalog)
    name = next(one for one in inside(looked, w.HTML) if "catalogue" in one._dom_classes)
    assert f"{len(catalog):,} products, in memory" in name.value
    saved = prodex.flatten([{"id": 7}]).save("one-of-them")
    assert saved.folder is not None
    looked.exploration.look_at(saved)
    day = saved.folder.name[:10]
    assert re.search(rf"one-of-them, {day} \d\d:\d\d:\d\d \(1 product\)<", name.value)


@pytest.mark.slow
def test_the_catalogue_before_is_one_press_away(catalog: prodex.Catalog) -> None:
    """A load replaces what all sections show: the catalogue before comes back by a press, and with its audit."""
    audit = prodex.audit(catalog, "core", progress=False)
    looked = prodex.explore(catalog, audit=audit)
    assert "none" == looked.back.layout.display
    loaded = prodex.flatten([{"id": 7}]).save("one-of-them")
    looked.exploration.look_at(loaded)
    assert "" == looked.back.layout.display
    assert f"Back to {len(catalog):,} products" == looked.back.description
    looked.exploration.conditions = looked.exploration.conditions.searching("gone with the catalogue")
    looked.back.click()
    assert looked.exploration.catalog is catalog
    assert looked.audit is audit
    assert not looked.exploration.conditions
    assert looked.back.description.startswith("Back to one-of-them, ")
    looked.back.click()
    assert looked.exploration.catalog is loaded
    assert looked.audit is None


@pytest.mark.slow
def test_products_are_shown_when_an_audit_asks_for_them(catalog: prodex.Catalog) -> None:
    """A click under Quality opens the products that it lists."""
    audit = prodex.audit(catalog, "core", progress=False)
    looked = prodex.explore(catalog, audit=audit)
    looked.section = "Quality"
    check = audit.gaps()["check"][0]
    looked.exploration.conditions = looked.exploration.conditions.failing_any("the largest gap", (check,))

    assert "Products" == looked.section
    expected = set(audit.failures(check=check)["product_id"])
    assert expected == set(looked.catalog.products["product_id"])


def test_a_name_is_a_snapshot(catalog: prodex.Catalog) -> None:
    """An unknown name is refused with the names that exist, and so is what is not a catalogue."""
    catalog.save("shop")
    assert len(catalog) == len(prodex.explore("shop").catalog)
    with pytest.raises(SnapshotNotFound, match="shop"):
        prodex.explore("shoop")
    with pytest.raises(InputError, match="DataFrame"):
        prodex.explore(catalog.products)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        prodex.explore(catalog, profil="core")  # type: ignore[call-arg]

"""The widget of a panel: what Python sees of it and sets in it, whatever page is open."""

from __future__ import annotations

import re
from typing import Any

import ipywidgets
import pytest

import prodex as px
from prodex.notebook.widget import Explore, explore
from prodex.selection import Selection

RECORDS = [{"id": number, "brand": {"code": "AB"[number % 2]}} for number in range(7, 12)]


@pytest.fixture
def explored() -> Explore:
    """Show five products of two brands."""
    return explore(px.flatten(RECORDS))


def test_a_panel_is_one_widget_that_stands_in_any_box(explored: Explore) -> None:
    """It has no widgets inside, so that opening it makes one model."""
    box = ipywidgets.VBox([explored])
    assert (explored,) == box.children
    inside = [one for one in explored.keys if isinstance(getattr(explored, one), ipywidgets.DOMWidget)]
    assert [] == inside


def test_what_is_selected_is_seen_and_set_in_python(explored: Explore) -> None:
    """Observers hear of it once."""
    heard: list[Any] = []
    explored.observe(lambda change: heard.append(change["new"]), "selected")
    explored.app.change(lambda session: session.replaced(selected=("8",)))
    assert [("8",)] == heard
    explored.selected = ("7", "9")
    assert ("7", "9") == explored.app.session.selected
    assert [("8",), ("7", "9")] == heard


def test_what_cannot_be_selected_changes_nothing(explored: Explore) -> None:
    """The trait and the session say the same afterwards."""
    with pytest.raises(Exception, match="Give product ids"):
        explored.selected = (7,)
    # They would be counted wherever it is said how many products are selected, exported and corrected.
    with pytest.raises(px.errors.InputError, match=r"'70', .* 2 of 3 ids are not among the 5 products"):
        explored.selected = ("70", "7", "80")
    assert () == explored.app.session.selected == explored.selected


def test_a_section_that_is_not_there_is_not_opened(explored: Explore) -> None:
    """The panel goes on showing what it shows, and Python sees that."""
    explored.section = "elsewhere"
    assert "products" == explored.section == explored.app.view()["section"]
    explored.section = "coverage"
    assert "coverage" == explored.app.view()["section"]


def test_a_selection_is_set_and_its_products_are_the_catalogue(explored: Explore) -> None:
    """The filters of the panel follow."""
    explored.selection = Selection(groups={"brand": ("A",)})
    assert ["8", "10"] == explored.catalog.products["product_id"].tolist()
    assert explored.app.session.went(back=True).conditions == Selection()
    with pytest.raises(px.errors.InputError, match="must be a prodex"):
        explored.selection = {"brand": "A"}


def test_an_observer_may_change_the_panel(explored: Explore) -> None:
    """Whoever reacts to a selection by opening the card of the product does not end in a circle."""

    def react(change: dict[str, Any]) -> None:
        explored.product_id = change["new"][0] if change["new"] else None

    explored.observe(react, "selected")
    explored.selected = ("9",)
    assert "9" == explored.app.session.product_id
    explored.app.change(lambda session: session.replaced(selected=()))
    assert explored.product_id is None


@pytest.mark.parametrize(
    "show", ["products", "quality", "coverage", "corrections", "snapshots", "card", "gallery"]
)
def test_a_panel_alone_is_its_section(show: str) -> None:
    """Without the buttons of other sections."""
    panel = explore(px.flatten(RECORDS), show=show, product_id="7" if show == "card" else None)
    view = panel.app.view()
    assert show == view["section"]
    assert "sections" not in [block["key"] for block in view["head"]]
    panel.section = "products"
    assert show == panel.section
    panel.wait()


def test_arguments_of_another_kind_are_refused_in_words() -> None:
    """With what to give instead."""
    catalog = px.flatten(RECORDS)
    with pytest.raises(px.errors.InputError, match="Give one of products, quality"):
        explore(catalog, show="prodcuts")
    with pytest.raises(px.errors.InputError, match="catalog"):
        explore([1, 2])
    with pytest.raises(px.errors.InputError, match="audit must be an audit"):
        explore(catalog, audit="online-listing")
    with pytest.raises(
        px.errors.InputError, match=re.escape('explore(catalog, service=prodex.connect("sandbox"))')
    ):
        explore(catalog, service="https://example.org")
    with pytest.raises(px.errors.SnapshotNotFound):
        explore("no-such-snapshot")


def test_many_ids_are_not_sent_to_pages() -> None:
    """A million of them would be a message of twenty megabytes."""
    panel = explore(px.flatten([{"id": 7}]))
    panel.app.change(lambda session: session.replaced(selected=tuple(map(str, range(30_000)))))
    assert 30_000 == len(panel.selected)
    assert [] == panel.get_state(["selected"])["selected"]


def test_its_repr_has_no_secret_and_one_line(explored: Explore) -> None:
    """A notebook that is saved keeps it."""
    assert "Explore: 5 products. Run this cell to use it." == repr(explored)


def test_a_load_and_the_snapshots_need_no_catalogue() -> None:
    """The first needs a service, which is said; all others need products."""
    assert "snapshots" == explore(show="snapshots").section
    with pytest.raises(px.errors.InputError, match="needs a service"):
        explore(show="load")
    with pytest.raises(px.errors.InputError, match="catalog"):
        explore(show="coverage")


def test_the_figures_of_coverage_are_a_frame() -> None:
    """Whatever section is open, of the products that the filters choose."""
    panel = explore(px.flatten([{"id": 7, "netWeight": {"data": 1}}, {"id": 8}]))
    found = panel.coverage
    assert {"attribute", "filled", "products", "coverage", "state"} <= {*found}
    assert "2" in found.attrs["counted"]
    panel.selection = Selection.of(product_id=["7"])
    assert set(panel.coverage["products"].dropna()) <= {0, 1}


def test_a_panel_alone_says_what_it_cannot_show() -> None:
    """A press that opens products elsewhere chooses them, and says where they are."""
    panel = explore(px.flatten(RECORDS), show="coverage")
    panel.app.change(
        lambda session: session.filtered(Selection(groups={"brand": ("A",)})).replaced(section="products")
    )
    assert "Other products are chosen now" in panel.app.session.notices["coverage"].sentence
    assert 2 == len(panel.catalog)


def test_ids_of_another_kind_are_refused_in_words(explored: Explore) -> None:
    """They say what to write: ids are most often taken from a column, or typed as numbers."""
    for given in (explored.catalog.products["product_id"], "7", None):
        with pytest.raises(px.errors.InputError, match="selected must be a list or a tuple of product ids"):
            explored.selected = given
    with pytest.raises(px.errors.InputError, match=r"product_id must be text or None, not int.*'7'"):
        explored.product_id = 7
    with pytest.raises(px.errors.InputError, match=r"section must be text, not NoneType.*'quality'"):
        explored.section = None
    with pytest.raises(px.errors.InputError, match="product_id must be text or None"):
        explore(explored.catalog, show="card", product_id=7)
    assert ((), None, "products") == (explored.selected, explored.product_id, explored.section)


def test_a_product_is_selected_once(explored: Explore) -> None:
    """Ids of a table with several rows for a product are no more products than it has."""
    explored.selected = ["8", "7", "8"]
    assert ("8", "7") == explored.selected == explored.app.session.selected


def test_observers_hear_of_what_is_shown_only(explored: Explore) -> None:
    """What is refused was never there, so that whoever keeps what they heard last has what the panel shows."""
    heard: list[Any] = []
    explored.observe(lambda change: heard.append(change["new"]), ["selected", "section"])
    explored.section = "elsewhere"
    with pytest.raises(px.errors.InputError, match="Give product ids"):
        explored.selected = ("7", 8)
    assert [] == heard
    explored.section = "coverage"
    assert ["coverage"] == heard


def test_sections_that_are_listed_are_refused_in_words() -> None:
    """A panel shows one or all."""
    with pytest.raises(px.errors.InputError, match="Give one of products, quality"):
        explore(px.flatten(RECORDS), show=["products", "quality"])

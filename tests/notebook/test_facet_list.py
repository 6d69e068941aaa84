"""The list of facets: order, trees, paging, facets that are added by name, and ranges."""

from __future__ import annotations

from typing import Any

import pytest

import prodex
from prodex.exploration.card.record import is_prepared
from prodex.notebook.coverage.panel import CoveragePanel
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.selection import Range, Selection
from tests.notebook.held import held

_MILK = {"GPC": {"code": "50131700", "label": "Milk"}}
_CREAM = {"GPC": {"code": "50131800", "label": "Cream"}}


def facets(explorer: CatalogExplorer) -> dict[str, dict[str, Any]]:
    """Return the facets as the browser is given them, by name and in their order."""
    return {one["name"]: one for one in explorer.facets.widget.view["facets"]}


def press(explorer: CatalogExplorer, action: str, facet: str, label: str = "", **more: Any) -> None:
    """Press something of a facet, or of one of its values."""
    if label:
        (more["key"],) = [one["key"] for one in facets(explorer)[facet]["values"] if one["label"] == label]
    explorer.facets.widget.press(do=action, facet=facet, **more)


def labels(explorer: CatalogExplorer, facet: str) -> list[str]:
    return [one["label"] for one in facets(explorer)[facet]["values"]]


def typed(explorer: CatalogExplorer, text: str) -> list[dict[str, Any]]:
    """Type a name into the field that adds a facet, and return what is offered."""
    explorer.facets.widget.press(do="offer", text=text)
    explorer.facets.wait()
    return list(explorer.facets.widget.view["add"]["offers"])


@pytest.mark.slow
def test_the_facets_of_most_questions_come_first(sample: prodex.Catalog) -> None:
    """Market, language, what is missing and the supplier come before all others."""
    names = [*facets(CatalogExplorer(sample))]

    assert ["market", "language", "missing", "owner", "brand", "category"] == names[:6]
    assert len(names) == len(set(names))


def test_missing_is_about_the_one_language_that_is_selected(sample: prodex.Catalog) -> None:
    """With one language the facet says so and counts what products lack in it; with two it is about any."""
    explorer = CatalogExplorer(sample)
    press(explorer, "fold", "language")
    press(explorer, "toggle", "language", "French")
    assert "Missing in French" == facets(explorer)["missing"]["title"]
    assert "needed or not" in facets(explorer)["missing"]["note"]
    press(explorer, "more", "missing")
    (found,) = [
        one for one in facets(explorer)["missing"]["values"] if one["label"] == "description in French"
    ]
    has = set(sample.texts.query("language == 'fr' and attribute == 'description'")["product_id"])
    counted = set(explorer.catalog.where(is_consumer_unit=[True, None]).products["product_id"])
    assert len(counted - has) == found["count"] > 0
    assert f"Of {len(counted):,} consumer units" in facets(explorer)["missing"]["note"]

    press(explorer, "toggle", "language", "Dutch")
    assert "Missing" == facets(explorer)["missing"]["title"]
    assert "description" in labels(explorer, "missing")


def test_a_tree_unfolds_and_shows_what_is_selected() -> None:
    """Below a folded value only selected and excluded ones are shown, and what is searched for with all above it."""
    records = [{"id": 1, **_MILK, "kind": {"code": "F", "label": "Fresh milk"}}, {"id": 2, **_CREAM}]
    explorer = CatalogExplorer(prodex.flatten(records))
    press(explorer, "fold", "category")
    assert ["Food and beverages"] == labels(explorer, "category")
    press(explorer, "unfold", "category", "Food and beverages")
    assert ["Food and beverages", "Cream", "Milk"] == labels(explorer, "category")
    press(explorer, "unfold", "category", "Milk")
    assert [("Fresh milk", 2, "")] == [
        (one["label"], one["level"], one["fold"]) for one in facets(explorer)["category"]["values"]
    ][-1:]

    press(explorer, "exclude", "category", "Fresh milk")
    press(explorer, "unfold", "category", "Food and beverages")
    assert ["Food and beverages", "Milk", "Fresh milk"] == labels(explorer, "category")
    assert ["2"] == explorer.catalog.products["product_id"].tolist()
    press(explorer, "find", "category", text="cream")
    assert {"Food and beverages", "Cream"} <= {*labels(explorer, "category")}


@pytest.mark.slow
def test_two_thousand_values_are_paged_and_searched() -> None:
    """Eight at first, twenty more with each press, and back to eight; a word finds any of them."""
    explorer = CatalogExplorer(prodex.flatten({"id": n, "brand": {"code": f"{n:04}"}} for n in range(2_000)))
    brand = facets(explorer)["brand"]
    assert (8, 1_992, 20, 2_000) == tuple(brand[name] for name in ("shown", "more", "next", "distinct"))
    press(explorer, "more", "brand")
    assert (28, True) == (facets(explorer)["brand"]["shown"], facets(explorer)["brand"]["fewer"])
    press(explorer, "fewer", "brand")
    assert 8 == facets(explorer)["brand"]["shown"]
    press(explorer, "find", "brand", text="1234")
    assert ["1234"] == labels(explorer, "brand")


@pytest.mark.slow
def test_a_facet_is_added_by_the_name_of_an_attribute(sample: prodex.Catalog) -> None:
    """Offers have plain names and wire paths; the facet filters by the state of the attribute, and is removed again."""
    explorer = CatalogExplorer(sample)
    explorer.facets.widget.press(do="speak", language="fr")
    offers = typed(explorer, "ingred")
    assert ("fill:composition:fr", "ingredients in French", "composition") == tuple(
        offers[0][name] for name in ("facet", "label", "detail")
    )
    press(explorer, "add", offers[0]["facet"])
    name, added = next(iter(facets(explorer).items()))
    assert ("fill:composition:fr", "Ingredients in French", True) == (
        name,
        added["title"],
        added["removable"],
    )
    assert "" == explorer.facets.widget.view["add"]["typed"]

    press(explorer, "toggle", name, "filled")
    query = "attribute == 'composition' and language == 'fr'"
    assert sample.texts.query(query)["product_id"].nunique() == len(explorer.catalog)
    press(explorer, "remove", name)
    assert name not in facets(explorer)
    assert not explorer.exploration.conditions


def test_a_name_that_is_typed_whole_is_taken_or_refused(sample: prodex.Catalog) -> None:
    """Return takes a wire path or the likeliest offer; what is no attribute at all is refused with the nearest."""
    explorer = CatalogExplorer(sample)
    for text, name in (("netContent", "fill:netContent"), ("gross w", "fill:grossWeight")):
        explorer.facets.widget.press(do="named", text=text)
        assert name == next(iter(facets(explorer)))
    assert ["fill:grossWeight", "fill:netContent"] == [*facets(explorer)][:2]

    explorer.facets.widget.press(do="named", text="netContemt")
    assert "netContent" in explorer.message
    assert [] == typed(explorer, "no such thing")
    assert "no attribute" in explorer.facets.widget.view["add"]["note"]


def test_a_facet_that_another_panel_selects_from_is_shown(sample: prodex.Catalog) -> None:
    """What the coverage panel asks for can be taken back in the list."""
    explorer = CatalogExplorer(sample)
    explorer.exploration.conditions = Selection().toggled("fill:brand", "absent")
    assert "1 selected" == next(iter(facets(explorer).values()))["active"]
    press(explorer, "remove", "fill:brand")
    assert not explorer.exploration.conditions


def test_a_range_is_typed_or_pressed(sample: prodex.Catalog) -> None:
    """Both limits are included, the last day as a whole; a bar that is pressed again is no longer selected."""
    explorer = CatalogExplorer(sample)
    name = "range:updated_at"
    press(explorer, "fold", name)
    press(explorer, "limit", name, side="least", value="2026-01-01")
    press(explorer, "limit", name, side="greatest", value="2026-06-30")
    days = sample.products["updated_at"].dt.date.astype(str)
    assert int(days.between("2026-01-01", "2026-06-30").sum()) == len(explorer.catalog) > 0
    shown = facets(explorer)[name]
    assert ("date", "2026-01-01", "2026-06-30") == tuple(shown["range"].values())
    assert 0 < sum(one["inside"] for one in shown["bins"]) < len(shown["bins"])
    # The bars ignore the range itself, so that it can be widened.
    assert int(days.notna().sum()) == sum(one["count"] for one in shown["bins"])
    press(explorer, "limit", name, side="greatest", value="2025-01-01")
    assert "no product fits" in facets(explorer)[name]["note"]
    for side in ("least", "greatest"):
        press(explorer, "limit", name, side=side, value="")
    assert not explorer.exploration.conditions

    for found in (facets(explorer)[name]["bins"][3]["count"], len(sample)):
        explorer.facets.widget.press(do="range", column=name, first=3, last=3)
        assert found == len(explorer.catalog)
    press(explorer, "limit", name, side="least", value="yesterday")
    assert "no date" in explorer.message


def test_ranges_of_numbers_are_added_by_name(sample: prodex.Catalog) -> None:
    """Any column of numbers or dates is offered, and numbers that are none are refused."""
    explorer = CatalogExplorer(sample)
    offers = typed(explorer, "hierarchies_count")
    assert ["range:hierarchies_count"] == [one["facet"] for one in offers]
    press(explorer, "add", "range:hierarchies_count")
    press(explorer, "limit", "range:hierarchies_count", side="least", value="2")
    assert {"hierarchies_count": Range(2.0, None)} == explorer.exploration.conditions.ranges
    assert int((sample.products["hierarchies_count"] >= 2).sum()) == len(explorer.catalog)
    for wrong in ("nan", "inf", "two", "1e3", "1_000", "1,234", "5-6"):
        press(explorer, "limit", "range:hierarchies_count", side="least", value=wrong)
        assert "Write " in explorer.message
        assert {"hierarchies_count": Range(2.0, None)} == explorer.exploration.conditions.ranges
    for number, typed_as in ((0.5, "0,5"), (1000.0, "1 000"), (1234.5, "1.234,5"), (-5.0, "\u22125")):
        press(explorer, "limit", "range:hierarchies_count", side="least", value=typed_as)
        assert {"hierarchies_count": Range(number, None)} == explorer.exploration.conditions.ranges
    press(explorer, "remove", "range:hierarchies_count")
    assert not explorer.exploration.conditions


def weight(value: float | None, unit: str) -> dict[str, Any]:
    return {"data": value, "expressedIn": {"code": unit}}


def test_numbers_with_units_have_ranges_in_one_unit() -> None:
    """1.5 kg and 1,500 g are in one range; pieces, a unit of its own, nothing and a pending update are not."""
    contents: list[Any] = [
        [weight(1.5, "KGM")],
        [weight(1500, "GRM")],
        [weight(6, "H87"), weight(200, "GRM"), weight(9, "KGM")],
        [weight(1500, "H87")],
        [weight(1500, "")],
        [weight(None, "GRM"), weight(1500, "XXX")],
        None,
        [],
    ]
    records: list[dict[str, Any]] = [{"id": n, "netContent": content} for n, content in enumerate(contents)]
    records += [{"id": 90}, {"id": 91, "lastRequest": {"netContent": [weight(1500, "GRM")]}}]
    records += [{"id": 92, "logisticalHierarchies": [{"netContent": [weight(1500, "GRM")]}]}]
    explorer = CatalogExplorer(prodex.flatten(records))
    offers = {one["facet"]: one["label"] for one in typed(explorer, "net content") if "range" in one["facet"]}
    assert {
        "range:netContent [GRM]": "Net content in g",
        "range:netContent [H87]": "Net content in pieces",
        "range:netContent [XXX]": "Net content in XXX",
        "range:netContent []": "Net content without unit",
    } == offers
    grams = "range:netContent [GRM]"
    press(explorer, "add", grams)
    assert "8 products without a value" == facets(explorer)[grams]["note"]
    press(explorer, "limit", grams, side="least", value="1000")
    press(explorer, "limit", grams, side="greatest", value="1500")
    assert ["0", "1"] == explorer.catalog.products["product_id"].tolist()
    assert "net content in g: 1,000 to 1,500" in explorer.exploration.filter.labels(
        explorer.exploration.conditions
    )
    press(explorer, "limit", grams, side="greatest", value="")
    press(explorer, "limit", grams, side="least", value="9000.5")
    assert not len(explorer.catalog)
    press(explorer, "limit", grams, side="least", value="200")
    # The first number in the unit counts: 200 g, and not the 9 kg after it.
    press(explorer, "limit", grams, side="greatest", value="200")
    assert ["2"] == explorer.catalog.products["product_id"].tolist()


@pytest.mark.slow
def test_numbers_with_units_of_many_products_are_read_beside() -> None:
    """The facet says that it is read, and then shows its bars; a column that the service was not asked for says so."""
    products = ({"id": n, "netWeight": [weight(n, "GRM")]} for n in range(20_001))
    explorer = CatalogExplorer(prodex.flatten(products))
    said = []
    explorer.facets.widget.observe(lambda change: said.append(str(change["new"])), "view")
    press(explorer, "add", "range:netWeight [GRM]")
    explorer._reading_facets.wait()
    assert any("Reading …" in one for one in said)
    assert 20_001 == sum(one["count"] for one in facets(explorer)["range:netWeight [GRM]"]["bins"])


@pytest.mark.slow
def test_what_takes_long_is_read_beside() -> None:
    """Facets of attributes of many products are counted once they have been read, and the table does not wait."""
    explorer = CatalogExplorer(prodex.flatten({"id": n, "brand": {"code": "A"}} for n in range(5_001)))
    assert 5_001 == len(explorer.catalog)
    explorer._reading_facets.wait()
    assert "description" in labels(explorer, "missing")
    # Nor does the first card, which is prepared when nothing else is left to read.
    explorer._card._preparing.wait()
    assert is_prepared(explorer.exploration.catalog)
    press(explorer, "add", "fill:brand")
    explorer._reading_facets.wait()
    assert ["filled"] == labels(explorer, "fill:brand")


@pytest.mark.slow
def test_clicks_while_it_is_read_do_not_read_it_again() -> None:
    """What products lack is read once, however many facets are opened and pressed meanwhile, also by other panels."""
    catalog, tables = held(prodex.flatten({"id": n, "brand": {"code": f"{n % 9}"}} for n in range(5_001)))
    explorer = CatalogExplorer(catalog)
    press(explorer, "fold", "brand")
    for code in "01234":
        explorer.exploration.conditions = explorer.exploration.conditions.toggled("brand", code)
        press(explorer, "add", f"fill:name{code}")
    coverage = CoveragePanel(exploration=explorer.exploration)
    tables.go_on.set()
    explorer._reading_facets.wait()
    coverage.wait()
    assert 1 == tables.reads.count("nutrients")  # nothing else needs it
    assert "description" in labels(explorer, "missing")
    assert ["absent"] == labels(explorer, "fill:name4")


def test_a_search_in_labels_alone_says_so() -> None:
    """The first answer comes before many texts have been read and says what it covers; the second covers everything."""
    french = [{"expressedIn": {"code": "fra-FR"}, "data": "au citron"}]
    records: list[dict[str, Any]] = [{"id": n} for n in range(5_001)]
    records[3] = {"id": 3, "brand": {"code": "CITRON"}}
    records[7] = {"id": 7, "namePublicLong": french}
    explorer = CatalogExplorer(prodex.flatten(records))
    shown = []
    explorer._hint.observe(
        lambda change: shown.append((change["new"], int(explorer.table._mask.sum()))), "value"
    )
    explorer._search_field.value = "citron"
    explorer._looking.wait()
    explorer._completing.wait()

    assert 2 == int(explorer.table._mask.sum()) == len(explorer.catalog)
    assert any("Searched in brands" in hint for hint, _ in shown)
    assert "" == explorer._hint.value

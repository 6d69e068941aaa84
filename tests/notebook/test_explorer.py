"""The explorer, driven from Python as its buttons drive it: what it shows is what it hands back."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

import ipywidgets as w
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import prodex
from prodex.errors import InputError, QueryError
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.notebook.products.export import AS_SHOWN, EVERYTHING
from prodex.notebook.shared.state import Exploration
from prodex.selection import ProductList, Selection
from prodex_sandbox.sample import shared_products
from tests.cases import each_row


@pytest.fixture(scope="module")
def sample() -> prodex.Catalog:
    """300 products of the sample."""
    return prodex.flatten(product.record for product in shared_products(300))


def buttons(widget: Any) -> list[w.Button]:
    """Return all buttons that are shown, from top to bottom."""
    found = [widget] if isinstance(widget, w.Button) else []
    return found + [button for child in getattr(widget, "children", ()) for button in buttons(child)]


def button(explorer: CatalogExplorer, beginning: str) -> w.Button:
    """Return the first button whose words, marks of direction left out, begin like this."""
    for one in buttons(explorer):
        if one.description.replace("\u2068", "").replace("\u2069", "").startswith(beginning):
            return one
    raise AssertionError(f"no button begins with {beginning!r}")


def said(explorer: CatalogExplorer) -> str:
    """Return what the line above the table says."""
    (line,) = [child for child in every(explorer) if "count" in getattr(child, "_dom_classes", ())]
    return str(line.summary)


def every(widget: Any) -> list[Any]:
    return [widget, *(one for child in getattr(widget, "children", ()) for one in every(child))]


def field(explorer: CatalogExplorer, description: str) -> Any:
    return next(one for one in every(explorer) if getattr(one, "description", "") == description)


def facet(explorer: CatalogExplorer, name: str) -> dict[str, Any]:
    """Return a facet as the browser is given it."""
    (found,) = [one for one in explorer.facets.widget.view["facets"] if one["name"] == name]
    return dict(found)


def values(explorer: CatalogExplorer, name: str) -> list[tuple[str, int, str]]:
    """Return the values of a facet that are shown: label, count and state."""
    return [(one["label"], one["count"], one["state"]) for one in facet(explorer, name)["values"]]


def press(explorer: CatalogExplorer, name: str, label: str, action: str = "toggle") -> None:
    """Press a value of a facet, which is opened first."""
    if not facet(explorer, name)["open"]:
        explorer.facets.widget.press(do="fold", facet=name)
    (key,) = [one["key"] for one in facet(explorer, name)["values"] if one["label"] == label]
    explorer.facets.widget.press(do=action, facet=name, key=key)


def rows(explorer: CatalogExplorer) -> list[list[str]]:
    """Return the cells that the browser is given."""
    return [[cell["text"] for cell in row["cells"]] for row in explorer.table.grid.view["rows"]]


def marked(explorer: CatalogExplorer) -> list[int]:
    """Return the places of the rows that are marked as selected."""
    return [place for place, row in enumerate(explorer.table.grid.view["rows"]) if row["selected"]]


def press_row(explorer: CatalogExplorer, action: str, place: int, **more: Any) -> None:
    """Press a row, or its box."""
    explorer.table.grid.press(do=action, id=explorer.table.grid.view["rows"][place]["id"], **more)


@pytest.mark.slow
def test_what_is_shown_is_what_is_handed_back(sample: prodex.Catalog) -> None:
    """A press on a value filters the table, its count and the catalogue alike."""
    explorer = CatalogExplorer(sample)
    assert "1 to 50 of 300 products" == said(explorer)
    assert sample is explorer.catalog

    press(explorer, "market", "France")
    by_hand = sample.where(target_market=250)
    assert by_hand.products["product_id"].tolist() == explorer.catalog.products["product_id"].tolist()
    assert f"1 to 50 of {len(by_hand):,} products (300 in all)" == said(explorer)
    assert by_hand.texts.equals(explorer.catalog.texts)
    assert explorer.catalog is explorer.catalog

    press(explorer, "market", "Belgium")
    assert len(sample.where(target_market=[250, 56])) == len(explorer.catalog)
    press(explorer, "unit", "consumer unit")
    assert len(sample.where(target_market=[250, 56], is_consumer_unit=True)) == len(explorer.catalog)

    button(explorer, "market: France").click()
    assert len(sample.where(target_market=56, is_consumer_unit=True)) == len(explorer.catalog)
    button(explorer, "Clear all").click()
    assert (Selection(), sample) == (explorer.exploration.conditions, explorer.catalog)


def test_a_value_can_be_excluded_and_taken_back(sample: prodex.Catalog) -> None:
    """Products with an excluded value are gone, and a second press brings them back."""
    explorer = CatalogExplorer(sample)
    press(explorer, "market", "France", "exclude")
    assert len(sample) - len(sample.where(target_market=250)) == len(explorer.catalog)
    assert "excluded" == values(explorer, "market")[0][2]
    assert "1 excluded" == facet(explorer, "market")["active"]
    assert button(explorer, "not market: France")
    press(explorer, "market", "France", "exclude")
    assert not explorer.exploration.conditions


def test_values_are_in_the_order_of_their_counts_as_filters_change(sample: prodex.Catalog) -> None:
    """What is selected comes first, then the most frequent; values without products are folded and counted."""
    explorer = CatalogExplorer(sample)
    press(explorer, "market", "Belgium")
    explorer.facets.widget.press(do="more", facet="brand")
    shown = values(explorer, "brand")
    counts = [count for _, count, _ in shown]
    assert counts == sorted(counts, reverse=True)
    assert 0 < counts[-1]
    hidden = facet(explorer, "brand")["zeros"]
    explorer.facets.widget.press(do="zeros", facet="brand")
    everything = facet(explorer, "brand")
    assert (
        hidden
        == len(explorer.exploration.filter.facets["brand"].codes)
        - facet(explorer, "brand")["distinct"]
        + hidden
    )
    assert everything["shown"] + everything["more"] == len(explorer.exploration.filter.facets["brand"].codes)

    press(explorer, "brand", shown[3][0])
    assert (shown[3][0], "chosen") == (values(explorer, "brand")[0][0], values(explorer, "brand")[0][2])


def test_the_counts_of_a_facet_ignore_its_own_selection(sample: prodex.Catalog) -> None:
    """A count is the number of products that a value has, or would add."""
    explorer = CatalogExplorer(sample)
    explorer.facets.widget.press(do="fold", facet="tag")
    before = {label: count for label, count, _ in values(explorer, "tag")}
    press(explorer, "tag", "online")
    assert before == {label: count for label, count, _ in values(explorer, "tag")}


def test_values_beyond_the_first_eight_are_found_by_a_word_or_by_asking_for_more(
    sample: prodex.Catalog,
) -> None:
    """More values are found by a word or by "Show more", and selected ones stay in sight."""
    explorer = CatalogExplorer(sample)
    number = len(explorer.exploration.filter.facets["brand"].codes)
    found = facet(explorer, "brand")
    assert (8, number - 8, number) == (found["shown"], found["more"], found["distinct"])

    explorer.facets.widget.press(do="more", facet="brand")
    assert 28 == len(values(explorer, "brand"))
    explorer.facets.widget.press(do="find", facet="brand", text="TRÁMOY")
    assert ["Tramoy"] == [label for label, _, _ in values(explorer, "brand")]
    press(explorer, "brand", "Tramoy")
    explorer.facets.widget.press(do="find", facet="brand", text="nothing is called so")
    assert ["Tramoy"] == [label for label, _, _ in values(explorer, "brand")]


def test_words_are_looked_for_beside_and_then_shown(sample: prodex.Catalog) -> None:
    """The latest words are searched in the background, and a button removes them."""
    explorer = CatalogExplorer(sample)
    for words in ("c", "cit", "huile olive"):
        field(explorer, "Search").value = words
    explorer._looking.wait()

    texts = sample.texts.groupby("product_id")["text"].agg(" ".join).str.lower()
    products = sample.products.set_index("product_id")
    hay = texts.str.cat(products[["brand", "kind", "owner"]].fillna("").agg(" ".join, axis=1).str.lower())
    by_hand = set(hay[hay.str.contains("huile") & hay.str.contains("olive")].index)
    assert by_hand
    assert by_hand == set(explorer.catalog.products["product_id"])
    assert f"1 to {len(by_hand)} of {len(by_hand)} products (300 in all)" == said(explorer)

    button(explorer, "words: huile olive").click()
    assert ("", 300) == (field(explorer, "Search").value, len(explorer.catalog))


def test_words_that_somebody_else_sets_are_searched_too(sample: prodex.Catalog) -> None:
    """The catalogue is right at once, and the page as soon as the words are found."""
    exploration = Exploration(catalog=sample)
    explorer = CatalogExplorer(exploration=exploration)
    exploration.conditions = Selection().searching("citron")

    assert 0 < len(explorer.catalog) < 300
    explorer._looking.wait()
    assert "citron" == field(explorer, "Search").value
    assert f"{len(explorer.catalog)} products (300 in all)" == said(explorer).split(" of ")[1]


def test_a_selection_stays_through_pages_filters_and_sorting(sample: prodex.Catalog) -> None:
    """A selection on one page is kept on others, marked when it is shown again, and shared."""
    explorer = CatalogExplorer(sample)
    ids = sample.products["product_id"].tolist()
    press_row(explorer, "select", 2)
    press_row(explorer, "select", 0)
    assert (ids[2], ids[0]) == explorer.selected
    assert explorer.exploration.product_id is None

    button(explorer, "Next").click()
    assert [] == marked(explorer)
    press_row(explorer, "select", 1)
    assert (ids[2], ids[0], ids[51]) == explorer.selected == explorer.exploration.selected
    button(explorer, "Previous").click()
    assert [0, 2] == marked(explorer)

    explorer.exploration.conditions = Selection().toggled("kind", "nobody has it")
    assert ("no products (300 in all)", 3) == (said(explorer), len(explorer.selected))
    explorer.exploration.conditions = Selection()
    for _ in range(2):
        explorer.table.grid.press(do="sort", column="gtin")
    gtins = sorted(sample.products["gtin"].dropna(), reverse=True)[:50]
    assert gtins == [row[0] for row in rows(explorer)]

    explorer.selected = (ids[7],)
    explorer.table.grid.press(do="sort", column="gtin")
    assert [7] == marked(explorer)
    button(explorer, "Clear selection").click()
    assert () == explorer.exploration.selected
    press_row(explorer, "select", 4)
    press_row(explorer, "select", 8, through=True)
    assert tuple(ids[4:9]) == explorer.selected
    button(explorer, "Clear selection").click()
    button(explorer, "Select this page").click()
    assert tuple(ids[:50]) == explorer.selected


def test_a_press_on_a_head_sorts_and_a_third_restores_the_order(sample: prodex.Catalog) -> None:
    """A head sorts ascending, then descending, then not at all, and says which."""
    explorer = CatalogExplorer(sample)
    ids = [row["id"] for row in explorer.table.grid.view["rows"]]
    said_ = []
    for _ in range(3):
        explorer.table.grid.press(do="sort", column="gtin")
        said_.append(explorer.table.grid.view["columns"][0]["sort"])
    assert ["ascending", "descending", ""] == said_
    assert ids == [row["id"] for row in explorer.table.grid.view["rows"]]


def heads(explorer: CatalogExplorer) -> dict[str, Any]:
    """Return what the browser is given for the heads of columns."""
    return {one["name"]: one["head"] for one in explorer.table.grid.view["columns"]}


def test_a_press_under_a_head_filters_and_its_chip_removes_it(sample: prodex.Catalog) -> None:
    """A bar keeps its range, a value its products; counts follow the other conditions, and can be hidden."""
    explorer = CatalogExplorer(sample)
    assert 300 == sum(one["count"] for one in heads(explorer)["texts_count"]["bins"])
    assert (None, None) == (heads(explorer)["gtin"], heads(explorer)["name"])
    first = heads(explorer)["brand"]["values"][0]
    explorer.table.grid.press(do="pick", column="brand", key=first["key"])
    assert first["count"] == len(explorer.catalog)
    assert (first["label"], first["count"], "chosen") == values(explorer, "brand")[0]
    assert heads(explorer)["brand"]["values"][0] == first | {"chosen": True}
    bins = heads(explorer)["texts_count"]["bins"]
    assert first["count"] == sum(one["count"] for one in bins)

    place = max(range(len(bins)), key=lambda n: bins[n]["count"])
    explorer.table.grid.press(do="range", column="texts_count", first=place, last=place)
    assert bins[place]["count"] == len(explorer.catalog)
    assert [place] == [n for n, one in enumerate(heads(explorer)["texts_count"]["bins"]) if one["inside"]]
    button(explorer, "texts: ").click()
    button(explorer, "brand: ").click()
    assert not explorer.exploration.conditions

    field(explorer, "Add").value = "is_nomadic"
    explorer.table.grid.press(
        do="pick", column="is_nomadic", key=heads(explorer)["is_nomadic"]["values"][0]["key"]
    )
    button(explorer, "is_nomadic: ").click()
    field(explorer, "Distributions under the heads").value = False
    assert {None} == set(heads(explorer).values())
    field(explorer, "Distributions under the heads").value = True
    assert heads(explorer)["brand"]["values"]


def test_heads_of_many_products_are_read_in_the_background(
    sample: prodex.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table does not wait for them; what another catalogue needed is dropped."""
    monkeypatch.setattr("prodex.notebook.products.table_details._READ_AT_ONCE", 0)
    explorer = CatalogExplorer(sample)
    explorer.details.wait()
    assert heads(explorer)["brand"]["values"]
    assert "nl" in dict(field(explorer, "Names in").options).values()
    explorer.exploration.look_at(sample.head(3))
    explorer.details.wait()
    assert 3 == heads(explorer)["brand"]["total"]


@pytest.mark.slow
def test_a_row_opens_its_card_beside_the_table_and_arrows_go_on(sample: prodex.Catalog) -> None:
    """The card follows the row, over the end of a page as well; Escape closes it, and the page stays."""
    explorer = CatalogExplorer(sample)
    ids = sample.products["product_id"].tolist()
    assert "none" == explorer.pane.layout.display
    press_row(explorer, "open", 49)
    assert ("", ids[49]) == (explorer.pane.layout.display, explorer.pane.children[-1].card.product_id)
    explorer.table.grid.press(do="turn", by=1, follow=True)
    assert ids[50] == explorer.exploration.product_id == explorer.table.grid.view["open"]
    assert "51 to 100 of 300 products" == said(explorer)
    explorer.table.grid.press(do="turn", by=-1, follow=True)
    assert ids[49] == explorer.exploration.product_id
    explorer.table.grid.press(do="close")
    assert ("none", "1 to 50 of 300 products") == (explorer.pane.layout.display, said(explorer))


def test_the_card_of_a_product_that_the_list_has_not_says_so(sample: prodex.Catalog) -> None:
    """A card that stays open while the list becomes another one is not taken for a product of it."""
    explorer = CatalogExplorer(sample)

    def is_told() -> bool:
        return any("not in the list beside it" in getattr(one, "value", "") for one in every(explorer.pane))

    first, second, last = (sample.products["product_id"][place] for place in (0, 1, 299))
    explorer.exploration.product_id = last
    assert not is_told(), "it is on another page of the list"
    listed = ProductList("allergens changed", (first, second))
    explorer.exploration.conditions = Selection(listed=(listed,))
    assert is_told()
    explorer.exploration.product_id = second
    assert not is_told()
    explorer.exploration.product_id = last
    assert is_told()
    explorer.exploration.conditions = Selection()
    assert not is_told()


def test_the_selected_products_are_shown_by_themselves(sample: prodex.Catalog) -> None:
    """One press makes them what is exported, audited and counted, whatever was filtered; back returns."""
    explorer = CatalogExplorer(sample)
    only = explorer.bar.only
    assert only.layout.display == "none"
    explorer.exploration.conditions = Selection().searching("x-that-nobody-wrote")
    explorer.selected = tuple(sample.products["product_id"][[7, 250]])
    assert (only.description, only.layout.display) == ("Show only the 2 selected products", "")
    only.click()
    assert set(explorer.selected) == set(explorer.catalog.products["product_id"])
    assert "1 to 2 of 2 products" in said(explorer)
    assert button(explorer, "Export 2 products")
    assert only.layout.display == "none", "there is nothing else to show"
    explorer.bar.back.click()
    assert explorer.exploration.conditions.words == "x-that-nobody-wrote"
    explorer.selected = ()
    assert only.layout.display == "none"


@pytest.mark.slow
@pytest.mark.parametrize("what", [AS_SHOWN, EVERYTHING])
def test_only_the_selected_products_are_exported_on_request(
    sample: prodex.Catalog, tmp_path: Path, what: str
) -> None:
    """The button names their number; a filter that they do not meet leaves none of them out."""
    explorer = CatalogExplorer(sample)
    form = explorer._export
    assert form.only.layout.display == "none"
    explorer.exploration.conditions = Selection().toggled("brand", sample.products["brand_code"].mode()[0])
    ids = tuple(sample.products["product_id"][[250, 7]])
    explorer.selected = ids
    assert (form.only.description, form.only.value) == ("Only the 2 selected products", False)
    field(explorer, "Export").value = what
    field(explorer, "as").value = "parquet"
    field(explorer, "to folder").value = str(tmp_path)
    form.only.value = True
    button(explorer, "Export 2 products").click()
    form.exporter.wait()
    (written,) = tmp_path.glob("products*.parquet")
    gtins = pq.read_table(written)["gtin"].to_pylist()
    assert sorted(sample.products["gtin"][[7, 250]]) == sorted(gtins)
    explorer.selected = ()
    assert (form.only.value, form.only.layout.display) == (False, "none")


def test_conditions_are_gone_back_through_as_pages_of_a_browser(sample: prodex.Catalog) -> None:
    """Back and forward restore the filters before, and another catalogue forgets them."""
    explorer = CatalogExplorer(sample)
    assert explorer.bar.back.disabled
    press(explorer, "market", "France")
    press(explorer, "unit", "consumer unit")
    explorer.bar.back.click()
    assert {"market": ("250",)} == explorer.exploration.conditions.groups
    explorer.bar.back.click()
    assert (Selection(), True) == (explorer.exploration.conditions, explorer.bar.back.disabled)
    explorer.bar.forward.click()
    explorer.bar.forward.click()
    assert ["market", "unit"] == [*explorer.exploration.conditions.groups]
    assert explorer.bar.forward.disabled
    explorer.exploration.look_at(sample.head(3))
    assert explorer.bar.back.disabled


def test_a_view_is_saved_and_opened_again(sample: prodex.Catalog) -> None:
    """Selection, columns and order come back, in another notebook as well."""
    explorer = CatalogExplorer(sample)
    press(explorer, "market", "France")
    explorer.table.grid.press(do="sort", column="gtin")
    button(explorer, "Kind ✕").click()
    field(explorer, "Name").value = "French, by GTIN"
    button(explorer, "Save view").click()
    conditions, columns = explorer.exploration.conditions, explorer.table.columns

    other = CatalogExplorer(sample)
    other.bar.views.is_open = True
    field(other, "Open").value = "French, by GTIN"
    assert (conditions, columns) == (other.exploration.conditions, other.table.columns)
    assert rows(explorer) == rows(other)
    other.bar.back.click()
    assert not other.exploration.conditions
    field(other, "Open").value = "French, by GTIN"
    assert conditions == other.exploration.conditions
    button(other, "Remove view").click()
    assert ["a saved view …"] == [label for label, _ in field(other, "Open").options]
    button(other, "Save view").click()
    assert "Enter a name for the view first" in other.message


def test_columns_are_chosen_and_stay(sample: prodex.Catalog) -> None:
    """Any column can be shown, and the columns stay when the catalogue changes."""
    explorer = CatalogExplorer(sample)
    button(explorer, "GTIN ✕").click()
    field(explorer, "Add").value = "json_version"
    explorer.exploration.look_at(sample.where(pc.field("texts_count") > 10))

    assert "json_version" == explorer.table.columns[-1]
    assert "gtin" not in explorer.table.columns
    assert ["3"] == sorted({row[-1] for row in rows(explorer)} - {"—"})


_NAMES = ("namePublicLong", "namePublicShort", "nameLegal")


def test_names_are_shown_in_a_language(sample: prodex.Catalog) -> None:
    """A name is long, short or legal; a product without a name in the language has none."""
    explorer = CatalogExplorer(sample)
    field(explorer, "Names in").value = "nl"
    dutch = sample.texts.query("language == 'nl'").set_index(["product_id", "attribute"])["text"]
    expected = [
        next((dutch[one, name] for name in _NAMES if (one, name) in dutch.index), None)
        for one in sample.products["product_id"].head(50)
    ]

    assert [one[:90] if one else "—" for one in expected] == [row[1] for row in rows(explorer)]


@pytest.mark.slow
def test_an_audit_adds_grades_and_what_fails(sample: prodex.Catalog) -> None:
    """An audit adds columns, a facet and conditions; without one such conditions are refused."""
    audit = prodex.audit(sample, "online-listing")
    explorer = CatalogExplorer(sample, audit=audit)
    check = audit.by_check.sort_values("failed").iloc[-1]
    explorer.exploration.conditions = Selection().failing_any("the worst", (check["check"],))
    assert check["failed"] == len(explorer.catalog) > 0
    assert audit.failures(check=check["check"])["product_id"].nunique() == len(explorer.catalog)
    assert ("grade", "score") == explorer.table.columns[-2:]
    button(explorer, "fails: the worst").click()
    assert not explorer.exploration.conditions

    without = CatalogExplorer(sample)
    without.exploration.conditions = Selection().failing_any("the worst", (check["check"],))
    assert "there is no audit" in without.message


@pytest.mark.slow
def test_an_exploration_that_others_have_changed_is_taken_as_it_is(sample: prodex.Catalog) -> None:
    """Selection, conditions and a later audit are the same for all panels that share them."""
    ids = sample.products["product_id"].tolist()
    exploration = Exploration(catalog=sample)
    exploration.selected = (ids[3], "not here")
    exploration.conditions = Selection().toggled("market", "250")
    explorer = CatalogExplorer(exploration=exploration)
    assert ((ids[3], "not here"), len(sample.where(target_market=250))) == (
        explorer.selected,
        len(explorer.catalog),
    )

    exploration.audit = prodex.audit(sample, "online-listing")
    assert "grade" in [one["name"] for one in explorer.facets.widget.view["facets"]]
    assert ("grade", "score") == explorer.table.columns[-2:]
    exploration.audit = None
    assert "grade" not in [one["name"] for one in explorer.facets.widget.view["facets"]]
    assert "grade" not in explorer.table.columns


def test_conditions_that_make_no_sense_are_said(sample: prodex.Catalog) -> None:
    """Invalid conditions are reported in the panel, and are an error of its catalogue."""
    explorer = CatalogExplorer(sample)
    explorer.exploration.conditions = Selection().toggled("colour", "red")

    assert "no facet &#x27;colour&#x27;" in explorer.message
    with pytest.raises(QueryError, match="no facet 'colour'"):
        explorer.catalog.products  # noqa: B018 - asking is what is tested
    explorer.exploration.conditions = Selection()
    assert "" == explorer.message


def test_a_damaged_snapshot_is_said(sample: prodex.Catalog) -> None:
    """An error behind a click stays in sight, with what to do."""
    catalog = sample.save("damaged")
    explorer = CatalogExplorer(catalog)
    for path in catalog.files("tags"):
        path.unlink()
    explorer.facets.widget.press(do="fold", facet="tag")
    assert "open an earlier snapshot or load again" in explorer.message

    explorer.facets.widget.press(do="fold", facet="tag")
    assert "" == explorer.message


def test_a_snapshot_that_disappears_is_said_and_no_other_rows_are_shown(sample: prodex.Catalog) -> None:
    """Rows of another page never stand in for those that cannot be read, and what is in memory goes on working."""
    catalog = sample.save("gone")
    explorer = CatalogExplorer(catalog)
    shutil.rmtree(catalog.folder or "")
    button(explorer, "Next").click()
    assert ("51 to 100 of 300 products", []) == (said(explorer), rows(explorer))
    assert "cannot be read" in explorer.table.grid.view["empty"]
    assert "is gone" in explorer.message
    assert "Open another one (prodex.list_snapshots() has all), or load again" in explorer.message

    first = heads(explorer)["brand"]["values"][0]
    explorer.table.grid.press(do="pick", column="brand", key=first["key"])
    assert (first["count"], []) == (explorer.table.grid.view["total"], rows(explorer))
    field(explorer, "Search").value = "citron"
    explorer._looking.wait()
    assert "is gone" in explorer.message
    button(explorer, "Select this page").click()
    assert () == explorer.selected

    explorer.exploration.look_at(sample.head(3))
    assert (3, "") == (len(rows(explorer)), explorer.message)


def test_a_facet_of_thousands_of_values_shows_the_first_and_counts_the_others() -> None:
    """2,000 brands of one product each: few are sent to the browser, all can be found, none is lost from a count."""
    records = [{"id": n, "brand": {"code": f"B{n:04}"}} for n in range(2000)]
    explorer = CatalogExplorer(prodex.flatten(records))
    found = facet(explorer, "brand")
    assert (8, 1992, 2000) == (len(found["values"]), found["more"], found["distinct"])
    head = heads(explorer)["brand"]
    assert (3, 2000, "1,997 other values") == (len(head["values"]), head["total"], head["note"])
    explorer.facets.widget.press(do="find", facet="brand", text="b1999")
    press(explorer, "brand", "B1999")
    assert [["—", "—", "B1999"]] == [row[:3] for row in rows(explorer)]
    assert ["B1999"] == [one["label"] for one in heads(explorer)["brand"]["values"] if one["chosen"]]
    assert 100_000 > len(json.dumps([explorer.table.grid.view, explorer.facets.widget.view]))


@pytest.mark.parametrize("text", ["x" * 40_000, "\u05e9\u05dc\u05d5\u05dd 12 \u0645\u0631\u062d\u0628\u0627"])
def test_texts_that_are_long_or_run_from_right_to_left_are_shown(text: str) -> None:
    """A long text is cut and says so; a label in a chip is between marks that isolate its direction."""
    names = [{"expressedIn": {"code": "heb-IL"}, "data": text}]
    record = {"id": 7, "brand": {"code": "B", "label": text}, "namePublicLong": names}
    explorer = CatalogExplorer(prodex.flatten([record, {"id": 8}]))
    explorer.table.grid.press(do="pick", column="brand", key=heads(explorer)["brand"]["values"][0]["key"])

    shown = [text] * 2 if len(text) < 90 else [text[:90] + " …(90 of 40,000 characters)"] * 2
    assert shown == rows(explorer)[0][1:3]
    cut = text if len(text) < 60 else text[:60] + " …(60 of 40,000 characters)"
    assert cut == heads(explorer)["brand"]["values"][0]["label"] == values(explorer, "brand")[0][0]
    (chip,) = [one.description for one in buttons(explorer.bar.chips)]
    assert f"brand: \u2068{cut}\u2069 ✕" == chip
    assert 50_000 > len(json.dumps([explorer.table.grid.view, explorer.facets.widget.view]))
    assert 1 == len(explorer.catalog)


def test_another_catalogue_is_shown_instead(sample: prodex.Catalog) -> None:
    """Another catalogue clears the selection, and facets are those of its products."""
    explorer = CatalogExplorer(sample)
    explorer.exploration.conditions = Selection().toggled("market", "250")
    explorer.exploration.look_at(prodex.flatten([{"id": 7, "brand": {"code": "ONLY"}}]))

    assert "1 product" == said(explorer)
    assert [("ONLY", 1, "")] == values(explorer, "brand")
    assert "7" == explorer.catalog.products["product_id"][0]


@pytest.mark.slow
@each_row("records", [[], [{"id": 7}], [{}]])
def test_catalogues_of_hardly_anything_are_shown(records: list[dict[str, Any]]) -> None:
    """A catalogue without products and a product without attributes are shown."""
    explorer = CatalogExplorer(prodex.flatten(records))

    assert len(records) == len(explorer.catalog) == len(rows(explorer))
    assert "" == explorer.message
    assert len(records) == heads(explorer)["brand"]["total"]
    assert [len(records)] * len(records) == [one["count"] for one in heads(explorer)["texts_count"]["bins"]]


def test_export_asks_before_it_replaces(sample: prodex.Catalog, tmp_path: Path) -> None:
    """The first click exports, the second asks, and the third replaces."""
    explorer = CatalogExplorer(sample)
    explorer.exploration.conditions = Selection().toggled("market", "56")
    field(explorer, "to folder").value = str(tmp_path)
    press = button(explorer, f"Export {len(explorer.catalog)} products")
    press.click()
    explorer._export.exporter.wait()
    path = tmp_path / "products_as_shown.csv"
    assert len(explorer.catalog) + 1 == len(path.read_text("utf-8").splitlines())

    path.write_text("mine", "utf-8")
    press.click()
    assert ("mine", "Replace 2 files") == (path.read_text("utf-8"), press.description)
    press.click()
    explorer._export.exporter.wait()
    assert "mine" != path.read_text("utf-8")
    field(explorer, "as").value = "xlsx"
    form = [one for one in every(explorer._export) if one not in every(explorer._export.exporter.work)]
    hidden = [one for one in form if getattr(one.layout, "display", "") == "none"]
    # The choice of selected products, of which there are none, and the one of CSV.
    assert ["Checkbox", "Checkbox"] == [type(one).__name__ for one in hidden]
    field(explorer, "to folder").value = " "
    press.click()
    assert "Enter a folder for the files, such as out." in explorer._export.exporter.message


def test_what_it_takes_is_said() -> None:
    """An explorer needs a catalogue or an exploration, and refuses an unknown keyword."""
    with pytest.raises(InputError, match="needs a catalogue"):
        CatalogExplorer()
    with pytest.raises(TypeError):
        CatalogExplorer(prodex.flatten([]), colour="red")  # type: ignore[call-arg]


def test_nothing_typed_by_suppliers_stands_where_it_would_be_typeset() -> None:
    """Texts of suppliers are in live widgets, buttons and options only; HTML widgets hold our own words."""
    evil = "<img src=x onerror=typed()> $5 or $6"
    texts = [{"expressedIn": {"code": "fra-FR"}, "data": evil}]
    record = {"id": 7, "gtin": evil, "namePublicLong": texts, "hasTags": [{"tag": evil}]}
    record |= {name: {"code": evil, "label": evil} for name in ("brand", "kind", "typePackaging")}
    explorer = CatalogExplorer(prodex.flatten([record | {"owner": {"id": 1, "name": evil}}]))
    press(explorer, "brand", evil)

    live = (explorer.table.grid, explorer.facets.widget)
    for one in every(explorer):
        if not isinstance(one, w.Button) and one not in live:
            assert "typed()" not in json.dumps(one.get_state(), default=str), type(one)
        assert "typed()" not in (getattr(one, "tooltip", None) or "")
    for widget in live:
        assert evil in json.dumps(widget.view)


def test_little_is_sent_to_the_browser(sample: prodex.Catalog) -> None:
    """All widgets together stay small, however many products there are."""
    explorer = CatalogExplorer(sample)
    for one in explorer.facets.widget.view["facets"]:
        if not one["open"]:
            explorer.facets.widget.press(do="fold", facet=one["name"])
    models = {id(model): model for one in every(explorer) for model in parts(one)}

    assert 2_000_000 > sum(len(json.dumps(one.get_state(), default=str)) for one in models.values())
    assert 500 > len(models)


def parts(widget: Any) -> list[Any]:
    """Return a widget with its layout and style, each of which is sent by itself."""
    found = (widget, getattr(widget, "layout", None), getattr(widget, "style", None))
    return [one for one in found if isinstance(one, w.Widget)]


def test_no_thread_is_left_behind(sample: prodex.Catalog) -> None:
    """The threads that opened the explorer have ended."""
    before = threading.active_count()
    CatalogExplorer(sample)
    assert before >= threading.active_count()

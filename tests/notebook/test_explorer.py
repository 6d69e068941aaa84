"""The explorer, driven from Python as its buttons drive it: what it shows is what it hands back."""

from __future__ import annotations

import json
import threading
from html import unescape
from pathlib import Path
from typing import Any

import ipywidgets as w
import pyarrow.compute as pc
import pytest

import prodex
from prodex.errors import InputError, QueryError
from prodex.notebook.conditions import Conditions
from prodex.notebook.exploration import Exploration
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.sandbox.sample import shared_products


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


def table(explorer: CatalogExplorer) -> Any:
    return next(one for one in every(explorer) if hasattr(one, "selected_rows"))


def rows(explorer: CatalogExplorer) -> list[list[str]]:
    """Return the cells that the browser is given."""
    return [[unescape(cell) for cell in row] for row in json.loads(table(explorer)._dt_args["data_json"])]


def test_what_is_shown_is_what_is_handed_back(sample: prodex.Catalog) -> None:
    """A click on a value filters the table, its count and the catalogue alike."""
    explorer = CatalogExplorer(sample)
    assert "1 to 25 of 300 products" == said(explorer)
    assert sample is explorer.catalog

    button(explorer, "▸ Market").click()
    button(explorer, "☐ France").click()
    by_hand = sample.where(target_market=250)
    assert by_hand.products["product_id"].tolist() == explorer.catalog.products["product_id"].tolist()
    assert f"1 to 25 of {len(by_hand):,} products (300 in all)" == said(explorer)
    assert by_hand.texts.equals(explorer.catalog.texts)
    assert explorer.catalog is explorer.catalog

    button(explorer, "☐ Belgium").click()
    assert len(sample.where(target_market=[250, 56])) == len(explorer.catalog)
    button(explorer, "▸ Consumer unit").click()
    button(explorer, "☐ consumer unit").click()
    assert len(sample.where(target_market=[250, 56], is_consumer_unit=True)) == len(explorer.catalog)

    button(explorer, "market: France").click()
    assert len(sample.where(target_market=56, is_consumer_unit=True)) == len(explorer.catalog)
    button(explorer, "Clear all").click()
    assert (Conditions(), sample) == (explorer.exploration.conditions, explorer.catalog)


def test_rows_of_a_facet_do_not_move_when_one_is_chosen(sample: prodex.Catalog) -> None:
    """The rows of a facet keep their order, and their counts ignore its own selection."""
    explorer = CatalogExplorer(sample)
    button(explorer, "▸ Tag").click()
    (box,) = [b for b in explorer._facets.children if "Tag" in buttons(b)[0].description]
    before = [(one.description[1:], one.tooltip) for one in buttons(box)[1:]]
    button(explorer, "☐ online").click()

    assert before == [(one.description[1:], one.tooltip) for one in buttons(box)[1:]]


def test_values_beyond_the_first_eight_are_found_by_a_word_or_by_asking_for_more(
    sample: prodex.Catalog,
) -> None:
    """More values are found by a word or by "Show more", and selected ones stay in sight."""
    explorer = CatalogExplorer(sample)
    (box,) = [b for b in explorer._facets.children if "Brand" in buttons(b)[0].description]
    number = len(explorer._values["brand"].codes)
    shown = [one for one in buttons(box) if "☐" in one.description]
    assert 8 == len(shown)
    assert f"Show more (8 of {number})" == buttons(box)[-1].description

    buttons(box)[-1].click()
    assert 28 == sum("☐" in one.description for one in buttons(box))
    next(one for one in every(box) if isinstance(one, w.Text)).value = "TRÁMOY"
    assert ["☐ Tramoy"] == [
        one.description.replace("\u2068", "").replace("\u2069", "") for one in buttons(box)[1:]
    ]


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
    exploration.conditions = Conditions().searching("citron")

    assert 0 < len(explorer.catalog) < 300
    explorer._looking.wait()
    assert "citron" == field(explorer, "Search").value
    assert f"{len(explorer.catalog)} products (300 in all)" == said(explorer).split(" of ")[1]


def test_a_choice_stays_through_pages_filters_and_sorting(sample: prodex.Catalog) -> None:
    """A selection on one page is kept on others, marked when it is shown again, and shared."""
    explorer = CatalogExplorer(sample)
    ids = sample.products["product_id"].tolist()
    table(explorer).selected_rows = [2]
    table(explorer).selected_rows = [0, 2]
    assert ((ids[2], ids[0]), ids[0]) == (explorer.selected, explorer.exploration.product_id)

    button(explorer, "Next").click()
    assert [] == table(explorer).selected_rows
    table(explorer).selected_rows = [1]
    assert (ids[2], ids[0], ids[26]) == explorer.selected == explorer.exploration.selected
    button(explorer, "Previous").click()
    assert [0, 2] == table(explorer).selected_rows

    explorer.exploration.conditions = Conditions().toggled("kind", "nobody has it")
    assert ("no products (300 in all)", 3) == (said(explorer), len(explorer.selected))
    explorer.exploration.conditions = Conditions()
    field(explorer, "Order").value = "descending"
    field(explorer, "Sort by").value = "gtin"
    gtins = sorted(sample.products["gtin"].dropna(), reverse=True)[:25]
    assert gtins == [row[0] for row in rows(explorer)]

    explorer.selected = (ids[7],)
    field(explorer, "Sort by").value = ""
    assert [7] == table(explorer).selected_rows
    button(explorer, "Clear selection").click()
    assert () == explorer.exploration.selected
    button(explorer, "Select this page").click()
    assert tuple(ids[:25]) == explorer.selected


def test_columns_are_chosen_and_stay(sample: prodex.Catalog) -> None:
    """Any column can be shown, and the columns stay when the catalogue changes."""
    explorer = CatalogExplorer(sample)
    button(explorer, "GTIN ✕").click()
    field(explorer, "Add").value = "json_version"
    explorer.exploration.look_at(sample.where(pc.field("texts_count") > 10))

    assert "json_version" == explorer._table.columns[-1]
    assert "gtin" not in explorer._table.columns
    assert ["3"] == sorted({row[-1] for row in rows(explorer)} - {"—"})


_NAMES = ("namePublicLong", "namePublicShort", "nameLegal")


def test_names_are_shown_in_a_language(sample: prodex.Catalog) -> None:
    """A name is long, short or legal; a product without a name in the language has none."""
    explorer = CatalogExplorer(sample)
    field(explorer, "Names in").value = "nl"
    dutch = sample.texts.query("language == 'nl'").set_index(["product_id", "attribute"])["text"]
    expected = [
        next((dutch[one, name] for name in _NAMES if (one, name) in dutch.index), None)
        for one in sample.products["product_id"].head(25)
    ]

    assert [one[:90] if one else "—" for one in expected] == [row[1] for row in rows(explorer)]


def test_an_audit_adds_grades_and_what_fails(sample: prodex.Catalog) -> None:
    """An audit adds columns, a facet and conditions; without one such conditions are refused."""
    audit = prodex.audit(sample, "online-listing")
    explorer = CatalogExplorer(sample, audit=audit)
    check = audit.by_check.sort_values("failed").iloc[-1]
    explorer.exploration.conditions = Conditions().failing_any("the worst", (check["check"],))
    assert check["failed"] == len(explorer.catalog) > 0
    assert audit.failures(check=check["check"])["product_id"].nunique() == len(explorer.catalog)
    assert ("grade", "score") == explorer._table.columns[-2:]
    button(explorer, "fails: the worst").click()
    assert not explorer.exploration.conditions

    without = CatalogExplorer(sample)
    without.exploration.conditions = Conditions().failing_any("the worst", (check["check"],))
    assert "there is no audit" in without.message


def test_an_exploration_that_others_have_changed_is_taken_as_it_is(sample: prodex.Catalog) -> None:
    """Selection, conditions and a later audit are the same for all panels that share them."""
    ids = sample.products["product_id"].tolist()
    exploration = Exploration(catalog=sample)
    exploration.selected = (ids[3], "not here")
    exploration.conditions = Conditions().toggled("market", "250")
    explorer = CatalogExplorer(exploration=exploration)
    assert ((ids[3], "not here"), len(sample.where(target_market=250))) == (
        explorer.selected,
        len(explorer.catalog),
    )

    exploration.audit = prodex.audit(sample, "online-listing")
    assert "▾ Grade" == buttons(explorer._facets)[0].description
    assert ("grade", "score") == explorer._table.columns[-2:]
    exploration.audit = None
    assert "▾ Kind" == buttons(explorer._facets)[0].description
    assert "grade" not in explorer._table.columns


def test_conditions_that_make_no_sense_are_said(sample: prodex.Catalog) -> None:
    """Invalid conditions are reported in the panel, and are an error of its catalogue."""
    explorer = CatalogExplorer(sample)
    explorer.exploration.conditions = Conditions().toggled("colour", "red")

    assert "no facet &#x27;colour&#x27;" in explorer.message
    with pytest.raises(QueryError, match="no facet 'colour'"):
        explorer.catalog.products  # noqa: B018 - asking is what is tested
    explorer.exploration.conditions = Conditions()
    assert "" == explorer.message


def test_a_damaged_snapshot_is_said(sample: prodex.Catalog) -> None:
    """An error behind a click stays in sight, with what to do."""
    catalog = sample.save("damaged")
    explorer = CatalogExplorer(catalog)
    for path in catalog.files("tags"):
        path.unlink()
    button(explorer, "▸ Tag").click()
    assert "open an earlier snapshot or load again" in explorer.message

    button(explorer, "▾ Tag").click()
    assert "" == explorer.message


def test_another_catalogue_is_shown_instead(sample: prodex.Catalog) -> None:
    """Another catalogue clears the selection, and facets are those of its products."""
    explorer = CatalogExplorer(sample)
    explorer.exploration.conditions = Conditions().toggled("market", "250")
    explorer.exploration.look_at(prodex.flatten([{"id": 7, "brand": {"code": "ONLY"}}]))

    assert "1 product" == said(explorer)
    assert button(explorer, "☐ ONLY").tooltip == "1"
    assert "7" == explorer.catalog.products["product_id"][0]


@pytest.mark.parametrize("records", [[], [{"id": 7}], [{}]])
def test_catalogues_of_hardly_anything_are_shown(records: list[dict[str, Any]]) -> None:
    """A catalogue without products and a product without attributes are shown."""
    explorer = CatalogExplorer(prodex.flatten(records))

    assert len(records) == len(explorer.catalog) == len(rows(explorer))
    assert "" == explorer.message


def test_export_asks_before_it_replaces(sample: prodex.Catalog, tmp_path: Path) -> None:
    """The first click exports, the second asks, and the third replaces."""
    explorer = CatalogExplorer(sample)
    explorer.exploration.conditions = Conditions().toggled("market", "56")
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
    hidden = [one for one in every(explorer._export) if getattr(one.layout, "display", "") == "none"]
    assert ["Checkbox"] == [type(one).__name__ for one in hidden]
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
    """Texts of suppliers are in buttons, options and cells only; HTML widgets hold our own words."""
    evil = "<img src=x onerror=typed()> $5 or $6"
    texts = [{"expressedIn": {"code": "fra-FR"}, "data": evil}]
    record = {"id": 7, "gtin": evil, "namePublicLong": texts, "hasTags": [{"tag": evil}]}
    record |= {name: {"code": evil, "label": evil} for name in ("brand", "kind", "typePackaging")}
    explorer = CatalogExplorer(prodex.flatten([record | {"owner": {"id": 1, "name": evil}}]))
    for one in buttons(explorer):
        if one.description.startswith("▸"):
            one.click()
    button(explorer, "☐ <img").click()

    for one in every(explorer):
        if not isinstance(one, w.Button) and one is not table(explorer):
            assert "typed()" not in json.dumps(one.get_state(), default=str), type(one)
        assert "typed()" not in (getattr(one, "tooltip", None) or "")
    assert sum("typed()" in one.description for one in buttons(explorer)) > 5
    assert "<img" not in table(explorer)._dt_args["data_json"]


def test_little_is_sent_to_the_browser(sample: prodex.Catalog) -> None:
    """All widgets together stay small, however many products there are."""
    explorer = CatalogExplorer(sample)
    for one in buttons(explorer._facets):
        if one.description.startswith("▸"):
            one.click()
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

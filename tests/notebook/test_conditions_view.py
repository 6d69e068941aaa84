"""The bar of conditions: chips, back and forward, either ... or, all others, the selected ones, and saved views."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.saved_views import SavedView, applicable, save_view, saved_views
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.columns import columns_of
from prodex.notebook.views.table import ProductTableState
from prodex.selection import Range, Selection
from prodex_sandbox.sample import shared_products
from tests.notebook.blocks_of import block, blocks, field, fill, is_off, press, words

RECORDS = [
    {"id": n, "brand": {"code": "ACME" if n % 2 else "OTHER"}, "isConsumerUnit": n < 4} for n in range(1, 7)
]
PROFILE: dict[str, Any] = {"checks": {"has_name": {}, "valid_gtin": {}}}


@pytest.fixture(scope="module")
def sample() -> prodex.Catalog:
    """300 products of the sample."""
    return prodex.flatten(product.record for product in shared_products(300))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep views in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def shown(catalog: prodex.Catalog | None = None, **more: Any) -> App:
    """Return a panel that was looked at."""
    app = App(Session(prodex.flatten(RECORDS) if catalog is None else catalog, **more), ["products"])
    app.view()
    app.wait()
    return app


def chips(app: App) -> list[str]:
    """Return what the chips say, without the marks that isolate directions."""
    bar = block(app, "chips")
    assert bar is not None
    return [re.sub("[\u2068\u2069]", "", one["label"]) for one in bar["blocks"]]


def ids(app: App) -> list[str]:
    """Return the ids of the products that are left."""
    return list(app.session.chosen.products["product_id"])


def open_views(app: App) -> None:
    """Open the list of saved views."""
    app.act("fold.set", key="views", is_open=True)


def offered(app: App) -> list[str]:
    """Return the saved views that can be opened."""
    return [one["label"] for one in field(app, "views", "open")["options"]]


def problem(app: App) -> str:
    """Return what the top of the section says, without the marks that isolate directions."""
    return re.sub("[\u2068\u2069]", "", words(app.view()["head"]))


def test_each_condition_is_a_chip_that_removes_it() -> None:
    """With several there is one more that removes all of them."""
    app = shown()
    assert [] == chips(app)
    app.act("facets.toggle", facet="brand", code="ACME")
    assert ["brand: ACME ✕"] == chips(app)
    app.act("facets.exclude", facet="unit", code="true")
    assert ["brand: ACME ✕", "not consumer unit: consumer unit ✕", "Clear all"] == chips(app)
    press(app, "chip/brand: \u2068ACME\u2069")
    assert ["4", "5", "6"] == ids(app)
    app.act("facets.toggle", facet="brand", code="ACME")
    press(app, "clear")
    assert (Selection(), []) == (app.session.conditions, chips(app))


def test_a_chip_of_a_page_that_is_behind_removes_what_it_says_and_nothing_else() -> None:
    """A condition is named by its words; one that is gone already stays gone."""
    app = shown()
    app.act("facets.toggle", facet="brand", code="ACME")
    app.act("facets.toggle", facet="unit", code="true")
    bar = block(app, "chips")
    assert bar is not None
    first = bar["blocks"][0]
    for _ in range(2):
        app.act(first["do"], **first["args"])
        assert {"unit": ("true",)} == app.session.conditions.groups


def test_conditions_are_gone_back_through_as_pages_of_a_browser() -> None:
    """Back and forward restore the filters before, and another catalogue forgets them."""
    app = shown()
    assert is_off(block(app, "back"))
    app.act("facets.toggle", facet="brand", code="ACME")
    app.act("facets.toggle", facet="unit", code="true")
    press(app, "back")
    assert {"brand": ("ACME",)} == app.session.conditions.groups
    press(app, "back")
    assert (Selection(), True) == (app.session.conditions, is_off(block(app, "back")))
    press(app, "forward")
    press(app, "forward")
    assert (["brand", "unit"], True) == ([*app.session.conditions.groups], is_off(block(app, "forward")))
    app.change(lambda session: session.looking_at(prodex.flatten([{"id": 9}])))
    assert is_off(block(app, "back"))


def test_either_or_is_built_by_presses() -> None:
    """One half, the other half, both joined; without a second half, the first is taken back."""
    app = shown()
    assert block(app, "alternative") is None
    app.act("facets.toggle", facet="brand", code="ACME")
    press(app, "alternative")
    assert (6, "either brand: ACME, or") == (
        len(ids(app)),
        re.sub("[\u2068\u2069]", "", str((block(app, "either") or {})["text"])),
    )
    press(app, "alternative")
    assert (Selection().toggled("brand", "ACME"), None) == (app.session.conditions, app.session.alternative)
    press(app, "alternative")
    app.act("facets.toggle", facet="unit", code="true")
    press(app, "alternative")
    assert ["1", "2", "3", "5"] == ids(app)
    assert ["either brand: ACME, or consumer unit: consumer unit ✕"] == chips(app)
    for _ in range(2):  # a second press of another page joins nothing twice
        app.act("conditions.join")
    assert ["1", "2", "3", "5"] == ids(app)


def test_all_others_and_these_again() -> None:
    """What is not shown is one press away, and so is the way back."""
    app = shown()
    assert block(app, "others") is None
    app.act("facets.toggle", facet="brand", code="ACME")
    app.act("facets.toggle", facet="unit", code="true")
    before = app.session.conditions
    press(app, "others")
    assert ["2", "4", "5", "6"] == ids(app)
    press(app, "others")
    assert before == app.session.conditions


def test_the_selected_products_are_shown_by_themselves() -> None:
    """One press makes them what is exported, audited and counted, whatever was filtered; back returns."""
    app = shown()
    assert block(app, "only") is None
    app.change(lambda session: session.filtered(Selection().searching("x-that-nobody-wrote")))
    app.change(lambda session: session.replaced(selected=("2", "5")))
    assert "Show only the 2 selected products" == (block(app, "only") or {})["label"]
    press(app, "only")
    assert ["2", "5"] == ids(app)
    assert block(app, "only") is None, "there is nothing else to show"
    press(app, "back")
    assert "x-that-nobody-wrote" == app.session.conditions.words
    app.change(lambda session: session.replaced(selected=()))
    assert block(app, "only") is None


def test_a_view_is_saved_and_opened_again(sample: prodex.Catalog) -> None:
    """Selection, columns and order come back, in another notebook as well."""
    app = shown(sample)
    app.act("facets.toggle", facet="market", code="250")
    app.act("table.sort", column="gtin")
    app.act("columns.remove", column="kind")
    open_views(app)
    fill(app, "views", "name", "French, by GTIN")
    press(app, "save")
    conditions, columns = app.session.conditions, columns_of(app.session)
    assert ["a saved view …", "\u2068French, by GTIN\u2069"] == offered(app)
    assert ("French, by GTIN", "") == tuple(field(app, "views", one)["value"] for one in ("open", "name"))

    other = shown(sample)
    open_views(other)
    fill(other, "views", "open", "French, by GTIN")
    assert (conditions, columns, "gtin") == (
        other.session.conditions,
        columns_of(other.session),
        other.session.part(ProductTableState).order.column,
    )
    assert "French, by GTIN" == field(other, "views", "open")["value"]
    press(other, "back")
    assert "" == field(other, "views", "open")["value"], "so that it can be opened again"
    fill(other, "views", "open", "French, by GTIN")
    assert conditions == other.session.conditions
    press(other, "remove")
    assert (["a saved view …"], True) == (offered(other), is_off(block(other, "remove")))
    press(other, "save")
    assert "Enter a name for the view first" in field(other, "views", "name")["error"]
    fill(other, "views", "name", "B")
    assert "error" not in field(other, "views", "name")


def test_a_second_click_on_save_view_is_no_second_view(sample: prodex.Catalog) -> None:
    """What is shown is saved already; where something else is shown by then, a view without a name is refused."""
    app = shown(sample)
    open_views(app)
    fill(app, "views", "name", "all")
    press(app, "save")
    press(app, "save")
    assert "error" not in field(app, "views", "name")
    assert ["all"] == [one.name for one in saved_views()]
    app.act("table.sort", column="gtin")
    press(app, "save")
    assert "Enter a name for the view first" in field(app, "views", "name")["error"]


def test_of_two_conditions_that_look_alike_the_one_that_was_pressed_is_removed() -> None:
    """Long names are cut, and may differ only behind that."""
    brands = [{"code": code, "label": f"{'Very long brand ' * 5}{code}"} for code in "AB"]
    app = shown(prodex.flatten([{"id": number, "brand": brand} for number, brand in enumerate(brands)]))
    for code in "AB":
        app.act("facets.toggle", facet="brand", code=code)
    bar = block(app, "chips")
    assert bar is not None
    alike = [one for one in bar["blocks"] if one["do"] == "conditions.remove"]
    assert 2 == len({one["key"] for one in alike})
    app.act("conditions.remove", **alike[1]["args"])
    assert ("A",) == app.session.conditions.groups["brand"]


def test_a_view_is_replaced_only_by_who_has_opened_it() -> None:
    """A name that is taken is refused beside its field; the view that was opened or saved last is saved anew."""
    kept = SavedView("mine", Selection().toggled("brand", "ACME"))
    save_view(kept)
    app = shown()
    open_views(app)
    fill(app, "views", "name", "mine")
    press(app, "save")
    assert "There is a view of this name." in field(app, "views", "name")["error"]
    assert [kept.conditions] == [one.conditions for one in saved_views()]

    fill(app, "views", "open", "mine")
    app.act("conditions.clear")
    for _ in range(2):
        fill(app, "views", "name", "mine")
        press(app, "save")
    assert [Selection()] == [one.conditions for one in saved_views()]


def test_a_view_of_another_catalogue_says_what_is_not_here() -> None:
    """What cannot be answered is left out, what nothing meets is kept, and both are said until something changes."""
    asked = Selection().toggled("brand", "NOBODY").toggled("grade", "A").failing_any("No name", ("has_name",))
    save_view(SavedView("elsewhere", asked.within("score", Range(0.1, None))))
    app = shown()
    open_views(app)
    fill(app, "views", "open", "elsewhere")
    assert "There is no audit here, so this was left out:" in problem(app)
    assert all(one in problem(app) for one in ("grade:", "No name", "score: from 10.0 %"))
    assert "No product here meets: brand: NOBODY" in problem(app)
    assert {"brand": ("NOBODY",)} == app.session.conditions.groups

    press(app, "chip/brand: \u2068NOBODY\u2069")
    assert ("[]", "") == (problem(app), field(app, "views", "open")["value"])
    fill(app, "views", "open", "elsewhere")
    assert {"brand": ("NOBODY",)} == app.session.conditions.groups


def test_views_that_are_gone_damaged_or_of_another_version_are_said(home: Path) -> None:
    """And nothing else of the panel is lost."""
    app = shown()
    open_views(app)
    app.act("views.open", value="never saved")
    assert "There is no view 'never saved'. Saved are none." in problem(app)
    app.act("views.remove", name="never saved")
    assert "[]" == problem(app)
    path = save_view(SavedView("one", Selection().searching("pain")))
    path.write_text(
        path.read_text("utf-8").replace('"format":2', '"format":99').replace('"format": 2', '"format": 99')
    )
    said = block(app, "problem", "text")
    assert said is not None
    assert "problem" == said["tone"]
    path.write_text("{", "utf-8")
    assert block(app, "problem", "text") is None
    app.act("views.open", value="one")
    assert "cannot be read" in problem(app)
    fill(app, "views", "name", "x" * 121)
    press(app, "save")
    assert "Give it 1 to 120." in problem(app)


def test_a_name_of_a_view_is_shown_as_it_was_typed() -> None:
    """Markup is text, and a direction ends with the name."""
    app = shown()
    open_views(app)
    for name in ("<script>typed()</script>", "\u202egnp.exe", "=1+1", "../../etc"):
        fill(app, "views", "name", name)
        press(app, "save")
        assert f"\u2068{name}\u2069" in offered(app)
    assert 4 == len(saved_views())


def test_a_chip_of_a_long_or_right_to_left_text_is_cut_and_isolated() -> None:
    """A label in a chip is between marks that isolate its direction."""
    for text in ("x" * 40_000, "\u05e9\u05dc\u05d5\u05dd 12 \u0645\u0631\u062d\u0628\u0627"):
        app = shown(prodex.flatten([{"id": 7, "brand": {"code": "B", "label": text}}, {"id": 8}]))
        app.act("facets.toggle", facet="brand", code="B")
        cut = text if len(text) < 60 else text[:60] + " …(60 of 40,000 characters)"
        (chip,) = (one for one in blocks(app, "button") if one.get("look") == "chip")
        assert f"brand: \u2068{cut}\u2069 ✕" == chip["label"]
        press(app, chip["key"])
        assert not app.session.conditions


@pytest.mark.slow
def test_what_an_audit_chose_is_a_chip_and_without_one_it_is_refused() -> None:
    """The conditions stay in sight, and no products are shown that do not meet them."""
    catalog = prodex.flatten(RECORDS)
    failing = Selection().failing_any("No name", ("has_name",))
    app = shown(catalog, audit=prodex.audit(catalog, PROFILE, progress=False))
    app.change(lambda session: session.filtered(failing))
    assert (6, ["fails: No name ✕"]) == (len(ids(app)), chips(app))

    app.change(lambda session: session.replaced(audit=None))
    said = block(app, "error", "text")
    assert said is not None
    assert "there is no audit" in said["text"]
    press(app, "chip/fails: \u2068No name\u2069")
    assert (None, 6) == (block(app, "error", "text"), len(ids(app)))


@pytest.mark.slow
def test_a_catalogue_without_products_says_what_to_do() -> None:
    """It is no error."""
    app = shown(prodex.flatten([]))
    assert "This catalogue has no products. Load" in words(block(app, "conditions"))
    assert "[]" == problem(app)


def test_a_condition_that_nothing_can_answer_is_quoted() -> None:
    """A view of another version may name facets and columns that do not exist; the others are kept."""
    here = ProductFilter(prodex.flatten(RECORDS))
    asked = Selection().toggled("weird", "x").within("colour", Range(1, 2)).excluding("brand", "ACME")
    kept, said = applicable(asked.searching("pain"), here)
    assert Selection().excluding("brand", "ACME").searching("pain") == kept
    assert "There is no facet 'weird'" in said
    assert "There is no range of 'colour'" in said

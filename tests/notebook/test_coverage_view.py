"""The section Coverage without a browser: its figures, what a press asks for, and what pages may send."""

from __future__ import annotations

import shutil
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Catalog, Origin
from prodex.exploration.coverage import Choice, CoverageData
from prodex.exploration.filled import USUAL, FilledColumns
from prodex.facts.attribute_states import fill_states
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.coverage import CoverageState, coverage_wants, shown_grid
from prodex.progress import Reporter
from prodex.query import ProductQuery
from prodex.selection import Selection
from prodex_sandbox.sample import AS_OF, shared_products
from tests.cases import each_row
from tests.quality.hostile import LONG
from tests.wire import CORNERS, attributes

MISSING = ("empty", "null", "absent")
GROUPINGS = ("language", "kind", "owner", "brand", "market")
_NAME = "namePublicLong"


@pytest.fixture(scope="module")
def sample() -> Catalog:
    return prodex.flatten(one.record for one in shared_products(300))


@pytest.fixture(scope="module")
def audit(sample: Catalog) -> prodex.quality.Audit:
    return prodex.audit(sample, "online-listing", progress=False, now=AS_OF)


def text(data: Any, language: str = "fra-FR") -> dict[str, Any]:
    """Return a localized text as the service writes it."""
    return {"expressedIn": {"code": language}, "data": data}


def app_of(catalog: Catalog, audit: prodex.quality.Audit | None = None, **typed: Any) -> App:
    """Return a panel of the section alone, whose figures are read."""
    app = App(Session(catalog, audit).with_typed("coverage", **typed), ["coverage"])
    app.view()
    app.wait()
    assert not said(app, "notice")
    return app


def blocks(view: Any) -> list[dict[str, Any]]:
    """Return all blocks of a view, also those in others."""
    found = []
    for one in view:
        found += [one, *blocks(one.get("blocks", [])), *blocks(one.get("buttons", []))]
    return found


def block(app: App, key: str) -> dict[str, Any] | None:
    view = app.view()
    return next((one for one in blocks([*view["head"], *view["blocks"]]) if one["key"] == key), None)


def said(app: App, key: str) -> str:
    """Return the words of a sentence; empty if it is not there."""
    return words_of((block(app, key) or {}).get("text", ""))


def words_of(shown: Any) -> str:
    if isinstance(shown, list):
        return "".join(map(words_of, shown))
    return str(shown.get("text", shown.get("gap"))) if isinstance(shown, dict) else str(shown)


def grid(app: App) -> dict[str, Any]:
    found = block(app, "grid")
    assert found is not None
    return found


def row_of(app: App, attribute: str) -> dict[str, Any]:
    """Return the row of an attribute that is shown."""
    (found,) = (one for one in grid(app)["rows"] if one.get("hint", "").split(":")[0] == attribute)
    shown: dict[str, Any] = found
    return shown


def head(app: App, column: str) -> dict[str, Any]:
    """Return the head of a column that is shown."""
    (found,) = (one for one in grid(app)["columns"] if words_of(one["text"]) == column)
    shown: dict[str, Any] = found
    return shown


def cell(app: App, attribute: str, column: str) -> dict[str, Any]:
    """Return a cell that is shown, by its attribute and the text of its head."""
    place = [words_of(one["text"]) for one in grid(app)["columns"]].index(column)
    shown: dict[str, Any] = row_of(app, attribute)["cells"][place]
    return shown


def choose(app: App, **values: Any) -> None:
    """Choose what is counted, as the form of the section does."""
    for name, value in values.items():
        if name == "by":
            app.act("form.set", form="coverage", field="by", value=value)
        else:
            app.act("form.set", form="coverage", field=name, value=value)
    app.wait()


def press(app: App, attribute: str, column: str) -> None:
    """Press a cell, as the script reports it."""
    row, pressed = row_of(app, attribute), cell(app, attribute, column)
    app.act(grid(app)["do"]["cell"], row=row["key"], column=pressed["key"])


def conditions(app: App, selection: Selection) -> None:
    """Have other conditions, as another section sets them."""
    app.change(lambda session: session.filtered(selection))
    app.wait()


def show(app: App, *attributes: str) -> None:
    """Show the rows of these attributes."""
    app.change(lambda session: session.with_part(CoverageState(attributes=attributes)))
    app.wait()


def frame(app: App) -> pd.DataFrame:
    """Return the figures of the whole grid, also of other pages."""
    app.wait()
    found = shown_grid(app.session)
    assert found is not None
    return found.figures.frame()


def consumer_units(catalog: Catalog) -> pd.DataFrame:
    """Return the products that do not say that they are another unit."""
    return catalog.products[[flag is not False for flag in catalog.products["is_consumer_unit"].tolist()]]


#: A consumer unit, one of unknown kind and a case; the first has a brand, and nothing has a name.
UNITS: list[dict[str, Any]] = [
    {"id": 7, "isConsumerUnit": True, "brand": {"code": "ACME"}},
    {"id": 8},
    {"id": 9, "isConsumerUnit": False},
]


@example([{name: one[name] for name in (_NAME, "netContent", "brand") if name in one} for one in CORNERS])
@given(
    st.lists(
        st.fixed_dictionaries(
            {}, optional={name: attributes[name] for name in (_NAME, "netContent", "brand")}
        ),
        max_size=4,
    )
)
def test_filled_columns_are_what_the_states_say(records: list[dict[str, Any]]) -> None:
    """What is read for the grid is what the facet of an attribute says of each product."""
    catalog = prodex.flatten({"id": n + 1, **record} for n, record in enumerate(records))
    filled = FilledColumns.of(catalog, [_NAME, "netContent", "brand"])
    for attribute in (_NAME, "netContent", "brand"):
        for language in (None, "fr", "nl"):
            expected = fill_states(catalog, attribute, language) == 0
            np.testing.assert_array_equal(expected, filled.mask(attribute, language))
            everybody = np.ones(len(catalog), bool)
            assert expected.sum() == filled.counted((attribute, language), everybody).filled


def test_figures_count_consumer_units_unless_others_are_asked_for() -> None:
    """The section says how many, and a choice of all units, or a condition that names some, counts these."""
    app = app_of(prodex.flatten(UNITS))

    def brand() -> tuple[int, int]:
        (row,) = frame(app).query("attribute == 'brand' and language.isna()").to_dict("records")
        return row["filled"], row["products"]

    assert (1, 2) == brand()
    assert "3 products · counted: 2 consumer units, 1 of unknown kind" == said(app, "about")
    choose(app, units="all")
    assert (1, 3) == brand()
    assert "3 products" == said(app, "about")
    choose(app, units="consumer")
    conditions(app, Selection().toggled("unit", "false"))
    assert (0, 1) == brand()
    choose(app, units="pallets")  # no such choice is offered
    conditions(app, Selection())
    assert (1, 2) == brand()


def test_a_press_lists_those_that_were_counted() -> None:
    """The cases stay left out until nothing that was pressed says so any more, and all units list all."""
    app = app_of(prodex.flatten(UNITS))

    def chosen() -> list[str]:
        return app.session.chosen.products["product_id"].tolist()

    press(app, "brand", "any language")
    assert ["8"] == chosen()
    press(app, _NAME, "any language")
    press(app, "brand", "any language")
    assert ["7", "8"] == chosen()
    assert cell(app, _NAME, "any language")["pressed"]
    press(app, _NAME, "any language")
    assert not app.session.conditions
    choose(app, units="all")
    press(app, "brand", "any language")
    assert ["8", "9"] == chosen()


@pytest.mark.slow
def test_figures_by_language_are_those_of_describe(sample: Catalog) -> None:
    """How many products have texts in each language is what the description of the catalogue says."""
    app = app_of(sample)
    described = sample.describe().set_index(["attribute", "language"])["filled"]
    shown = frame(app)
    found = shown.query("state == '' and language.notna()").set_index(["attribute", "language"])
    counted = consumer_units(sample)
    assert set(USUAL) == set(shown["attribute"])
    assert len(found) > 20
    for pair, row in found.iterrows():
        assert (described.get(pair, 0), len(counted)) == (row["filled"], row["products"])
    brands = int(counted["brand_code"].notna().sum())
    words = f"Brand, any language: {brands:,} of {len(counted)} products"
    assert words in cell(app, "brand", "any language")["hint"]


@pytest.mark.slow
@each_row("by", [one for one in GROUPINGS if one != "language"])
def test_figures_by_group_are_counted_by_hand(sample: Catalog, by: str) -> None:
    """Of each group: how many products have a French name."""
    app = app_of(sample)
    choose(app, by=by, language="fr")
    has_name = set(sample.texts.query(f"attribute == {_NAME!r} and language == 'fr'")["product_id"])
    counted = consumer_units(sample)
    products = counted.assign(has=counted["product_id"].isin(has_name))
    code = {"owner": "owner_uuid", "market": "target_market"}.get(by, f"{by}_code")
    expected = products.groupby(products[code].astype(object).fillna("none"))["has"].agg(["sum", "size"])
    shown = frame(app)
    rows = shown.query(f"attribute == {_NAME!r}")
    codes = rows[{"owner": "owner_id", "market": "market"}.get(by, f"{by}_code")].fillna("none")
    assert expected["sum"].to_dict() == dict(zip(codes, rows["filled"], strict=True))
    assert expected["size"].to_dict() == dict(zip(codes, rows["products"], strict=True))
    assert {"fr"} == set(rows["language"])
    assert "Long name · French" == words_of(grid(app)["rows"][2]["text"])


@pytest.mark.slow
@pytest.mark.parametrize("by", GROUPINGS)
def test_what_is_required_is_what_the_audit_says(
    sample: Catalog, audit: prodex.quality.Audit, by: str
) -> None:
    """Of those to which it applies, the figures are those of `Audit.coverage`."""
    app = app_of(sample, audit)
    choose(app, by=by)
    found = frame(app).query("state == ''")
    code = {"language": [], "owner": ["owner_id"], "market": ["market"]}.get(by, [f"{by}_code"])
    keys = ["attribute", "language", *code]

    def figures(shown: pd.DataFrame, of: str) -> dict[Any, tuple[int, int]]:
        names = shown[keys].astype(object).where(shown[keys].notna(), None)
        counts = zip(shown["filled"], shown[of], strict=True)
        return dict(zip(names.itertuples(index=False, name=None), counts, strict=True))

    expected = audit.coverage(by).query("applicable > 0")
    assert figures(expected, "applicable") == figures(found, "products")
    assert len(expected) == len(found) > 5
    assert "not shown, since no product here needs them" in said(app, "about")


def test_a_press_asks_for_the_products_that_lack_it(sample: Catalog) -> None:
    """A cell adds conditions to those that are there, and a second press takes only these back."""
    app = app_of(sample)
    app.act("coverage.cell", row=f" {_NAME}", column="=fr")
    assert {f"fill:{_NAME}:fr": MISSING} == app.session.conditions.groups
    app.act("coverage.row", row=" brand")
    assert {f"fill:{_NAME}:fr", "fill:brand"} == set(app.session.conditions.groups)
    app.act("coverage.row", row=" brand")
    assert {f"fill:{_NAME}:fr": MISSING} == app.session.conditions.groups
    conditions(app, Selection().toggled("unit", "true"))
    choose(app, by="market")
    press(app, "allergens", "Belgium")
    expected = {"unit": ("true",), "fill:allergens": MISSING, "market": ("56",)}
    assert expected == app.session.conditions.groups


def test_a_head_lists_its_group_and_is_taken_back(sample: Catalog) -> None:
    """The head of a group lists its products, the one of a language those with texts in it."""
    app = app_of(sample)
    app.act("coverage.column", column="=nl")
    assert {"language": ("nl",)} == app.session.conditions.groups
    assert head(app, "Dutch")["pressed"]
    app.act("coverage.column", column="=nl")
    assert not app.session.conditions
    choose(app, by="owner")
    found = shown_grid(app.session)
    assert found is not None
    name, code = found.figures.columns[1].label, found.figures.columns[1].code
    app.act("coverage.column", column=head(app, name)["key"])
    assert {"owner": (code,)} == app.session.conditions.groups
    assert [name] == [words_of(one["text"]) for one in grid(app)["columns"][1:]]
    app.act("coverage.column", column="all")
    assert {"owner": (code,)} == app.session.conditions.groups


@pytest.mark.slow
def test_a_required_cell_lists_what_fails(sample: Catalog, audit: prodex.quality.Audit) -> None:
    """Of those to which it applies, a press lists exactly the products that fail the check."""
    app = app_of(sample, audit)
    assert words_of(row_of(app, _NAME)["detail"]).startswith("required: fr, nl")
    press(app, _NAME, "French")
    check = f"required_text[{_NAME},fr]"
    assert [(check,)] == [one.checks for one in app.session.conditions.failing]
    failing = set(audit.failures(check=check)["product_id"]) & set(consumer_units(sample)["product_id"])
    assert failing == set(app.session.chosen.products["product_id"])
    assert said(app, "about").startswith(f"{len(failing)} of 300 products")
    assert "0 %" == words_of(cell(app, _NAME, "French")["text"])
    press(app, _NAME, "French")
    assert not app.session.conditions


def test_figures_are_about_the_products_that_are_chosen(sample: Catalog) -> None:
    """Conditions of any section narrow the figures, and a sentence says to how many of how many."""
    app = app_of(sample)
    assert said(app, "about").startswith("300 products")
    conditions(app, Selection().toggled("market", "56").searching("a"))
    chosen = app.session.chosen
    some = chosen.describe().set_index(["attribute", "language"])["filled"]
    assert said(app, "about").startswith(f"{len(chosen)} of 300 products")
    filled = frame(app).query("attribute == 'nameLegal' and language == 'nl'")["filled"].tolist()
    assert [some["nameLegal", "nl"]] == filled


def test_a_press_opens_the_products_and_is_taken_back_in_place(sample: Catalog) -> None:
    """Among all sections, a press goes to what it lists; whoever comes back takes it back, and stays."""
    app = App(Session(sample))
    app.act("section.open", name="coverage")
    app.view()
    app.wait()
    app.act("coverage.column", column="=nl")
    assert "products" == app.session.section
    speaking = sum("nl" in set(rows) for _, rows in sample.texts.groupby("product_id")["language"])
    assert speaking == len(app.session.chosen)
    app.act("section.open", name="coverage")
    app.wait()
    assert said(app, "about").startswith(f"{speaking} of 300 products")
    app.act("coverage.column", column="=nl")
    assert ("coverage", False) == (app.session.section, bool(app.session.conditions))


def test_what_is_shown_no_longer_is_refused_visibly(sample: Catalog) -> None:
    """A page that was open before may report any cell; one that lists nothing, or is gone, does nothing and says so."""
    app = app_of(sample)
    choose(app, by="kind")
    for do, args in (
        ("coverage.cell", {"row": " brand", "column": "=fr"}),
        ("coverage.cell", {"row": " nothing", "column": "all"}),
        ("coverage.row", {"row": "total"}),
        ("coverage.column", {"column": "=fr"}),
    ):
        app.act(do, **args)
        assert not app.session.conditions
        assert "the grid has changed since" in said(app, "notice"), do
    app.act("form.set", form="coverage", field="by", value="kinds")
    assert "kind" == block(app, "by")["value"]  # type: ignore[index]
    app.act("pages.turn", name="coverage columns", first=10**9)
    assert len(grid(app)["columns"]) > 1


def test_what_was_not_asked_for_says_so() -> None:
    """Words stand where nothing is known, and a part is a part; neither can be pressed into a claim."""
    records = [{"id": 7, "nameLegal": [text("Riz")]}, {"id": 8}]
    origin = Origin("sandbox", ProductQuery(source_include=["nameLegal"], product_languages=["fr"]))
    app = app_of(Catalog(prodex.flatten(records).parts, origin))
    assert ["≥ 50 %", "50 %"] == [
        words_of(cell(app, "nameLegal", one)["text"]) for one in ("any language", "French")
    ]
    assert "asked for in part" in cell(app, "nameLegal", "any language")["say"]
    brand = cell(app, "brand", "any language")
    assert ("not asked for", True, None) == (words_of(brand["text"]), brand["mute"], brand.get("shade"))
    assert "not applicable" == words_of(cell(app, "brand", "French")["text"])
    app.act("coverage.row", row=" brand")
    app.act("coverage.cell", row=" brand", column="all")
    assert not app.session.conditions
    states = frame(app).set_index(["attribute", "language"])["state"]
    assert "not asked for" == states["description", "fr"]


def test_the_worst_come_first_by_choice(sample: Catalog) -> None:
    """Rows and groups are ordered by what is filled, small groups after the others; the whole stays in front."""
    app = app_of(sample)
    choose(app, by="kind", order="worst")
    found = shown_grid(app.session)
    assert found is not None
    figures = found.figures
    whole = figures.shares[:, 0]
    assert all(one <= other for one, other in pairwise(whole))
    large = [
        share for share, one in zip(figures.total_shares, figures.columns, strict=True) if one.products >= 10
    ][1:]
    assert large == sorted(large)
    sizes = [group.products >= 10 for group in figures.columns[1:]]
    assert sizes == sorted(sizes, reverse=True)
    assert "all products" == words_of(grid(app)["columns"][0]["text"])


def test_columns_are_sorted_by_a_row(sample: Catalog) -> None:
    """The lowest first, then the highest, then as they are listed; small groups stay behind, the whole in front."""
    app = app_of(sample)
    choose(app, by="market")

    def shares() -> list[float]:
        found = shown_grid(app.session)
        assert found is not None
        row = next(n for n, one in enumerate(found.figures.rows) if one[0] == "brand")
        shown = zip(found.figures.shares[row, 1:], found.figures.columns[1:], strict=True)
        return [share for share, group in shown if group.products >= 10 and not np.isnan(share)]

    listed = shares()
    assert len(set(listed)) > 2
    app.act("pages.turn", name="coverage columns", first=10)
    app.act("coverage.sort", row=" brand")
    assert sorted(listed) == shares() != listed
    assert "ascending" == row_of(app, "brand")["sort"]
    assert "all" == grid(app)["columns"][0]["key"]
    app.act("coverage.sort", row=" brand")
    assert sorted(listed, reverse=True) == shares()
    assert ("descending", "") == (row_of(app, "brand")["sort"], row_of(app, "kind")["sort"])
    app.act("coverage.sort", row=" brand")
    assert listed == shares()
    app.act("coverage.sort", row=" nothing")  # another page may be behind
    assert listed == shares()


def test_attributes_are_added_and_removed(sample: Catalog) -> None:
    """Any attribute of the catalogue can be added by its path; a slip is refused beside the field, with the nearest."""
    app = app_of(sample)
    app.act("fold.set", key="coverage-attributes", is_open=True)
    app.wait()

    def field() -> dict[str, Any]:
        found = block(app, "coverage-attributes")
        assert found is not None
        one: dict[str, Any] = found["blocks"][0]["fields"][0]
        return one

    assert {"netWeight", "assets.pictures.url"} <= set(field()["suggestions"])

    def add(given: str) -> None:
        app.act("form.set", form="coverage-attributes", field="attribute", value=given)
        app.act("coverage.add")
        app.wait()

    def shown() -> list[str]:
        return [one["args"]["attribute"] for one in block(app, "chosen")["blocks"]]  # type: ignore[index]

    add(" assets.pictures.url ")
    assert ("assets.pictures.url", "") == (shown()[-1], field()["value"])
    assert words_of(cell(app, "assets.pictures.url", "any language")["text"]).endswith("%")
    add("netWieght")
    assert "did you mean" in field()["error"]
    assert "netWieght" == field()["value"]
    assert len(USUAL) + 1 == len(shown())
    add(" ")
    assert "Enter" in field()["error"]

    show(app, "brand", "kind")
    app.act("fold.set", key="coverage-attributes", is_open=True)
    app.act("coverage.remove", attribute="brand")
    assert ["kind"] == shown()
    assert block(app, "chosen")["blocks"][0]["off"]  # type: ignore[index]
    app.act("coverage.remove", attribute="kind")
    app.act("coverage.remove", attribute="nothing")
    assert ["kind"] == shown()
    app.act("coverage.usual")
    assert [*USUAL] == shown()


def test_another_catalogue_and_another_audit(sample: Catalog, audit: prodex.quality.Audit) -> None:
    """The rows follow the audit unless somebody has chosen others, and no figure of another catalogue stays."""
    app = app_of(sample, audit)
    required = frame(app)["attribute"].unique().tolist()
    assert "originCountry" not in required
    other = prodex.flatten([{"id": 7, "brand": {"code": "A"}}])
    app.change(lambda session: session.looking_at(other))
    assert said(app, "about") in {"", "1 product"}, "nothing of the catalogue before"
    app.wait()
    assert [*USUAL] == frame(app)["attribute"].unique().tolist()
    assert said(app, "about").startswith("1 product")
    show(app, "brand")
    app.change(lambda session: session.looking_at(sample, audit))
    app.wait()
    assert ["brand"] == frame(app)["attribute"].unique().tolist()


@pytest.mark.slow
def test_an_audit_counts_what_applies_until_somebody_chooses_otherwise(
    sample: Catalog, audit: prodex.quality.Audit
) -> None:
    """What is required of few products looks empty among all; a choice outlives the next audit."""

    def counts_required(app: App) -> bool:
        found = shown_grid(app.session)
        return found is not None and found.of_required

    assert not counts_required(app_of(sample))
    app = app_of(sample, audit)
    assert counts_required(app)
    choose(app, of_required=False)
    again = prodex.audit(sample, "online-listing", progress=False)
    app.change(lambda session: session.replaced(audit=again))
    app.wait()
    assert not counts_required(app)
    later = app_of(sample)
    later.change(lambda session: session.replaced(audit=audit))
    later.wait()
    assert counts_required(later)


@pytest.mark.slow
def test_no_products_and_one() -> None:
    """An empty catalogue has rows without figures, and one product is one product."""
    none = app_of(prodex.flatten([]))
    assert {"–"} == {words_of(one["text"]) for row in grid(none)["rows"] for one in row["cells"]}
    assert [0] == frame(none)["products"].unique().tolist()
    one = app_of(prodex.flatten([{"id": 7, "nameLegal": [text("Riz")]}]))
    french = cell(one, "nameLegal", "French")
    assert ("100 %", True) == (words_of(french["text"]), french["mute"])
    for by in GROUPINGS:
        for app in (none, one):
            choose(app, by=by)
            assert (len(USUAL) + 1, "") == (len(grid(app)["rows"]), said(app, "notice"))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["language", "kind"])
def test_hundreds_of_columns_are_cut_with_their_number(by: str) -> None:
    """Ten columns are shown, of how many is said, the others are on further pages, and a press keeps the page."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    codes = [f"{a}{b}x{c}" for a in letters for b in letters for c in letters[:3]][:400]
    records = [
        {"id": n, "kind": {"code": code}, "nameLegal": [text("Riz", f"{code}-FR")]}
        for n, code in enumerate(codes)
    ]
    app = app_of(prodex.flatten(records))
    choose(app, by=by)

    def summary() -> str:
        pages = block(app, "columns")
        assert pages is not None
        return words_of(pages["blocks"][0]["text"])

    found = shown_grid(app.session)
    assert found is not None
    number = len(found.figures.columns) - 1
    assert number > 380
    assert f"1 to 10 of {number:,} {by}s" == summary()
    app.act("pages.turn", name="coverage columns", first=10)
    assert (11, f"11 to 20 of {number:,} {by}s") == (len(grid(app)["columns"]), summary())
    choose(app, order="worst")
    assert f"11 to 20 of {number:,} {by}s" == summary()
    assert number * len(USUAL) == len(
        frame(app).query("language.notna()" if by == "language" else "filled >= 0")
    )


def test_long_and_reversed_labels_are_cut_and_closed() -> None:
    """A label of 40,000 characters shows its beginning, an open mark of direction is closed, and keys stay short."""
    labels = [LONG, "\u2067reversed \u202e", "שלום"]
    records = [
        {"id": n, "kind": {"code": label, "label": label}, label[:50]: [text("x")]}
        for n, label in enumerate(labels)
    ]
    app = app_of(prodex.flatten(records))
    choose(app, by="kind")
    show(app, *(label[:50] for label in labels))
    heads = grid(app)["columns"][1:]
    assert 3 == len(heads)
    texts = [words_of(one["text"]) for one in heads]
    assert all(len(one) < 120 for one in texts)
    assert all(len(one["key"]) <= 80 and len(one["hint"]) < 500 for one in heads)
    assert any(one.endswith("\u2069") for one in texts)
    app.act(
        "coverage.column", column=next(one["key"] for one in heads if "characters)" in words_of(one["text"]))
    )
    assert {"kind": (LONG,)} == app.session.conditions.groups


def test_a_snapshot_that_disappears(sample: Catalog) -> None:
    """What was read stays and can be pressed; what would have to be read is refused in words while it is wanted."""
    saved = sample.save("shop")
    app = app_of(saved)
    before = frame(app)
    assert saved.folder is not None
    shutil.rmtree(saved.folder)
    app.change(lambda session: session.with_changed(CoverageState, attributes=(*USUAL, "netWeight")))
    app.wait()
    assert "problem" == block(app, "status")["tone"]  # type: ignore[index]
    assert "is gone" in said(app, "status")
    assert str(saved.folder) in said(app, "status")
    app.act("fold.set", key="coverage-attributes", is_open=True)
    assert "is gone" in said(app, "status"), "as long as it is wanted"
    assert before["filled"].tolist() == frame(app)["filled"].tolist()
    app.act("coverage.usual")
    assert not said(app, "status")
    app.act("coverage.cell", row=" nameLegal", column="all")
    assert {"fill:nameLegal": MISSING} == app.session.conditions.groups


def test_progress_is_said_in_words(sample: Catalog) -> None:
    """Work of a moment is not shown; what takes longer says of how many products it has read the attributes."""
    heard: list[tuple[int, int]] = []
    data = CoverageData.of(Session(sample).filter)
    data.reading(Choice(("brand",)), Selection(), lambda done, total: heard.append((done, total)))
    assert (300, 300) == heard[-1]
    app = App(Session(sample), ["coverage"])
    (want,) = coverage_wants(app.session)
    has_read, go_on = threading.Event(), threading.Event()

    def read(reporter: Reporter) -> CoverageData:
        with reporter.phase("Reading attributes", "products", 300) as show:
            show(100, 300)
            has_read.set()
            go_on.wait(10)
        found: CoverageData = want.do(reporter)
        return found

    app.run(want.slot, read, want.then, key=want.key, title="Reading attributes")
    assert has_read.wait(10)
    assert said(app, "status").startswith("Reading ")
    app._watched(want.slot, 0)
    assert "Reading attributes: 100 of 300 products" in said(app, "status")
    go_on.set()
    app.wait()
    assert not said(app, "status")
    assert grid(app)["rows"]


def test_an_audit_of_other_products_is_unknown(audit: prodex.quality.Audit) -> None:
    """Products that the audit does not cover are neither filled nor missing."""
    other = prodex.flatten([{"id": 10**8, "namePublicLong": [text("Riz")]}])
    assert {"unknown", "not required"} == set(frame(app_of(other, audit))["state"])


def test_languages_that_an_audit_leaves_out_are_named() -> None:
    """An audit that requires French alone: the section says that Dutch is not shown, and how it is shown again."""
    texts = [{"expressedIn": {"code": code}, "data": "Pain"} for code in ("fra-FR", "nld-NL", "deu-DE")]
    records = [{"id": n, "gtin": f"{n:014d}", "namePublicLong": texts} for n in range(5)]
    profile = {"checks": {"required_text": {"attribute": "namePublicLong", "language": "fr"}}}
    catalog = prodex.flatten(records)
    about = said(app_of(catalog, prodex.audit(catalog, profile, progress=False)), "about")
    assert "not shown, since the audit requires nothing in them: " in about
    assert "Dutch" in about
    assert "German" in about
    assert "choose Count: needed or not" in about

"""One condition: built in the explorer, read as a sentence, saved, a scope of a recipe and a check, and a query."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import prodex
from prodex import Selection, operations
from prodex.exploration.saved_views import SavedView, open_view, save_view
from prodex.files.toml_writing import toml_value
from prodex.sandbox import Sandbox
from prodex.selection import Range
from prodex.selection.plain import as_plain
from prodex.selection.request import request_for
from tests.cases import each_row

END_OF_APRIL = datetime(2026, 4, 30, 23, 59, 59, 999999, tzinfo=UTC)
RECORDS = [
    {
        "id": number,
        "gtin": f"{number:013d}"[:13].rjust(14, "0"),
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "updatedAt": f"2026-0{1 + number % 6}-15T08:00:00Z",
        "brand": {"code": "ACME" if number % 2 else "ZEST", "label": "Brand"},
        "hasTags": [{"tag": "old" if number % 3 else "new"}],
        "isTaggedBy": ["old" if number % 3 else "new"],
        "product_key": {"target_market_id": 250 if number % 4 else 56},
        "isConsumerUnit": bool(number % 5),
        "namePublicLong": [
            {
                "expressedIn": {"code": "fra-FR"},
                "data": f"RIZ AU LAIT ENTIER {number}" if number % 7 else "Thé",
            }
        ],
    }
    for number in range(1, 61)
]


def ids(catalog: prodex.Catalog) -> set[str]:
    """Return the ids of the products of a catalogue."""
    return set(catalog.products["product_id"])


def test_one_condition_says_the_same_products_everywhere(tmp_path: Path) -> None:
    """In the explorer, as TOML, as a view, in `where`, a recipe, a profile, the failures of an audit, and a query."""
    catalog = prodex.flatten(RECORDS)
    by_hand = {
        str(one["id"])
        for one in RECORDS
        if one["product_key"]["target_market_id"] == 250  # type: ignore[index]
        and one["hasTags"] != [{"tag": "new"}]
        and (one["brand"]["code"] == "ACME" or "RIZ" not in one["namePublicLong"][0]["data"])  # type: ignore[index]
    }

    explorer = prodex.explore(catalog)
    press = explorer.app.act
    press("facets.toggle", facet="brand", code="ACME")
    press("conditions.either")
    press("search.set", value="thé")
    explorer.wait()
    press("conditions.join")
    press("facets.toggle", facet="market", code="250")
    press("facets.exclude", facet="tag", code="new")
    built, state = explorer.selection, explorer.app.session
    assert by_hand == ids(explorer.catalog)
    marks = dict.fromkeys(map(ord, "\u2068\u2069"))
    said = "market: France; not tag: new; either brand: Brand (ACME), or words: thé"
    assert sorted(said.split("; ")) == sorted(state.chosen_words.translate(marks).split("; "))

    saved = prodex.Selection.read(built.save(tmp_path / "acme.toml"))
    save_view(SavedView("acme", built))
    assert built == saved == open_view("acme").conditions
    assert by_hand == ids(catalog.where(saved))

    recipe = prodex.Recipe(
        [prodex.RecipeStep(operations.ChangeCase("upper"), "namePublicLong")], chosen=saved
    )
    again = prodex.Recipe.read(recipe.save(tmp_path / "recipe.toml"))
    assert built == again.chosen
    steps = prodex.apply_recipe(catalog, again).steps
    assert len(by_hand) == int(steps["changed"].sum() + steps["already_so"].sum())

    only = toml_value(as_plain(saved))
    (tmp_path / "profile.toml").write_text(f'title = "One"\n[checks.names_not_in_capitals]\nonly = {only}\n')
    audit = prodex.audit(catalog, tmp_path / "profile.toml")
    capitals = {str(one["id"]) for one in RECORDS if "RIZ" in one["namePublicLong"][0]["data"]}  # type: ignore[index]
    assert by_hand & capitals == set(audit.failures()["product_id"])
    whole = prodex.audit(catalog, {"checks": {"names_not_in_capitals": {}}})
    assert by_hand & capitals == set(whole.failures(saved)["product_id"])

    with Sandbox(RECORDS) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        loaded = prodex.load_products(service, where=saved, name="acme", progress=False)
    assert by_hand == ids(loaded)
    asked = saved.request()
    assert {"filter_target_market": 250, "filter_tags_not_in": "new"} == asked.query.to_body()
    assert "It cannot filter either brand" in str(asked)
    sent = {
        str(one["id"])
        for one in RECORDS
        if one["product_key"]["target_market_id"] == 250 and one["hasTags"] != [{"tag": "new"}]  # type: ignore[index]
    }
    assert sent == ids(prodex.open_snapshot("acme"))


@each_row(
    "selection",
    [
        Selection.of(market=250),
        Selection.of(target_market=56),
        Selection(groups={"tag": ("new",)}),
        Selection(groups={"market": ("250", "56")}),
        ~Selection(groups={"tag": ("new",)}),
        Selection.of(gtin=["00000000000007", "8", None]),
        Selection.of(gtin=["00000000000007", "8"]),
        Selection(ranges={"updated_at": Range(None, datetime(2026, 3, 15, 8, tzinfo=UTC))}),
        Selection(
            ranges={
                "updated_at": Range(
                    datetime(2026, 3, 15, 8, tzinfo=UTC),
                    END_OF_APRIL,
                )
            }
        ),
        Selection.of(brand_code=prodex.selection.Begins("AC")) & Selection.of(market=250),
        Selection.of(is_consumer_unit=False) | Selection.of(market=56),
        Selection(words="thé"),
        Selection(),
    ],
)
def test_what_a_service_is_asked_is_what_where_would_choose(selection: Selection) -> None:
    """Whether the service can filter it or not."""
    with Sandbox(RECORDS) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        loaded = prodex.load_products(service, where=selection, name="some", progress=False)
    assert ids(prodex.flatten(RECORDS).where(selection)) == ids(loaded)


def test_a_query_keeps_its_own_filters_and_fields() -> None:
    """What both ask for is asked once, and chosen by the selection from what comes."""
    query = prodex.ProductQuery(target_market=250, source_include=["brand", "hasTags", "product_key"])
    asked = request_for(Selection.of(market=56) & Selection(groups={"tag": ("new",)}), query)
    assert (250, ("new",)) == (asked.query.target_market, asked.query.tags_in)
    assert Selection.of(market=56) == asked.rest
    assert asked.query.source_include == query.source_include


def test_what_was_not_asked_for_decides_nothing() -> None:
    """A condition about an attribute that the query leaves out is refused before a call is made."""
    query = prodex.ProductQuery(source_include=["namePublicLong"])
    with pytest.raises(prodex.errors.QueryError, match=r"needs brand\.code, which the query leaves out"):
        request_for(Selection.of(brand_code="ACME"), query)
    with pytest.raises(prodex.errors.QueryError, match="what an audit finds"):
        request_for(Selection(groups={"grade": ("A",)}))


def test_a_query_says_which_products_it_asks_for() -> None:
    """As a selection, from which the same query comes again."""
    query = prodex.ProductQuery(
        target_market=250,
        tags_in=["a"],
        tags_not_in=["b"],
        gtins_in=["7"],
        validation_status_in=[1],
        target_productstatus_in=["REFUSED"],
        status_shared_from="DRAFT",
        owners_in=[4],
        has_packshot=True,
        updated_at_from=0,
    )
    assert query == Selection.of_query(query).request().query
    assert not Selection.of_query(query).request().rest


@each_row(
    "selection",
    [
        Selection(groups={"sharing": ("2", "ODD")}),
        Selection(groups={"packshot": ("yes", "no")}),
        Selection(groups={"status": ("accepted",)}),
        Selection(groups={"owner": ("007",)}),
        Selection(groups={"market": ("²",)}),
        Selection(groups={"tag": ("a,b",)}),
        Selection.of(market=["250", "56"]),
        Selection.of(validation_status=["OK", "ODD"]),
        Selection(ranges={"updated_at": Range(None, END_OF_APRIL)}),
    ],
)
def test_what_a_service_would_take_for_something_else_is_not_asked(selection: Selection) -> None:
    """A filter that says less, more or another thing loses products: it is chosen from what comes."""
    asked = selection.request()
    assert {} == asked.query.to_body()
    assert selection == asked.rest


@each_row(
    ("selection", "query"),
    [
        (Selection(words="riz"), {"product_languages": ["nl"]}),
        (Selection(words="riz"), {"source_include": ["brand"]}),
        (Selection(groups={"fill:namePublicLong:fr": ("empty",)}), {"product_languages": ["nl"]}),
        (Selection(groups={"missing": ("namePublicLong:fr",)}), {"product_languages": ["nl"]}),
        (Selection(groups={"language": ("fr",)}), {"product_languages": ["nl"]}),
    ],
)
def test_texts_that_a_query_leaves_out_decide_nothing(selection: Selection, query: dict[str, object]) -> None:
    """Whether they are there, and what they say, nobody would know."""
    for one in (selection, ~selection, selection | Selection.of(brand_code="ACME")):
        with pytest.raises(prodex.errors.QueryError, match="leaves out"):
            one.request(prodex.ProductQuery(**query))  # type: ignore[arg-type]


@each_row("where", ["", 0, False, "ACME", ["ACME"]])
def test_what_is_no_selection_is_no_load_of_everything(where: object) -> None:
    """It is refused before anything is asked."""
    nowhere = prodex.connect(base_url="http://127.0.0.1:9", client_id="me", client_secret="x")
    with pytest.raises(prodex.errors.InputError, match="where"):
        prodex.load_products(nowhere, where=where)  # type: ignore[arg-type]

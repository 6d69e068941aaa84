"""The table of products without a browser: its rows, order, heads and selection, and what pages ask for too late."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Origin
from prodex.exploration.facets import facet_name
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views import table, table_heads
from prodex.notebook.views.products_left import ids_digest, is_left
from prodex.query import ProductQuery
from prodex.selection import Range, Selection
from tests.cases import each_row


def below(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a view."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from below(one)


def block(app: App, key: str) -> dict[str, Any]:
    return next(one for one in below(app.view()["blocks"]) if one.get("key") == key)


def grid(app: App) -> dict[str, Any]:
    return block(app, "table")


def ids(app: App) -> list[str]:
    return [row["key"] for row in grid(app)["rows"]]


def cells(app: App) -> list[list[str]]:
    return [
        [one["gap"] if isinstance(one, dict) else one for one in row["cells"]] for row in grid(app)["rows"]
    ]


def heads(app: App) -> dict[str, Any]:
    return {one["key"]: one["head"] for one in grid(app)["columns"]}


def summary(app: App) -> str:
    return str(block(app, "summary")["text"])


def notice(app: App) -> str:
    return " ".join(str(one["text"]) for one in below(app.view()["head"]) if one.get("key") == "notice")


def press(app: App, key: str) -> None:
    button = next(one for one in below(app.view()["blocks"]) if one.get("key") == key and "do" in one)
    assert not button.get("off"), button
    app.act(button["do"], **button["args"])


def opened(catalog: prodex.Catalog, audit: prodex.quality.Audit | None = None) -> App:
    app = App(Session(catalog, audit))
    app.view()
    app.wait()
    return app


def of(records: list[dict[str, Any]]) -> App:
    return opened(prodex.flatten([{"id": n} | one for n, one in enumerate(records)]))


@pytest.fixture(scope="module")
def sample() -> prodex.Catalog:
    return prodex.flatten(
        {
            "id": n,
            "gtin": f"{(n * 7919) % 1_000_003:014}",
            "brand": {"code": f"B{n % 9}"},
            "kind": {"code": "K", "label": "Cheese"},
            "lifeCycle": n % 4,
            "isNomadic": n % 2 == 0,
            "updatedAt": f"2026-0{n % 9 + 1}-05T10:00:00",
            "namePublicLong": [
                {"expressedIn": {"code": "fra-FR"}, "data": f"Fromage {n:03}"},
                *([{"expressedIn": {"code": "nld-NL"}, "data": f"Kaas {n:03}"}] if n % 3 else []),
            ],
        }
        for n in range(300)
    )


def test_a_selection_stays_through_pages_filters_and_sorting(sample: prodex.Catalog) -> None:
    """A selection on one page is kept on others, marked when it is shown again, and the first one stays first."""
    app = opened(sample)
    every = sample.products["product_id"].tolist()
    app.act("table.select", product_id=every[2])
    app.act("table.select", product_id=every[0])
    assert ((every[2], every[0]), None) == (app.session.selected, app.session.product_id)
    press(app, "next")
    assert ("51 to 100 of 300 products", []) == (summary(app), grid(app)["selected"])
    app.act("table.select", product_id=every[51])
    press(app, "previous")
    assert [every[0], every[2]] == grid(app)["selected"]

    app.change(lambda session: session.filtered(Selection().toggled("brand", "B1")))
    assert "1 to 34 of 34 products (300 in all)" == f"1 to {len(ids(app))} of 34 products (300 in all)"
    assert 3 == len(app.session.selected)
    app.change(lambda session: session.filtered(Selection()))
    for _ in range(2):
        app.act("table.sort", column="gtin")
    assert sorted(sample.products["gtin"], reverse=True)[:50] == [row[0] for row in cells(app)]

    press(app, "clear")
    assert () == app.session.selected
    app.act("table.sort", column="gtin")
    app.act("table.select", product_id=every[4])
    app.act("table.select", product_id=every[8], through=True)
    assert tuple(every[4:9]) == app.session.selected
    press(app, "clear")
    press(app, "select-page")
    assert tuple(every[:50]) == app.session.selected
    press(app, "select-all")
    assert tuple(every) == app.session.selected


def test_as_many_other_products_are_not_selected() -> None:
    """Of two brands with as many products, all of the one are shown when all of the other are pressed."""
    records = [{"id": n, "brand": {"code": "AB"[n % 2]}} for n in range(200)]
    app = opened(prodex.flatten(records))
    app.change(lambda session: session.filtered(Selection.of(brand_code="A")))
    app.act("form.set", form="table-settings", field="page_size", value=50)
    pressed = block(app, "select-all")
    app.change(lambda session: session.filtered(Selection.of(brand_code="B")))
    assert pressed["label"] == block(app, "select-all")["label"]
    app.act("table.select_all", **pressed["args"])
    assert () == app.session.selected
    assert "other products are shown by now" in notice(app)


def test_what_a_page_asks_for_too_late_is_refused_in_words(sample: prodex.Catalog) -> None:
    """Another catalogue is shown by now, or other products: nothing is opened or selected, and the page says why."""
    app = opened(sample)
    for do, given_ in (
        ("table.open", {"product_id": "999"}),
        ("table.edit", {"product_id": "999"}),
        ("table.select", {"product_id": "999"}),
        ("table.select_page", {"product_ids": ["1", "999"]}),
        ("table.select_all", {"of": ids_digest(["999"])}),
        ("table.sort", {"column": "nonsense"}),
        ("table.pick", {"column": "gtin", "code": "1"}),
        ("table.range", {"column": "brand", "least": 1, "greatest": 2}),
        ("table.range", {"column": "updated_at", "least": "soon", "greatest": "later"}),
        ("form.set", {"form": "table-settings", "field": "page_size", "value": 1_000_000}),
        ("table.turn", {"by": 7}),
    ):
        before = app.session
        app.act(do, **given_)
        assert notice(app), do
        assert (before.selected, before.product_id, before.conditions) == (
            app.session.selected,
            app.session.product_id,
            app.session.conditions,
        )
        app.change(lambda session: session.noting(""))


def test_a_head_sorts_and_a_third_press_restores_the_order(sample: prodex.Catalog) -> None:
    """A head sorts ascending, then descending, then not at all, and says which; each begins at the first page."""
    app = opened(sample)
    first, directions = ids(app), []
    for _ in range(3):
        press(app, "next")
        app.act("table.sort", column="gtin")
        directions.append((grid(app)["columns"][0]["sort"], grid(app)["first"]))
    assert [("ascending", 0), ("descending", 0), ("", 0)] == directions
    assert first == ids(app)


def test_pages_turn_and_the_card_goes_on(sample: prodex.Catalog) -> None:
    """Over the end of a page an open card follows; at the ends nothing happens; a closed card stays closed."""
    app = opened(sample)
    every = sample.products["product_id"].tolist()
    app.act("table.turn", by=-1, follow=True)
    assert (0, None) == (grid(app)["first"], app.session.product_id)
    app.act("table.open", product_id=every[49])
    app.act("table.turn", by=1, follow=True)
    assert (50, every[50], every[50]) == (grid(app)["first"], app.session.product_id, grid(app)["open"])
    app.act("table.turn", by=-1, follow=True)
    assert (0, every[49]) == (grid(app)["first"], app.session.product_id)
    app.act("table.close")
    wish = app.view()["focus"]
    assert ("table", None) == (wish["key"], app.session.product_id)
    app.act("table.close")
    assert wish == app.view()["focus"]

    app.act("form.set", form="table-settings", field="page_size", value=200)
    app.act("pages.turn", name="products", first=250)
    assert (200, 100) == (grid(app)["first"], len(ids(app)))
    app.act("pages.turn", name="products", first=10**9)
    app.act("table.turn", by=1)
    assert 200 == grid(app)["first"]
    app.act("pages.turn", name="products", first=-5)
    assert 0 == grid(app)["first"]


def test_other_products_are_shown_from_their_first_page(sample: prodex.Catalog) -> None:
    """Filtered, or of another catalogue, whatever page was open before; a filter that is taken back does so, too."""
    app = opened(sample)
    press(app, "next")
    app.change(lambda session: session.filtered(Selection().toggled("kind", "K")))
    assert "1 to 50 of 300 products" == summary(app)
    press(app, "next")
    app.change(lambda session: session.looking_at(sample.head(120)))
    app.wait()
    assert "1 to 50 of 120 products" == summary(app)
    app.change(lambda session: session.looking_at(prodex.flatten([{"id": "only"}])))
    assert ("1 product", ["only"]) == (summary(app), ids(app))


def test_a_press_under_a_head_filters_and_again_takes_it_back(sample: prodex.Catalog) -> None:
    """A bar keeps its range, a value its products; counts follow the other conditions, and can be hidden."""
    app = opened(sample)
    assert (None, None) == (heads(app)["gtin"], heads(app)["name"])
    assert 300 == sum(one["count"] for one in heads(app)["texts_count"]["bins"])
    first = heads(app)["brand"]["values"][0]
    app.act("table.pick", column="brand", code=first["code"])
    assert first["count"] == grid(app)["total"]
    assert first | {"chosen": True} == heads(app)["brand"]["values"][0]
    assert first["count"] == sum(one["count"] for one in heads(app)["updated_at"]["bins"])
    app.act("table.pick", column="brand", code=first["code"])
    assert not app.session.conditions

    bins = heads(app)["updated_at"]["bins"]
    for _ in range(2):
        app.act("table.range", column="updated_at", least=bins[1]["least"], greatest=bins[3]["greatest"])
        inside = [place for place, one in enumerate(heads(app)["updated_at"]["bins"]) if one["inside"]]
        if app.session.conditions:
            assert ([1, 2, 3], sum(one["count"] for one in bins[1:4])) == (inside, grid(app)["total"])
    assert ([], 300) == (inside, grid(app)["total"])
    app.act("form.set", form="table-settings", field="heads", value=False)
    assert {None} == set(heads(app).values())


@given(st.lists(st.tuples(st.none() | st.text("abcdeé", max_size=2), st.booleans()), min_size=1, max_size=12))
def test_frequent_values_are_counted(pairs: list[tuple[str | None, bool]]) -> None:
    """The most frequent values with their counts, those without a value at the end; all others are counted, too."""
    app = of([{"targetProductStatus": one, "isNomadic": is_in} for one, is_in in pairs])
    if any(is_in for _, is_in in pairs):
        app.change(lambda session: session.filtered(Selection().toggled("column:is_nomadic", "true")))
    found = table_heads.heads_of(app.session, ["product_status"])["product_status"]
    left = [one for one, is_in in pairs if is_in or not app.session.conditions]
    expected = Counter(one for one in left if one is not None)
    without = left.count(None)
    if without:
        last = found["values"][-1]
        assert ("without status", without, None) == (last["label"], last["count"], last["code"])
    named = found["values"][: -1 if without else None]
    assert sorted(expected.values(), reverse=True)[:3] == [one["count"] for one in named]
    assert len(left) == found["total"]
    others = len(expected) - len(named)
    assert (f"{others} other value{'s' * (others > 1)}" if others else "") == found["note"]


def test_every_column_has_a_head_but_those_that_nothing_shares() -> None:
    """Flags and codes are facets, numbers and dates have bins; each value pressed is what its count says."""
    app = of(
        [
            {"gtin": f"0000000000000{n}", "isNomadic": n > 0, "GPC": {"code": f"1{n % 2}", "label": "Tea"}}
            for n in range(3)
        ]
    )
    columns = ["name", *app.session.catalog.products.columns]
    found = table_heads.heads_of(app.session, columns)
    json.dumps(found, allow_nan=False)
    assert {"name", "product_id", "gtin", "uuid"} == {*columns} - {*found}
    assert [("yes", 2), ("no", 1)] == [(one["label"], one["count"]) for one in found["is_nomadic"]["values"]]
    for column, one in found.items():
        for value in one.get("values", ()):
            app.act("table.pick", column=column, code=value["code"])
            assert value["count"] == grid(app)["total"]
            assert {facet_name(column)} == app.session.conditions.groups.keys()
            app.act("table.pick", column=column, code=value["code"])
            assert not app.session.conditions
        for one_bin in one.get("bins", ()):
            app.act("table.range", column=column, least=one_bin["least"], greatest=one_bin["greatest"])
            assert one_bin["count"] == grid(app)["total"]
            app.change(lambda session: session.filtered(Selection()))


@each_row(
    ("name", "column", "values"),
    [
        ("lifeCycle", "life_cycle", [1, 1, 2, 2**53 - 1, None]),
        (
            "updatedAt",
            "updated_at",
            ["2020-01-01T00:00:00", "2026-08-01T23:59:59", None, "0001-01-01T00:00:00"],
        ),
        ("updatedAt", "updated_at", ["2026-01-01T00:00:00", "2026-01-01T00:00:01"]),
    ],
)
def test_limits_survive_the_way_through_a_page(name: str, column: str, values: list[Any]) -> None:
    """A page sends back what the view has, as JSON: each bar means the products that it counts."""
    app = of([{} if one is None else {name: one} for one in values])
    bins = json.loads(json.dumps(table_heads.heads_of(app.session, [column])[column]["bins"]))
    assert len(values) - values.count(None) == sum(one["count"] for one in bins)
    for one in bins:
        app.act("table.range", column=column, least=one["least"], greatest=one["greatest"])
        assert (one["count"], "") == (grid(app)["total"], notice(app))


def test_a_head_ignores_the_range_of_its_own_column() -> None:
    """What a range excludes stays visible in the head, so that it can be widened."""
    app = of([{"lifeCycle": n} for n in (1, 1, 2, 4)] + [{}])
    bins = table_heads.heads_of(app.session, ["life_cycle"])["life_cycle"]
    assert [("1", 2), ("2", 1), ("3", 0), ("4", 1)] == [(one["label"], one["count"]) for one in bins["bins"]]
    assert "1 product without" == bins["note"]
    app.change(lambda session: session.filtered(Selection().within("life_cycle", Range(2, 4))))
    now = table_heads.heads_of(app.session, ["life_cycle"])["life_cycle"]["bins"]
    assert [(2, False), (1, True), (0, True), (1, True)] == [(one["count"], one["inside"]) for one in now]


def test_bins_of_dates_and_scores_are_in_words() -> None:
    """Days are shown without hours, and scores in per cent."""
    catalog = prodex.flatten([{"id": n, "updatedAt": f"2026-0{n}-05T10:00:00"} for n in range(1, 10)])
    app = opened(catalog, prodex.audit(catalog, "online-listing"))
    assert "from 2026-02-01 to 2026-02-28" == heads(app)["updated_at"]["bins"][1]["label"]
    assert all(one["label"].endswith(" %") for one in heads(app)["score"]["bins"])


def test_what_was_not_requested_says_so() -> None:
    """A column that nobody asked for has no distribution, and no value of it can be pressed."""
    catalog = prodex.flatten([{"id": 7, "brand": {"code": "A"}}])
    origin = Origin("sandbox", ProductQuery(source_include=["brand"]))
    app = opened(prodex.Catalog(catalog.parts, origin))
    found = table_heads.heads_of(app.session, ["kind", "life_cycle"])
    assert [("not asked for", [])] * 2 == [
        (one["note"], one.get("values", []) + one.get("bins", [])) for one in found.values()
    ]
    assert "not asked for" in cells(app)[0]


def test_heads_of_many_products_are_read_after_the_table(
    sample: prodex.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table does not wait for them; what another catalogue needed is not shown."""
    for module in (table, table_heads):
        monkeypatch.setattr(module, "AT_ONCE", 0)
    app = App(Session(sample))
    app.act("fold.set", key="columns", is_open=True)
    assert (50, None) == (len(ids(app)), heads(app)["brand"])
    app.wait()
    assert heads(app)["brand"]["values"]
    assert "nl" in [one["value"] for one in block(app, "table-settings")["fields"][0]["options"]]
    app.change(lambda session: session.looking_at(sample.head(3)))
    app.wait()
    assert 3 == heads(app)["brand"]["total"]


def test_names_are_shown_in_a_language(sample: prodex.Catalog) -> None:
    """A product without a name in the language has none; a catalogue without the language shows the names it has."""
    app = opened(sample)
    app.act("form.set", form="table-settings", field="language", value="nl")
    assert [f"Kaas {n:03}" if n % 3 else "—" for n in range(50)] == [row[1] for row in cells(app)]
    app.act("table.sort", column="name")
    assert "Kaas 001" == cells(app)[0][1]
    french = sample.where(product_id=["0"])
    app.change(lambda session: session.looking_at(french))
    app.wait()
    assert "Fromage 000" == cells(app)[0][1]


def test_a_snapshot_that_disappears_is_said_and_no_other_rows_are_shown(sample: prodex.Catalog) -> None:
    """Rows of another page never stand in for those that cannot be read, and what is in memory goes on working."""
    catalog = sample.save("gone")
    app = opened(catalog)
    assert 50 == len(ids(app))
    shutil.rmtree(catalog.folder or "")
    press(app, "next")
    assert ("51 to 100 of 300 products", []) == (summary(app), ids(app))
    assert "cannot be read" in grid(app)["empty"]
    assert "is gone" in block(app, "table-problem")["text"]["text"]
    assert block(app, "select-page")["off"]
    first = heads(app)["brand"]["values"][0]
    app.act("table.pick", column="brand", code=first["code"])
    assert first["count"] == grid(app)["total"]

    app.change(lambda session: session.looking_at(sample.head(3)))
    assert (3, "") == (len(ids(app)), grid(app)["empty"])


def test_conditions_that_make_no_sense_are_said(sample: prodex.Catalog) -> None:
    """They are an error in words, and the table is back without them."""
    app = opened(sample)
    app.change(lambda session: session.filtered(Selection().toggled("colour", "red")))
    assert "no facet 'colour'" in json.dumps(app.view())
    app.change(lambda session: session.filtered(Selection()))
    assert 50 == len(ids(app))


def test_a_column_of_thousands_of_values_shows_the_first_and_counts_the_others() -> None:
    """2,000 brands of one product each: few are sent to the browser, and none is lost from a count."""
    app = of([{"brand": {"code": f"B{n:04}"}} for n in range(2000)])
    head = heads(app)["brand"]
    assert (3, 2000, "1,997 other values") == (len(head["values"]), head["total"], head["note"])
    app.act("table.pick", column="brand", code="B1999")
    assert [["—", "—", "B1999"]] == [row[:3] for row in cells(app)]
    assert ["B1999"] == [one["label"] for one in heads(app)["brand"]["values"] if one["chosen"]]
    assert 100_000 > len(json.dumps(grid(app)))


@pytest.mark.parametrize(
    "text", ["x" * 40_000, "\u05e9\u05dc\u05d5\u05dd 12 \u05de\u05e8", "<script>=1+1</script>\u2067"]
)
def test_texts_of_suppliers_are_sent_as_they_are_and_short(text: str) -> None:
    """A long text is cut and says so; markup, formulas and directions are text."""
    names = [{"expressedIn": {"code": "heb-IL"}, "data": text}]
    app = of([{"brand": {"code": "B", "label": text}, "namePublicLong": names}, {}])
    shown = text if len(text) < 90 else f"{text[:90]} …(90 of 40,000 characters)"
    assert [shown] * 2 == cells(app)[0][1:3]
    code = heads(app)["brand"]["values"][0]
    assert (text if len(text) < 60 else f"{text[:60]} …(60 of 40,000 characters)") == code["label"]
    app.act("table.pick", column="brand", code=code["code"])
    assert 1 == grid(app)["total"]
    assert 60_000 > len(json.dumps(grid(app)))


@each_row("records", [[], [{"id": 7}], [{}]])
def test_catalogues_of_hardly_anything_are_shown(records: list[dict[str, Any]]) -> None:
    """A catalogue without products and a product without attributes are shown."""
    app = opened(prodex.flatten(records))
    assert (len(records), "" if records else "No products to show.") == (len(ids(app)), grid(app)["empty"])
    assert len(records) == heads(app)["brand"]["total"]
    assert [len(records)] * len(records) == [one["count"] for one in heads(app)["texts_count"]["bins"]]
    json.dumps(app.view(), allow_nan=False)


def test_a_press_sends_little(sample: prodex.Catalog) -> None:
    """Selecting a product sends a mark and not the table, and turning a page less than 60,000 characters."""
    app = opened(sample)
    sent: list[Any] = []
    app.send = lambda message, _: sent.append(message)
    app.hear({"type": "open", "page": "p"})
    sent.clear()
    act = {"type": "act", "page": "p", "revision": 1}
    app.hear(act | {"number": 1, "do": "table.select", "args": {"product_id": "3"}})
    assert 4_000 > len(json.dumps(sent))
    app.hear(act | {"number": 2, "do": "table.turn", "args": {"by": 1}})
    assert 60_000 > len(json.dumps(sent))


def test_where_a_product_is_listed(sample: prodex.Catalog) -> None:
    """On any page, as long as it meets the conditions; of another catalogue it is not."""
    app = opened(sample)
    assert is_left(app.session, "299")
    assert not is_left(app.session, "nobody")
    app.change(lambda session: session.filtered(Selection().toggled("brand", "B1")))
    listed = [one for one in sample.products["product_id"] if is_left(app.session, one)]
    assert np.count_nonzero(app.session.filter.mask(app.session.conditions)) == len(listed)

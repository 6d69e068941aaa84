"""Heads of columns count what a plain walk counts, and a range of bins has the products of these bins."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Origin
from prodex.errors import QueryError
from prodex.exploration.facets import facet_name
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.ranges import MOST, Histograms, edges_of, in_range
from prodex.notebook.products.table_details import ColumnHeads
from prodex.query import ProductQuery
from prodex.selection import Range, Selection
from prodex.selection.plain import as_plain, from_plain
from tests.cases import each_row

whole = st.one_of(st.integers(-3, 3), st.integers(0, 5000), st.integers(-(2**53) + 1, 2**53 - 1))
dates = st.one_of(
    st.datetimes(datetime(2020, 1, 1), datetime(2026, 12, 31)),  # noqa: DTZ001 - as they are sent
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),  # noqa: DTZ001
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 1)),  # noqa: DTZ001
).map(lambda moment: moment.replace(microsecond=0))


def products_with(name: str, values: list[Any]) -> ProductColumns:
    return ProductColumns(prodex.flatten([{"id": n, name: one} for n, one in enumerate(values)]))


def check(products: ProductColumns, column: str, values: list[Any], among: list[bool]) -> None:
    """Compare a histogram with a walk over the values, and its bins with the ranges that they stand for."""
    found = Histograms(products).of(column, np.array(among, bool))
    assert len(found.counts) <= MOST
    assert list(found.edges) == sorted(set(found.edges))
    chosen = [one for one, is_in in zip(values, among, strict=True) if is_in]
    assert found.without == chosen.count(None)
    assert sum(found.counts) == len(chosen) - found.without
    assert sum(found.totals) == len(values) - values.count(None)
    last = len(found.counts) - 1
    for place, count in enumerate(found.counts):
        start, end = found.edges[place], found.edges[place + 1]
        assert count == sum(
            one is not None and start <= one and (one < end or place == last) for one in chosen
        )
        mask = in_range(products, column, found.range(place, place))
        assert count == int((mask & np.array(among, bool)).sum())


@given(st.lists(st.tuples(st.none() | whole, st.booleans()), max_size=40))
@example([(2**53 - 1, True), (1 - 2**53, True)])
@example([(0, True)] * 300 + [(10**6, True)])
def test_whole_numbers_are_counted(pairs: list[tuple[int | None, bool]]) -> None:
    """Every value is in one bin, whichever numbers there are."""
    values = [one for one, _ in pairs]
    check(products_with("lifeCycle", values), "life_cycle", values, [is_in for _, is_in in pairs])


@given(st.lists(st.tuples(st.none() | dates, st.booleans()), max_size=40))
def test_dates_are_counted(pairs: list[tuple[datetime | None, bool]]) -> None:
    """Every date is in one bin, from seconds to millennia."""
    values = [one for one, _ in pairs]
    sent = [None if one is None else one.isoformat() for one in values]
    check(products_with("updatedAt", sent), "updated_at", values, [is_in for _, is_in in pairs])


@given(st.lists(st.floats(0, 1) | st.floats(-1e100, 1e100), min_size=1, max_size=50))
def test_edges_of_numbers_enclose_them(values: list[float]) -> None:
    """No number is outside of the bins, of which there are not too many."""
    edges = edges_of(np.array(values))

    assert len(edges) - 1 <= MOST
    assert edges[0] <= min(values)
    assert max(values) < edges[-1]
    assert (np.diff(edges) > 0).all()


def test_edges_are_round() -> None:
    """Numbers go in steps of 1, 2 or 5, dates by months; what lies far off does not squeeze the rest."""
    assert [0, 1, 2, 3] == edges_of(np.array([0, 2])).tolist()
    months = edges_of(np.array(["2026-01-05T10:00:00", "2026-09-23T10:00:00"], "M8[us]"))
    assert [datetime(2026, n, 1) for n in range(1, 11)] == months.tolist()  # noqa: DTZ001
    far = edges_of(np.array([5] * 300 + list(range(10, 20)) * 30 + [10**6, 0]))
    assert [0, 5, 6, 7] == far.tolist()[:4]
    assert [19, 20, 10**6 + 1] == far.tolist()[-3:]
    assert [0.0, 0.05, 0.1] == edges_of(np.linspace(0, 0.999, 50)).round(9).tolist()[:3]


values_ = st.lists(
    st.tuples(st.sampled_from([None, "", "A", "B", "C", "D", "E", "F"]), st.booleans()), max_size=30
)


def chosen_of(records: list[dict[str, Any]]) -> ProductFilter:
    return ProductFilter(prodex.flatten([{"id": n} | one for n, one in enumerate(records)]))


def head(chosen: ProductFilter, column: str, conditions: Selection) -> dict[str, Any]:
    return ColumnHeads(chosen).of([column], conditions, chosen.narrow(conditions))[column]


@given(values_)
def test_frequent_values_are_counted(pairs: list[tuple[str | None, bool]]) -> None:
    """The most frequent values with their counts, those without a value at the end; all others are counted, too."""
    records = [{"targetProductStatus": one, "isNomadic": is_in} for one, is_in in pairs]
    chosen = chosen_of(records)
    conditions = (
        Selection().toggled("column:is_nomadic", "true") if any(is_in for _, is_in in pairs) else Selection()
    )
    found = head(chosen, "product_status", conditions)
    left = [one for one, is_in in pairs if is_in or not conditions]
    expected = Counter(one for one in left if one is not None)

    *_, last = [None, *found["values"]]
    without = left.count(None)
    if without:
        assert last is not None
        assert ("without status", without) == (last["label"], last["count"])
    named = found["values"][: -1 if without else None]
    assert sorted(expected.values(), reverse=True)[:3] == [one["count"] for one in named]
    assert {one["label"]: one["count"] for one in named}.items() <= {
        one or '""': count for one, count in expected.items()
    }.items()
    assert len(left) == found["total"]
    others = len(expected) - len(named)
    assert (f"{others} other value{'s' * (others > 1)}" if others else "") == found["note"]


def test_every_column_has_a_head_but_those_that_nothing_shares() -> None:
    """Flags and codes are facets, numbers and dates have bins; each value pressed is what its count says."""
    records = [
        {"gtin": f"0000000000000{n}", "isNomadic": n > 0, "GPC": {"code": f"1{n % 2}", "label": "Tea"}}
        for n in range(3)
    ]
    chosen = chosen_of(records)
    heads, everything = ColumnHeads(chosen), Selection()
    columns = ("name", *chosen.products.catalog.products.columns)
    found = heads.of(columns, everything, chosen.narrow(everything))

    assert {"name", "product_id", "gtin", "uuid"} == {*columns} - {*found}
    assert heads.are_read(columns)
    json.dumps(found)
    assert [("yes", 2), ("no", 1)] == [(one["label"], one["count"]) for one in found["is_nomadic"]["values"]]
    assert [("Tea (10)", 2), ("Tea (11)", 1)] == [
        (one["label"], one["count"]) for one in found["gpc"]["values"]
    ]
    for column, one in found.items():
        for value in one.get("values", ()):
            pressed = heads.picking(everything, column, value["key"])
            assert value["count"] == chosen.mask(pressed).sum()
            assert pressed.groups.keys() == {facet_name(column)}
            assert not heads.picking(pressed, column, value["key"])
            [label] = chosen.labels(pressed)
            assert label.endswith(f"\u2068{value['label']}\u2069")
    with pytest.raises(QueryError, match="'brand' holds neither numbers nor dates"):
        Histograms(chosen.products).of("brand", np.ones(3, bool))


def test_what_was_not_requested_says_so() -> None:
    """A column that nobody asked for has no distribution, and no value of it can be pressed."""
    catalog = prodex.flatten([{"id": 7, "brand": {"code": "A"}}])
    origin = Origin("sandbox", ProductQuery(source_include=["brand"]))
    chosen = ProductFilter(prodex.Catalog(catalog.parts, origin))

    assert [("not asked for", [])] * 2 == [
        (one["note"], one.get("values", []) + one.get("bins", []))
        for one in (head(chosen, "kind", Selection()), head(chosen, "life_cycle", Selection()))
    ]


def test_bins_are_pressed() -> None:
    """A bin keeps its values, several bins a range; the same press again removes it; others stay in sight."""
    chosen = chosen_of([{"lifeCycle": n} for n in (1, 1, 2, 4)] + [{}])
    heads, conditions = ColumnHeads(chosen), Selection()
    bins = head(chosen, "life_cycle", conditions)
    assert [("1", 2), ("2", 1), ("3", 0), ("4", 1)] == [(one["label"], one["count"]) for one in bins["bins"]]
    assert "1 product without" == bins["note"]

    narrowed = heads.ranging(conditions, "life_cycle", 1, 3)
    assert [2, 3] == np.flatnonzero(chosen.mask(narrowed)).tolist()
    assert ["life_cycle: 2 to 4"] == chosen.labels(narrowed)
    now = head(chosen, "life_cycle", narrowed)["bins"]
    assert [(2, False), (1, True), (0, True), (1, True)] == [(one["count"], one["inside"]) for one in now]
    assert conditions == heads.ranging(narrowed, "life_cycle", 1, 3)
    assert conditions == from_plain(json.loads(json.dumps(as_plain(narrowed), default=str))).within(
        "life_cycle", Range()
    )


def test_bins_of_dates_and_scores_are_in_words() -> None:
    """Days are shown without hours, and scores in per cent."""
    months = chosen_of([{"updatedAt": f"2026-0{n}-05T10:00:00"} for n in range(1, 10)])
    assert "from 2026-02-01 to 2026-02-28" == head(months, "updated_at", Selection())["bins"][1]["label"]
    zoned = Selection().within("updated_at", Range(datetime(2026, 8, 1, tzinfo=UTC), None))
    marked = [one["inside"] for one in head(months, "updated_at", zoned)["bins"]]
    assert [False] * 7 + [True] * 2 == marked

    catalog = months.products.catalog
    judged = ProductFilter(catalog, prodex.audit(catalog, "online-listing"))
    for one in head(judged, "score", Selection())["bins"]:
        assert one["label"].endswith(" %")


@given(
    st.lists(st.none() | dates, max_size=20),
    st.tuples(st.none() | dates, st.none() | dates),
    st.sampled_from([None, UTC]),
)
def test_ranges_keep_what_is_in_them(
    values: list[datetime | None], limits: tuple[datetime | None, datetime | None], zone: Any
) -> None:
    """Both limits are included, null is in no range, and a date without a zone is in UTC."""
    products = products_with("updatedAt", [None if one is None else one.isoformat() for one in values])
    least, greatest = (None if one is None else one.replace(tzinfo=zone) for one in limits)

    assert [
        one is not None and (limits[0] or one) <= one <= (limits[1] or one) for one in values
    ] == in_range(products, "updated_at", Range(least, greatest)).tolist()


def test_ranges_are_compared_in_utc() -> None:
    """A limit in another zone is the same moment."""
    products = products_with("updatedAt", ["2026-01-01T12:00:00", "2026-01-01T12:00:01"])
    paris = datetime(2026, 1, 1, 13, tzinfo=UTC) + timedelta(0)
    limit = paris.astimezone(datetime.fromisoformat("2026-01-01T13:00:00+01:00").tzinfo).replace(hour=13)

    assert [True, False] == in_range(products, "updated_at", Range(None, limit)).tolist()


@each_row(
    ("column", "limits", "said"),
    [
        ("brand", Range(1, 2), "no range of 'brand'"),
        ("colour", Range(1, 2), "no range of 'colour'"),
        ("updated_at", Range(1, None), "holds dates, and a limit of its range is 1"),
        ("texts_count", Range(None, datetime(2026, 1, 1)), "holds numbers, and a limit"),  # noqa: DTZ001
        ("score", Range(0.5, None), "there is no audit"),
    ],
)
def test_ranges_that_cannot_be_are_said(column: str, limits: Range, said: str) -> None:
    """The message names the column, and what would be right."""
    with pytest.raises(QueryError, match=said):
        ProductFilter(prodex.flatten([{"id": 7}])).narrow(Selection().within(column, limits))


def test_a_head_may_ignore_the_range_of_its_own_column() -> None:
    """What a range excludes stays visible in the head, so that it can be widened."""
    chosen = ProductFilter(
        prodex.flatten([{"id": n, "lifeCycle": n, "brand": {"code": "AB"[n % 2]}} for n in range(6)])
    )
    conditions = Selection().within("life_cycle", Range(4, None)).toggled("brand", "A")
    left = chosen.narrow(conditions)

    assert [4] == np.flatnonzero(left.mask).tolist()
    assert [0, 2, 4] == np.flatnonzero(left.without("life_cycle")).tolist()
    assert [4, 5] == np.flatnonzero(left.without("brand")).tolist()
    assert left.mask is left.without("kind")

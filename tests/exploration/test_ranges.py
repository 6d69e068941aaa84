"""Histograms count what a plain walk counts, and a range of bins has the products of these bins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.errors import QueryError
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.ranges import MOST, Histograms, edges_of, in_range
from prodex.selection import Range, Selection
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

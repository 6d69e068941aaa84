"""Windows: every moment lies in one, however the service reads bounds, and cutting them comes to an end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from prodex.load.windows import Window, first_windows, split, unlisted_requests, window_size
from prodex.query import ProductQuery
from prodex.store.journal_format import Stage
from prodex.tables.records import Identity

NOW = datetime(2026, 11, 20, 8, 0, 0, tzinfo=UTC)

#: How a service may read its two bounds: (from includes its second, to includes its second).
READINGS = [(True, True), (True, False), (False, True), (False, False)]

#: Moments at which products were updated, in UNIX seconds; a service may keep fractions.
moments = st.one_of(
    st.integers(0, int(NOW.timestamp()) + 10**6),
    st.floats(0, NOW.timestamp() + 10**6, allow_nan=False),
)
bounds = st.one_of(st.none(), st.integers(0, int(NOW.timestamp()) + 10**6))


@st.composite
def queries(draw: st.DrawFn) -> ProductQuery:
    """Draw queries with and without bounds of their own, some of them no or one second wide."""
    begin, end = draw(bounds), draw(bounds)
    if begin is not None and draw(st.booleans()):
        end = begin + draw(st.integers(0, 3))
    assume(begin is None or end is None or begin <= end)
    fraction = draw(st.sampled_from([0.0, 0.0, 0.25]))
    return ProductQuery(
        updated_at_from=None if begin is None else datetime.fromtimestamp(begin + fraction, UTC),
        updated_at_to=None if end is None else datetime.fromtimestamp(end + fraction, UTC),
    )


def reader(query: ProductQuery, reading: tuple[bool, bool]) -> Callable[[float], bool]:
    """Return what a service makes of the bounds of a query as they stand on the wire."""
    body = query.to_body()
    begin, end = body.get("updated_at_from"), body.get("updated_at_to")

    def finds(moment: float) -> bool:
        after = begin is None or moment > begin or (reading[0] and moment == begin)
        before = end is None or moment < end or (reading[1] and moment == end)
        return after and before

    return finds


def all_cut(
    windows: Iterable[Window], count: Callable[[Window], int], size: int, most: int = 2_000
) -> list[Window]:
    """Cut windows until nothing is to be cut any more, as a load does."""
    waiting, done = list(windows), []
    while waiting:
        window = waiting.pop()
        pieces = split(window, count(window), size, NOW)
        waiting += pieces
        if not pieces:
            done.append(window)
        assert len(waiting) + len(done) < most, "it does not end"
    return done


@given(
    query=queries(),
    moment=moments,
    near=st.integers(-2, 2),
    reading=st.sampled_from(READINGS),
    total=st.integers(10_000, 10**6),
    edge=st.integers(0, 10**6),
)
@example(ProductQuery(), NOW.timestamp(), 0, (False, False), 50_000, 0)
def test_every_moment_of_a_query_lies_in_a_window(
    query: ProductQuery, moment: float, near: int, reading: tuple[bool, bool], total: int, edge: int
) -> None:
    """Whole seconds and fractions of them, at and around every edge, whether bounds are inclusive or not."""
    firsts = first_windows(query, 0, NOW)
    windows = all_cut(firsts, lambda w: total if w in firsts else 1, 10_000)
    edges = [bound for window in windows for bound in (window.begin, window.end) if bound is not None]
    at = edges[edge % len(edges)] + near if edges else moment
    for one in (moment, at, at + 0.5):
        found = reader(query, reading)(one)
        assert found == any(reader(window.of(query), reading)(one) for window in windows)


@given(query=queries(), total=st.integers(0, 10**7))
def test_the_outer_windows_are_as_open_as_the_query(query: ProductQuery, total: int) -> None:
    """They end where the query does, so that what was updated long ago or is dated ahead is in one."""
    firsts = first_windows(query, 3, NOW)
    whole = Window(Stage.PULL, 3, *(None if b is None else int(b.timestamp()) for b in query_bounds(query)))
    for window, pieces in ((whole, firsts), *((one, split(one, total, 10_000, NOW)) for one in firsts)):
        if pieces:
            assert (window.begin, window.end) == (pieces[0].begin, pieces[-1].end)
            assert {3} == {piece.part for piece in pieces}
            assert all(one.end == (other.begin or 0) + 1 for one, other in pairwise(pieces))
    assert query.updated_at_from == firsts[0].of(query).updated_at_from
    assert query.to_body().get("updated_at_to") == firsts[-1].of(query).to_body().get("updated_at_to")


def query_bounds(query: ProductQuery) -> tuple[datetime | None, datetime | None]:
    """Return the bounds of a query."""
    return query.updated_at_from, query.updated_at_to


@pytest.mark.slow
@given(query=queries(), share=st.floats(0.01, 1), size=st.integers(1, 10_000))
def test_pieces_are_narrower_and_have_names_of_their_own(
    query: ProductQuery, share: float, size: int
) -> None:
    """The journal knows windows by their names, also those that were cut; so cutting never comes back to one."""
    waiting = first_windows(query, 0, NOW)
    names = [Window(Stage.PULL, 0).name, *(window.name for window in waiting)]
    for _ in range(4):
        cuts = [(window, split(window, math.ceil(size * 20 * share), size, NOW)) for window in waiting[:20]]
        for window, pieces in cuts:
            assert all(width(piece) < width(window) for piece in pieces)
        waiting = [piece for _, pieces in cuts for piece in pieces]
        names += [piece.name for piece in waiting]
    assert len(names) == len(set(names))


def width(window: Window) -> float:
    """Return the seconds of a window; of an open one those until now, or since the beginning of time."""
    return (NOW.timestamp() if window.end is None else window.end) - (window.begin or 0)


@given(
    second=st.integers(0, int(NOW.timestamp())),
    crowd=st.sampled_from([10_001, 50_000, 3_000_000]),
    size=st.integers(1_000, 10_000),
)
def test_a_second_with_very_many_products_ends_the_cutting(second: int, crowd: int, size: int) -> None:
    """Products that times cannot separate are fetched by one scroll; everything else is split around them."""
    done = all_cut(
        first_windows(ProductQuery(), 0, NOW),
        lambda window: crowd if (window.begin or 0) <= second <= (window.end or math.inf) else 0,
        size,
        most=50_000,
    )
    crowded = [window for window in done if (window.begin or 0) <= second <= (window.end or math.inf)]
    assert 1 <= len(crowded) <= 2
    assert all(width(window) <= 21 for window in crowded)


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_query_of_a_moment_is_one_window(seconds: int) -> None:
    """However many products it holds."""
    query = ProductQuery(updated_at_from=NOW, updated_at_to=NOW + timedelta(seconds=seconds))
    (window,) = first_windows(query, 0, NOW)
    assert query == window.of(query)
    assert [] == split(window, 50_000, 1_000, NOW)


@given(total=st.integers(0, 10**8), side_by_side=st.integers(1, 64))
def test_a_window_holds_what_a_page_by_offset_could_reach(total: int, side_by_side: int) -> None:
    """Between 1,000 and 10,000 products, and enough windows to go round."""
    size = window_size(total, side_by_side)
    assert 1_000 <= size <= 10_000
    assert size in {1_000, 10_000} or total // size >= 3 * side_by_side


def test_a_control_shares_no_gtin_with_what_it_is_a_control_of() -> None:
    """Of two products with a GTIN a service may return one; where there is no other control, it is one all the same."""
    missing = {"7": Identity("7", gtin="03036811359935")}
    same, other = Identity("8", gtin="3036811359935"), Identity("9", gtin="03091033779527")

    found = [
        unlisted_requests(missing, {one.product_id: one for one in shown})
        for shown in ([same, other], [same])
    ]

    assert [[request["controls"] for request in requests.values()] for requests in found] == [
        [["9"]],
        [["8"]],
    ]

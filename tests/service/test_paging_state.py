"""The paging state depends on the received pages and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.service.paging import SCROLL_FROM, PagingState


@dataclass(frozen=True)
class Seen:
    """One page: its products, how many of them are new, and its envelope."""

    keys: tuple[str | None, ...]
    new: int
    announced: int | None
    next_page: str | None

    def after(self, state: PagingState) -> PagingState:
        """Return the state after this page."""
        return state.after(self.keys, self.new, self.announced, next_page=self.next_page)


def named(first: int, count: int) -> tuple[str | None, ...]:
    """Return the keys of so many products in a row."""
    return tuple(str(number) for number in range(first, first + count))


@st.composite
def beginnings(draw: st.DrawFn) -> PagingState:
    """Draw states before the first page, with offset pages or a scroll."""
    announced = draw(st.one_of(st.none(), st.integers(0, 300), st.integers(SCROLL_FROM - 2, SCROLL_FROM + 2)))
    by_scroll = draw(st.sampled_from([None, True, False]))
    return PagingState.begin(announced, draw(st.one_of(st.none(), st.integers(1, 500))), by_scroll=by_scroll)


def page_for(draw: Any, state: PagingState) -> Seen:
    """Draw any page that a service may answer with, an honest one or not."""
    asked = state.parameters()
    rows = draw(st.one_of(st.just(asked["limit"]), st.integers(0, 2 * int(asked["limit"]))))
    first = draw(st.sampled_from([state.offset, 0, state.rows]))
    return Seen(
        named(first, rows),
        draw(st.one_of(st.just(rows), st.integers(0, rows))),
        draw(st.one_of(st.none(), st.just(state.announced), st.integers(0, 2 * SCROLL_FROM))),
        draw(st.sampled_from(["7", "7", "8", "", None])) if state.by_scroll else None,
    )


@pytest.mark.slow
@given(begin=beginnings(), data=st.data())
def test_replaying_the_pages_restores_the_state(begin: PagingState, data: st.DataObject) -> None:
    """Wherever it was interrupted, the same next page is requested, and the same page is the last one."""
    pages: list[Seen] = []
    state = begin
    while not state.ended and len(pages) < 12:
        pages.append(page_for(data.draw, state))
        state = pages[-1].after(state)
    interrupted = data.draw(st.integers(0, len(pages)))
    again = begin
    for page in pages[:interrupted]:
        assert not again.ended
        again = page.after(again)
    for page in pages[interrupted:]:
        again = page.after(again)
    assert state == again
    assert state.parameters() == again.parameters()


@given(
    held=st.integers(0, 400),
    announced=st.none() | st.integers(0, 400),
    limit=st.integers(1, 60),
    by_scroll=st.booleans(),
    endless=st.booleans(),
)
def test_paging_ends_after_all_products(
    held: int, announced: int | None, limit: int, by_scroll: bool, endless: bool
) -> None:
    """Paging ends whatever the service announces, even if its scroll repeats itself; a total never ends it."""
    state = PagingState.begin(announced, limit, by_scroll=by_scroll)
    seen: set[str | None] = set()
    for _ in range(2 * held + 10):
        if state.ended:
            break
        asked = state.parameters()
        first = int(asked.get("offset", state.rows))
        if by_scroll and endless and held:
            first %= held
        keys = named(first, max(0, min(int(asked["limit"]), held - first)))
        new = len(set(keys) - seen)
        seen.update(keys)
        state = state.after(keys, new, announced, next_page="1" if by_scroll else None)
    assert state.ended
    assert held == state.distinct
    assert not state.moved
    assert (held < (announced or 0)) == (state.distinct < state.most)


@given(total=st.integers(SCROLL_FROM, 2 * SCROLL_FROM), limit=st.integers(20, 500))
def test_pages_by_offset_do_not_reach_past_the_cap(total: int, limit: int) -> None:
    """offset + limit never exceeds 10,000 products (spec, "Pagination rules"), and there may be more."""
    state = PagingState.begin(total, limit, by_scroll=False)
    while not state.ended:
        asked = state.parameters()
        first, count = int(asked["offset"]), int(asked["limit"])
        assert first + count <= SCROLL_FROM
        keys = named(first, count)
        state = state.after(keys, max(0, first + count - state.distinct), total)
    assert SCROLL_FROM == state.distinct
    assert state.capped
    assert (state.distinct < state.most) == (total > SCROLL_FROM)


@given(
    before=st.integers(3, 60),
    limit=st.integers(4, 30),
    leaving=st.integers(0, 3),
    arriving=st.integers(0, 3),
)
def test_products_that_come_or_go_before_a_page_are_noticed(
    before: int, limit: int, leaving: int, arriving: int
) -> None:
    """An offset page repeats the last products of the previous page, or products have moved."""
    state = PagingState.begin(None, limit, by_scroll=False)
    state = state.after(named(0, limit), limit, None)
    shift = leaving - arriving
    first = int(state.parameters()["offset"]) + shift
    state = state.after(named(first, before), before, None)
    assert state.moved == (shift != 0)


def test_a_scroll_is_not_ended_by_a_total_or_products_that_repeat() -> None:
    """A scroll continues after its total fell or was reached, while it has a cursor and new products."""
    state = PagingState.begin(100, 20, by_scroll=True)
    for number in range(9):
        state = state.after(named(15 * number, 20), 15, 60, next_page="same")
        assert not state.ended, number
    assert state.after(named(0, 20), 20, 60).ended
    assert state.after((), 0, 60, next_page="same").ended


def test_pages_without_a_new_product_end_the_paging() -> None:
    """Three such pages in a row end it, not fewer; items that are not products do not count as new."""
    state = PagingState.begin(100, 20, by_scroll=True).after(named(0, 20), 20, 100, next_page="1")
    for keys in (named(0, 20), (None,) * 20, named(0, 20)):
        assert not state.ended
        state = state.after(keys, 0, 100, next_page="1")
    assert (True, True) == (state.ended, state.repeats)

"""A walk is made of the pages it has seen and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.quick import examples

from prodex.service.paging import SCROLL_FROM, PagingState


@dataclass(frozen=True)
class Seen:
    """One page: its products, how many of them are new, and its envelope."""

    keys: tuple[str | None, ...]
    new: int
    announced: int | None
    next_page: str | None

    def after(self, walk: PagingState) -> PagingState:
        """Tell a walk of it."""
        return walk.after(self.keys, self.new, self.announced, next_page=self.next_page)


def named(first: int, count: int) -> tuple[str | None, ...]:
    """Return the keys of so many products in a row."""
    return tuple(str(number) for number in range(first, first + count))


@st.composite
def beginnings(draw: st.DrawFn) -> PagingState:
    """Draw walks that have not begun, by either way."""
    announced = draw(st.one_of(st.none(), st.integers(0, 300), st.integers(SCROLL_FROM - 2, SCROLL_FROM + 2)))
    by_scroll = draw(st.sampled_from([None, True, False]))
    return PagingState.begin(announced, draw(st.one_of(st.none(), st.integers(1, 500))), by_scroll=by_scroll)


def page_for(draw: Any, walk: PagingState) -> Seen:
    """Draw any page that a service may answer with, an honest one or not."""
    asked = walk.parameters()
    rows = draw(st.one_of(st.just(asked["limit"]), st.integers(0, 2 * int(asked["limit"]))))
    first = draw(st.sampled_from([walk.offset, 0, walk.rows]))
    return Seen(
        named(first, rows),
        draw(st.one_of(st.just(rows), st.integers(0, rows))),
        draw(st.one_of(st.none(), st.just(walk.announced), st.integers(0, 2 * SCROLL_FROM))),
        draw(st.sampled_from(["7", "7", "8", "", None])) if walk.by_scroll else None,
    )


@given(begin=beginnings(), data=st.data())
def test_a_walk_told_its_pages_again_is_where_it_was(begin: PagingState, data: st.DataObject) -> None:
    """Wherever it was interrupted, whatever came: it asks for the same next page, and ends at the same page."""
    pages: list[Seen] = []
    walk = begin
    while not walk.ended and len(pages) < 12:
        pages.append(page_for(data.draw, walk))
        walk = pages[-1].after(walk)
    interrupted = data.draw(st.integers(0, len(pages)))
    again = begin
    for page in pages[:interrupted]:
        assert not again.ended
        again = page.after(again)
    for page in pages[interrupted:]:
        again = page.after(again)
    assert walk == again
    assert walk.parameters() == again.parameters()


@given(
    held=st.integers(0, 400),
    announced=st.none() | st.integers(0, 400),
    limit=st.integers(1, 60),
    by_scroll=st.booleans(),
    endless=st.booleans(),
)
def test_a_walk_ends_and_has_seen_what_there_is(
    held: int, announced: int | None, limit: int, by_scroll: bool, endless: bool
) -> None:
    """Whatever the service announces, and even if its scroll goes in circles: a total ends no walk."""
    walk = PagingState.begin(announced, limit, by_scroll=by_scroll)
    seen: set[str | None] = set()
    for _ in range(2 * held + 10):
        if walk.ended:
            break
        asked = walk.parameters()
        first = int(asked.get("offset", walk.rows))
        if by_scroll and endless and held:
            first %= held
        keys = named(first, max(0, min(int(asked["limit"]), held - first)))
        new = len(set(keys) - seen)
        seen.update(keys)
        walk = walk.after(keys, new, announced, next_page="1" if by_scroll else None)
    assert walk.ended
    assert held == walk.distinct
    assert not walk.moved
    assert (held < (announced or 0)) == walk.short


@settings(deadline=None, max_examples=examples(30))
@given(total=st.integers(SCROLL_FROM, 2 * SCROLL_FROM), limit=st.integers(20, 500))
def test_pages_by_offset_do_not_reach_past_the_cap(total: int, limit: int) -> None:
    """offset + limit never exceeds 10,000 products (spec, "Pagination rules"), and there may be more."""
    walk = PagingState.begin(total, limit, by_scroll=False)
    while not walk.ended:
        asked = walk.parameters()
        first, count = int(asked["offset"]), int(asked["limit"])
        assert first + count <= SCROLL_FROM
        keys = named(first, count)
        walk = walk.after(keys, max(0, first + count - walk.distinct), total)
    assert SCROLL_FROM == walk.distinct
    assert walk.capped
    assert walk.short == (total > SCROLL_FROM)


@given(
    before=st.integers(3, 60),
    limit=st.integers(4, 30),
    leaving=st.integers(0, 3),
    arriving=st.integers(0, 3),
)
def test_products_that_come_or_go_before_a_page_are_noticed(
    before: int, limit: int, leaving: int, arriving: int
) -> None:
    """An offset page begins with the last products of the page before, or something moved."""
    walk = PagingState.begin(None, limit, by_scroll=False)
    walk = walk.after(named(0, limit), limit, None)
    shift = leaving - arriving
    first = int(walk.parameters()["offset"]) + shift
    walk = walk.after(named(first, before), before, None)
    assert walk.moved == (shift != 0)


def test_a_scroll_is_not_ended_by_a_total_or_products_that_repeat() -> None:
    """Neither by one that falls nor by one that was reached, as long as there is a cursor and something new comes."""
    walk = PagingState.begin(100, 20, by_scroll=True)
    for number in range(9):
        walk = walk.after(named(15 * number, 20), 15, 60, next_page="same")
        assert not walk.ended, number
    assert walk.after(named(0, 20), 20, 60).ended
    assert walk.after((), 0, 60, next_page="same").ended


def test_a_walk_that_brings_nothing_new_any_more_is_given_up() -> None:
    """After three such pages in a row, not before; items that are no product are nothing new."""
    walk = PagingState.begin(100, 20, by_scroll=True).after(named(0, 20), 20, 100, next_page="1")
    for keys in (named(0, 20), (None,) * 20, named(0, 20)):
        assert not walk.ended
        walk = walk.after(keys, 0, 100, next_page="1")
    assert (True, True) == (walk.ended, walk.repeats)

"""A walk is made of the pages it has seen and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import UnexpectedReply
from prodex.service.walk import SCROLL_FROM, Walk


@dataclass(frozen=True)
class Seen:
    """One page: products, how many of them are new, and its envelope."""

    rows: int
    new: int
    announced: int
    offset: int | None
    next_page: str | None

    def after(self, walk: Walk) -> Walk:
        """Tell a walk of it."""
        return walk.after(self.rows, self.new, self.announced, offset=self.offset, next_page=self.next_page)


@st.composite
def beginnings(draw: st.DrawFn) -> Walk:
    """Draw walks that have not begun, by either way."""
    announced = draw(st.one_of(st.integers(0, 300), st.integers(SCROLL_FROM - 2, SCROLL_FROM + 2)))
    by_scroll = draw(st.sampled_from([None, True, False]))
    return Walk.begin(announced, draw(st.one_of(st.none(), st.integers(1, 500))), by_scroll=by_scroll)


def page_for(draw: Any, walk: Walk) -> Seen:
    """Draw any page that a service may answer with, an honest one or not."""
    asked = walk.asks_for()
    rows = draw(st.one_of(st.just(asked["limit"]), st.integers(0, asked["limit"])))
    return Seen(
        rows,
        draw(st.one_of(st.just(rows), st.integers(0, rows))),
        draw(st.one_of(st.just(walk.announced), st.integers(0, 2 * SCROLL_FROM))),
        draw(st.sampled_from([None, asked["offset"]])) if "offset" in asked else draw(st.integers(0, 9)),
        draw(st.sampled_from(["7", "7", "8", "", None])) if walk.by_scroll else None,
    )


@given(begin=beginnings(), data=st.data())
def test_a_walk_told_its_pages_again_is_where_it_was(begin: Walk, data: st.DataObject) -> None:
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
    assert walk.asks_for() == again.asks_for()


@given(
    held=st.integers(0, 400),
    announced=st.integers(0, 400),
    limit=st.integers(1, 60),
    by_scroll=st.booleans(),
    endless=st.booleans(),
)
def test_a_walk_ends_and_has_seen_what_there_is(
    held: int, announced: int, limit: int, by_scroll: bool, endless: bool
) -> None:
    """Whether the service announces too much, too little or what it has, and even if its scroll goes in circles."""
    walk = Walk.begin(announced, limit, by_scroll=by_scroll)
    for _ in range(2 * (held + announced) // limit + 10):
        if walk.ended:
            break
        asked = walk.asks_for()
        position = walk.rows if not (by_scroll and endless and held) else walk.rows % held
        rows = max(0, min(int(asked["limit"]), held - position))
        new = max(0, min(rows, held - walk.distinct))
        walk = walk.after(
            rows, new, announced, offset=asked.get("offset"), next_page="1" if by_scroll else None
        )
    assert walk.ended
    if held <= announced or not by_scroll:
        assert min(held, announced) <= walk.distinct <= held
    assert (walk.distinct == walk.rows == announced) == (not walk.short)


@given(total=st.integers(SCROLL_FROM, 2 * SCROLL_FROM), limit=st.integers(1, 500))
def test_pages_by_offset_do_not_reach_past_the_cap(total: int, limit: int) -> None:
    """offset + limit never exceeds 10,000 products (spec, "Pagination rules")."""
    walk = Walk.begin(total, limit, by_scroll=False)
    while not walk.ended:
        asked = walk.asks_for()
        assert int(asked["offset"]) + int(asked["limit"]) <= SCROLL_FROM
        walk = walk.after(int(asked["limit"]), int(asked["limit"]), total, offset=int(asked["offset"]))
    assert SCROLL_FROM == walk.distinct
    assert walk.short == (total > SCROLL_FROM)


def test_another_page_than_was_asked_for_is_refused() -> None:
    """At another offset, or with more products than were asked for."""
    walk = Walk.begin(100, 20, by_scroll=False)
    with pytest.raises(UnexpectedReply, match="offset 0 was asked for, and the page at 20 came"):
        walk.after(20, 20, 100, offset=20)
    with pytest.raises(UnexpectedReply, match="20 products were asked for, and 21 came"):
        walk.after(21, 21, 100, offset=0)


def test_a_scroll_is_not_ended_by_a_total_that_falls_or_products_that_repeat() -> None:
    """What was announced once is waited for, as long as there is a cursor and something new comes."""
    walk = Walk.begin(100, 20, by_scroll=True)
    for number in range(5):
        walk = walk.after(20, 15, 60, next_page="same")
        assert not walk.ended, number
    assert walk.after(20, 20, 60).ended
    assert walk.after(0, 0, 60, next_page="same").ended


def test_a_scroll_that_brings_nothing_new_any_more_is_given_up() -> None:
    """After three such pages in a row, not before."""
    walk = Walk.begin(100, 20, by_scroll=True).after(20, 20, 100, next_page="1")
    for number in range(3):
        assert not walk.ended, number
        walk = walk.after(20, 0, 100, next_page="1")
    assert (True, True) == (walk.ended, walk.circles)

"""Pages by offset and by scroll, their limits, and the life of cursors."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, BUTTER, MARKET, SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Behaviour, Sandbox, ScrollEnd
from prodex_sandbox.api.listing import Cursors, Scroll
from prodex_sandbox.api.projection import Projection
from prodex_sandbox.refusals import Refusal

CallerOf = Callable[..., Caller]

#: More than a GET reaches with filter_source_include, in an order of their own.
MANY = [f"{number:014d}" for number in range(4_200)]


class Clock:
    """A clock that moves only when it is set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def many() -> Iterator[Caller]:
    """Call a sandbox of 4,200 products."""
    with Sandbox(({"gtin": gtin} for gtin in MANY), organizations=[SHOP], labels={}) as sandbox:
        caller = Caller(sandbox.base_url).log_in()
        with caller.session:
            yield caller


@contextmanager
def seven(behaviour: Behaviour, clock: Clock | None = None) -> Iterator[Caller]:
    """Call a sandbox of seven products."""
    records = ({"gtin": gtin} for gtin in MANY[:7])
    with Sandbox(
        records, organizations=[SHOP, MARKET], labels={}, behaviour=behaviour, clock=clock or Clock()
    ) as sandbox:
        caller = Caller(sandbox.base_url).log_in()
        with caller.session:
            yield caller


def scroll(caller: Caller, method: str, limit: int, **parameters: Any) -> list[dict[str, Any]]:
    """Follow a scroll until a page is empty or has no cursor."""
    first = {"next_page": ""} if method == "POST" else {}
    pages = [caller.call(method, limit=limit, **first, **parameters)]
    while pages[-1]["data"] and pages[-1].get("next_page"):
        pages.append(caller.call(method, limit=limit, next_page=pages[-1]["next_page"], **parameters))
    return pages


def gtins_of(pages: list[dict[str, Any]]) -> list[str]:
    return [product["gtin"] for page in pages for product in page["data"]]


def test_a_page_holds_20_products_unless_asked_for_more(many: Caller) -> None:
    """A page holds 20 products unless limit says otherwise, and 500 at most."""
    for method in ("GET", "POST"):
        assert MANY[:20] == many.gtins(method)
        assert MANY[:500] == many.gtins(method, limit=500)
        assert MANY[:1] == many.gtins(method, limit=1)


def test_pages_by_offset_follow_each_other(many: Caller) -> None:
    """Pages by offset follow each other without gap or overlap, and say where they begin and how many match."""
    pages = [many.call("POST", limit=500, offset=offset) for offset in range(0, 4_500, 500)]
    assert MANY == gtins_of(pages)
    assert list(range(0, 4_500, 500)) == [page["offset"] for page in pages]
    assert {4_200} == {page["totalResults"] for page in pages}
    assert {"totalResults", "data", "offset"} == pages[0].keys()


def test_an_offset_behind_the_last_product_gives_an_empty_page(many: Caller) -> None:
    """A page after the last product is empty, and its total counts them all."""
    assert {"totalResults": 4_200, "data": [], "offset": 9_980} == many.call("POST", offset=9_980)


def test_offset_pages_end_at_10_000(many: Caller) -> None:
    """offset + limit reaches 10,000 and not one more."""
    assert 200 == many.search(offset=9_500, limit=500).status_code
    reply = many.search(offset=9_501, limit=500)
    assert (400, "result_cap") == (reply.status_code, reply.json()["error"])


def test_a_get_reaches_500_products(many: Caller) -> None:
    """offset + limit of a GET reaches 500 products and not one more."""
    assert MANY[480:500] == many.gtins("GET", offset=480)
    reply = many.get(offset=481)
    assert (400, "result_cap") == (reply.status_code, reply.json()["error"])


def test_a_get_with_source_include_reaches_4_000_products(many: Caller) -> None:
    """offset + limit of a GET with filter_source_include reaches 4,000 products and not one more."""
    assert MANY[3_500:4_000] == many.gtins("GET", offset=3_500, limit=500, filter_source_include="gtin")
    reply = many.get(offset=3_501, limit=500, filter_source_include="gtin")
    assert (400, "result_cap") == (reply.status_code, reply.json()["error"])


def test_a_scroll_by_get_ends_at_500_products_and_counts_them_all(many: Caller) -> None:
    """A scroll by GET ends after 500 products, while totalResults says how many there are."""
    pages = scroll(many, "GET", 150)
    assert MANY[:500] == gtins_of(pages)
    assert {4_200} == {page["totalResults"] for page in pages}


def test_a_scroll_by_get_with_source_include_ends_at_4_000_products(many: Caller) -> None:
    """A scroll by GET with filter_source_include ends after 4,000 products."""
    assert MANY[:4_000] == gtins_of(scroll(many, "GET", 500, filter_source_include="gtin"))


def test_a_scroll_by_post_reaches_every_product(many: Caller) -> None:
    """A scroll by POST reaches every product once, and each page says where it begins."""
    pages = scroll(many, "POST", 500)
    assert MANY == gtins_of(pages)
    assert [*range(0, 4_500, 500), 4_200] == [page["offset"] for page in pages]
    assert {4_200} == {page["totalResults"] for page in pages}


def test_a_get_goes_on_from_where_its_offset_page_ended(many: Caller) -> None:
    """The cursor of a GET with an offset leads to the product after its page."""
    cursor = many.call("GET", offset=40, limit=10)["next_page"]
    envelope = many.call("GET", next_page=cursor, limit=10)
    assert (MANY[50:60], 50) == (gtins_of([envelope]), envelope["offset"])


def test_the_limit_may_change_in_mid_scroll(many: Caller) -> None:
    """A scroll continues without gap or overlap when the limit changes."""
    pages = [many.call("POST", next_page="", limit=3)]
    for limit in (1, 500, 7):
        pages.append(many.call("POST", next_page=pages[-1]["next_page"], limit=limit))
    assert MANY[:511] == gtins_of(pages)
    assert 20 == len(many.call("POST", next_page=pages[-1]["next_page"])["data"])


def test_a_cursor_is_a_string_of_digits_below_2_to_the_63(many: Caller) -> None:
    """A cursor is a string of digits that fits a signed 64-bit integer, and is accepted as either."""
    cursor = many.call("POST", next_page="", limit=2)["next_page"]
    assert isinstance(cursor, str)
    assert cursor.isdigit()
    assert int(cursor) < 2**63
    assert MANY[2:4] == many.gtins("POST", next_page=int(cursor), limit=2)
    assert MANY[2:4] == many.gtins("POST", next_page=cursor, limit=2)


def test_a_scroll_keeps_to_what_its_first_call_asked_for(shop: Caller) -> None:
    """Filters, fields and language of the first call hold for the whole scroll, whatever later calls say."""
    asked = {"filter_source_include": ["gtin", "kind"], "filter_gtins_in": [BREAD, BUTTER]}
    first = shop.call("POST", language="fr", next_page="", limit=1, **asked)
    second = shop.call("POST", next_page=first["next_page"], limit=9, filter_tags_in="nobody")
    assert [{"gtin": BUTTER, "kind": {"code": 530, "label": "Beurre"}}] == second["data"]


def test_cursors_change_by_default_and_each_can_be_used_again() -> None:
    """Where cursors change, each leads to one page: used twice, it gives the same page twice."""
    with seven(Behaviour(cursor_changes=True)) as caller:
        first = caller.call("POST", next_page="", limit=3)["next_page"]
        second = caller.call("POST", next_page=first, limit=3)["next_page"]
        assert first != second
        assert MANY[3:6] == caller.gtins("POST", next_page=first, limit=3)
        assert MANY[6:7] == caller.gtins("POST", next_page=second, limit=3)


def test_cursors_can_stay_equal() -> None:
    """Where the cursor stays equal, every call gives the next page."""
    with seven(Behaviour(cursor_changes=False)) as caller:
        pages = scroll(caller, "POST", 3)
        assert MANY[:7] == gtins_of(pages)
        assert 1 == len({page["next_page"] for page in pages})


@pytest.mark.slow
@each_row("cursor_changes", [True, False])
@each_row("method", ["GET", "POST"])
@each_row(
    ("scroll_end", "last_pages"),
    [
        (ScrollEnd.EMPTY_PAGE, [(1, True), (0, True)]),
        (ScrollEnd.NO_CURSOR, [(3, True), (1, False)]),
        (ScrollEnd.NULL_CURSOR, [(3, True), (1, None)]),
    ],
)
def test_a_scroll_ends_as_set(
    scroll_end: ScrollEnd, last_pages: list[Any], method: str, cursor_changes: bool
) -> None:
    """A scroll ends with an empty page and a cursor, or with a last page whose cursor is absent or null."""
    with seven(Behaviour(scroll_end=scroll_end, cursor_changes=cursor_changes)) as caller:
        pages = scroll(caller, method, 3)
        assert MANY[:7] == gtins_of(pages)
        shown = [
            (len(page["data"]), None if page.get("next_page", "") is None else "next_page" in page)
            for page in pages
        ]
        assert last_pages == shown[-2:]


def test_a_scroll_of_nothing_ends_as_any_other() -> None:
    """A scroll that matches nothing has an empty first page, and no cursor where scrolls end so."""
    with seven(Behaviour(scroll_end=ScrollEnd.NO_CURSOR)) as caller:
        nothing = {"totalResults": 0, "data": [], "offset": 0}
        assert nothing == caller.call("POST", next_page="", filter_gtins_in=["x"])


@pytest.mark.parametrize("cursor_changes", [True, False])
def test_a_cursor_lives_two_minutes_between_calls(cursor_changes: bool) -> None:
    """A cursor is good for two minutes after the call that gave it, and lost a moment later."""
    clock = Clock()
    with seven(Behaviour(cursor_changes=cursor_changes), clock) as caller:
        cursor = caller.call("POST", next_page="", limit=2)["next_page"]
        for page in (MANY[2:4], MANY[4:6]):
            clock.now += 120
            envelope = caller.call("POST", next_page=cursor, limit=2)
            assert page == gtins_of([envelope])
            cursor = envelope["next_page"]
        clock.now += 120.001
        reply = caller.search(next_page=cursor, limit=2)
        assert (410, "cursor_lost") == (reply.status_code, reply.json()["error"])
        assert MANY[:2] == caller.gtins("POST", next_page="", limit=2)


def test_the_life_of_a_cursor_can_be_set() -> None:
    """A cursor lives as long as cursor_lifetime says."""
    clock = Clock()
    with seven(Behaviour(cursor_lifetime=5), clock) as caller:
        cursor = caller.call("GET", limit=2)["next_page"]
        clock.now += 5
        assert 200 == caller.get(next_page=cursor).status_code
        clock.now += 0.001
        assert 410 == caller.get(next_page=cursor).status_code


def scrolls() -> list[Scroll]:
    """Return the lists of scrolls that this process holds; whoever keeps them keeps those of other tests alive."""
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, Scroll)]


@pytest.mark.slow
def test_a_scroll_that_nobody_continues_ends_without_a_further_call() -> None:
    """Its list is given back soon after two minutes; that of a scroll that goes on is kept."""
    clock = Clock()
    # Kept: if those of other tests ended meanwhile, they would be counted as ended here.
    before = scrolls()
    with seven(Behaviour(), clock) as caller:
        caller.call("POST", next_page="", limit=2)
        continued = caller.call("POST", next_page="", limit=2)["next_page"]
        clock.now += 100
        continued = caller.call("POST", next_page=continued, limit=2)["next_page"]
        assert len(before) + 2 == len(scrolls())
        clock.now += 21
        until = time.monotonic() + 20
        while len(scrolls()) > len(before) + 1 and time.monotonic() < until:
            time.sleep(0.1)
        assert len(before) + 1 == len(scrolls())
        assert MANY[4:6] == caller.gtins("POST", next_page=continued, limit=2)


@pytest.mark.parametrize(
    "most", [{"most_cursors": 3}, {"most_keys": 25}], ids=["cursors", "products in lists"]
)
def test_the_memory_of_scrolls_is_limited(most: dict[str, int]) -> None:
    """However many are begun, the oldest are lost, and the newest is kept whatever its length."""
    cursors = Cursors(Behaviour(), Clock(), **most)

    def begin(length: int) -> str:
        scroll = Scroll(1, range(length), length, Projection())
        return str(cursors.open(scroll, 0, 2, lambda part: part).next_page["next_page"])

    begun = [begin(8) for _ in range(6)]
    held = (3, 24)
    assert held == cursors.remembered
    for cursor in begun[:3]:
        with pytest.raises(Refusal, match="start the scroll again"):
            cursors.follow(cursor, 1, 2, lambda part: part)
    assert range(2, 4) == cursors.follow(begun[-1], 1, 2, lambda part: part).keys
    begin(100)
    assert 1 <= cursors.remembered[0] <= 3
    if "most_keys" in most:
        assert (1, 100) == cursors.remembered


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 130)), max_size=30), st.booleans())
def test_what_is_counted_of_scrolls_is_what_is_kept(steps: list[tuple[int, int]], changes: bool) -> None:
    """Whatever is begun, continued and left: after two minutes nothing is kept, and nothing is counted."""
    clock = Clock()
    cursors = Cursors(Behaviour(cursor_changes=changes), clock)
    known: list[str] = []
    for which, seconds in steps:
        clock.now += seconds
        try:
            if which or not known:
                page = cursors.open(Scroll(1, range(3), 3, Projection()), 0, 2, lambda part: part)
            else:
                page = cursors.follow(known.pop(0), 1, 2, lambda part: part)
        except Refusal:
            continue
        known += [cursor for cursor in page.next_page.values() if cursor is not None]
        count, keys = cursors.remembered
        assert (bool(count), 0) == (bool(keys), keys % 3)
        assert keys <= 3 * count
    clock.now += 121
    cursors.forget_expired()
    assert (0, 0) == cursors.remembered


def test_a_cursor_is_of_no_use_to_others(shop: Caller, caller_of: CallerOf) -> None:
    """A cursor of one organisation is lost to another, and stays good for the first."""
    cursor = shop.call("POST", next_page="", limit=1)["next_page"]
    assert 410 == caller_of(MARKET).search(next_page=cursor).status_code
    assert [BUTTER] == shop.gtins("POST", next_page=cursor, limit=1)


def test_counting_first_tells_how_many_will_come(many: Caller) -> None:
    """A call with limit=1 and only the uuid tells totalResults (spec, Pagination rule 3)."""
    envelope = many.call("POST", limit=1, filter_source_include=["uuid"])
    assert (4_200, [{}]) == (envelope["totalResults"], envelope["data"])

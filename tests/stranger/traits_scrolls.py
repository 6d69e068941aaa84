"""Scrolls and offset pages that end, start, order and cut otherwise than the specification lets hope."""

from __future__ import annotations

import random
from typing import Any

from .search import updated, whole
from .switches import declare

ENDS = {
    "empty_page_and_cursor": (
        "cursor",
        "with an empty page that still has a cursor (what this service does anyway)",
    ),
    "empty_page_and_no_cursor": ("absent", "with an empty page that has no cursor"),
    "empty_page_and_null_cursor": ("null", "with an empty page whose cursor is null"),
    "empty_page_and_empty_cursor": ("empty", "with an empty page whose cursor is an empty string"),
    "last_page": ("last", "with the last page that holds products: it has no cursor, even when it is full"),
}
DEATHS: dict[str, int | str] = {
    **{f"with_{status}": status for status in (400, 404, 410, 500)},
    "and_restarts": "restarts",
    "and_sends_nothing": "empty",
}


def _set(**changes: Any) -> Any:
    """An act that gives settings these values; None stands for the trait's own value."""

    def act(settings: Any, value: Any, _call: Any) -> Any:
        for name, fixed in changes.items():
            setattr(settings, name, value if fixed is None else fixed)
        return settings

    return act


def _refuse(reply: Any, _value: Any, call: Any) -> Any:
    content = call.request.content
    if isinstance(content, dict) and "next_page" in content:
        return call.reply({"message": "scrolling is not allowed"}, 400)
    return reply


def _ignore_first(query: Any, _value: Any, _call: Any) -> Any:
    # With an offset in the query, the service pages by offset and gives no cursor, on GET too.
    return {"offset": 0, **query, "next_page": None} if query.get("next_page", "") == "" else query


def _ignore_cursor(query: Any, _value: Any, _call: Any) -> Any:
    return {**query, "next_page": ""} if query.get("next_page") else query


def _cut(page: Any, count: Any, call: Any) -> Any:
    # The records stay behind the page: only what is sent is fewer.
    call.records = call.records[:count]
    return {**page, "data": page["data"][:count]}


def _short_page(query: Any, count: Any, _call: Any) -> Any:
    return {**query, "limit": min(count, whole(query.get("limit") or 20, "limit"))}


def _cap_offset(reply: Any, most: Any, call: Any) -> Any:
    content = call.request.content
    beyond = isinstance(content, dict) and whole(content.get("offset") or 0, "offset") >= most
    return call.reply({"message": f"offset must be below {most}"}, 400) if beyond else reply


def _nothing_beyond(page: Any, most: Any, call: Any) -> Any:
    if page["offset"] < most or "next_page" in page:
        return page
    call.records = []
    return {**page, "data": []}


def _cap_get(page: Any, most: Any, call: Any) -> Any:
    left = max(0, most - page["offset"])
    return page if call.request.method != "GET" or "next_page" in page else _cut(page, left, call)


def _come_and_go(reply: Any, count: Any, call: Any) -> Any:
    stranger = call.stranger
    keys = stranger.ids()
    leaving, newest = keys[:count], max((key for key in keys if isinstance(key, int)), default=0)
    arriving = [{**stranger.products[key], "id": newest + 1 + i} for i, key in enumerate(leaving)]
    for key in leaving:
        stranger.remove(key)
    for record in arriving:
        # A new id and a new GTIN: these are other products, not the old ones come back.
        stranger.put(
            {**record, "gtin": f"9{record['gtin'][1:]}", "uuid": f"{record['uuid'][:-4]}{record['id']}"}
        )
    return reply


def _shuffled(found: Any, _value: Any, call: Any) -> Any:
    mixed = list(found)
    random.Random(call.number).shuffle(mixed)
    return mixed


for _name, (_end, _how) in ENDS.items():
    declare(
        f"scroll_ends_with_{_name}",
        "lie",
        f"A scroll ends {_how}.",
        "setup",
        _set(scroll_end=_end),
        family="end",
    )
declare(
    "cursors_stay_equal",
    "lie",
    "All pages have one cursor; the service counts.",
    "setup",
    _set(cursors_equal=True),
)
declare(
    "cursors_are_numbers",
    "lie",
    "Cursors are JSON numbers.",
    "setup",
    _set(cursor_form="number"),
    family="cursor form",
)
declare(
    "cursors_above_2_53",
    "lie",
    "Cursors are JSON numbers that a float cannot hold.",
    "setup",
    _set(cursor_form="large"),
    family="cursor form",
)
for _name, _death in DEATHS.items():
    declare(
        f"cursor_dies_{_name}",
        "lie",
        f"After some pages the cursor is dead ({_death}).",
        "setup",
        _set(cursor_dies_after=None, cursor_death=_death),
        parameter="pages",
        default=2,
        family="cursor death",
    )
declare(
    "cursor_expires",
    "lie",
    "A cursor is valid for some seconds only.",
    "setup",
    _set(cursor_lifetime=None),
    parameter="seconds",
    default=2.0,
)
declare("scroll_loops", "lie", "After its end a scroll starts again.", "setup", _set(scroll_loops=True))
declare(
    "scroll_page_repeated",
    "lie",
    "One page of a scroll is sent twice.",
    "setup",
    _set(scroll_repeats=None),
    parameter="page",
    default=2,
)
declare(
    "scroll_page_skipped",
    "lie",
    "One page of a scroll is silently left out.",
    "setup",
    _set(scroll_skips=None),
    parameter="page",
    default=2,
)
declare(
    "scroll_empty_page_between",
    "lie",
    "One page of a scroll is empty, and products follow it.",
    "setup",
    _set(scroll_pauses=None),
    parameter="page",
    default=2,
)
declare("scroll_refused", "misunderstanding", "A scroll is refused with 400.", "request", _refuse)
declare(
    "scroll_first_call_ignored",
    "misunderstanding",
    "An empty next_page gives no cursor.",
    "query",
    _ignore_first,
)
declare(
    "scroll_cursor_ignored",
    "misunderstanding",
    "Each cursor leads to the first page.",
    "query",
    _ignore_cursor,
)
declare(
    "limit_ignored",
    "misunderstanding",
    "There are 20 products a page.",
    "query",
    lambda q, _, __: {**q, "limit": 20},
)
declare(
    "limit_capped",
    "misunderstanding",
    "A limit above a number is silently lowered.",
    "setup",
    _set(largest_limit=None),
    parameter="most",
    default=50,
)
declare(
    "short_page",
    "lie",
    "A page holds fewer products than asked, and more follow.",
    "query",
    _short_page,
    parameter="count",
    default=3,
    at=2,
)
declare(
    "offset_ignored",
    "misunderstanding",
    "Each page is the first.",
    "query",
    lambda q, _, __: {**q, "offset": 0},
)
declare(
    "offset_refused_beyond",
    "misunderstanding",
    "An offset from a number on is refused with 400.",
    "request",
    _cap_offset,
    parameter="most",
    default=10000,
)
declare(
    "offset_empty_beyond",
    "lie",
    "From an offset on, pages are empty.",
    "page",
    _nothing_beyond,
    parameter="most",
    default=10000,
)
declare(
    "get_ends_at",
    "misunderstanding",
    "GET by offset shows only so many products in all.",
    "page",
    _cap_get,
    parameter="most",
    default=500,
)
declare(
    "order_by_update",
    "lie",
    "The latest updated come first, so that updates shift pages.",
    "found",
    lambda found, _, __: sorted(found, key=updated, reverse=True),
    family="order",
)
declare("order_random", "lie", "Each call has another order.", "found", _shuffled, family="order")
declare(
    "products_come_and_go",
    "lie",
    "Before a read, some products leave and as many arrive.",
    "request",
    _come_and_go,
    parameter="count",
    default=5,
    at=3,
)
declare(
    "offset_echo_wrong",
    "lie",
    "The envelope's offset is 0.",
    "page",
    lambda page, _, __: {**page, "offset": 0},
)
declare(
    "offset_absent",
    "shape",
    "The envelope has no offset.",
    "form",
    lambda page, _, __: {name: value for name, value in page.items() if name != "offset"},
)

"""What shows that each trait of totals, scrolls, filters and clocks does what it says: expected, then found."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime
from typing import Any

from .catalogue import iso
from .probe import PRODUCTS, Probe
from .search import updated

WITH: dict[str, Any] = {
    "total_capped": 7,
    "cursor_expires": 60,
    "limit_capped": 5,
    "offset_refused_beyond": 10,
    "offset_empty_beyond": 10,
    "get_ends_at": 25,
    "gtins_cut": 2,
    "index_empty": 3,
    "index_in_part": 3,
    "index_growing": 3,
    "products_come_and_go": 5,
}
"""Values that suit a catalogue of 30 products; the other traits keep their own."""

Checks = dict[str, tuple[Any, Any]]


def _owners_by_page(probe: Probe) -> list[set[int]]:
    """The owners of the products on the first two pages of a search for the products of one of them."""
    pages = [probe.page(filter_owners_in="8", limit=5, offset=offset) for offset in (0, 5)]
    return [{item["owner"]["id"] for item in page["data"]} for page in pages]


def _total(probe: Probe) -> Any:
    return probe.page().get("totalResults", "absent")


def _ends(probe: Probe) -> Any:
    """How many products the last page of a scroll holds, and its cursor."""
    last = probe.scroll()[-1].json
    return len(last["data"]), last.get("next_page", "absent")


def _dead(probe: Probe) -> Any:
    """Where a scroll stops, with which status."""
    answers = probe.scroll()
    return len(answers), answers[-1].status


def _cursors(probe: Probe) -> list[Any]:
    return [answer.json["next_page"] for answer in probe.scroll()]


def _expired(probe: Probe) -> list[int]:
    cursor = probe.page(next_page="", limit=5)["next_page"]
    statuses = []
    for seconds in (50, 50, 70):
        probe.stranger.advance(seconds)
        answer = probe.read(next_page=cursor, limit=5)
        statuses.append(answer.status)
        cursor = answer.json.get("next_page")
    return statuses


def _moment(probe: Probe, nth: int = 3) -> int:
    return int(updated(probe.stranger.products[1000 + nth]))


def _window(probe: Probe, add: int = 0) -> int:
    """How many products a window finds that begins and ends at one product's own moment."""
    moment = _moment(probe) + add
    return len(probe.ids(updated_at_from=moment, updated_at_to=moment))


def _gtins(probe: Probe, count: int) -> list[str]:
    return [record["gtin"] for record in list(probe.stranger.products.values())[:count]]


def _included(probe: Probe, *fields: str) -> list[str]:
    answer = probe.read(filter_source_include=list(fields))
    return sorted(answer.json["data"][0]) if answer.status == 200 else [str(answer.status)]


def _hours_off(probe: Probe) -> int:
    date = parsedate_to_datetime(probe.read().headers["date"]).timestamp()
    return round((date - time.time()) / 3600)


def _changed_date(probe: Probe, change: Any) -> bool:
    item = probe.item(2)
    return item["updatedAt"] == change(probe.stranger.products[1001]["updatedAt"])


def _after_update(probe: Probe) -> list[bool]:
    """Whether a product comes first before and after it is updated."""
    found = []
    for _ in range(2):
        found.append(probe.ids()[0] == 1005)
        probe.stranger.put({**probe.stranger.products[1005], "updatedAt": "2026-11-21T00:00:00"})
    return found


CHECKS: Checks = {
    "total_capped": (7, _total),
    "total_zero": (0, _total),
    "total_hundred": (100, _total),
    "total_is_page_size": (20, _total),
    "total_huge": (10**8, _total),
    "total_beyond_64_bits": (2**70, _total),
    "total_absent": ("absent", _total),
    "total_null": (None, _total),
    "total_negative": (-1, _total),
    "total_text": ("30", _total),
    "total_float": (True, lambda probe: b'"totalResults": 30.0,' in probe.read().body),
    "total_object": ({"value": 30}, _total),
    "total_true": (True, lambda probe: _total(probe) is True),
    "total_one_short": (29, _total),
    "total_one_over": (31, _total),
    "total_grows": ([31, 32], lambda probe: [_total(probe), _total(probe)]),
    "total_of_first_call": ([30, 30], lambda p: [_total(p), p.stranger.remove(1000) or _total(p)]),
    "scroll_ends_with_empty_page_and_cursor": ((0, True), lambda p: (_ends(p)[0], _ends(p)[1].isdigit())),
    "scroll_ends_with_empty_page_and_no_cursor": ((0, "absent"), _ends),
    "scroll_ends_with_empty_page_and_null_cursor": ((0, None), _ends),
    "scroll_ends_with_empty_page_and_empty_cursor": ((0, ""), _ends),
    "scroll_ends_with_last_page": ((10, "absent"), _ends),
    "cursors_stay_equal": ((1, [10, 10, 10, 0]), lambda p: (len(set(_cursors(p))), p.sizes())),
    "cursors_are_numbers": ({int}, lambda probe: {type(cursor) for cursor in _cursors(probe)}),
    "cursors_above_2_53": (True, lambda p: all(str(int(float(c))) != str(c) for c in _cursors(p))),
    "cursor_dies_with_400": ((3, 400), _dead),
    "cursor_dies_with_404": ((3, 404), _dead),
    "cursor_dies_with_410": ((3, 410), _dead),
    "cursor_dies_with_500": ((3, 500), _dead),
    "cursor_dies_and_restarts": (
        [1000, 1010, 1000],
        lambda p: [a.json["data"][0]["id"] for a in p.scroll(3)],
    ),
    "cursor_dies_and_sends_nothing": ([10, 10, 0], Probe.sizes),
    "cursor_expires": ([200, 200, 400], _expired),
    "scroll_loops": ([10] * 9, Probe.sizes),
    "scroll_page_repeated": ([10, 10, 10, 10, 0], Probe.sizes),
    "scroll_page_skipped": ([10, 10, 0], Probe.sizes),
    "scroll_empty_page_between": (
        [0, 10],
        lambda p: [
            len((page := p.page(next_page=p.page(next_page="", limit=10)["next_page"], limit=10))["data"]),
            len(p.page(next_page=page["next_page"], limit=10)["data"]),
        ],
    ),
    "scroll_refused": (400, lambda probe: probe.read(next_page="").status),
    "scroll_first_call_ignored": (False, lambda probe: "next_page" in probe.page(next_page="")),
    "scroll_cursor_ignored": ([1000] * 9, lambda p: [a.json["data"][0]["id"] for a in p.scroll()]),
    "limit_ignored": (20, lambda probe: len(probe.page(limit=2)["data"])),
    "limit_capped": (5, lambda probe: len(probe.page(limit=20)["data"])),
    "short_page": (3, lambda probe: len(probe.page(limit=20)["data"])),
    "offset_ignored": (1000, lambda probe: probe.ids(offset=9)[0]),
    "offset_refused_beyond": ([200, 400], lambda p: [p.read(offset=9).status, p.read(offset=10).status]),
    "offset_empty_beyond": ([21, 0], lambda p: [len(p.ids(offset=9)), len(p.ids(offset=10))]),
    "get_ends_at": (5, lambda p: len(p.call("GET", f"{PRODUCTS}?offset=20&limit=20").json["data"])),
    "order_by_update": ([False, True], _after_update),
    "order_random": (False, lambda probe: probe.ids() == probe.ids()),
    "products_come_and_go": ((30, 1005), lambda probe: (len(ids := probe.ids()), ids[0])),
    "offset_echo_wrong": (0, lambda probe: probe.page(offset=9)["offset"]),
    "offset_absent": (False, lambda probe: "offset" in probe.page()),
    "filters_ignored": (30, lambda p: len(p.ids(filter_gtins_in="1", filter_tags_in="x", updated_at_from=1))),
    "unknown_filters_refused": ([400, 200], lambda p: [p.read(colour="red").status, p.read(limit=1).status]),
    "dates_ignored": (30, _window),
    "date_from_ignored": (30, lambda probe: len(probe.ids(updated_at_from=2 * 10**9))),
    "date_to_ignored": (30, lambda probe: len(probe.ids(updated_at_to=1))),
    "dates_read_as_milliseconds": (30, lambda probe: len(probe.ids(updated_at_from=2 * 10**9))),
    "date_from_exclusive": (0, _window),
    "date_to_exclusive": (0, _window),
    "dates_compared_as_local_time": ([0, 1], lambda probe: [_window(probe), _window(probe, -7200)]),
    "gtins_ignored": (30, lambda probe: len(probe.ids(filter_gtins_in="03036811359935"))),
    "gtins_cut": (2, lambda probe: len(probe.ids(filter_gtins_in=_gtins(probe, 4)))),
    "lists_ignored": (
        [30, 4],
        lambda p: [len(p.ids(filter_gtins_in=how(_gtins(p, 4)))) for how in (list, ",".join)],
    ),
    "filter_ignored": (
        (30, 0),
        lambda p: (len(p.ids(filter_tags_in="nobody")), len(p.ids(filter_owners_in="99"))),
    ),
    "filters_on_first_page": ([{8}, {7, 9}], _owners_by_page),
    "index_empty": ([30, 30, 0, 0], lambda p: [p.page()["totalResults"] for _ in range(4)]),
    "index_in_part": ([30, 30, 8, 8], lambda p: [p.page()["totalResults"] for _ in range(4)]),
    "index_growing": ([30, 30, 15, 16, 18], lambda p: [p.page()["totalResults"] for _ in range(5)]),
    "tags_ignored": (30, lambda probe: len(probe.ids(filter_tags_in="nobody"))),
    "search_ignored": (
        30,
        lambda p: len(p.ids(advanced_search={"must": [{"query": "#", "fields": ["kind.label"]}]})),
    ),
    "include_ignored": (True, lambda probe: "brand" in _included(probe, "gtin")),
    "exclude_ignored": (
        True,
        lambda probe: "brand" in probe.page(filter_source_exclude=["brand"])["data"][0],
    ),
    "dotted_paths_refused": (
        [["400"], ["gtin"]],
        lambda p: [_included(p, "brand.code"), _included(p, "gtin")],
    ),
    "dotted_paths_give_gtin_only": (["gtin"], lambda probe: _included(probe, "brand.code", "kind")),
    "languages_ignored": (
        2,
        lambda p: len(p.page(filter_product_languages="fr")["data"][1]["namePublicLong"]),
    ),
    "languages_always_limited": (1, lambda probe: len(probe.item(4)["namePublicLong"])),
    "date_ahead": (5, _hours_off),
    "date_behind": (-5, _hours_off),
    "date_absent": (False, lambda probe: "date" in probe.read().headers),
    "date_garbage": ("soon", lambda probe: probe.read().headers["date"]),
    "date_far": ("Fri, 31 Dec 9999 23:59:59 -1200", lambda probe: probe.read().headers["date"]),
    "updated_in_local_time": (
        True,
        lambda p: p.item(4)["updatedAt"] == iso(_moment(p) + 7200) and _window(p) == 1,
    ),
    "updated_null": (None, lambda probe: probe.item()["updatedAt"]),
    "updated_absent": ([True, False], lambda p: ["updatedAt" in p.item(1), "updatedAt" in p.item(2)]),
    "updated_with_zone": (True, lambda probe: _changed_date(probe, lambda text: text + "Z")),
    "updated_with_fraction": (True, lambda probe: _changed_date(probe, lambda text: text + ".123456")),
    "updated_with_space": (True, lambda probe: _changed_date(probe, lambda text: text.replace("T", " "))),
    "updated_in_seconds": (True, lambda probe: probe.item(4)["updatedAt"] == _moment(probe)),
    "updated_never": ("0000-00-00T00:00:00", lambda probe: probe.item()["updatedAt"]),
    "updated_in_future": ("2999", lambda probe: probe.item()["updatedAt"][:4]),
}
_ONCE = (
    "zero",
    "hundred",
    "is_page_size",
    "huge",
    "beyond_64_bits",
    "absent",
    "null",
    "negative",
    "text",
    "float",
)
CHECKS |= {f"total_{name}_once": CHECKS[f"total_{name}"] for name in _ONCE}

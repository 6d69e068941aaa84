"""Filters that are read in another way than the specification means them."""

from __future__ import annotations

from typing import Any

from .search import FILTERS, whole, words
from .switches import declare

DATES = ("updated_at_from", "updated_at_to")


def _without(*names: str) -> Any:
    return lambda query, _, __: {name: value for name, value in query.items() if name not in names}


def _mapped(names: tuple[str, ...], change: Any) -> Any:
    """An act that changes these filters where they are given."""

    def act(query: Any, value: Any, _call: Any) -> Any:
        given = {name: change(query[name], value) for name in names if query.get(name) not in (None, "")}
        return {**query, **given}

    return act


def _asked(call: Any) -> dict[str, Any]:
    """What a read asks for, as it was sent."""
    content = call.request.content
    return content if isinstance(content, dict) else {}


def _refuse_unknown(reply: Any, _value: Any, call: Any) -> Any:
    known = {*FILTERS, "limit", "offset", "next_page", "filter_source_include", "filter_source_exclude"}
    unknown = set(_asked(call)) - known - {"filter_product_languages"}
    return call.reply({"message": f"unknown filter {min(unknown)}"}, 400) if unknown else reply


def _refuse_dots(reply: Any, _value: Any, call: Any) -> Any:
    include = _asked(call).get("filter_source_include") or ""
    dotted = [path for path in words(include) if "." in path]
    return call.reply({"message": f"unknown field {dotted[0]}"}, 400) if dotted else reply


def _only_gtin(query: Any, _value: Any, _call: Any) -> Any:
    dotted = any("." in path for path in words(query.get("filter_source_include") or ""))
    return {**query, "filter_source_include": "gtin"} if dotted else query


def _forgetting_lists(query: Any, _value: Any, _call: Any) -> Any:
    lists = {name for name, value in query.items() if isinstance(value, list)}
    return {name: value for name, value in query.items() if name not in lists}


declare(
    "filters_ignored",
    "misunderstanding",
    "No filter has any effect.",
    "query",
    _without(*FILTERS, "filter_product_languages"),
)
declare(
    "unknown_filters_refused",
    "misunderstanding",
    "An unknown filter is refused (400).",
    "request",
    _refuse_unknown,
)
declare("dates_ignored", "misunderstanding", "Each window announces everything.", "query", _without(*DATES))
declare(
    "date_from_ignored", "misunderstanding", "Only the end of a window counts.", "query", _without(DATES[0])
)
declare(
    "date_to_ignored", "misunderstanding", "Only the start of a window counts.", "query", _without(DATES[1])
)
declare(
    "dates_read_as_milliseconds",
    "misunderstanding",
    "updated_at_* are read as milliseconds.",
    "query",
    _mapped(DATES, lambda date, _: whole(date, "the date") // 1000),
)
declare(
    "date_from_exclusive",
    "misunderstanding",
    "A product updated at updated_at_from itself is left out.",
    "query",
    _mapped(DATES[:1], lambda date, _: whole(date, "the date") + 1),
)
declare(
    "date_to_exclusive",
    "misunderstanding",
    "A product updated at updated_at_to itself is left out.",
    "query",
    _mapped(DATES[1:], lambda date, _: whole(date, "the date") - 1),
)
declare(
    "dates_compared_as_local_time",
    "misunderstanding",
    "updated_at_* are compared with a clock some hours off.",
    "query",
    _mapped(DATES, lambda date, hours: int(whole(date, "the date") + hours * 3600)),
    parameter="hours",
    default=2,
)
declare(
    "gtins_ignored", "misunderstanding", "filter_gtins_in is ignored.", "query", _without("filter_gtins_in")
)
declare(
    "gtins_cut",
    "misunderstanding",
    "Only the first GTINs of filter_gtins_in count.",
    "query",
    _mapped(("filter_gtins_in",), lambda gtins, most: words(gtins)[:most]),
    parameter="most",
    default=100,
)
declare(
    "lists_ignored",
    "misunderstanding",
    "Filters given as arrays are ignored; only comma-separated text is read.",
    "query",
    _forgetting_lists,
)
declare(
    "tags_ignored",
    "misunderstanding",
    "Tag filters are ignored.",
    "query",
    _without("filter_tags_in", "filter_tags_not_in"),
)
declare(
    "search_ignored", "misunderstanding", "advanced_search is ignored.", "query", _without("advanced_search")
)
declare(
    "include_ignored",
    "misunderstanding",
    "Whole records come back.",
    "query",
    _without("filter_source_include"),
)
declare(
    "exclude_ignored", "misunderstanding", "Nothing is left out.", "query", _without("filter_source_exclude")
)
declare(
    "dotted_paths_refused", "misunderstanding", "A dotted field is refused (400).", "request", _refuse_dots
)
declare(
    "dotted_paths_give_gtin_only", "misunderstanding", "A dotted field gives only GTINs.", "query", _only_gtin
)
declare(
    "languages_ignored",
    "misunderstanding",
    "filter_product_languages is ignored.",
    "query",
    _without("filter_product_languages"),
)
declare(
    "languages_always_limited",
    "misunderstanding",
    "Texts come back in one language only, without being asked.",
    "query",
    lambda query, language, _: {**query, "filter_product_languages": language},
    parameter="language",
    default="en",
)


def _on_first_page(found: Any, _value: Any, call: Any) -> Any:
    """What matches fills the first page, and everything else follows, whether it matches or not."""
    first = found[: whole(_asked(call).get("limit") or 20, "limit")]
    return [*first, *(record for record in call.stranger.products.values() if record not in first)]


declare(
    "filter_ignored",
    "misunderstanding",
    "One filter has no effect.",
    "query",
    lambda query, name, _: {other: value for other, value in query.items() if other != name},
    parameter="name",
    default="filter_tags_in",
)
declare(
    "filters_on_first_page",
    "misunderstanding",
    "Filters hold for the first page only, and all other products follow it.",
    "found",
    _on_first_page,
)

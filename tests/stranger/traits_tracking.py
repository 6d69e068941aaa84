"""Tracking that says little, late, or something else than the import that was asked for."""

from __future__ import annotations

from typing import Any

from .endpoints import UNKNOWN_CALLER
from .switches import declare


def _track(name: str, sentence: str, act: Any, stage: str = "page", **more: Any) -> None:
    declare(f"tracking_{name}", "write", sentence, stage, act, route="tracking", **more)


def _polls(call: Any) -> int:
    """How often this one import was asked for, this time included."""
    asked = call.stranger.memory.setdefault("polls", {}).setdefault(call.request.path, set())
    # Several traits may ask during one call; a set of call numbers counts it once.
    asked.add(call.number)
    return len(asked)


def _for_polls(make: Any) -> Any:
    """An act that replaces the answer to the first polls of each import."""
    return lambda reply, polls, call: make(call) if _polls(call) <= polls else reply


def _fail(status: int) -> Any:
    return lambda call: call.reply({"message": f"made-up failure {status}"}, status)


def _change(**changes: Any) -> Any:
    return lambda page, _, __: {**page, **changes}


def _without(name: str) -> Any:
    return lambda page, _, __: {key: value for key, value in page.items() if key != name}


def _word(change: Any) -> Any:
    """An act that changes the status of imports that have ended."""

    def act(page: Any, value: Any, _call: Any) -> Any:
        return (
            page
            if page.get("status") in {None, "IN_PROGRESS"}
            else {**page, "status": change(page["status"], value)}
        )

    return act


def _products(change: Any) -> Any:
    return lambda page, _, __: {**page, "products": [change(one) for one in page.get("products") or []]}


def _one_fails(reply: Any, number: Any, call: Any) -> Any:
    return _fail(500)(call) if call.request.path.endswith(f"/{number}") else reply


def _unauthorized(_reply: Any, _value: Any, call: Any) -> Any:
    call.stranger.access.forget()
    return call.reply(UNKNOWN_CALLER, 401)


def _another(page: Any, _value: Any, _call: Any) -> Any:
    others = [{"gtin": "03036811359935", "status": "SUCCESS", "message": ""}]
    return {**page, "tracking": page["tracking"] + 1000, "products": others, "count": 1}


def _mixed(page: Any, _value: Any, _call: Any) -> Any:
    """One product failed while the import as a whole claims success."""
    products = [
        {**one, "status": "ERROR", "message": "unknown kind"} for one in (page.get("products") or [])[:1]
    ]
    return {**page, "status": "SUCCESS", "products": products + page["products"][1:]} if products else page


_track(
    "404_first",
    "The first polls of an import answer 404.",
    _for_polls(_fail(404)),
    "request",
    parameter="polls",
    default=2,
)
_track(
    "empty_first",
    "The first polls answer {}.",
    _for_polls(lambda call: call.reply({})),
    "request",
    parameter="polls",
    default=2,
)
_track(
    "503_first",
    "The first polls answer 503.",
    _for_polls(_fail(503)),
    "request",
    parameter="polls",
    default=2,
)
_track(
    "500_for_one",
    "One import's tracking answers 500 for ever.",
    _one_fails,
    "request",
    parameter="tracking",
    default=7,
)
_track("401", "The token is refused in between.", _unauthorized, "request", at=1)
_track(
    "never_ends",
    "Imports stay IN_PROGRESS for ever.",
    _change(status="IN_PROGRESS", products=[]),
    family="status",
)
_track(
    "status_unknown",
    "The status is a word outside the six.",
    _word(lambda _, word: word),
    parameter="word",
    default="DONE",
    family="status",
)
_track(
    "status_queued", "The status is QUEUED for ever.", _change(status="QUEUED", products=[]), family="status"
)
_track(
    "status_lower_case", "The status is in lower case.", _word(lambda word, _: word.lower()), family="status"
)
_track("status_missing", "There is no status.", _without("status"), family="status")
_track("status_null", "The status is null.", _change(status=None), family="status")
_track("status_timeout", "Imports end with TIMEOUT.", _word(lambda *_: "TIMEOUT"), family="status")
_track("status_error", "Imports end with ERROR, message empty.", _word(lambda *_: "ERROR"), family="status")
_track("products_null", "products is null.", _change(products=None), family="products")
_track("products_missing", "There is no products.", _without("products"), family="products")
_track("products_empty", "products is empty, though all went well.", _change(products=[]), family="products")
_track(
    "products_gtins_of_13",
    "GTINs have 13 digits.",
    _products(lambda one: {**one, "gtin": one["gtin"][1:]}),
    family="products",
)
_track(
    "products_gtins_as_numbers",
    "GTINs are numbers.",
    _products(lambda one: {**one, "gtin": int(one["gtin"] or 0)}),
    family="products",
)
_track(
    "products_lower_case",
    "Statuses of products are in lower case.",
    _products(lambda one: {**one, "status": one["status"].lower()}),
    family="products",
)
_track(
    "products_without_status",
    "Products have no status.",
    _products(lambda one: {"gtin": one["gtin"]}),
    family="products",
)
_track(
    "products_null_items",
    "products holds a null.",
    lambda page, _, __: {**page, "products": [None, *(page.get("products") or [])]},
    family="products",
)
_track(
    "products_short",
    "One product has no outcome.",
    lambda page, _, __: {**page, "products": (page.get("products") or [])[1:]},
    family="products",
)
_track("products_disagree", "A product failed though the import says SUCCESS.", _mixed, family="products")
_track(
    "count_differs",
    "count is one too many.",
    lambda page, _, __: {**page, "count": page.get("count", 0) + 1},
    family="count",
)
_track("count_missing", "There is no count.", _without("count"), family="count")
_track("of_another", "The record is another import's.", _another)
_track("number_text", "tracking is a text.", lambda page, _, __: {**page, "tracking": str(page["tracking"])})
_track(
    "in_list",
    "The record is in a list of one.",
    lambda page, _, __: [page],
    "form",
    family="tracking envelope",
)
_track(
    "in_data",
    "The record is inside data.",
    lambda page, _, __: {"data": page},
    "form",
    family="tracking envelope",
)

"""Totals that are not the number of products: ``totalResults`` is a claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .switches import declare, once


def _total(compute: Callable[[int, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def act(page: Any, value: Any, call: Any) -> Any:
        # Another trait may have taken the number away already.
        total = page.get("totalResults")
        known = total if isinstance(total, int) else len(call.records)
        return {**page, "totalResults": compute(known, value, call)}

    return act


def _declare(name: str, sentence: str, compute: Callable[[int, Any, Any], Any], **more: Any) -> None:
    declare(name, "lie", sentence, "page", _total(compute), family="total", **more)


def _as_at_first(total: int, _value: Any, call: Any) -> int:
    return call.stranger.memory.setdefault("first_total", total)


def _without(page: Any, _value: Any, _call: Any) -> Any:
    return {name: value for name, value in page.items() if name != "totalResults"}


_declare(
    "total_capped",
    "The total is never above a number, whatever there is.",
    lambda total, most, _: min(total, most),
    parameter="most",
    default=10000,
)
_declare("total_zero", "The total is 0.", lambda *_: 0)
_declare("total_hundred", "The total is 100.", lambda *_: 100)
_declare(
    "total_is_page_size",
    "The total is the number of products on the page.",
    lambda _, __, call: len(call.records),
)
_declare("total_huge", "The total is 10**8.", lambda *_: 10**8)
_declare("total_beyond_64_bits", "The total is 2**70.", lambda *_: 2**70)
_declare("total_null", "The total is null.", lambda *_: None)
_declare("total_negative", "The total is -1.", lambda *_: -1)
_declare("total_text", "The total is a text of digits.", lambda total, *_: str(total))
_declare("total_float", "The total is a number with .0 at the end.", lambda total, *_: float(total))
_declare("total_object", "The total is an object as of search engines.", lambda total, *_: {"value": total})
_declare("total_true", "The total is the boolean true.", lambda *_: True)
_declare("total_one_short", "The total is one less than there are.", lambda total, *_: max(0, total - 1))
_declare("total_one_over", "The total is one more than there are.", lambda total, *_: total + 1)
_declare("total_grows", "The total grows by one at each read.", lambda total, _, call: total + call.number)
_declare("total_of_first_call", "The total of the first read is repeated for ever.", _as_at_first)
declare("total_absent", "lie", "There is no total.", "form", _without, family="total")

for _name in (
    "zero",
    "hundred",
    "is_page_size",
    "huge",
    "beyond_64_bits",
    "absent",
    "null",
    "negative",
    "text",
):
    once(f"total_{_name}")
once("total_float")

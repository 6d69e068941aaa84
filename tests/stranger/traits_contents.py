"""One bad product: the same record is broken in each page that holds it, the others are sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .switches import declare


def _one(change: Any) -> Any:
    """An act that replaces the item of the marked product by a list of items.

    The marked product is the nth of the catalogue in order of id; the parameter counts from 1.
    """

    def act(page: Any, nth: Any, call: Any) -> Any:
        keys = call.stranger.ids()[nth - 1 : nth]
        marked = [i for i, record in enumerate(call.records) if record["id"] in keys]
        if not marked or not isinstance(page.get("data"), list) or marked[0] >= len(page["data"]):
            return page
        items = list(page["data"])
        item = items[marked[0]] if isinstance(items[marked[0]], dict) else {}
        changed = change(dict(item), call)
        items[marked[0] : marked[0] + 1] = changed
        # The records behind the page stay in step, so that several of these traits find the same item.
        record = call.records[marked[0]]
        call.records = [*call.records[: marked[0]], *[record] * len(changed), *call.records[marked[0] + 1 :]]
        return {**page, "data": items}

    return act


def _with(name: str, value: Any) -> Any:
    """A change that sets one attribute; a function is called with the item and the call."""
    return lambda item, call: [{**item, name: value(item, call) if callable(value) else value}]


def _gtin(change: Callable[[str], Any]) -> Any:
    """A change of the gtin, where there is one."""
    return lambda item, _: [{**item, "gtin": change(item["gtin"])}] if item.get("gtin") else [item]


def _raw(text: str) -> Any:
    return lambda _, call: call.raw(text)


def _without(name: str) -> Any:
    return lambda item, _: [{key: value for key, value in item.items() if key != name}]


def _bad(name: str, sentence: str, change: Any, **more: Any) -> None:
    declare(f"product_{name}", "fault", sentence, "page", _one(change), parameter="nth", default=2, **more)


def _nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def _item(data: Any) -> list[Any]:
    return [{"expressedIn": {"code": "eng-GB", "normalizedCode": "en"}, "data": data}]


_bad("null_before", "A null stands before a product.", lambda item, _: [None, item])
_bad("is_null", "A product is null.", lambda *_: [None])
_bad("is_text", "A product is a text.", lambda *_: ["product"])
_bad("is_number", "A product is a number.", lambda *_: [7])
_bad("is_list", "A product is a list.", lambda item, _: [[item]])
_bad("is_empty", "A product is {}.", lambda *_: [{}])
_bad("twice", "A product is on the page twice.", lambda item, _: [item, item])
_bad(
    "twice_differing",
    "A product is on the page twice, with two dates.",
    lambda item, _: [item, {**item, "updatedAt": "2026-11-02T00:00:00"}],
)
_bad(
    "and_another_with_its_id",
    "Another product has the id of a product.",
    lambda item, _: [item, {**item, "gtin": "03663215000110", "uuid": "another"}],
)
_bad(
    "and_another_with_its_gtin",
    "A product and one for another market have the same GTIN, and neither has an id or a uuid.",
    lambda item, _: [
        {name: value for name, value in one.items() if name not in {"id", "uuid"}}
        for one in (
            item,
            {**item, "updatedAt": "2026-10-01T00:00:00", "product_key": {"target_market_id": 40}},
        )
    ],
)
_bad("with_nan", "An attribute is NaN.", _with("lifeCycle", _raw("NaN")))
_bad("with_infinity", "An attribute is Infinity.", _with("lifeCycle", _raw("-Infinity")))
_bad(
    "with_lone_surrogate",
    "A text holds an escaped lone surrogate.",
    _with("namePublicLong", lambda _, call: _item(call.raw('"a\\ud800b"'))),
)
_bad("with_nul", "A text holds U+0000.", _with("namePublicLong", lambda *_: _item("a\0b")))
_bad(
    "with_controls",
    "A text holds control characters and escape sequences.",
    _with("namePublicLong", lambda *_: _item("\x1b[31m\x07\r\n\u2028\u202ex")),
)
_bad(
    "with_html",
    "A text holds a script.",
    _with("namePublicLong", lambda *_: _item("<script>alert(1)</script>")),
)
_bad("with_formula", "A text starts like a formula.", _with("namePublicLong", lambda *_: _item("=1+1")))
_bad("without_id", "A product has no id.", _without("id"))
_bad("without_uuid", "A product has no uuid.", _without("uuid"))
_bad("without_gtin", "A product has no gtin.", _without("gtin"))
_bad("with_null_id", "A product's id is null.", _with("id", None))
_bad("with_null_gtin", "A product's gtin is null.", _with("gtin", None))
_bad("with_id_text", "A product's id is a text.", _with("id", lambda item, _: str(item.get("id"))))
_bad("with_id_beyond_64_bits", "A product's id is 2**70.", _with("id", 2**70))
_bad("with_gtin_number", "A product's gtin is a number.", _gtin(int), family="product gtin")
_bad("with_gtin_13", "A product's gtin has 13 digits.", _gtin(lambda gtin: gtin[1:]), family="product gtin")
_bad(
    "with_gtin_spaces", "A product's gtin has spaces around it.", _gtin(" {} ".format), family="product gtin"
)
_bad(
    "with_gtin_wrong_check",
    "A product's gtin has a wrong check digit.",
    _gtin(lambda gtin: gtin[:-1] + str(9 - int(gtin[-1]))),
    family="product gtin",
)
_bad(
    "with_deep_nesting",
    "An attribute is nested 3,000 levels deep.",
    _with("subdivisions", _raw(_nested(3000))),
)
_bad(
    "with_endless_nesting",
    "An attribute is nested 200,000 levels deep.",
    _with("subdivisions", _raw(_nested(200_000))),
)
_bad("with_long_integer", "An attribute is 10**400.", _with("lifeCycle", _raw("1" + "0" * 400)))
_bad("with_longer_integer", "An attribute has 5,000 digits.", _with("lifeCycle", _raw("1" * 5000)))
_bad("with_huge_float", "An attribute is 1e999.", _with("lifeCycle", _raw("1e999")))
_bad("with_long_text", "A text has 40,000 letters.", _with("description", lambda *_: _item("a" * 40_000)))
_bad("of_5_megabytes", "A product has 5 MB.", _with("description", lambda *_: _item("b" * 5_000_000)))
_bad(
    "with_many_keys",
    "A product has 5,000 attributes more.",
    lambda item, _: [{**item, **{f"extra{i}": i for i in range(5000)}}],
)
_bad(
    "with_duplicate_keys", "An object has one key twice.", _with("owner", _raw('{"name": "A", "name": "B"}'))
)
_bad(
    "with_cycle",
    "A product's hierarchy holds the product itself.",
    _with(
        "logisticalHierarchies",
        lambda item, _: [
            {
                "gtin": item.get("gtin"),
                "quantity": 2,
                "children": [{"gtin": item.get("gtin"), "quantity": 2, "children": []}],
            }
        ],
    ),
)
_bad(
    "with_odd_keys",
    "Keys are empty, dotted, or have spaces.",
    _with("owner", {"": 1, "a.b": 2, " name ": 3, "__class__": 4}),
)

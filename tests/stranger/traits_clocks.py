"""Clocks that are off, and dates in forms that nobody announced."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

from .catalogue import iso, seconds_of
from .switches import declare

FAR = "Fri, 31 Dec 9999 23:59:59 -1200"


def _date(reply: Any, hours: Any, call: Any) -> Any:
    return reply.headed(date=formatdate(call.stranger.now() + hours * 3600, usegmt=True))


def _is_dated(item: Any) -> bool:
    return isinstance(item, dict) and bool(item.get("updatedAt"))


def _updated(change: Any) -> Any:
    """An act that changes the updatedAt of all products on a page."""

    def act(page: Any, value: Any, _call: Any) -> Any:
        items = [
            {**item, "updatedAt": change(item["updatedAt"], value)} if _is_dated(item) else item
            for item in page["data"]
        ]
        return {**page, "data": items}

    return act


def _some(change: Any) -> Any:
    """An act that changes every third product on a page."""

    def act(page: Any, _value: Any, _call: Any) -> Any:
        items = [
            change(item) if i % 3 == 1 and _is_dated(item) else item for i, item in enumerate(page["data"])
        ]
        return {**page, "data": items}

    return act


def _without_date(item: Any) -> Any:
    return {name: value for name, value in item.items() if name != "updatedAt"}


declare(
    "date_ahead",
    "lie",
    "The Date header is hours ahead.",
    "reply",
    _date,
    route="any",
    parameter="hours",
    default=5,
)
declare(
    "date_behind",
    "lie",
    "The Date header is behind.",
    "reply",
    _date,
    route="any",
    parameter="hours",
    default=-5,
)
declare("date_absent", "lie", "No Date header.", "reply", lambda r, _, __: r.headed(date=None), route="any")
declare(
    "date_garbage", "lie", "Date is not a date.", "reply", lambda r, _, __: r.headed(date="soon"), route="any"
)
declare("date_far", "lie", f"Date is {FAR}.", "reply", lambda r, _, __: r.headed(date=FAR), route="any")
declare(
    "updated_in_local_time",
    "lie",
    "updatedAt is in local time; windows and the Date header are in UTC.",
    "page",
    _updated(lambda text, hours: iso(seconds_of(text) + hours * 3600)),
    parameter="hours",
    default=2,
    family="updated form",
)
declare(
    "updated_null",
    "lie",
    "Every third updatedAt is null.",
    "page",
    _some(lambda item: {**item, "updatedAt": None}),
)
declare("updated_absent", "lie", "Every third product has no updatedAt.", "page", _some(_without_date))
declare(
    "updated_with_zone",
    "shape",
    "updatedAt ends with Z.",
    "page",
    _updated(lambda text, _: f"{text}Z"),
    family="updated form",
)
declare(
    "updated_with_fraction",
    "shape",
    "updatedAt has a fraction.",
    "page",
    _updated(lambda text, _: f"{text}.123456"),
    family="updated form",
)
declare(
    "updated_with_space",
    "shape",
    "updatedAt has a space for T.",
    "page",
    _updated(lambda t, _: t.replace("T", " ")),
    family="updated form",
)
declare(
    "updated_in_seconds",
    "shape",
    "updatedAt is a number.",
    "page",
    _updated(lambda text, _: int(seconds_of(text))),
    family="updated form",
)
declare(
    "updated_never",
    "lie",
    "updatedAt is 0000-00-00.",
    "page",
    _updated(lambda *_: "0000-00-00T00:00:00"),
    family="updated form",
)
declare(
    "updated_in_future",
    "lie",
    "updatedAt lies in the year 2999.",
    "page",
    _updated(lambda t, _: f"2999{t[4:]}"),
    family="updated form",
)

"""Upserts that are answered oddly, late or not at all."""

from __future__ import annotations

import codecs
from typing import Any

from . import deliveries
from .endpoints import UNKNOWN_CALLER
from .imports import Unreadable, parse
from .switches import declare
from .wire import Reply


def _answer(name: str, sentence: str, change: Any, **more: Any) -> None:
    """An upsert answered with another JSON; ``change`` gets the tracking number."""

    def act(page: Any, _value: Any, _call: Any) -> Any:
        return change(page["tracking"])

    declare(f"upsert_{name}", "write", sentence, "form", act, route="upsert", family="upsert answer", **more)


def _xml(text: str, number: int) -> Reply:
    return Reply(200, text.format(number).encode(), {"Content-Type": "application/xml"})


def _in_xml(name: str, sentence: str, text: str) -> None:
    """An upsert answered in this XML, whatever was sent."""
    _answer(name, sentence, lambda number: _xml(text, number))


def _upsert(name: str, sentence: str, act: Any, stage: str = "reply", **more: Any) -> None:
    declare(f"upsert_{name}", "write", sentence, stage, act, route="upsert", **more)


def _status(status: int) -> Any:
    return lambda reply, _, __: reply.having(status=status)


def _fail(status: int) -> Any:
    return lambda _, __, call: call.reply({"message": f"made-up failure {status}"}, status)


def _number_from(settings: Any, first: Any, _call: Any) -> Any:
    settings.first_tracking = first
    return settings


def _too_many(reply: Any, most: Any, call: Any) -> Any:
    request = call.request
    try:
        count = len(parse(request.body, request.headers.get("content-type", "")))
    except Unreadable:
        return reply
    return call.reply({"message": f"at most {most} products"}, 413) if count > most else reply


def _unauthorized(_reply: Any, _value: Any, call: Any) -> Any:
    call.stranger.access.forget()
    return call.reply(UNKNOWN_CALLER, 401)


_answer("tracking_text", "The number is a text.", lambda number: {"tracking": str(number)})
_answer("tracking_float", "The number has .0 at its end.", lambda number: {"tracking": float(number)})
_answer("tracking_nested", "The number is inside data.", lambda number: {"data": {"tracking": number}})
_answer("tracking_list", "The answer is a list of one.", lambda number: [{"tracking": number}])
_answer("tracking_id_key", "The number is called trackingId.", lambda number: {"trackingId": number})
_answer("tracking_snake_key", "The number is called tracking_id.", lambda number: {"tracking_id": number})
_answer("bare_number", "The answer is the number alone.", lambda number: number)
_answer("bare_text", "The answer is the number as a JSON text.", str)
_answer("no_content", "A 204 has no body.", lambda _: Reply(204))
_answer("tracking_null", "The number is null.", lambda _: {"tracking": None})
_answer("tracking_zero", "The number is 0.", lambda _: {"tracking": 0})
_answer("tracking_absent", "The answer has no number.", lambda _: {"status": "accepted"})
_answer("says_ok", "A 200 says OK.", lambda _: Reply(200, b"OK", {"Content-Type": "text/plain"}))
_answer("empty_body", "A 200 has an empty body.", lambda _: Reply(200, b""))
_in_xml(
    "xml_with_bom",
    "XML comes with a BOM.",
    codecs.BOM_UTF8.decode() + "<response><tracking>{}</tracking></response>",
)
_in_xml("xml_attribute", "The number is an attribute.", '<response tracking="{}"/>')
_in_xml(
    "xml_namespace",
    "XML has a namespace.",
    '<p:response xmlns:p="urn:stranger"><p:tracking>{}</p:tracking></p:response>',
)
_in_xml("xml_root", "The number is in the root element.", "<?xml version='1.0'?>\n<tracking> {} </tracking>")
_in_xml("xml_deep", "The number is deep inside XML.", "<a><b><c><tracking>{}</tracking></c></b></a>")
_in_xml("xml_cut", "XML ends early.", "<response><tracking>{}</track")
_in_xml(
    "xml_entities",
    "XML declares entities.",
    '<!DOCTYPE r [<!ENTITY n "{}">]><response><tracking>&n;</tracking></response>',
)
_upsert(
    "tracking_large", "Numbers are above 2**31.", _number_from, "setup", parameter="first", default=2**31 + 7
)
_upsert("created", "The status is 201.", _status(201), family="upsert status")
_upsert("accepted", "The status is 202.", _status(202), family="upsert status")
_upsert("500_after_accepted", "A 500 hides that the upsert was accepted.", _fail(500), at=1)
_upsert("504_after_accepted", "A 504 hides that the upsert was accepted.", _fail(504), at=1)
_upsert(
    "closed_after_accepted",
    "The connection closes after the upsert was accepted.",
    lambda r, _, __: r.having(deliver=deliveries.nothing),
    at=1,
)
_upsert(
    "slow_after_accepted",
    "The answer comes late.",
    lambda r, seconds, __: r.having(deliver=deliveries.after(seconds)),
    parameter="seconds",
    default=2.0,
    at=1,
)
_upsert(
    "closed_before_read", "The connection closes before the payload is read.", lambda *_: False, "head", at=1
)
_upsert("503_not_accepted", "A 503: nothing was accepted.", _fail(503), "request", at=1)
_upsert("400_not_accepted", "A 400: nothing was accepted.", _fail(400), "request", at=1)
_upsert(
    "429_not_accepted",
    "A 429: nothing was accepted.",
    lambda _, seconds, call: _fail(429)(_, seconds, call).headed(retry_after=str(seconds)),
    "request",
    parameter="seconds",
    default=1,
    at=1,
)
_upsert(
    "413_beyond",
    "More than so many products are refused (413).",
    _too_many,
    "request",
    parameter="most",
    default=500,
)
_upsert("401", "The token is refused in between.", _unauthorized, "request", at=1)
_upsert("403", "Upserts are not allowed.", _fail(403), "request")

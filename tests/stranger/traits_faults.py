"""Faults while products are read: statuses, connections that break, and replies that do not end."""

from __future__ import annotations

from typing import Any

from . import deliveries
from .switches import declare
from .wire import Reply

RETRY_AFTER = {
    "date": "Sun, 01 Nov 2026 00:00:01 GMT",
    "far": "Fri, 31 Dec 9999 23:59:59 -1200",
    "garbage": "a while",
    "negative": "-5",
    "huge": "1" + "0" * 30,
    "fraction": "0.5",
    "infinite": "inf",
    "day": "86400",
    "future": "Fri, 31 Dec 9998 23:59:59 GMT",
}


def _status(status: int, **headers: str) -> Any:
    """An act that answers with an error status."""

    def act(_reply: Any, _value: Any, call: Any) -> Any:
        return call.reply({"message": f"made-up failure {status}"}, status).headed(**headers)

    return act


def _retry_seconds(_reply: Any, seconds: Any, call: Any) -> Any:
    return call.reply({"message": "too many calls"}, 429).headed(retry_after=str(seconds))


def _deliver(delivery: Any) -> Any:
    return lambda reply, _, __: reply.having(deliver=delivery)


def _fault(name: str, sentence: str, act: Any, stage: str = "wire", at: int | None = 3, **more: Any) -> None:
    declare(name, "fault", sentence, stage, act, at=at, **more)


def _drop(reply: Any, _value: Any, _call: Any) -> Any:
    return reply or Reply(deliver=deliveries.nothing)


def _restart(_reply: Any, seconds: Any, call: Any) -> Any:
    call.stranger.restart(seconds)
    return Reply(deliver=deliveries.nothing)


def _redirect_away(_reply: Any, _value: Any, call: Any) -> Any:
    return Reply(302, b"", {"Location": f"http://127.0.0.2:{call.stranger.port}{call.request.target}"})


def _redirect_home(_reply: Any, _value: Any, call: Any) -> Any:
    return Reply(307, b"", {"Location": call.stranger.url + call.request.target})


def _slow(reply: Any, seconds: Any, _call: Any) -> Any:
    return reply.having(deliver=deliveries.after(seconds))


def _crowd(reply: Any, calls: Any, call: Any) -> Any:
    """Refuse calls that come faster than so many a second."""
    memory = call.stranger.memory
    now = call.stranger.now()
    recent = [moment for moment in memory.get("reads", []) if now - moment < 1]
    if len(recent) >= calls:
        return call.reply({"message": "too many calls"}, 429).headed(retry_after="1")
    memory["reads"] = [*recent, now]
    return reply


for _code in (400, 404, 408, 500, 502, 503, 504, 520):
    _fault(f"read_{_code}", f"A read answers {_code}.", _status(_code), "request")
_fault(
    "read_500_for_ever",
    "From a read on, all answer 500.",
    lambda reply, since, call: _status(500)(reply, since, call) if call.number >= since else reply,
    "request",
    None,
    parameter="since",
    default=3,
)
_fault(
    "read_429_seconds",
    "429 with Retry-After in seconds.",
    _retry_seconds,
    "request",
    parameter="seconds",
    default=1,
)
for _name, _value in RETRY_AFTER.items():
    _fault(
        f"read_429_{_name}", f"429 with Retry-After {_value!r}.", _status(429, retry_after=_value), "request"
    )
_fault("read_429_bare", "429 without Retry-After.", _status(429), "request")
_fault(
    "read_503_retry_far",
    "503 with Retry-After in the year 9999.",
    _status(503, retry_after=RETRY_AFTER["far"]),
    "request",
)
_fault(
    "read_429_when_fast",
    "Reads beyond so many a second answer 429.",
    _crowd,
    "request",
    None,
    parameter="calls",
    default=2,
)
_fault(
    "restart",
    "The service restarts: no connections for some seconds, cursors forgotten.",
    _restart,
    "request",
    parameter="seconds",
    default=1.0,
)
_fault("closed_before_reply", "The connection closes before the reply.", _drop, "request")
_fault(
    "closed_after_each_reply",
    "Connections close unannounced after each reply.",
    lambda r, _, __: r.having(hangs_up=True),
    at=None,
)
_fault("truncated", "The body is shorter than announced.", _deliver(deliveries.truncated))
_fault("truncated_chunks", "A chunked body has no end.", _deliver(deliveries.truncated_chunks))
_fault("garbage_chunks", "A chunk's size is not a number.", _deliver(deliveries.garbage_chunks))
_fault("no_http", "The reply is not HTTP.", _deliver(deliveries.no_http))
_fault("white_space_for_ever", "The body trickles white space.", _deliver(deliveries.trickle))
_fault("continue_for_ever", "100 Continue comes again and again.", _deliver(deliveries.endless_continue))
_fault("headers_for_ever", "The headers never end.", _deliver(deliveries.endless_headers))
_fault("stalled", "The body stops in the middle.", _deliver(deliveries.stalled))
_fault("silent", "The connection stays open and nothing comes.", _deliver(deliveries.silent))
_fault("slow", "The reply comes late.", _slow, parameter="seconds", default=2.0)
_fault("in_small_pieces", "Each reply comes in hundreds of pieces.", _deliver(deliveries.in_pieces), at=None)
_fault("redirect_away", "A redirect leads to another host, 127.0.0.2.", _redirect_away, "request")
_fault("redirect_to_itself", "A redirect leads to the same address.", _redirect_home, "request")
_fault("redirect_for_ever", "All reads redirect to themselves.", _redirect_home, "request", None)

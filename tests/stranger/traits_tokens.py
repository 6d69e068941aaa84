"""Token endpoints that answer in other ways, and tokens that are odd or die early."""

from __future__ import annotations

import codecs
import json
from typing import Any

from .access import jwt
from .endpoints import UNKNOWN_CALLER
from .switches import declare


def _token(make: Any) -> Any:
    """An act that replaces the access token by one that is valid, too."""

    def act(page: Any, value: Any, call: Any) -> Any:
        return {**page, "access_token": call.stranger.access.give(make(call.stranger.access, value))}

    return act


def _declare(name: str, sentence: str, make: Any, **more: Any) -> None:
    declare(name, "shape", sentence, "page", _token(make), route="token", family="token", **more)


def _without_iat(access: Any, _value: Any) -> str:
    return jwt({name: value for name, value in access.claims().items() if name != "iat"})


def _long_exp(access: Any, _value: Any) -> str:
    return jwt(json.dumps({**access.claims(), "exp": 0}).replace('"exp": 0', '"exp": 1' + "0" * 399))


def _rename(page: Any, _value: Any, _call: Any) -> Any:
    return {("type" if name == "token_type" else name): value for name, value in page.items()}


def _limit_calls(settings: Any, calls: Any, _call: Any) -> Any:
    settings.token_calls = calls
    return settings


def _only_v1(reply: Any, _value: Any, call: Any) -> Any:
    return call.reply({"message": "no such endpoint"}, 404) if "/v2/" in call.request.path else reply


def _down(reply: Any, calls: Any, call: Any) -> Any:
    return call.reply({"message": "try later"}, 503) if call.number <= calls else reply


def _unknown(_reply: Any, _value: Any, call: Any) -> Any:
    return call.reply({"message": "The caller could not be authenticated"})


def _before(text: bytes) -> Any:
    return lambda reply, _, __: reply.having(body=text + reply.body)


def _expired(_reply: Any, _value: Any, call: Any) -> Any:
    call.stranger.access.forget()
    return call.reply(UNKNOWN_CALLER, 401)


def _forbidden(_reply: Any, _value: Any, call: Any) -> Any:
    return call.reply(UNKNOWN_CALLER, 403)


def _slow_nodes(reply: Any, reads: Any, call: Any) -> Any:
    """Let the first token end, and refuse a later one until some reads have tried it."""
    left = call.stranger.memory.setdefault("reads until a token is known", {})
    token = call.request.headers.get("authorization", "")
    first = next(iter(left), token)
    left.setdefault(token, reads if left else 0)
    if left[token] > 0 or (token == first and call.number > 3):
        left[token] -= 1
        return call.reply(UNKNOWN_CALLER, 401)
    return reply


_declare("token_without_iat", "The token has no iat.", _without_iat)
_declare(
    "token_clock_off",
    "iat and exp come from a clock some hours off.",
    lambda access, hours: jwt(access.claims(hours)),
    parameter="hours",
    default=-5,
)
_declare("token_exp_of_400_digits", "exp has 400 digits.", _long_exp)
_declare("token_exp_text", "exp is a text.", lambda access, _: jwt({**access.claims(), "exp": "tomorrow"}))
_declare("token_claims_list", "The claims are a list.", lambda access, _: jwt(json.dumps([access.claims()])))
_declare("token_opaque", "The token is not a JWT.", lambda access, _: f"opaque{access.claims()['jti']}")
_declare(
    "token_with_line_break",
    "The token holds CR and LF.",
    lambda access, _: jwt(access.claims()) + "\r\nX-Evil: 1",
)
_declare(
    "token_not_ascii",
    "The token holds letters beyond ASCII.",
    lambda access, _: jwt(access.claims()) + "éß漢",
)
_declare("token_empty", "The token is an empty text.", lambda *_: "")
_declare("token_null", "The token is null.", lambda *_: None)
declare("token_key_type", "shape", "token_type is called type.", "form", _rename, route="token")
declare(
    "token_expires_in",
    "shape",
    "The answer has expires_in, in seconds.",
    "page",
    lambda page, seconds, _: {**page, "expires_in": seconds},
    route="token",
    parameter="seconds",
    default=7200,
)
declare(
    "token_created",
    "shape",
    "The status is 201.",
    "reply",
    lambda r, _, __: r.having(status=201),
    route="token",
)
declare(
    "token_with_bom", "shape", "A BOM stands before JSON.", "reply", _before(codecs.BOM_UTF8), route="token"
)
declare(
    "token_wrapped",
    "shape",
    "The answer is inside data.",
    "form",
    lambda page, _, __: {"data": page},
    route="token",
)
declare(
    "token_only_v1", "fault", "Version 2 answers 404, version 1 works.", "request", _only_v1, route="token"
)
declare(
    "token_down_at_first",
    "fault",
    "The first token calls answer 503.",
    "request",
    _down,
    route="token",
    parameter="calls",
    default=1,
)
declare(
    "token_refused_with_200",
    "fault",
    "A 200 says that the caller is unknown.",
    "request",
    _unknown,
    route="token",
    at=1,
)
declare("read_refused_with_200", "fault", "A 200 says that the caller is unknown.", "request", _unknown, at=3)
declare("read_401", "fault", "The token is refused (401), though it is young.", "request", _expired, at=3)
declare(
    "read_401_for_ever",
    "fault",
    "From a read on, every token is refused.",
    "request",
    lambda reply, since, call: _expired(reply, since, call) if call.number >= since else reply,
    parameter="since",
    default=3,
)
declare(
    "key_revoked_for_a_while",
    "fault",
    "From the third read on, some reads are refused whatever their token; then all is well.",
    "request",
    lambda reply, reads, call: _expired(reply, reads, call) if 3 <= call.number < 3 + reads else reply,
    parameter="reads",
    default=8,
)
declare("read_403", "fault", "A read is refused with 403.", "request", _forbidden, at=3)
declare(
    "token_serves_few_calls",
    "fault",
    "Each token serves some calls, then 401.",
    "setup",
    _limit_calls,
    route="any",
    parameter="calls",
    default=5,
)
declare(
    "token_unknown_at_first",
    "fault",
    "The first token ends, and each later one is refused by the first reads that use it.",
    "request",
    _slow_nodes,
    parameter="reads",
    default=3,
)

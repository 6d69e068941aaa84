"""What shows that each trait of tokens, faults and bodies does what it says: expected, then found."""

from __future__ import annotations

import base64
import codecs
import contextlib
import gzip
import json
import time
import zlib
from types import SimpleNamespace
from typing import Any

from .checks_paging import Checks
from .endpoints import Call
from .probe import LIST, Answer, Probe
from .traits_faults import RETRY_AFTER
from .wire import Request

WITH: dict[str, Any] = {
    "restart": {"seconds": 0.3},
    "slow": {"seconds": 0.3},
    "gzip_bomb": {"megabytes": 3},
    "token_serves_few_calls": 2,
}


def _token(probe: Probe) -> str:
    return probe.ask_token().json["access_token"]


def _claims(probe: Probe) -> Any:
    middle = _token(probe).split(".")[1]
    return json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))


def _works(probe: Probe, token: str) -> int:
    return probe.call("POST", "/public/v1/products/list", {}, Authorization=f"Bearer {token}").status


def _known_late(probe: Probe) -> list[int]:
    """The statuses of four reads with one token, and of five with a second one."""
    first, second = _token(probe), _token(probe)
    return [*(_works(probe, first) for _ in range(4)), *(_works(probe, second) for _ in range(5))]


def _retry_after(probe: Probe) -> tuple[int, str]:
    answer = probe.read()
    return answer.status, answer.headers.get("retry-after", "absent")


def _then(probe: Probe, first: Any) -> tuple[Any, int]:
    """What a fault gives, and the status of the read after it."""
    return first(probe), probe.read().status


def _down(probe: Probe) -> tuple[str, str, bool]:
    """How the read at a restart ends, and the next; whether the service is there again later."""
    cursor = probe.stranger.scrolls.begin(list(probe.stranger.products.values()), 5)[2]
    kinds = probe.failure(), probe.failure()
    end = time.monotonic() + 5
    while probe.failure() != "none" and time.monotonic() < end:
        time.sleep(0.05)
    return (*kinds, probe.read(next_page=cursor).status == 400)


def _chunks(probe: Probe) -> tuple[bool, bool]:
    """Whether a body is chunked, and whether it has its last chunk."""
    found = probe.bytes_of_read()
    return b"Transfer-Encoding: chunked" in found, found.endswith(b"0\r\n\r\n")


def _for_a_while(probe: Probe) -> bytes:
    return probe.bytes_of_read(seconds=0.7, most=3000)


def _gap(probe: Probe) -> bool:
    """Whether the announced length is more than what comes while the connection stays open."""
    head, _, body = probe.bytes_of_read(seconds=1, close=False).partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    return 0 < len(body) < length


def _elapsed(probe: Probe) -> bool:
    start = time.monotonic()
    return probe.read().status == 200 and time.monotonic() - start >= 0.3


def _hangs_up(probe: Probe) -> tuple[bool, bool]:
    """Whether the head announces the end of the connection, and whether it ends by itself."""
    start = time.monotonic()
    found = probe.bytes_of_read(seconds=2, close=False)
    return b"connection: close" in found.lower(), time.monotonic() - start < 1.5


def _pieces(probe: Probe) -> bool:
    """Whether a reply is sent in more than a hundred pieces."""
    headers = {"authorization": f"Bearer {probe.token}"}
    reply = probe.stranger.answer(Call(probe.stranger, Request("POST", LIST, headers), "products", 1))
    sent: list[bytes] = []
    reply.deliver(SimpleNamespace(send=sent.append), reply)
    return len(sent) > 100 and len(b"".join(sent)) > len(reply.body)


def _redirect(probe: Probe) -> tuple[int, bool]:
    answer = probe.read()
    return answer.status, answer.headers["location"].startswith(probe.stranger.url)


def _unpacked(unpack: Any) -> Any:
    return lambda probe: json.loads(unpack(probe.read().body))["totalResults"]


def _twice(probe: Probe) -> list[Any]:
    pairs: list[Any] = json.loads(probe.read().body, object_pairs_hook=lambda found: found)
    return [value for name, value in pairs if name == "totalResults"]


def _cut(probe: Probe) -> bool:
    with contextlib.suppress(EOFError):
        gzip.decompress(probe.read().body)
        return False
    return True


def _said(probe: Probe, name: str) -> str:
    return probe.read().headers.get(name, "absent")


def _magic(probe: Probe) -> tuple[str, bytes]:
    answer = probe.read()
    return answer.headers.get("content-encoding", "absent"), answer.body[:2]


def _bomb(probe: Probe) -> tuple[bool, int]:
    body = probe.read().body
    return len(body) < 5000, len(gzip.decompress(gzip.decompress(body)))


def _short(probe: Probe) -> bool:
    answer: Answer = probe.read()
    return int(answer.headers["content-length"]) == len(answer.body) and not answer.body.endswith(b"}")


def _kind(probe: Probe) -> str:
    return type(probe.read().json).__name__


def _data(probe: Probe) -> Any:
    return probe.page().get("data", "absent")


def _is_unreadable(probe: Probe) -> bool:
    try:
        probe.page()
    except ValueError:
        return True
    return False


CHECKS: Checks = {
    "token_without_iat": (["exp", "jti", "username"], lambda probe: sorted(_claims(probe))),
    "token_clock_off": (-5, lambda probe: round((_claims(probe)["iat"] - time.time()) / 3600)),
    "token_exp_of_400_digits": (400, lambda probe: len(str(_claims(probe)["exp"]))),
    "token_exp_text": ("tomorrow", lambda probe: _claims(probe)["exp"]),
    "token_claims_list": (list, lambda probe: type(_claims(probe))),
    "token_opaque": ((0, 200), lambda probe: ((token := _token(probe)).count("."), _works(probe, token))),
    "token_with_line_break": (True, lambda probe: "\r\n" in _token(probe)),
    "token_not_ascii": (False, lambda probe: _token(probe).isascii()),
    "token_empty": ("", _token),
    "token_null": (None, _token),
    "token_key_type": (["access_token", "type"], lambda probe: sorted(probe.ask_token().json)),
    "token_expires_in": (7200, lambda probe: probe.ask_token().json["expires_in"]),
    "token_created": (201, lambda probe: probe.ask_token().status),
    "token_with_bom": (codecs.BOM_UTF8, lambda probe: probe.ask_token().body[:3]),
    "token_wrapped": (["data"], lambda probe: list(probe.ask_token().json)),
    "token_only_v1": ([404, 200], lambda p: [p.ask_token().status, p.ask_token("/auth/v1/token").status]),
    "token_down_at_first": ([503, 200], lambda p: [p.ask_token().status, p.ask_token().status]),
    "token_refused_with_200": ((200, ["message"]), lambda p: ((a := p.ask_token()).status, list(a.json))),
    "read_refused_with_200": ((200, ["message"]), lambda p: ((a := p.read()).status, list(a.json))),
    "read_401": ([401, 401, 200], lambda p: [p.read().status, p.read().status, _works(p, _token(p))]),
    "read_401_for_ever": ([200, 200, 401, 401], lambda p: [_works(p, _token(p)) for _ in range(4)]),
    "key_revoked_for_a_while": (
        [200, 200, *[401] * 8, 200],
        lambda p: [_works(p, _token(p)) for _ in range(11)],
    ),
    "read_403": ((403, 200), lambda p: _then(p, lambda p: p.read().status)),
    "token_serves_few_calls": ([200, 200, 401], lambda p: [p.read().status for _ in range(3)]),
    "token_unknown_at_first": ([200, 200, 200, 401, 401, 401, 401, 200, 200], _known_late),
    **{f"read_{n}": ((n, 200), lambda p: _then(p, lambda p: p.read().status)) for n in (400, 404, 408, 500)},
    **{f"read_{n}": ((n, 200), lambda p: _then(p, lambda p: p.read().status)) for n in (502, 503, 504, 520)},
    "read_500_for_ever": ([200, 200, 500, 500], lambda p: [p.read().status for _ in range(4)]),
    "read_429_seconds": ((429, "1"), _retry_after),
    **{f"read_429_{name}": ((429, value), _retry_after) for name, value in RETRY_AFTER.items()},
    "read_429_bare": ((429, "absent"), _retry_after),
    "read_503_retry_far": ((503, RETRY_AFTER["far"]), _retry_after),
    "read_429_when_fast": ([200, 200, 429], lambda p: [p.read().status for _ in range(3)]),
    "restart": (("RemoteDisconnected", "ConnectionRefusedError", True), _down),
    "closed_before_reply": (("RemoteDisconnected", 200), lambda p: _then(p, Probe.failure)),
    "closed_after_each_reply": ((False, True), _hangs_up),
    "truncated": (("IncompleteRead", 200), lambda p: _then(p, Probe.failure)),
    "truncated_chunks": ((True, False), _chunks),
    "garbage_chunks": (True, lambda probe: b"\r\n\r\nzz\r\n{" in probe.bytes_of_read()),
    "no_http": (b"\x15\x03\x01", lambda probe: probe.bytes_of_read()[:3]),
    "white_space_for_ever": (
        True,
        lambda p: 2 <= len(_for_a_while(p).split(b"\r\n\r\n", 1)[1].decode()) <= 5,
    ),
    "continue_for_ever": (True, lambda probe: _for_a_while(probe).count(b"100 Continue") > 5),
    "headers_for_ever": (
        (True, False),
        lambda p: ((b := _for_a_while(p)).count(b"X-Header") > 5, b"\r\n\r\n" in b),
    ),
    "stalled": (True, _gap),
    "silent": (b"", _for_a_while),
    "slow": (True, _elapsed),
    "in_small_pieces": (True, _pieces),
    "redirect_away": (True, lambda probe: "//127.0.0.2:" in probe.read().headers["location"]),
    "redirect_to_itself": (((307, True), 200), lambda p: _then(p, _redirect)),
    "redirect_for_ever": ([(307, True)] * 2, lambda probe: [_redirect(probe), _redirect(probe)]),
    "gzip": (30, _unpacked(gzip.decompress)),
    "deflate": (30, _unpacked(zlib.decompress)),
    "deflate_raw": (30, _unpacked(lambda body: zlib.decompress(body, -15))),
    "double_gzip": (30, _unpacked(lambda body: gzip.decompress(gzip.decompress(body)))),
    "chunked": (
        ("chunked", 30),
        lambda p: ((a := p.read()).headers["transfer-encoding"], a.json["totalResults"]),
    ),
    "chunked_with_trailer": (True, lambda probe: b"X-Trailer: yes" in probe.bytes_of_read()),
    "http_1_0": ((True, False), lambda p: ((b := p.bytes_of_read()).startswith(b"HTTP/1.0"), b"Length" in b)),
    "bom": (codecs.BOM_UTF8, lambda probe: probe.read().body[:3]),
    "content_type_text": ("text/html", lambda probe: _said(probe, "content-type")),
    "content_type_absent": ("absent", lambda probe: _said(probe, "content-type")),
    "many_headers": (True, lambda probe: len(probe.read().headers) > 60),
    "white_space_around": (
        True,
        lambda p: (a := p.read()).body.startswith(b"\r\n\t ") and len(a.json["data"]) == 20,
    ),
    "latin_1": (True, lambda probe: "Cèdre".encode("latin-1") in probe.read().body),
    "utf_16": (30, _unpacked(lambda body: body.decode("utf-16"))),
    "latin_1_unsaid": (
        (True, "application/json"),
        lambda p: ("Cèdre".encode("latin-1") in p.read().body, _said(p, "content-type")),
    ),
    "utf_8_called_latin_1": (
        (True, "application/json; charset=iso-8859-1"),
        lambda p: ("Cèdre".encode() in p.read().body, _said(p, "content-type")),
    ),
    "duplicate_keys": ([0, 30], _twice),
    "gzip_unannounced": (("absent", b"\x1f\x8b"), _magic),
    "gzip_announced_only": (
        ("gzip", b"{"),
        lambda p: ((a := p.read()).headers["content-encoding"], a.body[:1]),
    ),
    "gzip_cut": (True, _cut),
    "gzip_bomb": ((True, 3 * 2**20), _bomb),
    "encoding_unknown": ("zip9", lambda probe: _said(probe, "content-encoding")),
    "length_short": (True, _short),
    "length_garbage": ("many", lambda probe: _said(probe, "content-length")),
    "html_with_200": (("text/html", 200), lambda p: _then(p, lambda p: _said(p, "content-type"))),
    "html_as_json": ((b"<!DOC", 200), lambda p: _then(p, lambda p: p.read().body[:5])),
    "empty_body": ((b"", 200), lambda p: _then(p, lambda p: p.read().body)),
    "no_content": ((204, 200), lambda p: _then(p, lambda p: p.read().status)),
    "invalid_json": (True, _is_unreadable),
    "json_cut": (True, _is_unreadable),
    "json_list": ("list", _kind),
    "json_text": ("str", _kind),
    "json_null": ("NoneType", _kind),
    "json_number": ("int", _kind),
    "json_empty_object": ({}, Probe.page),
    "error_with_200": ((200, "search failed"), lambda p: ((a := p.read()).status, a.json["error"])),
    "invalid_utf8": (True, lambda probe: b"name\xff\xfe" in probe.read().body),
    "data_missing": ("absent", _data),
    "data_null": (None, _data),
    "empty_page_null": ((20, None), lambda p: (len(p.page()["data"]), p.page(offset=30)["data"])),
    "data_null_for_ever": (
        [20, 20, None, None],
        lambda p: [d and len(d) for d in (_data(p) for _ in range(4))],
    ),
    "data_object": (dict, lambda probe: type(_data(probe))),
    "data_text": ("none", _data),
    "data_empty": ([], _data),
    "cursor_missing": (False, lambda probe: "next_page" in probe.page(next_page="")),
}

"""Replies that never end, or become very large: each ends in time, within bounded memory, with numbers."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import socket
import subprocess
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
import requests
from raw_server import ENVELOPE, Answer, RawServer, chunk, in_turn, raw_server, reply
from tests.cases import each_row

from prodex.errors import OutcomeUnknown, ProdexError, RequestRefused, ServiceUnreachable, UnexpectedReply
from prodex.limits import Limits
from prodex.service import Client, RetryPolicy
from prodex.service.settings import Settings

ONCE = RetryPolicy(attempts=1)
TWICE = RetryPolicy(attempts=2, first_wait=0, longest_wait=0, jitter=0)


def client_of(server: RawServer, limits: Limits | None = None, **options: object) -> Client:
    """Return a client that waits long for the next bytes, so that only a limit in all can end a drip."""
    options = {"retry": ONCE, "timeout": 30, **options}
    return Client(Settings(server.base_url, "key", "secret"), limits=limits, **options)  # type: ignore[arg-type]


def forever(head: bytes, drop: bytes, pause: float = 0.02) -> Answer:
    """Answer with a beginning, and then with the same again and again."""

    def answer(caller: socket.socket) -> None:
        caller.sendall(head)
        while True:
            caller.sendall(drop)
            time.sleep(pause)

    return answer


def stall(head: bytes) -> Answer:
    """Answer with a beginning and nothing more."""

    def answer(caller: socket.socket) -> None:
        caller.sendall(head)
        caller.recv(1)  # until the caller hangs up

    return answer


def whole(content: bytes) -> Answer:
    """Answer with these bytes, and close."""
    return lambda caller: caller.sendall(content)


ENDLESS = {
    "white space, announced": forever(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", b" "),
    "white space, chunked": forever(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", chunk(b" ")),
    "white space, one large chunk": forever(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n", b" "
    ),
    "white space, until it closes": forever(b"HTTP/1.1 200 OK\r\n\r\n" + ENVELOPE, b" "),
    "white space, HTTP/1.0": forever(b"HTTP/1.0 200 OK\r\n\r\n" + ENVELOPE, b" "),
    "white space in front of JSON": forever(b"HTTP/1.1 200 OK\r\n\r\n", b" \n"),
    "100 Continue": forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "100 Continue, in a hurry": forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, 0),
    "a header that never ends": forever(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "a status line that never ends": forever(b"HTTP/1.1 200 ", b"O"),
    "the size of a chunk that never ends": forever(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"
    ),
    "trailers that never end": forever(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(ENVELOPE) + b"0\r\n", b"X: y\r\n"
    ),
    "empty members of gzip": forever(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", gzip.compress(b"", mtime=0)
    ),
    "a redirect": forever(
        b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /public/v2\r\nContent-Length: 99999999\r\n\r\n", b" "
    ),
    "silence in front of the head": stall(b""),
    "silence in the head": stall(b"HTTP/1.1 200 OK\r\n"),
    "silence in the body": stall(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
}


@pytest.mark.slow
@each_row("kind", ENDLESS)
def test_a_reply_that_never_ends_is_left_in_time(kind: str) -> None:
    """Although every read brings something: with an error that says how long, how much, and which setting."""
    with raw_server(ENDLESS[kind]) as server:
        begin = time.monotonic()
        with pytest.raises(ProdexError) as caught:
            client_of(server, Limits(seconds=0.4)).search_products()

    assert time.monotonic() - begin < 3
    if kind not in {"100 Continue, in a hurry", "a redirect", "trailers that never end"}:
        assert ServiceUnreachable is type(caught.value)
        said = r"stopped after \d[.]\d s: [\d,]+ bytes received.*; the limit is 0[.]4 s in all, and connect\(limits="
        assert re.search(said, str(caught.value))


def test_a_reply_that_never_ends_is_tried_again() -> None:
    """It may pass; when the second one is whole, nobody hears of the first."""
    with raw_server(in_turn(ENDLESS["white space, announced"], whole(reply()))) as server:
        page = client_of(server, Limits(seconds=0.3), retry=TWICE).search_products()

    assert 1 == len(page)
    assert 2 == len(server.paths)


def test_a_write_whose_answer_never_ends_is_of_unknown_outcome() -> None:
    """It is not sent again."""
    with raw_server(ENDLESS["100 Continue"]) as server, pytest.raises(OutcomeUnknown, match="not repeated"):
        client_of(server, Limits(seconds=0.3), retry=TWICE).upsert_products(b"{}")

    assert 1 == len(server.paths)


@pytest.mark.slow
def test_the_time_of_a_reply_begins_when_the_request_was_sent() -> None:
    """A large upsert over a slow line is none of the reply's time."""

    def slowly(caller: socket.socket) -> None:
        caller.sendall(reply(b'{"tracking": 7}'))

    with raw_server(slowly) as server:
        client = client_of(server, Limits(seconds=0.5))

        class Slow(requests.adapters.HTTPAdapter):
            def send(
                self, request: requests.PreparedRequest, *rest: object, **more: object
            ) -> requests.Response:
                time.sleep(0.7)
                return super().send(request, *rest, **more)  # type: ignore[arg-type]

        client._transport.session.mount("http://", Slow())
        assert 7 == client.upsert_products(b"{}")


@cache
def layers(size: int, times: int) -> bytes:
    """Return so many zeros, packed so many times."""
    packed = b""
    pack = zlib.compressobj(9, wbits=31)
    for _ in range(size // 1_000_000):
        packed += pack.compress(bytes(1_000_000))
    packed += pack.flush()
    for _ in range(times - 1):
        packed = gzip.compress(packed, 9)
    return packed


BOMBS: dict[str, Callable[[], tuple[bytes, str]]] = {
    "gzip": lambda: (layers(100_000_000, 1), "gzip"),
    "gzip in gzip": lambda: (layers(200_000_000, 2), "gzip, gzip"),
    "gzip twice in headers": lambda: (layers(200_000_000, 2), "gzip\r\nContent-Encoding: gzip"),
    "deflate": lambda: (zlib.compress(bytes(100_000_000), 9), "deflate"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        *((kind, "200 OK") for kind in BOMBS),
        *zip(BOMBS, itertools.cycle(["307 Temporary Redirect", "404 Not Found", "503 Busy"]), strict=False),
    ],
)
def test_a_bomb_is_refused_in_bounded_memory(kind: str, status: str) -> None:
    """Whatever the status is: nothing of it is made that is not counted before."""
    packed, coding = BOMBS[kind]()
    head = f"HTTP/1.1 {status}\r\nContent-Encoding: {coding}\r\nLocation: /x\r\nContent-Length: {len(packed)}\r\n\r\n"
    limits = Limits(unpacked_bytes=20_000_000)
    with raw_server(whole(head.encode() + packed)) as server:
        client = client_of(server, limits, retry=TWICE)
        client.token_facts()
        tracemalloc.start()
        with pytest.raises(ProdexError) as caught:
            client.list_products()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert most < 60_000_000
    if status == "200 OK":
        assert UnexpectedReply is type(caught.value)
        assert 1 == len(server.paths)  # the same would come again
        assert "bytes received, unpacked " in str(caught.value)
    if status == "404 Not Found":
        assert RequestRefused is type(caught.value)


@pytest.mark.slow
def test_by_default_few_bytes_do_not_become_very_many() -> None:
    """A few hundred bytes that are packed twice end at 150 million, far below the limit of bytes."""
    packed = layers(200_000_000, 2)
    assert len(packed) < 1_000
    with (
        raw_server(whole(reply(packed, "Content-Encoding: gzip, gzip"))) as server,
        pytest.raises(UnexpectedReply, match=r"stopped after .* unpacked .*more than 200 bytes for each"),
    ):
        client_of(server).search_products()


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "utf-8"])
def test_a_reply_is_in_the_encoding_that_its_header_states(encoding: str) -> None:
    """Some proxies write JSON anew; the letters of a brand stay what they are."""
    body = ENVELOPE.replace(b'"id": 1', '"id": 1, "brand": "Crème Brûlée"'.encode()).decode().encode(encoding)
    answer = reply(body, f"Content-Type: application/json; charset={encoding}")
    with raw_server(whole(answer)) as server:
        page = client_of(server).list_products()

    assert "Crème Brûlée" == json.loads(page.body)["data"][0]["brand"]


def test_bytes_on_the_wire_have_a_limit() -> None:
    """Announced or not."""
    body = b" " * 3_000_000
    for content in (reply(body), reply(body, length=False, version="1.0")):
        with (
            raw_server(whole(content)) as server,
            pytest.raises(UnexpectedReply, match="1,000,000 bytes as sent"),
        ):
            client_of(server, Limits(wire_bytes=1_000_000)).search_products()


PAGE = json.dumps({"totalResults": 500, "data": [{"id": i, "text": "é" * 999} for i in range(500)]}).encode()


def _chunks(body: bytes) -> bytes:
    pieces = (body[i : i + 70_001] for i in range(0, len(body), 70_001))
    return b"".join(map(chunk, pieces)) + b"0\r\n\r\n"


def _raw_deflate(body: bytes) -> bytes:
    pack = zlib.compressobj(wbits=-15)
    return pack.compress(body) + pack.flush()


WHOLE = {
    "plain": reply(PAGE),
    "HTTP/1.0 without a length": reply(PAGE, length=False, version="1.0"),
    "HTTP/1.1 without a length": reply(PAGE, length=False),
    "chunked": reply(_chunks(PAGE), "Transfer-Encoding: chunked", length=False),
    "chunked gzip": reply(
        _chunks(gzip.compress(PAGE)), "Transfer-Encoding: chunked", "Content-Encoding: gzip", length=False
    ),
    "gzip": reply(gzip.compress(PAGE), "Content-Encoding: gzip"),
    "GZIP": reply(gzip.compress(PAGE), "Content-Encoding: GZIP"),
    "x-gzip": reply(gzip.compress(PAGE), "Content-Encoding: x-gzip"),
    "gzip of several members": reply(
        gzip.compress(PAGE[:999]) + gzip.compress(PAGE[999:]), "Content-Encoding: gzip"
    ),
    "gzip and something behind it": reply(gzip.compress(PAGE) + b"\0\0garbage", "Content-Encoding: gzip"),
    "deflate": reply(zlib.compress(PAGE), "Content-Encoding: deflate"),
    "deflate without a header": reply(_raw_deflate(PAGE), "Content-Encoding: deflate"),
    "gzip in gzip": reply(gzip.compress(gzip.compress(PAGE)), "Content-Encoding: gzip, gzip"),
    "gzip in gzip, told once": reply(gzip.compress(gzip.compress(PAGE)), "Content-Encoding: gzip"),
    "gzip, told by nobody": reply(gzip.compress(PAGE)),
    "gzip, whose header stands twice": reply(
        gzip.compress(PAGE), "Content-Encoding: gzip", "Content-Encoding: gzip"
    ),
    "identity": reply(PAGE, "Content-Encoding: identity"),
    "an empty header": reply(PAGE, "Content-Encoding:"),
    "a byte order mark": reply(b"\xef\xbb\xbf" + PAGE),
    "a byte order mark in gzip": reply(gzip.compress(b"\xef\xbb\xbf" + PAGE), "Content-Encoding: gzip"),
    "a few 100 Continue": b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + reply(PAGE),
    "white space around": reply(b"\n" * 9_999 + PAGE + b"\r\n" * 9_999),
}


@each_row("kind", WHOLE)
def test_a_whole_reply_is_read_however_it_is_packed(kind: str) -> None:
    """What services and proxies do to a body, as the header says, or nearly so."""
    with raw_server(whole(WHOLE[kind])) as server:
        page = client_of(server).search_products()

    assert 500 == len(page)


LIES = {
    "says gzip, is plain": ("gzip", PAGE),
    "says deflate, is plain": ("deflate", PAGE),
    "says gzip, is deflate": ("gzip", zlib.compress(PAGE)),
    "a coding that nobody knows": ("rot13", PAGE),
    "a coding that nobody asked for": ("br", b"\x0b\x02\x80{}\x03"),
    "many codings": ("gzip, gzip, gzip", gzip.compress(PAGE)),
    "a coding of many letters": ("x" * 5_000, PAGE),
    "damaged in the middle": ("gzip", gzip.compress(PAGE)[:200] + b"\xff\x00" * 99),
}


@each_row("kind", LIES)
def test_a_body_that_is_not_packed_as_it_says_is_tried_again(kind: str) -> None:
    """A proxy may have done it; if it happens every time, one of our errors reports it."""
    coding, body = LIES[kind]
    lie = whole(reply(body, f"Content-Encoding: {coding}", "Connection: close"))
    with raw_server(in_turn(lie, whole(reply()))) as server:
        assert 1 == len(client_of(server, retry=TWICE).search_products())
    with raw_server(lie) as server, pytest.raises((ServiceUnreachable, UnexpectedReply)) as caught:
        client_of(server, retry=TWICE).search_products()
    assert 2 == len(server.paths)
    assert len(str(caught.value)) < 700


@each_row(
    "header",
    [
        "Date: Fri, 31 Dec 9999 23:59:59 -1200",
        "Date: Mon, 01 Jan 0001 00:00:00 +1200",
        f"Date: Fri, {'9' * 400} Dec 2026 23:59:59 GMT",
        f"Date: Fri, 31 Dec {'9' * 400} 23:59:59 GMT",
        f"Retry-After: {'9' * 400}",
        f"Age: {'9' * 400}",
        f"Content-Length: {'9' * 400}",
        f"Content-Length: {'9' * 5000}",
        f"Set-Cookie: a=b; Max-Age={'9' * 400}",
        "Set-Cookie: a=b; Expires=Fri, 31 Dec 9999 23:59:59 -1200",
        f"Keep-Alive: timeout={'9' * 400}",
    ],
)
@pytest.mark.filterwarnings("ignore:http.cookiejar bug!")
def test_a_number_or_date_that_nobody_can_hold_is_passed_over(header: str) -> None:
    """No header makes the call fail in another way than an error of ours, and none but a wrong length at all."""
    with raw_server(whole(reply(ENVELOPE, header, length=False))) as server:
        try:
            page = client_of(server).search_products()
        except ServiceUnreachable:
            assert header.startswith("Content-Length")
        else:
            assert 1 == len(page)


def test_a_service_that_asks_for_an_endless_pause_is_asked_again() -> None:
    """What it says cannot be read, so the usual pause is made."""
    pause = "Retry-After: Fri, 31 Dec 9999 23:59:59 -1200"
    # Its server hangs up after each reply, and says so: otherwise the second call might use the closed connection.
    busy = b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n" + pause.encode() + b"\r\n\r\n"
    with raw_server(in_turn(whole(busy), whole(reply()))) as server:
        assert 1 == len(client_of(server, retry=TWICE).search_products())


@contextmanager
def served(page: bytes) -> Iterator[RawServer]:
    """Serve one page, packed."""
    content = reply(gzip.compress(page, 1), "Content-Encoding: gzip")
    with raw_server(whole(content)) as server:
        yield server


@pytest.mark.slow
def test_a_large_page_passes_by_default() -> None:
    """500 products of 200 kB each are 100 million bytes."""
    product = json.dumps({"id": 0, "text": "ab" * 100_000}).encode()
    page = b'{"totalResults": 500, "data": [' + b",".join([product] * 500) + b"]}"
    with served(page) as server:
        assert (500, len(page)) == (len(came := client_of(server).search_products()), len(came.body))


@pytest.mark.slow
def test_the_memory_of_a_process_stays_bounded() -> None:
    """The whole process of a client that is sent a bomb needs no more than one that is not."""
    code = """
import resource, sys, prodex as px
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
limits = px.limits.Limits(unpacked_bytes=30_000_000)
client = px.connect(sys.argv[1], client_id="key", client_secret="secret", limits=limits)
try:
    client.search_products()
except px.errors.UnexpectedReply as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    with raw_server(whole(reply(layers(200_000_000, 1), "Content-Encoding: gzip"))) as server:
        command = [sys.executable, "-c", code, server.base_url]
        said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent)

    kilobytes = int(said.stdout) // (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 120_000


def test_a_session_with_connections_of_its_own_has_a_limit_for_bodies() -> None:
    """Of an adapter that makes its own connections at least the body is ended in time."""
    import urllib3

    class Own(requests.adapters.HTTPAdapter):
        def init_poolmanager(self, *rest: object, **more: object) -> None:
            super().init_poolmanager(*rest, **more)  # type: ignore[arg-type]
            self.poolmanager.pool_classes_by_scheme = {
                "http": type("OwnPool", (urllib3.HTTPConnectionPool,), {}),
                "https": urllib3.HTTPSConnectionPool,
            }

    session = requests.Session()
    session.mount("http://", Own())
    with raw_server(ENDLESS["white space, announced"]) as server:
        begin = time.monotonic()
        with pytest.raises(ServiceUnreachable, match="stopped after"):
            client_of(server, Limits(seconds=0.4), session=session).search_products()

    assert time.monotonic() - begin < 3

"""Bodies: how large they may be, how they may be packed, and that none of them keeps others waiting."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from small_exchange import BREAD, DAIRY, LABELS, MARKET, MILL, PRODUCTS, SHOP, text
from tests.cases import each_row
from writer import Writer, messages

from prodex.sandbox import Behaviour, Sandbox

LIMIT = 10_000
GOOD = json.dumps({"data": [{"gtin": BREAD, "lifeCycle": 5}]}).encode()


@pytest.fixture(scope="module")
def mill() -> Iterator[Writer]:
    """Write to a sandbox that takes bodies of the usual size."""
    yield from serve(Behaviour())


@pytest.fixture(scope="module")
def narrow() -> Iterator[Writer]:
    """Write to a sandbox that takes small bodies only."""
    yield from serve(Behaviour(body_limit=LIMIT))


def serve(behaviour: Behaviour) -> Iterator[Writer]:
    with Sandbox(
        PRODUCTS, organizations=[SHOP, MARKET, MILL, DAIRY], labels=LABELS, behaviour=behaviour
    ) as sandbox:
        writer = Writer(sandbox.base_url, MILL)
        with writer.session:
            writer.log_in()
            yield writer


def refused(reply: requests.Response) -> tuple[int, str]:
    body = reply.json()
    assert {"error", "message"} == body.keys()
    return reply.status_code, body["error"]


@each_row(
    "content_type",
    [
        "",
        "text/plain",
        "text/xml",
        "application/x-www-form-urlencoded",
        "application/jsonl",
        "multipart/form-data",
    ],
)
def test_an_upsert_is_json_or_xml(mill: Writer, content_type: str) -> None:
    """A body of another type is refused with the types that are accepted."""
    reply = mill.post_products(GOOD, content_type)
    assert (415, "unsupported_media_type") == refused(reply)
    assert "application/json or application/xml" in reply.json()["message"]


@each_row("content_type", ["application/json; charset=utf-8", "Application/JSON", "application/json;"])
def test_a_media_type_may_have_parameters(mill: Writer, content_type: str) -> None:
    """Case and parameters of the media type do not matter."""
    assert 200 == mill.post_products(GOOD, content_type).status_code


@pytest.mark.parametrize(("size", "status"), [(LIMIT, 200), (LIMIT + 1, 413)])
def test_a_body_may_have_as_many_bytes_as_the_limit_says(narrow: Writer, size: int, status: int) -> None:
    """A body of exactly the limit is accepted, one byte more is refused; gzip counts unpacked."""
    body = GOOD.ljust(size)
    assert status == narrow.post_products(body).status_code
    packed = narrow.post_products(gzip.compress(body, mtime=0), **{"Content-Encoding": "gzip"})
    assert status == packed.status_code
    if status == 413:
        assert (413, "body_too_large") == refused(packed)
        assert f"more than {LIMIT:,} bytes" in packed.json()["message"]


@each_row("path", ["/auth/v2/token", "/public/v1/products/list", "/public/v1/validation/rulesets/require"])
def test_every_body_has_the_limit(narrow: Writer, path: str) -> None:
    """Token, search and scenarios refuse a body over the limit too."""
    reply = narrow.session.post(
        f"{narrow.base_url}{path}", data=b"{}".ljust(LIMIT + 1), headers={"Content-Type": "application/json"}
    )
    assert (413, "body_too_large") == refused(reply)


def test_a_body_in_pieces_has_the_limit(narrow: Writer) -> None:
    """A body that comes in chunks, without its length, is refused past the limit."""
    pieces = (b" " * 1_000 for _ in range(11))
    reply = narrow.session.post(
        f"{narrow.base_url}/public/v1/products", data=pieces, headers={"Content-Type": "application/json"}
    )
    assert (413, "body_too_large") == refused(reply)


@each_row(
    "packed",
    [
        gzip.compress(GOOD, mtime=0),
        gzip.compress(GOOD[:10], mtime=0) + gzip.compress(GOOD[10:], mtime=0),
        gzip.compress(b"", mtime=0) + gzip.compress(GOOD, mtime=0),
    ],
)
def test_a_packed_body_is_unpacked(mill: Writer, packed: bytes) -> None:
    """A gzip body of one member or several is read as its content."""
    reply = mill.post_products(packed, **{"Content-Encoding": "gzip"})
    assert "SUCCESS" == mill.wait(reply.json()["tracking"])["status"]


@each_row(
    ("body", "encoding", "status", "code"),
    [
        (GOOD, "gzip", 400, "invalid_gzip"),
        (gzip.compress(GOOD, mtime=0)[:-10], "gzip", 400, "invalid_gzip"),
        (gzip.compress(GOOD, mtime=0) + b"more", "gzip", 400, "invalid_gzip"),
        (b"", "gzip", 400, "invalid_gzip"),
        (zlib.compress(GOOD), "deflate", 415, "unsupported_media_type"),
        (GOOD, "br", 415, "unsupported_media_type"),
    ],
)
def test_a_body_that_is_packed_wrongly_is_refused(
    mill: Writer, body: bytes, encoding: str, status: int, code: str
) -> None:
    """A body that is announced as gzip and is not, or is packed in another way, is refused."""
    assert (status, code) == refused(mill.post_products(body, **{"Content-Encoding": encoding}))


def test_a_text_of_a_million_characters_is_refused_as_the_products_error(mill: Writer) -> None:
    """A million characters are named as too many, and the product stays as it was."""
    before = mill.stored(BREAD)
    record = mill.write({"gtin": BREAD, "description": [text("x" * 1_000_000)]})
    assert "CONTAINS_ERRORS" == record["status"]
    assert [
        "product 1: description has a text of 1,000,000 characters; at most 20,000 are allowed"
    ] == messages(record)
    assert before == mill.stored(BREAD)


@pytest.mark.slow
def test_an_attribute_of_many_megabytes_is_refused_unread(mill: Writer) -> None:
    """An attribute over four million bytes is the product's error."""
    record = mill.wait(
        mill.send(b'{"data": [{"gtin": "%b", "x": [%b1]}]}' % (BREAD.encode(), b"[],"[:3] * 1_400_000))
    )
    assert ["product 1: x has 4,200,003 bytes; at most 4,000,000 are allowed"] == messages(record)


@pytest.mark.slow
def test_hostile_bodies_keep_nobody_waiting(mill: Writer) -> None:
    """While 40 MB, a 100 MB gzip bomb and a deep payload come in at once, others are answered within a second."""
    bomb = gzip.compress(b'{"data": "' + b" " * 100_000_000, mtime=0)
    bodies: list[tuple[bytes, dict[str, str], set[int]]] = [
        (b" " * 40_000_000, {}, {413}),
        (bomb, {"Content-Encoding": "gzip"}, {413}),
        (b'{"data": [' + b"[" * 5_000_000, {}, {200}),
    ]
    replies: list[bool] = []

    def send(body: bytes, headers: dict[str, str], statuses: set[int]) -> None:
        writer = Writer(mill.base_url, MILL)
        with writer.session:
            writer.log_in()
            replies.append(writer.post_products(body, **headers).status_code in statuses)

    threads = [threading.Thread(target=send, args=one) for one in bodies]
    for thread in threads:
        thread.start()
    slowest = 0.0
    while any(thread.is_alive() for thread in threads):
        start = time.perf_counter()
        assert 200 == mill.search(limit=1).status_code
        slowest = max(slowest, time.perf_counter() - start)
    assert [True] * len(bodies) == replies
    assert slowest < 1.0
    assert "SUCCESS" == mill.write({"gtin": BREAD, "lifeCycle": 4})["status"]


def test_a_call_without_a_token_is_refused_whatever_it_brings(narrow: Writer) -> None:
    """Without a token the body is not read."""
    url = f"{narrow.base_url}/public/v1/products"
    reply: Any = requests.post(url, data=b" " * (LIMIT + 1), headers={"Content-Type": "text/plain"})
    assert (401, "token_missing") == refused(reply)

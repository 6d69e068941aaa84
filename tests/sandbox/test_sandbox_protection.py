"""What a page of somebody else, open in a browser on this machine, can do to the sandbox: nothing."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from small_exchange import BREAD, SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Fault, Sandbox
from prodex_sandbox.app import served_hosts

LIST, SEARCH, TOKEN = "/public/v1/products", "/public/v1/products/list", "/auth/v2/token"
KEYS = {"client_id": "shop", "client_secret": "shop-secret", "grant_type": "client_credentials"}
#: Method, path and what it sends, for each way into the sandbox.
CALLS: list[tuple[str, str, Any]] = [
    ("GET", LIST, None),
    ("POST", SEARCH, {}),
    ("POST", LIST, {"data": []}),
    ("POST", TOKEN, KEYS),
    ("GET", "/public/v1/products/track/1", None),
    ("GET", "/auth/v2/organization", None),
    ("GET", "/core/v3/productsegments/hierarchy", None),
    ("POST", "/public/v1/validation/rulesets/require", {}),
    ("GET", "/media/x.png", None),
    ("HEAD", "/media/x.png", None),
    ("GET", "/docs", None),
    ("GET", "/openapi.json", None),
    ("GET", "/health", None),
    ("GET", "/nothing", None),
    ("DELETE", LIST, None),
    ("OPTIONS", LIST, None),
    ("HEAD", LIST, None),
]
IDS = [f"{method} {path}" for method, path, _ in CALLS]

Reply = tuple[int, dict[str, str], bytes]


def call(at: Sandbox, method: str, path: str, body: Any = None, **headers: str) -> Reply:
    """Send exactly these headers; the Host is the sandbox's own unless given."""
    address = urlsplit(at.base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        content = b"" if body is None else json.dumps(body).encode()
        sent = {"Host": address.netloc, "Content-Length": str(len(content))} | headers
        for name, value in sent.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(content)
        reply = connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
    finally:
        connection.close()


@pytest.fixture
def authorization(sandbox: Sandbox) -> Iterator[str]:
    """Have a token of the shop."""
    caller = Caller(sandbox.base_url).log_in()
    with caller.session:
        yield str(caller.session.headers["Authorization"])


@each_row(("method", "path", "body"), CALLS, ids=IDS)
def test_a_rebound_name_gets_nothing(
    sandbox: Sandbox, authorization: str, method: str, path: str, body: Any
) -> None:
    """Whatever is called under a name that is not this machine's own is refused, token or not, and nothing is read."""
    for host in ("rebound.example", "rebound.example:80", "127.0.0.1.rebound.example", "localhost.example"):
        status, _, content = call(sandbox, method, path, body, Host=host, Authorization=authorization)
        assert 421 == status
        assert BREAD.encode() not in content
        if method != "HEAD":
            assert "host_not_served" == json.loads(content)["error"]


@each_row("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
@each_row("port", ["", ":80", ":65535"])
def test_the_names_of_this_machine_are_served(sandbox: Sandbox, host: str, port: str) -> None:
    """The loopback names are served, with the port, with that of a tunnel, or without any."""
    assert 200 == call(sandbox, "GET", "/health", Host=host + port)[0]


@each_row("host", ["", " ", "a@127.0.0.1", "127.0.0.1:x", "127.0.0.1/..", "127.0.0.1, b", "[::1"])
def test_a_host_that_is_none_is_refused(sandbox: Sandbox, host: str) -> None:
    """A Host header that is no name of a host gets nothing."""
    assert call(sandbox, "GET", "/health", Host=host)[0] in (400, 421)


def test_the_address_that_it_listens_on_is_served() -> None:
    """A sandbox that listens elsewhere is reached by that address, by a name that was allowed, and by no other."""
    served = served_hosts("192.0.2.7", ("Sandbox.lan", "fd00::1"))
    for host in ("192.0.2.7", "sandbox.lan", "SANDBOX.LAN:8000", "[fd00::1]:8000", "localhost"):
        assert served(host, "192.0.2.7"), host
    for host in ("192.0.2.8", "other.lan", "sandbox.lan.example", "fd00::1"):
        assert not served(host, "192.0.2.7"), host


def test_who_listens_on_every_address_is_served_at_the_one_that_was_called() -> None:
    """With --host 0.0.0.0 the address at which a call came in is served; a name that leads there is not."""
    served = served_hosts("0.0.0.0")
    assert served("192.0.2.7:8000", "192.0.2.7")
    assert not served("192.0.2.9:8000", "192.0.2.7")
    assert not served("rebound.example", "192.0.2.7")


FOREIGN = [
    "https://rebound.example",
    "http://127.0.0.1.rebound.example",
    "null",
    "https://rebound.example:443",
    "x",
]


@each_row("origin", FOREIGN)
def test_a_page_of_another_site_neither_writes_nor_gets_a_token(
    sandbox: Sandbox, authorization: str, origin: str
) -> None:
    """A call that a page of another site makes is refused for every endpoint that takes a body."""
    for method, path, body in CALLS:
        if method != "POST":
            continue
        reply = call(
            sandbox, method, path, body, Origin=origin, Authorization=authorization, Content_Type="text/plain"
        )
        assert (403, "origin_foreign") == (reply[0], json.loads(reply[2])["error"]), path


def test_no_page_of_another_site_may_read(sandbox: Sandbox, authorization: str) -> None:
    """Nothing allows another site to read: no preflight is granted, and no reply carries a header of CORS."""
    asks = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
    for method, path, body in [("OPTIONS", LIST, None), *CALLS]:
        headers = call(sandbox, method, path, body, Origin=FOREIGN[0], Authorization=authorization, **asks)[1]
        assert [] == [name for name in headers if name.startswith("access-control-")]


@each_row("origin", ["http://127.0.0.1:8888", "http://localhost", "https://[::1]:3000"])
def test_a_page_of_this_machine_may_write(sandbox: Sandbox, origin: str) -> None:
    """Pages that this machine serves itself, such as a notebook, may write; a script sends no Origin at all."""
    assert 200 == call(sandbox, "POST", TOKEN, KEYS, Origin=origin)[0]
    assert 200 == call(sandbox, "POST", TOKEN, KEYS)[0]


@pytest.mark.slow
@each_row(("method", "path", "body"), CALLS, ids=IDS)
def test_every_reply_says_that_its_type_is_not_to_be_guessed(
    sandbox: Sandbox, authorization: str, method: str, path: str, body: Any
) -> None:
    """Replies, errors, files, the docs, wrong paths and methods all say nosniff, once; so do refused hosts."""
    for headers in ({}, {"Authorization": authorization}, {"Host": "rebound.example"}):
        assert "nosniff" == call(sandbox, method, path, body, **headers)[1]["x-content-type-options"]


def test_what_is_no_http_is_refused_with_nosniff_too(sandbox: Sandbox) -> None:
    """Even the reply to bytes that are no call says it."""
    address = urlsplit(sandbox.base_url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        reply = raw.recv(10_000).lower()
    assert reply.startswith(b"http/1.1 400")
    assert b"x-content-type-options: nosniff" in reply


def test_a_fault_on_order_says_nosniff_too() -> None:
    """A page of HTML from an ordered fault is as harmless as the rest."""
    with Sandbox([], organizations=[SHOP], labels={}, faults=[Fault("502", endpoint="token")]) as sandbox:
        status, headers, _ = call(sandbox, "POST", TOKEN, KEYS)
        assert (502, "nosniff") == (status, headers["x-content-type-options"])


#: Path -> the methods that it takes.
METHODS = {
    LIST: {"GET", "HEAD", "OPTIONS", "POST"},
    SEARCH: {"OPTIONS", "POST"},
    TOKEN: {"OPTIONS", "POST"},
    "/auth/v1/token": {"OPTIONS", "POST"},
    "/auth/v2/organization": {"GET", "HEAD", "OPTIONS"},
    "/public/v1/products/track/7": {"GET", "HEAD", "OPTIONS"},
    "/core/v3/productsegments/hierarchy": {"GET", "HEAD", "OPTIONS"},
    "/public/v1/validation/rulesets/require": {"OPTIONS", "POST"},
    "/sandbox/scenarios": {"GET", "HEAD", "OPTIONS"},
    "/media/1/front.jpg": {"GET", "HEAD", "OPTIONS"},
    "/docs": {"GET", "HEAD", "OPTIONS"},
    "/openapi.json": {"GET", "HEAD", "OPTIONS"},
    "/health": {"GET", "HEAD", "OPTIONS"},
}


@each_row("path", METHODS)
def test_a_method_that_a_path_does_not_take_names_those_that_it_takes(sandbox: Sandbox, path: str) -> None:
    """405 comes with Allow, which names the methods of all endpoints at the path; OPTIONS says the same."""
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} - METHODS[path]:
        status, headers, content = call(sandbox, method, path)
        assert (405, METHODS[path]) == (status, set(headers["allow"].split(", "))), method
        if method != "HEAD":
            assert "method_not_allowed" == json.loads(content)["error"]
    status, headers, content = call(sandbox, "OPTIONS", path)
    assert (204, METHODS[path], b"") == (status, set(headers["allow"].split(", ")), content)


def test_a_path_that_is_none_allows_nothing(sandbox: Sandbox) -> None:
    """Where there is no path there is no Allow, whatever the method."""
    for method in ("GET", "OPTIONS", "DELETE"):
        status, headers, _ = call(sandbox, method, "/public/v2/products")
        assert (404, False) == (status, "allow" in headers)


@pytest.mark.slow
@each_row("path", [path for path, methods in METHODS.items() if "HEAD" in methods])
def test_head_answers_as_get_without_the_body(sandbox: Sandbox, authorization: str, path: str) -> None:
    """HEAD has status, type and length of GET, and no body."""
    status, headers, content = call(sandbox, "HEAD", path, Authorization=authorization)
    got, of_get, _ = call(sandbox, "GET", path, Authorization=authorization)
    assert (got, of_get["content-type"], b"") == (status, headers["content-type"], content)
    # A cursor is a number of up to nineteen digits, and differs from call to call.
    assert abs(int(of_get["content-length"]) - int(headers["content-length"])) < 19


@each_row("path", [path for path in METHODS if not path.startswith("/media")])
def test_a_path_may_end_with_a_slash(sandbox: Sandbox, authorization: str, path: str) -> None:
    """A slash at the end of a path changes nothing, and causes no redirect."""
    method = "GET" if "GET" in METHODS[path] else "POST"
    body = None if method == "GET" else {}
    replies = [call(sandbox, method, one, body, Authorization=authorization) for one in (path, f"{path}/")]
    assert replies[0][0] == replies[1][0]
    assert replies[0][0] not in (307, 308, 405)

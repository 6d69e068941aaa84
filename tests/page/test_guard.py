"""Who reaches the page of `prodex open`: a browser of this machine that has its address, and no page of others."""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .opened import OpenedPage, opened

pytestmark = pytest.mark.xdist_group("page")

_UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


@pytest.fixture(scope="module")
def page(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenedPage]:
    """Serve a page that all tests of this file ask; the last one ends it."""
    with opened(tmp_path_factory.mktemp("guard"), shop, "shop") as page:
        yield page


def asset_of(page: OpenedPage) -> str:
    """Return the path of a script that the page loads."""
    cookie = cookie_of(page)
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as connection:
        connection.sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n".encode()
        )
        html = b"".join(iter(lambda: connection.recv(65_536), b"")).decode("utf-8", "replace")
    found = re.search(r'src="\./(assets/[^"]+\.js)"', html)
    assert found, html[:400]
    return f"/{found[1]}"


def cookie_of(page: OpenedPage) -> str:
    """Return the cookie of a browser that was let in by the address."""
    answer = page.answer(f"/?access_token={page.token}")
    assert " 303 " in answer.splitlines()[0]
    found = re.search(r"set-cookie: ([^;]+);", answer, re.IGNORECASE)
    assert found, answer
    return found[1]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1:{port}.evil.example",
        "127.0.0.1.evil.example:{port}",
        "0.0.0.0:{port}",
        "[::1]:{port}",
        None,
    ],
)
def test_a_strange_host_is_refused_everywhere(page: OpenedPage, host: str | None) -> None:
    """A name of somebody else that leads to this machine opens no page, script or socket, with a cookie either."""
    cookie = f"Cookie: {cookie_of(page)}"
    named = None if host is None else host.format(port=page.port)

    for path, lines in (
        ("/", (cookie,)),
        (f"/?access_token={page.token}", ()),
        (asset_of(page), ()),
        ("/ws?session_id=s_000001", (*_UPGRADE, cookie)),
        ("/health", ()),
        ("/api/status", (cookie,)),
    ):
        status = page.answer(path, *lines, host=named).splitlines()[0]
        assert re.search(r" 40[03] ", status), (path, status)


def test_two_hosts_are_refused(page: OpenedPage) -> None:
    """Programs differ in which of two they take."""
    assert re.search(r" 40[03] ", page.answer("/", "Host: evil.example").splitlines()[0])


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}"]
)
def test_pages_of_others_are_refused(page: OpenedPage, origin: str) -> None:
    """The cookie of a browser goes to all ports of this machine: a page of another one has another origin."""
    cookie, named = f"Cookie: {cookie_of(page)}", f"Origin: {origin.format(port=page.port)}"

    for path, lines, method in (
        ("/", (), "GET"),
        ("/ws?session_id=s_000002", _UPGRADE, "GET"),
        ("/api/kernel/set_model_value", ("Content-Length: 0",), "POST"),
    ):
        assert " 403 " in page.answer(path, cookie, named, *lines, method=method).splitlines()[0]


def test_without_its_token_there_is_a_form_for_it_alone(page: OpenedPage) -> None:
    """Whoever lacks the address sees no product: of the page a form for the token, of its interface nothing."""
    front = page.answer("/")
    assert " 303 " in front.splitlines()[0]
    assert "/auth/login" in front
    assert " 303 " not in page.answer("/", f"Cookie: {cookie_of(page)}").splitlines()[0]
    assert "/auth/login" in page.answer("/?access_token=x")
    for path, method in (
        ("/api/kernel/set_model_value", "POST"),
        ("/api/kernel/set_ui_element_value", "POST"),
    ):
        assert re.search(r" 40[13] ", page.answer(path, "Content-Length: 0", method=method).splitlines()[0])
    # The socket is closed before anything is shown.
    assert "marimo" not in page.answer("/ws?session_id=s_000003", *_UPGRADE).split("\r\n\r\n", 1)[-1]


def test_a_browser_is_told_to_ask_nobody_else(page: OpenedPage) -> None:
    """Every answer says so, those with errors too; nobody else may read one, or show it in a frame."""
    cookie = f"Cookie: {cookie_of(page)}"
    for answer in (
        page.answer("/", cookie),
        page.answer(asset_of(page)),
        page.answer("/no", cookie),
        page.answer(host="x"),
    ):
        head = answer.split("\r\n\r\n")[0].lower()
        assert "content-security-policy: default-src 'self'" in head
        assert "frame-ancestors 'none'" in head
        assert "referrer-policy: no-referrer" in head
        assert "cross-origin-resource-policy: same-origin" in head
        assert "access-control-allow" not in head
        assert 1 == head.count("referrer-policy:")
        assert not re.search(
            r"(?<!ws:)//(?!127\.0\.0\.1|localhost)", head.split("content-security-policy:")[1].split("\n")[0]
        )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one address of themselves")
def test_it_listens_on_one_address_of_this_machine(page: OpenedPage) -> None:
    """No other machine can reach it, and other addresses of this one do not lead to it."""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", page.port), timeout=5)


def test_ctrl_c_ends_it_and_its_token_was_said_once(page: OpenedPage) -> None:
    """Without a traceback, after all that was asked here; nobody was asked for anything, and marimo left no file."""
    code, printed = page.end()

    assert (0, "") == (code, printed)
    assert "The page is closed." in page.said
    assert "Traceback" not in page.said
    assert page.token not in page.said
    assert [] == page.asked
    left = [str(path) for path in (page.folder / "user").rglob("*") if path.is_file()]
    assert [] == [path for path in left if "marimo" in path]


def test_each_browser_is_sent_to_the_page_once(shop: Path, tmp_path: Path) -> None:
    """Other users of this machine see with what a browser is started: that word opens nothing a second time."""
    told = tmp_path / "told.txt"
    writer = tmp_path / "browser.py"
    writer.write_text(
        f"import sys, pathlib; pathlib.Path({str(told)!r}).write_text(sys.argv[1], 'utf-8')\n", "utf-8"
    )
    with opened(
        tmp_path, shop, "shop", before=["--verbose"], browser=f"{sys.executable} {writer} %s"
    ) as page:
        for _ in range(200):
            if told.exists() and told.read_text("utf-8"):
                break
            page.answer("/health")
        address = told.read_text("utf-8")
        path = address.removeprefix(f"http://127.0.0.1:{page.port}")
        first, second = page.answer(path), page.answer(path)
        code, printed = page.end()

    assert path.startswith("/open/")
    assert page.token not in address
    assert " 303 " in first.splitlines()[0]
    assert f"location: /?access_token={page.token}" in first
    assert " 403 " in second.splitlines()[0]
    assert page.token not in second
    # A log of everything has it neither.
    assert (0, "") == (code, printed)
    assert page.token not in page.said

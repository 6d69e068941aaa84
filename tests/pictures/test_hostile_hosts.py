"""Hosts of pictures that never end, or say what nobody can read: each costs itself, and no other host."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd
import pytest

import prodex
from prodex.errors import MediaFailed, MediaRefused, ProdexError
from prodex.limits import Limits
from prodex.network.download import MediaDownloader
from prodex.network.retry import RetryPolicy
from tests.cases import each_row

from .conftest import Internet
from .file_server import FileServer, serving

ONCE = RetryPolicy(attempts=1)
HURRY = RetryPolicy(attempts=3, first_wait=0.01, longest_wait=0.02, jitter=0)
SANDBOX = b'{"service": "prodex sandbox"}'
HEALTH = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(SANDBOX) + SANDBOX


@contextmanager
def raw_host(head: bytes, drop: bytes = b"", *, health: bytes = HEALTH) -> Iterator[str]:
    """Serve a beginning and then the same again and again, on a raw socket; give the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve(caller: socket.socket) -> None:
            with caller, suppress(OSError):
                while request := caller.recv(65_536):
                    if b"GET /health" in request:
                        caller.sendall(health)
                        continue
                    caller.sendall(head)
                    while drop:
                        caller.sendall(drop)
                        time.sleep(0.02)
                    return

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        thread.join()


ENDLESS = {
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "white space": (b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n", b" "),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "one chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n", b" "),
    "without a length": (b"HTTP/1.0 200 OK\r\n\r\n", b" "),
    "a refusal": (b"HTTP/1.1 404 Not Found\r\n\r\n", b" "),
    "a redirect": (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", b" "),
}


@pytest.mark.slow
@each_row("kind", ENDLESS)
def test_a_file_that_never_ends_is_left_in_time(kind: str, tmp_path: Path) -> None:
    """Although each read brings something; a status that came is an answer already."""
    with (
        raw_host(*ENDLESS[kind]) as base_url,
        MediaDownloader(base_url, limits=Limits(seconds=0.4), retry=ONCE) as media,
    ):
        begin = time.monotonic()
        with pytest.raises(MediaFailed) as caught:
            media.download(f"{base_url}/a.jpg", tmp_path / "part")

    assert time.monotonic() - begin < 3
    if not kind.startswith("a r"):
        said = r"took more than 0[.]4 s and is incomplete: stopped after \d[.]\d s: "
        assert re.search(said, str(caught.value))
        assert "download_pictures(limits=px.limits.Limits(seconds=...)) sets another" in str(caught.value)


def test_what_says_that_it_is_a_sandbox_for_ever_is_left_in_time(tmp_path: Path) -> None:
    """The question whether a sandbox answers has the same limits."""
    health = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"
    with (
        raw_host(b"", health=health) as base_url,
        MediaDownloader(base_url, limits=Limits(seconds=0.4), retry=ONCE) as media,
    ):
        begin = time.monotonic()
        with pytest.raises(MediaFailed, match=r"more than 0[.]4 s"):
            media.download(f"{base_url}/a.jpg", tmp_path / "part")

    assert time.monotonic() - begin < 3


@pytest.mark.slow
@each_row(
    "header",
    [
        "Retry-After: Fri, 31 Dec 9999 23:59:59 -1200",
        f"Retry-After: {'9' * 400}",
        "Date: Fri, 31 Dec 9999 23:59:59 -1200",
        "Last-Modified: Fri, 31 Dec 9999 23:59:59 -1200",
        f"Content-Length: {'9' * 400}",
        f"Content-Length: {'9' * 5000}",
        f"Content-Range: bytes {'9' * 400}-{'9' * 401}/*",
        f'ETag: "{"9" * 5000}"',
        f"Set-Cookie: a=b; Max-Age={'9' * 400}",
    ],
)
@each_row("status", [200, 206, 302, 404, 416, 429, 503])
def test_no_header_ends_in_anything_but_our_errors(header: str, status: int, tmp_path: Path) -> None:
    """Numbers and dates that nobody can hold are passed over."""
    head = f"HTTP/1.1 {status} X\r\n{header}\r\n\r\n".encode() + b"content"
    part = tmp_path / "part"
    part.write_bytes(b"con")
    part.with_suffix(".version").write_text('"1"')
    with raw_host(head) as base_url, MediaDownloader(base_url, retry=HURRY) as media:
        try:
            media.download(f"{base_url}/a.jpg", part)
        except ProdexError as error:
            assert status != 200 or header.startswith("Content-Length"), error  # noqa: PT017 - some are refused
        else:
            assert b"content" == part.read_bytes()


@pytest.mark.slow
def test_one_host_that_asks_for_an_endless_pause_costs_only_its_own(
    server: FileServer, internet: Internet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All the pictures of a catalogue are downloaded, those of the host that is unwell excepted."""
    monkeypatch.setitem(MediaDownloader.__init__.__kwdefaults__, "resolve", internet.resolve)
    internet.names |= {"good.example": ["93.184.215.14"], "bad.example": ["8.8.8.8"]}
    with serving() as bad:
        internet.machines |= {"93.184.215.14": server.port, "8.8.8.8": bad.port}
        pause = {"Retry-After": "Fri, 31 Dec 9999 23:59:59 -1200", "Date": "Fri, 31 Dec 9999 23:59:59 -1200"}
        pictures = []
        for number in range(4):
            server.serve(f"/{number}.jpg", _picture(number))
            bad.serve(f"/{number}.jpg", status=503, headers=pause)
            pictures += [{"url": f"http://{host}.example/{number}.jpg"} for host in ("bad", "good")]
        catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "assets": {"pictures": pictures}}])
        outcome = prodex.download_pictures(catalog, tmp_path, limits=prodex.limits.Limits(seconds=5))

    files: pd.DataFrame = outcome.files
    assert 4 == (files["state"] == "downloaded").sum()
    assert 4 == files["reason"].dropna().str.contains("bad.example answered with HTTP 503").sum()


def _picture(number: int) -> bytes:
    import io

    from PIL import Image

    content = io.BytesIO()
    Image.new("RGB", (20 + number, 20)).save(content, "JPEG")
    return content.getvalue()


def test_the_limits_of_a_download_are_a_setting(
    server: FileServer, internet: Internet, tmp_path: Path
) -> None:
    """Smaller than the picture: the row says how large it is, and what would let it pass."""
    said = r"has 20 bytes, and the limit is 10: .*px.limits.Limits\(wire_bytes=...\)\) raises it"
    with (
        MediaDownloader(server.base_url, limits=Limits(wire_bytes=10)) as media,
        pytest.raises(MediaRefused, match=said),
    ):
        media.download(server.serve("/a.jpg", bytes(20)), tmp_path / "part")
    with MediaDownloader(server.base_url, limits=Limits(wire_bytes=20)) as media:
        media.download(server.serve("/a.jpg", bytes(20)), tmp_path / "part")

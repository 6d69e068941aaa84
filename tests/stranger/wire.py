"""HTTP/1.1 over a raw socket: read a request, send a reply, with nothing between us and the bytes."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

LONGEST = 120.0
"""No exchange lasts longer than this, in seconds."""

MOST_HEAD = 256 * 1024
MOST_BODY = 256 * 1024 * 1024


@dataclass(frozen=True)
class Request:
    """One request as it came; header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def path(self) -> str:
        """The target without its query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The query parameters; of a repeated one, all values joined with commas."""
        found: dict[str, str] = {}
        for name, value in parse_qsl(urlsplit(self.target).query, keep_blank_values=True):
            found[name] = f"{found[name]},{value}" if name in found else value
        return found

    @property
    def content(self) -> Any:
        """The body as JSON, else as text; for a request without a body, its query or None."""
        if not self.body:
            return self.query or None
        body = self.body
        if self.headers.get("content-encoding") == "gzip":
            with contextlib.suppress(OSError, EOFError):
                body = gzip.decompress(body)
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return body.decode("utf-8", "replace")


@dataclass(frozen=True)
class Reply:
    """One reply; ``deliver`` replaces the ordinary way of sending it."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    version: str = "HTTP/1.1"
    framing: str = "length"  # or "chunked", or "close": the end of the connection ends the body
    deliver: Callable[[Line, Reply], bool] | None = None
    hangs_up: bool = False  # close afterwards without announcing it

    def having(self, **changes: Any) -> Reply:
        """The same reply with some fields changed."""
        return replace(self, **changes)

    def headed(self, **headers: str | None) -> Reply:
        """The same reply with headers set, or removed where None; ``_`` is written ``-``."""
        merged: dict[str, str | None] = dict(self.headers)
        merged.update({name.replace("_", "-").title(): value for name, value in headers.items()})
        return replace(self, headers={n: v for n, v in merged.items() if v is not None})

    def head(self) -> bytes:
        """The status line and the headers, ready to send."""
        try:
            reason = HTTPStatus(self.status).phrase
        except ValueError:
            reason = "Unknown"
        headers = dict(self.headers)
        if self.framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
        elif self.framing == "length" and self.status != 204:
            headers.setdefault("Content-Length", str(len(self.body)))
        elif self.framing == "close":
            headers["Connection"] = "close"
        lines = [f"{self.version} {self.status} {reason}", *(f"{n}: {v}" for n, v in headers.items())]
        # Header values may hold bytes beyond ASCII on purpose; UTF-8 is what careless services send.
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def _number(text: str | bytes, base: int) -> int:
    """A length as the client announces it."""
    try:
        return int(text, base)
    except ValueError as error:
        raise ConnectionError(f"not a length: {text!r}") from error


class Line:
    """One connection: a socket with a buffer, an end in time, and a way out when the server stops."""

    def __init__(self, sock: socket.socket, stopping: threading.Event) -> None:
        self.sock = sock
        self.stopping = stopping
        self._buffer = b""
        self._ends = time.monotonic() + LONGEST
        sock.settimeout(LONGEST)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read_head(self) -> Request | None:
        """Read the request line and headers; None when the client has gone."""
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > MOST_HEAD or not self._fill():
                return None
        self._ends = time.monotonic() + LONGEST
        head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
        first, *rest = head.decode("latin-1").split("\r\n")
        parts = first.split(" ")
        if len(parts) != 3:
            raise ConnectionError(f"not a request line: {first!r}")
        method, target, _ = parts
        pairs = (line.split(":", 1) for line in rest if ":" in line)
        return Request(method, target, {name.strip().lower(): value.strip() for name, value in pairs})

    def read_body(self, head: Request) -> Request:
        """Read the body that the headers announce."""
        if head.headers.get("expect", "").lower() == "100-continue":
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        if "chunked" in head.headers.get("transfer-encoding", "").lower():
            return replace(head, body=self._read_chunks())
        return replace(
            head, body=self._take(min(_number(head.headers.get("content-length", "0"), 10), MOST_BODY))
        )

    def send_reply(self, reply: Reply, method: str) -> bool:
        """Send a reply; True when the connection can take another request."""
        if reply.deliver is not None:
            return reply.deliver(self, reply)
        body = b"" if method == "HEAD" or reply.status in {204, 304} else reply.body
        if reply.framing == "chunked":
            pieces = (body[i : i + 65536] for i in range(0, len(body), 65536))
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        self.send(reply.head() + body)
        return reply.framing != "close" and not reply.hangs_up

    def send(self, data: bytes) -> None:
        """Send bytes; raises OSError when the client has gone."""
        self.sock.sendall(data)

    def pause(self, seconds: float) -> bool:
        """Wait; False when the server stops or this exchange has lasted too long."""
        return not self.stopping.wait(seconds) and time.monotonic() < self._ends

    def close(self) -> None:
        """End the connection in an orderly way, so that bytes already sent still arrive."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()

    def _fill(self) -> bool:
        data = self.sock.recv(262144)
        self._buffer += data
        return bool(data)

    def _take(self, count: int) -> bytes:
        # Pieces are joined once: adding to a bytes object for each of them is slow for large bodies.
        pieces, held = [self._buffer], len(self._buffer)
        while held < count:
            data = self.sock.recv(262144)
            if not data:
                raise ConnectionError("the client left in the middle of its request")
            pieces.append(data)
            held += len(data)
        everything = b"".join(pieces)
        self._buffer = everything[count:]
        return everything[:count]

    def _take_line(self) -> bytes:
        while b"\r\n" not in self._buffer:
            if not self._fill():
                raise ConnectionError("the client left in the middle of its request")
        line, self._buffer = self._buffer.split(b"\r\n", 1)
        return line

    def _read_chunks(self) -> bytes:
        pieces = []
        while size := _number(self._take_line().split(b";")[0], 16):
            pieces.append(self._take(size))
            self._take_line()
        while self._take_line():
            pass  # trailers are read and dropped
        return b"".join(pieces)

"""A small server of files on this machine: ranges, versions, redirects, and everything that can go wrong."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class File:
    """What the server gives at a path.

    Attributes
    ----------
    content, version
        The bytes, and their ETag.
    status, headers
        Of the reply.
    cuts
        How many bytes come before the connection breaks, once for each entry.
    drip
        Seconds between single bytes.
    ranges
        Whether it can go on in the middle.
    unannounced
        Whether it keeps its length to itself.
    trails
        What comes a moment later, though the file was complete.
    before
        Called before a reply; its result, if any, is the status of the reply.
    """

    content: bytes = b""
    version: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)
    drip: float = 0
    ranges: bool = True
    unannounced: bool = False
    trails: bytes = b""
    before: Callable[[], int | None] = lambda: None


@dataclass
class FileServer:
    """The files that are served, and the requests that came: path and headers.

    It says of itself that it is a sandbox (`health`), and keeps the questions for that apart (`identified`).
    """

    port: int
    health: bytes = b'{"service": "prodex sandbox", "products": 1}'
    identified: list[dict[str, str]] = field(default_factory=list)
    files: dict[str, File] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def serve(self, path: str, content: bytes = b"", **options: Any) -> str:
        """Serve a file; return its address."""
        self.files[path] = File(content, **options)
        return self.base_url + path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: FileServer

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.path == "/health":
            self.served.identified.append(headers)
            file = File(self.served.health)
        else:
            self.served.asked.append((self.path, headers))
            file = self.served.files.get(self.path, File(b"nothing here", status=404))
        status = file.before() or file.status
        content, start = file.content, 0
        asked = self.headers.get("Range")
        if asked and file.ranges and status == 200 and self.headers.get("If-Range") in {None, file.version}:
            start = int(asked.removeprefix("bytes=").partition("-")[0])
            status = 206 if start < len(content) else 416
            content = content[start:] if status == 206 else b""
        self.send_response(status)
        if file.unannounced:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(content)))
        if file.version is not None:
            self.send_header("ETag", file.version)
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(file.content) - 1}/{len(file.content)}")
        for name, value in file.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self._send(file, content)

    def _send(self, file: File, content: bytes) -> None:
        if file.cuts:
            self.wfile.write(content[: file.cuts.pop(0)])
            self.close_connection = True
        elif file.drip:
            for byte in content:
                self.wfile.write(bytes([byte]))
                time.sleep(file.drip)
        else:
            self.wfile.write(content)
        if file.trails:
            time.sleep(0.1)
            self.wfile.write(file.trails)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are what is tested."""


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[FileServer]:
    """Serve files on a free port of this machine, with TLS where there is a certificate."""
    handler = type("Handler", (_Handler,), {})
    with _Server(("127.0.0.1", 0), handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        served = FileServer(server.server_port)
        handler.served = served
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield served
        server.shutdown()

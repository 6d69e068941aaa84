"""A service on a raw socket: what it answers is written byte by byte, as no server library would."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

Answer = Callable[[socket.socket], None]
ENVELOPE = b'{"totalResults": 1, "offset": 0, "data": [{"id": 1}]}'


@dataclass
class RawServer:
    """The service.

    Attributes
    ----------
    port
        Where it listens.
    answer
        Writes the reply to any call but those for a token.
    certificate
        Of localhost, with its key, where it speaks TLS.
    paths
        What was asked for, tokens left out.
    """

    port: int
    answer: Answer
    certificate: Path | None = None
    paths: list[str] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return (
            f"http://127.0.0.1:{self.port}" if self.certificate is None else f"https://localhost:{self.port}"
        )

    def secured(self, caller: socket.socket) -> socket.socket:
        """Return the connection, with TLS if there is a certificate."""
        if self.certificate is None:
            return caller
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        return context.wrap_socket(caller, server_side=True)


@contextmanager
def raw_server(answer: Answer, port: int = 0, certificate: Path | None = None) -> Iterator[RawServer]:
    """Serve on a port, a free one unless given; a connection ends with its first call that is none for a token."""
    with socket.create_server(("127.0.0.1", port), backlog=64) as listening:
        server = RawServer(listening.getsockname()[1], answer, certificate)

        def serve(accepted: socket.socket) -> None:
            # Callers that hang up are what is tested.
            with accepted, suppress(OSError), server.secured(accepted) as caller:
                while path := _path_of(_request(caller)):
                    if path.endswith("/token"):
                        caller.sendall(reply(json.dumps({"access_token": "a.b.c"}).encode()))
                        continue
                    server.paths.append(path)
                    server.answer(caller)
                    return

        def accept() -> None:
            while True:
                try:
                    caller = listening.accept()[0]
                except OSError:
                    return
                threading.Thread(target=serve, args=(caller,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def in_turn(*answers: Answer) -> Answer:
    """Answer one call after the other in other ways."""
    left = iter(answers)

    def answer(caller: socket.socket) -> None:
        next(left)(caller)

    return answer


def reply(body: bytes = ENVELOPE, *headers: str, length: bool = True, version: str = "1.1") -> bytes:
    """Return the bytes of a reply."""
    lines = [f"HTTP/{version} 200 OK", *headers, *([f"Content-Length: {len(body)}"] if length else [])]
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1") + b"\r\n" + body


def chunk(data: bytes) -> bytes:
    """Return one chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _request(caller: socket.socket) -> bytes:
    """Read one request, body and all."""
    came = b""
    while b"\r\n\r\n" not in came:
        if not (more := caller.recv(65_536)):
            return b""
        came += more
    head, _, body = came.partition(b"\r\n\r\n")
    lengths = [
        line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    ]
    left = int(lengths[0]) - len(body) if lengths else 0
    while left > 0 and (more := caller.recv(min(left, 65_536))):
        left -= len(more)
    return head


def _path_of(head: bytes) -> str:
    return head.split(b" ")[1].decode() if head else ""

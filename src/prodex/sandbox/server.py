"""The server: a listening socket, uvicorn on it, and a note of every call."""

from __future__ import annotations

import hashlib
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.raw_json import decode

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK: Final = "127.0.0.1"

#: No browser takes a reply for something else than its type says: a product's text for a page, say.
NO_GUESSING: Final = ("X-Content-Type-Options", "nosniff")

#: Ports from which homes get theirs: below those that systems hand out by themselves.
_FIRST_PORT: Final = 20_000
_PORTS: Final = 10_000


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port, a free one for 0. Calls wait there until the server is up."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=2048)
    # Calls inherit it; without it, the end of a short reply waits 40 ms for the other side.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def listen_as_before(host: str, home: Path) -> socket.socket:
    """Listen on the port that belongs to a home, or on any other where that one is taken."""
    digest = hashlib.sha256(str(home.absolute()).encode()).digest()
    try:
        return listen(host, _FIRST_PORT + int.from_bytes(digest[:2], "big") % _PORTS)
    except OSError:
        return listen(host, 0)


def base_url_of(listener: socket.socket) -> str:
    """Return the address of a listening socket as a base URL."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server_of(app: ASGIApp, behaviour: Behaviour) -> uvicorn.Server:
    """Make the server of an application, silent and without anybody's logging touched."""
    import uvicorn

    from prodex.sandbox.faults.middleware import Connection

    # Callers keep connections between calls; one that was closed meanwhile would fail their next call.
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=Connection,
            headers=[NO_GUESSING],
            # A clock that is off shows in Date too; see `FaultMiddleware`.
            date_header=not behaviour.clock_skew,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=3,
        )
    )


def stop(server: uvicorn.Server, thread: threading.Thread) -> None:
    """Stop a server, and wait for its thread."""
    server.should_exit = True
    thread.join()


class RecordingMiddleware:
    """Notes every call that comes to the application, of a body that is too large the beginning."""

    def __init__(self, app: ASGIApp, requests: list[tuple[str, str, Any]], limit: int) -> None:
        self._app = app
        self._requests = requests
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        messages = [await receive()]
        size = len(messages[0].get("body", b""))
        while messages[-1].get("more_body") and size <= self._limit:
            messages.append(await receive())
            size += len(messages[-1].get("body", b""))
        body = b"".join(message.get("body", b"") for message in messages)
        parameters: Any = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if body:
            try:
                parameters = decode(body)
            except (ValueError, RecursionError):
                parameters = body
        self._requests.append((scope["method"], scope["path"], parameters))

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)

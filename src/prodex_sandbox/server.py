"""The server: a listening socket, and uvicorn on it."""

from __future__ import annotations

import hashlib
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

import uvicorn

from prodex_sandbox.api.middleware import NO_SNIFFING
from prodex_sandbox.connections import Connection, Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

#: The range of ports for homes: below those that operating systems assign by themselves.
_FIRST_PORT: Final = 20_000
_PORTS: Final = 10_000

_SECONDS_BETWEEN_TIDYINGS: Final = 1


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port, a free one for 0. Calls wait there until the server is up."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Calls that arrive while the server starts wait in the backlog.
    listener = socket.create_server((host, port), family=family, backlog=2048)
    # Connections inherit it; without it, the end of a short reply waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def listen_on_home_port(host: str, home: Path) -> socket.socket:
    """Listen on the port that belongs to a home, or on any other where that one is taken."""
    digest = hashlib.sha256(str(home.absolute()).encode()).digest()
    try:
        return listen(host, _FIRST_PORT + int.from_bytes(digest[:2], "big") % _PORTS)
    # The port is taken, by another program or by another home with the same digest.
    except OSError:
        return listen(host, 0)


def base_url_of(listener: socket.socket) -> str:
    """Return the address of a listening socket as a base URL."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server_of(app: ASGIApp, tidy: Callable[[], None]) -> uvicorn.Server:
    """Make the server of an application, silent and without anybody's logging touched.

    Parameters
    ----------
    app
        The application.
    tidy
        Called every few seconds, whether calls come or not.
    """

    async def tidied() -> None:
        tidy()

    # Callers keep connections open between calls; a call on one that was closed meanwhile would fail.
    return Server(
        uvicorn.Config(
            app,
            http=Connection,
            headers=[NO_SNIFFING],
            # `DateMiddleware` sends it, by the clock of the service.
            date_header=False,
            ws="none",
            loop="asyncio",
            # The application has nothing to start or stop.
            lifespan="off",
            # A sandbox in a notebook must not change the logging of its process.
            log_config=None,
            access_log=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=3,
            callback_notify=tidied,
            timeout_notify=_SECONDS_BETWEEN_TIDYINGS,
        )
    )


def stop(server: uvicorn.Server, thread: threading.Thread) -> None:
    """Stop a server, and wait for its thread."""
    server.should_exit = True
    thread.join()

"""The server: a listening socket, uvicorn on it, and connections that end with it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from prodex_sandbox.app import NO_SNIFFING
from prodex_sandbox.faults.call import TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

_LOGGER: Final = logging.getLogger(__name__)

#: The range of ports for homes: below those that operating systems assign by themselves.
_FIRST_PORT: Final = 20_000
_PORTS: Final = 10_000

_SECONDS_BETWEEN_TIDYINGS: Final = 1
#: How often the server looks whether it is to stop, and, when it stops, whether its last calls have ended. Uvicorn
#: counts on ten turns a second.
_SECONDS_A_TURN: Final = 0.1
_SECONDS_BETWEEN_LOOKS: Final = 0.005


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port, a free one for 0. Calls wait there until the server is up."""
    if port not in range(2**16):
        raise ValueError(f"port is {port!r}; it is a number from 0 to {2**16 - 1}.")
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


def server_of(app: ASGIApp, tidy: Callable[[], None]) -> Server:
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


def stop(server: Server, thread: threading.Thread) -> None:
    """Stop a server, and wait for its thread."""
    server.stop()
    thread.join()


#: A connection that was accepted is known to the server after two turns of its loop; one more is taken.
_TURNS_UNTIL_KNOWN: Final = 3


class Connection(H11Protocol):
    """A connection of the server that lets a call reach its transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its parent
        super().connection_made(transport)
        self.app_state: dict[str, Any] = {**self.app_state, TRANSPORT: transport}

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no call, with the header that every reply has; uvicorn would send it without."""
        name, value = NO_SNIFFING
        body = msg.encode("ascii")
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n%b: %b\r\n\r\n%b" % (len(body), name.encode(), value.encode(), body)
        )
        self.transport.close()


class Server(uvicorn.Server):
    """A server that stops at once when it is asked to, and leaves no connection open."""

    _wake: Callable[[], object] | None = None

    def stop(self) -> None:
        """Ask to stop, from any thread."""
        self.should_exit = True
        if self._wake:
            # The loop may have ended by itself.
            with suppress(RuntimeError):
                self._wake()

    async def main_loop(self) -> None:
        """Serve until it is asked to stop. A loop of uvicorn sees that a tenth of a second later."""
        asked = asyncio.Event()
        self._wake = partial(asyncio.get_running_loop().call_soon_threadsafe, asked.set)
        turns = 0
        while not await self.on_tick(turns):
            turns += 1
            # A signal sets no event: it is seen after this time.
            with suppress(TimeoutError):
                await asyncio.wait_for(asked.wait(), _SECONDS_A_TURN)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ask every connection to end, wait for the calls that run, and cut what is left after that."""
        for listening in self.servers:
            listening.close()
        for listener in sockets or ():
            listener.close()
        # One that was just accepted would be asked by nobody: its caller would wait for an answer, and the server, in
        # vain, for the caller.
        for _ in range(_TURNS_UNTIL_KNOWN):
            await asyncio.sleep(0)
        for connection in list(self.server_state.connections):
            connection.shutdown()
        # uvicorn waits for tenths of a second.
        end = time.monotonic() + (self.config.timeout_graceful_shutdown or 0)
        while self._is_serving() and time.monotonic() < end:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        if self._is_serving():
            _LOGGER.error("Calls are cut: they did not end in %s s", self.config.timeout_graceful_shutdown)
        for task in self.server_state.tasks:
            task.cancel()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        # The transports are closed in the next turn of the loop.
        await asyncio.sleep(0)

    def _is_serving(self) -> bool:
        return bool(self.server_state.connections or self.server_state.tasks) and not self.force_exit

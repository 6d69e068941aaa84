"""The connections of the server: a call can reach its own, and all of them end with the server."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from prodex_sandbox.api.middleware import NO_SNIFFING
from prodex_sandbox.faults.call import TRANSPORT

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
    """A server that leaves no connection open when it stops."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ask every connection to end, wait for the calls that run, and cut what is left after that."""
        for listening in self.servers:
            listening.close()
        # uvicorn asks the connections that it knows. One that was just accepted would be asked by nobody: its caller
        # would wait for an answer, and the server, in vain, for the caller.
        for _ in range(_TURNS_UNTIL_KNOWN):
            await asyncio.sleep(0)
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        # The transports are closed in the next turn of the loop.
        await asyncio.sleep(0)

"""One call as faults handle it, and the part of the product list that a call gets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import anyio

from prodex_sandbox.raw_json import encode
from prodex_sandbox.refusals import Refusal

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Under this name the state of a call holds the transport of its connection.
TRANSPORT: Final = "transport"


def caller_address(scope: Scope) -> str:
    """Return the address of the caller, whatever its headers claim."""
    transport: asyncio.Transport | None = scope.get("state", {}).get(TRANSPORT)
    peer = transport.get_extra_info("peername") if transport else scope.get("client")
    return str(peer[0]) if peer else ""


@dataclass(frozen=True)
class PageSlice:
    """What a call is about to get from the product list; faults change it.

    Attributes
    ----------
    position
        Index of its first product, from 0.
    cursor
        The cursor of the call, None for a page by offset and the first of a scroll.
    cursor_lost
        Whether the service forgets the cursor.
    without
        How many of its first products are left out of the page.
    """

    position: int
    cursor: str | None
    cursor_lost: bool = False
    without: int = 0


class Call:
    """One call, as faults handle it.

    Parameters
    ----------
    app, scope, receive, send
        The application that answers the call, and the call (ASGI).
    failures
        Gets the errors of functions that a fault runs.
    expire_tokens
        Makes every token expire that was issued until now.

    Attributes
    ----------
    answered
        Whether nothing more is to be sent.
    """

    def __init__(
        self,
        app: ASGIApp,
        scope: Scope,
        receive: Receive,
        send: Send,
        failures: list[Exception],
        expire_tokens: Callable[[], None],
    ) -> None:
        self._app = app
        self._failures = failures
        self.scope = scope
        self.receive = receive
        self.send = send
        self.expire_tokens = expire_tokens
        self.answered: bool = False

    async def reply(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        """Answer in place of the application."""
        length = (b"content-length", b"%d" % len(body))
        await self.send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        await self.send({"type": "http.response.body", "body": body})
        self.answered = True

    async def fail(self, error: Exception) -> None:
        """Record an error that is not the caller's, and answer that the sandbox failed."""
        self._failures.append(error)
        refusal = Refusal("internal_error", f"The function that ran at this call raised {error!r}.")
        await self.reply(refusal.status, [(b"content-type", b"application/json")], encode(refusal.body))

    async def hang_up(self) -> None:
        """Close the connection without an answer."""
        # `close` would wait until what is buffered has been sent.
        self._transport.abort()
        await self._end()

    async def answer_half(self) -> None:
        """Let the application answer, and close the connection after half of the body."""

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                half = message["body"][: len(message["body"]) // 2]
                # `more_body` keeps the server from ending the reply, which has announced its full length.
                message = {"type": message["type"], "body": half, "more_body": True}
            await self.send(message)

        await self._app(self.scope, self.receive, send)
        self._transport.close()
        await self._end()

    async def answer_as(self, pieces: Callable[[bytes], AsyncIterator[bytes]]) -> None:
        """Let the application answer, and send in place of its body what is made of it, piece by piece."""

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                async for piece in pieces(message["body"]):
                    await self.send({"type": message["type"], "body": piece, "more_body": True})
                message = {**message, "body": b""}
            await self.send(message)

        await self._app(self.scope, self.receive, send)
        self.answered = True

    async def wait(self, seconds: float) -> None:
        """Wait for so long, or until the caller has closed the connection."""
        with anyio.move_on_after(seconds):
            await self._disconnected()

    async def _end(self) -> None:
        # The server logs an end without an answer as an error unless it has seen that the connection is closed.
        await self._disconnected()
        self.answered = True

    async def _disconnected(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    @property
    def _transport(self) -> asyncio.Transport:
        transport: asyncio.Transport = self.scope["state"][TRANSPORT]
        return transport

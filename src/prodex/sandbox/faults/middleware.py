"""What stands between the network and the application: it does to calls what was ordered."""

from __future__ import annotations

import time
from asyncio import sleep, wait_for
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from email.utils import formatdate
from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.faults.kinds import FAULTS, PageSlice
from prodex.sandbox.faults.schedule import FaultHit, FaultSchedule
from prodex.sandbox.raw_json import encode
from prodex.sandbox.refusals import Refusal
from prodex.sandbox.server import NO_GUESSING

if TYPE_CHECKING:
    import asyncio

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_TRANSPORT: Final = "transport"
_SPOIL: Final = "spoil"


class FaultMiddleware:
    """The application as it looks from outside: late, with a clock of its own, and failing as ordered."""

    def __init__(
        self, app: ASGIApp, orders: FaultSchedule, behaviour: Behaviour, expire_tokens: Callable[[], None]
    ) -> None:
        self._app = app
        self._orders = orders
        self._behaviour = behaviour
        self._expire_tokens = expire_tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._behaviour.clock_skew:
            send = _with_date(send, self._behaviour.clock_skew)
        if self._behaviour.latency:
            await sleep(self._behaviour.latency)
        if due := self._orders.due(scope["method"], scope["path"]):
            await self._fail(due, Call(self._app, scope, receive, send, self._orders, self._expire_tokens))
        else:
            await self._app(scope, receive, send)

    async def _fail(self, due: Sequence[FaultHit], call: Call) -> None:
        spoiling = [hit for hit in due if FAULTS[hit.kind].spoils]
        for hit in due:
            if strike := FAULTS[hit.kind].strikes:
                self._orders.hits.append(hit)
                await strike(hit.fault, call)
                if call.answered:
                    return
        if spoiling:
            call.scope["state"][_SPOIL] = lambda stretch: self._spoiled(spoiling, stretch)
        await self._app(call.scope, call.receive, call.send)

    def _spoiled(self, spoiling: Sequence[FaultHit], stretch: PageSlice) -> PageSlice:
        for hit in spoiling:
            spoil = FAULTS[hit.kind].spoils
            assert spoil is not None  # noqa: S101 - they were chosen by it
            before, stretch = stretch, spoil(hit.fault, stretch)
            if stretch != before:
                self._orders.hits.append(hit)
        return stretch


def spoiling(scope: Scope) -> Callable[[PageSlice], PageSlice]:
    """Return what is done to the page that a call asks for."""
    spoil: Callable[[PageSlice], PageSlice] = scope.get("state", {}).get(_SPOIL, _as_it_is)
    return spoil


def caller_address(scope: Scope) -> str:
    """Return the address that a call came from, whatever its headers claim."""
    transport: asyncio.Transport | None = scope.get("state", {}).get(_TRANSPORT)
    peer = transport.get_extra_info("peername") if transport else scope.get("client")
    return str(peer[0]) if peer else ""


class Call:
    """One call, as faults handle it.

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
        orders: FaultSchedule,
        expire_tokens: Callable[[], None],
    ) -> None:
        self._app = app
        self._orders = orders
        self.scope = scope
        self.receive = receive
        self.send = send
        self.expire_tokens = expire_tokens
        self.answered = False

    async def reply(self, status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> None:
        """Answer in place of the application."""
        length = (b"content-length", b"%d" % len(body))
        await self.send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
        await self.send({"type": "http.response.body", "body": body})
        self.answered = True

    async def fail(self, error: Exception) -> None:
        """Note an error that is not the caller's, and answer that the sandbox failed."""
        self._orders.failures.append(error)
        refusal = Refusal("internal_error", f"What was run at this call raised {error!r}.")
        await self.reply(refusal.status, [(b"content-type", b"application/json")], encode(refusal.body))

    async def hang_up(self) -> None:
        """Close the connection without an answer."""
        self._transport.abort()
        await self._end()

    async def answer_half(self) -> None:
        """Let the application answer, and close the connection after half of the body."""

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                half = message["body"][: len(message["body"]) // 2]
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
        """Wait so long, or until the caller has gone."""
        with suppress(TimeoutError):
            await wait_for(self._see_gone(), seconds)

    async def _end(self) -> None:
        # The server takes an end without answer for a mistake unless it has seen that the connection is gone.
        await self._see_gone()
        self.answered = True

    async def _see_gone(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass

    @property
    def _transport(self) -> asyncio.Transport:
        transport: asyncio.Transport = self.scope["state"][_TRANSPORT]
        return transport


class Connection(H11Protocol):
    """A connection of the server that lets a call reach its transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as its parent
        super().connection_made(transport)
        self.app_state = {**self.app_state, _TRANSPORT: transport}

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are no call, with the header that every reply has; the server sends this one bare."""
        name, value = NO_GUESSING
        body = msg.encode("ascii")
        self.transport.write(
            b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n%b: %b\r\n\r\n%b" % (len(body), name.encode(), value.encode(), body)
        )
        self.transport.close()


def _with_date(send: Send, skew: float) -> Send:
    async def dated(message: Message) -> None:
        if message["type"] == "http.response.start":
            date = (b"date", formatdate(time.time() + skew, usegmt=True).encode())
            message = {**message, "headers": [*message.get("headers", ()), date]}
        await send(message)

    return dated


def _as_it_is(stretch: PageSlice) -> PageSlice:
    return stretch

"""What stands before the page: it answers its own address alone, and no page of anybody else."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from prodex.network.listening import LOOPBACK

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
#: A server in the form that uvicorn and marimo have in common (ASGI).
Server: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

#: Where the browser is sent to at first, with a word that opens the page once: programs of other users see with what a
#: browser was started.
ENTRANCE = "/open/"
_REFUSED = (
    "This page answers only at the address that prodex open has printed. Copy it from the terminal, with all that "
    "follows the question mark."
)


class Guard:
    """Passes on what is asked of the page at its own address, and refuses all else.

    A page of somebody else can have its own name lead to this machine (DNS rebinding), and call the page from another
    port of it. Both are told by headers that no script can change: `Host` and `Origin`.

    Parameters
    ----------
    server
        What is asked once a request is passed.
    port
        Where the page listens.
    token
        What opens the page.
    meta
        What the page gets with each request.
    end
        Ends the sessions of all tabs.
    """

    def __init__(
        self,
        server: Server,
        port: int,
        token: str,
        meta: dict[str, Any],
        end: Callable[[], Awaitable[object]],
    ) -> None:
        self._server, self._meta, self._token, self._end = server, meta, token, end
        self._hosts = {f"{name}:{port}".encode() for name in (LOOPBACK, "localhost")}
        self._origins = {b"http://" + host for host in self._hosts}
        self._headers = _headers(port)
        self._unused = {secrets.token_urlsafe(16)}

    @property
    def entrance(self) -> str:
        """The path that opens the page, once."""
        return ENTRANCE + next(iter(self._unused), "")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or one connection of a page."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif not self._is_ours(scope["headers"]):
            await _refuse(scope, send, self._headers)
        elif scope["path"].startswith(ENTRANCE):
            await self._enter(scope, send)
        else:
            await self._server({**scope, "meta": self._meta}, receive, self._hardened(send))

    async def _live(self, receive: Receive, send: Send) -> None:
        """Answer for the life of the server, from before its first request to after its last."""
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._end()
        await send({"type": "lifespan.shutdown.complete"})

    def _is_ours(self, headers: list[tuple[bytes, bytes]]) -> bool:
        hosts = [value for name, value in headers if name == b"host"]
        origins = {value for name, value in headers if name == b"origin"}
        return len(hosts) == 1 and hosts[0] in self._hosts and origins <= self._origins

    async def _enter(self, scope: Message, send: Send) -> None:
        """Lead a browser to the page with its token, once."""
        word = scope["path"].removeprefix(ENTRANCE)
        if scope["type"] != "http" or word not in self._unused:
            await _refuse(scope, send, self._headers)
            return
        self._unused.discard(word)
        where = (b"location", f"/?access_token={self._token}".encode())
        await _answer(send, 303, [*self._headers, where], b"")

    def _hardened(self, send: Send) -> Send:
        """Return how to answer with our headers in place of those of the server."""
        ours = {name for name, _ in self._headers}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                theirs = message.get("headers", ())
                kept = [
                    one for one in theirs if one[0] not in ours and not one[0].startswith(b"access-control-")
                ]
                message = {**message, "headers": [*kept, *self._headers]}
            await send(message)

        return sending


def _headers(port: int) -> list[tuple[bytes, bytes]]:
    """Return what a browser is told of each answer: what the page may ask for, which is nothing elsewhere."""
    itself = " ".join(f"ws://{name}:{port}" for name in (LOOPBACK, "localhost"))
    policy = {
        "default-src": "'self'",
        # marimo draws with styles and scripts of its own page, and the panel is a script that it is given.
        "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' blob: data:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "connect-src": f"'self' {itself} blob: data:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    words = "; ".join(f"{name} {value}" for name, value in policy.items())
    headers = {
        "content-security-policy": words,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def _refuse(scope: Message, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
    if scope["type"] == "websocket":
        # Before it is accepted: the browser is answered with 403.
        await send({"type": "websocket.close", "code": 1008})
        return
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await _answer(send, 403, [*headers, kind], _REFUSED.encode())


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})

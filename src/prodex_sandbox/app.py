"""The service as an application over a store, and what a call passes before the endpoints.

A sandbox listens on this machine, where every browser reaches it. A page of another site whose name is made to lead
here (DNS rebinding) sends that name as `Host`, and would be of one origin with the sandbox; the call is refused. Any
other page is kept from reading by the browser itself, since no reply carries a header of CORS. Its calls arrive all the
same where they need no preflight, and a JSON body needs none when it is announced as text/plain; such a call names the
site of its page in `Origin`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from email.utils import format_datetime
from functools import cache
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Match, Route

from prodex_sandbox.api.authentication import Tokens
from prodex_sandbox.api.docs import DESCRIPTION, docs_page
from prodex_sandbox.api.endpoints import OPERATIONS, SERVICE, Exchange
from prodex_sandbox.api.listing import Listing
from prodex_sandbox.api.openapi import document
from prodex_sandbox.behaviour import LOOPBACK, Behaviour
from prodex_sandbox.faults.schedule import FaultMiddleware, FaultSchedule
from prodex_sandbox.media.files import PATH as MEDIA_PATH
from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.imports import Worker
from prodex_sandbox.records.service_clock import service_clock
from prodex_sandbox.records.store import Store
from prodex_sandbox.refusals import Refusal, reply_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


# Threads of their own, beside the 40 that AnyIO has for all other calls.
_WRITERS = 4
_DRAWERS = 2


@cache
def openapi() -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    return document(SERVICE, DESCRIPTION, OPERATIONS)


def _application(exchange: Exchange) -> Starlette:
    app = Starlette(
        routes=[
            *(Route(one.path, one.answer, methods=[one.method]) for one in OPERATIONS),
            Route("/openapi.json", _send_document),
            Route("/docs", _show_document),
        ],
        exception_handlers={
            Refusal: _refuse,
            HTTPException: _refuse_path,
            # Every reply has the one form of error, those to a mistake of the sandbox too.
            Exception: _internal_error,
        },
    )
    # A redirect would be a second call; `RoutingMiddleware` ignores the slash instead.
    app.router.redirect_slashes = False
    app.state.exchange = exchange
    return app


async def _send_document(_request: Request) -> Response:
    return Response(encode(openapi()), media_type="application/json")


async def _show_document(_request: Request) -> Response:
    return HTMLResponse(docs_page(encode(openapi())))


def create_app(
    store: Store,
    behaviour: Behaviour,
    worker: Worker,
    schedule: FaultSchedule,
    clock: Callable[[], float] = time.monotonic,
    serves_host: ServesHost | None = None,
) -> tuple[DateMiddleware, Callable[[], None]]:
    """Make the application that serves a store, and a function that forgets what has expired, to be called at times.

    Parameters
    ----------
    worker
        Takes the imports in.
    schedule
        The faults, and the calls that they hit.
    clock
        Measures the life of scroll cursors, and how long to wait after wrong secrets, in seconds.
    serves_host
        Decides under which names it may be called; those of the loopback addresses unless given.
    """
    tokens = Tokens(store.organizations, store.token_key, behaviour.token_lifetime, clock)
    listing = Listing(store, behaviour, clock)
    app = _application(
        Exchange(
            store, behaviour, tokens, listing, worker, CapacityLimiter(_WRITERS), CapacityLimiter(_DRAWERS)
        )
    )
    served = FaultMiddleware(RoutingMiddleware(app, app.routes), schedule, behaviour, tokens.expire)
    checked = HostMiddleware(served, serves_host or served_hosts(LOOPBACK))
    return DateMiddleware(checked, service_clock(store, behaviour)), listing.forget_expired


async def _refuse(_request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)  # noqa: S101 - what it is registered for
    return reply_of(refusal)


async def _refuse_path(request: Request, error: Exception) -> Response:
    what = f"{request.method} {request.url.path} is not an endpoint; /docs lists them."
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        methods = methods_of(request.app.routes, request.scope)
        return reply_of(Refusal("method_not_allowed", what, allow(methods)))
    return reply_of(Refusal("not_found", what))


async def _internal_error(_request: Request, error: Exception) -> Response:
    return reply_of(Refusal("internal_error", f"The sandbox itself failed: {error!r}."))


#: Keeps browsers from guessing the type of a reply: from showing the text of a product as a page, for example.
NO_SNIFFING: Final = ("X-Content-Type-Options", "nosniff")

#: Whether a `Host` is served, at the address that was called.
ServesHost = Callable[[str, str], bool]

_HOST: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?")
#: Methods that change nothing; what they return no other site can read.
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def served_hosts(listens_on: str, allowed: Iterable[str] = ()) -> ServesHost:
    """Return a function that decides whether a `Host` is served, with a port or without.

    Served are the loopback names, the address that the sandbox listens on, and names that are allowed besides. Where
    it listens on every address of the machine, the one at which a call arrived is served: no rebound name is one.

    Examples
    --------
    >>> served = served_hosts("127.0.0.1")
    >>> served("localhost:8000", "127.0.0.1"), served("rebound.example", "127.0.0.1")
    (True, False)
    """
    names = {"localhost", *(name.lower().strip("[]") for name in (listens_on, *allowed))}

    def served(host: str, address: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["name"].lower().strip("[]")
        return name in names or name == address.lower() or _is_loopback(name)

    return served


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


class DateMiddleware:
    """Dates every reply by the clock of the service, which is not always that of the machine."""

    def __init__(self, app: ASGIApp, clock: Callable[[], datetime]) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                date = (b"date", format_datetime(self._clock(), usegmt=True).encode())
                message = {**message, "headers": [date, *message.get("headers", ())]}
            await send(message)

        await self._app(scope, receive, dated)


class HostMiddleware:
    """Refuses calls under the name of another host, and writes from a page of another site."""

    def __init__(self, app: ASGIApp, serves_host: ServesHost) -> None:
        self._app = app
        self._serves_host = serves_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        await (reply_of(refusal) if refusal else self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        address = scope["server"][0]
        # HTTP/1.0 may come without a Host; every browser sends one.
        # Every one of several Host headers counts: which of them a program takes is up to the program.
        for host in _header_values(scope, b"host"):
            if not self._serves_host(host, address):
                return Refusal(
                    "host_not_served",
                    f"The call has the Host {host[:100]!r}, which is not a name of this machine: call "
                    "localhost, or start the sandbox with --allow-host.",
                )
        for origin in _header_values(scope, b"origin") if scope["method"] not in _READING else ():
            if not self._serves_host(_host_of(origin), address):
                return Refusal(
                    "origin_foreign",
                    f"The call has the Origin {origin[:100]!r}; pages of other sites may not write here.",
                )
        return None


def _header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for known, value in scope["headers"] if known == name]


def _host_of(origin: str) -> str:
    """Return the host and port of an origin; empty where it has none, as the origin `null`."""
    try:
        # Ports are left in: `serves_host` ignores them.
        return urlsplit(origin).netloc
    except ValueError:
        return ""


class RoutingMiddleware:
    """Answers HEAD as GET, and OPTIONS; ignores a slash at the end of a path."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        # The path of a file is part of its address as somebody typed it.
        if path.endswith("/") and len(path) > 1 and not path.startswith(f"{MEDIA_PATH}/"):
            scope = {**scope, "path": path.rstrip("/") or "/"}
        if scope["method"] == "HEAD":
            # The server leaves the body out by itself, and keeps its length.
            scope = {**scope, "method": "GET"}
        if scope["method"] == "OPTIONS" and (allowed := methods_of(self._routes, scope)):
            await Response(status_code=204, headers=allow(allowed))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def methods_of(routes: Iterable[BaseRoute], scope: Scope) -> list[str]:
    """Return the methods that the path of a call takes, none where there is no such path."""
    methods = {
        method
        for route in routes
        if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    return sorted(methods | {"OPTIONS"}) if methods else []


def allow(methods: Iterable[str]) -> dict[str, str]:
    """Return the header that names the methods of a path (RFC 9110, 10.2.1)."""
    return {"Allow": ", ".join(methods)}


class RecordingMiddleware:
    """Records every call to the application; of a body that is too large, the beginning."""

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

"""What stands before everything else: calls under a foreign name, and calls that a page of another site makes.

A sandbox listens on this machine, where every browser reaches it. A page from elsewhere whose name is made to lead
here (DNS rebinding) sends that name as `Host`, and would be of one origin with the sandbox; it is refused as a whole.
Any other page from elsewhere is kept from reading by the browser itself, since no reply carries a header of CORS. Its
calls are made all the same where they need no preflight, and a JSON body needs none when it is announced as
text/plain; such a call says in `Origin` whose page it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from prodex.sandbox.media.addresses import PATH as MEDIA_PATH
from prodex.sandbox.refusals import Refusal, reply_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


#: Tells whether a `Host` is served, at the address that the call came to.
ServesHost = Callable[[str, str], bool]

_HOST: Final = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{0,5})?")
#: Methods that change nothing; what they return no other site can read.
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def served_hosts(listens_on: str, allowed: Iterable[str] = ()) -> ServesHost:
    """Return what tells whether a `Host` is served, with a port or without.

    The loopback names are, the address that the sandbox listens on, and whatever is allowed beside. Where it listens
    on every address of the machine, the one at which a call came in is served: no rebound name is an address.

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


class HostMiddleware:
    """The application, for callers on this machine and programs anywhere; for no page of another site."""

    def __init__(self, app: ASGIApp, serves_host: ServesHost) -> None:
        self._app = app
        self._serves_host = serves_host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        await (reply_of(refusal) if refusal else self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        address = scope["server"][0]
        # HTTP/1.0 may come without a Host; every browser sends one.
        for host in _header_values(scope, b"host"):
            if not self._serves_host(host, address):
                return Refusal(
                    "host_not_served",
                    f"The call came under the host {host[:100]!r}, which is not a name of this machine: call "
                    "localhost, or start the sandbox with --allow-host.",
                )
        for origin in _header_values(scope, b"origin") if scope["method"] not in _READING else ():
            if not self._serves_host(_host_of(origin), address):
                return Refusal(
                    "origin_foreign",
                    f"The call came from a page of {origin[:100]!r}; pages of other sites may not write here.",
                )
        return None


def _header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for known, value in scope["headers"] if known == name]


def _host_of(origin: str) -> str:
    """Return the host and port of an origin; empty where it has none, as the origin `null`."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


_ALWAYS: Final = "OPTIONS"


class RoutingMiddleware:
    """The application, which answers HEAD wherever it answers GET, says what a path takes, and bears a last slash."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        # The path of a file is part of its address as somebody typed it.
        if path.endswith("/") and len(path) > 1 and not path.startswith(f"{MEDIA_PATH}/"):
            scope = {**scope, "path": path.rstrip("/") or "/"}
        if scope["method"] == "HEAD":
            # The server leaves the body of a reply to HEAD out by itself, and keeps its length.
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
    if "GET" in methods:
        methods.add("HEAD")
    return sorted(methods | {_ALWAYS}) if methods else []


def allow(methods: Iterable[str]) -> dict[str, str]:
    """Return the header that names the methods of a path (RFC 9110, 10.2.1)."""
    return {"Allow": ", ".join(methods)}

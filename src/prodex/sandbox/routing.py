"""Paths and methods beyond the declared endpoints: HEAD, OPTIONS, `Allow`, and a slash behind the path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from prodex.sandbox.media.addresses import PATH as MEDIA_PATH

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_ALWAYS: Final = "OPTIONS"


class Routing:
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

"""The service as a FastAPI application over a store."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from prodex_sandbox.api.authentication import Tokens
from prodex_sandbox.api.docs import DESCRIPTION, docs_page
from prodex_sandbox.api.endpoints import ROUTES, SERVICE, Exchange
from prodex_sandbox.api.listing import Listing
from prodex_sandbox.api.middleware import (
    DateMiddleware,
    HostMiddleware,
    RoutingMiddleware,
    ServesHost,
    allow,
    methods_of,
    served_hosts,
)
from prodex_sandbox.api.openapi import components
from prodex_sandbox.behaviour import LOOPBACK, Behaviour
from prodex_sandbox.faults.schedule import FaultMiddleware, FaultSchedule
from prodex_sandbox.records.imports import Worker
from prodex_sandbox.records.service_clock import service_clock
from prodex_sandbox.records.store import Store
from prodex_sandbox.refusals import Refusal, reply_of

# Threads of their own, beside the 40 that AnyIO has for all other calls.
_WRITERS = 4
_DRAWERS = 2


def application() -> FastAPI:
    """Make the application without anything to serve; enough for its OpenAPI document."""
    app = FastAPI(
        title=SERVICE,
        version="1",
        description=DESCRIPTION,
        # FastAPI's own pages load scripts from elsewhere; the page at /docs works without a network.
        docs_url=None,
        redoc_url=None,
        # A redirect would be a second call; `RoutingMiddleware` ignores the slash instead.
        redirect_slashes=False,
        # Generated clients name their functions after these.
        generate_unique_id_function=lambda route: route.name,
    )
    app.include_router(ROUTES)
    app.add_exception_handler(Refusal, _refuse)
    app.add_exception_handler(HTTPException, _refuse_path)
    # Every reply has the one form of error, those to a mistake of the sandbox too.
    app.add_exception_handler(Exception, _internal_error)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
        # FastAPI knows only the models of its own validation, which the endpoints do not use.
        document["components"]["schemas"] = components()
        return document

    async def docs(_request: Request) -> HTMLResponse:
        return HTMLResponse(docs_page(json.dumps(app.openapi())))

    app.add_route("/docs", docs, include_in_schema=False)
    app.openapi = openapi  # type: ignore[method-assign] # FastAPI's own way to extend the document
    return app


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
        Tells under which names it may be called; those of the loopback addresses unless given.
    """
    app = application()
    tokens = Tokens(store.organizations, store.token_key, behaviour.token_lifetime, clock)
    listing = Listing(store, behaviour, clock)
    app.state.exchange = Exchange(
        store, behaviour, tokens, listing, worker, CapacityLimiter(_WRITERS), CapacityLimiter(_DRAWERS)
    )
    served = FaultMiddleware(RoutingMiddleware(app, _routes_of(app)), schedule, behaviour, tokens.expire)
    checked = HostMiddleware(served, serves_host or served_hosts(LOOPBACK))
    return DateMiddleware(checked, service_clock(store, behaviour)), listing.forget_expired


def _routes_of(app: FastAPI) -> list[BaseRoute]:
    # The application itself may hide those of a router that it includes.
    return [*app.routes, *ROUTES.routes]


async def _refuse(_request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)  # noqa: S101 - what it is registered for
    return reply_of(refusal)


async def _refuse_path(request: Request, error: Exception) -> Response:
    what = f"{request.method} {request.url.path} is not an endpoint; /docs lists them."
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        methods = methods_of(_routes_of(request.app), request.scope)
        return reply_of(Refusal("method_not_allowed", what, allow(methods)))
    return reply_of(Refusal("not_found", what))


async def _internal_error(_request: Request, error: Exception) -> Response:
    return reply_of(Refusal("internal_error", f"The sandbox itself failed: {error!r}."))

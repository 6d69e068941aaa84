"""The service as a FastAPI application over a store."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.contract import DESCRIPTION
from prodex.sandbox.docs import docs_page
from prodex.sandbox.endpoints import ROUTES, SERVICE
from prodex.sandbox.exchange import Exchange
from prodex.sandbox.failing import Failing
from prodex.sandbox.listing import Listing
from prodex.sandbox.openapi import components
from prodex.sandbox.orders import Orders
from prodex.sandbox.refusals import Refusal
from prodex.sandbox.store import Store
from prodex.sandbox.tokens import Tokens
from prodex.sandbox.worker import Worker

_WRITERS = 4
_DRAWERS = 2


def application() -> FastAPI:
    """Make the application without anything to serve; enough for its OpenAPI document."""
    app = FastAPI(
        title=SERVICE,
        version="1",
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        # Generated clients name their functions after these.
        generate_unique_id_function=lambda route: route.name,
    )
    app.include_router(ROUTES)
    app.add_exception_handler(Refusal, _refuse)
    app.add_exception_handler(HTTPException, _refuse_path)
    app.add_exception_handler(Exception, _admit)
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        document = describe()
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
    orders: Orders,
    clock: Callable[[], float] = time.monotonic,
) -> Failing:
    """Make the application that serves a store.

    Parameters
    ----------
    worker
        Takes the imports in.
    orders
        What goes wrong with calls.
    clock
        Measures the life of scroll cursors, in seconds.
    """
    app = application()
    tokens = Tokens(store.organizations, store.token_key, behaviour.token_lifetime)
    listing = Listing(store, behaviour, clock)
    app.state.exchange = Exchange(
        store, behaviour, tokens, listing, worker, CapacityLimiter(_WRITERS), CapacityLimiter(_DRAWERS)
    )
    return Failing(app, orders, behaviour, tokens.expire)


async def _refuse(_request: Request, refusal: Exception) -> JSONResponse:
    assert isinstance(refusal, Refusal)  # noqa: S101 - what it is registered for
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    return JSONResponse(refusal.body, refusal.status, headers)


async def _refuse_path(request: Request, error: Exception) -> JSONResponse:
    code = (
        "method_not_allowed" if isinstance(error, HTTPException) and error.status_code == 405 else "not_found"
    )
    reply = await _refuse(
        request, Refusal(code, f"{request.method} {request.url.path} is no endpoint; /docs lists them.")
    )
    if reply.status_code == 405:
        methods = {
            method
            for route in ROUTES.routes
            if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
            for method in route.methods or ()
        }
        reply.headers["Allow"] = ", ".join(sorted(methods))
    return reply


async def _admit(request: Request, error: Exception) -> JSONResponse:
    return await _refuse(request, Refusal("internal_error", f"The sandbox itself failed: {error!r}."))

"""The endpoints of the service, as a FastAPI application over a store (spec, Endpoints)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.contract import DESCRIPTION, LIST_CONTRACT, SEARCH_CONTRACT, TOKEN_CONTRACT, refusals
from prodex.sandbox.filters import read_body, read_query_string
from prodex.sandbox.listing import Listing
from prodex.sandbox.model import Organization
from prodex.sandbox.refusals import Refusal
from prodex.sandbox.store import Store
from prodex.sandbox.tokens import Tokens
from prodex.sandbox.wire import decode

SERVICE: Final = "prodex sandbox"

_ROUTES: Final = APIRouter()
_TOKEN_REFUSALS: Final = refusals(
    "authentication_failed", "invalid_value", "invalid_json", "unsupported_media_type"
)
_LIST_REFUSALS: Final = (
    "token_missing",
    "token_invalid",
    "token_expired",
    "unknown_parameter",
    "invalid_value",
    "result_cap",
    "cursor_lost",
)


@dataclass(frozen=True)
class Exchange:
    """What the endpoints work with."""

    store: Store
    behaviour: Behaviour
    tokens: Tokens
    listing: Listing


def application() -> FastAPI:
    """Make the application without anything to serve; enough for its OpenAPI document."""
    app = FastAPI(title=SERVICE, version="1", description=DESCRIPTION)
    app.include_router(_ROUTES)
    app.add_exception_handler(Refusal, _refuse)
    app.add_exception_handler(HTTPException, _refuse_path)
    app.add_exception_handler(Exception, _admit)
    return app


def create_app(store: Store, behaviour: Behaviour, clock: Callable[[], float] = time.monotonic) -> FastAPI:
    """Make the application that serves a store.

    Parameters
    ----------
    clock
        Measures the life of scroll cursors, in seconds.
    """
    app = application()
    tokens = Tokens(store.organizations, store.token_key, behaviour.token_lifetime)
    app.state.exchange = Exchange(store, behaviour, tokens, Listing(store, behaviour, clock))
    return app


async def _exchange(request: Request) -> Exchange:
    exchange: Exchange = request.app.state.exchange
    return exchange


Here = Annotated[Exchange, Depends(_exchange)]


async def _caller(
    here: Here,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))],
) -> Organization:
    return here.tokens.check(credentials.credentials if credentials else None)


Caller = Annotated[Organization, Depends(_caller)]


@_ROUTES.post("/auth/v2/token", responses=_TOKEN_REFUSALS, openapi_extra=TOKEN_CONTRACT)
@_ROUTES.post("/auth/v1/token", responses=_TOKEN_REFUSALS, openapi_extra=TOKEN_CONTRACT, deprecated=True)
async def create_token(request: Request, here: Here) -> JSONResponse:
    """Create an access token from client credentials."""
    token = here.tokens.issue(await _json_object(request))
    return JSONResponse({"access_token": token, here.behaviour.token_type_key: "JWT"})


@_ROUTES.get("/public/v1/products", responses=refusals(*_LIST_REFUSALS), openapi_extra=LIST_CONTRACT)
def list_products(request: Request, here: Here, caller: Caller) -> Response:
    """List products, or only their rich content."""
    values = read_query_string(request.query_params.multi_items())
    return _reply(here.listing.get(caller.id, values, request.headers.get("accept-language")))


@_ROUTES.post(
    "/public/v1/products/list",
    responses=refusals(*_LIST_REFUSALS, "invalid_json", "unsupported_media_type"),
    openapi_extra=SEARCH_CONTRACT,
)
async def search_products(request: Request, here: Here, caller: Caller) -> Response:
    """Search products."""
    values = read_body(await _json_object(request))
    language = request.headers.get("accept-language")
    return _reply(await run_in_threadpool(here.listing.search, caller.id, values, language))


@_ROUTES.get("/health")
def health(here: Here) -> dict[str, Any]:
    """Say that the sandbox runs, and how many products it holds. Needs no token; not part of the service."""
    return {"service": SERVICE, "products": here.store.product_count()}


async def _refuse(_request: Request, refusal: Exception) -> JSONResponse:
    assert isinstance(refusal, Refusal)  # noqa: S101 - what it is registered for
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else None
    return JSONResponse(refusal.body, refusal.status, headers)


async def _refuse_path(request: Request, error: Exception) -> JSONResponse:
    code = (
        "method_not_allowed" if isinstance(error, HTTPException) and error.status_code == 405 else "not_found"
    )
    return await _refuse(
        request, Refusal(code, f"{request.method} {request.url.path} is no endpoint; /docs lists them.")
    )


async def _admit(request: Request, error: Exception) -> JSONResponse:
    return await _refuse(request, Refusal("internal_error", f"The sandbox itself failed: {error!r}."))


def _reply(body: bytes) -> Response:
    return Response(body, media_type="application/json")


async def _json_object(request: Request) -> dict[str, Any]:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refusal(
            "unsupported_media_type",
            f"Content-Type is {media_type or 'missing'!r}; send a JSON body as application/json, not a form.",
        )
    try:
        body = decode(await request.body())
    except (ValueError, RecursionError) as error:
        raise Refusal("invalid_json", f"The body is not JSON: {error}.") from None
    if not isinstance(body, dict):
        raise Refusal("invalid_json", "The body is JSON, but not an object.")
    return body

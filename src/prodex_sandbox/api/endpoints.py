"""The endpoints of the service (spec, Endpoints), and the few that the sandbox adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import quote

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from prodex_sandbox.api import openapi
from prodex_sandbox.api.authentication import Tokens
from prodex_sandbox.api.bodies import media_type_of, read_body, read_object
from prodex_sandbox.api.filters import ORGANIZATION_PARAMETERS, SEGMENT_PARAMETERS, integer, read_query_string
from prodex_sandbox.api.filters import read_body as read_filters
from prodex_sandbox.api.listing import DEFAULT_LIMIT, ListCall, Listing
from prodex_sandbox.api.scenarios import list_scenarios, require_scenarios
from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.faults.call import caller_address
from prodex_sandbox.faults.schedule import page_effect
from prodex_sandbox.media.files import MEDIA, address_of_call
from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.imports import Worker, tracking_record
from prodex_sandbox.records.model import Organization
from prodex_sandbox.records.payload import JSON, XML
from prodex_sandbox.records.segments import hierarchy
from prodex_sandbox.records.store import Store
from prodex_sandbox.refusals import Refusal

SERVICE: Final = "prodex sandbox"
ROUTES: Final[APIRouter] = APIRouter()

_TOKEN: Final = ("token_missing", "token_invalid", "token_expired")
_PARAMETERS: Final = ("unknown_parameter", "invalid_value")
_BODY: Final = ("unsupported_media_type", "invalid_gzip", "body_too_large")
_JSON_BODY: Final = ("invalid_json", *_BODY)
_LIST: Final = (*_TOKEN, *_PARAMETERS, "result_cap", "cursor_lost")
_AUTHENTICATION: Final = openapi.refusals(
    "authentication_failed", "too_many_attempts", "invalid_value", *_JSON_BODY
)
_REQUIRE: Final = (
    *_TOKEN,
    "retailers_only",
    "scenarios_not_enabled",
    "deadlines_not_enabled",
    *_PARAMETERS,
    "deadline_passed",
    "scenario_unknown",
    "product_unknown",
    "assignation_pending",
    "not_shared",
)


@dataclass(frozen=True)
class Exchange:
    """What the endpoints work with.

    Attributes
    ----------
    writers
        Limits the threads that wait for the lock of the store, so that there are always threads for reading.
    drawers
        Limits the pictures that are drawn at a time: large ones take much memory, and all of them take CPU.
    """

    store: Store
    behaviour: Behaviour
    tokens: Tokens
    listing: Listing
    worker: Worker
    writers: CapacityLimiter
    drawers: CapacityLimiter


async def _exchange(request: Request) -> Exchange:
    exchange: Exchange = request.app.state.exchange
    return exchange


CurrentExchange = Annotated[Exchange, Depends(_exchange)]
_Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


async def _caller(exchange: CurrentExchange, credentials: _Credentials) -> Organization:
    return exchange.tokens.check(credentials.credentials if credentials else None)


async def _caller_where_needed(exchange: CurrentExchange, credentials: _Credentials) -> Organization | None:
    needed = exchange.behaviour.organizations_need_token
    return exchange.tokens.check(credentials.credentials if credentials else None) if needed else None


Caller = Annotated[Organization, Depends(_caller)]
#: The caller, or None where the sandbox asks for no token.
CallerWhereNeeded = Annotated[Organization | None, Depends(_caller_where_needed)]


@ROUTES.post("/auth/v2/token", responses=_AUTHENTICATION, openapi_extra=openapi.TOKEN_CONTRACT)
@ROUTES.post(
    "/auth/v1/token",
    responses=_AUTHENTICATION,
    openapi_extra=openapi.TOKEN_CONTRACT,
    operation_id="create_token_v1",
    deprecated=True,
)
async def create_token(request: Request, exchange: CurrentExchange) -> JSONResponse:
    """Create an access token from client credentials."""
    credentials = await read_object(request, exchange.behaviour.body_limit)
    token = exchange.tokens.issue(credentials, caller_address(request.scope))
    return JSONResponse({"access_token": token, exchange.behaviour.token_type_key: "JWT"})


@ROUTES.get(
    "/auth/v2/organization",
    responses=openapi.refusals(*_TOKEN, *_PARAMETERS),
    openapi_extra=openapi.ORGANIZATIONS_CONTRACT,
)
async def list_organizations(
    request: Request, exchange: CurrentExchange, _caller: CallerWhereNeeded
) -> Response:
    """List organisations."""
    values = read_query_string(request.query_params.multi_items(), ORGANIZATION_PARAMETERS)
    return _reply(encode(_organizations(exchange.store.organizations, values, exchange.behaviour)))


@ROUTES.get("/public/v1/products", responses=openapi.refusals(*_LIST), openapi_extra=openapi.LIST_CONTRACT)
def list_products(request: Request, exchange: CurrentExchange, caller: Caller) -> Response:
    """List products, or only their rich content."""
    values = read_query_string(request.query_params.multi_items())
    return _products(request, exchange.listing.get(_list_call(request, caller, values)))


@ROUTES.post(
    "/public/v1/products/list",
    responses=openapi.refusals(*_LIST, *_JSON_BODY),
    openapi_extra=openapi.SEARCH_CONTRACT,
)
async def search_products(request: Request, exchange: CurrentExchange, caller: Caller) -> Response:
    """Search products."""
    values = read_filters(await read_object(request, exchange.behaviour.body_limit))
    found = await to_thread.run_sync(exchange.listing.search, _list_call(request, caller, values))
    return _products(request, found)


@ROUTES.post(
    "/public/v1/products", responses=openapi.refusals(*_TOKEN, *_BODY), openapi_extra=openapi.UPSERT_CONTRACT
)
async def upsert_products(request: Request, exchange: CurrentExchange, caller: Caller) -> Response:
    """Write products. The import continues after the reply, and is tracked by its id."""
    # The type is checked first, so that a body of a wrong type is not read at all.
    media_type = media_type_of(request, (JSON, XML))
    body = address_of_call(request.scope).in_store(await read_body(request, exchange.behaviour.body_limit))
    tracking = await to_thread.run_sync(
        exchange.worker.take, caller, media_type, body, limiter=exchange.writers
    )
    if media_type == XML:
        return Response(
            f'<?xml version="1.0" encoding="UTF-8"?><tracking>{tracking}</tracking>', media_type=XML
        )
    return JSONResponse({"tracking": tracking})


@ROUTES.get(
    "/public/v1/products/track/{tracking_id}",
    responses=openapi.refusals(*_TOKEN, "invalid_value", "tracking_unknown"),
    openapi_extra=openapi.TRACKING_CONTRACT,
)
def track_import(request: Request, exchange: CurrentExchange, caller: Caller) -> Response:
    """Return the state of an import, and the outcome of each of its products."""
    text = request.path_params["tracking_id"]
    try:
        tracking = integer().from_text(text)
    except ValueError as error:
        raise Refusal("invalid_value", f"tracking_id: {error}.") from None
    record = tracking_record(exchange.store, caller, tracking)
    if record is None:
        raise Refusal("tracking_unknown", f"{caller.name} has no import with the tracking id {tracking}.")
    return _reply(encode(record))


@ROUTES.get(
    "/core/v3/productsegments/hierarchy",
    responses=openapi.refusals(*_TOKEN, *_PARAMETERS),
    openapi_extra=openapi.SEGMENTS_CONTRACT,
)
def list_segments(request: Request, exchange: CurrentExchange, caller: Caller) -> Response:
    """List the caller's product segments as trees."""
    values = read_query_string(request.query_params.multi_items(), SEGMENT_PARAMETERS)
    return _reply(encode(hierarchy(exchange.store, caller.id, values.get("permission", "READ"))))


@ROUTES.post(
    "/public/v1/validation/rulesets/require",
    responses=openapi.refusals(*_REQUIRE, *_JSON_BODY),
    openapi_extra=openapi.REQUIRE_CONTRACT,
)
async def require_rulesets(request: Request, exchange: CurrentExchange, caller: Caller) -> JSONResponse:
    """Activate or deactivate validation scenarios on products. For retailers."""
    body = await read_object(request, exchange.behaviour.body_limit)
    done = await to_thread.run_sync(require_scenarios, exchange.store, caller, body, limiter=exchange.writers)
    return JSONResponse(done)


@ROUTES.get(
    "/sandbox/scenarios", responses=openapi.refusals(*_TOKEN), openapi_extra=openapi.SCENARIOS_CONTRACT
)
def list_own_scenarios(exchange: CurrentExchange, caller: Caller) -> JSONResponse:
    """List the caller's validation scenarios. Not part of the service."""
    return JSONResponse(list_scenarios(exchange.store, caller))


@ROUTES.get("/health", response_model=None, openapi_extra=openapi.HEALTH_CONTRACT)
def health(exchange: CurrentExchange) -> dict[str, Any]:
    """Report that the sandbox runs, and how many products it holds. Needs no token; not part of the service."""
    return {"service": SERVICE, "products": exchange.store.product_count()}


@ROUTES.get(
    "/media/{path:path}",
    response_class=Response,
    responses=openapi.refusals("file_unknown", "file_not_served"),
    openapi_extra=openapi.MEDIA_CONTRACT,
)
@ROUTES.head("/media/{path:path}", include_in_schema=False)
async def get_file(request: Request, exchange: CurrentExchange) -> Response:
    """Return a file that a product names. Needs no token; not part of the service, whose files are elsewhere.

    It is made on request, and agrees with the record: pixels, format, number of bytes, CRC-32.
    """
    # Drawing takes up to a second, during which other calls are answered.
    return await to_thread.run_sync(_file, request, exchange.store, limiter=exchange.drawers)


def _file(request: Request, store: Store) -> Response:
    # Pillow and NumPy take a second to import; only a call for a file needs them.
    from prodex_sandbox.media.files import file_at
    from prodex_sandbox.media.rendering import content_of, reply_with

    path, media = request.path_params["path"], address_of_call(request.scope)
    # Records hold addresses as suppliers type them: with special characters, or with these percent-encoded.
    spelled = {path, quote(path, safe="/")}
    bodies = store.bodies_about(path, f"{MEDIA}/{path}")
    records = (decode(media.in_store(body)) for body in bodies)
    return reply_with(content_of(file_at([f"{MEDIA}/{one}" for one in spelled], records)), request.headers)


def _list_call(request: Request, caller: Organization, values: Mapping[str, Any]) -> ListCall:
    return ListCall(caller.id, values, request.headers.get("accept-language"), page_effect(request.scope))


def _products(request: Request, body: bytes) -> Response:
    return _reply(address_of_call(request.scope).in_reply(body))


def _reply(body: bytes) -> Response:
    return Response(body, media_type=JSON)


def _organizations(
    organizations: Sequence[Organization], values: Mapping[str, Any], behaviour: Behaviour
) -> dict[str, Any] | list[dict[str, Any]]:
    """Return one page of the organisations in the shape that is set; the specification shows none."""
    found = [one for one in organizations if values.get("organization_type", one.type) == one.type]
    offset, limit = values.get("offset", 0), values.get("limit", DEFAULT_LIMIT)
    page = found[offset : offset + limit] if behaviour.organizations_paged else found
    data = [{"id": one.id, "nameLegal": one.name, "type": int(one.type)} for one in page]
    if behaviour.organizations_as_list:
        return data
    total = {"totalResults": len(found)} if behaviour.organizations_total else {}
    return {**total, "data": data, "offset": offset if behaviour.organizations_paged else 0}

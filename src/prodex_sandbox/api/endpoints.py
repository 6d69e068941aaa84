"""The endpoints of the service (spec, Endpoints), and the few that the sandbox adds: each is declared once.

What is declared here answers calls, and is what the OpenAPI document says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import quote

from anyio import CapacityLimiter, to_thread
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from prodex_sandbox.api.authentication import AccessToken, TokenRequest, Tokens, read_credentials
from prodex_sandbox.api.bodies import media_type_of, read_body, read_object
from prodex_sandbox.api.filters import (
    FILTERS,
    ORGANIZATION_PARAMETERS,
    SEGMENT_PARAMETERS,
    integer,
    read_query_string,
)
from prodex_sandbox.api.filters import read_body as read_filters
from prodex_sandbox.api.listing import DEFAULT_LIMIT, ListCall, Listing, ProductPage
from prodex_sandbox.api.openapi import Operation, ProductSearch, in_query, parameter
from prodex_sandbox.api.scenarios import (
    Scenario,
    ScenarioAnswer,
    ScenarioRequirement,
    list_scenarios,
    require_scenarios,
)
from prodex_sandbox.behaviour import Behaviour
from prodex_sandbox.faults.call import caller_address
from prodex_sandbox.faults.schedule import page_effect
from prodex_sandbox.media.files import MEDIA, address_of_call
from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.imports import TrackingId, TrackingRecord, Worker, tracking_record
from prodex_sandbox.records.model import Organization, OrganizationType
from prodex_sandbox.records.payload import JSON, XML
from prodex_sandbox.records.schemas import ABSENT, ClosedObject, Product
from prodex_sandbox.records.segments import Segment, hierarchy
from prodex_sandbox.records.store import Store
from prodex_sandbox.refusals import Refusal

SERVICE: Final = "prodex sandbox"
#: Every operation, in the order of the document.
OPERATIONS: Final[list[Operation]] = []

_TOKEN: Final = ("token_missing", "token_invalid", "token_expired")
_PARAMETERS: Final = ("unknown_parameter", "invalid_value")
_BODY: Final = ("unsupported_media_type", "invalid_gzip", "body_too_large")
_JSON_BODY: Final = ("invalid_json", *_BODY)
_LIST: Final = (*_TOKEN, *_PARAMETERS, "result_cap", "cursor_lost")

Answer = Callable[[Request], Any]


def operation(method: str, path: str, *refuses: str, **described: Any) -> Callable[[Answer], Answer]:
    """Declare what answers a method of a path, and what the document says of it: see `Operation`.

    Examples
    --------
    >>> [one.path for one in OPERATIONS if one.method == "GET"][:2]
    ['/auth/v2/organization', '/public/v1/products']
    """

    def declare(answer: Answer) -> Answer:
        OPERATIONS.append(Operation(method=method, path=path, answer=answer, refuses=refuses, **described))
        return answer

    return declare


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


def _exchange(request: Request) -> Exchange:
    exchange: Exchange = request.app.state.exchange
    return exchange


def _caller(request: Request) -> Organization:
    """Return who calls; raise Refusal without a valid token."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return _exchange(request).tokens.check(token.strip() if scheme.lower() == "bearer" else None)


def _refuse_query(request: Request) -> None:
    """Refuse parameters in the address of a call that has none there: a filter that is ignored lists everything."""
    for name in request.query_params:
        where = "; its parameters are members of the body" if request.method == "POST" else ""
        raise Refusal(
            "unknown_parameter", f"{name!r} is in the address, where this endpoint has no parameters{where}."
        )


_KEYS: Final = ("authentication_failed", "too_many_attempts", "invalid_value", *_JSON_BODY)
_GIVES_TOKEN: Final[dict[str, Any]] = {
    "takes": TokenRequest,
    "replies": AccessToken,
    "meaning": "A bearer token.",
}


@operation("POST", "/auth/v2/token", *_KEYS, **_GIVES_TOKEN)
@operation("POST", "/auth/v1/token", *_KEYS, **_GIVES_TOKEN, operation_id="create_token_v1", deprecated=True)
async def create_token(request: Request) -> Response:
    """Create an access token from client credentials."""
    exchange = _exchange(request)
    credentials = read_credentials(await read_object(request, exchange.behaviour.body_limit))
    token = exchange.tokens.issue(credentials, caller_address(request.scope))
    # The setting may be any name, so the reply is no `AccessToken`.
    return _reply({"access_token": token, exchange.behaviour.token_type_key: "JWT"})


class ListedOrganization(ClosedObject):
    """A participant of the exchange (spec, Other resources; its fields are not shown)."""

    id: int
    nameLegal: str
    type: OrganizationType


class OrganizationPage(ClosedObject, kw_only=True):
    """One page of the organisations."""

    totalResults: int = ABSENT
    data: list[ListedOrganization]
    offset: int


@operation(
    "GET",
    "/auth/v2/organization",
    *_TOKEN,
    *_PARAMETERS,
    parameters=in_query(ORGANIZATION_PARAMETERS),
    replies=OrganizationPage | list[ListedOrganization],
    meaning="The organisations; an envelope, or a bare array where the setting organizations_as_list is on.",
)
async def list_organizations(request: Request) -> Response:
    """List organisations."""
    exchange = _exchange(request)
    if exchange.behaviour.organizations_need_token:
        _caller(request)
    values = read_query_string(request.query_params.multi_items(), ORGANIZATION_PARAMETERS)
    return _reply(_organizations(exchange.store.organizations, values, exchange.behaviour))


_ACCEPT_LANGUAGE: Final = parameter(
    "header",
    "Accept-language",
    "Language of the labels of code values, such as fr or fr-FR; US English unless given.",
)


_PAGE: Final[dict[str, Any]] = {"replies": ProductPage, "meaning": "The products, and how many match."}


def _next_page(operation_id: str, **how: Any) -> dict[str, Any]:
    """Describe how a page leads to the next."""
    return {
        "next_page": {"description": "The next page of a scroll.", "operationId": operation_id, **how},
    }


@operation(
    "GET",
    "/public/v1/products",
    *_LIST,
    parameters=[*in_query(FILTERS), _ACCEPT_LANGUAGE],
    links=_next_page("list_products", parameters={"query.next_page": "$response.body#/next_page"}),
    **_PAGE,
)
def list_products(request: Request) -> Response:
    """List products, or only their rich content."""
    caller = _caller(request)
    values = read_query_string(request.query_params.multi_items())
    return _products(request, _exchange(request).listing.get(_list_call(request, caller, values)))


@operation(
    "POST",
    "/public/v1/products/list",
    *_LIST,
    *_JSON_BODY,
    parameters=[_ACCEPT_LANGUAGE],
    takes=ProductSearch,
    links=_next_page("search_products", requestBody={"next_page": "$response.body#/next_page"}),
    **_PAGE,
)
async def search_products(request: Request) -> Response:
    """Search products."""
    exchange, caller = _exchange(request), _caller(request)
    _refuse_query(request)
    values = read_filters(await read_object(request, exchange.behaviour.body_limit))
    found = await to_thread.run_sync(exchange.listing.search, _list_call(request, caller, values))
    return _products(request, found)


class ProductSent(Product, kw_only=True):
    """A product to write: its gtin, and the attributes to write. A present one replaces, null deletes."""

    gtin: Annotated[str, Meta(description="8, 12, 13 or 14 digits with a right check digit.")]


class ProductUpsert(ClosedObject):
    """Products to write (spec, endpoint 7)."""

    data: list[ProductSent]


class UpsertAnswer(ClosedObject):
    """The identifier under which the import is tracked (spec, endpoint 7)."""

    tracking: TrackingId


@operation(
    "POST",
    "/public/v1/products",
    *_TOKEN,
    *_BODY,
    takes=ProductUpsert,
    takes_xml={"type": "string", "description": "SupplierProducts; see Products as XML."},
    replies=UpsertAnswer,
    replies_xml={"type": "integer", "format": "int32", "xml": {"name": "tracking"}},
    meaning="The tracking id; in XML for a body in XML.",
    links={
        "track_import": {
            "operationId": "track_import",
            "parameters": {"path.tracking_id": "$response.body#/tracking"},
        }
    },
)
async def upsert_products(request: Request) -> Response:
    """Write products. The import continues after the reply, and is tracked by its id."""
    exchange, caller = _exchange(request), _caller(request)
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
    return _reply(UpsertAnswer(tracking=tracking))


@operation(
    "GET",
    "/public/v1/products/track/{tracking_id}",
    *_TOKEN,
    *_PARAMETERS,
    "tracking_unknown",
    parameters=[parameter("path", "tracking_id", "What the upsert answered.", integer().get_schema)],
    replies=TrackingRecord,
    meaning="What became of the import; count is 0 and products are empty while it is in progress.",
)
def track_import(request: Request) -> Response:
    """Return the state of an import, and the outcome of each of its products."""
    caller, text = _caller(request), request.path_params["tracking_id"]
    _refuse_query(request)
    try:
        tracking = integer().from_text(text)
    except ValueError as error:
        raise Refusal("invalid_value", f"tracking_id: {error}.") from None
    record = tracking_record(_exchange(request).store, caller, tracking)
    if record is None:
        raise Refusal("tracking_unknown", f"{caller.name} has no import with the tracking id {tracking}.")
    return _reply(record)


@operation(
    "GET",
    "/core/v3/productsegments/hierarchy",
    *_TOKEN,
    *_PARAMETERS,
    parameters=in_query(SEGMENT_PARAMETERS),
    replies=list[Segment],
    meaning="The trees.",
)
def list_segments(request: Request) -> Response:
    """List the caller's product segments as trees."""
    caller = _caller(request)
    values = read_query_string(request.query_params.multi_items(), SEGMENT_PARAMETERS)
    return _reply(hierarchy(_exchange(request).store, caller.id, values.get("permission", "READ")))


@operation(
    "POST",
    "/public/v1/validation/rulesets/require",
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
    *_JSON_BODY,
    takes=ScenarioRequirement,
    replies=ScenarioAnswer,
    meaning="All of it is done.",
)
async def require_rulesets(request: Request) -> Response:
    """Activate or deactivate validation scenarios on products. For retailers."""
    exchange, caller = _exchange(request), _caller(request)
    _refuse_query(request)
    body = await read_object(request, exchange.behaviour.body_limit)
    return _reply(
        await to_thread.run_sync(require_scenarios, exchange.store, caller, body, limiter=exchange.writers)
    )


@operation("GET", "/sandbox/scenarios", *_TOKEN, replies=list[Scenario], meaning="The caller's scenarios.")
def list_own_scenarios(request: Request) -> Response:
    """List the caller's validation scenarios. Not part of the service."""
    return _reply(list_scenarios(_exchange(request).store, _caller(request)))


class Health(ClosedObject):
    """That the sandbox runs; no part of the service."""

    service: str
    products: int


@operation("GET", "/health", replies=Health, meaning="It runs.")
def health(request: Request) -> Response:
    """Report that the sandbox runs, and how many products it holds. Needs no token; not part of the service."""
    return _reply(Health(service=SERVICE, products=_exchange(request).store.product_count()))


_BYTES: Final = {
    media_type: {"schema": {"type": "string", "format": "binary"}}
    for media_type in ("image/jpeg", "image/png", "image/tiff", "application/pdf")
}
_OF_FILE: Final = {
    "ETag": {"schema": {"type": "string"}},
    "Accept-Ranges": {"schema": {"type": "string", "const": "bytes"}},
}


@operation(
    "GET",
    "/media/{path:path}",
    "file_unknown",
    "file_not_served",
    parameters=[
        parameter("path", "path", "The rest of the address, as the record has it."),
        parameter("header", "Range", "The bytes wanted, such as bytes=1000-; one range."),
        parameter(
            "header",
            "If-Range",
            "The ETag that the range belongs to; the whole file is sent when it has another by now.",
        ),
    ],
    files={
        "200": {"description": "The file.", "content": _BYTES, "headers": _OF_FILE},
        "206": {"description": "The range of it that was asked for.", "content": _BYTES, "headers": _OF_FILE},
        "304": {"description": "If-None-Match names the ETag that it still has."},
        "416": {"description": "The range begins past its end."},
    },
)
async def get_file(request: Request) -> Response:
    """Return a file that a product names. Needs no token; not part of the service, whose files are elsewhere.

    It is made on request, and agrees with the record: pixels, format, number of bytes, CRC-32.
    """
    exchange = _exchange(request)
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
    return Response(address_of_call(request.scope).in_reply(body), media_type=JSON)


def _reply(value: Any) -> Response:
    return Response(encode(value), media_type=JSON)


def _organizations(
    organizations: Sequence[Organization], values: Mapping[str, Any], behaviour: Behaviour
) -> OrganizationPage | list[ListedOrganization]:
    """Return one page of the organisations in the shape that is set; the specification shows none."""
    found = [one for one in organizations if values.get("organization_type", one.type) == one.type]
    offset, limit = values.get("offset", 0), values.get("limit", DEFAULT_LIMIT)
    page = found[offset : offset + limit] if behaviour.organizations_paged else found
    data = [ListedOrganization(id=one.id, nameLegal=one.name, type=one.type) for one in page]
    if behaviour.organizations_as_list:
        return data
    return OrganizationPage(
        totalResults=len(found) if behaviour.organizations_total else ABSENT,
        data=data,
        offset=offset if behaviour.organizations_paged else 0,
    )

"""The OpenAPI document beyond what FastAPI finds out itself: schemas, parameters, bodies and replies.

Schemas of requests and replies are the pydantic models here and in `records.schemas` (spec, endpoints 1 to 10);
parameters come from their declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, WithJsonSchema, create_model
from pydantic.json_schema import models_json_schema

from prodex_sandbox.api.filters import FILTERS, ORGANIZATION_PARAMETERS, SEGMENT_PARAMETERS, ListFilter
from prodex_sandbox.records.imports import Endpoint, ImportStatus
from prodex_sandbox.records.indexing import SEARCH_FIELDS
from prodex_sandbox.records.model import OrganizationType
from prodex_sandbox.records.schemas import ABSENT, ClosedObject, LocalDateTime, Product, described
from prodex_sandbox.refusals import REFUSALS


class TokenRequest(ClosedObject):
    """Client credentials (spec, endpoint 1)."""

    client_id: str
    client_secret: str
    grant_type: Literal["client_credentials"]


class AccessToken(ClosedObject):
    """A bearer token (spec, Access token response)."""

    access_token: str = Field(description="A JWT, for the header `Authorization: Bearer`.")
    token_type: Literal["JWT"] = ABSENT
    type: Literal["JWT"] = described(
        "The token's type under the name that one example has; see token_type_key."
    )


class Error(ClosedObject):
    """Why a call was refused; the specification shows no such body."""

    error: str = Field(description="A code that does not change; each endpoint lists its own.")
    message: str = Field(description="What was wrong, and what to send instead.")


class ListedOrganization(ClosedObject):
    """A participant of the exchange (spec, Other resources; its fields are not shown)."""

    id: int
    nameLegal: str
    type: OrganizationType


class OrganizationPage(ClosedObject):
    """One page of the organisations."""

    totalResults: int = ABSENT
    data: list[ListedOrganization]
    offset: int


class Health(ClosedObject):
    """That the sandbox runs; no part of the service."""

    service: str
    products: int


class ProductPage(ClosedObject):
    """The products of one page, and how many match (spec, Response envelope)."""

    totalResults: int = Field(ge=0, description="Number of products that match.")
    data: list[Product]
    offset: int = Field(ge=0, description="Index of the first product of the page.")
    next_page: str | None = described(
        "Cursor of the next page of a scroll. Where the last page has one, an empty page follows."
    )


SearchField = Annotated[str, WithJsonSchema({"enum": list(SEARCH_FIELDS), "type": "string"})]


class SearchEntry(ClosedObject):
    """A word that one of some fields has to hold (spec, endpoint 5)."""

    query: str = Field(min_length=1, examples=["chocolate"])
    fields: list[SearchField] = Field(min_length=1)


class AdvancedSearch(ClosedObject):
    """A text search: every entry of `must` has to match (spec, endpoint 5)."""

    must: list[SearchEntry] = Field(max_length=32)


#: Filters whose value is an object, which has a name.
# A filter of its own schema; all others are described by their type.
_OBJECTS: Final = {"advanced_search": AdvancedSearch}

_MEMBERS: Final[dict[str, Any]] = {
    name: (
        _OBJECTS.get(name) or Annotated[Any, WithJsonSchema(one.value_type.post_schema)],
        Field(default=ABSENT, description=one.meaning),
    )
    for name, one in FILTERS.items()
    if "POST" in one.methods
}

#: The body of a search: the filters that a POST takes, as they are declared.
ProductSearch: Final = create_model(
    "ProductSearch",
    __base__=ClosedObject,
    __module__=__name__,
    __doc__="What to look for, which fields to return, and which page (spec, endpoint 5).",
    **_MEMBERS,
)


class Segment(ClosedObject):
    """A product segment with those below it; the specification does not show its fields."""

    id: str
    name: str
    children: list[Segment]


class ScenarioRequirement(ClosedObject):
    """Scenarios to activate or deactivate, and the products on which (spec, endpoint 10)."""

    uuids: list[str] = Field(min_length=1, description="Products, by uuid.")
    ruleset_values: dict[str, bool] = Field(
        min_length=1, description="Scenario id -> true to activate, false to deactivate."
    )
    deadline: str = Field(
        default=ABSENT,
        description="Day until which what is activated has to be done.",
        json_schema_extra={"format": "date"},
    )


class ScenarioAnswer(ClosedObject):
    """On how many products the scenarios were activated or deactivated."""

    products: int


class Scenario(ClosedObject):
    """A validation scenario of the caller; the specification does not show its fields."""

    id: str
    name: str
    deadlinesEnabled: bool
    products: int = Field(description="Number of products that it is active on.")


TrackingId = Annotated[int, Field(ge=1, lt=2**31, json_schema_extra={"format": "int32"})]


class ProductSent(Product):
    """A product to write: its gtin, and the attributes to write. A present one replaces, null deletes."""

    gtin: str = Field(description="8, 12, 13 or 14 digits with a right check digit.")


class ProductUpsert(ClosedObject):
    """Products to write (spec, endpoint 7)."""

    data: list[ProductSent]


class UpsertAnswer(ClosedObject):
    """The identifier under which the import is tracked (spec, endpoint 7)."""

    tracking: TrackingId


class ProductOutcome(ClosedObject):
    """What became of one product of an import."""

    gtin: str
    status: Literal[ImportStatus.SUCCESS, ImportStatus.ERROR]
    message: str = Field(description="The reason of an ERROR; otherwise empty.")


class User(ClosedObject):
    """Whose access key sent an import."""

    id: int
    username: str


class OrganizationName(ClosedObject):
    """The organisation that an import is of."""

    id: int
    nameLegal: str


class TrackingRecord(ClosedObject):
    """What became of an import (spec, Product inbound tracking record)."""

    createdAt: LocalDateTime
    status: ImportStatus
    message: str = Field(description="Detail when status is ERROR; otherwise empty.")
    count: int = Field(ge=0, description="Number of products; 0 while the import is in progress.")
    tracking: TrackingId
    products: list[ProductOutcome] = Field(description="Empty while the import is in progress.")
    user: User
    organization: OrganizationName
    endpoint: Endpoint


JSON: Final = "application/json"

_REFERENCE: Final = "#/components/schemas/{model}"
#: The models of whole requests and replies, as they are referred to; those of their parts come with them.
_MODELS: Final[list[type[BaseModel]]] = []

_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}


def components() -> dict[str, Any]:
    """Return the schemas of all models, by name."""
    _, schema = models_json_schema([(model, "validation") for model in _MODELS], ref_template=_REFERENCE)
    return dict(sorted(schema["$defs"].items()))


def reference(model: type[BaseModel]) -> dict[str, str]:
    """Return a schema that refers to a model's."""
    _MODELS.append(model)
    return {"$ref": _REFERENCE.format(model=model.__name__)}


def array_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of an array."""
    return {"type": "array", "items": reference(model)}


def parameter(
    place: str, name: str, description: str, schema: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Describe a parameter, of a text unless it has another schema."""
    required = {"required": True} if place == "path" else {}
    schema = {"type": "string"} if schema is None else schema
    return {"name": name, "in": place, **required, "description": description, "schema": schema}


def in_query(parameters: Mapping[str, ListFilter]) -> list[dict[str, Any]]:
    """Describe the parameters of a GET."""
    return [
        parameter("query", name, one.meaning, one.value_type.get_schema)
        for name, one in parameters.items()
        if "GET" in one.methods
    ]


def takes(model: type[BaseModel]) -> dict[str, Any]:
    """Describe a body of JSON."""
    return {"required": True, "content": {JSON: {"schema": reference(model)}}}


def replies(description: str, schema: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Describe a reply of 200 as JSON."""
    return {"200": {"description": description, "content": {JSON: {"schema": schema}}, **more}}


def _page(next_page: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a reply of products, with the way to the next page."""
    return replies(
        "The products, and how many match.",
        reference(ProductPage),
        links={"next_page": {"description": "The next page of a scroll.", **next_page}},
    )


_ACCEPT_LANGUAGE: Final = parameter(
    "header",
    "Accept-language",
    "Language of the labels of code values, such as fr or fr-FR; US English unless given.",
)

LIST_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [*in_query(FILTERS), _ACCEPT_LANGUAGE],
    "responses": _page(
        {"operationId": "list_products", "parameters": {"query.next_page": "$response.body#/next_page"}}
    ),
}

SEARCH_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [_ACCEPT_LANGUAGE],
    "requestBody": takes(ProductSearch),
    "responses": _page(
        {"operationId": "search_products", "requestBody": {"next_page": "$response.body#/next_page"}}
    ),
}

TOKEN_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": takes(TokenRequest),
    "responses": replies("A bearer token.", reference(AccessToken)),
}

HEALTH_CONTRACT: Final[dict[str, Any]] = {"responses": replies("It runs.", reference(Health))}


def refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Describe refusals for the OpenAPI document, grouped by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        status, meaning = REFUSALS[code]
        by_status.setdefault(status, []).append(f"`{code}`: {meaning}")
    content = {JSON: {"schema": reference(Error)}}
    return {
        status: {
            "description": "\n\n".join(texts),
            "content": content,
            **({"headers": _RETRY_AFTER} if status == 429 else {}),
        }
        for status, texts in by_status.items()
    }


ORGANIZATIONS_CONTRACT: Final[dict[str, Any]] = {
    "parameters": in_query(ORGANIZATION_PARAMETERS),
    "responses": replies(
        "The organisations; an envelope, or a bare array where the setting organizations_as_list is on.",
        {"anyOf": [reference(OrganizationPage), array_of(ListedOrganization)]},
    ),
}

_BYTES: Final = {
    media_type: {"schema": {"type": "string", "format": "binary"}}
    for media_type in ("image/jpeg", "image/png", "image/tiff", "application/pdf")
}
_OF_FILE: Final = {
    "ETag": {"schema": {"type": "string"}},
    "Accept-Ranges": {"schema": {"type": "string", "const": "bytes"}},
}

MEDIA_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [
        parameter("path", "path", "The rest of the address, as the record has it."),
        parameter("header", "Range", "The bytes wanted, such as bytes=1000-; one range."),
        parameter(
            "header",
            "If-Range",
            "The ETag that the range belongs to; the whole file is sent when it has another by now.",
        ),
    ],
    "responses": {
        "200": {"description": "The file.", "content": _BYTES, "headers": _OF_FILE},
        "206": {"description": "The range of it that was asked for.", "content": _BYTES, "headers": _OF_FILE},
        "304": {"description": "If-None-Match names the ETag that it still has."},
        "416": {"description": "The range begins past its end."},
    },
}

SEGMENTS_CONTRACT: Final[dict[str, Any]] = {
    "parameters": in_query(SEGMENT_PARAMETERS),
    "responses": replies("The trees.", array_of(Segment)),
}

REQUIRE_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": takes(ScenarioRequirement),
    "responses": replies("All of it is done.", reference(ScenarioAnswer)),
}

SCENARIOS_CONTRACT: Final[dict[str, Any]] = {
    "responses": replies("The caller's scenarios.", array_of(Scenario))
}


_XML: Final = "application/xml"

UPSERT_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            **takes(ProductUpsert)["content"],
            _XML: {"schema": {"type": "string", "description": "SupplierProducts; see Products as XML."}},
        },
    },
    "responses": {
        "200": {
            "description": "The tracking id; in XML for a body in XML.",
            "content": {
                **replies("", reference(UpsertAnswer))["200"]["content"],
                _XML: {"schema": {"type": "integer", "format": "int32", "xml": {"name": "tracking"}}},
            },
            "links": {
                "track_import": {
                    "operationId": "track_import",
                    "parameters": {"path.tracking_id": "$response.body#/tracking"},
                }
            },
        }
    },
}

TRACKING_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [
        parameter(
            "path",
            "tracking_id",
            "What the upsert answered.",
            {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1},
        )
    ],
    "responses": replies(
        "What became of the import; count is 0 and products are empty while it is in progress.",
        reference(TrackingRecord),
    ),
}

"""The OpenAPI document beyond what FastAPI finds out itself: schemas, parameters, bodies and replies of each endpoint.

Schemas come from the models of `api.messages` and `records.schemas`, parameters from their declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from prodex_sandbox.api import messages
from prodex_sandbox.api.filters import FILTERS, ORGANIZATION_PARAMETERS, SEGMENT_PARAMETERS, Filter
from prodex_sandbox.refusals import REFUSALS

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


def in_query(parameters: Mapping[str, Filter]) -> list[dict[str, Any]]:
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
        reference(messages.ProductPage),
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
    "requestBody": takes(messages.ProductSearch),
    "responses": _page(
        {"operationId": "search_products", "requestBody": {"next_page": "$response.body#/next_page"}}
    ),
}

TOKEN_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": takes(messages.TokenRequest),
    "responses": replies("A bearer token.", reference(messages.AccessToken)),
}

HEALTH_CONTRACT: Final[dict[str, Any]] = {"responses": replies("It runs.", reference(messages.Health))}


def refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Describe refusals for the OpenAPI document, grouped by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        status, meaning = REFUSALS[code]
        by_status.setdefault(status, []).append(f"`{code}`: {meaning}")
    content = {JSON: {"schema": reference(messages.Error)}}
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
        {"anyOf": [reference(messages.OrganizationPage), array_of(messages.ListedOrganization)]},
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
    "responses": replies("The trees.", array_of(messages.Segment)),
}

REQUIRE_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": takes(messages.ScenarioRequirement),
    "responses": replies("All of it is done.", reference(messages.ScenarioAnswer)),
}

SCENARIOS_CONTRACT: Final[dict[str, Any]] = {
    "responses": replies("The caller's scenarios.", array_of(messages.Scenario))
}


_XML: Final = "application/xml"

UPSERT_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            **takes(messages.ProductUpsert)["content"],
            _XML: {"schema": {"type": "string", "description": "SupplierProducts; see Products as XML."}},
        },
    },
    "responses": {
        "200": {
            "description": "The tracking id; in XML for a body in XML.",
            "content": {
                **replies("", reference(messages.UpsertAnswer))["200"]["content"],
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
        reference(messages.TrackingRecord),
    ),
}

"""The OpenAPI document beyond what FastAPI finds out itself: references to schemas, tokens and product lists.

Schemas come from the models of `prodex.sandbox.schemas`, parameters from their declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from prodex.sandbox.filters import FILTERS, Filter
from prodex.sandbox.refusals import REFUSALS
from prodex.sandbox.schemas.access import (
    AccessToken,
    Error,
    Health,
    Organization,
    OrganizationPage,
    TokenRequest,
)
from prodex.sandbox.schemas.reading import ProductPage, ProductSearch
from prodex.sandbox.schemas.scenarios import Scenario, ScenarioAnswer, ScenarioRequirement, Segment
from prodex.sandbox.schemas.writing import ProductUpsert, TrackingRecord, UpsertAnswer

JSON: Final = "application/json"

_REFERENCE: Final = "#/components/schemas/{model}"
#: The models of whole requests and replies; those of their parts come with them.
MODELS: Final[tuple[type[BaseModel], ...]] = (
    TokenRequest,
    AccessToken,
    Organization,
    OrganizationPage,
    ProductSearch,
    ProductPage,
    ProductUpsert,
    UpsertAnswer,
    TrackingRecord,
    Segment,
    ScenarioRequirement,
    ScenarioAnswer,
    Scenario,
    Health,
    Error,
)

_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}

_ACCEPT_LANGUAGE: Final = {
    "name": "Accept-language",
    "in": "header",
    "description": "Language of the labels of code values, such as fr or fr-FR; US English unless given.",
    "schema": {"type": "string"},
}


def components() -> dict[str, Any]:
    """Return the schemas of all models, by name."""
    _, schema = models_json_schema([(model, "validation") for model in MODELS], ref_template=_REFERENCE)
    return dict(sorted(schema["$defs"].items()))


def reference(model: type[BaseModel]) -> dict[str, str]:
    """Return a schema that refers to a model's."""
    assert model in MODELS, model  # noqa: S101 - it would refer to nothing
    return {"$ref": _REFERENCE.format(model=model.__name__)}


def array_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of an array."""
    return {"type": "array", "items": reference(model)}


def in_query(parameters: Mapping[str, Filter]) -> list[dict[str, Any]]:
    """Describe the parameters of a GET."""
    return [
        {"name": name, "in": "query", "description": one.meaning, "schema": one.kind.get_schema}
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
            "description": _lines(texts),
            "content": content,
            **({"headers": _RETRY_AFTER} if status == 429 else {}),
        }
        for status, texts in by_status.items()
    }


def _lines(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)

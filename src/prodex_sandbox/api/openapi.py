"""The OpenAPI document: what each endpoint takes, answers and refuses, from the declarations that carry it out.

Schemas are those of the structs that requests are read into and replies are made of (spec, endpoints 1 to 10);
parameters come from `api.filters`, refusals from `refusals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, Final

import msgspec

from prodex_sandbox.api.filters import FILTERS, ListFilter
from prodex_sandbox.records.indexing import AdvancedSearch
from prodex_sandbox.records.payload import JSON
from prodex_sandbox.records.schemas import SHAPE_NOT_SHOWN
from prodex_sandbox.refusals import REFUSALS, Error

_REFERENCE: Final = "#/components/schemas/{name}"
_SEARCH: Final = "ProductSearch"
#: Schemas of products, which have attributes of which the specification shows no more than the name.
_PRODUCTS: Final = ("Product", "ProductSent")
#: The scheme of access tokens, under the name that clients know it by.
_BEARER: Final = "HTTPBearer"
_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}


@dataclass(frozen=True)
class Operation:
    """One way to call the service: the function that answers, and what the document says of it.

    Attributes
    ----------
    method, path
        How it is called.
    answer
        Answers a request; its name is the operation's, and its docstring the description.
    contract
        Parameters, body, and replies but for those of refusals.
    refuses
        Codes of the refusals.
    operation_id
        Its name where the function answers several paths; the function's unless given.
    deprecated
        Whether another one is to be called instead.
    """

    method: str
    path: str
    answer: Callable[..., Any]
    contract: Mapping[str, Any]
    refuses: tuple[str, ...] = ()
    operation_id: str = ""
    deprecated: bool = False


def document(title: str, description: str, operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the document of some operations."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        # A converter of the router, such as `:path`, is no part of an address.
        path = one.path.replace(":path}", "}")
        paths.setdefault(path, {})[one.method.lower()] = _described(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "description": description, "version": "1"},
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {_BEARER: {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(one: Operation) -> dict[str, Any]:
    name = one.answer.__name__
    return {
        "summary": name.replace("_", " ").title(),
        "description": getdoc(one.answer),
        "operationId": one.operation_id or name,
        **({"deprecated": True} if one.deprecated else {}),
        **({"security": [{_BEARER: []}]} if "token_missing" in one.refuses else {}),
        **one.contract,
        "responses": {**one.contract["responses"], **_refusals(one.refuses)},
    }


def _refusals(codes: Iterable[str]) -> dict[str, Any]:
    """Describe refusals, grouped by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        status, meaning = REFUSALS[code]
        by_status.setdefault(status, []).append(f"`{code}`: {meaning}")
    content = {JSON: {"schema": reference(Error)}}
    return {
        str(status): {
            "description": "\n\n".join(texts),
            "content": content,
            **({"headers": _RETRY_AFTER} if status == 429 else {}),
        }
        for status, texts in by_status.items()
    }


#: The structs of whole requests and replies, as they are referred to; those of their parts come with them.
_STRUCTS: Final[list[type[msgspec.Struct]]] = [AdvancedSearch]


def reference(model: type[msgspec.Struct]) -> dict[str, str]:
    """Return a schema that refers to a struct's."""
    _STRUCTS.append(model)
    return {"$ref": _REFERENCE.format(name=model.__name__)}


def array_of(model: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of an array."""
    return {"type": "array", "items": reference(model)}


def _schemas() -> dict[str, Any]:
    """Return the schemas of all structs, and that of a search, by name."""
    _, schemas = msgspec.json.schema_components(_STRUCTS, ref_template=_REFERENCE)
    for name, schema in schemas.items():
        # A title would repeat the name; what a list of choices holds is needed by generators of clients.
        del schema["title"]
        if "properties" in schema:
            schema.setdefault("additionalProperties", True)
            if not schema["required"]:
                del schema["required"]
        else:
            schema["type"] = "integer" if all(isinstance(one, int) for one in schema["enum"]) else "string"
        if name in _PRODUCTS:
            schema["properties"] |= {
                attribute: {"description": "Its shape is not shown in the specification."}
                for attribute in SHAPE_NOT_SHOWN.split()
            }
    return dict(sorted({**schemas, _SEARCH: _search_schema()}.items()))


def _search_schema() -> dict[str, Any]:
    """Return the schema of the body of a search: the filters that a POST takes, as they are declared."""
    taken = {name: one for name, one in FILTERS.items() if "POST" in one.methods}
    named = {"advanced_search": reference(AdvancedSearch)}
    return {
        "type": "object",
        "description": "What to look for, which fields to return, and which page (spec, endpoint 5).",
        "properties": {
            name: {**named.get(name, one.value_type.post_schema), "description": one.meaning}
            for name, one in taken.items()
        },
        "additionalProperties": False,
    }


#: The schema of the body of a search.
SEARCH: Final = {"$ref": _REFERENCE.format(name=_SEARCH)}


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


def takes(schema: Mapping[str, Any], others: Mapping[str, Any] = {}) -> dict[str, Any]:
    """Describe a body of JSON, or of other media types."""
    return {"required": True, "content": {JSON: {"schema": schema}, **others}}


def replies(
    description: str, schema: Mapping[str, Any], others: Mapping[str, Any] = {}, **more: Any
) -> dict[str, Any]:
    """Describe a reply of 200 as JSON, or as other media types."""
    return {"200": {"description": description, "content": {JSON: {"schema": schema}, **others}, **more}}

"""The OpenAPI document: what each operation takes, answers and refuses, from the declarations that carry it out.

Schemas are those of the structs that requests are read into and replies are made of (spec, endpoints 1 to 10);
parameters come from `api.filters`, refusals from `refusals`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getdoc
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from prodex_sandbox.api.filters import FILTERS, ListFilter
from prodex_sandbox.records.indexing import AdvancedSearch
from prodex_sandbox.records.payload import JSON, XML
from prodex_sandbox.records.schemas import ABSENT, SHAPE_NOT_SHOWN, ClosedObject
from prodex_sandbox.refusals import REFUSALS, Error

_REFERENCE: Final = "#/components/schemas/{name}"
#: Schemas of products, which have attributes of which the specification shows no more than the name.
_PRODUCTS: Final = ("Product", "ProductSent")
#: The scheme of access tokens, under the name that clients know it by.
_BEARER: Final = "HTTPBearer"
_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}


def _member(name: str, one: ListFilter) -> Any:
    """Return the type of a filter in the body of a search: the only one that is an object has a struct."""
    type_ = AdvancedSearch if name == "advanced_search" else Any
    return Annotated[type_, Meta(description=one.meaning, extra_json_schema=one.value_type.post_schema)]


#: The body of a search: the filters that a POST takes, as they are declared.
ProductSearch: Final = msgspec.defstruct(
    "ProductSearch",
    [(name, _member(name, one), ABSENT) for name, one in FILTERS.items() if "POST" in one.methods],
    bases=(ClosedObject,),
    namespace={"__doc__": "What to look for, which fields to return, and which page (spec, endpoint 5)."},
)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One way to call the service: the function that answers, and what the document says of it.

    Attributes
    ----------
    method, path
        How it is called.
    answer
        Answers a request; its name is the operation's, and its docstring the description.
    operation_id, deprecated
        Its name where the function answers several paths, and whether another one is to be called instead.
    parameters
        As `parameter` and `in_query` describe them.
    takes, takes_xml
        The type of a body of JSON, or None; and the schema of one in XML.
    replies, replies_xml, meaning, links
        The type of a reply of 200 as JSON, and the schema of one in XML; what it means, and where it leads to.
    files
        Replies of operations that send no JSON.
    refuses
        Codes of the refusals.
    """

    method: str
    path: str
    answer: Callable[..., Any]
    operation_id: str = ""
    deprecated: bool = False
    parameters: Sequence[Mapping[str, Any]] = ()
    takes: Any = None
    takes_xml: Mapping[str, Any] = field(default_factory=dict)
    replies: Any = None
    replies_xml: Mapping[str, Any] = field(default_factory=dict)
    meaning: str = ""
    links: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)
    refuses: Sequence[str] = ()


def document(title: str, description: str, operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the document of some operations."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        # A converter of the router, such as `:path`, is no part of an address.
        path = one.path.replace(":path}", "}")
        paths.setdefault(path, {})[one.method.lower()] = _described(one)
    types = [type_ for one in operations for type_ in (one.takes, one.replies) if type_ is not None]
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "description": description, "version": "1"},
        "paths": paths,
        "components": {
            "schemas": _components([Error, *types]),
            "securitySchemes": {_BEARER: {"type": "http", "scheme": "bearer"}},
        },
    }


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


def _described(one: Operation) -> dict[str, Any]:
    name = one.answer.__name__
    body = {"required": True, "content": _content(one.takes, one.takes_xml)}
    reply = {
        "description": one.meaning,
        "content": _content(one.replies, one.replies_xml),
        "links": one.links,
    }
    described: dict[str, Any] = {
        "summary": name.replace("_", " ").title(),
        "description": getdoc(one.answer),
        "operationId": one.operation_id or name,
        "deprecated": one.deprecated,
        "security": [{_BEARER: []}] if "token_missing" in one.refuses else [],
        "parameters": list(one.parameters),
        "requestBody": body if one.takes else {},
        "responses": {**(one.files or {"200": _without_empty(reply)}), **_refusals(one.refuses)},
    }
    return _without_empty(described)


def _content(type_: Any, xml: Mapping[str, Any]) -> dict[str, Any]:
    (schema,), _ = msgspec.json.schema_components([type_], ref_template=_REFERENCE)
    return {JSON: {"schema": schema}, **({XML: {"schema": xml}} if xml else {})}


def _without_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value}


def _refusals(codes: Iterable[str]) -> dict[str, Any]:
    """Describe refusals, grouped by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        status, meaning = REFUSALS[code]
        by_status.setdefault(status, []).append(f"`{code}`: {meaning}")
    return {
        str(status): _without_empty(
            {
                "description": "\n\n".join(texts),
                "content": _content(Error, {}),
                "headers": _RETRY_AFTER if status == 429 else {},
            }
        )
        for status, texts in by_status.items()
    }


def _components(types: Sequence[Any]) -> dict[str, Any]:
    """Return the schemas of all structs that types are made of, by name."""
    _, schemas = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    for name, schema in schemas.items():
        # A title would repeat the name.
        del schema["title"]
        if "properties" in schema:
            schema.setdefault("additionalProperties", True)
        if name in _PRODUCTS:
            not_shown = {"description": "Its shape is not shown in the specification."}
            schema["properties"] |= dict.fromkeys(SHAPE_NOT_SHOWN.split(), not_shown)
    return {name: _complete(schema) for name, schema in sorted(schemas.items())}


def _complete(schema: Any) -> Any:
    """Return a schema with what msgspec leaves out, and generators of clients count on."""
    if isinstance(schema, list):
        return [_complete(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _complete(value) for name, value in schema.items() if (name, value) != ("required", [])}
    if isinstance(values := made.get("enum"), list):
        made["type"] = "integer" if all(isinstance(one, int) for one in values) else "string"
        if len(values) == 1:
            made["const"] = made.pop("enum")[0]
    if made.get("type") == "array":
        made.setdefault("items", {})
    return made

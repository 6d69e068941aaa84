"""The OpenAPI document beyond what FastAPI finds out itself; parameters come from their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from prodex.sandbox import organizations, segments
from prodex.sandbox.filters import FILTERS, Filter
from prodex.sandbox.imports import Endpoint, ImportStatus
from prodex.sandbox.refusals import REFUSALS
from prodex.sandbox.scenarios import REQUIREMENT_SCHEMA

_ERROR_SCHEMA: Final = {
    "type": "object",
    "required": ["error", "message"],
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}},
}

_ENVELOPE: Final = {
    "description": "The products, and how many match.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["totalResults", "data", "offset"],
                "properties": {
                    "totalResults": {"type": "integer"},
                    "data": {"type": "array", "items": {"type": "object"}},
                    "offset": {"type": "integer"},
                    "next_page": {"type": ["string", "null"]},
                },
            }
        }
    },
}

_ACCEPT_LANGUAGE: Final = {
    "name": "Accept-language",
    "in": "header",
    "description": "Language of the labels of code values, such as fr or fr-FR; US English unless given.",
    "schema": {"type": "string"},
}


def in_query(parameters: Mapping[str, Filter]) -> list[dict[str, Any]]:
    """Describe the parameters of a GET."""
    return [
        {"name": name, "in": "query", "description": one.meaning, "schema": one.kind.get_schema}
        for name, one in parameters.items()
        if "GET" in one.methods
    ]


def replies(description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a reply of 200 as JSON."""
    content = {"application/json": {"schema": schema}}
    return {"200": {"description": description, "content": content}}


LIST_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [*in_query(FILTERS), _ACCEPT_LANGUAGE],
    "responses": {"200": _ENVELOPE},
}

SEARCH_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [_ACCEPT_LANGUAGE],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        name: {**one.kind.post_schema, "description": one.meaning}
                        for name, one in FILTERS.items()
                        if "POST" in one.methods
                    },
                }
            }
        },
    },
    "responses": {"200": _ENVELOPE},
}

TOKEN_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["client_id", "client_secret", "grant_type"],
                    "properties": {
                        "client_id": {"type": "string"},
                        "client_secret": {"type": "string"},
                        "grant_type": {"type": "string", "enum": ["client_credentials"]},
                    },
                }
            }
        },
    },
    "responses": {
        "200": {
            "description": "A bearer token.",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["access_token"],
                        "properties": {
                            "access_token": {"type": "string"},
                            "token_type": {"type": "string", "enum": ["JWT"]},
                        },
                    }
                }
            },
        }
    },
}


_PRODUCT_SENT: Final = {
    "type": "object",
    "required": ["gtin"],
    "properties": {"gtin": {"type": "string", "description": "8, 12, 13 or 14 digits."}},
    "description": "A product: its gtin, and the attributes to write; null deletes.",
}

UPSERT_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["data"],
                    "additionalProperties": False,
                    "properties": {"data": {"type": "array", "items": _PRODUCT_SENT}},
                }
            },
            "application/xml": {
                "schema": {"type": "string", "description": "SupplierProducts; see Products as XML."}
            },
        },
    },
    "responses": {
        "200": {
            "description": "The tracking id; in XML for a body in XML.",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["tracking"],
                        "properties": {"tracking": {"type": "integer", "format": "int32"}},
                    }
                },
                "application/xml": {
                    "schema": {"type": "integer", "format": "int32", "xml": {"name": "tracking"}}
                },
            },
        }
    },
}

_OUTCOME: Final = {
    "type": "object",
    "required": ["gtin", "status", "message"],
    "properties": {
        "gtin": {"type": "string"},
        "status": {"type": "string", "enum": ["SUCCESS", "ERROR"]},
        "message": {"type": "string"},
    },
}

TRACKING_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [
        {
            "name": "tracking_id",
            "in": "path",
            "required": True,
            "description": "What the upsert answered.",
            "schema": {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1},
        }
    ],
    "responses": replies(
        "What became of the import; count is 0 and products are empty while it is in progress.",
        {
            "type": "object",
            "properties": {
                "createdAt": {"type": "string"},
                "status": {"type": "string", "enum": list(ImportStatus)},
                "message": {"type": "string"},
                "count": {"type": "integer"},
                "tracking": {"type": "integer", "format": "int32"},
                "products": {"type": "array", "items": _OUTCOME},
                "user": {
                    "type": "object",
                    "properties": {"id": {"type": "integer"}, "username": {"type": "string"}},
                },
                "organization": {
                    "type": "object",
                    "properties": {"id": {"type": "integer"}, "nameLegal": {"type": "string"}},
                },
                "endpoint": {"type": "string", "enum": list(Endpoint)},
            },
            "required": [
                "createdAt",
                "status",
                "message",
                "count",
                "tracking",
                "products",
                "user",
                "organization",
                "endpoint",
            ],
        },
    ),
}

_ORGANIZATIONS: Final = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "nameLegal", "type"],
        "properties": {
            "id": {"type": "integer"},
            "nameLegal": {"type": "string"},
            "type": {"type": "integer", "enum": [1, 2]},
        },
    },
}

ORGANIZATIONS_CONTRACT: Final[dict[str, Any]] = {
    "parameters": in_query(organizations.PARAMETERS),
    "responses": replies(
        "The organisations; an envelope, or a bare array where the sandbox is told so.",
        {
            "oneOf": [
                _ORGANIZATIONS,
                {
                    "type": "object",
                    "required": ["data", "offset"],
                    "properties": {
                        "totalResults": {"type": "integer"},
                        "data": _ORGANIZATIONS,
                        "offset": {"type": "integer"},
                    },
                },
            ]
        },
    ),
}

_SEGMENT_REFERENCE: Final = "#/components/schemas/Segment"
#: Schemas that refer to themselves, and so need a name.
COMPONENTS: Final[dict[str, Any]] = {
    "Segment": {
        "type": "object",
        "required": ["id", "name", "children"],
        "properties": {
            "id": {"type": "string"},
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": _SEGMENT_REFERENCE}},
        },
    }
}

SEGMENTS_CONTRACT: Final[dict[str, Any]] = {
    "parameters": in_query(segments.PARAMETERS),
    "responses": replies("The trees.", {"type": "array", "items": {"$ref": _SEGMENT_REFERENCE}}),
}

REQUIRE_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": REQUIREMENT_SCHEMA}}},
    "responses": replies(
        "All of it is done.",
        {"type": "object", "required": ["products"], "properties": {"products": {"type": "integer"}}},
    ),
}

SCENARIOS_CONTRACT: Final[dict[str, Any]] = {
    "responses": replies(
        "The caller's scenarios.",
        {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "name", "deadlinesEnabled", "products"],
                "properties": {
                    "id": {"type": "string"},
                    "name": {"type": "string"},
                    "deadlinesEnabled": {"type": "boolean"},
                    "products": {"type": "integer"},
                },
            },
        },
    )
}


def refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Describe refusals for the OpenAPI document, grouped by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        status, meaning = REFUSALS[code]
        by_status.setdefault(status, []).append(f"`{code}`: {meaning}")
    content = {"application/json": {"schema": _ERROR_SCHEMA}}
    return {status: {"description": _lines(texts), "content": content} for status, texts in by_status.items()}


def _lines(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)

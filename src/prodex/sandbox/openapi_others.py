"""The OpenAPI document of organisations, segments and scenarios."""

from __future__ import annotations

from typing import Any, Final

from prodex.sandbox import organizations, segments
from prodex.sandbox.openapi import in_query, replies
from prodex.sandbox.scenarios import REQUIREMENT_SCHEMA

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
        {
            "name": "path",
            "in": "path",
            "required": True,
            "description": "The rest of the address, as the record has it.",
            "schema": {"type": "string"},
        },
        {
            "name": "Range",
            "in": "header",
            "description": "The bytes wanted, such as bytes=1000-; one range.",
            "schema": {"type": "string"},
        },
        {
            "name": "If-Range",
            "in": "header",
            "description": "The ETag of the file that the range is of; the whole comes when it is another by now.",
            "schema": {"type": "string"},
        },
    ],
    "responses": {
        "200": {"description": "The file.", "content": _BYTES, "headers": _OF_FILE},
        "206": {"description": "The range of it that was asked for.", "content": _BYTES, "headers": _OF_FILE},
        "304": {"description": "If-None-Match names the ETag that it still has."},
        "416": {"description": "The range begins past its end."},
    },
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

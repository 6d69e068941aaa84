"""The OpenAPI document of upserts and their tracking."""

from __future__ import annotations

from typing import Any, Final

from prodex.sandbox.imports import Endpoint, ImportStatus
from prodex.sandbox.openapi import replies

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

"""The OpenAPI document of upserts and their tracking."""

from __future__ import annotations

from typing import Any, Final

from prodex.sandbox.openapi import reference, replies, takes
from prodex.sandbox.schemas.writing import ProductUpsert, TrackingRecord, UpsertAnswer

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
        reference(TrackingRecord),
    ),
}

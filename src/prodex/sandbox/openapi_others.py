"""The OpenAPI document of organisations, segments and scenarios."""

from __future__ import annotations

from typing import Any, Final

from prodex.sandbox import organizations, segments
from prodex.sandbox.openapi import array_of, in_query, reference, replies, takes
from prodex.sandbox.schemas.access import Organization, OrganizationPage
from prodex.sandbox.schemas.scenarios import Scenario, ScenarioAnswer, ScenarioRequirement, Segment

ORGANIZATIONS_CONTRACT: Final[dict[str, Any]] = {
    "parameters": in_query(organizations.PARAMETERS),
    "responses": replies(
        "The organisations; an envelope, or a bare array where the sandbox is told so.",
        {"anyOf": [reference(OrganizationPage), array_of(Organization)]},
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

SEGMENTS_CONTRACT: Final[dict[str, Any]] = {
    "parameters": in_query(segments.PARAMETERS),
    "responses": replies("The trees.", array_of(Segment)),
}

REQUIRE_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": takes(ScenarioRequirement),
    "responses": replies("All of it is done.", reference(ScenarioAnswer)),
}

SCENARIOS_CONTRACT: Final[dict[str, Any]] = {
    "responses": replies("The caller's scenarios.", array_of(Scenario))
}

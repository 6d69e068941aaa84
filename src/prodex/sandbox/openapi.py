"""The OpenAPI document beyond what FastAPI finds out itself: its building blocks, tokens and product lists.

Parameters come from their declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from prodex.sandbox.filters import FILTERS, Filter
from prodex.sandbox.refusals import REFUSALS

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

_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}

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


def refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Describe refusals for the OpenAPI document, grouped by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        status, meaning = REFUSALS[code]
        by_status.setdefault(status, []).append(f"`{code}`: {meaning}")
    content = {"application/json": {"schema": _ERROR_SCHEMA}}
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

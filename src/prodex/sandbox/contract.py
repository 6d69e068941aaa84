"""What the OpenAPI document says beyond what FastAPI finds out itself; parameters come from `FILTERS`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from prodex.sandbox.filters import FILTERS
from prodex.sandbox.refusals import REFUSALS

DESCRIPTION: Final = """\
A complete product data exchange service on this machine, with invented products and public access keys.

Its decisions where the specification says "not shown":

- An error is `{"error": code, "message": text}`; the codes stand with each endpoint.
- Unknown parameters are refused, as are empty lists and null.
- Dates without zone are taken for UTC. Bounds of dates are inclusive.
- A flag that is false asks for nothing.
- With `filter_source_include`, attributes without data (null or an empty array) are absent.
- Included fields of only gtin, id and assets make the rich-content response: gtin and id are always there,
  id as a string.
- Products come in the order of their arrival.
- A scroll goes through the products that matched at its first call. Filters, fields and language of that call
  hold; those of later calls are read, and change nothing. Cursors do not outlive the process.
- A reply of GET always has `next_page`, since a first scroll call looks like any other. A GET reaches 500
  products, or 4,000 with `filter_source_include`: an offset page beyond is refused, a scroll ends there.
- Accept-language knows the languages of the sandbox's labels; all else means US English.
"""

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

LIST_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [
        *(
            {"name": name, "in": "query", "description": one.meaning, "schema": one.kind.get_schema}
            for name, one in FILTERS.items()
            if "GET" in one.methods
        ),
        _ACCEPT_LANGUAGE,
    ],
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
    return {status: {"description": _lines(texts), "content": content} for status, texts in by_status.items()}


def _lines(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)

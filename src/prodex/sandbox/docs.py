"""The page at /docs: the contract and the OpenAPI document as one page of HTML, without a script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import resources
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from prodex.sandbox.contract import SECTIONS
from prodex.sandbox.prose import as_html

_METHODS: Final = ("get", "post")
_REFERENCE: Final = re.compile(r'"#/components/schemas/(\w+)"')


@dataclass(frozen=True)
class Operation:
    """One endpoint, as the page shows it."""

    method: str
    path: str
    description: Markup
    deprecated: bool
    parameters: list[dict[str, Any]]
    bodies: Mapping[str, Markup]
    replies: list[tuple[str, Markup, Mapping[str, Markup]]]

    @property
    def anchor(self) -> str:
        """Id of the endpoint in the page."""
        return f"{self.method}{self.path}".replace("/", "-").strip("{}").lower()


@cache
def docs_page(document: str) -> str:
    """Return the page of an OpenAPI document, given as JSON."""
    template = resources.files(__package__).joinpath("docs.html").read_text("utf-8")
    sections = [(title, Markup(as_html(text))) for title, text in SECTIONS.items()]  # noqa: S704 - our own text
    described = json.loads(document)
    return (
        Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        .from_string(template)
        .render(
            title=described["info"]["title"],
            sections=sections,
            operations=list(_operations(described)),
            schemas={name: _pretty(schema) for name, schema in described["components"]["schemas"].items()},
        )
    )


def _operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if one := methods.get(method):
                yield Operation(
                    method.upper(),
                    path,
                    _prose(one.get("description", "")),
                    one.get("deprecated", False),
                    [
                        {
                            **parameter,
                            "type": _type(parameter["schema"]),
                            "description": parameter.get("description", ""),
                        }
                        for parameter in one.get("parameters", ())
                    ],
                    _schemas(one.get("requestBody", {})),
                    [
                        (status, _prose(reply["description"]), _schemas(reply))
                        for status, reply in sorted(one["responses"].items())
                    ],
                )


def _schemas(described: Mapping[str, Any]) -> dict[str, Markup]:
    return {media_type: _pretty(one["schema"]) for media_type, one in described.get("content", {}).items()}


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    return " ".join(str(schema[name]) for name in ("type", "format", "description") if name in schema)


def _prose(text: str) -> Markup:
    return Markup(as_html(text))  # noqa: S704 - it escapes


def _pretty(schema: Mapping[str, Any]) -> Markup:
    text = escape(json.dumps(schema, indent=2, ensure_ascii=False), quote=False)
    return Markup(_REFERENCE.sub(r'"<a href="#schema-\1">#/components/schemas/\1</a>"', text))  # noqa: S704 - escaped

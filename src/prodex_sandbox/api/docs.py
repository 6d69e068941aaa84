"""The page at /docs: the contract in prose (`contract.md`) and the OpenAPI document, without a script.

The contract is what the sandbox decides where the specification says "not shown".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib import resources
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from prodex_sandbox.faults.kinds import ENDPOINTS, FAULTS

_HEADING: Final = re.compile(r"^## (.+)\n\n", re.MULTILINE)


def _sections() -> dict[str, str]:
    text = resources.files(__package__).joinpath("contract.md").read_text("utf-8")
    # Kinds of fault have their meanings where they are declared, so that the prose cannot disagree with them.
    text = text.replace("{endpoints}", ", ".join(f"`{name}`" for name in ENDPOINTS))
    text = text.replace("{faults}", "\n".join(f"- `{name}`: {kind.meaning}" for name, kind in FAULTS.items()))
    _, *parts = _HEADING.split(text)
    return {title: f"{prose.strip()}\n" for title, prose in zip(parts[::2], parts[1::2], strict=True)}


#: The contract's prose by title.
SECTIONS: Final[Mapping[str, str]] = _sections()

DESCRIPTION: Final = "\n".join(SECTIONS.values())


_METHODS: Final = ("get", "post")
_REFERENCE: Final = re.compile(r'"#/components/schemas/(\w+)"')


@cache
def docs_page(document: bytes) -> str:
    """Return the page of an OpenAPI document, given as JSON."""
    template = resources.files(__package__).joinpath("docs.html").read_text("utf-8")
    sections = [(title, _prose(text)) for title, text in SECTIONS.items()]
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


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the endpoints, each with what `docs.html` shows of it."""
    for path, methods in document["paths"].items():
        for method, one in ((method, methods[method]) for method in _METHODS if method in methods):
            yield {
                "method": method.upper(),
                "path": path,
                "anchor": f"{method}{path}".replace("/", "-").strip("{}").lower(),
                "description": _prose(one.get("description", "")),
                "deprecated": one.get("deprecated", False),
                "parameters": [
                    {"description": "", **parameter, "type": _type(parameter["schema"])}
                    for parameter in one.get("parameters", ())
                ],
                "bodies": _schemas(one.get("requestBody", {})),
                "replies": [
                    (status, _prose(reply["description"]), _schemas(reply))
                    for status, reply in sorted(one["responses"].items())
                ],
            }


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


_CODE: Final = re.compile(r"`([^`]+)`")
_INDENT: Final = "    "


def as_html(text: str) -> str:
    """Return prose as HTML.

    Examples
    --------
    >>> as_html("Two:\\n\\n- a `b`\\n- c\\n  d")
    '<p>Two:</p>\\n<ul><li>a <code>b</code></li><li>c d</li></ul>'
    """
    # A block ends at a blank line.
    return "\n".join(_block(block.splitlines()) for block in re.split(r"\n\s*\n", text.strip("\n")) if block)


def _block(lines: list[str]) -> str:
    if all(line.startswith(_INDENT) for line in lines):
        code = "\n".join(line.removeprefix(_INDENT) for line in lines)
        # Focus lets the keyboard scroll what is wider than the page.
        return f'<pre tabindex="0"><code>{escape(code)}</code></pre>'
    if not lines[0].startswith("- "):
        return f"<p>{_inline(' '.join(lines))}</p>"
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line.removeprefix("- "))
        else:
            items[-1] += f" {line.strip()}"
    return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>"


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))

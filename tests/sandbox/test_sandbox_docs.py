"""The page at /docs: the whole contract, without anything from outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
import requests

from prodex.sandbox import Sandbox
from prodex_sandbox.api.docs import SECTIONS, as_html
from prodex_sandbox.api.filters import FILTERS


class Page(HTMLParser):
    """What the tests ask of a page: its tags with their attributes, and its text."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def page(sandbox: Sandbox) -> Page:
    """Read the page."""
    reply = requests.get(f"{sandbox.base_url}/docs")
    assert "text/html; charset=utf-8" == reply.headers["Content-Type"]
    return Page(reply.text)


def test_the_page_needs_nothing_from_outside(page: Page) -> None:
    """The page has no script, no frame, and no address outside of itself."""
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "embed", "form"}
    addresses = [
        value for _, attributes in page.tags for name in ("href", "src") if (value := attributes.get(name))
    ]
    assert {"openapi.json"} == {address for address in addresses if not address.startswith("#")}
    assert "@import" not in page.text
    assert "url(" not in page.text


def test_the_page_has_every_endpoint_parameter_and_refusal(page: Page, sandbox: Sandbox) -> None:
    """Each path, parameter, status and refusal of the OpenAPI document is in the page."""
    document: dict[str, Any] = requests.get(f"{sandbox.base_url}/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert f"{method.upper()} {path}" in page.text
            for reply in operation["responses"].values():
                for code in re.findall(r"`([a-z_]+)`", reply["description"]):
                    assert code in page.text
    assert all(name in page.text for name in FILTERS)
    assert all(title in page.text for title in SECTIONS)


def test_every_schema_is_a_link_away(page: Page, sandbox: Sandbox) -> None:
    """Each schema is in the page, and each reference to one is a link to it."""
    schemas = requests.get(f"{sandbox.base_url}/openapi.json").json()["components"]["schemas"]
    places = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    links = {attributes.get("href") for tag, attributes in page.tags if tag == "a"}
    assert {f"schema-{name}" for name in schemas} <= places
    assert {"#schema-ProductPage", "#schema-Product", "#schema-Picture", "#schemas"} <= links


def test_the_page_can_be_read_without_seeing_or_pointing(page: Page) -> None:
    """The page has a language, a link past the contents, headings without gaps, and header cells with a scope."""
    assert ("html", {"lang": "en"}) in page.tags
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    targets = [
        str(attributes["href"])[1:]
        for tag, attributes in page.tags
        if tag == "a" and str(attributes["href"])[0] == "#"
    ]
    assert set(targets) <= set(ids)
    assert "main" == targets[0]
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert 1 == levels[0] == levels.count(1)
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")
    assert all("0" == attributes.get("tabindex") for tag, attributes in page.tags if tag == "pre")


def test_prose_is_escaped() -> None:
    """Tags in the prose of the contract are shown as text."""
    assert "<p>&lt;b&gt; <code>&lt;a/&gt;</code></p>" == as_html("<b> `<a/>`")
    assert '<pre tabindex="0"><code>&lt;a&gt;\n  x</code></pre>' == as_html("    <a>\n      x")

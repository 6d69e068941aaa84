"""A service in this process that keeps products and what is posted as they are written, byte by byte.

It knows the specification's endpoints as far as loading, writing and following need them. It reads JSON by tokens and
never decodes a number, so that what it has is what was sent.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import requests
import urllib3

import prodex

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')
_PORTS = itertools.count(20_000)


def tokens(text: str) -> list[str]:
    """Return the tokens of JSON in their order: texts by their letters, numbers as they are written."""
    found = (one[0] for one in _TOKEN.finditer(text))
    return [f"text {json.loads(one)!r}" if one[0] == '"' else one for one in found]


def members(text: str) -> list[tuple[str, str]]:
    """Return the members of an object, or with "" the items of a list, as they are written."""
    found: list[tuple[str, str]] = []
    depth, begin, name = 0, 0, ""
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{" | "[":
                depth += 1
                if depth == 1:
                    begin = token.end()
            case ":" if depth == 1:
                name, begin = json.loads(text[begin : token.start()]), token.end()
            case "," | "}" | "]":
                if depth == 1 and (value := text[begin : token.start()].strip()):
                    found.append((name, value))
                    name, begin = "", token.end()
                depth -= token[0] != ","
    return found


class Recorded(requests.Session):
    """Products as texts of JSON, and the payloads that came.

    Attributes
    ----------
    products
        Each with an `id` and a `gtin` of its own, at its beginning.
    posted
        The bodies of the upserts.
    """

    def __init__(self, products: Iterable[str]) -> None:
        super().__init__()
        # What one has been sent is nothing that another one knows.
        self._port = next(_PORTS)
        self.products = list(products)
        self.posted: list[str] = []
        self._imports: list[list[str]] = []

    @property
    def service(self) -> prodex.service.Client:
        """A client of it."""
        return prodex.connect(
            base_url=f"http://127.0.0.1:{self._port}", client_id="key", client_secret="secret", session=self
        )

    @property
    def sent(self) -> list[dict[str, str]]:
        """The products of all payloads, each as its members."""
        return [dict(members(one)) for body in self.posted for one in _products_in(body)]

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:
        """Answer a request as the service would."""
        path = str(request.path_url).partition("?")[0]
        body = request.body.decode() if isinstance(request.body, bytes) else request.body or "{}"
        content = f'{{"message": "{path} is not here"}}'
        if path.endswith("/token"):
            content = '{"access_token": "a.b.c", "token_type": "JWT"}'
        elif "/track/" in path:
            gtins = self._imports[int(path.rpartition("/")[2]) - 1]
            lines = [{"gtin": one, "status": "SUCCESS"} for one in gtins]
            content = json.dumps({"status": "SUCCESS", "count": len(gtins), "products": lines})
        elif path == "/public/v1/products" and request.method == "POST":
            self.posted.append(body)
            self._imports.append([self._write(one) for one in _products_in(body)])
            content = f'{{"tracking": {len(self._imports)}}}'
        elif path == "/public/v1/products/list":
            content = self._page(json.loads(body))
        raw = urllib3.HTTPResponse(
            io.BytesIO(content.encode()), {"Content-Type": "application/json"}, 200, preload_content=False
        )
        return requests.adapters.HTTPAdapter().build_response(request, raw)

    def _page(self, asked: dict[str, Any]) -> str:
        wanted = asked.get("filter_gtins_in")
        chosen = [
            one for one in self.products if wanted is None or json.loads(dict(members(one))["gtin"]) in wanted
        ]
        begin = int(asked.get("next_page") or asked.get("offset") or 0)
        end = begin + int(asked.get("limit", 20))
        data = ", ".join(chosen[begin:end])
        return f'{{"totalResults": {len(chosen)}, "next_page": "{end}", "data": [{data}]}}'

    def _write(self, product: str) -> str:
        """Replace the attributes of a product that are given; null takes one away."""
        new = dict(members(product))
        gtin = json.loads(new.pop("gtin"))
        for place, text in enumerate(self.products):
            old = members(text)
            if json.loads(dict(old)["gtin"]) == gtin:
                kept = [(name, value) for name, value in old if name not in new]
                added = [(name, value) for name, value in new.items() if value != "null"]
                self.products[place] = written([*kept, *added])
        return str(gtin)


def written(pairs: Sequence[tuple[str, str]]) -> str:
    """Return an object of members as they are written."""
    content = ", ".join(f"{json.dumps(name)}: {value}" for name, value in pairs)
    return f"{{{content}}}"


def _products_in(body: str) -> Iterator[str]:
    return (one for _, one in members(dict(members(body))["data"]))

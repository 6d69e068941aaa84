"""A client as thin as can be, for the tests of the stranger: it hides nothing that comes over the wire."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from dataclasses import dataclass
from typing import Any

from .catalogue import Record, gtin_of
from .service import Stranger

LIST = "/public/v1/products/list"
PRODUCTS = "/public/v1/products"
TOKEN = "/auth/v2/token"
JSON = "application/json"


@dataclass(frozen=True)
class Answer:
    """A reply: its status, its headers in lower case, and its body as it came."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Probe:
    """One caller of one stranger; each call has its own connection."""

    def __init__(self, stranger: Stranger) -> None:
        self.stranger = stranger
        self._token: str | None = None

    @property
    def token(self) -> str:
        """The access token, fetched once."""
        if self._token is None:
            # Some traits concern the token answer itself; reads then use a token of their own.
            self._token = self.stranger.access.give("token-of-the-probe")
        return self._token

    def call(self, method: str, path: str, content: Any = None, **headers: str) -> Answer:
        """Make a call; content that is not bytes is sent as JSON."""
        body = content if content is None or isinstance(content, bytes) else json.dumps(content).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.stranger.port, timeout=5)
        ) as line:
            line.request(method, path, body, {"Authorization": f"Bearer {self.token}", **named})
            reply = line.getresponse()
            found = {name.lower(): value for name, value in reply.getheaders()}
            return Answer(reply.status, found, reply.read())

    def read(self, **query: Any) -> Answer:
        """Search products by POST."""
        return self.call("POST", LIST, query)

    def page(self, **query: Any) -> Record:
        """The envelope of a search."""
        return self.read(**query).json

    def ids(self, **query: Any) -> list[Any]:
        """The ids that a search finds."""
        return [item["id"] for item in self.page(limit=500, **query)["data"]]

    def item(self, nth: int = 2) -> Any:
        """The nth item of the first page."""
        return self.page()["data"][nth - 1]

    def scroll(self, most: int = 9, limit: int = 10) -> list[Answer]:
        """The answers of a scroll until a page is no page, is empty, or gives no cursor."""
        answers: list[Answer] = []
        cursor: Any = ""
        while len(answers) < most:
            answers.append(self.read(next_page=cursor, limit=limit))
            page = answers[-1].json
            cursor = page.get("next_page")
            if answers[-1].status != 200 or not page["data"] or not cursor:
                break
        return answers

    def sizes(self, **options: int) -> list[int]:
        """How many products each page of a scroll holds."""
        return [len(answer.json.get("data", [])) for answer in self.scroll(**options)]

    def credentials(self) -> dict[str, str]:
        """What a token request sends."""
        stranger = self.stranger
        return {
            "client_id": stranger.client_id,
            "client_secret": stranger.client_secret,
            "grant_type": "client_credentials",
        }

    def ask_token(self, path: str = TOKEN) -> Answer:
        """Ask for a token."""
        return self.call("POST", path, self.credentials())

    def upsert(self, count: int = 1) -> Answer:
        """Write some products as JSON."""
        names = [{"expressedIn": {"code": "eng-GB"}, "data": "New"}]
        items = [{"gtin": gtin_of(400_000_000_000 + i), "nameLegal": names} for i in range(count)]
        return self.call("POST", PRODUCTS, {"data": items}, Content_Type=JSON)

    def track(self, number: int = 7) -> Answer:
        """Ask what became of an upsert."""
        return self.call("GET", f"{PRODUCTS}/track/{number}")

    def tracked(self) -> Any:
        """Write two products and return the tracking record."""
        self.upsert(2)
        return self.track().json

    def segments(self) -> Any:
        """The answer for the tree of segments."""
        return self.call("GET", "/core/v3/productsegments/hierarchy").json

    def organizations(self, query: str = "") -> Answer:
        """The answer for organizations."""
        return self.call("GET", f"/auth/v2/organization{query}")

    def activate(self) -> Answer:
        """Activate one scenario on one product."""
        content = {"uuids": ["a"], "ruleset_values": {"12": True}}
        return self.call("POST", "/public/v1/validation/rulesets/require", content)

    def bytes_of_read(self, seconds: float = 5.0, most: int = 10**6, *, close: bool = True) -> bytes:
        """All bytes of the reply to a read, until the connection ends, time is up, or there are enough."""
        head = (
            f"POST {LIST} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nContent-Length: 2\r\n"
        )
        ends = time.monotonic() + seconds
        found = b""
        with socket.create_connection(("127.0.0.1", self.stranger.port), timeout=seconds) as line:
            line.sendall(head.encode() + b"Connection: close\r\n" * close + b"\r\n{}")
            with contextlib.suppress(TimeoutError, ConnectionError):
                while len(found) < most and (left := ends - time.monotonic()) > 0:
                    line.settimeout(left)
                    data = line.recv(65536)
                    if not data:
                        break
                    found += data
        return found

    def failure(self) -> str:
        """The name of the error that a read ends with."""
        try:
            self.read()
        except (OSError, http.client.HTTPException, ValueError) as error:
            return type(error).__name__
        return "none"

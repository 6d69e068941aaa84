"""A small exchange service on loopback whose replies a test can script, fault by fault.

It knows nothing of filters: it has a number of products, tokens, offset pages and scrolls, and takes
writes without looking at them. What the sandbox does well, this one can do badly.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

CLIENT_ID = "key-of-a-retailer"
CLIENT_SECRET = "canary-secret-5f2b"

HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass
class Answer:
    """A scripted reply.

    Attributes
    ----------
    cut
        Announce this many bytes more than are sent, then close the connection.
    hold
        Seconds to wait before answering.
    drop
        Close the connection without an answer.
    lose
        Do the work of the call first, then drop: the reply was lost on the way.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    hold: float = 0
    drop: bool = False
    lose: bool = False


def says(status: int, message: Any) -> Answer:
    """Answer with a JSON message."""
    return Answer(status, json.dumps(message).encode(), {"Content-Type": "application/json"})


@dataclass
class Call:
    """A request that came; `body` is what was posted."""

    method: str
    path: str
    content: dict[str, Any]
    headers: dict[str, str]
    body: bytes = b""


class Exchange:
    """The service; a context manager that serves while it is open.

    Attributes
    ----------
    total
        Number of products.
    answers
        What the next calls to products get instead of their page; None for the page.
    token_answers
        Likewise for calls to the token endpoint.
    calls
        What came, in order.
    token_lifetime
        Seconds.
    same_cursor, ends_by
        How scrolls look: whether the cursor stays equal, and "empty", "absent" or "null" at the end.
    empty_list
        What an empty page has in place of its list.
    imports
        The bodies of the writes that were taken; the first has tracking identifier 1.
    records
        What a call for a tracking record gets, one after the other; the last again and again.
    """

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.answers: deque[Answer | None] = deque()
        self.token_answers: deque[Answer | None] = deque()
        self.calls: list[Call] = []
        self.token_lifetime = 7200.0
        self.token_type_key = "token_type"
        self.same_cursor = False
        self.ends_by = "empty"
        self.empty_list: list[Any] | None = []
        self.imports: list[bytes] = []
        self.records: list[dict[str, Any]] = [{"status": "SUCCESS"}]
        self.tokens: set[str] = set()
        self._positions: dict[str, int] = {}
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def product_calls(self) -> list[Call]:
        return [call for call in self.calls if call.path.startswith("/public")]

    @property
    def token_calls(self) -> list[Call]:
        return [call for call in self.calls if call.path.endswith("/token")]

    def __enter__(self) -> Exchange:
        class Handler(BaseHTTPRequestHandler):
            exchange = self
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                self.exchange.handle(self, dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True)))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.exchange.handle(self, json.loads(body) if body[:1] == b"{" else {}, body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: object) -> None:
                """Bear clients that do not wait for a late answer."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        assert self._thread is not None
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def handle(self, handler: BaseHTTPRequestHandler, content: dict[str, Any], body: bytes = b"") -> None:
        path = urlsplit(handler.path).path
        with self._lock:
            self.calls.append(Call(handler.command, path, content, dict(handler.headers), body))
            script = self.token_answers if path.endswith("/token") else self.answers
            scripted = script.popleft() if script else None
            answer = scripted or Answer()
            if scripted is None or scripted.lose:
                answer = self._token() if path.endswith("/token") else self._products(handler, content)
                answer.drop = scripted is not None
        if answer.hold:
            time.sleep(answer.hold)
        handler.close_connection = answer.drop or bool(answer.cut) or bool(answer.hold)
        if answer.drop:
            return
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer.body) + answer.cut))
        handler.end_headers()
        handler.wfile.write(answer.body)

    def _token(self) -> Answer:
        now = int(time.time())
        claims = {"iat": now, "exp": now + self.token_lifetime, "number": len(self.token_calls)}
        payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
        token = f"eyJhbGciOiJIUzI1NiJ9.{payload}.canary-token-signature"
        self.tokens.add(token)
        return says(200, {"access_token": token, self.token_type_key: "JWT"})

    def _products(self, handler: BaseHTTPRequestHandler, content: dict[str, Any]) -> Answer:
        if handler.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return says(401, {"message": "the caller could not be authenticated"})
        path = urlsplit(handler.path).path
        if handler.command == "POST" and path == "/public/v1/products":
            self.imports.append(self.calls[-1].body)
            return says(200, {"tracking": len(self.imports)})
        if "/track/" in path:
            return says(200, self.records.pop(0) if len(self.records) > 1 else self.records[0])
        limit, offset = int(content.get("limit", 20)), int(content.get("offset", 0))
        cursor = content.get("next_page")
        envelope: dict[str, Any] = {"totalResults": self.total, "offset": offset}
        if cursor is not None:
            if cursor and cursor not in self._positions:
                return says(404, {"message": "unknown cursor"})
            offset = self._positions.get(cursor, 0)
            if offset + limit < self.total or self.ends_by == "empty":
                new = "7" if self.same_cursor else str(1000 + len(self.calls))
                self._positions[new] = min(offset + limit, self.total)
                envelope["next_page"] = new
            elif self.ends_by == "null":
                envelope["next_page"] = None
        found = [self.product(index) for index in range(offset, min(offset + limit, self.total))]
        envelope["data"] = found or self.empty_list
        return says(200, envelope)

    @staticmethod
    def product(index: int) -> dict[str, Any]:
        return {"id": index, "gtin": f"{index:014d}"}

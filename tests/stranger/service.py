"""The stranger: a threaded server on a raw socket that answers as the specification says, then as its traits say."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from email.utils import formatdate
from typing import Any, Self

from . import catalogue
from .access import Access
from .catalogue import Record
from .endpoints import ENDPOINTS, UNKNOWN_CALLER, Call, route_of
from .imports import Imports
from .scrolling import Refused, Scrolls
from .settings import Settings
from .traits import Switches  # importing it from there declares the traits
from .wire import Line, Reply, Request


class Stranger:
    """A service on 127.0.0.1 that lasts as long as the ``with`` block.

    Parameters
    ----------
    products
        Records to serve, or how many to invent.
    traits
        Names of traits with their values, or only names; see ``TRAITS``.
    seed
        The seed of invented products.
    import_delay
        Seconds until an upsert is carried out.
    publish
        Whether upserted products also change the catalogue that is served.

    Raises
    ------
    ValueError
        For an unknown trait, or two traits that exclude each other.
    """

    client_id = "stranger-client"
    client_secret = "stranger-secret"

    def __init__(
        self,
        products: Iterable[Record] | int = 100,
        traits: Mapping[str, Any] | Iterable[str] | None = None,
        *,
        seed: int = 0,
        import_delay: float = 0.0,
        publish: bool = True,
    ) -> None:
        records = catalogue.products(products, seed) if isinstance(products, int) else products
        self.products: dict[Any, Record] = {record["id"]: record for record in records}
        self.switches = Switches(traits)
        self.settings = Settings()
        self.switches.set_up(self.settings)
        self.scrolls = Scrolls(self.settings, self.now)
        self.access = Access(self.settings, self.now)
        self.imports = Imports(
            self.now, import_delay, self._publish if publish else lambda _: None, self.settings.first_tracking
        )
        self.activations: list[Record] = []
        self.memory: dict[str, Any] = {}
        self._skew = 0.0
        self._calls: list[tuple[str, str, Any]] = []
        self._counts: Counter[str] = Counter()
        self._hooks: dict[int, list[Callable[[Stranger], object]]] = {}
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._lines: set[Line] = set()
        self._threads: set[threading.Thread] = set()
        self._down_until = 0.0
        self._listener = self._listen(0)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._transport = threading.Thread(target=self._accept, daemon=True)
        self._transport.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def calls(self) -> list[tuple[str, str, Any]]:
        """All requests so far: method, path, and parsed body (of a GET: its query)."""
        with self._lock:
            return list(self._calls)

    @property
    def stored(self) -> dict[str, Record]:
        """What the upserts have left, by GTIN."""
        with self._lock:
            return dict(self.imports.stored)

    @property
    def received(self) -> list[tuple[bytes, str]]:
        """Each upsert that was accepted: its bytes and its content type."""
        with self._lock:
            return list(self.imports.received)

    def count(self, route: str = "products") -> int:
        """How many calls a route has had."""
        with self._lock:
            return self._counts[route]

    def put(self, record: Record) -> None:
        """Add a product or replace the one with its id."""
        with self._lock:
            self.products[record["id"]] = record

    def remove(self, product_id: Any) -> None:
        """Take a product out of the catalogue."""
        with self._lock:
            self.products.pop(product_id, None)

    def ids(self) -> list[Any]:
        """The ids of all products in ascending order."""
        try:
            return sorted(self.products)
        except TypeError:  # ids of mixed types keep the order in which they came
            return list(self.products)

    def at_call(self, number: int, function: Callable[[Stranger], object]) -> None:
        """Run a function right before the given product read is answered; reads count from 1."""
        with self._lock:
            self._hooks.setdefault(number, []).append(function)

    def now(self) -> float:
        """The service's clock in UNIX seconds."""
        return time.time() + self._skew

    def advance(self, seconds: float) -> None:
        """Let time pass for tokens, cursors and imports without waiting for it."""
        self._skew += seconds

    def restart(self, seconds: float) -> None:
        """Refuse connections for some seconds and forget all cursors; the port stays the same."""
        with self._lock:
            self._down_until = time.monotonic() + seconds
            self.scrolls.forget()
            lines = list(self._lines)
        _end(self._listener)
        for line in lines:
            _wake(line)

    def close(self) -> None:
        """End the server, every connection and every thread."""
        self._stopping.set()
        _end(self._listener)
        self._transport.join(5)
        # The accept thread may have opened a new listener meanwhile, after a restart.
        _end(self._listener)
        with self._lock:
            lines, threads = list(self._lines), list(self._threads)
        for line in lines:
            _wake(line)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(5)

    def answer(self, call: Call) -> Reply:
        """The reply to one call, after all stages."""
        with self._lock:
            if call.route == "products":
                for function in self._hooks.pop(call.number, []):
                    function(self)
            try:
                reply = self.switches.run("request", None, call) or self._ordinary(call)
            except Refused as refused:
                reply = call.reply({"message": str(refused)}, refused.status)
            reply = reply.having(headers={"Date": formatdate(self.now(), usegmt=True), **reply.headers})
            return self.switches.run("wire", self.switches.run("reply", reply, call), call)

    def _ordinary(self, call: Call) -> Reply:
        open_to_all = call.route in {"token", "nowhere"}
        if not open_to_all and not self.access.allows(call.request.headers.get("authorization", "")):
            return call.reply(UNKNOWN_CALLER, 401)
        answer = ENDPOINTS[call.route](call)
        if isinstance(answer, Reply):
            return answer
        answer = self.switches.run("page", answer, call)
        return call.reply(self.switches.run("form", answer, call))

    def _publish(self, items: list[Record]) -> None:
        known = {record.get("gtin"): key for key, record in self.products.items()}
        newest = max((key for key in self.products if isinstance(key, int)), default=0)
        for item in items:
            if item["gtin"] not in known:
                newest += 1
                known[item["gtin"]] = newest
            key = known[item["gtin"]]
            kept = {name: value for name, value in self.products.get(key, {}).items() if name not in item}
            given = {name: value for name, value in item.items() if value is not None}
            self.products[key] = {**kept, **given, "id": key, "updatedAt": catalogue.iso(self.now())}

    def _listen(self, port: int) -> socket.socket:
        listener = socket.socket()
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(64)
        except OSError:
            listener.close()
            raise
        listener.settimeout(1)
        return listener

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                sock, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                self._reopen()
                continue
            try:
                line = Line(sock, self._stopping)
            except OSError:  # the client has already left
                sock.close()
                continue
            thread = threading.Thread(target=self._serve, args=(line,), daemon=True)
            with self._lock:
                self._lines.add(line)
                self._threads = {one for one in self._threads if one.is_alive()} | {thread}
                # Started under the lock: a thread that close() finds can always be joined.
                thread.start()

    def _reopen(self) -> None:
        while not self._stopping.wait(max(0.0, self._down_until - time.monotonic())):
            try:
                self._listener = self._listen(self.port)
            except OSError:
                self._stopping.wait(0.05)
            else:
                return

    def _serve(self, line: Line) -> None:
        try:
            while not self._stopping.is_set() and self._exchange(line):
                pass
        except OSError:
            pass  # the client left, or sent something that is not HTTP
        finally:
            line.close()
            with self._lock:
                self._lines.discard(line)

    def _exchange(self, line: Line) -> bool:
        head = line.read_head()
        if head is None:
            return False
        call = self._begin(head)
        if self.switches.run("head", True, call) is False:
            return False
        call.request = line.read_body(head)
        with self._lock:
            self._calls.append((head.method, head.path, call.request.content))
        reply = self.answer(call)
        keeps = line.send_reply(reply, head.method)
        return keeps and head.headers.get("connection", "").lower() != "close"

    def _begin(self, head: Request) -> Call:
        route = route_of(head)
        with self._lock:
            self._counts[route] += 1
            return Call(self, replace(head), route, self._counts[route])


def _wake(line: Line) -> None:
    # The thread that owns the line closes it; a descriptor closed under a reader could be used again.
    with contextlib.suppress(OSError):
        line.sock.shutdown(socket.SHUT_RDWR)


def _end(listener: socket.socket) -> None:
    # Only shutdown wakes a thread that is waiting in accept().
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)
    listener.close()

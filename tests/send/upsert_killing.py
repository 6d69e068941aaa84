"""Upserts that are killed again and again, and a service of its own that takes down what it received."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import prodex
from prodex.gtin import check_digit

PRODUCTS = 300
BATCH = 5

_BEGIN = """
import json, sys
import prodex
service = prodex.connect(sys.argv[1], client_id="key", client_secret="secret")
print("ready", flush=True)
products = json.load(open(sys.argv[2]))
"""
_UPSERT = _BEGIN + f"prodex.upsert(service, products, batch_size={BATCH}, progress=False)"
_REST = _BEGIN + "prodex.track(service).send_rest(progress=False)"


class _Server(ThreadingHTTPServer):
    """A server that says nothing of connections whose process was killed."""

    daemon_threads = True

    def handle_error(self, *arguments: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(*arguments)


class Receiver:
    """A service that takes products and counts how often each GTIN came; each answer takes a moment."""

    def __init__(self, latency: float = 0.01) -> None:
        self.received: Counter[str] = Counter()
        self.calls = 0
        self._imports: list[list[str]] = []
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                number = int(self.path.rpartition("/")[2])
                gtins = receiver._imports[number - 1]
                outcomes = [{"gtin": gtin, "status": "SUCCESS", "message": ""} for gtin in gtins]
                self._answer({"status": "SUCCESS", "count": len(gtins), "products": outcomes})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path.endswith("/token"):
                    now = int(time.time())
                    claims = json.dumps({"iat": now, "exp": now + 7200}).encode()
                    token = f"eyJhIjoxfQ.{base64.urlsafe_b64encode(claims).rstrip(b'=').decode()}.c2ln"
                    self._answer({"access_token": token, "token_type": "JWT"})
                    return
                if self.path.endswith("/list"):  # it has no product before it receives it
                    self._answer({"data": [], "totalResults": 0})
                    return
                time.sleep(latency / 2)
                with receiver._lock:
                    gtins = [product["gtin"] for product in body["data"]]
                    receiver.received.update(gtins)
                    receiver._imports.append(gtins)
                    receiver.calls += 1
                    number = len(receiver._imports)
                time.sleep(latency / 2)
                self._answer({"tracking": number})

            def _answer(self, value: Any) -> None:
                body = json.dumps(value).encode()
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:  # who asked was killed
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def serving(self) -> Iterator[Receiver]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


@dataclass
class Killed:
    """What became of it.

    Attributes
    ----------
    kills, upserts
        How often a process was killed, and in how many upserts.
    in_planning
        How often it was killed before its plan was on disk.
    unknown
        Products of which nobody knew whether they had arrived, and how many of them had.
    twice, unaccounted
        GTINs that came twice; GTINs whose state was not as the service had it. Both have to be empty.
    """

    kills: int = 0
    upserts: int = 0
    in_planning: int = 0
    sent: int = 0
    unknown: int = 0
    unknown_that_arrived: int = 0
    twice: list[str] = field(default_factory=list)
    unaccounted: list[str] = field(default_factory=list)


def kill_upserts(folder: Path, kills: int, *, seed: int = 1) -> Killed:
    """Upsert, kill the process (SIGKILL) at a random moment, look what is known, send the rest, kill again."""
    chance, result = random.Random(seed), Killed()
    with Receiver().serving() as receiver:
        service = prodex.connect(receiver.base_url, client_id="key", client_secret="secret")
        while result.kills < kills:
            products = _products(result.upserts)
            result.upserts += 1
            file = folder / "products.json"
            file.write_text(json.dumps(products))
            code, planned = _UPSERT, len(prodex.list_upserts())
            while True:
                if result.kills < kills:
                    killed = _run(code, receiver, file, chance)
                    result.kills += killed
                else:
                    killed = False
                    prodex.track(service).send_rest(progress=False)
                if len(prodex.list_upserts()) == planned:
                    result.in_planning += 1
                    assert not set(_gtins(products)) & set(receiver.received)
                    continue
                _compare(service, receiver, products, result)
                if not killed:
                    break
                code = _REST
            _take_stock(service, receiver, products, result)
    result.twice = [gtin for gtin, times in receiver.received.items() if times > 1]
    return result


def _compare(service: prodex.service.Client, receiver: Receiver, products: list[Any], result: Killed) -> None:
    """Hold what a new process knows against what the service received."""
    told = dict(prodex.track(service).products[["gtin", "status"]].itertuples(index=False, name=None))
    for gtin in _gtins(products):
        there = receiver.received[gtin] > 0
        if told.get(gtin) not in {"SUCCESS" if there else "not sent", "unknown"}:
            result.unaccounted.append(gtin)
    if set(told) != set(_gtins(products)):
        result.unaccounted.append("other products")
    if sum(status == "unknown" for status in told.values()) > BATCH * result.kills:
        result.unaccounted.append("more unknown than were on their way")


def _take_stock(
    service: prodex.service.Client, receiver: Receiver, products: list[Any], result: Killed
) -> None:
    """All that was not sent is there now; what was unknown still is."""
    tracking = prodex.track(service)
    assert set(tracking.statuses) <= {"SUCCESS", "unknown"}
    unknown = tracking.products.query("status == 'unknown'")["gtin"].tolist()
    result.sent += tracking.statuses["SUCCESS"]
    result.unknown += len(unknown)
    result.unknown_that_arrived += sum(receiver.received[gtin] > 0 for gtin in unknown)
    if set(_gtins(products)) - set(receiver.received) - set(unknown):
        result.unaccounted.append("products that are neither there nor unknown")


def _run(code: str, receiver: Receiver, file: Path, chance: random.Random) -> bool:
    """Send in a process of its own and kill it at a random moment; say whether it had not ended before."""
    before = receiver.calls
    with subprocess.Popen(
        [sys.executable, "-c", code, receiver.base_url, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        # Some are killed in the midst of planning, most in the midst of sending.
        calls = chance.randrange(-2, 12)
        while calls > 0 and receiver.calls < before + calls and process.poll() is None:
            time.sleep(0.0005)
        time.sleep(chance.uniform(0, 0.05 if calls < 0 else 0.025))
        if process.poll() is None:
            process.kill()
            process.wait()
            time.sleep(0.1)  # until the service has taken down what was on its way
            return True
        _, complaint = process.communicate()
        assert process.returncode == 0, complaint
        return False


def _products(turn: int) -> list[dict[str, Any]]:
    names = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    numbers = range(1 + turn * PRODUCTS, 1 + (turn + 1) * PRODUCTS)
    return [
        {"gtin": f"{n:013d}{check_digit(f'{n:013d}')}", "nameLegal": names, "kind": {"code": "1"}}
        for n in numbers
    ]


def _gtins(products: list[dict[str, Any]]) -> list[str]:
    return [product["gtin"] for product in products]

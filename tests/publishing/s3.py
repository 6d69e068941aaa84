"""An S3 server in a process of its own, and what reaches it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import requests

#: It ends with its standard input. S3 decides on a conditional write and does it in one step; moto's threads do not.
_SERVER = """
import logging, sys, threading
logging.getLogger("werkzeug").setLevel(logging.ERROR)
from moto.s3.responses import S3Response
from moto.server import ThreadedMotoServer
put, lock = S3Response._key_response_put, threading.Lock()
def put_alone(self, *arguments, **more):
    with lock:
        return put(self, *arguments, **more)
S3Response._key_response_put = put_alone
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""

#: What the server takes for a signature: it asks nobody who it is, unless it was told to refuse everybody.
_SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=tests/20261122/us-east-1/s3/aws4_request, SignedHeaders=host, "
    "Signature=0"
}

#: Where the tests publish.
URI = "s3://bucket/team/shop"

#: No message, repr or table may show these.
SECRETS = ("AKIAPRIVATEEXAMPLE", "very-private-secret", "very-private-token")


@dataclass(frozen=True)
class Store:
    """An object store with one bucket."""

    endpoint: str

    @property
    def options(self) -> dict[str, str]:
        """What is needed to reach it."""
        return {
            "aws_access_key_id": SECRETS[0],
            "aws_secret_access_key": SECRETS[1],
            "aws_session_token": SECRETS[2],
            "aws_region": "us-east-1",
            "aws_endpoint_url": self.endpoint,
            "aws_allow_http": "true",
        }

    def refuse(self, after: float) -> None:
        """Refuse every request after the next so many, since nobody of this name is known."""
        requests.post(f"{self.endpoint}/moto-api/reset-auth", data=str(after), timeout=30).raise_for_status()

    def objects(self) -> dict[str, bytes]:
        """Return everything that is stored."""
        return {key: self._call("GET", f"/{key}") for key in self.names()}

    def names(self) -> list[str]:
        """Return the names of everything that is stored."""
        listed = self._call("GET", "?list-type=2&max-keys=1000").decode()
        return [piece.partition("</Key>")[0] for piece in listed.split("<Key>")[1:]]

    def write(self, key: str, content: bytes) -> None:
        """Put something in the place of an object."""
        self._call("PUT", f"/{key}", content)

    def delete(self, key: str) -> None:
        """Remove an object."""
        self._call("DELETE", f"/{key}")

    def empty(self) -> None:
        """Remove everything."""
        requests.post(f"{self.endpoint}/moto-api/reset", timeout=30).raise_for_status()
        self.create()

    def create(self) -> None:
        """Make the bucket."""
        self._call("PUT", "")

    def _call(self, method: str, path: str, content: bytes | None = None) -> bytes:
        address = f"{self.endpoint}/bucket{path}"
        reply = requests.request(method, address, data=content, headers=_SIGNED, timeout=30)
        reply.raise_for_status()
        return reply.content


@contextmanager
def serving() -> Iterator[Store]:
    """Serve an empty bucket."""
    command = [sys.executable, "-W", "ignore", "-c", _SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            store = Store(f"http://127.0.0.1:{int(server.stdout.readline())}")
            store.create()
            yield store
        finally:
            server.stdin.close()

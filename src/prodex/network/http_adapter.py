"""The one way to HTTP: an adapter of `requests` that ends replies in time, and connects to checked addresses only.

The timeouts of `requests` limit the pause between two reads and not the whole reply: a server that sends one byte a
second holds a thread for ever. And a name that was checked could lead to a private address when it is looked up again
for the connection (DNS rebinding). All times are in seconds.
"""

from __future__ import annotations

import io
import math
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPResponse
from importlib.metadata import version
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from prodex.errors import SettingsError
from prodex.limits import Meter

USER_AGENT = f"prodex/{version('prodex')}"

#: Pools of connections that an adapter keeps, and connections in each: a catalogue may name more hosts than a process
#: may have open files, and a load has more windows side by side than the 10 connections that `requests` would keep.
_POOLS = _CONNECTIONS = 32
#: Seconds after which a read that waits looks whether it was halted.
_LOOK = 0.2
_CHUNK = 1 << 16

#: Returns the IP addresses to connect to for a host and a port, or raises.
Addresses = Callable[[str, int], Sequence[str]]


class Halted(Exception):
    """A reply was not awaited any longer, because its caller was told to stop."""


@dataclass(frozen=True)
class LimitedCall:
    """A request and its reply: connections of this thread that are opened or read meanwhile keep to its limits.

    Attributes
    ----------
    meter
        Its limits say how long the reply may take. The time begins when the request was sent.
    halted
        Ends the reply at once when it is set, by whatever thread.
    """

    meter: Meter
    halted: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Let the connections of this thread keep to the limits of the call."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def check(self) -> None:
        """Make sure that the reply may still be awaited.

        Raises
        ------
        LimitExceeded
            When its time is over.
        Halted
            When it was halted.
        """
        if self.halted.is_set():
            raise Halted
        if self.meter.seconds_left <= 0:
            raise self.meter.exceeded("seconds")


_current: ContextVar[LimitedCall | None] = ContextVar("_current", default=None)


class _Received(io.RawIOBase):
    """The bytes that come over a connection, as long as they may be awaited.

    Parameters
    ----------
    connection
        The socket, or what `ssl` made of it. Its timeout is the longest pause between two reads.
    file
        The file of the socket, which keeps it open until the reply is closed.
    call
        The call whose reply is read.
    """

    def __init__(self, connection: socket.socket, file: io.RawIOBase, call: LimitedCall) -> None:
        self._connection, self._file, self._call = connection, file, call
        pause = connection.gettimeout()
        self._pause = math.inf if pause is None else pause

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        pause_ends = time.monotonic() + self._pause
        while True:
            self._call.check()
            left = min(pause_ends - time.monotonic(), self._call.meter.seconds_left, _LOOK)
            # Not 0, which would mean not to wait at all.
            self._connection.settimeout(max(left, 0.001))
            try:
                return self._connection.recv_into(buffer)
            except TimeoutError:
                if time.monotonic() >= pause_ends:
                    raise

    def close(self) -> None:
        self._file.close()
        super().close()


class _LimitedResponse(HTTPResponse):
    """A reply whose head and body come through the current call, if there is one."""

    def __init__(self, sock: Any, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        if (call := _current.get()) is not None:
            call.meter.begin()
            self.fp = io.BufferedReader(_Received(sock, self.fp.detach(), call))


class _WithoutCookies(_LimitedResponse):
    """A reply of a host that a supplier named: its cookies are not even read."""

    def begin(self) -> None:
        super().begin()
        del self.headers["Set-Cookie"]


class _Pinned(HTTPConnection):
    """A connection to one of the addresses that were checked for its host: nobody looks the name up again."""

    response_class = _WithoutCookies
    addresses: Addresses

    def _new_conn(self) -> socket.socket:
        failure: Exception = NewConnectionError(self, f"{self.host} has no address")
        for ip in self.addresses(self.host, self.port):
            if (call := _current.get()) is not None:
                call.check()
            try:
                return socket.create_connection((ip, self.port), self.timeout)
            except TimeoutError:
                failure = ConnectTimeoutError(self, f"{ip} did not accept the connection in time")
            except OSError as error:
                failure = NewConnectionError(self, f"no connection to {ip}: {error}")
        raise failure


class LimitedAdapter(HTTPAdapter):
    """Opens connections whose replies keep to the limits of the current `LimitedCall`.

    Parameters
    ----------
    addresses
        Returns the addresses that may be connected to, or raises: every connection is to one of them. None to look
        names up as usual.
    """

    def __init__(self, addresses: Addresses | None = None) -> None:
        self._addresses = addresses
        super().__init__(pool_connections=_POOLS, pool_maxsize=_CONNECTIONS)

    def get_connection_with_tls_context(self, *given: Any, **named: Any) -> Any:
        pool = super().get_connection_with_tls_context(*given, **named)
        if not _is_limited(pool):
            _limit(pool, self._addresses)
        return pool

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        try:
            super().cert_verify(conn, url, verify, cert)  # type: ignore[no-untyped-call]
            if url.lower().startswith("https:") and verify and not cert:
                # In place of the file or folder, which urllib3 would read for each connection, in 20 ms.
                conn.conn_kw["ssl_context"] = _trusting(conn.ca_certs, conn.ca_cert_dir)
                conn.ca_certs = conn.ca_cert_dir = None
        except OSError as error:
            raise SettingsError(
                f"The certificates in {verify} cannot be read ({error}). Point REQUESTS_CA_BUNDLE to a file of "
                "certificates in the form PEM, or remove it from the environment."
            ) from error

    @contextmanager
    def get(
        self,
        url: str,
        call: LimitedCall,
        *,
        timeout: tuple[float, float],
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Any]:
        """Request what is at a URL, spelled as it is; yield the reply of urllib3.

        There is no session: neither cookies nor ~/.netrc nor the proxies of the environment are used. Certificates are
        verified by the bundle that `REQUESTS_CA_BUNDLE` names, as for calls to the service.
        """
        request = requests.PreparedRequest()
        request.prepare_method("GET")
        request.prepare_headers({"User-Agent": USER_AGENT, **(headers or {})})
        request.url = url
        bundle = next(filter(None, map(os.environ.get, ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))), True)
        with call.under_way():
            call.check()
            response = self.send(request, stream=True, timeout=timeout, verify=bundle)
            try:
                yield response.raw
            finally:
                response.close()


@cache
def _trusting(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return settings of TLS that verify by the certificates of a file or a folder."""
    return ssl.create_default_context(cafile=file, capath=folder)


_limiting = threading.Lock()


def limit_replies(
    session: requests.Session, request: requests.PreparedRequest, options: Mapping[str, Any]
) -> None:
    """Make the connections of a session that somebody else made keep to the limits of the current call, too.

    Parameters
    ----------
    request, options
        What will be sent, and how: proxies, and what certificates are verified with. An adapter that is none of HTTP
        is left as it is.
    """
    adapter = session.get_adapter(str(request.url))
    if not isinstance(adapter, HTTPAdapter) or isinstance(adapter, LimitedAdapter):
        return
    how = {name: options.get(name) for name in ("verify", "proxies", "cert")}
    with _limiting:
        if not _is_limited(adapter.get_connection_with_tls_context(request, **how)):
            # Connections that were opened before have no limit.
            adapter.close()
            _limit(adapter.get_connection_with_tls_context(request, **how))


def _is_limited(pool: Any) -> bool:
    return issubclass(pool.ConnectionCls.response_class, _LimitedResponse)


def _limit(pool: Any, addresses: Addresses | None = None) -> None:
    """Let a pool of urllib3 open connections that are limited, and pinned where there are addresses."""
    usual = pool.ConnectionCls
    if addresses is None:
        pool.ConnectionCls = type(usual.__name__, (usual,), {"response_class": _LimitedResponse})
    else:
        pool.ConnectionCls = type(usual.__name__, (_Pinned, usual), {"addresses": staticmethod(addresses)})


def chunks(reply: Any) -> Iterator[bytes]:
    """Yield bytes of a reply as soon as they arrive, compressed as they are.

    `read` would wait for a full chunk, and hide a reply that trickles in.
    """
    read = getattr(reply, "read1", None) or reply.read
    while chunk := read(_CHUNK, decode_content=False):
        yield chunk

"""Connection pools with a deadline for each reply, and connections that are pinned to a checked IP address.

The pools are those of urllib3, whose timeouts limit the pause between two reads and not the whole reply: a server that
sends one byte a second holds a thread for ever. Pinned connections are for addresses that suppliers typed: a name that
was checked could resolve to a private address when it is looked up again for the connection (DNS rebinding).
"""

from __future__ import annotations

import codecs
import os
import socket
import ssl
import threading
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool, PoolManager, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.poolmanager import pool_classes_by_scheme

from prodex.errors import UnexpectedReply
from prodex.files.unpacking import codings, unpacked
from prodex.limits import LimitExceeded, Limits, Meter
from prodex.network.addresses import Address, shortened
from prodex.network.retry import RetryableError

if TYPE_CHECKING:
    import requests


#: Pools kept open: a catalogue may name more hosts than a process may have open files.
_MOST_POOLS = 32

_current: ContextVar[Deadline | None] = ContextVar("_current", default=None)


class Deadline:
    """Cuts a connection when the time for its reply is over.

    The thread that reads from the connection then sees its end at once.

    Parameters
    ----------
    meter
        Its limits say how long; the time begins when the request was sent.
    """

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.has_begun: bool = False
        self.is_over: bool = False
        self.is_cut: bool = False
        self._shutdown: Callable[[], object] | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._token: Token[Deadline | None] | None = None

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
        with self._lock:
            self._shutdown = None
            if self._timer is not None:
                self._timer.cancel()

    def begin(self, shutdown: Callable[[], object] | None) -> None:
        """Start the time for the reply on a connection.

        Parameters
        ----------
        shutdown
            Ends the connection while another thread reads from it; None where that is not possible.
        """
        with self._lock:
            self._shutdown = shutdown
            if not self.has_begun:
                self.has_begun = True
                self.meter.begin()
                if self.meter.limits.seconds is not None:
                    self._timer = threading.Timer(self.meter.limits.seconds, self._expire)
                    # A deadline must not keep a process alive that has otherwise ended.
                    self._timer.daemon = True
                    self._timer.start()
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """Cut the connection now; any thread may call this."""
        with self._lock:
            self.is_cut = True
            if self._shutdown is not None:
                with suppress(OSError, ValueError, RuntimeError):  # it was closed meanwhile
                    self._shutdown()

    def check(self) -> None:
        """Make sure that the connection was not cut: a cut looks like the regular end of a reply without a length.

        Raises
        ------
        LimitExceeded
            When the time was over.
        ConnectionAbortedError
            When it was cut for another reason.
        """
        if self.is_over:
            raise self.meter.exceeded("seconds")
        if self.is_cut:
            raise ConnectionAbortedError

    def _expire(self) -> None:
        self.is_over = True
        self.cut()


class _WithDeadline(HTTPConnection):
    """A connection that the current deadline, if there is one, can cut."""

    def getresponse(self) -> HTTPResponse:  # type: ignore[override] # as in urllib3
        if (deadline := _current.get()) is not None:
            # Not SSLSocket.shutdown, which drops the TLS object that another thread is reading from.
            deadline.begin(partial(socket.socket.shutdown, self.sock, socket.SHUT_RDWR))
        return super().getresponse()


class _TLSWithDeadline(_WithDeadline, HTTPSConnection):
    pass


class _PoolWithDeadline(HTTPConnectionPool):
    ConnectionCls = _WithDeadline


class _TLSPoolWithDeadline(HTTPSConnectionPool):
    ConnectionCls = _TLSWithDeadline


_POOLS: dict[str, Any] = {"http": _PoolWithDeadline, "https": _TLSPoolWithDeadline}


def allow_deadlines(session: Any, url: str, proxies: Any) -> None:
    """Make a `requests` session open connections that a deadline can cut.

    An adapter with connections of its own keeps them; then only the body of a reply has a deadline, not its headers.
    """
    from requests.adapters import HTTPAdapter
    from requests.utils import prepend_scheme_if_needed, select_proxy

    adapter = session.get_adapter(url)
    if not isinstance(adapter, HTTPAdapter):
        return
    manager: PoolManager = adapter.poolmanager
    if proxy := select_proxy(url, proxies):
        manager = adapter.proxy_manager_for(prepend_scheme_if_needed(proxy, "http"))  # type: ignore[no-untyped-call]
    if manager.pool_classes_by_scheme is pool_classes_by_scheme:
        manager.pool_classes_by_scheme = _POOLS
        # Connections of the old kind may be in the pools already.
        manager.clear()


class _Pinned(_WithDeadline):
    """A connection to an IP address, for which no name is resolved."""

    def _new_conn(self) -> socket.socket:
        try:
            return socket.create_connection((self.host, self.port), self.timeout)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"{self.host} did not accept the connection in time") from error
        except OSError as error:
            raise NewConnectionError(self, f"no connection to {self.host}") from error


class _PinnedTLS(_Pinned, _TLSWithDeadline):
    pass


class _PinnedPool(HTTPConnectionPool):
    ConnectionCls = _Pinned


class _PinnedTLSPool(HTTPSConnectionPool):
    ConnectionCls = _PinnedTLS


class ConnectionPools:
    """Connections to checked addresses: few to one host at a time, and all of them can be cut at once.

    Parameters
    ----------
    per_host
        Connections to one host at a time.
    connect, read
        Seconds to wait for a connection, and for the next bytes.
    """

    def __init__(self, per_host: int, *, connect: float, read: float) -> None:
        self._per_host = per_host
        self._timeout = Timeout(connect=connect, read=read)
        self._lock = threading.Lock()
        self._slots: dict[str, threading.Semaphore] = defaultdict(partial(threading.Semaphore, per_host))
        self._pools: OrderedDict[tuple[object, str], HTTPConnectionPool] = OrderedDict()
        self._active: set[Deadline] = set()
        self.is_halted: bool = False

    def slot(self, host: str) -> threading.Semaphore:
        """Return what waits, as a context, until one of the connections to a host is free."""
        with self._lock:
            return self._slots[host]

    def pool(self, address: Address, ip: str) -> HTTPConnectionPool:
        """Return the pool of connections to a checked IP address; the TLS certificate is verified for the host name."""
        key = (address.origin, ip)
        with self._lock:
            if key not in self._pools:
                kind: type[HTTPConnectionPool] = _PinnedPool
                options: dict[str, Any] = {"timeout": self._timeout, "maxsize": self._per_host}
                if address.scheme == "https":
                    kind = _PinnedTLSPool
                    options |= {"ssl_context": _context(), "server_hostname": address.host}
                self._pools[key] = kind(ip, address.port, **options)
            self._pools.move_to_end(key)
            evicted = [self._pools.popitem(last=False)[1] for _ in range(len(self._pools) - _MOST_POOLS)]
            pool = self._pools[key]
        for one in evicted:
            one.close()  # connections in use continue, and are closed when they are returned
        return pool

    @contextmanager
    def deadline(self, meter: Meter) -> Iterator[Deadline]:
        """Yield the deadline of one reply; it is cut at once when everything is halted."""
        with Deadline(meter) as deadline:
            with self._lock:
                self._active.add(deadline)
                deadline.is_cut = self.is_halted
            try:
                yield deadline
            finally:
                with self._lock:
                    self._active.remove(deadline)

    def halt(self) -> None:
        """Cut every connection, later ones included."""
        with self._lock:
            self.is_halted = True
            active = list(self._active)
        for deadline in active:
            deadline.cut()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            pools = list(self._pools.values())
            self._pools.clear()
        for pool in pools:
            pool.close()


def _context() -> ssl.SSLContext:
    """Return the TLS settings: certificates from the bundle in the environment, else from that of `requests`."""
    from requests.utils import DEFAULT_CA_BUNDLE_PATH

    # The variables that requests reads, so that pictures and calls trust the same certificates.
    given = next(filter(None, map(os.environ.get, ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))), None)
    return _context_for(given or DEFAULT_CA_BUNDLE_PATH)


@cache
def _context_for(bundle: str) -> ssl.SSLContext:
    if Path(bundle).is_dir():
        return ssl.create_default_context(capath=bundle)
    return ssl.create_default_context(cafile=bundle)


_CHUNK = 1 << 16

#: Of an error reply only a sentence for the message is needed.
_ERROR_LIMITS = Limits(wire_bytes=1_000_000, unpacked_bytes=1_000_000)


def receive(response: requests.Response, deadline: Deadline, host: str) -> bytes:
    """Return the body of a reply, without the byte order mark that some services write before JSON.

    An error reply whose body cannot be received has an empty body: its status is enough.

    Parameters
    ----------
    response
        Its status and headers have been received, its body has not.
    deadline
        Counts the bytes, and cuts the connection when the time is over.
    host
        For the message.

    Raises
    ------
    RetryableError
        When it is not complete, not in time, or not within the limits.
    """
    failed = not 200 <= response.status_code < 300
    if failed:
        deadline.meter.limits = replace(_ERROR_LIMITS, seconds=deadline.meter.limits.seconds)
    try:
        return _body(response, deadline, host).removeprefix(codecs.BOM_UTF8)
    except RetryableError:
        if not failed:
            raise
        return b""
    finally:
        response.close()


def _body(response: requests.Response, deadline: Deadline, host: str) -> bytes:
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    header = response.headers.get("Content-Encoding", "")
    encodings = codings(header)
    if encodings is None:
        raise RetryableError(
            f"the reply of {host} has the Content-Encoding {shortened(header)!r}, which was not requested. A "
            "proxy may have added it.",
            kind=UnexpectedReply,
            status=response.status_code,
        )
    try:
        if response.raw is None or getattr(response, "_content_consumed", False):
            return response.content  # a session or a hook of the user has read it
        body = b"".join(unpacked(_chunks(response), encodings, deadline.meter, may_be_more=True))
        # After the last byte: a cut connection also looks like the end of a reply without Content-Length.
        deadline.check()
    except (LimitExceeded, HTTPError, OSError) as error:
        exceeded = error if isinstance(error, LimitExceeded) else None
        if deadline.is_over:
            exceeded = deadline.meter.exceeded("seconds")
        if exceeded is None:
            raise broken(host, is_late=isinstance(error, ReadTimeoutError | TimeoutError)) from error
        raise limit_error(exceeded, host, response.status_code) from error
    except zlib.error as error:
        raise RetryableError(f"the reply of {host} could not be decompressed.") from error
    return body


def broken(host: str, *, is_late: bool) -> RetryableError:
    """Return the error for a reply that was not received, or only in part."""
    if is_late:
        return RetryableError(
            f"{host} did not answer in time. A smaller page_size or a longer timeout may help."
        )
    return RetryableError(f"the connection to {host} broke before the reply was complete.")


def limit_error(exceeded: LimitExceeded, host: str, status: int | None = None) -> RetryableError:
    """Return the error for a reply beyond a limit: a late one may be faster next time, a large one stays large."""
    if exceeded.limit == "seconds":
        return RetryableError(f"the reply of {host} did not end in time: {exceeded}.", status=status)
    return RetryableError(
        f"the reply of {host} is too large: {exceeded}. A smaller page_size may help.",
        kind=UnexpectedReply,
        status=status,
        is_transient=False,
    )


def _chunks(response: requests.Response) -> Iterator[bytes]:
    """Yield bytes as soon as they arrive: `read` would wait for a full chunk, and hide a reply that trickles in."""
    read = getattr(response.raw, "read1", None) or response.raw.read
    while chunk := read(_CHUNK, decode_content=False):
        yield chunk

"""Pools of connections that can be cut while somebody waits for them.

They are those of urllib3. What is added: the time of a whole reply, its head included, and, for addresses that
suppliers typed, that a connection goes to the IP address that was checked and to no other.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool, PoolManager, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.poolmanager import pool_classes_by_scheme

from prodex.limits import Meter
from prodex.network.addresses import Address

#: Pools that are kept: a catalogue may name more hosts than a process may have connections.
_MOST_POOLS = 32

_current: ContextVar[Deadline | None] = ContextVar("_current", default=None)


class Deadline:
    """Cuts the connection of one exchange when the time of its reply is over.

    What waits for a connection that is cut sees its end at once, whatever it waits for; without this, a server that
    sends something now and then is waited for for ever.

    Parameters
    ----------
    meter
        Its limits say how long; it begins to count when the request was sent.
    """

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.has_begun = self.is_over = self.is_cut = False
        self._shut: Callable[[], object] | None = None
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
            self._shut = None
            if self._timer is not None:
                self._timer.cancel()

    def begin(self, shut: Callable[[], object] | None) -> None:
        """Let the time run for what comes over a connection.

        Parameters
        ----------
        shut
            Ends the connection, whatever another thread waits for; None where there is no way to do so.
        """
        with self._lock:
            self._shut = shut
            if not self.has_begun:
                self.has_begun = True
                self.meter.begin()
                if self.meter.limits.seconds is not None:
                    self._timer = threading.Timer(self.meter.limits.seconds, self._expire)
                    self._timer.daemon = True
                    self._timer.start()
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """End it now, from whichever thread."""
        with self._lock:
            self.is_cut = True
            if self._shut is not None:
                with suppress(OSError, ValueError, RuntimeError):  # it has ended meanwhile
                    self._shut()

    def check(self) -> None:
        """Make sure that it was not cut: what looks like the end of a reply may be where it was.

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


class _Watched(HTTPConnection):
    """A connection that the deadline of the exchange at hand, if there is one, can cut."""

    def getresponse(self) -> HTTPResponse:  # type: ignore[override] # as in urllib3
        if (deadline := _current.get()) is not None:
            # The shutdown of SSLSocket would also take away what another thread is reading with.
            deadline.begin(partial(socket.socket.shutdown, self.sock, socket.SHUT_RDWR))
        return super().getresponse()


class _WatchedTLS(_Watched, HTTPSConnection):
    pass


class _WatchedPool(HTTPConnectionPool):
    ConnectionCls = _Watched


class _WatchedTLSPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedTLS


_POOLS: dict[str, Any] = {"http": _WatchedPool, "https": _WatchedTLSPool}


def watch(session: Any, url: str, proxies: Any) -> None:
    """Let a session of requests open connections that a deadline can cut.

    An adapter that brings connections of its own keeps them; of its replies only the body has a deadline.
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
        manager.clear()


class _Pinned(_Watched):
    """A connection to an IP address; no name is looked up."""

    def _new_conn(self) -> socket.socket:
        # timeout is a number: the pools below give one.
        try:
            return socket.create_connection((self.host, self.port), self.timeout)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"{self.host} did not take the connection in time") from error
        except OSError as error:
            raise NewConnectionError(self, f"no connection to {self.host}") from error


class _PinnedTLS(_Pinned, _WatchedTLS):
    pass


class _PinnedPool(HTTPConnectionPool):
    ConnectionCls = _Pinned


class _PinnedTLSPool(HTTPSConnectionPool):
    ConnectionCls = _PinnedTLS


class ConnectionPools:
    """Connections to addresses that were checked: few to a host at a time, and all cut at once when it has to stop.

    Parameters
    ----------
    per_host
        How many to one host may be in use at a time.
    connect, read
        Seconds to wait for a connection, and for the next bytes.
    """

    def __init__(self, per_host: int, *, connect: float, read: float) -> None:
        self._per_host = per_host
        self._timeout = Timeout(connect=connect, read=read)
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Semaphore] = defaultdict(partial(threading.Semaphore, per_host))
        self._pools: OrderedDict[tuple[object, str], HTTPConnectionPool] = OrderedDict()
        self._busy: set[Deadline] = set()
        self.is_halted = False

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait until a host may be asked."""
        with self._lock:
            turn = self._turns[host]
        with turn:
            yield

    def pool(self, address: Address, ip: str) -> HTTPConnectionPool:
        """Return the pool of connections to an address at the place that was checked; TLS is verified for its host."""
        key = (address.origin, ip)
        with self._lock:
            if key not in self._pools:
                options: dict[str, Any] = {"timeout": self._timeout, "maxsize": self._per_host}
                self._pools[key] = (
                    _PinnedPool(ip, address.port, **options)
                    if address.scheme == "http"
                    else _PinnedTLSPool(
                        ip, address.port, ssl_context=_context(), server_hostname=address.host, **options
                    )
                )
            self._pools.move_to_end(key)
            left = [self._pools.popitem(last=False)[1] for _ in range(len(self._pools) - _MOST_POOLS)]
            pool = self._pools[key]
        for one in left:
            one.close()  # what is in use goes on, and is closed afterwards
        return pool

    @contextmanager
    def deadline(self, meter: Meter) -> Iterator[Deadline]:
        """Give the time of one reply; it is over at once when everything is halted."""
        with Deadline(meter) as deadline:
            with self._lock:
                self._busy.add(deadline)
                deadline.is_cut = self.is_halted
            try:
                yield deadline
            finally:
                with self._lock:
                    self._busy.remove(deadline)

    def halt(self) -> None:
        """Cut every connection, those that are opened later too."""
        with self._lock:
            self.is_halted = True
            busy = list(self._busy)
        for deadline in busy:
            deadline.cut()

    def close(self) -> None:
        """Close those that wait."""
        with self._lock:
            pools = list(self._pools.values())
            self._pools.clear()
        for pool in pools:
            pool.close()


def _context() -> ssl.SSLContext:
    """Return how certificates are verified: by the bundle of the environment, else the one of requests."""
    from requests.utils import DEFAULT_CA_BUNDLE_PATH

    given = next(filter(None, map(os.environ.get, ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))), None)
    return _trusting(given or DEFAULT_CA_BUNDLE_PATH)


@cache
def _trusting(bundle: str) -> ssl.SSLContext:
    if Path(bundle).is_dir():
        return ssl.create_default_context(capath=bundle)
    return ssl.create_default_context(cafile=bundle)

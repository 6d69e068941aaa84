"""The way out to addresses that suppliers typed: fetch one file, give nothing away, and go nowhere else.

It shares nothing with the service's door: no token, no cookie, no `~/.netrc`, and no proxy of the environment, since a
proxy would look a name up again and could reach what must not be reached. Whatever a name resolves to is checked,
and the connection goes to the checked address itself, with TLS verified for the name (`REQUESTS_CA_BUNDLE` holds the
certificates, if it is set). All times are in seconds.
"""

from __future__ import annotations

import logging
import math
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.request import getproxies

from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
    SSLError,
)

from prodex.errors import MediaFailed, MediaRefused, ProdexError
from prodex.limits import PICTURE, LimitExceeded, Limits, Meter
from prodex.network.addresses import Address, is_own, is_public, read_address, sandbox_of
from prodex.network.connection_pool import ConnectionPools
from prodex.network.partial_download import PartialDownload
from prodex.network.retry import RetryableError, Retrying, RetryPolicy, retry_after
from prodex.service.local_sandbox import is_health_of_sandbox
from prodex.service.transport import PASSING_STATUSES

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

    from prodex.network.connection_pool import Deadline

logger = logging.getLogger("prodex")

_PIECE = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_ADDRESSES = 4
#: Seconds for which the addresses of a name are remembered: they were checked, and nobody can change them meanwhile.
_REMEMBERED = 60

_RETRY = RetryPolicy(seconds=60, attempts=3, longest_wait=4, longest_retry_after=10)


@dataclass(frozen=True, kw_only=True)
class DownloadPolicy:
    """How hosts are asked.

    Attributes
    ----------
    connect, read
        Seconds to wait for a connection, and for the next bytes.
    redirects
        How often a file may be elsewhere.
    per_host
        Connections to one host at a time.
    silences
        Files in succession for which a host gave no answer, before it is not asked any more.
    """

    connect: float = 10
    read: float = 20
    redirects: int = 5
    per_host: int = 4
    silences: int = 5


class MediaDownloader:
    """Fetch files from addresses that suppliers typed; many threads may share it.

    Parameters
    ----------
    source
        Where the catalogue came from (`catalog.origin.source`). Where that is a sandbox on this machine, its own
        address (scheme, host and port) may be asked as well, and nothing else of this machine. Whoever hands on a
        snapshot can write what he likes there, so what answers has to say that it is a sandbox.
    limits
        What a file may take.
    setting
        The call whose keyword `limits` changes that, for messages.
    manners
        How hosts are asked.
    retry
        For how long to try again what may pass.
    resolve
        How names become addresses.
    """

    def __init__(
        self,
        source: str = "",
        *,
        limits: Limits | None = None,
        setting: str = "download_pictures",
        manners: DownloadPolicy | None = None,
        retry: RetryPolicy = _RETRY,
        resolve: Callable[..., list[Any]] = socket.getaddrinfo,
    ) -> None:
        self._sandbox = sandbox_of(source)
        self._has_answered = False
        self._setting = setting
        self._limits = (limits or Limits()).filled(PICTURE)
        self._manners = manners or DownloadPolicy()
        # No budget for all: a host that fails would take it from the others. The attempts are few.
        self._retrying = Retrying(retry, budget=False)
        self._resolve = resolve
        self._user_agent = f"prodex/{version('prodex')}"
        self._pools = ConnectionPools(
            self._manners.per_host, connect=self._manners.connect, read=self._manners.read
        )
        self._resolved: dict[tuple[str, int, bool], tuple[float, list[str]]] = {}
        self._silences: Counter[str] = Counter()

    def fetch(self, url: str, part: Path) -> None:
        """Bring the file at an address into `part`, and go on where an earlier attempt ended if the server can.

        What came is kept when this fails, with what tells its version in a file beside it.

        Parameters
        ----------
        url
            As the supplier typed it.
        part
            Where to; its folder must exist.

        Raises
        ------
        MediaRefused
            When the address, or one that it points to, must not be asked, or the file is not to be taken.
        MediaFailed
            When the file did not come.
        StorageError
            When the disk refuses.
        """
        address = read_address(url)
        if self._silences[address.host] >= self._manners.silences:
            raise MediaFailed(
                f"{address.host} gave no answer for {self._manners.silences} files before, and was not asked again."
            )
        try:
            self._retrying.call(f"Fetching {address}", lambda: self._attempt(address, PartialDownload(part)))
        except MediaFailed as error:
            is_silence = error.status is None and not isinstance(error, MediaRefused)
            self._silences[address.host] = self._silences[address.host] + 1 if is_silence else 0
            raise
        self._silences[address.host] = 0

    def halt(self) -> None:
        """Stop at once: every connection is cut, and nothing is fetched any more."""
        self._pools.halt()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pools.close()

    def _attempt(self, address: Address, part: PartialDownload) -> None:
        if self._pools.is_halted:
            raise MediaFailed(f"Fetching {address} was stopped.")
        is_sandbox = address.origin == self._sandbox
        for _ in range(self._manners.redirects + 1):
            with self._pools.turn(address.host):
                elsewhere = self._ask(address, is_sandbox, part)
            if elsewhere is None:
                return
            address = address.joined(elsewhere)
            # Nobody else may send us to the sandbox.
            is_sandbox = is_sandbox and address.origin == self._sandbox
        raise MediaRefused(
            f"The file is elsewhere more than {self._manners.redirects} times, at last at {address}."
        )

    def _ask(self, address: Address, is_sandbox: bool, part: PartialDownload) -> str | None:
        """Ask once; return where the file is instead, or None when it is here."""
        if is_sandbox and not self._has_answered:
            self._identify(address)
        with self._reply(address, is_sandbox, part.headers()) as (reply, meter):
            elsewhere = reply.headers.get("Location") if reply.status in _REDIRECTS else None
            if elsewhere is None:
                self._receive(address, reply, part, meter)
            return elsewhere

    def _identify(self, address: Address) -> None:
        """Make sure that a sandbox answers at an address of this machine, by asking what anybody may be asked."""
        with self._reply(replace(address, target="/health"), is_sandbox=True, headers={}) as (reply, _):
            self._has_answered = reply.status == 200 and is_health_of_sandbox(reply.read(_PIECE))
            reply.read1(1)  # nothing, but it tells the connection that the next file may follow
        if not self._has_answered:
            raise MediaRefused(
                f"{address} was not asked: it is an address of this machine, and no sandbox answers there."
            )

    @contextmanager
    def _reply(
        self, address: Address, is_sandbox: bool, headers: Mapping[str, str]
    ) -> Iterator[tuple[BaseHTTPResponse, Meter]]:
        """Ask at the first of the IP addresses where somebody answers; give the reply, and what counts its bytes."""
        headers = {
            "Host": address.netloc,
            "User-Agent": self._user_agent,
            "Accept": "image/*, */*;q=0.5",
            "Accept-Encoding": "identity",
            **headers,
        }
        meter = Meter(self._limits, PICTURE, self._setting)
        for ip in self._checked(address, is_sandbox):
            pool = self._pools.pool(address, ip)
            with self._pools.deadline(meter) as deadline:
                try:
                    reply = pool.urlopen(
                        "GET",
                        address.target,
                        headers=headers,
                        retries=False,
                        redirect=False,
                        preload_content=False,
                        decode_content=False,
                    )
                except (NewConnectionError, ConnectTimeoutError):
                    if not self._pools.is_halted:
                        continue
                    raise MediaFailed(f"Fetching {address} was stopped.") from None
                except HTTPError as error:
                    raise self._failure(error, address, deadline) from error
                logger.debug("GET %s: %d", address, reply.status)
                try:
                    yield reply, meter
                    deadline.check()
                except (HTTPError, OSError, LimitExceeded) as error:
                    if isinstance(error, ProdexError):
                        raise
                    raise self._failure(error, address, deadline, reply.length_remaining) from error
                finally:
                    reply.close()
                return
        proxy = " No proxy is used for what suppliers typed." if getproxies() else ""
        raise RetryableError(f"no connection to {address.host}.{proxy}", kind=MediaFailed)

    def _checked(self, address: Address, is_sandbox: bool) -> list[str]:
        """Return the IP addresses that a name has; all of them must be such as may be asked."""
        key = address.host, address.port, is_sandbox
        looked_up, ips = self._resolved.get(key, (-math.inf, []))
        if time.monotonic() - looked_up < _REMEMBERED:
            return ips
        try:
            found = self._resolve(address.host, address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise RetryableError(
                f"{address.host} is not a name that can be found.", kind=MediaFailed
            ) from error
        ips = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        may_ask, kind = (is_own, "this machine") if is_sandbox else (is_public, "the public internet")
        if refused := [ip for ip in ips if not may_ask(ip)]:
            raise MediaRefused(f"{address} was not asked: {refused[0]} is no address of {kind}.")
        self._resolved[key] = time.monotonic(), ips[:_MOST_ADDRESSES]
        return ips[:_MOST_ADDRESSES]

    def _receive(
        self, address: Address, reply: BaseHTTPResponse, part: PartialDownload, meter: Meter
    ) -> None:
        if reply.status == 416 or (reply.status == 206 and not part.goes_on(reply)):
            part.forget()
            raise RetryableError(f"{address.host} has another file there by now.", kind=MediaFailed)
        _judge(address, reply)
        meter.wire = part.size if reply.status == 206 else 0
        most = self._limits.wire_bytes or 0
        if (size := meter.wire + (reply.length_remaining or 0)) > most:
            raise MediaRefused(
                f"{address} has {size:,} bytes; {most:,} are taken at most: "
                f"{self._setting}(limits=px.Limits(wire_bytes=...)) takes more."
            )
        with part.receiving(reply) as add:
            while piece := reply.read1(_PIECE):
                try:
                    meter.came(len(piece))
                except LimitExceeded as error:
                    if error.limit == "wire_bytes":
                        part.forget()
                        raise MediaRefused(
                            f"{address} has more than the {most:,} bytes that are taken at most: {error}."
                        ) from error
                    raise
                add(piece)

    def _failure(
        self,
        error: Exception,
        address: Address,
        deadline: Deadline,
        to_come: int | None = None,
    ) -> RetryableError | MediaFailed:
        """Say in plain words what went wrong on the way, and whether that may pass."""
        if self._pools.is_halted:
            return MediaFailed(f"Fetching {address} was stopped.")
        if deadline.is_over:
            error = deadline.meter.exceeded("seconds")
        host = address.host
        match error:
            case LimitExceeded():
                most = f"{self._limits.seconds:,g}"
                return MediaFailed(f"{address} took more than {most} s, and was left unfinished: {error}.")
            case SSLError(args=(ssl.SSLCertVerificationError(), *_)):
                return MediaFailed(
                    f"The certificate of {host} was not accepted. Behind a company proxy, point REQUESTS_CA_BUNDLE to "
                    "its certificate."
                )
            case ReadTimeoutError() | TimeoutError():
                return RetryableError(f"{host} did not answer in time.", kind=MediaFailed)
        rest = f"with {to_come:,} bytes to come" if to_come else f"({_reason(error)})"
        return RetryableError(f"the connection to {host} broke {rest}.", kind=MediaFailed)


def _reason(error: Exception) -> str:
    """Name the kind of an error, or of what is behind one of urllib3."""
    inner = error.args[-1] if isinstance(error, ProtocolError) and error.args else error
    return type(inner if isinstance(inner, Exception) else error).__name__


def _judge(address: Address, reply: BaseHTTPResponse) -> None:
    """Raise what the head of a reply calls for; return when a file follows."""
    if reply.status in {200, 206}:
        if reply.headers.get("Content-Encoding", "identity").lower() not in {"identity", ""}:
            raise MediaRefused(f"{address} came compressed, which nobody asked for.")
        return
    said = f"{address.host} answered with HTTP {reply.status}"
    if reply.status < 500 and reply.status not in PASSING_STATUSES:
        raise MediaFailed(f"{said} for {address}.", status=reply.status)
    pause = retry_after(reply.headers.get("Retry-After"))
    raise RetryableError(f"{said}.", kind=MediaFailed, status=reply.status, retry_after=pause)

"""The way out to addresses that suppliers typed: fetch one file, give nothing away, and go nowhere else.

It shares nothing with the service's door: no token, no cookie, no `~/.netrc`, and no proxy of the environment, since a
proxy would look a name up again and could reach what must not be reached. Whatever a name resolves to is checked,
and the connection goes to the checked address itself, with TLS verified for the name (`REQUESTS_CA_BUNDLE` holds the
certificates, if it is set). All times are in seconds.
"""

from __future__ import annotations

import http.client
import logging
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self
from urllib.request import getproxies

from prodex.errors import MediaFailed, MediaRefused, ProdexError
from prodex.service.addresses import Address, is_own, is_public, read_address, sandbox_of
from prodex.service.arriving import Arriving
from prodex.service.door import PASSING_STATUSES, seconds
from prodex.service.line import Line
from prodex.service.lines import Lines
from prodex.service.local import is_health_of_sandbox
from prodex.service.retry import Patience, Setback

logger = logging.getLogger("prodex")

_PIECE = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_ADDRESSES = 4


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one file may take.

    Attributes
    ----------
    most_bytes
        Of a file.
    connect, read
        Wait for a connection, and for the next bytes.
    total
        Wait for one reply in all, against a server that drips.
    redirects
        How often a file may be elsewhere.
    per_host
        Connections to one host at a time.
    silences
        Files in succession for which a host gave no answer, before it is not asked any more.
    """

    most_bytes: int = 50_000_000
    connect: float = 10
    read: float = 20
    total: float = 120
    redirects: int = 5
    per_host: int = 4
    silences: int = 5


class Media:
    """Fetch files from addresses that suppliers typed; many threads may share it.

    Parameters
    ----------
    source
        Where the catalogue came from (`catalog.origin.source`). Where that is a sandbox on this machine, its own
        address (scheme, host and port) may be asked as well, and nothing else of this machine. Whoever hands on a
        snapshot can write what he likes there, so what answers has to say that it is a sandbox.
    limits
        What a file may take.
    patience
        How often to try again what may pass.
    resolve
        How names become addresses.
    """

    def __init__(
        self,
        source: str = "",
        *,
        limits: Limits | None = None,
        patience: Patience | None = None,
        resolve: Callable[..., list[Any]] = socket.getaddrinfo,
    ) -> None:
        self._sandbox = sandbox_of(source)
        self._has_answered = False
        self._limits = limits or Limits()
        self._patience = patience or Patience(attempts=3, total=60, longest_wait=4, longest_retry_after=10)
        self._resolve = resolve
        self._user_agent = f"prodex/{version('prodex')}"
        self._lines = Lines(self._limits.per_host)
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
        if self._silences[address.host] >= self._limits.silences:
            raise MediaFailed(
                f"{address.host} gave no answer for {self._limits.silences} files before, and was not asked again."
            )
        try:
            self._patience.persist(f"Fetching {address}", lambda: self._attempt(address, Arriving(part)))
        except MediaFailed as error:
            is_silence = error.status is None and not isinstance(error, MediaRefused)
            self._silences[address.host] = self._silences[address.host] + 1 if is_silence else 0
            raise
        self._silences[address.host] = 0

    def halt(self) -> None:
        """Stop at once: every connection is cut, and nothing is fetched any more."""
        self._lines.halt()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()

    def _attempt(self, address: Address, part: Arriving) -> None:
        if self._lines.is_halted:
            raise MediaFailed(f"Fetching {address} was stopped.")
        is_sandbox = address.origin == self._sandbox
        for _ in range(self._limits.redirects + 1):
            with self._lines.turn(address.host):
                elsewhere = self._ask(address, is_sandbox, part)
            if elsewhere is None:
                return
            address = address.joined(elsewhere)
            # Nobody else may send us to the sandbox.
            is_sandbox = is_sandbox and address.origin == self._sandbox
        raise MediaRefused(
            f"The file is elsewhere more than {self._limits.redirects} times, at last at {address}."
        )

    def _ask(self, address: Address, is_sandbox: bool, part: Arriving) -> str | None:
        """Ask once; return where the file is instead, or None when it is here."""
        if is_sandbox and not self._has_answered:
            self._identify(address)
        with self._reply(address, is_sandbox, part.headers()) as reply:
            elsewhere = reply.getheader("Location") if reply.status in _REDIRECTS else None
            if elsewhere is None:
                self._receive(address, reply, part)
            return elsewhere

    def _identify(self, address: Address) -> None:
        """Make sure that a sandbox answers at an address of this machine, by asking what anybody may be asked."""
        with self._reply(replace(address, target="/health"), is_sandbox=True, headers={}) as reply:
            self._has_answered = reply.status == 200 and is_health_of_sandbox(reply.read(_PIECE))
        if not self._has_answered:
            raise MediaRefused(
                f"{address} was not asked: it is an address of this machine, and no sandbox answers there."
            )

    @contextmanager
    def _reply(
        self, address: Address, is_sandbox: bool, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Ask at the first of the IP addresses where somebody answers, and give the reply."""
        headers = {
            "Host": address.netloc,
            "User-Agent": self._user_agent,
            "Accept": "image/*, */*;q=0.5",
            "Accept-Encoding": "identity",
            **headers,
        }
        deadline = time.monotonic() + self._limits.total
        # A connection to the sandbox is not for those whom somebody else sent there.
        purpose = address.origin, is_sandbox
        for line in self._ways(address, is_sandbox):
            left = deadline - time.monotonic()
            with self._told(address, deadline), self._lines.held(line, purpose), line.cut_after(left):
                if (reply := line.answer(address.target, headers)) is None:
                    continue
                logger.debug("GET %s: %d", address, reply.status)
                yield reply
                return
        proxy = " No proxy is used for what suppliers typed." if getproxies() else ""
        raise Setback(f"no connection to {address.host}.{proxy}", kind=MediaFailed)

    def _ways(self, address: Address, is_sandbox: bool) -> Iterator[Line]:
        """Yield connections to try: one that is open, then a new one to each address that the name has."""
        if (line := self._lines.idle((address.origin, is_sandbox))) is not None:
            yield line
        for ip in self._checked(address, is_sandbox):
            yield Line(address, ip, connect=self._limits.connect, read=self._limits.read)

    def _checked(self, address: Address, is_sandbox: bool) -> list[str]:
        """Return the IP addresses that a name has; all of them must be such as may be asked."""
        try:
            found = self._resolve(address.host, address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Setback(f"{address.host} is not a name that can be found.", kind=MediaFailed) from error
        ips = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        may_ask, kind = (is_own, "this machine") if is_sandbox else (is_public, "the public internet")
        if refused := [ip for ip in ips if not may_ask(ip)]:
            raise MediaRefused(f"{address} was not asked: {refused[0]} is no address of {kind}.")
        return ips[:_MOST_ADDRESSES]

    def _receive(self, address: Address, reply: http.client.HTTPResponse, part: Arriving) -> None:
        if reply.status == 416 or (reply.status == 206 and not part.goes_on(reply)):
            part.forget()
            raise Setback(f"{address.host} has another file there by now.", kind=MediaFailed)
        _judge(address, reply)
        came = part.size if reply.status == 206 else 0
        most = self._limits.most_bytes
        if came + (reply.length or 0) > most:
            raise MediaRefused(
                f"{address} has {came + (reply.length or 0):,} bytes; {most:,} are taken at most."
            )
        with part.receiving(reply) as add:
            while piece := reply.read1(_PIECE):
                came += len(piece)
                if came > most:
                    part.forget()
                    raise MediaRefused(f"{address} has more than the {most:,} bytes that are taken at most.")
                add(piece)
        if reply.length:
            raise Setback(
                f"the connection to {address.host} broke with {reply.length:,} bytes to come.",
                kind=MediaFailed,
            )
        reply.read()  # nothing, but it tells the connection that the next file may follow

    @contextmanager
    def _told(self, address: Address, deadline: float) -> Iterator[None]:
        """Say in plain words what went wrong on the way, and whether that may pass."""
        try:
            yield
        except (Setback, OSError, http.client.HTTPException) as error:
            if isinstance(error, ProdexError):
                raise
            if self._lines.is_halted:
                raise MediaFailed(f"Fetching {address} was stopped.") from error
            if time.monotonic() >= deadline:
                raise MediaFailed(
                    f"{address} took more than {self._limits.total:g} s, and was left unfinished."
                ) from error
            if isinstance(error, Setback):
                raise
            raise _setback(error, address.host) from error


def _judge(address: Address, reply: http.client.HTTPResponse) -> None:
    """Raise what the head of a reply calls for; return when a file follows."""
    if reply.status in {200, 206}:
        if reply.getheader("Content-Encoding", "identity").lower() not in {"identity", ""}:
            raise MediaRefused(f"{address} came compressed, which nobody asked for.")
        return
    said = f"{address.host} answered with HTTP {reply.status}"
    if reply.status < 500 and reply.status not in PASSING_STATUSES:
        raise MediaFailed(f"{said} for {address}.", status=reply.status)
    pause = seconds(reply.getheader("Retry-After"))
    raise Setback(f"{said}.", kind=MediaFailed, status=reply.status, retry_after=pause)


def _setback(error: OSError | http.client.HTTPException, host: str) -> Setback | MediaFailed:
    match error:
        case ssl.SSLCertVerificationError():
            return MediaFailed(
                f"The certificate of {host} was not accepted. Behind a company proxy, point REQUESTS_CA_BUNDLE to "
                "its certificate."
            )
        case TimeoutError():
            return Setback(f"{host} did not answer in time.", kind=MediaFailed)
        case _:
            return Setback(f"the connection to {host} broke ({type(error).__name__}).", kind=MediaFailed)

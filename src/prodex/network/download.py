"""Download files from addresses that suppliers typed, without secrets and only from addresses that may be requested.

Nothing is shared with calls to the service: no token, no cookie, no `~/.netrc`. Proxies of the environment are not used
either: a proxy would resolve the name again, and could reach an address that was refused here. Every IP address that a
name resolves to is checked, and the connection is pinned to a checked one; TLS is verified for the name. All times are
in seconds.
"""

from __future__ import annotations

import logging
import re
import socket
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.request import getproxies

from requests import RequestException
from urllib3 import exceptions

from prodex.errors import MediaFailed, MediaRefused, ProdexError
from prodex.files.atomic import remove, storage
from prodex.limits import PICTURE, LimitExceeded, Limits, Meter
from prodex.network.addresses import (
    LONGEST_HEALTH,
    MOST_REDIRECTS,
    REDIRECTS,
    Address,
    is_health_of_sandbox,
    is_loopback_host,
    is_public,
    read_address,
    sandbox_of,
)
from prodex.network.causes import Cause, cause_of, wrapped
from prodex.network.http_adapter import Halted, LimitedAdapter, LimitedCall, chunks
from prodex.network.retry import (
    RETRYABLE_STATUSES,
    RetryableError,
    Retrying,
    RetryPolicy,
    http_date,
    retry_after,
)

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse


logger: logging.Logger = logging.getLogger("prodex")

#: Addresses tried per name: each costs the connection timeout if nobody answers.
_MOST_ADDRESSES = 4

#: Short: a missing picture is reported and can be fetched later, and thousands of others wait behind it.
_RETRY = RetryPolicy(seconds=60, attempts=3, longest_wait=4, longest_retry_after=10)


@dataclass(frozen=True, kw_only=True)
class DownloadPolicy:
    """How much a host is asked for, and for how long.

    Attributes
    ----------
    connect, read
        Seconds to wait for a connection, and for the next bytes.
    per_host
        Connections to one host at a time.
    silences
        Successive files without any answer, after which a host is not asked again.
    """

    connect: float = 10
    read: float = 20
    per_host: int = 4
    silences: int = 5


class MediaDownloader:
    """Downloads files from addresses that suppliers typed; threads may share it.

    Parameters
    ----------
    source
        Where the catalogue was loaded from (`catalog.origin.source`). If that is a sandbox on this machine, its scheme,
        host and port may be requested too, and nothing else of this machine. Anybody can write anything into a
        snapshot that is passed on, so the server there must first identify itself as a sandbox.
    limits
        Time and size of one file.
    setting
        The public function whose argument `limits` changes that, for messages.
    policy
        Timeouts, redirects and connections.
    retry
        For how long a failed download is tried again.
    resolve
        Resolves host names; for tests.
    """

    def __init__(
        self,
        source: str = "",
        *,
        limits: Limits | None = None,
        setting: str = "download_pictures",
        policy: DownloadPolicy | None = None,
        retry: RetryPolicy = _RETRY,
        resolve: Callable[..., list[Any]] = socket.getaddrinfo,
    ) -> None:
        self._sandbox = sandbox_of(source)
        self._is_identified = False
        self._setting = setting
        self._limits = (limits or Limits()).filled(PICTURE)
        self._policy = policy or DownloadPolicy()
        # No shared budget: a host that fails would use up the retries of the others.
        self._retrying = Retrying(retry, budget=False)
        self._resolve = resolve
        # A connection to the sandbox must not be used for a host that only claims to be there.
        self._outside = LimitedAdapter(partial(self._addresses, is_sandbox=False))
        self._inside = LimitedAdapter(partial(self._addresses, is_sandbox=True))
        self._slots: dict[str, threading.Semaphore] = {}
        self._halted = threading.Event()
        self._silences: Counter[str] = Counter()

    def download(self, url: str, part: Path) -> None:
        """Download a file into `part`; an earlier attempt is continued where the server allows it.

        After a failure, the received part is kept, with its version in a file beside it.

        Parameters
        ----------
        url
            As the supplier typed it.
        part
            The file to write; its folder must exist.

        Raises
        ------
        MediaRefused
            When the address, or one that it redirects to, must not be requested, or the file is too large.
        MediaFailed
            When the download failed.
        StorageError
            When the file cannot be written.
        """
        address = read_address(url)
        if self._silences[address.host] >= self._policy.silences:
            raise MediaFailed(
                f"{address.host} did not answer for {self._policy.silences} files, and was not asked again."
            )
        try:
            self._retrying.call(f"Fetching {address}", lambda: self._attempt(address, PartialDownload(part)))
        except MediaFailed as error:
            # Any answer, even an error, shows that the host is there.
            is_silence = error.status is None and not isinstance(error, MediaRefused)
            self._silences[address.host] = self._silences[address.host] + 1 if is_silence else 0
            raise
        self._silences[address.host] = 0

    def halt(self) -> None:
        """Stop at once: end every reply, and start no download."""
        self._halted.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._outside.close()
        self._inside.close()

    def _attempt(self, address: Address, part: PartialDownload) -> None:
        is_sandbox = address.origin == self._sandbox
        for _ in range(MOST_REDIRECTS + 1):
            # In one step, since threads share it; the limit of a pool of connections would be one for each port.
            with self._slots.setdefault(address.host, threading.Semaphore(self._policy.per_host)):
                if is_sandbox and not self._is_identified:
                    self._identify(address)
                with self._reply(address, is_sandbox, part.headers()) as (reply, meter):
                    location = reply.headers.get("Location") if reply.status in REDIRECTS else None
                    if location is None:
                        self._receive(address, reply, part, meter)
                        return
            address = address.resolve(location)
            # Only the sandbox may redirect to itself: any other server could use a redirect to reach this machine.
            is_sandbox = is_sandbox and address.origin == self._sandbox
        raise MediaRefused(f"There were more than {MOST_REDIRECTS} redirects, the last one to {address}.")

    def _identify(self, address: Address) -> None:
        """Make sure that the server on this machine is a sandbox, with a request that harms no other server."""
        with self._reply(replace(address, target="/health"), is_sandbox=True, headers={}) as (reply, _):
            self._is_identified = reply.status == 200 and is_health_of_sandbox(reply.read(LONGEST_HEALTH))
            reply.read1(1)  # reads the end of the reply, without which urllib3 does not reuse the connection
        if not self._is_identified:
            raise MediaRefused(
                f"{address} was not requested: it is on this machine, and the server there is not a sandbox."
            )

    @contextmanager
    def _reply(
        self, address: Address, is_sandbox: bool, headers: Mapping[str, str]
    ) -> Iterator[tuple[BaseHTTPResponse, Meter]]:
        """Send a request; yield the reply, and the meter of its bytes."""
        headers = {
            "Accept": "image/*, */*;q=0.5",
            # Pictures are compressed already, and a range of a compressed reply could not be appended.
            "Accept-Encoding": "identity",
            **headers,
        }
        meter = Meter(self._limits, PICTURE, self._setting)
        call = LimitedCall(meter, self._halted)
        timeout = self._policy.connect, self._policy.read
        adapter = self._inside if is_sandbox else self._outside
        to_come = None
        try:
            with adapter.get(address.url, call, timeout=timeout, headers=headers) as reply:
                logger.debug("GET %s: %d", address, reply.status)
                try:
                    yield reply, meter
                finally:
                    to_come = reply.length_remaining
        except ProdexError:  # a StorageError is an OSError too: then the disk failed, not the host
            raise
        except (RequestException, exceptions.HTTPError, OSError, LimitExceeded, Halted) as error:
            raise self._failure(error, address, to_come) from error

    def _addresses(self, host: str, port: int, *, is_sandbox: bool) -> list[str]:
        """Return the IP addresses of a name. One that may not be requested refuses all of them."""
        try:
            found = self._resolve(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise RetryableError(f"{host} cannot be resolved.", kind=MediaFailed) from error
        ips = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        is_allowed = is_loopback_host if is_sandbox else is_public
        if refused := [ip for ip in ips if not is_allowed(ip)]:
            kind = "this machine" if is_sandbox else "the public internet"
            raise MediaRefused(f"{host} was not requested: {refused[0]} is not an address of {kind}.")
        return ips[:_MOST_ADDRESSES]

    def _receive(
        self, address: Address, reply: BaseHTTPResponse, part: PartialDownload, meter: Meter
    ) -> None:
        # 416: the range begins beyond the end, so the file became shorter (RFC 9110, 15.5.17).
        if reply.status == 416 or (reply.status == 206 and not part.is_continued_by(reply)):
            part.discard()
            raise RetryableError(f"{address.host} has a different file there now.", kind=MediaFailed)
        _raise_for_status(address, reply)
        meter.wire = part.size if reply.status == 206 else 0
        most = self._limits.wire_bytes or 0
        if (size := meter.wire + (reply.length_remaining or 0)) > most:
            raise MediaRefused(
                f"{address} has {size:,} bytes, and the limit is {most:,}: "
                f"{self._setting}(limits=px.limits.Limits(wire_bytes=...)) raises it."
            )
        with part.receiving(reply) as add:
            for chunk in chunks(reply):
                try:
                    meter.count_received(len(chunk))
                except LimitExceeded as error:
                    if error.limit == "wire_bytes":
                        part.discard()
                        raise MediaRefused(
                            f"{address} has more bytes than the limit of {most:,}: {error}."
                        ) from error
                    raise
                add(chunk)

    def _failure(
        self, error: Exception, address: Address, to_come: int | None
    ) -> RetryableError | MediaFailed:
        """Return the error to raise: a `RetryableError` where another attempt may succeed."""
        if isinstance(error, Halted):
            return MediaFailed(f"Fetching {address} was stopped.")
        if isinstance(error, LimitExceeded):
            most = f"{self._limits.seconds:,g}"
            return MediaFailed(f"{address} took more than {most} s and is incomplete: {error}.")
        cause = cause_of(error)
        problem = cause.format(host=address.host)
        match cause:
            case Cause.CERTIFICATE:
                return MediaFailed(
                    f"{problem}. Behind a company proxy, point REQUESTS_CA_BUNDLE to its certificate."
                )
            case Cause.NO_CONNECTION | Cause.NOT_ACCEPTED:
                proxy = " No proxy is used for addresses that suppliers typed." if getproxies() else ""
                problem = f"{Cause.NO_CONNECTION.format(host=address.host)}.{proxy}"
            case Cause.BROKEN:
                rest = f"with {to_come:,} bytes to come" if to_come else f"({_reason(error)})"
                problem = f"{problem} {rest}."
            case _:
                problem = f"{problem}."
        return RetryableError(problem, kind=MediaFailed)


def _reason(error: Exception) -> str:
    """Return the type of the innermost error."""
    return type(list(wrapped(error))[-1]).__name__


def _raise_for_status(address: Address, reply: BaseHTTPResponse) -> None:
    """Raise the error for the status and the encoding of a reply; return when a file follows."""
    if reply.status in {200, 206}:
        if reply.headers.get("Content-Encoding", "identity").lower() not in {"identity", ""}:
            raise MediaRefused(f"{address} is compressed, although that was not requested.")
        return
    problem = f"{address.host} answered with HTTP {reply.status}"
    if reply.status < 500 and reply.status not in RETRYABLE_STATUSES:
        raise MediaFailed(f"{problem} for {address}.", status=reply.status)
    pause = retry_after(reply.headers.get("Retry-After"), now=http_date(reply.headers.get("Date")))
    raise RetryableError(f"{problem}.", kind=MediaFailed, status=reply.status, retry_after=pause)


_RANGE = re.compile(r"bytes ([0-9]{1,18})-[0-9]{1,18}/")


class PartialDownload:
    """The received part of a file; its version (ETag or Last-Modified) is in a file beside it.

    Parameters
    ----------
    path
        Where the part is, or will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version = path.with_suffix(".version")

    @property
    def size(self) -> int:
        """Bytes received."""
        return self.path.lstat().st_size if _is_file(self.path) else 0

    def headers(self) -> dict[str, str]:
        """Return headers that request the rest of the same version; none where the version is not known."""
        if not self.size or not _is_file(self._version):
            return {}
        version = self._version.read_text("ascii", "replace")
        return {"Range": f"bytes={self.size}-", "If-Range": version} if _is_strong(version) else {}

    def is_continued_by(self, reply: BaseHTTPResponse) -> bool:
        """Whether a 206 reply begins where this part ends and is of the same version."""
        range_ = _RANGE.match(reply.headers.get("Content-Range", ""))
        version = _version_of(reply)
        is_same = version is None or version == self.headers().get("If-Range")
        return range_ is not None and int(range_[1]) == self.size and is_same

    def discard(self) -> None:
        """Delete the part; the next attempt begins at the first byte."""
        remove(self.path)
        remove(self._version)

    @contextmanager
    def receiving(self, reply: BaseHTTPResponse) -> Iterator[Callable[[bytes], None]]:
        """Yield a function that appends bytes to the part, or to an empty file when the reply is the whole file.

        Raises
        ------
        StorageError
            When the disk refuses.
        """
        with storage(self.path):
            # A 200 is the whole file, even if a range was requested: servers may ignore Range.
            if reply.status == 200 or not self.size:
                self.discard()
            if reply.status == 200 and (version := _version_of(reply)) is not None:
                self._version.write_text(version, "ascii")
            file = self.path.open("ab")

        def add(piece: bytes) -> None:
            with storage(self.path):
                file.write(piece)
                file.flush()  # received bytes must survive a kill of this process

        try:
            yield add
        finally:
            with storage(self.path):
                file.close()


def _version_of(reply: BaseHTTPResponse) -> str | None:
    """Return the validator of this version of the file; a weak ETag (RFC 9110, 8.8.1) does not identify the bytes."""
    for name in ("ETag", "Last-Modified"):
        if _is_strong(value := reply.headers.get(name, "")):
            return value
    return None


def _is_strong(version: str) -> bool:
    return version != "" and version.isascii() and version.isprintable() and not version.startswith("W/")


def _is_file(path: Path) -> bool:
    """Whether this is a regular file with one name.

    The folder may be from somebody else. Through a symbolic or a hard link, received bytes would overwrite another
    file, and the content of another file would be sent as If-Range.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1

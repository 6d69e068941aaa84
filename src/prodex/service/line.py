"""A connection to an IP address that was checked, speaking for the name that stands in the request."""

from __future__ import annotations

import http.client
import os
import selectors
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from prodex.service.addresses import Address


class Line(http.client.HTTPConnection):
    """A connection that can be cut from another thread, whatever it waits for.

    Parameters
    ----------
    address
        Whom to speak to; TLS is verified for its host.
    ip
        Where that is: the connection goes there, and no name is looked up.
    connect, read
        Seconds to wait for the connection, and for the next bytes.
    """

    def __init__(self, address: Address, ip: str, *, connect: float, read: float) -> None:
        super().__init__(ip, address.port, timeout=connect)
        self._address = address
        self._read = read
        self._wire: socket.socket | None = None
        self._reply: http.client.HTTPResponse | None = None
        self.is_cut = False

    @property
    def is_free(self) -> bool:
        """Whether the last reply was read to its end, and another one can follow."""
        is_read = self._reply is None or self._reply.isclosed()
        return self.sock is not None and is_read and not self.is_cut

    def answer(self, target: str, headers: Mapping[str, str]) -> http.client.HTTPResponse | None:
        """Ask for a path; None where the connection cannot be had, or was closed while nobody used it."""
        was_open = self.sock is not None
        if was_open and self._was_spoken_to():
            self.close()
            return None
        try:
            if not was_open:
                self.connect()
            self.request("GET", target, headers=headers)
            self._reply = self.getresponse()
        except ssl.SSLError:
            raise
        except OSError as error:
            # Who is silent was not gone, and is not asked once more at once.
            if (isinstance(error, TimeoutError) or not was_open) and self._wire is not None:
                raise
            self.close()
            return None
        return self._reply

    def _was_spoken_to(self) -> bool:
        """Say whether something came that nobody asked for: the end, or what would be taken for the next reply."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.sock, selectors.EVENT_READ)
            return bool(waiting.select(0))

    def connect(self) -> None:
        super().connect()
        if self._address.scheme == "https":
            self.sock = _context().wrap_socket(self.sock, server_hostname=self._address.host)
        self.sock.settimeout(self._read)
        self._wire = self.sock  # which the connection forgets as soon as the last reply begins
        if self.is_cut:
            self.cut()

    def close(self) -> None:
        super().close()
        if self._reply is not None:
            self._reply.close()

    def cut(self) -> None:
        """End it now: whoever reads from it sees its end."""
        self.is_cut = True
        if self._wire is not None:
            with suppress(OSError):
                # That of SSLSocket would also take away what another thread is reading with.
                socket.socket.shutdown(self._wire, socket.SHUT_RDWR)

    def check(self) -> None:
        """Make sure that it was not cut: what looks like the end of a reply may be where it ended."""
        if self.is_cut:
            raise ConnectionAbortedError

    @contextmanager
    def cut_after(self, seconds: float) -> Iterator[None]:
        """Cut the line when this takes longer."""
        timer = threading.Timer(seconds, self.cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


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

"""What went wrong between here and a host: one cause for the many errors of `requests`, urllib3 and sockets."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from enum import StrEnum


class Cause(StrEnum):
    """What went wrong between here and a host, in words without an end."""

    CERTIFICATE = "The certificate of {host} was not accepted"
    NO_CONNECTION = "no connection to {host}"
    NOT_ACCEPTED = "{host} did not accept the connection in time"
    LATE = "{host} did not answer in time"
    BROKEN = "the connection to {host} broke"
    NOT_CALLABLE = "{host} cannot be called"


def cause_of(error: Exception) -> Cause:
    """Return what went wrong, from an error of `requests`, urllib3 or a socket."""
    import requests
    from urllib3.exceptions import (
        ConnectTimeoutError,
        LocationValueError,
        NewConnectionError,
        ReadTimeoutError,
    )
    from urllib3.util.ssl_match_hostname import CertificateError

    inner = list(wrapped(error))

    def is_any(*kinds: type[BaseException]) -> bool:
        return any(isinstance(one, kinds) for one in inner)

    if is_any(ssl.SSLCertVerificationError, CertificateError):
        return Cause.CERTIFICATE
    if is_any(NewConnectionError):
        return Cause.NO_CONNECTION
    if is_any(ConnectTimeoutError, requests.ConnectTimeout):
        return Cause.NOT_ACCEPTED
    if is_any(ReadTimeoutError, TimeoutError, requests.Timeout):
        return Cause.LATE
    # Of the other errors of `requests`, these two are about a connection and the rest about what should be sent.
    if isinstance(error, requests.ConnectionError | requests.exceptions.ChunkedEncodingError):
        return Cause.BROKEN
    is_of_request = isinstance(error, requests.RequestException | LocationValueError)
    return Cause.NOT_CALLABLE if is_of_request else Cause.BROKEN


def wrapped(error: BaseException, *more: str) -> Iterator[BaseException]:
    """Yield an error and those inside it, since `requests` wraps errors of urllib3, and urllib3 those of sockets.

    Parameters
    ----------
    more
        Further attributes that have errors: "__cause__", "__context__".
    """
    pending: list[object] = [error]
    seen: set[int] = set()
    while pending:
        each = pending.pop()
        if isinstance(each, BaseException) and id(each) not in seen:
            seen.add(id(each))
            yield each
            pending += [*(getattr(each, name, None) for name in ("reason", *more)), *each.args]

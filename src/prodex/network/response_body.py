"""The body of a reply of the service, received within limits and unpacked."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from prodex.errors import UnexpectedReply
from prodex.files.unpacking import codings, unpacked
from prodex.limits import LimitExceeded, Limits
from prodex.network.addresses import shown
from prodex.network.retry import RetryableError

if TYPE_CHECKING:
    import requests

    from prodex.network.connection_pool import Deadline

_PIECE = 1 << 16

#: Of a reply that is no success only a sentence is wanted, and its status says the rest.
_REFUSAL = Limits(wire_bytes=1_000_000, unpacked_bytes=1_000_000)


def receive(response: requests.Response, deadline: Deadline, host: str) -> bytes:
    """Return the body of a reply, without the byte order mark that some write in front of it.

    Of a reply that is no success, what cannot be read counts as nothing: its status stands.

    Parameters
    ----------
    response
        With its head; the body still to come.
    deadline
        Counts what comes, and cuts the connection when the time is over.
    host
        Who answers, for the message.

    Raises
    ------
    RetryableError
        When it did not come whole, not in time, or not within the limits.
    """
    try:
        if 200 <= response.status_code < 300:
            return _body(response, deadline, host).removeprefix(codecs.BOM_UTF8)
        meter = deadline.meter
        meter.limits = replace(_REFUSAL, seconds=meter.limits.seconds)
        try:
            return _body(response, deadline, host).removeprefix(codecs.BOM_UTF8)
        except RetryableError:
            return b""
    finally:
        response.close()


def _body(response: requests.Response, deadline: Deadline, host: str) -> bytes:
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    header = response.headers.get("Content-Encoding", "")
    packed = codings(header)
    if packed is None:
        raise RetryableError(
            f"the reply of {host} is packed as {shown(header)!r}, which nobody asked for. A proxy may have done it.",
            kind=UnexpectedReply,
            status=response.status_code,
        )
    try:
        if response.raw is None or getattr(response, "_content_consumed", False):
            return response.content  # a session or a hook of the user's own has read it
        body = b"".join(unpacked(_pieces(response), packed, deadline.meter, may_be_more=True))
        deadline.check()
    except (LimitExceeded, HTTPError, OSError) as error:
        exceeded = error if isinstance(error, LimitExceeded) else None
        if deadline.is_over:
            exceeded = deadline.meter.exceeded("seconds")
        if exceeded is None:
            what = (
                f"{host} did not answer in time. A smaller page_size or a longer timeout may help."
                if isinstance(error, ReadTimeoutError | TimeoutError)
                else f"the connection to {host} broke before the whole reply had come."
            )
            raise RetryableError(what) from error
        raise past_limits(exceeded, host, response.status_code) from error
    except zlib.error as error:
        raise RetryableError(f"the reply of {host} could not be decompressed.") from error
    return body


def past_limits(exceeded: LimitExceeded, host: str, status: int | None = None) -> RetryableError:
    """Return what says that a reply was left: too late may pass, too large would come again."""
    if exceeded.limit == "seconds":
        return RetryableError(f"the reply of {host} did not end in time: {exceeded}.", status=status)
    return RetryableError(
        f"the reply of {host} is too large: {exceeded}. A smaller page_size may help.",
        kind=UnexpectedReply,
        status=status,
        passing=False,
    )


def _pieces(response: requests.Response) -> Iterator[bytes]:
    """Yield what comes as soon as it comes, so that a reply that drips is noticed."""
    read = getattr(response.raw, "read1", None) or response.raw.read
    while piece := read(_PIECE, decode_content=False):
        yield piece

"""The body of a reply: received within the limits of time and size, and decompressed."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from prodex.errors import UnexpectedReply
from prodex.files.unpacking import codings, unpacked
from prodex.limits import LimitExceeded, Limits
from prodex.network.addresses import shortened
from prodex.network.retry import RetryableError

if TYPE_CHECKING:
    import requests

    from prodex.network.connection_pool import Deadline

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
    """Return the error for a reply that did not come, or only in part."""
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

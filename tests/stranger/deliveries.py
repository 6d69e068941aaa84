"""Ways to send a reply that a client hopes never to meet; each ends after 120 s or when the client leaves."""

from __future__ import annotations

import functools
import gzip
import zlib
from collections.abc import Callable

from .wire import Line, Reply

Delivery = Callable[[Line, Reply], bool]


def _whole(reply: Reply) -> bytes:
    """The reply as it would go out unchunked."""
    plain = reply.having(framing="length") if reply.framing == "chunked" else reply
    return plain.head() + plain.body


def nothing(_line: Line, _reply: Reply) -> bool:
    """Close the connection without a reply."""
    return False


def truncated(line: Line, reply: Reply) -> bool:
    """Announce the whole length, send half of the body, close."""
    line.send(reply.having(framing="length").head() + reply.body[: len(reply.body) // 2])
    return False


def truncated_chunks(line: Line, reply: Reply) -> bool:
    """Send one whole chunk with half of the body, and never the last chunk."""
    half = reply.body[: len(reply.body) // 2]
    line.send(reply.having(framing="chunked").head() + b"%x\r\n%b\r\n" % (len(half), half))
    return False


def garbage_chunks(line: Line, reply: Reply) -> bool:
    """Send a chunk whose size is no number."""
    line.send(reply.having(framing="chunked").head() + b"zz\r\n" + reply.body + b"\r\n0\r\n\r\n")
    return False


def decorated_chunks(line: Line, reply: Reply) -> bool:
    """Send chunks with extensions and a trailer, which HTTP allows."""
    body = b"%x;name=value\r\n%b\r\n" % (len(reply.body), reply.body) if reply.body else b""
    line.send(reply.having(framing="chunked").head() + body + b"0\r\nX-Trailer: yes\r\n\r\n")
    return True


def no_http(line: Line, _reply: Reply) -> bool:
    """Send something that is not HTTP."""
    line.send(b"\x15\x03\x01\x00\x02\x02\x50")
    return False


def trickle(line: Line, reply: Reply) -> bool:
    """Announce a huge body and send white space, one byte each 0.2 s."""
    line.send(reply.headed(content_length=str(10**9)).head())
    while line.pause(0.2):
        line.send(b" ")
    return False


def endless_continue(line: Line, _reply: Reply) -> bool:
    """Send ``100 Continue`` again and again."""
    while line.pause(0.02):
        line.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    return False


def endless_headers(line: Line, _reply: Reply) -> bool:
    """Send headers that never end."""
    line.send(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while line.pause(0.02):
        number += 1
        line.send(b"X-Header-%d: %b\r\n" % (number, b"x" * 100))
    return False


def stalled(line: Line, reply: Reply) -> bool:
    """Send half of the body and then nothing, with the connection open."""
    line.send(_whole(reply)[: -(len(reply.body) // 2) or None])
    while line.pause(1):
        pass
    return False


def silent(line: Line, _reply: Reply) -> bool:
    """Send nothing, with the connection open."""
    while line.pause(1):
        pass
    return False


def after(seconds: float) -> Delivery:
    """Send the reply as it is, late."""

    def deliver(line: Line, reply: Reply) -> bool:
        left = seconds
        while left > 0:
            if not line.pause(min(left, 1)):
                return False
            left -= 1
        line.send(_whole(reply))
        return reply.framing != "close"

    return deliver


def in_pieces(line: Line, reply: Reply) -> bool:
    """Send the reply in very many small pieces, without a wait."""
    everything = _whole(reply)
    size = max(7, len(everything) // 400)
    for start in range(0, len(everything), size):
        line.send(everything[start : start + size])
    return reply.framing != "close"


@functools.cache
def bomb(megabytes: int) -> bytes:
    """White space of this size, gzipped twice: some hundred bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    million = b" " * 2**20
    once = b"".join(packer.compress(million) for _ in range(megabytes)) + packer.flush()
    return gzip.compress(once, 9, mtime=0)

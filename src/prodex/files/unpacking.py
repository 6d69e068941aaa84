"""Gzip and deflate, unpacked in small steps and counted: a few bytes from outside may unpack to terabytes."""

from __future__ import annotations

import io
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from prodex.limits import FILE, Limits, Meter

#: Bytes that are unpacked at a time, and bytes that are read from a file at a time.
_STEP, _READ = 1 << 18, 1 << 20
#: Seconds in which somebody has to write into a pipe, and between two looks.
A_WRITER_COMES, _LOOK = 5.0, 0.02

_GZIP = b"\x1f\x8b"
_CODINGS = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate"}
_MOST_CODINGS = 2


def codings(header: str) -> list[str] | None:
    """Return how a body was packed (Content-Encoding), the first coding first; None if it cannot be unpacked.

    >>> codings("GZIP"), codings("identity"), codings("gzip, deflate"), codings("br"), codings("gzip,gzip,gzip")
    (['gzip'], [], ['gzip', 'deflate'], None, None)
    """
    names = [name for word in header.lower().split(",") if (name := word.strip()) not in {"", "identity"}]
    if len(names) > _MOST_CODINGS or not all(name in _CODINGS for name in names):
        return None
    return [_CODINGS[name] for name in names]


def unpacked(
    pieces: Iterable[bytes],
    packed: Sequence[str],
    meter: Meter,
    *,
    may_be_more: bool = False,
    strict: bool = False,
) -> Iterator[bytes]:
    """Unpack bytes in small steps, counting the packed and the unpacked ones.

    Parameters
    ----------
    pieces
        The packed bytes.
    packed
        How they were packed, as `codings` returns it. Of two equal codings the second may be missing in fact: some
        servers write the header twice.
    meter
        Counts the bytes and stops them at its limits.
    may_be_more
        Whether the result may be gzip once more, although no header says so.
    strict
        Refuse data that ends too early or continues behind its end.

    Raises
    ------
    LimitExceeded
        At the limits of the meter.
    zlib.error
        When they were not packed so, or are damaged.
    EOFError
        When the end is missing, if `strict`.
    """
    pieces = _count_received(pieces, meter)
    for layer, coding in enumerate(reversed(packed)):
        pieces = _layer(pieces, coding, meter, may_be_missing=layer > 0, strict=strict)
    if may_be_more and len(packed) < _MOST_CODINGS:
        pieces = _layer(pieces, "gzip", meter, may_be_missing=True, strict=strict)
    return iter(pieces)


@contextmanager
def opened_within(path: Path, limits: Limits | None, setting: str) -> Iterator[BinaryIO]:
    """Open a file for reading within limits, unpacked if its name ends in `.gz`.

    A packed file that could be too large is unpacked to the end once before, and the result thrown away: a caller that
    asks for the first line would otherwise hold everything up to the limit in memory. A pipe is read to its end, and
    refused when nobody comes to write into it.

    Raises
    ------
    LimitExceeded
        At the limits, here or while it is read.
    OSError, EOFError, zlib.error
        When it cannot be read, here or while it is read.
    """
    packed = ["gzip"] if path.suffix == ".gz" else []
    meter, trial = (Meter(limits or Limits(), FILE, setting) for _ in range(2))
    try:
        is_pipe = path.is_fifo()
        opened = _opened_at_once(path) if is_pipe else path.open("rb")
    except ValueError as error:  # also of half a character
        raise OSError(f"it is no path of a file ({error})") from error
    with opened as file:
        first = [_first_of_pipe(file)] if is_pipe else []
        if packed and trial.may_exceed(path.stat().st_size):
            with suppress(zlib.error, EOFError):  # damage is reported below, when the file is read
                for _ in unpacked(iter(partial(file.read, _READ), b""), packed, trial):
                    pass
            file.seek(0)
        meter.begin()
        pieces = unpacked(chain(first, iter(partial(file.read, _READ), b"")), packed, meter, strict=True)
        with io.BufferedReader(_Pieces(pieces), _READ) as reader:
            yield cast("BinaryIO", reader)


def _opened_at_once(pipe: Path) -> BinaryIO:
    """Open a pipe whether it has a writer or not; otherwise the system waits for one."""
    return os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", 0)


def _first_of_pipe(pipe: Any) -> bytes:
    """Return the first byte of a pipe, or nothing of one that has a writer who has not written yet."""
    end = time.monotonic() + A_WRITER_COMES
    while (first := pipe.read(1)) == b"":  # None is said where there is a writer
        if time.monotonic() > end:
            raise OSError("it is a pipe, and nobody writes into it")
        time.sleep(_LOOK)
    os.set_blocking(pipe.fileno(), True)
    return first or b""


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file object."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            if (piece := next(self._pieces, None)) is None:
                return 0
            self._left = memoryview(piece)
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def _count_received(pieces: Iterable[bytes], meter: Meter) -> Iterator[bytes]:
    for piece in pieces:
        meter.count_received(len(piece))
        yield piece


def _layer(
    pieces: Iterable[bytes], coding: str, meter: Meter, *, may_be_missing: bool, strict: bool
) -> Iterator[bytes]:
    """Unpack one coding."""
    pieces = iter(pieces)
    head = b""
    while len(head) < len(_GZIP) and (piece := next(pieces, None)) is not None:
        head += piece
    pieces = chain([head], pieces)
    if coding == "gzip":
        is_missing = may_be_missing and head[:2] != _GZIP
        return pieces if is_missing else _unpacked_members(pieces, meter, strict)
    # "deflate" means zlib (RFC 9110, 8.4.1.2), but some servers send the raw stream without the header of zlib.
    has_header = len(head) > 1 and head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    inflater = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
    return chain(_inflated(pieces, inflater, meter, []), _rest(pieces))


def _unpacked_members(pieces: Iterator[bytes], meter: Meter, strict: bool) -> Iterator[bytes]:
    """Unpack gzip, which may consist of several members (RFC 1952)."""
    rest = [next(pieces)]
    before = 0
    while rest[0]:
        inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
        left: list[bytes] = []
        for piece in _inflated(chain(rest, pieces), inflater, meter, left, before):
            before += len(piece)
            yield piece
        if strict and not inflater.eof:
            raise EOFError("the compressed data ends before its end-of-stream marker")
        rest = [b"".join(left).lstrip(b"\0")]
        while len(rest[0]) < len(_GZIP) and (piece := next(pieces, b"")):
            rest = [(rest[0] + piece).lstrip(b"\0")]
        if not rest[0].startswith(_GZIP):
            break
    if strict and rest[0]:
        raise zlib.error("something that is not compressed follows the end")
    yield from _rest(pieces)


def _rest(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Read what follows and yield nothing of it, as browsers do; the connection can then be used again."""
    for _ in pieces:
        yield from ()


def _inflated(
    pieces: Iterable[bytes], inflater: zlib._Decompress, meter: Meter, left: list[bytes], before: int = 0
) -> Iterator[bytes]:
    """Unpack to the end of a stream; what follows it in the last piece is put into `left`."""
    size = before
    for piece in pieces:
        full = True
        while piece or full:
            made = inflater.decompress(piece, _STEP)
            piece, full = inflater.unconsumed_tail, len(made) == _STEP  # noqa: PLW2901 - what is left of it
            if made:
                size += len(made)
                meter.count_unpacked(size)
                yield made
            if inflater.eof:
                left.append(inflater.unused_data)
                return

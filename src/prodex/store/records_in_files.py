"""The product records in files of every usual form, one after another: no file is held as a whole.

A short text, such as a line of JSON lines, is read at once. A list or a reply that is longer is looked through first,
since it counts as a whole or not at all, and then read again item by item.

Only the structure is looked for here: where strings, objects and lists begin and end. Whether what lies in between is
JSON, the strict reader of `prodex.tables.envelope` decides, run by run, so that the items are those of the whole text.
"""

from __future__ import annotations

import codecs
import io
import json
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from prodex.encodings import not_utf8, opened_as
from prodex.errors import InputError, UnexpectedReply
from prodex.files.known_formats import LOOKED_AT, other_format
from prodex.files.unpacking import opened_within
from prodex.limits import LimitExceeded, Limits
from prodex.store.long_lists import BrokenText, UnusualText, items_of
from prodex.tables.envelope import Envelope, as_raw_json, escape_lone_surrogates, split
from prodex.tables.values import read_json

#: A text of more bytes is not held, if it is a list or a reply.
LONG = 16_000_000

#: Bytes of a long text that are read at a time.
_CHUNK = 2_000_000

#: So many lines of a long text that is no JSON are tried without finding a product among them.
_MOST_TRIED = 1_000

_PRODUCT_KEYS = {"id", "uuid", "gtin"}
_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])

#: Where the reader of JSON has found that something is wrong.
_BYTE = re.compile(r"(?<=\(byte )[0-9]+(?=\))")

#: How a column of a table begins, as pandas writes it: by the number of the row.
_COLUMN = re.compile(rb'\{\s*"0"\s*:')

#: Opens a file from its beginning, each time it is called.
_Source = Callable[[], AbstractContextManager[BinaryIO]]


@dataclass
class ReadingNotes:
    """What files hold besides products.

    Attributes
    ----------
    announced
        The totals that replies announce.
    set_aside
        What could not be read as a product, each with its place and the reason.
    """

    announced: set[int] = field(default_factory=set)
    set_aside: list[str] = field(default_factory=list)

    @property
    def total(self) -> int | None:
        """The largest number of products that was announced, if any was.

        Products come and go between the pages of one query, and files may be of several. There are at least as many
        products as one reply announces.
        """
        return max(self.announced, default=None)


def records_in(
    path: Path, reply: ReadingNotes, limits: Limits | None, encoding: str | None = None
) -> Iterator[bytes]:
    """Yield the product records in a file, each as its JSON bytes, in UTF-8.

    Parameters
    ----------
    path
        A reply, a list of products, one product, or JSON lines of any of these; also compressed (.gz).
    reply
        Where to put what is no product.
    limits
        Of the file.
    encoding
        Of the file, as `checked_encoding` returned it; None for UTF-8.

    Raises
    ------
    InputError
        When it cannot be read, or is larger than the limits.
    """
    try:
        with ExitStack() as stack:
            source: _Source = partial(opened_within, path, limits, "read_products")
            if path.exists() and not path.is_file():  # a pipe can be read only once
                copy = stack.enter_context(tempfile.TemporaryFile())
                with source() as file:
                    shutil.copyfileobj(file, copy)
                source = partial(_again, cast("BinaryIO", copy))
            yield from _records(partial(_in_utf8, source, encoding), path.name, reply)
    except _OtherFormat as other:
        reply.set_aside.append(f"{path.name}: {other}")
    except LimitExceeded as error:
        raise InputError(f"{path} is too large: {error}.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read: {error}. Check the path, and that the file is complete."
        ) from error


class _OtherFormat(Exception):
    """A file is something else than JSON; its text says what."""


@contextmanager
def _in_utf8(source: _Source, encoding: str | None) -> Iterator[BinaryIO]:
    with source() as file:
        buffered = cast("io.BufferedReader", file)
        if (other := other_format(buffered.peek(LOOKED_AT)[:LOOKED_AT])) is not None:
            raise _OtherFormat(other)
        with opened_as(buffered, encoding) as text:
            yield text


@contextmanager
def _again(file: BinaryIO) -> Iterator[BinaryIO]:
    file.seek(0)
    yield file


def _records(source: _Source, name: str, reply: ReadingNotes) -> Iterator[bytes]:
    with source() as file:
        first = file.readline(LONG).removeprefix(codecs.BOM_UTF8)
        # JSON lines are recognised by the first line that holds anything.
        while first and not first.strip():
            first = file.readline(LONG)
        # Then every line is a value of its own.
        if (first.endswith(b"\n") or len(first) < LONG) and _is_json_value(first):
            yield from _records_in_lines(first, file, name, reply)
            return
        text = first + file.read(LONG + 1 - len(first))
    if len(text) > LONG:
        del first, text  # it is read again, piece by piece
        yield from _long(source, name, reply)
    elif not text.strip():
        reply.set_aside.append(f"{name}: the file is empty")
    elif _is_json_value(text) or b"\n" not in text.strip():
        yield from _unpacked(text, name, reply)
    else:  # lines of JSON, of which the first is broken
        first, *rest = text.splitlines()
        yield from _records_in_lines(first, rest, name, reply)


def _is_json_value(text: bytes) -> bool:
    """Whether this is a JSON value of its own, in whatever encoding its texts are."""
    try:
        read_json(text if text.isascii() else text.decode("utf-8", "replace").encode())
    except (ValueError, RecursionError):
        return False
    return True


def _records_in_lines(first: bytes, rest: Iterable[bytes], name: str, reply: ReadingNotes) -> Iterator[bytes]:
    yield from _unpacked(first, f"{name}, line 1", reply)
    for number, line in enumerate(rest, 2):
        if line.strip():
            yield from _unpacked(line, f"{name}, line {number}", reply)


def _long(source: _Source, name: str, reply: ReadingNotes) -> Iterator[bytes]:
    """Read a long file that is no JSON lines by its first line: one text, or lines of which the first is broken."""
    try:
        envelope = _looked_through(_chunks(source))
    except BrokenText as error:
        if _is_one_line(_chunks(source)):
            reply.set_aside.append(f"{name}: not JSON that can be read ({error})")
        else:
            yield from _long_lines(source, name, reply, str(error))
        return
    except UnusualText:
        if _has_whole_lines(source):
            yield from _long_lines(source, name, reply, "its first line is broken")
            return
        with source() as file:
            yield from _unpacked(file.read().removeprefix(codecs.BOM_UTF8), name, reply)
        return
    yield from _of_reply(envelope, items_of(_chunks(source), LONG), name, reply)


def _looked_through(chunks: Iterable[bytes]) -> Envelope:
    found: list[Envelope] = []
    for _ in items_of(chunks, LONG, found):
        pass
    return found[0]


def _chunks(source: _Source) -> Iterator[bytes]:
    with source() as file:
        first = file.read(_CHUNK)
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from iter(partial(file.read, _CHUNK), b"")


def _is_one_line(chunks: Iterable[bytes]) -> bool:
    begun = ended = False
    for chunk in chunks:
        text = chunk if begun else chunk.lstrip()
        begun = begun or bool(text)
        _, end, behind = text.partition(b"\n")
        if (ended and text.strip()) or behind.strip():
            return False
        ended = ended or bool(end)
    return True


def _has_whole_lines(source: _Source) -> bool:
    """Whether one of the first lines is an object or a list of its own; lines inside of an object hardly ever are."""
    with source() as file:
        lines = islice(_numbered(file), 100)
        return any(line.strip()[:1] in (b"{", b"[") and _is_json_value(line) for _, line in lines)


def _numbered(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that hold anything, counted from the first of them."""
    begun, number = False, 0
    for line in file:
        text = line if begun else line.removeprefix(codecs.BOM_UTF8)
        begun = begun or bool(text.strip())
        number += begun
        if text.strip():
            yield number, text


def _long_lines(source: _Source, name: str, reply: ReadingNotes, reason: str) -> Iterator[bytes]:
    """Read a long text that is no JSON line by line, unless it proves to be something else altogether."""
    before, found = len(reply.set_aside), False
    with source() as file:
        for number, line in _numbered(file):
            for record in _unpacked(line, f"{name}, line {number}", reply):
                found = True
                yield record
            if not found and len(reply.set_aside) - before > _MOST_TRIED:
                del reply.set_aside[before:]
                reply.set_aside.append(f"{name}: not JSON that can be read ({reason}), nor lines of JSON")
                return


def _unpacked(text: bytes, place: str, reply: ReadingNotes) -> Iterator[bytes]:
    """Yield the products of a reply, a list or a single product."""
    # Files that were joined have a mark in the middle.
    text = text.strip().removeprefix(codecs.BOM_UTF8).lstrip()
    if len(text) > LONG:
        with suppress(BrokenText, UnusualText):
            envelope = _looked_through(_in_chunks(text))
            yield from _of_reply(envelope, items_of(_in_chunks(text), LONG), place, reply)
            return
    top = _top(text)
    # Nearly all are single products, and such a product is its own text.
    if top is not None and (keys := _PRODUCT_KEYS & top.keys()):
        if all(_COLUMN.match(bytes(top[key])) for key in keys):
            reply.set_aside.append(
                f"{place}: a table by columns, as DataFrame.to_json(path) writes it, and no product. Write it with "
                "orient='records'"
            )
        else:
            yield from _utf8_or_set_aside(text, place, reply)
        return
    top = top or _top_leniently(text)
    try:
        # Everything becomes a reply, so that one reader does for replies, lists and single products.
        before, behind = b'{"data":[', b"]}"
        if text[:1] == b"[":
            before, behind = b'{"data":', b"}"
        elif bytes(top.get("data", b""))[:1] in (b"[", b"n") and not _PRODUCT_KEYS & top.keys():
            before, behind = b"", b""
        envelope = split(before + text + behind)
    except UnexpectedReply as error:
        why = _BYTE.sub(lambda found: str(int(found[0]) - len(before)), str(error.__cause__))
        odd = str(error) if error.is_answer else f"not JSON that can be read ({why})"
        reason = not_utf8(text) or odd
        reply.set_aside.append(f"{place}: {reason}")
        return
    yield from _of_reply(envelope, map(bytes, envelope.data), place, reply)


def _in_chunks(text: bytes) -> Iterator[bytes]:
    return (text[start : start + _CHUNK] for start in range(0, len(text), _CHUNK))


def _of_reply(envelope: Envelope, items: Iterable[bytes], place: str, reply: ReadingNotes) -> Iterator[bytes]:
    if envelope.total_results is not None:
        reply.announced.add(envelope.total_results)
    for index, product in enumerate(items):
        if _has_key(product):
            yield from _utf8_or_set_aside(product, f"{place}, item {index}", reply)
        else:
            shown = product[:40].decode("utf-8", "replace")
            reply.set_aside.append(f"{place}, item {index}: no object with id, uuid or gtin, but {shown}")


def _utf8_or_set_aside(product: bytes, place: str, reply: ReadingNotes) -> Iterator[bytes]:
    """Yield a product that is in UTF-8; set one aside that is not, whose letters nobody knows."""
    if reason := not_utf8(product):
        reply.set_aside.append(f"{place}: {reason}. Give the encoding of the file, such as cp1252")
    else:
        yield product


def _top(text: bytes) -> dict[str, msgspec.Raw] | None:
    """Return the top level of an object, undecoded; None for what is none."""
    try:
        return _TOP.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _top_leniently(text: bytes) -> dict[str, msgspec.Raw]:
    """Return the top level of an object that holds half a surrogate pair or NaN: it may be a reply nevertheless."""
    if (top := _top(escape_lone_surrogates(text))) is not None:
        return top
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {name: as_raw_json(value) for name, value in found.items()} if isinstance(found, dict) else {}


def _has_key(product: bytes) -> bool:
    top = _top(product)
    if top is not None and _PRODUCT_KEYS & top.keys():
        return True
    try:
        record = read_json(product)
    except (ValueError, RecursionError):
        return product[:1] == b"{"  # `flatten` also reads records that this strict reader refuses
    return isinstance(record, dict) and bool(_PRODUCT_KEYS & record.keys())

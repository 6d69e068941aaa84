"""A JSON text that is too long to hold: a list of products, or a reply with one, taken item by item.

Only the structure is looked for here: where strings, objects and lists begin and end. Whether what lies in between is
JSON, the strict reader of `prodex.tables.envelope` decides, run by run, so that the items are those of the whole text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from prodex.errors import UnexpectedReply
from prodex.tables.envelope import Envelope, split

_QUOTE, _OPEN, _CLOSE, _COMMA = 1, 2, 3, 4
_BACKSLASH = ord("\\")
_CLASS_OF = {
    ord('"'): _QUOTE,
    **dict.fromkeys(b"[{", _OPEN),
    **dict.fromkeys(b"]}", _CLOSE),
    ord(","): _COMMA,
}
_CLASSES = bytes(_CLASS_OF.get(sign, 0) for sign in range(256))

#: What stands before the list of a reply. A backslash would make it the end of a longer name.
_DATA = re.compile(rb'(?<!\\)"data"[ \t\r\n]*:[ \t\r\n]*\Z')

#: How an object begins: its first name.
_BEGIN = re.compile(rb'(?:\s*\{\s*"[^"\\]{1,80}"\s*:)?')

#: How many places are tried at which an item may begin, before its structure is looked at.
_GUESSES = 5

_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


class BrokenText(Exception):
    """The text is no JSON: the message says why."""


class UnusualText(Exception):
    """It is neither a list nor a reply of which the list is all that is long; only the whole text tells what it is."""


class _Structure(NamedTuple):
    """Brackets and commas outside of strings: where they are, what they are, and the depth after each."""

    places: npt.NDArray[np.int64]
    classes: npt.NDArray[np.uint8]
    depths: npt.NDArray[np.int64]


def items_of(
    chunks: Iterable[bytes], most_around: int, envelope: list[Envelope] | None = None
) -> Iterator[bytes]:
    """Yield the items of a long list, or of the list `data` of a long reply.

    Parameters
    ----------
    chunks
        The text, in pieces of any size.
    most_around
        Bytes that a reply may have before its list, and behind it.
    envelope
        Where to put what the reply says besides.

    Raises
    ------
    BrokenText, UnusualText
        When it is no such text. This may show at the very end, after its items.

    Examples
    --------
    >>> list(items_of([b'{"totalResults": 2, "da', b'ta": [{"id": 1}, ', b'{"id": [2, 3]}]}'], 100))
    [b'{"id": 1}', b'{"id": [2, 3]}']
    """
    chunks = _begun(chunks)
    head, rest = _head(chunks, most_around)
    tail = bytearray()
    is_blank = False
    for number, items in enumerate(_runs(rest, chunks, tail, most_around)):
        # An empty list has one blank run; beside others it is an item that is missing.
        if is_blank or (number and items is None):
            raise BrokenText("an item of the list is missing")
        is_blank = items is None
        yield from items or ()
    found = _around(head + bytes(tail))
    if envelope is not None:
        envelope.append(found)


def structure(text: bytes) -> _Structure:
    r"""Return the brackets and commas of a text that begins outside of strings.

    >>> found = structure(rb'{"a\"[": [1, {}]}')
    >>> found.places.tolist(), found.depths.tolist()
    ([0, 9, 11, 13, 14, 15, 16], [1, 2, 2, 3, 2, 1, 0])
    """
    classes = np.frombuffer(text.translate(_CLASSES), np.uint8)
    if b"\\" in text:
        classes = classes.copy()
        backslashes = np.flatnonzero(np.frombuffer(text, np.uint8) == _BACKSLASH)
        begins = np.r_[True, np.diff(backslashes) != 1]
        number = np.arange(len(backslashes))
        # In a row of backslashes the first, third, ... escape what follows them.
        escaping = (number - np.maximum.accumulate(np.where(begins, number, 0))) % 2 == 0
        escaped = backslashes[escaping] + 1
        classes[escaped[escaped < len(classes)]] = 0
    places = np.flatnonzero(classes)
    classes = classes[places]
    quotes = classes == _QUOTE
    outside = ~quotes & (np.cumsum(quotes) % 2 == 0)
    places, classes = places[outside], classes[outside]
    steps = (classes == _OPEN).astype(np.int64) - (classes == _CLOSE)
    return _Structure(places, classes, np.cumsum(steps))


def _begun(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Make a reply of a list, so that one reader does for both."""
    chunks = iter(chunks)
    first = b""
    while not first and (chunk := next(chunks, None)) is not None:
        first = chunk.lstrip()
    return chain([b'{"data":', first], chunks, [b"}"]) if first[:1] == b"[" else chain([first], chunks)


def _head(chunks: Iterator[bytes], most: int) -> tuple[bytes, bytes]:
    """Return what a reply begins with, its list opened, and what was read of the list."""
    text = b""
    for chunk in chunks:
        text += chunk
        found = structure(text)
        if len(found.places) and (found.places[0] or text[:1] != b"{"):
            break
        for place in found.places[(found.depths == 2) & (found.classes == _OPEN)].tolist():
            if text[place : place + 1] == b"[" and _DATA.search(text[:place]):
                return text[: place + 1], text[place + 1 :]
        if len(text) > most or 0 in found.depths:
            break
    raise UnusualText


def _runs(
    rest: bytes, chunks: Iterator[bytes], tail: bytearray, most: int
) -> Iterator[Iterable[bytes] | None]:
    """Yield runs of items, None for a blank one; what follows the list is put into `tail`."""
    begin = b""
    while True:
        begin = begin or _BEGIN.match(rest)[0].lstrip()  # type: ignore[index] # it matches anything
        if (quick := _quick_run(rest, begin)) is not None:
            items, rest = quick
            yield items
            rest += _at_least(1, chunks)
            continue
        found = structure(rest)
        closed = np.flatnonzero(found.depths < 0)
        last = int(closed[0]) if len(closed) else len(found.places)
        ends = found.places[:last][(found.depths[:last] == 0) & (found.classes[:last] == _COMMA)]
        if len(closed):
            end = int(found.places[last])
            yield _items(rest[:end], np.append(ends, end)) if rest[:end].strip() else None
            tail += rest[end:]
            break
        if len(ends):
            yield _items(rest[: ends[-1]], ends) if rest[: ends[-1]].strip() else None
            rest = rest[ends[-1] + 1 :]
        more = _at_least(max(len(rest), 1), chunks)  # twice as much of an item that is long itself
        if not more:
            raise BrokenText("Input data was truncated")
        rest += more
    for chunk in chunks:
        tail += chunk
        if len(tail) > most:
            raise UnusualText


def _quick_run(rest: bytes, begin: bytes) -> tuple[Iterable[bytes], bytes] | None:
    """Cut where an item seems to begin as the first one did; that this is right, the strict reader proves.

    Inside of a string or of an item no single bracket makes a list of what stands before.
    """
    at = len(rest)
    for _ in range(_GUESSES if begin else 0):
        at = rest.rfind(begin, 0, at)
        before = rest[:at].rstrip() if at > 0 else b""
        if not before:
            return None
        if before.endswith(b",") and before.strip() != b",":
            with suppress(msgspec.DecodeError, RecursionError):
                return map(bytes, _ITEMS.decode(b"[%b]" % before[:-1])), rest[at:]
    return None


def _at_least(size: int, chunks: Iterator[bytes]) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (chunk := next(chunks, None)) is not None:
        pieces.append(chunk)
        size -= len(chunk)
    return b"".join(pieces)


def _items(run: bytes, ends: npt.NDArray[np.int64]) -> Iterator[bytes]:
    with suppress(msgspec.DecodeError, RecursionError):
        yield from map(bytes, _ITEMS.decode(b"[%b]" % run))
        return
    # What only a lenient reader accepts concerns one item, and the others stay as they came.
    start = 0
    for end in ends.tolist():
        try:
            found = split(b'{"data":[%b]}' % run[start:end]).data
        except UnexpectedReply as error:
            raise BrokenText(str(error.__cause__)) from error
        if len(found) != 1:
            raise BrokenText("an item of the list is missing")
        yield bytes(found[0])
        start = end + 1


def _around(text: bytes) -> Envelope:
    """Read the reply without the items of its list."""
    try:
        pairs = json.loads(text, object_pairs_hook=_Pairs)
        envelope = split(text)
    except (ValueError, RecursionError, UnexpectedReply) as error:
        raise BrokenText(str(error)) from error
    names = [name for name, _ in pairs.pairs]
    # Of two lists the last counts, and a product may have an attribute `data`.
    if names.count("data") != 1 or {"id", "uuid", "gtin"} & set(names):
        raise UnusualText
    return envelope


class _Pairs:
    """The names and values of an object, also those that come twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs

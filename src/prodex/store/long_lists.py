"""The items of a JSON list that is too long to be held, one after another, from pieces of its text.

Items are cut off in runs, where one seems to begin as the first of a run did, and read at once: a run that was cut
inside an item or a string is no JSON, and is cut elsewhere. Where that fails, Python's own reader says item by item
where each ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain

import msgspec

from prodex.errors import UnexpectedReply
from prodex.tables.envelope import Envelope, split

#: How an item begins: its first name.
_BEGIN = re.compile(rb'(?:\s*\{\s*"[^"\\]{1,80}"\s*:)?')

#: How many places are tried at which an item may begin.
_GUESSES = 5

_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])

#: Looks for the ends of values only: numbers may have any length, and objects are not kept.
_READER = json.JSONDecoder(parse_int=str, parse_float=str, object_pairs_hook=lambda _: None)
_SPACES = re.compile(r"[ \t\r\n]*")

#: So far from its end a text is wrong that is only cut off: a word, a number or an escape has been begun.
_NEAR = 12


class BrokenText(Exception):
    """The text is no JSON: the message says why."""


class UnusualText(Exception):
    """It is neither a list nor a reply of which the list is all that is long; only the whole text shows what it is."""


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
    text = _Text(chunks)
    head = text.head(most_around)
    yield from text.items()
    found = _reply_envelope(head + text.tail(most_around))
    if envelope is not None:
        envelope.append(found)


class _Text:
    """A text of which only the next piece is held."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._next = b""
        while not self._next and self._read(1):
            self._next = self._next.lstrip()
        if self._next[:1] == b"[":  # one reader does for lists and replies
            self._next = b'{"data":' + self._next
            self._chunks = chain(self._chunks, [b"}"])

    def _read(self, size: int) -> bool:
        """Read so many bytes more, at least; whether there are any."""
        pieces = [self._next]
        while size > 0 and (chunk := next(self._chunks, None)) is not None:
            pieces.append(chunk)
            size -= len(chunk)
        self._next = b"".join(pieces)
        return len(pieces) > 1

    def head(self, most: int) -> bytes:
        """Take what is before the items of the list `data`, with its bracket."""
        while True:
            text = _as_text(self._next)
            with suppress(ValueError, IndexError, RecursionError):
                head = _as_bytes(text[: _begin_of_list(text)])
                self._next = self._next[len(head) :]
                return head
            if len(self._next) > most or not self._read(1):
                raise UnusualText

    def items(self) -> Iterator[bytes]:
        """Take the items of the list."""
        is_first = True
        while True:
            if (items := self._run()) is not None:
                yield from items
                is_first = False
                self._read(1)
                continue
            text, at = _as_text(self._next), 0
            is_end = is_first and text.startswith("]", _behind_spaces(text, 0))
            while not is_end and (found := _value(text, at)) is not None:
                item, behind = found
                yield _as_bytes(item)
                is_first = False
                is_end = text[behind] == "]"
                at = behind if is_end else behind + 1
            self._next = _as_bytes(text[at:]).lstrip()
            if is_end:
                return
            if not self._read(max(len(self._next), 1)):  # twice as much of an item that is long itself
                raise BrokenText("it is cut off")

    def _run(self) -> Iterable[bytes] | None:
        """Take a run of items; None where no guess hits the beginning of one."""
        begin = _BEGIN.match(self._next)[0].lstrip()  # type: ignore[index] # it matches anything
        at = len(self._next)
        for _ in range(_GUESSES if begin else 0):
            at = self._next.rfind(begin, 0, at)
            before = self._next[:at].rstrip() if at > 0 else b""
            if not before:
                return None
            # The text before does not become a list by one bracket inside a string or an item.
            if before.endswith(b","):
                with suppress(msgspec.DecodeError, RecursionError):
                    items = _ITEMS.decode(b"[%b]" % before[:-1])
                    self._next = self._next[at:]
                    return map(bytes, items)
        return None

    def tail(self, most: int) -> bytes:
        """Take what is left, from the bracket behind the items on."""
        while len(self._next) <= most:
            if not self._read(1):
                return self._next
        raise UnusualText


def _begin_of_list(text: str) -> int:
    """Return where the items of the list `data` begin in a reply; a `ValueError` or `IndexError` where they do not."""
    at = _behind_spaces(text, text.index("{", 0, 1) + 1)
    while True:
        name, at = _READER.raw_decode(text, at)
        at = _behind_spaces(text, text.index(":", at, _behind_spaces(text, at) + 1) + 1)
        if name == "data" and text[at] == "[":
            return at + 1
        at = _behind_spaces(text, _READER.raw_decode(text, at)[1])
        at = _behind_spaces(text, text.index(",", at, at + 1) + 1)


def _value(text: str, at: int) -> tuple[str, int] | None:
    """Return the next value, and where the comma or the bracket behind it is; None where they are cut off.

    Raises
    ------
    BrokenText
        When no text behind it makes JSON of it.
    """
    begin = _behind_spaces(text, at)
    nearly = len(text) - _NEAR
    try:
        end = _READER.raw_decode(text, begin)[1]
    except json.JSONDecodeError as error:
        if error.pos < nearly and not error.msg.startswith("Unterminated string"):
            raise BrokenText(error.msg) from error
        return None
    except RecursionError as error:
        raise BrokenText("it is nested too deep") from error
    behind = _behind_spaces(text, end)
    if text.startswith((",", "]"), behind):
        return text[begin:end], behind
    if behind < nearly:
        raise BrokenText("behind an item is neither a comma nor the end of the list")
    return None


def _behind_spaces(text: str, at: int) -> int:
    return _SPACES.match(text, at).end()  # type: ignore[union-attr] # it matches anything


def _as_text(piece: bytes) -> str:
    # Bytes that are no UTF-8 stay what they are; whoever reads the items says what is wrong with them.
    return piece.decode("utf-8", "surrogateescape")


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _reply_envelope(text: bytes) -> Envelope:
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
    """The names and values of an object, also those that are there twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs

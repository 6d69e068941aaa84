"""Bytes that should be JSON in UTF-8, and are in another encoding: read where it is known which, else found and named.

JSON is UTF-8 (RFC 8259, 8.1). A byte that is not makes a wrong letter out of a right one if it is replaced, so that it
is never replaced: the text is read in the encoding that somebody states, or left out and listed.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from prodex.errors import InputError

#: The character of a decoded text for bytes that the encoding does not have; encoded again, it is no UTF-8.
_MARK, _MARKED = "\udcff", b"\xff"
_ERRORS = "prodex.mark"

#: Bytes that are decoded at a time.
_STEP = 1 << 18

#: Python's codecs that escape or pack text, and read other things as letters than those that are there.
_ESCAPES = frozenset({"unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined"})


def _mark(error: UnicodeError) -> tuple[str | bytes, int]:
    if isinstance(error, UnicodeDecodeError):
        return _MARK, error.end
    if isinstance(error, UnicodeEncodeError):
        return _MARKED, error.end
    raise error


codecs.register_error(_ERRORS, _mark)


def checked_encoding(name: str | None) -> str | None:
    """Return the name of an encoding as Python has it.

    Raises
    ------
    InputError
        When there is none of this name.

    Examples
    --------
    >>> checked_encoding("Latin-1"), checked_encoding("windows-1252"), checked_encoding(None)
    ('iso8859-1', 'cp1252', None)
    """
    if name is None:
        return None
    found = _codec(name) if isinstance(name, str) else None
    if found is None:
        raise InputError(
            f"Python does not know the encoding {name!r:.60}. Give a name such as 'utf-8', 'cp1252' (Windows) or "
            "'latin-1', or leave it out for UTF-8."
        )
    return found


def not_utf8(text: bytes) -> str:
    """Return what is wrong with bytes that are no UTF-8; "" where they are.

    >>> not_utf8("Rösti".encode()), not_utf8("Rösti".encode("latin-1"))
    ('', 'not UTF-8: byte 0xf6 at 1')
    """
    if text.isascii() or _is_utf8(text):
        return ""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: byte {text[error.start]:#04x} at {error.start:,}"
    return ""


def _is_utf8(text: bytes) -> bool:
    """Whether bytes are UTF-8, as Arrow says without making a text of them: that takes Python 16 times as long."""
    offsets = pa.py_buffer(np.array([0, len(text)], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(text)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def in_utf8(body: bytes, charset: str | None) -> bytes:
    """Return a JSON body in UTF-8: from UTF-16 and UTF-32, and from the encoding that was stated if it is no UTF-8.

    What cannot be read in the stated encoding either is returned as it is.

    Parameters
    ----------
    body
        JSON.
    charset
        What a header says. Servers state ISO-8859-1 by default, so that bytes which are UTF-8 count more than it.

    Examples
    --------
    >>> letter = "\\u00e9"
    >>> in_utf8(letter.encode("cp1252"), "windows-1252") == letter.encode()
    True
    >>> in_utf8(letter.encode(), "iso-8859-1") == letter.encode()
    True
    """
    stated = _by_first_bytes(body[:4])
    if stated is None:
        # XML states its encoding inside, and would contradict itself.
        if charset is None or body.lstrip()[:1] == b"<" or not not_utf8(body):
            return body
        stated = _codec(charset)
    try:
        return body if stated is None else body.decode(stated).removeprefix("\ufeff").encode()
    except UnicodeError:
        return body


@contextmanager
def opened_as(file: io.BufferedReader, encoding: str | None) -> Iterator[BinaryIO]:
    """Give a file of JSON as UTF-8, whatever its encoding; bytes that are none become bytes that are no UTF-8.

    Parameters
    ----------
    file
        At its beginning.
    encoding
        As `checked_encoding` returned it, or None for UTF-8. What the first bytes show counts more: a byte order mark,
        or the zeros that each character of UTF-16 has.
    """
    head = file.peek(4)[:4]
    found = None if head.startswith(codecs.BOM_UTF8) else _by_first_bytes(head) or encoding
    # UTF-8 is passed on as it is: what is wrong with it, whoever reads the records says.
    if found in {None, "utf-8"}:
        yield cast("BinaryIO", file)
        return
    with io.BufferedReader(_Transcoded(file, str(found)), _STEP) as reader:
        yield cast("BinaryIO", reader)


class _Transcoded(io.RawIOBase):
    """A file in another encoding, as UTF-8."""

    def __init__(self, file: io.BufferedReader, encoding: str) -> None:
        self._left = memoryview(b"")
        self._file = file
        self._ended = False
        self._decoder = codecs.getincrementaldecoder(encoding)(errors=_ERRORS)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left and not self._ended:
            read = self._file.read(_STEP)
            self._ended = not read
            text = self._decoder.decode(read, final=self._ended)
            self._left = memoryview(text.encode("utf-8", _ERRORS))
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def _by_first_bytes(head: bytes) -> str | None:
    """Return UTF-16 or UTF-32 where the first bytes of JSON show it: by a mark, or by the zeros between them."""
    found = json.detect_encoding(head)
    return found if found.startswith(("utf-16", "utf-32")) else None


def _codec(name: str) -> str | None:
    try:
        found = codecs.lookup(name.strip()).name
        # Some of Python's codecs turn bytes into bytes, and have no text.
        "{}".encode(found)
    except (LookupError, ValueError):
        return None
    return None if found.replace("_", "-") in _ESCAPES else {"utf-8-sig": "utf-8"}.get(found, found)

"""Encodings: bytes become text where it is known in which encoding they are; else it is said what is wrong with them.

A byte that is replaced, or read in a wrong encoding, makes a wrong letter out of a right one. So no letter is replaced
or guessed:

- JSON is UTF-8 (RFC 8259, 8.1). What is not is read in the encoding that somebody states, or left out and listed.
- A file of settings is UTF-8, or refused.
- A file of a spreadsheet says nothing. UTF-8 and UTF-16 are recognized by themselves. Of all other encodings, nearly
  every file can be read in nearly every one, and only the letters are others: so the encoding is that in which its
  texts agree with texts that are known, such as those of a catalogue. Guessers of encodings answer without such proof:
  charset-normalizer 3.5 reads `Crème` of a short file from Windows as `Crčme`.

Sources: the code pages of Windows, of its console and of the Mac, as Python has them.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
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


class NotUtf8(ValueError):
    """A file is no UTF-8 text; the message says what it is, and shows nothing of it."""


def utf8_text(content: bytes) -> str:
    """Return the text of a file that a person wrote, without the byte order mark that some editors begin it with.

    Raises
    ------
    NotUtf8
        When it is in another encoding.

    Examples
    --------
    >>> utf8_text("name = 'shop'".encode("utf-8-sig"))
    "name = 'shop'"
    >>> utf8_text("name = 'shop'".encode("utf-16"))
    Traceback (most recent call last):
    ...
    prodex.encodings.NotUtf8: is UTF-16 text. Save it as UTF-8.
    """
    # Also without its mark: what UTF-16 makes of plain letters has a zero in every other place.
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:1_000]:
        raise NotUtf8("is UTF-16 text. Save it as UTF-8.")
    try:
        # Some programs write a mark before the one that is there.
        return content.decode("utf-8").lstrip("\ufeff")
    except UnicodeDecodeError:
        # The error has the content with it, which may be a secret.
        raise NotUtf8("is not UTF-8 text. Save it as UTF-8.") from None


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
    # Python reads these by a mark alone, and ends where a file has none; without it they are no JSON, which is listed.
    stated = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding or "", encoding)
    found = None if head.startswith(codecs.BOM_UTF8) else _by_first_bytes(head) or stated
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


#: Returns, for texts whose letters beyond ASCII were replaced by question marks (`skeleton`), the known texts that are
#: so written: a catalogue is asked for what a file has, and not read as a whole.
Known = Callable[[Collection[str]], Collection[str]]

#: What a file may begin with, the longest first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Bytes of a character, or of its half.
_WIDTHS = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}

#: What spreadsheets write where they do not write Unicode: on Windows, in its console, on the Mac, and elsewhere. The
#: more usual ones are first: a message proposes them.
ENCODINGS = (
    *("utf-8", "cp1252", "cp1250", "mac_roman", "cp850", "cp437"),
    *("cp1251", "cp1253", "cp1254", "cp1257", "cp852", "cp737", "cp775", "cp857", "cp866"),
    *("mac_latin2", "mac_greek", "mac_cyrillic", "mac_turkish"),
    *("iso8859_15", "iso8859_2", "cp932", "gb18030", "cp949"),
)
#: Cells that are compared with what is known.
_MOST_COMPARED = 20_000

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
#: Half of a character: so bytes are kept that are none in the encoding of a file.
HALF = re.compile("[\ud800-\udfff]")
#: Of a code page that has more letters, these are controls that no text has.
_CONTROLS = re.compile("[\x80-\x9f]")


def skeleton(text: str) -> str:
    """Return a text with a question mark for each letter beyond ASCII: so it looks in any encoding of one byte each.

    >>> skeleton("Crème")
    'Cr?me'
    """
    return _BEYOND_ASCII.sub("?", text)


def text_of_file(content: bytes) -> tuple[str, bool]:
    """Return the text of a file of a spreadsheet, and whether its letters are certain; if not, each is still a byte.

    What is no text has a zero in it. See `encodings_of` for letters that are bytes.

    >>> text_of_file("Crème".encode("utf-16")), text_of_file("Crème".encode("cp1252"))
    (('Crème', True), ('Cr\xe8me', False))
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _unicode(content[len(mark) :], encoding), True
    if b"\0" in content:
        # Without a mark: in the wrong order of its bytes, it has no line.
        found = [_unicode(content, encoding) for encoding in ("utf-16-le", "utf-16-be")]
        lines = [text for text in found if re.search("[\r\n]", text) and "\0" not in text]
        return (lines[0], True) if len(lines) == 1 else ("\0", True)
    try:
        return content.decode("utf-8"), True
    except UnicodeDecodeError:
        return content.decode("latin-1"), False


def _unicode(content: bytes, encoding: str) -> str:
    """Return a text in which what cannot be read is half of a character."""
    if encoding == "utf-8":
        return content.decode("utf-8", "surrogateescape")
    # A file that was cut ends within a character.
    rest = len(content) % _WIDTHS[encoding]
    whole = content[: len(content) - rest].decode(encoding, "surrogatepass")
    return whole + ("\udc80" if rest else "")


def encodings_of(texts: Iterable[str], known: Known, as_known: Callable[[str], str]) -> Sequence[str]:
    """Return the encodings in which as many texts of a file agree with what is known as in any other.

    Parameters
    ----------
    texts
        Texts with a character for each byte; the first ones are compared.
    known
        Knows texts that the file may have.
    as_known
        Returns a text of the file in the form in which it is known.

    Returns
    -------
    Sequence[str]
        Empty if no text agrees, or some agree in one encoding and others in another.

    Examples
    --------
    >>> encodings_of(["Cr\xe8me"], lambda asked: {"Crème"}, str)[:2]
    ['cp1252', 'cp1254']
    """
    some = list(islice(dict.fromkeys(one for one in texts if not one.isascii()), _MOST_COMPARED))
    readings = {
        encoding: {one: as_known(text) for one in some if (text := decoded(one, encoding)) is not None}
        for encoding in ENCODINGS
    }
    there = set(known({skeleton(text) for read in readings.values() for text in read.values()}))
    agree = {
        encoding: {one for one, text in read.items() if text in there} for encoding, read in readings.items()
    }
    every = set().union(*agree.values())
    return [encoding for encoding, found in agree.items() if every and found == every]


def decoded(stored: str, encoding: str) -> str | None:
    """Return what a text with a character for each byte is in an encoding; None if it is nothing."""
    try:
        text = stored.encode("latin-1").decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text

"""A picture's bytes made to fit a record: filled up to the recorded number, four of them chosen for the CRC-32.

A JPEG takes the filling as comments before its end marker, other formats take it behind their end.
"""

from __future__ import annotations

import zlib
from typing import Final

#: Bytes that choose the CRC-32.
_FREE: Final = 4
_END_OF_JPEG: Final = b"\xff\xd9"
_COMMENT: Final = b"\xff\xfe"
#: Bytes of a comment before what it holds, and in all at most: the marker, and a length of two bytes.
_HEAD, _LONGEST = 4, 2 + 0xFFFF


def fitted(content: bytes, format_: str, size: int | None, crc32: int | None) -> bytes | None:
    """Return a picture with so many bytes and this CRC-32, each as it comes where it is None.

    None is returned for a picture that has too many bytes already.
    """
    end = _END_OF_JPEG if format_ == "jpeg" else b""
    least = _HEAD + _FREE if format_ == "jpeg" else _FREE
    room = least if size is None else size - len(content)
    if room < least:
        return None
    before = content.removesuffix(end)
    before += _comments(room) if format_ == "jpeg" else bytes(room)
    if crc32 is None:
        return before + end
    before = before[:-_FREE]
    return before + four_bytes(before, end, crc32) + end


def _comments(length: int) -> bytes:
    """Return comments of so many bytes in all, the last of which holds the free ones at its end."""
    comments = b""
    while length:
        part = length if length <= _LONGEST else min(_LONGEST, length - _HEAD - _FREE)
        comments += _COMMENT + (part - 2).to_bytes(2, "big") + bytes(part - _HEAD)
        length -= part
    return comments


_ONES: Final = 0xFFFF_FFFF


# The table of the algorithm, byte by byte: zlib begins and ends by inverting the register, which is undone here.
_TABLE: Final = tuple(zlib.crc32(bytes([byte ^ 0xFF])) ^ 0xFF00_0000 for byte in range(256))
_ENTRY_BY_HIGHEST_BYTE: Final = {value >> 24: entry for entry, value in enumerate(_TABLE)}


def four_bytes(before: bytes, after: bytes, target: int) -> bytes:
    """Return the four bytes that, between two others, give the whole a CRC-32.

    Parameters
    ----------
    before
        What comes before them; of any length.
    after
        What comes after them; short, since it is processed byte by byte.
    target
        The CRC-32 of the whole.

    Examples
    --------
    >>> zlib.crc32(b"before" + four_bytes(b"before", b"after", 0x12345678) + b"after") == 0x12345678
    True
    """
    register = target ^ _ONES
    for byte in reversed(after):
        register = _undone(register, byte)
    # Undoing four zero bytes gives the register that zeros would need before them. Its difference from the register
    # that is there is the four bytes.
    for _ in range(4):
        register = _undone(register, 0)
    return (register ^ zlib.crc32(before) ^ _ONES).to_bytes(4, "little")


def _undone(register: int, byte: int) -> int:
    entry = _ENTRY_BY_HIGHEST_BYTE[register >> 24]
    return (register ^ _TABLE[entry]) << 8 & _ONES | entry ^ byte

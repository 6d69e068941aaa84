"""Bytes with the CRC-32 that one wants: four of them are free, and are found by running the checksum backwards.

CRC-32 takes one byte after the other into a register of 32 bits, by a table of which no two entries have the same
highest byte. So each step can be undone, and any register can be reached from any other by four bytes.
"""

from __future__ import annotations

import zlib
from typing import Final

_ONES: Final = 0xFFFF_FFFF


def _table() -> tuple[int, ...]:
    entries = []
    for entry in range(256):
        for _ in range(8):
            entry = entry >> 1 ^ 0xEDB8_8320 * (entry & 1)  # noqa: PLW2901 - a register that shifts
        entries.append(entry)
    return tuple(entries)


_TABLE: Final = _table()
_ENTRY_BY_HIGHEST_BYTE: Final = {value >> 24: entry for entry, value in enumerate(_TABLE)}


def four_bytes(before: bytes, after: bytes, target: int) -> bytes:
    """Return the four bytes that, between two others, give the whole a CRC-32.

    Parameters
    ----------
    before
        What comes before them; of any length.
    after
        What comes after them; short, since it is gone through byte by byte.
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
    # Going back over four zeros gives the register that has to be there, had zeros been taken in; the bytes are
    # what it differs by from the one that is there.
    for _ in range(4):
        register = _undone(register, 0)
    return (register ^ zlib.crc32(before) ^ _ONES).to_bytes(4, "little")


def _undone(register: int, byte: int) -> int:
    entry = _ENTRY_BY_HIGHEST_BYTE[register >> 24]
    return (register ^ _TABLE[entry]) << 8 & _ONES | entry ^ byte

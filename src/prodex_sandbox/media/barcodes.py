"""Barcodes as a row of modules, dark or light (GS1 General Specifications, sections 5.2 and 5.3)."""

from __future__ import annotations

from typing import Final

#: Digit -> its modules in set A; set C is the inverse of it, set B the inverse read backwards.
_A: Final = (
    "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011",
)  # fmt: skip
#: First digit of an EAN-13 -> the sets of the six digits after it.
_SETS: Final = (
    "AAAAAA", "AABABB", "AABBAB", "AABBBA", "ABAABB", "ABBAAB", "ABBBAA", "ABABAB", "ABABBA", "ABBABA",
)  # fmt: skip
#: Digit -> its five elements in ITF-14, wide where it is 1.
_WIDE: Final = (
    "00110", "10001", "01001", "11000", "00101", "10100", "01100", "00011", "10010", "01010",
)  # fmt: skip
_INVERTED: Final = str.maketrans("01", "10")


def modules_of(gtin: str) -> tuple[str, str]:
    """Return the barcode of a GTIN of 14 digits, and what is printed below it.

    A GTIN-8 is an EAN-8, a GTIN-12 or GTIN-13 an EAN-13 (a UPC-A is one with a leading zero), any other an ITF-14.
    For what is no GTIN both are empty.

    Examples
    --------
    >>> modules_of("00000096385074")[0][:18]
    '101000101101011110'
    >>> [len(modules_of(gtin)[0]) for gtin in ("00000096385074", "03036811359935", "13663836037981", "x")]
    [67, 95, 135, 0]
    """
    if len(gtin) != 14 or not (gtin.isascii() and gtin.isdigit()):
        return "", ""
    if gtin.startswith("0"):
        first, left, right, sets = gtin[1], gtin[2:8], gtin[8:], _SETS[int(gtin[1])]
        if gtin.startswith("000000") and gtin != "0" * 14:
            first, left, right, sets = "", gtin[6:10], gtin[10:], "AAAA"
        bars = f"101{_coded(left, sets)}01010{_coded(right, 'C' * len(right))}101"
        return bars, f"{first} {left} {right}".strip()
    return _interleaved(gtin), f"{gtin[0]} {gtin[1:3]} {gtin[3:8]} {gtin[8:13]} {gtin[13]}"


def _coded(digits: str, sets: str) -> str:
    modules = ""
    for digit, set_ in zip(digits, sets, strict=True):
        in_a = _A[int(digit)]
        in_c = in_a.translate(_INVERTED)
        modules += {"A": in_a, "B": in_c[::-1], "C": in_c}[set_]
    return modules


def _interleaved(digits: str) -> str:
    """Return pairs of digits, the first in the bars and the second in the spaces; wide is three modules."""
    modules = "1010"
    for bar, space in zip(digits[::2], digits[1::2], strict=True):
        for dark, light in zip(_WIDE[int(bar)], _WIDE[int(space)], strict=True):
            modules += "1" * (1 + 2 * int(dark)) + "0" * (1 + 2 * int(light))
    return modules + "11101"

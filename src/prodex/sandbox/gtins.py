"""GTINs as the sandbox takes them."""

from __future__ import annotations

from typing import Final

_LENGTHS: Final = (8, 12, 13, 14)


def normal_gtin(text: str) -> str:
    """Return a GTIN as 14 digits; raise ValueError when it is none.

    Examples
    --------
    >>> normal_gtin("3036811359935")
    '03036811359935'
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"gtin {text[:40]!r} is not made of digits")
    if len(text) not in _LENGTHS:
        raise ValueError(f"gtin {text[:40]!r} has {len(text)} digits; a GTIN has 8, 12, 13 or 14")
    gtin = text.zfill(14)
    check_digit = -sum(int(digit) * (3, 1)[place % 2] for place, digit in enumerate(gtin[:13])) % 10
    if int(gtin[13]) != check_digit:
        raise ValueError(f"gtin {text!r} ends in {gtin[13]}; its check digit is {check_digit}")
    return gtin

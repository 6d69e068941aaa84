"""GTINs: their normal form of 14 digits and their check digit (GS1 General Specifications, 7.9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from prodex.errors import InputError

#: A GTIN is written with so many digits; shorter ones are the same number with zeros before it.
LENGTHS = (8, 12, 13, 14)

_WEIGHTS = np.array([3, 1] * 7, np.int64)


def normal_form(value: object) -> str:
    """Return a GTIN as 14 digits.

    Parameters
    ----------
    value
        Text of 8, 12, 13 or 14 digits, or the whole number that a spreadsheet makes of it.

    Raises
    ------
    InputError
        When it is no GTIN; the message says what is wrong with it.

    Examples
    --------
    >>> normal_form("3036811359935"), normal_form(3036811359935)
    ('03036811359935', '03036811359935')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    text = f"{value:014d}" if number else value.strip() if isinstance(value, str) else ""
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"{value!r} is no GTIN. Give it as text of 14 digits.")
    if len(text) not in LENGTHS:
        raise InputError(f"{text!r} has {len(text)} digits; a GTIN has 8, 12, 13 or 14.")
    text = text.zfill(14)
    if not int(text):
        raise InputError(f"{text!r} is only zeros, which is no GTIN.")
    if text[-1] != (right := check_digit(text[:-1])):
        raise InputError(f"{text!r} ends with the check digit {text[-1]}, and {right} would be right.")
    return text


def check_digit(digits: str) -> str:
    """Return the check digit that belongs behind the other digits of a GTIN.

    >>> check_digit("0303681135993")
    '5'
    """
    weighted = (int(digit) * (3, 1)[place % 2] for place, digit in enumerate(reversed(digits)))
    return str(-sum(weighted) % 10)


def are_valid(gtins: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Say for each text whether it is a GTIN in its normal form, for millions at once.

    >>> are_valid(["03036811359935", "03036811359936", "3036811359935", "00000000000000"]).tolist()
    [True, False, False, False]
    """
    valid = np.fromiter(map(len, gtins), np.int64, len(gtins)) == 14
    texts = np.array([gtin[:14] for gtin in gtins], "U14")  # one endless text must not widen all of them
    signs = texts[:, None].view(np.uint32).reshape(len(texts), 14).astype(np.int64) - ord("0")
    valid &= ((signs >= 0) & (signs <= 9)).all(axis=1) & signs.any(axis=1)
    return np.asarray(valid & (signs @ _WEIGHTS % 10 == 0))

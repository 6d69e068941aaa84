"""Numbers as people write them: digits, one sign, and the separators of some language. There is one grammar for all.

A number is certain, or it is refused with what to write instead: `1,234` may be one and a bit or more than a thousand,
`5-6` is two numbers, `12E3` and `inf` are spellings of programs. Nothing here takes longer than the text is long.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from prodex.errors import InputError

#: Digits that a number keeps on its way through other programs (IEEE 754 double precision).
MOST_DIGITS = 15
#: Characters of a text that may be a number: digits, separators and a sign, with some room.
_LONGEST = 60

#: Spaces that group digits: plain, no-break, figure, thin, narrow no-break. A line end or a tab separates two numbers.
SPACES = " \u00a0\u2007\u2009\u202f"
_APOSTROPHES = "'\u2019"
_SIGNS = "-+\u2212"
#: Input methods of East Asia write the same characters wider.
_WIDE = str.maketrans(
    {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | dict(zip("，．－＋　／：", ",.-+ /:", strict=True))
)
#: All spaces and apostrophes that group as one of each, so that a number may not mix them.
_ALIKE = str.maketrans(dict.fromkeys(SPACES, " ") | dict.fromkeys(_APOSTROPHES, "'") | {"\u2212": "-"})

_BODY = rf"[0-9.,{SPACES}{_APOSTROPHES}]*[0-9]"
_NUMBER = re.compile(rf"([{_SIGNS}]?)({_BODY})")
_AMOUNT = re.compile(rf"([{_SIGNS}]?{_BODY})[{SPACES}]*([^0-9.,{SPACES}].*)", re.DOTALL)
#: A second number; digits behind a letter belong to a unit: m2, H87.
_SECOND = re.compile("[^A-Za-z0-9][0-9]")
_STORED = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?")

_GROUPED = rf"[0-9]{{1,3}}(?:[{SPACES}{_APOSTROPHES}][0-9]{{3}}(?![0-9]))+"
#: A number as it may be written inside a sentence, for patterns around it; `written_number` says whether it is certain.
INSIDE = rf"(?<![0-9])(?:(?<!\S)[.,])?(?:{_GROUPED}|[0-9]+)(?:[.,][0-9]+)*"
_LESS = re.compile(rf"\s*(?:<|≤|&lt;)\s*({INSIDE})\s*(?:g|mg|kJ|kcal)?\s*")
_ROUNDED = re.compile("[-+]?[0-9]+(?:[.,][0-9]+)?[eE][-+]?[0-9]+")

#: What people write that is not one exact number, and what to say of it: of a number, and of an amount with its unit.
_INEXACT = (
    (
        r"[~≈<>≤≥±]|\b(?:ca|circa|env|about|approx|min|max)\b",
        "{text} is not exact. Write the number itself.",
        "{text} is not exact. Write the number itself, and its unit.",
    ),
    (
        r"[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒]|[0-9]\s*[/⁄]\s*[0-9]",
        "{text} is a fraction. Write it with decimals, such as 0.5.",
        "{text} is a fraction. Write it with decimals, such as 0.5, and its unit.",
    ),
    (
        r"[0-9][^0-9]*[x×*][^0-9]*[0-9]",
        "{text} is a multiplication. Write its result.",
        "{text} is a multiplication. Write its result, and its unit.",
    ),
    (
        r"[0-9]\s*(?:[-‐-―−]|\.\.\.|…)\s*[0-9]",
        "{text} is a range. Write one number.",
        "{text} is a range. Write one number, and its unit.",
    ),
    (
        r"[0-9]e[-+−]?[0-9]",
        "{text} has an exponent. Write all digits.",
        "{text} has an exponent. Write all digits, and its unit.",
    ),
    (
        r"\b(?:s?nan[0-9]*|inf(?:inity)?)\b|∞",
        "{text} is not an amount. Write digits, such as 12.5.",
        "{text} is not an amount. Write digits, such as 12.5, and its unit.",
    ),
)
#: What to say of other digits.
_OTHER_DIGITS = (
    "{text} has other digits than 0 to 9. Write these.",
    "{text} has other digits than 0 to 9. Write these, and its unit.",
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), said) for pattern, *said in _INEXACT)

Mark = Literal[".", ","]


def written_number(text: str, decimal: Mark | None = None) -> Decimal:
    """Return the number that a text is certain to mean.

    Parameters
    ----------
    text
        As typed; spaces around it do not matter.
    decimal
        The decimal mark, where the language of the text is known. It decides what could be read in two ways, and
        nothing else: `0.5` is a half in every language.

    Raises
    ------
    InputError
        When it is not a number, or may be two; the message says what to write.

    Examples
    --------
    >>> [str(written_number(one)) for one in ("0,5", "1 234,5", "1.234.567", "-007", ".33")]
    ['0.5', '1234.5', '1234567', '-7', '0.33']
    >>> written_number("1,234", decimal=","), written_number("1,234", decimal=".")
    (Decimal('1.234'), Decimal('1234'))
    >>> written_number("1,234")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: '1,234' may be 1.234 or 1234. Write 1234 without a mark, or 1.2340 with one more digit.
    """
    sign, whole, fraction = _parts(text, decimal)
    digits = (whole + fraction).lstrip("0")
    if len(digits) > MOST_DIGITS:
        raise InputError.saying(
            "{text} has {digits:d} digits; a number has at most {most:d}.",
            text=f"{text!r:.60}",
            digits=len(digits),
            most=MOST_DIGITS,
        )
    return _decimal(sign, whole, fraction)


def written_whole(text: str, decimal: Mark | None = None) -> int:
    """Return the whole number that a text is certain to mean, with all its digits.

    Parameters
    ----------
    text, decimal
        As for `written_number`.

    Raises
    ------
    InputError
        When it is no whole number, or may be two; the message says what to write.

    Examples
    --------
    >>> written_whole("1 234"), written_whole("-007"), written_whole("12.0")
    (1234, -7, 12)
    """
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST:  # nearly every text is
        return int(text)
    sign, whole, fraction = _parts(text, decimal)
    if fraction.strip("0"):
        raise InputError(f"{text!r:.60} is not a whole number. Write digits alone, such as 12.")
    return int(f"{sign}{whole or '0'}")


def written_share(text: str) -> Decimal:
    """Return the number of a share: its mark is decimal, and a sign of per cent behind it changes nothing.

    Raises
    ------
    InputError
        When it is no number.

    Examples
    --------
    >>> written_share("60,5 %"), written_share("0.125")
    (Decimal('60.5'), Decimal('0.125'))
    """
    return written_number(text.strip().removesuffix("%"), "," if "," in text else ".")


def less_than(text: str) -> Decimal | None:
    """Return the number of a small amount of which only that is known: what it is less than; None of any other text.

    >>> less_than("<0,5"), less_than("&lt; 0.1 g"), less_than("0.5"), less_than("< 1,234")
    (Decimal('0.5'), Decimal('0.1'), None, None)
    """
    found = _LESS.fullmatch(text)
    try:
        return None if found is None else written_number(found[1])
    except InputError:
        return None


def is_rounded(text: str) -> bool:
    """Whether a program has written a number with an exponent, so that nobody knows its digits.

    >>> is_rounded("3.99994E+12"), is_rounded("3999944936650")
    (True, False)
    """
    return _ROUNDED.fullmatch(text.strip()) is not None


def stored_number(text: str) -> Decimal:
    """Return a number that a program spelled: a point, no grouping, and an exponent where it saw fit.

    It is read with the 15 digits that spreadsheets show.

    Raises
    ------
    InputError
        When it is not such a number, or none that an amount can have.

    Examples
    --------
    >>> stored_number("1.234"), stored_number("1.2E-05"), stored_number("0.30000000000000004")
    (Decimal('1.234'), Decimal('0.000012'), Decimal('0.3'))
    """
    found = _STORED.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if found is None or abs(int(found[4] or 0)) > MOST_DIGITS:
        raise _no_number(text)
    value = Decimal(f"{float(found[0]):.{MOST_DIGITS}g}")
    return _decimal("", "0", "") if not value else Decimal(format(value.normalize(), "f"))


def amount_and_unit(text: str) -> tuple[str, str]:
    """Return the number and the unit of an amount, each as typed.

    Raises
    ------
    InputError
        When a text does not begin with a number, has no unit, or more than one number.

    Examples
    --------
    >>> amount_and_unit("0,5 kg"), amount_and_unit("1 234 m²"), amount_and_unit("-18°C")
    (('0,5', 'kg'), ('1 234', 'm²'), ('-18', '°C'))
    """
    typed = narrow(text.strip())
    found = _AMOUNT.fullmatch(typed)
    if (inexact := _inexact(typed, text, has_unit=True)) is not None:
        raise inexact
    if found is None:
        raise InputError.saying(
            "{text} is not a number with its unit. Write both, such as 500 g.", text=f"{text!r:.60}"
        )
    if _SECOND.search(found[2]):
        raise InputError.saying(
            "{text} has more than one number. Write one amount, such as 500 g.", text=f"{text!r:.60}"
        )
    return found[1], found[2].strip()


def spelled_number(value: float) -> str:
    """Return a number as people write it and spreadsheets show it: 15 digits, no exponent.

    >>> spelled_number(0.1 + 0.2), spelled_number(4006381333931.0), spelled_number(1e-7), spelled_number(12)
    ('0.3', '4006381333931', '0.0000001', '12')
    """
    if isinstance(value, int) and -(10**15) < value < 10**15:
        return str(value)
    return format(Decimal(f"{value:.15g}").normalize(), "f")


def typed_number(value: float) -> str:
    """Return a number as somebody can type it again: with one zero more, where its mark could group digits.

    >>> typed_number(0.125), typed_number(1.234), typed_number(1234.5)
    ('0.125', '1.2340', '1234.5')
    """
    spelled = spelled_number(value)
    groups = spelled.removeprefix("-").split(".")
    return f"{spelled}0" if len(groups) == 2 and _is_grouped(groups) else spelled


def as_json(value: Decimal) -> int | float:
    """Return a number as JSON has it: whole numbers without decimals.

    >>> as_json(Decimal("12.0")), as_json(Decimal("-0")), as_json(Decimal("0.1"))
    (12, 0, 0.1)
    """
    return int(value) if value == value.to_integral_value() else float(value)


def _parts(text: str, decimal: Mark | None) -> tuple[str, str, str]:
    """Return the sign, as Python writes it, and the digits before and behind the decimal mark."""
    typed = narrow(text.strip())
    found = _NUMBER.fullmatch(typed) if len(typed) <= _LONGEST else None
    if found is None:
        raise _no_number(text)
    sign = "-" if found[1] in {"-", "\u2212"} else ""
    return sign, *_digit_parts(sign, found[2].translate(_ALIKE), decimal, text)


def narrow(text: str) -> str:
    """Return a text with the wide characters of East Asian input methods as those that numbers and dates have.

    >>> narrow("\uff15\uff10\uff10"), narrow("12\uff0e5")
    ('500', '12.5')
    """
    return text.translate(_WIDE)


def has_other_digits(text: str) -> bool:
    """Whether a text has digits that are no 0 to 9, such as those of Arabic.

    >>> has_other_digits("\u0665"), has_other_digits("\uff15"), has_other_digits("5")
    (True, False, False)
    """
    return any(sign.isdecimal() and not sign.isascii() for sign in narrow(text))


def _digit_parts(sign: str, body: str, decimal: Mark | None, text: str) -> tuple[str, str]:
    """Return the digits before and behind the decimal mark."""
    groups, marks = re.split("[ '.,]", body), re.findall("[ '.,]", body)
    if not marks:
        return body, ""
    *before, last = marks
    is_decimal = last in ".,"
    if before and last in before:
        is_decimal = False  # 1.234.567: the mark repeats, so it groups
    elif not before and is_decimal:
        whole, rest = groups
        if not _is_grouped(groups) or decimal == last:
            return whole or "0", rest
        if decimal is None:
            small, large = f"{sign}{whole}.{rest}", f"{sign}{whole}{rest}"
            raise InputError.saying(
                "{text} may be {small} or {large}. Write {large} without a mark, or {longer} with one more digit.",
                text=f"{text!r:.60}",
                small=small,
                large=large,
                longer=f"{small}0",
            )
        is_decimal = False
    inner = groups[:-1] if is_decimal else groups
    if len(set(before if is_decimal else marks)) > 1 or not _is_grouped(inner):
        raise _inexact(text) or InputError.saying(
            "{text} is not one number. Write digits, such as 12.5.", text=f"{text!r:.60}"
        )
    return "".join(inner), groups[-1] if is_decimal else ""


def _is_grouped(groups: Sequence[str]) -> bool:
    """Whether digits are grouped as numbers are: up to three that begin with no zero, then three by three."""
    first, *others = groups
    return 1 <= len(first) <= 3 and first[0] != "0" and all(len(one) == 3 for one in others)


def _decimal(sign: str, whole: str, fraction: str) -> Decimal:
    value = Decimal(f"{sign}{whole or '0'}.{fraction or '0'}")
    return (
        Decimal(int(value))
        if value == value.to_integral_value()
        else Decimal(f"{sign}{whole.lstrip('0') or '0'}.{fraction}")
    )


def _no_number(text: str) -> InputError:
    if len(text) > _LONGEST:
        return InputError(f"{text[:40]!r}... has {len(text):,} characters, which is not a number.")
    return _inexact(text) or InputError.saying(
        "{text} is not a number. Write digits, such as 12.5.", text=f"{text!r:.60}"
    )


def _inexact(typed: str, shown: str = "", *, has_unit: bool = False) -> InputError | None:
    """Return what is wrong with a text that is no exact number; None of any other."""
    if len(typed) > _LONGEST:
        return None
    found = (said for pattern, said in _PATTERNS if pattern.search(typed))
    why = _OTHER_DIGITS if has_other_digits(typed) else next(found, None)
    return None if why is None else InputError.saying(why[has_unit], text=f"{shown or typed!r:.60}")

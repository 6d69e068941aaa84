"""GTINs: their normal form of 14 digits, their check digit and their prefix (GS1 General Specifications, 7.9).

Importing prodex gives every pandas Series of texts an accessor: `series.gtin.is_valid`, `.normalized`, `.check_digit`,
`.prefix` and `.prefix_name`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import is_missing
from prodex.errors import InputError
from prodex.written_numbers import is_rounded

#: A GTIN is written with so many digits; shorter ones are the same number with zeros before it.
LENGTHS = (8, 12, 13, 14)

#: Fewer digits are too few to say that they are a GTIN-8 without its zeros.
_FEWEST_DIGITS = 5
_WEIGHTS = np.array([3, 1] * 7, np.int64)


#: Marks without a width, which are copied together with a text: they turn the direction of writing, join words, or
#: begin a file.
_MARKS = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_SPACES = "".join(filter(str.isspace, map(chr, range(0x3001))))
#: What may surround a GTIN that was copied: blanks of every kind, and the quotes, equals sign and apostrophe with which
#: spreadsheets mark a number as text.
_AROUND = _SPACES + "\u200b\ufeff\"'=\u2018\u2019\u201c\u201d`\u00b4"

#: A digit, also as wide as input methods of East Asia write it.
_DIGIT = "[0-9\uff10-\uff19]"
#: The sign between groups of digits as they are printed: one dash, or one space. A line break or a tab, which ends a
#: cell, separates two GTINs.
_SPACE = f"[{re.escape(''.join(sign for sign in _SPACES if unicodedata.category(sign) == 'Zs'))}]"
_BETWEEN = f"(?:[\u2010-\u2015\u2212\uff0d-]|{_SPACE})"
_EXPONENTS = "|".join(rf"[0-9]{{{digits}}}[eE]\+?0?{digits}" for digits in (7, 11, 12, 13))
#: Texts that are certain to be one number.
_NUMBERS = (
    # Digits, or a whole number with its decimals.
    rf"{_DIGIT}(?:[{_MARKS}]*{_DIGIT})*(?:\.0+)?",
    # 12 to 14 digits in groups: two GTINs with a space between them have more. Those of a GTIN-8 are of four digits.
    rf"{_DIGIT}(?:[{_MARKS}]*{_BETWEEN}?[{_MARKS}]*{_DIGIT}){{11,13}}",
    rf"{_DIGIT}{{4}}{_SPACE}{_DIGIT}{{4}}",
    # So many digits as spreadsheets group them.
    *(
        rf"(?:[0-9]{{3}}(?:{mark}[0-9]{{3}}){{3}}|[0-9]{{1,2}}(?:{mark}[0-9]{{3}}){{4}})"
        for mark in (r"\.", ",", "'")
    ),
    # All digits of a number before its exponent.
    rf"[0-9][.,](?:{_EXPONENTS})",
)
_NUMBER = rf"[{re.escape(_AROUND)}{_MARKS}]*(?:{'|'.join(_NUMBERS)})[{re.escape(_AROUND)}{_MARKS}]*"
#: Behind the digits of such a text, and everything else between and around them.
_TAIL, _NO_DIGIT = r"\.0+[^0-9]*$|[eE].*$", f"[^{_DIGIT[1:-1]}]"
_IS_NUMBER, _IS_MARK = re.compile(_NUMBER), re.compile(f"[{_MARKS}]")

#: How programs show a date, and a number that is no whole one.
_DATE = re.compile(r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}(?:[T ].*)?")
_FRACTION = re.compile(r"[0-9]+[.,][0-9]+")

#: Numbers from here on have more digits than a GTIN.
_TOO_LARGE = 10**14


def as_text(value: object) -> str | None:
    """Return what is given as a GTIN as text: digits without blanks and decimals; None for an empty cell.

    All of prodex reads GTINs in this way before it checks whether they are valid.

    Parameters
    ----------
    value
        Text, the number that a spreadsheet or pandas makes of it, or a sign of no value.

    Raises
    ------
    InputError
        When it can be no GTIN: a truth value, a fraction, a number below zero or of more than 14 digits.

    Examples
    --------
    >>> as_text(" 3036811359935 "), as_text(3036811359935.0), as_text("3036811359935.0"), as_text(float("nan"))
    ('3036811359935', '3036811359935', '3036811359935', None)
    >>> as_text("3-036811-359935"), as_text("3.036811359935E+12"), as_text("3.0368E+12")
    ('3036811359935', '3036811359935', '3.0368E+12')
    >>> as_text("3 036811 359935"), as_text("3036811359935 8431701027348")
    ('3036811359935', '3036811359935 8431701027348')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if is_missing(value):
        return None
    if isinstance(value, str):
        return _digits_in(value) or value.strip(_AROUND) or None
    if (
        not isinstance(value, int | float | Decimal)
        or isinstance(value, bool)
        or value in {math.inf, -math.inf}
        or value != value // 1
        or value < 0
    ):
        raise InputError(f"{value!r:.60} is not a GTIN. Give it as text of 14 digits.")
    if value >= _TOO_LARGE:
        raise InputError("A number of more than 14 digits is not a GTIN. Give it as text of 14 digits.")
    return str(int(value))


def _digits_in(text: str) -> str | None:
    """Return the digits of a text that is certain to be one number, however they are grouped and marked."""
    if text.isascii() and text.isdigit():  # nearly every text is
        return text
    if not _IS_NUMBER.fullmatch(text):
        return None
    return unicodedata.normalize("NFKC", re.sub(_NO_DIGIT, "", re.sub(_TAIL, "", text)))


def comparable(value: object) -> str | None:
    """Return a GTIN in the form in which GTINs are compared: 14 digits with leading zeros; other text as it is.

    >>> comparable("3036811359935") == comparable(3036811359935) == comparable(" 03036811359935 ")
    True
    >>> comparable("no GTIN"), comparable("")
    ('no GTIN', None)
    """
    text = as_text(value)
    return text.zfill(14) if text is not None and text.isascii() and text.isdigit() else text


def gtin_key(value: Any) -> str:
    """Return a GTIN of a reply as it compares with sent ones: 14 digits, since services drop leading zeros.

    >>> gtin_key("3036811359935"), gtin_key(None), gtin_key(["3036811359935"])
    ('03036811359935', '', "['3036811359935']")
    """
    try:
        return comparable(value) or ""
    except InputError:
        return str(value)


def comparable_column(texts: Any) -> Any:
    """Return the same for a column of texts, which may be an Arrow array or an expression of one.

    >>> comparable_column(pa.array(["3036811359935", " 4012.0", "no GTIN"])).to_pylist()
    ['03036811359935', '00000000004012', 'no GTIN']
    """
    is_number, digits = _numbers_in(texts)
    padded = pc.utf8_lpad(digits, width=14, padding="0")
    return pc.if_else(is_number, padded, pc.utf8_trim(texts, _AROUND))


def listed_in(text: str) -> list[str]:
    """Return what a text lists between white space, as it was typed; on a line alone, digits in groups are one GTIN.

    >>> listed_in("3 036811 359935\\n3036811359935 08431701027348\\tB-17\\n")
    ['3 036811 359935', '3036811359935', '08431701027348', 'B-17']
    """
    cells = re.split(r"[\t\r\n\v\f]+", text)
    return [one for cell in cells for one in ([cell] if _digits_in(cell) else cell.split())]


def has_digits(text: str) -> bool:
    """Whether a text is written as a GTIN can be: in up to 14 digits."""
    return len(text) <= 14 and text.isascii() and text.isdigit()


def normal_form(value: object) -> str:
    """Return a GTIN as 14 digits.

    Parameters
    ----------
    value
        Text of 8, 12, 13 or 14 digits, also in groups, or the whole number that a spreadsheet makes of it.

    Raises
    ------
    InputError
        When it is no GTIN; the message says what is wrong with it.

    Examples
    --------
    >>> normal_form("3036811359935"), normal_form(3036811359935)
    ('03036811359935', '03036811359935')
    """
    text = as_text(value) or ""
    if not isinstance(value, str):  # a number has lost its zeros, however many there were
        text = text and text.zfill(14)
    if not (text.isascii() and text.isdigit()):
        raise no_gtin(text, f"{value!r:.60}")
    if len(text) not in LENGTHS:
        raise InputError.saying(
            "{text} has {digits:d} digits; a GTIN has 8, 12, 13 or 14.", text=repr(text), digits=len(text)
        )
    text = text.zfill(14)
    if not int(text):
        raise InputError.saying("{text} is only zeros, which is not a GTIN.", text=repr(text))
    if text[-1] != (right := check_digit(text[:-1])):
        if (expanded := from_upc_e(text)) is not None:
            raise InputError(
                f"{text!r} is a UPC-E, which leaves out zeros. Give the GTIN that it stands for: {expanded!r}."
            )
        raise InputError.saying(
            "{text} ends with the check digit {digit}, and {right} would be right.",
            text=repr(text),
            digit=text[-1],
            right=right,
        )
    return text


def no_gtin(text: str, shown: str) -> InputError:
    """Return an error that says what a text is that is no GTIN, and what to do.

    >>> print(no_gtin("2026-11-23", "'2026-11-23'"))
    '2026-11-23' is a date. Format the column as text, and write the GTIN.
    """
    plain = _IS_MARK.sub("", text).strip(_AROUND)
    if is_rounded(plain):
        return InputError.saying(
            "{text} is a GTIN in scientific notation, which has lost its last digits. Format the column as text, and "
            "write all digits.",
            text=shown,
        )
    if _DATE.fullmatch(plain):
        return InputError.saying(
            "{text} is a date. Format the column as text, and write the GTIN.", text=shown
        )
    if _FRACTION.fullmatch(plain):
        return InputError.saying(
            "{text} is a number with decimals. Format the column as text, and write the GTIN.", text=shown
        )
    return InputError.saying("{text} is not a GTIN. Give it as text of 14 digits.", text=shown)


def check_digit(digits: str) -> str:
    """Return the check digit that belongs behind the other digits of a GTIN.

    >>> check_digit("0303681135993")
    '5'
    """
    # Weights count from the right, so that a GTIN of any length and its form of 14 digits have the same check digit.
    weighted = (int(digit) * (3, 1)[place % 2] for place, digit in enumerate(reversed(digits)))
    return str(-sum(weighted) % 10)


def are_valid(gtins: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Say for each text whether it is a GTIN in its normal form, for millions at once.

    >>> are_valid(["03036811359935", "03036811359936", "3036811359935", "00000000000000"]).tolist()
    [True, False, False, False]
    """
    valid = np.fromiter(map(len, gtins), np.int64, len(gtins)) == 14
    texts = np.array([gtin[:14] for gtin in gtins], "U14")  # numpy makes every text as wide as the longest
    signs = texts[:, None].view(np.uint32).reshape(len(texts), 14).astype(np.int64) - ord("0")
    valid &= ((signs >= 0) & (signs <= 9)).all(axis=1) & signs.any(axis=1)
    return np.asarray(valid & (signs @ _WEIGHTS % 10 == 0))


def from_upc_e(gtin: str) -> str | None:
    """Return the 14 digits of the GTIN-12 that a UPC-E shortens, or None where it is no UPC-E.

    A UPC-E leaves out zeros of a GTIN-12 that begins with 0 or 1, and has its check digit. Eight digits that begin with
    three zeros are a number that a shop gives itself (a local assigned code), as 2220 is.

    Parameters
    ----------
    gtin
        Eight digits, also with six zeros before them.

    Examples
    --------
    >>> from_upc_e("06200017"), from_upc_e("00000006200017"), from_upc_e("06200018"), from_upc_e("00000000002220")
    ('00062100000007', '00062100000007', None, None)
    """
    if len(gtin) == 14 and gtin.startswith("0" * 6):
        gtin = gtin[6:]
    if (
        len(gtin) != 8
        or not (gtin.isascii() and gtin.isdigit())
        or gtin[0] not in "01"
        or gtin.startswith("000")
    ):
        return None
    first, a, b, c, d, e, last, _ = list(gtin)
    # Each number is shortened in one way: what a case before can shorten is not of the next.
    match last:
        case "0" | "1" | "2":
            between = f"{a}{b}{last}0000{c}{d}{e}"
        case "3" if c not in "012":
            between = f"{a}{b}{c}00000{d}{e}"
        case "4" if d != "0":
            between = f"{a}{b}{c}{d}00000{e}"
        case _ if last not in "34" and e != "0":
            between = f"{a}{b}{c}{d}{e}0000{last}"
        case _:
            return None
    expanded = f"00{first}{between}{gtin[7]}"
    return expanded if int(expanded) and expanded[-1] == check_digit(expanded[:-1]) else None


def with_all_digits(text: str) -> tuple[str, str] | None:
    """Return what fewer than 14 digits are, and the 14 digits that stand for it; None where nobody can say.

    A spreadsheet takes the zeros from a GTIN; an ISBN of ten digits, whose check digit is another, became one of 13.

    >>> with_all_digits("3036811359935"), with_all_digits("11747"), with_all_digits("9780306406157")
    (('GTIN-13', '03036811359935'), ('GTIN-8', '00000000011747'), ('ISBN', '09780306406157'))
    >>> with_all_digits("0306406152"), with_all_digits("2220"), with_all_digits("3036811359936")
    (('ISBN', '09780306406157'), None, None)
    """
    if not (text.isascii() and text.isdigit() and _FEWEST_DIGITS <= len(text) < 14):
        return None
    full = text.zfill(14)
    book = f"0978{text[:-1]}" if len(text) == 10 and _is_old_isbn(text) else ""
    if not are_valid([full])[0]:
        return ("ISBN", book + check_digit(book)) if book else None
    # Ten digits that may be either are neither.
    name = (
        "ISBN"
        if full.startswith(("0978", "0979"))
        else f"GTIN-{min(size for size in LENGTHS if size >= len(text))}"
    )
    return None if book else (name, full)


def _is_old_isbn(digits: str) -> bool:
    """Say whether ten digits are an ISBN as it was until 2006: weighted by 10 to 1 they are a multiple of 11."""
    return sum(int(digit) * weight for digit, weight in zip(digits, range(10, 0, -1), strict=True)) % 11 == 0


def are_upc_e(gtins: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Say for each text of 14 digits whether it is a UPC-E whose check digit is right, and that of a GTIN-8 is not.

    >>> are_upc_e(["00000006200017", "00000000011747", "03036811359935"]).tolist()
    [True, False, False]
    """
    found = np.array([gtin.startswith(("0000000", "0000001")) and len(gtin) == 14 for gtin in gtins], bool)
    rows = np.flatnonzero(found)
    short = [gtins[row] for row in rows.tolist()]
    expanded = np.array([from_upc_e(gtin) is not None for gtin in short], bool)
    found[rows] = expanded & ~are_valid(short)
    return found


#: Ranges of GS1 prefixes that belong to no organisation, by their first three digits (of the 13-digit number).
PREFIX_RANGES = (
    (20, 29, "restricted circulation"),
    (40, 49, "restricted circulation within a company"),
    (50, 59, "reserved for coupons"),
    (200, 299, "restricted circulation"),
    (951, 951, "general manager numbers"),
    (952, 952, "examples and demonstrations"),
    (960, 969, "GTIN-8"),
    (977, 977, "serial publications (ISSN)"),
    (978, 979, "books (ISBN)"),
    (980, 980, "refund receipts"),
    (981, 984, "coupons in a common currency"),
    (990, 999, "coupons"),
)


#: What begins so is printed music; the rest of 979 are books (ISO 10957; GS1 General Specifications, section 1.4).
_MUSIC, _MUSIC_NAME = 9790, "printed music (ISMN)"


@pd.api.extensions.register_series_accessor("gtin")
class GtinAccessor:
    """GTINs in a column, a million at once.

    Numbers as a spreadsheet makes them are read as well as text of 8, 12, 13 or 14 digits.

    Examples
    --------
    >>> gtins = pd.Series(["3036811359935", "03036811359936", "2012345678903", None])
    >>> gtins.gtin.is_valid.tolist()
    [True, False, True, False]
    >>> gtins.gtin.normalized.tolist()[:2], gtins.gtin.check_digit.tolist()[:2]
    (['03036811359935', '03036811359936'], ['5', '5'])
    >>> gtins.gtin.prefix.tolist()[:3], gtins.gtin.prefix_name.tolist()[2]
    (['303', '303', '201'], 'restricted circulation')
    """

    def __new__(cls, series: pd.Series) -> Any:
        """Return the value of `row.gtin` where the series is a row of a frame with a column of this name."""
        # pandas asks accessors before the index, and rows of nearly every table here have a value `gtin`.
        return series["gtin"] if "gtin" in series.index else super().__new__(cls)

    def __init__(self, series: pd.Series) -> None:
        self._series = series
        self._texts = _filled_up(series)
        #: Which have the form of a GTIN, and the digits of these.
        self._formed = pc.match_substring_regex(self._texts, "^[0-9]{14}$").to_numpy(zero_copy_only=False)
        self._digits = _digits(self._texts.filter(pa.array(self._formed)))

    @property
    def is_valid(self) -> pd.Series:
        """Whether it is a GTIN: a length that GTINs have, the right check digit, not only zeros."""
        valid = np.zeros(len(self._formed), bool)
        valid[self._formed] = (self._digits @ _WEIGHTS % 10 == 0) & self._digits.any(axis=1)
        return pd.Series(valid, self._series.index, name=self._series.name)

    @property
    def normalized(self) -> pd.Series:
        """The 14 digits; nothing where it has no form of a GTIN (the check digit may still be wrong)."""
        return self._like(self._texts.filter(pa.array(self._formed)))

    @property
    def check_digit(self) -> pd.Series:
        """The check digit that belongs behind the other digits, whatever the GTIN has there."""
        return self._like(pa.array(-(self._digits[:, :13] @ _WEIGHTS[:13]) % 10).cast(pa.string()))

    @property
    def prefix(self) -> pd.Series:
        """The GS1 prefix: the first three digits of the 13-digit number, which say where its company registered."""
        return self._like(pc.utf8_slice_codeunits(self._texts.filter(pa.array(self._formed)), 1, 4))

    @property
    def prefix_name(self) -> pd.Series:
        """The meaning of a prefix that belongs to no organisation: "restricted circulation", for one."""
        number = self._digits[:, 1:4] @ np.array([100, 10, 1])
        names = np.full(len(number), None, object)
        for first, last, name in PREFIX_RANGES:
            names[(number >= first) & (number <= last)] = name
        names[self._digits[:, 1:5] @ np.array([1000, 100, 10, 1]) == _MUSIC] = _MUSIC_NAME
        names[~self._digits[:, :6].any(axis=1)] = "GTIN-8"
        return self._like(pa.array(names, pa.string()))

    def _like(self, formed: pa.Array) -> pd.Series:
        """Return values of those that have the form of a GTIN, under the index and name of the series."""
        place = np.cumsum(self._formed) - 1
        values = formed.take(pa.array(place, mask=~self._formed)).to_pandas()
        return pd.Series(values.to_numpy(), self._series.index, dtype="str", name=self._series.name)


def _filled_up(series: pd.Series) -> pa.Array:
    """Return texts, with zeros before those of a length that GTINs have; a whole number is one without its zeros."""
    texts: Any
    if pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype):
        numbers = series.astype("Float64").fillna(0).to_numpy(float)
        numbers = np.where((numbers % 1 == 0) & (numbers > 0) & (numbers < 1e14), numbers, 0).astype(np.int64)
        texts = pa.array(numbers, mask=numbers == 0).cast(pa.string())
        return pc.fill_null(pc.utf8_lpad(texts, 14, "0"), "")
    if isinstance(series.dtype, pd.StringDtype):
        texts = pa.array(series, pa.string())
        if isinstance(texts, pa.ChunkedArray):  # pandas keeps the chunks of a column of several parts
            texts = texts.combine_chunks()
    else:
        texts = pa.array([_storable(one) for one in series], pa.string())
    texts = pc.fill_null(texts, "")
    texts = pc.if_else(*_numbers_in(texts), texts)
    has_length = pc.is_in(pc.utf8_length(texts), pa.array(LENGTHS, pa.int32()))
    return pc.if_else(has_length, pc.utf8_lpad(texts, 14, "0"), texts)


def _numbers_in(texts: Any) -> tuple[Any, Any]:
    """Say which texts are certain to be one number, and return the digits of each."""
    digits = pc.replace_substring_regex(pc.replace_substring_regex(texts, _TAIL, ""), _NO_DIGIT, "")
    return pc.match_substring_regex(texts, f"^(?:{_NUMBER})$"), pc.utf8_normalize(digits, "NFKC")


def _storable(value: object) -> str | None:
    """Return one of mixed values as text; a number has lost its zeros, and gets them back."""
    try:
        text = as_text(value)
    except InputError:
        return None
    if text is None or not text.isascii():
        return None
    return text if isinstance(value, str) else text.zfill(14)


def _digits(texts: pa.Array) -> npt.NDArray[np.int64]:
    """Return the digits of texts of 14 digits each, one row a text."""
    if not len(texts):
        return np.zeros((0, 14), np.int64)
    signs = np.frombuffer(texts.buffers()[2], np.uint8, 14 * len(texts))
    return signs.reshape(-1, 14).astype(np.int64) - ord("0")

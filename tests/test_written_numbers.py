"""One grammar of numbers for all that people type: what is certain is understood, and nothing else."""

from __future__ import annotations

import json
import math
import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import InputError
from prodex.written_numbers import (
    amount_and_unit,
    as_json,
    less_than,
    spelled_number,
    stored_number,
    typed_number,
    written_number,
    written_share,
    written_whole,
)
from tests.cases import each_row

#: As typed, and the one number that it can be.
CERTAIN = [
    ("0", 0), ("5", 5), ("12.5", 12.5), ("12,5", 12.5), ("+5", 5), ("-5", -5), ("\u22125", -5), ("-0", 0),
    ("007", 7), ("0500", 500), (".33", 0.33), (",5", 0.5), ("-.5", -0.5), ("0,500", 0.5), ("0.001", 0.001),
    ("1234,567", 1234.567), ("1234.567", 1234.567), ("1,23", 1.23), ("1,2345", 1.2345), ("12345", 12345),
    ("1 234", 1234), ("1\u00a0234", 1234), ("1\u202f234,5", 1234.5), ("1\u2007234", 1234), ("1\u2009234", 1234),
    ("1'234", 1234), ("1\u2019234.50", 1234.5), ("1 234.567", 1234.567), ("1.234,5", 1234.5),
    ("1,234.5", 1234.5), ("1.234,567", 1234.567), ("1.234.567", 1234567), ("1,234,567", 1234567),
    ("1,234,567.89", 1234567.89), ("12 345 678", 12345678), ("\uff15\uff10\uff10", 500),
    ("\uff0d5\uff0c5", -5.5), (" 5 ", 5), ("\u00a05", 5), ("999999999999999", 999999999999999),
]  # fmt: skip

#: Why it is no certain number, and what was typed.
UNCERTAIN = {
    "1.234 or 1234": [
        "1,234", "1.234",
    ],
    "-1.234 or -1234": ["\u22121,234"],
    "999.999 or 999999": [
        "999.999",
    ],
    "not a number": [
        "", " ", "five", "-", "+-5", "--5", "5-", "(5)", "5.", "5,", "1\n234", "1\t234", "1_000", "1e",
        "5 to 6", "5\u00b2", "\u2460", "\u2165", "\u20135", "5\u066b5", "5\u00b75", "5 %", "$5",
    ],
    "not one number": [
        "- 5", "1.2.3", "1..2", "1,,2", "1,2,3", "1.234.56", "1,00,000", "12 34", "1  234", "1 234'567",
        "1.234 567", "0 123", "1,234,567,8", "1.234,567.8", "'5",
    ],
    "exponent": [
        "12E3", "1e-5", "1E1000000",
    ],
    "multiplication": [
        "0x10", "3 x 125", "3\u00d7125", "3*5",
    ],
    "not an amount": [
        "inf", "-Infinity", "NaN", "sNaN", "NaN1", "\u221e",
    ],
    "fraction": [
        "\u00bd", "1\u00bd", "1/2", "1\u20442",
    ],
    "not exact": [
        "~5", "ca. 5", "\u2248 5", "< 0,1", "<0.5", "\u22645", "\u00b15", "env. 5",
    ],
    "range": [
        "5-6", "5 \u2013 6", "5...6",
    ],
    "other digits": [
        "\u0665\u0660\u0660", "\u0967",
    ],
    "16 digits": [
        "1234567890123456", "0.1234567890123456",
    ],
    "4,301 characters": [
        "9" * 4301,
    ],
    "characters": [
        "1" + " 234" * 5_000,
    ],
}  # fmt: skip


@each_row(("typed", "meant"), CERTAIN)
def test_a_number_that_is_certain_is_understood(typed: str, meant: float) -> None:
    """In the spellings of Europe and of elsewhere, with any space that groups digits."""
    assert (as_json(written_number(typed)), type(as_json(written_number(typed)))) == (meant, type(meant))


@each_row(("typed", "why"), [(one, why) for why, all_ in UNCERTAIN.items() for one in all_])
def test_what_is_not_certain_is_refused_with_what_to_write(typed: str, why: str) -> None:
    """Two numbers, none, or one that only a program would spell so."""
    with pytest.raises(InputError, match=why):
        written_number(typed)


@each_row(
    ("typed", "point", "comma"),
    [
        ("1,234", 1234, 1.234),
        ("1.234", 1.234, 1234),
        ("-12,345", -12345, -12.345),
        ("0,5", 0.5, 0.5),
        ("1.5", 1.5, 1.5),
    ],
)
def test_the_language_decides_only_what_may_be_two_numbers(typed: str, point: float, comma: float) -> None:
    """Half a litre is half a litre in every language."""
    assert (as_json(written_number(typed, ".")), as_json(written_number(typed, ","))) == (point, comma)


@each_row(
    ("spelled", "value"),
    [("1.234", 1.234), ("1E3", 1000), ("1.2e-05", 0.000012), ("-0.0", 0), ("0.30000000000000004", 0.3), ("500.0", 500),
     ("4006381333931", 4006381333931)],
)  # fmt: skip
def test_what_a_program_stored_is_read_as_programs_spell(spelled: str, value: float) -> None:
    """A point is a point, and an exponent is one of few digits."""
    assert as_json(stored_number(spelled)) == value


@each_row("spelled", ["1,5", "1E1000000", "1E16", "inf", "nan", "", "1e", "0x1p3", "1" * 301])
def test_what_no_amount_can_be_is_refused_in_no_time(spelled: str) -> None:
    """A file can hold anything where a number should be."""
    began = time.perf_counter()
    with pytest.raises(InputError):
        stored_number(spelled)

    assert time.perf_counter() - began < 1


@each_row(
    ("typed", "meant"),
    [
        ("5", 5), ("-5", -5), ("\u22125", -5), ("+5", 5), ("007", 7), ("12.0", 12), ("12,00", 12), ("1 234", 1234),
        ("1'234'567", 1234567), ("1.234.567", 1234567), ("\uff11\uff12", 12), ("\u00a05\n", 5), ("-0", 0),
        ("1234567890123456789", 1234567890123456789),
    ],
)  # fmt: skip
def test_a_whole_number_keeps_all_its_digits(typed: str, meant: int) -> None:
    """It is no double on its way."""
    assert (meant, int) == (written_whole(typed), type(written_whole(typed)))


@each_row(
    ("typed", "why"),
    [
        ("1,234", "1.234 or 1234"), ("12.5", "not a whole number"), ("1e3", "exponent"), ("1_000", "not a number"),
        ("inf", "not an amount"), ("0x10", "multiplication"), ("\u0663", "other digits"), ("5-6", "range"),
        ("12:30", "not a number"), ("", "not a number"), ("9" * 40_000, "40,000 characters"), ("1e400", "exponent"),
    ],
)  # fmt: skip
def test_what_is_no_whole_number_is_refused(typed: str, why: str) -> None:
    """Also what Python would read."""
    with pytest.raises(InputError, match=why):
        written_whole(typed)


@each_row(
    ("typed", "meant"),
    [("60", 60), ("60 %", 60), ("60,5%", 60.5), ("0.125", 0.125), ("12,345 %", 12.345), ("100", 100)],
)
def test_the_mark_of_a_share_is_decimal(typed: str, meant: float) -> None:
    """No share has thousands."""
    assert meant == float(written_share(typed))


@each_row("typed", ["%", "<1 %", "1/2", "60 % %", "half", "5-6 %", "1e1 %"])
def test_what_is_no_share_is_refused(typed: str) -> None:
    """As any other number."""
    with pytest.raises(InputError):
        written_share(typed)


@each_row(
    ("typed", "limit"),
    [
        ("<0.5", 0.5), ("< 0,5 g", 0.5), ("\u2264 1 mg", 1), ("&lt; 4 kJ", 4), (" <0.1kcal ", 0.1),
        ("< 1 000 mg", 1000),
        ("<1,000 mg", None), ("0.5", None), ("<", None), ("< \u0663", None), ("< -1", None), ("<1 <2", None),
        ("<1e3", None), ("< 5 persons", None), ("<" + "9" * 40_000, None),
    ],
)  # fmt: skip
def test_less_than_an_amount_is_known_by_its_limit(typed: str, limit: float | None) -> None:
    """Where the limit is certain, and nothing else is said."""
    found = less_than(typed)
    assert limit == (None if found is None else float(found))


@given(st.floats(-1e14, 1e14, allow_nan=False))
def test_a_number_that_is_spelled_is_read_back(value: float) -> None:
    """By what programs store and, as far as it is not too small for 60 characters, by what people type."""
    spelled = spelled_number(value)

    assert "e" not in spelled.lower()
    if len(typed_number(value)) <= 17:
        assert float(f"{value:.15g}") == float(written_number(typed_number(value)))
    if len(spelled) <= 60:
        assert float(f"{value:.15g}") == float(stored_number(spelled))


@each_row(
    ("typed", "meant"),
    [
        ("500 g", ("500", "g")), ("0,75L", ("0,75", "L")), (".33 L", (".33", "L")), ("1 234 g", ("1 234", "g")),
        ("5 m\u00b2", ("5", "m\u00b2")), ("5 m2", ("5", "m2")), ("-18 \u00b0C", ("-18", "\u00b0C")),
        ("12 fl oz", ("12", "fl oz")),
        ("5\u202f%", ("5", "%")), ("\uff15\uff10 g", ("50", "g")),
    ],
)  # fmt: skip
def test_an_amount_is_a_number_and_its_unit(typed: str, meant: tuple[str, str]) -> None:
    """With any space between them, or none."""
    assert amount_and_unit(typed) == meant


@each_row(
    "typed",
    [
        *("500", "g", "g 500", "", "< 0,1 g", "~5 g", "ca. 5 g", "5-6 g", "3 x 125 g", "\u00bd l", "1/2 l"),
        *("12E3 g", "inf g", "5 g / 6 g", "1 kg 200 g", "500 g (2)"),
    ],
)  # fmt: skip
def test_what_is_no_amount_is_refused(typed: str) -> None:
    """And so is what is two amounts."""
    with pytest.raises(InputError):
        amount_and_unit(typed)


@given(
    st.decimals(-(10**11) + 1, 10**11 - 1, places=3, allow_nan=False, allow_infinity=False),
    st.sampled_from(".,"),
)
def test_a_number_that_is_written_out_is_read_back(value: Decimal, mark: str) -> None:
    """Grouped as either half of the world groups, where that can be told from the decimals."""
    group = "." if mark == "," else ","
    spelled = f"{value:,.4f}".replace(",", "g").replace(".", mark).replace("g", group)

    assert written_number(spelled) == value
    assert written_number(f"{value:,.4f}".replace(",", "\u202f").replace(".", mark)) == value


@given(st.text(st.sampled_from("0123456789.,' \u202f\u2019+-\u2212eE%/x\uff11\u0661ian"), max_size=20))
def test_whatever_is_typed_is_a_finite_number_or_is_refused(typed: str) -> None:
    """Nothing crashes, and what is sent is JSON."""
    try:
        value = as_json(written_number(typed))
    except InputError:
        return
    assert math.isfinite(value)
    assert json.loads(json.dumps(value)) == value
    assert sum(map(str.isdigit, typed)) == sum(map(str.isdigit, typed.translate({0x661: None})))

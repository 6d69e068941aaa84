"""GTINs: normal form and check digit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import InputError
from prodex.gtin import are_valid, check_digit, normal_form

#: From published examples; each ends with the right check digit.
RIGHT = [
    "03036811359935",
    "03663215000110",
    "03178041265140",
    "03037494555003",
    "03149170388000",
    "23663836037988",
]


@pytest.mark.parametrize("gtin", RIGHT)
def test_published_gtins_are_right(gtin):
    """And with any other last digit they are wrong."""
    others = [gtin[:-1] + digit for digit in "0123456789" if digit != gtin[-1]]
    assert gtin == normal_form(gtin)
    assert [True] + [False] * 9 == are_valid([gtin, *others]).tolist()


@pytest.mark.parametrize(
    "value", ["3036811359935", 3036811359935, 3036811359935.0, " 03036811359935 ", "03036811359935"]
)
def test_shorter_forms_are_the_same_number(value):
    """A spreadsheet takes the leading zero away, and here it comes back."""
    assert "03036811359935" == normal_form(value)


def test_the_short_lengths_are_gtins():
    """GTIN-8 and GTIN-12."""
    assert ["00000096385074", "00036000291452"] == [normal_form("96385074"), normal_form("036000291452")]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("03036811359936", "check digit 6, and 5 would be right"),
        ("003036811359935", "15 digits"),
        ("3036811", "7 digits"),
        ("0303681135993X", "no GTIN"),
        ("٠٣٠٣٦٨١١٣٥٩٩٣٥", "no GTIN"),
        ("00000000000000", "only zeros"),
        ("", "no GTIN"),
        (None, "no GTIN"),
        (True, "no GTIN"),
        (3.5, "no GTIN"),
        (-3036811359935, "no GTIN"),
    ],
)
def test_what_is_wrong_is_told(value, why):
    """Each with its own reason."""
    with pytest.raises(InputError, match=why):
        normal_form(value)


@given(st.lists(st.text(max_size=20) | st.from_regex("[0-9]{14}", fullmatch=True) | st.sampled_from(RIGHT)))
def test_the_fast_way_agrees_with_the_plain_one(gtins):
    """Whole columns at once, or one at a time."""

    def plain(gtin):
        try:
            return normal_form(gtin) == gtin
        except InputError:
            return False

    assert [plain(gtin) for gtin in gtins] == are_valid(gtins).tolist()


@given(st.from_regex("[0-9]{13}", fullmatch=True), st.integers(0, 12))
def test_a_check_digit_finds_every_wrong_digit(digits, place):
    """That is what it is for."""
    wrong = digits[:place] + str((int(digits[place]) + 1) % 10) + digits[place + 1 :]
    assert check_digit(digits) != check_digit(wrong)

"""GTINs: normal form and check digit."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import InputError
from prodex.gtin import PREFIX_RANGES, are_valid, check_digit, normal_form
from tests.cases import each_row

#: From published examples; each ends with the right check digit.
RIGHT = [
    "03036811359935",
    "03663215000110",
    "03178041265140",
    "03037494555003",
    "03149170388000",
    "23663836037988",
]


@each_row("gtin", RIGHT)
def test_published_gtins_are_right(gtin):
    """They are valid, and invalid with any other last digit."""
    others = [gtin[:-1] + digit for digit in "0123456789" if digit != gtin[-1]]
    assert gtin == normal_form(gtin)
    assert [True] + [False] * 9 == are_valid([gtin, *others]).tolist()


@each_row("value", ["3036811359935", 3036811359935, 3036811359935.0, " 03036811359935 ", "03036811359935"])
def test_shorter_forms_are_the_same_number(value):
    """A spreadsheet takes the leading zero away, and here it comes back."""
    assert "03036811359935" == normal_form(value)


def test_the_short_lengths_are_gtins():
    """GTIN-8 and GTIN-12 are valid GTINs."""
    assert ["00000096385074", "00036000291452"] == [normal_form("96385074"), normal_form("036000291452")]


@each_row(
    ("value", "why"),
    [
        ("03036811359936", "check digit 6, and 5 would be right"),
        ("003036811359935", "15 digits"),
        ("3036811", "7 digits"),
        ("0303681135993X", "not a GTIN"),
        ("٠٣٠٣٦٨١١٣٥٩٩٣٥", "not a GTIN"),
        ("00000000000000", "only zeros"),
        ("", "not a GTIN"),
        (None, "not a GTIN"),
        (True, "not a GTIN"),
        (3.5, "not a GTIN"),
        (-3036811359935, "not a GTIN"),
    ],
)
def test_what_is_wrong_is_told(value, why):
    """Each message gives its own reason."""
    with pytest.raises(InputError, match=why):
        normal_form(value)


@given(st.lists(st.text(max_size=20) | st.from_regex("[0-9]{14}", fullmatch=True) | st.sampled_from(RIGHT)))
def test_the_fast_way_agrees_with_the_plain_one(gtins):
    """Whole columns at once give the same as one value at a time."""

    def plain(gtin):
        try:
            return normal_form(gtin) == gtin
        except InputError:
            return False

    assert [plain(gtin) for gtin in gtins] == are_valid(gtins).tolist()


@given(st.from_regex("[0-9]{13}", fullmatch=True), st.integers(0, 12))
def test_a_check_digit_finds_every_wrong_digit(digits, place):
    """A check digit is there to find a single wrong digit."""
    wrong = digits[:place] + str((int(digits[place]) + 1) % 10) + digits[place + 1 :]
    assert check_digit(digits) != check_digit(wrong)


columns = st.lists(
    st.text(max_size=20)
    | st.none()
    | st.from_regex("[0-9]{1,15}", fullmatch=True)
    | st.sampled_from([*RIGHT, "96385074", " 3036811359935 "]),
    max_size=8,
)


@pytest.mark.slow
@given(columns, st.sampled_from(["object", "str"]))
def test_a_series_says_of_each_gtin_what_the_plain_way_says(gtins, dtype):
    """Valid, normal form and check digit, under the index and name of the series."""
    series = pd.Series(gtins, range(5, 5 + len(gtins)), dtype=dtype, name="k")

    def plain(gtin):
        try:
            return normal_form(gtin)
        except InputError:
            return None

    normal = [plain(gtin) for gtin in gtins]
    found = series.gtin.normalized.where(series.gtin.is_valid)
    right = [gtin[-1] for gtin in normal if gtin]

    assert [gtin is not None for gtin in normal] == series.gtin.is_valid.tolist()
    assert normal == found.astype(object).where(found.notna(), None).tolist()
    assert right == series.gtin.check_digit[series.gtin.is_valid].tolist()
    assert all(series.index.equals(one.index) and one.name == "k" for one in (found, series.gtin.prefix))


def test_a_series_of_numbers_gets_its_zeros_back():
    """As spreadsheets hold GTINs, with gaps; what is no whole number is none."""
    whole = pd.Series([3036811359935, 96385074, -1, 0, 10**15])
    gaps = pd.Series([3036811359935.0, None, 1.5, 96385074])
    nullable = pd.Series([3036811359935, None], dtype="Int64")

    assert [True, True, False, False, False] == whole.gtin.is_valid.tolist()
    assert ["03036811359935", "00000096385074"] == gaps.gtin.normalized.dropna().tolist()
    assert [True, False] == nullable.gtin.is_valid.tolist()
    assert not pd.Series([True, False]).gtin.is_valid.any()


@each_row(
    ("gtin", "prefix", "name"),
    [
        ("03036811359935", "303", None),
        ("02012345678903", "201", "restricted circulation"),
        ("00212345678907", "021", "restricted circulation"),
        ("09780131103627", "978", "books (ISBN)"),
        ("96385074", "000", "GTIN-8"),
        ("nothing", None, None),
    ],
)
def test_a_prefix_is_told_with_what_it_stands_for(gtin, prefix, name):
    """Three digits of the 13-digit number; most stand for an organisation and have no name."""
    series = pd.Series([gtin])
    told = [
        column.astype(object).where(column.notna(), None)[0]
        for column in (series.gtin.prefix, series.gtin.prefix_name)
    ]

    assert [prefix, name] == told


def test_the_ranges_of_prefixes_do_not_overlap():
    """Each number has one name at most."""
    edges = [edge for first, last, _ in PREFIX_RANGES for edge in (first, last)]
    assert sorted(edges) == edges


def test_a_row_of_products_keeps_its_own_gtin():
    """The accessor is for columns; `row.gtin` is the value that stands there."""
    row = pd.DataFrame({"gtin": ["03036811359935"], "name": ["Riz"]}).iloc[0]
    assert "03036811359935" == row.gtin


def test_a_column_of_several_parts_is_read_like_one():
    """A catalogue of many parts gives columns that pandas keeps in pieces."""
    column = pd.concat(
        [pd.Series(["03036811359935"], dtype="str"), pd.Series(["3036811359936"], dtype="str")]
    )
    assert [True, False] == column.gtin.is_valid.tolist()
    assert ["03036811359935", "03036811359936"] == column.gtin.normalized.tolist()

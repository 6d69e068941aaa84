"""Whether a text shows anything: the one answer to "is it filled"."""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.tables.visible import is_visible, visible_texts

#: Texts in which there is nothing to see.
INVISIBLE = [
    *("", " ", "\t\n", "\u00a0", "\u2003", "\u3000"),
    *(
        "\u200b",
        "\ufeff",
        "\u2060",
        "\u00ad",
        "\u2800",
        "\u3164",
        "\u115f",
        "\uffa0",
        "\u034f",
        "\ufe0f",
        "\u200e",
    ),
    *(
        "<p><br></p>",
        "<p>&nbsp;</p>",
        "<P class='a'> <BR/></P>",
        "<div><span></span></div>",
        "<!-- -->",
        "<!-- Riz -->",
        "<!--StartFragment--><p>\u200b</p><!-- a\nb --><!--EndFragment-->",
    ),
    *("&nbsp;", "&nbsp", "&#160;", "&#xA0;", "&#8203;", "&ZeroWidthSpace;", "&shy;\u200b <i></i>"),
]
VISIBLE = [
    *("Riz", "0", "-", ".", "é", "米", "😀", "< 5 g", "<5", "a < b > c", "&", "&amp;", "&lt;p&gt;", "&#65;"),
    *("<p>Riz</p>", '<img src="riz.jpg">', "<p><img src='a.png'/></p>", "<", "<>", "\u200bRiz", "\u0600"),
    *(
        "<b>",
        "<h2>",
        "</p>",
        "<b></i>",
        "<!--",
        "<!-- Riz",
        "--><!--",
        "<p><!-- --></p>Riz",
        "<!-- -->0",
        "<hr>",
        "<5 g>",
    ),
]


def test_what_shows_nothing_is_told_from_what_shows_something() -> None:
    """Zero-width and soft hyphen, blanks of Braille and Hangul, and empty markup show nothing; a picture does."""
    assert {} == {text: True for text in INVISIBLE if is_visible(text)}
    assert {} == {text: False for text in VISIBLE if not is_visible(text)}


def test_columns_are_judged_as_single_texts_are() -> None:
    """Missing values show nothing."""
    texts = [*INVISIBLE, *VISIBLE, None]
    expected = [*[False] * len(INVISIBLE), *[True] * len(VISIBLE), False]
    assert expected == visible_texts(pa.array(texts)).to_pylist()


pieces = st.sampled_from([*INVISIBLE, *VISIBLE, "<b>", "</b>", "&", ";", "<!--", "-->"])
characters = st.characters(exclude_categories=["Cs"])


@given(st.lists(st.one_of(pieces, st.text(characters, max_size=2)), max_size=6).map("".join))
def test_any_text_is_judged_alike_in_a_column(text: str) -> None:
    """The column looks only at what may be blank, and misses nothing of it."""
    assert is_visible(text) == visible_texts(pa.array([text]))[0].as_py()


@pytest.mark.slow
def test_no_letter_or_digit_is_invisible() -> None:
    """Of all characters, those that people write with are seen; spaces and controls are not.

    Of those that have no meaning, or a private one, some are looked at.
    """
    written = {*range(0x34000), *range(0xE0000, 0xE0200)} - {*range(0xD800, 0xE000)}
    others = set(range(0x34000, 0x110000)) - written
    assert {unicodedata.category(chr(code)) for code in others} == {"Cn", "Co"}
    every = [
        chr(code) for code in sorted({*written, min(others), max(others), *range(0x34000, 0x110000, 0x1000)})
    ]
    seen = dict(zip(every, visible_texts(pa.array(every)).to_pylist(), strict=True))
    categories = {one: unicodedata.category(one) for one in every}
    fillers = set("\u115f\u1160\u3164\uffa0")
    assert fillers == {one for one in every if categories[one][0] in "LN" and not seen[one]}
    assert set() == {one for one in every if categories[one] in {"Zs", "Zl", "Zp", "Cc"} and seen[one]}
    assert {one: is_visible(one) for one in every} == seen

"""Patterns that people give: words of Unicode, texts in either form of Unicode, and a limit of time and memory."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import operations as do
from prodex.errors import InputError
from prodex.patterns import Pattern, PatternTooSlow
from tests.cases import each_row
from tests.corrections.test_bulk import product, text

_LETTERS = [
    "a",
    "b",
    "e",
    "é",
    "e\u0301",
    "ê\u0301",
    "e\u0302\u0301",
    "ế",
    "q\u0323",
    " ",
    "한",
    "\u1112\u1161\u11ab",
    "क\u093f",
]
_TEXTS = st.lists(st.sampled_from(_LETTERS), min_size=1, max_size=6).map("".join)


def nfc(one: str) -> str:
    """Return a text in the composed form."""
    return unicodedata.normalize("NFC", one)


def nfd(one: str) -> str:
    """Return a text in the decomposed form."""
    return unicodedata.normalize("NFD", one)


@given(_TEXTS, st.sampled_from(["a", "é", "e\u0301", "ế", "한", "b a", "q\u0323"]))
def test_a_text_is_found_in_every_form_and_the_rest_stays_as_it_is(text_: str, find: str) -> None:
    """What is made is what a plain walk over the composed characters makes, in the form that the text has."""
    expected = nfc(text_).replace(nfc(find), "X")
    for form in (nfc, nfd):
        (made,) = Pattern(find, is_literal=True).replaced([form(text_)], "X")
        assert made is not None
        assert nfc(expected) == nfc(made)
        if form is nfd:
            assert form(expected) == made
    (made,) = Pattern(find, is_literal=True).replaced([text_], "X")
    assert made == text_ or "X" in str(made)


@given(_TEXTS)
def test_words_are_the_same_in_every_form(text_: str) -> None:
    """Each run of letters and marks is one word."""
    words = len(text_.split())
    for form in (nfc, nfd, str):
        (made,) = Pattern(r"\w+").replaced([form(text_)], "X")
        assert words == str(made).count("X")
        assert [bool(words)] == Pattern(r"\s*\w+(\s+\w+)*\s*").are_whole([form(text_)])


@each_row(
    "pattern",
    [
        "a{99999999}",
        "((a{1000}){1000}){1000}",
        r"((\w{1000}){1000}){1000}",
        "(?:[ab]{9999}x){9}",
        "(?R)",
        "(a(?1)?b)",
        "(" * 900 + "a" + ")" * 900,
        "a" * 2_001,
    ],
)
def test_a_pattern_that_takes_all_memory_is_refused_at_once(pattern: str) -> None:
    """Nothing of it is compiled, whoever gives it."""
    with pytest.raises(InputError):
        do.ReplaceText(pattern, "x", pattern=True)
    with pytest.raises(InputError):
        Pattern(pattern, dot_is_all=True)


def test_usual_repetitions_are_no_large_ones() -> None:
    """Numbers of digits, and bounds that only limit, are what people write."""
    for pattern in (
        r"\d{13}|\d{14}|\d{8}",
        r"[A-Z]{1,50}( [a-z]{1,50}){0,200}.{0,2000}",
        r"\{99999\}",
        "[{99999}]",
    ):
        assert Pattern(pattern).are_whole(["?"]) == [False]


SLOW = "a" * 200 + "b"


@pytest.mark.slow
def test_a_pattern_that_takes_too_long_refuses_its_step_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names pattern and text; nothing of the step is done, and the next step is."""
    monkeypatch.setattr("prodex.patterns.SECONDS", 0.05)
    names = {"namePublicLong": [text("fra-FR", SLOW)], "description": [text("fra-FR", "aa ")]}
    catalog = prodex.flatten([product(0, **names), product(1, namePublicLong=[text("fra-FR", "aa")])])
    slow: Any = do.ReplaceText("^(a|aa)+$", "x", pattern=True)
    steps = [prodex.RecipeStep(slow, "namePublicLong"), prodex.RecipeStep(do.TrimSpaces(), "description")]
    fix = prodex.apply_recipe(catalog, prodex.Recipe(steps))
    assert [0, 1] == fix.steps["changed"].tolist()
    assert "'^(a|aa)+$' takes longer than" in fix.steps["reason"][0]
    assert "'aaaa" in fix.steps["reason"][0]
    with pytest.raises(InputError, match="takes longer than"):
        prodex.correct(catalog, "namePublicLong", slow)


@pytest.mark.slow
def test_the_limit_is_one_of_all_texts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many texts that each take a while are too slow as well: the one that was looked at then is named."""
    monkeypatch.setattr("prodex.patterns.SECONDS", 0.1)
    texts = [f"{number} {'a' * 18}b" for number in range(400)]
    with pytest.raises(PatternTooSlow, match=r"looking at the text '\d+ a+b'"):
        Pattern(r".*? (a|aa|aaa)+c?").are_whole(texts)
    assert [True] * 3 == Pattern("a+b").are_whole(["ab", "aab", SLOW])

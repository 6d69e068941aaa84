"""Patterns that people give: words of Unicode, texts in either form of Unicode, and a limit of time and memory."""

from __future__ import annotations

import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import operations as do
from prodex.errors import InputError
from prodex.patterns import OF_A_WORD, Pattern, PatternTooSlow
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


#: Letters that are one of more than two without their case (k, s, i), that have none, and signs that are patterns.
_ODD = [
    *"aAbBkKsSiI.*\\ |",
    "\u212a",
    "ſ",
    "ß",
    "ẞ",
    "ı",
    "İ",
    "é",
    "É",
    "e\u0301",
    "ǆ",
    "ǅ",
    "😀",
    "\0",
    "\n",
]
_ODD_TEXTS = st.lists(st.sampled_from(_ODD), max_size=12).map("".join)


@pytest.mark.slow
@given(
    st.lists(_ODD_TEXTS, max_size=6),
    st.lists(st.sampled_from(_ODD), min_size=1, max_size=3).map("".join),
    st.lists(st.sampled_from(["x", "\\", "\\1", "\\g<0>", "$0", "&"]), max_size=3).map("".join),
    st.booleans(),
    st.booleans(),
)
def test_a_column_has_what_a_walk_along_each_text_makes(
    texts: list[str], find: str, by: str, ignore_case: bool, whole_words: bool
) -> None:
    """A text replaced by Arrow or by the library at once is what a walk from match to match makes of it."""
    sides = (rf"(?<!{OF_A_WORD})", rf"(?!{OF_A_WORD})") if whole_words else ("", "")
    sought = Pattern(find, True, ignore_case, before=sides[0], behind=sides[1])
    walked = []
    for one in texts:
        own, end, pieces = nfc(one), 0, []
        for match in sought._compiled.finditer(own):  # what a pattern finds is the library's
            pieces += [own[end : match.start()], by]
            end = match.end()
        walked.append("".join([*pieces, own[end:]]))
    made = sought.replaced_in(pa.array(texts, pa.string()), by).to_pylist()
    assert list(map(nfc, walked)) == list(map(nfc, made))
    assert made == sought.replaced(texts, by)


@pytest.mark.slow
@given(
    st.lists(_ODD_TEXTS, max_size=4),
    st.sampled_from(["(a|k)", "(.)(b)?", "[^a]+", "(?<=a)b*", "$"]),
    st.booleans(),
)
def test_groups_of_a_pattern_are_those_of_each_match(texts: list[str], find: str, ignore_case: bool) -> None:
    """What a template makes at once is what it makes of one match after the other."""
    sought = Pattern(find, ignore_case=ignore_case)
    template = r"<\1\g<1>\\>" if "(a" in find or "(.)" in find else r"<\0>"
    made = sought.replaced([nfc(one) for one in texts], template)
    for one, own in zip(made, map(nfc, texts), strict=True):
        end, pieces = 0, []
        for match in sought._compiled.finditer(own):
            pieces += [own[end : match.start()], match.expand(template.replace(r"\0", r"\g<0>"))]
            end = match.end()
        assert "".join([*pieces, own[end:]]) == one


@each_row(
    ("by", "longest", "made"), [("xy", 6, "xyxy.."), ("xyz", 6, None), ("", 6, ".."), ("xy" * 4, 6, None)]
)
def test_what_would_be_too_long_is_not_made(by: str, longest: int, made: str | None) -> None:
    """A text that is too long afterwards is none, in a column as well; one without the text stays, however long."""
    long = "." * 20
    assert [made, long] == Pattern("a", True).replaced_in(pa.array(["aa..", long]), by, longest).to_pylist()
    assert [made, long] == Pattern("a", True).replaced(["aa..", long], by, longest)


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


def test_a_pattern_that_looks_from_the_end_changes_nothing_else() -> None:
    """Its last match comes first, and the text beside the matches is as it was, in either form."""
    for form in (nfc, nfd):
        (made,) = Pattern("(?r)a").replaced([form("ab é ab ê ab")], "X")
        assert form("Xb é Xb ê Xb") == made

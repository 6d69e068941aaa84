"""Texts are spared work that would change nothing: what one look says has to be what the whole work would have done."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import example, given
from hypothesis import strategies as st

from prodex.quality import text_normalization
from prodex.quality.language_detection import DetectedLanguages, TextWords, _composed
from prodex.quality.text_normalization import _EMPHASIS, _EMPHASISED, FoldedTexts, _replace_patterns

_EMPHATIC = st.text(st.sampled_from("aéÀBZ_*<>/b -\u2010\u2011\r\n\t.\xad\x1f\u200b\ufeffß1"), max_size=14)


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalpha() else " " for letter in text).split()


@given(st.text(max_size=12))
@example("\u20a8 \u2122 ﬁn e\u0301 \u0133 ª")
def test_letters_are_those_of_the_composed_form(text: str) -> None:
    """Texts that are taken for composed have the letters that Unicode's form NFKC would give them."""
    (ours,), (whole,) = (_composed(pa.array([text])), pc.utf8_normalize(pa.array([text]), "NFKC"))
    assert _words(whole.as_py()) == _words(ours.as_py())


@given(st.one_of(_EMPHATIC, st.text(max_size=12)))
@example("Voll-\n milch")
@example("de_soja_ SOJAentier VollMILCHpulver <b>x</b>")
def test_a_text_without_a_sign_of_emphasis_has_none(text: str) -> None:
    """Where the look finds no sign, resolving emphasis changes nothing."""
    texts = pa.array([text])
    (resolved,) = _replace_patterns(texts, _EMPHASIS).to_pylist()
    if not pc.match_substring_regex(texts, _EMPHASISED)[0].as_py():
        assert text == resolved


@given(st.lists(st.lists(st.one_of(st.none(), st.text(max_size=6)), max_size=6), max_size=4))
def test_what_was_folded_before_is_the_same(asked: list[list[str | None]]) -> None:
    """However often and in which order texts are asked for."""
    kept = FoldedTexts()
    for texts in asked:
        array = pa.array(texts, pa.string())
        assert text_normalization.folded(array).to_pylist() == kept.take(array).to_pylist()


def test_the_ends_of_a_text_are_read_from_its_words() -> None:
    """What begins in German and ends in French has two ends; what is in one language has the same twice."""
    german = "Zutaten: Weizenmehl, Zucker, Speisesalz und Milch."
    french = "Ingrédients : farine de blé, sucre, sel de cuisine et lait."
    texts = pa.array([f"{german} {french}", f"{german} {german}", "", "123"])
    first, last = TextWords.of(texts).ends(100)
    (of_german, of_french) = DetectedLanguages.of(pa.array([german, french])).language.tolist()
    assert [of_german, of_german, -1, -1] == first.language.tolist()
    assert [of_french, of_german, -1, -1] == last.language.tolist()

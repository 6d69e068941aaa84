"""What a cell of requirements says: read in four languages, written in one, and asked about where not clear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import InputError
from prodex.quality.requirement_files.asked_in_words import ask_of
from prodex.quality.requirements import Ask, Level
from tests.cases import each_row
from tests.quality.requirements.drawing import asks


@each_row(
    ("level", "words"),
    [
        (Level.MUST, "must|MUST|Required|mandatory|obligatoire|Pflicht|muss|verplicht|must have|requis"),
        (Level.SHOULD, "should|Recommended|recommandé|conseillée|soll|empfohlen|aanbevolen|wünschenswert"),
        (
            Level.MAY,
            "may|optional|facultatif|optionnel|kann|darf|optioneel|mag|not required|nicht erforderlich",
        ),
        (
            Level.MAY,
            "need not|muss nicht|hoeft niet|pas nécessaire",
        ),
        (Level.NOT, "not|must not|forbidden|interdit|ne pas|nicht|verboten|niet|niet toegestaan|darf nicht"),
    ],
)
def test_levels_are_understood_in_four_languages(level: Level, words: str) -> None:
    """As analysts write them, in any case, with accents or without."""
    for word in words.split("|"):
        assert Ask(level) == ask_of(word)
        assert Ask(level) == ask_of(f"  {word.upper()} ")


@each_row(
    "text",
    [
        "x",
        "X",
        "✓",
        "✔",
        "1",
        "0",
        "yes",
        "ja",
        "oui",
        "no",
        "nein",
        "true",
        "ok",
        "?",
        "M",
        "n/a",
        "TBD",
        "100",
        "mustard",
    ],
)
def test_what_is_not_clear_needs_confirmation(text: str) -> None:
    """Nobody knows which of the four levels a cross is: the message says the four words."""
    with pytest.raises(InputError, match="Type must, should, may or not"):
        ask_of(text)


@each_row("text", ["may not", "May not; at most 3 characters", "kann nicht", "moet niet"])
def test_a_word_with_two_meanings_needs_confirmation(text: str) -> None:
    """It may be not, and need not."""
    with pytest.raises(InputError, match=r"has two meanings\. Write 'not' where .* or 'may' where"):
        ask_of(text)


@each_row(
    ("text", "meant"), [("oblig.", "must"), ("Oblig", "must"), ("facult.", "may"), ("recomm.", "should")]
)
def test_a_word_that_is_written_shorter_has_a_suggestion(text: str, meant: str) -> None:
    """Where one is certain; no and non are none, since not and may not are both near."""
    with pytest.raises(InputError, match=rf"is not clear \({meant} was perhaps meant\)\. Type must"):
        ask_of(text)
    for word in ("non", "oui", "no"):
        with pytest.raises(InputError, match=f"'{word}' is not clear. Type must, should, may or not"):
            ask_of(word)


@each_row("text", ["", "  ", "\u00a0", "-", "–", "83 %", "83%", "0.83", "0,835", "100 %", "<1 %", "> 99 %"])
def test_a_share_and_nothing_are_no_level(text: str) -> None:
    """What a matrix shows is not what somebody asks."""
    with pytest.raises(InputError, match="Type must, should, may or not"):
        ask_of(text)


@each_row(
    ("text", "words"),
    [
        ("must; one of: A, B", "must; one of: A, B"),
        ("must one of A, B", "must; one of: A, B"),
        ("must\none of:\nA\nB", "must; one of: A, B"),
        ("must; codes: A|B", "must; one of: A, B"),
        ("must, one of A, B, at least 3 characters", "must; one of: A, B; at least 3 characters"),
        ('must; one of: "A,1", "B ""x"""', 'must; one of: "A,1", "B ""x"""'),
        ("must 20-80 characters", "must; 20-80 characters"),
        ("must; 20 – 80 chars", "must; 20-80 characters"),
        ("must between 20 and 80 characters", "must; 20-80 characters"),
        ("must; at least 20 and at most 80 characters", "must; 20-80 characters"),
        ("must; min 20 characters; max. 80 characters", "must; 20-80 characters"),
        ("must; at most 1,000 characters", "must; at most 1000 characters"),
        ("must; at most 1 000 characters", "must; at most 1000 characters"),
        ("must; at least 800 x 600 px", "must; at least 800 pixels"),
        ("must; min. 800×800 pixels", "must; at least 800 pixels"),
        ("must; exactly 8 characters", "must; 8-8 characters"),
        ("must; fewer than 80 characters", "must; at most 79 characters"),
        ("must >= 800 px", "must; at least 800 pixels"),
        ("must>=800px", "must; at least 800 pixels"),
        ("must: ≥ 800 pixels", "must; at least 800 pixels"),
        ("must (at least 800 pixels)", "must; at least 800 pixels"),
        ("must - at most 80 characters", "must; at most 80 characters"),
        ("must; pattern: [A-Z].*", "must; pattern: [A-Z].*"),
        (
            "must; pattern: [0-9]{1,3}; at most 5 characters",
            "must; at most 5 characters; pattern: [0-9]{1,3}",
        ),
        ('must; pattern: "a;b"', 'must; pattern: "a;b"'),
        ("Pflicht; höchstens 80 Zeichen", "must; at most 80 characters"),
        ("obligatoire, au moins 20 caractères", "must; at least 20 characters"),
        ("verplicht; tussen 20 en 80 tekens", "must; 20-80 characters"),
        ("aanbevolen; minstens 800 pixels", "should; at least 800 pixels"),
        ("MUST\u00a0; AT\u00a0MOST 80 CHARACTERS", "must; at most 80 characters"),
        ("must;;; ", "must"),
        ("must; 10-200 car.", "must; 10-200 characters"),
        ("must; 80 car max", "must; at most 80 characters"),
        ("must; max. 80 car.", "must; at most 80 characters"),
        ("obligatoire; 80 caractères max", "must; at most 80 characters"),
        ("obligatoire; 80 caractères maximum", "must; at most 80 characters"),
        ("obligatoire; 20 caract. mini", "must; at least 20 characters"),
        ("must; max 30", "must; at most 30 characters"),
        ("must; 30 max", "must; at most 30 characters"),
        ("must; at most 80", "must; at most 80 characters"),
        ("Pflicht; max. 80 Z.", "must; at most 80 characters"),
        ("Pflicht; 20-80 Zch.", "must; 20-80 characters"),
        ("Pflicht; 80 Zeichen maximal", "must; at most 80 characters"),
        ("verplicht; max. 80 tek.", "must; at most 80 characters"),
        ("verplicht; 80 tekens max.", "must; at most 80 characters"),
        ("must; 80 characters or less", "must; at most 80 characters"),
        ("must; 800 px min", "must; at least 800 pixels"),
    ],
)
def test_conditions_are_read_as_people_write_them(text: str, words: str) -> None:
    """Divided by semicolons, commas or lines, with words or signs."""
    assert words == ask_of(text).words


@each_row(
    ("text", "problem"),
    [
        ("must 80 characters", "does not say which bound it is"),
        ("must; 20-80", "is not a condition"),
        ("must be there", "is not a condition"),
        ("must; at most 800 pixels", "can only be too small"),
        ("must; at most 80 characters; at most 90 characters", "a second time"),
        ("must; 80-20 characters", "cannot both be"),
        ("must; pattern: [A-Z", "cannot be read"),
        ("must; pattern: a; pattern: b", "two patterns"),
        ("may; one of: A, B", "only what must or should be filled"),
        ("not; at most 80 characters", "only what must or should be filled"),
        ("must; pattern: a;b", "is not a condition"),
        ("must; one of:", "names no code"),
        ("must; one of: at most 80 characters", "names no code"),
        ("must; pattern:", "has no pattern"),
        ("must; fewer than 1 characters", "leaves no character"),
        ("must; 10-200", "only the word characters is missing. Write '10-200 characters'"),
        ("must; min 30", "does not say of what. Write characters or pixels"),
        ("not; at least 3 characters", "and here the word is 'not'. Remove the condition"),
        ("must; FR", "'FR' is not a condition. Write 'one of: FR, ES', 'at most 80 characters'"),
    ],
)
def test_conditions_that_cannot_be_are_refused(text: str, problem: str) -> None:
    """A message says what it is about, and what to write."""
    with pytest.raises(InputError, match=problem):
        ask_of(text)


@given(asks)
def test_what_is_written_is_read_back(ask: Ask) -> None:
    """Whatever codes and patterns hold, also in another case of the words around them."""
    assert ask == ask_of(ask.words)
    assert ask == ask_of(f" {ask.words.replace('; ', chr(10), 1)}\n")


@given(st.text(max_size=60))
def test_no_text_is_anything_but_an_answer_or_an_error_of_ours(text: str) -> None:
    """Whatever is typed."""
    for one in (text, f"must {text}", f"must; one of: {text}", f"must; pattern: {text}"):
        try:
            ask_of(one)
        except InputError:
            continue

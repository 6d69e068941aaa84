"""What a cell of requirements says: four levels and one small grammar, and all else is refused with what to write."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prodex.errors import InputError
from prodex.quality.asks import Ask, Level, ask_of, level_of
from tests.cases import each_row
from tests.quality.requirements.drawing import asks


def read(words: str) -> Ask:
    """Read a level with a condition behind a semicolon, as TOML has them."""
    level, _, condition = words.partition(";")
    return ask_of(level_of(level), condition)


@each_row("level", list(Level))
def test_levels_are_four_codes(level: Level) -> None:
    """In any case, since spreadsheets begin a cell with a capital."""
    for word in (level.value, level.value.upper(), f" {level.value.title()} "):
        assert level is level_of(word)


@each_row(
    "text",
    [
        *(
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
        ),
        *(
            "100",
            "mustard",
            "may not",
            "kann nicht",
            "must not",
            "required",
            "obligatoire",
            "Pflicht",
            "verplicht",
        ),
        *(
            "optional",
            "facultatif",
            "must; at most 80 characters",
            "must 20-80 characters",
            "must have",
            "non",
        ),
        *("", "  ", "\u00a0", "-", "–", "83 %", "0.83", "0,835", "<1 %"),
    ],
)
def test_any_other_word_needs_confirmation(text: str) -> None:
    """Marks, shares and words of any language: the message says the four words."""
    with pytest.raises(InputError, match=r"is not clear.* Type must, should, may or not"):
        level_of(text)


def test_a_mistyped_level_has_a_suggestion() -> None:
    """Of words as short as no nobody knows what they mean: not, or may."""
    with pytest.raises(InputError, match=r"'msut' is not clear \(must was perhaps meant\)\. Type must"):
        level_of("msut")
    for word in ("non", "oui", "no"):
        with pytest.raises(InputError, match=f"'{word}' is not clear. Type must, should, may or not"):
            level_of(word)


@each_row(
    ("text", "words"),
    [
        ("must; one of: A, B", "must; one of: A, B"),
        ('must; one of: "A,1", "B ""x"""', 'must; one of: "A,1", "B ""x"""'),
        ("must; one of:A,\nB", "must; one of: A, B"),
        ("must; one of: A, A", "must; one of: A"),
        ('must; one of: "FR", "a;b"', 'must; one of: FR, "a;b"'),
        ("must; 20-80 characters", "must; 20-80 characters"),
        ("must; 8-8 characters", "must; 8-8 characters"),
        ("must; at least 20 characters; at most 80 characters", "must; 20-80 characters"),
        ("must; pattern: [A-Z].*", "must; pattern: [A-Z].*"),
        (
            "must; pattern: [0-9]{1,3}; at most 5 characters",
            "must; at most 5 characters; pattern: [0-9]{1,3}",
        ),
        ('must; pattern: "a;b"', 'must; pattern: "a;b"'),
        ("MUST\u00a0; At\u00a0most  80 CHARACTERS", "must; at most 80 characters"),
        ("should; at least 800 pixels", "should; at least 800 pixels"),
        ("must;;; ", "must"),
    ],
)
def test_conditions_are_read_as_they_are_written(text: str, words: str) -> None:
    """In any order and case, with blanks of any kind."""
    assert words == read(text).words


@each_row(
    ("text", "problem"),
    [
        ("80 characters", "does not say which bound it is. Write at least or at most before it"),
        ("be there", "'be there' is not a condition. Write 'one of: FR, ES', 'at most 80 characters'"),
        ("at most 800 pixels", "can only be too small"),
        ("at most 80 characters; at most 90 characters", "'at most 90 characters' asks a second time"),
        ("one of: A; one of: B", "'one of: B' asks a second time"),
        ("pattern: a; pattern: b", "'pattern: b' asks a second time"),
        ("80-20 characters", "cannot both be"),
        ("pattern: [A-Z", "cannot be read"),
        ("pattern: a;b", "is not a condition"),
        ('pattern: "a" or "b"', 'has quotes. Write \'pattern: """a"" or ""b"""\''),
        ('pattern: "a', "a quote that does not end"),
        ("pattern:", "has no pattern"),
        ("one of:", "names no code"),
        ('one of: ""', "names no code"),
        ("one of: A, , B", "names no code"),
        ("10-200", "only the word characters is missing. Write '10-200 characters'"),
        ("at least 30", "does not say of what. Write characters or pixels"),
        ("FR", "'FR' is not a condition. If it is a code, write 'one of: FR'"),
        ("at least 0 characters", "is not a condition"),
        ("at most 1,000 characters", "is not a condition"),
        ("at most 12345678901 characters", "is not a condition"),
        ("exactly 8 characters", "is not a condition"),
        ("max. 80 characters", "is not a condition"),
        ("20 – 80 characters", "is not a condition"),
        ("between 20 and 80 characters", "is not a condition"),
        (">= 800 px", "is not a condition"),
        ("au moins 20 caractères", "is not a condition"),
        ("höchstens 80 Zeichen", "is not a condition"),
        ("één van: A, B", "is not a condition"),
    ],
)
def test_any_other_condition_is_refused(text: str, problem: str) -> None:
    """A message says what it is about, and what to write: also for words of other languages, signs and ranges."""
    with pytest.raises(InputError) as refused:
        ask_of(Level.MUST, text)

    assert problem in str(refused.value)


@each_row("level", [Level.MAY, Level.NOT])
def test_only_what_is_wanted_has_a_condition(level: Level) -> None:
    """What may be filled may be anything."""
    with pytest.raises(InputError, match=f"and here the word is '{level}'. Remove the condition"):
        ask_of(level, "at least 3 characters")


@given(asks)
@example(Ask(Level.MUST, ('"' * 40_000, "a, b; c\n", "A" * 40_000, "\r\n"), pattern="; " * 999))
def test_what_is_written_is_read_back(ask: Ask) -> None:
    """Whatever codes and patterns hold and however long they are, also in another case of the level."""
    assert ask == ask_of(ask.level, ask.condition)
    assert ask == read(ask.words)
    assert ask == read(f" {ask.words.replace(ask.level, ask.level.title(), 1)}\n")


@given(st.text(max_size=60))
def test_no_text_is_anything_but_an_answer_or_an_error_of_ours(text: str) -> None:
    """Whatever is typed; and what is read is written so that it is read again."""
    for one in (text, f"one of: {text}", f"pattern: {text}", f'one of: "{text}"'):
        try:
            ask = ask_of(Level.MUST, one)
        except InputError:
            continue
        assert ask == ask_of(ask.level, ask.condition)

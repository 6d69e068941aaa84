r"""What is asked of an attribute: a level, and conditions of its value in one small grammar, written and read here.

::

    one of: FR, BE, "a code; with, signs"
    20-80 characters
    at least 20 characters
    at most 80 characters
    at least 800 pixels
    pattern: [A-Z].*

Conditions are divided by semicolons, and codes by a comma with a blank behind it. What is not plain is in quotes, and a
quote inside is doubled. The case of the words above and the number of blanks do not matter. Nothing else is read: it is
refused with what to write, and never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from prodex.errors import InputError
from prodex.patterns import Pattern
from prodex.phrases import nearest
from prodex.quality.codes_in_use import NO_CODES, not_in_use

#: The conditions by the names that messages use.
CHARACTERS, CODES, PATTERN, PIXELS = "characters", "codes", "a pattern", "pixels"
#: What can be written as a condition, for messages.
EXAMPLES = "'one of: FR, ES', 'at most 80 characters', 'at least 800 pixels' or 'pattern: [A-Z].*'"

_QUOTED = re.compile(r'"((?:[^"]|"")*+)"')
#: A condition up to its semicolon, and a code up to its comma, neither inside quotes.
_CONDITION = re.compile(rf'((?:[^;"]|{_QUOTED.pattern})*+)(?:;|$)')
_CODE = re.compile(rf'((?:[^,"]|,(?!\s|$)|{_QUOTED.pattern})*+)(?:,|$)')
#: "And so on" without a full stop is no code, in whichever language.
_PLAIN_CODE = re.compile(r"(?!(?:etc|usw|enz)$)\w(?:[\w.+-]*[\w+-])?")
_PLAIN_PATTERN = re.compile(r'[^\s;"]+')
_NO_CODE = re.compile(r"(?:etc|usw|enz)?\W*")
_NAMED = re.compile(r"(?:one of:(?P<codes>.*)|pattern:(?P<pattern>.*))", re.IGNORECASE | re.DOTALL)
_NUMBER = "[1-9][0-9]{0,8}"
#: A bound, whole or with something missing: by that a message says what.
_BOUND = re.compile(rf"(?:(at least|at most) )?({_NUMBER})(?:-({_NUMBER}))?(?: (characters|pixels))?")
#: How alike a word is to the level that is proposed for it; of words as short as "no" nobody knows what they mean.
_ALIKE, _TOO_SHORT = 0.75, 2


class Level(StrEnum):
    """How much an attribute is wanted."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"
    NOT = "not"


@dataclass(frozen=True, order=True)
class Ask:
    """What is asked of an attribute.

    Attributes
    ----------
    level
        How much it is wanted.
    one_of
        The codes that are allowed; empty for any.
    shortest, longest
        Characters that a text has at least and at most; 0 is no bound.
    pattern
        A regular expression that the whole value matches, in which a dot is a line break as well; empty for none.
    pixels
        Pixels of the longest side of the picture, at least; 0 is no bound.
    """

    level: Level
    one_of: tuple[str, ...] = ()
    shortest: int = 0
    longest: int = 0
    pattern: str = ""
    pixels: int = 0

    @cached_property
    def value_pattern(self) -> Pattern:
        """The pattern of the whole value.

        Raises
        ------
        InputError
            When it cannot be read.
        """
        return Pattern(self.pattern, dot_is_all=True)

    @property
    def is_of_value(self) -> bool:
        """Whether it says what the value has to be like."""
        return bool(self.conditions)

    @property
    def conditions(self) -> list[str]:
        """What it asks of the value, by the names that messages use."""
        has = {
            PIXELS: self.pixels,
            CHARACTERS: self.shortest or self.longest,
            CODES: self.one_of,
            PATTERN: self.pattern,
        }
        return [name for name, value in has.items() if value]

    @property
    def words(self) -> str:
        """What is asked in words: the level, and behind a semicolon the condition.

        >>> Ask(Level.MUST, ("A", "B c"), shortest=3, longest=80, pattern="[A-Z].*").words
        'must; one of: A, "B c"; 3-80 characters; pattern: [A-Z].*'
        """
        return "; ".join(filter(None, [self.level.value, self.condition]))

    @property
    def condition(self) -> str:
        """What the value has to be like in words, as `ask_of` reads it; empty for anything.

        >>> Ask(Level.MUST, shortest=3).condition, Ask(Level.MUST).condition
        ('at least 3 characters', '')
        """
        words = [f"one of: {', '.join(written_code(one) for one in self.one_of)}"] if self.one_of else []
        if self.shortest and self.longest:
            words.append(f"{self.shortest}-{self.longest} characters")
        elif self.shortest or self.longest:
            bound = f"at least {self.shortest}" if self.shortest else f"at most {self.longest}"
            words.append(f"{bound} characters")
        words += [f"at least {self.pixels} pixels"] if self.pixels else []
        is_plain = _PLAIN_PATTERN.fullmatch(self.pattern) is not None
        words += [f"pattern: {self.pattern if is_plain else _quoted(self.pattern)}"] if self.pattern else []
        return "; ".join(words)


def written_code(code: str) -> str:
    """Return a code as it is in a list of codes.

    >>> written_code("FR"), written_code("12,5")
    ('FR', '"12,5"')
    """
    return code if _PLAIN_CODE.fullmatch(code) else _quoted(code)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def level_of(text: str) -> Level:
    """Return the level that a text names.

    Raises
    ------
    InputError
        When it is none of the four; the message says them.

    Examples
    --------
    >>> level_of("Must")
    <Level.MUST: 'must'>
    >>> level_of("yes")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: 'yes' is not clear. Type must, should, may or not.
    """
    word = text.strip().casefold()
    if word in tuple(Level):
        return Level(word)
    near = nearest(word, list(Level), _ALIKE) if len(word) > _TOO_SHORT else None
    meant = f" ({near} was perhaps meant)" if near else ""
    raise InputError(f"{text!r:.60} is not clear{meant}. Type must, should, may or not.")


def ask_of(
    level: Level,
    condition: str = "",
    advice: str = f"Write {EXAMPLES}.",
    in_use: Mapping[str, str] = NO_CODES,
) -> Ask:
    """Return what a level and a condition in words ask.

    Parameters
    ----------
    level
        The level.
    condition
        Conditions, divided by semicolons; empty for none.
    advice
        What can be written there, in a sentence.
    in_use
        The codes that the attribute has today with their labels: any other one is refused unless it is in quotes.

    Raises
    ------
    InputError
        When it is not exactly what `Ask.condition` writes; the message says what to write.

    Examples
    --------
    >>> ask_of(Level.MUST, "20-80 characters")
    Ask(level=<Level.MUST: 'must'>, one_of=(), shortest=20, longest=80, pattern='', pixels=0)
    >>> ask_of(Level.MUST, "max. 80 signs", "Write 'at most 80 characters'.")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: 'max. 80 signs' is not a condition. Write 'at most 80 characters'.
    """
    found: dict[str, Any] = {}
    for part in _parts(_CONDITION, condition):
        if part:
            for name, value in _read(part, advice, in_use, has_codes="one_of" in found).items():
                if found.setdefault(name, value) != value:
                    raise InputError(
                        f"{part!r:.60} asks a second time for something else. Remove one of them."
                    )
    ask = Ask(level, **found)
    if ask.is_of_value and level in {Level.MAY, Level.NOT}:
        raise InputError(
            f"only what must or should be filled can have a rule for its value, and here the word is '{level}'. "
            "Remove the condition, or write must or should."
        )
    if ask.longest and ask.shortest > ask.longest:
        raise InputError(f"at least {ask.shortest} and at most {ask.longest} characters cannot both be.")
    if ask.pattern:
        ask.value_pattern  # noqa: B018 - raises where it cannot be read
    return ask


def _parts(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield what is between dividers, without blanks around; what is in quotes is not divided."""
    place = 0
    while place < len(text):
        if (found := pattern.match(text, place)) is None:
            raise InputError(
                f"{text[place:].strip()!r:.60} has a quote that does not end. Put the whole code or pattern in "
                "quotes, and write each quote inside twice."
            )
        yield found[1].strip()
        place = found.end()


def _read(part: str, advice: str, in_use: Mapping[str, str], *, has_codes: bool) -> dict[str, Any]:
    """Read one condition: which fields of `Ask` it sets."""
    named = _NAMED.fullmatch(part)
    if named is not None and named["codes"] is not None:
        return {"one_of": tuple(dict.fromkeys(_codes(named["codes"], in_use)))}
    if named is not None:
        return {"pattern": _pattern(named["pattern"].strip())}
    if (bound := _BOUND.fullmatch(" ".join(part.casefold().split()))) is not None:
        return _bounds(part, advice, *bound.groups())
    if has_codes:
        advice = "If it is a code, divide the codes by commas: 'one of: FR, ES'."
    elif _PLAIN_CODE.fullmatch(part) and "'one of" in advice:
        advice = f"If it is a code, write 'one of: {part}'."
    raise InputError(f"{part!r:.60} is not a condition. {advice}")


def _codes(text: str, in_use: Mapping[str, str]) -> Iterator[str]:
    items = list(_parts(_CODE, text))
    if not items:
        raise InputError("it names no code. Write the codes behind the colon, divided by commas.")
    for item in items:
        if (quoted := _QUOTED.fullmatch(item)) is not None and quoted[1]:
            yield quoted[1].replace('""', '"')
        elif _NO_CODE.fullmatch(item):
            raise InputError(
                f"{item!r:.60} names no code. Write all codes that are allowed, divided by commas."
            )
        elif not _PLAIN_CODE.fullmatch(item):
            several = ", ".join(re.findall(r"\w+", item))
            raise InputError(
                f"{item!r:.60} may be one code or several. Divide codes by a comma and a blank: 'one of: "
                f"{several:.80}'; if it is one, write it in quotes: {_quoted(item):.60}."
            )
        elif (unknown := not_in_use(item, in_use)) is not None:
            raise InputError(unknown)
        else:
            yield item


def _pattern(text: str) -> str:
    if not text:
        raise InputError("it has no pattern. Write it behind the colon, or remove the word.")
    if '"' not in text:
        return text
    if (quoted := _QUOTED.fullmatch(text)) is None or not quoted[1]:
        raise InputError(f"the pattern {text!r:.60} has quotes. Write 'pattern: {_quoted(text):.80}'.")
    return quoted[1].replace('""', '"')


def _bounds(
    part: str, advice: str, bound: str | None, number: str, most: str | None, unit: str | None
) -> dict[str, int]:
    match bound, most, unit:
        case None, str(), "characters":
            return {"shortest": int(number), "longest": int(most)}
        case "at least", None, "characters":
            return {"shortest": int(number)}
        case "at most", None, "characters":
            return {"longest": int(number)}
        case "at least", None, "pixels":
            return {"pixels": int(number)}
        case None, str(), None:
            raise InputError(
                f"{part!r:.60} is not a condition yet: only the word characters is missing. Write "
                f"'{number}-{most} characters'."
            )
        case None, None, str():
            raise InputError(
                f"{part!r:.60} does not say which bound it is. Write at least or at most before it."
            )
        case str(), None, None:
            raise InputError(
                f"{part!r:.60} is not a condition yet: it does not say of what. Write characters or pixels behind it."
            )
        case _, _, "pixels":
            raise InputError(f"{part!r:.60}: a picture can only be too small. Write at least 800 pixels.")
    raise InputError(f"{part!r:.60} is not a condition. {advice}")

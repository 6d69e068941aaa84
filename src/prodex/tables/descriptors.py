"""What `expressedIn` names, a language or a unit, and so what `data` beside it is: a text or an amount.

The type of `data` alone does not say: services also send amounts as text ("500.0000" with GRM), and a name may be a
number (1664). Nothing is guessed: where type and descriptor contradict each other, or the descriptor may be either, the
value is neither a text nor an amount. It is kept as a scalar, and whoever needs it knows only that it is there.

Tables decide what is certain: the languages of the CLDR with the codes of ISO 639, and the units of UN/CEFACT
Recommendation 20 (`unit_codes.txt`). The form decides between them: units are written in capitals (MIN), languages in
small letters (min) or with a country (min-ID).
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from babel import Locale

from prodex.locales import known_language_tag, short_of
from prodex.tables.attributes import MEASURES, TEXTS
from prodex.tables.values import amount, exact


class Expressed(Enum):
    """What a descriptor names."""

    LANGUAGE = "a language"
    #: Two letters, which abbreviate a unit as well: hr is Croatian, and an hour. A text beside it is one all the same.
    SHORT_LANGUAGE = "two letters of a language"
    UNIT = "a unit"
    #: No code of a language looks like it, and no list has it: a number beside it is an amount, words are a text.
    LIKE_A_UNIT = "probably a unit"
    #: A code of both, or of nothing that is known: words beside it are a text, and a number may be either.
    UNCERTAIN = "a language or a unit"


#: Beside these, words, and numbers that were sent as text, are texts.
LANGUAGES = frozenset({Expressed.LANGUAGE, Expressed.SHORT_LANGUAGE})


class Localized(NamedTuple):
    """A text or an amount: one of both is None."""

    text: str | None
    value: float | None


#: Symbols of units that are codes of languages as well, in small letters: millilitre and Malayalam.
_SYMBOLS = frozenset({"ha", "kg", "kj", "km", "kw", "lb", "mg", "ml"})

_TAG = re.compile("([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]{2,8})*")
_LETTERS = re.compile("[A-Za-z]+")
_WITH_A_DIGIT = re.compile("(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9]{2,3}")

#: No unit of Recommendation 20 has a longer code.
_LONGEST = 3


def localized(path: str, code: str | None, short: str | None, data: str | float) -> Localized | None:
    """Return what `data` is beside a descriptor; None where that is not certain.

    Parameters
    ----------
    path
        Wire path of the object: of some attributes it is known what they hold.
    code, short
        `code` and `normalizedCode` of its descriptor.
    data
        Text, or a number that a double holds exactly.

    Examples
    --------
    >>> localized("netContent", "GRM", None, "500.0000"), localized("netContent", "GRM", None, "about 500")
    (Localized(text=None, value=500.0), None)
    >>> localized("serves", "fra-FR", None, "500"), localized("serves", "fra-FR", "fr", 500)
    (Localized(text='500', value=None), None)
    """
    return meaning_of(expressed_at(path, code, short), data)


def is_text(path: str, code: str | None, short: str | None, data: str | float) -> bool:
    """Whether `data` is a text beside a descriptor, and no amount.

    >>> is_text("serves", "fra-FR", None, "500"), is_text("serves", "GRM", None, "500")
    (True, False)
    """
    found = localized(path, code, short, data)
    return found is not None and found.text is not None


def meaning_of(named: Expressed, data: str | float) -> Localized | None:
    """Return what `data` is beside a descriptor that names this; None where that is not certain."""
    if not isinstance(data, str):
        return None if named is Expressed.LANGUAGE else Localized(None, float(data))
    if named in LANGUAGES:
        return Localized(data, None)
    number = amount(data)
    if number is None:
        return None if named is Expressed.UNIT else Localized(data, None)
    is_amount = named is not Expressed.UNCERTAIN and exact(number)
    return Localized(None, float(number)) if is_amount else None


def expressed_at(path: str, code: str | None, short: str | None) -> Expressed:
    """Return what the descriptor of an object at a wire path names.

    >>> expressed_at("synonyms", "MIN", None).value, expressed_at("namePublicLong", "MIN", None).value
    ('a unit', 'a language')
    """
    name = path.rpartition(".")[2]
    if name in TEXTS:
        return Expressed.LANGUAGE
    found = expressed(code, short)
    if name not in MEASURES or found is Expressed.LANGUAGE:
        return found
    return Expressed.LIKE_A_UNIT if found is Expressed.SHORT_LANGUAGE else Expressed.UNIT


@lru_cache(maxsize=65536)
def expressed(code: str | None, short: str | None = None) -> Expressed:
    """Return what a descriptor names by itself: by its code, and where that leaves it open by its short code.

    >>> [expressed(code).value for code in ("fra-FR", "fr", "GRM", "E14", "KAR", "grm")]
    ['a language', 'two letters of a language', 'a unit', 'a unit', 'probably a unit', 'a language or a unit']
    >>> expressed("MLT", "ml").value, expressed("MLT", "mt").value, expressed(None, "fr-FR").value
    ('a unit', 'a language or a unit', 'a language')
    """
    by_code, by_short = (
        Expressed.UNCERTAIN if one is None else _meaning_of_code(one.strip()) for one in (code, short)
    )
    match by_code, by_short:
        case Expressed.LANGUAGE, _:
            return by_code
        case Expressed.UNIT, Expressed.SHORT_LANGUAGE:
            # A language in capitals says the same in both.
            is_same = short_of(str(code)) == short_of(str(short))
            return Expressed.UNCERTAIN if is_same else by_code
        case (Expressed.UNIT, Expressed.LANGUAGE) | (Expressed.SHORT_LANGUAGE, Expressed.UNIT):
            return Expressed.UNCERTAIN
        case Expressed.UNIT, _:
            return by_code
        case _, Expressed.LANGUAGE | Expressed.SHORT_LANGUAGE | Expressed.UNIT:
            return by_short
    return by_code


def _meaning_of_code(code: str) -> Expressed:
    if (
        not code or code.isdecimal()
    ):  # services number their languages, and Recommendation 20 its oldest units
        return Expressed.UNCERTAIN
    if _WITH_A_DIGIT.fullmatch(code) or (len(code) == 1 and code.isalpha()):
        return Expressed.UNIT
    match = _TAG.fullmatch(code)
    if match is None:
        if known_language_tag(code) is not None:  # a name: "French"
            return Expressed.LANGUAGE
        is_word = _LETTERS.fullmatch(code) is not None or len(code) > _LONGEST
        return Expressed.UNCERTAIN if is_word else Expressed.LIKE_A_UNIT
    if match[1] != code:
        return Expressed.LANGUAGE
    # First: most codes are those of units, and the names of all languages take a tenth of a second to read.
    if len(code) == _LONGEST and code in _unit_codes():
        return Expressed.UNIT
    is_language = known_language_tag(code) is not None
    if not code.isupper():
        is_unit = code.upper() in _unit_codes() if len(code) == _LONGEST else code.lower() in _SYMBOLS
        return _kind_of_language(code) if is_language and not is_unit else Expressed.UNCERTAIN
    is_unit = code in _unit_codes() or code in Locale("en").currencies
    if is_language:
        return Expressed.UNCERTAIN if is_unit else _kind_of_language(code)
    return Expressed.UNIT if is_unit else Expressed.LIKE_A_UNIT


def _kind_of_language(code: str) -> Expressed:
    return Expressed.LANGUAGE if len(code) == _LONGEST else Expressed.SHORT_LANGUAGE


@cache
def _unit_codes() -> frozenset[str]:
    """Return the codes of units that consist of letters alone."""
    text = files("prodex.tables").joinpath("unit_codes.txt").read_text("utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())

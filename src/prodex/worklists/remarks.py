"""Words that answer the person and not the field: done, ditto, not applicable, see attachment.

Whoever fills in a spreadsheet writes to somebody. A remark in the column of the new value is no value, however well it
would fit; so it needs confirmation. `remarks.tsv` has the words of the ten languages that prodex detects, by what they
say, without a claim of being complete: a sentence of somebody is as likely as a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources

from prodex.languages import Message
from prodex.phrases import unaccented
from prodex.tables.visible import is_visible

#: What a remark says, in words that follow "it reads like".
_SAYS = {
    "done": Message("a remark that something is done or agreed"),
    "same": Message("a mark for “the same as above”"),
    "not applicable": Message("a remark that the field does not apply"),
    "elsewhere": Message("a hint to look somewhere else"),
    "unknown": Message("a remark that the value is not known yet"),
    "unchanged": Message("a remark that nothing is to be changed"),
    "to delete": Message("a request to delete the value, for which the answer is (delete)"),
    "refused": Message("a refusal"),
    "asked": Message("a question or a request"),
}
_MARK = Message("a mark, and no text")

#: What begins with a hint, and is short, is about something else: "see attachment, page 3". Longer texts that begin so
#: are sentences of a text: "See our website for recipes with this flour."
_LONGEST = 60
#: A phrase with this sign begins a remark, whatever follows: "same as FR", "ok for Eva".
_BEGINS = "*"
#: Words between those of a remark and a date: "fait le 3/4", "done on 12.05.".
_SMALL = frozenset(
    [
        *(
            "on",
            "at",
            "by",
            "the",
            "since",
            "le",
            "du",
            "par",
            "am",
            "um",
            "vom",
            "von",
            "den",
            "der",
            "seit",
        ),
        *("el", "de", "por", "il", "dal", "op", "per", "em", "dia", "på"),
    ]
)

_SIGNS = re.compile(r"[^\w\s/'-]+")
_SPACES = re.compile(r"\s+")
#: Where several remarks follow one another: "ok, done", "erledigt / danke".
_BETWEEN = re.compile(r"\s*[,;/&+|.!?:()\n]+\s*|\s+[-–—]\s+")


def remark_in(text: str) -> Message | None:
    """Return what an answer says to the person who asked; None if it may be a value.

    Examples
    --------
    >>> str(remark_in("Erledigt!")), str(remark_in("siehe Anhang, Seite 3")), remark_in("Pain complet")
    ('a remark that something is done or agreed', 'a hint to look somewhere else', None)
    """
    if not any(_is_of_text(letter) for letter in text) or not is_visible(text):
        return _MARK if text.strip() else None
    if len(text.strip()) == 1 and text.isascii():
        return _MARK
    whole, known = _comparable_words(text), _remarks()
    if (meaning := known.get(whole)) is not None:
        return _SAYS[meaning]
    parts = [key for part in _BETWEEN.split(text) if (key := _comparable_words(part))]
    if len(parts) > 1 and all(part in known for part in parts):
        return _SAYS[known[parts[0]]]
    first, *others = whole.split(" ")
    if known.get(first) == "done" and all(
        one in known or one in _SMALL or _is_number_or_date(one) for one in others
    ):
        return _SAYS["done"]
    if len(whole) <= _LONGEST:
        for beginning, meaning in _beginnings():
            if whole.startswith(beginning) and not whole[len(beginning) : len(beginning) + 1].isalnum():
                return _SAYS[meaning]
    return None


def _is_number_or_date(word: str) -> bool:
    """Whether a word is a number or a date: "3/4", "12-05"."""
    return any(one.isdigit() for one in word) and not any(one.isalpha() for one in word)


def _is_of_text(letter: str) -> bool:
    """Whether a character is a letter, a digit, or part of a script without either."""
    return unicodedata.category(letter)[0] in "LN"


@cache
def _remarks() -> Mapping[str, str]:
    """Return what each remark says, by its words as they are compared."""
    found: dict[str, str] = {}
    for _, meaning, phrases in _known_remarks():
        for phrase in phrases.split("|"):
            if key := _comparable_words(phrase.replace(_BEGINS, "")):
                # The same word of two languages says what the first of them does: a question is asked in any case.
                found.setdefault(key, meaning)
    return found


@cache
def _beginnings() -> tuple[tuple[str, str], ...]:
    """Return how remarks begin, and what they say: as marked, and hints of two words or more."""
    return tuple(
        (key, meaning)
        for _, meaning, phrases in _known_remarks()
        for phrase in phrases.split("|")
        if (key := _comparable_words(phrase.replace(_BEGINS, "")))
        and (phrase.strip().endswith(_BEGINS) or (meaning == "elsewhere" and " " in key))
    )


@cache
def _known_remarks() -> tuple[tuple[str, ...], ...]:
    text = resources.files("prodex.worklists").joinpath("remarks.tsv").read_text("utf-8")
    return tuple(tuple(line.split("\t")) for line in text.splitlines()[1:])


def _comparable_words(text: str) -> str:
    """Return words as they are compared: small letters, no accents, no marks, single spaces."""
    plain = unaccented(text).replace("’", "'").replace("ß", "ss").replace(".", "")
    return _SPACES.sub(" ", _SIGNS.sub(" ", plain)).strip(" -'/")

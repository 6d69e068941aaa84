"""Words of messages and reports: the known name that a person most likely meant, shares, counts, moments, durations."""

from __future__ import annotations

import difflib
import math
import unicodedata
from collections.abc import Iterable
from datetime import date, datetime, timedelta, tzinfo

#: Characters of a word that are compared. difflib takes quadratic time: a text of a million characters takes minutes.
_LONGEST = 60

#: Letters that no normal form of Unicode takes apart, and how they are written where there are no such letters.
LETTERS = {"œ": "oe", "æ": "ae", "ß": "ss", "ø": "o"}
_TAKEN_APART = str.maketrans(LETTERS)


def composed(text: str) -> str:
    """Return a text in the form in which texts are the same text: letters and their accents as one character.

    Two computers write "é" as one character or as two (NFC and NFD of Unicode), and nobody sees a difference. Only
    comparisons use this form; what is shown, kept and sent is unchanged.

    >>> composed("Nestle\u0301") == "Nestl\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def unaccented(word: str) -> str:
    """Return a word as words are compared: in small letters, without accents, ligatures taken apart.

    Accents get lost in capitals, on old keyboards, and in machines that read labels.

    >>> unaccented("Bœuf"), unaccented("Süßstoff"), unaccented("GLÚTEN")
    ('boeuf', 'sussstoff', 'gluten')
    """
    if word.isascii():
        return word.lower()
    # Taken apart first: what a letter is made of can be a capital or a ligature itself (the latter in ǽ).
    decomposed = unicodedata.normalize("NFKD", word).lower().translate(_TAKEN_APART)
    return "".join(letter for letter in decomposed if not unicodedata.category(letter).startswith("M"))


def meant(word: str, known: Iterable[str]) -> list[str]:
    """Return the known names that a word means: that name itself, else those from which it differs by case alone.

    Two names can differ by case alone, and are never taken for each other.

    >>> meant("acme", ["Acme", "Zest"]), meant("Acme", ["Acme", "ACME"]), meant("acme", ["Acme", "ACME"])
    (['Acme'], ['Acme'], ['Acme', 'ACME'])
    """
    names = dict.fromkeys(known)
    folded = composed(word).strip().casefold()
    return [word] if word in names else [one for one in names if composed(one).strip().casefold() == folded]


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to a word, ignoring case; None if none is similar.

    Parameters
    ----------
    word
        What was given.
    known
        The names there are.
    cutoff
        How similar they have to be, from 0 (anything) to 1 (equal).

    Examples
    --------
    >>> nearest("Bloker", ["blocker", "error", "warning"]), nearest("xx", ["blocker"])
    ('blocker', None)
    """
    return next(iter(nearest_few(word, known, 1, cutoff)), None)


def nearest_few(word: str, known: Iterable[str], most: int, cutoff: float = 0.6) -> list[str]:
    """Return so many of the known names that are like a word, the one that is most like it first.

    >>> nearest_few("1234", ["1235", "9999", "1243"], 3)
    ['1243', '1235']
    """
    # Reversed, so that of two names that differ in case alone the first wins.
    by_folded = {name.casefold(): name for name in reversed(list(known))}
    near = difflib.get_close_matches(word[:_LONGEST].casefold(), by_folded, n=most, cutoff=cutoff)
    return [by_folded[one] for one in near]


def hint(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a sentence that refuses a name: which one was meant, or else a sentence of what there is.

    >>> f"There is no {'brnad'!r}" + hint("brnad", ["brand", "kind"], "Give one of brand, kind.")
    "There is no 'brnad'; did you mean 'brand'?"
    >>> f"There is no {'xx'!r}" + hint("xx", ["brand", "kind"], "Give one of brand, kind.")
    "There is no 'xx'. Give one of brand, kind."
    """
    near = nearest(word, known)
    return f". {otherwise}".rstrip() if near is None else f"; did you mean {near!r}?"


def hint_and_all(word: str, known: Iterable[str], all_of_them: str) -> str:
    """Return the same with the sentence of what there is in any case, for lists of a few names.

    >>> f"severity does not know {'bloker'!r}" + hint_and_all("bloker", ["blocker", "info"], "It takes blocker, info.")
    "severity does not know 'bloker'; did you mean 'blocker'? It takes blocker, info."
    """
    return f"{hint(word, known)} {all_of_them}"


def percent(share: float, digits: int = 1) -> str:
    """Write a share in per cent, never rounded up to all or down to none; "none" where there is no share.

    >>> percent(0.612), percent(0.9999), percent(0.0001), percent(float("nan"))
    ('61.2 %', '99.9 %', '0.1 %', 'none')
    >>> percent(1, 0), percent(0.9996, 0), percent(0.0004, 0), percent(0.57, 0)
    ('100 %', '>99 %', '<1 %', '57 %')
    """
    if math.isnan(share):
        return "none"
    if not 0 < share < 1:
        return f"{share * 100:.0f} %"
    if digits == 0 and round(share, 2) in {0, 1}:  # a whole number has no nearest one to stop at
        return "<1 %" if share < 0.5 else ">99 %"
    least = 10.0 ** -(digits + 2)
    return f"{min(max(share, least), 1 - least) * 100:.{digits}f} %"


def counted(number: int, noun: str) -> str:
    """Write a number of things.

    >>> counted(1, "product"), counted(12000, "product"), counted(2, "quantity"), counted(2, "day")
    ('1 product', '12,000 products', '2 quantities', '2 days')
    """
    if number == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in set("aeiou") else f"{noun}s"
    return f"{number:,} {many}"


def moment_in_words(moment: datetime, form: str = "%Y-%m-%d %H:%M", zone: tzinfo | None = None) -> str:
    """Write a moment, and say in which time zone.

    Parameters
    ----------
    moment
        With a time zone.
    form
        What is written of it, before the zone.
    zone
        The time zone; without one, that of this machine.

    Examples
    --------
    >>> from datetime import UTC
    >>> moment = datetime(2026, 11, 20, 20, tzinfo=UTC)
    >>> moment_in_words(moment, zone=UTC), moment_in_words(moment).startswith("2026-11-2")
    ('2026-11-20 20:00 UTC', True)
    """
    wall = moment.astimezone(zone)
    return f"{wall:{form}} {wall.tzname() or wall.strftime('%z')}"


def duration_in_words(duration: float | timedelta) -> str:
    """Write how long something takes, or how old it is, in the unit that a person would take.

    Parameters
    ----------
    duration
        In seconds, or as Python has it.

    Examples
    --------
    >>> [duration_in_words(one) for one in (0.4, 89, 100, 3 * 3600 + 60, timedelta(hours=50))]
    ['0 s', '89 s', '2 min', '3 h', '2 days']
    """
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def day_in_words(day: date) -> str:
    """Return a day as an English sentence says it.

    >>> day_in_words(date(2026, 8, 2))
    '2 August 2026'
    """
    # Not %B: what months are called must not depend on the locale of the process.
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


#: The months in English.
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)

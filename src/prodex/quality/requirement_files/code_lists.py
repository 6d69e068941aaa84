"""Lists of codes in a cell: divided where that is certain, compared with the codes in use, and else to be confirmed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from prodex.errors import InputError, QueryError
from prodex.locales import market_code
from prodex.messages import nearest, unaccented

#: What divides codes beside commas: a stroke, and the words for "or" and "and" in English, French, German and Dutch.
_OTHER_DIVIDERS = re.compile(r"\s*[/\\&]\s*|\s+(?:or|ou|oder|of|and|et|und|en)\s+", re.IGNORECASE)
_ALL_DIVIDERS = re.compile(rf"{_OTHER_DIVIDERS.pattern}|\s+", re.IGNORECASE)
#: Short codes of one kind, which are divided without knowing the codes in use: countries, currencies, numbers.
_ALIKE = re.compile(r"[A-Z]{2}(?: [A-Z]{2})+|[A-Z]{3}(?: [A-Z]{3})+|[0-9]{3}(?: [0-9]{3})+")
_AND_SO_ON = frozenset({"etc", "etcetera", "and so on", "usw", "u s w", "enz", "enzovoort", "et cetera"})
#: Characters of a code without quotes.
_LONGEST_CODE = 1_000
#: Codes in use that a message names.
_NAMED = 8


def divided(item: str, codes: Mapping[str, str]) -> list[str]:
    """Return the codes that are between two commas.

    Parameters
    ----------
    item
        What is there, without quotes.
    codes
        The codes in use with their labels; none where they are not known.

    Raises
    ------
    InputError
        When it may be one code or several; the message shows how to write them.

    Examples
    --------
    >>> divided("FR/ES", {}), divided("BE or IT", {}), divided("A/B", {"A/B": "", "C": ""})
    (['FR', 'ES'], ['BE', 'IT'], ['A/B'])
    """
    if len(item) > _LONGEST_CODE:
        raise InputError(
            f"{item!r:.60} has {len(item):,} characters, and a code has a few. Divide codes by commas."
        )
    known = {code.casefold() for code in codes}
    bare = item.rstrip(".… ")
    if item.casefold() in known:
        return [item]
    if unaccented(bare).replace(".", " ") in _AND_SO_ON or not re.search(r"\w", item):
        raise InputError(f"{item!r:.60} names no code. Write all codes that are allowed, divided by commas.")
    if bare != item and not re.search(r"[\s/\\&]", bare):
        if bare.casefold() in known:
            return [bare]
        raise InputError(
            f'{item!r:.60} ends in a full stop. Write {bare}, or "{item}" if it belongs to the code.'
        )
    parts = [one for one in _OTHER_DIVIDERS.split(bare) if one]
    are_plain = all(not re.search(r"\s", one) for one in parts)
    if len(parts) == 1 and are_plain and not re.search(r"[/\\&]", item):
        return [item]
    are_known = bool(known) and all(one.casefold() in known for one in parts)
    if len(parts) > 1 and are_plain and (are_known or _ALIKE.fullmatch(" ".join(parts))):
        return parts
    if _of_label(item, codes) is not None:
        raise InputError(_not_in_use(item, codes))
    several = ", ".join(filter(None, _ALL_DIVIDERS.split(bare)))
    raise InputError(
        f"{item!r:.60} may be one code or several. Divide codes by commas: 'one of: {several:.80}'; if it is one, "
        f'write it in quotes: "{item:.60}".'
    )


def not_in_use(named: Iterator[str] | list[str], codes: Mapping[str, str]) -> list[str]:
    """Return a sentence for each code that is not among those in use, unless these are not known.

    >>> not_in_use(["FR"], {"250": "France", "724": "Spain"})[0].partition("?")[0]
    "'FR' is not among the codes in use; did you mean 250 (France)"
    """
    known = {code.casefold() for code in codes}
    return [_not_in_use(one, codes) for one in named if known and one.casefold() not in known]


def _not_in_use(code: str, codes: Mapping[str, str]) -> str:
    near = _of_label(code, codes) or _of_country(code, codes) or nearest(code, codes)
    if near is None and (label := nearest(code, [one for one in codes.values() if one])) is not None:
        near = _of_label(label, codes)
    shown = "; ".join(code_in_words(one, codes[one]) for one in list(codes)[:_NAMED])
    more = ", and others" if len(codes) > _NAMED else ""
    meant = (
        f"; did you mean {code_in_words(near, codes[near], around='()')}?"
        if near is not None
        else f". In use are {shown}{more}."
    )
    return (
        f"{code!r:.60} is not among the codes in use{meant} A code that no product has yet is written in quotes: "
        f'"{code:.60}".'
    )


def code_in_words(code: str, label: str, around: str = "  ") -> str:
    """Return a code with its label.

    >>> code_in_words("250", "France"), code_in_words("250", "France", around="()"), code_in_words("A", "")
    ('250 France', '250 (France)', 'A')
    """
    return (
        f"{code} {around[0]}{label}{around[1]}".replace("  ", " ").strip()
        if label and label != code
        else code
    )


def _of_label(text: str, codes: Mapping[str, str]) -> str | None:
    folded = unaccented(text).strip(" .")
    found = [code for code, label in codes.items() if label and unaccented(label).strip() == folded]
    return found[0] if len(found) == 1 else None


def _of_country(text: str, codes: Mapping[str, str]) -> str | None:
    """Return the code of a country: "FR" is 250 where the codes are numbers of countries, in any language."""
    wanted = _country(text)
    if wanted is None:
        return None
    found = [code for code, label in codes.items() if wanted in {_country(code), _country(label)}]
    return found[0] if len(found) == 1 else None


def _country(text: str) -> int | None:
    try:
        return market_code(text) if text.strip() else None
    except QueryError:
        return None

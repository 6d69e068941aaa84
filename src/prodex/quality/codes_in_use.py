"""Codes that an attribute has today: what is refused that is none of them, and which one was perhaps meant."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prodex.errors import QueryError
from prodex.locales import market_code
from prodex.phrases import nearest, unaccented

#: Where nobody knows which codes are in use.
NO_CODES: Mapping[str, str] = MappingProxyType({})
#: Codes in use that a message names.
_NAMED = 8


def not_in_use(code: str, codes: Mapping[str, str]) -> str | None:
    """Return why a code is refused that is not among those in use; None where it is, or these are not known.

    >>> not_in_use("FR", {"250": "France", "724": "Spain"}).partition("?")[0]
    "'FR' is not among the codes in use; did you mean 250 (France)"
    """
    if not codes or code.casefold() in {one.casefold() for one in codes}:
        return None
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

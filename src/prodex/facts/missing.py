"""Why a value is missing: absent, null, empty, or not requested. These are four facts, and are never mixed.

This is the definition, a walk of one record; `prodex.facts.fill` decides the same for whole catalogues.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from prodex.locales import short_language, short_of
from prodex.tables.plain import presence_of
from prodex.tables.values import fit


class Missing(StrEnum):
    """Why a value is missing; the member's value is shown."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    NOT_ASKED = "not requested"


_KEY = re.compile(r"(?:\\.|[^.\\])+")
#: Of several reasons at one path the most specific is shown: somebody has sent an empty text, nobody an absent one.
_MOST_SPECIFIC = (Missing.EMPTY, Missing.NULL, Missing.ABSENT)


def missing_in(value: Any, inner: Iterable[str], language: str | None = None) -> Missing:
    """Return why there is no data at a place inside a value.

    Parameters
    ----------
    value
        The value of an attribute of a record, as JSON has it.
    inner
        The wire keys that lead from there to the place.
    language
        Short code, if texts in one language are missing.

    Examples
    --------
    >>> texts = [{"expressedIn": {"code": "fra-FR"}, "data": None}, {"expressedIn": {"code": "deu-DE"}, "data": " "}]
    >>> [str(missing_in(texts, [], language)) for language in ("fr", "de", "nl", None)]
    ['null', 'empty', 'absent', 'empty']
    >>> str(missing_in({"pictures": []}, ["pictures"]))
    'empty'
    """
    values = list(_items(value))
    for key in inner:
        below = [one[key] for one in values if isinstance(one, dict) and key in one]
        values = [item for one in below if presence_of(one) == "filled" for item in _items(one)]
        if not values:
            return _most(below)
    if language is not None:
        values = [one["data"] for one in _objects(values) if "data" in one and _is_in(one, language)]
    return _most(_leaves(values))


def keys(path: str) -> list[str]:
    r"""Return the wire keys of a path, the inverse of `child_path`.

    >>> keys(r"tags.a\.b.\e")
    ['tags', 'a.b', '']
    """
    found = _KEY.findall(path) or [r"\e"]  # the path of a product that is itself a code or a text
    return ["" if one == r"\e" else re.sub(r"\\(.)", r"\1", one) for one in found]


def _most(values: Iterable[Any]) -> Missing:
    # Nothing but spaces is no data, so that somebody has sent an empty text.
    presences = {"empty" if isinstance(one, str) and not one.strip() else presence_of(one) for one in values}
    return next((one for one in _MOST_SPECIFIC if one in presences), Missing.ABSENT)


def _items(value: Any) -> Iterator[Any]:
    """Yield a value, or the items of a list and of the lists in it."""
    # Not recursive, here and below: a record may nest a thousand lists.
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        else:
            yield one


def _objects(values: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects among values, and those inside them."""
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _leaves(values: list[Any]) -> Iterator[Any]:
    """Yield what is at the end of each way into values: scalars, null, and empty lists and objects."""
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if one and isinstance(one, dict | list):
            waiting.extend(one.values() if isinstance(one, dict) else one)
        else:
            yield one


def _is_in(item: dict[str, Any], language: str) -> bool:
    described = item.get("expressedIn")
    if not isinstance(described, dict):
        return False
    # As for the column `language` of the tables: the short code as sent, else that of the long one.
    code, short = fit(described.get("code"), "code"), fit(described.get("normalizedCode"), "string")
    spoken = short_language(code, short)
    spoken = code if spoken is None else spoken
    return spoken is not None and short_of(spoken) == short_of(language)

"""Why a value is missing: absent, null, empty, or not requested. These are four facts, and are never mixed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from prodex.locales import short_of
from prodex.notebook.card.record import Record
from prodex.tables.plain import presence_of


class Missing(StrEnum):
    """Why a value is missing; the member's value is shown."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    NOT_ASKED = "not requested"


_KEY = re.compile(r"(?:\\.|[^.\\])+")
#: Of several reasons at one path the most specific is shown: somebody has sent an empty text, nobody an absent one.
_MOST_SPECIFIC = (Missing.EMPTY, Missing.NULL, Missing.ABSENT)


def why_missing(record: Record, attribute: str, language: str | None = None) -> Missing:
    """Return why there is no value at a wire path.

    Parameters
    ----------
    record
        The product.
    attribute
        Wire path, such as `namePublicLong` or `assets.pictures`.
    language
        Short code, if a text in one language is missing.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.card.record import read_record
    >>> record = read_record(prodex.flatten([{"id": 7, "brand": None, "assets": {"pictures": []}}]), "7")
    >>> [str(why_missing(record, path)) for path in ("brand", "kind", "assets.pictures", "assets.videos")]
    ['null', 'absent', 'empty', 'absent']
    """
    # First of all: what was not requested is absent in the record, too.
    if not record.origin.asked(attribute, language):
        return Missing.NOT_ASKED
    first, *others = keys(attribute)
    shown = record.presence(first)
    if shown != "filled":
        return Missing(shown)
    values = list(_items(record.wire.get(first)))
    for key in others:
        below = [one[key] for one in values if isinstance(one, dict) and key in one]
        values = [item for one in below if presence_of(one) == "filled" for item in _items(one)]
        if not values:
            return _most(below)
    texts = [one.get("data", _ABSENT) for one in values if isinstance(one, dict) and _is_in(one, language)]
    return _most(texts if language is not None else values)


def keys(path: str) -> list[str]:
    r"""Return the wire keys of a path, the inverse of `child_path`.

    >>> keys(r"tags.a\.b.\e")
    ['tags', 'a.b', '']
    """
    found = _KEY.findall(path) or [r"\e"]  # the path of a product that is itself a code or a text
    return ["" if one == r"\e" else re.sub(r"\\(.)", r"\1", one) for one in found]


#: Not None, which is a text that was sent as null.
_ABSENT = object()


def _most(values: list[Any]) -> Missing:
    reasons = {
        Missing(shown) for one in values if one is not _ABSENT and (shown := presence_of(one)) != "filled"
    }
    return next((one for one in _MOST_SPECIFIC if one in reasons), Missing.ABSENT)


def _items(value: Any) -> Iterator[Any]:
    """Yield a value, or the items of a list and of the lists in it."""
    # Not recursive: a record may nest a thousand lists.
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        else:
            yield one


def _is_in(item: dict[str, Any], language: str | None) -> bool:
    described = item.get("expressedIn")
    if language is None or not isinstance(described, dict):
        return False
    # As for the column `language` of the tables: the normalized code, else the one that was sent.
    code = described.get("normalizedCode") or described.get("code")
    return isinstance(code, str) and short_of(code) == short_of(language)

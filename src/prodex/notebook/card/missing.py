"""The four faces of what is missing: absent, null, empty, not asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from prodex.locales import short_of
from prodex.notebook.card.record import Record
from prodex.tables.plain import presence_of


class Missing(StrEnum):
    """What a gap shows; the value is what people read."""

    ABSENT = "absent"
    NULL = "null"
    EMPTY = "empty"
    NOT_ASKED = "not asked for"


_KEY = re.compile(r"(?:\\.|[^.\\])+")
#: Of several gaps at one place the one that says most.
_SAYS_MOST = (Missing.EMPTY, Missing.NULL, Missing.ABSENT)


def face(record: Record, attribute: str, language: str | None = None) -> Missing:
    """Say why there is no value at a wire path.

    Parameters
    ----------
    record
        The product.
    attribute
        Wire path, such as `namePublicLong` or `assets.pictures`.
    language
        Short code, where a text in one language is missing.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.card.record import read_record
    >>> record = read_record(prodex.flatten([{"id": 7, "brand": None, "assets": {"pictures": []}}]), "7")
    >>> [str(face(record, path)) for path in ("brand", "kind", "assets.pictures", "assets.videos")]
    ['null', 'absent', 'empty', 'absent']
    """
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
    spoken = [one.get("data", _ABSENT) for one in values if isinstance(one, dict) and _speaks(one, language)]
    return _most(spoken if language is not None else values)


def keys(path: str) -> list[str]:
    r"""Return the wire keys of a path, as `child_path` has put them together.

    >>> keys(r"tags.a\.b.\e")
    ['tags', 'a.b', '']
    """
    found = _KEY.findall(path) or [r"\e"]  # the product itself, when it has the shape of a code or a text
    return ["" if one == r"\e" else re.sub(r"\\(.)", r"\1", one) for one in found]


_ABSENT = object()


def _most(values: list[Any]) -> Missing:
    faces = {
        Missing(shown) for one in values if one is not _ABSENT and (shown := presence_of(one)) != "filled"
    }
    return next((one for one in _SAYS_MOST if one in faces), Missing.ABSENT)


def _items(value: Any) -> Iterator[Any]:
    """Yield a value, or what is in it: lists are transparent."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        else:
            yield one


def _speaks(item: dict[str, Any], language: str | None) -> bool:
    described = item.get("expressedIn")
    if language is None or not isinstance(described, dict):
        return False
    code = described.get("normalizedCode") or described.get("code")
    return isinstance(code, str) and short_of(code) == short_of(language)

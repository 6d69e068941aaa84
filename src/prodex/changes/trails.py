"""The values of an attribute at several times, place by place: which text was what, and where it was not there.

A place is known as in every change: by language, code or address, and by its index only where nothing else tells
items apart. So a text that moved to another index is the same text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from prodex.changes.change import ABSENT, Item, Path, absence_of
from prodex.changes.identity import aligned
from prodex.changes.sameness import is_one_value, is_text
from prodex.changes.words import in_words, item_in_words
from prodex.locales import short_language


@dataclass(frozen=True)
class ValuePlace:
    """A place of a product, as tables name it.

    Attributes
    ----------
    path
        The place as a change has it; empty for the product as a whole.
    language_code
        The language of the text that is there, as sent, "" if it names none; None if it is no text.
    """

    path: Path = ()
    language_code: str | None = None

    @property
    def attribute(self) -> str:
        """Its wire path, as in the tables: `productBenefits.text`."""
        names = [step for step in self.path if isinstance(step, str)]
        return ".".join(names if self.language_code is None else names[:-1])

    @property
    def language(self) -> str | None:
        """The language of a text in the short form."""
        code = self.language_code or None
        return None if code is None else (short_language(code, None) or code)

    @property
    def item(self) -> str:
        """What tells its item from others, where it is in a list: a code, an address, an index."""
        items = [step for step in self.path if isinstance(step, Item | int)]
        match items:
            # The language of a text is in a column of its own.
            case [*_, Item(name="language", number=number)] if self.language_code:
                items[-1:] = [Item("language", "", number)] if number else []
        return " / ".join(map(item_in_words, items))


class Trail(NamedTuple):
    """A place, and what it held at each time: a value as the record has it (of a text its letters), or an absence."""

    place: ValuePlace
    held: tuple[Any, ...]


def trails(root: str, versions: Sequence[Any]) -> Iterator[Trail]:
    """Yield the places of an attribute, with what each holds in every version.

    Parameters
    ----------
    root
        The attribute.
    versions
        Its values; ABSENT where the record does not have it, NOT_ASKED where nobody asked for it.

    Examples
    --------
    >>> french = {"expressedIn": {"code": "fra-FR"}, "data": "Riz"}
    >>> dutch = {"expressedIn": {"code": "nld-NL"}, "data": "Rijst"}
    >>> for one in trails("namePublicLong", [[french], [dutch, french], None]):
    ...     print(one.place.language, one.held)
    fr ('Riz', 'Riz', None)
    nl (ABSENT, 'Rijst', None)
    """
    yield from _trails((root,), versions)


def _trails(path: Path, versions: Sequence[Any]) -> Iterator[Trail]:
    filled = [one for one in versions if absence_of(one) is None]
    inner: dict[Any, list[Any]] | None = None
    if filled and all(isinstance(one, dict) and not is_one_value(one) for one in filled):
        names = dict.fromkeys(name for one in filled for name in one)
        inner = {
            name: [one.get(name, ABSENT) if isinstance(one, dict) else one for one in versions]
            for name in names
        }
    elif filled and all(isinstance(one, list) for one in filled):
        inner = aligned([[] if absence_of(one) else one for one in versions])
    if inner is None:
        yield _trail(path, versions, filled)
        return
    for step, each in inner.items():
        # What is in nothing is missing in the same way.
        held = [
            one if absence_of(whole) is None else whole for one, whole in zip(each, versions, strict=True)
        ]
        yield from _trails((*path, step), held)


def _trail(path: Path, versions: Sequence[Any], filled: Sequence[Any]) -> Trail:
    # A plain string that became a localized text is another value, and no text in a language.
    if not filled or not all(is_text(one) and one["data"] is not None for one in filled):
        return Trail(ValuePlace(path), tuple(versions))
    codes = [one["expressedIn"].get("code") for one in filled]
    code = next((one for one in reversed(codes) if isinstance(one, str)), "")
    letters = tuple(one["data"] if absence_of(one) is None else one for one in versions)
    return Trail(ValuePlace((*path, "data"), code), letters)


def shown_value(held: Any) -> str | None:
    """Return a value as text: a code with its label behind, an amount with its unit, JSON of anything larger.

    >>> shown_value({"code": "FR", "label": "France"}), shown_value({"expressedIn": {"code": "GRM"}, "data": 500})
    ('FR (France)', '500 GRM')
    >>> shown_value(None), shown_value(True), shown_value("verbatim")
    (None, 'true', 'verbatim')
    """
    if absence_of(held) is not None:
        return None
    match held:
        case {"expressedIn": {"code": str()}, "data": int() | float()} if len(held) == 2:
            is_larger = False
        case {"code": str() | int()}:
            is_larger = not held.keys() <= {"code", "label", "description"}
        case _:
            is_larger = isinstance(held, list | dict)
    text = json.dumps(held, ensure_ascii=False, default=str) if is_larger else in_words(held, labelled=True)
    # Half of a surrogate pair, which no frame can hold, is shown as it was sent.
    return text.encode("utf-8", "backslashreplace").decode()

"""What is remembered of a change that was sent, without its values: digests, by which it is known again.

A digest is known again however a service spells a value: by what it says (`prodex.changes.said`). It names the
attribute; everything else of it cannot be read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from prodex.changes import Change, Item, items_of, path_after, said, says_the_same, telling_apart
from prodex.changes.change import Path, Step, step_as_json
from prodex.changes.sameness import is_one_value, is_text
from prodex.locales import tag_of
from prodex.written_json import written_json

#: The digests of several changes of one product.
Digests: TypeAlias = frozenset[str]
#: What is at the places of a product: the digest of each value, by that of its place.
Shown: TypeAlias = Mapping[str, str]

_LENGTH = 12


@lru_cache(maxsize=10_000)
def digest_of(change: Change) -> str:
    """Return what is kept of a change: its attribute, and digests of the place, of the new value and of the old one.

    >>> one, other = (Change("7", ("serves",), 4, after) for after in (6, 6.0))
    >>> digest_of(one) == digest_of(other), digest_of(one).partition(":")[0]
    (True, 'serves')
    """
    then = path_after(change)
    before = (_place(change.path), _value(change.path, change.before))
    parts = (place_digest(then), value_digest(then, change.after), _hashed(before))
    return ":".join((change.attribute or "", *parts))


def digests_of(changes: Iterable[Change]) -> Digests:
    """Return the digests of changes: of those that say something new, if any do."""
    every = [*changes]
    return frozenset(map(digest_of, [one for one in every if not says_the_same(one)] or every))


def attribute_of(digest: str) -> str:
    """Return the attribute at the top of the product that a change is about.

    >>> attribute_of("namePublicLong:1:2:3")
    'namePublicLong'
    """
    return digest.rsplit(":", 3)[0]


def made_by(digest: str) -> tuple[str, str]:
    """Return what a change makes: the digest of its place, and that of what is there then.

    >>> made_by("namePublicLong:1:2:3")
    ('1', '2')
    """
    _, place, after, _ = digest.rsplit(":", 3)
    return place, after


def place_digest(path: Path) -> str:
    """Return the digest of a place."""
    return _hashed(_place(path))


def value_digest(path: Path, value: Any) -> str:
    """Return the digest of what a value at a place says; of a text it is that of its letters."""
    return _hashed(_value(path, value))


def shown_by(record: Mapping[str, Any]) -> Shown:
    """Return the digests of all that a product shows."""
    found: dict[str, str] = {}
    for name, value in record.items():
        _show((name,), value, found)
    return found


def is_shown(digest: str, shown: Shown) -> bool:
    """Whether a product shows what a change was to make of its place, whoever has made it.

    >>> from prodex.changes import ABSENT
    >>> one = Change("7", ("isTaggedBy", Item("value", "new")), ABSENT, "new")
    >>> [is_shown(digest_of(one), shown_by(record)) for record in ({"isTaggedBy": ["big", "new"]}, {})]
    [True, False]
    """
    place, after = made_by(digest)
    return shown.get(place, _NOTHING) == after


def are_shown(digests: Digests, shown: Shown) -> bool:
    """Whether a product shows all of some changes; there has to be one."""
    return bool(digests) and all(is_shown(one, shown) for one in digests)


def _show(path: Path, value: Any, found: dict[str, str]) -> None:
    found[place_digest(path)] = value_digest(path, value)
    if isinstance(value, dict) and not is_one_value(value):
        for name, inner in value.items():
            _show((*path, name), inner, found)
    elif isinstance(value, list):
        name = telling_apart(value)
        items = None if name is None else items_of(name, value)
        steps: Sequence[Step] = range(len(value)) if items is None else items[0]
        for step, inner in zip(steps, value, strict=True):
            _show((*path, step), inner, found)


def _place(path: Path) -> Any:
    """Return a place as JSON: a text is where its letters are, however its language is written."""
    if path[-1:] == ("data",) and _is_text_item(path[-2:-1]):
        path = path[:-1]
    return [step_as_json(_one_spelling(step)) for step in path]


def _one_spelling(step: Step) -> Step:
    if not isinstance(step, Item):
        return step
    value = tag_of(step.value) if step.name == "language" else step.value
    return Item(step.name, value, step.number, 0)


def _value(path: Path, value: Any) -> Any:
    return said(value["data"] if _is_text_item(path[-1:]) and is_text(value) else value)


def _is_text_item(last: Path) -> bool:
    return any(isinstance(step, Item) and step.name == "language" for step in last)


def _hashed(value: Any) -> str:
    return hashlib.sha256(written_json(value, is_ascii=True).encode()).hexdigest()[:_LENGTH]


#: The digest of nothing at all.
_NOTHING = value_digest((), None)

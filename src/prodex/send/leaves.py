"""Single changes within an attribute: what stood at one place and what is to stand there, whatever stands beside it.

A write replaces an attribute as a whole (`prodex.send.merging`). Whoever takes a write back, or repeats it on another
product, means only the leaves that it changed: one text among several, one code of a list. A `LeafChange` knows such a
leaf by what tells it from its neighbours - the language of a text, a code, an address - and by its place in a list only
where nothing else does. So it finds the leaf again after others have been added, taken away and moved, and it never
replaces a value that it does not expect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, NamedTuple, Self, TypeAlias

from prodex.changes import MAINTAINED_BY_SERVICE
from prodex.locales import is_whole_language, short_of, tag_of
from prodex.send.attribute_types import CODE_VALUE, LANGUAGE


class Nothing(Enum):
    """What stands at a place where the record says nothing, not even null."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Nothing.ABSENT


class ItemKey(NamedTuple):
    """What tells an item of a list from its neighbours.

    Attributes
    ----------
    name, value
        What it is known by, and the value of that: "language" and "fra-FR".
    number, of
        Which of the items with this value it is, and how many there are.
    """

    name: str
    value: str
    number: int = 0
    of: int = 1


#: A key of an object, the index in a list, or what an item of a list is known by.
PathStep: TypeAlias = str | int | ItemKey


class LeafChanged(Exception):
    """The place holds something else than the change expects.

    Attributes
    ----------
    found
        What it holds.
    """

    def __init__(self, found: Any) -> None:
        super().__init__(found)
        self.found = found


@dataclass(frozen=True)
class LeafChange:
    """One change of one leaf: a value, or an item of a list as a whole.

    Attributes
    ----------
    root
        The attribute at the top of the product.
    path
        Where it is below that, as it was before; empty for the attribute as a whole.
    before, after
        What it held and what it is to hold; ABSENT for nothing.
    path_after
        Where it is once it is made: an item of a list may then be known by something else.
    at
        The index in the list of an item that is added.

    Examples
    --------
    >>> before = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    >>> (change,) = leaf_changes("namePublicLong", before, [before[0] | {"data": "Pain bis"}])
    >>> [step.value if isinstance(step, ItemKey) else step for step in change.path], change.before, change.after
    (['fra-FR', 'data'], 'Pain', 'Pain bis')
    >>> beside = {"expressedIn": {"code": "eng-GB"}, "data": "Bread"}
    >>> [one["data"] for one in change.applied([beside, *before])]
    ['Bread', 'Pain bis']
    """

    root: str
    path: tuple[PathStep, ...]
    before: Any
    after: Any
    path_after: tuple[PathStep, ...]
    at: int | None = None

    def found(self, present: Any) -> Any:
        """Return what the place holds in an attribute; ABSENT where it is not there."""
        now = _value_at(present, self.path)
        if now is ABSENT and self.path != self.path_after:
            return _value_at(present, self.path_after)
        return now

    def is_made(self, present: Any) -> bool:
        """Whether the attribute is already as the change makes it."""
        now = _value_at(present, self.path_after)
        if not is_same_value(now, self.after):
            return False
        # Of an item that was replaced by another one, the old one is gone. A language may be written in another way:
        # then both are one item.
        old = _value_at(present, self.path)
        return self.path == self.path_after or old is ABSENT or old is now

    def applied(self, present: Any) -> Any:
        """Return the attribute with the change; the one that is given stays as it is.

        Raises
        ------
        LeafChanged
            When the place holds neither what it held before, nor what it is to hold.
        """
        if self.is_made(present):
            return present
        self.check(present)
        made = _with_value(_copied(present), self.path, self.after, self.at)
        return None if made is ABSENT else made

    def check(self, present: Any) -> None:
        """Check that the place holds what it held before; `applied` does it, too.

        Raises
        ------
        LeafChanged
            When it holds something else.
        """
        old, new = _value_at(present, self.path), _value_at(present, self.path_after)
        if not is_same_value(old, self.before):
            raise LeafChanged(self.found(present))
        # Where both are there already, one would be there twice.
        if self.path != self.path_after and new is not ABSENT and new is not old:
            raise LeafChanged([old, new])

    def inverse(self) -> Self:
        """Return the change that takes this one back."""
        return replace(self, path=self.path_after, before=self.after, after=self.before, path_after=self.path)


def leaf_changes(root: str, before: Any, after: Any) -> tuple[LeafChange, ...]:
    """Return what tells one value of an attribute from another, leaf by leaf.

    Applied to `before` one after the other they give `after`. Values that say the same (`is_same_value`) are no change.

    Parameters
    ----------
    root
        The attribute.
    before, after
        Its values, ABSENT where the record does not have it.
    """
    found = tuple(_changes(root, (), before, after))
    made = before
    try:
        for one in found:
            made = one.applied(made)
    except LeafChanged:
        made = ABSENT
    if is_same_value(made, after) and is_same_value(_back(found, made), before):
        return found
    # The order of a list is the change, or nothing tells its items apart.
    return (LeafChange(root, (), before, after, ()),)


def _copied(value: Any) -> Any:
    """Return a copy of a value of JSON, in a third of the time of `deepcopy`."""
    match value:
        case dict():
            return {name: _copied(inner) for name, inner in value.items()}
        case list():
            return [_copied(inner) for inner in value]
    return value


def _back(changes: Sequence[LeafChange], made: Any) -> Any:
    try:
        for one in reversed(changes):
            made = one.inverse().applied(made)
    except LeafChanged:
        return changes
    return made


#: When the service has stored something.
_STAMPS = frozenset({"lastUpdatedAt", "updatedAt", "createdAt"})


def is_nothing(value: Any) -> bool:
    """Whether a value says nothing: absent, null or empty. A write takes an attribute away in one way only."""
    if isinstance(value, dict):
        # What is left of an attribute that was taken away may be a time stamp of the service.
        return not value.keys() - _STAMPS
    return value is ABSENT or value is None or value == []


#: What a service adds beside a code and a language; it follows from them.
_DESCRIPTION = (CODE_VALUE.keys() | LANGUAGE.keys()) - {"code"}
#: What a service writes into an item each time it stores it.
_STAMPS = frozenset({"lastUpdatedAt", "createdAt", "updatedAt"})
#: What a service adds to an item that it stores.
_ADDED = (MAINTAINED_BY_SERVICE | {"uuid", "id"}) - _STAMPS


def is_same_value(one: Any, other: Any) -> bool:
    """Whether two values say the same: 1 is 1.0, labels beside a code say nothing more, and null is no value.

    >>> is_same_value({"code": "FR", "label": "France"}, {"code": "FR"}), is_same_value(1, True)
    (True, False)
    >>> is_same_value([], None)
    True
    """
    if is_nothing(one) or is_nothing(other):
        return is_nothing(one) and is_nothing(other)
    match one, other:
        case dict(), dict():
            names = (one.keys() | other.keys()) - _STAMPS
            if _is_text(one) and _is_text(other):
                names -= {"expressedIn"}
                if not _is_same_language(_language(one), _language(other)):
                    return False
            if "code" in one and "code" in other:
                names -= _DESCRIPTION
                if str(one["code"]) != str(other["code"]):
                    return False
                names -= {"code"}
            return all(
                is_same_value(one.get(name), other.get(name))
                for name in names
                if name not in _ADDED or (name in one and name in other)
            )
        case list(), list():
            return len(one) == len(other) and all(map(is_same_value, one, other))
        case (bool(), _) | (_, bool()):
            return one is other
        case (int() | float(), int() | float()):
            return one == other
    return type(one) is type(other) and bool(one == other)


def _changes(root: str, path: tuple[PathStep, ...], before: Any, after: Any) -> Iterator[LeafChange]:
    if is_same_value(before, after):
        return
    match before, after:
        case dict(), dict() if not _is_one_value(before) and not _is_one_value(after):
            for name in dict.fromkeys([*before, *after]):
                if name in _STAMPS or (name in _ADDED and not (name in before and name in after)):
                    continue
                yield from _changes(root, (*path, name), before.get(name, ABSENT), after.get(name, ABSENT))
        case dict(), dict() if (
            _is_text(before) and _is_text(after) and _is_same_language(_language(before), _language(after))
        ):
            for name in dict.fromkeys([*before, *after]):
                if name != "expressedIn":
                    yield from _changes(
                        root, (*path, name), before.get(name, ABSENT), after.get(name, ABSENT)
                    )
        case (list(), list()) | (list(), None | Nothing.ABSENT) | (None | Nothing.ABSENT, list()):
            yield from _changes_of_list(root, path, before or [], after or [])
        case _:
            yield LeafChange(root, path, before, after, path)


def _changes_of_list(root: str, path: tuple[PathStep, ...], before: Any, after: Any) -> Iterator[LeafChange]:
    before, after = ([] if one is ABSENT else one for one in (before, after))
    if (key := _telling_apart(before, after)) is None:
        if len(before) == len(after):
            for place, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from _changes(root, (*path, place), old, new)
        else:
            yield LeafChange(root, path, before, after, path)
        return
    names = _one_name_each(key, before, after)
    if names is None:
        yield LeafChange(root, path, before, after, path)
        return
    old, new = (
        dict(zip(_keys(before, key, names), before, strict=True)),
        dict(zip(_keys(after, key, names), after, strict=True)),
    )
    if any(one.of > 1 for one in old.keys() ^ new.keys()):
        # Of several that are known by the same, nobody can say which one is gone.
        yield LeafChange(root, path, before, after, path)
        return
    for one in old:
        if one in new:
            yield from _changes(root, (*path, one), old[one], new[one])
    was_at, is_at = ({one: place for place, one in enumerate(items)} for items in (old, new))
    removed = {was_at[one]: one for one in old if one not in new}
    added = {is_at[one]: one for one in new if one not in old}
    for place, one in removed.items():
        if (other := added.pop(place, None)) is not None:
            yield LeafChange(root, (*path, one), old[one], new[other], (*path, other))
        else:
            yield LeafChange(root, (*path, one), old[one], ABSENT, (*path, one), place)
    for place, one in added.items():
        yield LeafChange(root, (*path, one), ABSENT, new[one], (*path, one), place)


def _is_text(value: Any) -> bool:
    return _is_expressed(value) and isinstance(value["data"], str)


def _is_expressed(value: Any) -> bool:
    return isinstance(value, dict) and "data" in value and isinstance(value.get("expressedIn"), dict)


def _is_one_value(value: Mapping[str, Any]) -> bool:
    """Whether an object is one value for people: a code, an amount with its unit, a text with its language."""
    return "code" in value or _is_expressed(value)


def _language(value: Any) -> str:
    return str(value["expressedIn"].get("code"))


def _is_same_language(one: str, other: str) -> bool:
    """Whether two codes are of one language: services write "fr-FR" or "fr" for "fra-FR", which is not "fra-BE"."""
    if tag_of(one) == tag_of(other):
        return True
    return short_of(one) == short_of(other) and (is_whole_language(one) or is_whole_language(other))


def _by_language(item: Any) -> str | None:
    return _language(item) if _is_text(item) else None


def _by_unit(item: Any) -> str | None:
    return _language(item) if _is_expressed(item) and not _is_text(item) else None


def _by_value(item: Any) -> str | None:
    return None if isinstance(item, dict | list) or item is None else str(item)


def _by(name: str) -> Callable[[Any], str | None]:
    def known(item: Any) -> str | None:
        value = item.get(name) if isinstance(item, dict) else None
        if isinstance(value, dict) and "code" in value:
            value = value["code"]
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None

    return known


#: What items of a list may be known by, the best first; of the first ones several items may have the same.
_KNOWN_BY: Mapping[str, Callable[[Any], str | None]] = {
    "language": _by_language,
    "code": _by("code"),
    "value": _by_value,
    "unit": _by_unit,
    **{
        name: _by(name)
        for name in ("uniformResourceIdentifier", "url", "uuid", "id", "gtin", "nutrient", "type", "name")
    },
}
_SEVERAL = frozenset({"language", "code", "value", "unit"})


def _telling_apart(before: Sequence[Any], after: Sequence[Any]) -> str | None:
    """Return what the items of both lists are known by; None where only their order tells them apart."""
    items = [*before, *after]
    names = {str(name) for one in items if isinstance(one, dict) for name in one}
    for name in (*_KNOWN_BY, *sorted(names - _KNOWN_BY.keys())):
        known = _known_by(name)
        if all(known(one) is not None for one in items) and (
            name in _SEVERAL
            or all(len({known(one) for one in several}) == len(several) for several in (before, after))
        ):
            return name
    return None


def _known_by(name: str) -> Callable[[Any], str | None]:
    return _KNOWN_BY.get(name) or _by_code_in(name)


def _by_code_in(name: str) -> Callable[[Any], str | None]:
    """Know items by a code that they have; a number or a word of theirs may be what somebody changes."""

    def known(item: Any) -> str | None:
        value = item.get(name) if isinstance(item, dict) else None
        return str(value["code"]) if isinstance(value, dict) and "code" in value else None

    return known


def _one_name_each(name: str, *lists: Sequence[Any]) -> Mapping[str, str] | None:
    """Return by which code each language goes, however it is written; None where "fr" may be one of several."""
    known = _known_by(name)
    spelled = [list(dict.fromkeys(str(known(one)) for one in items)) for items in lists]
    values = list(dict.fromkeys(value for one in spelled for value in one))
    if name != "language":
        return {one: one for one in values}
    beside = _named_beside(spelled)
    # The codes with a country first, since they say most.
    values.sort(key=is_whole_language)
    names: dict[str, str] = {}
    for value in values:
        is_apart = short_of(value) in beside
        same = list(
            dict.fromkeys(
                names[one]
                for one in names
                if (tag_of(one) == tag_of(value) if is_apart else _is_same_language(one, value))
            )
        )
        if len(same) > 1:
            return None
        names[value] = same[0] if same else value
    return names


def _named_beside(lists: Iterable[Sequence[str]]) -> set[str]:
    """Return the languages of which a list has a text without a country beside one with it: these are two."""
    return {
        short
        for values in lists
        for short in set(map(short_of, values))
        if len({is_whole_language(one) for one in values if short_of(one) == short}) > 1
    }


def _keys(items: Sequence[Any], name: str, names: Mapping[str, str]) -> list[ItemKey]:
    known = _known_by(name)
    values = [names[str(known(one))] for one in items]
    counts, seen = Counter(values), Counter[str]()
    keys = []
    for value in values:
        keys.append(ItemKey(name, value, seen[value], counts[value]))
        seen[value] += 1
    return keys


def _places_of(items: Sequence[Any], key: ItemKey) -> list[int]:
    """Return the indexes of the items that are known by a value."""
    known = _known_by(key.name)
    places = [place for place, one in enumerate(items) if known(one) == key.value]
    if len(places) != key.of and key.name == "language":
        values = [known(one) or "" for one in items]
        exact = [place for place, one in enumerate(values) if tag_of(one) == tag_of(key.value)]
        if exact:
            return exact
        # A text without a country is that of any, unless one beside it names a country: then they are two.
        if short_of(key.value) in _named_beside([values]):
            return []
        places = [place for place, one in enumerate(values) if _is_same_language(one, key.value)]
    return places


def _place_of(items: Sequence[Any], key: ItemKey) -> int | None:
    """Return the index of an item; None where it is not there, or nobody can say which one it is."""
    places = _places_of(items, key)
    return places[key.number] if len(places) == key.of else None


def _value_at(present: Any, path: Sequence[PathStep]) -> Any:
    at = present
    for step in path:
        match step, at:
            case str(), dict():
                at = at.get(step, ABSENT)
            case ItemKey(), list():
                places = _places_of(at, step)
                # Several in place of one are not nothing: another one beside them would be one too many.
                several: Any = [at[place] for place in places] or ABSENT
                at = at[places[step.number]] if len(places) == step.of else several
            case int(), list():
                at = at[step] if step < len(at) else ABSENT
            case _:
                return ABSENT
    return at


def _with_value(at: Any, path: Sequence[PathStep], value: Any, index: int | None) -> Any:
    """Return a value with another one at a place below it, which is made where it is not there."""
    if not path:
        return _copied(value)
    step, *rest = path
    if isinstance(step, str):
        made = {} if is_nothing(at) else at
        if not isinstance(made, dict):
            raise LeafChanged(at)
        inner = _with_value(made.get(step, ABSENT), rest, value, index)
        kept = {name: one for name, one in made.items() if name != step}
        return kept if inner is ABSENT else made | {step: inner}
    items = [] if is_nothing(at) else at
    if not isinstance(items, list):
        raise LeafChanged(at)
    place = _place_of(items, step) if isinstance(step, ItemKey) else step
    if place is None or place >= len(items):
        # Nothing is added at an index: in a shorter list, it is the place of something else.
        if rest or value is ABSENT or isinstance(step, int):
            raise LeafChanged(at)
        end = len(items) if index is None else min(index, len(items))
        return [*items[:end], _copied(value), *items[end:]]
    inner = _with_value(items[place], rest, value, index)
    return [*items[:place], *([] if inner is ABSENT else [inner]), *items[place + 1 :]]


def is_one_value(value: Any) -> bool:
    """Whether a value is one for people: a text with its language, a code, an amount with its unit, or no object."""
    return not isinstance(value, list) and (not isinstance(value, dict) or _is_one_value(value))


def aligned(lists: Sequence[Sequence[Any]]) -> dict[PathStep, list[Any]] | None:
    """Return the items of several lists by what tells them apart, ABSENT where a list does not have one.

    Of items that are known by the same, the first ones belong together, then the second ones. None where only their
    order tells items apart, and the lists are not of the same length.

    Parameters
    ----------
    lists
        The same list at several times.

    Examples
    --------
    >>> [(key.value, items) for key, items in aligned([["A", "B"], ["B"]]).items()]
    [('A', ['A', ABSENT]), ('B', ['B', 'B'])]
    """
    filled = [one for one in lists if one]
    codes = sorted({name for one in filled for item in one if isinstance(item, dict) for name in item})
    for name in (*_KNOWN_BY, *(one for one in codes if one not in _KNOWN_BY)):
        known = _known_by(name)
        values = [[known(item) for item in one] for one in filled]
        if any(value is None for several in values for value in several):
            continue
        if name in _SEVERAL or all(len({*several}) == len(several) for several in values):
            if name == "language":
                known = _variants_apart(values)
            return _by_keys(lists, name, known)
    if len({*map(len, filled)}) > 1:
        return None
    size = len(filled[0]) if filled else 0
    return {place: [one[place] if one else ABSENT for one in lists] for place in range(size)}


def _variants_apart(lists: Sequence[Sequence[str | None]]) -> Callable[[Any], str | None]:
    """Return what texts are known by, as tags: services write a language in their own way, "fr" for "fra-FR".

    One without a country is that of the only country that the lists name, unless both are side by side.
    """
    spelled = [[str(one) for one in values] for values in lists]
    beside = _named_beside(spelled)
    countries: dict[str, set[str]] = {}
    for value in {one for values in spelled for one in values if not is_whole_language(one)}:
        countries.setdefault(short_of(value), set()).add(tag_of(value))
    only = {
        short: next(iter(tags)) for short, tags in countries.items() if len(tags) == 1 and short not in beside
    }
    return lambda item: only.get(tag_of(_language(item)), tag_of(_language(item)))


def _by_keys(
    lists: Sequence[Sequence[Any]], name: str, known: Callable[[Any], str | None]
) -> dict[PathStep, list[Any]]:
    found: dict[PathStep, list[Any]] = {}
    for place, one in enumerate(lists):
        seen = Counter[str]()
        for item in one:
            value = str(known(item))
            key = ItemKey(name, value, seen[value])
            seen[value] += 1
            found.setdefault(key, [ABSENT] * len(lists))[place] = item
    return found

"""What tells an item of a list from its neighbours: its language, code or address; its index where nothing else does.

So an item is found again after others have been added, taken away and moved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from prodex.changes.change import ABSENT, Change, Item, NoValue, Path
from prodex.changes.sameness import is_expressed, is_text, language_of
from prodex.locales import is_same_language, is_whole_language, short_of, tag_of

#: Returns what an item is known by; None of an item that has no such thing.
Known: TypeAlias = Callable[[Any], str | None]


def _by_language(item: Any) -> str | None:
    return language_of(item) if is_text(item) else None


def _by_unit(item: Any) -> str | None:
    if not is_expressed(item) or isinstance(item["data"], str):
        return None
    return str(item["expressedIn"].get("code"))


def _by_value(item: Any) -> str | None:
    match item:
        case dict() | list() | None | NoValue():
            return None
        case bool():
            return str(item).lower()
        case float():
            # By value, and not by spelling: 1.0, 1.00 and 1 are one item.
            plain = float(item)
            if plain != item:
                return repr(item)
            return str(int(plain)) if plain.is_integer() and abs(plain) < 2**53 else repr(plain)
    return str(item)


def _by(name: str) -> Known:
    def known(item: Any) -> str | None:
        value = item.get(name) if isinstance(item, dict) else None
        if isinstance(value, dict) and "code" in value:
            value = value["code"]
        return _code(value)

    return known


def _code(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _by_code_in(name: str) -> Known:
    """Know items by a code that they have; a number or a word of theirs may be what somebody changes."""

    def known(item: Any) -> str | None:
        value = item.get(name) if isinstance(item, dict) else None
        # A code that is null is one, too: the items beside it are still known by theirs.
        return _code(value["code"]) or "" if isinstance(value, dict) and "code" in value else None

    return known


def _by_both(name: str, other: str) -> Known:
    """Know items by two things together: energy is declared in two units, and each is a figure of its own."""

    def known(item: Any) -> str | None:
        held = [item.get(one) if isinstance(item, dict) else None for one in (name, other)]
        parts = [_by_value(one.get("code") if isinstance(one, dict) else one) for one in held]
        return None if None in parts else " ".join(map(str, parts))

    return known


#: What items of a list may be known by, the best first; of the first ones several items may have the same.
_KNOWN_BY: Mapping[str, Known] = {
    "language": _by_language,
    "code": _by("code"),
    "value": _by_value,
    "unit": _by_unit,
    **{
        name: _by(name)
        for name in (
            *("uniformResourceIdentifier", "url", "uuid", "id", "gtin", "nutrient", "type", "name"),
            *("fileName", "reference", "tag"),
        )
    },
}
_SEVERAL = frozenset({"language", "code", "value", "unit"})
#: By these somebody names a nutrient or its table; nothing is told apart by them.
_NAMED_BY: Mapping[str, Known] = {
    "figure": _by_both("isConceptualizedBy", "expressedIn"),
    "basis": _by_both("quantity", "isMeasuredBy"),
}


def known_by(name: str) -> Known:
    """Return the function that says what an item is known by."""
    return _KNOWN_BY.get(name) or _NAMED_BY.get(name) or _by_code_in(name)


def telling_apart(*lists: Sequence[Any]) -> str | None:
    """Return what the items of some lists are known by; None where only their order tells them apart.

    >>> telling_apart([{"code": "A"}, {"code": "B"}], [{"code": "A"}]), telling_apart([[1], [2]])
    ('code', None)
    """
    items = [item for one in lists for item in one]
    for name in _names_of(items):
        known = known_by(name)
        if all(known(one) is not None for one in items) and (
            name in _SEVERAL or all(len({known(one) for one in several}) == len(several) for several in lists)
        ):
            return name
    return None


def _names_of(items: Sequence[Any]) -> Iterator[str]:
    yield from _KNOWN_BY
    yield from sorted(
        {str(name) for one in items if isinstance(one, dict) for name in one} - _KNOWN_BY.keys()
    )


def items_of(name: str, *lists: Sequence[Any]) -> list[list[Item]] | None:
    """Return of each list by what its items are known, the same for one item in all lists.

    None where nobody can say which belong together: "fr" in one list may be each of two French texts in another.

    Parameters
    ----------
    name
        What they are known by, from `telling_apart`.
    lists
        The lists.

    Examples
    --------
    >>> [[item.value for item in one] for one in items_of("value", ["A", "B"], ["B"])]
    [['A', 'B'], ['B']]
    """
    items, is_certain = _items(name, lists)
    return items if is_certain else None


def aligned(lists: Sequence[Sequence[Any]]) -> dict[Item | int, list[Any]] | None:
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
    name = telling_apart(*lists)
    if name is None:
        sizes = {len(one) for one in lists if one}
        if len(sizes) > 1:
            return None
        return {
            place: [one[place] if one else ABSENT for one in lists] for place in range(max(sizes, default=0))
        }
    found: dict[Item | int, list[Any]] = {}
    for place, (items, values) in enumerate(zip(_items(name, lists)[0], lists, strict=True)):
        for item, value in zip(items, values, strict=True):
            found.setdefault(item._replace(of=1), [ABSENT] * len(lists))[place] = value
    return found


def _items(name: str, lists: Sequence[Sequence[Any]]) -> tuple[list[list[Item]], bool]:
    """Return by what the items of lists are known, and whether it is certain which of them belong together."""
    known = known_by(name)
    values = [[str(known(one)) for one in items] for items in lists]
    is_certain = True
    if name == "language":
        spelled, is_certain = _one_code_each([list(dict.fromkeys(one)) for one in values])
        values = [[spelled[value] for value in one] for one in values]
    return [_numbered(name, one) for one in values], is_certain


def _numbered(name: str, values: Sequence[str]) -> list[Item]:
    counts, seen = Counter(values), Counter[str]()
    items = []
    for value in values:
        items.append(Item(name, value, seen[value], counts[value]))
        seen[value] += 1
    return items


def _one_code_each(lists: Sequence[Sequence[str]]) -> tuple[Mapping[str, str], bool]:
    """Return by which code each language goes, however it is written; and whether none may be one of several."""
    beside = _named_beside(lists)
    # The codes with a country first, since they say most.
    codes = sorted(dict.fromkeys(code for one in lists for code in one), key=is_whole_language)
    found: dict[str, str] = {}
    is_certain = True
    for code in codes:
        is_apart = short_of(code) in beside
        same = {
            found[one]
            for one in found
            if (tag_of(one) == tag_of(code) if is_apart else is_same_language(one, code))
        }
        is_certain = is_certain and len(same) < 2
        found[code] = same.pop() if len(same) == 1 else code
    return found, is_certain


def _named_beside(lists: Iterable[Sequence[str]]) -> set[str]:
    """Return the languages of which a list has a text without a country beside one with it: these are two."""
    return {
        short
        for codes in lists
        for short in set(map(short_of, codes))
        if len({is_whole_language(one) for one in codes if short_of(one) == short}) > 1
    }


def step_to(items: Sequence[Any], place: int, name: str | None = None) -> Item | int:
    """Return the step to an item of a list; its index where nothing tells it from its neighbours.

    Parameters
    ----------
    items, place
        The list, and the index of the item.
    name
        What it is known by; by default what tells the items of the list apart.

    Examples
    --------
    >>> step_to(["A", "B"], 1).value, step_to(["A", "A"], 1), step_to([[1], [2]], 1)
    ('B', 1, 1)
    """
    name = name or telling_apart(items)
    if name is None or (value := (known := known_by(name))(items[place])) is None:
        return place
    return Item(name, value) if [*map(known, items)].count(value) == 1 else place


def named(product: Any, path: Sequence[str | int]) -> Path:
    """Return a path with indexes as the items that are there.

    >>> named({"namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]}, ("namePublicLong", 0, "data"))
    ('namePublicLong', Item(name='language', value='fra-FR', number=0, of=1), 'data')
    """
    at, made = product, []
    for step in path:
        made.append(step_to(at, step) if isinstance(step, int) else step)
        at = at[step]
    return tuple(made)


def indexed(product: Any, path: Path) -> tuple[str | int, ...] | None:
    """Return a path with the indexes of its items; None where one of them is not there.

    >>> indexed({"isTaggedBy": ["new", "big"]}, ("isTaggedBy", Item("value", "big")))
    ('isTaggedBy', 1)
    """
    at, made = product, []
    for step in path:
        place: Any = step
        if isinstance(step, Item):
            place = place_of(at, step) if isinstance(at, list) else None
        try:
            at = at[place]
        except (KeyError, IndexError, TypeError):
            return None
        made.append(place)
    return tuple(made)


def is_ambiguous(item: Item, *lists: Sequence[Item]) -> bool:
    """Whether a list has a text in the language of an item that names no country, beside one that does.

    >>> french = [Item("language", code) for code in ("fra-FR", "fr")]
    >>> is_ambiguous(french[0], french), is_ambiguous(french[0], french[:1])
    (True, False)
    """
    if item.name != "language":
        return False
    return short_of(item.value) in _named_beside([[one.value for one in items] for items in lists])


def places_of(items: Sequence[Any], wanted: Item) -> list[int]:
    """Return the indexes of the items that are known by a value; which of them is meant, their number says.

    >>> texts = [{"expressedIn": {"code": code}, "data": "Riz"} for code in ("fra-FR", "nld-NL")]
    >>> places_of(texts, Item("language", "fr-FR")), places_of(texts, Item("language", "fra-BE"))
    ([0], [])
    """
    known = known_by(wanted.name)
    places = [place for place, one in enumerate(items) if known(one) == wanted.value]
    if len(places) == wanted.of or wanted.name != "language":
        return places
    codes = [known(one) or "" for one in items]
    if exact := [place for place, one in enumerate(codes) if tag_of(one) == tag_of(wanted.value)]:
        return exact
    # A text without a country is that of any, unless one beside it names a country: then they are two.
    if short_of(wanted.value) in _named_beside([codes]):
        return []
    return [place for place, one in enumerate(codes) if is_same_language(one, wanted.value)]


def place_of(items: Sequence[Any], wanted: Item) -> int | None:
    """Return the index of an item; None where it is not there, or nobody can say which one it is."""
    places = places_of(items, wanted)
    return places[wanted.number] if len(places) == wanted.of else None


def path_after(change: Change) -> Path:
    """Return where the place of a change is once it is made: an item that became another one is known by that.

    >>> path_after(Change("7", ("conservations", Item("code", "COLD")), {"code": "COLD"}, {"code": "DARK"}))
    ('conservations', Item(name='code', value='DARK', number=0, of=1))
    """
    match change.path:
        case [*above, Item() as item] if change.before is not ABSENT and change.after is not ABSENT:
            known = known_by(item.name)
            before, after = known(change.before), known(change.after)
            if after is not None and before != after and item.name != "language":
                return (*above, Item(item.name, after))
    return change.path

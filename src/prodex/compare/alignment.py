"""Which item of a list became which: the items of an old and a new record matched by their keys.

An item is recognised by its content, not by its position: a list with one more item in front has one more item, and no
other item has changed. The matching keys of all tables are declared as data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import islice
from typing import Any

from prodex.facts.pending import own_path
from prodex.locales import short_language
from prodex.tables.attributes import anchored, child_path
from prodex.tables.declaration import Table
from prodex.tables.descriptors import LANGUAGES, expressed_at
from prodex.tables.values import fit, scalar_text, storable
from prodex.text import composed

Key = tuple[Any, ...]

#: For each table the columns by which its rows are recognised, within their list; tried in this order. Rows of the
#: same key, those that have none, and values of plain lists that came and went are taken in their order.
KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "texts": (("language_code",), ("language",)),
    "codes": (("code",),),
    "quantities": (("unit_code",), ("unit",)),
    "nutrients": (("nutrient_code",),),
    "scalars": (("value",),),
    "pictures": (("url",),),
    "exportables": (("url",), ("name",)),
    "documents": (("uniform_resource_identifier",), ("url",), ("file_name",)),
    "videos": (("uniform_resource_identifier",), ("url",), ("file_name",)),
    "enriched_contents": (("uniform_resource_identifier",), ("url",), ("file_name",)),
    "hierarchies": (("node_gtin",), ("node_uuid",)),
    "labels": (("label_code", "value"), ("label_code",)),
    "tags": (("tag",),),
    "identifiers": (("reference",),),
    "entities": (("entity_code",), ("short_code",)),
}

#: The same for items that are no row themselves but hold the list of a table's rows: wire paths inside the item.
AROUND: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "isPartitionedBy": (("name", "quantity", "isMeasuredBy.code"), ("name",)),
    "expressedIn": (("referential.name",),),
}


def keys_of(item: Any, path: str) -> Iterator[Key | None]:
    """Yield the keys of an item of the list at a wire path, in the order tried; None for a key that it does not have.

    >>> list(keys_of({"expressedIn": {"code": "fra-FR"}, "data": "Riz"}, "namePublicLong"))
    [('fra-FR',), ('fr',)]
    """
    if (around := AROUND.get(own_path(path))) is not None:
        for paths in around:
            yield _filled(fit(_look(item, inner.split(".")), "code") for inner in paths)
        return
    table, row = _row(item, path)
    for columns in KEYS.get(table, ()):
        yield _filled(row.get(column) for column in columns)


def is_recognised(item: Any, path: str) -> bool:
    """Whether an item has a key, so that another key means another item; the values of plain lists have none."""
    if not isinstance(item, dict) and anchored(path) is None:
        return False
    return any(keys_of(item, path))


def shown_key(table: str, row: Mapping[str, Any]) -> str | None:
    """Return the key of a row as text."""
    # A scalar is known by its value, which old and new show already.
    for columns in KEYS.get(table, ()) if table != "scalars" else ():
        if (key := _filled(row.get(column) for column in columns)) is not None:
            return " ".join(str(value) for value in key if value is not None)
    return None


def _filled(values: Iterator[Any]) -> Key | None:
    key = tuple(values)
    return key if any(value is not None for value in key) else None


def _row(item: Any, path: str) -> tuple[str, Mapping[str, Any]]:
    """Return the table that an item of a list belongs to, and the columns of its row that are keys."""
    table = anchored(path)
    # An entity is a descriptor itself, so its code has no declared path.
    if table is not None and table.name == "entities":
        code, short = _descriptor(item)
        return table.name, {"entity_code": code, "short_code": short}
    if table is not None:
        return table.name, _columns(table, item)
    if not isinstance(item, dict):
        return "scalars", {"value": scalar_text(item)} if item is not None and not isinstance(
            item, list
        ) else {}
    code, short = _descriptor(item.get("expressedIn"))
    if "data" in item and (code is not None or short is not None):
        # Also where `data` is null, or no number: the descriptor is what such an item is recognised by.
        if expressed_at(path, code, short) in LANGUAGES:
            return "texts", {"language_code": code, "language": short_language(code, short)}
        return "quantities", {"unit_code": code, "unit": short}
    return "codes", {"code": fit(item.get("code"), "code")}


def _columns(table: Table, item: Any) -> dict[str, Any]:
    row: dict[str, Any] = {}
    wanted = {name for columns in KEYS[table.name] for name in columns}
    for column in table.columns:
        for inner in column.paths if column.name in wanted else ():
            if row.get(column.name) is None:
                row[column.name] = fit(_look(item, inner), column.kind)
    return row


def _descriptor(described: Any) -> tuple[str | None, str | None]:
    if not isinstance(described, dict):
        return None, None
    return fit(described.get("code"), "code"), fit(described.get("normalizedCode"), "string")


def _look(value: Any, path: tuple[str, ...] | list[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


Position = tuple[int, ...]

#: For an item of an old list (wire path, position) its index in the new list; below zero when it is not there.
Moves = dict[tuple[str, Position], int]


def align(old: Mapping[str, Any], new: Mapping[str, Any]) -> Moves:
    """Find what each item of each list of an old product became in the new one, and take out what stayed.

    Items are matched by all that they say, then by the keys in `KEYS`, then, where they have no key,
    in their order. What stands inside of items is matched only inside of the pair. Of items that are the same to the
    letter both records keep null, which makes no row: most of what stands in a list never changes.

    >>> old, new = {"synonyms": [{"sort": 1}, {"sort": 2}]}, {"synonyms": [{"sort": 3}, {"sort": 1}, {"sort": 2.0}]}
    >>> align(old, new), old
    ({('synonyms', (0,)): -1, ('synonyms', (1,)): 2}, {'synonyms': [None, {'sort': 2}]})
    """
    moves: Moves = {}
    waiting: list[tuple[Any, Any, str, Position]] = [(old, new, "", ())]
    while waiting:  # a stack, not recursion: products may be nested very deep
        before, after, path, place = waiting.pop()
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            waiting.extend(
                (before[key], after[key], child_path(path, storable(key)), place)
                for key in before.keys() & after.keys()
            )
        elif isinstance(before, list) and isinstance(after, list):
            for index, other in _matched(before, after, _if_shallow(repr)):
                before[index] = after[other] = None
            pairs = dict(_pairs(before, after, path))
            for index, item in enumerate(before):
                # A number of its own for each item that is gone: rows of two of them must not meet.
                moves[path, (*place, index)] = pairs.get(index, ~index)
                if index in pairs:
                    waiting.append((item, after[pairs[index]], path, (*place, index)))
    return moves


def moved(moves: Moves, attribute: str, position: Position) -> Position:
    """Return the position of a row of the old product as it is in the new one.

    >>> moved({("a", (0,)): 3}, "a.b", (0, 1))
    (3, 1)
    """
    found: list[int] = []
    for path in _prefixes(attribute):
        while len(found) < len(position):
            index = moves.get((path, position[: len(found) + 1]))
            if index is None:
                break
            found.append(index)
    return (*found, *position[len(found) :])


def _pairs(old: list[Any], new: list[Any], path: str) -> Iterator[tuple[int, int]]:
    left, right = list(old), list(new)
    for key_of in _ways(path):
        for pair in _matched(left, right, key_of):
            # Whoever has found a partner is no candidate for the next key.
            left[pair[0]] = right[pair[1]] = None
            yield pair


def _matched(old: list[Any], new: list[Any], key_of: Callable[[Any], Hashable]) -> list[tuple[int, int]]:
    """Pair items of the same key, in their order; null has none."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    # From the end, so that `pop` below gives the first of several that are alike.
    for index in reversed(range(len(old))):
        if old[index] is not None and (key := key_of(old[index])) is not None:
            waiting[key].append(index)
    pairs = []
    for index, item in enumerate(new if waiting else ()):
        if item is not None and (same := waiting.get(key_of(item))):
            pairs.append((same.pop(), index))
    return pairs


def _ways(path: str) -> Iterator[Callable[[Any], Hashable]]:
    """Yield functions by which items are recognised: their content, each of their keys, their kind without a key."""
    yield _if_shallow(_content)
    # No table has more than three keys.
    for way in range(3):
        yield lambda item, way=way: _nth_key(item, path, way)  # type: ignore[misc]
    yield lambda item: None if is_recognised(item, path) else _kind(item)


def _if_shallow(key_of: Callable[[Any], Hashable]) -> Callable[[Any], Hashable]:
    """Recognise items that are nested too deeply for Python's recursion limit by their keys alone."""

    def key(item: Any) -> Hashable:
        try:
            return key_of(item)
        except RecursionError:
            return None

    return key


def _nth_key(item: Any, path: str, way: int) -> Hashable:
    key = next(islice(keys_of(item, path), way, None), None)
    return None if key is None else (way, *(composed(one) if isinstance(one, str) else one for one in key))


def _kind(item: Any) -> str | None:
    if item is None:
        return None
    return "object" if isinstance(item, dict) else "list" if isinstance(item, list) else "value"


def _content(value: Any) -> Hashable:
    """Return the content of a value, without order: what makes no row in any table is left out."""
    if isinstance(value, dict):
        if "data" in value and isinstance(value.get("expressedIn"), dict):
            # Labels and descriptions follow the language that was asked for: they make no other text.
            described = {key: value["expressedIn"].get(key) for key in ("code", "normalizedCode")}
            value = {**value, "expressedIn": described}
        members = ((key, _content(item)) for key, item in value.items())
        return frozenset(member for member in members if member[1] is not None) or None
    if isinstance(value, list):
        items = Counter(_content(item) for item in value)
        del items[None]
        return ("list", frozenset(items.items())) if items else None
    return None if value is None else (_type(value), composed(scalar_text(value)))


def _type(value: Any) -> str:
    # The type counts, since 1, true and "1" have the same text; 1 and 1.0 are one number of JSON.
    return "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"


def _prefixes(attribute: str) -> Iterator[str]:
    r"""Yield a wire path's beginnings, shortest first; an escaped dot separates nothing.

    >>> list(_prefixes("a.b\\.c.d"))
    ['a', 'a.b\\.c', 'a.b\\.c.d']
    """
    escaped = False
    for index, character in enumerate(attribute):
        if character == "." and not escaped:
            yield attribute[:index]
        escaped = character == "\\" and not escaped
    yield attribute

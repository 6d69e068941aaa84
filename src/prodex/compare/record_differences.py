"""The definition of a difference: two records of one product, value by value.

The plain walk (`prodex.tables.plain_walk`) gives the rows of both; rows are matched by their place, list items by their
content. Only attributes whose bytes differ are walked.

An item is recognised by its content, then by what items of lists are known by in every change (`prodex.changes`), and
not by its position: a list with one more item in front has one more item, and no other item has changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec

from prodex.changes.identity import known_by, telling_apart
from prodex.changes.sameness import is_expressed, language_of
from prodex.compare.scope import Scope
from prodex.errors import SnapshotDamaged
from prodex.facts.pending import own_path
from prodex.locales import short_of
from prodex.phrases import composed
from prodex.tables.attributes import anchored, child_path, is_within
from prodex.tables.containers import as_declared
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import state_of
from prodex.tables.plain_walk import Row, Rows, rows_of
from prodex.tables.values import fit, read_json, scalar_text, storable

#: Columns without a wire path that hold values all the same: objects are recognised by their shape.
_BY_SHAPE: Mapping[str, tuple[str, ...]] = {
    "texts": ("language_code", "language", "text"),
    "codes": ("code", "label", "description"),
    "quantities": ("value", "unit_code", "unit"),
    "scalars": ("type", "value"),
    "entities": ("entity_code", "short_code"),
}

#: For each table the columns that are compared; keys, copies and what is derived from other values are not.
COMPARED: Mapping[str, tuple[str, ...]] = {
    name: _BY_SHAPE.get(name, ()) + tuple(column.name for column in table.columns if column.paths)
    for name, table in TABLES.items()
    if table.per_product and name not in {"presence", "raw"}
}

#: Columns that only say how a value is written: they are not listed where a whole row was added or removed.
_MANNERS = frozenset({"type", "language", "language_code"})

#: Attributes of the product itself that together make one text, quantity or code.
_ROOT_SHAPES = frozenset({"code", "label", "description", "data", "expressedIn"})

#: Wire paths that have a column of their own. A scalar at such a path did not fit it, so its type is worth listing.
_DECLARED = frozenset(
    ".".join(filter(None, [anchor, *path]))
    for table in TABLES.values()
    for anchor in table.anchors
    for column in table.columns
    for path in column.paths
)

_PATH_OF = {column.name: ".".join(column.paths[0]) for column in TABLES["products"].columns if column.paths}

#: The time of the last update is no change: it moves with every change, and sometimes without any.
TOUCHED = "updatedAt"

_TOP = msgspec.json.Decoder(dict[str, msgspec.Raw])
_VALUE = msgspec.json.Decoder()


class ChangedCell(NamedTuple):
    """One value that was added, removed or changed."""

    table: str
    attribute: str
    language: str | None
    language_code: str | None
    key: str | None
    old_position: str | None
    position: str | None
    column: str
    change: str
    old: str | None
    new: str | None


class Compared(NamedTuple):
    """The result of comparing two records: the changes, and whether `updatedAt` moved."""

    changes: list[ChangedCell]
    touched: bool


def compare_records(old: bytes, new: bytes, scope: Scope) -> Compared:
    """Compare two records of the same product.

    Parameters
    ----------
    old, new
        JSON objects, as received.
    scope
        What can be compared at all.
    """
    before, after = _differing(_top_level(old), _top_level(new))
    # Taken out first: the time alone is no change, even where its attribute was not asked for.
    touched = before.pop(TOUCHED, None) != after.pop(TOUCHED, None)
    before, after = scope.comparable(before, after)
    changes = [*_key_changes(before, after), *_row_changes(before, after)]
    changes += _presence_changes(before, after, changes)
    return Compared(sorted(changes, key=_order), touched)


def _top_level(record: bytes) -> dict[str, Any]:
    """Read the top level alone where the strict reader can; what it refuses is decoded."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        return _TOP.decode(record)
    # Records are kept as received: the strict reader refuses NaN and lone surrogates, which Python's takes.
    cause = None
    try:
        if isinstance(decoded := read_json(record), dict):
            return decoded
    except ValueError as error:
        cause = error
    raise SnapshotDamaged(
        f"A record of table raw is not a JSON object: it begins with {record[:40].decode('utf-8', 'replace')!r}. "
        "Open an earlier snapshot, or load again."
    ) from cause


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return of both records the attributes that differ, decoded; another spelling of the same JSON is no difference.

    Whole files are spelled differently if another program wrote them.
    """
    other = {name for name in old.keys() | new.keys() if not _are_same_bytes(old.get(name), new.get(name))}
    # One of them alone is no text or code: the shape is recognised by all.
    shape = _ROOT_SHAPES if other & _ROOT_SHAPES else frozenset()
    before, after = (
        {name: _decoded_json(value) for name, value in record.items() if name in other | shape}
        for record in (old, new)
    )
    same = {name for name in before.keys() & after.keys() if _are_same_value(before[name], after[name])}
    if not (other - same).isdisjoint(_ROOT_SHAPES):
        same -= _ROOT_SHAPES
    before, after = ({name: side[name] for name in side if name not in same} for side in (before, after))
    return before, after


def _are_same_value(old: Any, new: Any) -> bool:
    # By what they print, as items of lists are: 1, 1.0 and true are equal, and not the same.
    try:
        return repr(old) == repr(new)
    except RecursionError:
        return False


def _are_same_bytes(old: Any, new: Any) -> bool:
    return isinstance(old, msgspec.Raw) and isinstance(new, msgspec.Raw) and bytes(old) == bytes(new)


def _decoded_json(value: Any) -> Any:
    if not isinstance(value, msgspec.Raw):
        return value
    # It reads what it takes as `read_json` does, in a quarter of the time.
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _VALUE.decode(value)
    return read_json(bytes(value))


def _key_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[ChangedCell]:
    # A key of every table, and therefore no column that is compared there.
    before, after = fit(old.get("gtin"), "code"), fit(new.get("gtin"), "code")
    if before != after:
        yield _change_in_column("products", "gtin", {}, "gtin", (None, None), (before, after))


def _row_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[ChangedCell]:
    # Positions of rows count the items of lists as they are read.
    old, new = as_declared(old), as_declared(new)
    moves = align(old, new)
    before, after = _rows_by_place(rows_of(old), moves), _rows_by_place(rows_of(new), {})
    for place in before.keys() | after.keys():
        for left, right in zip_longest(before.get(place, ()), after.get(place, ())):
            yield from _changes_of(place[0], left, right)


def _rows_by_place(rows: Rows, moves: Moves) -> dict[tuple[str, str, Position], list[Row]]:
    """Return rows by table, attribute and position in the new product."""
    placed: dict[tuple[str, str, Position], list[Row]] = {}
    for table in COMPARED:
        for row in rows.get(table, ()):
            position = tuple(int(index) for index in row["position"].split(".") if index)
            place = (table, row["attribute"], moved(moves, row["attribute"], position))
            placed.setdefault(place, []).append(row)
    return placed


def _changes_of(table: str, old: Row | None, new: Row | None) -> Iterator[ChangedCell]:
    row = _common(old, new)
    positions = (old["position"] if old else None, new["position"] if new else None)
    for column in COMPARED[table]:
        values = ((old or {}).get(column), (new or {}).get(column))
        attribute = _PATH_OF[column] if table == "products" else row["attribute"]
        whole = (old is None or new is None) and own_path(attribute) not in _DECLARED
        if _are_alike(*values) or (whole and column in _MANNERS):
            continue
        yield _change_in_column(table, attribute, row, column, positions, values)


def _are_alike(old: Any, new: Any) -> bool:
    """Whether two values are the same; of texts, whichever way their accents are written."""
    if isinstance(old, str) and isinstance(new, str):
        return composed(old) == composed(new)
    return bool(old == new)


def _common(old: Row | None, new: Row | None) -> Row:
    """Return what both rows say, or what the only one says."""
    if old is None or new is None:
        return old or new or {}
    return {column: value for column, value in new.items() if _are_alike(old.get(column), value)}


def _change_in_column(
    table: str,
    attribute: str,
    row: Row,
    column: str,
    positions: tuple[str | None, str | None],
    values: tuple[Any, Any],
) -> ChangedCell:
    old, new = (_change_text(value) for value in values)
    return ChangedCell(
        table,
        attribute,
        row.get("language"),
        row.get("language_code"),
        shown_key(table, row),
        *(positions if table != "products" else (None, None)),
        column,
        "added" if old is None else "removed" if new is None else "changed",
        old,
        new,
    )


def _presence_changes(
    old: Mapping[str, Any], new: Mapping[str, Any], changes: list[ChangedCell]
) -> Iterator[ChangedCell]:
    """Yield the attributes that are missing in another way than before (null, empty, absent), if no value changed."""
    listed = {change.attribute for change in changes}
    for name in old.keys() | new.keys():
        states = tuple(state_of(side[name]) if name in side else "absent" for side in (old, new))
        path = child_path("", storable(name))
        shown = any(is_within(one, path) for one in listed)
        if states[0] != states[1] and not shown and not (name in _ROOT_SHAPES and "" in listed):
            yield ChangedCell("presence", path, None, None, None, None, None, "presence", "changed", *states)


def _change_text(value: Any) -> str | None:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, datetime) else scalar_text(value)


def _order(change: ChangedCell) -> tuple[Any, ...]:
    """Sort by attribute, then in the order of the newer record."""
    place = change.position or change.old_position or ""
    # As numbers: as text, item 10 would be before item 2.
    indexes = [int(index) for index in place.split(".") if index]
    return change.attribute, indexes, *(part or "" for part in change)


#: For each table the columns that name a row for people, within its list; the first ones that it has.
KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "texts": (("language_code",), ("language",)),
    "codes": (("code",),),
    "quantities": (("unit_code",), ("unit",)),
    "nutrients": (("nutrient_code",),),
    # A scalar is known by its value, which old and new show already.
    "scalars": (),
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


def shown_key(table: str, row: Mapping[str, Any]) -> str | None:
    """Return the key of a row as text."""
    for columns in KEYS.get(table, ()):
        if key := [str(value) for column in columns if (value := row.get(column)) is not None]:
            return " ".join(key)
    return None


Position = tuple[int, ...]

#: What names an item by itself, whatever the others of its list have; the best first.
_NAMES = (
    *("language", "code", "unit", "value", "isConceptualizedBy", "tag", "reference"),
    *("uniformResourceIdentifier", "url", "fileName", "gtin", "uuid"),
)

#: For an item of an old list (wire path, position) its index in the new list; below zero when it is not there.
Moves = dict[tuple[str, Position], int]


def align(old: Mapping[str, Any], new: Mapping[str, Any]) -> Moves:
    """Find what each item of each list of an old product became in the new one, and take out what stayed.

    Items are matched by all that they say, then by what they are known by (`prodex.changes.identity`), then, where
    nothing tells them apart, in their order. The content of items is matched only inside the pair. Of items that are
    the same to the letter both records keep null, which makes no row: most items of a list never change.

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
    for key_of in _ways(left, right, path):
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


def _ways(left: list[Any], right: list[Any], path: str) -> Iterator[Callable[[Any], Hashable]]:
    """Yield functions by which items are recognised: their content, their names, what else tells them apart.

    `left` and `right` are the items that have no partner yet; null is in place of the others.
    """
    yield _if_shallow(_unordered_content)
    yield from map(known_by, _NAMES)
    # A text that is there in another country's variant of its language is shown as one that changed that, and an amount
    # that is sent as text as the same amount.
    yield lambda item: item["expressedIn"].get("code") if is_expressed(item) else None
    yield lambda item: short_of(language_of(item)) or None if is_expressed(item) else None
    for side in (left, right):
        # Another name means another item; the values of plain lists have none.
        side[:] = [None if _is_named(item, path) else item for item in side]
    yield _if_shallow(_content_beside_lists)
    name = telling_apart(*([item for item in side if item is not None] for side in (left, right)))
    yield _json_kind if name is None or name == "value" else known_by(name)


def _is_named(item: Any, path: str) -> bool:
    if isinstance(item, dict):
        return any(known_by(name)(item) for name in _NAMES)
    table = anchored(path) if item is not None else None
    return table is not None and any(() in column.paths for column in table.columns)


def _if_shallow(key_of: Callable[[Any], Hashable]) -> Callable[[Any], Hashable]:
    """Recognise items that are nested too deeply for Python's recursion limit by their keys alone."""

    def key(item: Any) -> Hashable:
        try:
            return key_of(item)
        except RecursionError:
            return None

    return key


def _json_kind(item: Any) -> str | None:
    if item is None:
        return None
    return "object" if isinstance(item, dict) else "list" if isinstance(item, list) else "value"


def _unordered_content(value: Any) -> Hashable:
    """Return the content of a value, without order: what makes no row in any table is left out."""
    if isinstance(value, dict):
        if "data" in value and isinstance(value.get("expressedIn"), dict):
            # Labels and descriptions follow the language that was asked for: they make no other text.
            described = {key: value["expressedIn"].get(key) for key in ("code", "normalizedCode")}
            value = {**value, "expressedIn": described}
        members = ((key, _unordered_content(item)) for key, item in value.items())
        return frozenset(member for member in members if member[1] is not None) or None
    if isinstance(value, list):
        items = Counter(_unordered_content(item) for item in value)
        del items[None]
        return ("list", frozenset(items.items())) if items else None
    return None if value is None else (_type(value), composed(scalar_text(value)))


def _content_beside_lists(item: Any) -> Hashable:
    """Return what an object says of the lists in it: a table of nutrients is per 100 g, whatever its nutrients are."""
    if not isinstance(item, dict):
        return None
    return _unordered_content({key: value for key, value in item.items() if not isinstance(value, list)})


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

"""The definition of a difference: two records of one product, value by value.

The plain walk (`prodex.tables.plain`) gives the rows of both; rows are matched by where they stand, list items by
what they say (`prodex.compare.alignment`). Only attributes whose bytes differ are walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec

from prodex.compare.alignment import Moves, Position, align, moved, shown_key
from prodex.compare.scope import Scope
from prodex.errors import SnapshotDamaged
from prodex.facts.pending import own_path
from prodex.tables.attributes import child_path, within
from prodex.tables.declaration import TABLES
from prodex.tables.plain import Row, Rows, presence_of, rows_of
from prodex.tables.values import fit, read_json, scalar_text, storable
from prodex.text import composed

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


class Change(NamedTuple):
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
    """What came of comparing two records: the changes, and whether `updatedAt` moved."""

    changes: list[Change]
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
    """Return of both records the attributes that are not byte for byte the same, decoded."""
    names = {name for name in old.keys() | new.keys() if not _are_same(old.get(name), new.get(name))}
    # One of them alone is no text or code: the shape is recognised by all.
    if names & _ROOT_SHAPES:
        names |= _ROOT_SHAPES
    before, after = (
        {name: _decoded(record[name]) for name in record if name in names} for record in (old, new)
    )
    return before, after


def _are_same(old: Any, new: Any) -> bool:
    return isinstance(old, msgspec.Raw) and isinstance(new, msgspec.Raw) and bytes(old) == bytes(new)


def _decoded(value: Any) -> Any:
    return read_json(bytes(value)) if isinstance(value, msgspec.Raw) else value


def _key_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    # A key of every table, and therefore no column that is compared there.
    before, after = fit(old.get("gtin"), "code"), fit(new.get("gtin"), "code")
    if before != after:
        yield _change("products", "gtin", {}, "gtin", (None, None), (before, after))


def _row_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    moves = align(old, new)
    before, after = _placed(rows_of(old), moves), _placed(rows_of(new), {})
    for place in before.keys() | after.keys():
        for left, right in zip_longest(before.get(place, ()), after.get(place, ())):
            yield from _changes_of(place[0], left, right)


def _placed(rows: Rows, moves: Moves) -> dict[tuple[str, str, Position], list[Row]]:
    """Return rows by table, attribute and position in the new product."""
    placed: dict[tuple[str, str, Position], list[Row]] = {}
    for table in COMPARED:
        for row in rows.get(table, ()):
            position = tuple(int(index) for index in row["position"].split(".") if index)
            place = (table, row["attribute"], moved(moves, row["attribute"], position))
            placed.setdefault(place, []).append(row)
    return placed


def _changes_of(table: str, old: Row | None, new: Row | None) -> Iterator[Change]:
    row = _common(old, new)
    positions = (old["position"] if old else None, new["position"] if new else None)
    for column in COMPARED[table]:
        values = ((old or {}).get(column), (new or {}).get(column))
        attribute = _PATH_OF[column] if table == "products" else row["attribute"]
        whole = (old is None or new is None) and own_path(attribute) not in _DECLARED
        if _are_alike(*values) or (whole and column in _MANNERS):
            continue
        yield _change(table, attribute, row, column, positions, values)


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


def _change(
    table: str,
    attribute: str,
    row: Row,
    column: str,
    positions: tuple[str | None, str | None],
    values: tuple[Any, Any],
) -> Change:
    old, new = (_text(value) for value in values)
    return Change(
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
    old: Mapping[str, Any], new: Mapping[str, Any], changes: list[Change]
) -> Iterator[Change]:
    """Yield the attributes that are missing in another way than before (null, empty, absent), if no value changed."""
    listed = {change.attribute for change in changes}
    for name in old.keys() | new.keys():
        states = tuple(presence_of(side[name]) if name in side else "absent" for side in (old, new))
        path = child_path("", storable(name))
        shown = any(within(one, path) for one in listed)
        if states[0] != states[1] and not shown and not (name in _ROOT_SHAPES and "" in listed):
            yield Change("presence", path, None, None, None, None, None, "presence", "changed", *states)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, datetime) else scalar_text(value)


def _order(change: Change) -> tuple[Any, ...]:
    """Sort by attribute, then as the rows stand in the newer record."""
    place = change.position or change.old_position or ""
    # As numbers: by text, item 10 would stand before item 2.
    indexes = [int(index) for index in place.split(".") if index]
    return change.attribute, indexes, *(part or "" for part in change)

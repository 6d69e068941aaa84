"""Values in every container but the declared one: numbers as keys, lists of one and of more, bare values, and so on."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from prodex.tables.attributes import TEXTS
from prodex.tables.declaration import TABLES

Record = dict[str, Any]
#: Keys and list indexes that lead to a value.
Way = tuple[str | int, ...]

#: One value of each kind of column.
_VALUES: dict[str, Any] = {
    "string": "a",
    "code": "12",
    "integer": 3,
    "number": 1.5,
    "boolean": True,
    "timestamp": "2026-11-20T08:00:00",
    "unix_seconds": 1_790_812_800,
}

#: Objects of which a service sends lists.
_LISTS = {
    *(anchor for table in TABLES.values() for anchor in table.anchors if anchor),
    "isPartitionedBy",
    "expressedIn",
}
#: Attributes that hold amounts with their unit.
AMOUNTS = ("netContent", "netWeight", "grossWeight", "drainedWeight", "height", "width", "depth")


def containers(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value in each container, with what it is called."""
    items = value if isinstance(value, list) else [value]
    yield "numbers as keys", {str(place): item for place, item in enumerate(items, 1)}
    if len(items) == 1:
        yield "list of one", items
        yield "list of several", [items[0], copy.deepcopy(items[0])]
        yield "bare", items[0]
    yield "below data", {"data": value}
    yield "by language", {"fr": value}
    yield "nested list", [items]
    if isinstance(value, list | dict):
        yield from (("text", "x"), ("number", 7), ("boolean", True))
    elif isinstance(value, bool):
        yield "text", "x"
    else:
        yield "boolean", True


def ways(value: Any, so_far: Way = ()) -> Iterator[Way]:
    """Yield the ways to everything inside of a value; of lists the first item."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*so_far, key)
            yield from ways(item, (*so_far, key))
    elif isinstance(value, list) and value:
        yield from ways(value[0], (*so_far, 0))


def at(record: Any, way: Way) -> Any:
    """Return what is at the end of a way."""
    for key in way:
        record = record[key]
    return record


def with_value(record: Record, way: Way, value: Any) -> Record:
    """Return a copy of a record with another value at the end of a way."""
    made = copy.deepcopy(record)
    at(made, way[:-1])[way[-1]] = value
    return made


def wire_path(way: Way) -> str:
    """Return the wire path of a way."""
    return ".".join(key for key in way if isinstance(key, str))


def declared() -> dict[str, Record]:
    """Return for each declared wire path a record with nothing but a value there, as the specification has it."""
    found: dict[str, Record] = {}
    for table in TABLES.values():
        for anchor in table.anchors:
            for column in table.columns:
                for path in column.paths:
                    keys = [*filter(None, anchor.split(".")), *path]
                    found[".".join(keys)] = _record(keys, _VALUES[column.kind])
    for name in TEXTS:
        found[name] = {name: [{"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": "Riz"}]}
    for name in AMOUNTS:
        found[name] = {name: [{"data": 500, "expressedIn": {"code": "GRM"}}]}
    return found


def _record(keys: list[str], value: Any) -> Record:
    path = ".".join(keys)
    made = [value] if path in _LISTS else value
    while keys:
        *keys, last = keys
        made = {last: made}
        if ".".join(keys) in _LISTS:
            made = [made]
    record: Record = made
    return record

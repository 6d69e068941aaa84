"""Which row of the one catalogue is which of the other: the matching keys of all tables, as data.

An item of a list is recognised by what it says, not by where it stands: a list with one more item in front has one
more item, and no other changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prodex.tables.declaration import Table, anchored
from prodex.tables.languages import short_language
from prodex.tables.values import fit, scalar_text

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
    """Yield the keys of an item of the list at a wire path, in the order tried; None where it has not that one.

    >>> list(keys_of({"expressedIn": {"code": "fra-FR"}, "data": "Riz"}, "namePublicLong"))
    [('fra-FR',), ('fr',)]
    """
    if (around := AROUND.get(path.removeprefix("lastRequest."))) is not None:
        for paths in around:
            yield _filled(fit(_look(item, inner.split(".")), "code") for inner in paths)
        return
    table, row = _row(item, path)
    for columns in KEYS.get(table, ()):
        yield _filled(row.get(column) for column in columns)


def is_recognised(item: Any, path: str) -> bool:
    """Whether an item has a key that makes it another one when it changes; a value of a plain list has none."""
    if not isinstance(item, dict) and anchored(path) is None:
        return False
    return any(keys_of(item, path))


def shown_key(table: str, row: Mapping[str, Any]) -> str | None:
    """Return in words what a row is recognised by."""
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
        if isinstance(item["data"], str):
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

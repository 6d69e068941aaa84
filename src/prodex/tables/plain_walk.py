"""The definition of flattening: a plain walk of one product, slow and obviously right.

The fast path (`prodex.tables.flatten`) must give the same rows; the tests compare it with this one.

Every scalar of a product is put into exactly one row, in this order:

1. an object on a declared path gives a row of that table, from the declared columns that its values fit;
2. `{expressedIn: {code | normalizedCode}, data}` is a text where it names a language, and a quantity where it names a
   unit and `data` is a number, also one that was sent as text (see `prodex.tables.descriptors`);
3. an object with a `code` is a code;
4. whatever is left is walked further; a scalar at the end of the walk is a row of `scalars`.

Null makes no row. Lists are transparent for the path and counted in the position. What is wrapped in another way than
declared is unwrapped first, as far as there is no doubt what it is (`prodex.tables.containers`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from prodex.locales import short_language
from prodex.tables.attributes import anchored, child_path, stored_column
from prodex.tables.containers import is_list_at, listed, numbered_items, opened, singles_at
from prodex.tables.declaration import COUNTED, TABLES, Column, ColumnKind, Table
from prodex.tables.descriptors import localized
from prodex.tables.fill_state import FillState, state_of
from prodex.tables.unreadable import unreadable_attributes
from prodex.tables.values import exact, fit, scalar_text, storable, type_of

Row = dict[str, Any]
Rows = dict[str, list[Row]]

#: The columns of a descriptor, and what they are called on the wire.
_DESCRIPTOR = {"code": "code", "short_code": "normalizedCode", "description": "description", "label": "label"}


class _Place(NamedTuple):
    """The position of the walk."""

    path: str
    position: tuple[int, ...]
    around: Mapping[str, Any]
    """The nearest object around the one at hand."""
    node: _Node | None
    """The hierarchy node around it, if any."""


class _Node(NamedTuple):
    level: int
    root_gtin: str | None
    gtin: str | None
    units: float | None


def flatten_one(product: Mapping[str, Any]) -> Rows:
    """Flatten one product.

    Parameters
    ----------
    product
        The record, as `json.loads` reads it.

    Returns
    -------
    dict
        For each table its rows, a row being a dict with every declared column. `presence` has a column for each
        top-level attribute of this product; `raw` is left to those who hold the bytes.

    Examples
    --------
    >>> rows = flatten_one({"id": 7, "gtin": "03036811359935", "netContent": [
    ...     {"data": 250, "expressedIn": {"code": "GRM", "label": "g"}}]})
    >>> [(row["attribute"], row["value"], row["unit"]) for row in rows["quantities"]]
    [('netContent', 250.0, 'g')]
    """
    keys = {"product_id": product_key(product), "gtin": fit(product.get("gtin"), "code")}
    rows = rows_of(product)
    flat: Rows = {}
    for name, table in TABLES.items():
        if name not in {"presence", "raw", "code_labels"}:
            flat[name] = [_declared_row(table, row, keys) for row in rows[name]]
    flat["descriptors"] = [
        dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows["descriptors"])
    ]
    (root,) = flat["products"]
    root.update({f"{name}_count": len(flat[name]) for name in COUNTED})
    root["has_pending_update"] = state_of(product.get("lastRequest")) is FillState.FILLED
    flat["presence"] = [{**keys, **_states(product, flat)}]
    return flat


def _states(product: Mapping[str, Any], flat: Rows) -> dict[str, str]:
    """Return the state of each attribute at the top; the rows show what is there and cannot be read."""
    tables = {name: pa.Table.from_pylist(rows, TABLES[name].schema) for name, rows in flat.items()}
    odd = {name for name, there in unreadable_attributes(tables, product).items() if there[0]}
    return {
        stored_column(name): str(FillState.UNREADABLE if name in odd else state_of(value))
        for name, value in product.items()
    }


def rows_of(attributes: Mapping[str, Any]) -> Rows:
    """Walk a product, or some of its attributes: for each table its rows, with only the columns that have a value.

    Attributes do not depend on each other, so that the rows of some are a part of the rows of all.
    """
    rows: Rows = defaultdict(list)
    # A stack, not recursion: products nested a thousand levels deep exceed Python's recursion limit.
    waiting: list[tuple[Any, _Place]] = [(dict(attributes), _Place("", (), {}, None))]
    while waiting:
        value, place = waiting.pop()
        if isinstance(value, dict):
            # The record itself is never a list, whatever its attributes are called.
            numbered = numbered_items(value) if place.path else None
            if numbered is None:
                _take_object(value, place, rows, waiting)
                continue
            value = numbered
        if isinstance(value, list):
            items = [(item, place._replace(position=(*place.position, i))) for i, item in enumerate(value)]
            waiting.extend(reversed(items))
        elif value is not None:
            _take_scalar(value, place, rows)
    return rows


def _declared_row(table: Table, row: Row, keys: Row) -> Row:
    """Give a row exactly the declared columns, in their order."""
    if table.per_product:
        row |= keys
    return {column.name: row.get(column.name) for column in table.columns}


def product_key(product: Mapping[str, Any]) -> str:
    """Return a product's key: `id`, else `uuid`, else `gtin`, else a digest of the record.

    >>> product_key({"id": 7}), product_key({"uuid": "c995"}), product_key({"gtin": "03036811359935"})
    ('7', 'c995', '03036811359935')
    """
    for name in ("id", "uuid", "gtin"):
        if key := fit(product.get(name), "code"):
            return str(key)
    # A record without any key needs one that is the same in every load.
    encoded = json.dumps(product, sort_keys=True, default=str).encode()
    return "#" + hashlib.sha256(encoded).hexdigest()[:16]


def _take_object(
    value: Mapping[str, Any], place: _Place, rows: Rows, waiting: list[tuple[Any, _Place]]
) -> None:
    value = opened(value, singles_at(place.path))
    left = dict(value)
    node = place.node
    if (table := anchored(place.path)) is not None:
        row, is_found = _take_columns(left, table, place.around)
        if table.name == "hierarchies":
            node = _descend(row, place)
            row |= _hierarchy_columns(row, place)
        if table.name == "entities" and (entity := _take_entity(left, rows)):
            row |= entity
            is_found = True
        if is_found or table.name == "products":
            rows[table.name].append({**row, **_where(place)})
        if table.name == "products":
            _take_keys(left)
    _take_localized(left, place, rows)
    if (code := _pop_value(left, "code", "code")) is not None:
        described = {name: _pop_value(left, name, "string") for name in ("label", "description")}
        rows["codes"].append({**_where(place), "code": code, **described})
    # Reversed, because a stack returns the last first: rows keep the order of the record.
    for key, item in reversed(left.items()):
        path = child_path(place.path, storable(key))
        is_list = isinstance(item, list | dict) and is_list_at(path)
        waiting.append((listed(item) if is_list else item, _Place(path, place.position, value, node)))


def _take_keys(left: dict[str, Any]) -> None:
    """Leave out the values that are in the key columns of every table."""
    # An empty id is no key, so that it stays and becomes a row of `scalars`.
    if fit(left.get("id"), "code"):
        del left["id"]
    _pop_value(left, "gtin", "code")


def _take_columns(left: dict[str, Any], table: Table, around: Mapping[str, Any]) -> tuple[Row, bool]:
    """Move what fits the table's columns out of `left`; say whether anything did."""
    row: Row = {}
    is_found = False
    for column in table.columns:
        if column.parent_path is not None:
            row[column.name] = fit(_look(around, column.parent_path), column.kind)
        for path in column.paths:
            if path and path[0] in left and row.get(column.name) is None:
                row[column.name] = _pop(left, path, column)
                is_found = is_found or row[column.name] is not None
    return row, is_found


def _pop(left: dict[str, Any], path: tuple[str, ...], column: Column) -> Any:
    """Take the value at a path out of nested objects, which are copied on the way, if it fits its column."""
    key, *rest = path
    if not rest:
        return _pop_value(left, key, column.kind)
    if not isinstance(value := left.get(key), dict):
        return None
    inner = dict(value)
    fitting = _pop(inner, tuple(rest), column)
    if fitting is not None:
        left[key] = inner
    return fitting


def _look(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _pop_value(left: dict[str, Any], key: str, kind: ColumnKind) -> Any:
    """Take a value out of an object if it fits."""
    fitting = fit(left.get(key), kind)
    if fitting is not None:
        del left[key]
    return fitting


def _take_localized(left: dict[str, Any], place: _Place, rows: Rows) -> None:
    data, described = left.get("data"), left.get("expressedIn")
    if data is None or not (isinstance(data, str) or exact(data)) or not isinstance(described, dict):
        return
    taken, rest = _take_descriptor(described)
    code, short = taken["code"], taken["short_code"]
    if code is None and short is None:
        return
    # What is neither for certain is left, with its descriptor, to those that take codes and scalars.
    if (found := localized(place.path, code, short, data)) is None:
        return
    rows["descriptors"].append(taken)
    del left["data"]
    left["expressedIn"] = rest
    if found.text is not None:
        language = {"language_code": code, "language": short_language(code, short)}
        rows["texts"].append({**_where(place), **language, "text": storable(found.text)})
    else:
        unit = taken["label"] if taken["label"] is not None else short
        rows["quantities"].append({**_where(place), "value": found.value, "unit_code": code, "unit": unit})


def _take_descriptor(described: Mapping[str, Any]) -> tuple[Row, dict[str, Any]]:
    rest = dict(described)
    taken = {
        name: _pop_value(rest, key, "code" if key == "code" else "string")
        for name, key in _DESCRIPTOR.items()
    }
    return taken, rest


def _take_entity(left: dict[str, Any], rows: Rows) -> Row:
    taken, rest = _take_descriptor(left)
    if taken["code"] is None and taken["short_code"] is None:
        return {}
    # In place: the caller walks on with what is left.
    left.clear()
    left.update(rest)
    rows["descriptors"].append(taken)
    return {"entity_code": taken["code"], "short_code": taken["short_code"]}


def _descend(row: Row, place: _Place) -> _Node:
    above = place.node
    if above is None:
        return _Node(0, row.get("node_gtin"), row.get("node_gtin"), 1.0)
    quantity = row.get("quantity")
    # A missing quantity is unknown and never 1, and so is the number of everything below it.
    units = None if above.units is None or quantity is None else above.units * quantity
    if units is not None and not math.isfinite(units):
        units = None  # more than a number can hold is as unknown
    return _Node(above.level + 1, above.root_gtin, row.get("node_gtin"), units)


def _hierarchy_columns(row: Row, place: _Place) -> Row:
    node, above = _descend(row, place), place.node
    source = place.path.removeprefix("lastRequest.").split(".")[0]
    return {
        "source": source,
        "level": node.level,
        "root_gtin": node.root_gtin,
        "parent_gtin": above.gtin if above else None,
        "units_per_root": node.units,
    }


def _take_scalar(value: Any, place: _Place, rows: Rows) -> None:
    # Some records have "" where others have [] or null: it is kept, and is no item (an empty tag would be counted).
    table = anchored(place.path) if value != "" else None
    for column in table.columns if table is not None else ():
        if () in column.paths and (fitting := fit(value, column.kind)) is not None:
            rows[table.name].append({**_where(place), column.name: fitting})  # type: ignore[union-attr]
            return
    rows["scalars"].append({**_where(place), "type": type_of[type(value)], "value": scalar_text(value)})


def _where(place: _Place) -> Row:
    return {"attribute": place.path, "position": ".".join(map(str, place.position))}

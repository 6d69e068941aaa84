"""The fast walk: the Arrow type of a block of products is walked once, all its products at a time.

It makes the same decisions as the plain walk (`prodex.tables.plain_walk`), in the same order, but on whole columns; no
Python object is made for a single value. Objects become dicts of columns, from which the columns of a declared table
are taken; the rest is walked further.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.locales import short_languages
from prodex.tables.attributes import anchored, child_path
from prodex.tables.columns import combinations, encoded, with_nulls_at
from prodex.tables.declaration import Column, ColumnKind, Table
from prodex.tables.descriptors import LANGUAGES, Expressed, expressed_at, meaning_of
from prodex.tables.values import Fitted, fit_column, number_texts

Indices = npt.NDArray[np.int32]


class Places(NamedTuple):
    """Products and positions of many rows.

    Attributes
    ----------
    products
        Index of the product of each row.
    codes, names
        The position of each row, as an index into the distinct positions ("", "0", "0.2" ...): very many rows share
        few positions.
    """

    products: Indices
    codes: Indices
    names: list[str]

    @classmethod
    def of_products(cls, products: Indices) -> Places:
        """Return the places of whole products."""
        return cls(products, np.zeros(len(products), np.int32), [""])

    def at(self, rows: Indices) -> Places:
        """Return the places of some of the rows."""
        return Places(self.products[rows], self.codes[rows], self.names)

    def inside(self, lists: pa.ListArray, parents: Indices) -> Places:
        """Return the places of the items of lists; `parents` is the row of each item."""
        if not len(parents):
            return Places(self.products[:0], self.codes[:0], [])
        starts = np.zeros(len(lists), np.int64)
        lengths = np.bincount(parents, minlength=len(lists))
        np.cumsum(lengths[:-1], out=starts[1:])
        index = np.arange(len(parents)) - starts[parents]
        width = int(lengths.max())
        # Very many rows share few positions, so that only the distinct ones are written as text.
        combined = self.codes[parents].astype(np.int64) * width + index
        used, codes = renumber(combined, len(self.names) * width)
        names = [_joined_position(self.names[code // width], code % width) for code in used.tolist()]
        return Places(self.products[parents], codes, names)

    def positions(self) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(pa.array(self.codes), pa.array(self.names, pa.string()))


def renumber(values: npt.NDArray[np.int64], bound: int) -> tuple[npt.NDArray[np.int64], Indices]:
    """Return the distinct values, in order, and for each value its index among them; all are below the bound."""
    # A table of flags takes one pass; sorting, as `np.unique` does, pays only where the table would be mostly empty.
    if bound > 8 * len(values) + 1024:
        used, codes = np.unique(values, return_inverse=True)
        return used, codes.astype(np.int32)
    seen = np.zeros(bound, np.bool_)
    seen[values] = True
    return np.flatnonzero(seen), (np.cumsum(seen, dtype=np.int32) - 1)[values]


def _joined_position(position: str, index: int) -> str:
    return f"{position}.{index}" if position else str(index)


#: A column, or an opened object with its columns by wire key.
Node: TypeAlias = "pa.Array | dict[str, Node]"
#: Rows of one table, under one wire path.
Emit = Callable[[str, str, Places, dict[str, pa.Array]], None]


#: What a descriptor is named by; one of both is enough.
_NAMED_BY: tuple[tuple[str, ColumnKind], ...] = (("code", "code"), ("normalizedCode", "string"))


class _Nodes(NamedTuple):
    """The hierarchy nodes around the rows at hand."""

    level: int
    root_gtin: pa.Array
    gtin: pa.Array
    units: pa.Array

    def at(self, rows: Indices) -> _Nodes:
        index = pa.array(rows)
        return _Nodes(self.level, self.root_gtin.take(index), self.gtin.take(index), self.units.take(index))


class _Around(NamedTuple):
    """The object around the rows at hand, and which of its rows each of them belongs to (None: the same)."""

    node: Mapping[str, Node]
    rows: Indices | None

    def at(self, rows: Indices) -> _Around:
        return _Around(self.node, rows if self.rows is None else self.rows[rows])

    def column(self, path: tuple[str, ...], size: int, column: Column) -> pa.Array:
        """Return a copy of one of its columns for each row, as far as it fits."""
        leaf: Node | None = self.node
        for key in path:
            leaf = _struct_columns(leaf).get(key) if leaf is not None else None
        if (fitted := _fitted(leaf, column.kind)) is None:
            return pa.nulls(size)
        return fitted.values if self.rows is None else fitted.values.take(pa.array(self.rows))


def explode(fields: Mapping[str, pa.Array], places: Places, emit: Emit) -> None:
    """Assign every value of a block of products to its table.

    Parameters
    ----------
    fields
        The products' top-level attributes as columns.
    places
        One place for each product.
    emit
        Called with table, wire path, places and columns, for each run of rows found.
    """
    _walk_object(dict(fields), "", places, _Around({}, None), None, emit)


def _walk(node: Node, path: str, places: Places, around: _Around, nodes: _Nodes | None, emit: Emit) -> None:
    if isinstance(node, dict):
        _walk_object(node, path, places, around, nodes, emit)
    elif pa.types.is_list(node.type):
        # Lists are transparent: an item is at the path of its list, with its index in the position.
        items = node.flatten()
        if len(items):
            parents = pc.list_parent_indices(node).to_numpy().astype(np.int32)
            inner = nodes.at(parents) if nodes is not None else None
            _walk(items, path, places.inside(node, parents), around.at(parents), inner, emit)
    elif pa.types.is_struct(node.type):
        _walk_object(_struct_columns(node), path, places, around, nodes, emit)
    elif not pa.types.is_null(node.type) and node.null_count < len(node):
        _walk_leaf(node, path, places, emit)


def _walk_object(
    fields: dict[str, Node], path: str, places: Places, around: _Around, nodes: _Nodes | None, emit: Emit
) -> None:
    size = len(places.products)
    left = dict(fields)
    if (table := anchored(path)) is not None:
        columns, found = _take_columns(left, table, around, size)
        if table.name == "hierarchies":
            nodes = _add_hierarchy(columns, path, nodes, size)
        if table.name == "entities":
            found = _take_entities(left, columns, found, places, emit)
        _emit(table.name, path, places, columns, None if table.name == "products" else found, emit)
    _take_localized(left, path, places, emit)
    _take_codes(left, path, places, emit)
    # The whole object, without what was taken out: items of its lists copy from it (`parent_path`).
    inside = _Around(fields, None)
    for key, node in left.items():
        _walk(node, child_path(path, key), places, inside, nodes, emit)


def _walk_leaf(array: pa.Array, path: str, places: Places, emit: Emit) -> None:
    table = anchored(path)
    for column in table.columns if table is not None else ():
        # As in the plain walk, an empty text is no item.
        items = with_nulls_at(array, pc.equal(array, "")) if pa.types.is_string(array.type) else array
        if () in column.paths and (fitted := fit_column(items, column.kind)) is not None:
            found = fitted.values.is_valid()
            _emit(table.name, path, places, {column.name: fitted.values}, found, emit)  # type: ignore[union-attr]
            array = with_nulls_at(array, found)
    rows = array.is_valid()
    if pa.types.is_floating(array.type):
        kind, texts = "number", number_texts(array)
    else:
        kind = "boolean" if pa.types.is_boolean(array.type) else "string"
        texts = pc.cast(array, pa.string())
    _emit("scalars", path, places, {"type": constant(kind, len(array)), "value": texts}, rows, emit)


def _take_columns(
    left: dict[str, Node], table: Table, around: _Around, size: int
) -> tuple[dict[str, pa.Array], pa.Array | None]:
    """Move what fits the table's columns out of `left`; also return which rows have a value."""
    columns: dict[str, pa.Array] = {}
    found: pa.Array | None = None
    for column in table.columns:
        if column.parent_path is not None:
            columns[column.name] = around.column(column.parent_path, size, column)
        for path in column.paths:
            taken = _pop(left, path, column, columns.get(column.name)) if path else None
            if taken is not None:
                columns[column.name] = taken
                found = taken.is_valid() if found is None else pc.or_(found, taken.is_valid())
    return columns, found


def _pop(
    left: dict[str, Node], path: tuple[str, ...], column: Column, so_far: pa.Array | None
) -> pa.Array | None:
    """Take a column out of nested objects where it fits; with `so_far`, only where that has nothing."""
    key, *rest = path
    node = left.get(key)
    if node is None:
        return None
    if rest:
        if not (isinstance(node, dict) or pa.types.is_struct(node.type)):
            return None
        # A copy, because the object itself is still needed whole as the surroundings of its lists.
        inner = dict(_struct_columns(node))
        taken = _pop(inner, tuple(rest), column, so_far)
        left[key] = inner
        return taken
    fitted = _fitted(node, column.kind)
    if fitted is None or fitted.values.null_count == len(fitted.values):
        return None
    # Of several paths the first with a value counts, product by product; what others hold is left for `scalars`.
    if so_far is None:
        _leave(left, key, fitted.misfits)
        return fitted.values
    _leave(left, key, pc.if_else(pc.and_(so_far.is_null(), fitted.values.is_valid()), None, node))
    return pc.coalesce(so_far, fitted.values)


def _take_localized(left: dict[str, Node], path: str, places: Places, emit: Emit) -> None:
    # Records also have `data` that is true, a list or an object; then nothing here is a text or a quantity.
    data, described = left.get("data"), left.get("expressedIn")
    if not isinstance(data, pa.Array) or not (
        pa.types.is_string(data.type) or pa.types.is_floating(data.type)
    ):
        return
    if described is None or not (isinstance(described, dict) or pa.types.is_struct(described.type)):
        return
    inner = dict(_struct_columns(described))
    rows = _described(inner, data.is_valid())
    if rows is None:
        return
    found = _localized(path, inner, data, rows)
    rows = pc.or_(found.texts, found.quantities)
    if not pc.any(rows).as_py():
        return
    taken = _take_descriptor(inner, rows)
    left["expressedIn"] = inner
    _leave(left, "data", with_nulls_at(data, rows))
    # A unit or a language is described wherever it is used; the lexicon keeps each description once.
    _emit("descriptors", path, places, taken, rows, emit)
    code, short = taken["code"], taken["short_code"]
    if pa.types.is_string(data.type):
        columns = {"language_code": code, "language": short_languages(code, short), "text": data}
        _emit("texts", path, places, columns, found.texts, emit)
    columns = {"value": found.values, "unit_code": code, "unit": pc.coalesce(taken["label"], short)}
    _emit("quantities", path, places, columns, found.quantities, emit)


class _Localized(NamedTuple):
    """Which rows are texts, which are quantities, and the values of the latter."""

    texts: pa.Array
    quantities: pa.Array
    values: pa.Array


#: What a descriptor may name, by number.
_EXPRESSED = tuple(Expressed)
_LANGUAGE = _EXPRESSED.index(Expressed.LANGUAGE)
_LANGUAGES = [_EXPRESSED.index(one) for one in LANGUAGES]


def _localized(path: str, described: Mapping[str, Node], data: pa.Array, rows: pa.Array) -> _Localized:
    """Decide which of these rows are what, as the plain walk does for one."""
    nothing = pa.array(np.zeros(len(data), np.bool_))
    named = _named_by_descriptors(path, described, len(data))
    if not pa.types.is_string(data.type):
        return _Localized(nothing, pc.and_not(rows, pa.array(named == _LANGUAGE)), data)
    in_language = pa.array(np.isin(named, _LANGUAGES))
    texts = pc.and_(rows, in_language)
    others = np.flatnonzero(pc.and_not(rows, in_language).to_numpy(zero_copy_only=False))
    if not len(others):
        return _Localized(texts, nothing, pa.nulls(len(data), pa.float64()))
    # Few texts are beside a unit, and of these most are equal to others: each is read once.
    distinct, which = encoded(data.take(pa.array(others)))
    pairs, pair = np.unique(which * len(_EXPRESSED) + named[others], return_inverse=True)
    written = distinct.to_pylist()
    found = [
        meaning_of(_EXPRESSED[one % len(_EXPRESSED)], written[one // len(_EXPRESSED)])
        for one in pairs.tolist()
    ]
    is_text = np.array([one is not None and one.text is not None for one in found])[pair]
    value = np.array([np.nan if one is None or one.value is None else one.value for one in found])[pair]
    values = np.full(len(data), np.nan)
    values[others] = value
    marked = np.zeros(len(data), np.bool_)
    marked[others[is_text]] = True
    return _Localized(pc.or_(texts, pa.array(marked)), pa.array(~np.isnan(values)), pa.array(values))


def _named_by_descriptors(path: str, described: Mapping[str, Node], size: int) -> npt.NDArray[np.int64]:
    """Return for each row what its descriptor names, by number."""
    languages = np.full(size, _LANGUAGE)
    if expressed_at(path, None, None) is Expressed.LANGUAGE:
        return languages
    code, short = (
        pa.nulls(size, pa.string()) if fitted is None else fitted.values
        for fitted in (_fitted(described.get(key), kind) for key, kind in _NAMED_BY)
    )
    # Where the code names a language, the short code changes nothing, and need not be looked at.
    distinct, _ = encoded(code)
    if not code.null_count and all(
        expressed_at(path, one, None) is Expressed.LANGUAGE for one in distinct.to_pylist()
    ):
        return languages
    place, (codes, shorts) = combinations(code, short)
    found = [
        _EXPRESSED.index(expressed_at(path, *pair))
        for pair in zip(codes.to_pylist(), shorts.to_pylist(), strict=True)
    ]
    return np.array(found, np.int64)[place]


def _take_codes(left: dict[str, Node], path: str, places: Places, emit: Emit) -> None:
    fitted = _fitted(left.get("code"), "code")
    if fitted is None or fitted.values.null_count == len(fitted.values):
        return
    rows = fitted.values.is_valid()
    _leave(left, "code", fitted.misfits)
    columns = {"code": fitted.values}
    for name in ("label", "description"):
        columns[name] = _take_text(left, name, rows)
    _emit("codes", path, places, columns, rows, emit)


def _take_entities(
    left: dict[str, Node], columns: dict[str, pa.Array], found: pa.Array | None, places: Places, emit: Emit
) -> pa.Array | None:
    rows = _described(left, None)
    if rows is None:
        return found
    taken = _take_descriptor(left, rows)
    columns |= {"entity_code": taken["code"], "short_code": taken["short_code"]}
    _emit("descriptors", "", places, taken, rows, emit)
    return rows if found is None else pc.or_(found, rows)


def _described(described: Mapping[str, Node], among: pa.Array | None) -> pa.Array | None:
    """Say which rows have a descriptor with a code or a short code, or None when none has."""
    rows: pa.Array | None = None
    for key, kind in _NAMED_BY:
        if (fitted := _fitted(described.get(key), kind)) is not None:
            valid = fitted.values.is_valid()
            rows = valid if rows is None else pc.or_(rows, valid)
    if rows is not None and among is not None:
        rows = pc.and_(rows, among)
    return rows if rows is not None and pc.any(rows).as_py() else None


def _take_descriptor(described: dict[str, Node], rows: pa.Array) -> dict[str, pa.Array]:
    taken: dict[str, pa.Array] = {}
    node = described.get("code")
    if (fitted := _fitted(node, "code")) is None:
        taken["code"] = pa.nulls(len(rows), pa.string())
    else:
        taken["code"] = _only(fitted.values, rows)
        _leave(described, "code", with_nulls_at(node, pc.and_(rows, fitted.values.is_valid())))
    texts = (("short_code", "normalizedCode"), ("description", "description"), ("label", "label"))
    return taken | {name: _take_text(described, key, rows) for name, key in texts}


def _take_text(left: dict[str, Node], key: str, rows: pa.Array) -> pa.Array:
    """Take a text out of `left` for these rows, where it is one."""
    node = left.get(key)
    if not isinstance(node, pa.Array) or not pa.types.is_string(node.type):
        return pa.nulls(len(rows), pa.string())
    _leave(left, key, with_nulls_at(node, rows))
    return _only(node, rows)


def _add_hierarchy(columns: dict[str, pa.Array], path: str, above: _Nodes | None, size: int) -> _Nodes:
    """Add what a node is within its hierarchy, and return the nodes for what is below."""
    gtin = columns.get("node_gtin", pa.nulls(size, pa.string()))
    if above is None:
        nodes = _Nodes(0, gtin, gtin, pa.array(np.ones(size)))
    else:
        # A missing quantity is unknown and never 1, and so is everything below: null times anything is null.
        quantity = columns.get("quantity", pa.nulls(size, pa.float64()))
        units = pc.multiply(above.units, quantity)
        # More than a number can hold is as unknown.
        units = pc.if_else(pc.is_finite(units), units, pa.scalar(None, pa.float64()))
        nodes = _Nodes(above.level + 1, above.root_gtin, gtin, units)
    columns |= {
        "source": constant(path.removeprefix("lastRequest.").split(".")[0], size),
        "level": pa.array(np.full(size, nodes.level, np.int64)),
        "root_gtin": nodes.root_gtin,
        "units_per_root": nodes.units,
    }
    if above is not None:
        columns["parent_gtin"] = above.gtin
    return nodes


def _emit(
    table: str, path: str, places: Places, columns: dict[str, pa.Array], rows: pa.Array | None, emit: Emit
) -> None:
    """Pass on the chosen rows; None means all rows of `products`, and no rows of any other table."""
    if rows is None:
        if table == "products":
            emit(table, path, places, columns)
        return
    picked = np.flatnonzero(rows.to_numpy(zero_copy_only=False)).astype(np.int32)
    if len(picked) == len(rows):
        emit(table, path, places, columns)
    elif len(picked):
        index = pa.array(picked)
        emit(table, path, places.at(picked), {name: array.take(index) for name, array in columns.items()})


def _fitted(node: Node | None, kind: ColumnKind) -> Fitted | None:
    """Return a column as far as it fits; None for an object, and where no value can fit."""
    return fit_column(node, kind) if isinstance(node, pa.Array) else None


def _struct_columns(node: Any) -> dict[str, Node]:
    """Return the columns of an object; none for what is no object."""
    if isinstance(node, dict):
        return node
    if not pa.types.is_struct(node.type):
        return {}
    return {field.name: node.field(i) for i, field in enumerate(node.type)}


def _leave(left: dict[str, Node], key: str, rest: pa.Array | None) -> None:
    """Leave only the rest of a column for the walk."""
    if rest is None or rest.null_count == len(rest):
        del left[key]
    else:
        left[key] = rest


def _only(array: pa.Array, rows: pa.Array) -> pa.Array:
    return pc.if_else(rows, array, None)


def constant(text: str, size: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([text]))

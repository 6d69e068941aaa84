"""The rows of the child tables as cells, with one column for each attribute: the long form of `wide()`.

A cell is a product, an attribute and a value to show. Each kind of row is shown in one way: texts as they are, codes by
their label, quantities with their unit, labels, tags and nutrients by name, pictures and other files by their number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.locales import is_meant, short_of, variant_of
from prodex.tables.attributes import anchored, is_within
from prodex.tables.columns import as_one_chunk, by_combination, by_value, encoded, places
from prodex.tables.declaration import TABLES, Column, Table

Read = Callable[..., pa.Table]
#: What the values of some cells are; numbers and booleans out of `scalars` are still written as text.
ValueKind = Literal["text", "number", "boolean", "count", "quantity"]

#: Attributes of a product that describe other units, or a version of itself that nobody has accepted yet.
NOT_ITSELF = ("logisticalHierarchies", "sharingUnits", "lastRequest")

#: The columns by which a row of a child table is called; the first that is filled.
_NAMES = {
    "nutrients": ("nutrient", "nutrient_code"),
    "hierarchies": ("node_gtin", "node_uuid"),
    "labels": ("label", "label_code", "value"),
    "tags": ("tag",),
    "identifiers": ("reference",),
    "entities": ("entity_code", "short_code"),
}
_COUNTED = ("pictures", "exportables", "documents", "videos", "enriched_contents")
#: The leaves of objects that rows of no declared place hold, by their column.
_LEAVES = {
    "texts": {"data": "text"},
    "quantities": {"data": "value"},
    "codes": {"code": "code", "label": "label", "description": "description"},
}


class WantedAttributes(NamedTuple):
    """Which attributes are shown: those asked for with all below them, or all that describe the product itself."""

    asked: tuple[str, ...] | None

    def holds(self, attribute: str) -> bool:
        """Whether rows at this wire path are shown."""
        if self.asked is None:
            return not any(is_within(attribute, path) for path in NOT_ITSELF)
        return any(is_within(attribute, path) for path in self.asked)

    @property
    def condition(self) -> pc.Expression:
        """The same as a condition on `attribute`, with the objects around leaves that were asked for."""
        if self.asked is None:
            return ~_matching(NOT_ITSELF)
        return _matching([*self.asked, *(path.rpartition(".")[0] for path in self.asked)])


class Cells(NamedTuple):
    """Cells of several columns.

    Attributes
    ----------
    products
        Index of the product of each cell.
    columns
        Index of the column of each cell, among the names.
    names
        The names of the columns.
    values
        What is shown, never null.
    kind
        What it is.
    source
        The table that they are of, one that is filled by shape; empty for the items of a declared table.
    """

    products: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    names: Sequence[str]
    values: pa.Array
    kind: ValueKind
    source: str = ""

    def at(self, rows: npt.NDArray[Any]) -> Cells:
        """Return some of the cells, by index or by mask."""
        values = self.values.take(pa.array(np.flatnonzero(rows) if rows.dtype == bool else rows))
        return self._replace(products=self.products[rows], columns=self.columns[rows], values=values)


class _Rows(NamedTuple):
    """Rows of a table, with the index of their product and of their attribute.

    Of a table some rows may be `chosen`; only the columns that are asked for are then copied.
    """

    table: pa.Table
    products: npt.NDArray[np.int64]
    attributes: npt.NDArray[np.int64]
    names: list[str]
    source: str
    chosen: npt.NDArray[np.int64] | None = None

    def column(self, name: str) -> pa.Array:
        column = self.stored(name)
        return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column

    def stored(self, name: str) -> pa.Array:
        """Return a column, with a dictionary where the table has one."""
        column = as_one_chunk(self.table[name])
        return column if self.chosen is None else column.take(pa.array(self.chosen))

    def cells(self, values: pa.Array, kind: ValueKind = "text", names: Sequence[str] | None = None) -> Cells:
        """Return a cell for each row that has a value."""
        called = self.names if names is None else names
        every = Cells(self.products, self.attributes, called, values, kind, self.source)
        return every.at(values.is_valid().to_numpy(zero_copy_only=False)) if values.null_count else every

    def of(self, chosen: Callable[[str], bool]) -> _Rows:
        """Return the rows of some attributes."""
        keep = np.array([chosen(name) for name in self.names], bool)
        return self if keep.all() else self.at(np.flatnonzero(keep[self.attributes]))

    def at(self, rows: npt.NDArray[np.int64]) -> _Rows:
        """Return some of the rows."""
        chosen = rows if self.chosen is None else self.chosen[rows]
        return self._replace(products=self.products[rows], attributes=self.attributes[rows], chosen=chosen)

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """One number for each pair of product and attribute."""
        return self.products * (len(self.names) + 1) + self.attributes


def cells_of(
    read: Read,
    products: pa.Array,
    wanted: WantedAttributes,
    languages: Sequence[str] | None,
    numbers: bool,
    shown: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Cells]:
    """Yield the cells of a catalogue, table by table.

    Parameters
    ----------
    read
        Reads a table, as `Catalog.arrow` does; columns may be dictionary-encoded, and the rows that a condition
        excludes may be included.
    products
        The product ids, in the order of the rows to be.
    wanted
        Which attributes.
    languages
        Codes of the languages of texts, as columns are to be called; with None each text is in the column of its own
        language.
    numbers
        Whether a quantity is a number and a unit, instead of one text.
    shown
        What codes of languages are called in columns, where not as they were sent.
    """
    opened = _Reader(read, products, wanted)
    texts = opened.rows("texts", "text", "language", "language_code")
    yield from _text_cells(texts.of(wanted.holds), languages, shown)
    codes = opened.rows("codes", "code", "label", "description")
    own = codes.of(wanted.holds)
    yield own.cells(pc.coalesce(own.column("label"), own.column("code")))
    quantities = opened.rows("quantities", "value", "unit", "unit_code")
    yield from _quantity_cells(quantities.of(wanted.holds), numbers)
    yield from _scalar_cells(opened.rows("scalars", "type", "value").of(wanted.holds))
    for table, rows in (("texts", texts), ("codes", codes), ("quantities", quantities)):
        for leaf, column in _LEAVES[table].items() if wanted.asked is not None else ():
            yield from _leaf(rows, leaf, column, wanted)
    for name, table_ in TABLES.items():
        if name in _NAMES or name in _COUNTED:
            yield from _item_cells(opened, table_, wanted)


class _Reader(NamedTuple):
    read: Read
    products: pa.Array
    wanted: WantedAttributes

    def rows(self, table: str, *columns: str) -> _Rows:
        """Read rows whose attribute is wanted, or may hold a leaf that is."""
        condition = self.wanted.condition if table not in _NAMES and table not in _COUNTED else None
        found = self.read(table, ["product_id", "attribute", *columns], condition)
        ids, products = encoded(found["product_id"])
        attributes, attribute = encoded(found["attribute"])
        rows = _Rows(
            found.drop_columns(["product_id", "attribute"]),
            # Most tables have rows of every product: then they are the same ids in the same order.
            products if ids.equals(self.products) else places(ids, self.products)[products],
            attribute,
            attributes.to_pylist(),
            "" if condition is None else table,
        )
        return rows if condition is None else rows.of(self.shown(attributes).__contains__)

    def shown(self, attributes: pa.Array) -> set[str]:
        """Return the attributes that fulfil the condition."""
        fulfilled = pa.table({"attribute": attributes}).filter(self.wanted.condition)
        return set(fulfilled["attribute"].to_pylist())


def language_of(language: pa.Array, code: pa.Array) -> pa.DictionaryArray:
    """Return the short code of each text's language, whichever of both forms was sent."""
    return by_combination(_short_of_either, language, code)


def _short_of_either(language: pa.Array, code: pa.Array) -> pa.Array:
    sent = pc.coalesce(language, code).to_pylist()
    return pa.array([None if one is None else short_of(one) for one in sent], pa.string())


def variants_of(short: pa.Array, code: pa.Array) -> pa.DictionaryArray:
    """Return each text's language with its country, by both of its codes as sent."""
    return by_combination(_variant_of_either, short, code)


def _variant_of_either(short: pa.Array, code: pa.Array) -> pa.Array:
    sent = zip(code.to_pylist(), short.to_pylist(), strict=True)
    return pa.array([variant_of(*both) for both in sent], pa.string())


def _text_cells(rows: _Rows, languages: Sequence[str] | None, shown: Mapping[str, str]) -> Iterator[Cells]:
    language, code = rows.stored("language"), rows.stored("language_code")
    if languages is None:
        sent = by_combination(pc.coalesce, language, code)
        called = [shown.get(one, one) for one in sent.dictionary.to_pylist()]
        if len(set(called)) < len(called):
            sent = pa.array(called, pa.string()).take(sent.indices).dictionary_encode()
            called = sent.dictionary.to_pylist()
        size = max(len(sent.dictionary), 1)
        both = rows.attributes * size + sent.indices.to_numpy(zero_copy_only=False)
        used, columns = np.unique(both, return_inverse=True)
        names = [f"{rows.names[pair // size]}.{called[pair % size]}" for pair in used.tolist()]
        yield rows._replace(attributes=columns, names=names).cells(rows.column("text"))
        return
    variants = variants_of(language, code)
    for one in languages:
        names = rows.names if len(languages) == 1 else [f"{name}.{one}" for name in rows.names]
        # A text is copied only if it is shown: most are in other languages.
        own = rows.at(np.flatnonzero(by_value(variants, partial(is_meant, language=one), False)))
        yield own.cells(own.column("text"), names=names)


def _quantity_cells(rows: _Rows, numbers: bool) -> Iterator[Cells]:
    if numbers:
        # Several quantities of one attribute (250 g and 0.25 kg) are no single number: these are shown as text.
        _, which, count = np.unique(rows.places, return_inverse=True, return_counts=True)
        single = count[which] == 1
        names = [[f"{name}.{part}" for name in rows.names] for part in ("value", "unit")]
        alone = rows.at(np.flatnonzero(single))
        yield alone.cells(alone.column("value"), "quantity", names[0])
        yield alone.cells(_unit_or_code(alone), "text", names[1])
        rows = rows.at(np.flatnonzero(~single))
    texts = number_texts(rows.column("value")), pc.fill_null(_unit_or_code(rows), "")
    yield rows.cells(pc.utf8_trim_whitespace(pc.binary_join_element_wise(*texts, " ")))


def _unit_or_code(rows: _Rows) -> pa.Array:
    return pc.coalesce(rows.column("unit"), rows.column("unit_code"))


def number_texts(values: pa.Array) -> pa.Array:
    """Write numbers as people do: 250, 0.5."""
    # Few distinct values repeat very often, so each of them is formatted once.
    encoded = values.dictionary_encode()
    texts = [f"{value:.15g}" for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices)


def _scalar_cells(rows: _Rows) -> Iterator[Cells]:
    type_, value = rows.column("type"), rows.column("value")
    for kind in ("string", "number", "boolean"):
        found = pc.equal(type_, kind)
        if kind == "string":
            # Some records have "" in place of a whole attribute or list, as others have [] or null: it is no value.
            place = np.array([_is_own_path(name) for name in rows.names], bool)[rows.attributes]
            found = pc.and_(found, pc.invert(pc.and_(pc.equal(value, ""), pa.array(place, pa.bool_()))))
        chosen = np.flatnonzero(found.to_numpy(zero_copy_only=False))
        yield rows.cells(value, "text" if kind == "string" else kind).at(chosen)  # type: ignore[arg-type]


def _is_own_path(attribute: str) -> bool:
    """Whether an attribute is at the top of the product, or where rows of a declared table are."""
    return "." not in re.sub(r"\\.", "", attribute) or anchored(attribute) is not None


def _leaf(rows: _Rows, leaf: str, column: str, wanted: WantedAttributes) -> Iterator[Cells]:
    """Yield the leaf of an object that was asked for by its own path, such as `originCountry.code`."""
    paths = [
        f"{name}.{leaf}".lstrip(".") for name in rows.names
    ]  # the record itself may be a code, with no path
    chosen = {name for name, path in zip(rows.names, paths, strict=True) if path in (wanted.asked or ())}
    if chosen:
        found = rows.of(chosen.__contains__)
        values = found.column(column)
        yield found.cells(values, "quantity" if column == "value" else "text", paths)


def _item_cells(opened: _Reader, table: Table, wanted: WantedAttributes) -> Iterator[Cells]:
    """Yield one cell for each item of a declared table, and the leaves of items that were asked for."""
    leaves = [column for column in table.columns if column.paths]
    named = _NAMES.get(table.name, ())
    rest = tuple(column.name for column in leaves if column.name not in named)
    rows = opened.rows(table.name, *(() if table.name in _COUNTED else named))
    if not len(rows.products):
        return
    own = rows.of(wanted.holds)
    if table.name in _COUNTED:
        used, count = np.unique(own.places, return_counts=True)
        products, attributes = np.divmod(used, len(own.names) + 1)
        yield Cells(products, attributes, own.names, pa.array(count, pa.int64()), "count")
    elif len(own.products):
        shown = pc.coalesce(*(own.column(name) for name in named))
        if (
            shown.null_count
        ):  # an item without a name, such as a label with only a date, is shown by what it has
            every = opened.rows(table.name, *rest).of(wanted.holds)
            shown = pc.coalesce(shown, *(as_text(every.column(name)) for name in rest))
        yield own.cells(shown)
    deeper = [
        path
        for path in wanted.asked or ()
        if any(path != name and is_within(path, name) for name in rows.names)
    ]
    for path in deeper:
        yield from _item_leaves(opened, table, leaves, path)


def _item_leaves(opened: _Reader, table: Table, leaves: Sequence[Column], path: str) -> Iterator[Cells]:
    """Yield what items hold at a path inside them, such as `assets.pictures.url`."""
    rows = opened.rows(table.name, *(column.name for column in leaves))
    for name in rows.names:
        inner = path.removeprefix(f"{name}.")
        if inner == path:
            continue
        for group, columns in grouped(leaves, inner).items():
            own = rows.of(lambda attribute, only=name: attribute == only)  # type: ignore[misc]
            values = pc.coalesce(*(as_text(own.column(column)) for column in columns))
            kind = kind_of(own.table.schema.field(columns[0]).type) if len(columns) == 1 else "text"
            yield own.cells(values, kind, [f"{name}.{group}"] * len(own.names))


def grouped(columns: Sequence[Column], path: str) -> dict[str, list[str]]:
    """Return the leaves at or below a path by name: a code with its label is one, shown by its label.

    >>> grouped(TABLES["products"].columns, "kind")
    {'kind': ['kind', 'kind_code'], 'kind.description': ['kind_description']}
    """
    found: dict[str, list[str]] = {}
    for column in columns:
        own = next((".".join(p) for p in column.paths if is_within(".".join(p), path)), None)
        if own is None:
            continue
        around, _, last = own.rpartition(".")
        if last in {"code", "label"} and own != path:
            place = found.setdefault(around, [])
            place.insert(0 if last == "label" else len(place), column.name)
        else:
            found[own] = [column.name]
    return found


def kind_of(type_: pa.DataType) -> ValueKind:
    """Return what the values of a declared column are."""
    if pa.types.is_boolean(type_):
        return "boolean"
    return "number" if pa.types.is_integer(type_) or pa.types.is_floating(type_) else "text"


def as_text(values: pa.Array) -> pa.Array:
    """Write values as `wide()` shows them where a column is text: numbers as people write them, true and false."""
    return number_texts(values) if pa.types.is_floating(values.type) else values.cast(pa.string())


def _matching(paths: Sequence[str]) -> pc.Expression:
    below = "|".join(map(re.escape, paths))
    return pc.match_substring_regex(pc.field("attribute"), f"^({below})([.]|$)")

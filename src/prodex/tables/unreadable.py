"""What is there and cannot be read: neither data nor missing, since nobody knows what it means.

Values are read as declared, and in the other containers of `prodex.tables.containers`. Whatever else is in the place of
a declared value stays in the tables that are filled by shape, at a wire path where nothing of that kind is declared:

- a value that does not fit its column: a time such as "yesterday", "about 500" beside the unit GRM, a quantity that is
  an object;
- something else than an object or a list of objects: the bare code of a brand, a text for the pictures;
- an object that has nothing of what is declared for it: a list below the key "data", names by language. One that has
  any of it may have further keys as well, which nobody misses;
- under an attribute of texts what is no text in a language, and under one of amounts what is no amount: a list in
  `data`, or a text below another key than `data` beside a language;
- an object in place of a value: the key may wrap all that is declared for the object around it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.locales import short_of
from prodex.tables.attributes import child_path, is_within
from prodex.tables.columns import Mask, Rows, as_one_chunk, encoded, filled_values, is_true, places
from prodex.tables.containers import singles_at
from prodex.tables.declaration import TABLES
from prodex.tables.declared_paths import (
    DESCRIPTOR,
    SHAPES,
    DeclaredKind,
    Home,
    base_of,
    depth_of,
    home_of,
    is_copied,
    is_doubtful,
)
from prodex.tables.descriptors import LANGUAGES, expressed_at
from prodex.tables.filled import BY_SHAPE, Filled
from prodex.tables.values import fit, read_json, storable
from prodex.written_numbers import less_than

#: Every text, and everything that a product may hold, as rules name what they look at.
_EVERY_TEXT, _EVERYTHING = "*", "**"

#: Kinds of attributes whose values have a language or a unit beside them.
_DESCRIBED = frozenset({DeclaredKind.TEXTS, DeclaredKind.AMOUNTS})

#: Kinds of objects and lists in which there may be more than is declared.
_WITH_MORE = frozenset({DeclaredKind.OBJECT, DeclaredKind.ROWS, DeclaredKind.CODES})

#: The end of paths of the short code of a language or unit.
_SHORT = f"{DESCRIPTOR}.normalizedCode"


class _Place(NamedTuple):
    """Where something is that cannot be read, and what is declared there.

    `language` is the one that it says itself: None where nobody knows whether it says one, and "" for a text that says
    none. The latter is a text all the same, and only unknown to whoever asks for a language.
    """

    path: str
    kind: DeclaredKind
    language: str | None = None

    def is_at(self, path: str) -> bool:
        """Whether nobody knows what is at a wire path as long as this is not readable."""
        if path in {_EVERY_TEXT, _EVERYTHING}:
            return path == _EVERYTHING or self.kind is DeclaredKind.TEXTS
        path = _as_named(path)
        # What is below something that cannot be read is not known either. Of what is around it the rest is known,
        # unless it is a list: then nobody knows what else is in it.
        is_list = self.kind not in {DeclaredKind.LEAF, DeclaredKind.OBJECT}
        # The value of an object with a code is its code.
        is_value = self.path == f"{path}.code"
        return is_value or is_within(path, self.path) or (is_list and is_within(self.path, path))

    def may_be_in(self, language: str | None) -> bool:
        """Whether it may be what is asked for: in one language, in any other ("") or in whichever (None)."""
        if language is None:
            return self.language != ""
        return not self.language or self.language == (language and short_of(language))


class PartTables(Protocol):
    """The tables of some products: a part of a catalogue, or a block that becomes one."""

    @property
    def size(self) -> int:
        """Number of products."""

    def holds(self, table: str) -> bool:
        """Whether there is a table."""

    def read(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Read columns of a table."""

    def encoded(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Read columns of a table, with text that repeats as dictionaries where it is held so."""


@dataclass(frozen=True, eq=False)
class Unreadable:
    """The products of a part that hold what cannot be read, by place."""

    size: int
    found: Mapping[_Place, Rows] = field(default_factory=dict)

    @classmethod
    def of(cls, part: PartTables, *, of_whole: bool = False) -> Self:
        """Find them among the rows that are the products' own; tables that an export left out show none.

        `of_whole` leaves out what says nothing of an attribute as a whole: a single value or object deep inside of it,
        and a text of which only the language is unknown.
        """
        if not part.size:
            return cls(0)
        # Nearly always there are none, and no more than the paths has to be read.
        wanted = {table: _doubtful_paths(part, table) for table in BY_SHAPE if part.holds(table)}
        has_texts = part.holds("texts") and not of_whole
        silent = _rows_without_language(part) if has_texts else np.zeros(0, np.int64)
        # What is deep inside of an attribute may still show what is around it.
        sought = {t: [*filter(_is_of_whole, paths)] if of_whole else paths for t, paths in wanted.items()}
        if not any(sought.values()) and not len(silent):
            return cls(part.size)
        found: dict[_Place, list[Rows]] = defaultdict(list)
        search = _PartSearch(part, wanted)
        for place, products in (*search.places(sought), *search.texts_at(silent)):
            found[place].append(products)
        return cls(part.size, {place: np.unique(np.concatenate(some)) for place, some in found.items()})

    def each(self) -> list[Unreadable]:
        """Return the same for each product by itself."""
        found: list[dict[_Place, Rows]] = [{} for _ in range(self.size)]
        for place, products in self.found.items():
            for product in products.tolist():
                found[product][place] = np.zeros(1, np.int64)
        return [Unreadable(1, own) for own in found]

    def languages(self, attribute: str) -> set[str | None]:
        """Return the languages in which anything at a wire path says that it is; None where it does not say one."""
        return {place.language for place in self.found if place.is_at(attribute)}

    def products(self, attributes: Iterable[str], language: str | None = None) -> Mask:
        """Say which products hold something at these wire paths that cannot be read, in a language or in any."""
        there = np.zeros(self.size, bool)
        for path in attributes if self.found else ():
            for place, products in self.found.items():
                if place.is_at(path) and place.may_be_in(language):
                    there[products] = True
        return there


@dataclass(frozen=True, eq=False)
class TablesInMemory:
    """The tables of some products before they are a part of a catalogue; texts may be dictionaries."""

    tables: Mapping[str, pa.Table]

    @property
    def size(self) -> int:
        """Number of products."""
        return len(self.tables["products"])

    def holds(self, table: str) -> bool:
        """Whether there is a table."""
        return table in self.tables

    def read(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Return columns of a table with nothing encoded."""
        return self.encoded(table, columns).cast(TABLES[table].schema_of(columns))

    def encoded(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Return columns of a table as they are, with the place of each product in place of its key."""
        found = self.tables[table].select(columns)
        # Two products of a block may have one key; the numbers that stand for keys are of the products themselves.
        if "product_id" in columns and pa.types.is_dictionary(found.schema.field("product_id").type):
            own = pa.DictionaryArray.from_arrays(as_one_chunk(found["product_id"]).indices, self._places)
            found = found.set_column(found.schema.get_field_index("product_id"), "product_id", own)
        return found

    @cached_property
    def _places(self) -> pa.Array:
        return pa.array(np.arange(self.size)).cast(pa.string())


def unreadable_attributes(tables: Mapping[str, pa.Table], names: Iterable[str]) -> dict[str, Mask]:
    """Return which products have an attribute that is there and of which nothing can be read, if any has.

    Parameters
    ----------
    tables
        The tables of these products, all but `presence` and `raw`.
    names
        The attributes at the top of their records, as wire keys.
    """
    part = TablesInMemory(tables)
    unreadable = Unreadable.of(part, of_whole=True)
    if not unreadable.found:
        return {}
    ids = as_one_chunk(part.read("products", ["product_id"])["product_id"])
    filled = Filled(
        part.size,
        lambda table, columns: [as_one_chunk(one) for one in part.read(table, columns).columns],
        lambda table: places(as_one_chunk(part.encoded(table, ["product_id"])["product_id"]), ids),
    )
    found = {}
    for name in names:
        path = child_path("", storable(name))
        there = unreadable.products([path])
        if there.any():
            found[name] = there & ~filled.products(path)
    return found


def _doubtful_paths(part: PartTables, table: str) -> list[str]:
    every = pc.unique(as_one_chunk(part.encoded(table, ["attribute"])["attribute"])).to_pylist()
    return [path for path in every if is_doubtful(table, path)]


@lru_cache(maxsize=65536)
def _is_of_whole(path: str) -> bool:
    """Whether something else at a wire path may leave open whether the attribute at its top is there."""
    home = home_of(path)
    if home is None or (home.kind is DeclaredKind.LEAF and path != home.path):
        return True  # it is in `data`, or may concern the object around a value
    return _Place(_as_named(home.path), home.kind).is_at(path.partition(".")[0])


def _rows_without_language(part: PartTables) -> Rows:
    """Return the texts whose descriptor names no language: what is their language has nothing to see."""
    read = part.encoded("texts", ["language", "language_code"])
    # Nearly always every text has one, and only the few distinct ones are looked at.
    language, code = as_one_chunk(read["language"]), as_one_chunk(read["language_code"])
    without = ~filled_values(language)
    if without.any():
        without &= ~(filled_values(code) & is_true(pc.is_null(language)))
    rows = np.flatnonzero(without)
    if len(rows):
        rows = rows[filled_values(as_one_chunk(part.read("texts", ["text"])["text"]).take(pa.array(rows)))]
    return rows


class _TableRows:
    """The places of the rows of one table: by wire path, product and position. Each column is read once."""

    def __init__(self, part: PartTables, table: str, ids: pa.Array) -> None:
        self._part = part
        self.table = table
        names = ["product_id", "attribute", "position", *(["type"] if table == "scalars" else [])]
        self._read = part.encoded(table, names)
        self.product = places(as_one_chunk(self._read["product_id"]), ids)
        paths, self._path = encoded(self._read["attribute"])
        self.paths: list[str] = paths.to_pylist()
        positions, self._position = encoded(self._read["position"])
        self.positions: list[str] = positions.to_pylist()
        self._codes = {path: code for code, path in enumerate(self.paths)}

    def at(self, path: str) -> Rows:
        """Return the rows at a wire path."""
        code = self._codes.get(path)
        return np.zeros(0, np.int64) if code is None else self._rows_by_path[code]

    def paths_within(self, outer: str) -> list[str]:
        """Return the wire paths that are another one, or lie below it."""
        ordered = self._ordered_paths
        # What begins with the path and a point stands together; "/" is the sign behind the point.
        below = ordered[bisect_left(ordered, f"{outer}.") : bisect_left(ordered, f"{outer}/")]
        return [outer, *below] if outer in self._codes else below

    @cached_property
    def _ordered_paths(self) -> list[str]:
        # Products on which every name is another one have thousands, of which each is asked for.
        return sorted(self.paths)

    @cached_property
    def _rows_by_path(self) -> list[Rows]:
        # Sorted once: of a table with hundreds of paths many are asked for.
        order = np.argsort(self._path, kind="stable")
        edges = np.searchsorted(self._path[order], np.arange(len(self.paths) + 1))
        return [order[start:end] for start, end in pairwise(edges)]

    def position(self, rows: Rows) -> list[str]:
        """Return the positions of rows."""
        return [self.positions[code] for code in self._position[rows].tolist()]

    def path(self, rows: Rows) -> list[str]:
        """Return the wire paths of rows."""
        return [self.paths[code] for code in self._path[rows].tolist()]

    def of_each_position(self, made: Sequence[Any], rows: Rows) -> npt.NDArray[Any]:
        """Return for rows what was made of each distinct position."""
        return np.array(made)[self._position[rows]] if len(rows) else np.zeros(0, np.int64)

    def has_type(self, types: Iterable[str], rows: Rows) -> Mask:
        """Say which rows have one of some JSON types."""
        names, type_of_row = self._types
        is_one: Mask = np.isin(type_of_row[rows], [names.index(one) for one in types if one in names])
        return is_one

    @cached_property
    def _types(self) -> tuple[list[str], Rows]:
        names, type_of_row = encoded(self._read["type"])
        return names.to_pylist(), type_of_row

    def filled(self, rows: Rows) -> Rows:
        """Return those of some rows that have anything to see."""
        if not len(rows):
            return rows
        some = self._values.take(pa.array(rows))
        return rows[
            np.logical_or.reduce([filled_values(as_one_chunk(some[name])) for name in BY_SHAPE[self.table]])
        ]

    def valid(self, columns: Sequence[str], rows: Rows) -> Rows:
        """Return those of some rows that have a value in one of some columns."""
        read = self._part.read(self.table, columns).take(pa.array(rows))
        return rows[np.logical_or.reduce([is_true(pc.is_valid(read[name])) for name in columns])]

    def values(self, rows: Rows) -> list[dict[str, Any]]:
        """Return what rows hold."""
        found: list[dict[str, Any]] = self._values.take(pa.array(rows)).to_pylist()
        return found

    @cached_property
    def _values(self) -> pa.Table:
        names = ["type"] if self.table == "scalars" else []
        return self._part.read(self.table, [*names, *BY_SHAPE[self.table]])


class _PartSearch:
    """The search of one part."""

    def __init__(self, part: PartTables, wanted: Mapping[str, list[str]]) -> None:
        self._part = part
        self._wanted = wanted
        self._ids = as_one_chunk(part.read("products", ["product_id"])["product_id"])
        self._tables: dict[str, _TableRows] = {}
        self._numbers: dict[str, int] = {}
        self._cut: dict[tuple[str, int], list[int]] = {}
        self._known: dict[str, Rows] = {}

    def places(self, sought: Mapping[str, list[str]]) -> Iterator[tuple[_Place, Rows]]:
        """Yield each place that something at some wire paths is about, and the positions of its products."""
        for name, paths in sought.items():
            together: dict[Home, list[str]] = defaultdict(list)
            for path in paths:
                table, home = self._table(name), home_of(path)
                if home is not None and home.kind in _WITH_MORE and not is_copied(name, path):
                    together[home].append(path)
                    continue
                rows = table.at(path)
                is_in_data = base_of(path) is not None
                if home is not None and is_in_data and name == "texts" == home.kind.value:
                    continue  # A text in `data` is that text, one object deeper.
                if home is None or (is_in_data and home.kind in _DESCRIBED):
                    is_one_text = home is not None and path == f"{home.path}.data"
                    yield from self._beside_descriptors(
                        table, table.filled(rows), str(base_of(path)), home, is_one_text=is_one_text
                    )
                    continue
                if home.kind in _DESCRIBED:
                    rows = table.filled(rows[~self._is_known(home, table, rows)])
                    yield from self._beside_descriptors(table, rows, home.path, home, is_in_data=False)
                    continue
                if is_copied(name, path):
                    # It stays in its own place, and nearly always is what is declared there.
                    rows = rows[~_is_as_declared(table, rows, home)]
                rows = table.filled(rows)
                if home.kind is DeclaredKind.LEAF and name == "scalars" and path == home.path:
                    rows = rows[[not one for one in _fitting(home, table, rows)]]
                if len(rows):
                    yield _Place(_as_named(home.path), home.kind), table.product[rows]
                if home.kind is DeclaredKind.LEAF and path != home.path:
                    yield from self._around_leaf(home, table, rows)
            # Of objects with further keys many have several: whether they are known is found out once.
            for home, some in together.items():
                table = self._table(name)
                rows = np.concatenate([table.at(path) for path in some])
                rows = table.filled(rows[~self._is_known(home, table, rows)])
                if len(rows):
                    yield _Place(_as_named(home.path), home.kind), table.product[rows]

    def _around_leaf(self, leaf: Home, table: _TableRows, rows: Rows) -> Iterator[tuple[_Place, Rows]]:
        """Yield the objects that have nothing but objects in place of a value: its key wraps what is declared."""
        around = home_of(leaf.path.rpartition(".")[0])
        if around is not None and len(rows):
            rows = rows[~self._is_known(around, table, rows)]
            if len(rows):
                yield _Place(_as_named(around.path), around.kind), table.product[rows]

    def texts_at(self, rows: Rows) -> Iterator[tuple[_Place, Rows]]:
        """Yield the places of texts that say no language."""
        if not len(rows):
            return
        table = self._table("texts")
        for row, path in zip(rows.tolist(), table.path(rows), strict=True):
            home = home_of(path)
            if home is not None and home.kind is DeclaredKind.TEXTS:
                yield _Place(path, DeclaredKind.TEXTS, ""), table.product[[row]]

    def _table(self, name: str) -> _TableRows:
        if name not in self._tables:
            self._tables[name] = _TableRows(self._part, name, self._ids)
        return self._tables[name]

    def _beside_descriptors(
        self,
        table: _TableRows,
        rows: Rows,
        base: str,
        home: Home | None,
        *,
        is_in_data: bool = True,
        is_one_text: bool = False,
    ) -> Iterator[tuple[_Place, Rows]]:
        """Yield what is in `data`, or in place of it, beside a language or a unit, and no text or amount.

        Only what is a text in all but its language (`is_one_text`) is known to whoever asks for none.
        """
        if not len(rows):
            return
        named = self._descriptors(base)
        is_one_text &= home is not None and home.kind is DeclaredKind.TEXTS
        # A text beside a descriptor that cannot be read is not one that says no language.
        odd = self._with_rows_below(f"{base}{DESCRIPTOR}") if is_one_text else set()
        # A number or a flag beside a language, such as its rank, is no text below another key.
        is_rank = (
            not is_in_data
            and table.table == "scalars"
            and home is not None
            and home.kind is DeclaredKind.TEXTS
        )
        texts = table.has_type(["string"], rows) if is_rank else np.ones(len(rows), bool)
        for row, position, may_be in zip(rows.tolist(), table.position(rows), texts.tolist(), strict=True):
            product = int(table.product[row])
            # A list in `data` has one more index than its item.
            around = position.rpartition(".")[0]
            described = named.get((product, position)) or named.get((product, around))
            one = np.array([product])
            if described is not None:
                if not may_be:
                    continue
                code, short = described
                is_language = expressed_at(base, code, short) in LANGUAGES
                # As of a text that can be read: its short code, where it has one.
                language = short_of((code if short is None else short) or "") if is_language else None
                kind = (
                    home.kind
                    if home is not None
                    else DeclaredKind.TEXTS
                    if is_language
                    else DeclaredKind.AMOUNTS
                )
                yield _Place(_as_named(base), kind, language), one
            elif home is not None:
                says_none = is_one_text and product not in odd
                yield _Place(_as_named(home.path), home.kind, "" if says_none else None), one

    def _with_rows_below(self, path: str) -> set[int]:
        """Return the products with any rows below a wire path."""
        found: set[int] = set()
        for name in filter(self._part.holds, BY_SHAPE):
            table = self._table(name)
            for below in table.paths_within(path):
                found.update(table.product[table.filled(table.at(below))].tolist())
        return found

    def _descriptors(self, base: str) -> dict[tuple[int, str], tuple[str | None, str | None]]:
        """Return code and short code of the descriptors that belong to no text and no amount, by product and place."""
        found: dict[tuple[int, str], tuple[str | None, str | None]] = {}
        for name, end, column in (("codes", DESCRIPTOR, "code"), ("scalars", _SHORT, "value")):
            if not self._part.holds(name):
                continue
            table = self._table(name)
            rows = table.at(f"{base}{end}")
            if not len(rows):
                continue
            if name == "scalars":
                rows = rows[table.has_type(["string"], rows)]
            for row, position, value in zip(
                rows.tolist(), table.position(rows), table.values(rows), strict=True
            ):
                key = int(table.product[row]), position
                code, short = found.get(key, (None, None))
                found[key] = (value[column], short) if name == "codes" else (code, value[column])
        return found

    def _is_known(self, home: Home, table: _TableRows, rows: Rows) -> Mask:
        """Say of which rows the object around has anything that is declared for it."""
        if not len(rows):
            return np.zeros(0, bool)
        if home.path not in self._known:
            found = [self._keys(*one, _depth(home)) for one in self._known_rows(home)]
            self._known[home.path] = np.concatenate([*found, self._known_products(home)])
        # One text in place of a list of texts has no place in a list, whatever lists are inside of it.
        depths = {_depth(home), depth_of(home.path)}
        keys = [self._keys(table, rows, depth) for depth in depths]
        known: Mask = np.logical_or.reduce([np.isin(one, self._known[home.path]) for one in keys])
        return known

    def _known_rows(self, home: Home) -> Iterator[tuple[_TableRows, Rows]]:
        """Yield rows of which the object around has something that is declared for it."""
        if home.kind in SHAPES:
            # Beside a text there may be more.
            yield from self._rows_at(home.kind, [home.path])
            return
        for name, paths in self._wanted.items():
            below = [path for path in paths if (inner := home_of(path)) and _shows(inner, path, home)]
            yield from self._rows_at(name, [path for path in below if is_within(path, home.path)])
        for name, declared in TABLES.items():
            if declared.per_product and declared.anchors and name != "products" and self._part.holds(name):
                yield from self._rows_of(name, home)
        # What rows copy from the object around them is in tables by shape.
        if is_copied("codes", home.path):
            yield from self._rows_at("codes", [home.path])
        inner_paths = [f"{home.path}.{key}" for key in singles_at(home.path)]
        for name in ("scalars", "codes"):
            yield from self._rows_at(name, inner_paths)

    def _rows_of(self, name: str, home: Home) -> Iterator[tuple[_TableRows, Rows]]:
        """Yield the rows of a table that are below a wire path, or of which columns were filled from there."""
        anchors = TABLES[name].anchors
        if not any(is_within(home.path, one) or is_within(one, home.path) for one in anchors):
            return
        table = self._table(name)
        for anchor in table.paths:
            if is_within(anchor, home.path):
                yield table, table.at(anchor)
            elif is_within(home.path, anchor):
                columns = _columns_within(name, home.path[len(anchor) + 1 :])
                if columns:
                    yield table, table.valid(columns, table.at(anchor))

    def _rows_at(self, name: str, paths: Iterable[str]) -> Iterator[tuple[_TableRows, Rows]]:
        if self._part.holds(name):
            for path in paths:
                yield self._table(name), self._table(name).at(path)

    def _known_products(self, home: Home) -> Rows:
        """Return the keys of the products with a column that is filled from an object of the product itself."""
        columns = _columns_within("products", home.path) if home.kind is DeclaredKind.OBJECT else []
        if not columns:
            return np.zeros(0, np.int64)
        read = self._part.read("products", columns)
        filled = np.logical_or.reduce([is_true(pc.is_valid(as_one_chunk(read[name]))) for name in columns])
        return np.flatnonzero(filled) + self._number("") * len(self._ids)

    def _keys(self, table: _TableRows, rows: Rows, depth: int) -> Rows:
        """Return one number for the object around each row: of its product, and its place in so many lists."""
        if (table.table, depth) not in self._cut:
            cut = [".".join(one.split(".")[:depth]) for one in table.positions]
            self._cut[table.table, depth] = [self._number(one) for one in cut]
        place = table.of_each_position(self._cut[table.table, depth], rows)
        # Place by place, so that the numbers are small and close: then numpy compares them by a table.
        return np.asarray(place * len(self._ids) + table.product[rows], np.int64)

    def _number(self, position: str) -> int:
        return self._numbers.setdefault(position, len(self._numbers))


def _depth(home: Home) -> int:
    """Return in how many lists an object of an attribute is: each text and each amount is one in a list."""
    return depth_of(home.path) + (home.kind in _DESCRIBED)


@lru_cache(maxsize=4096)
def _columns_within(table: str, path: str) -> tuple[str, ...]:
    """Name the columns of a table that are filled from a wire path of its objects, or from below."""
    return tuple(
        column.name
        for column in TABLES[table].columns
        if any(is_within(".".join(inner), path) for inner in column.paths)
    )


def _shows(inner: Home, path: str, around: Home) -> bool:
    """Whether what is at a wire path shows that the object around it is what is declared: not an object in a value."""
    return inner.path != around.path and (inner.kind is not DeclaredKind.LEAF or path == inner.path)


#: JSON types that always fit a kind of column.
_TYPES: Mapping[str, str] = {"string": "string", "code": "string", "number": "number", "boolean": "boolean"}


def _is_as_declared(table: _TableRows, rows: Rows, home: Home) -> Mask:
    """Say which values that no column takes have a type that fits, and no list around."""
    depth = depth_of(home.path)
    is_alone = table.of_each_position([_indexes(one) <= depth for one in table.positions], rows).astype(bool)
    if home.kind is not DeclaredKind.LEAF:
        return is_alone
    return is_alone & table.has_type({_TYPES.get(kind, "") for kind in home.takes}, rows)


def _indexes(position: str) -> int:
    """Return of how many lists a position has an index."""
    return position.count(".") + bool(position)


def _fitting(home: Home, table: _TableRows, rows: Rows) -> list[bool]:
    """Say which scalars at a leaf are what its column takes."""
    return [
        _fits(home, position, one["type"], one["value"])
        for position, one in zip(table.position(rows), table.values(rows), strict=True)
    ]


def _fits(home: Home, position: str, kind: str, text: str) -> bool:
    """Whether a scalar is what its column takes: one that is left over, since another path had a value as well."""
    # A column takes no list of values.
    if _indexes(position) > depth_of(home.path):
        return False
    if home.path == "isPartitionedBy.contains.quantity" and less_than(text) is not None:
        return True
    value: Any = text if kind == "string" else text == "true"
    if kind == "number":
        # NaN and infinity, which some services send, are no JSON.
        value = read_json(text.encode()) if text[-1:].isdigit() else float(text)
    return any(fit(value, one) is not None for one in home.takes)


@lru_cache(maxsize=65536)
def _as_named(path: str) -> str:
    """Return a wire path as rules name it: in hierarchies whatever the depth, its attributes apart or not."""
    if not _is_in_hierarchies(path):
        return path
    while ".children.children" in path:
        path = path.replace(".children.children", ".children")
    return f"{path}.".replace(".version.", ".")[:-1]


def _is_in_hierarchies(path: str) -> bool:
    return path.partition(".")[0] in {"logisticalHierarchies", "sharingUnits"}

"""What is there and cannot be read: neither data nor missing, since nobody knows what it means.

Values are read as declared, and in the other containers of `prodex.tables.containers`. Whatever else is in the place of
a declared value stays in the tables that are filled by shape, at a wire path where nothing of that kind is declared:

- a value that does not fit its column: a time such as "yesterday", "about 500" beside the unit GRM, a quantity that is
  an object;
- something else than an object or a list of objects: the bare code of a brand, a text for the pictures;
- an object that has nothing of what is declared for it: a list below the key "data", names by language. One that has
  any of it may have further keys as well, which nobody misses;
- under an attribute of texts what is no text in a language, and under one of amounts what is no amount.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part
from prodex.executors import side_by_side
from prodex.facts.presence import BY_SHAPE
from prodex.locales import short_of
from prodex.messages import counted
from prodex.tables.attributes import is_within
from prodex.tables.columns import Mask, Rows, encoded, filled_values, is_true, places, whole
from prodex.tables.containers import singles_at
from prodex.tables.declaration import TABLES
from prodex.tables.declared_paths import (
    DESCRIPTOR,
    SHAPES,
    Home,
    Kind,
    base_of,
    depth_of,
    home_of,
    is_copied,
    is_doubtful,
)
from prodex.tables.descriptors import LANGUAGES, expressed_at
from prodex.tables.values import fit, read_json

#: How "less than" is written in place of a small amount of a nutrient, which the rules of nutrition read.
LESS_THAN = r"^\s*(?:<|≤|&lt;)\s*(?P<limit>[0-9]+(?:[.,][0-9]+)?)\s*(?:g|mg|kJ|kcal)?\s*$"
_LESS_THAN = re.compile(LESS_THAN)

#: Every text, and everything that a product may hold, as rules name what they look at.
_EVERY_TEXT, _EVERYTHING = "*", "**"

#: The end of paths of the short code of a language or unit.
_SHORT = f"{DESCRIPTOR}.normalizedCode"


class _Place(NamedTuple):
    """Where something is that cannot be read, what is declared there, and in which language it says that it is."""

    path: str
    kind: Kind
    language: str | None = None

    def concerns(self, path: str, language: str | None) -> bool:
        """Whether nobody knows what is at a wire path, in a language or in any, as long as this is not readable."""
        if language is not None and self.language not in {None, short_of(language) if language else None}:
            return False
        if path in {_EVERY_TEXT, _EVERYTHING}:
            return path == _EVERYTHING or self.kind is Kind.TEXTS
        # What is below something that cannot be read is not known either. Of what is around it the rest is known,
        # unless it is a list: then nobody knows what else is in it.
        is_list = self.kind not in {Kind.LEAF, Kind.OBJECT}
        # The value of an object with a code is its code.
        is_value = self.path == f"{path}.code"
        return is_value or is_within(path, self.path) or (is_list and is_within(self.path, path))


@dataclass(frozen=True, eq=False)
class Unreadable:
    """The products of a part that hold what cannot be read, by place."""

    size: int
    found: Mapping[_Place, Rows] = field(default_factory=dict)

    @classmethod
    def of(cls, part: Part) -> Self:
        """Find them among the rows that are the products' own; tables that an export left out show none."""
        if not part.size:
            return cls(0)
        # Nearly always there are none, and no more than the paths has to be read.
        wanted = {table: _doubtful_paths(part, table) for table in BY_SHAPE if part.holds(table)}
        if not any(wanted.values()):
            return cls(part.size)
        found: dict[_Place, list[Rows]] = defaultdict(list)
        for place, products in _PartSearch(part, wanted).places():
            found[place].append(products)
        return cls(part.size, {place: np.unique(np.concatenate(some)) for place, some in found.items()})

    def languages(self, attribute: str) -> set[str | None]:
        """Return the languages in which anything at a wire path says that it is; None where it does not say one."""
        return {place.language for place in self.found if place.concerns(attribute, None)}

    def products(self, attributes: Iterable[str], language: str | None = None) -> Mask:
        """Say which products hold something at these wire paths that cannot be read, in a language or in any."""
        there = np.zeros(self.size, bool)
        for path in attributes if self.found else ():
            for place, products in self.found.items():
                if place.concerns(path, language):
                    there[products] = True
        return there


def _doubtful_paths(part: Part, table: str) -> list[str]:
    every = pc.unique(whole(part.encoded(table, ["attribute"])["attribute"])).to_pylist()
    return [path for path in every if is_doubtful(table, path)]


#: Products that a line names.
_NAMED = 3

_DECLARED_WORDS = {
    Kind.LEAF: "a value that fits its column",
    Kind.OBJECT: "an object with what is declared for it",
    Kind.ROWS: "a list of objects with what is declared for them",
    Kind.TEXTS: "texts, each with its language",
    Kind.AMOUNTS: "amounts, each with its unit",
    Kind.CODES: "codes",
}


def unreadable_places(catalog: Catalog) -> list[tuple[str, str]]:
    """Return a line for each wire path at which a catalogue holds what cannot be read: the path, and what it means.

    >>> import prodex
    >>> unreadable_places(prodex.flatten([{"id": 7, "brand": "Acme"}]))[0][0]
    'brand'
    """
    products: dict[tuple[str, Kind], list[str]] = defaultdict(list)
    for found in side_by_side(_ids_by_place, catalog.parts):
        for place, ids in found.items():
            products[place] += ids
    return [
        (path, _line(kind, list(dict.fromkeys(ids))))
        for (path, kind), ids in sorted(products.items(), key=lambda one: one[0])
    ]


def _ids_by_place(part: Part) -> dict[tuple[str, Kind], list[str]]:
    unreadable = Unreadable.of(part)
    found: dict[tuple[str, Kind], list[str]] = defaultdict(list)
    if unreadable.found:
        ids = whole(part.read("products", ["product_id"])["product_id"])
        for place, rows in unreadable.found.items():
            found[place.path, place.kind] += ids.take(pa.array(rows)).to_pylist()
    return found


def _line(kind: Kind, ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return (
        f"{counted(len(ids), 'product')} ({', '.join(ids[:_NAMED])}{more}) {'has' if len(ids) == 1 else 'have'} "
        f"something else here than {_DECLARED_WORDS[kind]}: it is kept as it came, nobody knows what it means, and "
        "what needs it is unknown"
    )


class _DoubtfulRows(NamedTuple):
    """Rows of one table and one wire path: positions of their products, and their places."""

    table: str
    path: str
    product: Rows
    position: list[str]
    type: list[str]
    value: list[Any]


class _PartSearch:
    """The search of one part."""

    def __init__(self, part: Part, wanted: Mapping[str, list[str]]) -> None:
        self._part = part
        self._wanted = wanted
        self._ids = whole(part.read("products", ["product_id"])["product_id"])
        self._numbers: dict[str, int] = {}
        self._known: dict[str, Rows] = {}

    def places(self) -> Iterator[tuple[_Place, Rows]]:
        """Yield each place, and the positions of its products."""
        every = [rows for table, paths in self._wanted.items() if paths for rows in self._rows(table, paths)]
        for rows in every:
            home = home_of(rows.path)
            is_in_data = rows.table == "scalars" and base_of(rows.path) is not None
            if home is None or (is_in_data and home.kind in {Kind.TEXTS, Kind.AMOUNTS}):
                yield from self._beside_descriptors(rows, home)
            elif home.kind is Kind.LEAF:
                yield from self._of_leaf(rows, home)
            else:
                unknown = ~self._is_known(home, rows, every)
                if unknown.any():
                    yield _Place(_as_named(home.path), home.kind), rows.product[unknown]

    def _rows(self, table: str, paths: list[str]) -> Iterator[_DoubtfulRows]:
        columns = ["product_id", "attribute", "position", *(["type"] if table == "scalars" else [])]
        data = list(BY_SHAPE[table])
        read = self._part.read(table, [*columns, *data], pc.field("attribute").isin(paths))
        filled = np.logical_or.reduce([filled_values(whole(read[name])) for name in data])
        read = read.filter(pa.array(filled))
        names, name = encoded(read["attribute"])
        product = places(whole(read["product_id"]), self._ids)
        for number, path in enumerate(names.to_pylist()):
            at = np.flatnonzero(name == number)
            if is_copied(table, path):
                # It stays in its own place, and nearly always is what is declared there.
                at = at[~_is_as_declared(read.take(pa.array(at)), path)]
            some = read.take(pa.array(at))
            types = some["type"].to_pylist() if table == "scalars" else []
            if len(at):
                yield _DoubtfulRows(
                    table, path, product[at], some["position"].to_pylist(), types, some[data[0]].to_pylist()
                )

    def _of_leaf(self, rows: _DoubtfulRows, home: Home) -> Iterator[tuple[_Place, Rows]]:
        """Yield what is in place of the value of a column, or inside of it."""
        is_at = rows.table == "scalars" and rows.path == home.path
        odd = [
            not (is_at and _fits(home, position, kind, value))
            for position, kind, value in zip(
                rows.position, rows.type or [""] * len(rows.position), rows.value, strict=True
            )
        ]
        if any(odd):
            yield _Place(_as_named(home.path), Kind.LEAF), rows.product[np.array(odd)]

    def _beside_descriptors(self, rows: _DoubtfulRows, home: Home | None) -> Iterator[tuple[_Place, Rows]]:
        """Yield what is in `data` beside a language or a unit, and no text or amount."""
        base = str(base_of(rows.path))
        named = self._descriptors(base)
        for product, position in zip(rows.product.tolist(), rows.position, strict=True):
            # A list in `data` has one more index than its item.
            around = position.rpartition(".")[0]
            described = named.get((product, position)) or named.get((product, around))
            one = np.array([product])
            if described is not None:
                code, short = described
                is_language = expressed_at(base, code, short) in LANGUAGES
                language = short_of(code or short or "") if is_language else None
                kind = home.kind if home is not None else Kind.TEXTS if is_language else Kind.AMOUNTS
                yield _Place(_as_named(base), kind, language), one
            elif home is not None:
                yield _Place(_as_named(home.path), home.kind), one

    def _descriptors(self, base: str) -> dict[tuple[int, str], tuple[str | None, str | None]]:
        """Return code and short code of the descriptors that belong to no text and no amount, by product and place."""
        found: dict[tuple[int, str], tuple[str | None, str | None]] = {}
        for table, end, column in (("codes", DESCRIPTOR, "code"), ("scalars", _SHORT, "value")):
            if not self._part.holds(table):
                continue
            meant = pc.field("attribute") == f"{base}{end}"
            if table == "scalars":
                meant &= pc.field("type") == "string"
            read = self._part.read(table, ["product_id", "position", column], meant)
            product = places(whole(read["product_id"]), self._ids).tolist()
            for key, position, value in zip(
                product, read["position"].to_pylist(), read[column].to_pylist(), strict=True
            ):
                code, short = found.get((key, position), (None, None))
                found[key, position] = (value, short) if table == "codes" else (code, value)
        return found

    def _is_known(self, home: Home, rows: _DoubtfulRows, every: Sequence[_DoubtfulRows]) -> Mask:
        """Say of which rows the object around has anything that is declared for it."""
        depth = depth_of(home.path)
        if home.path not in self._known:
            known = [np.zeros(0, np.int64), *self._known_items(home, depth)]
            known += [
                self._keys(other.product, other.position, depth)
                for other in every
                if (below := home_of(other.path)) is not None
                and below.path != home.path
                and is_within(below.path, home.path)
            ]
            self._known[home.path] = np.concatenate(known)
        return np.isin(self._keys(rows.product, rows.position, depth), self._known[home.path])

    def _known_items(self, home: Home, depth: int) -> Iterator[Rows]:
        """Yield the objects at a wire path of which something that is declared was read."""
        if home.kind in SHAPES:
            # Beside a text there may be more, and a text that was sent without data still says its language.
            yield from self._items_of(home.kind, [home.path], depth)
            yield from self._items_of("codes", [f"{home.path}{DESCRIPTOR}"], depth)
            yield from self._items_of("scalars", [f"{home.path}{_SHORT}"], depth)
            return
        if depth_of(home.path) == 0 and home.kind is Kind.OBJECT:
            names = [
                column.name
                for column in TABLES["products"].columns
                if any(is_within(".".join(path), home.path) for path in column.paths)
            ]
            read = self._part.read("products", names)
            filled = [whole(read[name]).is_valid().to_numpy(zero_copy_only=False) for name in names]
            product = np.flatnonzero(np.logical_or.reduce([np.zeros(self._part.size, bool), *filled]))
            yield self._keys(product, [""] * len(product), 0)
        for name, table in TABLES.items():
            if not table.per_product or name == "products" or not table.anchors or not self._part.holds(name):
                continue
            yield from self._rows_at(name, home, depth)
        # What rows copy from the object around them is in tables by shape.
        if home.kind is Kind.OBJECT:
            yield from self._items_of("codes", [home.path], depth, exactly=True)
        elif home.kind is Kind.ROWS:
            below = [f"{home.path}.{key}" for key in singles_at(home.path)]
            for shape in ("scalars", "codes"):
                yield from self._items_of(shape, below, depth)

    def _rows_at(self, name: str, home: Home, depth: int) -> Iterator[Rows]:
        """Yield the objects at a wire path that are around rows of a table, or of which its columns were filled."""
        every = pc.unique(whole(self._part.encoded(name, ["attribute"])["attribute"])).to_pylist()
        below = [path for path in every if is_within(path, home.path)]
        yield from self._items_of(name, below, depth)
        for anchor in every:
            if anchor == home.path or not is_within(home.path, anchor):
                continue
            inner = home.path[len(anchor) + 1 :]
            columns = [
                column.name
                for column in TABLES[name].columns
                if any(is_within(".".join(path), inner) for path in column.paths)
            ]
            if columns:
                yield from self._items_of(name, [anchor], depth, filled=columns)

    def _items_of(
        self,
        table: str,
        paths: Sequence[str],
        depth: int,
        *,
        filled: Sequence[str] = (),
        exactly: bool = False,
    ) -> Iterator[Rows]:
        if not paths or not self._part.holds(table):
            return
        read = self._part.read(
            table, ["product_id", "position", *filled], pc.field("attribute").isin(list(paths))
        )
        if filled:
            valid = [whole(read[name]).is_valid().to_numpy(zero_copy_only=False) for name in filled]
            read = read.filter(pa.array(np.logical_or.reduce(valid)))
        if exactly:
            # More indexes than lists that are declared: one of several.
            read = read.filter(
                pa.array(
                    [one.count(".") + bool(one) <= depth for one in read["position"].to_pylist()], pa.bool_()
                )
            )
        yield self._keys(places(whole(read["product_id"]), self._ids), read["position"], depth)

    def _keys(self, product: Rows, position: Any, depth: int) -> Rows:
        """Return one number for each object: of its product, and its place in so many lists."""
        column = (
            position if isinstance(position, pa.Array | pa.ChunkedArray) else pa.array(position, pa.string())
        )
        distinct, code = encoded(column)
        cut = [".".join(one.split(".")[:depth]) for one in distinct.to_pylist()]
        numbers = np.array([*(self._numbers.setdefault(one, len(self._numbers)) for one in cut), 0], np.int64)
        return np.asarray(product, np.int64) * 2**31 + numbers[code]


#: JSON types that always fit a kind of column.
_TYPES: Mapping[str, str] = {"string": "string", "code": "string", "number": "number", "boolean": "boolean"}


def _is_as_declared(rows: pa.Table, path: str) -> Mask:
    """Say which values that no column takes have a type that fits, and no list around."""
    distinct, code = encoded(rows["position"])
    is_alone = np.array([_indexes(one) <= depth_of(path) for one in distinct.to_pylist()], bool)[code]
    home = home_of(path)
    if home is None or home.kind is not Kind.LEAF:
        return is_alone
    wanted = pa.array([_TYPES.get(kind, "") for kind in home.takes])
    return is_alone & is_true(pc.is_in(rows["type"], wanted))


def _indexes(position: str) -> int:
    """Return of how many lists a position has an index."""
    return position.count(".") + bool(position)


def _fits(home: Home, position: str, kind: str, text: str) -> bool:
    """Whether a scalar is what its column takes: one that is left over, since another path had a value as well."""
    # A column takes no list of values.
    if _indexes(position) > depth_of(home.path):
        return False
    if home.path == "isPartitionedBy.contains.quantity" and _LESS_THAN.match(text):
        return True
    value: Any = text if kind == "string" else text == "true"
    if kind == "number":
        value = read_json(text.encode())
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

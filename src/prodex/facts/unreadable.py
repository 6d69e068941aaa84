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
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Part
from prodex.facts.pending import PENDING
from prodex.facts.presence import BY_SHAPE
from prodex.locales import short_of
from prodex.tables.attributes import MEASURES, TEXTS, anchored, is_within
from prodex.tables.columns import Mask, Rows, encoded, filled_values, places, whole
from prodex.tables.containers import is_list_at, singles_at
from prodex.tables.declaration import TABLES, ColumnKind
from prodex.tables.descriptors import LANGUAGES, expressed_at
from prodex.tables.values import fit, read_json

#: How "less than" is written in place of a small amount of a nutrient, which the rules of nutrition read.
LESS_THAN = r"^\s*(?:<|≤|&lt;)\s*(?P<limit>[0-9]+(?:[.,][0-9]+)?)\s*(?:g|mg|kJ|kcal)?\s*$"
_LESS_THAN = re.compile(LESS_THAN)

#: Every text, and everything that a product may hold, as rules name what they look at.
_EVERY_TEXT, _EVERYTHING = "*", "**"

#: The ends of paths that mean a value, and the descriptor beside it.
_DATA, _DESCRIPTOR, _SHORT = ".data", ".expressedIn", ".expressedIn.normalizedCode"


class _Kind(StrEnum):
    """What is declared at a wire path."""

    LEAF = "leaf"
    OBJECT = "object"
    ROWS = "rows"
    TEXTS = "texts"
    AMOUNTS = "quantities"
    CODES = "codes"


#: Kinds of attributes that are read by shape; the values of the members are the tables that have them.
_SHAPES = frozenset({_Kind.TEXTS, _Kind.AMOUNTS, _Kind.CODES})
#: Further attributes that hold texts or codes, and nothing else.
_TEXTS = frozenset({*TEXTS, "conservationAdvices", "consumptionAdvice", "advertisedInformations"})
_CODES = frozenset({"tradeItemDateOnPackagingTypeCode"})


class _Home(NamedTuple):
    """What is declared at a wire path, or nearest above it."""

    path: str
    kind: _Kind
    #: What the columns of a leaf take.
    takes: tuple[ColumnKind, ...] = ()


class _Place(NamedTuple):
    """Where something is that cannot be read, what is declared there, and in which language it says that it is."""

    path: str
    kind: _Kind
    language: str | None = None

    def concerns(self, path: str, language: str | None) -> bool:
        """Whether nobody knows what is at a wire path, in a language or in any, as long as this is not readable."""
        if language is not None and self.language not in {None, short_of(language)}:
            return False
        if path in {_EVERY_TEXT, _EVERYTHING}:
            return path == _EVERYTHING or self.kind is _Kind.TEXTS
        # What is below something that cannot be read is not known either. Of what is around it the rest is known,
        # unless it is a list: then nobody knows what else is in it.
        is_list = self.kind not in {_Kind.LEAF, _Kind.OBJECT}
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

    def products(self, attributes: Iterable[str], language: str | None = None) -> Mask:
        """Say which products hold something at these wire paths that cannot be read, in a language or in any."""
        there = np.zeros(self.size, bool)
        for path in attributes if self.found else ():
            for place, products in self.found.items():
                if place.concerns(path, language):
                    there[products] = True
        return there


@lru_cache(maxsize=65536)
def _home(path: str) -> _Home | None:
    """Return what is declared at a wire path of a product's own, or nearest above it."""
    around = path
    while around:
        if (found := _declared(around)) is not None:
            return found
        around = around.rpartition(".")[0]
    return None


@lru_cache(maxsize=65536)
def _declared(path: str) -> _Home | None:
    if is_list_at(path):
        return _Home(path, _Kind.ROWS)
    outer, _, name = path.rpartition(".")
    if (kinds := _single(path)) is not None:
        return _Home(path, _Kind.LEAF if kinds else _Kind.OBJECT, kinds)
    if not outer and name in _TEXTS | _CODES:
        return _Home(path, _Kind.TEXTS if name in _TEXTS else _Kind.CODES)
    if name in MEASURES and (not outer or _is_of_node(outer)):
        return _Home(path, _Kind.AMOUNTS)
    if any(anchor.startswith(f"{path}.") for table in TABLES.values() for anchor in table.anchors):
        return _Home(path, _Kind.ROWS)
    return _Home(path, _Kind.LEAF, ("code",)) if path == "gtin" else None


def _is_of_node(path: str) -> bool:
    """Whether objects at a wire path are nodes of a hierarchy, or the attributes of one apart."""
    table = anchored(path.removesuffix(".version"))
    return table is not None and table.name == "hierarchies"


def _single(path: str) -> tuple[ColumnKind, ...] | None:
    """Return the kinds of value that fit at a wire path, none where an object is declared; None where nothing is."""
    around, inner = path, ()
    found: tuple[ColumnKind, ...] = ()
    is_object = False
    while around:
        around, _, last = around.rpartition(".")
        inner = (last, *inner)
        declared: Any = singles_at(around)
        for key in inner:
            declared = declared.get(key) if isinstance(declared, dict) else None
        if isinstance(declared, dict):
            is_object = True
        elif declared:
            found += declared
    return found or (() if is_object else None)


@lru_cache(maxsize=65536)
def _depth(path: str) -> int:
    """Return how many lists are declared on the way to a wire path."""
    keys = path.split(".")
    return sum(is_list_at(".".join(keys[: number + 1])) for number in range(len(keys)))


@lru_cache(maxsize=65536)
def _is_doubtful(table: str, path: str) -> bool:
    """Whether rows of a table at a wire path may be something that cannot be read."""
    if path.startswith(PENDING):
        return False
    if (home := _home(path)) is None:
        return table == "scalars" and _base_of(path) is not None
    below = f"{path[len(home.path) :]}."
    if home.kind in _SHAPES:
        is_read = table == home.kind and path == home.path
        return not (is_read or below.startswith(f"{_DESCRIPTOR}."))
    return True


def _doubtful_paths(part: Part, table: str) -> list[str]:
    every = pc.unique(whole(part.encoded(table, ["attribute"])["attribute"])).to_pylist()
    return [path for path in every if _is_doubtful(table, path)]


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
            home = _home(rows.path)
            if home is None or (
                rows.table == "scalars"
                and _base_of(rows.path) not in {None, ""}
                and (home.kind in {_Kind.TEXTS, _Kind.AMOUNTS})
            ):
                yield from self._beside_descriptors(rows, home)
            elif home.kind is _Kind.LEAF:
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
            if (home := _home(path)) is not None and table == "scalars" and path == home.path:
                # What is copied into rows stays in its own place as well, and nearly always has its type.
                at = at[~_is_as_declared(read.take(pa.array(at)), home)]
            some = read.take(pa.array(at))
            types = some["type"].to_pylist() if table == "scalars" else []
            if len(at):
                yield _DoubtfulRows(
                    table, path, product[at], some["position"].to_pylist(), types, some[data[0]].to_pylist()
                )

    def _of_leaf(self, rows: _DoubtfulRows, home: _Home) -> Iterator[tuple[_Place, Rows]]:
        """Yield what is in place of the value of a column, or inside of it."""
        is_at = rows.table == "scalars" and rows.path == home.path
        odd = [
            not (is_at and _fits(home, position, kind, value))
            for position, kind, value in zip(
                rows.position, rows.type or [""] * len(rows.position), rows.value, strict=True
            )
        ]
        if any(odd):
            yield _Place(_as_named(home.path), _Kind.LEAF), rows.product[np.array(odd)]

    def _beside_descriptors(self, rows: _DoubtfulRows, home: _Home | None) -> Iterator[tuple[_Place, Rows]]:
        """Yield what is in `data` beside a language or a unit, and no text or amount."""
        base = str(_base_of(rows.path))
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
                kind = home.kind if home is not None else _Kind.TEXTS if is_language else _Kind.AMOUNTS
                yield _Place(_as_named(base), kind, language), one
            elif home is not None:
                yield _Place(_as_named(home.path), home.kind), one

    def _descriptors(self, base: str) -> dict[tuple[int, str], tuple[str | None, str | None]]:
        """Return code and short code of the descriptors that belong to no text and no amount, by product and place."""
        found: dict[tuple[int, str], tuple[str | None, str | None]] = {}
        for table, end, column in (("codes", _DESCRIPTOR, "code"), ("scalars", _SHORT, "value")):
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

    def _is_known(self, home: _Home, rows: _DoubtfulRows, every: Sequence[_DoubtfulRows]) -> Mask:
        """Say of which rows the object around has anything that is declared for it."""
        depth = _depth(home.path)
        if home.path not in self._known:
            known = [np.zeros(0, np.int64), *self._known_items(home, depth)]
            known += [
                self._keys(other.product, other.position, depth)
                for other in every
                if (below := _home(other.path)) is not None
                and below.path != home.path
                and is_within(below.path, home.path)
            ]
            self._known[home.path] = np.concatenate(known)
        return np.isin(self._keys(rows.product, rows.position, depth), self._known[home.path])

    def _known_items(self, home: _Home, depth: int) -> Iterator[Rows]:
        """Yield the objects at a wire path of which something that is declared was read."""
        if home.kind in _SHAPES:
            # Beside a text there may be more, and a text that was sent without data still says its language.
            yield from self._items_of(home.kind, [home.path], depth)
            yield from self._items_of("codes", [f"{home.path}{_DESCRIPTOR}"], depth)
            yield from self._items_of("scalars", [f"{home.path}{_SHORT}"], depth)
            return
        if _depth(home.path) == 0 and home.kind is _Kind.OBJECT:
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
        if home.kind is _Kind.OBJECT:
            yield from self._items_of("codes", [home.path], depth, exactly=True)
        elif home.kind is _Kind.ROWS:
            below = [f"{home.path}.{key}" for key in singles_at(home.path)]
            for shape in ("scalars", "codes"):
                yield from self._items_of(shape, below, depth)

    def _rows_at(self, name: str, home: _Home, depth: int) -> Iterator[Rows]:
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


def _is_as_declared(rows: pa.Table, home: _Home) -> Mask:
    """Say which scalars at a leaf that is in no column of its own have the type that it takes, and no list around."""
    if home.kind is not _Kind.LEAF or _has_column(home.path):
        return np.zeros(len(rows), bool)
    wanted = pa.array([_TYPES.get(kind, "") for kind in home.takes])
    has_type = np.asarray(whole(pc.is_in(rows["type"], wanted)).to_numpy(zero_copy_only=False), bool)
    distinct, code = encoded(rows["position"])
    is_alone = np.array([_indexes(one) <= _depth(home.path) for one in distinct.to_pylist()], bool)
    return has_type & is_alone[code]


def _indexes(position: str) -> int:
    """Return of how many lists a position has an index."""
    return position.count(".") + bool(position)


@lru_cache(maxsize=65536)
def _has_column(path: str) -> bool:
    """Whether a column takes what is at a leaf: otherwise no row has it, or rows have copies of it."""
    around, inner = path, ()
    while around:
        around, _, last = around.rpartition(".")
        inner = (last, *inner)
        table = anchored(around)
        if table is not None and any(inner in column.paths for column in table.columns):
            return True
    return path == "gtin"


def _fits(home: _Home, position: str, kind: str, text: str) -> bool:
    """Whether a scalar is what its column takes: one that is left over, since another path had a value as well."""
    # A column takes no list of values.
    if _indexes(position) > _depth(home.path):
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


@lru_cache(maxsize=65536)
def _base_of(path: str) -> str | None:
    """Return the path of the object whose `data` a scalar is in."""
    base, found, below = f"{path}.".partition(f"{_DATA}.")
    return base if found and base and _DESCRIPTOR not in f"{base}{below}" else None

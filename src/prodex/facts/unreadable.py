"""What is there and cannot be read: values that fit no column, and data beside a descriptor that is no text or amount.

A time such as "yesterday" in `updatedAt`, or "about 500" beside the unit GRM. They are kept in `scalars`. They are
neither data nor missing: whoever needs them can only say that it is not known what they mean.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Part
from prodex.facts.pending import PENDING
from prodex.locales import short_of
from prodex.tables.attributes import anchored, within
from prodex.tables.columns import Mask, Rows, places, whole
from prodex.tables.declaration import TABLES, Kind
from prodex.tables.descriptors import LANGUAGES, expressed_at
from prodex.tables.values import fit, read_json

#: How "less than" is written in place of a small amount of a nutrient, which the rules of nutrition read.
LESS_THAN = r"^\s*(?:<|≤|&lt;)\s*(?P<limit>[0-9]+(?:[.,][0-9]+)?)\s*(?:g|mg|kJ|kcal)?\s*$"
_LESS_THAN = re.compile(LESS_THAN)

#: What stands for a value, and for the descriptor beside it.
_DATA, _CODE, _SHORT = ".data", ".expressedIn", ".expressedIn.normalizedCode"

#: Wire paths of the columns of `products`, which stand in no list.
_OF_PRODUCTS = frozenset(".".join(path) for column in TABLES["products"].columns for path in column.paths)


class _Place(NamedTuple):
    """Where unreadable values are, and of which language they say that they are."""

    path: str
    language: str | None = None
    #: Whether it is the leaf of a declared column; otherwise an attribute whose items have a descriptor.
    is_leaf: bool = True


@dataclass(frozen=True, eq=False)
class Unreadable:
    """The products of a part that hold what cannot be read, by place."""

    size: int
    found: Mapping[_Place, Rows] = field(default_factory=dict)

    @classmethod
    def of(cls, part: Part) -> Self:
        """Find them among the rows that are the products' own; an export without `scalars` shows none."""
        if not part.size or not part.holds("scalars"):
            return cls(part.size)
        every = pc.unique(whole(part.encoded("scalars", ["attribute"])["attribute"])).to_pylist()
        own = [path for path in every if not path.startswith(PENDING)]
        wanted = [path for path in own if _leaf_of(path) or _base_of(path)]
        # Nearly always there are none, and no more than the paths has to be read.
        if not wanted:
            return cls(part.size)
        found: dict[_Place, list[str]] = defaultdict(list)
        for place, product in _places(part, wanted, own):
            found[place].append(product)
        ids = whole(part.read("products", ["product_id"])["product_id"])
        return cls(part.size, {place: places(pa.array(each), ids) for place, each in found.items()})

    def products(self, attributes: Iterable[str], language: str | None = None) -> Mask:
        """Say which products hold something at these wire paths that cannot be read, in a language or in any."""
        there = np.zeros(self.size, bool)
        for path in attributes if self.found else ():
            for place, products in self.found.items():
                is_at = place.path == path if place.is_leaf else within(place.path, path)
                if is_at and (language is None or place.language in {None, short_of(language)}):
                    there[products] = True
        return there


def _places(part: Part, wanted: list[str], every: list[str]) -> Iterator[tuple[_Place, str]]:
    """Yield each unreadable value: its place, and the key of its product."""
    names = ["product_id", "attribute", "position", "type", "value"]
    rows = part.read("scalars", names, pc.field("attribute").isin(wanted)).to_pylist()
    named = _descriptors(part, {base for path in wanted if (base := _base_of(path))}, every)
    for row in rows:
        product, path, position = row["product_id"], row["attribute"], row["position"]
        if (leaf := _leaf_of(path)) is not None:
            if _is_filled(row) and not _fits(row, *leaf):
                yield _Place(leaf[0]), product
            continue
        base = str(_base_of(path))
        # A list in `data` has one more index than its item.
        around = position.rpartition(".")[0]
        described = named.get((product, base, position)) or named.get((product, base, around))
        if described is not None and _is_filled(row):
            code, short = described
            is_language = expressed_at(base, code, short) in LANGUAGES
            yield _Place(base, short_of(code or short or "") if is_language else None, is_leaf=False), product


def _descriptors(
    part: Part, bases: set[str], every: list[str]
) -> dict[tuple[str, str, str], tuple[str | None, str | None]]:
    """Return code and short code of the descriptors that belong to no text and no amount, by product and place."""
    found: dict[tuple[str, str, str], tuple[str | None, str | None]] = {}
    for table, end, column in (("codes", _CODE, "code"), ("scalars", _SHORT, "value")):
        paths = [f"{base}{end}" for base in bases]
        if table == "scalars":
            paths = [path for path in paths if path in every]
        if not paths or not part.holds(table):
            continue
        names = ["product_id", "attribute", "position", column]
        for row in part.read(table, names, pc.field("attribute").isin(paths)).to_pylist():
            place = (row["product_id"], row["attribute"].removesuffix(end), row["position"])
            code, short = found.get(place, (None, None))
            found[place] = (row[column], short) if table == "codes" else (code, row[column])
    return found


@lru_cache(maxsize=65536)
def _leaf_of(path: str) -> tuple[str, tuple[Kind, ...]] | None:
    """Return the declared leaf at which a scalar is, or inside of which, and what its columns take."""
    around, below = path, ""
    while around:
        if kinds := _kinds_at(around):
            # What is below does not fit by being there.
            return _once_nested(around), () if below else kinds
        around, _, last = around.rpartition(".")
        below = f"{last}.{below}"
    return None


def _kinds_at(path: str) -> tuple[Kind, ...]:
    """Return what the columns take that are declared for a wire path."""
    around = path
    inner: list[str] = []
    kinds: list[Kind] = []
    while True:
        if (table := anchored(around)) is not None and (inner or around):
            kinds += [column.kind for column in table.columns if tuple(inner) in column.paths]
        if not around:
            return tuple(kinds)
        around, _, last = around.rpartition(".")
        inner.insert(0, last)


def _once_nested(path: str) -> str:
    """Return a wire path in hierarchies as rules name it, whatever the depth."""
    while ".children.children" in path:
        path = path.replace(".children.children", ".children")
    return path


def _base_of(path: str) -> str | None:
    """Return the path of the object whose `data` a scalar is in."""
    base, found, below = f"{path}.".partition(f"{_DATA}.")
    return base if found and base and _CODE not in f"{base}{below}" else None


def _is_filled(row: Mapping[str, Any]) -> bool:
    return bool(row["value"].strip())


def _fits(row: Mapping[str, Any], path: str, kinds: tuple[Kind, ...]) -> bool:
    """Whether a scalar is what its column takes: one that is left over, since another path had a value as well."""
    text = row["value"]
    # A column of `products` takes no list of values.
    if row["position"] and path in _OF_PRODUCTS:
        return False
    if path == "isPartitionedBy.contains.quantity" and _LESS_THAN.match(text):
        return True
    value = text if row["type"] == "string" else text == "true" if row["type"] == "boolean" else None
    if row["type"] == "number":
        value = read_json(text.encode())
    return any(fit(value, kind) is not None for kind in kinds)

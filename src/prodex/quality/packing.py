"""What a part's products are packed in: the nodes of their hierarchies with parents, weights and sizes.

A node is a row of `hierarchies`; its weight and sides stand in `quantities`, at a path and position that begin with
the node's own. Everything here is whole columns: a hierarchy of any depth is walked level by level, all products at
once, and one that holds itself ends where it begins again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.imagery import is_true
from prodex.quality.products import Products

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

SOURCES = ("logisticalHierarchies", "sharingUnits")
SIDES = ("height", "width", "depth")
#: Grams and millimetres in one of each unit (UN/CEFACT Recommendation 20).
FACTORS: Mapping[str, Mapping[str, float]] = {
    "weight": {"MGM": 1e-3, "GRM": 1.0, "KGM": 1e3, "TNE": 1e6, "ONZ": 28.349523125, "LBR": 453.59237},
    "length": {"MMT": 1.0, "CMT": 10.0, "DMT": 100.0, "MTR": 1e3, "INH": 25.4, "FOT": 304.8},
}
_MEASURES = {
    "grossWeight": "weight",
    "netWeight": "weight",
    "height": "length",
    "width": "length",
    "depth": "length",
}
_NODE_MEASURE = re.compile(rf"({'|'.join(SOURCES)})((?:\.children)*)(?:\.version)?\.({'|'.join(_MEASURES)})")
_LAST_INDEX = "[.]?[^.]*$"


@dataclass(frozen=True)
class Packing:
    """Every node of a part's hierarchies.

    Attributes
    ----------
    products
        Whose they are.
    product
        For each node the position of its product.
    """

    products: Products
    product: Rows

    @classmethod
    def of(cls, products: Products) -> Self:
        """Return the nodes of a part, made once."""
        return products.remember(
            "packing",
            lambda: cls(products, products.arrow("hierarchies")["product"].combine_chunks().to_numpy()),
        )

    def __getitem__(self, column: str) -> pa.Array:
        """Return a column of `hierarchies`."""
        return self.products.arrow("hierarchies", column)[column].combine_chunks()

    def __len__(self) -> int:
        return len(self.product)

    @property
    def packed(self) -> Mask:
        """The products that show a hierarchy."""
        return self.products.any(self.product)

    @cached_property
    def source(self) -> npt.NDArray[np.int64]:
        """0 for logisticalHierarchies, 1 for sharingUnits, which repeats some of them."""
        return is_true(pc.equal(self["source"], SOURCES[1])).astype(np.int64)

    @cached_property
    def _places(self) -> tuple[pa.Array, Rows]:
        """The positions that occur, and for each node which of them is its own."""
        encoded = self["position"].dictionary_encode()
        return encoded.dictionary, encoded.indices.to_numpy().astype(np.int64)

    def _keys(self, product: Rows, source: npt.NDArray[np.int64], place: Rows) -> Rows:
        """Return one number for each node; -1 where the place is none."""
        keys = (product * len(SOURCES) + source) * max(len(self._places[0]), 1) + place
        return np.where(place < 0, -1, keys)

    @cached_property
    def _found(self) -> tuple[Rows, Rows]:
        keys = self._keys(self.product, self.source, self._places[1])
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    @cached_property
    def parent(self) -> Rows:
        """For each node the row of the one around it; -1 at the root."""
        places, own = self._places
        outer = _index(pc.replace_substring_regex(places, _LAST_INDEX, ""), places)
        return _lookup(*self._found, self._keys(self.product, self.source, outer[own] if len(own) else own))

    @cached_property
    def is_inner(self) -> Mask:
        """The nodes that stand in another."""
        return self.parent >= 0

    @cached_property
    def has_children(self) -> Mask:
        found = np.zeros(len(self), bool)
        found[self.parent[self.is_inner]] = True
        return found

    @cached_property
    def gtin(self) -> Rows:
        """A number for each GTIN; -1 where a node has none."""
        encoded = self["node_gtin"].dictionary_encode()
        return pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)

    @cached_property
    def repeats(self) -> Mask:
        """The nodes that stand inside a unit of their own GTIN: where a hierarchy holds itself."""
        found = np.zeros(len(self), bool)
        rows = np.flatnonzero(self.is_inner & (self.gtin >= 0))
        above = self.parent[rows]
        while len(rows):
            found[rows[self.gtin[rows] == self.gtin[above]]] = True
            above = self.parent[above]
            going_on = (above >= 0) & ~found[rows]
            rows, above = rows[going_on], above[going_on]
        return found

    @cached_property
    def quantity(self) -> Numbers:
        """How many stand in the parent; NaN where it is not told."""
        return self["quantity"].to_numpy(zero_copy_only=False).astype(np.float64)

    def is_flagged(self, flag: str) -> Mask:
        """Say of which nodes a flag is true, where they or another mention of the same unit tell it."""
        return self._completed(_as_numbers(self[flag])) == 1.0

    def is_unflagged(self, flag: str) -> Mask:
        """Say of which nodes a flag is told to be false."""
        return self._completed(_as_numbers(self[flag])) == 0.0

    def measure(self, name: str) -> Numbers:
        """Return grams or millimetres of each node; NaN where they are not told in a unit that is known."""
        return self._completed(self._measures[name])

    @cached_property
    def sides(self) -> Numbers:
        """Height, width and depth of each node in millimetres, the shortest first: units are packed any way up."""
        return np.sort(np.stack([self.measure(side) for side in SIDES], axis=1), axis=1)

    @cached_property
    def _measures(self) -> dict[str, Numbers]:
        told = self.products.arrow("quantities", "attribute", "position", "value", "unit_code")
        names = told["attribute"].combine_chunks().dictionary_encode()
        read = [_NODE_MEASURE.fullmatch(name) for name in names.dictionary.to_pylist()]
        chosen = np.flatnonzero(np.array([one is not None for one in read], bool)[names.indices.to_numpy()])
        told = told.take(pa.array(chosen))
        code = names.indices.to_numpy()[chosen]
        source, level, measure = (
            np.array([made(one) if one else -1 for one in read], np.int64)[code] if len(read) else code
            for made in (
                lambda one: SOURCES.index(one[1]),
                lambda one: one[2].count("."),
                lambda one: list(_MEASURES).index(one[3]),
            )
        )
        keys = self._keys(told["product"].to_numpy(), source, self._node_places(told["position"], level))
        rows = _lookup(*self._found, keys)
        values = in_base_unit(told["value"], told["unit_code"], np.array(list(_MEASURES.values()))[measure])
        made = {}
        for number, name in enumerate(_MEASURES):
            known = np.flatnonzero((measure == number) & (rows >= 0) & ~np.isnan(values))[::-1]
            made[name] = np.full(len(self), np.nan)
            made[name][rows[known]] = values[known]
        return made

    def _node_places(self, position: pa.ChunkedArray, level: npt.NDArray[np.int64]) -> Rows:
        """Return the place of the node that a measure belongs to; lists of one have one index more than the node."""
        encoded = position.combine_chunks().dictionary_encode()
        places, own = encoded.dictionary, encoded.indices.to_numpy()
        depth = pc.count_substring(places, ".").to_numpy().astype(np.int64)
        exact = _index(places, self._places[0])
        shorter = _index(pc.replace_substring_regex(places, _LAST_INDEX, ""), self._places[0])
        if not len(own):
            return own.astype(np.int64)
        return np.where(depth[own] == level, exact[own], shorter[own])

    def _completed(self, values: Numbers) -> Numbers:
        """Fill what a node does not tell from another mention of the same unit in the product."""
        unknown = np.flatnonzero(np.isnan(values) & (self.gtin >= 0))
        if not len(unknown):
            return values
        unit = self.product * (self.gtin.max() + 1) + self.gtin
        known = np.flatnonzero(~np.isnan(values) & (self.gtin >= 0))
        told, first = np.unique(unit[known], return_index=True)
        place = _lookup(told, known[first], unit[unknown])
        completed = values.copy()
        completed[unknown[place >= 0]] = values[place[place >= 0]]
        return completed

    def shown(self, nodes: Any) -> Rows:
        """Return the rows of chosen nodes, product by product; sharing units only where they say something new."""
        rows = np.flatnonzero(nodes)
        logistical = self.products.any(self.product[rows[self.source[rows] == 0]])
        rows = rows[(self.source[rows] == 0) | ~logistical[self.product[rows]]]
        return rows[np.argsort(self.product[rows], kind="stable")]

    def paths(self, rows: Rows, leaf: str = "") -> list[str]:
        """Return the wire path of some nodes, or of a leaf of them."""
        return [SOURCES[source] + (f".{leaf}" if leaf else "") for source in self.source[rows]]

    def gtins(self, rows: Rows) -> list[str]:
        """Return the GTINs of some nodes, "no GTIN" where there is none."""
        return [gtin or "no GTIN" for gtin in self["node_gtin"].take(pa.array(rows)).to_pylist()]


def in_base_unit(values: Any, units: Any, kinds: npt.NDArray[np.str_] | str) -> Numbers:
    """Return numbers in grams or millimetres; NaN where the unit is unknown or no number is told.

    >>> in_base_unit(pa.array([1.5, 3.0, 7.0]), pa.array(["KGM", "MTR", None]), np.array(["weight", "length", "length"]))
    array([1500., 3000.,   nan])
    """
    encoded = _whole(units).dictionary_encode()
    code = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    made = np.full(len(code), np.nan)
    for kind, factors in FACTORS.items():
        factor = np.array([*(factors.get(unit, np.nan) for unit in encoded.dictionary.to_pylist()), np.nan])
        np.copyto(made, factor[code], where=np.asarray(kinds) == kind)
    return made * _whole(values).to_numpy(zero_copy_only=False).astype(np.float64)


def _whole(values: Any) -> Any:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _index(values: pa.Array, among: pa.Array) -> Rows:
    """Return where each value stands among others; -1 where it does not."""
    return np.asarray(pc.fill_null(pc.index_in(values, among), -1).to_numpy(zero_copy_only=False), np.int64)


def _lookup(keys: Rows, rows: Rows, wanted: Rows) -> Rows:
    """Return the row of each wanted key, keys being sorted; -1 where there is none."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, rows[place], -1)


def _as_numbers(flags: pa.Array) -> Numbers:
    return pc.cast(flags, pa.float64()).to_numpy(zero_copy_only=False)

"""What a part's products are packed in: the nodes of their hierarchies with parents, weights and sizes.

A node is a row of `hierarchies`; its weight and sides are in `quantities`, at a path and position that begin with
the node's own. Everything here is whole columns: a hierarchy of any depth is walked level by level, all products at
once, and one that holds itself ends where it begins again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.requested_data import OR
from prodex.languages import Message
from prodex.languages.message import places_of
from prodex.quality.products import ChildRows
from prodex.quality.reasons import of_rows
from prodex.quality.units import in_base_unit
from prodex.quality.verdict import Evidence, Verdict
from prodex.tables.columns import Mask, Numbers, Rows, encoded, is_true, looked_up, numbers, places

SOURCES = ("logisticalHierarchies", "sharingUnits")
#: What every rule of hierarchies needs. By contract sharingUnits repeats what logisticalHierarchies holds, but a
#: product may send a hierarchy there alone. Where one was not requested, only what is found wrong is certain.
BOTH_SOURCES = OR.join(SOURCES)
SIDES = ("height", "width", "depth")
_MEASURES = {
    "grossWeight": "weight",
    "netWeight": "weight",
    "height": "length",
    "width": "length",
    "depth": "length",
}
_NODE_MEASURE = re.compile(rf"({'|'.join(SOURCES)})((?:\.children)*)(?:\.version)?\.({'|'.join(_MEASURES)})")
_NAMES = tuple(_MEASURES)
_NONE = (-1, -1, -1)
_LAST_INDEX = "[.]?[^.]*$"


@dataclass(frozen=True)
class HierarchyColumns(ChildRows):
    """Every node of a part's hierarchies."""

    table = "hierarchies"

    def __len__(self) -> int:
        return len(self.product)

    @property
    def packed(self) -> Mask:
        """The products that show a hierarchy."""
        return self.products.any(self.product)

    @cached_property
    def source(self) -> Rows:
        """0 for logisticalHierarchies, 1 for sharingUnits, which repeats some of them."""
        return is_true(pc.equal(self["source"], SOURCES[1])).astype(np.int64)

    @cached_property
    def _places(self) -> tuple[pa.Array, Rows]:
        """The positions that occur, and for each node which of them is its own."""
        return encoded(self["position"])

    def _keys(self, product: Rows, source: Rows, place: Rows) -> Rows:
        """Return one number for each node; -1 where the place is none."""
        keys = (product * len(SOURCES) + source) * max(len(self._places[0]), 1) + place
        return np.where(place < 0, -1, keys)

    @cached_property
    def _found(self) -> tuple[Rows, Rows]:
        keys = self._keys(self.product, self.source, self._places[1])
        # Stable: of two nodes with one key the first counts, as in the record.
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    @cached_property
    def parent(self) -> Rows:
        """For each node the row of the one around it; -1 at the root."""
        known, own = self._places
        outer = places(pc.replace_substring_regex(known, _LAST_INDEX, ""), known)
        return looked_up(*self._found, self._keys(self.product, self.source, outer[own]))

    @cached_property
    def is_inner(self) -> Mask:
        """The nodes that are inside of another."""
        return self.parent >= 0

    @cached_property
    def has_children(self) -> Mask:
        found = np.zeros(len(self), bool)
        found[self.parent[self.is_inner]] = True
        return found

    @cached_property
    def gtin(self) -> Rows:
        """A number for each GTIN; -1 where a node has none."""
        return encoded(self["node_gtin"])[1]

    @cached_property
    def repeats(self) -> Mask:
        """The nodes inside a unit with the same GTIN: where a hierarchy contains itself."""
        found = np.zeros(len(self), bool)
        rows = np.flatnonzero(self.is_inner & (self.gtin >= 0))
        above = self.parent[rows]
        # Level by level for all products at once; a row leaves when it meets its own GTIN or the root.
        while len(rows):
            found[rows[self.gtin[rows] == self.gtin[above]]] = True
            above = self.parent[above]
            going_on = (above >= 0) & ~found[rows]
            rows, above = rows[going_on], above[going_on]
        return found

    @cached_property
    def quantity(self) -> Numbers:
        """How many the parent contains; NaN where that is missing."""
        return numbers(self["quantity"])

    def is_packed_as(self, packagings: Sequence[str]) -> Mask:
        """Say which nodes have one of these types of packaging; those without a type have none."""
        return is_true(pc.is_in(self["packaging_code"], pa.array(packagings, pa.string())))

    def is_flagged(self, flag: str, value: bool = True) -> Mask:
        """Say of which nodes a flag is true (or false), where they or another mention of the same unit tell it."""
        return np.equal(self._completed(numbers(self[flag])), value)

    def measure(self, name: str) -> Numbers:
        """Return grams or millimetres of each node; NaN where they are missing or in an unknown unit."""
        return self._completed(self._measures[name])

    @cached_property
    def sides(self) -> Numbers:
        """Height, width and depth of each node in millimetres, the shortest first: units are packed any way up."""
        return np.sort(np.stack([self.measure(side) for side in SIDES], axis=1), axis=1)

    @cached_property
    def _measures(self) -> dict[str, Numbers]:
        measures = self.products.arrow("quantities", "attribute", "position", "value", "unit_code")
        paths, path = encoded(measures["attribute"])
        read = [_NODE_MEASURE.fullmatch(each) for each in paths.to_pylist()]
        chosen = np.flatnonzero(np.array([one is not None for one in read], bool)[path])
        measures, path = measures.take(pa.array(chosen)), path[chosen]
        # Of each path: which source, how deep, which measure.
        parts = [
            (SOURCES.index(one[1]), one[2].count("."), _NAMES.index(one[3])) if one else _NONE for one in read
        ]
        source, level, measure = np.array(parts, np.int64).reshape(-1, 3)[path].T
        keys = self._keys(
            measures["product"].to_numpy(), source, self._node_places(measures["position"], level)
        )
        rows = looked_up(*self._found, keys)
        kinds = np.array(list(_MEASURES.values()))[measure]
        values = in_base_unit(numbers(measures["value"]), measures["unit_code"], kinds)
        made = {}
        for number, name in enumerate(_NAMES):
            # Reversed, so that the first of several values is written last and stays.
            known = np.flatnonzero((measure == number) & (rows >= 0) & ~np.isnan(values))[::-1]
            made[name] = np.full(len(self), np.nan)
            made[name][rows[known]] = values[known]
        return made

    def _node_places(self, position: pa.ChunkedArray, level: Rows) -> Rows:
        """Return the place of the node that a measure belongs to: as many indexes as there are levels."""
        distinct, own = encoded(position)
        # A weight that is a list has more indexes than its node; all spellings occur.
        levels = int(level.max(initial=0)) + 1
        used, of_each = np.unique(own * levels + level, return_inverse=True)
        written = distinct.to_pylist()
        cut = [".".join(written[one // levels].split(".")[: one % levels + 1]) for one in used.tolist()]
        return places(pa.array(cut, pa.string()), self._places[0])[of_each]

    def _completed(self, values: Numbers) -> Numbers:
        """Fill what a node does not tell from another mention of the same unit in the product."""
        unknown = np.flatnonzero(np.isnan(values) & (self.gtin >= 0))
        if not len(unknown):
            return values
        unit = self.product * (self.gtin.max() + 1) + self.gtin
        known = np.flatnonzero(~np.isnan(values) & (self.gtin >= 0))
        keys, first = np.unique(unit[known], return_index=True)
        place = looked_up(keys, known[first], unit[unknown])
        completed = values.copy()
        completed[unknown[place >= 0]] = values[place[place >= 0]]
        return completed

    def verdict(
        self,
        wrong: Mask,
        leaf: str,
        reason: Message | Callable[[Rows], Message],
        *,
        value: Callable[[Rows], Any] | None = None,
        judged: Any = None,
        compared: str | Callable[[Rows], Sequence[Any]] = "",
    ) -> Verdict:
        """Fail the products of the nodes that are wrong.

        Parameters
        ----------
        wrong
            One boolean for each node.
        leaf
            What of a node is shown, "" for the node itself.
        reason
            What is wrong. `{unit}` and `{parent}` are the node and the one around it; columns have a value for each
            node.
        value
            Makes what was seen of some nodes; their GTINs unless given.
        judged
            Nodes of which one makes the rule apply, all by default.
        compared
            A column that it was compared with, or what makes that for some nodes; see `Evidence`.
        """
        # Sharing units repeat nodes of the hierarchy: the same mistake is shown once.
        is_logistical = self.source == 0
        rows = self.in_order(wrong & (is_logistical | ~self.any(wrong & is_logistical)[self.product]))
        paths = [SOURCES[source] + (f".{leaf}" if leaf else "") for source in self.source[rows]]
        applies = self.packed if judged is None else self.any(judged)
        with_what: Any = compared(rows) if callable(compared) else None
        if isinstance(compared, str) and compared:
            with_what = self[compared].take(rows).to_pylist()
        why = self._naming_units(reason(rows) if callable(reason) else of_rows(reason, rows), rows)
        evidence = Evidence(self.product[rows], paths, None, (value or self.gtins)(rows), why, with_what)
        return Verdict(self.any(wrong), applies, evidence)

    def _naming_units(self, message: Message, rows: Rows) -> Message:
        """Return a message about some nodes with their GTINs, and with those of the nodes around them."""
        nodes = {"unit": rows, "parent": self.parent[rows]}
        return message.with_values(
            **{
                place: [gtin or Message("no GTIN") for gtin in self._gtins(nodes[place])]
                for place in nodes
                if place in places_of(message.id)
            }
        )

    def _gtins(self, rows: Rows) -> list[str | None]:
        gtins: list[str | None] = self["node_gtin"].take(pa.array(rows)).to_pylist()
        return gtins

    def gtins(self, rows: Rows) -> list[str]:
        """Return the GTINs of some nodes, "no GTIN" where there is none."""
        return [gtin or "no GTIN" for gtin in self._gtins(rows)]

    def in_parents(self, rows: Rows) -> list[str]:
        """Return "GTIN in GTIN of its parent" for some nodes."""
        pairs = zip(self.gtins(rows), self.gtins(self.parent[rows]), strict=True)
        return [f"{child} in {parent}" for child, parent in pairs]

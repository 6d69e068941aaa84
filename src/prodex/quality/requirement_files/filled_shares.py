"""What a catalogue has today: of each attribute, the share of products that have it, by channel and family.

Each product is put into a group once, by the families and channels that it is of; then one count of each attribute over
these groups answers for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin, Part
from prodex.clock import now
from prodex.executors import side_by_side
from prodex.facts.attribute_states import filled_masks
from prodex.facts.gpc import gpc_above, segment_label
from prodex.facts.groups import fact_column, groups_of
from prodex.facts.name import CODE_OF
from prodex.facts.pending import IS_OWN
from prodex.quality.asked_attributes import NUTRIENTS, AskedAttribute, selector_of
from prodex.quality.products import Products
from prodex.quality.required_values import values_of
from prodex.quality.requirements import Channel, ProductFamily, column_of
from prodex.tables.attributes import PENDING, attribute_of
from prodex.tables.columns import Mask, Rows, as_one_chunk
from prodex.tables.fill_state import FillState
from prodex.tables.filled import BY_SHAPE, leaf_columns

#: Characters of a code.
_LONGEST_CODE = 80
_Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ProductGroups:
    """The families of a catalogue, and which products are of which channel and family.

    Attributes
    ----------
    families
        All families that occur, the one with the most products first.
    products
        How many products each of them has.
    """

    families: tuple[ProductFamily, ...]
    products: tuple[int, ...]
    _leaf: Rows
    _above: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, catalog: Catalog, by: str) -> Self:
        """Find the families by which a catalogue's products are told.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "kind": {"code": "TEA", "label": "Tea"}}, {"id": 8}])
        >>> ProductGroups.of(catalog, "kind").families
        (ProductFamily(code='TEA', label='Tea', parent=''),)
        """
        found = groups_of(catalog, column_of(by))
        leaf = np.full(len(catalog), -1, np.int64)
        leaf[found.rows] = found.groups

        def chain(code: str | None) -> tuple[str, ...]:
            """Return a family and those above it."""
            above = gpc_above(code) if code is not None and by in {"gpc", "gpc_code"} else ()
            return () if code is None else (code, *above)

        labels = dict(zip(found.codes, found.labels, strict=True))
        total: dict[str, int] = defaultdict(int)
        for code, size in zip(found.codes, found.sizes.tolist(), strict=True):
            for one in chain(code):
                total[one] += size
        ordered = sorted(total, key=lambda code: (-total[code], code))
        families = []
        for code in ordered:
            label = labels.get(code) or segment_label(code) or ""
            parent = "".join(chain(code)[1:2])
            families.append(ProductFamily(code, label if label != code else "", parent))
        number = {code: place for place, code in enumerate(ordered)}
        above_each = tuple(tuple(number[one] for one in chain(code)) for code in found.codes)
        return cls(tuple(families), tuple(total[code] for code in ordered), leaf, above_each)

    def membership(self, chosen: Sequence[str]) -> tuple[Rows, npt.NDArray[np.bool_]]:
        """Return for each product its group, and for each group of which of the chosen families it is."""
        place = {family.code: number for number, family in enumerate(self.families)}
        column = {place[code]: number for number, code in enumerate(chosen) if code in place}
        # The last one is for products without a family.
        of = np.zeros((len(self._above) + 1, len(chosen)), bool)
        for leaf, above in enumerate(self._above):
            of[leaf, [column[one] for one in above if one in column]] = True
        distinct, group = np.unique(of, axis=0, return_inverse=True)
        return group.reshape(-1)[self._leaf], distinct


@dataclass(frozen=True, eq=False)
class FilledShares:
    """How many products have what, by channel and family.

    Attributes
    ----------
    size
        Number of products of the catalogue.
    everywhere
        How many products of the whole catalogue have it.
    products
        By channel: how many products it has, and how many of them each family has.
    filled
        By what was counted: how many products have it, by channel (the first axis) and family.
    """

    size: int
    everywhere: Mapping[AskedAttribute, int]
    products: _Counts
    filled: Mapping[AskedAttribute, _Counts]

    @classmethod
    def of(
        cls,
        catalog: Catalog,
        attributes: Iterable[str],
        channels: Sequence[Channel],
        groups: ProductGroups,
        families: Sequence[str],
    ) -> Self:
        """Count attributes of a catalogue; of texts, in any language and in each one that occurs.

        The first family is that of all products.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "kind": {"code": "TEA"}, "brand": {"code": "A"}}, {"id": 8}])
        >>> groups = ProductGroups.of(catalog, "kind")
        >>> found = FilledShares.of(catalog, ["brand"], [Channel("Web shop")], groups, ["TEA"])
        >>> found.products.tolist(), found.filled[AskedAttribute("brand")].tolist()
        ([[2, 1]], [[1, 1]])
        """
        group, of_family = groups.membership(families)
        masks = [channel_products(catalog, channel) for channel in channels]
        bits = np.zeros(len(catalog), np.int64)
        for number, mask in enumerate(masks):
            bits |= mask.astype(np.int64) << number
        distinct, combination = np.unique(bits, return_inverse=True)
        key = combination.reshape(-1) * len(of_family) + group
        width = len(distinct) * len(of_family)
        in_channel = np.array(
            [(distinct >> number) & 1 for number in range(len(channels))], np.int64
        ).reshape(len(channels), len(distinct))
        members = np.concatenate([np.ones((len(of_family), 1), np.int64), of_family.astype(np.int64)], axis=1)

        def table(counts: _Counts) -> _Counts:
            return np.asarray(in_channel @ counts.reshape(len(distinct), len(of_family)) @ members)

        wanted = tuple(dict.fromkeys(attributes))
        counted: dict[AskedAttribute, _Counts] = {}
        before = 0
        parts = catalog.parts
        read = side_by_side(lambda one: _filled_in(one, wanted, catalog.origin), parts)
        for part, found in zip(parts, read, strict=True):
            here = key[before : before + part.size]
            before += part.size
            for asked, filled in found:
                counts = np.bincount(here[filled], minlength=width)
                counted[asked] = counted[asked] + counts if asked in counted else counts
        return cls(
            len(catalog),
            {asked: int(counts.sum()) for asked, counts in counted.items()},
            table(np.bincount(key, minlength=width)),
            {asked: table(counts) for asked, counts in counted.items()},
        )

    def is_anywhere(self, attribute: str) -> bool:
        """Return whether any product of the catalogue has an attribute."""
        return self.everywhere.get(AskedAttribute(attribute), 0) > 0

    def languages(self, attribute: str, channel: int) -> dict[str, int]:
        """Return the languages of an attribute in a channel, each with how many products have it."""
        found = {
            asked.language: int(counts[channel, 0])
            for asked, counts in self.filled.items()
            if asked.attribute == attribute and asked.language
        }
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def channel_products(catalog: Catalog, channel: Channel) -> Mask:
    """Say which products of a catalogue are of a channel."""
    return catalog.mask(channel.selection)


def markets_there(catalog: Catalog) -> dict[str, int]:
    """Return the markets of a catalogue's products, each with how many it has, most first."""
    counts = pc.value_counts(fact_column("market", catalog))
    pairs = [(one["values"], one["counts"]) for one in counts.to_pylist() if one["values"] is not None]
    return dict(sorted(pairs, key=lambda one: (-one[1], one[0])))


def attributes_there(catalog: Catalog) -> dict[str, str]:
    """Return the attributes at the top of a catalogue's records, each with the table that has most to say of it."""
    tables: dict[str, str] = {}
    for part in catalog.parts:
        for column in part.columns("presence"):
            name = attribute_of(column) if column.endswith("_state") else column
            if name and name not in {"product_id", "gtin"}:
                tables.setdefault(name, "")
        for table in BY_SHAPE:
            if not part.holds(table):
                continue
            for path in pc.unique(as_one_chunk(part.encoded(table, ["attribute"])["attribute"])).to_pylist():
                if not path.startswith(PENDING):
                    top = path.partition(".")[0]
                    tables[top] = tables.get(top) or table
    return tables


def selected_there(catalog: Catalog) -> dict[str, dict[str, str]]:
    """Return the faces and the nutrients of a catalogue with their labels, by where they are, most frequent first."""
    found: dict[str, dict[str, str]] = {}
    if all(part.holds("nutrients") for part in catalog.parts):
        rows = catalog.arrow("nutrients", ["nutrient_code", "nutrient"], IS_OWN)
        known = rows.group_by(["nutrient_code", "nutrient"]).aggregate([([], "count_all")]).to_pylist()
        by_code: dict[str, str] = {}
        for one in sorted(known, key=lambda one: -one["count_all"]):
            if one["nutrient_code"]:
                by_code.setdefault(one["nutrient_code"], one["nutrient"] or "")
        found[NUTRIENTS] = by_code
    return found


def codes_in_use(catalog: Catalog, attributes: Iterable[str], most: int) -> dict[str, dict[str, str]]:
    """Return the codes that attributes have with their labels, most frequent first; none of one with more codes.

    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "A", "label": "Acme"}, "serves": {"code": "2"}}])
    >>> codes_in_use(catalog, ["brand", "serves", "kind"], 200)
    {'brand': {'A': 'Acme'}, 'serves': {'2': ''}}
    """
    counted: dict[str, dict[tuple[str, str], int]] = {}
    wanted = list(attributes)
    of_path = {path: one for one in wanted for path in (one, f"{one}.data", f"{one}.code")}
    for part in catalog.parts:
        if part.holds("codes"):
            rows = part.read("codes", ["attribute", "code", "label"], IS_OWN)
            columns = [as_one_chunk(rows[name]).cast(pa.string()) for name in ("attribute", "code", "label")]
            _count_codes(counted, columns, of_path)
        for attribute in wanted:
            names = {name for name, _ in leaf_columns("products", attribute)}
            for code in names & set(CODE_OF.values()):
                label = next(one for one, of in CODE_OF.items() if of == code)
                read = part.read("products", [code, label])
                size = len(read[code])
                columns = [
                    pa.array([attribute] * size, pa.string()),
                    *(as_one_chunk(read[one]).cast(pa.string()) for one in (code, label)),
                ]
                _count_codes(counted, columns, of_path)
    found: dict[str, dict[str, str]] = {}
    for attribute in wanted:
        codes: dict[str, str] = {}
        of_code: dict[str, int] = defaultdict(int)
        for (code, label), count in sorted(
            counted.get(attribute, {}).items(), key=lambda one: (-one[1], one[0])
        ):
            codes[code] = codes.get(code) or label
            of_code[code] += count
        # Addresses and the like are no codes that anybody types.
        if 0 < len(codes) <= most and max(map(len, codes)) <= _LONGEST_CODE:
            found[attribute] = {
                code: codes[code] for code in sorted(codes, key=lambda one: (-of_code[one], one))
            }
    return found


def _count_codes(
    into: dict[str, dict[tuple[str, str], int]], columns: Sequence[pa.Array], of_path: Mapping[str, str]
) -> None:
    """Count pairs of code and label, by attribute."""
    table = pa.table(list(columns), ["attribute", "code", "label"])
    meant = pc.is_in(table["attribute"], pa.array(list(of_path), pa.string()))
    distinct = table.filter(meant).group_by(["attribute", "code", "label"]).aggregate([([], "count_all")])
    for one in distinct.to_pylist():
        if one["code"] and one["code"].strip():
            counts = into.setdefault(of_path[one["attribute"]], {})
            key = (one["code"].strip(), (one["label"] or "").strip())
            counts[key] = counts.get(key, 0) + one["count_all"]


def _filled_in(part: Part, attributes: Sequence[str], origin: Origin) -> list[tuple[AskedAttribute, Rows]]:
    """Return which products of a part have attributes, in any language and in each."""
    plain = [one for one in attributes if not selector_of(one)[1]]
    found = [
        (AskedAttribute(attribute, language or ""), np.flatnonzero(mask))
        for state, (attribute, language), mask in filled_masks(part, plain)
        if state is FillState.FILLED
    ]
    # Faces and nutrients as an audit counts them.
    products = Products([part], origin, now())
    chosen = [AskedAttribute(one) for one in attributes if selector_of(one)[1]]
    return [*found, *((one, np.unique(values_of(products, one).product)) for one in chosen)]

"""How many pieces a pallet holds: each tree of packaging counted once, however many products repeat it.

Every product of a hierarchy shows the whole of it, so its rows are in `hierarchies` once for every product in it, and
often once more under `sharingUnits`. A sum over those rows is a multiple of what is on the pallet.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.catalog import Catalog
from prodex.errors import QueryError
from prodex.phrases import hint
from prodex.selection.column_values import PACKAGING_CODES
from prodex.tables.attributes import PENDING
from prodex.tables.frames import to_frame

_COLUMNS = ["product_id", "attribute", "position", "node_gtin", "node_uuid", "quantity", "packaging_code"]
_BELOW = ".children"

#: Gives what products are called, by id.
NamesOf = Callable[[pa.Array], Mapping[str, str]]


@dataclass(eq=False)
class Node:
    """One unit of a tree, as the record of one product describes it.

    Attributes
    ----------
    key
        Its GTIN in 14 digits, else its uuid, else None.
    quantity
        How many the unit around it contains; None if the record does not say.
    packaging
        Code of its type of packaging.
    children
        The units inside it.
    lost
        How many units in it have no data of their own.
    """

    key: str | None
    quantity: float | None
    packaging: str | None
    children: list[Node] = field(default_factory=list)
    lost: int = 0

    @property
    def name(self) -> str:
        return self.key or "a unit without GTIN"


def trees(catalog: Catalog) -> Iterator[tuple[str, Node]]:
    """Yield each tree with the product that has it: those of `logisticalHierarchies`, then those of `sharingUnits`.

    Trees of an update that waits are left out: they are not the product's own yet.
    """
    rows = catalog.arrow("hierarchies", _COLUMNS)
    found: dict[tuple[str, str, str], Node] = {}
    roots: list[tuple[str, Node]] = []
    inner: list[tuple[str, str, str]] = []
    columns = [rows[name].to_pylist() for name in _COLUMNS]
    for product, attribute, position, gtin, uuid, quantity, packaging in zip(*columns, strict=True):
        # Nobody has accepted them yet, and the tree that they would replace is counted already.
        if attribute.startswith(PENDING):
            continue
        # GTINs are compared in 14 digits everywhere: one record has the leading zeros of a unit, another has not.
        key = gtin.zfill(14) if gtin and gtin.isdigit() else gtin or uuid or None
        place = (product, attribute, position)
        found[place] = node = Node(key, quantity, packaging)
        if attribute.endswith(_BELOW):
            inner.append(place)
        else:
            roots.append((product, node))
    # Only now: the row of a unit may be before the row of the unit around it, as a merge appends rows.
    for place in inner:
        around, direct = _enclosing_unit(place, found)
        if around is not None:
            if direct:
                around.children.append(found[place])
            else:
                around.lost += 1
    yield from roots


def _enclosing_unit(
    place: tuple[str, str, str], found: dict[tuple[str, str, str], Node]
) -> tuple[Node | None, bool]:
    """Return the unit around another, and whether it is the next one; what has no data has no row."""
    product, attribute, position = place
    direct = True
    while attribute.endswith(_BELOW):
        attribute = attribute.removesuffix(_BELOW)
        outer = position
        while True:  # children may be an object instead of a list, or a list in a list
            outer = outer.rpartition(".")[0]
            if (node := found.get((product, attribute, outer))) is not None:
                return node, direct
            if not outer:
                break
        if (node := found.get((product, attribute, position))) is not None:
            return node, direct
        direct = False
    return None, False


def walk(root: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield every unit of a tree with those around it, outermost first."""
    # A stack, not recursion: records may be nested deeper than Python can call.
    waiting: list[tuple[Node, tuple[Node, ...]]] = [(root, ())]
    while waiting:
        node, above = waiting.pop()
        yield node, above
        waiting.extend((child, (*above, node)) for child in reversed(node.children))


_SCHEMA = pa.schema(
    {
        "root_gtin": pa.string(),
        "product_id": pa.string(),
        "name": pa.string(),
        "pieces": pa.int64(),
        "known": pa.bool_(),
        "levels": pa.int64(),
        "told_by": pa.int64(),
        "agrees": pa.bool_(),
        "problem": pa.string(),
    }
)


class _TreeCount(NamedTuple):
    """The tree in the record of one product: its sum, and every unit in it, to compare records with each other."""

    product: str
    pieces: int | None
    levels: int
    problem: str | None
    units: tuple[tuple[str, ...], ...]


def contents(catalog: Catalog, of: str, unit: str, names: NamesOf) -> pd.DataFrame:
    """Count the units in each root of a type of packaging; see `Catalog.contents`.

    `names` gives what products are called, by id: that is decided above catalogues, where audits and cards ask as well.
    """
    roots, units = _packaging_codes(catalog, of), _packaging_codes(catalog, unit)
    counted: dict[str, list[_TreeCount]] = defaultdict(list)
    inside = 0
    for product, root in trees(catalog):
        if root.packaging in roots:
            counted[root.key or f"a tree of product {product}"].append(_count_units(product, root, units))
        else:
            inside += any(node.packaging in roots for node, _ in walk(root))
    if inside and not counted:
        warnings.warn(
            f"No hierarchy begins with {of!r}, and {inside:,} have it inside; catalog.hierarchies shows them.",
            stacklevel=3,
        )
    products = _products_by_gtin(catalog, counted.keys(), names) if counted else {}
    rows = [_root_row(key, counts, products.get(key, {})) for key, counts in sorted(counted.items())]
    return to_frame(pa.Table.from_pylist(rows, _SCHEMA))


def _packaging_codes(catalog: Catalog, packaging: str) -> set[str]:
    """Return the codes of a type of packaging that was given by code or by label."""
    if not isinstance(packaging, str):
        raise QueryError(f"contents() takes a type of packaging such as 'PALLET', not {packaging!r:.60}.")
    columns = ["packaging_code", "packaging"]
    named = [(code, code) for code in PACKAGING_CODES]
    for table in ("hierarchies", "products"):
        for row in catalog.arrow(table, columns).group_by(columns).aggregate([]).to_pylist():
            # A label without a code names nothing that could be counted: trees are compared by code.
            named += [
                (row["packaging_code"], name) for name in row.values() if name and row["packaging_code"]
            ]
    wanted = packaging.strip().casefold()
    if codes := {code for code, name in named if name.casefold() == wanted}:
        return codes
    there = sorted({name for _, name in named})
    otherwise = f"Give one of {', '.join(there)}."
    raise QueryError(f"There is no type of packaging {packaging!r}{hint(packaging, there, otherwise)}")


#: What a column of whole numbers holds; a GTIN that stands in place of a quantity makes more.
_MOST_PIECES = 2**63 - 1


def _count_units(product: str, root: Node, units: Set[str]) -> _TreeCount:
    """Add up the units of one tree; instead of a sum that would be wrong, the problems are returned."""
    problems: list[str] = []
    pieces = 0
    levels = 0
    units_seen = []
    for node, above in walk(root):
        levels = max(levels, len(above) + 1)
        place = (*(one.name for one in above), node.name)
        units_seen.append((*place, "" if not above else str(node.quantity), str(node.packaging)))
        # What is in a counted unit adds nothing, so that its quantities need not be known.
        inside_unit = any(one.packaging in units for one in above)
        if node.key is not None and any(node.key == one.key for one in above):
            problems.append(f"{node.name} is inside itself")
        elif above and not inside_unit and (wrong := _wrong_quantity(node)):
            problems.append(f"{wrong} of {node.name} in {above[-1].name}")
        if len({child.key for child in node.children}) < len(node.children):
            problems.append(f"a unit stands twice in {node.name}")
        if node.lost:
            problems.append(f"a unit in {node.name} has no data")
        if node.packaging in units:
            if inside_unit:
                problems.append(f"{node.name} is such a unit inside another")
            else:
                # A missing quantity is a problem of its own, and then there is no sum.
                pieces += math.prod(int(one.quantity or 0) for one in (*above[1:], node) if one is not root)
        elif not node.children and not inside_unit and not _smaller(node.packaging, units):
            problems.append(f"what {node.name} ({node.packaging or 'no packaging'}) holds is not said")
    if pieces > _MOST_PIECES:
        problems.append("its quantities make more pieces than can be counted")
    whole = None if problems else pieces
    return _TreeCount(
        product, whole, levels, "; ".join(dict.fromkeys(problems)) or None, tuple(sorted(units_seen))
    )


def _wrong_quantity(node: Node) -> str | None:
    if node.quantity is None:
        return "no quantity"
    if node.quantity < 1 or not node.quantity.is_integer():
        return f"quantity {node.quantity:g}"
    return None


def _smaller(packaging: str | None, units: Set[str]) -> bool:
    """Whether a unit is smaller than those counted, so that none of them can be in it."""
    sizes = [PACKAGING_CODES.index(unit) for unit in units if unit in PACKAGING_CODES]
    return packaging in PACKAGING_CODES and bool(sizes) and PACKAGING_CODES.index(str(packaging)) < min(sizes)


def _root_row(
    key: str, trees_of_root: Sequence[_TreeCount], products: dict[str, str | None]
) -> dict[str, object]:
    """Return the row of one root: what the records of its products agree on."""
    # The units are compared, not only the sums: 10 x 20 and 20 x 10 are two descriptions of one pallet.
    agrees = len({one.units for one in trees_of_root}) == 1
    counts = {one.pieces for one in trees_of_root}
    pieces = next(iter(counts)) if len(counts) == 1 else None
    problems = [one.problem for one in trees_of_root if one.problem]
    if len(counts) > 1:
        words = sorted("unknown" if count is None else f"{count:,}" for count in counts)
        problems.insert(0, f"products say different things: {', '.join(words)}")
    return {
        "root_gtin": key if key.isdigit() else None,
        "product_id": " | ".join(products) or None,
        "name": next((name for name in products.values() if name), None),
        "pieces": pieces,
        "known": pieces is not None,
        "levels": max(one.levels for one in trees_of_root),
        "told_by": len({one.product for one in trees_of_root}),
        "agrees": agrees,
        "problem": "; ".join(dict.fromkeys(problems)) or None,
    }


def _products_by_gtin(catalog: Catalog, roots: Set[str], names: NamesOf) -> dict[str, dict[str, str | None]]:
    """Return the products of these GTINs, each id with what people call it."""
    rows = catalog.arrow("products", ["product_id", "gtin"])
    gtins = pc.utf8_lpad(rows["gtin"], 14, "0")
    is_root = pc.is_in(gtins, pa.array(sorted(roots), pa.string()))
    ids = rows["product_id"].filter(is_root).combine_chunks()
    called = names(ids)
    found: dict[str, dict[str, str | None]] = defaultdict(dict)
    for gtin, product in zip(gtins.filter(is_root).to_pylist(), ids.to_pylist(), strict=True):
        found[gtin][product] = called.get(product)
    return found

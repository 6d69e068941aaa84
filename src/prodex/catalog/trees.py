"""The trees of logistical hierarchies and sharing units, put together from their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog

_COLUMNS = ["product_id", "attribute", "position", "node_gtin", "node_uuid", "quantity", "packaging_code"]
_BELOW = ".children"
_PENDING = "lastRequest."


@dataclass(eq=False)
class Node:
    """One unit of a tree, as one product tells it.

    Attributes
    ----------
    key
        Its GTIN in 14 digits, else its uuid, else None.
    quantity
        How many stand in the unit around it, or None where that is not said.
    packaging
        Code of its type of packaging.
    children
        What stands in it.
    lost
        How many units in it came without any data of their own.
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
    """Yield each tree with the product that tells it: those of `logisticalHierarchies`, then those of `sharingUnits`.

    Trees of an update that waits are left out: they are not the product's own yet.
    """
    rows = catalog.arrow("hierarchies", _COLUMNS)
    found: dict[tuple[str, str, str], Node] = {}
    roots: list[tuple[str, Node]] = []
    inner: list[tuple[str, str, str]] = []
    columns = [rows[name].to_pylist() for name in _COLUMNS]
    for product, attribute, position, gtin, uuid, quantity, packaging in zip(*columns, strict=True):
        if attribute.startswith(_PENDING):
            continue
        key = gtin.zfill(14) if gtin and gtin.isdigit() else gtin or uuid or None
        place = (product, attribute, position)
        found[place] = node = Node(key, quantity, packaging)
        if attribute.endswith(_BELOW):
            inner.append(place)
        else:
            roots.append((product, node))
    for place in inner:
        around, direct = _around(place, found)
        if around is not None:
            if direct:
                around.children.append(found[place])
            else:
                around.lost += 1
    yield from roots


def _around(place: tuple[str, str, str], found: dict[tuple[str, str, str], Node]) -> tuple[Node | None, bool]:
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
    waiting: list[tuple[Node, tuple[Node, ...]]] = [(root, ())]
    while waiting:
        node, above = waiting.pop()
        yield node, above
        waiting.extend((child, (*above, node)) for child in reversed(node.children))

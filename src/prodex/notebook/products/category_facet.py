"""The facet of categories, a tree: GPC segments, below them the GPC codes of products, and below these their kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from prodex.facts.gpc import gpc_above, is_brick, segment_label
from prodex.facts.groups import Groups
from prodex.facts.name import told_apart
from prodex.notebook.conditions import Code
from prodex.notebook.products.facet_values import Facet, FacetValues
from prodex.notebook.products.memberships import OneValueEach
from prodex.notebook.products.product_columns import ProductColumns
from prodex.tables.columns import combinations

#: What bricks are listed below: their codes do not tell of which segment they are.
_BRICKS = "//bricks"
_BRICKS_LABEL = "GPC bricks"


@dataclass(eq=False)
class _Node:
    """A category: its code in the facet, its own code and label, and how many products have it or one below it."""

    code: Code = None
    own_code: str | None = None
    label: str | None = None
    size: int = 0
    below: dict[Code, _Node] = field(default_factory=dict)

    def child(self, code: Code, own_code: str | None, label: str | None) -> _Node:
        return self.below.setdefault(code, _Node(code, own_code, label))


def category_values(facet: Facet, products: ProductColumns) -> FacetValues:
    """Return the categories of products.

    The code of a category is a GPC code, or a GPC code and a kind with a slash between them. Families and classes are
    there where products have their codes: the data name no others. Products without a GPC code are in the category
    whose code is None; where no product has one, the kinds are at the top.

    Examples
    --------
    >>> import prodex
    >>> milk = {"GPC": {"code": "50131700", "label": "Milk"}, "kind": {"code": "M", "label": "Fresh milk"}}
    >>> products = ProductColumns(prodex.flatten([{"id": 1, **milk}, {"id": 2, "GPC": milk["GPC"]}, {"id": 3}]))
    >>> values = category_values(Facet("category", "Category", "without"), products)
    >>> list(zip(values.depths, values.codes, values.totals.tolist()))
    [(0, '50000000', 2), (1, '50131700', 2), (2, '50131700/M', 1), (0, None, 1)]
    >>> values.labels
    ('Food and beverages', 'Milk', 'Fresh milk', 'without')
    """
    gpc, kind = products.groups("gpc_code"), products.groups("kind")
    place, pairs = combinations(_of_each(gpc, len(products)), _of_each(kind, len(products)))
    sizes = np.bincount(place, minlength=len(pairs[0])).tolist()
    tree = _Tree(gpc, kind)
    numbers_of = zip(*(one.to_pylist() for one in pairs), sizes, strict=True)
    leaves = [tree.add(*found) for found in numbers_of]
    nodes, above, labels = tree.listed(facet.without)
    number = {id(node): place for place, node in enumerate(nodes)}
    numbers = np.array([number[id(leaf)] for leaf in leaves], np.int64)
    return FacetValues(
        facet,
        tuple(node.code for node in nodes),
        tuple(labels),
        True,
        OneValueEach.of(numbers[place], len(nodes)),
        tuple(above),
    )


def _of_each(groups: Groups, size: int) -> pa.Array:
    """Return the number of the group of each product, which has one."""
    numbers = np.zeros(size, np.int64)
    numbers[groups.rows] = groups.groups
    return pa.array(numbers)


class _Tree:
    """Categories as they are found."""

    def __init__(self, gpc: Groups, kind: Groups) -> None:
        self._gpc, self._kind = gpc, kind
        self._labels = dict(zip(gpc.codes, gpc.labels, strict=True))
        self._top = _Node()

    def add(self, gpc: int, kind: int, size: int) -> _Node:
        """Count some products in their category and in those above it; return the category."""
        code, kind_code = self._gpc.codes[gpc], self._kind.codes[kind]
        path = list(self._path(code)) if len(self._labels) > 1 or code is not None else []
        if kind_code is not None:
            own = f"{_escaped(code or '')}/{_escaped(kind_code)}"
            path.append((own, kind_code, self._kind.labels[kind]))
        node = self._top
        for one in path or [(None, None, None)]:
            node = node.child(*one)
            node.size += size
        return node

    def _path(self, code: Code) -> Iterator[tuple[Code, str | None, str | None]]:
        """Yield the categories above a GPC code, from the top, and its own."""
        if code is None:
            yield None, None, None
            return
        if is_brick(code):
            yield _BRICKS, None, _BRICKS_LABEL
        for one in (*reversed(gpc_above(code)), code):
            label = segment_label(one)
            if label is not None or one in self._labels:
                yield _escaped(one), one, label or self._labels[one]

    def listed(self, without: str) -> tuple[list[_Node], list[int], list[str]]:
        """Return the categories, each before those below it, the number of the one above each, and their labels."""
        nodes: list[_Node] = []
        above: list[int] = []
        labels: list[str] = []
        waiting = self._below(self._top, -1, without)
        while waiting:
            node, parent, label = waiting.pop()
            nodes.append(node)
            above.append(parent)
            labels.append(label)
            waiting += self._below(node, len(nodes) - 1, without)
        return nodes, above, labels

    def _below(self, node: _Node, number: int, without: str) -> list[tuple[_Node, int, str]]:
        """Return what is directly below a category, the largest last, with labels that are told apart."""
        below = list(node.below.values())
        codes = [one.own_code or one.code for one in below]
        labels = told_apart(codes, [one.label for one in below], without)
        listed = [(one, number, label) for one, label in zip(below, labels, strict=True)]
        return sorted(listed, key=lambda one: (-one[0].size, one[0].code is None, one[2]), reverse=True)


def _escaped(code: str) -> str:
    return code.replace("\\", "\\\\").replace("/", "\\/")

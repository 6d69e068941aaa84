"""Blocks that repeat, written once: cards of thousands of products are mostly the same structure with other values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

#: A text, or the number of a shape (-1: a list) with the numbers of what is inside, or another value as {"v": ...}.
Node: TypeAlias = str | tuple[int, ...] | dict[str, Any]


class Packer:
    """Numbers what values are made of: equal ones have one number.

    Parameters
    ----------
    common
        What others have packed already, which goes before: its numbers are used again.

    Attributes
    ----------
    nodes
        What was packed here, in the order of the numbers.
    shapes
        The keys of each kind of object; all packers of a file share them.

    Examples
    --------
    >>> packer = Packer()
    >>> packer.pack([{"a": "x"}, {"a": "x"}]), packer.nodes, list(packer.shapes)
    (2, ['x', (0, 0), (-1, 1, 1)], [('a',)])
    """

    def __init__(self, common: Packer | None = None) -> None:
        self.nodes: list[Node] = []
        self.shapes: dict[tuple[str, ...], int] = {} if common is None else common.shapes
        self._before: Mapping[Any, int] = {} if common is None else common._numbers
        self._numbers: dict[Any, int] = {}

    def pack(self, value: Any) -> int:
        """Return the number of a value that is JSON."""
        node: Node
        if isinstance(value, dict):
            shape = self.shapes.setdefault(tuple(value), len(self.shapes))
            key = node = (shape, *map(self.pack, value.values()))
        elif isinstance(value, list | tuple):
            key = node = (-1, *map(self.pack, value))
        elif isinstance(value, str):
            key = node = value
        else:
            # 1, 1.0 and true are equal in Python.
            return self._number((type(value), value), {"v": value})
        return self._number(key, node)

    def _number(self, key: Any, node: Node) -> int:
        if (number := self._before.get(key)) is None and (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = len(self._before) + len(self.nodes)
            self.nodes.append(node)
        return number


def packed_together(values: Iterable[Any]) -> Packer:
    """Return a packer of some values, with which others are packed that are like them."""
    packer = Packer()
    for value in values:
        packer.pack(value)
    return packer

"""Blocks that repeat, written once: cards of thousands of products are mostly the same structure with other values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

#: A text; or the number of a shape (-1: a list) with what is inside, by its number, or where it was packed beside it by
#: how far before it is, which is alike in like values; or another value as {"v": ...}.
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
    (2, ['x', (0, -1), (-1, -1, -1)], [('a',)])
    """

    def __init__(self, common: Packer | None = None) -> None:
        self.nodes: list[Node] = []
        self.shapes: dict[tuple[str, ...], int] = {} if common is None else common.shapes
        self._before: Mapping[Any, int] = {} if common is None else common._numbers
        self._numbers: dict[Any, int] = {}

    def pack(self, value: Any) -> int:
        """Return the number of a value that is JSON."""
        key: Any = value
        if isinstance(value, dict):
            shape = self.shapes.setdefault(tuple(value), len(self.shapes))
            key = (shape, *map(self.pack, value.values()))
        elif isinstance(value, list | tuple):
            key = (-1, *map(self.pack, value))
        elif not isinstance(value, str):
            # 1, 1.0 and true are equal in Python.
            key = (type(value), value)
        if (number := self._before.get(key)) is None and (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = len(self._before) + len(self.nodes)
            self.nodes.append(self._node(key, number))
        return number

    def _node(self, key: Any, number: int) -> Node:
        if isinstance(key, str):
            return key
        first, *inside = key
        if isinstance(first, type):
            return {"v": inside[0]}
        before = len(self._before)
        return (first, *(one if one < before else one - number for one in inside))


def packed_together(values: Iterable[Any]) -> Packer:
    """Return a packer of some values, with which others are packed that are like them."""
    packer = Packer()
    for value in values:
        packer.pack(value)
    return packer

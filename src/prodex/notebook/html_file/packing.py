"""Blocks that repeat, written once: cards of thousands of products are mostly the same structure with other values."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count, islice
from typing import Any, TypeAlias

from prodex.notebook.html_file.page import file_part
from prodex.progress import Phase

#: A text; or the number of a shape (-1: a list) with what is inside, by its number, or where it was packed beside it by
#: how far before it is, which is alike in like values; or another value as {"v": ...}.
Node: TypeAlias = str | tuple[int, ...] | dict[str, Any]

#: What most values have in common takes no more of the room than this.
_MOST_COMMON = 0.5


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
        self._numbers: dict[Any, int] = {} if common is None else {**common._numbers}
        self._before = len(self._numbers)

    def pack(self, value: Any) -> int:
        """Return the number of a value that is JSON."""
        key: Any = value
        # Most values are texts, of which most were packed before.
        if isinstance(value, str):
            pass
        elif isinstance(value, dict):
            shape = self.shapes.setdefault(tuple(value), len(self.shapes))
            key = (shape, *self._numbers_of(value.values()))
        elif isinstance(value, list | tuple):
            key = (-1, *self._numbers_of(value))
        else:
            # 1, 1.0 and true are equal in Python.
            key = (type(value), value)
        if (number := self._numbers.get(key)) is None:
            number = self._numbers[key] = self._before + len(self.nodes)
            self.nodes.append(self._node(key, number))
        return number

    def _numbers_of(self, values: Iterable[Any]) -> list[int]:
        known, pack = self._numbers, self.pack
        return [known[one] if type(one) is str and one in known else pack(one) for one in values]

    def _node(self, key: Any, number: int) -> Node:
        if isinstance(key, str):
            return key
        first, *inside = key
        if isinstance(first, type):
            return {"v": inside[0]}
        before = self._before
        return (first, *[one if one < before else one - number for one in inside])


def packed_together(values: Iterable[Any]) -> Packer:
    """Return a packer of some values, with which others are packed that are like them."""
    packer = Packer()
    for value in values:
        packer.pack(value)
    return packer


class PackedParts:
    """Values that are like each other as parts of a page: some together, so that one is read with few others.

    Parameters
    ----------
    name
        What the parts are called: "cards" has what all of them have in common, "cards-0" the first values.
    values
        The values; they are made as they are packed.
    each, sample
        How many are packed together, and by how many of the first it is found what most have in common.
    """

    def __init__(self, name: str, values: Iterable[Any], each: int, sample: int) -> None:
        every = iter(values)
        first = [*islice(every, sample)]
        self._name, self._each = name, each
        self._common = packed_together(first)
        self._values = chain(first, every)

    def within(self, room: int, phase: Phase) -> tuple[list[str], int]:
        """Return as many parts as have room beside the common one, in bytes, and the number of their values."""
        if len(self.common()) > room * _MOST_COMMON:
            # Long values that differ have nothing in common: those that were looked at would be in it whole.
            self._common = Packer()
        room -= len(self.common())
        parts: list[str] = []
        packed = 0
        for number in count():
            if not (values := [*islice(self._values, self._each)]):
                break
            packer = Packer(self._common)
            roots = [packer.pack(one) for one in values]
            part = file_part(f"{self._name}-{number}", {"roots": roots, "nodes": packer.nodes})
            if (room := room - len(part)) < 0:
                break
            parts.append(part)
            packed += len(values)
            phase.add(len(values))
        return parts, packed

    def common(self) -> str:
        """Return the part that all others need: once these are made, it has the shapes of all of them."""
        return file_part(self._name, {"shapes": [*self._common.shapes], "nodes": self._common.nodes})

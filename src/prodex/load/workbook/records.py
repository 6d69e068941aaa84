"""Records made of cells: each cell at its path, cells of one row together, and the rows of one product together.

A platform repeats a product where it has several pictures, nutrients or codes. So the rows of a product are merged:
what says the same is one value; items of a list that differ are several; and where one place has two values, the first
is kept and the second is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from prodex.load.workbook.headings import Content, Heading

#: Of an item in a list: its place, or its language or unit. An item with none of these has its number in its row in a
#: tuple, and in its product all that it says.
ItemKey: TypeAlias = "int | str | tuple[Any]"


@dataclass
class Value:
    """A value, the cell that it came from, and other cells of its row that say the same."""

    value: Any
    place: str
    others: list[str] = field(default_factory=list)


@dataclass
class Members:
    """An object: its members by name; those of one cell, such as a code with its label, belong together."""

    members: dict[str, Node] = field(default_factory=dict)
    is_one_cell: bool = False


@dataclass
class Items:
    """A list: its items by what tells them apart."""

    items: dict[ItemKey, Node] = field(default_factory=dict)


Node: TypeAlias = "Value | Members | Items"


@dataclass(frozen=True)
class Clash:
    """A value whose place was taken.

    Attributes
    ----------
    place
        The cell.
    value
        Its value.
    other
        The value that is there, or None where something of another kind is.
    """

    place: str
    value: Any
    other: Value | None


def record_of_cell(heading: Heading, value: Any, place: str, *, is_odd: bool = False) -> Members:
    """Return the record that holds one value and nothing else.

    Parameters
    ----------
    heading
        Its column, which has a path.
    value
        As `value_of` returns it.
    place
        Its cell.
    is_odd
        Whether it could not be understood: it then stands at its place without language and unit.
    """
    assert heading.path is not None  # noqa: S101 - whoever has no path has no place in a record
    *around, last = heading.path.steps
    number = (heading.occurrence,)
    node: Node = _plain(value, place)
    if heading.content in (Content.TEXT, Content.QUANTITY):
        described = (heading.language if heading.content is Content.TEXT else heading.unit) or {}
        item = Members({"data": node})
        if described and not is_odd:
            item.members["expressedIn"] = _plain(dict(described), place)
        key = number if is_odd else "-".join(described.values())
        node = Items({key if last.index is None else last.index: item})
    elif last.in_list:
        node = Items({number if last.index is None else last.index: node})
    members: dict[str, Node] = {last.name: node}
    if last.name == "quantity" and heading.unit is not None and not is_odd:
        members["expressedIn"] = _plain(dict(heading.unit), place)
    for step in reversed(around):
        inner: Node = Members(members)
        if step.in_list:
            inner = Items({number if step.index is None else step.index: inner})
        members = {step.name: inner}
    return Members(members)


def _plain(value: Any, place: str) -> Node:
    if isinstance(value, Mapping):
        return Members({name: _plain(one, place) for name, one in value.items()}, is_one_cell=True)
    return Value(value, place)


def merge(into: Members, new: Members, *, in_one_row: bool) -> Iterator[Clash]:
    """Merge a record into another, and yield what has no place there.

    Parameters
    ----------
    into
        Is changed.
    new
        Becomes a part of it.
    in_one_row
        Whether both are of one row, whose cells under one list make one item; else items that differ are several.
    """
    for name, node in new.members.items():
        if name not in into.members:
            into.members[name] = node if in_one_row else _of_product(node)
        else:
            yield from _merge_nodes(into.members[name], node, in_one_row)


def _merge_nodes(into: Node, new: Node, in_one_row: bool) -> Iterator[Clash]:
    if isinstance(into, Members) and isinstance(new, Members):
        if new.is_one_cell and not _agree(into, new):
            # Half of it would make a code with the label of another.
            there = next(_values(into), None)
            other = None if there is None else Value(as_json(into), there.place)
            yield from (clash for one in _values(new) for clash in _clashes(one, other))
        else:
            yield from merge(into, new, in_one_row=in_one_row)
    elif isinstance(into, Items) and isinstance(new, Items):
        yield from _merge_items(into, new, in_one_row)
    elif not (isinstance(into, Value) and isinstance(new, Value)):
        yield from (clash for one in _values(new) for clash in _clashes(one, None))
    elif not _is_same(into.value, new.value):
        yield from _clashes(new, into)
    elif in_one_row:
        into.others.append(new.place)


def _clashes(new: Value, into: Value | None) -> Iterator[Clash]:
    return (Clash(place, new.value, into) for place in (new.place, *new.others))


def _agree(one: Members, other: Members) -> bool:
    """Whether two objects have the same values where both have one, and are not of two cells with nothing in common."""
    both = one.members.keys() & other.members.keys()
    pairs = [(one.members[name], other.members[name]) for name in both]
    is_same = all(
        isinstance(mine, Value) and isinstance(its, Value) and _is_same(mine.value, its.value)
        for mine, its in pairs
    )
    return is_same and (bool(both) or not one.is_one_cell)


def _merge_items(into: Items, new: Items, in_one_row: bool) -> Iterator[Clash]:
    for number, item in new.items.items():
        # Items of two rows that say the same, apart from lists inside of them, are one.
        is_counted = isinstance(number, tuple) and not in_one_row
        key: ItemKey = (frozenset(_own_values(item).items()),) if is_counted else number
        if key in into.items:
            yield from _merge_nodes(into.items[key], item, in_one_row)
        else:
            into.items[key] = item if in_one_row else _of_product(item)


def _own_values(node: Node, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    if isinstance(node, Value):
        return {path: (type(node.value), node.value)}
    inner = node.members if isinstance(node, Members) else node.items
    return {
        where: value
        for name, one in inner.items()
        if not isinstance(name, tuple)
        for where, value in _own_values(one, (*path, name)).items()
    }


def _of_product(node: Node) -> Node:
    """Return a node of one row as it is in the record of its product."""
    if isinstance(node, Value):
        return node
    if isinstance(node, Members):
        return Members({name: _of_product(one) for name, one in node.members.items()}, node.is_one_cell)
    made = Items()
    # Items of a row that say the same are one as well, so that nothing can clash.
    for _ in _merge_items(made, node, in_one_row=False):
        pass
    return made


def _values(node: Node) -> Iterator[Value]:
    if isinstance(node, Value):
        yield node
        return
    for one in (node.members if isinstance(node, Members) else node.items).values():
        yield from _values(one)


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def as_json(node: Node) -> Any:
    """Return a record as JSON: items that have a place stand at it, and null where there is none.

    >>> as_json(Items({1: Value("b", "A9"), "fr": Value("c", "B9")}))
    [None, 'b', 'c']
    """
    if isinstance(node, Value):
        return node.value
    if isinstance(node, Members):
        return {name: as_json(one) for name, one in node.members.items()}
    placed = {key: as_json(one) for key, one in node.items.items() if isinstance(key, int)}
    listed = [placed.get(place) for place in range(max(placed, default=-1) + 1)]
    return [*listed, *(as_json(one) for key, one in node.items.items() if not isinstance(key, int))]

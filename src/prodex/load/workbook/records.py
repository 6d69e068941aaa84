"""Records made of cells: each cell at its path, cells of one row together, and the rows of one product together.

A platform repeats a product where it has several pictures, nutrients or codes. So the rows of a product are merged:
what says the same is one value; items of a list that differ are several; and where one place has two values, the first
is kept and the second is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any, TypeAlias

from prodex.errors import InputError
from prodex.formats.workbook_cells import Cell
from prodex.gtin import comparable, has_digits, no_gtin
from prodex.load.workbook.headings import UNITS, ColumnContent, Heading, label_and_code
from prodex.worklists.answer_parsing import AnswerRefused, as_one_line, read_boolean, read_number
from prodex.written_dates import written_date

#: Of an item in a list: its place, or its language or unit. An item with none of these has its number in its row in a
#: tuple, and in its product all that it says.
ItemKey: TypeAlias = "int | str | tuple[Any]"


@dataclass
class Value:
    """A value, the cell that it was read from, and other cells of its row that say the same."""

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
    """A list: its items, by what distinguishes them."""

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
        Whether it could not be understood: it is then kept at its place without language and unit.
    """
    assert heading.path is not None  # noqa: S101 - whoever has no path has no place in a record
    *around, last = heading.path.steps
    number = (heading.occurrence,)
    node: Node = _as_node(value, place)
    if heading.content in (ColumnContent.TEXT, ColumnContent.QUANTITY):
        described = (heading.language if heading.content is ColumnContent.TEXT else heading.unit) or {}
        item = Members({"data": node})
        if described and not is_odd:
            item.members["expressedIn"] = _as_node(dict(described), place)
        key = number if is_odd else "-".join(described.values())
        node = Items({key if last.index is None else last.index: item})
    elif last.in_list:
        node = Items({number if last.index is None else last.index: node})
    members: dict[str, Node] = {last.name: node}
    if last.name == "quantity" and heading.unit is not None and not is_odd:
        members["expressedIn"] = _as_node(dict(heading.unit), place)
    for step in reversed(around):
        inner: Node = Members(members)
        if step.in_list:
            inner = Items({number if step.index is None else step.index: inner})
        members = {step.name: inner}
    return Members(members)


def _as_node(value: Any, place: str) -> Node:
    if isinstance(value, Mapping):
        return Members({name: _as_node(one, place) for name, one in value.items()}, is_one_cell=True)
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
            there = next(_node_values(into), None)
            other = None if there is None else Value(as_json(into), there.place)
            yield from (clash for one in _node_values(new) for clash in _clashes(one, other))
        else:
            yield from merge(into, new, in_one_row=in_one_row)
    elif isinstance(into, Items) and isinstance(new, Items):
        yield from _merge_items(into, new, in_one_row)
    elif not (isinstance(into, Value) and isinstance(new, Value)):
        yield from (clash for one in _node_values(new) for clash in _clashes(one, None))
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
    for place, item in new.items.items():
        # Items of two rows that say the same, apart from lists inside of them, are one.
        is_counted = isinstance(place, tuple) and not in_one_row
        key: ItemKey = (frozenset(_own_values(item).items()),) if is_counted else place
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


def _node_values(node: Node) -> Iterator[Value]:
    if isinstance(node, Value):
        yield node
        return
    for one in (node.members if isinstance(node, Members) else node.items).values():
        yield from _node_values(one)


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def as_json(node: Node) -> Any:
    """Return a record as JSON: items with a place are put there, and null where there is none.

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


#: A code alone, as far as nobody would write a label so: GRM, MARKS_SPENCER, 10000043.
_CODE = re.compile(r"[A-Z0-9][A-Z0-9_.:/+-]*")
_ENDS_IN_WORD = re.compile(r"\d\s*\D+$")
#: Kinds of cells that have no value, and why.
VALUELESS = {
    "error": "it holds the error {text}",
    "formula": "the result of its formula is not stored: open the file in a spreadsheet and save it",
    "unreadable": "{problem}",
}
#: What a spreadsheet made of what was typed, where its column has texts or codes: 0012, MAR1, 1E2, TRUE.
_RETYPED = {"number": "a number", "percentage": "a percentage", "date": "a date", "boolean": "true or false"}
_WORDS = frozenset({ColumnContent.TEXT, ColumnContent.CODE, ColumnContent.STRING, ColumnContent.PLAIN_CODE})


def value_of(cell: Cell, heading: Heading) -> Any:  # noqa: PLR0912 - one branch for each kind of content
    """Return the value of a cell as it is in a record: of a text or a number with a unit, what belongs under `data`.

    Raises
    ------
    AnswerRefused
        When it cannot be understood; the message says why.

    Examples
    --------
    >>> value_of(Cell("Sea salt∣SALT", "text"), Heading(None, ColumnContent.CODE))
    {'code': 'SALT', 'label': 'Sea salt'}
    >>> value_of(Cell("0,5", "text"), Heading(None, ColumnContent.NUMBER))
    0.5
    >>> value_of(Cell("20.11.2026", "text"), Heading(None, ColumnContent.MOMENT))
    '2026-11-20T00:00:00'
    >>> value_of(Cell("12", "number", "0012"), Heading(None, ColumnContent.CODE))
    {'code': '0012'}
    """
    if (why := VALUELESS.get(cell.kind)) is not None:
        raise AnswerRefused(why.format(text=cell.text[:20], problem=cell.problem))
    if cell.is_struck:
        raise AnswerRefused("it is struck through, as a whole or in part")
    if heading.problem:
        raise AnswerRefused(heading.problem)
    if heading.content in _WORDS or heading.content is ColumnContent.GTIN:
        cell = _as_typed(cell, heading)
    match heading.content:
        case ColumnContent.GTIN:
            return _gtin_of_cell(cell.text)
        case ColumnContent.TEXT:
            return cell.text
        case ColumnContent.QUANTITY:
            return _quantity(cell, heading.unit)
        case ColumnContent.CODE:
            return _code_object(cell.text)
        case ColumnContent.OPEN:
            return _value_of_cell_kind(cell)
    if heading.content is ColumnContent.STRING:
        return cell.text
    # The label beside the code of a plain value has no place in a record.
    both = label_and_code(cell.text)
    text = both[1] if both is not None else cell.text.strip()
    match heading.content:
        case ColumnContent.BOOLEAN:
            return read_boolean(text)
        case ColumnContent.INTEGER:
            return _integer(text, cell)
        case ColumnContent.NUMBER:
            return _number_of_cell(text, cell)
        case ColumnContent.MOMENT:
            return _timestamp_text(text)
    return text


def _as_typed(cell: Cell, heading: Heading) -> Cell:
    """Return a cell of texts, codes or GTINs as its spreadsheet shows it, which changes what looks like a number."""
    if cell.shown is not None:
        return Cell(cell.shown, "text")
    # An id is a number, and a GTIN has the same digits with zeros before them and without.
    is_number = heading.content is ColumnContent.GTIN or (
        heading.path is not None and heading.path.attribute == "id"
    )
    if cell.kind not in _RETYPED or (is_number and cell.kind == "number"):
        return cell
    raise AnswerRefused(
        f"its spreadsheet has made {_RETYPED[cell.kind]} of what was typed. Format the column as text, and type it "
        "again"
    )


def _gtin_of_cell(text: str) -> str:
    try:
        gtin = comparable(text)
    except InputError as error:
        raise AnswerRefused(str(error)) from None
    if gtin is None or not has_digits(gtin):
        raise AnswerRefused(str(no_gtin(text, f"{text!r:.60}")).removesuffix("."))
    return gtin


def _number_of_cell(text: str, cell: Cell) -> int | float:
    return read_number(text, is_stored=cell.kind in ("number", "percentage"))


def _integer(text: str, cell: Cell) -> int:
    value = _number_of_cell(text, cell)
    if not isinstance(value, int):
        raise AnswerRefused(f"{text!r:.60} is not a whole number")
    return value


def _quantity(cell: Cell, unit: Mapping[str, str] | None) -> int | float:
    if unit is None:
        raise AnswerRefused("neither row 6 nor the cell names a unit")
    try:
        return _number_of_cell(cell.text, cell)
    except AnswerRefused as error:
        # The unit may be repeated beside the number.
        if not _ENDS_IN_WORD.search(cell.text):
            raise
        try:
            value, code = UNITS.quantity(cell.text)
        except AnswerRefused:
            raise error from None
    if code != unit["code"]:
        raise AnswerRefused(f"{cell.text!r:.60} is in {code}, and its column in {unit['code']}")
    return value


def _code_object(text: str) -> dict[str, str]:
    if (both := label_and_code(text)) is not None:
        label, code = both
        return {"code": code, "label": label} if label else {"code": code}
    word = as_one_line(text)
    # A label is shown as it was typed, also where it has several lines.
    return {"code": word} if _CODE.fullmatch(word) else {"label": text.strip()}


def _timestamp_text(text: str) -> str:
    try:
        found = written_date(text)
    except InputError as error:
        raise AnswerRefused(str(error)) from None
    # A date in a workbook is its midnight.
    return (found if isinstance(found, datetime) else datetime.combine(found, time.min)).isoformat()


def _value_of_cell_kind(cell: Cell) -> Any:
    if cell.kind == "boolean":
        return cell.text == "true"
    if cell.kind in ("number", "percentage"):
        # Zeros before it make it a code.
        is_code = cell.shown is not None and cell.shown.isdecimal()
        return cell.shown if is_code else read_number(cell.text, is_stored=True)
    both = label_and_code(cell.text, is_code=False)
    return cell.text if both is None else {"code": both[1], "label": both[0]}

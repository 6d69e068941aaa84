"""Answers about logistical hierarchies: "34142363314282: gross weight 1.4 kg", "34142363314282: 8 x 04142363314281".

A line is about one unit of the hierarchy, which its GTIN names; lines may also be separated by semicolons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

from prodex import gtin
from prodex.changes import ABSENT, Change, PlaceChanged, apply, step_to
from prodex.changes.change import Path
from prodex.errors import InputError
from prodex.gtin import gtin_key
from prodex.languages import Message
from prodex.languages.recognized import spellings
from prodex.phrases import nearest, unaccented
from prodex.send.merging import join_changes
from prodex.worklists.answer_changes import AnswerChange, AnswerChanges, merge_agreeing
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, as_one_line, read_boolean, read_number
from prodex.worklists.items import ItemAnswer, ItemEvidence, is_code, is_quantity, read_items

#: How to answer, for the worklist.
HOW = Message(
    "One line for each correction, the GTIN of the unit first: 34142363314282: gross weight 1.4 kg; 34142363314282: "
    "8 x 04142363314281; 34142363314282: orderable unit true. 0 x GTIN takes a unit out."
)

_LINE = re.compile(r"([^:]+?)\s*:\s*(.+)")
_CONTENT = re.compile(r"([^A-Za-z\s].*?)\s*[x×*]\s*([0-9].*)", re.IGNORECASE)
_MOST = 10_000_000
_ROOT = "logisticalHierarchies"


class _Unit(NamedTuple):
    """A unit of a hierarchy, and where it is."""

    path: Path
    node: Any


_QUANTITIES = ("grossWeight", "netWeight", "height", "width", "depth")
_FLAGS = ("isConsumerUnit", "isDespatchUnit", "isOrderableUnit", "isInvoiceUnit", "isDisplayUnit")
#: What people call each field: "gross weight", "orderable unit"; its wire name is understood, too.
FIELDS = {
    name: re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().removeprefix("is ")
    for name in (*_QUANTITIES, *_FLAGS)
} | {"typePackaging": "type of packaging"}


@cache
def _fields_in_words() -> dict[str, re.Pattern[str]]:
    """Return what finds each field, by its wire name or by what people call it in any language, and its value."""
    found = {}
    for name, called in FIELDS.items():
        spelled = {one for word in spellings(called) for one in (word, unaccented(word))}
        # The longest first: a field may be called like the beginning of another.
        words = "|".join(
            re.escape(one).replace(r"\ ", r"\s+") for one in sorted(spelled, key=len, reverse=True)
        )
        found[name] = re.compile(
            rf"(?:{name}|(?:is )?(?:{words}))(?=[\s=:])[\s=:]*(.*)", re.IGNORECASE | re.DOTALL
        )
    return found


def read_hierarchy_answer(product: str, value: Any, text: str, own: str, words: Vocabulary) -> AnswerChanges:
    """Return what an answer says of the hierarchies of a product, line by line.

    Parameters
    ----------
    product
        The key of the product.
    value
        What the product has under `logisticalHierarchies`.
    text
        The answer.
    own
        GTIN of the product, which a new hierarchy has to contain.
    words
        Units and codes of the catalogue.

    Raises
    ------
    AnswerRefused
        When a line cannot be understood, no unit has its GTIN, or it is not certain which is meant.

    Examples
    --------
    >>> said = read_hierarchy_answer("7", None, "34142363314282: 8 x 04142363314281", "04142363314281", Vocabulary())
    >>> said.after, said.changes[-1].after
    ('34142363314282: 8 x 04142363314281', {'gtin': '04142363314281', 'quantity': 8, 'children': []})
    """
    if value is not None and not isinstance(value, list):
        raise _another_form()
    lines = [line for part in re.split("[;\n]", text) if (line := as_one_line(part))]
    if not lines:
        raise AnswerRefused.saying("the answer is empty. {how}", how=HOW)
    said: list[AnswerChange] = []
    for line in lines:
        found = [*_said_in_line(product, value or [], line, own, words)]
        said += found
        try:
            # The next line may be about a unit that this one adds.
            value = apply({_ROOT: value}, join_changes(one.change for one in found))[_ROOT]
        except PlaceChanged:
            raise _another_form() from None
    return merge_agreeing(said)


def _said_in_line(
    product: str, trees: list[Any], line: str, own: str, words: Vocabulary
) -> Iterator[AnswerChange]:
    found = _LINE.fullmatch(line)
    if found is None:
        raise AnswerRefused.saying(
            "{text} does not begin with the GTIN of a unit and a colon. {how}", text=f"{line!r:.80}", how=HOW
        )
    unit = _normal_gtin(found[1])
    if (content := _CONTENT.fullmatch(found[2])) is None:
        return _said_of_field(product, trees, unit, found[2], words)
    return _said_of_content(product, trees, unit, _times(content[1]), _normal_gtin(content[2]), own)


def _times(text: str) -> int:
    times = read_number(text)
    if not isinstance(times, int) or not 0 <= times < _MOST:
        raise AnswerRefused.saying(
            "{text} is not a whole number of units. Write digits, such as 8.", text=f"{text!r:.40}"
        )
    return times


def _normal_gtin(text: str) -> str:
    try:
        return gtin.normal_form(text)
    except InputError as error:
        raise AnswerRefused.by(error) from None


def _units_with_gtin(trees: list[Any], wanted: str) -> list[_Unit]:
    """Return every unit of the hierarchies with this GTIN."""
    return [one for one in _all_units(trees) if _is_unit(one.node, wanted)]


def _is_unit(node: Any, wanted: str) -> bool:
    return isinstance(node, dict) and node.get("gtin") is not None and gtin_key(node["gtin"]) == wanted


def _said_of_content(
    product: str, trees: list[Any], unit: str, times: int, inner: str, own: str
) -> Iterator[AnswerChange]:
    """Yield how many of an inner unit another one is to hold; none takes it out."""
    holders = _units_with_gtin(trees, unit)
    if not holders:
        if trees or gtin_key(inner) != gtin_key(own):
            raise _unknown_unit(trees, unit)
        made = {"gtin": unit, "quantity": 1, "children": []}
        holders = [_Unit((_ROOT, step_to([made], 0, "gtin")), made)]
        if times:
            yield AnswerChange(Change(product, holders[0].path, ABSENT, made), None, None)
    after = f"{unit}: {times} x {inner}" if times else None
    for path, holder in holders:
        held = holder.get("children")
        children = held if isinstance(held, list) else []
        same = [place for place, child in enumerate(children) if _is_unit(child, inner)]
        if len(same) > 1:
            raise AnswerRefused.saying(
                "{unit} holds {code} {count:d} times, and it is not certain which is meant. Correct it at its source.",
                unit=unit,
                code=inner,
                count=len(same),
            )
        if not same:
            added = {"gtin": inner, "quantity": times, "children": []}
            step = step_to([*children, added], len(children), "gtin")
            change = Change(product, (*path, "children", step), ABSENT, added if times else ABSENT)
            yield AnswerChange(change, None, after)
            continue
        child, place = children[same[0]], (*path, "children", step_to(children, same[0], "gtin"))
        before = f"{unit}: {child.get('quantity')} x {inner}"
        if times:
            change = Change(product, (*place, "quantity"), child.get("quantity", ABSENT), times)
        else:
            change = Change(product, place, child, ABSENT)
        yield AnswerChange(change, before, after)


def _said_of_field(
    product: str, trees: list[Any], unit: str, text: str, words: Vocabulary
) -> Iterator[AnswerChange]:
    known = _fields_in_words()
    named = {name: found[1] for name, one in known.items() if (found := one.fullmatch(text.strip()))}
    if len(named) > 1:
        raise AnswerRefused.saying(
            "{text} may be {values}: the word means both in different languages. Write which one.",
            text=f"{text!r:.60}",
            values=" or ".join(named),
        )
    field, typed = next(iter(named.items()), ("", ""))
    if not typed.strip():
        word = re.split(r"\s*[=:\d]|\s+(?:true|false|yes|no)\b", text.strip(), maxsplit=1)[0]
        shown = f"{text!r:.60}"
        if near := nearest(word, FIELDS.values()):
            raise AnswerRefused.saying(
                "{text} is not a field with its value; did you mean {near}?", text=shown, near=repr(near)
            )
        raise AnswerRefused.saying(
            "{text} is not a field with its value. Give one of {labels}.",
            text=shown,
            labels=", ".join(FIELDS.values()),
        )
    nodes = _units_with_gtin(trees, unit)
    if not nodes:
        raise _unknown_unit(trees, unit)
    for one in nodes:
        path, holder = _holder(trees, one, field)
        was = holder.get(field, ABSENT)
        said = _said_of_value(product, was, field, typed.strip(), words)
        name = f"{unit}: {field}"
        sides = (None if side is None else f"{name} {side}" for side in (said.before, said.after))
        new = apply({field: was}, said.changes)[field]
        yield AnswerChange(Change(product, (*path, field), was, new), *sides)


def _said_of_value(product: str, value: Any, field: str, typed: str, words: Vocabulary) -> AnswerChanges:
    """Return what is said of the field of a unit."""
    if field in _FLAGS:
        return AnswerChanges.of([Change(product, (field,), value, read_boolean(typed))])
    is_one: Callable[[Any], bool]
    if field in _QUANTITIES:
        quantity, unit = words.quantity(typed)
        new: Any = {"data": quantity, "expressedIn": {"code": unit}}
        is_one, in_list = is_quantity, True
    else:
        new, is_one, in_list = {"code": words.code("typePackaging", typed)}, is_code, False
    held = None if value is ABSENT else value
    answer = [ItemAnswer(new)]
    return read_items(
        product, held, answer, ItemEvidence(), root=field, is_one=is_one, in_list=in_list, words=words
    ).said


def _holder(trees: list[Any], unit: _Unit, field: str) -> tuple[Path, dict[str, Any]]:
    """Return what holds the attributes of a unit: itself, or its `version`, as services send one or the other."""
    path, node = unit
    version = node.get("version")
    if isinstance(version, dict):
        if field in version and field in node:
            raise AnswerRefused.saying(
                "the product has {path} of this unit in two places. Correct it at its source.", path=field
            )
        return unit if field in node else ((*path, "version"), version)
    if version is not None:
        raise _another_form()
    if field in node or any(name in one.node for one in _all_units(trees) for name in FIELDS):
        return unit
    return (*path, "version"), {}


def _unknown_unit(trees: list[Any], unit: str) -> AnswerRefused:
    known = sorted({str(one.node.get("gtin")) for one in _all_units(trees)})
    if not known:
        return AnswerRefused.saying("no unit of the hierarchies has the GTIN {unit}.", unit=unit)
    return AnswerRefused.saying(
        "no unit of the hierarchies has the GTIN {unit}; give one of {units}.",
        unit=unit,
        units=", ".join(known[:10]),
    )


def _another_form() -> AnswerRefused:
    return AnswerRefused.saying("the product has hierarchies of another form. Correct it at its source.")


def _all_units(trees: list[Any]) -> Iterator[_Unit]:
    stack = _units_in((_ROOT,), trees)
    while stack:
        unit = stack.pop()
        if isinstance(unit.node, dict):
            yield unit
            stack += _units_in((*unit.path, "children"), unit.node.get("children"))


def _units_in(path: Path, nodes: Any) -> list[_Unit]:
    """Return the units in a list of them, each with the path to it."""
    listed = nodes if isinstance(nodes, list) else []
    return [_Unit((*path, step_to(listed, place, "gtin")), one) for place, one in enumerate(listed)]

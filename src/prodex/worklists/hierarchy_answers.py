"""Answers about logistical hierarchies: "34142363314282: gross weight 1.4 kg", "34142363314282: 8 x 04142363314281".

A line is about one unit of the hierarchy, which its GTIN names; lines may also be separated by semicolons.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from prodex import gtin
from prodex.errors import InputError
from prodex.gtin import gtin_key
from prodex.messages import hint, unaccented
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, as_one_line, boolean, number
from prodex.worklists.items import ItemAnswer, ItemEdit, ItemEvidence, is_code, is_quantity, planned, readable
from prodex.worklists.layout import in_all_languages

#: How to answer, for the worklist.
HOW = (
    "One line for each correction, the GTIN of the unit first: 34142363314282: gross weight 1.4 kg; 34142363314282: "
    "8 x 04142363314281; 34142363314282: orderable unit true. 0 x GTIN takes a unit out."
)

_LINE = re.compile(r"([^:]+?)\s*:\s*(.+)")
_CONTENT = re.compile(r"([^A-Za-z\s].*?)\s*[x×*]\s*([0-9].*)", re.IGNORECASE)
_MOST = 10_000_000
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
        spellings = {one for word in in_all_languages(called) for one in (word, unaccented(word))}
        # The longest first: a field may be called like the beginning of another.
        words = "|".join(
            re.escape(one).replace(r"\ ", r"\s+") for one in sorted(spellings, key=len, reverse=True)
        )
        found[name] = re.compile(
            rf"(?:{name}|(?:is )?(?:{words}))(?=[\s=:])[\s=:]*(.*)", re.IGNORECASE | re.DOTALL
        )
    return found


def with_units(value: Any, text: str, own: str, words: Vocabulary) -> tuple[Any, list[ItemEdit]]:
    """Return the hierarchies of a product with the corrections of an answer, and what becomes of each place.

    Parameters
    ----------
    value
        What the product has under `logisticalHierarchies`; stays as it is.
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
    >>> made, edits = with_units(None, "34142363314282: 8 x 04142363314281", "04142363314281", Vocabulary())
    >>> made[0]["gtin"], made[0]["children"][0]["quantity"]
    ('34142363314282', 8)
    >>> edits[0].after
    '34142363314282: 8 x 04142363314281'
    """
    if value is not None and not isinstance(value, list):
        raise AnswerRefused("the product has hierarchies of another form. Correct it at its source.")
    trees = copy.deepcopy(value or [])
    lines = [line for part in re.split("[;\n]", text) if (line := as_one_line(part))]
    if not lines:
        raise AnswerRefused(f"the answer is empty. {HOW}")
    edits = [edit for line in lines for edit in _corrected(trees, line, own, words)]
    after_by_place: dict[str, str | None] = {}
    for edit in edits:
        if after_by_place.setdefault(edit.place, edit.after) != edit.after:
            raise AnswerRefused(
                f"the answer has {after_by_place[edit.place]} and {edit.after}. Write one of them."
            )
    # What says nothing new changes nothing, such as null where a list of units could be.
    return (trees if any(edit.before != edit.after for edit in edits) else value), edits


def _corrected(trees: list[Any], line: str, own: str, words: Vocabulary) -> Iterator[ItemEdit]:
    """Correct what a line names, and yield what becomes of it."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise AnswerRefused(f"{line!r:.80} does not begin with the GTIN of a unit and a colon. {HOW}")
    unit = _normal_gtin(found[1])
    if (content := _CONTENT.fullmatch(found[2])) is not None:
        yield from _set_content(trees, unit, _times(content[1]), _normal_gtin(content[2]), own)
    else:
        yield from _set_field(trees, unit, found[2], words)


def _times(text: str) -> int:
    times = number(text)
    if not isinstance(times, int) or not 0 <= times < _MOST:
        raise AnswerRefused(f"{text!r:.40} is not a whole number of units. Write digits, such as 8.")
    return times


def _normal_gtin(text: str) -> str:
    try:
        return gtin.normal_form(text)
    except InputError as error:
        raise AnswerRefused(str(error)) from None


def _units_with_gtin(trees: list[Any], wanted: str) -> list[dict[str, Any]]:
    """Return every unit of the hierarchies with this GTIN."""
    return [node for node in _all_units(trees) if _is_unit(node, wanted)]


def _is_unit(node: Any, wanted: str) -> bool:
    return isinstance(node, dict) and node.get("gtin") is not None and gtin_key(node["gtin"]) == wanted


def _set_content(trees: list[Any], unit: str, times: int, inner: str, own: str) -> Iterator[ItemEdit]:
    """Set how many of an inner unit another one holds; none takes it out."""
    holders = _units_with_gtin(trees, unit)
    if not holders:
        if trees or gtin_key(inner) != gtin_key(own):
            raise _unknown_unit(trees, unit)
        holders = [{"gtin": unit, "quantity": 1, "children": []}]
        trees += holders
    for holder in holders:
        held = holder.get("children")
        children = held if isinstance(held, list) else []
        same = [child for child in children if _is_unit(child, inner)]
        if len(same) > 1:
            raise AnswerRefused(
                f"{unit} holds {inner} {len(same)} times, and it is not certain which is meant. Correct it at its "
                "source."
            )
        place, after = f"logisticalHierarchies {unit} > {inner}", f"{unit}: {times} x {inner}"
        before = f"{unit}: {same[0].get('quantity')} x {inner}" if same else None
        yield ItemEdit(place, before, after if times else None)
        if not times:
            if same:
                holder["children"] = [child for child in children if child is not same[0]]
        elif same:
            same[0]["quantity"] = times
        else:
            holder["children"] = [*children, {"gtin": inner, "quantity": times, "children": []}]


def _set_field(trees: list[Any], unit: str, text: str, words: Vocabulary) -> Iterator[ItemEdit]:
    known = _fields_in_words()
    named = {name: found[1] for name, one in known.items() if (found := one.fullmatch(text.strip()))}
    if len(named) > 1:
        both = " or ".join(named)
        raise AnswerRefused(
            f"{text!r:.60} may be {both}: the word means both in different languages. Write which one."
        )
    field, typed = next(iter(named.items()), ("", ""))
    if not typed.strip():
        word = re.split(r"\s*[=:\d]|\s+(?:true|false|yes|no)\b", text.strip(), maxsplit=1)[0]
        near = hint(word, FIELDS.values(), f"Give one of {', '.join(FIELDS.values())}.")
        raise AnswerRefused(f"{text!r:.60} is not a field with its value{near}")
    nodes = _units_with_gtin(trees, unit)
    if not nodes:
        raise _unknown_unit(trees, unit)
    change = _value_of(field, typed.strip(), words)
    for node in nodes:
        holder = _holder(trees, node, field)
        holder[field], before, after = change(holder.get(field))
        name = f"{unit}: {field}"
        yield ItemEdit(
            f"logisticalHierarchies {name}", None if before is None else f"{name} {before}", f"{name} {after}"
        )


def _value_of(
    field: str, typed: str, words: Vocabulary
) -> Callable[[Any], tuple[Any, str | None, str | None]]:
    """Return what makes the new value of a field of the present one, with what is there and is to be there."""
    if field in _FLAGS:
        flag = boolean(typed)
        return lambda before: (flag, None if before is None else readable(before), readable(flag))
    is_one: Callable[[Any], bool]
    if field in _QUANTITIES:
        quantity, unit = words.quantity(typed)
        new: Any = {"data": quantity, "expressedIn": {"code": unit}}
        is_one, in_list = is_quantity, True
    else:
        new, is_one, in_list = {"code": words.code("typePackaging", typed)}, is_code, False

    def changed(before: Any) -> tuple[Any, str | None, str | None]:
        answer = [ItemAnswer(new)]
        plan = planned(
            before, answer, ItemEvidence(), root=field, is_one=is_one, in_list=in_list, words=words
        )
        (edit,) = plan.edits
        return plan(before), edit.before, edit.after

    return changed


def _holder(trees: list[Any], node: dict[str, Any], field: str) -> dict[str, Any]:
    """Return what holds the attributes of a unit: itself, or its `version`, as services send one or the other."""
    version = node.get("version")
    if isinstance(version, dict):
        if field in version and field in node:
            raise AnswerRefused(
                f"the product has {field} of this unit in two places. Correct it at its source."
            )
        return node if field in node else version
    if version is not None:
        raise AnswerRefused("the product has hierarchies of another form. Correct it at its source.")
    if field in node or any(name in one for one in _all_units(trees) for name in FIELDS):
        return node
    made: dict[str, Any] = {}
    node["version"] = made
    return made


def _unknown_unit(trees: list[Any], unit: str) -> AnswerRefused:
    known = sorted({str(node.get("gtin")) for node in _all_units(trees)})
    there = f"; give one of {', '.join(known[:10])}" if known else ""
    return AnswerRefused(f"no unit of the hierarchies has the GTIN {unit}{there}.")


def _all_units(trees: list[Any]) -> Iterator[dict[str, Any]]:
    stack = list(trees)
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            children = node.get("children")
            stack += children if isinstance(children, list) else []

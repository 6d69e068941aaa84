"""Answers about logistical hierarchies: "34142363314282: grossWeight 1.4 kg", "34142363314282: 8 x 04142363314281".

A line is about one unit of the hierarchy, which its GTIN names; lines may also be separated by semicolons.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from prodex import gtin
from prodex.errors import InputError
from prodex.fix.words import AnswerRefused, Vocabulary, as_one_line, boolean
from prodex.text import hint

#: How to answer, for the worklist.
HOW = (
    "One line for each correction, the GTIN of the unit first: 34142363314282: grossWeight 1.4 kg; 34142363314282: 8 x "
    "04142363314281; 34142363314282: isOrderableUnit true. 0 x GTIN takes a unit out."
)

_LINE = re.compile(r"(\d[\d ]{6,16}\d)\s*:\s*(.+)")
_CONTENT = re.compile(r"(\d{1,7})\s*[x×*]\s*(\d[\d ]{6,16}\d)", re.IGNORECASE)
_QUANTITIES = ("grossWeight", "netWeight", "height", "width", "depth")
_FLAGS = ("isConsumerUnit", "isDespatchUnit", "isOrderableUnit", "isInvoiceUnit", "isDisplayUnit")
_FIELDS = {name.casefold(): name for name in (*_QUANTITIES, *_FLAGS, "typePackaging")}


def with_units(value: Any, text: str, own: str, words: Vocabulary) -> Any:
    """Return the hierarchies of a product with the corrections of an answer.

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
        When a line cannot be understood, or no unit has its GTIN.

    Examples
    --------
    >>> made = with_units(None, "34142363314282: 8 x 04142363314281", "04142363314281", Vocabulary())
    >>> made[0]["gtin"], made[0]["children"][0]["quantity"]
    ('34142363314282', 8)
    """
    if value is not None and not isinstance(value, list):
        raise AnswerRefused("the product has hierarchies of another form. Correct it at its source.")
    trees = copy.deepcopy(value or [])
    lines = [line for part in re.split("[;\n]", text) if (line := as_one_line(part))]
    if not lines:
        raise AnswerRefused(f"the answer is empty. {HOW}")
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            raise AnswerRefused(f"{line!r:.80} does not begin with the GTIN of a unit and a colon. {HOW}")
        unit = _gtin(found[1])
        if (content := _CONTENT.fullmatch(found[2])) is not None:
            _set_content(trees, unit, int(content[1]), _gtin(content[2]), own)
        else:
            _set_field(list(_units(trees, unit)), unit, found[2], words)
    return trees


def _gtin(digits: str) -> str:
    try:
        return gtin.normal_form(digits.replace(" ", ""))
    except InputError as error:
        raise AnswerRefused(str(error)) from None


def _units(trees: Any, wanted: str) -> Iterator[dict[str, Any]]:
    """Yield every unit of the hierarchies with this GTIN."""
    stack = list(trees) if isinstance(trees, list) else []
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if gtin.comparable(node.get("gtin")) == gtin.comparable(wanted):
                yield node
            children = node.get("children")
            stack += children if isinstance(children, list) else []


def _set_content(trees: list[Any], unit: str, times: int, inner: str, own: str) -> None:
    """Set how many of an inner unit another one holds; none takes it out."""
    holders = list(_units(trees, unit))
    if not holders:
        if trees or gtin.comparable(inner) != gtin.comparable(own):
            raise _unknown(trees, unit)
        holders = [{"gtin": unit, "quantity": 1, "children": []}]
        trees += holders
    for holder in holders:
        held = holder.get("children")
        children = held if isinstance(held, list) else []
        same = [
            child
            for child in children
            if isinstance(child, dict) and gtin.comparable(child.get("gtin")) == gtin.comparable(inner)
        ]
        if not times:
            holder["children"] = [child for child in children if not any(child is one for one in same)]
        elif same:
            same[0]["quantity"] = times
        else:
            holder["children"] = [*children, {"gtin": inner, "quantity": times, "children": []}]


def _set_field(nodes: list[dict[str, Any]], unit: str, text: str, words: Vocabulary) -> None:
    word, _, typed = text.replace("=", " ").replace(":", " ").strip().partition(" ")
    field = _FIELDS.get(word.casefold())
    if field is None or not typed.strip():
        near = hint(word, _FIELDS.values(), f"There are {', '.join(_FIELDS.values())}.")
        raise AnswerRefused(f"{text!r:.60} is no field with its value{near}")
    if not nodes:
        raise AnswerRefused(f"no unit of the hierarchies has the GTIN {unit}.")
    value: Any
    if field in _QUANTITIES:
        quantity, code = words.quantity(typed)
        value = [{"data": quantity, "expressedIn": {"code": code}}]
    elif field in _FLAGS:
        value = boolean(typed)
    else:
        value = {"code": words.code("typePackaging", typed)}
    for node in nodes:
        version = node.get("version")
        node["version"] = {**(version if isinstance(version, dict) else {}), field: value}


def _unknown(trees: list[Any], unit: str) -> AnswerRefused:
    known = sorted({str(node.get("gtin")) for node in _all(trees)})
    return AnswerRefused(
        f"no unit of the hierarchies has the GTIN {unit}; there are {', '.join(known[:10])}."
    )


def _all(trees: list[Any]) -> Iterator[dict[str, Any]]:
    stack = list(trees)
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            children = node.get("children")
            stack += children if isinstance(children, list) else []

"""Values and changes as people read them."""

from __future__ import annotations

from typing import Any

from prodex.changes.change import Change, Item, Path, absence_of, path_of
from prodex.tables.values import storable
from prodex.written_json import written_json


def in_words(value: Any, *, labelled: bool = False) -> str:
    """Return a value of a record as text: a code, an amount with its unit, the letters of a text; "" of no value.

    Half of a character, which nothing can show, is its escape.

    Parameters
    ----------
    value
        A value of JSON, or an absence.
    labelled
        Whether the label of a code follows it.

    Examples
    --------
    >>> in_words([{"data": 500, "expressedIn": {"code": "GRM"}}, {"code": "COLD"}, True])
    '500 GRM; COLD; true'
    >>> in_words({"code": "FR", "label": "France"}, labelled=True), in_words(None), in_words({"width": 1.5})
    ('FR (France)', '', 'width: 1.5')
    """
    if absence_of(value) is not None:
        return ""
    match value:
        case {"data": str(text), "expressedIn": {}}:
            return storable(text)
        case {"data": amount, "expressedIn": {"code": unit}}:
            return f"{in_words(amount)} {unit}"
        case {"code": code}:
            label = value.get("label")
            is_more = labelled and isinstance(label, str) and label != str(code)
            return f"{code} ({label})" if is_more else str(code)
        case {"label": str(label)}:
            return label
        case list():
            return "; ".join(in_words(one, labelled=labelled) for one in value)
        case dict():
            return ", ".join(f"{name}: {in_words(one, labelled=labelled)}" for name, one in value.items())
    return storable(value) if isinstance(value, str) else written_json(value)


def place_in_words(path: Path) -> str:
    """Return a place as people name it: the attribute, and what tells its item from others.

    >>> place_in_words(("namePublicLong", Item("language", "fra-FR"), "data")), place_in_words(())
    ('namePublicLong (fra-FR)', 'the product')
    """
    names = wire_path(path) or "the product"
    items = [step for step in path if isinstance(step, Item | int)]
    return names + (f" ({' / '.join(map(item_in_words, items))})" if items else "")


def wire_path(path: Path) -> str:
    """Return the wire path of a place, as the tables have it: without the items of lists, and without `data` of a text.

    >>> wire_path(("productBenefits", 0, "text", Item("language", "fra-FR"), "data"))
    'productBenefits.text'
    """
    names = [step for step in path if isinstance(step, str)]
    return ".".join(names[:-1] if names[1:] and names[-1] == "data" else names)


def change_in_words(change: Change) -> str:
    """Return a change as one line.

    >>> change_in_words(Change("7", ("serves",), None, 4))
    'serves: nothing -> 4'
    """
    if change.is_order:
        return f"{place_in_words(change.path)}: another order"
    sides = (in_words(one) or "nothing" for one in (change.before, change.after))
    return f"{place_in_words(change.path)}: {' -> '.join(sides)}"


def sides_in_words(change: Change) -> tuple[str, str]:
    """Return what is there and what is to be there; of an order, the items that come in between others.

    >>> from prodex.changes import ORDER
    >>> sides_in_words(Change("7", ("isTaggedBy", ORDER), [[None, ["value", "a"], ["value", "b"]]], []))
    ('a; b', '')
    """
    if not change.is_order:
        return in_words(change.before), in_words(change.after)
    before, after = (
        "; ".join(
            item_in_words(step) for run in runs for step in path_of(run[1:]) if isinstance(step, Item | int)
        )
        for runs in (change.before, change.after)
    )
    return before, after


def item_in_words(step: Item | int) -> str:
    """Return what an item is known by, and which one it is where there are several.

    >>> item_in_words(2), item_in_words(Item("code", "COLD")), item_in_words(Item("code", "COLD", 1, 2))
    ('2', 'COLD', 'COLD (no. 2)')
    """
    if not isinstance(step, Item):
        return str(step)
    is_one_of = step.of > 1 or step.number > 0
    return f"{step.value} (no. {step.number + 1})".strip() if is_one_of else step.value

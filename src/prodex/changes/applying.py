"""Changes are made and taken back; a place that holds something else than a change expects is never replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from prodex.changes.change import (
    ABSENT,
    NOT_ASKED,
    Change,
    Item,
    NoValue,
    Path,
    Step,
    absence_of,
    step_of,
)
from prodex.changes.identity import path_after, place_of, places_of
from prodex.changes.sameness import MAINTAINED_BY_SERVICE, is_nothing, is_same
from prodex.written_json import unwritable, why_unwritable


class PlaceChanged(Exception):
    """A place holds neither what it held before a change, nor what it is to hold.

    Attributes
    ----------
    change
        The change.
    found
        What the place holds.
    """

    def __init__(self, change: Change, found: Any) -> None:
        super().__init__(change, found)
        self.change = change
        self.found = found


def apply(product: Any, changes: Iterable[Change]) -> Any:
    """Return a record with some changes; the one that is given stays as it is, and what did not change is shared.

    A change that is made already stays made. What is beside the changed places is written as before, to the spelling of
    its numbers and the order of its keys.

    Parameters
    ----------
    product
        The record, or ABSENT.
    changes
        Its changes, one after the other; orders are restored at the end.

    Raises
    ------
    PlaceChanged
        When a place holds something else than a change expects.

    Examples
    --------
    >>> from prodex.changes import diff
    >>> old, new = {"id": 7, "isTaggedBy": ["new"]}, {"id": 7, "isTaggedBy": ["big", "new"]}
    >>> changes = diff(old, new)
    >>> apply(old, changes) == new, apply({"id": 7, "isTaggedBy": ["new", "own"]}, changes)
    (True, {'id': 7, 'isTaggedBy': ['big', 'new', 'own']})
    """
    orders = []
    for one in changes:
        if one.is_order:
            orders.append(one)
        elif not is_made(product, one) or is_same(one.before, one.after):
            _check_held(product, one)
            product = _with_value(product, one.path, one.after, one)
    for one in orders:
        if isinstance(now := value_at(product, one.path[:-1]), dict | list):
            product = _with_value(product, one.path[:-1], _ordered(now, one.after), one)
    return product


def inverse(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes that take some changes back, the last one first.

    Where there was nothing, null, something empty, or something that nobody asked for, there is the same afterwards:
    the four absences stay four. What of them a service cannot be told, `why_not_sendable` says.

    >>> [one.after for one in inverse([Change("7", ("serves",), None, 4), Change("7", ("shape",), ABSENT, [])])]
    [ABSENT, None]
    """
    return tuple(Change(one.product, path_after(one), one.after, one.before) for one in reversed([*changes]))


def is_made(product: Any, change: Change) -> bool:
    """Whether a record is already as a change makes it; an order that is another one hinders nothing.

    >>> change = Change("7", ("serves",), 4, 6)
    >>> is_made({"serves": 6.0}, change), is_made({"serves": 4}, change)
    (True, False)
    """
    if change.is_order:
        now = value_at(product, change.path[:-1])
        return isinstance(now, dict | list) and [*_keys(now)] == [*_keys(_ordered(now, change.after))]
    then = path_after(change)
    now = value_at(product, then)
    if not is_same(now, change.after):
        return False
    # Of an item that was replaced by another one, the old one is gone.
    old = now if then == change.path else value_at(product, change.path)
    return old is ABSENT or old is now


def check(product: Any, change: Change) -> None:
    """Check that a place holds what it held before a change, so that the change can be made.

    Raises
    ------
    PlaceChanged
        When it holds something else, or what it is within is gone.
    """
    if change.is_order:
        if not isinstance(now := value_at(product, change.path[:-1]), dict | list):
            raise PlaceChanged(change, now)
        return
    _check_held(product, change)
    _with_value(product, change.path, change.after, change)


def _check_held(product: Any, change: Change) -> None:
    then = path_after(change)
    old = value_at(product, change.path)
    new = old if then == change.path else value_at(product, then)
    if not is_same(old, change.before):
        raise PlaceChanged(change, new if old is ABSENT else old)
    # Where both are there already, one would be there twice.
    if then != change.path and new is not ABSENT and new is not old:
        raise PlaceChanged(change, [old, new])


def value_at(product: Any, path: Path) -> Any:
    """Return what a place holds; ABSENT where it is not there. Several items in place of one are a list of them.

    >>> value_at({"isTaggedBy": ["new", "big"]}, ("isTaggedBy", Item("value", "big"))), value_at({}, ("serves",))
    ('big', ABSENT)
    """
    at = product
    for step in path:
        match step, at:
            case str(), dict():
                at = at.get(step, ABSENT)
            case Item(), list():
                places = places_of(at, step)
                at = (
                    at[places[step.number]]
                    if len(places) == step.of
                    else [at[one] for one in places] or ABSENT
                )
            case int(), list():
                at = at[step] if step < len(at) else ABSENT
            case _:
                return at if at is NOT_ASKED else ABSENT
    return at


def _with_value(at: Any, path: Sequence[Step], value: Any, change: Change) -> Any:
    """Return a value with another one at a place below it, which is made where it is not there."""
    if not path:
        return value
    step, *rest = path
    if isinstance(step, str):
        made = {} if is_nothing(at) and not isinstance(at, dict) else at
        if not isinstance(made, dict):
            raise PlaceChanged(change, at)
        inner = _with_value(made.get(step, ABSENT), rest, value, change)
        return (
            {name: one for name, one in made.items() if name != step}
            if inner is ABSENT
            else made | {step: inner}
        )
    items = [] if is_nothing(at) else at
    if not isinstance(items, list):
        raise PlaceChanged(change, at)
    place = place_of(items, step) if isinstance(step, Item) else step if isinstance(step, int) else None
    if place is None or place >= len(items):
        # Nothing is added at an index: in a shorter list, it is the place of something else.
        if rest or value is ABSENT or not isinstance(step, Item):
            raise PlaceChanged(change, at)
        return [*items, value]
    inner = _with_value(items[place], rest, value, change)
    return [*items[:place], *([] if inner is ABSENT else [inner]), *items[place + 1 :]]


def _keys(container: Any) -> Iterator[Any]:
    return iter(container) if isinstance(container, dict) else map(id, container)


def _ordered(container: Any, runs: Sequence[Sequence[Any]]) -> Any:
    """Return a list or an object in another order: each run follows its first member, and the others stay."""
    keys = [*container] if isinstance(container, dict) else [*range(len(container))]

    def found(written: Any) -> Any:
        step = step_of(written)
        if isinstance(container, dict):
            return step if step in container else None
        return place_of(container, step) if isinstance(step, Item) else None

    places = [[None if one is None else found(one) for one in run] for run in runs]
    # Two that were apart may be one by now, where a language is written in another way: it is moved once.
    seen = {run[0] for run in places}
    known = []
    for (after, *members), run in zip(places, runs, strict=True):
        # Where the neighbour is gone, they stay where they are.
        if after is not None or run[0] is None:
            known.append(
                (after, [one for one in dict.fromkeys(members) if one is not None and one not in seen])
            )
            seen.update(members)
    moved = {one for _, members in known for one in members}
    made = [one for one in keys if one not in moved]
    for after, members in known:
        place = 0 if after is None else made.index(after) + 1
        made[place:place] = members
    return (
        {name: container[name] for name in made}
        if isinstance(container, dict)
        else [container[one] for one in made]
    )


def why_not_sendable(change: Change) -> str | None:
    """Return why a service cannot be told a change as it is; None where it can.

    A write replaces an attribute as a whole, or takes it away. So it knows one of the absences of an attribute only,
    and neither products that are to vanish, nor what the service maintains itself, nor what is no JSON.

    >>> [why_not_sendable(Change("7", ("serves",), 4, after)) for after in (6, ABSENT)]
    [None, None]
    >>> why_not_sendable(Change("7", ("serves",), 4, None))
    'null is written as absent: a write takes an attribute away in one way only'
    """
    after = change.after
    missing = absence_of(after)
    if not change.path:
        return "a write changes attributes of a product, and neither makes one nor takes it away"
    if change.before is NOT_ASKED or after is NOT_ASKED:
        return "it is not known what the place holds, since nobody asked for it"
    if change.attribute is None:
        return "the service orders the attributes of a product itself"
    if change.attribute in MAINTAINED_BY_SERVICE:
        return f"{change.attribute} is maintained by the service"
    if len(change.path) == 1 and missing in (NoValue.NULL, NoValue.EMPTY):
        return f"{missing.value} is written as absent: a write takes an attribute away in one way only"
    for path, wrong in unwritable(after, change.attribute):
        return f"{path} {why_unwritable(wrong)}"
    return None

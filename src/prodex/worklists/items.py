"""Which item of an attribute an answer means. That one is changed, and those beside it stay as they are.

An attribute may hold several quantities, codes or plain values. The item that an answer means is certain when

- the attribute has no other,
- the answer names it: `500 g -> 600 g`, `COLD -> (delete)`,
- the worklist showed it ("Value seen"), or named its position,
- it is the only quantity that measures the same (`600 g` is the weight, not the number of pieces), or
- the answer has all of them: `600 g; 12 pcs`.

Otherwise the answer is refused, with those that there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from prodex.errors import InputError
from prodex.send.merging import recoded
from prodex.send.records import DELETE
from prodex.worklists.answer_parsing import BARS, AnswerRefused, Vocabulary, as_one_line
from prodex.worklists.units import are_equal, dimension
from prodex.written_numbers import as_json, stored_number

#: Between what is there and what is to be there instead.
ARROW = re.compile(r"\s*(?:->|→|=>)\s*")


class ItemEdit(NamedTuple):
    """What an answer says of one place of a product.

    Attributes
    ----------
    place
        The place, which two answers have in common if they are about the same.
    before, after
        What is there, and what is to be there, as text; None where there is nothing.
    """

    place: str
    before: str | None
    after: str | None


class ItemAnswer(NamedTuple):
    """One part of an answer: an item as it is to be sent, or DELETE; and the one it names as that which is meant."""

    new: Any
    old: Any = None


class ItemEvidence(NamedTuple):
    """What a row says of the item that its answer means: the value that was seen there, and its position."""

    seen: str | None = None
    position: str | None = None


class _Change(NamedTuple):
    """The change of one item; `place` is None for an additional one, and `after` DELETE for one to be removed."""

    place: int | None
    before: Any
    after: Any


@dataclass(frozen=True)
class ItemPlan:
    """The changes that an answer makes to the items of one attribute; called with its value, it returns the new one.

    Attributes
    ----------
    root
        The attribute.
    changes
        By item.
    in_list
        Whether the new value is a list.
    """

    root: str
    changes: tuple[_Change, ...]
    in_list: bool

    @property
    def edits(self) -> tuple[ItemEdit, ...]:
        """What the answer says of each item."""
        named = [
            ItemEdit(
                f"{self.root}[{one.place}]",
                readable(one.before),
                None if one.after is DELETE else readable(one.after),
            )
            for one in self.changes
            if one.place is not None
        ]
        added = [readable(one.after) for one in self.changes if one.place is None]
        # Two answers that add different things are two lists of what there is.
        return (*named, *([ItemEdit(f"{self.root}[+]", None, "; ".join(added))] if added else []))

    def are_shown(self, seen: str | None, words: Vocabulary) -> bool:
        """Whether the items that change are what a worklist showed."""
        items = [one.before for one in self.changes if one.place is not None]
        return bool(seen and items) and all(is_shown(item, as_one_line(str(seen)), words) for item in items)

    def __call__(self, value: Any) -> Any:
        """Return the value with the changes; the value itself stays as it is."""
        items = list(value) if isinstance(value, list) else [] if value is None else [value]
        deleted = set()
        for place, before, after in self.changes:
            if place is None:
                items += [] if after in items else [after]
            elif (found := _place_of_item(items, place, before)) is None:
                if after is not DELETE and after not in items:
                    raise AnswerRefused(f"another answer changes {readable(before)} too. Keep one of them.")
            elif after is DELETE:
                deleted.add(found)
            else:
                items[found] = after
        kept = [item for place, item in enumerate(items) if place not in deleted]
        if isinstance(value, list) or (value is None and self.in_list):
            return kept if kept or value else value
        return kept[0] if kept else None


def _place_of_item(items: Sequence[Any], place: int, item: Any) -> int | None:
    """Return where an item is; other answers may have removed one before it."""
    if place < len(items) and items[place] == item:
        return place
    return next((number for number, one in enumerate(items) if one == item), None)


def planned(
    value: Any,
    parts: Sequence[ItemAnswer],
    evidence: ItemEvidence,
    *,
    root: str,
    is_one: Callable[[Any], bool],
    in_list: bool,
    words: Vocabulary,
) -> ItemPlan:
    """Return what an answer changes.

    Parameters
    ----------
    value
        What the product has.
    parts
        The answer.
    evidence
        What its row says of the item that is meant.
    root
        The attribute.
    is_one
        Whether an item is of the kind that the answer is; others stay beside it.
    in_list
        Whether the attribute is a list where the product has nothing yet.
    words
        Units of the catalogue.

    Raises
    ------
    AnswerRefused
        When it is not certain which item is meant.

    Examples
    --------
    >>> content = [{"data": 500, "expressedIn": {"code": "GRM"}}, {"data": 12, "expressedIn": {"code": "H87"}}]
    >>> answer = ItemAnswer({"data": 600, "expressedIn": {"code": "GRM"}})
    >>> plan = planned(content, [answer], ItemEvidence(), root="netContent", is_one=is_quantity, in_list=True,
    ...                words=Vocabulary())
    >>> [item["data"] for item in plan(content)], plan.edits[0].before, plan.edits[0].after
    ([600, 12], '500 GRM', '600 GRM')
    """
    held = value if isinstance(value, list) else [] if value is None else [value]
    own = {place: item for place, item in enumerate(held) if is_one(item)}
    if not own and any(item is not None for item in held):
        raise AnswerRefused(f"the product has {root} of another form. Correct it at its source.")
    if not isinstance(value, list) and value is not None and len(parts) > 1:
        raise AnswerRefused(f"{root} takes one value, and these are {len(parts)}.")
    meant = _Meant(own, tuple(parts), evidence, root, words)
    return ItemPlan(root, tuple(meant.changes()), in_list)


@dataclass(frozen=True)
class _Meant:
    """Items, and an answer that means some of them."""

    own: dict[int, Any]
    parts: tuple[ItemAnswer, ...]
    evidence: ItemEvidence
    root: str
    words: Vocabulary

    def changes(self) -> list[_Change]:
        if any(part.old is not None for part in self.parts):
            pairs = self._named()
        elif not self.own:
            pairs = [(None, part.new) for part in self.parts if part.new is not DELETE]
        elif len(self.parts) == 1:
            place = self._one(self.parts[0].new)
            pairs = [] if place is None else [(place, self.parts[0].new)]
        else:
            pairs = self._all()
        before = [None if place is None else self.own[place] for place, _ in pairs]
        changes = [
            _Change(place, item, _renewed(item, new))
            for item, (place, new) in zip(before, pairs, strict=True)
        ]
        self._refuse_twice(changes)
        return changes

    def _named(self) -> list[tuple[int | None, Any]]:
        """Return the items that the answer names itself."""
        pairs: list[tuple[int | None, Any]] = []
        for new, old in self.parts:
            if old is None:
                raise self._refused("and not every part of the answer says which of them it replaces")
            there = [place for place, item in self.own.items() if _is_same_item(item, old)]
            done = [
                place for place, item in self.own.items() if new is not DELETE and _is_same_item(item, new)
            ]
            if not there and not done:
                raise self._refused(f"and none of them is {readable(old)}")
            if not self._is_one(there or done):
                raise self._refused(f"and {len(there)} of them are {readable(old)}")
            pairs.append(((there or done)[0], new))
        if len({place for place, _ in pairs}) < len(pairs):
            raise AnswerRefused("the answer replaces one item twice. Write what it is to be once.")
        return pairs

    def _one(self, new: Any) -> int | None:
        """Return the item that an answer of one part means; None if what it removes is gone already."""
        candidates: list[int] = list(self.own)
        seen = as_one_line(self.evidence.seen or "")
        shown_now = [place for place in candidates if is_shown(self.own[place], seen, self.words)]
        if len(candidates) == 1:
            # What was to be removed is gone, and another one is left.
            is_gone = new is DELETE and bool(seen) and not shown_now and self._is_value(seen)
            return None if is_gone else candidates[0]
        if seen:
            if not shown_now:
                return self._already(new, seen)
            candidates = shown_now
        position = self.evidence.position
        if (
            not self._is_one(candidates)
            and position is not None
            and position.isdecimal()
            and len(position) < 9
        ):
            candidates = [place for place in candidates if place == int(position)] or candidates
        of_kind = [place for place in self.own if _quantity_kind(self.own[place]) == _quantity_kind(new)]
        if new is not DELETE and _quantity_kind(new) and of_kind:
            # The weight was seen and pieces are answered, of which there are some: one of both is a mistake.
            candidates = [place for place in candidates if place in of_kind]
        if not candidates or not self._is_one(candidates):
            raise self._refused("and it is not certain which of them is meant")
        if not seen and position is None and (new is DELETE or not _quantity_kind(new) or not of_kind):
            raise self._refused("and it is not certain which of them is meant")
        return candidates[0]

    def _is_value(self, seen: str) -> bool:
        """Whether what was seen is a value, and not what a rule says of it in words."""
        if not any(map(is_quantity, self.own.values())):
            return True
        return amount_of(seen) is not None or _seen_quantity(seen, self.words) is not None

    def _already(self, new: Any, seen: str) -> int | None:
        """Return the item that has been changed as the answer says, where what was seen is gone."""
        if new is DELETE:
            return None
        done = [place for place, item in self.own.items() if _is_same_item(item, new)]
        if not done:
            raise self._refused(f"and none of them is {seen!r:.60}, which the worklist showed")
        return done[0]

    def _all(self) -> list[tuple[int | None, Any]]:
        """Return which item each part of an answer means that has all of them, or more."""
        new: dict[str, list[Any]] = defaultdict(list)
        there: dict[str, list[int]] = defaultdict(list)
        for part in self.parts:
            new[_quantity_kind(part.new)].append(part.new)
        for place, item in self.own.items():
            there[_quantity_kind(item)].append(place)
        pairs: list[tuple[int | None, Any]] = []
        for kind, values in new.items():
            pairs += self._of_kind(values, there.get(kind, []))
        left = self.own.keys() - {place for place, _ in pairs}
        if left and any(place is None for place, _ in pairs):
            raise self._refused("and the answer does not have all of them")
        return pairs

    def _of_kind(self, values: list[Any], there: list[int]) -> list[tuple[int | None, Any]]:
        """Pair values with items: what is the same stays, the others follow one another."""
        pairs: list[tuple[int | None, Any]] = []
        values, there = list(values), list(there)
        for is_alike in (_is_same_item, _have_one_unit):
            for value in list(values):
                alike = [place for place in there if is_alike(self.own[place], value)]
                if alike and (is_alike is _is_same_item or len(alike) == 1):
                    pairs.append((alike[0], value))
                    values.remove(value)
                    there.remove(alike[0])
        if len(self.own) > 1 and len(values) != len(there) and there:
            raise self._refused("and it is not certain which of them is meant")
        places: list[int | None] = [*there, *[None] * len(values)]
        return pairs + list(zip(places, values, strict=False))

    def _is_one(self, places: Sequence[int]) -> bool:
        """Whether there is one item, or several that are equal in everything: whichever is changed, it is the same."""
        return bool(places) and all(self.own[place] == self.own[places[0]] for place in places)

    def _refuse_twice(self, changes: Iterable[_Change]) -> None:
        """Refuse a code that would be there twice: it is a list of what is true."""
        changed = {change.place for change in changes}
        kept = {_code_of_item(item) for place, item in self.own.items() if place not in changed}
        for change in changes:
            code = None if change.after is DELETE else _code_of_item(change.after)
            if code is None:
                continue
            if code in kept and change.after != change.before:
                before = (
                    ""
                    if change.before is None
                    else f" Write {readable(change.before)} -> (delete) to remove that."
                )
                raise AnswerRefused(f"the product has {code} already.{before}")
            kept.add(code)

    def _refused(self, why: str) -> AnswerRefused:
        there = list(dict.fromkeys(map(readable, self.own.values())))
        if not there:
            return AnswerRefused(
                f"the product has no {self.root} yet. Write what it is to be, without an arrow."
            )
        named = "; ".join(there[:10]) + ("; ..." if len(there) > 10 else "")
        new = next((part.new for part in self.parts), DELETE)
        to = "(delete)" if new is DELETE else readable(new)
        return AnswerRefused(
            f"the product has several values of {self.root}: {named}, {why}. Write which one: {there[0]} -> {to}"
            f"{'.' if new is DELETE else '; or write all of them, with semicolons between.'}"
        )


def is_quantity(item: Any) -> bool:
    """Whether an item is a number with a unit, or was meant as one."""
    return (
        isinstance(item, dict)
        and bool({"data", "expressedIn"} & item.keys())
        and (item.get("data") is None or amount_of(item["data"]) is not None)
    )


def is_code(item: Any) -> bool:
    """Whether an item is a code with its label, or a label that lacks its code."""
    return isinstance(item, dict) and bool({"code", "label"} & item.keys()) and not is_quantity(item)


def is_plain(item: Any) -> bool:
    """Whether an item is a text, a number, or yes or no."""
    return isinstance(item, str | int | float)


def amount_of(data: Any) -> int | float | None:
    """Return the number of a quantity, also where its record has it as text.

    >>> amount_of(12.5), amount_of("500"), amount_of("a lot"), amount_of(True)
    (12.5, 500, None, None)
    """
    if isinstance(data, str):
        try:
            return as_json(stored_number(data))
        except InputError:
            return None
    return data if isinstance(data, int | float) and not isinstance(data, bool) else None


def is_shown(item: Any, seen: str, words: Vocabulary) -> bool:
    """Whether what a worklist showed is this item: its value, its label or its code, in any spelling of them.

    >>> grams = {"data": 500, "expressedIn": {"code": "GRM", "label": "Gram"}}
    >>> [is_shown(grams, seen, Vocabulary()) for seen in ("500 GRM", "0.5 kg", "500", "500.0", "12 H87")]
    [True, True, True, True, False]
    """
    if as_one_line(readable(item)).casefold() == seen.casefold():
        return True
    if not isinstance(item, dict):
        return amount_of(item) is not None and amount_of(item) == amount_of(seen)
    if not is_quantity(item):
        parts_seen = {part.strip().casefold() for part in re.split(f"[{BARS}]", seen)}
        own = {
            str(item[name]).strip().casefold() for name in ("code", "label", "description") if item.get(name)
        }
        return bool(parts_seen) and parts_seen <= own
    amount, unit = amount_of(item.get("data")), _unit_code(item)
    if (alone := amount_of(seen)) is not None:
        return amount == alone
    found = _seen_quantity(seen, words)
    # Rules show figures that they have computed, with six digits.
    return found is not None and amount is not None and are_equal((amount, unit), found, tolerance=1e-5)


def _seen_quantity(seen: str, words: Vocabulary) -> tuple[int | float, str] | None:
    """Return the quantity that a rule showed, or that a person typed; a rule writes a point in every language."""
    number, _, unit = seen.partition(" ")
    try:
        if (amount := amount_of(number)) is not None:
            return amount, words.unit(unit)
        return words.quantity(seen)
    except AnswerRefused:
        return None


def readable(value: Any) -> str:
    """Return a value of a product as a person would write it.

    >>> readable([{"data": 500, "expressedIn": {"code": "GRM"}}, {"code": "COLD"}, True])
    '500 GRM; COLD; true'
    """
    match value:
        case {"data": data, "expressedIn": {"code": unit}}:
            return f"{data} {unit}"
        case {"code": code}:
            return str(code)
        case {"label": str(label)}:
            return label
        case list():
            return "; ".join(map(readable, value))
        case bool():
            return str(value).lower()
    return str(value)


def _quantity_kind(item: Any) -> str:
    """Return what a quantity measures; one without a unit may be any."""
    return dimension(_unit_code(item)) if is_quantity(item) and _unit_code(item) is not None else ""


def _unit_code(item: Mapping[str, Any]) -> Any:
    unit = item.get("expressedIn")
    return unit.get("code") if isinstance(unit, Mapping) else None


def _code_of_item(item: Any) -> str | None:
    return str(item["code"]) if isinstance(item, dict) and "code" in item else None


def _have_one_unit(item: Any, new: Any) -> bool:
    return is_quantity(item) and _unit_code(item) == _unit_code(new)


def _is_same_item(item: Any, new: Any) -> bool:
    """Whether an item says what an answer says; labels and further keys of it say nothing else."""
    if is_quantity(new):
        amount, unit = amount_of(item.get("data")), _unit_code(item)
        return amount is not None and are_equal((amount, unit), (new["data"], _unit_code(new)))
    if isinstance(new, dict):
        return _code_of_item(item) == _code_of_item(new)
    return bool(item == new) and isinstance(item, bool) is isinstance(new, bool)


def _renewed(before: Any, new: Any) -> Any:
    """Return an item with what an answer says, and with everything else that it has."""
    if new is DELETE or not isinstance(before, dict) or not isinstance(new, dict):
        return new
    if not is_quantity(new):
        return recoded(before, new["code"])
    same = amount_of(before.get("data")) == new["data"] and _unit_code(before) == _unit_code(new)
    if same:
        return before
    return before | {"data": new["data"], "expressedIn": recoded(before.get("expressedIn"), _unit_code(new))}

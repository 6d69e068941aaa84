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
from decimal import Decimal
from typing import Any, NamedTuple

from prodex.changes import ABSENT, Change, in_words, step_to
from prodex.errors import InputError
from prodex.languages import Message
from prodex.send.merging import replace_code
from prodex.tables.values import amount
from prodex.worklists.answer_changes import AnswerChange, AnswerChanges
from prodex.worklists.answer_parsing import BARS, AnswerRefused, Vocabulary, as_one_line
from prodex.worklists.units import are_equal, dimension_of
from prodex.written_numbers import as_json, stored_number

_NOT_CERTAIN = Message("and it is not certain which of them is meant")
#: Between what is there and what is to be there instead.
ARROW = re.compile(r"\s*(?:->|→|=>)\s*")


class ItemAnswer(NamedTuple):
    """One part of an answer: an item as it is to be sent, or ABSENT; and the one it names as that which is meant."""

    new: Any
    old: Any = None


class ItemEvidence(NamedTuple):
    """What a row says of the item that its answer means: the value that was seen there, and its position."""

    seen: str | None = None
    position: str | None = None


class ItemChanges(NamedTuple):
    """What an answer says of items, and whether those that it changes are what the worklist showed."""

    said: AnswerChanges
    is_as_seen: bool


def read_items(
    product: str,
    value: Any,
    parts: Sequence[ItemAnswer],
    evidence: ItemEvidence,
    *,
    root: str,
    is_one: Callable[[Any], bool],
    in_list: bool,
    words: Vocabulary,
) -> ItemChanges:
    """Return what an answer says of the items of an attribute.

    Parameters
    ----------
    product
        The key of the product.
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
    >>> found = read_items("7", content, [answer], ItemEvidence(), root="netContent", is_one=is_quantity,
    ...                       in_list=True, words=Vocabulary())
    >>> found.said.before, found.said.after, found.said.changes[0].path[1].value
    ('500 GRM', '600 GRM', 'GRM')
    """
    held = value if isinstance(value, list) else [] if value is None else [value]
    own = {place: item for place, item in enumerate(held) if is_one(item)}
    if not own and any(item is not None for item in held):
        raise AnswerRefused.saying(
            "the product has {path} of another form. Correct it at its source.", path=root
        )
    if not isinstance(value, list) and value is not None and len(parts) > 1:
        raise AnswerRefused.saying(
            "{path} takes one value, and these are {count:d}.", path=root, count=len(parts)
        )
    pairs = _AnsweredItems(own, tuple(parts), evidence, root, words).pairs()
    seen, changing = as_one_line(evidence.seen or ""), [place for place, _ in pairs if place is not None]
    is_as_seen = bool(seen and changing) and all(is_item_seen(own[one], seen, words) for one in changing)
    if not isinstance(value, list) and (value is not None or not in_list):
        before = ABSENT if value is None else value
        return ItemChanges(
            AnswerChanges.of((Change(product, (root,), before, new) for _, new in pairs), item_as_typed),
            is_as_seen,
        )
    return ItemChanges(_said_in_list(product, root, held, pairs), is_as_seen)


def _said_in_list(
    product: str, root: str, items: list[Any], pairs: Sequence[tuple[int | None, Any]]
) -> AnswerChanges:
    """Return what is said of the items of a list, each at its own place."""
    made = {place: new for place, new in pairs if place is not None}
    added = [new for place, new in pairs if place is None]
    becomes = [made.get(place, item) for place, item in enumerate(items)] + added
    changes = []
    for place, new in made.items():
        step = step_to(items, place, _known_by(items[place]))
        if new is not ABSENT and isinstance(step_to(becomes, place, _known_by(new)), int):
            # Another one is known by the same then.
            step = place
        changes.append(Change(product, (root, step), items[place], new))
    for place, new in enumerate(added, len(items)):
        changes.append(Change(product, (root, step_to(becomes, place, _known_by(new))), ABSENT, new))
    said = AnswerChanges.of(changes, item_as_typed)
    if any(one.before is ABSENT and isinstance(one.path[-1], int) for one in changes):
        # Nothing is added at an index: the list changes as a whole.
        whole = Change(product, (root,), items, [one for one in becomes if one is not ABSENT])
        return AnswerChanges([AnswerChange(whole, said.before, said.after)])
    return said


def _known_by(item: Any) -> str:
    return "unit" if is_quantity(item) else "code" if isinstance(item, dict) else "value"


@dataclass(frozen=True)
class _AnsweredItems:
    """Items, and an answer that means some of them."""

    own: dict[int, Any]
    parts: tuple[ItemAnswer, ...]
    evidence: ItemEvidence
    root: str
    words: Vocabulary

    def pairs(self) -> list[tuple[int | None, Any]]:
        """Return what becomes of each item; the place of one that is added is None."""
        if any(part.old is not None for part in self.parts):
            pairs = self._named()
        elif not self.own:
            pairs = [(None, part.new) for part in self.parts if part.new is not ABSENT]
        elif len(self.parts) == 1:
            place = self._one(self.parts[0].new)
            pairs = [] if place is None else [(place, self.parts[0].new)]
        else:
            pairs = self._all()
        made = [(place, new if place is None else _renewed(self.own[place], new)) for place, new in pairs]
        self._refuse_twice(made)
        return made

    def _named(self) -> list[tuple[int | None, Any]]:
        """Return the items that the answer names itself."""
        pairs: list[tuple[int | None, Any]] = []
        for new, old in self.parts:
            if old is None:
                raise self._refused(
                    Message("and not every part of the answer says which of them it replaces")
                )
            there = [place for place, item in self.own.items() if _is_same_item(item, old)]
            done = [
                place for place, item in self.own.items() if new is not ABSENT and _is_same_item(item, new)
            ]
            if not there and not done:
                raise self._refused(Message("and none of them is {text}", text=item_as_typed(old)))
            if not self._is_one(there or done):
                raise self._refused(
                    Message("and {count:d} of them are {text}", count=len(there), text=item_as_typed(old))
                )
            pairs.append(((there or done)[0], new))
        if len({place for place, _ in pairs}) < len(pairs):
            raise AnswerRefused.saying("the answer replaces one item twice. Write what it is to be once.")
        return pairs

    def _one(self, new: Any) -> int | None:
        """Return the item that an answer of one part means; None if what it removes is gone already."""
        candidates: list[int] = list(self.own)
        seen = as_one_line(self.evidence.seen or "")
        shown_now = [place for place in candidates if is_item_seen(self.own[place], seen, self.words)]
        if len(candidates) == 1:
            # What was to be removed is gone, and another one is left.
            is_gone = new is ABSENT and bool(seen) and not shown_now and self._is_value(seen)
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
        if new is not ABSENT and _quantity_kind(new) and of_kind:
            # The weight was seen and pieces are answered, of which there are some: one of both is a mistake.
            candidates = [place for place in candidates if place in of_kind]
        if not candidates or not self._is_one(candidates):
            raise self._refused(_NOT_CERTAIN)
        if not seen and position is None and (new is ABSENT or not _quantity_kind(new) or not of_kind):
            raise self._refused(_NOT_CERTAIN)
        return candidates[0]

    def _is_value(self, seen: str) -> bool:
        """Whether what was seen is a value, and not what a rule says of it in words."""
        if not any(map(is_quantity, self.own.values())):
            return True
        return _number_seen(seen) is not None or _seen_quantity(seen, self.words) is not None

    def _already(self, new: Any, seen: str) -> int | None:
        """Return the item that has been changed as the answer says, where what was seen is gone."""
        if new is ABSENT:
            return None
        done = [place for place, item in self.own.items() if _is_same_item(item, new)]
        if not done:
            raise self._refused(
                Message("and none of them is {text}, which the worklist showed", text=f"{seen!r:.60}")
            )
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
            raise self._refused(Message("and the answer does not have all of them"))
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
            raise self._refused(_NOT_CERTAIN)
        places: list[int | None] = [*there, *[None] * len(values)]
        return pairs + list(zip(places, values, strict=False))

    def _is_one(self, places: Sequence[int]) -> bool:
        """Whether there is one item, or several that are equal in everything: whichever is changed, it is the same."""
        return bool(places) and all(self.own[place] == self.own[places[0]] for place in places)

    def _refuse_twice(self, pairs: Iterable[tuple[int | None, Any]]) -> None:
        """Refuse a code that would be there twice: it is a list of what is true."""
        changed = {place for place, _ in pairs}
        kept = {_code_of_item(item) for place, item in self.own.items() if place not in changed}
        for place, new in pairs:
            code = None if new is ABSENT else _code_of_item(new)
            if code is None:
                continue
            before = None if place is None else self.own[place]
            if code in kept and new != before:
                if before is None:
                    raise AnswerRefused.saying("the product has {code} already.", code=code)
                raise AnswerRefused.saying(
                    "the product has {code} already. Write {code_before} -> (delete) to remove that.",
                    code=code,
                    code_before=item_as_typed(before),
                )
            kept.add(code)

    def _refused(self, why: Message) -> AnswerRefused:
        there = list(dict.fromkeys(map(item_as_typed, self.own.values())))
        if not there:
            return AnswerRefused.saying(
                "the product has no {path} yet. Write what it is to be, without an arrow.", path=self.root
            )
        said = {
            "path": self.root,
            "values": "; ".join(there[:10]) + ("; ..." if len(there) > 10 else ""),
            "why": why,
        }
        new = next((part.new for part in self.parts), ABSENT)
        if new is ABSENT:
            return AnswerRefused.saying(
                "the product has several values of {path}: {values}, {why}. Write which one: {example}.",
                **said,
                example=f"{there[0]} -> (delete)",
            )
        return AnswerRefused.saying(
            "the product has several values of {path}: {values}, {why}. Write which one: {example}; or write all of "
            "them, with semicolons between.",
            **said,
            example=f"{there[0]} -> {item_as_typed(new)}",
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
    """Return the number of a quantity, also where its record has it as text: what tables read, corrections do.

    >>> amount_of(12.5), amount_of("500"), amount_of("12,5"), amount_of("a lot"), amount_of(True)
    (12.5, 500, 12.5, None, None)
    """
    if isinstance(data, str):
        data = amount(data)
    if isinstance(data, Decimal):
        return as_json(data)
    return data if isinstance(data, int | float) and not isinstance(data, bool) else None


def _number_seen(seen: str) -> int | float | None:
    """Return the number that a worklist showed, as programs spell it."""
    try:
        return as_json(stored_number(seen))
    except InputError:
        return None


def is_item_seen(item: Any, seen: str, words: Vocabulary) -> bool:
    """Whether what a worklist showed is this item: its value, its label or its code, in any spelling of them.

    >>> grams = {"data": 500, "expressedIn": {"code": "GRM", "label": "Gram"}}
    >>> [is_item_seen(grams, seen, Vocabulary()) for seen in ("500 GRM", "0.5 kg", "500", "500.0", "12 H87")]
    [True, True, True, True, False]
    """
    if as_one_line(item_as_typed(item)).casefold() == seen.casefold():
        return True
    if not isinstance(item, dict):
        return amount_of(item) is not None and amount_of(item) == _number_seen(seen)
    if not is_quantity(item):
        parts_seen = {part.strip().casefold() for part in re.split(f"[{BARS}]", seen)}
        own = {
            str(item[name]).strip().casefold() for name in ("code", "label", "description") if item.get(name)
        }
        return bool(parts_seen) and parts_seen <= own
    own_amount, unit = amount_of(item.get("data")), unit_code_of(item)
    if (alone := _number_seen(seen)) is not None:
        return own_amount == alone
    found = _seen_quantity(seen, words)
    # Rules show figures that they have computed, with six digits.
    return (
        found is not None and own_amount is not None and are_equal((own_amount, unit), found, tolerance=1e-5)
    )


def _seen_quantity(seen: str, words: Vocabulary) -> tuple[int | float, str] | None:
    """Return the quantity that a rule showed, or that a person typed; a rule writes a point in every language."""
    number, _, unit = seen.partition(" ")
    try:
        if (alone := _number_seen(number)) is not None:
            return alone, words.unit(unit)
        return words.quantity(seen)
    except AnswerRefused:
        return None


def item_as_typed(item: Any) -> str:
    """Return an item as a person would write it, also an amount that its record has as text.

    >>> item_as_typed({"data": "500", "expressedIn": {"code": "GRM"}}), item_as_typed({"code": "COLD"})
    ('500 GRM', 'COLD')
    """
    match item:
        case {"data": str(text), "expressedIn": {"code": unit}} if is_quantity(item):
            return f"{text} {unit}"
    return in_words(item)


def _quantity_kind(item: Any) -> str:
    """Return what a quantity measures; one without a unit may be any."""
    return dimension_of(unit_code_of(item)) if is_quantity(item) and unit_code_of(item) is not None else ""


def unit_code_of(item: Mapping[str, Any]) -> Any:
    """Return the code of the unit of a quantity; None where it has none."""
    unit = item.get("expressedIn")
    return unit.get("code") if isinstance(unit, Mapping) else None


def _code_of_item(item: Any) -> str | None:
    return str(item["code"]) if isinstance(item, dict) and "code" in item else None


def _have_one_unit(item: Any, new: Any) -> bool:
    return is_quantity(item) and unit_code_of(item) == unit_code_of(new)


def _is_same_item(item: Any, new: Any) -> bool:
    """Whether an item says what an answer says; labels and further keys of it say nothing else."""
    if is_quantity(new):
        own_amount, unit = amount_of(item.get("data")), unit_code_of(item)
        return own_amount is not None and are_equal((own_amount, unit), (new["data"], unit_code_of(new)))
    if isinstance(new, dict):
        return _code_of_item(item) == _code_of_item(new)
    return bool(item == new) and isinstance(item, bool) is isinstance(new, bool)


def _renewed(before: Any, new: Any) -> Any:
    """Return an item with what an answer says, and with everything else that it has."""
    if new is ABSENT or not isinstance(before, dict) or not isinstance(new, dict):
        return new
    if not is_quantity(new):
        return replace_code(before, new["code"])
    same = amount_of(before.get("data")) == new["data"] and unit_code_of(before) == unit_code_of(new)
    if same:
        return before
    return before | {
        "data": new["data"],
        "expressedIn": replace_code(before.get("expressedIn"), unit_code_of(new)),
    }

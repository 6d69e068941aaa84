"""What steps have left as changes of products, each an exact answer: one for each place that differs in the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from prodex.changes import ABSENT, Change, Item, diff, in_words, indexed, is_nothing, with_orders
from prodex.corrections.leaves import AMOUNT, UNIT, Leaves, Rows, text_of
from prodex.corrections.products_in_work import ProductsInWork
from prodex.corrections.stepping import StepDone
from prodex.errors import ChangesRefused
from prodex.languages import Said
from prodex.languages.message import said_by
from prodex.locales import short_of
from prodex.send.known_products import KnownProducts
from prodex.send.merging import TextPlace, replace_code, text_change
from prodex.send.records import DELETE, Product
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.exact_answers import exact_change, exact_refusal
from prodex.worklists.returned_files import Answer
from prodex.written_numbers import as_json

_OTHER_FORM: Final = "the product has {root} of another form. Correct it at its source."
_TOO_DEEP: Final = "{root} of the product is nested too deep. Correct it at its source."


class _Row(NamedTuple):
    """A leaf in the end: its number, where it is, what it held, and what it is to hold."""

    number: int
    position: str | None
    code: str | None
    language: str | None
    before: Any
    after: Any


class _Made(NamedTuple):
    """The change of some rows, with the order that their list gets; or why there is none."""

    rows: Sequence[_Row]
    change: Change | None = None
    order: Change | None = None
    refusal: Said = ""


class StepAnswers:
    """The answers that steps make: one for each place that differs in the end, and one for each thing that was refused.

    Attributes
    ----------
    answers
        The answers, behind others that were given.
    numbers
        By attribute, the number of the answer of each of its rows; 0 for none.
    records
        The records of the products, by their ids.
    """

    def __init__(
        self, work: ProductsInWork, results: Sequence[StepDone], others: Sequence[Answer] = ()
    ) -> None:
        self.answers: list[Answer] = [*others]
        self.numbers: dict[str, Rows] = {}
        self._work = work
        self._ids = work.ids.to_pylist()
        concerned = [(leaves, _concerned(leaves)) for leaves in work.touched]
        # The records of all products that change are read at once.
        owners = {product for leaves, rows in concerned for product in leaves.product[rows].tolist()}
        ids = [self._ids[one] for one in sorted(owners)]
        self.records: Mapping[str, Product] = work.records(ids)
        for leaves, rows in concerned:
            self._add_changes(leaves, rows)
        self._add_refusals(results)

    @cached_property
    def _codes(self) -> Mapping[str, frozenset[str]]:
        """The codes of languages in use."""
        return KnownProducts.of(self._work.whole).codes

    def _add_changes(self, leaves: Leaves, rows: Rows) -> None:
        """Add what becomes of rows, product by product."""
        taken = pa.array(rows)
        columns = (leaves.position, leaves.code, leaves.language, leaves.before, leaves.now)
        cells = zip(rows.tolist(), *(one.take(taken).to_pylist() for one in columns), strict=True)
        by_product: dict[int, list[_Row]] = {}
        for owner, cell in zip(leaves.product[rows].tolist(), cells, strict=True):
            by_product.setdefault(owner, []).append(_Row(*cell))
        numbers: dict[int, int] = {}
        for owner, own in by_product.items():
            product = self._ids[owner]
            try:
                made = [*(self._texts if leaves.is_text else self._items)(leaves, product, own)]
            except RecursionError:
                root = leaves.attribute.partition(".")[0]
                made = [_Made(own, refusal=_TOO_DEEP.format(root=root))]
            for one in made:
                self.answers.append(_answer(leaves, product, one, len(self.answers) + 1))
                numbers |= {row.number: len(self.answers) for row in one.rows}
        found = np.zeros(len(leaves.product), np.int64)
        found[[*numbers]] = [*numbers.values()]
        # What only stays, since something else depends on it, is no change.
        self.numbers[leaves.attribute] = np.where(leaves.is_changed, found, 0)

    def _texts(self, leaves: Leaves, product: str, rows: Sequence[_Row]) -> Iterator[_Made]:
        """Yield the change of each text."""
        record = self.records[product]
        for row in rows:
            language = None if row.code else row.language
            if row.code is None and language is None:
                yield _Made([row], refusal="the text has no language. Give one, such as fr.")
                continue
            place = TextPlace(leaves.attribute, row.position, language, row.code)
            new = DELETE if row.after is None else row.after
            try:
                # Only a new text asks for them, and a large catalogue has many.
                codes = self._codes if row.position is None else {}
                change = text_change(product, record, place, new, codes)
                yield _Made([row], None if change is None else _as_shown(change, row.before))
            except ChangesRefused as error:
                yield _Made([row], refusal=said_by(error))

    def _items(self, leaves: Leaves, product: str, rows: Sequence[_Row]) -> Iterator[_Made]:
        """Yield the changes of other values, which are what tells the attribute with them from what it is."""
        root, record = leaves.attribute, self.records[product]
        present = record.get(root, ABSENT)
        is_unseen = rows[0].position is None and not is_nothing(present)
        if is_unseen or any("." in (one.position or "") for one in rows):
            # The tables show nothing there, and the record has something; or it is a list in a list.
            yield _Made(rows, refusal=_OTHER_FORM.format(root=root))
            return
        made, in_list = present, root in self._work.shapes.in_lists
        # From the last one, since what is taken away moves the others.
        for one in sorted(rows, key=lambda row: int(row.position or -1), reverse=True):
            made = _with_item(made, one, leaves.shape, in_list=in_list)
        sides = ({} if one is ABSENT else {root: one} for one in (present, made))
        yield from _of_rows(record, with_orders(diff(*sides, product=product)), rows)

    def _add_refusals(self, results: Sequence[StepDone]) -> None:
        """Add an answer for each thing that a step refused, once."""
        seen = set()
        for done in results:
            if (leaves := done.leaves) is None:
                continue
            rows = np.array([one.row for one in done.refused if one.row >= 0], np.int64)
            spoken = dict(zip(rows.tolist(), leaves.spoken(rows).to_pylist(), strict=True))
            for product, row, why in done.refused:
                language, text = done.step.language, ""
                if row >= 0:
                    language, text = spoken[row], text_of(leaves.now[row].as_py())
                about = (self._ids[product], leaves.attribute, language, why)
                if (*about, row) not in seen:
                    seen.add((*about, row))
                    self.answers.append(exact_refusal(*about, number=len(self.answers) + 1, text=text))


def _concerned(leaves: Leaves) -> Rows:
    """Return the rows that change, and those that something else depends on."""
    return np.flatnonzero(leaves.is_changed | ((leaves.bound >= 0) & leaves.is_there))


def _answer(leaves: Leaves, product: str, made: _Made, number: int) -> Answer:
    first, attribute = made.rows[0], leaves.attribute
    language = first.language if first.code is None else short_of(first.code)
    if made.change is None:
        text = text_of(first.after)
        answer = exact_refusal(product, attribute, language, made.refusal, number=number, text=text)
    else:
        asked = dict.fromkeys(one for row in made.rows for one in leaves.asked_of(row.number, row.after))
        about: dict[str, Any] = {"attribute": attribute, "language": language, "questions": asked}
        answer = exact_change(made.change, number=number, order=made.order, **about)
    if not leaves.is_text:
        return answer
    path = () if made.change is None else made.change.path
    codes = [one.value for one in path if isinstance(one, Item) and one.name == "language"]
    place = {"language_code": first.code or next(iter(codes), None), "position": first.position}
    keys = {name: one for name, one in (*answer.keys.items(), *place.items()) if one is not None}
    # What is moved is taken away and written together.
    bound = int(leaves.bound[first.number])
    return answer._replace(keys=keys, bound=None if bound < 0 else bound)


def _as_shown(change: Change, text: str | None) -> Change:
    """Return the change of a text that tables show; where the record holds another one, that is a conflict."""
    if len(change.path) == 1 or in_words(change.before) == (text or ""):
        return change
    shown: Any = ABSENT if text is None else text
    return replace(change, before=shown if change.path[-1] == "data" else {**change.before, "data": shown})


def _of_rows(
    record: Product, changes: Iterator[tuple[Change, Change | None]], rows: Sequence[_Row]
) -> Iterator[_Made]:
    """Yield changes, each with its rows: by the place of each, or with all that have none of their own."""
    there: dict[str | None, _Row] = {one.position: one for one in rows if one.position is not None}
    others = []
    for change, order in changes:
        steps = indexed(record, change.path)
        position = None if steps is None else ".".join(str(one) for one in steps if isinstance(one, int))
        if (row := there.pop(position, None)) is None:
            others.append((change, order))
        else:
            yield _Made([row], change, order)
    left = [one for one in rows if one.position is None or one.position in there]
    if len(left) == len(others):
        yield from (_Made([row], *one) for row, one in zip(left, others, strict=True))
    else:
        yield from (_Made(left or rows, *one) for one in others)


def _with_item(present: Any, row: _Row, shape: AnswerShape, *, in_list: bool) -> Any:
    """Return an attribute with another item in place of that of a row, or with a new one."""
    if row.position is None:
        item = _item(None, row.after, shape)
        is_list = isinstance(present, list) or (present in (ABSENT, None) and in_list)
        return [*(present if isinstance(present, list) else []), item] if is_list else item
    if row.position == "" or not isinstance(present, list):
        return ABSENT if row.after is None else _item(present, row.after, shape)
    place = int(row.position)
    new = [] if row.after is None else [_item(present[place], row.after, shape)]
    return [*present[:place], *new, *present[place + 1 :]]


def _item(before: Any, value: Any, shape: AnswerShape) -> Any:
    """Return a value as the record has it, with what else the item says."""
    match shape:
        case AnswerShape.INTEGER | AnswerShape.NUMBER:
            return as_json(Decimal(value))
        case AnswerShape.CODE:
            return replace_code(before, value)
        case AnswerShape.QUANTITY:
            held = before if isinstance(before, dict) else {}
            unit = replace_code(held.get("expressedIn"), value[UNIT])
            return held | {"data": as_json(Decimal(value[AMOUNT])), "expressedIn": unit}
    return value

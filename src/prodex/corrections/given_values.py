"""Values that somebody gives: typed once for all products, listed product by product, or made by a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from prodex.corrections.leaves import AMOUNT, UNIT
from prodex.corrections.operations import Transformed
from prodex.corrections.products_in_work import ProductsInWork
from prodex.corrections.value_places import StepPlace, StepRefusal, StepRows
from prodex.languages import Said
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.answer_outcomes import NO_VALUE
from prodex.worklists.answer_parsing import AnswerRefused, read_boolean, read_number
from prodex.worklists.confirmation_questions import question_of_code, question_of_remark
from prodex.worklists.layout import is_deletion

#: What is said of a value: a new one, None to leave it, or REMOVE.
NewValue: TypeAlias = Any
REMOVE: Final = object()
#: Gets the number of a product and its value as text, None where it has none.
Function: TypeAlias = Callable[[int, str | None], NewValue]


def ask_function(work: ProductsInWork, place: StepPlace, function: Function, *, is_typed: bool) -> StepRows:
    """Ask a function for the new value of each value, and of each product that has none."""
    leaves = place.leaves
    held, owners = leaves.held(place.rows), leaves.owners(place.rows)
    # A list of values sets one of each product, and a function makes a new value of each that is there.
    several = place.why_not_set() if is_typed else {}
    beside = leaves.of_several(place.rows, place.tag)
    refused: list[StepRefusal] = []
    asked: dict[tuple[int, int], tuple[Said, ...]] = {}

    def answered(product: int, row: int, text: str | None) -> Any:
        """Return the new value; None for none."""
        present = held.get(row)
        try:
            given = function(product, text)
            if given is None or (isinstance(given, str) and given == text):
                return present
            why = several.get(product, "")
            if given is REMOVE and row in beside:
                why = why or place.why_none_of(beside[row])
            if why:
                refused.append(StepRefusal(product, row, why))
                return present
            if given is REMOVE:
                return None
            stored, questions = stored_value(work, leaves.attribute, given, is_typed=is_typed)
        except AnswerRefused as error:
            refused.append(StepRefusal(product, row, str(error)))
            return present
        if questions:
            asked[product, row] = questions
        return stored

    new = [answered(owners[row], row, text) for row, text in leaves.texts(place.rows).items()]
    made = place.put(Transformed(leaves.column(new)))
    can_be_added = not place.why_not_added()
    answers = ((one, answered(one, -1, None)) for one in place.lacking.tolist() if can_be_added)
    wanted = {product: value for product, value in answers if value is not None}
    added = place.add(wanted)
    rows = np.concatenate([made.rows, added])
    new_ones = frozenset(added.tolist())
    for row, product in leaves.owners(rows).items() if asked else ():
        for question in asked.get((product, -1 if row in new_ones else row), ()):
            leaves.ask([row], question, leaves.now[row].as_py())
    return StepRows(rows, refused, len(place.lacking) - len(wanted))


def stored_value(
    work: ProductsInWork, attribute: str, value: Any, *, is_typed: bool = False
) -> tuple[Any, tuple[Said, ...]]:
    """Return a value as its column has it, and what is to be asked about it.

    Of what a person has typed it is asked whether a remark, or a word that takes values away elsewhere, is meant.

    Raises
    ------
    AnswerRefused
        When it is no value of the attribute.
    """
    shape = work.shape_of(attribute)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of floats
    match shape:
        case AnswerShape.TEXT | AnswerShape.STRING:
            if not isinstance(value, str) or not value.strip():
                raise AnswerRefused(f"{value!r:.60} is no text, which {attribute} takes.")
            try:
                value.encode()
            except UnicodeEncodeError:
                raise AnswerRefused(f"{value!r:.60} has half of a character, which cannot be sent.") from None
            return value, _questions_about(attribute, value) if is_typed else ()
        case AnswerShape.BOOLEAN:
            return value if isinstance(value, bool) else read_boolean(str(value)), ()
        case AnswerShape.INTEGER | AnswerShape.NUMBER:
            if isinstance(value, bool):
                raise AnswerRefused(f"{value!r} is no number, which {attribute} takes.")
            found = read_number(value) if isinstance(value, str) else read_number(repr(value), is_stored=True)
            if isinstance(value, int) and found != value:
                # No digit of a whole number was made by a computer: one that is too long is refused as if typed.
                found = read_number(str(value))
            if shape is AnswerShape.INTEGER and not isinstance(found, int):
                raise AnswerRefused(f"{value!r:.60} is not a whole number, which {attribute} takes.")
            return repr(found), ()
        case AnswerShape.QUANTITY:
            amount, unit = work.words(attribute).quantity(str(value))
            return {AMOUNT: repr(amount), UNIT: unit}, ()
    return _code(work, attribute, str(value))


def _code(work: ProductsInWork, attribute: str, value: str) -> tuple[str, tuple[Said, ...]]:
    words = work.words(attribute)
    code = words.code(attribute, value)
    question = question_of_code(code, attribute, words)
    return code, () if question is None else (question,)


@lru_cache(maxsize=65_536)
def _questions_about(attribute: str, text: str) -> tuple[Said, ...]:
    """Return what is asked of a text that somebody has typed for many products."""
    word = text.strip()
    if is_deletion(word) or is_deletion(f"({word})"):
        return (
            f"{word!r:.60} takes values away in worklists. Is it the text of {attribute}? Else: remove value.",
        )
    if word.casefold() in NO_VALUE:
        return (f"{word!r:.60} says that there is no value. Is it the text of {attribute}?",)
    question = question_of_remark(text, attribute)
    return () if question is None else (question,)

"""Doing the steps of a recipe on columns: of each attribute all leaves at once, and never product by product.

A step changes what leaves hold now; what a leaf held and holds at the end is one change of one place, whatever steps
have been between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa

from prodex.catalog import Catalog
from prodex.corrections.carrying import copy_values, move_texts
from prodex.corrections.exact_amounts import convert_quantities
from prodex.corrections.given_values import Function, ask_function, stored_value
from prodex.corrections.leaves import TEXT, Leaves, Rows, as_texts, differing_rows, join_columns, no_rows
from prodex.corrections.operations import (
    ChangeCase,
    ConvertUnit,
    CopyFrom,
    MoveText,
    Operation,
    RemovePrefix,
    RemoveValue,
    ReplaceText,
    SetCode,
    SetValue,
    TextOperation,
    Transformed,
    TrimSpaces,
)
from prodex.corrections.products_in_work import ProductsInWork, StepImpossible
from prodex.corrections.recipe import RecipeStep
from prodex.corrections.value_places import StepPlace, StepRefusal, StepRows
from prodex.errors import ProdexError
from prodex.executors import side_by_side
from prodex.facts.requested_data import Asked, asked_for
from prodex.locales import language_tag, short_of
from prodex.worklists.answer_kinds import AnswerShape

#: Texts that are worth a thread.
_MANY: Final = 20_000


@dataclass(frozen=True, eq=False)
class StepDone:
    """What a step did.

    Attributes
    ----------
    step
        The step.
    leaves
        The leaves that its rows are of; None if it could not be done at all.
    impossible
        Why it could not be done at all.
    changed, before, after
        Its rows, with what they held before and after it.
    so_already
        The rows that it left as they were.
    refused
        What it did not do.
    without
        How many of its products have no value there, so that there was nothing to do.
    gone
        How many values were given for products that are not there.
    what
        In words, where it is not what its operation says.
    arrived
        Of texts that were moved: by their row, the leaves and the row where they arrived.
    """

    step: RecipeStep
    leaves: Leaves | None = None
    impossible: str = ""
    changed: Rows = field(default_factory=no_rows)
    before: pa.Array = field(default_factory=lambda: pa.nulls(0, TEXT))
    after: pa.Array = field(default_factory=lambda: pa.nulls(0, TEXT))
    so_already: Rows = field(default_factory=no_rows)
    refused: Sequence[StepRefusal] = ()
    without: int = 0
    gone: int = 0
    what: str = ""
    arrived: Mapping[int, tuple[Leaves, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, step: RecipeStep, leaves: Leaves, was: pa.Array, outcome: StepRows) -> StepDone:
        """Return what a step did with leaves that held something before it."""
        rows = outcome.rows
        before = join_columns(was, leaves.nothing(len(leaves.now) - len(was))).take(pa.array(rows))
        after = leaves.now.take(pa.array(rows))
        is_changed = differing_rows(before, after)
        changed = pa.array(is_changed)
        stays = ~is_changed & ~np.isin(rows, [one.row for one in outcome.refused])
        return cls(
            step,
            leaves,
            "",
            rows[is_changed],
            before.filter(changed),
            after.filter(changed),
            rows[stays],
            outcome.refused,
            outcome.without,
            arrived=outcome.arrived,
        )

    @property
    def words(self) -> str:
        """What it does, for people."""
        return self.what or self.step.operation.words

    @property
    def is_refused_wholly(self) -> bool:
        """Whether nothing of it could be done."""
        return bool(self.impossible or (self.refused and not len(self.changed) and not len(self.so_already)))


def do_step(
    work: ProductsInWork, step: RecipeStep, function: Function | None = None, *, is_typed: bool = False
) -> StepDone:
    """Do a step, and return what it did; what it cannot do is in the result.

    Parameters
    ----------
    work
        The products.
    step
        The step.
    function
        In place of its operation: gets number and value of a product, and returns the new one.
    is_typed
        Whether somebody has typed what the function returns.
    """
    try:
        attribute = work.wire_path(step.attribute)
        tag = _checked(work, step, attribute, None if function is not None else step.operation)
        if not (is_typed if function is not None else isinstance(step.operation, SetValue | SetCode)):
            _refuse_unread(work, attribute, tag, None if function is not None else step.operation)
        place = StepPlace.of(work.leaves(attribute), work.mask(step.where), tag)
        was = place.leaves.now
        if function is None:
            outcome = DONE_BY[type(step.operation)](work, place, step.operation)
        else:
            outcome = ask_function(work, place, function, is_typed=is_typed)
    except ProdexError as error:
        return StepDone(step, impossible=str(error))
    return StepDone.of(step, place.leaves, was, outcome)


def ask_about_growth(work: ProductsInWork, steps: Sequence[RecipeStep], after: Catalog | None = None) -> None:
    """Do steps once more with what they have made, and ask about what changes again: it would do so every night.

    Parameters
    ----------
    work
        The products.
    steps
        The steps, without those that cannot be done.
    after
        The products that are chosen then, as they are then; None where what changes does not decide it.
    """
    if not len(work.changed):
        return
    again = work.again([one.where for one in steps], after)
    for step in steps:
        do_step(again, step)
    for leaves in work.touched:
        then = again.leaves(leaves.attribute).now.slice(0, len(leaves.now))
        rows = np.flatnonzero(leaves.is_changed & differing_rows(leaves.now, then))
        next_texts = as_texts(then.take(pa.array(rows))).to_pylist()
        for (row, value), text in zip(leaves.held(rows).items(), next_texts, strict=True):
            said = "would be taken away" if text is None else f"would become {text!r:.80}"
            question = f"Done again, this changes again: the new value {said}. Is it meant?"
            leaves.ask([row], question, value)


def _checked(
    work: ProductsInWork, step: RecipeStep, attribute: str, operation: Operation | None
) -> str | None:
    """Return the language of a step, which can be done with an attribute."""
    shape = work.shape_of(attribute)
    if operation is not None and shape not in operation.shapes:
        kinds = ", ".join(sorted(one.value for one in operation.shapes))
        raise StepImpossible(f"{operation.do!r} is for {kinds}, and {attribute} holds a {shape.value}.")
    if step.language is not None and shape is not AnswerShape.TEXT:
        raise StepImpossible(f"{attribute} holds a {shape.value}, which has no language. Leave language out.")
    return None if step.language is None else language_tag(step.language)


def _refuse_unread(
    work: ProductsInWork, attribute: str, tag: str | None, operation: Operation | None
) -> None:
    """Raise if the catalogue was loaded without what a step reads: its products are not without a value there."""
    if isinstance(operation, CopyFrom):
        tag = tag if operation.from_language is None else language_tag(operation.from_language)
        attribute = work.wire_path(operation.from_attribute or attribute)
        work.shape_of(attribute)  # raises where there is no such attribute at all
    spoken = None if tag is None else short_of(tag)
    if asked_for(work.catalog.origin, [attribute], spoken) is Asked.NOTHING:
        raise StepImpossible(
            f"the products were loaded without {attribute}{f' in {tag}' if tag else ''}, so that it is not known what "
            "they have there. Load them with it."
        )


def _removed(_: ProductsInWork, place: StepPlace, __: RemoveValue) -> StepRows:
    return place.remove()


def _set(work: ProductsInWork, place: StepPlace, operation: SetValue | SetCode) -> StepRows:
    value = operation.value if isinstance(operation, SetValue) else operation.code
    new, questions = stored_value(work, place.leaves.attribute, value, is_typed=True)
    return place.set(dict.fromkeys(np.flatnonzero(place.chosen).tolist(), new), questions)


def _texts(_: ProductsInWork, place: StepPlace, operation: TextOperation) -> StepRows:
    values = place.leaves.now.take(pa.array(place.rows))
    return place.put(_side_by_side(operation, values, place.leaves.spoken(place.rows)))


#: What each operation does with the columns of a place; its name, its shapes and its parameters are those of its class.
DONE_BY: Final[Mapping[type[Operation], Callable[[ProductsInWork, StepPlace, Any], StepRows]]] = {
    SetValue: _set,
    SetCode: _set,
    ReplaceText: _texts,
    ChangeCase: _texts,
    TrimSpaces: _texts,
    RemovePrefix: _texts,
    MoveText: move_texts,
    CopyFrom: copy_values,
    ConvertUnit: convert_quantities,
    RemoveValue: _removed,
}


def _side_by_side(operation: TextOperation, values: pa.Array, languages: pa.Array) -> Transformed:
    """Do an operation with parts of many values at a time: Arrow needs no Python while it does."""
    if len(values) <= _MANY:
        return operation.transformed(values, languages)
    starts = range(0, len(values), _MANY)
    parts = [
        *side_by_side(
            lambda start: operation.transformed(values.slice(start, _MANY), languages.slice(start, _MANY)),
            starts,
        )
    ]
    refused = {
        start + row: why
        for start, made in zip(starts, parts, strict=True)
        for row, why in made.refused.items()
    }
    return Transformed(pa.concat_arrays([one.values for one in parts]), refused)

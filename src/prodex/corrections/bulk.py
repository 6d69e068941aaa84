"""Correcting many products at once, by an operation or by a recipe: a `Fix` like that of worklists.

What the steps leave is compared with what was there, and each place that differs is one exact answer. From there on it
is the path of every answer: judged, previewed, sent. What a step says that it changed is what the judging has left of
it, so that a preview of steps and the preview of the fix agree.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from prodex import gtin
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog
from prodex.catalog.where import UnmatchedWarning
from prodex.changes import ABSENT, diff, is_nothing, with_orders
from prodex.corrections.operations import OPERATIONS, Operation, RemoveValue, SetValue
from prodex.corrections.recipe import Recipe, RecipeStep, write_recipe
from prodex.corrections.recipe_files import read_recipe
from prodex.corrections.stepping import REMOVE, NewValue, ProductsInWork, StepDone, Values
from prodex.errors import ChangesRefused, InputError
from prodex.executors import without_collecting
from prodex.exploration.conditions import Conditions
from prodex.exploration.filtering import ProductFilter
from prodex.messages import counted
from prodex.quality.profile import Profile
from prodex.quality.run import audit, moment_of
from prodex.send.corrections import KnownProducts
from prodex.send.merging import recoded
from prodex.send.records import DELETE, Product
from prodex.store.snapshot import catalog_given
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.answer_outcomes import AnswerState
from prodex.worklists.answer_parsing import AnswerRefused
from prodex.worklists.exact_answers import exact_change, exact_refusal, exact_text
from prodex.worklists.fix import Fix, MadeBy, fix_of, products_of
from prodex.worklists.judging import products_after
from prodex.worklists.returned_files import Answer, Returned
from prodex.worklists.text_corrections import NO_RULES
from prodex.written_numbers import as_json

#: Columns of `Fix.steps`.
STEP_COLUMNS: Final = (
    *("step", "what", "attribute", "changed", "already_so", "refused", "asked_back", "conflict", "no_value"),
    "reason",
)
#: Columns of `Fix.step_rows`.
ROW_COLUMNS: Final = (
    *("step", "product_id", "gtin", "attribute", "language", "before", "after", "state", "reason"),
)
#: What becomes of a place in the words of a step, by the state of its answer.
_IN_STEPS: Final = {
    AnswerState.ACCEPTED: "changed",
    AnswerState.UNCHANGED: "already_so",
    AnswerState.REFUSED: "refused",
    AnswerState.ASKED_BACK: "asked_back",
    AnswerState.CONFLICT: "conflict",
}
_OTHER_FORM: Final = "the product has {path} of another form. Correct it at its source."
_CHANGED_BACK: Final = "a later step changes it back, so that nothing is sent."

#: What `correct` takes in place of an operation.
Given: TypeAlias = str | bool | int | float | Operation | Callable[[str | None], Any] | pd.Series
States: TypeAlias = Mapping[int, tuple[AnswerState, str]]


def correct(
    catalog: Catalog | str | Path,
    attribute: str,
    value: Given,
    *,
    language: str | None = None,
    profile: str | Path | Mapping[str, Any] | Profile | None = None,
    now: datetime | None = None,
    by: str | None = None,
    why: str | None = None,
) -> Fix:
    """Correct an attribute of many products: set a value, do an operation, or ask a function for each value.

    Nothing is sent: the result is previewed, judged and sent as the answers of worklists are.

    Parameters
    ----------
    catalog
        The products, such as `catalog.where(brand_code="ACME")`, or the name of a snapshot.
    attribute
        Its wire path, such as `namePublicLong`, or its column in `products`, such as `brand_code`.
    value
        What is done:

        - a text, number, True or False sets it (letter by letter: "delete" is a text);
        - one of `prodex.operations` is done, such as `prodex.operations.ReplaceText("Acme Inc", "Acme")`;
        - a function gets each value as text, and None for a product without one, and returns the new one. None, or the
          same, leaves it, `prodex.DELETE` takes it away. Where it raises an error, that product is refused with its
          message. Quantities are "500 GRM", codes "ACME", yes and no "true" and "false";
        - a Series has the new values by `product_id` or GTIN (its index); missing ones leave what is there.
    language
        The language of the texts that are meant, as a code or a name; texts in every language by default. A code with a
        country ("fr-BE" or "fra-BE") means that one only. A language alone means the only text in it: of several, none
        is set, moved or removed, and any other change of them is asked back, text by text.
    profile
        The checks that say what is fixed, and what is new. Without one only what the service would refuse is found.
    now
        The moment to which "older than" refers, the present by default.
    by, why
        Who makes it and why, for the history of what is sent.

    Returns
    -------
    Fix
        As `read_worklist` returns it. `steps` counts what was done, and `step_rows` says it for each product;
        `recipe(path)` keeps an operation, to be done again with other products.

    Raises
    ------
    InputError
        When it cannot be done with any product: there is no such attribute, language or unit, or the operation is for
        values of another kind.

    Examples
    --------
    >>> import prodex
    >>> names = [{"expressedIn": {"code": "fra-FR"}, "data": name} for name in ("ACME Riz", "Riz")]
    >>> gtins = ("03036811359935", "04006381333931")
    >>> catalog = prodex.flatten([{"gtin": n, "namePublicLong": [name]} for n, name in zip(gtins, names, strict=True)])
    >>> fix = prodex.correct(catalog, "namePublicLong", prodex.operations.ReplaceText("ACME", "Acme"))
    >>> fix.preview()[["before", "after"]].values.tolist()
    [['ACME Riz', 'Acme Riz']]
    >>> fix.steps[["what", "changed", "already_so"]].values.tolist()
    [['replace "ACME" by "Acme"', 1, 1]]
    >>> prodex.correct(catalog, "namePublicLong", str.upper).preview()["after"].tolist()
    ['ACME RIZ', 'RIZ']
    """
    whole = catalog_given(catalog, "correct(catalog, attribute, value)", attribute, value)
    if not isinstance(attribute, str) or not attribute.strip():
        raise InputError(f"attribute is {described(attribute)}. Give a wire path, such as 'namePublicLong'.")
    work = ProductsInWork(whole, _unfiltered(whole))
    answers: list[Answer] = []
    if type(value) in OPERATIONS.values():
        step = RecipeStep(value, attribute, language)  # type: ignore[arg-type]
        result = work.done(step)
    elif _is_delete(value):
        step = RecipeStep(RemoveValue(), attribute, language)
        result = work.done(step)
    elif isinstance(value, pd.Series):
        step = RecipeStep(RemoveValue(), attribute, language)
        function, unknown = _of_series(value, work)
        answers += _unknown_answers(unknown, attribute, language)
        done = work.done(step, function, is_typed=True)
        result = replace(done, what="set to the values of a Series", gone=len(answers))
    elif callable(value):
        step = RecipeStep(RemoveValue(), attribute, language)
        name = getattr(value, "__name__", type(value).__name__)
        result = replace(work.done(step, _of_function(value)), what=f"{name}() of each value")
    else:
        step = RecipeStep(SetValue(value), attribute, language)  # type: ignore[arg-type] # it checks that itself
        result = work.done(step)
    if result.impossible:
        raise InputError(result.impossible)
    is_named = not result.what
    if is_named:
        work.ask_about_growth([step])
    recipe = _recipe_of(whole, [step]) if is_named else None
    words = why or f"correction of many products: {result.words}"
    return _fix(work, work.whole, [result], answers, profile, now, MadeBy(words, by), recipe)


def apply_recipe(
    catalog: Catalog | str | Path,
    recipe: Recipe | str | Path,
    *,
    profile: str | Path | Mapping[str, Any] | Profile | None = None,
    now: datetime | None = None,
    by: str | None = None,
    why: str | None = None,
) -> Fix:
    """Do what a recipe says with the products of a catalogue; nothing is sent.

    Products are chosen once, from the catalogue as it came. Steps are done in order, and each sees what the ones before
    it left; what is sent in the end is one change of each place. A step that cannot be done does not stop the others,
    unless it is required.

    Parameters
    ----------
    catalog
        The products, or the name of a snapshot.
    recipe
        The recipe, or its file.
    profile, now, by, why
        As for `prodex.correct`. Where a recipe chooses products by what an audit has found, it is made by the profile.

    Returns
    -------
    Fix
        As `read_worklist` returns it. `steps` has one row for each step: `step`, `what` it does, `attribute`, and how
        many values it `changed`, were `already_so`, were `refused`, are `asked_back` or in `conflict`; how many
        products have `no_value` there; and the most frequent `reason` of what was not done. `step_rows` has the same
        value by value. What is judged in the end counts: a change that is refused is none.

    Raises
    ------
    InputError
        When the recipe cannot be read, or its products cannot be chosen.
    ChangesRefused
        When a step that is required cannot be done; then nothing of the recipe is done.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "ACME  Riz"}]
    >>> catalog = prodex.flatten([{"gtin": "03036811359935", "namePublicLong": name}])
    >>> trim = prodex.RecipeStep(prodex.operations.TrimSpaces(), "namePublicLong", "fr")
    >>> brand = prodex.RecipeStep(prodex.operations.RemovePrefix("ACME"), "namePublicLong", "fr")
    >>> fix = prodex.apply_recipe(catalog, prodex.Recipe([trim, brand], title="Names"))
    >>> fix.preview()[["before", "after"]].values.tolist(), fix.steps["changed"].tolist()
    ([['ACME  Riz', 'Riz']], [1, 1])
    """
    whole = catalog_given(catalog, "apply_recipe(catalog, recipe)", recipe)
    read = recipe if isinstance(recipe, Recipe) else read_recipe(recipe)
    with without_collecting():
        chosen = _chosen(whole, read, profile, now)
        work = ProductsInWork(chosen, _unfiltered(whole))
        work.prepare(read.steps)
        results = []
        for number, step in enumerate(read.steps, 1):
            result = work.done(step)
            if step.required and result.is_refused_wholly:
                reason = result.impossible or result.refused[0][2]
                raise ChangesRefused(
                    f"Nothing of the recipe was done: step {number} ({step.words}) is required and cannot be done: "
                    f"{reason}"
                )
            results.append(result)
        _ask_about_growth(work, results, read, profile, now)
        name = read.title or (Path(recipe).name if isinstance(recipe, str | Path) else "")
        words = f"recipe {name}".strip()
        if read.by_hand:
            words += f" (made for {read.by_hand[:200]}; done with all {counted(len(whole), 'product')} that were given)"
        made = _fix(work, work.whole, results, [], profile, now, MadeBy(why or words, by), read)
        _refuse_if_required(made, read)
        return made


def _ask_about_growth(
    work: ProductsInWork,
    results: Sequence[StepDone],
    recipe: Recipe,
    profile: str | Path | Mapping[str, Any] | Profile | None,
    now: datetime | None,
) -> None:
    """Ask back what the recipe would change again, with the products that it would choose then."""
    steps = [one.step for one in results if not one.impossible]
    after = None
    with warnings.catch_warnings():
        # That no product has the old brand then is what the recipe is for.
        warnings.simplefilter("ignore", UnmatchedWarning)
        if any(map(work.may_choose_others, (*recipe.chosen, *(one.where for one in steps)))):
            made = made_answers(work, results)
            ids = work.ids.take(pa.array(work.changed)).to_pylist()
            products = products_of(work.whole, ids, KnownProducts.of(work.whole), work.received)
            after = _chosen(products_after(made.answers, products, work.whole), recipe, profile, now)
        work.ask_about_growth(steps, after)


def _refuse_if_required(fix: Fix, recipe: Recipe) -> None:
    """Raise if nothing of a step that is required can be sent: what is asked back may still be."""
    for step, row in zip(recipe.steps, fix.steps.to_dict("records"), strict=True):
        is_done = row["changed"] or row["asked_back"]
        if step.required and not is_done and (row["refused"] or row["conflict"]):
            raise ChangesRefused(
                f"Nothing of the recipe was done: step {row['step']} ({step.words}) is required and cannot be done: "
                f"{row['reason']}"
            )


def _is_delete(value: object) -> bool:
    return value is DELETE


def _chosen(
    catalog: Catalog,
    recipe: Recipe,
    profile: str | Path | Mapping[str, Any] | Profile | None,
    now: datetime | None,
) -> Catalog:
    """Return the products that a recipe chooses."""
    chosen = catalog
    for one in recipe.chosen:
        keywords = {name: value for name, value in one.items() if name != "explorer"}
        chosen = chosen.where(**keywords) if keywords else chosen
        if "explorer" not in one:
            continue
        conditions = Conditions.from_json(one["explorer"])
        judged = None
        if conditions.failing or "score" in conditions.ranges:
            if profile is None:
                raise InputError(
                    "The recipe chooses products by what an audit has found. Give the profile of it: "
                    "apply_recipe(catalog, recipe, profile='core'); or take its table chosen away."
                )
            judged = audit(chosen, profile if not isinstance(profile, Mapping) else dict(profile), now=now)
        chosen = ProductFilter(chosen, judged).catalog(conditions)
    return chosen


def _unfiltered(catalog: Catalog) -> Catalog:
    """Return the catalogue that products were chosen from: its codes are in use, and its GTINs are known."""
    if all(one.chosen is None for one in catalog.parts):
        return catalog
    return replace(catalog, parts=tuple(one.unfiltered() for one in catalog.parts), chosen=None)


def _of_function(function: Callable[[str | None], Any]) -> Callable[[int, str | None], NewValue]:
    def asked(_: int, value: str | None) -> NewValue:
        try:
            given = function(value)
        except Exception as error:
            if value is None and isinstance(error, AttributeError | TypeError):
                return None  # a method of texts, of which there is none here
            raise AnswerRefused(f"the function raised {type(error).__name__}: {str(error)[:200]}") from error
        return REMOVE if given is DELETE else None if is_missing(given) else _plain(given)

    return asked


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _of_series(
    series: pd.Series, work: ProductsInWork
) -> tuple[Callable[[int, str | None], NewValue], list[tuple[str, Any]]]:
    """Return what a Series says of each product, and the entries of its index that are none of the products."""
    numbers = {one: number for number, one in enumerate(work.ids.to_pylist())}
    by_gtin: dict[str | None, list[int]] = {}
    for number, code in enumerate(work.catalog.arrow("products", ["gtin"])["gtin"].to_pylist()):
        by_gtin.setdefault(gtin.comparable(code), []).append(number)
    is_gtin = series.index.name == "gtin"
    values: dict[int, Any] = {}
    unknown = []
    for key, value in series.items():
        if is_missing(key):
            unknown.append((str(key), value))
            continue
        text = str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)
        found = [] if is_gtin else [numbers[text]] if text in numbers else []
        if not found and series.index.name != "product_id":
            try:
                found = by_gtin.get(gtin.comparable(key), [])
            except InputError:
                found = []
        if len(found) != 1:
            unknown.append((text, value))
        elif found[0] in values and not _is_same(values[found[0]], value):
            raise InputError(f"The Series has two values for {text!r:.60}. Keep one of them.")
        else:
            values[found[0]] = value
    if not values and len(series):
        raise InputError(
            f"None of the {len(series):,} entries of the Series is a product here: its index starts with "
            f"{series.index[0]!r:.60}. Give product ids or GTINs as its index: frame.set_index('gtin')['name']."
        )

    def asked(number: int, _: str | None) -> NewValue:
        given = values.get(number)
        return REMOVE if given is DELETE else None if is_missing(given) else _plain(given)

    return asked, unknown


def _is_same(one: Any, other: Any) -> bool:
    return (is_missing(one) and is_missing(other)) or bool(one == other)


def _unknown_answers(
    entries: Sequence[tuple[str, Any]], attribute: str, language: str | None
) -> list[Answer]:
    return [
        exact_refusal(
            key, attribute, language, "the Series has it, and it is none of the products.", number=number
        )
        for number, (key, value) in enumerate(entries, 1)
        if not is_missing(value)
    ]


def _recipe_of(catalog: Catalog, steps: Sequence[RecipeStep]) -> Recipe:
    """Return the recipe of steps that were done with a catalogue, with what is known of how it was chosen."""
    if catalog.chosen is None:
        return Recipe(tuple(steps))
    return Recipe(tuple(steps), "", catalog.chosen.written, "; ".join(catalog.chosen.unwritten))


def _refuse_recipe(_: Path) -> NoReturn:
    raise InputError(
        "A function or a Series cannot be kept in a recipe, which runs no code. Do it with operations, such as "
        "prodex.correct(catalog, attribute, prodex.operations.ReplaceText('a', 'b')); or keep the function in a "
        "notebook."
    )


def _fix(
    work: ProductsInWork,
    catalog: Catalog,
    results: Sequence[StepDone],
    answers: list[Answer],
    profile: str | Path | Mapping[str, Any] | Profile | None,
    now: datetime | None,
    made_by: MadeBy,
    recipe: Recipe | None,
) -> Fix:
    moment = moment_of(now)
    chosen_profile = (
        NO_RULES if profile is None else profile if isinstance(profile, Profile) else Profile.read(profile)
    )
    made = made_answers(work, results, answers)
    log = StepLog(work, results, made.numbers)
    kept = _refuse_recipe if recipe is None else partial(_save, recipe)
    origin = replace(made_by, steps=log.frame, step_rows=log.rows, write_recipe=kept)
    given = Returned(made.answers)
    # Among all products: one that was not chosen may have the same GTIN, and would be written as well.
    return fix_of(given, catalog, chosen_profile, moment, made_by=origin, received=work.received)


def made_answers(
    work: ProductsInWork, results: Sequence[StepDone], others: Sequence[Answer] = ()
) -> StepAnswers:
    """Return the answers that steps make, behind others."""
    made = StepAnswers(work, list(others))
    made.add_refusals(results)
    return made


def _save(recipe: Recipe, path: Path) -> Path:
    titled = recipe if recipe.title else replace(recipe, title=path.stem.replace("-", " ").replace("_", " "))
    return write_recipe(titled, path)


class StepAnswers:
    """The answers that steps make: one for each place that differs in the end, and one for each that was refused."""

    def __init__(self, work: ProductsInWork, answers: list[Answer]) -> None:
        self._work = work
        self.answers: list[Answer] = answers
        #: Of the rows of each attribute, the number of their answer; 0 for none.
        self.numbers: dict[int, npt.NDArray[np.int64]] = {}
        self._ids = work.ids
        for values in work.touched:
            # What something else depends on is looked at once more, although it stays.
            rows = np.union1d(values.changed, np.flatnonzero((values.bound >= 0) & values.is_there))
            numbers = np.zeros(len(values.product), np.int64)
            is_changed = np.isin(np.arange(len(values.product)), values.changed)
            self.numbers[id(values)] = numbers
            if not len(rows):
                continue
            made = self._texts(values, rows) if values.is_text else self._leaves(values, rows)
            for rows_of, several in made:
                bound = int(values.bound[rows_of[0]])
                added = [
                    self._added(answer if bound < 0 else answer._replace(bound=bound)) for answer in several
                ]
                # Each value has its own answer, or one answer has all of them; what only stays is no change.
                if is_changed[rows_of[0]]:
                    numbers[rows_of] = added if len(added) == len(rows_of) else added[-1] if added else 0

    @cached_property
    def _records(self) -> Mapping[str, Product]:
        """The records of the products of which another value than a text changes; all are read at once."""
        numbers = [one.product[one.changed] for one in self._work.touched if not one.is_text]
        return self._work.records(self._ids.take(pa.array(np.unique(np.concatenate(numbers)))).to_pylist())

    def _added(self, answer: Answer) -> int:
        number = len(self.answers) + 1
        self.answers.append(answer._replace(row=number))
        return number

    def _texts(self, values: Values, rows: npt.NDArray[np.int64]) -> Iterator[tuple[list[int], list[Answer]]]:
        taken = pa.array(rows)
        columns = [
            self._ids.take(pa.array(values.product[rows])),
            *(
                one.take(taken)
                for one in (values.language, values.code, values.position, values.before, values.now)
            ),
        ]
        cells = zip(rows.tolist(), *(one.to_pylist() for one in columns), strict=True)
        for row, product, language, code, position, before, after in cells:
            asked = values.asked_of(row, after)
            yield (
                [row],
                [
                    exact_text(
                        product,
                        values.attribute,
                        language,
                        code,
                        position,
                        before,
                        after,
                        number=0,
                        questions=asked,
                    )
                ],
            )

    def _leaves(
        self, values: Values, rows: npt.NDArray[np.int64]
    ) -> Iterator[tuple[list[int], list[Answer]]]:
        products = self._ids.take(pa.array(values.product[rows])).to_pylist()
        records = self._records
        taken = pa.array(rows)
        cells = zip(
            rows.tolist(),
            products,
            values.position.take(taken).to_pylist(),
            values.now.take(taken).to_pylist(),
            strict=True,
        )
        root = values.attribute
        edits: dict[str, list[tuple[int, str | None, str | None]]] = defaultdict(list)
        for row, product, position, after in cells:
            edits[product].append((row, position, after))
        for product, several in edits.items():
            present = records[product].get(root, ABSENT)
            own = [row for row, *_ in several]
            is_unseen = several[0][1] is None and not is_nothing(present)
            if is_unseen or any("." in (position or "") for _, position, _ in several):
                # The tables show nothing there, and the record has something; or it is a list in a list.
                text = several[0][2] or ""
                yield (
                    own,
                    [exact_refusal(product, root, None, _OTHER_FORM.format(path=root), number=0, text=text)],
                )
                continue
            made = present
            # From the last one, since what is taken away moves the others.
            for _, position, after in sorted(several, key=lambda one: _as_number(one[1]), reverse=True):
                in_list = root in self._work.shapes.in_lists
                made = _with_item(made, position, after, values.shape, in_list=in_list)
            asked = dict.fromkeys(one for row, _, after in several for one in values.asked_of(row, after))
            sides = ({} if one is ABSENT else {root: one} for one in (present, made))
            changes = with_orders(diff(*sides, product=product))
            yield (
                own,
                [exact_change(one, number=0, questions=tuple(asked), order=order) for one, order in changes],
            )

    def add_refusals(self, results: Sequence[StepDone]) -> None:
        """Add an answer for each thing that a step refused, once."""
        seen: set[tuple[int, str, int, str]] = set()
        for result in results:
            values = result.values
            for product, row, why in result.refused:
                if values is None:
                    continue
                language = values.language[row].as_py() if row >= 0 else result.step.language
                key = (product, values.attribute, row, why)
                if key in seen:
                    continue
                seen.add(key)
                text = (values.now[row].as_py() or "") if row >= 0 else ""
                self._added(
                    exact_refusal(
                        self._ids[product].as_py(), values.attribute, language, why, number=0, text=text
                    )
                )


def _as_number(position: str | None) -> int:
    return int(position) if position else -1


def _with_item(
    present: Any, position: str | None, value: str | None, shape: AnswerShape, *, in_list: bool
) -> Any:
    """Return an attribute with another item at a position; None for `position` adds one."""
    if position is None:
        item = _item(None, value, shape)
        is_list = isinstance(present, list) or (present in (ABSENT, None) and in_list)
        return [*(present if isinstance(present, list) else []), item] if is_list else item
    if position == "" or not isinstance(present, list):
        return ABSENT if value is None else _item(present, value, shape)
    place = int(position)
    new = [] if value is None else [_item(present[place], value, shape)]
    return [*present[:place], *new, *present[place + 1 :]]


def _item(before: Any, value: str | None, shape: AnswerShape) -> Any:
    """Return a value as the record has it, with what else the item says."""
    text = str(value)
    match shape:
        case AnswerShape.BOOLEAN:
            return text == "true"
        case AnswerShape.INTEGER | AnswerShape.NUMBER:
            return as_json(Decimal(text))
        case AnswerShape.CODE:
            return recoded(before if isinstance(before, dict) else None, text)
        case AnswerShape.QUANTITY:
            amount, _, unit = text.rpartition(" ")
            held = before if isinstance(before, dict) else {}
            return held | {
                "data": as_json(Decimal(amount)),
                "expressedIn": recoded(held.get("expressedIn"), unit),
            }
    return text


@dataclass(frozen=True, eq=False)
class StepLog:
    """What the steps did, in the words of what became of it: a change that was refused in the end is none.

    Attributes
    ----------
    work
        The products.
    results
        What each step did.
    numbers
        Of the rows of each attribute, the number of their answer; 0 for none.
    """

    work: ProductsInWork
    results: Sequence[StepDone]
    numbers: Mapping[int, npt.NDArray[np.int64]]

    def frame(self, states: States) -> pd.DataFrame:
        """Return one row for each step, by the present state of each answer."""
        rows = []
        for number, result in enumerate(self.results, 1):
            counts: Counter[str] = Counter()
            reasons: Counter[str] = Counter()
            for answer, times in self._answered(result):
                state, reason = self._state(answer, states)
                counts[state] += times
                if state != "changed" and reason:
                    reasons[reason] += times
            counts["already_so"] += len(result.so_already)
            counts["refused"] += len(result.refused)
            counts["conflict"] += result.gone
            reasons.update(why for *_, why in result.refused)
            # What is refused says more than what is so already.
            why = result.impossible or max(
                reasons, key=lambda one: (one != _CHANGED_BACK, reasons[one]), default=""
            )
            rows.append(
                {
                    "step": number,
                    "what": result.words,
                    "attribute": result.step.attribute,
                    **{name: counts[name] for name in STEP_COLUMNS[3:8]},
                    "no_value": result.without,
                    "reason": why,
                }
            )
        return pd.DataFrame(rows, columns=list(STEP_COLUMNS))

    def _answered(self, result: StepDone) -> Iterator[tuple[int, int]]:
        """Yield the numbers of the answers of what a step changed, 0 for none, and how many rows have it."""
        if result.values is None or not len(result.changed):
            return
        numbers, counts = np.unique(self._numbers(result), return_counts=True)
        yield from zip(numbers.tolist(), counts.tolist(), strict=True)

    def _numbers(self, result: StepDone) -> npt.NDArray[np.int64]:
        numbers: npt.NDArray[np.int64] = self.numbers[id(result.values)][result.changed]
        if not result.arrived:
            return numbers
        # A text that was moved and is back where it was may still stand where it arrived.
        return np.array(
            [
                self.numbers[id(result.arrived[row][0])][result.arrived[row][1]]
                if number == 0 and row in result.arrived
                else number
                for row, number in zip(result.changed.tolist(), numbers.tolist(), strict=True)
            ],
            np.int64,
        )

    def _state(self, answer: int, states: States) -> tuple[str, str]:
        if answer == 0:
            return "already_so", _CHANGED_BACK
        state, reason = states.get(answer, (AnswerState.ACCEPTED, ""))
        return _IN_STEPS[state], reason

    def rows(self, states: States) -> pd.DataFrame:
        """Return one row for each value that a step has looked at."""
        gtins = self.work.catalog.arrow("products", ["gtin"])["gtin"]
        frames = [self._rows_of(number, one, states, gtins) for number, one in enumerate(self.results, 1)]
        made = (
            pd.concat([one for one in frames if len(one)], ignore_index=True)
            if any(map(len, frames))
            else None
        )
        return pd.DataFrame([], columns=list(ROW_COLUMNS), dtype=object) if made is None else made

    def _rows_of(self, number: int, result: StepDone, states: States, gtins: pa.ChunkedArray) -> pd.DataFrame:
        values = result.values
        rows: list[dict[str, Any]] = []
        if values is not None:
            places = [
                (int(values.product[row]), int(row), before, after, *self._state(int(answer), states))
                for row, before, after, answer in zip(
                    result.changed.tolist(),
                    result.before.to_pylist(),
                    result.after.to_pylist(),
                    self._numbers(result).tolist(),
                    strict=True,
                )
            ]
            so_already = result.so_already
            held = values.now.take(pa.array(so_already)).to_pylist()
            places += [
                (int(values.product[row]), row, value, value, "already_so", "")
                for row, value in zip(so_already.tolist(), held, strict=True)
            ]
            places += [
                (product, row, values.now[row].as_py() if row >= 0 else None, None, "refused", why)
                for product, row, why in result.refused
            ]
            for product, row, before, after, state, why in places:
                rows.append(
                    {
                        "step": number,
                        "product_id": self.work.ids[product].as_py(),
                        "gtin": gtins[product].as_py(),
                        "attribute": values.attribute,
                        "language": values.language[row].as_py() if row >= 0 else result.step.language,
                        "before": before,
                        "after": after,
                        "state": state,
                        "reason": why,
                    }
                )
        return pd.DataFrame(rows, columns=list(ROW_COLUMNS), dtype=object)

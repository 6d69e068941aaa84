"""Correcting many products at once, by an operation or by a recipe: a `Fix` like that of worklists.

What the steps leave is compared with what was there, and each place that differs is one exact answer. From there on it
is the path of every answer: judged, previewed, sent. What a step says that it changed is what the judging has left of
it, so that a preview of steps and the preview of the fix agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex import gtin
from prodex.advice import PythonCall, advice
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog
from prodex.catalog.where import UnmatchedWarning
from prodex.changes import is_same
from prodex.corrections.given_values import REMOVE, Function, NewValue
from prodex.corrections.operations import OPERATIONS, Operation, RemoveValue, SetValue
from prodex.corrections.products_in_work import ProductsInWork
from prodex.corrections.recipe import Recipe, RecipeStep, write_recipe
from prodex.corrections.recipe_files import read_recipe
from prodex.corrections.step_changes import StepAnswers
from prodex.corrections.step_log import StepLog
from prodex.corrections.stepping import StepDone, ask_about_growth, do_step
from prodex.errors import ChangesRefused, InputError
from prodex.executors import without_collecting
from prodex.phrases import counted
from prodex.quality.profile import Profile
from prodex.quality.run import audit, moment_of
from prodex.selection.paths import needs_audit
from prodex.send.known_products import KnownProducts
from prodex.send.records import DELETE
from prodex.store.snapshot import catalog_given
from prodex.worklists.answer_parsing import AnswerRefused
from prodex.worklists.exact_answers import exact_refusal
from prodex.worklists.fix import Fix, MadeBy, find_products, make_fix
from prodex.worklists.judging import products_after
from prodex.worklists.returned_files import Answer, Returned
from prodex.worklists.text_corrections import profile_given

#: What `correct` takes in place of an operation.
Given: TypeAlias = str | bool | int | float | Operation | Callable[[str | None], Any] | pd.Series


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
        is set, moved or removed, and any other change of them needs confirmation, text by text.
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
        result = do_step(work, step)
    elif _is_delete(value):
        step = RecipeStep(RemoveValue(), attribute, language)
        result = do_step(work, step)
    elif isinstance(value, pd.Series):
        step = RecipeStep(RemoveValue(), attribute, language)
        function, unknown = _of_series(value, work)
        answers += _unknown_answers(unknown, attribute, language)
        done = do_step(work, step, function, is_typed=True)
        result = replace(done, what="set to the values of a Series", gone=len(answers))
    elif callable(value):
        step = RecipeStep(RemoveValue(), attribute, language)
        name = getattr(value, "__name__", type(value).__name__)
        result = replace(do_step(work, step, _of_function(value)), what=f"{name}() of each value")
    else:
        step = RecipeStep(SetValue(value), attribute, language)  # type: ignore[arg-type] # it checks that itself
        result = do_step(work, step)
    if result.impossible:
        raise InputError(result.impossible)
    is_named = not result.what
    if is_named:
        ask_about_growth(work, [step])
    recipe = _recipe_of(whole, [step]) if is_named else None
    words = why or f"correction of many products: {result.words}"
    return _fix(work, whole, [result], answers, profile, now, MadeBy(words, by), recipe)


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
        many values it `changed`, were `already_so`, were `refused`, are `needs_confirmation` or in `conflict`; how many
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
            result = do_step(work, step)
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
        made = _fix(work, whole, results, [], profile, now, MadeBy(why or words, by), read)
        _refuse_if_required(made, read)
        return made


def _ask_about_growth(
    work: ProductsInWork,
    results: Sequence[StepDone],
    recipe: Recipe,
    profile: str | Path | Mapping[str, Any] | Profile | None,
    now: datetime | None,
) -> None:
    """Ask about what the recipe would change again, with the products that it would choose then."""
    steps = [one.step for one in results if not one.impossible]
    after = None
    with warnings.catch_warnings():
        # That no product has the old brand then is what the recipe is for.
        warnings.simplefilter("ignore", UnmatchedWarning)
        if any(map(work.may_choose_others, (recipe.chosen, *(one.where for one in steps)))):
            made = StepAnswers(work, results)
            ids = work.ids.take(pa.array(work.changed)).to_pylist()
            products = find_products(work.whole, ids, KnownProducts.of(work.whole), made.records)
            after = _chosen(products_after(made.answers, products, work.whole), recipe, profile, now)
        ask_about_growth(work, steps, after)


def _refuse_if_required(fix: Fix, recipe: Recipe) -> None:
    """Raise if nothing of a step that is required can be sent: what needs confirmation may still be."""
    for step, row in zip(recipe.steps, fix.steps.to_dict("records"), strict=True):
        is_done = row["changed"] or row["needs_confirmation"]
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
    if not recipe.chosen:
        return catalog
    if not needs_audit(recipe.chosen):
        return catalog.where(recipe.chosen)
    if profile is None:
        raise InputError(
            advice(
                "The recipe chooses products by what an audit has found. Give the profile of it: {apply}; or take its "
                "table chosen away.",
                apply=PythonCall("apply_recipe(catalog, recipe, profile='core')"),
            )
        )
    judged = audit(catalog, profile if not isinstance(profile, Mapping) else dict(profile), now=now)
    return catalog.where(recipe.chosen, audit=judged)


def _unfiltered(catalog: Catalog) -> Catalog:
    """Return the catalogue that products were chosen from: its codes are in use, and its GTINs are known.

    What is chosen of it again, to be judged, still says how the products were chosen.
    """
    if all(one.chosen is one.own for one in catalog.parts):
        return catalog
    return replace(catalog, parts=tuple(one.unfiltered() for one in catalog.parts))


def _of_function(function: Callable[[str | None], Any]) -> Function:
    def asked(_: int, value: str | None) -> NewValue:
        try:
            given = function(value)
        except Exception as error:
            if value is None and isinstance(error, AttributeError | TypeError):
                return None  # a method of texts, of which there is none here
            raise AnswerRefused(f"the function raised {type(error).__name__}: {str(error)[:200]}") from error
        return _new_value(given)

    return asked


def _new_value(given: Any) -> NewValue:
    """Return what somebody has given for a value."""
    if given is DELETE:
        return REMOVE
    return None if is_missing(given) else given.item() if isinstance(given, np.generic) else given


def _of_series(series: pd.Series, work: ProductsInWork) -> tuple[Function, list[tuple[str, Any]]]:
    """Return what a Series says of each product, and the entries of its index that are none of the products."""
    numbers = {one: number for number, one in enumerate(work.ids.to_pylist())}
    by_gtin: dict[str | None, list[int]] = {}
    for number, code in enumerate(work.catalog.arrow("products", ["gtin"])["gtin"].to_pylist()):
        by_gtin.setdefault(gtin.comparable(code), []).append(number)
    is_gtin = series.index.name == "gtin"
    values: dict[int, NewValue] = {}
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
        elif found[0] in values and not is_same(values[found[0]], _new_value(value)):
            raise InputError(f"The Series has two values for {text!r:.60}. Keep one of them.")
        else:
            values[found[0]] = _new_value(value)
    if not values and len(series):
        raise InputError(
            f"None of the {len(series):,} entries of the Series is a product here: its index starts with "
            f"{series.index[0]!r:.60}. Give product ids or GTINs as its index: frame.set_index('gtin')['name']."
        )

    return lambda number, _: values.get(number), unknown


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
    return Recipe(tuple(steps), "", catalog.chosen.selection, "; ".join(catalog.chosen.unwritten))


def _refuse_recipe(_: Path) -> NoReturn:
    raise InputError(
        "A function or a Series cannot be kept in a recipe, which runs no code. Do it with operations, such as "
        "prodex.correct(catalog, attribute, prodex.operations.ReplaceText('a', 'b')); or keep the function in a "
        "notebook."
    )


@without_collecting()
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
    chosen_profile = profile_given(profile)
    made = StepAnswers(work, results, answers)
    log = StepLog(work.catalog, results, made.numbers)
    kept = _refuse_recipe if recipe is None else partial(_save, recipe)
    origin = replace(made_by, steps=log.frame, step_rows=log.rows, write_recipe=kept)
    given = Returned(made.answers)
    # Among all products: one that was not chosen may have the same GTIN, and would be written as well.
    among = None if work.whole is catalog else work.whole
    return make_fix(
        given, catalog, chosen_profile, moment, made_by=origin, received=made.records, among=among
    )


def _save(recipe: Recipe, path: Path) -> Path:
    titled = recipe if recipe.title else replace(recipe, title=path.stem.replace("-", " ").replace("_", " "))
    return write_recipe(titled, path)

"""Correcting all chosen products at once: what is done, what it would change, and how it is sent and taken back.

Chosen are the products that are selected, and without a selection those that meet the filters. A preview is of exactly
these products, this operation and this catalogue; with any other of them it is no longer offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from prodex.corrections.bulk import apply_recipe
from prodex.corrections.operations import OPERATIONS
from prodex.corrections.recipe import Recipe, RecipeStep
from prodex.corrections.undo import undo
from prodex.display.fix import state_in_words
from prodex.errors import InputError, ProdexError, QueryError
from prodex.exploration.facets import FilterResult
from prodex.notebook.session.actions import Block, Panel, Want, action, task
from prodex.notebook.session.jobs import are_same_arguments
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.arrival import profile_of
from prodex.notebook.views.blocks import (
    button,
    fold,
    is_open,
    listed,
    paragraph,
    row,
    switch,
    typed_text,
    work,
)
from prodex.notebook.views.corrections import collecting
from prodex.notebook.views.fix_blocks import effect_blocks, frame_blocks
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.operations import (
    FORM,
    chosen_operation,
    operation_fields,
    operation_name,
)
from prodex.notebook.views.paths import path_typed
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.sending import Judging, Outbox, SendingOutcome, is_sending, outbox
from prodex.phrases import counted
from prodex.selection import Selection
from prodex.worklists.fix import Fix
from prodex.worklists.text_corrections import TextCorrection

_NAME = "bulk"
#: Seconds without another letter before a preview is made.
_PAUSE = 0.5
#: Rows of the preview, and reasons that are listed of each kind.
_ROWS, _REASONS = 8, 5
#: Corrections that are collected at once: no more are listed.
_MOST_COLLECTED = 500
#: What is not taken, as the preview calls it.
_NOT_TAKEN = {
    "needs confirmation": "To be confirmed",
    "conflict": "In conflict",
    "refused": "Cannot be done",
}


@dataclass(frozen=True, eq=False)
class ShownBulk:
    """What is shown of a correction of many products.

    Attributes
    ----------
    chosen
        What is done; None where something is taken back.
    blocks
        What it would change.
    texts
        The same as corrections of single texts, to be collected; nothing where it is more than that.
    """

    chosen: RecipeStep | None
    blocks: tuple[Block, ...]
    texts: tuple[TextCorrection, ...]


@dataclass(frozen=True)
class BulkCorrection:
    """What the fold keeps.

    Attributes
    ----------
    back
        What is chosen while what was sent is to be taken back; None if it is not.
    sent
        What was sent last, if it can be taken back.
    """

    back: tuple[Any, ...] | None = None
    sent: Fix | None = field(default=None, repr=False)


def bulk_fold(session: Session) -> Block:
    """Return what corrects the chosen products, folded at first."""
    number = counted(_number(session), "chosen product")
    return fold(session, _NAME, f"Correct the {number}", lambda: _blocks(session))


def bulk_wants(session: Session) -> Iterator[Want]:
    """Yield the preview of what the form says, while somebody looks at it."""
    if is_open(session, _NAME) and not _BOX.is_sending(session):
        yield from _BOX.wants(session)


def _number(session: Session) -> int:
    return len(session.selected) or len(left_of(session))


def _chosen(session: Session) -> tuple[Any, ...]:
    """Return the products that are chosen, and what is done with them; None as long as that cannot be read.

    A search that finds more products with the same words makes it another choice.
    """
    left = None if session.selected else left_of(session)
    try:
        done = chosen_operation(session)
    except Refused:
        done = None
    return (session.catalog, session.audit, left, session.selected, (done,))


def _is_back(session: Session) -> bool:
    """Return whether what was sent is to be taken back: with any other choice it is not."""
    back = session.part(BulkCorrection).back
    return back is not None and are_same_arguments(back, _chosen(session))


def _judging(session: Session) -> Judging | None:
    *base, (done,) = _chosen(session)
    # As long as words are searched for, those products are shown that were left before.
    is_searching = not session.selected and not session.filter.has_found(session.conditions.words)
    if is_searching or not _number(session):
        return None
    sent = session.part(BulkCorrection).sent
    if sent is not None and _is_back(session):
        return Judging((*base, (done, "back")), partial(_undone, session, sent), "Requesting the products")
    if done is None:
        return None
    return Judging(
        (*base, (done, "do")), partial(_done, session, base[2], done), "Making the preview", _PAUSE
    )


def _undone(session: Session, sent: Fix) -> Fix:
    assert sent.tracking is not None  # noqa: S101 - only what was sent is taken back
    profile = profile_of(session.audit)
    return undo(sent.tracking, service=session.service, catalog=session.catalog, profile=profile)


def _done(session: Session, left: FilterResult | None, done: RecipeStep) -> Fix:
    catalog, products = session.catalog, session.selected
    if left is not None:
        ids = catalog.arrow("products", ["product_id"])["product_id"]
        products = tuple(ids.filter(pa.array(left.mask)).to_pylist())
    # A recipe, since its fix is of all products that are explored, whichever of them are chosen here.
    recipe = Recipe((done,), chosen=Selection.of(product_id=products))
    why = f"correction of many products: {done.words}"
    return apply_recipe(catalog, recipe, profile=profile_of(session.audit), why=why)


def _shown(fix: Fix, of: tuple[Any, ...]) -> ShownBulk:
    chosen, what = of[4]
    done = None if what == "back" else chosen
    return ShownBulk(done, tuple(_preview_blocks(fix, done)), () if done is None else _as_texts(fix))


def _failed(session: Session, error: BaseException) -> Session:
    if isinstance(error, InputError | QueryError):
        return session  # it is about what the form says, and stands there
    return session.noting(error_text(error), is_problem=True, section="products")


def _ended(session: Session, outcome: SendingOutcome) -> Session:
    """What was sent can be taken back; what was taken back cannot."""
    sent = outcome.sent
    if sent.fix.tracking is None:
        return session
    kept = None if sent.shown.chosen is None else sent.fix
    return _BOX.changed(session.with_part(BulkCorrection(sent=kept)), confirmed=frozenset())


_BOX = outbox(Outbox(_NAME, "products", _judging, _shown, ended=_ended, failed=_failed))


def _as_texts(fix: Fix) -> tuple[TextCorrection, ...]:
    """Return what is accepted as corrections of single texts; nothing if not all of it is, or if it is too much."""
    accepted = fix.accepted
    if len(accepted) > _MOST_COLLECTED or accepted["language_code"].isna().any():
        return ()
    made = []
    for answer, after in zip(accepted.to_dict("records"), fix.preview()["after"], strict=True):
        place = {
            name: answer[name]
            for name in ("product_id", "attribute", "language", "language_code", "position")
        }
        one = TextCorrection(**place, text=after, before=answer["before"])
        # A text that deletes in a list of texts, or has spaces around it, is another one there.
        if one.text != after:
            return ()
        made.append(one)
    return tuple(made)


def _blocks(session: Session) -> Iterator[Block | None]:
    state, made = session.part(BulkCorrection), _BOX.preview(session)
    operations = {one: one.capitalize() for one in OPERATIONS}
    # Buttons, since a list takes two presses, and hides what can be done at all.
    yield switch("Operation", operation_name(session), operations, "bulk.choose", key="operations")
    yield form(session, FORM, operation_fields(session), label="Correct the chosen products")
    yield work(session, _BOX.slot)
    if not _number(session):
        yield paragraph("No product is chosen.", key="said", tone="status")
    elif failure := _BOX.failure(session):
        yield paragraph(typed_text(failure), key="said", tone="problem")
    elif made is not None:
        yield from made.shown.blocks
        if number := len(made.questions):
            label = (
                f"Yes, {counted(number, 'correction')} to be confirmed {'is' if number == 1 else 'are'} meant"
            )
            given: dict[str, Any] = {"outbox": _NAME, "which": made.first_questions(number), "first": number}
            yield row(
                button(label, "send.confirm", key="confirm", to=f"send {_NAME}", **given), key="confirming"
            )
    elif _judging(session) is not None and not _BOX.is_sending(session):
        yield paragraph("Making the preview …", key="said", tone="status")
    yield from _BOX.blocks(session)
    if made is not None and made.shown.texts:
        collect = f"Collect {counted(len(made.shown.texts), 'correction')}"
        title = "Send them later, with others, from Corrections"
        digest = made.digest
        yield row(
            button(collect, "bulk.collect", key="collect", title=title, digest=digest), key="collecting"
        )
    if state.sent is not None and not _is_back(session) and not is_sending(session):
        yield row(
            button(
                "Take it back",
                "bulk.back",
                key="back",
                title="Preview how what was sent is taken back",
                to=f"send {_NAME}",
            ),
            key="taking back",
        )
    if made is not None and made.shown.chosen is not None:
        keep = button("Keep as a recipe", "bulk.keep", title="A file to read, to edit, and to use again")
        yield form(session, _RECIPE, _RECIPE_FIELDS, keep, label="Recipe")


@action("bulk.choose")
def choose(session: Session, name: str) -> Session:
    """Choose an operation; a field that it cannot change gives way to the first that it can."""
    if name not in OPERATIONS:
        raise Refused(f"There is no operation {name:.40}.")
    before = session.typed.get(FORM, {})
    session = session.with_typed(FORM, operation=name)
    fields = {one.name: one for one in operation_fields(session)}
    offered = {one.casefold() for one in fields["attribute"].suggestions}
    if str(before.get("attribute", "")).strip().casefold() not in offered:
        kept = {field: value for field, value in session.typed[FORM].items() if field != "attribute"}
        session = session.without_typed(FORM).with_typed(FORM, **kept)
    return session


@action("bulk.collect")
def collect(session: Session, digest: str) -> Session:
    """Collect what is previewed as corrections of texts, which are sent from there."""
    made = _BOX.preview(session)
    if made is None or made.digest != digest or not made.shown.texts:
        raise Refused("What would be collected is another by now. Look at it, and collect it again.")
    session, replaced = collecting(session, made.shown.texts)
    said = f"Collected {counted(len(made.shown.texts), 'correction')}: they are sent from Corrections. {replaced}"
    return session.noting(said.strip())


@action("bulk.back")
def take_back(session: Session) -> Session:
    """Preview how what was sent is taken back; it is sent as every other correction is."""
    if session.part(BulkCorrection).sent is None or session.service is None:
        raise Refused("Nothing was sent that could be taken back.")
    return _BOX.begun_anew(session).with_changed(BulkCorrection, back=_chosen(session))


# What is kept of it.

_RECIPE = "bulk-recipe"
_RECIPE_FIELDS = (FormField("file", "Recipe", "folder", placeholder="brand-spelling.toml"),)


@task("bulk.keep")
def keep_recipe(app: Panel) -> None:
    """Keep what is previewed as a recipe."""
    session = app.session
    values = form_values(session, _RECIPE, _RECIPE_FIELDS)
    path = path_typed(values, f"{_RECIPE}.file", "Enter a file, such as brand-spelling.toml.")
    made = _BOX.preview(session)
    if made is None or made.shown.chosen is None:
        raise Refused("There is nothing to keep yet: fill in the form first.")
    # What the catalogue and the filters chose is chosen again from other products; what is selected are these.
    before = None if session.selected else session.catalog.chosen
    own = Selection.of(product_id=session.selected) if session.selected else session.conditions
    recipe = Recipe(
        (made.shown.chosen,),
        path.stem.replace("-", " "),
        own if before is None else before.selection & own,
        "" if before is None else "; ".join(before.unwritten),
    )
    # As of every form that writes a file: a name that is taken replaces nothing. Who presses twice has kept it already.
    if path.exists() and not _has_kept(path, recipe):
        raise Refused(f"{path} already exists. Give another name, or delete it first.", at=f"{_RECIPE}.file")
    saved = recipe.save(path)
    app.change(lambda now: now.noting(f"Kept as {saved}."))


def _has_kept(path: Path, recipe: Recipe) -> bool:
    """Return whether a file is this recipe."""
    with suppress(ProdexError):
        return Recipe.read(path) == recipe
    return False


# What is shown of a preview.


def _preview_blocks(fix: Fix, chosen: RecipeStep | None) -> Iterator[Block]:
    """Yield what a correction would change: the counts, a sample before and after, what is not taken, the effect."""
    rows = fix.preview()
    words = "take back what was sent" if chosen is None else chosen.operation.words
    if why := _impossible(fix):
        yield paragraph(typed_text(f"{words[:1].upper()}{words[1:]}: {why}"), key="said", tone="problem")
        return
    title = f"{words[:1].upper()}{words[1:]}: {_counts_in_words(fix, rows['gtin'].nunique())}."
    yield paragraph(typed_text(title), key="said", tone="status")
    lines = [line for state, what in _NOT_TAKEN.items() for line in _reasons(fix, state, what)]
    if (reasons := listed([typed_text(one) for one in lines], key="reasons", tone="problem")) is not None:
        yield reasons
    what = "corrections, before and after" if len(rows) != 1 else "correction, before and after"
    yield from frame_blocks(rows, ("gtin", "language", "before", "after"), what, key="sample", most=_ROWS)
    yield from effect_blocks(fix)


def _impossible(fix: Fix) -> str:
    """Return why nothing at all could be done: it is no correction that changes nothing; "" where something could."""
    if fix.steps.empty or len(fix.answers):
        return ""
    (step,) = fix.steps.to_dict("records")
    return "" if step["already_so"] or step["no_value"] else str(step["reason"])


def _reasons(fix: Fix, state: str, what: str) -> list[str]:
    """Return why answers are in a state: reasons that differ in the value that they quote are one."""
    own = fix.answers[fix.answers["state"] == state]
    if own.empty:
        return []
    kinds = own.groupby(own["reason"].str.partition(": ")[0], sort=False)["reason"].agg(["size", "first"])
    kinds = kinds.sort_values("size", ascending=False, kind="stable")
    lines = [
        f"{what}, {line['size']:,}{', such as' if line['size'] > 1 and line['first'] != kind else ''}: {line['first']}"
        for kind, line in kinds.head(_REASONS).iterrows()
    ]
    if len(kinds) > _REASONS:
        lines.append(f"{what}: {len(kinds) - _REASONS:,} more reasons. A worklist of them has all.")
    return lines


def _counts_in_words(fix: Fix, products: int) -> str:
    """Return how many values change, of how many products, are so already, and are not taken."""
    counts, steps = fix.counts, fix.steps
    parts = []
    if counts["accepted"]:
        parts.append(f"{counted(counts['accepted'], 'value')} of {counted(products, 'product')} can be sent")
    already = int(steps["already_so"].sum()) if "already_so" in steps else counts["unchanged"]
    if already:
        parts.append(f"{already:,} {'is' if already == 1 else 'are'} so already")
    parts += [f"{number:,} {state_in_words(state)}" for state in _NOT_TAKEN if (number := counts[state])]
    without = int(steps["no_value"].sum()) if "no_value" in steps else 0
    if without:
        parts.append(f"{counted(without, 'product')} {'has' if without == 1 else 'have'} no value there")
    return ", ".join(parts) or "nothing to change"

"""Answers that were judged: what would change, what is not taken, and what is asked, each with what can be said to it.

For every outbox whose corrections are not listed in another way: those of worklists that came back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from prodex.languages.labels import attribute_title
from prodex.notebook.session.actions import Block
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import Cell, button, heading, listing, row, typed_text
from prodex.notebook.views.fix_blocks import changed_cell, fix_blocks
from prodex.notebook.views.sending import Outbox, place_of, question_of
from prodex.phrases import counted
from prodex.untrusted_text import label, words
from prodex.worklists.answer_rows import PLACE
from prodex.worklists.fix import Fix
from prodex.worklists.returned_files import place_in_words

#: Questions that are listed: a browser has to show them all.
_ROWS = 500


@dataclass(frozen=True, eq=False)
class ShownAnswers:
    """What is shown of answers.

    Attributes
    ----------
    blocks
        How many are in which state, what changes, and what is not taken.
    asked
        The answers that need confirmation, and those that ask to accept a finding (`is_request`), each with what names
        its `question`.
    """

    blocks: tuple[Block, ...]
    asked: tuple[Mapping[Any, Any], ...]


def judged_answers(name: str, fix: Fix, _: object = None) -> ShownAnswers:
    """Return what is shown of the answers of an outbox; of those that were sent nothing is asked."""
    asked = [] if fix.tracking is not None else fix.needs_confirmation.to_dict("records")
    requests = {place_of(one) for one in fix.requests.to_dict("records")} if asked else set()
    named = ({**one, "question": question_of(one), "is_request": place_of(one) in requests} for one in asked)
    return ShownAnswers(tuple(fix_blocks(fix, name)), tuple(named))


def answers_blocks(
    session: Session, box: Outbox, *, accept: str = "", done: Collection[str] = ()
) -> Iterator[Block]:
    """Yield what is shown of the answers of an outbox.

    Parameters
    ----------
    box
        The outbox.
    accept, done
        The action that accepts a finding, and the questions to which this was done.
    """
    if (preview := box.preview(session)) is None:
        return
    yield from preview.shown.blocks
    if not (asked := [one for one in preview.shown.asked if one["question"] not in done]):
        return
    listed = f" ({_ROWS:,} listed)" if len(asked) > _ROWS else ""
    yield heading(
        f"{counted(len(asked), 'answer')} to be confirmed, and not sent{listed}", key="asked", level=4
    )
    columns: dict[str, Callable[[Any], Cell] | str] = {
        "Product": _product_cell,
        "Field": _field_cell,
        "Answer": lambda one: changed_cell(one["answer"], one["language"], is_new=True),
        "What is asked": lambda one: typed_text(words(one["reason"])),
        "": partial(_act_cell, box.name, accept),
    }
    label = "Needs confirmation"
    yield listing(
        asked[:_ROWS],
        columns,
        key="asked rows",
        label=label,
        name=lambda one: one["question"],
        head="Product",
    )
    # Answers only: each reason to accept a finding is decided on by itself.
    if (number := sum(not one["is_request"] for one in asked[:_ROWS])) > 1:
        says = f"All {number:,} are meant" if len(asked) <= _ROWS else f"The {number:,} listed are meant"
        given: dict[str, Any] = {"which": preview.first_questions(number), "first": number}
        yield row(button(says, "send.confirm", key="all", outbox=box.name, **given), key="every")


def _product_cell(one: Mapping[Any, Any]) -> Cell:
    product = typed_text(label(one["name"] or f"product {one['product_id']}"))
    return {"parts": [product, {"words": f" {one['gtin'] or ''}", "tone": "muted"}]}


def _field_cell(one: Mapping[Any, Any]) -> Cell:
    place = place_in_words(*(one[name] for name in PLACE))
    return {
        "parts": [
            typed_text(attribute_title(one["attribute"] or "")),
            {"words": f" {one['language'] or ''}", "tone": "language"},
            {"words": typed_text(place), "tone": "why muted"},
        ]
    }


def _act_cell(name: str, accept: str, one: Mapping[Any, Any]) -> Cell:
    which = one["question"]
    says, do, given = "It is meant", "send.confirm", {"outbox": name, "which": which}
    if one["is_request"]:
        says, do, given = "Accept the finding", accept, {"which": which}
    title = f"{says}: {attribute_title(one['attribute'] or '')}, {one['language'] or ''}"
    return {"button": button(says, do, key=f"{do} {which}", title=title, **given)}

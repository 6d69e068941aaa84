"""Answers as rows of frames: the place of each, what it is about, and what becomes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from prodex.catalog import Catalog
from prodex.facts.name import names_of
from prodex.gtin import gtin_key
from prodex.languages import Message, Said
from prodex.languages.message import sentences
from prodex.send.product_writes import Changes
from prodex.send.tracking import Tracking
from prodex.worklists.answer_outcomes import AnswerState, Decision
from prodex.worklists.returned_files import AnswerSheet, Problem, file_name

#: Columns with the place of an answer.
PLACE = ("file", "sheet", "row", "cell")
_KEYS = (
    *("product_id", "gtin", "name", "owner"),
    *("attribute", "language", "language_code", "position", "check"),
)
#: Columns of `Fix.answers`.
COLUMNS = (*PLACE, *_KEYS, "value", "before", "answer", "state", "reason")
#: Columns of `Fix.preview()`; the first one names the owner of the product.
PREVIEW = (
    *("owner", "gtin", "name", "attribute", "language", "before", "after", "check", "says"),
    *("file", "sheet", "cell"),
)
#: Columns of `Fix.row_counts`.
ROWS = ("file", "sheet", "rows", *(state.value for state in AnswerState), "without an answer")
#: The state of a row with several answers is the first of these that one of them has.
_WORST = (
    *(AnswerState.REFUSED, AnswerState.CONFLICT, AnswerState.NEEDS_CONFIRMATION),
    *(AnswerState.ACCEPTED, AnswerState.UNCHANGED),
)
#: Where corrections come from that are in no file.
TYPED = "corrections that were typed"
#: Columns of `Fix.sent`.
SENT = ("product_id", "gtin", "name", "status", "message")

#: GTIN, name and owner of products, by their ids.
Names: TypeAlias = Mapping[str, tuple[str | None, str | None, str | None]]
_NOBODY = (None, None, None)


def product_names(catalog: Catalog, ids: list[str]) -> Names:
    """Return GTIN, name and owner of products, by their ids."""
    here = catalog.where(product_id=ids)
    rows = here.arrow("products", ["product_id", "gtin", "owner"]).to_pylist()
    names = names_of(here)
    return {row["product_id"]: (row["gtin"], names.get(row["product_id"]), row["owner"]) for row in rows}


def reason_of(decision: Decision, state: AnswerState, reason: Said) -> Said:
    """Return why an answer is in a state, with where it was written if it is not in its own cell."""
    if decision.answer.is_typed_over and state is AnswerState.REFUSED:
        over = '{said} It was typed over "Value seen": write it into "New value".'
        reason = Message(over, said=reason)
    if decision.answer.given_at is not None and state is not AnswerState.ACCEPTED:
        reason = sentences(reason, _given(decision.answer.given_at))
    return reason


def answer_row(decision: Decision, state: AnswerState, reason: Said, names: Names) -> dict[str, Any]:
    """Return an answer as a row of `Fix.answers`."""
    answer, keys = decision.answer, decision.answer.keys
    gtin, name, owner = names.get(str(decision.product), (keys.get("gtin"), None, None))
    position = decision.position or keys.get("position") or keys.get("position_read")
    about = (
        *(decision.product or keys.get("product_id"), gtin or keys.get("gtin"), name, owner),
        *(decision.attribute or keys.get("attribute"), decision.language or keys.get("language")),
        *(decision.language_code or keys.get("language_code"), position),
        decision.check,
    )
    values = (keys.get("value"), decision.before, answer.text, state.value, str(reason))
    return dict(zip(COLUMNS, (*answer.cell_place, *about, *values), strict=True))


def problem_row(problem: Problem, reason: Said) -> dict[str, Any]:
    """Return what could not be read as a row of `Fix.answers`."""
    values = (
        *(problem.file, problem.sheet, problem.row, problem.cell),
        *[None] * len(_KEYS),
        None,
        None,
        problem.text,
        "refused",
        str(reason),
    )
    return dict(zip(COLUMNS, values, strict=True))


def preview_row(decision: Decision, names: Names) -> tuple[Any, ...]:
    """Return an answer as a row of `Fix.preview()`."""
    gtin, name, owner = names.get(str(decision.product), _NOBODY)
    # French of Belgium by its code, where there is French of France as well.
    place = (owner, gtin, name, decision.attribute, decision.variant or decision.language)
    # Its folder is nobody else's business.
    where = (file_name(decision.answer.file), decision.answer.sheet, decision.answer.cell)
    given = decision.answer.given_at
    says = " ".join(map(str, filter(None, [decision.note, given and _given(given)])))
    return *place, decision.before, decision.after, decision.check, says, *where


def _given(place: str) -> Message:
    return Message("It is written for several rows in {place}.", place=place)


def row_count(sheet: AnswerSheet, states: Mapping[int, Collection[str]]) -> tuple[Any, ...]:
    """Return how many rows of a sheet are in which state, as a row of `Fix.row_counts`.

    Parameters
    ----------
    sheet
        The sheet.
    states
        The states of the answers of each row, by its number.
    """
    counts = Counter(next(one for one in _WORST if one in found) for found in states.values())
    counts[AnswerState.REFUSED] += sheet.unread
    without = sheet.rows - counts.total()
    return sheet.file, sheet.sheet, sheet.rows, *(counts[state] for state in AnswerState), without


def sent_rows(changes: Changes, tracking: Tracking, names: Names) -> Iterator[tuple[Any, ...]]:
    """Yield what became of each product that was sent, as a row of `Fix.sent`."""
    found = tracking.products
    statuses = zip(found["status"], found["message"], strict=True)
    replies = dict(zip(map(gtin_key, found["gtin"]), statuses, strict=True))
    for product, write in changes.writes.items():
        gtin = write.gtin
        yield product, gtin, names.get(product, _NOBODY)[1], *replies.get(gtin_key(gtin), ("unknown", ""))

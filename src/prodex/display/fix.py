"""How a `Fix` looks: how many answers are taken, what would change, and what is not taken and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from prodex.advice import Named, PythonCall
from prodex.arguments import is_missing
from prodex.display.html_tables import block, table
from prodex.phrases import counted
from prodex.untrusted_text import on_one_line
from prodex.worklists.answer_rows import TYPED
from prodex.worklists.returned_files import place_in_words

if TYPE_CHECKING:
    from prodex.worklists.fix import Fix

_ROWS = 10
#: States in words. Before they are sent, nobody but prodex has looked at them.
_STATES = {
    "accepted": "can be sent",
    "unchanged": "changes nothing",
    "refused": "cannot be used",
    "conflict": "in conflict",
    "needs confirmation": "to be confirmed",
}
_SENT_STATES = {state: words for state, words in _STATES.items() if state != "accepted"} | {
    "refused": "refused"
}
#: What became of the accepted ones, by the state of their product at the service, where that is not "sent".
_OUTCOMES = {"unknown": "may have been sent", "not sent": "not sent yet", "refused": "not sent yet"}
#: States of rows, beside those of answers; accepted rows were sent, or are to be.
_WITHOUT = "without an answer"
#: The same of several answers, where it differs.
_OF_SEVERAL = {"unchanged": "change nothing"}
_NOT_TAKEN = ["file", "sheet", "cell", "owner", "gtin", "attribute", "language", "answer", "reason"]
#: Columns of words and numbers that stay whole where they fit.
_WHOLE = frozenset({"sheet", "cell", "gtin", "attribute", "language"})
#: Columns that are left out where they have nothing: corrections that were typed are in no file.
_IF_ANY = frozenset({"file", "sheet", "cell", "says"})
_CHANGED = [
    *("owner", "gtin", "name", "attribute", "language", "before", "after", "says"),
    *("file", "sheet", "cell"),
]
_NOTED = ["file", "sheet", "cell", "column", "gtin", "attribute", "text"]
#: Owners that are named; others are only counted.
_OWNERS = 5


def state_in_words(state: str) -> str:
    """Return the words for the state of an answer that was not sent yet.

    >>> state_in_words("refused")
    'cannot be used'
    """
    return _STATES[state]


def states_in_words(fix: Fix) -> str:
    """Return how many answers are in which state: "33 can be sent, 1 changes nothing"."""
    words = [f"{number:,} {outcome}" for outcome, number in _outcomes(fix).items()]
    states = _STATES if fix.tracking is None else _SENT_STATES
    return ", ".join([*words, *_state_counts(states, fix.counts)])


def _state_counts(states: Mapping[str, str], counts: Mapping[str, int]) -> list[str]:
    return [
        f"{number:,} {words if number == 1 else _OF_SEVERAL.get(state, words)}"
        for state, words in states.items()
        if (number := counts.get(state, 0))
    ]


def _outcomes(fix: Fix) -> Counter[str]:
    """Return how many accepted answers were sent, may have been, and were not; nothing before any was sent."""
    if fix.tracking is None:
        return Counter()
    counts: Counter[str] = Counter()
    for status, number in fix.outcomes.items():
        counts[_OUTCOMES.get(status, "sent")] += number
    return counts


def text_of(fix: Fix, words: Callable[[Named], str] = str) -> str:
    """Return answers as text; `words` are those of arguments and calls that it names."""
    lines = [headline_of(fix), *facts_of(fix)]
    not_taken = not_taken_of(fix)
    for row in not_taken.head(_ROWS).to_dict("records"):
        place = place_in_words(*(row[name] for name in ("file", "sheet", "row", "cell")))
        lines.append(f"  {place}: {row['reason']}")
    if len(not_taken) > _ROWS:
        every = words(PythonCall("all in .refused, .conflicts and .needs_confirmation"))
        lines.append(f"  {_ROWS} of {len(not_taken):,} shown; {every}")
    lines += _note_lines(fix, words)
    return "\n".join(map(on_one_line, lines))


def html_of(fix: Fix) -> str:
    """Return answers as tables for a notebook: old and new side by side, then what is not taken."""
    tables = []
    for frame, columns, what in (
        (fix.preview(), _CHANGED, "corrections"),
        (not_taken_of(fix), _NOT_TAKEN, "answers that are not sent"),
        (_without_folder(fix.notes), _NOTED, "cells beside rows without an answer"),
    ):
        if len(frame):
            # What nobody has to know takes no room.
            heads = [one for one in columns if one not in _IF_ANY or frame[one].astype(bool).any()]
            rows = frame[heads].head(_ROWS).fillna("").itertuples(index=False, name=None)
            shown = f"{min(_ROWS, len(frame))} of {len(frame):,}"
            tables.append(table(f"{shown} {what}", heads, rows, codes=_WHOLE))
    return block(headline_of(fix), [(line, False) for line in facts_of(fix)], tables=tables)


def headline_of(fix: Fix) -> str:
    counts, owners = fix.counts, fix.owners
    states_text = states_in_words(fix)
    # Whoever reads a table of somebody else sees first whose products it is about.
    whose = f" for products of {counted(len(owners), 'owner')}" if len(owners) > 1 else ""
    return f"Fix{whose}: {counted(counts.total(), 'answer')}{': ' if states_text else ''}{states_text}"


def facts_of(fix: Fix) -> Iterator[str]:
    owners = fix.owners
    if len(owners):
        pairs = zip(owners["owner"].head(_OWNERS), owners["answers"], strict=False)
        named = [
            f"{'nobody' if is_missing(owner) else owner} ({counted(int(number), 'answer')})"
            for owner, number in pairs
        ]
        more = f" and {len(owners) - _OWNERS:,} more" if len(owners) > _OWNERS else ""
        yield f"Products of {', '.join(named)}{more}"
    # A worklist has files; what was computed says what it is: an undo, a recipe.
    why = fix.why if fix.why != TYPED else "typed beside the products"
    words = [f"Read from {counted(fix.files, 'file')}" if fix.files else f"{why[:1].upper()}{why[1:]}"]
    if fix.files:
        words.append(_rows_by_state(fix))
    if fix.ignored:
        words.append(f"{counted(len(fix.ignored), 'file')} or sheets of another kind not read")
    yield "; ".join(words)
    checks = (
        f"checks of {fix.profile.name}"
        if fix.profile.every_check
        else "without rules: only what would be refused"
    )
    yield f"Catalogue {fix.catalog.origin.source}, {counted(len(fix.catalog), 'product')}; {checks}"
    if fix.tracking is not None:
        yield f"Sent: {fix.tracking.status} {fix.tracking.message}".rstrip()


def _rows_by_state(fix: Fix) -> str:
    """Return how many rows are in which state, which together are all rows."""
    frame = fix.row_counts
    counts = {str(name): int(frame[name].sum()) for name in frame.columns if name not in {"file", "sheet"}}
    rows = counts.pop("rows")
    states = _STATES
    if fix.tracking is not None:
        # A row may have several answers: what became of them may differ.
        states = {"accepted": " or ".join(_outcomes(fix))} | _SENT_STATES
    states_text = ", ".join(_state_counts(states | {_WITHOUT: _WITHOUT}, counts))
    return f"{sum(counts.values()):,} of {counted(rows, 'row')} accounted for{': ' if states_text else ''}{states_text}"


def _note_lines(fix: Fix, words: Callable[[Named], str]) -> Iterator[str]:
    """Yield what somebody typed beside rows without an answer, which is not sent."""
    notes = fix.notes
    if len(notes):
        every = words(PythonCall(".notes"))
        yield f"{counted(len(notes), 'cell')} beside rows without an answer, not sent ({every}):"
        for note in notes.head(_ROWS).to_dict("records"):
            place = place_in_words(*(note[name] for name in ("file", "sheet", "row", "cell")))
            yield f"  {place}, {note['column'] or 'no heading'}: {note['text']:.80}"


def not_taken_of(fix: Fix) -> pd.DataFrame:
    answers: Any = fix.answers
    return _without_folder(answers[answers["state"].isin(["refused", "conflict", "needs confirmation"])])


def _without_folder(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(file=[str(one).replace("\\", "/").rpartition("/")[2] for one in frame["file"]])

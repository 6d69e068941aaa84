"""How corrections look that were judged: what changes, before and after, what is not taken and why, what is fixed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from prodex.arguments import is_missing as missing
from prodex.display.fix import facts_of, headline_of, not_taken_of
from prodex.languages.labels import attribute_title
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import Cell, heading, listed, paragraph, table, typed_text
from prodex.phrases import counted
from prodex.quality import AuditComparison
from prodex.untrusted_text import words
from prodex.worklists.fix import Fix

#: Rows of each table, lines of each list, and bytes of a text: a browser has to show them all.
_ROWS, _LINES, _MOST = 10, 20, 20_000
#: How columns of a `Fix` are called.
_TITLES = {"owner": "Owner", "gtin": "GTIN", "name": "Product", "attribute": "Text", "language": "Language"}
_TITLES |= {"before": "Now", "after": "New", "says": "Remark", "file": "File", "sheet": "Sheet"}
_TITLES |= {"cell": "Cell", "answer": "Answer", "reason": "Why", "column": "Column", "text": "Typed"}
_CHANGED = ("owner", "gtin", "name", "attribute", "language", "before", "after", "says", "file", "cell")
_NOT_TAKEN = ("file", "sheet", "cell", "gtin", "attribute", "language", "answer", "reason")
_NOTED = ("file", "sheet", "cell", "column", "gtin", "attribute", "text")
#: Columns of texts that anybody may have written, in which nothing says where a line ends.
_FREE = frozenset({"owner", "name", "says", "answer", "reason", "column", "text"})
#: Columns that are left out where they have nothing: corrections that were typed are in no file.
_IF_ANY = frozenset({"owner", "language", "file", "sheet", "cell", "says"})

NO_RULES = "Without an audit only what the service would refuse is found. Run one to see what is fixed."


def fix_blocks(fix: Fix, key: str) -> list[Block]:
    """Return all that is known of answers: how many are in which state, old and new side by side, what is not taken."""
    first, *facts = headline_of(fix), *facts_of(fix)
    notes = fix.notes.assign(
        file=[str(one).replace("\\", "/").rpartition("/")[2] for one in fix.notes["file"]]
    )
    tables = (
        (fix.preview(), _CHANGED, "corrections"),
        (not_taken_of(fix), _NOT_TAKEN, "answers that are not sent"),
        (notes, _NOTED, "cells beside rows without an answer"),
    )
    made: list[Block | None] = [paragraph(typed_text(first), key="headline", tone="status")]
    made.append(listed([typed_text(one) for one in facts], key="facts", tone="muted"))
    for frame, columns, what in tables:
        made += frame_blocks(frame, columns, what, key=f"{key} {what}")
    return [one for one in made if one]


def frame_blocks(
    frame: pd.DataFrame, columns: Sequence[str], what: str, *, key: str, most: int = _ROWS
) -> list[Block]:
    """Return a table of the first rows of a frame, below how many they are; nothing without rows."""
    if frame.empty:
        return []
    kept = [one for one in columns if one not in _IF_ANY or frame[one].fillna("").astype(bool).any()]
    heads = [{"name": one, "title": _TITLES.get(one, one)} for one in kept]
    first = frame[kept].head(most).to_dict("records")
    rows = [
        {"key": str(number), "cells": [_cell(name, row[name], row) for name in kept]}
        for number, row in enumerate(first)
    ]
    title = f"{len(rows):,} of {len(frame):,} {what}"
    return [
        heading(title, key=f"title {key}", level=4),
        table(heads, rows, key=key, label=title, look="texts"),
    ]


def _cell(name: str, value: Any, row: Mapping[Any, Any]) -> Cell:
    is_missing = missing(value)
    if name in {"before", "after"}:
        return changed_cell(None if is_missing else value, row.get("language"), is_new=name == "after")
    if is_missing or value == "":
        return ""
    said = typed_text(words(attribute_title(value) if name == "attribute" else value, _MOST))
    return {"words": said, "tone": "why"} if name in _FREE else dict(said)


def changed_cell(value: str | None, language: object, *, is_new: bool) -> Cell:
    """Return a text before or after, in its language."""
    if value is None or value == "":
        return {"words": "deleted" if is_new else "none", "tone": "gap"}
    cell: dict[str, Any] = {
        "words": typed_text(words(value, _MOST)),
        "tone": "added" if is_new else "removed",
    }
    return {**cell, "lang": language[:2]} if isinstance(language, str) and language else cell


def effect_blocks(fix: Fix) -> list[Block]:
    """Return what the accepted corrections would fix, and what would newly fail."""
    if not fix.counts["accepted"]:
        return []
    if not fix.profile.checks:
        return [paragraph(NO_RULES, key="effect", tone="muted")]
    effect = fix.effect()
    said = f"By the checks of {fix.profile.title or fix.profile.name}: {fixed_and_new(effect)}."
    new = listed([typed_text(one) for one in lines_of(effect, "newly failing")], key="new", tone="problem")
    return [one for one in (paragraph(typed_text(said), key="effect"), new) if one]


def fixed_and_new(effect: AuditComparison) -> str:
    """Return how many findings are fixed, and how many are new."""
    fixed, new = len(effect.changes("fixed")), len(effect.changes("newly failing"))
    return f"{counted(fixed, 'finding')} fixed, {new:,} new"


def lines_of(effect: AuditComparison, change: str) -> list[str]:
    """Return problem and product of what changed, the first of them."""
    rows = effect.changes(change)
    first = rows.head(_LINES).to_dict("records")
    return first_lines([f"{row['problem']}: {row['name'] or row['product_id']}" for row in first], len(rows))


def first_lines(lines: Iterable[str], every: int) -> list[str]:
    """Return the first lines, and how many more there are."""
    kept = [*lines][:_LINES]
    return [*kept, f"{every - len(kept):,} more"] if every > len(kept) else kept

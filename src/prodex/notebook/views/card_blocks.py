"""What the parts of a card are drawn with: values with their labels, tables below how much of them is shown, folds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from prodex.exploration.card.record import Row, item_text, value_text
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import Cell, box, columns_of, paragraph, table, typed_text
from prodex.phrases import counted
from prodex.untrusted_text import Words, words

#: Rows of one table.
_MOST_ROWS = 300

#: What a cell shows where there is nothing.
_DASH = {"words": "–", "tone": "muted"}

NOTHING = words(None)


def part(title: str, *blocks: Block | None, note: str = "", look: str = "", key: str = "") -> Block:
    """Return a part of the card with its heading; None is left out."""
    return {
        "kind": "part",
        "key": key or f"part {title}",
        "title": title,
        "note": note,
        "look": look,
        "blocks": [one for one in blocks if one],
    }


def fact(term: str, value: Words, note: Words = NOTHING, missing: str = "none") -> Block:
    """Return a value with its label, what is said behind it, and why it is missing if it is.

    >>> fact("brand", words(None), missing="null")
    {'term': {'text': 'brand'}, 'value': {'gap': 'null'}}
    """
    return {
        # Labels are ours, but for those of attributes, which are named by whoever sends them.
        "term": typed_text(term),
        "value": typed_or(value, missing),
        **({} if note.is_missing else {"note": typed_text(note)}),
    }


def facts_of(values: Mapping[str, Any]) -> list[Block]:
    """Return the values that are there, each with its label."""
    return [fact(term, value_text(value)) for term, value in values.items() if value is not None]


def facts(rows: Iterable[Block], *, key: str, look: str = "") -> Block:
    """Return values with their labels."""
    return {"kind": "facts", "key": key, "look": look, "rows": [*rows]}


def mark(said: Any, tone: str, *, key: str = "") -> Block:
    """Return a few words that look otherwise than those around them."""
    return {"kind": "mark", "key": key or tone, "words": said, "tone": tone}


def details(title: Any, *blocks: Block | None, key: str, is_open: bool = False) -> Block:
    """Return what opens and closes in the page: unlike a fold, all of it is there from the beginning."""
    return {
        "kind": "details",
        "key": key,
        "title": title,
        "open": is_open,
        "blocks": [one for one in blocks if one],
    }


def folded_facts(title: str, rows: Sequence[Block], key: str, *, inside: str = "facts") -> Block | None:
    """Return values in what opens; None without any."""
    return details(title, facts(rows, key=inside), key=key) if rows else None


def of(shown: int, total: int, noun: str) -> str:
    """Return how many are shown, if these are not all.

    >>> of(3, 3, "text"), of(3, 12, "text")
    ('3 texts', '3 of 12 texts')
    """
    return f"{shown:,} of {counted(total, noun)}" if shown < total else counted(total, noun)


def typed_or(text: Words, missing: str) -> dict[str, str]:
    """Return a text of somebody else, or our words where there is none."""
    return {"gap": missing} if text.is_missing else typed_text(text)


def nothing(why: str, key: str) -> Block:
    """Return why there is nothing."""
    return paragraph(f"None: {why}.", key=key, tone="muted")


def spaced(*said: Any) -> list[Any]:
    """Return what is said in a row, with spaces between; what is nothing is left out."""
    return [one for each in said if each for one in (" ", each)][1:]


def marked(text: Words, tone: str, *, key: str = "") -> Block | None:
    """Return a text of somebody else that looks otherwise; None if it is missing."""
    return None if text.is_missing else mark(typed_text(text), tone, key=key)


def plain_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    key: str,
    label: str,
    numbers: Collection[str] = (),
) -> Block:
    """Return a table whose rows begin with a head and only show; `numbers` are the titles of columns of numbers."""
    columns = columns_of(titles, numbers=numbers)
    columns[0]["head"] = True
    made = [{"key": str(number), "cells": [*cells]} for number, cells in enumerate(rows)]
    return table(columns, made, key=key, label=label)


def grid(
    columns: Mapping[str, str],
    rows: Sequence[Row],
    noun: str,
    label: str,
    *,
    numeric: Collection[str] = (),
    title: Sequence[Any] = (),
) -> Block:
    """Return rows of the catalogue as a table, below how many of them are shown.

    Parameters
    ----------
    columns
        Headings, and the column that each shows; one that is empty is left out.
    rows, noun
        The rows, and what a row is.
    label
        The name of the table, for screen readers.
    numeric
        Headings of columns of numbers.
    title
        What is said before the number of rows.
    """
    rows = [{**row, "item": item_text(row.get("position") or "")} for row in rows]
    filled = {head: one for head, one in columns.items() if any(row.get(one) is not None for row in rows)}
    capital = {head: f"{head[0].upper()}{head[1:]}" for head in filled}
    shown = [[_cell(row.get(one)) for one in filled.values()] for row in rows[:_MOST_ROWS]]
    count = of(len(shown), len(rows), noun)
    numbers = [capital[one] for one in filled if one in numeric]
    return box(
        paragraph([*title, f": {count}"] if title else count, key="count", tone="muted"),
        plain_table([*capital.values()], shown, key="rows", label=label, numbers=numbers),
        key=f"grid {label}",
    )


def folded_grid(
    columns: Mapping[str, str],
    rows: Sequence[Row],
    noun: str,
    label: str,
    *,
    key: str,
    numeric: Collection[str] = (),
    more: str = "",
) -> Block | None:
    """Return such a table in what opens, whose title counts its rows; None without any."""
    if not rows:
        return None
    shown = grid(columns, rows, noun, label, numeric=numeric)
    return details(f"{counted(len(rows), noun)}{more}", shown, key=key)


def _cell(value: Any) -> Cell:
    said = value_text(value)
    return _DASH if said.is_missing else typed_text(said)

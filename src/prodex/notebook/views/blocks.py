"""The blocks that all sections are built of: headings, sentences, buttons, tables, what folds, and work that runs.

A block is JSON with a kind and a key. Its key is its own among its siblings: by it a page knows which element it is,
and leaves focus, scrolling and what is being typed where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prodex.notebook.session.actions import Block, Panel, action, task
from prodex.notebook.session.session import Session
from prodex.phrases import counted
from prodex.untrusted_text import Words, words

#: A text that somebody else typed, as pages show it.
Typed = dict[str, str]
#: What a cell holds: our own words, a text of somebody else, or more about either.
Cell = str | dict[str, Any]


def typed_text(text: Words | str | None) -> Typed:
    """Return a text that somebody else typed as pages show it: in full, folded, or why there is nothing to see.

    >>> typed_text("Pain"), typed_text(""), typed_text(" ")
    ({'text': 'Pain'}, {'gap': 'empty'}, {'text': ' ', 'gap': '1 invisible character'})
    """
    it = text if isinstance(text, Words) else words(text)
    if it.is_missing:
        return {"gap": "none"}
    if not it.text:
        return {"gap": "empty"}
    closed = it.text + it.ends
    if not it.text.strip():
        return {"text": closed, "gap": counted(it.length, "invisible character")}
    note = f"{len(it.text):,}{f' of {it.length:,}' if it.is_cut else ''} characters"
    if it.is_long:
        begin = words(it.text[:120])
        return {"text": closed, "begin": begin.text + begin.ends, "note": note}
    return {"text": closed, "note": note} if it.is_cut else {"text": closed}


def heading(text: str | Sequence[Any], *, key: str = "", level: int = 3) -> Block:
    """Return a heading: our own words, or parts in a row as of a sentence."""
    return {"kind": "heading", "key": key or f"heading {text}", "text": text, "level": level}


def paragraph(text: str | Typed | Sequence[Any], *, key: str = "", tone: str = "") -> Block:
    """Return a sentence.

    Parameters
    ----------
    text
        Our own words; a text of somebody else (`typed_text`); or parts in a row: words, such texts and buttons.
    tone
        "" as it is, "muted", "problem" (screen readers interrupt), "note" (they wait their turn), "good".
    """
    return {"kind": "text", "key": key or f"text {text}"[:60], "text": text, "tone": tone}


def button(
    label: str | Sequence[Any],
    do: str,
    *,
    key: str = "",
    look: str = "",
    title: str = "",
    off: str = "",
    pressed: bool | None = None,
    to: str = "",
    **args: Any,
) -> Block:
    """Return a button.

    Parameters
    ----------
    label
        What it says; it wraps, and is never cut.
    do, args
        What is asked for when it is pressed.
    look
        "" as it is, "main" for what a form is for, "link", "quiet", "danger".
    title
        What a pointer over it says.
    off
        Why it cannot be pressed now; empty if it can. It keeps the focus, and says why.
    pressed
        Whether it is on, for one that can be on and off.
    to
        Key of the block that has the focus once the button is gone.
    """
    made: Block = {
        "kind": "button",
        "key": key or f"{do} {args}"[:120],
        "label": label,
        "do": do,
        "args": args,
    }
    optional = {"look": look, "title": title, "off": off, "to": to}
    made.update({name: value for name, value in optional.items() if value})
    return made if pressed is None else {**made, "pressed": pressed}


def row(*blocks: Block | None, key: str, look: str = "") -> Block:
    """Return blocks side by side, which wrap where there is no room; None is left out."""
    return {"kind": "row", "key": key, "look": look, "blocks": [one for one in blocks if one]}


def box(*blocks: Block | None, key: str, look: str = "", label: str = "") -> Block:
    """Return blocks below each other; with a label, they are a group that screen readers name."""
    return {"kind": "box", "key": key, "look": look, "label": label, "blocks": [one for one in blocks if one]}


def listed(items: Iterable[Any], *, key: str, tone: str = "") -> Block | None:
    """Return sentences as a list; None if there are none."""
    made = [*items]
    return {"kind": "list", "key": key, "items": made, "tone": tone} if made else None


def switch(
    label: str, value: str, options: Mapping[str, str], do: str, *, key: str, argument: str = "name"
) -> Block:
    """Return buttons of which one is chosen; `options` are their names and what they say."""
    listed = [{"name": name, "title": title} for name, title in options.items()]
    return {
        "kind": "switch",
        "key": key,
        "label": label,
        "value": value,
        "options": listed,
        "do": do,
        "argument": argument,
    }


def table(
    columns: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    label: str,
    sort: str = "",
    empty: str = "",
    look: str = "",
) -> Block:
    """Return a table.

    Parameters
    ----------
    columns
        Of each its `name`, `title`, and if they differ from the usual: `align` ("right"), `sort` ("ascending",
        "descending": the table is sorted by it; "" it can be), `head` (a row begins with it).
    rows
        Of each its `key`, its `cells` in the order of the columns, and `look`, `do` and `args` if it can be pressed. A
        cell is a string of ours, a typed text, {"words", "tone", "title"}, {"button": ...}, {"share": 0.7, "words":
        "70 %"} (a bar), or {"parts": [...]} of these in a row.
    label
        What screen readers call it.
    sort
        The action that sorts it, with `column`; empty if it cannot be sorted.
    empty
        What is said where there are no rows.
    """
    return {
        "kind": "table",
        "key": key,
        "columns": [*columns],
        "rows": [*rows],
        "label": label,
        "sort": sort,
        "empty": empty,
        "look": look,
    }


def columns_of(titles: Iterable[str], *, numbers: Iterable[str] | None = None) -> list[Block]:
    """Return the columns of a table that is not sorted: all but the first hold numbers, unless they are given.

    >>> columns_of(["Brand", "Products"])
    [{'name': 'Brand', 'title': 'Brand'}, {'name': 'Products', 'title': 'Products', 'align': 'right'}]
    """
    every = [*titles]
    right = {*every[1:]} if numbers is None else {*numbers}
    return [{"name": one, "title": one, **({"align": "right"} if one in right else {})} for one in every]


def untitled(*names: str, head: str, numbers: Iterable[str] = ()) -> list[Block]:
    """Return the columns of a table without titles: with one of them a row begins, and some hold numbers.

    >>> untitled("grade", "products", head="grade", numbers=["products"])
    [{'name': 'grade', 'title': '', 'head': True}, {'name': 'products', 'title': '', 'align': 'right'}]
    """
    more: dict[str, Block] = {head: {"head": True}, **{one: {"align": "right"} for one in numbers}}
    return [{"name": one, "title": "", **more.get(one, {})} for one in names]


def listing(
    rows: Iterable[Any],
    columns: Mapping[str, Callable[[Any], Cell] | str],
    *,
    key: str,
    label: str,
    name: Callable[[Any], str] | None = None,
    more: Callable[[Any], Mapping[str, Any]] = lambda _: {},
    head: str = "",
    empty: str = "",
    look: str = "",
) -> Block:
    """Return a table that is not sorted.

    Parameters
    ----------
    rows
        What is listed: of each row its values by name.
    columns
        Of each title what its cell holds: made of the row, or the name of the value that is its number.
    key, label, empty, look
        As for `table`.
    name
        The key of a row; its place in the list, unless given.
    more
        What a row has beside its key and its cells, as for `table`: what is done where it is pressed.
    head
        The title of the column that says what a row is about.

    Examples
    --------
    >>> brands = [{"brand": "Mill", "products": 1_200}]
    >>> columns = {"Brand": lambda one: typed_text(one["brand"]), "Products": "products"}
    >>> listing(brands, columns, key="brands", label="Brands", name=lambda one: one["brand"])["rows"]
    [{'key': 'Mill', 'cells': [{'text': 'Mill'}, '1,200']}]
    """
    numbers = [title for title, cell in columns.items() if isinstance(cell, str)]
    made = [
        {
            "key": str(place) if name is None else name(one),
            "cells": [f"{one[cell]:,}" if isinstance(cell, str) else cell(one) for cell in columns.values()],
            **more(one),
        }
        for place, one in enumerate(rows)
    ]
    heads = [
        {**one, "head": True} if one["title"] == head and head else one
        for one in columns_of(columns, numbers=numbers)
    ]
    return table(heads, made, key=key, label=label, empty=empty, look=look)


@dataclass(frozen=True)
class Folds:
    """Which folds were opened and closed."""

    is_open: Mapping[str, bool] | None = None


def is_open(session: Session, key: str, *, at_first: bool = False) -> bool:
    """Return whether a fold is open."""
    return (session.part(Folds).is_open or {}).get(key, at_first)


def fold(
    session: Session,
    key: str,
    title: str,
    inside: Callable[[], Iterable[Block | None]],
    *,
    at_first: bool = False,
) -> Block:
    """Return what opens and closes with a button; what is inside is made only while it is open."""
    opened = is_open(session, key, at_first=at_first)
    blocks = [one for one in inside() if one] if opened else []
    return {"kind": "fold", "key": key, "title": title, "open": opened, "blocks": blocks}


@action("fold.set", is_quiet=True)
def set_fold(session: Session, key: str, is_open: bool) -> Session:
    """Open or close a fold."""
    return session.with_part(Folds({**(session.part(Folds).is_open or {}), key: is_open}))


def work(session: Session, slot: str, *, cancel: str = "Cancel") -> Block | None:
    """Return how far work is, with its button to cancel; None where none of the slot is shown."""
    if (shown := session.works.get(slot)) is None:
        return None
    progress = shown.progress
    return {
        "kind": "work",
        "key": f"work {slot}",
        # Read out once a phase: the sentence changes several times a second.
        "phase": progress.phase,
        "words": f"{progress}; cancelling …" if shown.is_cancelled else str(progress),
        "done": progress.done,
        "total": progress.total,
        "cancel": button(cancel, "work.cancel", off="Cancelling …" if shown.is_cancelled else "", slot=slot),
    }


def outcome(session: Session, place: str, *, key: str) -> Block | None:
    """Return what became of the last work of a place, as `Session.noting` has it; None where nothing is said."""
    if (notice := session.notices.get(place)) is None:
        return None
    return paragraph(typed_text(notice.sentence), key=key, tone="problem" if notice.is_problem else "note")


@task("work.cancel")
def cancel_work(app: Panel, slot: str) -> None:
    """Cancel work that runs."""
    app.cancel(slot)

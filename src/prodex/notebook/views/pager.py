"""Pages of rows: which rows of how many are shown, and the buttons to turn to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prodex.messages import counted
from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.value import Session
from prodex.notebook.views.blocks import button, row, sentence


@dataclass(frozen=True)
class Pages:
    """Numbers of the first rows that are shown, from 0, by the name of what they are rows of."""

    first: Mapping[str, int] | None = None


def first_of(session: Session, name: str, total: int, size: int) -> int:
    """Return the number of the first row that is shown: of the last page, where there are fewer than before."""
    wanted = (session.part(Pages).first or {}).get(name, 0)
    return max(0, min(wanted, (total - 1) // size * size)) // size * size


def turned_to(session: Session, name: str, first: int) -> Session:
    """Return the session that shows the rows from a number on."""
    return session.with_part(Pages({**(session.part(Pages).first or {}), name: first}))


def pager(name: str, total: int, noun: str, first: int, size: int) -> Block:
    """Return which rows of how many are shown, with a button to each side where there are more than one page has.

    >>> pager("kinds", 30, "kind", 12, 12)["blocks"][0]["text"], pager("kinds", 1, "kind", 0, 12)["blocks"][0]["text"]
    ('13 to 24 of 30 kinds', '1 kind')
    """
    if not total:
        said = f"no {noun}s"
    else:
        shown = f"{first + 1:,} to {min(first + size, total):,} of " if total > 1 else ""
        said = f"{shown}{counted(total, noun)}"
    turns = [
        button(
            label,
            "pages.turn",
            key=f"{name} {label}",
            title=f"{label} {noun}s",
            off="" if 0 <= to < total else f"There are no {noun}s on that side.",
            name=name,
            first=max(0, to),
        )
        for label, to in (("Previous", first - size), ("Next", first + size))
        if total > size
    ]
    return row(sentence(said, key="said", tone="status"), *turns, key=f"pager {name}", look="pager")


@action("pages.turn", is_quiet=True)
def turn(session: Session, name: str, first: int) -> Session:
    """Show the rows from a number on."""
    return turned_to(session, name, max(0, first))

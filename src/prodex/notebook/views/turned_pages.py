"""Which page of rows is shown, kept for each list of a section by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.value import Session
from prodex.notebook.views import pages_of_rows


@dataclass(frozen=True)
class Pages:
    """Numbers of the first rows that are shown, from 0, by the name of the list."""

    first: Mapping[str, int] | None = None


def first_of(session: Session, name: str, total: int, size: int) -> int:
    """Return the number of the first row that is shown."""
    return pages_of_rows.first_on_page((session.part(Pages).first or {}).get(name, 0), size, total)


def turned_to(session: Session, name: str, first: int) -> Session:
    """Return the session that shows the rows from a number on."""
    return session.with_part(Pages({**(session.part(Pages).first or {}), name: first}))


def pager(name: str, total: int, noun: str, first: int, size: int) -> Block:
    """Return which rows of how many are shown, and the buttons to turn to others."""
    return pages_of_rows.pager(first, size, total, noun, "pages.turn", key=f"pager {name}", name=name)


@action("pages.turn", is_quiet=True)
def turn(session: Session, name: str, first: int) -> Session:
    """Show the rows from a number on."""
    return turned_to(session, name, max(0, first))

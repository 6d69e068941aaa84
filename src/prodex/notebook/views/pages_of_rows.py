"""Pages of rows: which rows of how many are shown, and buttons to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prodex.messages import counted
from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.value import Session
from prodex.notebook.views.blocks import button, paragraph, row
from prodex.notebook.views.products_left import ShownProducts


def first_on_page(first: int, size: int, total: int) -> int:
    """Return the first row of the page that is shown: of the last page there is, where there are fewer rows by now.

    >>> first_on_page(20, 10, 100), first_on_page(20, 10, 15), first_on_page(-3, 10, 15), first_on_page(10, 10, 0)
    (20, 10, 0, 0)
    """
    last_page = (max(0, total - 1)) // size * size
    return max(0, min(first, last_page))


def page_summary(first: int, size: int, total: int, noun: str, more: str = "") -> str:
    """Say which rows of how many are shown; `more` are words that follow.

    >>> page_summary(12, 12, 30, "kind"), page_summary(0, 12, 1, "kind"), page_summary(0, 12, 0, "kind")
    ('13 to 24 of 30 kinds', '1 kind', 'no kinds')
    """
    if not total:
        return f"no {noun}s{more}"
    shown = f"{first + 1:,} to {min(first + size, total):,} of " if total > 1 else ""
    return f"{shown}{counted(total, noun)}{more}"


def pager(
    first: int, size: int, total: int, noun: str, do: str, *, key: str, more: str = "", **args: Any
) -> Block:
    """Return the sentence and the buttons of a page of rows.

    Parameters
    ----------
    first, size, total
        The first row that is shown, from 0; rows of a page; and of all.
    noun, more
        What a row is, and words that follow.
    do, args
        The action that turns pages, with the `first` row of the page to turn to.
    """
    there = total > size
    is_first, is_last = first <= 0, first + size >= total
    before, after = max(0, first - size), first + size
    return row(
        paragraph(page_summary(first, size, total, noun, more), key="summary", tone="status"),
        button("Previous", do, key="previous", off="This is the first page" * is_first, first=before, **args)
        if there
        else None,
        button("Next", do, key="next", off="This is the last page" * is_last, first=after, **args)
        if there
        else None,
        key=key,
        look="pager",
    )


@dataclass(frozen=True)
class TurnedPages:
    """Of each list, by its name: the number of the first row that is shown, from 0, and of which products it was."""

    first: Mapping[str, tuple[int, object]] = field(default_factory=dict)


def _products(session: Session) -> object:
    return session.derived(ShownProducts), session.conditions


def first_of(session: Session, name: str, total: int, size: int, *, of_products: bool = False) -> int:
    """Return the number of the first row that is shown of a list; `of_products`: other products begin at the top."""
    first, products = session.part(TurnedPages).first.get(name, (0, None))
    if of_products and products != _products(session):
        return 0
    return first_on_page(first // size * size, size, total)


def turned_to(session: Session, name: str, first: int) -> Session:
    """Return the session that shows the rows of a list from a number on."""
    turned = session.part(TurnedPages).first
    return session.with_changed(TurnedPages, first={**turned, name: (first, _products(session))})


def turned_by(session: Session, name: str, by: int, first: int, size: int, total: int) -> Session:
    """Return the session that shows the page of a list before or after the one that begins with `first`, if any."""
    turned = first + by * size
    return turned_to(session, name, turned) if 0 <= turned < total else session


def pager_of(
    name: str, total: int, noun: str, first: int, size: int, *, key: str = "", more: str = ""
) -> Block:
    """Return the sentence and the buttons of a list that keeps nothing else."""
    return pager(first, size, total, noun, "pages.turn", key=key or f"pager {name}", more=more, name=name)


def page_of(
    session: Session, name: str, total: int, noun: str, size: int, *, key: str = "", more: str = ""
) -> tuple[slice, Block]:
    """Return which rows of a list are shown, and the sentence and the buttons that turn to others.

    Parameters
    ----------
    name
        The list: its own in the whole panel.
    total, noun, more
        Of how many rows, what a row is, and words that follow.
    size
        Rows of a page.
    key
        The key of the block, where it is not made of the name.

    Examples
    --------
    >>> import prodex
    >>> rows, turning = page_of(Session(prodex.flatten([])), "shops", 3, "shop", 2)
    >>> ["Lyon", "Nice", "Riom"][rows], turning["blocks"][0]["text"]
    (['Lyon', 'Nice'], '1 to 2 of 3 shops')
    """
    first = first_of(session, name, total, size)
    return slice(first, first + size), pager_of(name, total, noun, first, size, key=key, more=more)


@action("pages.turn", is_quiet=True)
def turn(session: Session, name: str, first: int) -> Session:
    """Show the rows of a list from a number on."""
    return turned_to(session, name, max(0, first))

"""Pages of rows: which rows of how many are shown, and buttons to the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import button, paragraph, row
from prodex.notebook.views.products_left import ShownProducts
from prodex.phrases import counted


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


@dataclass(frozen=True)
class TurnedPages:
    """Of each list, by its name: the number of the first row that is shown, from 0, and of what it was."""

    first: Mapping[str, tuple[int, object]] = field(default_factory=dict)


class RowList:
    """A list that is shown by pages: where it is known by what it lists, so that another list begins at its top.

    Parameters
    ----------
    name
        The list: its own in the whole panel.
    size
        Rows of a page.
    of
        What it lists: with anything else, it begins at the top.

    Examples
    --------
    >>> import prodex
    >>> shops, session = RowList("shops", 2), Session(prodex.flatten([]))
    >>> rows, turning = shops.page(session, 3, "shop")
    >>> ["Lyon", "Nice", "Riom"][rows], turning["blocks"][0]["text"]
    (['Lyon', 'Nice'], '1 to 2 of 3 shops')
    >>> ["Lyon", "Nice", "Riom"][shops.page(turn(session, "shops", 2), 3, "shop")[0]]
    ['Riom']
    """

    def __init__(
        self,
        name: str,
        size: int | Callable[[Session], int],
        of: Callable[[Session], object] = lambda _: None,
    ) -> None:
        self.name: str = name
        self._size, self.of = size, of
        _LISTS[name] = self

    def size(self, session: Session) -> int:
        """Return how many rows a page has."""
        return self._size if isinstance(self._size, int) else self._size(session)

    def first(self, session: Session, total: int) -> int:
        """Return the number of the first row that is shown."""
        size, (first, of) = self.size(session), session.part(TurnedPages).first.get(self.name, (0, None))
        return first_on_page(first // size * size, size, total) if of == self.of(session) else 0

    def at(self, session: Session, first: int) -> Session:
        """Return the session that shows the rows from a number on."""
        turned = session.part(TurnedPages).first
        return session.with_part(TurnedPages({**turned, self.name: (first, self.of(session))}))

    def turned(self, session: Session, by: int, total: int) -> Session:
        """Return the session that shows the page before or after, if there is one."""
        first = self.first(session, total) + by * self.size(session)
        return self.at(session, first) if 0 <= first < total else session

    def page(
        self, session: Session, total: int, noun: str, *, key: str = "", more: str = ""
    ) -> tuple[slice, Block]:
        """Return which rows are shown, and the sentence and the buttons that turn to others.

        Parameters
        ----------
        session
            The session.
        total, noun, more
            Of how many rows, what a row is, and words that follow.
        key
            The key of the block, where it is not made of the name.
        """
        first, size = self.first(session, total), self.size(session)
        turning = _pager(self.name, first, size, total, noun, key=key or f"pager {self.name}", more=more)
        return slice(first, first + size), turning


_LISTS: dict[str, RowList] = {}


def products_shown(session: Session) -> tuple[object, ...]:
    """Return which products are shown, for lists of them."""
    return session.derived(ShownProducts), session.conditions


def _pager(name: str, first: int, size: int, total: int, noun: str, *, key: str, more: str) -> Block:
    before = after = None
    if total > size:
        is_first, is_last = first <= 0, first + size >= total
        before = _turning("Previous", name, max(0, first - size), "This is the first page" * is_first)
        after = _turning("Next", name, first + size, "This is the last page" * is_last)
    said = paragraph(page_summary(first, size, total, noun, more), key="summary", tone="status")
    return row(said, before, after, key=key, look="pager")


def _turning(label: str, name: str, first: int, off: str) -> Block:
    return button(label, "pages.turn", key=label.lower(), off=off, first=first, name=name)


@action("pages.turn", is_quiet=True)
def turn(session: Session, name: str, first: int) -> Session:
    """Show the rows of a list from a number on."""
    return _LISTS[name].at(session, max(0, first)) if name in _LISTS else session

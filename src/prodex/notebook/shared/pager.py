"""Tables of which some rows are shown at a time: the Previous and Next buttons, and which rows they show."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w
from traitlets import Int

from prodex.messages import counted
from prodex.notebook.shared.boxes import HBox
from prodex.notebook.shared.panel import Panel, button, html, show_if


class Pager(HBox):
    """Previous and Next buttons with a sentence; `first` is the number of the first row shown, from 0.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    size
        Rows on a page.
    draw
        Draws the page, now and whenever another one is turned to.

    Examples
    --------
    >>> pager = Pager(Panel(), 12, lambda: None)
    >>> pager.over(30, "kind")
    >>> pager.summary
    '1 to 12 of 30 kinds'
    >>> pager.next.click()
    >>> pager.first, pager.summary
    (12, '13 to 24 of 30 kinds')
    """

    first: Int[int, int] = Int()

    def __init__(self, panel: Panel, size: int, draw: Callable[[], object]) -> None:
        self.size: int = size
        self._draw = draw
        self._total, self._noun, self._more = 0, "row", ""
        self.previous: w.Button = button("Previous")
        self.next: w.Button = button("Next")
        self._words = html("", "muted")
        super().__init__([self._words, self.previous, self.next])
        self.add_class("pager")
        self.observe(lambda _: self._turned(), "first")
        panel.on(self.previous, lambda _: self._pressed(-1))
        panel.on(self.next, lambda _: self._pressed(1))

    @property
    def page(self) -> slice:
        """The rows of the page."""
        return slice(self.first, self.first + self.size)

    @property
    def summary(self) -> str:
        """Which rows of how many are shown."""
        if not self._total:
            return f"no {self._noun}s{self._more}"
        shown = f"{self.first + 1:,} to {min(self.page.stop, self._total):,} of " if self._total > 1 else ""
        return f"{shown}{counted(self._total, self._noun)}{self._more}"

    def over(self, total: int, noun: str, more: str = "") -> None:
        """Page over this many rows, from the first.

        Parameters
        ----------
        total
            Number of rows.
        noun
            What a row is.
        more
            Words that follow the noun.
        """
        self._total, self._noun, self._more = total, noun, more
        if self.first:
            self.first = 0
        else:  # traitlets calls no observer for a value that stays the same
            self._turned()

    def can_turn(self, by: int) -> bool:
        """Return whether there is a page after this one (with 1), or before it (with -1)."""
        return self.page.stop < self._total if by > 0 else self.first > 0

    def turn(self, by: int) -> None:
        """Turn to the next page (with 1) or the one before (with -1), if there is one; the focus stays where it is."""
        last_page = (self._total - 1) // self.size * self.size
        self.first = max(0, min(self.first + by * self.size, last_page))

    def _pressed(self, by: int) -> None:
        self.turn(by)
        # A button that becomes disabled loses the focus, so it goes to the other one.
        if self.next.disabled:
            self.previous.focus()
        elif self.previous.disabled:
            self.next.focus()

    def _turned(self) -> None:
        # The rows first: until they are there, the sentence must not say that they are.
        self._draw()
        self._words.value = f"<span role='status'>{self.summary}</span>"
        self.previous.disabled = not self.can_turn(-1)
        self.next.disabled = not self.can_turn(1)
        for one in (self.previous, self.next):
            show_if(one, self._total > self.size)

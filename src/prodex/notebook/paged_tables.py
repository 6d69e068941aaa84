"""Tables of which some rows are shown at a time: the options of itables, and the Previous and Next buttons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as w
from traitlets import Int

from prodex.notebook.panel import html
from prodex.text import counted

#: Options of every itables table. They are given again with every update, since what is left out falls back to the
#: defaults of itables. Pages are made in Python (only their rows go to the browser), so everything that itables puts
#: around a table is off; a row is selected by a click, or by Return where it has the focus.
ITABLE: Mapping[str, Any] = {
    "paging": False,
    "ordering": False,
    "searching": False,
    "layout": dict.fromkeys(("topStart", "topEnd", "bottomStart", "bottomEnd")),
    "maxBytes": 0,
    "warn_on_undocumented_option": False,
    "select": {"style": "single", "keys": True},
    "classes": "display compact",
    "style": "width:100%",
}


class Pager(w.HBox):
    """Previous and Next buttons with a sentence; `first` is the number of the first row shown, from 0.

    Parameters
    ----------
    size
        Rows on a page.

    Examples
    --------
    >>> pager = Pager(12)
    >>> pager.over(30, "kind")
    >>> pager.summary
    '1 to 12 of 30 kinds'
    >>> pager.next.click()
    >>> pager.first, pager.summary
    (12, '13 to 24 of 30 kinds')
    """

    first: Int[int, int] = Int()

    def __init__(self, size: int) -> None:
        self._size = size
        self.summary = ""
        self.previous = w.Button(description="Previous", layout=w.Layout(width="auto"))
        self.next = w.Button(description="Next", layout=w.Layout(width="auto"))
        self._words = html("", "muted")
        self.previous.on_click(lambda _: self._turn(-1))
        self.next.on_click(lambda _: self._turn(1))
        super().__init__([self._words, self.previous, self.next])
        self.add_class("pager")
        self.over(0, "row")

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
        self.first = 0
        self._show()

    def _turn(self, by: int) -> None:
        last_page = (self._total - 1) // self._size * self._size
        self.first = max(0, min(self.first + by * self._size, last_page))
        self._show()
        # A button that becomes disabled loses the focus, so it goes to the other one.
        if self.next.disabled:
            self.previous.focus()
        elif self.previous.disabled:
            self.next.focus()

    def _show(self) -> None:
        last = min(self.first + self._size, self._total)
        self.summary = (
            f"{self.first + 1:,} to {last:,} of {counted(self._total, self._noun)}{self._more}"
            if self._total > 1
            else f"{counted(self._total, self._noun)}{self._more}"
            if self._total
            else f"no {self._noun}s{self._more}"
        )
        self._words.value = f"<span role='status'>{self.summary}</span>"
        self.previous.disabled = not self.first
        self.next.disabled = last >= self._total
        is_one_page = self._total <= self._size
        for button in (self.previous, self.next):
            button.layout.display = "none" if is_one_page else ""

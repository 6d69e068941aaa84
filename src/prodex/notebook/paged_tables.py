"""Previous and Next over rows of which some are shown at a time, with "1 to 12 of 92 kinds"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as w
from traitlets import Int

from prodex.display.audit import counted
from prodex.notebook.panel import html

#: Said again with every update: what is left out falls back to what itables does otherwise. Rows are turned by page
#: in Python, and chosen by a click, or by Return where the keyboard has come to.
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
    """Two buttons and a sentence; `first` is the place of the first row shown.

    Parameters
    ----------
    size
        How many rows are shown at a time.

    Examples
    --------
    >>> pager = Pager(12)
    >>> pager.over(30, "kind")
    >>> pager.said
    '1 to 12 of 30 kinds'
    >>> pager.next.click()
    >>> pager.first, pager.said
    (12, '13 to 24 of 30 kinds')
    """

    first: Int[int, int] = Int()

    def __init__(self, size: int) -> None:
        self._size = size
        self.said = ""
        self.previous = w.Button(description="Previous", layout=w.Layout(width="auto"))
        self.next = w.Button(description="Next", layout=w.Layout(width="auto"))
        self._words = html("", "muted")
        self.previous.on_click(lambda _: self._turn(-1))
        self.next.on_click(lambda _: self._turn(1))
        super().__init__([self._words, self.previous, self.next])
        self.add_class("pager")
        self.over(0, "row")

    def over(self, total: int, noun: str, more: str = "") -> None:
        """Page over so many rows, from the first.

        Parameters
        ----------
        total
            How many.
        noun
            What one of them is called.
        more
            What is said of them behind that.
        """
        self._total, self._noun, self._more = total, noun, more
        self.first = 0
        self._show()

    def _turn(self, by: int) -> None:
        self.first = max(0, min(self.first + by * self._size, (self._total - 1) // self._size * self._size))
        self._show()
        # What can be pressed no longer keeps the keyboard's place no longer.
        if self.next.disabled:
            self.previous.focus()
        elif self.previous.disabled:
            self.next.focus()

    def _show(self) -> None:
        last = min(self.first + self._size, self._total)
        self.said = (
            f"{self.first + 1:,} to {last:,} of {counted(self._total, self._noun)}{self._more}"
            if self._total > 1
            else f"{counted(self._total, self._noun)}{self._more}"
            if self._total
            else f"no {self._noun}s{self._more}"
        )
        self._words.value = f"<span role='status'>{self.said}</span>"
        self.previous.disabled = not self.first
        self.next.disabled = last >= self._total
        is_short = self._total <= self._size
        for button in (self.previous, self.next):
            button.layout.display = "none" if is_short else ""

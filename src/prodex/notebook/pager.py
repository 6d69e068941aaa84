"""Previous and Next over rows of which some are shown at a time, with "1 to 12 of 92 kinds"."""

from __future__ import annotations

import ipywidgets as w
from traitlets import Int

from prodex.notebook.panel import html


class Pager(w.HBox):
    """Two buttons and a sentence; `first` is the place of the first row shown.

    Parameters
    ----------
    size
        How many rows are shown at a time.

    Examples
    --------
    >>> pager = Pager(12)
    >>> pager.over(30, "kinds")
    >>> pager.said
    '1 to 12 of 30 kinds'
    >>> pager.next.click()
    >>> pager.first, pager.said
    (12, '13 to 24 of 30 kinds')
    """

    first: Int[int, int] = Int()

    def __init__(self, size: int) -> None:
        self._size, self._total, self._noun = size, 0, ""
        self.said = ""
        self.previous = w.Button(description="Previous", layout=w.Layout(width="auto"))
        self.next = w.Button(description="Next", layout=w.Layout(width="auto"))
        self._words = html("", "muted")
        self.previous.on_click(lambda _: self._turn(-1))
        self.next.on_click(lambda _: self._turn(1))
        super().__init__([self._words, self.previous, self.next])
        self.add_class("pager")
        self.over(0, "rows")

    def over(self, total: int, noun: str) -> None:
        """Page over so many rows, from the first."""
        self._total, self._noun = total, noun
        self.first = 0
        self._show()

    def _turn(self, by: int) -> None:
        self.first = max(0, min(self.first + by * self._size, (self._total - 1) // self._size * self._size))
        self._show()

    def _show(self) -> None:
        last = min(self.first + self._size, self._total)
        self.said = (
            f"{self.first + 1:,} to {last:,} of {self._total:,} {self._noun}"
            if self._total
            else f"no {self._noun}"
        )
        self._words.value = f"<span role='status'>{self.said}</span>"
        self.previous.disabled = not self.first
        self.next.disabled = last >= self._total
        is_short = self._total <= self._size
        for button in (self.previous, self.next):
            button.layout.display = "none" if is_short else ""

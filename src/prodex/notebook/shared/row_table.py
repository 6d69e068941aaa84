"""A table of which rows are selected: by a click, or with the keyboard; it shows the rows of one page.

The table of products has more to show (`products.product_table`); checks and snapshots need rows of texts alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import ipywidgets as w
from traitlets import Int

from prodex.messages import counted
from prodex.notebook.shared.boxes import HBox
from prodex.notebook.shared.live import LiveWidget
from prodex.notebook.shared.panel import Panel, button, html, show_if

if TYPE_CHECKING:
    from traitlets import Instance
else:
    from traitlets import List


class RowTable(LiveWidget):
    """Rows of texts, some of which are selected.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    label
        What a row is, in the plural: the name of the table for screen readers.
    columns
        The heads of the columns.
    numbers
        The heads of those that are aligned on the right.
    is_multiple
        Whether several rows can be selected; otherwise another row takes the place of the one before.

    Attributes
    ----------
    selected_rows
        Places of the selected rows on this page.

    Examples
    --------
    >>> table = RowTable(Panel(), "Fruits", ("Name", "Pieces"), numbers=("Pieces",))
    >>> table.show({"a": ("Apple", "3"), "p": ("Pear", "12")})
    >>> table.press(do="select", row="p")
    >>> table.selected_rows
    [1]
    """

    if TYPE_CHECKING:
        selected_rows: Instance[list[int]]
    else:
        selected_rows = List()

    def __init__(
        self,
        panel: Panel,
        label: str,
        columns: Sequence[str],
        *,
        numbers: Collection[str] = (),
        is_multiple: bool = False,
    ) -> None:
        self._label, self._is_multiple = label, is_multiple
        self._columns = [{"title": one, "align": "right" if one in numbers else "left"} for one in columns]
        self._rows: dict[str, Sequence[str]] = {}
        super().__init__(panel, "row_table", {"select": self._pressed})
        self.observe(lambda _: self._draw(), "selected_rows")
        self._draw()

    def show(self, rows: Mapping[str, Sequence[str]], selected_rows: Sequence[int] = ()) -> None:
        """Show other rows.

        Parameters
        ----------
        rows
            The texts of each row, by a key: the focus stays on the row of the same key.
        selected_rows
            Places of those that are selected.
        """
        # The rows first: whoever observes the selection finds the rows that it is about.
        self._rows = dict(rows)
        self.selected_rows = list(selected_rows)
        self._draw()

    def _draw(self) -> None:
        # A view that is the same as before is not sent again.
        self.view = {
            "label": self._label,
            "columns": self._columns,
            "rows": [{"key": key, "cells": list(cells)} for key, cells in self._rows.items()],
            "selected": [key for place, key in enumerate(self._rows) if place in self.selected_rows],
            "multiple": self._is_multiple,
        }

    def _pressed(self, row: str) -> None:
        """Select a row, or take that back."""
        keys = list(self._rows)
        # The page may report a row that is shown no longer.
        if row in keys:
            others = (
                set(self.selected_rows) if self._is_multiple else set(self.selected_rows) & {keys.index(row)}
            )
            self.selected_rows = sorted(others ^ {keys.index(row)})


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
        # A button that becomes disabled loses the focus, so the other one gets it.
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

"""Which columns a table shows: one button for each lets it go, a list has the others."""

from __future__ import annotations

from typing import Any

import ipywidgets as w
from traitlets import Instance, Tuple

from prodex.notebook.products.page import JUDGED, title
from prodex.notebook.products.stock import Stock
from prodex.tables.declaration import TABLES


class ColumnBox(w.HBox):
    """The columns of a table.

    Attributes
    ----------
    columns
        Those that are shown, in their order.
    """

    columns: Instance[tuple[str, ...]] = Tuple()

    def __init__(self) -> None:
        super().__init__()
        self.add_class("line")
        self._known: tuple[str, ...] = ()
        self._look = (w.Layout(width="auto"), w.ButtonStyle())
        self._buttons: list[w.Button] = []
        self._add = w.Dropdown(description="Add", layout=self._look[0])
        self._add.observe(self._added, "value")
        self.observe(lambda _: self._draw(), "columns")

    def offer(self, stock: Stock, columns: tuple[str, ...]) -> None:
        """Offer all columns of a catalogue and show some."""
        judged = JUDGED if stock.audit is not None else ()
        self._known = ("name", *TABLES["products"].schema.names, *judged)
        self.columns = columns

    def _added(self, change: dict[str, Any]) -> None:
        if change["new"]:
            self.columns = (*self.columns, change["new"])

    def _drop(self, place: int) -> None:
        self.columns = tuple(name for number, name in enumerate(self.columns) if number != place)
        if place == len(self.columns):  # the button that was pressed is gone
            self._buttons[place - 1].focus()

    def _draw(self) -> None:
        left = sorted(
            (name for name in self._known if name not in self.columns), key=lambda n: title(n).casefold()
        )
        self._add.options = [("a column …", ""), *((title(name), name) for name in left)]
        self._add.value = ""
        for place, name in enumerate(self.columns):
            if place == len(self._buttons):
                button = w.Button(
                    layout=self._look[0], style=self._look[1], tooltip="Do not show this column"
                )
                button.add_class("chip")
                button.on_click(lambda _, place=place: self._drop(place))
                self._buttons.append(button)
            self._buttons[place].description = f"{title(name)} ✕"
            self._buttons[place].disabled = len(self.columns) == 1
        self.children = (self._add, *self._buttons[: len(self.columns)])

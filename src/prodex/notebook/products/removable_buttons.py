"""What narrows a catalogue down as a line of buttons; each takes its condition away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets as w
from traitlets import Instance, Tuple

from prodex.notebook.exploration import Conditions
from prodex.notebook.panel import Panel
from prodex.notebook.products.facet_box import isolated
from prodex.notebook.products.facet_counts import FacetValues
from prodex.notebook.products.product_columns import ProductColumns
from prodex.notebook.products.table_page import JUDGED, title
from prodex.tables.declaration import TABLES


class ActiveFilters(w.HBox):
    """The conditions, one button for each.

    Parameters
    ----------
    panel
        Where they stand; what goes wrong is told there.

    Attributes
    ----------
    conditions
        What is left after a click.
    """

    conditions: Instance[Conditions] = Instance(Conditions, ())

    def __init__(self, *, panel: Panel) -> None:
        super().__init__()
        self.add_class("line")
        self.add_class("chips")
        self._panel = panel
        self._look = (w.Layout(width="auto", height="auto"), w.ButtonStyle())
        self._buttons: list[w.Button] = []
        self._without: list[Conditions] = []

    def show(self, conditions: Conditions, values: Mapping[str, FacetValues]) -> None:
        """Show these conditions."""
        self.conditions = conditions
        chips = list(_chips(conditions, values))
        if len(chips) > 1:
            chips.append(("clear all", Conditions()))
        self._without = [without for _, without in chips]
        for place, (words, _) in enumerate(chips):
            if place == len(self._buttons):
                self._buttons.append(self._button(place))
            self._buttons[place].description = words
        self.children = tuple(self._buttons[: len(chips)])

    def _button(self, place: int) -> w.Button:
        button = w.Button(layout=self._look[0], style=self._look[1], tooltip="Take this condition away")
        button.add_class("chip")
        self._panel.on(button, self._taking(place))
        return button

    def _taking(self, place: int) -> Callable[[Any], None]:
        def take(_: Any) -> None:
            self.conditions = self._without[place]
            if 0 < len(self.children) <= place:  # the button that was pressed is gone
                self._buttons[len(self.children) - 1].focus()

        return take


def _chips(conditions: Conditions, values: Mapping[str, FacetValues]) -> Iterator[tuple[str, Conditions]]:
    for name, codes in conditions.facets.items():
        for code in codes:
            label = values[name].label(code)
            yield f"{values[name].facet.title.lower()}: {isolated(label)} ✕", conditions.toggled(name, code)
    if conditions.words:
        yield f"words: {isolated(conditions.words)} ✕", conditions.searching("")
    if conditions.failing is not None:
        yield f"fails: {isolated(conditions.failing.title)} ✕", conditions.without_failing()


class ColumnPicker(w.HBox):
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

    def offer(self, stock: ProductColumns, columns: tuple[str, ...]) -> None:
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

"""Rows of buttons that each remove something: an active filter, or a column of the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as w
from traitlets import Instance, Int, Tuple

from prodex.exploration.facets import Facets
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.table_page import AUDIT_COLUMNS, title
from prodex.notebook.shared.boxes import HBox
from prodex.notebook.shared.panel import Panel
from prodex.selection import Selection
from prodex.selection.sentences import labels
from prodex.tables.declaration import TABLES

_CLEAR = "Clear all"


class RemovableButtons(HBox):
    """Buttons, of which a subclass says what a click on each removes.

    Buttons are made once and then get other labels, so that the focus stays where it was.

    Parameters
    ----------
    panel
        The panel around them, which shows errors.
    tooltip
        What a click does.
    """

    def __init__(self, panel: Panel, tooltip: str) -> None:
        super().__init__()
        self.add_class("line")
        self._panel, self._tooltip = panel, tooltip
        self._layout, self._style = w.Layout(width="auto", height="auto"), w.ButtonStyle()
        self._buttons: list[w.Button] = []

    def remove(self, place: int) -> None:
        """Remove what a button names."""
        raise NotImplementedError

    def _show(self, labels: Sequence[str], before: tuple[w.Widget, ...] = ()) -> None:
        for place, label in enumerate(labels):
            if place == len(self._buttons):
                self._buttons.append(self._button(place))
            self._buttons[place].description = label
        self._shown = len(labels)
        self.children: tuple[Any, ...] = (*before, *self._buttons[: self._shown])

    def _button(self, place: int) -> w.Button:
        button = w.Button(layout=self._layout, style=self._style, tooltip=self._tooltip)
        button.add_class("chip")

        def clicked(_: Any) -> None:
            self.remove(place)
            # The button that was clicked is hidden, and would leave the focus nowhere.
            if 0 < self._shown <= place:
                self._buttons[self._shown - 1].focus()

        self._panel.on(button, clicked)
        return button


class ActiveFilters(RemovableButtons):
    """A button for each condition, and one for all of them.

    Attributes
    ----------
    conditions
        The conditions that are left after a click.
    clicks
        How often one was clicked: conditions change in other places, too.
    """

    conditions: Instance[Selection] = Instance(Selection, ())
    clicks: Int[int, int] = Int()

    def __init__(self, *, panel: Panel) -> None:
        super().__init__(panel, "Remove this filter")
        self.add_class("chips")
        self._without: list[Selection] = []

    def show(self, conditions: Selection, facets: Facets) -> None:
        """Show these conditions."""
        self.conditions = conditions
        filters = [(str(said), without) for said, without in labels(conditions, facets.called, title)]
        if len(filters) > 1:
            filters.append((_CLEAR, Selection()))
        self._without = [without for _, without in filters]
        self._show([label if label == _CLEAR else f"{label} ✕" for label, _ in filters])

    def remove(self, place: int) -> None:
        """Remove a condition."""
        self.conditions = self._without[place]
        self.clicks += 1


class ColumnPicker(RemovableButtons):
    """A button for each column of a table, and a list of the columns that can be added.

    Attributes
    ----------
    columns
        The columns that are shown, in their order.
    """

    columns: Instance[tuple[str, ...]] = Tuple()

    def __init__(self, *, panel: Panel) -> None:
        super().__init__(panel, "Remove this column")
        self._known: tuple[str, ...] = ()
        self._add = w.Dropdown(description="Add", layout=w.Layout(width="auto"))
        self._add.observe(self._added, "value")
        self.observe(lambda _: self._draw(), "columns")

    def offer(self, products: ProductColumns, columns: tuple[str, ...]) -> None:
        """Offer all columns of a catalogue and show some."""
        audited = (*AUDIT_COLUMNS, *products.channel_columns()) if products.audit is not None else ()
        self._known = ("name", *TABLES["products"].schema.names, *audited)
        self.columns = columns

    def take(self, columns: Sequence[str]) -> None:
        """Show these columns, as far as the catalogue has them."""
        if known := tuple(name for name in columns if name in self._known):
            self.columns = known

    def remove(self, place: int) -> None:
        """Remove a column."""
        self.columns = tuple(name for number, name in enumerate(self.columns) if number != place)

    def _added(self, change: dict[str, Any]) -> None:
        if change["new"]:
            self.columns = (*self.columns, change["new"])

    def _draw(self) -> None:
        left = sorted(
            (name for name in self._known if name not in self.columns), key=lambda n: title(n).casefold()
        )
        self._add.options = [("column …", ""), *((title(name), name) for name in left)]
        self._add.value = ""
        self._show([f"{title(name)} ✕" for name in self.columns], (self._add,))
        for button in self._buttons:  # a table without columns could not show which products there are
            button.disabled = len(self.columns) == 1

"""The changed values of a comparison, of all attributes or of one, and the way to their products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as w
import pandas as pd
import pyarrow.compute as pc

from prodex.compare import Difference
from prodex.messages import counted
from prodex.notebook.boxes import VBox
from prodex.notebook.conditions import ProductList
from prodex.notebook.pager import Pager
from prodex.notebook.panel import Panel, button, html, row, show_if
from prodex.notebook.products.table_page import cut
from prodex.notebook.snapshots.comparison_tables import (
    changes_markup,
    products_of_attributes,
    whole_attribute,
)
from prodex.quality.problems import attribute_title

#: Changed values on a page.
_ROWS = 20
#: Characters of the name of an attribute.
_LONGEST = 60
#: Products without changed values that are there now, and how they are called.
_OTHERS = {"added": "added products", "touched only": "products touched only"}
_NO_VALUES = {
    "added": "<p class='muted'>All values of products that were added are new.</p>",
    "touched only": "<p class='muted'>Of these products only the date of the update differs.</p>",
}
#: Whose changes are listed at first.
_ALL = ("changed", None)


class ChangedValues(VBox):
    """Old and new values side by side, and a button that shows their products.

    Parameters
    ----------
    panel
        The panel around it.
    show_products
        Shows products among those of the newer snapshot; without it there is no such button.

    Attributes
    ----------
    what
        Whose changes are listed: an outcome of products as `Difference.outcomes` has it, and an attribute, or None for
        all of them.
    products
        The button.
    """

    def __init__(self, panel: Panel, show_products: Callable[[ProductList], object] | None = None) -> None:
        self._show_products = show_products
        self._difference: Difference | None = None
        self._changes = pd.DataFrame()
        self.what: Any = w.Dropdown(description="Changes of", layout=w.Layout(width="auto"))
        self.products: w.Button = button("Show products", "link")
        self.pager: Pager = Pager(panel, _ROWS, self._draw)
        self._table = html("")
        bar = row(self.what, self.pager, self.products, look="form-row")
        super().__init__([html("<h4>Changed values</h4>"), bar, self._table])
        panel.on(self.what, lambda _: self._choose(), "value")
        panel.on(self.products, lambda _: self._press())

    def show(self, difference: Difference) -> None:
        """Show the values of a comparison, those of all attributes first."""
        self._difference = None  # choosing among other options draws nothing yet
        counts = difference.summary.set_index("change")["products"]
        attributes = products_of_attributes(difference.changes)
        options: list[tuple[str, tuple[str, str | None]]] = [
            (f"all changed products ({counts['changed']:,})", _ALL),
            *(
                (
                    f"\u2068{cut(attribute_title(str(one)), _LONGEST)}\u2069 ({counted(number, 'product')})",
                    ("changed", str(one)),
                )
                for one, number in attributes.items()
            ),
            *((f"{words} ({counts[one]:,})", (one, None)) for one, words in _OTHERS.items() if counts[one]),
        ]
        self.what.options = options
        self.what.value = _ALL
        self._difference = difference
        self._choose()

    def _choose(self) -> None:
        if self._difference is None:
            return
        changes, (outcome, attribute) = self._difference.changes, self.what.value
        if outcome in _OTHERS:
            changes = changes.iloc[:0]
        elif attribute is not None:
            changes = changes[changes["attribute"].map(whole_attribute) == attribute]
        self._changes = changes
        number = len(self._ids())
        self.products.description = f"Show {counted(number, 'product')}"
        self.products.tooltip = "List them in the section Products"
        show_if(self.products, self._show_products is not None and number > 0)
        self.pager.over(len(changes), "changed value")

    def _draw(self) -> None:
        without = _NO_VALUES.get(self.what.value[0], "")
        self._table.value = changes_markup(self._changes.iloc[self.pager.page]) or without

    def _ids(self) -> tuple[str, ...]:
        assert self._difference is not None  # noqa: S101 - nothing is chosen before a comparison is shown
        outcome, attribute = self.what.value
        if attribute is None:
            outcomes = self._difference.outcomes
            return tuple(outcomes.filter(pc.field("change") == outcome)["product_id"].to_pylist())
        return tuple(dict.fromkeys(self._changes["product_id"]))

    def _press(self) -> None:
        if self._difference is not None and self._show_products is not None:
            outcome, attribute = self.what.value
            self._show_products(ProductList(_title(outcome, attribute, self._difference), self._ids()))


def _title(outcome: str, attribute: str | None, difference: Difference) -> str:
    since = difference.old.origin.loaded_at
    when = "" if since is None else f" since {since:%Y-%m-%d %H:%M}"
    return f"{outcome}{when}" if attribute is None else f"{attribute_title(attribute)} {outcome}{when}"

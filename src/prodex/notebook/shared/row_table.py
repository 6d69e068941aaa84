"""A table of which rows are selected: by a click, or with the keyboard; it shows the rows of one page.

The table of products has more to show (`products.product_table`); checks and snapshots need rows of texts alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from prodex.notebook.shared.live import LiveWidget
from prodex.notebook.shared.panel import Panel

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

"""The table of products: pages, order, columns, and which products are selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ipywidgets as w
import numpy as np
import pandas as pd
from itables.widget import ITable
from traitlets import Instance, Tuple, Unicode, link

from prodex.locales import language_label
from prodex.notebook.boxes import VBox
from prodex.notebook.paged_tables import ITABLE, Pager
from prodex.notebook.panel import OwnChange, Panel, button, html, row, styled
from prodex.notebook.products.export import ShownTable
from prodex.notebook.products.product_columns import Mask, ProductColumns, Rows
from prodex.notebook.products.removable_buttons import ColumnPicker
from prodex.notebook.products.table_page import AUDIT_COLUMNS, COLUMNS, Order, Sorter, cells, is_number, title

_UNSORTED = ("order of the catalogue", "")
_SIZES = (10, 25, 50, 100)
_SIZE = 25
#: A click, or Return or Space on a row that was reached with Tab, selects a row or clears it. The style "multi+shift"
#: keeps the other rows, so that a selection goes on from page to page; the arrow keys belong to JupyterLab.
_OPTIONS: Any = {
    **ITABLE,
    "select": {"style": "multi+shift", "keys": True},
    "language": {"emptyTable": "No products to show."},
}


class ProductTable(VBox):
    """Products, page by page.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.

    Attributes
    ----------
    selected
        Ids of the selected products, in the order of selection, on this page and on others.
    product_id
        The product that was selected last, unless another panel has set it.
    columns
        The columns that are shown.
    head, column_picker
        The rows of controls above the table, and the choice of columns.
    """

    selected: Instance[tuple[str, ...]] = Tuple()
    product_id: Unicode[str | None, Any] = Unicode(None, allow_none=True)
    columns: Instance[tuple[str, ...]] = Tuple()

    def __init__(self, *, panel: Panel) -> None:
        super().__init__(columns=COLUMNS)
        self.add_class("product-table")
        self._products: ProductColumns | None = None
        self._mask: Mask = np.zeros(0, bool)
        self._ids: list[str] = []
        self._drawing = OwnChange()
        self._make(panel)
        self._connect(panel)

    def hold(self, products: ProductColumns) -> None:
        """Show another catalogue."""
        self._products, self._sorter, self._mask = products, Sorter(products), np.zeros(len(products), bool)
        # Only languages that the names have: in any other one the column would be empty.
        names = [(language_label(code), code) for code in products.languages()]
        self._language.options = [("any language", ""), *names]
        judged = tuple(name for name in AUDIT_COLUMNS if products.audit is not None)
        kept = tuple(name for name in self.columns if name not in AUDIT_COLUMNS)
        # Otherwise the picker would be offered columns that the catalogue before had.
        with self.hold_trait_notifications():
            self.columns = (*kept, *judged)
        self.column_picker.offer(products, self.columns)

    def show(self, mask: Mask) -> None:
        """Show the products of a mask, from the first page."""
        self._mask = mask
        self._from_start()

    @property
    def language(self) -> str | None:
        """The language of the names, or None for the first that there is."""
        return self._language.value or None

    @property
    def order(self) -> Order:
        """How the products are sorted."""
        return Order(self._by.value or "", self._direction.value == "descending")

    @property
    def shown(self) -> ShownTable:
        """The table with all its pages."""
        assert self._products is not None  # noqa: S101 - an explorer sets it before anybody can click
        return ShownTable(self._products, self._places(), self.columns, self.language)

    def draw(self) -> None:
        """Show the page."""
        if self._products is None:
            return
        rows = self._places()[self._above.page]
        frame = cells(self._products, rows, self.columns, self.language)
        self._ids = self._products.ids.take(rows).to_pylist()
        options = {**_OPTIONS, "columnDefs": _alignment(self.columns)}
        # The rows of the new page are marked here; that must not count as a selection by the user.
        with self._drawing, self._table.hold_sync():
            self._table.update(frame, selected_rows=self._chosen_here(), **options)
        self._all.disabled = not self._ids
        self._show_selection()

    def _make(self, panel: Panel) -> None:
        narrow = w.Layout(width="auto")
        # Above the table, and below it for whoever has read to its end.
        self._above: Pager = styled(Pager(panel, _SIZE, self.draw), "count")
        self._below: Pager = Pager(panel, _SIZE, lambda: None)
        link((self._above, "first"), (self._below, "first"))
        self._by = w.Dropdown(description="Sort by", options=[_UNSORTED], layout=narrow)
        self._direction = w.Dropdown(description="Order", options=["ascending", "descending"], layout=narrow)
        self._language = w.Dropdown(description="Names in", options=[("any language", "")], layout=narrow)
        self._size = w.Dropdown(description="Rows per page", options=_SIZES, value=_SIZE, layout=narrow)
        self.column_picker: ColumnPicker = ColumnPicker(panel=panel)
        empty = pd.DataFrame({title(name): pd.Series([], dtype="str") for name in self.columns})
        self._table = ITable(empty, **_OPTIONS, columnDefs=_alignment(self.columns))
        self._chosen = html("", "muted")
        self._all, self._clear = button("Select this page"), button("Clear selection")
        self.head: tuple[Any, Any] = (
            row(self._above, self._chosen, self._all, self._clear, look="line"),
            row(self._by, self._direction, self._language, self._size, look="line"),
        )
        self.children: tuple[Any, Any] = (styled(w.Box([self._table]), "table"), self._below)

    def _connect(self, panel: Panel) -> None:
        for control in (self._by, self._direction, self._language, self._size):
            panel.on(control, lambda _: self._from_start(), "value")
        panel.on(self.column_picker, lambda change: self._take_columns(change["new"]), "columns")
        panel.on(self._all, lambda _: self._choose(self._ids))
        panel.on(self._clear, lambda _: self._choose([], clear=True))
        panel.on(self._table, lambda change: self._picked(change["new"]), "selected_rows")
        panel.on(self, lambda _: self._mark(), "selected")

    def _from_start(self) -> None:
        found, every = int(self._mask.sum()), len(self._mask)
        # The one above first: it turns both of them back, and draws the table once.
        for pager in (self._above, self._below):
            pager.size = self._size.value
            pager.over(found, "product", "" if found == every else f" ({every:,} in all)")

    def _places(self) -> Rows:
        """Return the places of the products that are shown, on all pages."""
        ordered = self._sorter.order(self.order, self.language)
        return ordered[self._mask[ordered]]

    def _take_columns(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        chosen = self._by.value
        self._by.options = [_UNSORTED, *((title(name), name) for name in columns)]
        # A table cannot be sorted by a column that it does not show: nobody would see why.
        self._by.value = chosen if chosen in columns else ""
        self.draw()

    def _picked(self, rows: list[int]) -> None:
        """Add the selection on this page to that on other pages."""
        if self._drawing:
            return
        here = [self._ids[row] for row in rows if row < len(self._ids)]
        kept = [one for one in self.selected if one not in self._ids or one in here]
        new = [one for one in here if one not in kept]
        self.selected = (*kept, *new)
        if new:
            self.product_id = new[-1]

    def _choose(self, ids: Sequence[str], *, clear: bool = False) -> None:
        kept = () if clear else self.selected
        # A product that is selected already keeps its place in the order.
        self.selected = tuple(dict.fromkeys([*kept, *ids]))
        if clear:
            self._all.focus()

    def _mark(self) -> None:
        """Mark the selected products on this page."""
        if self._table.selected_rows != (chosen := self._chosen_here()):
            with self._drawing:
                self._table.selected_rows = chosen
        self._show_selection()

    def _chosen_here(self) -> list[int]:
        chosen = set(self.selected)
        return [row for row, one in enumerate(self._ids) if one in chosen]

    def _show_selection(self) -> None:
        self._chosen.value = f"{len(self.selected):,} selected"
        self._clear.disabled = not self.selected


def _alignment(columns: Sequence[str]) -> list[dict[str, Any]]:
    """Align numbers on the right, and keep numbers and dates on one line."""
    # One entry for a column with all its classes: of several entries for a column itables applies only the first.
    return [{"className": _look(name), "targets": [place]} for place, name in enumerate(columns)]


def _look(column: str) -> str:
    if is_number(column):
        return "dt-right dt-nowrap"
    return "dt-left wide" if column == "name" else f"dt-left{' dt-nowrap' * column.endswith('_at')}"

"""The table of products: pages, order, columns, which product is open, and which are selected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as w
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from traitlets import Bool, Instance, Tuple, Unicode, link

from prodex.exploration.product_columns import ProductColumns, ProductRows, Rows
from prodex.exploration.table_page import (
    AUDIT_COLUMNS,
    COLUMNS,
    NOT_ASKED,
    NOTHING,
    Order,
    Sorter,
    cells,
    is_number,
    title,
)
from prodex.locales import language_label
from prodex.notebook.products.export import ShownTable
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.live import LiveWidget
from prodex.notebook.shared.panel import Panel, check_box, row, show_if, styled
from prodex.notebook.shared.removable_buttons import ColumnPicker
from prodex.notebook.shared.row_table import Pager
from prodex.notebook.shared.selection_bar import SelectionButtons
from prodex.quality.completeness import SHARE, is_of_channel
from prodex.tables.columns import Mask

_SIZES = (10, 25, 50, 100, 200)
_SIZE = 50
#: The usual columns that go first when there is little room, and those that go next. All others stay: GTIN and name,
#: and those that somebody has added.
_GO_FIRST = frozenset(("brand", "updated_at", "texts_count", "pictures_count"))
_GO_NEXT = frozenset(("kind", "owner", "grade", "score"))
_LEFT = frozenset((NOTHING, NOT_ASKED))
_UNREAD = "These products cannot be read; the message at the top says why."

#: Channels whose completeness is shown without being asked for.
_CHANNELS = 3


class ProductTable(VBox):
    """Products, page by page.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    edit
        Called with the id of a product that is to be corrected.
    pick, narrow
        Called for a press under the head of a column: with the column and the key of a value, or the first and the last
        bin of its histogram.

    Attributes
    ----------
    selected
        Ids of the selected products, in the order of selection, on this page and on others.
    product_id
        The product whose card is open, or None.
    columns
        The columns that are shown.
    order
        How the products are sorted.
    on_page
        Ids of the products on this page.
    is_dense
        Whether every product is one line.
    with_heads
        Whether the heads of columns show how their values are distributed.
    head, column_picker
        The rows of controls above the table, and the choice of columns.
    grid
        The live widget that shows the page.
    selection
        How many products are selected, and the buttons that select them.
    with_pictures
        The box that shows pictures beside the names, once there are some.
    """

    selected: Instance[tuple[str, ...]] = Tuple()
    product_id: Unicode[str | None, Any] = Unicode(None, allow_none=True)
    columns: Instance[tuple[str, ...]] = Tuple()
    order: Instance[Order] = Instance(Order, ())
    is_dense: Bool[bool, bool | int] = Bool(default_value=True)
    with_heads: Bool[bool, bool | int] = Bool(default_value=True)

    def __init__(
        self,
        *,
        panel: Panel,
        edit: Callable[[str], object] = lambda _: None,
        pick: Callable[[str, int], object] = lambda *_: None,
        narrow: Callable[[str, int, int], object] = lambda *_: None,
    ) -> None:
        super().__init__(columns=COLUMNS)
        self.add_class("product-table")
        self._correct, self._pick, self._narrow = edit, pick, narrow
        self._heads: Mapping[str, Any] = {}
        self._products: ProductColumns | None = None
        self._mask: Mask = np.zeros(0, bool)
        self.on_page: list[str] = []
        self._pictures: Callable[[Sequence[str]], Mapping[str, str]] = lambda _: {}
        self._rows: list[dict[str, Any]] = []
        self._focus = (0, 0)
        self._make(panel)
        self._connect(panel)

    def hold(self, products: ProductColumns) -> None:
        """Show another catalogue."""
        self._products, self._sorter, self._mask = products, Sorter(products), np.zeros(len(products), bool)
        self._heads = {}
        self.offer_languages([])
        judged = tuple(name for name in AUDIT_COLUMNS if products.audit is not None)
        shares = [name for name in products.channel_columns() if name.startswith(SHARE)]
        judged = (*judged, *shares[:_CHANNELS])
        kept = tuple(name for name in self.columns if name not in AUDIT_COLUMNS and not is_of_channel(name))
        # Otherwise the picker would be offered columns that the catalogue before had.
        with self.hold_trait_notifications():
            self.columns = (*kept, *judged)
        self.column_picker.offer(products, self.columns)

    def offer_languages(self, codes: Sequence[str]) -> None:
        """Offer the languages that names have: in any other one the column would be empty."""
        names = [(language_label(code), code) for code in codes]
        self._language.options = [("any language", ""), *names]

    def show(self, mask: Mask, heads: Mapping[str, Any]) -> None:
        """Show the products of a mask, from the first page, with what is known under the heads of columns."""
        self._mask, self._heads = mask, heads
        self._from_start()

    def show_heads(self, heads: Mapping[str, Any]) -> None:
        """Show this under the heads of columns."""
        self._heads = heads
        self._show_page()

    @property
    def language(self) -> str | None:
        """The language of the names, or None for the first that there is."""
        return self._language.value or None

    @property
    def shown(self) -> ShownTable:
        """The table with all its pages."""
        assert self._products is not None  # noqa: S101 - an explorer sets it before anybody can click
        return ShownTable(self._products, self._places(), self.columns, self.language)

    def shown_of(self, ids: tuple[str, ...]) -> ShownTable:
        """Return the table of some products of the catalogue, whether they are shown or not."""
        assert self._products is not None  # noqa: S101 - as above
        ordered = self.ordered
        rows = ordered[self._products.having(ids)[ordered]]
        return ShownTable(self._products, rows, self.columns, self.language)

    def lists(self, product_id: str) -> bool:
        """Return whether a product is in the table, on this page or another."""
        if self._products is None:
            return False
        place = pc.index(self._products.ids, pa.scalar(product_id, pa.string())).as_py()
        return place >= 0 and bool(self._mask[place])

    def focus(self, product_id: str | None) -> None:
        """Put the focus on the row of a product, or on the first row where it is on another page."""
        place = self.on_page.index(product_id) if product_id in self.on_page else 0
        self._focus = (self._focus[0] + 1, place)
        self._show_page()

    def draw(self) -> None:
        """Show the page."""
        if self._products is None:
            return
        # When they cannot be read, no rows are shown: those of another page would be taken for them.
        self.on_page, self._rows = [], []
        try:
            self._read_page(self._products)
        finally:
            self.selection.draw()
            self._show_page()

    def _read_page(self, products: ProductColumns) -> None:
        rows = self._places()[self._above.page]
        page = ProductRows(products, rows)
        frame = cells(page, self.columns, self.language)
        ids = page.column("product_id").to_pylist()
        label = self.columns.index("name") if "name" in self.columns else 0
        self._rows = [
            {
                "id": one,
                "label": texts[label],
                "cells": [{"text": text, "missing": text in _LEFT} for text in texts],
            }
            for one, texts in zip(ids, frame.to_numpy().tolist(), strict=True)
        ]
        self.on_page = ids

    def offer_pictures(self, pictures: Callable[[Sequence[str]], Mapping[str, str]]) -> None:
        """Offer to show pictures beside the names: those that are there already, by product id."""
        self._pictures = pictures
        show_if(self.with_pictures, True)
        if self.with_pictures.value:
            self._show_page()

    def _show_page(self) -> None:
        chosen, thumbs = set(self.selected), self._pictures(self.on_page) if self.with_pictures.value else {}
        found = int(self._mask.sum())
        rows = [
            {**one, "selected": one["id"] in chosen, "thumb": thumbs.get(one["id"])} for one in self._rows
        ]
        self.grid.view = {
            "columns": [self._column(name) for name in self.columns],
            "rows": rows,
            "open": self.product_id,
            "page": self._above.first,
            "focus": self._focus[0],
            "focusRow": self._focus[1],
            "dense": self.is_dense,
            "thumbs": self.with_pictures.value,
            "total": found,
            "label": "Products",
            "empty": _UNREAD if found else "No products to show.",
        }

    def _column(self, name: str) -> dict[str, Any]:
        by = self.order
        return {
            "name": name,
            "title": title(name),
            "align": "right" if is_number(name) else "left",
            "priority": 3 if name in _GO_FIRST else 2 if name in _GO_NEXT else 1,
            "sort": ("descending" if by.descending else "ascending") if by.column == name else "",
            "head": self._heads.get(name) if self.with_heads else None,
        }

    def _make(self, panel: Panel) -> None:
        narrow = w.Layout(width="auto")
        # Above the table, and below it for whoever has read to its end.
        self._above: Pager = styled(Pager(panel, _SIZE, self.draw), "count")
        self._below: Pager = Pager(panel, _SIZE, lambda: None)
        link((self._above, "first"), (self._below, "first"))
        self._language = w.Dropdown(description="Names in", options=[("any language", "")], layout=narrow)
        self._size = w.Dropdown(description="Rows per page", options=_SIZES, value=_SIZE, layout=narrow)
        self._density = w.Dropdown(
            description="Rows", options=[("one line", True), ("as high as needed", False)], layout=narrow
        )
        self._with_heads = check_box("Distributions under the heads", is_ticked=True)
        self.column_picker: ColumnPicker = ColumnPicker(panel=panel)
        self.grid: LiveWidget = LiveWidget(
            panel,
            "grid",
            {
                "open": self._open,
                "close": lambda: self._open(None),
                "edit": self._edit,
                "select": self._select,
                "sort": self._sort,
                "turn": self._turn,
                "pick": lambda column, key: self._pick(column, int(key)),
                "range": lambda column, first, last: self._narrow(column, int(first), int(last)),
            },
        )
        self.with_pictures: w.Checkbox = check_box(
            "Pictures", tooltip="Pictures that the gallery has downloaded"
        )
        show_if(self.with_pictures, False)
        self.selection: SelectionButtons = SelectionButtons(panel=panel, of=self, page=lambda: self.on_page)
        self.head: tuple[Any, ...] = (row(self._above, self.selection, look="line"),)
        self.settings: Any = row(
            self._language, self._size, self._density, self._with_heads, self.with_pictures, look="line"
        )
        self.children: tuple[Any, Any] = (self.grid, self._below)

    def _connect(self, panel: Panel) -> None:
        link((self._density, "value"), (self, "is_dense"))
        link((self._with_heads, "value"), (self, "with_heads"))
        for control in (self._language, self._size):
            panel.on(control, lambda _: self._from_start(), "value")
        panel.on(self, lambda _: self._from_start(), "order")
        panel.on(self, lambda _: self._show_page(), "selected", "product_id", "is_dense", "with_heads")
        panel.on(self.column_picker, lambda change: self._take_columns(change["new"]), "columns")
        panel.on(self.with_pictures, lambda _: self._show_page(), "value")

    def _from_start(self) -> None:
        found, every = int(self._mask.sum()), len(self._mask)
        # The one above first: it turns both of them back, and draws the table once.
        for pager in (self._above, self._below):
            pager.size = self._size.value
            pager.over(found, "product", "" if found == every else f" ({every:,} in all)")

    @property
    def ordered(self) -> Rows:
        """The places of all products of the catalogue, in the order of the table."""
        return self._sorter.order(self.order, self.language)

    def _places(self) -> Rows:
        """Return the places of the products that are shown, on all pages."""
        ordered = self.ordered
        return ordered.compress(self._mask[ordered])

    def _take_columns(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        # A table cannot be sorted by a column that it does not show: nobody would see why.
        if self.order.column and self.order.column not in columns:
            self.order = Order()
        else:
            self.draw()

    def _open(self, id: str | None) -> None:  # noqa: A002 - as the script names it
        self.product_id = id

    def _edit(self, id: str) -> None:  # noqa: A002
        self._correct(id)

    def _select(self, id: str, through: bool = False) -> None:  # noqa: A002
        self.selection.toggle(id, through=through)

    def _sort(self, column: str) -> None:
        """Sort by a column: ascending, then descending, then in the order of the catalogue."""
        now = self.order
        if now.column != column:
            self.order = Order(column)
        else:
            self.order = Order() if now.descending else Order(column, descending=True)

    def _turn(self, by: int, follow: bool = False) -> None:
        """Turn a page; with `follow`, go on to its next row, and to its card if one is open."""
        if not self._above.can_turn(by):
            return
        # In one message with the page: between two, a key that somebody presses would be undone by the second.
        self._focus = (self._focus[0] + 1, 0 if by > 0 else -1)
        self._above.turn(by)
        if follow and self.product_id is not None:
            self.product_id = self.on_page[0 if by > 0 else -1]

"""What a table shows as soon as it is read: what stands under the heads of columns, and the languages of names.

It is read after the table is shown, and in the background where there are many products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from prodex.notebook.background import LatestTask
from prodex.notebook.conditions import Conditions
from prodex.notebook.exploration import Exploration
from prodex.notebook.panel import Panel
from prodex.notebook.products.column_heads import ColumnHeads
from prodex.notebook.products.facet_counts import FilterResult
from prodex.notebook.products.filtering import ProductFilter
from prodex.notebook.products.product_table import ProductTable

#: Of more products it is read in the background.
_READ_AT_ONCE = 20_000
#: Seconds before that, so that the table is shown first.
_SHOWN_FIRST = 0.3

_Languages: TypeAlias = tuple[ProductFilter, list[str]]


class TableDetails:
    """A table of products with what is read after it is shown, and what a press under the heads of columns means.

    Parameters
    ----------
    panel
        The panel around the table, which shows errors.
    exploration
        Whose conditions a press changes.
    edit
        Called with the id of a product that is to be corrected.

    Attributes
    ----------
    table
        The table.
    """

    def __init__(self, panel: Panel, exploration: Exploration, edit: Callable[[str], object]) -> None:
        self._panel, self._exploration = panel, exploration
        self._filter: ProductFilter = exploration.filter
        self._heads = ColumnHeads(self._filter)
        self._left: FilterResult | None = None
        self.table: ProductTable = ProductTable(panel=panel, edit=edit, pick=self._pick, narrow=self._narrow)
        self._reading: LatestTask[ColumnHeads] = LatestTask(
            ColumnHeads.read, self._take_heads, panel.show_error, _SHOWN_FIRST, is_patient=True
        )
        self._listing: LatestTask[_Languages] = LatestTask(
            _languages, self._take_languages, panel.show_error, _SHOWN_FIRST, is_patient=True
        )
        panel.on(self.table, lambda _: self._show(), "columns", "with_heads")

    def is_busy(self) -> bool:
        """Return whether something is still read."""
        return self._reading.is_busy() or self._listing.is_busy()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until everything is read; for scripts and tests."""
        self._reading.wait(seconds)
        self._listing.wait(seconds)

    def hold(self, filter_: ProductFilter) -> None:
        """Take the products of another catalogue, which the table shows already."""
        self._filter, self._heads, self._left = filter_, ColumnHeads(filter_), None
        if len(filter_.products) > _READ_AT_ONCE:
            self._listing(filter_)
        else:
            with self._panel.guarded():
                self._take_languages(_languages(filter_))

    def known(self, left: FilterResult) -> dict[str, dict[str, Any]]:
        """Return what stands under the heads for the products that meet the conditions, if it is read already."""
        self._left = left
        return self._made() if self._heads.are_read(self.table.columns) else {}

    def complete(self) -> None:
        """Read what was not known, and show it."""
        if not self._heads.are_read(self.table.columns):
            self._show()

    def _show(self) -> None:
        heads, columns = self._heads, self.table.columns
        if self._left is None or not self.table.with_heads:
            return
        if not heads.are_read(columns):
            if len(self._filter.products) > _READ_AT_ONCE:
                self._reading(heads, columns)
                return
            heads.read(columns)
        self.table.show_heads(self._made())

    def _made(self) -> dict[str, dict[str, Any]]:
        if self._left is None or not self.table.with_heads:
            return {}
        return self._heads.of(self.table.columns, self._exploration.conditions, self._left)

    def _take_heads(self, heads: ColumnHeads) -> None:
        if heads is self._heads:
            self._show()

    def _take_languages(self, found: _Languages) -> None:
        if found[0] is self._filter:
            self.table.offer_languages(found[1])

    def _pick(self, column: str, key: int) -> None:
        """Select the value under a head that was pressed, or clear it."""
        self._set(self._heads.picking(self._exploration.conditions, column, key))

    def _narrow(self, column: str, first: int, last: int) -> None:
        """Keep the bins under a head that were pressed, or remove their range."""
        self._set(self._heads.ranging(self._exploration.conditions, column, first, last))

    def _set(self, conditions: Conditions) -> None:
        self._exploration.conditions = conditions


def _languages(filter_: ProductFilter) -> _Languages:
    return filter_, filter_.products.languages()

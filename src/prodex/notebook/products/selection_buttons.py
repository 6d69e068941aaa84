"""How many products are selected, beside buttons that select those of a page, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as w

from prodex.notebook.boxes import HBox
from prodex.notebook.panel import Panel, button, html


class SelectionButtons(HBox):
    """The same for every way in which products are shown.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    of
        What has the trait `selected`.
    page
        Returns the ids of the products that are shown.

    Attributes
    ----------
    all, none
        The buttons.

    Examples
    --------
    >>> from prodex.notebook.gallery.product_gallery import ProductGallery
    >>> gallery = ProductGallery(panel=Panel())
    >>> gallery.selection.choose(["7", "8"])
    >>> gallery.selection.choose(["8", "9"])
    >>> gallery.selected
    ('7', '8', '9')
    """

    def __init__(self, *, panel: Panel, of: Any, page: Callable[[], Sequence[str]]) -> None:
        self._of, self._page = of, page
        self._anchor: str | None = None
        self._words = html("", "muted")
        self.all: w.Button = button("Select this page")
        self.none: w.Button = button("Clear selection")
        super().__init__([self._words, self.all, self.none])
        self.add_class("selection-buttons")
        panel.on(self.all, lambda _: self.choose(self._page()))
        panel.on(self.none, lambda _: self._clear())
        panel.on(of, lambda _: self.draw(), "selected")
        self.draw()

    def choose(self, ids: Sequence[str]) -> None:
        """Select products beside those that are selected; one that is selected already keeps its place in the order."""
        self._of.selected = tuple(dict.fromkeys([*self._selected, *ids]))

    def toggle(self, product_id: str, *, through: bool = False) -> None:
        """Select a product or clear it; `through` selects all of the page from the last one that was pressed."""
        page = list(self._page())
        if through and self._anchor in page and product_id in page:
            first, last = sorted((page.index(self._anchor), page.index(product_id)))
            self.choose(page[first : last + 1])
        elif product_id in self._selected:
            self._of.selected = tuple(one for one in self._selected if one != product_id)
        else:
            self.choose([product_id])
        self._anchor = product_id

    def draw(self) -> None:
        """Show how many are selected, and what can be pressed."""
        self._words.value = f"{len(self._selected):,} selected"
        self.all.disabled = not self._page()
        self.none.disabled = not self._selected

    @property
    def _selected(self) -> tuple[str, ...]:
        selected: tuple[str, ...] = self._of.selected
        return selected

    def _clear(self) -> None:
        self._of.selected = ()
        # The button that was pressed is disabled now, and would leave the focus nowhere.
        self.all.focus()

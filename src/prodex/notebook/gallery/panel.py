"""The gallery panel: the chosen products by their pictures, with the card of one beside them."""

from __future__ import annotations

from typing import Any, ClassVar

import ipywidgets as w
from traitlets import Instance, Tuple, link

from prodex.catalog import Catalog
from prodex.exploration.filtering import ProductFilter
from prodex.notebook.card.panel import ProductCard
from prodex.notebook.gallery.export import GalleryExport
from prodex.notebook.gallery.product_gallery import ProductGallery
from prodex.notebook.jobs import Runner
from prodex.notebook.shared.panel import Fold, Panel, button, row, show_if, styled
from prodex.notebook.shared.selection_bar import SelectionBar
from prodex.notebook.shared.state import Exploration
from prodex.selection import Code, Selection
from prodex.tables.columns import Mask


class GalleryPanel(Panel):
    """The pictures of the products that an exploration has chosen, page by page or by the values of a facet.

    Pictures are downloaded by Python, those of the page that is shown, and only after "Show pictures" was pressed once
    in the session; the browser itself loads nothing.

    Parameters
    ----------
    catalog
        The catalogue; may be left out with an exploration, which has one.
    exploration
        The state to share with other panels: its conditions choose the products, and a press on a picture opens the
        card of its product.

    Attributes
    ----------
    selected
        Ids of the selected products, in the order of selection.
    exploration
        The shared state.
    gallery
        The pictures, with their controls.

    Examples
    --------
    >>> import prodex
    >>> panel = GalleryPanel(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}]))
    >>> panel.exploration.conditions = panel.exploration.conditions.toggled("brand", "ACME")
    >>> panel.wait()
    >>> [group.rows for group in panel.gallery.shown]
    [(0,)]
    """

    reads_for: ClassVar[float] = 2.0

    selected: Instance[tuple[str, ...]] = Tuple()

    def __init__(self, catalog: Catalog | None = None, *, exploration: Exploration | None = None) -> None:
        super().__init__("Gallery")
        self.add_class("gallery-panel")
        exploration = Exploration.shared(catalog, None, exploration, "GalleryPanel")
        self.exploration: Exploration = exploration
        self._filter: ProductFilter | None = None
        self.gallery: ProductGallery = ProductGallery(
            panel=self, pressed=self._keep_value, edit=self._correct
        )
        self.export: GalleryExport = GalleryExport(
            panel=self, gallery=self.gallery, chosen=lambda: exploration.chosen_words
        )
        self._card = ProductCard(exploration=exploration)
        self._close = button("✕ Close", "quiet", "close", tooltip="Close the card (Escape)")
        self.pane: w.VBox = styled(w.VBox([self._close, self._card]), "pane")
        self._sides = row(self.gallery, self.pane, look="sides")
        self._narrowing: Runner[tuple[ProductFilter, Selection, Mask]] = Runner(self._show, self.show_error)
        fold = Fold("Export", [self.export])
        self.fill(SelectionBar(self, exploration), *self.gallery.head, self._sides, fold)
        link((exploration, "selected"), (self, "selected"))
        link((exploration, "selected"), (self.gallery, "selected"))
        link((exploration, "product_id"), (self.gallery, "product_id"))
        self.on(exploration, lambda _: self._show_pane(), "product_id")
        self.on(exploration, lambda _: self._follow(), "catalog", "audit", "conditions")
        self.on(exploration, lambda _: self._take_focus(), "focus_on")
        self.on(self._close, lambda _: self._close_card())
        self._show_pane()
        with self.guarded():
            self._follow()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the pictures of the page are there; for scripts and tests."""
        self._narrowing.wait(seconds)
        self.gallery.wait(seconds)
        self.export.wait(seconds)

    def _follow(self) -> None:
        """Show the products that the conditions choose; which these are is found out in the background."""
        now = self.exploration.filter
        if self._filter is not now:
            self._filter = now
            self.gallery.hold(now)
            self.export.forget()
        self._narrowing.ask(_narrowed, now, self.exploration.conditions)

    def _show(self, found: tuple[ProductFilter, Selection, Mask]) -> None:
        filter_, conditions, mask = found
        # Another panel may have changed both meanwhile.
        if filter_ is self.exploration.filter and conditions == self.exploration.conditions:
            with self.guarded():
                self.gallery.show(mask)

    def _keep_value(self, facet: str, code: Code) -> None:
        """Keep only the products of a value that was pressed, and show them one by one."""
        self.exploration.conditions = self.exploration.conditions.choosing(facet, (code,))

    def _correct(self, product_id: str) -> None:
        """Open the card of a product at the text that is to be corrected."""
        self.exploration.product_id = product_id
        self.exploration.focus_on = "text"

    def _take_focus(self) -> None:
        """Put the focus back on the picture of the product whose text was corrected."""
        if self.exploration.focus_on == "table":
            self.exploration.focus_on = ""
            self.gallery.focus(self.exploration.product_id)

    def _show_pane(self) -> None:
        is_open = self.exploration.product_id is not None
        show_if(self.pane, is_open)
        (self._sides.add_class if is_open else self._sides.remove_class)("with-card")

    def _close_card(self) -> None:
        # The button that was pressed is hidden with the card, and would leave the focus nowhere.
        self.gallery.focus(self.exploration.product_id)
        self.exploration.product_id = None


def _narrowed(filter_: ProductFilter, conditions: Selection) -> tuple[ProductFilter, Selection, Any]:
    return filter_, conditions, filter_.mask(conditions)

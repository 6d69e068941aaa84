"""The products of an explorer, as a table or by their pictures: the same products, selection, card and order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as w
import numpy as np
from traitlets import Instance, Tuple, Unicode, link

from prodex.exploration.filtering import ProductFilter
from prodex.notebook.gallery.export import GalleryExport
from prodex.notebook.gallery.product_gallery import ProductGallery
from prodex.notebook.products.product_table import ProductTable
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.panel import Fold, Panel, show_if
from prodex.selection import Code
from prodex.tables.columns import Mask

TABLE, GALLERY = "Table", "Gallery"


class TableOrGallery(VBox):
    """The table, and in its place the gallery, which is made when it is first wanted.

    Parameters
    ----------
    panel
        The panel around both, which shows errors.
    table
        The table.
    edit
        Called with the id of a product that is to be corrected.
    pressed
        Called with facet and code when the label of a group of pictures is pressed.
    chosen
        As for `GalleryExport`.

    Attributes
    ----------
    selected, product_id
        As of the table and of the gallery.
    switch
        The buttons that change between both; an explorer places them.
    gallery
        The gallery, or None as long as nobody has wanted it.
    """

    selected: Instance[tuple[str, ...]] = Tuple()
    product_id: Unicode[str | None, Any] = Unicode(None, allow_none=True)

    def __init__(
        self,
        *,
        panel: Panel,
        table: ProductTable,
        edit: Callable[[str], object],
        pressed: Callable[[str, Code], object],
        chosen: Callable[[], str] = lambda: "",
    ) -> None:
        super().__init__()
        self._chosen = chosen
        self._export: GalleryExport | None = None
        self._panel, self._edit, self._pressed = panel, edit, pressed
        self._filter: ProductFilter | None = None
        self._mask: Mask = np.zeros(0, bool)
        self.switch: w.ToggleButtons = w.ToggleButtons(options=[TABLE, GALLERY])
        self.switch.add_class("switch")
        self.table: ProductTable = table
        self.gallery: ProductGallery | None = None
        self._places = (w.VBox([*self.table.head, self.table]), w.VBox())
        self.children: Sequence[Any] = self._places
        self._share(self.table)
        panel.on(self.switch, lambda _: self._show(), "value")
        panel.on(self.table, lambda _: self._show_gallery(), "order")
        self._show()

    @property
    def is_gallery(self) -> bool:
        """Whether the gallery is shown."""
        return bool(self.switch.value == GALLERY)

    def hold(self, filter_: ProductFilter) -> None:
        """Show products of another catalogue: those of this filter's."""
        self._filter, self._mask = filter_, np.zeros(len(filter_.products), bool)
        self.table.hold(filter_.products)
        if self.gallery is not None:
            self.gallery.hold(filter_)
        if self._export is not None:
            self._export.forget()

    def show(self, mask: Mask, heads: Mapping[str, Any]) -> None:
        """Show the products of a mask, from the first page, with what is known under the heads of columns."""
        self._mask = mask
        self.table.show(mask, heads)
        self._show_gallery()

    def show_by(self, facet: str) -> None:
        """Show the gallery, with the first products of each value of a facet."""
        self._made().show_by(facet)
        self.switch.value = GALLERY

    def focus(self, product_id: str | None) -> None:
        """Put the focus on a product, or on the first that is shown."""
        (self.gallery if self.gallery is not None and self.is_gallery else self.table).focus(product_id)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the pictures of the page are there; for scripts and tests."""
        if self.gallery is not None:
            self.gallery.wait(seconds)

    def _show(self) -> None:
        for place, is_shown in zip(self._places, (not self.is_gallery, self.is_gallery), strict=True):
            show_if(place, is_shown)
        self._show_gallery()

    def _show_gallery(self) -> None:
        """Give the gallery the products that are shown; while the table is shown, it is left as it is."""
        if self.is_gallery and self._filter is not None:
            self._made().show(self._mask, self.table.ordered)

    def _made(self) -> ProductGallery:
        if self.gallery is None:
            made = ProductGallery(
                panel=self._panel, pressed=self._pressed, edit=self._edit, loaded=self._offer_pictures
            )
            self.gallery = made
            self._export = GalleryExport(panel=self._panel, gallery=made, chosen=self._chosen)
            # Above the pictures: below a page of them nobody would look for it.
            self._places[1].children = (*made.head, Fold("Contact sheet", [self._export]), made)
            self._share(made)
            if self._filter is not None:
                made.hold(self._filter)
        return self.gallery

    def _share(self, one: ProductTable | ProductGallery) -> None:
        link((self, "selected"), (one, "selected"))
        link((self, "product_id"), (one, "product_id"))

    def _offer_pictures(self) -> None:
        if self.gallery is not None:
            self.table.offer_pictures(self.gallery.pictures.in_rows)

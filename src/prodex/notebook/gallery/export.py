"""A contact sheet of what a gallery shows, as one HTML file that opens offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as w

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.exploration.gallery import TileGroup, sheet_rows
from prodex.messages import counted
from prodex.notebook.gallery.product_gallery import SIDE, ProductGallery
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.exporting import path_of
from prodex.notebook.shared.long_tasks import Exporter
from prodex.notebook.shared.panel import Panel, button, check_box, row
from prodex.progress import Reporter

_PAGE, _EVERY = "this page", "all pages"
#: Products on one sheet; more would make a page that browsers scroll with difficulty.
MOST = 500
_REPLACE = "Replace an existing file"


class GalleryExport(VBox):
    """A form with what to export, a file and a button.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    gallery
        What is exported.
    chosen
        Returns by what its products were chosen, for the title.
    """

    def __init__(
        self, *, panel: Panel, gallery: ProductGallery, chosen: Callable[[], str] = lambda: ""
    ) -> None:
        self._gallery, self._chosen = gallery, chosen
        narrow = w.Layout(width="auto")
        self.what: w.Dropdown = w.Dropdown(
            description="Contact sheet of", options=[_EVERY, _PAGE], layout=narrow
        )
        self.file: w.Text = w.Text(
            description="File", value="contact-sheet.html", layout=w.Layout(width="320px")
        )
        self.replace: w.Checkbox = check_box(_REPLACE)
        self.write: w.Button = button("Export contact sheet", "primary")
        self.exporter: Exporter = Exporter(panel, {self.write: self._export})
        line = row(self.what, self.file, self.write, look="line")
        super().__init__([line, self.replace, self.exporter.work, self.exporter.line])

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the file is written; for scripts and tests."""
        self.exporter.wait(seconds)

    def forget(self) -> None:
        """Remove the report of the last export: other products are shown by now."""
        self.exporter.show_message("")

    def _export(self) -> None:
        page = path_of(self.file.value, "a file for the contact sheet, such as sheet.html")
        if page.exists() and not self.replace.value:
            raise InputError(f"{page} already exists. Give another name, or tick '{_REPLACE}'.")
        if not self._gallery.has_consent:
            raise InputError(
                "The sheet is made of pictures. Press 'Show pictures' first, which allows to download them."
            )
        groups = self._gallery.shown if self.what.value == _PAGE else self._gallery.every_group()
        count = sum(len(group.rows) for group in groups)
        if count > MOST:
            raise InputError(
                f"{count:,} products are too many for one sheet of {MOST}. Export this page, or filter more."
            )
        products = self._gallery.products
        rows = [sheet_rows(products, group.rows) for group in groups]
        write = partial(
            write_sheet,
            products.catalog,
            groups,
            rows,
            self._gallery.controls.packshots_only,
            self._gallery.total,
            self._chosen(),
            page,
        )
        self.exporter.start(write, f"Exporting a contact sheet of {counted(count, 'product')}")


def write_sheet(
    catalog: Catalog,
    groups: Sequence[TileGroup],
    rows: Sequence[Sequence[dict[str, Any]]],
    packshots_only: bool,
    total: int,
    chosen: str,
    page: Path,
    reporter: Reporter,
) -> str:
    """Write a contact sheet, and return where it is.

    Parameters
    ----------
    catalog
        The catalogue of the products.
    groups, rows
        The groups, and of each what a contact sheet needs to know of its products.
    packshots_only
        Whether only packshots are shown.
    total
        How many products there are, on this sheet or not.
    chosen
        By what they were chosen.
    page
        The file.
    reporter
        Hears of how many pictures are there.
    """
    from prodex.pictures.contact_sheet import Gallery, SheetGroup, sheet_cells

    every = [row for of in rows for row in of]
    cells = sheet_cells(catalog, every, SIDE, packshots_only, reporter=reporter)
    with reporter.phase("Writing the contact sheet"):
        named = tuple(
            SheetGroup(group.label, len(group.rows), group.total) for group in groups if group.label
        )
        sheet = Gallery(cells, 1, 1, 1, total, catalog.origin.source, SIDE, named, chosen, len(catalog))
        written = sheet.to_html(page)
    # The message explains missing pictures, since a sheet is written even if it has none.
    return f"Exported {counted(len(cells), 'product')} to {written}: {sheet.summary}."

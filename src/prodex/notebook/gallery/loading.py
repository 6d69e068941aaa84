"""The pictures of a page: downloaded by Python in the background, shown as they come, and kept for who turns back."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.display.html_tables import data_url
from prodex.network.addresses import sandbox_of
from prodex.notebook.background import running_loop
from prodex.notebook.panel import Panel
from prodex.notebook.work import WorkRow
from prodex.progress import PhaseObserver, Reporter

if TYPE_CHECKING:
    from prodex.pictures.contact_sheet import SheetCell

#: Pixels of the longest side of a picture as it is downloaded; on the screen it is made as large as the tiles are.
SIDE = 256
#: The same in a row of a table, where it is shown about half as large: browsers show two pixels for one.
_SIDE_IN_ROW = 96
#: Pictures that are kept: about 8 kB each.
_KEPT = 1_000
#: Seconds between two updates of a page while its pictures come.
_INTERVAL = 0.5
#: The addresses are those of the products' records, and as old as these.
_ALL_BROKEN = (
    " No picture of this page could be shown. If pictures have moved since these products were loaded, load the "
    "products again."
)


@dataclass
class PictureConsent:
    """Whether pictures may be downloaded in this session: they come from addresses in the products' records."""

    is_given: bool = False


def are_here(catalog: Catalog) -> bool:
    """Whether all pictures of a catalogue are of a sandbox on this machine: nobody else learns that they are loaded.

    Its records may name other addresses, though.
    """
    if sandbox_of(catalog.origin.source) is None:
        return False
    here = f"{catalog.origin.source.partition(', ')[0].rstrip('/')}/"
    addresses = catalog.arrow("pictures", ["url"])["url"]
    return bool(pc.all(pc.starts_with(addresses, here), min_count=0).as_py())


#: One for the session: whoever has said yes is not asked again by the next gallery.
CONSENT = PictureConsent()


class PictureLoader:
    """Downloads pictures, and keeps them by product.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    changed
        Called when pictures have come, or no more will.
    back_to
        The button that has the focus when Cancel, which had it, is hidden.

    Attributes
    ----------
    work
        How far it is, and Cancel.
    packshots_only
        Whether packshots only are wanted.
    """

    def __init__(self, panel: Panel, changed: Callable[[], object], back_to: Any) -> None:
        self._panel, self._changed = panel, changed
        self._cells: OrderedDict[tuple[str, bool], SheetCell] = OrderedDict()
        self._shown_at = 0.0
        self._catalogs = 0
        self.packshots_only: bool = False
        self.work: WorkRow[Sequence[SheetCell]] = WorkRow(
            panel, self._loaded, self._not_loaded, cancelled=changed, back_to=back_to
        )

    def clear(self) -> None:
        """Forget all pictures: another catalogue is shown."""
        self.work.forget()
        self._cells.clear()
        self._catalogs += 1

    def cells(self, ids: Iterable[str]) -> dict[str, SheetCell]:
        """Return the pictures of some products that are there, or known not to be."""
        keys = {one: (one, self.packshots_only) for one in ids}
        return {one: self._cells[key] for one, key in keys.items() if key in self._cells}

    def in_rows(self, ids: Iterable[str]) -> dict[str, str]:
        """Return addresses (`data:`) of small pictures for the rows of a table, as far as they are there."""
        there = {one: cell.thumbnail.bytes for one, cell in self.cells(ids).items()}
        return {one: _in_row(content) for one, content in there.items() if content is not None}

    def broken(self, ids: Iterable[str]) -> list[str]:
        """Return the products whose picture was not there, was damaged, or could not be shown."""
        cells = self.cells(ids)
        return [
            one
            for one, cell in cells.items()
            if cell.thumbnail.bytes is None and cell.thumbnail.position is not None
        ]

    def advice(self, ids: Iterable[str]) -> str:
        """Return what to do where not one picture of some products could be had; empty otherwise."""
        pictured = [one.thumbnail for one in self.cells(ids).values() if one.thumbnail.position is not None]
        return "" if not pictured or any(one.bytes is not None for one in pictured) else _ALL_BROKEN

    def forget(self, ids: Iterable[str]) -> None:
        """Forget the pictures of some products, so that they are downloaded again."""
        for one in ids:
            self._cells.pop((one, self.packshots_only), None)

    def load(self, catalog: Catalog, rows: Sequence[dict[str, Any]]) -> None:
        """Download the pictures of some products; what was being downloaded before is given up."""
        self.work.forget()
        if rows:
            fetch = partial(_fetched, catalog, rows, self.packshots_only, self._arrivals())
            self.work.start(fetch, "Downloading pictures")

    def _arrivals(self) -> Callable[[SheetCell], object]:
        """Return a function that takes a picture from whichever thread downloads it."""
        loop, only, catalogs = running_loop(), self.packshots_only, self._catalogs

        def take(cell: SheetCell) -> None:
            if self._catalogs != catalogs:
                return  # of a catalogue that is no longer shown
            self._keep(cell, only)
            # Each update sends the whole page, and dozens of pictures may come in a second.
            if monotonic() - self._shown_at > _INTERVAL:
                self._shown_at = monotonic()
                self._changed()

        def came(cell: SheetCell) -> None:
            if loop is not None:  # without one, in a script, nobody watches them come
                with suppress(RuntimeError):  # the loop may be closed by now
                    loop.call_soon_threadsafe(take, cell)

        return came

    def _keep(self, cell: SheetCell, packshots_only: bool) -> None:
        self._cells[cell.thumbnail.product_id, packshots_only] = cell
        while len(self._cells) > _KEPT:
            self._cells.popitem(last=False)

    def _loaded(self, cells: Sequence[SheetCell]) -> None:
        for cell in cells:
            self._keep(cell, self.packshots_only)
        self._changed()

    def _not_loaded(self, error: BaseException) -> None:
        self._panel.show_error(error)
        self._changed()


@lru_cache(_KEPT)
def _in_row(content: bytes) -> str:
    from prodex.pictures.resize import smaller

    return data_url(smaller(content, _SIDE_IN_ROW))


def _fetched(
    catalog: Catalog,
    rows: Sequence[dict[str, Any]],
    packshots_only: bool,
    came: Callable[[SheetCell], object],
    progress: PhaseObserver,
) -> Sequence[SheetCell]:
    # Imported on request: most who open a panel look at no picture, and Pillow takes a while.
    from prodex.pictures.contact_sheet import sheet_cells

    reporter = Reporter(progress.tell, progress.count)
    return sheet_cells(catalog, rows, SIDE, packshots_only, reporter=reporter, came=came)

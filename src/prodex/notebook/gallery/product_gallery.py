"""Products by their pictures: a page of tiles, or a row of them for each value of a facet."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import ipywidgets as w
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from traitlets import Instance, Tuple, Unicode

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.exploration.facets import Facets
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.gallery import (
    PicturedProducts,
    TileGroup,
    groups_of,
    sheet_rows,
    tiles,
    values_among,
)
from prodex.exploration.product_columns import ProductColumns, Rows
from prodex.network.addresses import sandbox_of
from prodex.notebook.jobs import Runner
from prodex.notebook.shared.boxes import HBox, VBox
from prodex.notebook.shared.live import LiveWidget
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import Panel, button, html, row, show_if, status_html, styled
from prodex.notebook.shared.row_table import Pager
from prodex.notebook.shared.selection_bar import SelectionButtons
from prodex.pictures.resize import data_url
from prodex.progress import Reporter
from prodex.selection import Code
from prodex.tables.columns import Mask

if TYPE_CHECKING:
    from prodex.pictures.contact_sheet import SheetCell


#: Values on a page, and products that are shown of each.
_GROUPS, _PER_GROUP = 8, 6


class ProductGallery(VBox):
    """The pictures of some products of a catalogue; give it products with `hold` and `show`.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    pressed
        Called with facet and code when the label of a group is pressed; then the products are one list again.
    edit
        Called with the id of a product that is to be corrected.
    loaded
        Called when pictures were loaded.

    Attributes
    ----------
    selected
        Ids of the selected products, in the order of selection.
    product_id
        The product whose card is open, or None.
    controls
        What is shown in which groups, and how large.
    selection
        How many products are selected, and the buttons that select them.
    head
        The rows of controls above the pictures.
    grid
        The live widget that shows the page.
    pictures
        What downloads them; `pictures.work` says how far it is.
    """

    selected: Instance[tuple[str, ...]] = Tuple()
    product_id: Unicode[str | None, Any] = Unicode(None, allow_none=True)

    def __init__(
        self,
        *,
        panel: Panel,
        pressed: Callable[[str, Code], object] = lambda *_: None,
        edit: Callable[[str], object] = lambda _: None,
        loaded: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__()
        self.add_class("product-gallery")
        self._panel, self._pressed, self._correct, self._heard = panel, pressed, edit, loaded
        self._filter: ProductFilter | None = None
        self._pictured: PicturedProducts | None = None
        self._mask: Mask = np.zeros(0, bool)
        self._is_given = False
        self._ordered: Rows = np.zeros(0, np.int64)
        self._groups: list[TileGroup] = []
        self._values: list[tuple[Code, str, int]] = []
        self._focus = (0, 0)
        self._are_here = False
        self._reading: Runner[tuple[PicturedProducts, bool]] = Runner(self._counted, self._not_counted)
        self._make()
        self._connect()

    def hold(self, filter_: ProductFilter) -> None:
        """Show products of another catalogue: those of this filter's."""
        # Places in the catalogue before are none of this one.
        self._filter, self._pictured, self._is_given, self._groups = filter_, None, False, []
        self._are_here = False
        self.pictures.clear()
        chosen = self.controls.facet
        self.controls.offer(filter_.facets, chosen if chosen in filter_.facets else "")
        self._reading.ask(_read_presence, PicturedProducts(filter_.products))

    def show(self, mask: Mask, ordered: Rows | None = None) -> None:
        """Show the products of a mask, from the first page.

        Parameters
        ----------
        mask
            Which products.
        ordered
            The places of all products in their order; that of the catalogue unless given.
        """
        self._mask, self._is_given = mask, True
        places = np.arange(len(mask)) if ordered is None else ordered
        self._ordered = places.compress(mask[places])
        self._from_start()

    def show_by(self, facet: str) -> None:
        """Show the first products of each value of a facet; also of one that is not among the choices yet.

        Raises
        ------
        InputError
            When the catalogue has no such facet.
        """
        if self._filter is not None:
            self.controls.offer(self._filter.facets, facet)

    @property
    def shown(self) -> list[TileGroup]:
        """The groups of the page; one without a label if it is one list."""
        return list(self._groups)

    @property
    def total(self) -> int:
        """How many products are shown on all pages."""
        return len(self._ordered)

    @property
    def products(self) -> ProductColumns:
        """The products of the catalogue, shown or not."""
        assert self._filter is not None  # noqa: S101 - a panel sets it before anybody can click
        return self._filter.products

    def every_group(self) -> list[TileGroup]:
        """Return the groups of all pages."""
        return self._groups_of(slice(None))

    def focus(self, product_id: str | None) -> None:
        """Put the focus on the tile of a product, or on the first tile where it is on another page."""
        ids = self._ids()
        self._focus = (self._focus[0] + 1, ids.index(product_id) if product_id in ids else 0)
        self._draw()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the pictures of the page are there; for scripts and tests."""
        self._reading.wait(seconds)
        self.pictures.work.wait(seconds)

    def _make(self) -> None:
        self.controls: GalleryControls = GalleryControls()
        self.pager: Pager = styled(Pager(self._panel, self.controls.per_page.value, self._turned), "count")
        self.summary: Any = html("", "muted")
        self.show_pictures: w.Button = button(
            "Show pictures",
            "primary",
            tooltip="Python downloads them from the addresses in the products' records; the browser loads nothing",
        )
        self.again: w.Button = button("Try again")
        self.selection: SelectionButtons = SelectionButtons(panel=self._panel, of=self, page=self._ids)
        self.pictures: PictureLoader = PictureLoader(self._panel, self._changed, self.again)
        self.grid: LiveWidget = LiveWidget(
            self._panel,
            "gallery",
            {
                "open": self._open,
                "close": lambda: self._open(None),
                "edit": self._edit,
                "select": self._select,
                "turn": self._turn,
                "group": self._press_group,
            },
        )
        self.head: tuple[Any, ...] = (
            row(self.pager, self.summary, self.show_pictures, self.again, self.selection, look="line"),
            self.controls,
        )
        self.children: tuple[Any, ...] = (self.pictures.work, self.grid)
        show_if(self.again, False)

    def _connect(self) -> None:
        on = self._panel.on
        for control in (self.controls.per_page, self.controls.kind, self.controls.group_by):
            on(control, lambda _: self._from_start(), "value")
        on(self.controls.tile_size, lambda _: self._draw(), "value")
        on(self, lambda _: self._draw(), "selected", "product_id")
        on(self.show_pictures, lambda _: self._consent())
        on(self.again, lambda _: self._retry())

    def _counted(self, read: tuple[PicturedProducts, bool]) -> None:
        """Go on when it is known which products have a picture, unless another catalogue is shown by now."""
        pictured, is_here = read
        if self._filter is not None and pictured.products is self._filter.products:
            self._pictured, self._are_here = pictured, is_here
            self._from_start()

    def _not_counted(self, error: BaseException) -> None:
        self.summary.value = ""
        self._panel.show_error(error)

    def _from_start(self) -> None:
        if self._filter is None or not self._is_given:
            return
        facet = self.controls.facet
        show_if(self.controls.per_page, not facet)
        if facet:
            self._values = values_among(self._filter.facets[facet], self._mask)
            self.pager.size = _GROUPS
            self.pager.over(len(self._values), "value")
        else:
            found, every = len(self._ordered), len(self._mask)
            self.pager.size = self.controls.per_page.value
            self.pager.over(found, "product", "" if found == every else f" ({every:,} in all)")

    def _turned(self) -> None:
        """Show another page, and load its pictures."""
        if self._filter is None:
            return
        # Until names and pictures have been read, in the background, there is nothing to show.
        self._groups = [] if self._pictured is None else self._groups_of(self.pager.page)
        self._load()

    def _groups_of(self, page: slice) -> list[TileGroup]:
        """Return the groups of some values, or the products of a page as one group without a label."""
        facet = self.controls.facet
        if self._filter is None or not facet:
            places = tuple(self._ordered[page].tolist())
            return [TileGroup(None, "", len(self._ordered), places)]
        values = self._filter.facets[facet]
        return groups_of(values, self._values[page], self._ordered, self._having(), _PER_GROUP)

    def _having(self) -> Mask:
        known = self._pictured
        return self._mask if known is None else known.having(packshots_only=self.controls.packshots_only)

    def _ids(self) -> list[str]:
        """Return the products of the page."""
        if self._filter is None:
            return []
        places = [place for group in self._groups for place in group.rows]
        ids: list[str] = self._filter.products.ids.take(pa.array(places, pa.int64())).to_pylist()
        return ids

    def _load(self) -> None:
        """Download the pictures of the page that are not there yet, if that is wanted."""
        self.pictures.packshots_only = self.controls.packshots_only
        if self._filter is not None:
            wanted = self._missing() if self.has_consent else []
            rows = sheet_rows(self._filter.products, wanted) if wanted else []
            self.pictures.load(self._filter.products.catalog, rows)
        self._changed()

    def _missing(self) -> list[int]:
        """Return the places of the products of the page whose pictures should be there and are not."""
        have, ids = self._having(), self._ids()
        there = self.pictures.cells(ids)
        places = (place for group in self._groups for place in group.rows)
        return [place for place, one in zip(places, ids, strict=True) if have[place] and one not in there]

    def _changed(self) -> None:
        """Show the page and the line above it, as far as pictures are there."""
        if self._filter is not None:
            self._show_head()
            self._draw()
            if self.pictures.in_rows(self._ids()):
                self._heard()

    @property
    def has_consent(self) -> bool:
        """Whether the pictures of what is shown may be downloaded."""
        return CONSENT.is_given or self._are_here

    def _consent(self) -> None:
        CONSENT.is_given = True
        self._load()
        # The button that was pressed is hidden, and would leave the focus nowhere.
        self.focus(None)

    def _retry(self) -> None:
        """Download again what is missing on this page."""
        self.pictures.forget(self.pictures.broken(self._ids()))
        self._load()

    def _show_head(self) -> None:
        is_busy = self.pictures.work.is_running
        if self._pictured is None:
            sentence = "Counting pictures …"
        else:
            sentence = self._pictured.summary(self._mask, packshots_only=self.controls.packshots_only)
        self.summary.value = status_html(sentence + self.pictures.advice(self._ids()))
        show_if(self.show_pictures, not self.has_consent)
        left = 0 if is_busy else len(self.pictures.broken(self._ids())) + len(self._missing())
        self.again.description = f"Try again ({left:,})"
        show_if(self.again, self.has_consent and left > 0)

    def _draw(self) -> None:
        """Show the page as far as its pictures are there."""
        self.selection.draw()
        if self._filter is None or self._pictured is None:
            return
        ids, (focus, place) = self._ids(), self._focus
        chosen, cells = set(self.selected), self.pictures.cells(ids)
        groups = []
        for number, group in enumerate(self._groups):
            made = tiles(
                self._filter.products,
                group.rows,
                cells,
                is_loading=self.pictures.work.is_running,
                pictured=self._pictured,
                packshots_only=self.controls.packshots_only,
            )
            listed = [{**tile, "selected": tile["id"] in chosen} for tile in made]
            groups.append({"key": number, "label": group.label, "total": group.total, "tiles": listed})
        self.grid.view = {
            "groups": groups,
            "open": self.product_id,
            "side": self.controls.tile_size.value,
            "focus": focus,
            "place": place if place >= 0 else len(ids) - 1,
            "empty": "No products to show.",
        }

    def _open(self, id: str | None) -> None:  # noqa: A002 - as the script names it
        self.product_id = id

    def _edit(self, id: str) -> None:  # noqa: A002
        self._correct(id)

    def _select(self, id: str, through: bool = False) -> None:  # noqa: A002
        self.selection.toggle(id, through=through)

    def _turn(self, by: int) -> None:
        """Turn a page, and go on to its next tile."""
        if self.pager.can_turn(by):
            # In one message with the page: between two, a key that somebody presses would be undone by the second.
            self._focus = (self._focus[0] + 1, 0 if by > 0 else -1)
            self.pager.turn(by)

    def _press_group(self, key: int) -> None:
        facet, code = self.controls.facet, self._groups[key].code
        self.controls.group_by.value = ""
        self._pressed(facet, code)


def _read_presence(pictured: PicturedProducts) -> tuple[PicturedProducts, bool]:
    """Read which products have a picture, and whether all pictures are of this machine."""
    return pictured.read(), are_here(pictured.products.catalog)


_SIZES = (12, 24, 48, 96)
_TILES = (("small", 96), ("medium", 144), ("large", 220))
_KINDS = (("packshot, else another", False), ("packshots only", True))
_FLAT = ("no groups", "")


class GalleryControls(HBox):
    """Four lists in a row.

    Attributes
    ----------
    group_by
        The facet by whose values the products are grouped; empty for one list.
    kind
        Whether only packshots are shown.
    per_page, tile_size
        Products on a page of one list, and pixels of the side of a picture.

    Examples
    --------
    >>> controls = GalleryControls()
    >>> controls.per_page.value, controls.facet, controls.packshots_only
    (24, '', False)
    """

    def __init__(self) -> None:
        narrow = w.Layout(width="auto")
        self.group_by: w.Dropdown = w.Dropdown(description="Group by", options=[_FLAT], layout=narrow)
        self.kind: w.Dropdown = w.Dropdown(description="Show", options=_KINDS, layout=narrow)
        self.per_page: w.Dropdown = w.Dropdown(
            description="Pictures per page", options=_SIZES, value=_SIZES[1], layout=narrow
        )
        self.tile_size: w.Dropdown = w.Dropdown(description="Size", options=_TILES, value=144, layout=narrow)
        super().__init__([self.group_by, self.kind, self.per_page, self.tile_size])
        styled(self, "line")

    @property
    def facet(self) -> str:
        """The facet by whose values the products are grouped; empty for one list."""
        return str(self.group_by.value)

    @property
    def packshots_only(self) -> bool:
        """Whether only packshots are shown."""
        return bool(self.kind.value)

    def offer(self, facets: Facets, facet: str) -> None:
        """Offer the facets of a catalogue, and choose one, which may be none of those that are usually offered.

        Raises
        ------
        InputError
            When the catalogue has no such facet.
        """
        titles = {name: declared.title for name, declared in facets.declared.items()}
        if facet and facet not in titles:
            if facet not in facets:
                raise InputError(f"There is no facet {facet!r}. Give one of {', '.join(titles)}.")
            titles[facet] = facets[facet].facet.title
        options = [_FLAT, *((title, name) for name, title in titles.items())]
        # ipywidgets chooses the first option whenever they change, and the gallery would be drawn twice.
        if options != list(self.group_by.options):
            self.group_by.options = options
        self.group_by.value = facet


#: Pixels of the longest side of a picture as it is downloaded; on the screen it is made as large as the tiles are.
SIDE = 256
#: The same in a row of a table, where it is shown about half as large: browsers show two pixels for one.
_SIDE_IN_ROW = 96
#: Pictures that are kept: about 8 kB each.
_KEPT = 1_000
#: Seconds between two updates of a page while its pictures are downloaded.
_INTERVAL = 0.5
#: The addresses are those of the products' records, and as old as these.
_ALL_BROKEN = (
    " No picture of this page could be shown. If pictures have moved since these products were loaded, load the "
    "products again."
)


@dataclass
class PictureConsent:
    """Whether pictures may be downloaded in this session, from the addresses in the products' records."""

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


#: One for the session: whoever has agreed is not asked again by the next gallery.
CONSENT = PictureConsent()


class PictureLoader:
    """Downloads pictures, and keeps them by product.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    changed
        Called when pictures were loaded, or no more will be.
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
        self._came: deque[tuple[SheetCell, bool]] = deque()
        self._shown_at = 0.0
        self.packshots_only: bool = False
        self.work: WorkRow[Sequence[SheetCell]] = WorkRow(
            panel, self._loaded, self._not_loaded, cancelled=changed, back_to=back_to, watch=self._take
        )

    def clear(self) -> None:
        """Forget all pictures: another catalogue is shown."""
        self.work.forget()
        self._cells.clear()
        self._came = deque()  # what still comes is of the catalogue before

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
            came, only = self._came, self.packshots_only
            fetch = partial(_fetch_page, catalog, rows, only, lambda cell: came.append((cell, only)))
            self.work.start(fetch, "Downloading pictures")

    def _take(self) -> None:
        """Keep the pictures that have come meanwhile, and show them while others are still to come."""
        is_running = self.work.is_running
        # Each update sends the whole page, and dozens of pictures may arrive in a second.
        if self._came and not (is_running and monotonic() - self._shown_at < _INTERVAL):
            while self._came:
                self._keep(*self._came.popleft())
            if is_running:
                self._shown_at = monotonic()
                self._changed()

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


def _fetch_page(
    catalog: Catalog,
    rows: Sequence[dict[str, Any]],
    packshots_only: bool,
    came: Callable[[SheetCell], object],
    reporter: Reporter,
) -> Sequence[SheetCell]:
    # Imported on request: most who open a panel look at no picture, and Pillow takes a while.
    from prodex.pictures.contact_sheet import sheet_cells

    return sheet_cells(catalog, rows, SIDE, packshots_only, reporter=reporter, on_picture=came)

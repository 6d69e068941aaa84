"""Products by their pictures: a page of tiles, or a row of them for each value of a facet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as w
import numpy as np
import pyarrow as pa
from traitlets import Instance, Tuple, Unicode

from prodex.notebook.background import LatestTask
from prodex.notebook.boxes import VBox
from prodex.notebook.conditions import Code
from prodex.notebook.gallery.loading import CONSENT, PictureLoader
from prodex.notebook.gallery.pages import (
    PicturedProducts,
    TileGroup,
    groups_of,
    sheet_rows,
    tiles,
    values_among,
)
from prodex.notebook.live import LiveWidget
from prodex.notebook.paged_tables import Pager
from prodex.notebook.panel import Panel, button, html, row, show_if, styled, text_html
from prodex.notebook.products.filtering import ProductFilter
from prodex.notebook.products.product_columns import Mask, ProductColumns, Rows

_SIZES = (12, 24, 48, 96)
_TILES = (("small", 96), ("medium", 144), ("large", 220))
_KINDS = (("packshot, else another", False), ("packshots only", True))
_FLAT = ("no groups", "")
#: Values on a page, and products that stand for one.
_GROUPS, _PER_GROUP = 8, 6


class ProductGallery(VBox):
    """The pictures of some products of a catalogue; give it products with `hold` and `show`.

    Parameters
    ----------
    panel
        The panel around it, which shows errors.
    pressed
        Called with facet and code when the label of a group is pressed.

    Attributes
    ----------
    selected
        Ids of the selected products, in the order of selection.
    product_id
        The product whose card is open, or None.
    head
        The rows of controls above the pictures.
    grid
        The live widget that shows the page.
    pictures
        What downloads them; `pictures.work` says how far it is.
    """

    selected: Instance[tuple[str, ...]] = Tuple()
    product_id: Unicode[str | None, Any] = Unicode(None, allow_none=True)

    def __init__(self, *, panel: Panel, pressed: Callable[[str, Code], object] = lambda *_: None) -> None:
        super().__init__()
        self.add_class("product-gallery")
        self._panel, self._pressed = panel, pressed
        self._filter: ProductFilter | None = None
        self._pictured: PicturedProducts | None = None
        self._mask: Mask = np.zeros(0, bool)
        self._ordered: Rows = np.zeros(0, np.int64)
        self._groups: list[TileGroup] = []
        self._values: list[tuple[Code, str, int]] = []
        self._focus = (0, 0)
        self._anchor: str | None = None
        self._reading: LatestTask[PicturedProducts] = LatestTask(_read, self._counted, panel.show_error)
        self._make()
        self._connect()

    def hold(self, filter_: ProductFilter) -> None:
        """Show products of another catalogue: those of this filter's."""
        self._filter, self._pictured = filter_, None
        self.pictures.clear()
        self._mask = np.zeros(len(filter_.products), bool)
        chosen = self.group_by.value
        facets = [(values.title, name) for name, values in filter_.facets.declared.items()]
        self.group_by.options = [_FLAT, *facets]
        self.group_by.value = chosen if chosen in {name for _, name in facets} else ""
        self._reading(PicturedProducts(filter_.products))

    def show(self, mask: Mask, ordered: Rows | None = None) -> None:
        """Show the products of a mask, from the first page.

        Parameters
        ----------
        mask
            Which products.
        ordered
            The places of all products in their order; that of the catalogue unless given.
        """
        self._mask = mask
        places = np.arange(len(mask)) if ordered is None else ordered
        self._ordered = places[mask[places]]
        self._from_start()

    @property
    def packshots_only(self) -> bool:
        """Whether only packshots are shown."""
        return bool(self.kind.value)

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
        ids = [tile["id"] for group in self.grid.view.get("groups", ()) for tile in group["tiles"]]
        self._focus = (self._focus[0] + 1, ids.index(product_id) if product_id in ids else 0)
        self._draw()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the pictures of the page are there; for scripts and tests."""
        self._reading.wait(seconds)
        self.pictures.work.wait(seconds)

    def _make(self) -> None:
        narrow = w.Layout(width="auto")
        self.pager: Pager = styled(Pager(self._panel, _SIZES[1], self._turned), "count")
        self.summary: Any = html("", "muted")
        self.show_pictures: w.Button = button(
            "Show pictures",
            "primary",
            tooltip="Python downloads them from the addresses in the products' records; the browser loads nothing",
        )
        self.again: w.Button = button("Try again")
        self.per_page: w.Dropdown = w.Dropdown(
            description="Pictures per page", options=_SIZES, value=_SIZES[1], layout=narrow
        )
        self.tile_size: w.Dropdown = w.Dropdown(description="Size", options=_TILES, value=144, layout=narrow)
        self.kind: w.Dropdown = w.Dropdown(description="Show", options=_KINDS, layout=narrow)
        self.group_by: w.Dropdown = w.Dropdown(description="Group by", options=[_FLAT], layout=narrow)
        self.pictures: PictureLoader = PictureLoader(self._panel, self._changed, self.again)
        self.grid: LiveWidget = LiveWidget(
            self._panel,
            "gallery",
            {
                "open": self._open,
                "close": lambda: self._open(None),
                "select": self._select,
                "turn": self._turn,
                "group": self._press_group,
            },
        )
        self.head: tuple[Any, ...] = (
            row(self.pager, self.summary, self.show_pictures, self.again, look="line"),
            row(self.group_by, self.kind, self.per_page, self.tile_size, look="line"),
        )
        self.children: tuple[Any, ...] = (self.pictures.work, self.grid)
        show_if(self.again, False)

    def _connect(self) -> None:
        on = self._panel.on
        for control in (self.per_page, self.kind, self.group_by):
            on(control, lambda _: self._from_start(), "value")
        on(self.tile_size, lambda _: self._draw(), "value")
        on(self, lambda _: self._draw(), "selected", "product_id")
        on(self.show_pictures, lambda _: self._consent())
        on(self.again, lambda _: self._retry())

    def _counted(self, pictured: PicturedProducts) -> None:
        """Go on when it is known which products have a picture, unless another catalogue is shown by now."""
        if self._filter is not None and pictured.products is self._filter.products:
            self._pictured = pictured
            self._from_start()

    def _from_start(self) -> None:
        if self._filter is None:
            return
        facet = str(self.group_by.value)
        if facet:
            self._values = values_among(self._filter.facets[facet], self._mask)
            self.pager.size = _GROUPS
            self.pager.over(len(self._values), "value")
        else:
            found, every = len(self._ordered), len(self._mask)
            self.pager.size = self.per_page.value
            self.pager.over(found, "product", "" if found == every else f" ({every:,} in all)")

    def _turned(self) -> None:
        """Show another page, and load its pictures."""
        if self._filter is None:
            return
        self._groups = self._groups_of(self.pager.page)
        self._load()

    def _groups_of(self, page: slice) -> list[TileGroup]:
        """Return the groups of some values, or the products of a page as one group without a label."""
        facet = str(self.group_by.value)
        if self._filter is None or not facet:
            places = tuple(self._ordered[page].tolist())
            return [TileGroup(None, "", len(self._ordered), places)]
        values = self._filter.facets[facet]
        return groups_of(values, self._values[page], self._ordered, self._having(), _PER_GROUP)

    def _having(self) -> Mask:
        if self._pictured is None:
            return np.zeros(len(self._mask), bool)
        return self._pictured.having(packshots_only=self.packshots_only)

    def _ids(self) -> list[str]:
        """Return the products of the page."""
        assert self._filter is not None  # noqa: S101 - a page is shown
        places = [place for group in self._groups for place in group.rows]
        ids: list[str] = self._filter.products.ids.take(pa.array(places, pa.int64())).to_pylist()
        return ids

    def _load(self) -> None:
        """Download the pictures of the page that are not there yet, if that is wanted."""
        self.pictures.packshots_only = self.packshots_only
        wanted = self._missing() if CONSENT.is_given and self._pictured is not None else []
        if self._filter is not None:
            self.pictures.load(self._filter.products.catalog, sheet_rows(self._filter.products, wanted))
        self._changed()

    def _missing(self) -> list[int]:
        """Return the places of the products of the page whose pictures should be there and are not."""
        have, ids = self._having(), self._ids()
        there = self.pictures.cells(ids)
        places = (place for group in self._groups for place in group.rows)
        return [place for place, one in zip(places, ids, strict=True) if have[place] and one not in there]

    def _changed(self) -> None:
        """Show the page and what is said above it, as far as pictures are there."""
        if self._filter is not None:
            self._show_head()
            self._draw()

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
            sentence = self._pictured.summary(self._mask, packshots_only=self.packshots_only)
        self.summary.value = f"<span role='status'>{text_html(sentence)}</span>"
        show_if(self.show_pictures, not CONSENT.is_given)
        left = 0 if is_busy else len(self.pictures.broken(self._ids())) + len(self._missing())
        self.again.description = f"Try again ({left:,})"
        show_if(self.again, CONSENT.is_given and left > 0)

    def _draw(self) -> None:
        """Show the page as far as its pictures are there."""
        if self._filter is None:
            return
        chosen, cells = set(self.selected), self.pictures.cells(self._ids())
        groups = []
        for number, group in enumerate(self._groups):
            made = tiles(
                self._filter.products,
                group.rows,
                cells,
                is_loading=self.pictures.work.is_running,
                pictured=self._pictured,
                packshots_only=self.packshots_only,
            )
            listed = [{**tile, "selected": tile["id"] in chosen} for tile in made]
            groups.append({"key": number, "label": group.label, "total": group.total, "tiles": listed})
        self.grid.view = {
            "groups": groups,
            "open": self.product_id,
            "side": self.tile_size.value,
            "focus": self._focus[0],
            "place": self._focus[1],
            "empty": "No products to show.",
        }

    def _open(self, id: str | None) -> None:  # noqa: A002 - as the script names it
        self.product_id = id

    def _select(self, id: str, through: bool = False) -> None:  # noqa: A002
        """Select a product or clear it; `through` selects all from the last one that was pressed."""
        ids = [tile["id"] for group in self.grid.view["groups"] for tile in group["tiles"]]
        if through and self._anchor in ids and id in ids:
            first, last = sorted((ids.index(self._anchor), ids.index(id)))
            self.selected = tuple(dict.fromkeys([*self.selected, *ids[first : last + 1]]))
        elif id in self.selected:
            self.selected = tuple(one for one in self.selected if one != id)
        else:
            self.selected = (*self.selected, id)
        self._anchor = id

    def _turn(self, by: int) -> None:
        """Turn a page, and go on to its next tile."""
        before = self.pager.first
        (self.pager.next if by > 0 else self.pager.previous).click()
        if self.pager.first != before:
            self._focus = (self._focus[0] + 1, 0 if by > 0 else len(self._ids()) - 1)
            self._draw()

    def _press_group(self, key: int) -> None:
        self._pressed(str(self.group_by.value), self._groups[key].code)


def _read(pictured: PicturedProducts) -> PicturedProducts:
    pictured.read()
    return pictured

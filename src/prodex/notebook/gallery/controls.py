"""The choices of a gallery: which pictures, in which groups, how many on a page, and how large."""

from __future__ import annotations

import ipywidgets as w

from prodex.errors import InputError
from prodex.notebook.boxes import HBox
from prodex.notebook.panel import styled
from prodex.notebook.products.facet_counts import Facets

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

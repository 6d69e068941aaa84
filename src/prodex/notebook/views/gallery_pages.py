"""Which products a page of the gallery shows: those of one list, or the first of each value of a facet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from prodex.exploration.gallery import PicturedProducts, TileGroup, groups_of, values_among
from prodex.exploration.product_columns import Rows
from prodex.notebook.session.session import Session
from prodex.notebook.views.forms import FormField, Setting
from prodex.notebook.views.gallery_pictures import shelf_of
from prodex.notebook.views.pages_of_rows import RowList, products_shown
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.table import places
from prodex.selection import Code
from prodex.tables.columns import Mask

if TYPE_CHECKING:
    from prodex.pictures.contact_sheet import SheetCell

#: Values on a page, and products that are shown of each.
_GROUPS, _PER_GROUP = 8, 6


CONTROLS = "gallery-controls"
PACKSHOTS_ONLY = Setting(
    CONTROLS,
    FormField(
        "kind",
        "Show",
        "choice",
        value=False,
        options=[(False, "packshot, else another"), (True, "packshots only")],
    ),
)
PER_PAGE = Setting(
    CONTROLS,
    FormField("page_size", "Pictures per page", "choice", 24, [(one, str(one)) for one in (12, 24, 48, 96)]),
)


@dataclass(frozen=True)
class GalleryState:
    """How products are shown by their pictures.

    Attributes
    ----------
    is_shown
        Whether they are, in place of the table.
    facet
        By what they are grouped; "" for one list.
    attempt
        How often somebody has asked to try again.
    """

    is_shown: bool = False
    facet: str = ""
    attempt: int = 0


def _size(session: Session) -> int:
    return _GROUPS if session.part(GalleryState).facet else int(PER_PAGE.of(session))


def _listed(session: Session) -> object:
    kind, facet = PACKSHOTS_ONLY.of(session), session.part(GalleryState).facet
    return *products_shown(session), kind, facet, _size(session)


GALLERY_LIST = RowList("gallery", _size, _listed)


@dataclass(frozen=True)
class GalleryPage:
    """The page that is shown.

    Attributes
    ----------
    groups
        The groups; one without a label if it is one list, and none until it is read which products have a picture.
    first, size, total
        The number of its first product, or value; how many are on a page, and on all pages.
    ids
        The products on it.
    pictures
        The pictures of these that are here, or known not to be.
    missing
        The places of those whose pictures should be there and are not.
    """

    groups: Sequence[TileGroup]
    first: int
    size: int
    total: int
    ids: Sequence[str]
    pictures: Mapping[str, SheetCell]
    missing: Sequence[int]

    @property
    def broken(self) -> list[str]:
        """The products whose picture was not there, was damaged, or could not be shown."""
        shown = {one: cell.thumbnail for one, cell in self.pictures.items()}
        return [one for one, it in shown.items() if it.bytes is None and it.position is not None]


def page_of(session: Session) -> GalleryPage:
    """Return the page that is shown."""
    state, shelf, mask = session.part(GalleryState), shelf_of(session), left_of(session).mask
    only = PACKSHOTS_ONLY.of(session)
    total = len(_values(session, mask)) if state.facet else len(left_of(session))
    first, size = GALLERY_LIST.first(session, total), GALLERY_LIST.size(session)
    groups = _groups(session, slice(first, first + size))
    rows = [place for group in groups for place in group.rows]
    ids = session.filter.products.ids.take(pa.array(rows, pa.int64())).to_pylist()
    pictures = shelf.cells(ids, packshots_only=only)
    have = shelf.having(packshots_only=only)
    missing = [place for place, one in zip(rows, ids, strict=True) if have[place] and one not in pictures]
    return GalleryPage(groups, first, size, total, ids, pictures, missing)


def every_group(session: Session) -> list[TileGroup]:
    """Return the groups of all pages."""
    return _groups(session, slice(None))


def _groups(session: Session, page: slice) -> list[TileGroup]:
    state, shelf = session.part(GalleryState), shelf_of(session)
    mask = left_of(session).mask
    if shelf.pictured is None:
        return []  # until names and pictures have been read, in the background, there is nothing to show

    def groups(
        rows: Rows, page: slice, facet: str, packshots_only: bool, _: PicturedProducts
    ) -> list[TileGroup]:
        if not facet:
            return [TileGroup(None, "", len(rows), tuple(rows[page].tolist()))]
        shown, have = _values(session, mask)[page], shelf.having(packshots_only=packshots_only)
        return groups_of(session.filter.facets[facet], shown, rows, have, _PER_GROUP)

    of = (places(session), page, state.facet, PACKSHOTS_ONLY.of(session), shelf.pictured)
    return session.latest("gallery groups", groups, *of)


def _values(session: Session, mask: Mask) -> list[tuple[Code, str, int]]:
    def values(mask: Mask, facet: str) -> list[tuple[Code, str, int]]:
        return values_among(session.filter.facets[facet], mask)

    return session.latest("gallery values", values, mask, session.part(GalleryState).facet)

"""Which products a page of the gallery shows: those of one list, or the first of each value of a facet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from prodex.exploration.gallery import TileGroup, groups_of, values_among
from prodex.exploration.product_columns import Rows
from prodex.notebook.session.value import Session
from prodex.notebook.views.gallery_pictures import shelf_of
from prodex.notebook.views.pages_of_rows import first_on_page
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.table import places
from prodex.selection import Code
from prodex.tables.columns import Mask

#: Values on a page, and products that are shown of each.
_GROUPS, _PER_GROUP = 8, 6


@dataclass(frozen=True)
class GalleryState:
    """How products are shown by their pictures.

    Attributes
    ----------
    is_shown
        Whether they are shown in place of the table.
    facet
        The facet by whose values they are grouped; "" for one list.
    packshots_only
        Whether only packshots are shown.
    size, side
        Products on a page of one list, and pixels of the side of a picture.
    first, of
        The first product or value of the page, and of which products and groups.
    attempt
        How often "Try again" was pressed.
    """

    is_shown: bool = False
    facet: str = ""
    packshots_only: bool = False
    size: int = 24
    side: int = 144
    first: int = 0
    of: tuple[Any, ...] = ()
    attempt: int = 0


class _GroupsKept:
    """The groups of the page that was made last of one catalogue."""

    def __init__(self, _: Session) -> None:
        self.values: tuple[Any, Any, list[tuple[Code, str, int]]] = (None, None, [])
        self.groups: tuple[tuple[Any, ...], list[TileGroup]] = ((), [])


def page_groups(session: Session) -> list[TileGroup]:
    """Return the groups of the page; one without a label if it is one list."""
    kept, state = session.derived(_GroupsKept), session.part(GalleryState)
    rows, first, size = places(session), first_of_page(session), size_of_page(session)
    of = (first, size, state.facet, state.packshots_only, shelf_of(session).pictured)
    if not kept.groups[0] or kept.groups[0][0] is not rows or kept.groups[0][1:] != of:
        kept.groups = ((rows, *of), _groups(session, rows, slice(first, first + size)))
    return kept.groups[1]


def every_group(session: Session) -> list[TileGroup]:
    """Return the groups of all pages."""
    return _groups(session, places(session), slice(None))


def page_ids(session: Session) -> list[str]:
    """Return the ids of the products on the page."""
    rows = [place for group in page_groups(session) for place in group.rows]
    ids: list[str] = session.filter.products.ids.take(pa.array(rows, pa.int64())).to_pylist()
    return ids


def _groups(session: Session, rows: Rows, page: slice) -> list[TileGroup]:
    if shelf_of(session).pictured is None:
        return []  # until names and pictures have been read, in the background, there is nothing to show
    facet = session.part(GalleryState).facet
    if not facet:
        return [TileGroup(None, "", len(rows), tuple(rows[page].tolist()))]
    return groups_of(session.filter.facets[facet], _values(session)[page], rows, _having(session), _PER_GROUP)


def _values(session: Session) -> list[tuple[Code, str, int]]:
    kept, facet, mask = (
        session.derived(_GroupsKept),
        session.part(GalleryState).facet,
        left_of(session).mask,
    )
    if kept.values[0] is not mask or kept.values[1] != facet:
        kept.values = (mask, facet, values_among(session.filter.facets[facet], mask))
    return kept.values[2]


def _having(session: Session) -> Mask:
    known = shelf_of(session).pictured
    if known is None:
        return left_of(session).mask
    return known.having(packshots_only=session.part(GalleryState).packshots_only)


def size_of_page(session: Session) -> int:
    """Return how many products, or values, are on a page."""
    state = session.part(GalleryState)
    return _GROUPS if state.facet else state.size


def total_shown(session: Session) -> int:
    """Return how many products, or values, are shown on all pages."""
    return len(_values(session)) if session.part(GalleryState).facet else len(left_of(session))


def shown_of(session: Session) -> tuple[Any, ...]:
    """Return what says whether other products or groups are shown than before."""
    return session.derived(_GroupsKept), session.conditions


def first_of_page(session: Session) -> int:
    """Return the number of the first product, or value, of the page."""
    state, now = session.part(GalleryState), shown_of(session)
    is_same = len(state.of) == 2 and state.of[0] is now[0] and state.of[1] == now[1]
    return first_on_page(state.first, size_of_page(session), total_shown(session)) if is_same else 0


def missing_pictures(session: Session) -> list[int]:
    """Return the places of the products of the page whose pictures should be there and are not."""
    have, ids = _having(session), page_ids(session)
    there = shelf_of(session).cells(ids, packshots_only=session.part(GalleryState).packshots_only)
    rows = (place for group in page_groups(session) for place in group.rows)
    return [place for place, one in zip(rows, ids, strict=True) if have[place] and one not in there]

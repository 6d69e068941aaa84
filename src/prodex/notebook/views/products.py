"""The products: filters beside a table or their pictures, a search above them, and the card of one of them."""

from __future__ import annotations

from collections.abc import Iterator

from prodex.notebook.session.actions import Block, Section, Want
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import box, row
from prodex.notebook.views.bulk import bulk_fold, bulk_wants
from prodex.notebook.views.card import card_blocks
from prodex.notebook.views.card_reading import card_pictures, card_wants
from prodex.notebook.views.conditions import conditions_bar
from prodex.notebook.views.export import export_fold
from prodex.notebook.views.facets import facets_block, facets_wants
from prodex.notebook.views.gallery import (
    gallery_blocks,
    gallery_pictures,
    gallery_wants,
    is_gallery,
    look_switch,
)
from prodex.notebook.views.search import search_row, search_wants
from prodex.notebook.views.table import columns_fold, page_ids, table_blocks, table_pictures, table_wants


def products_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    as_gallery = is_gallery(session)
    main = box(
        *(gallery_blocks if as_gallery else table_blocks)(session),
        None if as_gallery else columns_fold(session),
        export_fold(session),
        bulk_fold(session) if session.can("bulk.choose") else None,
        key="main",
        look="main",
    )
    search = row(search_row(session), look_switch(session), key="search-and-look", look="search-and-look")
    return [search, conditions_bar(session), _sides(session, facets_block(session), main)]


def gallery_view(session: Session) -> list[Block]:
    """Return the pictures of the chosen products, with the card of one beside them."""
    main = box(*gallery_blocks(session), key="main", look="main")
    return [conditions_bar(session), _sides(session, None, main)]


def _sides(session: Session, facets: Block | None, main: Block) -> Block:
    card = None
    if session.product_id is not None:
        card = box(*card_blocks(session, session.product_id), key="pane", look="pane", label="Product card")
    looks = ("sides", "with-card" if card else "", "" if facets else "without-facets")
    return box(facets, main, card, key="sides", look=" ".join(filter(None, looks)))


def products_wants(session: Session) -> Iterator[Want]:
    """Yield what the section lacks."""
    yield from search_wants(session)
    yield from facets_wants(session)
    yield from (gallery_wants if is_gallery(session) else table_wants)(session)
    yield from card_wants(session, page_ids)
    yield from bulk_wants(session)


def gallery_view_wants(session: Session) -> Iterator[Want]:
    """Yield what the pictures and the card lack."""
    yield from search_wants(session)
    yield from gallery_wants(session)
    yield from card_wants(session)


def products_pictures(session: Session) -> Iterator[tuple[str, str, bytes]]:
    """Yield the pictures that the section shows."""
    yield from (gallery_pictures if is_gallery(session) else table_pictures)(session)
    yield from card_pictures(session)


PRODUCTS = Section(
    "products", lambda _: "Products", products_view, products_wants, pictures=products_pictures
)
GALLERY = Section(
    "gallery",
    lambda _: "Gallery",
    gallery_view,
    gallery_view_wants,
    # Among other sections it is a way to look at the products.
    is_offered=lambda _: False,
    pictures=products_pictures,
)

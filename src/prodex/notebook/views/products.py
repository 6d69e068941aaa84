"""The products: filters beside a table, a search above it, and the card of one of them."""

from __future__ import annotations

from collections.abc import Iterator

from prodex.notebook.session.actions import Block, Section, Want
from prodex.notebook.session.value import Session
from prodex.notebook.views.blocks import box
from prodex.notebook.views.bulk import bulk_fold, bulk_wants
from prodex.notebook.views.card import card_blocks, card_pictures, card_wants
from prodex.notebook.views.conditions import conditions_bar
from prodex.notebook.views.facets import facets_block, facets_wants
from prodex.notebook.views.search import search_row, search_wants
from prodex.notebook.views.table import table_blocks, table_pictures, table_wants


def products_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    card = None
    if session.product_id is not None:
        card = box(*card_blocks(session, session.product_id), key="pane", look="pane", label="Product card")
    main = box(*table_blocks(session), bulk_fold(session), key="main", look="main")
    sides = box(facets_block(session), main, card, key="sides", look="sides with-card" if card else "sides")
    return [search_row(session), conditions_bar(session), sides]


def products_wants(session: Session) -> Iterator[Want]:
    """Yield what the section lacks."""
    yield from search_wants(session)
    yield from facets_wants(session)
    yield from table_wants(session)
    yield from card_wants(session)
    yield from bulk_wants(session)


def products_pictures(session: Session) -> Iterator[tuple[str, str, bytes]]:
    """Yield the pictures that the section shows."""
    yield from table_pictures(session)
    yield from card_pictures(session)


PRODUCTS = Section(
    "products", lambda _: "Products", products_view, products_wants, pictures=products_pictures
)

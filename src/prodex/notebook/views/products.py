"""The products: filters beside a table, a search above it, and the card of one of them."""

from __future__ import annotations

from collections.abc import Iterator

from prodex.notebook.session.actions import Block, Section, Want
from prodex.notebook.session.value import Session
from prodex.notebook.views.blocks import box
from prodex.notebook.views.bulk import bulk_fold, bulk_wants
from prodex.notebook.views.conditions import conditions_bar
from prodex.notebook.views.facets import facets_block, facets_wants
from prodex.notebook.views.search import search_row, search_wants
from prodex.notebook.views.table import table_blocks, table_pictures, table_wants


def products_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    return [
        search_row(session),
        conditions_bar(session),
        box(
            facets_block(session),
            box(*table_blocks(session), bulk_fold(session), key="main", look="main"),
            key="sides",
            look="sides",
        ),
    ]


def products_wants(session: Session) -> Iterator[Want]:
    """Yield what the section lacks."""
    yield from search_wants(session)
    yield from facets_wants(session)
    yield from table_wants(session)
    yield from bulk_wants(session)


PRODUCTS = Section("products", lambda _: "Products", products_view, products_wants, pictures=table_pictures)

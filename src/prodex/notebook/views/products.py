"""The products: filters beside a table, a search above it, and the card of one of them."""

from __future__ import annotations

from collections.abc import Iterator

from prodex.notebook.session.actions import Block, Section, Want
from prodex.notebook.session.value import Session
from prodex.notebook.views.export import export_fold
from prodex.notebook.views.gallery import (
    gallery_blocks,
    gallery_pictures,
    gallery_wants,
    is_gallery,
    look_switch,
)
from prodex.notebook.views.table import columns_fold, table_blocks, table_pictures, table_wants


def products_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    if is_gallery(session):
        return [look_switch(session), *gallery_blocks(session), export_fold(session)]
    return [look_switch(session), *table_blocks(session), columns_fold(session), export_fold(session)]


def products_wants(session: Session) -> Iterator[Want]:
    """Yield what the section lacks."""
    yield from (gallery_wants if is_gallery(session) else table_wants)(session)


def products_pictures(session: Session) -> Iterator[tuple[str, str, bytes]]:
    """Yield the pictures that the section shows."""
    yield from (gallery_pictures if is_gallery(session) else table_pictures)(session)


PRODUCTS = Section(
    "products", lambda _: "Products", products_view, products_wants, pictures=products_pictures
)

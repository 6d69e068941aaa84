"""The products: filters beside a table, a search above it, and the card of one of them."""

from __future__ import annotations

from prodex.messages import counted
from prodex.notebook.session.actions import Block, Section
from prodex.notebook.session.value import Session
from prodex.notebook.views.blocks import sentence
from prodex.notebook.views.products_left import left_of


def products_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    left = session.filter.narrow(session.conditions)
    return [sentence(counted(len(left_of(session)), "product"), key="count")]


PRODUCTS = Section("products", lambda _: "Products", products_view)

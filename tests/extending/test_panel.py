"""How to add a section to the panel: a module with its view, and its entry in the list of sections."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

MODULE = '''
"""The brands: how many of the chosen products each has; a press shows those of one."""

from __future__ import annotations

from prodex.notebook.session.actions import Block, Section, action
from prodex.notebook.session.session import Session
from prodex.notebook.views.blocks import button, heading, table


def brands_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    counts = session.chosen.products["brand_code"].value_counts()
    rows = [
        {"key": str(brand), "cells": [{"button": button(str(brand), "brands.show", brand=str(brand))}, f"{count:,}"]}
        for brand, count in counts.items()
    ]
    columns = [{"name": "brand", "title": "Brand"}, {"name": "count", "title": "Products", "align": "right"}]
    return [heading("Products of each brand"), table(columns, rows, key="brands", label="Brands")]


@action("brands.show")
def show_brand(session: Session, brand: str) -> Session:
    """Show the products of one brand, in the section Products."""
    return session.filtered(session.conditions.choosing("brand", (brand,))).replaced(section="products")


BRANDS = Section("brands", lambda _: "Brands", brands_view)
'''

USED = """
import prodex

catalog = prodex.flatten([{"id": number, "brand": {"code": "AB"[number % 2]}} for number in range(5)])
explorer = prodex.explore(catalog)
assert "Brands" in str(explorer.app.view()["head"])
explorer.section = "brands"
(title, brands) = explorer.app.view()["blocks"]
assert ["3", "2"] == [row["cells"][1] for row in brands["rows"]]
explorer.app.act("brands.show", brand="B")
assert ("products", ["1", "3"]) == (explorer.section, explorer.catalog.products["product_id"].tolist())

alone = prodex.explore(catalog, show="brands")
assert "Products of each brand" in alone._repr_mimebundle_()["text/html"]
"""

IMPORT = """
from prodex.notebook.views.brands import BRANDS
"""


def test_a_section_is_a_module_and_its_entry(source: ChangedSource) -> None:
    """A new section has a button in the panel, stands alone, acts on the filters of all, and is in saved notebooks."""
    source.append("prodex/notebook/views/brands.py", MODULE)
    source.insert("prodex/notebook/views/__init__.py", "from prodex.notebook.views.card", IMPORT)
    source.replace("prodex/notebook/views/__init__.py", "(PRODUCTS, QUALITY", "(PRODUCTS, BRANDS, QUALITY")
    assert {"prodex/notebook/views/brands.py", "prodex/notebook/views/__init__.py"} == source.files
    source.python(USED)

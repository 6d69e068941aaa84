"""How to add a panel: a module with its class, and its name in the front of the package."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

MODULE = '''
"""A panel that shows how many products each brand has, and gives back those of one."""

import ipywidgets as w
from traitlets import Instance

from prodex.catalog import Catalog
from prodex.notebook.shared.panel import Panel


class BrandPanel(Panel):
    """Choose the products of a brand.

    Parameters
    ----------
    catalog
        The products.

    Attributes
    ----------
    selected
        The products of the chosen brand.
    """

    selected = Instance(Catalog)

    def __init__(self, catalog):
        super().__init__("Products of a brand")
        self.catalog = self.selected = catalog
        counts = catalog.products["brand_code"].value_counts()
        self.brands = w.Dropdown(options=[(f"{code} ({count})", code) for code, count in counts.items()], value=None)
        self.fill(self.brands)
        self.on(self.brands, lambda change: self.show(change["new"]), "value")

    def show(self, brand):
        """Show the products of one brand."""
        self.selected = self.catalog.where(brand_code=brand)
'''

USED = """
import sys
import prodex
assert "prodex.notebook.brands" not in sys.modules
import ipywidgets

catalog = prodex.flatten([{"id": number, "brand": {"code": "AB"[number % 2]}} for number in range(5)])
panel = prodex.BrandPanel(catalog)
assert isinstance(panel, ipywidgets.Widget)
assert panel.brands.options == (("A (3)", "A"), ("B (2)", "B"))
panel.brands.value = "B"
assert panel.selected.products["product_id"].tolist() == ["1", "3"]
assert "BrandPanel" in dir(prodex)
"""

IMPORT = """
from prodex.notebook.brands import BrandPanel
"""
LATER = """
"prodex.notebook.brands": ("BrandPanel",),
"""
NAME = """
"BrandPanel",
"""


def test_a_panel_is_a_module_and_its_name(source: ChangedSource) -> None:
    """A new panel shows a catalogue, exposes what was chosen, and is public, without being imported by all."""
    source.append("prodex/notebook/brands.py", MODULE)
    source.insert("prodex/__init__.py", "from prodex.notebook.card.panel", IMPORT)
    source.insert("prodex/__init__.py", '"prodex.notebook.card.panel"', LATER)
    source.insert("prodex/__init__.py", '"Catalog",', NAME)
    assert {"prodex/notebook/brands.py", "prodex/__init__.py"} == source.files
    source.python(USED)

"""Whether the bench measures every figure of a panel; how quick one is, no test says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.explorer import figures

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.notebook.lab import Lab

_PRODUCTS = 200
_CATALOG = (
    "import prodex as px\nfrom prodex_sandbox.sample import shared_products\n"
    f"catalog = px.flatten(product.record for product in shared_products({_PRODUCTS}))"
)


def test_every_figure_of_a_panel_is_measured(lab: Lab, browser: Browser) -> None:
    """Each is a time or a size that there is: nothing is found at once, or without being sent."""
    with lab.opened(browser, [_CATALOG, "explorer = px.explore(catalog)\nexplorer"], anew=True) as notebook:
        found = figures(notebook)
        assert ([], []) == (notebook.outside, notebook.errors)
    assert _PRODUCTS == found.pop("products")
    assert [] == [name for name, figure in found.items() if not figure > 0]

"""Tasks of a working day in JupyterLab, with every click and every field typed into counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from .lab import Lab, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

SAMPLE = """
    import prodex as px
    from prodex.sandbox.sample import shared_products
    catalog = px.flatten(one.record for one in shared_products(2000))
"""


@dataclass
class Hand:
    """Somebody who works: every click and every field is counted, and what is not in sight cannot be clicked.

    Attributes
    ----------
    notebook
        Where the work is done.
    clicks
        How often something was clicked.
    fields
        How many fields something was typed into.
    """

    notebook: Notebook
    clicks: int = 0
    fields: int = 0

    def click(self, target: Locator, count: int = 1) -> None:
        """Click something that is in sight; a double click counts as two."""
        self._see(target)
        target.click(click_count=count)
        self.clicks += count
        self._rest()

    def type(self, target: Locator, text: str) -> None:
        """Type into a field that is in sight."""
        self._see(target)
        target.fill(text)
        self.fields += 1
        self._rest()

    def _see(self, target: Locator) -> None:
        """Refuse what somebody would first have to scroll to: Playwright scrolls by itself, and people notice."""
        target.wait_for()
        assert target.evaluate(
            """one => {
                const box = one.getBoundingClientRect();
                const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                return hit !== null && (one.contains(hit) || hit.contains(one));
            }"""
        ), f"{target} is not in sight"

    def _rest(self) -> None:
        self.notebook.page.wait_for_timeout(100)
        self.notebook.wait_until_idle()


def facet(out: Locator, title: str) -> Locator:
    """Return the part of the list of facets with a heading."""
    return out.locator(".facet", has=out.page.locator(".facet-head", has_text=title))


def value(out: Locator, title: str, label: str) -> Locator:
    """Return a value of a facet."""
    return facet(out, title).locator("button.value", has_text=label).first


@pytest.mark.parametrize("width", [1400, 900])
@pytest.mark.parametrize("made", ["px.explore(catalog)", "px.CatalogExplorer(catalog)"])
def test_french_products_of_a_supplier_without_ingredients(
    lab: Lab, browser: Browser, width: int, made: str
) -> None:
    """Three clicks, with nothing scrolled; on a narrow page one more opens the filters."""
    with lab.opened(browser, [SAMPLE, f"panel = {made}\npanel"], name="task") as notebook:
        notebook.page.set_viewport_size({"width": width, "height": 900})
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.wait_for()
        # Somebody has scrolled to the panel; within it, nothing is.
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        if width < 1080:
            hand.click(out.get_by_role("button", name="Filters", exact=True))
        for title, label in (
            ("Market", "France"),
            ("Missing", "ingredients"),
            ("Owner", "Biscuiterie Tramoy"),
        ):
            hand.click(value(out, title, label))
        asked = "catalog.where(target_market=250, owner='Biscuiterie Tramoy')"
        texts = "texts.query('attribute == \"composition\"').product_id.nunique()"
        expected = notebook.ask(f"(lambda found: len(found) - found.{texts})({asked})")
        assert notebook.wait_for(f"len(panel.catalog) == {expected} and {expected}")
        assert (3 if width > 1080 else 4, 0) == (hand.clicks, hand.fields)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_the_same_of_any_supplier(lab: Lab, browser: Browser) -> None:
    """A supplier that is not among the first is found by part of its name, in the same three clicks."""
    with lab.opened(browser, [SAMPLE, "panel = px.explore(catalog)\npanel"], name="task") as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.wait_for()
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        hand.click(value(out, "Market", "France"))
        hand.click(value(out, "Missing", "ingredients"))
        hand.type(out.get_by_label("Find in Owner"), "valdoncel")
        hand.click(value(out, "Owner", "Lácteos Valdoncel"))
        notebook.wait_for("'Lácteos Valdoncel' == panel.catalog.products.owner.unique().tolist()[0]")
        assert (3, 1) == (hand.clicks, hand.fields)

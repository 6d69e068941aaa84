"""The list of facets in JupyterLab: a tree, a range, an exclusion and an attribute by name, by keyboard and mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

SAMPLE = """
    import prodex
    from prodex.notebook.products.explorer import CatalogExplorer
    from prodex_sandbox.sample import shared_products
    catalog = prodex.flatten(product.record for product in shared_products(300))
    explorer = CatalogExplorer(catalog)
"""
_FOCUS = "document.activeElement.dataset.key ?? document.activeElement.tagName"


def facet(out: Locator, title: str) -> Locator:
    return out.locator(".facet", has=out.page.locator(".facet-head", has_text=title))


def test_every_action_by_keyboard(lab: Lab, browser: Browser) -> None:
    """Open, unfold, select, exclude, find, add and remove: the focus stays where the hand is."""
    with lab.opened(browser, [SAMPLE, "explorer"]) as notebook:
        page = notebook.page
        notebook.run(0)
        out = notebook.run(1)

        def key(*names: str) -> None:
            for name in names:
                page.keyboard.press(name)
                notebook.wait_until_idle()

        def conditions(expected: str) -> None:
            notebook.wait_for(f"explorer.exploration.conditions.{expected}")
            notebook.wait_until_idle()

        head = facet(out, "Category").locator(".facet-head")
        head.focus()
        key("Enter")
        facet(out, "Category").locator("button.value").first.wait_for()
        key("Tab")
        page.wait_for_function(f"({_FOCUS}) === 'gallery/category'")
        key("Tab", "Tab")
        page.wait_for_function(f"({_FOCUS}).startsWith('category/')")
        for level in (1, 2):
            key("ArrowRight")
            facet(out, "Category").locator(f"[data-level='{level}']").first.wait_for()
            key("ArrowDown")
        key("Enter")
        conditions("groups['category']")
        facet(out, "Category").locator(".is-chosen").wait_for()
        chosen = notebook.ask("explorer.exploration.conditions.groups['category'][0]")
        key("-")
        conditions(f"excluded == {{'category': ({chosen!r},)}}")
        assert page.evaluate(_FOCUS).startswith("category/")
        key("ArrowLeft")
        assert "1" == page.evaluate("document.activeElement.dataset.level")
        out.get_by_role("button", name="Clear all").or_(out.locator("button.chip")).first.click()
        conditions("excluded == {}")

        field = out.get_by_label("Filter by any attribute: type its name")
        field.focus()
        page.keyboard.type("ingred")
        offers = out.locator(".offers button")
        offers.first.wait_for()
        assert "ingred" == field.input_value()
        out.get_by_label("Language of its texts").select_option("French")
        out.locator(".offers", has_text="ingredients in French").wait_for()
        field.focus()
        key("ArrowDown", "Enter")
        facet(out, "Ingredients in French").locator("button.value", has_text="filled").wait_for()
        assert "" == field.input_value()
        page.wait_for_function(f"({_FOCUS}).startsWith('add/')")
        facet(out, "Ingredients in French").locator("button.value", has_text="filled").focus()
        key("Enter")
        conditions("groups == {'fill:composition:fr': ('filled',)}")
        assert [] == notebook.violations(1)
        out.get_by_label("Remove the filter Ingredients in French").press("Enter")
        conditions("groups == {}")

        updated = facet(out, "Updated")
        updated.locator(".facet-head").press("Enter")
        updated.get_by_label("Updated from").focus()
        page.keyboard.type("01012026")
        notebook.wait_until_idle()
        assert notebook.ask("not explorer.exploration.conditions")
        key("Enter")
        conditions("ranges['updated_at'].least.isoformat() == '2026-01-01T00:00:00'")
        updated.locator(".bin.is-chosen").first.wait_for()
        assert "INPUT" == page.evaluate("document.activeElement.tagName")
        updated.locator(".bin").first.focus()
        key("ArrowRight", "Enter")
        conditions("ranges['updated_at'].greatest is not None")
        updated.locator(".bin.is-chosen").wait_for()
        assert "bin/range:updated_at/1" == page.evaluate(_FOCUS)
        key("Shift+ArrowRight", "Shift+ArrowRight")
        page.wait_for_function("document.querySelectorAll('.facet .bin.is-chosen').length === 3")

        # The comma of a language other than that of the browser is not lost on the way.
        field.focus()
        page.keyboard.type("hierarchies_count")
        out.locator(".offers", has_text="hierarchies_count").wait_for()
        key("ArrowDown", "Enter")
        conditions("groups == {}")
        page.locator("input[aria-label='hierarchies_count from']").focus()
        page.keyboard.type("0,5")
        key("Enter")
        conditions("ranges['hierarchies_count'].least == 0.5")
        assert [] == notebook.violations(1)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_what_is_typed_is_not_lost_and_a_click_with_alt_excludes(lab: Lab, browser: Browser) -> None:
    """Letters typed while Python still answers the ones before stay in the field; Alt and a click excludes."""
    with lab.opened(browser, [SAMPLE, "explorer"]) as notebook:
        page = notebook.page
        notebook.run(0)
        out = notebook.run(1)
        field = out.get_by_label("Find in Brand")
        field.focus()
        for letter in "limpiaf":
            page.keyboard.type(letter)
            page.wait_for_timeout(160)
        facet(out, "Brand").locator("button.value", has_text="Limpiaferra").wait_for()
        notebook.wait_until_idle()
        assert "limpiaf" == field.input_value()
        facet(out, "Market").locator("button.value", has_text="France").click(modifiers=["Alt"])
        notebook.wait_for("explorer.exploration.conditions.excluded == {'market': ('250',)}")
        notebook.wait_until_idle()
        how = out.get_by_text("OR between two words")
        out.get_by_label("Search", exact=True).focus()
        assert not how.is_visible()
        out.get_by_role("button", name="?", exact=True).click()
        how.wait_for()
        out.get_by_role("button", name="?", exact=True).click()
        how.wait_for(state="hidden")
        out.get_by_label("Search", exact=True).focus()
        page.keyboard.type("lait OR soja -sucre")
        notebook.wait_for("explorer.exploration.conditions.words == 'lait OR soja -sucre'")
        assert ([], []) == (notebook.outside, notebook.errors)

"""Who works with the keyboard never loses the place: whatever is pressed, something stays in focus to go on from."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import prodex
from prodex.notebook.widget import Explore, explore
from prodex_sandbox.sample import AS_OF, shared_products

from .one_browser import page_settled, shown

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

_FOCUS = """() => {
    const one = document.activeElement;
    return one.closest(".prodex") ? one.innerText || one.tagName : "lost";
}"""


@pytest.fixture
def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Explore:
    """Show audited products of a snapshot."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    catalog = prodex.flatten(one.record for one in shared_products(120)).save("keyed")
    return explore(catalog, audit=prodex.audit(catalog, "online-listing", progress=False, now=AS_OF))


def presser(page: Page) -> Callable[..., None]:
    """Return a function that presses Return on a button, and asserts what has the focus then."""

    def press(button: Locator | str, expected: str = ".*") -> None:
        if isinstance(button, str):
            button = page.get_by_role("button", name=button, exact=True).first
        button.focus()
        page.keyboard.press("Enter")
        page_settled(page)
        found = page.evaluate(_FOCUS)
        assert found != "lost", button
        assert re.fullmatch(expected, found, re.DOTALL), (button, found)

    return press


@pytest.mark.slow
def test_a_press_leaves_a_place_to_go_on_from(looked: Explore, browser: Browser) -> None:
    """After every press of Return something useful has the focus."""
    with shown(looked, browser) as page:
        press = presser(page)
        press("Next", "Next")
        press("Next")
        press("Previous", "Previous")
        press("Previous")
        press(page.locator(".facet button.is-more").first)
        press(page.locator(".facet-row .value").nth(3), ".*☑.*")
        chip = page.locator(".chips button")
        press("← Back", "Forward →|← Back")
        chip.wait_for(state="hidden")
        press("Forward →", "← Back|Forward →")
        press(chip.first)
        press(page.locator(".product-table button.sort").first, "GTIN.*")
        press(page.locator(".product-table tbody tr[tabindex]").first)
        press("✕ Close")
        press("Select this page")
        press("Clear selection")
        press(page.get_by_role("button", name="Export"), ".*Export")
        press("Export", ".*")

        press("Quality", "Quality")
        press("Grade A")
        assert "products" == looked.section
        press("Quality")
        press("Show all products")
        before = looked.audit
        press("Audit", "Audit")
        assert looked.audit is not before

        press("Snapshots", "Snapshots")
        press("Verify", "Verify")
        page.get_by_text("are intact").wait_for()


@pytest.mark.slow
def test_everything_is_reached_with_tab(looked: Explore, browser: Browser) -> None:
    """From the first button to the last one, with a bounded number of stops, and back."""
    with shown(looked, browser) as page:
        for section in ("Products", "Quality", "Coverage", "Corrections", "Snapshots"):
            page.get_by_role("button", name=section, exact=True).first.click()
            page_settled(page)
            page.locator(".page-head button[tabindex='0']").focus()
            stops = 0
            while page.evaluate(_FOCUS) != "lost" and stops < 200:
                page.keyboard.press("Tab")
                stops += 1
            assert 0 < stops < 200, section
            page.keyboard.press("Shift+Tab")
            assert page.evaluate(_FOCUS) != "lost", section

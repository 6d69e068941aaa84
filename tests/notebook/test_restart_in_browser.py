"""A kernel that has restarted or died: panels say so where the person looks, and nothing that was typed is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

_BEGIN = """
    import prodex as px
    from prodex_sandbox.sample import shared_products
    catalog = px.flatten(one.record for one in shared_products(60)).save("restarted")
"""
_LOOK = "looked = px.explore(catalog)\nlooked"
_DIE_ONCE = """
    import os, signal
    from pathlib import Path
    if not Path("has-died").exists():
        Path("has-died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""
_SAID = """one => getComputedStyle(one, '::before').content"""


def _says_nothing(panel: Locator) -> bool:
    return bool(panel.evaluate(_SAID) == "none")


def test_a_panel_of_a_kernel_that_restarted_says_so(lab: Lab, browser: Browser) -> None:
    """In words at its top and beside what is pressed; a text in the editor stays, and the next kernel has the rest."""
    with lab.opened(browser, [_BEGIN, _LOOK]) as notebook:
        page = notebook.page
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.click()
        texts = out.locator(".texts .act")
        texts.first.click()
        out.locator(".editor textarea").fill("Kept on disk")
        page.keyboard.press("Enter")
        notebook.wait_for("len(looked.exploration.corrections) == 1")
        panel = out.locator(".prodex").first
        assert _says_nothing(panel)

        page.get_by_role("menuitem", name="Kernel", exact=True).click()
        page.get_by_role("menuitem", name=re.compile("^Restart Kernel…")).click()
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        out.locator(".prodex.jupyter-widgets-disconnected").first.wait_for()
        assert "not connected to a kernel" in panel.evaluate(_SAID)
        signs = out.locator(".prodex .jupyter-widgets-disconnected")
        assert signs.count() > 20
        assert all(_says_nothing(signs.nth(at)) for at in range(20))
        assert [] == notebook.violations(1)

        texts.nth(2).click()
        out.locator(".editor textarea").fill("Not saved yet")
        out.get_by_role("button", name="Save", exact=True).click()
        out.get_by_text("Not saved: the kernel was restarted").wait_for()
        out.locator(".product-grid tbody tr").nth(2).click()
        out.get_by_role("alert").get_by_text("Nothing was done").first.wait_for()
        assert "Not saved yet" == out.locator(".editor textarea").input_value()

        notebook.run_all()
        out = notebook.output(1)
        out.get_by_role("button", name="Corrections (1)", exact=True).wait_for()
        assert ["Kept on disk"] == notebook.ask("[one.text for one in looked.exploration.corrections]")
        assert _says_nothing(out.locator(".prodex").first)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_a_panel_of_a_kernel_that_died_says_so(lab: Lab, browser: Browser) -> None:
    """It is restarted by the server, and the new one knows nothing of the panel; what is shown anew is heard by it."""
    with lab.opened(browser, [_BEGIN, _LOOK, _DIE_ONCE]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.wait_for()
        notebook.cells.nth(2).locator(".cm-content").click()
        notebook.page.keyboard.press("Control+Enter")
        out.locator(".prodex.jupyter-widgets-disconnected").first.wait_for(timeout=60_000)
        assert "not connected to a kernel" in out.locator(".prodex").first.evaluate(_SAID)
        # The cells are run again, as the panel says, and the new panel answers.
        page = notebook.page
        page.get_by_role("dialog").get_by_role("button").first.click()
        notebook.run_all()
        out = notebook.output(1)
        out.locator(".product-grid tbody tr").first.click()
        out.locator(".pane h3").first.wait_for()

"""Notebooks as `make lab` opens them: ready to run from top to bottom, with widgets that are really there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prodex_sandbox.sample import shared_products
from tests.lived import exchange_in
from tests.test_notebooks import ROOT

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_PRODUCTS = 300


def test_a_notebook_runs_in_the_lab(lab: Lab, browser: Browser) -> None:
    """All cells run in the kernel that the notebook asks for, and widgets are drawn without loading anything."""
    lab.home.mkdir(exist_ok=True)
    with (
        exchange_in(lab.home, shared_products(_PRODUCTS)),
        lab.opened(browser, ROOT / "notebooks" / "03_filter_and_explore.ipynb") as notebook,
    ):
        notebook.run_all()
        notebook.page.locator(".prodex").first.wait_for(state="attached")
        assert notebook.ask("isinstance(looked.selected, tuple) and len(looked.selected) == 3")
        assert [] == notebook.outside
        assert [] == notebook.errors

"""More products than a call takes are corrected in the explorer, with every press counted, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from prodex.sandbox import Sandbox
from prodex.send.batches import LARGEST_BATCH
from prodex.service.paging import LARGEST_PAGE
from prodex_sandbox.sample import shared_products

from .lab import Lab
from .test_tasks_in_browser import Hand, served, value

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def own_exchange() -> Iterator[Sandbox]:
    """Serve products of France, of which more can be corrected than a call loads or sends, and a few of elsewhere."""
    several = list(shared_products(1400))
    french = [one for one in several if one.record["product_key"]["target_market_id"] == 250]
    others = [one for one in several[:100] if one not in french]
    with Sandbox(products=[*french, *others]) as sandbox:
        yield sandbox


def test_more_products_than_a_call_takes_in_five_presses_and_back(
    lab: Lab, browser: Browser, own_exchange: Sandbox
) -> None:
    """A filter, the section, the operation, Send and Yes; what was sent is taken back in three more."""
    with lab.opened(browser, [served(own_exchange, "bulk"), "panel"]) as notebook:
        notebook.page.set_viewport_size({"width": 1400, "height": 1100})
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.wait_for()
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        before = notebook.ask("panel.exploration.catalog.texts.text.tolist()")
        hand.click(value(out, "Market", "France"))
        section = out.get_by_role("button", name="chosen products")
        section.scroll_into_view_if_needed()
        hand.click(section)
        form = out.locator(".bulk-correction")
        form.scroll_into_view_if_needed()
        form.get_by_role("button", name="Replace text").wait_for()
        hand.click(form.get_by_role("button", name="Change case"))
        form.get_by_text("before and after").wait_for()
        assert {} == notebook.violations_of_each_scheme(1)
        send = form.get_by_role("button", name="Send")
        send.wait_for()
        products = notebook.ask(
            "panel.places['Products'].children[0].bulk.preview.fix.accepted.product_id.nunique()"
        )
        assert products > max(LARGEST_BATCH, LARGEST_PAGE)
        send.scroll_into_view_if_needed()
        hand.click(send)
        yes = form.get_by_role("button", name="Yes, send")
        yes.scroll_into_view_if_needed()
        hand.click(yes)
        form.get_by_text("have arrived").wait_for(timeout=120_000)
        assert 5 == hand.clicks
        changed = notebook.ask("panel.exploration.catalog.texts.text.tolist()")
        assert products <= sum(
            one != other for one, other in zip(sorted(before), sorted(changed), strict=True)
        )

        back = form.get_by_role("button", name="Take it back")
        back.scroll_into_view_if_needed()
        hand.click(back)
        form.get_by_text("Take back what was sent").first.wait_for(timeout=120_000)
        for name in ("Send", "Yes, send"):
            pressed = form.get_by_role("button", name=name)
            pressed.wait_for()
            pressed.scroll_into_view_if_needed()
            hand.click(pressed)
        form.get_by_text("have arrived").wait_for(timeout=120_000)
        assert sorted(before) == sorted(notebook.ask("panel.exploration.catalog.texts.text.tolist()"))
        assert 8 == hand.clicks
        assert ([], []) == (notebook.outside, notebook.errors)

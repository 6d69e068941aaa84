"""The product card in a real notebook: read, copied from, folded and unfolded, and never asking for anything itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prodex.sandbox import Sandbox
from tests.notebook.card_products import EACH
from tests.quality.hostile import STRINGS

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_RICH = """
    import sys; sys.path.insert(0, {root!r})
    import prodex
    from prodex.notebook.card.panel import ProductCard
    from tests.notebook.card_products import rich, text
    catalog = prodex.flatten([rich(), {{"id": 8, "namePublicLong": [text("fra-FR", "Citron")]}}])
    panel = ProductCard(catalog, "7", audit=prodex.audit(catalog, "online-listing", progress=False))
    panel
"""
_CANARY = """
    import sys; sys.path.insert(0, {root!r})
    import prodex
    from prodex.notebook.card.panel import ProductCard
    from tests.notebook import canary
    catalog = canary.catalog(1)
    panel = ProductCard(catalog, audit=prodex.audit(catalog, "online-listing", progress=False))
    panel.product_id = catalog.products["product_id"][0]
    panel
"""
_PICTURES = """
    import prodex
    from prodex.notebook.card.panel import ProductCard
    service = prodex.connect(base_url={url!r}, client_id={key[client_id]!r}, client_secret={key[client_secret]!r})
    catalog = prodex.load_products(service, prodex.ProductQuery(has_packshot=True), progress=False)
    counts = catalog.products.set_index("product_id")["pictures_count"]
    panel = ProductCard(catalog, counts.idxmax())
    panel
"""
_HISTORY = """
    import sys; sys.path.insert(0, {root!r})
    from tests.corrections.machines import Machines, names
    from tests.send.mill_exchange import small_exchange, text
    from prodex.notebook.card.panel import ProductCard
    exchange = small_exchange().__enter__()
    mill = Machines(exchange)
    mill.load({name!r})
    for one in ["Corrigé", "<img src=x onerror=alert(1)> \\u202e שלום"]:
        mill.here(namePublicLong=names(one))
        mill.load({name!r})
    mill.elsewhere(namePublicLong=names("Pain complet"), description=[text("fra-FR", "Zutaten " * 2000)])
    panel = ProductCard(mill.load({name!r}), "1")
    panel
"""
#: What of a card stands out of the place that it has; tables scroll in theirs.
_TOO_WIDE = """
    place => [...place.querySelectorAll(".card *")].filter(one =>
        one.getBoundingClientRect().right > place.getBoundingClientRect().right + 1
        && !one.closest(".scroll") && one.checkVisibility()).map(one => one.outerHTML.slice(0, 80))
"""


@pytest.fixture
def root(pytestconfig: pytest.Config) -> str:
    """Return where the tests lie, whose products the notebook uses too."""
    return str(pytestconfig.rootpath)


def test_a_card_is_read_copied_and_unfolded_by_keyboard(lab: Lab, browser: Browser, root: str) -> None:
    """Tab reaches the GTIN, Return opens the record, and axe finds no violation."""
    with lab.opened(browser, [_RICH.format(root=root)]) as notebook:
        out, page = notebook.run(), notebook.page
        out.get_by_role("heading", name="Halfvolle melk").wait_for()
        assert [] == notebook.violations()

        out.locator("summary").first.focus()
        while page.evaluate("document.activeElement.className") != "gtin":
            page.keyboard.press("Shift+Tab")
        page.keyboard.press("Control+c")
        assert EACH == page.evaluate("navigator.clipboard.readText()")

        record = out.get_by_role("region", name="Record as received")
        assert not record.is_visible()
        out.locator("summary", has_text="JSON").focus()
        page.keyboard.press("Enter")
        record.wait_for(state="visible")
        page.keyboard.press("Enter")
        record.wait_for(state="hidden")

        page.set_viewport_size({"width": 760, "height": 1000})
        assert [] == out.evaluate(_TOO_WIDE)

        assert notebook.ask("setattr(panel, 'product_id', '8') or panel.exploration.product_id") == "8"
        out.get_by_role("heading", name="Citron").wait_for()
        assert (0, [], []) == (out.get_by_text("Halfvolle").count(), notebook.errors, notebook.outside)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_the_history_is_folded_and_opened_by_keyboard(
    lab: Lab, browser: Browser, root: str, scheme: str
) -> None:
    """It comes after the card, says what we sent in words, and shows long texts as a whole on request."""
    with lab.opened(
        browser, [_HISTORY.format(root=root, name=f"history-{scheme}")], scheme=scheme
    ) as notebook:
        out, page = notebook.run(), notebook.page
        summary = out.locator(".history > details > summary")
        summary.filter(has_text="2 values changed, 1 of them sent from here. 4 snapshots").wait_for()
        table = out.get_by_role("region", name="History of the values")
        assert not table.is_visible()

        summary.focus()
        page.keyboard.press("Enter")
        table.wait_for(state="visible")
        assert 2 == table.locator(".mark", has_text="sent from here").count()
        long = table.locator("summary", has_text="16,000 characters")
        assert 0 == table.get_by_role("group", name="The whole text").count()
        long.focus()
        page.keyboard.press("Enter")
        table.get_by_role("group", name="The whole text").wait_for(state="visible")
        page.keyboard.press("Enter")
        assert [] == notebook.violations()
        assert ([], [], 0) == (notebook.errors, notebook.outside, table.locator("img, script").count())

        page.set_viewport_size({"width": 760, "height": 1000})
        assert [] == out.evaluate(_TOO_WIDE)


def test_a_dark_card_shows_what_would_do_harm(lab: Lab, browser: Browser, root: str) -> None:
    """Hostile texts run nothing, load nothing and are not typeset."""
    with lab.opened(browser, [_CANARY.format(root=root)], scheme="dark") as notebook:
        out, page = notebook.run(), notebook.page
        out.get_by_text("Record as received").first.wait_for()
        for summary in out.locator("summary").all():
            if summary.is_visible():
                summary.click()
        page.wait_for_timeout(500)
        shown = " ".join(out.locator(".card").all_text_contents())

        assert [] == [one for one in STRINGS if one not in shown]
        assert ([], []) == (notebook.errors, notebook.outside)
        assert 0 == out.locator("mjx-container, .MathJax, script, iframe, a, img").count()
        assert [] == notebook.violations()


def test_pictures_come_from_python(lab: Lab, browser: Browser, sample_exchange: Sandbox) -> None:
    """Images appear after the click, and the browser has loaded none of them."""
    cell = _PICTURES.format(url=sample_exchange.base_url, key=sample_exchange.credentials[0])
    with lab.opened(browser, [cell]) as notebook:
        out = notebook.run()
        count = notebook.ask("int(counts.max())")
        button = out.get_by_role("button", name=f"Show pictures ({count})")
        button.wait_for()
        assert 0 == out.locator("img").count()

        button.press("Enter")
        out.locator("img").first.wait_for()
        images = out.locator("img").evaluate_all(
            "all => all.map(one => [one.src.slice(0, 11), one.complete && one.naturalWidth > 0])"
        )
        assert [["data:image/", True]] * count == images
        assert ([], []) == (notebook.errors, notebook.outside)
        assert [] == notebook.violations()

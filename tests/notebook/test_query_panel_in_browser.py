"""The panel that says what to load, clicked through as an analyst would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import prodex
from prodex.query import SEARCH_FIELDS
from prodex.sandbox import Sandbox
from prodex_sandbox.faults.kinds import Fault

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CANARY = "<img src='http://127.0.0.1:9/x.png' onerror='alert(1)'> $5 or $6 \\(x\\) مرحبا 🧨"


def cell(sandbox: Sandbox, arguments: str = "") -> str:
    """Show a panel of a sandbox that runs beside the tests."""
    key = {name: sandbox.credentials[0][name] for name in ("client_id", "client_secret")}
    return f"""
        import prodex as px
        from prodex.notebook.query.panel import QueryPanel
        service = px.connect("{sandbox.base_url}", **{key})
        panel = QueryPanel(service{arguments})
        panel
    """


def test_filters_are_clicked_counted_and_loaded(
    lab: Lab, browser: Browser, sample_exchange: Sandbox, service: prodex.Client
) -> None:
    """Market, packshot, status, dates, words and GTINs reach Python; the count follows; Load gives the catalogue."""
    with lab.opened(browser, [cell(sample_exchange, ", name='from-browser'")]) as notebook:
        out = notebook.run()
        notebook.wait_for("panel.count == 600")
        assert out.get_by_text("600 products match").is_visible()
        assert [] == notebook.violations()

        out.get_by_label("Target market").select_option("France (250)")
        out.get_by_role("button", name="GTINs, owners").click()
        out.get_by_label("Packshot (picture of the packed product)").select_option("with a packshot")
        asked = prodex.ProductQuery(target_market=250, has_packshot=True)
        expected = len(prodex.load_products(service, asked))
        assert expected == notebook.wait_for("panel.count")
        assert out.get_by_text(f"{expected:,} products match").is_visible()

        out.get_by_role("button", name="Status, sharing").click()
        accepted = out.get_by_role("button", name="Accepted")
        accepted.focus()
        notebook.page.keyboard.press("Space")
        notebook.wait_for("panel.query.target_productstatus_in == ('ACCEPTED',)")
        notebook.page.keyboard.press("Enter")
        notebook.wait_for("panel.query.target_productstatus_in is None")

        out.get_by_label("Updated from (UTC)", exact=True).fill("2020-03-01T12:30:05")
        notebook.wait_for("panel.query.updated_at_from is not None")
        assert "2020-03-01T12:30:05+00:00" == notebook.ask("panel.query.updated_at_from.isoformat()")

        out.get_by_label("Word 1").fill("a")
        out.get_by_role("button", name="+ Add a word").click()
        out.get_by_label("Word 2").fill(CANARY)
        notebook.wait_for("len(panel.query.search or ()) == 2")
        assert CANARY == notebook.ask("panel.query.search[1][0]")
        for fold in ("Python code", "Request as JSON"):
            out.get_by_role("button", name=fold).click()
        out.get_by_label("Python code of the query").focus()
        notebook.page.keyboard.press("Control+A")
        notebook.page.keyboard.press("Control+C")
        copied = notebook.page.evaluate("navigator.clipboard.readText()")
        assert f"search=(('a', ({SEARCH_FIELDS[0]!r}," in copied
        assert copied == notebook.ask(
            "__import__('prodex.notebook.query.panel', fromlist=['']).as_python(panel.query, 'from-browser', None)"
        )
        out.get_by_role("button", name="Remove").nth(1).click()
        out.get_by_label("Word 1").fill("")
        notebook.wait_for("panel.query.search is None")

        out.get_by_label("GTINs").fill("GTIN\n3036811359935\nabc")
        out.get_by_text("Left out, not GTINs: GTIN, abc.").wait_for()
        assert ["03036811359935"] == notebook.wait_for("panel.query.gtins_in")
        out.get_by_label("GTINs").fill("abc")
        out.get_by_text("gtins_in has no GTIN, but abc").wait_for()
        assert out.get_by_role("button", name="Load products").is_disabled()

        out.get_by_role("button", name="Clear all filters").click()
        notebook.wait_for("panel.count == 600")
        assert "" == out.get_by_label("GTINs").input_value()
        assert "any" == out.get_by_label("Target market").locator("option:checked").inner_text()[:3]
        out.get_by_role("button", name="Load products").click()
        notebook.wait_for("panel.catalog is not None")
        assert "600 of 600 products, complete." in out.get_by_text("complete.").inner_text()
        assert [600, True] == notebook.ask("[len(panel.catalog), panel.catalog.complete]")
        assert 600 == notebook.ask("len(px.open_snapshot('from-browser'))")
        assert ([], []) == (notebook.outside, notebook.errors)
        assert [] == notebook.violations()


def test_a_load_is_watched_and_cancelled(lab: Lab, browser: Browser, sample_exchange: Sandbox) -> None:
    """The bar moves, Cancel stops after the page in flight, and Load goes on from there; in the dark too."""
    cells = [cell(sample_exchange, ", name='cancelled'")]
    with lab.opened(browser, cells, scheme="dark") as notebook:
        out = notebook.run()
        notebook.wait_for("panel.count == 600")
        # Slow until it is cancelled: how long it takes to look at the page depends on the machine.
        sample_exchange.order(Fault("latency", at=range(4, 10**6), seconds=2))
        out.get_by_role("button", name="Load products").click()
        out.get_by_text("of 600 products, ").wait_for()
        assert out.get_by_label("Target market").is_disabled()
        assert [] == notebook.violations()
        out.get_by_role("button", name="Cancel").click()
        out.get_by_text("kept: “Load products” continues from there.").wait_for()
        sample_exchange.clear_faults()
        assert notebook.ask("panel.catalog is None")
        assert out.get_by_label("Target market").is_enabled()
        assert [] == notebook.violations()
        out.get_by_role("button", name="Load products").click()
        notebook.wait_for("panel.catalog is not None")
        assert "600 of 600 products, complete." in out.get_by_text("complete.").inner_text()
        assert 600 == notebook.ask("len(panel.catalog)")
        assert [] == notebook.violations()

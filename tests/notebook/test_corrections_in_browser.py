"""Texts corrected on the card and sent, in a real JupyterLab: all by keyboard, and with texts that are hard to show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = str(Path(__file__).parents[2])

_SERVED = f"""
    import sys; sys.path.insert(0, {ROOT!r})
    import prodex as px
    from tests.worklists.bakery import RECORDS, stored
    from prodex.sandbox import Sandbox
    sandbox = Sandbox(RECORDS).__enter__()
    key = sandbox.credentials[0]
    service = px.connect(
        base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    catalog = px.load_products(service, name="corrected", progress=False)
    audit = px.audit(catalog, {{"checks": {{"names_not_in_capitals": {{}}}}}}, progress=False)
"""
_HARD = """
    import prodex as px
    long, arabic = "une phrase longue " * 2_300, "خبز \\u2067ريفي \\u202egnp.exe 24 <img src=x onerror=alert(1)>"
    def text(code, data): return [{"expressedIn": {"code": code}, "data": data}]
    texts = {"namePublicLong": text("ara-SA", arabic), "description": text("fra-FR", long)}
    catalog = px.flatten([{"id": 7, "gtin": "03036811359935", **texts}])
"""


def test_a_text_is_corrected_and_sent_by_keyboard(lab: Lab, browser: Browser) -> None:
    """From the row to the editor, back to the row, to the list, and to the service, without the mouse."""
    look = "looked = px.explore(catalog, audit=audit, service=service)\nlooked"
    with lab.opened(browser, [_SERVED, look]) as notebook:
        page, keys = notebook.page, notebook.page.keyboard
        notebook.run(0)
        out = notebook.run(1)
        row = out.locator(".product-grid tbody tr").first
        row.focus()
        keys.press("e")
        area = out.locator(".editor textarea")
        area.wait_for()
        page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
        assert [] == notebook.violations(1)
        keys.press("Control+A")
        keys.type("Pain de campagne")
        keys.press("Enter")
        notebook.wait_for("len(looked.exploration.corrections) == 1")
        page.wait_for_function("!!document.activeElement.closest('.product-grid tr')")

        tab = out.get_by_role("button", name="Corrections (1)", exact=True)
        tab.focus()
        keys.press("Enter")
        out.get_by_text("1 correction of 1 product, not sent yet: 1 can be sent.").wait_for()
        assert [] == notebook.violations(1)
        out.get_by_role("button", name="Send 1 correction", exact=True).focus()
        keys.press("Enter")
        page.wait_for_function("document.activeElement.innerText.startsWith('Yes, send 1 correction')")
        keys.press("Enter")
        out.get_by_text("1 correction has arrived at 127.0.0.1").wait_for(timeout=60_000)
        assert "Pain de campagne" == notebook.ask(
            "stored(service, RECORDS[0]['gtin'])['namePublicLong'][0]['data']"
        )
        out.get_by_role("button", name="Corrections", exact=True).wait_for()
        assert [] == notebook.violations(1)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_texts_that_are_hard_to_show(lab: Lab, browser: Browser) -> None:
    """40,000 characters are folded and edited whole; a right-to-left text has its direction; none widens the page."""
    with lab.opened(browser, [_HARD, "looked = px.explore(catalog)\nlooked"]) as notebook:
        page = notebook.page
        page.set_viewport_size({"width": 1020, "height": 900})
        notebook.run(0)
        out = notebook.run(1)
        out.locator(".product-grid tbody tr").first.click()
        for number, (name, kept) in enumerate((("description", "long"), ("Long name", "arabic")), start=1):
            out.get_by_role("button", name=f"Edit {name},", exact=False).click()
            area = out.locator(".editor textarea")
            area.wait_for()
            assert notebook.ask(kept) == area.input_value()
            direction = area.evaluate("one => getComputedStyle(one).direction")
            assert ("rtl" if kept == "arabic" else "ltr") == direction
            assert {} == notebook.violations_of_each_scheme(1)
            area.press("End")
            area.press("Control+End")
            page.keyboard.type(".")
            page.keyboard.press("Enter")
            notebook.wait_for(f"len(looked.exploration.corrections) == {number}")
            area.wait_for(state="detached")
        texts = notebook.ask("sorted(one.text for one in looked.exploration.corrections)")
        assert sorted(notebook.ask("[long.strip() + ' .', arabic + '.']")) == texts
        out.get_by_role("button", name="Corrections (2)", exact=True).click()
        out.get_by_text("1 can be sent, 1 cannot be used").wait_for()
        out.locator(".corrections summary").first.click()
        assert {} == notebook.violations_of_each_scheme(1)
        wide = out.locator(".corrections .scroll").evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert wide[0] <= wide[1] + 1
        assert ([], []) == (notebook.outside, notebook.errors)


def test_a_list_that_is_gone_leaves_no_empty_page(lab: Lab, browser: Browser) -> None:
    """Whoever has scrolled down to the end of a long list sees what is said of it when it is gone."""
    many = """
        import prodex as px
        def text(data): return [{"expressedIn": {"code": "fra-FR"}, "data": data}]
        catalog = px.flatten({"id": n, "namePublicLong": text(f"Pain {n}")} for n in range(60))
        panel = px.CorrectionsPanel(catalog)
        place = {"position": "0", "language_code": "fra-FR"}
        panel.exploration.collect(tuple(
            px.TextCorrection(str(n), "namePublicLong", None, f"Brioche {n}", before=f"Pain {n}", **place)
            for n in range(60)
        ))
    """
    with lab.opened(browser, [many, "panel"]) as notebook:
        page = notebook.page
        page.set_viewport_size({"width": 1360, "height": 500})
        notebook.run(0)
        out = notebook.run(1)
        clear = out.get_by_role("button", name="Clear", exact=True)
        clear.scroll_into_view_if_needed()
        clear.click()
        said = out.get_by_text("No corrections.")
        said.wait_for()
        page.wait_for_timeout(500)
        box = said.bounding_box()
        assert box is not None
        assert 0 < box["y"] < 500
        assert ([], []) == (notebook.outside, notebook.errors)

"""The coverage panel as somebody uses it: by keyboard, in both themes, on a narrow page, and over hostile texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.quality import hostile

from .lab import Lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

ROOT = str(Path(__file__).parents[2])

SAMPLE = """
    import prodex as px
    from prodex_sandbox.sample import AS_OF, shared_products
    catalog = px.flatten(one.record for one in shared_products(400))
    audit = px.audit(catalog, "online-listing", progress=False, now=AS_OF)
"""
PANEL = "panel = px.CoveragePanel(catalog, audit=audit)\npanel"
HOSTILE = f"""
    import sys; sys.path.insert(0, {ROOT!r})
    import prodex as px
    from tests.quality import hostile
    texts = [*hostile.STRINGS, hostile.LONG]
    name = [{{"expressedIn": {{"code": "fra-FR"}}, "data": "x"}}]
    records = [{{"id": n, "kind": {{"code": t, "label": t}}, t[:40]: name}} for n, t in enumerate(texts)]
    panel = px.CoveragePanel(px.flatten(records))
    panel.by = "kind"
    panel.attributes = tuple(dict.fromkeys(t[:40] for t in texts if t[:40].strip()))
    panel
"""
_NAME = "namePublicLong"
_FOCUS = "document.activeElement.dataset.key ?? document.activeElement.tagName"
_SIZES = ((1360, 1000), (900, 1000))
_WIDER = "one => [one.scrollWidth, one.clientWidth]"


def test_by_keyboard_alone(lab: Lab, browser: Browser) -> None:
    """One Tab reaches the grid, arrows move in it, Return lists what is missing, and the focus stays."""
    with lab.opened(browser, [SAMPLE, PANEL]) as notebook:
        page = notebook.page
        notebook.run(0)
        out = notebook.run(1)
        out.get_by_label("Count", exact=True).select_option("needed or not")
        notebook.wait_for("not panel.of_required")
        out.locator(".cell-grid button.cell").first.wait_for()
        assert 1 == out.locator(".cell-grid button[tabindex='0']").count()
        out.get_by_label("Order").focus()
        for _ in range(9):
            page.keyboard.press("Tab")
            if page.evaluate(_FOCUS).startswith("cell/"):
                break
        first = page.evaluate(_FOCUS)
        assert first == "cell/ netContent/all"
        for key, expected in (
            ("ArrowRight", "cell/ netContent/=fr"),
            ("ArrowDown", "cell/ namePublicLong/=fr"),
            ("Home", "row/ namePublicLong"),
            ("ArrowUp", "row/ netContent"),
            ("End", "cell/ netContent/=en"),
            ("ArrowRight", "cell/ netContent/=en"),
            ("Control+Home", "column/all"),
            ("Control+End", "cell/total/=en"),
            ("Control+Home", "column/all"),
            ("ArrowRight", "column/=fr"),
            ("ArrowDown", "cell/ netContent/=fr"),
            ("ArrowDown", "cell/ namePublicLong/=fr"),
        ):
            page.keyboard.press(key)
            assert expected == page.evaluate(_FOCUS), key

        page.keyboard.press("Enter")
        lacking = "('empty', 'null', 'absent')"
        notebook.wait_for(f"panel.exploration.conditions.groups == {{'fill:namePublicLong:fr': {lacking}}}")
        out.locator(".cell-grid button.is-pressed", has_text="0 %").wait_for()
        assert "cell/ namePublicLong/=fr" == page.evaluate(_FOCUS)
        counted = "catalog.where(is_consumer_unit=[True, None])"
        has = f'texts.query(\'attribute == "{_NAME}" and language == "fr"\').product_id.nunique()'
        lacking = notebook.ask(f"(lambda found: len(found) - int(found.{has}))({counted})")
        assert notebook.ask("len(panel.exploration.chosen)") == lacking
        page.keyboard.press("Enter")
        notebook.wait_for("not panel.exploration.conditions")
        notebook.wait_until_idle()
        assert "cell/ namePublicLong/=fr" == page.evaluate(_FOCUS)

        for width, height in _SIZES:
            page.set_viewport_size({"width": width, "height": height})
            for setup in ("kinds", "languages"):
                out.get_by_role("button", name=setup, exact=True).click()
                notebook.wait_until_idle()
                out.locator(".pager", has_text=f" {setup}").first.wait_for()
                scroll, client = out.locator(".prodex").first.evaluate(_WIDER)
                assert scroll <= client + 1, (setup, width)
                if (setup == "kinds") == ((width, height) == _SIZES[0]):
                    assert {} == notebook.violations_of_each_scheme(1)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_what_suppliers_typed_is_shown_letter_by_letter(lab: Lab, browser: Browser) -> None:
    """Names of attributes and groups run nothing, are no markup and no formula, and long ones are cut."""
    with lab.opened(browser, [HOSTILE], scheme="dark") as notebook:
        out = notebook.run()
        out.locator(".cell-grid button.cell").first.wait_for()
        notebook.wait_until_idle()
        heads = out.locator(".cell-grid thead")
        shown = _drawn(heads, "").locator("bdi").all_inner_texts()
        # Python knows first whether there is another page.
        while not notebook.ask("panel.columns_pager.next.disabled"):
            before = heads.inner_text()
            out.get_by_role("button", name="Next").first.click()
            shown += _drawn(heads, before).locator("bdi").all_inner_texts()
        for text in hostile.STRINGS:
            assert any(one.startswith(text[:30]) for one in shown), text
        assert any("of 40,003 characters" in one for one in shown)
        cell = out.locator(".cell-grid button.cell:not([aria-disabled])").first
        cell.click()
        notebook.wait_for("panel.exploration.conditions.groups")
        notebook.wait_until_idle()
        assert 0 == out.locator("img, script, svg, mjx-container").count()
        assert [] == notebook.violations()
        assert ([], []) == (notebook.outside, notebook.errors)


def _drawn(heads: Locator, before: str) -> Locator:
    """Return headings once they are others than before, and stay so: a page is drawn in several steps."""
    last = before
    for _ in range(200):
        heads.page.wait_for_timeout(150)
        now = heads.inner_text()
        if now == last != before:
            return heads
        last = now
    raise AssertionError("the headings stay as they were")


def test_a_press_in_explore_lists_the_products(lab: Lab, browser: Browser) -> None:
    """In the section Coverage a press opens the products that lack an attribute, and the section says so afterwards."""
    look = "looked = px.explore(catalog, audit=audit)\nlooked"
    with lab.opened(browser, [SAMPLE, look]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.get_by_role("button", name="Coverage", exact=True).click()
        out.get_by_label("Count", exact=True).select_option("needed or not")
        cell = out.locator(".cell-grid:visible td button.cell", has_text="%").first
        cell.wait_for()
        counted = "catalog.where(is_consumer_unit=[True, None])"
        has_none = "(lambda found: int(found.wide(columns=['netContent']).netContent.isna().sum()))"
        lacking = notebook.ask(f"{has_none}({counted})")
        cell.click()
        assert "Products" == notebook.wait_for("looked.section == 'Products' and looked.section")
        assert lacking == notebook.ask("len(looked.catalog)")
        out.get_by_text(f"of {lacking:,} products").first.wait_for()
        out.get_by_role("button", name="Coverage", exact=True).click()
        out.get_by_text(f"{lacking:,} of 400 products").first.wait_for()
        assert ([], []) == (notebook.outside, notebook.errors)

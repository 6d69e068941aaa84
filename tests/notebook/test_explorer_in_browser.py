"""The explorer in JupyterLab: filtered, searched, paged, chosen from and exported by mouse and by keyboard."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from python_calamine import CalamineWorkbook

from tests.bench.explorer import figures

from .lab import Lab, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

SAMPLE = """
    import prodex
    from prodex.notebook.products.explorer import CatalogExplorer
    from prodex_sandbox.sample import shared_products
    catalog = prodex.flatten(product.record for product in shared_products(300))
    explorer = CatalogExplorer(catalog)
"""
NOTED = """
    import threading
    from unittest.mock import patch
    from ipywidgets import Widget
    threads, handle = [], Widget._handle_msg
    def noted(self, message):
        threads.append(threading.current_thread().name)
        return handle(self, message)
    noting = patch.object(Widget, "_handle_msg", noted)
    noting.start()
"""
JUDGED = f"""
    {SAMPLE}
    explorer = CatalogExplorer(catalog, audit=prodex.audit(catalog, "online-listing"))
"""
CANARY = """
    import prodex
    from prodex.notebook.products.explorer import CatalogExplorer
    typed = [
        "<img src='http://127.0.0.1:9/x.png' onerror='alert(1)'><script>alert(2)</script>",
        "costs $5 or $6, $$\\\\sum$$ \\\\(x\\\\)",
        "=HYPERLINK(1)",
        "\\u202egnp.exe \\u05e9\\u05dc\\u05d5\\u05dd",
        "\\U0001f9c0 nul \\x00",
        "&lt;b&gt;" + "x" * 40_000,
    ]
    def record(number, text):
        value = {"code": f"{number} {text}", "label": text}
        french = [{"expressedIn": {"code": "fra-FR"}, "data": text}]
        return {
            "id": number, "gtin": text, "brand": value, "kind": value, "typePackaging": value,
            "owner": {"id": number, "name": text}, "hasTags": [{"tag": text}], "namePublicLong": french,
            "targetProductStatus": text,
        }
    catalog = prodex.flatten([*(record(number, text) for number, text in enumerate(typed)), {"id": 99}])
    explorer = CatalogExplorer(catalog)
"""


@pytest.fixture
def notebook(lab: Lab, browser: Browser) -> Iterator[Notebook]:
    """Open a notebook of the sample."""
    with lab.opened(browser, [SAMPLE, "explorer"]) as notebook:
        yield notebook


def opened(notebook: Notebook) -> Locator:
    """Run both cells and return what the second shows."""
    notebook.run(0)
    notebook.run(1)
    out = notebook.output(1)
    row(out, 0).wait_for()
    return out


def row(out: Locator, number: int) -> Locator:
    return out.locator(".product-grid tbody tr").nth(number)


def value(out: Locator, label: str) -> Locator:
    """Return the value of a facet that is shown."""
    return out.locator(".facet-row .value", has_text=label).first


def head(out: Locator, title: str) -> Locator:
    return out.locator(".facet-head", has_text=title)


def unfold(out: Locator) -> None:
    """Open whatever is folded, one after the other."""
    heads = out.locator("button.facet-head, button.fold")
    for place in range(heads.count()):
        if "▸" in heads.nth(place).inner_text():
            heads.nth(place).click()
            heads.nth(place).filter(has_text="▾").wait_for()


def test_a_table_that_was_drawn_while_it_was_hidden_fits_when_it_is_shown(notebook: Notebook) -> None:
    """Another section loads products and the table comes back: no column is cut, and none moves at the next press."""
    out = opened(notebook)
    shown = "els => els.filter(e => !e.hidden).map(e => e.getAttribute('aria-label') || '')"
    before = out.locator(".product-grid thead th").evaluate_all(shown)
    notebook.ask("setattr(explorer.layout, 'display', 'none')")
    out.locator(".product-grid").wait_for(state="hidden")
    notebook.ask("setattr(explorer, 'selected', tuple(catalog.products['product_id'][:2]))")
    notebook.page.wait_for_timeout(300)  # the page draws the table without a width
    notebook.ask("setattr(explorer.layout, 'display', None)")
    out.locator(".product-grid tr.selected").first.wait_for()
    out.locator(".no-room", has_text="No room here").wait_for()
    assert before == out.locator(".product-grid thead th").evaluate_all(shown)
    over = out.locator(".product-grid .scroll").evaluate("e => e.scrollWidth - e.clientWidth")
    assert over <= 0


def test_products_are_filtered_searched_chosen_and_exported(lab: Lab, notebook: Notebook) -> None:
    """Every press is seen in Python, and the file has what the table showed."""
    out = opened(notebook)
    value(out, "France").click()
    notebook.wait_for("explorer.exploration.conditions.groups == {'market': ('250',)}")
    out.get_by_text("(300 in all)").first.wait_for()
    assert notebook.ask("len(explorer.catalog) == len(catalog.where(target_market=250))")

    out.get_by_label("Search").fill("citron")
    notebook.wait_for("explorer.exploration.conditions.words == 'citron'")
    out.locator("button.chip", has_text="words:").click()
    notebook.wait_for("explorer.exploration.conditions.words == ''")
    assert "" == out.get_by_label("Search").input_value()

    last = notebook.ask("sorted(catalog.where(target_market=250).products['gtin'].dropna())[-1]")
    for order in ("ascending", "descending"):
        out.locator(".product-grid thead button.sort", has_text="GTIN").click()
        out.locator(f".product-grid th[aria-sort='{order}']").wait_for()
    out.get_by_text(last).first.wait_for()
    for place in (2, 0):
        row(out, place).get_by_role("checkbox").click()
    ids = notebook.wait_for("len(explorer.selected) == 2 and explorer.selected")
    out.get_by_role("button", name="Next").first.click()
    out.get_by_text("51 to 100 of").first.wait_for()
    # No row of this page is selected: the marks go with the rows that had them.
    out.locator("tr.selected").first.wait_for(state="detached")
    row(out, 0).focus()
    notebook.page.keyboard.press("Space")
    chosen = notebook.wait_for("len(explorer.selected) == 3 and explorer.selected")
    assert ids == chosen[:2]
    notebook.page.keyboard.press("Space")
    assert notebook.wait_for("len(explorer.selected) == 2")
    out.get_by_role("button", name="Previous").first.press("Enter")
    out.locator("tr.selected").nth(1).wait_for()
    assert 2 == out.locator("tr.selected").count()
    # The button that was pressed cannot be pressed again, and would leave the focus nowhere.
    notebook.page.wait_for_function("document.activeElement.textContent === 'Next'")

    out.get_by_role("button", name="▸ Export").click()
    for name, ending in (("CSV", "csv"), ("XLSX (Excel)", "xlsx")):
        out.get_by_label("as", exact=True).select_option(name)
        out.get_by_label("to folder").fill(ending)
        out.locator("button.primary").click()
        said = out.get_by_text(f"products_as_shown.{ending}").inner_text()
        assert re.search(rf"^Exported .* to .*/{ending}/products_as_shown\.{ending} \(", said)
    with (lab.folder / "csv" / "products_as_shown.csv").open(encoding="utf-8", newline="") as file:
        gtins = [one[0] for one in csv.reader(file)][1:]
    book = CalamineWorkbook.from_path(lab.folder / "xlsx" / "products_as_shown.xlsx")
    assert gtins == [one[0] for one in book.get_sheet_by_index(0).to_python()][1:]
    assert gtins == notebook.ask(
        "sorted(explorer.catalog.products['gtin'].dropna(), reverse=True)"
        " + [''] * int(explorer.catalog.products['gtin'].isna().sum())"
    )
    assert ([], []) == (notebook.outside, notebook.errors)


def test_a_card_opens_beside_its_row_and_follows_the_arrows(notebook: Notebook) -> None:
    """By keyboard alone: down to the next card, over the end of the page, closed by Escape, the place kept."""
    out = opened(notebook)
    page = notebook.page
    row(out, 3).click()
    third = notebook.wait_for("explorer.exploration.product_id")
    pane = out.locator(".pane")
    pane.locator("h3").first.wait_for()
    grid, card = out.locator(".product-grid").bounding_box(), pane.bounding_box()
    assert grid is not None
    assert card is not None
    assert card["x"] >= grid["x"] + grid["width"]
    assert abs(card["y"] - grid["y"]) < 120

    rows = out.locator(".product-grid tbody tr")
    rows.evaluate_all("rows => rows.forEach((row) => { row.is_kept = true; })")
    row(out, 3).focus()
    page.keyboard.press("ArrowDown")
    notebook.wait_for(f"explorer.exploration.product_id not in (None, {third!r})")
    assert notebook.ask("explorer.exploration.product_id == explorer.table.on_page[4]")
    # The rows are marked, and not drawn anew.
    out.locator(
        "tr.is-open[aria-current][tabindex='0'][data-key='row/{}']".format(
            notebook.ask("explorer.table.on_page[4]")
        )
    ).wait_for()
    assert rows.evaluate_all("rows => rows.every((row) => row.is_kept)")
    assert 1 == out.locator("tr.is-open").count() == out.locator("tr[aria-current]").count()
    row(out, 49).focus()
    page.keyboard.press("ArrowDown")
    out.get_by_text("51 to 100 of").first.wait_for()
    notebook.wait_for("explorer.exploration.product_id == explorer.table.on_page[0]")
    page.wait_for_function("document.activeElement.closest('tbody tr')?.classList.contains('is-open')")
    page.keyboard.press("Escape")
    pane.wait_for(state="hidden")
    out.locator("tr.is-open").wait_for(state="detached")
    assert "51 to 100 of 300 products" in out.inner_text()
    assert ([], []) == (notebook.outside, notebook.errors)


def test_what_is_typed_and_what_is_pressed_reach_one_thread(lab: Lab, browser: Browser) -> None:
    """In their order: in two threads, a press could be answered before the text that was typed for it."""
    with lab.opened(browser, [f"{NOTED}{SAMPLE}", "explorer"]) as notebook:
        out = opened(notebook)
        out.get_by_role("button", name="▸ Export").click()
        value(out, "France").click()
        out.get_by_text("(300 in all)").first.wait_for()
        row(out, 2).click()
        out.locator(".pane h3").first.wait_for()
        out.get_by_role("button", name="Next").first.click()
        out.get_by_text("51 to 100 of").first.wait_for()
        out.get_by_label("Search").fill("citron")
        notebook.wait_for("explorer.exploration.conditions.words == 'citron'")
        out.get_by_label("to folder").fill("there")
        notebook.wait_for("explorer._export._folder.value == 'there'")
        out.locator("button.primary").click()
        out.get_by_text("there/products_as_shown.csv").wait_for()
        assert 1 == len(set(notebook.ask("threads")))
        notebook.ask("bool(noting.stop())")  # the kernel is used again


def test_arrow_keys_pass_the_ends_of_pages_and_stay_at_those_of_the_table(lab: Lab, browser: Browser) -> None:
    """The focus is on the row that a key leads to, on the last page, too; a key that leads nowhere does not move it."""
    two_pages = SAMPLE.replace("shared_products(300)", "shared_products(60)")
    with lab.opened(browser, [two_pages, "explorer"]) as notebook:
        out, press = opened(notebook), notebook.page.keyboard.press

        def wait_until_focused(place: int) -> None:
            is_focused = "row => row === document.activeElement && row.tabIndex === 0"
            row(out, place).locator("xpath=self::*[@tabindex='0']").wait_for()
            assert row(out, place).evaluate(is_focused)
            assert 1 == out.locator(".product-grid tbody tr[tabindex='0']").count()

        row(out, 49).focus()
        press("ArrowDown")
        out.get_by_text("51 to 60 of").first.wait_for()
        notebook.wait_until_idle()
        wait_until_focused(0)
        for key, place in (("End", 9), ("ArrowDown", 9)):
            press(key)
            notebook.wait_until_idle()
            wait_until_focused(place)
        press("Space")
        notebook.wait_for("explorer.selected == (explorer.table.on_page[9],)")
        out.locator("tr.selected").wait_for()
        wait_until_focused(9)
        press("Home")
        press("ArrowUp")
        out.get_by_text("1 to 50 of").first.wait_for()
        notebook.wait_until_idle()
        wait_until_focused(49)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_what_is_under_a_head_is_pressed_by_mouse_and_by_keyboard(notebook: Notebook) -> None:
    """A bar, a drag over bars and a value filter; Shift and an arrow extend a range, and the focus stays."""
    out = opened(notebook)
    page = notebook.page
    wide(out, 1600)
    out.locator(".product-grid thead .sort", has_text="Texts").wait_for()
    bins = out.get_by_role("group", name="Texts: distribution").locator("button")
    counts = [int(re.search(r"(\d+) products?$", one)[1]) for one in labels(bins)]  # type: ignore[index]
    assert 300 == sum(counts)
    most = counts.index(max(counts))
    bins.nth(most).click()
    notebook.wait_for(f"len(explorer.catalog) == {max(counts)}")
    out.locator("button.chip", has_text="texts:").click()
    notebook.wait_for("not explorer.exploration.conditions")

    bins.nth(most).hover()
    page.mouse.down()
    bins.nth(most + 2).hover()
    page.mouse.up()
    notebook.wait_for(f"len(explorer.catalog) == {sum(counts[most : most + 3])}")
    assert 3 == out.locator(".bin.is-chosen").count()
    bins.nth(most).press("Enter")
    notebook.wait_for(f"len(explorer.catalog) == {max(counts)}")
    for place in (1, 2):
        page.keyboard.press("Shift+ArrowRight")
        notebook.wait_for(f"len(explorer.catalog) == {sum(counts[most : most + place + 1])}")
        assert f"bin/texts_count/{most + place}" == page.evaluate("document.activeElement.dataset.key")

    brand = out.get_by_role("group", name="Brand: most frequent values").locator("button").first
    label = brand.locator("bdi").inner_text()
    brand.focus()
    page.keyboard.press("Enter")
    notebook.wait_for("len(explorer.exploration.conditions.groups.get('brand', ())) == 1")
    out.locator(".frequent .is-chosen[aria-pressed='true']", has_text=label).wait_for()
    out.get_by_role("button", name="▸ Columns and rows").click()
    out.get_by_label("Distributions under the heads").click()
    out.locator(".bins").first.wait_for(state="detached")
    assert ([], []) == (notebook.outside, notebook.errors)


def labels(elements: Locator) -> list[str]:
    return [str(one.get_attribute("aria-label")) for one in elements.all()]


def test_a_narrow_panel_has_a_drawer_and_its_key_columns(notebook: Notebook) -> None:
    """At 900 pixels the facets wait behind a button, and the table shows GTIN and name without scrolling."""
    notebook.page.set_viewport_size({"width": 900, "height": 900})
    out = opened(notebook)
    facets = out.locator(".facet-list")
    facets.wait_for(state="hidden")
    out.get_by_role("button", name="Filters").click()
    facets.wait_for()
    row(out, 0).click()
    out.locator(".pane h3").first.wait_for()
    # The page gives the card its place once it is there.
    out.locator(".product-grid thead .sort", has_text="Kind").wait_for(state="hidden")
    assert ["GTIN", "Name"] == titles(out)
    width = "one => one.scrollWidth <= one.clientWidth + 1"
    assert out.locator(".pane").evaluate(width)
    assert [] == notebook.violations(1)


def test_a_card_opens_in_sight_and_at_its_beginning(notebook: Notebook) -> None:
    """Below the table of a narrow panel the page is scrolled to it; the next card does not begin in the middle."""
    out = opened(notebook)
    notebook.page.set_viewport_size({"width": 900, "height": 900})
    wide(out, 500)
    pane = out.locator(".pane")
    row(out, 0).click()
    pane.locator("h3").first.wait_for()
    notebook.page.wait_for_timeout(300)
    box = pane.bounding_box()
    assert box is not None
    assert box["y"] < 630  # of 900: its head is in sight
    wide(out, 1400)
    pane.evaluate("one => { one.scrollTop = 400; }")
    assert pane.evaluate("one => one.scrollTop") > 100
    row(out, 1).click()
    notebook.page.wait_for_timeout(500)
    assert pane.evaluate("one => one.scrollTop") == 0


def wide(out: Locator, width: int) -> None:
    """Give the panel this many pixels: as many as JupyterLab leaves beside its sidebars."""
    have = out.locator(".explorer").evaluate("one => one.clientWidth")
    size = out.page.viewport_size
    assert size is not None
    out.page.set_viewport_size({"width": size["width"] - have + width, "height": 900})


def test_the_filters_are_there_beside_the_list_of_files(notebook: Notebook) -> None:
    """Of 1,400 pixels JupyterLab leaves 940: enough for filters and table. A card takes the place of the filters."""
    out = opened(notebook)
    wide(out, 940)
    facets, drawer = out.locator(".facet-list"), out.get_by_role("button", name="Filters")
    facets.wait_for()
    drawer.wait_for(state="hidden")
    row(out, 0).click()
    drawer.wait_for()
    facets.wait_for(state="hidden")
    drawer.click()
    facets.wait_for()
    out.get_by_role("button", name="Close").click()
    drawer.wait_for(state="hidden")
    facets.wait_for()
    assert [] == notebook.violations(1)


def test_no_column_is_cut_and_what_has_no_room_is_named(notebook: Notebook) -> None:
    """GTIN and name are always there, the table need not be scrolled, and the hidden columns are listed below it."""
    out = opened(notebook)
    every = notebook.ask("[c['title'] for c in explorer.table.grid.view['columns']]")
    scroll, note = out.locator(".product-grid .scroll"), out.locator(".no-room")
    fits = "one => one.scrollWidth <= one.clientWidth"
    wrong = {}
    for width in (1600, 940, 700, 420):
        wide(out, width)
        note.wait_for(state="visible" if width < 1600 else "hidden")
        notebook.page.wait_for_function(fits, arg=scroll.element_handle())
        shown = titles(out)
        hidden = [one for one in every if one not in shown]
        said = [["GTIN", "Name"] == shown[:2], (width < 1600) == bool(hidden) == note.is_visible()]
        if hidden:
            named = note.inner_text().replace("\u2068", "").replace("\u2069", "")
            said.append(f"No room here for {', '.join(hidden)}. Show all columns" == named)
            note.get_by_role("button", name="Show all columns").click()
            said += [every == titles(out), not scroll.evaluate(fits)]
            notebook.page.keyboard.press("Enter")  # the button that takes it back has the focus
            said.append(shown == titles(out))
        # The widest has all columns; the narrowest has the drawer, and the words of those that have no room.
        found = notebook.violations(1) if width in (1600, 420) else []
        if found or not all(said):
            wrong[width] = (said, found, shown)
    assert not wrong


def titles(out: Locator) -> list[str]:
    return out.locator(".product-grid thead th:visible .sort").all_inner_texts()


def test_a_column_that_somebody_adds_is_shown(notebook: Notebook) -> None:
    """It takes the place of a usual one, however little room there is."""
    out = opened(notebook)
    wide(out, 700)
    notebook.ask("explorer.table.column_picker.take((*explorer.table.columns, 'uuid'))")
    out.locator(".product-grid thead .sort", has_text="uuid").wait_for()
    assert "uuid" in titles(out)


def test_everybody_can_use_it(lab: Lab, browser: Browser) -> None:
    """The checker of accessibility finds no violation, in light and in dark."""
    with lab.opened(browser, [JUDGED, "explorer"]) as notebook:
        out = opened(notebook)
        unfold(out)
        value(out, "consumer unit").click()
        row(out, 1).click()
        row(out, 2).get_by_role("checkbox").click()
        out.locator("tr.selected").wait_for()
        out.locator("button.chip", has_text="consumer unit:").wait_for()
        out.locator(".pane h3").first.wait_for()

        assert {} == notebook.violations_of_each_scheme(1)


def test_a_double_click_corrects_the_product_of_its_row(notebook: Notebook) -> None:
    """The first click opens the card, which may lie under the pointer when the second one falls."""
    out = opened(notebook)
    for place in (2, 5):
        product = notebook.ask(f"explorer.table.grid.view['rows'][{place}]['id']")
        row(out, place).locator("td:visible").last.dblclick()
        out.locator(".editor textarea").wait_for()
        assert product == notebook.ask("explorer.exploration.product_id")
        notebook.page.keyboard.press("Escape")
        out.get_by_role("button", name="Close").click()
        notebook.wait_for("explorer.exploration.product_id is None")
    assert [] == notebook.errors


def test_what_suppliers_typed_is_shown_verbatim_and_runs_nothing(lab: Lab, browser: Browser) -> None:
    """Scripts, formulas, directions and 40,000 characters are shown as they are, in every part."""
    with lab.opened(browser, [CANARY, "explorer"]) as notebook:
        out = opened(notebook)
        unfold(out)
        brands = out.locator(".facet", has=notebook.page.locator(".facet-head", has_text="Brand"))
        for place in range(brands.locator(".value").count()):
            brands.locator(".value").nth(place).click()
            notebook.wait_for(f"len(explorer.exploration.conditions.groups.get('brand', ())) == {place + 1}")
        out.locator("button.chip", has_text="Clear all").wait_for()
        out.get_by_label("Search").fill("$5 or <img")
        notebook.page.wait_for_timeout(500)
        notebook.wait_for("explorer.exploration.conditions.words == '$5 or <img'")
        out.locator("button.chip", has_text="words:").click()
        notebook.wait_for("explorer.exploration.conditions.words == ''")

        first, second = notebook.ask("typed[:2]")
        row(out, 6).wait_for()
        shown = out.locator(".product-grid tbody").inner_text()
        assert first in shown
        assert second in shown
        assert "(90 of 40,009 characters)" in shown
        assert "nul ␀" in shown
        assert second in value(out, "costs").inner_text()
        assert 0 == out.locator("mjx-container, .MathJax, img, script").count()
        assert ([], []) == (notebook.outside, notebook.errors)


def test_the_bench_measures_it(lab: Lab, browser: Browser) -> None:
    """Every figure is a time or a size; how long anything takes, no test says."""
    with lab.opened(browser, [SAMPLE, "explorer"]) as notebook:
        found = figures(notebook)
    assert 300 == found["products"]
    assert all(value > 0 for value in found.values())

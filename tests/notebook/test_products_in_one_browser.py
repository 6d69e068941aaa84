"""The table of products as somebody uses it: by mouse, by keyboard alone, in narrow and in wide panels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.columns import columns_of, with_columns
from prodex.notebook.views.table import page_ids

from .one_browser import in_kernel, page_settled, press, shown, type_in, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

FITS = "one => one.scrollWidth <= one.clientWidth"
FOCUSED = "document.activeElement?.dataset.key"


def rows(page: Page) -> Locator:
    return page.locator(".product-table tbody tr[tabindex]")


def row(page: Page, product_id: str) -> Locator:
    return page.locator(f".product-table [data-key='row/{product_id}']")


def titles(page: Page) -> list[str]:
    return page.locator(".product-table thead th:visible .sort bdi").all_inner_texts()


def key(page: Page, *names: str) -> str | None:
    """Press keys one after the other, and return what has the focus then."""
    for name in names:
        page.keyboard.press(name)
    page_settled(page)
    found: str | None = page.evaluate(FOCUSED)
    return found


def test_a_card_opens_beside_its_row_and_follows_the_arrows(sample: prodex.Catalog, browser: Browser) -> None:
    """By keyboard alone: down to the next card, over the end of the page, closed by Escape, the place kept."""
    app = App(Session(sample))
    with shown(app, browser, width=1500) as page:
        ids = page_ids(app.session)
        row(page, ids[3]).click()
        page_settled(page)
        pane = page.locator(".pane")
        table, card = page.locator(".product-table").bounding_box(), pane.bounding_box()
        assert table is not None
        assert card is not None
        assert card["x"] >= table["x"] + table["width"]
        rows(page).evaluate_all("rows => rows.forEach((row) => { row.is_kept = true; })")
        assert f"row/{ids[4]}" == key(page, "ArrowDown")
        assert ids[4] == app.session.product_id
        # The rows are marked, and not drawn anew.
        assert rows(page).evaluate_all("rows => rows.every((row) => row.is_kept)")
        open_ = page.locator("tr.is-open[aria-current][tabindex='0']")
        assert (1, f"row/{ids[4]}") == (open_.count(), open_.get_attribute("data-key"))

        assert f"row/{ids[49]}" == key(page, "End")
        next_ = key(page, "ArrowDown")
        assert "51 to 100 of 400 products" in page.inner_text(".table-head")
        assert next_ == f"row/{app.session.product_id}" == f"row/{page_ids(app.session)[0]}"
        assert next_ == key(page, "Escape")
        assert (None, 0) == (app.session.product_id, pane.count())
        assert "51 to 100 of 400 products" in page.inner_text(".table-head")

        page.locator(".product-table tbody tr").nth(2).click()
        page_settled(page)
        press(page, "✕ Close")
        assert f"row/{page_ids(app.session)[2]}" == page.evaluate(FOCUSED)


def test_arrow_keys_pass_the_ends_of_pages_and_stay_at_those_of_the_table(
    sample: prodex.Catalog, browser: Browser
) -> None:
    """The focus is on the row that a key leads to, on the last page, too; a key that leads nowhere does not move it."""
    app = App(Session(sample.head(60)))
    ids = app.session.catalog.products["product_id"].tolist()
    with shown(app, browser) as page:
        row(page, ids[49]).focus()
        for names, place in (
            (["ArrowDown"], 50),
            (["End"], 59),
            (["ArrowDown"], 59),
            ([" "], 59),
            (["Home", "ArrowUp"], 49),
            (["j"], 50),
            (["PageUp"], 49),
            (["PageDown"], 50),
            (["k"], 49),
        ):
            assert f"row/{ids[place]}" == key(page, *names), names
            assert 1 == page.locator(".product-table tbody tr[tabindex='0']").count()
        assert (ids[59],) == app.session.selected
        key(page, "Home", " ", "ArrowDown", "ArrowDown", "Shift+Space")
        assert (ids[59], *ids[:3]) == app.session.selected
        assert 3 == page.locator("tr.selected[aria-selected='true']").count()
        assert app.session.product_id is None


def test_of_a_long_page_only_rows_in_sight_are_elements(sample: prodex.Catalog, browser: Browser) -> None:
    """Whoever scrolls or presses a key sees the rows there, each with its number; the focus is never lost."""
    app = App(Session(sample))
    app.act("form.set", form="table-settings", field="page_size", value=200)
    with shown(app, browser) as page:
        ids = page_ids(app.session)
        assert 200 == len(ids)
        assert 60 > rows(page).count()
        scroll = page.locator(".product-table .scroll")
        height = scroll.evaluate("one => one.scrollHeight")
        row(page, ids[0]).focus()
        assert f"row/{ids[199]}" == key(page, "End")
        assert 60 > rows(page).count()
        assert "201" == row(page, ids[199]).get_attribute("aria-rowindex")
        assert "401" == page.get_by_role("grid").get_attribute("aria-rowcount")
        in_sight = """row => {
            const [own, around] = [row, row.closest(".scroll")].map((one) => one.getBoundingClientRect());
            return own.top >= around.top && own.bottom <= around.bottom + 1;
        }"""
        assert row(page, ids[199]).evaluate(in_sight)
        for _ in range(30):
            page.keyboard.press("ArrowUp")
        page_settled(page)
        assert f"row/{ids[169]}" == page.evaluate(FOCUSED)
        assert row(page, ids[169]).evaluate(in_sight)
        scroll.evaluate("one => { one.scrollTop = 0; }")
        page.wait_for_selector(f"[data-key='row/{ids[5]}']")
        assert f"row/{ids[169]}" == page.evaluate(FOCUSED)
        assert 60 > rows(page).count()
        # Rows that were never drawn are counted as high as the others: the bar for scrolling does not jump.
        assert abs(height - scroll.evaluate("one => one.scrollHeight")) < 60
        assert f"row/{ids[168]}" == key(page, "ArrowUp")

        in_kernel(lambda: app.act("form.set", form="table-settings", field="density", value=False))
        page_settled(page)
        assert f"row/{ids[199]}" == key(page, "End")
        assert row(page, ids[199]).evaluate(in_sight)
        assert f"row/{page_ids_after(app)[0]}" == key(page, "ArrowDown")
        assert 0 == scroll.evaluate("one => one.scrollTop")


def page_ids_after(app: App) -> list[str]:
    """Return the products of the second page of 200."""
    return list(app.session.catalog.products["product_id"][200:400])


def test_a_box_selects_and_opens_no_card(sample: prodex.Catalog, browser: Browser) -> None:
    """With Shift all rows from the one before; the box is ticked once the kernel has selected the product."""
    app = App(Session(sample))
    with shown(app, browser) as page:
        ids = page_ids(app.session)
        row(page, ids[1]).get_by_role("checkbox").click()
        row(page, ids[3]).get_by_role("checkbox").click(modifiers=["Shift"])
        page_settled(page)
        assert (tuple(ids[1:4]), None) == (app.session.selected, app.session.product_id)
        assert 3 == page.locator(".product-table input:checked").count()
        press(page, "Clear selection")
        assert 0 == page.locator(".product-table input:checked").count()


def test_a_double_click_corrects_the_product_of_its_row(sample: prodex.Catalog, browser: Browser) -> None:
    """The first click opens the card, which may lie under the pointer when the second one falls."""
    app = App(Session(sample))
    with shown(app, browser) as page:
        for place in (2, 5):
            product = page_ids(app.session)[place]
            row(page, product).locator("td:visible").last.dblclick()
            page_settled(page)
            assert product == app.session.product_id
            page.locator(".pane textarea").first.wait_for()
            page.keyboard.press("Escape")
            press(page, "✕ Close")
            assert app.session.product_id is None


def test_what_is_under_a_head_is_pressed_by_mouse_and_by_keyboard(
    sample: prodex.Catalog, browser: Browser
) -> None:
    """A bar, a drag over bars and a value filter; Shift and an arrow extend a range, and the focus stays."""
    app = App(Session(sample))
    with shown(app, browser, width=1800) as page:
        bins = page.get_by_role("group", name="Texts: distribution").locator("button")
        labels = [str(one.get_attribute("aria-label")) for one in bins.all()]
        counts = [int(found[1]) for one in labels if (found := re.search(r"(\d+) products?$", one))]
        assert 400 == sum(counts)
        most = counts.index(max(counts))

        def left() -> int:
            page_settled(page)
            return len(app.session.chosen)

        bins.nth(most).click()
        assert max(counts) == left()
        bins.nth(most).click()
        assert 400 == left()
        bins.nth(most).hover()
        page.mouse.down()
        bins.nth(most + 2).hover()
        page.mouse.up()
        assert sum(counts[most : most + 3]) == left()
        assert 3 == page.locator(".product-table .bin.is-chosen").count()
        bins.nth(most).press("Enter")
        assert max(counts) == left()
        for place in (1, 2):
            page.keyboard.press("Shift+ArrowRight")
            assert sum(counts[most : most + place + 1]) == left()
            assert f"bin/texts_count/{most + place}" == page.evaluate(FOCUSED)

        brand = page.get_by_role("group", name="Brand: most frequent values").locator("button").first
        label = brand.locator("bdi").inner_text()
        brand.focus()
        page.keyboard.press("Enter")
        page_settled(page)
        assert 1 == len(app.session.conditions.groups["brand"])
        page.locator(".frequent .is-chosen[aria-pressed='true']", has_text=label).wait_for()
        page.get_by_role("button", name="Columns and rows").click()
        page.get_by_label("Distributions under the heads").click()
        page_settled(page)
        assert 0 == page.locator(".product-table .bins").count()


def test_no_column_is_cut_and_what_has_no_room_is_named(sample: prodex.Catalog, browser: Browser) -> None:
    """GTIN and name are always there, the table need not be scrolled, and the hidden columns are listed below it."""
    app = App(Session(sample))
    with shown(app, browser, width=1850) as page:
        every = titles(page)
        assert len(every) == len(columns_of(app.session))
        scroll, note = page.locator(".product-table .scroll"), page.locator(".no-room")
        wrong = {}
        for width in (1850, 1100, 900, 600):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(150)
            visible = titles(page)
            hidden = [one for one in every if one not in visible]
            said: list[Any] = [["GTIN", "Name"] == visible[:2], scroll.evaluate(FITS)]
            said += [(width < 1850) == bool(hidden) == note.is_visible()]
            if hidden:
                named = note.inner_text().replace("\u2068", "").replace("\u2069", "")
                said.append(f"No room here for {', '.join(hidden)}. Show all columns" == named)
                note.get_by_role("button", name="Show all columns").click()
                said += [every == titles(page), not scroll.evaluate(FITS)]
                page.keyboard.press("Enter")  # the button that takes it back has the focus
                said.append(visible == titles(page))
            if not all(said):
                wrong[width] = (said, visible)
        assert not wrong
        # A column that somebody adds takes the place of a usual one, however little room there is.
        in_kernel(
            lambda: app.change(lambda session: with_columns(session, (*columns_of(session), "is_nomadic")))
        )
        page_settled(page)
        assert "is_nomadic" in titles(page)


def test_a_card_opens_in_sight_and_at_its_beginning(sample: prodex.Catalog, browser: Browser) -> None:
    """Below the table of a narrow panel the page is scrolled to it; the next card does not begin in the middle."""
    app = App(Session(sample))
    with shown(app, browser, width=560, height=900) as page:
        ids = page_ids(app.session)
        pane = page.locator(".pane")
        row(page, ids[0]).click()
        page_settled(page)
        page.wait_for_timeout(300)
        box = pane.bounding_box()
        assert box is not None
        assert box["y"] < 630  # of 900: its head is in sight
        page.set_viewport_size({"width": 1400, "height": 700})
        pane.evaluate("one => { one.scrollTop = 400; }")
        row(page, ids[1]).click()
        page_settled(page)
        page.wait_for_timeout(200)
        assert 0 == pane.evaluate("one => one.scrollTop")


def test_columns_are_chosen_by_keyboard_and_the_table_is_exported(
    sample: prodex.Catalog, browser: Browser, tmp_path: Path
) -> None:
    """A column is added by its name, moved and removed; the file has what the table showed."""
    app = App(Session(sample))
    with shown(app, browser) as page:
        page.get_by_role("button", name="Columns and rows").click()
        page_settled(page)
        page.get_by_label("Add", exact=True).select_option(label="is_nomadic")
        page_settled(page)
        assert "is_nomadic" == columns_of(app.session)[-1]
        page.get_by_role("button", name="is_nomadic ✕").press("Enter")
        page_settled(page)
        assert "is_nomadic" not in columns_of(app.session)
        assert "button" == page.evaluate("document.activeElement.localName")
        page.locator(".fold-head", has_text="Export").click()
        page_settled(page)
        type_in(page, "to folder", str(tmp_path))
        press(page, "Export 400 products")
        page.get_by_text("Exported 400 products").wait_for()
        written = (tmp_path / "products_as_shown.csv").read_text("utf-8-sig")
        assert ",".join(columns_of(app.session)) == written.splitlines()[0]


@pytest.mark.parametrize(("scheme", "direction"), [("light", "ltr"), ("dark", "rtl")])
def test_everybody_can_use_it(sample: prodex.Catalog, browser: Browser, scheme: str, direction: str) -> None:
    """The checker of accessibility finds no violation, in both themes, and nothing is wider than the page."""
    app = App(Session(sample))
    for name in ("columns", "export"):
        app.act("fold.set", key=name, is_open=True)
    app.act("form.set", form="table-settings", field="page_size", value=100)
    app.act("table.select", product_id=page_ids(app.session)[2])
    with shown(app, browser, scheme=scheme, direction=direction) as page:
        row(page, page_ids(app.session)[1]).click()
        page_settled(page)
        inside = [
            one
            for one in violations(page)
            if any("product-table" in node or "table-head" in node or "tick-cell" in node for node in one[1])
        ]
        assert [] == inside
        page.set_viewport_size({"width": 600, "height": 900})
        page.wait_for_timeout(150)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_suppliers_typed_is_shown_verbatim_and_runs_nothing(browser: Browser) -> None:
    """Markup, formulas, directions and 40,000 characters are shown as they are, and nothing of them runs."""
    texts = ["<img src=x onerror=alert(1)>", "=1+1", "\u202eabc", "x" * 40_000, "$5$ & </script>"]
    names = [[{"expressedIn": {"code": "fra-FR"}, "data": one}] for one in texts]
    records = [
        {"id": n, "gtin": one[:40], "brand": {"code": one}, "namePublicLong": names[n]}
        for n, one in enumerate(texts)
    ]
    with shown(App(Session(prodex.flatten(records))), browser) as page:
        cells = page.locator(".product-table td.name bdi").all_inner_texts()
        assert [texts[0], texts[1], texts[4]] == [cells[0], cells[1], cells[4]]
        assert "…(90 of 40,000 characters)" in cells[3]
        assert 0 == page.locator(".product-table img").count()

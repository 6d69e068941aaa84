"""Tasks of a working day in JupyterLab, with every click and every field typed into counted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from openpyxl import load_workbook

from prodex.sandbox import Sandbox
from prodex_sandbox.faults.kinds import Fault
from prodex_sandbox.sample import shared_products
from tests.pictures import drawn
from tests.pictures.file_server import serving as file_serving
from tests.quality.workbooks import keys
from tests.worklists.answering import ATTRIBUTES, SENTENCES, good_text

from .lab import Lab, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

SAMPLE = """
    import prodex as px
    from prodex_sandbox.sample import shared_products
    catalog = px.flatten(one.record for one in shared_products(2000))
"""
SERVED = """
    import prodex as px
    service = px.connect("{url}", client_id="{client_id}", client_secret="{client_secret}")
    catalog = px.load_products(service, name="{name}", progress=False)
    panel = px.explore(catalog, service=service)
"""
SAVED = """
    import copy
    from pathlib import Path
    from uuid import uuid4
    import prodex as px
    from prodex_sandbox.sample import AS_OF, shared_products
    records = [product.record for product in shared_products(120)]
    later, name = copy.deepcopy(records), f"week-{uuid4()}"
    for record in later[:10]:
        record["namePublicLong"] = None
    for day, some in ((12, records), (16, records), (18, records), (20, later)):
        folder = px.flatten(some).save(name).folder
        folder.rename(folder.parent / f"2026-11-{day}T050102.000000Z")
    catalog = px.open_snapshot(name)
"""

PICTURED = """
    import sys; sys.path.insert(0, {root!r})
    import prodex as px
    from prodex.notebook.views.gallery_pictures import CONSENT
    from tests.pictures import drawn
    CONSENT.is_given = False  # of whoever pressed before in this kernel
    content = drawn.picture(300, 200, colour="olive")
    def product(n):
        kind = dict(code=f"K{{n % 3}}", label=("Jam", "Tea", "Rice")[n % 3])
        return drawn.product(n, drawn.told({url!r} + "/a.jpg", content, isPackshot=True), kind=kind)
    catalog = drawn.catalog({url!r}, [product(n) for n in range(18)])
"""


@pytest.fixture
def own_exchange() -> Iterator[Sandbox]:
    """Serve products that the test may change: `sample_exchange` is shared by all."""
    with Sandbox(products=shared_products(600)) as sandbox:
        yield sandbox


def served(sandbox: Sandbox, name: str) -> str:
    """Return the cell that loads everything from a sandbox that runs beside the tests, and explores it."""
    key = sandbox.credentials[0]
    return SERVED.format(
        url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"], name=name
    )


def own_folder(lab: Lab) -> Path:
    """Return a new folder to work in: other tests export files of the same names to the folder of all."""
    folder = lab.folder / f"task-{uuid4()}"
    folder.mkdir()
    return folder


@dataclass
class Hand:
    """Somebody who works: every click and every field is counted, and what is not in sight cannot be clicked.

    Attributes
    ----------
    notebook
        Where the work is done.
    clicks
        How often something was clicked.
    fields
        How many fields something was typed into.
    """

    notebook: Notebook
    clicks: int = 0
    fields: int = 0

    def click(self, target: Locator) -> None:
        """Click something that is in sight."""
        self._see(target)
        target.click()
        self.clicks += 1
        self._rest()

    def choose(self, target: Locator, option: str) -> None:
        """Choose an option of a list: one click opens it, and one takes the option."""
        self._see(target)
        target.select_option(option)
        self.clicks += 2
        self._rest()

    def type(self, target: Locator, text: str) -> None:
        """Type into a field that is in sight."""
        self._see(target)
        target.fill(text)
        self.fields += 1
        self._rest()

    def _see(self, target: Locator) -> None:
        """Refuse what somebody would first have to scroll to: Playwright scrolls by itself, and people notice."""
        target.wait_for()
        # People wait until a page has stopped moving, too; they do not scroll.
        for _ in range(50):
            if target.evaluate(
                """one => {
                    const box = one.getBoundingClientRect();
                    const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                    return hit !== null && (one.contains(hit) || hit.contains(one));
                }"""
            ):
                return
            self.notebook.page.wait_for_timeout(100)
        raise AssertionError(f"{target} is not in sight")

    def _rest(self) -> None:
        self.notebook.page.wait_for_timeout(100)
        self.notebook.wait_until_idle()
        self.notebook.page.locator(".prodex[data-under-way='0']").first.wait_for()


def rows(out: Locator) -> Locator:
    """Return the rows of the table."""
    return out.locator(".product-table tbody tr[tabindex]")


def facet(out: Locator, title: str) -> Locator:
    """Return the part of the list of facets with a heading."""
    return out.locator(".facet", has=out.page.locator(".facet-head", has_text=title))


def value(out: Locator, title: str, label: str) -> Locator:
    """Return a value of a facet."""
    return facet(out, title).locator("button.value", has_text=label).first


def test_french_products_of_a_supplier_without_ingredients(lab: Lab, browser: Browser) -> None:
    """Three clicks, with nothing scrolled; on a narrow page one more opens the filters."""
    with lab.opened(browser, [SAMPLE, "panel = px.explore(catalog)\npanel"]) as notebook:
        notebook.run(0)
        asked = (
            "catalog.where(target_market=250, owner='Hogar Limpiaferra SL', is_consumer_unit=[True, None])"
        )
        texts = "texts.query('attribute == \"composition\"').product_id.nunique()"
        expected = notebook.ask(f"(lambda found: len(found) - found.{texts})({asked})")
        notebook.page.set_viewport_size({"width": 1400, "height": 900})
        out = notebook.run(1)
        for width, clicks in ((1400, 3), (900, 4)):
            notebook.page.set_viewport_size({"width": width, "height": 900})
            rows(out).first.wait_for()
            # Somebody has scrolled to the panel; within it, nothing is.
            out.evaluate("one => one.scrollIntoView()")
            hand = Hand(notebook)
            if width < 1080:
                hand.click(out.get_by_role("button", name="Filters", exact=True))
            for title, label in (
                ("Market", "France"),
                ("Missing", "ingredients"),
                ("Owner", "Hogar Limpiaferra SL"),
            ):
                hand.click(value(out, title, label))
            assert notebook.wait_for(f"len(panel.catalog) == {expected} and {expected}")
            assert (clicks, 0) == (hand.clicks, hand.fields), width
            out.get_by_role("button", name="Clear all", exact=True).click()
            notebook.wait_for("not panel.selection")
            notebook.wait_until_idle()
        assert ([], []) == (notebook.outside, notebook.errors)


def test_the_same_of_any_supplier(lab: Lab, browser: Browser) -> None:
    """A supplier that is not among the first is found by part of its name, in the same three clicks."""
    with lab.opened(browser, [SAMPLE, "panel = px.explore(catalog)\npanel"]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        rows(out).first.wait_for()
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        hand.click(value(out, "Market", "France"))
        hand.click(value(out, "Missing", "ingredients"))
        hand.type(out.get_by_label("Find in Owner"), "valdoncel")
        hand.click(value(out, "Owner", "Lácteos Valdoncel"))
        notebook.wait_for("['Lácteos Valdoncel'] == panel.catalog.products.owner.unique().tolist()[:1]")
        assert (3, 1) == (hand.clicks, hand.fields)


def test_load_drinks_of_a_market_that_changed_last_month_and_cancel(
    lab: Lab, browser: Browser, sample_exchange: Sandbox
) -> None:
    """Five clicks and one field until it loads, and one more to cancel it."""
    with lab.opened(browser, [served(sample_exchange, "drinks"), "panel"]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        hand.click(out.get_by_role("button", name="Load", exact=True))
        # The catalogue's own markets come first once they are known; a list that changes is not chosen from.
        out.get_by_label("Target market").locator("option").nth(1).filter(has_text="France (250)").wait_for(
            state="attached"
        )
        hand.choose(out.get_by_label("Target market"), "France (250)")
        hand.click(out.get_by_role("button", name="last month", exact=True))
        hand.type(out.get_by_label("Word 1", exact=True), "jus")
        load = out.get_by_role("button", name="Load products")
        out.get_by_text(re.compile(r"^[\d,]+ products? match")).wait_for()
        # Slow until it is cancelled: how long it takes to press the button depends on the machine.
        sample_exchange.order(Fault("latency", at=range(1, 10**6), seconds=2))
        try:
            hand.click(load)
            hand.click(out.get_by_role("button", name="Cancel", exact=True))
            out.get_by_text("Cancelled").wait_for()
        finally:
            sample_exchange.clear_faults()
        assert 600 == notebook.ask("len(panel.app.session.catalog)")
        query = notebook.ask(
            "(lambda query: [query.target_market, query.search[0][0], query.updated_at_from.day])"
            "(panel.query)"
        )
        assert [250, "jus", 1] == query
        assert (6, 1) == (hand.clicks, hand.fields)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_what_has_changed_since_monday(lab: Lab, browser: Browser) -> None:
    """Two clicks: the section, and the snapshot of Monday, with which the newest one is compared at once."""
    with lab.opened(browser, [SAVED, "panel = px.explore(catalog)\npanel"]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        hand.click(out.get_by_role("button", name="Snapshots", exact=True))
        hand.click(out.get_by_role("button", name="Since Monday"))
        out.get_by_text("changed values").first.wait_for()
        assert 10 == notebook.ask("panel.difference.changes.product_id.nunique()")
        assert (2, 0) == (hand.clicks, hand.fields)
        assert ([], []) == (notebook.outside, notebook.errors)


def test_the_worklist_of_a_supplier_out_and_back(lab: Lab, browser: Browser, own_exchange: Sandbox) -> None:
    """Three clicks write the worklist of a supplier; a folder and two clicks read its answers and send them."""
    folder = own_folder(lab)
    audited = f"""{served(own_exchange, "asked")}
    import os; os.chdir({str(folder)!r})
    from prodex_sandbox.sample import AS_OF
    audit = px.audit(catalog, "online-listing", progress=False, now=AS_OF)
    panel = px.explore(catalog, audit=audit, service=service)
    """
    with lab.opened(browser, [audited, "panel"]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        hand.click(facet(out, "Owner").locator("button.value").first)
        hand.click(out.get_by_role("button", name="Quality", exact=True))
        export = out.get_by_role("button", name="Export worklists")
        export.scroll_into_view_if_needed()
        hand.click(export)
        out.get_by_text("Exported 1 worklist").wait_for()
        assert (3, 0) == (hand.clicks, hand.fields)

        (made,) = list(folder.glob("worklists-*/*.xlsx"))
        waiting = "catalog.products.query('has_pending_update')['product_id'].tolist()"
        answer_two(made, set(notebook.ask(waiting)))
        field = out.get_by_label("or folder")
        field.scroll_into_view_if_needed()
        hand.type(field, str(made.parent))
        field.press("Enter")
        out.get_by_text("2 answers: 2 can be sent").wait_for()
        assert (3, 1) == (hand.clicks, hand.fields)

        for name in ("Send 2 corrections", "Yes, send 2 corrections of 2 products"):
            button = out.get_by_role("button", name=name, exact=True)
            button.scroll_into_view_if_needed()
            hand.click(button)
        out.get_by_text("SUCCESS").first.wait_for()
        assert (5, 1) == (hand.clicks, hand.fields)
        assert ([], []) == (notebook.outside, notebook.errors)


def answer_two(worklist: Path, waiting: set[str]) -> None:
    """Fill in two texts that a worklist asks for, of products without a pending update, as a supplier would."""
    # Its words are those of the language of the supplier; a hidden sheet says which columns they name.
    layout, book = keys(worklist), load_workbook(worklist)
    sheet = book[layout["sheets"][0]]
    columns = {name: number for number, name in enumerate(layout["columns"], 1)}
    left, answered = 2, waiting
    for row in range(2, sheet.max_row + 1):
        product_id, _, attribute, language, *_ = json.loads(sheet.cell(row, columns["row_key"]).value)
        is_asked = (
            attribute in ATTRIBUTES and language in SENTENCES and sheet.cell(row, columns["gtin"]).value
        )
        if left and is_asked and product_id not in answered:
            sheet.cell(row, columns["new_value"], good_text(attribute, language, left))
            left, answered = left - 1, answered | {product_id}
    book.save(worklist)


def test_a_contact_sheet_of_a_kind(lab: Lab, browser: Browser) -> None:
    """Four clicks: the kinds, one of them, the gallery, and the file."""
    with file_serving() as server:
        server.serve("/a.jpg", drawn.picture(300, 200, colour="olive"))
        folder = own_folder(lab)
        pictured = PICTURED.format(root=str(Path(__file__).parents[2]), url=server.base_url)
        pictured += f"    import os; os.chdir({str(folder)!r})"
        with lab.opened(browser, [pictured, "panel = px.explore(catalog)\npanel"]) as notebook:
            notebook.run(0)
            out = notebook.run(1)
            out.evaluate("one => one.scrollIntoView()")
            hand = Hand(notebook)
            hand.click(out.locator("button.facet-head", has_text="Kind"))
            hand.click(value(out, "Kind", "Jam"))
            hand.click(out.get_by_role("button", name="Gallery", exact=True))
            out.locator("li.tile .frame.is-shown").nth(5).wait_for()
            hand.click(out.get_by_role("button", name="Export contact sheet"))
            out.get_by_text("6 of 6 with a picture").wait_for()
            assert (4, 0) == (hand.clicks, hand.fields)
            assert 6 == (folder / "contact-sheet.html").read_text().count("data:image/")
            assert ([], []) == (notebook.outside, notebook.errors)


def test_three_names_are_corrected(lab: Lab, browser: Browser, own_exchange: Sandbox) -> None:
    """For each a click, "e" and the new name with Return; then the section, Send, and the confirmation."""
    with lab.opened(browser, [served(own_exchange, "names"), "panel"]) as notebook:
        notebook.run(0)
        out = notebook.run(1)
        out.evaluate("one => one.scrollIntoView()")
        hand = Hand(notebook)
        for place in range(3):
            hand.click(rows(out).nth(place).locator("td.name"))
            out.locator(f".product-table tbody tr:nth-child({place + 1}).is-open:focus").wait_for()
            notebook.page.keyboard.press("e")
            area = out.locator(".editor textarea")
            hand.type(area, f"A better name {place}")
            area.press("Enter")
            notebook.wait_for(f"len(panel.corrections) == {place + 1}")
            # As somebody does who sees the row marked again.
            notebook.page.wait_for_function("document.activeElement.closest('tbody tr.is-open') !== null")
            notebook.wait_until_idle()
        hand.click(out.get_by_role("button", name="Corrections (3)"))
        hand.click(out.get_by_role("button", name="Send 3 corrections", exact=True))
        hand.click(out.get_by_role("button", name="Yes, send 3 corrections of 3 products"))
        notebook.wait_for("len(panel.corrections) == 0", 60)
        assert (6, 3) == (hand.clicks, hand.fields)
        assert ([], []) == (notebook.outside, notebook.errors)

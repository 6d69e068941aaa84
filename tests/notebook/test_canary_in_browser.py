"""A product whose every text would do harm goes through every panel: nothing runs, nothing leaves, all is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.notebook import canary
from tests.quality.hostile import LONG

from .lab import Lab, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser

#: Products are saved twice, with a change between, so that there is something to compare.
_BEGIN = f"""
    import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})
    import prodex as px
    from prodex.sandbox import Sandbox
    from tests.notebook import canary
    records = canary.records()
    px.flatten(records[1:]).save("canary")
    catalog = px.flatten(records).save("canary")
    audit = px.audit(catalog, "online-listing", progress=False)
    sandbox = Sandbox(records).__enter__()
    keys = {{name: sandbox.credentials[0][name] for name in ("client_id", "client_secret")}}
    service = px.connect(base_url=sandbox.base_url, **keys)
"""
_LOOK = "looked = px.explore(catalog, audit=audit, service=service)\nlooked"
_SHEET = "px.gallery(catalog, packshots_only=False)"

#: What a user types, who has copied it from a supplier.
_TYPED = "<img src=x onerror=alert(1)> $a$ =1+1 \u202e"

#: What only markup that was taken for markup would have made.
_MADE = (
    ".prodex :is(script, svg:not(.icon), iframe, base, object, embed, link, form, mjx-container, .MathJax)"
)


def seen(notebook: Notebook, cell: int = 1) -> str:
    """Return all that a cell shows as text, folded or not; texts of controls too."""
    shown: str = notebook.cells.nth(cell).evaluate(
        "one => { one.querySelectorAll('details').forEach(d => { d.open = true; });"
        " return one.textContent + ' ' + [...one.querySelectorAll('input, textarea')].map(i => i.value).join(' '); }"
    )
    return shown


def texts(record: Any) -> list[str]:
    """Return the texts of a product's names and descriptions."""
    return [
        item["data"] for name in ("namePublicLong", "description", "composition") for item in record[name]
    ]


def test_nothing_of_a_supplier_runs_anywhere(lab: Lab, browser: Browser) -> None:
    """Every panel shows hostile texts verbatim: no script runs, nothing is loaded, no formula is typeset."""
    records = canary.records()
    with lab.opened(browser, [_BEGIN, _LOOK, _SHEET]) as notebook:
        page = notebook.page
        title = page.title()
        notebook.run(0)
        notebook.run(1)

        # The explorer: facets with hostile labels, a search for markup, a row whose card opens.
        page.wait_for_selector(".prodex .product-grid tbody td")
        for head in page.locator(".prodex .facet-head").all():
            if "▸" in head.inner_text():
                head.click()
        page.get_by_role("textbox", name="Search").fill("<img src=x")
        notebook.wait_for("len(looked.catalog) < 3 or looked.exploration.conditions.words")
        page.get_by_role("textbox", name="Search").fill("")
        notebook.wait_for("looked.exploration.conditions.words == ''")
        page.locator(".prodex .product-grid tbody tr").first.click()
        opened = notebook.wait_for("looked.exploration.product_id")
        page.wait_for_selector(".prodex.card h4")
        shown = seen(notebook)
        record = next(one for one in records if str(one["id"]) == opened)
        assert [] == [text for text in texts(record) if text not in shown]
        assert LONG in shown  # folded, and whole

        # Pictures: what suppliers call an address is asked for by nobody but Python, and refused or not found there.
        show = page.get_by_role("button", name="Show pictures")
        if show.count():
            show.first.click()
            page.wait_for_timeout(1000)

        # The columns of the table and their heads, the gallery, and facets that are added by hostile names.
        page.get_by_label("Filter by any attribute: type its name").fill("net")
        page.locator(".facets .offers button").first.click()
        notebook.wait_until_idle()
        page.get_by_role("button", name="Gallery", exact=True).click()
        page.locator("li.tile").first.wait_for()
        notebook.wait_until_idle()
        seen(notebook)
        page.get_by_role("button", name="Table", exact=True).click()

        # A correction: its old text is hostile, its new one too, and both are shown before they are sent.
        page.locator(".prodex .product-grid tbody tr").first.locator("td.name").click()
        page.keyboard.press("e")
        page.locator(".editor textarea").fill(_TYPED)
        page.locator(".editor textarea").press("Enter")
        notebook.wait_for("len(looked.exploration.corrections) == 1")
        page.get_by_role("button", name="Corrections (1)", exact=True).click()
        # Checks find markup in it, so it needs confirmation first.
        page.get_by_role("button", name="It is meant as it is", exact=False).first.click()
        page.get_by_role("button", name="Send 1 correction", exact=True).wait_for()
        notebook.wait_until_idle()
        assert _TYPED in seen(notebook)

        # A view with such a name, and the grid of the attributes by each group.
        page.get_by_role("button", name="Products", exact=True).click()
        page.get_by_role("button", name="▸ Views").locator("visible=true").click()
        page.locator(".selection").get_by_label("Name", exact=True).locator("visible=true").fill(_TYPED[:60])
        page.get_by_role("button", name="Save view", exact=True).locator("visible=true").click()
        page.get_by_role("button", name="Coverage", exact=True).click()
        for by in ("languages", "kinds", "owners", "brands", "markets"):
            page.get_by_role("button", name=by, exact=True).locator("visible=true").click()
            page.locator(".cell-grid:visible button.cell").first.wait_for()
            notebook.wait_until_idle()
            seen(notebook)

        # The audit: cells, gaps and rules with hostile labels and reasons.
        page.get_by_role("button", name="Quality", exact=True).click()
        page.get_by_role("grid", name="Scores by group and block").wait_for()
        # Its buttons have the names of those of the coverage, which go only with their section.
        page.locator(".cell-grid:visible").nth(1).wait_for(state="detached")
        for by in ("owners", "brands", "languages", "markets", "kinds"):
            page.get_by_role("button", name=by, exact=True).locator("visible=true").click()
        page.wait_for_timeout(500)
        notebook.wait_until_idle()
        seen(notebook)

        # Snapshots, old beside new; and the query, with hostile words of the user's own.
        page.get_by_role("button", name="Snapshots", exact=True).click()
        page.get_by_role("button", name="Compare", exact=True).wait_for()
        page.get_by_role("button", name="Compare", exact=True).click()
        page.get_by_text("changed values").locator("visible=true").first.wait_for()
        notebook.wait_until_idle()
        page.get_by_role("button", name="Load", exact=True).click()
        page.get_by_label("Word 1", exact=True).fill("<img src=x onerror=alert(1)> $5 or $6")
        page.wait_for_timeout(1500)
        for fold in ("Python code", "Request as JSON"):
            page.get_by_role("button", name=fold).click()
        page.wait_for_timeout(500)
        assert "<img src=x onerror=alert(1)> $5 or $6" in seen(notebook)

        notebook.run(2)
        page.wait_for_timeout(1000)

        assert [] == notebook.outside
        assert [] == notebook.errors
        assert title == page.title()
        assert 0 == page.locator(_MADE).count()
        remote = "all => all.map(one => one.src).filter(src => !/^(data|blob):/.test(src))"
        assert [] == page.eval_on_selector_all(".jp-OutputArea img", remote)

"""A panel as a whole: what is above its sections, what they share, and what they say of one and of none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING

import pytest
from ipywidgets import Widget

import prodex
import prodex.notebook
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.widget import explore
from prodex.selection import Selection
from prodex_sandbox.sample import shared_products
from tests.notebook.one_browser import in_kernel, page_settled, shown, violations
from tests.notebook.pressing import buttons, press, said, settle, words_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

RECORDS = [{"id": number, "gtin": f"{number:014}"} for number in range(1, 6)]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep snapshots in a folder of the test, and work there."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def catalog() -> prodex.Catalog:
    """Hold 60 products of the sample."""
    return prodex.flatten(one.record for one in shared_products(60))


def opened(app: App, section: str) -> str:
    """Open a section, and return its words."""
    app.act("section.open", name=section)
    settle(app)
    return said(app)


def test_what_is_filtered_is_a_catalogue(catalog: prodex.Catalog) -> None:
    """The catalogue has the filtered products; without filters it is the catalogue itself."""
    looked = explore(catalog)
    assert looked.catalog is catalog
    brand = catalog.products["brand_code"].dropna()[0]
    looked.selection = Selection().choosing("brand", (brand,))
    by_hand = catalog.where(brand_code=brand)
    assert by_hand.products["product_id"].tolist() == looked.catalog.products["product_id"].tolist()


def test_only_the_section_that_is_looked_at_is_made(catalog: prodex.Catalog) -> None:
    """Without a service there is no load, and a card and a gallery are no sections of their own."""
    app = App(Session(catalog))
    names = ["products", "quality", "coverage", "corrections", "snapshots"]
    assert names == [one.name for one in app.sections]
    head = app.view()["head"]
    assert ["Products", "Quality", "Coverage", "Corrections", "Snapshots"] == [
        one["title"] for one in head[0]["options"]
    ]
    assert "Compare snapshots" not in said(app)


def test_the_catalogue_that_is_shown_has_its_name_above_all_sections(catalog: prodex.Catalog) -> None:
    """Also when a load has replaced it, and when it is not whole."""
    app = App(Session(catalog))
    assert f"{len(catalog):,} products, in memory" in words_in(app.view()["head"])
    saved = prodex.flatten([{"id": 7}]).save("one-of-them")
    app.change(lambda session: session.looking_at(saved))
    above = words_in(app.view()["head"])
    assert saved.folder is not None
    assert re.search(rf"one-of-them, {saved.folder.name[:10]} \d\d:\d\d:\d\d \(1 product\)", above)
    some = catalog.where(brand_code=catalog.products["brand_code"].dropna()[0])
    assert "a selection" in words_in(App(Session(some)).view()["head"])


@pytest.mark.slow
def test_the_catalogue_before_is_one_press_away(catalog: prodex.Catalog) -> None:
    """A load replaces what all sections show: the catalogue before comes back by a press, and with its audit."""
    audit = prodex.audit(catalog, "core", progress=False)
    app = App(Session(catalog, audit))
    settle(app)
    assert [] == buttons(app, "Back to ")
    loaded = prodex.flatten([{"id": 7}]).save("one-of-them")
    app.change(lambda session: session.looking_at(loaded))
    app.change(lambda session: session.filtered(Selection().searching("gone with the catalogue")))
    settle(app)
    press(app, f"Back to {len(catalog):,} products")
    session = app.session
    assert (session.catalog, session.audit, Selection()) == (catalog, audit, session.conditions)
    press(app, "Back to one-of-them, ")
    assert (loaded, None) == (app.session.catalog, app.session.audit)


def test_a_row_opens_its_card_again_after_another_catalogue() -> None:
    """A row opens its card, also after Python has opened another card."""
    looked = explore(prodex.flatten(RECORDS))
    app = looked.app
    app.act("table.open", product_id="1")
    assert "1" == looked.product_id
    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS)))
    assert looked.product_id is None
    app.act("table.open", product_id="1")
    looked.product_id = "4"
    assert "4" == app.session.product_id
    app.act("table.open", product_id="1")
    assert "1" == looked.product_id


def test_one_is_one() -> None:
    """Every count has its noun, in the singular for one."""
    catalog = prodex.flatten(RECORDS[:1]).save("shop")
    app = App(Session(catalog))
    words = opened(app, "snapshots")
    assert "1 snapshot " in words
    assert "(1 product)" in words
    assert "1 product in the only snapshot" in words
    opened(app, "products")
    app.act("fold.set", key="export", is_open=True)
    settle(app)
    press(app, "Export")
    assert "Exported 1 product to" in said(app)
    assert Path("export").exists()


def _held(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple | set | frozenset) else ()


def test_no_module_keeps_a_widget() -> None:
    """Whoever closes all widgets of a session (`Widget.close_all()`) can make every panel again."""
    packages = walk_packages(prodex.notebook.__path__, "prodex.notebook.")
    kept = [
        f"{module.name}.{name}"
        for module in packages
        for name, value in vars(import_module(module.name)).items()
        for one in (*_held(value), value)
        if isinstance(one, Widget)
    ]
    assert [] == kept


@pytest.mark.slow
def test_the_way_back_moves_nothing(catalog: prodex.Catalog, browser: Browser) -> None:
    """Of 1,400 pixels JupyterLab leaves 940: the checks fit in them, and a button in the head moves no section."""
    audit = prodex.audit(catalog.save("explored"), "online-listing", progress=False)
    app = App(Session(audit.catalog, audit, section="quality"))
    with shown(app, browser, width=940) as page:
        fits = (
            "one => one.getBoundingClientRect().right <= one.closest('.prodex').getBoundingClientRect().right"
        )
        assert all(table.evaluate(fits) for table in page.locator("table.rows").all())
        before = page.locator(".page-head").bounding_box()
        other = prodex.flatten([{"id": 7}]).save("products-84d119c3")
        in_kernel(lambda: app.change(lambda session: session.looking_at(other)))
        page_settled(page)
        page.get_by_text("These products have not been audited.").wait_for()
        back = page.get_by_role("button", name=re.compile("^Back to explored, "))
        assert before == page.locator(".page-head").bounding_box()
        assert [] == violations(page)
        back.focus()
        page.keyboard.press("Enter")
        page_settled(page)
        assert (audit.catalog, audit) == (app.session.catalog, app.session.audit)

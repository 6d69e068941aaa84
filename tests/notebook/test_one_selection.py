"""One selection for all sections: it is refined where one is, kept by an audit, and comes back as a saved view."""

from __future__ import annotations

from pathlib import Path

import pytest

import prodex
from prodex.exploration.saved_views import saved_views
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.selection import Selection
from tests.notebook.pressing import press, said, settle, type_in

RECORDS = [
    {"id": number, "gtin": f"{number:014}", "brand": {"code": "ACME" if number % 2 else "OTHER"}}
    for number in range(1, 7)
]
PROFILE = {"checks": {"has_name": {}, "valid_gtin": {}}}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep views in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))


@pytest.fixture
def app() -> App:
    """Explore audited products."""
    catalog = prodex.flatten(RECORDS)
    return App(Session(catalog, prodex.audit(catalog, PROFILE, progress=False)))


def where(app: App) -> tuple[str, set[str]]:
    """Return the open section, and the facets with conditions."""
    return app.session.section, set(app.session.conditions.groups)


def opened(app: App, section: str) -> None:
    """Open a section."""
    app.act("section.open", name=section)
    settle(app)


@pytest.mark.slow
def test_a_selection_is_refined_where_one_is(app: App) -> None:
    """Chips, back and forward, and the other half leave the section open; a figure opens the products behind it."""
    opened(app, "quality")
    press(app, "Grade E")
    assert ("products", {"grade"}) == where(app)
    opened(app, "quality")
    brand = app.session.conditions.toggled("brand", "ACME")
    app.change(lambda session: session.filtered(brand))
    press(app, "← Back")
    assert ("quality", {"grade"}) == where(app)
    press(app, "Forward →")
    assert ("quality", brand) == (app.session.section, app.session.conditions)
    press(app, "grade:")
    assert ("quality", {"brand"}) == where(app)
    assert "3 of 6 products" in said(app)
    press(app, "Or …")
    assert ("quality", Selection()) == (app.session.section, app.session.conditions)
    press(app, "Take back")
    assert ("quality", {"brand"}) == where(app)
    press(app, "All others")
    assert ("quality", {"brand"}) == (app.session.section, set(app.session.conditions.excluded))


@pytest.mark.slow
def test_a_selection_goes_through_all_sections_and_comes_back_in_another_kernel() -> None:
    """Filtered, audited, narrowed by a check, saved; without the audit, what it needs is left out and said."""
    app = App(Session(prodex.flatten(RECORDS)))
    settle(app)
    app.act("facets.toggle", facet="brand", code="ACME")
    opened(app, "quality")
    press(app, "Audit")
    assert "3 of 6 products" in said(app)
    press(app, "Show 3 products")
    assert ("products", {"brand"}) == where(app)
    both = app.session.conditions
    assert 1 == len(both.failing)
    press(app, "← Back")
    assert () == app.session.conditions.failing
    press(app, "Forward →")
    assert both == app.session.conditions

    app.act("fold.set", key="views", is_open=True)
    type_in(app, "views", name="What to do first")
    press(app, "Save view")
    assert ["What to do first"] == [one.name for one in saved_views()]

    other = App(Session(prodex.flatten(RECORDS)))
    settle(other)
    other.act("views.open", value="What to do first")
    settle(other)
    assert (both.groups, ()) == (other.session.conditions.groups, other.session.conditions.failing)
    assert "There is no audit here, so this was left out" in said(other)

"""One selection for all panels: it is refined where one is, kept by an audit, and comes back as a saved view."""

from __future__ import annotations

from pathlib import Path

import pytest
from prodex.notebook.explore import Explore, explore
from prodex.notebook.shared.selection_bar import SelectionBar

import prodex
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.saved_views import SavedView, applicable, save_view
from prodex.selection import Range, Selection
from tests.quality.reading_html import parsed

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
def explored() -> Explore:
    """Explore audited products."""
    catalog = prodex.flatten(RECORDS)
    return explore(catalog, audit=prodex.audit(catalog, PROFILE, progress=False))


def bar_of(explored: Explore) -> SelectionBar:
    """Return the bar of the section Quality, which is opened."""
    explored.section = "Quality"
    (bar,) = (
        one
        for one in explored.places["Quality"].children[0]._results.children
        if isinstance(one, SelectionBar)
    )
    return bar


@pytest.mark.slow
def test_a_selection_is_refined_where_one_is(explored: Explore) -> None:
    """Chips, back and forward, and views leave the section open; a figure opens the products behind it."""
    bar, state = bar_of(explored), explored.exploration
    panel = explored.places["Quality"].children[0]
    panel.grades.buttons[-2].click()
    assert ("Products", 1) == (explored.section, len(state.conditions.groups))
    bar_of(explored)
    brand = state.conditions.toggled("brand", "ACME")
    with state.refining:
        state.conditions = brand
    bar.back.click()
    assert ("Quality", {"grade"}) == (explored.section, set(state.conditions.groups))
    bar.forward.click()
    assert ("Quality", brand) == (explored.section, state.conditions)
    bar.chips.remove(0)
    assert ("Quality", {"brand"}) == (explored.section, set(state.conditions.groups))
    assert "3 of 6 products" in panel._headline.value
    bar.alternative.click()
    assert ("Quality", Selection()) == (explored.section, state.conditions)
    bar.alternative.click()
    assert ("Quality", {"brand"}) == (explored.section, set(state.conditions.groups))
    bar.others.click()
    assert ("Quality", {"brand"}) == (explored.section, set(state.conditions.excluded))


@pytest.mark.slow
def test_figures_that_nobody_sees_follow_when_they_are_seen(explored: Explore) -> None:
    """A click among the products does not compute them; opening the section does."""
    bar_of(explored)
    panel = explored.places["Quality"].children[0]
    before = panel._headline.value
    explored.section = "Products"
    explored.exploration.conditions = Selection().toggled("brand", "ACME")
    assert before == panel._headline.value
    explored.section = "Quality"
    assert "3 of 6 products" in panel._headline.value
    assert ("1", "3", "5") == panel.failing


@pytest.mark.slow
def test_an_audit_keeps_the_checks_that_it_has(explored: Explore) -> None:
    """After another audit the selected checks stay, unless it does not have them; the section stays open."""
    state = explored.exploration
    bar_of(explored)
    panel = explored.places["Quality"].children[0]
    with state.refining:
        state.conditions = Selection().toggled("brand", "ACME").failing_any("No name", ("has_name",))
    panel._audited(prodex.audit(state.catalog, PROFILE, progress=False))
    assert (1, "Quality") == (len(state.conditions.failing), explored.section)
    panel._audited(prodex.audit(state.catalog, {"checks": {"valid_gtin": {}}}, progress=False))
    assert (0, {"brand": ("ACME",)}) == (len(state.conditions.failing), state.conditions.groups)
    assert "Quality" == explored.section


def test_a_view_of_another_catalogue_says_what_is_not_here(explored: Explore) -> None:
    """What cannot be answered is left out, what nothing meets is kept, and both are said until something changes."""
    asked = Selection().toggled("brand", "NOBODY").toggled("grade", "A").failing_any("No name", ("has_name",))
    save_view(SavedView("elsewhere", asked.within("score", Range(0.1, None))))
    other = explore(prodex.flatten(RECORDS))
    bar = other._explorer.bar
    bar._saved.options = [*bar._saved.options, ("elsewhere", "elsewhere")]
    bar._saved.value = "elsewhere"
    said = parsed(bar._view_note.value).words
    assert "There is no audit here, so this was left out:" in said
    assert all(one in said for one in ("grade:", "No name", "score: from 10.0 %"))
    assert "No product here meets: brand:" in said
    assert {"brand": ("NOBODY",)} == other.exploration.conditions.groups
    assert "" == other._explorer.message

    bar.chips.remove(0)
    assert ("", "") == (bar._view_note.value, bar._saved.value)
    bar._saved.value = "elsewhere"  # it can be opened again
    assert {"brand": ("NOBODY",)} == other.exploration.conditions.groups


def test_a_condition_that_nothing_can_answer_is_quoted() -> None:
    """A view of another version may name facets and columns that do not exist; the others are kept."""
    here = ProductFilter(prodex.flatten(RECORDS))
    asked = Selection().toggled("weird", "x").within("colour", Range(1, 2)).excluding("brand", "ACME")
    kept, said = applicable(asked.searching("pain"), here)
    assert Selection().excluding("brand", "ACME").searching("pain") == kept
    assert "There is no facet 'weird'" in said
    assert "There is no range of 'colour'" in said

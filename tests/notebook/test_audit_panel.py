"""The audit panel without a browser: what it says, what a click does to the shared state, what it writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import ipywidgets as w
import pytest

import prodex
from prodex.errors import InputError
from prodex.notebook.audit.panel import AuditPanel
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.notebook.shared.panel import is_busy
from prodex.notebook.shared.state import Exploration
from prodex.selection import Selection
from prodex_sandbox.sample import AS_OF
from tests.quality import hostile

BROKEN = {"id": 8, "gtin": "03036811359936", "brand": {"code": "A", "label": "Ace"}}
RECORDS = [
    {"id": 7, "gtin": "03036811359935"},
    BROKEN,
    {**BROKEN, "id": 9, "brand": {"code": "B", "label": "Ace"}},
]
PROFILE = {"checks": {"valid_gtin": {"severity": "blocker"}, "has_name": {"severity": "warning"}}}


@pytest.fixture
def panel() -> AuditPanel:
    """Show three products, of which two have a wrong GTIN and none has a name."""
    return AuditPanel(prodex.audit(prodex.flatten(RECORDS), PROFILE, progress=False))


def press_cell(panel: AuditPanel, row: int, column: int = 0) -> None:
    """Press a cell of the heat map, as its script reports it."""
    found = panel.heat.grid.view["rows"][row]
    panel.heat.grid.press(do="cell", row=found["key"], column=found["cells"][column]["key"])


def below(widget: w.Widget) -> Iterator[w.Widget]:
    """Yield a widget and all in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from below(child)


def markup(panel: AuditPanel) -> str:
    return "\n".join(one.value for one in below(panel) if isinstance(one, w.HTML))


def words(panel: AuditPanel) -> str:
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", markup(panel), flags=re.DOTALL)


def test_a_gap_shows_its_products(panel: AuditPanel) -> None:
    """The button shows how many products fail, the traitlet which, and an explorer gets group and checks."""
    button = panel.gaps.buttons[0]
    assert "Show 2 products" == button.description
    button.click()
    assert ("8", "9") == panel.failing
    assert panel.exploration is not None
    assert ("valid_gtin",) == panel.exploration.conditions.failing[0].checks
    assert "✓ Show 2 products" == button.description
    assert "The figures are about 2 products : " in re.sub(r"\s+", " ", words(panel))
    assert "2 of 3 products" in re.sub(r"\s+", " ", words(panel))


@pytest.mark.slow
def test_checks_are_found_by_words(sample: prodex.Catalog) -> None:
    """Of problem, rule or block, in any order and case; what is selected on another page stays selected."""
    panel = AuditPanel(prodex.audit(sample, "online-listing", progress=False))
    checks = panel.checks
    every = len(checks.table.view["rows"])
    checks.find.value = "MISSING ingredients"
    assert ["List of ingredients missing"] == [row["cells"][0] for row in checks.table.view["rows"]]
    checks.find.value = "no such check"
    assert (0, "no failing checks") == (len(checks.table.view["rows"]), checks.pager.summary)
    checks.find.value = ""
    assert every == len(checks.table.view["rows"])


@pytest.mark.slow
def test_pressing_again_shows_all(panel: AuditPanel) -> None:
    """The same button, or "Show all products", clears the selection."""
    for back in (panel.gaps.buttons[0], panel.show_all):
        panel.gaps.buttons[0].click()
        assert panel.failing
        back.click()
        assert () == panel.failing
        assert panel.exploration is not None
        assert Selection() == panel.exploration.conditions


@pytest.mark.slow
def test_a_rule_and_its_gap_are_one_choice(panel: AuditPanel) -> None:
    """A gap selects the row of its check, a row selects the gap, and another row adds its check to them."""
    gap, table = panel.gaps.buttons[0], panel.checks.table
    gap.click()
    (valid,) = [
        place for place, one in enumerate(panel.checks._shown) if one["facts"].rule.id == "valid_gtin"
    ]
    assert [valid] == table.selected_rows
    assert ("8", "9") == panel.failing
    (named,) = [place for place, one in enumerate(panel.checks._shown) if one["facts"].rule.id == "has_name"]
    table.selected_rows = [valid, named]
    assert ("8", "9") == panel.failing  # that fail both
    assert panel.exploration is not None
    assert ["valid_gtin", "has_name"] == [one.checks[0] for one in panel.exploration.conditions.failing]
    assert "has_name" in panel.checks.explanation.value
    assert 2 == len(table.selected_rows)
    table.selected_rows = []
    assert () == panel.failing
    assert "" == panel.checks.explanation.value


@pytest.mark.slow
def test_what_was_filtered_before_is_kept(panel: AuditPanel) -> None:
    """A press adds to the filters that other panels have set, and the figures are about what is left."""
    assert panel.exploration is not None
    panel.exploration.conditions = Selection().toggled("brand", "A").toggled("brand", "B")
    assert "2 of 3 products" in re.sub(r"\s+", " ", words(panel))
    panel.gaps.buttons[0].click()
    assert ("A", "B") == panel.exploration.conditions.groups["brand"]
    assert len(panel.exploration.conditions.failing) == 1
    assert panel.failing == tuple(panel.exploration.chosen.products["product_id"])


@pytest.mark.slow
def test_a_cell_keeps_equal_labels_apart(panel: AuditPanel) -> None:
    """Brands are identified by code, though both have one label; products without a brand are a group."""
    panel.heat.switch.value = "brand"
    facets, found = [], []
    for place in range(3):
        press_cell(panel, place)
        assert panel.exploration is not None
        facets.append(dict(panel.exploration.conditions.groups))
        found.append(panel.failing)
        panel.show_all.click()
    assert {("A",), ("B",), (None,)} == {one["brand"] for one in facets}
    assert {("7",), ("8",), ("9",)} == set(found)


@pytest.mark.slow
def test_what_others_change_takes_the_choice_back(panel: AuditPanel) -> None:
    """Selection that another panel sets clear the selection."""
    assert panel.exploration is not None
    panel.gaps.buttons[0].click()
    panel.exploration.conditions = panel.exploration.conditions.without_failing()
    assert () == panel.failing
    assert "✓" not in panel.gaps.buttons[0].description


def test_a_catalogue_is_judged_by_the_profile_that_is_chosen(sample: prodex.Catalog) -> None:
    """The button runs the audit in the background, and all panels of the exploration get it."""
    exploration = Exploration(catalog=sample)
    panel = AuditPanel(exploration=exploration)
    assert "none" == panel._results.layout.display
    panel.controls.profile.value = "pictures"
    panel.controls.run.click()
    panel.wait()
    assert panel.audit is exploration.audit is not None
    assert "pictures" == panel.audit.profile
    assert "max='400' value='400'" in panel.controls.work.shown.value
    assert 400 == len(panel.audit)
    assert not is_busy(panel.controls.run)
    assert "" == panel._results.layout.display


@pytest.mark.slow
def test_nothing_comes_of_what_was_cancelled(sample: prodex.Catalog) -> None:
    """Cancel leaves the panel as it was and ready for the next audit."""
    panel = AuditPanel(catalog=sample, profile="online-listing")
    panel.controls.run.click()
    panel.controls.cancel.click()
    panel.wait()
    assert panel.audit is None
    assert not is_busy(panel.controls.run)
    assert "none" == panel.controls.cancel.layout.display
    assert "" == panel.message


def test_updates_that_wait_can_be_judged_as_accepted() -> None:
    """A pending update is audited only if it is included, and the catalogue stays the same."""
    waiting = {
        "id": 7,
        "gtin": "03036811359935",
        "lastRequest": {"nameLegal": [{"data": "Milk", "expressedIn": {}}]},
    }
    panel = AuditPanel(catalog=prodex.flatten([waiting]), profile={"checks": {"has_name": {}}})
    found = []
    for is_accepted in (False, True):
        panel.controls.include_pending.value = is_accepted
        panel.controls.run.click()
        panel.wait()
        assert panel.audit is not None
        found.append(panel.audit.matrix["has_name"].tolist())
        assert "another catalogue" not in words(panel)
    assert [[1], [0]] == found


def test_an_own_profile_stands_first() -> None:
    """A profile of the user is offered before those of prodex, and an invalid one is refused."""
    catalog = prodex.flatten(RECORDS)
    panel = AuditPanel(catalog=catalog, profile={"title": "$5 or $6 <b>", **PROFILE})
    assert "$5 or $6 <b>" == panel.controls.profile.options[0][0]
    panel.controls.run.click()
    panel.wait()
    assert panel.audit is not None
    assert ["valid_gtin", "has_name"] == [check.id for check in panel.audit.checks]
    with pytest.raises(InputError, match="did you mean 'core'"):
        AuditPanel(catalog=catalog, profile="corre")


@pytest.mark.slow
def test_another_catalogue_is_said(sample: prodex.Catalog) -> None:
    """An audit of other products than those shown is reported, and a snapshot without an audit shows none."""
    exploration = Exploration(catalog=sample)
    panel = AuditPanel(prodex.audit(sample, "core", now=AS_OF, progress=False), exploration=exploration)
    assert "another catalogue" not in words(panel)
    exploration.catalog = sample.where(is_consumer_unit=True)
    assert f"than the one shown ({len(exploration.catalog)} products)" in words(panel)
    exploration.catalog = prodex.flatten(RECORDS)
    assert "This audit covers another catalogue (400 products)" in words(panel)
    panel.gaps.buttons[0].click()
    exploration.look_at(prodex.flatten(RECORDS))
    assert panel.audit is None
    assert () == panel.failing
    assert "none" == panel._results.layout.display


def test_what_makes_figures_less_than_they_seem_stands_on_top() -> None:
    """Crashed rules, attributes that were not requested and an incomplete catalogue are warnings."""

    def raises(products: object) -> prodex.Verdict:
        raise ValueError("$5 <img src=x>")

    prodex.rule(title="it raises")(raises)
    catalog = prodex.flatten(RECORDS)
    ledger = replace(catalog.origin.ledger, announced=9)
    query = prodex.ProductQuery(source_include=["gtin"])
    partial = replace(catalog, origin=replace(catalog.origin, query=query, ledger=ledger))
    panel = AuditPanel(prodex.audit(partial, {"checks": {"raises": {}, "has_name": {}}}, progress=False))
    warned = panel._warnings.value
    for said in ("incomplete", "2 of 2 checks unknown", "rule crashed: raises", "&lt;img src=x&gt;"):
        assert said in warned


@pytest.mark.slow
def test_a_chosen_cell_stays_chosen_when_it_comes_back(sample: prodex.Catalog) -> None:
    """A selected cell is still marked after switching away and back."""
    panel = AuditPanel(prodex.audit(sample, "online-listing", now=AS_OF, progress=False))
    press_cell(panel, 0)
    panel.heat.switch.value = "owner"
    assert not any(cell["pressed"] for row in panel.heat.grid.view["rows"] for cell in row["cells"])
    panel.heat.switch.value = "kind"
    assert panel.heat.grid.view["rows"][0]["cells"][0]["pressed"]
    assert panel.failing


@pytest.mark.slow
def test_a_new_audit_takes_back_what_was_chosen_of_the_last(sample: prodex.Catalog) -> None:
    """A new audit clears a selection whose check it may not have."""
    panel = AuditPanel(prodex.audit(sample, "food-eu", now=AS_OF, progress=False))
    assert panel.exploration is not None
    seen = []
    panel.exploration.observe(lambda _: seen.append(panel.exploration.conditions), "audit")  # type: ignore[union-attr]
    panel.gaps.buttons[0].click()
    panel.controls.profile.value = "pictures"
    panel.controls.run.click()
    panel.wait()
    assert [Selection()] == seen
    assert () == panel.failing


@pytest.mark.slow
def test_widgets_are_made_once(sample: prodex.Catalog) -> None:
    """Switching and paging make no new widgets, and show the group that was selected."""
    panel = AuditPanel(prodex.audit(sample, "online-listing", now=AS_OF, progress=False))
    before = {one.model_id for one in below(panel)}
    for by in ("owner", "language", "market", "brand", "kind"):
        panel.heat.switch.value = by
        panel.heat.pager.next.click()
        assert {one.model_id for one in below(panel)} <= before
    assert "13 to 24 of" in panel.heat.pager.summary
    panel.checks.pager.next.click()
    panel.checks.only_failing.value = False
    assert f"1 to 12 of {len(panel.audit.checks)} checks" == panel.checks.pager.summary  # type: ignore[union-attr]


@pytest.mark.slow
def test_the_state_stays_small(sample: prodex.Catalog) -> None:
    """Everything that is sent to the browser is below two megabytes, including the script of the table."""
    panel = AuditPanel(prodex.audit(sample, "online-listing", now=AS_OF, progress=False))
    widgets = {one.model_id: one for one in below(panel)}
    for one in list(widgets.values()):
        for part in (getattr(one, "layout", None), getattr(one, "style", None)):
            if isinstance(part, w.Widget):
                widgets[part.model_id] = part
    size = sum(len(json.dumps(one.get_state(), default=str)) for one in widgets.values())
    assert size < 2_000_000
    assert len(widgets) < 480


@pytest.mark.slow
def test_what_suppliers_typed_is_markup_nowhere() -> None:
    """Names, titles and reasons of a hostile catalogue are escaped wherever they are in HTML."""
    panel = AuditPanel(hostile.audit())
    for by in ("owner", "brand", "kind"):
        panel.heat.switch.value = by
        press_cell(panel, 0)
        panel.checks.table.selected_rows = [0]
        assert not re.search(r"<(img|script|svg|base)\b", markup(panel))
        assert not re.search(
            r"<[^>]*\son\w+=", re.sub(r"<style>.*?</style>", "", markup(panel), flags=re.DOTALL)
        )


@pytest.mark.slow
def test_files_are_written_and_not_replaced_silently(tmp_path: Path) -> None:
    """Each export reports where it is, and replaces existing files only if that is allowed."""
    catalog = prodex.flatten(RECORDS).save("shop")
    panel = AuditPanel(prodex.audit(catalog, PROFILE, progress=False))
    files = panel.export
    files.folder.value, files.page.value = str(tmp_path / "lists"), str(tmp_path / "audit.html")
    files.by.value = "brand"
    for button, said in (
        (files.export_worklists, "Exported 3 worklists with 5 findings to"),
        (files.export_report, "Exported the report to"),
        (files.save, "Saved the audit to"),
    ):
        button.click()
        files.exporter.wait()
        assert said in files.exporter.message
    assert 3 == len(list((tmp_path / "lists").glob("*.xlsx")))
    assert (tmp_path / "audit.html").stat().st_size > 10_000
    assert 1 == len(prodex.list_audits("shop"))
    for button, refused in (
        (files.export_worklists, "already contains worklists"),
        (files.export_report, "already exists"),
    ):
        button.click()
        files.exporter.wait()
        assert refused in files.exporter.message
    files.replace.value = True
    files.export_report.click()
    files.exporter.wait()
    assert "Exported the report to" in files.exporter.message


@pytest.mark.slow
def test_the_report_tells_of_earlier_audits(tmp_path: Path) -> None:
    """The trend has the earlier audits of the same snapshots by the same profile, and no others."""
    catalog = prodex.flatten(RECORDS).save("shop")
    prodex.audit(catalog, PROFILE, progress=False).save()
    prodex.audit(catalog, "pictures", progress=False).save()
    panel = AuditPanel(prodex.audit(catalog, PROFILE, progress=False))
    panel.export.page.value = str(tmp_path / "audit.html")
    panel.export.export_report.click()
    panel.export.exporter.wait()
    assert ", with 1 earlier audit" in panel.export.exporter.message


def test_an_audit_in_memory_needs_a_name_to_be_kept(panel: AuditPanel) -> None:
    """An audit of a catalogue in memory needs a name to be saved, and an invalid name is refused."""
    panel.export.save.click()
    assert "in memory" in panel.export.exporter.message
    panel.export.name.value = "a/b"
    panel.export.save.click()
    panel.export.exporter.wait()
    assert "cannot be the name" in panel.export.exporter.message
    panel.export.name.value = "tried"
    panel.export.save.click()
    panel.export.exporter.wait()
    assert 1 == len(prodex.list_audits("tried"))


@pytest.mark.slow
def test_nothing_to_judge_is_shown() -> None:
    """An empty catalogue, and one without failures, have no gaps and no errors."""
    empty = AuditPanel(prodex.audit(prodex.flatten([]), "online-listing", progress=False))
    assert "" == empty.message
    assert "no kinds" == empty.heat.pager.summary
    good = AuditPanel(
        prodex.audit(prodex.flatten(RECORDS[:1]), {"checks": {"valid_gtin": {}}}, progress=False)
    )
    assert "No failing checks" in words(good)
    assert "no failing checks" == good.checks.pager.summary


def test_what_is_given_wrongly_is_refused() -> None:
    """A panel refuses nothing at all, two catalogues, and an unknown keyword."""
    catalog = prodex.flatten(RECORDS)
    with pytest.raises(InputError, match="nothing to show"):
        AuditPanel()
    with pytest.raises(InputError, match="either a catalogue or an exploration"):
        AuditPanel(catalog=catalog, exploration=Exploration(catalog=catalog))
    with pytest.raises(TypeError):
        AuditPanel(catalogue=catalog)  # type: ignore[call-arg]


def test_an_audit_without_its_catalogue_is_shown() -> None:
    """A click still sets the traitlet, and the controls that run an audit are hidden."""
    audit = replace(prodex.audit(prodex.flatten(RECORDS), PROFILE, progress=False), catalog=None)
    panel = AuditPanel(audit)
    assert panel.exploration is None
    panel.gaps.buttons[0].click()
    assert ("8", "9") == panel.failing
    assert "none" == panel.controls.layout.display


@pytest.mark.slow
def test_an_explorer_shows_what_was_chosen(sample: prodex.Catalog) -> None:
    """An explorer lists as many products as a click counts: grades, gaps, and cells of every grouping."""
    exploration = Exploration(catalog=sample)
    panel, explorer = AuditPanel(exploration=exploration), CatalogExplorer(exploration=exploration)
    panel.controls.profile.value = "online-listing"
    panel.controls.run.click()
    panel.wait()
    buttons = [*panel.tiles.buttons, *panel.grades.buttons, *panel.gaps.buttons]
    for by in ("kind", "owner", "brand", "market", "language"):
        panel.show_all.click()  # a press adds to those before, and soon nothing would be left
        panel.heat.switch.value = by
        presses = [button.click for button in buttons if button.choice is not None]
        for row, column in [*panel.heat.choices][::5]:
            presses.append(partial(panel.heat.grid.press, do="cell", row=row, column=column))
        assert len(presses) > 1
        for press in presses:
            press()
            assert panel.failing == tuple(explorer.catalog.products["product_id"])
        buttons = []


@pytest.mark.slow
def test_figures_say_what_became_of_them() -> None:
    """The tiles compare with the last saved audit of the same snapshots by the same rules."""
    mended = [RECORDS[0], {**RECORDS[1], "gtin": "03036811359935"}, RECORDS[2]]
    prodex.audit(prodex.flatten(RECORDS).save("shop"), PROFILE, progress=False).save()
    other = {"checks": {"has_name": {}}}
    newer = prodex.flatten(mended).save("shop")
    panel = AuditPanel(prodex.audit(newer, PROFILE, progress=False))
    panel.wait()
    assert "▲ 33.3 points higher, better" in panel.tiles._figures[1].value
    assert "▼ 1 fewer, better" in panel.tiles._figures[4].value
    panel.tiles.buttons[0].click()
    assert "since" not in words(panel)  # figures of some products are no progress of all
    panel.show_all.click()
    assert "▼ 1 fewer, better" in panel.tiles._figures[4].value
    alone = AuditPanel(prodex.audit(prodex.flatten(mended).save("alone"), other, progress=False))
    alone.wait()
    assert "since" not in words(alone)


def test_a_damaged_audit_is_nothing_to_compare_with() -> None:
    """The panel shows its audit although the earlier one is damaged."""
    catalog = prodex.flatten(RECORDS).save("shop")
    saved = prodex.audit(catalog, PROFILE, progress=False).save()
    assert saved.folder is not None
    (saved.folder / "states" / "part-00000.parquet").write_bytes(b"no")
    panel = AuditPanel(prodex.audit(catalog, PROFILE, progress=False))
    panel.wait()
    assert "since" not in words(panel)
    assert "" == panel.message

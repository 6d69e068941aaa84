"""Panels over one exploration say the same, whoever changes it, and say of each thing what it is."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from ipywidgets import Widget
from prodex.notebook.audit.panel import AuditPanel
from prodex.notebook.card.panel import ProductCard
from prodex.notebook.explore import explore
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.notebook.query.panel import QueryPanel
from prodex.notebook.shared.panel import Panel, is_busy
from prodex.notebook.shared.row_table import Pager
from prodex.notebook.shared.state import Exploration
from prodex.notebook.snapshots.panel import SnapshotPanel

import prodex
import prodex.notebook
from prodex.catalog import Origin
from prodex.errors import ProdexError
from prodex.exploration.product_columns import ProductColumns, ProductRows
from prodex.exploration.table_page import cells
from prodex.query import ProductQuery
from tests.cases import each_row
from tests.notebook.held import held

RECORDS = [{"id": number, "gtin": f"{number:014}"} for number in range(1, 6)]


def test_a_row_opens_its_card_again_after_another_catalogue() -> None:
    """A row opens its card, also after Python has opened another card."""
    exploration = Exploration(catalog=prodex.flatten(RECORDS))
    explorer, card = CatalogExplorer(exploration=exploration), ProductCard(exploration=exploration)
    explorer.table.grid.press(do="open", id="1")
    assert "1" == card.product_id
    exploration.look_at(prodex.flatten(RECORDS))
    assert (None, None) == (card.product_id, card.card)
    explorer.table.grid.press(do="open", id="1")
    assert "1" == card.product_id
    card.product_id = "4"
    assert "4" == explorer.table.grid.view["open"]
    explorer.table.grid.press(do="open", id="1")
    assert "1" == card.product_id


@pytest.mark.slow
def test_the_list_of_snapshots_marks_what_is_looked_at() -> None:
    """The list marks the snapshot that is explored, and lists a new one."""
    prodex.flatten(RECORDS).save("shop")
    looked = explore("shop")
    looked.section = "Snapshots"
    panel = looked.places["Snapshots"].children[0]
    panel.wait()
    assert [0] == panel.table.selected_rows
    assert "Selected" in panel._about.value

    looked.exploration.look_at(prodex.flatten(RECORDS[:2]))
    assert ([], "", None) == (panel.table.selected_rows, panel._about.value, panel.catalog)
    panel.table.selected_rows = [0]
    assert 5 == len(looked.exploration.catalog)

    looked.exploration.look_at(prodex.flatten(RECORDS[:3]).save("shop"))
    panel.wait()
    assert ("1 to 2 of 2 snapshots", [0]) == (panel.pager.summary, panel.table.selected_rows)
    panel.table.selected_rows = []  # pressed once more
    assert ([0], 3) == (panel.table.selected_rows, len(panel.catalog))


def test_an_audit_of_what_is_looked_at_no_longer_is_dropped() -> None:
    """An audit is dropped when another catalogue is explored before it ends."""
    catalog, tables = held(prodex.flatten(RECORDS))
    exploration = Exploration(catalog=catalog)
    panel = AuditPanel(exploration=exploration)
    panel.controls.run.click()
    assert tables.begun.wait(10)
    exploration.look_at(prodex.flatten(RECORDS[:2]))
    tables.go_on.set()
    panel.wait()
    assert (None, None, False) == (exploration.audit, panel.audit, is_busy(panel.controls.run))


def test_nothing_is_said_of_what_was_not_asked_for() -> None:
    """A catalogue of GTINs alone claims neither that products have no name nor that they have no texts."""
    catalog = prodex.flatten(RECORDS[:1])
    origin = Origin("sandbox", ProductQuery(source_include=["gtin"]))
    products = ProductColumns(prodex.Catalog(catalog.parts, origin))
    shown = cells(ProductRows(products, np.array([0])), ("name", "texts_count", "pictures_count", "gtin"))
    assert [*["not asked for"] * 3, "00000000000001"] == shown.iloc[0].tolist()


@each_row(
    ("make", "said"),
    [
        (lambda: CatalogExplorer("shop"), "No snapshot 'shop'"),  # type: ignore[arg-type]
        (lambda: ProductCard("shop", "7"), "No snapshot 'shop'"),  # type: ignore[arg-type]
        (lambda: CatalogExplorer(7), r"open_snapshot\("),  # type: ignore[arg-type]
        (lambda: CatalogExplorer(prodex.flatten([]), audit="x"), "audit must be an audit, not str"),  # type: ignore[arg-type]
        (lambda: AuditPanel(prodex.flatten([])), "audit must be an audit, not Catalog"),  # type: ignore[arg-type]
        (lambda: SnapshotPanel(prodex.flatten([])), "name must be the name of snapshots, not Catalog"),  # type: ignore[arg-type]
        (lambda: QueryPanel(prodex.flatten([])), "service is a Catalog. Write"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_thing_is_refused_in_words(make: Any, said: str) -> None:
    """A panel that gets something else names what it takes, and what returns that."""
    with pytest.raises(ProdexError, match=said):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "~nobody-is-called-so/x"])
def test_a_name_that_cannot_be_written_to_is_refused_in_words(name: str) -> None:
    """A field for a file or a folder never shows the name of an exception."""
    audit = prodex.audit(prodex.flatten(RECORDS), progress=False)
    panel, explorer = AuditPanel(audit), CatalogExplorer(audit.catalog)
    panel.export.folder.value = panel.export.page.value = explorer._export._folder.value = name
    panel.export.export_worklists.click()
    lists = panel.export.exporter.message
    panel.export.export_report.click()
    explorer._export._button.click()
    for said in (lists, panel.export.exporter.message, explorer._export.exporter.message):
        assert "cannot be written to" in said
        assert "Give another name." in said


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


def test_one_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every count has its noun, in the singular for one."""
    monkeypatch.chdir(tmp_path)
    catalog = prodex.flatten(RECORDS[:1]).save("shop")
    panel = SnapshotPanel("shop")
    panel.wait()
    assert "1 snapshot" == panel.pager.summary
    assert "(1 product)" in panel._every[0].title
    assert "1 product in the only snapshot" in panel.trend._products.value
    explorer = CatalogExplorer(catalog)
    explorer._export._button.click()
    explorer._export.exporter.wait()
    assert "Exported 1 product to" in explorer._export.exporter.message
    assert (tmp_path / "export").exists()


def test_a_pager_says_what_it_turns() -> None:
    """A pager has a sentence for no rows, one row, and many."""
    pager, said = Pager(Panel(), 2, lambda: None), []
    for total in (0, 1, 3):
        pager.over(total, "rule", " there")
        said.append(pager.summary)
    assert ["no rules there", "1 rule there", "1 to 2 of 3 rules there"] == said

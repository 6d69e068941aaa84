"""What is left of a catalogue is written as it is shown, whole, and nothing is replaced unasked."""

from __future__ import annotations

import asyncio
import csv
import re
import threading
from pathlib import Path

import ipywidgets as w
import numpy as np
import pandas as pd
import pytest
from python_calamine import CalamineWorkbook

import prodex
from prodex.errors import InputError, QueryError, StorageError
from prodex.exploration.product_columns import ProductColumns
from prodex.formats.registry import FormatName
from prodex.notebook.products.export import (
    AS_SHOWN,
    EVERYTHING,
    ExportBox,
    ExportRequest,
    ShownTable,
    export_products,
)
from prodex.notebook.shared.exporting import path_of
from prodex.notebook.shared.long_tasks import Exporter
from prodex.notebook.shared.panel import Panel, is_busy
from prodex.progress import PhaseProgress, Reporter
from prodex.tables.declaration import TABLES
from tests.cases import each_row

LONG = "=" + "x" * 40_000
RECORDS = [
    {
        "id": 1,
        "gtin": "00000000000017",
        "brand": {"code": "A", "label": LONG},
        "updatedAt": "2026-11-20T08:00:00",
    },
    {"id": 2, "gtin": "03036811359935"},
    {"id": 3, "gtin": None, "brand": {"code": "B"}},
]
COLUMNS = ("gtin", "brand", "updated_at", "name")


@pytest.fixture
def catalog() -> prodex.Catalog:
    return prodex.flatten(RECORDS)


@pytest.fixture
def table(catalog: prodex.Catalog) -> ShownTable:
    """The third and the first product."""
    return ShownTable(ProductColumns(catalog), np.array([2, 0]), COLUMNS)


def test_csv_as_shown_has_rows_in_their_order_and_texts_whole(
    catalog: prodex.Catalog, table: ShownTable, tmp_path: Path
) -> None:
    """The file has the filtered rows in the order of the table, uncut; a code is shown if it has no label."""
    said = export_products(ExportRequest(AS_SHOWN, "csv", tmp_path / "out"), table, catalog)

    path = tmp_path / "out" / "products_as_shown.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert [list(COLUMNS), ["", "B", "", ""], ["00000000000017", LONG, "2026-11-20T08:00:00", ""]] == rows
    assert f"Exported 2 products to {path} (4 columns)." == said


def test_csv_for_spreadsheets_is_a_choice(catalog: prodex.Catalog, table: ShownTable, tmp_path: Path) -> None:
    """An apostrophe is put before text that would run, only if that is asked for."""
    export_products(ExportRequest(AS_SHOWN, "csv", tmp_path, is_safe=True), table, catalog)
    with (tmp_path / "products_as_shown.csv").open(encoding="utf-8", newline="") as file:
        assert f"'{LONG}" == list(csv.reader(file))[2][1]


def test_a_workbook_says_what_it_could_not_hold(
    catalog: prodex.Catalog, table: ShownTable, tmp_path: Path
) -> None:
    """The report counts the texts that were cut."""
    said = export_products(ExportRequest(AS_SHOWN, "xlsx", tmp_path, is_safe=True), table, catalog)

    rows = CalamineWorkbook.from_path(tmp_path / "products_as_shown.xlsx").get_sheet_by_index(0).to_python()
    assert ["gtin", "00000000000017"] == [rows[0][0], rows[2][0]]
    assert "1 text is longer than a cell of a workbook can be (32,767 characters)" in said


def test_parquet_keeps_types(catalog: prodex.Catalog, table: ShownTable, tmp_path: Path) -> None:
    """A date stays a date."""
    export_products(ExportRequest(AS_SHOWN, "parquet", tmp_path), table, catalog)
    frame = pd.read_parquet(tmp_path / "products_as_shown.parquet")

    assert [pd.NaT, pd.Timestamp("2026-11-20T08:00:00")] == frame["updated_at"].tolist()


def test_all_tables_are_those_of_the_products_that_are_left(
    catalog: prodex.Catalog, table: ShownTable, tmp_path: Path
) -> None:
    """All tables are those that `catalog.export` writes for the filtered products."""
    left = catalog.where(gtin=["03036811359935"])
    said = export_products(ExportRequest(EVERYTHING, "parquet", tmp_path), table, left)

    assert ["2"] == pd.read_parquet(tmp_path / "products.parquet")["product_id"].tolist()
    chosen = "These are 1 of 3 products, chosen by: gtin = 03036811359935."
    assert f"Exported 1 product to {len(TABLES)} tables in {tmp_path}. {chosen}" == said


@each_row(
    ("what", "form", "files"),
    [
        (AS_SHOWN, "csv", 2),
        (EVERYTHING, "csv", len(TABLES)),  # without the records
        (EVERYTHING, "parquet", len(TABLES) + 1),
        (EVERYTHING, "jsonl", 2),
    ],
)
def test_what_stands_in_the_way_is_known_before(
    catalog: prodex.Catalog, table: ShownTable, tmp_path: Path, what: str, form: FormatName, files: int
) -> None:
    """No file exists at first, and every exported file afterwards."""
    request = ExportRequest(what, form, tmp_path)
    assert [] == request.existing_files

    export_products(request, table, catalog)
    assert files == len(request.existing_files) == len(list(tmp_path.iterdir()))


def test_a_folder_has_to_be_named_and_to_be_one(
    catalog: prodex.Catalog, table: ShownTable, tmp_path: Path
) -> None:
    """A missing name and a file in place of the folder are refused."""
    with pytest.raises(InputError, match="Enter a folder"):
        path_of("  ", "a folder")
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(StorageError, match="There is a file where"):
        export_products(ExportRequest(AS_SHOWN, "csv", tmp_path / "file"), table, catalog)


def test_nothing_is_left_of_an_empty_catalogue(tmp_path: Path) -> None:
    """A table without products makes a file with headings only."""
    catalog = prodex.flatten([])
    said = export_products(
        ExportRequest(AS_SHOWN, "csv", tmp_path),
        ShownTable(ProductColumns(catalog), np.arange(0), COLUMNS),
        catalog,
    )

    assert said.startswith("Exported 0 products")
    assert "gtin,brand,updated_at,name\n" == (tmp_path / "products_as_shown.csv").read_text("utf-8")


def test_what_was_left_out_is_reported(catalog: prodex.Catalog, table: ShownTable, tmp_path: Path) -> None:
    """Languages and columns that were entered, and the records that CSV does not have."""
    calls: list[tuple[int, int]] = []
    request = ExportRequest(EVERYTHING, "csv", tmp_path, columns=("brand",), languages=("French",))
    said = export_products(request, table, catalog, lambda *both: calls.append(both))

    assert f"Exported 3 products to 1 table in {tmp_path}. Left out: " in said
    assert "3 of 57 columns of products" in said
    assert (3, 3) == calls[-1]
    with pytest.raises(QueryError, match="did you mean 'brand'"):
        export_products(ExportRequest(EVERYTHING, "csv", tmp_path, columns=("brnad",)), table, catalog)


def test_records_are_exported_whole(catalog: prodex.Catalog, table: ShownTable, tmp_path: Path) -> None:
    """The report counts files; the records are read back as the catalogue."""
    said = export_products(ExportRequest(EVERYTHING, "jsonl", tmp_path), table, catalog)

    assert f"Exported 3 products to 1 file in {tmp_path}." == said
    assert catalog.equals(prodex.read_export(tmp_path))


def test_the_form_offers_what_there_is_to_choose(
    catalog: prodex.Catalog, table: ShownTable, tmp_path: Path
) -> None:
    """Languages and columns of all tables, records only whole; progress is shown, and then the report."""
    form = ExportBox(panel=Panel(), gather=lambda _: (table, catalog))
    form.count(3)
    whole, parts = {name for _, name in form._format.options}, form._choices
    assert ({"csv", "parquet", "xlsx"}, False) == (whole, parts in form.children)
    form._what.value = EVERYTHING
    assert ("csv", True) == (form._format.value, parts in form.children)
    form._folder.value, form._languages.value, form._columns.value = str(tmp_path), " fr , ", "brand,text"
    form._button.click()
    form.exporter.wait()
    assert "Exported 3 products to 2 tables" in form.exporter.message
    assert ["brand"] == list(prodex.read_export(tmp_path).products)[2:]
    form._format.value = "jsonl"
    assert parts not in form.children
    form._what.value = AS_SHOWN
    assert "csv" == form._format.value

    assert "Exporting: " in form.exporter.work.shown.value
    assert re.search(r"max='(\d+)' value='\1'", form.exporter.work.shown.value)
    assert "none" == form.exporter.work.layout.display


def test_an_export_says_how_far_it_is_and_can_be_cancelled() -> None:
    """With a bar; what it has begun is given up at its next step, and the buttons answer again."""
    button, reported, go_on = w.Button(), threading.Event(), threading.Event()

    def write(progress: Reporter) -> str:
        progress.tell(PhaseProgress("Exporting", 1, 4, "rows"))
        reported.set()
        go_on.wait(10)
        progress.tell(PhaseProgress("Exporting", 2, 4, "rows"))
        raise AssertionError("nobody stopped it")

    async def story() -> None:
        exporter = Exporter(Panel(), {button: lambda: exporter.start(write, "Exporting")})
        button.click()
        assert is_busy(button)
        reported.wait(10)
        exporter.work._draw()
        assert "Exporting: 1 of 4 rows" in exporter.work.shown.value
        assert "max='4' value='1'" in exporter.work.shown.value
        exporter.work.cancel.click()
        assert "cancelling" in exporter.work.shown.value
        go_on.set()
        exporter.wait()
        assert "Cancelled. Nothing was written" in exporter.message
        assert not is_busy(button)
        assert "none" == exporter.work.layout.display

    asyncio.run(story())

"""What is left of a catalogue is written as it is shown, whole, and nothing is replaced unasked."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook

import prodex
from prodex.errors import QueryError, StorageError
from prodex.exploration.product_columns import ProductColumns
from prodex.exploration.table_export import (
    AS_SHOWN,
    EVERYTHING,
    ONE_TABLE,
    ExportRequest,
    ShownTable,
    export_products,
)
from prodex.formats.registry import FormatName
from prodex.notebook.app import App
from prodex.notebook.views import export
from prodex.selection import Selection
from prodex.tables.declaration import TABLES
from tests.cases import each_row
from tests.notebook.test_table_view import below, block, notice, opened

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
        (ONE_TABLE, "xlsx", 1),
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


def test_a_file_in_place_of_the_folder_is_refused(
    catalog: prodex.Catalog, table: ShownTable, tmp_path: Path
) -> None:
    """The message says what stands there."""
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


FORM = "products-export"


def form_of(catalog: prodex.Catalog) -> App:
    app = opened(catalog)
    app.act("fold.set", key="export", is_open=True)
    return app


def field(app: App, name: str) -> dict[str, Any] | None:
    return next((one for one in block(app, FORM)["fields"] if one["key"] == name), None)


def typed(app: App, **values: Any) -> None:
    for name, value in values.items():
        app.act("form.set", form=FORM, field=name, value=value)


def button(app: App) -> dict[str, Any]:
    found: dict[str, Any] = block(app, FORM)["buttons"][0]
    return found


def press(app: App) -> None:
    app.act(button(app)["do"], **button(app)["args"])
    app.wait()


def said(app: App) -> str:
    return " ".join(one["text"]["text"] for one in below(app.view()) if one.get("key") == "export-said")


def test_the_form_offers_what_there_is_to_choose(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Languages and columns of all tables, records only whole; what was typed stays where it is not offered."""
    app = form_of(catalog)
    formats = field(app, "format")
    assert formats is not None
    assert {"csv", "parquet", "xlsx"} == {one["value"] for one in formats["options"]}
    assert (None, None) == (field(app, "only"), field(app, "languages"))
    typed(app, what=EVERYTHING, folder=str(tmp_path), languages=" fr , ", columns="brand,text")
    press(app)
    assert "Exported 3 products to 2 tables" in said(app)
    assert ["brand"] == list(prodex.read_export(tmp_path).products)[2:]
    typed(app, format="jsonl")
    assert (None, None) == (field(app, "columns"), field(app, "safe"))
    typed(app, what=AS_SHOWN)
    assert "csv" == (field(app, "format") or {})["value"]
    assert field(app, "safe")


def test_one_table_is_a_file_for_excel(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """With labels beside codes, in the languages that are entered; what it does not hold is said."""
    app = form_of(catalog)
    app.change(lambda session: session.filtered(Selection().toggled("brand", "A")))
    typed(app, what=ONE_TABLE, folder=str(tmp_path), columns="gtin, brand_code, brand", languages="fr")
    assert "xlsx" == (field(app, "format") or {})["value"]
    press(app)
    file = tmp_path / "products_in_one_table.xlsx"
    assert [file] == [*tmp_path.iterdir()]
    rows = CalamineWorkbook.from_path(file).get_sheet_by_index(0).to_python()
    assert [["gtin", "brand_code", "brand"], ["00000000000017", "A"]] == [rows[0], rows[1][:2]]
    assert f"Exported 1 product to {file}. These are 1 of 3 products" in said(app)
    assert "3 of 57 columns" in said(app)
    assert "1 text is longer than a cell" in said(app)
    press(app)
    assert "Replace 1 file" == button(app)["label"]
    typed(app, columns="brnad", folder=str(tmp_path / "other"))
    press(app)
    assert "did you mean 'brand'" in (field(app, "columns") or {}).get("error", "")


def test_export_asks_before_it_replaces(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """The first press exports, the second asks, and the third replaces; after any change it is asked again."""
    app = form_of(catalog)
    typed(app, folder=str(tmp_path))
    assert "Export 3 products" == button(app)["label"]
    press(app)
    path = tmp_path / "products_as_shown.csv"
    assert 4 == len(path.read_text("utf-8").splitlines())

    path.write_text("mine", "utf-8")
    press(app)
    assert ("mine", "Replace 2 files") == (path.read_text("utf-8"), button(app)["label"])
    assert "already contains products_as_shown.csv" in said(app)
    stale = button(app)["args"]
    typed(app, safe=False)
    assert ("Export 3 products", "") == (button(app)["label"], said(app))
    app.act("products.export", **stale)
    app.wait()
    assert "mine" == path.read_text("utf-8")
    press(app)
    assert "mine" != path.read_text("utf-8")
    assert "Exported 3 products" in said(app)


def test_a_file_that_came_meanwhile_is_not_replaced(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Somebody has agreed to lose one file, and there are two by now."""
    app = form_of(catalog)
    typed(app, folder=str(tmp_path))
    (tmp_path / "datapackage.json").write_text("mine", "utf-8")
    press(app)
    assert "Replace 1 file" == button(app)["label"]
    (tmp_path / "products_as_shown.csv").write_text("theirs", "utf-8")
    press(app)
    assert ("theirs", "Replace 2 files") == (
        (tmp_path / "products_as_shown.csv").read_text("utf-8"),
        button(app)["label"],
    )


def test_other_products_than_the_button_says_are_not_exported(
    catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """In another tab somebody has filtered, and this page has not shown it yet."""
    app = form_of(catalog)
    typed(app, folder=str(tmp_path))
    stale = button(app)["args"]
    app.change(lambda session: session.filtered(Selection().toggled("brand", "B")))
    app.act("products.export", **stale)
    assert "Nothing was exported" in notice(app)
    assert [] == [*tmp_path.iterdir()]


def test_as_many_other_products_than_the_button_meant_are_not_exported(tmp_path: Path) -> None:
    """One product of each brand: the number is the same, and the products are not."""
    records = [{"id": n, "brand": {"code": brand}} for n, brand in enumerate("AB")]
    app = form_of(prodex.flatten(records))
    typed(app, folder=str(tmp_path))
    app.change(lambda session: session.filtered(Selection.of(brand_code="A")))
    stale = button(app)
    app.change(lambda session: session.filtered(Selection.of(brand_code="B")))
    assert stale["label"] == button(app)["label"]
    app.act("products.export", **stale["args"])
    assert "Nothing was exported: other products" in notice(app)
    assert [] == [*tmp_path.iterdir()]
    press(app)
    assert "Exported 1 product" in said(app)


@each_row("what", [AS_SHOWN, EVERYTHING, ONE_TABLE])
def test_only_the_selected_products_are_exported(catalog: prodex.Catalog, tmp_path: Path, what: str) -> None:
    """The button names their number; a filter that they do not meet leaves none of them out."""
    app = form_of(catalog)
    app.act("table.select", product_id="3")
    app.act("table.select", product_id="1")
    app.change(lambda session: session.filtered(Selection().toggled("brand", "B")))
    assert "Only the 2 selected products" == (field(app, "only") or {})["label"]
    typed(app, what=what, format="parquet", folder=str(tmp_path), only=True)
    assert "Export 2 products" == button(app)["label"]
    press(app)
    (written,) = tmp_path.glob("products*.parquet")
    assert [None, "00000000000017"] == sorted(
        pq.read_table(written)["gtin"].to_pylist(), key=str, reverse=True
    )
    app.act("table.clear")
    assert (None, "Export 1 product") == (field(app, "only"), button(app)["label"])


def test_what_is_wrong_stands_beside_its_field(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """A folder without a name, one that cannot be, a file in its place, and a column that nobody knows."""
    app = form_of(catalog)
    (tmp_path / "file").write_text("", "utf-8")
    for folder, words in (
        (" ", "Enter a folder for the files, such as out."),
        ("x" * 300, "Give another name"),
        (str(tmp_path / "file"), "There is a file"),
    ):
        typed(app, folder=folder)
        press(app)
        assert words in (field(app, "folder") or {}).get("error", ""), folder
    typed(app, folder=str(tmp_path / "out"), what=EVERYTHING, columns="brnad")
    assert "error" not in (field(app, "folder") or {})
    press(app)
    assert "did you mean 'brand'" in (field(app, "columns") or {}).get("error", "")
    typed(app, columns="", languages="Klingon")
    press(app)
    assert "Klingon" in (field(app, "languages") or {}).get("error", "")
    assert "" == said(app)


def test_an_export_can_be_cancelled(tmp_path: Path) -> None:
    """What it has begun is given up at its next step, and the button answers again."""
    app = form_of(prodex.flatten({"id": n, "brand": {"code": f"B{n}"}} for n in range(20_000)))
    typed(app, what=EVERYTHING, folder=str(tmp_path))
    app.act(button(app)["do"], **button(app)["args"])
    assert "An export is running." == button(app)["off"]
    app.act("work.cancel", slot="products.export")
    app.wait()
    assert "off" not in button(app)
    assert export.CANCELLED == said(app)
    assert [] == [*tmp_path.glob("*.csv")]


def test_nothing_is_exported_of_nothing() -> None:
    """The button says why it cannot be pressed."""
    assert button(form_of(prodex.flatten([])))["off"]


def test_the_view_stays_small_and_plain(catalog: prodex.Catalog) -> None:
    """A brand of 40,000 characters is in no form."""
    app = form_of(catalog)
    assert 20_000 > len(json.dumps(block(app, FORM)))

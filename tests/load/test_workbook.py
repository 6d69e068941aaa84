"""Workbooks of exchange platforms become the tables of their products; each odd cell is listed, and none is dropped."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from xlsxwriter.utility import xl_cell_to_rowcol

import prodex
from prodex.errors import InputError, SpreadsheetUnreadable
from prodex.load.workbook.headings import FIRST_ROW
from tests.cases import each_row

BAR = "∣"
GTIN = "03036811359935"
ERRORS = ("#REF!", "#DIV/0!", "#N/A")

#: A column: path, language or unit, and the cells below.
Column = tuple[str, str, Sequence[Any]]


def write(path: Path, **sheets: Sequence[Column]) -> Path:
    """Write a workbook as a platform exports it, with words for people in all other rows."""
    book = xlsxwriter.Workbook(path, {"strings_to_formulas": False, "strings_to_urls": False})
    moments = book.add_format({"num_format": "dd/mm/yyyy hh:mm"})
    for name, columns in sheets.items():
        sheet = book.add_worksheet(name)
        for place, (technical, qualifier, cells) in enumerate(columns):
            above = ["Export", f"Group {place}", "Mandatory", technical, "#1", qualifier, "Read only"]
            for row, cell in enumerate([*above, *cells]):
                if isinstance(cell, date):
                    sheet.write_datetime(row, place, cell, moments)
                elif cell in ERRORS:
                    sheet.write_formula(row, place, "=A1", None, cell)
                elif isinstance(cell, str) and cell.startswith("="):
                    sheet.write_formula(row, place, cell, None, "")
                elif cell is not None:
                    sheet.write(row, place, cell)
    book.close()
    return path


def read(path: Path, *columns: Column) -> prodex.Catalog:
    """Write one sheet and read it."""
    return prodex.read_workbook(write(path / "export.xlsx", Products=columns))


def record(catalog: prodex.Catalog, row: int = 0) -> Any:
    """Return a product as it was put together."""
    return json.loads(catalog.raw["json"][row])


def problems(catalog: prodex.Catalog) -> dict[str, str]:
    """Return the odd cells with their reasons."""
    return dict(catalog.problems.itertuples(index=False, name=None))


def test_a_sheet_becomes_the_tables_of_its_products(tmp_path: Path) -> None:
    """Texts by language, codes with labels, numbers with units, yes and no, dates, and lists with their places."""
    catalog = read(
        tmp_path,
        ("gtin", "", [3036811359935, "00000000000017"]),
        ("namePublicLong", "fra-FR", ["Riz", None]),
        ("namePublicLong", f"German{BAR}deu-DE", ["Reis", "Salz"]),
        ("brand", "", [f"Marks & Spencer{BAR}MARKS_SPENCER", "Acme | ACME"]),
        ("kind", "-", ["RICE", "Table salt"]),
        ("netContent", "GRM", ["0,5", 250]),
        ("isConsumerUnit", "", ["Yes", "Non"]),
        ("lifeCycle", "", [f"Active{BAR}1", 2.0]),
        ("createdAt", "", [datetime(2026, 11, 20, 8, 30), date(2026, 1, 2)]),  # noqa: DTZ001 - none is said
        ("assets.pictures[0].url", "", ["https://a.example/1.jpg", None]),
        ("assets.pictures.1.url", "", ["https://a.example/2.jpg", None]),
        ("assets.pictures[0].isPackshot", "", [True, None]),
        ("isPartitionedBy[0].contains[0].isConceptualizedBy", "", [f"Fat{BAR}FAT", None]),
        ("isPartitionedBy[0].contains[0].quantity", "g", [1.5, None]),
        ("isTaggedBy", "", ["new", None]),
        ("ownAttribute", "", [f"Glass{BAR}GLASS", "plain"]),
    )

    assert problems(catalog) == {}
    assert catalog.complete
    expected = prodex.flatten(
        [
            {
                "gtin": GTIN,
                "namePublicLong": [
                    {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": "Riz"},
                    {"expressedIn": {"code": "deu-DE", "normalizedCode": "de"}, "data": "Reis"},
                ],
                "brand": {"code": "MARKS_SPENCER", "label": "Marks & Spencer"},
                "kind": {"code": "RICE"},
                "netContent": [{"data": 0.5, "expressedIn": {"code": "GRM"}}],
                "isConsumerUnit": True,
                "lifeCycle": 1,
                "createdAt": "2026-11-20T08:30:00",
                "assets": {
                    "pictures": [
                        {"url": "https://a.example/1.jpg", "isPackshot": True},
                        {"url": "https://a.example/2.jpg"},
                    ]
                },
                "isPartitionedBy": [
                    {
                        "contains": [
                            {
                                "isConceptualizedBy": {"code": "FAT", "label": "Fat"},
                                "quantity": 1.5,
                                "expressedIn": {"code": "GRM", "label": "g"},
                            }
                        ]
                    }
                ],
                "isTaggedBy": ["new"],
                "ownAttribute": {"code": "GLASS", "label": "Glass"},
            },
            {
                "gtin": "00000000000017",
                "namePublicLong": [
                    {"expressedIn": {"code": "deu-DE", "normalizedCode": "de"}, "data": "Salz"}
                ],
                "brand": {"code": "ACME", "label": "Acme"},
                "kind": {"label": "Table salt"},
                "netContent": [{"data": 250, "expressedIn": {"code": "GRM"}}],
                "isConsumerUnit": False,
                "lifeCycle": 2,
                "createdAt": "2026-01-02T00:00:00",
                "ownAttribute": "plain",
            },
        ]
    )
    for table in set(expected.tables.index) - {"raw", "presence"}:
        assert expected.arrow(table).to_pylist() == catalog.arrow(table).to_pylist(), table
    assert "export.xlsx" == catalog.origin.source


def test_nothing_is_known_of_what_has_no_column(tmp_path: Path) -> None:
    """An attribute without a column, and a language in which an attribute has none; other attributes may have it."""
    catalog = read(
        tmp_path,
        ("gtin", "", [GTIN]),
        ("namePublicLong", "fr", [None]),
        ("description", "de", ["Reis"]),
        ("assets.pictures.url", "", [None]),
    )

    asked = catalog.origin.asked
    assert [True, False, True, False] == [
        asked("namePublicLong", "fr"),
        asked("namePublicLong", "de"),
        asked("description", "de"),
        asked("description", "fr"),
    ]
    assert [True, False, False] == [asked("gtin"), asked("brand"), asked("updatedAt")]
    texts = [{"attribute": "namePublicLong", "language": one} for one in ("fr", "de", "nl")]
    texts += [{"attribute": "description", "language": one} for one in ("fr", "de")]
    matrix = prodex.audit(catalog, {"checks": {"required_text": texts}}, progress=False).matrix
    assert [1, 3, 3, 3, 0] == matrix.iloc[0].tolist()
    assert catalog.equals(catalog.save("kept"))
    catalog.export(tmp_path / "out")
    assert catalog.origin == prodex.read_export(tmp_path / "out").origin
    assert "made of columns: 4 attributes" in repr(catalog)


@pytest.mark.slow
def test_an_audit_knows_no_more_than_the_columns(tmp_path: Path) -> None:
    """Law: of a product that has more than its columns say, each cell is as with everything, or unknown."""
    text = [{"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": "Riz long"}]
    whole = prodex.flatten(
        [
            {
                "gtin": GTIN,
                "isConsumerUnit": True,
                "namePublicLong": text,
                "namePublicShort": text,
                "description": text,
                "brand": {"code": "ACME"},
                "kind": {"code": "K"},
                "netContent": [{"data": 5, "expressedIn": {"code": "GRM"}}],
                "assets": {"pictures": [{"url": "https://a.example/1.jpg", "isPackshot": True}]},
            }
        ]
    )
    part = read(
        tmp_path, ("gtin", "", [GTIN]), ("namePublicLong", "fr", ["Riz long"]), ("brand", "", ["ACME"])
    )
    now = datetime(2026, 11, 20)  # noqa: DTZ001 - the dates of the service have no zone
    for profile in ("online-listing", "core", "food-eu", "logistics", "pictures"):
        expected, found = (prodex.audit(one, profile, progress=False, now=now) for one in (whole, part))
        known = found.matrix.to_numpy() != 3
        assert np.array_equal(expected.matrix.to_numpy()[known], found.matrix.to_numpy()[known])
        assert () == found.crashes


def test_rows_of_one_product_are_one_product(tmp_path: Path) -> None:
    """Each adds an item to lists without places; what they repeat is there once."""
    catalog = read(
        tmp_path,
        ("gtin", "", [GTIN, GTIN, GTIN, "00000000000017"]),
        ("namePublicLong", "fr", ["Riz", "Riz", None, "Sel"]),
        ("brand", "", [f"Acme{BAR}ACME", f"Acme{BAR}ACME", f"Acme{BAR}ACME", None]),
        ("assets.pictures.url", "", ["a", "b", "b", None]),
        ("assets.pictures.isPackshot", "", ["Yes", "No", "No", None]),
        ("isPartitionedBy.name", "", ["100 g", "100 g", "portion", None]),
        (
            "isPartitionedBy.contains.isConceptualizedBy",
            "",
            [f"Fat{BAR}FAT", f"Salt{BAR}NACL", f"Fat{BAR}FAT", None],
        ),
    )

    assert problems(catalog) == {}
    assert 2 == len(catalog)
    made = record(catalog)
    assert [{"url": "a", "isPackshot": True}, {"url": "b", "isPackshot": False}] == made["assets"]["pictures"]
    assert [("100 g", ["FAT", "NACL"]), ("portion", ["FAT"])] == [
        (one["name"], [each["isConceptualizedBy"]["code"] for each in one["contains"]])
        for one in made["isPartitionedBy"]
    ]
    assert ["Riz", "Sel"] == catalog.texts["text"].tolist()


def test_several_sheets_say_more_of_the_same_products(tmp_path: Path) -> None:
    """By GTIN, however it is written; a sheet for people is left alone, and the source says so."""
    path = write(
        tmp_path / "export.xlsx",
        Products=[("gtin", "", [GTIN]), ("brand", "", ["ACME"])],
        Read_me=[("How to fill in", "", ["Please"])],
        Pictures=[("GTIN", "", ["3036811359935", "3036811359935"]), ("assets.pictures.url", "", ["a", "b"])],
    )
    catalog = prodex.read_workbook(path)

    assert (1, 2) == (len(catalog), len(catalog.pictures))
    assert ["ACME"] == catalog.products["brand_code"].tolist()
    assert "export.xlsx, without sheet 'Read_me'" == catalog.origin.source
    assert catalog.complete


def test_columns_of_the_same_path_are_items_of_a_list(tmp_path: Path) -> None:
    """So platforms write several values; of what is no list the second one is listed."""
    catalog = read(
        tmp_path,
        ("gtin", "", [GTIN]),
        *(("assets.pictures.url", "", [one]) for one in "ab"),
        *(("isTaggedBy", "", [one]) for one in "xy"),
        ("brand", "", ["ACME"]),
        ("brand", "", ["ZEST"]),
    )

    assert ["a", "b"] == catalog.pictures["url"].tolist()
    assert ["x", "y"] == catalog.tags["tag"].tolist()
    assert ["ACME"] == catalog.products["brand_code"].tolist()
    assert {"Products!G8": "'ZEST': its product has {'code': 'ACME'} there already (cell F8)"} == problems(
        catalog
    )


ODD: dict[str, tuple[str, str, Any, str]] = {
    "an error": ("namePublicLong", "fr", "#REF!", "the error #REF!"),
    "a formula without result": ("namePublicLong", "fr", "=1+1", "not stored"),
    "an unknown language": ("namePublicLong", "Klingon", "Riz", "not a known language"),
    "no language": ("namePublicLong", "", "Riz", "no language"),
    "an unknown unit": ("netContent", "furlongs", 5, "not a known unit"),
    "no unit": ("netContent", "", 5, "unit"),
    "no number": ("netContent", "GRM", "12x", "12x"),
    "two numbers in one": ("netContent", "GRM", "1.234", "may be 1.234 or 1234"),
    "another unit": ("netContent", "GRM", "5 ml", "in MLT"),
    "neither yes nor no": ("isConsumerUnit", "", "perhaps", "neither yes nor no"),
    "no whole number": ("lifeCycle", "", 1.5, "whole number"),
    "two dates": ("createdAt", "", "03/04/2026", "may be 2026-04-03 or 2026-03-04"),
    "no day": ("createdAt", "", "2026-02-30", "no day of the calendar"),
    "a word of nothing": ("ownAttribute", "Klingon", "x", "neither a known language nor a known unit"),
    "no path": ("Not a path!", "", "x", "not a technical path"),
    "a place beyond all lists": ("assets.pictures[999999999].url", "", "x", "not a place in a list"),
    "no path at all": ("", "", "x", "no path above"),
}


@each_row("case", ODD)
def test_an_odd_cell_is_listed_and_kept(tmp_path: Path, case: str) -> None:
    """By sheet and address, with value and reason; its text is in the record, and its attribute is known in part."""
    path, qualifier, cell, words = ODD[case]
    catalog = read(
        tmp_path,
        ("gtin", "", [GTIN, "00000000000017"]),
        (path, qualifier, [cell, None]),
        ("brand", "", ["ACME", "ZEST"]),
    )

    assert ["Products!B8"] == list(problems(catalog))
    assert words in problems(catalog)["Products!B8"]
    assert not catalog.complete
    assert "incomplete" in repr(catalog)
    assert ["ACME", "ZEST"] == catalog.products["brand_code"].tolist()
    has_place = path and path.isidentifier()
    if has_place and cell not in ERRORS and cell != "=1+1":
        assert str(cell) in catalog.scalars["value"].tolist()
        assert str(cell) in catalog.raw["json"][0]
    if has_place:
        assert (path,) == catalog.origin.extent.in_part  # type: ignore[union-attr]
        assert f"not every value could be read of {path}" in repr(catalog)


def test_a_missing_value_of_an_odd_column_is_unknown(tmp_path: Path) -> None:
    """One cell holds an error: what is there is judged, and of nothing it is said that it is missing."""
    catalog = read(
        tmp_path,
        ("gtin", "", [GTIN, "00000000000017", "00000000000024"]),
        ("namePublicLong", "fr", ["Riz", "#REF!", None]),
    )
    wanted = {"attribute": "namePublicLong", "language": "fr"}
    matrix = prodex.audit(catalog, {"checks": {"required_text": wanted}}, progress=False).matrix

    assert [0, 3, 3] == matrix.iloc[:, 0].tolist()


def test_a_row_without_a_product_is_listed_cell_by_cell(tmp_path: Path) -> None:
    """No GTIN at all, or an error in its place; a GTIN that is none is a product nevertheless, and listed."""
    catalog = read(
        tmp_path,
        ("gtin", "", [None, "#REF!", "no GTIN", "3,03681E+12", GTIN]),
        ("namePublicLong", "fr", ["a", "b", "c", "d", "e"]),
    )

    found = problems(catalog)
    assert {"Products!B8", "Products!A9", "Products!B9", "Products!A10", "Products!A11"} == set(found)
    assert "'a': its row names no product" == found["Products!B8"]
    assert ["no GTIN", "3,03681E+12", GTIN] == catalog.products["gtin"].tolist()
    assert ["c", "d", "e"] == catalog.texts["text"].tolist()


def test_a_second_value_is_listed_and_the_first_is_kept(tmp_path: Path) -> None:
    """In whichever row or sheet; a code never gets the label of another."""
    path = write(
        tmp_path / "export.xlsx",
        One=[
            ("gtin", "", [GTIN, GTIN]),
            ("namePublicLong", "fr", ["Riz", "Blé"]),
            ("kind", "", ["Rice", None]),
            ("own", "", ["x", None]),
        ],
        Two=[("gtin", "", [GTIN]), ("kind", "", [f"Wheat{BAR}WHEAT"]), ("brand.code", "", ["A"])],
        Three=[("gtin", "", [GTIN]), ("brand", "", [f"B{BAR}B"]), ("own.er", "", ["odd"])],
    )
    catalog = prodex.read_workbook(path)

    assert ["Riz"] == catalog.texts["text"].tolist()
    assert [["Rice", None, "A", None]] == (
        catalog.products[["kind", "kind_code", "brand_code", "brand"]].astype(object).replace({np.nan: None})
    ).to_numpy().tolist()
    found = problems(catalog)
    assert {"One!B9", "Two!B8", "Three!B8", "Three!C8"} == set(found)
    assert "'Blé': its product has 'Riz' there already (cell B8)" == found["One!B9"]
    assert "something of another kind" in found["Three!C8"]


def test_versions_of_one_gtin_are_told_apart_by_id(tmp_path: Path) -> None:
    """A row that names the GTIN alone is of neither, if there are two."""
    path = write(
        tmp_path / "export.xlsx",
        One=[("id", "", [7, 8]), ("gtin", "", [GTIN, GTIN]), ("brand", "", ["A", "B"])],
        Two=[("gtin", "", [GTIN]), ("kind", "", ["K"])],
        Three=[("id", "", ["7"]), ("kind", "", ["K"])],
    )
    catalog = prodex.read_workbook(path)

    assert ["7", "8"] == catalog.products["product_id"].tolist()
    assert ["K", None] == catalog.products["kind_code"].astype(object).replace({np.nan: None}).tolist()
    assert {"Two!A8", "Two!B8"} == set(problems(catalog))
    assert "several products" in problems(catalog)["Two!B8"]


def test_an_id_that_is_the_gtin_of_another_product_hides_none(tmp_path: Path) -> None:
    """Its row is listed; one id with two GTINs is one product, and the second GTIN is listed."""
    catalog = read(
        tmp_path,
        ("id", "", [None, GTIN, 7, 7]),
        ("gtin", "", [GTIN, "00000000000017", "00000000000024", "00000000000031"]),
        ("brand", "", ["A", "B", "C", "C"]),
    )
    assert [GTIN, "7"] == catalog.products["product_id"].tolist()
    assert ["A", "C"] == catalog.products["brand_code"].tolist()
    assert {"Products!A9", "Products!B9", "Products!C9", "Products!B11"} == set(problems(catalog))


@each_row(
    ("qualifier", "expected"),
    [
        ("fr", (None, "fr")),
        ("fra-FR", ("fra-FR", "fr")),
        ("fr-FR", ("fra-FR", "fr")),
        ("French", (None, "fr")),
        ("French (France)", (None, "fr")),
        (f"French (France){BAR}fra-FR", ("fra-FR", "fr")),
        ("Deutsch", (None, "de")),
    ],
)
def test_languages_are_understood(tmp_path: Path, qualifier: str, expected: tuple[Any, Any]) -> None:
    """By code in either form, by name, and with both."""
    texts = read(tmp_path, ("gtin", "", [GTIN]), ("namePublicLong", qualifier, ["x"])).texts
    found = texts[["language_code", "language"]].astype(object).replace({np.nan: None})
    assert [list(expected)] == found.to_numpy().tolist()


@each_row(
    ("qualifier", "code"),
    [("GRM", "GRM"), ("g", "GRM"), ("ml", "MLT"), (f"Gram{BAR}GRM", "GRM"), ("E34", "E34")],
)
def test_units_are_understood(tmp_path: Path, qualifier: str, code: str) -> None:
    """By code, by what people write, and with both; a code that is not known is a code."""
    catalog = read(tmp_path, ("gtin", "", [GTIN]), ("netContent", qualifier, ["1 234,5"]))
    assert [(1234.5, code)] == list(
        catalog.quantities[["value", "unit_code"]].itertuples(index=False, name=None)
    )


def test_an_undeclared_attribute_is_what_its_column_says(tmp_path: Path) -> None:
    """In a language it is a text, in a unit a quantity; otherwise each cell decides."""
    catalog = read(
        tmp_path,
        ("gtin", "", [GTIN]),
        ("newText", "nl", ["Rijst"]),
        ("newMeasure", "kg", [2]),
        ("newFlag", "", [True]),
        ("newNumber", "", [0.1]),
        ("newDate", "", [date(2026, 11, 23)]),
        ("newWords", "", ["sugar|salt"]),
        ("productBenefits.text", "fr", ["Bon"]),
        ("deep.er", "", ["x"]),
    )
    assert problems(catalog) == {}
    made = record(catalog)
    assert [True, 0.1, "2026-11-23", "sugar|salt"] == [
        made[name] for name in ("newFlag", "newNumber", "newDate", "newWords")
    ]
    assert {("newText", "nl"), ("productBenefits.text", "fr")} == set(
        catalog.texts[["attribute", "language"]].itertuples(index=False, name=None)
    )
    assert [("newMeasure", 2.0, "KGM")] == list(
        catalog.quantities[["attribute", "value", "unit_code"]].itertuples(index=False, name=None)
    )
    assert ["x"] == catalog.scalars.query("attribute == 'deep.er'")["value"].tolist()


def test_cells_above_may_be_merged(tmp_path: Path) -> None:
    """A path or a language over several columns is that of each."""
    with xlsxwriter.Workbook(tmp_path / "export.xlsx") as book:
        sheet = book.add_worksheet("Products")
        sheet.merge_range("A1:E3", "For people")
        sheet.write_row("A4", ["gtin"])
        sheet.merge_range("B4:C4", "namePublicLong")
        sheet.merge_range("D4:E4", "description")
        sheet.write_row("B6", ["fr"])
        sheet.merge_range("C6:D6", "de")
        sheet.write_row("E6", ["fr"])
        sheet.write_row("A8", [GTIN, "a", "b", "c", "d"])
    catalog = prodex.read_workbook(tmp_path / "export.xlsx")

    assert problems(catalog) == {}
    assert [
        *(("description", "de", "c"), ("description", "fr", "d")),
        *(("namePublicLong", "fr", "a"), ("namePublicLong", "de", "b")),
    ] == list(catalog.texts[["attribute", "language", "text"]].itertuples(index=False, name=None))


def merged_sheet(
    path: Path, above: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], *ranges: str
) -> Path:
    """Write a sheet whose data cells are merged; only the first cell of a range holds its value."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Products")
        for column, (technical, qualifier) in enumerate(above):
            sheet.write(3, column, technical)
            sheet.write(5, column, qualifier)
        for row, cells in enumerate(rows, 7):
            for column, cell in enumerate(cells):
                if cell is not None:
                    sheet.write(row, column, cell)
        for one in ranges:
            first, _, _ = one.partition(":")
            row, column = xl_cell_to_rowcol(first)
            sheet.merge_range(one, rows[row - 7][column])
    return path


def test_a_cell_that_is_merged_with_those_below_is_in_all_of_their_rows(tmp_path: Path) -> None:
    """As it is shown: several products have one brand, and the rows of a product have one GTIN."""
    above = [
        ("gtin", ""),
        ("brand", ""),
        ("namePublicLong", "fr"),
        ("assets.pictures.url", ""),
        ("netContent", "g"),
    ]
    rows: list[list[Any]] = [
        [GTIN, f"Acme{BAR}ACME", "Riz", "https://a.example/1.jpg", 500],
        ["00000000000017", None, "Sel", None, None],
        ["03663215000110", None, None, "https://a.example/2.jpg", 5],
        [None, None, None, "https://a.example/3.jpg", None],
        ["03178041265140", None, "Thé", None, 7],
    ]
    path = merged_sheet(tmp_path / "a.xlsx", above, rows, "B8:B11", "C9:C11", "D8:D9", "E8:E9", "A10:A11")
    catalog = prodex.read_workbook(path)

    assert ({}, 4) == (problems(catalog), len(catalog))
    brands = catalog.products["brand_code"].astype(object)
    assert ["ACME", "ACME", "ACME", None] == brands.where(brands.notna(), None).tolist()
    assert ["Riz", "Sel", "Sel", "Thé"] == catalog.texts["text"].tolist()
    assert [500.0, 500.0, 5.0, 7.0] == catalog.quantities["value"].tolist()
    urls = catalog.pictures.groupby("gtin")["url"].agg(list).to_dict()
    assert {
        GTIN: ["https://a.example/1.jpg"],
        "00000000000017": ["https://a.example/1.jpg"],
        "03663215000110": ["https://a.example/2.jpg", "https://a.example/3.jpg"],
    } == urls


def test_a_merged_cell_makes_no_second_item_of_one_product(tmp_path: Path) -> None:
    """A picture over two rows is one, unless the rows say different things of it."""
    above = [
        ("gtin", ""),
        ("assets.pictures.url", ""),
        ("assets.pictures.width", ""),
        ("namePublicLong", "fr"),
    ]
    one, two = "https://a.example/1.jpg", "https://a.example/2.jpg"
    rows = [
        [GTIN, one, 100, "Riz"],
        [None, None, None, None],
        [None, two, 300, None],
        [None, None, 400, None],
    ]
    rows[1][3] = "Riz"
    path = merged_sheet(tmp_path / "a.xlsx", above, rows, "A8:A11", "B8:B9", "B10:B11")
    catalog = prodex.read_workbook(path)

    assert ({}, 1) == (problems(catalog), len(catalog))
    assert [(one, 100), (two, 300), (two, 400)] == list(
        catalog.pictures[["url", "width"]].itertuples(index=False, name=None)
    )


def test_a_cell_that_is_merged_with_other_columns_is_listed(tmp_path: Path) -> None:
    """Nobody knows whether it is their value as well: it is not missing, and not invented."""
    above = [("gtin", ""), ("brand", ""), ("kind", ""), ("namePublicLong", "fr")]
    rows: list[list[Any]] = [[GTIN, f"Acme{BAR}ACME", None, "Riz"], ["00000000000017", None, None, "Sel"]]
    path = merged_sheet(tmp_path / "a.xlsx", above, rows, "B8:C9")
    catalog = prodex.read_workbook(path)

    why = f"'Acme{BAR}ACME': it is merged with B8, which is of another column"
    assert {f"Products!{place}": why for place in ("C8", "C9")} == problems(catalog)
    assert (["ACME", "ACME"], [True, True]) == (
        catalog.products["brand_code"].tolist(),
        catalog.products["kind_code"].isna().tolist(),
    )
    assert "kind" in catalog.origin.extent.in_part


def test_a_value_below_a_merged_cell_is_listed_and_kept(tmp_path: Path) -> None:
    """Some programs keep what nobody sees any more."""
    above = [("gtin", ""), ("lifeCycle", "")]
    path = merged_sheet(tmp_path / "a.xlsx", above, [[GTIN, 1], ["00000000000017", 2]])
    book = openpyxl.load_workbook(path)
    book["Products"].merged_cells.add("B8:B9")
    book.save(path)
    catalog = prodex.read_workbook(path)

    assert {"Products!B9": "'2': it is hidden below B8, which is merged over it"} == problems(catalog)


@pytest.mark.slow
def test_what_is_no_such_workbook_is_said(tmp_path: Path) -> None:
    """A list of people, a text file, nothing, another type; the message says what to do."""
    plain = tmp_path / "plain.xlsx"
    pd.DataFrame({"a": range(20)}).to_excel(plain, index=False, engine="xlsxwriter")
    with pytest.raises(InputError, match=r"no sheet has technical paths.*row 4"):
        prodex.read_workbook(plain)
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04 broken")
    for path in (tmp_path / "none.xlsx", tmp_path / "broken.xlsx", tmp_path):
        with pytest.raises(SpreadsheetUnreadable):
            prodex.read_workbook(path)
    with pytest.raises(InputError, match="Give the path"):
        prodex.read_workbook(7)  # type: ignore[arg-type]
    whole = write(tmp_path / "a.xlsx", One=[("gtin", "", [GTIN])])
    with (
        zipfile.ZipFile(whole) as good,
        zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as book,
    ):
        for name in good.namelist():
            content = good.read(name)
            book.writestr(name, content + b" " * 400_000_000 if "sheet1" in name else content)
    with pytest.raises(SpreadsheetUnreadable, match=r"bomb|read_workbook\(limits"):
        prodex.read_workbook(tmp_path / "bomb.xlsx")


def test_a_workbook_without_products_still_says_what_it_knows(tmp_path: Path) -> None:
    """Its columns are there, and no product is."""
    catalog = read(tmp_path, ("gtin", "", []), ("brand", "", []))
    assert (0, True, False) == (len(catalog), catalog.origin.asked("brand"), catalog.origin.asked("kind"))


CELLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["Yes", "12,5", "1.234", f"A{BAR}B", "a|B", "#REF!", "=A1", "", " ", "x" * 50, "0", BAR, "|"]
    ),
    st.text("abc∣|=.,'{}\"\\\n€é\u202e0123", max_size=8),
    st.integers(-(10**12), 10**12),
    st.floats(-1e6, 1e6).map(lambda one: round(one, 3)),
    st.booleans(),
    st.sampled_from([datetime(2026, 11, 20, 8), datetime(1900, 1, 1)]),  # noqa: DTZ001 - none is said
)
PATHS = st.sampled_from(
    [
        *(
            "gtin",
            "id",
            "namePublicLong",
            "brand",
            "brand.code",
            "netContent",
            "netContent.data",
            "lifeCycle",
        ),
        *("isConsumerUnit", "createdAt", "assets.pictures.url", "assets.pictures[0].url", "assets.pictures"),
        *(
            "isPartitionedBy.contains.quantity",
            "isTaggedBy",
            "own",
            "own.er",
            "own[2]",
            "a..b",
            "[0]",
            "x y",
            "",
        ),
    ]
)
QUALIFIERS = st.sampled_from(["", "fr", "French", "GRM", "g", "ml", "-", "Klingon", f"Gram{BAR}GRM", BAR])
COLUMNS = st.lists(st.tuples(PATHS, QUALIFIERS, st.lists(CELLS, min_size=3, max_size=3)), max_size=6)


def test_a_label_of_two_lines_keeps_both(tmp_path: Path) -> None:
    """As it was typed: a code is one word, and a label is a text."""
    path = write(tmp_path / "export.xlsx", Products=[("gtin", "", [GTIN]), ("brand", "", ["Moulin\nd'or"])])

    (record,) = map(json.loads, prodex.read_workbook(path).raw["json"])

    assert {"label": "Moulin\nd'or"} == record["brand"]


@given(columns=COLUMNS, gtins=st.lists(st.sampled_from([GTIN, "17", None, "no"]), min_size=3, max_size=3))
def test_every_cell_is_in_the_record_or_listed(
    tmp_path_factory: pytest.TempPathFactory, columns: list[Column], gtins: list[Any]
) -> None:
    """Law: no cell is dropped without a word, whatever the columns are called and whatever the cells hold."""
    path = tmp_path_factory.mktemp("law") / "export.xlsx"
    every = [("gtin", "", gtins), *columns]
    catalog = prodex.read_workbook(write(path, Products=every))

    listed = set(problems(catalog))
    held = "\n".join(catalog.raw["json"])
    for place, (_, _, cells) in enumerate(every):
        for row, cell in enumerate(cells, FIRST_ROW):
            address = f"Products!{chr(ord('A') + place)}{row}"
            if cell is None or cell == "" or address in listed:
                continue
            assert any(one in held for one in spellings(cell)), (address, cell, held)
    for table in catalog.tables.index:
        catalog.arrow(table).validate(full=True)


def spellings(cell: Any) -> list[str]:
    """Return how a value may be written in a record."""
    if isinstance(cell, bool):
        return ["true" if cell else "false", '"1"' if cell else '"0"', "1" if cell else "0"]
    if isinstance(cell, datetime):
        return [cell.isoformat().removesuffix("T00:00:00")]
    if isinstance(cell, int | float):
        return [json.dumps(cell), f"{cell:.15g}", str(abs(cell)), str(int(cell)), "true", "false"]
    words = {"Yes": "true", "12,5": "12.5", "0": "0"}
    # A text such as 00, 0. or 1'000 is a number where its column has numbers.
    plain = cell.strip().replace("'", "").replace(",", ".")
    if re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", plain):
        words[cell] = f"{float(plain):.15g}"
    whole = json.dumps(cell)[1:-1]
    # The label beside a code, and spaces around both, are the least that has to be there.
    codes = [part.strip() for bar in "∣|" for part in cell.rpartition(bar)[2:]]
    return [whole, words.get(cell, whole), *(json.dumps(one)[1:-1] for one in (cell.strip(), *codes))]


def formatted(path: Path, *columns: tuple[str, str, Any, dict[str, Any]]) -> prodex.Catalog:
    """Read one product whose cells have formats."""
    book = xlsxwriter.Workbook(path / "export.xlsx")
    sheet = book.add_worksheet("Products")
    for place, (technical, qualifier, value, look) in enumerate([("gtin", "", GTIN, {}), *columns]):
        sheet.write_column(3, place, [technical, "#1", qualifier])
        sheet.write(7, place, value, book.add_format(look))
    book.close()
    return prodex.read_workbook(path / "export.xlsx")


def test_a_number_is_what_its_format_shows(tmp_path: Path) -> None:
    """Zeros that a format adds are those of a code, and percent is applied; other formats change nothing."""
    catalog = formatted(
        tmp_path,
        ("brand", "", 12, {"num_format": "0000"}),
        ("namePublicLong", "fr", 7, {"num_format": "000"}),
        ("namePublicLong", "nl", 0.5, {"num_format": "0%"}),
        ("netContent", "P1", 0.125, {"num_format": "0.0%"}),
        ("lifeCycle", "", 2, {"num_format": "000"}),
        ("ownCode", "", 12, {"num_format": "0000"}),
        ("ownNumber", "", 12, {"num_format": "0"}),
        ("id", "", 7, {"num_format": "0"}),
    )
    assert problems(catalog) == {}
    made = record(catalog)
    assert {"code": "0012"} == made["brand"]
    assert ["007", "50%"] == [one["data"] for one in made["namePublicLong"]]
    assert [12.5, 2, "0012", 12, "7"] == [
        *(made["netContent"][0]["data"], made["lifeCycle"], made["ownCode"], made["ownNumber"], made["id"]),
    ]


RETYPED: dict[str, tuple[str, str, Any, dict[str, Any], str]] = {
    "a number as a code": ("brand", "", 12, {}, "a number"),
    "a whole number as a code": ("kind", "", 100, {"num_format": "0"}, "a number"),
    "1E2": ("brand", "", 100, {"num_format": "0.00E+00"}, "a number"),
    "MAR1": ("brand", "", datetime(2026, 3, 1), {"num_format": "d-mmm"}, "a date"),  # noqa: DTZ001 - none is said
    "TRUE": ("brand", "", True, {}, "true or false"),
    "a number as a text": ("namePublicLong", "fr", 7, {}, "a number"),
    "a date as a text": ("namePublicLong", "fr", datetime(2026, 3, 1), {"num_format": "d-mmm"}, "a date"),  # noqa: DTZ001
    "a rounded number": ("brand", "", 12.5, {"num_format": "0000"}, "a number"),
    "a percentage that is rounded": ("namePublicLong", "fr", 0.125, {"num_format": "0%"}, "a percentage"),
    "a code that is struck through": ("brand", "", "OLD", {"font_strikeout": True}, "struck through"),
    "a number that is struck through": ("netContent", "GRM", 5, {"font_strikeout": True}, "struck through"),
    "a date beyond all": ("createdAt", "", 4006381333931, {"num_format": "d-mmm"}, "is not a date"),
    "a GTIN as a date": ("assets.pictures.url", "", -5, {"num_format": "d-mmm"}, "is not a date"),
}  # fmt: skip


@each_row("case", RETYPED)
def test_what_a_spreadsheet_made_of_it_is_listed(tmp_path: Path, case: str) -> None:
    """With its cell: what a program changed is no text and no code, and what is struck through is nothing."""
    path, qualifier, value, look, words = RETYPED[case]
    catalog = formatted(tmp_path, (path, qualifier, value, look), ("isTaggedBy", "", "new", {}))
    assert ["Products!B8"] == list(problems(catalog))
    assert words in problems(catalog)["Products!B8"]
    assert ["new"] == catalog.tags["tag"].tolist()
    assert not catalog.complete


def test_the_separator_is_that_of_the_paths(tmp_path: Path) -> None:
    """In a file whose words are full of commas; letters that are certain in no encoding are listed."""
    above = [
        "Dear, all, of, you",
        "",
        "",
        "gtin;namePublicLong;brand",
        "a,b,c,d;e,f,g;h,i",
        ";fr;",
        "",
        f"{GTIN};Riz, long;A",
    ]
    content = "\n".join([*above, f"{GTIN};;A", "00000000000017;Blé;B"])
    (tmp_path / "a.csv").write_bytes(content.encode("cp1252"))
    catalog = prodex.read_workbook(tmp_path / "a.csv")
    assert ["Riz, long"] == catalog.texts["text"].tolist()
    assert ["A", "B"] == catalog.products["brand_code"].tolist()
    assert ["B10"] == list(problems(catalog))
    assert "'Blé'" in problems(catalog)["B10"]


def test_a_difference_is_about_what_both_know(tmp_path: Path) -> None:
    """What has no column, and what could not all be read, is not comparable, and never removed."""
    text = [{"expressedIn": {"code": code}, "data": code} for code in ("fra-FR", "deu-DE")]
    content = [{"data": 5, "expressedIn": {"code": "GRM"}}]
    whole = prodex.flatten(
        [{"gtin": GTIN, "namePublicLong": text, "kind": {"code": "K"}, "netContent": content}]
    )
    part = read(
        tmp_path,
        ("gtin", "", [GTIN]),
        ("namePublicLong", "fra-FR", ["Riz"]),
        ("netContent", "GRM", ["5x"]),
    )
    difference = prodex.diff(whole, part)

    assert [("namePublicLong", "fra-FR", "Riz")] == list(
        difference.changes[["attribute", "old", "new"]].itertuples(index=False, name=None)
    )
    assert {
        "kind": "not requested in new",
        "namePublicLong": "not requested in new",
        "netContent": "not all of it could be read in new",
    } == dict(difference.not_comparable[["attribute", "why"]].itertuples(index=False, name=None))

"""Exports keep what is there: GTINs with their zeros, null and empty apart, text verbatim unless asked otherwise."""

from __future__ import annotations

import csv
import gc
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from python_calamine import CalamineWorkbook

import prodex
from prodex.errors import QueryError
from prodex.formats.workbook_cells import LONGEST
from prodex.formats.xlsx_files import write_xlsx
from tests.cases import each_row

NASTY = ['=HYPERLINK("http://x")', "+1", "-1", "@a", "a\r\nb", 'say "hi"', "", "שלום 🧀", "x" * 40_000, " \t"]
RECORDS = [
    {
        "id": 1,
        "gtin": "00000000000017",
        "updatedAt": "2026-11-20T08:00:00",
        "isConsumerUnit": True,
        "lifeCycle": 1,
    },
    {"id": 2, "gtin": None, "odd": [{"expressedIn": {"code": "fra-FR"}, "data": text} for text in NASTY]},
]


@pytest.fixture
def catalog() -> prodex.Catalog:
    """Two products, one of them nasty."""
    return prodex.flatten(RECORDS)


@pytest.mark.parametrize("saved", [False, True])
def test_parquet_holds_every_table_as_it_is(catalog: prodex.Catalog, tmp_path: Path, saved: bool) -> None:
    """Read by anybody's Parquet reader, the frames are the catalogue's."""
    catalog = catalog.save("two") if saved else catalog
    catalog.export(tmp_path / "out", "parquet")

    for table in ("products", "texts", "presence"):
        read = pd.read_parquet(tmp_path / "out" / f"{table}.parquet", dtype_backend="pyarrow")
        assert catalog.arrow(table).to_pylist() == [
            {k: None if pd.isna(v) else v for k, v in row.items()} for row in read.to_dict("records")
        ]


def test_csv_keeps_leading_zeros_and_says_so_beside_it(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """The data package tells every reader that a GTIN is text."""
    catalog.export(tmp_path, "csv")

    described = json.loads((tmp_path / "datapackage.json").read_text("utf-8"))
    fields = {
        r["name"]: {f["name"]: f["type"] for f in r["schema"]["fields"]} for r in described["resources"]
    }
    assert "string" == fields["products"]["gtin"]
    assert {"updated_at": "datetime", "life_cycle": "integer"}.items() <= fields["products"].items()
    frame = pd.read_csv(tmp_path / "products.csv", dtype=str)
    assert "00000000000017" == frame["gtin"][0]
    assert ["2026-11-20T08:00:00", "true", "1"] == frame.loc[
        0, ["updated_at", "is_consumer_unit", "life_cycle"]
    ].tolist()


def test_csv_is_verbatim_by_default(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Markup, quotes, line ends and 40,000 characters come back as they were."""
    catalog.export(tmp_path, "csv")
    with (tmp_path / "texts.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]

    assert NASTY == texts


def test_csv_for_spreadsheets_runs_no_formula(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """By choice an apostrophe stands before whatever a spreadsheet would run."""
    catalog.export(tmp_path, "csv", escape_formulas=True)
    with (tmp_path / "texts.csv").open(encoding="utf-8-sig", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]

    assert [f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text for text in NASTY] == texts


def test_null_and_empty_text_stay_apart_in_csv(tmp_path: Path) -> None:
    """Nothing at all is null, two quotes are an empty text."""
    prodex.flatten([{"id": 1, "brand": {"code": "", "label": None}}]).export(tmp_path, "csv")
    header, row = (tmp_path / "products.csv").read_text("utf-8").splitlines()

    cells = dict(zip(header.split(","), row.split(","), strict=True))
    assert ('""', "") == (cells["brand_code"], cells["brand"])


def rows_of(path: Path) -> list[list[Any]]:
    """Read all sheets of a workbook, their headings once."""
    book = CalamineWorkbook.from_path(path)
    sheets = [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]
    return [sheets[0][0], *(row for sheet in sheets for row in sheet[1:])]


def test_a_workbook_runs_no_formula_and_keeps_text(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Formulas, addresses and numbers that are text stand there as text, letter by letter."""
    catalog.export(tmp_path, "xlsx")

    heading, *rows = rows_of(tmp_path / "texts.xlsx")
    texts = [row[heading.index("text")] for row in rows]
    assert [text for text in NASTY if len(text) < LONGEST] == [
        text for text in texts if len(text) < LONGEST - 100
    ]
    with zipfile.ZipFile(tmp_path / "texts.xlsx") as book:
        xml = "".join(book.read(name).decode() for name in book.namelist())
    assert not re.search("<f[ >]|<hyperlink", xml)


def test_a_workbook_keeps_zeros_and_has_real_dates_and_numbers(
    catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """A GTIN is text; what is a date, a number or a flag can be filtered as one."""
    catalog.export(tmp_path, "xlsx")

    heading, first, second = rows_of(tmp_path / "products.xlsx")
    row = dict(zip(heading, first, strict=True))
    assert ("00000000000017", datetime(2026, 11, 20, 8), True, 1) == tuple(  # noqa: DTZ001 - none is said
        row[name] for name in ("gtin", "updated_at", "is_consumer_unit", "life_cycle")
    )
    assert "" == dict(zip(heading, second, strict=True))["gtin"]


def test_a_text_too_long_for_a_cell_is_cut_with_a_word_and_counted(
    catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """The cell says how much of it is shown, and the data package how many there are."""
    catalog.export(tmp_path, "xlsx")

    heading, *rows = rows_of(tmp_path / "texts.xlsx")
    (cut,) = [row[heading.index("text")] for row in rows if len(row[heading.index("text")]) > 1_000]
    assert cut.endswith(f" … [{LONGEST - 70:,} of 40,000 characters]")
    described = json.loads((tmp_path / "datapackage.json").read_text("utf-8"))
    counted = {resource["name"]: resource["altered_texts"] for resource in described["resources"]}
    assert (1, 0) == (counted["texts"], counted["products"])


def test_what_a_cell_cannot_hold_as_a_number_is_text(tmp_path: Path) -> None:
    """Large whole numbers keep their digits, moments their zone and fractions, and nothing becomes an error."""
    moments = pa.array(["1850-01-01T00:00:00", "2026-01-01T00:00:00.5", None], pa.string()).cast(
        pa.timestamp("us")
    )
    table = pa.table(
        {
            "whole": pa.array([2**53 + 1, 999_999_999_999_999, None]),
            "part": [float("inf"), float("nan"), 0.5],
            "moment": moments,
            "zoned": pa.array([0, None, 0], pa.timestamp("s", "UTC")),
            "odd": ["\ufffe", "_x0041_\x0b\r", ""],
        }
    )

    altered = write_xlsx(iter(table.to_batches()), table.schema, tmp_path / "odd.xlsx")
    assert 1 == altered
    assert [
        ["9007199254740993", "inf", "1850-01-01T00:00:00", "1970-01-01T00:00:00Z", "\ufffd"],
        [999_999_999_999_999, "nan", "2026-01-01T00:00:00.500000", "", "_x0041_\x0b\r"],
        ["", 0.5, "", "1970-01-01T00:00:00Z", ""],
    ] == rows_of(tmp_path / "odd.xlsx")[1:]


@each_row(("rows", "sheets"), [(0, 1), (3, 1), (4, 2), (10, 4)])
def test_rows_beyond_a_sheet_go_to_further_sheets(tmp_path: Path, rows: int, sheets: int) -> None:
    """Each sheet has its heading, and no row is lost between two of them."""
    table = pa.table({"n": pa.array(range(rows), pa.int64())})
    path = tmp_path / "many.xlsx"
    write_xlsx(iter(table.to_batches(max_chunksize=3)), table.schema, path, most_rows=4)

    assert [["n"], *([n] for n in range(rows))] == rows_of(path)
    assert sheets == len(CalamineWorkbook.from_path(path).sheet_names)


def test_an_unknown_format_or_option_is_refused_before_anything_is_written(
    catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """No option is parsed and ignored."""
    with pytest.raises(QueryError, match="give one of parquet, csv, xlsx"):
        catalog.export(tmp_path / "out", "xls")
    with pytest.raises(QueryError, match="takes no escape_formulas"):
        catalog.export(tmp_path / "out", "parquet", escape_formulas=True)
    assert not (tmp_path / "out").exists()


def calls_of(work: Callable[[], object], stop: int | None = None) -> int:
    """Do some work, interrupt it at a call of a function of the archive or the workbook, and count the calls."""
    calls = 0

    def trace(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        code = frame.f_code
        # What is collected as garbage is not where anybody waits for an interrupt.
        if event == "call" and code.co_filename.rpartition("/")[2] in {"zipfile.py", "workbook.py"}:
            if code.co_name == "__del__" or (frame.f_back and frame.f_back.f_code.co_name == "__del__"):
                return
            calls += 1
            if calls == stop:
                raise KeyboardInterrupt

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(None)
    return calls


@pytest.mark.slow
def test_a_workbook_that_is_interrupted_leaves_nothing_to_be_said_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C at any moment, while the archive is written as well: no traceback of what is cleaned up afterwards."""
    said: list[sys.UnraisableHookArgs] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    catalog = prodex.flatten(RECORDS)

    def work() -> None:
        catalog.export(tmp_path / "out", "xlsx", tables=["products", "texts"], progress=False)

    calls = calls_of(work)
    shutil.rmtree(tmp_path / "out")
    assert calls > 100

    for stop in range(1, calls - 40, 31):
        with pytest.raises(KeyboardInterrupt):
            calls_of(work, stop)
        assert [] == list(tmp_path.iterdir())
    gc.collect()
    assert [] == list(tmp_path.iterdir())
    # Python tells only those who ask that a file was closed late.
    assert [] == [one.exc_value for one in said if one.exc_type is not ResourceWarning]

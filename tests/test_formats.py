"""Exports keep what is there: GTINs with their zeros, null and empty apart, text verbatim unless asked otherwise."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

import prodex
from prodex.errors import QueryError

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
    catalog = prodex.save(catalog, "two") if saved else catalog
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
    with (tmp_path / "texts.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]

    assert [f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text for text in NASTY] == texts


def test_null_and_empty_text_stay_apart_in_csv(tmp_path: Path) -> None:
    """Nothing at all is null, two quotes are an empty text."""
    prodex.flatten([{"id": 1, "brand": {"code": "", "label": None}}]).export(tmp_path, "csv")
    header, row = (tmp_path / "products.csv").read_text("utf-8").splitlines()

    cells = dict(zip(header.split(","), row.split(","), strict=True))
    assert ('""', "") == (cells["brand_code"], cells["brand"])


def test_an_unknown_format_or_option_is_refused_before_anything_is_written(
    catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """No option is parsed and ignored."""
    with pytest.raises(QueryError, match="there are parquet, csv"):
        catalog.export(tmp_path / "out", "xls")
    with pytest.raises(QueryError, match="no option 'escape_formulas'"):
        catalog.export(tmp_path / "out", "parquet", escape_formulas=True)
    assert not (tmp_path / "out").exists()

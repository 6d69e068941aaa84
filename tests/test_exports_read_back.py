"""Exports come back exactly: by plain pandas from Parquet, and in every format by `prodex.read_export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError, QueryError
from prodex.sandbox.sample import shared_products
from prodex.tables.declaration import TABLES
from tests import wire

FORMATS = ("parquet", "csv", "csv for spreadsheets", "xlsx")

#: Texts that some format or reader makes something else of.
TEXTS = [
    "NA",
    "null",
    "nan",
    "",
    " ",
    "0017",
    "1e5",
    "true",
    "2026-11-20",
    "=1+1",
    "'=1+1",
    "'tis",
    "a;=b",
    "a\r\nb",
    "a\rb",
    "\n",
    'say "hi"',
    '"',
    ",",
    "x\x00y",
    "_x0041_",
    "<r><t>x</t></r>",
    "שלום 🧀",
    " lead and trail ",
    "\ufeffbom",
]

HOSTILE: list[dict[str, Any]] = [
    {
        "id": 1,
        "gtin": "00000000000017",
        "updatedAt": "2026-11-20T08:00:00",
        "isConsumerUnit": True,
        "lifeCycle": 1,
        "width": 0.1 + 0.2,
        "brand": {"code": "", "label": None},
        "assets": {
            "documents": [{"url": "u", "fileEffectiveStartDateTime": 1_700_000_000, "fileSize": 2**53 - 1}],
            "pictures": [{"url": "a", "isPackshot": False, "createdAt": "1899-12-31T23:59:59"}],
        },
        "netContent": [{"quantity": 0.1 + 0.2, "expressedIn": {"code": "GRM"}}, {"quantity": -0.0}],
    },
    {
        "id": "NA",
        "gtin": None,
        "createdAt": "0001-01-01T00:00:00",
        "odd": [{"expressedIn": {"code": "fra-FR"}, "data": text} for text in TEXTS],
        **dict.fromkeys(["=1+1", "", "a,b", 'q"', "line\nbreak", " x", "Gtin"], "filled"),
    },
    {"id": 3},
]


def export(catalog: prodex.Catalog, folder: Path, form: str, **more: Any) -> list[Path]:
    """Export in one of `FORMATS`."""
    if form == "csv for spreadsheets":
        return catalog.export(folder, "csv", escape_formulas=True, **more)
    return catalog.export(folder, form, **more)


def assert_same(expected: prodex.Catalog, actual: prodex.Catalog) -> None:
    """Compare every table: values, types, order; and where they come from."""
    for table in TABLES:
        pd.testing.assert_frame_equal(getattr(expected, table), getattr(actual, table))
        assert expected.arrow(table).equals(actual.arrow(table)), table  # null and "" apart
    assert expected.equals(actual)


CATALOGS = {
    "hostile": lambda: prodex.flatten(HOSTILE),
    "without products": lambda: prodex.flatten([]),
    "all null": lambda: prodex.flatten([{"id": 1}, {"id": 2}]),
    "sample": lambda: prodex.flatten([shared.record for shared in shared_products(40)]),
    "in several parts": lambda: prodex.save(_joined(), "parts"),
    "filtered": lambda: prodex.flatten(HOSTILE).where(product_id="NA"),
}


def _joined() -> prodex.Catalog:
    """Return a catalogue of two parts that have seen different attributes."""
    one, two = prodex.flatten([{"id": 1, "a": 1}]), prodex.flatten([{"id": 2, "b": "x"}])
    return prodex.Catalog((*one.parts, *two.parts), one.origin)


@pytest.fixture(params=CATALOGS)
def catalog(request: pytest.FixtureRequest) -> prodex.Catalog:
    """Catalogues of each kind."""
    made: prodex.Catalog = CATALOGS[request.param]()
    return made


def test_plain_pandas_reads_parquet_as_the_catalogue_has_it(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Values and dtypes of all tables, empty ones and columns of nulls included."""
    catalog.export(tmp_path / "out")

    for table in TABLES:
        read = pd.read_parquet(tmp_path / "out" / f"{table}.parquet")
        pd.testing.assert_frame_equal(getattr(catalog, table), read)


def test_plain_pandas_reads_the_files_of_a_snapshot_alike(tmp_path: Path) -> None:
    """`catalog.files` hands them out."""
    catalog = prodex.save(prodex.flatten(HOSTILE), "saved")

    for table in TABLES:
        read = pd.concat([pd.read_parquet(path) for path in catalog.files(table)])
        pd.testing.assert_frame_equal(getattr(catalog, table), read)


def test_other_readers_of_parquet_see_types_and_texts(tmp_path: Path) -> None:
    """What pandas is told disturbs neither DuckDB nor Arrow."""
    catalog = prodex.flatten(HOSTILE)
    catalog.export(tmp_path)

    for table in TABLES:
        path = tmp_path / f"{table}.parquet"
        expected = catalog.arrow(table)
        read = pq.read_table(path)
        assert expected.to_pylist() == read.to_pylist()
        assert [f.metadata for f in catalog._schema(table)] == [f.metadata for f in read.schema]
        with duckdb.connect() as connection:
            found = connection.read_parquet(str(path)).to_arrow_table()
        # DuckDB has no two names that differ in case only.
        assert [c.to_pylist() for c in expected.columns] == [c.to_pylist() for c in found.columns]
@pytest.mark.filterwarnings("ignore:.*workbook:UserWarning")
@pytest.mark.parametrize("form", FORMATS)
def test_every_export_comes_back_exactly(catalog: prodex.Catalog, tmp_path: Path, form: str) -> None:
    """Null and "" apart, NA a text, line breaks, quotes, zeros, formulas, fractions to the last digit."""
    export(catalog, tmp_path / "out", form)

    assert_same(catalog, prodex.read_export(tmp_path / "out"))


hypothesis_export = settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("form", FORMATS)
@hypothesis_export
@given(records=st.lists(wire.products, max_size=4))
@example(records=HOSTILE)
def test_any_products_come_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, form: str, records: list[dict[str, Any]]
) -> None:
    """Law: `read_export` undoes `export`, and plain pandas reads Parquet as the catalogue has it."""
    catalog = prodex.flatten(records)
    folder = tmp_path_factory.mktemp("law")
    export(catalog, folder, form)
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    if sum(resource["altered_texts"] for resource in package["resources"]):
        with pytest.warns(UserWarning, match="as the workbook holds"):
            prodex.read_export(folder)
        return

    assert_same(catalog, prodex.read_export(folder))
    if form == "parquet":
        for table in TABLES:
            read = pd.read_parquet(folder / f"{table}.parquet")
            pd.testing.assert_frame_equal(getattr(catalog, table), read)


def test_sodium_stays_sodium(tmp_path: Path) -> None:
    """The nutrient code NA is no missing value."""
    catalog = prodex.flatten(
        [{"id": 1, "isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": "NA"}, "quantity": 1}]}]}]
    )
    catalog.export(tmp_path, "csv")

    assert ["NA"] == prodex.read_export(tmp_path).nutrients["nutrient_code"].tolist()


def test_a_catalogue_that_was_read_back_answers_every_question(tmp_path: Path) -> None:
    """It is a `Catalog` with its origin, to filter, query, save, audit and export again."""
    catalog = prodex.flatten(HOSTILE)
    catalog.export(tmp_path / "out", "csv")
    read = prodex.read_export(tmp_path / "out")

    assert catalog.origin == read.origin
    assert 1 == len(read.where(gtin="00000000000017"))
    assert [3] == read.sql("select count(*) n from products")["n"].tolist()
    assert prodex.save(read, "again").equals(catalog)
    assert 0 == len(prodex.diff(catalog, read).changes())
    assert catalog.wide("fr").equals(read.wide("fr"))


def test_a_text_that_a_workbook_cut_is_said(tmp_path: Path) -> None:
    """With a warning that counts; the text is what the cell holds."""
    catalog = prodex.flatten([{"id": 1, "a": "x" * 40_000}])
    catalog.export(tmp_path, "xlsx")

    with pytest.warns(UserWarning, match=r"2 texts .*1 of raw.*as the workbook holds"):
        read = prodex.read_export(tmp_path)
    assert read.scalars["value"][0].endswith("of 40,000 characters]")


def test_a_long_text_comes_back_from_csv_and_parquet(tmp_path: Path) -> None:
    """40,000 characters, and a record larger than what is read at a time."""
    catalog = prodex.flatten([{"id": 1, "a": "x" * 40_000, "b": ["y\r\n" * 10_000_000]}])
    for form in ("csv", "parquet"):
        catalog.export(tmp_path / form, form)
        assert catalog.equals(prodex.read_export(tmp_path / form))

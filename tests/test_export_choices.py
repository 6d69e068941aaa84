"""What of a catalogue is exported: tables, columns and languages; what is left out is said, and is unknown later."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import ExportDamaged, NotExported, QueryError
from prodex.formats.exporting import described_file
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products
from tests import wire
from tests.cases import each_row

FORMATS = ("parquet", "csv", "xlsx")


def text(language: str, words: str, short: str | None = None) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"code": language, "normalizedCode": short}, "data": words}


RECORDS: list[dict[str, Any]] = [
    {
        "id": 1,
        "gtin": "03036811359935",
        "isConsumerUnit": True,
        "brand": {"code": "ACME", "label": "Acme"},
        "kind": {"code": "K", "label": "Kind"},
        "namePublicLong": [text("fra-FR", "Riz"), text("deu-DE", "Reis"), text("fra-BE", "Du riz", "fr")],
        "nameLegal": [text("deu-DE", "Reis, lang"), text("xx", "?")],
        "netContent": [{"data": 250, "expressedIn": {"code": "GRM"}}],
    },
    {"id": 2, "gtin": "00000000000017", "namePublicLong": [text("deu-DE", "Salz")], "odd": None},
]


@pytest.fixture(params=["in memory", "saved"])
def catalog(request: pytest.FixtureRequest) -> prodex.Catalog:
    """Two products with names in French and German, and a text in no known language."""
    made = prodex.flatten(RECORDS)
    return made.save("two") if request.param == "saved" else made


def described(folder: Path) -> dict[str, Any]:
    """Return the data package of a folder."""
    package: dict[str, Any] = json.loads((folder / "datapackage.json").read_text("utf-8"))
    return package


@pytest.mark.slow
@each_row("form", FORMATS)
def test_columns_of_one_table_are_kept_with_the_keys(
    catalog: prodex.Catalog, tmp_path: Path, form: str
) -> None:
    """Other tables stay whole; the package and what is returned count the columns that were left out."""
    written = catalog.export(tmp_path, form, columns={"texts": ["text"], "products": "brand"})
    read = prodex.read_export(tmp_path)

    assert ["product_id", "gtin", "attribute", "position", "text"] == list(read.texts)
    assert ["product_id", "gtin", "brand"] == list(read.products)
    pd.testing.assert_frame_equal(catalog.texts[list(read.texts)], read.texts)
    pd.testing.assert_frame_equal(catalog.quantities, read.quantities)
    every = len(TABLES["products"].columns)
    assert f"3 of {every} columns of products" in written.left_out
    assert "5 of 7 columns of texts" in written.left_out
    assert set(written.left_out) <= set(described(tmp_path)["left_out"])
    assert f"only 3 of {every} columns of products" in repr(written)
    # What is exported once more still knows what it lacks.
    again = read.export(tmp_path / "again", form, tables=["products"])
    assert f"3 of {every} columns of products" in again.left_out
    with pytest.raises(NotExported, match="products has no column 'kind' here: it was not exported"):
        prodex.read_export(tmp_path / "again").arrow("products", ["kind"])


def test_columns_for_all_tables_leave_out_the_tables_without_them(
    catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """Products stay for the others to refer to, and a table that is named stays with its keys."""
    catalog.export(tmp_path / "a", columns=["text", "brand_code"])
    read = prodex.read_export(tmp_path / "a")
    assert {"products", "texts"} == set(read.tables.index)
    assert ["product_id", "gtin", "brand_code"] == list(read.products)

    catalog.export(tmp_path / "b", columns="value", tables=["texts", "quantities"])
    read = prodex.read_export(tmp_path / "b")
    assert {"texts", "quantities"} == set(read.tables.index)
    assert ["product_id", "gtin", "attribute", "position"] == list(read.texts)
    assert [250.0] == read.quantities["value"].tolist()

    catalog.export(tmp_path / "c", columns=["gtin"])
    assert ["products"] == list(prodex.read_export(tmp_path / "c").tables.index)


@pytest.mark.slow
@each_row("form", FORMATS)
def test_states_of_some_attributes_are_kept(catalog: prodex.Catalog, tmp_path: Path, form: str) -> None:
    """`presence` has a column for each attribute; one that was left out is not absent, but unknown."""
    catalog.export(tmp_path, form, columns={"presence": ["brand_state"]}, tables=["products", "presence"])
    read = prodex.read_export(tmp_path)

    assert ["product_id", "brand_state"] == list(read.presence)
    assert ["filled", "absent"] == read.presence["brand_state"].tolist()
    with pytest.raises(NotExported, match="odd_state"):
        read.arrow("presence", ["odd_state"])
    with pytest.raises(NotExported):
        read.parts[0].read("presence", ["odd_state"])


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_texts_of_a_language_are_kept(catalog: prodex.Catalog, tmp_path: Path, form: str) -> None:
    """Of all countries; counts agree with the rows, and records with all languages are left out."""
    written = catalog.export(tmp_path, form, languages=["fre"])
    read = prodex.read_export(tmp_path)

    assert ["Riz", "Du riz"] == read.texts["text"].tolist()
    assert [2, 0] == read.products["texts_count"].tolist()
    assert len(catalog) == len(read)
    assert "2 of 6 rows of texts, in fr" in written.left_out
    assert set(TABLES) - {"raw"} == set(read.tables.index)
    assert (True, False) == (read.origin.asked("namePublicLong", "fr"), read.origin.asked("nameLegal", "de"))
    assert ["fr"] == described(tmp_path)["languages"]
    assert read.equals(prodex.read_export(tmp_path))
    with pytest.raises(QueryError, match="raw"):
        read.save("reduced")


@each_row("languages", ["fr", ("French",), {"FR"}, pd.Series(["fr", "fre"])])
def test_a_language_is_known_by_its_codes_and_its_name(languages: Any, tmp_path: Path) -> None:
    """Before any format is asked: what is exported of a text is the same for each spelling."""
    written = prodex.flatten(RECORDS).export(tmp_path, "parquet", tables=["texts"], languages=languages)

    assert ["Riz", "Du riz"] == prodex.read_export(tmp_path).texts["text"].tolist()
    assert "2 of 6 rows of texts, in fr" in written.left_out
    assert ["fr"] == described(tmp_path)["languages"]


def test_languages_that_cannot_be_meant_are_refused(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """With the nearest; so are languages that nobody asked the service for, and records, which hold all."""
    for languages, words in (
        (["Frensh"], "Did you mean 'French'"),
        (["klingon"], "no language 'klingon'"),
        ([], "no language"),
        (7, "languages"),
        ([None], "languages"),
    ):
        with pytest.raises(QueryError, match=words):
            catalog.export(tmp_path / "out", languages=languages)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match=r"raw.*all their languages"):
        catalog.export(tmp_path / "out", languages=["fr"], tables=["texts", "raw"])
    catalog.export(tmp_path / "french", languages="fr")
    with pytest.raises(QueryError, match=r"Texts in de were not requested.*fr"):
        prodex.read_export(tmp_path / "french").export(tmp_path / "out", languages=["de"])
    assert not (tmp_path / "out").exists()


def test_what_was_requested_stays_what_it_was(tmp_path: Path) -> None:
    """Of the languages that a query asked for, those are left that were exported; its other fields stay."""
    query = prodex.ProductQuery(product_languages=["fr-BE", "nl"], target_market=56)
    (tmp_path / "products.json").write_text(json.dumps(RECORDS))
    catalog = prodex.read_products(tmp_path / "products.json", query=query)
    catalog.export(tmp_path / "out", languages=["French", "German"])

    read = prodex.read_export(tmp_path / "out")
    assert prodex.ProductQuery(product_languages=["fr-BE"], target_market=56) == read.origin.query
    assert query == catalog.origin.query


NOW = datetime(2026, 11, 20)  # noqa: DTZ001 - the dates of the service have no zone
PROFILES = ("online-listing", "core", "food-eu", "logistics", "pictures")


@pytest.fixture(scope="module")
def sample() -> prodex.Catalog:
    """Products with everything that rules look at."""
    return prodex.flatten([shared.record for shared in shared_products(60)])


@pytest.fixture(scope="module")
def judged(sample: prodex.Catalog) -> dict[str, Any]:
    """What the audits say of all of it."""
    return {name: prodex.audit(sample, name, progress=False, now=NOW).matrix.to_numpy() for name in PROFILES}


# What was left out stands in the package, which is the same of each format.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("parquet", {"languages": ["fr"]}),
        ("csv", {"columns": ["text", "language", "brand_code"]}),
        ("parquet", {"columns": {"texts": ["language_code"], "products": ["is_consumer_unit"]}}),
        ("csv", {"columns": {"presence": ["id_state"], "quantities": []}}),
        (
            "parquet",
            {"columns": {"pictures": ["url"], "nutrients": ["nutrient_code"], "hierarchies": ["level"]}},
        ),
        ("csv", {"tables": ["products", "texts"]}),
        ("parquet", {"tables": ["products"]}),
        ("csv", {"tables": ["products"], "columns": []}),
    ],
    ids=str,
)
def test_an_audit_never_takes_what_was_left_out_for_missing(
    sample: prodex.Catalog, judged: dict[str, Any], tmp_path: Path, form: str, options: dict[str, Any]
) -> None:
    """Law: each cell is as in an audit of everything, or unknown; no rule crashes."""
    sample.export(tmp_path, form, **options)
    read = prodex.read_export(tmp_path)
    lost = 0
    for profile in PROFILES:
        audit = prodex.audit(read, profile, progress=False, now=NOW)
        states = audit.matrix.to_numpy()
        known = states != 3
        assert np.array_equal(judged[profile][known], states[known])
        assert () == audit.crashes
        lost += (judged[profile] != 3).sum() - known.sum()
    assert lost > 0


def test_a_rule_about_another_language_is_unknown(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """French was exported and can be judged; whether there is a German name nobody knows."""
    wanted = [{"attribute": "namePublicLong", "language": language} for language in ("fr", "de")]
    profile = {"checks": {"required_text": wanted}}
    catalog.export(tmp_path, languages=["fr"])
    matrix = prodex.audit(prodex.read_export(tmp_path), profile, progress=False).matrix

    assert [0, 1] == matrix["required_text[namePublicLong,fr]"].tolist()
    assert [3, 3] == matrix["required_text[namePublicLong,de]"].tolist()


@pytest.mark.slow
def test_csv_holds_records_only_where_they_are_named(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """More than half of a CSV export would be the records; other formats have them as ever."""
    written = catalog.export(tmp_path / "csv", "csv")
    assert not (tmp_path / "csv" / "raw.csv").exists()
    (left_out,) = written.left_out
    assert f"{len(TABLES) - 1} of {len(TABLES)} tables, without raw" in left_out
    assert "name it among the tables" in left_out
    assert ["raw"] == described(tmp_path / "csv")["not_exported"]
    catalog.export(tmp_path / "csv", "csv", tables=TABLES)
    assert (tmp_path / "csv" / "raw.csv").exists()
    assert [] == catalog.export(tmp_path / "whole", "parquet").left_out
    catalog.export(tmp_path / "csv", "csv")
    assert not (tmp_path / "csv" / "raw.csv").exists()  # of the earlier export


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMATS, "jsonl"])
def test_progress_is_shown_as_asked(catalog: prodex.Catalog, tmp_path: Path, form: str, capsys: Any) -> None:
    """A function gets the rows done and all, to the last row; False shows nothing, True a bar."""
    calls: list[tuple[int, int]] = []
    catalog.export(tmp_path, form, progress=lambda done, total: calls.append((done, total)))
    rows = len(catalog) if form == "jsonl" else sum(catalog.tables["rows"]) - 2 * (form == "csv")
    assert (rows, rows) == calls[-1]
    assert calls == sorted(calls)
    catalog.export(tmp_path, form, progress=False)
    catalog.export(tmp_path, form)
    assert "" == capsys.readouterr().err
    catalog.export(tmp_path, form, progress=True)
    assert "Exported" in capsys.readouterr().err


def test_progress_of_a_selection_ends_at_its_rows(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Rows that are left out do not count, neither those of other products nor of other languages."""
    calls: list[tuple[int, int]] = []
    chosen = catalog.where(product_id="1")
    chosen.export(
        tmp_path, tables=["products", "texts"], languages=["de"], progress=lambda *both: calls.append(both)
    )
    assert (3, 3) == calls[-1]


@each_row(
    ("options", "words"),
    [
        ({"columns": ["brnad"]}, "did you mean 'brand'"),
        ({"columns": {"texts": ["tekst"]}}, "did you mean 'text'"),
        ({"columns": {"text": ["text"]}}, "did you mean 'texts'"),
        (
            {"columns": {"texts": ["text"]}, "tables": ["products"]},
            "columns names texts, which tables leaves",
        ),
        ({"columns": ["text"], "tables": ["products"]}, "no column 'text'"),
        ({"columns": 7}, "columns"),
        ({"columns": [7]}, "columns"),
        ({"columns": {"texts": 7}}, "columns"),
        ({"progress": "yes"}, "progress"),
    ],
)
def test_a_choice_that_cannot_be_meant_is_refused(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    """Before anything is written, with the nearest name."""
    with pytest.raises(QueryError, match=words):
        prodex.flatten(RECORDS).export(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_sql_does_not_invent_what_was_left_out(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """A column that is not there is an error, and not a column of nulls."""
    catalog.export(tmp_path, columns={"products": ["brand"]})
    read = prodex.read_export(tmp_path)

    assert ["Acme"] == read.sql("select brand from products where brand is not null")["brand"].tolist()
    with pytest.raises(QueryError, match="kind"):
        read.sql("select kind from products")
    assert 1 == len(read.where(brand="Acme"))
    with pytest.raises(QueryError, match="kind"):
        read.where(kind="Kind")
    assert "not exported in full: 3 of" in repr(read)
    with pytest.raises(QueryError, match="not exported"):
        read.save("reduced")


LIES: dict[str, Any] = {
    "a column that is there": {"columns": ["brand"]},
    "a column of nowhere": {"columns": ["nowhere"]},
    "a key": {"columns": ["product_id"]},
    "one too few": {"columns": []},
    "no list": {"columns": 7},
    "a negative count": {"columns": [], "rows": -1},
}


@each_row("form", FORMATS)
@each_row("lie", LIES)
def test_a_package_that_lies_about_what_was_left_out_is_refused(tmp_path: Path, form: str, lie: str) -> None:
    """A column is missing only where the package says that it was left out."""
    prodex.flatten(RECORDS).export(tmp_path, form, tables=["products"], columns=["brand"])
    package = described(tmp_path)
    package["resources"][0]["left_out"] = LIES[lie]
    (tmp_path / "datapackage.json").write_text(json.dumps(package))

    with pytest.raises(ExportDamaged):
        prodex.read_export(tmp_path)


def test_a_file_that_does_not_say_whose_its_rows_are_is_refused(tmp_path: Path) -> None:
    """Nobody could say of which product a text is, even where the package says that this column was left out."""
    prodex.flatten(RECORDS).export(tmp_path, "parquet", tables=["products", "texts"])
    path, package = tmp_path / "texts.parquet", described(tmp_path)
    table = pq.read_table(path).drop_columns(["product_id"])
    pq.write_table(table, path)
    changed = described_file(path, table.schema, len(table), 0, False) | {
        "left_out": {"columns": ["product_id"]}
    }
    package["resources"] = [changed if one["name"] == "texts" else one for one in package["resources"]]
    (tmp_path / "datapackage.json").write_text(json.dumps(package))

    with pytest.raises(ExportDamaged, match="it cannot be without a column 'product_id'"):
        prodex.read_export(tmp_path)


@given(data=st.data(), records=st.lists(wire.products, max_size=3))
def test_any_choice_comes_back_as_chosen(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, records: list[dict[str, Any]]
) -> None:
    """Law: read back are the chosen columns and rows, with their values and types, and no others."""
    catalog = prodex.flatten([*records, *RECORDS])
    tables = data.draw(st.lists(st.sampled_from(sorted(set(TABLES) - {"raw"})), min_size=1, unique=True))
    columns = {
        name: data.draw(st.lists(st.sampled_from(list(catalog.table(name))), unique=True))
        for name in data.draw(st.lists(st.sampled_from(tables), unique=True))
    }
    languages = data.draw(st.sampled_from([None, ["fr"], ["German", "fra"]]))
    folder = tmp_path_factory.mktemp("law")
    form = data.draw(st.sampled_from(["parquet", "csv"]))
    catalog.export(folder, form, tables=tables, columns=columns, languages=languages)  # type: ignore[arg-type]
    read = prodex.read_export(folder)

    assert set(tables) == set(read.tables.index)
    for name in tables:
        every = catalog.arrow(name)
        keys = {"product_id", "gtin", "attribute", "position"} if TABLES[name].per_product else set()
        kept = [one for one in every.column_names if name not in columns or one in {*keys, *columns[name]}]
        if not TABLES[name].per_product:
            kept = read.arrow(name).column_names
            assert set(columns.get(name, every.column_names)) <= set(kept)
        if languages is not None and name == "texts":
            spoken = [
                one.partition("-")[0] in {"fr", "de"} - ({"de"} if len(languages) == 1 else set())
                for one in (row["language"] or "" for row in every.to_pylist())
            ]
            every = every.filter(pa.array(spoken, pa.bool_()))
        if languages is not None and "texts_count" in kept:
            kept.remove("texts_count")
            assert set(kept) | {"texts_count"} == set(read.arrow(name).column_names)
        assert every.select(kept).equals(read.arrow(name, kept)), name

"""A query reaches the catalogue's own tables and nothing else, unless the caller says otherwise."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import prodex
from prodex.errors import QueryError

RECORDS = [{"id": 7, "brand": {"code": "ACME"}, "isTaggedBy": ["a"]}, {"id": 8, "brand": {"code": "ZEST"}}]


@pytest.fixture(params=["in memory", "saved", "filtered"])
def catalog(request: pytest.FixtureRequest) -> prodex.Catalog:
    """Two products, wherever their tables are."""
    catalog = prodex.flatten(RECORDS)
    if request.param == "in memory":
        return catalog
    saved = prodex.save(catalog, "shop")
    return saved if request.param == "saved" else saved.where(brand_code=["ACME", "ZEST", "other"])


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with somebody's files."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret.csv").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"a": [1]}), folder / "other.parquet")
    monkeypatch.chdir(folder)
    return folder


FORBIDDEN = [
    "select * from read_csv('secret.csv')",
    "select * from 'secret.csv'",
    "select * from read_text('secret.csv')",
    "select * from read_blob('/etc/hostname')",
    "select * from sniff_csv('secret.csv')",
    "select * from read_parquet('other.parquet')",
    "select * from parquet_metadata('other.parquet')",
    "select * from glob('/*')",
    "select * from read_csv('http://127.0.0.1:9/x.csv')",
    "copy (select * from products) to 'out.csv'",
    "copy products to 'out.parquet' (format parquet)",
    "export database 'out'",
    "import database 'out'",
    "attach 'out.db'",
    "install httpfs",
    "load httpfs",
    "load 'here.so'",
    "create persistent secret s (type s3)",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "set memory_limit = '1GB'",
    "pragma enable_profiling = 'json'",
    "set allowed_directories = ['/']",
    "select 1; copy (select 2) to 'out.csv'",
]


@pytest.mark.parametrize("query", FORBIDDEN)
def test_nothing_else_is_read_written_or_loaded(query: str, elsewhere: Path) -> None:
    """An error of ours with DuckDB's words; the folder one works in stays as it was."""
    catalog = prodex.flatten(RECORDS)
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}

    with pytest.raises(QueryError, match="The query does not work"):
        catalog.sql(query)

    assert before == {path.name: path.read_bytes() for path in elsewhere.iterdir()}


def test_files_of_the_snapshot_itself_are_tables_and_no_files() -> None:
    """What is on disk is read by the reader that verifies it."""
    catalog = prodex.save(prodex.flatten(RECORDS), "shop")

    with pytest.raises(QueryError, match="allow_external=True"):
        catalog.sql(f"select * from read_parquet('{catalog.files('products')[0]}')")


def test_every_table_answers(catalog: prodex.Catalog) -> None:
    """In memory, on disk, filtered: the same rows as the frames."""
    for table in catalog.tables.index:
        assert len(getattr(catalog, table)) == int(catalog.sql(f"select count(*) n from {table}")["n"][0])
    joined = "select p.brand_code, t.tag from products p join tags t using (product_id)"
    assert [["ACME", "a"]] == catalog.sql(joined).to_numpy().tolist()


def test_a_query_may_make_tables_of_its_own(catalog: prodex.Catalog) -> None:
    """They live as long as the query."""
    answer = catalog.sql("create table mine as select product_id from products; select count(*) n from mine")

    assert [2] == answer["n"].tolist()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("selec", "syntax error"),
        ("select nothing from products", "nothing"),
        ("select * from nowhere", "nowhere"),
        ("select cast(brand_code as int) from products", "ACME"),
        ("select * from RECORDS", "RECORDS"),
        ("", "no answer"),
        (" ; ", "no answer"),
        (7, "query"),
        (None, "query"),
    ],
)
def test_what_duckdb_says_is_in_our_error(query: str, words: str, catalog: prodex.Catalog) -> None:
    """Syntax, columns, tables, values; Python's variables are no tables."""
    with pytest.raises(QueryError, match=words):
        catalog.sql(query)


def test_files_open_where_the_caller_allows_it(catalog: prodex.Catalog, elsewhere: Path) -> None:
    """To join a list of one's own, or to write an answer to a file."""
    assert [2] == catalog.sql("select b from read_csv('secret.csv')", allow_external=True)["b"].tolist()

    catalog.sql("copy (select product_id from products) to 'out.csv'", allow_external=True)
    assert "product_id" in (elsewhere / "out.csv").read_text("utf-8")


def test_what_does_not_fit_in_memory_goes_to_no_folder_of_the_user(elsewhere: Path) -> None:
    """DuckDB would make `.tmp` where one works."""
    catalog = prodex.flatten(RECORDS)

    folder = catalog.sql("select current_setting('temp_directory') as folder")["folder"][0]
    assert not Path(folder).is_relative_to(elsewhere)
    assert not Path(folder).exists()

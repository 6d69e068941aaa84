"""A query reaches the catalogue's own tables and nothing else, unless the caller says otherwise."""

from __future__ import annotations

import os
import signal
import threading
import time
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import prodex
from prodex.errors import QueryError, SnapshotDamaged
from prodex.tables.declaration import TABLES
from tests.cases import each_row

RECORDS = [{"id": 7, "brand": {"code": "ACME"}, "isTaggedBy": ["a"]}, {"id": 8, "brand": {"code": "ZEST"}}]


@pytest.fixture(params=["in memory", "saved", "filtered"])
def catalog(request: pytest.FixtureRequest) -> prodex.Catalog:
    """Two products, wherever their tables are."""
    catalog = prodex.flatten(RECORDS)
    if request.param == "in memory":
        return catalog
    saved = catalog.save("shop")
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


@pytest.mark.slow
@each_row("query", FORBIDDEN)
def test_nothing_else_is_read_written_or_loaded(query: str, elsewhere: Path) -> None:
    """An error of ours with DuckDB's words; the folder one works in stays as it was."""
    catalog = prodex.flatten(RECORDS)
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}

    with pytest.raises(QueryError, match="The query does not work"):
        catalog.sql(query)

    assert before == {path.name: path.read_bytes() for path in elsewhere.iterdir()}


def test_files_of_the_snapshot_itself_are_tables_and_no_files() -> None:
    """What is on disk is read by the reader that verifies it."""
    catalog = prodex.flatten(RECORDS).save("shop")

    with pytest.raises(QueryError, match="allow_external=True"):
        catalog.sql(f"select * from read_parquet('{catalog.files('products')[0]}')")


@pytest.mark.slow
def test_every_table_answers(catalog: prodex.Catalog) -> None:
    """In memory, on disk and filtered, SQL returns the same rows as the frames."""
    for table in catalog.tables.index:
        assert len(getattr(catalog, table)) == int(catalog.sql(f"select count(*) n from {table}")["n"][0])
    joined = "select p.brand_code, t.tag from products p join tags t using (product_id)"
    assert [["ACME", "a"]] == catalog.sql(joined).to_numpy().tolist()


@pytest.mark.slow
@each_row(
    ("query", "count"),
    [
        ("select count(*) from (show tables)", len(TABLES)),
        ("select count(distinct table_name) from information_schema.tables, products", len(TABLES)),
        ("select count(*) from duckdb_views() where not internal", len(TABLES)),
        ('select count(*) from PRODUCTS join "main"."products" using (product_id)', 2),
        ("select count(*) from query_table('pro' || 'ducts')", 2),
        ("from products select count(*) where product_id in ($a, $b)", 2),
    ],
)
def test_a_query_has_every_table_that_it_can_mean(query: str, count: int) -> None:
    """Only tables that are named are read, and nobody can tell: not by a list, nor by a name made while it runs."""
    catalog = prodex.flatten([{"id": 1}, {"id": 2}])

    assert count == catalog.sql(query, {"a": "1", "b": "2"} if "$a" in query else None).iloc[0, 0]


def test_a_table_that_is_not_named_is_not_read() -> None:
    """A damaged one does not stop a query about others; a misspelt name is answered with the nearest."""
    saved = prodex.flatten([{"id": 1, "isTaggedBy": ["a"]}]).save("shop")
    saved.files("raw")[0].write_bytes(b"no Parquet")

    assert 1 == saved.sql("select count(*) from products")["count_star()"][0]
    with pytest.raises(SnapshotDamaged, match="raw"):
        saved.sql("select count(*) from raw")
    with pytest.raises(QueryError, match='Did you mean "texts"'):
        saved.sql("select text from textss, products")


def test_a_query_may_make_tables_of_its_own(catalog: prodex.Catalog) -> None:
    """They live as long as the query."""
    answer = catalog.sql("create table mine as select product_id from products; select count(*) n from mine")

    assert [2] == answer["n"].tolist()


@pytest.mark.slow
@each_row(
    ("query", "words"),
    [
        ("selec", "syntax error"),
        ("select nothing from products", "nothing"),
        ("select * from nowhere", "nowhere"),
        ("select cast(brand_code as int) from products", "ACME"),
        ("select * from RECORDS", "RECORDS"),
        ("", "returns no rows"),
        (" ; ", "returns no rows"),
        (7, "query"),
        (None, "query"),
    ],
)
def test_what_duckdb_says_is_in_our_error(query: str, words: str, catalog: prodex.Catalog) -> None:
    """Syntax, columns, tables, values; Python's variables are no tables."""
    with pytest.raises(QueryError, match=words):
        catalog.sql(query)


@pytest.mark.slow
def test_files_open_where_the_caller_allows_it(catalog: prodex.Catalog, elsewhere: Path) -> None:
    """A query can then join a list from a file, or write its result to one."""
    assert [2] == catalog.sql("select b from read_csv('secret.csv')", allow_external=True)["b"].tolist()

    catalog.sql("copy (select product_id from products) to 'out.csv'", allow_external=True)
    assert "product_id" in (elsewhere / "out.csv").read_text("utf-8")


def test_what_does_not_fit_in_memory_goes_to_no_folder_of_the_user(elsewhere: Path) -> None:
    """DuckDB would make `.tmp` where one works."""
    catalog = prodex.flatten(RECORDS)

    folder = catalog.sql("select current_setting('temp_directory') as folder")["folder"][0]
    assert not Path(folder).is_relative_to(elsewhere)
    assert not Path(folder).exists()


@pytest.mark.slow
def test_parameters_are_values_by_place_and_by_name(catalog: prodex.Catalog) -> None:
    """Of all types that a value may have, those of numpy and pandas included; none is ever SQL."""
    asked = "select product_id from products where brand_code = ?"
    assert ["7"] == catalog.sql(asked, ["ACME"])["product_id"].tolist()
    assert ["7"] == catalog.sql(asked.replace("?", "$brand"), {"brand": "ACME"})["product_id"].tolist()
    assert [] == catalog.sql(asked, ["x' or '1'='1"])["product_id"].tolist()
    several = "select product_id from products where list_contains($codes, brand_code) order by 1"
    for codes in (
        ["ACME", "ZEST"],
        ("ACME", "ZEST"),
        pd.Series(["ACME", "ZEST"]),
        np.array(["ACME", "ZEST"]),
    ):
        assert ["7", "8"] == catalog.sql(several, {"codes": codes})["product_id"].tolist()
    assert ["7", "8"] == catalog.sql(several, parameters={"codes": pd.Index(["ACME", "ZEST"])})[
        "product_id"
    ].tolist()


@pytest.mark.slow
@each_row(
    ("value", "kind", "expected"),
    [
        (np.int64(7), "bigint", 7),
        (np.float32(0.5), "double", 0.5),
        (np.True_, "boolean", True),
        (pd.Timestamp("2026-11-20 08:00"), "timestamp", pd.Timestamp("2026-11-20 08:00")),
        (np.datetime64("2026-11-20"), "timestamp", pd.Timestamp("2026-11-20")),
        (date(2026, 11, 20), "varchar", "2026-11-20"),
        (Decimal("2.50"), "varchar", "2.50"),
        (2**60 + 1, "bigint", 2**60 + 1),
        ("", "varchar", ""),
        ("a\x00b 🧀", "varchar", "a\x00b 🧀"),
    ],
)
def test_a_parameter_keeps_its_value(value: Any, kind: str, expected: Any) -> None:
    """This holds for values of Python, numpy and pandas."""
    answer = prodex.flatten(RECORDS).sql(f"select cast(? as {kind}) as it", [value])
    assert expected == answer["it"][0]


@each_row("missing", [None, pd.NA, pd.NaT])
def test_a_parameter_that_is_missing_is_null(missing: Any) -> None:
    """All values that mean missing become null."""
    assert prodex.flatten(RECORDS).sql("select ? is null as it", [missing])["it"][0]


@each_row(
    ("parameters", "words"),
    [
        ("ACME", r"a list of values.*\['ACME'\]"),
        (7, "a list of values"),
        ({1, 2}, "a list of values"),
        (pd.DataFrame({"a": [1]}), "join mine using"),
        ([object()], "number 1 is a object"),
        ({"a": {"b": 1}}, r"\$a is a dict"),
        ([lambda: 1], "number 1 is a function"),
        ([["a", object()]], "number 1 is a object"),
        ({7: "a"}, "names that are texts"),
        ([], "does not work"),
        (["a", "b"], "does not work"),
        ({"brand": "a"}, "does not work"),
        ([2**200], "does not work"),
    ],
)
def test_parameters_that_cannot_be_taken_are_refused(parameters: Any, words: str) -> None:
    """They may be of a wrong kind, too few or too many, by place or by name."""
    with pytest.raises(QueryError, match=words):
        prodex.flatten(RECORDS).sql("select * from products where brand_code = ?", parameters)


@pytest.mark.slow
@each_row(
    "query",
    [
        "select * from read_csv(?)",
        "select * from read_text(?)",
        "select * from read_blob(?)",
        "select * from glob(?)",
        "select * from query_table(?)",
        "select * from query('select * from ''' || ? || '''')",
        "copy products to ?",
        "attach ?",
    ],
)
def test_no_parameter_leads_out(query: str, elsewhere: Path) -> None:
    """A path as a value is confined like one in the query, and frames change nothing of that."""
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}
    with pytest.raises(QueryError, match="does not work"):
        prodex.flatten(RECORDS).sql(query, ["secret.csv"], mine=pd.DataFrame({"a": [1]}))
    assert before == {path.name: path.read_bytes() for path in elsewhere.iterdir()}


@pytest.mark.slow
def test_frames_are_tables(catalog: prodex.Catalog) -> None:
    """Of pandas and of Arrow, joined with the catalogue's; types as they are, categories as their values."""
    prices = pd.DataFrame(
        {
            "brand_code": pd.Categorical(["ACME", "ZEST"]),
            "price": [2.5, None],
            "pieces": pd.array([1, None], "Int64"),
            "since": pd.to_datetime(["2026-11-20", None]),
            "word": pd.Series(["x", None], dtype=object),
            "is_new": pd.array([True, None], "boolean"),
        }
    )
    joined = "select product_id, prices.* from products join {} using (brand_code) order by 1"
    for frame in (prices, pa.Table.from_pandas(prices), pa.RecordBatch.from_pandas(prices)):
        answer = catalog.sql(joined.format("prices"), prices=frame)
        assert ["7", "8"] == answer["product_id"].tolist()
        assert ["ACME", "ZEST"] == answer["brand_code"].tolist()
        assert ["str", "str", "float64", "Int64", "datetime64[us]", "str", "boolean"] == [
            str(dtype).replace("[ns]", "[us]") for dtype in answer.dtypes
        ]
        assert [2.5, 1, "x"] == answer.loc[0, ["price", "pieces", "word"]].tolist()
        assert answer.loc[1, ["price", "pieces", "since", "word", "is_new"]].isna().all()


@pytest.mark.slow
def test_an_index_with_a_name_is_a_column(catalog: prodex.Catalog) -> None:
    """One without only counts rows; numbers as names of columns are texts."""
    frame = pd.DataFrame({"price": [2.5]}, index=pd.Index(["ACME"], name="brand_code"))
    assert [2.5] == catalog.sql("select price from products join mine using (brand_code)", mine=frame)[
        "price"
    ].tolist()
    chosen = pd.DataFrame({0: [1, 2, 3]}).iloc[[2]]
    assert ["0"] == list(catalog.sql("select * from mine", mine=chosen).columns)
    assert [3] == catalog.sql('select "0" from mine', mine=chosen)["0"].tolist()
    levels = frame.set_index(pd.MultiIndex.from_tuples([("ACME", "x")], names=["brand_code", None]))
    assert ["brand_code", "price"] == list(catalog.sql("select * from mine", mine=levels).columns)
    assert [0] == catalog.sql("select count(*) n from mine", mine=frame.iloc[:0])["n"].tolist()
    assert ["price"] == list(frame.columns)


@each_row(
    ("frames", "words"),
    [
        ({"products": pd.DataFrame({"a": [1]})}, "already a table 'products'.*my_products"),
        ({"Products": pd.DataFrame({"a": [1]})}, "already a table 'products'"),
        ({"mine": pd.DataFrame({"a": [1]}), "Mine": pd.DataFrame({"a": [1]})}, "already a table 'mine'"),
        ({"mine": pd.Series([1])}, "mine=series.to_frame"),
        ({"mine": [1, 2]}, "Give a value as a parameter"),
        ({"gtin": "0017"}, "Give a value as a parameter"),
        ({"mine": None}, "mine= is a NoneType"),
        ({"mine": {"a": [1]}}, "mine= is a dict"),
        ({"mine": pd.DataFrame({"a": [1, "x"]})}, "Column 'a' of mine=.*astype"),
        ({"mine": pd.DataFrame({"a": [object()]})}, "Column 'a' of mine="),
        ({"mine": pd.DataFrame([[1, 2]], columns=["a", "a"])}, "column 'a' twice"),
        ({"mine": pd.DataFrame({"a": [1]}, index=pd.Index([1], name="a"))}, "column 'a' twice"),
        ({"mine": pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")]))}, "several levels"),
        ({"mine": pd.DataFrame()}, "no columns"),
        (
            {"mine": pd.DataFrame({"Price": [1], "price": [2]})},
            "'Price' and 'price', which are one name to SQL",
        ),
        ({"mine": pd.DataFrame({"GTIN": [1]}, index=pd.Index([2], name="gtin"))}, "'gtin' and 'GTIN'"),
        ({"mine": pa.table({"É": [1], "é": [2]})}, "'É' and 'é'"),
        ({"mine": pa.table({"s": [{"a": 1, "A": 2}]})}, "'s.a' and 's.A'"),
        ({"mine": pa.table({"s": [[{"b": {"a": 1, "A": 2}}]]})}, "'s.b.a' and 's.b.A'"),
    ],
)
def test_frames_that_cannot_be_taken_are_refused(frames: dict[str, Any], words: str) -> None:
    """The message says what to do, and nothing is guessed."""
    with pytest.raises(QueryError, match=words):
        prodex.flatten(RECORDS).sql("select 1", **frames)


def test_attributes_that_differ_by_case_are_never_taken_for_each_other() -> None:
    """Attributes are open: a query of `presence` is refused with both names, and one of other tables is answered."""
    catalog = prodex.flatten([{"id": 7, "Colour": "x", "colour": None}, {"id": 8, "a": {"B": 1, "b": 2}}])
    for query in ("select Colour_state from presence", 'select * from "Presence"', "from presence"):
        with pytest.raises(
            QueryError, match=r"'(C|c)olour_state' and '(C|c)olour_state', which are one name"
        ):
            catalog.sql(query)
    assert [2] == catalog.sql("select count(*) n from products")["n"].tolist()
    listed = catalog.sql("select column_name from duckdb_columns() where column_name ilike 'colour%'")
    assert [] == listed["column_name"].tolist()
    # As the message proposes; and paths are values of tables by shape, which no query folds.
    mine = catalog.presence[["product_id", "colour_state"]]
    answer = catalog.sql("select colour_state from mine order by product_id", mine=mine)
    assert ["null", "absent"] == answer["colour_state"].tolist()
    paths = catalog.sql("select attribute, value from scalars where attribute like 'a.%' order by value")
    assert [("a.B", "1"), ("a.b", "2")] == list(zip(paths["attribute"], paths["value"], strict=True))


def test_no_frame_of_ones_own_is_found_that_was_not_given() -> None:
    """Variables of Python are no tables."""
    mine = pd.DataFrame({"a": [1]})
    with pytest.raises(QueryError, match="mine"):
        prodex.flatten(RECORDS).sql("select * from mine")
    assert 1 == len(mine)


#: More steps than anybody waits for, in ways of which DuckDB itself sees Ctrl-C in some only.
ENDLESS = {
    "counting": "select count(*) from range(100000) a, range(1000000) b where a.range * b.range % 7 = 3",
    "sorting": "select a.range, b.range, random() as r from range(100000) a, range(1000000) b order by r limit 5",
    "making a table": "create table t as select a.range from range(100000) a, range(1000000) b "
    "where a.range * b.range % 7 = 9",
}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the signal of Ctrl-C is sent otherwise there")
@pytest.mark.parametrize("query", ENDLESS.values(), ids=ENDLESS)
def test_ctrl_c_ends_a_query(query: str) -> None:
    """It is the interruption that every program expects, soon after the key, and the catalogue answers on."""
    catalog = prodex.flatten(RECORDS)
    assert 2 == catalog.sql("select count(*) as n from products")["n"][0]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    key = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    key.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            catalog.sql(query)
    finally:
        key.cancel()
        key.join()
        signal.signal(signal.SIGINT, before)

    assert time.monotonic() - begun < 20
    assert 2 == catalog.sql("select count(*) as n from products")["n"][0]


def test_a_query_in_another_thread_is_answered() -> None:
    """Where no signal arrives."""
    catalog = prodex.flatten(RECORDS)
    found: list[int] = []
    thread = threading.Thread(
        target=lambda: found.append(catalog.sql("select count(*) as n from products")["n"][0])
    )
    thread.start()
    thread.join()
    assert [2] == found


_SPARSE = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
_DENSE = pa.UnionArray.from_dense(
    pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["b"])]
)
_HALF = pa.array([np.float16(1), np.float16(2)], pa.float16())


@pytest.mark.slow
@each_row(
    "column",
    [_DENSE, _HALF, pa.ListArray.from_arrays([0, 1, 2], _HALF), pa.array([1, 2], pa.decimal256(50, 2))],
    ids=["dense union", "half float", "list of half floats", "long decimal"],
)
def test_a_column_of_a_frame_that_sql_does_not_take_is_named(column: pa.Array) -> None:
    """Whether the query needs it or not, with its table and what to do."""
    frame = pa.table({"ok": [1, 2], "odd": column})
    for query in ("select odd from mine", "select ok from mine", "select 1"):
        with pytest.raises(QueryError, match=r"Column 'odd' of mine= is of a type .* leave the column out"):
            prodex.flatten(RECORDS).sql(query, mine=frame, other=pd.DataFrame({"a": [1]}))


@pytest.mark.slow
@each_row(
    ("query", "column"),
    [
        ("select union_value(number := 1) as u", "u"),
        ("select product_id, union_value(number := 1) as u from products", "u"),
        ("select product_id, 1::union(number int, word varchar) as u from products where false", "u"),
        ("select [union_value(number := 2)] as l, gtin from products", "l"),
        ("select {'a': union_value(number := 2)} as s from products", "s"),
        ("select col from mine", "col"),
        ("select date '290000-01-01' as d", "d"),
        ("select 1 as a, union_value(number := 1) as a", "a"),
    ],
)
def test_a_column_of_an_answer_that_no_frame_has_is_named(query: str, column: str) -> None:
    """A union, or a value that nothing in Python can hold; the message says how to convert it."""
    with pytest.raises(QueryError, match=rf"Column '{column}' of the answer .*::varchar"):
        prodex.flatten(RECORDS).sql(query, mine=pa.table({"col": _SPARSE}))


def test_a_union_is_answered_as_text_or_by_its_member() -> None:
    """As the message says."""
    union = "(select union_value(number := 7) as u)"
    found = prodex.flatten(RECORDS).sql(f"select u::varchar as text, (u).number as number from {union}")

    assert [["7", 7]] == found.values.tolist()

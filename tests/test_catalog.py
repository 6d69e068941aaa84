"""A catalogue answers questions, filters with its children, and says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import prodex
from prodex.errors import QueryError
from prodex.tables.declaration import TABLES
from prodex.tables.frames import to_frame
from tests.cases import each_row

RECORDS = [
    {
        "id": number,
        "gtin": f"{number:014d}",
        "isConsumerUnit": number % 2 == 0 if number % 3 else None,
        "brand": {"code": f"B{number % 4}", "label": f"Brand {number % 4}"},
        "namePublicLong": [
            {
                "expressedIn": {"code": "fra-FR", "normalizedCode": "fr", "label": "French"},
                "data": f"Riz {number}",
            },
            {
                "expressedIn": {"code": "eng-GB", "normalizedCode": "en", "label": "English"},
                "data": f"Rice {number}",
            },
        ],
        "netContent": [{"data": number / 2, "expressedIn": {"code": "GRM", "label": "g"}}],
        **({"rare": True} if number > 55 else {}),
    }
    for number in range(1, 61)
]


@pytest.fixture
def catalog() -> prodex.Catalog:
    """Sixty products in memory."""
    return prodex.flatten(RECORDS)


@pytest.fixture(params=["in memory", "on disk", "several parts"])
def every_catalog(request: pytest.FixtureRequest, catalog: prodex.Catalog) -> prodex.Catalog:
    """The same sixty products in each form a catalogue has."""
    if request.param == "in memory":
        return catalog
    if request.param == "on disk":
        return catalog.save("sixty")
    halves = prodex.flatten(RECORDS[:30]).parts + prodex.flatten(RECORDS[30:]).parts
    return prodex.Catalog(halves, catalog.origin)


def test_where_keeps_products_and_their_children(every_catalog: prodex.Catalog) -> None:
    """Every child row left belongs to a product that is left, and no other is lost."""
    some = every_catalog.where(brand_code="B1")

    kept = {str(r["id"]) for r in RECORDS if r["brand"]["code"] == "B1"}  # type: ignore[index]
    assert len(kept) == len(some)
    for name, table in TABLES.items():
        if table.per_product and name != "presence":
            everything = every_catalog.arrow(name).to_pylist()
            assert [r for r in everything if r["product_id"] in kept] == some.arrow(name).to_pylist(), name


@pytest.mark.slow
@each_row(
    ("question", "count"),
    [
        ({"brand_code": ["B1", "B2"]}, 30),
        ({"is_consumer_unit": None}, 20),
        ({"is_consumer_unit": True, "brand_code": "B2"}, 10),
        ({"product_id": "7"}, 1),
        ({"product_id": "none such"}, 0),
    ],
)
def test_where_takes_values_lists_and_none(
    every_catalog: prodex.Catalog, question: dict[str, object], count: int
) -> None:
    """A list means any of its values, None means no value, several columns mean all of them."""
    assert count == len(every_catalog.where(**question)) == len(every_catalog.where(**question).products)


def test_where_composes_with_itself_and_with_expressions(every_catalog: prodex.Catalog) -> None:
    """A filter of a filter is the filter of both."""
    twice = (
        every_catalog.where(brand_code="B2").where(pc.field("texts_count") == 2).where(is_consumer_unit=True)
    )

    assert twice.products.equals(every_catalog.where(brand_code="B2", is_consumer_unit=True).products)


def test_unknown_columns_and_tables_are_named_with_the_nearest() -> None:
    """A mistyped name is an error that names the nearest."""
    catalog = prodex.flatten(RECORDS[:1])

    with pytest.raises(QueryError, match="did you mean 'brand_code'"):
        catalog.where(brandcode="B1")
    with pytest.raises(AttributeError, match="did you mean 'products'"):
        catalog.product  # noqa: B018
    with pytest.raises(QueryError, match="did you mean 'texts'"):
        catalog.arrow("text")
    with pytest.raises(QueryError, match="does not fit"):
        catalog.where(pc.field("nowhere") == 1)


def test_frames_have_stable_dtypes_even_without_rows() -> None:
    """str, boolean, Int64 and datetime64 without an invented zone, whether or not there is anything in them."""
    for catalog in (
        prodex.flatten([]),
        prodex.flatten(RECORDS),
        prodex.flatten([{"id": 1, "updatedAt": "2026-11-20T08:00:00"}]),
    ):
        dtypes = {column: str(dtype) for column, dtype in catalog.products.dtypes.items()}

        assert "str" == dtypes["gtin"]
        assert "boolean" == dtypes["is_consumer_unit"]
        assert "Int64" == dtypes["json_version"]
        assert "datetime64[us]" == dtypes["updated_at"]


def test_wide_puts_the_texts_of_one_language_beside_the_product(every_catalog: prodex.Catalog) -> None:
    """There is one row per product, and each attribute is a column."""
    wide = every_catalog.wide(language="fr")

    assert [f"Riz {n}" for n in range(1, 61)] == wide["namePublicLong"].tolist()
    assert "0.5 g" == wide["netContent"][0]
    assert {"namePublicLong.fr", "namePublicLong.en"} <= set(every_catalog.wide().columns)


@pytest.mark.slow
def test_a_table_is_the_same_frame_wherever_its_parts_are(catalog: prodex.Catalog) -> None:
    """Parts in memory, in files, filtered and empty: rows, order and types are those of the Arrow table."""
    stored = prodex.flatten(RECORDS[20:]).save("forty")
    chosen = stored.where(brand_code="B1").parts + stored.where(brand_code="none").parts
    mixed = prodex.Catalog(catalog.head(20).parts + stored.parts + chosen, catalog.origin)

    for name in TABLES:
        pd.testing.assert_frame_equal(to_frame(mixed.arrow(name)), mixed.table(name))
    some = ["text", "product_id", "language"]
    pd.testing.assert_frame_equal(to_frame(mixed.arrow("texts", some)), mixed.table("texts", some))
    assert 60 + len(mixed.parts[2].read("products")) == len(mixed.products)


@pytest.mark.slow
def test_the_first_products_are_those_of_the_first_parts(every_catalog: prodex.Catalog) -> None:
    """Any number of them, with their children; a sample is in the order of the catalogue."""
    ids = every_catalog.products["product_id"].tolist()

    for count in (0, 1, 29, 30, 31, 60, 99):
        some = every_catalog.head(count)
        assert ids[:count] == some.products["product_id"].tolist()
        assert set(ids[:count]) == set(some.texts["product_id"])
        assert len(every_catalog.arrow("descriptors")) == len(some.arrow("descriptors"))
    drawn = every_catalog.sample(17, seed=3).products["product_id"].tolist()
    assert 17 == len(set(drawn))
    assert sorted(drawn, key=ids.index) == drawn
    assert every_catalog.where(brand_code="B2").head(2).products["brand_code"].tolist() == ["B2", "B2"]


def test_lexicons_stay_whole_when_a_part_has_no_product_left() -> None:
    """A filter that empties a part does not take the descriptors of that part along."""
    halves = prodex.flatten(RECORDS[:30]).parts + prodex.flatten(RECORDS[30:]).parts
    catalog = prodex.Catalog(halves, prodex.flatten([]).origin)
    one = catalog.where(product_id="60")

    assert catalog.descriptors.equals(one.descriptors)
    assert [1] * 4 == [len(one), len(one.products), len(one.raw), len(one.presence)]
    assert ["filled"] == one.presence["rare_state"].tolist()


def test_where_takes_numbers_for_codes_and_refuses_what_no_column_holds() -> None:
    """Codes are text in every table, but people write 250."""
    catalog = prodex.flatten([{"id": 1, "product_key": {"target_market_id": 250}}, {"id": 2}])

    assert 1 == len(catalog.where(target_market=250)) == len(catalog.where(target_market=[250, 276]))
    with pytest.raises(QueryError, match="is_consumer_unit holds bool, and 'yes' is not one of them"):
        catalog.where(is_consumer_unit="yes")


def test_wide_shows_the_product_itself_unless_asked_for_more() -> None:
    """What stands in its hierarchies and waiting updates is shown by name only."""
    records = [{"id": 1, "serves": 4, "lastRequest": {"serves": 5}, "logisticalHierarchies": [{"x": 1}]}]
    catalog = prodex.flatten(records)

    itself, waiting = catalog.wide(), catalog.wide(attributes=["lastRequest"])
    assert ["4"] == itself["serves"].tolist()
    assert {"serves"} == set(itself.columns) - set(catalog.products.columns)
    assert {"lastRequest.serves"} == set(waiting.columns) - set(catalog.products.columns)


@pytest.mark.slow
def test_sql_sees_every_table(every_catalog: prodex.Catalog) -> None:
    """SQL returns the same numbers as pandas."""
    question = (
        "select brand_code, count(*) as n from products join texts using (product_id) group by 1 order by 1"
    )
    answer = every_catalog.where(brand_code=["B1", "B3"]).sql(question)

    assert [["B1", 30], ["B3", 30]] == answer.values.tolist()
    assert [0] == every_catalog.sql("select count(*) as n from pictures")["n"].tolist()


def test_batches_and_files_give_what_arrow_gives(every_catalog: prodex.Catalog) -> None:
    """Piece by piece or whole, the rows are the same; presence has the same columns in every piece."""
    for table in ("products", "texts", "presence"):
        whole = every_catalog.arrow(table)
        assert whole.equals(pa.Table.from_batches(list(every_catalog.batches(table)), whole.schema))
    if every_catalog.folder is not None:
        assert 60 == sum(pd.read_parquet(path).shape[0] for path in every_catalog.files("products"))
    with pytest.raises(QueryError, match="save"):
        every_catalog.where(brand_code="B1").files("texts")


def test_presence_of_an_attribute_that_only_one_part_has_seen_is_absent_elsewhere(
    every_catalog: prodex.Catalog,
) -> None:
    """It is reported as absent and never as null."""
    assert {"absent": 55, "filled": 5} == every_catalog.presence["rare_state"].value_counts().to_dict()


def test_dictionary_counts_what_is_filled() -> None:
    """Each column with its meaning and how many of the rows fill it."""
    rows = prodex.flatten(RECORDS).dictionary.set_index(["table", "column"])

    assert [40, 60] == rows.loc[("products", "is_consumer_unit"), ["filled", "rows"]].tolist()
    assert not rows["meaning"].eq("").any()


def test_what_works_on_a_frame_is_told_where_it_works_here() -> None:
    """A mask in brackets, a column, a method of frames: the message has the line to write."""
    catalog = prodex.flatten([{"id": 7}])
    with pytest.raises(TypeError, match=r"catalog\.where\(mask\)"):
        catalog[catalog.products["gtin"].isna()]
    with pytest.raises(TypeError, match=r"catalog\.table\(name\)"):
        list(catalog)  # type: ignore[call-overload]
    with pytest.raises(AttributeError, match=r"catalog\.products\.to_csv .*catalog\.export\(folder\)"):
        catalog.to_csv  # noqa: B018 - asking for it is the test
    assert not hasattr(catalog, "columns")


class NotedTables(dict[str, pa.Table]):
    """Tables, and the names of those that were read."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        super().__init__(tables)
        self.reads: list[str] = []

    def __getitem__(self, name: str) -> pa.Table:
        self.reads.append(name)
        return super().__getitem__(name)


def test_showing_a_catalogue_counts_each_table_once() -> None:
    """What is filtered is counted by reading; once for each table and form of it, not for every line."""
    whole = prodex.flatten([{"id": number} for number in range(9)])
    tables = NotedTables(whole.parts[0].tables)
    some = replace(whole, parts=(replace(whole.parts[0], tables=tables),)).where(product_id=["1", "2"])
    tables.reads.clear()
    for table in TABLES:
        some.row_count(table)
    once = sorted(tables.reads)
    tables.reads.clear()
    repr(some)
    assert "texts" in once
    assert once == sorted(tables.reads)


def test_the_repr_says_how_much_of_what_and_escapes_it() -> None:
    """Words and HTML tell products, source and completeness; markup in a source stays text."""
    catalog = prodex.flatten(RECORDS, source="<img src=x onerror=alert(1)>")
    some = catalog.where(brand_code="B1")

    assert "15 of 60 products" in repr(some)
    assert "<img" not in some._repr_html_()
    assert "mathjax_ignore" in some._repr_html_()
    assert "complete: 60 of an unknown number" in repr(catalog)


def test_an_origin_knows_what_was_not_requested() -> None:
    """The fourth face of missing: neither absent nor null nor empty, but never requested."""
    query = prodex.ProductQuery(source_include=["namePublicLong.data", "assets"], product_languages=["fr"])
    origin = prodex.catalog.Origin("service", query)

    asked = [origin.asked("namePublicLong"), origin.asked("assets.pictures.url"), origin.asked("brand")]
    assert [True, True, False] == asked
    assert [True, False] == [origin.asked("namePublicLong", "fr"), origin.asked("namePublicLong", "nl")]
    excluded = prodex.catalog.Origin("service", prodex.ProductQuery(source_exclude=["assets"]))
    assert [False, True] == [excluded.asked("assets.pictures"), excluded.asked("brand")]
    assert origin == prodex.catalog.Origin.from_json(origin.to_json())


def test_languages_are_compared_by_meaning() -> None:
    """Spanish is asked for by "es" and by "spa-ES", and Polish is not Portuguese."""
    origin = prodex.catalog.Origin("service", prodex.ProductQuery(product_languages=["spa-ES", "por-PT"]))

    asked = [origin.asked("description", language) for language in ("es", "spa-ES", "pt", "pol-PL")]
    assert [True, True, True, False] == asked


def test_wide_shows_every_form_of_an_attribute_and_needs_none() -> None:
    """Text here, a code there: both are in the column; a product with nothing more is a row all the same."""
    text = {"expressedIn": {"code": "fra-FR"}, "data": "T"}
    records = [{"id": 1, "x": "abc"}, {"id": 2, "x": {"code": "C", "label": "L"}}, {"id": 3, "x": [text]}]

    assert ["abc", "L", "T"] == prodex.flatten(records).wide("fra-FR")["x"].tolist()
    assert [0, 1, 1] == [len(prodex.flatten(some).wide()) for some in ([], [{"id": 7}], [{"id": 7, "x": 1}])]


def test_drift_sees_declared_columns_too() -> None:
    """A flag that is a word on one product is a second form of that flag."""
    found = prodex.flatten([{"id": 1, "isConsumerUnit": True}, {"id": 2, "isConsumerUnit": "yes"}]).drift

    assert {"string", "products.is_consumer_unit (bool)"} == set(found["form"])


def test_a_mistyped_column_or_query_is_an_error() -> None:
    """No mistyped name is silently ignored."""
    catalog = prodex.flatten(RECORDS)

    with pytest.raises(QueryError, match="did you mean 'brand'"):
        catalog.arrow("products", ["product_id", "brnd"])
    with pytest.raises(QueryError, match="does not work"):
        catalog.sql("select * from nowhere")
    with pytest.raises(QueryError, match=r"where\(\) takes"):
        catalog.where("brand_code = 'B1'")  # type: ignore[arg-type]


def test_lexicons_come_once_from_several_parts() -> None:
    """This holds for the whole table, for batches, and for single columns."""
    halves = prodex.flatten(RECORDS[:30]).parts + prodex.flatten(RECORDS[30:]).parts
    catalog = prodex.Catalog(halves, prodex.flatten([]).origin)

    expected = prodex.flatten(RECORDS).arrow("descriptors")
    assert expected.equals(catalog.arrow("descriptors"))
    assert expected.equals(pa.Table.from_batches(list(catalog.batches("descriptors"))))

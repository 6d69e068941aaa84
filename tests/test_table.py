"""A child table with columns of its product beside it, and tables that merge without _x and _y."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pytest

import prodex
from prodex.errors import QueryError
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products
from tests.cases import each_row

RECORDS = [
    {
        "id": 1,
        "gtin": "03036811359935",
        "brand": {"code": "A", "label": "Acme"},
        "owner": {"name": "Mill"},
        "typePackaging": {"code": "EACH"},
        "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}],
        "logisticalHierarchies": [{"gtin": "13663836037981", "typePackaging": {"code": "CASE"}}],
        "allergens": None,
    },
    {"id": 2, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Sel"}], "allergens": []},
]


@pytest.fixture
def catalog() -> prodex.Catalog:
    """Two products with texts, one of them with brand, owner and a hierarchy."""
    return prodex.flatten(RECORDS)


def test_columns_of_the_product_stand_beside_its_rows(catalog: prodex.Catalog) -> None:
    """They come in the requested order, and are missing where the product has none."""
    found = catalog.table("texts", ["text", "language"], with_products=("brand", "owner"))

    assert ["text", "language", "brand", "owner"] == list(found)
    assert ["Riz", "fr", "Acme", "Mill"] == found.iloc[0].tolist()
    assert found.iloc[1].isna().tolist() == [False, False, True, True]
    assert catalog.texts.equals(catalog.table("texts"))
    assert ["brand", "gtin"] == list(catalog.table("products", "brand", "gtin"))


def test_a_name_that_both_have_says_whose_it_is(catalog: prodex.Catalog) -> None:
    """The table keeps its name, whatever columns are asked for; keys are the same in both."""
    for columns in (None, ["node_gtin"]):
        found = catalog.table("hierarchies", columns, with_products=["packaging_code", "gtin"])
        assert ["EACH"] == found["product_packaging_code"].tolist()
        assert ["03036811359935"] == found["gtin"].tolist()
    assert ["CASE"] == catalog.table("hierarchies", with_products=["packaging_code"])[
        "packaging_code"
    ].tolist()
    assert ["gtin"] == [
        c for c in catalog.table("presence", with_products="gtin") if c not in catalog.presence
    ]


@each_row(
    ("arguments", "words"),
    [
        (("text",), "did you mean 'texts'"),
        (("texts", ["txet"]), "did you mean 'text'"),
        (("texts", None, ["brnad"]), "did you mean 'brand'"),
        (("descriptors", None, ["brand"]), "belongs to no product"),
        (("texts", [7]), "takes text under columns"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(
    catalog: prodex.Catalog, arguments: tuple[object, ...], words: str
) -> None:
    """An unknown name is an error that names the nearest."""
    with pytest.raises(QueryError, match=words):
        catalog.table(*arguments)  # type: ignore[arg-type]


def test_presence_merges_with_products_without_x_and_y() -> None:
    """They share the key and nothing else, on any product."""
    catalog = prodex.flatten(product.record for product in shared_products(60))

    assert {"product_id"} == set(catalog.presence) & set(catalog.products)
    merged = catalog.products.merge(catalog.presence, on="product_id")
    assert not [name for name in merged if str(name).endswith(("_x", "_y"))]
    assert len(catalog) == len(merged)


@pytest.mark.slow
def test_presence_has_the_same_names_in_memory_on_disk_and_in_exports(
    catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """In SQL and filters as well; files of a snapshot keep the attributes' own names."""
    saved = catalog.save("two")
    expected = {
        "product_id": ["1", "2"],
        "allergens_state": ["null", "empty"],
        "gtin_state": ["filled", "absent"],
    }

    for one in (catalog, saved, saved.where(product_id=["1", "2"])):
        one.export(tmp_path, "csv")
        for frame in (
            one.presence,
            pd.read_csv(tmp_path / "presence.csv", keep_default_na=False),
            one.table("presence"),
        ):
            assert expected == {name: frame[name].astype(str).tolist() for name in expected}
        null = one.arrow("presence", ["product_id"], pc.field("allergens_state") == "null")
        assert [{"product_id": "1"}] == null.to_pylist()
    assert "allergens" in pd.read_parquet(saved.files("presence")[0]).columns
    assert "allergens_state" in set(catalog.dictionary["column"])


def test_presence_in_sql(catalog: prodex.Catalog) -> None:
    """The columns have the same names as in frames."""
    answer = catalog.sql("select allergens_state, brand from presence join products using (product_id)")
    assert [["null", "Acme"], ["empty", None]] == answer.astype(object).where(
        answer.notna(), None
    ).values.tolist()


def test_the_tables_that_share_names_with_products_are_those_that_the_docstring_names() -> None:
    """Whoever merges tables finds in the docstring which names they share."""
    own = set(TABLES["products"].schema.names) - {"product_id", "gtin"}
    shared = {name: own & set(table.schema.names) for name, table in TABLES.items() if name != "products"}
    dated = {"pictures", "exportables", "documents", "videos", "enriched_contents", "tags"}

    assert dated | {"hierarchies"} == {name for name, names in shared.items() if names}
    assert all(shared[name] <= {"created_at", "updated_at"} for name in dated)

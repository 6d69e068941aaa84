"""What `wide()` shows of a product is what its record holds: for every attribute, in every language, of every type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.errors import QueryError
from prodex.tables.attributes import anchored, child_path
from prodex.tables.declaration import TABLES
from prodex.tables.values import storable
from prodex_sandbox.sample import shared_products
from tests.cases import each_row
from tests.wire import CORNERS, encode, listed, products

_FRENCH = {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}}
_DUTCH = {"expressedIn": {"code": "nld-NL", "normalizedCode": "nl"}}
_GRAM = {"code": "GRM", "label": "g"}

RECORDS: list[dict[str, Any]] = [
    {
        "id": 1,
        "isConsumerUnit": True,
        "brand": {"code": "ACME", "label": "Acme"},
        "namePublicLong": [{**_FRENCH, "data": "Riz"}, {**_DUTCH, "data": "Rijst"}],
        "isLabeledBy": [
            {"isConceptualizedBy": {"code": "BIO", "label": "Organic"}, "startDate": "2026-01-01"},
            {"isConceptualizedBy": {"code": "FAIR"}},
        ],
        "hasTags": [{"tag": "exportable", "createdAt": "2026-01-01T00:00:00"}],
        "isTaggedBy": ["exportable"],
        "netContent": [{"data": 250, "expressedIn": _GRAM}],
        "originCountry": [{"code": "250", "label": "France"}],
        "keepRefrigeratedBefore": True,
        "serves": 4,
        "assets": {
            "pictures": [{"url": "https://a.example/1.png", "width": 800}, {"url": "https://a.example/2.png"}]
        },
        "isPartitionedBy": [
            {"name": "100 g", "contains": [{"isConceptualizedBy": {"code": "NA"}, "quantity": 1}]}
        ],
        "specializes": {"isIdentifiedBy": [{"reference": "12-1"}]},
    },
    {
        "id": 2,
        "namePublicLong": [{**_FRENCH, "data": ""}],
        "isLabeledBy": "",
        "hasTags": [],
        "netContent": [{"data": 6, "expressedIn": {"code": "H87"}}, {"data": 0.5, "expressedIn": _GRAM}],
        "keepRefrigeratedBefore": False,
        "serves": 2.5,
        "assets": {"pictures": []},
    },
    {"id": 3, "isLabeledBy": None, "namePublicLong": [{**_DUTCH, "data": "Zout"}]},
]


@pytest.fixture
def catalog() -> prodex.Catalog:
    """Three products: filled, empty in each way, and almost nothing."""
    return prodex.flatten(RECORDS)


def cells(frame: pd.DataFrame, column: str) -> list[Any]:
    """Return a column with None for what is missing."""
    return [None if pd.isna(value) else value for value in frame[column]]


def test_labels_tags_and_pictures_stand_beside_the_product(catalog: prodex.Catalog) -> None:
    """A product with labels shows them, and one without, however it says so, shows nothing."""
    frame = catalog.wide("fr")

    assert ["Organic | FAIR", None, None] == cells(frame, "isLabeledBy")
    assert ["exportable", None, None] == cells(frame, "hasTags") == cells(frame, "isTaggedBy")
    assert [2, None, None] == cells(frame, "assets.pictures")
    assert ["NA", None, None] == cells(frame, "isPartitionedBy.contains")
    assert ["12-1", None, None] == cells(frame, "specializes.isIdentifiedBy")
    assert ["250 g", "6 H87 | 0.5 g", None] == cells(frame, "netContent")


def test_an_attribute_asked_for_by_name_has_a_column(catalog: prodex.Catalog) -> None:
    """Whatever table it stands in, under its own name; a column of products is not repeated."""
    own = set(catalog.products.columns)

    assert {"hasTags"} == set(catalog.wide(attributes=["hasTags"])) - own
    assert {"isLabeledBy"} == set(catalog.wide(attributes="isLabeledBy")) - own
    frame = catalog.wide(
        attributes=[
            "assets.pictures.url",
            "isLabeledBy.startDate",
            "originCountry.code",
            "isConsumerUnit",
            "brand",
        ],
        columns=["product_id"],
    )
    assert {
        "product_id": ["1", "2", "3"],
        "brand": ["Acme", None, None],
        "assets.pictures.url": ["https://a.example/1.png | https://a.example/2.png", None, None],
        "brand.code": ["ACME", None, None],
        "brand.description": [None] * 3,
        "brand.pictureUrl": [None] * 3,
        "isConsumerUnit": [True, None, None],
        "isLabeledBy.startDate": ["2026-01-01", None, None],
        "originCountry.code": ["250", None, None],
    } == {name: cells(frame, name) for name in frame}


def test_several_languages_give_a_column_each(catalog: prodex.Catalog) -> None:
    """In the order of the products, filled or not; one language gives the plain name."""
    both = catalog.wide(["fr", "nl"], ["namePublicLong"], columns=["product_id"])

    assert ["product_id", "namePublicLong.fr", "namePublicLong.nl"] == list(both)
    assert ["Riz", "", None] == cells(both, "namePublicLong.fr")
    assert ["Rijst", None, "Zout"] == cells(both, "namePublicLong.nl")
    for french in ("fr", ["fr"], "fra-FR", "French", ("fra-FR", "fr-FR"), ("fra", "fr")):
        assert ["Riz", "", None] == cells(catalog.wide(french), "namePublicLong")
    assert {"namePublicLong.fr", "namePublicLong.nl"} <= set(catalog.wide())


def test_what_is_known_and_not_filled_is_a_column_without_values(catalog: prodex.Catalog) -> None:
    """A language without texts and an attribute of the specification that nobody has: missing, and there."""
    assert [None] * 3 == cells(catalog.wide("de"), "namePublicLong")
    assert [None] * 3 == cells(catalog.wide(["fr", "de"]), "namePublicLong.de")
    assert [None] * 3 == cells(catalog.wide("fr", ["composition"]), "composition")
    assert [None] * 3 == cells(catalog.wide(["fr", "de"], ["composition"]), "composition.de")
    assert [None] * 3 == cells(catalog.wide(attributes=["warnings"]), "warnings")
    assert [None] * 3 == cells(catalog.wide("fr", columns=["composition"]), "composition")


@each_row(
    ("arguments", "words"),
    [
        ({"language": "xx"}, "no language 'xx'"),
        ({"language": ["fr", "Frensh"]}, "Did you mean 'French'"),
        ({"language": []}, "no language"),
        ({"language": 7}, "takes text"),
        ({"attributes": ["namePublicLonng"]}, "did you mean 'namePublicLong'"),
        ({"attributes": ["namePublicLong.fr"]}, "language='fr', attributes="),
        ({"attributes": ["assets.pictures.urll"]}, "did you mean 'assets.pictures.url'"),
        ({"attributes": ["brand_code"]}, "columns="),
        ({"columns": ["brnad"]}, "did you mean 'brand'"),
        ({"columns": ["nothing of the kind"]}, "no column"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(
    catalog: prodex.Catalog, arguments: dict[str, Any], words: str
) -> None:
    """An unknown name is an error that names the nearest, and never an empty column."""
    with pytest.raises(QueryError, match=words):
        catalog.wide(**arguments)


def test_what_lies_deeper_than_a_column_is_not_shown_as_missing(catalog: prodex.Catalog) -> None:
    """Pictures have addresses: a column of them without a value would say that there are none."""
    with pytest.raises(QueryError, match=r"no column 'assets.pictures.url'"):
        catalog.wide(columns=["assets.pictures.url"])
    with pytest.raises(QueryError, match=r"no column 'namePublicLong.fr'"):
        catalog.wide("fr", columns=["namePublicLong.fr"])


def test_chosen_columns_come_alone_and_in_order(catalog: prodex.Catalog) -> None:
    """Columns of products and of all else; an attribute stands for all its columns."""
    assert ["serves", "gtin", "brand"] == list(catalog.wide("fr", columns=["serves", "gtin", "brand"]))
    assert ["namePublicLong.fr", "namePublicLong.nl"] == list(catalog.wide(columns=["namePublicLong"]))
    assert 3 == len(catalog.wide(columns=["warnings"]))


def test_values_with_units_are_a_number_and_a_unit(catalog: prodex.Catalog) -> None:
    """Of several quantities none is the number: they stay text; numbers and booleans keep their type."""
    frame = catalog.wide(numbers=True)

    assert [250.0, None, None] == cells(frame, "netContent.value")
    assert ["g", None, None] == cells(frame, "netContent.unit")
    assert [None, "6 H87 | 0.5 g", None] == cells(frame, "netContent")
    assert ["float64", "boolean", "float64", "Int64"] == [
        str(frame[name].dtype)
        for name in ("netContent.value", "keepRefrigeratedBefore", "serves", "assets.pictures")
    ]
    assert [4.0, 2.5, None] == cells(frame, "serves")
    assert ["netContent", "netContent.unit", "netContent.value"] == list(
        catalog.wide(columns=["netContent"], numbers=True)
    )


@pytest.mark.slow
def test_numbers_that_no_column_holds_stay_as_they_are_written() -> None:
    """A number that a double cannot hold exactly stays text."""
    catalog = prodex.flatten([{"id": 1, "x": 2**70, "y": 0.5}, {"id": 2, "x": 0.5, "y": True}])

    frame = catalog.wide(numbers=True)
    assert [str(2**70), "0.5"] == frame["x"].tolist()
    assert ["0.5", "true"] == frame["y"].tolist()


def test_wide_warns_of_what_was_not_requested() -> None:
    """A missing Dutch name of a catalogue that was loaded in French says nothing of the product."""
    loaded = prodex.flatten(RECORDS)
    query = prodex.ProductQuery(product_languages=["fr"], source_exclude=["hasTags"])
    catalog = prodex.Catalog(loaded.parts, prodex.catalog.Origin("service", query))

    with pytest.warns(UserWarning, match="texts in 'nl'"):
        catalog.wide("nl")
    with pytest.warns(UserWarning, match="hasTags: not requested"):
        catalog.wide(attributes=["hasTags"])


def test_languages_are_told_by_meaning() -> None:
    """A text whose short code came as fr-FR, or did not come at all, is French."""
    texts = [{"expressedIn": {"code": "fra-FR", "normalizedCode": "fr-FR"}, "data": "Riz"}]
    other = [{"expressedIn": {"code": "fra-FR"}, "data": "Sel"}]
    catalog = prodex.flatten([{"id": 1, "nameLegal": texts}, {"id": 2, "nameLegal": other}])

    assert ["Riz", "Sel"] == cells(catalog.wide("fr"), "nameLegal")


@pytest.mark.slow
def test_a_wide_frame_of_numbers_goes_back_as_corrections(catalog: prodex.Catalog) -> None:
    """What nobody changed is no correction, whatever way the frame was made."""
    record = {**RECORDS[0], "gtin": "03036811359935"}
    one = prodex.flatten([record])

    for frame in (
        one.wide(numbers=True),
        one.wide(["fr", "nl"]),
        one.wide(attributes=["hasTags", "netContent"]),
    ):
        assert 0 == len(one.changes_from(frame))


@pytest.mark.slow
def test_a_catalogue_shows_the_same_in_every_form(catalog: prodex.Catalog) -> None:
    """In memory, on disk, in several parts, and filtered to all that it has."""
    parts = tuple(part for record in RECORDS for part in prodex.flatten([record]).parts)
    saved = catalog.save("three")

    for arguments in (
        {},
        {"language": ["fr", "nl"], "numbers": True},
        {"attributes": ["assets.pictures.url"]},
    ):
        expected = catalog.wide(**arguments)  # type: ignore[arg-type]
        for one in (saved, prodex.Catalog(parts, catalog.origin), saved.where(product_id=["1", "2", "3"])):
            pd.testing.assert_frame_equal(expected, one.wide(**arguments))  # type: ignore[arg-type]


# --- the law: a cell is filled where the record holds something, and nowhere else -----------------------------------


def paths_of(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the wire path of every attribute, with all above it; descriptors of language and unit are none."""
    value = listed(value) if path else value
    if isinstance(value, list):
        for item in value:
            yield from paths_of(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            below = (*path, key)
            described = path and (key == "expressedIn" or path[-1] in {"presentEntities", "expressedIn"})
            if not described and not {"logisticalHierarchies", "sharingUnits"} & set(path):
                yield below
                yield from paths_of(item, below)


PRODUCTS = {column.name: column for column in TABLES["products"].columns}
#: Attributes that are a text by themselves: an empty one is an empty text, and stands for no list.
OWN_TEXTS = {
    column.paths[0][0]
    for column in PRODUCTS.values()
    if column.kind in {"string", "code"} and column.paths and len(column.paths[0]) == 1
} | {"gtin"}


def name_of(path: tuple[str, ...]) -> str:
    """Write a wire path as tables do."""
    name = ""
    for key in path:
        name = child_path(name, storable(key))
    return name


def holds(value: Any, path: tuple[str, ...], place: tuple[str, ...] = ()) -> bool:
    """Whether a record holds any value at a path or below: the slow and obvious reading."""
    value = listed(value) if place else value
    if isinstance(value, list):
        return any(holds(item, path, place) for item in value)
    if isinstance(value, dict):
        keys = value if not path else [key for key in value if storable(key) == storable(path[0])]
        return any(holds(value[key], path[1:], (*place, key)) for key in keys)
    table = anchored(name_of(place))
    whole = place[0] not in OWN_TEXTS if len(place) == 1 else table is not None
    # A tag that came as a mere text is what another record has at `tag`.
    if table is not None and any({(), path} <= set(column.paths) for column in table.columns):
        path = ()
    return not path and value is not None and not (value == "" and whole)


def assert_agrees(
    catalog: prodex.Catalog, records: list[dict[str, Any]], asked: set[tuple[str, ...]]
) -> None:
    """Compare what is shown with what the records hold, for each attribute asked for."""
    frame = catalog.wide(attributes=sorted(map(name_of, asked)))
    for path in asked:
        name = name_of(path)
        columns = [c for c in frame if _is_of(c, name)]
        if not columns and name.endswith(".data"):  # the text or quantity is shown as its attribute
            continue
        shown = frame[columns].notna().any(axis=1).tolist()
        assert [holds(record, path) for record in records] == shown, (name, columns)


def _is_of(column: str, name: str) -> bool:
    """Whether a column is of an attribute: `products` calls the type of packaging as another attribute is called."""
    own = [".".join(path) for path in PRODUCTS[column].paths] if column in PRODUCTS else [column]
    own = ["gtin"] if column == "gtin" else own
    return any(_within(path.removesuffix(" (value)"), name) for path in own)


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}.")


@each_row("empty", ["", [""], [None], []])
def test_a_cell_of_tags_is_missing_where_the_record_holds_no_tag(empty: Any) -> None:
    """An empty text in the place of a tag is no value, at the top of the record and in a pending update."""
    tags = {"hasTags": [{"tag": "new"}], "isTaggedBy": empty}
    records = [{"id": 1, **tags}, {"id": 2, "lastRequest": tags}]

    catalog = prodex.flatten(records)
    assert_agrees(catalog, records, {path for record in records for path in paths_of(record)})
    assert [None, None] == cells(catalog.wide(attributes=["isTaggedBy"]), "isTaggedBy")


@each_row("bare", ["x", " ", "", ["x"], ["", "x"]])
def test_a_bare_tag_is_shown_with_those_of_objects(bare: str | list[str]) -> None:
    """Whether tags came as texts or as objects, whoever asks for `hasTags.tag` sees all that are not empty."""
    records = [{"id": 1, "hasTags": bare}, {"id": 2, "hasTags": [{"tag": "y", "createdAt": ""}]}]

    assert_agrees(prodex.flatten(records), records, {path for record in records for path in paths_of(record)})


@pytest.mark.slow
@example(CORNERS[:4])
@example(CORNERS[5:])
@given(st.lists(products, min_size=1, max_size=3))
def test_a_cell_is_filled_where_the_record_holds_a_value(drawn: list[dict[str, Any]]) -> None:
    """For every attribute path of any product, at the top and below."""
    records = [{**json.loads(encode(record)), "id": number} for number, record in enumerate(drawn, 1)]
    paths = {path for record in records for path in paths_of(record)}

    catalog = prodex.flatten(records)
    assert_agrees(catalog, records, {path for path in paths if len(path) == 1})
    assert_agrees(catalog, records, paths)


@pytest.mark.slow
def test_a_cell_of_the_sample_is_filled_where_the_record_holds_a_value() -> None:
    """The same of the sandbox's sample, hostile and odd products included."""
    records = [product.record for product in shared_products(300)]

    paths = {path for record in records for path in paths_of(record)}
    assert_agrees(prodex.flatten(records), records, paths)


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"language": "fr"},
        {"language": ["fr", "de"], "numbers": True},
        {"attributes": ["brand", "netContent"]},
    ],
)
def test_parts_and_files_make_no_difference(asked: dict[str, Any]) -> None:
    """Columns have the type and order that all products together give them, in memory, from disk and filtered."""
    texts = [
        {"expressedIn": {"code": code}, "data": f"text {code}"} for code in ("fra-FR", "deu-DE", "fra-FR")
    ]
    records: list[dict[str, Any]] = [
        {
            "id": 1,
            "namePublicLong": texts[:1],
            "netContent": [{"data": 1, "expressedIn": {"code": "GRM"}}],
            "x": 1,
        },
        {
            "id": 2,
            "namePublicLong": texts,
            "brand": {"code": "A", "label": "Acme"},
            "x": "one",
            "y": 18446744073709551617,
        },
        {
            "id": 3,
            "isTaggedBy": ["a", None, "b"],
            "netContent": [{"data": 1}, {"data": 0.5}],
            "y": 2,
            "z": True,
        },
        {"id": 4, "brand": {"code": "B"}, "z": "yes"},
    ]
    whole = prodex.flatten(records)
    parts = tuple(part for record in records for part in prodex.flatten([record]).parts)
    split = replace(whole, parts=parts)
    expected = whole.wide(**asked)

    for catalog in (split, split.save("split"), whole.save("whole")):
        pd.testing.assert_frame_equal(expected, catalog.wide(**asked))
        chosen = catalog.where(product_id=["2", "3"]).wide(**asked)
        pd.testing.assert_frame_equal(whole.where(product_id=["2", "3"]).wide(**asked), chosen)

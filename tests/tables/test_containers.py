"""What a value is wrapped in: read where it leaves no doubt, by the plain walk and by the fast path alike."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from prodex.tables.containers import as_declared, numbered_place, rewritten_container, unusual_list
from prodex.tables.declared_paths import depth_of
from prodex.tables.flatten import decoded, flatten_products
from prodex.tables.parse import ShapeCache
from prodex.tables.plain_walk import Rows, flatten_one, rows_of
from tests.cases import each_row
from tests.tables.test_laws import plain, rows
from tests.wire import encode, products

PICTURE = {"url": "https://a.example/a.jpg", "isPackshot": True}
NUTRIENT = {"isConceptualizedBy": {"code": "FAT"}, "quantity": 0.1, "expressedIn": {"code": "GRM"}}
TEXT = {"expressedIn": {"code": "fra-FR"}, "data": "Riz"}

#: A record as declared, and the same in other containers.
SAME: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    (
        {"assets": {"pictures": [PICTURE]}},
        [
            {"assets": {"pictures": {"1": PICTURE}}},
            {"assets": {"pictures": PICTURE}},
            {"assets": {"pictures": [[PICTURE]]}},
            {"assets": [{"pictures": {"0": {**PICTURE, "isPackshot": [True]}}}]},
            {"assets": {"pictures": [{"url": [PICTURE["url"]], "isPackshot": {"0": True}}]}},
        ],
    ),
    (
        {"brand": {"code": "ACME", "label": "Acme"}},
        [
            {"brand": [{"code": "ACME", "label": "Acme"}]},
            {"brand": {"0": {"code": ["ACME"], "label": "Acme"}}},
        ],
    ),
    (
        {"isPartitionedBy": [{"name": "100 g", "contains": [NUTRIENT]}]},
        [
            {"isPartitionedBy": {"name": "100 g", "contains": NUTRIENT}},
            {"isPartitionedBy": {"7": {"name": ["100 g"], "contains": {"3": NUTRIENT}}}},
            {
                "isPartitionedBy": [
                    {"name": "100 g", "contains": [{**NUTRIENT, "expressedIn": [{"code": "GRM"}]}]}
                ]
            },
        ],
    ),
    ({"namePublicLong": [TEXT, TEXT]}, [{"namePublicLong": {"0": TEXT, "2": TEXT}}]),
    (
        {"logisticalHierarchies": [{"gtin": "1", "children": [{"gtin": "2", "quantity": 6}]}]},
        [{"logisticalHierarchies": {"gtin": "1", "children": {"0": {"gtin": "2", "quantity": 6}}}}],
    ),
]

#: What nobody knows: it is kept as it came, in the tables by shape.
UNKNOWN: list[tuple[dict[str, Any], str, str]] = [
    ({"isPartitionedBy": [{"contains": [{"quantity": [0.1]}]}]}, "isPartitionedBy.contains.quantity", "0.1"),
    ({"brand": "ACME"}, "brand", "ACME"),
    ({"namePublicLong": {"fr": "Riz"}}, "namePublicLong.fr", "Riz"),
    ({"assets": {"pictures": {"data": [PICTURE]}}}, "assets.pictures.data.isPackshot", "true"),
    ({"assets": {"pictures": [{"isPackshot": [True, True]}]}}, "assets.pictures.isPackshot", "true"),
]


def content(flat: Rows) -> Rows:
    """Return the rows of every table but the one that says how attributes came."""
    return {name: some for name, some in flat.items() if name != "presence"}


@each_row(("usual", "others"), SAME)
def test_what_leaves_no_doubt_is_read_as_what_it_is(
    usual: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    """Numbers as keys, an object for a list, a list of one for an object or a value: the rows are the same."""
    expected = content(flatten_one({"id": 7, **usual}))
    assert [expected] * len(others) == [content(flatten_one({"id": 7, **one})) for one in others]


@given(products)
def test_a_record_in_the_containers_of_its_rows_has_the_same_rows(product: dict[str, Any]) -> None:
    """What compares records item by item sees the lists that the rows count."""
    record = json.loads(encode(product))
    assert rows_of(record) == rows_of(as_declared(record))
    assert as_declared(record) == as_declared(as_declared(record))


def test_what_is_in_doubt_stays_as_it_came() -> None:
    """An amount in a list, a bare code, texts by language, a list below another key: each is a scalar."""
    for record, path, value in UNKNOWN:
        found = [(row["attribute"], row["value"]) for row in flatten_one({"id": 7, **record})["scalars"]]
        assert (path, value) in found, path


def test_the_fast_path_reads_the_same_whichever_container_is_usual() -> None:
    """A block in which most records have the odd container, and one in which few have it, give the plain rows."""
    for usual, others in SAME:
        for odd in (*others, *(record for record, _, _ in UNKNOWN)):
            for some, more in ((usual, odd), (odd, usual)):
                page = [
                    encode({"id": number, **(more if number % 5 == 0 else some)}) for number in range(1, 12)
                ]
                tables = decoded(flatten_products(page, ShapeCache()))
                expected = plain(page)
                del expected["descriptors"]  # each once
                assert expected == {name: rows(tables, name) for name in expected}


def test_a_container_that_would_change_is_named() -> None:
    """Values may change inside of their containers; what is empty has none yet."""
    same = [
        ([TEXT], [TEXT, TEXT]),
        ({"code": "A"}, {"code": 1, "label": "a"}),
        (None, [1]),
        ("", {"code": "A"}),
        ([1], None),
        ([{"a": [1]}], [{"a": [2, 3]}]),
    ]
    assert [None] * len(same) == [rewritten_container(before, after, "x") for before, after in same]
    assert "x is a bare value, and would become an object" == rewritten_container("A", {"code": "A"}, "x")
    assert "x is a list, and would become a bare value" == rewritten_container([True], False, "x")
    assert "x.a is an object, and would become a list" == rewritten_container(
        [{"a": {"b": 1}}], [{"a": [1]}], "x"
    )
    assert "x is an object with numbers as keys, and would become a list" == rewritten_container(
        {"1": 1}, [1], "x"
    )
    assert "x is a list with an object in it, and would have a bare value there" == rewritten_container(
        [{"a": 1}], [{"a": 1}, 2], "x"
    )


def test_what_is_no_list_of_texts_is_named() -> None:
    """A list of texts is one with or without data; anything else is said in words."""
    assert [None, None, None] == [
        unusual_list(one) for one in (None, [TEXT, None], [{"expressedIn": {}, "data": None}])
    ]
    assert [
        "a bare value",
        "an object",
        "an object with numbers as keys",
        "a list with other items than texts",
    ] == [unusual_list(one) for one in ("Riz", {"fr": "Riz"}, {"1": TEXT}, [{"fr": "Riz"}])]
    assert (None, "a.b") == (numbered_place([TEXT], "a"), numbered_place([{"b": {"0": TEXT}}], "a"))


def test_a_list_is_one_of_the_lists_on_its_own_way() -> None:
    """By the specification: pictures are a list, and so are nutrients of each partition; a brand is an object."""
    depths = {
        "brand.code": 0,
        "assets": 0,
        "assets.pictures": 1,
        "isPartitionedBy": 1,
        "isPartitionedBy.contains": 2,
    }

    assert depths == {path: depth_of(path) for path in depths}

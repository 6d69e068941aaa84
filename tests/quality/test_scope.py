"""Scope: conditions on columns of products, as checks and rules write them."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.quality.products import Products
from prodex.quality.scope import is_meant, read_scope
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row

RECORDS = [
    {"id": 1, "brand": {"code": "ACME"}, "lifeCycle": 1, "isConsumerUnit": True, "hasTags": [{"tag": "new"}]},
    {"id": 2, "brand": {"code": "ACORN"}, "lifeCycle": 2, "isConsumerUnit": False},
    {"id": 3, "brand": {"code": 12}, "product_key": {"target_market_id": "056"}},
    {"id": 4},
]


@each_row(
    ("only", "excepted", "meant"),
    [
        ({}, {}, [1, 2, 3, 4]),
        ({"brand_code": "ACME"}, {}, [1]),
        ({"brand_code": ["ACME", 12]}, {}, [1, 3]),
        ({"brand_code": "AC*"}, {}, [1, 2]),
        ({"brand_code": ["ACO*", None]}, {}, [2, 4]),
        ({"brand_code": None}, {}, [4]),
        ({}, {"brand_code": None}, [1, 2, 3]),
        ({}, {"brand_code": "AC*", "life_cycle": 1}, [3, 4]),
        ({"is_consumer_unit": False}, {}, [2]),
        ({"is_consumer_unit": [True, None]}, {"brand_code": 12}, [1, 4]),
        ({"life_cycle": [1, 2], "is_consumer_unit": True}, {}, [1]),
        ({"tags_count": 1}, {}, [1]),
        ({"market": "Belgium"}, {}, [3]),
        ({"market": [56, 250]}, {}, [3]),
        ({}, {"market": 56}, [1, 2, 4]),
    ],
)
def test_a_condition_means_these_products(
    only: dict[str, Any], excepted: dict[str, Any], meant: list[int]
) -> None:
    """All columns have to hold, any of the values, and none of the excepted ones."""
    catalog = prodex.flatten(RECORDS)
    products = Products(catalog.parts, catalog.origin, AS_OF)

    held = is_meant(products, read_scope(only, excepted))

    assert meant == [n for n, is_meant in enumerate(held.tolist(), 1) if is_meant is True]


@each_row(
    ("only", "excepted", "undecided"),
    [
        ({"brand_code": "ACME"}, {}, [4]),
        ({"brand_code": ["ACME", None]}, {}, []),
        ({"is_consumer_unit": True, "brand_code": "ACME"}, {}, [4]),
        ({"is_consumer_unit": True}, {"brand_code": 12}, [4]),
        ({"market": 56}, {}, [1, 2, 4]),
        ({}, {"brand_code": "ACME"}, []),
    ],
)
def test_who_does_not_show_what_decides_is_undecided(
    only: dict[str, Any], excepted: dict[str, Any], undecided: list[int]
) -> None:
    """Unless another column decides; and an exception is for products that show it."""
    catalog = prodex.flatten(RECORDS)
    products = Products(catalog.parts, catalog.origin, AS_OF)

    held = is_meant(products, read_scope(only, excepted))

    assert undecided == [n for n, is_missing in enumerate(held.isna().tolist(), 1) if is_missing]


def test_the_market_is_that_of_the_version_else_the_one_asked_for_else_the_given_one() -> None:
    """The three are looked at in this order."""
    catalog = prodex.flatten(RECORDS[2:])
    asked = prodex.catalog.Origin("sandbox", prodex.ProductQuery(target_market=250))

    def markets(origin: prodex.catalog.Origin, given: int | None) -> list[Any]:
        return Products(catalog.parts, origin, AS_OF, given).column("market").to_pylist()

    assert ["56", None] == markets(catalog.origin, None)
    assert ["56", "528"] == markets(catalog.origin, 528)
    assert ["56", "250"] == markets(asked, 528)


@each_row(
    ("only", "states"),
    [
        ({"life_cycle": {"from": 1, "to": 1}}, [True, False, None, None]),
        ({"ranges": {"netContent [GRM]": {"from": 1}}}, [None, None, None, None]),
        ({"groups": {"brand": "ACME"}}, [True, False, False, None]),
        ({"groups": {"brand": ["ACME", {"no_value": True}]}}, [True, False, False, True]),
        ({"groups": {"market": "56"}}, [None, None, True, None]),
        ({"groups": {"tag": "new"}}, [True, False, False, False]),
        ({"any": [{"groups": {"brand": "ACME"}}, {"is_consumer_unit": True}]}, [True, False, None, None]),
        ({"except": [{"groups": {"brand": "ACME"}}]}, [False, True, True, True]),
    ],
)
def test_a_group_or_a_range_without_a_value_is_unknown_as_a_column_is(
    only: dict[str, Any], states: list[bool | None]
) -> None:
    """But that a product has no tag is known."""
    catalog = prodex.flatten(RECORDS)
    products = Products(catalog.parts, catalog.origin, AS_OF)
    held = is_meant(products, read_scope(only))
    assert states == [None if answer is pd.NA else bool(answer) for answer in held]


def test_the_market_that_an_audit_is_given_counts_for_groups_too() -> None:
    """As for the column of this name."""
    catalog = prodex.flatten(RECORDS[2:])
    products = Products(catalog.parts, catalog.origin, AS_OF, 528)
    assert [True, False] == is_meant(products, read_scope({"groups": {"market": "56"}})).tolist()


@each_row("market", ["2*", {"begins": "2"}])
def test_a_market_begins_with_nothing(market: object) -> None:
    """Its number is one of a list: refused in words."""
    with pytest.raises(prodex.errors.InputError, match="market"):
        read_scope({"market": market})

"""Every parameter of the product list has the effect that the specification gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, BUTTER, CIDER, DAIRY, MILL, PALLET, SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.api.filters import FILTERS, read_body, read_query_string

ALL = [BREAD, BUTTER, CIDER, PALLET]
JANUARY_2 = 1_767_312_000

#: Parameters of a GET, and which products they find.
CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({"filter_gtins_in": CIDER}, [CIDER]),
    ({"filter_gtins_in": f"{CIDER},{BREAD},03037494555003"}, [BREAD, CIDER]),
    ({"filter_gtins_in": CIDER.lstrip("0")}, []),
    ({"updated_at_from": JANUARY_2}, [BUTTER, CIDER]),
    ({"updated_at_from": JANUARY_2 + 1}, [CIDER]),
    ({"updated_at_to": JANUARY_2}, [BREAD, BUTTER]),
    ({"updated_at_to": JANUARY_2 - 1}, [BREAD]),
    ({"updated_at_from": JANUARY_2, "updated_at_to": JANUARY_2}, [BUTTER]),
    ({"limit": 2}, [BREAD, BUTTER]),
    ({"offset": 3}, [PALLET]),
    ({"filter_validation_status_in": 0}, [CIDER]),
    ({"filter_validation_status_in": "1,2"}, [BREAD, PALLET]),
    ({"filter_validation_status_in": 3}, [BUTTER]),
    ({"filter_tags_in": "exportable"}, [BREAD]),
    ({"filter_tags_in": "exportable,bio"}, [BREAD, BUTTER]),
    ({"filter_tags_not_in": "exportable"}, [BUTTER, CIDER, PALLET]),
    ({"filter_tags_not_in": "exportable,bio"}, [CIDER, PALLET]),
    ({"filter_tags_in": "promo", "filter_tags_not_in": "bio"}, []),
    ({"filter_target_productstatus_in": "TO_BE_VALIDATED"}, [BUTTER]),
    ({"filter_target_productstatus_in": "UPDATED,ACCEPTED"}, [BREAD, CIDER, PALLET]),
    ({"status_shared_from": 3}, [BUTTER]),
    ({"status_shared_from": 4}, [BREAD, CIDER, PALLET]),
    ({"status_shared_with": 2}, [BUTTER]),
    ({"status_shared_with": 3}, []),
    ({"filter_target_market": 56}, [BUTTER]),
    ({"filter_target_market": "056"}, [BUTTER]),
    ({"filter_product_languages": "de"}, ALL),
    ({"filter_has_packshot": "true"}, [BREAD]),
    ({"filter_has_packshot": "false"}, ALL),
    ({"filter_has_no_packshot": "true"}, [BUTTER, CIDER, PALLET]),
    ({"filter_has_no_packshot": "false"}, ALL),
    ({"filter_pictures_last_updated_at_from": JANUARY_2 * 1000}, [BUTTER]),
    ({"filter_pictures_last_updated_at_from": JANUARY_2 * 1000 + 1}, []),
    ({"filter_pictures_last_updated_at_to": JANUARY_2 * 1000}, [BREAD, BUTTER]),
    ({"filter_pictures_last_updated_at_to": JANUARY_2 * 1000 - 1}, [BREAD]),
    ({"filter_active_range": "true"}, [BREAD, CIDER, PALLET]),
    ({"filter_active_range": "false"}, ALL),
    ({"filter_owners_in": DAIRY.id}, [BUTTER, CIDER]),
    ({"filter_owners_in": f"{DAIRY.id},{MILL.id}"}, ALL),
    ({"filter_tags_in": "promo,exportable", "filter_owners_in": MILL.id}, [BREAD]),
]

#: Members of a POST in the forms that only it takes, and which products they find.
POST_CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({"filter_gtins_in": [CIDER, BREAD]}, [BREAD, CIDER]),
    ({"filter_gtins_in": f"{CIDER},{BREAD}"}, [BREAD, CIDER]),
    ({"updated_at_from": JANUARY_2}, [BUTTER, CIDER]),
    ({"updated_at_from": str(JANUARY_2)}, [BUTTER, CIDER]),
    ({"updated_at_to": JANUARY_2}, [BREAD, BUTTER]),
    ({"updated_at_to": str(JANUARY_2)}, [BREAD, BUTTER]),
    ({"limit": 2}, [BREAD, BUTTER]),
    ({"offset": 3}, [PALLET]),
    ({"filter_validation_status_in": 3}, [BUTTER]),
    ({"filter_validation_status_in": [1, 2]}, [BREAD, PALLET]),
    ({"filter_validation_status_in": "1,2"}, [BREAD, PALLET]),
    ({"filter_tags_in": ["exportable", "bio"]}, [BREAD, BUTTER]),
    ({"filter_tags_in": "exportable,bio"}, [BREAD, BUTTER]),
    ({"filter_tags_not_in": ["exportable", "bio"]}, [CIDER, PALLET]),
    ({"filter_target_productstatus_in": ["UPDATED"]}, [CIDER]),
    ({"status_shared_from": 3}, [BUTTER]),
    ({"status_shared_with": 2}, [BUTTER]),
    ({"filter_target_market": 56}, [BUTTER]),
    ({"filter_product_languages": ["de"]}, ALL),
    ({"filter_has_packshot": True}, [BREAD]),
    ({"filter_has_packshot": False}, ALL),
    ({"filter_has_no_packshot": True}, [BUTTER, CIDER, PALLET]),
    ({"filter_pictures_last_updated_at_from": JANUARY_2 * 1000}, [BUTTER]),
    ({"filter_pictures_last_updated_at_to": str(JANUARY_2 * 1000 - 1)}, [BREAD]),
    ({"filter_active_range": True}, [BREAD, CIDER, PALLET]),
    ({"filter_owners_in": [DAIRY.id]}, [BUTTER, CIDER]),
    ({"filter_owners_in": DAIRY.id}, [BUTTER, CIDER]),
    ({"next_page": ""}, ALL),
    ({"advanced_search": {"must": [{"query": "beurre", "fields": ["namePublicLong.data"]}]}}, [BUTTER]),
    ({"advanced_search": {"must": []}}, ALL),
    ({"allow_not_consumer_units": True}, ALL),
]


@each_row(("parameters", "found"), CHOICES, ids=lambda value: str(value)[:70])
def test_a_get_finds_the_products_that_its_parameters_ask_for(
    shop: Caller, parameters: dict[str, Any], found: list[str]
) -> None:
    """A GET finds the products that its parameters ask for, and totalResults counts them."""
    envelope = shop.call("GET", **parameters)
    assert found == [product["gtin"] for product in envelope["data"]]
    if not parameters.keys() & {"limit", "offset"}:
        assert len(found) == envelope["totalResults"]


@each_row(("body", "found"), POST_CHOICES, ids=lambda value: str(value)[:70])
def test_a_post_finds_the_products_that_its_body_asks_for(
    shop: Caller, body: dict[str, Any], found: list[str]
) -> None:
    """A POST finds the products that its body asks for, in each form it takes, and totalResults counts them."""
    envelope = shop.call("POST", **body)
    assert found == [product["gtin"] for product in envelope["data"]]
    if not body.keys() & {"limit", "offset"}:
        assert len(found) == envelope["totalResults"]


def test_source_include_keeps_only_the_fields_it_names(shop: Caller) -> None:
    """filter_source_include keeps only the fields it names, by GET and in both forms of POST."""
    wanted = [{"gtin": BREAD, "lifeCycle": 1}]
    assert wanted == shop.call("GET", limit=1, filter_source_include="gtin,lifeCycle")["data"]
    assert wanted == shop.call("POST", limit=1, filter_source_include="gtin,lifeCycle")["data"]
    assert wanted == shop.call("POST", limit=1, filter_source_include=["lifeCycle", "gtin"])["data"]


def test_source_exclude_leaves_out_only_the_fields_it_names(shop: Caller) -> None:
    """filter_source_exclude leaves out only the fields it names, by GET and in both forms of POST."""
    everything = shop.call("GET", offset=3, limit=1)["data"][0]
    wanted = [{name: value for name, value in everything.items() if name != "isDisplayUnit"}]
    assert wanted == shop.call("GET", offset=3, filter_source_exclude="isDisplayUnit")["data"]
    assert wanted == shop.call("POST", offset=3, filter_source_exclude="isDisplayUnit")["data"]
    assert wanted == shop.call("POST", offset=3, filter_source_exclude=["isDisplayUnit"])["data"]


def test_product_languages_limit_the_texts_and_not_the_products(shop: Caller) -> None:
    """filter_product_languages limits the texts that come, not the products."""
    for method in ("GET", "POST"):
        products = shop.call(method, filter_product_languages="en")["data"]
        assert ALL == [product["gtin"] for product in products]
        assert ["Country bread"] == [item["data"] for item in products[0]["namePublicLong"]]


def test_a_get_goes_on_with_next_page(shop: Caller) -> None:
    """next_page leads a GET to the products that follow."""
    cursor = shop.call("GET", limit=3)["next_page"]
    assert [PALLET] == shop.gtins("GET", limit=3, next_page=cursor)


def test_not_consumer_units_can_be_left_out_unless_allowed(caller_of: Callable[..., Caller]) -> None:
    """Where only consumer units are listed, allow_not_consumer_units lists the others too."""
    records = [{"gtin": "1", "isConsumerUnit": True}, {"gtin": "2", "isDisplayUnit": True}, {"gtin": "3"}]
    with Sandbox(
        records, organizations=[SHOP], labels={}, behaviour=Behaviour(only_consumer_units=True)
    ) as sandbox:
        caller = caller_of(SHOP, sandbox)
        assert ["1", "2"] == caller.gtins("GET")
        assert ["1", "2"] == caller.gtins("POST", allow_not_consumer_units=False)
        assert ["1", "2", "3"] == caller.gtins("POST", allow_not_consumer_units=True)


gtins = st.lists(st.text("0123456789", min_size=1, max_size=14), min_size=1, max_size=5)
numbers = st.lists(st.integers(0, 3), min_size=1, max_size=4)
seconds = st.integers(0, 99_999_999_999)


@given(gtins=gtins, statuses=numbers, since=seconds, packshot=st.booleans(), market=st.integers(0, 999))
def test_every_form_of_a_value_is_read_alike(
    gtins: list[str], statuses: list[int], since: int, packshot: bool, market: int
) -> None:
    """The forms of GET and of POST are read as the same values."""
    written = {
        "filter_gtins_in": ",".join(gtins),
        "filter_validation_status_in": ",".join(map(str, statuses)),
        "updated_at_from": str(since),
    }
    of_get = {"filter_has_packshot": str(packshot).lower(), "filter_target_market": str(market)}
    of_post = {"filter_has_packshot": packshot, "filter_target_market": market}
    arrays = {"filter_gtins_in": gtins, "filter_validation_status_in": statuses, "updated_at_from": since}
    assert (
        read_body(of_post | arrays)
        == read_body(of_post | written)
        == read_query_string((of_get | written).items())
    )


def test_every_parameter_is_tried_by_every_method_it_has() -> None:
    """No parameter of FILTERS goes without a test, by each method that takes it."""
    shaping = {"filter_source_include", "filter_source_exclude"}
    tried = {
        "GET": {name for parameters, _ in CHOICES for name in parameters} | shaping | {"next_page"},
        "POST": {name for body, _ in POST_CHOICES for name in body} | shaping,
    }
    for method, names in tried.items():
        assert names == {name for name, one in FILTERS.items() if method in one.methods}


@each_row("name", [name for name, one in FILTERS.items() if one.sql])
def test_a_filter_that_is_switched_off_would_be_noticed(
    shop: Caller, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each filter has a test above, by each method, that fails without its condition."""
    monkeypatch.setitem(FILTERS, name, replace(FILTERS[name], sql=None))
    tried = {"GET": CHOICES, "POST": POST_CHOICES}
    for method in FILTERS[name].methods:
        assert any(found != shop.gtins(method, **asked) for asked, found in tried[method] if name in asked)


def test_the_parameters_are_those_of_the_specification() -> None:
    """FILTERS holds every parameter of the specification's two tables, and one more that was seen."""
    of_get = {
        "filter_gtins_in", "updated_at_from", "updated_at_to", "limit", "offset", "filter_validation_status_in",
        "filter_tags_in", "filter_tags_not_in", "filter_source_include", "filter_source_exclude",
        "filter_target_productstatus_in", "status_shared_from", "status_shared_with", "filter_target_market",
        "filter_product_languages", "filter_has_packshot", "filter_has_no_packshot",
        "filter_pictures_last_updated_at_from", "filter_pictures_last_updated_at_to", "filter_active_range",
        "filter_owners_in", "next_page",
    }  # fmt: skip
    assert of_get == {name for name, one in FILTERS.items() if "GET" in one.methods}
    assert of_get | {"advanced_search", "allow_not_consumer_units"} == set(FILTERS)

"""Who sees which product, and how it looks to them."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
from small_exchange import BREAD, BUTTER, CIDER, DAIRY, MARKET, MILL, PALLET, RECORDS, Caller

from prodex_sandbox.records.model import SharedProduct, View, views_of_record, views_with_owner

CallerOf = Callable[..., Caller]
DRAFT = "03149170388000"


def test_a_retailer_sees_the_products_that_are_shared_with_it(shop: Caller, caller_of: CallerOf) -> None:
    """A retailer sees the products that have a view for it, and no others."""
    assert [BREAD, BUTTER, CIDER, PALLET] == shop.gtins()
    assert [BREAD] == caller_of(MARKET).gtins()
    assert [] == caller_of(MARKET).gtins(filter_gtins_in=[BUTTER])


def test_a_manufacturer_sees_all_its_own_products(caller_of: CallerOf) -> None:
    """A manufacturer sees all its own products, shared or draft, and no others."""
    assert [BREAD, PALLET, DRAFT] == caller_of(MILL).gtins()
    assert [BUTTER, CIDER] == caller_of(DAIRY).gtins()
    assert [] == caller_of(DAIRY).gtins(filter_owners_in=[MILL.id])


def test_a_product_shared_with_nobody_is_its_owners_draft(caller_of: CallerOf) -> None:
    """A product without views is a draft on both sides and assigned to nobody."""
    mill = caller_of(MILL)
    assert [DRAFT] == mill.gtins(status_shared_from=2, status_shared_with=2)
    assert [DRAFT] == mill.gtins(filter_target_productstatus_in="NOT_ASSIGNED")


def test_filters_ask_about_the_callers_own_view(shop: Caller, caller_of: CallerOf) -> None:
    """The same filter finds what it means to each caller."""
    market = caller_of(MARKET)
    assert ([BREAD], []) == (
        market.gtins(filter_tags_in="promo", filter_validation_status_in=1),
        shop.gtins(filter_tags_in="promo", filter_validation_status_in=1),
    )
    assert ([BREAD], [BREAD]) == (
        market.gtins(filter_target_productstatus_in="REFUSED", status_shared_from=3),
        shop.gtins(filter_target_productstatus_in="ACCEPTED", filter_gtins_in=BREAD),
    )


def test_the_first_viewer_gets_the_record_byte_for_byte(shop: Caller) -> None:
    """A product is served to its first viewer as the bytes that were stored, joined into the envelope."""
    stored = b",".join(msgspec.json.encode(record) for record in RECORDS.values())
    assert b'{"totalResults":4,"data":[' + stored + b'],"offset":0}' == shop.search().content


def test_another_viewer_gets_its_own_values_in_the_record(caller_of: CallerOf) -> None:
    """Sharing status, product status, validation and tags are the caller's; all else is as stored."""
    wanted = RECORDS[BREAD] | {
        "manufacturerSharingStatus": 3,
        "targetProductStatus": "REFUSED",
        "validation": {"status": 1, "nbSuggestions": 0},
        "hasTags": [{"tag": "promo", "createdAt": "2026-01-05T00:00:00"}],
        "isTaggedBy": ["promo"],
    }
    assert [wanted] == caller_of(MARKET).call("POST")["data"]


def test_a_manufacturer_does_not_see_the_retailers_tags(caller_of: CallerOf) -> None:
    """A manufacturer sees its product without the tags that a retailer put on it."""
    mill = caller_of(MILL)
    assert [[]] == [product["isTaggedBy"] for product in mill.call("POST", limit=1)["data"]]
    assert [] == mill.gtins(filter_tags_in="exportable")


def test_a_projection_shows_the_callers_own_values(caller_of: CallerOf) -> None:
    """The caller's own values are there in a projection as well."""
    envelope = caller_of(MARKET).call("GET", filter_source_include="targetProductStatus,validation.status")
    assert [{"targetProductStatus": "REFUSED", "validation": {"status": 1}}] == envelope["data"]


def test_a_view_of_the_owner_that_is_given_is_kept() -> None:
    """A product that says how its owner sees it is seen so."""
    views = (View(organization_id=7), View(organization_id=9, validation_status=1))
    assert views == views_with_owner(SharedProduct({}, 9, views))


def test_a_record_alone_tells_how_it_is_seen() -> None:
    """A record without views is shown with its own statuses, the same to all."""
    record = json.loads("""{
        "manufacturerSharingStatus": 3, "targetProductStatus": "UPDATED", "validation": {"status": 1},
        "product_key": {"target_market_id": 56}, "isTaggedBy": ["a", "b"],
        "hasTags": [{"tag": "b", "createdAt": "2026-01-01T00:00:00"}]
    }""")
    view = View(7, 3, 3, "UPDATED", validation_status=1, target_market=56, tags=(("a", ""), ("b", "2026-01-01T00:00:00")))  # fmt: skip  # noqa: E501
    seen = views_of_record(record, [7, 8])
    assert [7, 8] == [one.organization_id for one in seen]
    assert view == seen[0]


def test_a_record_with_odd_values_is_seen_by_the_defaults() -> None:
    """Values of an unexpected type or range do not change a view."""
    record = json.loads("""{
        "manufacturerSharingStatus": [9], "targetProductStatus": {}, "validation": 5, "product_key": [],
        "isTaggedBy": "a", "hasTags": [{"tag": 5}, null, "b"]
    }""")
    assert (View(7),) == views_of_record(record, [7])

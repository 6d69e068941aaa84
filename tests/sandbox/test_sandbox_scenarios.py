"""Validation scenarios: who may require them, of which products, until when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from small_exchange import Caller
from tests.cases import each_row

from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct, SharingStatus, View
from prodex_sandbox.refusals import REFUSALS

RETAILER = OrganizationType.RETAILER
SHOP = Organization(1, "Shop", RETAILER, "shop", "shop-secret", "shop", True, True)
PLAIN = Organization(2, "Plain", RETAILER, "plain", "plain-secret", "plain", True, False)
OFF = Organization(3, "Off", RETAILER, "off", "off-secret", "off")
MILL = Organization(10, "Mill", OrganizationType.MANUFACTURER, "mill", "mill-secret", "mill")
EVERYBODY = [SHOP, PLAIN, OFF, MILL]

ONLINE, LOGISTICS, REVIEW = "101", "102", "103"
#: Days that are past, and to come, whenever the tests run.
PAST, LATER = "2020-02-29", "2999-12-31"


def a_day_that_lasts() -> date:
    """Return the day it is, by UTC; in the last seconds of a day, the next."""
    while (now := datetime.now(UTC)).date() != (now + timedelta(seconds=10)).date():
        time.sleep(1)
    return now.date()


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def shared(number: int, owner: int = MILL.id, **view: Any) -> SharedProduct:
    record = {
        "id": number,
        "uuid": uuid(number),
        "gtin": f"{number:014d}",
        "updatedAt": "2026-01-01T00:00:00",
    }
    return SharedProduct(record, owner, (View(SHOP.id, **view), View(PLAIN.id, **view), View(OFF.id, **view)))


PRODUCTS = [
    shared(1),
    shared(2, shared_from=SharingStatus.PENDING, product_status="TO_BE_VALIDATED"),
    shared(3, product_status="ASSIGNATION_PENDING"),
    shared(4, shared_from=SharingStatus.DRAFT, product_status="WAITING_TO_BE_SHARED"),
    shared(5, product_status="NOT_ASSIGNED"),
    shared(6, owner=SHOP.id),
    replace(shared(7), views=()),
]

CallerOf = Callable[[Organization], Caller]


@pytest.fixture
def caller_of() -> Iterator[CallerOf]:
    """Call as anybody at an exchange with scenarios of one's own."""
    yield from serve()


@pytest.fixture(scope="module")
def common_caller_of() -> Iterator[CallerOf]:
    """Call as anybody at an exchange at which others are refused too."""
    yield from serve()


def serve() -> Iterator[CallerOf]:
    callers: dict[int, Caller] = {}
    with Sandbox(PRODUCTS, organizations=EVERYBODY, labels={}) as sandbox:

        def caller_of(organization: Organization) -> Caller:
            if organization.id not in callers:
                callers[organization.id] = Caller(sandbox.base_url, organization).log_in()
            return callers[organization.id]

        yield caller_of
        for caller in callers.values():
            caller.session.close()


def require(caller: Caller, body: Any) -> requests.Response:
    return caller.session.post(f"{caller.base_url}/public/v1/validation/rulesets/require", json=body)


def active(caller: Caller, number: int) -> Any:
    """Return the scenarios that are active on a product, as id -> deadline; None where it says nothing of them."""
    (product,) = caller.call("POST", filter_gtins_in=[f"{number:014d}"])["data"]
    shown = product.get("requiredScenarios")
    return None if shown is None else {one["id"]: one["deadline"] for one in shown}


def scenarios(caller: Caller) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = caller.session.get(f"{caller.base_url}/sandbox/scenarios").json()
    return listed


def test_scenarios_are_activated_and_deactivated(caller_of: CallerOf) -> None:
    """What is activated shows in the product and in the list, with its deadline, until it is deactivated."""
    shop = caller_of(SHOP)
    assert None is active(shop, 1)
    reply = require(
        shop,
        {
            "uuids": [uuid(1), uuid(2)],
            "ruleset_values": {ONLINE: True, LOGISTICS: True},
            "deadline": LATER,
        },
    )
    assert (200, {"products": 2}) == (reply.status_code, reply.json())
    assert {ONLINE: LATER, LOGISTICS: LATER} == active(shop, 1) == active(shop, 2)
    assert (
        200
        == require(shop, {"uuids": [uuid(1)], "ruleset_values": {ONLINE: False, REVIEW: True}}).status_code
    )
    assert {LOGISTICS: LATER, REVIEW: None} == active(shop, 1)
    assert [(ONLINE, True, 1), (LOGISTICS, True, 2), (REVIEW, False, 1)] == [
        (one["id"], one["deadlinesEnabled"], one["products"]) for one in scenarios(shop)
    ]
    assert (
        200
        == require(
            shop, {"uuids": [uuid(1)], "ruleset_values": {LOGISTICS: False, REVIEW: False}}
        ).status_code
    )
    assert {} == active(shop, 1)


def test_scenarios_of_one_retailer_are_not_seen_by_another(caller_of: CallerOf) -> None:
    """Each retailer has scenarios and activations of its own; a manufacturer sees none."""
    shop, plain, mill = caller_of(SHOP), caller_of(PLAIN), caller_of(MILL)
    require(shop, {"uuids": [uuid(1)], "ruleset_values": {ONLINE: True}})
    assert ({ONLINE: None}, None, None) == (active(shop, 1), active(plain, 1), active(mill, 1))
    assert ["201", "202", "203"] == [one["id"] for one in scenarios(plain)]
    assert [] == scenarios(mill)


def test_activations_stay_over_a_restart(tmp_path: Path) -> None:
    """What was activated is active after a restart."""
    for number in range(2):
        with Sandbox(PRODUCTS, organizations=EVERYBODY, labels={}, home=tmp_path) as sandbox:
            shop = Caller(sandbox.base_url, SHOP)
            with shop.session:
                shop.log_in()
                if not number:
                    require(shop, {"uuids": [uuid(1)], "ruleset_values": {ONLINE: True}, "deadline": LATER})
                assert {ONLINE: LATER} == active(shop, 1)
                assert 1 == scenarios(shop)[0]["products"]


def test_a_deadline_may_be_today_and_is_replaced(caller_of: CallerOf) -> None:
    """A deadline may be today; another activation replaces the deadline, or removes it."""
    shop = caller_of(SHOP)
    for deadline in (str(a_day_that_lasts()), LATER, None):
        body: dict[str, Any] = {"uuids": [uuid(1)], "ruleset_values": {ONLINE: True}}
        assert 200 == require(shop, body | ({"deadline": deadline} if deadline else {})).status_code
        assert {ONLINE: deadline} == active(shop, 1)


@each_row(
    ("organization", "change", "code", "words"),
    [
        (MILL, {}, "retailers_only", "Mill is a manufacturer"),
        (OFF, {}, "scenarios_not_enabled", "Scenarios are not enabled for Off"),
        (PLAIN, {"ruleset_values": {"201": True}, "deadline": LATER}, "deadlines_not_enabled", "for Plain"),
        (SHOP, {"ruleset_values": {REVIEW: True}, "deadline": LATER}, "deadlines_not_enabled", f"scenario {REVIEW}"),
        (SHOP, {"ruleset_values": {"999": True}}, "scenario_unknown", "no scenario 999; it has 101, 102, 103"),
        (SHOP, {"ruleset_values": {"201": True}}, "scenario_unknown", "no scenario 201"),
        (SHOP, {"ruleset_values": {"\ud800": True}}, "scenario_unknown", "no scenario ?"),
        (SHOP, {"uuids": [uuid(99)]}, "product_unknown", f"sees no product {uuid(99)}"),
        (SHOP, {"uuids": [uuid(7)]}, "product_unknown", f"sees no product {uuid(7)}"),
        (SHOP, {"uuids": [uuid(90 + n) for n in range(7)]}, "product_unknown", "and 2 more"),
        (SHOP, {"uuids": [uuid(3)]}, "assignation_pending", f"The assignation of {uuid(3)} is pending"),
        (SHOP, {"uuids": [uuid(4)]}, "not_shared", f"has shared the data of {uuid(4)}"),
        (SHOP, {"uuids": [uuid(5)]}, "not_shared", uuid(5)),
        (SHOP, {"uuids": [uuid(6)]}, "not_shared", uuid(6)),
        (SHOP, {"deadline": PAST}, "deadline_passed", "has passed"),
        (SHOP, {"deadline": "2027-02-30"}, "invalid_value", "deadline is '2027-02-30', not a day as YYYY-MM-DD"),
        (SHOP, {"deadline": "01/02/2027"}, "invalid_value", "not a day as YYYY-MM-DD"),
        (SHOP, {"deadline": "20270201"}, "invalid_value", "not a day as YYYY-MM-DD"),
        (SHOP, {"deadline": "2027-02-01T00:00:00"}, "invalid_value", "not a day as YYYY-MM-DD"),
        (SHOP, {"deadline": None}, "invalid_value", "deadline is None"),
        (SHOP, {"deadline": 20270201}, "invalid_value", "deadline is 20270201"),
        (SHOP, {"deadline": LATER, "ruleset_values": {ONLINE: False}}, "invalid_value", "belongs to an activation"),
        (SHOP, {"ruleset_values": {ONLINE: "true"}}, "invalid_value", "'true', not true or false"),
        (SHOP, {"ruleset_values": {ONLINE: 1}}, "invalid_value", "the value of '101' is 1"),
        (SHOP, {"ruleset_values": {}}, "invalid_value", "ruleset_values is missing, empty"),
        (SHOP, {"ruleset_values": [ONLINE]}, "invalid_value", "empty, or not an object"),
        (SHOP, {"uuids": []}, "invalid_value", "uuids is missing, empty"),
        (SHOP, {"uuids": uuid(1)}, "invalid_value", "not an array of strings"),
        (SHOP, {"uuids": [1]}, "invalid_value", "not an array of strings"),
        (SHOP, {"uuid": uuid(1)}, "unknown_parameter", "'uuid' is not a member of this body"),
    ],
)  # fmt: skip
def test_each_refusal_says_why_and_nothing_is_activated(
    common_caller_of: CallerOf,
    organization: Organization,
    change: dict[str, Any],
    code: str,
    words: str,
) -> None:
    """Each reason has a code and a message of its own, and the good products of the call are not touched either."""
    caller, shop = common_caller_of(organization), common_caller_of(SHOP)
    body: dict[str, Any] = {"uuids": [uuid(1)], "ruleset_values": {ONLINE: True}} | change
    if isinstance(body["uuids"], list) and body["uuids"]:
        body["uuids"] = [uuid(1), *body["uuids"]]
    reply = require(caller, body)
    assert (REFUSALS[code][0], code) == (reply.status_code, reply.json()["error"])
    assert words in reply.json()["message"]
    assert None is active(shop, 1)


def test_a_token_is_needed(common_caller_of: CallerOf) -> None:
    """Without a token there is neither an activation nor a list."""
    base_url = common_caller_of(SHOP).base_url
    assert 401 == requests.post(f"{base_url}/public/v1/validation/rulesets/require", json={}).status_code
    assert 401 == requests.get(f"{base_url}/sandbox/scenarios").status_code


def test_a_body_that_is_no_json_object_is_refused(common_caller_of: CallerOf) -> None:
    """A list is refused as a body, and a form is refused as a form."""
    shop = common_caller_of(SHOP)
    assert "invalid_json" == require(shop, [uuid(1)]).json()["error"]
    form = shop.session.post(
        f"{shop.base_url}/public/v1/validation/rulesets/require", data={"uuids": uuid(1)}
    )
    assert (415, "unsupported_media_type") == (form.status_code, form.json()["error"])

"""Scenarios activated on products, batch by batch, each with its outcome."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pytest
from mill_exchange import KIOSK, MARKET, MILL, gtin, product, text

import prodex
from prodex.errors import InputError, RequestRefused

LATER = date(2999, 12, 31)


def uuids(*numbers):
    """Return the uuids of products."""
    return [product(number)["uuid"] for number in numbers]


def required(service):
    """Return the active scenarios by GTIN, as the retailer sees them."""
    rows = prodex.load_products(service, max_age=0, progress=False).scalars
    rows = rows[rows.attribute.str.startswith("requiredScenarios")]
    return {one: set(group.value) for one, group in rows.groupby("gtin")}


@pytest.fixture
def scenario(shop):
    """One of the shop's scenarios that takes deadlines; only the sandbox has an endpoint to ask for them."""
    every = shop.call("GET", "/sandbox/scenarios", decode=lambda reply: json.loads(reply.body))
    return next(one["id"] for one in every if one["deadlinesEnabled"])


@pytest.mark.slow
@pytest.mark.parametrize("given", ["uuids", "gtins", "catalogue"])
def test_products_are_named_in_three_ways(shop, scenario, given):
    """By uuid, by GTIN (looked up with endpoint 5), or as a catalogue."""
    catalog = prodex.load_products(shop, max_age=0, progress=False).where(gtin=[gtin(1), gtin(2)])
    products = {"uuids": uuids(1, 2), "gtins": [gtin(1), gtin(2)[1:]], "catalogue": catalog}[given]
    outcome = prodex.require_scenarios(shop, products, {scenario: True}, progress=False)

    assert [(2, "done")] == list(outcome[["products", "status"]].itertuples(index=False, name=None))
    assert uuids(1, 2) == outcome["uuids"][0]
    assert {gtin(1), gtin(2)} == {one for one, active in required(shop).items() if scenario in active}


def test_each_batch_has_its_outcome(shop, exchange, scenario):
    """The product whose assignation is pending is refused, with its batch and the service's words; the others stand."""
    outcome = prodex.require_scenarios(
        shop, uuids(1, 2, 5, 3, 4), {scenario: True}, deadline=LATER, batch_size=2, progress=False
    )
    assert ["done", "refused", "done"] == outcome["status"].tolist()
    assert "pending" in outcome["message"][1]
    assert {gtin(1), gtin(2), gtin(4)} == set(required(shop))
    bodies = [body for method, path, body in exchange.requests if path.endswith("/require")]
    assert {LATER.isoformat()} == {body["deadline"] for body in bodies}


def test_deactivation_takes_it_back(shop, scenario):
    """False is as good a value as true."""
    for value in (True, False):
        prodex.require_scenarios(shop, uuids(1), {scenario: value}, progress=False)
    assert set() == {one for one, active in required(shop).items() if scenario in active}


def test_a_manufacturer_is_refused(client_of, scenario):
    """The endpoint is for retailers, and nothing was done, so that is an error."""
    with pytest.raises(RequestRefused, match=r"403.*retailers"):
        prodex.require_scenarios(client_of(MILL), uuids(1), {scenario: True}, progress=False)


def test_scenarios_and_deadlines_must_be_enabled(client_of, scenario):
    """For the retailer; the service says which is not."""
    with pytest.raises(RequestRefused, match="Scenarios are not enabled for Kiosk"):
        prodex.require_scenarios(client_of(KIOSK), uuids(1), {scenario: True}, progress=False)
    market = client_of(MARKET)
    every = market.call("GET", "/sandbox/scenarios", decode=lambda reply: json.loads(reply.body))
    with pytest.raises(RequestRefused, match="deadlines are not enabled for Market"):
        prodex.require_scenarios(market, uuids(1), {every[0]["id"]: True}, deadline=LATER, progress=False)


def test_an_unknown_product_or_scenario_is_refused(shop, scenario):
    """By the service where only it can know; before anything is sent where we can."""
    unknown = "00000000-0000-4000-8000-999999999999"
    with pytest.raises(RequestRefused, match=unknown):
        prodex.require_scenarios(shop, [unknown], {scenario: True}, progress=False)
    with pytest.raises(RequestRefused, match="nonsense"):
        prodex.require_scenarios(shop, uuids(1), {"nonsense": True}, progress=False)
    with pytest.raises(InputError, match=f"no product with 1 of the GTINs, {gtin(99)}"):
        prodex.require_scenarios(shop, [gtin(1), gtin(99)], {scenario: True}, progress=False)
    assert {} == required(shop)


@pytest.mark.parametrize(
    ("products", "scenarios", "deadline", "why"),
    [
        (uuids(1), {}, None, "scenario id to True or False"),
        (uuids(1), ["7"], None, "scenario id to True or False"),
        (uuids(1), {"7": 1}, None, "'7' is 1"),
        (uuids(1), {"7": "true"}, None, "'7' is 'true'"),
        (uuids(1), {"7": None}, None, "'7' is None"),
        (uuids(1), {"7": True}, "2020-01-01", "has passed"),
        (uuids(1), {"7": True}, date(2020, 1, 1), "has passed"),
        (uuids(1), {"7": True}, "11/12/2099", "may be 2099-12-11 or 2099-11-12"),
        (uuids(1), {"7": True}, "2099-02-30", "no day of the calendar"),
        (uuids(1), {"7": True}, datetime(2099, 1, 1, tzinfo=UTC), "Give a day"),
        (uuids(1), {"7": True}, 20991231, "Give a day"),
        (uuids(1), {"7": False}, "2099-12-31", "none is"),
        (["bread"], {"7": True}, None, "neither a uuid nor a GTIN"),
        ([None], {"7": True}, None, "neither a uuid nor a GTIN"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_call(shop, exchange, products, scenarios, deadline, why):
    """With the value and the form that is wanted."""
    with pytest.raises(InputError, match=why):
        prodex.require_scenarios(shop, products, scenarios, deadline=deadline)
    assert [] == exchange.requests


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed")
def test_a_day_has_passed_only_when_it_has_everywhere(shop, scenario, exchange, monkeypatch):
    """Nothing says whose calendar a deadline is of, so the service decides, and not the zone of this machine."""
    monkeypatch.setenv("TZ", "Etc/GMT-14")
    time.tzset()
    try:
        still = datetime.now(timezone(timedelta(hours=-12))).date()
        with suppress(RequestRefused):  # where it is the next day already
            prodex.require_scenarios(shop, uuids(1), {scenario: True}, deadline=still, progress=False)
        with pytest.raises(InputError, match="has passed"):
            prodex.require_scenarios(shop, uuids(1), {scenario: True}, deadline=still - timedelta(days=1))
    finally:
        monkeypatch.undo()
        time.tzset()

    assert [still.isoformat()] == [
        body["deadline"] for _, path, body in exchange.requests if "require" in path
    ]


@pytest.mark.parametrize("size", [0, 501, True, 1.5])
def test_a_batch_has_its_limits(shop, size):
    """From 1 to 500."""
    with pytest.raises(InputError, match="batch_size"):
        prodex.require_scenarios(shop, uuids(1), {"7": True}, batch_size=size)


def test_no_product_is_no_call(shop, exchange):
    """An empty list, an empty frame of outcomes."""
    assert 0 == len(prodex.require_scenarios(shop, [], {"7": True}))
    assert [] == exchange.requests


def test_failing_products_are_shown_before_anything_is_sent(shop, exchange):
    """Each once, in calls of the size asked for; what was shown is what is sent."""
    records = [{"id": n, "gtin": gtin(n), "uuid": product(n)["uuid"]} for n in range(1, 6)]
    catalog = prodex.flatten(
        [*records, {"id": 9, "uuid": product(6)["uuid"], "nameLegal": [text("fra-FR", "Sel")]}]
    )
    checks = {"required_text": {"attribute": ["nameLegal", "description"], "language": "fr"}}
    failures = prodex.audit(catalog, {"checks": checks}).failures(attribute="nameLegal")
    failing = catalog.where(product_id=pd.concat([failures, failures])["product_id"])

    planned = prodex.require_scenarios(
        shop, failing, {7: True}, deadline=LATER, batch_size=2, dry_run=True, progress=False
    )

    assert [uuids(1, 2), uuids(3, 4), uuids(5)] == planned["uuids"].tolist()
    assert [2, 2, 1] == planned["products"].tolist()
    assert {"dry run"} == set(planned["status"])
    assert [] == exchange.requests


def test_a_product_that_nobody_can_name_is_named_and_not_lost(shop, exchange):
    """It has neither uuid nor GTIN: whether it is to be sent or shown alone, nothing happens before it is left out."""
    catalog = prodex.flatten([{"id": 1, "uuid": product(1)["uuid"]}, {"id": 9}, {"id": 10}])
    for dry_run in (True, False):
        with pytest.raises(
            InputError, match=r"2 products of the catalogue .* neither uuid nor GTIN, of 9, 10 first"
        ):
            prodex.require_scenarios(shop, catalog, {"7": True}, dry_run=dry_run)
    assert [] == exchange.requests

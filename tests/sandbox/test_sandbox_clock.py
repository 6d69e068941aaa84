"""The clock of the exchange: many quick writes do not push it ahead, and nothing that is written can be missed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, MILL, SHOP, Caller, text
from tests.cases import each_row
from writer import Writer

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.model import SharedProduct, View
from prodex_sandbox.records.service_clock import next_updated_at

PRODUCT = {"id": 1, "gtin": BREAD, "updatedAt": "2026-01-01T00:00:00", "namePublicLong": [text("Pain")]}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """Serve one product of the mill to the shop."""
    with Sandbox(
        [SharedProduct(PRODUCT, MILL.id, (View(SHOP.id),))], organizations=[SHOP, MILL], labels={}
    ) as sandbox:
        yield sandbox


def seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp()


def ahead(reply: requests.Response) -> tuple[float, float]:
    """Return how far the newest updatedAt and Date are ahead of the clock on the wall."""
    now = time.time()
    newest = max(seconds(product["updatedAt"]) for product in reply.json()["data"])
    return newest - now, parsedate_to_datetime(reply.headers["Date"]).timestamp() - now


@pytest.mark.slow
def test_ten_thousand_quick_writes_do_not_push_the_clock_ahead(sandbox: Sandbox) -> None:
    """After ten thousand writes on one product, neither its updatedAt nor Date is ahead, and both are of now."""
    with Writer(sandbox.base_url, MILL).log_in().session as session:
        mill = Writer(sandbox.base_url, MILL, session)
        writes = [{"gtin": BREAD, "lifeCycle": number} for number in range(10_000)]
        assert "SUCCESS" == mill.wait(mill.send({"data": writes}), seconds=120)["status"]
        reply = mill.search()
        assert 9_999 == reply.json()["data"][0]["lifeCycle"]
        for drift in ahead(reply):
            assert -5 < drift <= 1


def test_quick_changes_do_not_push_the_clock_ahead(sandbox: Sandbox) -> None:
    """Changes from Python, each a write of its own, do not put dates ahead of the clock either."""
    for number in range(500):
        sandbox.change([{**PRODUCT, "lifeCycle": number}])
    with Caller(sandbox.base_url).log_in().session as session:
        for drift in ahead(Caller(sandbox.base_url, SHOP, session).search()):
            assert -2 < drift <= 1


NOW = datetime(2026, 11, 20, 12, 0, 0, 999_999, tzinfo=UTC)
STAMPS = st.integers(0, 7_258_118_400).map(
    lambda second: datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
)


@given(before=STAMPS)
def test_a_write_moves_updated_at_to_now_and_never_back(before: str) -> None:
    """A write sets updatedAt to now, unless it was later before; then it stays."""
    assert max("2026-11-20T12:00:00", before) == next_updated_at(encode(before), NOW)


@each_row("before", [None, b"null", b"5", b'"yesterday"', b'""', b"[]", b'"0001-01-01T00:00:00+14:00"'])
def test_what_is_no_time_counts_for_nothing(before: bytes | None) -> None:
    """A write sets updatedAt of a record that had none."""
    assert "2026-11-20T12:00:00" == next_updated_at(before, NOW)


@pytest.mark.slow
def test_refreshes_lose_nothing_however_quick_the_writes_are(sandbox: Sandbox) -> None:
    """A client that repeats a query from the Date of its previous reply gets every write in the end."""
    records = [{**PRODUCT, "id": number, "gtin": f"{number:014d}"} for number in range(1, 21)]
    sandbox.change(records)
    written: dict[str, int] = {}
    ended = threading.Event()

    def write() -> None:
        until = time.monotonic() + 2.1  # at least two seconds of `Date` begin meanwhile
        number = 0
        while time.monotonic() < until:
            number += 1
            chosen = [records[(number * 7 + place) % 20] for place in range(1 + number % 3)]
            sandbox.change([{**record, "lifeCycle": number} for record in chosen])
            written.update((record["gtin"], number) for record in chosen)
        ended.set()

    with Caller(sandbox.base_url).log_in().session as session:
        shop = Caller(sandbox.base_url, SHOP, session)
        held: dict[str, int] = {}
        since, last = 0, False
        threading.Thread(target=write).start()
        while not last:
            last = ended.is_set()
            reply = shop.search(updated_at_from=since, limit=500)
            since = int(parsedate_to_datetime(reply.headers["Date"]).timestamp())
            held |= {product["gtin"]: product.get("lifeCycle", 0) for product in reply.json()["data"]}
        assert {gtin: held[gtin] for gtin in written} == written


@pytest.mark.slow
def test_an_import_is_dated_when_it_is_seen_not_when_it_began() -> None:
    """A client that asked during an import, and saw nothing of it, finds all of it from the Date of that reply on."""
    with Sandbox([], organizations=[SHOP, MILL], labels={}) as sandbox:
        mill = Writer(sandbox.base_url, MILL)
        with mill.session:
            mill.log_in()
            pictures = [{"url": "https://pictures.test/1.jpg", "isPackshot": True}]
            products: list[dict[str, Any]] = [
                {
                    "gtin": gtin(number),
                    "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain " * 200}],
                    "assets": {"pictures": pictures},
                }
                for number in range(4_000)
            ]
            tracking = mill.send({"data": products})
            unseen = 0.0
            while True:
                reply = mill.search(limit=1)
                if reply.json()["totalResults"]:
                    break
                unseen = parsedate_to_datetime(reply.headers["Date"]).timestamp()
            assert "SUCCESS" == mill.wait(tracking)["status"]
            since = int(unseen)
            assert 4_000 == mill.call("POST", limit=1, updated_at_from=since)["totalResults"]
            since_pictures = {"filter_pictures_last_updated_at_from": since * 1_000}
            assert 4_000 == mill.call("POST", limit=1, **since_pictures)["totalResults"]
            (one,) = mill.call("POST", limit=1)["data"]
            assert one["updatedAt"] == one["assets"]["lastUpdatedAt"]["pictures"]
            assert since <= seconds(one["updatedAt"]) <= time.time()


def test_a_clock_that_is_off_stays_as_far_off() -> None:
    """With clock_skew, Date and updatedAt agree, however quick the writes are."""
    with Sandbox(
        [PRODUCT], organizations=[SHOP], labels={}, behaviour=Behaviour(clock_skew=3_600)
    ) as sandbox:
        for number in range(50):
            sandbox.change([{**PRODUCT, "lifeCycle": number}])
        with Caller(sandbox.base_url).log_in().session as session:
            for drift in ahead(Caller(sandbox.base_url, SHOP, session).search()):
                assert drift == pytest.approx(3_600, abs=2)


def gtin(number: int) -> str:
    body = f"{number:013d}"
    return f"{body}{-sum(int(digit) * (3, 1)[place % 2] for place, digit in enumerate(body)) % 10}"

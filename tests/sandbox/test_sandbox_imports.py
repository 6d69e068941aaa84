"""Imports: the states they end in, their tracking records, their order, and what a restart does to them."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from small_exchange import BREAD, DAIRY, LABELS, MARKET, MILL, PALLET, PRODUCTS, SHOP, text
from tests.cases import each_row
from writer import Writer, messages

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.records.model import Organization

GOOD = {"gtin": BREAD, "lifeCycle": 5}
BAD = {"gtin": "1"}


@contextmanager
def exchange(
    organization: Organization = MILL, home: Path | None = None, **settings: Any
) -> Iterator[tuple[Sandbox, Writer]]:
    """Serve the small exchange, and write to it."""
    with Sandbox(
        PRODUCTS,
        organizations=[SHOP, MARKET, MILL, DAIRY],
        labels=LABELS,
        behaviour=Behaviour(**settings),
        home=home,
    ) as sandbox:
        writer = Writer(sandbox.base_url, organization)
        with writer.session:
            writer.log_in()
            yield sandbox, writer


@pytest.fixture(scope="module")
def mill() -> Iterator[Writer]:
    """Write as a manufacturer."""
    with exchange() as (_, writer):
        yield writer


@each_row(
    ("body", "status", "products", "words"),
    [
        ({"data": []}, "EMPTY", [], ""),
        ({"data": [GOOD]}, "SUCCESS", ["SUCCESS"], ""),
        ({"data": [GOOD, BAD]}, "CONTAINS_ERRORS", ["SUCCESS", "ERROR"], ""),
        ({"data": [BAD]}, "CONTAINS_ERRORS", ["ERROR"], ""),
        (b"", "ERROR", [], "The payload is empty."),
        (b"{", "ERROR", [], "The payload is not JSON: "),
        (b'{"data": [{"gtin": NaN}]}', "ERROR", [], "The payload is not JSON: "),
        (b'{"data": [{"gtin": "\xff"}]', "ERROR", [], "The payload is not JSON: "),
        ([GOOD], "ERROR", [], 'The payload is JSON, but not an object; send {"data": [...]}.'),
        ({}, "ERROR", [], 'The payload has the members (none); send {"data": [...]} alone.'),
        ({"data": [GOOD], "more": 1}, "ERROR", [], "The payload has the members data, more;"),
        ({"data": GOOD}, "ERROR", [], "data is not an array of products."),
        ({"data": None}, "ERROR", [], "data is not an array of products."),
        ({"data": [GOOD, None]}, "ERROR", [], "data[1] is not an object."),
        (b'{"data": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}", "ERROR", [], "nested too deeply"),
    ],
)
def test_an_import_ends_in_the_state_that_the_specification_names(
    mill: Writer, body: Any, status: str, products: list[str], words: str
) -> None:
    """Empty, good, partly good and unreadable payloads each end in their state, with a message for ERROR alone."""
    record = mill.wait(mill.send(body))
    assert status == record["status"]
    assert products == [product["status"] for product in record["products"]]
    assert len(products) == record["count"]
    assert record["message"].startswith(words) if words.startswith("The") else words in record["message"]
    assert bool(words) == bool(record["message"])


def test_nothing_of_an_unreadable_payload_is_imported(mill: Writer) -> None:
    """Good products before the place where the payload breaks are not imported."""
    before = mill.stored(PALLET)
    record = mill.wait(mill.send({"data": [{"gtin": PALLET, "lifeCycle": 1}, 5]}))
    assert "ERROR" == record["status"]
    assert before == mill.stored(PALLET)


def test_a_tracking_record_is_as_the_specification_says(mill: Writer) -> None:
    """The record has the members of the specification, and no other."""
    start = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    tracking = mill.send({"data": [GOOD, BAD]})
    record = mill.wait(tracking)
    assert start <= record.pop("createdAt") <= datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    refused = "product 2: gtin '1' has 1 digits; a GTIN has 8, 12, 13 or 14"
    assert {
        "status": "CONTAINS_ERRORS",
        "message": "",
        "count": 2,
        "tracking": tracking,
        "products": [
            {"gtin": BREAD, "status": "SUCCESS", "message": ""},
            {"gtin": "1", "status": "ERROR", "message": refused},
        ],
        "user": {"id": 10, "username": "mill"},
        "organization": {"id": 10, "nameLegal": "Mill"},
        "endpoint": "API",
    } == record


@each_row(
    ("tracking", "status", "code", "words"),
    [
        ("2147483647", 404, "tracking_unknown", "Mill has no import with the tracking id 2147483647"),
        ("0", 404, "tracking_unknown", "tracking id 0"),
        ("-1", 404, "tracking_unknown", "tracking id -1"),
        ("2147483648", 400, "invalid_value", "tracking_id: 2147483648 is not from"),
        ("abc", 400, "invalid_value", "tracking_id: 'abc' is not an integer"),
        ("1.0", 400, "invalid_value", "tracking_id: '1.0' is not an integer"),
    ],
)
def test_an_unknown_tracking_id_is_refused(
    mill: Writer, tracking: str, status: int, code: str, words: str
) -> None:
    """A tracking id that nobody got, or that is none, is refused with a code of its own."""
    reply = mill.track(tracking)
    assert (status, code) == (reply.status_code, reply.json()["error"])
    assert words in reply.json()["message"]


def test_an_import_is_tracked_by_its_organisation_alone() -> None:
    """The tracking id of another organisation is unknown, and a call without a token is refused."""
    with exchange() as (sandbox, mill):
        tracking = mill.send({"data": [GOOD]})
        other = Writer(sandbox.base_url, DAIRY)
        with other.session:
            assert 401 == other.track(tracking).status_code
            assert 401 == other.post_products({"data": []}).status_code
            other.log_in()
            assert "tracking_unknown" == other.track(tracking).json()["error"]


def test_an_import_is_in_progress_until_it_is_done() -> None:
    """While an import runs it is IN_PROGRESS with nothing counted, and what it brings is not seen."""
    with exchange(import_delay=0.4) as (_, mill):
        start = time.monotonic()
        tracking = mill.send({"data": [GOOD]})
        assert time.monotonic() < start + 0.3
        record = mill.track(tracking).json()
        assert ("IN_PROGRESS", "", 0, []) == (
            record["status"],
            record["message"],
            record["count"],
            record["products"],
        )
        assert 5 != mill.stored(BREAD)["lifeCycle"]
        assert "SUCCESS" == mill.wait(tracking)["status"]
        assert time.monotonic() >= start + 0.4
        assert 5 == mill.stored(BREAD)["lifeCycle"]


@pytest.mark.parametrize("settings", [{"import_timeout": 0.0}, {"import_delay": 60.0, "import_timeout": 0.1}])
def test_an_import_that_takes_too_long_is_given_up(settings: dict[str, float]) -> None:
    """An import that takes too long is TIMEOUT with no message, and nothing of it is imported."""
    with exchange(**settings) as (_, mill):
        before = mill.stored(BREAD)
        record = mill.write(GOOD)
        assert ("TIMEOUT", "", []) == (record["status"], record["message"], record["products"])
        assert before == mill.stored(BREAD)


def test_imports_are_done_in_the_order_of_their_arrival() -> None:
    """Of thirty writes of one attribute sent at once, the last one is stored, and each has its tracking id."""
    with exchange(import_delay=0.2) as (_, mill):
        trackings = [mill.send({"data": [{"gtin": BREAD, "lifeCycle": number}]}) for number in range(30)]
        assert ["SUCCESS"] * 30 == [mill.wait(tracking)["status"] for tracking in trackings]
        assert sorted(set(trackings)) == trackings
        assert 29 == mill.stored(BREAD)["lifeCycle"]


def test_what_waits_is_done_after_a_restart(tmp_path: Path) -> None:
    """Imports that waited, or were in progress, when the sandbox stopped are done by the next; records stay."""
    with exchange(home=tmp_path, import_delay=60.0) as (_, mill):
        trackings = [mill.send({"data": [{"gtin": BREAD, "lifeCycle": number}]}) for number in range(3)]
    with exchange(home=tmp_path) as (_, mill):
        records = [mill.wait(tracking) for tracking in trackings]
        assert ["SUCCESS"] * 3 == [record["status"] for record in records]
        assert 2 == mill.stored(BREAD)["lifeCycle"]
    with exchange(home=tmp_path) as (_, mill):
        assert records == [mill.track(tracking).json() for tracking in trackings]
        assert 2 == mill.stored(BREAD)["lifeCycle"]


@pytest.mark.parametrize(("attempts", "status"), [(2, "SUCCESS"), (3, "TIMEOUT")])
def test_an_import_that_ended_the_process_thrice_is_given_up(
    tmp_path: Path, attempts: int, status: str
) -> None:
    """An import that was begun three times and never ended is TIMEOUT, so that those behind it are done."""
    with exchange(home=tmp_path, import_delay=60.0) as (_, mill):
        tracking, behind = mill.send({"data": [GOOD]}), mill.send({"data": [GOOD]})
    # What a process leaves that ended without a word.
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        connection.execute("UPDATE imports SET attempts = ? WHERE tracking = ?", (attempts, tracking))
    connection.close()
    with exchange(home=tmp_path) as (_, mill):
        assert status == mill.wait(tracking)["status"]
        assert "SUCCESS" == mill.wait(behind)["status"]


def test_more_products_than_an_upsert_may_have_are_an_error() -> None:
    """With one product over the limit, nothing is imported."""
    with exchange(upsert_limit=2) as (_, mill):
        record = mill.write(GOOD, GOOD, GOOD)
        assert ("ERROR", "The payload has more than 2 products.") == (
            record["status"],
            record["message"],
        )
        three = f"<SupplierProducts>{'<product/>' * 3}</SupplierProducts>"
        assert "The payload has more than 2 products." == mill.write_xml(three)["message"]
        assert "SUCCESS" == mill.write(GOOD, GOOD)["status"]


def test_a_file_is_imported_like_an_upsert(tmp_path: Path) -> None:
    """JSON and XML files end in the same states, with the endpoint IMPORT."""
    products = tmp_path / "products.json"
    products.write_text(json.dumps({"data": [GOOD]}))
    xml = tmp_path / "products.xml"
    xml.write_text("<SupplierProducts><product><gtin>1</gtin></product></SupplierProducts>")
    with exchange() as (sandbox, mill):
        done = mill.wait(sandbox.import_file(products, MILL))
        refused = mill.wait(sandbox.import_file(xml, MILL))
    assert ("SUCCESS", "IMPORT") == (done["status"], done["endpoint"])
    assert ("CONTAINS_ERRORS", "IMPORT") == (refused["status"], refused["endpoint"])
    with pytest.raises(RuntimeError, match="does not run"):
        Sandbox([]).import_file(products, MILL)


def test_a_failure_inside_the_sandbox_is_a_timeout_and_the_next_import_is_done(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An import that fails for a reason of the sandbox's own is TIMEOUT, is reported, and holds nobody up."""
    reported: list[Any] = []
    monkeypatch.setattr("sys.excepthook", lambda *error: reported.append(error[1]))
    with exchange(home=tmp_path, import_delay=60.0) as (_, mill):
        lost, kept = mill.send({"data": [GOOD]}), mill.send({"data": [GOOD]})
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        connection.execute("UPDATE imports SET organization_id = 999 WHERE tracking = ?", (lost,))
    connection.close()
    with exchange(home=tmp_path) as (_, mill):
        assert "SUCCESS" == mill.wait(kept)["status"]
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        rows = connection.execute("SELECT status FROM imports WHERE tracking = ?", (lost,)).fetchall()
    connection.close()
    assert [("TIMEOUT",)] == rows
    assert [KeyError] == [type(error) for error in reported]


@pytest.mark.slow
def test_a_store_that_cannot_be_written_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An import that the store does not take, for a full disk say, waits, and is done when the store takes it."""
    reported: list[Any] = []
    monkeypatch.setattr("sys.excepthook", lambda *error: reported.append(error[1]))
    with exchange(home=tmp_path) as (_, mill):
        store = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
        store.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON imports BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        tracking = mill.send({"data": [GOOD]})
        while not reported:
            time.sleep(0.01)
        assert "IN_PROGRESS" == mill.track(tracking).json()["status"]
        store.execute("DROP TRIGGER full")
        store.close()
        assert "SUCCESS" == mill.wait(tracking)["status"]
    assert "disk full" == str(reported[0])


def test_what_is_written_is_there_after_a_restart(tmp_path: Path) -> None:
    """New products, a manufacturer's changes and a retailer's own stay; search finds them."""
    new = "03037494555003"
    with exchange(home=tmp_path) as (sandbox, mill):
        mill.write({"gtin": new, "nameLegal": [text("Neuf")]}, {"gtin": BREAD, "lifeCycle": 6})
        shop = Writer(sandbox.base_url, SHOP)
        with shop.session:
            shop.log_in()
            assert [""] == messages(shop.write({"gtin": BREAD, "description": [text("Chez nous")]}))
            seen = shop.stored(BREAD)
    with exchange(SHOP, tmp_path) as (sandbox, shop):
        assert seen == shop.stored(BREAD)
        search = {"must": [{"query": "chez", "fields": ["description.data"]}]}
        assert [BREAD] == shop.gtins(advanced_search=search)
        mill = Writer(sandbox.base_url, MILL)
        with mill.session:
            mill.log_in()
            assert "Neuf" == mill.stored(new)["nameLegal"][0]["data"]
            assert 6 == mill.stored(BREAD)["lifeCycle"]

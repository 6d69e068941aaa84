"""Following imports at services that answer late, oddly, or against themselves."""

from __future__ import annotations

import pytest
from exchange import Answer, says
from tests.cases import each_row

import prodex
from prodex.errors import RequestRefused, TrackingTimeout
from prodex.gtin import check_digit
from prodex.send import polling, tracking


def gtins(count):
    """Make GTINs."""
    return [f"{n:013d}{check_digit(f'{n:013d}')}" for n in range(1, count + 1)]


def products(count):
    """Make products that preflight accepts."""
    names = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    return [{"gtin": gtin, "namePublicLong": names, "kind": {"code": "1"}} for gtin in gtins(count)]


def record(status="SUCCESS", told=(), **others):
    """Make a tracking record."""
    outcomes = [{"gtin": gtin, "status": said, "message": ""} for gtin, said in told]
    return {"status": status, "products": outcomes, **others}


class Clock:
    """A clock that sleeping moves."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    """Let time pass at once."""
    clock = Clock()
    monkeypatch.setattr(tracking, "time", clock)
    monkeypatch.setattr(polling, "time", clock)
    return clock


@pytest.fixture
def sent(far_client):
    """Two products on their way to a service far away."""
    return prodex.upsert(far_client, products(2), progress=False)


@each_row(
    "late", [says(404, "no import 1"), says(200, {}), says(200, {"status": None})], ids=["404", "{}", "null"]
)
def test_an_import_that_is_not_known_yet_is_waited_for(sent, exchange, clock, late):
    """With pauses of 2, 4, 8 seconds, until it is known."""
    exchange.answers.extend([late] * 3)
    assert "unknown" == sent.refresh().status
    assert not sent.done
    assert "SUCCESS" == sent.wait(progress=False).status
    assert [2, 4] == clock.slept


def test_an_import_that_stays_unknown_is_given_up_after_five_minutes(sent, exchange, clock):
    """404 again and again: unknown, never success, and the wait ends; `{}` is followed to the end of the time."""
    exchange.answers.extend([says(404, "no import 1")] * 50)
    assert ("unknown", ["unknown"] * 2) == (
        sent.wait(progress=False).status,
        sent.products["status"].tolist(),
    )
    assert ([2, 4, 8, 16, 32, 60, 60, 60, 60], 302) == (clock.slept, clock.now)
    assert "no import 1" in sent.message

    exchange.answers.clear()
    exchange.records = [{}]
    with pytest.raises(TrackingTimeout, match=r"after 400 s.*no status"):
        prodex.track(sent._service).wait(400, progress=False)


@each_row("word", ["success", "Success", "DONE", "QUEUED", "", 7, ["SUCCESS"]])
def test_a_status_that_is_none_of_the_six_is_followed_and_never_success(sent, exchange, clock, word):
    """It is kept as it came, and may still become one of them."""
    exchange.records = [record(word), record(word), record(word), record(word, [(gtins(1)[0], "SUCCESS")])]
    with pytest.raises(TrackingTimeout, match=r"status .* is unknown"):
        sent.wait(10, progress=False)
    assert [2, 4, 4] == clock.slept
    assert ("unknown", False) == (sent.status, sent.done)
    assert word == sent.records[1]["status"]
    assert repr(word) in sent.message
    assert ["SUCCESS", "unknown"] == sent.products["status"].tolist()
    exchange.records = [record("SUCCESS")]
    assert "SUCCESS" == sent.wait(progress=False).status


def test_one_bad_identifier_hides_no_other(client, exchange):
    """The others have their rows; its own says why it has none."""
    exchange.answers.extend([None, says(404, "no import 9"), None, says(200, [])] + [says(200, [])] * 9)
    tracking = prodex.track(client, [1, 9, 2, 8])
    assert ["SUCCESS", "unknown", "SUCCESS", "unknown"] == tracking.batches["status"].tolist()
    assert ["", "no import 9", "", "not a tracking record"] == [
        next((words for words in ("no import 9", "not a tracking record") if words in message), "")
        for message in tracking.batches["message"]
    ]
    assert "unknown" == tracking.status
    assert {1, 2} == set(tracking.records)


def test_when_no_identifier_is_known_that_is_an_error(client, exchange):
    """The first one's."""
    exchange.answers.extend([says(404, "no import 8"), says(404, "no import 9")])
    with pytest.raises(RequestRefused, match="no import 8"):
        prodex.track(client, [8, 9])


def test_a_refusal_that_no_waiting_mends_is_not_waited_for(sent, exchange, clock):
    """403 today is 403 tomorrow."""
    exchange.answers.append(says(403, "not yours"))
    assert ("unknown", []) == (sent.wait(progress=False).status, clock.slept)


def test_a_service_that_fails_for_one_import_is_asked_again(sent, exchange, clock):
    """503 until the retries end, then its record."""
    exchange.answers.extend([Answer(503)] * 5)
    assert "SUCCESS" == sent.wait(progress=False).status


@each_row("listed", [None, "none", 7, {}, [], [None, 7]])
def test_a_record_without_outcomes_says_what_is_known(sent, exchange, listed):
    """SUCCESS of the import as a whole; and that is what the message says."""
    exchange.records = [{"status": "SUCCESS", "products": listed}]
    sent.wait(progress=False)
    assert ["SUCCESS"] * 2 == sent.products["status"].tolist()
    assert {"the status of the import as a whole, not of this product"} == set(sent.products["message"])


@each_row("shorten", [lambda gtin: gtin[1:], int, lambda gtin: f" {gtin} ", lambda gtin: gtin.lstrip("0")])
def test_gtins_are_matched_in_every_spelling(sent, exchange, shorten):
    """13 digits, numbers, blanks around them."""
    exchange.records = [record(told=[(shorten(gtins(2)[0]), "SUCCESS"), (shorten(gtins(2)[1]), "ERROR")])]
    sent.wait(progress=False)
    rows = sent.products[["gtin", "status"]].to_numpy().tolist()
    assert [[gtins(2)[0], "SUCCESS"], [gtins(2)[1], "ERROR"]] == rows


def test_a_count_that_disagrees_is_said_and_is_no_success(sent, exchange):
    """One product of two is missing at the service: nobody knows which."""
    exchange.records = [{"status": "SUCCESS", "count": 1}]
    sent.wait(progress=False)
    assert ("unknown", ["unknown"] * 2) == (sent.status, sent.products["status"].tolist())
    assert "The service counted 1 product, and 2 were sent." in sent.message


def test_a_product_that_nobody_tells_of_is_unknown(sent, exchange):
    """SUCCESS, but of one of two only."""
    exchange.records = [record(told=[(gtins(1)[0], "SUCCESS")])]
    sent.wait(progress=False)
    assert ("unknown", ["SUCCESS", "unknown"]) == (sent.status, sent.products["status"].tolist())
    assert f"lacks 1 product of those sent, {gtins(2)[1]} first" in sent.message


def test_a_success_that_its_products_contradict_is_none(sent, exchange):
    """One ERROR among the products; the service's own word for the whole stays in the record."""
    exchange.records = [record(told=[(gtins(2)[0], "SUCCESS"), (gtins(2)[1], "ERROR")])]
    sent.wait(progress=False)
    assert ("unknown", "SUCCESS") == (sent.status, sent.records[1]["status"])
    assert ["SUCCESS", "ERROR"] == sent.products["status"].tolist()


def test_one_product_told_of_twice_is_unknown(sent, exchange):
    """Once SUCCESS, once ERROR."""
    told = [(gtins(2)[0], "SUCCESS"), (gtins(2)[0][1:], "ERROR"), (gtins(2)[1], "SUCCESS")]
    exchange.records = [record("CONTAINS_ERRORS", told)]
    sent.wait(progress=False)
    assert ["unknown", "SUCCESS"] == sent.products["status"].tolist()
    assert "both SUCCESS and ERROR" in sent.products["message"][0]


def test_outcomes_of_products_that_were_not_sent_are_listed_as_such(sent, exchange):
    """They do not count as a success, and are reported explicitly."""
    exchange.records = [record(told=[*((gtin, "SUCCESS") for gtin in gtins(3))])]
    sent.wait(progress=False)
    rows = sent.products[["gtin", "status"]].to_numpy().tolist()
    assert [*([gtin, "SUCCESS"] for gtin in gtins(2)), [gtins(3)[2], "unexpected"]] == rows
    assert "1 GTIN beyond those sent" in sent.message
    assert [gtins(3)[2]] == sent.failed["gtin"].tolist()

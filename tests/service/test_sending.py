"""Sending products over a way that fails: each batch once, what became of it shown and kept."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from exchange import CLIENT_ID, CLIENT_SECRET, Answer, says
from tests.cases import each_row
from tests.ledgered import FILE, contents, events, full_disk, rewrite

import prodex
from prodex.errors import (
    AuthenticationFailed,
    InputError,
    OutcomeUnknown,
    PreflightFailed,
    RequestRefused,
    ServiceUnreachable,
    StorageError,
    TrackingTimeout,
    UnexpectedReply,
    UpsertStopped,
)
from prodex.gtin import check_digit
from prodex.ledger.upsert_file import UpsertFile

NAME = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
LOST = {
    "dropped after the work": Answer(lose=True),
    "dropped": Answer(drop=True),
    "cut off": Answer(200, b'{"tracking": 1', cut=10),
    "a web page": Answer(200, b"<html>a proxy</html>"),
    "502": Answer(502),
}


def gtins(count):
    """Make GTINs."""
    return [f"{n:013d}{check_digit(f'{n:013d}')}" for n in range(1, count + 1)]


def products(count):
    """Make products that preflight accepts."""
    return [{"gtin": gtin, "namePublicLong": NAME, "kind": {"code": "1"}} for gtin in gtins(count)]


def test_records_go_out_once_and_come_to_an_end(client, exchange):
    """One call, one payload, the tracking identifier of the reply, and the outcome of each product."""
    exchange.records = [
        {"status": "IN_PROGRESS"},
        {
            "status": "CONTAINS_ERRORS",
            "createdAt": "2026-11-20T08:00:00",
            "message": "",
            "count": 2,
            "tracking": 1,
            "products": [
                {"gtin": gtins(2)[0], "status": "SUCCESS", "message": ""},
                {"gtin": gtins(2)[1], "status": "ERROR", "message": "'XX' is not in languages"},
            ],
            "user": {"id": 5, "username": "anna"},
            "organization": {"id": 7, "nameLegal": "Mill"},
            "endpoint": "API",
        },
    ]
    tracking = prodex.upsert(client, products(2), keep_before=False, progress=False)
    assert ("IN_PROGRESS", [1]) == (tracking.status, tracking.tracking_ids)
    tracking.wait(progress=False)

    assert [{"data": products(2)}] == [json.loads(body) for body in exchange.imports]
    assert "CONTAINS_ERRORS" == tracking.status
    assert [
        [gtins(2)[0], "SUCCESS", "", 1],
        [gtins(2)[1], "ERROR", "'XX' is not in languages", 1],
    ] == tracking.products.to_numpy().tolist()
    assert [gtins(2)[1]] == tracking.failed["gtin"].tolist()
    assert {"id": 5, "username": "anna"} == tracking.records[1]["user"]
    assert {"id": 7, "nameLegal": "Mill"} == tracking.records[1]["organization"]
    facts = (tracking.created_at, tracking.count, tracking.user, tracking.organization, tracking.endpoint)
    assert ("2026-11-20T08:00:00", 2, "anna", "Mill", "API") == facts


def test_batches_are_of_500_and_progress_is_told(client, exchange):
    """1,001 products make three calls; the bar moves with each."""
    seen = []
    tracking = prodex.upsert(
        client, products(1001), keep_before=False, progress=lambda *step: seen.append(step)
    )

    assert [500, 500, 1] == [len(json.loads(body)["data"]) for body in exchange.imports]
    assert [(500, 1001), (1000, 1001), (1001, 1001)] == seen
    assert [1, 2, 3] == tracking.tracking_ids
    assert gtins(1001) == tracking.wait(progress=False).products["gtin"].tolist()
    assert {"SUCCESS"} == set(tracking.products["status"])


def test_large_products_make_smaller_batches(client, exchange):
    """A payload stays below eight megabytes, unless one product alone is larger."""
    large = [{**product, "description": [{**NAME[0], "data": "x" * 19_000}] * 200} for product in products(4)]
    prodex.upsert(client, large, keep_before=False, progress=False)

    assert [2, 2] == [len(json.loads(body)["data"]) for body in exchange.imports]


@each_row("fault", LOST)
def test_a_lost_answer_is_unknown_and_not_sent_again(make_client, exchange, fault):
    """The batch is not repeated, the others go on, and the state is shown and kept."""
    exchange.answers.extend([None, LOST[fault]])
    tracking = prodex.upsert(make_client(), products(6), batch_size=2, keep_before=False, progress=False)

    assert 3 == len(exchange.product_calls)
    assert ["IN_PROGRESS", "unknown", "IN_PROGRESS"] == tracking.batches["status"].tolist()
    tracking.wait(progress=False)
    assert "unknown" == tracking.status
    assert gtins(6)[2:4] == tracking.failed["gtin"].tolist()
    assert "writes are not repeated" in repr(tracking)
    assert "unknown" == events(tracking.path)[3]["state"]


def test_two_lost_answers_in_a_row_stop_the_sending(client, exchange):
    """The rest is not sent, and is reported as not sent."""
    exchange.answers.extend([None, Answer(drop=True), Answer(drop=True)])
    tracking = prodex.upsert(client, products(5), batch_size=1, keep_before=False, progress=False)

    assert 3 == len(exchange.product_calls)
    assert ["IN_PROGRESS", "unknown", "unknown", "not sent", "not sent"] == tracking.batches[
        "status"
    ].tolist()
    assert "two replies in a row" in tracking.batches["message"][4]


def test_a_refusal_stops_the_sending(client, exchange):
    """A refused batch is reported with the message of the service, and the rest is not sent."""
    exchange.answers.extend([None, says(413, {"message": "too large"})])
    tracking = prodex.upsert(client, products(3), batch_size=1, keep_before=False, progress=False)

    assert ["IN_PROGRESS", "refused", "not sent"] == tracking.batches["status"].tolist()
    assert "too large" in tracking.message


@pytest.mark.parametrize(
    ("answers", "error"),
    [([says(403, "no")], RequestRefused), ([says(401, "no")] * 2, AuthenticationFailed)],
)
def test_when_nothing_could_be_sent_that_is_an_error(client, exchange, answers, error):
    """There is nothing to track then."""
    exchange.answers.extend(answers)
    with pytest.raises(error):
        prodex.upsert(client, products(2), batch_size=1, keep_before=False, progress=False)
    assert [] == exchange.imports
    assert "refused" == prodex.track(client).status


def test_turned_away_for_good_is_not_sent(client, exchange):
    """429 until the retries end: the service did nothing, so the state is not unknown."""
    exchange.answers.extend([None, *[Answer(429, headers={"Retry-After": "0"})] * 4])
    tracking = prodex.upsert(client, products(2), batch_size=1, keep_before=False, progress=False)
    assert ["IN_PROGRESS", "not sent"] == tracking.batches["status"].tolist()
    exchange.answers.extend([Answer(429, headers={"Retry-After": "0"})] * 4)
    with pytest.raises(ServiceUnreachable):
        prodex.upsert(client, products(1), keep_before=False, progress=False)


def test_turned_away_once_is_sent_again(client, exchange):
    """429 and an expired token: the service cannot have acted."""
    exchange.answers.extend([Answer(429, headers={"Retry-After": "0"}), says(401, "expired")])
    assert [1] == prodex.upsert(client, products(1), keep_before=False, progress=False).tracking_ids
    assert 1 == len(exchange.imports)


def test_a_node_that_does_not_know_a_new_token_yet_ends_no_upsert(client, exchange):
    """The first batch was taken, so the access key is good: the next ones are sent again, and each once."""
    exchange.answers.extend([None, *[says(401, {"message": "unknown token"})] * 4])
    tracking = prodex.upsert(client, products(3), batch_size=1, keep_before=False, progress=False)
    assert (3, [1, 2, 3]) == (len(exchange.imports), tracking.tracking_ids)


def test_what_went_out_is_on_disk_before_its_answer_comes(client, exchange, monkeypatch):
    """A process that ends in the middle leaves the batch behind as unknown, for the next one to see."""

    class Ended(BaseException):
        pass

    def end(*_, **__):
        raise Ended

    exchange.answers.append(None)
    prodex.upsert(client, products(1), keep_before=False, progress=False)
    with monkeypatch.context() as patched:
        patched.setattr(client._transport.session, "send", end)
        with pytest.raises(Ended):
            prodex.upsert(client, products(2), keep_before=False, progress=False)

    tracking = prodex.track(client)
    assert ("unknown", gtins(2)) == (tracking.status, tracking.products["gtin"].tolist())
    assert tracking.message.startswith("The process ended before the reply was received. ")


def test_a_line_that_was_cut_off_is_left_out(client):
    """The file of a process that ended while writing can be read."""
    first = prodex.upsert(client, products(1), keep_before=False, progress=False)
    with first.path.open("ab") as file:
        file.write(b'{"batch": 0, "se')
    assert [1] == prodex.track(client).tracking_ids


@pytest.mark.slow
def test_a_fresh_process_picks_up(client, exchange, home, tmp_path):
    """The identifiers and the outcome are found by another process, with and without naming them."""
    prodex.upsert(client, products(3), batch_size=2, keep_before=False, progress=False)
    code = (
        "import sys, prodex; s = prodex.connect(sys.argv[1], client_id=sys.argv[2], client_secret=sys.argv[3]);"
        "a, b = prodex.track(s), prodex.track(s, [1, 2]);"
        "print(a.status, a.tracking_ids, len(a.products), b.status, b.tracking_ids)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, exchange.base_url, CLIENT_ID, CLIENT_SECRET],
        capture_output=True,
        text=True,
        env={**os.environ, "PRODEX_HOME": str(home)},
        cwd=tmp_path,
        check=False,
    )
    assert "SUCCESS [1, 2] 3 SUCCESS [1, 2]\n" == done.stdout, done.stderr


def test_the_newest_file_of_this_service_counts(client, make_client, home):
    """What was sent to another host is not mistaken for it."""
    with pytest.raises(InputError, match="There is no upsert"):
        prodex.track(client)
    prodex.upsert(client, products(1), keep_before=False, progress=False)
    prodex.upsert(client, products(1), keep_before=False, progress=False)
    (newest, *_) = sorted((home / "tracking").glob("*Z*"), reverse=True)
    other = home / "tracking" / newest.name.replace(newest.name[:4], "9998")
    shutil.copytree(newest, other)
    elsewhere = {"host": "elsewhere.example", "base_url": "https://elsewhere.example"}
    (plan,) = contents(other / FILE, "plan")
    rewrite(other / FILE, "plan", 0, json.dumps(json.loads(plan) | elsewhere).encode())
    assert ["elsewhere.example"] == prodex.list_upserts()["host"].tolist()[:1]
    assert [2] == prodex.track(client).tracking_ids


def test_no_secret_is_on_disk(client, home):
    """Only GTINs, identifiers and the host stand in the files."""
    prodex.upsert(client, products(1), keep_before=False, progress=False)
    text = b"".join(path.read_bytes() for path in (home / "tracking").rglob("*") if path.is_file()).decode(
        "latin-1"
    )
    assert gtins(1)[0] in text
    assert not any(secret in text for secret in (CLIENT_SECRET, CLIENT_ID, "canary-token", "Pain"))


def full_after(monkeypatch, writes):
    """Let the disk be full after some writes."""
    left = iter(range(writes))

    def fsync(_):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)


def full_from_import(monkeypatch, exchange, number):
    """Let the disk be full as soon as the service has taken so many imports."""
    end_sending = UpsertFile.end_sending

    def ended(file, *arguments):
        with full_disk() if len(exchange.imports) >= number else nullcontext():
            end_sending(file, *arguments)

    monkeypatch.setattr(UpsertFile, "end_sending", ended)


@pytest.mark.parametrize("writes", [0, 1])
def test_nothing_is_sent_when_the_disk_refuses(client, exchange, monkeypatch, writes):
    """Without a place for the identifiers the products stay here."""
    full_after(monkeypatch, writes)
    with pytest.raises(StorageError, match="No space left"):
        prodex.upsert(client, products(1), progress=False)
    assert [] == exchange.imports


def test_a_disk_that_fills_up_meanwhile_loses_no_identifier(client, exchange, monkeypatch):
    """The error names those that came and has what became of each; the rest goes out once there is space."""
    with monkeypatch.context() as patched:
        full_from_import(patched, exchange, 2)
        with pytest.raises(
            StorageError, match=r"stopped after batch 1\. Note the tracking identifiers: \[1, 2\]"
        ) as caught:
            prodex.upsert(client, products(3), batch_size=1, progress=False)
    assert 2 == len(exchange.imports)

    assert isinstance(caught.value, UpsertStopped)
    tracking = caught.value.tracking
    assert ["IN_PROGRESS", "IN_PROGRESS", "not sent"] == tracking.products["status"].tolist()
    assert ["IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS"] == tracking.send_rest().products["status"].tolist()
    assert gtins(3) == [json.loads(body)["data"][0]["gtin"] for body in exchange.imports]
    assert ["SUCCESS"] * 3 == prodex.track(client).products["status"].tolist()


@each_row(
    ("status", "product"),
    [("SUCCESS", "SUCCESS"), ("ERROR", "ERROR"), ("TIMEOUT", "TIMEOUT"), ("EMPTY", "EMPTY")],
)
def test_each_final_state_ends_the_wait(client, exchange, status, product):
    """Products that the record does not name share the state of their import."""
    exchange.records = [{"status": "IN_PROGRESS"}, {"status": status, "message": "why"}]
    tracking = prodex.upsert(client, products(1), progress=False).wait(progress=False)
    assert (status, [product]) == (tracking.status, tracking.products["status"].tolist())
    assert ("support" in tracking.message) == (status == "TIMEOUT")


def test_in_progress_goes_on_until_the_time_is_up(client, exchange):
    """The error names the identifiers and how to pick up; the import can be waited for again."""
    exchange.records = [{"status": "IN_PROGRESS"}]
    tracking = prodex.upsert(client, products(1), progress=False)
    with pytest.raises(TrackingTimeout, match=r"after 0\.1 s.*prodex\.track\(service, \[1\]\)"):
        tracking.wait(0.1, progress=False)
    exchange.records = [{"status": "SUCCESS"}]
    assert "SUCCESS" == tracking.wait(progress=False).status


def test_pauses_double_from_2_to_60_seconds(far_client, exchange, monkeypatch):
    """A service on another machine is polled after 2, 4, 8 ... 60 seconds."""
    slept = []
    # Of its own: other threads of this process go on sleeping as they did.
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=slept.append)
    monkeypatch.setattr("prodex.send.tracking.time", clock)
    exchange.records = [{"status": "IN_PROGRESS"}] * 8 + [{"status": "SUCCESS"}]
    prodex.upsert(far_client, products(1), progress=False).wait(progress=False)
    assert [2, 4, 8, 16, 32, 60, 60, 60] == slept


def test_only_imports_that_still_run_are_asked_for(client, exchange):
    """A batch that ended is left alone."""
    exchange.records = [{"status": "SUCCESS"}, {"status": "IN_PROGRESS"}, {"status": "SUCCESS"}]
    prodex.upsert(client, products(2), batch_size=1, progress=False).wait(progress=False)
    asked = [call.path.rpartition("/")[2] for call in exchange.product_calls if "/track/" in call.path]
    assert ["1", "2", "2"] == asked


def test_contains_errors_leaves_nobody_guessing(client, exchange):
    """A product that such a record does not name is unknown, never counted as success."""
    exchange.records = [{"status": "CONTAINS_ERRORS", "products": [{"gtin": gtins(2)[0], "status": "ERROR"}]}]
    tracking = prodex.upsert(client, products(2), progress=False).wait(progress=False)
    assert ["ERROR", "unknown"] == tracking.products["status"].tolist()


@each_row("record", [[], 7, None, [{"status": "SUCCESS"}], "SUCCESS"], ids=repr)
def test_a_record_of_no_known_state_is_an_error(client, exchange, record):
    """A record is an object; what is none is not taken for one, whatever it says."""
    exchange.records = [record]
    with pytest.raises(UnexpectedReply, match="not a tracking record"):
        prodex.track(client, 1)


def test_odd_parts_of_a_record_do_no_harm(client, exchange):
    """What the specification does not show may look any way."""
    exchange.records = [
        {
            "status": "SUCCESS",
            "count": None,
            "products": [None, {"gtin": None}],
            "user": "anna",
            "organization": 7,
        }
    ]
    tracking = prodex.track(client, 1)
    assert ("anna", "7", 0) == (tracking.user, tracking.organization, tracking.count)
    assert ["None"] == tracking.products["status"].tolist()


def test_the_import_of_a_file_is_tracked_too(client, exchange):
    """The import of a file at the service is tracked by its identifier, with its products."""
    outcome = {"gtin": gtins(1)[0], "status": "SUCCESS", "message": ""}
    exchange.records = [{"status": "SUCCESS", "endpoint": "IMPORT", "count": 1, "products": [outcome]}]
    tracking = prodex.track(client, 8)
    assert ("IMPORT", 1, gtins(1)) == (tracking.endpoint, tracking.count, tracking.products["gtin"].tolist())


def test_an_unknown_identifier_is_refused_with_what_to_check(client, exchange):
    """The service's words, and ours."""
    exchange.answers.append(says(404, {"message": "no import 99"}))
    with pytest.raises(
        RequestRefused, match=r"no import 99\. Only the access key that sent a write can track it"
    ):
        prodex.track(client, 99)


@each_row("wrong", ["twelve", "", "1e3", "-1", "../1", True, -1, [1.5]])
def test_what_is_no_identifier_is_not_asked_for(client, exchange, wrong):
    """Only whole numbers are."""
    with pytest.raises(InputError, match="not a tracking identifier"):
        prodex.track(client, wrong)
    assert [] == exchange.calls


def test_preflight_stops_everything_before_anything_leaves(client, exchange):
    """One wrong product, and no call is made, not even for a token."""
    with pytest.raises(PreflightFailed, match="Nothing was sent: 1 error found") as caught:
        prodex.upsert(client, [*products(2), {"gtin": "03036811359936", "namePublicLong": NAME}])
    assert ["03036811359936"] == caught.value.findings.query("severity == 'error'")["gtin"].tolist()
    assert [] == exchange.calls


def test_a_dry_run_sends_nothing(client, exchange):
    """It returns the payloads that would go out, and the findings."""
    run = prodex.upsert(client, products(3), batch_size=2, dry_run=True)
    assert [2, 1] == [len(json.loads(body)["data"]) for body in run.payloads]
    assert ([], 3, "application/json") == (exchange.calls, run.count, run.content_type)
    assert "3 products in 2 calls" in repr(run)
    assert () == prodex.upsert(client, [{"gtin": "1"}], dry_run=True).payloads


def test_xml_goes_out_and_its_answer_is_read(client, exchange):
    """XML in, XML out."""
    exchange.answers.append(Answer(200, b"<?xml version='1.0'?><tracking>7</tracking>"))
    assert [7] == prodex.upsert(
        client, products(1), format="xml", keep_before=False, progress=False
    ).tracking_ids
    call = exchange.product_calls[0]
    assert ("application/xml", b"<SupplierProducts") == (call.headers["Content-Type"], call.body[39:56])


BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><tracking>&c;</tracking>'


@each_row(
    ("body", "why"),
    [
        (BOMB, "document type"),
        (b'<!DOCTYPE a SYSTEM "http://127.0.0.1/x.dtd"><tracking>7</tracking>', "document type"),
        (b"<a>" * 100 + b"</a>" * 100, "levels deep"),
        (b"<tracking>" + b" " * 1_000_001 + b"7</tracking>", "are read at most"),
        (b"<tracking>7</track>", "not XML"),
        (b"<tracking>seven</tracking>", "no tracking identifier"),
        (b"<tracking>-7</tracking>", "no tracking identifier"),
        (b"<tracking/>", "no tracking identifier"),
        (b"<answer>7</answer>", "no tracking identifier"),
        (b'{"tracking": true}', "no tracking identifier"),
        (b'{"tracking": 9999999999.5}', "no tracking identifier"),
        (b"[]", "no tracking identifier"),
        (b"", "no tracking identifier.*empty"),
    ],
)
def test_an_answer_that_cannot_be_trusted_is_lost(client, exchange, body, why):
    """No entity is expanded, no DTD fetched, no depth followed; what became of the write stays unknown."""
    exchange.answers.append(Answer(200, body))
    with pytest.raises(OutcomeUnknown, match=why):
        client.upsert_products(b"<SupplierProducts/>", "application/xml")


def test_a_tracking_shows_itself_without_markup(client, exchange):
    """What others wrote is escaped in a notebook; the facts stand in both forms."""
    exchange.records = [
        {
            "status": "ERROR",
            "message": "<img src=x onerror=alert(1)>",
            "user": {"username": "<b>"},
            "tracking": 1,
        }
    ]
    tracking = prodex.upsert(client, products(30), progress=False).wait(progress=False)
    html = tracking._repr_html_()
    assert "<img" not in html
    assert "&lt;img src=x" in html
    assert "mathjax_ignore" in html
    assert all(word in repr(tracking) for word in ("ERROR", "30", "10 of 30 shown", str(tracking.path)))


def test_what_switches_a_check_off_is_said_loudly(client, caplog):
    """A DeactivateValidationRule goes out, with a warning in the log and in the findings."""
    rules = [{"type": "DeactivateValidationRule", "ruleId": 42}]
    tracking = prodex.upsert(client, [{**products(1)[0], "validationRules": rules}], progress=False)
    assert "DISABLES the check 42" in caplog.text
    assert ["validationRules"] == tracking.findings["attribute"].tolist()


def test_nothing_to_send_is_empty(client, exchange):
    """No product, no call."""
    tracking = prodex.upsert(client, [], progress=False).wait(progress=False)
    assert ("EMPTY", 0, []) == (tracking.status, len(tracking.products), exchange.product_calls)


@each_row("options", [{"format": "csv"}, {"batch_size": 0}, {"batch_size": 501}, {"batch_size": True}])
def test_options_that_cannot_be_are_refused(client, options):
    """Before anything is looked at."""
    with pytest.raises(InputError):
        prodex.upsert(client, [], **options)

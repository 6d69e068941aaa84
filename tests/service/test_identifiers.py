"""The answer to an upsert, in every form in which services were seen to give it, and in those that give nothing."""

from __future__ import annotations

import json

import pytest
from exchange import Answer, says
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_row

import prodex
from prodex.errors import IdentifierUnreadable, OutcomeUnknown, UnexpectedReply
from prodex.gtin import check_digit
from prodex.service.replies import Reply, tracking_identifier

BOM = b"\xef\xbb\xbf"
XML = b"<?xml version='1.0' encoding='UTF-8'?>"


def products(count):
    """Make products that preflight accepts."""
    gtins = [f"{n:013d}{check_digit(f'{n:013d}')}" for n in range(1, count + 1)]
    names = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    return [{"gtin": gtin, "namePublicLong": names, "kind": {"code": "1"}} for gtin in gtins]


def read(body):
    """Read an answer."""
    return tracking_identifier(Reply(200, body, "", None, None))


def test_an_identifier_very_deep_inside_of_objects_is_not_looked_for():
    """No reply of a service has twenty objects inside each other; one that has must not cost the stack."""

    def inside(objects):
        return read(b'{"a": ' * objects + b'{"tracking": 7}' + b"}" * objects)

    assert "7" == inside(2)
    with pytest.raises(IdentifierUnreadable, match="it contains none"):
        inside(20)


@each_row(
    ("body", "expected"),
    [
        (b'{"tracking": 7}', "7"),
        (b'{"tracking": "7"}', "7"),
        (b'{"tracking": " 007 "}', "007"),
        (b'{"tracking": 0}', "0"),
        (b'{"tracking": 2147483648}', "2147483648"),
        (b'{"tracking": 9223372036854775808}', "9223372036854775808"),
        (b'{"tracking": "123456789012345678901234567890"}', "123456789012345678901234567890"),
        (b'{"data": {"tracking": 7}}', "7"),
        (b'{"data": [{"tracking": 7}]}', "7"),
        (b'{"data": [{"tracking": 7}, {"tracking": "7"}]}', "7"),
        (b'[{"tracking": 7}]', "7"),
        (b'{"status": "OK", "result": {"import": {"trackingId": 7}}}', "7"),
        (b'{"trackingId": 7}', "7"),
        (b'{"tracking_id": "7"}', "7"),
        (b'{"TrackingID": 7}', "7"),
        (b'{"tracking": null, "trackingId": 7}', "7"),
        (b'{"tracking": {"id": 7}}', "7"),
        (b'{"tracking": [7]}', "7"),
        (b'{"tracking": 7, "id": 8}', "7"),
        (b'{"id": 7}', "7"),
        (b'{"data": {"id": "7"}}', "7"),
        (b'{"id": 7, "user": {"id": 5}, "organization": {"id": 6}}', "7"),
        (b"7", "7"),
        (b' "7"\n', "7"),
        (BOM + b'{"tracking": 7}', "7"),
        (b"\r\n" + BOM + b" 7", "7"),
        ('{"tracking": 7}'.encode("utf-16"), "7"),
        (XML + b"<tracking>7</tracking>", "7"),
        (BOM + XML + b"<response><tracking> 7 </tracking></response>", "7"),
        (b"\n  " + XML + b"<response><tracking>99999999999</tracking></response>", "99999999999"),
        (b'<response tracking="7"/>', "7"),
        (b'<r:response xmlns:r="urn:x" r:tracking="7"/>', "7"),
        (b'<r:response xmlns:r="urn:x"><r:tracking>7</r:tracking></r:response>', "7"),
        (b'<response xmlns="urn:x"><trackingId>7</trackingId></response>', "7"),
        (b'<response><tracking id="7"/></response>', "7"),
        (b"<response><tracking><id>7</id></tracking></response>", "7"),
        (b"<response><id>7</id></response>", "7"),
        ('<?xml version="1.0" encoding="UTF-16"?><tracking>7</tracking>'.encode("utf-16"), "7"),
    ],
)
def test_an_identifier_is_read_in_every_form(body, expected):
    """Text or number, of any size, nested, bare, as element or attribute, behind a byte order mark."""
    assert expected == read(body)


@each_row(
    "body",
    [
        b"",
        b" ",
        b"OK",
        b"7 products",
        b"7.0",
        b"-7",
        b"true",
        b"null",
        b"{}",
        b"[]",
        b"[7]",
        b'{"ok": true}',
        b'{"data": 7}',
        b'{"tracking": null}',
        b'{"tracking": -7}',
        b'{"tracking": 7.5}',
        b'{"tracking": true}',
        b'{"tracking": "seven"}',
        b'{"tracking": "7/../8"}',
        b'{"tracking": ' + b"9" * 41 + b"}",
        b'{"tracking": ' + b"9" * 5000 + b"}",
        b'{"tracking": 7, "trackingId": 8}',
        b'{"tracking": 7, "tracking": 8}',
        b'{"tracking": "x", "trackingId": 8}',
        b'{"data": [{"tracking": 7}, {"tracking": 8}]}',
        b'{"data": [{"id": 7}, {"id": 8}]}',
        b'{"data": [{"id": 7, "gtin": "03036811359935"}]}',
        b'{"user": {"id": 5}}',
        b'{"tracking": 7',
        b"[" * 100_000,
        b"<tracking>7</tracking><tracking>8</tracking>",
        b'<tracking id="8">7</tracking>',
        b"<a><tracking>7</tracking><tracking>8</tracking></a>",
        b"<a><tracking/></a>",
        b"<count>7</count>",
        b"\xff\xfe",
        b"\x00\x01",
    ],
)
def test_what_is_no_identifier_or_two_is_not_guessed(body):
    """The service accepted the products; which import it is, it did not say."""
    with pytest.raises(IdentifierUnreadable, match="The service accepted the products"):
        read(body)


@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["tracking", "trackingId", "id", "data", "gtin"]), inner, max_size=3
            )
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_answer_is_an_identifier_or_unreadable(body):
    """Never another error, and never anything but digits."""
    try:
        assert read(body).isdecimal()
    except (IdentifierUnreadable, UnexpectedReply) as error:
        assert str(error)  # noqa: PT017 - both are what may happen


@pytest.mark.parametrize("page", [b"<html>a proxy</html>", BOM + b" <!DOCTYPE HTML><title>7</title>"])
def test_a_web_page_is_not_the_services_answer(make_client, exchange, page):
    """A proxy answered: whether the products arrived is unknown."""
    exchange.answers.append(Answer(200, page))
    tracking = prodex.upsert(make_client(), products(1), keep_before=False, progress=False)
    assert (["unknown"], "unknown") == (tracking.products["status"].tolist(), tracking.status)


@each_row(
    "answer",
    [Answer(204), Answer(202), Answer(200, b"OK"), says(200, {"ok": True}), says(201, {"tracking": [1, 2]})],
)
def test_what_was_accepted_without_an_identifier_is_not_lost_and_stops_nobody(client, exchange, answer):
    """Three in a row: each is accepted, each answer kept, and all batches go out."""
    exchange.answers.extend([answer] * 3)
    tracking = prodex.upsert(client, products(4), batch_size=1, keep_before=False, progress=False).wait(
        progress=False
    )

    assert 4 == len([call for call in exchange.product_calls if call.method == "POST"])
    assert ["accepted"] * 3 + ["SUCCESS"] == tracking.products["status"].tolist()
    assert ("accepted", 1) == (tracking.status, len(tracking.tracking_ids))
    assert "no tracking identifier can be read" in tracking.message
    assert (answer.body.decode() or "It is empty") in tracking.message
    again = prodex.track(client)
    assert tracking.products["status"].tolist() == again.products["status"].tolist()
    assert [3, 0] == prodex.list_upserts()[["accepted", "not_sent"]].iloc[0].tolist()


def test_an_answer_that_is_kept_shows_no_secret_and_no_control_character(client, exchange):
    """1,000 characters at most."""
    body = b"\x1b[2Jtoken eyJhbGciOiJIUzI1NiJ9.eyJpYXQiOjF9.abc canary-secret-5f2b " + b"x" * 3_000
    exchange.answers.append(Answer(200, body))
    with pytest.raises(IdentifierUnreadable) as caught:
        client.upsert_products(b"{}")
    assert (True, True) == (
        caught.value.answer.startswith("\\x1b[2Jtoken *** *** xxx"),
        "\x1b" not in str(caught.value),
    )
    assert len(caught.value.answer) <= 1_003
    assert isinstance(caught.value, OutcomeUnknown), "who caught a lost answer before catches this one"


@each_row(
    ("answer", "ids", "asked"),
    [
        ({"tracking": "007"}, ["007"], "007"),
        ({"tracking": 2**70}, [2**70], str(2**70)),
        ({"tracking": "7"}, [7], "7"),
    ],
)
def test_an_identifier_is_asked_for_digit_by_digit(client, exchange, answer, ids, asked):
    """In this process and in the next one, given as text or as a number."""
    exchange.answers.append(says(200, answer))
    tracking = prodex.upsert(client, products(1), keep_before=False, progress=False).wait(progress=False)
    assert (ids, "SUCCESS") == (tracking.tracking_ids, tracking.status)
    assert asked == str(tracking.products["tracking"][0])
    assert ids == prodex.track(client).tracking_ids == prodex.track(client, ids).tracking_ids
    assert ids == list(prodex.track(client, str(ids[0])).records)
    paths = {call.path for call in exchange.product_calls if "/track/" in call.path}
    assert {f"/public/v1/products/track/{asked}"} == paths


def test_one_identifier_for_two_calls_is_said(client, exchange):
    """Nobody can tell them apart."""
    exchange.answers.extend([says(200, {"tracking": 7})] * 2)
    tracking = prodex.upsert(client, products(2), batch_size=1, keep_before=False, progress=False)
    assert "sent the tracking identifier 7 for 2 calls" in tracking.message


@each_row(("status", "state"), [(303, "unknown"), (302, "unknown"), (301, "not sent")])
def test_a_redirect_to_a_result_may_mean_that_it_was_done(client, exchange, status, state):
    """303 may mean that the import happened; 301 asks to send the products to another address."""
    exchange.answers.extend([None, Answer(status, headers={"Location": "/result"})])
    tracking = prodex.upsert(client, products(2), batch_size=1, keep_before=False, progress=False)
    assert ["IN_PROGRESS", state] == tracking.products["status"].tolist()


@each_row("answer", [Answer(200, b"OK"), Answer(204), Answer(202), Answer(200, b"\xff\x00"), says(200, [1])])
def test_a_scenario_is_done_whatever_the_answer_says(client, exchange, answer):
    """Any answer of success is one; its words are kept."""
    exchange.answers.append(answer)
    uuid = "00000000-0000-4000-8000-000000000001"
    outcome = prodex.require_scenarios(client, [uuid], {7: True}, progress=False)
    assert ["done"] == outcome["status"].tolist()
    assert ("OK" in answer.body.decode("latin-1")) == ("OK" in outcome["message"][0])

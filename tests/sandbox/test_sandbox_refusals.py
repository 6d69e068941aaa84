"""What the sandbox refuses, and how it says so."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import requests
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Sandbox
from prodex_sandbox.api.filters import FILTERS
from prodex_sandbox.refusals import REFUSALS

#: Parameters of a GET that are refused, with the code and a word of the message.
BAD_PARAMETERS: list[tuple[dict[str, Any], str, str]] = [
    ({"filter_colour": "red"}, "unknown_parameter", "'filter_colour'"),
    ({"advanced_search": "bread"}, "unknown_parameter", "'advanced_search'"),
    ({"allow_not_consumer_units": "true"}, "unknown_parameter", "'allow_not_consumer_units'"),
    ({"filter_gtins_in": ""}, "invalid_value", "filter_gtins_in: '' holds an empty value"),
    ({"filter_gtins_in": "1,,2"}, "invalid_value", "empty value"),
    ({"filter_gtins_in": ["1", "2"]}, "invalid_value", "filter_gtins_in is given twice"),
    ({"updated_at_from": 1_767_312_000_000}, "invalid_value", "UNIX time in seconds"),
    ({"updated_at_to": 1_767_312_000_000}, "invalid_value", "looks like milliseconds"),
    ({"updated_at_from": "2026-01-02"}, "invalid_value", "send seconds since 1970-01-01"),
    ({"updated_at_from": "1.5"}, "invalid_value", "'1.5' is not an integer"),
    ({"updated_at_from": -1}, "invalid_value", "-1 is not from 0"),
    ({"filter_pictures_last_updated_at_from": "today"}, "invalid_value", "send milliseconds since"),
    ({"filter_pictures_last_updated_at_to": 10**18}, "invalid_value", "is not from 0"),
    ({"filter_validation_status_in": 4}, "invalid_value", "4 is not one of 0, 1, 2, 3"),
    ({"filter_validation_status_in": "1,OK"}, "invalid_value", "'OK' is not an integer"),
    ({"filter_target_productstatus_in": "SOLD"}, "invalid_value", "'SOLD' is not one of NOT_ASSIGNED"),
    ({"status_shared_from": 5}, "invalid_value", "5 is not one of 2, 3, 4"),
    ({"status_shared_with": "DRAFT"}, "invalid_value", "'DRAFT' is not an integer"),
    ({"filter_target_market": 2**31}, "invalid_value", "is not from -2147483648 to 2147483647"),
    ({"filter_target_market": "٥٦"}, "invalid_value", "is not an integer"),
    ({"filter_owners_in": "9" * 5000}, "invalid_value", "is not an integer"),
    ({"filter_has_packshot": "True"}, "invalid_value", "'True' is not one of true, false"),
    ({"filter_active_range": "1"}, "invalid_value", "'1' is not one of true, false"),
    ({"filter_source_include": "a..b"}, "invalid_value", "'a..b' is not a dotted path"),
    ({"filter_source_exclude": ".a"}, "invalid_value", "'.a' is not a dotted path"),
    ({"limit": 0}, "invalid_value", "limit: 0 is not from 1 to 500"),
    ({"limit": -1}, "invalid_value", "limit: -1 is not from 1"),
    ({"limit": 501}, "invalid_value", "limit: 501 is not from 1 to 500"),
    ({"limit": "many"}, "invalid_value", "limit: 'many' is not an integer"),
    ({"offset": -1}, "invalid_value", "offset: -1 is not from 0"),
    ({"next_page": ""}, "invalid_value", "leave it out on the first call"),
    ({"next_page": "abc"}, "invalid_value", "'abc' is not an integer"),
    ({"next_page": 2**63}, "invalid_value", "is not from 0"),
    ({"next_page": 12345}, "cursor_lost", "next_page=12345"),
    ({"next_page": 12345, "offset": 1}, "invalid_value", "leave offset out"),
]

#: Bodies of a POST that are refused in ways of their own.
BAD_BODIES: list[tuple[dict[str, Any], str, str]] = [
    ({"filter_colour": "red"}, "unknown_parameter", "'filter_colour'"),
    ({"filter_gtins_in": None}, "invalid_value", "None is not an array of strings or a comma-separated"),
    ({"filter_gtins_in": []}, "invalid_value", "the array is empty"),
    ({"filter_gtins_in": [3036811359935]}, "invalid_value", "3036811359935 is not a string"),
    ({"filter_gtins_in": ["1", ""]}, "invalid_value", "empty string"),
    ({"updated_at_from": "2026-01-02"}, "invalid_value", "send seconds since 1970-01-01"),
    ({"updated_at_from": 1_767_312_000_000}, "invalid_value", "UNIX time in seconds"),
    ({"updated_at_from": "1767312000000"}, "invalid_value", "UNIX time in seconds"),
    ({"updated_at_from": 1.5}, "invalid_value", "1.5 is not an integer"),
    ({"filter_target_market": "France"}, "invalid_value", "'France' is not an integer"),
    ({"filter_target_market": True}, "invalid_value", "True is not an integer"),
    ({"filter_has_packshot": "True"}, "invalid_value", "'True' is not one of true, false"),
    ({"filter_has_packshot": 1}, "invalid_value", "1 is not true or false"),
    ({"filter_owners_in": [10, "Mill"]}, "invalid_value", "'Mill' is not an integer"),
    ({"filter_owners_in": 2**70}, "invalid_value", "is not from -2147483648"),
    ({"filter_target_productstatus_in": ["SOLD"]}, "invalid_value", "'SOLD' is not one of"),
    ({"filter_source_include": ["a."]}, "invalid_value", "'a.' is not a dotted path"),
    ({"next_page": True}, "invalid_value", "True is not an integer"),
    ({"next_page": "x"}, "invalid_value", "'x' is not an integer"),
    ({"next_page": "12345"}, "cursor_lost", "next_page=12345"),
    ({"next_page": 12345}, "cursor_lost", "next_page=12345"),
    ({"next_page": "", "offset": 20}, "invalid_value", "leave offset out"),
    ({"limit": 501}, "invalid_value", "limit: 501 is not from 1 to 500"),
    ({"limit": "twenty"}, "invalid_value", "'twenty' is not an integer"),
    ({"offset": 9_990, "limit": 11}, "result_cap", "over 10000"),
]


def refused(reply: requests.Response) -> tuple[int, str, str]:
    """Return status, code and message of a refusal."""
    body = reply.json()
    assert {"error", "message"} == body.keys()
    return reply.status_code, body["error"], body["message"]


@each_row(("parameters", "code", "words"), BAD_PARAMETERS, ids=lambda value: str(value)[:60])
def test_a_get_is_refused_with_a_code_and_a_message_that_names_the_parameter(
    shop: Caller, parameters: dict[str, Any], code: str, words: str
) -> None:
    """A GET that cannot be understood is refused with a stable code, and a message that names the parameter."""
    status, error, message = refused(shop.get(**parameters))
    assert (REFUSALS[code][0], code) == (status, error)
    assert words in message
    assert any(name in message for name in parameters)


@each_row(("body", "code", "words"), BAD_BODIES, ids=lambda value: str(value)[:60])
def test_a_post_is_refused_with_a_code_and_a_message_that_names_the_parameter(
    shop: Caller, body: dict[str, Any], code: str, words: str
) -> None:
    """A POST that cannot be understood is refused with a stable code, and a message that names the parameter."""
    status, error, message = refused(shop.search(**body))
    assert (REFUSALS[code][0], code) == (status, error)
    assert words in message
    assert any(name in message for name in body)


@each_row(
    ("method", "path"),
    [
        ("POST", "/public/v1/products/list"),
        ("POST", "/public/v1/validation/rulesets/require"),
        ("GET", "/public/v1/products/track/1"),
    ],
)
def test_a_parameter_in_an_address_that_has_none_is_refused(shop: Caller, method: str, path: str) -> None:
    """A filter that is ignored lists everything; a client that puts it into the wrong place is told."""
    reply = shop.session.request(
        method, f"{shop.base_url}{path}", params={"filter_gtins_in": "03036811359935"}, json={}
    )
    status, error, message = refused(reply)
    assert (400, "unknown_parameter") == (status, error)
    assert "'filter_gtins_in' is in the address" in message


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(body=st.dictionaries(st.sampled_from([*FILTERS, "other"]), anything, max_size=3))
def test_whatever_a_body_holds_it_is_answered_or_refused(shop: Caller, body: dict[str, Any]) -> None:
    """No member of a body, whatever its value, makes the sandbox fail."""
    reply = shop.search(**body)
    assert reply.status_code in (200, 400, 410), reply.text


@given(parameters=st.dictionaries(st.sampled_from([*FILTERS, "other"]), st.text(), max_size=3))
def test_whatever_a_query_string_holds_it_is_answered_or_refused(
    shop: Caller, parameters: dict[str, str]
) -> None:
    """No parameter, whatever its text, makes the sandbox fail."""
    reply = shop.get(**parameters)
    assert reply.status_code in (200, 400, 410), reply.text


@each_row("body", [b"", b"{", b"[]", b"null", b'{"limit": NaN}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(shop: Caller, body: bytes) -> None:
    """A body that is not a JSON object is refused."""
    reply = shop.session.post(
        f"{shop.base_url}/public/v1/products/list", data=body, headers={"Content-Type": "application/json"}
    )
    assert (400, "invalid_json") == refused(reply)[:2]


def test_a_body_with_half_a_surrogate_pair_is_answered(shop: Caller) -> None:
    """A query with half a surrogate pair, which no file can hold, finds nothing and breaks nothing."""
    reply = shop.session.post(
        f"{shop.base_url}/public/v1/products/list",
        data=rb'{"filter_gtins_in": "\ud83d", "filter_tags_in": ["\ud83d"]}',
        headers={"Content-Type": "application/json"},
    )
    assert (200, 0) == (reply.status_code, reply.json()["totalResults"])


@each_row("media_type", ["text/html", "multipart/form-data", "application/x-www-form-urlencoded"])
def test_a_body_of_another_type_is_refused(shop: Caller, media_type: str) -> None:
    """A body that is announced as something else than JSON is refused."""
    headers = {"Content-Type": media_type}
    reply = shop.session.post(f"{shop.base_url}/public/v1/products/list", data=b"{}", headers=headers)
    assert (415, "unsupported_media_type") == refused(reply)[:2]


def test_the_type_of_a_body_may_name_its_encoding(shop: Caller) -> None:
    """application/json; charset=utf-8 is JSON."""
    reply = shop.session.post(
        f"{shop.base_url}/public/v1/products/list",
        data=b"{}",
        headers={"Content-Type": "Application/JSON; charset=utf-8"},
    )
    assert 200 == reply.status_code


def test_an_unknown_path_is_refused_like_everything_else(sandbox: Sandbox) -> None:
    """An unknown path, and a method that a path does not take, have the same form of error."""
    assert (404, "not_found") == refused(requests.get(f"{sandbox.base_url}/public/v2/products"))[:2]
    reply = requests.delete(f"{sandbox.base_url}/public/v1/products/list")
    assert (405, "method_not_allowed") == refused(reply)[:2]


def test_a_failure_of_the_sandbox_is_told_in_the_same_form(tmp_path: Path) -> None:
    """A failure inside the sandbox is a 500 with a code and a message."""
    with Sandbox([{"gtin": "1"}], home=tmp_path, organizations=[SHOP], labels={}) as sandbox:
        caller = Caller(sandbox.base_url).log_in()
        connection = sqlite3.connect(tmp_path / "store.sqlite")
        connection.execute("DROP TABLE records")
        connection.close()
        with caller.session:
            assert (500, "internal_error") == refused(caller.search())[:2]

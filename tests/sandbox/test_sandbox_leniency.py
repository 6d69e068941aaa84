"""The sandbox is no stricter than what is documented: whatever a caller may take from the documents is understood."""

from __future__ import annotations

import json
from typing import Any

import requests
from small_exchange import BREAD, BUTTER, CIDER, PALLET, Caller
from tests.cases import each_row

KEYS = {"client_id": "shop", "client_secret": "shop-secret", "grant_type": "client_credentials"}
TYPES = [
    None,
    "",
    "text/plain",
    "text/plain;charset=UTF-8",
    "text/json",
    "application/json;charset=utf-8",
    'application/json; charset="UTF-8"',
    "application/problem+json",
    "Application/JSON ; charset=iso-8859-1",
]
FORMS = [
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "image/png",
]


def post(caller: Caller, path: str, body: bytes, content_type: str | None) -> requests.Response:
    headers = {} if content_type is None else {"Content-Type": content_type}
    return caller.session.post(f"{caller.base_url}{path}", data=body, headers=headers)


@each_row("content_type", TYPES)
@each_row(
    ("path", "body", "status"),
    [
        ("/auth/v2/token", KEYS, 200),
        ("/auth/v1/token", KEYS, 200),
        ("/public/v1/products/list", {"limit": 1}, 200),
        ("/public/v1/validation/rulesets/require", {}, 403),
    ],
)
def test_a_body_is_read_as_json_unless_it_is_announced_as_a_form(
    shop: Caller, path: str, body: dict[str, Any], status: int, content_type: str | None
) -> None:
    """A body without a type, as text, or with a character set is JSON to every endpoint that takes only JSON."""
    reply = post(shop, path, json.dumps(body).encode(), content_type)
    assert status == reply.status_code, reply.text


@each_row("content_type", FORMS)
def test_what_is_announced_as_something_else_is_refused_by_its_name(shop: Caller, content_type: str) -> None:
    """A form, XML or a picture is no JSON; the message names the type that was sent."""
    reply = post(shop, "/public/v1/products/list", b"{}", content_type)
    assert (415, "unsupported_media_type") == (reply.status_code, reply.json()["error"])
    assert content_type.partition(";")[0] in reply.json()["message"]


@each_row(
    ("encoding", "content_type"),
    [
        ("utf-8", "application/json"),
        ("utf-8-sig", "application/json"),
        ("utf-16", "application/json"),
        ("utf-16-le", "application/json; charset=utf-16le"),
        ("iso-8859-1", "text/plain; charset=ISO-8859-1"),
        ("cp1252", 'text/plain; charset="windows-1252"'),
    ],
)
def test_a_body_may_be_written_in_another_character_set(
    shop: Caller, encoding: str, content_type: str
) -> None:
    """A body is decoded by the character set of its type, and a byte order mark is no part of the JSON."""
    search = {"must": [{"query": "BLÉ", "fields": ["composition.data"]}]}
    body = json.dumps({"advanced_search": search}, ensure_ascii=False).encode(encoding)
    reply = post(shop, "/public/v1/products/list", body, content_type)
    assert [BREAD] == [one["gtin"] for one in reply.json()["data"]]


@each_row("charset", ["klingon", "hex", "base64", "idna", "punycode", "x" * 5_000])
def test_a_character_set_that_is_none_is_refused_by_its_name(shop: Caller, charset: str) -> None:
    """An unknown character set, or a codec that is none, is refused and causes no failure."""
    reply = post(shop, "/public/v1/products/list", b"{}", f"application/json; charset={charset}")
    assert (415, "unsupported_media_type") == (reply.status_code, reply.json()["error"])
    assert charset[:40] in reply.json()["message"]


def test_bytes_that_their_character_set_does_not_hold_are_refused(shop: Caller) -> None:
    """A body that is not written in the character set that it names is no JSON."""
    reply = post(shop, "/public/v1/products/list", b'{"\xff": 1}', "application/json; charset=us-ascii")
    assert (400, "invalid_json") == (reply.status_code, reply.json()["error"])


ALL = [BREAD, BUTTER, CIDER, PALLET]
#: Bodies with values as text, or as GET has them, and what they find.
AS_TEXT: list[tuple[dict[str, Any], list[str]]] = [
    ({"limit": "2"}, [BREAD, BUTTER]),
    ({"limit": "500", "offset": "0"}, ALL),
    ({"limit": "1", "offset": "1"}, [BUTTER]),
    ({"filter_target_market": "56"}, [BUTTER]),
    ({"status_shared_from": "3"}, [BUTTER]),
    ({"status_shared_with": "2"}, [BUTTER]),
    ({"filter_validation_status_in": "1,3"}, [BUTTER, PALLET]),
    ({"filter_validation_status_in": ["1", 3]}, [BUTTER, PALLET]),
    ({"filter_owners_in": [10, "11"]}, ALL),
    ({"filter_owners_in": "10"}, [BREAD, PALLET]),
    ({"filter_has_packshot": "true"}, [BREAD]),
    ({"filter_has_packshot": "false"}, ALL),
    ({"filter_has_no_packshot": "true"}, [BUTTER, CIDER, PALLET]),
    ({"filter_active_range": "true"}, [BREAD, CIDER, PALLET]),
    ({"allow_not_consumer_units": "true"}, ALL),
    ({"updated_at_from": "1767312000"}, [BUTTER, CIDER]),
    ({"updated_at_from": 1767312000}, [BUTTER, CIDER]),
    ({"filter_pictures_last_updated_at_from": "1767312000000"}, [BUTTER]),
    ({"next_page": None}, ALL),
    ({"next_page": None, "offset": 3}, [PALLET]),
]


@each_row(("body", "found"), AS_TEXT, ids=lambda value: str(value)[:50])
def test_a_number_or_a_flag_may_be_written_as_text(
    shop: Caller, body: dict[str, Any], found: list[str]
) -> None:
    """A body may write as text what a query string writes as text."""
    reply = shop.call("POST", **body)
    assert found == [product["gtin"] for product in reply["data"]]


def test_a_cursor_that_is_null_is_none(shop: Caller) -> None:
    """A next_page of null counts as absent: the reply is a page by offset, which has no cursor."""
    assert shop.call("POST", limit=2) == shop.call("POST", limit=2, next_page=None)


@each_row(
    ("body", "words"),
    [
        ({"limit": "many"}, "limit: 'many' is not an integer"),
        ({"limit": "501"}, "limit: 501 is not from 1 to 500"),
        ({"limit": " 5"}, "limit: ' 5' is not an integer"),
        ({"limit": ""}, "limit: '' is not an integer"),
        ({"limit": True}, "limit: True is not an integer"),
        ({"limit": 5.0}, "limit: 5.0 is not an integer"),
        ({"filter_has_packshot": "yes"}, "filter_has_packshot: 'yes' is not one of true, false"),
        ({"filter_has_packshot": 1}, "filter_has_packshot: 1 is not true or false"),
        ({"filter_owners_in": ["10,11"]}, "filter_owners_in: '10,11' is not an integer"),
        ({"filter_target_market": None}, "filter_target_market: None is not an integer"),
    ],
)
def test_what_is_no_number_and_no_flag_stays_refused(shop: Caller, body: dict[str, Any], words: str) -> None:
    """A text that is no number is refused with the parameter, the text and what is expected."""
    reply = shop.search(**body)
    assert (400, "invalid_value") == (reply.status_code, reply.json()["error"])
    assert words in reply.json()["message"]


@each_row("permission", ["READ", "read", "Write", "validate"])
def test_a_permission_may_be_written_in_any_case(shop: Caller, permission: str) -> None:
    """A permission is accepted in any case: read is READ."""
    url = f"{shop.base_url}/core/v3/productsegments/hierarchy"
    replies = [shop.session.get(url, params={"permission": one}) for one in (permission, permission.upper())]
    assert [200, 200] == [reply.status_code for reply in replies]
    assert replies[0].content == replies[1].content


def test_a_permission_that_is_none_is_still_refused(shop: Caller) -> None:
    """An unknown permission is refused, and the message names the permissions."""
    url = f"{shop.base_url}/core/v3/productsegments/hierarchy"
    reply = shop.session.get(url, params={"permission": "own"})
    assert (400, "invalid_value") == (reply.status_code, reply.json()["error"])
    assert "permission: 'own' is not one of READ, WRITE, VALIDATE" in reply.json()["message"]


@each_row("name", ["AUTHORIZATION", "authorization", "AuthOrization"])
def test_a_header_may_be_named_in_any_case(shop: Caller, name: str) -> None:
    """The case of header names and of the word Bearer does not matter."""
    token = str(shop.session.headers["Authorization"]).partition(" ")[2]
    for scheme in ("Bearer", "bearer", "BEARER"):
        reply = requests.get(f"{shop.base_url}/public/v1/products", headers={name: f"{scheme} {token}"})
        assert 200 == reply.status_code

"""The sandbox against its own OpenAPI document, called from the outside by schemathesis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, DAIRY, LABELS, MARKET, MILL, PRODUCTS, RECORDS, SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Sandbox
from prodex_sandbox.app import openapi
from prodex_sandbox.media.files import MEDIA

if TYPE_CHECKING:
    from schemathesis.schemas import BaseSchema

RETAILER = replace(SHOP, scenarios_enabled=True)
KEYS = {"client_id": "shop", "client_secret": "shop-secret", "grant_type": "client_credentials"}
REQUIREMENT = {"uuids": [RECORDS[BREAD]["uuid"]], "ruleset_values": {"101": True}}
PICTURED = {"id": 9, "assets": {"pictures": [{"url": f"{MEDIA}/9/a.jpg", "width": 8, "height": 8}]}}
FILE = {"path_parameters": {"path": "9/a.jpg"}}


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    """Call as the retailer at an exchange that may be written on."""
    with Sandbox(
        [*PRODUCTS, PICTURED], organizations=[RETAILER, MARKET, MILL, DAIRY], labels=LABELS
    ) as sandbox:
        caller = Caller(sandbox.base_url)
        with caller.session:
            yield caller.log_in()


DOCUMENT = openapi()
OPERATIONS = [(path, method.upper()) for path, methods in DOCUMENT["paths"].items() for method in methods]


@cache
def schema() -> BaseSchema:
    """Read the document: workers that only collect the tests need not wait for it."""
    import schemathesis

    return schemathesis.openapi.from_dict(DOCUMENT)


def checks() -> list[Callable[..., bool | None]]:
    """Return what is asked of each reply."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks as documented

    return [
        not_a_server_error,
        documented.status_code_conformance,
        documented.content_type_conformance,
        documented.response_schema_conformance,
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS]
)
@given(data=st.data())
def test_every_reply_is_as_the_openapi_document_says(
    path: str, method: str, caller: Caller, data: st.DataObject
) -> None:
    """Whatever a call holds, its reply is no 5xx, and of a documented status, type and schema."""
    case = data.draw(schema()[path][method].as_strategy())
    case.call_and_validate(base_url=caller.base_url, session=caller.session, checks=checks())


@each_row(
    ("path", "method", "parts"),
    [
        ("/auth/v2/token", "POST", {"body": KEYS}),
        ("/auth/v2/organization", "GET", {"query": {"organization_type": 1, "limit": 1}}),
        ("/public/v1/products", "GET", {"query": {"limit": 2}}),
        ("/public/v1/products/list", "POST", {"body": {"next_page": ""}}),
        ("/public/v1/products", "POST", {"body": {"data": [{"gtin": BREAD}]}, "media_type": "application/json"}),
        ("/public/v1/products/track/{tracking_id}", "GET", {"path_parameters": {"tracking_id": 1}}),
        ("/core/v3/productsegments/hierarchy", "GET", {"query": {"permission": "WRITE"}}),
        ("/public/v1/validation/rulesets/require", "POST", {"body": REQUIREMENT}),
        ("/sandbox/scenarios", "GET", {}),
        ("/media/{path}", "GET", FILE),
        ("/health", "GET", {}),
    ],
)  # fmt: skip
def test_every_good_reply_is_as_the_openapi_document_says(
    caller: Caller, path: str, method: str, parts: dict[str, Any]
) -> None:
    """A call that is answered with 200 gets the documented type and schema."""
    if "track" in path:
        caller.session.post(f"{caller.base_url}/public/v1/products", json={"data": [{"gtin": "1"}]})
    case = schema()[path][method].Case(method=method, **parts)
    reply = case.call_and_validate(base_url=caller.base_url, session=caller.session, checks=checks())
    assert 200 == reply.status_code


@each_row(
    ("header", "value", "status"),
    [("Range", "bytes=0-9", 206), ("Range", "bytes=999999-", 416), ("If-None-Match", "", 304)],
)
def test_every_part_of_a_file_is_as_the_openapi_document_says(
    caller: Caller, header: str, value: str, status: int
) -> None:
    """Replies to ranges of files have a documented status and type."""
    case = schema()["/media/{path}"]["GET"].Case(method="GET", **FILE)
    etag = case.call(base_url=caller.base_url).headers["etag"][0]
    case.headers = {header: value or etag}
    reply = case.call_and_validate(base_url=caller.base_url, session=caller.session, checks=checks())
    assert status == reply.status_code

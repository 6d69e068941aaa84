"""The list of organisations and the segment hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from small_exchange import DAIRY, LABELS, MARKET, MILL, PRODUCTS, SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.records.model import Organization
from prodex_sandbox.records.segments import PERMISSIONS

ORGANIZATIONS = [SHOP, MARKET, MILL, DAIRY]
LISTED = [
    {"id": 1, "nameLegal": "Shop", "type": 2},
    {"id": 2, "nameLegal": "Market", "type": 2},
    {"id": 10, "nameLegal": "Mill", "type": 1},
    {"id": 11, "nameLegal": "Dairy", "type": 1},
]


def listed(caller: Caller, **parameters: Any) -> requests.Response:
    return caller.session.get(f"{caller.base_url}/auth/v2/organization", params=parameters)


def segments(caller: Caller, **parameters: Any) -> requests.Response:
    return caller.session.get(f"{caller.base_url}/core/v3/productsegments/hierarchy", params=parameters)


@each_row(
    ("parameters", "places", "total", "offset"),
    [
        ({}, [0, 1, 2, 3], 4, 0),
        ({"organization_type": 1}, [2, 3], 2, 0),
        ({"organization_type": 2}, [0, 1], 2, 0),
        ({"limit": 3}, [0, 1, 2], 4, 0),
        ({"limit": 3, "offset": 3}, [3], 4, 3),
        ({"offset": 4}, [], 4, 4),
        ({"organization_type": 1, "offset": 1, "limit": 1}, [3], 2, 1),
    ],
)
def test_organisations_come_by_type_and_page(
    shop: Caller, parameters: dict[str, int], places: list[int], total: int, offset: int
) -> None:
    """Type, offset and limit choose the organisations; the total counts those of the type."""
    wanted = {"totalResults": total, "data": [LISTED[place] for place in places], "offset": offset}
    assert wanted == listed(shop, **parameters).json()


@each_row(
    ("parameters", "code", "words"),
    [
        ({"organization_type": 3}, "invalid_value", "organization_type: 3 is not one of 1, 2"),
        ({"organization_type": "retailer"}, "invalid_value", "'retailer' is not an integer"),
        ({"offset": -1}, "invalid_value", "offset: -1 is not from 0"),
        ({"limit": 501}, "invalid_value", "limit: 501 is not from 1 to 500"),
        ({"limit": [1, 2]}, "invalid_value", "limit is given twice"),
        ({"name": "Shop"}, "unknown_parameter", "it takes organization_type, offset, limit"),
    ],
)
def test_a_list_of_organisations_that_cannot_be_understood_is_refused(
    shop: Caller, parameters: dict[str, Any], code: str, words: str
) -> None:
    """Wrong values and unknown parameters are refused and named."""
    reply = listed(shop, **parameters)
    assert (400, code) == (reply.status_code, reply.json()["error"])
    assert words in reply.json()["message"]


def test_organisations_need_a_token_unless_told_otherwise() -> None:
    """A setting decides whether a token is needed; the list is the same."""
    for needed, status in ((True, 401), (False, 200)):
        behaviour = Behaviour(organizations_need_token=needed)
        with Sandbox([], organizations=ORGANIZATIONS, labels={}, behaviour=behaviour) as sandbox:
            assert status == requests.get(f"{sandbox.base_url}/auth/v2/organization").status_code


@each_row(
    ("settings", "reply"),
    [
        ({"organizations_as_list": True}, LISTED[1:3]),
        ({"organizations_total": False}, {"data": LISTED[1:3], "offset": 1}),
        ({"organizations_paged": False}, {"totalResults": 4, "data": LISTED, "offset": 0}),
        ({"organizations_paged": False, "organizations_as_list": True}, LISTED),
    ],
)
def test_the_shape_of_the_list_can_be_set(settings: dict[str, bool], reply: Any) -> None:
    """Settings give a bare array, no total, or no paging, since the specification shows nothing."""
    behaviour = Behaviour(organizations_need_token=False, **settings)
    with Sandbox([], organizations=ORGANIZATIONS, labels={}, behaviour=behaviour) as sandbox:
        url = f"{sandbox.base_url}/auth/v2/organization"
        assert reply == requests.get(url, params={"offset": 1, "limit": 2}).json()


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve the small exchange."""
    with Sandbox(PRODUCTS, organizations=ORGANIZATIONS, labels=LABELS) as sandbox:
        yield sandbox


def kinds(trees: list[dict[str, Any]]) -> list[str]:
    """Return the names of the leaves, having checked that every segment is an id, a name and children."""
    found = []
    for node in trees:
        assert {"id", "name", "children"} == node.keys()
        assert node["id"].startswith("PS_")
        found += kinds(node["children"]) or [node["name"]]
    return found


@each_row(
    ("organization", "permission", "leaves"),
    [
        (SHOP, None, ["Butter", "Bread", "No kind"]),
        (SHOP, "READ", ["Butter", "Bread", "No kind"]),
        (SHOP, "WRITE", ["Bread", "No kind"]),
        (SHOP, "VALIDATE", ["Butter", "No kind"]),
        (MARKET, "READ", ["Bread"]),
        (MARKET, "VALIDATE", []),
        (DAIRY, "WRITE", ["Butter", "No kind"]),
        (MILL, "VALIDATE", []),
    ],
)
def test_segments_differ_by_organisation_and_permission(
    exchange: Sandbox, organization: Organization, permission: str | None, leaves: list[str]
) -> None:
    """Each permission lists the segments with products that the caller has it for."""
    caller = Caller(exchange.base_url, organization)
    with caller.session:
        caller.log_in()
        trees = segments(caller, **({} if permission is None else {"permission": permission})).json()
    assert leaves == kinds(trees)
    if leaves:
        assert ["All products"] == [tree["name"] for tree in trees]


def test_an_unknown_permission_is_refused_with_those_there_are(shop: Caller) -> None:
    """An unknown permission is refused, and the message names all of them."""
    for parameters, code in (
        ({"permission": "own"}, "invalid_value"),
        ({"permission": ""}, "invalid_value"),
        ({"right": "READ"}, "unknown_parameter"),
    ):
        reply = segments(shop, **parameters)
        assert (400, code) == (reply.status_code, reply.json()["error"])
        if code == "invalid_value":
            assert all(permission in reply.json()["message"] for permission in PERMISSIONS)
    assert 401 == requests.get(f"{shop.base_url}/core/v3/productsegments/hierarchy").status_code


def test_segments_stay_over_a_restart(tmp_path: Path) -> None:
    """Ids and names are the same after a restart, and differ between organisations."""
    trees = []
    for _ in range(2):
        with Sandbox(PRODUCTS, organizations=ORGANIZATIONS, labels={}, home=tmp_path) as sandbox:
            for organization in (SHOP, MARKET):
                caller = Caller(sandbox.base_url, organization)
                with caller.session:
                    trees.append(segments(caller.log_in()).json())
    assert trees[:2] == trees[2:]
    assert ("PS_0001_00001_all", "PS_0002_00001_all") == (trees[0][0]["id"], trees[1][0]["id"])


def test_segments_are_those_of_the_beginning_however_late_they_are_asked_for() -> None:
    """Segments are of the products that filled the store, also where those were changed before the first call."""
    product = {
        "id": 1,
        "gtin": "1",
        "GPC": {"code": "10", "label": "Tea"},
        "kind": {"code": "4", "label": "\ud83d"},
    }
    with Sandbox([product]) as sandbox:
        sandbox.change([product | {"kind": {"code": "5", "label": "Coffee"}}])
        caller = Caller(sandbox.base_url, sandbox.organizations[0], keeps_contract=False)
        with caller.session:
            (root,) = segments(caller.log_in()).json()
    assert ["Tea"] == [one["name"] for one in root["children"]]
    # A name that no store takes has a question mark for each half of a surrogate pair.
    assert ["?"] == [one["name"] for one in root["children"][0]["children"]]

"""Organisations and segments, whose shapes the specification does not show: any that make sense are read."""

from __future__ import annotations

import json

import pytest
from exchange import CLIENT_SECRET, Answer, says
from tests.cases import each_row

import prodex
from prodex.errors import IncompleteLoad, QueryError, ServiceUnreachable, UnexpectedReply
from prodex.load.reference_data import access_of
from prodex.sandbox import Behaviour, Sandbox
from prodex.service import Client
from prodex.service.settings import Settings

TEN = [{"id": number, "nameLegal": f"Organisation {number}", "extra": {"x": number}} for number in range(10)]


ENDPOINTS = {
    "organizations": (lambda client: client.organizations(), "GET", "/auth/v2/organization"),
    "segments": (lambda client: client.product_segments(), "GET", "/core/v3/productsegments/hierarchy"),
    "upsert": (lambda client: client.upsert_products(b"{}"), "POST", "/public/v1/products"),
    "tracking": (lambda client: client.track(7), "GET", "/public/v1/products/track/7"),
    "require": (
        lambda client: client.require_rulesets(["u"], {"7": True}, "2027-01-31"),
        "POST",
        "/public/v1/validation/rulesets/require",
    ),
}


@each_row("endpoint", ENDPOINTS)
def test_each_endpoint_has_its_path_and_headers(client, exchange, endpoint):
    """Method, path and bearer token as the specification has them; bodies go as JSON."""
    ask, method, path = ENDPOINTS[endpoint]
    if endpoint not in {"upsert", "tracking"}:
        exchange.answers.append(says(200, []))
    ask(client)
    call = exchange.calls[-1]
    assert (method, path) == (call.method, call.path)
    assert call.headers["Authorization"].startswith("Bearer eyJ")
    if method == "POST":
        assert "application/json" == call.headers["Content-Type"]
    if endpoint == "require":
        body = {"uuids": ["u"], "ruleset_values": {"7": True}, "deadline": "2027-01-31"}
        assert body == json.loads(call.body)


def test_a_scenario_whose_answer_is_lost_is_not_sent_again(client, exchange):
    """The batch is unknown, the next goes on; a reply without a body is as good as any."""
    uuids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(4)]
    exchange.answers.extend([Answer(200), Answer(drop=True), Answer(503), Answer(200, b'{"products": 1}')])
    outcome = prodex.require_scenarios(client, uuids, {7: True}, batch_size=1, progress=False)
    assert ["done", "unknown", "unknown", "done"] == outcome["status"].tolist()
    assert (4, "", '{"products": 1}') == (len(exchange.product_calls), *outcome["message"].iloc[[0, 3]])


def test_scenarios_stop_when_the_service_is_gone(client, exchange):
    """Batches that were not sent are reported; if none was done, that is an error."""
    uuids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(3)]
    busy = [Answer(429, headers={"Retry-After": "0"})] * 4
    exchange.answers.extend([Answer(200), *busy])
    outcome = prodex.require_scenarios(client, uuids, {7: True}, batch_size=1, progress=False)
    assert (["done", "not sent", "not sent"], 5) == (outcome["status"].tolist(), len(exchange.product_calls))
    exchange.answers.extend(busy)
    with pytest.raises(ServiceUnreachable):
        prodex.require_scenarios(client, uuids, {7: True}, batch_size=1, progress=False)


def asked(exchange):
    """Return offset and limit of the calls for organisations."""
    return [
        (int(call.content["offset"]), int(call.content["limit"]))
        for call in exchange.calls
        if call.path.endswith("/organization")
    ]


@each_row(
    "shape",
    [
        lambda rows: rows,
        lambda rows: {"data": rows},
        lambda rows: {"totalResults": 10, "data": rows, "offset": 0},
        lambda rows: {"total": 10, "organizations": rows},
    ],
    ids=["list", "envelope without total", "envelope with total", "another key"],
)
def test_pages_of_any_shape_are_read_to_the_end(client, exchange, shape):
    """Three pages, each organisation once, whatever the service says around them; unknown keys are kept."""
    pages = [TEN[:4], TEN[4:8], TEN[8:], []]
    exchange.answers.extend([says(200, shape(page)) for page in pages])
    frame = prodex.load_organizations(client)

    assert TEN == frame.to_dict("records")
    assert [0, 4, 8] == [offset for offset, _ in asked(exchange)][:3]
    assert len(asked(exchange)) <= 4


def test_a_service_that_ignores_offset_is_asked_twice(client, exchange):
    """The same page again means that this is all."""
    exchange.answers.extend([says(200, TEN)] * 5)
    assert 10 == len(prodex.load_organizations(client))
    assert [(0, 100), (10, 100)] == asked(exchange)


def test_fewer_than_announced_is_an_error(client, exchange):
    """A first page that comes again and again is not all there is."""
    exchange.answers.extend([says(200, {"totalResults": 25, "data": TEN})] * 3)
    with pytest.raises(IncompleteLoad, match="10 organisations were received, but the service announced 25"):
        prodex.load_organizations(client)


@each_row(("wanted", "sent"), [(1, "1"), ("retailer", "2"), ("manufacturer", "1"), (None, None)])
def test_the_type_is_asked_for_by_number_or_by_name(client, exchange, wanted, sent):
    """As a parameter, or not at all."""
    exchange.answers.append(says(200, []))
    assert 0 == len(prodex.load_organizations(client, wanted))
    assert sent == exchange.calls[-1].content.get("organization_type")


@each_row("wrong", [3, "shop", True])
def test_a_type_that_is_none_is_refused(client, exchange, wrong):
    """Before any call."""
    with pytest.raises(QueryError, match="no type of organisation"):
        prodex.load_organizations(client, wrong)
    assert [] == exchange.calls


@each_row("reply", [{}, {"a": [], "b": []}, [1, 2], "text", None, {"data": {}}])
def test_what_holds_no_list_is_an_error(client, exchange, reply):
    """For organisations and for segments."""
    exchange.answers.extend([says(200, reply)] * 2)
    with pytest.raises(UnexpectedReply, match="no list of organisations"):
        prodex.load_organizations(client)
    with pytest.raises(UnexpectedReply, match="no list of segments"):
        prodex.load_segments(client)


TREE = {
    "id": "PS_1",
    "name": "All",
    "colour": "red",
    "children": [
        {"id": "PS_2", "name": "Food", "children": [{"id": "PS_3", "name": "Bread", "level": "deep"}]},
        {"id": "PS_4", "name": "Tools", "children": []},
    ],
}


@each_row("shape", [lambda t: t, lambda t: [t], lambda t: {"data": [t]}], ids=["root", "list", "data"])
def test_a_tree_of_segments_becomes_rows(client, exchange, shape):
    """Parents before children, the path in names, and what else there is under its own name."""
    exchange.answers.append(says(200, shape(TREE)))
    frame = prodex.load_segments(client, "READ")

    assert "READ" == exchange.calls[-1].content["permission"]
    columns = ["id", "name", "parent", "level", "path"]
    assert [*columns, "colour", "level (attribute)"] == list(frame.columns)
    assert [
        ["PS_1", "All", None, 0, "All"],
        ["PS_2", "Food", "PS_1", 1, "All > Food"],
        ["PS_3", "Bread", "PS_2", 2, "All > Food > Bread"],
        ["PS_4", "Tools", "PS_1", 1, "All > Tools"],
    ] == frame[columns].astype(object).where(frame[columns].notna(), None).to_numpy().tolist()
    assert ("red", "deep") == (frame["colour"][0], frame["level (attribute)"][2])


def test_a_deep_tree_and_none_at_all(client, exchange):
    """A hundred levels; an empty hierarchy has its columns."""
    tree = None
    for level in range(100):
        tree = {"id": level, "name": str(level), "children": [tree] if tree else None}
    exchange.answers.extend([says(200, [tree]), says(200, [])])
    deep, empty = prodex.load_segments(client), prodex.load_segments(client)
    assert list(range(100)) == deep["level"].tolist()
    assert (0, ["id", "name", "parent", "level", "path"]) == (len(empty), list(empty.columns))


@pytest.mark.slow
@each_row(
    "behaviour",
    [
        Behaviour(),
        Behaviour(organizations_as_list=True),
        Behaviour(organizations_total=False),
        Behaviour(organizations_paged=False),
        Behaviour(organizations_paged=False, organizations_as_list=True),
        Behaviour(organizations_need_token=False, organizations_total=False),
    ],
    ids=["as it is", "list", "no total", "one page", "one page as a list", "no token"],
)
def test_the_sandbox_lists_its_organisations_however_it_is_set(behaviour):
    """List or envelope, total or none, pages or none, token or none: the same rows."""
    with Sandbox([{"id": 1, "gtin": "03036811359935"}], behaviour=behaviour) as sandbox:
        key = sandbox.credentials[0]
        service = Client(Settings(sandbox.base_url, key["client_id"], key["client_secret"]))
        every, retailers = prodex.load_organizations(service), prodex.load_organizations(service, "retailer")
        assert [one["organization"] for one in sandbox.credentials] == every["nameLegal"].tolist()
        assert {2} == set(retailers["type"])
        assert 3 == len(retailers)


def test_the_sandbox_has_segments_by_permission(service):
    """What waits for the caller is a part of what it may read."""
    read, waiting = prodex.load_segments(service), prodex.load_segments(service, "VALIDATE")
    assert {0, 1, 2} == set(read["level"])
    assert set(waiting["id"]) < set(read["id"])
    assert set(read["parent"].dropna()) <= set(read["id"])


def test_access_says_who_we_are_and_never_the_token(service, sample_exchange):
    """Host, organisation and seconds left."""
    access = access_of(service)
    assert "Grand Panier Sandbox" == access["organization"]
    assert sample_exchange.base_url == f"http://{access['host']}"
    assert 7000 < access["token_lifetime"] <= 7200
    assert "eyJ" not in repr(access)


def test_access_of_a_service_that_says_little(client, exchange):
    """No subject in its token, no list of organisations."""
    exchange.answers.append(says(404, "no such path"))
    access = access_of(client)
    assert (None, None) == (access["organization"], access["organization_id"])
    assert CLIENT_SECRET not in json.dumps(access)

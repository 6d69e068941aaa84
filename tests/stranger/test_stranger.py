"""The stranger does what the specification says, and each of its traits does what it says."""

from __future__ import annotations

import contextlib
import http.client
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_row

from . import checks_answers, checks_paging, checks_transport
from .__main__ import table
from .catalogue import gtin_of, is_gtin, products
from .probe import PRODUCTS, Probe
from .service import Stranger
from .traits import TRAITS
from .wire import LONGEST

CHECKS = checks_paging.CHECKS | checks_transport.CHECKS | checks_answers.CHECKS
WITH = checks_paging.WITH | checks_transport.WITH | checks_answers.WITH

SUPPLIER_PRODUCTS = """<?xml version="1.0" encoding="UTF-8"?>
<SupplierProducts><product><gtin>03036811359935</gtin><isConsumerUnit>true</isConsumerUnit>
<namePublicLong languages="fra-FR">Café</namePublicLong><namePublicLong languages="eng-GB">Coffee</namePublicLong>
</product></SupplierProducts>"""


def _has_packshot(record: Any) -> bool:
    return any(picture["isPackshot"] for picture in (record["assets"] or {"pictures": []})["pictures"])


@pytest.fixture
def probe() -> Any:
    """A caller of a service of 30 products without traits."""
    with Stranger(30) as stranger:
        yield Probe(stranger)


def test_every_trait_has_a_check() -> None:
    """No trait is declared without a check, and no check is left over."""
    assert set(TRAITS) == set(CHECKS)
    assert set(WITH) <= set(TRAITS)


@pytest.mark.slow
@each_row("name", sorted(CHECKS))
def test_trait(name: str) -> None:
    """A trait does what it says, and does not show before its call."""
    trait = TRAITS[name]
    expected, found = CHECKS[name]
    with Stranger(30, {name: WITH.get(name, True)}) as stranger:
        probe = Probe(stranger)
        if trait.route == "products":
            sound = [probe.page() for _ in range((trait.at or 1) - 1)]
            assert all((page["totalResults"], len(page["data"])) == (30, 20) for page in sound)
        assert expected == found(probe)


# The service without traits ends its scrolls with an empty page and a cursor.
@pytest.mark.slow
@each_row("name", sorted(CHECKS.keys() - {"scroll_ends_with_empty_page_and_cursor"}))
def test_check_can_fail(name: str, probe: Probe) -> None:
    """Without its trait the check of a trait finds something else."""
    expected, found = CHECKS[name]
    outcome: Any = None
    # Without the trait there may be nothing where the check looks.
    with contextlib.suppress(LookupError, TypeError, AttributeError, ValueError, OSError, zlib.error):
        outcome = found(probe)
    assert (expected, type(expected)) != (outcome, type(outcome))


@each_row(
    ("traits", "message"),
    [
        ({"total_grandiose": True}, "there is no trait"),
        ({"total_zero": True, "total_null": True}, "exclude each other"),
        ({"slow": {"minutes": 1}}, "has no parameter"),
        ({"bom": "yes"}, "takes no value"),
    ],
)
def test_wrong_traits(traits: dict[str, Any], message: str) -> None:
    """A trait that is unknown, contradictory or given a wrong value is refused."""
    with pytest.raises(ValueError, match=message):
        Stranger(1, traits)


def test_traits_at_other_calls() -> None:
    """Each trait can be moved to one call, to several, or to all."""
    for at, expected in ((1, [500, 200, 200]), ([1, 3], [500, 200, 500]), ("all", [500, 500, 500])):
        with Stranger(1, {"read_500": {"at": at}}) as stranger:
            probe = Probe(stranger)
            assert expected == [probe.read().status for _ in range(3)]
    with Stranger(1, {"total_zero": {"at": 2}, "total_null": False}) as stranger:
        probe = Probe(stranger)
        assert [1, 0, 1] == [probe.page()["totalResults"] for _ in range(3)]


def test_traits_combine() -> None:
    """Traits of several stages act together on one reply."""
    with Stranger(
        30, ["gzip", "bom", "total_text", "ids_as_text", "product_is_null", "date_absent"]
    ) as stranger:
        answer = Probe(stranger).read()
        assert ("gzip", False) == (answer.headers["content-encoding"], "date" in answer.headers)


@pytest.mark.slow
def test_catalogue() -> None:
    """The same number and seed give the same 12,000 products, with valid GTINs."""
    found = products(12_000, 3)
    assert found[:50] == products(12_000, 3)[:50]
    assert all(is_gtin(record["gtin"]) for record in found)
    assert 12_000 == len({record["gtin"] for record in found}) == len({record["uuid"] for record in found})
    assert 11_880 == len({record["updatedAt"] for record in found})


@pytest.mark.slow
def test_scroll_of_12_000() -> None:
    """A scroll by 500 gives each product once, on full pages, and then an empty one."""
    with Stranger(products(12_000, 3)) as stranger:
        pages = [answer.json for answer in Probe(stranger).scroll(30, 500)]
    assert [*[500] * 24, 0] == [len(page["data"]) for page in pages]
    assert 12_000 == len({item["id"] for page in pages for item in page["data"]})
    assert {12_000} == {page["totalResults"] for page in pages}


def test_token(probe: Probe) -> None:
    """Right credentials give a token for 2 hours; wrong ones, or none, are refused."""
    for path in ("/auth/v2/token", "/auth/v1/token"):
        token = probe.ask_token(path).json
        assert "JWT" == token["token_type"]
        authorization = f"Bearer {token['access_token']}"
        assert 200 == probe.call("GET", PRODUCTS, Authorization=authorization).status
    assert 401 == probe.call("POST", "/auth/v2/token", {**probe.credentials(), "client_secret": "x"}).status
    assert 401 == probe.call("GET", PRODUCTS, Authorization="").status
    probe.stranger.advance(7200)
    assert 401 == probe.call("GET", PRODUCTS, Authorization=authorization).status


@each_row(
    ("query", "accepts"),
    [
        ({"filter_tags_in": "export"}, lambda r: "export" in r["isTaggedBy"]),
        ({"filter_tags_not_in": "export"}, lambda r: "export" not in r["isTaggedBy"]),
        ({"filter_target_market": 250}, lambda r: r["product_key"]["target_market_id"] == 250),
        ({"filter_validation_status_in": "0,3"}, lambda r: r["validation"]["status"] in {0, 3}),
        ({"filter_target_productstatus_in": "REFUSED"}, lambda r: r["targetProductStatus"] == "REFUSED"),
        ({"status_shared_from": 4}, lambda r: r["manufacturerSharingStatus"] == 4),
        ({"filter_owners_in": "8"}, lambda r: r["owner"]["id"] == 8),
        ({"filter_has_packshot": "true"}, _has_packshot),
        ({"filter_has_no_packshot": "true"}, lambda r: not _has_packshot(r)),
        ({"filter_gtins_in": f"{gtin_of(300_000_000_007)},1"}, lambda r: r["id"] == 1001),
        ({"allow_not_consumer_units": "true"}, lambda _: True),
    ],
)
def test_filters(probe: Probe, query: dict[str, Any], accepts: Any) -> None:
    """A filter finds by GET and by POST exactly the products that it describes."""
    expected = [record["id"] for record in probe.stranger.products.values() if accepts(record)]
    text = "&".join(f"{name}={value}" for name, value in query.items())
    by_get = probe.call("GET", f"{PRODUCTS}?limit=500&{text}").json
    assert expected == probe.ids(**query) == [item["id"] for item in by_get["data"]]
    assert len(expected) == by_get["totalResults"]
    assert expected


def test_windows(probe: Probe) -> None:
    """Windows of updates hold both their ends, and meet without a gap."""
    moments = sorted(int(checks_paging.updated(record)) for record in probe.stranger.products.values())
    middle = moments[15]
    before, after = probe.ids(updated_at_to=middle - 1), probe.ids(updated_at_from=str(middle))
    assert (15, 15) == (len(before), len(after))
    assert 15 == len(probe.ids(updated_at_from=middle, updated_at_to=moments[-1]))


def test_advanced_search(probe: Probe) -> None:
    """Every entry must hold; within an entry one of its fields is enough."""
    coffee = {"query": "COFFEE", "fields": ["kind.label", "description.data"]}
    brand = {"query": "dune", "fields": ["brand.label"]}
    assert 6 == len(probe.ids(advanced_search={"must": [coffee]}))
    assert 1 == len(probe.ids(advanced_search={"must": [coffee, brand]}))
    assert 400 == probe.read(advanced_search={"must": [{"query": "x", "fields": ["gtin"]}]}).status


def test_fields_and_languages(probe: Probe) -> None:
    """Fields are chosen by dotted paths, texts by language, labels by the header."""
    fields = ["gtin", "namePublicLong.data", "assets.pictures.url", "isTaggedBy"]
    first = probe.page(filter_source_include=fields)["data"][0]
    assert ["assets", "gtin", "namePublicLong"] == sorted(first)
    assert [{"data": "Goat cheese 0"}] == first["namePublicLong"]
    outside = probe.page(filter_source_exclude="brand.label,kind")["data"][0]
    assert ("kind" in outside, "label" in outside["brand"], "code" in outside["brand"]) == (
        False,
        False,
        True,
    )
    french = probe.page(filter_product_languages="fra-FR")["data"][3]["namePublicLong"]
    assert ["Shampooing aux herbes 3"] == [item["data"] for item in french]
    answer = probe.call("GET", PRODUCTS, Accept_Language="fr-FR")
    assert "Fromage" == answer.json["data"][0]["kind"]["label"]


def test_paging(probe: Probe) -> None:
    """Offset pages give each product once, and GET scrolls without a first cursor."""
    pages = [probe.page(offset=start, limit=12) for start in (0, 12, 24)]
    assert [0, 12, 24] == [page["offset"] for page in pages]
    assert list(range(1000, 1030)) == [item["id"] for page in pages for item in page["data"]]
    cursor = probe.call("GET", f"{PRODUCTS}?limit=12").json["next_page"]
    assert 1012 == probe.call("GET", f"{PRODUCTS}?limit=12&next_page={cursor}").json["data"][0]["id"]
    probe.stranger.advance(121)
    assert 400 == probe.read(next_page=cursor).status
    assert 400 == probe.read(limit="many").status


def test_upsert_json(probe: Probe) -> None:
    """What is present replaces, what is absent stays, null deletes; a bad product does not stop the others."""
    gtin = gtin_of(500_000_000_000)
    first = {"gtin": gtin, "nameLegal": "A", "lifeCycle": 1, "kind": {"code": "101"}}
    bad = {"gtin": "123", "nameLegal": "B"}
    for number, items in ((7, [first, bad]), (8, [{"gtin": gtin, "lifeCycle": 2, "kind": None}])):
        assert {"tracking": number} == probe.call("POST", PRODUCTS, {"data": items}).json
    record = probe.track(7).json
    assert ("CONTAINS_ERRORS", 2, "API") == (record["status"], record["count"], record["endpoint"])
    assert ["SUCCESS", "ERROR"] == [product["status"] for product in record["products"]]
    assert {gtin: {"gtin": gtin, "nameLegal": "A", "lifeCycle": 2}} == probe.stranger.stored
    assert 1 == len(probe.ids(filter_gtins_in=[gtin]))


def test_upsert_xml(probe: Probe) -> None:
    """XML is received byte for byte, answered in XML, and read with its languages."""
    body = SUPPLIER_PRODUCTS.encode()
    answer = probe.call("POST", PRODUCTS, body, Content_Type="application/xml")
    assert b"<tracking>7</tracking>" in answer.body
    assert [(body, "application/xml")] == probe.stranger.received
    stored = probe.stranger.stored["03036811359935"]
    assert stored["isConsumerUnit"] is True
    assert {"fra-FR": "Café", "eng-GB": "Coffee"} == {
        item["expressedIn"]["code"]: item["data"] for item in stored["namePublicLong"]
    }


@each_row(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", "ERROR"),
        (b"[]", "application/json", "ERROR"),
        (b'{"data": []}', "application/json", "EMPTY"),
        (b"<SupplierProducts/>", "application/xml", "EMPTY"),
        (b"<Products/>", "application/xml", "ERROR"),
    ],
)
def test_import_states(probe: Probe, body: bytes, content_type: str, status: str) -> None:
    """A payload that cannot be read or is empty still gives a tracking number."""
    probe.call("POST", PRODUCTS, body, Content_Type=content_type)
    assert status == probe.track().json["status"]


def test_import_takes_time() -> None:
    """An import is IN_PROGRESS until its delay has passed."""
    with Stranger(1, import_delay=60) as stranger:
        probe = Probe(stranger)
        assert "IN_PROGRESS" == probe.tracked()["status"]
        assert not stranger.stored
        stranger.advance(61)
        assert "SUCCESS" == probe.track().json["status"]
        assert 404 == probe.track(99).status


def test_hooks_and_record_of_calls(probe: Probe) -> None:
    """A function runs right before its product read, and every call is written down."""
    probe.stranger.at_call(2, lambda stranger: stranger.remove(1000))
    assert [30, 29] == [probe.page(limit=1)["totalResults"] for _ in range(2)]
    probe.call("GET", f"{PRODUCTS}?limit=1&limit=2")
    assert [("POST", f"{PRODUCTS}/list", {"limit": 1})] * 2 == probe.stranger.calls[:2]
    assert ("GET", PRODUCTS, {"limit": "1,2"}) == probe.stranger.calls[2]
    assert 3 == probe.stranger.count()


def test_other_endpoints(probe: Probe) -> None:
    """Organizations, segments and scenarios answer; other paths do not."""
    assert [1, 1, 1] == [one["type"] for one in probe.organizations("?organization_type=1").json["data"]]
    assert ["id", "name", "children"] == list(probe.segments())
    assert (200, 1) == (probe.activate().status, len(probe.stranger.activations))
    assert 400 == probe.call("POST", "/public/v1/validation/rulesets/require", {"uuids": []}).status
    assert 404 == probe.call("GET", "/public/v2/products").status


def test_one_connection_for_many_calls(probe: Probe) -> None:
    """A connection serves several calls, also with chunked bodies."""
    line = http.client.HTTPConnection("127.0.0.1", probe.stranger.port, timeout=5)
    with contextlib.closing(line):
        for _ in range(3):
            headers = {"Authorization": f"Bearer {probe.token}"}
            line.request(
                "POST", f"{PRODUCTS}/list", iter([b'{"lim', b'it": 2}']), headers, encode_chunked=True
            )
            assert 2 == len(line.getresponse().read().split(b'"uuid"')) - 1


def test_close_ends_everything_at_once() -> None:
    """Closing does not wait for replies that would go on for ever."""
    stranger = Stranger(5, {"white_space_for_ever": {"at": 1}})
    probe = Probe(stranger)
    line = http.client.HTTPConnection("127.0.0.1", stranger.port, timeout=5)
    with contextlib.closing(line):
        line.request("POST", f"{PRODUCTS}/list", b"{}", {"Authorization": f"Bearer {probe.token}"})
        reply = line.getresponse()
        closing = threading.Thread(target=stranger.close)
        closing.start()
        closing.join(LONGEST / 2)
        assert not closing.is_alive()
        reply.close()


def test_readme_holds_the_table() -> None:
    """The table in the README is the one that the program prints."""
    assert table() in Path(__file__).with_name("README.md").read_text(encoding="utf-8")

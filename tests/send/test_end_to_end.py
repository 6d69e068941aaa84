"""Products written by the client, imported by the sandbox, tracked and read back: two readings of the contract."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pandas as pd
import pytest
from mill_exchange import DAIRY, MILL, SHOP, client, gtin, product, small_exchange, text

import prodex
from prodex.errors import ChangesStale, PreflightFailed, RequestRefused, TrackingTimeout
from prodex.query import ProductQuery
from prodex.sandbox import Behaviour


def stored(service, *numbers):
    """Return what the service has of products: each attribute as its bytes."""
    query = ProductQuery(gtins_in=[gtin(number) for number in numbers])
    data = service.search_products(query, limit=500).envelope.data
    return [
        {name: bytes(value) for name, value in msgspec.json.decode(one, type=dict[str, msgspec.Raw]).items()}
        for one in data
    ]


def loaded(service):
    """Load all products."""
    return prodex.load_products(service, max_age=0, progress=False)


def changed(before, after):
    """Name the attributes that differ."""
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["json", "xml"])
@pytest.mark.parametrize("form", ["long", "wide", "wide in one language"])
def test_one_text_of_three_is_corrected_and_nothing_else_moves(mill, form, way):
    """The other two languages stay, and every other attribute byte for byte."""
    catalog = loaded(mill)
    language = None
    if form == "long":
        frame = catalog.texts
        names = frame.attribute == "namePublicLong"
        frame.loc[(frame.gtin == gtin(2)) & (frame.language == "en") & names, "text"] = "New"
    else:
        language = "en" if form == "wide in one language" else None
        frame = catalog.wide(language)
        column = "namePublicLong" if language else "namePublicLong.en"
        frame.loc[frame.gtin == gtin(2), column] = "New"
    (before,), others = stored(mill, 2), stored(mill, 1, 3, 4, 5)

    changes = catalog.changes_from(frame, language=language, service=mill)
    assert [gtin(2), "namePublicLong", "1", "en", "Name 2 en", "New"] == changes.preview().iloc[0].tolist()
    tracking = prodex.upsert(mill, changes, format=way, progress=False).wait(progress=False)

    assert ("SUCCESS", 1, "API") == (tracking.status, tracking.count, tracking.endpoint)
    assert ("max", "Mill") == (tracking.user, tracking.organization)
    (after,) = stored(mill, 2)
    assert {"namePublicLong", "updatedAt"} == changed(before, after)
    assert [text("fra-FR", "Name 2 fr"), text("eng-GB", "New"), text("deu-DE", "Name 2 de")] == json.loads(
        after["namePublicLong"]
    )
    assert others == stored(mill, 1, 3, 4, 5)


def test_a_nested_text_and_a_new_language_arrive(mill):
    """productBenefits at its position, description in a language that it did not have."""
    catalog = loaded(mill)
    frame = pd.DataFrame(
        [
            (gtin(1), "productBenefits.text", "1.0", "fr", "souple"),
            (gtin(1), "description", None, "de", "Gut"),
        ],
        columns=["gtin", "attribute", "position", "language", "text"],
    )
    (before,) = stored(mill, 1)
    prodex.upsert(mill, catalog.changes_from(frame), progress=False).wait(progress=False)

    (after,) = stored(mill, 1)
    assert {"productBenefits", "description", "updatedAt"} == changed(before, after)
    expected = product(1)["productBenefits"]
    expected[1]["text"][0]["data"] = "souple"
    assert expected == json.loads(after["productBenefits"])
    french, german = json.loads(after["description"])
    assert ({**text("fra-FR", "Bon"), "sort": 1}, "deu-DE", "Gut") == (
        french,
        german["expressedIn"]["code"],
        german["data"],
    )


def test_deleting_takes_the_marker(mill):
    """DELETE deletes an attribute or a text; NaN and None leave it alone."""
    catalog = loaded(mill)
    records = [
        {"gtin": gtin(1), "lifeCycle": None, "description": prodex.DELETE, "namePublicLong": float("nan")}
    ]
    frame = catalog.texts.query("attribute == 'namePublicLong'")
    frame = frame[frame.gtin == gtin(2)].assign(text=[prodex.DELETE, None, "Neu"])

    name = product(1)["namePublicLong"]
    prodex.upsert(mill, [{**records[0], "namePublicLong": name}], progress=False).wait(progress=False)
    prodex.upsert(mill, catalog.changes_from(frame), progress=False).wait(progress=False)

    one, two = stored(mill, 1, 2)
    assert (b"1", b"null") == (one["lifeCycle"], one.get("description", b"null"))
    assert ["Name 2 en", "Neu"] == [item["data"] for item in json.loads(two["namePublicLong"])]


def test_a_change_that_came_between_is_not_undone(mill):
    """What was updated at the service since it was loaded refuses, and nothing is sent."""
    catalog = loaded(mill)
    frame = catalog.texts.assign(text="All new")
    changes = catalog.changes_from(frame[frame.gtin == gtin(3)])
    prodex.upsert(mill, [product(3, lifeCycle=7)], progress=False).wait(progress=False)
    before = stored(mill, 3)

    with pytest.raises(ChangesStale, match=f"GTIN {gtin(3)} was updated at"):
        prodex.upsert(mill, changes, progress=False)
    with pytest.raises(ChangesStale):
        catalog.changes_from(frame[frame.gtin == gtin(3)], service=mill)
    assert before == stored(mill, 3)


def test_every_way_to_hand_products_in_does_the_same(client_of, exchange, tmp_path):
    """Records, a frame, a catalogue, and files: the same payload."""
    mill = client_of(MILL)
    records = [
        {
            "gtin": gtin(n),
            "namePublicLong": product(n)["namePublicLong"],
            "kind": {"code": "1"},
            "isNomadic": n > 1,
        }
        for n in (1, 2)
    ]
    (tmp_path / "a.json").write_text(json.dumps({"data": records}))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(records).encode()))
    sources = [
        records,
        iter(records),
        pd.DataFrame(records),
        prodex.flatten(records),
        *(tmp_path / name for name in ("a.json", "a.jsonl", "a.json.gz")),
        str(tmp_path / "a.json"),
    ]
    payloads = [prodex.upsert(mill, source, dry_run=True).payloads for source in sources]
    assert [{"data": records}] == [json.loads(payloads[0][0])]
    assert [payloads[0]] * len(sources) == payloads


def test_what_was_read_can_be_written_back_and_changes_nothing(mill):
    """A whole catalogue: what the service keeps itself is left out, the rest stays byte for byte."""
    before = stored(mill, 1, 2, 3)
    tracking = prodex.upsert(mill, loaded(mill), progress=False).wait(progress=False)
    assert "SUCCESS" == tracking.status, tracking
    after = stored(mill, 1, 2, 3)
    assert {"updatedAt"} >= set.union(*(changed(*pair) for pair in zip(before, after, strict=True)))
    assert {"id", "uuid", "updatedAt"} <= set(tracking.findings.query("severity == 'info'")["attribute"])


def test_xml_and_json_store_the_same(client_of, mill):
    """The same attributes, sent one way and the other, are the same bytes at the service; the rest XML refuses."""
    attributes = {
        "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain <de> mie & TRUE"}],
        "nameLegal": [{"expressedIn": {"code": "fra-FR"}, "data": "TRUE"}],
        "isConsumerUnit": False,
        "lifeCycle": 3,
        "xFree": {"one": "a", "more": ["b", "c"]},
        "assets": {"pictures": [{"url": "https://example.com/ü.jpg", "isPackshot": True}]},
    }
    for number, way in ((101, "json"), (102, "xml")):
        records = [{"gtin": gtin(number), **attributes}]
        assert (
            "SUCCESS" == prodex.upsert(mill, records, format=way, progress=False).wait(progress=False).status
        )
    one, two = stored(mill, 101, 102)
    assert set() == changed(one, two) - {
        "id",
        "uuid",
        "gtin",
        "createdAt",
        "updatedAt",
        "product_key",
        "assets",
    }
    assert json.loads(one["assets"])["pictures"] == json.loads(two["assets"])["pictures"]

    only_json = {
        "empty": {},
        "none": None,
        "list": [],
        "one": [1],
        "more": [True, "TRUE", 1.5, None, {"a": [{}]}],
    }
    records = [{"gtin": gtin(102), **attributes, "composition": [], "xFree": only_json}]
    with pytest.raises(PreflightFailed, match=r"2 errors found.*Send it as JSON") as caught:
        prodex.upsert(mill, records, format="xml", progress=False)
    found = caught.value.findings.query("severity == 'error'")
    assert [("xFree.empty", gtin(102)), ("composition", gtin(102))] == [
        *found[["attribute", "gtin"]].itertuples(index=False, name=None)
    ]
    assert "SUCCESS" == prodex.upsert(mill, records, progress=False).wait(progress=False).status


def test_a_value_outside_its_referential_is_named(mill):
    """One product fails with value and referential, the other is integrated."""
    bad = {"gtin": gtin(2), "nameLegal": [{"expressedIn": {"code": "xxx-XX"}, "data": "Pain"}]}
    tracking = prodex.upsert(mill, [product(1), bad], progress=False).wait(progress=False)
    assert "CONTAINS_ERRORS" == tracking.status
    (failed,) = tracking.failed.itertuples()
    assert (gtin(2), "ERROR") == (failed.gtin, failed.status)
    assert "xxx-XX" in failed.message
    assert "language" in failed.message
    assert [gtin(1)] == tracking.products.query("status == 'SUCCESS'")["gtin"].tolist()


BOMB = b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><SupplierProducts><product>&c;</product></SupplierProducts>'


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b'{"data": []}', "application/json", "EMPTY"),
        (b"<SupplierProducts/>", "application/xml", "EMPTY"),
        (b'{"data": [', "application/json", "ERROR"),
        (b'{"products": []}', "application/json", "ERROR"),
        (b"<Products/>", "application/xml", "ERROR"),
        (BOMB, "application/xml", "ERROR"),
    ],
)
def test_payloads_as_a_whole(mill, body, content_type, status):
    """No product is EMPTY; a format error first has a tracking identifier, and later ERROR with a message."""
    tracking = prodex.track(mill, mill.upsert_products(body, content_type)).wait(progress=False)
    assert (status, status == "ERROR") == (tracking.status, bool(tracking.message))
    assert 0 == len(tracking.products)


def test_a_content_type_that_the_service_does_not_take_is_refused(mill):
    """With its own words."""
    with pytest.raises(RequestRefused, match="415"):
        mill.upsert_products(b"gtin;name", "text/csv")


def test_an_import_that_does_not_end_is_a_timeout(exchange):
    """The service stops an import (TIMEOUT: contact support), or we stop waiting (TrackingTimeout: it continues)."""
    with small_exchange(Behaviour(import_timeout=0.0)) as sandbox:
        tracking = prodex.upsert(client(sandbox, MILL), [product(1)], progress=False).wait(progress=False)
        assert ("TIMEOUT", True) == (tracking.status, "support" in repr(tracking))
    with small_exchange(Behaviour(import_delay=0.4)) as sandbox:
        tracking = prodex.upsert(client(sandbox, MILL), [product(1)], progress=False)
        with pytest.raises(TrackingTimeout):
            tracking.wait(0.1, progress=False)
        # It has not counted yet what was sent.
        assert ("IN_PROGRESS", 1) == (tracking.status, tracking.count)
        assert "SUCCESS" == tracking.wait(progress=False).status


def test_an_import_of_somebody_else_is_not_shown(client_of):
    """Nor one that never was."""
    mill, dairy = client_of(MILL), client_of(DAIRY)
    (number,) = prodex.upsert(mill, [product(1)], progress=False).tracking_ids
    for service, wanted in ((dairy, number), (mill, 999_999)):
        with pytest.raises(RequestRefused, match=r"404.*Only the access key that sent a write can track it"):
            prodex.track(service, wanted)


def test_the_same_gtin_of_another_is_another_product(client_of):
    """The dairy's write on the mill's GTIN leaves the mill's product as it was."""
    mill, dairy = client_of(MILL), client_of(DAIRY)
    before = stored(mill, 1)
    name = [{"expressedIn": {"code": "fra-FR"}, "data": "Lait"}]
    prodex.upsert(dairy, [{"gtin": gtin(1), "nameLegal": name}], progress=False).wait(progress=False)
    assert before == stored(mill, 1)


@pytest.mark.slow
def test_thousands_of_products_with_one_call(mill):
    """Upserted in 6 batches, imported and tracked to SUCCESS."""
    names = product(1)["namePublicLong"]
    records = [{"gtin": gtin(n), "namePublicLong": names, "lifeCycle": 1} for n in range(1000, 4000)]
    tracking = prodex.upsert(mill, records, progress=False).wait(120, progress=False)
    assert ("SUCCESS", 6, 3_000) == (tracking.status, len(tracking.tracking_ids), tracking.count)
    assert {"SUCCESS": 3_000} == dict(tracking.statuses)
    assert 3_005 == mill.count()


@pytest.mark.slow
def test_fifty_at_once_lose_nothing(exchange):
    """Clients that read and write side by side: every write is there at the end."""

    def work(number):
        service = client(exchange, MILL)
        service.count()
        records = [{**product(1), "gtin": gtin(2000 + number), "lifeCycle": number}]
        return prodex.upsert(service, records, progress=False).wait(60, progress=False).status

    with ThreadPoolExecutor(50) as pool:
        assert ["SUCCESS"] * 50 == list(pool.map(work, range(50)))
    there = stored(client(exchange, MILL), *range(2000, 2050))
    assert set(range(50)) == {int(one["lifeCycle"]) for one in there}


@pytest.mark.slow
def test_a_retailer_writes_for_itself(client_of):
    """What the shop corrects, the shop sees; the mill's own product is as it was."""
    shop, mill = client_of(SHOP), client_of(MILL)
    catalog = loaded(shop)
    frame = catalog.wide()
    frame.loc[frame.gtin == gtin(1), "is_nomadic"] = True
    before = stored(mill, 1)
    changes = catalog.changes_from(frame)
    assert [{"gtin": gtin(1), "isNomadic": True}] == list(changes.records)
    assert "SUCCESS" == prodex.upsert(shop, changes, progress=False).wait(progress=False).status
    assert b"true" == stored(shop, 1)[0]["isNomadic"]
    assert before == stored(mill, 1)

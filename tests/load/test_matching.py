"""Filters are checked on the records: what came and does not match is listed, and never called what was asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import prodex
from prodex.errors import IncompleteLoad
from prodex.load.matching import CHECKS, unmatched
from prodex.query import FILTERS, ProductQuery
from prodex.sandbox import Sandbox
from prodex.service import Client
from prodex.service.pull import pages
from prodex_sandbox.sample import shared_products
from tests.cases import each_row
from tests.load.exchange import connected as reached
from tests.load.strange import connected
from tests.stranger import Stranger, products
from tests.stranger.catalogue import gtin_of, iso

Record = dict[str, Any]

TOTAL = 90

#: In the middle of the two years in which the products were last updated.
MIDDLE = datetime(2025, 11, 1, tzinfo=UTC)

#: Filters of a query, and whether a record matches; for the dates only what does in no time zone is a mismatch.
FILTERED: dict[str, tuple[dict[str, Any], Callable[[Record], bool]]] = {
    "tags_in": ({"tags_in": ["export", "core"]}, lambda r: bool({"export", "core"} & {*r["isTaggedBy"]})),
    "tags_not_in": ({"tags_not_in": "export"}, lambda r: "export" not in r["isTaggedBy"]),
    "gtins_in": (
        {"gtins_in": [gtin_of(300_000_000_000 + 7 * number) for number in range(40)]},
        lambda r: r["id"] < 1040,
    ),
    "updated_at_from": ({"updated_at_from": MIDDLE}, lambda r: r["updatedAt"] >= "2025-11"),
    "updated_at_to": ({"updated_at_to": MIDDLE}, lambda r: r["updatedAt"] < "2025-11"),
    "owners_in": ({"owners_in": [8, 9]}, lambda r: r["owner"]["id"] in {8, 9}),
    "target_market": ({"target_market": "France"}, lambda r: r["product_key"]["target_market_id"] == 250),
    "validation_status_in": (
        {"validation_status_in": ["ok", 3]},
        lambda r: r["validation"]["status"] in {2, 3},
    ),
    "target_productstatus_in": (
        {"target_productstatus_in": ["accepted", "REFUSED"]},
        lambda r: r["targetProductStatus"] in {"ACCEPTED", "REFUSED"},
    ),
    "status_shared_from": ({"status_shared_from": "accepted"}, lambda r: r["manufacturerSharingStatus"] == 4),
    "has_packshot": ({"has_packshot": True}, lambda r: True in flags(r)),
    "has_no_packshot": ({"has_no_packshot": True}, lambda r: True not in flags(r)),
    "pictures_last_updated_at_from": (
        {"pictures_last_updated_at_from": MIDDLE},
        lambda r: bool(r["assets"]) and r["assets"]["lastUpdatedAt"]["pictures"] >= "2025-11",
    ),
    "pictures_last_updated_at_to": (
        {"pictures_last_updated_at_to": MIDDLE},
        lambda r: not r["assets"] or r["assets"]["lastUpdatedAt"]["pictures"] < "2025-11",
    ),
}


def flags(record: Record) -> list[bool]:
    """Return what the pictures of a record say of themselves."""
    return [one["isPackshot"] for one in (record["assets"] or {"pictures": []})["pictures"]]


def decided(field: str, record: Record) -> bool:
    """Whether a record says anything about a filter: some have no assets at all, and of these nothing is known."""
    return record["assets"] is not None or not ("packshot" in field or "pictures" in field)


def loaded(client: Client, query: ProductQuery, **options: Any) -> prodex.Catalog:
    """Load in pages of 20, without windows."""
    given = {"name": "shop", "max_age": 0, "page_size": 20, "windows": 0, "progress": False, **options}
    return prodex.load_products(client, query, **given)


def marked(catalog: prodex.Catalog) -> set[int]:
    """Return the ids of the products that are listed as problems."""
    return {int(what.removeprefix("product ").partition(",")[0]) for what in catalog.problems["what"]}


@pytest.mark.slow
@each_row("field", FILTERED)
def test_a_filter_that_is_not_applied_is_found_on_the_records(field: str) -> None:
    """The load says of how many, lists each, and raises unless that is allowed; nothing that came is dropped."""
    given, matches = FILTERED[field]
    known = products(TOTAL)
    wrong = {one["id"] for one in known if decided(field, one) and not matches(one)}
    assert wrong
    with Stranger(known, {"filter_ignored": FILTERS[field].wire}) as stranger:
        client = connected(stranger)
        with pytest.raises(IncompleteLoad, match=f"not match {field}") as raised:
            loaded(client, ProductQuery(**given))
        catalog = loaded(client, ProductQuery(**given), allow_incomplete=True)
    assert (TOTAL, False, wrong) == (len(catalog), catalog.complete, marked(catalog))
    assert len(wrong) == len(raised.value.ledger.unmatched)
    (note,) = [note for note in catalog.origin.ledger.notes if field in note]
    sure = sum(decided(field, one) for one in known)
    # Where all on the first page of twenty match, the service may have applied it there.
    says = "did not apply" if wrong & {one["id"] for one in known[:20]} else "applied"
    assert note.startswith(
        f"{len(wrong)} of {sure} products do not match {field}: the service {says} this filter"
    )


@pytest.mark.slow
@each_row("field", sorted(FILTERED.keys() - {"gtins_in"}))
def test_a_filter_that_is_applied_is_not_called_ignored(field: str) -> None:
    """Whatever a matching record looks like."""
    given, matches = FILTERED[field]
    known = products(TOTAL)
    with Stranger(known) as stranger:
        catalog = loaded(connected(stranger), ProductQuery(**given))
    assert {one["id"] for one in known if matches(one)} == {
        int(key) for key in catalog.products["product_id"]
    }
    assert (True, ()) == (catalog.complete, catalog.origin.ledger.notes)


@pytest.mark.slow
@pytest.mark.parametrize("field", ["tags_in", "owners_in", "has_packshot"])
def test_a_filter_that_holds_for_the_first_page_only_is_told_as_that(field: str) -> None:
    """The first page is right, and everything follows it."""
    given, matches = FILTERED[field]
    known = products(TOTAL)
    with Stranger(known, ["filters_on_first_page"]) as stranger:
        client = connected(stranger)
        with pytest.raises(IncompleteLoad):
            loaded(client, ProductQuery(**given))
        catalog = loaded(client, ProductQuery(**given), allow_incomplete=True)
    assert {one["id"] for one in known if decided(field, one) and not matches(one)} == marked(catalog)
    assert any(
        "applied this filter on the first page at most" in note for note in catalog.origin.ledger.notes
    )


@pytest.mark.slow
@pytest.mark.parametrize("languages", [["fr"], ["fra-FR"], ["fr-FR", "de"]])
def test_texts_in_languages_that_were_not_requested_are_a_mismatch(languages: list[str]) -> None:
    """They are not what was asked for; where the service applies the filter, there are none."""
    query = ProductQuery(product_languages=languages)
    with Stranger(products(TOTAL), ["languages_ignored"]) as stranger:
        catalog = loaded(connected(stranger), query, allow_incomplete=True)
    assert (TOTAL, False, TOTAL) == (len(catalog), catalog.complete, len(catalog.problems))
    assert "it came with texts in" in catalog.problems["why"].iloc[0]
    with Stranger(products(TOTAL)) as stranger:
        assert loaded(connected(stranger), query).complete


@pytest.mark.slow
@each_row("lie", ["dates_read_as_milliseconds", "lists_ignored", "gtins_ignored", "filters_ignored"])
def test_a_filter_that_is_misread_is_found(lie: str) -> None:
    """Dates in another unit, arrays that are passed over, and no filter at all."""
    field = "updated_at_from" if "dates" in lie else "gtins_in"
    given, matches = FILTERED[field]
    known = products(TOTAL)
    with Stranger(known, [lie]) as stranger:
        catalog = loaded(connected(stranger), ProductQuery(**given), allow_incomplete=True)
    assert {one["id"] for one in known if not matches(one)} == marked(catalog)
    assert not catalog.complete


#: Records that say nothing about a filter, which is no mismatch.
UNDECIDED: dict[str, list[Record]] = {
    "tags_in": [{}, {"hasTags": None}, {"isTaggedBy": None, "hasTags": None}, {"tags": ["old"]}],
    "tags_not_in": [{}, {"isTaggedBy": ["old"]}, {"lastRequest": {"isTaggedBy": ["export"]}}],
    "owners_in": [
        {},
        {"owner": None},
        {"owner": {"name": "Mill"}},
        {"owner": {"id": "unknown"}},
        {"owner": {"id": "08"}},
    ],
    "target_market": [{}, {"product_key": {}}, {"product_key": {"target_market_id": "0250"}}],
    "validation_status_in": [{}, {"validation": {"status": None}}, {"validation": {"status": 9}}],
    "target_productstatus_in": [
        {},
        {"targetProductStatus": "SOMETHING_NEW"},
        {"targetProductStatus": " accepted "},
    ],
    "status_shared_from": [{}, {"manufacturerSharingStatus": 7}, {"manufacturerSharingStatus": "ACCEPTED"}],
    "gtins_in": [{}, {"gtin": None}, {"gtin": "to follow"}, {"gtin": gtin_of(300_000_000_000)[1:]}],
    "updated_at_from": [{}, {"updatedAt": "soon"}, {"updatedAt": "2025-10-31T00:00:00"}],
    "updated_at_to": [{}, {"updatedAt": None}, {"updatedAt": "2025-11-01T23:00:00"}],
    "has_packshot": [
        {},
        {"assets": None},
        {"assets": {"documents": []}},
        {"assets": {"pictures": [{"url": "a"}]}},
        {"assets": {"pictures": [{"url": "a", "isPackshot": False}, {"url": "b"}]}},
    ],
    "has_no_packshot": [{}, {"assets": {"pictures": [{"url": "a"}]}}, {"assets": {"pictures": []}}],
    "pictures_last_updated_at_from": [{}, {"assets": {"lastUpdatedAt": {"pictures": None}}}],
    "pictures_last_updated_at_to": [{}, {"assets": {"lastUpdatedAt": {}}}],
    "product_languages": [
        {},
        {"namePublicLong": [{"data": "Riz"}]},
        {"warnings": [{"text": [{"expressedIn": {"code": "deu-DE"}, "data": "Reis"}]}]},
        {"lastRequest": {"namePublicLong": [{"expressedIn": {"code": "deu-DE"}, "data": "Reis"}]}},
    ],
}


@each_row("field", CHECKS)
def test_a_record_that_says_nothing_is_no_mismatch(field: str) -> None:
    """Absent, null, of another type, or not what the filter goes by."""
    given = FILTERED[field][0] if field in FILTERED else {"product_languages": ["fr"]}
    records = [{"id": number, **record} for number, record in enumerate(UNDECIDED[field])]
    assert [] == unmatched(prodex.flatten(records).parts, ProductQuery(**given))


def test_every_filter_is_checked_or_known_to_leave_no_trace() -> None:
    """A new filter has to say which."""
    silent = {"source_include", "source_exclude", "search", "active_range", "status_shared_with"}
    assert FILTERS.keys() - silent == CHECKS.keys()
    assert CHECKS.keys() == UNDECIDED.keys()


@each_row("include", [["namePublicLong"], ["assets.documents"], ["assets.pictures.url"]])
def test_a_field_that_was_not_requested_decides_nothing(include: list[str]) -> None:
    """Tags, owners and packshots of records without them are not known."""
    query = ProductQuery(tags_in=["export"], has_packshot=True, owners_in=[8], source_include=include)
    with Stranger(products(TOTAL), ["filters_ignored", "include_ignored"]) as stranger:
        stranger.products = {
            key: {name: one[name] for name in ("id", "uuid", "gtin", "updatedAt")}
            for key, one in stranger.products.items()
        }
        catalog = loaded(connected(stranger), query)
    assert (TOTAL, True) == (len(catalog), catalog.complete)


@pytest.mark.slow
def test_a_refresh_checks_the_records_too() -> None:
    """A service that forgets a filter one night sends everything; when it is well again, the rest goes."""
    known = products(TOTAL)
    matching = {one["id"] for one in known if "export" in one["isTaggedBy"]}
    with Stranger(known) as stranger:
        client = connected(stranger)
        assert matching == {
            int(key) for key in loaded(client, ProductQuery(tags_in="export")).products["product_id"]
        }
        stranger.switches = type(stranger.switches)(["tags_ignored"])
        with pytest.raises(IncompleteLoad, match=f"{TOTAL - len(matching)} do not match the query"):
            prodex.refresh("shop", client, progress=False)
        catalog = prodex.refresh("shop", client, allow_incomplete=True, progress=False)
        assert (TOTAL, {one["id"] for one in known} - matching) == (len(catalog), marked(catalog))
        stranger.switches = type(stranger.switches)([])
        mended = prodex.refresh("shop", client, progress=False)
    assert (matching, True) == ({int(key) for key in mended.products["product_id"]}, mended.complete)


def test_a_product_that_loses_its_tag_leaves_a_refresh() -> None:
    """Its record as it was still matches; that it does not come beside others which do says that it has left."""
    known = products(TOTAL)
    with Stranger(known) as stranger:
        client = connected(stranger)
        old = loaded(client, ProductQuery(tags_in="export"))
        first = stranger.products[int(old.products["product_id"].iloc[0])]
        stranger.put({**first, "isTaggedBy": ["old"], "hasTags": [], "updatedAt": iso(stranger.now())})
        new = prodex.refresh("shop", client, progress=False)
    assert (len(old) - 1, True) == (len(new), new.complete)


def test_what_was_built_is_used_when_a_mismatch_is_allowed() -> None:
    """The same call with allow_incomplete asks for nothing again."""
    with Stranger(products(TOTAL), ["tags_ignored"]) as stranger:
        client = connected(stranger)
        with pytest.raises(IncompleteLoad):
            loaded(client, ProductQuery(tags_in="export"))
        before = stranger.count()
        catalog = loaded(client, ProductQuery(tags_in="export"), allow_incomplete=True)
        assert (before, TOTAL) == (stranger.count(), len(catalog))


@pytest.mark.slow
def test_no_filter_of_the_sandbox_is_called_ignored() -> None:
    """Its products have all that a supplier can do wrong in them, and each organisation sees them in its own way."""
    asked: dict[str, list[Any]] = {
        "validation_status_in": [0, 1, 2],
        "tags_in": ["exportable", "online"],
        "tags_not_in": ["exportable"],
        "target_productstatus_in": ["ACCEPTED", "TO_BE_VALIDATED"],
        "status_shared_from": [3, 4],
        "target_market": [250, 56],
        "product_languages": ["fr", "nld-BE"],
        "has_packshot": [True],
        "has_no_packshot": [True],
        "pictures_last_updated_at_from": [datetime(2026, 1, 1, tzinfo=UTC)],
    }
    with Sandbox(shared_products(120)) as sandbox:
        for organization in (0, 1):
            client = reached(sandbox, organization)
            for field, values in asked.items():
                for query in (ProductQuery(**{field: value}) for value in values):
                    records = [
                        json.loads(bytes(one)) for page in pages(client, query) for one in page.envelope.data
                    ]
                    assert [] == unmatched(prodex.flatten(records).parts, query), query

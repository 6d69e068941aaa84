"""Two readings of the spec agree: what the client asks, the sandbox understands.

Expected products are worked out by hand from what was planted, never by the code under test.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.cases import each_row

from prodex.errors import AuthenticationFailed, CursorLost, QueryError, RequestRefused
from prodex.query import FILTERS, ProductQuery
from prodex.sandbox import Behaviour, Sandbox, ScrollEnd
from prodex.service import Client, pages
from prodex.service.settings import Settings
from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct, SharingStatus, View

RETAILER = Organization(1, "Retailer", OrganizationType.RETAILER, "retailer-key", "retailer-secret", "r")
MAKERS = [
    Organization(number, f"Maker {number}", OrganizationType.MANUFACTURER, f"maker-{number}", "secret", "m")
    for number in (11, 12)
]


def text(code, data):
    """Write a localized text item."""
    return {"expressedIn": {"code": code, "normalizedCode": code[:2]}, "data": data}


def planted(number, owner=11, packshot=None, view=None, **members):
    """Make a product whose number is its id and its GTIN."""
    record = {
        "id": number,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "gtin": f"{number:014d}",
        "updatedAt": "2026-11-01T12:00:00",
        **members,
    }
    if packshot is not None:
        record["assets"] = {
            "pictures": [{"url": "https://example.com/1.jpg", "isPackshot": packshot}],
            "lastUpdatedAt": {"pictures": f"2026-10-0{number}T00:00:00"},
        }
    return SharedProduct(record, owner, (replace(view or View(1), organization_id=1),))


PRODUCTS = [
    planted(1, packshot=True, namePublicLong=[text("fra-FR", "Chocolat noir"), text("deu-DE", "Zartbitter")]),
    planted(
        2, packshot=False, owner=12, brand={"code": "NOIR", "label": "Noir"}, updatedAt="2026-11-02T00:00:00"
    ),
    planted(3, updatedAt="2026-11-03T00:00:00", view=View(1, tags=(("new", "2026-11-01T00:00:00"),))),
    planted(4, view=View(1, validation_status=1, product_status="REFUSED", active_range=False)),
    planted(5, view=View(1, shared_from=SharingStatus.PENDING, shared_with=SharingStatus.DRAFT)),
    planted(6, packshot=True, view=View(1, target_market=56, validation_status=3)),
]
ALL = {1, 2, 3, 4, 5, 6}

# Field -> value -> the products that are to come.
EFFECTS = [
    ("gtins_in", [1, "00000000000004", "999"], {1, 4}),
    ("updated_at_from", datetime(2026, 11, 2, tzinfo=UTC), {2, 3}),
    ("updated_at_to", datetime(2026, 11, 2, tzinfo=UTC), ALL - {3}),
    ("validation_status_in", ["NOT_OK", "CORRECTION"], {4, 6}),
    ("validation_status_in", "NOT_OK", {4}),
    ("tags_in", ["new", "old"], {3}),
    ("tags_not_in", "new", ALL - {3}),
    ("target_productstatus_in", ["REFUSED", "UPDATED"], {4}),
    ("status_shared_from", "PENDING", {5}),
    ("status_shared_with", "DRAFT", {5}),
    ("target_market", "Belgium", {6}),
    ("has_packshot", True, {1, 6}),
    ("has_no_packshot", True, ALL - {1, 6}),
    ("pictures_last_updated_at_from", datetime(2026, 10, 2, tzinfo=UTC), {2, 6}),
    ("pictures_last_updated_at_to", datetime(2026, 10, 2, tzinfo=UTC), {1, 2}),
    ("active_range", True, ALL - {4}),
    ("owners_in", [12], {2}),
    ("search", [("noir", ["namePublicLong.data", "brand.label"])], {1, 2}),
    ("search", [("noir", ["namePublicLong.data"]), ("zartbitter", ["namePublicLong.data"])], {1}),
    # What shapes the products chooses none of them.
    ("source_include", "brand", ALL),
    ("source_exclude", "brand", ALL),
    ("product_languages", "fr", ALL),
]


@pytest.fixture(scope="module")
def sandbox():
    """A sandbox of six products."""
    with Sandbox(PRODUCTS, organizations=[RETAILER, *MAKERS], labels={}) as running:
        yield running


def client_of(sandbox):
    """Make a client of the retailer."""
    return Client(Settings(sandbox.base_url, RETAILER.client_id, RETAILER.client_secret))


@pytest.fixture
def client(sandbox):
    """A client of the retailer."""
    return client_of(sandbox)


def products(taken):
    """Return the products of pages by id."""
    return {
        product["id"]: product
        for page in taken
        for product in map(json.loads, map(bytes, page.envelope.data))
    }


def test_every_filter_has_an_effect_to_test():
    """Every filter of a query is in the table above."""
    assert set(FILTERS) == {field for field, _, _ in EFFECTS}


@pytest.mark.slow
@each_row(("field", "value", "expected"), EFFECTS)
def test_each_filter_is_understood(client, field, value, expected):
    """A filter chooses the products that the spec says, by POST and by GET."""
    query = ProductQuery(**{field: value})
    assert expected == set(products(pages(client, query)))
    assert len(expected) == client.count(query)
    if field != "search":
        assert expected == set(products(pages(client, query, method="list")))


def test_filters_are_taken_together(client):
    """Two filters choose what both of them choose."""
    assert {6} == set(
        products(pages(client, ProductQuery(has_packshot=True, validation_status_in="CORRECTION")))
    )


@pytest.mark.parametrize("method", ["search", "list"])
def test_requested_fields_come_with_the_keys(client, method):
    """Requested fields come with the keys of all tables and the language of a text, and without the rest."""
    query = ProductQuery(gtins_in=1, source_include=["namePublicLong.data"])
    product = products(pages(client, query, method=method))[1]
    assert {"id", "uuid", "gtin", "updatedAt", "namePublicLong"} == set(product)
    assert ["fr", "de"] == [item["expressedIn"]["normalizedCode"] for item in product["namePublicLong"]]


@pytest.mark.parametrize("method", ["search", "list"])
def test_excluded_fields_stay_away(client, method):
    """Excluded fields do not come, all others do."""
    product = products(pages(client, ProductQuery(gtins_in=2, source_exclude=["brand"]), method=method))[2]
    assert {"id", "uuid", "gtin", "updatedAt", "assets"} == set(product)


def test_languages_limit_texts_not_products(client):
    """filter_product_languages leaves texts of other languages out, however the language is written."""
    for language in ("fr", "fra-FR", "French"):
        product = products(pages(client, ProductQuery(product_languages=language)))[1]
        assert ["Chocolat noir"] == [item["data"] for item in product["namePublicLong"]]


def test_rich_content_has_an_id_of_text(client):
    """Rich content holds GTIN, assets and the id as text."""
    product = products(pages(client, ProductQuery(gtins_in=1), method="rich_content"))["1"]
    assert {"id", "gtin", "assets"} == set(product)


def test_missing_gtins_are_told(client):
    """A GTIN that the service does not have is reported after the pull."""
    ledgers = []
    assert {1} == set(products(pages(client, ProductQuery(gtins_in=[1, 77]), report=ledgers.append)))
    assert ("00000000000077",) == ledgers[0].missing_gtins


def test_a_filter_that_the_service_refuses_is_an_error(client):
    """A pass-through filter that the service does not know is refused with its message."""
    with pytest.raises(RequestRefused, match="filter_colour"):
        client.search_products(ProductQuery(extra={"filter_colour": "red"}))


def test_wrong_credentials_are_told(sandbox):
    """A key that the sandbox does not know is an authentication failure."""
    client = Client(Settings(sandbox.base_url, "retailer-key", "wrong-secret"))
    with pytest.raises(AuthenticationFailed, match="could not be authenticated") as caught:
        client.count()
    assert "wrong-secret" not in str(caught.value)


TOTAL = 10_321


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A store of more products than offset pages reach, filled once."""
    home = tmp_path_factory.mktemp("large")
    records = ({"id": number, "gtin": f"{number:014d}"} for number in range(TOTAL))
    with Sandbox(records, home=home, organizations=[RETAILER], labels={}):
        pass
    return home


@pytest.mark.slow
def test_a_large_catalogue_needs_a_post(large):
    """If the probe finds more products than GET reaches, that is an error."""
    with Sandbox(home=large) as sandbox, pytest.raises(QueryError, match="10,321 products match, and GET"):
        next(pages(client_of(sandbox), method="list"))


@pytest.mark.slow
@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("end", ScrollEnd)
def test_a_scroll_gives_each_product_once(large, end, changes):
    """However a scroll ends and whether its cursor changes, each product comes once."""
    ledgers = []
    with Sandbox(home=large, behaviour=Behaviour(scroll_end=end, cursor_changes=changes)) as sandbox:
        taken = list(pages(client_of(sandbox), report=ledgers.append))
    assert set(range(TOTAL)) == set(products(taken))
    # A walk ends where its pages end, never because as many came as were announced.
    empty = end is ScrollEnd.EMPTY_PAGE
    assert (TOTAL, 21 + empty) == (ledgers[0].received, len(taken))
    assert ledgers[0].complete


@pytest.mark.slow
def test_a_short_lived_token_is_renewed_in_the_middle(large):
    """A token that ends during a pull is replaced without losing a product."""
    with Sandbox(home=large, behaviour=Behaviour(token_lifetime=1)) as sandbox:
        client = client_of(sandbox)
        taken = []
        for page in pages(client):
            taken.append(page)
            time.sleep(0.06)
        assert set(range(TOTAL)) == set(products(taken))
        assert sum("token" in path for _, path, _ in sandbox.requests) >= 2


def test_a_cursor_that_was_not_used_in_time_is_lost(large):
    """A consumer that is slower than the life of a cursor gets a clear error."""
    with Sandbox(home=large, behaviour=Behaviour(cursor_lifetime=0.05)) as sandbox:
        taken = pages(client_of(sandbox))
        next(taken)
        time.sleep(0.2)
        with pytest.raises(CursorLost, match="start the scroll again"):
            next(taken)

"""The sample as the sandbox serves it: what a filter finds is what the records say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from small_exchange import Caller
from tests.cases import each_row

from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import PRODUCT_STATUSES, Organization, OrganizationType
from prodex_sandbox.sample import LABELS, organizations, shared_products

RETAILERS = [one for one in organizations() if one.type is OrganizationType.RETAILER]
COUNT = 400
Product = dict[str, Any]


@pytest.fixture(scope="module")
def catalogue() -> Iterator[Sandbox]:
    """Serve a small sample."""
    with Sandbox(shared_products(count=COUNT)) as sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=RETAILERS, ids=lambda retailer: retailer.name)
def retailer(catalogue: Sandbox, request: pytest.FixtureRequest) -> Iterator[Caller]:
    """Call as each retailer of the sample."""
    caller = Caller(catalogue.base_url, request.param).log_in()
    with caller.session:
        yield caller


@pytest.fixture(scope="module")
def seen(retailer: Caller) -> list[Product]:
    """Read every product that the retailer sees."""
    return everything(retailer)


def everything(caller: Caller, language: str | None = None, **body: Any) -> list[Product]:
    """Scroll through all products that a search finds."""
    page = caller.call("POST", language=language, next_page="", limit=500, **body)
    products: list[Product] = []
    while page["data"]:
        products += page["data"]
        page = caller.call("POST", next_page=page["next_page"], limit=500)
    assert page["totalResults"] == len(products)
    return products


@pytest.mark.slow
def test_the_principal_retailer_sees_the_whole_sample(catalogue: Sandbox) -> None:
    """The first access key opens every product."""
    caller = Caller(catalogue.base_url, catalogue.organizations[0]).log_in()
    with caller.session:
        assert COUNT == len({product["id"] for product in everything(caller)})


CONDITIONS: list[tuple[dict[str, Any], Callable[[Product], bool]]] = [
    *(
        (
            {"filter_target_productstatus_in": status},
            lambda one, status=status: one["targetProductStatus"] == status,
        )
        for status in PRODUCT_STATUSES
    ),
    *(
        (
            {"filter_validation_status_in": status},
            lambda one, status=status: one["validation"]["status"] == status,
        )
        for status in range(4)
    ),
    *(
        (
            {"status_shared_from": status},
            lambda one, status=status: one["manufacturerSharingStatus"] == status,
        )
        for status in (2, 3, 4)
    ),
    ({"filter_tags_in": "exportable"}, lambda one: "exportable" in (one.get("isTaggedBy") or [])),
    ({"filter_tags_not_in": "exportable"}, lambda one: "exportable" not in (one.get("isTaggedBy") or [])),
    (
        {"filter_tags_in": "exportable"},
        lambda one: "exportable" in [item["tag"] for item in one.get("hasTags") or []],
    ),
]


@pytest.mark.slow
@each_row(("filters", "holds"), CONDITIONS, ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_a_filter_finds_the_products_whose_records_say_so(
    retailer: Caller, seen: list[Product], filters: dict[str, Any], holds: Callable[[Product], bool]
) -> None:
    """In the records of each retailer, statuses and tags are those that the filters find."""
    found = {product["id"] for product in everything(retailer, filter_source_include="id", **filters)}
    assert {product["id"] for product in seen if holds(product)} == found


@pytest.mark.slow
def test_labels_of_the_sample_come_in_every_language(catalogue: Sandbox) -> None:
    """The sample's labels are served in French, German, Spanish and Dutch."""
    caller = Caller(catalogue.base_url, catalogue.organizations[0]).log_in()
    with caller.session:
        english = {product["id"]: product["kind"] for product in everything(caller) if product.get("kind")}
        for language in ("fr", "de", "es", "nl"):
            products = everything(caller, language=f"{language}-XX", filter_source_include=["id", "kind"])
            kinds = {product["id"]: product["kind"]["label"] for product in products if product.get("kind")}
            expected = {
                id_: LABELS.get((str(kind["code"]), kind["label"]), {}).get(language, kind["label"])
                for id_, kind in english.items()
            }
            assert expected == kinds
            assert expected != {id_: kind["label"] for id_, kind in english.items()}


@pytest.mark.slow
def test_many_callers_at_once_get_what_each_asked_for(catalogue: Sandbox) -> None:
    """Fifty callers at once, each with a scroll of its own, get each product once."""
    organization: Organization = catalogue.organizations[0]

    def scroll(limit: int) -> list[int]:
        caller = Caller(catalogue.base_url, organization).log_in()
        with caller.session:
            page = caller.call("POST", next_page="", limit=limit, filter_source_include=["id"])
            ids: list[int] = []
            while page["data"]:
                ids += [product["id"] for product in page["data"]]
                page = caller.call("POST", next_page=page["next_page"], limit=limit)
        return ids

    with ThreadPoolExecutor(16) as threads:
        results = list(threads.map(scroll, range(101, 151)))
    assert 1 == len({tuple(ids) for ids in results})
    assert COUNT == len(set(results[0])) == len(results[0])

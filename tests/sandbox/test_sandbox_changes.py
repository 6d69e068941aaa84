"""Changing the catalogue while it is served."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from small_exchange import (
    BREAD,
    BUTTER,
    CIDER,
    DAIRY,
    LABELS,
    MARKET,
    MILL,
    PRODUCTS,
    RECORDS,
    SHOP,
    Caller,
    text,
)
from writer import Writer

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.records.model import SharedProduct, View

CallerOf = Callable[..., Caller]
NEW = "03149170388001"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """Serve the small exchange to one test."""
    with Sandbox(PRODUCTS, organizations=[SHOP, MARKET, MILL, DAIRY], labels=LABELS) as sandbox:
        yield sandbox


def product(caller: Caller, gtin: str) -> dict[str, Any]:
    (found,) = caller.call("POST", filter_gtins_in=[gtin])["data"]
    return dict(found)


def seconds(record: dict[str, Any]) -> float:
    return datetime.fromisoformat(record["updatedAt"]).replace(tzinfo=UTC).timestamp()


def test_a_changed_product_is_seen_by_all_its_viewers(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """The record is replaced as a whole and dated; statuses, tags and position for each viewer stay."""
    shop, market = caller_of(SHOP, sandbox), caller_of(MARKET, sandbox)
    order = shop.gtins()
    begin = time.time()
    sandbox.change([{"id": 1, "gtin": BREAD, "namePublicLong": [text("Brioche")]}])
    for caller in (shop, market):
        found = product(caller, BREAD)
        assert ("Brioche", False) == (found["namePublicLong"][0]["data"], "composition" in found)
        assert begin - 1 <= seconds(found) <= time.time() + 1
    assert ("REFUSED", ["promo"]) == (
        product(market, BREAD)["targetProductStatus"],
        product(market, BREAD)["isTaggedBy"],
    )
    assert order == shop.gtins()
    assert [BREAD] == shop.gtins(filter_tags_in=["exportable"])


def test_filters_and_search_find_what_a_product_is_now(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """Filters on dates and GTINs and the text search find the changed product, and not its old values."""
    shop = caller_of(SHOP, sandbox)
    changed = {"id": 1, "gtin": NEW, "namePublicLong": [text("Brioche")], "updatedAt": "2026-02-01T00:00:00"}
    sandbox.change([changed], moves_updated_at=False)
    february = int(datetime(2026, 2, 1, tzinfo=UTC).timestamp())
    for method in ("GET", "POST"):
        assert [NEW] == shop.gtins(method, updated_at_from=february, updated_at_to=february)
        assert [BUTTER, CIDER] == shop.gtins(method, updated_at_to=february - 1)
    assert ([NEW], []) == (shop.gtins(filter_gtins_in=[NEW]), shop.gtins(filter_gtins_in=[BREAD]))
    for word, found in (("brioche", [NEW]), ("campagne", [])):
        search = {"must": [{"query": word, "fields": ["namePublicLong.data"]}]}
        assert found == shop.gtins(advanced_search=search)


def test_updated_at_is_never_earlier_than_it_was() -> None:
    """A change keeps an updatedAt of the far future, and any updatedAt where it is asked to."""
    record = {"id": 1, "gtin": "1", "updatedAt": "2090-01-01T00:00:00"}
    with Sandbox([record], organizations=[SHOP], labels={}) as sandbox:
        shop = Caller(sandbox.base_url).log_in()
        with shop.session:
            sandbox.change([record])
            assert "2090-01-01T00:00:00" == product(shop, "1")["updatedAt"]
            sandbox.change([{**record, "updatedAt": "2020-01-01T00:00:00"}], moves_updated_at=False)
            assert "2020-01-01T00:00:00" == product(shop, "1")["updatedAt"]
            begin = time.time()
            sandbox.change([record])
            assert begin - 1 <= seconds(product(shop, "1")) <= time.time()
            sandbox.change([record], moves_updated_at=False)
            assert "2090-01-01T00:00:00" == product(shop, "1")["updatedAt"]
            sandbox.change([{"id": 1, "gtin": "1"}], moves_updated_at=False)
            assert {"id": 1, "gtin": "1"} == product(shop, "1")


def test_a_new_product_is_added_behind_the_last(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """A record that was not there is shared with every retailer, and with its owner."""
    before = caller_of(SHOP, sandbox).gtins()
    sandbox.change([{"gtin": NEW, "owner": {"name": "Mill"}}])
    assert [*before, NEW] == caller_of(SHOP, sandbox).gtins()
    for organization in (MARKET, MILL):
        assert NEW == caller_of(organization, sandbox).gtins()[-1]
    assert NEW not in caller_of(DAIRY, sandbox).gtins()
    assert [NEW] == caller_of(SHOP, sandbox).gtins(filter_owners_in=[MILL.id], filter_gtins_in=[NEW])


def test_an_owner_that_is_new_is_one_organisation(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """Products of an unknown owner belong to one new organisation."""
    for number in (1, 2):
        sandbox.change([{"gtin": f"{number}", "owner": {"name": "Brewery"}}])
    (brewery,) = (one for one in sandbox.organizations if one.name == "Brewery")
    assert ["1", "2"] == caller_of(SHOP, sandbox).gtins(filter_owners_in=[brewery.id])


def test_a_shared_product_brings_its_views(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """A shared product replaces who sees it, and how."""
    views = (View(MARKET.id, tags=(("new", "2026-01-01T00:00:00"),)),)
    sandbox.change([SharedProduct(RECORDS[BREAD], DAIRY.id, views)])
    assert BREAD not in caller_of(SHOP, sandbox).gtins()
    assert [BREAD] == caller_of(MARKET, sandbox).gtins(filter_tags_in=["new"])
    assert [] == caller_of(MARKET, sandbox).gtins(filter_tags_in=["promo"])
    assert BREAD in caller_of(DAIRY, sandbox).gtins()
    assert BREAD not in caller_of(MILL, sandbox).gtins()


def test_what_a_retailer_had_written_is_gone_with_a_change(sandbox: Sandbox) -> None:
    """The retailer sees the product itself again, counted by its own time of update."""
    shop = Writer(sandbox.base_url)
    with shop.session:
        shop.log_in()
        assert "SUCCESS" == shop.write({"gtin": BREAD, "lifeCycle": 7})["status"]
        assert 7 == shop.stored(BREAD)["lifeCycle"]
        written = int(seconds(shop.stored(BREAD)))
        assert [BREAD] == shop.gtins(updated_at_from=written)
        sandbox.change([RECORDS[BREAD]], moves_updated_at=False)
        assert 1 == shop.stored(BREAD)["lifeCycle"]
        assert [] == shop.gtins(updated_at_from=written)


def test_removed_products_are_gone_for_all(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """Products are removed by GTIN, by id, or as records; totals agree, and their keys are not used again."""
    shop = caller_of(SHOP, sandbox)
    sandbox.remove([BREAD, 2, RECORDS[CIDER]])
    assert 1 == shop.call("POST")["totalResults"]
    assert BREAD not in caller_of(MARKET, sandbox).gtins()
    search = {"must": [{"query": "beurre", "fields": ["namePublicLong.data"]}]}
    assert [] == shop.gtins(advanced_search=search)
    assert [] == shop.gtins(filter_tags_in=["exportable"])


def test_nothing_is_removed_where_one_is_not_there(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """A product that is not in the store is named, and the others stay."""
    with pytest.raises(LookupError, match="holds no product '404'"):
        sandbox.remove([BREAD, "404"])
    assert 4 == caller_of(SHOP, sandbox).call("POST")["totalResults"]


def test_a_change_holds_as_a_whole_or_not_at_all(sandbox: Sandbox, caller_of: CallerOf) -> None:
    """Where the iterable of products raises, none of them is changed."""

    def failing() -> Iterator[dict[str, Any]]:
        yield {"gtin": NEW, "owner": {"name": "Brewery"}}
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        sandbox.change(failing())
    assert 4 == caller_of(SHOP, sandbox).call("POST")["totalResults"]
    assert "Brewery" not in {one.name for one in sandbox.organizations}


def test_a_scroll_keeps_to_the_products_that_it_began_with() -> None:
    """A scroll shows a changed product as it is now, lacks a removed one, and does not include a new one."""
    records = [{"id": number, "gtin": str(number)} for number in range(6)]
    with Sandbox(records, organizations=[SHOP], labels={}) as sandbox:
        shop = Caller(sandbox.base_url).log_in()
        with shop.session:
            first = shop.call("POST", next_page="", limit=2)
            sandbox.change([{"id": 2, "gtin": "2", "lifeCycle": 1}])
            sandbox.remove([3, 5])
            sandbox.change([{"id": 6, "gtin": "6"}])
            second = shop.call("POST", next_page=first["next_page"], limit=2)
            third = shop.call("POST", next_page=second["next_page"], limit=2)
            assert [[2], [4]] == [[one["id"] for one in page["data"]] for page in (second, third)]
            assert 1 == second["data"][0]["lifeCycle"]
            assert ["0", "1", "2", "4", "6"] == shop.gtins()


def test_a_sandbox_that_does_not_run_cannot_be_changed() -> None:
    """Outside of its context a sandbox raises an error that says so."""
    sandbox = Sandbox([], organizations=[SHOP], labels={})
    with pytest.raises(RuntimeError, match="does not run"):
        sandbox.change([])
    with sandbox:
        sandbox.change([])
    with pytest.raises(RuntimeError, match="does not run"):
        sandbox.remove([])


@pytest.mark.slow
def test_two_thousand_of_twenty_thousand_are_changed_in_seconds() -> None:
    """A tenth of the products is replaced, and counted by bounds of updates, fast enough for tests of refresh."""
    records = [{"id": number, "gtin": f"{number:014d}"} for number in range(20_000)]
    with Sandbox(records, organizations=[SHOP], labels={}, behaviour=Behaviour()) as sandbox:
        shop = Caller(sandbox.base_url).log_in()
        with shop.session:
            since = int(time.time()) - 5
            begin = time.monotonic()
            sandbox.change(records[::10])
            assert time.monotonic() - begin < 5
            assert 2_000 == shop.call("POST", limit=1, updated_at_from=since)["totalResults"]


@pytest.mark.parametrize("products", [60, "sample", {"gtin": "03036811359935"}])
def test_what_are_no_products_is_said_at_once(products: Any) -> None:
    """A number of products, a name or a single record is refused before anything is served."""
    with pytest.raises(TypeError, match="products are records"):
        Sandbox(products)

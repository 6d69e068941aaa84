"""Two records are two records: what has one key, and is not one product, is not called one without a word."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import IncompleteLoad
from prodex.service import Client
from tests.cases import each_row
from tests.load.strange import connected
from tests.stranger import Stranger, products
from tests.stranger.catalogue import gtin_of, iso

Record = dict[str, Any]

TOTAL = 60


def bare(record: Record) -> Record:
    """Take the id and the uuid of a record away: its GTIN has to do as its key."""
    return {name: value for name, value in record.items() if name not in {"id", "uuid"}}


#: What a service has beside a record, under the same key: the record that was there, and the other one.
PAIRS: dict[str, Callable[[Record], tuple[Record, Record]]] = {
    "one id, another GTIN and uuid": lambda one: (one, {**one, "gtin": gtin_of(1_000_000), "uuid": "other"}),
    "one id, another GTIN, no uuids": lambda one: (
        {**one, "uuid": None},
        {**one, "gtin": gtin_of(1_000_000), "uuid": None},
    ),
    "one id, another GTIN, later": lambda one: (
        one,
        {**one, "gtin": gtin_of(1_000_000), "uuid": "other", "updatedAt": "2027-01-01T00:00:00"},
    ),
    "one id and GTIN, another uuid and market": lambda one: (
        one,
        {**one, "uuid": "other", "product_key": {**one["product_key"], "target_market_id": 40}},
    ),
    "one uuid, another GTIN": lambda one: (
        {**one, "id": None},
        {**one, "id": None, "gtin": gtin_of(1_000_000)},
    ),
    "one GTIN, another market": lambda one: (
        bare(one),
        {**bare(one), "product_key": {"target_market_id": 40}, "updatedAt": "2026-10-31T10:00:00"},
    ),
    "one GTIN, another owner, no dates": lambda one: (
        {**bare(one), "updatedAt": None},
        {**bare(one), "owner": {"name": "Somebody else"}, "updatedAt": None},
    ),
    "one GTIN, another name": lambda one: (bare(one), {**bare(one), "namePublicLong": [{"data": "other"}]}),
    "one GTIN, another name and date of long ago": lambda one: (
        bare(one),
        {**bare(one), "namePublicLong": [{"data": "other"}], "updatedAt": "2020-01-01T00:00:00"},
    ),
}


def served(pair: str, apart: bool) -> Stranger:
    """Serve products of which one key has two records, beside each other or far apart."""
    known = products(TOTAL)
    one, other = PAIRS[pair](known[7])
    stranger = Stranger(known)
    stranger.products[known[7]["id"]] = one
    # Products come in the order of the key that they are kept by.
    stranger.products[known[7]["id"] + (40.5 if apart else 0.5)] = other
    return stranger


def loaded(client: Client, **options: Any) -> prodex.Catalog:
    """Load in pages of 20, without windows."""
    given = {"name": "shop", "max_age": 0, "page_size": 20, "windows": 0, "progress": False, **options}
    return prodex.load_products(client, **given)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pair", "apart"),
    [*((pair, bool(number % 2)) for number, pair in enumerate(PAIRS)), (next(iter(PAIRS)), True)],
)
def test_what_is_left_out_is_listed(pair: str, apart: bool) -> None:
    """One of the two is kept, the other is a problem with what contradicts it, and the load is not called whole."""
    with served(pair, apart) as stranger:
        client = connected(stranger)
        with pytest.raises(IncompleteLoad):
            loaded(client)
        catalog = loaded(client, allow_incomplete=True)
    assert (TOTAL, False) == (len(catalog), catalog.complete)
    (line,) = catalog.origin.ledger.left_out
    assert "this one is left out" in line
    assert "1 left out" in repr(catalog)
    assert len(catalog) == catalog.products["product_id"].nunique()


@pytest.mark.slow
@each_row("total", ["total_absent", "total_one_short"])
@each_row("pair", ["one id, another GTIN and uuid", "one GTIN, another market"])
def test_it_is_listed_whatever_is_announced(pair: str, total: str) -> None:
    """Also where the service counts the two as one, so that the numbers agree."""
    stranger = served(pair, apart=True)
    stranger.switches = type(stranger.switches)([total])
    with stranger:
        catalog = loaded(connected(stranger), allow_incomplete=True)
    assert (False, 1) == (catalog.complete, len(catalog.origin.ledger.left_out))


@pytest.mark.slow
def test_a_refresh_goes_on_saying_it() -> None:
    """Until the service has one record of this key."""
    with served("one id, another GTIN and uuid", apart=True) as stranger:
        client = connected(stranger)
        loaded(client, allow_incomplete=True)
        catalog = prodex.refresh("shop", client, allow_incomplete=True, progress=False)
        assert (False, 1) == (catalog.complete, len(catalog.origin.ledger.left_out))
        key = next(key for key in stranger.products if isinstance(key, float))
        stranger.remove(key)
        catalog = prodex.refresh("shop", client, allow_incomplete=True, progress=False)
    assert (True, (), TOTAL) == (catalog.complete, catalog.origin.ledger.left_out, len(catalog))


def test_a_refresh_that_would_replace_a_product_by_another_says_it() -> None:
    """The record has the same id, and nothing else that tells products apart; a corrected GTIN is an update."""
    with Stranger(products(TOTAL)) as stranger:
        client = connected(stranger)
        loaded(client)
        keys = stranger.ids()
        one, corrected = stranger.products[keys[7]], stranger.products[keys[8]]
        now = iso(stranger.now())
        stranger.put({**one, "gtin": gtin_of(1_000_000), "uuid": "other", "updatedAt": now})
        stranger.put({**corrected, "gtin": gtin_of(1_000_001), "updatedAt": now})
        catalog = prodex.refresh("shop", client, allow_incomplete=True, progress=False)
    (line,) = catalog.origin.ledger.left_out
    assert line.startswith(f"product {one['id']}, GTIN {one['gtin']}: another record")
    assert not catalog.complete
    assert gtin_of(1_000_001) in set(catalog.products["gtin"])


@pytest.mark.slow
@each_row("keyed", ["id", "uuid", "gtin"])
def test_a_product_that_is_updated_between_two_pages_is_one(keyed: str) -> None:
    """It comes with the pull and again with what changed meanwhile, in its new state."""
    known = products(TOTAL)
    if keyed != "id":
        known = [{**one, "uuid": one["uuid"] if keyed == "uuid" else None} for one in known]
    with Stranger(known) as stranger:
        if keyed != "id":
            stranger.products = {key: {**one, "id": None} for key, one in stranger.products.items()}
        changed = stranger.products[stranger.ids()[3]]

        def update(stranger: Stranger) -> None:
            stranger.products[stranger.ids()[3]] = {
                **changed,
                "lifeCycle": 9,
                "updatedAt": iso(stranger.now()),
            }

        stranger.at_call(4, update)
        catalog = loaded(connected(stranger))
    assert (TOTAL, True, ()) == (len(catalog), catalog.complete, catalog.origin.ledger.left_out)
    assert 1 == catalog.products["life_cycle"].eq(9).sum()


def test_a_record_that_comes_again_with_another_address_is_one() -> None:
    """Services sign the addresses of pictures anew with each reply."""
    with Stranger(products(TOTAL), ["scroll_refused"]) as stranger:
        signed = [0]
        honest = stranger.answer

        def answer(call: Any) -> Any:
            signed[0] += 1
            for key, one in stranger.products.items():
                stranger.products[key] = {**one, "signature": signed[0]}
            return honest(call)

        stranger.answer = answer  # type: ignore[method-assign] # what is outside is faked
        catalog = loaded(connected(stranger))
    assert (TOTAL, True) == (len(catalog), catalog.complete)
    assert catalog.origin.ledger.received > TOTAL


@each_row("form", ["in memory", "file", "snapshot"])
def test_records_in_files_are_held_against_each_other(form: str, tmp_path: Path) -> None:
    """A later state of a product is one, two markets under one GTIN are two."""
    records = [
        {"gtin": "03036811359935", "product_key": {"target_market_id": 250}},
        {"gtin": "03036811359935", "product_key": {"target_market_id": 56}},
        {"id": 7, "gtin": "03663215000110", "updatedAt": "2026-11-01T08:00:00", "lifeCycle": 1},
        {"id": 7, "gtin": "03663215000110", "updatedAt": "2026-11-02T08:00:00", "lifeCycle": 2},
        {"id": 8, "gtin": "03178041265140", "uuid": "a"},
        {"id": 8, "gtin": "03037494555003", "uuid": "b"},
    ]
    path = tmp_path / "products.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    if form == "in memory":
        catalog = prodex.flatten(records)
    else:
        catalog = prodex.read_products(path, name="delivery" if form == "snapshot" else None, progress=False)
    assert (3, False) == (len(catalog), catalog.complete)
    assert ["product 03036811359935, GTIN 03036811359935", "product 8, GTIN 03178041265140"] == sorted(
        catalog.problems["what"]
    )
    assert catalog.products["life_cycle"].dropna().tolist() == [2]

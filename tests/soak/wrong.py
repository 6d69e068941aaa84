"""Services that answer well and wrongly: what became of each load and refresh, and what the check of filters takes."""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import logging
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Set
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

import prodex
from prodex import clock
from prodex.errors import ProdexError
from prodex.load.matching import CHECKS, unmatched
from prodex.query import FILTERS, ProductQuery
from prodex.store.build import build_folder, build_part
from prodex.store.journal import LoadJournal
from prodex.store.plan import plan
from prodex.tables.envelope import split
from prodex.tables.records import identify
from tests.bench.products import products as large_products
from tests.load.exchange import paged
from tests.load.strange import connected
from tests.load.test_copies import PAIRS, served
from tests.load.test_matching import FILTERED
from tests.stranger import Stranger, products
from tests.stranger.catalogue import iso

TOTAL, PAGE = 234, 40


def loads(one_in: int = 1) -> bool:
    """Load and refresh from services of each kind, in each way of paging."""
    logging.getLogger("prodex").setLevel(logging.ERROR)
    counts: Counter[str] = Counter()
    for number, (name, way, run) in enumerate(_cases()):
        if number % one_in:
            continue
        with (
            tempfile.TemporaryDirectory(prefix="prodex-soak-") as home,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setenv("PRODEX_HOME", home)
            paged(way, patch)
            patch.setattr("prodex.service.paging.LARGEST_PAGE", PAGE)
            outcome = run(way)
        counts[outcome] += 1
        if outcome not in {"whole", "said"}:
            print(f"{outcome}: {name}, by {way}", flush=True)
    bad = {name: number for name, number in counts.items() if name not in {"whole", "said"}}
    print(
        f"{sum(counts.values())} loads and refreshes of services that answer wrongly: {counts['whole']} whole, "
        f"{counts['said']} incomplete or with a note that says why, {counts['lost']} lost, {counts['silent']} called "
        f"complete without a word, {counts['ended']} ended with an error although the service was well again"
    )
    return not bad


def _cases() -> Iterator[tuple[str, str, Callable[[str], str]]]:
    for way in ("offset", "scroll", "windows"):
        for trait in ("index_empty", "index_in_part", "index_growing"):
            for since in range(1, 30, 3):
                yield f"{trait} from call {since} of a refresh", way, _refreshing({trait: 0}, since)
        for lie in ("gtins_ignored", "filters_ignored", "lists_ignored", "gtins_cut"):
            yield f"{lie}, and two products gone", way, _refreshing({lie: True}, 1, gone=2)
        for field in FILTERED:
            for lie in ({"filter_ignored": FILTERS[field].wire}, {"filters_on_first_page": True}):
                yield f"{field} with {next(iter(lie))}", way, _filtered(field, lie)
        for pair in PAIRS:
            yield f"two records: {pair}", way, _twins(pair)
        for minutes in (1, 5, 14, 50):
            yield f"a change shown {minutes} minutes late", way, _late(minutes)
        for fault in (
            "token_unknown_at_first",
            "read_429_day",
            "read_429_future",
            "read_429_date",
            "read_429_garbage",
        ):
            yield fault, way, _interrupted(fault)


def _load(client: prodex.service.Client, way: str, query: ProductQuery | None = None) -> prodex.Catalog:
    windows = 0 if way == "scroll" else 2
    given: dict[str, Any] = {
        "name": "shop",
        "max_age": 0,
        "page_size": PAGE,
        "windows": windows,
        "progress": False,
    }
    return prodex.load_products(client, query, allow_incomplete=True, **given)


def _refresh(client: prodex.service.Client, **options: Any) -> prodex.Catalog:
    return prodex.refresh("shop", client, allow_incomplete=True, progress=False, **options)


def _keys(catalog: prodex.Catalog) -> set[str]:
    return set(catalog.products["product_id"])


def _judged(catalog: prodex.Catalog, there: Set[str], wrong: Set[str] = frozenset()) -> str:
    """Say whether all that is there is held, and whether a catalogue with wrong products in it says so."""
    if there - _keys(catalog):
        return "lost"
    if catalog.complete and not catalog.origin.ledger.notes:
        return "silent" if wrong & _keys(catalog) else "whole"
    return "said"


def _refreshing(traits: dict[str, Any], since: int, gone: int = 0) -> Callable[[str], str]:
    def run(way: str) -> str:
        with Stranger(products(TOTAL)) as stranger:
            client = connected(stranger)
            there = _keys(_load(client, way))
            removed = {str(key) for key in stranger.ids()[5 : 5 + gone]}
            for key in removed:
                stranger.remove(int(key))
            begin = stranger.count() + since
            given = {
                name: begin if value == 0 and value is not True else value for name, value in traits.items()
            }
            stranger.switches = type(stranger.switches)(given)
            return _judged(_refresh(client), there - removed, removed)

    return run


def _filtered(field: str, lie: dict[str, Any]) -> Callable[[str], str]:
    given, matches = FILTERED[field]

    def run(way: str) -> str:
        known = products(TOTAL)
        right = {str(one["id"]) for one in known if matches(one)}
        with Stranger(known, lie) as stranger:
            catalog = _load(connected(stranger), way, ProductQuery(**given))
        return _judged(catalog, right, {str(one["id"]) for one in known} - right)

    return run


def _twins(pair: str) -> Callable[[str], str]:
    def run(way: str) -> str:
        with served(pair, apart=True) as stranger:
            catalog = _load(connected(stranger), way)
        return "said" if catalog.origin.ledger.left_out and not catalog.complete else "silent"

    return run


def _late(minutes: float) -> Callable[[str], str]:
    def run(way: str) -> str:
        with Stranger(products(TOTAL)) as stranger:
            client = connected(stranger)
            recent, changed = (stranger.products[key] for key in stranger.ids()[7:9])
            stranger.put({**recent, "updatedAt": iso(stranger.now())})
            _load(client, way)
            late = iso(stranger.now() - 60 * minutes)
            stranger.put({**changed, "lifeCycle": 9, "updatedAt": late})
            catalog = _refresh(client, sweep=False, lag=timedelta(hours=1))
        return "whole" if catalog.products["life_cycle"].eq(9).sum() else "lost"

    return run


def _interrupted(fault: str) -> Callable[[str], str]:
    def run(way: str) -> str:
        with Stranger(products(TOTAL), [fault]) as stranger:
            try:
                catalog = _load(connected(stranger), way)
            except ProdexError as error:
                print(f"{type(error).__name__}: {error!s:.300}")
                return "ended"
            return _judged(catalog, {str(key) for key in stranger.ids()})

    return run


def check(count: int = 20_000) -> bool:
    """Time the check of all filters that records decide against the build of the same products, one part at a time."""
    records = [_matching(one) for one in large_products(count)]
    query = ProductQuery(
        gtins_in=[one["gtin"] for one in records],
        updated_at_from=datetime(2000, 1, 1, tzinfo=UTC),
        updated_at_to=datetime(2100, 1, 1, tzinfo=UTC),
        validation_status_in="ok",
        tags_in="export",
        tags_not_in="spring",
        target_productstatus_in="ACCEPTED",
        status_shared_from="ACCEPTED",
        target_market=250,
        product_languages=["fr", "de", "en"],
        has_packshot=True,
        pictures_last_updated_at_from=datetime(2000, 1, 1, tzinfo=UTC),
        pictures_last_updated_at_to=datetime(2100, 1, 1, tzinfo=UTC),
        owners_in=8,
    )
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as home:
        journal = LoadJournal.begin(Path(home) / "journal", {"began": clock.now().isoformat()})
        for begin in range(0, count, 500):
            page = msgspec.json.encode({"totalResults": count, "data": records[begin : begin + 500]})
            envelope = split(page)
            keys = [identify(one) for one in envelope.data]
            journal.add("pull/0", page, envelope, keys, received_at=clock.now())
        folder = build_folder(journal.folder)
        plans = plan(journal).parts
        begin_build = time.process_time()
        parts = [build_part(journal.folder, one, folder).open(folder) for one in plans]
        built = time.process_time() - begin_build
        taken = []
        for _ in range(5):
            begin_check = time.process_time()
            found = unmatched(parts, query)
            taken.append(time.process_time() - begin_check)
    share = min(taken) / built
    print(
        f"{len(CHECKS) - 1} filters checked on {count:,} products of 10 kB: {min(taken):.2f} s of processor time, "
        f"{share:.1%} of the {built:.1f} s of their build (at most 2 %); {len(found)} called ignored (0)"
    )
    return share <= 0.02 and not found


def _matching(record: dict[str, Any]) -> dict[str, Any]:
    """Give a product of the benchmarks what all filters of a query go by."""
    pictures = [{**one, "isPackshot": number == 0} for number, one in enumerate(record["assets"]["pictures"])]
    return record | {
        "owner": record["owner"] | {"id": 8},
        "product_key": {"product_id": record["id"], "target_market_id": 250},
        "validation": {"status": 2},
        "targetProductStatus": "ACCEPTED",
        "manufacturerSharingStatus": 4,
        "isTaggedBy": ["export"],
        "assets": record["assets"] | {"pictures": pictures},
    }

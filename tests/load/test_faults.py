"""Law 3: whatever goes wrong at whichever call, each product comes exactly once, or an error says what is missing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from prodex.errors import IncompleteLoad, RedirectRefused, RequestRefused, ServiceError, UnexpectedReply
from prodex.load.fetch import Fetch
from prodex.load.resume import require_complete
from prodex.query import ProductQuery
from prodex.sandbox import FAULTS, Behaviour, Fault, Sandbox, ScrollEnd
from prodex.service.paging import ProductPage
from prodex.store.archive import snapshots_folder
from prodex.store.disappeared_products import absence_of
from prodex.store.journal import LoadJournal
from prodex.store.journal_contents import newest
from prodex.store.plan import plan
from prodex.store.reconciliation import ledger_of
from prodex.tables.envelope import split
from tests.load.exchange import (
    PAGE,
    TOTAL,
    WAYS,
    LeapingClock,
    connected,
    contents,
    loaded,
    paged,
    pages_asked,
    records,
)


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve the catalogue, one for all cases."""
    with Sandbox(records()) as sandbox:
        yield sandbox


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have pages go one of the ways."""
    paged(request.param, monkeypatch)
    return str(request.param)


#: Faults that never strike in a way of paging: a scroll is frozen.
CANNOT_HAPPEN = {("scroll", "moves"), ("windows", "moves")}

EVERYTHING = list(range(1, TOTAL + 1))


@pytest.mark.slow
def test_the_catalogue_goes_each_way(exchange: Sandbox, way: str) -> None:
    """The ways differ in their calls, so that the cases below test what they say."""
    exchange.requests.clear()
    assert EVERYTHING == contents(loaded(exchange, way))
    bodies = [body for _, path, body in exchange.requests if path.endswith("/list")]
    # What changed meanwhile, and the list of all keys, come by scroll in any case.
    pulled = [body for body in bodies if not {"updated_at_from", "filter_source_include"} & body.keys()]
    assert (way == "offset") == any("offset" in body for body in pulled)
    assert (way == "scroll") == any(body.get("next_page") for body in pulled)
    assert (way == "windows") == any("updated_at_to" in body for body in bodies)


#: What nobody gets over by trying again: the address is wrong, or leads to somewhere else.
FINAL = {"404", "redirect"}
#: Options that make a fault short.
SHORT: dict[str, dict[str, Any]] = {
    "429": {"retry_after": 0},
    **{kind: {"seconds": 0.01} for kind in ("latency", "stalled", "slow")},
}


@dataclass
class Received:
    """What a load received and decided to build, in place of the catalogue."""

    ids: list[int]
    complete: bool


def received(exchange: Sandbox, way: str, folder: Path) -> Received:
    """Fetch everything, and decide which copy of each product comes into the snapshot.

    To build the tables takes as long as to fetch the pages, and depends on nothing but what was decided.
    """
    question = {
        "began": datetime.now(UTC).isoformat(),
        "windows": 0 if way == "scroll" else 3,
        # Three pages, so that a call is before, on and after the middle one.
        "page_size": 2 * PAGE,
    }
    journal = LoadJournal.begin(folder, question)
    fetch = Fetch(connected(exchange).for_load(), ProductQuery(), journal)
    fetch.pull()
    if fetch.is_doubtful:
        fetch.reconcile()
    made = plan(journal, gtins_in=(), cores=2)
    require_complete("The load", made.ledger, journal, allow_incomplete=False)
    pages = [page for part in made.parts for page in part.pages]
    products = [json.loads(one) for page, indexes in pages for one in journal.products(page, indexes)]
    return Received(sorted(one["id"] for one in products), made.ledger.complete)


#: Of each class of fault the one that is tried at every call, and the ways. Trying again is in one place for all calls
#: of all ways; what mends lost cursors and lost products differs from way to way.
AT_EVERY_CALL = {
    "truncated": ["scroll"],
    "503": ["offset"],
    "stalled": ["scroll"],
    "damaged": ["scroll"],
    "lost-cursor": ["offset", "scroll", "windows"],
    "drops": ["offset", "scroll", "windows"],
}

#: The calls of each way. By windows 27 are made, of which most are alike: of the counts, of the first and the later
#: pages of windows some are struck, and all others.
CALLS = {
    "offset": range(1, 11),
    "scroll": range(1, 11),
    "windows": (1, 2, 3, 5, 10, 12, 14, 17, 19, 22, 24, 25, 26, 27),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "kind"),
    [(way, kind) for kind, ways in AT_EVERY_CALL.items() for way in ways],
    indirect=["way"],
)
def test_a_fault_at_any_call_costs_no_product(exchange: Sandbox, way: str, kind: str, tmp_path: Path) -> None:
    """One fault of each class, at each call of a load: everything comes once, although something really went wrong."""
    options = SHORT.get(kind, {})
    struck, most = 0, 0
    for call in CALLS[way]:
        exchange.order(Fault(kind, at=call, **options))
        before, hits = len(exchange.requests), len(exchange.faults_hit)
        came = received(exchange, way, tmp_path / "journal")
        calls = sum(path.endswith("/list") for _, path, _ in exchange.requests[before:])
        hit = len(exchange.faults_hit) - hits
        struck, most = struck + hit, most if hit else max(most, calls)
        exchange.clear_faults()
        assert (EVERYTHING, True) == (came.ids, came.complete), f"{kind} at call {call}"
    assert struck
    assert most <= CALLS[way][-1], "a load makes more calls than are struck"


#: Faults that are mended in another way by each way of paging; of all others a call is tried again, and each of them
#: goes one way, in turn.
BY_WAY = {"lost-cursor", "drops", "repeats", "moves", "damaged"}
KINDS = [kind for kind in FAULTS if kind not in {"call", *FINAL}]
IN_A_LOAD = [
    (way, kind)
    for number, kind in enumerate(KINDS)
    for place, way in enumerate(WAYS)
    # What is struck at every call of all ways comes to the snapshot in one of them.
    if (kind in BY_WAY and len(AT_EVERY_CALL.get(kind, ())) < len(WAYS)) or number % len(WAYS) == place
]


@pytest.mark.slow
@pytest.mark.parametrize(("way", "kind"), IN_A_LOAD, indirect=["way"])
def test_a_fault_costs_no_product_of_a_snapshot(exchange: Sandbox, way: str, kind: str) -> None:
    """Each fault, in the middle of a load: everything is in the snapshot once."""
    hits = len(exchange.faults_hit)
    at = (
        range(5, 10**9) if kind == "repeats" else 5
    )  # of windows, the fifth call begins one, and nothing is before it
    exchange.order(Fault(kind, at=at, **SHORT.get(kind, {})))
    catalog = loaded(exchange, way)
    exchange.clear_faults()
    assert (EVERYTHING, True) == (contents(catalog), catalog.complete)
    if (way, kind) in CANNOT_HAPPEN:
        assert hits == len(exchange.faults_hit)
    elif kind not in AT_EVERY_CALL:
        assert hits < len(exchange.faults_hit)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(FINAL))
def test_what_trying_again_does_not_help_is_an_error(exchange: Sandbox, way: str, kind: str) -> None:
    """It is reported at once, what was received is kept, and the same call continues when the service is back."""
    exchange.order(Fault(kind, at=4))
    if (way, kind) == (
        "scroll",
        "404",
    ):  # it may mean that the cursor is lost, and then the scroll begins again
        assert EVERYTHING == contents(loaded(exchange, way))
        return
    with pytest.raises((RequestRefused, RedirectRefused)) as told:
        loaded(exchange, way)
    assert [kind] == [hit.kind for hit in exchange.faults_hit[-1:]]
    assert any("continues from there" in note for note in told.value.__notes__)
    exchange.clear_faults()
    assert EVERYTHING == contents(loaded(exchange, way))


#: What a service is always like -> the ways of paging that meet it, and the settings.
BEHAVIOURS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "equal cursors": (("scroll", "windows"), {"cursor_changes": False}),
    "an empty page ends a scroll": (("scroll",), {"scroll_end": ScrollEnd.EMPTY_PAGE}),
    "no cursor ends a scroll": (("windows",), {"scroll_end": ScrollEnd.NO_CURSOR}),
    "a null cursor ends a scroll": (("scroll",), {"scroll_end": ScrollEnd.NULL_CURSOR}),
    "a scroll never ends": (("scroll", "windows"), {"endless_scroll": True}),
    "the service's clock is fast": (("windows",), {"clock_skew": 7200}),
    "the service's clock is slow": (("offset",), {"clock_skew": -7200}),
    "updated_at_from excludes its second": (("windows",), {"exclusive_from": True}),
    "updated_at_to excludes its second": (("windows",), {"exclusive_to": True}),
    "both bounds exclude their second": (tuple(WAYS), {"exclusive_from": True, "exclusive_to": True}),
    "a token lives a moment only": (("scroll",), {"token_lifetime": 1.05}),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "behaviour"),
    [(way, behaviour) for behaviour, (ways, _) in BEHAVIOURS.items() for way in ways],
    indirect=["way"],
)
def test_what_a_service_is_always_like_costs_no_product(way: str, behaviour: str) -> None:
    """Everything comes once, while products are changed, added and removed as it is pulled."""
    _, settings = BEHAVIOURS[behaviour]
    with Sandbox(records(), behaviour=Behaviour(**settings)) as sandbox:
        costs_no_product(sandbox, way)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["scroll", "windows"], indirect=True)
def test_cursors_that_expire_cost_no_product(way: str) -> None:
    """Two minutes pass at once every few pages, so that all cursors are lost; still everything comes once."""
    with Sandbox(records(), clock=LeapingClock()) as sandbox:
        # Small pages, so that a window has several: a cursor that is lost after all products came begins nothing again.
        assert EVERYTHING == contents(loaded(sandbox, way, page_size=8))
        begun = [page for page in pages_asked(sandbox) if '"next_page": ""' in page]
        assert len(set(begun)) < len(begun), "no scroll was begun again"
        costs_no_product(sandbox, way)


def costs_no_product(sandbox: Sandbox, way: str) -> None:
    """Check that a load is whole, and another while products are changed, added and removed."""
    assert EVERYTHING == contents(loaded(sandbox, way))
    known = records()
    for call, number in ((2, 3), (4, 60), (6, 95), (9, 20)):
        sandbox.at_call(call, lambda number=number: sandbox.change([known[number]]))
    sandbox.at_call(5, lambda: sandbox.change([{**known[0], "id": 900, "gtin": "00000000009000"}]))
    sandbox.at_call(7, lambda: sandbox.remove([known[8], known[109]]))
    catalog = loaded(sandbox, way)
    gone = {known[8]["id"], known[109]["id"]}
    assert (True, [i for i in [*EVERYTHING, 900] if i not in gone]) == (
        catalog.complete,
        contents(catalog),
    )


def outcome(sandbox: Sandbox, way: str) -> tuple[bool, list[int]] | None:
    """Return whether a load says that it is complete, and what it holds; None where it raises an error of ours."""
    try:
        catalog = loaded(sandbox, way)
    except (ServiceError, IncompleteLoad):
        return None
    return catalog.complete, contents(catalog)


@pytest.mark.slow
def test_totals_that_shrink_are_told(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If later pages announce and contain less, the listing finds the rest; if that shrinks too, it is reported."""
    with Sandbox(records(), behaviour=Behaviour(total_shrinks=2)) as sandbox:
        assert (True, EVERYTHING) == outcome(sandbox, way)
        monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", PAGE)
        with pytest.raises(IncompleteLoad, match=f"of {TOTAL} products"):
            loaded(sandbox, way)


#: For good: what ends a load is tried in one way each, what costs products or cursors in each way that meets it.
LASTING = {
    "500": ["offset"],
    "garbage": ["windows"],
    "cut": ["scroll"],
    "401": ["windows"],
    "lost-cursor": ["scroll", "windows"],
    "drops": list(WAYS),
    "repeats": list(WAYS),
    "moves": ["offset"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "kind"), [(way, kind) for kind, ways in LASTING.items() for way in ways], indirect=["way"]
)
def test_a_fault_that_lasts_is_an_error_or_costs_nothing(exchange: Sandbox, way: str, kind: str) -> None:
    """From the third call on, for good; and once it is over, the same load is whole."""
    exchange.order(Fault(kind, at=range(3, 10**9)))
    assert outcome(exchange, way) in (None, (True, EVERYTHING))
    exchange.clear_faults()
    assert (True, EVERYTHING) == outcome(exchange, way)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["offset", "scroll"], indirect=True)
def test_a_page_that_never_comes_is_made_up_for(exchange: Sandbox, way: str) -> None:
    """With allow_incomplete, a window that the service fails to send is skipped, and its products come by GTIN."""
    exchange.order(Fault("garbage", at=4, times=6))
    with pytest.raises(UnexpectedReply, match="failed 6 times") as raised:
        loaded(exchange, way)
    assert [
        "Everything received so far is kept: the same call continues from there."
    ] == raised.value.__notes__
    exchange.clear_faults()
    shutil.rmtree(snapshots_folder())

    exchange.order(Fault("garbage", at=4, times=6))
    catalog = loaded(exchange, way, allow_incomplete=True)
    exchange.clear_faults()
    assert (True, EVERYTHING) == (catalog.complete, contents(catalog))


def test_pages_that_never_come_are_listed(exchange: Sandbox) -> None:
    """Where nothing helps, the list says what could not be loaded and why."""
    exchange.order(Fault("garbage", at=range(3, 10**9)))
    catalog = loaded(exchange, "offset", allow_incomplete=True)
    exchange.clear_faults()
    problems = dict(catalog.origin.ledger.problems)
    assert (False, PAGE) == (catalog.complete, len(catalog))
    assert {"pull/0", "end", "listing/0"} <= problems.keys()
    assert "its 41 bytes begin with" in problems["pull/0"]


def fetched(folder: Path, pages: dict[str, list[dict[str, Any]]], total: int) -> LoadJournal:
    """Write a journal by hand: the products of each window on one page."""
    journal = LoadJournal.begin(folder, {"began": "2026-11-20T08:00:00+00:00"})
    moment = datetime(2026, 11, 20, 8, tzinfo=UTC)
    for window in ("pull/0", "end/0"):
        journal.count(window, total, moment)
    for window, products in pages.items():
        body = json.dumps({"totalResults": len(products), "data": products}).encode()
        page = ProductPage(body, split(body), moment, moment)
        journal.add(window, body, page.envelope, page.identities, received_at=moment, cursor="")
    return journal


@pytest.mark.parametrize("gtin", [None, "to follow", "123456789012345"])
def test_a_product_that_cannot_be_asked_for_is_named(gtin: str | None, tmp_path: Path) -> None:
    """It was on no page that was pulled, the listing names it, and it has no GTIN to ask for it by."""
    known = records(60)
    nameless = {**known.pop(50), "gtin": gtin}
    journal = fetched(tmp_path / "journal", {"pull/0": known, "listing/0": [*known, nameless]}, 60)
    came = newest(journal)
    ledger = ledger_of(journal, came, absence_of(journal, came))
    ((product, reason),) = ledger.problems
    assert not ledger.complete
    assert f"product 51, GTIN {gtin}" == product
    assert "has no GTIN to ask for it by" in reason

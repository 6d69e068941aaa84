"""Loads and refreshes of a service that nobody here made: whole, or one of our errors; `make soak` runs all cases."""

from __future__ import annotations

import itertools
import re
from contextlib import suppress

import pytest

import prodex
from prodex.errors import AuthenticationFailed, IncompleteLoad, UnexpectedReply
from prodex.limits import Spending
from tests.cases import each_row
from tests.load.exchange import WAYS, paged
from tests.load.strange import PAGE, Case, cases, connected, judged
from tests.stranger import Stranger, products
from tests.stranger.catalogue import gtin_of

#: Of all cases of `make soak`, one in so many.
_ONE_IN = 10
#: Pairs of traits, where `make soak` has 150.
_PAIRS = 60

#: Products that are cut into windows where these begin at 200, on pages of 100.
_CUT_EARLY, _LONG = 520, 100
#: Products on as many pages of these as 1,200 are on pages of 500.
_FEW_MORE = 240


@pytest.mark.slow
@pytest.mark.parametrize("case", list(itertools.islice(cases(_PAIRS), 3, None, _ONE_IN)), ids=str)
def test_a_strange_service_costs_no_product(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """None is lost, stale or invented, nothing hangs, and every error is one of ours."""
    paged(case.way, monkeypatch)
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", PAGE)
    became = judged(case)
    assert became.is_good, became


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_an_empty_page_as_null_ends_a_window_and_costs_no_call(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A load is whole, in as many calls as with an empty list; null for ever in place of products is an error."""
    paged(way, monkeypatch)
    calls = []
    for traits in ({}, {"empty_page_null": True}):
        with Stranger(130, traits) as stranger:
            catalog = prodex.load_products(connected(stranger), name="null", progress=False)
            assert (130, True) == (len(catalog), catalog.complete)
            calls.append(stranger.count())
    assert calls[0] == calls[1]

    with Stranger(130, {"data_null_for_ever": True}) as stranger:
        with pytest.raises(UnexpectedReply, match="null in place of products"):
            prodex.load_products(connected(stranger, seconds=0.5), name="never", progress=False)
        assert stranger.count() < 100


@pytest.mark.slow
def test_after_a_revoked_key_the_same_client_loads_again() -> None:
    """A load ends while the key is refused; when the service is well, the next load of the client is whole."""
    policy = prodex.service.RetryPolicy(attempts=4, first_wait=0.001, longest_wait=0.01, jitter=0)
    with Stranger(130, {"key_revoked_for_a_while": {"reads": 40}}) as stranger:
        credentials = {"client_id": stranger.client_id, "client_secret": stranger.client_secret}
        client = prodex.connect(base_url=stranger.url, **credentials, retry=policy)
        with pytest.raises(AuthenticationFailed, match="new token"):
            prodex.load_products(client, name="revoked", progress=False)
        while stranger.count() < 42:
            with suppress(AuthenticationFailed):
                client.count()
        assert 130 == len(prodex.load_products(client, name="revoked", progress=False))


def cut_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pulls be cut into windows that are as small beside these products as windows are beside a catalogue."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", _LONG)
    monkeypatch.setattr("prodex.service.paging.SCROLL_FROM", 2 * _LONG)
    monkeypatch.setattr("prodex.load.windows.LARGEST", 2 * _LONG)
    monkeypatch.setattr("prodex.load.windows.SMALLEST", _LONG)


#: The last announces as many as search engines do at most, beside how many there are.
TOO_LOW: list[dict[str, object]] = [
    *(
        {lie: True}
        for lie in ("total_zero", "total_hundred", "total_is_page_size", "total_absent", "total_null")
    ),
    {"total_capped": 2 * _LONG},
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lie", "windows"),
    [*((lie, 4) for lie in TOO_LOW), ({"total_zero": True}, 0), ({"total_capped": 2 * _LONG}, 0)],
    ids=str,
)
def test_a_total_that_is_too_low_costs_no_product(
    lie: dict[str, object], windows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All products came, so all are kept, the load is whole, and a note says what the service announced."""
    cut_early(monkeypatch)
    with Stranger(_CUT_EARLY, lie) as stranger:
        catalog = prodex.load_products(
            connected(stranger), name="many", windows=windows, page_size=_LONG, progress=False
        )
    assert (_CUT_EARLY, True) == (len(catalog), catalog.complete)
    assert any("announced" in note for note in catalog.origin.ledger.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lie", "windows"), [("total_huge", 0), ("total_beyond_64_bits", 4), ("total_huge", 4)]
)
def test_a_total_that_is_too_high_is_incomplete_and_ends(
    lie: str, windows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came is kept, a bounded number of calls is made, and no loop or array is sized by the total."""
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", _LONG)
    with Stranger(_FEW_MORE, [lie]) as stranger:
        client = connected(stranger)
        with pytest.raises(IncompleteLoad, match=f"{_FEW_MORE} of "):
            prodex.load_products(client, name="few", windows=windows, progress=False)
        assert stranger.count() < 25
        catalog = prodex.load_products(
            client, name="few", windows=windows, allow_incomplete=True, progress=False
        )
    assert (_FEW_MORE, False) == (len(catalog), catalog.complete)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lie", ["dates_ignored", "date_from_ignored", "date_to_ignored", "filters_ignored", "lists_ignored"]
)
def test_bounds_that_are_ignored_cut_no_pull_to_pieces(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that each announce everything are not cut again; one scroll brings all, and a note says why."""
    cut_early(monkeypatch)
    with Stranger(_CUT_EARLY, [lie]) as stranger:
        catalog = prodex.load_products(connected(stranger), name="many", page_size=_LONG, progress=False)
        # Where only lists are ignored, windows are cut as usual, which takes 32 calls.
        assert stranger.count() < (40 if lie == "lists_ignored" else 25)
    assert (_CUT_EARLY, True) == (len(catalog), catalog.complete)


@pytest.mark.slow
def test_products_that_come_and_go_unseen_are_noticed() -> None:
    """Two left and two arrived in the middle, dated long ago: the numbers agree, and yet the catalogue is right."""
    with Stranger(230, ["scroll_refused"]) as stranger:
        client = connected(stranger)
        ids = stranger.ids()

        def happen(_: object) -> None:
            for key in ids[3:5]:
                stranger.remove(key)
            for number in (1, 2):
                old = stranger.products[ids[0]]
                stranger.put({**old, "id": 900_000 + number, "gtin": gtin_of(500_000_000_000 + number)})

        stranger.at_call(6, happen)
        catalog = prodex.load_products(client, name="moving", progress=False)
        assert sorted(map(str, stranger.ids())) == sorted(catalog.products["product_id"])
        stranger.at_call(stranger.count() + 2, lambda _: stranger.remove(ids[9]))
        catalog = prodex.refresh("moving", client, progress=False)
        assert sorted(map(str, stranger.ids())) == sorted(catalog.products["product_id"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "clocks",
    [
        {"date_ahead": 5},
        {"date_ahead": 5, "updated_in_local_time": 2},
        {"updated_in_local_time": -5, "dates_compared_as_local_time": -5},
        {"dates_compared_as_local_time": 2},
        {"dates_compared_as_local_time": -8},
        {"date_absent": True, "updated_in_local_time": -8},
        {"date_behind": -5},
        {"date_far": True},
    ],
    ids=str,
)
def test_clocks_that_disagree_cost_no_change(clocks: dict[str, object]) -> None:
    """What changes during a load and after it is found, without a listing of everything."""
    with Stranger(products(120), clocks) as stranger:
        client = connected(stranger)

        def change(life_cycle: int) -> None:
            record = stranger.products[stranger.ids()[7 * life_cycle]]
            stranger.put({**record, "lifeCycle": 100 + life_cycle, "updatedAt": _iso(stranger)})

        change(1)
        stranger.at_call(3, lambda _: change(2))
        prodex.load_products(client, name="clocks", page_size=20, progress=False)
        change(3)
        catalog = prodex.refresh("clocks", client, sweep=False, progress=False)
        expected = {str(key): one["lifeCycle"] for key, one in stranger.products.items()}
    frame = catalog.products
    assert expected == dict(zip(frame["product_id"], frame["life_cycle"], strict=True))
    if "date_ahead" in clocks:
        assert any("clock" in note for note in catalog.origin.ledger.notes)


def _iso(stranger: Stranger) -> str:
    from tests.stranger.catalogue import iso

    return iso(stranger.now())


def test_a_budget_that_is_spent_keeps_what_came() -> None:
    """The load ends at its limit, reports it, and keeps what was received if that is allowed."""
    budget = prodex.limits.LoadBudget(calls=4)
    with Stranger(1_000) as stranger:
        client = connected(stranger)
        with pytest.raises(IncompleteLoad, match="budget of the load is spent \\(4 of 4 calls\\)"):
            prodex.load_products(client, name="dear", page_size=100, budget=budget, progress=False)
        assert stranger.count() < 12
        catalog = prodex.load_products(
            client, name="dear", page_size=100, budget=budget, allow_incomplete=True, progress=False
        )
    assert (400, False) == (len(catalog), catalog.complete)
    # Why it is incomplete is no number of products: 600 are missing.
    assert str(catalog.origin.ledger).startswith("400 of 1,000 products, ")
    assert re.search(r", [0-9]+ parts? of the load failed", str(catalog.origin.ledger))


@each_row(("limit", "said"), [(0.5, "0.5 seconds"), (1.5, "1.5 seconds"), (2, "2 of 2 seconds")])
def test_a_budget_of_less_than_a_second_is_said_as_it_is(limit: float, said: str) -> None:
    """A limit is never rounded to a number that was not reached, or to none."""
    times = iter([0.0, 2.4])
    spent = Spending(prodex.limits.LoadBudget(seconds=limit), clock=lambda: next(times))
    assert f"the budget of the load is spent ({said})" == spent.exceeded()


@pytest.mark.slow
@each_row("odd", ["product_null_before", "product_with_nan", "product_with_infinity"])
def test_an_odd_item_among_products_that_all_came_leaves_them_whole(odd: str) -> None:
    """Null among the products, or one product with a number that is none: each is listed, and costs nothing else."""
    with Stranger(120, [odd]) as stranger:
        catalog = prodex.load_products(connected(stranger), name="odd", progress=False)
    assert (120, True) == (len(catalog), catalog.complete)
    assert ("null" in odd) != (catalog.problems["what"].tolist() == ["lifeCycle"])
    assert len(catalog.problems)


@pytest.mark.slow
@pytest.mark.parametrize("story", ["nothing", "changes"])
def test_records_that_name_no_product_are_never_called_whole(
    story: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number that agrees proves nothing where nobody knows which products came."""
    paged("windows", monkeypatch)
    monkeypatch.setattr("prodex.service.paging.LARGEST_PAGE", PAGE)
    became = judged(Case({"products_wrapped": True}, "windows", story))
    assert "refused" == became.outcome, became.detail
    with Stranger(products(40), {"products_wrapped": True}) as stranger:
        catalog = prodex.load_products(
            connected(stranger), name="nameless", progress=False, allow_incomplete=True
        )
    assert not catalog.complete
    assert "records have neither id, uuid nor GTIN" in str(catalog.origin.ledger.not_loaded)

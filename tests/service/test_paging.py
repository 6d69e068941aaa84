"""Every product of a query, page by page, whatever the service does meanwhile."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from exchange import CLIENT_ID, CLIENT_SECRET, Answer, Exchange, says
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import each_row

from prodex.errors import CursorLost, IncompleteLoad, QueryError, ServiceUnreachable, UnexpectedReply
from prodex.query import ProductQuery
from prodex.service import Client, RetryPolicy, pages
from prodex.service.paging import SCROLL_FROM
from prodex.service.settings import Settings


def ids(taken):
    """Return the ids of all products of pages, each once: offset pages overlap."""
    return list(dict.fromkeys(json.loads(bytes(one))["id"] for page in taken for one in page.envelope.data))


def envelope(data, total, offset=0, **more):
    """Write a reply by hand."""
    return says(200, {"totalResults": total, "offset": offset, "data": data, **more})


@pytest.fixture(scope="module")
def lasting():
    """One service for many examples."""
    with Exchange() as service:
        yield service


EXPIRED = says(401, "expired")
LOST = Answer(lose=True)


@pytest.mark.slow
@example((0, None), False, "absent", [LOST])
@example((100, 50), False, "null", [Answer(502), EXPIRED, None, LOST])
@example((101, 50), True, "empty", [None, None, LOST])
@example((SCROLL_FROM - 1, 500), False, "empty", [None, LOST, Answer(200, b"{")])
@example((SCROLL_FROM, 500), True, "absent", [None, EXPIRED, LOST, None, Answer(502)])
@given(
    total_and_page_size=st.tuples(st.integers(0, 130), st.none() | st.integers(1, 140))
    | st.tuples(st.integers(SCROLL_FROM - 9, SCROLL_FROM + 99), st.none() | st.integers(300, 500)),
    same_cursor=st.booleans(),
    ends_by=st.sampled_from(["empty", "absent", "null"]),
    faults=st.lists(
        st.sampled_from([None, Answer(502), Answer(200, b"{"), LOST, EXPIRED]), max_size=6
    ).filter(
        lambda faults: (EXPIRED, EXPIRED) not in pairwise(faults)  # which is an error by contract
    ),
)
def test_every_product_comes_once(lasting, total_and_page_size, same_cursor, ends_by, faults):
    """Law 3: with any total, page size, way of paging and passing fault, each product is received once, or reported.

    Only a reply that is lost on the way can cost products, where the cursor does not say which page is meant.
    """
    total, page_size = total_and_page_size
    lasting.total, lasting.same_cursor, lasting.ends_by = total, same_cursor, ends_by
    lasting.answers.clear()
    lasting.answers.extend(faults)
    retry = RetryPolicy(attempts=10, first_wait=0, jitter=0, retries_per_second=1_000)
    client = Client(Settings(lasting.base_url, CLIENT_ID, CLIENT_SECRET), retry=retry)
    ledgers = []
    taken = list(pages(client, page_size=page_size, report=ledgers.append))
    (ledger,) = ledgers
    if not ledger.complete:
        assert (True, True) == (LOST in faults, same_cursor)
        assert ledger.distinct < total == ledger.announced_last
        return
    assert list(range(total)) == ids(taken)
    assert (total, total, total) == (ledger.distinct, ledger.announced, ledger.announced_last)
    assert sum(map(len, taken)) == ledger.received


def test_below_ten_thousand_pages_go_by_offset(client, exchange):
    """Fewer than 10,000 products come in offset pages of 50, after a probe for one uuid.

    Each begins with the last two products of the page before; the end is a page that brings those two alone.
    """
    exchange.total = 120
    list(pages(client))
    probe, *calls = [call.content for call in exchange.product_calls]
    assert {"limit": 1, "filter_source_include": ["uuid"]} == probe
    assert [{"limit": 50, "offset": offset} for offset in (0, 48, 96, 118)] == calls


@pytest.mark.parametrize(("total", "scrolls"), [(SCROLL_FROM - 1, False), (SCROLL_FROM, True)])
def test_from_ten_thousand_on_they_come_by_scroll(client, exchange, total, scrolls):
    """From 10,000 products on, pages of 500 are scrolled: an empty next_page first, then the cursor."""
    exchange.total = total
    taken = pages(client, page_size=500)
    first, second = next(taken), next(taken)
    contents = [call.content for call in exchange.product_calls[1:]]
    assert (500, 500) == (len(first), len(second))
    if scrolls:
        assert [{"limit": 500, "next_page": ""}, {"limit": 500, "next_page": first.next_page}] == contents
    else:
        assert [{"limit": 500, "offset": 0}, {"limit": 500, "offset": 498}] == contents


@pytest.mark.slow
@each_row("total", [SCROLL_FROM - 1, SCROLL_FROM, SCROLL_FROM + 1])
def test_both_ways_meet_at_their_border(client, exchange, total):
    """Just below and just above the border all products come."""
    exchange.total = total
    assert list(range(total)) == ids(pages(client, page_size=500))


def test_a_cursor_may_stay_equal(client, exchange):
    """Equal cursors do not end a scroll."""
    exchange.total, exchange.same_cursor = SCROLL_FROM + 700, True
    assert SCROLL_FROM + 700 == sum(len(page) for page in pages(client))


def test_a_scroll_ends_on_an_empty_page(client, exchange):
    """Although all that was announced has come: a total is a claim, and there may be more."""
    exchange.total = SCROLL_FROM
    list(pages(client))
    assert 1 + SCROLL_FROM // 500 + 1 == len(exchange.product_calls)


@each_row("announced", [None, 0, 100, 500, "100", -1])
def test_a_total_ends_no_scroll(client, exchange, announced):
    """All products of a service are received, even if it announces fewer."""
    data = [[{"id": page * 500 + index} for index in range(500)] for page in range(3)]
    exchange.answers.append(envelope([{"id": 0}], SCROLL_FROM))
    exchange.answers.extend(envelope(page, announced, next_page="7") for page in [*data, []])
    ledgers = []
    assert list(range(1_500)) == ids(pages(client, report=ledgers.append))
    assert not ledgers[0].complete  # the first total was 10,000


def test_a_service_may_give_smaller_pages(client, exchange):
    """If a page has fewer products than requested, the next offset follows from what was received."""
    exchange.total = 5
    exchange.answers.extend(
        [
            None,
            envelope([{"id": 0}, {"id": 1}], 5),
            envelope([{"id": 1}, {"id": 2}], 5, 1),
            envelope([{"id": 2}, {"id": 3}, {"id": 4}], 5, 2),
            envelope([{"id": 4}], 5, 4),
        ]
    )
    assert list(range(5)) == ids(pages(client, page_size=50))
    assert [0, 1, 2, 4] == [call.content["offset"] for call in exchange.product_calls[1:]]


def test_a_page_that_does_not_continue_the_one_before_is_told(client, exchange):
    """Products came or went, or another page came than was asked for: others may have been skipped."""
    exchange.answers.extend([None, None, envelope([{"id": 0}], 120, 0)])
    with pytest.raises(IncompleteLoad, match="products were added or removed between its pages"):
        list(pages(client))


@pytest.mark.parametrize("total", [4, SCROLL_FROM])
def test_more_than_asked_for_is_kept(client, exchange, total):
    """If a service ignores the page size, all products that it sends are kept."""
    exchange.total = total
    exchange.answers.extend(
        [None, envelope([{"id": index} for index in range(4)], 4), envelope([{"id": 3}], 4, 3)]
    )
    ledgers = []
    assert list(range(4)) == ids(pages(client, page_size=3, report=ledgers.append))


def test_without_any_total_nothing_is_called_whole(client, exchange):
    """The service announces nothing on any page: an empty page may be the end, or not."""
    some = [{"id": index} for index in range(20)]
    exchange.answers.extend(
        [envelope(some[:1], None), envelope(some, None), envelope(some[18:], None, 18)] * 2
    )
    ledgers = []
    assert list(range(20)) == ids(pages(client, report=ledgers.append))
    assert (False, None, None, 20) == (
        ledgers[0].complete,
        ledgers[0].announced,
        ledgers[0].announced_last,
        ledgers[0].distinct,
    )
    with pytest.raises(
        IncompleteLoad, match="20 products were received, but the service announced no number"
    ):
        ids(pages(client))


@each_row("at", [0, 1, 2])
@each_row("announced", [None, -1, "120", "many", 120.0, 2**70])
def test_a_total_that_is_no_count_costs_nothing(client, exchange, at, announced):
    """On the probe or on any page; one that can be read is read, and one that no service can have is a claim."""
    exchange.total = 120
    first = 48 * max(0, at - 1)
    some = [{"id": index} for index in range(first, min(first + (1 if at == 0 else 50), 120))]
    exchange.answers.extend([None] * at + [envelope(some, announced, first)])
    ledgers = []
    taken = ids(pages(client, page_size=50, report=ledgers.append))
    assert list(range(120)) == [one for one in taken if one < 120]
    assert ledgers[0].complete == (announced != 2**70)


def test_a_scroll_that_never_ends_is_an_error(client, exchange):
    """If a service sends the same page for ever with a growing total, the pull ends incomplete and not in a loop."""
    page = [{"id": index} for index in range(500)]
    exchange.answers.append(envelope([{"id": 0}], SCROLL_FROM))
    exchange.answers.extend(envelope(page, 10**9 + number, next_page="7") for number in range(100))
    with pytest.raises(
        IncompleteLoad, match="500 products were received, but the service announced 1,000,000,00"
    ):
        list(pages(client))
    assert 1 + 1 + 3 == len(exchange.product_calls)


def test_a_scroll_that_is_cut_short_is_incomplete(client, exchange):
    """A scroll that ends before all have come raises, and a report tells the same without raising."""
    exchange.total = SCROLL_FROM
    exchange.answers.extend([None, None, envelope([], SCROLL_FROM, next_page="7")])
    with pytest.raises(IncompleteLoad, match="500 products were received, but the service announced 10,000"):
        list(pages(client))
    exchange.answers.extend([None, None, envelope([], SCROLL_FROM, next_page="7")])
    ledgers = []
    assert 500 == len(ids(pages(client, report=ledgers.append)))
    (ledger,) = ledgers
    assert (SCROLL_FROM, SCROLL_FROM, 500) == (ledger.announced, ledger.announced_last, ledger.received)
    assert not ledger.complete


def test_a_page_that_is_lost_on_the_way_is_missed(client, exchange):
    """Where the cursor stays equal, a reply that is lost takes its products along, and the pull is incomplete."""
    exchange.total, exchange.same_cursor = SCROLL_FROM, True
    exchange.answers.extend([None, None, LOST])
    with pytest.raises(
        IncompleteLoad, match="9,500 products were received, but the service announced 10,000"
    ):
        list(pages(client))


def test_an_offset_page_that_is_empty_too_soon_is_incomplete(client, exchange):
    """An empty page before the end stops offset pages, and the missing products are reported."""
    exchange.answers.extend([None, None, envelope([], 120, 50)])
    with pytest.raises(IncompleteLoad, match="50 products were received, but the service announced 120"):
        list(pages(client))


def test_a_total_that_grows_is_followed(client, exchange):
    """Products that appear during the pull are taken, and the report shows that the total moved."""
    exchange.total = 120
    ledgers = []
    taken = pages(client, report=ledgers.append)
    first = next(taken)
    exchange.total = 130
    assert list(range(130)) == ids([first, *taken])
    (ledger,) = ledgers
    assert (120, 130, 130) == (ledger.announced, ledger.announced_last, ledger.distinct)
    assert ledger.complete


def test_a_total_that_shrinks_ends_sooner(client, exchange):
    """Products that vanish during the pull are not waited for, and the report shows it."""
    ledgers = []
    taken = pages(client, report=ledgers.append)
    first = next(taken)
    exchange.total = 70
    assert list(range(70)) == ids([first, *taken])
    (ledger,) = ledgers
    assert (120, 70, 70) == (ledger.announced, ledger.announced_last, ledger.distinct)
    assert not ledger.complete


def test_products_that_vanish_from_a_page_before_are_told(client, exchange):
    """What follows does not begin where the last page ended."""
    taken = pages(client)
    next(taken)
    next(taken)
    exchange.total = 60
    with pytest.raises(
        IncompleteLoad,
        match="98 products were received, but the service announced 120; products were added or",
    ):
        list(taken)


def test_a_total_that_outgrows_offsets_is_incomplete(client, exchange):
    """When the total passes what offset pages reach, the pull ends incomplete instead of being refused."""
    exchange.total = SCROLL_FROM - 1
    taken = pages(client, page_size=450)
    next(taken)
    exchange.total = SCROLL_FROM + 50
    with pytest.raises(
        IncompleteLoad, match="10,000 products were received, but the service announced 10,050; offset pages"
    ):
        list(taken)
    assert {SCROLL_FROM} == {
        call.content["offset"] + call.content["limit"] for call in exchange.product_calls[-1:]
    }


def test_a_lost_cursor_ends_the_pull(client, exchange):
    """A cursor that the service forgot ends the pull with what to do; nothing is silently started again."""
    exchange.total = SCROLL_FROM
    taken = pages(client)
    next(taken)
    exchange._positions.clear()
    with pytest.raises(CursorLost, match="start the scroll again"):
        next(taken)


def test_a_scroll_survives_a_revoked_token(client, exchange):
    """A 401 in the middle of a scroll is mended with a new token, and no product is lost."""
    exchange.total = SCROLL_FROM + 1
    taken = pages(client)
    first = next(taken)
    exchange.tokens.clear()
    assert list(range(SCROLL_FROM + 1)) == ids([first, *taken])
    assert 2 == len(exchange.token_calls)


def test_a_service_that_stays_away_is_an_error(client, exchange):
    """When the retries end in the middle, the error of the service is raised."""
    exchange.answers.extend([None, None, *[Answer(502)] * 4])
    taken = pages(client)
    next(taken)
    with pytest.raises(ServiceUnreachable):
        next(taken)


def test_long_lists_of_gtins_are_cut_and_missing_ones_told(client, exchange):
    """GTINs are asked for 200 at a time; those that never came are listed, in the order they were asked."""
    exchange.total = 0
    wanted = ["00000000000003", "99", *(f"{number:014d}" for number in range(100, 400)), "88"]
    exchange.answers.extend(
        [
            envelope([{"id": 1}], 2),
            envelope([{"gtin": "00000000000003"}, None], 2),
            envelope([None], 2),
            envelope([{"id": 1}], 1),
            envelope([{"gtin": 399, "deep": json.loads("[" * 400 + "]" * 400)}], 1),
            envelope([], 1),
        ]
    )
    ledgers = []
    taken = list(pages(client, ProductQuery(gtins_in=wanted, tags_in="a"), report=ledgers.append))
    assert [200, 200, 200, 103, 103, 103] == [
        len(call.content["filter_gtins_in"]) for call in exchange.product_calls
    ]
    assert {"a"} == {call.content["filter_tags_in"] for call in exchange.product_calls}
    (ledger,) = ledgers
    assert (4, 4, 3, 3) == (len(taken), ledger.received, ledger.announced, ledger.announced_last)
    assert "00000000000099" == ledger.missing_gtins[0]
    assert "00000000000088" == ledger.missing_gtins[-1]
    assert len(wanted) - 2 == len(ledger.missing_gtins)


def test_no_product_at_all_is_seen_on_a_page(client, exchange):
    """Where nothing is announced, one page shows that nothing comes, and the pull is complete."""
    exchange.total = 0
    ledgers = []
    assert [] == ids(pages(client, ProductQuery(gtins_in="5"), report=ledgers.append))
    assert 2 == len(exchange.product_calls)
    (ledger,) = ledgers
    assert ledger.complete
    assert ("00000000000005",) == ledger.missing_gtins


def test_pages_can_be_listed_by_get(client, exchange):
    """method="list" and "rich_content" fetch the pages by GET."""
    assert 120 == len(ids(pages(client, ProductQuery(tags_in="a"), method="list")))
    assert 120 == len(ids(pages(client, method="rich_content", page_size=100)))
    calls = exchange.product_calls
    assert ["POST", *["GET"] * 4, "POST", *["GET"] * 3] == [call.method for call in calls]
    assert {"filter_tags_in": "a", "limit": "50", "offset": "96"} == calls[3].content
    assert {"filter_source_include": "gtin,id,assets", "limit": "100", "offset": "98"} == calls[7].content


@each_row(
    ("method", "query", "cap"),
    [
        ("list", ProductQuery(), 500),
        ("list", ProductQuery(source_include="brand"), 4000),
        ("rich_content", ProductQuery(), 4000),
    ],
)
def test_what_get_cannot_reach_is_refused(client, exchange, method, query, cap):
    """GET reaches 500 products, 4,000 with chosen fields; a query with more is an error, never cut short."""
    exchange.total = cap
    assert cap == len(ids(pages(client, query, method=method, page_size=500)))
    exchange.total = cap + 1
    with pytest.raises(QueryError, match=f"{cap + 1:,} products match, and GET reaches {cap:,}"):
        next(pages(client, query, method=method))


@each_row("page_size", [0, -1, 501])
def test_page_sizes_out_of_range_are_refused(client, exchange, page_size):
    """The service takes 1 to 500 products per call."""
    with pytest.raises(QueryError, match=f"page_size is {page_size}"):
        next(pages(client, page_size=page_size))
    assert [] == exchange.calls


def test_every_page_comes_in_the_language_asked_for(client, exchange):
    """Accept-language goes along with every page."""
    list(pages(client, accept_language="fr-FR"))
    assert {"fr-FR"} == {call.headers.get("Accept-language") for call in exchange.product_calls[1:]}


def test_progress_is_told_page_by_page(client):
    """A progress function hears of every page, and of the total."""
    seen = []
    list(pages(client, progress=lambda done, total: seen.append((done, total))))
    assert [(50, 120), (98, 120), (120, 120), (120, 120)] == seen


def test_pages_are_fetched_when_they_are_asked_for(client, exchange):
    """A generator fetches no page ahead, and can be dropped in the middle."""
    taken = pages(client)
    assert [] == exchange.calls
    next(taken)
    assert 2 == len(exchange.product_calls)
    taken.close()
    assert 2 == len(exchange.product_calls)


@pytest.mark.slow
@each_row("total", [0, 120, SCROLL_FROM + 700])
@each_row("ends_by", ["empty", "absent", "null"])
def test_an_empty_page_may_be_null(make_client, exchange, total, ends_by):
    """By offset and by scroll the same products come, in the same calls, as where it is an empty list."""
    calls = []
    for empty in ([], None):
        exchange.total, exchange.ends_by, exchange.empty_list = total, ends_by, empty
        exchange.calls.clear()
        assert list(range(total)) == ids(pages(make_client(), page_size=500))
        calls.append(len(exchange.calls))
    assert calls[0] == calls[1]


@each_row("method", ["search_products", "list_products", "rich_content"])
def test_null_in_the_middle_is_no_empty_page(make_client, exchange, method):
    """Products were announced: it is tried again like any reply that cannot be read, and what then comes counts."""
    client = make_client()
    exchange.answers.extend([says(200, {"totalResults": 120, "offset": 50, "data": None})] * 2)
    assert 50 == len(getattr(client, method)(offset=50, limit=50))
    assert 3 == len(exchange.product_calls)
    exchange.answers.extend([says(200, {"totalResults": 120, "offset": 50, "data": None})] * 9)
    with pytest.raises(
        UnexpectedReply, match=r"null in place of products after 50 products, and announced 120"
    ):
        getattr(client, method)(offset=50, limit=50)

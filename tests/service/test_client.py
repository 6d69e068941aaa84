"""One method per endpoint, over real HTTP."""

from __future__ import annotations

import gzip
import threading
from datetime import UTC, datetime

import pytest
import requests
from exchange import CLIENT_ID, Answer, says
from tests.cases import each_row

from prodex.errors import CursorLost, QueryError, RequestRefused, SettingsError, UnexpectedReply
from prodex.query import ProductQuery
from prodex.service.paging import announced


def test_a_search_posts_filters_and_paging(client, exchange):
    """search_products sends the query's body with limit and offset, and returns the page as received."""
    page = client.search_products(ProductQuery(tags_in="a"), limit=3, offset=5)
    call = exchange.product_calls[0]
    assert ("POST", "/public/v1/products/list") == (call.method, call.path)
    assert {"filter_tags_in": "a", "limit": 3, "offset": 5} == call.content
    assert "application/json" == call.headers["Content-Type"]
    assert (3, 120, 5, None) == (len(page), page.total_results, page.offset, page.next_page)
    assert page.body.startswith(b'{"totalResults": 120')
    assert b'{"id": 5, "gtin": "00000000000005"}' == bytes(page.envelope.data[0])


def test_a_list_gets_text_parameters(client, exchange):
    """list_products sends the same filters as query parameters."""
    page = client.list_products(ProductQuery(target_market=250, has_packshot=True), limit=2, offset=4)
    call = exchange.product_calls[0]
    assert ("GET", "/public/v1/products") == (call.method, call.path)
    assert {
        "filter_target_market": "250",
        "filter_has_packshot": "true",
        "limit": "2",
        "offset": "4",
    } == call.content
    assert 4 == page.offset


def test_rich_content_restricts_the_fields(client, exchange):
    """rich_content asks the list for GTIN, id and assets alone."""
    client.rich_content(ProductQuery(tags_in="a", source_include=["brand"]))
    assert {"filter_tags_in": "a", "filter_source_include": "gtin,id,assets"} == exchange.product_calls[
        0
    ].content


@each_row("method", ["search_products", "list_products", "rich_content"])
def test_bodies_may_be_plain_mappings(client, exchange, method):
    """Who knows the wire may give wire names, and nothing at all asks for everything."""
    getattr(client, method)({"filter_tags_in": "a"}, limit=1)
    getattr(client, method)()
    assert "a" == exchange.product_calls[0].content["filter_tags_in"]
    assert "filter_tags_in" not in exchange.product_calls[1].content


def test_the_first_scroll_call_is_empty_by_post_and_omitted_by_get(client, exchange):
    """The first call of a scroll sends an empty next_page by POST and none by GET."""
    first = client.search_products(limit=100, next_page="")
    second = client.search_products(limit=100, next_page=first.next_page)
    client.list_products(limit=1, next_page="")
    assert ["", first.next_page] == [call.content["next_page"] for call in exchange.product_calls[:2]]
    assert "next_page" not in exchange.product_calls[2].content
    assert (100, 20) == (len(first), len(second))


def test_a_page_knows_both_clocks(client):
    """A page tells when it came by our clock and when it was sent by the service's."""
    begin = datetime.now(UTC)
    page = client.search_products()
    assert begin <= page.received_at <= datetime.now(UTC)
    assert page.server_date is not None
    assert UTC == page.server_date.tzinfo
    assert abs((page.server_date - begin).total_seconds()) < 5


def test_a_compressed_page_is_unpacked(client, exchange):
    """A page that came compressed is kept as the JSON that it is."""
    body = b'{"totalResults": 1, "offset": 0, "data": [{"id": 1}]}'
    exchange.answers.append(Answer(200, gzip.compress(body), {"Content-Encoding": "gzip"}))
    assert body == client.search_products().body


def test_an_empty_page_is_a_page(client, exchange):
    """A page without products is no false value, and neither null nor "" is a cursor."""
    for cursor in (b"null", b'""'):
        exchange.answers.append(Answer(200, b'{"totalResults": 0, "data": [], "next_page": ' + cursor + b"}"))
        page = client.search_products()
        assert page
        assert (0, None) == (len(page), page.next_page)


def test_a_cursor_that_comes_as_a_number_is_text(client, exchange):
    """A cursor is handed on as text, beyond what a double can hold."""
    exchange.answers.append(Answer(200, b'{"totalResults": 1, "data": [], "next_page": 9223372036854775807}'))
    assert "9223372036854775807" == client.search_products().next_page


def test_count_asks_for_one_uuid(client, exchange):
    """count reads totalResults from a probe."""
    assert 120 == client.count(ProductQuery(tags_in="a"))
    assert {"filter_tags_in": "a", "filter_source_include": ["uuid"], "limit": 1} == exchange.product_calls[
        0
    ].content


def test_count_cuts_long_lists_of_gtins(client, exchange):
    """A long list of GTINs is counted in several calls."""
    assert 3 * 120 == client.count(ProductQuery(gtins_in=range(450)))
    assert [200, 200, 50] == [len(call.content["filter_gtins_in"]) for call in exchange.product_calls]


@pytest.mark.parametrize("total", [b"null", b"-1"])
def test_a_total_is_needed(client, exchange, total):
    """A reply without a count of all products is not enough to tell whether all came."""
    exchange.answers.append(Answer(200, b'{"totalResults": ' + total + b', "data": []}'))
    with pytest.raises(UnexpectedReply, match="totalResults"):
        announced(client.search_products())


@each_row(("given", "sent"), [("fr-FR", "fr-FR"), ("fra-FR", "fr-FR"), ("French", "fr"), (None, None)])
def test_labels_come_in_the_language_asked_for(make_client, exchange, given, sent):
    """Accept-language is sent as a tag, or not at all."""
    make_client(accept_language=given).search_products()
    assert sent == exchange.product_calls[0].headers.get("Accept-language")


def test_the_language_can_change_for_one_call_or_one_client(make_client, exchange):
    """One call, or a client made from another, may ask for another language; the token is shared."""
    client = make_client(accept_language="fr")
    client.search_products(accept_language="de-DE")
    client.with_language("nl").list_products()
    client.search_products()
    assert ["de-DE", "nl", "fr"] == [call.headers["Accept-language"] for call in exchange.product_calls]
    assert 1 == len(exchange.token_calls)


@each_row(
    ("message", "shown"),
    [
        ({"message": "limit is too large"}, "limit is too large"),
        ({"error": {"message": "limit is too large"}}, "limit is too large"),
        ({"error": "invalid_value", "message": "limit is too large"}, "limit is too large"),
        ({"detail": [{"loc": ["limit"], "msg": "too large"}]}, '"msg": "too large"'),
        ({"errors": ["limit", "too large"]}, '["limit", "too large"]'),
        ("limit is too large", "limit is too large"),
        ({"code": 7}, '{"code": 7}'),
        ([1], "[1]"),
        ({"message": {"message": ""}}, "HTTP 400"),
    ],
)
def test_a_refusal_carries_the_words_of_the_service(client, exchange, message, shown):
    """A 4xx is an error with the service's own message, whatever the form of its JSON; it is not repeated."""
    exchange.answers.append(says(400, message))
    with pytest.raises(RequestRefused) as caught:
        client.search_products()
    assert shown in str(caught.value)
    assert 400 == caught.value.status
    assert 1 == len(exchange.product_calls)


@each_row(
    ("body", "shown"),
    [
        (b"limit is too large", "limit is too large"),
        (b"x" * 5000, "x" * 300 + "..."),
        (b"<html>Forbidden</html>", "a web page"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x"><html>no</html>', "a web page"),
        (b"<error><code>7</code><message>limit is too large</message></error>", "7 limit is too large"),
        (b"3 < 5, and limit > 500 is too large", "3 < 5, and limit > 500 is too large"),
        (b"null", "null"),
        (b"", "HTTP 403"),
        (b"\xff\xfe", "HTTP 403"),
        (b"[" * 100_000, "[[["),
        *((b"[" * depth + b"]" * depth, "[[[") for depth in (100, 900, 950, 980, 990, 10_000)),
    ],
)
def test_a_refusal_in_text_is_shortened(client, exchange, body, shown):
    """The message of a 4xx with text, a web page or garbage is quoted in at most 300 characters."""
    exchange.answers.append(Answer(403, body))
    with pytest.raises(RequestRefused) as caught:
        client.search_products()
    assert shown in str(caught.value)
    assert len(str(caught.value)) < 450


@each_row("status", [400, 404, 410])
def test_a_refused_cursor_is_a_lost_cursor(client, exchange, status):
    """A 4xx to a call with a cursor says that the scroll has to start again."""
    exchange.answers.append(says(status, {"message": "scroll expired"}))
    with pytest.raises(CursorLost, match=r"scroll expired.*start the scroll again"):
        client.search_products(next_page="12")


def test_a_refused_first_scroll_call_is_no_lost_cursor(client, exchange):
    """Without a cursor nothing can be lost: the request itself is wrong."""
    exchange.answers.append(says(400, {"message": "no"}))
    with pytest.raises(RequestRefused) as caught:
        client.search_products(next_page="")
    assert RequestRefused is type(caught.value)


def test_search_words_cannot_be_listed(client, exchange):
    """A query with a search is refused by GET before anything is sent."""
    with pytest.raises(QueryError):
        client.list_products(ProductQuery(search="cocoa"))
    assert [] == exchange.calls


def test_every_call_goes_through_the_session_that_was_passed_in(make_client, exchange):
    """The session is the one seam to the network: token and products pass it."""
    seen = []

    class Recording(requests.Session):
        def send(self, request, **options):
            seen.append(request.path_url)
            return super().send(request, **options)

    make_client(session=Recording()).search_products()
    assert ["/auth/v2/token", "/public/v1/products/list"] == seen


def test_threads_share_a_client(client, exchange):
    """Calls from many threads each get their own page."""
    pages = {}

    def take(offset):
        pages[offset] = client.search_products(limit=5, offset=offset)

    threads = [threading.Thread(target=take, args=(offset,)) for offset in range(0, 80, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {offset: offset for offset in range(0, 80, 5)} == {key: page.offset for key, page in pages.items()}


def test_remote_services_are_asked_twice_a_second_and_this_machine_at_will(make_client, exchange):
    """A limit that is given holds for token and product calls together; on loopback there is none by default."""
    import time

    begin = time.monotonic()
    slow = make_client(calls_per_second=20)
    for _ in range(4):
        slow.search_products()
    assert time.monotonic() - begin >= 4 / 20
    fast = make_client()
    begin = time.monotonic()
    for _ in range(10):
        fast.search_products()
    assert time.monotonic() - begin < 10 / 2


@each_row("calls_per_second", [0, -1, float("nan")])
def test_a_rate_must_be_positive(make_client, calls_per_second):
    """A rate at which no call could ever be made is refused."""
    with pytest.raises(SettingsError, match="calls_per_second"):
        make_client(calls_per_second=calls_per_second)


def test_the_repr_shows_where_and_as_whom(client, exchange):
    """The repr shows the service, the beginning of the key and the language, nothing else."""
    assert f"<Client {exchange.base_url} key key-...>" == repr(client)
    assert CLIENT_ID not in repr(client)
    assert repr(client.with_language("fr-FR")).endswith("labels in fr-FR>")

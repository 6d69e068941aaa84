"""What the service and the way to it can do wrong: each a retry, or a clear typed error."""

from __future__ import annotations

import gzip
import socket
import ssl
import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
import requests
from exchange import CLIENT_ID, CLIENT_SECRET, HTML, Answer, Exchange, says
from tests.cases import each_row

from prodex.errors import RedirectRefused, RequestRefused, ServiceError, ServiceUnreachable, UnexpectedReply
from prodex.service import Client, RetryPolicy
from prodex.service.settings import Settings

ENVELOPE = b'{"totalResults": 1, "offset": 0, "data": [{"id": 1}]}'

PASSING = {
    "HTML 502": (Answer(502, HTML), ServiceUnreachable, "HTTP 502. It says: a web page"),
    "HTML 200": (Answer(200, HTML), UnexpectedReply, "not a product envelope"),
    "garbage": (Answer(200, b"\x00\xff garbage"), UnexpectedReply, "not a product envelope"),
    "nothing": (Answer(200, b""), UnexpectedReply, "not a product envelope"),
    "no envelope": (says(200, {"error": "try later"}), UnexpectedReply, "not a product envelope"),
    "a list": (says(200, [1, 2]), UnexpectedReply, "not a product envelope"),
    "cut JSON": (Answer(200, ENVELOPE[:-9]), UnexpectedReply, "not a product envelope"),
    "cut body": (
        Answer(200, ENVELOPE[:-9], cut=9),
        ServiceUnreachable,
        "broke before the reply was complete",
    ),
    "cut gzip": (
        Answer(200, gzip.compress(ENVELOPE)[:-12], {"Content-Encoding": "gzip"}),
        UnexpectedReply,
        "not a product envelope",
    ),
    "broken gzip": (
        Answer(200, ENVELOPE, {"Content-Encoding": "gzip"}),
        ServiceUnreachable,
        "could not be decompressed",
    ),
    "dropped": (Answer(drop=True), ServiceUnreachable, "broke before the reply was complete"),
    "slow": (Answer(200, ENVELOPE, hold=0.8), ServiceUnreachable, "did not answer in time"),
    "500": (says(500, {"message": "oops"}), ServiceUnreachable, "HTTP 500. It says: oops"),
    "503": (Answer(503, headers={"Retry-After": "0"}), ServiceUnreachable, "HTTP 503"),
    "429": (Answer(429, headers={"Retry-After": "0"}), ServiceUnreachable, "HTTP 429"),
    "408": (Answer(408), ServiceUnreachable, "HTTP 408"),
}


@pytest.mark.slow
@each_row("fault", PASSING)
def test_a_passing_fault_is_tried_again(make_client, exchange, fault):
    """A read that fails for the moment is made again, and its result is whole."""
    exchange.answers.extend([PASSING[fault][0]] * 2)
    page = make_client(timeout=0.5).search_products(limit=9)
    assert 9 == len(page)
    assert 3 == len(exchange.product_calls)


@pytest.mark.slow
@each_row("fault", PASSING)
def test_retries_end_in_a_clear_error(make_client, exchange, fault):
    """A fault that stays is an error that counts the attempts and tells the last cause."""
    answer, kind, words = PASSING[fault]
    exchange.answers.extend([answer] * 10)
    with pytest.raises(kind) as caught:
        make_client(timeout=0.5).search_products()
    assert kind is type(caught.value)
    assert "POST /public/v1/products/list failed 4 times in " in str(caught.value)
    assert words in str(caught.value)
    assert 4 == len(exchange.product_calls)


@each_row("status", [400, 403, 404, 405, 409, 413, 415, 422])
def test_a_wrong_request_is_not_tried_again(client, exchange, status):
    """A 4xx that speaks of the request is an error at once."""
    exchange.answers.append(Answer(status, b"no"))
    with pytest.raises(RequestRefused, match=f"HTTP {status}. It says: no."):
        client.search_products()
    assert 1 == len(exchange.product_calls)


@pytest.mark.slow
@each_row(
    ("retry_after", "least", "most"),
    [
        ("1", 0.5, 5),
        ("86400", 0.5, 5),
        (format_datetime(datetime(2099, 1, 1, tzinfo=UTC), usegmt=True), 0.5, 5),
        (format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True), 0, 0.45),
        ("0", 0, 0.45),
        ("soon", 0, 0.45),
        ("", 0, 0.45),
        ("-5", 0, 0.45),
    ],
)
def test_retry_after_is_kept_up_to_a_cap(client, exchange, retry_after, least, most):
    """The pause that the service asks for is kept, in seconds or as a date, but not beyond our own limit."""
    client.search_products()
    exchange.answers.append(Answer(429, headers={"Retry-After": retry_after}))
    begin = time.monotonic()
    client.search_products()
    assert least <= time.monotonic() - begin < most


def test_retries_end_with_time_too(make_client, exchange):
    """No attempt begins after the total time."""
    exchange.answers.extend([Answer(500)] * 100)
    with pytest.raises(ServiceUnreachable):
        make_client(
            retry=RetryPolicy(attempts=100, seconds=0.2, first_wait=0.05, longest_wait=0.05, jitter=0)
        ).count()
    assert 2 <= len(exchange.product_calls) <= 6


@each_row("fault", ["HTML 502", "cut body", "dropped", "slow", "500", "503", "HTML 200"])
def test_a_write_is_never_blindly_repeated(make_client, exchange, fault):
    """A call that may have had an effect is made once, and the error says so."""
    exchange.answers.append(PASSING[fault][0])
    with pytest.raises(ServiceError, match="once; writes are not repeated"):
        make_client(timeout=0.5).call(
            "POST", "/public/v1/products", decode=must_be_json, body=b"{}", idempotent=False
        )
    assert 1 == len(exchange.product_calls)


@pytest.mark.parametrize("answer", [Answer(429, headers={"Retry-After": "0"}), says(401, "expired")])
def test_a_write_that_was_turned_away_is_repeated(client, exchange, answer):
    """A write that the service cannot have acted on (429, 401) is made again."""
    exchange.answers.append(answer)
    written = client.call("POST", "/public/v1/products", decode=must_be_json, body=b"{}", idempotent=False)
    assert b'{"tracking": 1}' == written
    assert 2 == len(exchange.product_calls)


def must_be_json(reply):
    """Read a reply of a write."""
    if not reply.body.startswith(b"{"):
        raise UnexpectedReply("no JSON")
    return reply.body


def closed_port():
    """Return a port where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.parametrize("idempotent", [True, False])
def test_nobody_there_is_an_error_that_says_what_to_check(idempotent):
    """Without a service the error tells the host and what to check; a write may knock again, too."""
    settings = Settings(f"http://127.0.0.1:{closed_port()}", CLIENT_ID, CLIENT_SECRET)
    client = Client(settings, retry=RetryPolicy(attempts=3, first_wait=0, longest_wait=0, jitter=0))
    with pytest.raises(
        ServiceUnreachable, match=r"3 times.*no connection to 127.0.0.1. Check the base URL"
    ) as caught:
        client.call("POST", "/x", decode=must_be_json, idempotent=idempotent)
    assert caught.value.status is None


def test_a_certificate_that_is_not_trusted_is_told_at_once():
    """A certificate that is not trusted is an error at once, with what to set behind a company proxy."""

    class Failing(requests.Session):
        tries = 0

        def send(self, *_, **__):
            self.tries += 1
            raise requests.exceptions.SSLError(ssl.SSLCertVerificationError("self-signed certificate"))

    session = Failing()
    client = Client(Settings("https://api.example.com", CLIENT_ID, CLIENT_SECRET), session=session)
    with pytest.raises(ServiceUnreachable, match=r"certificate of api.example.com.*REQUESTS_CA_BUNDLE"):
        client.search_products()
    assert 1 == session.tries


@pytest.fixture
def elsewhere():
    """Another host (another port of this machine), which must never be asked."""
    with Exchange(1) as other:
        yield other


@each_row("status", [301, 302, 303, 307, 308])
@each_row("method", ["list_products", "search_products"])
def test_no_redirect_leaves_the_host(client, exchange, elsewhere, status, method):
    """A redirect to another host is refused before anything is sent there."""
    target = f"{elsewhere.base_url}/public/v1/products?canary=1"
    exchange.answers.append(Answer(status, headers={"Location": target}))
    with pytest.raises(
        RedirectRefused, match=r"redirects to http://127.0.0.1, which must not get the token"
    ) as caught:
        getattr(client, method)()
    assert "canary" not in str(caught.value)
    assert status == caught.value.status
    assert [] == elsewhere.calls


@each_row(
    "location",
    [
        "https://127.0.0.1/public/v1/products",
        "//example.com/public",
        "http://user@127.0.0.1:{port}/public/v1/products",
        "http://127.0.0.1:notaport/",
        "ftp://127.0.0.1:{port}/",
    ],
)
def test_scheme_host_and_port_must_stay(client, exchange, location):
    """Another scheme, port or user is another place."""
    port = exchange.base_url.rsplit(":", 1)[1]
    exchange.answers.append(Answer(307, headers={"Location": location.format(port=port)}))
    with pytest.raises(RedirectRefused):
        client.list_products()
    assert 1 == len(exchange.product_calls)


@pytest.mark.parametrize(("method", "status"), [("list_products", 302), ("search_products", 307)])
def test_a_redirect_within_the_host_is_followed(client, exchange, method, status):
    """A redirect to another path of the same host is followed with token and body."""
    exchange.answers.append(Answer(status, headers={"Location": "/public/v2/products?limit=3"}))
    getattr(client, method)({"limit": 3})
    first, second = exchange.product_calls
    assert "/public/v2/products" == second.path
    assert first.method == second.method
    assert first.headers["Authorization"] == second.headers["Authorization"]


@each_row("status", [301, 302, 303])
def test_a_search_is_not_turned_into_a_get(client, exchange, status):
    """A redirect that would drop the body of a POST is refused."""
    exchange.answers.append(Answer(status, headers={"Location": "/public/v2/products"}))
    with pytest.raises(RedirectRefused, match="turn it into a GET"):
        client.search_products()
    assert 1 == len(exchange.product_calls)


def test_a_circle_of_redirects_ends(client, exchange):
    """Redirects that lead round in a circle end in an error."""
    exchange.answers.extend([Answer(302, headers={"Location": "/public/v1/products"})] * 50)
    with pytest.raises(RedirectRefused, match="5 times"):
        client.list_products()
    assert 5 == len(exchange.product_calls)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(make_client, monkeypatch):
    """On loopback, the environment's proxy is left out: it could not reach the service."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("NO_PROXY", "")
    assert 120 == make_client().count()

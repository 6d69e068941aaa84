"""The access token: one call for all threads, renewed in time, never shown."""

from __future__ import annotations

import base64
import json
import threading
import time

import pytest
from exchange import CLIENT_ID, CLIENT_SECRET, HTML, Answer, says

from prodex.errors import (
    AuthenticationFailed,
    ProdexError,
    RequestRefused,
    ServiceUnreachable,
    UnexpectedReply,
)
from prodex.service.authentication import Token, TokenSource


def jwt(**claims):
    """Write a token with these claims."""
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"eyJhbGciOiJIUzI1NiJ9.{payload}.signature"


def together(count, work):
    """Run the work in threads that begin at the same time; return what came of each."""
    barrier, results = threading.Barrier(count), []

    def run():
        barrier.wait()
        try:
            results.append(work())
        except ProdexError as error:
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_credentials_go_as_json_to_the_current_endpoint(client, exchange):
    """The token is asked for as the spec's endpoint 1 says, and then sent with every call."""
    client.search_products()
    call = exchange.token_calls[0]
    assert ("POST", "/auth/v2/token") == (call.method, call.path)
    assert {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "grant_type": "client_credentials",
    } == call.content
    assert "Authorization" not in call.headers
    assert exchange.product_calls[0].headers["Authorization"].removeprefix("Bearer ") in exchange.tokens


def test_the_name_of_the_token_type_does_not_matter(client, exchange):
    """`token_type` may be called `type`, as one example of the spec has it."""
    exchange.token_type_key = "type"
    assert 120 == client.count()


def test_a_token_is_used_until_it_ends(client, exchange):
    """One token serves many calls."""
    for _ in range(5):
        client.search_products()
    assert 1 == len(exchange.token_calls)


def test_sixteen_threads_fetch_one_token(client, exchange):
    """Threads that need a token at the same time wait for one call."""
    exchange.token_answers.append(None)
    results = together(16, client.count)
    assert [120] * 16 == results
    assert 1 == len(exchange.token_calls)


def test_sixteen_threads_replace_a_revoked_token_once(client, exchange):
    """When a token ends for all threads at once, one of them fetches the next."""
    client.search_products()
    exchange.tokens.clear()
    assert [120] * 16 == together(16, client.count)
    assert 2 == len(exchange.token_calls)


def test_threads_share_a_failure_too(exchange, make_client):
    """Wrong credentials cost one call, not one for each thread that waits."""
    exchange.token_answers.extend([Answer(401, b"no", hold=0.3)] + [says(401, "no")] * 16)
    client = make_client()
    results = together(16, client.count)
    assert {AuthenticationFailed} == {type(result) for result in results}
    assert len(exchange.token_calls) < 16


def test_a_token_is_renewed_before_it_ends(exchange, make_client):
    """A token is renewed a minute before its two hours end, by the clock."""
    now = [time.time()]
    client = make_client(clock=lambda: now[0])
    client.search_products()
    now[0] += 7200 - 65
    client.search_products()
    assert 1 == len(exchange.token_calls)
    now[0] += 10
    client.search_products()
    assert 2 == len(exchange.token_calls)


@pytest.mark.parametrize(
    ("token", "lifetime"),
    [
        (jwt(iat=1_000_000, exp=1_000_600), 600),
        (jwt(iat=9_999_999_000, exp=9_999_999_600), 600),
        (jwt(exp=1_800_000_900), 900),
        (jwt(exp=1_700_000_000), 7200),
        (jwt(iat=5, exp=4), 7200),
        (jwt(exp="soon"), 7200),
        (jwt(), 7200),
        ("opaque", 7200),
        ("a.b.c", 7200),
        ("eyJ.W10.x", 7200),
    ],
)
def test_the_lifetime_is_read_from_the_token(exchange, make_client, token, lifetime):
    """How long a token lives stands in it, whatever the clocks say; else it is two hours."""
    now = [1_800_000_000.0]
    client = make_client(clock=lambda: now[0])
    exchange.tokens.add(token)
    exchange.token_answers.append(says(200, {"access_token": token}))
    client.search_products()
    now[0] += lifetime - lifetime / 10 - 1 if lifetime < 600 else lifetime - 61
    client.search_products()
    assert 1 == len(exchange.token_calls)
    now[0] += 2
    client.search_products()
    assert 2 == len(exchange.token_calls)


def test_a_401_in_the_middle_is_replayed_with_a_new_token(client, exchange):
    """A call that gets a 401 is made again with a new token, and its answer is the answer."""
    client.search_products()
    exchange.tokens.clear()
    page = client.search_products(limit=7, offset=3)
    assert (7, 3) == (len(page), page.offset)
    assert 2 == len(exchange.token_calls)
    assert exchange.product_calls[1].content == exchange.product_calls[2].content


def test_a_second_401_right_after_is_an_error(client, exchange):
    """A new token that is not accepted either ends the matter: one renewal, two calls, no loop."""
    exchange.answers.extend([says(401, {"message": "key revoked"})] * 5)
    with pytest.raises(AuthenticationFailed, match=r"new token.*key revoked") as caught:
        client.search_products()
    assert 401 == caught.value.status
    assert (2, 2) == (len(exchange.token_calls), len(exchange.product_calls))


@pytest.mark.parametrize(
    "answer",
    [
        says(401, {"message": "the caller could not be authenticated"}),
        says(400, {"error": "invalid_client", "error_description": "the caller could not be authenticated"}),
        says(403, "the caller could not be authenticated"),
        says(200, {"message": "the caller could not be authenticated"}),
    ],
)
def test_wrong_credentials_say_what_to_check(client, exchange, answer):
    """Rejected credentials are an error with the service's words and the way to mend them, at once."""
    exchange.token_answers.extend([answer] * 3)
    with pytest.raises(AuthenticationFailed, match=r"the caller could not be authenticated.*Check client_id"):
        client.search_products()
    assert 1 == len(exchange.token_calls)
    assert [] == exchange.product_calls


@pytest.mark.parametrize(
    "answer", [says(200, {}), says(200, []), says(200, {"access_token": None}), says(200, "no")]
)
def test_no_token_is_an_error(client, exchange, answer):
    """A success without a token is no success."""
    exchange.token_answers.extend([answer] * 4)
    with pytest.raises(AuthenticationFailed):
        client.search_products()


@pytest.mark.parametrize(
    ("answer", "kind", "calls"),
    [
        (Answer(200, HTML), UnexpectedReply, 4),
        (Answer(503, HTML), ServiceUnreachable, 4),
        (Answer(drop=True), ServiceUnreachable, 4),
        (Answer(404, b"nothing here"), RequestRefused, 1),
    ],
)
def test_an_unwell_token_endpoint_has_its_own_retries(client, exchange, answer, kind, calls):
    """Faults of the token endpoint are tried again there, not once more for every try of the call."""
    exchange.token_answers.extend([answer] * 20)
    with pytest.raises(kind, match="/auth/v2/token"):
        client.search_products()
    assert calls == len(exchange.token_calls)


def test_after_a_failure_the_next_call_tries_anew(client, exchange):
    """A failed token call is not remembered."""
    exchange.token_answers.append(says(401, "no"))
    with pytest.raises(AuthenticationFailed):
        client.search_products()
    assert 120 == client.count()


def test_an_interrupted_flight_does_not_leave_others_waiting():
    """An interrupt in the token call ends it for those who wait, and the next one starts again."""
    tokens = iter([KeyboardInterrupt(), Token("fresh", renew_at=float("inf"))])

    def fetch():
        token = next(tokens)
        if isinstance(token, BaseException):
            raise token
        return token

    source = TokenSource(fetch)
    with pytest.raises(KeyboardInterrupt):
        source.get()
    assert "fresh" == source.get()


def test_netrc_never_replaces_the_token(exchange, make_client, monkeypatch, tmp_path):
    """What ~/.netrc holds for the host is not sent in place of the token, nor to the token endpoint."""
    import requests

    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password something\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    make_client(session=requests.Session()).search_products()
    assert exchange.product_calls[0].headers["Authorization"].startswith("Bearer eyJ")
    assert "Authorization" not in exchange.token_calls[0].headers

"""The access token: one call for all threads, renewed in time, never shown."""

from __future__ import annotations

import base64
import json
import math
import threading
import time

import pytest
from exchange import CLIENT_ID, CLIENT_SECRET, HTML, Answer, says
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_row

from prodex.errors import (
    AuthenticationFailed,
    ProdexError,
    RequestRefused,
    ServiceUnreachable,
    UnexpectedReply,
)
from prodex.service import Client, RetryPolicy, connect, token
from prodex.service.replies import Reply
from prodex.service.secret import Secret
from prodex.service.settings import Settings
from prodex.service.token import Token, TokenSource, claims_of, lifetime_of
from prodex.service.transport import Transport


def jwt(**claims):
    """Write a token with these claims."""
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"eyJhbGciOiJIUzI1NiJ9.{payload}.signature"


def long_end(digits):
    """Write a token whose end has so many digits that Python itself would not print it."""
    payload = base64.urlsafe_b64encode(b'{"exp": 1' + b"0" * digits + b"}").rstrip(b"=").decode()
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
    """The token is requested as the specification describes (endpoint 1), and then sent with every call."""
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


@pytest.mark.slow
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


@each_row(
    ("token", "lifetime"),
    [
        (jwt(iat=1_000_000, exp=1_000_600), 600),
        (jwt(iat=9_999_999_000, exp=9_999_999_600), 600),
        (jwt(exp=1_800_000_900), 900),
        (jwt(exp=1_700_000_000), 7200),
        (jwt(iat=5, exp=4), 7200),
        (jwt(iat=1_800_000_000, exp=1_900_000_000), 7200),
        (jwt(exp=1_900_000_000), 7200),
        (jwt(exp=10**400), 7200),
        (long_end(5000), 7200),
        (jwt(iat=10**400, exp=10**400 + 600), 7200),
        (jwt(iat=-100, exp=-5), 7200),
        (jwt(exp=-5), 7200),
        (jwt(exp=float("nan")), 7200),
        (jwt(exp=float("inf")), 7200),
        (jwt(exp=[1_800_000_900]), 7200),
        (jwt(exp={"at": 1}), 7200),
        (jwt(exp=True), 7200),
        (jwt(exp=None), 7200),
        (jwt(iat=None, exp=1_800_000_900), 7200),
        (jwt(iat="1000000", exp="1000600"), 600),
        (jwt(exp="soon"), 7200),
        (jwt(), 7200),
        ("opaque", 7200),
        ("a.b.c", 7200),
        ("eyJ.W10.x", 7200),
    ],
)
def test_the_lifetime_is_read_from_the_token(exchange, make_client, token, lifetime):
    """The lifetime of a token is read from its claims, not from a clock; by default, and at most, it is two hours."""
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


REFUSED = says(401, {"message": "unknown token"})


def often(attempts):
    """Return how a client is to try again and again, without long pauses."""
    return RetryPolicy(
        attempts=attempts, first_wait=0.001, longest_wait=0.01, jitter=0, retries_per_second=1_000
    )


@each_row("refusals", [2, 3, 4, 9])
def test_a_new_token_that_a_node_does_not_know_yet_does_not_end_a_load(exchange, make_client, refusals):
    """It is tried again with pauses, and kept meanwhile: another one would be as new."""
    reads = make_client(retry=often(20)).for_load()
    assert 120 == reads.count()
    exchange.tokens.clear()
    # The token that has ended is refused by the service itself, and the new one by a node, for a while.
    exchange.answers.extend([None, *[REFUSED] * (refusals - 1)])
    assert 120 == reads.count()
    assert (2, 2 + refusals) == (len(exchange.token_calls), len(exchange.product_calls))


@pytest.mark.parametrize("threads", [1, 4])
def test_a_node_that_never_learns_of_a_token_ends_a_load_after_its_time(exchange, make_client, threads):
    """A bounded number of calls and of tokens, and the error says what was refused."""
    reads = make_client(retry=often(6)).for_load()
    assert 120 == reads.count()
    exchange.answers.extend([REFUSED] * 200)
    errors = together(threads, reads.count)
    assert {AuthenticationFailed} == set(map(type, errors))
    assert all("failed 6 times" in str(error) and "unknown token" in str(error) for error in errors)
    assert len(exchange.product_calls) <= 1 + 7 * threads
    assert len(exchange.token_calls) <= 1 + threads


@pytest.mark.parametrize("in_load", [True, False])
def test_after_refused_tokens_the_same_client_asks_for_a_fresh_one_first(exchange, make_client, in_load):
    """A key was revoked for a while: what was refused is not tried again, and the next call succeeds in one."""
    client = make_client(retry=often(4))
    reads = client.for_load() if in_load else client
    assert 120 == reads.count()
    exchange.answers.extend([REFUSED] * (5 if in_load else 2))
    with pytest.raises(AuthenticationFailed, match="unknown token"):
        reads.count()
    # Of those that were refused, none is known any longer.
    exchange.tokens.clear()
    tokens, calls = len(exchange.token_calls), len(exchange.product_calls)
    assert 120 == client.count()
    assert (tokens + 1, calls + 1) == (len(exchange.token_calls), len(exchange.product_calls))


def test_a_revoked_key_ends_a_load_after_its_time(exchange, make_client):
    """Not after the minutes that a load waits for a service that is away."""
    policy = {"first_wait": 0.01, "longest_wait": 0.02, "jitter": 0, "retries_per_second": 1_000}
    reads = make_client(retry=RetryPolicy(answer_seconds=0.2, load_seconds=60, **policy)).for_load()
    assert 120 == reads.count()
    exchange.answers.extend([REFUSED] * 5_000)
    begin = time.monotonic()
    with pytest.raises(AuthenticationFailed, match="answer_seconds"):
        reads.count()
    assert time.monotonic() - begin < 5


def test_a_token_that_stays_unknown_is_replaced_in_the_end():
    """It is kept for longer each time, since nobody knows how long a service needs; then it may be renewed."""
    now = [1_000.0]
    source = TokenSource(lambda: Token(Secret("new"), renew_at=math.inf), lambda: now[0])
    kept = []
    for _ in range(4):
        source.give_time()
        begin = now[0]
        while not source.may_renew:
            source.give_time()  # by another thread that is refused: this makes it no longer
            now[0] += 1
        kept.append(now[0] - begin)
    now[0] += 1_000
    source.give_time()
    now[0] += 15
    assert ([15, 30, 60, 120], True) == (kept, source.may_renew)


@each_row(
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


@each_row("status", [400, 403])
def test_a_page_of_a_firewall_says_nothing_of_the_credentials(client, exchange, status):
    """It has seen none of them: nobody is told to make new ones."""
    exchange.token_answers.append(Answer(status, HTML))
    with pytest.raises(RequestRefused, match=f"HTTP {status}.*a web page, so a proxy") as caught:
        client.search_products()
    assert "client_secret" not in str(caught.value)


@each_row("answer", [says(200, {}), says(200, []), says(200, {"access_token": None}), says(200, "no")])
def test_no_token_is_an_error(client, exchange, answer):
    """A success without a token is no success."""
    exchange.token_answers.extend([answer] * 4)
    with pytest.raises(AuthenticationFailed):
        client.search_products()


@each_row(
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
    tokens = iter([KeyboardInterrupt(), Token(Secret("fresh"), renew_at=float("inf"))])

    def fetch():
        token = next(tokens)
        if isinstance(token, BaseException):
            raise token
        return token

    source = TokenSource(fetch)
    with pytest.raises(KeyboardInterrupt):
        source.current()
    assert "fresh" == source.current().text.reveal()


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


@each_row(
    ("expires_in", "lifetime"),
    [
        (600, 600),
        ("600", 600),
        (600.5, 600.5),
        (86_400, 7200),
        (7_200_000, 7200),
        (10**400, 7200),
        (0, 7200),
        (-1, 7200),
        (None, 7200),
        (True, 7200),
        ("soon", 7200),
        ([600], 7200),
    ],
)
@each_row("token", ["opaque", jwt(iat=1_800_000_000, exp=1_800_007_200)])
def test_a_shorter_life_that_the_answer_names_is_heeded(exchange, make_client, token, expires_in, lifetime):
    """`expires_in` may shorten the life of a token, and never makes it longer than two hours."""
    client = make_client(clock=lambda: 1_800_000_000.0)
    exchange.tokens.add(token)
    exchange.token_answers.append(says(200, {"access_token": token, "expires_in": expires_in}))
    client.search_products()
    assert lifetime == pytest.approx(client.token_facts()[1])


@each_row("begin", [b"", b"\xef\xbb\xbf", b" \r\n\t"])
@each_row("status", [200, 201])
@each_row("wrapped", [False, True])
def test_a_token_is_found_behind_a_bom_and_in_an_envelope(client, exchange, begin, status, wrapped):
    """201, a byte order mark, blanks and an object `data` around the answer do no harm."""
    exchange.tokens.add("opaque")
    answer = {"access_token": "opaque", "type": "JWT"}
    body = json.dumps({"data": answer} if wrapped else answer).encode()
    exchange.token_answers.append(Answer(status, begin + body))
    assert 120 == client.count()


@each_row("odd", ["\r\nX-Evil: 1", "\n", "\r", " ", "\x00", "\x7f", "é", "漢", "\ud800"])
def test_a_token_that_no_header_may_hold_is_refused(client, exchange, odd):
    """It is not sent anywhere, and the error, which is ours, does not show it."""
    exchange.token_answers.append(says(200, {"access_token": f"canary-token{odd}", "token_type": "JWT"}))
    with pytest.raises(AuthenticationFailed, match="cannot be used") as caught:
        client.search_products()
    assert 200 == caught.value.status
    assert "canary-token" not in str(caught.value)
    assert (1, []) == (len(exchange.token_calls), exchange.product_calls)


@each_row("secret", ["pässwört-漢字", 'quo"te\\back\nline', "\ud800"])
def test_a_secret_of_any_characters_arrives_as_it_is(exchange, secret):
    """A client secret may hold what it likes: it travels as JSON's own escapes."""
    Client(Settings(exchange.base_url, "kéy", secret)).search_products()
    assert ("kéy", secret) == (
        exchange.token_calls[0].content["client_id"],
        exchange.token_calls[0].content["client_secret"],
    )


REFUSALS = [
    {"message": "The caller could not be authenticated"},
    {"message": "the caller could not be authenticated.", "code": 401},
    {"error": "invalid_token", "error_description": "The access token expired"},
    {"error": {"message": "Unauthorized", "status": 401}},
    {"errors": [{"title": "Not authenticated", "detail": None}]},
    {"status": "error", "message": "Token has expired"},
    {"status": 401, "title": "Unauthorised"},
    {"data": None, "message": "Authentication failed"},
    {"data": [], "totalResults": 0, "message": "caller is not authenticated"},
    "Unauthorized",
]

CALLS = {
    "list": (lambda client: client.list_products(), {"totalResults": 0, "data": []}),
    "search": (lambda client: client.search_products(), {"totalResults": 0, "data": []}),
    "rich content": (lambda client: client.rich_content(), {"totalResults": 0, "data": []}),
    "upsert": (lambda client: client.upsert_products(b"[]"), {"tracking": 1}),
    "track": (lambda client: client.track(1), {"status": "SUCCESS", "tracking": 1}),
    "organizations": (lambda client: client.organizations(), {"data": [{"id": 1}]}),
    "segments": (lambda client: client.product_segments(), {"id": "PS_1", "name": "all"}),
    "scenarios": (lambda client: client.require_rulesets(["u"], {"7": True}), {}),
}


@pytest.mark.slow
@each_row("refusal", REFUSALS, ids=json.dumps)
@each_row("call", CALLS)
def test_an_authentication_message_with_200_is_a_401(client, exchange, call, refusal):
    """At every endpoint: the token is renewed and the call made again, once, a write too."""
    make, good = CALLS[call]
    exchange.answers.extend([says(200, refusal), says(200, good)])
    make(client)
    assert (2, 2) == (len(exchange.token_calls), len(exchange.calls) - len(exchange.token_calls))


@each_row("call", CALLS)
def test_an_authentication_message_with_200_twice_is_an_error(client, exchange, call):
    """A new token that is refused in the same words ends the matter, with those words."""
    make, _ = CALLS[call]
    exchange.answers.extend([says(200, REFUSALS[0])] * 5)
    with pytest.raises(AuthenticationFailed, match=r"new token.*could not be authenticated"):
        make(client)
    assert (2, 2) == (len(exchange.token_calls), len(exchange.calls) - len(exchange.token_calls))


@each_row("status", [200, 201, 202, 400, 401, 403])
def test_an_authentication_message_counts_whatever_its_status(client, exchange, status):
    """The specification shows no status for it: once, a load goes on; it does not begin a scroll again."""
    client.search_products()
    exchange.answers.append(says(status, REFUSALS[0]))
    cursor = client.search_products(next_page="", limit=10).next_page
    exchange.answers.append(says(status, REFUSALS[0]))
    assert 10 == len(client.search_products(next_page=cursor, limit=10))
    assert 3 == len(exchange.token_calls)


@each_row("message", ["this access key may not write", "unauthorized value in tag", "no such token"])
@each_row("status", [400, 403])
def test_another_refusal_stays_one(client, exchange, status, message):
    """A 400 or 403 that speaks of other things is not tried again with another token."""
    exchange.answers.append(says(status, {"message": message}))
    with pytest.raises(RequestRefused, match=message):
        client.upsert_products(b"[]")
    assert (1, 1) == (len(exchange.token_calls), len(exchange.product_calls))


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["exp", "iat", "sub", "expires_in", "access_token", "data"]), inner
            )
        ),
    )
)
def test_a_token_lives_no_longer_than_two_hours_whatever_is_said(body):
    """Claims and answers of any content give a life of more than nothing and at most two hours."""
    claims = claims_of(Secret(jwt(**body) if isinstance(body, dict) else f"a.{body!r}.c"))
    assert 0 < lifetime_of(claims, 1_800_000_000.0) <= 7200
    reply = Reply(200, json.dumps(body).encode(), "", None, None)
    answer = token._parsed_answer(reply, Transport("http://127.0.0.1", None, 1, None))
    assert 0 < answer.expires_in


def test_a_refused_upsert_in_xml_is_a_401_too(client, exchange):
    """A service that is asked for XML may reject the caller in XML."""
    refusal = b"<?xml version='1.0'?><error><message>The caller could not be authenticated</message></error>"
    exchange.answers.extend([Answer(201, refusal), Answer(200, b"<r><tracking>5</tracking></r>")])
    assert 5 == client.upsert_products(b"<x/>", "application/xml")


HARMLESS = [
    ("track", {"status": "ERROR", "message": "Token expired: unauthorized value in the payload"}),
    ("track", {"status": "CONTAINS_ERRORS", "products": [{"gtin": "1", "message": "invalid token"}]}),
    ("upsert", {"tracking": 7, "message": "authenticated as somebody"}),
    ("search", {"totalResults": 1, "data": [{"id": 1, "message": "unauthorized"}]}),
    ("segments", {"id": "PS_1", "name": "Unauthorized", "children": []}),
    ("segments", [{"id": 1, "message": "Unauthorized"}]),
    (
        "organizations",
        {"organizations": [{"id": 1, "nameLegal": "Unauthorised Ltd", "message": "Unauthorised"}]},
    ),
    ("scenarios", {"message": "2 activated; 1 unauthorized product left out"}),
    ("scenarios", {"message": "done by an authenticated caller"}),
    ("scenarios", "OK"),
]


@each_row(("call", "reply"), HARMLESS, ids=lambda value: json.dumps(value)[:60])
def test_what_keeps_the_promise_is_no_refusal(client, exchange, call, reply):
    """A reply that holds what its endpoint promises, or speaks of other things, is taken as it is."""
    make, _ = CALLS[call]
    exchange.answers.append(says(200, reply))
    make(client)
    assert 1 == len(exchange.token_calls)


@pytest.mark.parametrize(("version", "path"), [(1, "/auth/v1/token"), (2, "/auth/v2/token")])
def test_the_deprecated_token_endpoint_is_asked_only_when_told(exchange, version, path):
    """With token_version=1 the same credentials go to version 1, and else to version 2 alone."""
    credentials = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    client = connect(exchange.base_url, **credentials, token_version=version)
    assert 120 == client.count()
    assert [("POST", path)] == [(call.method, call.path) for call in exchange.token_calls]
    assert {**credentials, "grant_type": "client_credentials"} == exchange.token_calls[0].content


def test_a_service_without_the_current_token_endpoint_is_not_asked_at_the_old_one(client, exchange):
    """A 404 names the setting that would ask the deprecated endpoint; nothing is tried there by itself."""
    exchange.token_answers.append(says(404, {"message": "no such endpoint"}))
    with pytest.raises(RequestRefused, match="token_version=1"):
        client.search_products()
    assert ["/auth/v2/token"] == [call.path for call in exchange.calls]

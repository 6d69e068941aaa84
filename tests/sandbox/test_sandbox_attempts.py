"""Guessing secrets is slow, and locks nobody out who knows theirs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import MARKET, MILL, SHOP, Caller

from prodex.sandbox import Sandbox
from prodex_sandbox.api.authentication import LoginThrottle
from prodex_sandbox.refusals import Refusal


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """Serve nothing to three organisations, by a clock that stands still: however slow the machine, no wait ends."""
    with Sandbox([], organizations=[SHOP, MARKET, MILL], labels={}, clock=Clock()) as sandbox:
        yield sandbox


def guess(
    sandbox: Sandbox, client_id: str, secret: str = "wrong", version: str = "v2", **headers: str
) -> Any:
    body = {"client_id": client_id, "client_secret": secret, "grant_type": "client_credentials"}
    return requests.post(f"{sandbox.base_url}/auth/{version}/token", json=body, headers=headers)


@pytest.mark.parametrize("client_id", ["shop", "nobody"])
def test_wrong_secrets_of_one_client_are_slowed_down(sandbox: Sandbox, client_id: str) -> None:
    """After a few wrong tries the next ones get 429 with a Retry-After that grows, for known and unknown ids alike."""
    replies = [guess(sandbox, client_id, f"wrong-{number}") for number in range(40)]
    statuses = [reply.status_code for reply in replies]
    first = statuses.index(429)
    assert 3 <= first <= 10
    assert [401] * first == statuses[:first]
    assert {429} == set(statuses[first:])
    for reply in replies[first:]:
        assert 1 <= int(reply.headers["Retry-After"]) <= 60
        assert "too_many_attempts" == reply.json()["error"]
        assert "wrong-" not in reply.text


@pytest.mark.slow
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_right_secret_is_accepted_after_wrong_ones_of_somebody_else(
    sandbox: Sandbox, version: str
) -> None:
    """Somebody on the same machine guesses, and has to wait; whoever knows the secret does not, again and again."""
    for _ in range(2):
        statuses = [guess(sandbox, "shop", f"wrong-{number}").status_code for number in range(30)]
        assert 429 == statuses[-1]
        assert 200 == guess(sandbox, "shop", SHOP.client_secret, version).status_code


@pytest.mark.slow
def test_others_get_their_tokens_meanwhile(sandbox: Sandbox) -> None:
    """While a client and an address have to wait, the right secrets of other clients are accepted at once."""
    for number in range(60):
        guess(sandbox, "shop")
        guess(sandbox, f"guessed-{number}")
    for organization in (MARKET, MILL):
        assert 200 == Caller(sandbox.base_url, organization).token().status_code
    assert 429 == guess(sandbox, "shop").status_code


def test_both_versions_and_every_guise_of_an_address_count_together(sandbox: Sandbox) -> None:
    """Neither the old endpoint nor a header with another address resets the count of wrong tries."""
    replies = [
        guess(sandbox, "shop", version=f"v{1 + number % 2}", **{"X-Forwarded-For": f"192.0.2.{number}"})
        for number in range(12)
    ]
    assert 429 == replies[-1].status_code


def test_an_address_that_tries_many_clients_is_slowed_down(sandbox: Sandbox) -> None:
    """A caller that tries one secret for each of many ids gets 429 too."""
    statuses = [guess(sandbox, f"client-{number}").status_code for number in range(60)]
    first = statuses.index(429)
    assert 10 <= first <= 50
    assert {429} == set(statuses[first:])


def test_many_guesses_at_once_are_no_way_round(sandbox: Sandbox) -> None:
    """Concurrent guesses are counted like consecutive ones."""
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(guess(sandbox, "shop").status_code))
        for _ in range(30)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.count(401) <= 10


def wait(run: Callable[[], None]) -> int:
    """Return for how long a call is told to wait, 0 where it is not."""
    try:
        run()
    except Refusal as refusal:
        return int(refusal.headers["Retry-After"])
    return 0


def wrong(attempts: LoginThrottle, client_id: str, times: int = 1) -> int:
    """Send wrong secrets from one address; return the seconds that the address has to wait."""
    return [wait(lambda: attempts.note_wrong(client_id, "a")) for _ in range(times)][-1]


def test_the_wait_grows_and_ends() -> None:
    """Each wrong try beyond the free ones doubles the wait, up to a minute; after it, the secret is checked."""
    clock = Clock()
    attempts = LoginThrottle(clock)
    waits = []
    for _ in range(14):
        wrong(attempts, "shop")
        waits.append(wait(lambda: attempts.check("shop")))
        clock.now += waits[-1]
        assert 0 == wait(lambda: attempts.check("shop"))
    assert [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60] == waits
    attempts.note_right("shop")
    wrong(attempts, "shop")
    assert 0 == wait(lambda: attempts.check("shop"))


def test_what_is_long_ago_is_forgotten() -> None:
    """After a quarter of an hour without a wrong try all tries are free again."""
    clock = Clock()
    attempts = LoginThrottle(clock)
    assert wrong(attempts, "shop", 40) > 0
    clock.now += 901
    assert 0 == wrong(attempts, "shop")
    assert 0 == wait(lambda: attempts.check("shop"))


@given(clients=st.lists(st.text(max_size=5), max_size=80))
def test_nobody_waits_who_was_not_wrong(clients: list[str]) -> None:
    """Whatever others try, a client that was never wrong never has to wait before its secret is checked."""
    attempts = LoginThrottle(Clock())
    for client_id in clients:
        wrong(attempts, client_id)
    assert 0 == wait(lambda: attempts.check("never wrong"))


def test_no_number_of_ids_fills_the_memory() -> None:
    """The ids of a flood are forgotten, the oldest first; that the address is slowed down is not."""
    attempts = LoginThrottle(Clock())
    for number in range(30_000):
        wrong(attempts, f"client-{number}")
    assert attempts.remembered <= 20_000
    assert wrong(attempts, "new") > 0

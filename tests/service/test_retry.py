"""What is tried again and for how long: time decides, and the threads of a client share one budget."""

from __future__ import annotations

import math
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from exchange import CLIENT_ID, CLIENT_SECRET, Answer, Exchange, says
from raw_server import in_turn, raw_server, reply
from tests.cases import each_row

import prodex
from prodex.errors import OutcomeUnknown, ServiceUnreachable, SettingsError, UnexpectedReply
from prodex.network.retry import RetryableError, Retrying
from prodex.service import Client, RetryPolicy
from prodex.service.settings import Settings


class Clock:
    """A clock of our own, on which a pause takes no time."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.pauses: list[float] = []

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def retrying(clock: Clock, **policy: float) -> Retrying:
    """Return what calls by a policy and this clock."""
    return Retrying(RetryPolicy(**policy), clock=clock.time, sleep=clock.sleep)  # type: ignore[arg-type]


def away(clock: Clock, seconds: float, takes: float = 0.0) -> Callable[[], str]:
    """Return a call that fails until a service is back."""
    back = clock.now + seconds

    def attempt() -> str:
        clock.now += takes
        if clock.now < back:
            raise RetryableError("connection refused", not_processed=True)
        return "an answer"

    return attempt


@each_row("seconds", [0.5, 5, 15, 30, 60, 120, 240])
@each_row("takes", [0.0, 1.0, 10.0])
def test_a_read_inside_a_load_outlives_a_restart(seconds: float, takes: float) -> None:
    """Whether the service refuses at once or lets us wait; six attempts once were over in 18 seconds."""
    random.seed(int(seconds))
    clock = Clock()

    assert "an answer" == retrying(clock).call("GET /x", away(clock, seconds, takes), in_load=lambda: True)


def test_an_answer_of_the_service_is_tried_for_less_than_a_minute() -> None:
    """In a load too: it seldom changes its mind, and may be away in between for as long as a restart takes."""
    clock = Clock()

    def answers() -> str:
        raise RetryableError("a new token was refused", is_answer=True, not_processed=True)

    with pytest.raises(ServiceUnreachable, match=r"in 55 s; the last failure: a new token was refused"):
        retrying(clock).call("GET /x", answers, in_load=lambda: True)
    assert 1_055 == pytest.approx(clock.now)

    # An answer, two minutes of a restart, an answer for 30 seconds, and all is well.
    clock, first = Clock(), iter([True])
    back, good = clock.now + 120, clock.now + 150

    def restarts() -> str:
        if next(first, False) or back <= clock.now < good:
            return answers()
        return away(clock, back - clock.now)()

    assert "an answer" == retrying(clock).call("GET /x", restarts, in_load=lambda: True)


def test_a_first_call_ends_after_twenty_seconds() -> None:
    """Not after a number of attempts; the last begins when the time is over, and the error says how long and why."""
    clock = Clock()
    with pytest.raises(
        ServiceUnreachable, match=r"GET /x failed \d+ times in 20 s; the last failure: connection refused"
    ):
        retrying(clock).call("GET /x", away(clock, 9_999))

    assert 1_020 == pytest.approx(clock.now)
    assert 5 <= len(clock.pauses) <= 8


def test_the_longer_time_holds_as_soon_as_a_load_has_begun() -> None:
    """Also for a call that was under way when the first one succeeded."""
    clock = Clock()
    result = retrying(clock).call("GET /x", away(clock, 100), in_load=lambda: clock.now > 1_010)

    assert "an answer" == result


def test_pauses_double_up_to_the_longest() -> None:
    """And the last is cut short, so that the time is used to its end."""
    clock = Clock()
    with pytest.raises(ServiceUnreachable):
        retrying(clock, seconds=100, jitter=0, longest_wait=16).call("GET /x", away(clock, 9_999))

    assert [0.5, 1, 2, 4, 8, 16, 16, 16, 16, 16, 4.5] == clock.pauses


def test_a_longer_pause_than_the_time_ends_the_matter() -> None:
    """Nobody waits for what cannot come in time any more."""
    clock = Clock()

    def busy() -> None:
        raise RetryableError("HTTP 503.", retry_after=50)

    with pytest.raises(ServiceUnreachable, match="1 times in 0 s"):
        retrying(clock).call("GET /x", busy)
    with pytest.raises(ServiceUnreachable, match="7 times in 300 s"):
        retrying(clock).call("GET /x", busy, in_load=lambda: True)
    assert [50] * 6 == clock.pauses


@each_row("pause", [61, 3_600, 86_400, 10**9])
def test_a_pause_that_nobody_can_mean_is_cut_short_and_tried_again(pause: float) -> None:
    """Once more at least, after a pause with a bound: when the time is over, or a minute later in a load."""
    clock = Clock()

    def busy() -> None:
        raise RetryableError("HTTP 429.", retry_after=pause)

    with pytest.raises(ServiceUnreachable, match="2 times in 20 s"):
        retrying(clock).call("GET /x", busy)
    with pytest.raises(ServiceUnreachable, match="6 times in 300 s"):
        retrying(clock).call("GET /x", busy, in_load=lambda: True)
    assert [20, *[60] * 5] == clock.pauses


ODD_PAUSES = [
    "86400",
    "Fri, 31 Dec 9998 23:59:59 GMT",
    "Sun, 01 Nov 2015 00:00:01 GMT",
    "soon",
    "-5",
    "1e9",
    "0",
    "",
]


@each_row("pause", ODD_PAUSES)
def test_a_wrong_retry_after_is_no_reason_to_give_up(pause: str) -> None:
    """The service turns the call away once, and asks for a pause of a day, of ages, before now, or of none."""
    with Exchange(120) as exchange:
        policy = RetryPolicy(seconds=0.3, first_wait=0.05, jitter=0, longest_retry_after=0.2)
        client = Client(Settings(exchange.base_url, CLIENT_ID, CLIENT_SECRET), retry=policy)
        exchange.answers.append(Answer(429, headers={"Retry-After": pause}))
        begin = time.monotonic()
        assert 120 == client.count()
        assert time.monotonic() - begin >= 0.05
        assert 2 == len(exchange.product_calls)


def test_a_date_to_wait_for_is_read_by_the_clock_that_wrote_it() -> None:
    """The service is five hours ahead, and asks for a pause of a second."""
    ahead = datetime.now(UTC) + timedelta(hours=5)
    dates = {"Date": format_datetime(ahead, usegmt=True)}
    dates["Retry-After"] = format_datetime(ahead + timedelta(seconds=1), usegmt=True)
    head = "".join(f"{name}: {text}\r\n" for name, text in dates.items())
    busy = f"HTTP/1.1 429 Busy\r\n{head}Content-Length: 0\r\n\r\n".encode()

    def answering(content: bytes) -> Callable[[socket.socket], None]:
        return lambda caller: caller.sendall(content)

    with raw_server(in_turn(answering(busy), answering(reply()))) as server:
        client = Client(Settings(server.base_url, CLIENT_ID, CLIENT_SECRET), retry=RetryPolicy(seconds=30))
        begin = time.monotonic()
        assert 1 == client.count()
        assert 0.9 < time.monotonic() - begin < 10


def test_what_would_come_again_is_not_asked_for_again() -> None:
    """And of a write, the outcome stays unknown."""
    clock = Clock()

    def too_large() -> None:
        raise RetryableError("too large", kind=UnexpectedReply, is_transient=False)

    with pytest.raises(UnexpectedReply, match="failed once in 0 s"):
        retrying(clock).call("GET /x", too_large)
    with pytest.raises(OutcomeUnknown, match="not repeated"):
        retrying(clock).call("POST /x", too_large, idempotent=False)
    assert [] == clock.pauses


@pytest.mark.slow
def test_calls_that_fail_at_once_do_not_multiply() -> None:
    """Sixteen threads against a dead service make their calls and a few more, not sixteen times those of one."""
    attempts = []
    policy = RetryPolicy(seconds=1, first_wait=0.01, longest_wait=0.05, jitter=0, retries_per_second=5)
    shared = Retrying(policy)

    def dead() -> None:
        attempts.append(threading.get_ident())
        raise RetryableError("connection refused", not_processed=True)

    def call() -> None:
        with pytest.raises(ServiceUnreachable):
            shared.call("GET /x", dead)

    threads = [threading.Thread(target=call) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    alone = 20
    assert 16 < len(attempts) <= 16 + policy.retries_at_once + 5 + 1
    assert len(attempts) < 16 * alone / 5


def test_many_windows_of_a_load_outlive_a_restart_together() -> None:
    """With the budget: a retry waits for its turn, and only where that is too late it is given up."""
    clock = Clock()
    shared = retrying(clock)
    calls = [away(clock, 30) for _ in range(4)]
    # One after the other on one clock: each has all that the others have left it.
    assert ["an answer"] * 4 == [shared.call("GET /x", call, in_load=lambda: True) for call in calls]


def test_a_success_gives_a_retry_back() -> None:
    """Passing faults of a service that otherwise answers do not slow a load down."""
    clock = Clock()
    shared = retrying(clock, first_wait=0.001, jitter=0)
    for _ in range(500):
        answers = iter([RetryableError("HTTP 503."), "an answer"])

        def attempt(answers=answers) -> str:
            if isinstance(answer := next(answers), RetryableError):
                raise answer
            return answer

        assert "an answer" == shared.call("GET /x", attempt)

    assert 0.001 == pytest.approx(max(clock.pauses))


@each_row("field", [field.name for field in fields(RetryPolicy)])
@each_row("value", [-1, -0.001, math.nan, math.inf, -math.inf, "20", True])
def test_a_policy_that_cannot_be_kept_is_refused(field: str, value: object) -> None:
    """Negative, infinite, no number: with the name and the value."""
    with pytest.raises(SettingsError, match=rf"RetryPolicy\({field}={value!r}\)"):
        RetryPolicy(**{field: value})  # type: ignore[arg-type]


def test_policy_and_limits_are_values() -> None:
    """Public, comparable, and never changed."""
    assert prodex.service.RetryPolicy(seconds=5) == RetryPolicy(seconds=5)
    with pytest.raises(AttributeError):
        prodex.service.RetryPolicy().seconds = 5  # type: ignore[misc]


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


SHORT = RetryPolicy(
    seconds=0.3, load_seconds=20, first_wait=0.05, longest_wait=0.2, jitter=0.02, retries_per_second=20
)


@pytest.mark.slow
def test_a_load_outlives_a_service_that_goes_and_comes_back() -> None:
    """A real one: it is gone for two seconds, many times what a first call waits."""

    def answer(caller: socket.socket) -> None:
        caller.sendall(reply())

    with raw_server(answer) as server:
        client = Client(Settings(server.base_url, CLIENT_ID, CLIENT_SECRET), retry=SHORT)
        reads = client.for_load()
        assert 1 == reads.count()
    came: list[int] = []
    thread = threading.Thread(target=lambda: came.append(reads.count()))
    thread.start()
    begin = time.monotonic()
    with pytest.raises(
        ServiceUnreachable, match=r"retry=px.service.RetryPolicy\(seconds=...\)\) tries longer than 0.3 s"
    ):
        client.count()  # nobody waits in front of a panel
    assert time.monotonic() - begin < 2
    time.sleep(2)
    assert [] == came
    with raw_server(answer, server.port):
        thread.join()

    assert [1] == came


def test_a_load_that_cannot_begin_says_so_soon() -> None:
    """The longer time holds once a first call has succeeded."""
    client = Client(Settings(f"http://127.0.0.1:{closed_port()}", CLIENT_ID, CLIENT_SECRET), retry=SHORT)
    begin = time.monotonic()
    with pytest.raises(ServiceUnreachable):
        client.for_load().count()

    assert time.monotonic() - begin < 5


@pytest.mark.slow
def test_a_token_that_cannot_be_had_for_a_while_does_not_end_a_load() -> None:
    """It is renewed in the middle of a load, when the service restarts."""
    with Exchange(120) as exchange:
        reads = Client(Settings(exchange.base_url, CLIENT_ID, CLIENT_SECRET), retry=SHORT).for_load()
        assert 120 == reads.count()
        exchange.tokens.clear()
        exchange.token_answers.extend([Answer(503)] * 15)
        assert 120 == reads.count()
        assert len(exchange.token_calls) > 15


@pytest.mark.slow
def test_loaders_read_with_the_longer_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`load_products` and `refresh` outlive what ends a first call: the service is unwell for a while."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    with Exchange(120) as exchange:
        client = Client(Settings(exchange.base_url, CLIENT_ID, CLIENT_SECRET), retry=SHORT)
        unwell = [says(503, {"message": "restarting"})] * 12
        exchange.answers.extend([None, *unwell])
        assert 120 == len(prodex.load_products(client, name="shop", progress=False))
        exchange.answers.extend([None, *unwell])
        assert 120 == len(prodex.refresh("shop", client, progress=False))

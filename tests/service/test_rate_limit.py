"""A limit on calls per second that all threads share."""

from __future__ import annotations

import math
import threading

from prodex.service.transport import RateLimit


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self):
        self.now = 100.0
        self.slept = []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


def test_calls_pass_at_the_rate():
    """The first call passes at once, each further one an interval later."""
    clock = Clock()
    limit = RateLimit(2, clock=lambda: clock.now, sleep=clock.sleep)
    for _ in range(4):
        limit.wait()
    assert [0.5, 0.5, 0.5] == clock.slept


def test_a_break_is_not_saved_up():
    """A pause does not allow a burst afterwards."""
    clock = Clock()
    limit = RateLimit(2, clock=lambda: clock.now, sleep=clock.sleep)
    limit.wait()
    clock.now += 60
    limit.wait()
    limit.wait()
    assert [0.5] == clock.slept


def test_threads_share_the_rate():
    """Calls of several threads start one after the other."""
    slept = []
    limit = RateLimit(10, clock=lambda: 0.0, sleep=slept.append)
    threads = [threading.Thread(target=limit.wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [1, 2, 3, 4, 5, 6, 7] == sorted(round(seconds * 10) for seconds in slept)


def test_no_limit_never_waits():
    """An infinite rate never waits."""
    slept = []
    limit = RateLimit(math.inf, clock=lambda: 0.0, sleep=slept.append)
    for _ in range(100):
        limit.wait()
    assert [] == slept

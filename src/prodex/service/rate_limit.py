"""A limit on calls per second that all threads share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RateLimit:
    """Starts calls at a steady rate, as the operators of the service ask for (at most 2 a second).

    Each call reserves the next free moment and waits for it outside the lock, so that threads queue without blocking
    each other. All times are in seconds.

    Parameters
    ----------
    calls_per_second
        The rate; `math.inf` for no limit.
    clock, sleep
        For tests.
    """

    def __init__(
        self,
        calls_per_second: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = 1 / calls_per_second
        self._clock = clock
        self._sleep = sleep
        self._next = float("-inf")
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Return when the caller may start its call."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._interval
        if start > now:
            self._sleep(start - now)

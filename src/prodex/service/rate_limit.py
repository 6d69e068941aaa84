"""A limit on calls per second that all threads share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RateLimit:
    """Let calls pass at a steady rate.

    Each call books the next free moment and waits for it outside the lock, so threads queue up without
    blocking each other. All times are in seconds.

    Parameters
    ----------
    calls_per_second
        The rate; `math.inf` for none.
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
        """Return when the caller's turn has come."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._interval
        if turn > now:
            self._sleep(turn - now)

"""A limit on calls per second that all threads share."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(eq=False)
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

    calls_per_second: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _next: float = field(default=-math.inf, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def wait(self) -> None:
        """Return when the caller may start its call."""
        with self._lock:
            now = self.clock()
            # Moments that nobody used are not saved up: a burst after a pause would exceed the rate.
            start = max(now, self._next)
            self._next = start + 1 / self.calls_per_second
        if start > now:
            self.sleep(start - now)

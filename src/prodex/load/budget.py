"""The limits of a load: a service whose pages never end must not keep a load running for ever."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from prodex.errors import QueryError
from prodex.limits import is_positive


@dataclass(frozen=True, kw_only=True)
class LoadBudget:
    """The limits of one load or refresh. When one is reached, the load ends incomplete and keeps what was received.

    Attributes
    ----------
    calls
        Calls for products. 100,000 pages of 500 hold 50 million products.
    seconds
        Time of the whole load.
    bytes
        Size of all replies, decompressed.

    Raises
    ------
    QueryError
        When a value is not a positive number; `math.inf` for no limit.

    Examples
    --------
    >>> LoadBudget(seconds=3600)
    LoadBudget(calls=100000, seconds=3600, bytes=500000000000)
    """

    calls: float = 100_000
    seconds: float = 86_400
    bytes: float = 500_000_000_000

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not (is_positive(value) or value == math.inf):
                raise QueryError(f"LoadBudget({one.name}={value!r}) is not a limit. Give a positive number.")


@dataclass
class Spending:
    """What a load has used so far. Threads may share it.

    Parameters
    ----------
    budget
        The limits.
    clock
        Seconds, for tests.
    """

    budget: LoadBudget
    clock: Callable[[], float] = time.monotonic
    calls: int = 0
    bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def add(self, size: int) -> None:
        """Count one call and the bytes of its reply."""
        with self._lock:
            self.calls += 1
            self.bytes += size

    def exceeded(self) -> str:
        """Return which limit was reached, in words; "" if none was."""
        spent = {"calls": self.calls, "seconds": self.clock() - self._began, "bytes": self.bytes}
        for name, value in spent.items():
            limit = getattr(self.budget, name)
            if value >= limit:
                shown = f"{math.floor(value):,} of {limit:,.0f} {name}"
                return f"the budget of the load is spent ({shown}); budget=LoadBudget({name}=...) changes it"
        return ""

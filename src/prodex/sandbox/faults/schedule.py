"""The schedule of faults: which are ordered, which calls they have seen, and which they have hit."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from re import fullmatch

from prodex.sandbox.faults.fault import ENDPOINTS, Fault


@dataclass(frozen=True)
class FaultHit:
    """A fault that has happened.

    Attributes
    ----------
    fault
        As it was ordered.
    call
        Number of the call, counted as for the fault's `at`.
    method, path
        The call.
    """

    fault: Fault
    call: int
    method: str
    path: str

    @property
    def kind(self) -> str:
        """The fault's name."""
        return self.fault.kind


@dataclass
class _Ordered:
    fault: Fault
    calls: int = 0


class FaultSchedule:
    """The faults that are ordered, and those that have happened.

    Attributes
    ----------
    hits
        What has happened, in its order.
    failures
        What functions raised that were run at a call.
    """

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._ordered: list[_Ordered] = []
        self._lock = threading.Lock()
        self.hits: list[FaultHit] = []
        self.failures: list[Exception] = []
        self.add(faults)

    def add(self, faults: Iterable[Fault]) -> None:
        """Order faults; each counts calls from now on."""
        added = []
        for fault in faults:
            if not isinstance(fault, Fault):
                raise TypeError(f"{fault!r} is not a Fault; write Fault('503', at=3), for example.")
            added.append(_Ordered(fault))
        with self._lock:
            # A new list, since `due` reads the old one without the lock.
            self._ordered = [*self._ordered, *added]

    def clear(self) -> None:
        """Remove every fault."""
        with self._lock:
            self._ordered = []

    # Nearly every call passes here without a fault; it takes no lock then.
    def due(self, method: str, path: str) -> list[FaultHit]:
        """Count a call, and return the faults that hit it."""
        if not self._ordered:
            return []
        with self._lock:
            due = []
            for one in self._ordered:
                if any(
                    method == of and fullmatch(pattern, path) for of, pattern in ENDPOINTS[one.fault.endpoint]
                ):
                    one.calls += 1
                    if one.fault.hits(one.calls):
                        due.append(FaultHit(one.fault, one.calls, method, path))
            return due

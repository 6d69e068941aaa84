"""The brake on guessing secrets: wrong tries are counted for each client id and for each address.

A client that was wrong too often waits before any secret of its is looked at again, longer each time. An address that
was wrong too often gets the same answer to every wrong try, whichever client it names; but a right secret is taken,
since others may call from there too. Unknown client ids count like known ones: the answers do not tell them apart.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from prodex.sandbox.refusals import Refusal

#: Wrong tries that cost nothing: people mistype.
_FREE_OF_CLIENT: Final = 4
_FREE_OF_ADDRESS: Final = 20
_LONGEST_WAIT: Final = 60.0
_FORGOTTEN_AFTER: Final = 900.0
_MOST_REMEMBERED: Final = 10_000


@dataclass(frozen=True)
class _Wrong:
    tries: int
    last: float
    free: int

    @property
    def wait(self) -> float:
        """Seconds to wait after the last try."""
        over = self.tries - self.free
        return min(2.0 ** min(over - 1, 10), _LONGEST_WAIT) if over > 0 else 0.0


class _Counts:
    """Wrong tries by name, as many names as are worth their memory."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._by_name: OrderedDict[str, _Wrong] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str, now: float) -> _Wrong:
        found = self._by_name.get(name)
        return found if found and now - found.last <= _FORGOTTEN_AFTER else _Wrong(0, now, self._free)

    def add(self, name: str, now: float) -> None:
        self._by_name[name] = _Wrong(self.get(name, now).tries + 1, now, self._free)
        self._by_name.move_to_end(name)
        if len(self._by_name) > _MOST_REMEMBERED:
            self._by_name.popitem(last=False)

    def forget(self, name: str) -> None:
        self._by_name.pop(name, None)


class Attempts:
    """Wrong tries of clients and of addresses.

    Parameters
    ----------
    clock
        Seconds from any start, never going back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._clients = _Counts(_FREE_OF_CLIENT)
        self._addresses = _Counts(_FREE_OF_ADDRESS)
        self._lock = threading.Lock()

    @property
    def remembered(self) -> int:
        """How many clients and addresses are remembered."""
        return len(self._clients) + len(self._addresses)

    def check(self, client_id: str) -> None:
        """Raise Refusal where a client has to wait before a secret is looked at."""
        with self._lock:
            now = self._clock()
            wrong = self._clients.get(_short(client_id), now)
        _refuse(wrong.last + wrong.wait - now)

    def note_wrong(self, client_id: str, address: str) -> None:
        """Count a wrong try; raise Refusal where the address has been wrong too often."""
        with self._lock:
            now = self._clock()
            self._clients.add(_short(client_id), now)
            self._addresses.add(address, now)
            wait = self._addresses.get(address, now).wait
        _refuse(wait)

    def note_right(self, client_id: str) -> None:
        """Forget the wrong tries of a client that has shown the right secret."""
        with self._lock:
            self._clients.forget(_short(client_id))


def _refuse(wait: float) -> None:
    if wait > 0:
        seconds = math.ceil(wait)
        raise Refusal(
            "too_many_attempts",
            f"Too many wrong secrets came for this client_id, or from this address; wait {seconds} s.",
            {"Retry-After": str(seconds)},
        )


def _short(client_id: str) -> str:
    # A client id may be as long as a body.
    return client_id[:200]

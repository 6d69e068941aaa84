"""The connections of one way out: few to a host at a time, used again, and all cut at once when it has to stop."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import partial

from prodex.service.line import Line

#: Connections that wait, to whomever: a catalogue may name more hosts than a process may have connections.
_MOST_IDLE = 32


class Lines:
    """Connections that are in use, or wait to be used again; many threads share them.

    Parameters
    ----------
    per_host
        How many to one host may be in use at a time.
    """

    def __init__(self, per_host: int) -> None:
        self._lock = threading.Lock()
        self._turns: dict[str, threading.Semaphore] = defaultdict(partial(threading.Semaphore, per_host))
        self._idle: list[tuple[Hashable, Line]] = []
        self._busy: set[Line] = set()
        self.is_halted = False

    @contextmanager
    def turn(self, host: str) -> Iterator[None]:
        """Wait until a host may be asked."""
        with self._lock:
            turn = self._turns[host]
        with turn:
            yield

    def idle(self, purpose: Hashable) -> Line | None:
        """Return an open connection for a purpose, if one waits."""
        with self._lock:
            place = next((place for place, (of, _) in enumerate(self._idle) if of == purpose), None)
            return None if place is None else self._idle.pop(place)[1]

    @contextmanager
    def held(self, line: Line, purpose: Hashable) -> Iterator[None]:
        """Have a connection in use; afterwards it waits for the next file of the same purpose, or is closed.

        Raises
        ------
        ConnectionAbortedError
            When it was cut meanwhile: what looks like the end of a reply may be where it was cut.
        """
        with self._lock:
            self._busy.add(line)
            if self.is_halted:
                line.cut()
        try:
            yield
            line.check()
        except BaseException:
            line.close()
            raise
        finally:
            with self._lock:
                self._busy.remove(line)
                if line.is_free:
                    self._idle.append((purpose, line))
                else:
                    line.close()
                while len(self._idle) > _MOST_IDLE:
                    self._idle.pop(0)[1].close()

    def halt(self) -> None:
        """Cut every connection, those that are opened later too."""
        with self._lock:
            self.is_halted = True
            for line in self._busy:
                line.cut()

    def close(self) -> None:
        """Close those that wait."""
        with self._lock:
            for _, line in self._idle:
                line.close()
            self._idle.clear()

"""Background work that lets answers through: what somebody presses is answered while something is still read.

Only one thread of Python computes at a time, and it hands over after five milliseconds (`sys.getswitchinterval`). An
answer that takes twenty turns beside a thread that computes waits a tenth of a second for them, which people notice.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Seconds of a turn while something works in the background.
_TURN = 0.0005
#: Python rounds what is set down to microseconds, and what it returns may be just below one.
_HALF_MICROSECOND = 5e-7


class _ShortTurns:
    """Turns are short as long as anything works, and as long as they were before afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._working = 0
        self._before = self._set = _TURN

    def begin(self) -> None:
        with self._lock:
            if not self._working:
                self._before = sys.getswitchinterval()
                if self._before > _TURN:
                    sys.setswitchinterval(_TURN)
                self._set = sys.getswitchinterval()
            self._working += 1

    def end(self) -> None:
        with self._lock:
            self._working -= 1
            # Somebody may have chosen another length meanwhile, which is theirs.
            if not self._working and sys.getswitchinterval() == self._set:
                sys.setswitchinterval(self._before + _HALF_MICROSECOND)


_TURNS = _ShortTurns()


@contextmanager
def short_turns() -> Iterator[None]:
    """Let all threads compute in short turns until the block ends.

    >>> before = sys.getswitchinterval()
    >>> with short_turns():
    ...     sys.getswitchinterval() < before
    True
    >>> sys.getswitchinterval() == before
    True
    """
    _TURNS.begin()
    try:
        yield
    finally:
        _TURNS.end()

"""Every Python under a moved clock reads this first: it sleeps by a call that the mover of the clock leaves alone.

libfaketime moves the end of a `clock_nanosleep` although the clock that it is told by was not moved.
"""

from __future__ import annotations

import select
import time


def _sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = _sleep  # type: ignore[assignment]

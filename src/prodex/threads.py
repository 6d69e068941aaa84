"""Work side by side on many things, such as the parts of a catalogue, with few of them in memory.

Reading, compressing and computing with columns happens without the lock of the interpreter, so that threads help.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")

#: How far a thread steps back (`nice`): it has a third of a processor that somebody else wants as well.
_STEP = 5


class _Here(threading.local):
    """What is true of the thread that asks."""

    has_stepped_back = False


_HERE = _Here()


def side_by_side(work: Callable[[_Item], _Made], items: Iterable[_Item]) -> Iterator[_Made]:
    """Yield what a function makes of each item, in order; as many threads as there are cores work ahead.

    In a thread that has stepped back half of them work.

    Unlike `Executor.map`, it takes no more items than are worked on, and holds no more results than one a thread.

    Parameters
    ----------
    work
        What is done with each.
    items
        The items; they are asked for here, one at a time.

    Examples
    --------
    >>> list(side_by_side(str.upper, ["wide", "narrow"]))
    ['WIDE', 'NARROW']
    """
    cores = os.cpu_count() or 1
    if _HERE.has_stepped_back:
        cores = (cores + 1) // 2
    waiting = iter(items)
    under_way: deque[Future[_Made]] = deque()
    with ThreadPoolExecutor(cores) as threads:
        try:
            while True:
                under_way.extend(
                    threads.submit(work, one) for one in islice(waiting, cores + 1 - len(under_way))
                )
                if not under_way:
                    return
                yield under_way.popleft().result()
        finally:
            # Whoever takes no more, or is interrupted, does not wait for what has not begun.
            for future in under_way:
                future.cancel()


def step_back() -> None:
    """Leave the processors to others: for a thread whose result nobody waits for, and which ends with its work.

    What it does side by side takes half of the processors. On Linux it and the threads that it starts are also less
    urgent than the others, which a thread cannot take back; elsewhere that would slow the whole process.
    """
    _HERE.has_stepped_back = True
    if sys.platform == "linux":
        with suppress(OSError):  # somebody may have forbidden it; then all are as urgent
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + _STEP)

"""Work side by side on many things, such as the parts of a catalogue, with few of them in memory.

Reading, compressing and computing with columns happens without the lock of the interpreter, so that threads help.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


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
    """Leave half of the processors to others: for a thread whose result nobody waits for, and which ends with its work.

    It is not made less urgent (`nice`) as well: Arrow begins the threads that it keeps for good in whichever thread
    reads first, and they would be less urgent ever after.
    """
    _HERE.has_stepped_back = True

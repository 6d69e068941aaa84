"""Work side by side on many things, such as the parts of a catalogue, with few of them in memory.

Reading, compressing and computing with columns happens without the lock of the interpreter, so that threads help.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from os import cpu_count
from typing import TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def side_by_side(work: Callable[[_Item], _Made], items: Iterable[_Item]) -> Iterator[_Made]:
    """Yield what a function makes of each item, in order; as many threads as there are cores work ahead.

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
    cores = cpu_count() or 1
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

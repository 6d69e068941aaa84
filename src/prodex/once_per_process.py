"""Tables that several threads ask for at once: one of them makes each, and the others wait for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import RLock
from typing import Any, Final, ParamSpec, TypeVar, cast

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")

#: A lock for each table. One for all would let a rule of somebody else that never ends keep all tables.
_locks: Final[dict[Callable[..., Any], Any]] = {}
#: Seconds that a thread waits for another one that makes a table. Then it makes the table itself: the other may never
#: end, or wait for a table that this one is making.
_PATIENCE: Final = 20.0


def once_per_process(make: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """Return a function that makes each of its results once, and keeps it: `functools.cache` for large tables.

    Of `functools.cache`, two threads that ask at the same moment each make the whole table.

    Examples
    --------
    >>> @once_per_process
    ... def words(language: str) -> list[str]:
    ...     print("made", language)
    ...     return ["riz"]
    >>> words("fr"), words("fr")
    made fr
    (['riz'], ['riz'])
    """
    of_one = cast("Callable[_Given, _Made]", cache(make))

    @wraps(make)
    def in_turn(*given: _Given.args, **named: _Given.kwargs) -> _Made:
        lock = _locks.setdefault(make, RLock())
        is_mine = lock.acquire(timeout=_PATIENCE)
        try:
            return of_one(*given, **named)
        finally:
            if is_mine:
                lock.release()

    # What is made already is found without a lock.
    return cast("Callable[_Given, _Made]", cache(in_turn))


if hasattr(os, "register_at_fork"):
    # The thread that was making a table is not in a forked process, and releases nothing there.
    os.register_at_fork(after_in_child=_locks.clear)

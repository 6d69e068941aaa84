"""Tables that several threads ask for at once: one of them makes each, and the others wait for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, wraps
from threading import RLock
from typing import ParamSpec, TypeVar, cast

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")

#: One for all tables, since one is made of others: with one lock for each, two threads could wait for each other.
_making = RLock()


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
        with _making:
            return of_one(*given, **named)

    # What is made already is found without a lock.
    return cast("Callable[_Given, _Made]", cache(in_turn))


def _begin_anew() -> None:
    """Let a forked process make tables: the thread that was making one is not in it."""
    global _making  # noqa: PLW0603 - a lock cannot be released for a thread that is gone
    _making = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)

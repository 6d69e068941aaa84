"""A time limit for user-defined rules: a rule that does not return affects only its own column."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import Thread
from typing import Any, NoReturn, TypeVar

_Made = TypeVar("_Made")

#: Seconds that a user's rule may take for one part of a catalogue; prodex's own rules take less than one.
RULE_SECONDS = 60.0


class RuleTimeout(Exception):
    """A rule exceeded its time limit."""


class RuleExited(Exception):
    """A rule tried to end the program."""


class _Abandoned(SystemExit):
    """Raised in an abandoned thread: it ends the thread without a traceback."""


def within(seconds: float | None, work: Callable[[], _Made]) -> _Made:
    """Return or raise what `work` returns or raises, but wait only for a limited time.

    The work runs in a thread of its own. Python cannot end a thread from outside. One that has not returned in time is
    abandoned: nobody takes its result any more, and an exception in it ends it as soon as it runs Python code again. A
    call into compiled code (a regular expression, a computation of Arrow) goes on until it returns, and so does what
    catches every exception; both use a processor and memory meanwhile. The thread is a daemon: the process does not
    wait for it when it ends.

    Parameters
    ----------
    seconds
        For how long; None waits for ever, without a thread.
    work
        What to do.

    Raises
    ------
    RuleTimeout
        When it did not return in time.
    RuleExited
        When it raised SystemExit, or another exception that is meant to end more than itself. KeyboardInterrupt is
        raised as it is.

    Examples
    --------
    >>> within(10, lambda: 7)
    7
    """
    if seconds is None:
        return _kept_inside(work)
    outcome: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            raised.append(error)

    thread = Thread(target=run, name="rule", daemon=True)
    thread.start()
    thread.join(seconds)
    # A thread that has its result but not ended yet is in time.
    if thread.is_alive() and not (outcome or raised):
        _abandon(thread)
        raise RuleTimeout(
            f"it took longer than {seconds:g} seconds and was abandoned. Allow more with rule_seconds, or let it work "
            "on whole columns instead of product by product."
        )
    if raised:
        _kept_inside(lambda: _raise(raised.pop()))
    made: _Made = outcome.pop()
    return made


def _kept_inside(work: Callable[[], _Made]) -> _Made:
    try:
        return work()
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise RuleExited(
            f"it tried to end the program: {type(error).__name__} {words_of(error)}".rstrip()
        ) from error


def words_of(error: BaseException) -> str:
    """Return the message of an exception, which somebody else's class makes."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the message is lost, and nothing else should be
        return "(its message cannot be shown)"


def _raise(error: BaseException) -> NoReturn:
    raise error


def _abandon(thread: Thread) -> None:
    # The only way that CPython has: https://docs.python.org/3/c-api/init.html#c.PyThreadState_SetAsyncExc
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Abandoned)
    )

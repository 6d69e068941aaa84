"""Work in a background thread: buttons still answer, and the result arrives in the event loop that asked for it.

Only one thread of Python computes at a time, and it hands over after five milliseconds (`sys.getswitchinterval`). An
answer that takes twenty turns beside a thread that computes waits a tenth of a second for them, which people notice.
"""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from prodex.executors import use_half_the_cores

T = TypeVar("T")

#: Held while a panel answers. JupyterLab sends what is pressed to a thread of its own, beside the one that runs cells
#: and that has answered the first presses: two answers at a time would each see what the other has changed by half.
ANSWERING = threading.RLock()

#: The threads that work, and the seconds that all of them are given at the end of the process.
_WORKING: WeakSet[threading.Thread] = WeakSet()
_LAST_SECONDS = 2.0


class LatestTask(Generic[T]):
    """Runs a task whenever it is called, and drops the results of all calls but the latest.

    A call with the arguments of the latest one, while that still runs, starts nothing: whoever clicks while something
    is read does not have it read twice.

    Results are delivered in the event loop that made the call, one after the other: widgets are not made for several
    threads, and an observer in one would see what another has changed by half. Without an event loop (in a script or a
    test) results are delivered in the thread that worked.

    Parameters
    ----------
    work
        The task.
    then
        Receives the result, unless a newer call was made meanwhile.
    failed
        Receives the error instead, and an error of `then`, which nobody would see in an event loop.
    delay
        Seconds to wait for a newer call before the task begins.
    is_patient
        Whether nobody has asked for the result: then the task leaves the processors to what somebody waits for.

    Examples
    --------
    >>> found = []
    >>> look_up = LatestTask(lambda word: word.upper(), found.append, print, delay=0.05)
    >>> for word in ("a", "ab", "abc"):
    ...     look_up(word)
    >>> look_up.wait()
    >>> found
    ['ABC']
    """

    def __init__(
        self,
        work: Callable[..., T],
        then: Callable[[T], object],
        failed: Callable[[BaseException], object],
        delay: float = 0.0,
        *,
        is_patient: bool = False,
    ) -> None:
        self._work, self._then, self._failed, self._delay = work, then, failed, delay
        self._is_patient = is_patient
        self._latest = 0
        self._asked: tuple[Any, ...] | None = None
        self._changed = threading.Condition()
        self._delivering = threading.RLock()
        self._running = 0
        self._results: list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = []

    def __call__(self, *arguments: Any) -> None:
        """Run the task, unless it runs with these arguments already."""
        loop = running_loop()
        with self._changed:
            if self._asked is not None and _are_same_arguments(arguments, self._asked):
                return
            self._asked = arguments
            self._latest += 1
            self._running += 1
            number = self._latest
        # A daemon: a load that hangs must not keep the kernel from shutting down.
        thread = threading.Thread(target=self._run, args=(number, loop, arguments), daemon=True)
        _WORKING.add(thread)
        thread.start()

    def forget(self) -> None:
        """Drop the results of all calls so far."""
        with self._changed:
            self._asked = None
            self._latest += 1
            self._changed.notify_all()

    def is_busy(self) -> bool:
        """Return whether a call still runs, wanted or not, or its result is still to be delivered."""
        with self._changed:
            return self._running > 0

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until no call runs; for scripts and tests.

        Raises
        ------
        TimeoutError
            When it takes longer.
        """
        loop, end = running_loop(), monotonic() + seconds
        while True:
            # Whoever waits blocks the event loop that should deliver the results, so they are delivered here.
            self._deliver(loop)
            with self._changed:
                if not self._running:
                    return
                if not self._changed.wait_for(
                    lambda: not self._running or any(_may_deliver(one, loop) for one, _ in self._results),
                    end - monotonic(),
                ):
                    raise TimeoutError(f"The work was not done after {seconds:g} seconds.")

    def _run(self, number: int, loop: asyncio.AbstractEventLoop | None, arguments: tuple[Any, ...]) -> None:
        with self._changed:
            if self._changed.wait_for(lambda: self._latest != number, self._delay):
                self._ended(number)
                return
        if self._is_patient:
            use_half_the_cores()
        try:
            with short_switch_interval():
                result = self._work(*arguments)
        except BaseException as error:  # noqa: BLE001 - an error of any kind is shown at the widget's edge
            self._finish(number, loop, self._failed, error)
        else:
            self._finish(number, loop, self._then, result)

    def _finish(
        self,
        number: int,
        loop: asyncio.AbstractEventLoop | None,
        receive: Callable[[Any], object],
        result: Any,
    ) -> None:
        def deliver() -> None:
            try:
                # Without an event loop there is no such thread, and whoever waits for the result may be answering; an
                # older result does not come after a newer one all the same.
                with ANSWERING if loop is not None else self._delivering:
                    if number == self._latest:
                        receive(result)
            except Exception as error:
                if receive is self._failed:
                    raise
                self._failed(error)
            finally:
                self._ended(number)

        if loop is None or loop.is_closed():
            deliver()
        else:
            with self._changed:
                self._results.append((loop, deliver))
                self._changed.notify_all()
            try:
                loop.call_soon_threadsafe(self._deliver, loop)
            except RuntimeError:  # the loop was closed after the check above
                self._deliver(loop)

    def _deliver(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Deliver the results of one loop in the order in which they were finished."""
        while True:
            with self._changed:
                results = enumerate(self._results)
                place = next((place for place, (one, _) in results if _may_deliver(one, loop)), None)
                if place is None:
                    return
                _, deliver = self._results.pop(place)
            deliver()  # outside the lock: a result may make the next call

    def _ended(self, number: int) -> None:
        with self._changed:
            self._running -= 1
            if number == self._latest:
                self._asked = None
            self._changed.notify_all()


def let_end(seconds: float = _LAST_SECONDS) -> None:
    """Let what is nearly done end with the process: one that ends while Arrow reads a file for it is aborted."""
    end = monotonic() + seconds
    for thread in list(_WORKING):
        thread.join(max(0.0, end - monotonic()))


atexit.register(let_end)


def _are_same_arguments(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Return whether arguments are the same objects, or equal ones of kinds that compare as a whole."""
    plain = (str, int, tuple, list, frozenset)
    return len(some) == len(others) and all(
        one is other or (isinstance(one, plain) and type(one) is type(other) and one == other)
        for one, other in zip(some, others, strict=True)
    )


def _may_deliver(one: asyncio.AbstractEventLoop, loop: asyncio.AbstractEventLoop | None) -> bool:
    """Return whether results for one loop may be delivered in another: a closed loop will not do it itself."""
    return one is loop or one.is_closed()


def progress_report(show: Callable[[int, int], object], seconds: float = 0.5) -> Callable[[int, int], None]:
    """Return a function of (done, total) that shows how far work is, from whichever thread it is called.

    It is to be called in the event loop that `show` belongs to.

    Parameters
    ----------
    show
        Shows it, in that event loop; without one in the thread that works.
    seconds
        The least time between two reports that are shown.
    """
    loop, shown_at = running_loop(), -inf

    def report(done: int, total: int) -> None:
        nonlocal shown_at
        if monotonic() - shown_at < seconds:
            return
        shown_at = monotonic()
        if loop is None:
            show(done, total)
        else:
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(show, done, total)

    return report


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, if one runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


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
def short_switch_interval() -> Iterator[None]:
    """Let all threads compute in short turns until the block ends.

    >>> before = sys.getswitchinterval()
    >>> with short_switch_interval():
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

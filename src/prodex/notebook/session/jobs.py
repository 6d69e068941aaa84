"""Long work beside a panel: it can be cancelled, it can be forgotten for newer work, and it says how far it is.

It works in a thread of its own, so that buttons still answer; the result arrives in the event loop that asked for it.

Only one thread of Python computes at a time, and it hands over after five milliseconds (`sys.getswitchinterval`). An
answer that takes twenty turns beside a thread that computes waits a tenth of a second for them, which people notice.
"""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, suppress
from functools import partial
from time import monotonic
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from prodex.errors import ServiceError
from prodex.executors import use_half_the_cores
from prodex.progress import PhaseProgress, Reporter

T = TypeVar("T")

#: Held while a result is delivered: several loops, or threads without one, may do it at a time.
_DELIVERING = threading.RLock()

#: The threads that work, and the seconds that all of them are given at the end of the process.
_WORKING: WeakSet[threading.Thread] = WeakSet()
_LAST_SECONDS = 10.0

#: Seconds between two looks at how far work is.
_INTERVAL = 0.25


class Work(Generic[T]):
    """One piece of work in the background: how far it is, whether it is to end, and who takes its result.

    Its result is delivered in the event loop that started it, one after the other: widgets are not made for several
    threads, and an observer in one would see what another has changed by half. Without an event loop (in a script or a
    test) it is delivered in the thread that worked.

    Parameters
    ----------
    do
        The work, which reports its phases to what it is given.
    then
        Receives the result, unless the work was forgotten meanwhile.
    failed
        Receives the error instead, and an error of `then`, which nobody would see in an event loop.
    title
        What is done, for as long as no phase is reported.
    cancelled
        Called instead when the work has ended because it was cancelled.
    watch
        Called when work begins, several times a second while it runs, and when it ends.
    delay
        Seconds to wait before it begins: what is forgotten by then is never done.
    is_patient
        Whether nobody has asked for the result: then the work leaves the processors to what somebody waits for.
    is_dropped
        Whether `cancel` leaves the work at once, whose result is dropped: for work that only reads.

    Attributes
    ----------
    done, total
        The numbers that progress functions of users get: for a load the products received, and those that the
        service has announced.
    is_cancelled
        Whether it ends with its next step.
    is_running
        Whether its result is wanted and still to come.
    is_busy
        Whether it still runs, wanted or not, or its result is still to be delivered.
    reporter
        What it reports its phases to; once it is cancelled, this raises `CancelledError`.

    Examples
    --------
    >>> def count(reporter):
    ...     reporter.count(7, 12)
    ...     return "counted"
    >>> found = []
    >>> work = Work(count, found.append, print, title="Making it")
    >>> str(work.progress)
    'Making it, 0 s so far'
    >>> work.start()
    >>> work.wait()
    >>> found, work.done, work.is_running
    (['counted'], 7, False)
    """

    def __init__(
        self,
        do: Callable[[Reporter], T],
        then: Callable[[T], object],
        failed: Callable[[BaseException], object],
        *,
        title: str = "",
        cancelled: Callable[[], object] = lambda: None,
        watch: Callable[[], object] = lambda: None,
        delay: float = 0.0,
        is_patient: bool = False,
        is_dropped: bool = False,
    ) -> None:
        self._do, self._then, self._failed, self._cancelled, self._watch = do, then, failed, cancelled, watch
        self._delay, self._is_patient, self._is_dropped = delay, is_patient, is_dropped
        self._start = self._heard = monotonic()
        self._last = PhaseProgress(title)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._receive: Callable[[], object] | None = None
        self._changed = threading.Condition()
        self.done: int = 0
        self.total: int = 0
        self.is_cancelled: bool = False
        self.is_running: bool = True
        self.is_busy: bool = False
        self.reporter: Reporter = Reporter(self._hear, self._count)

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return monotonic() - self._start

    @property
    def progress(self) -> PhaseProgress:
        """How far it is now."""
        last, heard = self._last, self._heard
        return last.later(monotonic() - heard)

    def start(self) -> None:
        """Begin."""
        self._loop, self.is_busy = _running_loop(), True
        self._show_again()
        # A daemon: a load that hangs must not keep the kernel from shutting down.
        thread = threading.Thread(target=self._run, daemon=True)
        _WORKING.add(thread)
        thread.start()

    def cancel(self) -> None:
        """End with the next step, which never leaves half a file; work that only reads is left at once."""
        if not self.is_running:
            return
        if self._is_dropped:
            self.forget()
            self._cancelled()
        else:
            self.is_cancelled = True
            self._watch()

    def forget(self) -> None:
        """Cancel it, and drop its result at once."""
        if self._is_taken():
            self.is_cancelled = True
            self._watch()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until it does not run; for scripts and tests.

        Raises
        ------
        TimeoutError
            When it takes longer.
        """
        loop, end = _running_loop(), monotonic() + seconds
        while self.is_busy:
            with self._changed:
                if not self._changed.wait_for(
                    lambda: not self.is_busy or self._may_be_delivered_in(loop), end - monotonic()
                ):
                    raise TimeoutError(f"The work was not done after {seconds:g} seconds.")
            # Whoever waits blocks the event loop that should deliver the result, so it is delivered here.
            self._deliver()

    def _hear(self, progress: PhaseProgress) -> None:
        self._last, self._heard = progress, monotonic()
        self._end_if_cancelled()

    def _count(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        self._end_if_cancelled()

    def _end_if_cancelled(self) -> None:
        if self.is_cancelled:
            raise CancelledError

    def _show_again(self) -> None:
        """Show how far it is now, and again after a moment as long as it runs."""
        if self.is_running:
            self._watch()
            if self._loop is not None:  # without one, in a script, nobody watches
                self._loop.call_later(_INTERVAL, self._show_again)

    def _run(self) -> None:
        receive = self._done()
        if receive is None or not threading.main_thread().is_alive():
            self._ended()  # the process ends, or it was forgotten: there is nobody to be told
            return
        with self._changed:
            self._receive = receive
            self._changed.notify_all()
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._deliver)
                return
        except RuntimeError:  # the loop is closed
            pass
        self._deliver()

    def _done(self) -> Callable[[], object] | None:
        """Do the work, and return what tells of it; None where nobody is to be told."""
        with self._changed:
            if self._changed.wait_for(lambda: not self.is_running, self._delay):
                return None
        if self._is_patient:
            use_half_the_cores()
        try:
            with short_switch_interval():
                return partial(self._then, self._do(self.reporter))
        except BaseException as error:  # noqa: BLE001 - an error of any kind is shown at the widget's edge
            if _is_of_the_end(error):
                return None
            # What fails while it is being cancelled is no news to whoever has cancelled it.
            is_no_news = self.is_cancelled and isinstance(error, CancelledError | ServiceError)
            return self._cancelled if is_no_news else partial(self._failed, error)

    def _is_taken(self) -> bool:
        """Whether its result is wanted; from now on it does not run any more."""
        with self._changed:
            was_running, self.is_running = self.is_running, False
            self._changed.notify_all()
            return was_running

    def _may_be_delivered_in(self, loop: asyncio.AbstractEventLoop | None) -> bool:
        """Whether there is a result that may be delivered in a loop: a closed loop will not do it itself."""
        own = self._loop
        return self._receive is not None and own is not None and (own is loop or own.is_closed())

    def _deliver(self) -> None:
        """Deliver the result, if nobody has done it yet."""
        with self._changed:
            receive, self._receive = self._receive, None
        if receive is None:
            return
        try:
            with _DELIVERING:
                if self._is_taken():
                    try:
                        self._watch()
                        receive()
                    except Exception as error:  # noqa: BLE001 - nobody would see it in an event loop
                        if not _is_of_the_end(error):
                            self._failed(error)
        finally:
            self._ended()

    def _ended(self) -> None:
        with self._changed:
            self.is_busy = False
            self._changed.notify_all()


def to_the_end(reporter: Reporter) -> Reporter:
    """Return a reporter of the same phases that does not end the work when it is cancelled.

    >>> work = Work(str, print, print)
    >>> work.cancel()
    >>> with to_the_end(work.reporter).phase("Sending") as show:
    ...     show(1, 2)
    """

    def tell(progress: PhaseProgress) -> None:
        with suppress(CancelledError):
            reporter.tell(progress)

    return Reporter(tell)


def _is_of_the_end(error: BaseException) -> bool:
    """Return whether it says that no thread can begin, since the process ends: nobody is to be told."""
    # Python says "after shutdown", "after interpreter shutdown" and "at interpreter shutdown". Once the main thread has
    # ended, nobody is there to whom any error would be news.
    is_ending = not threading.main_thread().is_alive()
    return is_ending or (isinstance(error, RuntimeError) and str(error).endswith("shutdown"))


def let_end(seconds: float = _LAST_SECONDS) -> None:
    """Let what is nearly done end with the process: one that ends while Arrow reads a file for it is aborted."""
    end = monotonic() + seconds
    for thread in list(_WORKING):
        thread.join(max(0.0, end - monotonic()))


atexit.register(let_end)


def are_same_arguments(some: tuple[Any, ...] | None, others: tuple[Any, ...] | None) -> bool:
    """Return whether arguments are the same objects, or equal ones of kinds that compare as a whole."""
    if some is None or others is None:
        return some is others
    plain = (str, int, tuple, list, frozenset, slice)
    return len(some) == len(others) and all(
        one is other or (isinstance(one, plain) and type(one) is type(other) and one == other)
        for one, other in zip(some, others, strict=True)
    )


def _running_loop() -> asyncio.AbstractEventLoop | None:
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

    def __enter__(self) -> None:
        with self._lock:
            if not self._working:
                self._before = sys.getswitchinterval()
                if self._before > _TURN:
                    sys.setswitchinterval(_TURN)
                self._set = sys.getswitchinterval()
            self._working += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._working -= 1
            # Somebody may have chosen another length meanwhile, which is theirs.
            if not self._working and sys.getswitchinterval() == self._set:
                sys.setswitchinterval(self._before + _HALF_MICROSECOND)


_TURNS = _ShortTurns()


def short_switch_interval() -> AbstractContextManager[None]:
    """Let all threads compute in short turns until the block ends.

    >>> with short_switch_interval():
    ...     sys.getswitchinterval() <= 0.0005
    True
    """
    return _TURNS

"""Long work has one runner: the latest wins, it can be cancelled, and it says how far it is.

It works in a thread of its own, so that buttons still answer; the result arrives in the event loop that asked for it.

Only one thread of Python computes at a time, and it hands over after five milliseconds (`sys.getswitchinterval`). An
answer that takes twenty turns beside a thread that computes waits a tenth of a second for them, which people notice.
"""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
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


class Work:
    """One piece of work in the background: how far it is, and whether it is to end.

    Parameters
    ----------
    title
        What is done, for as long as no phase is reported.

    Attributes
    ----------
    began
        Time of our clock when it began, UTC.
    done, total
        The numbers that progress functions of users get: for a load the products received, and those that the
        service has announced.
    is_cancelled
        Whether it ends with its next step.
    reporter
        What it reports its phases to; once it is cancelled, this raises `CancelledError`.

    Examples
    --------
    >>> work = Work("Making it")
    >>> str(work.progress)
    'Making it, 0 s so far'
    >>> work.reporter.count(7, 12)
    >>> work.done
    7
    """

    def __init__(self, title: str) -> None:
        self._start = self._heard = monotonic()
        self._last = PhaseProgress(title)
        self.began: datetime = datetime.now(UTC)
        self.done: int = 0
        self.total: int = 0
        self.is_cancelled: bool = False
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

    def cancel(self) -> None:
        """End it with its next step: what a step leaves is never half a file."""
        self.is_cancelled = True

    def _hear(self, progress: PhaseProgress) -> None:
        self._last, self._heard = progress, monotonic()
        self._end_if_cancelled()

    def _count(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        self._end_if_cancelled()

    def _end_if_cancelled(self) -> None:
        if self.is_cancelled:
            raise CancelledError


def to_the_end(reporter: Reporter) -> Reporter:
    """Return a reporter of the same phases that does not end the work when it is cancelled.

    >>> work = Work("Sending")
    >>> work.cancel()
    >>> with to_the_end(work.reporter).phase("Sending") as show:
    ...     show(1, 2)
    """

    def tell(progress: PhaseProgress) -> None:
        with suppress(CancelledError):
            reporter.tell(progress)

    return Reporter(tell)


class Runner(Generic[T]):
    """Runs work in the background, one piece at a time: what is started anew takes the place of what ran before.

    The work before is cancelled, and its result is dropped, however late it comes.

    Results are delivered in the event loop that started the work, one after the other: widgets are not made for several
    threads, and an observer in one would see what another has changed by half. Without an event loop (in a script or a
    test) results are delivered in the thread that worked.

    Parameters
    ----------
    then
        Receives the result, unless newer work was started meanwhile.
    failed
        Receives the error instead, and an error of `then`, which nobody would see in an event loop.
    cancelled
        Called instead when the work has ended because it was cancelled.
    watch
        Called when work begins, several times a second while it runs, and when it ends; to show `work`.
    delay
        Seconds to wait for newer work before this begins.
    is_patient
        Whether nobody has asked for the result: then the work leaves the processors to what somebody waits for.
    is_dropped
        Whether `cancel` leaves the work at once, whose result is dropped: for work that only reads.

    Attributes
    ----------
    work
        The work that runs, or that ran last.

    Examples
    --------
    >>> found = []
    >>> runner = Runner(found.append, print, delay=0.05)
    >>> for word in ("a", "ab", "abc"):
    ...     _ = runner.ask(str.upper, word)
    >>> runner.wait()
    >>> found
    ['ABC']
    """

    def __init__(
        self,
        then: Callable[[T], object],
        failed: Callable[[BaseException], object],
        *,
        cancelled: Callable[[], object] = lambda: None,
        watch: Callable[[], object] | None = None,
        delay: float = 0.0,
        is_patient: bool = False,
        is_dropped: bool = False,
    ) -> None:
        self._then, self._failed, self._cancelled, self._watch = then, failed, cancelled, watch
        self._delay, self._is_patient, self._is_dropped = delay, is_patient, is_dropped
        self.work: Work | None = None
        self._wanted: Work | None = None
        self._asked: tuple[Any, ...] | None = None
        self._changed = threading.Condition()
        self._threads = 0
        self._results: list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = []

    @property
    def is_running(self) -> bool:
        """Whether work runs whose result is wanted."""
        return self._wanted is not None

    def is_busy(self) -> bool:
        """Return whether work still runs, wanted or not, or its result is still to be delivered."""
        return self._threads > 0

    def start(self, do: Callable[[Reporter], T], title: str) -> Work:
        """Do some work, which reports its phases to what it is given.

        Parameters
        ----------
        do
            The work.
        title
            What is done, for as long as no phase is reported.
        """
        return self._start(do, title, None)

    def ask(self, do: Callable[..., T], *arguments: Any) -> Work:
        """Call a function, unless the answer for these arguments is awaited already.

        Whoever clicks while something is read does not have it read twice.
        """
        return self._start(lambda _: do(*arguments), "", arguments)

    def cancel(self) -> None:
        """End the work with its next step; work that only reads is left at once."""
        if (work := self._wanted) is None:
            return
        if self._is_dropped:
            self.forget()
            self._cancelled()
        else:
            work.cancel()
            self._show()

    def forget(self) -> None:
        """Cancel what runs, and drop its result at once."""
        with self._changed:
            work, self._wanted, self._asked = self._wanted, None, None
            self._changed.notify_all()
        if work is not None:
            work.cancel()
            self._show()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until no work runs; for scripts and tests.

        Raises
        ------
        TimeoutError
            When it takes longer.
        """
        loop, end = _running_loop(), monotonic() + seconds
        while True:
            # Whoever waits blocks the event loop that should deliver the results, so they are delivered here.
            self._deliver(loop)
            with self._changed:
                if not self._threads:
                    return
                if not self._changed.wait_for(
                    lambda: not self._threads or any(_may_deliver(one, loop) for one, _ in self._results),
                    end - monotonic(),
                ):
                    raise TimeoutError(f"The work was not done after {seconds:g} seconds.")

    def _start(self, do: Callable[[Reporter], T], title: str, asked: tuple[Any, ...] | None) -> Work:
        loop = _running_loop()
        with self._changed:
            if asked is not None and self._asked is not None and are_same_arguments(asked, self._asked):
                assert self.work is not None  # noqa: S101 - it was asked for
                return self.work
            if self._wanted is not None:
                self._wanted.cancel()
            self._asked = asked
            self.work = self._wanted = work = Work(title)
            self._threads += 1
            self._changed.notify_all()
        self._show_again(work)
        # A daemon: a load that hangs must not keep the kernel from shutting down.
        thread = threading.Thread(target=self._run, args=(work, loop, do), daemon=True)
        _WORKING.add(thread)
        thread.start()
        return work

    def _show(self) -> None:
        if self._watch is not None:
            self._watch()

    def _show_again(self, work: Work) -> None:
        """Show the work now, and again after a moment as long as it runs."""
        if self._watch is not None and work is self._wanted:
            self._watch()
            if (loop := _running_loop()) is not None:  # without one, in a script, nobody watches
                loop.call_later(_INTERVAL, self._show_again, work)

    def _run(self, work: Work, loop: asyncio.AbstractEventLoop | None, do: Callable[[Reporter], T]) -> None:
        with self._changed:
            if self._changed.wait_for(lambda: work is not self._wanted, self._delay):
                self._ended(work)
                return
        if self._is_patient:
            use_half_the_cores()
        try:
            with short_switch_interval():
                result = do(work.reporter)
        except BaseException as error:  # noqa: BLE001 - an error of any kind is shown at the widget's edge
            # What fails while it is being cancelled is no news to whoever has cancelled it.
            if _is_of_the_end(error):
                self._ended(work)
                return
            if work.is_cancelled and isinstance(error, CancelledError | ServiceError):
                receive = self._cancelled
            else:
                receive = partial(self._failed, error)
            self._finish(work, loop, receive)
        else:
            self._finish(work, loop, partial(self._then, result))

    def _finish(
        self, work: Work, loop: asyncio.AbstractEventLoop | None, receive: Callable[[], object]
    ) -> None:
        if not threading.main_thread().is_alive():
            self._ended(work)  # the process ends, and nobody is left to be told
            return

        def deliver() -> None:
            try:
                with _DELIVERING:
                    if self._is_taken(work):
                        try:
                            self._show()
                            receive()
                        except Exception as error:  # noqa: BLE001 - nobody would see it in an event loop
                            if not _is_of_the_end(error):
                                self._failed(error)
            finally:
                self._ended(work)

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

    def _is_taken(self, work: Work) -> bool:
        """Whether the result of some work is wanted; from now on it does not run any more."""
        with self._changed:
            if work is not self._wanted:
                return False
            self._wanted = None
            return True

    def _deliver(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Deliver the results of one loop in the order in which they were finished."""
        while True:
            with self._changed:
                results = enumerate(self._results)
                place = next((place for place, (one, _) in results if _may_deliver(one, loop)), None)
                if place is None:
                    return
                _, deliver = self._results.pop(place)
            deliver()  # outside the lock: a result may start the next work

    def _ended(self, work: Work) -> None:
        with self._changed:
            self._threads -= 1
            if work is self.work:
                self._asked = None
            self._changed.notify_all()


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


def _may_deliver(one: asyncio.AbstractEventLoop, loop: asyncio.AbstractEventLoop | None) -> bool:
    """Return whether results for one loop may be delivered in another: a closed loop will not do it itself."""
    return one is loop or one.is_closed()


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

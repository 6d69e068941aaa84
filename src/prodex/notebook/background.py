"""Work that takes a while, in a thread: buttons answer meanwhile, and the result comes back where it was asked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LatestTask(Generic[T]):
    """Does the newest of the works that it is given; what was asked before it is forgotten.

    Results are handed over in the event loop from which the work was asked for, one after the other, so that nothing
    that a widget shows changes under its hands; without a loop (a script, a test) in the thread that worked.

    Parameters
    ----------
    work
        What takes a while.
    then
        Gets the result, unless something newer was asked for meanwhile.
    failed
        Gets the error instead, one of `then` too, which nobody would see in an event loop.
    delay
        Seconds to wait for something newer before the work begins.

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
    ) -> None:
        self._work, self._then, self._failed, self._delay = work, then, failed, delay
        self._asked = 0
        self._changed = threading.Condition()
        self._under_way = 0
        self._ready: list[tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = []

    def __call__(self, *arguments: Any) -> None:
        """Ask for the work."""
        loop = _running_loop()
        with self._changed:
            self._asked += 1
            self._under_way += 1
            number = self._asked
        threading.Thread(target=self._run, args=(number, loop, arguments), daemon=True).start()

    def forget(self) -> None:
        """Want no result of what was asked so far."""
        with self._changed:
            self._asked += 1
            self._changed.notify_all()

    def is_busy(self) -> bool:
        """Say whether a result is still to come, or a work that nobody wants any more still runs."""
        with self._changed:
            return self._under_way > 0

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nothing is under way; for scripts and tests.

        Whoever waits in an event loop keeps it from taking results over, so that is done here meanwhile.

        Raises
        ------
        TimeoutError
            When it takes longer.
        """
        loop, end = _running_loop(), monotonic() + seconds
        while True:
            self._take_over(loop)
            with self._changed:
                if not self._under_way:
                    return
                if not self._changed.wait_for(
                    lambda: not self._under_way or any(_is_of(one, loop) for one, _ in self._ready),
                    end - monotonic(),
                ):
                    raise TimeoutError(f"The work was not done after {seconds:g} seconds.")

    def _run(self, number: int, loop: asyncio.AbstractEventLoop | None, arguments: tuple[Any, ...]) -> None:
        with self._changed:
            if self._changed.wait_for(lambda: self._asked != number, self._delay):
                self._ended()
                return
        try:
            result = self._work(*arguments)
        except BaseException as error:  # noqa: BLE001 - an error of any kind is shown at the widget's edge
            self._hand_over(number, loop, self._failed, error)
        else:
            self._hand_over(number, loop, self._then, result)

    def _hand_over(
        self,
        number: int,
        loop: asyncio.AbstractEventLoop | None,
        take: Callable[[Any], object],
        what: Any,
    ) -> None:
        def hand_over() -> None:
            try:
                if number == self._asked:
                    take(what)
            except Exception as error:
                if take is self._failed:
                    raise
                self._failed(error)
            finally:
                self._ended()

        if loop is None or loop.is_closed():
            hand_over()
        else:
            with self._changed:
                self._ready.append((loop, hand_over))
                self._changed.notify_all()
            try:
                loop.call_soon_threadsafe(self._take_over, loop)
            except RuntimeError:  # it was closed just now
                self._take_over(loop)

    def _take_over(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Take over, in the order in which they came, the results that are to be taken in this loop."""
        while True:
            with self._changed:
                ready = enumerate(self._ready)
                place = next((place for place, (one, _) in ready if _is_of(one, loop)), None)
                if place is None:
                    return
                _, hand_over = self._ready.pop(place)
            hand_over()

    def _ended(self) -> None:
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()


def _is_of(one: asyncio.AbstractEventLoop, loop: asyncio.AbstractEventLoop | None) -> bool:
    """Say whether a result for one event loop may be taken over in another: one that is closed does so no more."""
    return one is loop or one.is_closed()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, if one runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None

"""The phases of what takes a while: how far each is, and how long the rest of it will take.

A call has phases, such as receiving products and building tables. A bar in a terminal or a notebook and the panels show
the same sentence about each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import Self, TypeAlias

#: Called with how much is done, and of how much; 0 as long as that is not known.
Show: TypeAlias = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class PhaseProgress:
    """How far a phase is.

    Attributes
    ----------
    phase
        What is done, such as "Building tables".
    done, total
        How many are done, and of how many; the total is 0 as long as it is not known.
    unit
        What is counted, in the plural; "" for a phase in which nothing is.
    seconds
        How long it has taken so far.
    seconds_left
        How long the rest will take at the rate so far; None while that is unknown.

    Examples
    --------
    >>> print(PhaseProgress("Building tables", 7_000, 12_000, "products", 5.6, 4.0))
    Building tables: 7,000 of 12,000 products, about 4 s left
    >>> print(PhaseProgress("Building tables", 0, 12_000, "products", 1.2))
    Building tables: 0 of 12,000 products, time left unknown
    >>> print(PhaseProgress("Reading files", 3_000, unit="products", seconds=7))
    Reading files: 3,000 products, 7 s so far
    >>> print(PhaseProgress("Saving the snapshot", seconds=3.1))
    Saving the snapshot, 3 s so far
    """

    phase: str
    done: int = 0
    total: int = 0
    unit: str = ""
    seconds: float = 0.0
    seconds_left: float | None = None

    @property
    def has_ended(self) -> bool:
        """Whether everything is done."""
        return 0 < self.total <= self.done

    @property
    def time(self) -> str:
        """How long the rest will take, as far as that is known; else how long it has taken so far."""
        if self.has_ended:
            return in_words(self.seconds)
        if not self.total:
            return f"{in_words(self.seconds)} so far"
        if self.seconds_left is None:
            return "time left unknown"
        # Nobody believes "0 s left" for a second time.
        return f"about {in_words(max(self.seconds_left, 1))} left"

    def later(self, seconds: float) -> Self:
        """Return the same after so many seconds in which nothing more was done."""
        left = None if self.seconds_left is None else max(self.seconds_left - seconds, 0.0)
        return replace(self, seconds=self.seconds + seconds, seconds_left=left)

    def __str__(self) -> str:
        counted = ""
        if self.total:
            counted = f": {self.done:,} of {self.total:,} {self.unit}".rstrip()
        elif self.done:
            counted = (
                f": {self.done:,} {self.unit.removesuffix('s') if self.done == 1 else self.unit}".rstrip()
            )
        return f"{self.phase}{counted}, {self.time}"


def in_words(seconds: float) -> str:
    """Write seconds in the unit that a person would take.

    >>> in_words(0.4), in_words(89), in_words(100), in_words(3 * 3600 + 60)
    ('0 s', '89 s', '2 min', '3 h')
    """
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


@dataclass(frozen=True, slots=True)
class PhaseObserver:
    """What to give as `progress=` to hear of every phase, and of each step in it.

    Attributes
    ----------
    tell
        Called with each `PhaseProgress`, in the thread that does the work. An error that it raises ends the work.
    count
        Called as a function of (done, total) would be.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7}])
    >>> audit = prodex.audit(catalog, progress=PhaseObserver(lambda progress: print(progress.phase, progress.done)))
    Checking the profile 0
    Auditing 0
    Auditing 1
    """

    tell: Callable[[PhaseProgress], object]
    count: Show = lambda *_: None


class Reporter:
    """Reports the phases of one call to whoever watches; it is passed on to what does the work.

    Without parameters, nobody watches.

    Parameters
    ----------
    tell
        Called with each step of each phase.
    count
        What a user gave as a function of (done, total): called with the counts of the whole call, whatever its phases.

    Examples
    --------
    >>> reporter = Reporter(lambda progress: print(progress.phase, progress.done, progress.total))
    >>> with reporter.phase("Building tables", "products") as show:
    ...     show(7_000, 12_000)
    Building tables 0 0
    Building tables 7000 12000
    """

    def __init__(
        self, tell: Callable[[PhaseProgress], object] = lambda _: None, count: Show = lambda *_: None
    ) -> None:
        self._tell, self.count = tell, count

    @contextmanager
    def phase(self, phase: str, unit: str = "", total: int = 0, *, done: int = 0) -> Iterator[Show]:
        """Begin a phase, and give a function that reports (done, total) in it.

        Parameters
        ----------
        phase
            What is done.
        unit
            What is counted, in the plural.
        total
            How many there are, if that is known.
        done
            How many of them are done already.
        """
        clock = _Clock(monotonic())
        if total:
            clock.times(clock.began, done, total)
        self._tell(PhaseProgress(phase, done, total, unit))

        def show(done: int, total: int) -> None:
            seconds, left = clock.times(monotonic(), done, total)
            self._tell(PhaseProgress(phase, done, total, unit, seconds, left))

        yield show


@dataclass(slots=True)
class _Clock:
    """The times of a phase: when it began, and when how much was done.

    The rate is that since the first count: what was done before says nothing about it. Half of the tables may be built
    when everything has come.
    """

    began: float
    first: tuple[float, int] | None = None
    last: tuple[float, int] = (0.0, 0)

    def times(self, now: float, done: int, total: int) -> tuple[float, float | None]:
        """Return the seconds so far, and how many the rest will take at the rate so far.

        >>> clock = _Clock(began=0.0)
        >>> clock.times(1.0, 200, 1000), clock.times(3.0, 600, 1000), clock.times(3.5, 600, 1000)
        ((1.0, None), (3.0, 2.0), (3.5, 1.5))
        """
        if self.first is None or done < self.last[1]:  # a count that begins again has a rate of its own
            self.first = self.last = (now, done)
        elif done > self.last[1]:
            self.last = (now, done)
        took, gained = self.last[0] - self.first[0], self.last[1] - self.first[1]
        if not gained or not total or took <= 0:
            return now - self.began, None
        # Between two counts a phase becomes no slower, so that the time since the last one is taken off.
        return now - self.began, max((total - done) * took / gained - (now - self.last[0]), 0.0)


#: Of work that nobody watches.
SILENT = Reporter()

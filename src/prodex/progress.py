"""Progress bars, and lines beside them, for somebody at a terminal or in a notebook.

A call has phases, such as receiving products and building tables. A bar in a terminal or a notebook and the panels show
the same sentence about each of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Self, TypeAlias, TypeVar

from prodex.errors import QueryError
from prodex.phrases import duration_in_words

#: Called with how much is done, and of how much; 0 as long as that is not known.
Show: TypeAlias = Callable[[int, int], object]

_Sized = TypeVar("_Sized", bound=Sized)


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
            return duration_in_words(self.seconds)
        if not self.total:
            return f"{duration_in_words(self.seconds)} so far"
        if self.seconds_left is None:
            return "time left unknown"
        # Nobody believes "0 s left" for a second time.
        return f"about {duration_in_words(max(self.seconds_left, 1))} left"

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


class Reporter:
    """Reports the phases of one call to whoever watches; it is passed on to what does the work.

    Given as `progress=`, it hears every phase of a call, and each step in it. Without parameters, nobody watches.

    Parameters
    ----------
    tell
        Called with each step of each phase, in the thread that does the work. An error that it raises ends the work.
    count
        Called with the counts of the whole call, as a user's function of (done, total) is.

    Examples
    --------
    >>> import prodex
    >>> reporter = Reporter(lambda progress: print(progress.phase, progress.done), lambda *counts: print(counts))
    >>> audit = prodex.audit(prodex.flatten([{"id": 7}]), progress=reporter)
    Checking the profile 0
    Auditing 0
    (1, 1)
    Auditing 1
    """

    def __init__(
        self, tell: Callable[[PhaseProgress], object] = lambda _: None, count: Show = lambda *_: None
    ) -> None:
        self.tell, self.count = tell, count

    @contextmanager
    def phase(
        self, phase: str, unit: str = "", total: int = 0, *, done: int = 0, counts: bool = False
    ) -> Iterator[Phase]:
        """Begin a phase, and give what reports how far it is.

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
        counts
            Whether what is counted in this phase is what the whole call counts.
        """
        yield Phase(self, PhaseProgress(phase, done, total, unit), counts=counts)


class Phase:
    """A phase of a call while it runs; called with (done, total), it reports them.

    Attributes
    ----------
    done, total
        What was reported last.

    Examples
    --------
    >>> with Reporter(print).phase("Building tables", "products") as phase:
    ...     phase(7_000, 12_000)
    ...     phase.add(6_000)
    Building tables, 0 s so far
    Building tables: 7,000 of 12,000 products, time left unknown
    Building tables: 13,000 of 13,000 products, 0 s
    """

    def __init__(self, reporter: Reporter, begin: PhaseProgress, *, counts: bool = False) -> None:
        self._reporter, self._begin, self._counts = reporter, begin, counts
        self._clock = _Clock(monotonic())
        self.done: int = begin.done
        self.total: int = begin.total
        if begin.total:
            self._clock.times(self._clock.began, begin.done, begin.total)
        reporter.tell(begin)

    def __call__(self, done: int, total: int) -> None:
        """Report how much is done, and of how much: of what is more than was expected, so much."""
        self.done, self.total = done, max(total, done) if total else 0
        # First: who is told of a phase may end the work, and then knows how much was done.
        if self._counts:
            self._reporter.count(self.done, self.total)
        seconds, left = self._clock.times(monotonic(), self.done, self.total)
        self._reporter.tell(
            replace(self._begin, done=self.done, total=self.total, seconds=seconds, seconds_left=left)
        )

    def add(self, number: int = 1) -> None:
        """Report that so many more are done."""
        self(self.done + number, self.total)

    def passing(self, batches: Iterable[_Sized]) -> Iterator[_Sized]:
        """Yield batches, and report the size of each when the next one is wanted."""
        for batch in batches:
            yield batch
            self.add(len(batch))


@dataclass(slots=True)
class _Clock:
    """The times of a phase: when it began, and when how much was done.

    The rate is that since the first count: what was done before does not count. Half of the tables may be built
    when everything is received.
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


#: Seconds between two changes of a bar.
_INTERVAL = 0.1

#: What mostly takes less time has no bar until then: seconds.
PATIENCE = 1.0

#: Seconds between two lines about a phase in a file or a pipe, where no bar can move.
_PER_LINE = 30.0

#: None: a bar if somebody is watching (a terminal or a notebook). True: always a bar, or lines where no bar can move.
#: False: never. A function: called with the number of products received and the number announced. A reporter: hears
#: every phase.
Progress: TypeAlias = bool | Show | Reporter | None


@contextmanager
def reporting(
    progress: Progress, label: str, unit: str = "products", *, after: float = 0.0
) -> Iterator[Reporter]:
    """Give what reports the phases of a call as requested; a bar shows one after another.

    Parameters
    ----------
    progress
        As users give it.
    label, unit
        What a bar says in the end, beside the counts that functions of users get.
    after
        Seconds from which on there is a bar; what takes less time needs none.
    """
    if isinstance(progress, Reporter):
        yield progress
    elif callable(progress):
        yield Reporter(count=progress)
    elif not is_shown(progress):
        yield SILENT
    else:
        began, whole = monotonic(), PhaseProgress(label, unit=unit)

        def count(done: int, total: int) -> None:
            nonlocal whole
            whole = replace(whole, done=done, total=total)

        with closing(_Bar(label, after) if is_watched() else _Lines()) as shown:
            yield Reporter(shown.tell, count)
            whole = replace(whole, seconds=monotonic() - began)
            if whole.seconds >= after:
                # Of what an interrupted call has left, nothing may have to be counted.
                shown.end(whole, "" if whole.total else f"{whole.phase}: {duration_in_words(whole.seconds)}")


@contextmanager
def showing(
    progress: Progress,
    label: str,
    unit: str = "products",
    total: int = 0,
    *,
    phase: str = "",
    after: float = 0.0,
) -> Iterator[Phase]:
    """Give what shows (done, total) of a call with one phase.

    Parameters
    ----------
    progress, label, unit, after
        As for `reporting`.
    total
        How many there are, if that is known.
    phase
        What is done, where the label says what was done.

    Examples
    --------
    >>> with showing(print, "Products") as show:
    ...     show(50, 120)
    50 120
    """
    with (
        reporting(progress, label, unit, after=after) as reporter,
        reporter.phase(phase or label, unit, total, counts=True) as show,
    ):
        yield show


class _Bar:
    """A bar of tqdm that shows one phase after another, and in the end what was counted."""

    def __init__(self, label: str, after: float) -> None:
        self._began, self._drawn = monotonic(), 0.0
        self._label, self._after = label, after
        self._phase = ""
        self._made: Any = None

    def tell(self, progress: PhaseProgress) -> None:
        """Show a step of a phase."""
        now = monotonic()
        if now - self._began < self._after:
            return
        if progress.phase != self._phase or progress.has_ended or now - self._drawn >= _INTERVAL:
            self._phase, self._drawn = progress.phase, now
            self._draw(progress)

    def end(self, whole: PhaseProgress, uncounted: str) -> None:
        """Show what was counted, and how long all phases took; a sentence, where nothing was."""
        if uncounted:
            self._bar.bar_format = uncounted
            self._bar.refresh()
        else:
            self._draw(whole)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._made is not None:
            self._made.close()

    @property
    def _bar(self) -> Any:
        """The bar itself, made when it is first drawn."""
        if self._made is None:
            from tqdm.auto import tqdm

            self._made = tqdm(bar_format=self._label)
        return self._made

    def _draw(self, progress: PhaseProgress) -> None:
        if progress.total:
            count = f"{progress.done:,}/{progress.total:,} {progress.unit}".rstrip()
            self._bar.bar_format = f"{progress.phase}: {{percentage:3.0f}}%|{{bar}}| {count}, {progress.time}"
        else:
            self._bar.bar_format = str(progress)
        if progress.total and progress.total != self._bar.total:
            self._bar.reset(progress.total)  # a bar in a notebook would keep its scale
        self._bar.total = progress.total or None
        self._bar.n = progress.done
        self._bar.refresh()


class _Lines:
    """What a bar would show, as lines that somebody reads later, such as those of a log."""

    def __init__(self) -> None:
        self._written = monotonic()

    def tell(self, progress: PhaseProgress) -> None:
        """Write a line about a phase that takes long."""
        now = monotonic()
        if now - self._written >= _PER_LINE and not progress.has_ended:
            self._written = now
            write_line(True, str(progress))

    def end(self, whole: PhaseProgress, uncounted: str) -> None:
        """Write what was counted, and how long all phases took; a sentence, where nothing was."""
        write_line(True, uncounted or str(whole))

    def close(self) -> None:
        """Leave the lines as they are."""


def is_shown(progress: Progress) -> bool:
    """Whether anybody sees how far something is.

    Raises
    ------
    QueryError
        When it is none of what `progress=` takes.

    Examples
    --------
    >>> is_shown(False), is_shown(print)
    (False, True)
    """
    if isinstance(progress, Reporter):
        return True
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise QueryError(
            f"progress={progress!r:.40} is neither None, True nor False, nor a function of (done, total)."
        )
    return is_watched() if progress is None else bool(progress)


def write_line(progress: Progress, line: str) -> None:
    """Write a line where a bar would be shown: below the cell of a notebook, or on the terminal.

    Nothing is written if no bar would be shown, or if a function or a reporter takes its place. The caller makes the
    line printable.

    Examples
    --------
    >>> write_line(False, "Nobody wants to know.")
    """
    if not callable(progress) and not isinstance(progress, Reporter) and is_shown(progress):
        # Notebooks show the error stream in red, and this is no error. On a terminal standard output is for data.
        stream = sys.stdout if in_notebook() else sys.stderr
        if stream is not None:
            try:
                stream.write(f"{line}\n")
            except UnicodeEncodeError:  # the stream of a script, opened in an encoding of few letters
                stream.write(f"{line}\n".encode(stream.encoding, "backslashreplace").decode(stream.encoding))
            stream.flush()


def is_watched() -> bool:
    """Whether output is shown on a terminal or in a notebook, where somebody sees it."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook."""
    # IPython is looked up and not imported: if nobody has loaded it, this is no notebook.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")

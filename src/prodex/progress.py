"""Progress bars, and lines beside them, for somebody at a terminal or in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any, TypeAlias

from prodex.errors import QueryError
from prodex.phases import PhaseObserver, PhaseProgress, Reporter, Show, in_words

#: Seconds between two changes of a bar.
_INTERVAL = 0.1

#: What mostly takes less time has no bar until then: seconds.
PATIENCE = 1.0

#: Seconds between two lines about a phase in a file or a pipe, where no bar can move.
_PER_LINE = 30.0

#: None: a bar if somebody is watching (a terminal or a notebook). True: always a bar, or lines where no bar can move.
#: False: never. A function: called with the number of products received and the number announced. An observer: called
#: with every phase.
Progress: TypeAlias = bool | Show | PhaseObserver | None


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
    if isinstance(progress, PhaseObserver):
        yield Reporter(progress.tell, progress.count)
    elif callable(progress):
        yield Reporter(count=progress)
    elif not is_shown(progress):
        yield Reporter()
    else:
        bar = _Bar(label, unit, after) if is_watched() else _Lines(label, unit, after)
        try:
            yield Reporter(bar.tell, bar.count)
            bar.end()
        finally:
            bar.close()


@contextmanager
def showing(
    progress: Progress,
    label: str,
    unit: str = "products",
    total: int = 0,
    *,
    phase: str = "",
    after: float = 0.0,
) -> Iterator[Show]:
    """Give a function that shows (done, total) of a call with one phase.

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
        reporter.phase(phase or label, unit, total) as show,
    ):

        def both(done: int, total: int) -> None:
            show(done, total)
            reporter.count(done, total)

        yield both


class _Bar:
    """A bar of tqdm that shows one phase after another, and in the end what was counted."""

    def __init__(self, label: str, unit: str, after: float) -> None:
        self._began, self._drawn = monotonic(), 0.0
        self._after = after
        self._phase = ""
        self._whole = PhaseProgress(label, unit=unit)
        self._made: Any = None

    def tell(self, progress: PhaseProgress) -> None:
        """Show a step of a phase."""
        now = monotonic()
        if now - self._began < self._after:
            return
        if progress.phase != self._phase or progress.has_ended or now - self._drawn >= _INTERVAL:
            self._phase, self._drawn = progress.phase, now
            self._draw(progress)

    def count(self, done: int, total: int) -> None:
        """Note what the bar is to say in the end."""
        self._whole = replace(self._whole, done=done, total=total)

    def end(self) -> None:
        """Show what was counted, and how long all phases took."""
        whole = replace(self._whole, seconds=monotonic() - self._began)
        if whole.seconds < self._after:
            return
        if whole.total:
            self._draw(whole)
        else:  # of what an interrupted call has left, nothing may have to be counted
            self._bar.bar_format = f"{whole.phase}: {in_words(whole.seconds)}"
            self._bar.refresh()

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._made is not None:
            self._made.close()

    @property
    def _bar(self) -> Any:
        """The bar itself, made when it is first drawn."""
        if self._made is None:
            from tqdm.auto import tqdm

            self._made = tqdm(bar_format=self._whole.phase)
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

    def __init__(self, label: str, unit: str, after: float) -> None:
        self._began = self._written = monotonic()
        self._after = after
        self._whole = PhaseProgress(label, unit=unit)

    def tell(self, progress: PhaseProgress) -> None:
        """Write a line about a phase that takes long."""
        now = monotonic()
        if now - self._written >= _PER_LINE and not progress.has_ended:
            self._written = now
            tell(True, str(progress))

    def count(self, done: int, total: int) -> None:
        """Note what the last line is to say."""
        self._whole = replace(self._whole, done=done, total=total)

    def end(self) -> None:
        """Write what was counted, and how long all phases took."""
        whole = replace(self._whole, seconds=monotonic() - self._began)
        if whole.seconds >= self._after:
            tell(True, str(whole) if whole.total else f"{whole.phase}: {in_words(whole.seconds)}")

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
    if isinstance(progress, PhaseObserver):
        return True
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise QueryError(
            f"progress={progress!r:.40} is neither None, True nor False, nor a function of (done, total)."
        )
    return is_watched() if progress is None else bool(progress)


def tell(progress: Progress, line: str) -> None:
    """Write a line where a bar would be shown: below the cell of a notebook, or on the terminal.

    Nothing is written if no bar would be shown, or if a function or an observer takes its place. The caller makes the
    line printable.

    Examples
    --------
    >>> tell(False, "Nobody wants to know.")
    """
    if not callable(progress) and not isinstance(progress, PhaseObserver) and is_shown(progress):
        # Notebooks show the error stream in red, and this is no error. On a terminal standard output is for data.
        stream = sys.stdout if in_notebook() else sys.stderr
        if stream is not None:
            try:
                stream.write(f"{line}\n")
            except UnicodeEncodeError:  # the stream of a script, opened in an encoding of few letters
                stream.write(f"{line}\n".encode(stream.encoding, "backslashreplace").decode(stream.encoding))
            stream.flush()


def is_watched() -> bool:
    """Whether output goes to a terminal or a notebook, where somebody sees it."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook."""
    # IPython is looked up and not imported: if nobody has loaded it, this is no notebook.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")

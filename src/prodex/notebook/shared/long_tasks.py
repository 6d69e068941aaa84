"""Work that takes a while: it runs in the background, says how far it is, and can be cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from datetime import UTC, datetime
from html import escape
from time import monotonic
from typing import Any, Generic, TypeVar

import ipywidgets as w
from traitlets import Bool

from prodex.errors import ServiceError
from prodex.notebook.shared.background import LatestTask
from prodex.notebook.shared.boxes import HBox
from prodex.notebook.shared.panel import Panel, set_busy, show_if, styled, text_html
from prodex.progress import PhaseProgress, Reporter

T = TypeVar("T")

#: Seconds between two updates of what is shown.
_INTERVAL = 0.25


class Work(Generic[T]):
    """One piece of work; `run` it in a thread, `cancel` it from another.

    Parameters
    ----------
    do
        Does it, and reports its phases to the observer that it is given.
    title
        What is done, for as long as no phase is reported.

    Attributes
    ----------
    began
        Time of our clock when it began, UTC.
    done, total
        The numbers that progress functions of users get: for a load the products received, and those that the
        service has announced.

    Examples
    --------
    >>> work = Work(lambda progress: "made", "Making it")
    >>> str(work.progress), work.run()
    ('Making it, 0 s so far', 'made')
    """

    def __init__(self, do: Callable[[Reporter], T], title: str) -> None:
        self._do = do
        self._cancelled = threading.Event()
        self._start = self._heard = monotonic()
        self._last = PhaseProgress(title)
        self.began: datetime = datetime.now(UTC)
        self.done: int = 0
        self.total: int = 0

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return monotonic() - self._start

    @property
    def progress(self) -> PhaseProgress:
        """How far it is now."""
        last, heard = self._last, self._heard
        return last.later(monotonic() - heard)

    @property
    def is_cancelled(self) -> bool:
        """Whether it was cancelled: it ends with its next step."""
        return self._cancelled.is_set()

    def run(self) -> T:
        """Do it.

        Raises
        ------
        CancelledError
            When it was cancelled before it had ended.
        """
        return self._do(Reporter(self._hear, self._count))

    def cancel(self) -> None:
        """End it with its next step: what a step leaves is never half a file."""
        self._cancelled.set()

    def _hear(self, progress: PhaseProgress) -> None:
        self._last, self._heard = progress, monotonic()
        self._end_if_cancelled()

    def _count(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        self._end_if_cancelled()

    def _end_if_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise CancelledError


class WorkRow(HBox, Generic[T]):
    """A button that cancels, a bar and a sentence, shown while work runs.

    Parameters
    ----------
    panel
        The panel around it.
    then
        Receives the result.
    failed
        Receives the error instead.
    cancelled
        Called when the work has ended because it was cancelled.
    cancel_label
        What is written on the button that cancels.
    back_to
        The button that has the focus again when Cancel, which had it, is hidden.
    after, delay
        Seconds after which the row is shown, and seconds to wait for newer work before this begins.
    is_dropped
        Whether Cancel leaves the work at once, whose result is dropped: for work that only reads.

    Attributes
    ----------
    is_running
        Whether work runs.
    work
        The work that runs, or that ran last.
    shown
        The bar and the sentence beside it, once something has been started.
    cancel
        The button, likewise.
    """

    is_running: Bool[bool, bool | int] = Bool(default_value=False)

    def __init__(
        self,
        panel: Panel,
        then: Callable[[T], object],
        failed: Callable[[BaseException], object],
        *,
        cancelled: Callable[[], object] = lambda: None,
        cancel_label: str = "Cancel",
        back_to: Any = None,
        after: float = 0.0,
        delay: float = 0.0,
        is_dropped: bool = False,
    ) -> None:
        self._after, self._is_dropped = after, is_dropped
        self._cancel_label = cancel_label
        self._then, self._failed, self._cancelled, self._back_to = then, failed, cancelled, back_to
        self.work: Work[T] | None = None
        self._task: LatestTask[T] = LatestTask(lambda work: work.run(), self._done, self._not_done, delay)
        self._panel = panel
        # Shared: three widgets are shown and hidden together, and a panel of an audit has hundreds already.
        self._shared = w.Layout(width="auto", display="none")
        super().__init__([], layout=self._shared)
        styled(self, "work-row")

    def start(self, do: Callable[[Reporter], T], title: str) -> Work[T]:
        """Do some work in the background, and show how far it is; the result of earlier work is dropped."""
        if self.work is not None:
            self.work.cancel()
        self.work = work = Work(do, title)
        if self.children:
            set_busy(self.cancel, is_busy=False)
        self.is_running = True
        self._show()
        self._update(work)
        self._task(work)
        return work

    def _make(self) -> None:
        """Make the widgets: only now, since much of what could be started never is."""
        self.shown: Any = w.HTML(layout=self._shared)
        # Read out once a phase: the sentence changes several times a second.
        self._phase: Any = styled(w.HTML(layout=self._shared, style=self.shown.style), "sr")
        self.cancel: w.Button = w.Button(description=self._cancel_label, layout=self._shared)
        # Before the sentence, which grows and shrinks: a button that moves is missed.
        self.children: tuple[Any, ...] = (self.cancel, self.shown, self._phase)
        self._panel.on(self.cancel, lambda _: self._stop())

    def forget(self) -> None:
        """Cancel what runs, and drop its result at once."""
        if self.work is not None:
            self.work.cancel()
        self._task.forget()
        self._end()

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until no work runs; for scripts and tests."""
        self._task.wait(seconds)

    def _stop(self) -> None:
        if self.work is None or not self.is_running:
            return
        if self._is_dropped:
            self.forget()
            self._cancelled()
            if self._back_to is not None:
                self._back_to.focus()
            return
        self.work.cancel()
        set_busy(self.cancel, is_busy=True)
        self._draw()

    def _update(self, work: Work[T]) -> None:
        """Show the progress now, and again after a moment as long as the work runs."""
        if not self.is_running or work is not self.work:
            return
        if work.seconds >= self._after:
            if not self.children:
                self._make()
            self._show()
            self._draw()
        with contextlib.suppress(RuntimeError):  # no event loop: a script, in which nobody watches
            asyncio.get_running_loop().call_later(_INTERVAL, self._update, work)

    def _draw(self) -> None:
        if self.work is None or not self.children:
            return
        progress = self.work.progress
        sentence = f"{progress}; cancelling …" if self.work.is_cancelled else str(progress)
        self.shown.value = f"{bar_html(progress)} {text_html(sentence)}"
        self._phase.value = f"<span role='status'>{text_html(progress.phase)}</span>"

    def _done(self, result: T) -> None:
        self._end()
        self._then(result)

    def _not_done(self, error: BaseException) -> None:
        had_focus = self.work is not None and self.work.is_cancelled
        self._end()
        # What fails while it is being cancelled is no news to whoever has cancelled it.
        if had_focus and isinstance(error, CancelledError | ServiceError):
            self._cancelled()
            if self._back_to is not None:
                self._back_to.focus()
        else:
            self._failed(error)

    def _end(self) -> None:
        self._draw()
        self.is_running = False
        self._show()

    def _show(self) -> None:
        is_long = self.work is not None and self.work.seconds >= self._after
        show_if(self, self.is_running and is_long)


def bar_html(progress: PhaseProgress) -> str:
    """Return a bar as HTML; without a total it says only that something is being done.

    >>> bar_html(PhaseProgress("Building tables", 7_000, 12_000, "products"))
    "<progress aria-label='Building tables' max='12000' value='7000'></progress>"
    >>> bar_html(PhaseProgress("Saving the snapshot"))
    "<progress aria-label='Saving the snapshot'></progress>"
    """
    share = f" max='{progress.total}' value='{progress.done}'" if progress.total else ""
    return f"<progress aria-label='{escape(progress.phase, quote=True)}'{share}></progress>"

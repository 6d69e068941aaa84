"""How far long work is, shown: a row with a bar and Cancel, and below a form the exports that it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any, Generic, TypeVar

import ipywidgets as w

from prodex.errors import ProdexError
from prodex.notebook.jobs import Runner, Work
from prodex.notebook.shared.boxes import HBox
from prodex.notebook.shared.panel import (
    Panel,
    error_text,
    html,
    message_html,
    set_busy,
    show_if,
    styled,
    text_html,
)
from prodex.progress import PhaseProgress, Reporter

T = TypeVar("T")


class WorkRow(HBox, Generic[T]):
    """A button that cancels, a bar and a sentence, shown while a runner works.

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
    starts
        The buttons that start it: they ignore clicks while it runs.
    back_to
        The button that has the focus again when Cancel, which had it, is hidden; the first of those that start it.
    cancel_label
        What is written on the button that cancels.
    after, delay
        Seconds after which the row is shown, and seconds to wait for newer work before this begins.
    is_dropped
        Whether Cancel leaves the work at once, whose result is dropped: for work that only reads.
    watch
        Called whenever the row is drawn, to show what is done so far.

    Attributes
    ----------
    runner
        What does the work.
    shown
        The bar and the sentence beside it, once something has been shown.
    cancel
        The button, likewise.
    """

    def __init__(
        self,
        panel: Panel,
        then: Callable[[T], object],
        failed: Callable[[BaseException], object],
        *,
        cancelled: Callable[[], object] = lambda: None,
        starts: Sequence[Any] = (),
        back_to: Any = None,
        cancel_label: str = "Cancel",
        after: float = 0.0,
        delay: float = 0.0,
        is_dropped: bool = False,
        watch: Callable[[], object] = lambda: None,
    ) -> None:
        self._watch = watch
        self._panel, self._after, self._cancel_label = panel, after, cancel_label
        self._cancelled, self._starts = cancelled, starts
        self._back_to = next(iter(starts), None) if back_to is None else back_to
        self.runner: Runner[T] = Runner(
            then, failed, cancelled=self._leave, watch=self._draw, delay=delay, is_dropped=is_dropped
        )
        # Shared: three widgets are shown and hidden together, and a panel of an audit has hundreds already.
        self._shared = w.Layout(width="auto", display="none")
        super().__init__([], layout=self._shared)
        styled(self, "work-row")

    @property
    def work(self) -> Work | None:
        """The work that runs, or that ran last."""
        return self.runner.work

    @property
    def is_running(self) -> bool:
        """Whether work runs."""
        return self.runner.is_running

    def start(self, do: Callable[[Reporter], T], title: str) -> Work:
        """Do some work in the background, and show how far it is; the result of earlier work is dropped."""
        return self.runner.start(do, title)

    def forget(self) -> None:
        """Cancel what runs, and drop its result at once."""
        self.runner.forget()

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until no work runs; for scripts and tests."""
        self.runner.wait(seconds)

    def close(self) -> None:
        """Close the row: what runs is cancelled, and nothing of it is shown any more."""
        self.runner.forget()
        super().close()  # type: ignore[misc]

    def _draw(self) -> None:
        self._watch()
        work, is_running = self.runner.work, self.runner.is_running
        for button in self._starts:
            set_busy(button, is_busy=is_running)
        if work is None or work.seconds < self._after:
            show_if(self, False)
            return
        if is_running and not self.children:
            self._make()
        show_if(self, is_running)
        if self.children:
            progress = work.progress
            sentence = f"{progress}; cancelling …" if work.is_cancelled else str(progress)
            self.shown.value = f"{bar_html(progress)} {text_html(sentence)}"
            self._phase.value = f"<span role='status'>{text_html(progress.phase)}</span>"
            set_busy(self.cancel, is_busy=work.is_cancelled)

    def _make(self) -> None:
        """Make the widgets: only now, since much of what could be started never is."""
        self.shown: Any = w.HTML(layout=self._shared)
        # Read out once a phase: the sentence changes several times a second.
        self._phase: Any = styled(w.HTML(layout=self._shared, style=self.shown.style), "sr")
        self.cancel: w.Button = w.Button(description=self._cancel_label, layout=self._shared)
        # Before the sentence, which grows and shrinks: a button that moves is missed.
        self.children: tuple[Any, ...] = (self.cancel, self.shown, self._phase)
        self._panel.on(self.cancel, lambda _: self.runner.cancel())

    def _leave(self) -> None:
        self._cancelled()
        if self._back_to is not None:
            self._back_to.focus()


class Exporter:
    """Runs the exports of a form in the background, and reports their progress and their result.

    Parameters
    ----------
    panel
        The panel around the form.
    exports
        For each button what prepares its export: it reads the form and calls `start`.
    finished
        Called after each export, and after each error.

    Attributes
    ----------
    work
        The row with the progress and Cancel, while an export runs.
    line
        The widget in which the result is reported.
    """

    def __init__(
        self,
        panel: Panel,
        exports: Mapping[Any, Callable[[], object]],
        finished: Callable[[], object] = lambda: None,
    ) -> None:
        self.line: Any = html("")
        self._finished = finished
        self.work: WorkRow[str] = WorkRow(
            panel, self._done, self.show_error, cancelled=self._cancelled, starts=tuple(exports)
        )
        for button, prepare in exports.items():
            # Not a lambda: in a loop it would see the last `prepare` alone.
            panel.on(button, partial(self.attempt, prepare))

    @property
    def message(self) -> str:
        """What is reported, as HTML."""
        return str(self.line.value)

    def attempt(self, work: Callable[[], object], _click: object = None) -> None:
        """Do something after a click, and report beside the buttons what is wrong with the values that were entered."""
        try:
            work()
        except ProdexError as error:
            self.show_error(error)

    def start(self, write: Callable[[Reporter], str], title: str) -> None:
        """Write in the background.

        Parameters
        ----------
        write
            Writes, reports its phases, and returns the sentence that says what was written.
        title
            What is done, for as long as no phase is reported.
        """
        self.line.value = ""
        self.work.start(write, title)

    def show_message(self, sentence: str) -> None:
        """Report something; an empty sentence removes the last one."""
        self.line.value = message_html(sentence) if sentence else ""

    def show_error(self, error: BaseException) -> None:
        """Report an error."""
        self.line.value = message_html(error_text(error), is_problem=True)
        self._finished()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the export is written; for scripts and tests."""
        self.work.wait(seconds)

    def _done(self, sentence: str) -> None:
        self.show_message(sentence)
        self._finished()

    def _cancelled(self) -> None:
        self._done("Cancelled. Nothing was written; files that were there before are as they were.")


def bar_html(progress: PhaseProgress) -> str:
    """Return a bar as HTML; without a total it says only that something is being done.

    >>> bar_html(PhaseProgress("Building tables", 7_000, 12_000, "products"))
    "<progress aria-label='Building tables' max='12000' value='7000'></progress>"
    >>> bar_html(PhaseProgress("Saving the snapshot"))
    "<progress aria-label='Saving the snapshot'></progress>"
    """
    share = f" max='{progress.total}' value='{progress.done}'" if progress.total else ""
    return f"<progress aria-label='{escape(progress.phase, quote=True)}'{share}></progress>"

"""Exports of a panel: the path that was entered, and a form that writes files in the background."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as w

from prodex.errors import InputError, ProdexError
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import Panel, check_box, error_text, html, message_html, set_busy
from prodex.progress import Reporter

_SHOWN = 40


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
        self._buttons = tuple(exports)
        self._finished = finished
        self.work: WorkRow[str] = WorkRow(
            panel, self._done, self.show_error, cancelled=self._cancelled, back_to=self._buttons[0]
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
        self.set_busy(is_busy=True)
        self.line.value = ""
        self.work.start(write, title)

    def set_busy(self, *, is_busy: bool) -> None:
        """Make the buttons ignore clicks, or accept them again."""
        for button in self._buttons:
            set_busy(button, is_busy=is_busy)

    def show_message(self, sentence: str) -> None:
        """Report something; an empty sentence removes the last one."""
        self.line.value = message_html(sentence) if sentence else ""

    def show_error(self, error: BaseException) -> None:
        """Report an error, and accept clicks again."""
        self.set_busy(is_busy=False)
        self.line.value = message_html(error_text(error), is_problem=True)
        self._finished()

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the export is written; for scripts and tests."""
        self.work.wait(seconds)

    def _done(self, sentence: str) -> None:
        self.set_busy(is_busy=False)
        self.show_message(sentence)
        self._finished()

    def _cancelled(self) -> None:
        self._done("Cancelled. Nothing was written; files that were there before are as they were.")


def spreadsheet_box() -> w.Checkbox:
    """Return the option of every export as CSV."""
    label = "Safe for spreadsheets (puts an apostrophe before text that would run as a formula)"
    return check_box(label, is_ticked=True)


def path_of(text: str, what: str) -> Path:
    """Return the path that was entered; `~` is the home folder.

    Parameters
    ----------
    text
        What was entered.
    what
        What it is the path of, for the message when nothing was entered.

    Raises
    ------
    InputError
        When nothing was entered, or no file and no folder can have this name.

    Examples
    --------
    >>> path_of(" out/list.csv ", "a file").name
    'list.csv'
    >>> path_of("x" * 300, "a file")
    Traceback (most recent call last):
    prodex.errors.InputError: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' cannot be written to: File name too long. \
Give another name.
    """
    if not text.strip():
        raise InputError(f"Enter {what}.")
    try:
        path = Path(text.strip()).expanduser()
        # Which names are possible depends on the file system (length, characters), so it is asked.
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        raise InputError(f"{shown!r} cannot be written to: {why}. Give another name.") from error
    return path

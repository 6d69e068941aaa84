"""Sending a `Fix` from a panel, in the background and to its end, after a second press that confirms it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import CancelledError
from typing import Any, TypeAlias

import ipywidgets as w

from prodex.errors import InputError
from prodex.ledger.upsert_file import host_of
from prodex.messages import counted
from prodex.notebook.jobs import to_the_end
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import (
    Panel,
    button,
    error_text,
    html,
    message_html,
    row,
    show_if,
    text_html,
)
from prodex.progress import Reporter
from prodex.send.tracking import Tracking
from prodex.service import Client
from prodex.service.replies import SUCCESS
from prodex.worklists.fix import Fix

#: What was sent, and the error of the attempt.
_Outcome: TypeAlias = tuple[Fix, BaseException | None]

_STOPPED = "The corrections were sent, and the service goes on importing them."


class FixSender(VBox):
    """A button that sends the accepted answers of a `Fix`, its confirmation, its progress, and the outcome.

    Waiting for the import can be stopped; sending cannot, since nobody would know what has arrived.

    Parameters
    ----------
    panel
        The panel around it.
    service
        Where they are sent; without one the button says how to get it.
    how
        The line of code that makes the panel with a service.
    begins
        Called before anything is sent.
    ended
        Called when everything is known that can be known, with the error if there was one; `fix.sent` has the rest.
    also
        As for `Fix.apply`.

    Attributes
    ----------
    fix
        What is sent, or None.
    send, confirm, cancel
        The buttons: the first asks, the second sends.
    work
        How far sending and importing are, while they run.
    """

    def __init__(
        self,
        panel: Panel,
        service: Client | None,
        how: str,
        *,
        begins: Callable[[Fix], object] = lambda _: None,
        ended: Callable[[Fix, BaseException | None], object] = lambda *_: None,
        also: str | Collection[str] = (),
    ) -> None:
        self._also, self._is_sending = also, False
        self._panel, self._service, self._how = panel, service, how
        self._begins, self._ended = begins, ended
        self.fix: Fix | None = None
        self.send: w.Button = button("Send", "primary")
        self.confirm: w.Button = button("Send now", "primary")
        self.cancel: w.Button = button("Do not send")
        self._asked, self._outcome = html(""), html("")
        self.work: WorkRow[_Outcome] = WorkRow(
            panel, self._end, panel.show_error, cancel_label="Stop waiting", back_to=self.send
        )
        self._question: Any = row(self._asked, self.confirm, self.cancel, look="form-row")
        super().__init__([row(self.send, look="form-row"), self._question, self.work, self._outcome])
        panel.on(self.send, lambda _: self._ask())
        panel.on(self.confirm, lambda _: self._start())
        panel.on(self.cancel, lambda _: self._take_back())
        self._offer(None)

    @property
    def host(self) -> str:
        """The host that corrections are sent to."""
        return "" if self._service is None else host_of(self._service.base_url)

    @property
    def is_sending(self) -> bool:
        """Whether something is being sent: from the press until everything is known that can be known."""
        return self._is_sending

    def show(self, fix: Fix | None) -> None:
        """Offer to send this; what became of another one is no longer shown."""
        self._outcome.value = ""
        self._offer(fix)

    def offer(self, fix: Fix | None) -> None:
        """Offer to send this, and go on showing what became of the one before."""
        self._offer(fix)

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is sent; for scripts and tests."""
        self.work.wait(seconds)

    def _offer(self, fix: Fix | None) -> None:
        self.fix = fix
        number = 0
        if fix is not None and not self.work.is_running:
            number = fix.counts["accepted"] if fix.tracking is None else fix.tracking.statuses["not sent"]
        is_rest = fix is not None and fix.tracking is not None
        self.send.description = (
            f"Send the rest, {counted(number, 'product')}"
            if is_rest
            else f"Send {counted(number, 'correction')}"
        )
        show_if(self.send, number > 0)
        show_if(self._question, False)

    def _ask(self) -> None:
        if self._service is None:
            raise InputError(f"The panel has no service to send to. Make it with one: {self._how}.")
        if self.fix is None:
            return
        what = _what_is_sent(self.fix)
        # Where the products are of another service, that is part of the question.
        other = self.fix.asks_where(self._service)
        question = f"{text_html(other)} " if other is not None else ""
        self._asked.value = (
            f"<span role='status'>{question}Send {what} to <b>{text_html(self.host)}</b>?</span>"
        )
        self.confirm.description = f"Yes, send {what}"
        # Elsewhere than the button that was pressed: a double click asks, and does not send.
        show_if(self.send, False)
        show_if(self._question, True)
        self.confirm.focus()

    def _take_back(self) -> None:
        self._offer(self.fix)
        self.send.focus()

    def _start(self) -> None:
        fix, service = self.fix, self._service
        if fix is None or service is None or self.work.is_running:
            return
        show_if(self._question, False)
        self._is_sending = True
        try:
            self._begins(fix)
        except BaseException:
            self._is_sending = False
            raise
        self._outcome.value = ""
        self.work.start(
            lambda progress: _send_steps(fix, service, self._also, progress),
            "Requesting the products as they are now",
        )

    def _end(self, outcome: _Outcome) -> None:
        fix, error = outcome
        self._is_sending = False
        sent = "" if fix.tracking is None else _import_html(fix.tracking)
        # Here and not at the top of the panel, where the next success of anything would remove it.
        if isinstance(error, CancelledError):
            why = message_html(_STOPPED)
        else:
            why = "" if error is None else message_html(error_text(error), is_problem=True)
        self._outcome.value = why + sent
        self._offer(self.fix)
        self._ended(fix, error)


def _what_is_sent(fix: Fix) -> str:
    """Return what would be sent: all corrections, or what an interruption has left of them."""
    if fix.tracking is not None:
        return (
            f"the corrections of {counted(fix.tracking.statuses['not sent'], 'product')} that were not sent"
        )
    accepted = fix.accepted
    products = counted(accepted["product_id"].nunique(), "product")
    return f"{counted(len(accepted), 'correction')} of {products}"


def _send_steps(fix: Fix, service: Client, also: str | Collection[str], reporter: Reporter) -> _Outcome:
    try:
        # Whoever pressed twice has read where they go. No batch ends the work: an import is known only after the last.
        sending = fix.apply(service, also=also, elsewhere=True, progress=to_the_end(reporter))
        sending.wait(progress=reporter)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it has to be known what was sent until then
        return fix, error
    return fix, None


def _import_html(tracking: Tracking) -> str:
    """Return the state of an import, and all that is known of it on request."""
    # Unfolded where there is something to be read.
    is_open = "" if tracking.status == SUCCESS else " open"
    what = f"The import of {counted(tracking.count, 'product')}: {tracking.status}"
    summary = f"<summary><span role='status'>{text_html(what)}</span></summary>"
    return f"<details{is_open}>{summary}{tracking._repr_html_()}</details>"

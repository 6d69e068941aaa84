"""Accepting findings in the audit panel: one, those of a check, or all of the products shown; and taking it back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

import ipywidgets as w
import pandas as pd

from prodex.display.audit import accepted_text
from prodex.errors import InputError
from prodex.messages import counted, percent
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import Panel, button, html, row, status_html, styled, text_html
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit
from prodex.quality.accepting import accept, withdraw
from prodex.untrusted_text import label

#: Findings of a check that are offered one by one.
_MOST = 200

_EVERY_CHECK = "All checks"
_EXPLAINED = (
    "An accepted finding fails still, and is marked: worklists leave it out, and figures are shown with and without "
    "it. It comes back when its value, what it was compared with, or its date changes."
)


class AcceptanceForm(VBox):
    """A small form below the checks: which findings, why, until when.

    Parameters
    ----------
    panel
        The panel around it.
    whole
        Returns the audit of all products.
    done
        Called with that audit once something was accepted or withdrawn.

    Attributes
    ----------
    check, finding
        Of which check, and which of its findings of the products that are shown.
    reason, until
        Why, and the last day.
    """

    def __init__(
        self, panel: Panel, whole: Callable[[], Audit | None], done: Callable[[Audit], object]
    ) -> None:
        self._panel, self._whole, self._done = panel, whole, done
        self._audit: Audit | None = None
        self._found = pd.DataFrame()
        self._figures, self._said = html(""), html("")
        self.check: w.Dropdown = w.Dropdown(description="Check", options=[_EVERY_CHECK])
        self.finding: w.Dropdown = w.Dropdown(description="Finding", options=["All"])
        self.reason: w.Text = w.Text(
            description="Because", placeholder="why these findings are right as they are"
        )
        self.until: w.Text = w.Text(description="Until", placeholder="2027-01-05, or empty for good")
        self.accept: w.Button = button("Accept findings", tooltip="Accept the findings that are chosen")
        self.withdraw: w.Button = button("Withdraw", tooltip="Take back that these findings are accepted")
        self.work: WorkRow[Audit] = WorkRow(
            panel, self._finished, panel.show_error, starts=[self.accept, self.withdraw], after=PATIENCE
        )
        which = styled(row(self.check, self.finding, look="form-row"), "export-row")
        why = styled(row(self.reason, self.until, self.accept, self.withdraw, look="form-row"), "export-row")
        super().__init__([self._figures, which, why, self.work, self._said])
        panel.on(self.check, lambda _: self._offer(), "value")
        panel.on(self.accept, lambda _: self._start(is_withdrawal=False))
        panel.on(self.withdraw, lambda _: self._start(is_withdrawal=True))

    def show(self, audit: Audit) -> None:
        """Offer the findings of this audit, which is that of the products that are shown."""
        # What is accepted is no finding of a view, and is taken back here.
        found = self._audit = audit.as_found or audit
        checks = found.by_check
        then = found.with_accepted() if found.has_accepted else found
        checks["accepted"] = checks["failed"] - then.by_check["failed"]
        failing = checks[checks["failed"] > 0]
        options = [(_EVERY_CHECK, "")]
        options += [
            (f"{one['problem']} ({_with_accepted(one['failed'], one['accepted'])})", str(one["check"]))
            for one in failing.to_dict("records")
        ]
        chosen = self.check.value
        self.check.options = options
        self.check.value = chosen if chosen in {value for _, value in options} else ""
        self._offer()
        about = f"<p class='muted'>{_EXPLAINED}</p><p>{text_html(figures_sentence(audit))}</p>"
        self._figures.value = f"<h3>Accepted findings</h3>{about}"

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is written; for scripts and tests."""
        self.work.wait(seconds)

    def _offer(self) -> None:
        """Offer the findings of the check that is chosen."""
        options: list[tuple[str, int]] = [("All findings of the products shown", -1)]
        self._found = pd.DataFrame()
        if self._audit is not None and self.check.value:
            self._found = self._audit.failures(check=self.check.value)
            # A longer list nobody reads; a search or another panel narrows the products down.
            if len(self._found) <= _MOST:
                options += [
                    (_in_words(one), place) for place, one in enumerate(self._found.to_dict("records"))
                ]
        self.finding.options = options
        self.finding.value = -1

    def _start(self, *, is_withdrawal: bool) -> None:
        whole, shown = self._whole(), self._audit
        if whole is None or shown is None:
            raise InputError("There is no audit yet. Press Audit first.")
        found = self._found if self.check.value else shown.failures()
        if int(self.finding.value) >= 0:
            found = found.iloc[[int(self.finding.value)]]
        until = self.until.value.strip() or None
        if is_withdrawal:
            work = partial(_withdrawn, whole, found, self.reason.value)
        else:
            work = partial(_accepted, whole, found, self.reason.value, until)
        self._said.value = ""
        self.work.start(work, "Withdrawing" if is_withdrawal else "Accepting")

    def _finished(self, made: Audit) -> None:
        with self._panel.guarded():
            file = made.accepted_findings
            self._done(made)
            if file is not None:
                self._said.value = status_html(f"Written to {file.path}.")


def figures_sentence(audit: Audit) -> str:
    """Return what is accepted of an audit, with the score with and without."""
    if not len(audit.accepted_reasons()):
        return "Nothing is accepted of these products."
    other = "with" if audit.as_found is not None else "without"
    return f"{accepted_text(audit)}, {percent(audit.score)} {other}."


def _accepted(whole: Audit, found: pd.DataFrame, reason: str, until: str | None, _: Reporter) -> Audit:
    return accept(whole, found, reason=reason, until=until)


def _withdrawn(whole: Audit, found: pd.DataFrame, reason: str, _: Reporter) -> Audit:
    return withdraw(whole, found, reason=reason)


def _with_accepted(failed: int, accepted: int) -> str:
    own = counted(int(failed), "product")
    return f"{own}, {accepted:,} accepted" if accepted else own


def _in_words(row: Mapping[Hashable, Any]) -> str:
    """Return a finding in one line of a list."""
    cells = (row["name"], row["gtin"], row["language"], row["value"], row["accepted"])
    name, gtin, language, value, accepted = ("" if pd.isna(one) else label(str(one)).text for one in cells)
    marked = f" (accepted: {accepted})" if accepted else ""
    return f"{name or gtin or row['product_id']}{f', {language}' if language else ''}: {value or 'nothing'}{marked}"

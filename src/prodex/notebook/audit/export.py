"""What an audit is written to: worklists, a report, and beside its snapshot; nothing is replaced without a word."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import ipywidgets as w

from prodex.display.audit import counted
from prodex.errors import InputError, ProdexError
from prodex.notebook.background import LatestTask
from prodex.notebook.exporting import path_of
from prodex.notebook.panel import Panel, html, in_words, rest, typed
from prodex.notebook.snapshots.saved import earlier
from prodex.quality import Audit

_BY = ("owner", "brand", "kind")


class AuditExport(w.VBox):
    """Fields for where to, and a button for each thing that can be written.

    Parameters
    ----------
    panel
        Where it stands.
    """

    def __init__(self, panel: Panel) -> None:
        self._audit: Audit | None = None
        self.by = w.Dropdown(options=[(f"one for each {by}", by) for by in _BY], description="Worklists")
        self.folder = w.Text(description="Folder")
        self.page = w.Text(description="Report")
        self.name = w.Text(description="Snapshot")
        self.replace = w.Checkbox(
            description="replace what was written there before", indent=False, layout=w.Layout(width="auto")
        )
        self.write_lists = w.Button(description="Write worklists", layout=w.Layout(width="auto"))
        self.write_page = w.Button(description="Write report", layout=w.Layout(width="auto"))
        self.keep = w.Button(description="Save audit", layout=w.Layout(width="auto"))
        self._line = html("")
        self._writing: LatestTask[str] = LatestTask(lambda write: write(), self._done, self._failed)
        panel.on(self.write_lists, lambda _: self._try(self._write_lists))
        panel.on(self.write_page, lambda _: self._try(self._write_page))
        panel.on(self.keep, lambda _: self._try(self._keep))
        rows = [
            w.HBox([self.by, self.folder, self.write_lists]),
            w.HBox([self.page, self.write_page]),
            w.HBox([self.name, self.keep]),
        ]
        for row in rows:
            row.add_class("form-row")
            row.add_class("written")
        super().__init__([html("<h3>Write it down</h3>"), *rows, self.replace, self._line])

    def show(self, audit: Audit) -> None:
        """Write this audit from now on."""
        self._audit = audit
        stamp = f"{audit.profile}-{audit.audited_at:%Y-%m-%d}"
        self.folder.value, self.page.value = f"worklists-{stamp}", f"audit-{stamp}.html"
        self.name.value = audit.catalog_folder.parent.name if audit.catalog_folder else ""
        self.name.disabled = audit.catalog_folder is not None
        self._free(True)

    @property
    def said(self) -> str:
        """What is said beside the buttons, as markup."""
        return str(self._line.value)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until what was asked for is written; for scripts and tests."""
        self._writing.wait(seconds)

    def _try(self, write: Callable[[], object]) -> None:
        """Say beside the buttons what is wrong with what was given."""
        try:
            write()
        except ProdexError as error:
            self._failed(error)

    def _write_lists(self) -> None:
        folder = _given(self.folder.value, "a folder for the worklists")
        self._start(worklists, folder, str(self.by.value), self.replace.value, said="Writing worklists …")

    def _write_page(self) -> None:
        page = _given(self.page.value, "a file for the report, such as audit.html")
        self._start(report, page, self.replace.value, said="Writing the report …")

    def _keep(self) -> None:
        name = self.name.value.strip()
        if not name:
            raise InputError("The catalogue is in memory. Name the snapshots beside which its audit is kept.")
        self._start(kept, None if self.name.disabled else name, said="Saving the audit …")

    def _start(self, write: Callable[..., str], *arguments: object, said: str) -> None:
        if self._audit is None:
            raise InputError("There is no audit yet. Press Audit first.")
        self._free(False)
        self._line.value = f"<span role='status' class='muted'>{said}</span>"
        self._writing(partial(write, self._audit, *arguments))

    def _free(self, is_free: bool) -> None:
        for button in (self.write_lists, self.write_page, self.keep):
            rest(button, is_resting=not is_free)
        self._line.value = ""

    def _done(self, said: str) -> None:
        self._free(True)
        self._line.value = f"<div class='note' role='status'>{typed(said)}</div>"

    def _failed(self, error: BaseException) -> None:
        self._free(True)
        self._line.value = f"<div class='problem' role='alert'>{typed(in_words(error))}</div>"


def worklists(audit: Audit, folder: Path, by: str, replace: bool) -> str:
    """Write worklists, and say how many and where."""
    index = audit.worklists(folder, by, replace=replace)
    findings = counted(int(index["findings"].sum()), "finding")
    return f"{counted(len(index), 'worklist')} with {findings} are in {folder.absolute()}."


def report(audit: Audit, page: Path, replace: bool) -> str:
    """Write the report with the earlier audits of the same profile, and say where.

    Raises
    ------
    InputError
        When there is a file already, and it is not to be replaced.
    """
    if page.exists() and not replace:
        raise InputError(
            f"{page} is there already. Give another name, or tick 'replace what was written there before'."
        )
    before = earlier(audit)
    written = audit.to_html(page, trend=before)
    trend = f" with {counted(len(before), 'earlier audit')}" if before else ""
    return f"The report{trend} is {written}; the full lists are in the folder beside it."


def kept(audit: Audit, name: str | None) -> str:
    """Save an audit beside its snapshot, and say where."""
    return f"The audit is in {audit.save(name).folder}."


def _given(typed: str, what: str) -> Path:
    if not typed.strip():
        raise InputError(f"Give {what}.")
    return path_of(typed)

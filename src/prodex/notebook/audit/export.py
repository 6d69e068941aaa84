"""Export of an audit: worklists, a report, or the audit itself, saved with its snapshot."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import ipywidgets as w

from prodex.errors import InputError
from prodex.messages import counted
from prodex.notebook.boxes import VBox
from prodex.notebook.exporting import Exporter, path_of
from prodex.notebook.panel import Panel, button, check_box, html, row, styled
from prodex.notebook.snapshots.saved import earlier
from prodex.progress import Progress, reporting
from prodex.quality import Audit

_BY = ("owner", "brand", "kind")
_REPLACE = "Replace existing files"


class AuditExport(VBox):
    """A row for each thing that can be exported: where to, and a button.

    Parameters
    ----------
    panel
        The panel around it.
    """

    def __init__(self, panel: Panel) -> None:
        self._audit: Audit | None = None
        self.by: w.Dropdown = w.Dropdown(
            options=[(f"one per {by}", by) for by in _BY], description="Worklists"
        )
        self.folder: w.Text = w.Text(description="Folder")
        self.page: w.Text = w.Text(description="Report")
        self.name: w.Text = w.Text(description="Snapshot")
        self.replace: w.Checkbox = check_box(_REPLACE)
        self.export_worklists: w.Button = button("Export worklists")
        self.export_report: w.Button = button("Export report")
        self.save: w.Button = button("Save audit")
        exports = {
            self.export_worklists: self._export_worklists,
            self.export_report: self._export_report,
            self.save: self._save,
        }
        self.exporter: Exporter = Exporter(panel, exports)
        lines = (
            (self.by, self.folder, self.export_worklists),
            (self.page, self.export_report),
            (self.name, self.save),
        )
        rows = [styled(row(*line, look="form-row"), "export-row") for line in lines]
        shown = (self.exporter.work, self.exporter.line)
        super().__init__([html("<h3>Export</h3>"), *rows, self.replace, *shown])

    def show(self, audit: Audit) -> None:
        """Export this audit from now on."""
        self._audit = audit
        stamp = f"{audit.profile}-{audit.audited_at:%Y-%m-%d}"
        self.folder.value, self.page.value = f"worklists-{stamp}", f"audit-{stamp}.html"
        # An audit of a snapshot is saved with it; only one of a catalogue in memory needs a name.
        self.name.value = audit.catalog_folder.parent.name if audit.catalog_folder else ""
        self.name.disabled = audit.catalog_folder is not None
        self.exporter.set_busy(is_busy=False)
        self.exporter.show_message("")

    def _export_worklists(self) -> None:
        folder = path_of(self.folder.value, "a folder for the worklists")
        write = partial(worklists, self._shown(), folder, str(self.by.value), self.replace.value)
        self.exporter.start(write, "Exporting worklists")

    def _export_report(self) -> None:
        page = path_of(self.page.value, "a file for the report, such as audit.html")
        write = partial(report, self._shown(), page, self.replace.value)
        self.exporter.start(write, "Exporting the report")

    def _save(self) -> None:
        name = self.name.value.strip()
        if not name:
            raise InputError(
                "The catalogue is in memory only. Enter the name of the snapshots to save its audit with."
            )
        # The audit of a few products would be taken for that of the snapshot from then on.
        shown = self._shown()
        every = shown.taken_from or shown
        write = partial(saved, every, None if self.name.disabled else name)
        self.exporter.start(write, f"Saving the audit of all {counted(len(every), 'product')}")

    def _shown(self) -> Audit:
        if self._audit is None:
            raise InputError("There is no audit yet. Press Audit first.")
        return self._audit


def worklists(audit: Audit, folder: Path, by: str, replace: bool, progress: Progress = False) -> str:
    """Export worklists, and return how many and where."""
    index = audit.worklists(folder, by, replace=replace, progress=progress)
    findings = counted(int(index["findings"].sum()), "finding")
    return (
        f"Exported {counted(len(index), 'worklist')} with {findings} to {folder.absolute()}.{_scope(audit)}"
    )


def _scope(audit: Audit) -> str:
    """Say which products were exported, where these are not all."""
    return "" if audit.chosen is None else f" Only of the products that are shown: {audit.scope}"


def report(audit: Audit, page: Path, replace: bool, progress: Progress = False) -> str:
    """Export the report with the earlier audits of the same profile, and return where it is.

    Raises
    ------
    InputError
        When the file exists and is not to be replaced.
    """
    # `to_html` replaces a file. Somebody who calls it names the file; here the name is proposed by the form.
    if page.exists() and not replace:
        raise InputError(f"{page} already exists. Give another name, or tick '{_REPLACE}'.")
    # The audits before are of all products: compared with some of them, every figure would look like a change.
    before = [] if audit.chosen is not None else earlier(audit)
    written = audit.to_html(page, trend=before, progress=progress)
    trend = f", with {counted(len(before), 'earlier audit')}" if before else ""
    lists = "The full lists are in the folder next to it."
    return f"Exported the report to {written}{trend}. {lists}{_scope(audit)}"


def saved(audit: Audit, name: str | None, progress: Progress = False) -> str:
    """Save an audit with its snapshot, and return where it is."""
    with reporting(progress, "Saved") as reporter, reporter.phase("Saving the audit"):
        return f"Saved the audit to {audit.save(name).folder}."

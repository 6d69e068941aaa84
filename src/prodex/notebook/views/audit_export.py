"""Exports of an audit: worklists in the language of each supplier, a report, and the audit itself."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from prodex.languages import LANGUAGES
from prodex.locales import language_name
from prodex.notebook.session.actions import Block, Panel, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.audits_before import earlier
from prodex.notebook.views.blocks import box, button, heading
from prodex.notebook.views.downloads import handed_over
from prodex.notebook.views.drill_down import audited
from prodex.notebook.views.figures import AuditFigures, figures_shown
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.paths import path_typed
from prodex.notebook.views.written_files import new_file, write_files, written_blocks
from prodex.phrases import counted
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.worklists.layout import MANIFEST
from prodex.worklists.supplier_languages import languages_of_suppliers

_BY = ("owner", "brand", "kind")
_SLOT = "quality.export"
_REPLACE = "Replace existing files"
#: The value of the language of each supplier.
OF_EACH = "each"
#: The same files, handed over to the browser instead of written into a folder.
_DOWNLOAD = ("Worklists", "export.download", "Download worklists")
#: Of each form what it is about, and the action of its button with what it says.
_FORMS = {
    "worklists": ("Worklists", "export.worklists", "Export worklists"),
    "report": ("Report", "export.report", "Export report"),
    "saved": ("Saved audit", "export.save", "Save audit"),
}
_LANGUAGE_HINT = (
    "That of the country of its GTINs, or of most of its texts; English where that is none of these."
)


def export_block(session: Session, figures: AuditFigures) -> Block:
    """Return a form for each thing that can be exported: where to, and a button."""
    fields = _fields(session, figures.judged)
    forms = _FORMS if session.can("export.worklists") else {"worklists": _DOWNLOAD}
    return box(
        heading("Export"),
        *(
            form(session, name, fields[name], button(says, do), look="export-row", label=label)
            for name, (label, do, says) in forms.items()
        ),
        form(session, "export", fields["export"], label="Existing files") if forms is _FORMS else None,
        *written_blocks(session, _SLOT, key="exported"),
        key="export-box",
    )


def _fields(session: Session, audit: Audit) -> dict[str, list[FormField]]:
    """Return the fields of each form."""
    by = session.typed.get("worklists", {}).get("by", "owner")
    languages = [(one, language_name(one)) for one in LANGUAGES]
    # A brand or a kind is nobody who reads.
    if by == "owner":
        languages = [(OF_EACH, "each supplier's language"), *languages]
    hint = _LANGUAGE_HINT if by == "owner" else ""
    stamp = f"{audit.profile}-{audit.audited_at:%Y-%m-%d}"
    # An audit of a snapshot is saved with it; only one of a catalogue in memory needs a name.
    name, off = "", ""
    if audit.catalog_folder is not None:
        name, off = audit.catalog_folder.parent.name, "The audit is saved with its snapshot."
    folder = FormField("folder", "Folder", "folder", f"worklists-{stamp}")
    return {
        "worklists": [
            FormField("by", "Worklists", "choice", "owner", [(one, f"one per {one}") for one in _BY]),
            FormField("language", "Language", "choice", languages[0][0], languages, hint=hint),
            *([folder] if session.can("export.worklists") else []),
        ],
        "report": [FormField("page", "Report", "folder", f"audit-{stamp}.html")],
        "saved": [FormField("name", "Snapshot", value=name, off=off)],
        "export": [FormField("replace", _REPLACE, "tick", value=False)],
    }


@task("export.worklists")
def export_worklists(app: Panel) -> None:
    """Export worklists."""
    audit, values = _asked(app, "worklists")
    at = "worklists.folder"
    folder = path_typed(values, at, "Enter a folder for the worklists.")
    if (folder / MANIFEST).exists() and not values["replace"]:
        raise Refused(
            f"{folder} already contains worklists, which may have been filled in. Give another folder, or tick "
            f"'{_REPLACE}'.",
            at=at,
        )
    write = partial(_written_worklists, audit, folder, values["by"], values["language"], values["replace"])
    write_files(app, _SLOT, write, "Exporting worklists", at=at)


@task("export.download")
def download_worklists(app: Panel) -> None:
    """Hand worklists over to the browser."""
    audit, values = _asked(app, "worklists")

    def write(folder: Path, reporter: Reporter) -> str:
        return _written_worklists(audit, folder, values["by"], values["language"], False, reporter)

    handing = partial(handed_over, app, "worklists", "xlsx", write)
    write_files(app, _SLOT, handing, "Writing worklists", at="worklists.by")


@task("export.report")
def export_report(app: Panel) -> None:
    """Export the report."""
    audit, values = _asked(app, "report")
    at = "report.page"
    # `to_html` replaces a file. Somebody who calls it names the file; here the name is proposed by the form.
    page = new_file(values, at, "Enter a file for the report, such as audit.html.", _REPLACE)
    write_files(app, _SLOT, partial(_written_report, audit, page), "Exporting the report", at=at)


@task("export.save")
def save_audit(app: Panel) -> None:
    """Save the audit of all products: that of a few would be taken for that of the snapshot from then on."""
    shown, values = _asked(app, "saved")
    every, name = shown.taken_from or shown, None
    if every.catalog_folder is None:
        why = "The catalogue is in memory only. Enter the name of the snapshots to save its audit with."
        name = required(values, "saved", "name", why)
    title = f"Saving the audit of all {counted(len(every), 'product')}"
    write_files(app, _SLOT, partial(_saved, every, name), title, at="saved.name")


def _asked(app: Panel, name: str) -> tuple[Audit, dict[str, Any]]:
    """Return what is exported, and what was typed: in its form, and in the one about existing files."""
    session = app.session
    audited(session)
    # What is written says of which products it is, so it must be those that were seen.
    audit = figures_shown(session).judged
    fields = _fields(session, audit)
    own, common = (form_values(session, one, fields[one]) for one in (name, "export"))
    return audit, own | common


def _written_worklists(
    audit: Audit, folder: Path, by: str, language: str, may_replace: bool, reporter: Reporter
) -> str:
    """Export worklists, and return how many, in which languages, and where."""
    usual, own = language, {}
    if language == OF_EACH:
        usual, own = "en", languages_of_suppliers(audit)
    index = audit.worklists(
        folder, by, replace=may_replace, language=usual, languages=own or None, progress=reporter
    )
    findings = counted(int(index["findings"].sum()), "finding")
    said = f"Exported {counted(len(index), 'worklist')} with {findings} to {folder.absolute()}."
    if len(index):
        written = Counter(own.get(str(code), usual) for code in index["code"])
        parts = [f"{count:,} in {language_name(one)}" for one, count in written.most_common()]
        said += f" Languages: {', '.join(parts)}."
    return f"{said}{_scope_in_words(audit)}"


def _written_report(audit: Audit, page: Path, reporter: Reporter) -> str:
    """Export the report with the earlier audits of the same profile, and return where it is."""
    # The audits before are of all products: compared with some of them, every figure would look like a change.
    before = [] if audit.chosen is not None else earlier(audit)
    written = audit.to_html(page, trend=before, progress=reporter)
    trend = f", with {counted(len(before), 'earlier audit')}" if before else ""
    lists = "The full lists are in the folder next to it."
    return f"Exported the report to {written}{trend}. {lists}{_scope_in_words(audit)}"


def _saved(audit: Audit, name: str | None, reporter: Reporter) -> str:
    """Save an audit with its snapshot, and return where it is."""
    with reporter.phase("Saving the audit"):
        return f"Saved the audit to {audit.save(name).folder}."


def _scope_in_words(audit: Audit) -> str:
    """Say which products were exported, where these are not all."""
    return "" if audit.chosen is None else f" Only of the products that are shown: {audit.scope}"

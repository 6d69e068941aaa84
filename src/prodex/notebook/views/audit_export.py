"""Exports of an audit: worklists in the language of each supplier, a report, and the audit itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prodex.languages import LANGUAGES
from prodex.locales import language_name
from prodex.messages import counted
from prodex.notebook.session.actions import Block, Panel, task
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.audits_before import earlier
from prodex.notebook.views.blocks import box, button, heading, paragraph, typed_text, work
from prodex.notebook.views.downloads import handed_over
from prodex.notebook.views.drill_down import audited
from prodex.notebook.views.figures import AuditFigures, figures_of
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.paths import path_of
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.worklists.layout import MANIFEST
from prodex.worklists.supplier_languages import languages_of_suppliers

_BY = ("owner", "brand", "kind")
_SLOT = "quality.export"
_REPLACE = "Replace existing files"
#: The value of the language of each supplier.
OF_EACH = "each"


@dataclass(frozen=True)
class Exported:
    """What became of the last export."""

    sentence: str = ""


def export_block(session: Session, figures: AuditFigures) -> Block:
    """Return a form for each thing that can be exported: where to, and a button."""
    said = session.part(Exported).sentence
    # In a page that writes nothing here, its browser saves the worklists; the other forms are not offered.
    is_written = session.can("export.worklists")
    written = button("Export worklists", "export.worklists")
    return box(
        heading("Export"),
        form(
            session,
            "worklists",
            _worklist_fields(session, figures.judged),
            written if is_written else button("Download worklists", "export.download"),
            look="export-row",
            label="Worklists",
        ),
        form(
            session,
            "report",
            _report_fields(figures.judged),
            button("Export report", "export.report"),
            look="export-row",
            label="Report",
        ),
        form(
            session,
            "saved",
            _saved_fields(figures.judged),
            button("Save audit", "export.save"),
            look="export-row",
            label="Saved audit",
        ),
        form(session, "export", _common_fields(), label="Existing files") if is_written else None,
        work(session, _SLOT),
        paragraph(typed_text(said), key="exported", tone="note") if said else None,
        key="export-box",
    )


def _worklist_fields(session: Session, audit: Audit) -> list[FormField]:
    by = session.typed.get("worklists", {}).get("by", "owner")
    languages = [(one, language_name(one)) for one in LANGUAGES]
    # A brand or a kind is nobody who reads.
    if by == "owner":
        languages = [(OF_EACH, "each supplier's language"), *languages]
    hint = (
        "That of the country of its GTINs, or of most of its texts; English where that is none of these."
        * (by == "owner")
    )
    folder = FormField("folder", "Folder", "folder", f"worklists-{_stamp(audit)}")
    return [
        FormField("by", "Worklists", "choice", "owner", [(one, f"one per {one}") for one in _BY]),
        FormField("language", "Language", "choice", languages[0][0], languages, hint=hint),
        *([folder] if session.can("export.worklists") else []),
    ]


def _report_fields(audit: Audit) -> list[FormField]:
    return [FormField("page", "Report", "folder", f"audit-{_stamp(audit)}.html")]


def _saved_fields(audit: Audit) -> list[FormField]:
    # An audit of a snapshot is saved with it; only one of a catalogue in memory needs a name.
    folder = audit.catalog_folder
    return [
        FormField(
            "name",
            "Snapshot",
            value=folder.parent.name if folder else "",
            off="The audit is saved with its snapshot." if folder else "",
        )
    ]


def _common_fields() -> list[FormField]:
    return [FormField("replace", _REPLACE, "tick", value=False)]


def _stamp(audit: Audit) -> str:
    return f"{audit.profile}-{audit.audited_at:%Y-%m-%d}"


@task("export.worklists")
def export_worklists(app: Panel) -> None:
    """Export worklists."""
    audit, session = _shown(app.session), app.session
    values = form_values(session, "worklists", _worklist_fields(session, audit))
    at = "worklists.folder"
    folder = path_of(required(values, "worklists", "folder", "Enter a folder for the worklists."), at=at)
    may_replace = _may_replace(session)
    if (folder / MANIFEST).exists() and not may_replace:
        raise Refused(
            f"{folder} already contains worklists, which may have been filled in. Give another folder, or tick "
            f"'{_REPLACE}'.",
            at=at,
        )

    def write(reporter: Reporter) -> str:
        where = f" to {folder.absolute()}"
        said = _written_worklists(
            audit, folder, values["by"], values["language"], where, reporter, may_replace
        )
        return f"Exported {said}"

    _start(app, write, "Exporting worklists", at)


@task("export.download")
def download_worklists(app: Panel) -> None:
    """Hand worklists over to the browser."""
    audit, session = _shown(app.session), app.session
    values = form_values(session, "worklists", _worklist_fields(session, audit))

    def write(folder: Path, reporter: Reporter) -> str:
        return _written_worklists(audit, folder, values["by"], values["language"], "", reporter)

    do = partial(handed_over, app, f"worklists-{_stamp(audit)}", write)
    _start(app, do, "Writing worklists", "worklists.by")


@task("export.report")
def export_report(app: Panel) -> None:
    """Export the report."""
    audit, at = _shown(app.session), "report.page"
    values = form_values(app.session, "report", _report_fields(audit))
    page = path_of(
        required(values, "report", "page", "Enter a file for the report, such as audit.html."), at=at
    )
    # `to_html` replaces a file. Somebody who calls it names the file; here the name is proposed by the form.
    if page.exists() and not _may_replace(app.session):
        raise Refused(f"{page} already exists. Give another name, or tick '{_REPLACE}'.", at=at)
    _start(app, partial(_written_report, audit, page), "Exporting the report", at)


@task("export.save")
def save_audit(app: Panel) -> None:
    """Save the audit of all products: that of a few would be taken for that of the snapshot from then on."""
    shown = _shown(app.session)
    every, name = shown.taken_from or shown, None
    if every.catalog_folder is None:
        values = form_values(app.session, "saved", _saved_fields(shown))
        why = "The catalogue is in memory only. Enter the name of the snapshots to save its audit with."
        name = required(values, "saved", "name", why)
    title = f"Saving the audit of all {counted(len(every), 'product')}"
    _start(app, partial(_saved, every, name), title, "saved.name")


def _shown(session: Session) -> Audit:
    audited(session)
    figures = figures_of(session)
    # What is written says of which products it is, so it must be those that were seen.
    if figures is None or figures.conditions != session.conditions:
        raise Refused("Nothing was done: the figures of these products are being counted. Press again.")
    return figures.judged


def _may_replace(session: Session) -> bool:
    return bool(form_values(session, "export", _common_fields())["replace"])


def _start(app: Panel, write: Callable[[Reporter], str], title: str, at: str) -> None:
    def failed(session: Session, error: BaseException) -> Session:
        return session.replaced(errors={**session.errors, at: error_text(error)})

    app.change(lambda session: session.with_part(Exported()))
    app.run(_SLOT, write, lambda session, said: session.with_part(Exported(said)), title=title, failed=failed)


def _written_worklists(
    audit: Audit,
    folder: Path,
    by: str,
    language: str,
    where: str,
    reporter: Reporter,
    may_replace: bool = False,
) -> str:
    """Export worklists, and return how many, where to, and in which languages."""
    usual = "en" if language == OF_EACH else language
    own = languages_of_suppliers(audit) if language == OF_EACH else {}
    index = audit.worklists(
        folder,
        by,
        replace=may_replace,
        language=usual,
        languages=own or None,
        progress=reporter,
    )
    findings = counted(int(index["findings"].sum()), "finding")
    said = f"{counted(len(index), 'worklist')} with {findings}{where}."
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

"""The section on quality: run an audit, see where the catalogue fails, and open the products that fail."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from prodex.catalog import Catalog
from prodex.errors import ProdexError
from prodex.notebook.session.actions import Block, Panel, Section, Want, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.acceptance import acceptance_block, acceptance_wants
from prodex.notebook.views.audit_export import export_block
from prodex.notebook.views.blocks import button, paragraph, row, typed_text, work
from prodex.notebook.views.checks import checks_block
from prodex.notebook.views.completeness import completeness_block, completeness_wants
from prodex.notebook.views.conditions import conditions_bar
from prodex.notebook.views.figures import AuditFigures, figures_of, figures_wants
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.frame import catalog_title
from prodex.notebook.views.heat_map import heat_map_block, heat_map_wants
from prodex.notebook.views.overview import (
    gaps_block,
    grades_block,
    headline_block,
    notes_block,
    tiles_block,
    warnings_block,
)
from prodex.notebook.views.paths import path_typed
from prodex.notebook.views.returned import returned_fold, returned_wants
from prodex.phrases import counted
from prodex.progress import Reporter
from prodex.quality import Audit, Profile, profiles
from prodex.quality.run import audit as judge
from prodex.selection import Selection
from prodex.store.reading import with_pending_updates

_FORM, _SLOT = "audit", "quality.audit"
_NOT_AUDITED = (
    "These products have not been audited. "
    "After an audit, figures, worklists and the answers that come back are shown here."
)
_OF_BEFORE = "The audit of “{title}” was not kept: other products are shown by now. Press Audit for these."
_INVITATION = "Select a figure, grade, gap, cell or check to list its products."
#: The values of the profile that the audit of now was made by, and of one in a file.
_OWN, _FILE = "own", "file"


class OfferedProfiles:
    """The profiles that can be chosen: those that come with prodex, and the one that the audit was made by."""

    def __init__(self, session: Session) -> None:
        listed = {str(one["profile"]): one for one in profiles().to_dict("records")}
        #: Titles of those that come with prodex, and what each of all of them is.
        self.titles: dict[str, str] = {name: str(one["title"]) for name, one in listed.items()}
        self.described: dict[str, str] = {
            name: _described(one["description"], one["checks"], one["rules"]) for name, one in listed.items()
        }
        made_by = None if session.audit is None else session.audit.made_by
        # A profile of one's own may be called as one that comes with prodex.
        is_shipped = made_by is not None and made_by.name in listed and made_by == Profile.read(made_by.name)
        self.own: Profile | None = None if is_shipped else made_by
        if self.own is not None:
            rules = len({check.rule.id for check in self.own.checks})
            self.described[_OWN] = _described(self.own.description, len(self.own.checks), rules)

    def title(self, audit: Audit) -> str:
        """Return what people call the profile of an audit."""
        if self.own is not None and audit.profile == self.own.name:
            return self.own.title or self.own.name
        return self.titles.get(audit.profile, audit.profile)


def _described(description: str, checks: int, rules: int) -> str:
    return (
        f"{description} It has {counted(int(checks), 'check')} from {counted(int(rules), 'rule')}; a check is a rule "
        "with parameters, such as a language."
    ).strip()


def quality_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    figures, made = figures_of(session), _controls(session)
    if session.audit is None:
        made.append(paragraph(_NOT_AUDITED, key="not-audited", tone="muted"))
    elif figures is None:
        counting = paragraph("The figures are being counted.", key="counting", tone="muted")
        made.append(work(session, "quality.figures") or counting)
    else:
        made += [
            conditions_bar(session),
            headline_block(figures, session.derived(OfferedProfiles).title(figures.judged)),
            work(session, "quality.figures"),
            warnings_block(figures),
            tiles_block(session, figures),
            _chosen(session, figures),
            row(grades_block(session, figures), gaps_block(session, figures), key="columns", look="columns"),
            completeness_block(session, figures),
            heat_map_block(session, figures),
            checks_block(session, figures),
            acceptance_block(session, figures),
            export_block(session, figures),
            returned_fold(session) if session.can("returned.read") else None,
            notes_block(figures),
        ]
    return [one for one in made if one]


def quality_wants(session: Session) -> Iterable[Want]:
    """Return what has to be counted or read for the section."""
    yield from figures_wants(session)
    yield from completeness_wants(session)
    yield from heat_map_wants(session)
    yield from acceptance_wants(session)
    yield from returned_wants(session)


QUALITY = Section("quality", lambda _: "Quality", quality_view, quality_wants)


def _fields(session: Session) -> list[FormField]:
    offered = session.derived(OfferedProfiles)
    options = [*offered.titles.items(), (_FILE, "a profile, or requirements, in a file")]
    # Whoever audits again mostly wants the same profile.
    known = "" if session.audit is None else session.audit.profile
    first = known if known in offered.titles else options[0][0]
    if (own := offered.own) is not None:
        title, first = own.title or own.name, _OWN
        options.insert(0, (_OWN, f"{title} (as audited)" if title in offered.titles.values() else title))
    file = FormField(
        "file",
        "File",
        "folder",
        placeholder="profile.toml or requirements.xlsx",
        hint="Relative to the folder of the notebook.",
    )
    is_of_file = session.typed.get(_FORM, {}).get("profile") == _FILE
    hint = "Judge the products as if these were accepted."
    return [
        FormField("profile", "Profile", "choice", first, options),
        *([file] if is_of_file else []),
        FormField("pending", "Include pending updates", "tick", value=False, hint=hint),
    ]


def _controls(session: Session) -> list[Block | None]:
    fields = _fields(session)
    chosen = form_values(session, _FORM, fields)["profile"]
    described = session.derived(OfferedProfiles).described.get(chosen, "")
    run = button("Audit", "quality.run", look="main")
    return [
        form(session, _FORM, fields, run, look="export-row", label="Run an audit"),
        paragraph(typed_text(described), key="described", tone="muted") if described else None,
        work(session, _SLOT),
    ]


def _chosen(session: Session, figures: AuditFigures) -> Block:
    """Return which products the figures are about, and the way back to all."""
    if not figures.conditions:
        return row(
            paragraph(_INVITATION, key="invitation", tone="status only-live"), key="chosen", look="chosen-row"
        )
    said = ["The figures are about ", counted(len(figures.judged), "product"), ": "]
    words = "; ".join(session.filter.labels(figures.conditions))
    return row(
        paragraph([*said, typed_text(words)], key="about", tone="status"),
        button("Show all products", "quality.everything", key="everything", to="tiles"),
        key="chosen",
        look="chosen-row",
    )


@task("quality.run")
def run_audit(app: Panel) -> None:
    """Audit the catalogue by the profile that is chosen."""
    session = app.session
    values = form_values(session, _FORM, _fields(session))
    profile: Any = values["profile"]
    if profile == _OWN:
        profile = session.derived(OfferedProfiles).own
    elif profile == _FILE:
        at = f"{_FORM}.file"
        path = path_typed(values, at, "Enter the file of a profile, or of requirements.")
        if not path.is_file():
            raise Refused(f"There is no file {str(path)[:200]!r}. Give another one.", at=at)
        try:
            profile = Profile.read(path)
        except ProdexError as error:
            raise Refused(str(error), at=at) from error
    catalog, pending = session.catalog, bool(values["pending"])
    app.run(
        _SLOT, partial(_audited, catalog, profile, pending), partial(_with_audit, catalog), title="Auditing"
    )


def _audited(catalog: Catalog, profile: str | Profile, pending: bool, reporter: Reporter) -> Audit:
    catalog = with_pending_updates(catalog, progress=reporter) if pending else catalog
    return judge(catalog, profile, progress=reporter)


def _with_audit(catalog: Catalog, session: Session, made: Audit) -> Session:
    """Show an audit, unless another catalogue is shown by now: then say that it is of the one before."""
    if session.catalog is not catalog:
        return session.noting(
            _OF_BEFORE.format(title=catalog_title(catalog)), is_problem=True, section="quality"
        )
    return session.replaced(audit=made).filtered(_answerable(session.conditions, made))


def _answerable(conditions: Selection, audit: Audit) -> Selection:
    """Return conditions without those on checks that an audit does not have."""
    there = {check.id for check in audit.checks}
    for one in conditions.single():
        asked = {check for every in one.every() for fails in every.failing for check in fails.checks}
        if not there.issuperset(asked):
            conditions = conditions.removing(one)
    return conditions

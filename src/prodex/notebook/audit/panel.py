"""The audit panel: run an audit, see where the catalogue fails, and list the products that fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as w
import pyarrow as pa
from traitlets import Bool, Instance, Tuple, link

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.messages import counted
from prodex.notebook.audit.acceptance import AcceptanceForm
from prodex.notebook.audit.check_table import CheckTable
from prodex.notebook.audit.completeness_grid import CompletenessGrid
from prodex.notebook.audit.drill_down import DrillDown
from prodex.notebook.audit.heat_map import HeatMap
from prodex.notebook.audit.overview import (
    AuditTiles,
    GapList,
    GradeBars,
    footnotes,
    headline,
    is_about,
    warnings,
)
from prodex.notebook.audit.returned import ReturnedWorklists
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.exporting import path_of
from prodex.notebook.shared.long_tasks import Exporter, WorkRow
from prodex.notebook.shared.panel import (
    Panel,
    button,
    check_box,
    html,
    row,
    show_if,
    styled,
    text_html,
)
from prodex.notebook.shared.selection_bar import SelectionBar
from prodex.notebook.shared.state import Exploration
from prodex.notebook.shared.static_picture import ONLY_LIVE
from prodex.notebook.snapshots.saved import earlier, previous
from prodex.progress import PATIENCE, Progress, Reporter, reporting
from prodex.quality import Audit, Profile, profiles
from prodex.quality.accepted import AcceptedFindings
from prodex.quality.run import audit
from prodex.selection import Selection
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.store.reading import with_pending_updates
from prodex.store.snapshot import catalog_given

_NOT_AUDITED = (
    "These products have not been audited. "
    "After an audit, figures, worklists and the answers that come back are shown here."
)
_INVITATION = "Select a figure, grade, gap, cell or check to list its products."


class AuditPanel(Panel):
    """The quality of a catalogue, what to fix first, and which products are affected.

    Parameters
    ----------
    audit
        The audit to show; without one the panel offers to run it.
    profile
        The profile that is offered first: a name, a path, a mapping, or a `Profile`.
    catalog
        The catalogue to audit.
    exploration
        The state shared with other panels: it has the catalogue and the audit, and a click in the panel sets its
        conditions, so that an explorer lists the products.
    service
        Where answers in worklists are sent; without one they are only shown.

    Attributes
    ----------
    audit
        The audit that is shown, or None.
    failing
        Ids of the products that a click has listed.
    is_shown
        Whether anybody sees the panel: while nobody does, its figures follow no change of conditions.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
    >>> panel = AuditPanel(prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}}))
    >>> panel.tiles.buttons[1].click()
    >>> panel.failing, panel.exploration.conditions.failing[0].title
    (('8',), 'a blocker')
    """

    audit: Instance[Audit | None] = Instance(Audit, allow_none=True)
    failing: Instance[tuple[str, ...]] = Tuple()
    is_shown: Bool[bool, bool | int] = Bool(default_value=True)

    def __init__(
        self,
        audit: Audit | None = None,
        *,
        profile: str | Path | Mapping[str, Any] | Profile | None = None,
        catalog: Catalog | None = None,
        exploration: Exploration | None = None,
        service: Client | None = None,
    ) -> None:
        super().__init__("Audit")
        self.add_class("figures")
        self.exploration: Exploration | None = _exploration(audit, catalog, exploration)
        self._choices: list[DrillDown] = []
        self._earlier: Audit | None = None
        self._before: WorkRow[Audit | None] = WorkRow(
            self, self._compared, self.show_error, after=PATIENCE, is_dropped=True
        )
        self.controls: RunControls = RunControls(self, self._to_audit, self._audited, profile)
        self._headline, self._warnings, self._notes = (html("") for _ in range(3))
        self._shown = html("")
        self._not_audited = html(f"<p class='muted'>{_NOT_AUDITED}</p>")
        self.show_all: w.Button = button("Show all products")
        self.tiles: AuditTiles = AuditTiles(self, self._choose)
        self.grades: GradeBars = GradeBars(self, self._choose)
        self.gaps: GapList = GapList(self, self._choose)
        self.completeness: CompletenessGrid = CompletenessGrid(self, self._choose)
        self.heat: HeatMap = HeatMap(self, self._choose)
        self.checks: CheckTable = CheckTable(self, self._choose)
        self.acceptance: AcceptanceForm = AcceptanceForm(self, lambda: self.audit, self._accepted)
        self.export: AuditExport = AuditExport(self)
        if service is not None:
            service = service_given(service, "AuditPanel(audit, service=service)")
        self.returned: ReturnedWorklists = ReturnedWorklists(
            self, service, self._renew, self._accepted_elsewhere
        )
        chosen = row(self._shown, self.show_all, look="chosen-row")
        columns = styled(w.Box([self.grades, self.gaps]), "columns")
        bar = () if self.exploration is None else (SelectionBar(self, self.exploration),)
        above = (*bar, self._headline, self._before, self._warnings, self.tiles, chosen, columns)
        below = (
            self.completeness,
            self.heat,
            self.checks,
            self.acceptance,
            self.export,
            self.returned,
            self._notes,
        )
        self._results = w.VBox([*above, *below])
        self.fill(self.controls, self._not_audited, self._results)
        self.on(self.show_all, lambda _: self._choose(None))
        self.on(self, lambda _: self._draw(), "audit")
        self.on(self, lambda _: self._show_chosen(), "is_shown")
        if self.exploration is not None:
            # Both ways: an audit that is run here is shown by the other panels, and theirs here.
            link((self.exploration, "audit"), (self, "audit"))
            self.on(self.exploration, lambda _: self._stop_audit(), "catalog")
            self.on(self.exploration, lambda _: self._show_chosen(), "conditions")
        else:
            self.audit = audit
        if self.audit is None:  # any other was drawn when it was set
            self._draw()

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until no audit runs or is read; for scripts and tests."""
        self.controls.wait(seconds)
        self._before.wait(seconds)
        self.returned.wait(seconds)
        self.acceptance.wait(seconds)

    @property
    def _catalog(self) -> Catalog | None:
        return None if self.exploration is None else self.exploration.catalog

    def _to_audit(self) -> Catalog:
        if self._catalog is None:
            raise InputError("The audit has no catalogue with it. Give the panel catalog=, too.")
        return self._catalog

    def _audited(self, made: Audit) -> None:
        self._choices = []
        if self.exploration is not None:
            # The new audit may not have the checks that were selected.
            there, now = {check.id for check in made.checks}, self.exploration.conditions
            with self.exploration.refining:
                for one in now.single():
                    asked = {
                        check for every in one.every() for fails in every.failing for check in fails.checks
                    }
                    if not there.issuperset(asked):
                        now = now.removing(one)
                self.exploration.conditions = now
        self.audit = made

    def _draw(self) -> None:
        """Show the audit, or only the controls that run one."""
        made = self.audit
        show_if(self.controls, self._catalog is not None)
        show_if(self._results, made is not None)
        show_if(self._not_audited, made is None and self._catalog is not None)
        if made is None:
            self.failing = ()
            return
        # Whoever audits again mostly wants the same profile.
        self.controls.prefer(made.profile)
        self._earlier = None
        # With all products: answers may be about some that are not chosen now.
        self.returned.show(made, self._audited_catalog(made))
        self._show_chosen()
        self._notes.value = footnotes(made)
        self._warn()
        # In the background: it opens another audit from disk, and the figures are shown without it.
        self._before.start(lambda _: previous(made), "Opening the audit before")

    def _show_chosen(self) -> None:
        """Show the figures of the products that are chosen."""
        # They take a second for a hundred thousand products, which a click elsewhere must not wait for.
        if self.audit is None or not self.is_shown:
            return
        judged, mark = self._judged(self.audit), self._is_chosen
        self.failing = tuple(judged.identity["product_id"].to_pylist()) if self._conditions else ()
        self._headline.value = headline(judged, self.controls.title(judged.profile), of=len(self.audit))
        # Figures of some products are no progress of all of them.
        self.tiles.show(judged, None if self._conditions else self._earlier)
        for box in (
            self.grades,
            self.gaps,
            self.completeness,
            self.heat,
            self.checks,
            self.acceptance,
            self.export,
        ):
            box.show(judged)
        for one in (*self.tiles.buttons, *self.grades.buttons, *self.gaps.buttons):
            one.mark(mark)
        self.completeness.mark(mark)
        self.heat.mark(mark)
        self.checks.mark(mark)
        sentence = _summary(len(self.failing), self._labels()) if self._conditions else _INVITATION
        live = "" if self._conditions else f" class='{ONLY_LIVE}'"
        self._shown.value = f"<span role='status'{live}>{sentence}</span>"

    def _accepted(self, made: Audit) -> None:
        """Show the same audit with what is accepted of it now."""
        self.audit = made

    def _accepted_elsewhere(self) -> None:
        """Read what is accepted again: a worklist that came back has added to it."""
        if self.audit is not None and self.audit.accepted_findings is not None:
            self.audit = self.audit.accepting(AcceptedFindings.read(self.audit.accepted_findings.path))

    def _renew(self, old: Catalog, catalog: Catalog, audit: Audit | None) -> None:
        """Show the products of now, and their audit, after corrections were sent."""
        if self.exploration is not None and audit is not None:
            self.exploration.renew(old, catalog, audit)

    def _audited_catalog(self, audit: Audit) -> Catalog | None:
        """Return the catalogue of an audit: where it is the one that is shown, that one.

        An audit that was saved and opened again has another object of the same catalogue, or none.
        """
        shown = self._catalog
        return shown if shown is not None and is_about(audit, shown) else audit.catalog

    def _judged(self, whole: Audit) -> Audit:
        """Return the audit of the products that are chosen."""
        if not self._conditions:
            return whole
        words = "; ".join(self._labels())
        if self.exploration is None:
            ids = [choice.products(whole) for choice in self._choices]
            return whole.only(set(ids[0]).intersection(*ids[1:]), words)
        products = self.exploration.filter.products
        ids = products.ids.filter(pa.array(self.exploration.filter.mask(self._conditions)))
        return whole.only(ids, words)

    @property
    def _conditions(self) -> Selection:
        """What is chosen: with an exploration by all panels, else by the figures that were pressed here."""
        if self.exploration is not None:
            return self.exploration.conditions
        conditions = Selection()
        for choice in self._choices:
            conditions = choice.added_to(conditions)
        return conditions

    def _labels(self) -> list[str]:
        """Return in words what is chosen."""
        if self.exploration is not None:
            return self.exploration.filter.labels(self._conditions)
        return [f"{one.group} fails: {one.title}" if one.checks else one.group for one in self._choices]

    def _is_chosen(self, choice: DrillDown) -> bool:
        return choice.is_in(self._conditions)

    def _compared(self, before: Audit | None) -> None:
        """Show how the figures changed since the audit before."""
        self._earlier = before
        if before is not None and self.audit is not None and self.is_shown and not self._conditions:
            # It arrives after the click has ended, so nothing else would show an error.
            with self.guarded():
                self.tiles.show(self.audit, before)

    def _stop_audit(self) -> None:
        """Stop an audit of a catalogue that is no longer shown."""
        self.controls.forget()
        self._warn()

    def _warn(self) -> None:
        if self.audit is not None:
            self._warnings.value = warnings(self.audit, self._catalog)

    def _choose(self, choice: DrillDown | None) -> None:
        """Require the products behind a figure as well, or no longer; None shows all products again."""
        if self.exploration is None:
            there = choice in self._choices
            kept = [one for one in self._choices if one != choice]
            self._choices = [] if choice is None else kept if there else [*kept, choice]
            self._show_chosen()
        elif choice is None:
            self.exploration.conditions = Selection()
        else:
            now = self.exploration.conditions
            self.exploration.conditions = (
                choice.removed_from(now) if choice.is_in(now) else choice.added_to(now)
            )


def _summary(count: int, chosen: list[str]) -> str:
    """Return which products the figures are about."""
    return f"The figures are about <b>{counted(count, 'product')}</b>: {text_html('; '.join(chosen))}"


def _exploration(
    audit: Audit | None, catalog: Catalog | None, exploration: Exploration | None
) -> Exploration | None:
    """Return the shared state: the one given, or a new one if there is a catalogue."""
    if audit is not None and not isinstance(audit, Audit):
        raise InputError(
            f"audit must be an audit, not {type(audit).__name__}. prodex.audit(catalog) returns one; with catalog= the "
            "panel audits the catalogue itself."
        )
    if exploration is not None:
        if catalog is not None:
            raise InputError("Give AuditPanel either a catalogue or an exploration, which has a catalogue.")
        if audit is not None:
            exploration.audit = audit
        return exploration
    if catalog is None and audit is None:
        raise InputError(
            "AuditPanel has nothing to show. Give it an audit, a catalogue to audit, or an exploration."
        )
    if catalog is not None:
        catalog = catalog_given(catalog, "AuditPanel(catalog=catalog)")
    elif audit is not None:
        catalog = audit.catalog
    return None if catalog is None else Exploration(catalog=catalog, audit=audit)


class RunControls(VBox):
    """The first row of an audit panel.

    Parameters
    ----------
    panel
        The panel that shows errors.
    catalog
        Returns the catalogue to audit.
    done
        Called with the audit.
    own
        The profile that is offered first.
    """

    def __init__(
        self,
        panel: Panel,
        catalog: Callable[[], Catalog],
        done: Callable[[Audit], object],
        own: str | Path | Mapping[str, Any] | Profile | None,
    ) -> None:
        self._panel, self._catalog, self._done = panel, catalog, done
        self._titles: dict[str, str] = {}
        self.profile: w.Dropdown = w.Dropdown(description="Profile", options=self._profiles(own))
        self.run: w.Button = button("Audit", "primary")
        self.include_pending: w.Checkbox = check_box(
            "Include pending updates", tooltip="Audit the products as if their pending updates were accepted"
        )
        self.work: WorkRow[Audit] = WorkRow(panel, self._finished, panel.show_error, starts=[self.run])
        self._about = html("")
        controls = (self.profile, self.include_pending, self.run)
        super().__init__([row(*controls, look="form-row"), self.work, self._about])
        panel.on(self.profile, lambda _: self._describe(), "value")
        panel.on(self.run, lambda _: self._start())
        self._describe()

    @property
    def cancel(self) -> w.Button:
        """The button that cancels the audit that runs."""
        return self.work.cancel

    def title(self, name: str) -> str:
        """Return the title of a profile by its name; the name itself if it is not offered."""
        return self._titles.get(name, name)

    def prefer(self, name: str) -> None:
        """Select a profile, if it is offered."""
        if name in [value for _, value in self.profile.options]:
            self.profile.value = name

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until no audit runs; for scripts and tests."""
        self.work.wait(seconds)

    def _profiles(
        self, own: str | Path | Mapping[str, Any] | Profile | None
    ) -> list[tuple[str, str | Profile]]:
        listed: list[tuple[str, str | Profile]] = [
            (title, name) for name, title in profiles()[["profile", "title"]].itertuples(index=False)
        ]
        self._titles = {str(name): title for title, name in listed}
        if own is None or (isinstance(own, str) and own in self._titles):
            # `sorted` is stable: the requested profile is first, and the others keep their order.
            return sorted(listed, key=lambda option: option[1] != own)
        read = own if isinstance(own, Profile) else Profile.read(own)
        self._titles.setdefault(read.name, read.title)
        return [(read.title or read.name, read), *listed]

    def _describe(self) -> None:
        chosen = self.profile.value
        profile = chosen if isinstance(chosen, Profile) else Profile.read(str(chosen))
        checks = counted(len(profile.checks), "check")
        rules = counted(len({check.rule.id for check in profile.checks}), "rule")
        self._about.value = (
            f"<p class='muted'>{text_html(profile.description)} It has {checks} from {rules}; a check is a rule with "
            "parameters, such as a language.</p>"
        )

    def _start(self) -> None:
        catalog, profile, include_pending = self._catalog(), self.profile.value, self.include_pending.value
        self.work.start(partial(_audited, catalog, profile, include_pending), "Auditing")

    def _finished(self, made: Audit) -> None:
        # The last step may have ended before Cancel was noticed.
        if self.work.work is not None and self.work.work.is_cancelled:
            return
        with self._panel.guarded():
            self._done(made)

    def forget(self) -> None:
        """Stop the audit that runs, and drop its result."""
        self.work.forget()


def _audited(catalog: Catalog, profile: str | Profile, include_pending: bool, reporter: Reporter) -> Audit:
    catalog = with_pending_updates(catalog, progress=reporter) if include_pending else catalog
    return audit(catalog, profile, progress=reporter)


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
    return f"Exported {counted(len(index), 'worklist')} with {findings} to {folder.absolute()}.{_scope_in_words(audit)}"


def _scope_in_words(audit: Audit) -> str:
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
    return f"Exported the report to {written}{trend}. {lists}{_scope_in_words(audit)}"


def saved(audit: Audit, name: str | None, progress: Progress = False) -> str:
    """Save an audit with its snapshot, and return where it is."""
    with reporting(progress, "Saved") as reporter, reporter.phase("Saving the audit"):
        return f"Saved the audit to {audit.save(name).folder}."

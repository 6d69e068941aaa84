"""The audit panel: run an audit, see where the catalogue fails, and list the products that fail."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipywidgets as w
import pyarrow as pa
from traitlets import Bool, Instance, Tuple, link

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.messages import counted
from prodex.notebook.audit.check_table import CheckTable
from prodex.notebook.audit.drill_down import DrillDown
from prodex.notebook.audit.export import AuditExport
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
from prodex.notebook.audit.run_controls import RunControls
from prodex.notebook.conditions import Conditions
from prodex.notebook.exploration import Exploration
from prodex.notebook.panel import Panel, button, html, row, show_if, styled, text_html
from prodex.notebook.products.selection_bar import SelectionBar
from prodex.notebook.snapshots.saved import previous
from prodex.notebook.static_picture import ONLY_LIVE
from prodex.notebook.work import WorkRow
from prodex.progress import PATIENCE
from prodex.quality import Audit, Profile
from prodex.service import Client
from prodex.service.connection import service_given
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
        Where corrections of worklists that came back are sent; without one they are only shown.

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
        self.heat: HeatMap = HeatMap(self, self._choose)
        self.checks: CheckTable = CheckTable(self, self._choose)
        self.export: AuditExport = AuditExport(self)
        if service is not None:
            service = service_given(service, "AuditPanel(audit, service=service)")
        self.returned: ReturnedWorklists = ReturnedWorklists(self, service, self._renew)
        chosen = row(self._shown, self.show_all, look="chosen-row")
        columns = styled(w.Box([self.grades, self.gaps]), "columns")
        bar = () if self.exploration is None else (SelectionBar(self, self.exploration),)
        above = (*bar, self._headline, self._before, self._warnings, self.tiles, chosen, columns)
        below = (self.heat, self.checks, self.export, self.returned, self._notes)
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
        self._draw()

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until no audit runs or is read; for scripts and tests."""
        self.controls.wait(seconds)
        self._before.wait(seconds)
        self.returned.wait(seconds)

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
                for one in now.failing:
                    if not there.issuperset(one.checks):
                        now = now.failing_any(one.title, one.checks)
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
        # Of all products: answers may be about some that are not chosen now.
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
        for box in (self.grades, self.gaps, self.heat, self.checks, self.export):
            box.show(judged)
        for one in (*self.tiles.buttons, *self.grades.buttons, *self.gaps.buttons):
            one.mark(mark)
        self.heat.mark(mark)
        self.checks.mark(mark)
        sentence = _summary(len(self.failing), self._labels()) if self._conditions else _INVITATION
        live = "" if self._conditions else f" class='{ONLY_LIVE}'"
        self._shown.value = f"<span role='status'{live}>{sentence}</span>"

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
    def _conditions(self) -> Conditions:
        """What is chosen: with an exploration by all panels, else by the figures that were pressed here."""
        if self.exploration is not None:
            return self.exploration.conditions
        conditions = Conditions()
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
            self.exploration.conditions = Conditions()
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

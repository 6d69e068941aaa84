"""The panel of an audit: judge a catalogue, see where it fails, and have whatever fails shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipywidgets as w
from traitlets import Instance, Tuple, link

from prodex.catalog import Catalog
from prodex.display.audit import counted
from prodex.errors import InputError
from prodex.notebook.audit.check_table import CheckTable
from prodex.notebook.audit.drill_down import DrillDown
from prodex.notebook.audit.export import AuditExport
from prodex.notebook.audit.heat_map import HeatMap
from prodex.notebook.audit.overview import AuditTiles, GapList, GradeBars, footnotes, headline, warnings
from prodex.notebook.audit.run_controls import RunControls
from prodex.notebook.background import LatestTask
from prodex.notebook.exploration import Conditions, Exploration
from prodex.notebook.panel import Panel, html, typed
from prodex.notebook.snapshots.saved import previous
from prodex.quality import Audit, Profile
from prodex.store.snapshot import catalog_given

_INVITATION = "Press a figure, a grade, a gap or a cell, or choose a check, to see its products."


class AuditPanel(Panel):
    """Where a catalogue stands, what to mend first, and which products that concerns.

    Parameters
    ----------
    audit
        What is shown; without one the panel offers to make it.
    profile
        What to judge by at first: a name, a path, a mapping, or a `Profile`.
    catalog
        What to judge.
    exploration
        The state shared with other panels: the catalogue and the audit are taken from there, and what is clicked
        becomes its conditions, so that an explorer shows the products.

    Attributes
    ----------
    audit
        The audit that is shown, or None.
    failing
        Ids of the products that were chosen by a click.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
    >>> panel = AuditPanel(prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}}))
    >>> panel.tiles.buttons[1].click()
    >>> panel.failing, panel.exploration.conditions.failing.title
    (('8',), 'a blocker')
    """

    audit: Instance[Audit | None] = Instance(Audit, allow_none=True)
    failing: Instance[tuple[str, ...]] = Tuple()

    def __init__(
        self,
        audit: Audit | None = None,
        *,
        profile: str | Path | Mapping[str, Any] | Profile | None = None,
        catalog: Catalog | None = None,
        exploration: Exploration | None = None,
    ) -> None:
        super().__init__("Audit")
        self.add_class("figures")
        self.exploration = _exploration(audit, catalog, exploration)
        self._chosen: DrillDown | None = None
        self._before: LatestTask[Audit | None] = LatestTask(previous, self._compared, self.tell)
        self.judging = RunControls(self, self._to_judge, self._judged, profile)
        self._headline, self._warnings, self._notes = (html("") for _ in range(3))
        self._shown = html("")
        self.show_all = w.Button(description="Show all products", layout=w.Layout(width="auto"))
        self._chosen_row = w.HBox([self._shown, self.show_all])
        self._chosen_row.add_class("chosen-row")
        self.tiles, self.grades = AuditTiles(self, self._choose), GradeBars(self, self._choose)
        self.gaps, self.heat = GapList(self, self._choose), HeatMap(self, self._choose)
        self.rules, self.files = CheckTable(self, self._choose), AuditExport(self)
        columns = w.Box([self.grades, self.gaps])
        columns.add_class("columns")
        self._results = w.VBox(
            [
                *(self._headline, self._warnings, self.tiles, self._chosen_row, columns),
                *(self.heat, self.rules, self.files, self._notes),
            ]
        )
        self.fill(self.judging, self._results)
        self.on(self.show_all, lambda _: self._choose(None))
        self.on(self, lambda _: self._draw(), "audit")
        if self.exploration is not None:
            link((self.exploration, "audit"), (self, "audit"))
            self.on(self.exploration, lambda _: self._look_at(), "catalog")
            self.on(self.exploration, lambda _: self._follow(), "conditions")
        else:
            self.audit = audit
        self._draw()

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is judged or read any more; for scripts and tests."""
        self.judging.wait(seconds)
        self._before.wait(seconds)

    @property
    def _catalog(self) -> Catalog | None:
        return None if self.exploration is None else self.exploration.catalog

    def _to_judge(self) -> Catalog:
        if self._catalog is None:
            raise InputError("The audit came without its catalogue. Give the panel catalog=, too.")
        return self._catalog

    def _judged(self, made: Audit) -> None:
        self._choose(None)  # what was chosen may be no check of the new audit
        self.audit = made

    def _draw(self) -> None:
        """Show the audit, or that there is none yet."""
        made = self.audit
        self.judging.layout.display = "" if self._catalog is not None else "none"
        self._results.layout.display = "" if made is not None else "none"
        if self._chosen is not None:
            self._choose(None)
        else:
            self._mark(None)
        if made is None:
            return
        self.judging.prefer(made.profile)
        self._headline.value = headline(made, self.judging.title(made.profile))
        self._notes.value = footnotes(made)
        self._warn()
        for box in (self.tiles, self.grades, self.gaps, self.heat, self.rules, self.files):
            box.show(made)
        self._before(made)

    def _compared(self, before: Audit | None) -> None:
        """Say what became of the figures since the audit before."""
        if before is not None and self.audit is not None:
            with self.guarded():
                self.tiles.show(self.audit, before)
                self._mark(self._chosen)

    def _look_at(self) -> None:
        """Judge no catalogue that is looked at no longer."""
        self.judging.forget()
        self._warn()

    def _warn(self) -> None:
        if self.audit is not None:
            self._warnings.value = warnings(self.audit, self._catalog)

    def _choose(self, choice: DrillDown | None) -> None:
        """Show the products of a choice; the same one again, or None, shows all."""
        self._mark(None if choice == self._chosen else choice)
        if self.exploration is not None:
            self.exploration.conditions = self._chosen.conditions() if self._chosen else Conditions()

    def _follow(self) -> None:
        """Take the choice back when somebody else narrowed the products down otherwise."""
        if (
            self._chosen is not None
            and self.exploration is not None
            and self.exploration.conditions != self._chosen.conditions()
        ):
            self._mark(None)

    def _mark(self, chosen: DrillDown | None) -> None:
        self._chosen = chosen
        ids = chosen.products(self.audit) if chosen is not None and self.audit is not None else ()
        for button in (*self.tiles.buttons, *self.grades.buttons, *self.gaps.buttons):
            button.mark(chosen)
        self.heat.mark(chosen)
        self.rules.mark(chosen)
        said = _INVITATION if chosen is None else _said(chosen, len(ids))
        self._shown.value = f"<span role='status'>{said}</span>"
        self.failing = ids


def _said(chosen: DrillDown, count: int) -> str:
    group = f" of {typed(chosen.group)}" if chosen.facet is not None else ""
    fails = (
        "" if chosen.checks is None else f" that {'fails' if count == 1 else 'fail'}: {typed(chosen.title)}"
    )
    return f"<b>{counted(count, 'product')}</b>{group}{fails}"


def _exploration(
    audit: Audit | None, catalog: Catalog | None, exploration: Exploration | None
) -> Exploration | None:
    """Return the state to share: the one given, or one's own where there is a catalogue."""
    if audit is not None and not isinstance(audit, Audit):
        raise InputError(
            f"AuditPanel shows an audit, not {type(audit).__name__}. prodex.audit(catalog) makes one; catalog= is what "
            "the panel judges itself."
        )
    if exploration is not None:
        if catalog is not None:
            raise InputError("Give AuditPanel a catalogue or an exploration, which has one, but not both.")
        if audit is not None:
            exploration.audit = audit
        return exploration
    if catalog is not None:
        catalog = catalog_given(catalog, "AuditPanel(catalog=catalog)")
    elif audit is not None:
        catalog = audit.catalog
    if catalog is None and audit is None:
        raise InputError(
            "AuditPanel shows nothing yet. Give it an audit, a catalogue to judge, or an exploration."
        )
    return None if catalog is None else Exploration(catalog=catalog, audit=audit)

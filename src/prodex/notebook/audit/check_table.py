"""The checks of an audit as a table: choosing a row tells what the rule says, and shows the products that fail it."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets as w
import pandas as pd
from itables.widget import ITable

from prodex.display.audit import counted
from prodex.display.report.contents import CheckRow, check_rows
from prodex.notebook.audit.drill_down import Choose, DrillDown, of_check
from prodex.notebook.paged_tables import ITABLE, Pager
from prodex.notebook.panel import Panel, html, typed
from prodex.quality import Audit

_ROWS = 12
_COLUMNS = (
    "Problem",
    "Block",
    "Severity",
    "Fail",
    "Pass",
    "Not applicable",
    "Unknown",
    "Score",
    "If fixed",
)
_OPTIONS: dict[str, Any] = {
    **ITABLE,
    "columnDefs": [
        {"className": "dt-left", "targets": [0, 1, 2]},
        {"className": "dt-right", "targets": [3, 4, 5, 6, 7, 8]},
    ],
}


class CheckTable(w.VBox):
    """Twelve checks at a time, those that fail first."""

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self._choose = choose
        self._rows: tuple[CheckRow, ...] = ()
        self._shown: tuple[CheckRow, ...] = ()
        self._gains: dict[str, str] = {}
        self._chosen: DrillDown | None = None
        self.only_failing = w.Checkbox(value=True, description="only checks that fail", indent=False)
        self.pager = Pager(_ROWS)
        self.table = ITable(
            rule_frame((), {}),
            **_OPTIONS,
        )
        self.said = html("")
        panel.on(self.only_failing, lambda _: self._filter(), "value")
        panel.on(self.pager, lambda _: self._draw(), "first")
        panel.on(self.table, lambda _: self._selected(), "selected_rows")
        bar = w.HBox([self.only_failing, self.pager])
        bar.add_class("bar-above")
        super().__init__([html("<h3>Checks</h3>"), bar, self.table, self.said])

    def show(self, audit: Audit) -> None:
        """Show the checks of an audit."""
        self._rows, self._gains = check_rows(audit), if_fixed(audit)
        self._filter()

    def mark(self, chosen: DrillDown | None) -> None:
        """Show which row is chosen, wherever it was chosen."""
        self._chosen = chosen
        self.table.selected_rows = self._places()

    def _filter(self) -> None:
        was_first = self.pager.first == 0
        count = len(self._wanted())
        fails = f" that fail{'s' * (count == 1)}" if self.only_failing.value else ""
        self.pager.over(count, "check", fails)
        if was_first:
            self._draw()

    def _wanted(self) -> tuple[CheckRow, ...]:
        return tuple(row for row in self._rows if row.failed or not self.only_failing.value)

    def _draw(self) -> None:
        self._shown = self._wanted()[self.pager.first : self.pager.first + _ROWS]
        self.said.value = ""
        frame = rule_frame(self._shown, self._gains)
        self.table.update(frame, selected_rows=self._places(), **_OPTIONS)

    def _selected(self) -> None:
        places = self.table.selected_rows
        if places == self._places():
            wanted = self._chosen
        else:
            wanted = of_check(self._shown[places[0]].facts) if places else None
        self.said.value = rule_words(self._shown[places[0]]) if places else ""
        if wanted != self._chosen:
            self._choose(wanted)

    def _places(self) -> list[int]:
        """Return which of the rows is chosen, where it is one of them."""
        return [place for place, row in enumerate(self._shown) if of_check(row.facts) == self._chosen]


def if_fixed(audit: Audit) -> dict[str, str]:
    """Say for each check that fails what it would bring to mend it."""
    found = audit.gaps()
    return dict(zip(found["check"], found["brings"].str.replace("->", "→"), strict=True))


def rule_frame(rows: tuple[CheckRow, ...], gains: dict[str, str]) -> pd.DataFrame:
    """Return checks as they are shown."""
    cells: list[tuple[Any, ...]] = [
        (
            row.facts.problem,
            row.facts.block,
            row.facts.severity,
            f"{row.failed:,}",
            f"{row.passed:,}",
            f"{row.not_applicable:,}",
            f"{row.unknown:,}",
            row.score,
            gains.get(row.facts.id, "–"),
        )
        for row in rows
    ]
    return pd.DataFrame(cells, columns=list(_COLUMNS), dtype="str")


def rule_words(row: CheckRow) -> str:
    """Return what a rule says, as markup."""
    facts = row.facts
    told = {
        "What should be true": facts.title,
        "Why": facts.why,
        "What to do": facts.fix,
        "For": facts.scope,
        "Source": facts.source,
        "Check": facts.id,
        "Crashed": "" if row.crash.is_missing else row.crash.text,
    }
    listed = "".join(f"<dt>{escape(term)}</dt><dd>{typed(said)}</dd>" for term, said in told.items() if said)
    fails = counted(row.failed, "product") + (" fails" if row.failed == 1 else " fail")
    return (
        f"<div class='rule'><h4>{typed(facts.problem)}</h4><p><span class='severity {escape(facts.severity)}'>"
        f"{escape(facts.severity)}</span> {fails} of {row.failed + row.passed:,} to which it applies.</p>"
        f"<dl>{listed}</dl></div>"
    )

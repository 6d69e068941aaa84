"""The checks of an audit as a table: selecting a row explains its rule and shows the products that fail it."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets as w
import pandas as pd
from itables.widget import ITable

from prodex.display.report.contents import CheckRow, check_rows
from prodex.notebook.audit.drill_down import Choose, DrillDown, of_check
from prodex.notebook.paged_tables import ITABLE, Pager
from prodex.notebook.panel import Panel, html, text_html
from prodex.quality import Audit
from prodex.text import counted

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
    """Twelve checks at a time, failing checks first."""

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self._choose = choose
        self._rows: tuple[CheckRow, ...] = ()
        self._shown: tuple[CheckRow, ...] = ()
        self._gains: dict[str, str] = {}
        self._chosen: DrillDown | None = None
        self.only_failing = w.Checkbox(value=True, description="Only failing checks", indent=False)
        self.pager = Pager(_ROWS)
        self.table = ITable(
            rule_frame((), {}),
            **_OPTIONS,
        )
        self.explanation = html("")
        panel.on(self.only_failing, lambda _: self._filter(), "value")
        panel.on(self.pager, lambda _: self._draw(), "first")
        panel.on(self.table, lambda _: self._selected(), "selected_rows")
        bar = w.HBox([self.only_failing, self.pager])
        bar.add_class("bar-above")
        super().__init__([html("<h3>Checks</h3>"), bar, self.table, self.explanation])

    def show(self, audit: Audit) -> None:
        """Show the checks of an audit."""
        self._rows, self._gains = check_rows(audit), if_fixed(audit)
        self._filter()

    def mark(self, chosen: DrillDown | None) -> None:
        """Mark the row of the check whose products are shown, wherever it was selected."""
        self._chosen = chosen
        self.table.selected_rows = self._places()

    def _filter(self) -> None:
        was_first = self.pager.first == 0
        count = len(self._wanted())
        self.pager.over(count, "failing check" if self.only_failing.value else "check")
        if was_first:
            self._draw()

    def _wanted(self) -> tuple[CheckRow, ...]:
        return tuple(row for row in self._rows if row.failed or not self.only_failing.value)

    def _draw(self) -> None:
        self._shown = self._wanted()[self.pager.first : self.pager.first + _ROWS]
        self.explanation.value = ""
        frame = rule_frame(self._shown, self._gains)
        self.table.update(frame, selected_rows=self._places(), **_OPTIONS)

    def _selected(self) -> None:
        places = self.table.selected_rows
        # The table reports every change of its rows, and this one was made by `mark`.
        if places == self._places():
            wanted = self._chosen
        else:
            wanted = of_check(self._shown[places[0]].facts) if places else None
        self.explanation.value = rule_html(self._shown[places[0]]) if places else ""
        if wanted != self._chosen:
            self._choose(wanted)

    def _places(self) -> list[int]:
        """Return the number of the selected row, if it is on this page."""
        return [place for place, row in enumerate(self._shown) if of_check(row.facts) == self._chosen]


def if_fixed(audit: Audit) -> dict[str, str]:
    """Return for each failing check how the score would change if it were fixed."""
    found = audit.gaps()
    return dict(zip(found["check"], found["brings"].str.replace("->", "→"), strict=True))


def rule_frame(rows: tuple[CheckRow, ...], gains: dict[str, str]) -> pd.DataFrame:
    """Return checks as rows of the table."""
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


def rule_html(row: CheckRow) -> str:
    """Return the explanation of a rule as HTML."""
    facts = row.facts
    described = {
        "Rule": facts.title,
        "Why it matters": facts.why,
        "How to fix it": facts.fix,
        "Applies to": facts.scope,
        "Source": facts.source,
        "Check ID": facts.id,
        "Rule crashed": "" if row.crash.is_missing else row.crash.text,
    }
    listed = "".join(
        f"<dt>{escape(term)}</dt><dd>{text_html(text)}</dd>" for term, text in described.items() if text
    )
    fails = f"{'fails' if row.failed == 1 else 'fail'} out of {row.failed + row.passed:,} that it applies to"
    return (
        f"<div class='rule'><h4>{text_html(facts.problem)}</h4><p><span class='severity {escape(facts.severity)}'>"
        f"{escape(facts.severity)}</span> {counted(row.failed, 'product')} {fails}.</p>"
        f"<dl>{listed}</dl></div>"
    )

"""The checks of an audit as a table: selecting a row explains its rule and shows the products that fail it."""

from __future__ import annotations

from datetime import date
from html import escape
from typing import Any

import ipywidgets as w

from prodex.display.report.contents import check_rows
from prodex.messages import counted, day_in_words
from prodex.notebook.audit.drill_down import Choose, Chosen, of_check
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.panel import Panel, check_box, html, row, text_html
from prodex.notebook.shared.row_table import Pager, RowTable
from prodex.quality import Audit

_ROWS = 12
_COLUMNS = ("Problem", "Block", "Severity", "Fail", "Pass", "Not applicable", "Unknown", "Score", "If fixed")
_NUMBERS = _COLUMNS[3:-1]


class CheckTable(VBox):
    """Twelve checks at a time, failing checks first."""

    def __init__(self, panel: Panel, choose: Choose) -> None:
        self._choose = choose
        self._rows: list[dict[str, Any]] = []
        self._shown: list[dict[str, Any]] = []
        self._gains: dict[str, str] = {}
        self._chosen: Chosen | None = None
        self._explained: str | None = None
        self.only_failing: w.Checkbox = check_box("Only failing checks", is_ticked=True)
        self.find: w.Text = w.Text(
            description="Find",
            placeholder="words of a check",
            tooltip="By words of its problem, its rule or its block",
            layout=w.Layout(width="240px"),
        )
        self.pager: Pager = Pager(panel, _ROWS, self._draw)
        # A press on another row adds its check to those that are required.
        self.table: RowTable = RowTable(panel, "Checks", _COLUMNS, numbers=_NUMBERS, is_multiple=True)
        self.explanation: Any = html("")
        panel.on(self.only_failing, lambda _: self._filter(), "value")
        panel.on(self.find, lambda _: self._filter(), "value")
        panel.on(self.table, lambda _: self._selected(), "selected_rows")
        bar = row(self.only_failing, self.find, self.pager, look="bar-above")
        super().__init__([html("<h3>Checks</h3>"), bar, self.table, self.explanation])

    def show(self, audit: Audit) -> None:
        """Show the checks of an audit."""
        found = audit.gaps()
        self._rows = check_rows(audit)
        # Messages are made of characters that every terminal has; a page can show an arrow.
        self._gains = dict(zip(found["check"], found["brings"].str.replace("->", "→"), strict=True))
        self._filter()

    def mark(self, chosen: Chosen | None) -> None:
        """Mark the rows of the checks that products have to fail, wherever they were selected."""
        self._chosen = chosen
        self.table.selected_rows = places = self._places()
        explained = [
            self._shown[place] for place in places if self._shown[place]["facts"].id == self._explained
        ]
        self.explanation.value = rule_html(explained[0]) if explained else ""

    def _filter(self) -> None:
        self.pager.over(len(self._wanted()), "failing check" if self.only_failing.value else "check")

    def _wanted(self) -> list[dict[str, Any]]:
        words = self.find.value.casefold().split()
        return [
            one
            for one in self._rows
            if (one["failed"] or not self.only_failing.value)
            and all(word in _rows_by_name(one) for word in words)
        ]

    def _draw(self) -> None:
        self._shown = self._wanted()[self.pager.page]
        rows = {one["facts"].id: _check_row(one, self._gains) for one in self._shown}
        self.table.show(rows, self._places())

    def _selected(self) -> None:
        """Add the check of a row that was pressed, or take it back."""
        now, before = set(self.table.selected_rows), set(self._places())
        # The table reports every change of its rows, and one that `mark` made changes nothing.
        for place in sorted(now ^ before):
            if place < len(self._shown):
                self._explained = self._shown[place]["facts"].id if place in now else None
                self._choose(of_check(self._shown[place]["facts"]))

    def _places(self) -> list[int]:
        """Return the numbers of the selected rows on this page."""
        if self._chosen is None:
            return []
        return [place for place, one in enumerate(self._shown) if self._chosen(of_check(one["facts"]))]


def _rows_by_name(check: dict[str, Any]) -> str:
    """Return what a check is found by."""
    facts = check["facts"]
    return f"{facts.problem} {facts.title} {facts.block} {facts.id}".casefold()


def _check_row(check: dict[str, Any], gains: dict[str, str]) -> tuple[str, ...]:
    """Return the texts of the row of a check."""
    counts = (check[name] for name in ("failed", "passed", "not_applicable", "unknown"))
    return (
        *(str(check["facts"].problem), check["facts"].block, check["facts"].severity),
        *(f"{count:,}" for count in counts),
        check["score"],
        gains.get(check["facts"].id, "–"),
    )


def _days(first: date | None, last: date | None) -> str:
    """Return from when and until when a check is asked for."""
    of_day = {"from {}": first, "until {}": last}
    return " ".join(words.format(day_in_words(day)) for words, day in of_day.items() if day is not None)


def rule_html(check: dict[str, Any]) -> str:
    """Return the explanation of a rule as HTML."""
    facts = check["facts"]
    described = {
        "Rule": str(facts.title),
        "Why it matters": str(facts.why),
        "How to fix it": str(facts.fix),
        "Applies to": facts.scope,
        "Source": facts.source,
        "Law": facts.law if facts.law != facts.source else "",
        "In force": _days(facts.in_force, facts.until),
        "Check ID": facts.id,
        "Rule crashed": "" if check["crash"].is_missing else check["crash"].text,
    }
    listed = "".join(
        f"<dt>{escape(term)}</dt><dd>{text_html(text)}</dd>" for term, text in described.items() if text
    )
    failed, applies = check["failed"], check["failed"] + check["passed"]
    fails = f"{'fails' if failed == 1 else 'fail'} out of {applies:,} that it applies to"
    return (
        f"<div class='rule'><h4>{text_html(str(facts.problem))}</h4><p><span class='severity {escape(facts.severity)}'>"
        f"{escape(facts.severity)}</span> {counted(failed, 'product')} {fails}.</p>"
        f"<dl>{listed}</dl></div>"
    )

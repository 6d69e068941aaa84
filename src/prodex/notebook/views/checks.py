"""The checks of an audit as a table: a press on a row shows the products that fail, and explains the rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from prodex.messages import counted, day_in_words
from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.blocks import Typed, box, button, heading, paragraph, row, table, typed_text
from prodex.notebook.views.drill_down import check_called, of_check, opened
from prodex.notebook.views.figures import AuditFigures
from prodex.notebook.views.forms import FormField, form
from prodex.notebook.views.pages_of_rows import first_of, pager_of, turned_to
from prodex.quality.rulebook import SEVERITIES

_ROWS = 12


@dataclass(frozen=True)
class CheckColumn:
    """A column of the table: its title, what is shown, and by what rows are sorted, the first press as `falls` says."""

    title: str
    sort: Callable[[dict[str, Any]], Any]
    falls: bool = True


def _count(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda check: int(check[name])


_COLUMNS = {
    "problem": CheckColumn("Problem", lambda one: str(one["facts"].problem).casefold(), falls=False),
    "block": CheckColumn("Block", lambda one: one["facts"].block, falls=False),
    "severity": CheckColumn(
        "Severity", lambda one: list(SEVERITIES).index(one["facts"].severity), falls=False
    ),
    "failed": CheckColumn("Fail", _count("failed")),
    "passed": CheckColumn("Pass", _count("passed")),
    "not_applicable": CheckColumn("Not applicable", _count("not_applicable")),
    "unknown": CheckColumn("Unknown", _count("unknown")),
    "score": CheckColumn(
        "Score", lambda one: math.inf if one["share"] is None else one["share"], falls=False
    ),
    "brings": CheckColumn("If fixed", lambda one: one["gain"]),
}
_NUMBERS = ("failed", "passed", "not_applicable", "unknown", "score")


@dataclass(frozen=True)
class ShownChecks:
    """Which checks are shown, in which order, and which of them is explained.

    Attributes
    ----------
    only_failing
        Whether checks are left out that nothing fails.
    words
        Words of the problem, the rule or the block.
    sort, falls
        The column by which they are sorted, and whether the largest is first; empty: failing checks by severity.
    explained
        Id of the check whose rule is explained.
    """

    only_failing: bool = True
    words: str = ""
    sort: str = ""
    falls: bool = True
    explained: str = ""


def checks_block(session: Session, figures: AuditFigures) -> Block:
    """Return the checks, twelve at a time."""
    shown = session.part(ShownChecks)
    wanted = _wanted(figures, shown)
    first = first_of(session, "checks", len(wanted), _ROWS)
    noun = "failing check" if shown.only_failing else "check"
    fields = (
        FormField(
            "only_failing", "Only failing checks", "tick", shown.only_failing, do="checks.only_failing"
        ),
        FormField(
            "words",
            "Find",
            "search",
            shown.words,
            placeholder="words of a check",
            do="checks.find",
        ),
    )
    columns = [_column(name, one, shown) for name, one in _COLUMNS.items()]
    rows = [_row(session, one, shown) for one in wanted[first : first + _ROWS]]
    explained = next(
        (one for one in figures.checks if shown.explained and one["facts"].id == shown.explained), None
    )
    return box(
        heading("Checks"),
        row(
            form(session, "checks", fields, label="Which checks"),
            pager_of("checks", len(wanted), noun, first, _ROWS),
            key="checks-bar",
            look="bar-above",
        ),
        table(
            columns,
            rows,
            key="checks-table",
            label="Checks",
            sort="checks.sort",
            empty="No check is like that.",
            look="checks",
        ),
        explained and rule_block(explained),
        key="checks-box",
    )


def _wanted(figures: AuditFigures, shown: ShownChecks) -> list[dict[str, Any]]:
    gains = {gap["check"]: (place, gap["brings"]) for place, gap in enumerate(figures.gaps)}
    sought = shown.words.casefold().split()
    found = [
        # Gaps are in the order of what it brings to fix them.
        {
            **one,
            "gain": -gains.get(one["facts"].id, (len(gains), ""))[0],
            "brings": gains.get(one["facts"].id, (0, ""))[1],
        }
        for one in figures.checks
        if (one["failed"] or not shown.only_failing) and all(word in _found_by(one) for word in sought)
    ]
    if shown.sort:
        found.sort(key=_COLUMNS[shown.sort].sort, reverse=shown.falls)
    return found


def _found_by(check: dict[str, Any]) -> str:
    facts = check["facts"]
    return f"{facts.problem} {facts.title} {facts.block} {facts.id}".casefold()


def _column(name: str, one: CheckColumn, shown: ShownChecks) -> dict[str, Any]:
    is_sorted = shown.sort == name
    return {
        "name": name,
        "title": one.title,
        "sort": ("descending" if shown.falls else "ascending") if is_sorted else "",
        **({"align": "right"} if name in _NUMBERS else {}),
        **({"head": True} if name == "problem" else {}),
    }


def _row(session: Session, check: dict[str, Any], shown: ShownChecks) -> dict[str, Any]:
    facts = check["facts"]
    is_explained = facts.id == shown.explained
    counts = (f"{check[name]:,}" for name in ("failed", "passed", "not_applicable", "unknown"))
    explain = button(
        "Explain",
        "checks.explain",
        key=f"explain {facts.id}",
        look="link",
        pressed=is_explained,
        check=facts.id,
    )
    return {
        "key": facts.id,
        "cells": [
            {"parts": [typed_text(str(facts.problem)), " ", {"button": explain}]},
            typed_text(facts.block),
            facts.severity,
            *counts,
            check["score"],
            check["brings"].replace("->", "→") or "–",
        ],
        "do": "checks.open",
        "args": {"check": facts.id},
        "selected": of_check(facts).is_in(session.conditions),
    }


def _days(first: date | None, last: date | None) -> str:
    """Return from when and until when a check is asked for."""
    of_day = {"from {}": first, "until {}": last}
    return " ".join(words.format(day_in_words(day)) for words, day in of_day.items() if day is not None)


def rule_block(check: dict[str, Any]) -> Block:
    """Return the explanation of a rule."""
    facts = check["facts"]
    described: dict[str, Typed | str] = {
        "Rule": str(facts.title),
        "Why it matters": str(facts.why),
        "How to fix it": str(facts.fix),
        "Applies to": facts.scope,
        "Source": facts.source,
        "Law": facts.law if facts.law != facts.source else "",
        "In force": _days(facts.in_force, facts.until),
        "Check ID": facts.id,
        "Rule crashed": "" if check["crash"].is_missing else typed_text(check["crash"]),
    }
    rows = [
        {"key": term, "cells": [term, typed_text(text) if isinstance(text, str) else text]}
        for term, text in described.items()
        if text
    ]
    failed, applies = check["failed"], check["failed"] + check["passed"]
    fails = f"{'fails' if failed == 1 else 'fail'} out of {applies:,} that it applies to"
    columns: list[dict[str, Any]] = [
        {"name": "term", "title": "", "head": True},
        {"name": "text", "title": ""},
    ]
    return box(
        paragraph(typed_text(str(facts.problem)), key="problem", tone="rule-problem"),
        paragraph(f"{facts.severity}: {counted(failed, 'product')} {fails}.", key="fails"),
        table(columns, rows, key="terms", label="The rule", look="terms"),
        key="rule",
        look="rule",
        label="The rule of this check",
    )


@action("checks.open")
def open_row(session: Session, check: str) -> Session:
    """Show the products that fail a check, and explain its rule."""
    choice = of_check(check_called(session, check))
    explained = "" if choice.is_in(session.conditions) else check
    return opened(session.with_part(replace(session.part(ShownChecks), explained=explained)), choice)


@action("checks.explain")
def explain(session: Session, check: str) -> Session:
    """Explain the rule of a check, or no longer."""
    shown = session.part(ShownChecks)
    is_there = shown.explained == check_called(session, check).id
    return session.with_part(replace(shown, explained="" if is_there else check))


@action("checks.only_failing", is_quiet=True)
def show_only_failing(session: Session, value: bool) -> Session:
    """Show failing checks alone, or all."""
    return _shown(session, only_failing=value)


@action("checks.find", is_quiet=True)
def find(session: Session, value: str) -> Session:
    """Show the checks that have some words."""
    return _shown(session, words=value)


@action("checks.sort", is_quiet=True)
def sort_by(session: Session, column: str) -> Session:
    """Sort the checks by a column; by the same one the other way round, and then as at first."""
    if column not in _COLUMNS:
        raise Refused(f"Nothing was done: the checks have no column {column[:80]!r}.")
    shown, first = session.part(ShownChecks), _COLUMNS[column].falls
    if shown.sort != column:
        return _shown(session, sort=column, falls=first)
    return _shown(session, falls=not first) if shown.falls == first else _shown(session, sort="")


def _shown(session: Session, **changes: Any) -> Session:
    """Return the session with other checks, from the first of them."""
    return turned_to(session.with_part(replace(session.part(ShownChecks), **changes)), "checks", 0)

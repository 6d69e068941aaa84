"""The checks of an audit as a table: a press on a row shows the products that fail, and explains the rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import box, button, heading, paragraph, row, table, typed_text, untitled
from prodex.notebook.views.drill_down import are_shown, check_called, of_check, opened
from prodex.notebook.views.figures import AuditFigures
from prodex.notebook.views.forms import FormField, Setting, form, form_values
from prodex.notebook.views.pages_of_rows import RowList
from prodex.phrases import counted, day_in_words
from prodex.quality.rulebook import SEVERITIES

#: A check with its figures, as `AuditFigures.checks` has it.
_Check = Mapping[str, Any]


class CheckColumn(NamedTuple):
    """A column of the table: by what rows are sorted, the largest first with the first press where it `falls`."""

    title: str
    sort: Callable[[_Check], Any]
    falls: bool = False
    cell: Callable[[_Check], Any] | None = None
    align: str = ""


def _number(title: str, name: str) -> CheckColumn:
    return CheckColumn(title, lambda one: int(one[name]), True, lambda one: f"{one[name]:,}", "right")


_COLUMNS = {
    "problem": CheckColumn("Problem", lambda one: str(one["facts"].problem).casefold()),
    "block": CheckColumn(
        "Block", lambda one: one["facts"].block, cell=lambda one: typed_text(one["facts"].block)
    ),
    "severity": CheckColumn(
        "Severity",
        lambda one: list(SEVERITIES).index(one["facts"].severity),
        cell=lambda one: str(one["facts"].severity),
    ),
    "failed": _number("Fail", "failed"),
    "passed": _number("Pass", "passed"),
    "not_applicable": _number("Not applicable", "not_applicable"),
    "unknown": _number("Unknown", "unknown"),
    "score": CheckColumn(
        "Score",
        lambda one: math.inf if one["share"] is None else one["share"],
        cell=lambda one: str(one["score"]),
        align="right",
    ),
    # Gaps are in the order of what it brings to fix them.
    "brings": CheckColumn(
        "If fixed", lambda one: one["gain"], True, lambda one: one["brings"].replace("->", "→") or "–"
    ),
}


_FORM = "checks"
_FIELDS = (
    Setting(_FORM, FormField("only_failing", "Only failing checks", "tick", value=True)).field,
    FormField("words", "Find", "search", placeholder="words of a check"),
)


@dataclass(frozen=True)
class ShownChecks:
    """In which order checks are shown, and which of them is explained.

    Attributes
    ----------
    sort, falls
        The column by which they are sorted, and whether the largest is first; empty: failing checks by severity.
    explained
        Id of the check whose rule is explained.
    """

    sort: str = ""
    falls: bool = True
    explained: str = ""


def _order(session: Session) -> object:
    shown = session.part(ShownChecks)
    return session.typed.get(_FORM), shown.sort, shown.falls


_LIST = RowList("checks", 12, _order)


def checks_block(session: Session, figures: AuditFigures) -> Block:
    """Return the checks, twelve at a time."""
    shown = session.part(ShownChecks)
    typed = form_values(session, _FORM, _FIELDS)
    wanted = [one for one in figures.checks if _is_wanted(one, **typed)]
    if shown.sort:
        wanted.sort(key=_COLUMNS[shown.sort].sort, reverse=shown.falls)
    noun = "failing check" if typed["only_failing"] else "check"
    page, turning = _LIST.page(session, len(wanted), noun)
    explained = (one for one in figures.checks if shown.explained and one["facts"].id == shown.explained)
    return box(
        heading("Checks"),
        row(form(session, _FORM, _FIELDS, label="Which checks"), turning, key="checks-bar", look="bar-above"),
        table(
            [_head(name, one, shown) for name, one in _COLUMNS.items()],
            [_row(session, one, shown) for one in wanted[page]],
            key="checks-table",
            label="Checks",
            sort="checks.sort",
            empty="No check is like that.",
            look="checks",
        ),
        *map(rule_block, explained),
        key="checks-box",
    )


def _is_wanted(check: _Check, only_failing: bool, words: str) -> bool:
    facts = check["facts"]
    said = f"{facts.problem} {facts.title} {facts.block} {facts.id}".casefold()
    is_meant = bool(check["failed"]) or not only_failing
    return is_meant and all(word in said for word in words.casefold().split())


def _head(name: str, one: CheckColumn, shown: ShownChecks) -> dict[str, Any]:
    order = ("descending" if shown.falls else "ascending") if shown.sort == name else ""
    more = {"head": True} if one.cell is None else {"align": one.align} if one.align else {}
    return {"name": name, "title": one.title, "sort": order, **more}


def _row(session: Session, check: _Check, shown: ShownChecks) -> dict[str, Any]:
    facts = check["facts"]
    explain = button(
        "Explain",
        "checks.explain",
        key=f"explain {facts.id}",
        look="link",
        pressed=facts.id == shown.explained,
        check=facts.id,
    )
    problem = {"parts": [typed_text(str(facts.problem)), " ", {"button": explain}]}
    return {
        "key": facts.id,
        "cells": [one.cell(check) if one.cell else problem for one in _COLUMNS.values()],
        "do": "checks.open",
        "args": {"check": facts.id},
        "selected": are_shown(session, of_check(facts)),
    }


def _days(first: date | None, last: date | None) -> str:
    """Return from when and until when a check is asked for."""
    of_day = {"from {}": first, "until {}": last}
    return " ".join(words.format(day_in_words(day)) for words, day in of_day.items() if day is not None)


def rule_block(check: _Check) -> Block:
    """Return the explanation of a rule."""
    facts = check["facts"]
    described: dict[str, Any] = {
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
    return box(
        paragraph(typed_text(str(facts.problem)), key="problem", tone="rule-problem"),
        paragraph(f"{facts.severity}: {counted(failed, 'product')} {fails}.", key="fails"),
        table(untitled("term", "text", head="term"), rows, key="terms", label="The rule", look="terms"),
        key="rule",
        look="rule",
        label="The rule of this check",
    )


@action("checks.open")
def open_row(session: Session, check: str) -> Session:
    """Show the products that fail a check, and explain its rule."""
    wanted = of_check(check_called(session, check))
    explained = "" if are_shown(session, wanted) else check
    return opened(session.with_changed(ShownChecks, explained=explained), wanted)


@action("checks.explain")
def explain(session: Session, check: str) -> Session:
    """Explain the rule of a check, or no longer."""
    is_there = session.part(ShownChecks).explained == check_called(session, check).id
    return session.with_changed(ShownChecks, explained="" if is_there else check)


@action("checks.sort", is_quiet=True)
def sort_by(session: Session, column: str) -> Session:
    """Sort the checks by a column; by the same one the other way round, and then as at first."""
    if column not in _COLUMNS:
        raise Refused(f"Nothing was done: the checks have no column {column[:80]!r}.")
    shown, first = session.part(ShownChecks), _COLUMNS[column].falls
    if shown.sort != column:
        return session.with_changed(ShownChecks, sort=column, falls=first)
    if shown.falls == first:
        return session.with_changed(ShownChecks, falls=not first)
    return session.with_changed(ShownChecks, sort="")

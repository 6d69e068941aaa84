"""Drill-down in an audit: the products behind a figure, and the button that shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prodex.exploration.coverage import fails, in_group
from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import button
from prodex.notebook.views.focus import focusing
from prodex.quality import Audit
from prodex.quality.check import Check
from prodex.selection import Code, Selection


def of_cell(audit: Audit, by: str, code: Code, group: str, block: str | None) -> Selection:
    """Return the products of a group that fail a check of a block, or of any block where it is None."""
    checks = [check for check in audit.checks if block in {None, check.block}]
    # A language is a group of checks, not of products: a product has texts in several.
    if by == "language":
        own = (check for check in checks if check.language == code)
        return _failing(f"{block or 'anything'} in {group}", own)
    return _failing(block or "anything", checks, (by, code))


def of_check(check: Check) -> Selection:
    """Return the products that fail a check."""
    return _failing(str(check.problem), [check])


def of_grade(grade: str | None) -> Selection:
    """Return the products of a grade; None are those to which no check applies."""
    return in_group("grade", grade)


def to_work_on(audit: Audit) -> Selection:
    """Return the products that fail any check."""
    return _failing("anything", audit.checks)


def with_blockers(audit: Audit) -> Selection:
    """Return the products that fail a blocker."""
    return _failing("a blocker", (check for check in audit.checks if check.severity == "blocker"))


def _failing(title: str, checks: Iterable[Check], group: tuple[str, Code] | None = None) -> Selection:
    return fails(title, [check.id for check in checks], group)


def are_shown(session: Session, wanted: Selection) -> bool:
    """Return whether the products behind a figure are required, be it that others of their kind are shown as well."""
    groups, failing = session.conditions.groups, session.conditions.failing
    return {*wanted.failing} <= {*failing} and all(
        {*codes} <= {*groups.get(group, ())} for group, codes in wanted.groups.items()
    )


def opened(session: Session, wanted: Selection) -> Session:
    """Return the session that shows the products behind a figure; what was chosen already is required no longer."""
    conditions, is_shown = session.conditions, are_shown(session, wanted)
    # Of a kind several groups can be shown, each with a press of its own.
    for group, codes in wanted.groups.items():
        for code in codes:
            if (code in conditions.groups.get(group, ())) == is_shown:
                conditions = conditions.toggled(group, code)
    for one in wanted.failing:
        if (one in conditions.failing) == is_shown:
            conditions = conditions.failing_any(one.title, one.checks)
    after = session.filtered(conditions)
    return after if is_shown else focusing(after.replaced(section="products"), "table")


def figure_button(
    session: Session, wanted: Selection, label: str, *, key: str, do: str, **args: Any
) -> Block:
    """Return the button of a figure: with a tick while its products are shown, and not by colour alone."""
    is_shown = are_shown(session, wanted)
    look, label = ("link chosen", f"✓ {label}") if is_shown else ("link", label)
    return button(label, do, key=key, look=look, pressed=is_shown, **args)


@action("quality.grade")
def open_grade(session: Session, grade: str | None) -> Session:
    """Show the products of a grade."""
    return opened(session, of_grade(grade))


@action("quality.failing")
def open_failing(session: Session, which: str) -> Session:
    """Show the products that fail any check, or a blocker."""
    return opened(session, {"blocker": with_blockers}.get(which, to_work_on)(audited(session)))


@action("quality.check")
def open_check(session: Session, check: str) -> Session:
    """Show the products that fail a check."""
    return opened(session, of_check(check_called(session, check)))


@action("quality.everything")
def show_everything(session: Session) -> Session:
    """Show the figures of all products again."""
    return session.filtered(Selection())


def audited(session: Session) -> Audit:
    """Return the audit.

    Raises
    ------
    Refused
        When there is none: a page may still show that of a catalogue before.
    """
    if session.audit is None:
        raise Refused("There is no audit yet. Press Audit first.")
    return session.audit


def check_called(session: Session, name: str) -> Check:
    """Return a check of the audit.

    Raises
    ------
    Refused
        When the audit of now has none of this id.
    """
    for check in audited(session).checks:
        if check.id == name:
            return check
    raise Refused(f"Nothing was done: the audit that is shown now has no check {name[:80]!r}.")

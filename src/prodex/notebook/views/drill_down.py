"""Drill-down in an audit: the products behind a figure, and the button that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.blocks import button
from prodex.notebook.views.focus import focusing
from prodex.quality import Audit
from prodex.quality.check import Check
from prodex.selection import Code, FailingChecks, Selection


@dataclass(frozen=True)
class DrillDown:
    """The products behind a figure of an audit.

    Attributes
    ----------
    title
        What they fail: the problem that a check reports, or "texts" for a block.
    checks
        They fail at least one of these checks; None for products whichever checks they fail.
    facet
        What they have in common: "brand" and its code, or "grade" and "A"; None for all products.

    Examples
    --------
    >>> DrillDown("identity", ("has_name",), ("brand", None)).added_to(Selection()).groups
    {'brand': (None,)}
    """

    title: str
    checks: tuple[str, ...] | None = None
    facet: tuple[str, Code] | None = None

    def added_to(self, conditions: Selection) -> Selection:
        """Return conditions that require these products as well."""
        if self.facet is not None and not self._has_facet(conditions):
            conditions = conditions.toggled(*self.facet)
        if self._failing is not None and self._failing not in conditions.failing:
            conditions = conditions.failing_any(self._failing.title, self._failing.checks)
        return conditions

    def removed_from(self, conditions: Selection) -> Selection:
        """Return conditions that no longer require these products."""
        if self.facet is not None and self._has_facet(conditions):
            conditions = conditions.toggled(*self.facet)
        if self._failing is not None and self._failing in conditions.failing:
            conditions = conditions.failing_any(self._failing.title, self._failing.checks)
        return conditions

    def is_in(self, conditions: Selection) -> bool:
        """Return whether conditions require these products."""
        # Mostly there are none, and a grid of cells asks for each of them.
        return bool(conditions) and self.added_to(conditions) == conditions

    def _has_facet(self, conditions: Selection) -> bool:
        return self.facet is not None and self.facet[1] in conditions.groups.get(self.facet[0], ())

    @property
    def _failing(self) -> FailingChecks | None:
        return None if self.checks is None else FailingChecks(self.title, self.checks)


def of_cell(audit: Audit, by: str, code: Code, group: str, block: str | None) -> DrillDown:
    """Return the products of a group that fail a check of a block, or of any block where it is None."""
    checks = [check for check in audit.checks if block in {None, check.block}]
    # A language is a group of checks, not of products: a product has texts in several.
    if by == "language":
        named = f"{block or 'anything'} in {group}"
        return DrillDown(named, _check_ids([check for check in checks if check.language == code]))
    return DrillDown(block or "anything", _check_ids(checks), (by, code))


def of_check(check: Check) -> DrillDown:
    """Return the products that fail a check."""
    return DrillDown(str(check.problem), (check.id,))


def of_grade(grade: str | None) -> DrillDown:
    """Return the products of a grade; None are those to which no check applies."""
    return DrillDown("", None, ("grade", grade))


def to_work_on(audit: Audit) -> DrillDown:
    """Return the products that fail any check."""
    return DrillDown("anything", _check_ids(audit.checks))


def with_blockers(audit: Audit) -> DrillDown:
    """Return the products that fail a blocker."""
    return DrillDown(
        "a blocker", _check_ids([check for check in audit.checks if check.severity == "blocker"])
    )


def _check_ids(checks: list[Check] | tuple[Check, ...]) -> tuple[str, ...]:
    return tuple(check.id for check in checks)


def opened(session: Session, choice: DrillDown) -> Session:
    """Return the session that shows the products behind a figure; what was chosen already is required no longer."""
    now = session.conditions
    if choice.is_in(now):
        return session.filtered(choice.removed_from(now))
    return focusing(session.filtered(choice.added_to(now)).replaced(section="products"), "table")


def figure_button(
    session: Session, choice: DrillDown, label: str, *, key: str, do: str, look: str = "link", **args: Any
) -> Block:
    """Return the button of a figure: with a tick while its products are shown, and not by colour alone."""
    is_chosen = choice.is_in(session.conditions)
    look = f"{look} chosen" if is_chosen else look
    return button(f"✓ {label}" if is_chosen else label, do, key=key, look=look, pressed=is_chosen, **args)


@action("quality.grade")
def open_grade(session: Session, grade: str | None) -> Session:
    """Show the products of a grade."""
    return opened(session, of_grade(grade))


@action("quality.failing")
def open_failing(session: Session, which: str) -> Session:
    """Show the products that fail any check, or a blocker."""
    audit = audited(session)
    return opened(session, with_blockers(audit) if which == "blocker" else to_work_on(audit))


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

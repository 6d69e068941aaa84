"""Drill-down in an audit: the products behind a figure, and the button that shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.notebook.shared.boxes import Button
from prodex.notebook.shared.panel import Panel
from prodex.quality import Audit
from prodex.quality.check import Check
from prodex.quality.completeness import Completeness
from prodex.quality.states import State
from prodex.selection import Code, FailingChecks, Selection
from prodex.selection.paths import FAMILY


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
    group
        The name of what they have in common.

    Examples
    --------
    >>> import prodex
    >>> records = [{"id": 7, "brand": {"code": "A"}}, {"id": 8, "brand": {"code": "B"}}, {"id": 9}]
    >>> audit = prodex.audit(prodex.flatten(records), {"checks": {"valid_gtin": {}, "has_name": {}}})
    >>> DrillDown("identity", ("has_name",), ("brand", "B")).products(audit)
    ('8',)
    >>> DrillDown("identity", ("has_name",), ("brand", None)).added_to(Selection()).groups
    {'brand': (None,)}
    """

    title: str
    checks: tuple[str, ...] | None = None
    facet: tuple[str, Code] | None = None
    group: str = ""

    def products(self, audit: Audit) -> tuple[str, ...]:
        """Return their ids, in the order of the audit."""
        # By the matrix and not by the table of findings, which would have to be computed first.
        kept = np.ones(len(audit), bool)
        if self.checks is not None:
            wanted = [place for place, check in enumerate(audit.checks) if check.id in self.checks]
            kept &= (audit.states[:, wanted] == State.FAIL).any(axis=1)
        if self.facet is not None:
            kept &= _members_of_group(audit, *self.facet)
        return tuple(audit.identity["product_id"].filter(pa.array(kept)).to_pylist())

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
        return self.added_to(conditions) == conditions

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
    return DrillDown(block or "anything", _check_ids(checks), (by, code), group)


def of_check(check: Check) -> DrillDown:
    """Return the products that fail a check."""
    return DrillDown(str(check.problem), (check.id,))


def of_grade(grade: str | None) -> DrillDown:
    """Return the products of a grade; None are those to which no check applies."""
    return DrillDown("", None, ("grade", grade), f"grade {grade}" if grade else "no grade")


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


def _members_of_group(audit: Audit, by: str, code: Code) -> npt.NDArray[np.bool_]:
    # Every product has at most one grade; other groups overlap (a product has several tags), so pairs are read.
    if by == "grade":
        return np.asarray(audit.grades == code)
    found = np.zeros(len(audit), bool)
    if by == FAMILY:
        found[Completeness.of(audit).families.members(code)] = True
        return found
    found[audit.groups(by).members(code)] = True
    return found


#: Called with what was clicked; None shows all products again.
Choose = Callable[[DrillDown | None], object]
#: Says whether the products of a figure are required now.
Chosen = Callable[[DrillDown], bool]


class DrillDownButton(Button):
    """A button that shows the products behind a figure.

    Parameters
    ----------
    panel
        The panel that shows errors.
    choose
        Called with the products behind the button.
    look
        CSS class of our style.
    """

    def __init__(self, panel: Panel, choose: Choose, look: str) -> None:
        super().__init__(layout={"width": "auto"})
        self._look, self._more, self._words = look, "", ""
        self.choice: DrillDown | None = None
        panel.on(self, lambda _: None if self.choice is None else choose(self.choice))

    def set_choice(
        self,
        choice: DrillDown | None,
        words: str,
        *,
        more: str = "",
        hint: str = "",
        chosen: Chosen | None = None,
    ) -> None:
        """Show the products of another figure; with None the button is a disabled label.

        Parameters
        ----------
        words
            The label of the button.
        more
            A further CSS class of our style.
        hint
            The tooltip; our own words.
        chosen
            Says whether the products of a figure are shown now.
        """
        with self.hold_sync():  # one message to the browser instead of four
            self.choice, self._words, self._more = choice, words, more
            self.disabled: bool = choice is None
            self.tooltip: str | None = hint or None
            self.mark(chosen)

    def mark(self, chosen: Chosen | None) -> None:
        """Mark the button when its products are shown, by a tick and not by colour alone."""
        is_chosen = chosen is not None and self.choice is not None and chosen(self.choice)
        self.description: str = f"✓ {self._words}" if is_chosen else self._words
        marks = (self._look, self._more, "chosen" if is_chosen else "")
        self._dom_classes = tuple(filter(None, marks))

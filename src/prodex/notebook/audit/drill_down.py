"""What a click in an audit means: the products of a group that fail one of some checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ipywidgets as w
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.notebook.exploration import Code, Conditions
from prodex.notebook.panel import Panel
from prodex.quality import Audit
from prodex.quality.check import CheckFacts
from prodex.quality.states import State


@dataclass(frozen=True)
class DrillDown:
    """Products of an audit that somebody wants to see.

    Attributes
    ----------
    title
        What is said of what they fail: the problem that a check found, or "texts" for a block.
    checks
        They fail at least one of these; None: whatever they fail.
    facet
        What they have in common: "brand" and its code, or "grade" and "A"; None for all products.
    group
        What that is called.

    Examples
    --------
    >>> import prodex
    >>> records = [{"id": 7, "brand": {"code": "A"}}, {"id": 8, "brand": {"code": "B"}}, {"id": 9}]
    >>> audit = prodex.audit(prodex.flatten(records), {"checks": {"valid_gtin": {}, "has_name": {}}})
    >>> DrillDown("identity", ("has_name",), ("brand", "B")).products(audit)
    ('8',)
    >>> DrillDown("identity", ("has_name",), ("brand", None)).conditions().facets
    {'brand': (None,)}
    """

    title: str
    checks: tuple[str, ...] | None = None
    facet: tuple[str, Code] | None = None
    group: str = ""

    def products(self, audit: Audit) -> tuple[str, ...]:
        """Return their ids, as the audit has them."""
        kept = np.ones(len(audit), bool)
        if self.checks is not None:
            wanted = [place for place, check in enumerate(audit.checks) if check.id in self.checks]
            kept &= (audit.states[:, wanted] == State.FAIL).any(axis=1)
        if self.facet is not None:
            kept &= _members(audit, *self.facet)
        return tuple(audit.identity["product_id"].filter(pa.array(kept)).to_pylist())

    def conditions(self) -> Conditions:
        """Return what an explorer narrows its products down to, to show them."""
        chosen = Conditions()
        if self.facet is not None:
            chosen = chosen.choosing(self.facet[0], (self.facet[1],))
        return chosen if self.checks is None else chosen.failing_any(self.title, self.checks)


def of_cell(audit: Audit, by: str, code: Code, group: str, block: str | None) -> DrillDown:
    """Choose the products of a group that fail a check of a block, or of any block without one.

    A language is no group of products but of checks: it chooses those that are about texts in it.
    """
    checks = [check for check in audit.checks if block in {None, check.block}]
    if by == "language":
        named = f"{block or 'anything'} in {group}"
        return DrillDown(named, _ids([check for check in checks if check.language == code]))
    return DrillDown(block or "anything", _ids(checks), (by, code), group)


def of_check(check: CheckFacts) -> DrillDown:
    """Choose the products that fail a check."""
    return DrillDown(check.problem, (check.id,))


def of_grade(grade: str | None) -> DrillDown:
    """Choose the products of a grade; None are those to which nothing applies."""
    return DrillDown("", None, ("grade", grade), f"grade {grade}" if grade else "no grade")


def to_work_on(audit: Audit) -> DrillDown:
    """Choose the products that fail anything."""
    return DrillDown("anything", _ids(audit.checks))


def with_blockers(audit: Audit) -> DrillDown:
    """Choose the products that fail a blocker."""
    return DrillDown("a blocker", _ids([check for check in audit.checks if check.severity == "blocker"]))


def _ids(checks: list[CheckFacts] | tuple[CheckFacts, ...]) -> tuple[str, ...]:
    return tuple(check.id for check in checks)


def _members(audit: Audit, by: str, code: Code) -> npt.NDArray[np.bool_]:
    if by == "grade":
        return np.asarray(audit.grades == code)
    found = np.zeros(len(audit), bool)
    found[audit.groups(by).members(code)] = True
    return found


#: Called with what was chosen; None shows all products again.
Choose = Callable[[DrillDown | None], object]


class DrillDownButton(w.Button):
    """One of many equal buttons; they share how they look.

    Parameters
    ----------
    panel
        Where errors are told.
    choose
        Called with the choice that the button stands for.
    look
        Class of our style; buttons of the same look share their layout.
    """

    def __init__(self, panel: Panel, choose: Choose, look: str) -> None:
        super().__init__(layout=_LAYOUTS.setdefault(look, w.Layout(width="auto")), style=_STYLE)
        self._look, self._more, self._words, self._marked = look, "", "", False
        self.choice: DrillDown | None = None
        panel.on(self, lambda _: None if self.choice is None else choose(self.choice))

    def stand_for(
        self,
        choice: DrillDown | None,
        words: str,
        *,
        more: str = "",
        hint: str = "",
        chosen: DrillDown | None = None,
    ) -> None:
        """Stand for another choice; for None the button only says something.

        Parameters
        ----------
        words
            What the button says.
        more
            A further class of our style.
        hint
            Our own words, for who points at it.
        chosen
            What is chosen now.
        """
        with self.hold_sync():
            self.choice, self._words, self._more = choice, words, more
            self.disabled, self.tooltip = choice is None, hint or None
            self.mark(chosen)

    def mark(self, chosen: DrillDown | None) -> None:
        """Show whether what is chosen is what the button stands for."""
        is_chosen = chosen is not None and chosen == self.choice
        self.description = f"✓ {self._words}" if is_chosen else self._words
        marks = (self._look, self._more, "chosen" if is_chosen else "")
        self._dom_classes = tuple(filter(None, marks))


_LAYOUTS: dict[str, w.Layout] = {}
_STYLE = w.ButtonStyle()

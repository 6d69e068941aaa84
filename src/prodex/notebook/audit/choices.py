"""What a click in an audit means: the products of a group that fail one of some checks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.notebook.conditions import Code, Conditions
from prodex.quality import Audit
from prodex.quality.check import CheckFacts
from prodex.quality.states import State


@dataclass(frozen=True)
class Choice:
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
    >>> Choice("identity", ("has_name",), ("brand", "B")).products(audit)
    ('8',)
    >>> Choice("identity", ("has_name",), ("brand", None)).conditions().facets
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


def of_cell(audit: Audit, by: str, code: Code, group: str, block: str | None) -> Choice:
    """Choose the products of a group that fail a check of a block, or of any block without one.

    A language is no group of products but of checks: it chooses those that are about texts in it.
    """
    checks = [check for check in audit.checks if block in {None, check.block}]
    if by == "language":
        named = f"{block or 'anything'} in {group}"
        return Choice(named, _ids([check for check in checks if check.language == code]))
    return Choice(block or "anything", _ids(checks), (by, code), group)


def of_check(check: CheckFacts) -> Choice:
    """Choose the products that fail a check."""
    return Choice(check.problem, (check.id,))


def of_grade(grade: str | None) -> Choice:
    """Choose the products of a grade; None are those to which nothing applies."""
    return Choice("", None, ("grade", grade), f"grade {grade}" if grade else "no grade")


def to_work_on(audit: Audit) -> Choice:
    """Choose the products that fail anything."""
    return Choice("anything", _ids(audit.checks))


def with_blockers(audit: Audit) -> Choice:
    """Choose the products that fail a blocker."""
    return Choice("a blocker", _ids([check for check in audit.checks if check.severity == "blocker"]))


def _ids(checks: list[CheckFacts] | tuple[CheckFacts, ...]) -> tuple[str, ...]:
    return tuple(check.id for check in checks)


def _members(audit: Audit, by: str, code: Code) -> npt.NDArray[np.bool_]:
    if by == "grade":
        return np.asarray(audit.grades == code)
    groups = audit.groups(by)
    found = np.zeros(len(audit), bool)
    if code in groups.codes:
        found[groups.rows[groups.groups == groups.codes.index(code)]] = True
    return found

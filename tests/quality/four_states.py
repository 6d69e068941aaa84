"""What tests of rules share: tiny products that pass, fail, are no question, or were not requested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import prodex
from prodex import ProductQuery
from prodex.quality import Audit
from prodex.quality.rulebook import all_rules
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF

Record = dict[str, Any]
#: Attribute, language and value of a finding, and the beginning of its reason.
Finding = tuple[str | None, str | None, str | None, str]

#: Said where there is nothing to see.
NOTHING = "no data: absent, null or empty"


@dataclass(frozen=True)
class Case:
    """How a rule is tried.

    Attributes
    ----------
    passes, fails
        Records, the second with what is found there.
    finding
        What the audit says of the failing one.
    not_applicable
        A record that is no question, where there is any.
    others
        Records that have to be there as well, for rules that compare products.
    parameters
        Those of the rule.
    asked
        Fields of a query that leaves out what the rule needs; none where it needs only what is always there.
    """

    passes: Record
    fails: Record
    finding: Finding
    not_applicable: Record | None = None
    others: tuple[Record, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[str, ...] = ("isConsumerUnit", "dutyFeeTax")

    def states(self, rule: str, asked: tuple[str, ...] = ()) -> list[int]:
        """Return the rule's states of a product that passes, one that fails, and one to which it does not apply."""
        states = self._audit(rule, asked).states[:, 0]
        return [int(state) for state in states[: len(states) - len(self.others)]]

    @property
    def expected(self) -> list[int]:
        """Return the expected states."""
        return [State.PASS, State.FAIL, *([] if self.not_applicable is None else [State.NOT_APPLICABLE])]

    def found(self, rule: str) -> Finding:
        """Return the evidence for the product that fails."""
        failures = self._audit(rule).failures(product_id="2").astype(object)
        row = failures.where(failures.notna(), None).iloc[0]
        return row["attribute"], row["language"], row["value"], row["reason"]

    def _audit(self, rule: str, asked: tuple[str, ...] = ()) -> Audit:
        ours = [self.passes, self.fails, *([] if self.not_applicable is None else [self.not_applicable])]
        catalog = prodex.flatten({"id": n, **record} for n, record in enumerate([*ours, *self.others], 1))
        if asked:
            query = ProductQuery(source_include=list(asked))
            catalog = replace(catalog, origin=replace(catalog.origin, query=query))
        audit = prodex.audit(catalog, {"checks": {rule: dict(self.parameters)}}, now=AS_OF, progress=False)
        assert () == audit.crashes
        return audit


def rules_of(*blocks: str) -> set[str]:
    """Return the rules of some blocks, or of all."""
    return {rule.id for rule in all_rules().values() if rule.shipped and (rule.block in blocks or not blocks)}


def lacks(rule: str) -> list[str]:
    """Return the missing texts of a rule: every rule states why it matters and what to do."""
    told = {
        "title": all_rules()[rule].title,
        "why": all_rules()[rule].why,
        "fix": all_rules()[rule].fix,
        "needs": all_rules()[rule].needs,
    }
    return [name for name, value in told.items() if not value]


def text(language: str | None, data: str) -> Record:
    """Return a localized text item."""
    return {"expressedIn": {} if language is None else {"normalizedCode": language}, "data": data}


def named(data: str, language: str = "fr") -> Record:
    """Return a record with this long name."""
    return {"namePublicLong": [text(language, data)]}


def described(data: str, language: str = "fr") -> Record:
    """Return a record with this description."""
    return {"description": [text(language, data)]}

"""The result of an audit for one product: score, failed checks with their findings, and unknown checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.messages import percent
from prodex.quality import Audit
from prodex.quality.audit_part import AuditPart
from prodex.quality.check import CheckFacts
from prodex.quality.failures import failure_rows
from prodex.quality.problems import attribute_title
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import Tally
from prodex.quality.states import State
from prodex.untrusted_text import Words, label, words

#: A product with texts in a hundred languages can have a finding in each of them.
_MOST_FINDINGS = 200


@dataclass(frozen=True)
class CheckFinding:
    """A reason why a check fails: attribute, language, the value found, and what is wrong."""

    attribute: Words
    language: Words
    value: Words
    reason: Words


@dataclass(frozen=True)
class FailedCheck:
    """A failed check with its findings."""

    facts: CheckFacts
    findings: tuple[CheckFinding, ...]


@dataclass(frozen=True)
class ProductAudit:
    """The result of an audit for a product.

    Attributes
    ----------
    score, grade, ready
        As they are shown.
    failed
        The failed checks, worst first.
    findings, findings_total
        Number of findings that are shown, and of all findings.
    passed, unknown, not_applicable
        The other checks.
    crashes
        Why a rule crashed, by the id of its check.
    wanted
        Attributes with languages that the checks look for in this product.
    """

    score: str
    grade: str
    ready: str
    failed: tuple[FailedCheck, ...]
    findings: int
    findings_total: int
    passed: tuple[CheckFacts, ...]
    unknown: tuple[CheckFacts, ...]
    not_applicable: tuple[CheckFacts, ...]
    crashes: dict[str, Words]
    wanted: tuple[tuple[str, str | None], ...]


def read_product_audit(audit: Audit, product_id: str) -> ProductAudit | None:
    """Return the result of an audit for a product, or None if the audit does not cover it."""
    for part in audit.parts:
        place = pc.index(part.column("product_id"), pa.scalar(product_id)).as_py()
        if place >= 0:
            return _judged(audit, _only(part, place))
    return None


def _only(part: AuditPart, place: int) -> AuditPart:
    """Return a part of an audit with one product only."""
    # So the functions that score and explain a part do the same for a product: a card cannot disagree with its audit.
    evidence = part.evidence
    evidence = evidence.filter(pc.equal(evidence["product"], place))
    first = pa.array(np.zeros(evidence.num_rows), pa.int32())
    column = evidence.schema.get_field_index("product")
    return AuditPart.of(
        part.products.slice(place, 1),
        part.states[place : place + 1],
        evidence.set_column(column, evidence.schema.field(column), first),
        part.crashes,
    )


def _judged(audit: Audit, part: AuditPart) -> ProductAudit:
    tally = Tally.of(part.states, audit.checks)
    grade = tally.grades(audit.grade_with_blocker)[0]
    blocked, doubtful = bool(tally.blockers[0]), bool(tally.doubtful[0])
    rows = failure_rows(part, audit.checks).to_pylist()
    states = dict(zip((one.id for one in audit.checks), part.states[0].tolist(), strict=True))

    def of(state: State) -> tuple[CheckFacts, ...]:
        return tuple(one for one in audit.checks if states[one.id] == state)

    severities = list(SEVERITIES)
    return ProductAudit(
        score=percent(float(tally.scores[0])),
        grade=grade or "none",
        # An unknown blocker leaves it undecided: neither "yes" nor "no" would be true.
        ready="no" if blocked else "undecided" if doubtful else "yes",
        failed=tuple(
            FailedCheck(one, tuple(_finding(row) for row in rows[:_MOST_FINDINGS] if row["check"] == one.id))
            for one in sorted(of(State.FAIL), key=lambda one: severities.index(one.severity))
        ),
        findings=min(len(rows), _MOST_FINDINGS),
        findings_total=len(rows),
        passed=of(State.PASS),
        unknown=of(State.UNKNOWN),
        not_applicable=of(State.NOT_APPLICABLE),
        # A rule may be one of the user: its message is as long as it likes.
        crashes={crash.check: words(crash.message, 1_000) for crash in part.crashes},
        wanted=tuple(
            dict.fromkeys(
                (one.attribute, one.language)
                for one in (*of(State.FAIL), *of(State.PASS), *of(State.UNKNOWN))
                if one.attribute and one.language
            )
        ),
    )


def _finding(row: dict[str, Any]) -> CheckFinding:
    return CheckFinding(
        label(None if row["attribute"] is None else attribute_title(row["attribute"])),
        label(row["language"]),
        words(row["value"], 2_000),
        words(row["reason"], 2_000),
    )

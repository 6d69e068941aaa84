"""Judging a catalogue: rules, profiles, the matrix of states, scores, gaps and failures."""

import prodex.quality.rules  # noqa: F401 - a rule is known once its module was imported
from prodex.quality.archive import list_audits, open_audit
from prodex.quality.audit import Audit
from prodex.quality.check import Check
from prodex.quality.comparison import AuditComparison, compare_audits
from prodex.quality.declared_fields import law_fields
from prodex.quality.profile import Profile, profiles
from prodex.quality.requirements import Requirements
from prodex.quality.rulebook import rule, rules
from prodex.quality.verdict import Evidence, Verdict
from prodex.quality.watch import Watch

__all__ = [
    "Audit",
    "AuditComparison",
    "Check",
    "Evidence",
    "Profile",
    "Requirements",
    "Verdict",
    "Watch",
    "compare_audits",
    "law_fields",
    "list_audits",
    "open_audit",
    "profiles",
    "rule",
    "rules",
]

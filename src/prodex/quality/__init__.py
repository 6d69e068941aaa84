"""Judging a catalogue: rules, profiles, the matrix of states, scores, gaps and failures."""

import prodex.quality.rules  # noqa: F401 - a rule is known once its module was imported
from prodex.quality.archive import list_audits, open_audit
from prodex.quality.audit import Audit
from prodex.quality.check import Check
from prodex.quality.comparison import AuditComparison, compare_audits
from prodex.quality.listing import profiles, rules
from prodex.quality.profile import Profile
from prodex.quality.rulebook import Evidence, Verdict, rule

__all__ = [
    "Audit",
    "AuditComparison",
    "Check",
    "Evidence",
    "Profile",
    "Verdict",
    "compare_audits",
    "list_audits",
    "open_audit",
    "profiles",
    "rule",
    "rules",
]

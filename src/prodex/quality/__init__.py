"""Judging a catalogue: rules, profiles, the matrix of states, scores, gaps and failures."""

from prodex.quality.auditing import audit
from prodex.quality.comparison import AuditComparison, compare_audits
from prodex.quality.listing import profiles, rules
from prodex.quality.outcome import Audit
from prodex.quality.profile import Profile
from prodex.quality.rulebook import Evidence, Verdict, rule
from prodex.quality.saved import list_audits, open_audit

__all__ = [
    "Audit",
    "AuditComparison",
    "Evidence",
    "Profile",
    "Verdict",
    "audit",
    "compare_audits",
    "list_audits",
    "open_audit",
    "profiles",
    "rule",
    "rules",
]

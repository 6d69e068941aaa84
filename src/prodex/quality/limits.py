"""Limits that an audit has to keep, as a job or a pipeline sets them: a least score, and severities that may not fail.

With `new_only`, only findings that nobody has accepted count: everything of today can be accepted as a baseline, and
from then on only what is new breaks a limit.
"""

from __future__ import annotations

import math

from prodex.languages import Message, either
from prodex.quality.audit import Audit
from prodex.quality.rulebook import SEVERITIES


def low_score(audit: Audit, least: float, *, new_only: bool = False) -> Message | None:
    """Return why the score of an audit is too low, in a sentence; None if it is not.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}])
    >>> print(low_score(prodex.audit(catalog, {"checks": {"valid_gtin": {}}}), 0.8))
    The score is not 0.8 or more: it is 0.000.
    """
    score = (audit.with_accepted() if new_only else audit).score
    # Not `<`: a score that does not exist (NaN) is not enough either.
    if not least or score >= least:
        return None
    is_none = math.isnan(score)
    said = (
        Message("there is none, since no check applies")
        if is_none
        else Message("it is {score:.3f}", score=score)
    )
    if new_only:
        return Message(
            "The score with what is accepted is not {least:g} or more: {said}.", least=least, said=said
        )
    return Message("The score is not {least:g} or more: {said}.", least=least, said=said)


def grave_failures(audit: Audit, severity: str, *, new_only: bool = False) -> Message | None:
    """Return how many checks of a severity or a worse one fail, in a sentence; None if none does.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}])
    >>> print(grave_failures(prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}}), "error"))
    1 failing check of severity blocker or error.
    """
    worse = list(SEVERITIES)[: list(SEVERITIES).index(severity) + 1]
    checks = (audit.with_accepted() if new_only else audit).by_check
    checks = checks[checks["severity"].isin(worse)]
    failures = int(checks["failed"].sum())
    if not failures:
        return None
    severities = either(*map(Message, worse))
    if new_only:
        return Message.of_number(
            "{number} new failing check of severity {severities}.",
            "{number} new failing checks of severity {severities}.",
            failures,
            severities=severities,
        )
    return Message.of_number(
        "{number} failing check of severity {severities}.",
        "{number} failing checks of severity {severities}.",
        failures,
        severities=severities,
    )

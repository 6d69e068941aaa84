"""Whether an audit is worse than an earlier one: yes, no, or that nobody can say, and why.

An audit is worse when its score is lower, or the share of products that are not ready is larger. Whether it is cannot
be said where the two are not the same measure (another profile, rule set, severity, weight, scope or set of checks),
where a catalogue is incomplete, and, unless these figures are worse all the same, where more products are undecided or
a check knows less of a product than it did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from prodex.quality.comparison import AuditComparison
from prodex.quality.display import counted, moved, readiness

#: Shares that differ by less are the same: sums of weights are rounded.
_SAME = 1e-9


class Worsening(NamedTuple):
    """What two audits say of each other.

    Attributes
    ----------
    is_worse
        Whether the new one is worse; None where nobody can say.
    why
        One sentence for each figure that is worse, or for each thing that stands in the way.
    figures
        Score and readiness before and after, in words.
    """

    is_worse: bool | None
    why: tuple[str, ...]
    figures: str


def worsening(comparison: AuditComparison) -> Worsening:
    """Say whether the new audit is worse than the old one.

    Examples
    --------
    >>> import prodex
    >>> profile = {"checks": {"valid_gtin": {}}}
    >>> right = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), profile)
    >>> wrong = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359936"}]), profile)
    >>> worsening(prodex.diff(right, wrong)).is_worse, worsening(prodex.diff(wrong, right)).is_worse
    (True, False)
    """
    old, new = comparison.old.summary(), comparison.new.summary()
    figures = f"score {moved(old['score'], new['score'])}; {readiness(old)} -> {readiness(new)}"
    if measures := tuple(_measures(comparison)):
        return Worsening(None, measures, figures)
    if worse := tuple(_worse(comparison)):
        return Worsening(True, worse, figures)
    doubts = tuple(_doubts(comparison))
    return Worsening(None if doubts else False, doubts, figures)


def _measures(comparison: AuditComparison) -> Iterator[str]:
    """Yield why the figures of the two audits do not measure the same."""
    yield from comparison.notes
    for note, checks in comparison.by_check.dropna(subset="note").groupby("note"):
        yield f"{counted(len(checks), 'check')} {note}, {checks['check'].iloc[0]} for one."


def _worse(comparison: AuditComparison) -> Iterator[str]:
    old, new = comparison.old, comparison.new
    if new.score < old.score - _SAME:
        yield "The score is lower."
    if _share(new.summary(), "not_ready") > _share(old.summary(), "not_ready") + _SAME:
        yield "More of the products are not ready."


def _doubts(comparison: AuditComparison) -> Iterator[str]:
    old, new = comparison.old, comparison.new
    if math.isnan(old.score) or math.isnan(new.score):
        which = "earlier" if math.isnan(old.score) else "new"
        yield f"The {which} audit has no score: no check of it applies to a product and is known."
    if _share(new.summary(), "undecided") > _share(old.summary(), "undecided") + _SAME:
        yield "Of more of the products nobody can say whether they are ready."
    if count := int(comparison.by_check["not_comparable"].sum()):
        yield f"{counted(count, 'answer')} of checks: failing on one side, and unknown on the other."


def _share(figures: pd.Series, name: str) -> float:
    return float(figures[f"{name}_products"] / max(figures["products"], 1))

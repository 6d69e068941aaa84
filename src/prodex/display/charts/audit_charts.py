"""Charts of an audit as matplotlib figures: grades over time, the largest gaps, scores by group and block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from prodex.display.charts.bar import bars, stacks
from prodex.display.charts.heatmap import heat
from prodex.display.charts.style import plain
from prodex.facts.groups import column_names, shown_names
from prodex.messages import percent
from prodex.quality.scores import SMALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from prodex.quality.audit import Audit

_AUDITS = 12
_GROUPS = 15
_NAME, _SENTENCE = 30, 60  # characters


def grades_over_time(trend: pd.DataFrame) -> Figure:
    """Draw how the grades of the products are distributed, one bar for each audit.

    Parameters
    ----------
    trend
        What `Audit.trend` returns; audits that are not comparable are left out.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), {"checks": {"valid_gtin": {}}})
    >>> grades_over_time(audit.trend()).get_suptitle()
    '100 % of 1 products have grade A or B'
    """
    alike = trend[trend["comparable"]].tail(_AUDITS)
    counts = alike[[f"grade_{grade}" for grade in "ABCDE"]].astype(int)
    counts.columns = pd.Index(list("ABCDE"))
    days = [f"{moment:%Y-%m-%d}" for moment in alike["now"]]
    once = len(set(days)) == len(days)
    counts.index = pd.Index(days if once else [f"{moment:%Y-%m-%d %H:%M}" for moment in alike["now"]])
    return stacks(counts, grades_sentence(trend))


def grades_sentence(trend: pd.DataFrame) -> str:
    """Return how many products of the last audit have a good grade, in words.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), {"checks": {"valid_gtin": {}}})
    >>> grades_sentence(audit.trend())
    '100 % of 1 products have grade A or B'
    """
    last = trend[trend["comparable"]].iloc[-1]
    total = sum(int(last[f"grade_{grade}"]) for grade in "ABCDE")
    good = percent(float(last["grade_A"] + last["grade_B"]) / total) if total else "none"
    return f"{good} of {total:,} products have grade A or B"


def largest_gaps(audit: Audit, most: int = 10) -> Figure:
    """Draw what fixing each check would gain: points of ready, or of the score where no blocker fails.

    Parameters
    ----------
    audit
        The audit.
    most
        How many checks are shown.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 8, "gtin": "03036811359936"}]), {"checks": {"valid_gtin": {}}})
    >>> [label.get_text() for label in largest_gaps(audit).axes[0].get_yticklabels()]
    ['GTIN missing or wrong']
    """
    found = audit.gaps()
    what = "ready" if (found["ready_gain"] > 0).any() else "score"
    gains = found[found[f"{what}_gain"] > 0].set_index("problem")[f"{what}_gain"] * 100
    shown = gains.sort_values(ascending=False, kind="stable").head(most)
    title = f"Gain in {what} if fixed, in points: {len(shown)} of {len(gains)} problems"
    return bars(shown, title, number="+{:.2f}", longest=_SENTENCE)


def score_map(audit: Audit, by: str = "kind", most: int = _GROUPS) -> Figure:
    """Draw the scores of groups by block, the worst group on top; groups of fewer than ten products below the others.

    Parameters
    ----------
    audit
        The audit.
    by
        What `Audit.scores` groups by.
    most
        How many groups are shown.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 8, "gtin": "03036811359936"}]), {"checks": {"valid_gtin": {}}})
    >>> [text.get_text() for text in score_map(audit, "market").axes[0].texts]
    ['0 %', '0 %']
    """
    code, *_ = column_names(by)
    whole = audit.scores(by)
    blocks = dict.fromkeys(check.block for check in audit.checks)
    columns = {"all": whole.set_index(code)["score"]}
    columns |= {block: audit.scores(by, block=block).set_index(code)["score"] for block in blocks}
    shown = whole.head(most)
    scores = pd.DataFrame({name: column.reindex(shown[code]) for name, column in columns.items()})
    named = shown_names(whole, by)[:most]
    size = [f" (n = {count})" if count < SMALL else "" for count in shown["products"]]
    scores.index = pd.Index([f"{plain(name, _NAME)}{more}" for name, more in zip(named, size, strict=True)])
    small = f"; n = products, where under {SMALL}" if any(size) else ""
    return heat(scores, f"Scores by {by} and block, the worst {len(shown)} of {len(whole)}{small}")
